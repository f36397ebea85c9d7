/*
 * kernel.c - kernel launches: both host stub forms, configurations, attributes, and what is known
 * about a kernel. Executes nothing itself: sched_run does. Invariant: a wrong configuration is
 * refused at the launch, with cudaErrorInvalidValue as CUDA 13 does; a fault surfaces at the next
 * synchronising call.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHARED_DEFAULT = 48 * 1024,
    SHARED_OPTIN = 227 * 1024,
    SHARED_SM = 228 * 1024,
    SHARED_UNIT = 128,
    BLOCKS_MAX = 32,
    REGISTERS = 65536,
    REGISTERS_ASSUMED = 64,
    THREADS_MAX = 1024,
    BLOCK_Z_MAX = 64,
    GRID_YZ_MAX = 65535,
    REGISTERS_MAX = 255
};

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared,
                                              void *stream);
EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub);
EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t stream);

/* ---- facts ---- */

/* ptxas knows the registers; without machine code beside the PTX 64 is assumed. A launch bound
 * lowers that, as ptxas would. */
unsigned kernel_registers(const struct kernel *k)
{
    unsigned n = k->registers ? k->registers : REGISTERS_ASSUMED;
    const uint32_t *max = k->func->reqntid[0] ? k->func->reqntid : k->func->maxntid;
    const uint32_t threads = max[0] ? max[0] * max[1] * max[2] : 0;

    if (k->registers)
        return n;
    if (k->func->maxnreg && k->func->maxnreg < n)
        n = k->func->maxnreg;
    const uint32_t blocks = k->func->minnctapersm ? k->func->minnctapersm : 1;
    if (threads && (uint64_t)n * threads * blocks > REGISTERS)
        n = REGISTERS / (threads * blocks) / 8 * 8;
    return n ? n : 8;
}

/* Threads of a block that the registers and the launch bounds allow. */
unsigned kernel_max_threads(const struct kernel *k)
{
    const uint32_t *max = k->func->maxntid;
    const unsigned by_registers = REGISTERS / ((kernel_registers(k) + 7) / 8 * 8) / 32 * 32;
    unsigned n = max[0] ? max[0] * max[1] * max[2] : THREADS_MAX;

    if (n > by_registers)
        n = by_registers;
    return n > THREADS_MAX ? THREADS_MAX : n;
}

static size_t shared_limit(const struct kernel *k)
{
    const size_t fixed = k->program->shared_static;
    const size_t opted = fixed + (size_t)(k->max_dynamic_shared > 0 ? k->max_dynamic_shared : 0);

    return opted > SHARED_DEFAULT ? opted : SHARED_DEFAULT;
}

/* ---- checks ---- */

/* What is wrong with the shape of a launch; NULL: nothing. */
static const char *misshapen(dim3 grid, dim3 block)
{
    const uint64_t threads = (uint64_t)block.x * block.y * block.z;

    if (grid.x == 0 || grid.y == 0 || grid.z == 0)
        return "the grid has no block";
    if (threads == 0)
        return "the block has no thread";
    if (grid.x > INT32_MAX || grid.y > GRID_YZ_MAX || grid.z > GRID_YZ_MAX)
        return "a grid has at most 2147483647 x 65535 x 65535 blocks";
    if (threads > THREADS_MAX || block.x > THREADS_MAX || block.y > THREADS_MAX)
        return "a block has at most 1024 threads";
    return block.z > BLOCK_Z_MAX ? "a block has at most 64 threads in z" : NULL;
}

static cudaError_t refuse_launch(struct runtime *rt, cudaError_t e, const struct kernel *k,
                                 dim3 grid, dim3 block, const char *why)
{
    char name[160] = "a kernel";

    if (k)
        report_kernel_name(k->name, name, sizeof name);
    return api_refuse(rt, e, "%s<<<(%u,%u,%u), (%u,%u,%u)>>>: %s", name, grid.x, grid.y, grid.z,
                      block.x, block.y, block.z, why);
}

static bool reads_cluster(const struct ptx_operand *p)
{
    if (p->kind == PTX_OPND_SPECIAL && p->special >= PTX_SPECIAL_CLUSTERID_X &&
        p->special <= PTX_SPECIAL_IS_EXPLICIT_CLUSTER)
        return true;
    for (uint32_t i = 0; i < p->elem_count; i++)
        if (reads_cluster(&p->elems[i]))
            return true;
    return false;
}

/* The first instruction that would notice a cluster; instructions that use one are refused as such.
 */
static const struct ptx_inst *notices_cluster(const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->inst_count; i++)
        for (unsigned k = 0; k < f->insts[i].operand_count; k++)
            if (reads_cluster(&f->insts[i].operands[k]))
                return &f->insts[i];
    return NULL;
}

/* Blocks of a cluster run like any others, which is right for a kernel that does not look. */
static cudaError_t check_cluster(struct runtime *rt, const struct kernel *k, dim3 grid,
                                 dim3 cluster)
{
    const uint64_t blocks = (uint64_t)cluster.x * cluster.y * cluster.z;

    if (blocks == 0 || grid.x % cluster.x || grid.y % cluster.y || grid.z % cluster.z)
        return cudaErrorInvalidClusterSize;
    if (blocks > (k->nonportable ? 16u : 8u))
        return cudaErrorInvalidClusterSize;
    const struct ptx_inst *at = blocks > 1 ? notices_cluster(k->func) : NULL;
    if (!at)
        return cudaSuccess;
    report_refused(&rt->device.report, k->name, at,
                   "clusters of more than one block are not executed");
    report_flush(&rt->device.report);
    return cudaErrorNoKernelImageForDevice;
}

/* .reqnctapercluster fixes the shape for every launch of the kernel. */
static dim3 fixed_cluster(const struct kernel *k)
{
    const uint32_t *c = k->func->cluster;

    return c[0] ? (dim3){c[0], c[1], c[2]} : (dim3){1, 1, 1};
}

static cudaError_t check_config(struct runtime *rt, const struct launch *l)
{
    const struct kernel *k = l->kernel;
    const unsigned threads = l->block.x * l->block.y * l->block.z;

    if (l->shared > SHARED_OPTIN || k->program->shared_static + l->shared > shared_limit(k)) {
        char why[200];
        snprintf(why, sizeof why,
                 "%zu bytes of dynamic and %u of static shared memory, %zu are allowed without "
                 "cudaFuncAttributeMaxDynamicSharedMemorySize, %d with it",
                 l->shared, (unsigned)k->program->shared_static, shared_limit(k), SHARED_OPTIN);
        return refuse_launch(rt, cudaErrorInvalidValue, k, l->grid, l->block, why);
    }
    if (k->func->reqntid[0] &&
        (l->block.x != k->func->reqntid[0] || l->block.y != k->func->reqntid[1] ||
         l->block.z != k->func->reqntid[2]))
        return refuse_launch(rt, cudaErrorInvalidValue, k, l->grid, l->block,
                             "its __block_size__ is another");
    if (threads > kernel_max_threads(k))
        return refuse_launch(rt, cudaErrorInvalidValue, k, l->grid, l->block,
                             "more threads than its __launch_bounds__ or its registers allow");
    if (l->cooperative) {
        const uint64_t per_sm =
            sched_occupancy(k->program, threads, (uint32_t)l->shared, kernel_registers(k));
        if ((uint64_t)l->grid.x * l->grid.y * l->grid.z > per_sm * rt->device.sm_count)
            return refuse_launch(rt, cudaErrorCooperativeLaunchTooLarge, k, l->grid, l->block,
                                 "more blocks than can be resident at once");
    }
    return check_cluster(rt, k, l->grid, fixed_cluster(k));
}

/* The parameter block: each argument copied to the place that the PTX gives it. */
static unsigned char *pack_params(const struct ptx_func *f, void **args)
{
    unsigned char *block = calloc(1, f->param_size + 16u);

    for (uint32_t i = 0; block && i < f->param_count; i++)
        memcpy(block + f->params[i].offset, args[i], f->params[i].size);
    return block;
}

cudaError_t launch_prepare(struct runtime *rt, struct launch *l, const void *func, dim3 grid,
                           dim3 block, void **args, size_t shared, bool cooperative)
{
    cudaError_t e = cudaSuccess;

    *l =
        (struct launch){.grid = grid, .block = block, .shared = shared, .cooperative = cooperative};
    if (!func)
        return cudaErrorInvalidDeviceFunction;
    const char *wrong = misshapen(grid, block);
    l->kernel = kernel_find(rt, func, &e);
    if (wrong)
        return refuse_launch(rt, cudaErrorInvalidValue, l->kernel, grid, block, wrong);
    if (!l->kernel)
        return e;
    if (l->kernel->func->param_count && !args)
        return cudaErrorInvalidValue;
    e = check_config(rt, l);
    if (e != cudaSuccess)
        return e;
    l->params = pack_params(l->kernel->func, args);
    return l->params ? cudaSuccess : cudaErrorMemoryAllocation;
}

/* ---- running ---- */

static bool is_deferred(cudaError_t e)
{
    return e == cudaErrorIllegalAddress || e == cudaErrorLaunchTimeout || e == cudaErrorAssert ||
           e == cudaErrorHardwareStackError || e == cudaErrorIllegalInstruction ||
           e == cudaErrorMisalignedAddress || e == cudaErrorInvalidAddressSpace ||
           e == cudaErrorInvalidPc || e == cudaErrorLaunchFailure;
}

cudaError_t launch_run(struct runtime *rt, const struct launch *l)
{
    struct vgpu_device *d = &rt->device;
    struct grid g = {.program = l->kernel->program,
                     .func = l->kernel->func,
                     .dim = {l->grid.x, l->grid.y, l->grid.z},
                     .block_dim = {l->block.x, l->block.y, l->block.z},
                     .dynamic_shared = (uint32_t)l->shared,
                     .cooperative = l->cooperative,
                     .params = l->params,
                     .registers = kernel_registers(l->kernel),
                     .launch_number = ++d->launch_count,
                     .budget = d->options.budget,
                     .seed = d->options.seed,
                     .device = d};
    const cudaError_t e = (cudaError_t)sched_run(&g);

    if (d->options.counters)
        report_launch(&d->report, &g);
    report_flush(&d->report);
    if (is_deferred(e)) {
        rt->pending = e;
        return cudaSuccess;
    }
    return e;
}

static cudaError_t launch(struct runtime *rt, const void *func, dim3 grid, dim3 block, void **args,
                          size_t shared, cudaStream_t stream, bool cooperative)
{
    struct work w = {.kind = WORK_KERNEL};
    const cudaError_t e =
        launch_prepare(rt, &w.u.launch, func, grid, block, args, shared, cooperative);

    return e == cudaSuccess ? stream_submit(rt, stream, &w) : e;
}

EXPORT cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args,
                                    size_t shared, cudaStream_t stream)
{
    API_BODY(API_WORK, launch(rt, func, grid, block, args, shared, stream, false));
}

PER_THREAD_STREAM(cudaLaunchKernel);

EXPORT cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                                      size_t shared, cudaStream_t stream)
{
    API_BODY(API_WORK, launch(rt, kernel, grid, block, args, shared, stream, false));
}

PER_THREAD_STREAM(__cudaLaunchKernel);

EXPORT cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 grid, dim3 block, void **args,
                                               size_t shared, cudaStream_t stream)
{
    API_BODY(API_WORK, launch(rt, func, grid, block, args, shared, stream, true));
}

PER_THREAD_STREAM(cudaLaunchCooperativeKernel);

/* ---- launches with attributes ---- */

struct extras {
    bool cooperative;
    dim3 cluster;
};

/* Events fire at once: grids run one after the other. Hints change nothing. */
static cudaError_t read_attribute(struct runtime *rt, const cudaLaunchAttribute *a,
                                  struct extras *x)
{
    switch ((int)a->id) {
    case cudaLaunchAttributeCooperative:
        x->cooperative = a->val.cooperative != 0;
        return cudaSuccess;
    case cudaLaunchAttributeClusterDimension:
        x->cluster = (dim3){a->val.clusterDim.x, a->val.clusterDim.y, a->val.clusterDim.z};
        return cudaSuccess;
    case cudaLaunchAttributeProgrammaticEvent:
        return event_find(rt, a->val.programmaticEvent.event) ? cudaSuccess
                                                              : cudaErrorInvalidResourceHandle;
    case cudaLaunchAttributeLaunchCompletionEvent:
        return event_find(rt, a->val.launchCompletionEvent.event) ? cudaSuccess
                                                                  : cudaErrorInvalidResourceHandle;
    case cudaLaunchAttributeDeviceUpdatableKernelNode:
        return cudaErrorNotSupported;
    case cudaLaunchAttributeIgnore:
    case cudaLaunchAttributeAccessPolicyWindow:
    case cudaLaunchAttributeClusterSchedulingPolicyPreference:
    case cudaLaunchAttributeProgrammaticStreamSerialization:
    case cudaLaunchAttributePriority:
    case cudaLaunchAttributeMemSyncDomainMap:
    case cudaLaunchAttributeMemSyncDomain:
    case cudaLaunchAttributePreferredClusterDimension:
    case cudaLaunchAttributePreferredSharedMemoryCarveout:
    case cudaLaunchAttributeNvlinkUtilCentricScheduling:
        return cudaSuccess;
    default:
        return cudaErrorInvalidValue;
    }
}

static cudaError_t read_attributes(struct runtime *rt, const cudaLaunchConfig_t *c,
                                   struct extras *x)
{
    *x = (struct extras){.cluster = {1, 1, 1}};
    if (c->numAttrs && !c->attrs)
        return cudaErrorInvalidValue;
    for (unsigned i = 0; i < c->numAttrs; i++) {
        const cudaError_t e = read_attribute(rt, &c->attrs[i], x);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

static cudaError_t launch_ex(struct runtime *rt, const cudaLaunchConfig_t *c, const void *func,
                             void **args)
{
    struct work w = {.kind = WORK_KERNEL};
    struct extras x;

    if (!c)
        return cudaErrorInvalidValue;
    cudaError_t e = read_attributes(rt, c, &x);
    if (e == cudaSuccess)
        e = launch_prepare(rt, &w.u.launch, func, c->gridDim, c->blockDim, args,
                           c->dynamicSmemBytes, x.cooperative);
    if (e == cudaSuccess)
        e = check_cluster(rt, w.u.launch.kernel, c->gridDim, x.cluster);
    if (e == cudaSuccess)
        return stream_submit(rt, c->stream, &w);
    work_drop(&w);
    return e;
}

EXPORT cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func,
                                       void **args)
{
    API_BODY(API_WORK, launch_ex(rt, config, func, args));
}
PER_THREAD_STREAM(cudaLaunchKernelExC);

/* ---- <<< >>> ---- */

EXPORT unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream)
{
    struct thread_state *t = api_thread();

    if (t->config_count == TLS_CONFIGS)
        return 1; /* generated code then skips the launch */
    t->configs[t->config_count].grid = grid;
    t->configs[t->config_count].block = block;
    t->configs[t->config_count].shared = shared;
    t->configs[t->config_count].stream = stream;
    t->config_count++;
    return 0;
}

EXPORT cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream)
{
    struct thread_state *t = api_thread();

    if (t->config_count == 0)
        return cudaErrorMissingConfiguration;
    t->config_count--;
    *grid = t->configs[t->config_count].grid;
    *block = t->configs[t->config_count].block;
    *shared = t->configs[t->config_count].shared;
    memcpy(stream, &t->configs[t->config_count].stream, sizeof(cudaStream_t));
    return cudaSuccess;
}

/* ---- handles ---- */

/* The handle of a stub, even of a kernel that cannot run: generated code keeps it in a static and
 * launches later. */
static cudaError_t get_kernel(struct runtime *rt, void **out, const void *stub)
{
    struct kernel *k = object_find(&rt->objects, stub, OBJECT_STUB);

    if (!out)
        return cudaErrorInvalidValue;
    *out = k;
    return k ? cudaSuccess : cudaErrorInvalidDeviceFunction;
}

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub)
{
    API_BODY(API_PLAIN, get_kernel(rt, (void **)out, stub));
}

EXPORT cudaError_t cudaGetKernel(cudaKernel_t *out, const void *stub)
{
    API_BODY(API_WORK, get_kernel(rt, (void **)out, stub));
}

EXPORT cudaError_t cudaGetFuncBySymbol(cudaFunction_t *out, const void *stub)
{
    API_BODY(API_WORK, get_kernel(rt, (void **)out, stub));
}

/* ---- attributes ---- */

/* What .reqnctapercluster says, else what was set. */
static int required_cluster(const struct kernel *k, int i)
{
    return k->func->cluster[0] ? (int)k->func->cluster[i] : k->cluster[i];
}

static cudaError_t func_attributes(struct runtime *rt, struct cudaFuncAttributes *a,
                                   const void *func)
{
    cudaError_t e = cudaSuccess;
    const struct kernel *k = a ? kernel_find(rt, func, &e) : NULL;
    uint64_t constant = 0;

    if (!a)
        return cudaErrorInvalidValue;
    if (!k)
        return e;
    for (uint32_t i = 0; i < k->module->ptx->var_count; i++)
        if (k->module->ptx->vars[i]->space == PTX_SPACE_CONST)
            constant += k->module->ptx->vars[i]->size;
    *a = (struct cudaFuncAttributes){.sharedSizeBytes = k->program->shared_static,
                                     .constSizeBytes = constant,
                                     .localSizeBytes = k->program->local_bytes,
                                     .maxThreadsPerBlock = (int)kernel_max_threads(k),
                                     .numRegs = (int)kernel_registers(k),
                                     .ptxVersion = 90,
                                     .binaryVersion = 90,
                                     .maxDynamicSharedSizeBytes =
                                         (int)(shared_limit(k) - k->program->shared_static),
                                     .preferredShmemCarveout = k->carveout,
                                     .requiredClusterWidth = required_cluster(k, 0),
                                     .requiredClusterHeight = required_cluster(k, 1),
                                     .requiredClusterDepth = required_cluster(k, 2),
                                     .nonPortableClusterSizeAllowed = k->nonportable};
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *attributes, const void *func)
{
    API_BODY(API_WORK, func_attributes(rt, attributes, func));
}

static cudaError_t set_attribute(struct kernel *k, enum cudaFuncAttribute attribute, int value)
{
    const int fixed = (int)k->program->shared_static;

    switch (attribute) {
    case cudaFuncAttributeMaxDynamicSharedMemorySize:
        if (value < 0 || value > SHARED_OPTIN - fixed)
            return cudaErrorInvalidValue;
        k->max_dynamic_shared = value;
        return cudaSuccess;
    case cudaFuncAttributePreferredSharedMemoryCarveout:
        if (value < -1 || value > 100)
            return cudaErrorInvalidValue;
        k->carveout = value;
        return cudaSuccess;
    case cudaFuncAttributeNonPortableClusterSizeAllowed:
        k->nonportable = value != 0;
        return cudaSuccess;
    case cudaFuncAttributeRequiredClusterWidth:
        k->cluster[0] = value;
        return cudaSuccess;
    case cudaFuncAttributeRequiredClusterHeight:
        k->cluster[1] = value;
        return cudaSuccess;
    case cudaFuncAttributeRequiredClusterDepth:
        k->cluster[2] = value;
        return cudaSuccess;
    case cudaFuncAttributeClusterDimMustBeSet:
    case cudaFuncAttributeClusterSchedulingPolicyPreference:
        return cudaSuccess;
    case cudaFuncAttributeMax:
        break;
    }
    return cudaErrorInvalidValue;
}

static cudaError_t func_set_attribute(struct runtime *rt, const void *func,
                                      enum cudaFuncAttribute attribute, int value)
{
    cudaError_t e = cudaSuccess;
    struct kernel *k = kernel_find(rt, func, &e);

    return k ? set_attribute(k, attribute, value) : e;
}

EXPORT cudaError_t cudaFuncSetAttribute(const void *func, enum cudaFuncAttribute attribute,
                                        int value)
{
    API_BODY(API_WORK, func_set_attribute(rt, func, attribute, value));
}

EXPORT cudaError_t cudaKernelSetAttributeForDevice(cudaKernel_t kernel,
                                                   enum cudaFuncAttribute attribute, int value,
                                                   int device)
{
    API_BODY(API_WORK, device != 0 ? cudaErrorInvalidDevice
                                   : func_set_attribute(rt, kernel, attribute, value));
}

/* Hints to the caches: only the kernel can be wrong. */
static cudaError_t func_known(struct runtime *rt, const void *func)
{
    cudaError_t e = cudaSuccess;

    kernel_find(rt, func, &e);
    return e;
}

EXPORT cudaError_t cudaFuncSetCacheConfig(const void *func, enum cudaFuncCache config)
{
    API_BODY(API_WORK,
             config > cudaFuncCachePreferEqual ? cudaErrorInvalidValue : func_known(rt, func));
}

EXPORT cudaError_t cudaFuncSetSharedMemConfig(const void *func, enum cudaSharedMemConfig config)
{
    API_BODY(API_WORK, config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue
                                                               : func_known(rt, func));
}

static cudaError_t func_name(struct runtime *rt, const char **name, const void *func)
{
    cudaError_t e = cudaSuccess;
    const struct kernel *k = name ? kernel_find(rt, func, &e) : NULL;

    if (!name)
        return cudaErrorInvalidValue;
    *name = k ? k->name : NULL;
    return e;
}

EXPORT cudaError_t cudaFuncGetName(const char **name, const void *func)
{
    API_BODY(API_WORK, func_name(rt, name, func));
}

static cudaError_t param_info(struct runtime *rt, const void *func, size_t index, size_t *offset,
                              size_t *size)
{
    cudaError_t e = cudaSuccess;
    const struct kernel *k = kernel_find(rt, func, &e);

    if (!k)
        return e;
    if (!offset || index >= k->func->param_count)
        return cudaErrorInvalidValue;
    *offset = k->func->params[index].offset;
    if (size)
        *size = k->func->params[index].size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaFuncGetParamInfo(const void *func, size_t index, size_t *offset,
                                        size_t *size)
{
    API_BODY(API_WORK, param_info(rt, func, index, offset, size));
}

/* ---- occupancy ---- */

static cudaError_t occupancy(struct runtime *rt, int *blocks, const void *func, int threads,
                             size_t shared)
{
    cudaError_t e = cudaSuccess;
    const struct kernel *k = blocks ? kernel_find(rt, func, &e) : NULL;

    if (!blocks || threads <= 0)
        return cudaErrorInvalidValue;
    if (!k)
        return e;
    const bool fits =
        threads <= THREADS_MAX && shared <= shared_limit(k) - k->program->shared_static;
    *blocks = fits ? (int)sched_occupancy(k->program, (uint32_t)threads, (uint32_t)shared,
                                          kernel_registers(k))
                   : 0;
    return cudaSuccess;
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, const void *func,
                                                                 int threads, size_t shared)
{
    API_BODY(API_WORK, occupancy(rt, blocks, func, threads, shared));
}

EXPORT cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
    int *blocks, const void *func, int threads, size_t shared, unsigned flags)
{
    API_BODY(API_WORK,
             flags > 1 ? cudaErrorInvalidValue : occupancy(rt, blocks, func, threads, shared));
}

/* The share of an SM's shared memory that is left to each of `blocks`, as far as the kernel may
 * have it. */
static cudaError_t available_shared(struct runtime *rt, size_t *size, const void *func, int blocks,
                                    int threads)
{
    cudaError_t e = cudaSuccess;
    const struct kernel *k = size ? kernel_find(rt, func, &e) : NULL;

    if (!size || blocks <= 0 || blocks > BLOCKS_MAX || threads <= 0)
        return cudaErrorInvalidValue;
    if (!k)
        return e;
    const size_t allowed = shared_limit(k) - k->program->shared_static;
    const size_t share = SHARED_SM / (unsigned)blocks / SHARED_UNIT * SHARED_UNIT;
    if (share < k->program->shared_static)
        return cudaErrorInvalidValue;
    *size =
        share - k->program->shared_static < allowed ? share - k->program->shared_static : allowed;
    return cudaSuccess;
}

EXPORT cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *size, const void *func,
                                                             int blocks, int threads)
{
    API_BODY(API_WORK, available_shared(rt, size, func, blocks, threads));
}

static cudaError_t cluster_size(struct runtime *rt, int *size, const void *func,
                                const cudaLaunchConfig_t *config)
{
    cudaError_t e = cudaSuccess;
    const struct kernel *k = size && config ? kernel_find(rt, func, &e) : NULL;

    if (!size || !config)
        return cudaErrorInvalidValue;
    if (k)
        *size = k->nonportable ? 16 : 8;
    return e;
}

EXPORT cudaError_t cudaOccupancyMaxPotentialClusterSize(int *size, const void *func,
                                                        const cudaLaunchConfig_t *config)
{
    API_BODY(API_WORK, cluster_size(rt, size, func, config));
}

static cudaError_t active_clusters(struct runtime *rt, int *clusters, const void *func,
                                   const cudaLaunchConfig_t *c)
{
    struct extras x;
    int blocks = 0;

    if (!clusters || !c)
        return cudaErrorInvalidValue;
    cudaError_t e = read_attributes(rt, c, &x);
    if (e == cudaSuccess)
        e = occupancy(rt, &blocks, func, (int)(c->blockDim.x * c->blockDim.y * c->blockDim.z),
                      c->dynamicSmemBytes);
    const unsigned size = x.cluster.x * x.cluster.y * x.cluster.z;
    if (e == cudaSuccess && size == 0)
        return cudaErrorInvalidClusterSize;
    if (e == cudaSuccess)
        *clusters = (int)((unsigned)blocks * rt->device.sm_count / size);
    return e;
}

EXPORT cudaError_t cudaOccupancyMaxActiveClusters(int *clusters, const void *func,
                                                  const cudaLaunchConfig_t *config)
{
    API_BODY(API_WORK, active_clusters(rt, clusters, func, config));
}

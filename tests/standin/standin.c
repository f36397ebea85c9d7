/*
 * standin.c - a libcudart.so.13 for tests: host memory plays device memory, and work is done at
 * once. Runs no kernel: launches are refused, the "solutions" of tests/misbehave are plain C.
 * Invariant: memory is handed out at 256-byte alignment, and a copy never leaves the allocation it
 * starts in.
 *
 * CUDA_VISIBLE_DEVICES=none makes a machine without a device, as with the real driver.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#define ALIGN        256u
#define MEMORY_BYTES (UINT64_C(1) << 30)

struct block {
    struct block *next;
    unsigned char *base;
    size_t size;
};

static struct {
    pthread_mutex_t lock;
    struct block *blocks;
    cudaError_t pending;
} device = {.lock = PTHREAD_MUTEX_INITIALIZER};

struct event {
    uint64_t ns;
};

static cudaError_t done(cudaError_t e)
{
    if (e != cudaSuccess)
        device.pending = e;
    return e;
}

/* ---- device ---- */

static int device_count(void)
{
    const char *text = getenv("CUDA_VISIBLE_DEVICES");

    return text != NULL && strcmp(text, "none") == 0 ? 0 : 1;
}

cudaError_t cudaGetDeviceCount(int *count)
{
    *count = device_count();
    return done(*count == 0 ? cudaErrorNoDevice : cudaSuccess);
}

cudaError_t cudaSetDevice(int index)
{
    return done(index >= 0 && index < device_count() ? cudaSuccess : cudaErrorInvalidDevice);
}

cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int index)
{
    (void)index;
    memset(prop, 0, sizeof *prop);
    snprintf(prop->name, sizeof prop->name, "stand-in (host memory, runs no kernel)");
    prop->major = 9;
    prop->multiProcessorCount = 1;
    prop->l2CacheSize = 1 << 20;
    prop->totalGlobalMem = MEMORY_BYTES;
    return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int index)
{
    (void)index;
    *value = attribute == cudaDevAttrGlobalMemoryBusWidth ? 64 : 0;
    return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int *version)
{
    *version = 13000;
    return cudaSuccess;
}

cudaError_t cudaDeviceSynchronize(void) { return cudaSuccess; }
cudaError_t cudaDeviceReset(void) { return cudaSuccess; }

cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    (void)limit, (void)value;
    return cudaSuccess;
}

/* ---- errors ---- */

cudaError_t cudaGetLastError(void)
{
    const cudaError_t e = device.pending;

    device.pending = cudaSuccess;
    return e;
}

cudaError_t cudaPeekAtLastError(void) { return device.pending; }

const char *cudaGetErrorName(cudaError_t e)
{
    switch ((int)e) {
    case cudaSuccess:
        return "cudaSuccess";
    case cudaErrorInvalidValue:
        return "cudaErrorInvalidValue";
    case cudaErrorMemoryAllocation:
        return "cudaErrorMemoryAllocation";
    case cudaErrorNoDevice:
        return "cudaErrorNoDevice";
    case cudaErrorInvalidDevice:
        return "cudaErrorInvalidDevice";
    case cudaErrorInvalidConfiguration:
        return "cudaErrorInvalidConfiguration";
    case cudaErrorNotPermitted:
        return "cudaErrorNotPermitted";
    case cudaErrorNotSupported:
        return "cudaErrorNotSupported";
    case cudaErrorIllegalAddress:
        return "cudaErrorIllegalAddress";
    default:
        return "cudaErrorUnknown";
    }
}

const char *cudaGetErrorString(cudaError_t e) { return cudaGetErrorName(e); }

/* ---- memory ---- */

static struct block **find(const unsigned char *p)
{
    struct block **link = &device.blocks;

    while (*link != NULL && !(p >= (*link)->base && p < (*link)->base + (*link)->size))
        link = &(*link)->next;
    return link;
}

/* The block that holds all of [p, p + size), or NULL. */
static bool holds(const void *p, size_t size)
{
    const unsigned char *at = p;
    const struct block *b = *find(at);

    return b != NULL && size <= b->size - (size_t)(at - b->base);
}

cudaError_t cudaMalloc(void **out, size_t size)
{
    struct block *b = malloc(sizeof *b);
    void *base;

    *out = NULL;
    if (size == 0 || b == NULL || size > MEMORY_BYTES) {
        free(b);
        return done(size == 0 ? cudaSuccess : cudaErrorMemoryAllocation);
    }
    /* Pages of their own: a stray access far off faults instead of hitting the host's heap. */
    base = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1,
                0);
    if (base == MAP_FAILED) {
        free(b);
        return done(cudaErrorMemoryAllocation);
    }
    pthread_mutex_lock(&device.lock);
    *b = (struct block){device.blocks, base, size};
    device.blocks = b;
    pthread_mutex_unlock(&device.lock);
    *out = base;
    return cudaSuccess;
}

cudaError_t cudaFree(void *p)
{
    struct block **link, *b = NULL;

    if (p == NULL)
        return cudaSuccess;
    pthread_mutex_lock(&device.lock);
    link = find(p);
    if (*link != NULL && (*link)->base == p) {
        b = *link;
        *link = b->next;
    }
    pthread_mutex_unlock(&device.lock);
    if (b == NULL)
        return done(cudaErrorInvalidValue);
    munmap(b->base, b->size);
    free(b);
    return cudaSuccess;
}

cudaError_t cudaMemcpy(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind)
{
    bool fine = true;

    pthread_mutex_lock(&device.lock);
    if (kind == cudaMemcpyHostToDevice || kind == cudaMemcpyDeviceToDevice)
        fine = holds(dst, size);
    if (kind == cudaMemcpyDeviceToHost || kind == cudaMemcpyDeviceToDevice)
        fine = fine && holds(src, size);
    pthread_mutex_unlock(&device.lock);
    if (size == 0)
        return cudaSuccess;
    if (!fine)
        return done(cudaErrorInvalidValue);
    memmove(dst, src, size);
    return cudaSuccess;
}

cudaError_t cudaMemset(void *p, int value, size_t size)
{
    bool fine;

    pthread_mutex_lock(&device.lock);
    fine = holds(p, size);
    pthread_mutex_unlock(&device.lock);
    if (!fine)
        return done(cudaErrorInvalidValue);
    memset(p, value, size);
    return cudaSuccess;
}

/* ---- pinned memory: all host memory is ---- */

cudaError_t cudaHostAlloc(void **out, size_t size, unsigned int flags)
{
    (void)flags;
    *out = malloc(size);
    return done(*out == NULL ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaHostRegister(void *p, size_t size, unsigned int flags)
{
    (void)flags;
    return done(p == NULL || size == 0 ? cudaErrorInvalidValue : cudaSuccess);
}

cudaError_t cudaHostUnregister(void *p)
{
    return done(p == NULL ? cudaErrorInvalidValue : cudaSuccess);
}

/* ---- the runner's own kernels ---- */

#define SWEEP_BYTES 64u /* of one thread in one round: four 16-byte words */

static const char *const kernel_names[] = {"kit_empty", "kit_scale", "kit_differ", "kit_digest",
                                           "kit_read",  "kit_write", "kit_copy"};
#define KERNEL_COUNT (sizeof kernel_names / sizeof *kernel_names)

cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                enum cudaJitOption *jit_options, void **jit_values,
                                unsigned int jit_count, enum cudaLibraryOption *options,
                                void **values, unsigned int count)
{
    (void)jit_options, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    *library = (cudaLibrary_t)(uintptr_t)code;
    return done(strncmp(code, ".version", 8) == 0 ? cudaSuccess : cudaErrorInvalidPtx);
}

cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library, const char *name)
{
    (void)library;
    for (size_t i = 0; i < KERNEL_COUNT; i++)
        if (strcmp(name, kernel_names[i]) == 0) {
            *kernel = (cudaKernel_t)(uintptr_t)&kernel_names[i]; /* the address is the handle */
            return cudaSuccess;
        }
    return done(cudaErrorInvalidDeviceFunction);
}

static uint32_t scaled(uint32_t bits, float factor, bool raw)
{
    float f;

    memcpy(&f, &bits, sizeof f);
    if (raw || f != f)
        return bits;
    f *= factor;
    memcpy(&bits, &f, sizeof bits);
    return bits;
}

static void *pointer_at(void **args, unsigned i) { return *(void **)args[i]; }
static uint64_t number_at(void **args, unsigned i) { return *(const uint64_t *)args[i]; }

static cudaError_t play_scale(void **args, bool differ)
{
    uint32_t *first = pointer_at(args, 0);
    const uint32_t *src = pointer_at(args, 1);
    const uint64_t count = number_at(args, 2);
    const float factor = *(const float *)args[3];
    const bool raw = *(const uint32_t *)args[4] != 0;
    uint64_t *results = differ ? pointer_at(args, 5) : NULL;

    if (!holds(first, count * 4) || !holds(src, count * 4) || (differ && !holds(results, 16)))
        return cudaErrorIllegalAddress;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t want = scaled(src[i], factor, raw);
        if (!differ) {
            first[i] = want;
        } else if (first[i] != want) {
            results[0]++;
            results[1] = i < results[1] ? i : results[1];
        }
    }
    return cudaSuccess;
}

/* The sum of splitmix64's finaliser over place, key and unscaled bits. */
static cudaError_t play_digest(void **args)
{
    const uint32_t *data = pointer_at(args, 0);
    const uint64_t count = number_at(args, 1), key = number_at(args, 5);
    const float factor = *(const float *)args[2];
    const bool raw = *(const uint32_t *)args[3] != 0, is_float = *(const uint32_t *)args[4] != 0;
    uint64_t *results = pointer_at(args, 6);

    if (!holds(data, count * 4) || !holds(results, 8))
        return cudaErrorIllegalAddress;
    for (uint64_t i = 0; i < count; i++) {
        const uint32_t bits = scaled(data[i], factor, raw);
        uint64_t z = i * UINT64_C(0x9e3779b97f4a7c15) + key;

        z += is_float && bits == 0x80000000u ? 0 : bits;
        z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
        results[0] += z ^ (z >> 31);
    }
    return cudaSuccess;
}

/* kit_read, kit_write and kit_copy: whole rounds of the grid. A read only has to be allowed. */
static cudaError_t play_sweep(const char *name, void **args, uint64_t threads)
{
    const bool copies = strcmp(name, "kit_copy") == 0;
    const uint64_t bytes = number_at(args, copies ? 2 : 1) * threads * SWEEP_BYTES;
    void *data = pointer_at(args, 0);

    if (!holds(data, bytes) || (copies && !holds(pointer_at(args, 1), bytes)))
        return cudaErrorIllegalAddress;
    if (copies)
        memcpy(data, pointer_at(args, 1), bytes);
    else if (strcmp(name, "kit_write") == 0)
        memset(data, 0, bytes);
    return cudaSuccess;
}

static cudaError_t play(const char *name, void **args, uint64_t threads)
{
    if (strcmp(name, "kit_empty") == 0)
        return cudaSuccess;
    if (strcmp(name, "kit_scale") == 0)
        return play_scale(args, false);
    if (strcmp(name, "kit_differ") == 0)
        return play_scale(args, true);
    if (strcmp(name, "kit_digest") == 0)
        return play_digest(args);
    return play_sweep(name, args, threads);
}

/* Other kernels are refused, as by a device that has no code for them. */
cudaError_t cudaLaunchKernel(const void *func, dim3 grid, dim3 block, void **args, size_t shared,
                             cudaStream_t stream)
{
    (void)shared, (void)stream;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0 || block.x * block.y * block.z > 1024)
        return done(cudaErrorInvalidConfiguration);
    for (size_t i = 0; i < KERNEL_COUNT; i++)
        if (func == (const void *)&kernel_names[i])
            return done(play(kernel_names[i], args, (uint64_t)grid.x * block.x));
    return done(cudaErrorNotSupported);
}

/* ---- streams and graphs: only copies can be captured ---- */

#define NODES_MAX 16u

struct node {
    void *dst;
    const void *src;
    size_t size;
};
struct graph {
    struct node nodes[NODES_MAX];
    unsigned count;
};
struct stream {
    struct graph *capturing;
    bool broken; /* work went to the default stream meanwhile */
};

static struct stream *captured; /* the one stream in capture, or NULL */

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *out, unsigned int flags)
{
    struct stream *s = calloc(1, sizeof *s);

    (void)flags;
    *out = (cudaStream_t)(void *)s;
    return done(s == NULL ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    free(stream);
    return cudaSuccess;
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    struct stream *s = (struct stream *)(void *)stream;

    (void)mode;
    if (s == NULL)
        return done(cudaErrorStreamCaptureUnsupported);
    s->capturing = calloc(1, sizeof *s->capturing);
    s->broken = false;
    captured = s;
    return done(s->capturing == NULL ? cudaErrorMemoryAllocation : cudaSuccess);
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *out)
{
    struct stream *s = (struct stream *)(void *)stream;

    captured = NULL;
    *out = (cudaGraph_t)(void *)s->capturing;
    s->capturing = NULL;
    if (!s->broken)
        return cudaSuccess;
    free(*out);
    *out = NULL;
    return done(cudaErrorStreamCaptureInvalidated);
}

cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
    struct stream *s = (struct stream *)(void *)stream;

    if (captured != NULL && s == captured && s->capturing->count < NODES_MAX) {
        s->capturing->nodes[s->capturing->count++] = (struct node){dst, src, size};
        return cudaSuccess;
    }
    if (captured != NULL && s == NULL)
        captured->broken = true;
    return cudaMemcpy(dst, src, size, kind);
}

cudaError_t cudaGraphInstantiate(cudaGraphExec_t *out, cudaGraph_t graph, unsigned long long flags)
{
    struct graph *copy = malloc(sizeof *copy);

    (void)flags;
    if (copy == NULL)
        return done(cudaErrorMemoryAllocation);
    memcpy(copy, graph, sizeof *copy);
    *out = (cudaGraphExec_t)(void *)copy;
    return cudaSuccess;
}

cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    free(graph);
    return cudaSuccess;
}

cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    free(exec);
    return cudaSuccess;
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    const struct graph *g = (const struct graph *)(const void *)exec;

    (void)stream;
    for (unsigned i = 0; i < g->count; i++) {
        const cudaError_t e = cudaMemcpy(g->nodes[i].dst, g->nodes[i].src, g->nodes[i].size,
                                         cudaMemcpyDeviceToDevice);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

/* ---- events: the host's clock ---- */

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

cudaError_t cudaEventCreate(cudaEvent_t *out)
{
    struct event *e = calloc(1, sizeof *e);

    if (e == NULL)
        return done(cudaErrorMemoryAllocation);
    *out = (cudaEvent_t)(void *)e;
    return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    free(event);
    return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    (void)stream;
    ((struct event *)(void *)event)->ns = now_ns();
    return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    (void)event;
    return cudaSuccess;
}

cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t stop)
{
    const struct event *a = (const struct event *)(const void *)start;
    const struct event *b = (const struct event *)(const void *)stop;

    *ms = (float)((double)(b->ns - a->ns) * 1e-6);
    return cudaSuccess;
}

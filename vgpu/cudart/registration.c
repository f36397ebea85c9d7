/*
 * registration.c - what host code made by nvcc calls before main: fatbins, kernels, variables; and
 * their loading at first use. Launches nothing. Invariant: registration cannot fail; a module that
 * cannot be loaded keeps its refusal and launching it returns 209.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROFILE_ARCH = 90 };

EXPORT void **__cudaRegisterFatBinary(void *wrapper);
EXPORT void __cudaRegisterFatBinaryEnd(void **handle);
EXPORT void __cudaUnregisterFatBinary(void **handle);
EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int thread_limit, uint3 *tid, uint3 *bid, dim3 *block,
                                   dim3 *grid, int *warp_size);
EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t size, int constant, int global);
EXPORT void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                                     const char *name, int ext, size_t size, int constant,
                                     int global);
EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size);
EXPORT void __cudaRegisterUnifiedTable(void **handle, void *table);
EXPORT char __cudaInitModule(void **handle);

/* ---- modules ---- */

static char *copy_text(const char *s)
{
    char *c = malloc(strlen(s) + 1);

    return c ? strcpy(c, s) : NULL;
}

struct module *module_new(struct runtime *rt)
{
    struct module *m = calloc(1, sizeof *m);

    if (m) {
        m->next = rt->modules;
        rt->modules = m;
    }
    return m;
}

void module_unload(struct runtime *rt, struct module *m)
{
    if (m->ptx && rt->opened)
        image_remove(&rt->device.space, m->ptx, rt->device.launch_count);
    ptx_module_free(m->ptx);
    m->ptx = NULL;
    free(m->refusal);
    m->refusal = NULL;
    m->loaded = false;
    for (struct kernel *k = m->kernels; k; k = k->next) {
        k->func = NULL;
        k->program = NULL;
        free(k->refusal);
        k->refusal = NULL;
    }
}

void module_delete(struct runtime *rt, struct module *m)
{
    module_unload(rt, m);
    while (m->kernels) {
        struct kernel *k = m->kernels;
        m->kernels = k->next;
        object_remove(&rt->objects, k->stub, OBJECT_STUB);
        object_remove(&rt->objects, k, OBJECT_KERNEL);
        free(k->own_name);
        free(k);
    }
    while (m->vars) {
        struct symbol_var *v = m->vars;
        m->vars = v->next;
        object_remove(&rt->objects, v->host, OBJECT_SYMBOL);
        free(v);
    }
    for (struct module **p = &rt->modules; *p; p = &(*p)->next)
        if (*p == m) {
            *p = m->next;
            break;
        }
    free(m->text);
    free(m);
}

static void load_text(struct runtime *rt, struct module *m, const char *text, size_t len)
{
    struct ptx_diag d;
    char why[sizeof d.text + 300];

    if (!ptx_module_load(&m->ptx, text, len, &d)) {
        snprintf(why, sizeof why, "PTX %u:%u: %s: %s", d.line, d.col, d.text, d.source);
        m->refusal = copy_text(why);
        return;
    }
    if (!image_place(&rt->device.space, m->ptx, why, sizeof why)) {
        ptx_module_free(m->ptx);
        m->ptx = NULL;
        m->refusal = copy_text(why);
    }
}

/* Host pointers of managed variables become valid when their module is loaded. */
static void publish_managed(struct module *m)
{
    for (struct symbol_var *v = m->vars; v; v = v->next) {
        const struct ptx_var *p = v->managed && m->ptx ? image_find(m->ptx, v->name) : NULL;
        if (p)
            *v->managed = (void *)(uintptr_t)p->offset;
    }
}

cudaError_t module_load(struct runtime *rt, struct module *m)
{
    if (!m->loaded) {
        m->loaded = true;
        if (!m->text)
            fatbin_read(&m->fat, m->container, SIZE_MAX, PROFILE_ARCH);
        if (m->text)
            load_text(rt, m, m->text, strlen(m->text));
        else if (m->fat.status == FATBIN_OK)
            load_text(rt, m, m->fat.ptx, m->fat.ptx_len);
        else if (m->fat.status == FATBIN_REFUSED)
            m->refusal = copy_text(m->fat.refusal);
        publish_managed(m);
    }
    return m->ptx ? cudaSuccess : cudaErrorNoKernelImageForDevice;
}

/* ---- kernels ---- */

/* Name of the source-level function where a report can show it; the mangled name is kept, the
 * reader demangles. */
static void refuse_kernel(struct runtime *rt, struct kernel *k, const char *why)
{
    const struct ptx_inst *at = NULL;

    for (uint32_t i = 0; k->func && i < k->func->inst_count && !at; i++)
        if (k->func->insts[i].refusal)
            at = &k->func->insts[i];
    k->refusal = copy_text(why);
    report_refused(&rt->device.report, k->name, at, why);
    report_flush(&rt->device.report);
}

cudaError_t kernel_ready(struct runtime *rt, struct kernel *k)
{
    char why[512] = "";

    if (k->program)
        return cudaSuccess;
    if (k->refusal)
        return cudaErrorNoKernelImageForDevice;
    if (module_load(rt, k->module) != cudaSuccess) {
        refuse_kernel(rt, k, k->module->refusal ? k->module->refusal : "the object holds no PTX");
        return cudaErrorNoKernelImageForDevice;
    }
    for (uint32_t i = 0; i < k->module->ptx->func_count && !k->func; i++)
        if (strcmp(k->module->ptx->funcs[i].name, k->name) == 0)
            k->func = &k->module->ptx->funcs[i];
    if (!k->func || k->func->is_extern || !k->func->entry) {
        k->func = NULL;
        return cudaErrorInvalidDeviceFunction;
    }
    k->program = lower_function(k->func, why, sizeof why);
    if (!k->program) {
        refuse_kernel(rt, k, k->func->refusal ? k->func->refusal : why);
        return cudaErrorNoKernelImageForDevice;
    }
    k->registers = fatbin_registers(k->module->fat.elf, k->module->fat.elf_len, k->name);
    return cudaSuccess;
}

static struct kernel *kernel_new(struct runtime *rt, struct module *m, const void *stub,
                                 const char *name)
{
    struct kernel *k = calloc(1, sizeof *k);

    if (!k)
        return NULL;
    *k = (struct kernel){
        .module = m, .stub = stub, .name = name, .carveout = -1, .next = m->kernels};
    if ((stub && !object_add(&rt->objects, stub, OBJECT_STUB, k)) ||
        !object_add(&rt->objects, k, OBJECT_KERNEL, k)) {
        if (stub)
            object_remove(&rt->objects, stub, OBJECT_STUB);
        free(k);
        return NULL;
    }
    m->kernels = k;
    return k;
}

/* A handle outlives the text of its module, which a device reset throws away. */
static struct kernel *library_kernel(struct runtime *rt, struct module *m, const char *name)
{
    char *copy = copy_text(name);
    struct kernel *k = copy ? kernel_new(rt, m, NULL, copy) : NULL;

    if (k)
        k->own_name = copy;
    else
        free(copy);
    return k;
}

struct kernel *module_kernel(struct runtime *rt, struct module *m, const char *name)
{
    for (struct kernel *k = m->kernels; k; k = k->next)
        if (strcmp(k->name, name) == 0)
            return k;
    for (uint32_t i = 0; m->ptx && i < m->ptx->func_count; i++) {
        const struct ptx_func *f = &m->ptx->funcs[i];
        if (f->entry && !f->is_extern && strcmp(f->name, name) == 0)
            return library_kernel(rt, m, name);
    }
    return NULL;
}

struct kernel *kernel_find(struct runtime *rt, const void *func, cudaError_t *e)
{
    struct kernel *k = object_find(&rt->objects, func, OBJECT_STUB);

    if (!k)
        k = object_find(&rt->objects, func, OBJECT_KERNEL);
    if (k)
        *e = kernel_ready(rt, k);
    else /* what is no stub is taken for a handle */
        *e = func ? cudaErrorInvalidResourceHandle : cudaErrorInvalidDeviceFunction;
    return *e == cudaSuccess ? k : NULL;
}

/* ---- variables ---- */

static void add_var(struct runtime *rt, struct module *m, const void *host, const char *name,
                    size_t size, void **managed)
{
    struct symbol_var *v = calloc(1, sizeof *v);

    if (!v || !object_add(&rt->objects, host, OBJECT_SYMBOL, v)) {
        free(v);
        return;
    }
    *v = (struct symbol_var){
        .module = m, .host = host, .name = name, .size = size, .managed = managed, .next = m->vars};
    m->vars = v;
}

/* Generated code names a managed variable by the pointer it keeps, so the address is the variable's
 * own. */
static struct symbol_var *managed_at(struct runtime *rt, const void *address)
{
    for (struct module *m = rt->modules; m; m = m->next)
        for (struct symbol_var *v = m->vars; v; v = v->next)
            if (v->managed && *v->managed && *v->managed == address)
                return v;
    return NULL;
}

cudaError_t device_symbol_find(struct runtime *rt, const void *symbol, struct alloc **a,
                               size_t *size)
{
    struct symbol_var *v = object_find(&rt->objects, symbol, OBJECT_SYMBOL);
    const struct ptx_var *p = NULL;

    if (!v)
        v = managed_at(rt, symbol);
    if (!v)
        return cudaErrorInvalidSymbol;
    if (module_load(rt, v->module) != cudaSuccess)
        return cudaErrorNoKernelImageForDevice;
    p = image_find(v->module->ptx, v->name);
    if (!p || !image_alloc(p))
        return cudaErrorInvalidSymbol;
    *a = image_alloc(p);
    *size = v->size ? v->size : p->size;
    return cudaSuccess;
}

/* ---- entry points of generated code ---- */

EXPORT void **__cudaRegisterFatBinary(void *wrapper)
{
    struct runtime *rt = api_begin(API_PLAIN);
    struct module *m = module_new(rt);

    if (m)
        m->container = fatbin_container(wrapper);
    api_unlock();
    return (void **)m;
}

EXPORT void __cudaRegisterFatBinaryEnd(void **handle) { (void)handle; }

EXPORT void __cudaUnregisterFatBinary(void **handle)
{
    struct runtime *rt = api_begin(API_PLAIN);

    if (handle) {
        runtime_flush(rt);
        module_delete(rt, (struct module *)handle);
    }
    api_unlock();
}

EXPORT void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                                   int thread_limit, uint3 *tid, uint3 *bid, dim3 *block,
                                   dim3 *grid, int *warp_size)
{
    struct runtime *rt = api_begin(API_PLAIN);

    (void)device, (void)thread_limit, (void)tid, (void)bid, (void)block, (void)grid,
        (void)warp_size;
    if (handle)
        kernel_new(rt, (struct module *)handle, host, name);
    api_unlock();
}

EXPORT void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                              size_t size, int constant, int global)
{
    struct runtime *rt = api_begin(API_PLAIN);

    (void)device, (void)ext, (void)constant, (void)global;
    if (handle)
        add_var(rt, (struct module *)handle, host, name, size, NULL);
    api_unlock();
}

EXPORT void __cudaRegisterManagedVar(void **handle, void **host_pointer, char *device,
                                     const char *name, int ext, size_t size, int constant,
                                     int global)
{
    struct runtime *rt = api_begin(API_PLAIN);

    (void)device, (void)ext, (void)constant, (void)global;
    if (handle)
        add_var(rt, (struct module *)handle, host_pointer, name, size, host_pointer);
    api_unlock();
}

EXPORT void __cudaRegisterHostVar(void **handle, const char *name, char *host, size_t size)
{
    (void)handle, (void)name, (void)host,
        (void)size; /* only systems whose GPU reads pageable memory use it */
}

EXPORT void __cudaRegisterUnifiedTable(void **handle, void *table) { (void)handle, (void)table; }

/* Host code calls it before it touches a managed variable. */
EXPORT char __cudaInitModule(void **handle)
{
    struct runtime *rt = api_begin(API_PLAIN);
    const bool ok = handle && module_load(rt, (struct module *)handle) == cudaSuccess;

    api_unlock();
    return ok ? 1 : 0;
}

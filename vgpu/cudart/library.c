/*
 * library.c - libraries: modules that a program loads by itself, from PTX text or a fatbin.
 * Compiles nothing and reads no ELF-only image. Invariant: a library is a module without host
 * stubs.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct module *library_find(struct runtime *rt, cudaLibrary_t h)
{
    return object_find(&rt->objects, h, OBJECT_LIBRARY);
}

static uint32_t first_word(const void *p)
{
    uint32_t w = 0;

    memcpy(&w, p, sizeof w);
    return w;
}

/* Takes over `text` when it is not NULL. */
static cudaError_t library_new(struct runtime *rt, cudaLibrary_t *out, const void *container,
                               char *text)
{
    struct module *m = module_new(rt);

    if (!m || !object_add(&rt->objects, m, OBJECT_LIBRARY, m)) {
        if (m)
            module_delete(rt, m);
        free(text);
        return cudaErrorMemoryAllocation;
    }
    m->library = true;
    m->container = container;
    m->text = text;
    if (module_load(rt, m) == cudaSuccess) {
        *out = (cudaLibrary_t)(void *)m;
        return cudaSuccess;
    }
    runtime_warn(rt, "library refused: %s", m->refusal ? m->refusal : "it holds no PTX");
    const cudaError_t e = text ? cudaErrorInvalidPtx : cudaErrorNoKernelImageForDevice;
    object_remove(&rt->objects, m, OBJECT_LIBRARY);
    module_delete(rt, m);
    return e;
}

/* The image is a fatbin wrapper, a fatbin container, or PTX text. */
static cudaError_t load_image(struct runtime *rt, cudaLibrary_t *out, const void *image)
{
    if (!out || !image)
        return cudaErrorInvalidValue;
    if (memcmp(image, "\177ELF", 4) == 0)
        return cudaErrorNoKernelImageForDevice;
    if (first_word(image) == FATBIN_MAGIC)
        return library_new(rt, out, image, NULL);
    if (first_word(image) == FATBIN_WRAPPER_MAGIC)
        return library_new(rt, out, fatbin_container(image), NULL);
    char *text = strdup(image);
    return text ? library_new(rt, out, NULL, text) : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaLibraryLoadData(cudaLibrary_t *library, const void *code,
                                       enum cudaJitOption *jit, void **jit_values,
                                       unsigned jit_count, enum cudaLibraryOption *options,
                                       void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values,
        (void)count; /* nothing is compiled */
    API_BODY(API_WORK, load_image(rt, library, code));
}

/* The whole file with a NUL behind it; NULL when it cannot be read. */
static char *read_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t size = 0, cap = 0, n;

    if (!f)
        return NULL;
    do {
        if (cap - size < 65536) {
            char *wider = realloc(text, cap = cap * 2 + 65537);
            if (!wider) {
                free(text);
                fclose(f);
                return NULL;
            }
            text = wider;
        }
        n = fread(text + size, 1, cap - size - 1, f);
        size += n;
    } while (n > 0);
    text[size] = '\0';
    fclose(f);
    return text;
}

static cudaError_t load_file(struct runtime *rt, cudaLibrary_t *out, const char *path)
{
    if (!out || !path)
        return cudaErrorInvalidValue;
    char *text = read_file(path);
    if (!text)
        return cudaErrorFileNotFound;
    if (strncmp(text, "\177ELF", 4) == 0 || strlen(text) < 4) {
        free(text);
        return cudaErrorNoKernelImageForDevice;
    }
    return library_new(rt, out, NULL, text);
}

EXPORT cudaError_t cudaLibraryLoadFromFile(cudaLibrary_t *library, const char *path,
                                           enum cudaJitOption *jit, void **jit_values,
                                           unsigned jit_count, enum cudaLibraryOption *options,
                                           void **values, unsigned count)
{
    (void)jit, (void)jit_values, (void)jit_count, (void)options, (void)values, (void)count;
    API_BODY(API_WORK, load_file(rt, library, path));
}

static cudaError_t unload(struct runtime *rt, cudaLibrary_t handle)
{
    struct module *m = library_find(rt, handle);

    if (!m)
        return cudaErrorInvalidResourceHandle;
    object_remove(&rt->objects, m, OBJECT_LIBRARY);
    module_delete(rt, m);
    return cudaSuccess;
}

EXPORT cudaError_t cudaLibraryUnload(cudaLibrary_t library)
{
    API_BODY(API_SYNC, unload(rt, library));
}

/* After a device reset the module is loaded again at the first question. */
static struct module *library_ready(struct runtime *rt, cudaLibrary_t handle)
{
    struct module *m = library_find(rt, handle);

    return m && module_load(rt, m) == cudaSuccess ? m : NULL;
}

static cudaError_t get_kernel(struct runtime *rt, cudaKernel_t *out, cudaLibrary_t handle,
                              const char *name)
{
    struct module *m = library_ready(rt, handle);

    if (!m)
        return cudaErrorInvalidResourceHandle;
    if (!out || !name)
        return cudaErrorInvalidValue;
    *out = (cudaKernel_t)(void *)module_kernel(rt, m, name);
    return *out ? cudaSuccess : cudaErrorSymbolNotFound;
}

EXPORT cudaError_t cudaLibraryGetKernel(cudaKernel_t *kernel, cudaLibrary_t library,
                                        const char *name)
{
    API_BODY(API_WORK, get_kernel(rt, kernel, library, name));
}

static cudaError_t list_kernels(struct runtime *rt, cudaKernel_t *out, unsigned room,
                                unsigned *count, cudaLibrary_t handle)
{
    struct module *m = library_ready(rt, handle);
    unsigned n = 0;

    if (!m)
        return cudaErrorInvalidResourceHandle;
    for (uint32_t i = 0; i < m->ptx->func_count; i++) {
        const struct ptx_func *f = &m->ptx->funcs[i];
        if (!f->entry || f->is_extern)
            continue;
        if (out && n < room)
            out[n] = (cudaKernel_t)(void *)module_kernel(rt, m, f->name);
        n++;
    }
    *count = n;
    return cudaSuccess;
}

static cudaError_t count_kernels(struct runtime *rt, unsigned *count, cudaLibrary_t library)
{
    return count ? list_kernels(rt, NULL, 0, count, library) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaLibraryGetKernelCount(unsigned *count, cudaLibrary_t library)
{
    API_BODY(API_WORK, count_kernels(rt, count, library));
}

static cudaError_t enumerate(struct runtime *rt, cudaKernel_t *kernels, unsigned room,
                             cudaLibrary_t library)
{
    unsigned count = 0;

    return kernels ? list_kernels(rt, kernels, room, &count, library) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaLibraryEnumerateKernels(cudaKernel_t *kernels, unsigned room,
                                               cudaLibrary_t library)
{
    API_BODY(API_WORK, enumerate(rt, kernels, room, library));
}

static cudaError_t get_variable(struct runtime *rt, void **p, size_t *bytes, cudaLibrary_t handle,
                                const char *name, bool managed)
{
    const struct module *m = library_ready(rt, handle);
    const struct ptx_var *v = m && name ? image_find(m->ptx, name) : NULL;

    if (!m)
        return cudaErrorInvalidResourceHandle;
    if (!name || (!p && !bytes))
        return cudaErrorInvalidValue;
    if (!v || v->managed != managed)
        return cudaErrorSymbolNotFound;
    if (p)
        *p = (void *)(uintptr_t)v->offset;
    if (bytes)
        *bytes = v->size;
    return cudaSuccess;
}

EXPORT cudaError_t cudaLibraryGetGlobal(void **p, size_t *bytes, cudaLibrary_t library,
                                        const char *name)
{
    API_BODY(API_WORK, get_variable(rt, p, bytes, library, name, false));
}

EXPORT cudaError_t cudaLibraryGetManaged(void **p, size_t *bytes, cudaLibrary_t library,
                                         const char *name)
{
    API_BODY(API_WORK, get_variable(rt, p, bytes, library, name, true));
}

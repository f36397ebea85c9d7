/*
 * cudalib.c - opens libcudart (NVIDIA's, vgpu's or the tests' stand-in) and looks its functions up.
 * Does not know which of the three it has. Invariant: after success every required pointer is set.
 */
#include "cudalib.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

/* Two steps, so that a header's renaming macro (cudaGetDeviceProperties in CUDA 12) is followed. */
#define NAME_OF_(name) #name
#define NAME_OF(name)  NAME_OF_(name)

/* POSIX promises that a void pointer from dlsym holds a function pointer; ISO C has no cast for it,
 * hence the copy of the representation. */
#define LOOK_UP(field, symbol)                                                                     \
    do {                                                                                           \
        void *found_ = dlsym(lib->handle, symbol);                                                 \
        memcpy(&lib->field, &found_, sizeof found_);                                               \
    } while (0)

bool cudalib_open(struct cudalib *lib, const char *path, char *text, size_t size)
{
    memset(lib, 0, sizeof *lib);
    lib->handle = dlopen(path, RTLD_NOW | RTLD_GLOBAL);
    if (lib->handle == NULL) {
        const char *why = dlerror();
        snprintf(text, size, "cannot load the CUDA runtime: %s", why == NULL ? path : why);
        return false;
    }
#define X(name)                                                                                    \
    LOOK_UP(name, NAME_OF(name));                                                                  \
    if (lib->name == NULL) {                                                                       \
        snprintf(text, size, "%s has no function %s", path, NAME_OF(name));                        \
        return false;                                                                              \
    }
    CUDALIB_REQUIRED(X)
#undef X
#define X(name) LOOK_UP(name, NAME_OF(name));
    CUDALIB_OPTIONAL(X)
#undef X
    LOOK_UP(vgpu_name, "warpjudge_vgpu_name");
    LOOK_UP(vgpu_flush, "warpjudge_vgpu_flush");
    return true;
}

bool cudalib_ok(const struct cudalib *lib, cudaError_t e, const char *call, char *text, size_t size)
{
    if (e == cudaSuccess)
        return true;
    if (text[0] == '\0')
        snprintf(text, size, "%s: %s (%d): %s", call, lib->cudaGetErrorName(e), (int)e,
                 lib->cudaGetErrorString(e));
    lib->cudaGetLastError();
    return false;
}

void *cudalib_symbol(const struct cudalib *lib, const char *name)
{
    return dlsym(lib->handle, name);
}

/*
 * toolkit.h - the CUDA toolkit and the runtime libraries of this machine.
 * Starts nvcc at most once per toolkit (its version line is cached by path, size and time).
 */
#ifndef HARNESS_TOOLKIT_H
#define HARNESS_TOOLKIT_H

#include "arena.h"
#include "config.h"
#include "diag.h"

struct toolkit {
    const char *nvcc;        /* absolute path of the program, links resolved */
    const char *root;        /* folder above bin/ */
    const char *version;     /* "13.0.88" */
    const char *host;        /* host compiler: absolute path, "" if none was found */
    const char *fingerprint; /* both version lines: part of every cache key */
};

/* nvcc from the settings, CUDA_HOME, PATH, /usr/local/cuda. STATUS_NOTHING: none; the text says
 * what to do. */
enum status toolkit_find(struct toolkit *out, struct arena *a, const struct config *cfg,
                         struct diag *d) MUST_CHECK;
/* Absolute path of the real CUDA runtime library (soname 13 or 12): the settings, the toolkit's
 * folders, then the loader's folders. NULL: none. */
const char *toolkit_cudart(struct arena *a, const struct config *cfg);
/* Absolute path of the virtual GPU's library, NULL when it is not built. */
const char *toolkit_vgpu(struct arena *a, const struct config *cfg);
/* Python 3 that can import NumPy: the settings, then python3 of PATH, then /usr/bin/python3.
 * STATUS_NOTHING: none; the text names the package. */
enum status toolkit_python(const char **out, struct arena *a, const struct config *cfg,
                           struct diag *d) MUST_CHECK;

#endif

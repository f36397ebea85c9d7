/*
 * backend.c - tries the real runtime, then the virtual one.
 * Does not print: doctor and run show `why`. Invariant: a reason is kept for each backend that was
 * tried and refused.
 */
#include "backend.h"

#include "toolkit.h"
#include <string.h>

#define LOAD_LIMIT_S 60.0 /* a cold driver on a large machine takes over 10 s to start */

struct runner_config backend_runner(const struct backend_choice *b, const struct config *cfg)
{
    return (struct runner_config){.runner_path = cfg->runner,
                                  .cudart_path = b->cudart,
                                  .backend = b->kind,
                                  .device = cfg->device,
                                  .host_memory_mib = cfg->host_memory_mib,
                                  .load_limit_s = LOAD_LIMIT_S};
}

/* What the driver's errors mean to somebody without a GPU. */
static const char *plain_words(enum backend kind, const char *text)
{
    if (kind == BACKEND_GPU && strstr(text, "cudaErrorNoDevice") != NULL)
        return "there is no NVIDIA GPU here (cudaErrorNoDevice)";
    if (kind == BACKEND_GPU && strstr(text, "cudaErrorInsufficientDriver") != NULL)
        return "there is no NVIDIA driver here, or it is older than the CUDA toolkit "
               "(cudaErrorInsufficientDriver)";
    return text;
}

/* Probes one kind; false: *why says what is missing. */
static bool try_kind(struct backend_choice *out, struct arena *a, const struct config *cfg,
                     enum backend kind, const char **why)
{
    struct diag d = {0};
    struct runner_config rc;

    *out = (struct backend_choice){.kind = kind};
    switch (kind) {
    case BACKEND_GPU:
        out->name = "gpu";
        out->cudart = toolkit_cudart(a, cfg);
        *why = "no CUDA runtime library (libcudart.so.13 or .12) found";
        break;
    case BACKEND_VGPU:
        out->name = "vgpu";
        out->cudart = toolkit_vgpu(a, cfg);
        *why = "the virtual GPU is not built (vgpu/libcudart.so.13)";
        break;
    case BACKEND_STANDIN:
        out->name = "standin";
        out->cudart = cfg->cudart[0] != '\0' ? cfg->cudart : NULL;
        *why = "the setting 'cudart' names no library";
        break;
    }
    if (out->cudart == NULL)
        return false;
    rc = backend_runner(out, cfg);
    if (runner_probe(&rc, &out->facts, &d) != STATUS_OK) {
        *why = arena_strdup(a, plain_words(kind, d.text));
        return false;
    }
    out->arch = kind == BACKEND_GPU ? arena_strdup(a, out->facts.arch) : "90a";
    out->why = kind == BACKEND_GPU ? "the probe passed on the GPU" : "the probe passed";
    return out->arch != NULL;
}

enum status backend_choose(struct backend_choice *out, struct arena *a, const struct config *cfg,
                           struct diag *d)
{
    const bool any = strcmp(cfg->backend, "auto") == 0;
    const char *gpu = "not asked for", *vgpu = "not asked for";

    if (strcmp(cfg->backend, "standin") == 0) {
        if (try_kind(out, a, cfg, BACKEND_STANDIN, &gpu))
            return STATUS_OK;
        return diag_set(d, STATUS_NOTHING, "no stand-in runtime: %s", gpu);
    }
    if (any || strcmp(cfg->backend, "gpu") == 0) {
        if (try_kind(out, a, cfg, BACKEND_GPU, &gpu))
            return STATUS_OK;
    }
    if (any || strcmp(cfg->backend, "vgpu") == 0) {
        if (try_kind(out, a, cfg, BACKEND_VGPU, &vgpu)) {
            if (any) {
                out->why = arena_printf(a, "no usable GPU: %s", gpu);
                if (out->why == NULL)
                    return diag_set(d, STATUS_NOMEM, "out of memory");
            }
            return STATUS_OK;
        }
    }
    if (!any)
        return diag_set(d, STATUS_NOTHING, "backend '%s' cannot run: %s", cfg->backend,
                        strcmp(cfg->backend, "gpu") == 0 ? gpu : vgpu);
    return diag_set(d, STATUS_NOTHING, "nothing to run on. gpu: %s; vgpu: %s", gpu, vgpu);
}

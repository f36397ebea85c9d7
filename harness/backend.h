/*
 * backend.h - which device this run uses, and why: a GPU only after a probe passed, else the
 * virtual GPU, else nothing. Starts judge-runner for the probe; loads no CUDA itself.
 * Invariant: a chosen backend has run a probe of allocation, launch and verification.
 */
#ifndef HARNESS_BACKEND_H
#define HARNESS_BACKEND_H

#include "arena.h"
#include "config.h"
#include "launch.h"

struct backend_choice {
    enum backend kind;
    const char *name;   /* "gpu", "vgpu" */
    const char *cudart; /* absolute path of the runtime library */
    const char *arch;   /* for nvcc: "90a" */
    const char *why;    /* one sentence for doctor */
    struct device_facts facts;
};

/* Chooses by cfg->backend ("auto", "gpu", "vgpu", and "standin", a memory-only runtime for the
 * judge's own tests). STATUS_NOTHING: nothing here can run; the text lists what was tried. */
enum status backend_choose(struct backend_choice *out, struct arena *a, const struct config *cfg,
                           struct diag *d) MUST_CHECK;
/* The configuration of a runner for this backend, without solution and problem (a probe's). */
struct runner_config backend_runner(const struct backend_choice *b, const struct config *cfg);

#endif

/*
 * compile.h - one .cu to one cached shared object, by nvcc; also the toolkit that was found.
 * Loads nothing. Invariant: a cache entry appears by rename only when complete; failures are cached too.
 */
#ifndef HARNESS_COMPILE_H
#define HARNESS_COMPILE_H

#include "arena.h"
#include "config.h"
#include "diag.h"
#include "problem.h"
#include "solution.h"

struct kernel_info {
    const char *name; /* demangled */
    unsigned registers, spill_store_bytes, spill_load_bytes, stack_bytes, shared_bytes;
};
struct object {
    bool ok;              /* false: CE, see log */
    const char *so_path;  /* absolute; valid when ok */
    const char *key;      /* 32 hex digits */
    const char *log;      /* whole stderr of nvcc, plus our own reasons ("no solve symbol; expected ...") */
    const char *reason;   /* CE: one line for the report; "" when ok */
    const struct kernel_info *kernels;
    unsigned kernel_count;
    bool cached;
    double compile_s;
};

/* Compiles `s` for `arch` ("90a") with extra -D tunes (NULL-terminated "NAME=value" list or NULL).
 * STATUS_NOTHING: no nvcc. A compile error is not an error status: out->ok is false. */
enum status compile_solution(struct object *out, struct arena *a, const struct config *cfg, const struct problem *p,
                             const struct solution *s, const char *arch, const char *const *defines,
                             struct diag *d) MUST_CHECK;

#endif

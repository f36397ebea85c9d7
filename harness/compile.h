/*
 * compile.h - one .cu to one cached shared object, by nvcc.
 * Loads nothing and judges nothing. Invariant: a cache entry appears by rename, complete or not at
 * all; failures that the file caused are cached too, those of the machine are not.
 */
#ifndef HARNESS_COMPILE_H
#define HARNESS_COMPILE_H

#include "arena.h"
#include "config.h"
#include "diag.h"
#include "problem.h"
#include "ptxas_log.h"
#include "solution.h"

struct object {
    bool ok;             /* false: CE, see log */
    const char *so_path; /* absolute; valid when ok */
    const char *key;     /* 32 hex digits */
    const char *log; /* what nvcc said, without ptxas's info lines and without folder names; after a
                      * refusal of ours its text stands in front */
    const char *reason; /* CE: one line for the report; "" when ok */
    const struct kernel_info *kernels;
    unsigned kernel_count;
    bool cached;
    double compile_s; /* of nvcc, also when cached: then of the run that filled the cache */
};

/* Compiles `s` for `arch` ("90a") with extra -D tunes (NULL-terminated "NAME=value" list or NULL).
 * A compile error is not an error status: out->ok is false. STATUS_NOTHING: no nvcc. STATUS_IO: the
 * machine is at fault (cache not writable, disk full, nvcc killed, interrupted). Cached: a few
 * milliseconds. */
enum status compile_solution(struct object *out, struct arena *a, const struct config *cfg,
                             const struct problem *p, const struct solution *s, const char *arch,
                             const char *const *defines, struct diag *d) MUST_CHECK;
/* First lines of a log, for a report: at most `lines`, with a last line that tells how many are
 * left out. */
const char *compile_log_head(struct arena *a, const char *log, unsigned lines);

#endif

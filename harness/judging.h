/*
 * judging.h - one solution over its cases: the call plan, what each reply means, the verdicts.
 * Owns no device and no screen: launch.c runs the child, report_*.c print.
 * Invariant: AC is given only where a complete record came and the parent compared every output.
 */
#ifndef HARNESS_JUDGING_H
#define HARNESS_JUDGING_H

#include "backend.h"
#include "config.h"
#include "reply.h"
#include "results.h"
#include <signal.h>

#define JUDGING_SMALL (UINT64_C(1) << 20) /* elements up to which call C is made */

struct judging_options {
    const struct config *cfg;
    const struct backend_choice *backend;
    uint64_t seed;           /* of the exponents; recorded in the results */
    bool bench;              /* solutions that need bench (@needs bench) are judged, too */
    bool strict;             /* warnings of the virtual GPU are RE */
    bool fresh;              /* new contents and reference for cases up to JUDGING_SMALL elements */
    bool stop_at_expected;   /* cases after one that fails as the tag promises are not tried */
    bool counters;           /* exact counts of call A (virtual GPU) */
    unsigned repeat;         /* further equal calls, whose spread is reported */
    const char *sanitize;    /* NULL or a compute-sanitizer tool */
    double time_limit_s;     /* 0: the problem's limit times cfg->time_scale */
    double time_factor;      /* check's time-limit sensitivity: multiplies the limit; 0 = 1 */
    const char *keep_dir;    /* NULL, or folder for the outputs of failing calls */
    uint64_t schedule;       /* virtual GPU: seed of warp and block order, 0 = canonical */
    const char *vgpu_checks; /* NULL = default */
    /* Called before each case; may be NULL. */
    void (*progress)(void *ctx, unsigned done, unsigned total, const char *case_name);
    void *progress_ctx;
    const volatile sig_atomic_t *stop; /* non-zero: end early; may be NULL */
};

/* Compiles (or finds in the cache) and judges. Every verdict, JE included, is in *out; an error
 * status means that not even a result could be made (memory). `arch` suits the backend. */
enum status judging_run_solution(struct solution_result *out, struct arena *a,
                                 const struct judging_options *o, const struct problem *p,
                                 const struct solution *s, const struct casedef *const *cases,
                                 unsigned case_count, const char *const *defines,
                                 struct diag *d) MUST_CHECK;
/* The same for an object that is already built: out->object is filled by the caller. */
enum status judging_run_object(struct solution_result *out, struct arena *a,
                               const struct judging_options *o, const struct casedef *const *cases,
                               unsigned case_count, struct diag *d) MUST_CHECK;

/* Compares the output of parameter `param` (at `got`, `exponents` applied) with the reference. */
bool judging_compare(const struct problem *p, const struct casedef *c, const struct casefile *ref,
                     unsigned param, const void *got, const void *got_other,
                     const int exponents[PROBLEM_MAX_GROUPS], unsigned poison_kind,
                     struct compare_input *input, struct mismatch *mismatch);
/* Seconds that one call of this problem may take. */
double judging_limit(const struct judging_options *o, const struct problem *p);
/* The configuration of the child that runs `so_path`. */
struct runner_config judging_runner(const struct judging_options *o, const struct problem *p,
                                    const struct solution *s, const char *so_path);
/* Why this solution cannot be judged on this backend (its @needs and @arch), or NULL. */
const char *judging_skip_reason(struct arena *a, const struct backend_choice *b,
                                const struct solution *s, bool bench);

#endif

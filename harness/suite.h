/*
 * suite.h - many solutions judged by worker processes, results in order.
 * Judges nothing itself (judging.c in the workers does) and prints nothing.
 * Invariant: every item gets a result; a worker that dies is JE for its item alone. On an
 * interrupt no process that was started here stays behind.
 */
#ifndef HARNESS_SUITE_H
#define HARNESS_SUITE_H

#include "judging.h"
#include "term.h"

struct suite_item {
    const struct problem *problem;
    const struct solution *solution;
    const struct casedef *const *cases;
    unsigned case_count;
    const char *const *defines; /* NULL or NULL-terminated "NAME=value" list of -D constants */
    const char *tune;           /* the same for people, "" if none */
};

struct suite_options {
    struct judging_options judging;
    unsigned jobs;     /* worker processes at once */
    struct term *term; /* progress line; may be NULL */
    /* Called in item order as results come in; may be NULL. */
    void (*done)(void *ctx, unsigned index, const struct solution_result *r);
    void *done_ctx;
    /* On a GPU: what else has to be made before the first call, beside the compilers. Called in a
     * process of its own, then once more here, where it finds its work done. May be NULL. */
    enum status (*prepare)(void *ctx, struct diag *d);
    void *prepare_ctx;
};

/* out[count] is filled; strings live in `a`. STATUS_IO "interrupted" when *judging.stop was set. */
enum status suite_run(struct solution_result *out, struct arena *a, const struct suite_options *o,
                      const struct suite_item *items, unsigned count, struct diag *d) MUST_CHECK;
/* Kills and reaps every process left below this one (after an interrupt). */
void suite_sweep(void);
/* Processors that this process may use. */
unsigned suite_cores(void);
/* Worker processes for this backend; `wanted` 0: as many as there are cores on the virtual GPU, and
 * on a GPU up to four, 16 GiB of its memory and two cores each. They only judge: times are measured
 * by bench.c, alone on the device. */
unsigned suite_jobs(const struct backend_choice *backend, unsigned wanted);

#endif

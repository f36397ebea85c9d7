/*
 * draw.h - random choices of a run: exponents of the rescale groups, bench order.
 * Reproducible from one 64-bit seed; the seed itself comes from getrandom() or --seed.
 * Invariant: the output exponent (the sum over groups) never repeats within DRAW_MEMORY calls of a
 * case, as far as the case's range allows.
 */
#ifndef HARNESS_DRAW_H
#define HARNESS_DRAW_H

#include "problem.h"

#define DRAW_MEMORY 8

struct draw {
    uint64_t state;
    int recent[DRAW_MEMORY]; /* output exponents of the last calls */
    unsigned recent_count;
};

/* A seed from the operating system. */
enum status draw_seed(uint64_t *out, struct diag *d) MUST_CHECK;
/* Starts the stream of one case: depends on seed, problem and case name only, so that one case can
 * be replayed alone. */
void draw_open(struct draw *out, uint64_t seed, const char *problem, const char *case_name);
uint64_t draw_next(struct draw *d);
/* Uniform in 0..n-1; n > 0. */
uint64_t draw_below(struct draw *d, uint64_t n);
/* Fills exponents[group_count] inside the case's ranges and remembers their sum. */
void draw_exponents(struct draw *d, const struct problem *p, const struct casedef *c,
                    int exponents[PROBLEM_MAX_GROUPS]);
/* Remembers a call that was made with given exponents (call A: all zero). */
void draw_remember(struct draw *d, int sum);

#endif

/*
 * rank.h - places on a board: who ties with whom, and ratios with their error (judge.md section 9).
 * Measures nothing. Invariant: a solution shares the place of its group's leader only when the
 * difference is within the errors of both, or within one step of the clock.
 */
#ifndef HARNESS_RANK_H
#define HARNESS_RANK_H

#include <stdbool.h>
#include <stddef.h>

struct rank_entry {
    double median; /* microseconds */
    double se;     /* relative standard error of the median */
    bool ranked;   /* false: no place (baseline, too short, impossible) */
    size_t index;  /* the caller's own number, carried along */
    /* filled by rank_groups: */
    unsigned place; /* 1-based; 0 = not ranked */
    bool tied;      /* shares the place with the leader of its group */
};

/* Sorts by median (ranked entries first, then the others) and fills place and tied. step: smallest
 * difference that means anything, same unit as the medians. */
void rank_groups(struct rank_entry *entries, size_t count, double step);

struct ratio {
    double value, error; /* error: absolute, one standard error */
};
/* t/t_base with the relative errors of both added in quadrature. */
struct ratio rank_ratio(double t, double se, double t_base, double se_base);

#endif

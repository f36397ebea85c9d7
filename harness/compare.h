/*
 * compare.h - outputs against expected values: the one place where an output becomes right or wrong.
 * Pure: no I/O, no knowledge of problems. Invariant: an element passes only when !(fabs(got - want) <= tol) is false.
 */
#ifndef HARNESS_COMPARE_H
#define HARNESS_COMPARE_H

#include "problem.h"
#include <stdbool.h>
#include <stdint.h>

struct compare_input {
    enum dtype dtype;            /* of got */
    uint64_t count;
    const void *got;             /* dtype, in this call's scale */
    const void *want;            /* dtype of the .ref tensor: same dtype for exact, f64 otherwise */
    enum dtype want_dtype;
    const double *tol;           /* per element bound for RULE_TOL, else NULL */
    struct rule rule;
    int exponent;                /* got * 2^-exponent is compared */
    unsigned poison_kind;        /* pattern that marks unwritten elements */
    const void *got_other;       /* the other call's output (integer poison rule, hints), may be NULL */
    unsigned rank;
    uint64_t shape[PROBLEM_MAX_DIMS];
};
struct mismatch {
    uint64_t count;              /* elements that fail; 0 = accepted */
    uint64_t first, last;        /* indices */
    uint64_t unwritten;          /* elements that still hold the poison */
    uint64_t unwritten_first;
    double got, want;            /* at first, unscaled */
    double max_abs, max_rel;
    uint64_t max_ulp;            /* in got's dtype */
    double margin;               /* largest error / allowed error, also when accepted; 0 for exact */
};
/* Fills *out; true = every element accepted. Exact path compares blocks bitwise first. */
bool compare_output(const struct compare_input *in, struct mismatch *out);

#endif

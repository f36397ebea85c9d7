/*
 * compare.h - outputs against expected values: the one place where an output becomes right or
 * wrong. Pure: no I/O, no knowledge of problems; hints.c explains a mismatch, verdict.c names it.
 * Invariant: an element passes only when !(fabs(got - want) <= allowed) is false, so NaN never
 * passes for a number; checkers.def lists the rules.
 */
#ifndef HARNESS_COMPARE_H
#define HARNESS_COMPARE_H

#include "problem.h"
#include <stdbool.h>
#include <stdint.h>

struct compare_input {
    enum dtype dtype; /* of got */
    uint64_t count;
    const void *got;  /* dtype, in this call's scale */
    const void *want; /* dtype of the .ref tensor: same dtype for exact, f64 otherwise */
    enum dtype want_dtype;
    const double *tol; /* per element bound for RULE_TOL, else NULL */
    struct rule rule;
    int exponent;          /* got * 2^-exponent is compared */
    unsigned poison_kind;  /* pattern that marks unwritten elements: 0 NaN, 1 large finite */
    const void *got_other; /* output of a call with the other poison (integer rule), may be NULL */
    unsigned rank;
    uint64_t shape[PROBLEM_MAX_DIMS];
};

struct mismatch {
    uint64_t count;       /* elements that fail; 0 = accepted */
    uint64_t first, last; /* indices of failing elements */
    uint64_t unwritten;   /* elements that still hold the poison */
    uint64_t unwritten_first;
    double got, want;        /* at first, unscaled */
    double max_abs, max_rel; /* over the failing elements; infinite where they are not numbers */
    uint64_t max_ulp;        /* in got's dtype; UINT64_MAX where not a number */
    double margin;           /* largest error / allowed error, also when accepted; 0 for exact */
};

/* Fills *out; true = every element accepted. Blocks are tested first, in vector form; only blocks
 * that hold a failing element are looked at one by one. RULE_SURVIVE accepts everything. */
bool compare_output(const struct compare_input *in, struct mismatch *out);

/* Whether one element fails under the rule (the same test as compare_output). */
bool compare_element_fails(const struct compare_input *in, uint64_t index);
/* Whether one element still holds the poison of its call. */
bool compare_element_unwritten(const struct compare_input *in, uint64_t index);
/* Element `index` of a tensor as a double (exact but for 64-bit integers above 2^53). */
double compare_load(enum dtype dtype, const void *data, uint64_t index);
/* Distance in units of the last place of `dtype` at `want`; UINT64_MAX when not finite. */
uint64_t compare_ulp(enum dtype dtype, double got, double want);
/* The bits that an unwritten element of `dtype` holds. */
uint64_t compare_poison(enum dtype dtype, unsigned poison_kind);
/* "exact", and what the rule accepts in one sentence, from checkers.def. */
const char *compare_rule_name(enum rule_kind kind);
const char *compare_rule_meaning(enum rule_kind kind);

#endif

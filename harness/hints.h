/*
 * hints.h - pattern search on a mismatch: guesses in words at what went wrong.
 * Decides nothing: compare.c has already refused the output. All from data at hand, with no
 * problem-specific code. Invariant: at most two hints, the most telling first; none is better than
 * a wrong one, so every pattern demands that the data fit it without exception.
 */
#ifndef HARNESS_HINTS_H
#define HARNESS_HINTS_H

#include "arena.h"
#include "compare.h"

#define HINTS_MAX        2
#define HINTS_MAX_INPUTS PROBLEM_MAX_PARAMS
#define HINTS_MAX_DECOYS 16
/* Outputs beyond this many elements get only the hints that need one pass (memory, time). */
#define HINTS_MAX_ELEMENTS (UINT64_C(4) << 20)

/* The output that a known mistake would give, stored with the case. */
struct hint_decoy {
    const char *sentence; /* "last N mod 4 elements missing" */
    enum dtype dtype;
    const void *data; /* as many elements as the output */
};

/* A tensor of the case, in stored scale. */
struct hint_tensor {
    const char *name;
    enum dtype dtype;
    uint64_t count;
    const void *data;
    int exponent; /* power of two that this call applied to it */
};

struct hint_scalar {
    const char *name;
    double value;
};

struct hints_input {
    const struct compare_input *compare; /* the refused comparison */
    const struct mismatch *mismatch;
    char letter; /* of the call: A, B, C or R */
    /* The output of the call before this one in the same case, its own exponent; NULL for A. */
    const void *previous;
    int previous_exponent;
    /* The output of the other call when this one is A (its B): shows reads past the end. */
    const void *next;
    int next_exponent;
    struct hint_tensor inputs[HINTS_MAX_INPUTS];
    unsigned input_count;
    struct hint_decoy decoys[HINTS_MAX_DECOYS];
    unsigned decoy_count;
    struct hint_scalar scalars[PROBLEM_MAX_PARAMS];
    unsigned scalar_count;
};

/* Writes up to HINTS_MAX texts (in `a`) to out[] and returns how many. */
unsigned hints_find(const struct hints_input *in, struct arena *a, const char *out[HINTS_MAX]);

#endif

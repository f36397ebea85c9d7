/*
 * gate.h - old against new measurement of the same thing: faster, slower, same or unclear
 * (judge.md section 15). Reads no files. Invariant: noise alone never gives SLOWER or FASTER.
 */
#ifndef HARNESS_GATE_H
#define HARNESS_GATE_H

#include <stdbool.h>
#include <stddef.h>

enum gate { GATE_FASTER, GATE_SAME, GATE_UNCLEAR, GATE_SLOWER };

struct gate_side {
    double median, se; /* se relative */
    size_t n;
    const char *flags; /* D, B or T make the result unclear; "" if none */
    bool accepted;     /* verdict AC */
};

struct gate_result {
    enum gate gate;
    double ratio;     /* new/old */
    double low, high; /* interval of the ratio: +-2 standard errors */
    const char *why;  /* for UNCLEAR and lost verdicts: one phrase, else "" */
};

const char *gate_name(enum gate g); /* "SLOWER" */
/* threshold: 0.01 = 1 %. min_samples: fewer on either side is UNCLEAR. */
struct gate_result gate_class(const struct gate_side *old, const struct gate_side *new_side,
                              double threshold, size_t min_samples);
/* Exact counts (vgpu): any increase above the threshold is SLOWER, any decrease FASTER. */
struct gate_result gate_counts(double old, double new_count, double threshold);

#endif

/*
 * stats.h - medians, noise and standard errors of samples (judge.md section 9). Pure functions.
 */
#ifndef HARNESS_STATS_H
#define HARNESS_STATS_H

#include <stddef.h>

struct summary {
    size_t n;
    double median, mad;   /* unit of the samples */
    double noise;         /* 1.4826 * MAD / median */
    double se;            /* relative: 1.2533 * noise / sqrt(n), never below half the event step */
    double min, max;
    int drift, two_modes; /* flags D and B */
};
/* samples: n > 0 finite values, not modified. event_step: smallest step of the clock, same unit (0 = unknown). */
struct summary stats_summary(const double *samples, size_t n, double event_step);
double stats_median(const double *samples, size_t n);

#endif

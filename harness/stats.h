/*
 * stats.h - medians, noise and standard errors of samples (judge.md section 9). Pure functions:
 * they read no clock and keep nothing. Invariant: results do not depend on sample order, but for
 * the drift flag, and scale with the samples.
 */
#ifndef HARNESS_STATS_H
#define HARNESS_STATS_H

#include <stdbool.h>
#include <stddef.h>

struct summary {
    size_t n;
    double median, mad; /* unit of the samples */
    double noise;       /* 1.4826 * MAD / median */
    double se;          /* relative: 1.2533 * noise / sqrt(n), never below half the event step */
    double min, max;
    int drift, two_modes; /* flags D and B */
};

/* samples: n > 0 finite values in the order of measurement, not modified. event_step: smallest
 * step of the clock, same unit (0 = unknown). */
struct summary stats_summary(const double *samples, size_t n, double event_step);
double stats_median(const double *samples, size_t n);

/* When to stop sampling one solution at one case. */
struct stop_rule {
    size_t min_samples, max_samples;
    double se_target; /* relative standard error that is good enough: 0.0025 */
    double budget_s;  /* seconds for one solution and case */
};
/* True when enough samples are there, the most allowed, or the time is spent. */
bool stats_enough(const struct stop_rule *rule, const struct summary *s, double spent_s);

#endif

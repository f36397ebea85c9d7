/*
 * stats.c - robust summaries: median, MAD, relative standard error, drift and two-mode flags.
 * Decides nothing about ranks (rank.c) or regressions (gate.c).
 * Invariant: all loops are bounded by n; NaN never enters (asserted).
 */
#include "stats.h"

#include "xalloc.h"
#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAD_TO_SIGMA   1.4826 /* a normal distribution's sigma is 1.4826 MAD */
#define MEDIAN_SE      1.2533 /* sqrt(pi/2): the median's error against the mean's */
#define DRIFT_LIMIT    0.01   /* head and tail medians differ by more than 1 % */
#define TWO_MODE_SHARE 5u     /* each group holds at least a fifth of the samples */
#define TWO_MODE_GAP   2.0    /* the gap is this many times either group's quartile spread */
#define TWO_MODE_LEAST 10u    /* fewer samples than this show no second mode */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double sorted_median(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : 0.5 * (sorted[n / 2 - 1] + sorted[n / 2]);
}

static double *sorted_copy(const double *samples, size_t n)
{
    double *copy = xalloc_array(n, sizeof *copy);

    if (copy == NULL)
        return NULL;
    memcpy(copy, samples, n * sizeof *copy);
    qsort(copy, n, sizeof *copy, by_value);
    return copy;
}

double stats_median(const double *samples, size_t n)
{
    double *copy = sorted_copy(samples, n);
    double median;

    assert(n > 0);
    if (copy == NULL)
        return (double)NAN; /* no memory: a value that can never be ranked */
    median = sorted_median(copy, n);
    xfree(copy);
    return median;
}

static double sorted_mad(const double *sorted, size_t n, double median)
{
    double *deviation = xalloc_array(n, sizeof *deviation);
    double mad;

    if (deviation == NULL)
        return (double)NAN;
    for (size_t i = 0; i < n; i++)
        deviation[i] = fabs(sorted[i] - median);
    qsort(deviation, n, sizeof *deviation, by_value);
    mad = sorted_median(deviation, n);
    xfree(deviation);
    return mad;
}

/* Two modes: the widest gap between neighbours splits the samples into two groups of at least a
 * fifth each, and is much wider than either group's own quartile spread and than 1 % of the
 * median (a clock's step makes gaps as well). */
static bool has_two_modes(const double *sorted, size_t n, double median, double event_step)
{
    const size_t least = n / TWO_MODE_SHARE + (n % TWO_MODE_SHARE != 0);
    size_t cut = 0;
    double gap = 0.0, low, high;

    if (n < TWO_MODE_LEAST)
        return false;
    for (size_t i = least; i + least <= n; i++) {
        if (sorted[i] - sorted[i - 1] > gap) {
            gap = sorted[i] - sorted[i - 1];
            cut = i;
        }
    }
    if (cut == 0 || gap <= 0.01 * median || gap <= 2.0 * event_step)
        return false;
    low = sorted[cut * 3 / 4] - sorted[cut / 4];
    high = sorted[cut + (n - cut) * 3 / 4] - sorted[cut + (n - cut) / 4];
    return gap > TWO_MODE_GAP * fmax(low, high);
}

/* First against last quarter, when there are enough samples to speak of a trend, and only beyond
 * what their own noise explains. */
static bool has_drift(const double *samples, size_t n, const struct summary *s)
{
    const size_t part = n / 4;
    double head, tail, error;

    if (part < 5)
        return false;
    head = stats_median(samples, part);
    tail = stats_median(samples + (n - part), part);
    error = MEDIAN_SE * s->noise * s->median * sqrt(2.0 / (double)part);
    return fabs(head - tail) > DRIFT_LIMIT * s->median && fabs(head - tail) > 2.0 * error;
}

struct summary stats_summary(const double *samples, size_t n, double event_step)
{
    struct summary s = {.n = n};
    double *sorted = sorted_copy(samples, n);

    assert(n > 0);
    if (sorted == NULL) {
        s.median = s.mad = s.noise = s.se = s.min = s.max = (double)NAN;
        return s;
    }
    for (size_t i = 0; i < n; i++)
        assert(isfinite(sorted[i]));
    s.min = sorted[0];
    s.max = sorted[n - 1];
    s.median = sorted_median(sorted, n);
    s.mad = sorted_mad(sorted, n, s.median);
    s.noise = s.median > 0.0 ? MAD_TO_SIGMA * s.mad / s.median : 0.0;
    s.se = MEDIAN_SE * s.noise / sqrt((double)n);
    if (s.median > 0.0 && s.se < 0.5 * event_step / s.median)
        s.se = 0.5 * event_step / s.median;
    s.two_modes = has_two_modes(sorted, n, s.median, event_step);
    s.drift = has_drift(samples, n, &s);
    xfree(sorted);
    return s;
}

bool stats_enough(const struct stop_rule *rule, const struct summary *s, double spent_s)
{
    if (s->n >= rule->max_samples || spent_s >= rule->budget_s)
        return true;
    return s->n >= rule->min_samples && s->se <= rule->se_target;
}

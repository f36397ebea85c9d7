/*
 * curve.h - time against size: the timed curve cases of one problem as families of points.
 * Measures and draws nothing. Invariant: a family's points differ in one scalar, the axis (another
 * that follows it, such as the second size of a merge, goes along), and ascend in it.
 */
#ifndef HARNESS_CURVE_H
#define HARNESS_CURVE_H

#include "results.h"

#define CURVE_CLIFF    1.3 /* growth beyond every baseline's by more is a cliff */
#define CURVE_LEAST_US 1.0 /* and at least this much: smaller steps are launch latency */

struct curve_line {
    const struct solution_result *solution;
    const struct summary *summary; /* by point; n = 0 where nothing was timed */
    const double *low, *high;      /* quartiles, by point */
};

struct curve {
    const struct problem *problem;
    const char *family; /* "n" of curve_n_1024 */
    unsigned axis;      /* parameter number */
    bool even;          /* points stand side by side; else the axis is logarithmic */
    const char *fixed;  /* "k = 100", or "" */
    unsigned point_count, line_count;
    const struct casedef **points;
    const double *floor_us; /* by point; 0 = unknown */
    struct curve_line *lines;
};

/* The families of `p` among the results, in manifest order. Cases are found by name, so results
 * read from a file will do. Nothing timed: *count is 0. */
enum status curve_list(struct curve **out, unsigned *count, struct arena *a,
                       const struct results *r, const struct problem *p, struct diag *d) MUST_CHECK;

double curve_x(const struct curve *c, unsigned point);

/* A step between neighbouring points at which an accepted solution grows more than 1.3 times as
 * much as every baseline (without one: than the floor). */
struct curve_cliff {
    const struct curve *curve;
    const struct curve_line *line;
    unsigned point;                    /* the step leads to this one */
    double growth, yardstick;          /* factors of the solution and of the steepest baseline */
    const struct curve_line *compared; /* that baseline; NULL: the floor */
};
enum status curve_cliffs(struct curve_cliff **out, unsigned *count, struct arena *a,
                         const struct curve *curves, unsigned curve_count,
                         struct diag *d) MUST_CHECK;

#endif

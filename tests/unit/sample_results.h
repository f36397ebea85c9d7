/*
 * sample_results.h - a struct results with one of everything, for the tests of reports and store.
 */
#ifndef TESTS_UNIT_SAMPLE_RESULTS_H
#define TESTS_UNIT_SAMPLE_RESULTS_H

#include "results.h"

/* Four solutions of problem "topk": an accepted one and a baseline with times, a wrong one, one
 * that does not compile. Everything lives in `a`. */
void sample_results(struct results *out, struct arena *a);
/* `count` accepted solutions of ten cases each. */
void sample_results_many(struct results *out, struct arena *a, unsigned count);

#endif

/*
 * manifest.h - the cases of a problem, read from MANIFEST.json. Called by problem.c, and by
 * caseset.c for the one-case manifest of fresh data.
 */
#ifndef HARNESS_MANIFEST_H
#define HARNESS_MANIFEST_H

#include "problem.h"

/* Fills p->cases and p->case_count; everything else of *p is set already. */
enum status manifest_read(struct problem *p, struct arena *a, const struct problem_text *manifest,
                          struct diag *d) MUST_CHECK;

#endif

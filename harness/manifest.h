/*
 * manifest.h - the cases of a problem, read from MANIFEST.json. Called by problem.c only.
 */
#ifndef HARNESS_MANIFEST_H
#define HARNESS_MANIFEST_H

#include "problem.h"

/* Fills p->cases and p->case_count; name, params, groups and rules of *p are set already.
 * `spec_sha256`: of problem.json's bytes. */
enum status manifest_read(struct problem *p, struct arena *a, const struct problem_text *manifest,
                          const char *spec_sha256, struct diag *d) MUST_CHECK;

#endif

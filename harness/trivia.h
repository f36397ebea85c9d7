/*
 * trivia.h - would a trivial answer pass? Zeros, a copy of an input, the first case's answer and
 * each decoy must be refused in several cases of a problem (judge.md section 5).
 * Runs no solution. Invariant: an answer counts as refused only by compare_output.
 */
#ifndef HARNESS_TRIVIA_H
#define HARNESS_TRIVIA_H

#include "config.h"
#include "problem.h"

#define TRIVIA_LEAST 3u /* cases that must refuse each trivial answer */

struct trivia_answer {
    const char *name; /* "zeros", "input prefix", "first case", "decoy <id>" */
    unsigned tried;   /* cases it fits into */
    unsigned refused; /* of these, refused */
};

struct trivia {
    struct trivia_answer answers[32];
    unsigned answer_count;
    unsigned cases_seen; /* with their files at hand, not too large */
};

/* Looks at the cases of `p` that need no GPU and have at most 1 Mi elements. */
enum status trivia_check(struct trivia *out, struct arena *a, const struct config *cfg,
                         const struct problem *p, struct diag *d) MUST_CHECK;
/* A decoy may fit few cases: refused wherever tried is enough then. */
bool trivia_answer_ok(const struct trivia_answer *t);

#endif

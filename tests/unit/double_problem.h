/*
 * double_problem.h - the problem that tests/misbehave solves, with case files, on the stand-in
 * runtime: what a whole judgement needs. Judges nothing.
 */
#ifndef TESTS_UNIT_DOUBLE_PROBLEM_H
#define TESTS_UNIT_DOUBLE_PROBLEM_H

#include "bench.h"
#include "judging.h"
#include "results.h"

#define DOUBLE_MAX_CASES 64

struct fixture {
    char *dir;
    struct arena a;
    struct config cfg;
    struct backend_choice backend;
    struct problem p;
    struct solution s;
    struct casedef defs[DOUBLE_MAX_CASES];
    const struct casedef *cases[DOUBLE_MAX_CASES];
    unsigned case_count;
    struct judging_options o;
    struct solution_result r;
    struct diag d;
};

/* A fresh folder, settings and the chosen backend; no cases yet. */
struct fixture *double_open(void);
void double_close(struct fixture *f);
/* Adds a case of n elements: input i/4 - 3, answer twice that, exact. */
void double_case(struct fixture *f, const char *name, uint64_t n, const char *const *tags);
/* Makes f->s and f->r stand for tests/misbehave/<name>.c, already built. */
void double_solution(struct fixture *f, const char *name, enum solution_kind kind);
/* The same, judged over all cases. */
void double_judge(struct fixture *f, const char *name, enum solution_kind kind);

#endif

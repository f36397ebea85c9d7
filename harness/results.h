/*
 * results.h - what one judging run found: the structure that judging.c and bench.c fill, store.c keeps and report_*.c print.
 * Holds data only. Invariant: strings and arrays live in the arena of the run.
 */
#ifndef HARNESS_RESULTS_H
#define HARNESS_RESULTS_H

#include "arena.h"
#include "compare.h"
#include "compile.h"
#include "problem.h"
#include "record.h"
#include "solution.h"
#include "stats.h"
#include "verdict.h"

struct counter { const char *name; uint64_t value; };
struct case_result {
    const struct casedef *casedef;
    enum verdict verdict;
    bool advisory;
    char call;                    /* letter of the failing call, 'A' when fine */
    const char *reason;           /* "" for AC: one line */
    const char *detail;           /* "" or more lines: finding with place, hints are separate */
    const char *param;            /* of the mismatch, "" otherwise */
    struct mismatch mismatch;
    const char *hints[2];
    double margin;
    int exponents[3][PROBLEM_MAX_GROUPS];
    double wall_ms;               /* slowest call */
    uint64_t scratch_bytes, launches, allocs;
    const struct counter *counts; unsigned count_count; /* vgpu counters of call A */
    const char *warnings;         /* vgpu warnings, leaks, near the limit: "" if none */
    struct timing *timing;        /* NULL when not benched */
};
struct timing {
    const double *cold_us; unsigned cold_n;
    const double *hot_us; unsigned hot_n;
    struct summary cold, hot;
    double graph_us;              /* 0 = not measured or capture failed */
    char flags[16];               /* S A L D B T C */
    double clock_mhz;
    bool ranked;
    const char *unranked_reason;
};
struct solution_result {
    const struct problem *problem;
    const struct solution *solution;
    struct object object;
    enum verdict verdict, site_verdict;
    bool as_expected;
    unsigned case_count, ac_count, sk_count;
    struct case_result *cases;
    const struct case_result *first_failed; /* NULL if none */
    const char *reason;           /* CE, SK, JE at solution level */
    double judge_s;
    const char *source_hash;
    const char *tune;             /* "" or "LOADS=4" */
    const char *stdout_text, *stderr_text; /* captured, may be "" */
};
struct run_context {
    const char *judge_version, *commit, *backend, *start; /* ISO 8601 */
    const char *nvcc, *cuda;
    struct device_facts device;
    const char *clocks;           /* "not locked", "unknown" */
    uint64_t seed;
};
struct results {
    struct run_context context;
    struct solution_result *solutions; unsigned solution_count;
};

#endif

/*
 * results.h - what one judging run found: the structure that judging.c and bench.c fill, store.c
 * keeps and report_*.c print. Holds data only.
 * Invariant: strings and arrays live in the arena of the run; strings are never NULL.
 */
#ifndef HARNESS_RESULTS_H
#define HARNESS_RESULTS_H

#include "arena.h"
#include "compare.h"
#include "compile.h"
#include "hints.h"
#include "problem.h"
#include "record.h"
#include "solution.h"
#include "stats.h"
#include "verdict.h"

#define RESULTS_FORMAT 1
#define RESULTS_CALLS  3 /* A, B, C */

/* One exact count of the virtual GPU, summed over the launches of call A. */
struct counter {
    const char *name;
    uint64_t value;
};

/* Timed samples of one solution at one perf case; see docs/measuring.md. */
struct timing {
    const double *cold_us;
    unsigned cold_n;
    const double *hot_us;
    unsigned hot_n;
    struct summary cold, hot;
    double graph_us;  /* 0 = not measured or capture failed */
    char flags[16];   /* letters of S A L D B T C X (impossibly fast) */
    double clock_mhz; /* median SM clock while sampling; 0 = unknown */
    double floor_us;  /* least time that the traffic allows on this device; 0 = unknown */
    bool ranked;
    const char *unranked_reason; /* "" when ranked */
};

struct case_result {
    const struct casedef *casedef;
    enum verdict verdict;
    bool advisory;
    bool skipped_by_case; /* SK because the case needs a GPU: says nothing about the solution */
    char call;            /* letter of the failing call, 'A' when fine */
    const char *reason;   /* "" for AC: one line */
    const char *detail;   /* "" or more lines: the finding with its place */
    const char *param;    /* output that differs, "" otherwise */
    struct mismatch mismatch;
    const char *hints[HINTS_MAX]; /* NULL where there is none */
    double margin;
    int exponents[RESULTS_CALLS][PROBLEM_MAX_GROUPS];
    unsigned calls;  /* calls made */
    double wall_ms;  /* slowest call */
    double total_ms; /* the case as a whole, seen by the parent */
    uint64_t scratch_bytes, launches, allocs;
    const struct counter *counts;
    unsigned count_count;
    const char *warnings;  /* lines: vgpu warnings, leaks, near the limit; "" if none */
    struct timing *timing; /* NULL when not benched */
};

struct solution_result {
    const struct problem *problem;
    const struct solution *solution;
    struct object object;
    enum verdict verdict, site_verdict;
    bool as_expected;
    bool device_unhealthy; /* the probe after a fault failed: nothing more can run */
    unsigned case_count, ac_count, sk_count;
    struct case_result *cases;
    const struct case_result *first_failed; /* NULL if none */
    const char *reason;                     /* CE, SK, JE at solution level; "" otherwise */
    double judge_s;                         /* wall time, compile excluded */
    const char *source_hash;
    const char *tune;                      /* "" or "LOADS=4 BLOCK=256" */
    const char *stdout_text, *stderr_text; /* captured, may be "" */
    uint64_t output_dropped;               /* captured bytes beyond what was kept */
};

struct run_context {
    const char *judge_version, *commit, *backend, *start; /* start: ISO 8601, UTC */
    const char *nvcc, *cuda;
    struct device_facts device;
    const char *clocks; /* "not locked", "locked", "unknown" */
    uint64_t seed;
    unsigned jobs;     /* processes */
    const char *flush; /* bench: "clean" or "dirty"; "" otherwise */
};

struct results {
    struct run_context context;
    struct solution_result *solutions;
    unsigned solution_count;
};

/* A result whose strings are all "". */
void results_init_case(struct case_result *out, const struct casedef *c);
void results_init_solution(struct solution_result *out, const struct problem *p,
                           const struct solution *s);
/* Recomputes counts, verdicts, first_failed and as_expected from the cases; `floor` is a verdict
 * found at solution level (CE, SK, JE) or VERDICT_AC. */
/* False: the case lies beyond the limits of the statement (advisory) and failed, which is told and
 * decides nothing. */
bool results_counts(const struct case_result *c);
void results_conclude(struct solution_result *r, enum verdict at_solution);
/* The case to show: the first that has the solution's verdict, else the first that failed. NULL
 * where no case failed. */
const struct case_result *results_decisive(const struct solution_result *r);

#endif

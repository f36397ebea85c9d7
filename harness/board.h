/*
 * board.h - who stands where at one timed case: the table behind every form of the bench board.
 * Formats nothing. Invariant: baselines have no place; the first baseline is the yardstick.
 */
#ifndef HARNESS_BOARD_H
#define HARNESS_BOARD_H

#include "rank.h"
#include "results.h"

struct board_row {
    const struct solution_result *solution;
    const struct case_result *result; /* timing is not NULL */
    unsigned place;                   /* 0 = not ranked */
    bool tied, baseline;
    struct ratio ratio; /* to the yardstick; value 0 where there is none */
    double gbs;         /* algorithmic bytes over the cold median; 0 unknown */
    double floor_share; /* floor / time; 0 unknown */
};

struct board {
    const char *problem, *case_name;
    const struct board_row *yardstick; /* NULL when no baseline was timed */
    struct board_row *rows;            /* yardstick first, then by place, then unranked */
    unsigned row_count;
    double floor_us;
};

/* Rows of one case; row_count 0 when nobody was timed there. */
enum status board_make(struct board *out, struct arena *a, const struct results *r,
                       const char *problem, const char *case_name, struct diag *d) MUST_CHECK;
/* Names of the timed cases of a problem in the order of the first solution that has them. */
enum status board_cases(const char *const **out, unsigned *count, struct arena *a,
                        const struct results *r, const char *problem, struct diag *d) MUST_CHECK;
/* Names of the problems in the results, in order of appearance. */
enum status board_problems(const char *const **out, unsigned *count, struct arena *a,
                           const struct results *r, struct diag *d) MUST_CHECK;

/* What a flag letter means and what to do about it; NULL for an unknown letter. */
const char *board_flag_meaning(char flag);
#define BOARD_FLAGS "SALDBTCX"

/* Sum of one counter (by exact name) over the cases of a solution; false: nobody counted it. */
bool board_counter(const struct solution_result *r, const char *name, double *out);
/* Counters of a solution relative to what the problem needs, over its AC cases. */
struct board_counts {
    bool any;
    double launches, warp_inst, lanes_per_inst, touched_ratio, sector_ratio, shared_waves, atomics,
        barriers;
};
struct board_counts board_counts(const struct solution_result *r);

#endif

/*
 * board.c - rows, places, ratios and count sums for the board writers.
 * Reads no file. Invariant: every timed solution has exactly one row.
 */
#include "board.h"

#include <stdlib.h>
#include <string.h>

#define EVENT_STEP_US 0.032 /* resolution of CUDA events on current devices */
#define SHORT_US      10.0  /* below this (flag L), less than 1 us apart is a tie */
#define COUNT_OF(x)   (sizeof(x) / sizeof((x)[0]))

static enum status no_memory(struct diag *d)
{
    return diag_set(d, STATUS_NOMEM, "out of memory for a board");
}

static bool listed(const char *const *names, unsigned n, const char *name)
{
    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

enum status board_problems(const char *const **out, unsigned *count, struct arena *a,
                           const struct results *r, struct diag *d)
{
    const char **names = arena_array(a, (size_t)r->solution_count + 1, sizeof *names);
    unsigned n = 0;

    if (names == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < r->solution_count; i++)
        if (!listed(names, n, r->solutions[i].problem->name))
            names[n++] = r->solutions[i].problem->name;
    *out = names;
    *count = n;
    return STATUS_OK;
}

enum status board_cases(const char *const **out, unsigned *count, struct arena *a,
                        const struct results *r, const char *problem, struct diag *d)
{
    size_t most = 0;
    const char **names;
    unsigned n = 0;

    for (unsigned i = 0; i < r->solution_count; i++)
        most += r->solutions[i].case_count;
    names = arena_array(a, most + 1, sizeof *names);
    if (names == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        if (strcmp(s->problem->name, problem) != 0)
            continue;
        for (unsigned k = 0; k < s->case_count; k++)
            if (s->cases[k].timing != NULL && s->cases[k].timing->cold_n > 0 &&
                !listed(names, n, s->cases[k].casedef->name))
                names[n++] = s->cases[k].casedef->name;
    }
    *out = names;
    *count = n;
    return STATUS_OK;
}

static const struct case_result *timed_case(const struct solution_result *s, const char *name)
{
    for (unsigned k = 0; k < s->case_count; k++)
        if (strcmp(s->cases[k].casedef->name, name) == 0 && s->cases[k].timing != NULL &&
            s->cases[k].timing->cold_n > 0)
            return &s->cases[k];
    return NULL;
}

/* The fastest baseline is the yardstick: it is what a user would otherwise call. */
static const struct board_row *find_yardstick(const struct board_row *rows, unsigned n)
{
    const struct board_row *best = NULL;

    for (unsigned i = 0; i < n; i++)
        if (rows[i].baseline && (best == NULL || rows[i].result->timing->cold.median <
                                                     best->result->timing->cold.median))
            best = &rows[i];
    return best;
}

/* Rejects whose trick earns nothing are right answers, and are timed; beside solutions they say
 * nothing, so they are shown where they were asked for alone. */
static bool rejects_alone(const struct results *r, const char *problem, const char *case_name)
{
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        if (strcmp(s->problem->name, problem) == 0 && s->solution->kind != SOLUTION_REJECT &&
            timed_case(s, case_name) != NULL)
            return false;
    }
    return true;
}

enum status board_make(struct board *out, struct arena *a, const struct results *r,
                       const char *problem, const char *case_name, struct diag *d)
{
    struct board_row *rows = arena_array(a, (size_t)r->solution_count + 1, sizeof *rows);
    struct board_row *sorted = arena_array(a, (size_t)r->solution_count + 1, sizeof *sorted);
    struct rank_entry *entries = arena_array(a, (size_t)r->solution_count + 1, sizeof *entries);
    const struct board_row *yardstick;
    const bool alone = rejects_alone(r, problem, case_name);
    double fastest = 0.0;
    unsigned n = 0, at = 0;

    *out = (struct board){.problem = problem, .case_name = case_name};
    if (rows == NULL || sorted == NULL || entries == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];
        const struct case_result *c;

        if (strcmp(s->problem->name, problem) != 0 ||
            (s->solution->kind == SOLUTION_REJECT && !alone))
            continue;
        c = timed_case(s, case_name);
        if (c == NULL)
            continue;
        rows[n].solution = s;
        rows[n].result = c;
        rows[n].baseline = s->solution->kind == SOLUTION_BASELINE;
        entries[n] = (struct rank_entry){.median = c->timing->cold.median,
                                         .se = c->timing->cold.se,
                                         .ranked = c->timing->ranked && !rows[n].baseline,
                                         .index = n};
        if (entries[n].ranked && (fastest == 0.0 || entries[n].median < fastest))
            fastest = entries[n].median;
        if (c->timing->floor_us > out->floor_us)
            out->floor_us = c->timing->floor_us;
        n++;
    }
    rank_groups(entries, n, fastest < SHORT_US ? 1.0 : EVENT_STEP_US);
    yardstick = find_yardstick(rows, n);
    for (unsigned i = 0; i < n; i++) {
        struct board_row *row = &rows[entries[i].index];
        const struct timing *t = row->result->timing;
        const struct casedef *c = row->result->casedef;

        row->place = entries[i].place;
        row->tied = entries[i].tied;
        if (yardstick != NULL)
            row->ratio =
                rank_ratio(t->cold.median, t->cold.se, yardstick->result->timing->cold.median,
                           row == yardstick ? 0.0 : yardstick->result->timing->cold.se);
        if (row == yardstick)
            row->ratio.error = 0.0;
        if (t->cold.median > 0.0) {
            row->gbs = (c->traffic_read + c->traffic_write) / t->cold.median / 1e3;
            row->floor_share = t->floor_us / t->cold.median;
        }
    }
    if (yardstick != NULL)
        sorted[at++] = *yardstick;
    for (unsigned i = 0; i < n; i++)
        if (&rows[entries[i].index] != yardstick)
            sorted[at++] = rows[entries[i].index];
    out->rows = sorted;
    out->row_count = n;
    out->yardstick = yardstick != NULL ? &sorted[0] : NULL;
    return STATUS_OK;
}

const char *board_flag_meaning(char flag)
{
    switch (flag) {
    case 'S':
        return "work goes on after the stop event (other streams or host threads); it is included";
    case 'A':
        return "allocates device memory in timed calls; see docs/measuring.md#allocations";
    case 'L':
        return "shorter than 10 us: launch latency dominates, differences below 1 us are ties";
    case 'D':
        return "the first and last samples differ: warm the machine up, lock clocks, run again";
    case 'B':
        return "two groups of samples: another process, or data-dependent paths; look at the plot";
    case 'T':
        return "the GPU throttled: cool it or lower its clocks, run again";
    case 'C':
        return "the host's clock disagrees with the claimed times: not ranked";
    case 'X':
        return "faster than the memory allows: not ranked";
    default:
        return NULL;
    }
}

bool board_counter(const struct solution_result *r, const char *name, double *out)
{
    bool any = false;

    *out = 0.0;
    for (unsigned k = 0; k < r->case_count; k++)
        for (unsigned i = 0; i < r->cases[k].count_count; i++)
            if (r->cases[k].verdict == VERDICT_AC &&
                strcmp(r->cases[k].counts[i].name, name) == 0) {
                *out += (double)r->cases[k].counts[i].value;
                any = true;
            }
    return any;
}

static double sum_of(const struct solution_result *r, const char *const *names, size_t n)
{
    double sum = 0.0;

    for (size_t i = 0; i < n; i++) {
        double one;

        if (board_counter(r, names[i], &one))
            sum += one;
    }
    return sum;
}

struct board_counts board_counts(const struct solution_result *r)
{
    static const char *const sectors[] = {"global_ld_sector", "global_st_sector"};
    static const char *const waves[] = {"shared_ld_wave", "shared_st_wave"};
    static const char *const atomics[] = {"atom_global_req", "atom_shared_req"};
    static const char *const barriers[] = {"barrier_done"};
    struct board_counts c = {0};
    double lanes = 0.0, touched = 0.0, ideal = 0.0;

    c.any = board_counter(r, "warp_inst", &c.warp_inst);
    if (!c.any)
        return c;
    for (unsigned k = 0; k < r->case_count; k++) {
        if (r->cases[k].verdict != VERDICT_AC || r->cases[k].count_count == 0)
            continue;
        c.launches += (double)r->cases[k].launches;
        ideal += r->cases[k].casedef->traffic_read + r->cases[k].casedef->traffic_write;
    }
    if (board_counter(r, "lane_inst_on", &lanes) && c.warp_inst > 0.0)
        c.lanes_per_inst = lanes / c.warp_inst;
    if (board_counter(r, "global_touched", &touched) && ideal > 0.0)
        c.touched_ratio = touched / ideal;
    if (ideal > 0.0)
        c.sector_ratio = 32.0 * sum_of(r, sectors, COUNT_OF(sectors)) / ideal;
    c.shared_waves = sum_of(r, waves, COUNT_OF(waves));
    c.atomics = sum_of(r, atomics, COUNT_OF(atomics));
    c.barriers = sum_of(r, barriers, COUNT_OF(barriers));
    return c;
}

/*
 * cmd_bench.c - `judge bench`: judges, then times what is right.
 * Timing is bench.c's, ranking board.c's. Invariant: nothing is timed that was not AC on every
 * case, the timed ones included.
 */
#include "cmd.h"

#include "bench.h"
#include "board.h"
#include "fileio.h"
#include "report_curve.h"
#include "report_text.h"
#include "store.h"
#include <stdlib.h>
#include <string.h>

enum {
    OPT_TUNE = OPT_OWN,
    OPT_GRAPH,
    OPT_BUDGET,
    OPT_MIN_SAMPLES,
    OPT_ROUNDS,
    OPT_FLUSH,
    OPT_CURVES
};

#define CURVE_SAMPLES 15u /* a point of a curve: enough for a median with quartiles */
#define CURVE_ROUNDS  3u

struct bench_values {
    bool tune, graph, dirty;
    bool everything;    /* the whole run: rejects stop at the failure that their tag promises */
    const char *curves; /* folder, or NULL */
};

static const struct argp_option options[] = {
    {"tune", OPT_TUNE, 0, 0, "every combination of the @tune constants", 0},
    {"graph", OPT_GRAPH, 0, 0, "also as a replayed CUDA graph", 0},
    {"budget", OPT_BUDGET, "S", 0, "seconds for one solution at one case (default 3)", 0},
    {"min-samples", OPT_MIN_SAMPLES, "N", 0, "samples at least (default 50)", 0},
    {"rounds", OPT_ROUNDS, "N", 0, "interleaved rounds (default 5)", 0},
    {"flush", OPT_FLUSH, "KIND", 0, "clean (default) or dirty lines in L2 before a cold call", 0},
    {"curves", OPT_CURVES, "DIR", 0,
     "time against size instead: the curve cases, as DIR/P.json and DIR/P-*.svg", 0},
    CMD_OPT_CASES,
    CMD_OPT_BACKEND,
    CMD_OPT_RUN,
    CMD_OPT_OUTPUT,
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct bench_values *v = values;

    switch (key) {
    case OPT_TUNE:
        v->tune = true;
        return STATUS_OK;
    case OPT_GRAPH:
        v->graph = true;
        return STATUS_OK;
    case OPT_BUDGET:
        return config_set(&j->cfg, &j->arena, "bench.budget_s", arg, "--budget", d);
    case OPT_MIN_SAMPLES:
        return config_set(&j->cfg, &j->arena, "bench.min_samples", arg, "--min-samples", d);
    case OPT_ROUNDS:
        return config_set(&j->cfg, &j->arena, "bench.rounds", arg, "--rounds", d);
    case OPT_CURVES:
        v->curves = arg;
        return STATUS_OK;
    case OPT_FLUSH:
        if (strcmp(arg, "dirty") != 0 && strcmp(arg, "clean") != 0)
            return diag_set(d, STATUS_USAGE, "--flush: '%s' is not clean or dirty", arg);
        v->dirty = arg[0] == 'd';
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "bench: option key %d has no taker", key);
    }
}

static enum status print_problem_boards(struct judge *j, const struct results *r, struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    const char *const *names;
    unsigned count;
    enum status st;

    TRY(board_problems(&names, &count, &j->arena, r, d));
    for (unsigned i = 0; i < count; i++) {
        textbuf_puts(&b, "\n");
        report_text_board(&b, &j->term, r, names[i], NULL);
    }
    st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

/* Timing needs the perf cases, which a functional run leaves out. */
static const char *const EVERY_TAG[] = {"site", "edge", "stress", "perf", NULL};
/* A curve needs none of them: every output of its own cases is compared. */
static const char *const CURVE_TAG[] = {"curve", NULL};

static enum status print_lost(struct judge *j, const struct results *r, const bool *before,
                              struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st = STATUS_OK;

    report_text_lost(&b, &j->term, r, before);
    if (b.len > 0)
        st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

/* Judge everything but what is not asked for, then time. Shared with cmd_everything. */
static enum status judge_and_time(struct judge *j, const struct common_options *common,
                                  const struct bench_values *v,
                                  const struct backend_choice *backend,
                                  const struct target *targets, unsigned count,
                                  struct results *results, struct diag *d)
{
    struct common_options judged = *common;
    bool *before;
    struct cmd_judge_options o = {.common = &judged, .headline = true, .tune = v->tune};
    struct judging_options judging = {.cfg = &j->cfg, .backend = backend, .stop = j->stop};
    struct bench_options bench = {.judging = &judging,
                                  .stop = {.min_samples = j->cfg.bench_min_samples,
                                           .max_samples = j->cfg.bench_max_samples,
                                           .se_target = j->cfg.bench_se_target,
                                           .budget_s = j->cfg.bench_budget_s},
                                  .rounds = j->cfg.bench_rounds > 0 ? j->cfg.bench_rounds : 1,
                                  .graph = v->graph,
                                  .dirty_flush = v->dirty,
                                  .hot = v->curves == NULL,
                                  .tag = v->curves == NULL ? "perf" : "curve",
                                  .term = &j->term};

    if (v->curves != NULL) {
        bench.stop.min_samples = bench.stop.max_samples = CURVE_SAMPLES;
        bench.rounds = CURVE_ROUNDS;
    }
    judged.tags = common->tags != NULL ? common->tags : EVERY_TAG;
    judged.case_glob = common->case_glob;
    judged.json_path =
        common->json_path != NULL && strcmp(common->json_path, "-") == 0 ? common->json_path : NULL;
    o.silent_json = true; /* written below, with the times in it */
    o.judging.bench = true;
    o.judging.stop_at_expected = v->everything || v->curves != NULL;
    TRY(cmd_judge_targets(j, &o, backend, targets, count, results, d));
    judging.seed = results->context.seed;
    judging.time_limit_s = common->time_limit_s;
    before = arena_array(&j->arena, (size_t)results->solution_count + 1, sizeof *before);
    if (before == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    for (unsigned i = 0; i < results->solution_count; i++)
        before[i] = results->solutions[i].as_expected;
    TRY(bench_run(results, &j->arena, &bench, d));
    TRY(print_lost(j, results, before, d));
    return v->curves == NULL ? store_put(&j->cfg, results, d) : STATUS_OK;
}

/* Results of one problem alone. */
static struct results part_of(const struct results *r, const struct problem *p, struct arena *a)
{
    struct results part = {.context = r->context};

    part.solutions = arena_array(a, (size_t)r->solution_count + 1, sizeof *part.solutions);
    for (unsigned i = 0; part.solutions != NULL && i < r->solution_count; i++)
        if (strcmp(r->solutions[i].problem->name, p->name) == 0)
            part.solutions[part.solution_count++] = r->solutions[i];
    return part;
}

/* DIR/P.json with every sample, and the pictures. */
static enum status write_curves(struct judge *j, const char *dir, const struct results *r,
                                const struct target *targets, unsigned count, struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st = dir_make(dir, d);

    for (unsigned i = 0; i < count && st == STATUS_OK; i++) {
        const struct problem *p = targets[i].problem;
        const struct results part = part_of(r, p, &j->arena);
        const char *path = arena_printf(&j->arena, "%s/%s.json", dir, p->name);

        if (path == NULL || part.solutions == NULL) {
            st = diag_set(d, STATUS_NOMEM, "out of memory");
            break;
        }
        st = cmd_write_json(&part, path, d);
        if (st == STATUS_OK)
            st = report_curve_files(&b, &j->arena, dir, &part, p, d);
    }
    if (st == STATUS_OK)
        st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

enum status cmd_bench(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct bench_values v = {0};
    const struct cmd_syntax syntax = {
        .name = "bench",
        .args = "[P[/S]] [FILE.cu]...",
        .doc = "Judges solutions and, where every verdict is AC, times them at the perf cases: "
               "cold L2, interleaved, every output compared. Needs a GPU."
               "\vExamples:\n"
               "  judge bench topk\n"
               "  judge bench topk my.cu          beside nothing\n"
               "  judge bench topk/radix_select topk/baselines --case perf_50m_k100\n"
               "  judge bench topk/radix_select --tune\n"
               "  judge bench topk --curves docs/curves    time against N and k\n\n"
               "docs/measuring.md explains every column and flag.",
        .options = options,
        .own = own_option,
        .values = &v};
    struct common_options common;
    struct backend_choice backend;
    const struct target *targets;
    struct results results = {0};
    unsigned count;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(cmd_targets(j, &common, SCOPE_JUDGED, &targets, &count, d));
    if (common.tags == NULL)
        common.tags = v.curves != NULL ? CURVE_TAG : EVERY_TAG;
    TRY(cmd_check_cases(j, &common, targets, count, d));
    TRY(backend_choose(&backend, &j->arena, &j->cfg, d));
    if (backend.kind == BACKEND_VGPU)
        return diag_set(d, STATUS_NOTHING,
                        "the virtual GPU has no clock, so there is nothing to time; judge run "
                        "--counts shows exact counts. %s",
                        backend.why);
    TRY(judge_and_time(j, &common, &v, &backend, targets, count, &results, d));
    if (v.curves != NULL)
        TRY(write_curves(j, v.curves, &results, targets, count, d));
    else if (common.json_path == NULL || strcmp(common.json_path, "-") != 0)
        TRY(print_problem_boards(j, &results, d));
    if (common.json_path != NULL)
        TRY(cmd_write_json(&results, common.json_path, d));
    *exit_code = cmd_exit_code(j, results.solutions, results.solution_count);
    for (unsigned i = 0; i < results.solution_count; i++)
        for (unsigned k = 0; k < results.solutions[i].case_count; k++) {
            const struct timing *t = results.solutions[i].cases[k].timing;

            if (t != NULL && strchr(t->flags, 'X') != NULL && *exit_code == EXIT_EXPECTED)
                *exit_code = EXIT_UNEXPECTED; /* impossible times are a fault somewhere */
        }
    return STATUS_OK;
}

enum status cmd_everything(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    static const struct argp_option own[] = {
        CMD_OPT_BACKEND, CMD_OPT_RUN, CMD_OPT_OUTPUT, CMD_OPT_HELP, {0}};
    const struct cmd_syntax syntax = {
        .name = "",
        .args = "",
        .doc = "Judges everything on the best device, times it if that is a GPU, prints the "
               "boards.",
        .options = own};
    const struct bench_values v = {.everything = true};
    struct common_options common;
    struct backend_choice backend;
    const struct target *targets;
    struct results results = {0};
    unsigned count;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(cmd_targets(j, &common, SCOPE_ALL, &targets, &count, d));
    TRY(backend_choose(&backend, &j->arena, &j->cfg, d));
    if (backend.kind == BACKEND_GPU) {
        TRY(judge_and_time(j, &common, &v, &backend, targets, count, &results, d));
    } else {
        struct common_options judged = common;
        struct cmd_judge_options o = {
            .common = &judged, .headline = true, .keep = true, .silent_json = true};

        o.judging.counters = true;
        o.judging.stop_at_expected = true;
        TRY(cmd_judge_targets(j, &o, &backend, targets, count, &results, d));
    }
    if (common.json_path == NULL || strcmp(common.json_path, "-") != 0)
        TRY(print_problem_boards(j, &results, d));
    if (common.json_path != NULL)
        TRY(cmd_write_json(&results, common.json_path, d));
    *exit_code = cmd_exit_code(j, results.solutions, results.solution_count);
    return STATUS_OK;
}

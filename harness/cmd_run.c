/*
 * cmd_run.c - `judge run`: functional verdicts of solutions.
 * Judging is judging.c's, printing report_text.c's. Invariant: the exit code is 0 only when
 * something was judged and every verdict is as its tag promises.
 */
#include "cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_REPEAT = OPT_OWN,
    OPT_FRESH,
    OPT_SANITIZE,
    OPT_STRICT,
    OPT_EXPECT,
    OPT_SCHEDULE,
    OPT_COUNTS
};

struct run_values {
    unsigned repeat;
    bool fresh, strict, counts, expect_given;
    const char *sanitize;
    uint64_t schedule;
    struct expectation expect;
};

static const struct argp_option options[] = {
    CMD_OPT_CASES,
    CMD_OPT_BACKEND,
    CMD_OPT_RUN,
    {"repeat", OPT_REPEAT, "N", 0, "N further equal calls a case, and the spread between them", 0},
    {"fresh", OPT_FRESH, 0, 0, "new random data and reference for cases up to 1 Mi elements", 0},
    {"sanitize", OPT_SANITIZE, "TOOL", 0,
     "memcheck, racecheck, initcheck or synccheck of compute-sanitizer (GPU)", 0},
    {"strict", OPT_STRICT, 0, 0, "warnings of the virtual GPU are failures", 0},
    {"schedule", OPT_SCHEDULE, "N", 0, "virtual GPU: another order of warps and blocks", 0},
    {"counts", OPT_COUNTS, 0, 0, "virtual GPU: exact counts (with --json, -v or for a board)", 0},
    {"expect", OPT_EXPECT, "WORDS", 0, "what counts as expected, for example 'WA|RE'", 0},
    {"keep", OPT_KEEP, "DIR", 0, "keep the outputs of failing calls there", 0},
    CMD_OPT_OUTPUT,
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    static const char *const tools[] = {"memcheck", "racecheck", "initcheck", "synccheck"};
    struct run_values *v = values;
    const char *bad;
    char *end;
    unsigned long n;

    (void)j;
    switch (key) {
    case OPT_REPEAT:
        n = strtoul(arg, &end, 10);
        if (end == arg || *end != '\0' || n < 1 || n > 10000)
            return diag_set(d, STATUS_USAGE, "--repeat: '%s' is no number from 1 to 10000", arg);
        v->repeat = (unsigned)n;
        return STATUS_OK;
    case OPT_SCHEDULE:
        errno = 0;
        v->schedule = strtoull(arg, &end, 0);
        if (end == arg || *end != '\0' || errno != 0)
            return diag_set(d, STATUS_USAGE, "--schedule: '%s' is no number", arg);
        return STATUS_OK;
    case OPT_FRESH:
        v->fresh = true;
        return STATUS_OK;
    case OPT_STRICT:
        v->strict = true;
        return STATUS_OK;
    case OPT_COUNTS:
        v->counts = true;
        return STATUS_OK;
    case OPT_SANITIZE:
        for (size_t i = 0; i < sizeof tools / sizeof *tools; i++)
            if (strcmp(tools[i], arg) == 0) {
                v->sanitize = arg;
                return STATUS_OK;
            }
        return diag_set(d, STATUS_USAGE,
                        "--sanitize: '%s' is not memcheck, racecheck, initcheck or synccheck", arg);
    case OPT_EXPECT:
        v->expect_given = true;
        if (!expectation_parse(&v->expect, arg, &bad))
            return diag_set(d, STATUS_USAGE, "--expect: '%s' is no verdict", bad);
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "run: option key %d has no taker", key);
    }
}

enum status cmd_run(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct run_values values = {0};
    const struct cmd_syntax syntax = {
        .name = "run",
        .args = "[P[/S]] [FILE.cu]...",
        .doc = "Judges solutions on their functional cases. P is a problem, S a solution, a "
               "pattern, or the folder rejects or baselines."
               "\vExamples:\n"
               "  judge run topk                     every solution and baseline of a problem\n"
               "  judge run topk my.cu               a file that lies anywhere\n"
               "  judge run topk/rejects/zeros       one that must fail\n"
               "  judge run reduction/kahan --case 'mixed_*' -v\n\n"
               "Exit code: 0 as expected, 1 not, 2 usage, 3 internal, 77 nothing could run.",
        .options = options,
        .own = own_option,
        .values = &values};
    struct common_options common;
    struct cmd_judge_options o = {.common = &common, .headline = true, .keep = true};
    struct backend_choice backend;
    const struct target *targets;
    struct results results = {0};
    unsigned count;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(cmd_targets(j, &common, SCOPE_JUDGED, &targets, &count, d));
    TRY(cmd_check_cases(j, &common, targets, count, d));
    TRY(backend_choose(&backend, &j->arena, &j->cfg, d));
    if (values.sanitize != NULL && backend.kind != BACKEND_GPU)
        return diag_set(d, STATUS_USAGE,
                        "--sanitize needs a GPU; the virtual GPU checks by itself");
    o.judging.repeat = values.repeat;
    o.judging.fresh = values.fresh;
    o.judging.strict = values.strict;
    o.judging.sanitize = values.sanitize;
    o.judging.schedule = values.schedule;
    o.judging.counters = values.counts || common.verbose || common.json_path != NULL;
    o.expect = values.expect_given ? &values.expect : NULL;
    o.keep = values.sanitize == NULL && !values.fresh;
    TRY(cmd_judge_targets(j, &o, &backend, targets, count, &results, d));
    *exit_code = cmd_exit_code(j, results.solutions, results.solution_count);
    return STATUS_OK;
}

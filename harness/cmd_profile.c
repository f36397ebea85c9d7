/*
 * cmd_profile.c - `judge profile`: one call of one solution under Nsight Compute.
 * Judges nothing. Invariant: the profiled range is solve() alone (the runner marks it).
 */
#include "cmd.h"

#include "caseset.h"
#include "proc.h"
#include <string.h>

enum { OPT_SET = OPT_OWN };

struct profile_values {
    const char *set;
};

static const struct argp_option options[] = {
    {"set", OPT_SET, "NAME", 0, "ncu's section set: basic, detailed, full (default basic)", 0},
    {"case", OPT_CASE, "NAME", 0, "the case to call (default: the first perf case)", 0},
    {"device", OPT_DEVICE, "N", 0, "number of the GPU", 0},
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct profile_values *v = values;

    (void)j;
    if (key != OPT_SET)
        return diag_set(d, STATUS_INTERNAL, "profile: option key %d has no taker", key);
    v->set = arg;
    return STATUS_OK;
}

static enum status choose_case(struct judge *j, const struct problem *p, const char *glob,
                               const struct casedef **out, struct diag *d)
{
    static const char *const perf[] = {"perf", NULL};
    const struct caseset_filter filter = {
        .glob = glob, .tags = glob == NULL ? perf : NULL, .gpu = true, .keep_gpu_only = true};
    const struct casedef *const *cases;
    unsigned count;

    TRY(caseset_select(&cases, &count, &j->arena, p, &filter, d));
    if (count == 0)
        return diag_set(d, STATUS_USAGE, "no case to profile");
    *out = cases[0];
    return STATUS_OK;
}

static enum status profile(struct judge *j, const struct judging_options *o,
                           const struct problem *p, const struct solution *s,
                           const struct object *object, const struct casedef *c, const char *set,
                           struct diag *d)
{
    struct runner_config rc = judging_runner(o, p, s, object->so_path);
    struct call_request request = {.letter = 'A', .limit_s = 600.0};
    struct case_pair files = CASE_PAIR_EMPTY;
    struct runner *runner = NULL;
    struct call_reply reply;
    const char *text;
    uint64_t dropped;
    enum status st;
    size_t len;

    rc.profile = set;
    TRY_OR(out, caseset_open(&files, &j->cfg, p, c, d));
    TRY_OR(out, runner_start(&runner, &rc, d));
    TRY_OR(out, runner_load(runner, &reply, d));
    if (reply.end == CALL_DONE && reply.record.status == RECORD_OK)
        TRY_OR(out, runner_call(runner, c, &files.in, &request, &reply, d));
    if (reply.end == CALL_DONE)
        runner_finish(runner, &reply);
    text = runner_output(runner, false, &len, &dropped); /* ncu prints its tables there */
    if (text != NULL)
        (void)fwrite(text, 1, len, stdout);
    text = runner_output(runner, true, &len, &dropped);
    if (text != NULL)
        (void)fwrite(text, 1, len, stderr);
    if (reply.end != CALL_DONE)
        st = diag_set(d, STATUS_IO, "the profiled call ended: %s", reply.text);
out:
    runner_stop(runner);
    caseset_close(&files);
    return st;
}

enum status cmd_profile(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct profile_values v = {.set = "basic"};
    const struct cmd_syntax syntax = {
        .name = "profile",
        .args = "P/S | P FILE.cu",
        .doc = "Runs one call of one solution under Nsight Compute (ncu), the range limited to "
               "solve(). Needs a GPU and ncu on the PATH."
               "\vExample:\n"
               "  judge profile topk/radix_select --case perf_50m_k100 --set full",
        .options = options,
        .own = own_option,
        .values = &v};
    struct judging_options o = {.cfg = &j->cfg};
    struct common_options common;
    struct backend_choice backend;
    const struct target *targets;
    const struct casedef *c = NULL;
    struct object object;
    unsigned count;
    bool help;

    (void)exit_code;
    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(cmd_targets(j, &common, SCOPE_ALL, &targets, &count, d));
    if (count != 1 || targets[0].solution_count != 1)
        return diag_set(d, STATUS_USAGE, "name one solution: judge profile PROBLEM/SOLUTION");
    if (proc_find(&j->arena, "ncu") == NULL)
        return diag_set(d, STATUS_NOTHING,
                        "ncu is not on the PATH; it comes with Nsight Compute of the CUDA toolkit");
    TRY(config_set(&j->cfg, &j->arena, "backend", "gpu", "judge profile", d));
    TRY(backend_choose(&backend, &j->arena, &j->cfg, d));
    o.backend = &backend;
    TRY(choose_case(j, targets[0].problem, common.case_glob, &c, d));
    TRY(compile_solution(&object, &j->arena, &j->cfg, targets[0].problem, targets[0].solutions[0],
                         backend.arch, NULL, d));
    if (!object.ok)
        return diag_set(d, STATUS_USAGE, "does not compile: %s (judge run shows the log)",
                        object.reason);
    return profile(j, &o, targets[0].problem, targets[0].solutions[0], &object, c, v.set, d);
}

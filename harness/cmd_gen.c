/*
 * cmd_gen.c - `judge gen`: case files by the Python package gen.
 * Makes no file itself. Invariant: gen's exit code 0, 1, 2 becomes 0, 1, 2 here.
 */
#include "cmd.h"

#include "fileio.h"
#include "proc.h"
#include "toolkit.h"
#include <stdlib.h>
#include <string.h>

enum { OPT_VERIFY = OPT_OWN, OPT_CLEAN, OPT_ALL, OPT_EXPAND };

struct gen_values {
    bool verify, clean, all, expand;
};

static const struct argp_option options[] = {
    {"verify", OPT_VERIFY, 0, 0, "compare the files with the hashes of the manifest", 0},
    {"clean", OPT_CLEAN, 0, 0, "drop the made case files (committed ones stay)", 0},
    {"all", OPT_ALL, 0, 0, "the GPU-only cases too (several GB)", 0},
    {"expand", OPT_EXPAND, 0, 0, "write MANIFEST.json anew from problem.json first", 0},
    {"quiet", 'q', 0, 0, "no progress", 0},
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct gen_values *v = values;

    (void)j;
    (void)arg;
    switch (key) {
    case OPT_VERIFY:
        v->verify = true;
        return STATUS_OK;
    case OPT_CLEAN:
        v->clean = true;
        return STATUS_OK;
    case OPT_ALL:
        v->all = true;
        return STATUS_OK;
    case OPT_EXPAND:
        v->expand = true;
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "gen: option key %d has no taker", key);
    }
}

/* `python -m gen --root R --build B VERB [FLAG] P...`, its output shown. */
static enum status run_gen(struct judge *j, const char *verb, const char *flag,
                           const char *const *names, unsigned count, int *exit_code, struct diag *d)
{
    const char *argv[80];
    struct proc_request request = {
        .argv = argv, .dir = j->cfg.root, .inherit_output = true, .stop = j->stop};
    struct proc_result result;
    unsigned n = 0;

    TRY(toolkit_python(&argv[n++], &j->arena, &j->cfg, d));
    argv[n++] = "-m";
    argv[n++] = "gen";
    argv[n++] = "--root";
    argv[n++] = j->cfg.root;
    argv[n++] = "--build";
    argv[n++] = j->cfg.build_dir;
    argv[n++] = verb;
    if (flag != NULL)
        argv[n++] = flag;
    for (unsigned i = 0; i < count && n + 1 < sizeof argv / sizeof *argv; i++)
        argv[n++] = names[i];
    argv[n] = NULL;
    TRY(proc_run(&result, &j->arena, &request, d));
    if (!proc_ok(&result) && result.exit_code != 1 && result.exit_code != 2)
        return diag_set(d, STATUS_IO, "gen %s: %s", verb, proc_describe(&result, &j->arena));
    if (result.exit_code > *exit_code)
        *exit_code = result.exit_code;
    return STATUS_OK;
}

static enum status clean(struct judge *j, const char *const *names, unsigned count, struct diag *d)
{
    for (unsigned i = 0; i < count; i++) {
        const char *path = arena_printf(&j->arena, "%s/%s", j->cfg.cases_dir, names[i]);

        if (path == NULL)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        TRY(path_remove(path, d));
    }
    return STATUS_OK;
}

enum status cmd_gen(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct gen_values v = {0};
    const struct cmd_syntax syntax = {
        .name = "gen",
        .args = "[P]...",
        .doc = "Makes the missing case files of problems, or verifies them."
               "\vExamples:\n"
               "  judge gen topk              what the functional cases need\n"
               "  judge gen --all reduction   with the large GPU-only cases\n"
               "  judge gen --verify          exit code 1 when a file differs from its pin\n"
               "  judge gen --expand dot      after a change of problem.json",
        .options = options,
        .own = own_option,
        .values = &v};
    struct common_options common;
    const char *const *names;
    unsigned count;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(problem_names(&names, &count, &j->arena, j->cfg.root, d));
    for (unsigned i = 0; i < common.arg_count; i++) {
        bool known = false;

        for (unsigned k = 0; k < count; k++)
            known = known || strcmp(names[k], common.args[i]) == 0;
        if (!known) {
            const struct problem *p; /* for its message; a stale manifest is no obstacle here */

            TRY(cmd_problem(j, common.args[i], &p, d));
        }
    }
    if (common.arg_count > 0) {
        names = common.args;
        count = common.arg_count;
    }
    if (v.clean)
        return clean(j, names, count, d);
    if (v.expand)
        TRY(run_gen(j, "expand", NULL, names, count, exit_code, d));
    if (*exit_code != 0)
        return STATUS_OK;
    if (v.verify)
        return run_gen(j, "verify", NULL, names, count, exit_code, d);
    for (unsigned i = 0; i < count && *exit_code == 0 && !cmd_stopped(j); i++)
        TRY(run_gen(j, "make", v.all ? "--all" : "--no-gpu-cases", &names[i], 1, exit_code, d));
    return STATUS_OK;
}

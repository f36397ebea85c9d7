/*
 * cmd_clean.c - `judge clean`: drops what the judge made and can make again.
 * Touches no source, no committed case and no build of the judge itself.
 */
#include "cmd.h"

#include "fileio.h"
#include <string.h>

enum { OPT_RESULTS = OPT_OWN, OPT_CASES, OPT_OBJECTS };

struct clean_values {
    bool results, cases, objects;
};

static const struct argp_option options[] = {
    {"objects", OPT_OBJECTS, 0, 0, "compiled solutions", 0},
    {"cases", OPT_CASES, 0, 0, "made case files", 0},
    {"results", OPT_RESULTS, 0, 0, "stored results and their history", 0},
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct clean_values *v = values;

    (void)j;
    (void)arg;
    switch (key) {
    case OPT_RESULTS:
        v->results = true;
        return STATUS_OK;
    case OPT_CASES:
        v->cases = true;
        return STATUS_OK;
    case OPT_OBJECTS:
        v->objects = true;
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "clean: option key %d has no taker", key);
    }
}

static enum status drop(const char *what, const char *path, struct diag *d)
{
    if (path == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    if (!file_exists(path))
        return STATUS_OK;
    TRY(path_remove(path, d));
    (void)printf("dropped %s: %s\n", what, path);
    return STATUS_OK;
}

enum status cmd_clean(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct clean_values v = {0};
    const struct cmd_syntax syntax = {
        .name = "clean",
        .args = "",
        .doc = "Drops compiled objects and made cases; with options, only what they name. Stored "
               "results go only when --results asks for it.",
        .options = options,
        .own = own_option,
        .values = &v};
    struct common_options common;
    bool help;

    (void)exit_code;
    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    if (common.arg_count > 0)
        return diag_set(d, STATUS_USAGE, "judge clean takes no arguments, only options");
    if (!v.results && !v.cases && !v.objects)
        v.cases = v.objects = true;
    if (v.objects)
        TRY(drop("compiled objects", j->cfg.cache_dir, d));
    if (v.cases)
        TRY(drop("made cases", j->cfg.cases_dir, d));
    if (v.results)
        TRY(drop("results", arena_printf(&j->arena, "%s/results", j->cfg.build_dir), d));
    return STATUS_OK;
}

/*
 * cmd_board.c - `judge board`: the stored results side by side, as text, Markdown or HTML.
 * Measures nothing. Invariant: what it prints was stored by a run or bench of this machine.
 */
#include "cmd.h"

#include "board.h"
#include "fileio.h"
#include "report_curve.h"
#include "report_html.h"
#include "report_md.h"
#include "report_text.h"
#include "store.h"
#include <string.h>

enum { OPT_MD = OPT_OWN, OPT_HTML, OPT_SORT, OPT_FROM, OPT_CURVES };

struct board_values {
    const char *md, *html, *sort, *from, *curves;
};

static const struct argp_option options[] = {
    {"md", OPT_MD, "FILE", 0, "rewrite the boards between the markers of a Markdown file", 0},
    {"html", OPT_HTML, "DIR", 0, "write a static page to DIR/index.html", 0},
    {"curves", OPT_CURVES, "DIR", 0,
     "draw DIR/P-*.svg again from the DIR/P.json of bench --curves, and list the cliffs", 0},
    {"sort", OPT_SORT, "KEY", 0, "name or verdict instead of best first", 0},
    {"from", OPT_FROM, "FILE", 0, "results of --json instead of the stored ones", 0},
    {"backend", OPT_BACKEND, "NAME", 0, "gpu or vgpu: whose results (default: gpu, else vgpu)", 0},
    {"color", OPT_COLOUR, "WHEN", 0, "always, never or auto", 0},
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct board_values *v = values;

    (void)j;
    switch (key) {
    case OPT_MD:
        v->md = arg;
        return STATUS_OK;
    case OPT_HTML:
        v->html = arg;
        return STATUS_OK;
    case OPT_CURVES:
        v->curves = arg;
        return STATUS_OK;
    case OPT_FROM:
        v->from = arg;
        return STATUS_OK;
    case OPT_SORT:
        if (strcmp(arg, "name") != 0 && strcmp(arg, "verdict") != 0)
            return diag_set(d, STATUS_USAGE, "--sort: '%s' is not name or verdict", arg);
        v->sort = arg;
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "board: option key %d has no taker", key);
    }
}

static enum status load(struct judge *j, const struct board_values *v, struct results *r,
                        struct diag *d)
{
    const bool any = strcmp(j->cfg.backend, "auto") == 0;

    if (v->from != NULL)
        return store_read_file(r, &j->arena, v->from, d);
    TRY(store_load(r, &j->arena, &j->cfg, any ? "gpu" : j->cfg.backend, d));
    if (r->solution_count == 0 && any)
        TRY(store_load(r, &j->arena, &j->cfg, "vgpu", d));
    if (r->solution_count == 0)
        return diag_set(d, STATUS_NOTHING, "no stored results yet: judge run or judge bench first");
    return STATUS_OK;
}

static bool wanted(const struct common_options *o, const char *problem)
{
    for (unsigned i = 0; i < o->arg_count; i++)
        if (strcmp(o->args[i], problem) == 0)
            return true;
    return o->arg_count == 0;
}

static enum status print_boards(struct judge *j, const struct common_options *o,
                                const struct board_values *v, const struct results *r,
                                struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    const char *const *names;
    unsigned count, shown = 0;
    enum status st;

    TRY(board_problems(&names, &count, &j->arena, r, d));
    for (unsigned i = 0; i < count; i++) {
        if (!wanted(o, names[i]))
            continue;
        if (shown++ > 0)
            textbuf_puts(&b, "\n");
        report_text_board(&b, &j->term, r, names[i], v->sort);
    }
    st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

static enum status write_html(struct judge *j, const struct board_values *v,
                              const struct results *r, struct diag *d)
{
    const struct history_point *points = NULL;
    struct textbuf b = TEXTBUF_EMPTY;
    const char *path = arena_printf(&j->arena, "%s/index.html", v->html);
    unsigned count = 0;
    enum status st;

    if (path == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    if (v->from == NULL)
        TRY(store_history(&points, &count, &j->arena, &j->cfg, r->context.backend, d));
    TRY(dir_make(v->html, d));
    report_html(&b, r, points, count);
    st = cmd_write_text(&b, path, d);
    textbuf_fini(&b);
    if (st == STATUS_OK)
        (void)printf("%s\n", path);
    return st;
}

/* Every problem that has a file there, or the ones that were asked for. */
static enum status draw_curves(struct judge *j, const struct common_options *o, const char *dir,
                               struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    const char *const *names = o->args;
    unsigned count = o->arg_count, drawn = 0;
    enum status st = STATUS_OK;

    if (count == 0)
        TRY(problem_names(&names, &count, &j->arena, j->cfg.root, d));
    for (unsigned i = 0; i < count && st == STATUS_OK; i++) {
        const char *path = arena_printf(&j->arena, "%s/%s.json", dir, names[i]);
        const struct problem *p;
        struct results r = {0};

        if (path == NULL) {
            st = diag_set(d, STATUS_NOMEM, "out of memory");
        } else if (file_exists(path) || o->arg_count > 0) {
            st = cmd_problem(j, names[i], &p, d);
            if (st == STATUS_OK)
                st = store_read_file(&r, &j->arena, path, d);
            if (st == STATUS_OK)
                st = report_curve_files(&b, &j->arena, dir, &r, p, d);
            drawn++;
        }
    }
    if (st == STATUS_OK && drawn == 0)
        st = diag_set(d, STATUS_USAGE, "no results of curves in '%s': judge bench --curves %s", dir,
                      dir);
    if (st == STATUS_OK)
        st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

enum status cmd_board(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct board_values values = {0};
    const struct cmd_syntax syntax = {
        .name = "board",
        .args = "[P]...",
        .doc = "Shows the last stored results side by side."
               "\vExamples:\n"
               "  judge board topk\n"
               "  judge board --md README.md       between <!-- judge:board topk --> and "
               "<!-- judge:end -->\n"
               "  judge board --html build/page",
        .options = options,
        .own = own_option,
        .values = &values};
    struct common_options common;
    struct results r = {0};
    bool help;

    (void)exit_code;
    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    for (unsigned i = 0; i < common.arg_count; i++) {
        const struct problem *p;

        TRY(cmd_problem(j, common.args[i], &p, d));
    }
    if (values.curves != NULL)
        return draw_curves(j, &common, values.curves, d);
    TRY(load(j, &values, &r, d));
    if (values.md != NULL)
        TRY(report_md_file(values.md, &r, d));
    if (values.html != NULL)
        TRY(write_html(j, &values, &r, d));
    if (values.md != NULL || values.html != NULL)
        return STATUS_OK;
    return print_boards(j, &common, &values, &r, d);
}

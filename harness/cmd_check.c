/*
 * cmd_check.c - `judge check`: is a problem package sound, and does every solution, baseline and
 * reject get the verdict that its tag promises?
 * Invariant: exit code 0 only when all parts were looked at and held.
 */
#include "cmd.h"

#include "caseset.h"
#include "fileio.h"
#include "report_text.h"
#include "store.h"
#include "trivia.h"
#include <string.h>

enum { OPT_DATA = OPT_OWN };

struct check_values {
    bool data_only;
};

static const struct argp_option options[] = {
    {"data", OPT_DATA, 0, 0, "the data only: nothing is compiled or run", 0},
    CMD_OPT_BACKEND,
    CMD_OPT_RUN,
    CMD_OPT_OUTPUT,
    CMD_OPT_HELP,
    {0}};

/* Mistakes that every problem must be proven against (judge.md section 13). */
static const char *const mandatory[] = {
    "zeros",      "identity",      "constant_first", "n_div_4",      "off_by_one_tail",
    "grid_floor", "oob_write",     "oob_read",       "missing_sync", "scribble_input",
    "accumulate", "replay_cached", "aligned_only",   "low_precision"};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct check_values *v = values;

    (void)j;
    (void)arg;
    if (key != OPT_DATA)
        return diag_set(d, STATUS_INTERNAL, "check: option key %d has no taker", key);
    v->data_only = true;
    return STATUS_OK;
}

struct tally {
    unsigned expected, faults, skipped;
};

static void fault(struct textbuf *b, struct tally *t, const char *text)
{
    t->faults++;
    textbuf_puts(b, "  FAULT  ");
    report_text_wrap(b, text, 9);
    textbuf_puts(b, "\n");
}

static void check_mandatory(struct judge *j, struct textbuf *b, struct tally *t,
                            const struct problem *p)
{
    for (size_t i = 0; i < sizeof mandatory / sizeof *mandatory; i++) {
        const char *path = arena_printf(&j->arena, "%s/rejects/%s.cu", p->dir, mandatory[i]);

        if (path == NULL || !file_exists(path)) {
            const char *text = arena_printf(
                &j->arena, "rejects/%s.cu is missing: every problem ships it", mandatory[i]);

            fault(b, t, text != NULL ? text : "a mandatory reject is missing");
        }
    }
}

static enum status check_data(struct judge *j, struct textbuf *b, struct tally *t,
                              const struct problem *p, struct diag *d)
{
    const struct casedef **needed = arena_array(&j->arena, p->case_count, sizeof *needed);
    struct trivia trivia;
    unsigned count = 0, committed = 0;

    if (needed == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    for (unsigned i = 0; i < p->case_count; i++) {
        if (!p->cases[i].needs_gpu)
            needed[count++] = &p->cases[i];
        committed += p->cases[i].in.committed;
    }
    TRY(caseset_make(&j->cfg, p, needed, count, j->term.progress, d));
    TRY(trivia_check(&trivia, &j->arena, &j->cfg, p, d));
    textbuf_printf(b,
                   "%s: schema ok, manifest in step, %u cases pinned (%u committed), trivial "
                   "answers tried on %u\n",
                   p->name, p->case_count, committed, trivia.cases_seen);
    if (trivia.cases_seen == 0)
        fault(b, t, "no case could be looked at");
    for (unsigned i = 0; i < trivia.answer_count; i++) {
        const struct trivia_answer *a = &trivia.answers[i];
        const char *text;

        if (trivia_answer_ok(a))
            continue;
        text = arena_printf(&j->arena,
                            "the trivial answer '%s' is refused in %u of %u cases only, expected "
                            "%u at least",
                            a->name, a->refused, a->tried, TRIVIA_LEAST);
        fault(b, t, text != NULL ? text : a->name);
    }
    check_mandatory(j, b, t, p);
    return STATUS_OK;
}

/* "ok     WA   rejects/zeros              at site_basic_8" */
static void verdict_line(struct textbuf *b, const struct term *term, struct tally *t,
                         const struct solution_result *r, bool quiet)
{
    const bool skipped = r->verdict == VERDICT_SK;

    t->expected += r->as_expected && !skipped;
    t->faults += !r->as_expected;
    t->skipped += skipped;
    if (quiet && r->as_expected)
        return;
    textbuf_printf(b, "  %-6s %s%-3s%s  %-30s ",
                   !r->as_expected ? "FAULT"
                   : skipped       ? "skip"
                                   : "ok",
                   term_verdict(term, r->verdict), verdict_name(r->verdict), term_reset(term),
                   r->solution->name);
    if (!r->as_expected) {
        textbuf_puts(b, "expected ");
        for (unsigned v = 0, n = 0; v < VERDICT_COUNT; v++)
            if ((r->solution->expect.set >> v & 1u) != 0)
                textbuf_printf(b, "%s%s", n++ > 0 ? "|" : "", verdict_name((enum verdict)v));
        if (r->solution->expect.at_case[0] != '\0')
            textbuf_printf(b, " first at %s", r->solution->expect.at_case);
        if (r->verdict == VERDICT_AC) {
            textbuf_puts(b, ": no case sees this mistake, add one");
        } else {
            textbuf_puts(b, "; ");
            report_text_wrap(b, r->first_failed != NULL ? r->first_failed->reason : r->reason, 9);
        }
    }
    if (r->first_failed != NULL)
        textbuf_printf(b, "%sat %s", r->as_expected ? "" : ", ", r->first_failed->casedef->name);
    else if (skipped)
        report_text_wrap(b, r->reason, 9);
    while (b->len > 0 && b->text[b->len - 1] == ' ')
        b->text[--b->len] = '\0';
    textbuf_puts(b, "\n");
}

/* Would another limit give another verdict? */
static void limit_lines(struct textbuf *b, const struct solution_result *r, double limit_s)
{
    for (unsigned i = 0; i < r->case_count; i++) {
        const struct case_result *c = &r->cases[i];

        if (c->verdict == VERDICT_AC && c->wall_ms > 500.0 * limit_s) {
            textbuf_printf(b,
                           "  warn   %s: %s takes %.2f s, half the limit of %g s would fail it\n",
                           r->solution->name, c->casedef->name, c->wall_ms / 1e3, limit_s);
            return;
        }
    }
}

/* A solution that ran out of time must do so with twice the limit, too, or the limit decides. */
static enum status check_timeout(struct judge *j, struct textbuf *b, struct tally *t,
                                 const struct judging_options *o, const struct solution_result *r,
                                 struct diag *d)
{
    struct judging_options twice = *o;
    struct solution_result again;
    const struct casedef *one;

    if (r->verdict != VERDICT_TLE || r->first_failed == NULL || cmd_stopped(j))
        return STATUS_OK;
    twice.time_factor = 2.0;
    one = r->first_failed->casedef;
    TRY(judging_run_solution(&again, &j->arena, &twice, r->problem, r->solution, &one, 1, NULL, d));
    if (again.verdict != VERDICT_TLE) {
        const char *text = arena_printf(&j->arena,
                                        "%s is %s with twice the time limit, TLE with "
                                        "it: the limit decides",
                                        r->solution->name, verdict_name(again.verdict));

        fault(b, t, text != NULL ? text : r->solution->name);
    }
    return STATUS_OK;
}

static enum status check_verdicts(struct judge *j, const struct common_options *o,
                                  const struct backend_choice *backend, const struct target *target,
                                  struct textbuf *b, struct tally *t, struct results *out,
                                  struct diag *d)
{
    const struct caseset_filter filter = {.gpu = backend->kind == BACKEND_GPU,
                                          .keep_gpu_only = true};
    struct suite_options suite = {.jobs = j->cfg.jobs, .term = &j->term};
    const struct casedef *const *cases;
    struct suite_item *items;
    unsigned count;

    suite.judging = (struct judging_options){
        .cfg = &j->cfg, .backend = backend, .time_limit_s = o->time_limit_s, .stop = j->stop};
    TRY(cmd_seed(o, &suite.judging.seed, d));
    TRY(cmd_context(j, backend, suite.judging.seed, &out->context, d));
    TRY(caseset_select(&cases, &count, &j->arena, target->problem, &filter, d));
    if (backend->kind == BACKEND_GPU)
        TRY(caseset_make(&j->cfg, target->problem, cases, count, j->term.progress, d));
    items = arena_array(&j->arena, target->solution_count, sizeof *items);
    out->solutions = arena_array(&j->arena, target->solution_count, sizeof *out->solutions);
    if (items == NULL || out->solutions == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    for (unsigned i = 0; i < target->solution_count; i++)
        items[i] = (struct suite_item){.problem = target->problem,
                                       .solution = target->solutions[i],
                                       .cases = cases,
                                       .case_count = count,
                                       .tune = ""};
    TRY(suite_run(out->solutions, &j->arena, &suite, items, target->solution_count, d));
    out->solution_count = target->solution_count;
    for (unsigned i = 0; i < out->solution_count; i++) {
        verdict_line(b, &j->term, t, &out->solutions[i], o->quiet);
        limit_lines(b, &out->solutions[i], judging_limit(&suite.judging, target->problem));
        TRY(check_timeout(j, b, t, &suite.judging, &out->solutions[i], d));
    }
    return STATUS_OK;
}

enum status cmd_check(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct check_values v = {0};
    const struct cmd_syntax syntax = {
        .name = "check",
        .args = "[P]...",
        .doc = "Checks problem packages: data against the schema and the pins, trivial answers "
               "refused, mandatory rejects present, and the promised verdict of every solution, "
               "baseline and reject."
               "\vExamples:\n"
               "  judge check reduction\n"
               "  judge check --data          without compiling or running anything",
        .options = options,
        .own = own_option,
        .values = &v};
    struct common_options common;
    struct backend_choice backend;
    const struct target *targets;
    struct tally tally = {0};
    struct results all = {0};
    enum status chosen = STATUS_OK;
    unsigned count, judged = 0;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(cmd_targets(j, &common, SCOPE_ALL, &targets, &count, d));
    if (!v.data_only)
        chosen = backend_choose(&backend, &j->arena, &j->cfg, d);
    for (unsigned i = 0; i < count; i++) {
        struct textbuf b = TEXTBUF_EMPTY;
        struct results r = {0};
        enum status st = check_data(j, &b, &tally, targets[i].problem, d);

        if (st == STATUS_OK && !v.data_only && chosen == STATUS_OK)
            st = check_verdicts(j, &common, &backend, &targets[i], &b, &tally, &r, d);
        if (st == STATUS_OK)
            st = cmd_print(&b, d);
        textbuf_fini(&b);
        TRY(st);
        judged += r.solution_count;
        for (unsigned k = 0; k < r.solution_count; k++)
            if (r.solutions[k].verdict == VERDICT_JE)
                *exit_code = EXIT_INTERNAL;
        if (r.solution_count > 0)
            TRY(store_put(&j->cfg, &r, d));
        if (count == 1)
            all = r;
    }
    if (common.json_path != NULL && count == 1 && judged > 0)
        TRY(cmd_write_json(&all, common.json_path, d));
    if (judged > 0)
        (void)printf("%u as expected, %u skipped, %u not\n", tally.expected, tally.skipped,
                     tally.faults);
    if (tally.faults > 0 && *exit_code == EXIT_EXPECTED)
        *exit_code = EXIT_UNEXPECTED;
    else if (!v.data_only && chosen != STATUS_OK)
        return chosen; /* the data are fine, but no verdict was seen */
    else if (!v.data_only && tally.expected == 0 && *exit_code == EXIT_EXPECTED)
        *exit_code = j->require_gpu ? EXIT_UNEXPECTED : EXIT_NOTHING;
    return STATUS_OK;
}

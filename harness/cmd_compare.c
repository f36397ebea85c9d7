/*
 * cmd_compare.c - `judge compare OLD NEW`: the regression gate over two results files.
 * Runs nothing. Invariant: exit code 0 only when nothing got slower or lost its verdict.
 */
#include "cmd.h"

#include "board.h"
#include "gate.h"
#include "report_text.h"
#include "store.h"
#include <stdlib.h>
#include <string.h>

enum { OPT_THRESHOLD = OPT_OWN, OPT_STRICT, OPT_CROSS, OPT_VERDICTS };

struct compare_values {
    double threshold; /* 0 = the setting gate.threshold */
    bool strict, cross, verdicts;
};

static const struct argp_option options[] = {
    {"threshold", OPT_THRESHOLD, "PCT", 0, "per cent that count as a change (default 1)", 0},
    {"strict", OPT_STRICT, 0, 0, "unclear and missing pairs fail, too", 0},
    {"cross", OPT_CROSS, 0, 0, "compare results of different devices, drivers or backends", 0},
    {"verdicts", OPT_VERDICTS, 0, 0, "the verdicts alone, of any two backends, side by side", 0},
    {"quiet", 'q', 0, 0, "print only what is not the same", 0},
    {"color", OPT_COLOUR, "WHEN", 0, "always, never or auto", 0},
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct compare_values *v = values;
    char *end;

    (void)j;
    switch (key) {
    case OPT_THRESHOLD:
        v->threshold = strtod(arg, &end) / 100.0;
        if (end == arg || *end != '\0' || !(v->threshold > 0.0) || v->threshold > 1.0)
            return diag_set(d, STATUS_USAGE, "--threshold: '%s' is no per cent value up to 100",
                            arg);
        return STATUS_OK;
    case OPT_STRICT:
        v->strict = true;
        return STATUS_OK;
    case OPT_CROSS:
        v->cross = true;
        return STATUS_OK;
    case OPT_VERDICTS:
        v->verdicts = true;
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "compare: option key %d has no taker", key);
    }
}

struct tally {
    unsigned by_gate[4], missing;
};

static const struct solution_result *find_solution(const struct results *r,
                                                   const struct solution_result *like)
{
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        if (strcmp(s->problem->name, like->problem->name) == 0 &&
            s->problem->perf_version == like->problem->perf_version &&
            strcmp(s->solution->name, like->solution->name) == 0 &&
            strcmp(s->tune, like->tune) == 0)
            return s;
    }
    return NULL;
}

static const struct case_result *find_case(const struct solution_result *s, const char *name)
{
    for (unsigned i = 0; i < s->case_count; i++)
        if (strcmp(s->cases[i].casedef->name, name) == 0)
            return &s->cases[i];
    return NULL;
}

static void line(struct textbuf *b, struct tally *tally, bool quiet, const char *solution,
                 const char *problem, const char *case_name, const char *what,
                 const struct gate_result *g, double old, double new_value, const char *unit)
{
    tally->by_gate[g->gate]++;
    if (quiet && g->gate == GATE_SAME)
        return;
    textbuf_printf(b, "  %-8s %s/%s %s%s%s", gate_name(g->gate), problem, solution, case_name,
                   what[0] != '\0' ? " " : "", what);
    if (old > 0.0 && new_value > 0.0)
        textbuf_printf(b, "  %.6g -> %.6g%s (%.3f, %.3f to %.3f)", old, new_value, unit, g->ratio,
                       g->low, g->high);
    if (g->why[0] != '\0')
        textbuf_printf(b, "  %s", g->why);
    textbuf_puts(b, "\n");
}

static void compare_counts(struct textbuf *b, struct tally *tally, bool quiet,
                           const struct solution_result *s, const struct case_result *old,
                           const struct case_result *new_case, double threshold)
{
    for (unsigned i = 0; i < old->count_count; i++)
        for (unsigned k = 0; k < new_case->count_count; k++) {
            struct gate_result g;

            if (strcmp(old->counts[i].name, new_case->counts[k].name) != 0)
                continue;
            g = gate_counts((double)old->counts[i].value, (double)new_case->counts[k].value,
                            threshold);
            line(b, tally, quiet || g.gate == GATE_SAME, s->solution->name, s->problem->name,
                 old->casedef->name, old->counts[i].name, &g, (double)old->counts[i].value,
                 (double)new_case->counts[k].value, "");
        }
}

static struct gate_side side_of(const struct case_result *c)
{
    const struct timing *t = c->timing;

    return (struct gate_side){.median = t != NULL ? t->cold.median : 0.0,
                              .se = t != NULL ? t->cold.se : 0.0,
                              .n = t != NULL ? t->cold_n : 0,
                              .flags = t != NULL ? t->flags : "",
                              .accepted = c->verdict == VERDICT_AC};
}

/* One case of one solution: its verdict, its time, its counts. */
static void compare_case(struct textbuf *b, struct tally *tally, bool quiet,
                         const struct solution_result *s, const struct case_result *old,
                         const struct case_result *new_case, double threshold, unsigned min_samples)
{
    const struct gate_side x = side_of(old), y = side_of(new_case);
    const bool lost = x.accepted && !y.accepted && new_case->verdict != VERDICT_SK;

    if (lost || (x.n > 0 && (y.n > 0 || !y.accepted))) {
        const struct gate_result g = gate_class(&x, &y, threshold, min_samples);

        line(b, tally, quiet, s->solution->name, s->problem->name, old->casedef->name, "", &g,
             x.median, y.median, " us");
    } else if (x.n > 0) {
        textbuf_printf(b, "  missing  %s/%s %s was timed before\n", s->problem->name,
                       s->solution->name, old->casedef->name);
        tally->missing++;
    }
    compare_counts(b, tally, quiet, s, old, new_case, threshold);
}

static enum status check_same_machine(const struct results *old, const struct results *new_results,
                                      const char *old_file, struct diag *d)
{
    const struct run_context *x = &old->context, *y = &new_results->context;
    const struct {
        const char *what, *a, *b;
    } facts[] = {{"backend", x->backend, y->backend},
                 {"device", x->device.name, y->device.name},
                 {"driver", x->device.driver, y->device.driver}};

    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strcmp(facts[i].a, facts[i].b) != 0)
            return diag_at(d, STATUS_USAGE, old_file, 0, 0,
                           "another %s than the new results ('%s', '%s'); --cross compares anyway",
                           facts[i].what, facts[i].a, facts[i].b);
    return STATUS_OK;
}

static void compare_all(struct textbuf *b, struct tally *tally, bool quiet,
                        const struct results *old, const struct results *new_results,
                        double threshold, unsigned min_samples)
{
    for (unsigned i = 0; i < old->solution_count; i++) {
        const struct solution_result *s = &old->solutions[i];
        const struct solution_result *t = find_solution(new_results, s);

        if (t == NULL) {
            textbuf_printf(b, "  missing  %s/%s is not in the new results\n", s->problem->name,
                           s->solution->name);
            tally->missing++;
            continue;
        }
        if (s->case_count == 0 || t->case_count == 0) {
            struct gate_result g = {.gate = GATE_SAME, .why = ""};

            if (s->verdict == VERDICT_AC && t->verdict != VERDICT_AC) {
                g.gate = GATE_SLOWER;
                g.why = "no longer AC";
            }
            line(b, tally, quiet, s->solution->name, s->problem->name, "", "", &g, 0.0, 0.0, "");
        }
        for (unsigned k = 0; k < s->case_count; k++) {
            const struct case_result *c = find_case(t, s->cases[k].casedef->name);

            if (c != NULL) {
                compare_case(b, tally, quiet, s, &s->cases[k], c, threshold, min_samples);
            } else if (t->case_count > 0) {
                textbuf_printf(b, "  missing  %s/%s %s is not in the new results\n",
                               s->problem->name, s->solution->name, s->cases[k].casedef->name);
                tally->missing++;
            }
        }
    }
}

/* ---- verdicts ---- */

struct verdict_tally {
    unsigned same, skipped, differ, missing;
};

static const char *first_case(const struct solution_result *s)
{
    return s->first_failed != NULL ? s->first_failed->casedef->name : "";
}

/* Why it was skipped: as a whole, or at the first case that was. */
static const char *skip_reason(const struct solution_result *s)
{
    for (unsigned i = 0; s->reason[0] == '\0' && i < s->case_count; i++)
        if (s->cases[i].verdict == VERDICT_SK && !s->cases[i].skipped_by_case)
            return s->cases[i].reason;
    return s->reason;
}

/* "AC   WA   DIFFERS  topk/mine  at ..., at ...". A skip says nothing of the solution: its reason
 * is given instead. */
static void verdict_pair(struct textbuf *b, struct verdict_tally *tally, bool quiet,
                         const struct solution_result *x, const struct solution_result *y)
{
    const bool skipped = x->verdict == VERDICT_SK || y->verdict == VERDICT_SK;
    const bool same = x->verdict == y->verdict;
    const char *why = skip_reason(x->verdict == VERDICT_SK ? x : y);

    tally->same += same;
    tally->skipped += !same && skipped;
    tally->differ += !same && !skipped;
    if (quiet && same)
        return;
    textbuf_printf(b, "  %-3s  %-3s  %-8s %s/%s", verdict_name(x->verdict),
                   verdict_name(y->verdict),
                   same      ? ""
                   : skipped ? "skipped"
                             : "DIFFERS",
                   x->problem->name, x->solution->name);
    if (!same && skipped)
        textbuf_printf(b, "%s%s", why[0] != '\0' ? "  " : "", why);
    else if (strcmp(first_case(x), first_case(y)) == 0 && first_case(x)[0] != '\0')
        textbuf_printf(b, "  at %s", first_case(x));
    else if (first_case(x)[0] != '\0' || first_case(y)[0] != '\0')
        textbuf_printf(b, "  at %s, at %s", first_case(x)[0] != '\0' ? first_case(x) : "no case",
                       first_case(y)[0] != '\0' ? first_case(y) : "no case");
    textbuf_puts(b, "\n");
}

static void verdict_missing(struct textbuf *b, struct verdict_tally *tally,
                            const struct solution_result *s, bool in_old)
{
    tally->missing++;
    textbuf_printf(b, "  %-3s  %-3s  missing  %s/%s\n", in_old ? verdict_name(s->verdict) : "-",
                   in_old ? "-" : verdict_name(s->verdict), s->problem->name, s->solution->name);
}

static void compare_verdicts(struct textbuf *b, struct verdict_tally *tally, bool quiet,
                             const struct results *old, const struct results *new_results)
{
    textbuf_printf(b, "  %s | %s\n", old->context.backend, new_results->context.backend);
    for (unsigned i = 0; i < old->solution_count; i++) {
        const struct solution_result *s = find_solution(new_results, &old->solutions[i]);

        if (s != NULL)
            verdict_pair(b, tally, quiet, &old->solutions[i], s);
        else
            verdict_missing(b, tally, &old->solutions[i], true);
    }
    for (unsigned i = 0; i < new_results->solution_count; i++)
        if (find_solution(old, &new_results->solutions[i]) == NULL)
            verdict_missing(b, tally, &new_results->solutions[i], false);
    textbuf_printf(b, "%u the same, %u skipped on one side, %u different, %u missing\n",
                   tally->same, tally->skipped, tally->differ, tally->missing);
}

/* A bad results file is exit code 3 here, by the gate's own convention. */
static enum status read_side(struct judge *j, const char *path, struct results *out, struct diag *d)
{
    const enum status st = store_read_file(out, &j->arena, path, d);

    if (st == STATUS_OK || st == STATUS_NOMEM)
        return st;
    d->status = STATUS_IO;
    return STATUS_IO;
}

enum status cmd_compare(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct compare_values v = {0};
    const struct cmd_syntax syntax = {
        .name = "compare",
        .args = "OLD NEW",
        .doc = "Compares two results files (judge ... --json FILE): times on a GPU, exact counts "
               "on the virtual GPU, verdicts everywhere."
               "\vExamples:\n"
               "  judge bench topk --json new.json && judge compare old.json new.json\n"
               "  judge compare --verdicts vgpu.json gpu.json     does hardware say the same?\n\n"
               "Exit code: 0 nothing got slower, 1 something did (--strict: or is unclear or "
               "missing), 2 usage, 3 bad file.",
        .options = options,
        .own = own_option,
        .values = &v};
    struct common_options common;
    struct results old = {0}, new_results = {0};
    struct textbuf b = TEXTBUF_EMPTY;
    struct tally tally = {0};
    enum status st;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    if (common.arg_count != 2)
        return diag_set(d, STATUS_USAGE, "expected two files: judge compare OLD NEW");
    TRY(read_side(j, common.args[0], &old, d));
    TRY(read_side(j, common.args[1], &new_results, d));
    if (v.verdicts) {
        struct verdict_tally pairs = {0};

        compare_verdicts(&b, &pairs, common.quiet, &old, &new_results);
        st = cmd_print(&b, d);
        textbuf_fini(&b);
        if (pairs.differ > 0 || (v.strict && pairs.missing > 0))
            *exit_code = EXIT_UNEXPECTED;
        return st;
    }
    if (!v.cross)
        TRY(check_same_machine(&old, &new_results, common.args[0], d));
    if (v.threshold == 0.0)
        v.threshold = j->cfg.gate_threshold;
    compare_all(&b, &tally, common.quiet, &old, &new_results, v.threshold,
                j->cfg.bench_min_samples);
    textbuf_printf(&b, "%u slower, %u faster, %u same, %u unclear, %u missing\n",
                   tally.by_gate[GATE_SLOWER], tally.by_gate[GATE_FASTER], tally.by_gate[GATE_SAME],
                   tally.by_gate[GATE_UNCLEAR], tally.missing);
    st = cmd_print(&b, d);
    textbuf_fini(&b);
    if (tally.by_gate[GATE_SLOWER] > 0 ||
        (v.strict && tally.by_gate[GATE_UNCLEAR] + tally.missing > 0))
        *exit_code = EXIT_UNEXPECTED;
    return st;
}

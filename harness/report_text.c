/*
 * report_text.c - the plain text form of results.
 * Chooses words and columns only. Invariant: text that does not fit is wrapped or shortened in the
 * idea column, never cut elsewhere.
 */
#include "report_text.h"

#include "board.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CE_LINES 20 /* lines of the compiler's text that are shown */

/* ---- small pieces ---- */

static size_t column_of(const struct textbuf *b)
{
    size_t begin = b->len;

    while (begin > 0 && b->text[begin - 1] != '\n')
        begin--;
    return b->len - begin;
}

void report_text_wrap(struct textbuf *b, const char *text, unsigned indent)
{
    while (*text != '\0') {
        const size_t word = strcspn(text, " \n");
        const size_t column = column_of(b);

        if (column + word > TERM_WIDTH && column > indent) {
            while (b->len > 0 && b->text[b->len - 1] == ' ') /* no blanks at the end of a line */
                b->text[--b->len] = '\0';
            textbuf_puts(b, "\n");
            textbuf_pad(b, indent);
        }
        textbuf_add(b, text, word);
        text += word;
        if (*text == '\n') {
            textbuf_puts(b, "\n");
            textbuf_pad(b, indent);
            text++;
        }
        for (; *text == ' '; text++)
            if (column_of(b) < TERM_WIDTH && column_of(b) > 0)
                textbuf_puts(b, " ");
    }
    while (b->len > 0 && b->text[b->len - 1] == ' ')
        b->text[--b->len] = '\0';
}

/* A wrapped paragraph with a label, ended by a line break. */
static void paragraph(struct textbuf *b, unsigned indent, const char *label, const char *text)
{
    textbuf_pad(b, indent);
    textbuf_puts(b, label);
    report_text_wrap(b, text, indent + 2);
    textbuf_puts(b, "\n");
}

void report_text_bytes(struct textbuf *b, uint64_t bytes)
{
    if (bytes < 1024)
        textbuf_printf(b, "%" PRIu64 " bytes", bytes);
    else if (bytes < 1048576)
        textbuf_printf(b, "%.4g KiB", (double)bytes / 1024.0);
    else
        textbuf_printf(b, "%.4g MiB", (double)bytes / 1048576.0);
}

/* ---- run ---- */

void report_text_head(struct textbuf *b, const struct run_context *c, const struct problem *p,
                      unsigned solutions, unsigned cases)
{
    textbuf_printf(b, "%s: %u solution%s x %u case%s, ", p->name, solutions,
                   solutions == 1 ? "" : "s", cases, cases == 1 ? "" : "s");
    if (strcmp(c->backend, "vgpu") == 0)
        textbuf_printf(b, "vgpu (sm_90 profile, %u process%s)", c->jobs, c->jobs == 1 ? "" : "es");
    else
        textbuf_puts(b, c->device.name[0] != '\0' ? c->device.name : c->backend);
    textbuf_printf(b, ", seed %" PRIx64 "\n", c->seed);
}

static void accepted_facts(struct textbuf *b, const struct solution_result *r)
{
    uint64_t scratch = 0;
    double margin = 0.0;
    bool exact = true;

    for (unsigned i = 0; i < r->case_count; i++) {
        const struct case_result *c = &r->cases[i];

        if (c->verdict != VERDICT_AC || c->casedef->rule.kind == RULE_SURVIVE)
            continue;
        exact = exact && c->margin == 0.0;
        margin = fmax(margin, c->margin);
        if (c->scratch_bytes > scratch)
            scratch = c->scratch_bytes;
    }
    if (exact)
        textbuf_puts(b, "exact");
    else
        textbuf_printf(b, "margin %.2g", margin);
    if (scratch > 0) {
        textbuf_puts(b, ", peak scratch ");
        report_text_bytes(b, scratch);
    }
}

static bool site_accepted(const struct solution_result *r)
{
    return r->site_verdict == VERDICT_AC && r->verdict != VERDICT_AC;
}

static void compile_log(struct textbuf *b, const char *log, unsigned max_lines)
{
    unsigned n = 0;
    size_t len;

    for (; *log != '\0' && n < max_lines; log += len + (log[len] == '\n'), n++) {
        len = strcspn(log, "\n");
        textbuf_pad(b, 6);
        textbuf_add(b, log, len < TERM_WIDTH - 6 ? len : TERM_WIDTH - 6);
        textbuf_puts(b, "\n");
    }
    if (*log != '\0')
        textbuf_puts(b, "      ... (judge show --log prints the rest)\n");
}

static void warning_lines(struct textbuf *b, const struct case_result *c)
{
    const char *at = c->warnings;

    while (*at != '\0') {
        const size_t n = strcspn(at, "\n");

        textbuf_pad(b, 6);
        textbuf_printf(b, "warn %s: ", c->casedef->name);
        {
            char line[512];
            const size_t keep = n < sizeof line - 1 ? n : sizeof line - 1;

            memcpy(line, at, keep);
            line[keep] = '\0';
            report_text_wrap(b, line, 8);
        }
        textbuf_puts(b, "\n");
        at += n + (at[n] == '\n');
    }
}

/* Outside the limits of the statement a fault is told and decides nothing. */
static void advisory_lines(struct textbuf *b, const struct solution_result *r)
{
    for (unsigned i = 0; i < r->case_count; i++) {
        const struct case_result *c = &r->cases[i];

        if (results_counts(c))
            continue;
        textbuf_pad(b, 6);
        textbuf_printf(
            b, "note %s (beyond the statement's limits, does not count): ", c->casedef->name);
        report_text_wrap(b, c->reason, 8);
        if (c->detail[0] != '\0') {
            textbuf_puts(b, "\n        ");
            report_text_wrap(b, c->detail, 8);
        }
        textbuf_puts(b, "\n");
    }
}

/* The worst verdict has the headline; where another came first, it is often the nearer one. */
static void earlier_failure(struct textbuf *b, const struct solution_result *r,
                            const struct case_result *decisive)
{
    const struct case_result *first = r->first_failed;
    struct textbuf line = TEXTBUF_EMPTY;

    if (first == NULL || first == decisive || first->verdict == decisive->verdict)
        return;
    textbuf_printf(&line, "%s %s", verdict_name(first->verdict), first->casedef->name);
    if (first->calls > 0)
        textbuf_printf(&line, ", call %c", first->call);
    textbuf_printf(&line, ": %s", first->reason);
    if (line.text != NULL)
        paragraph(b, 6, "before: ", line.text);
    b->failed = b->failed || line.failed;
    textbuf_fini(&line);
}

static void failure_lines(struct textbuf *b, const struct solution_result *r)
{
    const struct case_result *f = results_decisive(r);

    if (r->verdict == VERDICT_CE) {
        const char *log = r->object.log;
        const size_t first = strcspn(log, "\n");

        if (first > 0 && strncmp(r->reason, log, first) == 0) /* the headline has it in full */
            log += first + (log[first] == '\n');
        compile_log(b, log, CE_LINES);
        return;
    }
    if (f == NULL)
        return;
    if (f->mismatch.count > 0 && f->verdict == VERDICT_WA)
        paragraph(b, 6, "", f->reason);
    if (f->detail[0] != '\0')
        paragraph(b, 6, "", f->detail);
    for (unsigned i = 0; i < HINTS_MAX && f->hints[i] != NULL; i++)
        paragraph(b, 6, i == 0 ? "hint: " : "      ", f->hints[i]);
    earlier_failure(b, r, f);
}

static void next_step(struct textbuf *b, const struct solution_result *r)
{
    const struct case_result *f = results_decisive(r);

    if (f == NULL || r->as_expected)
        return;
    textbuf_puts(b, "      next: judge show ");
    if (r->solution->kind == SOLUTION_FOREIGN)
        textbuf_printf(b, "%s %s --case %s\n", r->problem->name, r->solution->path,
                       f->casedef->name);
    else
        textbuf_printf(b, "%s/%s --case %s\n", r->problem->name, r->solution->name,
                       f->casedef->name);
}

/* The first case that was skipped for a reason of the solution's own. */
static const struct case_result *first_skip(const struct solution_result *r)
{
    for (unsigned i = 0; i < r->case_count; i++)
        if (r->cases[i].verdict == VERDICT_SK && !r->cases[i].skipped_by_case)
            return &r->cases[i];
    return NULL;
}

/* What follows the numbers on a solution's first line. */
static void headline(struct textbuf *b, const struct solution_result *r, unsigned indent)
{
    const struct case_result *f = results_decisive(r);
    struct textbuf line = TEXTBUF_EMPTY;

    if (f != NULL) {
        textbuf_puts(&line, f->casedef->name);
        if (f->calls > 0)
            textbuf_printf(&line, ", call %c", f->call);
        if (f->mismatch.count == 0 || f->verdict != VERDICT_WA)
            textbuf_printf(&line, ": %s", f->reason);
        if (site_accepted(r))
            textbuf_puts(&line, " (site AC)");
    } else if (r->verdict == VERDICT_AC) {
        accepted_facts(&line, r);
    } else {
        textbuf_puts(&line, r->reason[0] != '\0' ? r->reason : "no case could be judged here");
        if (r->reason[0] == '\0' && first_skip(r) != NULL)
            textbuf_printf(&line, "; %s: %s", first_skip(r)->casedef->name, first_skip(r)->reason);
    }
    if (r->solution->kind == SOLUTION_REJECT && r->as_expected && r->verdict != VERDICT_SK)
        textbuf_puts(&line, ", as expected");
    if (line.text != NULL)
        report_text_wrap(b, line.text, indent);
    b->failed = b->failed || line.failed;
    textbuf_fini(&line);
}

static void every_case(struct textbuf *b, const struct term *t, const struct solution_result *r)
{
    for (unsigned i = 0; i < r->case_count; i++) {
        const struct case_result *c = &r->cases[i];

        textbuf_printf(b, "      %s%s%s  %-34s %8.2f ms", term_verdict(t, c->verdict),
                       verdict_name(c->verdict), term_reset(t), c->casedef->name, c->wall_ms);
        if (c->verdict != VERDICT_AC) {
            textbuf_printf(b, "  %c ", c->call);
            report_text_wrap(b, c->reason, 10);
            if (c->detail[0] != '\0') {
                textbuf_puts(b, "\n          ");
                report_text_wrap(b, c->detail, 10);
            }
        } else if (c->margin > 0.0) {
            textbuf_printf(b, "  margin %.2g", c->margin);
        }
        textbuf_puts(b, "\n");
        warning_lines(b, c);
    }
    for (unsigned i = 0; i < r->object.kernel_count; i++) {
        const struct kernel_info *k = &r->object.kernels[i];
        struct textbuf line = TEXTBUF_EMPTY;

        textbuf_printf(&line, "kernel %s: %u registers, %u bytes shared, ", k->name, k->registers,
                       k->shared_bytes);
        if (k->spill_store_bytes + k->spill_load_bytes > 0)
            textbuf_printf(&line, "%u bytes spilled", k->spill_store_bytes + k->spill_load_bytes);
        else
            textbuf_puts(&line, "no spills");
        if (line.text != NULL)
            paragraph(b, 6, "", line.text);
        textbuf_fini(&line);
    }
}

void report_text_solution(struct textbuf *b, const struct term *t, const struct solution_result *r,
                          unsigned name_width, bool verbose)
{
    char name[160];
    unsigned indent;

    (void)snprintf(name, sizeof name, "%s%s%s", r->solution->name, r->tune[0] != '\0' ? " " : "",
                   r->tune);
    textbuf_printf(b, "  %s%-3s%s %-*s  ", term_verdict(t, r->verdict), verdict_name(r->verdict),
                   term_reset(t), (int)name_width, name);
    if (r->case_count > 0) {
        textbuf_printf(b, "%3u/%-3u ", r->ac_count, r->case_count);
        if (r->sk_count > 0)
            textbuf_printf(b, "%2u SK ", r->sk_count);
        else
            textbuf_puts(b, "      ");
        textbuf_printf(b, "%7.2f s  ", r->judge_s);
    }
    indent = 6 + name_width + 2 + (r->case_count > 0 ? 25 : 0);
    headline(b, r, indent < 60 ? indent : 8);
    textbuf_puts(b, "\n");
    if (!r->as_expected || verbose)
        failure_lines(b, r);
    if (!r->as_expected && r->verdict == VERDICT_AC) {
        textbuf_puts(b, "      expected ");
        for (unsigned v = 0, n = 0; v < VERDICT_COUNT; v++)
            if ((r->solution->expect.set >> v & 1u) != 0)
                textbuf_printf(b, "%s%s", n++ > 0 ? " or " : "", verdict_name((enum verdict)v));
        textbuf_puts(b, ": no case sees this mistake, add one\n");
    } else if (!r->as_expected && r->first_failed != NULL &&
               r->solution->expect.at_case[0] != '\0') {
        textbuf_printf(b, "      expected to fail first at %s\n", r->solution->expect.at_case);
    }
    next_step(b, r);
    if (verbose || r->verdict == VERDICT_AC)
        advisory_lines(b, r);
    if (verbose) {
        every_case(b, t, r);
    } else {
        for (unsigned i = 0, shown = 0; i < r->case_count && shown < 3; i++)
            if (r->cases[i].warnings[0] != '\0' && r->solution->kind != SOLUTION_REJECT &&
                (r->verdict == VERDICT_AC || &r->cases[i] == results_decisive(r))) {
                warning_lines(b, &r->cases[i]);
                shown++;
            }
    }
}

void report_text_lost(struct textbuf *b, const struct term *t, const struct results *r,
                      const bool *before)
{
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        if (!before[i] || s->as_expected)
            continue;
        textbuf_printf(b, "\n%s, when timed:\n", s->problem->name);
        report_text_solution(b, t, s, (unsigned)strlen(s->solution->name), false);
    }
}

void report_text_summary(struct textbuf *b, const struct solution_result *r, unsigned count,
                         double wall_s)
{
    unsigned counts[VERDICT_COUNT] = {0}, unexpected = 0, n = 0;

    for (unsigned i = 0; i < count; i++) {
        counts[r[i].verdict]++;
        unexpected += !r[i].as_expected;
    }
    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        if (counts[v] > 0)
            textbuf_printf(b, "%s%u %s", n++ > 0 ? ", " : "", counts[v],
                           verdict_name((enum verdict)v));
    textbuf_printf(b, " in %.1f s; ", wall_s);
    if (unexpected > 0)
        textbuf_printf(b, "%u not as expected\n", unexpected);
    else if (counts[VERDICT_SK] == count)
        textbuf_puts(b, "nothing was judged\n");
    else
        textbuf_puts(b, "all as expected\n");
}

/* ---- bench ---- */

static void bench_row(struct textbuf *b, const struct board_row *row, unsigned width,
                      bool yardstick)
{
    const struct timing *t = row->result->timing;
    char name[200], place[16] = "-";

    if (row->place > 0)
        (void)snprintf(place, sizeof place, "%u%s", row->place, row->tied ? "=" : "");
    (void)snprintf(name, sizeof name, yardstick || row->baseline ? "[%s]%s%s" : "%s%s%s",
                   row->baseline ? strrchr(row->solution->solution->name, '/') != NULL
                                       ? strrchr(row->solution->solution->name, '/') + 1
                                       : row->solution->solution->name
                                 : row->solution->solution->name,
                   row->solution->tune[0] != '\0' ? " " : "", row->solution->tune);
    textbuf_printf(b, " %3s  %-*s %8.1f %6.1f %4.1f %% %4u", place, (int)width, name,
                   t->cold.median, t->cold.median * t->cold.se, 100.0 * t->cold.noise, t->cold_n);
    if (t->hot_n > 0)
        textbuf_printf(b, " %8.1f", t->hot.median);
    else
        textbuf_puts(b, "        -");
    if (t->graph_us > 0.0)
        textbuf_printf(b, " %7.1f", t->graph_us);
    textbuf_printf(b, " %5.0f", row->gbs);
    if (row->floor_share > 0.0)
        textbuf_printf(b, " %3.0f %%", 100.0 * row->floor_share);
    else
        textbuf_puts(b, "     -");
    if (row->ratio.value > 0.0 && yardstick)
        textbuf_printf(b, "  %4.2f        ", row->ratio.value);
    else if (row->ratio.value > 0.0)
        textbuf_printf(b, "  %4.2f +- %4.2f", row->ratio.value, row->ratio.error);
    else
        textbuf_puts(b, "             -");
    textbuf_printf(b, "  %-4s ", t->flags);
    if (t->unranked_reason[0] != '\0') {
        report_text_wrap(b, t->unranked_reason, 7);
    } else {
        const size_t column = column_of(b);
        const char *idea = row->solution->solution->idea;
        const size_t len = strlen(idea);

        if (column + len <= TERM_WIDTH)
            textbuf_puts(b, idea);
        else if (column + 8 < TERM_WIDTH) {
            textbuf_add(b, idea, TERM_WIDTH - column - 3);
            textbuf_puts(b, "...");
        }
    }
    while (b->len > 0 && b->text[b->len - 1] == ' ')
        b->text[--b->len] = '\0';
    textbuf_puts(b, "\n");
}

static void bench_head(struct textbuf *b, const struct run_context *c, const struct board *board,
                       unsigned perf_version)
{
    textbuf_printf(b, "%s/%s, set %u: %s, clocks %s", board->problem, board->case_name,
                   perf_version, c->device.name, c->clocks[0] != '\0' ? c->clocks : "unknown");
    if (c->device.read_tbs > 0.0)
        textbuf_printf(b, ", read %.2f TB/s", c->device.read_tbs);
    if (board->floor_us > 0.0)
        textbuf_printf(b, ", floor %.1f us", board->floor_us);
    if (strcmp(c->flush, "dirty") == 0)
        textbuf_puts(b, ", dirty flush");
    textbuf_puts(b, "\n");
}

static unsigned bench_name_width(const struct board *board)
{
    size_t width = 8;

    for (unsigned i = 0; i < board->row_count; i++) {
        const struct solution_result *s = board->rows[i].solution;
        size_t n = strlen(s->solution->name) + (board->rows[i].baseline ? 2 : 0) +
                   (s->tune[0] != '\0' ? 1 + strlen(s->tune) : 0);

        if (board->rows[i].baseline && strrchr(s->solution->name, '/') != NULL)
            n -= (size_t)(strrchr(s->solution->name, '/') + 1 - s->solution->name);
        width = n > width ? n : width;
    }
    return width < 40 ? (unsigned)width : 40;
}

bool report_text_bench_case(struct textbuf *b, const struct results *r, const char *problem,
                            const char *case_name)
{
    struct arena a = {0};
    struct board board;
    struct diag d = {0};
    bool any = false;

    if (board_make(&board, &a, r, problem, case_name, &d) != STATUS_OK)
        b->failed = true;
    else if (board.row_count > 0) {
        const unsigned width = bench_name_width(&board);
        char against[80] = "";
        bool graph = false;

        for (unsigned i = 0; i < board.row_count; i++)
            graph = graph || board.rows[i].result->timing->graph_us > 0.0;
        if (board.yardstick != NULL) {
            const char *name = board.yardstick->solution->solution->name;
            const char *slash = strrchr(name, '/');

            (void)snprintf(against, sizeof against, "vs %s", slash != NULL ? slash + 1 : name);
        }
        any = true;
        bench_head(b, &r->context, &board, board.rows[0].solution->problem->perf_version);
        textbuf_printf(b,
                       "   #  %-*s  cold us     +-  noise    n   hot us%s  GB/s floor  %-12s"
                       "  flag idea\n",
                       (int)width, "solution", graph ? "   graph" : "", against);
        for (unsigned i = 0; i < board.row_count; i++)
            bench_row(b, &board.rows[i], width, &board.rows[i] == board.yardstick);
    }
    arena_fini(&a);
    return any;
}

void report_text_flags(struct textbuf *b, const struct results *r, const char *problem)
{
    for (const char *flag = BOARD_FLAGS; *flag != '\0'; flag++) {
        struct textbuf names = TEXTBUF_EMPTY;

        for (unsigned i = 0; i < r->solution_count; i++) {
            const struct solution_result *s = &r->solutions[i];
            bool has = false;

            if (strcmp(s->problem->name, problem) != 0)
                continue;
            for (unsigned k = 0; k < s->case_count && !has; k++)
                has =
                    s->cases[k].timing != NULL && strchr(s->cases[k].timing->flags, *flag) != NULL;
            if (has)
                textbuf_printf(&names, "%s%s", names.len > 0 ? ", " : "", s->solution->name);
        }
        if (names.len > 0) {
            textbuf_printf(b, "warn %c ", *flag);
            report_text_wrap(b, names.text, 5);
            textbuf_puts(b, ": ");
            report_text_wrap(b, board_flag_meaning(*flag), 5);
            textbuf_puts(b, "\n");
        }
        b->failed = b->failed || names.failed;
        textbuf_fini(&names);
    }
}

/* ---- boards ---- */

/* 1234567 -> "1.23M" in six columns. */
static void short_number(struct textbuf *b, double x)
{
    static const char suffix[] = " KMGT";
    unsigned k = 0;

    while (fabs(x) >= 999.5 && k + 2 < sizeof suffix) {
        x /= 1000.0;
        k++;
    }
    textbuf_printf(b, " %6.*f%c",
                   k == 0 || fabs(x) >= 99.95 ? 0
                   : fabs(x) >= 9.995         ? 1
                                              : 2,
                   x, suffix[k]);
}

static int verdict_order(const struct solution_result *x, const struct solution_result *y)
{
    return (x->verdict > y->verdict) - (x->verdict < y->verdict);
}

struct listed {
    const struct solution_result *r;
    struct board_counts counts;
};

static int by_name(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;

    return strcmp(x->r->solution->name, y->r->solution->name);
}

static int by_verdict(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    const int order = verdict_order(x->r, y->r);

    return order != 0 ? order : by_name(a, b);
}

/* Accepted ones first, fewest bytes moved first: a count, not a claim about speed. */
static int by_counts(const void *a, const void *b)
{
    const struct listed *x = a, *y = b;
    const int order = verdict_order(x->r, y->r);

    if (order != 0)
        return order;
    if (x->counts.touched_ratio != y->counts.touched_ratio)
        return x->counts.touched_ratio < y->counts.touched_ratio ? -1 : 1;
    return by_name(a, b);
}

static void counts_row(struct textbuf *b, const struct term *t, const struct listed *l,
                       unsigned width, bool counted)
{
    const struct board_counts *c = &l->counts;
    const size_t idea = strlen(l->r->solution->idea);

    textbuf_printf(b, "  %s%-3s%s %-*s %3u/%-3u", term_verdict(t, l->r->verdict),
                   verdict_name(l->r->verdict), term_reset(t), (int)width, l->r->solution->name,
                   l->r->ac_count, l->r->case_count);
    if (c->any) {
        short_number(b, c->launches);
        short_number(b, c->warp_inst);
        textbuf_printf(b, " %5.1f %6.2f %6.2f", c->lanes_per_inst, c->touched_ratio,
                       c->sector_ratio);
        short_number(b, c->shared_waves);
        short_number(b, c->atomics);
        short_number(b, c->barriers);
    } else if (counted) {
        textbuf_printf(b, "%*s", 60, "- "); /* not counted: the columns stay empty */
    }
    textbuf_puts(b, "  ");
    if (column_of(b) + idea <= TERM_WIDTH)
        textbuf_puts(b, l->r->solution->idea);
    else if (column_of(b) + 8 < TERM_WIDTH) {
        textbuf_add(b, l->r->solution->idea, TERM_WIDTH - column_of(b) - 3);
        textbuf_puts(b, "...");
    }
    while (b->len > 0 && b->text[b->len - 1] == ' ')
        b->text[--b->len] = '\0';
    textbuf_puts(b, "\n");
}

static void verdict_board(struct textbuf *b, const struct term *t, const struct results *r,
                          const char *problem, const char *sort)
{
    struct arena a = {0};
    struct listed *list = arena_array(&a, (size_t)r->solution_count + 1, sizeof *list);
    size_t width = 8;
    unsigned n = 0;
    bool counted = false;

    if (list == NULL) {
        b->failed = true;
        return;
    }
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        if (strcmp(s->problem->name, problem) != 0 || s->solution->kind == SOLUTION_REJECT)
            continue;
        list[n].r = s;
        list[n].counts = board_counts(s);
        counted = counted || list[n].counts.any;
        if (strlen(s->solution->name) > width)
            width = strlen(s->solution->name);
        n++;
    }
    if (n > 0) {
        qsort(list, n, sizeof *list,
              sort != NULL && strcmp(sort, "name") == 0      ? by_name
              : sort != NULL && strcmp(sort, "verdict") == 0 ? by_verdict
                                                             : by_counts);
        textbuf_printf(
            b, "%s: %s, %s\n", problem,
            r->context.device.name[0] != '\0' ? r->context.device.name : r->context.backend,
            counted ? "exact counts of call A over the functional cases (no speed)" : "verdicts");
        if (counted)
            textbuf_printf(b,
                           "      %-*s   cases launches instr. lanes touched sectors   waves"
                           "  atomic barriers\n",
                           (int)width, "solution");
        for (unsigned i = 0; i < n; i++)
            counts_row(b, t, &list[i], (unsigned)width, counted);
    }
    arena_fini(&a);
}

void report_text_board(struct textbuf *b, const struct term *t, const struct results *r,
                       const char *problem, const char *sort)
{
    struct arena a = {0};
    struct diag d = {0};
    const char *const *cases;
    unsigned count = 0;

    if (board_cases(&cases, &count, &a, r, problem, &d) != STATUS_OK)
        b->failed = true;
    else if (count == 0)
        verdict_board(b, t, r, problem, sort);
    else
        for (unsigned i = 0; i < count; i++) {
            if (i > 0)
                textbuf_puts(b, "\n");
            (void)report_text_bench_case(b, r, problem, cases[i]);
        }
    if (count > 0 && !b->failed)
        report_text_flags(b, r, problem);
    arena_fini(&a);
}

/*
 * report_md.c - Markdown tables from boards.
 * Invariant: cells hold no '|' and no line breaks.
 */
#include "report_md.h"

#include "board.h"
#include "fileio.h"
#include <string.h>

#define OPEN_MARK  "<!-- judge:board "
#define CLOSE_MARK "<!-- judge:end -->"

static void cell(struct textbuf *b, const char *text)
{
    for (; *text != '\0'; text++) {
        if (*text == '|')
            textbuf_puts(b, "\\|");
        else if (*text == '\n')
            textbuf_puts(b, " ");
        else
            textbuf_add(b, text, 1);
    }
}

static const char *short_name(const struct solution *s)
{
    const char *slash = strrchr(s->name, '/');

    return s->kind == SOLUTION_BASELINE && slash != NULL ? slash + 1 : s->name;
}

static void date_of(struct textbuf *b, const char *start)
{
    textbuf_add(b, start, strnlen(start, 10)); /* 2026-01-31 of the ISO date */
}

static void bench_row(struct textbuf *b, const struct board_row *row)
{
    const struct timing *t = row->result->timing;

    if (row->place > 0)
        textbuf_printf(b, "| %u%s | ", row->place, row->tied ? "=" : "");
    else
        textbuf_puts(b, "| - | ");
    if (row->baseline)
        textbuf_puts(b, "*");
    cell(b, short_name(row->solution->solution));
    if (row->baseline)
        textbuf_puts(b, "*");
    textbuf_printf(b, " | %.1f | %.1f | %.1f %% | %u | ", t->cold.median,
                   t->cold.median * t->cold.se, 100.0 * t->cold.noise, t->cold_n);
    if (t->hot_n > 0)
        textbuf_printf(b, "%.1f | ", t->hot.median);
    else
        textbuf_puts(b, "- | ");
    textbuf_printf(b, "%.0f | ", row->gbs);
    if (row->floor_share > 0.0)
        textbuf_printf(b, "%.0f %% | ", 100.0 * row->floor_share);
    else
        textbuf_puts(b, "- | ");
    if (row->ratio.value > 0.0)
        textbuf_printf(b, "%.2f | ", row->ratio.value);
    else
        textbuf_puts(b, "- | ");
    cell(b, t->flags);
    textbuf_puts(b, " | ");
    cell(b, t->unranked_reason[0] != '\0' ? t->unranked_reason : row->solution->solution->idea);
    textbuf_puts(b, " |\n");
}

static void bench_table(struct textbuf *b, const struct results *r, const struct board *board)
{
    textbuf_printf(b, "**%s** on %s, cold L2, set %u, ", board->case_name, r->context.device.name,
                   board->rows[0].solution->problem->perf_version);
    date_of(b, r->context.start);
    if (board->floor_us > 0.0)
        textbuf_printf(b, ", floor %.1f us", board->floor_us);
    textbuf_puts(b, "\n\n| # | solution | cold us | +- | noise | n | hot us | GB/s | floor | ");
    if (board->yardstick != NULL)
        textbuf_printf(b, "vs %s", short_name(board->yardstick->solution->solution));
    else
        textbuf_puts(b, "ratio");
    textbuf_puts(b, " | flags | idea |\n|--:|:--|--:|--:|--:|--:|--:|--:|--:|--:|:--|:--|\n");
    for (unsigned i = 0; i < board->row_count; i++)
        bench_row(b, &board->rows[i]);
    textbuf_puts(b, "\n");
}

static void verdict_table(struct textbuf *b, const struct results *r, const char *problem)
{
    bool counted = false;

    for (unsigned i = 0; i < r->solution_count; i++)
        if (strcmp(r->solutions[i].problem->name, problem) == 0)
            counted = counted || board_counts(&r->solutions[i]).any;
    textbuf_printf(b, "**%s** on %s, ", problem,
                   r->context.device.name[0] != '\0' ? r->context.device.name : r->context.backend);
    date_of(b, r->context.start);
    textbuf_puts(b, counted ? ": exact counts of call A over the functional cases, no speed\n\n"
                            : "\n\n");
    textbuf_puts(b, counted
                        ? "| verdict | solution | cases | launches | warp instructions | lanes | "
                          "touched | sectors | idea |\n|:--|:--|--:|--:|--:|--:|--:|--:|:--|\n"
                        : "| verdict | solution | cases | idea |\n|:--|:--|--:|:--|\n");
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];
        const struct board_counts c = board_counts(s);

        if (strcmp(s->problem->name, problem) != 0 || s->solution->kind == SOLUTION_REJECT)
            continue;
        textbuf_printf(b, "| %s | ", verdict_name(s->verdict));
        cell(b, short_name(s->solution));
        textbuf_printf(b, " | %u/%u | ", s->ac_count, s->case_count);
        if (counted && c.any)
            textbuf_printf(b, "%.0f | %.4g | %.1f | %.2f | %.2f | ", c.launches, c.warp_inst,
                           c.lanes_per_inst, c.touched_ratio, c.sector_ratio);
        else if (counted)
            textbuf_puts(b, "- | - | - | - | - | ");
        cell(b, s->solution->idea);
        textbuf_puts(b, " |\n");
    }
    textbuf_puts(b, "\n");
}

void report_md_board(struct textbuf *b, const struct results *r, const char *problem)
{
    struct arena a = {0};
    struct diag d = {0};
    const char *const *cases;
    unsigned count = 0;

    if (board_cases(&cases, &count, &a, r, problem, &d) != STATUS_OK)
        b->failed = true;
    for (unsigned i = 0; i < count && !b->failed; i++) {
        struct board board;

        if (board_make(&board, &a, r, problem, cases[i], &d) != STATUS_OK)
            b->failed = true;
        else if (board.row_count > 0)
            bench_table(b, r, &board);
    }
    if (count == 0)
        verdict_table(b, r, problem);
    arena_fini(&a);
}

static bool has_problem(const struct results *r, const char *name, size_t len)
{
    for (unsigned i = 0; i < r->solution_count; i++)
        if (strlen(r->solutions[i].problem->name) == len &&
            strncmp(r->solutions[i].problem->name, name, len) == 0)
            return true;
    return false;
}

enum status report_md_rewrite(struct textbuf *out, const char *text, const char *file,
                              const struct results *r, struct diag *d)
{
    unsigned line = 0, opened = 0, blocks = 0;
    bool skipping = false;

    while (*text != '\0') {
        const size_t n = strcspn(text, "\n") + (strchr(text, '\n') != NULL);
        const bool opens = strncmp(text, OPEN_MARK, strlen(OPEN_MARK)) == 0;
        const bool closes = strncmp(text, CLOSE_MARK, strlen(CLOSE_MARK)) == 0;

        line++;
        if (opens && opened != 0)
            return diag_at(d, STATUS_BAD_DATA, file, line, 1,
                           "a board begins inside the one of line %u; expected '%s' first", opened,
                           CLOSE_MARK);
        if (closes && opened == 0)
            return diag_at(d, STATUS_BAD_DATA, file, line, 1, "'%s' without '%sPROBLEM -->'",
                           CLOSE_MARK, OPEN_MARK);
        if (closes) {
            opened = 0;
            skipping = false;
        }
        if (!skipping)
            textbuf_add(out, text, n);
        if (opens) {
            const char *name = text + strlen(OPEN_MARK);
            const size_t len = strcspn(name, " \n");
            char problem[128];

            opened = line;
            blocks++;
            if (len < sizeof problem && has_problem(r, name, len)) {
                memcpy(problem, name, len);
                problem[len] = '\0';
                report_md_board(out, r, problem);
                skipping = true;
            }
        }
        text += n;
    }
    if (opened != 0)
        return diag_at(d, STATUS_BAD_DATA, file, opened, 1, "this board has no '%s'", CLOSE_MARK);
    if (blocks == 0)
        return diag_at(d, STATUS_USAGE, file, 0, 0,
                       "no marker here; put '%sPROBLEM -->' and '%s' where a board belongs",
                       OPEN_MARK, CLOSE_MARK);
    return textbuf_check(out, d);
}

enum status report_md_file(const char *path, const struct results *r, struct diag *d)
{
    struct textbuf out = TEXTBUF_EMPTY;
    struct arena a = {0};
    enum status st;
    size_t len;
    char *text;

    st = file_read(&text, &len, &a, path, (size_t)16 << 20, d);
    if (st == STATUS_OK)
        st = report_md_rewrite(&out, text, path, r, d);
    if (st == STATUS_OK)
        st = file_write(path, out.text, out.len, d);
    textbuf_fini(&out);
    arena_fini(&a);
    return st;
}

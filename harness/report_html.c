/*
 * report_html.c - matrix of verdicts, strip plots, ratio bars, resources, mismatches, history.
 * Invariant: the page needs no network and no script, and states its machine and date on top.
 */
#include "report_html.h"

#include "board.h"
#include <inttypes.h>
#include <math.h>
#include <string.h>

#define PLOT_WIDTH  640.0
#define ROW_HEIGHT  22.0
#define LABEL_WIDTH 170.0

static void head(struct textbuf *b, const struct run_context *c)
{
    textbuf_puts(
        b, "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
           "<meta name=\"viewport\" content=\"width=device-width\">\n<title>warpjudge</title>\n"
           "<style>\n"
           "body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:2rem auto;"
           "padding:0 1rem;color:#1a1a1a}\n"
           "table{border-collapse:collapse;margin:.6rem 0}"
           "td,th{padding:.15rem .5rem;text-align:right}\n"
           "th{border-bottom:1px solid #999;font-weight:600}"
           "td.l,th.l{text-align:left}\n"
           "tr:nth-child(even){background:#f4f6f8}code,pre{font:13px ui-monospace,monospace}\n"
           ".m{overflow-x:auto}.m td{padding:0;border:1px solid #fff;width:9px;min-width:9px;"
           "height:16px}\n"
           ".m td.l{padding:0 .5rem;white-space:nowrap}\n"
           ".AC{background:#3a9d5d}.SK{background:#c9ced3}.WA{background:#d9453b}"
           ".RE{background:#8e44ad}\n"
           ".TLE{background:#e08e0b}.MLE{background:#b9770e}.CE{background:#34495e}"
           ".JE{background:#000}\n"
           ".v{color:#fff;padding:0 .4rem;border-radius:3px;font-size:13px}\n"
           "svg text{font:12px system-ui,sans-serif}summary{cursor:pointer}\n"
           "</style></head><body>\n<h1>warpjudge</h1>\n<p>");
    textbuf_xml(b, c->device.name[0] != '\0' ? c->device.name : c->backend);
    textbuf_puts(b, ", ");
    textbuf_xml(b, c->start);
    if (c->commit[0] != '\0') {
        textbuf_puts(b, ", commit <code>");
        textbuf_xml(b, c->commit);
        textbuf_puts(b, "</code>");
    }
    if (c->nvcc[0] != '\0') {
        textbuf_puts(b, ", nvcc ");
        textbuf_xml(b, c->nvcc);
    }
    if (c->device.driver[0] != '\0') {
        textbuf_puts(b, ", driver ");
        textbuf_xml(b, c->device.driver);
    }
    textbuf_printf(b, ", seed <code>%" PRIx64 "</code>", c->seed);
    if (c->device.read_tbs > 0.0)
        textbuf_printf(b, ", read %.2f TB/s, copy %.2f TB/s, empty kernel %.1f us",
                       c->device.read_tbs, c->device.copy_tbs, c->device.e0_us);
    textbuf_puts(b, ".</p>\n");
    if (c->device.is_virtual)
        textbuf_puts(b, "<p>The virtual GPU executes every instruction but has no clock: its "
                        "counts are exact and say nothing about speed.</p>\n");
}

static void matrix(struct textbuf *b, const struct results *r, const char *problem)
{
    textbuf_puts(b, "<div class=\"m\"><table>\n");
    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        if (strcmp(s->problem->name, problem) != 0)
            continue;
        textbuf_printf(b, "<tr><td class=\"l\"><span class=\"v %s\">%s</span> ",
                       verdict_name(s->verdict), verdict_name(s->verdict));
        textbuf_xml(b, s->solution->name);
        textbuf_printf(b, "</td><td class=\"l\">%u/%u</td>", s->ac_count, s->case_count);
        for (unsigned k = 0; k < s->case_count; k++) {
            const struct case_result *c = &s->cases[k];

            textbuf_printf(b, "<td class=\"%s\" title=\"", verdict_name(c->verdict));
            textbuf_xml(b, c->casedef->name);
            textbuf_printf(b, ": %s", verdict_name(c->verdict));
            if (c->reason[0] != '\0') {
                textbuf_puts(b, " ");
                textbuf_xml(b, c->reason);
            }
            textbuf_puts(b, "\"></td>");
        }
        textbuf_puts(b, "</tr>\n");
    }
    textbuf_puts(b, "</table></div>\n");
}

/* Largest and smallest sample of a board, a little widened. */
static void range_of(const struct board *board, double *low, double *high)
{
    *low = HUGE_VAL;
    *high = 0.0;
    for (unsigned i = 0; i < board->row_count; i++) {
        const struct timing *t = board->rows[i].result->timing;

        for (unsigned k = 0; k < t->cold_n; k++) {
            *low = fmin(*low, t->cold_us[k]);
            *high = fmax(*high, t->cold_us[k]);
        }
    }
    *low *= 0.95;
    *high *= 1.05;
    if (!(*low > 0.0) || !(*high > *low)) {
        *low = 1.0;
        *high = 10.0;
    }
}

static double place_x(double us, double low, double high)
{
    return LABEL_WIDTH + PLOT_WIDTH * log(us / low) / log(high / low);
}

static const char *short_name(const struct solution *s)
{
    const char *slash = strrchr(s->name, '/');

    return s->kind == SOLUTION_BASELINE && slash != NULL ? slash + 1 : s->name;
}

/* Every sample as a tick on a logarithmic axis, the median with its interval, and the floor. */
static void strip_plot(struct textbuf *b, const struct board *board)
{
    const double height = ROW_HEIGHT * (board->row_count + 1);
    double low, high;

    range_of(board, &low, &high);
    textbuf_printf(b, "<svg width=\"%.0f\" height=\"%.0f\" role=\"img\" aria-label=\"samples\">\n",
                   LABEL_WIDTH + PLOT_WIDTH + 20.0, height + 4.0);
    if (board->floor_us > low && board->floor_us < high) {
        const double x = place_x(board->floor_us, low, high);

        textbuf_printf(b,
                       "<path d=\"M%.1f 0V%.1f\" stroke=\"#d9453b\" stroke-dasharray=\"3 3\"/>"
                       "<text x=\"%.1f\" y=\"%.1f\" fill=\"#d9453b\">floor</text>\n",
                       x, height, x + 3.0, height);
    }
    for (unsigned i = 0; i < board->row_count; i++) {
        const struct timing *t = board->rows[i].result->timing;
        const double y = ROW_HEIGHT * i + 15.0;
        const double left =
            place_x(fmax(t->cold.median * (1.0 - 2.0 * t->cold.se), low), low, high);
        const double right =
            place_x(fmin(t->cold.median * (1.0 + 2.0 * t->cold.se), high), low, high);

        textbuf_printf(b, "<text x=\"0\" y=\"%.1f\">", y);
        textbuf_xml(b, short_name(board->rows[i].solution->solution));
        textbuf_puts(b, "</text><path stroke=\"#5b8dbf\" stroke-opacity=\".5\" d=\"");
        for (unsigned k = 0; k < t->cold_n; k++)
            textbuf_printf(b, "M%.1f %.1fv10", place_x(t->cold_us[k], low, high), y - 9.0);
        textbuf_printf(b,
                       "\"/><rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"4\" "
                       "fill=\"#12344d\"><title>median %.2f us</title></rect>\n",
                       left, y - 6.0, fmax(right - left, 2.0), t->cold.median);
    }
    textbuf_printf(b,
                   "<text x=\"%.1f\" y=\"%.1f\">%.3g us</text>"
                   "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%.3g us</text></svg>\n",
                   LABEL_WIDTH, height, low, LABEL_WIDTH + PLOT_WIDTH, height, high);
}

static void bench_table(struct textbuf *b, const struct board *board)
{
    double largest = 1.0;

    for (unsigned i = 0; i < board->row_count; i++)
        largest = fmax(largest, board->rows[i].ratio.value);
    textbuf_puts(b, "<table><tr><th>#</th><th class=\"l\">solution</th><th>cold us</th><th>+-</th>"
                    "<th>noise</th><th>n</th><th>hot us</th><th>GB/s</th><th>floor</th><th>ratio"
                    "</th><th class=\"l\"></th><th class=\"l\">flags</th><th class=\"l\">idea</th>"
                    "</tr>\n");
    for (unsigned i = 0; i < board->row_count; i++) {
        const struct board_row *row = &board->rows[i];
        const struct timing *t = row->result->timing;

        if (row->place > 0)
            textbuf_printf(b, "<tr><td>%u%s</td><td class=\"l\">", row->place,
                           row->tied ? "=" : "");
        else
            textbuf_puts(b, "<tr><td>-</td><td class=\"l\">");
        textbuf_xml(b, short_name(row->solution->solution));
        textbuf_printf(b, "</td><td>%.1f</td><td>%.1f</td><td>%.1f %%</td><td>%u</td>",
                       t->cold.median, t->cold.median * t->cold.se, 100.0 * t->cold.noise,
                       t->cold_n);
        if (t->hot_n > 0)
            textbuf_printf(b, "<td>%.1f</td>", t->hot.median);
        else
            textbuf_puts(b, "<td>-</td>");
        textbuf_printf(b, "<td>%.0f</td><td>%.0f %%</td><td>%.2f</td><td class=\"l\">", row->gbs,
                       100.0 * row->floor_share, row->ratio.value);
        textbuf_printf(b,
                       "<svg width=\"122\" height=\"12\"><rect width=\"%.1f\" height=\"12\" "
                       "fill=\"%s\"/></svg></td><td class=\"l\">",
                       120.0 * row->ratio.value / largest, row->baseline ? "#999" : "#5b8dbf");
        textbuf_xml(b, t->flags);
        textbuf_puts(b, "</td><td class=\"l\">");
        textbuf_xml(b, t->unranked_reason[0] != '\0' ? t->unranked_reason
                                                     : row->solution->solution->idea);
        textbuf_puts(b, "</td></tr>\n");
    }
    textbuf_puts(b, "</table>\n");
}

static void counts_table(struct textbuf *b, const struct results *r, const char *problem)
{
    bool open = false;

    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];
        const struct board_counts c = board_counts(s);

        if (strcmp(s->problem->name, problem) != 0 || !c.any)
            continue;
        if (!open)
            textbuf_puts(b, "<table><tr><th class=\"l\">solution</th><th>launches</th><th>warp "
                            "instructions</th><th>lanes</th><th>touched</th><th>sectors</th>"
                            "<th>shared waves</th><th>atomics</th><th>barriers</th></tr>\n");
        open = true;
        textbuf_puts(b, "<tr><td class=\"l\">");
        textbuf_xml(b, s->solution->name);
        textbuf_printf(b,
                       "</td><td>%.0f</td><td>%.4g</td><td>%.1f</td><td>%.2f</td><td>%.2f</td>"
                       "<td>%.4g</td><td>%.4g</td><td>%.4g</td></tr>\n",
                       c.launches, c.warp_inst, c.lanes_per_inst, c.touched_ratio, c.sector_ratio,
                       c.shared_waves, c.atomics, c.barriers);
    }
    if (open)
        textbuf_puts(b, "</table>\n");
}

static void details(struct textbuf *b, const struct solution_result *s)
{
    const struct case_result *f = results_decisive(s);

    textbuf_puts(b, "<details><summary>");
    textbuf_xml(b, s->solution->name);
    textbuf_printf(b, ": %s</summary>\n<pre>", verdict_name(s->verdict));
    if (s->reason[0] != '\0') {
        textbuf_xml(b, s->reason);
        textbuf_puts(b, "\n");
    }
    if (f != NULL) {
        textbuf_xml(b, f->casedef->name);
        textbuf_printf(b, ", call %c: ", f->call);
        textbuf_xml(b, f->reason);
        textbuf_puts(b, "\n");
        textbuf_xml(b, f->detail);
        for (unsigned i = 0; i < HINTS_MAX && f->hints[i] != NULL; i++) {
            textbuf_puts(b, "\nhint: ");
            textbuf_xml(b, f->hints[i]);
        }
        textbuf_puts(b, "\n");
    }
    for (unsigned i = 0; i < s->object.kernel_count; i++) {
        const struct kernel_info *k = &s->object.kernels[i];

        textbuf_xml(b, k->name);
        textbuf_printf(b, ": %u registers, %u bytes spilled, %u bytes stack, %u bytes shared\n",
                       k->registers, k->spill_store_bytes + k->spill_load_bytes, k->stack_bytes,
                       k->shared_bytes);
    }
    if (s->verdict == VERDICT_CE)
        textbuf_xml(b, s->object.log);
    textbuf_puts(b, "</pre></details>\n");
}

/* Medians of one solution and case over time, as one line. */
static void history_line(struct textbuf *b, const struct history_point *points, unsigned count,
                         const char *problem, const char *solution, const char *case_name)
{
    double low = HUGE_VAL, high = 0.0;
    unsigned n = 0, at = 0;

    for (unsigned i = 0; i < count; i++)
        if (strcmp(points[i].problem, problem) == 0 && strcmp(points[i].solution, solution) == 0 &&
            strcmp(points[i].case_name, case_name) == 0 && points[i].median_us > 0.0) {
            low = fmin(low, points[i].median_us);
            high = fmax(high, points[i].median_us);
            n++;
        }
    if (n < 2)
        return;
    textbuf_puts(b, "<tr><td class=\"l\">");
    textbuf_xml(b, solution);
    textbuf_printf(b,
                   "</td><td>%.1f</td><td>%.1f</td><td><svg width=\"300\" height=\"30\">"
                   "<polyline fill=\"none\" stroke=\"#12344d\" points=\"",
                   low, high);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(points[i].problem, problem) == 0 && strcmp(points[i].solution, solution) == 0 &&
            strcmp(points[i].case_name, case_name) == 0 && points[i].median_us > 0.0)
            textbuf_printf(b, "%.1f,%.1f ", 5.0 + 290.0 * at++ / (n - 1),
                           high > low ? 26.0 - 22.0 * (points[i].median_us - low) / (high - low)
                                      : 15.0);
    textbuf_puts(b, "\"/></svg></td></tr>\n");
}

static void history_table(struct textbuf *b, const struct results *r, const char *problem,
                          const char *case_name, const struct history_point *points, unsigned count)
{
    struct textbuf rows = TEXTBUF_EMPTY;

    for (unsigned i = 0; i < r->solution_count; i++)
        if (strcmp(r->solutions[i].problem->name, problem) == 0)
            history_line(&rows, points, count, problem, r->solutions[i].solution->name, case_name);
    if (rows.len > 0) {
        textbuf_puts(b, "<details><summary>history</summary><table><tr><th class=\"l\">solution"
                        "</th><th>least us</th><th>most us</th><th></th></tr>\n");
        textbuf_add(b, rows.text, rows.len);
        textbuf_puts(b, "</table></details>\n");
    }
    b->failed = b->failed || rows.failed;
    textbuf_fini(&rows);
}

static void problem_section(struct textbuf *b, struct arena *a, const struct results *r,
                            const char *problem, const struct history_point *points,
                            unsigned point_count)
{
    const char *const *cases;
    struct diag d = {0};
    unsigned count = 0;

    textbuf_puts(b, "<h2>");
    textbuf_xml(b, problem);
    textbuf_puts(b, "</h2>\n");
    matrix(b, r, problem);
    if (board_cases(&cases, &count, a, r, problem, &d) != STATUS_OK)
        b->failed = true;
    for (unsigned i = 0; i < count && !b->failed; i++) {
        struct board board;

        if (board_make(&board, a, r, problem, cases[i], &d) != STATUS_OK) {
            b->failed = true;
            continue;
        }
        textbuf_puts(b, "<h3>");
        textbuf_xml(b, cases[i]);
        textbuf_printf(b, ", set %u</h3>\n", board.rows[0].solution->problem->perf_version);
        bench_table(b, &board);
        strip_plot(b, &board);
        history_table(b, r, problem, cases[i], points, point_count);
    }
    counts_table(b, r, problem);
    for (unsigned i = 0; i < r->solution_count; i++)
        if (strcmp(r->solutions[i].problem->name, problem) == 0)
            details(b, &r->solutions[i]);
}

void report_html(struct textbuf *b, const struct results *r, const struct history_point *history,
                 unsigned history_count)
{
    struct arena a = {0};
    const char *const *names;
    struct diag d = {0};
    unsigned count = 0;

    head(b, &r->context);
    if (board_problems(&names, &count, &a, r, &d) != STATUS_OK)
        b->failed = true;
    for (unsigned i = 0; i < count && !b->failed; i++)
        problem_section(b, &a, r, names[i], history, history_count);
    textbuf_puts(b, "</body></html>\n");
    arena_fini(&a);
}

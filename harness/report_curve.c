/*
 * report_curve.c - see report_curve.h. Coordinates are pixels of a fixed view box.
 */
#include "report_curve.h"

#include "fileio.h"

#include <math.h>
#include <string.h>

#define LEFT        62.0
#define RIGHT       640.0
#define TIME_TOP    52.0
#define TIME_BOTTOM 416.0
#define PART_TOP    470.0
#define PART_BOTTOM 670.0
#define LEGEND_X    656.0
#define LEGEND_STEP 19.0
#define WIDTH       900.0
#define HEIGHT      716.0
#define GRID        "#e4e4e4"
#define INK         "#444444"
#define FLOOR_INK   "#c0392b"

/* Told apart with a colour deficiency, too: Okabe and Ito's palette, then the same dashed. */
static const char *const inks[] = {"#0072b2", "#e69f00", "#009e73", "#cc79a7",
                                   "#56b4e9", "#d55e00", "#8a7f00", "#6a3d9a"};
static const char *const dashes[] = {"", "7 3", "2 3", "9 3 2 3"};
#define INK_COUNT (sizeof inks / sizeof *inks)

struct plot {
    const struct curve *curve;
    double time_low, time_high; /* of the time axis */
};

static const char *short_name(const struct curve_line *line)
{
    const struct solution *s = line->solution->solution;
    const char *slash = strrchr(s->name, '/');

    return s->kind == SOLUTION_BASELINE && slash != NULL ? slash + 1 : s->name;
}

static bool is_baseline(const struct curve_line *line)
{
    return line->solution->solution->kind == SOLUTION_BASELINE;
}

static double x_at(const struct curve *c, unsigned point)
{
    const unsigned last = c->point_count - 1;
    const double share =
        c->even ? (double)point / last
                : log(curve_x(c, point) / curve_x(c, 0)) / log(curve_x(c, last) / curve_x(c, 0));

    return LEFT + (RIGHT - LEFT) * share;
}

static double time_y(const struct plot *p, double us)
{
    return TIME_BOTTOM -
           (TIME_BOTTOM - TIME_TOP) * log(us / p->time_low) / log(p->time_high / p->time_low);
}

static double part_y(double share)
{
    return PART_BOTTOM - (PART_BOTTOM - PART_TOP) * fmin(share, 1.1) / 1.1;
}

/* ---- axes ---- */

static void find_range(struct plot *p)
{
    const struct curve *c = p->curve;
    double low = HUGE_VAL, high = 0.0;

    for (unsigned i = 0; i < c->point_count; i++) {
        if (c->floor_us[i] > 0.0)
            low = fmin(low, c->floor_us[i]);
        for (unsigned k = 0; k < c->line_count; k++) {
            if (c->lines[k].summary[i].n == 0)
                continue;
            low = fmin(low, c->lines[k].low[i]);
            high = fmax(high, c->lines[k].high[i]);
        }
    }
    p->time_low = 0.9 * low;
    p->time_high = fmax(1.1 * high, 1.01 * p->time_low);
}

static void x_label(struct textbuf *b, const struct curve *c, unsigned point, double y)
{
    const double x = curve_x(c, point);

    textbuf_printf(b, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" fill=\"" INK "\">",
                   x_at(c, point), y);
    if (!c->even && x >= 1e6)
        textbuf_printf(b, "%.3gM", x / 1e6);
    else if (!c->even && x >= 1e4)
        textbuf_printf(b, "%.3gk", x / 1e3);
    else
        textbuf_printf(b, "%.5g", x);
    textbuf_puts(b, "</text>\n");
}

/* A line at each point, a number where there is room for one. */
static void x_axis(struct textbuf *b, const struct curve *c, double top, double bottom)
{
    double free_from = -HUGE_VAL;

    for (unsigned i = 0; i < c->point_count; i++) {
        const double x = x_at(c, i);

        textbuf_printf(b, "<path d=\"M%.1f %.0fV%.0f\" stroke=\"" GRID "\"/>\n", x, top, bottom);
        if (x < free_from)
            continue;
        x_label(b, c, i, bottom + 15.0);
        free_from = x + 42.0;
    }
}

static void time_axis(struct textbuf *b, const struct plot *p)
{
    static const double steps[] = {1.0, 2.0, 5.0};

    for (int decade = -1; decade < 7; decade++)
        for (size_t k = 0; k < sizeof steps / sizeof *steps; k++) {
            const double us = steps[k] * pow(10.0, decade);

            if (us < p->time_low || us > p->time_high)
                continue;
            textbuf_printf(b,
                           "<path d=\"M%.0f %.1fH%.0f\" stroke=\"" GRID "\"/>"
                           "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\" fill=\"" INK
                           "\">%g</text>\n",
                           LEFT, time_y(p, us), RIGHT, LEFT - 6.0, time_y(p, us) + 4.0, us);
        }
}

static void part_axis(struct textbuf *b)
{
    for (int percent = 0; percent <= 100; percent += 20) {
        const double y = part_y(percent / 100.0);

        textbuf_printf(b,
                       "<path d=\"M%.0f %.1fH%.0f\" stroke=\"" GRID "\"/>"
                       "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\" fill=\"" INK
                       "\">%d %%</text>\n",
                       LEFT, y, RIGHT, LEFT - 6.0, y + 4.0, percent);
    }
}

/* ---- lines ---- */

/* stroke, and its dash where it has one; baselines are grey. */
static void stroke(struct textbuf *b, const struct curve *c, unsigned line)
{
    unsigned number = 0;

    for (unsigned k = 0; k < line; k++)
        number += is_baseline(&c->lines[k]) == is_baseline(&c->lines[line]);
    if (is_baseline(&c->lines[line]))
        textbuf_printf(b, "stroke=\"#555555\" stroke-width=\"2.4\" stroke-dasharray=\"%s\"",
                       number == 0   ? "1 0"
                       : number == 1 ? "8 4"
                                     : "3 3");
    else
        textbuf_printf(b, "stroke=\"%s\" stroke-width=\"1.6\" stroke-dasharray=\"%s\"",
                       inks[number % INK_COUNT],
                       number < INK_COUNT
                           ? "1 0"
                           : dashes[number / INK_COUNT % (sizeof dashes / sizeof *dashes)]);
}

/* The points of a line; a missing one interrupts it. */
static void time_line(struct textbuf *b, const struct plot *p, unsigned line)
{
    const struct curve *c = p->curve;
    const struct curve_line *l = &c->lines[line];
    bool pen_down = false;

    textbuf_puts(b, "<path fill=\"none\" ");
    stroke(b, c, line);
    textbuf_puts(b, " d=\"");
    for (unsigned i = 0; i < c->point_count; i++) {
        if (l->summary[i].n > 0)
            textbuf_printf(b, "%c%.1f %.1f", pen_down ? 'L' : 'M', x_at(c, i),
                           time_y(p, l->summary[i].median));
        pen_down = l->summary[i].n > 0;
    }
    textbuf_puts(b, "\"><title>");
    textbuf_xml(b, short_name(l));
    textbuf_puts(b, "</title></path>\n<path fill=\"none\" stroke=\"#222222\" stroke-opacity=\".45\""
                    " d=\"");
    for (unsigned i = 0; i < c->point_count; i++)
        if (l->summary[i].n > 0)
            textbuf_printf(b, "M%.1f %.1fV%.1f", x_at(c, i), time_y(p, l->low[i]),
                           time_y(p, l->high[i]));
    textbuf_puts(b, "\"/>\n");
}

static void part_line(struct textbuf *b, const struct curve *c, unsigned line)
{
    const struct curve_line *l = &c->lines[line];
    bool pen_down = false;

    textbuf_puts(b, "<path fill=\"none\" ");
    stroke(b, c, line);
    textbuf_puts(b, " d=\"");
    for (unsigned i = 0; i < c->point_count; i++) {
        const bool there = l->summary[i].n > 0 && c->floor_us[i] > 0.0;

        if (there)
            textbuf_printf(b, "%c%.1f %.1f", pen_down ? 'L' : 'M', x_at(c, i),
                           part_y(c->floor_us[i] / l->summary[i].median));
        pen_down = there;
    }
    textbuf_puts(b, "\"/>\n");
}

static void floor_line(struct textbuf *b, const struct plot *p)
{
    const struct curve *c = p->curve;
    bool pen_down = false;

    textbuf_puts(b, "<path fill=\"none\" stroke=\"" FLOOR_INK
                    "\" stroke-width=\"1.6\" stroke-dasharray=\"4 3\" d=\"");
    for (unsigned i = 0; i < c->point_count; i++) {
        if (c->floor_us[i] > 0.0)
            textbuf_printf(b, "%c%.1f %.1f", pen_down ? 'L' : 'M', x_at(c, i),
                           time_y(p, c->floor_us[i]));
        pen_down = c->floor_us[i] > 0.0;
    }
    textbuf_puts(b, "\"/>\n");
}

/* Median at the last timed point: what a legend is sorted by. */
static double end_of(const struct curve *c, unsigned line)
{
    for (unsigned i = c->point_count; i-- > 0;)
        if (c->lines[line].summary[i].n > 0)
            return c->lines[line].summary[i].median;
    return 0.0;
}

/* Slowest at the right end first, as the lines lie there. */
static void legend(struct textbuf *b, const struct curve *c, const unsigned *order)
{
    double y = TIME_TOP + 6.0;

    for (unsigned i = 0; i < c->line_count; i++, y += LEGEND_STEP) {
        textbuf_printf(b, "<path d=\"M%.0f %.1fh24\" ", LEGEND_X, y);
        stroke(b, c, order[i]);
        textbuf_printf(b, "/><text x=\"%.0f\" y=\"%.1f\" fill=\"#222222\">", LEGEND_X + 30.0,
                       y + 4.0);
        textbuf_xml(b, short_name(&c->lines[order[i]]));
        textbuf_printf(b, " <tspan fill=\"" INK "\">%.4g</tspan></text>\n", end_of(c, order[i]));
    }
    textbuf_printf(b,
                   "<path d=\"M%.0f %.1fh24\" stroke=\"" FLOOR_INK
                   "\" stroke-width=\"1.6\" stroke-dasharray=\"4 3\"/>"
                   "<text x=\"%.0f\" y=\"%.1f\" fill=\"#222222\">floor</text>\n",
                   LEGEND_X, y, LEGEND_X + 30.0, y + 4.0);
}

static void sort_lines(const struct curve *c, unsigned *order)
{
    for (unsigned i = 0; i < c->line_count; i++) {
        unsigned k = i;

        for (; k > 0 && end_of(c, order[k - 1]) < end_of(c, i); k--)
            order[k] = order[k - 1];
        order[k] = i;
    }
}

static void title(struct textbuf *b, const struct curve *c)
{
    textbuf_xml(b, c->problem->title);
    textbuf_puts(b, ": time against ");
    textbuf_xml(b, c->problem->params[c->axis].name);
    if (c->fixed[0] != '\0') {
        textbuf_puts(b, ", ");
        textbuf_xml(b, c->fixed);
    }
}

static void subtitle(struct textbuf *b, const struct run_context *context)
{
    textbuf_xml(b, context->device.name[0] != '\0' ? context->device.name : context->backend);
    textbuf_puts(b, ", cold L2: median in us, bars from quartile to quartile");
}

void report_curve_svg(struct textbuf *b, const struct run_context *context, const struct curve *c)
{
    const double legend_end = TIME_TOP + LEGEND_STEP * (c->line_count + 2);
    struct plot p = {.curve = c};
    struct arena a = {0};
    unsigned *order = arena_array(&a, (size_t)c->line_count + 1, sizeof *order);

    if (order == NULL) {
        b->failed = true;
        return;
    }
    find_range(&p);
    sort_lines(c, order);
    textbuf_printf(b,
                   "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" "
                   "font-family=\"sans-serif\" font-size=\"12\" role=\"img\">\n<title>",
                   WIDTH, fmax(HEIGHT, legend_end));
    title(b, c);
    textbuf_puts(b, "</title>\n<desc>");
    textbuf_printf(b,
                   "Medians with quartiles of %u solutions at %u sizes, made by judge bench "
                   "--curves; measured %s.</desc>\n<rect width=\"100%%\" height=\"100%%\" "
                   "fill=\"#ffffff\"/>\n<text x=\"%.0f\" y=\"20\" font-size=\"14\" "
                   "fill=\"#222222\">",
                   c->line_count, c->point_count, context->start, LEFT);
    title(b, c);
    textbuf_printf(b, "</text>\n<text x=\"%.0f\" y=\"39\" fill=\"" INK "\">", LEFT);
    subtitle(b, context);
    textbuf_puts(b, "</text>\n");
    x_axis(b, c, TIME_TOP, TIME_BOTTOM);
    time_axis(b, &p);
    floor_line(b, &p);
    for (unsigned k = 0; k < c->line_count; k++)
        time_line(b, &p, order[k]);
    textbuf_printf(b,
                   "<text x=\"%.0f\" y=\"%.0f\" font-size=\"14\" fill=\"#222222\">Floor / time: "
                   "share of what the memory allows</text>\n",
                   LEFT, PART_TOP - 12.0);
    x_axis(b, c, PART_TOP, PART_BOTTOM);
    part_axis(b);
    for (unsigned k = 0; k < c->line_count; k++)
        part_line(b, c, order[k]);
    legend(b, c, order);
    textbuf_puts(b, "</svg>\n");
    arena_fini(&a);
}

/* ---- text ---- */

static void cliff_line(struct textbuf *b, const struct curve_cliff *cliff)
{
    const struct curve *c = cliff->curve;
    const char *axis = c->problem->params[c->axis].name;

    textbuf_printf(b, "  %-24s %s %.9g -> %.9g: %.4g -> %.4g us, x %.2f; ", short_name(cliff->line),
                   axis, curve_x(c, cliff->point - 1), curve_x(c, cliff->point),
                   cliff->line->summary[cliff->point - 1].median,
                   cliff->line->summary[cliff->point].median, cliff->growth);
    textbuf_printf(b, "%s x %.2f\n",
                   cliff->compared != NULL ? short_name(cliff->compared) : "the floor",
                   cliff->yardstick);
}

enum status report_curve_files(struct textbuf *b, struct arena *a, const char *dir,
                               const struct results *r, const struct problem *p, struct diag *d)
{
    struct curve *curves;
    struct curve_cliff *cliffs;
    unsigned count, cliff_count;

    TRY(curve_list(&curves, &count, a, r, p, d));
    if (count == 0)
        return diag_set(d, STATUS_NOTHING, "no curve of '%s' was timed", p->name);
    TRY(dir_make(dir, d));
    for (unsigned k = 0; k < count; k++) {
        const char *path = arena_printf(a, "%s/%s-%s.svg", dir, p->name, curves[k].family);
        struct textbuf svg = TEXTBUF_EMPTY;
        enum status st;

        if (path == NULL)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        report_curve_svg(&svg, &r->context, &curves[k]);
        st = textbuf_check(&svg, d);
        if (st == STATUS_OK)
            st = file_write(path, svg.text, svg.len, d);
        textbuf_fini(&svg);
        TRY(st);
        textbuf_printf(b, "%s: %u lines, %u points\n", path, curves[k].line_count,
                       curves[k].point_count);
    }
    TRY(curve_cliffs(&cliffs, &cliff_count, a, curves, count, d));
    textbuf_printf(b,
                   "%s: %u cliff%s (a step that grows more than %.1f times as much as in every "
                   "baseline)\n",
                   p->name, cliff_count, cliff_count == 1 ? "" : "s", CURVE_CLIFF);
    for (unsigned k = 0; k < cliff_count; k++)
        cliff_line(b, &cliffs[k]);
    return textbuf_check(b, d);
}

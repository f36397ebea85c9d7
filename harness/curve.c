/*
 * curve.c - see curve.h.
 */
#include "curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CASE_PREFIX   "curve_"
#define EVENT_STEP_US 0.032 /* resolution of CUDA events on current devices */

static enum status no_memory(struct diag *d)
{
    return diag_set(d, STATUS_NOMEM, "out of memory for a curve");
}

/* "n" of "curve_n_1024"; NULL for another name. */
static const char *family_of(struct arena *a, const struct casedef *c)
{
    const size_t skip = strlen(CASE_PREFIX);
    const char *end;

    if (!casedef_has_tag(c, "curve") || strncmp(c->name, CASE_PREFIX, skip) != 0)
        return NULL;
    end = strchr(c->name + skip, '_');
    return end == NULL ? NULL : arena_strndup(a, c->name + skip, (size_t)(end - c->name) - skip);
}

static const struct timing *timing_of(const struct solution_result *s, const char *case_name)
{
    for (unsigned k = 0; k < s->case_count; k++)
        if (strcmp(s->cases[k].casedef->name, case_name) == 0)
            return s->cases[k].timing != NULL && s->cases[k].timing->cold_n > 0 ? s->cases[k].timing
                                                                                : NULL;
    return NULL;
}

static bool same_problem(const struct solution_result *s, const struct problem *p)
{
    return strcmp(s->problem->name, p->name) == 0;
}

double curve_x(const struct curve *c, unsigned point) { return c->points[point]->scalar[c->axis]; }

static bool varies(const struct curve *c, unsigned param)
{
    for (unsigned i = 1; i < c->point_count; i++)
        if (c->points[i]->scalar[param] != c->points[0]->scalar[param])
            return true;
    return false;
}

static bool equal_everywhere(const struct curve *c, unsigned x, unsigned y)
{
    for (unsigned i = 0; i < c->point_count; i++)
        if (c->points[i]->scalar[x] != c->points[i]->scalar[y])
            return false;
    return true;
}

/* The scalar that varies, and in words what the others do. */
static enum status find_axis(struct curve *c, struct arena *a, struct diag *d)
{
    const struct problem *p = c->problem;
    const char *text = "";
    bool found = false;

    for (unsigned i = 0; i < p->param_count; i++) {
        const char *comma = text[0] != '\0' ? ", " : "";

        if (!p->params[i].scalar)
            continue;
        if (!varies(c, i)) {
            text = arena_printf(a, "%s%s%s = %.9g", text, comma, p->params[i].name,
                                c->points[0]->scalar[i]);
        } else if (!found) {
            c->axis = i;
            c->even = dtype_is_float(p->params[i].dtype);
            found = true;
        } else if (equal_everywhere(c, c->axis, i)) {
            text = arena_printf(a, "%s%s%s = %s", text, comma, p->params[i].name,
                                p->params[c->axis].name);
        } else {
            text = arena_printf(a, "%s%s%s + %s = %.9g", text, comma, p->params[c->axis].name,
                                p->params[i].name,
                                c->points[0]->scalar[c->axis] + c->points[0]->scalar[i]);
        }
        if (text == NULL)
            return no_memory(d);
    }
    c->fixed = text;
    return found ? STATUS_OK
                 : diag_set(d, STATUS_BAD_DATA, "problem '%s': curve '%s' has one point only",
                            p->name, c->family);
}

/* Insertion by the axis: families are short, and in order already as a rule. */
static void sort_points(struct curve *c)
{
    for (unsigned i = 1; i < c->point_count; i++) {
        const struct casedef *point = c->points[i];
        unsigned k = i;

        for (; k > 0 && c->points[k - 1]->scalar[c->axis] > point->scalar[c->axis]; k--)
            c->points[k] = c->points[k - 1];
        c->points[k] = point;
    }
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Linear between the two nearest samples. */
static double quantile(const double *sorted, unsigned n, double q)
{
    const double at = q * (n - 1);
    const unsigned below = (unsigned)at;
    const double part = at - below;

    return below + 1 < n ? sorted[below] + part * (sorted[below + 1] - sorted[below])
                         : sorted[n - 1];
}

static enum status fill_line(struct curve *c, struct curve_line *line, double *floor_us,
                             struct arena *a, const struct solution_result *s, struct diag *d)
{
    struct summary *summary = arena_array(a, c->point_count, sizeof *summary);
    double *low = arena_array(a, c->point_count, sizeof *low);
    double *high = arena_array(a, c->point_count, sizeof *high);

    if (summary == NULL || low == NULL || high == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < c->point_count; i++) {
        const struct timing *t = timing_of(s, c->points[i]->name);
        double *sorted;

        if (t == NULL)
            continue;
        sorted = arena_array(a, t->cold_n, sizeof *sorted);
        if (sorted == NULL)
            return no_memory(d);
        memcpy(sorted, t->cold_us, t->cold_n * sizeof *sorted);
        qsort(sorted, t->cold_n, sizeof *sorted, compare_doubles);
        summary[i] = stats_summary(t->cold_us, t->cold_n, EVENT_STEP_US);
        low[i] = quantile(sorted, t->cold_n, 0.25);
        high[i] = quantile(sorted, t->cold_n, 0.75);
        if (t->floor_us > floor_us[i])
            floor_us[i] = t->floor_us;
    }
    *line = (struct curve_line){.solution = s, .summary = summary, .low = low, .high = high};
    return STATUS_OK;
}

static bool has_times(const struct curve *c, const struct solution_result *s)
{
    for (unsigned i = 0; i < c->point_count; i++)
        if (timing_of(s, c->points[i]->name) != NULL)
            return true;
    return false;
}

static enum status fill_curve(struct curve *c, struct arena *a, const struct results *r,
                              struct diag *d)
{
    double *floor_us = arena_array(a, c->point_count, sizeof *floor_us);

    c->lines = arena_array(a, (size_t)r->solution_count + 1, sizeof *c->lines);
    if (c->lines == NULL || floor_us == NULL)
        return no_memory(d);
    TRY(find_axis(c, a, d));
    sort_points(c);
    for (unsigned i = 0; i < r->solution_count; i++)
        if (same_problem(&r->solutions[i], c->problem) && has_times(c, &r->solutions[i]))
            TRY(fill_line(c, &c->lines[c->line_count++], floor_us, a, &r->solutions[i], d));
    c->floor_us = floor_us;
    return STATUS_OK;
}

enum status curve_list(struct curve **out, unsigned *count, struct arena *a,
                       const struct results *r, const struct problem *p, struct diag *d)
{
    struct curve *curves = arena_array(a, (size_t)p->case_count + 1, sizeof *curves);
    unsigned n = 0, kept = 0;

    if (curves == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < p->case_count; i++) {
        const char *family = family_of(a, &p->cases[i]);
        unsigned k = 0;

        if (family == NULL)
            continue;
        while (k < n && strcmp(curves[k].family, family) != 0)
            k++;
        if (k == n) {
            curves[n] = (struct curve){.problem = p, .family = family, .fixed = ""};
            curves[n].points = arena_array(a, p->case_count, sizeof *curves[n].points);
            if (curves[n++].points == NULL)
                return no_memory(d);
        }
        curves[k].points[curves[k].point_count++] = &p->cases[i];
    }
    for (unsigned k = 0; k < n; k++) {
        TRY(fill_curve(&curves[k], a, r, d));
        if (curves[k].line_count > 0)
            curves[kept++] = curves[k];
    }
    *out = curves;
    *count = kept;
    return STATUS_OK;
}

/* ---- cliffs ---- */

/* How much a line grows from the point before to this one; 0 where either is missing. */
static double growth(const struct curve_line *line, unsigned point)
{
    const struct summary *from = &line->summary[point - 1], *to = &line->summary[point];

    return from->n > 0 && to->n > 0 && from->median > 0.0 ? to->median / from->median : 0.0;
}

static bool is_baseline(const struct curve_line *line)
{
    return line->solution->solution->kind == SOLUTION_BASELINE;
}

static void steepest_baseline(const struct curve *c, unsigned point, struct curve_cliff *cliff)
{
    for (unsigned i = 0; i < c->line_count; i++) {
        const double g = is_baseline(&c->lines[i]) ? growth(&c->lines[i], point) : 0.0;

        if (g > cliff->yardstick) {
            cliff->yardstick = g;
            cliff->compared = &c->lines[i];
        }
    }
    if (cliff->compared == NULL)
        cliff->yardstick = c->floor_us[point - 1] > 0.0
                               ? c->floor_us[point] / c->floor_us[point - 1]
                               : curve_x(c, point) / curve_x(c, point - 1);
    cliff->yardstick = fmax(cliff->yardstick, 1.0); /* a peer that gets faster sets no standard */
}

static bool is_cliff(const struct curve_cliff *cliff)
{
    const double from = cliff->line->summary[cliff->point - 1].median;
    const double to = cliff->line->summary[cliff->point].median;

    return cliff->growth > CURVE_CLIFF * cliff->yardstick &&
           to - from * cliff->yardstick > CURVE_LEAST_US;
}

enum status curve_cliffs(struct curve_cliff **out, unsigned *count, struct arena *a,
                         const struct curve *curves, unsigned curve_count, struct diag *d)
{
    size_t most = 1;
    struct curve_cliff *list;
    unsigned n = 0;

    for (unsigned k = 0; k < curve_count; k++)
        most += (size_t)curves[k].line_count * curves[k].point_count;
    list = arena_array(a, most, sizeof *list);
    if (list == NULL)
        return no_memory(d);
    for (unsigned k = 0; k < curve_count; k++)
        for (unsigned i = 0; i < curves[k].line_count; i++)
            for (unsigned point = 1; point < curves[k].point_count; point++) {
                struct curve_cliff cliff = {.curve = &curves[k],
                                            .line = &curves[k].lines[i],
                                            .point = point,
                                            .growth = growth(&curves[k].lines[i], point)};

                if (is_baseline(cliff.line))
                    continue;
                steepest_baseline(&curves[k], point, &cliff);
                if (is_cliff(&cliff))
                    list[n++] = cliff;
            }
    *out = list;
    *count = n;
    return STATUS_OK;
}

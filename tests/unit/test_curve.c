/*
 * test_curve.c - families and their axes, quartiles, cliffs, and the picture.
 * The results are made up here; speeds mean nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_curve.h"

#include <stdlib.h>
#include <string.h>

#define SAMPLES 5u

struct fixture {
    struct arena a;
    struct problem p;
    struct casedef cases[16];
    struct solution solutions[4];
    struct solution_result results[4];
    struct results r;
    struct curve *curves;
    unsigned count;
    struct textbuf b;
    struct diag d;
};

static const char *const curve_tags[] = {"curve", NULL}, *const perf_tags[] = {"perf", NULL};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    f->p = (struct problem){
        .name = "merge",
        .title = "Merge <fast>",
        .param_count = 4,
        .cases = f->cases,
        .params = {{.name = "A", .dir = DIR_IN, .dtype = DTYPE_F32},
                   {.name = "M", .dir = DIR_IN, .dtype = DTYPE_I32, .scalar = true},
                   {.name = "N", .dir = DIR_IN, .dtype = DTYPE_I32, .scalar = true},
                   {.name = "gamma", .dir = DIR_IN, .dtype = DTYPE_F32, .scalar = true}}};
    f->r = (struct results){.solutions = f->results};
    f->r.context = (struct run_context){.backend = "gpu", .start = "2026-01-31T12:00:00Z"};
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    textbuf_fini(&f->b);
    arena_fini(&f->a);
    free(f);
    return 0;
}

static void add_case(struct fixture *f, const char *name, double m, double n, double gamma)
{
    struct casedef *c = &f->cases[f->p.case_count++];

    *c = (struct casedef){.name = name, .tags = curve_tags, .note = "", .key = ""};
    c->scalar[1] = m;
    c->scalar[2] = n;
    c->scalar[3] = gamma;
}

/* Adds a solution whose times at the cases in order are `us`; 0 = not timed there. */
static void add_line(struct fixture *f, const char *name, enum solution_kind kind, const double *us)
{
    struct solution *s = &f->solutions[f->r.solution_count];
    struct solution_result *out = &f->results[f->r.solution_count++];

    *s = (struct solution){.problem = "merge", .name = name, .kind = kind, .idea = ""};
    *out = (struct solution_result){.problem = &f->p, .solution = s, .case_count = f->p.case_count};
    out->cases = arena_array(&f->a, f->p.case_count, sizeof *out->cases);
    assert_non_null(out->cases);
    for (unsigned i = 0; i < f->p.case_count; i++) {
        struct timing *t = arena_alloc(&f->a, sizeof *t);
        double *samples = arena_array(&f->a, SAMPLES, sizeof *samples);

        out->cases[i].casedef = &f->cases[i];
        if (us[i] <= 0.0)
            continue;
        assert_non_null(t);
        assert_non_null(samples);
        for (unsigned k = 0; k < SAMPLES; k++) /* 0, 2, 4, 1, 3 per cent above: not sorted */
            samples[k] = us[i] * (1.0 + 0.01 * (2 * k % SAMPLES));
        *t = (struct timing){.cold_us = samples, .cold_n = SAMPLES, .floor_us = us[i] / 2.0};
        out->cases[i].timing = t;
    }
}

static void list(struct fixture *f)
{
    if (curve_list(&f->curves, &f->count, &f->a, &f->r, &f->p, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
}

/* Sizes double, shares of a fixed sum, a float, and a case that is no curve. */
static void families(struct fixture *f)
{
    add_case(f, "curve_m_4096", 4096, 4096, 1);
    add_case(f, "curve_m_1024", 1024, 1024, 1);
    add_case(f, "curve_m_2048", 2048, 2048, 1);
    add_case(f, "curve_share_10", 10, 90, 1);
    add_case(f, "curve_share_50", 50, 50, 1);
    add_case(f, "curve_gamma_0.5", 7, 9, 0.5);
    add_case(f, "curve_gamma_1", 7, 9, 1);
    add_case(f, "perf_m_8192", 8192, 8192, 1);
    f->cases[7].tags = perf_tags;
}

static void families_have_one_axis(void **state)
{
    static const double us[] = {40, 10, 20, 5, 5, 3, 3, 80};
    struct fixture *f = *state;

    families(f);
    add_line(f, "mine", SOLUTION_ACCEPT, us);
    list(f);
    assert_int_equal(f->count, 3);
    assert_string_equal(f->curves[0].family, "m");
    assert_string_equal(f->curves[0].fixed, "N = M, gamma = 1");
    assert_int_equal(f->curves[0].point_count, 3);
    for (unsigned i = 0; i < 3; i++) { /* in order of size, whatever the order of the manifest */
        assert_true(curve_x(&f->curves[0], i) == 1024.0 * (1 << i));
        assert_true(f->curves[0].lines[0].summary[i].median == 10.0 * (1 << i) * 1.02);
        assert_true(f->curves[0].floor_us[i] == 5.0 * (1 << i));
    }
    assert_true(f->curves[0].lines[0].low[0] == 10.0 * 1.01);
    assert_true(f->curves[0].lines[0].high[0] == 10.0 * 1.03);
    assert_false(f->curves[0].even);
    assert_string_equal(f->curves[1].fixed, "M + N = 100, gamma = 1");
    assert_string_equal(f->curves[2].fixed, "M = 7, N = 9");
    assert_int_equal(f->curves[2].axis, 3);
    assert_true(f->curves[2].even);
}

static void untimed_families_are_left_out(void **state)
{
    static const double us[] = {0, 0, 0, 0, 0, 3, 0, 80};
    struct fixture *f = *state;

    families(f);
    add_line(f, "mine", SOLUTION_ACCEPT, us);
    list(f);
    assert_int_equal(f->count, 1);
    assert_string_equal(f->curves[0].family, "gamma");
    assert_int_equal(f->curves[0].lines[0].summary[0].n, SAMPLES);
    assert_int_equal(f->curves[0].lines[0].summary[1].n, 0);
}

static unsigned cliffs_of(struct fixture *f, const double *mine, const double *library,
                          struct curve_cliff **cliffs)
{
    unsigned count;

    add_case(f, "curve_m_1024", 1024, 1024, 1);
    add_case(f, "curve_m_2048", 2048, 2048, 1);
    add_case(f, "curve_m_4096", 4096, 4096, 1);
    add_line(f, "mine", SOLUTION_ACCEPT, mine);
    if (library != NULL)
        add_line(f, "baselines/library", SOLUTION_BASELINE, library);
    list(f);
    if (curve_cliffs(cliffs, &count, &f->a, f->curves, f->count, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
    return count;
}

static void a_step_beyond_the_baseline_is_a_cliff(void **state)
{
    static const double mine[] = {10, 27, 30}, library[] = {20, 40, 80};
    struct fixture *f = *state;
    struct curve_cliff *cliffs;

    assert_int_equal(cliffs_of(f, mine, library, &cliffs), 1); /* 2.7 against 2.0 */
    assert_int_equal(cliffs[0].point, 1);
    assert_string_equal(cliffs[0].line->solution->solution->name, "mine");
    assert_string_equal(cliffs[0].compared->solution->solution->name, "baselines/library");
    assert_true(cliffs[0].growth > 2.69 && cliffs[0].growth < 2.71);
}

static void what_a_baseline_does_too_is_none(void **state)
{
    static const double mine[] = {10, 25, 60}, library[] = {20, 40, 80};
    struct fixture *f = *state;
    struct curve_cliff *cliffs;

    assert_int_equal(cliffs_of(f, mine, library, &cliffs), 0); /* 2.5 and 2.4 against 2.0 */
}

static void a_step_below_a_microsecond_is_none(void **state)
{
    static const double mine[] = {2.0, 2.9, 2.9}, library[] = {20, 20, 20};
    struct fixture *f = *state;
    struct curve_cliff *cliffs;

    assert_int_equal(cliffs_of(f, mine, library, &cliffs), 0);
}

/* Without a baseline the floor stands for it; here the floors are half of the times of `mine`. */
static void without_a_baseline_the_floor_counts(void **state)
{
    static const double mine[] = {10, 100, 1000};
    struct fixture *f = *state;
    struct curve_cliff *cliffs;

    assert_int_equal(cliffs_of(f, mine, NULL, &cliffs), 0);
    f->results[0].cases[1].timing->floor_us = 6.0;
    list(f);
    {
        unsigned count;

        assert_int_equal(curve_cliffs(&cliffs, &count, &f->a, f->curves, f->count, &f->d),
                         STATUS_OK);
        assert_int_equal(count, 1);
        assert_null(cliffs[0].compared);
        assert_true(cliffs[0].yardstick > 1.19 && cliffs[0].yardstick < 1.21);
    }
}

static void the_picture_shows_every_line(void **state)
{
    static const double mine[] = {10, 27, 0}, library[] = {20, 40, 80};
    struct fixture *f = *state;
    struct curve_cliff *cliffs;
    const char *at;
    unsigned moves = 0;

    (void)cliffs_of(f, mine, library, &cliffs);
    report_curve_svg(&f->b, &f->r.context, &f->curves[0]);
    assert_false(f->b.failed);
    assert_non_null(strstr(f->b.text, "Merge &lt;fast&gt;: time against M, N = M, gamma = 1"));
    assert_non_null(strstr(f->b.text, "<title>mine</title>"));
    assert_non_null(strstr(f->b.text, "<title>library</title>"));
    assert_non_null(strstr(f->b.text, ">2048</text>"));
    at = strstr(f->b.text, "<title>library</title>");
    while (at > f->b.text && strncmp(at, " d=\"", 4) != 0)
        at--;
    for (; *at != '>'; at++)
        moves += *at == 'M' || *at == 'L';
    assert_int_equal(moves, 3);
    assert_null(strstr(f->b.text, "nan"));
    assert_null(strstr(f->b.text, "inf"));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(families_have_one_axis),
                                       CASE(untimed_families_are_left_out),
                                       CASE(a_step_beyond_the_baseline_is_a_cliff),
                                       CASE(what_a_baseline_does_too_is_none),
                                       CASE(a_step_below_a_microsecond_is_none),
                                       CASE(without_a_baseline_the_floor_counts),
                                       CASE(the_picture_shows_every_line)};

    return cmocka_run_group_tests_name("curve", tests, NULL, NULL);
}

/*
 * test_bench.c - the rules of timing on numbers, and whole runs on the stand-in's clock: what is
 * timed, what is flagged, what loses its times. Speeds mean nothing here.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "double_problem.h"

#include <stdlib.h>
#include <string.h>

/* ---- rules ---- */

static struct device_facts h200(void)
{
    return (struct device_facts){.e0_us = 2.6,
                                 .read_tbs = 4.6,
                                 .copy_tbs = 4.3,
                                 .memory_clock_mhz = 3201,
                                 .bus_bits = 6144,
                                 .memory_bytes = UINT64_C(1) << 37};
}

static void floors(void **state)
{
    const struct device_facts f = h200();
    struct casedef c = {.traffic_read = 2e8, .traffic_write = 400};

    (void)state;
    assert_true(bench_floor_us(&c, &f) > 46.0 && bench_floor_us(&c, &f) < 46.2); /* read rate */
    c.traffic_write = 2e8;
    assert_true(bench_floor_us(&c, &f) > 95.5 && bench_floor_us(&c, &f) < 95.8); /* copy rate */
    assert_true(bench_floor_us(&c, &(struct device_facts){.e0_us = 2.0}) == 0.0);
}

static void impossible_times(void **state)
{
    const struct device_facts f = h200();
    const struct casedef c = {.traffic_read = 2e8};

    (void)state;
    assert_true(bench_impossible(40.0, &c, &f)); /* 200 MB at 4.9 TB/s take 40.7 us */
    assert_false(bench_impossible(41.0, &c, &f));
    assert_true(bench_impossible(2.3, &(struct casedef){.traffic_read = 8}, &f));
    assert_false(bench_impossible(2.4, &(struct casedef){.traffic_read = 8}, &f));
}

static void second_clock(void **state)
{
    (void)state;
    assert_true(bench_clock_contradicts(100.0, 99.0)); /* claims more than passed */
    assert_false(bench_clock_contradicts(100.0, 101.0));
    assert_false(bench_clock_contradicts(1000.0, 2400.0));
    assert_true(bench_clock_contradicts(1000.0, 2600.0)); /* claims far less than passed */
}

static void late_looks_are_no_spills(void **state)
{
    (void)state;
    assert_true(bench_spilled(20.0, 6.0));
    assert_true(bench_spilled(1000.0, 500.0)); /* half of the work on another stream */
    assert_false(bench_spilled(1000.0, 9.0));
    assert_false(bench_spilled(5000.0, 40.0));
    assert_false(bench_spilled(20.0, 0.0));
}

static void hot_batches_span_a_millisecond(void **state)
{
    (void)state;
    assert_int_equal(bench_hot_repeats(100.0), 10);
    assert_int_equal(bench_hot_repeats(300.0), 4);
    assert_int_equal(bench_hot_repeats(5000.0), 2);
    assert_int_equal(bench_hot_repeats(0.001), 20000);
    assert_int_equal(bench_hot_repeats(0.0), 2);
}

static struct timing conclude(double us, const struct casedef *c, const struct bench_seen *seen)
{
    static double samples[60];
    const struct device_facts f = h200();
    struct timing t = {.cold_us = samples, .cold_n = 60};

    for (int i = 0; i < 60; i++)
        samples[i] = us * (1.0 + 1e-4 * (i % 7));
    bench_conclude(&t, c, &f, seen, 0.032);
    return t;
}

static void flags_and_ranks(void **state)
{
    const struct casedef big = {.traffic_read = 2e8}, tiny = {.traffic_read = 40};
    struct timing t;

    (void)state;
    t = conclude(60.0, &big, &(struct bench_seen){0});
    assert_string_equal(t.flags, "");
    assert_true(t.ranked);
    t = conclude(
        60.0, &big,
        &(struct bench_seen){.spills = 11, .samples = 50, .allocates = true, .throttled = true});
    assert_string_equal(t.flags, "SAT");
    assert_true(t.ranked);
    t = conclude(30.0, &big, &(struct bench_seen){0});
    assert_string_equal(t.flags, "X");
    assert_false(t.ranked);
    t = conclude(60.0, &big, &(struct bench_seen){.hot_samples = 5, .contradicted = 3});
    assert_string_equal(t.flags, "C");
    assert_false(t.ranked);
    t = conclude(60.0, &big, &(struct bench_seen){.hot_samples = 5, .contradicted = 2});
    assert_string_equal(t.flags, "");
    assert_true(t.ranked);
    t = conclude(4.0, &tiny, &(struct bench_seen){0});
    assert_string_equal(t.flags, "L");
    assert_false(t.ranked);
    assert_string_equal(t.unranked_reason, "latency only: shown, not ranked");
}

/* ---- runs ---- */

struct run {
    struct fixture *f;
    struct results results;
    struct bench_options o;
};

static int set_up(void **state)
{
    static const char *const edge[] = {"edge", NULL}, *const perf[] = {"perf", NULL};
    struct run *r = calloc(1, sizeof *r);

    if (r == NULL)
        return -1;
    r->f = double_open();
    double_case(r->f, "edge_100", 100, edge);
    double_case(r->f, "perf_20000", 20000, perf);
    r->f->defs[1].traffic_read = r->f->defs[1].traffic_write = 80000;
    r->o = (struct bench_options){
        .judging = &r->f->o,
        .stop = {.min_samples = 20, .max_samples = 30, .se_target = 0.5, .budget_s = 60.0},
        .rounds = 4,
        .hot = true,
        .tag = "perf"};
    *state = r;
    return 0;
}

static int tear_down(void **state)
{
    struct run *r = *state;

    double_close(r->f);
    free(r);
    return 0;
}

/* Judges the named solutions and times them together. */
static void bench(struct run *r, const char *const *names, unsigned count)
{
    struct fixture *f = r->f;

    r->results.solutions = arena_array(&f->a, count, sizeof *r->results.solutions);
    r->results.solution_count = count;
    for (unsigned i = 0; i < count; i++) {
        struct solution *s = arena_alloc(&f->a, sizeof *s);

        double_judge(f, names[i], SOLUTION_ACCEPT);
        *s = f->s;
        r->results.solutions[i] = f->r;
        r->results.solutions[i].solution = s;
    }
    if (bench_run(&r->results, &f->a, &r->o, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
}

static void accepted_solutions_are_timed_at_perf_cases(void **state)
{
    static const char *const names[] = {"correct", "churn_memory"};
    struct run *r = *state;

    bench(r, names, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct solution_result *s = &r->results.solutions[i];

        if (s->verdict != VERDICT_AC)
            fail_msg("%s: %s", names[i], s->cases[1].reason);
        assert_null(s->cases[0].timing);
        assert_non_null(s->cases[1].timing);
        assert_in_range(s->cases[1].timing->cold_n, 20, 30);
        assert_int_equal(s->cases[1].timing->hot_n, 8);
        assert_true(s->cases[1].timing->cold.median > 0.0);
    }
    assert_null(strchr(r->results.solutions[0].cases[1].timing->flags, 'A'));
    assert_non_null(strchr(r->results.solutions[1].cases[1].timing->flags, 'A'));
    assert_true(r->results.context.device.read_tbs == 0.0); /* not a GPU: nothing was measured */
    assert_string_equal(r->results.context.clocks, "unknown");
}

/* A curve: only its own cases, cold, and as many samples as a point takes. */
static void a_curve_is_timed_by_its_tag(void **state)
{
    static const char *const names[] = {"correct", "churn_memory"}, *const tag[] = {"curve", NULL};
    struct run *r = *state;

    double_case(r->f, "curve_n_1000", 1000, tag);
    double_case(r->f, "curve_n_2000", 2000, tag);
    r->o.tag = "curve";
    r->o.hot = false;
    r->o.stop.min_samples = r->o.stop.max_samples = 15;
    r->o.rounds = 3;
    bench(r, names, 2);
    for (unsigned i = 0; i < 2; i++) {
        const struct solution_result *s = &r->results.solutions[i];

        assert_int_equal(s->verdict, VERDICT_AC);
        assert_null(s->cases[0].timing);
        assert_null(s->cases[1].timing);
        for (unsigned k = 2; k < 4; k++) {
            assert_int_equal(s->cases[k].timing->cold_n, 15);
            assert_int_equal(s->cases[k].timing->hot_n, 0);
        }
    }
}

static void refused_solutions_are_not_timed(void **state)
{
    static const char *const names[] = {"unwritten", "correct"};
    struct run *r = *state;

    bench(r, names, 2);
    assert_int_equal(r->results.solutions[0].verdict, VERDICT_WA);
    assert_null(r->results.solutions[0].cases[1].timing);
    assert_non_null(r->results.solutions[1].cases[1].timing);
}

/* Right for the calls of the judgement, wrong afterwards: the times are taken away. */
static void a_wrong_timed_output_takes_the_times_away(void **state)
{
    static const char *const names[] = {"drift", "correct"};
    struct run *r = *state;

    bench(r, names, 2);
    assert_int_equal(r->results.solutions[0].verdict, VERDICT_WA);
    assert_null(r->results.solutions[0].cases[1].timing);
    assert_non_null(strstr(r->results.solutions[0].cases[1].reason, "timed call "));
    assert_non_null(r->results.solutions[1].cases[1].timing);
}

/* The same where the output is so large that only its digest comes. */
static struct case_result *drift_at_a_large_case(struct run *r, bool hot)
{
    static const char *const names[] = {"drift", "correct"};
    static const char *const edge[] = {"edge", NULL}, *const perf[] = {"perf", NULL};

    double_case(r->f, "perf_large", 300000, perf);
    r->f->defs[1].tags = edge;
    r->o.stop =
        (struct stop_rule){.min_samples = 8, .max_samples = 8, .se_target = 0.5, .budget_s = 60.0};
    r->o.rounds = hot ? 2 : 1; /* the only child is a new one in each round */
    r->o.hot = hot;
    bench(r, names, 2);
    if (r->results.solutions[1].verdict != VERDICT_AC)
        fail_msg("%s", r->results.solutions[1].cases[2].reason);
    assert_int_equal(r->results.solutions[1].cases[2].timing->cold_n, 8);
    assert_int_equal(r->results.solutions[1].cases[2].timing->hot_n, hot ? 4 : 0);
    assert_int_equal(r->results.solutions[0].cases[2].verdict, VERDICT_WA);
    assert_null(r->results.solutions[0].cases[2].timing);
    return &r->results.solutions[0].cases[2];
}

static void a_wrong_digest_is_looked_at_closer(void **state)
{
    const struct case_result *c = drift_at_a_large_case(*state, false);

    assert_non_null(strstr(c->reason, "output[299999] = "));
    assert_non_null(strstr(c->reason, ", want 149993.5; 1 of 300000 differ"));
    assert_int_equal(c->mismatch.first, 299999);
}

static void a_wrong_digest_in_a_batch_is_seen(void **state)
{
    assert_non_null(strstr(drift_at_a_large_case(*state, true)->reason,
                           "output of a call in a batch is wrong"));
}

static void graphs_are_timed_where_they_can_be_captured(void **state)
{
    static const char *const names[] = {"correct"};
    struct run *r = *state;

    r->o.graph = true;
    bench(r, names, 1);
    if (r->results.solutions[0].verdict != VERDICT_AC)
        fail_msg("%s", r->results.solutions[0].cases[1].reason);
    /* plain C work on the host does not get into a graph: "-" on the board */
    assert_true(r->results.solutions[0].cases[1].timing->graph_us == 0.0);
}

static void an_interrupt_ends_it(void **state)
{
    static const char *const names[] = {"correct"};
    static volatile sig_atomic_t stop;
    struct run *r = *state;

    stop = 0;
    double_judge(r->f, names[0], SOLUTION_ACCEPT);
    r->results.solutions = &r->f->r;
    r->results.solution_count = 1;
    stop = 1;
    r->f->o.stop = &stop;
    assert_int_equal(bench_run(&r->results, &r->f->a, &r->o, &r->f->d), STATUS_IO);
    assert_string_equal(r->f->d.text, "interrupted");
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(floors),
                                       cmocka_unit_test(impossible_times),
                                       cmocka_unit_test(second_clock),
                                       cmocka_unit_test(late_looks_are_no_spills),
                                       cmocka_unit_test(hot_batches_span_a_millisecond),
                                       cmocka_unit_test(flags_and_ranks),
                                       CASE(accepted_solutions_are_timed_at_perf_cases),
                                       CASE(a_curve_is_timed_by_its_tag),
                                       CASE(refused_solutions_are_not_timed),
                                       CASE(a_wrong_timed_output_takes_the_times_away),
                                       CASE(a_wrong_digest_is_looked_at_closer),
                                       CASE(a_wrong_digest_in_a_batch_is_seen),
                                       CASE(graphs_are_timed_where_they_can_be_captured),
                                       CASE(an_interrupt_ends_it)};

    return cmocka_run_group_tests_name("bench", tests, NULL, NULL);
}

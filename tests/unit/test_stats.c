/*
 * test_stats.c - medians, noise, flags and the stop rule, on samples whose answers are known.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "stats.h"

#include <math.h>

static double uniform(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)*state / 4294967296.0;
}

static void test_median(void **state)
{
    const double odd[] = {3, 1, 2}, even[] = {4, 1, 3, 2}, one[] = {7};

    (void)state;
    assert_true(stats_median(odd, 3) == 2.0);
    assert_true(stats_median(even, 4) == 2.5);
    assert_true(stats_median(one, 1) == 7.0);
    assert_true(odd[0] == 3); /* not modified */
}

static void test_known_summary(void **state)
{
    const double samples[] = {10, 12, 11, 9, 13};
    const struct summary s = stats_summary(samples, 5, 0.0);

    (void)state;
    assert_true(s.median == 11.0 && s.mad == 1.0 && s.min == 9.0 && s.max == 13.0 && s.n == 5);
    assert_true(fabs(s.noise - 1.4826 / 11.0) < 1e-12);
    assert_true(fabs(s.se - 1.2533 * s.noise / sqrt(5.0)) < 1e-12);
    assert_false(s.drift || s.two_modes);
}

static void test_one_outlier_changes_little(void **state)
{
    const double samples[] = {10, 10, 10, 10, 10, 10, 10, 10, 10, 1e9};

    (void)state;
    assert_true(stats_summary(samples, 10, 0.0).median == 10.0);
}

static void test_event_step_is_a_floor_of_the_error(void **state)
{
    const double samples[] = {10, 10, 10, 10};
    const struct summary s = stats_summary(samples, 4, 0.5);

    (void)state;
    assert_true(s.noise == 0.0);
    assert_true(fabs(s.se - 0.025) < 1e-12);
}

static void test_order_and_scale(void **state)
{
    double a[64], b[64], c[64];
    uint32_t random = 7;
    struct summary sa, sb, sc;

    (void)state;
    for (int i = 0; i < 64; i++) {
        a[i] = 100.0 + uniform(&random);
        b[63 - i] = a[i];
        c[i] = 8.0 * a[i];
    }
    sa = stats_summary(a, 64, 0.0);
    sb = stats_summary(b, 64, 0.0);
    sc = stats_summary(c, 64, 0.0);
    assert_true(sa.median == sb.median && sa.mad == sb.mad);
    assert_true(sc.median == 8.0 * sa.median && fabs(sc.se - sa.se) < 1e-12);
}

static void test_drift(void **state)
{
    double rising[80], flat[80], noisy[80];
    uint32_t random = 3;

    (void)state;
    for (int i = 0; i < 80; i++) {
        const double u = uniform(&random);
        rising[i] = 100.0 + 0.05 * i + 0.1 * u; /* 3 % from head to tail */
        flat[i] = 100.0 + 0.1 * u;
        noisy[i] = 100.0 + 20.0 * u; /* quarters differ by chance, within the noise */
    }
    assert_true(stats_summary(rising, 80, 0.0).drift);
    assert_false(stats_summary(flat, 80, 0.0).drift);
    assert_false(stats_summary(noisy, 80, 0.0).drift);
}

static void test_two_modes(void **state)
{
    double two[50], few[50], wide[50];
    uint32_t random = 5;

    (void)state;
    for (int i = 0; i < 50; i++) {
        const double u = uniform(&random);
        two[i] = (i % 3 == 0 ? 120.0 : 100.0) + u;
        few[i] = (i % 10 == 0 ? 120.0 : 100.0) + u; /* 10 %: outliers, not a mode */
        wide[i] = 100.0 + 20.0 * u;
    }
    assert_true(stats_summary(two, 50, 0.0).two_modes);
    assert_false(stats_summary(few, 50, 0.0).two_modes);
    assert_false(stats_summary(wide, 50, 0.0).two_modes);
}

static void test_clock_steps_are_no_modes(void **state)
{
    double samples[60];

    (void)state;
    for (int i = 0; i < 60; i++) /* 2.5 us kernels on a clock of 0.032 us: two readings */
        samples[i] = i % 2 ? 2.528 : 2.560;
    assert_false(stats_summary(samples, 60, 0.032).two_modes);
}

static void test_stop_rule(void **state)
{
    const struct stop_rule rule = {
        .min_samples = 50, .max_samples = 300, .se_target = 0.0025, .budget_s = 3.0};
    struct summary s = {.n = 49, .se = 0.0001};

    (void)state;
    assert_false(stats_enough(&rule, &s, 0.1)); /* precise, but too few */
    s.n = 50;
    assert_true(stats_enough(&rule, &s, 0.1));
    s.se = 0.01;
    assert_false(stats_enough(&rule, &s, 0.1)); /* enough, but not precise */
    assert_true(stats_enough(&rule, &s, 3.0));  /* time is up */
    s.n = 300;
    assert_true(stats_enough(&rule, &s, 0.1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_median),
        cmocka_unit_test(test_known_summary),
        cmocka_unit_test(test_one_outlier_changes_little),
        cmocka_unit_test(test_event_step_is_a_floor_of_the_error),
        cmocka_unit_test(test_order_and_scale),
        cmocka_unit_test(test_drift),
        cmocka_unit_test(test_two_modes),
        cmocka_unit_test(test_clock_steps_are_no_modes),
        cmocka_unit_test(test_stop_rule),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_draw.c - exponents stay in range, do not repeat, and depend on seed, problem and case only.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "draw.h"

static struct problem two_groups = {.name = "p", .group_count = 2};

static void output_exponents_do_not_repeat_within_eight_calls(void **state)
{
    struct casedef c = {.name = "c", .exp_lo = {-16, -3}, .exp_hi = {16, 3}};
    int sums[1000];
    struct draw d;

    (void)state;
    draw_open(&d, 1, "p", "c");
    for (int i = 0; i < 1000; i++) {
        int e[PROBLEM_MAX_GROUPS];

        draw_exponents(&d, &two_groups, &c, e);
        assert_in_range(e[0] + 16, 0, 32);
        assert_in_range(e[1] + 3, 0, 6);
        sums[i] = e[0] + e[1];
        for (int k = i - 1; k >= 0 && k >= i - 8; k--)
            assert_int_not_equal(sums[i], sums[k]);
    }
}

static void a_narrow_range_repeats_as_late_as_it_can(void **state)
{
    struct problem p = {.name = "p", .group_count = 1};
    struct casedef c = {.name = "c", .exp_lo = {-2}, .exp_hi = {0}};
    struct draw d;
    int last = 0;

    (void)state;
    draw_open(&d, 7, "p", "c");
    draw_remember(&d, 0); /* call A */
    for (int i = 0; i < 100; i++) {
        int e[PROBLEM_MAX_GROUPS];

        draw_exponents(&d, &p, &c, e);
        assert_int_not_equal(e[0], last);
        last = e[0];
    }
}

static void an_empty_range_repeats_its_data(void **state)
{
    struct problem p = {.name = "p", .group_count = 1};
    struct casedef c = {.name = "c"};
    struct draw d;
    int e[PROBLEM_MAX_GROUPS];

    (void)state;
    draw_open(&d, 7, "p", "c");
    draw_exponents(&d, &p, &c, e);
    assert_int_equal(e[0], 0);
}

static void streams_depend_on_seed_problem_and_case(void **state)
{
    struct draw a, b, c, e, f;

    (void)state;
    draw_open(&a, 1, "p", "c");
    draw_open(&b, 1, "p", "c");
    draw_open(&c, 2, "p", "c");
    draw_open(&e, 1, "q", "c");
    draw_open(&f, 1, "p", "d");
    const uint64_t first = draw_next(&a);
    assert_true(first == draw_next(&b));
    assert_true(first != draw_next(&c));
    assert_true(first != draw_next(&e));
    assert_true(first != draw_next(&f));
}

static void system_seeds_differ(void **state)
{
    struct diag d = {0};
    uint64_t x, y;

    (void)state;
    assert_int_equal(draw_seed(&x, &d), STATUS_OK);
    assert_int_equal(draw_seed(&y, &d), STATUS_OK);
    assert_true(x != y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(output_exponents_do_not_repeat_within_eight_calls),
        cmocka_unit_test(a_narrow_range_repeats_as_late_as_it_can),
        cmocka_unit_test(an_empty_range_repeats_its_data),
        cmocka_unit_test(streams_depend_on_seed_problem_and_case),
        cmocka_unit_test(system_seeds_differ)};

    return cmocka_run_group_tests_name("draw", tests, NULL, NULL);
}

/*
 * test_rank.c - places, ties and ratios.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "rank.h"

#include <math.h>

static void test_places_follow_medians(void **state)
{
    struct rank_entry e[] = {{.median = 30, .se = 1e-4, .ranked = true, .index = 0},
                             {.median = 10, .se = 1e-4, .ranked = true, .index = 1},
                             {.median = 20, .se = 1e-4, .ranked = true, .index = 2}};

    (void)state;
    rank_groups(e, 3, 0.0);
    assert_int_equal(e[0].index, 1);
    assert_int_equal(e[0].place, 1);
    assert_int_equal(e[2].index, 0);
    assert_int_equal(e[2].place, 3);
    assert_false(e[1].tied);
}

static void test_ties_do_not_chain(void **state)
{
    /* each is within the error of its neighbour, the third is not within that of the leader */
    struct rank_entry e[] = {{.median = 100.0, .se = 0.005, .ranked = true, .index = 0},
                             {.median = 101.0, .se = 0.005, .ranked = true, .index = 1},
                             {.median = 102.0, .se = 0.005, .ranked = true, .index = 2}};

    (void)state;
    rank_groups(e, 3, 0.0);
    assert_true(e[1].tied && e[1].place == 1);
    assert_false(e[2].tied);
    assert_int_equal(e[2].place, 3);
}

static void test_one_clock_step_is_a_tie(void **state)
{
    struct rank_entry e[] = {{.median = 2.50, .se = 0.0, .ranked = true},
                             {.median = 2.53, .se = 0.0, .ranked = true}};

    (void)state;
    rank_groups(e, 2, 0.032);
    assert_true(e[1].tied);
    rank_groups(e, 2, 0.01);
    assert_false(e[1].tied);
}

static void test_unranked_have_no_place(void **state)
{
    struct rank_entry e[] = {{.median = 1.0, .ranked = false, .index = 0},
                             {.median = 9.0, .ranked = true, .index = 1}};

    (void)state;
    rank_groups(e, 2, 0.0);
    assert_int_equal(e[0].index, 1);
    assert_int_equal(e[0].place, 1);
    assert_int_equal(e[1].place, 0);
}

static void test_ratio(void **state)
{
    const struct ratio r = rank_ratio(20.0, 0.03, 10.0, 0.04);

    (void)state;
    assert_true(r.value == 2.0 && fabs(r.error - 0.1) < 1e-12);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_places_follow_medians), cmocka_unit_test(test_ties_do_not_chain),
        cmocka_unit_test(test_one_clock_step_is_a_tie),
        cmocka_unit_test(test_unranked_have_no_place), cmocka_unit_test(test_ratio)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

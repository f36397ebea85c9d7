/*
 * test_gate.c - each class of the regression gate, just inside and just outside.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "gate.h"

static enum gate gate_of(double old, double old_se, double new_median, double new_se)
{
    const struct gate_side a = {
        .median = old, .se = old_se, .n = 50, .flags = "", .accepted = true};
    const struct gate_side b = {
        .median = new_median, .se = new_se, .n = 50, .flags = "", .accepted = true};

    return gate_class(&a, &b, 0.01, 50).gate;
}

static void test_classes(void **state)
{
    (void)state;
    assert_int_equal(gate_of(100, 0.0005, 100, 0.0005), GATE_SAME);
    assert_int_equal(gate_of(100, 0.0005, 100.8, 0.0005), GATE_SAME);
    assert_int_equal(gate_of(100, 0.0005, 100.95, 0.0005), GATE_UNCLEAR);
    assert_int_equal(gate_of(100, 0.0005, 101.05, 0.0005), GATE_UNCLEAR);
    assert_int_equal(gate_of(100, 0.0005, 101.5, 0.0005), GATE_SLOWER);
    assert_int_equal(gate_of(100, 0.0005, 98.5, 0.0005), GATE_FASTER);
    assert_int_equal(gate_of(100, 0.05, 110, 0.05), GATE_UNCLEAR); /* noise is no regression */
}

static void test_doubt(void **state)
{
    struct gate_side a = {.median = 100, .se = 1e-4, .n = 50, .flags = "", .accepted = true};
    struct gate_side b = a;

    (void)state;
    b.median = 150;
    assert_int_equal(gate_class(&a, &b, 0.01, 50).gate, GATE_SLOWER);
    b.flags = "SB";
    assert_int_equal(gate_class(&a, &b, 0.01, 50).gate, GATE_UNCLEAR);
    b.flags = "";
    a.flags = "D";
    assert_int_equal(gate_class(&a, &b, 0.01, 50).gate, GATE_UNCLEAR);
    a.flags = "";
    b.n = 49;
    assert_int_equal(gate_class(&a, &b, 0.01, 50).gate, GATE_UNCLEAR);
    assert_string_equal(gate_class(&a, &b, 0.01, 50).why, "too few samples");
}

static void test_lost_verdict(void **state)
{
    const struct gate_side a = {.median = 100, .n = 50, .flags = "", .accepted = true};
    const struct gate_side b = {.median = 0, .n = 0, .flags = "", .accepted = false};
    const struct gate_result r = gate_class(&a, &b, 0.01, 50);

    (void)state;
    assert_int_equal(r.gate, GATE_SLOWER);
    assert_string_equal(r.why, "no longer AC");
    assert_int_equal(gate_class(&b, &a, 0.01, 50).gate, GATE_UNCLEAR);
}

static void test_counts(void **state)
{
    (void)state;
    assert_int_equal(gate_counts(1000, 1000, 0.01).gate, GATE_SAME);
    assert_int_equal(gate_counts(1000, 1010, 0.01).gate, GATE_SAME);
    assert_int_equal(gate_counts(1000, 1011, 0.01).gate, GATE_SLOWER);
    assert_int_equal(gate_counts(1000, 900, 0.01).gate, GATE_FASTER);
    assert_int_equal(gate_counts(0, 0, 0.01).gate, GATE_SAME);
    assert_int_equal(gate_counts(0, 1, 0.01).gate, GATE_SLOWER);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(gate_name(GATE_UNCLEAR), "UNCLEAR");
    assert_string_equal(gate_name(GATE_SLOWER), "SLOWER");
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_classes), cmocka_unit_test(test_doubt),
                                       cmocka_unit_test(test_lost_verdict),
                                       cmocka_unit_test(test_counts), cmocka_unit_test(test_names)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

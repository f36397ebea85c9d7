/*
 * test_verdict.c - the order of verdicts and what @expect accepts.
 */
#include "verdict.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void order_is_the_documented_one(void **state)
{
    static const enum verdict rising[] = {VERDICT_AC,  VERDICT_SK, VERDICT_WA, VERDICT_TLE,
                                          VERDICT_MLE, VERDICT_RE, VERDICT_CE, VERDICT_JE};

    (void)state;
    assert_int_equal(VERDICT_COUNT, sizeof rising / sizeof rising[0]);
    for (unsigned i = 0; i < VERDICT_COUNT; i++)
        for (unsigned j = 0; j < VERDICT_COUNT; j++)
            assert_int_equal(verdict_merge(rising[i], rising[j]), rising[i > j ? i : j]);
}

static void names_parse_back(void **state)
{
    (void)state;
    for (unsigned v = 0; v < VERDICT_COUNT; v++) {
        enum verdict back = VERDICT_COUNT;
        const char *name = verdict_name((enum verdict)v);

        assert_true(verdict_parse(&back, name, strlen(name)));
        assert_int_equal(back, v);
        assert_true(strlen(verdict_meaning((enum verdict)v)) > 20);
    }
}

static void unknown_words_are_refused(void **state)
{
    enum verdict v = VERDICT_JE;

    (void)state;
    assert_false(verdict_parse(&v, "ac", 2));
    assert_false(verdict_parse(&v, "ACE", 3));
    assert_false(verdict_parse(&v, "A", 1));
    assert_false(verdict_parse(&v, "", 0));
    assert_int_equal(v, VERDICT_JE);
}

static void expectations_parse(void **state)
{
    struct expectation e;
    const char *bad;

    (void)state;
    assert_true(expectation_parse(&e, "WA|RE", &bad));
    assert_int_equal(e.set, 1u << VERDICT_WA | 1u << VERDICT_RE);
    assert_string_equal(e.at_case, "");
    assert_true(expectation_parse(&e, "WA@ties_4099", &bad));
    assert_int_equal(e.set, 1u << VERDICT_WA);
    assert_string_equal(e.at_case, "ties_4099");
}

static void bad_expectations_point_at_the_word(void **state)
{
    static const struct {
        const char *text;
        size_t at;
    } rows[] = {{"", 0},      {"WA|", 3},     {"WA|XX", 3}, {"|WA", 0},
                {"WA|WA", 3}, {"WA RE", 0},   {"WA@", 3},   {"WA@Bad Case", 3},
                {"AC@x", 0},  {"CE|WA@x", 0}, {"wa", 0},    {"WA@x|RE", 3}};

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct expectation e = {.set = 77};
        const char *bad = NULL;

        assert_false(expectation_parse(&e, rows[i].text, &bad));
        assert_int_equal(bad - rows[i].text, rows[i].at);
        assert_int_equal(e.set, 77);
    }
}

static void long_case_name_is_refused(void **state)
{
    char text[128] = "WA@";
    struct expectation e;
    const char *bad;

    (void)state;
    memset(text + 3, 'x', 63);
    assert_true(expectation_parse(&e, text, &bad));
    text[3 + 63] = 'x';
    assert_false(expectation_parse(&e, text, &bad));
}

static void matching(void **state)
{
    struct expectation e;
    const char *bad;

    (void)state;
    assert_true(expectation_parse(&e, "WA|RE", &bad));
    assert_true(verdict_matches(&e, VERDICT_RE, "any"));
    assert_false(verdict_matches(&e, VERDICT_AC, NULL));
    assert_true(expectation_parse(&e, "WA@ties_4099", &bad));
    assert_true(verdict_matches(&e, VERDICT_WA, "ties_4099"));
    assert_false(verdict_matches(&e, VERDICT_WA, "ties_40"));
    assert_false(verdict_matches(&e, VERDICT_WA, NULL));
    assert_false(verdict_matches(&e, VERDICT_RE, "ties_4099"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(order_is_the_documented_one),
        cmocka_unit_test(names_parse_back),
        cmocka_unit_test(unknown_words_are_refused),
        cmocka_unit_test(expectations_parse),
        cmocka_unit_test(bad_expectations_point_at_the_word),
        cmocka_unit_test(long_case_name_is_refused),
        cmocka_unit_test(matching),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_lex.c - tokens of PTX text: words, numbers, places, and what is refused.
 */
#include "lex.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct lexer lx;

static struct token next(void) { return lex_next(&lx); }

static void begin(const char *s) { lex_begin(&lx, s, strlen(s)); }

static void is_word(const char *want)
{
    const struct token t = next();

    assert_int_equal(t.kind, TOKEN_WORD);
    assert_int_equal(t.len, strlen(want));
    assert_memory_equal(t.text, want, t.len);
}

static void is_int(uint64_t want)
{
    const struct token t = next();

    assert_int_equal(t.kind, TOKEN_INT);
    assert_true(t.value == want);
}

static void is_bad(const char *s, const char *why)
{
    begin(s);
    struct token t = next();
    while (t.kind != TOKEN_BAD && t.kind != TOKEN_END)
        t = next();
    assert_int_equal(t.kind, TOKEN_BAD);
    assert_non_null(strstr(t.problem, why));
    assert_int_equal(next().kind, TOKEN_BAD); /* it stays there */
}

static void test_words(void **state)
{
    (void)state;
    begin("ld.global.nc.v4.f32 %rd1 $L__BB0_1 _ shared::cta "
          "cp.async.bulk.tensor.2d.shared::cluster.global %tid.x");
    is_word("ld.global.nc.v4.f32");
    is_word("%rd1");
    is_word("$L__BB0_1");
    is_word("_");
    is_word("shared::cta");
    is_word("cp.async.bulk.tensor.2d.shared::cluster.global");
    is_word("%tid.x");
    assert_int_equal(next().kind, TOKEN_END);
    assert_int_equal(next().kind, TOKEN_END);
}

static void test_directives_split(void **state)
{
    (void)state;
    begin(".reg.b32 .shared::cta");
    struct token t = next();
    assert_int_equal(t.kind, TOKEN_DIRECTIVE);
    assert_true(token_spells(&t, ".reg"));
    t = next();
    assert_true(token_spells(&t, ".b32"));
    t = next();
    assert_true(token_spells(&t, ".shared::cta"));
}

static void test_numbers(void **state)
{
    (void)state;
    begin("0 7 0x1F 0777 0b101 18446744073709551615 42U 4294967295");
    is_int(0);
    is_int(7);
    is_int(31);
    is_int(511);
    is_int(5);
    is_int(UINT64_MAX);
    is_int(42);
    is_int(4294967295u);
}

static void test_floats(void **state)
{
    (void)state;
    begin("0f3F800000 0d3FF0000000000000 1.5 2e3");
    struct token t = next();
    assert_int_equal(t.kind, TOKEN_F32);
    assert_int_equal(t.value, 0x3f800000);
    t = next();
    assert_int_equal(t.kind, TOKEN_F64);
    assert_true(t.value == 0x3ff0000000000000ull);
    double d = 0;
    t = next();
    memcpy(&d, &t.value, sizeof d);
    assert_true(d == 1.5);
    t = next();
    memcpy(&d, &t.value, sizeof d);
    assert_true(d == 2000.0);
}

static void test_places(void **state)
{
    (void)state;
    begin("a /* x\n y */ b\n// c\n\n  d");
    struct token t = next();
    assert_int_equal(t.line, 1);
    assert_int_equal(t.col, 1);
    t = next();
    assert_int_equal(t.line, 2);
    assert_int_equal(t.col, 7);
    t = next();
    assert_int_equal(t.line, 5);
    assert_int_equal(t.col, 3);
}

static void test_punctuation(void **state)
{
    (void)state;
    begin("{}[]()<>,;:@!|+-*/%&^~=? << >= &&");
    for (const char *p = "{}[]()<>,;:@!|+-*/%&^~=?"; *p; p++) {
        const struct token t = next();
        assert_true(token_is(&t, (unsigned char)*p));
    }
    struct token t = next();
    assert_true(token_is(&t, '<' * 256 + '<'));
    t = next();
    assert_true(token_is(&t, '>' * 256 + '='));
    t = next();
    assert_true(token_is(&t, '&' * 256 + '&'));
}

static void test_strings(void **state)
{
    (void)state;
    begin("\"a b\" \"\\\"\"");
    struct token t = next();
    assert_int_equal(t.kind, TOKEN_STRING);
    assert_int_equal(t.len, 3);
    t = next();
    assert_int_equal(t.kind, TOKEN_STRING);
    assert_int_equal(t.len, 2);
}

static void test_refused(void **state)
{
    (void)state;
    is_bad("a /* never closed", "comment");
    is_bad("\"never closed", "string");
    is_bad("\"no\nnewline\"", "string");
    is_bad("0f3F80000", "8 hexadecimal digits");
    is_bad("0d3FF0", "16");
    is_bad("18446744073709551616", "64 bits");
    is_bad("0x", "digits missing");
    is_bad("12abc", "not a number");
    is_bad("a # b", "character");
    is_bad("a \x80", "character");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),   cmocka_unit_test(test_directives_split),
        cmocka_unit_test(test_numbers), cmocka_unit_test(test_floats),
        cmocka_unit_test(test_places),  cmocka_unit_test(test_punctuation),
        cmocka_unit_test(test_strings), cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

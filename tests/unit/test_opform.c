/*
 * test_opform.c - the table of instruction forms: every row is sound, and every form that nvcc is
 * known to emit fits one.
 */
#include "opform.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static enum ptx_form match(const char *word)
{
    struct op_word w;

    op_split(&w, word, (uint32_t)strlen(word));
    return op_match(&w, PTX_FORM_NONE);
}

static void explains(const char *word, const char *why)
{
    struct op_word w;
    char text[200];

    op_split(&w, word, (uint32_t)strlen(word));
    assert_int_equal(op_match(&w, PTX_FORM_NONE), PTX_FORM_NONE);
    op_explain(&w, text, sizeof text);
    if (!strstr(text, why))
        fail_msg("%s: '%s' does not say '%s'", word, text, why);
}

static bool operands_are_sound(const struct op_form *row)
{
    struct op_shape s;

    for (const char *at = row->operands; op_next_shape(&at, &s);) {
        if (!strchr("DSALBCIMX*", s.kind) || (s.type && !strchr("0123wphul", s.type)))
            return false;
        if (s.type >= '0' && s.type <= '3' && !op_any_types(row) &&
            (unsigned)(s.type - '0') >= op_type_count(row))
            return false;
        if (strchr("DS", s.kind) && !s.type)
            return false;
    }
    return true;
}

static void test_rows(void **state)
{
    (void)state;
    for (int f = 1; f < PTX_FORM_COUNT; f++) {
        const struct op_form *row = op_form((enum ptx_form)f);
        assert_non_null(row->opcode);
        if (!operands_are_sound(row))
            fail_msg("%s: operands '%s'", row->id, row->operands);
        if (row->state == OP_DONE && (op_any_types(row) || strchr(row->operands, '*')))
            fail_msg("%s: a row that is executed must say everything", row->id);
        assert_true(row->slots[OP_SLOTS - 1].need == NEED_END);
        assert_true(strlen(row->meaning) > 3);
        assert_true(row->sm >= 75 && row->sm <= 120);
    }
}

/* The words that a row allows when every choice takes its first member must find that row or one
 * before it. */
static void test_rows_are_reachable(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (int f = 1; f < PTX_FORM_COUNT; f++) {
        const struct op_form *row = op_form((enum ptx_form)f);
        char word[200];
        size_t n = (size_t)snprintf(word, sizeof word, "%s", row->opcode);
        for (const struct op_slot *s = &row->slots[1]; s->need != NEED_END; s++) {
            int m = s->mod;
            for (int i = 1; s->need == NEED_YES && !m && i < PTX_MOD_COUNT; i++)
                if (op_mod_in((enum ptx_mod)i, s->kinds))
                    m = i;
            if (s->need == NEED_YES)
                n += (size_t)snprintf(word + n, sizeof word - n, ".%s",
                                      op_mod_text((enum ptx_mod)m));
        }
        for (unsigned i = 0; !op_any_types(row) && i < op_type_count(row); i++)
            for (int t = 1; t < PTX_TYPE_COUNT; t++)
                if (row->types[i] >> t & 1) {
                    n += (size_t)snprintf(word + n, sizeof word - n, ".%s",
                                          ptx_type_text((enum ptx_type)t));
                    break;
                }
        bool found = false;
        struct op_word w;
        op_split(&w, word, (uint32_t)strlen(word));
        for (enum ptx_form at = op_match(&w, PTX_FORM_NONE); at != PTX_FORM_NONE;
             at = op_match(&w, at))
            found = found || at == (enum ptx_form)f;
        if (!found)
            fail_msg("%s: '%s' does not find it", row->id, word);
        seen++;
    }
    assert_true(seen > 250);
}

static void test_known_forms(void **state)
{
    char line[512], form[128];
    unsigned files = 0, times = 0, seen = 0, not_done = 0;
    FILE *f = fopen(TEST_ROOT "/tests/ptx/forms.tsv", "r");

    (void)state;
    assert_non_null(f);
    while (fgets(line, sizeof line, f)) {
        if (line[0] == '#')
            continue;
        assert_int_equal(sscanf(line, "%127s %u %u", form, &files, &times), 3);
        const enum ptx_form row = match(form);
        if (row == PTX_FORM_NONE)
            fail_msg("'%s' fits no row", form);
        not_done += op_form(row)->state != OP_DONE;
        seen++;
    }
    (void)fclose(f);
    assert_int_equal(seen, 368);
    assert_true(not_done <= 10); /* wgmma, bulk copies, tensor tiles, setmaxnreg */
}

static void test_order_of_modifiers(void **state)
{
    (void)state;
    assert_int_equal(match("mad.lo.cc.s32"), PTX_FORM_MAD_LO_CC);
    assert_int_equal(match("mad.cc.lo.s32"), PTX_FORM_NONE);
    assert_int_equal(match("ld.global.nc.L1::no_allocate.L2::128B.v4.f32"), PTX_FORM_LD);
    assert_int_equal(match("ld.v4.global.f32"), PTX_FORM_NONE);
    assert_int_equal(match("prmt.b32.f4e"), PTX_FORM_PRMT);
    assert_int_equal(match("min.xorsign.abs.f32"), PTX_FORM_MIN_F);
    assert_int_equal(match("wmma.mma.sync.aligned.row.col.m16n16k16.s32.s8.s8.s32.satfinite"),
                     PTX_FORM_WMMA_MMA_4);
}

static void test_explanations(void **state)
{
    (void)state;
    explains("flurb.s32", "unknown instruction 'flurb'");
    explains("add.s33", "unknown modifier or type '.s33' of 'add'");
    explains("add.lo.s32", "'.lo' is not allowed there");
    explains("mad.s32", "a modifier of 'mad' is missing");
    explains("popc.f32", "does not exist with these types");
    explains("add", "does not exist with no type");
    explains("add.", "unknown modifier");
}

static void test_shapes(void **state)
{
    struct op_shape s;

    (void)state;
    assert_true(op_shape_count("Dp Su ?Su Sp", 3));
    assert_true(op_shape_count("Dp Su ?Su Sp", 4));
    assert_false(op_shape_count("Dp Su ?Su Sp", 5));
    assert_false(op_shape_count("Dp Su ?Su Sp", 2));
    assert_true(op_shape_at("Dp Su ?Su Sp", 3, 2, &s)); /* the optional one is absent */
    assert_int_equal(s.type, 'p');
    assert_true(op_shape_at("Dp Su ?Su Sp", 4, 2, &s));
    assert_int_equal(s.type, 'u');
    assert_false(op_shape_at("Dp Su ?Su Sp", 4, 4, &s));
    assert_true(op_shape_at("D0| S0", 2, 0, &s));
    assert_true(s.pair && s.kind == 'D');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_rows_are_reachable),
        cmocka_unit_test(test_known_forms),  cmocka_unit_test(test_order_of_modifiers),
        cmocka_unit_test(test_explanations), cmocka_unit_test(test_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

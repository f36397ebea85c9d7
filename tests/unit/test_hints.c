/*
 * test_hints.c - each pattern of hints.c on an output that shows it, and on near twins that must
 * stay silent. Invariant: every expectation is the whole text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "hints.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define N 100

struct fixture {
    float got[4096], want[4096], previous[4096], next[4096], input[4096], decoy[4096];
    double want64[4096];
    struct compare_input cmp;
    struct mismatch mis;
    struct hints_input in;
    struct arena arena;
    const char *out[HINTS_MAX];
    unsigned count;
};

static float poison(unsigned kind)
{
    const uint32_t bits = (uint32_t)compare_poison(DTYPE_F32, kind);
    float f;

    memcpy(&f, &bits, sizeof f);
    return f;
}

static int setup(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    for (int i = 0; i < 4096; i++) {
        f->want[i] = f->got[i] = (float)(5000 - i);
        f->input[i] = (float)((i * 37) % 101);
    }
    f->cmp = (struct compare_input){.dtype = DTYPE_F32,
                                    .count = N,
                                    .got = f->got,
                                    .want = f->want,
                                    .want_dtype = DTYPE_F32,
                                    .rule = {.name = "strict", .kind = RULE_EXACT},
                                    .rank = 1,
                                    .shape = {N}};
    f->in.compare = &f->cmp;
    f->in.mismatch = &f->mis;
    f->in.letter = 'A';
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *f = *state;

    arena_fini(&f->arena);
    free(f);
    return 0;
}

static void use_rule(struct fixture *f, enum rule_kind kind, double rtol)
{
    for (int i = 0; i < 4096; i++)
        f->want64[i] = (double)f->want[i];
    f->cmp.want = f->want64;
    f->cmp.want_dtype = DTYPE_F64;
    f->cmp.rule = (struct rule){.kind = kind, .rtol = rtol};
}

static void find(struct fixture *f)
{
    assert_false(compare_output(&f->cmp, &f->mis));
    f->count = hints_find(&f->in, &f->arena, f->out);
}

#define EXPECT(f, text)                                                                            \
    do {                                                                                           \
        find(f);                                                                                   \
        assert_true((f)->count >= 1);                                                              \
        assert_string_equal((f)->out[0], text);                                                    \
    } while (0)

static void test_nothing_written(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < N; i++)
        f->got[i] = poison(0);
    EXPECT(f, "nothing was written to the output");
    assert_int_equal(f->count, 1);
}

/* All right values are in the input; -inf and a sum are not. */
static void test_value_of_no_input(void **state)
{
    struct fixture *f = *state;

    f->in.inputs[0] =
        (struct hint_tensor){.name = "input", .dtype = DTYPE_F32, .count = N, .data = f->want};
    f->in.input_count = 1;
    f->got[7] = -INFINITY;
    EXPECT(f, "element 7 = -inf is in no input: padding, or memory never written");
    f->got[7] = f->want[9]; /* a wrong one, but an element of the input */
    find(f);
    for (unsigned k = 0; k < f->count; k++)
        assert_null(strstr(f->out[k], "in no input"));
    f->got[7] = -INFINITY;
    f->in.inputs[0].count = N - 1; /* a right value that is computed: so may the others be */
    find(f);
    for (unsigned k = 0; k < f->count; k++)
        assert_null(strstr(f->out[k], "in no input"));
}

static void test_direction(void **state)
{
    struct fixture *f = *state;

    use_rule(f, RULE_ALLCLOSE, 1e-6);
    for (int i = 0; i < N; i++)
        f->got[i] = (float)(i * i);
    find(f);
    assert_int_equal(f->count, 1);
    assert_string_equal(f->out[0], "the values ascend, they should descend");
    f->got[N / 2] = 0.0f; /* neither way */
    find(f);
    for (unsigned k = 0; k < f->count; k++)
        assert_null(strstr(f->out[k], "descend"));
    for (int i = 0; i < N; i++)
        f->got[i] = (float)(9000 - i * i); /* the right way, wrong values */
    find(f);
    for (unsigned k = 0; k < f->count; k++)
        assert_null(strstr(f->out[k], "descend"));
}

static void test_unwritten_range(void **state)
{
    struct fixture *f = *state;

    for (int i = 96; i < N; i++)
        f->got[i] = poison(0);
    EXPECT(f, "unwritten: 4 of 100 elements, from index 96");
    assert_string_equal(f->out[1], "only the tail beyond a multiple of 8 is wrong (from index 96)");
}

static void test_read_past_end(void **state)
{
    struct fixture *f = *state;

    memcpy(f->next, f->got, sizeof f->next);
    f->got[7] = NAN;
    f->next[7] = 1e38f;
    f->in.next = f->next;
    EXPECT(f, "1 elements, first at 7, hold or use data from beyond the end of a buffer");
    f->next[7] = 3.0f; /* a NaN alone is no read past the end */
    find(f);
    assert_int_equal(f->count, 0);
}

static void test_guard_bits_in_b(void **state)
{
    struct fixture *f = *state;

    f->in.letter = 'B';
    f->cmp.poison_kind = 1;
    f->got[9] = 0.9f * poison(1);
    EXPECT(f, "element 9 holds or uses data from beyond the end of a buffer");
}

static void test_decoy(void **state)
{
    struct fixture *f = *state;

    memcpy(f->decoy, f->want, sizeof f->decoy);
    f->decoy[99] = 1.0f;
    f->got[99] = 1.0f;
    f->in.decoys[0] = (struct hint_decoy){
        .sentence = "last element missing", .dtype = DTYPE_F32, .data = f->decoy};
    f->in.decoy_count = 1;
    EXPECT(f, "last element missing");
    /* the sentence lives in the case file, which is closed before the report is made */
    assert_ptr_not_equal(f->out[0], f->in.decoys[0].sentence);
}

static void test_replay(void **state)
{
    struct fixture *f = *state;

    f->in.letter = 'B';
    f->cmp.exponent = 3; /* right would be want * 8 */
    memcpy(f->previous, f->want, sizeof f->previous);
    f->in.previous = f->previous;
    EXPECT(f, "returns the previous call's result");
    for (int i = 0; i < N; i++)
        f->got[i] = 4.0f * f->previous[i];
    EXPECT(f, "returns the previous call's result times 4");
}

static void test_accumulates(void **state)
{
    struct fixture *f = *state;

    f->in.letter = 'B';
    f->cmp.exponent = 1;
    memcpy(f->previous, f->want, sizeof f->previous);
    f->in.previous = f->previous;
    for (int i = 0; i < N; i++)
        f->got[i] = 3.0f * f->want[i]; /* 2 x want, plus the 1 x want of call A */
    f->got[0] = 3.0f * f->want[0];
    EXPECT(f, "adds to the previous result: the output is not cleared");
    for (int i = 0; i < N; i++)
        f->got[i] = INFINITY; /* infinite minus anything is infinite: no sign of a sum */
    find(f);
    assert_int_equal(f->count, 0);
}

static void test_zeros(void **state)
{
    struct fixture *f = *state;

    memset(f->got, 0, sizeof f->got);
    EXPECT(f, "the output is all zeros");
}

static void test_copy(void **state)
{
    struct fixture *f = *state;

    memcpy(f->got, f->input, sizeof f->got);
    f->in.inputs[0] =
        (struct hint_tensor){.name = "A", .dtype = DTYPE_F32, .count = 4096, .data = f->input};
    f->in.input_count = 1;
    EXPECT(f, "the output is a copy of 'A'");
}

static void test_copy_is_scaled_with_its_input(void **state)
{
    struct fixture *f = *state;

    f->cmp.exponent = 5;
    for (int i = 0; i < N; i++)
        f->got[i] = 32.0f * f->input[i];
    f->in.inputs[0] = (struct hint_tensor){
        .name = "A", .dtype = DTYPE_F32, .count = 4096, .data = f->input, .exponent = 5};
    f->in.input_count = 1;
    EXPECT(f, "the output is a copy of 'A'");
}

static void test_tail(void **state)
{
    struct fixture *f = *state;

    f->cmp.count = f->cmp.shape[0] = 1000;
    for (int i = 992; i < 1000; i++)
        f->got[i] = 0.5f;
    EXPECT(f, "only the tail beyond a multiple of 16 is wrong (from index 992)");
}

static void test_stride(void **state)
{
    struct fixture *f = *state;

    for (int i = 3; i < N; i += 32)
        f->got[i] = 0.5f;
    EXPECT(f, "one element in 32 is wrong: indices 3, 35 and so on");
    f->got[35] = f->want[35]; /* one of them is right: no pattern */
    find(f);
    for (unsigned k = 0; k < f->count; k++)
        assert_null(strstr(f->out[k], "one element in"));
}

static void test_rows(void **state)
{
    struct fixture *f = *state;

    f->cmp.rank = 2;
    f->cmp.shape[0] = 10;
    f->cmp.shape[1] = 10;
    for (int i = 30; i < 40; i++)
        f->got[i] = 0.5f;
    for (int i = 70; i < 80; i++)
        f->got[i] = 0.5f;
    EXPECT(f, "whole rows are wrong: 2 of 10, first row 3");
}

static void test_from_on(void **state)
{
    struct fixture *f = *state;

    f->cmp.count = f->cmp.shape[0] = 1777;
    for (int i = 1003; i < 1777; i++)
        f->got[i] = 0.5f;
    EXPECT(f, "wrong from index 1003 to the end");
    memcpy(f->got, f->want, sizeof f->got);
    f->cmp.count = f->cmp.shape[0] = 2000;
    for (int i = 512; i < 2000; i++)
        f->got[i] = 0.5f;
    EXPECT(f, "wrong from index 512 to the end: block 1 of 512 elements and on");
}

static void test_order(void **state)
{
    struct fixture *f = *state;

    for (int i = 0; i < N; i++)
        f->got[i] = f->want[N - 1 - i];
    EXPECT(f, "right values in reversed order");
    for (int i = 0; i < N; i++)
        f->got[i] = f->want[(i + 1) % N];
    EXPECT(f, "right values shifted by -1");
    for (int i = 0; i < N; i++)
        f->got[i] = f->want[(i * 7) % N];
    EXPECT(f, "right values, wrong order");
}

static void test_multiset(void **state)
{
    struct fixture *f = *state;

    f->got[50] = f->want[49]; /* 4951 twice, 4950 lost */
    EXPECT(f, "1 value lost (4950), 1 duplicated (4951)");
}

static void test_factor(void **state)
{
    struct fixture *f = *state;

    use_rule(f, RULE_ALLCLOSE, 1e-5);
    for (int i = 0; i < N; i++)
        f->got[i] = 2.0f * f->want[i];
    EXPECT(f, "off by the constant factor 2");
    for (int i = 0; i < N; i++)
        f->got[i] = 8.0f * f->want[i];
    f->in.scalars[0] = (struct hint_scalar){.name = "d_model", .value = 64.0};
    f->in.scalar_count = 1;
    EXPECT(f, "off by the constant factor 8 = sqrt(d_model)");
    for (int i = 0; i < N; i++)
        f->got[i] = -f->want[i];
    EXPECT(f, "the sign is wrong");
    f->got[3] = 17.0f;
    find(f);
    assert_int_equal(f->count, 0);
}

static void test_one_element_needs_a_familiar_factor(void **state)
{
    struct fixture *f = *state;

    use_rule(f, RULE_ALLCLOSE, 1e-5);
    f->cmp.count = f->cmp.shape[0] = 1;
    f->got[0] = 1.37f * f->want[0];
    find(f);
    assert_int_equal(f->count, 0);
    f->got[0] = 0.5f * f->want[0];
    EXPECT(f, "off by the constant factor 0.5");
}

static void test_accepted_output_gets_no_hint(void **state)
{
    struct fixture *f = *state;

    assert_true(compare_output(&f->cmp, &f->mis));
    assert_int_equal(hints_find(&f->in, &f->arena, f->out), 0);
    assert_null(f->out[0]);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(test_nothing_written),
                                       CASE(test_value_of_no_input),
                                       CASE(test_direction),
                                       CASE(test_unwritten_range),
                                       CASE(test_read_past_end),
                                       CASE(test_guard_bits_in_b),
                                       CASE(test_decoy),
                                       CASE(test_replay),
                                       CASE(test_accumulates),
                                       CASE(test_zeros),
                                       CASE(test_copy),
                                       CASE(test_copy_is_scaled_with_its_input),
                                       CASE(test_tail),
                                       CASE(test_stride),
                                       CASE(test_rows),
                                       CASE(test_from_on),
                                       CASE(test_order),
                                       CASE(test_multiset),
                                       CASE(test_factor),
                                       CASE(test_one_element_needs_a_familiar_factor),
                                       CASE(test_accepted_output_gets_no_hint)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_record.c - the wire format: seals hold, every broken field is named, nothing outside the
 * shared memory or the file is accepted.
 */
#include "record.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- CRC ---- */

static void crc_is_castagnoli(void **state)
{
    const unsigned char zeros[32] = {0};

    (void)state;
    /* RFC 3720, appendix B.4; the check value of the CRC catalogues. */
    assert_int_equal(record_crc(0, "123456789", 9), 0xe3069283u);
    assert_int_equal(record_crc(0, zeros, sizeof zeros), 0x8a9136aau);
    assert_int_equal(record_crc(0, "", 0), 0);
}

static void crc_can_be_continued(void **state)
{
    char text[100];

    (void)state;
    for (unsigned i = 0; i < sizeof text; i++)
        text[i] = (char)(i * 37);
    for (unsigned cut = 0; cut <= sizeof text; cut++)
        assert_int_equal(record_crc(record_crc(0, text, cut), text + cut, sizeof text - cut),
                         record_crc(0, text, sizeof text));
}

/* ---- records ---- */

static struct record sealed(const struct record_span *spans, unsigned count)
{
    struct record r;

    memset(&r, 0, sizeof r);
    record_seal(&r, 5, 77, spans, count);
    return r;
}

static void a_sealed_record_is_accepted(void **state)
{
    float out[3] = {1, 2, 3};
    const struct record_span span = {out, sizeof out};
    struct record r = sealed(&span, 1);

    (void)state;
    assert_null(record_check(&r, sizeof r, 5, 77, &span, 1));
}

static void every_misfit_of_a_record_is_named(void **state)
{
    float out[3] = {1, 2, 3};
    const struct record_span span = {out, sizeof out};
    struct record r = sealed(&span, 1);

    (void)state;
    assert_string_equal(record_check(&r, sizeof r - 1, 5, 77, &span, 1),
                        "a record of the wrong length");
    assert_string_equal(record_check(&r, sizeof r, 6, 77, &span, 1), "a record of another call");
    assert_string_equal(record_check(&r, sizeof r, 5, 78, &span, 1),
                        "a record without this call's nonce");
    out[1] = 9; /* an output that changed after the seal */
    assert_string_equal(record_check(&r, sizeof r, 5, 77, &span, 1),
                        "a record whose CRC does not fit its bytes and outputs");
    out[1] = 2;
    r.launches++;
    assert_string_equal(record_check(&r, sizeof r, 5, 77, &span, 1),
                        "a record whose CRC does not fit its bytes and outputs");
    r = sealed(NULL, 0);
    r.format = RECORD_FORMAT + 1;
    assert_string_equal(record_check(&r, sizeof r, 5, 77, NULL, 0), "a record of another format");
}

static void sealed_nonsense_is_refused(void **state)
{
    struct record r;

    (void)state;
    memset(&r, 0, sizeof r);
    r.status = RECORD_RETURNED + 1;
    record_seal(&r, 1, 1, NULL, 0);
    assert_string_equal(record_check(&r, sizeof r, 1, 1, NULL, 0),
                        "a record with an unknown status");
    r.status = 0;
    r.error_class = ERROR_BUDGET + 1;
    record_seal(&r, 1, 1, NULL, 0);
    assert_string_equal(record_check(&r, sizeof r, 1, 1, NULL, 0),
                        "a record with an unknown status");
    r.error_class = 0;
    r.event_us = (double)NAN;
    record_seal(&r, 1, 1, NULL, 0);
    assert_string_equal(record_check(&r, sizeof r, 1, 1, NULL, 0),
                        "a record with an impossible time");
    r.event_us = 1;
    r.spill_us = -1;
    record_seal(&r, 1, 1, NULL, 0);
    assert_string_equal(record_check(&r, sizeof r, 1, 1, NULL, 0),
                        "a record with an impossible time");
}

static void texts_are_ended_and_made_printable(void **state)
{
    struct record r;

    (void)state;
    memset(&r, 0, sizeof r);
    memset(r.text, 'x', sizeof r.text);
    memcpy(r.error_name, "a\033[31mb", 8);
    record_seal(&r, 1, 1, NULL, 0);
    assert_null(record_check(&r, sizeof r, 1, 1, NULL, 0));
    assert_int_equal(strlen(r.text), sizeof r.text - 1);
    assert_string_equal(r.error_name, "a?[31mb");
}

static void facts_are_made_finite(void **state)
{
    struct record_facts in;
    struct device_facts out;

    (void)state;
    memset(&in, 0, sizeof in);
    memset(in.name, 'n', sizeof in.name);
    in.clock_mhz = (double)INFINITY;
    in.read_tbs = -3;
    in.e0_us = 2.5;
    in.is_virtual = 7;
    record_facts_read(&out, &in);
    assert_int_equal(strlen(out.name), sizeof out.name - 1);
    assert_true(out.clock_mhz == 0 && out.read_tbs == 0 && out.e0_us == 2.5);
    assert_true(out.is_virtual);
}

/* ---- commands ---- */

/* One input, one output, one scalar, all inside. */
static struct command good_call(void)
{
    struct command c;

    memset(&c, 0, sizeof c);
    c.op = COMMAND_CALL;
    c.param_count = 3;
    c.shared_size = 1 << 20;
    c.file_size = 1000;
    c.params[0] = (struct command_param){.type = RECORD_F32, .count = 100, .file_begin = 600};
    c.params[1] = (struct command_param){.type = RECORD_F32,
                                         .dir = RECORD_OUT,
                                         .count = 100,
                                         .slot = 4096,
                                         .slot_early = 8192,
                                         .slot_previous = 12288};
    c.params[2] = (struct command_param){.type = RECORD_I32, .scalar = 1, .value = 100};
    return c;
}

static const char *checked(struct command c)
{
    command_seal(&c, 1, 2);
    return command_check(&c, sizeof c);
}

static void a_sealed_command_is_accepted(void **state)
{
    struct command c = good_call();

    (void)state;
    assert_null(checked(c));
    c.op = COMMAND_TIME;
    assert_null(checked(c));
    c.flags = COMMAND_FLAG_HOT;
    c.repeats = 8;
    c.copies = 4;
    assert_null(checked(c));
}

static void a_changed_command_is_refused(void **state)
{
    struct command c = good_call();

    (void)state;
    command_seal(&c, 1, 2);
    assert_string_equal(command_check(&c, sizeof c - 1), "wrong length");
    c.device = 1;
    assert_string_equal(command_check(&c, sizeof c), "wrong CRC");
}

#define REFUSED(change, text)                                                                      \
    do {                                                                                           \
        struct command c = good_call();                                                            \
        const char *said;                                                                          \
        change;                                                                                    \
        said = checked(c);                                                                         \
        assert_non_null(said);                                                                     \
        assert_string_equal(said, text);                                                           \
    } while (0)

static void ranges_outside_are_refused(void **state)
{
    const char *const counts = "parameter count, address set or poison kind out of range";
    const char *const file = "input outside the case file";
    const char *const slot = "output slot outside the shared memory";

    (void)state;
    REFUSED(c.op = 0, "unknown operation");
    REFUSED(c.op = COMMAND_BYE + 1, "unknown operation");
    REFUSED(c.flags = 1u << 20, "unknown flag or backend");
    REFUSED(c.backend = 3, "unknown flag or backend");
    REFUSED(c.param_count = 17, counts);
    REFUSED(c.address_set = 2, counts);
    REFUSED(c.poison_kind = 2, counts);
    REFUSED(memset(c.path, 'x', sizeof c.path), "unterminated path");
    REFUSED(c.params[0].type = RECORD_TYPE_COUNT, "unknown element type");
    REFUSED(c.params[0].count = 101, file);
    REFUSED(c.params[0].file_begin = UINT64_MAX, file);
    REFUSED(c.params[0].file_begin = 598, "misplaced input");
    REFUSED(c.params[0].count = UINT64_MAX, "tensor too large");
    REFUSED(c.params[0].offset = UINT64_MAX, "tensor too large");
    REFUSED(c.params[0].exponent = 1001, "exponent out of range");
    REFUSED(memset(c.params[0].name, 'x', 32), "unterminated parameter name");
    REFUSED(c.params[1].digest = 1, "a digest of something that has none"); /* of a call */
    REFUSED((c.op = COMMAND_TIME, c.params[0].digest = 1), "a digest of something that has none");
    REFUSED(c.params[1].slot = 0, slot); /* the fault page is no slot */
    REFUSED(c.params[1].slot = 4100, slot);
    REFUSED(c.params[1].slot = (1 << 20) - 64, slot);
    REFUSED(c.params[1].slot_early = 1 << 20, "early slot outside the shared memory");
    REFUSED((c.params[1].slot_previous = 1 << 20, c.flags = COMMAND_FLAG_REREAD),
            "previous slot outside the shared memory");
    REFUSED(c.params[1].scalar = 1, "a scalar that is not an input");
    REFUSED(c.slab_step = 4, "shared memory too small, or a slab step that is no multiple of 256");
    REFUSED(c.shared_size = 100,
            "shared memory too small, or a slab step that is no multiple of 256");
}

static void hot_copies_outside_are_refused(void **state)
{
    const char *const even =
        "repeats and copies of a hot sample must be even, copies at most repeats";

    (void)state;
#define HOT(r, n) c.op = COMMAND_TIME, c.flags = COMMAND_FLAG_HOT, c.repeats = (r), c.copies = (n)
    REFUSED(HOT(7, 2), even);
    REFUSED(HOT(8, 3), even);
    REFUSED(HOT(8, 10), even);
    REFUSED(HOT(0, 0), even);
    REFUSED(HOT(65536, 65536), "output slots outside the shared memory");
#undef HOT
}

/* ---- elements ---- */

/* Equal as an exact rule has it, in any pieces; every other change shows. */
static void digests_tell_equal_from_other(void **state)
{
    const uint64_t key = 0x123456789abcdef1u;
    float want[100], got[100];
    uint64_t digest;

    (void)state;
    for (int i = 0; i < 100; i++)
        want[i] = 0.25f * (float)(i - 50);
    memcpy(got, want, sizeof got);
    digest = record_digest(RECORD_F32, want, 0, 100, 0, key);
    got[50] = -0.0f;
    assert_int_equal(record_digest(RECORD_F32, got, 0, 100, 0, key), digest);
    assert_int_equal(record_digest(RECORD_F32, got, 0, 37, 0, key) +
                         record_digest(RECORD_F32, got + 37, 37, 63, 0, key),
                     digest);
    assert_int_not_equal(record_digest(RECORD_F32, got, 0, 100, 0, key + 1), digest);
    assert_int_not_equal(record_digest(RECORD_U32, got, 0, 100, 0, key), digest); /* -0 is a word */
    for (int i = 0; i < 100; i++)
        got[i] = ldexpf(want[i], -7);
    assert_int_equal(record_digest(RECORD_F32, got, 0, 100, -7, key), digest);
    got[3] = want[3]; /* right but for the scale */
    assert_int_not_equal(record_digest(RECORD_F32, got, 0, 100, -7, key), digest);
    got[3] = ldexpf(want[4], -7); /* two in each other's place */
    got[4] = ldexpf(want[3], -7);
    assert_int_not_equal(record_digest(RECORD_F32, got, 0, 100, -7, key), digest);
}

static void types_have_sizes_and_poison(void **state)
{
    (void)state;
    assert_int_equal(record_type_size(RECORD_F64), 8);
    assert_int_equal(record_type_size(RECORD_BF16), 2);
    assert_int_equal(record_type_size(RECORD_U8), 1);
    assert_int_equal(record_type_size(RECORD_TYPE_COUNT), 0);
    for (unsigned t = 0; t < RECORD_TYPE_COUNT; t++)
        assert_true(record_poison((enum record_type)t, 0) != record_poison((enum record_type)t, 1));
}

static void poison_of_floats_is_nan_then_finite(void **state)
{
    const uint32_t a = (uint32_t)record_poison(RECORD_F32, 0);
    const uint32_t b = (uint32_t)record_poison(RECORD_F32, 1);
    const uint64_t c = record_poison(RECORD_F64, 0), e = record_poison(RECORD_F64, 1);
    float f;
    double g;

    (void)state;
    memcpy(&f, &a, sizeof f);
    assert_true(isnan(f));
    memcpy(&f, &b, sizeof f);
    assert_true(isfinite(f) && f > 1e38f);
    memcpy(&g, &c, sizeof g);
    assert_true(isnan(g));
    memcpy(&g, &e, sizeof g);
    assert_true(isfinite(g) && g > 1e300);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(crc_is_castagnoli),
        cmocka_unit_test(crc_can_be_continued),
        cmocka_unit_test(a_sealed_record_is_accepted),
        cmocka_unit_test(every_misfit_of_a_record_is_named),
        cmocka_unit_test(sealed_nonsense_is_refused),
        cmocka_unit_test(texts_are_ended_and_made_printable),
        cmocka_unit_test(facts_are_made_finite),
        cmocka_unit_test(a_sealed_command_is_accepted),
        cmocka_unit_test(a_changed_command_is_refused),
        cmocka_unit_test(ranges_outside_are_refused),
        cmocka_unit_test(hot_copies_outside_are_refused),
        cmocka_unit_test(digests_tell_equal_from_other),
        cmocka_unit_test(types_have_sizes_and_poison),
        cmocka_unit_test(poison_of_floats_is_nan_then_finite),
    };

    return cmocka_run_group_tests_name("record", tests, NULL, NULL);
}

/*
 * test_runner.c - the parts of judge-runner that need no child process: scaling of elements, the
 * call through libffi, known libraries, the kit's PTX text.
 */
#include "callabi.h"
#include "elements.h"
#include "kit.h"
#include "libraries.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- elements ---- */

static void floats_scale_exactly(void **state)
{
    const float in[] = {0.0f, -0.0f, 1.5f, -3.0f, INFINITY, 1e-30f};
    float out[6];

    (void)state;
    elements_scale(out, in, RECORD_F32, 6, -4);
    for (unsigned i = 0; i < 6; i++) {
        assert_true(out[i] == in[i] / 16);
        assert_true(signbit(out[i]) == signbit(in[i]));
    }
}

static void nans_keep_their_bits(void **state)
{
    const uint32_t in[] = {0x7fc00001u, 0xffc12345u, 0x7fa00001u /* signalling */};
    uint32_t out[3];

    (void)state;
    elements_scale(out, in, RECORD_F32, 3, 3);
    assert_memory_equal(in, out, sizeof in);
    elements_scale(out, in, RECORD_F32, 3, 200); /* not by a factor: 2^200 is no f32 */
    assert_memory_equal(in, out, sizeof in);
    const uint64_t wide[] = {0x7ff8000000000001u, 0xfff4000000000001u /* signalling */};
    uint64_t wide_out[2];
    elements_scale(wide_out, wide, RECORD_F64, 2, 3);
    assert_memory_equal(wide, wide_out, sizeof wide);
}

static void integers_do_not_scale(void **state)
{
    const int32_t in[] = {1, -2, 3};
    int32_t out[3];

    (void)state;
    elements_scale(out, in, RECORD_I32, 3, 5);
    assert_memory_equal(in, out, sizeof in);
}

/* All 65,536 halves: up and down again gives the same number wherever the way is exact. */
static void halves_scale_and_come_back(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (uint32_t h = 0; h < 65536; h++) {
        const uint16_t in = (uint16_t)h;
        const unsigned exponent = (h >> 10) & 31;
        uint16_t up, back;
        elements_scale(&up, &in, RECORD_F16, 1, 3);
        elements_scale(&back, &up, RECORD_F16, 1, -3);
        if (exponent == 31) {
            assert_int_equal(up, in); /* infinities and NaN */
        } else if (exponent < 28) {
            assert_int_equal(back, in);
            seen++;
        } else {
            assert_int_equal(up & 0x7fff, 0x7c00); /* overflow is an infinity */
        }
    }
    assert_int_equal(seen, 2 * 28 * 1024);
}

static void halves_have_known_bits(void **state)
{
    const uint16_t in[] = {0x3c00 /* 1 */, 0xc000 /* -2 */, 0x0001 /* 2^-24 */, 0x8000,
                           0x0401 /* just above the smallest normal */};
    const uint16_t want[] = {0x3800, 0xbc00, 0x0000 /* a tie goes to even */, 0x8000, 0x0200};
    uint16_t out[5];

    (void)state;
    elements_scale(out, in, RECORD_F16, 5, -1);
    assert_memory_equal(out, want, sizeof want);
}

static void brain_floats_scale(void **state)
{
    const uint16_t in[] = {0x3f80 /* 1 */, 0xc040 /* -3 */, 0x7fc1, 0xff80, 0x0000};
    const uint16_t want[] = {0x4080 /* 4 */, 0xc140, 0x7fc1, 0xff80, 0x0000};
    uint16_t out[5];

    (void)state;
    elements_scale(out, in, RECORD_BF16, 5, 2);
    assert_memory_equal(out, want, sizeof want);
}

static void doubles_scale(void **state)
{
    const double in[] = {1, -0.75, 1e300};
    double out[3];

    (void)state;
    elements_scale(out, in, RECORD_F64, 3, -10);
    assert_true(out[0] == 1.0 / 1024 && out[1] == -0.75 / 1024 && out[2] == 1e300 / 1024);
}

static void patterns_repeat_to_the_last_byte(void **state)
{
    unsigned char bytes[23];

    (void)state;
    memset(bytes, 0, sizeof bytes);
    elements_fill(bytes, 22, RECORD_F32, 0x44332211u);
    for (unsigned i = 0; i < 22; i++)
        assert_int_equal(bytes[i], 0x11 * (i % 4 + 1));
    assert_int_equal(bytes[22], 0);
    elements_fill(bytes, 0, RECORD_F32, 0); /* nothing to do is allowed */
}

static void differences_are_counted_in_elements(void **state)
{
    static uint32_t a[5000], b[5000];
    uint64_t first = 99;

    (void)state;
    assert_int_equal(elements_differ(a, b, 4, 5000, &first), 0);
    assert_int_equal(first, 99);
    b[1024] = 0x01010101u; /* four bytes, one element; at the border of a block */
    b[4999] = 1;
    assert_int_equal(elements_differ(a, b, 4, 5000, &first), 2);
    assert_int_equal(first, 1024);
}

/* ---- the call ---- */

static struct {
    const void *pointer;
    double f64;
    float f32;
    int64_t i64;
    int32_t i32;
    uint32_t u32;
    int8_t i8;
    uint8_t u8;
} got;

static void solve_all(void *pointer, double f64, float f32, int64_t i64, int32_t i32, uint32_t u32,
                      int8_t i8, uint8_t u8)
{
    got.pointer = pointer;
    got.f64 = f64;
    got.f32 = f32;
    got.i64 = i64;
    got.i32 = i32;
    got.u32 = u32;
    got.i8 = i8;
    got.u8 = u8;
}

static uint64_t bits(const void *value, size_t size)
{
    uint64_t v = 0;

    memcpy(&v, value, size);
    return v;
}

static void every_scalar_type_arrives(void **state)
{
    const double f64 = -1.25;
    const float f32 = 2.5f;
    const int64_t i64 = INT64_MIN + 1;
    struct command_param p[8] = {
        {.type = RECORD_F32},
        {.type = RECORD_F64, .scalar = 1, .value = bits(&f64, 8)},
        {.type = RECORD_F32, .scalar = 1, .value = bits(&f32, 4)},
        {.type = RECORD_I64, .scalar = 1, .value = bits(&i64, 8)},
        {.type = RECORD_I32, .scalar = 1, .value = (uint64_t)(int64_t)-7},
        {.type = RECORD_U32, .scalar = 1, .value = 4000000000u},
        {.type = RECORD_I8, .scalar = 1, .value = (uint64_t)(int64_t)-8},
        {.type = RECORD_U8, .scalar = 1, .value = 200},
    };
    void *pointers[RECORD_MAX_PARAMS] = {&got};
    struct callabi abi;

    (void)state;
    memset(&abi, 0, sizeof abi);
    assert_null(callabi_prepare(&abi, p, 8));
    callabi_solve(&abi, (solve_function)solve_all, p, pointers);
    assert_ptr_equal(got.pointer, &got);
    assert_true(got.f64 == f64 && got.f32 == f32);
    assert_true(got.i64 == i64 && got.i32 == -7 && got.u32 == 4000000000u);
    assert_true(got.i8 == -8 && got.u8 == 200);
}

static void halves_cannot_be_passed(void **state)
{
    const struct command_param p = {.type = RECORD_F16, .scalar = 1};
    struct callabi abi;

    (void)state;
    memset(&abi, 0, sizeof abi);
    assert_string_equal(callabi_prepare(&abi, &p, 1), "a 16-bit float cannot be passed by value");
}

/* ---- libraries ---- */

static void the_drivers_parts_are_harmless(void **state)
{
    (void)state;
    assert_true(libraries_harmless("/usr/lib/x86_64-linux-gnu/libcuda.so.1"));
    assert_true(libraries_harmless("/usr/lib/libnvidia-ptxjitcompiler.so.1"));
    assert_true(libraries_harmless("libgcc_s.so.1"));
    assert_true(libraries_harmless(""));
    assert_false(libraries_harmless("/usr/local/cuda/lib64/libcublas.so.13"));
    assert_false(libraries_harmless("/opt/libcudnn.so.9"));
    assert_false(libraries_harmless("libnvrtc.so.13"));
}

/* ---- the kit ---- */

static void the_kits_text_has_six_entries(void **state)
{
    char text[KIT_PTX_SIZE];
    unsigned entries = 0;

    (void)state;
    kit_ptx(text);
    for (const char *p = text; (p = strstr(p, ".visible .entry kit_")) != NULL; p++)
        entries++;
    assert_int_equal(entries, KIT_COUNT);
}

/* ptxas accepts the text for the oldest and for newer architectures. */
static void the_kits_text_assembles(void **state)
{
    static const char *const archs[] = {"sm_75", "sm_90", "sm_100"};
    char text[KIT_PTX_SIZE], path[] = "/tmp/kit-XXXXXX", command[256];
    const int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    if (system("command -v \"" PTXAS "\" >/dev/null 2>&1") != 0) {
        close(fd);
        unlink(path);
        print_message("no ptxas here: the text is not assembled\n");
        skip();
    }
    kit_ptx(text);
    assert_int_equal(write(fd, text, strlen(text)), strlen(text));
    close(fd);
    for (size_t i = 0; i < sizeof archs / sizeof *archs; i++) {
        snprintf(command, sizeof command, "\"%s\" -arch=%s -o /dev/null %s", PTXAS, archs[i], path);
        assert_int_equal(system(command), 0);
    }
    unlink(path);
}

static void the_kit_takes_what_it_can_scale(void **state)
{
    (void)state;
    assert_true(kit_handles(RECORD_F32, 16));
    assert_false(kit_handles(RECORD_F32, 200));
    assert_true(kit_handles(RECORD_I32, 0));
    assert_false(kit_handles(RECORD_F64, 0));
    assert_false(kit_handles(RECORD_F16, 1));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(floats_scale_exactly),
        cmocka_unit_test(nans_keep_their_bits),
        cmocka_unit_test(integers_do_not_scale),
        cmocka_unit_test(halves_scale_and_come_back),
        cmocka_unit_test(halves_have_known_bits),
        cmocka_unit_test(brain_floats_scale),
        cmocka_unit_test(doubles_scale),
        cmocka_unit_test(patterns_repeat_to_the_last_byte),
        cmocka_unit_test(differences_are_counted_in_elements),
        cmocka_unit_test(every_scalar_type_arrives),
        cmocka_unit_test(halves_cannot_be_passed),
        cmocka_unit_test(the_drivers_parts_are_harmless),
        cmocka_unit_test(the_kits_text_has_six_entries),
        cmocka_unit_test(the_kits_text_assembles),
        cmocka_unit_test(the_kit_takes_what_it_can_scale),
    };

    return cmocka_run_group_tests_name("runner", tests, NULL, NULL);
}

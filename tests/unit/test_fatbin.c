/*
 * test_fatbin.c - which text a fatbin container yields, what is refused with which advice, and
 * hostile containers. The containers are built here, byte by byte, after the layout in fatbin.c;
 * objects made by nvcc are read by the tests of solutions.
 */
#include "fatbin.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static unsigned char box[4096];
static size_t used;

static void put(size_t at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        box[at + i] = (unsigned char)(v >> (8 * i));
}

static void container(void)
{
    memset(box, 0, sizeof box);
    put(0, FATBIN_MAGIC, 4);
    put(4, 1, 2);
    put(6, 16, 2);
    used = 16;
}

static void entry(unsigned kind, size_t header, unsigned arch, uint64_t flags, const char *payload,
                  size_t size)
{
    put(used, kind, 2);
    put(used + 2, 0x101, 2);
    put(used + 4, header, 4);
    put(used + 8, size, 8);
    put(used + 28, arch, 4);
    put(used + 40, flags, 8);
    memcpy(box + used + header, payload, size);
    used += (header + size + 7) / 8 * 8;
    put(8, used - 16, 8);
}

static struct fatbin read_box(void)
{
    struct fatbin f;

    fatbin_read(&f, box, used, 90);
    return f;
}

static void expect_refusal(const char *why)
{
    const struct fatbin f = read_box();

    assert_int_equal(f.status, FATBIN_REFUSED);
    assert_null(f.ptx);
    if (!strstr(f.refusal, why))
        fail_msg("'%s' does not say '%s'", f.refusal, why);
}

static void test_chooses(void **state)
{
    (void)state;
    container();
    assert_int_equal(read_box().status, FATBIN_EMPTY);
    entry(1, 80, 80, 0x11, "old\0\0\0\0\0", 8);
    entry(2, 64, 90, 0x11, "\177ELFabcd", 8);
    entry(1, 144, 90, 0x100011, "text\0\0\0\0", 8);
    entry(1, 80, 100, 0x11, "new\0\0\0\0\0", 8);
    const struct fatbin f = read_box();
    assert_int_equal(f.status, FATBIN_OK);
    assert_int_equal(f.ptx_len, 4);
    assert_memory_equal(f.ptx, "text", 4);
    assert_int_equal(f.ptx_arch, 90);
    assert_int_equal(f.elf_len, 8);
    assert_int_equal(fatbin_size(box), used);
}

static void test_unaligned_payload(void **state)
{
    (void)state;
    container();
    entry(1, 80, 90, 0x11, "abc", 3);
    entry(2, 64, 90, 0x11, "\177ELF", 4);
    const struct fatbin f = read_box();
    assert_int_equal(f.ptx_len, 3); /* no NUL inside */
    assert_int_equal(f.elf_len, 4);
}

static void test_refusals(void **state)
{
    (void)state;
    container();
    entry(1, 80, 90, 0x8011, "packed..", 8);
    expect_refusal("--compress-mode=none");
    container();
    entry(1, 80, 90, 0x2011, "packed..", 8);
    expect_refusal("--compress-mode=none");
    container();
    entry(1, 80, 120, 0x11, "too new.", 8);
    entry(1, 80, 100, 0x11, "too new.", 8);
    expect_refusal("needs sm_100");
    container();
    entry(2, 64, 90, 0x11, "\177ELFabcd", 8);
    expect_refusal("-gencode");
}

static void test_plain_beats_packed(void **state)
{
    (void)state;
    container();
    entry(1, 80, 90, 0x8011, "packed..", 8);
    entry(1, 80, 90, 0x11, "plain\0\0\0", 8);
    assert_int_equal(read_box().status, FATBIN_OK);
}

static void test_hostile(void **state)
{
    (void)state;
    container();
    put(0, 0x12345678, 4);
    expect_refusal("not a fatbin");
    assert_int_equal(fatbin_size(box), 0);
    container();
    put(4, 2, 2);
    expect_refusal("unknown layout");
    container();
    put(8, UINT64_MAX, 8);
    expect_refusal("unknown layout");
    container();
    entry(1, 80, 90, 0x11, "text", 4);
    put(16 + 8, UINT64_MAX - 70, 8); /* payload size that wraps around */
    expect_refusal("entry of an unknown layout");
    container();
    entry(1, 80, 90, 0x11, "text", 4);
    put(16 + 4, 8, 4);
    expect_refusal("entry of an unknown layout");
    container();
    entry(7, 80, 90, 0x11, "text", 4);
    expect_refusal("entry of an unknown layout");
    used = 3;
    expect_refusal("not a fatbin");
}

static void test_wrapper(void **state)
{
    unsigned char w[24] = {0};
    const void *p = box;

    (void)state;
    assert_null(fatbin_container(w));
    assert_null(fatbin_container(NULL));
    for (int i = 0; i < 4; i++)
        w[i] = (unsigned char)(FATBIN_WRAPPER_MAGIC >> (8 * i));
    memcpy(w + 8, &p, sizeof p);
    assert_ptr_equal(fatbin_container(w), box);
}

/* An ELF image with the three sections that matter: strings, symbols, attributes. */
static size_t make_elf(unsigned char *e)
{
    static const char names[] = "\0first\0second";
    const size_t strings = 64, symbols = 96, info = 168, table = 256;

    memset(e, 0, 600);
    memcpy(e, "\177ELF\2\1\1", 7);
    e[41] = (unsigned char)(table >> 8); /* section table at 256 */
    e[58] = 64;
    e[60] = 4;
    memcpy(e + strings, names, sizeof names);
    e[symbols + 24] = 1; /* symbol 1: "first" */
    e[symbols + 48] = 7; /* symbol 2: "second" */
    static const unsigned char attributes[] = {4, 0x11, 8, 0,    1, 0, 0, 0, 0,  0, 0,  0, 3, 0x1b,
                                               0, 0,    4, 0x2f, 8, 0, 2, 0, 0,  0, 40, 0, 0, 0,
                                               4, 0x2f, 8, 0,    1, 0, 0, 0, 18, 0, 0,  0};
    memcpy(e + info, attributes, sizeof attributes);
    unsigned char *s = e + table + 64; /* section 1: strings */
    s[4] = 3;
    s[24] = (unsigned char)strings;
    s[32] = sizeof names;
    s += 64; /* section 2: symbols, linked to 1 */
    s[4] = 2;
    s[24] = (unsigned char)symbols;
    s[32] = 72;
    s[40] = 1;
    s += 64; /* section 3: attributes, linked to 2 */
    s[7] = 0x70;
    s[24] = (unsigned char)info;
    s[32] = sizeof attributes;
    s[40] = 2;
    return table + 4 * 64;
}

static void test_registers(void **state)
{
    unsigned char e[600];
    const size_t len = make_elf(e);

    (void)state;
    assert_int_equal(fatbin_registers(e, len, "first"), 18);
    assert_int_equal(fatbin_registers(e, len, "second"), 40);
    assert_int_equal(fatbin_registers(e, len, "third"), 0);
    assert_int_equal(fatbin_registers(NULL, 0, "first"), 0);
    for (size_t n = 0; n < len; n++) { /* cut anywhere: no read beyond, as the sanitizer sees */
        unsigned char *cut = malloc(n ? n : 1);
        assert_non_null(cut);
        memcpy(cut, e, n);
        (void)fatbin_registers(cut, n, "first");
        free(cut);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_chooses),   cmocka_unit_test(test_unaligned_payload),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_plain_beats_packed),
        cmocka_unit_test(test_hostile),   cmocka_unit_test(test_wrapper),
        cmocka_unit_test(test_registers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

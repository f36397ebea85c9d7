/*
 * test_mem.c - the address map: exact ends, red zones, quarantine, lookups, limits; initialised
 * bits against a byte array.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mem.h"

enum { LIMIT = 1 << 24 };

static void test_addresses(void **state)
{
    struct space s;
    bool inside;

    (void)state;
    for (unsigned again = 0; again < 2; again++) { /* the same addresses every time */
        assert_true(mem_open(&s, LIMIT, true));
        const struct alloc *a = mem_alloc(&s, 100, ALLOC_DEVICE),
                           *b = mem_alloc(&s, 1, ALLOC_DEVICE),
                           *c = mem_alloc(&s, 4096, ALLOC_DEVICE);
        assert_non_null(a);
        assert_non_null(b);
        assert_non_null(c);
        assert_int_equal(a->addr, GLOBAL_BASE + 256);
        assert_int_equal(a->addr % ALLOC_ALIGN, 0);
        assert_true(b->addr >= a->addr + a->size + RED_ZONE);
        assert_true(c->addr >= b->addr + b->size + RED_ZONE);
        assert_int_equal(b->ordinal, 2);
        assert_ptr_equal(mem_find(&s, a->addr + 99, &inside), a);
        assert_true(inside);
        assert_ptr_equal(mem_find(&s, a->addr + 100, &inside),
                         a); /* the nearest, for the message */
        assert_false(inside);
        assert_ptr_equal(mem_find(&s, b->addr - 1, &inside), b);
        assert_false(inside);
        assert_ptr_equal(mem_find(&s, a->addr - 1, &inside), a);
        assert_false(inside);
        assert_null(mem_find(&s, 8, &inside));
        mem_close(&s);
    }
}

static void test_bounds(void **state)
{
    struct space s;
    struct mem_hint hint = {0};

    (void)state;
    assert_true(mem_open(&s, LIMIT, true));
    struct alloc *a = mem_alloc(&s, 100, ALLOC_DEVICE), *b = mem_alloc(&s, 64, ALLOC_DEVICE);
    for (unsigned with_hint = 0; with_hint < 2; with_hint++) {
        assert_ptr_equal(mem_host_hint(&s, a->addr, 100, &hint), a->host);
        assert_ptr_equal(mem_host_hint(&s, a->addr + 96, 4, &hint), a->host + 96);
        assert_null(mem_host_hint(&s, a->addr + 97, 4, &hint));
        assert_null(mem_host_hint(&s, a->addr - 4, 4, &hint));
        assert_null(mem_host_hint(&s, a->addr, UINT64_MAX, &hint)); /* no wrap around */
        assert_null(mem_host_hint(&s, a->addr + 100, 1, &hint));
    }
    assert_ptr_equal(hint.alloc, a);
    assert_ptr_equal(mem_host_hint(&s, b->addr + 60, 4, &hint), b->host + 60);
    assert_ptr_equal(hint.alloc, b);
    mem_free(&s, b, 3);
    assert_null(
        mem_host_hint(&s, b->addr, 4, &hint)); /* the hint does not outlive the allocation */
    assert_int_equal(b->freed_launch, 3);
    const struct alloc *c = mem_alloc(&s, 64, ALLOC_DEVICE);
    assert_true(c->addr > b->addr + b->size); /* quarantined: never handed out again */
    mem_close(&s);
}

static void test_limit(void **state)
{
    struct space s;

    (void)state;
    assert_true(mem_open(&s, 1000, false));
    struct alloc *a = mem_alloc(&s, 600, ALLOC_DEVICE);
    assert_non_null(a);
    assert_null(mem_alloc(&s, 401, ALLOC_DEVICE));
    assert_null(mem_alloc(&s, UINT64_MAX, ALLOC_DEVICE));
    struct alloc *b = mem_alloc(&s, 400, ALLOC_DEVICE);
    assert_non_null(b);
    mem_free(&s, a, 1);
    assert_int_equal(s.live_bytes, 400);
    assert_int_equal(s.peak_bytes, 1000);
    assert_non_null(mem_alloc(&s, 600, ALLOC_DEVICE));
    mem_close(&s);
}

static void test_fresh_memory_is_poisoned(void **state)
{
    struct space s;

    (void)state;
    assert_true(mem_open(&s, LIMIT, true));
    const struct alloc *a = mem_alloc(&s, 41, ALLOC_DEVICE);
    const unsigned char pattern[4] = {0xa5, 0xa5, 0xe5, 0x7f};
    for (unsigned i = 0; i < 41; i++)
        assert_int_equal(a->host[i], pattern[i % 4]);
    float x;
    memcpy(&x, a->host, 4);
    assert_true(x != x); /* a NaN: what is forgotten shows */
    const struct alloc *v = mem_alloc(&s, 40, ALLOC_GLOBAL_VAR);
    for (unsigned i = 0; i < 40; i++)
        assert_int_equal(v->host[i], 0);
    assert_null(v->init); /* variables count as initialised */
    mem_close(&s);
}

static void test_host_ranges(void **state)
{
    struct space s;
    static unsigned char pinned[256];
    bool inside;

    (void)state;
    assert_true(mem_open(&s, LIMIT, true));
    struct alloc *a = mem_adopt_host(&s, pinned, sizeof pinned, ALLOC_REGISTERED);
    assert_non_null(a);
    assert_int_equal(a->addr, (uint64_t)(uintptr_t)pinned);
    assert_ptr_equal(mem_host(&s, a->addr + 16, 240, NULL), pinned + 16);
    assert_null(mem_host(&s, a->addr + 16, 241, NULL));
    mem_free(&s, a, 1);
    assert_null(mem_find(&s, (uint64_t)(uintptr_t)pinned, &inside));
    mem_close(&s);
}

/* ---- initialised bits ---- */
static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static void test_init_bits(void **state)
{
    enum { BYTES = 300 };
    uint64_t seed = 9;

    (void)state;
    for (unsigned round = 0; round < 200; round++) {
        struct space s;
        bool known[2][BYTES] = {{false}};
        assert_true(mem_open(&s, LIMIT, true));
        struct alloc *a[2] = {mem_alloc(&s, BYTES, ALLOC_DEVICE),
                              mem_alloc(&s, BYTES, ALLOC_DEVICE)};
        for (unsigned step = 0; step < 30; step++) {
            const unsigned which = next(&seed) % 2, from = next(&seed) % BYTES,
                           n = next(&seed) % (BYTES - from) + (next(&seed) % 8 == 0 ? 0 : 1);
            if (n == 0 || from + n > BYTES || n == BYTES)
                continue; /* all at once drops the bits: below */
            if (next(&seed) % 2) {
                mem_mark_init(a[which], from, n);
                memset(known[which] + from, 1, n);
            } else {
                const unsigned to = next(&seed) % (BYTES - n + 1);
                mem_copy_init(a[!which], to, a[which], from, n);
                memcpy(known[!which] + to, known[which] + from, n);
            }
            const unsigned at = next(&seed) % BYTES, len = 1 + next(&seed) % (BYTES - at);
            for (unsigned k = 0; k < 2; k++) {
                const bool *hole = memchr(known[k] + at, 0, len);
                uint64_t first = 0;
                assert_int_equal(mem_is_init(a[k], at, len, &first), hole == NULL);
                if (hole)
                    assert_int_equal(first, hole - known[k]);
            }
        }
        mem_mark_init(a[0], 0, BYTES);
        assert_null(a[0]->init);
        assert_true(mem_is_init(a[0], 0, BYTES, NULL));
        mem_close(&s);
    }
}

static void test_touched_sectors(void **state)
{
    struct space s;

    (void)state;
    assert_true(mem_open(&s, LIMIT, false));
    struct alloc *a = mem_alloc(&s, 1000, ALLOC_DEVICE), *b = mem_alloc(&s, 1000, ALLOC_DEVICE);
    mem_touch(a, a->addr, 4);
    mem_touch(a, a->addr + 28, 8); /* sectors 0 and 1 */
    mem_touch(a, a->addr + 999, 1);
    mem_touch(b, b->addr + 64, 128);
    mem_free(&s, b, 1); /* still counts in this launch */
    assert_int_equal(mem_touched_sectors(&s), 3 + 4);
    assert_int_equal(mem_touched_sectors(&s), 0); /* the next launch starts at none */
    mem_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_addresses),       cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_limit),           cmocka_unit_test(test_fresh_memory_is_poisoned),
        cmocka_unit_test(test_host_ranges),     cmocka_unit_test(test_init_bits),
        cmocka_unit_test(test_touched_sectors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

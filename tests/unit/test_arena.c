/*
 * test_arena.c - arena and xalloc: alignment, zeroing, overflow, failed allocations.
 */
#include "alloc_fault.h"
#include "arena.h"
#include "xalloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void blocks_are_aligned_and_zeroed(void **state)
{
    struct arena a = {0};

    (void)state;
    for (size_t size = 0; size < 70000; size = size * 3 + 1) {
        unsigned char *p = arena_alloc(&a, size);

        assert_non_null(p);
        assert_int_equal((uintptr_t)p % 16, 0);
        for (size_t i = 0; i < size; i++)
            assert_int_equal(p[i], 0);
        memset(p, 0xa5, size); /* an overlap with a later block would show there */
    }
    arena_fini(&a);
    assert_null(a.head);
    arena_fini(&a);
}

static void large_block_keeps_the_small_chunk_in_use(void **state)
{
    struct arena a = {0};
    char *first = arena_alloc(&a, 16), *second;

    (void)state;
    assert_non_null(arena_alloc(&a, 1000000));
    second = arena_alloc(&a, 16);
    assert_ptr_equal(second, first + 16);
    arena_fini(&a);
}

static void overflow_is_refused(void **state)
{
    struct arena a = {0};

    (void)state;
    assert_null(arena_array(&a, SIZE_MAX / 2, 3));
    assert_null(arena_alloc(&a, SIZE_MAX));
    assert_null(xalloc_array(SIZE_MAX / 2, 3));
    arena_fini(&a);
}

static void strings(void **state)
{
    struct arena a = {0};

    (void)state;
    assert_string_equal(arena_strdup(&a, "merge"), "merge");
    assert_string_equal(arena_strndup(&a, "merge", 3), "mer");
    assert_string_equal(arena_strndup(&a, "me", 30), "me");
    assert_string_equal(arena_printf(&a, "%s/%d", "topk", 7), "topk/7");
    arena_fini(&a);
}

static void failed_allocation_is_null_and_arena_stays_usable(void **state)
{
    struct arena a = {0};

    (void)state;
    alloc_fault_set(1);
    assert_null(arena_alloc(&a, 8));
    assert_int_equal(alloc_fault_count(), 1);
    assert_non_null(arena_alloc(&a, 8));
    alloc_fault_set(1);
    assert_null(xstrdup("x"));
    alloc_fault_set(1);
    assert_null(xrealloc(NULL, 4));
    alloc_fault_set(0);
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_are_aligned_and_zeroed),
        cmocka_unit_test(large_block_keeps_the_small_chunk_in_use),
        cmocka_unit_test(overflow_is_refused),
        cmocka_unit_test(strings),
        cmocka_unit_test(failed_allocation_is_null_and_arena_stays_usable),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

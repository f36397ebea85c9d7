/*
 * test_suite.c - how many processes judge at once. Whole suites run in the command-line tests.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "suite.h"

static struct backend_choice choice(enum backend kind, uint64_t memory_gib)
{
    struct backend_choice b = {.kind = kind};

    b.facts.memory_bytes = memory_gib << 30;
    return b;
}

static void the_virtual_gpu_takes_every_core(void **state)
{
    const struct backend_choice b = choice(BACKEND_VGPU, 1);

    (void)state;
    assert_int_equal(suite_jobs(&b, 0), suite_cores());
    assert_int_equal(suite_jobs(&b, 7), 7);
}

/* Memory and cores bound the processes on a GPU; one always runs; who asks for more gets it. */
static void a_gpu_takes_few(void **state)
{
    const struct backend_choice small = choice(BACKEND_GPU, 8), large = choice(BACKEND_GPU, 140);
    const unsigned by_cores = suite_cores() / 2 > 0 ? suite_cores() / 2 : 1;

    (void)state;
    assert_int_equal(suite_jobs(&small, 0), 1);
    assert_int_equal(suite_jobs(&large, 0), by_cores < 4 ? by_cores : 4);
    assert_int_equal(suite_jobs(&small, 3), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_virtual_gpu_takes_every_core),
                                       cmocka_unit_test(a_gpu_takes_few)};

    return cmocka_run_group_tests_name("suite", tests, NULL, NULL);
}

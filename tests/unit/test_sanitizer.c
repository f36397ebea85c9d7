/*
 * test_sanitizer.c - the summary and the first problem in the output of compute-sanitizer.
 */
#include "sanitizer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static char reason[200];

static void a_clean_run_is_no_complaint(void **state)
{
    (void)state;
    assert_false(sanitizer_complains("", reason, sizeof reason));
    assert_false(sanitizer_complains("ERROR SUMMARY: 3 errors\n", reason, sizeof reason));
    assert_false(sanitizer_complains("========= COMPUTE-SANITIZER\nhello\n"
                                     "========= ERROR SUMMARY: 0 errors\n",
                                     reason, sizeof reason));
    assert_false(sanitizer_complains(
        "========= COMPUTE-SANITIZER\n"
        "========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)\n",
        reason, sizeof reason));
}

static void an_access_error_is_told_with_its_place(void **state)
{
    (void)state;
    assert_true(sanitizer_complains("========= COMPUTE-SANITIZER\n"
                                    "========= Invalid __global__ read of size 4 bytes\n"
                                    "=========     at sum(const float *, int)+0xe0 in my.cu:12\n"
                                    "=========     by thread (256,0,0) in block (0,0,0)\n"
                                    "=========\n"
                                    "========= ERROR SUMMARY: 3 errors\n",
                                    reason, sizeof reason));
    assert_string_equal(reason, "Invalid __global__ read of size 4 bytes at sum(const float *, "
                                "int)+0xe0 in my.cu:12; 3 errors");
}

static void a_hazard_is_told_too(void **state)
{
    (void)state;
    assert_true(sanitizer_complains(
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Race reported between Write access at k(int *)+0x70 in r.cu:5\n"
        "=========     and Read access at k(int *)+0x90 in r.cu:6 [96 hazards]\n"
        "========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)\n",
        reason, sizeof reason));
    assert_string_equal(reason, "Error: Race reported between Write access at k(int *)+0x70 in "
                                "r.cu:5; 1 hazard displayed (1 error, 0 warnings)");
}

static void a_long_line_is_cut(void **state)
{
    char small[24];

    (void)state;
    assert_true(sanitizer_complains("========= Barrier error detected. Divergent thread(s)\n"
                                    "========= ERROR SUMMARY: 1 error",
                                    small, sizeof small));
    assert_string_equal(small, "Barrier error detected.");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_clean_run_is_no_complaint),
        cmocka_unit_test(an_access_error_is_told_with_its_place),
        cmocka_unit_test(a_hazard_is_told_too),
        cmocka_unit_test(a_long_line_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

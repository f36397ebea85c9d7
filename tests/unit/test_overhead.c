/*
 * test_overhead.c - what the judge itself costs: sixty cases of a solution whose calls take no
 * time, already built, three calls each (judge.md section 18: 0.5 s in all, 5 ms a case).
 * Registered as perf.judge_overhead. The limits hold on a free machine; the best of three rounds
 * is taken.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "double_problem.h"

#include "proc.h"

#include <stdio.h>

#define CASES 60

static void a_cached_verdict_costs_half_a_second_at_most(void **state)
{
    static const char *const edge[] = {"edge", NULL};
    static char names[CASES][16];
    struct fixture *f = double_open();
    double best_s = 1e9, best_case_ms = 1e9;

    (void)state;
    for (unsigned i = 0; i < CASES; i++) {
        snprintf(names[i], sizeof names[i], "case_%u", i);
        double_case(f, names[i], 100 + 97 * i, edge);
    }
    for (int round = 0; round < 3; round++) {
        const double begin = proc_now_s();
        double slowest_ms = 0.0, sum_ms = 0.0;

        double_judge(f, "correct", SOLUTION_ACCEPT);
        assert_int_equal(f->r.verdict, VERDICT_AC);
        assert_int_equal(f->r.ac_count, CASES);
        if (proc_now_s() - begin < best_s)
            best_s = proc_now_s() - begin;
        for (unsigned i = 0; i < CASES; i++) {
            assert_int_equal(f->r.cases[i].calls, 3);
            sum_ms += f->r.cases[i].total_ms;
            if (f->r.cases[i].total_ms > slowest_ms)
                slowest_ms = f->r.cases[i].total_ms;
        }
        if (sum_ms / CASES < best_case_ms)
            best_case_ms = sum_ms / CASES;
    }
    print_message("judge overhead: %.3f s for %d cases, %.2f ms a case\n", best_s, CASES,
                  best_case_ms);
    assert_true(best_s <= 0.5);
    assert_true(best_case_ms <= 5.0);
    double_close(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cached_verdict_costs_half_a_second_at_most)};

    return cmocka_run_group_tests_name("overhead", tests, NULL, NULL);
}

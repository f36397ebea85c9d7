/*
 * test_judging.c - whole judgements on the stand-in runtime: each C "solution" of tests/misbehave
 * gets its verdict with its reason. Compiles nothing.
 * Invariant: the table names every file of tests/misbehave, so a new one is not forgotten.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "double_problem.h"
#include "fileio.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CASES 4

static int set_up(void **state)
{
    static const char *const site[] = {"site", NULL}, *const edge[] = {"edge", NULL};
    struct fixture *f = double_open();

    double_case(f, "site_100", 100, site);
    double_case(f, "edge_1000", 1000, edge);
    double_case(f, "edge_7", 7, edge);
    double_case(f, "edge_33", 33, edge);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    double_close(*state);
    return 0;
}

/* What is said about a solution: at its own level, or at the case that decides. */
static const char *reason_of(const struct fixture *f)
{
    const struct case_result *c = results_decisive(&f->r);

    return c != NULL ? c->reason : f->r.reason;
}

static void a_correct_solution_is_accepted(void **state)
{
    struct fixture *f = *state;

    double_judge(f, "correct", SOLUTION_ACCEPT);
    assert_int_equal(f->r.verdict, VERDICT_AC);
    assert_int_equal(f->r.site_verdict, VERDICT_AC);
    assert_int_equal(f->r.ac_count, CASES);
    assert_true(f->r.as_expected);
    for (unsigned i = 0; i < CASES; i++) {
        assert_int_equal(f->r.cases[i].calls, 3);
        assert_int_equal(f->r.cases[i].exponents[0][0], 0);
        assert_true(f->r.cases[i].exponents[1][0] != 0);
        assert_true(f->r.cases[i].exponents[2][0] != f->r.cases[i].exponents[1][0]);
        assert_string_equal(f->r.cases[i].warnings, "");
    }
}

struct expected {
    const char *name;
    enum verdict verdict;
    char call; /* of the first failing case; 0 = do not look */
    const char *reason;
};

static const struct expected table[] = {
    {"bad_launch", VERDICT_RE, 'A', "cudaErrorInvalidConfiguration after solve() returned"},
    {"churn_memory", VERDICT_AC, 0, ""},
    {"close_fds", VERDICT_RE, 'A', ""},
    {"copy_on_stream", VERDICT_WA, 'A', "output[0] = -3, want -6; 99 of 100 differ"},
    {"correct", VERDICT_AC, 0, ""},
    {"crash_call", VERDICT_RE, 'A', "killed by SIGSEGV in host code at address 0"},
    {"crash_exit", VERDICT_RE, 0, "at its end: killed by SIGABRT"},
    {"crash_load", VERDICT_RE, 0, "while loading: killed by SIGABRT"},
    {"device_reset", VERDICT_RE, 'A', "called cudaDeviceReset"},
    {"dlopen_library", VERDICT_RE, 'A', "loaded "},
    {"drift", VERDICT_WA, 0, "output["},
    {"exit_load", VERDICT_RE, 0, "while loading: solution ended the process"},
    {"exit_zero", VERDICT_RE, 'A', "solution ended the process (exit code 0)"},
    {"flood_stdout", VERDICT_AC, 0, ""},
    {"forged_record", VERDICT_RE, 'A', "no honest record of the call: "},
    {"fork_leave", VERDICT_RE, 'A', "solution ended the process (exit code 0)"},
    {"fork_twice", VERDICT_AC, 0, ""},
    {"free_input", VERDICT_RE, 'A', ""},
    {"hang", VERDICT_TLE, 'A', "no answer within 0.4 s"},
    {"hoard_host", VERDICT_MLE, 'A', ""},
    {"hoard_memory", VERDICT_MLE, 'A', "asked for 16.0 MiB with 96.0 MiB in use"},
    {"host_dereference", VERDICT_RE, 'A',
     "solve() dereferenced device pointer 'input' on the host"},
    {"late_thread", VERDICT_WA, 'A', "output[0] was not written, want -6"},
    {"leak", VERDICT_AC, 0, ""},
    {"no_solve", VERDICT_RE, 0, "no symbol 'solve'"},
    {"print_accepted", VERDICT_WA, 'A', "output[0]"},
    {"replay", VERDICT_WA, 'B', "output[0]"},
    {"replay_pointer", VERDICT_WA, 'C', "output[0]"},
    {"scribble_input", VERDICT_WA, 'A', "modified input 'input': 1 elements, first at 50"},
    {"stale_graph", VERDICT_RE, 0, "bytes in front of the start of 'output'"},
    {"truncated_record", VERDICT_RE, 'A', ""},
    {"unwritten", VERDICT_WA, 'A', "output[50] was not written, want 19; 50 of 100 differ"},
    {"write_before_start", VERDICT_RE, 'A', "bytes in front of the start of 'output'"},
    {"write_past_end", VERDICT_RE, 'A', "wrote 8 bytes past the end of 'output', first at +4"},
};

/* Judged elsewhere: hang_load waits for the load limit of a minute, and whether late_change is
 * caught depends on what runs 30 ms later. test_launch.c looks at both. */
static const char *const elsewhere[] = {"hang_load", "late_change"};

static void each_misbehaviour_gets_its_verdict(void **state)
{
    struct fixture *f = *state;
    unsigned faults = 0;

    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct expected *e = &table[i];

        f->p.time_s = strcmp(e->name, "hang") == 0 ? 0.4 : 10;
        f->cfg.host_memory_mib = strcmp(e->name, "hoard_host") == 0 ? 256 : 8192;
        double_judge(f, e->name, SOLUTION_REJECT);
        if (f->r.verdict != e->verdict || strstr(reason_of(f), e->reason) == NULL ||
            (e->call != 0 && f->r.first_failed != NULL && f->r.first_failed->call != e->call)) {
            print_message("%s: %s, call %c, '%s'; expected %s, call %c, '%s'\n", e->name,
                          verdict_name(f->r.verdict),
                          f->r.first_failed != NULL ? f->r.first_failed->call : '-', reason_of(f),
                          verdict_name(e->verdict), e->call, e->reason);
            faults++;
        }
    }
    assert_int_equal(faults, 0);
}

static void every_misbehaviour_is_in_the_table(void **state)
{
    struct fixture *f = *state;
    const char *const *names;
    unsigned count, seen = 0;

    assert_int_equal(dir_list(&names, &count, &f->a, TEST_ROOT "/tests/misbehave", &f->d),
                     STATUS_OK);
    for (unsigned i = 0; i < count; i++) {
        const size_t len = strlen(names[i]);
        bool known = false;

        if (len < 3 || strcmp(names[i] + len - 2, ".c") != 0)
            continue;
        seen++;
        for (size_t k = 0; k < sizeof table / sizeof *table; k++)
            known = known || (strlen(table[k].name) == len - 2 &&
                              strncmp(table[k].name, names[i], len - 2) == 0);
        for (size_t k = 0; k < sizeof elsewhere / sizeof *elsewhere; k++)
            known = known || (strlen(elsewhere[k]) == len - 2 &&
                              strncmp(elsewhere[k], names[i], len - 2) == 0);
        if (!known)
            fail_msg("tests/misbehave/%s has no row here", names[i]);
    }
    assert_true(seen >= 30);
}

static void a_fault_does_not_stop_the_other_cases(void **state)
{
    struct fixture *f = *state;

    double_judge(f, "exit_zero", SOLUTION_REJECT);
    for (unsigned i = 0; i < CASES; i++)
        assert_int_equal(f->r.cases[i].verdict, VERDICT_RE);
    assert_string_equal(f->r.first_failed->casedef->name, "site_100");
}

static void two_timeouts_are_enough(void **state)
{
    struct fixture *f = *state;

    f->p.time_s = 0.4;
    double_judge(f, "hang", SOLUTION_REJECT);
    assert_int_equal(f->r.cases[1].verdict, VERDICT_TLE);
    assert_int_equal(f->r.cases[2].verdict, VERDICT_SK);
    assert_string_equal(f->r.cases[2].reason, "not tried after 2 time-outs");
    assert_int_equal(f->r.verdict, VERDICT_TLE);
}

/* In the whole run a reject that failed as its tag says costs no further case; `set` is the tag. */
static unsigned skipped_of(struct fixture *f, enum solution_kind kind, unsigned set)
{
    f->o.stop_at_expected = true;
    double_solution(f, "unwritten", kind);
    f->s.expect.set = set;
    if (judging_run_object(&f->r, &f->a, &f->o, f->cases, f->case_count, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
    assert_int_equal(f->r.verdict, VERDICT_WA);
    return f->r.sk_count;
}

static void a_reject_may_stop_at_its_promised_failure(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(skipped_of(f, SOLUTION_REJECT, 1u << VERDICT_WA), CASES - 1);
    assert_string_equal(f->r.cases[1].reason, "not tried: it failed as its tag says");
    assert_string_equal(f->r.first_failed->casedef->name, "site_100");
    assert_true(f->r.as_expected);
    assert_int_equal(skipped_of(f, SOLUTION_REJECT, 1u << VERDICT_RE), 0); /* not this one */
    assert_false(f->r.as_expected);
    assert_int_equal(skipped_of(f, SOLUTION_REJECT, 1u << VERDICT_WA | 1u << VERDICT_AC), 0);
    assert_int_equal(skipped_of(f, SOLUTION_BASELINE, 1u << VERDICT_WA), CASES - 1);
}

static void baselines_may_load_libraries(void **state)
{
    struct fixture *f = *state;

    double_judge(f, "dlopen_library", SOLUTION_BASELINE);
    assert_int_equal(f->r.verdict, VERDICT_AC);
}

static void leaks_are_told(void **state)
{
    struct fixture *f = *state;

    double_judge(f, "leak", SOLUTION_ACCEPT);
    assert_int_equal(f->r.verdict, VERDICT_AC);
    assert_non_null(strstr(f->r.cases[0].warnings, "leak: device memory held grows by 1048576"));
}

static void replays_are_hinted_at(void **state)
{
    struct fixture *f = *state;

    double_judge(f, "replay", SOLUTION_REJECT);
    assert_string_equal(f->r.first_failed->hints[0], "returns the previous call's result");
    double_judge(f, "unwritten", SOLUTION_REJECT);
    assert_string_equal(f->r.first_failed->hints[0],
                        "unwritten: 50 of 100 elements, from index 50");
}

static void the_same_seed_gives_the_same_exponents(void **state)
{
    struct fixture *f = *state;
    int first[CASES][2];

    double_judge(f, "correct", SOLUTION_ACCEPT);
    for (unsigned i = 0; i < CASES; i++) {
        first[i][0] = f->r.cases[i].exponents[1][0];
        first[i][1] = f->r.cases[i].exponents[2][0];
    }
    double_judge(f, "correct", SOLUTION_ACCEPT);
    for (unsigned i = 0; i < CASES; i++) {
        assert_int_equal(f->r.cases[i].exponents[1][0], first[i][0]);
        assert_int_equal(f->r.cases[i].exponents[2][0], first[i][1]);
    }
}

static void gpu_only_cases_are_skipped_and_neutral(void **state)
{
    struct fixture *f = *state;

    f->defs[1].needs_gpu = true;
    double_judge(f, "correct", SOLUTION_ACCEPT);
    assert_int_equal(f->r.cases[1].verdict, VERDICT_SK);
    assert_int_equal(f->r.verdict, VERDICT_AC);
    for (unsigned i = 0; i < CASES; i++)
        f->defs[i].needs_gpu = true;
    double_judge(f, "correct", SOLUTION_ACCEPT);
    assert_int_equal(f->r.verdict, VERDICT_SK); /* nothing judged is not AC */
}

static void a_damaged_case_is_our_fault(void **state)
{
    struct fixture *f = *state;

    f->defs[2].key = "another";
    f->defs[2].in.committed = f->defs[2].ref.committed = true;
    double_judge(f, "correct", SOLUTION_ACCEPT);
    assert_int_equal(f->r.verdict, VERDICT_JE);
    assert_int_equal(f->r.cases[0].verdict, VERDICT_AC);
    assert_int_equal(f->r.cases[2].verdict, VERDICT_JE);
}

static void repeats_report_their_spread(void **state)
{
    struct fixture *f = *state;

    f->o.repeat = 5;
    double_judge(f, "correct", SOLUTION_ACCEPT);
    assert_string_equal(f->r.cases[0].warnings, "repeat: 5 equal calls gave equal outputs");
}

static void failing_outputs_are_kept(void **state)
{
    struct fixture *f = *state;
    char path[700];

    f->o.keep_dir = arena_printf(&f->a, "%s/keep", f->dir);
    double_judge(f, "unwritten", SOLUTION_REJECT);
    snprintf(path, sizeof path, "%s/double.unwritten.site_100.A.out.safetensors", f->o.keep_dir);
    assert_true(file_exists(path));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(a_correct_solution_is_accepted),
                                       CASE(each_misbehaviour_gets_its_verdict),
                                       CASE(every_misbehaviour_is_in_the_table),
                                       CASE(a_fault_does_not_stop_the_other_cases),
                                       CASE(two_timeouts_are_enough),
                                       CASE(a_reject_may_stop_at_its_promised_failure),
                                       CASE(baselines_may_load_libraries),
                                       CASE(leaks_are_told),
                                       CASE(replays_are_hinted_at),
                                       CASE(the_same_seed_gives_the_same_exponents),
                                       CASE(gpu_only_cases_are_skipped_and_neutral),
                                       CASE(a_damaged_case_is_our_fault),
                                       CASE(repeats_report_their_spread),
                                       CASE(failing_outputs_are_kept)};

    return cmocka_run_group_tests_name("judging", tests, NULL, NULL);
}

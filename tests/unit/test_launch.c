/*
 * test_launch.c - judge-runner on the stand-in runtime, driven through launch.h: a correct
 * solution, and one for each way to misbehave.
 */
#include "alloc_fault.h"
#include "proc.h"
#include "runner_bench.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- the control ---- */

static void full_plan(uint64_t n, uint64_t offset)
{
    struct bench b = {0};

    begin(&b, "correct", n);
    assert_done(&b);
    b.casedef = casedef_of(n, offset);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_early[1], 0), 0);
    assert_null(b.reply.out[0]);
    assert_null(b.reply.out_previous[1]);
    call(&b, (struct call_request){.letter = 'B',
                                   .address_set = 1,
                                   .poison_kind = 1,
                                   .exponents = {-3},
                                   .reread_previous = true});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -3), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_previous[1], 0), 0);
    call(&b, (struct call_request){.letter = 'C', .exponents = {5}});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 5), 0);
    runner_finish(b.runner, &b.reply);
    assert_int_equal(b.reply.end, CALL_DONE);
    end(&b);
}

static void a_correct_solution_is_right_in_every_call(void **state)
{
    (void)state;
    full_plan(N, 0);
}

static void so_is_one_with_misaligned_buffers(void **state)
{
    (void)state;
    full_plan(N, 1);
}

static void so_is_one_with_large_buffers(void **state)
{
    (void)state;
    full_plan(N_LONG, 0);
    full_plan(N_LONG, 3);
}

static void so_is_one_with_empty_buffers(void **state)
{
    (void)state;
    full_plan(0, 0);
}

static void so_is_one_with_exact_allocations(void **state)
{
    struct bench b = {0};
    struct runner_config rc = config_of(NULL);

    (void)state;
    rc.exact_alloc = true;
    begin_with(&b, "correct", N, rc);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    end(&b);
}

/* The buffers of a case of another size reach the solution right: no state of the last one stays.
 */
static void cases_of_different_sizes_follow_each_other(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "correct", N_LONG);
    call_a(&b);
    assert_clean(&b);
    case_make(&b, 7);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    end(&b);
}

/* ---- deaths ---- */

static void assert_gone(struct bench *b, enum call_end how, const char *text)
{
    if (b->reply.end != how || strstr(b->reply.text, text) == NULL)
        fail_msg("end %d (%s) instead of %d (%s)", b->reply.end, b->reply.text, how, text);
    assert_false(runner_alive(b->runner));
    assert_null(b->reply.out[1]);
}

static void a_crash_while_loading_is_seen(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "crash_load", N);
    assert_gone(&b, CALL_SIGNALLED, "killed by SIGABRT while loading");
    assert_int_equal(b.reply.signo, 6);
    end(&b);
}

static void an_exit_while_loading_is_seen(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "exit_load", N);
    assert_gone(&b, CALL_EXITED, "solution ended the process while loading (exit code 0)");
    end(&b);
}

static void a_hang_while_loading_is_killed(void **state)
{
    struct bench b = {0};
    struct runner_config rc = config_of(NULL);

    (void)state;
    rc.load_limit_s = 0.2;
    begin_with(&b, "hang_load", N, rc);
    assert_gone(&b, CALL_TIMEOUT, "no answer within 0.2 s");
    end(&b);
}

static void a_missing_solve_is_named(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "no_solve", N);
    assert_int_equal(b.reply.end, CALL_DONE);
    assert_int_equal(b.reply.record.status, RECORD_NO_SOLVE);
    assert_string_equal(b.reply.record.text, "no function named solve");
    end(&b);
}

static void an_object_that_cannot_be_loaded_is_named(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "there_is_no_such_file", N);
    assert_int_equal(b.reply.end, CALL_DONE);
    assert_int_equal(b.reply.record.status, RECORD_LOAD_FAILED);
    assert_non_null(strstr(b.reply.record.text, "there_is_no_such_file.so"));
    end(&b);
}

static void a_crash_in_the_call_names_the_address(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "crash_call", N);
    call_a(&b);
    assert_gone(&b, CALL_SIGNALLED, "killed by SIGSEGV in host code at address 0 (a null pointer)");
    end(&b);
}

static void a_device_pointer_used_on_the_host_is_named(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "host_dereference", N);
    call_a(&b);
    assert_gone(&b, CALL_SIGNALLED,
                "solve() dereferenced device pointer 'input' on the host (byte 0 of it)");
    end(&b);
}

static void a_crash_at_the_end_is_seen(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "crash_exit", N);
    call_a(&b);
    assert_clean(&b);
    runner_finish(b.runner, &b.reply);
    assert_gone(&b, CALL_SIGNALLED, "killed by SIGABRT at its end");
    end(&b);
}

static void a_hang_is_killed_at_the_limit(void **state)
{
    struct bench b = {0};
    const double begin_s = proc_now_s();

    (void)state;
    begin(&b, "hang", N);
    call(&b, (struct call_request){.letter = 'A', .limit_s = 0.25});
    assert_gone(&b, CALL_TIMEOUT, "no answer within 0.25 s");
    assert_true(proc_now_s() - begin_s < 5);
    end(&b);
}

static void an_exit_with_success_is_no_success(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "exit_zero", N);
    call_a(&b);
    assert_gone(&b, CALL_EXITED, "solution ended the process (exit code 0)");
    end(&b);
}

static void a_forked_copy_takes_no_part(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "fork_twice", N);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    call(&b, (struct call_request){.letter = 'B', .address_set = 1, .reread_previous = true});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_previous[1], 0), 0);
    end(&b);
}

static void a_copy_that_stays_does_not_hide_the_exit(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "fork_leave", N);
    call_a(&b);
    assert_gone(&b, CALL_EXITED, "solution ended the process (exit code 0)");
    assert_true(b.reply.wall_s < 2);
    end(&b);
}

static void closed_descriptors_lose_the_result(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "close_fds", N);
    call_a(&b);
    assert_gone(&b, CALL_EXITED, "solution closed the judge's descriptors");
    end(&b);
}

static void a_forged_record_is_refused(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "forged_record", N);
    call_a(&b);
    assert_gone(&b, CALL_FORGED, "a record without this call's nonce");
    end(&b);
}

static void a_truncated_record_is_refused(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "truncated_record", N);
    call_a(&b);
    assert_gone(&b, CALL_FORGED, "a truncated record");
    end(&b);
}

static void host_memory_has_a_limit(void **state)
{
    struct bench b = {0};
    struct runner_config rc = config_of(NULL);

    (void)state;
    rc.host_memory_mib = 256;
    begin_with(&b, "hoard_host", N, rc);
    call_a(&b);
    assert_gone(&b, CALL_HOST_MEMORY, "used more than 256 MiB of host memory");
    end(&b);
}

/* ---- output ---- */

static void floods_are_kept_to_64_kib(void **state)
{
    struct bench b = {0};
    uint64_t dropped;
    size_t len;

    (void)state;
    begin(&b, "flood_stdout", N);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(strspn(runner_output(b.runner, false, &len, &dropped), "a\n"), 65536);
    assert_int_equal(len, 65536);
    assert_int_equal(dropped, 65536u * 1024 - 65536);
    end(&b);
}

static void printed_verdicts_are_only_text(void **state)
{
    struct bench b = {0};
    uint64_t dropped;
    size_t len;

    (void)state;
    begin(&b, "print_accepted", N);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), N);
    assert_int_equal(bits_of(b.reply.out[1], 0), 0x7fe5a5a5u);
    assert_non_null(strstr(runner_output(b.runner, false, &len, &dropped), "PASSED"));
    end(&b);
}

/* ---- memory and CUDA ---- */

static void leaks_show_as_growth(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "leak", N);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(b.reply.record.alloc_live, 1 << 20);
    assert_int_equal(b.reply.record.alloc_calls, 1);
    call(&b, (struct call_request){.letter = 'B', .address_set = 1});
    assert_int_equal(b.reply.record.alloc_live, 2 << 20);
    assert_int_equal(b.reply.record.alloc_peak, 2 << 20);
    end(&b);
}

static void memory_that_comes_and_goes_is_not_held(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "churn_memory", N);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(b.reply.record.alloc_calls, 5000);
    assert_int_equal(b.reply.record.alloc_live, 0);
    assert_int_equal(b.reply.record.alloc_peak, 5000 * 256);
    end(&b);
}

static void device_memory_has_a_limit(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "hoard_memory", N);
    call_a(&b);
    assert_int_equal(b.reply.end, CALL_DONE);
    assert_int_equal(b.reply.record.status, RECORD_MEMORY_LIMIT);
    assert_int_equal(b.reply.record.alloc_refused, 1);
    assert_int_equal(b.reply.record.alloc_live, 96 << 20);
    assert_string_equal(
        b.reply.record.text,
        "asked for 16.0 MiB with 96.0 MiB in use, beyond the allowance; what earlier "
        "calls did not free counts");
    end(&b);
}

static void a_freed_buffer_is_refused_and_reported(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "free_input", N);
    call_a(&b);
    assert_int_equal(b.reply.end, CALL_DONE);
    assert_int_equal(b.reply.record.error_class, ERROR_OTHER);
    assert_int_equal(b.reply.record.flags, RECORD_FLAG_FOREIGN_FREE);
    assert_string_equal(b.reply.record.text,
                        "the solution freed a buffer that belongs to the caller");
    call_a(&b); /* the runner is none the worse */
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    end(&b);
}

static void a_reset_is_refused_and_reported(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "device_reset", N);
    call_a(&b);
    assert_int_equal(b.reply.end, CALL_DONE);
    assert_int_equal(b.reply.record.error_class, ERROR_OTHER);
    assert_string_equal(b.reply.record.error_name, "cudaErrorNotPermitted");
    assert_string_equal(b.reply.record.text, "the solution called cudaDeviceReset");
    end(&b);
}

static void a_pending_launch_error_is_seen_behind_right_output(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "bad_launch", N);
    call_a(&b);
    assert_int_equal(b.reply.end, CALL_DONE);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(b.reply.record.error_after_return, 9);
    assert_int_equal(b.reply.record.error_class, ERROR_LAUNCH);
    assert_string_equal(b.reply.record.error_name, "cudaErrorInvalidConfiguration");
    assert_int_equal(b.reply.record.launches, 1);
    end(&b);
}

/* ---- contents ---- */

static void changed_inputs_are_found(void **state)
{
    const uint64_t sizes[] = {N, N_LONG};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b = {0};
        begin(&b, "scribble_input", sizes[i]);
        call(&b, (struct call_request){.letter = 'A', .exponents = {2}});
        assert_done(&b);
        assert_int_equal(b.reply.record.params[0].input_changed, 1);
        assert_int_equal(b.reply.record.params[0].input_first, sizes[i] / 2);
        end(&b);
    }
}

static void unwritten_elements_hold_the_poison_of_the_call(void **state)
{
    const uint64_t sizes[] = {N, N_LONG};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b = {0};
        const uint64_t last = sizes[i] - 1;
        begin(&b, "unwritten", sizes[i]);
        call_a(&b);
        assert_done(&b);
        assert_int_equal(bits_of(b.reply.out[1], last), 0x7fe5a5a5u);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), sizes[i] - sizes[i] / 2);
        call(&b, (struct call_request){.letter = 'B', .address_set = 1, .poison_kind = 1});
        assert_int_equal(bits_of(b.reply.out[1], last), 0x7f61a5a5u);
        call(&b, (struct call_request){.letter = 'C'}); /* set X was poisoned afresh */
        assert_int_equal(bits_of(b.reply.out[1], last), 0x7fe5a5a5u);
        end(&b);
    }
}

static void writes_past_the_end_are_located(void **state)
{
    const uint64_t sizes[] = {N, N_LONG};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b = {0};
        begin(&b, "write_past_end", sizes[i]);
        call_a(&b);
        assert_done(&b);
        /* output[n+1] and output[n+2]: 1.0f differs from the pattern in all four bytes */
        assert_int_equal(b.reply.record.params[1].guard_hits_after, 8);
        assert_int_equal(b.reply.record.params[1].guard_first_after, 4);
        assert_int_equal(b.reply.record.params[1].guard_hits_before, 0);
        assert_int_equal(b.reply.record.params[0].guard_hits_after, 0);
        end(&b);
    }
}

static void writes_before_the_start_are_located(void **state)
{
    const uint64_t sizes[] = {N, N_LONG};

    (void)state;
    for (unsigned i = 0; i < 2; i++) {
        struct bench b = {0};
        begin(&b, "write_before_start", sizes[i]);
        call_a(&b);
        assert_done(&b);
        assert_int_equal(b.reply.record.params[1].guard_hits_before, 4);
        assert_int_equal(b.reply.record.params[1].guard_first_before,
                         -9); /* output[-3] ends there */
        assert_int_equal(b.reply.record.params[1].guard_hits_after, 0);
        end(&b);
    }
}

static void a_replayed_answer_is_wrong_by_a_factor(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "replay", N);
    call_a(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    call(&b, (struct call_request){.letter = 'B', .address_set = 1, .exponents = {1}});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 1), N - 1); /* one input is 0 */
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    end(&b);
}

/* Call C meets the addresses of call A with other contents, also where allocations are exact. */
static void an_answer_kept_by_pointer_is_wrong_in_call_c(void **state)
{
    (void)state;
    for (unsigned exact = 0; exact < 2; exact++) {
        struct bench b = {0};
        struct runner_config rc = config_of(NULL);
        rc.exact_alloc = exact != 0;
        begin_with(&b, "replay_pointer", N, rc);
        call(&b, (struct call_request){.letter = 'A'});
        assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
        call(&b, (struct call_request){.letter = 'B', .address_set = 1, .exponents = {1}});
        assert_int_equal(wrong_elements(&b, b.reply.out[1], 1), 0);
        call(&b, (struct call_request){.letter = 'C', .exponents = {2}});
        assert_int_equal(wrong_elements(&b, b.reply.out[1], 2), N - 1); /* one input is 0 */
        end(&b);
    }
}

static void a_late_answer_is_no_answer(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "late_thread", N);
    call_a(&b);
    assert_done(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), N);
    end(&b);
}

static void a_late_change_shows_when_read_again(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "late_change", N);
    call_a(&b);
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    usleep(100000);
    call(&b, (struct call_request){.letter = 'B', .address_set = 1, .reread_previous = true});
    assert_int_equal(wrong_elements(&b, b.reply.out_previous[1], 0), 1);
    end(&b);
}

static void a_library_mapped_in_the_call_is_named(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "dlopen_library", N);
    assert_string_equal(b.reply.record.new_library, "");
    call_a(&b);
    assert_done(&b);
    assert_string_equal(b.reply.record.new_library, "libutil.so.1");
    call(&b, (struct call_request){.letter = 'B', .address_set = 1});
    assert_string_equal(b.reply.record.new_library, ""); /* once */
    end(&b);
}

static void baselines_may_map_libraries(void **state)
{
    struct bench b = {0};
    struct runner_config rc = config_of(NULL);

    (void)state;
    rc.allow_libraries = true;
    begin_with(&b, "dlopen_library", N, rc);
    call_a(&b);
    assert_clean(&b);
    end(&b);
}

/* ---- start ---- */

static void a_probe_reports_the_device(void **state)
{
    const struct runner_config rc = config_of(NULL);
    struct device_facts facts;
    struct diag d;

    (void)state;
    assert_int_equal(runner_probe(&rc, &facts, &d), STATUS_OK);
    assert_string_equal(facts.name, "stand-in (host memory, runs no kernel)");
    assert_string_equal(facts.arch, "90a");
    assert_string_equal(facts.runtime, "13.0");
    assert_true(facts.is_virtual);
}

static void no_device_is_nothing_not_a_fault(void **state)
{
    const struct runner_config rc = config_of(NULL);
    struct runner_config second = config_of(NULL);
    struct device_facts facts;
    struct diag d;

    (void)state;
    second.device = 5;
    assert_int_equal(runner_probe(&second, &facts, &d), STATUS_NOTHING);
    assert_non_null(strstr(d.text, "device 5 asked for, 1 present"));
    setenv("CUDA_VISIBLE_DEVICES", "none", 1);
    assert_int_equal(runner_probe(&rc, &facts, &d), STATUS_NOTHING);
    assert_non_null(strstr(d.text, "cudaErrorNoDevice"));
    unsetenv("CUDA_VISIBLE_DEVICES");
}

static void a_missing_runtime_is_a_fault_of_ours(void **state)
{
    struct runner_config rc = config_of(NULL);
    struct device_facts facts;
    struct diag d;

    (void)state;
    rc.cudart_path = "/nowhere/libcudart.so.13";
    assert_int_equal(runner_probe(&rc, &facts, &d), STATUS_INTERNAL);
    assert_non_null(strstr(d.text, "/nowhere/libcudart.so.13"));
}

static void a_missing_program_is_named(void **state)
{
    struct runner_config rc = config_of(NULL);
    struct device_facts facts;
    struct diag d;

    (void)state;
    rc.runner_path = "/nowhere/judge-runner";
    assert_int_equal(runner_probe(&rc, &facts, &d), STATUS_IO);
    assert_non_null(strstr(d.text, "cannot start /nowhere/judge-runner"));
}

/* Mode cannot be read: run and bench differ in commands only, which solve() does not get. */
static void arguments_and_environment_are_the_same_in_all_modes(void **state)
{
    char *const from[] = {(char[]){"HOME=/home/x"}, (char[]){"SECRET=1"}, (char[]){"PATH=/bin"},
                          NULL};
    struct runner_config rc = config_of("/x.so");
    struct arena a = {0};
    const char *argv[LAUNCH_MAX_ARGS];
    const char *const *env;

    (void)state;
    assert_int_equal(launch_argv(argv, &rc), 2);
    assert_string_equal(argv[0], TEST_BUILD "/judge-runner");
    assert_string_equal(argv[1], "serve");
    assert_null(argv[2]);
    env = launch_environment(&a, &rc, from);
    assert_string_equal(env[0], "LC_ALL=C");
    assert_string_equal(env[1], "CUDA_DEVICE_ORDER=PCI_BUS_ID");
    assert_string_equal(env[2], "HOME=/home/x");
    assert_string_equal(env[3], "PATH=/bin");
    assert_null(env[4]);
    rc.backend = BACKEND_VGPU;
    rc.vgpu_checks = "mem,sync";
    rc.vgpu_budget = 2000000;
    rc.vgpu_seed = 7;
    env = launch_environment(&a, &rc, from);
    assert_string_equal(env[4], "WARPJUDGE_VGPU=checks=mem,sync;counters=0;seed=7;budget=2000000;"
                                "memory_mib=4196;fd=4");
    assert_null(env[5]);
    arena_fini(&a);
}

static void tools_stand_in_front_of_the_runner(void **state)
{
    struct runner_config rc = config_of("/x.so");
    const char *argv[LAUNCH_MAX_ARGS];
    unsigned n;

    (void)state;
    rc.sanitize = "racecheck";
    n = launch_argv(argv, &rc);
    assert_string_equal(argv[0], "compute-sanitizer");
    assert_string_equal(argv[2], "racecheck");
    assert_string_equal(argv[n - 2], TEST_BUILD "/judge-runner");
    assert_string_equal(argv[n - 1], "serve");
    rc.sanitize = "memcheck";
    n = launch_argv(argv, &rc);
    assert_string_equal(argv[n - 4], "--report-api-errors"); /* ours to judge, not the tool's */
    assert_string_equal(argv[n - 3], "no");
    rc.sanitize = NULL;
    rc.profile = "full";
    n = launch_argv(argv, &rc);
    assert_string_equal(argv[0], "ncu");
    assert_string_equal(argv[2], "full");
    assert_string_equal(argv[n - 1], "serve");
    assert_null(argv[n]);
}

/* ---- failures of ours ---- */

static void a_start_without_memory_gives_everything_back(void **state)
{
    const struct runner_config rc = config_of("/x.so");
    struct runner *r = NULL;
    struct diag d;
    unsigned long failed = 0;

    (void)state;
    for (unsigned long n = 1; r == NULL; n++) {
        alloc_fault_set(n);
        const enum status st = runner_start(&r, &rc, &d);
        alloc_fault_set(0);
        assert_int_equal(st, r == NULL ? STATUS_NOMEM : STATUS_OK);
        failed += r == NULL;
        assert_true(n < 100);
    }
    assert_true(failed >= 4); /* the runner and its three captures at least */
    runner_stop(r);
}

static void a_case_that_does_not_fit_the_problem_is_refused(void **state)
{
    struct bench b = {0};
    const struct call_request req = {.limit_s = 5};

    (void)state;
    begin(&b, "correct", N);
    b.casedef = casedef_of(N + 1, 0);
    assert_int_equal(runner_call(b.runner, &b.casedef, &b.file, &req, &b.reply, &b.d),
                     STATUS_BAD_DATA);
    assert_string_equal(b.d.text,
                        "case 'case': the file holds no f32 tensor 'input' with 1001 elements");
    b.casedef = casedef_of(N, 0);
    b.casedef.scalar[2] = 1e300;
    assert_int_equal(runner_call(b.runner, &b.casedef, &b.file, &req, &b.reply, &b.d),
                     STATUS_BAD_DATA);
    assert_string_equal(b.d.text, "scalar 'n' is 1e+300, not an exact integer");
    b.casedef = casedef_of(N, 0); /* neither was sent: the runner goes on */
    call_a(&b);
    assert_clean(&b);
    end(&b);
}

/* ---- cost ---- */

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define COST_LIMIT_S 6.0 /* instrumented code: only a hang of some kind shows */
#else
#define COST_LIMIT_S 0.3
#endif

static double suite_s(struct bench *b)
{
    const double begin_s = proc_now_s();

    for (unsigned i = 0; i < 60; i++) {
        call(b, (struct call_request){.letter = 'A'});
        call(b, (struct call_request){
                    .letter = 'B', .address_set = 1, .poison_kind = 1, .reread_previous = true});
        call(b, (struct call_request){.letter = 'C', .exponents = {1}});
    }
    return proc_now_s() - begin_s;
}

/* 60 cases of three calls are a usual functional suite: judge.md section 18 allows 5 ms a case. The
 * best of three rounds, as other work on the machine only adds. */
static void sixty_cases_of_three_calls_take_less_than_300_ms(void **state)
{
    struct bench b = {0};
    double best_s = 1e9;

    (void)state;
    begin(&b, "correct", N);
    call_a(&b);
    for (unsigned round = 0; round < 3; round++) {
        const double s = suite_s(&b);
        best_s = s < best_s ? s : best_s;
    }
    print_message("180 calls: %.1f ms\n", best_s * 1e3);
    assert_true(best_s < COST_LIMIT_S);
    end(&b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_correct_solution_is_right_in_every_call),
        cmocka_unit_test(so_is_one_with_misaligned_buffers),
        cmocka_unit_test(so_is_one_with_large_buffers),
        cmocka_unit_test(so_is_one_with_empty_buffers),
        cmocka_unit_test(so_is_one_with_exact_allocations),
        cmocka_unit_test(cases_of_different_sizes_follow_each_other),
        cmocka_unit_test(a_crash_while_loading_is_seen),
        cmocka_unit_test(an_exit_while_loading_is_seen),
        cmocka_unit_test(a_hang_while_loading_is_killed),
        cmocka_unit_test(a_missing_solve_is_named),
        cmocka_unit_test(an_object_that_cannot_be_loaded_is_named),
        cmocka_unit_test(a_crash_in_the_call_names_the_address),
        cmocka_unit_test(a_device_pointer_used_on_the_host_is_named),
        cmocka_unit_test(a_crash_at_the_end_is_seen),
        cmocka_unit_test(a_hang_is_killed_at_the_limit),
        cmocka_unit_test(an_exit_with_success_is_no_success),
        cmocka_unit_test(a_forked_copy_takes_no_part),
        cmocka_unit_test(a_copy_that_stays_does_not_hide_the_exit),
        cmocka_unit_test(closed_descriptors_lose_the_result),
        cmocka_unit_test(a_forged_record_is_refused),
        cmocka_unit_test(a_truncated_record_is_refused),
        cmocka_unit_test(host_memory_has_a_limit),
        cmocka_unit_test(floods_are_kept_to_64_kib),
        cmocka_unit_test(printed_verdicts_are_only_text),
        cmocka_unit_test(leaks_show_as_growth),
        cmocka_unit_test(memory_that_comes_and_goes_is_not_held),
        cmocka_unit_test(device_memory_has_a_limit),
        cmocka_unit_test(a_freed_buffer_is_refused_and_reported),
        cmocka_unit_test(a_reset_is_refused_and_reported),
        cmocka_unit_test(a_pending_launch_error_is_seen_behind_right_output),
        cmocka_unit_test(changed_inputs_are_found),
        cmocka_unit_test(unwritten_elements_hold_the_poison_of_the_call),
        cmocka_unit_test(writes_past_the_end_are_located),
        cmocka_unit_test(writes_before_the_start_are_located),
        cmocka_unit_test(a_replayed_answer_is_wrong_by_a_factor),
        cmocka_unit_test(an_answer_kept_by_pointer_is_wrong_in_call_c),
        cmocka_unit_test(a_late_answer_is_no_answer),
        cmocka_unit_test(a_late_change_shows_when_read_again),
        cmocka_unit_test(a_library_mapped_in_the_call_is_named),
        cmocka_unit_test(baselines_may_map_libraries),
        cmocka_unit_test(a_probe_reports_the_device),
        cmocka_unit_test(no_device_is_nothing_not_a_fault),
        cmocka_unit_test(a_missing_runtime_is_a_fault_of_ours),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(arguments_and_environment_are_the_same_in_all_modes),
        cmocka_unit_test(tools_stand_in_front_of_the_runner),
        cmocka_unit_test(a_start_without_memory_gives_everything_back),
        cmocka_unit_test(a_case_that_does_not_fit_the_problem_is_refused),
        cmocka_unit_test(sixty_cases_of_three_calls_take_less_than_300_ms),
    };

    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}

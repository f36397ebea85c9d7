/*
 * test_launch.c - judge-runner on the stand-in runtime, driven through launch.h: a correct
 * solution, and one for each way to misbehave. Judges nothing: it looks at replies, as judging.c
 * does.
 */
#include "launch.h"
#include "proc.h"
#include "tempdir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#define N      1000
#define N_LONG 700001 /* more than one 1 MiB image, not a multiple of anything */

static const struct problem problem = {
    .name = "double",
    .param_count = 3,
    .group_count = 1,
    .params = {{.name = "input", .dir = DIR_IN, .dtype = DTYPE_F32, .group = 0},
               {.name = "output", .dir = DIR_OUT, .dtype = DTYPE_F32, .group = -1},
               {.name = "n", .dir = DIR_IN, .dtype = DTYPE_I32, .scalar = true, .group = -1}},
};

struct bench {
    char *dir;
    struct casefile file;
    struct casedef casedef;
    float *input;
    uint64_t n;
    struct runner *runner;
    struct call_reply reply;
    struct diag d;
};

static struct casedef casedef_of(uint64_t n, uint64_t offset)
{
    struct casedef c = {.name = "case"};

    c.scalar[2] = (double)n;
    c.count[0] = c.count[1] = n;
    c.rank[0] = c.rank[1] = 1;
    c.shape[0][0] = c.shape[1][0] = n;
    c.offset[0] = c.offset[1] = offset;
    return c;
}

static void case_make(struct bench *b, uint64_t n)
{
    char path[512];

    b->n = n;
    b->input = calloc(n == 0 ? 1 : n, sizeof *b->input);
    assert_non_null(b->input);
    for (uint64_t i = 0; i < n; i++)
        b->input[i] = (float)((double)i * 0.25 - 3.0);
    const int32_t count = (int32_t)n;
    const struct tensor tensors[] = {
        {.name = "input",
         .dtype = DTYPE_F32,
         .rank = 1,
         .shape = {n},
         .count = n,
         .size = n * sizeof(float),
         .data = b->input},
        {.name = "n", .dtype = DTYPE_I32, .count = 1, .size = sizeof count, .data = &count},
    };
    snprintf(path, sizeof path, "%s/case_%llu.in.safetensors", b->dir, (unsigned long long)n);
    assert_int_equal(casefile_write(path, tensors, 2, NULL, &b->d), STATUS_OK);
    assert_int_equal(casefile_open(&b->file, path, &b->d), STATUS_OK);
    b->casedef = casedef_of(n, 0);
}

static struct runner_config config_of(const char *so_path)
{
    return (struct runner_config){.runner_path = TEST_BUILD "/judge-runner",
                                  .cudart_path = TEST_BUILD "/standin/libcudart.so.13",
                                  .so_path = so_path,
                                  .backend = BACKEND_STANDIN,
                                  .problem = &problem,
                                  .memory_limit_mib = 100,
                                  .host_memory_mib = 8192,
                                  .load_limit_s = 5};
}

/* Starts a runner and loads tests/misbehave/<name>.c; the reply to the load is in b->reply. */
static void begin_with(struct bench *b, const char *name, struct runner_config rc)
{
    char so[512];

    snprintf(so, sizeof so, "%s/misbehave/%s.so", TEST_BUILD, name);
    rc.so_path = so;
    if (runner_start(&b->runner, &rc, &b->d) != STATUS_OK)
        fail_msg("runner_start: %s", b->d.text);
    assert_int_equal(runner_load(b->runner, &b->reply, &b->d), STATUS_OK);
}

static void begin(struct bench *b, const char *name, uint64_t n)
{
    b->dir = tempdir_make();
    case_make(b, n);
    begin_with(b, name, config_of(NULL));
}

static void end(struct bench *b)
{
    runner_stop(b->runner);
    casefile_close(&b->file);
    free(b->input);
    tempdir_remove(b->dir);
}

static void call(struct bench *b, struct call_request req)
{
    if (req.limit_s <= 0)
        req.limit_s = 20;
    if (runner_call(b->runner, &b->casedef, &b->file, &req, &b->reply, &b->d) != STATUS_OK)
        fail_msg("runner_call: %s", b->d.text);
}

static void call_a(struct bench *b) { call(b, (struct call_request){.letter = 'A'}); }

static void assert_done(const struct bench *b)
{
    if (b->reply.end != CALL_DONE)
        fail_msg("end %d: %s", b->reply.end, b->reply.text);
    assert_string_equal(b->reply.record.text, "");
    assert_int_equal(b->reply.record.status, RECORD_OK);
}

/* Elements of the output that are not 2 * input * 2^exponent. */
static uint64_t wrong_elements(const struct bench *b, const void *out, int exponent)
{
    const float *got = out;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < b->n; i++)
        wrong += !(got[i] == ldexpf(2.0f * b->input[i], exponent));
    return wrong;
}

static void assert_clean(const struct bench *b)
{
    const struct record *r = &b->reply.record;

    assert_done(b);
    assert_int_equal(r->error_class, ERROR_NONE);
    for (unsigned i = 0; i < RECORD_MAX_PARAMS; i++) {
        assert_int_equal(r->params[i].guard_hits_before, 0);
        assert_int_equal(r->params[i].guard_hits_after, 0);
        assert_int_equal(r->params[i].input_changed, 0);
        assert_int_equal(r->params[i].late_elements, 0);
    }
    assert_string_equal(r->new_library, "");
    assert_int_equal(r->alloc_refused, 0);
}

static uint32_t bits_of(const void *out, uint64_t index)
{
    uint32_t bits;

    memcpy(&bits, (const char *)out + index * sizeof bits, sizeof bits);
    return bits;
}

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
    b.dir = tempdir_make();
    case_make(&b, N);
    rc.exact_alloc = true;
    begin_with(&b, "correct", rc);
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
    casefile_close(&b.file);
    free(b.input);
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
    b.dir = tempdir_make();
    case_make(&b, N);
    rc.load_limit_s = 0.2;
    begin_with(&b, "hang_load", rc);
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
    b.dir = tempdir_make();
    case_make(&b, N);
    rc.host_memory_mib = 256;
    begin_with(&b, "hoard_host", rc);
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
    assert_string_equal(b.reply.record.text,
                        "asked for 16.0 MiB with 96.0 MiB in use, beyond the allowance");
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
    b.dir = tempdir_make();
    case_make(&b, N);
    rc.allow_libraries = true;
    begin_with(&b, "dlopen_library", rc);
    call_a(&b);
    assert_clean(&b);
    end(&b);
}

/* ---- timed samples, by the host's clock ---- */

static void a_cold_sample_is_checked_like_a_call(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "correct", N_LONG);
    for (unsigned i = 0; i < 3; i++) {
        const struct timing_request t = {
            .exponents = {(int)i}, .slab_step = i * 4096, .limit_s = 20};
        assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
        assert_clean(&b);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], (int)i), 0);
        assert_true(b.reply.record.event_us > 0);
        assert_int_equal(b.reply.record.flags, RECORD_FLAG_NO_KIT);
    }
    end(&b);
}

static void a_hot_batch_hands_over_every_output(void **state)
{
    struct bench b = {0};
    const struct timing_request t = {
        .hot = true, .repeats = 9, .exponents = {1}, .exponents2 = {-2}, .limit_s = 20};

    (void)state;
    begin(&b, "correct", N);
    assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
    assert_clean(&b);
    assert_int_equal(b.reply.hot_copies, 10);
    for (unsigned j = 0; j < b.reply.hot_copies; j++)
        assert_int_equal(
            wrong_elements(&b, (const char *)b.reply.out_all[1] + j * b.reply.out_stride[1],
                           j % 2 == 0 ? 1 : -2),
            0);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -2), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_early[1], 1), 0);
    end(&b);
}

static void allocations_in_timed_calls_are_flagged(void **state)
{
    struct bench b = {0};
    const struct timing_request t = {.limit_s = 20};

    (void)state;
    begin(&b, "leak", N);
    assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
    assert_done(&b);
    assert_int_equal(b.reply.record.flags, RECORD_FLAG_ALLOCATES | RECORD_FLAG_NO_KIT);
    end(&b);
}

static void graph_sample(struct bench *b, int exponent)
{
    const struct timing_request t = {.graph = true, .exponents = {exponent}, .limit_s = 20};

    assert_int_equal(runner_time(b->runner, &b->casedef, &b->file, &t, &b->reply, &b->d),
                     STATUS_OK);
}

/* Captured once; the replays see new contents in the same buffers. Halves, as this one copies. */
static void a_graph_is_replayed_on_new_contents(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "copy_on_stream", N);
    for (int exponent = 0; exponent < 3; exponent++) {
        graph_sample(&b, exponent);
        assert_clean(&b);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], exponent - 1), 0);
        assert_int_equal(b.reply.record.flags, RECORD_FLAG_NO_KIT);
    }
    end(&b);
}

/* It does nothing that a stream would hold: the graph is empty and the output stays unwritten. */
static void work_outside_a_stream_does_not_get_into_a_graph(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "correct", N);
    graph_sample(&b, 0);
    assert_done(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), N);
    end(&b);
}

static void a_stale_graph_writes_to_the_first_buffers_only(void **state)
{
    struct bench b = {0};

    (void)state;
    begin(&b, "stale_graph", N);
    call(&b, (struct call_request){.letter = 'A'});
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -1), 0);
    call(&b, (struct call_request){.letter = 'B', .address_set = 1, .poison_kind = 1});
    assert_done(&b);
    assert_int_equal(bits_of(b.reply.out[1], 0), 0x7f61a5a5u);
    end(&b);
}

/* ---- the path of a real GPU: kit, pristine copies, pinned memory, flush ---- */

static struct runner_config gpu_config(void)
{
    struct runner_config rc = config_of(NULL);

    rc.backend = BACKEND_GPU; /* on the stand-in, which plays the runner's kernels */
    return rc;
}

static void begin_gpu(struct bench *b, const char *name, uint64_t n)
{
    b->dir = tempdir_make();
    case_make(b, n);
    begin_with(b, name, gpu_config());
}

static void large_inputs_are_made_on_the_device(void **state)
{
    struct bench b = {0};

    (void)state;
    begin_gpu(&b, "correct", N_LONG);
    call(&b, (struct call_request){.letter = 'A', .exponents = {4}});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 4), 0);
    call(&b, (struct call_request){
                 .letter = 'B', .address_set = 1, .poison_kind = 1, .reread_previous = true});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], 0), 0);
    assert_int_equal(wrong_elements(&b, b.reply.out_previous[1], 4), 0);
    casefile_close(&b.file);
    free(b.input);
    case_make(&b, N_LONG + 5); /* another file: its own pristine copy */
    b.casedef = casedef_of(N_LONG + 5, 2);
    call(&b, (struct call_request){.letter = 'A', .exponents = {-1}});
    assert_clean(&b);
    assert_int_equal(wrong_elements(&b, b.reply.out[1], -1), 0);
    end(&b);
}

static void changed_inputs_are_found_on_the_device(void **state)
{
    struct bench b = {0};

    (void)state;
    begin_gpu(&b, "scribble_input", N_LONG);
    call(&b, (struct call_request){.letter = 'A', .exponents = {2}});
    assert_done(&b);
    assert_int_equal(b.reply.record.params[0].input_changed, 1);
    assert_int_equal(b.reply.record.params[0].input_first, N_LONG / 2);
    end(&b);
}

static void cold_samples_run_behind_a_flush(void **state)
{
    struct bench b = {0};
    struct timing_request t = {.exponents = {3}, .slab_step = 512, .limit_s = 20};

    (void)state;
    begin_gpu(&b, "correct", N_LONG);
    for (unsigned i = 0; i < 2; i++, t.dirty_flush = true) {
        assert_int_equal(runner_time(b.runner, &b.casedef, &b.file, &t, &b.reply, &b.d), STATUS_OK);
        assert_clean(&b);
        assert_int_equal(b.reply.record.flags, 0);
        assert_int_equal(wrong_elements(&b, b.reply.out[1], 3), 0);
    }
    end(&b);
}

static void ceilings_are_measured(void **state)
{
    struct bench b = {0};
    struct device_facts facts;

    (void)state;
    begin_gpu(&b, "correct", N);
    assert_int_equal(runner_facts(b.runner, &facts, true, &b.d), STATUS_OK);
    assert_true(facts.copy_tbs > 0 && facts.e0_us > 0);
    assert_false(facts.is_virtual);
    end(&b);
    begin(&b, "correct", N);
    assert_int_equal(runner_facts(b.runner, &facts, true, &b.d), STATUS_INTERNAL);
    assert_string_equal(b.d.text, "device not usable: ceilings need a real GPU");
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
    rc.sanitize = NULL;
    rc.profile = "full";
    n = launch_argv(argv, &rc);
    assert_string_equal(argv[0], "ncu");
    assert_string_equal(argv[2], "full");
    assert_string_equal(argv[n - 1], "serve");
    assert_null(argv[n]);
}

/* ---- cost ---- */

/* 60 cases of three calls are a usual functional suite: judge.md section 18 allows 5 ms a case. */
static void sixty_cases_of_three_calls_take_less_than_300_ms(void **state)
{
    struct bench b = {0};
    double begin_s, spent_s;

    (void)state;
    begin(&b, "correct", N);
    call_a(&b);
    begin_s = proc_now_s();
    for (unsigned i = 0; i < 60; i++) {
        call(&b, (struct call_request){.letter = 'A'});
        call(&b, (struct call_request){
                     .letter = 'B', .address_set = 1, .poison_kind = 1, .reread_previous = true});
        call(&b, (struct call_request){.letter = 'C', .exponents = {1}});
    }
    spent_s = proc_now_s() - begin_s;
    print_message("180 calls: %.1f ms\n", spent_s * 1e3);
    assert_true(spent_s < 0.3);
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
        cmocka_unit_test(device_memory_has_a_limit),
        cmocka_unit_test(a_freed_buffer_is_refused_and_reported),
        cmocka_unit_test(a_reset_is_refused_and_reported),
        cmocka_unit_test(a_pending_launch_error_is_seen_behind_right_output),
        cmocka_unit_test(changed_inputs_are_found),
        cmocka_unit_test(unwritten_elements_hold_the_poison_of_the_call),
        cmocka_unit_test(writes_past_the_end_are_located),
        cmocka_unit_test(writes_before_the_start_are_located),
        cmocka_unit_test(a_replayed_answer_is_wrong_by_a_factor),
        cmocka_unit_test(a_late_answer_is_no_answer),
        cmocka_unit_test(a_late_change_shows_when_read_again),
        cmocka_unit_test(a_library_mapped_in_the_call_is_named),
        cmocka_unit_test(baselines_may_map_libraries),
        cmocka_unit_test(a_cold_sample_is_checked_like_a_call),
        cmocka_unit_test(a_hot_batch_hands_over_every_output),
        cmocka_unit_test(allocations_in_timed_calls_are_flagged),
        cmocka_unit_test(a_graph_is_replayed_on_new_contents),
        cmocka_unit_test(work_outside_a_stream_does_not_get_into_a_graph),
        cmocka_unit_test(a_stale_graph_writes_to_the_first_buffers_only),
        cmocka_unit_test(large_inputs_are_made_on_the_device),
        cmocka_unit_test(changed_inputs_are_found_on_the_device),
        cmocka_unit_test(cold_samples_run_behind_a_flush),
        cmocka_unit_test(ceilings_are_measured),
        cmocka_unit_test(a_probe_reports_the_device),
        cmocka_unit_test(no_device_is_nothing_not_a_fault),
        cmocka_unit_test(a_missing_runtime_is_a_fault_of_ours),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(arguments_and_environment_are_the_same_in_all_modes),
        cmocka_unit_test(tools_stand_in_front_of_the_runner),
        cmocka_unit_test(sixty_cases_of_three_calls_take_less_than_300_ms),
    };

    return cmocka_run_group_tests_name("launch", tests, NULL, NULL);
}

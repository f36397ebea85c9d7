/*
 * test_proc.c - helper programs: exit codes, signals, deadlines, capped capture, start failures.
 */
#include "proc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static struct proc_result shell(struct arena *a, const char *script, double limit_s, size_t cap)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct proc_request rq = {
        .argv = argv, .limit_s = limit_s, .out_cap = cap, .err_cap = cap};
    struct proc_result r;
    struct diag d;

    assert_int_equal(proc_run(&r, a, &rq, &d), STATUS_OK);
    return r;
}

static void captures_both_streams_and_the_exit_code(void **state)
{
    struct arena a = {0};
    const struct proc_result r = shell(&a, "echo out; echo err >&2; exit 7", 10, 100);

    (void)state;
    assert_string_equal(r.out, "out\n");
    assert_string_equal(r.err, "err\n");
    assert_int_equal(r.exit_code, 7);
    assert_false(proc_ok(&r));
    assert_string_equal(proc_describe(&r, &a), "exit code 7");
    arena_fini(&a);
}

static void output_beyond_the_cap_is_counted(void **state)
{
    struct arena a = {0};
    const struct proc_result r = shell(&a, "head -c 300000 /dev/zero | tr '\\0' x", 10, 1000);

    (void)state;
    assert_true(proc_ok(&r));
    assert_int_equal(r.out_len, 1000);
    assert_int_equal(strlen(r.out), 1000);
    assert_int_equal(r.out_dropped, 299000);
    arena_fini(&a);
}

static void signal_is_named(void **state)
{
    struct arena a = {0};
    const struct proc_result r = shell(&a, "kill -SEGV $$", 10, 10);

    (void)state;
    assert_int_equal(r.exit_code, -1);
    assert_string_equal(proc_describe(&r, &a), "killed by SIGSEGV");
    arena_fini(&a);
}

static struct proc_result shell_cpu(struct arena *a, const char *script, double limit_s)
{
    const char *const argv[] = {"sh", "-c", script, NULL};
    const struct proc_request rq = {
        .argv = argv, .limit_s = limit_s, .limit_is_cpu = true, .out_cap = 100, .err_cap = 100};
    struct proc_result r;
    struct diag d;

    assert_int_equal(proc_run(&r, a, &rq, &d), STATUS_OK);
    return r;
}

/* What waits for a busy machine may take its time; what works, or never ends, may not. */
static void processor_time_can_be_the_limit(void **state)
{
    struct arena a = {0};
    double start = proc_now_s();
    struct proc_result r = shell_cpu(&a, "sleep 0.5; echo done", 0.2);

    (void)state;
    assert_false(r.timed_out);
    assert_string_equal(r.out, "done\n");
    assert_true(proc_now_s() - start >= 0.5);
    r = shell_cpu(&a, "(while :; do :; done) & wait", 0.3); /* in a descendant */
    assert_true(r.timed_out);
    assert_true(r.wall_s >= 0.3);
    start = proc_now_s();
    r = shell_cpu(&a, "sleep 60", 0.2);
    assert_true(r.timed_out);
    assert_true(r.wall_s >= PROC_PATIENCE * 0.2 && r.wall_s < 20);
    arena_fini(&a);
}

static void deadline_kills_the_whole_group(void **state)
{
    struct arena a = {0};
    const double start = proc_now_s();
    const struct proc_result r = shell(&a, "sleep 60 & echo $!; wait", 0.2, 100);
    pid_t grandchild = (pid_t)atoi(r.out);
    bool gone = false;

    (void)state;
    assert_true(r.timed_out);
    assert_int_equal(r.signo, SIGKILL);
    assert_true(proc_now_s() - start < 5);
    assert_true(grandchild > 1);
    for (int i = 0; i < 200 && !gone; i++) { /* init reaps it a little later */
        char path[64];

        gone = kill(grandchild, 0) != 0;
        (void)snprintf(path, sizeof path, "/proc/%d/stat", (int)grandchild);
        if (!gone) {
            FILE *f = fopen(path, "r");
            char line[256] = "";

            if (f && fgets(line, sizeof line, f))
                gone = strstr(line, ") Z ") != NULL;
            if (f)
                (void)fclose(f);
            (void)usleep(10000);
        }
    }
    assert_true(gone);
    arena_fini(&a);
}

static void grandchild_with_our_pipe_does_not_delay_us(void **state)
{
    struct arena a = {0};
    const double start = proc_now_s();
    const struct proc_result r = shell(&a, "sleep 5 & echo done", 10, 100);

    (void)state;
    assert_string_equal(r.out, "done\n");
    assert_true(proc_now_s() - start < 3);
    arena_fini(&a);
}

static void stop_flag_ends_the_child(void **state)
{
    struct arena a = {0};
    static const volatile sig_atomic_t stop = 1;
    const char *const argv[] = {"sleep", "60", NULL};
    const struct proc_request rq = {.argv = argv, .stop = &stop};
    struct proc_result r;
    struct diag d;

    (void)state;
    assert_int_equal(proc_run(&r, &a, &rq, &d), STATUS_OK);
    assert_true(r.stopped);
    assert_string_equal(proc_describe(&r, &a), "interrupted");
    arena_fini(&a);
}

static void missing_program_and_directory_are_errors(void **state)
{
    struct arena a = {0};
    const char *const argv[] = {"no-such-program-here", NULL};
    const char *const sh[] = {"sh", "-c", ":", NULL};
    struct proc_request rq = {.argv = argv};
    struct proc_result r;
    struct diag d;

    (void)state;
    assert_int_equal(proc_run(&r, &a, &rq, &d), STATUS_IO);
    assert_string_equal(d.text, "cannot start 'no-such-program-here': No such file or directory");
    rq.argv = sh;
    rq.dir = "/no/such/dir";
    assert_int_equal(proc_run(&r, &a, &rq, &d), STATUS_IO);
    assert_string_equal(d.text, "cannot start 'sh': No such file or directory");
    arena_fini(&a);
}

static void environment_directory_and_stdin(void **state)
{
    struct arena a = {0};
    const char *const argv[] = {"/bin/sh", "-c", "pwd; echo $COLOUR; read x || echo empty", NULL};
    const char *const env[] = {"COLOUR=blue", NULL};
    const struct proc_request rq = {.argv = argv, .env = env, .dir = "/usr", .out_cap = 100};
    struct proc_result r;
    struct diag d;

    (void)state;
    assert_int_equal(proc_run(&r, &a, &rq, &d), STATUS_OK);
    assert_string_equal(r.out, "/usr\nblue\nempty\n");
    arena_fini(&a);
}

static void find_in_path(void **state)
{
    struct arena a = {0};

    (void)state;
    assert_non_null(proc_find(&a, "sh"));
    assert_int_equal(proc_find(&a, "sh")[0], '/');
    assert_null(proc_find(&a, "no-such-program-here"));
    assert_null(proc_find(&a, "/no/such/file"));
    arena_fini(&a);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_both_streams_and_the_exit_code),
        cmocka_unit_test(output_beyond_the_cap_is_counted),
        cmocka_unit_test(signal_is_named),
        cmocka_unit_test(processor_time_can_be_the_limit),
        cmocka_unit_test(deadline_kills_the_whole_group),
        cmocka_unit_test(grandchild_with_our_pipe_does_not_delay_us),
        cmocka_unit_test(stop_flag_ends_the_child),
        cmocka_unit_test(missing_program_and_directory_are_errors),
        cmocka_unit_test(environment_directory_and_stdin),
        cmocka_unit_test(find_in_path),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_clockwatch.c - readings of the clock watcher: lines, intervals, reasons, a machine without
 * NVML.
 */
#include "clockwatch.h"
#include "tempdir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static void lines_are_read(void **state)
{
    struct clock_tick t;

    (void)state;
    assert_true(clockwatch_parse(&t, "2500000000 1980 3201 41 312500 5 2"));
    assert_true(fabs(t.time_s - 2.5) < 1e-9 && t.sm_mhz == 1980 && t.memory_mhz == 3201);
    assert_true(t.temperature_c == 41 && fabs(t.power_w - 312.5) < 1e-9);
    assert_int_equal(t.throttle, 4); /* "idle" is no throttle */
    assert_int_equal(t.others, 2);
    assert_true(clockwatch_parse(&t, "1 -1 -1 -1 -1 -1 -1"));
    assert_true(t.sm_mhz < 0 && t.throttle == 0 && t.others == 0);
    assert_false(clockwatch_parse(&t, ""));
    assert_false(clockwatch_parse(&t, "1 2 3 4 5 6"));
    assert_false(clockwatch_parse(&t, "1 2 3 4 5 6 7 8"));
    assert_false(clockwatch_parse(&t, "-1 2 3 4 5 6 7"));
}

static void intervals_are_summarised(void **state)
{
    const struct clock_tick ticks[] = {{.time_s = 1, .sm_mhz = 100, .throttle = 0x40},
                                       {.time_s = 2, .sm_mhz = 1900, .power_w = 100},
                                       {.time_s = 3, .sm_mhz = 1980, .power_w = 300, .others = 1},
                                       {.time_s = 4, .sm_mhz = 1970, .power_w = -1},
                                       {.time_s = 5, .sm_mhz = 7}};
    struct clock_facts f;

    (void)state;
    clockwatch_summarise(&f, ticks, 5, 1.5, 4.5);
    assert_int_equal(f.ticks, 3);
    assert_true(f.sm_mhz_min == 1900 && f.sm_mhz_median == 1970 && f.power_w == 200);
    assert_int_equal(f.throttle, 0);
    assert_int_equal(f.others, 1);
    clockwatch_summarise(&f, ticks, 5, 10, 11);
    assert_int_equal(f.ticks, 0);
    assert_true(f.sm_mhz_min == 0);
}

static void reasons_have_words(void **state)
{
    char text[128];

    (void)state;
    assert_string_equal(clockwatch_reasons(0x44, text, sizeof text),
                        "power cap, hardware thermal slowdown");
    assert_string_equal(clockwatch_reasons(0, text, sizeof text), "");
}

/* Stands for judge-runner: answers as it would on a machine with NVML. */
static const char *fake(const char *dir, const char *script)
{
    const char *path = tempdir_write_text(dir, "fake-runner", script);

    assert_int_equal(chmod(path, 0755), 0);
    return path;
}

static void a_watcher_is_read_while_it_runs(void **state)
{
    char *dir = tempdir_make();
    const char *path = fake(dir, "#!/bin/sh\n"
                                 "echo nvml 1 570.1\n"
                                 "echo 1000000000 1500 1 1 1 0 0\n"
                                 "echo garbage\n"
                                 "echo 1010000000 1600 1 1 1 0 0\n"
                                 "sleep 20\n");
    struct clockwatch *w;
    struct clock_facts f = {0};
    struct diag d;

    (void)state;
    assert_int_equal(clockwatch_start(&w, path, 0, &d), STATUS_OK);
    assert_string_equal(clockwatch_driver(w), "570.1");
    for (unsigned i = 0; i < 200 && f.ticks < 2; i++) {
        const struct timespec pause = {0, 10000000};
        nanosleep(&pause, NULL);
        clockwatch_read(w, 1.0, 1.005, &f);
    }
    assert_int_equal(f.ticks, 2);
    assert_true(f.sm_mhz_min == 1500 && f.sm_mhz_median == 1600);
    clockwatch_stop(w);
    tempdir_remove(dir);
}

static void a_machine_without_nvml_is_said_plainly(void **state)
{
    char *dir = tempdir_make();
    struct clockwatch *w;
    struct diag d;

    (void)state;
    assert_int_equal(
        clockwatch_start(&w, fake(dir, "#!/bin/sh\necho none no such device\n"), 0, &d),
        STATUS_NOTHING);
    assert_string_equal(d.text, "clocks unknown: no such device");
    assert_null(w);
    assert_int_equal(clockwatch_start(&w, fake(dir, "#!/bin/sh\nexit 0\n"), 0, &d), STATUS_NOTHING);
    assert_string_equal(d.text, "clocks unknown: the watcher gives no answer");
    tempdir_remove(dir);
}

/* The real program: readings where there is NVML, the reason where there is none. */
static void the_real_watcher_answers(void **state)
{
    struct clockwatch *w;
    struct diag d = {0};
    const enum status st = clockwatch_start(&w, TEST_BUILD "/judge-runner", 0, &d);

    (void)state;
    assert_true(st == STATUS_OK || st == STATUS_NOTHING);
    if (st == STATUS_NOTHING)
        assert_string_equal(d.text, "clocks unknown: no libnvidia-ml.so.1");
    clockwatch_stop(w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_are_read),
        cmocka_unit_test(intervals_are_summarised),
        cmocka_unit_test(reasons_have_words),
        cmocka_unit_test(a_watcher_is_read_while_it_runs),
        cmocka_unit_test(a_machine_without_nvml_is_said_plainly),
        cmocka_unit_test(the_real_watcher_answers),
    };

    return cmocka_run_group_tests_name("clockwatch", tests, NULL, NULL);
}

/*
 * test_store.c - stored results: merging, devices, history, locks.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "alloc_fault.h"
#include "fileio.h"
#include "report_json.h"
#include "sample_results.h"
#include "store.h"
#include "tempdir.h"

#include <stdlib.h>
#include <string.h>

struct fixture {
    char *dir;
    struct arena a;
    struct config cfg;
    struct results r, back;
    struct diag d;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    f->dir = tempdir_make();
    f->cfg.build_dir = f->dir;
    sample_results(&f->r, &f->a);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_fini(&f->a);
    tempdir_remove(f->dir);
    free(f);
    return 0;
}

static void put(struct fixture *f)
{
    if (store_put(&f->cfg, &f->r, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
}

static void load(struct fixture *f)
{
    if (store_load(&f->back, &f->a, &f->cfg, "gpu", &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
}

static void nothing_stored_is_empty(void **state)
{
    struct fixture *f = *state;
    const struct history_point *points;
    unsigned count = 7;

    load(f);
    assert_int_equal(f->back.solution_count, 0);
    assert_int_equal(store_history(&points, &count, &f->a, &f->cfg, "gpu", &f->d), STATUS_OK);
    assert_int_equal(count, 0);
}

static void what_was_put_is_loaded(void **state)
{
    struct fixture *f = *state;

    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 4);
    assert_string_equal(f->back.solutions[2].solution->name, "my_first_try");
    assert_int_equal(f->back.solutions[2].verdict, VERDICT_WA);
    assert_string_equal(f->back.context.device.name, "Test GPU <1>");
}

static void a_newer_result_replaces_the_older(void **state)
{
    struct fixture *f = *state;

    put(f);
    f->r.solutions[2].cases[0].verdict = VERDICT_AC;
    results_conclude(&f->r.solutions[2], VERDICT_AC);
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 4);
    assert_int_equal(f->back.solutions[2].verdict, VERDICT_AC);
}

static void a_run_of_one_case_keeps_the_others_of_the_same_source(void **state)
{
    struct fixture *f = *state;

    put(f);
    f->r.solution_count = 1;
    f->r.solutions[0].case_count = 1; /* the perf case with its times is not run again */
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 4);
    assert_int_equal(f->back.solutions[0].case_count, 2);
    assert_non_null(f->back.solutions[0].cases[1].timing);
    f->r.solutions[0].source_hash = "changed";
    put(f);
    load(f);
    assert_int_equal(f->back.solutions[0].case_count, 1);
}

static void another_device_starts_anew(void **state)
{
    struct fixture *f = *state;

    put(f);
    f->r.solution_count = 1;
    strcpy(f->r.context.device.name, "Other GPU");
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 1);
}

static void ceilings_survive_a_run_without_bench(void **state)
{
    struct fixture *f = *state;

    put(f);
    f->r.context.device.e0_us = 0.0;
    f->r.context.device.read_tbs = 0.0;
    put(f);
    load(f);
    assert_true(f->back.context.device.e0_us == 2.5);
}

static void history_grows(void **state)
{
    struct fixture *f = *state;
    const struct history_point *points;
    unsigned count, timed = 0;

    put(f);
    put(f);
    assert_int_equal(store_history(&points, &count, &f->a, &f->cfg, "gpu", &f->d), STATUS_OK);
    assert_int_equal(count, 2 * (4 + 2)); /* a line a solution, a line a timed case */
    for (unsigned i = 0; i < count; i++)
        timed += points[i].median_us > 0.0;
    assert_int_equal(timed, 4);
    assert_int_equal(store_history(&points, &count, &f->a, &f->cfg, "vgpu", &f->d), STATUS_OK);
    assert_int_equal(count, 0);
}

static void an_unreadable_store_is_replaced(void **state)
{
    struct fixture *f = *state;

    put(f);
    tempdir_write_text(f->dir, "results/gpu/topk.json", "{ half");
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 4);
}

static void a_folder_that_cannot_be_made_is_said(void **state)
{
    struct fixture *f = *state;

    tempdir_write_text(f->dir, "results", "a file stands here");
    assert_int_equal(store_put(&f->cfg, &f->r, &f->d), STATUS_IO);
    if (strstr(f->d.text, "results") == NULL && strstr(f->d.file, "results") == NULL)
        fail_msg("%s: %s", f->d.file, f->d.text);
}

/* Every allocation of reading and storing fails once: always STATUS_NOMEM (or the folder's own
 * complaint), nothing leaks (seen by the address sanitizer), and the stored file stays readable. */
static void every_failed_allocation_is_survived(void **state)
{
    struct fixture *f = *state;
    struct textbuf b = TEXTBUF_EMPTY;
    unsigned long n = 1;
    enum status st;

    put(f);
    report_json(&b, &f->r);
    assert_false(b.failed);
    do {
        struct arena a = {0};
        struct results back;

        alloc_fault_set(n++);
        st = store_parse(&back, &a, b.text, b.len, "sample", &f->d);
        alloc_fault_set(0);
        arena_fini(&a);
        if (st != STATUS_OK)
            assert_int_equal(st, STATUS_NOMEM);
        assert_true(n < 100000);
    } while (st != STATUS_OK);
    n = 1;
    do {
        alloc_fault_set(n++);
        st = store_put(&f->cfg, &f->r, &f->d);
        alloc_fault_set(0);
        load(f);
        assert_int_equal(f->back.solution_count, 4);
    } while (st != STATUS_OK);
    assert_true(n > 3);
    textbuf_fini(&b);
}

static void problems_are_joined_again(void **state)
{
    struct fixture *f = *state;
    struct problem dot = *f->r.solutions[3].problem;

    dot.name = "dot";
    f->r.solutions[3].problem = &dot;
    f->r.context.start = "2026-01-31T13:00:00Z";
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 4);
    f->r.solution_count = 1; /* topk alone, later, without a bench */
    f->r.context.start = "2026-01-31T14:00:00Z";
    f->r.context.device.e0_us = 0.0;
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 4);
    assert_string_equal(f->back.context.start, "2026-01-31T14:00:00Z");
    assert_true(f->back.context.device.e0_us == 2.5);
    strcpy(f->r.context.device.name, "Other GPU"); /* dot's old results are of another device */
    f->r.context.start = "2026-01-31T15:00:00Z";
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 1);
    f->r.solutions[3].problem = f->r.solutions[0].problem;
}

/* A text of `len` characters: two-byte letters behind one plain one, so that a cut hits a middle.
 */
static char *long_text(struct fixture *f, size_t len, char fill)
{
    char *text = arena_alloc(&f->a, len + 1);

    assert_non_null(text);
    memset(text, fill, len);
    for (size_t i = 1; fill == 'x' && i + 1 < len; i += 2)
        memcpy(text + i, "\xc3\xa9", 2);
    text[len] = '\0';
    return text;
}

/* A compiler or a solution may say more than the document holds: it is cut, not refused. */
static void what_is_too_long_is_cut(void **state)
{
    struct fixture *f = *state;
    struct solution_result *s = &f->r.solutions[0];
    const struct solution_result *back;

    s->reason = long_text(f, 3u * REPORT_JSON_TEXT_MAX, 'x');
    s->stdout_text = long_text(f, REPORT_JSON_LINE_MAX + 1u, 'x');
    s->stderr_text = long_text(f, REPORT_JSON_LINES_MAX + 7u, '\n');
    s->object.log = long_text(f, REPORT_JSON_LINE_MAX, 'y');
    f->r.solution_count = 1;
    put(f);
    load(f);
    assert_int_equal(f->back.solution_count, 1);
    back = &f->back.solutions[0];
    assert_int_equal(strlen(back->reason), REPORT_JSON_TEXT_MAX - 1u); /* one half letter less */
    assert_string_equal(back->reason + strlen(back->reason) - 8, "\xc3\xa9 [cut]");
    assert_memory_equal(back->reason, s->reason, strlen(back->reason) - 6);
    assert_non_null(strstr(back->stdout_text, " [cut]"));
    assert_int_equal(strlen(back->stderr_text), REPORT_JSON_LINES_MAX - 1u);
    assert_string_equal(back->object.log, s->object.log); /* just fits */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(nothing_stored_is_empty),
                                       CASE(what_was_put_is_loaded),
                                       CASE(a_newer_result_replaces_the_older),
                                       CASE(a_run_of_one_case_keeps_the_others_of_the_same_source),
                                       CASE(another_device_starts_anew),
                                       CASE(ceilings_survive_a_run_without_bench),
                                       CASE(history_grows),
                                       CASE(an_unreadable_store_is_replaced),
                                       CASE(a_folder_that_cannot_be_made_is_said),
                                       CASE(problems_are_joined_again),
                                       CASE(what_is_too_long_is_cut),
                                       CASE(every_failed_allocation_is_survived)};

    return cmocka_run_group_tests_name("store", tests, NULL, NULL);
}

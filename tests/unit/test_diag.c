/*
 * test_diag.c - the printed form of a diagnostic, and nearest names.
 */
#include "diag.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void full_form(void **state)
{
    struct diag d;
    char buf[1024];
    const char *want = "problems/topk/problem.json:3:12: error: unknown key 'shap' (did you mean "
                       "'shape'?)\n"
                       "  \t\"shap\": []\n"
                       "  \t          ^\n"
                       "  while reading parameter 'input'\n"
                       "  while loading problem 'topk'\n";
    size_t len;

    (void)state;
    assert_int_equal(diag_at(&d, STATUS_BAD_DATA, "problems/topk/problem.json", 3, 12,
                             "unknown key '%s' (did you mean '%s'?)", "shap", "shape"),
                     STATUS_BAD_DATA);
    diag_source(&d, "\t\"shap\": []\nnext", 16);
    assert_int_equal(diag_note(&d, STATUS_BAD_DATA, "while reading parameter '%s'", "input"),
                     STATUS_BAD_DATA);
    (void)diag_note(&d, STATUS_BAD_DATA, "while loading problem '%s'", "topk");
    len = diag_format(&d, buf, sizeof buf);
    assert_string_equal(buf, want);
    assert_int_equal(len, strlen(want));
}

static void short_forms(void **state)
{
    struct diag d;
    char buf[256];

    (void)state;
    (void)diag_set(&d, STATUS_NOMEM, "out of memory");
    (void)diag_format(&d, buf, sizeof buf);
    assert_string_equal(buf, "error: out of memory\n");
    (void)diag_at(&d, STATUS_IO, "a/b", 0, 0, "cannot open");
    (void)diag_format(&d, buf, sizeof buf);
    assert_string_equal(buf, "a/b: error: cannot open\n");
    (void)diag_at(&d, STATUS_IO, "a/b", 7, 0, "odd");
    (void)diag_format(&d, buf, sizeof buf);
    assert_string_equal(buf, "a/b:7: error: odd\n");
}

static void small_buffers_are_terminated(void **state)
{
    struct diag d;
    char buf[12];

    (void)state;
    (void)diag_set(&d, STATUS_IO, "a text that is longer than the buffer");
    for (size_t size = 1; size <= sizeof buf; size++) {
        memset(buf, 'x', sizeof buf);
        assert_int_equal(diag_format(&d, buf, size), size - 1);
        assert_int_equal(strlen(buf), size - 1);
    }
    assert_int_equal(diag_format(&d, buf, 0), 0);
}

static void long_path_keeps_its_end(void **state)
{
    struct diag d;
    char path[600];

    (void)state;
    memset(path, 'd', sizeof path);
    memcpy(path + sizeof path - 9, "/file.cu", 9);
    (void)diag_at(&d, STATUS_IO, path, 1, 1, "x");
    assert_int_equal(strlen(d.file), sizeof d.file - 1);
    assert_memory_equal(d.file, "...ddd", 6);
    assert_string_equal(d.file + strlen(d.file) - 8, "/file.cu");
}

static void control_bytes_and_far_carets(void **state)
{
    struct diag d;
    char buf[1024];

    (void)state;
    (void)diag_at(&d, STATUS_BAD_DATA, "f", 1, 3, "bad");
    diag_source(&d, "ab\033[31m", 7);
    (void)diag_format(&d, buf, sizeof buf);
    assert_string_equal(buf, "f:1:3: error: bad\n  ab [31m\n    ^\n");
    (void)diag_at(&d, STATUS_BAD_DATA, "f", 1, 300, "bad");
    diag_source(&d, "ab", 2);
    (void)diag_format(&d, buf, sizeof buf);
    assert_string_equal(buf, "f:1:300: error: bad\n");
}

static void notes_beyond_the_limit_are_dropped(void **state)
{
    struct diag d;

    (void)state;
    (void)diag_set(&d, STATUS_IO, "x");
    for (int i = 0; i < 20; i++)
        (void)diag_note(&d, STATUS_IO, "note %d", i);
    assert_int_equal(d.note_count, DIAG_NOTES);
    assert_string_equal(d.notes[0], "note 0");
    assert_string_equal(d.notes[DIAG_NOTES - 1], "note 7");
}

static void nearest_names(void **state)
{
    static const char *const names[] = {"topk", "reduction", "dot", "parallel_merge"};

    (void)state;
    assert_string_equal(diag_nearest("topc", names, 4), "topk");
    assert_string_equal(diag_nearest("paralel_merge", names, 4), "parallel_merge");
    assert_string_equal(diag_nearest("dot", names, 4), "dot");
    assert_string_equal(diag_nearest("red", names, 4), "reduction");
    assert_null(diag_nearest("attention", names, 4));
    assert_null(diag_nearest("", names, 4));
    assert_null(diag_nearest("x", names, 0));
    assert_null(diag_nearest(
        "a_very_long_word_that_no_name_of_any_problem_or_case_or_option_could_be", names, 4));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_form),
        cmocka_unit_test(short_forms),
        cmocka_unit_test(small_buffers_are_terminated),
        cmocka_unit_test(long_path_keeps_its_end),
        cmocka_unit_test(control_bytes_and_far_carets),
        cmocka_unit_test(notes_beyond_the_limit_are_dropped),
        cmocka_unit_test(nearest_names),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

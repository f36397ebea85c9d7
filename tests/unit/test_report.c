/*
 * test_report.c - text, JSON, Markdown and HTML of one sample of everything.
 * Invariant: what is looked for is a whole line or cell, so that a shifted column fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "report_html.h"
#include "report_json.h"
#include "report_md.h"
#include "report_text.h"
#include "sample_results.h"
#include "store.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fixture {
    struct arena a;
    struct results r;
    struct textbuf b;
    struct term term;
    struct diag d;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return -1;
    sample_results(&f->r, &f->a);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    textbuf_fini(&f->b);
    arena_fini(&f->a);
    free(f);
    return 0;
}

static void assert_has(const struct textbuf *b, const char *text)
{
    assert_false(b->failed);
    if (b->text == NULL || strstr(b->text, text) == NULL)
        fail_msg("'%s' is not in:\n%s", text, b->text == NULL ? "(nothing)" : b->text);
}

static void assert_lacks(const struct textbuf *b, const char *text)
{
    if (b->text != NULL && strstr(b->text, text) != NULL)
        fail_msg("'%s' is in:\n%s", text, b->text);
}

static void assert_narrow(const struct textbuf *b)
{
    for (const char *at = b->text; at != NULL && *at != '\0';) {
        const size_t n = strcspn(at, "\n");

        if (n > TERM_WIDTH)
            fail_msg("%zu columns: %.*s", n, (int)n, at);
        if (n > 0 && at[n - 1] == ' ')
            fail_msg("blank at the end of: %.*s", (int)n, at);
        at += n + (at[n] == '\n');
    }
}

static void a_run_reads_as_documented(void **state)
{
    struct fixture *f = *state;

    report_text_head(&f->b, &f->r.context, f->r.solutions[0].problem, 4, 2);
    for (unsigned i = 0; i < 4; i++)
        report_text_solution(&f->b, &f->term, &f->r.solutions[i], 18, false);
    report_text_summary(&f->b, f->r.solutions, 4, 1.25);
    assert_has(&f->b, "topk: 4 solutions x 2 cases, Test GPU <1>, seed 5e1f09c2\n");
    assert_has(&f->b,
               "  AC  radix_select          2/2            0.25 s  exact, peak scratch 64 KiB\n");
    assert_has(&f->b,
               "  WA  my_first_try          1/2            0.25 s  ties_4099, call A (site AC)\n");
    assert_has(&f->b,
               "      output[1003] = 2, want 3; 774 of 1777 differ, first 1003, last 1776\n");
    assert_has(&f->b, "      hint: wrong from index 1003 to the end\n");
    assert_has(&f->b, "      next: judge show topk/my_first_try --case ties_4099\n");
    assert_has(&f->b, "  CE  broken              expected a ';'\n");
    assert_has(&f->b, "      broken.cu(3): error: expected a ';'\n");
    assert_has(&f->b, "2 AC, 1 WA, 1 CE in 1.2 s; 2 not as expected\n");
    assert_narrow(&f->b);
}

static void verbose_shows_cases_and_registers(void **state)
{
    struct fixture *f = *state;

    report_text_solution(&f->b, &f->term, &f->r.solutions[0], 18, true);
    assert_has(&f->b, "perf_50m_k100");
    assert_has(&f->b, "kernel topk_kernel<float>(int): 38 registers, 64 bytes shared, no spills\n");
    assert_narrow(&f->b);
}

static void what_timing_took_away_is_told(void **state)
{
    struct fixture *f = *state;
    bool before[8] = {true, true, true};

    assert_true(f->r.solution_count <= 8);
    for (unsigned i = 0; i < f->r.solution_count; i++)
        f->r.solutions[i].as_expected = true;
    report_text_lost(&f->b, &f->term, &f->r, before);
    assert_int_equal(f->b.len, 0);
    f->r.solutions[0].as_expected = false;
    f->r.solutions[1].as_expected = false;
    before[1] = false; /* was told of when it was judged */
    report_text_lost(&f->b, &f->term, &f->r, before);
    assert_has(&f->b, "\ntopk, when timed:\n");
    assert_has(&f->b, f->r.solutions[0].solution->name);
    assert_lacks(&f->b, f->r.solutions[1].solution->name);
}

static void colour_never_is_the_only_carrier(void **state)
{
    struct fixture *f = *state;

    report_text_solution(&f->b, &f->term, &f->r.solutions[2], 18, false);
    assert_lacks(&f->b, "\033");
    f->term.colour = true;
    report_text_solution(&f->b, &f->term, &f->r.solutions[2], 18, false);
    assert_has(&f->b, "\033[31mWA ");
}

static void a_bench_board_names_machine_and_spread(void **state)
{
    struct fixture *f = *state;

    report_text_board(&f->b, &f->term, &f->r, "topk", NULL);
    assert_has(&f->b, "topk/perf_50m_k100, set 1: Test GPU <1>, clocks not locked, read 4.50 TB/s, "
                      "floor 47.0 us\n");
    assert_has(&f->b, "vs cub_topk");
    assert_has(&f->b, "   -  [cub_topk]");
    assert_has(&f->b, "   1  radix_select");
    assert_has(&f->b, "  2.88 +- 0.00  A    8-bit digits\n");
    assert_has(&f->b, "warn A radix_select: allocates device memory in timed calls; see "
                      "docs/measuring.md#allocations\n");
    assert_narrow(&f->b);
}

static void a_board_ranks_no_reject_beside_solutions(void **state)
{
    struct fixture *f = *state;
    struct solution reject;
    struct solution_result *timed = NULL;

    for (unsigned i = 0; i < f->r.solution_count; i++)
        if (strcmp(f->r.solutions[i].solution->name, "radix_select") == 0)
            timed = &f->r.solutions[i];
    assert_non_null(timed);
    reject = *timed->solution;
    reject.kind = SOLUTION_REJECT;
    timed->solution = &reject;
    report_text_board(&f->b, &f->term, &f->r, "topk", NULL);
    assert_has(&f->b, "[cub_topk]");
    assert_lacks(&f->b, "   1  radix_select");
}

static void without_times_a_board_shows_counts(void **state)
{
    struct fixture *f = *state;

    f->r.solutions[0].cases[1].timing = NULL;
    f->r.solutions[1].cases[1].timing = NULL;
    report_text_board(&f->b, &f->term, &f->r, "topk", "name");
    assert_has(&f->b, "exact counts of call A over the functional cases (no speed)\n");
    assert_has(&f->b, " 12.3K  24.0 ");
    assert_narrow(&f->b);
}

static void json_comes_back_equal(void **state)
{
    struct fixture *f = *state;
    struct textbuf again = TEXTBUF_EMPTY;
    struct results back;
    const struct case_result *wrong;

    report_json(&f->b, &f->r);
    if (store_parse(&back, &f->a, f->b.text, f->b.len, "sample", &f->d) != STATUS_OK)
        fail_msg("%s:%u:%u: %s", f->d.file, f->d.line, f->d.col, f->d.text);
    report_json(&again, &back);
    assert_string_equal(f->b.text, again.text);
    wrong = &back.solutions[2].cases[0];
    assert_true(isnan(wrong->mismatch.got) && isinf(wrong->mismatch.max_abs));
    assert_true(wrong->mismatch.max_ulp == UINT64_MAX);
    assert_string_equal(wrong->detail, "two lines\nof \"detail\"\\");
    assert_string_equal(back.solutions[2].stdout_text, "printed   by\nthe solution ?");
    assert_int_equal(back.solutions[3].verdict, VERDICT_CE);
    textbuf_fini(&again);
}

static void json_holds_no_nan(void **state)
{
    struct fixture *f = *state;

    report_json(&f->b, &f->r);
    assert_has(&f->b, "\"got\": \"nan:7ff8000000000000\"");
    assert_has(&f->b, "\"max_abs\": \"inf:7ff0000000000000\"");
    assert_lacks(&f->b, ": nan");
    assert_lacks(&f->b, ": inf");
}

static void numbers_read_back_the_same(void **state)
{
    static const double values[] = {0.1, 1.0 / 3.0, 1e300, 5e-324, 123456789.125, -0.0, 2.5};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        textbuf_fini(&f->b);
        report_json_number(&f->b, values[i]);
        assert_true(strtod(f->b.text, NULL) == values[i]);
    }
    assert_string_equal(f->b.text, "2.5");
}

static void broken_results_are_refused_with_their_place(void **state)
{
    static const struct {
        const char *from, *to, *text;
    } faults[] = {{"\"format\": 1", "\"format\": 2", "1"},
                  {"\"verdict\": \"WA\"", "\"verdict\": \"XX\"", "'XX' is no verdict"},
                  {"\"median_us\"", "\"median_ms\"", "median_ms"},
                  {"\"cold_us\": [", "\"cold_us\": [true, ", ""},
                  {"\"seed\": \"5e1f09c2\"", "\"seed\": \"seed\"", "seed"}};
    struct fixture *f = *state;

    report_json(&f->b, &f->r);
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        const char *at = strstr(f->b.text, faults[i].from);
        struct textbuf bad = TEXTBUF_EMPTY;
        struct results back;

        assert_non_null(at);
        textbuf_add(&bad, f->b.text, (size_t)(at - f->b.text));
        textbuf_puts(&bad, faults[i].to);
        textbuf_puts(&bad, at + strlen(faults[i].from));
        assert_int_equal(store_parse(&back, &f->a, bad.text, bad.len, "bad", &f->d),
                         STATUS_BAD_DATA);
        if (strstr(f->d.text, faults[i].text) == NULL || f->d.line == 0)
            fail_msg("%s: line %u: %s", faults[i].to, f->d.line, f->d.text);
        textbuf_fini(&bad);
    }
    assert_int_equal(store_parse(&f->r, &f->a, f->b.text, f->b.len / 2, "cut", &f->d),
                     STATUS_BAD_DATA);
}

static void markdown_is_rewritten_between_markers_only(void **state)
{
    static const char before[] = "# Title\nkept | text\n<!-- judge:board topk -->\nold board\n"
                                 "<!-- judge:end -->\ntail\n<!-- judge:board dot -->\nother\n"
                                 "<!-- judge:end -->\n";
    struct fixture *f = *state;
    struct textbuf twice = TEXTBUF_EMPTY;

    assert_int_equal(report_md_rewrite(&f->b, before, "README.md", &f->r, &f->d), STATUS_OK);
    assert_has(&f->b, "# Title\nkept | text\n<!-- judge:board topk -->\n**perf_50m_k100** on Test "
                      "GPU <1>, cold L2, set 1, 2026-01-31, floor 47.0 us\n");
    assert_has(&f->b, "| - | *cub_topk* | 193.4 |");
    assert_has(&f->b, "<!-- judge:end -->\ntail\n<!-- judge:board dot -->\nother\n<!-- judge:end");
    assert_lacks(&f->b, "old board");
    assert_int_equal(report_md_rewrite(&twice, f->b.text, "README.md", &f->r, &f->d), STATUS_OK);
    assert_string_equal(f->b.text, twice.text); /* a fixed point */
    textbuf_fini(&twice);
}

static void markdown_refuses_unpaired_markers(void **state)
{
    static const struct {
        const char *text, *message;
        enum status status;
        unsigned line;
    } faults[] = {{"a\n<!-- judge:board topk -->\nb\n", "this board has no", STATUS_BAD_DATA, 2},
                  {"<!-- judge:end -->\n", "without", STATUS_BAD_DATA, 1},
                  {"<!-- judge:board topk -->\n<!-- judge:board dot -->\n<!-- judge:end -->\n",
                   "inside the one of line 1", STATUS_BAD_DATA, 2},
                  {"nothing here\n", "no marker here", STATUS_USAGE, 0}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++) {
        assert_int_equal(report_md_rewrite(&f->b, faults[i].text, "README.md", &f->r, &f->d),
                         faults[i].status);
        assert_int_equal(f->d.line, faults[i].line);
        assert_non_null(strstr(f->d.text, faults[i].message));
    }
}

static void markdown_escapes_cells(void **state)
{
    struct fixture *f = *state;

    f->r.solutions[0].cases[1].timing = NULL;
    f->r.solutions[1].cases[1].timing = NULL;
    report_md_board(&f->b, &f->r, "topk");
    assert_has(&f->b, "a \\| b & <c> |\n");
}

static void the_page_is_static_and_escaped(void **state)
{
    const struct history_point points[] = {
        {"2026-01-30T12:00:00Z", "a", "topk", "radix_select", "perf_50m_k100", VERDICT_AC, 560, 0},
        {"2026-01-31T12:00:00Z", "b", "topk", "radix_select", "perf_50m_k100", VERDICT_AC, 555, 0}};
    struct fixture *f = *state;

    report_html(&f->b, &f->r, points, 2);
    assert_has(&f->b, "<h2>topk</h2>");
    assert_has(&f->b, "Test GPU &lt;1&gt;");
    assert_has(&f->b, "topk_kernel&lt;float&gt;(int): 38 registers");
    assert_has(&f->b, "<polyline");
    assert_has(&f->b, "title=\"ties_4099: WA output[1003] = 2, want 3;");
    assert_has(&f->b, "</body></html>\n");
    assert_lacks(&f->b, "<script");
    assert_lacks(&f->b, "Test GPU <1>");
    assert_lacks(&f->b, "<c>");
}

/* judge.md section 18: board and JSON of 10,000 results in 0.2 s; the bound here, in processor
 * time, leaves room for a sanitizer and still fails on anything quadratic. */
static void ten_thousand_results_are_fast(void **state)
{
    struct fixture *f = *state;
    struct timespec t0, t1;
    double seconds;

    sample_results_many(&f->r, &f->a, 1000); /* ten cases each */
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
    report_json(&f->b, &f->r);
    report_text_board(&f->b, &f->term, &f->r, "topk", NULL);
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
    seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
    print_message("10,000 case results: %.3f s, %zu bytes\n", seconds, f->b.len);
    assert_false(f->b.failed);
    assert_true(seconds < 2.0);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(a_run_reads_as_documented),
                                       CASE(verbose_shows_cases_and_registers),
                                       CASE(what_timing_took_away_is_told),
                                       CASE(colour_never_is_the_only_carrier),
                                       CASE(a_bench_board_names_machine_and_spread),
                                       CASE(a_board_ranks_no_reject_beside_solutions),
                                       CASE(without_times_a_board_shows_counts),
                                       CASE(json_comes_back_equal),
                                       CASE(json_holds_no_nan),
                                       CASE(numbers_read_back_the_same),
                                       CASE(broken_results_are_refused_with_their_place),
                                       CASE(markdown_is_rewritten_between_markers_only),
                                       CASE(markdown_refuses_unpaired_markers),
                                       CASE(markdown_escapes_cells),
                                       CASE(the_page_is_static_and_escaped),
                                       CASE(ten_thousand_results_are_fast)};

    return cmocka_run_group_tests_name("report", tests, NULL, NULL);
}

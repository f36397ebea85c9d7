/*
 * test_findings.c - lines of the virtual GPU, honest and hostile, and what a reply makes of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings.h"
#include "reply.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char oob[] =
    "{\"v\":1,\"t\":\"finding\",\"check\":\"memcheck\",\"severity\":\"error\",\"kind\":"
    "\"global_read_oob\",\"kernel\":\"topk_kernel\",\"launch\":2,\"file\":\"/a/b/radix.cu\","
    "\"line\":41,\"col\":17,\"block\":[0,0,0],\"thread\":[3,0,0],\"alloc\":\"input\","
    "\"alloc_size\":12,\"offset\":12,\"width\":4,\"text\":\"read past the end of 'input'\","
    "\"ptx\":\"ld.global.f32\"}\n";

struct fixture {
    struct arena a;
    struct findings f;
};

static int set_up(void **state)
{
    *state = calloc(1, sizeof(struct fixture));
    return *state == NULL;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_fini(&f->a);
    free(f);
    return 0;
}

static void parse(struct fixture *f, const char *text)
{
    findings_parse(&f->f, &f->a, text, strlen(text));
}

static void a_fault_names_its_place(void **state)
{
    struct fixture *f = *state;

    parse(f, oob);
    assert_int_equal(f->f.count, 1);
    assert_int_equal(f->f.items[0].class, FINDING_FAULT);
    assert_string_equal(f->f.items[0].text, "read past the end of 'input'");
    assert_string_equal(f->f.items[0].place,
                        "radix.cu:41 topk_kernel block (0,0,0) thread (3,0,0): 4 bytes at input+12 "
                        "of 12; ld.global.f32");
}

static void classes(void **state)
{
    static const struct {
        const char *line;
        enum finding_class class;
    } lines[] = {
        {"{\"v\":1,\"t\":\"finding\",\"severity\":\"warning\",\"check\":\"initcheck\",\"kind\":"
         "\"x\"}",
         FINDING_WARNING},
        {"{\"v\":1,\"t\":\"finding\",\"severity\":\"error\",\"check\":\"racecheck\",\"kind\":"
         "\"x\"}",
         FINDING_FAULT},
        {"{\"v\":1,\"t\":\"finding\",\"severity\":\"error\",\"check\":\"limits\",\"kind\":\"x\"}",
         FINDING_BUDGET},
        {"{\"v\":1,\"t\":\"finding\",\"severity\":\"harmless\",\"kind\":\"x\"}", FINDING_FAULT},
        {"{\"v\":1,\"t\":\"refused\",\"form\":\"wgmma.mma_async\",\"file\":\"f.cu\",\"line\":7}",
         FINDING_REFUSED},
        {"{\"v\":1,\"t\":\"warning\",\"text\":\"w\"}", FINDING_WARNING},
        {"{\"v\":1,\"t\":\"leak\",\"text\":\"l\"}", FINDING_NOTE}};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        parse(f, lines[i].line);
        assert_int_equal(f->f.count, 1);
        assert_int_equal(f->f.items[0].class, lines[i].class);
    }
    parse(f, lines[4].line);
    assert_string_equal(f->f.items[0].text,
                        "the virtual GPU does not execute 'wgmma.mma_async', used at f.cu:7 ");
}

static void counters_add_up_over_launches(void **state)
{
    struct fixture *f = *state;

    parse(f, "{\"v\":1,\"t\":\"launch\",\"kernel\":\"a\",\"counts\":{\"warp_inst\":5,\"x\":1}}\n"
             "{\"v\":1,\"t\":\"launch\",\"kernel\":\"b\",\"counts\":{\"warp_inst\":7,\"y\":-3,"
             "\"z\":1.5}}\n");
    assert_int_equal(f->f.launches, 2);
    assert_int_equal(f->f.counter_count, 2); /* negative and fractional counts are no counts */
    assert_string_equal(f->f.counters[0].name, "warp_inst");
    assert_int_equal(f->f.counters[0].value, 12);
}

static void hostile_lines_do_no_harm(void **state)
{
    static const char *const lines[] = {
        "",
        "\n\n",
        "null",
        "[]",
        "{}",
        "{\"v\":1}",
        "{\"v\":2,\"t\":\"finding\"}",
        "{\"t\":1}",
        "{\"v\":1,\"t\":\"accepted\",\"verdict\":\"AC\"}",
        "{\"v\":1,\"t\":\"finding\"",
        "{\"v\":1,\"t\":\"finding\",\"line\":-5,\"block\":\"x\",\"thread\":[1],\"text\":7}",
        "{\"v\":1,\"t\":\"launch\",\"counts\":[1]}",
        "\xff\xfe\x00"};
    struct fixture *f = *state;
    unsigned malformed = 0;

    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        parse(f, lines[i]);
        malformed += f->f.malformed + f->f.dropped; /* without its end a line may be cut */
        assert_true(f->f.count <= 1);
    }
    assert_true(malformed >= 8);
}

/* The last line of a text that was full is no unreadable one; a whole line of rubbish is. */
static void a_line_cut_at_the_end_is_counted_apart(void **state)
{
    struct fixture *f = *state;
    char *text = malloc(2 * sizeof oob);

    assert_non_null(text);
    (void)snprintf(text, 2 * sizeof oob, "%s%.*s", oob, (int)sizeof oob / 2, oob);
    parse(f, text);
    assert_int_equal(f->f.count, 1);
    assert_int_equal(f->f.dropped, 1);
    assert_int_equal(f->f.malformed, 0);
    strcat(text, "\n");
    parse(f, text);
    assert_int_equal(f->f.dropped, 0);
    assert_int_equal(f->f.malformed, 1);
    free(text);
}

/* One fault that many threads commit is one warning, another line of the source is another. */
static void a_warning_is_told_once_a_place(void **state)
{
    static const char first[] =
        "initcheck: read of memory never written: at 0x10 at a.cu:7 k block "
        "(0,0,0) thread (1,0,0): ld.shared.f32 %f1, [%r1];";
    static const char again[] =
        "initcheck: read of memory never written: at 0x18 at a.cu:7 k block "
        "(2,0,0) thread (5,0,0): ld.shared.f32 %f1, [%r1];";
    static const char other_line[] = "initcheck: read of memory never written: at 0x10 at a.cu:9 k "
                                     "block (0,0,0) thread (1,0,0): ld.shared.f32 %f1, [%r1];";
    static const char other_check[] = "racecheck: two writes: at 0x10 at a.cu:7 k block (0,0,0) "
                                      "thread (1,0,0): st.shared.f32 [%r1], %f1;";
    struct fixture *f = *state;
    const char *all = reply_add_warnings(&f->a, "", first);
    char *lines;

    assert_string_equal(all, first);
    assert_string_equal(reply_add_warnings(&f->a, all, NULL), first);
    assert_string_equal(reply_add_warnings(&f->a, all, again), first);
    lines = arena_printf(&f->a, "%s\n%s\nplain\n%s\nplain", again, other_line, other_check);
    assert_non_null(lines);
    all = reply_add_warnings(&f->a, all, lines);
    lines = arena_printf(&f->a, "%s\n%s\nplain\n%s", first, other_line, other_check);
    assert_non_null(lines);
    assert_string_equal(all, lines);
}

static void texts_are_cut_and_cleaned(void **state)
{
    struct fixture *f = *state;
    char line[2000];
    size_t n = 0;

    n += (size_t)snprintf(line, sizeof line, "{\"v\":1,\"t\":\"finding\",\"text\":\"\\u001b[2J\\n");
    memset(line + n, 'a', 1000);
    strcpy(line + n + 1000, "\"}");
    parse(f, line);
    assert_true(strlen(f->f.items[0].text) <= 240);
    assert_true(strncmp(f->f.items[0].text, " [2J a", 6) == 0);
}

static void too_many_are_counted(void **state)
{
    struct fixture *f = *state;
    char *text = malloc(100 * 64);

    assert_non_null(text);
    text[0] = '\0';
    for (int i = 0; i < 100; i++)
        strcat(text, "{\"v\":1,\"t\":\"finding\",\"text\":\"x\"}\n");
    parse(f, text);
    assert_int_equal(f->f.count, FINDINGS_MAX);
    assert_int_equal(f->f.dropped, 100 - FINDINGS_MAX);
    free(text);
}

/* However many warnings come first, an error after them decides. */
static void warnings_do_not_crowd_out_an_error(void **state)
{
    struct fixture *f = *state;
    char text[16384] = "";

    for (int i = 0; i < 100; i++)
        strcat(text, "{\"v\":1,\"t\":\"finding\",\"severity\":\"warning\",\"text\":\"w\"}\n");
    strcat(text, oob);
    parse(f, text);
    assert_int_equal(f->f.count, FINDINGS_MAX);
    assert_int_equal(f->f.dropped, 101 - FINDINGS_MAX);
    assert_non_null(findings_first(&f->f, FINDING_FAULT));
    strcpy(text, "");
    for (int i = 0; i < 100; i++)
        strcat(text, "{\"v\":1,\"t\":\"finding\",\"severity\":\"error\",\"text\":\"e\"}\n");
    strcat(text, "{\"v\":1,\"t\":\"finding\",\"severity\":\"warning\",\"text\":\"w\"}\n");
    parse(f, text);
    assert_int_equal(f->f.count, FINDINGS_MAX);
    assert_null(findings_first(&f->f, FINDING_WARNING));
}

/* ---- replies ---- */

static struct reply_verdict read_with(struct fixture *f, const char *lines, bool strict)
{
    static const struct problem p = {.name = "p", .param_count = 1, .params = {{.name = "A"}}};
    const struct reply_context rc = {.problem = &p, .strict = strict};
    struct call_reply reply = {.end = CALL_DONE};

    reply.findings.text = lines;
    reply.findings.len = strlen(lines);
    return reply_read(&f->a, &rc, &reply, &f->f);
}

static void findings_make_verdicts_worse_never_better(void **state)
{
    struct fixture *f = *state;
    struct reply_verdict v;

    v = read_with(f, "", false);
    assert_int_equal(v.verdict, VERDICT_AC);
    v = read_with(f, oob, false);
    assert_int_equal(v.verdict, VERDICT_RE);
    assert_string_equal(v.reason, "read past the end of 'input'");
    v = read_with(f, "{\"v\":1,\"t\":\"accepted\"}\n", false);
    assert_int_equal(v.verdict, VERDICT_AC);
    assert_string_equal(v.warnings, "1 unreadable lines from the virtual GPU");
}

static void warnings_fail_under_strict_only(void **state)
{
    static const char line[] = "{\"v\":1,\"t\":\"finding\",\"severity\":\"warning\",\"check\":"
                               "\"initcheck\",\"text\":\"reads uninitialised memory\"}\n";
    struct fixture *f = *state;
    struct reply_verdict v = read_with(f, line, false);

    assert_int_equal(v.verdict, VERDICT_AC);
    assert_string_equal(v.warnings, "initcheck: reads uninitialised memory");
    v = read_with(f, line, true);
    assert_int_equal(v.verdict, VERDICT_RE);
    assert_string_equal(v.reason, "reads uninitialised memory");
}

static void refused_is_a_skip_unless_worse(void **state)
{
    static const char refused[] = "{\"v\":1,\"t\":\"refused\",\"form\":\"wgmma\"}\n";
    struct fixture *f = *state;
    char both[2000];

    assert_int_equal(read_with(f, refused, false).verdict, VERDICT_SK);
    snprintf(both, sizeof both, "%s%s", refused, oob);
    assert_int_equal(read_with(f, both, false).verdict, VERDICT_RE);
}

static void no_record_is_never_accepted(void **state)
{
    static const struct {
        enum call_end end;
        enum verdict verdict;
    } ends[] = {{CALL_EXITED, VERDICT_RE},
                {CALL_SIGNALLED, VERDICT_RE},
                {CALL_TIMEOUT, VERDICT_TLE},
                {CALL_HOST_MEMORY, VERDICT_MLE},
                {CALL_FORGED, VERDICT_RE}};
    static const struct problem p = {.name = "p"};
    const struct reply_context rc = {.problem = &p};
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        const struct call_reply reply = {.end = ends[i].end};
        const struct reply_verdict v = reply_read(&f->a, &rc, &reply, &f->f);

        assert_int_equal(v.verdict, ends[i].verdict);
        assert_true(v.child_lost);
        assert_true(v.reason[0] != '\0');
    }
}

static void every_record_status_and_error_class_counts(void **state)
{
    static const struct problem p = {.name = "p"};
    const struct reply_context rc = {.problem = &p};
    struct fixture *f = *state;

    for (uint32_t status = RECORD_OK + 1; status <= RECORD_PREPARED + 1; status++) {
        struct call_reply reply = {.end = CALL_DONE};

        reply.record.status = status;
        assert_true(reply_read(&f->a, &rc, &reply, &f->f).verdict != VERDICT_AC);
    }
    for (uint32_t class = ERROR_NONE + 1; class <= ERROR_BUDGET + 1; class ++) {
        struct call_reply reply = {.end = CALL_DONE};

        reply.record.error_class = class;
        assert_true(reply_read(&f->a, &rc, &reply, &f->f).verdict != VERDICT_AC);
    }
}

static void an_empty_launch_is_forgiven_outside_the_domain_only(void **state)
{
    static const struct problem p = {.name = "p"};
    struct casedef c = {.name = "k0_16", .advisory = true};
    const struct reply_context rc = {.problem = &p, .casedef = &c};
    struct call_reply reply = {.end = CALL_DONE};
    struct fixture *f = *state;

    reply.record.error_class = ERROR_LAUNCH;
    reply.record.error_after_return = 9;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_AC);
    reply.record.error_class = ERROR_STICKY;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
    reply.record.error_class = ERROR_LAUNCH;
    c.advisory = false;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
}

static void a_refused_call_explains_the_error_it_gave(void **state)
{
    static const char lines[] =
        "{\"v\":1,\"t\":\"finding\",\"check\":\"api\",\"severity\":\"warning\",\"text\":"
        "\"API call refused; cudaMemcpy gave cudaErrorInvalidValue: a null pointer\"}\n"
        "{\"v\":1,\"t\":\"finding\",\"check\":\"api\",\"severity\":\"warning\",\"text\":"
        "\"API call refused; cudaFree gave cudaErrorInvalidDevicePointer\"}\n";
    static const struct problem p = {.name = "p"};
    const struct reply_context rc = {.problem = &p, .strict = true};
    struct call_reply reply = {.end = CALL_DONE};
    struct fixture *f = *state;
    struct reply_verdict v;

    reply.findings.text = lines;
    reply.findings.len = strlen(lines);
    v = reply_read(&f->a, &rc, &reply, &f->f);
    assert_int_equal(v.verdict, VERDICT_AC); /* the solution took the errors away: told, no more */
    assert_non_null(strstr(v.warnings, "a null pointer"));
    reply.record.error_class = ERROR_OTHER;
    strcpy(reply.record.error_name, "cudaErrorInvalidValue");
    v = reply_read(&f->a, &rc, &reply, &f->f);
    assert_int_equal(v.verdict, VERDICT_RE);
    assert_string_equal(v.reason, "cudaMemcpy gave cudaErrorInvalidValue: a null pointer");
    strcpy(reply.record.error_name, "cudaErrorUnknown"); /* another error is not explained by it */
    v = reply_read(&f->a, &rc, &reply, &f->f);
    assert_null(strstr(v.reason, "cudaMemcpy"));
}

/* The record says that there was an error; its line can be lost, the verdict cannot. */
static void an_error_counts_even_when_its_line_is_lost(void **state)
{
    static const struct problem p = {.name = "p"};
    const struct reply_context rc = {.problem = &p};
    struct call_reply reply = {.end = CALL_DONE};
    struct fixture *f = *state;

    reply.record.flags = RECORD_FLAG_FINDINGS;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
    reply.findings.text = oob;
    reply.findings.len = strlen(oob);
    assert_string_equal(reply_read(&f->a, &rc, &reply, &f->f).reason,
                        "read past the end of 'input'");
}

/* What the runner counted around the buffers decides, also where every output is right. */
static void damage_decides_beside_right_outputs(void **state)
{
    static const struct problem p = {
        .name = "p", .params = {{.name = "input"}, {.name = "output"}}, .param_count = 2};
    const struct reply_context rc = {.problem = &p};
    struct call_reply reply = {.end = CALL_DONE};
    struct fixture *f = *state;
    struct reply_verdict v;

    reply.record.params[1].late_elements = 3;
    reply.record.params[1].late_first = 7;
    v = reply_read(&f->a, &rc, &reply, &f->f);
    assert_int_equal(v.verdict, VERDICT_WA);
    assert_string_equal(v.reason, "still writing after solve(): 3 elements of 'output' changed "
                                  "later, first at 7");
    reply.record.params[0].input_changed = 1;
    v = reply_read(&f->a, &rc, &reply, &f->f);
    assert_int_equal(v.verdict, VERDICT_WA);
    assert_non_null(strstr(v.reason, "modified input 'input'"));
    reply.record.params[1].guard_hits_after = 4;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
    reply.record.params[1].guard_hits_after = 0;
    reply.record.params[0].guard_hits_before = 4;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
}

/* So does what it asked the runtime for, also where the solution went on without. */
static void requests_decide_beside_right_outputs(void **state)
{
    static const struct problem p = {.name = "p", .memory_mib = 64};
    const struct reply_context rc = {.problem = &p};
    struct fixture *f = *state;
    struct call_reply reply = {.end = CALL_DONE};

    reply.record.alloc_refused = 1;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_MLE);
    reply = (struct call_reply){.end = CALL_DONE};
    reply.record.flags = RECORD_FLAG_RESET;
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
    reply = (struct call_reply){.end = CALL_DONE};
    strcpy(reply.record.new_library, "libcublas.so.13");
    assert_int_equal(reply_read(&f->a, &rc, &reply, &f->f).verdict, VERDICT_RE);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {CASE(a_fault_names_its_place),
                                       CASE(classes),
                                       CASE(counters_add_up_over_launches),
                                       CASE(hostile_lines_do_no_harm),
                                       CASE(a_line_cut_at_the_end_is_counted_apart),
                                       CASE(a_warning_is_told_once_a_place),
                                       CASE(texts_are_cut_and_cleaned),
                                       CASE(too_many_are_counted),
                                       CASE(warnings_do_not_crowd_out_an_error),
                                       CASE(findings_make_verdicts_worse_never_better),
                                       CASE(warnings_fail_under_strict_only),
                                       CASE(refused_is_a_skip_unless_worse),
                                       CASE(no_record_is_never_accepted),
                                       CASE(every_record_status_and_error_class_counts),
                                       CASE(an_empty_launch_is_forgiven_outside_the_domain_only),
                                       CASE(a_refused_call_explains_the_error_it_gave),
                                       CASE(damage_decides_beside_right_outputs),
                                       CASE(requests_decide_beside_right_outputs),
                                       CASE(an_error_counts_even_when_its_line_is_lost)};

    return cmocka_run_group_tests_name("findings", tests, NULL, NULL);
}

/*
 * test_vg_report.c - findings as lines: every key, escaping, the limit of ten, text on stderr,
 * refusals, flushing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "machine.h"

struct bench {
    const char *files[3];
    struct ptx_module module;
    struct ptx_loc outer, inner;
    struct ptx_inst inst, second;
    struct ptx_func func;
    struct grid grid;
    struct alloc alloc;
    struct report report;
    char text[16384];
};

static void bench_open(struct bench *t)
{
    memset(t, 0, sizeof *t);
    t->files[1] = "src/radix_select.cu";
    t->files[2] = "cuda/include/sm_20_atomic_functions.hpp";
    t->module = (struct ptx_module){.files = t->files, .file_count = 3};
    t->outer = (struct ptx_loc){.file = 1, .line = 41, .col = 17};
    t->inner = (struct ptx_loc){.file = 2, .line = 84, .col = 3, .inlined_at = &t->outer};
    t->inst = (struct ptx_inst){.text = "ld.global.f32 %f1, [%rd5];", .loc = &t->inner};
    t->second = (struct ptx_inst){.text = "st.shared.f32 [%r1], %f1;", .loc = &t->outer};
    t->func = (struct ptx_func){.name = "_Z11topk_kernelPKfi", .module = &t->module};
    t->grid = (struct grid){
        .func = &t->func, .launch_number = 2, .dim = {4, 2, 1}, .block_dim = {64, 1, 1}};
    t->alloc = (struct alloc){
        .addr = 0x700000000100ull, .size = 4000, .name = "input", .live = true, .ordinal = 1};
    t->report.fd = memfd_create("report", MFD_CLOEXEC);
    assert_true(t->report.fd >= 0);
}

static const char *bench_text(struct bench *t)
{
    report_flush(&t->report);
    const ssize_t n = pread(t->report.fd, t->text, sizeof t->text - 1, 0);
    assert_true(n >= 0);
    t->text[n] = '\0';
    return t->text;
}

static void bench_close(struct bench *t)
{
    close(t->report.fd);
    free(t->report.seen);
    free(t->report.buffer);
}

static struct finding sample(struct bench *t)
{
    return (struct finding){
        .kind = FAULT_GLOBAL_READ_OOB,
        .grid = &t->grid,
        .at = {.block = {3, 0, 0}, .thread = {31, 0, 0}, .warp = 0, .lane = 31, .inst = &t->inst},
        .address = t->alloc.addr + 4400,
        .width = 4,
        .lanes = 8,
        .alloc = &t->alloc};
}

static void test_every_key(void **state)
{
    static const char *const wanted[] = {
        "{\"v\":1,\"t\":\"finding\",",
        "\"check\":\"memcheck\"",
        "\"severity\":\"error\"",
        "\"kind\":\"global_read_oob\"",
        "\"kernel\":\"topk_kernel\"",
        "\"launch\":2",
        "\"file\":\"radix_select.cu\"",
        "\"line\":41",
        "\"col\":17",
        "\"block\":[3,0,0]",
        "\"thread\":[31,0,0]",
        "\"warp\":0,\"lane\":31",
        "\"address\":\"0x700000001230\"",
        "\"alloc\":\"input\"",
        "\"alloc_size\":4000",
        "\"offset\":4400",
        "\"width\":4",
        "\"lanes\":8",
        "\"repeats\":0",
        "\"ptx\":\"ld.global.f32 %f1, [%rd5];\"",
        "\"chain\":\"sm_20_atomic_functions.hpp:84 < radix_select.cu:41\"",
        "400 bytes past the end of 'input' (4000 bytes)",
    };
    struct bench t;

    (void)state;
    bench_open(&t);
    const struct finding f = sample(&t);
    report_finding(&t.report, &f);
    const char *text = bench_text(&t);
    for (unsigned i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!strstr(text, wanted[i]))
            fail_msg("%s is not in %s", wanted[i], text);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1); /* one line */
    bench_close(&t);
}

static void test_relation_before_and_freed(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t);
    struct finding f = sample(&t);
    f.address = t.alloc.addr - 4;
    report_finding(&t.report, &f);
    f.address = t.alloc.addr + 8;
    t.alloc.live = false;
    t.alloc.name[0] = '\0';
    report_finding(&t.report, &f);
    const char *text = bench_text(&t);
    assert_non_null(strstr(text, "4 bytes before 'input' (4000 bytes)"));
    assert_non_null(strstr(text, "\"offset\":-4"));
    assert_non_null(strstr(text, "at offset 8 of allocation 1 (4000 bytes), freed"));
    bench_close(&t);
}

static void test_race_names_both_places(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t);
    struct finding f = sample(&t);
    const struct place other = {.thread = {5, 0, 0}, .inst = &t.second};
    f.kind = FAULT_RACE_READ_WRITE;
    f.other = &other;
    report_finding(&t.report, &f);
    assert_non_null(strstr(
        bench_text(&t),
        "\"other\":{\"v\":1,\"file\":\"radix_select.cu\",\"line\":41,\"col\":17,\"thread\":[5,0,0],"
        "\"ptx\":\"st.shared.f32 [%r1], %f1;\"}"));
    bench_close(&t);
}

static void test_ten_of_a_kind(void **state)
{
    struct bench t;
    unsigned lines = 0;

    (void)state;
    bench_open(&t);
    struct finding f = sample(&t);
    for (unsigned i = 0; i < 25; i++)
        report_finding(&t.report, &f);
    f.kind = FAULT_MISALIGNED; /* another kind has its own ten */
    report_finding(&t.report, &f);
    const char *text = bench_text(&t);
    for (const char *p = text; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    assert_int_equal(lines, 11);
    assert_non_null(strstr(text, "\"repeats\":9"));
    assert_null(strstr(text, "\"repeats\":10"));
    assert_int_equal(t.report.repeated, 15);
    bench_close(&t);
}

/* A person is told how many there were. */
static void test_repeats_as_text(void **state)
{
    int ends[2];
    char text[16384];
    struct bench t;

    (void)state;
    bench_open(&t);
    close(t.report.fd);
    t.report.fd = -1;
    assert_int_equal(pipe(ends), 0);
    const int before = dup(STDERR_FILENO);
    dup2(ends[1], STDERR_FILENO);
    struct finding f = sample(&t);
    for (unsigned i = 0; i < 25; i++)
        report_finding(&t.report, &f);
    report_end_of_call(&t.report);
    dup2(before, STDERR_FILENO);
    close(before);
    close(ends[1]);
    ssize_t n = 0;
    for (ssize_t got; (got = read(ends[0], text + n, sizeof text - 1 - (size_t)n)) > 0;)
        n += got;
    close(ends[0]);
    text[n] = '\0';
    assert_non_null(strstr(text, "vgpu: 15 more findings at places shown above\n"));
    t.report.fd = dup(STDERR_FILENO); /* for bench_close */
    bench_close(&t);
}

/* Each judged call is told anew. */
static void test_next_call(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t);
    struct finding f = sample(&t);
    for (unsigned i = 0; i < 10; i++)
        report_finding(&t.report, &f);
    report_end_of_call(&t.report);
    const size_t before = strlen(bench_text(&t));
    report_finding(&t.report, &f);
    assert_true(strlen(bench_text(&t)) > before);
    assert_non_null(strstr(t.text + before, "\"repeats\":0"));
    bench_close(&t);
}

/* Many places: warnings cannot crowd out errors, and all together stay below what a reader keeps.
 */
static void test_bytes_of_a_call(void **state)
{
    enum { PLACES = 1000 };
    static struct ptx_inst insts[PLACES];
    struct bench t;
    char *text = malloc(1 << 20);

    (void)state;
    assert_non_null(text);
    bench_open(&t);
    struct finding f = sample(&t);
    for (unsigned i = 0; i < PLACES; i++) {
        insts[i] = t.inst;
        f.at.inst = &insts[i];
        f.kind = FAULT_GLOBAL_UNINIT;
        report_finding(&t.report, &f);
    }
    for (unsigned i = 0; i < PLACES; i++) {
        f.at.inst = &insts[i];
        f.kind = FAULT_GLOBAL_READ_OOB;
        report_finding(&t.report, &f);
    }
    report_end_of_call(&t.report);
    const ssize_t n = pread(t.report.fd, text, (1 << 20) - 1, 0);
    assert_in_range(n, 100 << 10, 136 << 10);
    text[n] = '\0';
    unsigned errors = 0, warnings = 0;
    for (const char *p = text; (p = strstr(p, "\"severity\":\"")) != NULL; p++) {
        errors += strncmp(p + 12, "error", 5) == 0;
        warnings += strncmp(p + 12, "warning", 7) == 0;
    }
    assert_true(errors > 50 && warnings > 50);
    char note[80];
    snprintf(note, sizeof note, "%u more errors and %u more warnings", PLACES - errors,
             PLACES - warnings);
    if (!strstr(text, note))
        fail_msg("'%s' expected", note);
    bench_close(&t);
    free(text);
}

/* A race between warps stands before one inside a warp that was met earlier. */
static void test_race_between_warps_first(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t);
    struct finding f = sample(&t);
    struct place other = {.thread = {5, 0, 0}, .warp = 0, .inst = &t.second};
    report_finding(&t.report, &f);
    f.kind = FAULT_RACE_READ_WRITE;
    f.other = &other;
    report_finding(&t.report, &f);
    other.warp = 1;
    snprintf(f.detail, sizeof f.detail, "first of the others");
    report_finding(&t.report, &f);
    snprintf(f.detail, sizeof f.detail, "second of the others");
    report_finding(&t.report, &f);
    const char *text = bench_text(&t);
    const char *oob = strstr(text, "global_read_oob"), *first = strstr(text, "first of the others"),
               *second = strstr(text, "second of the others");
    assert_true(oob && first && second && oob < first && first < second);
    assert_non_null(strstr(second, "\"thread\":[5,0,0]"));
    unsigned after = 0;
    for (const char *p = second; (p = strstr(p, "race_read_write")) != NULL; p++)
        after++;
    assert_int_equal(after, 1); /* the one inside the warp */
    bench_close(&t);
}

static void test_hostile_text(void **state)
{
    struct bench t;
    char name[2000];

    (void)state;
    bench_open(&t);
    memset(name, 'x', sizeof name);
    name[sizeof name - 1] = '\0';
    memcpy(name, "\"},\n{\\\x01\xff", 8);
    t.func.name = name;
    t.inst.text = name;
    t.files[2] = "odd \"name\".cu";
    struct finding f = sample(&t);
    report_finding(&t.report, &f);
    const char *text = bench_text(&t);
    assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
    assert_non_null(strstr(text, "\"ptx\":\"\\\"},\\u000a{\\\\\\u0001\\u00ffx"));
    assert_int_equal(text[strlen(text) - 2], '}');
    assert_non_null(strstr(text, "\"file\":\"odd \\\"name\\\".cu\""));
    assert_non_null(strstr(text, "\"chain\":\"odd \\\"name\\\".cu:84 < radix_select.cu:41\""));
    bench_close(&t);
}

static void test_launch_and_refusal(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t);
    t.grid.counts.global_ld_sector = 12345678901ull;
    report_launch(&t.report, &t.grid);
    report_refused(&t.report, "_Z1kPf", &t.second, "textures are out of scope");
    report_text(&t.report, "warning", "say \"so\"");
    const char *text = bench_text(&t);
    assert_non_null(strstr(text, "{\"v\":1,\"t\":\"launch\",\"kernel\":\"topk_kernel\",\"launch\":"
                                 "2,\"grid\":[4,2,1],\"block\":[64,1,1],\"error\":0,\"counts\":{"));
    assert_non_null(strstr(text, "\"global_ld_sector\":12345678901,"));
    assert_non_null(strstr(
        text,
        "{\"v\":1,\"t\":\"refused\",\"kernel\":\"k\",\"form\":\"st.shared.f32 [%r1], %f1;\""));
    assert_non_null(strstr(text, "{\"v\":1,\"t\":\"warning\",\"text\":\"say \\\"so\\\"\"}\n"));
    bench_close(&t);
}

static void test_table(void **state)
{
    (void)state;
    assert_int_equal(fault_cuda_error(FAULT_MISALIGNED), 716);
    assert_int_equal(fault_cuda_error(FAULT_RACE_READ_WRITE),
                     0); /* the finding alone makes the verdict */
    assert_string_equal(fault_check(FAULT_SHARED_UNINIT), "initcheck");
    assert_false(fault_is_error(FAULT_RACE_EQUAL));
    assert_true(fault_is_error(FAULT_RACE_ASYNC));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_key),
        cmocka_unit_test(test_relation_before_and_freed),
        cmocka_unit_test(test_race_names_both_places),
        cmocka_unit_test(test_ten_of_a_kind),
        cmocka_unit_test(test_repeats_as_text),
        cmocka_unit_test(test_next_call),
        cmocka_unit_test(test_bytes_of_a_call),
        cmocka_unit_test(test_race_between_warps_first),
        cmocka_unit_test(test_hostile_text),
        cmocka_unit_test(test_launch_and_refusal),
        cmocka_unit_test(test_table),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

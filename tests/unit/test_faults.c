/*
 * test_faults.c - each kind of finding of the virtual GPU: a kernel that must be caught at the
 * right source line, and a near twin that must stay silent under every seed. The kernels are in
 * tests/ptx/faults, their sources in the head of each file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "vg_report.h"
#include "vgpu_rig.h"

enum { SEEDS = 8 };

struct fault {
    const char *file;
    enum fault_kind kind;
    const char *kind_text;
    const char *check;
    long line;        /* of the culprit in the source */
    long other;       /* of the other access of a race; 0: not looked at */
    int error;        /* that ends the launch */
    long lanes;       /* that show it; 0: not looked at */
    const char *text; /* part of the sentence */
};
#define ROW(file, id, text_id, check, line, other, error, lanes, text)                             \
    {                                                                                              \
        file, FAULT_##id, text_id, check, line, other, error, lanes, text                          \
    }
static const struct fault faults[] = {
    ROW("global_read_oob", GLOBAL_READ_OOB, "global_read_oob", "memcheck", 4, 0, 700, 1,
        "0 bytes past the end of 'in' (256 bytes)"),
    ROW("global_write_oob", GLOBAL_WRITE_OOB, "global_write_oob", "memcheck", 4, 0, 700, 1,
        "0 bytes past the end of 'out' (256 bytes)"),
    ROW("global_atomic_oob", GLOBAL_ATOMIC_OOB, "global_atomic_oob", "memcheck", 3, 0, 700, 32,
        "0 bytes past the end of 'out' (256 bytes)"),
    ROW("shared_oob", SHARED_OOB, "shared_oob", "memcheck", 5, 0, 700, 1,
        "0 bytes past the end of the block's shared memory (256 bytes)"),
    ROW("misaligned", MISALIGNED, "misaligned", "memcheck", 3, 0, 716, 32, "at offset 4 of 'in'"),
    ROW("use_after_free", USE_AFTER_FREE, "use_after_free", "memcheck", 4, 0, 700, 32,
        "of 'freed' (256 bytes), freed"),
    ROW("null_access", NULL_ACCESS, "null_access", "memcheck", 4, 0, 700, 32, "null pointer"),
    ROW("host_pointer", HOST_POINTER, "host_pointer", "memcheck", 4, 0, 700, 32,
        "pageable host memory"),
    ROW("write_readonly", WRITE_READONLY, "write_readonly", "memcheck", 6, 0, 700, 32, "read-only"),
    ROW("const_oob", CONST_OOB, "const_oob", "memcheck", 5, 0, 700, 32, "'table'"),
    ROW("local_oob", LOCAL_OOB, "local_oob", "memcheck", 5, 0, 700, 32,
        "offset 260 of the thread's 64 bytes"),
    ROW("global_uninit", GLOBAL_UNINIT, "global_uninit", "initcheck", 4, 0, 0, 32,
        "at offset 0 of 'out'"),
    ROW("shared_uninit", SHARED_UNINIT, "shared_uninit", "initcheck", 7, 0, 0, 1,
        "byte 252 of 'tile'"),
    ROW("local_uninit", LOCAL_UNINIT, "local_uninit", "initcheck", 7, 0, 0, 32,
        "of the thread's 64 bytes of local memory"),
    ROW("race_read_write", RACE_READ_WRITE, "race_read_write", "racecheck", 6, 5, 0, 32,
        "__syncthreads() between the two"),
    ROW("race_warp", RACE_READ_WRITE, "race_read_write", "racecheck", 7, 6, 0, 32,
        "__syncwarp() between the two"),
    ROW("race_tree", RACE_READ_WRITE, "race_read_write", "racecheck", 9, 9, 0, 0,
        "__syncthreads() between the two"),
    ROW("race_write_write", RACE_WRITE_WRITE, "race_write_write", "racecheck", 5, 5, 0, 32,
        "byte 0 of 'tile'"),
    ROW("race_same_insn", RACE_SAME_INSN, "race_same_insn", "racecheck", 5, 5, 0, 31, "'best'"),
    ROW("race_equal", RACE_EQUAL, "race_equal", "racecheck", 7, 7, 0, 0, "'found'"),
    ROW("race_global", RACE_GLOBAL, "race_global", "racecheck", 6, 6, 0, 31,
        "at offset 0 of 'out' (256 bytes)"),
    ROW("shuffle_absent", SHUFFLE_ABSENT, "shuffle_absent", "synccheck", 8, 0, 0, 0,
        "lane 8 reads lane 24, which has exited; lanes 00ffffff take part"),
    ROW("race_async", RACE_ASYNC, "race_async", "racecheck", 9, 7, 0, 32, "the copy's wait"),
    ROW("race_bytes", RACE_READ_WRITE, "race_read_write", "racecheck", 7, 6, 0, 32, "'tile'"),
    ROW("race_named", RACE_READ_WRITE, "race_read_write", "racecheck", 11, 8, 0, 32, "'tile'"),
    ROW("race_flag", RACE_READ_WRITE, "race_read_write", "racecheck", 15, 11, 0, 1, "'value'"),
    ROW("barrier_divergent", BARRIER_DIVERGENT, "barrier_divergent", "synccheck", 11, 0, 0, 0,
        "different instructions, others at line 7"),
    ROW("barrier_exited", BARRIER_EXITED, "barrier_exited", "synccheck", 7, 0, 0, 0,
        "32 of 64 threads have exited"),
    ROW("deadlock", DEADLOCK, "deadlock", "synccheck", 5, 0, 719, 0,
        "warp 1 lanes ffffffff at line 7"),
    ROW("no_progress", NO_PROGRESS, "no_progress", "limits", 5, 0, 702, 0, "line 5"),
    ROW("budget", BUDGET, "budget", "limits", 4, 0, 702, 0, "warps 0-1 at line 4"),
    ROW("sync_missing_lane", SYNC_MISSING_LANE, "sync_missing_lane", "synccheck", 5, 0, 719, 0, ""),
    ROW("sync_lane_not_in_mask", SYNC_LANE_NOT_IN_MASK, "sync_lane_not_in_mask", "synccheck", 4, 0,
        -1, 0, ""),
};
enum { FAULTS_LISTED = sizeof faults / sizeof faults[0] };

static char *text_of(const struct fault *f, size_t *len)
{
    char path[512];
    snprintf(path, sizeof path, "%s/ptx/faults/%s.ptx", TEST_ROOT "/tests", f->file);
    return rig_read(path, len);
}

static struct rig_options options_of(const struct fault *f, uint64_t seed)
{
    return (struct rig_options){
        .checks = "mirs", .seed = seed, .budget = f->kind == FAULT_BUDGET ? 100000 : 0};
}

/* The trigger of a row, under a few seeds: kind, place, extent, what ends the launch, and no other
 * kind beside it. */
static void check_trigger(const struct fault *f, const char *ptx, size_t len, uint64_t seed)
{
    struct rig_result *r = malloc(sizeof *r);
    char wanted[64];

    assert_non_null(r);
    const struct rig_options o = options_of(f, seed);
    rig_run(r, ptx, len, "trigger", &o);
    snprintf(wanted, sizeof wanted, "\"kind\":\"%s\"", f->kind_text);
    const char *line = rig_line(r, wanted, 0);
    if (!line)
        fail_msg("%s, seed %u: no finding '%s', but: %s", f->file, (unsigned)seed, f->kind_text,
                 r->findings);
    if (!rig_text_is(line, "check", f->check))
        fail_msg("%s: not a finding of %s: %s", f->file, f->check, line);
    if (!rig_text_is(line, "severity", fault_is_error(f->kind) ? "error" : "warning"))
        fail_msg("%s: wrong severity: %s", f->file, line);
    if (!rig_text_is(line, "kernel", "trigger"))
        fail_msg("%s: wrong kernel: %s", f->file, line);
    const char *other = strstr(line, "\"other\":{");
    long there = other ? rig_number(other, "line") : 0, here = rig_number(line, "line");
    if (f->other && here == f->other)
        here = there, there = f->other; /* whichever of the two came second is at fault */
    if (f->line && here != f->line)
        fail_msg("%s, seed %u: line %ld expected: %s", f->file, (unsigned)seed, f->line, line);
    if (f->other && there != f->other)
        fail_msg("%s, seed %u: other line %ld expected: %s", f->file, (unsigned)seed, f->other,
                 line);
    if (seed == 0 && f->lanes && rig_number(line, "lanes") != f->lanes)
        fail_msg("%s: %ld lanes expected: %s", f->file, f->lanes, line);
    if (seed == 0 && !strstr(line, f->text))
        fail_msg("%s: '%s' expected in: %s", f->file, f->text, line);
    if (f->error >= 0 && r->error != f->error)
        fail_msg("%s: error %d, expected %d: %s", f->file, r->error, f->error, r->findings);
    free(r);
}

static void check_silent(const struct fault *f, const char *ptx, size_t len, uint64_t seed)
{
    struct rig_result *r = malloc(sizeof *r);

    assert_non_null(r);
    const struct rig_options o = options_of(f, seed);
    rig_run(r, ptx, len, "silent", &o);
    if (r->error != 0 || r->finding_count != 0)
        fail_msg("%s, silent twin, seed %u: error %d, %s", f->file, (unsigned)seed, r->error,
                 r->findings);
    free(r);
}

static void test_trigger_and_twin(void **state)
{
    const struct fault *f = *state;
    size_t len;
    char *ptx = text_of(f, &len);

    for (uint64_t seed = 0; seed <= SEEDS; seed++) {
        check_trigger(f, ptx, len, seed);
        check_silent(f, ptx, len, seed);
    }
    free(ptx);
}

/* A check that is off is silent. */
static void test_checks_off(void **state)
{
    unsigned seen = 0;

    (void)state;
    for (unsigned i = 0; i < FAULTS_LISTED; i++) {
        const struct fault *f = &faults[i];
        const bool race = strcmp(f->check, "racecheck") == 0,
                   init = strcmp(f->check, "initcheck") == 0;
        if (!race && !init)
            continue;
        size_t len;
        char *ptx = text_of(f, &len);
        struct rig_result *r = malloc(sizeof *r);
        assert_non_null(r);
        struct rig_options o = options_of(f, 0);
        o.checks = race ? "mis" : "mrs";
        rig_run(r, ptx, len, "trigger", &o);
        if (r->error != 0 || rig_line(r, f->check, 0))
            fail_msg("%s: %s is off, but: %s", f->file, f->check, r->findings);
        free(r);
        free(ptx);
        seen++;
    }
    assert_true(seen >= 10);
}

/* Kinds that no kernel of tests/ptx/faults shows, and who shows them. */
static const struct {
    enum fault_kind kind;
    const char *where;
} elsewhere[] = {
    {FAULT_PARAM_OOB, "the verifier refuses such offsets; test_mem.c"},
    {FAULT_STACK_OVERFLOW, "tests/ptx/call"},
    {FAULT_API_COPY_OOB, "test_cudart"},
    {FAULT_API_REFUSED, "tests/cli/walk/misuse.sh"},
    {FAULT_DOUBLE_FREE, "test_cudart"},
    {FAULT_MIDDLE_FREE, "test_cudart"},
    {FAULT_LEAK, "test_cudart"},
    {FAULT_COPY_UNINIT, "test_cudart"},
    {FAULT_SYNC_MASK_MISMATCH, "tests/ptx/sync"},
    {FAULT_BARRIER_COUNT, "tests/ptx/sync"},
    {FAULT_NOT_CONVERGED, "tests/ptx/sync"},
    {FAULT_MBARRIER_MISUSE, "tests/ptx/async"},
    {FAULT_ASSERT, "tests/ptx/call"},
    {FAULT_TRAP, "tests/ptx/call"},
    {FAULT_BREAKPOINT, "tests/ptx/call"},
    {FAULT_BAD_CALL, "tests/ptx/call"},
};
static void test_every_row_is_shown(void **state)
{
    unsigned shown[FAULT_COUNT] = {0};

    (void)state;
    for (unsigned i = 0; i < FAULTS_LISTED; i++)
        shown[faults[i].kind] = 1;
    for (unsigned i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        assert_int_equal(shown[elsewhere[i].kind], 0);
        shown[elsewhere[i].kind] = 1;
    }
    for (unsigned kind = 0; kind < FAULT_COUNT; kind++)
        if (!shown[kind])
            fail_msg("no kernel shows row %u of faults.def", kind);
}

int main(void)
{
    struct CMUnitTest tests[FAULTS_LISTED + 2];
    unsigned n = 0;

    memset(tests, 0, sizeof tests);
    for (unsigned i = 0; i < FAULTS_LISTED; i++) {
        tests[n].name = faults[i].file;
        tests[n].test_func = test_trigger_and_twin;
        tests[n++].initial_state =
            (void *)(uintptr_t)&faults[i]; /* read only; cmocka asks for void* */
    }
    tests[n].name = "checks_off";
    tests[n++].test_func = test_checks_off;
    tests[n].name = "every_row_is_shown";
    tests[n++].test_func = test_every_row_is_shown;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

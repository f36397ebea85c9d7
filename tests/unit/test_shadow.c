/*
 * test_shadow.c - race records against a second implementation: random accesses and synchronisation
 * of a block, where the plain one keeps every access ever made and a vector clock for each thread.
 * Nothing may be reported that is ordered, and the first race on a byte must be.
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

#include "exec.h"
#include "shadow_hot.h"

enum { WARPS = 3, THREADS = WARPS * WARP_LANES, BYTES = 512, SITES = 8, STEPS = 160, ROUNDS = 400 };

/* ---- a block to act on ---- */
struct bench {
    struct vgpu_device device;
    struct ptx_module module;
    struct ptx_func func;
    struct ptx_inst insts[SITES];
    struct insn code[SITES];
    struct program program;
    struct grid grid;
    struct block block;
    struct warp warps[WARPS];
    unsigned char shared[BYTES];
};

static void bench_open(struct bench *t, bool init, bool race)
{
    memset(t, 0, sizeof *t);
    t->func = (struct ptx_func){
        .name = "bench", .module = &t->module, .insts = t->insts, .inst_count = SITES};
    t->program = (struct program){.func = &t->func, .code = t->code, .code_count = SITES};
    for (uint32_t i = 0; i < SITES; i++) {
        t->insts[i].text = "access";
        t->insts[i].form = PTX_FORM_LD;
        t->code[i].tree = i;
    }
    t->grid = (struct grid){.program = &t->program,
                            .func = &t->func,
                            .device = &t->device,
                            .block_dim = {THREADS, 1, 1}};
    t->block = (struct block){.shared = t->shared,
                              .shared_size = BYTES,
                              .warps = t->warps,
                              .warp_count = WARPS,
                              .thread_count = THREADS,
                              .live_threads = THREADS,
                              .grid = &t->grid};
    t->device.report.fd = memfd_create("findings", MFD_CLOEXEC);
    assert_true(t->device.report.fd >= 0);
    for (uint32_t i = 0; i < WARPS; i++) {
        struct warp *w = &t->warps[i];
        w->entry.program = &t->program;
        w->frame = &w->entry;
        w->lanes = w->live = w->active = FULL_MASK;
        w->index = i;
        w->block = &t->block;
        w->grid = &t->grid;
    }
    assert_non_null(shadow_open(NULL, &t->block, init, race));
}

static void bench_close(struct bench *t)
{
    shadow_close(&t->block);
    shadow_free_all(&t->grid);
    close(t->device.report.fd);
    free(t->device.report.seen);
    free(t->device.report.buffer);
}

static uint64_t reports(const struct bench *t)
{
    const struct report *r = &t->device.report;

    return r->written + r->repeated + r->left_out[0] + r->left_out[1];
}

/* ---- the second implementation ---- */
struct past {
    uint32_t thread, clock;
    bool write, atomic;
};
struct naive {
    uint32_t clock[THREADS]
                  [THREADS]; /* row: what the thread knows of the others; own entry: its own time */
    struct past *history[BYTES];
    uint32_t count[BYTES], cap[BYTES];
    bool raced[BYTES]; /* a race was found here before */
};

static void naive_close(struct naive *n)
{
    for (unsigned i = 0; i < BYTES; i++)
        free(n->history[i]);
    free(n);
}

static bool naive_access(struct naive *n, uint32_t thread, uint32_t at, bool write, bool atomic,
                         bool *first)
{
    bool race = false;

    for (uint32_t i = 0; i < n->count[at]; i++) {
        const struct past *p = &n->history[at][i];
        if (p->thread == thread || (!p->write && !write) || (p->atomic && atomic))
            continue;
        if (p->clock > n->clock[thread][p->thread])
            race = true;
    }
    if (n->count[at] == n->cap[at]) {
        n->cap[at] = n->cap[at] ? 2 * n->cap[at] : 16;
        n->history[at] = realloc(n->history[at], n->cap[at] * sizeof(struct past));
        assert_non_null(n->history[at]);
    }
    n->history[at][n->count[at]++] = (struct past){thread, n->clock[thread][thread], write, atomic};
    if (race && !n->raced[at])
        *first = true;
    n->raced[at] = n->raced[at] || race;
    return race;
}

/* The threads of the set know all that any of them knows; each goes on with a later time. */
static void naive_join(struct naive *n, const bool set[THREADS])
{
    uint32_t all[THREADS] = {0};

    for (unsigned t = 0; t < THREADS; t++)
        for (unsigned i = 0; set[t] && i < THREADS; i++)
            if (n->clock[t][i] > all[i])
                all[i] = n->clock[t][i];
    for (unsigned t = 0; t < THREADS; t++) {
        if (!set[t])
            continue;
        memcpy(n->clock[t], all, sizeof all);
        n->clock[t][t]++;
    }
}

/* ---- random acts ---- */
static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

struct act {
    uint32_t warp, lanes, site;
    unsigned width;
    int kind;
    uint32_t addr[WARP_LANES];
    bool run;
};

static struct act random_access(uint64_t *seed, bool bytes)
{
    struct act a = {.warp = next(seed) % WARPS, .site = next(seed) % SITES};
    const uint32_t pick = next(seed) % 10;

    a.kind = pick < 5 ? SHADOW_READ : pick < 9 ? SHADOW_WRITE : SHADOW_ATOMIC | SHADOW_STRONG;
    a.width = a.kind >= SHADOW_ATOMIC ? 4 : bytes && next(seed) % 2 ? 1 : 4u << next(seed) % 2;
    a.run = next(seed) % 3 == 0 && a.width == 4 && a.kind < SHADOW_ATOMIC;
    a.lanes = a.run ? FULL_MASK : 1u << next(seed) % 32 | 1u << next(seed) % 32;
    const uint32_t base = next(seed) % (BYTES / 4 - WARP_LANES) * 4;
    for (uint32_t lane = 0; lane < WARP_LANES; lane++)
        a.addr[lane] = a.run ? base + 4 * lane
                             : next(seed) % 6 * 8 + (a.width == 1   ? next(seed) % 8
                                                     : a.width == 4 ? next(seed) % 2 * 4
                                                                    : 0);
    return a;
}

/* As exec_mem.c does: the vector loop first. */
static void shadow_act(struct bench *t, const struct act *a)
{
    struct warp *w = &t->warps[a->warp];
    struct shared_shadow *s = t->block.shadow;
    const struct insn *in = &t->code[a->site];
    const uint32_t site = shadow_site_of(s, w, in);

    if (a->run && !s->exact) {
        if (a->kind == SHADOW_READ ? shadow_run_read(s, a->warp, site, a->addr[0] / 4, 32, 0, 0)
                                   : shadow_run_write(s, a->warp, site, a->addr[0] / 4, 32, 0, 0))
            return;
    }
    if (!s->exact && a->kind == SHADOW_READ && a->width == 4) {
        uint32_t rest = 0;
        FOR_EACH_LANE(lane, a->lanes)
        {
            if (!shadow_word_read(s, a->warp, site, a->addr[lane] / 4, 1u << lane))
                rest |= 1u << lane;
        }
        if (rest)
            shadow_access(w, in, a->addr, rest, a->width, a->kind);
        return;
    }
    shadow_access(w, in, a->addr, a->lanes, a->width, a->kind);
}

static void naive_act(struct naive *n, const struct act *a, bool *race, bool *first)
{
    FOR_EACH_LANE(lane, a->lanes)
    {
        for (uint32_t i = 0; i < a->width; i++)
            *race = naive_access(n, a->warp * WARP_LANES + lane, a->addr[lane] + i,
                                 a->kind != SHADOW_READ, a->kind >= SHADOW_ATOMIC, first) ||
                    *race;
    }
}

enum order { ORDER_FULL, ORDER_PARTS }; /* full barriers and full warps only, or any */

static void random_sync(struct bench *t, struct naive *n, uint64_t *seed, enum order order)
{
    bool set[THREADS] = {false};
    uint32_t masks[32] = {0};
    const uint32_t what = next(seed) % (order == ORDER_FULL ? 2 : 4), warp = next(seed) % WARPS;

    if (what == 0) { /* __syncthreads */
        for (unsigned i = 0; i < WARPS; i++)
            masks[i] = FULL_MASK;
        memset(set, 1, sizeof set);
        shadow_barrier(&t->block, masks, true);
    } else if (what == 1 || what == 3) { /* __syncwarp, of all or of some lanes */
        const uint32_t mask =
            what == 1 ? FULL_MASK : 1u << next(seed) % 32 | next(seed) | 1u << next(seed) % 32;
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            set[warp * WARP_LANES + lane] = mask >> lane & 1;
        shadow_warp_sync(&t->warps[warp], mask);
    } else { /* a named barrier of two warps */
        for (unsigned i = 0; i < WARPS; i++) {
            if (i == warp)
                continue;
            masks[i] = FULL_MASK;
            memset(set + i * WARP_LANES, 1, WARP_LANES);
        }
        shadow_barrier(&t->block, masks, false);
    }
    naive_join(n, set);
}

static void run_rounds(enum order order, bool bytes, uint64_t seed)
{
    unsigned races = 0, quiet = 0;

    for (unsigned round = 0; round < ROUNDS; round++) {
        struct bench *t = malloc(sizeof *t);
        struct naive *n = calloc(1, sizeof *n);
        const uint32_t patience = 1 + next(&seed) % 12; /* accesses between two synchronisations */
        assert_non_null(t);
        assert_non_null(n);
        for (unsigned i = 0; i < THREADS; i++)
            n->clock[i][i] = 1;
        bench_open(t, false, true);
        if (order == ORDER_PARTS)
            shadow_warp_sync(&t->warps[0],
                             3); /* before any access: the exact form from the start */
        for (unsigned step = 0; step < STEPS; step++) {
            if (next(&seed) % patience == 0) {
                random_sync(t, n, &seed, order);
                continue;
            }
            const struct act a = random_access(&seed, bytes);
            const uint64_t before = reports(t);
            bool race = false, first = false;
            naive_act(n, &a, &race, &first);
            shadow_act(t, &a);
            const bool reported = reports(t) != before;
            if (reported && !race)
                fail_msg("round %u step %u: reported, but ordered", round, step);
            if (first && !reported)
                fail_msg("round %u step %u: a first race was not reported", round, step);
            races += reported;
            quiet += !reported;
        }
        bench_close(t);
        naive_close(n);
        free(t);
    }
    assert_true(races > 500); /* both outcomes were met, often */
    assert_true(quiet > 5000);
}

static void test_full_barriers(void **state)
{
    (void)state;
    run_rounds(ORDER_FULL, false, 1);
}
static void test_full_barriers_bytes(void **state)
{
    (void)state;
    run_rounds(ORDER_FULL, true, 2);
}
static void test_parts(void **state)
{
    (void)state;
    run_rounds(ORDER_PARTS, false, 3);
}
static void test_parts_bytes(void **state)
{
    (void)state;
    run_rounds(ORDER_PARTS, true, 4);
}

/* ---- single rules ---- */
static void access_one(struct bench *t, uint32_t warp, uint32_t lane, uint32_t addr, int kind)
{
    uint32_t at[WARP_LANES] = {0};
    at[lane] = addr;
    shadow_access(&t->warps[warp], &t->code[0], at, 1u << lane, 4, kind);
}

static void test_release_acquire(void **state)
{
    struct bench t;

    (void)state;
    for (unsigned with = 0; with < 2; with++) {
        bench_open(&t, false, true);
        shadow_warp_sync(&t.warps[2], 3);
        access_one(&t, 0, 0, 16, SHADOW_WRITE);
        shadow_release(&t.warps[0], 1, 77);
        if (with)
            shadow_acquire(&t.warps[1], 1, 77);
        else
            shadow_acquire(&t.warps[1], 1, 78);
        access_one(&t, 1, 0, 16, SHADOW_READ);
        assert_int_equal(reports(&t), with ? 0 : 1);
        access_one(&t, 0, 5, 20, SHADOW_WRITE); /* after the release: not covered by it */
        access_one(&t, 1, 0, 20, SHADOW_READ);
        assert_int_equal(reports(&t), with ? 1 : 2);
        bench_close(&t);
    }
}

static void test_async_copy(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t, true, true);
    shadow_async_begin(&t.warps[0], &t.code[1], 3, 32, 8);
    access_one(&t, 0, 3, 32, SHADOW_READ); /* even by the thread that asked for it */
    assert_int_equal(reports(&t), 1);
    shadow_async_end(&t.warps[0], 3, 32, 8);
    access_one(&t, 0, 3, 36, SHADOW_READ);
    assert_int_equal(reports(&t), 1);
    access_one(&t, 1, 0, 36, SHADOW_READ); /* delivered to thread 3 only */
    assert_int_equal(reports(&t), 2);
    bench_close(&t);
}

static void test_uninitialised(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t, true, true);
    access_one(&t, 0, 0, 0, SHADOW_READ);
    assert_int_equal(reports(&t), 1);
    access_one(&t, 0, 0, 4, SHADOW_WRITE);
    access_one(&t, 0, 0, 4, SHADOW_READ);
    shadow_mark_init(&t.block, 8, 4);
    access_one(&t, 1, 0, 8, SHADOW_READ);
    assert_int_equal(reports(&t), 1);
    /* The next block starts with nothing written, although it takes the records over. */
    shadow_close(&t.block);
    assert_non_null(shadow_open(NULL, &t.block, true, true));
    access_one(&t, 0, 0, 4, SHADOW_READ);
    assert_int_equal(reports(&t), 2);
    bench_close(&t);
}

static void test_checks_off(void **state)
{
    struct bench t;

    (void)state;
    bench_open(&t, false, true);
    access_one(&t, 0, 0, 0, SHADOW_READ);
    assert_int_equal(reports(&t), 0);
    bench_close(&t);
    bench_open(&t, true, false);
    access_one(&t, 0, 0, 0, SHADOW_WRITE);
    access_one(&t, 1, 0, 0, SHADOW_WRITE);
    access_one(&t, 2, 0, 0, SHADOW_READ);
    assert_int_equal(reports(&t), 0);
    bench_close(&t);
}

/* Values that are written at once by several lanes: equal ones are a warning, different ones an
 * error. */
static void test_values(void **state)
{
    struct bench t;
    uint32_t at[WARP_LANES] = {0}, values[WARP_LANES] = {0};

    (void)state;
    bench_open(&t, true, true);
    shadow_store(&t.warps[0], &t.code[2], at, 7, 4, SHADOW_WRITE, (const unsigned char *)values);
    values[2] = 1;
    shadow_store(&t.warps[0], &t.code[3], at, 7, 4, SHADOW_WRITE, (const unsigned char *)values);
    report_flush(&t.device.report);
    char text[4096] = "";
    assert_true(pread(t.device.report.fd, text, sizeof text - 1, 0) > 0);
    const char *equal = strstr(text, "\"kind\":\"race_equal\""),
               *differ = strstr(text, "\"kind\":\"race_same_insn\"");
    assert_non_null(equal);
    assert_non_null(differ);
    assert_true(equal < differ);
    bench_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_full_barriers),   cmocka_unit_test(test_full_barriers_bytes),
        cmocka_unit_test(test_parts),           cmocka_unit_test(test_parts_bytes),
        cmocka_unit_test(test_release_acquire), cmocka_unit_test(test_async_copy),
        cmocka_unit_test(test_uninitialised),   cmocka_unit_test(test_checks_off),
        cmocka_unit_test(test_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

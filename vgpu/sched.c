/*
 * sched.c - one launch: blocks into the window of resident ones, turns, budget, progress, seed;
 * turns the tally into counters. Warps run in exec.c. Invariant: one thread, one order for one
 * seed; every launch ends, by completion, a fault, a deadlock or the budget.
 */
#include "exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_WARP   4096u      /* instructions of one warp before the next one runs */
#define TURN_BLOCK  (1u << 18) /* instructions of one block before the next one runs */
#define IDLE_ROUNDS 64u        /* rounds of the whole window without any change, and */
#define IDLE_INSTRUCTIONS                                                                          \
    (1u << 22) /* so many instructions, before a launch is said to make no progress */
#define SM_THREADS        2048u
#define SM_BLOCKS         32u
#define SM_REGISTERS      65536u
#define SM_SHARED         (228u << 10)
#define ASSUMED_REGISTERS 64u

uint32_t sched_occupancy(const struct program *p, uint32_t threads, uint32_t dynamic_shared,
                         uint32_t registers)
{
    uint32_t warps = (threads + WARP_LANES - 1) / WARP_LANES,
             align = p->dynamic_shared_align ? p->dynamic_shared_align : 1;
    if (warps == 0)
        return 0;
    if (registers == 0)
        registers = ASSUMED_REGISTERS;
    registers = (registers + 7) & ~7u; /* allocated per warp in units of 256 */
    uint32_t by_threads = SM_THREADS / (warps * WARP_LANES),
             by_registers = SM_REGISTERS / (registers * WARP_LANES * warps);
    uint32_t shared = (p->shared_static + align - 1) / align * align + dynamic_shared + SHARED_BASE;
    uint32_t by_shared = SM_SHARED / ((shared + 127) & ~127u), n = SM_BLOCKS;
    if (by_threads < n)
        n = by_threads;
    if (by_registers < n)
        n = by_registers;
    if (by_shared < n)
        n = by_shared;
    return n;
}

/* ---- order under a seed ---- */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15ull;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}
static uint64_t gcd(uint64_t a, uint64_t b) { return b ? gcd(b, a % b) : a; }
/* A permutation of 0 .. n-1: i -> a * i + c mod n. Seed 0 keeps the order. */
static uint64_t permuted(uint64_t seed, uint64_t i, uint64_t n)
{
    if (seed == 0 || n < 2)
        return i;
    uint64_t a = mix(seed) % n, c = mix(seed + 1) % n;
    while (gcd(a, n) != 1)
        a = (a + 1) % n;
    __extension__ typedef unsigned __int128 u128;
    return (uint64_t)(((u128)a * i + c) % n);
}

/* Number of the block that enters as the i-th. A seed permutes only among the blocks that fit the
 * window together: a block may wait for one with a smaller number (decoupled look-back), which
 * hardware starts earlier too. */
static uint64_t entry(const struct grid *g, uint64_t i, uint64_t window, uint64_t total)
{
    uint64_t base = i / window * window, n = total - base < window ? total - base : window;
    return base + permuted(g->seed, i - base, n);
}

/* ---- blocks ---- */
static void start_warp(struct warp *w, struct block *b, uint32_t index)
{
    struct grid *g = b->grid;
    uint32_t first = index * WARP_LANES, left = b->thread_count - first;
    w->lanes = left >= WARP_LANES ? FULL_MASK : (1u << left) - 1;
    w->live = w->lanes;
    w->index = index;
    w->block = b;
    w->grid = g;
    w->event = 0;
    w->idle = false;
    w->clock = NULL;
    w->pending = NULL;
    if (w->local_init) /* what the warp of an earlier block wrote is not this one's */
        memset(w->local_init, 0, (size_t)w->local_size / 4 * WARP_LANES);
    w->entry.program = g->program;
    w->entry.depth = w->entry.local_base = 0;
    w->entry.caller = NULL;
    w->entry.lanes = w->lanes;
    w->group_count = 1;
    w->groups[0] =
        (struct group){.mask = w->lanes, .pc = 0, .frame = &w->entry, .state = GROUP_RUN};
    call_fill_frame(w, &w->entry);
    exec_enter(w, &w->entry);
}

static bool make_warps(struct block *b)
{
    const struct program *p = b->grid->program;
    size_t bytes = p->reg_bytes + p->pred_count * sizeof(uint32_t);
    b->warps = calloc(b->warp_count, sizeof *b->warps);
    if (!b->warps)
        return false;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        unsigned char *memory = NULL;
        if (posix_memalign((void **)&memory, 64, (bytes + 63) & ~(size_t)63) != 0)
            return false;
        memset(memory, 0, bytes);
        b->warps[i].entry.regs = memory;
        b->warps[i].entry.preds = (uint32_t *)(void *)(memory + p->reg_bytes);
    }
    return true;
}

static void free_block(struct block *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; b->warps && i < b->warp_count; i++) {
        struct warp *w = &b->warps[i];
        async_deliver_all(w, FULL_MASK);
        for (uint32_t k = 0; k < w->group_count;
             k++) { /* an aborted launch leaves groups inside calls */
            w->frame = w->groups[k].frame;
            if (w->frame)
                call_leave_frames(w, FULL_MASK);
        }
        call_free_frames(w);
        free(w->entry.regs);
        free(w->local);
        free(w->local_init);
    }
    shadow_close(b);
    vg_arena_free(&b->arena);
    free(b->warps);
    free(b->shared);
    free(b);
}

/* Storage of one resident block; reused by its successors. */
static struct block *make_block(struct grid *g)
{
    struct block *b = calloc(1, sizeof *b);
    uint32_t align = g->program->dynamic_shared_align ? g->program->dynamic_shared_align : 1;
    if (!b)
        return NULL;
    b->grid = g;
    b->thread_count = g->block_dim[0] * g->block_dim[1] * g->block_dim[2];
    b->warp_count = (b->thread_count + WARP_LANES - 1) / WARP_LANES;
    b->shared_size = (g->program->shared_static + align - 1) / align * align + g->dynamic_shared;
    if (!make_warps(b) || posix_memalign((void **)&b->shared, 64, b->shared_size + 64) != 0) {
        free_block(b);
        return NULL;
    }
    return b;
}

static bool start_block(struct block *b, uint64_t linear)
{
    struct grid *g = b->grid;
    const struct vgpu_options *o = &g->device->options;
    b->linear = linear;
    b->index[0] = (uint32_t)(linear % g->dim[0]);
    b->index[1] = (uint32_t)(linear / g->dim[0] % g->dim[1]);
    b->index[2] = (uint32_t)(linear / g->dim[0] / g->dim[1]);
    b->done_warps = 0;
    b->live_threads = b->thread_count;
    b->idle = false;
    memset(b->barriers, 0, sizeof b->barriers);
    shadow_close(b);
    vg_arena_free(&b->arena);
    b->arena = (struct vg_arena){NULL};
    for (uint32_t i = 0; i < b->shared_size / 4; i++)
        ((uint32_t *)(void *)b->shared)[i] = 0x7fe5a5a5u; /* as fresh device memory */
    for (uint32_t i = 0; i < b->warp_count; i++)
        start_warp(&b->warps[i], b, i);
    b->shadow = NULL;
    if (b->shared_size > 0 && (o->check_init || o->check_race)) {
        b->shadow = shadow_open(&b->arena, b, o->check_init, o->check_race);
        if (!b->shadow)
            return false;
    }
    return true;
}

/* ---- the end of a launch ---- */
/* The first group that runs, for it is the one that goes nowhere; else the first that waits. */
static const struct group *told_group(const struct block *b, uint32_t *warp)
{
    const struct group *found = NULL;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        for (uint32_t k = 0; k < b->warps[i].group_count; k++) {
            const struct group *g = &b->warps[i].groups[k];
            if (found && g->state != GROUP_RUN)
                continue;
            found = g;
            *warp = i;
            if (g->state == GROUP_RUN)
                return g;
        }
    }
    return found;
}

static void report_end(struct grid *g, struct block *b, enum fault_kind kind, const char *lead)
{
    struct finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.grid = g;
    if (b) {
        char waits[200];
        memcpy(f.at.block, b->index, sizeof f.at.block);
        uint32_t of = 0;
        const struct group *any = told_group(b, &of);
        if (any) {
            struct warp *w = &b->warps[of];
            exec_enter(w, any->frame);
            f.at = exec_place(w, &any->frame->program->code[any->pc],
                              (uint32_t)__builtin_ctz(any->mask));
            f.lanes = (uint32_t)__builtin_popcount(any->mask);
        }
        exec_describe_waits(b, waits, sizeof waits);
        snprintf(f.detail, sizeof f.detail, "%s%s", lead, waits);
    }
    report_finding(&g->device->report, &f);
    if (g->error == 0)
        g->error = fault_cuda_error(kind);
}

static void report_deadlock(struct grid *g, struct block *b)
{
    if (sync_report_stuck(b) == 0)
        report_end(g, b, FAULT_DEADLOCK, "");
    if (g->error == 0)
        g->error = 719;
}

/* ---- turns ---- */
static bool can_run(const struct warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_RUN)
            return true;
    }
    return false;
}

/* Gives every warp turns until the block ends, waits, only spins, or has used its own turn. */
static void run_block(struct grid *g, struct block *b)
{
    uint64_t used = 0;
    b->idle = true;
    while (used < TURN_BLOCK && b->live_threads > 0) {
        bool ran = false, spun = true;
        for (uint32_t i = 0; i < b->warp_count; i++) {
            struct warp *w =
                &b->warps[permuted(g->seed ? mix(g->seed ^ b->linear) | 1 : 0, i, b->warp_count)];
            uint64_t left = g->budget - g->executed;
            if (w->live == 0 || !can_run(w))
                continue;
            uint32_t n = exec_warp(w, left < TURN_WARP ? (uint32_t)left : TURN_WARP);
            ran = true;
            used += n;
            g->executed += n;
            if (!w->idle)
                spun = false;
            if (g->error)
                return;
            if (g->executed >= g->budget) {
                report_end(g, b, FAULT_BUDGET, "");
                return;
            }
        }
        if (!ran && b->live_threads > 0) {
            report_deadlock(g, b);
            return;
        }
        if (!spun)
            b->idle = false;
        if (spun)
            return;
    }
}

static uint64_t changes(const struct grid *g) { return g->memory_version + g->clock_reads; }

static void run_window(struct grid *g, struct block **window, uint32_t size, uint64_t total)
{
    uint64_t entered = 0, seen = changes(g), idle_from = 0;
    uint32_t count = 0, idle_rounds = 0;
    while (g->error == 0 && (count > 0 || entered < total)) {
        bool idle = true;
        for (uint32_t i = 0; i < size && g->error == 0; i++) {
            struct block *b = i < count ? window[i] : NULL;
            if (!b) {
                if (entered >= total)
                    break;
                if (!window[i])
                    window[i] = make_block(g);
                b = window[i];
                if (!b || !start_block(b, entry(g, entered, size, total))) {
                    g->error = 2;
                    return;
                }
                entered++;
                count = i + 1;
            }
            run_block(g, b);
            if (!b->idle)
                idle = false;
            while (g->error == 0 && b->live_threads == 0 &&
                   entered < total) { /* its place goes to the next block at once */
                if (!start_block(b, entry(g, entered++, size, total)))
                    g->error = 2;
                else
                    run_block(g, b);
                idle = false;
            }
            if (b->live_threads == 0 && g->error == 0) {
                window[i] = window[--count];
                window[count] = b;
                if (i < count)
                    i--;
                idle = false;
            }
        }
        if (!idle || changes(g) != seen) {
            seen = changes(g);
            idle_rounds = 0;
            idle_from = g->executed;
        } else if (++idle_rounds >= IDLE_ROUNDS && g->executed - idle_from >= IDLE_INSTRUCTIONS) {
            char lead[96] = "";
            if (total > size) /* a grid barrier made by hand waits for blocks that cannot come */
                snprintf(lead, sizeof lead, "%u of %" PRIu64 " blocks are resident; ", size, total);
            report_end(g, window[0], FAULT_NO_PROGRESS, lead);
        }
    }
}

/* ---- counters ---- */
static uint64_t count_of(const struct tally *t, enum insn_class from, enum insn_class to)
{
    uint64_t n = 0;
    for (int c = (int)from; c <= (int)to; c++)
        n += t->classes[c].count;
    return n;
}
static void fill_counts(struct grid *g)
{
    const struct tally *t = &g->tally;
    struct counts *c = &g->counts;
    for (int i = 0; i < INSN_CLASS_COUNT; i++) {
        if (i == INSN_HIDDEN)
            continue;
        c->warp_inst += t->classes[i].count;
        c->lane_inst += t->classes[i].active;
        c->lane_inst_on += t->classes[i].on;
    }
    c->inst_int = count_of(t, INSN_INT, INSN_INT);
    c->inst_f16 = count_of(t, INSN_F16, INSN_F16);
    c->inst_f32 = count_of(t, INSN_F32, INSN_F32);
    c->inst_f64 = count_of(t, INSN_F64, INSN_F64);
    c->inst_special = count_of(t, INSN_SPECIAL, INSN_SPECIAL);
    c->inst_convert = count_of(t, INSN_CONVERT, INSN_CONVERT);
    c->inst_move = count_of(t, INSN_MOVE, INSN_MOVE);
    c->inst_branch =
        count_of(t, INSN_BRANCH, INSN_EXIT) + count_of(t, INSN_BRANCH_IF, INSN_BRANCH_IF);
    c->inst_memory = count_of(t, INSN_LD_GLOBAL, INSN_ATOM_GENERIC);
    c->inst_sync = count_of(t, INSN_SHUFFLE, INSN_FENCE);
    c->inst_tensor = count_of(t, INSN_TENSOR, INSN_TENSOR);
    c->inst_async = count_of(t, INSN_ASYNC, INSN_ASYNC);
    c->branch = count_of(t, INSN_BRANCH_IF, INSN_BRANCH_IF);
    c->f32_add = t->lanes[TALLY_F32_ADD];
    c->f32_mul = t->lanes[TALLY_F32_MUL];
    c->f32_fma = t->lanes[TALLY_F32_FMA];
    c->f64_op = t->lanes[TALLY_F64];
    c->f16_op = t->lanes[TALLY_F16];
    if (g->device->options.counters)
        c->global_touched = 32 * mem_touched_sectors(&g->device->space);
}

/* ---- the launch ---- */
static bool place_parameters(struct grid *g, struct alloc **copy, struct alloc **work)
{
    struct space *s = &g->device->space;
    if (g->program->uses_param_address && g->func->param_size > 0) {
        *copy = mem_alloc(s, g->func->param_size, ALLOC_INTERNAL);
        if (!*copy)
            return false;
        memcpy((*copy)->host, g->params, g->func->param_size);
        mem_mark_init(*copy, 0, g->func->param_size);
        g->param_address = (*copy)->addr;
    }
    if (g->cooperative) { /* {u32 size; u32 barrier}: the toolkit's grid synchronisation counts in
                             the second word */
        *work = mem_alloc(s, 8, ALLOC_INTERNAL);
        if (!*work)
            return false;
        memset((*work)->host, 0, 8);
        mem_mark_init(*work, 0, 8);
        g->workspace = (*work)->addr;
    }
    return true;
}

int sched_run(struct grid *g)
{
    struct vgpu_device *device = g->device;
    const struct vgpu_options *o = &device->options;
    uint32_t threads = g->block_dim[0] * g->block_dim[1] * g->block_dim[2];
    uint64_t total = (uint64_t)g->dim[0] * g->dim[1] * g->dim[2];
    uint64_t window_size = (uint64_t)device->sm_count *
                           sched_occupancy(g->program, threads, g->dynamic_shared, g->registers);
    struct alloc *copy = NULL, *work = NULL;
    if (window_size == 0)
        return 701;
    if (g->cooperative && total > window_size)
        return 720;
    if (window_size > total)
        window_size = total;
    if (g->budget == 0)
        g->budget = o->budget ? o->budget : VGPU_DEFAULT_BUDGET;
    g->loop = exec_loop(!o->counters ? LOOP_PLAIN : g->per_insn ? LOOP_PER_INSN : LOOP_COUNTED);
    g->clock = device->clock;
    struct block **window = calloc(window_size, sizeof(struct block *));
    if (!window || !place_parameters(g, &copy, &work))
        g->error = 2;
    else
        run_window(g, window, (uint32_t)window_size, total);
    for (uint64_t i = 0; window && i < window_size; i++)
        free_block(window[i]);
    free(window);
    shadow_free_all(g);
    if (copy)
        mem_free(&device->space, copy, g->launch_number);
    if (work)
        mem_free(&device->space, work, g->launch_number);
    if (o->counters)
        fill_counts(g);
    device->clock = g->clock + g->executed;
    return g->error;
}

/*
 * exec.c - runs one warp: picks a group, merges, splits, parks and ends groups; records faults.
 * The inner loop is exec_loop.c, the handlers are in exec_*.c, blocks and turns in sched.c.
 * Invariant: the groups of a warp are disjoint and together hold its live lanes; the running one is
 * groups[current].
 */
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A group that took this many spin branches lets another one run for as many instructions
 * (virtual-gpu.md: the fastest of the values tried). */
#define SPIN_PATIENCE 16u

int exec_isa_limit(void)
{
    const char *name = getenv("WARPJUDGE_VGPU_ISA");
    if (!name)
        return -1;
    return strcmp(name, "base") == 0 ? 0
           : strcmp(name, "v3") == 0 ? 1
           : strcmp(name, "v4") == 0 ? 2
                                     : -1;
}

/* ---- places and faults ---- */
const struct ptx_inst *exec_tree(const struct warp *w, const struct insn *in)
{
    return in->tree < w->frame->program->func->inst_count
               ? &w->frame->program->func->insts[in->tree]
               : NULL;
}

struct place exec_place(const struct warp *w, const struct insn *in, uint32_t lane)
{
    const struct grid *g = w->grid;
    uint32_t thread = w->index * WARP_LANES + lane;
    struct place p = {{w->block->index[0], w->block->index[1], w->block->index[2]},
                      {thread % g->block_dim[0], thread / g->block_dim[0] % g->block_dim[1],
                       thread / g->block_dim[0] / g->block_dim[1]},
                      w->index,
                      lane,
                      exec_tree(w, in)};
    return p;
}

static void make_finding(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                         struct finding *f)
{
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->grid = w->grid;
    f->at = exec_place(w, in, lane);
    f->lanes = 1;
}

static void stop(struct warp *w, enum fault_kind kind)
{
    int code = fault_cuda_error(kind);
    if (w->grid->error == 0)
        w->grid->error = code ? code : 719;
    w->event |= EVENT_STOP;
}

void exec_fault(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                uint64_t address, uint32_t width, uint32_t lanes)
{
    struct finding f;
    make_finding(w, in, kind, lane, &f);
    f.address = address;
    f.width = width;
    f.lanes = lanes;
    f.alloc = mem_find(&w->grid->device->space, address, &f.alloc_inside);
    report_finding(&w->grid->device->report, &f);
    stop(w, kind);
}

void exec_fault_text(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                     const char *detail)
{
    exec_finding(w, in, kind, lane, detail);
    stop(w, kind);
}

void exec_finding(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                  const char *detail)
{
    struct finding f;
    make_finding(w, in, kind, lane, &f);
    snprintf(f.detail, sizeof f.detail, "%s", detail);
    report_finding(&w->grid->device->report, &f);
}

/* ---- groups ---- */
void exec_enter(struct warp *w, struct frame *frame)
{
    w->frame = frame;
    w->regs = frame->regs;
    w->preds = frame->preds;
}

struct group *exec_split(struct warp *w, uint32_t lanes, uint32_t pc, enum group_state state)
{
    struct group *g = &w->groups[w->group_count++];
    *g = (struct group){.mask = lanes, .pc = pc, .frame = w->frame, .state = state};
    w->active &= ~lanes;
    w->event |= EVENT_REGROUP;
    return g;
}

void exec_park(struct warp *w, uint32_t lanes, enum group_state state, uint64_t key)
{
    struct group *g = &w->groups[w->current];
    if (lanes != w->active) {
        g = exec_split(w, lanes, w->pc, state);
    } else {
        *g = (struct group){.mask = lanes, .pc = w->pc, .frame = w->frame, .state = state};
        w->event |= EVENT_PARKED | EVENT_REGROUP;
    }
    g->key = key;
}

static void remove_group(struct warp *w, uint32_t n) { w->groups[n] = w->groups[--w->group_count]; }

static uint32_t rank_of(const struct group *g) { return g->frame->program->code[g->pc].rank; }

static void merge(struct warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        struct group *a = &w->groups[i];
        for (uint32_t j = i + 1; j < w->group_count;) {
            struct group *b = &w->groups[j];
            if (a->frame == b->frame && a->pc == b->pc && a->state == b->state &&
                a->key == b->key) {
                a->mask |= b->mask;
                if (a->spins < b->spins)
                    a->spins = b->spins;
                remove_group(w, j);
            } else {
                j++;
            }
        }
    }
}

/* Deepest frame first, then lowest rank. */
static bool runs_before(const struct group *a, const struct group *b)
{
    if (a->frame->depth != b->frame->depth)
        return a->frame->depth > b->frame->depth;
    return rank_of(a) < rank_of(b);
}

/* The group to run, the rank at which it must stop to meet another, and how long it may run. */
static struct group *pick(struct warp *w, uint32_t *limit, uint32_t *slice)
{
    struct group *first = NULL, *last = NULL;
    *limit = UINT32_MAX;
    if (w->group_count > 1)
        merge(w);
    for (uint32_t i = 0; i < w->group_count; i++) {
        struct group *g = &w->groups[i];
        if (g->state != GROUP_RUN)
            continue;
        if (!first || runs_before(g, first))
            first = g;
        if (!last || runs_before(last, g))
            last = g;
    }
    if (!first)
        return NULL;
    if (first == last)
        return first;
    if (first->spins >=
        SPIN_PATIENCE) { /* let the group that is furthest ahead run: it may hold the lock */
        first->spins = 0;
        if (*slice > SPIN_PATIENCE)
            *slice = SPIN_PATIENCE;
        first = last;
    }
    uint32_t own = rank_of(first);
    for (uint32_t i = 0; i < w->group_count; i++) {
        const struct group *g = &w->groups[i];
        if (g == first || g->state != GROUP_RUN || g->frame != first->frame)
            continue;
        uint32_t rank = rank_of(g);
        if (rank > own && rank < *limit)
            *limit = rank;
    }
    return first;
}

uint32_t exec_warp(struct warp *w, uint32_t quantum)
{
    uint32_t executed = 0;
    w->event = 0;
    w->idle = true;
    while (executed < quantum) {
        uint32_t limit, slice = quantum - executed;
        struct group *g = pick(w, &limit, &slice);
        if (!g)
            break;
        w->current = (uint32_t)(g - w->groups);
        w->active = g->mask;
        w->pc = g->pc;
        exec_enter(w, g->frame);
        w->event = 0;
        executed += w->grid->loop(w, limit, slice);
        if (!(w->event & EVENT_PARKED)) {
            g = &w->groups[w->current];
            g->mask = w->active;
            g->pc = w->pc;
            g->frame = w->frame;
            if (g->mask == 0)
                remove_group(w, w->current);
        }
        if (!(w->event & EVENT_SPIN))
            w->idle = false;
        if (w->event & (EVENT_YIELD | EVENT_STOP))
            break;
    }
    return executed;
}

void exec_exit_lanes(struct warp *w, uint32_t lanes)
{
    struct block *b = w->block;
    async_deliver_all(w, lanes);
    w->active &= ~lanes;
    w->live &= ~lanes;
    b->live_threads -= (uint32_t)__builtin_popcount(lanes);
    if (w->live == 0)
        b->done_warps++;
    w->grid->memory_version++;
    w->event |= EVENT_REGROUP;
    if (w->live)
        sync_check_warp(w);
    if (b->live_threads)
        sync_check_block(b);
}

static uint32_t line_at(const struct group *g)
{
    const struct ptx_func *func = g->frame->program->func;
    return report_line(func->module, &func->insts[g->frame->program->code[g->pc].tree]);
}

/* Do both run, or wait for the same, at one line of the source? */
static bool same_place(const struct group *a, const struct group *b)
{
    return a->frame->program == b->frame->program && a->state == b->state && a->key == b->key &&
           (a->pc == b->pc || line_at(a) == line_at(b));
}

/* Has a group of this or an earlier warp been told with the place of `g`? */
static bool told(const struct block *b, uint32_t warp, uint32_t group)
{
    const struct group *g = &b->warps[warp].groups[group];
    for (uint32_t i = 0; i <= warp; i++) {
        const uint32_t end = i == warp ? group : b->warps[i].group_count;
        for (uint32_t k = 0; k < end; k++) {
            if (same_place(&b->warps[i].groups[k], g))
                return true;
        }
    }
    return false;
}

/* Lanes of the warp that stand where `g` stands. */
static uint32_t lanes_at(const struct warp *w, const struct group *g)
{
    uint32_t lanes = 0;
    for (uint32_t k = 0; k < w->group_count; k++)
        lanes |= same_place(&w->groups[k], g) ? w->groups[k].mask : 0;
    return lanes;
}

/* "warp 3 lanes 0000ffff", or "warps 0-3, 6" with the number of threads unless all are there. */
static void describe_group(const struct block *b, const struct group *g, char *text, size_t size)
{
    uint32_t warps = 0, lanes = 0, threads = 0, live = 0;
    size_t used = 0;

    for (uint32_t i = 0; i < b->warp_count; i++) {
        const uint32_t here = lanes_at(&b->warps[i], g);
        if (!here)
            continue;
        warps |= 1u << i;
        lanes = here;
        threads += (uint32_t)__builtin_popcount(here);
        live += (uint32_t)__builtin_popcount(b->warps[i].live);
    }
    if ((warps & (warps - 1)) == 0) {
        snprintf(text, size, "warp %d lanes %08x", __builtin_ctz(warps), lanes);
        return;
    }
    for (uint32_t first = 0; first < b->warp_count && used < size; first++) {
        uint32_t last = first;
        if (!(warps >> first & 1))
            continue;
        while (last < 31 && warps >> (last + 1) & 1)
            last++;
        const char *lead = used ? ", " : "warps ";
        const int n = last == first
                          ? snprintf(text + used, size - used, "%s%u", lead, first)
                          : snprintf(text + used, size - used, "%s%u-%u", lead, first, last);
        used += n > 0 ? (size_t)n : 0;
        first = last;
    }
    if (used < size && threads != live)
        snprintf(text + used, size - used, " (%u of %u threads)", threads, live);
}

void exec_describe_waits(const struct block *b, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (uint32_t i = 0; i < b->warp_count && used < size; i++) {
        const struct warp *w = &b->warps[i];
        for (uint32_t k = 0; k < w->group_count && used < size; k++) {
            const struct group *g = &w->groups[k];
            const struct program *p = g->frame->program;
            const struct ptx_inst *inst = &p->func->insts[p->code[g->pc].tree];
            char who[80];
            if (told(b, i, k))
                continue;
            describe_group(b, g, who, sizeof who);
            const size_t len = strlen(inst->text);
            const bool ended = len > 0 && inst->text[len - 1] == ';';
            int n = snprintf(text + used, size - used, "%s%s at line %u: %.*s", used ? "; " : "",
                             who, line_at(g), (int)(len - ended), inst->text);
            used += n > 0 ? (size_t)n : 0;
        }
    }
}

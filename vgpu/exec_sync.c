/*
 * exec_sync.c - operations that need other lanes or warps: shfl, vote, match, redux, elect,
 * bar.warp.sync, block barriers, fences. Deadlock is only noticed by sched.c, which asks here what
 * to report. Invariant: a lane that arrives early is parked at its instruction; lanes of one
 * operation may stand at different instructions and frames, so operands are gathered first and
 * results written last.
 */
#include "exec.h"

#include <stdio.h>
#include <string.h>

/* What a lane sees of a lane that is not part of the operation: undefined on hardware, a NaN here.
 */
#define POISON 0x7fe5a5a5u

enum sync_kind { SYNC_SHFL, SYNC_VOTE, SYNC_MATCH, SYNC_REDUX, SYNC_ELECT, SYNC_WARP };
static const char *const sync_names[] = {"shfl.sync",  "vote.sync",  "match.sync",
                                         "redux.sync", "elect.sync", "bar.warp.sync"};

/* Operands and results of one operation, by lane. */
struct collect {
    uint32_t members; /* lanes that take part */
    uint64_t a[WARP_LANES];
    uint32_t b[WARP_LANES], c[WARP_LANES];
    uint32_t bits; /* predicate operands, as a mask */
    uint32_t result[WARP_LANES];
    uint32_t pred;   /* predicate results */
    uint32_t lost;   /* lanes that read one which does not take part, */
    uint32_t absent; /* and what the first of them read */
};

static uint64_t sync_key(enum sync_kind kind, unsigned op, uint32_t mask)
{
    return 1ull << 63 | (uint64_t)kind << 40 | (uint64_t)op << 32 | mask;
}

/* ---- shfl ---- */
static void shfl_gather(struct warp *w, const struct insn *in, uint32_t lanes, struct collect *c)
{
    const lane_u32 *a = SLOT(lane_u32, w, in->a), *b = SLOT(lane_u32, w, in->b);
    const lane_u32 *clamp = SLOT(lane_u32, w, w->frame->program->extras[in->extra]);
    FOR_EACH_LANE(lane, lanes)
    {
        c->a[lane] = a[lane];
        c->b[lane] = b[lane];
        c->c[lane] = clamp[lane];
    }
}
/* Source lane by the PTX manual's pseudo code; *valid is the predicate. */
static inline uint32_t shfl_source(unsigned mode, uint32_t lane, uint32_t b, uint32_t c,
                                   bool *valid)
{
    uint32_t offset = b & 31, clamp = c & 31, segment = c >> 8 & 31;
    uint32_t low = lane & segment, high = low | (clamp & ~segment), from = lane;
    switch ((enum shfl_mode)mode) {
    case SHFL_UP:
        from = lane - offset;
        *valid = (int32_t)from >= (int32_t)high;
        break;
    case SHFL_DOWN:
        from = lane + offset;
        *valid = from <= high;
        break;
    case SHFL_BFLY:
        from = lane ^ offset;
        *valid = from <= high;
        break;
    case SHFL_IDX:
        from = low | (offset & ~segment);
        *valid = from <= high;
        break;
    }
    return *valid ? from : lane;
}
static void shfl_finish(const struct insn *in, struct collect *c)
{
    FOR_EACH_LANE(lane, c->members)
    {
        bool valid = false;
        uint32_t from = shfl_source(in->op, lane, c->b[lane], c->c[lane], &valid) & 31;
        const bool there = c->members >> from & 1;
        c->result[lane] = there ? (uint32_t)c->a[from] : POISON;
        if (!there && !c->lost)
            c->absent = from;
        c->lost |= there ? 0 : 1u << lane;
        c->pred |= valid ? 1u << lane : 0;
    }
}
static void value_scatter(struct warp *w, const struct insn *in, uint32_t lanes,
                          const struct collect *c)
{
    lane_u32 *d = SLOT(lane_u32, w, in->d);
    FOR_EACH_LANE(lane, lanes) { d[lane] = c->result[lane]; }
    if (in->e != ~0u)
        w->preds[in->e] = (w->preds[in->e] & ~lanes) | (c->pred & lanes);
}

/* ---- vote ---- */
static void vote_gather(struct warp *w, const struct insn *in, uint32_t lanes, struct collect *c)
{
    c->bits |= (w->preds[in->a] ^ (in->imm ? FULL_MASK : 0)) & lanes;
}
static void vote_finish(const struct insn *in, struct collect *c)
{
    bool all = c->bits == c->members, any = c->bits != 0;
    bool yes = in->op == VOTE_ALL ? all : in->op == VOTE_ANY ? any : all || !any;
    c->pred = yes ? c->members : 0;
}
static void vote_scatter(struct warp *w, const struct insn *in, uint32_t lanes,
                         const struct collect *c)
{
    if (in->op == VOTE_BALLOT) {
        lane_u32 *d = SLOT(lane_u32, w, in->d);
        FOR_EACH_LANE(lane, lanes) { d[lane] = c->bits; }
    } else {
        w->preds[in->d] = (w->preds[in->d] & ~lanes) | (c->pred & lanes);
    }
}

/* ---- match ---- */
static void match_gather(struct warp *w, const struct insn *in, uint32_t lanes, struct collect *c)
{
    FOR_EACH_LANE(lane, lanes)
    {
        c->a[lane] =
            in->width == 8 ? SLOT(lane_u64, w, in->a)[lane] : SLOT(lane_u32, w, in->a)[lane];
    }
}
static void match_finish(const struct insn *in, struct collect *c)
{
    uint32_t all = c->members;
    FOR_EACH_LANE(lane, c->members)
    {
        uint32_t same = 0;
        FOR_EACH_LANE(other, all) { same |= c->a[other] == c->a[lane] ? 1u << other : 0; }
        c->result[lane] = in->op == 0 || same == all ? same : 0;
        c->pred |= same == all ? 1u << lane : 0;
    }
}

/* ---- redux ---- */
static void redux_gather(struct warp *w, const struct insn *in, uint32_t lanes, struct collect *c)
{
    FOR_EACH_LANE(lane, lanes) { c->a[lane] = SLOT(lane_u32, w, in->a)[lane]; }
}
static uint32_t redux_step(unsigned op, bool is_signed, uint32_t x, uint32_t y)
{
    bool less = is_signed ? (int32_t)x < (int32_t)y : x < y;
    if (op == ATOM_ADD)
        return x + y;
    if (op == ATOM_MIN)
        return less ? x : y;
    if (op == ATOM_MAX)
        return less ? y : x;
    if (op == ATOM_AND)
        return x & y;
    if (op == ATOM_OR)
        return x | y;
    return x ^ y;
}
static void redux_finish(const struct insn *in, struct collect *c)
{
    uint32_t first = (uint32_t)__builtin_ctz(c->members), r = (uint32_t)c->a[first];
    FOR_EACH_LANE(lane, c->members & ~(1u << first))
    {
        r = redux_step(in->op, in->rnd, r, (uint32_t)c->a[lane]);
    }
    FOR_EACH_LANE(lane, c->members) { c->result[lane] = r; }
}
static void redux_scatter(struct warp *w, const struct insn *in, uint32_t lanes,
                          const struct collect *c)
{
    FOR_EACH_LANE(lane, lanes) { SLOT(lane_u32, w, in->d)[lane] = c->result[lane]; }
}

/* ---- elect, warp sync ---- */
static void nothing_gather(struct warp *w, const struct insn *in, uint32_t lanes, struct collect *c)
{
    (void)w, (void)in, (void)lanes, (void)c;
}
static void elect_finish(const struct insn *in, struct collect *c)
{
    (void)in;
    uint32_t leader = (uint32_t)__builtin_ctz(c->members);
    FOR_EACH_LANE(lane, c->members) { c->result[lane] = leader; }
    c->pred = 1u << leader;
}
static void nothing_finish(const struct insn *in, struct collect *c) { (void)in, (void)c; }
static void nothing_scatter(struct warp *w, const struct insn *in, uint32_t lanes,
                            const struct collect *c)
{
    (void)w, (void)in, (void)lanes, (void)c;
}

static const struct sync_steps {
    void (*gather)(struct warp *w, const struct insn *in, uint32_t lanes, struct collect *c);
    void (*finish)(const struct insn *in, struct collect *c);
    void (*scatter)(struct warp *w, const struct insn *in, uint32_t lanes, const struct collect *c);
} steps[] = {
    [SYNC_SHFL] = {shfl_gather, shfl_finish, value_scatter},
    [SYNC_VOTE] = {vote_gather, vote_finish, vote_scatter},
    [SYNC_MATCH] = {match_gather, match_finish, value_scatter},
    [SYNC_REDUX] = {redux_gather, redux_finish, redux_scatter},
    [SYNC_ELECT] = {nothing_gather, elect_finish, value_scatter},
    [SYNC_WARP] = {nothing_gather, nothing_finish, nothing_scatter},
};

/* ---- meeting of lanes ---- */
static const struct insn *insn_of(const struct group *g) { return &g->frame->program->code[g->pc]; }

static uint32_t parked_lanes(const struct warp *w, uint64_t key)
{
    uint32_t lanes = 0;
    for (uint32_t i = 0; i < w->group_count; i++) {
        if (w->groups[i].state == GROUP_PARKED && w->groups[i].key == key)
            lanes |= w->groups[i].mask;
    }
    return lanes;
}

/* A person sees a NaN and asks where it comes from. */
static void report_absent(struct warp *w, const struct insn *in, const struct collect *c)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(c->lost);
    char detail[120];
    snprintf(detail, sizeof detail, "lane %u reads lane %u, which %s; lanes %08x take part", lane,
             c->absent,
             !(w->lanes >> c->absent & 1) ? "does not exist"
             : w->live >> c->absent & 1   ? "is not in the mask"
                                          : "has exited",
             c->members);
    exec_finding(w, in, FAULT_SHUFFLE_ABSENT, lane, detail);
}

/* Completes an operation of `lanes` of the running group (at `in`, may be none) together with the
 * groups parked under key. */
static void complete(struct warp *w, enum sync_kind kind, uint64_t key, const struct insn *in,
                     uint32_t lanes)
{
    struct frame *frame = w->frame;
    const struct sync_steps *s = &steps[kind];
    const struct insn *any = in;
    struct collect c;
    memset(&c, 0, sizeof c);
    c.members = lanes | parked_lanes(w, key);
    if (in)
        s->gather(w, in, lanes, &c);
    for (uint32_t i = 0; i < w->group_count; i++) {
        const struct group *g = &w->groups[i];
        if (g->state != GROUP_PARKED || g->key != key)
            continue;
        exec_enter(w, g->frame);
        any = insn_of(g);
        s->gather(w, any, g->mask, &c);
    }
    s->finish(any, &c);
    if (c.lost && w->grid->device->options.check_sync)
        report_absent(w, any, &c);
    for (uint32_t i = 0; i < w->group_count; i++) {
        struct group *g = &w->groups[i];
        if (g->state != GROUP_PARKED || g->key != key)
            continue;
        exec_enter(w, g->frame);
        s->scatter(w, insn_of(g), g->mask, &c);
        g->state = GROUP_RUN;
        g->key = 0;
        g->pc++;
        w->event |= EVENT_REGROUP;
    }
    if (frame)
        exec_enter(w, frame);
    if (in)
        s->scatter(w, in, lanes, &c);
    w->grid->memory_version++;
    if (kind == SYNC_WARP && w->block->shadow)
        shadow_warp_sync(w, c.members);
}

static enum sync_kind kind_of_key(uint64_t key) { return (enum sync_kind)(key >> 40 & 7); }

void sync_check_warp(struct warp *w)
{
    for (uint32_t i = 0; i < w->group_count; i++) {
        const struct group *g = &w->groups[i];
        if (g->state != GROUP_PARKED)
            continue;
        uint64_t key = g->key;
        if (((uint32_t)key & w->live) == (parked_lanes(w, key) & w->live))
            complete(w, kind_of_key(key), key, NULL, 0);
    }
}

static void arrive(struct warp *w, const struct insn *in, uint32_t lanes, enum sync_kind kind)
{
    const lane_u32 *masks = SLOT(lane_u32, w, in->c);
    uint32_t mask = masks[__builtin_ctz(lanes)], different = 0;
    if (!(in->flags & INSN_FLAG_UNIFORM)) {
        FOR_EACH_LANE(lane, lanes) { different |= masks[lane] ^ mask; }
    }
    if (different == 0 && (mask & w->live) == lanes) {
        complete(w, kind, sync_key(kind, in->op, mask), in, lanes);
        return;
    }
    for (uint32_t rest = lanes; rest != 0;) {
        uint32_t sub = 0, first = (uint32_t)__builtin_ctz(rest);
        mask = masks[first];
        FOR_EACH_LANE(lane, rest) { sub |= masks[lane] == mask ? 1u << lane : 0; }
        rest &= ~sub;
        uint32_t strangers = sub & ~mask;
        if (strangers) {
            char detail[96];
            snprintf(detail, sizeof detail, "%s with mask %08x executed by lanes %08x",
                     sync_names[kind], mask, sub);
            if (w->grid->device->options.check_sync)
                exec_fault_text(w, in, FAULT_SYNC_LANE_NOT_IN_MASK,
                                (uint32_t)__builtin_ctz(strangers), detail);
            mask |= strangers; /* go on as if it were named */
        }
        uint64_t key = sync_key(kind, in->op, mask);
        if ((mask & w->live) == ((sub | parked_lanes(w, key)) & w->live))
            complete(w, kind, key, in, sub);
        else
            exec_park(w, sub, GROUP_PARKED, key);
    }
}

/* The frequent case: all lanes of the operation are here and read the same shift and clamp. */
static void op_shfl(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const lane_u32 *masks = SLOT(lane_u32, w, in->c);
    if (lanes == FULL_MASK && (in->flags & INSN_FLAG_UNIFORM) && masks[0] == FULL_MASK) {
        lane_u32 *d = SLOT(lane_u32, w, in->d);
        const lane_u32 *a = SLOT(lane_u32, w, in->a), *b = SLOT(lane_u32, w, in->b);
        const lane_u32 *clamp = SLOT(lane_u32, w, w->frame->program->extras[in->extra]);
        uint32_t values[WARP_LANES], from[WARP_LANES], pred = 0;
        memcpy(values, a, sizeof values);
        FOR_LANES
        {
            bool valid = false;
            from[lane] = shfl_source(in->op, lane, b[lane], clamp[lane], &valid) & 31;
            pred |= valid ? 1u << lane : 0;
        }
        FOR_LANES d[lane] = values[from[lane]];
        if (in->e != ~0u)
            w->preds[in->e] = pred;
        return;
    }
    arrive(w, in, lanes, SYNC_SHFL);
}
static void op_vote(struct warp *w, const struct insn *in, uint32_t lanes)
{
    arrive(w, in, lanes, SYNC_VOTE);
}
static void op_match(struct warp *w, const struct insn *in, uint32_t lanes)
{
    arrive(w, in, lanes, SYNC_MATCH);
}
static void op_redux(struct warp *w, const struct insn *in, uint32_t lanes)
{
    arrive(w, in, lanes, SYNC_REDUX);
}
static void op_elect(struct warp *w, const struct insn *in, uint32_t lanes)
{
    arrive(w, in, lanes, SYNC_ELECT);
}
static void op_warp_sync(struct warp *w, const struct insn *in, uint32_t lanes)
{
    arrive(w, in, lanes, SYNC_WARP);
}
static void op_activemask(struct warp *w, const struct insn *in, uint32_t lanes)
{
    FOR_EACH_LANE(lane, lanes) { SLOT(lane_u32, w, in->d)[lane] = w->active; }
}

/* ---- block barriers ---- */
static bool takes_all(const struct barrier *bar) { return bar->expected == 0; }

/* Marks groups of warps that have ended or are short of lanes: an explicit count is in whole warps,
 * missing lanes count as arrived. */
static uint32_t arrival_of(const struct warp *w, uint32_t lanes, uint32_t before, bool all)
{
    uint32_t n = (uint32_t)__builtin_popcount(lanes);
    if (!all && (lanes | before) == w->live)
        n += WARP_LANES - (uint32_t)__builtin_popcount(w->live);
    return n;
}

static void release_barrier(struct block *b, uint32_t id)
{
    struct barrier *bar = &b->barriers[id];
    uint32_t masks[32] = {0}, pc = UINT32_MAX;
    const struct program *program = NULL;
    bool mixed = false, all = takes_all(bar);
    struct warp *last = NULL;
    const struct insn *at = NULL;
    const struct ptx_inst *others = NULL; /* first place that was met */
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct warp *w = &b->warps[i];
        struct frame *frame = w->frame;
        for (uint32_t k = 0; k < w->group_count; k++) {
            struct group *g = &w->groups[k];
            if (g->state != GROUP_BARRIER || g->key != id)
                continue;
            const struct insn *in = insn_of(g);
            if (pc == UINT32_MAX)
                pc = g->pc, program = g->frame->program, others = &program->func->insts[in->tree];
            else if (pc != g->pc || program != g->frame->program)
                mixed = true;
            exec_enter(w, g->frame);
            if (in->op == BAR_POPC) {
                FOR_EACH_LANE(lane, g->mask) { SLOT(lane_u32, w, in->d)[lane] = bar->count; }
            } else if (in->op == BAR_AND || in->op == BAR_OR) {
                bool yes = in->op == BAR_AND ? bar->all : bar->any;
                w->preds[in->d] = yes ? w->preds[in->d] | g->mask : w->preds[in->d] & ~g->mask;
            }
            masks[i] |= g->mask;
            last = w;
            at = in;
            g->state = GROUP_RUN;
            g->key = 0;
            g->pc++;
        }
        if (frame)
            exec_enter(w, frame);
    }
    if (last && mixed && all && last->grid->device->options.check_sync) {
        char detail[160];
        snprintf(detail, sizeof detail,
                 "threads of the block passed it at different instructions, others at line %u: %s",
                 report_line(program->func->module, others), others->text);
        exec_finding(last, at, FAULT_BARRIER_DIVERGENT, (uint32_t)__builtin_ctz(masks[last->index]),
                     detail);
    }
    if (last && all && b->live_threads < b->thread_count &&
        last->grid->device->options.check_sync) {
        char detail[80];
        snprintf(detail, sizeof detail, "%u of %u threads have exited",
                 b->thread_count - b->live_threads, b->thread_count);
        exec_finding(last, at, FAULT_BARRIER_EXITED, (uint32_t)__builtin_ctz(masks[last->index]),
                     detail);
    }
    if (b->shadow)
        shadow_barrier(b, masks, all);
    for (uint32_t i = 0; b->shadow && i < b->warp_count;
         i++) { /* those who wait know what was done before bar.arrive */
        if (masks[i])
            shadow_acquire(&b->warps[i], masks[i], SHADOW_BARRIER_KEY(id));
    }
    *bar = (struct barrier){.generation = bar->generation + 1};
    b->grid->counts.barrier_done++;
    b->grid->memory_version++;
}

static bool is_complete(const struct block *b, const struct barrier *bar)
{
    return bar->arrived > 0 &&
           (takes_all(bar) ? bar->arrived >= b->live_threads : bar->arrived >= bar->expected);
}

void sync_check_block(struct block *b)
{
    for (uint32_t id = 0; id < MAX_BARRIERS; id++) {
        if (is_complete(b, &b->barriers[id]))
            release_barrier(b, id);
    }
}

static void op_bar(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct block *b = w->block;
    uint32_t first = (uint32_t)__builtin_ctz(lanes), id = SLOT(lane_u32, w, in->a)[first];
    uint32_t count = in->b == ~0u ? 0 : SLOT(lane_u32, w, in->b)[first];
    if (id >= MAX_BARRIERS || count % WARP_LANES != 0) {
        char detail[96];
        snprintf(detail, sizeof detail,
                 "barrier %u with count %u: ids are 0 to 15, counts multiples of 32", id, count);
        exec_fault_text(w, in, FAULT_BARRIER_COUNT, first, detail);
        return;
    }
    struct barrier *bar = &b->barriers[id];
    if (bar->arrived > 0 && bar->expected != count) {
        char detail[96];
        snprintf(detail, sizeof detail, "barrier %u: count %u here, %u where others wait", id,
                 count, bar->expected);
        if (w->grid->device->options.check_sync)
            exec_fault_text(w, in, FAULT_BARRIER_COUNT, first, detail);
    }
    if (bar->arrived == 0) {
        bar->expected = count;
        bar->all = 1;
        bar->any = bar->count = 0;
    }
    uint32_t before = 0;
    for (uint32_t k = 0; k < w->group_count; k++) {
        if (w->groups[k].state == GROUP_BARRIER && w->groups[k].key == id)
            before |= w->groups[k].mask;
    }
    if (in->op >= BAR_AND) {
        uint32_t bits = (w->preds[in->c] ^ (in->imm ? FULL_MASK : 0)) & lanes;
        bar->any |= bits != 0;
        bar->all &= bits == lanes;
        bar->count += (uint32_t)__builtin_popcount(bits);
    }
    bar->arrived += arrival_of(w, lanes, before, count == 0);
    w->grid->counts.barrier_arrive++;
    w->grid->memory_version++;
    if (in->op == BAR_ARRIVE && b->shadow)
        shadow_release(w, lanes, SHADOW_BARRIER_KEY(id));
    if (in->op != BAR_ARRIVE)
        exec_park(w, lanes, GROUP_BARRIER, id);
    if (is_complete(b, bar))
        release_barrier(b, id);
}

static void op_fence(struct warp *w, const struct insn *in, uint32_t lanes)
{
    (void)in;
    if (w->block->shadow)
        shadow_fence(w, lanes);
}

/* ---- at a deadlock ---- */
unsigned sync_report_stuck(struct block *b)
{
    unsigned findings = 0;
    for (uint32_t i = 0; i < b->warp_count; i++) {
        struct warp *w = &b->warps[i];
        for (uint32_t k = 0; k < w->group_count; k++) {
            const struct group *g = &w->groups[k];
            if (g->state != GROUP_PARKED)
                continue;
            uint32_t mask = (uint32_t)g->key, present = parked_lanes(w, g->key),
                     missing = mask & w->live & ~present;
            bool clash = false;
            for (uint32_t j = 0; j < w->group_count; j++) {
                const struct group *o = &w->groups[j];
                clash = clash ||
                        (o->state == GROUP_PARKED && o->key != g->key && (o->mask & missing) != 0);
            }
            char detail[160];
            snprintf(detail, sizeof detail,
                     "%s with mask %08x: lanes %08x are there, %08x stand elsewhere",
                     sync_names[kind_of_key(g->key)], mask, present, missing);
            exec_enter(w, g->frame);
            exec_fault_text(w, insn_of(g),
                            clash ? FAULT_SYNC_MASK_MISMATCH : FAULT_SYNC_MISSING_LANE,
                            (uint32_t)__builtin_ctz(g->mask), detail);
            findings++;
        }
    }
    return findings;
}

extern op_fn *const exec_sync_ops[OP_COUNT];
op_fn *const exec_sync_ops[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_sync.def"
#undef X
};

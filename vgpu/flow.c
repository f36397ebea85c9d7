/*
 * flow.c - basic blocks, loops, spin loops, a topological order of blocks and register live ranges
 * of one function. Does not execute or allocate slots: lower.c does. Invariant: conservative; a
 * register is never live outside its range.
 */
#include "flow.h"
#include "opform.h"

#include <string.h>

/* ---- operands ---- */
static void visit_operand(const struct ptx_operand *o, bool definition, flow_visit_fn *see,
                          void *user)
{
    if (o->kind == PTX_OPND_REG)
        see(o->reg, definition, user);
    if (o->kind == PTX_OPND_ADDR)
        definition = false;
    for (uint32_t i = 0; i < o->elem_count; i++)
        visit_operand(&o->elems[i], definition, see, user);
    if (o->pair)
        visit_operand(o->pair, true, see, user);
}

static bool is_definition(const struct ptx_inst *in, unsigned n)
{
    if (in->form == PTX_FORM_CALL) { /* results come before the callee */
        return n == 0 && in->operand_count > 1 && in->operands[0].kind == PTX_OPND_LIST;
    }
    struct op_shape shape;
    if (!op_operand_shape(in, n, &shape))
        return false;
    return shape.kind == 'D' || (shape.kind == 'M' && n == 0);
}

void flow_visit_registers(const struct ptx_inst *in, flow_visit_fn *see, void *user)
{
    if (in->guard >= 0)
        see(in->guard, false, user);
    for (unsigned n = 0; n < in->operand_count; n++)
        visit_operand(&in->operands[n], is_definition(in, n), see, user);
}

/* ---- blocks ---- */
static bool ends_block(const struct ptx_inst *in)
{
    enum ptx_form f = in->form;
    return f == PTX_FORM_BRA || f == PTX_FORM_BRX_IDX || f == PTX_FORM_RET || f == PTX_FORM_EXIT ||
           f == PTX_FORM_TRAP;
}

static bool falls_through(const struct ptx_inst *in) { return in->guard >= 0 || !ends_block(in); }

static void mark_targets(const struct ptx_inst *in, bool *leader, uint32_t count)
{
    for (unsigned n = 0; n < in->operand_count; n++) {
        const struct ptx_operand *o = &in->operands[n];
        if (o->kind == PTX_OPND_LABEL && o->target < count)
            leader[o->target] = true;
        if (o->kind == PTX_OPND_LABELS) {
            for (uint32_t i = 0; i < o->elem_count; i++) {
                if (o->elems[i].target < count)
                    leader[o->elems[i].target] = true;
            }
        }
    }
}

static void add_successor(struct flow_block *b, uint32_t to)
{
    for (uint32_t i = 0; i < b->succ_count; i++) {
        if (b->succs[i] == to)
            return;
    }
    b->succs[b->succ_count++] = to;
}

static bool link_block(struct flow *fl, uint32_t index, const struct ptx_func *f,
                       struct vg_arena *arena)
{
    struct flow_block *b = &fl->blocks[index];
    const struct ptx_inst *last = &f->insts[b->end - 1];
    uint32_t room = 1;
    for (unsigned n = 0; n < last->operand_count; n++)
        room += 1 + last->operands[n].elem_count;
    b->succs = vg_array(arena, room, sizeof *b->succs);
    if (!b->succs)
        return false;
    if (last->form == PTX_FORM_BRA || last->form == PTX_FORM_BRX_IDX) {
        for (unsigned n = 0; n < last->operand_count; n++) {
            const struct ptx_operand *o = &last->operands[n];
            if (o->kind == PTX_OPND_LABEL && o->target < f->inst_count)
                add_successor(b, fl->block_of[o->target]);
            for (uint32_t i = 0; o->kind == PTX_OPND_LABELS && i < o->elem_count; i++) {
                if (o->elems[i].target < f->inst_count)
                    add_successor(b, fl->block_of[o->elems[i].target]);
            }
        }
    }
    if (falls_through(last) && b->end < f->inst_count)
        add_successor(b, index + 1);
    return true;
}

static bool make_blocks(struct flow *fl, const struct ptx_func *f, struct vg_arena *arena)
{
    uint32_t count = f->inst_count;
    bool *leader = vg_array(arena, count + 1, sizeof *leader);
    fl->block_of = vg_array(arena, count + 1, sizeof *fl->block_of);
    if (!leader || !fl->block_of)
        return false;
    leader[0] = true;
    for (uint32_t i = 0; i < count; i++) {
        mark_targets(&f->insts[i], leader, count);
        if (ends_block(&f->insts[i]))
            leader[i + 1] = true;
    }
    for (uint32_t i = 0; i < count; i++) {
        if (leader[i])
            fl->block_count++;
        fl->block_of[i] = fl->block_count - 1;
    }
    fl->blocks = vg_array(arena, fl->block_count + 1, sizeof *fl->blocks);
    if (!fl->blocks)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct flow_block *b = &fl->blocks[fl->block_of[i]];
        if (leader[i])
            b->first = i;
        b->end = i + 1;
        b->loop = FLOW_NONE;
    }
    for (uint32_t i = 0; i < fl->block_count; i++) {
        if (!link_block(fl, i, f, arena))
            return false;
    }
    return true;
}

/* ---- loops: natural loops of the retreating edges of a depth-first walk ---- */
struct loop {
    uint32_t header, size;
    bool *body;
    bool spin;
};
struct loops {
    struct loop *items;
    uint32_t count, room;
};

struct walk {
    uint32_t block, next;
};

/* Depth-first walk from the entry. For each block, successors that leave its loop come first, so
 * that in reverse postorder they come after the loop. Reports retreating edges when `edge` is
 * given. */
typedef bool edge_fn(void *user, uint32_t from, uint32_t to);
static bool stays_inside(const struct loops *loops, const struct flow_block *b, uint32_t to)
{
    for (uint32_t i = 0; i < loops->count; i++) {
        if (loops->items[i].header == b->loop)
            return loops->items[i].body[to];
    }
    return true;
}
static bool depth_first(const struct flow *fl, const struct loops *loops, struct vg_arena *arena,
                        uint32_t *postorder, uint32_t *seen_count, edge_fn *edge, void *user)
{
    uint32_t n = fl->block_count, depth = 0, done = 0;
    unsigned char *state = vg_array(arena, n, 1);
    struct walk *stack = vg_array(arena, n + 1, sizeof *stack);
    if (!state || !stack)
        return false;
    stack[depth++] = (struct walk){0, 0};
    state[0] = 1;
    while (depth > 0) {
        struct walk *top = &stack[depth - 1];
        const struct flow_block *b = &fl->blocks[top->block];
        uint32_t pick = FLOW_NONE, at = top->next;
        /* next counts over two passes: successors outside the block's loop, then those inside */
        while (at < 2 * b->succ_count && pick == FLOW_NONE) {
            uint32_t to = b->succs[at % b->succ_count];
            bool wanted = (at < b->succ_count) != stays_inside(loops, b, to);
            at++;
            if (!wanted)
                continue;
            if (state[to] == 1 && edge && !edge(user, top->block, to))
                return false;
            if (state[to] == 0)
                pick = to;
        }
        top->next = at;
        if (pick != FLOW_NONE) {
            state[pick] = 1;
            stack[depth++] = (struct walk){pick, 0};
        } else {
            state[top->block] = 2;
            postorder[done++] = top->block;
            depth--;
        }
    }
    *seen_count = done;
    return true;
}

struct loop_find {
    struct flow *fl;
    struct loops *loops;
    struct vg_arena *arena;
    uint32_t *pred_first, *preds;
};

/* The blocks that reach `latch` without passing `header`. */
static bool add_loop(void *user, uint32_t latch, uint32_t header)
{
    struct loop_find *lf = user;
    struct flow *fl = lf->fl;
    struct loop *l = NULL;
    for (uint32_t i = 0; i < lf->loops->count; i++) {
        if (lf->loops->items[i].header == header)
            l = &lf->loops->items[i];
    }
    if (!l) {
        if (lf->loops->count == lf->loops->room)
            return true; /* cannot happen: one loop per header, room for every block */
        l = &lf->loops->items[lf->loops->count++];
        l->header = header;
        l->body = vg_array(lf->arena, fl->block_count, sizeof *l->body);
        if (!l->body)
            return false;
        l->body[header] = true;
        l->size = 1;
    }
    uint32_t *work = vg_array(lf->arena, fl->block_count + 1, sizeof *work), depth = 0;
    if (!work)
        return false;
    if (!l->body[latch])
        l->body[latch] = true, l->size++, work[depth++] = latch;
    while (depth > 0) {
        uint32_t b = work[--depth];
        for (uint32_t i = lf->pred_first[b]; i < lf->pred_first[b + 1]; i++) {
            uint32_t p = lf->preds[i];
            if (l->body[p])
                continue;
            l->body[p] = true;
            l->size++;
            work[depth++] = p;
        }
    }
    return true;
}

static bool make_predecessors(struct loop_find *lf)
{
    const struct flow *fl = lf->fl;
    uint32_t n = fl->block_count, total = 0;
    lf->pred_first = vg_array(lf->arena, n + 2, sizeof *lf->pred_first);
    for (uint32_t b = 0; b < n; b++)
        total += fl->blocks[b].succ_count;
    lf->preds = vg_array(lf->arena, total + 1, sizeof *lf->preds);
    if (!lf->pred_first || !lf->preds)
        return false;
    for (uint32_t b = 0; b < n; b++) {
        for (uint32_t i = 0; i < fl->blocks[b].succ_count; i++)
            lf->pred_first[fl->blocks[b].succs[i] + 2]++;
    }
    for (uint32_t b = 2; b < n + 2; b++)
        lf->pred_first[b] += lf->pred_first[b - 1];
    for (uint32_t b = 0; b < n; b++) {
        for (uint32_t i = 0; i < fl->blocks[b].succ_count; i++)
            lf->preds[lf->pred_first[fl->blocks[b].succs[i] + 1]++] = b;
    }
    return true;
}

static bool find_loops(struct flow *fl, struct loops *loops, struct vg_arena *arena)
{
    struct loop_find lf = {fl, loops, arena, NULL, NULL};
    uint32_t seen = 0, *postorder = vg_array(arena, fl->block_count + 1, sizeof *postorder);
    loops->room = fl->block_count;
    loops->items = vg_array(arena, fl->block_count + 1, sizeof *loops->items);
    if (!postorder || !loops->items || !make_predecessors(&lf))
        return false;
    if (!depth_first(fl, loops, arena, postorder, &seen, add_loop, &lf))
        return false;
    for (uint32_t i = 0; i < seen; i++)
        fl->blocks[postorder[i]].reachable = true;
    for (uint32_t b = 0; b < fl->block_count; b++) { /* innermost = smallest body */
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < loops->count; i++) {
            if (!loops->items[i].body[b] || loops->items[i].size >= best)
                continue;
            best = loops->items[i].size;
            fl->blocks[b].loop = loops->items[i].header;
        }
    }
    return true;
}

static bool order_blocks(struct flow *fl, const struct loops *loops, struct vg_arena *arena)
{
    uint32_t seen = 0, n = fl->block_count, *postorder = vg_array(arena, n + 1, sizeof *postorder);
    fl->order = vg_array(arena, n + 1, sizeof *fl->order);
    if (!postorder || !fl->order || !depth_first(fl, loops, arena, postorder, &seen, NULL, NULL))
        return false;
    for (uint32_t i = 0; i < seen; i++)
        fl->order[i] = postorder[seen - 1 - i];
    for (uint32_t b = 0; b < n; b++) {
        if (!fl->blocks[b].reachable)
            fl->order[seen++] = b;
    }
    for (uint32_t i = 0; i < n; i++)
        fl->blocks[fl->order[i]].position = i;
    return true;
}

/* ---- spin loops ---- */
static bool waits_for_memory(const struct ptx_inst *in)
{
    switch ((int)in->form) {
    case PTX_FORM_ATOM:
    case PTX_FORM_ATOM_EXCH:
    case PTX_FORM_ATOM_CAS:
    case PTX_FORM_MBARRIER_TEST_WAIT:
    case PTX_FORM_MBARRIER_TEST_WAIT_PARITY:
    case PTX_FORM_MBARRIER_TRY_WAIT:
    case PTX_FORM_MBARRIER_TRY_WAIT_PARITY:
        return true;
    case PTX_FORM_LD:
        return ptx_has_mod(in, PTX_MOD_VOLATILE) || ptx_has_mod(in, PTX_MOD_RELAXED) ||
               ptx_has_mod(in, PTX_MOD_ACQUIRE) || ptx_has_mod(in, PTX_MOD_MMIO);
    default:
        return false;
    }
}

struct taint {
    bool *regs;
    bool source, grown, guard_only;
};
static void see_source(int32_t reg, bool definition, void *user)
{
    struct taint *t = user;
    if (!definition && t->regs[reg])
        t->source = true;
}
static void see_target(int32_t reg, bool definition, void *user)
{
    struct taint *t = user;
    if (!definition || t->regs[reg])
        return;
    t->regs[reg] = true;
    t->grown = true;
}

/* True when leaving the loop depends on a value that another thread may change, or when the loop
 * sleeps. */
static bool loop_spins(const struct flow *fl, const struct loop *l, const struct ptx_func *f,
                       struct vg_arena *arena)
{
    struct taint t = {vg_array(arena, f->reg_count + 1, sizeof(bool)), false, false, false};
    bool any = false;
    if (!t.regs)
        return false;
    for (uint32_t b = 0; b < fl->block_count; b++) {
        for (uint32_t i = fl->blocks[b].first; l->body[b] && i < fl->blocks[b].end; i++) {
            if (f->insts[i].form == PTX_FORM_NANOSLEEP)
                return true;
            any = any || waits_for_memory(&f->insts[i]);
        }
    }
    if (!any)
        return false;
    do {
        t.grown = false;
        for (uint32_t b = 0; b < fl->block_count; b++) {
            for (uint32_t i = fl->blocks[b].first; l->body[b] && i < fl->blocks[b].end; i++) {
                t.source = waits_for_memory(&f->insts[i]);
                flow_visit_registers(&f->insts[i], see_source, &t);
                if (t.source)
                    flow_visit_registers(&f->insts[i], see_target, &t);
            }
        }
    } while (t.grown);
    for (uint32_t b = 0; b < fl->block_count; b++) {
        if (!l->body[b])
            continue;
        bool exits = false;
        for (uint32_t i = 0; i < fl->blocks[b].succ_count; i++)
            exits = exits || !l->body[fl->blocks[b].succs[i]];
        const struct ptx_inst *last = &f->insts[fl->blocks[b].end - 1];
        if (exits && last->guard >= 0 && t.regs[last->guard])
            return true;
    }
    return false;
}

static bool mark_spins(struct flow *fl, struct loops *loops, const struct ptx_func *f,
                       struct vg_arena *arena)
{
    fl->spin = vg_array(arena, f->inst_count + 1, sizeof *fl->spin);
    if (!fl->spin)
        return false;
    for (uint32_t n = 0; n < loops->count; n++) {
        struct loop *l = &loops->items[n];
        if (!loop_spins(fl, l, f, arena))
            continue;
        for (uint32_t b = 0; b < fl->block_count; b++) {
            for (uint32_t i = 0; l->body[b] && i < fl->blocks[b].succ_count; i++) {
                if (fl->blocks[b].succs[i] == l->header)
                    fl->spin[fl->blocks[b].end - 1] = true;
            }
        }
    }
    return true;
}

/* ---- liveness ---- */
struct live {
    uint64_t *in, *out, *gen, *kill;
};
struct see_live {
    uint64_t *gen, *kill;
    bool guarded, definitions;
};
static void see_block_register(int32_t reg, bool definition, void *user)
{
    struct see_live *s = user;
    uint64_t bit = 1ull << (reg & 63);
    uint32_t word = (uint32_t)reg >> 6;
    if (definition != s->definitions)
        return;
    /* A guarded write keeps the old value of the lanes it skips: it reads as well. */
    if (!definition || s->guarded) {
        if (!(s->kill[word] & bit))
            s->gen[word] |= bit;
    }
    if (definition)
        s->kill[word] |= bit;
}

static void widen(struct flow_range *r, uint32_t from, uint32_t to)
{
    if (r->from > from)
        r->from = from;
    if (r->to < to)
        r->to = to;
}
struct see_range {
    struct flow *fl;
    uint32_t at;
};
static void see_range(int32_t reg, bool definition, void *user)
{
    struct see_range *s = user;
    (void)definition;
    widen(&s->fl->live[reg], s->at, s->at);
}

static bool find_live(struct flow *fl, const struct ptx_func *f, struct vg_arena *arena)
{
    uint32_t words = (f->reg_count + 63) / 64, n = fl->block_count;
    fl->live = vg_array(arena, f->reg_count + 1, sizeof *fl->live);
    uint64_t *bits = vg_array(arena, (size_t)n * words * 4 + 1, sizeof *bits);
    if (!fl->live || !bits)
        return false;
    for (uint32_t r = 0; r < f->reg_count; r++)
        fl->live[r] = (struct flow_range){UINT32_MAX, 0};
    for (uint32_t b = 0; b < n; b++) {
        uint64_t *base = bits + (size_t)b * words * 4;
        struct see_live s = {base + 2 * words, base + 3 * words, false, false};
        for (uint32_t i = fl->blocks[b].first; i < fl->blocks[b].end; i++) {
            s.guarded = f->insts[i].guard >= 0;
            s.definitions = false;
            flow_visit_registers(&f->insts[i], see_block_register, &s);
            s.definitions = true;
            flow_visit_registers(&f->insts[i], see_block_register, &s);
        }
    }
    bool grown;
    do {
        grown = false;
        for (uint32_t k = n; k-- > 0;) {
            uint32_t b = fl->order[k];
            uint64_t *in = bits + (size_t)b * words * 4, *out = in + words, *gen = out + words,
                     *kill = gen + words;
            for (uint32_t s = 0; s < fl->blocks[b].succ_count; s++) {
                const uint64_t *next = bits + (size_t)fl->blocks[b].succs[s] * words * 4;
                for (uint32_t i = 0; i < words; i++)
                    out[i] |= next[i];
            }
            for (uint32_t i = 0; i < words; i++) {
                uint64_t now = gen[i] | (out[i] & ~kill[i]);
                grown = grown || now != in[i];
                in[i] = now;
            }
        }
    } while (grown);
    for (uint32_t b = 0; b < n; b++) {
        const uint64_t *in = bits + (size_t)b * words * 4, *out = in + words;
        for (uint32_t i = 0; i < words; i++) {
            for (uint64_t rest = in[i]; rest; rest &= rest - 1) {
                uint32_t r = i * 64 + (uint32_t)__builtin_ctzll(rest);
                widen(&fl->live[r], fl->blocks[b].first, fl->blocks[b].first);
            }
            for (uint64_t rest = out[i]; rest; rest &= rest - 1) {
                uint32_t r = i * 64 + (uint32_t)__builtin_ctzll(rest);
                widen(&fl->live[r], fl->blocks[b].end, fl->blocks[b].end);
            }
        }
        for (uint32_t i = fl->blocks[b].first; i < fl->blocks[b].end; i++) {
            struct see_range s = {fl, i};
            flow_visit_registers(&f->insts[i], see_range, &s);
        }
    }
    return true;
}

bool flow_analyse(struct flow *out, const struct ptx_func *f, struct vg_arena *arena)
{
    struct loops loops = {NULL, 0, 0};
    memset(out, 0, sizeof *out);
    if (f->inst_count == 0)
        return true;
    return make_blocks(out, f, arena) && find_loops(out, &loops, arena) &&
           order_blocks(out, &loops, arena) && mark_spins(out, &loops, f, arena) &&
           find_live(out, f, arena);
}

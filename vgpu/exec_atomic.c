/*
 * exec_atomic.c - atom and red: one lane after the other, in the order of the seed, on global,
 * shared and generic addresses. Plain loads and stores are in exec_mem.c. Compiled once per
 * instruction set. Invariant: every lane's address is checked before the first lane acts.
 */
#include "exec.h"
#include "ieee.h"
#include "lane_mem.h"

#include <string.h>

/* What one element of an atomic is made of. */
struct element {
    enum atom_op op;
    enum ptx_type type;
    unsigned width;
    bool flush;
};

static uint64_t mask_of(unsigned width)
{
    return width == 8 ? UINT64_MAX : (1ull << 8 * width) - 1;
}

/* The integer operations; a and b hold `width` bytes. */
static uint64_t combine_int(const struct element *e, uint64_t old, uint64_t b)
{
    const bool is_signed = ptx_type_class(e->type) == PTX_CLASS_SIGNED;
    const unsigned shift = 64 - 8 * e->width;
    const int64_t so = (int64_t)(old << shift) >> shift, sb = (int64_t)(b << shift) >> shift;

    switch (e->op) {
    case ATOM_ADD:
        return old + b;
    case ATOM_MIN:
        return is_signed ? (so < sb ? old : b) : (old < b ? old : b);
    case ATOM_MAX:
        return is_signed ? (so > sb ? old : b) : (old > b ? old : b);
    case ATOM_INC:
        return old >= b ? 0 : old + 1;
    case ATOM_DEC:
        return old == 0 || old > b ? b : old - 1;
    case ATOM_AND:
        return old & b;
    case ATOM_OR:
        return old | b;
    case ATOM_XOR:
        return old ^ b;
    case ATOM_EXCH:
        return b;
    case ATOM_CAS:
        break; /* needs three operands: see replacement() */
    }
    return old;
}

static float combine_f32(enum atom_op op, float old, float b)
{
    return op == ATOM_MIN ? f32_min(old, b) : op == ATOM_MAX ? f32_max(old, b) : f32_canon(old + b);
}
/* One half; f16 and bf16 sums are right when formed in f32 and rounded once. */
static uint32_t combine_half(const struct element *e, bool bf, uint32_t old, uint32_t b)
{
    const float x = combine_f32(e->op, bf ? bf16_to_f32(old) : f16_to_f32(old),
                                bf ? bf16_to_f32(b) : f16_to_f32(b));
    return bf ? bf16_from_f32(x) : f16_from_f32(x);
}

static uint64_t combine_float(const struct element *e, uint64_t old, uint64_t b)
{
    if (e->type == PTX_TYPE_F64) {
        const double x = f64_make(old), y = f64_make(b);
        /* The adder beside the L2 cache hands a NaN on as it is, b first; the f64 unit quietens,
         * the old value first. */
        if (e->op == ATOM_ADD && e->flush)
            return y != y ? b : x != x ? old : f64_bits(f64_canon(x + y));
        return f64_bits(e->op == ATOM_MIN   ? f64_min(x, y)
                        : e->op == ATOM_MAX ? f64_max(x, y)
                                            : f64_result(x + y, x, y));
    }
    if (e->type == PTX_TYPE_F32) {
        /* Global f32 sums flush subnormal operands and results, shared ones do not (PTX ISA, atom).
         */
        const float x = f32_make((uint32_t)old), y = f32_make((uint32_t)b);
        return f32_bits(e->flush && e->op == ATOM_ADD
                            ? f32_flush(combine_f32(e->op, f32_flush(x), f32_flush(y)))
                            : combine_f32(e->op, x, y));
    }
    const bool bf = e->type == PTX_TYPE_BF16 || e->type == PTX_TYPE_BF16X2;
    const uint32_t low = combine_half(e, bf, old & 0xffff, b & 0xffff) & 0xffff;
    if (e->width == 2)
        return low;
    return low | combine_half(e, bf, (uint32_t)old >> 16, (uint32_t)b >> 16) << 16;
}

static bool is_float(enum ptx_type t) { return ptx_type_class(t) == PTX_CLASS_FLOAT; }

static uint64_t replacement(const struct element *e, uint64_t old, uint64_t b, uint64_t c)
{
    if (e->op == ATOM_CAS)
        return old == b ? c : old;
    if (e->op == ATOM_EXCH)
        return b;
    return (is_float(e->type) ? combine_float(e, old, b) : combine_int(e, old, b)) &
           mask_of(e->width);
}

static uint64_t slot_value(const struct warp *w, uint32_t slot, uint32_t lane, unsigned width)
{
    return width == 8 ? SLOT(lane_u64, w, slot)[lane]
                      : SLOT(lane_u32, w, slot)[lane] & mask_of(width);
}

/* Lets the lanes act on host[lane], one after the other. */
static void act(struct warp *w, const struct insn *in, uint32_t lanes,
                unsigned char *const host[WARP_LANES], bool flush)
{
    const struct element e = {(enum atom_op)in->e, (enum ptx_type)in->target, in->width, flush};
    const uint32_t *extras = w->frame->program->extras;
    const uint32_t *from = in->vec > 1 ? extras + extras[in->extra + 1] : &in->b;
    const uint32_t *to = in->vec > 1 ? extras + extras[in->extra] : &in->d;
    const bool result = in->vec > 1 ? extras[in->extra] != 0 : in->d != ~0u;
    bool changed = false;

    for (uint32_t i = 0; i < WARP_LANES; i++) {
        const uint32_t lane = lane_turn(w, i);
        if (!(lanes >> lane & 1))
            continue;
        for (unsigned k = 0; k < in->vec; k++) {
            unsigned char *at = host[lane] + (size_t)k * e.width;
            uint64_t old = 0;
            memcpy(&old, at, e.width);
            const uint64_t c = e.op == ATOM_CAS ? slot_value(w, in->c, lane, e.width) : 0;
            const uint64_t new = replacement(&e, old, slot_value(w, from[k], lane, e.width), c);
            if (new != old) {
                memcpy(at, &new, e.width); /* little endian: the low bytes */
                changed = true;
            }
            if (!result || to[k] == ~0u)
                continue;
            if (e.width == 8)
                SLOT(lane_u64, w, to[k])[lane] = old;
            else
                SLOT(lane_u32, w, to[k])[lane] = (uint32_t)old;
        }
    }
    w->grid->memory_version += changed;
}

/* Lanes of one request on one element: the largest number of them, less one, is how often the
 * hardware must wait. */
static unsigned same_element(const uint64_t addr[WARP_LANES], uint32_t lanes)
{
    unsigned most = 0;
    uint32_t rest = lanes;

    while (rest) {
        const uint64_t at = addr[__builtin_ctz(rest)];
        uint32_t equal = 0;
        FOR_LANES { equal |= (uint32_t)(addr[lane] == at) << lane; }
        equal &= rest;
        rest &= ~equal;
        const unsigned n = (unsigned)__builtin_popcount(equal);
        if (n > most)
            most = n;
    }
    return most - 1;
}

static void count(struct warp *w, const uint64_t addr[WARP_LANES], uint32_t lanes, unsigned bytes,
                  bool shared)
{
    struct counts *c = &w->grid->counts;

    if (!w->grid->device->options.counters)
        return;
    if (shared)
        c->atom_shared_req++;
    else
        c->atom_global_req++;
    c->atom_lane += (unsigned)__builtin_popcount(lanes);
    c->atom_same += same_element(addr, lanes);
    if (w->grid->per_insn && w->frame->program == w->grid->program) {
        struct insn_counts *each = &w->grid->per_insn[w->pc];
        each->requests++;
        if (!shared)
            each->sectors += counters_sectors(addr, lanes, bytes);
    }
}

static void addresses(struct warp *w, const struct insn *in, uint64_t minus,
                      uint64_t addr[WARP_LANES])
{
    const uint64_t plus = (uint64_t)in->imm - minus;
    FOR_LANES
    {
        addr[lane] = (in->flags & INSN_FLAG_ADDR64 ? SLOT(lane_u64, w, in->a)[lane]
                                                   : SLOT(lane_u32, w, in->a)[lane]) +
                     plus;
    }
}

static void order(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                  uint32_t lanes)
{
    if (w->block->shadow)
        lane_order(w, in, addr, lanes, ACCESS_ATOMIC);
}

static void on_global(struct warp *w, const struct insn *in, uint32_t lanes,
                      const uint64_t addr[WARP_LANES])
{
    const unsigned bytes = (unsigned)in->width * in->vec;
    unsigned char *host[WARP_LANES];

    if (lane_global(w, in, addr, lanes, bytes, ACCESS_ATOMIC, host))
        return;
    if (w->grid->device->options.check_init)
        lane_uninit(w, in, addr, lanes, bytes);
    FOR_EACH_LANE(lane, lanes)
    {
        bool inside;
        struct alloc *a = mem_find(&w->grid->device->space, addr[lane], &inside);
        if (a->init)
            mem_mark_init(a, addr[lane] - a->addr, bytes);
        if (w->grid->device->options.counters)
            mem_touch(a, addr[lane], bytes);
    }
    count(w, addr, lanes, bytes, false);
    order(w, in, addr, lanes);
    act(w, in, lanes, host, true);
}

static void on_shared(struct warp *w, const struct insn *in, uint32_t lanes,
                      const uint64_t offset[WARP_LANES])
{
    const unsigned bytes = (unsigned)in->width * in->vec;
    const uint64_t size = w->block->shared_size;
    unsigned char *host[WARP_LANES];
    uint32_t off[WARP_LANES] = {0};
    bool wrong = false;

    FOR_EACH_LANE(lane, lanes)
    {
        wrong |=
            offset[lane] > size || bytes > size - offset[lane] || (offset[lane] & (bytes - 1)) != 0;
        off[lane] = (uint32_t)offset[lane];
        host[lane] = w->block->shared + off[lane];
    }
    if (wrong) {
        lane_shared_fault(w, in, offset, lanes, bytes);
        return;
    }
    count(w, offset, lanes, bytes, true);
    order(w, in, offset, lanes);
    if (w->block->shadow)
        shadow_access(w, in, off, lanes, bytes, SHADOW_ATOMIC | SHADOW_STRONG);
    act(w, in, lanes, host, false);
}

static void op_atom_global(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t addr[WARP_LANES];
    addresses(w, in, 0, addr);
    on_global(w, in, lanes, addr);
}
static void op_atom_shared(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t addr[WARP_LANES];
    addresses(w, in, SHARED_BASE, addr);
    on_shared(w, in, lanes, addr);
}
static void op_atom_generic(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t addr[WARP_LANES], off[WARP_LANES];
    uint32_t shared = 0, local = 0;

    addresses(w, in, 0, addr);
    FOR_EACH_LANE(lane, lanes)
    {
        shared |= (uint32_t)(lane_space(addr[lane]) == PTX_SPACE_SHARED) << lane;
        local |= (uint32_t)(lane_space(addr[lane]) == PTX_SPACE_LOCAL) << lane;
    }
    if (local) { /* the instruction set has no atomics on local memory */
        FOR_LANES { off[lane] = addr[lane] - LOCAL_WINDOW; }
        lane_local_atomic(w, in, off, local);
        return;
    }
    if (shared) {
        FOR_LANES { off[lane] = addr[lane] - SHARED_WINDOW - SHARED_BASE; }
        on_shared(w, in, shared, off);
    }
    if ((lanes & ~shared) && !(w->event & (uint32_t)EVENT_STOP))
        on_global(w, in, lanes & ~shared, addr);
}

extern op_fn *const ISA_NAME(exec_atomic_ops)[OP_COUNT];
op_fn *const ISA_NAME(exec_atomic_ops)[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_atomic.def"
#undef X
};

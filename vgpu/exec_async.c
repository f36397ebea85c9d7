/*
 * exec_async.c - cp.async and mbarrier objects.
 * Copies are delivered late: the bytes are taken when the copy is issued and arrive in shared
 * memory at the wait that covers them, so that a missing wait shows as old data. Bulk copies,
 * tensor maps and clusters are refused by the front end. Invariant: an mbarrier is one 64-bit word:
 * pending arrivals 0-19, expected arrivals 20-39, bytes under way 40-61 (signed), phase 62,
 * valid 63.
 */
#include "exec.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct copy {
    uint32_t lane, group, to, size;
    unsigned char bytes[16];
};
struct pending {
    struct copy *copies;
    uint32_t count, cap;
    uint32_t group[WARP_LANES]; /* number of the open group of each lane, from 0 */
};

static struct pending *pending_of(struct warp *w)
{
    if (!w->pending)
        w->pending = calloc(1, sizeof *w->pending);
    return w->pending;
}

/* Delivers the copies of `lanes` whose group number is at most last[lane]. */
static void deliver(struct warp *w, uint32_t lanes, const uint32_t last[WARP_LANES])
{
    struct pending *p = w->pending;
    uint32_t kept = 0;
    if (!p)
        return;
    for (uint32_t i = 0; i < p->count; i++) {
        const struct copy *c = &p->copies[i];
        if ((lanes >> c->lane & 1) == 0 || c->group > last[c->lane]) {
            p->copies[kept++] = *c;
            continue;
        }
        memcpy(w->block->shared + (c->to - SHARED_BASE), c->bytes, c->size);
        if (w->block->shadow)
            shadow_async_end(w, c->lane, c->to - SHARED_BASE, c->size);
    }
    if (kept != p->count)
        w->grid->memory_version++;
    p->count = kept;
}

void async_deliver_all(struct warp *w, uint32_t lanes)
{
    uint32_t last[WARP_LANES];
    if (!w->pending)
        return;
    memset(last, 0xff, sizeof last);
    deliver(w, lanes, last);
    if (w->pending->count == 0 && (w->live & ~lanes) == 0) {
        free(w->pending->copies);
        free(w->pending);
        w->pending = NULL;
    }
}

static uint64_t slot_address(const struct warp *w, uint32_t slot, bool wide, unsigned lane)
{
    return wide ? SLOT(lane_u64, w, slot)[lane] : SLOT(lane_u32, w, slot)[lane];
}
/* Shared address of [address, +n), generic ones included; false after reporting why not. */
static bool shared_address(struct warp *w, const struct insn *in, unsigned lane, uint64_t address,
                           uint32_t n, uint32_t *out)
{
    if (address >= SHARED_WINDOW && address < LOCAL_WINDOW)
        address -= SHARED_WINDOW;
    if (address < SHARED_BASE || address + n > SHARED_BASE + (uint64_t)w->block->shared_size ||
        address > UINT32_MAX) {
        exec_fault(w, in, FAULT_SHARED_OOB, lane, address, n, 1);
        return false;
    }
    if (address % n != 0) {
        exec_fault(w, in, FAULT_MISALIGNED, lane, address, n, 1);
        return false;
    }
    *out = (uint32_t)address;
    return true;
}

/* a, imm: destination; b and extras {offset low, offset high, wide}: source; c: slot of the bytes
 * to read, ~0 = all; width: bytes to write. */
static void op_cp_async(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint32_t *extras = w->frame->program->extras + in->extra;
    uint64_t from_offset = extras[0] | (uint64_t)extras[1] << 32;
    struct pending *p = pending_of(w);
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t to = 0, size = in->c == ~0u ? in->width : SLOT(lane_u32, w, in->c)[lane];
        if (!shared_address(w, in, lane,
                            slot_address(w, in->a, in->flags & INSN_FLAG_ADDR64, lane) +
                                (uint64_t)in->imm,
                            in->width, &to))
            return;
        struct copy c = {.lane = lane, .to = to, .size = in->width};
        uint64_t from = slot_address(w, in->b, extras[2], lane) + from_offset;
        if (size > in->width)
            size = in->width;
        if (from % in->width != 0) {
            exec_fault(w, in, FAULT_MISALIGNED, lane, from, in->width, 1);
            return;
        }
        if (size > 0 && !mem_lane_read(w, in, PTX_SPACE_GLOBAL, from, lane, c.bytes, size))
            return;
        if (p && p->count == p->cap) {
            uint32_t cap = p->cap ? p->cap * 2 : 64;
            struct copy *bigger = realloc(p->copies, cap * sizeof *bigger);
            if (bigger)
                p->copies = bigger, p->cap = cap;
        }
        if (!p || p->count == p->cap) {
            w->grid->error = 2;
            w->event |= EVENT_STOP;
            return;
        }
        c.group = p->group[lane];
        p->copies[p->count++] = c;
        w->grid->counts.async_byte += in->width;
        if (w->block->shadow)
            shadow_async_begin(w, in, lane, to - SHARED_BASE, in->width);
    }
    w->grid->memory_version++;
    if (w->grid->device->options.early_async)
        async_deliver_all(w, lanes);
}
static void op_cp_commit(struct warp *w, const struct insn *in, uint32_t lanes)
{
    (void)in;
    struct pending *p = pending_of(w);
    if (!p)
        return;
    FOR_EACH_LANE(lane, lanes) { p->group[lane]++; }
}
/* imm: how many of the youngest committed groups may stay open; the group that is not committed yet
 * stays open too. */
static void op_cp_wait(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t last[WARP_LANES] = {0}, ready = 0;
    if (!w->pending)
        return;
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t committed = w->pending->group[lane];
        if (committed <= (uint64_t)in->imm)
            continue;
        last[lane] = committed - 1 - (uint32_t)in->imm;
        ready |= 1u << lane;
    }
    deliver(w, ready, last);
}
static void op_cp_wait_all(struct warp *w, const struct insn *in, uint32_t lanes)
{
    (void)in;
    uint32_t last[WARP_LANES];
    memset(last, 0xff, sizeof last);
    deliver(w, lanes, last);
}

/* ---- mbarrier ---- */
#define COUNT_MASK 0xfffffull
struct mbar {
    uint32_t pending, expected;
    int32_t tx;
    bool phase, valid;
};

static struct mbar unpack(uint64_t word)
{
    struct mbar m = {(uint32_t)(word & COUNT_MASK), (uint32_t)(word >> 20 & COUNT_MASK),
                     (int32_t)((uint32_t)(word >> 40) << 10) >> 10, (word >> 62 & 1) != 0,
                     (word >> 63) != 0};
    return m;
}
static uint64_t pack(const struct mbar *m)
{
    return (uint64_t)m->valid << 63 | (uint64_t)m->phase << 62 |
           ((uint64_t)(uint32_t)m->tx & 0x3fffff) << 40 | (uint64_t)m->expected << 20 | m->pending;
}
static bool misuse(struct warp *w, const struct insn *in, unsigned lane, const char *what)
{
    exec_fault_text(w, in, FAULT_MBARRIER_MISUSE, lane, what);
    return false;
}
static void complete_phase(struct mbar *m)
{
    if (m->pending != 0 || m->tx != 0)
        return;
    m->phase = !m->phase;
    m->pending = m->expected;
}
static bool arrive(struct warp *w, const struct insn *in, unsigned lane, struct mbar *m,
                   uint32_t count)
{
    if (count == 0 || count > m->pending)
        return misuse(w, in, lane, "more arrivals than the phase expects");
    m->pending -= count;
    return true;
}
/* One lane's operation on m; `value` is its operand, *token its 64-bit result, *yes its predicate.
 */
static bool mbarrier_step(struct warp *w, const struct insn *in, unsigned lane, struct mbar *m,
                          uint64_t value, bool *yes)
{
    uint32_t count = in->b == ~0u ? 1 : (uint32_t)value;
    enum mbar_kind kind = (enum mbar_kind)in->op;
    if (kind != MBAR_INIT && !m->valid)
        return misuse(w, in, lane, "the object was never initialised, or was invalidated");
    switch (kind) {
    case MBAR_INIT:
        if (count == 0 || count > COUNT_MASK)
            return misuse(w, in, lane, "the count of an mbarrier is 1 to 1,048,575");
        *m = (struct mbar){count, count, 0, false, true};
        return true;
    case MBAR_INVAL:
        m->valid = false;
        return true;
    case MBAR_ARRIVE_DROP:
        if (count > m->expected)
            return misuse(w, in, lane, "more arrivals dropped than expected");
        m->expected -= count;
        if (!arrive(w, in, lane, m, count))
            return false;
        break;
    case MBAR_ARRIVE:
        if (!arrive(w, in, lane, m, count))
            return false;
        break;
    case MBAR_ARRIVE_NOCOMPLETE:
        if (!arrive(w, in, lane, m, count))
            return false;
        if (m->pending == 0)
            return misuse(w, in, lane, "arrive.noComplete completed the phase");
        break;
    case MBAR_ARRIVE_EXPECT:
        m->tx += (int32_t)count;
        if (!arrive(w, in, lane, m, 1))
            return false;
        break;
    case MBAR_EXPECT:
        m->tx += (int32_t)count;
        return true;
    case MBAR_COMPLETE:
        m->tx -= (int32_t)count;
        break;
    case MBAR_CP_ARRIVE: /* the copies are delivered at once; without .noinc the pending count is
                            raised first, so nothing changes */
        async_deliver_all(w, 1u << lane);
        if (in->rnd && !arrive(w, in, lane, m, 1))
            return false;
        break;
    case MBAR_TEST:
        *yes = m->phase != unpack(value).phase;
        return true;
    case MBAR_TEST_PARITY:
        *yes = m->phase != ((value & 1) != 0);
        return true;
    }
    if (m->tx > 0xfffff || m->tx < -0xfffff)
        return misuse(w, in, lane, "more than 1,048,575 bytes under way");
    complete_phase(m);
    return true;
}
static void op_mbarrier(struct warp *w, const struct insn *in, uint32_t lanes)
{
    bool wait = in->op == MBAR_TEST || in->op == MBAR_TEST_PARITY;
    uint32_t done = 0;
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t at = 0;
        uint64_t word, value = 0;
        bool yes = false;
        if (!shared_address(w, in, lane,
                            slot_address(w, in->a, in->flags & INSN_FLAG_ADDR64, lane) +
                                (uint64_t)in->imm,
                            8, &at))
            return;
        if (in->b != ~0u)
            value = in->op == MBAR_TEST ? SLOT(lane_u64, w, in->b)[lane]
                                        : SLOT(lane_u32, w, in->b)[lane];
        unsigned char *object = w->block->shared + (at - SHARED_BASE);
        memcpy(&word, object, 8);
        struct mbar m = unpack(word);
        uint64_t token = word;
        if (!mbarrier_step(w, in, lane, &m, value, &yes))
            return;
        word = pack(&m);
        if (memcmp(object, &word, 8) != 0) {
            memcpy(object, &word, 8);
            w->grid->memory_version++;
        }
        if (w->block->shadow) {
            shadow_mark_init(w->block, at - SHARED_BASE, 8);
            if (!wait)
                shadow_release(w, 1u << lane, SHARED_WINDOW + at);
            else if (yes)
                shadow_acquire(w, 1u << lane, SHARED_WINDOW + at);
        }
        done |= yes ? 1u << lane : 0;
        if (!wait && in->d != ~0u)
            SLOT(lane_u64, w, in->d)[lane] = token;
    }
    if (wait)
        w->preds[in->d] = (w->preds[in->d] & ~lanes) | done;
    if ((in->flags & INSN_FLAG_SPIN) && done != lanes)
        w->event |= EVENT_YIELD | EVENT_SPIN; /* try_wait suspends the thread */
}
static void op_mbarrier_pending(struct warp *w, const struct insn *in, uint32_t lanes)
{
    FOR_EACH_LANE(lane, lanes)
    {
        SLOT(lane_u32, w, in->d)[lane] = unpack(SLOT(lane_u64, w, in->a)[lane]).pending;
    }
}

extern op_fn *const exec_async_ops[OP_COUNT];
op_fn *const exec_async_ops[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_async.def"
#undef X
};

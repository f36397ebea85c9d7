/*
 * exec_mem.c - loads and stores of whole warps: addresses, bounds once per warp where the lanes
 * form a run, bytes to and from slots, initialised bits, race records, counts. What turns out
 * irregular goes lane by lane; messages are made in lane_mem.c. Compiled once per instruction set.
 * Invariant: no byte is touched before every lane of the instruction has passed its checks.
 */
#include "exec.h"
#include "lane_mem.h"
#include "lane_vector.h"
#include "shadow_hot.h"

#include <string.h>

typedef uint8_t lane_u8 __attribute__((may_alias));
typedef uint16_t lane_u16 __attribute__((may_alias));
typedef int8_t lane_s8 __attribute__((may_alias));
typedef int16_t lane_s16 __attribute__((may_alias));

enum { MAX_ACCESS = 32 /* bytes of one lane: .v8.b32, .v4.b64 */ };

static inline unsigned bytes_of(const struct insn *in) { return (unsigned)in->width * in->vec; }
static inline bool counting(const struct warp *w) { return w->grid->device->options.counters; }
static inline struct mem_hint *hint_of(struct warp *w)
{
    return &w->grid->hints[w->pc % MEM_HINTS];
}

static inline const uint32_t *value_slots(const struct warp *w, const struct insn *in,
                                          const uint32_t *single)
{
    return in->vec == 1 ? single : w->frame->program->extras + in->extra;
}

/* The address of every lane, also of those that are off (garbage there, never used). */
static inline void addresses(struct warp *w, const struct insn *in, uint64_t minus,
                             uint64_t addr[WARP_LANES])
{
    const uint64_t plus = (uint64_t)in->imm - minus;

    if (in->flags & INSN_FLAG_ADDR64) {
        const lane_u64 *base = SLOT(lane_u64, w, in->a);
        LANE_LOOP FOR_LANES { addr[lane] = base[lane] + plus; }
    } else {
        /* A 32-bit address is a 32-bit sum: a negative index may have wrapped around. */
        const lane_u32 *base = SLOT(lane_u32, w, in->a);
        const uint32_t offset = (uint32_t)in->imm;
        LANE_LOOP FOR_LANES { addr[lane] = (uint32_t)(base[lane] + offset) - minus; }
    }
}

/* Lane l accesses addr[0] + l * bytes, aligned. */
static inline bool is_run(const uint64_t addr[WARP_LANES], unsigned bytes)
{
    const uint64_t first = addr[0];
    uint64_t differ = first & (bytes - 1);

    LANE_LOOP FOR_LANES { differ |= addr[lane] ^ (first + (uint64_t)lane * bytes); }
    return differ == 0;
}

/* ---- bytes and slots ---- */
/* One element per lane from `from` + lane * step + at. */
#define GATHER(T, S)                                                                               \
    do {                                                                                           \
        S *pd = SLOT(S, w, slot);                                                                  \
        LANE_LOOP FOR_LANES                                                                        \
        {                                                                                          \
            T x;                                                                                   \
            memcpy(&x, from + lane * step, sizeof x);                                              \
            pd[lane] = (S)x;                                                                       \
        }                                                                                          \
    } while (0)
static inline __attribute__((always_inline)) void gather_step(struct warp *w, uint32_t slot,
                                                              unsigned width, bool sign,
                                                              const unsigned char *from,
                                                              unsigned step)
{
    switch (width) {
    case 1:
        if (sign)
            GATHER(int8_t, lane_s32);
        else
            GATHER(uint8_t, lane_u32);
        break;
    case 2:
        if (sign)
            GATHER(int16_t, lane_s32);
        else
            GATHER(uint16_t, lane_u32);
        break;
    case 4:
        GATHER(uint32_t, lane_u32);
        break;
    default:
        GATHER(uint64_t, lane_u64);
        break;
    }
}
/* Full warp, lanes one after the other in memory. */
static inline void gather_run(struct warp *w, const struct insn *in, const unsigned char *from)
{
    const uint32_t *slots = value_slots(w, in, &in->d);
    const unsigned width = in->width;
    const bool sign = (in->flags & INSN_FLAG_SIGNED) != 0;

    if (in->vec == 1) {
        if (slots[0] == ~0u)
            return;
        if (width == 4)
            memcpy(SLOT(lane_u32, w, slots[0]), from, 4 * WARP_LANES);
        else
            gather_step(w, slots[0], width, sign, from, width);
        return;
    }
    for (unsigned i = 0; i < in->vec; i++) {
        if (slots[i] == ~0u)
            continue;
        const unsigned char *at = from + i * width;
        if (width == 4 && in->vec == 4)
            gather_step(w, slots[i], 4, false, at, 16);
        else if (width == 4 && in->vec == 2)
            gather_step(w, slots[i], 4, false, at, 8);
        else if (width == 8 && in->vec == 2)
            gather_step(w, slots[i], 8, false, at, 16);
        else
            gather_step(w, slots[i], width, sign, at, width * in->vec);
    }
}

#define SCATTER(T, S)                                                                              \
    do {                                                                                           \
        const S *ps = SLOT(S, w, slot);                                                            \
        LANE_LOOP FOR_LANES                                                                        \
        {                                                                                          \
            const T x = (T)ps[lane];                                                               \
            memcpy(to + lane * step, &x, sizeof x);                                                \
        }                                                                                          \
    } while (0)
static inline __attribute__((always_inline)) void
scatter_step(struct warp *w, uint32_t slot, unsigned width, unsigned char *to, unsigned step)
{
    switch (width) {
    case 1:
        SCATTER(uint8_t, lane_u32);
        break;
    case 2:
        SCATTER(uint16_t, lane_u32);
        break;
    case 4:
        SCATTER(uint32_t, lane_u32);
        break;
    default:
        SCATTER(uint64_t, lane_u64);
        break;
    }
}
/* The values of all lanes as they will lie in memory when the lanes form a run. */
static inline void scatter_run(struct warp *w, const struct insn *in, unsigned char *to)
{
    const uint32_t *slots = value_slots(w, in, &in->b);
    const unsigned width = in->width;

    if (in->vec == 1) {
        if (width == 4)
            memcpy(to, SLOT(lane_u32, w, slots[0]), 4 * WARP_LANES);
        else
            scatter_step(w, slots[0], width, to, width);
        return;
    }
    for (unsigned i = 0; i < in->vec; i++) {
        unsigned char *at = to + i * width;
        if (width == 4 && in->vec == 4)
            scatter_step(w, slots[i], 4, at, 16);
        else if (width == 4 && in->vec == 2)
            scatter_step(w, slots[i], 4, at, 8);
        else if (width == 8 && in->vec == 2)
            scatter_step(w, slots[i], 8, at, 16);
        else
            scatter_step(w, slots[i], width, at, width * in->vec);
    }
}

static inline void load_element(struct warp *w, const struct insn *in, uint32_t slot, uint32_t lane,
                                const unsigned char *from)
{
    const bool sign = (in->flags & INSN_FLAG_SIGNED) != 0;
    uint64_t x = 0;

    switch (in->width) {
    case 1:
        x = sign ? (uint64_t)(int64_t)(int8_t)*from : *from;
        break;
    case 2: {
        uint16_t h;
        memcpy(&h, from, 2);
        x = sign ? (uint64_t)(int64_t)(int16_t)h : h;
        break;
    }
    case 4: {
        uint32_t v;
        memcpy(&v, from, 4);
        x = v;
        break;
    }
    default:
        memcpy(&x, from, 8);
        break;
    }
    if (in->width == 8)
        SLOT(lane_u64, w, slot)[lane] = x;
    else
        SLOT(lane_u32, w, slot)[lane] = (uint32_t)x;
}
static inline void load_lane(struct warp *w, const struct insn *in, uint32_t lane,
                             const unsigned char *from)
{
    const uint32_t *slots = value_slots(w, in, &in->d);

    for (unsigned i = 0; i < in->vec; i++, from += in->width) {
        if (slots[i] != ~0u)
            load_element(w, in, slots[i], lane, from);
    }
}
static inline void value_lane(struct warp *w, const struct insn *in, uint32_t lane,
                              unsigned char *to)
{
    const uint32_t *slots = value_slots(w, in, &in->b);

    for (unsigned i = 0; i < in->vec; i++, to += in->width) {
        const uint64_t x =
            in->width == 8 ? SLOT(lane_u64, w, slots[i])[lane] : SLOT(lane_u32, w, slots[i])[lane];
        memcpy(to, &x, in->width); /* little endian: the low bytes */
    }
}
/* Stores one lane's bytes; tells whether memory changed. */
static inline bool store_bytes(unsigned char *to, const unsigned char *from, unsigned bytes)
{
    if (memcmp(to, from, bytes) == 0)
        return false;
    memcpy(to, from, bytes);
    return true;
}
/* n is a multiple of 32. */
static inline bool store_run(unsigned char *to, const unsigned char *from, unsigned n)
{
    uint64_t differ = 0;

    for (unsigned i = 0; i < n; i += 8) {
        uint64_t a, b;
        memcpy(&a, to + i, 8);
        memcpy(&b, from + i, 8);
        differ |= a ^ b;
        memcpy(to + i, &b, 8);
    }
    return differ != 0;
}

/* ---- bitmaps ---- */
/* Are the n bits from `first` on all set? n is a multiple of 32. */
static inline bool bits_set(const unsigned char *bits, uint64_t first, unsigned n)
{
    const unsigned char *p = bits + first / 8;
    const unsigned shift = first % 8;
    uint32_t all = UINT32_MAX;

    for (unsigned i = 0; i < n; i += 32, p += 4) {
        uint64_t x;
        memcpy(&x, p, 8);
        all &= (uint32_t)(x >> shift);
    }
    return all == UINT32_MAX;
}
static inline void bits_fill(unsigned char *bits, uint64_t first, unsigned n)
{
    unsigned char *p = bits + first / 8;
    const unsigned shift = first % 8;

    for (unsigned i = 0; i < n; i += 32, p += 4) {
        uint64_t x;
        memcpy(&x, p, 8);
        x |= 0xffffffffull << shift;
        memcpy(p, &x, 8);
    }
}
/* touched: sectors first .. first + n - 1, n <= 33. */
static inline void touch_run(struct alloc *a, uint64_t addr, unsigned n)
{
    if (!a->touched) {
        mem_touch(a, addr, n);
        return;
    }
    const uint64_t first = addr / 32 - a->addr / 32, last = (addr + n - 1) / 32 - a->addr / 32;
    unsigned char *p = a->touched + first / 8;
    uint64_t x;
    memcpy(&x, p, 8);
    x |= ((2ull << (last - first)) - 1) << first % 8;
    memcpy(p, &x, 8);
}

/* ---- counters ---- */
static inline struct insn_counts *each_of(struct warp *w)
{
    return w->grid->per_insn && w->frame->program == w->grid->program ? &w->grid->per_insn[w->pc]
                                                                      : NULL;
}
static inline void count_global(struct warp *w, unsigned sectors, uint64_t bytes, bool store)
{
    struct counts *c = &w->grid->counts;
    struct insn_counts *each = each_of(w);

    if (store) {
        c->global_st_req++;
        c->global_st_sector += sectors;
        c->global_st_byte += bytes;
    } else {
        c->global_ld_req++;
        c->global_ld_sector += sectors;
        c->global_ld_byte += bytes;
    }
    if (each) {
        each->requests++;
        each->sectors += sectors;
    }
}
static inline void count_shared(struct warp *w, unsigned waves, unsigned phases, bool store)
{
    struct counts *c = &w->grid->counts;
    struct insn_counts *each = each_of(w);

    if (store) {
        c->shared_st_req++;
        c->shared_st_wave += waves;
    } else {
        c->shared_ld_req++;
        c->shared_ld_wave += waves;
    }
    c->shared_conflict += waves - phases;
    if (each) {
        each->requests++;
        each->waves += waves;
    }
}

/* ---- global ---- */
/* Lanes in one allocation, each aligned: none of them leaves its sector. */
static void touch_lanes(struct alloc *a, const uint64_t addr[WARP_LANES], uint32_t lanes,
                        unsigned bytes)
{
    if (!a->touched)
        mem_touch(a, addr[__builtin_ctz(lanes)], bytes);
    if (!a->touched)
        return;
    const uint64_t base = a->addr / 32;
    FOR_EACH_LANE(lane, lanes)
    {
        const uint64_t sector = addr[lane] / 32 - base;
        a->touched[sector / 8] |= (unsigned char)(1u << sector % 8);
    }
}
/* The same for their bytes as initialised; device allocations start at multiples of 256. */
static void init_lanes(struct alloc *a, const uint64_t addr[WARP_LANES], uint32_t lanes,
                       unsigned bytes)
{
    if (!a->init)
        return;
    if (bytes > 8) {
        FOR_EACH_LANE(lane, lanes)
        {
            memset(a->init + (addr[lane] - a->addr) / 8, 0xff, bytes / 8);
        }
        return;
    }
    const unsigned mask = (1u << bytes) - 1;
    FOR_EACH_LANE(lane, lanes)
    {
        const uint64_t offset = addr[lane] - a->addr;
        a->init[offset / 8] |= (unsigned char)(mask << offset % 8);
    }
}

/* Every lane from base + off[lane]. */
static inline void load_lanes(struct warp *w, const struct insn *in, uint32_t lanes,
                              const uint32_t off[WARP_LANES], const unsigned char *base)
{
    const uint32_t *slots = value_slots(w, in, &in->d);

    if (in->width < 4) {
        FOR_EACH_LANE(lane, lanes) { load_lane(w, in, lane, base + off[lane]); }
        return;
    }
    for (unsigned i = 0; i < in->vec; i++, base += in->width) {
        if (slots[i] == ~0u)
            continue;
        if (in->width == 4)
            lanes_gather32(SLOT(lane_u32, w, slots[i]), base, off, lanes);
        else
            lanes_gather64(SLOT(lane_u64, w, slots[i]), base, off, lanes);
    }
}

/* Every lane to base + off[lane]. Returns whether memory changed. */
static inline bool store_lanes(struct warp *w, const struct insn *in, uint32_t lanes,
                               const uint32_t off[WARP_LANES], unsigned char *base)
{
    const unsigned bytes = bytes_of(in);
    bool changed = false;

    if (in->width == 4 && w->grid->seed == 0) {
        const uint32_t *slots = value_slots(w, in, &in->b);
        for (unsigned i = 0; i < in->vec; i++)
            changed |= lanes_scatter32(base + 4 * i, off, SLOT(lane_u32, w, slots[i]), lanes);
        return changed;
    }
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        const uint32_t lane = lane_turn(w, i);
        unsigned char value[MAX_ACCESS];
        if (!(lanes >> lane & 1))
            continue;
        value_lane(w, in, lane, value);
        changed |= store_bytes(base + off[lane], value, bytes);
    }
    return changed;
}

/* All lanes in the allocation of the hint, aligned? off: where. Larger allocations go lane by lane.
 */
static inline bool lanes_in_hint(const struct mem_hint *h, const uint64_t addr[WARP_LANES],
                                 uint32_t lanes, unsigned bytes, uint32_t off[WARP_LANES])
{
    if (!h->alloc || !h->alloc->live || h->size < bytes || h->size > INT32_MAX)
        return false;
    return lanes_offsets(off, addr, lanes, h->addr, (uint32_t)h->size - bytes, bytes - 1);
}

/* Words just stored that hold another value now: lanes met there. */
static inline void overwritten(struct warp *w, const struct insn *in, uint32_t lanes,
                               const uint64_t addr[WARP_LANES], const uint32_t off[WARP_LANES],
                               const unsigned char *base)
{
    const lane_u32 *values = SLOT(lane_u32, w, *value_slots(w, in, &in->b));
    lane_u32 now[WARP_LANES] __attribute__((aligned(64)));
    uint32_t lost = 0;

    if (in->vec != 1)
        return;
    LANE_LOOP FOR_LANES { now[lane] = values[lane]; }
    lanes_gather32(now, base, off, lanes);
    LANE_LOOP FOR_LANES { lost |= (uint32_t)(now[lane] != values[lane]) << lane; }
    if (lost)
        lane_overwritten(w, in, addr, lanes, lost);
}
/* All in the allocation of the hint. */
static inline void one_allocation(struct warp *w, const struct insn *in, uint32_t lanes,
                                  const uint64_t addr[WARP_LANES], const uint32_t off[WARP_LANES],
                                  const struct mem_hint *h, bool store)
{
    const unsigned bytes = bytes_of(in);
    struct alloc *a = h->alloc;

    if (counting(w)) {
        count_global(w, counters_sectors(addr, lanes, bytes),
                     (uint64_t)bytes * (unsigned)__builtin_popcount(lanes), store);
        touch_lanes(a, addr, lanes, bytes);
    }
    if (!store) {
        if (a->init && !lanes_bits_set(a->init, off, lanes, bytes))
            lane_uninit(w, in, addr, lanes, bytes);
        load_lanes(w, in, lanes, off, h->host);
        return;
    }
    init_lanes(a, addr, lanes, bytes);
    w->grid->memory_version += store_lanes(w, in, lanes, off, h->host);
    if (bytes == 4 && !(in->flags & INSN_FLAG_STRONG) && w->grid->device->options.check_race)
        overwritten(w, in, lanes, addr, off, h->host);
}

/* Several allocations, a very large one, or a store to constants: one lane after the other. */
static __attribute__((noinline)) void many_allocations(struct warp *w, const struct insn *in,
                                                       uint32_t lanes,
                                                       const uint64_t addr[WARP_LANES], bool store)
{
    const unsigned bytes = bytes_of(in);
    unsigned char *host[WARP_LANES];

    if (lane_global(w, in, addr, lanes, bytes, store ? ACCESS_WRITE : ACCESS_READ, host))
        return;
    if (counting(w))
        count_global(w, counters_sectors(addr, lanes, bytes),
                     (uint64_t)bytes * (unsigned)__builtin_popcount(lanes), store);
    if (!store && w->grid->device->options.check_init)
        lane_uninit(w, in, addr, lanes, bytes);
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        const uint32_t lane = lane_turn(w, i);
        bool inside;
        if (!(lanes >> lane & 1))
            continue;
        struct alloc *a = mem_find(&w->grid->device->space, addr[lane], &inside);
        if (counting(w))
            mem_touch(a, addr[lane], bytes);
        if (!store) {
            load_lane(w, in, lane, host[lane]);
            continue;
        }
        unsigned char value[MAX_ACCESS];
        value_lane(w, in, lane, value);
        w->grid->memory_version += store_bytes(host[lane], value, bytes);
        mem_mark_init(a, addr[lane] - a->addr, bytes);
    }
}

static __attribute__((noinline)) void global_lanes(struct warp *w, const struct insn *in,
                                                   uint32_t lanes, const uint64_t addr[WARP_LANES],
                                                   bool store)
{
    const unsigned bytes = bytes_of(in);
    unsigned char *host[WARP_LANES];
    uint32_t off[WARP_LANES] __attribute__((aligned(64)));
    struct mem_hint *h = hint_of(w);

    if (!lanes_in_hint(h, addr, lanes, bytes, off)) {
        if (lane_global(w, in, addr, lanes, bytes, store ? ACCESS_WRITE : ACCESS_READ, host))
            return;
        mem_host_hint(&w->grid->device->space, addr[__builtin_ctz(lanes)], bytes, h);
        if (!lanes_in_hint(h, addr, lanes, bytes, off)) {
            many_allocations(w, in, lanes, addr, store);
            return;
        }
    }
    if (store && h->alloc->kind == ALLOC_CONST_VAR)
        many_allocations(w, in, lanes, addr, store);
    else
        one_allocation(w, in, lanes, addr, off, h, store);
}
/* A warp in a grid-stride loop steps over pages, which the CPU's own prefetcher does not follow:
 * asks for the bytes of a few iterations ahead once two steps were equal. */
static inline void prefetch_step(struct mem_hint *h, uint64_t addr, const unsigned char *from,
                                 unsigned bytes)
{
    enum { AHEAD = 8, LINE = 64 };
    const uint64_t step = addr - h->last;

    if (step == h->step && step > LINE * 2 && addr - h->addr + step * AHEAD < h->size) {
        for (unsigned i = 0; i < bytes; i += LINE)
            __builtin_prefetch(from + step * AHEAD + i);
    }
    h->last = addr;
    h->step = step;
}

static inline void load_global(struct warp *w, const struct insn *in, uint32_t lanes,
                               const uint64_t addr[WARP_LANES])
{
    const unsigned bytes = bytes_of(in), all = bytes * WARP_LANES;
    struct mem_hint *h = hint_of(w);
    const unsigned char *from;

    if (lanes != FULL_MASK || !is_run(addr, bytes) ||
        (from = mem_host_hint(&w->grid->device->space, addr[0], all, h)) == NULL) {
        global_lanes(w, in, lanes, addr, false);
        return;
    }
    prefetch_step(h, addr[0], from, all);
    if (h->alloc->init && !bits_set(h->alloc->init, addr[0] - h->addr, all))
        lane_uninit(w, in, addr, lanes, bytes);
    if (counting(w)) {
        count_global(w, (unsigned)(((addr[0] & 31) + all + 31) / 32), all, false);
        touch_run(h->alloc, addr[0], all);
    }
    gather_run(w, in, from);
}

static inline void store_global(struct warp *w, const struct insn *in, uint32_t lanes,
                                const uint64_t addr[WARP_LANES])
{
    const unsigned bytes = bytes_of(in), all = bytes * WARP_LANES;
    struct mem_hint *h = hint_of(w);
    unsigned char *to;

    if (lanes != FULL_MASK || !is_run(addr, bytes) ||
        (to = mem_host_hint(&w->grid->device->space, addr[0], all, h)) == NULL ||
        h->alloc->kind == ALLOC_CONST_VAR) {
        global_lanes(w, in, lanes, addr, true);
        return;
    }
    if (h->alloc->init)
        bits_fill(h->alloc->init, addr[0] - h->addr, all);
    if (counting(w)) {
        count_global(w, (unsigned)(((addr[0] & 31) + all + 31) / 32), all, true);
        touch_run(h->alloc, addr[0], all);
    }
    unsigned char value[MAX_ACCESS * WARP_LANES];
    scatter_run(w, in, value);
    w->grid->memory_version += store_run(to, value, all);
}

/* ---- shared ---- */
/* Full warp, 4-byte lanes: two half warps that are each a run (step 4) or one word (step 0). */
struct halves {
    uint32_t first[2], step[2];
};
static inline bool find_halves(const uint32_t off[WARP_LANES], struct halves *h)
{
    uint32_t differ = 0;
    for (unsigned half = 0; half < 2; half++) {
        const uint32_t *o = off + 16 * half, first = o[0], step = o[1] - first;
        if (step != 0 && step != 4)
            return false;
        for (unsigned i = 0; i < 16; i++)
            differ |= o[i] ^ (first + i * step);
        h->first[half] = first;
        h->step[half] = step;
    }
    return differ == 0;
}

/* Bank waves of two half warps: two where a bank serves different words, else one. */
static inline unsigned waves_of_halves(const struct halves *h)
{
    const unsigned a = h->step[0] ? 0 : 1, b = 1 - a; /* a: a run when there is one */
    const uint32_t run = h->first[a] / 4, other = h->first[b] / 4, ahead = other - run,
                   behind = run - other;

    if (h->step[a] == 0)
        return other != run && ahead % 32 == 0 ? 2 : 1;
    if (h->step[b] == 0)
        return ahead >= 16 && ahead % 32 < 16 ? 2 : 1;
    if (ahead <= 16 || behind <= 16)
        return 1; /* together one run of up to 32 words */
    return ahead % 32 == 16 ? 1 : 2;
}

/* How the lanes lie: one run of the full warp, two half warps, or anyhow. */
struct layout {
    bool run, halved;
    struct halves halves;
};
static inline struct layout layout_of(const uint32_t off[WARP_LANES], uint32_t lanes,
                                      unsigned bytes)
{
    struct layout l = {.run = lanes == FULL_MASK};
    if (l.run) {
        uint32_t differ = 0;
        LANE_LOOP FOR_LANES { differ |= off[lane] ^ (off[0] + lane * bytes); }
        l.run = differ == 0;
        l.halved = !l.run && bytes == 4 && find_halves(off, &l.halves);
    }
    return l;
}
static inline void count_shared_layout(struct warp *w, const uint32_t off[WARP_LANES],
                                       uint32_t lanes, unsigned bytes, const struct layout *l,
                                       bool store)
{
    unsigned phases = 1, waves;
    if (l->run)
        waves = phases = bytes <= 4 ? 1 : bytes <= 8 ? 2 : 4 * ((bytes + 15) / 16);
    else if (l->halved)
        waves = waves_of_halves(&l->halves);
    else
        waves = counters_waves(off, lanes, bytes, &phases);
    count_shared(w, waves, phases, store);
}

static inline int shadow_order(const struct insn *in)
{
    return in->rnd == ORDER_WEAK ? 0 : in->rnd == ORDER_VOLATILE ? SHADOW_VOLATILE : SHADOW_STRONG;
}
/* Pass over the access when nothing is suspicious about it; else the careful way. */
static inline void shadow_load(struct warp *w, const struct insn *in,
                               const uint32_t off[WARP_LANES], uint32_t lanes, unsigned bytes,
                               const struct layout *l)
{
    struct shared_shadow *s = w->block->shadow;
    const int order = shadow_order(in);
    const uint32_t warp = w->index;
    uint32_t rest = lanes;

    if (!s->exact && !order && bytes >= 4) {
        const uint32_t site = shadow_site_of(s, w, in);
        if (l->run && bytes <= 16) {
            const unsigned shift = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
            if (shadow_run_read(s, warp, site, off[0] / 4, (unsigned)WARP_LANES << shift, 0, shift))
                return;
        } else if (l->halved) {
            rest = 0;
            for (unsigned half = 0; half < 2; half++) {
                const uint32_t part = 0xffffu << (16 * half), k = l->halves.first[half] / 4;
                if (l->halves.step[half] ? !shadow_run_read(s, warp, site, k, 16, 16 * half, 0)
                                         : !shadow_word_read(s, warp, site, k, part))
                    rest |= part;
            }
        } else {
            rest = 0;
            FOR_EACH_LANE(lane, lanes)
            {
                for (unsigned i = 0; i < bytes / 4; i++) {
                    if (!shadow_word_read(s, warp, site, off[lane] / 4 + i, 1u << lane))
                        rest |= 1u << lane;
                }
            }
        }
    }
    if (rest)
        shadow_access(w, in, off, rest, bytes, SHADOW_READ | order);
}
static inline void shadow_write(struct warp *w, const struct insn *in,
                                const uint32_t off[WARP_LANES], uint32_t lanes, unsigned bytes,
                                const struct layout *l)
{
    struct shared_shadow *s = w->block->shadow;
    const int order = shadow_order(in);
    const uint32_t warp = w->index;
    uint32_t rest = lanes;

    if (!s->exact && !order && bytes >= 4) {
        const uint32_t site = shadow_site_of(s, w, in);
        if (l->run && bytes <= 16) {
            const unsigned shift = bytes == 4 ? 0 : bytes == 8 ? 1 : 2;
            if (shadow_run_write(s, warp, site, off[0] / 4, (unsigned)WARP_LANES << shift, 0,
                                 shift))
                return;
        } else if (l->halved && l->halves.step[0] && l->halves.step[1] &&
                   l->halves.first[1] - l->halves.first[0] + 60 > 120) { /* no word in both */
            rest = 0;
            for (unsigned half = 0; half < 2; half++) {
                if (!shadow_run_write(s, warp, site, l->halves.first[half] / 4, 16, 16 * half, 0))
                    rest |= 0xffffu << (16 * half);
            }
            if (!rest)
                return;
        }
    }
    unsigned char values[MAX_ACCESS * WARP_LANES];
    FOR_EACH_LANE(lane, rest) { value_lane(w, in, lane, values + lane * bytes); }
    shadow_store(w, in, off, rest, bytes, SHADOW_WRITE | order, values);
}

/* off[lane]: offset into the block's shared memory, checked. */
static inline void shared_load(struct warp *w, const struct insn *in, uint32_t lanes,
                               const uint32_t off[WARP_LANES])
{
    const unsigned bytes = bytes_of(in);
    const bool counted = counting(w);

    if (counted || w->block->shadow) {
        const struct layout l = layout_of(off, lanes, bytes);
        if (counted)
            count_shared_layout(w, off, lanes, bytes, &l, false);
        if (w->block->shadow)
            shadow_load(w, in, off, lanes, bytes, &l);
        if (l.run) {
            gather_run(w, in, w->block->shared + off[0]);
            return;
        }
    }
    load_lanes(w, in, lanes, off, w->block->shared);
}
static inline void shared_store(struct warp *w, const struct insn *in, uint32_t lanes,
                                const uint32_t off[WARP_LANES])
{
    const unsigned bytes = bytes_of(in);
    const bool counted = counting(w);
    unsigned char *shared = w->block->shared;

    if (counted || w->block->shadow) {
        const struct layout l = layout_of(off, lanes, bytes);
        if (counted)
            count_shared_layout(w, off, lanes, bytes, &l, true);
        if (w->block->shadow)
            shadow_write(w, in, off, lanes, bytes, &l);
        if (l.run) {
            unsigned char value[MAX_ACCESS * WARP_LANES];
            scatter_run(w, in, value);
            w->grid->memory_version += store_run(shared + off[0], value, bytes * WARP_LANES);
            return;
        }
    }
    w->grid->memory_version += store_lanes(w, in, lanes, off, shared);
}

/* off64[lane]: address less SHARED_BASE. */
static __attribute__((noinline)) void shared_access(struct warp *w, const struct insn *in,
                                                    uint32_t lanes,
                                                    const uint64_t off64[WARP_LANES], bool store)
{
    const unsigned bytes = bytes_of(in);
    const uint32_t size = w->block->shared_size;
    uint32_t off[WARP_LANES] __attribute__((aligned(64)));

    if (size < bytes || !lanes_offsets(off, off64, lanes, 0, size - bytes, bytes - 1))
        lane_shared_fault(w, in, off64, lanes, bytes);
    else if (store)
        shared_store(w, in, lanes, off);
    else
        shared_load(w, in, lanes, off);
}

/* The usual case, 32-bit addresses that order nothing: false when it is another one, or an address
 * is wrong. */
static inline bool shared_offsets(struct warp *w, const struct insn *in, uint32_t lanes,
                                  uint32_t off[WARP_LANES])
{
    const lane_u32 *base = SLOT(lane_u32, w, in->a);
    const uint32_t plus = (uint32_t)in->imm - SHARED_BASE;
    const unsigned bytes = bytes_of(in);
    const uint32_t size = w->block->shared_size;

    if ((in->flags & (INSN_FLAG_ADDR64 | INSN_FLAG_STRONG)) || size < bytes)
        return false;
    LANE_LOOP FOR_LANES { off[lane] = base[lane] + plus; }
    return !lanes_astray(off, lanes, size - bytes, bytes - 1);
}

/* ---- local ---- */
/* Word k of lane l lies at local[(k * 32 + l) * 4]: equal offsets of the lanes are neighbours, as
 * in the hardware. */
static inline unsigned char *local_byte(const struct warp *w, uint32_t lane, uint64_t offset)
{
    return w->local + ((offset >> 2) * WARP_LANES + lane) * 4 + (offset & 3);
}
static inline void local_access(struct warp *w, const struct insn *in, uint32_t lanes,
                                const uint64_t off[WARP_LANES], bool store)
{
    const unsigned bytes = bytes_of(in), piece = bytes < 4 ? bytes : 4;
    const uint64_t size = lane_local_limit(w), limit = size >= bytes ? size - bytes : 0;
    uint64_t wrong = size < bytes;

    FOR_EACH_LANE(lane, lanes)
    {
        wrong |= (uint64_t)(off[lane] > limit) | (off[lane] & (bytes - 1));
    }
    if (wrong) {
        lane_local_fault(w, in, off, lanes, bytes);
        return;
    }
    if (!lane_local_ready(w, in))
        return;
    if (counting(w)) {
        if (store)
            w->grid->counts.local_st_req++;
        else
            w->grid->counts.local_ld_req++;
    }
    if (w->local_init)
        lane_local_init(w, in, lanes, off, bytes, store);
    bool changed = false;
    FOR_EACH_LANE(lane, lanes)
    {
        unsigned char value[MAX_ACCESS];
        if (store) {
            value_lane(w, in, lane, value);
            for (unsigned i = 0; i < bytes; i += piece)
                changed |= store_bytes(local_byte(w, lane, off[lane] + i), value + i, piece);
        } else {
            for (unsigned i = 0; i < bytes; i += piece)
                memcpy(value + i, local_byte(w, lane, off[lane] + i), piece);
            load_lane(w, in, lane, value);
        }
    }
    w->grid->memory_version += changed;
}

/* ---- handlers ---- */
static inline void order(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                         uint32_t lanes, bool store)
{
    if ((in->flags & INSN_FLAG_STRONG) && w->block->shadow)
        lane_order(w, in, addr, lanes, store ? ACCESS_WRITE : ACCESS_READ);
}
static void op_ld_global(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t addr[WARP_LANES];
    addresses(w, in, 0, addr);
    load_global(w, in, lanes, addr);
    order(w, in, addr, lanes, false);
}
static void op_st_global(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t addr[WARP_LANES];
    addresses(w, in, 0, addr);
    order(w, in, addr, lanes, true);
    store_global(w, in, lanes, addr);
}
static void op_ld_shared(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t off[WARP_LANES] __attribute__((aligned(64)));
    if (shared_offsets(w, in, lanes, off)) {
        shared_load(w, in, lanes, off);
        return;
    }
    uint64_t off64[WARP_LANES];
    addresses(w, in, SHARED_BASE, off64);
    order(w, in, off64, lanes, false);
    shared_access(w, in, lanes, off64, false);
}
static void op_st_shared(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t off[WARP_LANES] __attribute__((aligned(64)));
    if (shared_offsets(w, in, lanes, off)) {
        shared_store(w, in, lanes, off);
        return;
    }
    uint64_t off64[WARP_LANES];
    addresses(w, in, SHARED_BASE, off64);
    order(w, in, off64, lanes, true);
    shared_access(w, in, lanes, off64, true);
}
static void op_ld_local(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t off[WARP_LANES];
    addresses(w, in, 0, off);
    local_access(w, in, lanes, off, false);
}
static void op_st_local(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t off[WARP_LANES];
    addresses(w, in, 0, off);
    local_access(w, in, lanes, off, true);
}

/* Generic: the lanes of each space together. */
static inline void generic(struct warp *w, const struct insn *in, uint32_t lanes, bool store)
{
    uint64_t addr[WARP_LANES], off[WARP_LANES];
    uint32_t shared = 0, local = 0;

    addresses(w, in, 0, addr);
    FOR_LANES
    {
        shared |= (uint32_t)(lane_space(addr[lane]) == PTX_SPACE_SHARED) << lane;
        local |= (uint32_t)(lane_space(addr[lane]) == PTX_SPACE_LOCAL) << lane;
    }
    const uint32_t global = lanes & ~(shared | local);
    shared &= lanes;
    local &= lanes;
    if (shared) {
        FOR_LANES { off[lane] = addr[lane] - SHARED_WINDOW - SHARED_BASE; }
        order(w, in, off, shared, store);
        shared_access(w, in, shared, off, store);
    }
    if (local && !(w->event & (uint32_t)EVENT_STOP)) {
        FOR_LANES { off[lane] = addr[lane] - LOCAL_WINDOW; }
        local_access(w, in, local, off, store);
    }
    if (global && !(w->event & (uint32_t)EVENT_STOP)) {
        if (store)
            order(w, in, addr, global, true);
        if (store)
            store_global(w, in, global, addr);
        else
            load_global(w, in, global, addr);
        if (!store)
            order(w, in, addr, global, false);
    }
}
static void op_ld_generic(struct warp *w, const struct insn *in, uint32_t lanes)
{
    generic(w, in, lanes, false);
}
static void op_st_generic(struct warp *w, const struct insn *in, uint32_t lanes)
{
    generic(w, in, lanes, true);
}

static void op_ld_const(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t addr[WARP_LANES];
    unsigned char *host[WARP_LANES];
    const unsigned bytes = bytes_of(in);

    addresses(w, in, 0, addr);
    if (lane_global(w, in, addr, lanes, bytes, ACCESS_CONST, host))
        return;
    if (counting(w)) {
        w->grid->counts.const_req++;
        w->grid->counts.const_distinct += lane_distinct_words(addr, lanes, bytes);
    }
    FOR_EACH_LANE(lane, lanes) { load_lane(w, in, lane, host[lane]); }
}

/* A kernel parameter at a fixed offset: one value for all lanes. */
static void op_ld_param(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const unsigned bytes = bytes_of(in);
    const uint64_t offset = (uint64_t)in->imm, size = w->grid->func->param_size;

    if (offset > size || bytes > size - offset) {
        lane_param_fault(w, in, lanes, offset, bytes);
        return;
    }
    const uint32_t *slots = value_slots(w, in, &in->d);
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    for (unsigned i = 0; i < in->vec; i++) {
        if (slots[i] == ~0u)
            continue;
        load_element(w, in, slots[i], first, w->grid->params + offset + i * in->width);
        if (in->width == 8) {
            lane_u64 *pd = SLOT(lane_u64, w, slots[i]);
            const uint64_t x = pd[first];
            LANE_LOOP FOR_LANES { pd[lane] = (lanes >> lane & 1) != 0 ? x : pd[lane]; }
        } else {
            lane_u32 *pd = SLOT(lane_u32, w, slots[i]);
            const uint32_t x = pd[first];
            LANE_LOOP FOR_LANES { pd[lane] = (lanes >> lane & 1) != 0 ? x : pd[lane]; }
        }
    }
}
/* The same with offsets in a register. */
static void op_ld_param_at(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const unsigned bytes = bytes_of(in);
    const uint64_t size = w->grid->func->param_size;
    uint64_t offset[WARP_LANES];

    addresses(w, in, 0, offset);
    FOR_EACH_LANE(lane, lanes)
    {
        if (offset[lane] > size || bytes > size - offset[lane] || offset[lane] % bytes != 0) {
            lane_param_fault(w, in, 1u << lane, offset[lane], bytes);
            return;
        }
    }
    FOR_EACH_LANE(lane, lanes) { load_lane(w, in, lane, w->grid->params + offset[lane]); }
}
/* Parameters of calls: an area in the frame, in->target bytes per lane. */
static void op_ld_area(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const unsigned char *area = w->regs + in->e + in->imm;
    FOR_EACH_LANE(lane, lanes) { load_lane(w, in, lane, area + (size_t)lane * in->target); }
}
static void op_st_area(struct warp *w, const struct insn *in, uint32_t lanes)
{
    unsigned char *area = w->regs + in->e + in->imm;
    FOR_EACH_LANE(lane, lanes) { value_lane(w, in, lane, area + (size_t)lane * in->target); }
}

/* cvta.param: parameters are generic at the copy that the launch placed in device memory. op: back
 * to the parameter space. */
static void op_cvta_param(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint64_t add = in->op ? 0 - w->grid->param_address : w->grid->param_address;
    const lane_u64 *pa = SLOT(lane_u64, w, in->a);
    lane_u64 *pd = SLOT(lane_u64, w, in->d);
    FOR_EACH_LANE(lane, lanes) { pd[lane] = pa[lane] + add; }
}
static void op_isspacep(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const lane_u64 *pa = SLOT(lane_u64, w, in->a);
    uint32_t mask = 0;
    FOR_EACH_LANE(lane, lanes)
    {
        const enum ptx_space of = lane_space(pa[lane]);
        bool yes = of == (enum ptx_space)in->op;
        if (of == PTX_SPACE_GLOBAL) {
            bool inside;
            const struct alloc *a = mem_find(&w->grid->device->space, pa[lane], &inside);
            const bool constant = a && inside && a->kind == ALLOC_CONST_VAR;
            const bool param = w->grid->param_address != 0 &&
                               pa[lane] - w->grid->param_address < w->grid->func->param_size;
            if (in->op == PTX_SPACE_CONST)
                yes = constant;
            else if (in->op == PTX_SPACE_PARAM)
                yes = param;
            else
                yes = in->op == PTX_SPACE_GLOBAL && !constant && !param;
        }
        mask |= (uint32_t)yes << lane;
    }
    w->preds[in->d] = (w->preds[in->d] & ~lanes) | mask;
}

extern op_fn *const ISA_NAME(exec_mem_ops)[OP_COUNT];
op_fn *const ISA_NAME(exec_mem_ops)[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_mem.def"
#undef X
};

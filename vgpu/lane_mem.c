/*
 * lane_mem.c - memory accesses one lane at a time: which lanes are at fault and why, access on
 * behalf of other handlers, local memory. The paths of whole warps are in exec_mem.c. Invariant:
 * one finding for each cause in an instruction, at its first lane.
 */
#include "lane_mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- global ---- */
static bool is_null(uint64_t address) { return address < 4096; }

/* Why [address, address + bytes) may not be accessed; FAULT_COUNT when it may. */
static enum fault_kind judge(const struct space *s, uint64_t address, unsigned bytes,
                             enum access how, unsigned char **host)
{
    bool inside;
    const struct alloc *a = mem_find(s, address, &inside);

    if (how == ACCESS_CONST &&
        (!a || !inside || a->kind != ALLOC_CONST_VAR || bytes > a->size - (address - a->addr)))
        return FAULT_CONST_OOB;
    if (a && inside && a->live && bytes <= a->size - (address - a->addr)) {
        if (address % bytes != 0)
            return FAULT_MISALIGNED;
        if ((how == ACCESS_WRITE || how == ACCESS_ATOMIC) && a->kind == ALLOC_CONST_VAR)
            return FAULT_WRITE_READONLY;
        *host = a->host + (address - a->addr);
        return FAULT_COUNT;
    }
    if (is_null(address))
        return FAULT_NULL_ACCESS;
    if (a && inside && !a->live)
        return FAULT_USE_AFTER_FREE;
    if (a && !inside && !a->live) { /* the red zone behind freed memory */
        const uint64_t past = address - a->addr;
        if (past >= a->size && past - a->size < RED_ZONE)
            return FAULT_USE_AFTER_FREE;
    }
    if (address % bytes != 0)
        return FAULT_MISALIGNED;
    if (!a && (address < GLOBAL_BASE || address >= LOCAL_WINDOW + WINDOW_SPAN) &&
        address < (1ull << 47))
        return FAULT_HOST_POINTER;
    return how == ACCESS_READ    ? FAULT_GLOBAL_READ_OOB
           : how == ACCESS_WRITE ? FAULT_GLOBAL_WRITE_OOB
                                 : FAULT_GLOBAL_ATOMIC_OOB;
}

uint32_t lane_global(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                     uint32_t lanes, unsigned bytes, enum access how,
                     unsigned char *host[WARP_LANES])
{
    const struct space *s = &w->grid->device->space;
    uint32_t bad = 0, by_kind[FAULT_COUNT] = {0};

    FOR_EACH_LANE(lane, lanes)
    {
        const enum fault_kind kind = judge(s, addr[lane], bytes, how, &host[lane]);
        if (kind == FAULT_COUNT)
            continue;
        by_kind[kind] |= 1u << lane;
        bad |= 1u << lane;
    }
    for (int kind = 0; bad && kind < FAULT_COUNT; kind++) {
        if (!by_kind[kind])
            continue;
        const uint32_t first = (uint32_t)__builtin_ctz(by_kind[kind]);
        exec_fault(w, in, (enum fault_kind)kind, first, addr[first], bytes,
                   (uint32_t)__builtin_popcount(by_kind[kind]));
    }
    return bad;
}

void lane_uninit(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                 uint32_t lanes, unsigned bytes)
{
    uint32_t bad = 0;
    uint64_t where[WARP_LANES] = {0};

    FOR_EACH_LANE(lane, lanes)
    {
        bool inside;
        uint64_t first;
        const struct alloc *a = mem_find(&w->grid->device->space, addr[lane], &inside);
        if (!a || !inside || mem_is_init(a, addr[lane] - a->addr, bytes, &first))
            continue;
        where[lane] = a->addr + first;
        bad |= 1u << lane;
    }
    if (!bad)
        return;
    const uint32_t lane = (uint32_t)__builtin_ctz(bad);
    struct finding f = {.kind = FAULT_GLOBAL_UNINIT,
                        .grid = w->grid,
                        .at = exec_place(w, in, lane),
                        .address = where[lane],
                        .width = bytes,
                        .lanes = (uint32_t)__builtin_popcount(bad)};
    f.alloc = mem_find(&w->grid->device->space, where[lane], &f.alloc_inside);
    report_finding(&w->grid->device->report, &f);
}

/* ---- faults with a text of their own ---- */
static void fault_with_text(struct warp *w, const struct insn *in, enum fault_kind kind,
                            uint32_t lane, uint64_t address, unsigned bytes, uint32_t lanes,
                            const char *detail)
{
    struct finding f = {.kind = kind,
                        .grid = w->grid,
                        .at = exec_place(w, in, lane),
                        .address = address,
                        .width = bytes,
                        .lanes = (uint32_t)__builtin_popcount(lanes)};
    const int code = fault_cuda_error(kind);

    snprintf(f.detail, sizeof f.detail, "%s", detail);
    report_finding(&w->grid->device->report, &f);
    if (w->grid->error == 0)
        w->grid->error = code ? code : 719;
    w->event |= EVENT_STOP;
}

/* The static shared variable that lies nearest below an offset; NULL when there is none. */
static const struct ptx_var *shared_variable(const struct ptx_func *f, uint64_t offset)
{
    const struct ptx_var *best = NULL;

    for (uint32_t pass = 0; pass < 2; pass++) {
        struct ptx_var *const *vars = pass ? f->module->vars : f->vars;
        const uint32_t count = pass ? f->module->var_count : f->var_count;
        for (uint32_t i = 0; i < count; i++) {
            const struct ptx_var *v = vars[i];
            if (v->space == PTX_SPACE_SHARED && !v->is_extern && v->offset <= offset &&
                (!best || v->offset > best->offset))
                best = v;
        }
    }
    return best;
}

/* The variable's own name: the last component of a mangled one, as in _ZZ4gemmPKfS0_PfiiiE1a. */
static void variable_name(const struct ptx_var *v, char *out, size_t size)
{
    const char *name = v->name;

    if (strncmp(name, "_ZZ", 3) == 0) {
        for (const char *p = name + strlen(name); p > name + 3; p--) {
            char *end;
            if (p[-1] != 'E' || *p < '1' || *p > '9')
                continue;
            const unsigned long n = strtoul(p, &end, 10);
            if (n > 0 && n <= strlen(end)) {
                snprintf(out, size, "%.*s", (int)n, end);
                return;
            }
        }
    }
    snprintf(out, size, "%s", name);
}

void lane_shared_name(const struct warp *w, uint32_t offset, char *out, size_t size)
{
    const struct ptx_var *v = shared_variable(w->grid->func, offset);
    char name[64];

    if (!v || offset >= v->offset + v->size) {
        if (offset >= w->grid->program->shared_static && w->grid->dynamic_shared > 0)
            snprintf(out, size, "byte %u of dynamic shared memory",
                     offset - (w->block->shared_size - w->grid->dynamic_shared));
        else
            snprintf(out, size, "byte %u of shared memory", offset);
        return;
    }
    variable_name(v, name, sizeof name);
    snprintf(out, size, "byte %u of '%s'", offset - (uint32_t)v->offset, name);
}

void lane_shared_fault(struct warp *w, const struct insn *in, const uint64_t offset[WARP_LANES],
                       uint32_t lanes, unsigned bytes)
{
    const uint64_t size = w->block->shared_size;
    uint32_t beyond = 0, crooked = 0;
    char detail[200];

    FOR_EACH_LANE(lane, lanes)
    {
        if (offset[lane] > size || bytes > size - offset[lane])
            beyond |= 1u << lane;
        else if (offset[lane] & (bytes - 1))
            crooked |= 1u << lane;
    }
    if (beyond) {
        const uint32_t lane = (uint32_t)__builtin_ctz(beyond);
        if ((int64_t)offset[lane] < 0)
            snprintf(detail, sizeof detail,
                     "%" PRIu64 " bytes before the start of the block's shared memory (%" PRIu64
                     " bytes)",
                     0 - offset[lane], size);
        else
            snprintf(detail, sizeof detail,
                     "%" PRIu64 " bytes past the end of the block's shared memory (%" PRIu64
                     " bytes)",
                     offset[lane] - size, size);
        fault_with_text(w, in, FAULT_SHARED_OOB, lane, offset[lane] + SHARED_BASE, bytes, beyond,
                        detail);
    }
    if (crooked) {
        const uint32_t lane = (uint32_t)__builtin_ctz(crooked);
        snprintf(detail, sizeof detail,
                 "an access of %u bytes to shared memory needs an address that is a multiple of %u",
                 bytes, bytes);
        fault_with_text(w, in, FAULT_MISALIGNED, lane, offset[lane] + SHARED_BASE, bytes, crooked,
                        detail);
    }
}

void lane_local_fault(struct warp *w, const struct insn *in, const uint64_t offset[WARP_LANES],
                      uint32_t lanes, unsigned bytes)
{
    const uint64_t size = lane_local_limit(w);
    uint32_t beyond = 0, crooked = 0;
    char detail[200];

    FOR_EACH_LANE(lane, lanes)
    {
        if (offset[lane] > size || bytes > size - offset[lane])
            beyond |= 1u << lane;
        else if (offset[lane] & (bytes - 1))
            crooked |= 1u << lane;
    }
    if (beyond) {
        const uint32_t lane = (uint32_t)__builtin_ctz(beyond);
        snprintf(detail, sizeof detail,
                 "offset %" PRId64 " of the thread's %" PRIu64 " bytes of local memory",
                 (int64_t)offset[lane], size);
        fault_with_text(w, in, FAULT_LOCAL_OOB, lane, offset[lane] + LOCAL_WINDOW, bytes, beyond,
                        detail);
    }
    if (crooked) {
        const uint32_t lane = (uint32_t)__builtin_ctz(crooked);
        snprintf(detail, sizeof detail,
                 "an access of %u bytes to local memory needs an address that is a multiple of %u",
                 bytes, bytes);
        fault_with_text(w, in, FAULT_MISALIGNED, lane, offset[lane] + LOCAL_WINDOW, bytes, crooked,
                        detail);
    }
}

void lane_local_atomic(struct warp *w, const struct insn *in, const uint64_t offset[WARP_LANES],
                       uint32_t lanes)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(lanes);

    fault_with_text(w, in, FAULT_LOCAL_OOB, lane, offset[lane] + LOCAL_WINDOW, in->width, lanes,
                    "atomics do not act on local memory");
}

void lane_param_fault(struct warp *w, const struct insn *in, uint32_t lanes, uint64_t offset,
                      unsigned bytes)
{
    char detail[120];

    snprintf(detail, sizeof detail, "%u bytes at offset %" PRId64 " of %u bytes of parameters",
             bytes, (int64_t)offset, w->grid->func->param_size);
    fault_with_text(w, in, FAULT_PARAM_OOB, (uint32_t)__builtin_ctz(lanes), 0, bytes, lanes,
                    detail);
}

void lane_overwritten(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                      uint32_t lanes, uint32_t lost)
{
    const uint32_t lane = (uint32_t)__builtin_ctz(lost);
    uint32_t won = lane;

    FOR_EACH_LANE(l, lanes & ~lost)
    {
        if (addr[l] == addr[lane])
            won = l;
    }
    const struct place other = exec_place(w, in, won);
    struct finding f = {.kind = FAULT_RACE_GLOBAL,
                        .grid = w->grid,
                        .at = exec_place(w, in, lane),
                        .address = addr[lane],
                        .width = in->width,
                        .lanes = (uint32_t)__builtin_popcount(lost),
                        .other = &other};
    f.alloc = mem_find(&w->grid->device->space, addr[lane], &f.alloc_inside);
    snprintf(f.detail, sizeof f.detail,
             "what thread (%u,%u,%u) wrote is there now; an atomic would keep both",
             other.thread[0], other.thread[1], other.thread[2]);
    report_finding(&w->grid->device->report, &f);
}

/* ---- local memory ---- */
bool lane_local_ready(struct warp *w, const struct insn *in)
{
    const uint32_t need = (lane_local_limit(w) + 15) & ~15u;

    if (need <= w->local_size)
        return true;
    unsigned char *grown = realloc(w->local, (size_t)need * WARP_LANES);
    if (!grown) {
        exec_fault_text(w, in, FAULT_STACK_OVERFLOW, (uint32_t)__builtin_ctz(w->active),
                        "the machine has no memory left for local memory");
        return false;
    }
    /* Interleaved by words: the old part keeps its place. */
    for (size_t i = (size_t)w->local_size * WARP_LANES; i < (size_t)need * WARP_LANES; i += 4)
        memcpy(grown + i, &(uint32_t){0x7fe5a5a5u}, 4); /* as fresh device memory */
    w->local = grown;
    if (w->grid->device->options.check_init) {
        const size_t before = (size_t)w->local_size / 4 * WARP_LANES,
                     after = (size_t)need / 4 * WARP_LANES;
        unsigned char *bits = realloc(w->local_init, after);
        if (bits)
            memset(bits + before, 0, after - before);
        else /* unchecked from here on */
            free(w->local_init);
        w->local_init = bits;
    }
    w->local_size = need;
    return true;
}

void lane_local_init(struct warp *w, const struct insn *in, uint32_t lanes,
                     const uint64_t offset[WARP_LANES], unsigned bytes, bool store)
{
    uint32_t never = 0;

    if (!w->local_init)
        return;
    FOR_EACH_LANE(lane, lanes)
    {
        unsigned char written = 0;
        for (uint64_t at = offset[lane]; at < offset[lane] + bytes; at++) {
            unsigned char *word = &w->local_init[(at >> 2) * WARP_LANES + lane];
            const unsigned char bit = (unsigned char)(1u << (at & 3));
            written |= *word & bit;
            *word = store ? (unsigned char)(*word | bit) : *word;
        }
        never |= (uint32_t)(written == 0) << lane;
    }
    if (store || !never)
        return;
    const uint32_t lane = (uint32_t)__builtin_ctz(never);
    struct finding f = {.kind = FAULT_LOCAL_UNINIT,
                        .grid = w->grid,
                        .at = exec_place(w, in, lane),
                        .address = LOCAL_WINDOW + offset[lane],
                        .width = bytes,
                        .lanes = (uint32_t)__builtin_popcount(never)};
    snprintf(f.detail, sizeof f.detail,
             "offset %" PRIu64 " of the thread's %u bytes of local memory", offset[lane],
             lane_local_limit(w));
    report_finding(&w->grid->device->report, &f);
}

/* ---- one lane, for other handlers ---- */
static unsigned char *local_byte(const struct warp *w, uint32_t lane, uint64_t offset)
{
    return w->local + ((offset >> 2) * WARP_LANES + lane) * 4 + (offset & 3);
}

/* Accesses n bytes at once when n is a power of two up to 16, else as bytes of one object. */
static bool one_lane(struct warp *w, const struct insn *in, enum ptx_space space, uint64_t address,
                     unsigned lane, unsigned char *bytes, unsigned n, enum access how)
{
    uint64_t at[WARP_LANES] = {0};
    const uint32_t mask = 1u << lane;
    const bool power = n <= 16 && (n & (n - 1)) == 0;

    if (space == PTX_SPACE_GENERIC) {
        space = lane_space(address);
        if (space == PTX_SPACE_SHARED)
            address -= SHARED_WINDOW;
        if (space == PTX_SPACE_LOCAL)
            address -= LOCAL_WINDOW;
    }
    if (space == PTX_SPACE_SHARED) {
        at[lane] = address - SHARED_BASE;
        const uint64_t size = w->block->shared_size;
        if (at[lane] > size || n > size - at[lane] || (power && at[lane] % n != 0)) {
            lane_shared_fault(w, in, at, mask, n);
            return false;
        }
        unsigned char *shared = w->block->shared + at[lane];
        if (w->block->shadow) {
            const unsigned piece = power ? n : 1;
            for (unsigned i = 0; i < n; i += piece) {
                uint32_t off[WARP_LANES] = {0};
                off[lane] = (uint32_t)at[lane] + i;
                if (how == ACCESS_READ)
                    shadow_access(w, in, off, mask, piece, SHADOW_READ);
                else {
                    unsigned char values[16 * WARP_LANES];
                    memcpy(values + lane * piece, bytes + i, piece);
                    shadow_store(w, in, off, mask, piece, SHADOW_WRITE, values);
                }
            }
        }
        if (how == ACCESS_READ)
            memcpy(bytes, shared, n);
        else
            memcpy(shared, bytes, n);
        return true;
    }
    if (space == PTX_SPACE_LOCAL) {
        at[lane] = address;
        const uint64_t size = lane_local_limit(w);
        if (address > size || n > size - address || (power && address % n != 0)) {
            lane_local_fault(w, in, at, mask, n);
            return false;
        }
        if (!lane_local_ready(w, in))
            return false;
        lane_local_init(w, in, mask, at, n, how != ACCESS_READ);
        for (unsigned i = 0; i < n; i++) {
            if (how == ACCESS_READ)
                bytes[i] = *local_byte(w, lane, address + i);
            else
                *local_byte(w, lane, address + i) = bytes[i];
        }
        return true;
    }
    if (how == ACCESS_READ && power && address % n == 0) { /* as the instruction's last access */
        struct mem_hint *h = &w->grid->hints[w->pc % MEM_HINTS];
        const unsigned char *from = mem_host_hint(&w->grid->device->space, address, n, h);
        if (from && !h->alloc->init) {
            memcpy(bytes, from, n);
            if (w->grid->device->options.counters)
                mem_touch(h->alloc, address, n);
            return true;
        }
    }
    unsigned char *host[WARP_LANES] = {NULL};
    const unsigned piece = power ? n : 1;
    for (unsigned i = 0; i < n; i += piece) {
        at[lane] = address + i;
        if (lane_global(w, in, at, mask, piece, how, host))
            return false;
        bool inside;
        struct alloc *a = mem_find(&w->grid->device->space, at[lane], &inside);
        if (how == ACCESS_READ) {
            if (w->grid->device->options.check_init)
                lane_uninit(w, in, at, mask, piece);
            memcpy(bytes + i, host[lane], piece);
        } else {
            memcpy(host[lane], bytes + i, piece);
            mem_mark_init(a, at[lane] - a->addr, piece);
        }
        if (w->grid->device->options.counters)
            mem_touch(a, at[lane], piece);
    }
    return true;
}

bool mem_lane_read(struct warp *w, const struct insn *in, enum ptx_space space, uint64_t address,
                   unsigned lane, void *to, unsigned n)
{
    return one_lane(w, in, space, address, lane, to, n, ACCESS_READ);
}

bool mem_lane_write(struct warp *w, const struct insn *in, enum ptx_space space, uint64_t address,
                    unsigned lane, const void *from, unsigned n)
{
    unsigned char copy[256];

    for (unsigned done = 0; done < n;) {
        const unsigned part = n - done < sizeof copy ? n - done : (unsigned)sizeof copy;
        memcpy(copy, (const unsigned char *)from + done, part);
        if (!one_lane(w, in, space, address + done, lane, copy, part, ACCESS_WRITE))
            return false;
        done += part;
    }
    w->grid->memory_version++;
    return true;
}

/* ---- order ---- */
void lane_order(struct warp *w, const struct insn *in, const uint64_t key[WARP_LANES],
                uint32_t lanes, enum access how)
{
    const bool acquires = in->rnd == ORDER_ACQUIRE || in->rnd == ORDER_ACQ_REL,
               releases = in->rnd == ORDER_RELEASE || in->rnd == ORDER_ACQ_REL;
    const bool reads = how != ACCESS_WRITE, writes = how != ACCESS_READ;
    uint64_t last = 0;
    bool any = false;

    FOR_EACH_LANE(lane, lanes)
    {
        if (any && key[lane] == last)
            continue; /* lanes mostly share one flag */
        any = true;
        last = key[lane];
        if (reads && acquires)
            shadow_acquire(w, lanes, last);
        if (writes && releases)
            shadow_release(w, lanes, last);
        if (!acquires && !releases)
            shadow_strong(w, lanes, last, reads, writes);
    }
}

unsigned lane_distinct_words(const uint64_t addr[WARP_LANES], uint32_t lanes, unsigned bytes)
{
    uint64_t seen[WARP_LANES * 8];
    unsigned count = 0;

    FOR_EACH_LANE(lane, lanes)
    {
        for (uint64_t word = addr[lane] / 4; word <= (addr[lane] + bytes - 1) / 4; word++) {
            unsigned i = 0;
            while (i < count && seen[i] != word)
                i++;
            if (i == count)
                seen[count++] = word;
        }
    }
    return count;
}

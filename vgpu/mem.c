/*
 * mem.c - the address map: a fixed reservation of device addresses, its storage mapped elsewhere,
 * and adopted host ranges. Checks no kernel access and reports nothing: exec_mem.c and cudart/ do.
 * Invariant: allocs[] is sorted by address and only grows; a freed range is never handed out again.
 */
#include "mem.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

/* What uninitialised device memory holds, little-endian words: a NaN as f32, f64 and bf16. */
static const unsigned char POISON[4] = {0xa5, 0xa5, 0xe5, 0x7f};

enum { PAGE = 4096, SECTOR = 32 };

static uint64_t round_up(uint64_t n, uint64_t to) { return (n + to - 1) / to * to; }

bool mem_open(struct space *s, uint64_t limit_bytes, bool init_bits)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

    *s = (struct space){
        .next = GLOBAL_BASE + ALLOC_ALIGN, .limit_bytes = limit_bytes, .init_bits = init_bits};
    /* Addresses without storage: host code that dereferences a device pointer faults at that very
     * address. */
    void *addresses = mmap((void *)(uintptr_t)GLOBAL_BASE, GLOBAL_SPAN, PROT_NONE,
                           flags | MAP_FIXED_NOREPLACE, -1, 0);
    if (addresses == MAP_FAILED)
        return false;
    if (addresses != (void *)(uintptr_t)GLOBAL_BASE) { /* kernels before 4.17 ignore the flag */
        munmap(addresses, GLOBAL_SPAN);
        return false;
    }
    s->storage = mmap(NULL, GLOBAL_SPAN, PROT_NONE, flags, -1, 0);
    if (s->storage == MAP_FAILED) {
        munmap(addresses, GLOBAL_SPAN);
        s->storage = NULL;
        return false;
    }
    return true;
}

void mem_close(struct space *s)
{
    if (!s->storage)
        return;
    for (size_t i = 0; i < s->alloc_count; i++) {
        free(s->allocs[i]->init);
        free(s->allocs[i]->touched);
        free(s->allocs[i]);
    }
    for (size_t i = 0; i < s->host_count; i++) {
        free(s->hosts[i]->touched);
        free(s->hosts[i]);
    }
    free(s->allocs);
    free(s->hosts);
    munmap(s->storage, GLOBAL_SPAN);
    munmap((void *)(uintptr_t)GLOBAL_BASE, GLOBAL_SPAN);
    *s = (struct space){0};
}

/* Inserts `a` into a list sorted by address; false when out of memory. */
static bool insert_sorted(struct alloc ***list, size_t *count, size_t *cap, struct alloc *a)
{
    if (*count == *cap) {
        const size_t larger = *cap ? *cap * 2 : 64;
        struct alloc **grown = realloc(*list, larger * sizeof(struct alloc *));

        if (!grown)
            return false;
        *list = grown;
        *cap = larger;
    }
    size_t at = *count;
    while (at > 0 && (*list)[at - 1]->addr > a->addr) {
        (*list)[at] = (*list)[at - 1];
        at--;
    }
    (*list)[at] = a;
    (*count)++;
    return true;
}

static void fill_poison(unsigned char *to, uint64_t size)
{
    uint64_t done = size < sizeof POISON ? size : sizeof POISON;

    memcpy(to, POISON, done);
    while (done < size) {
        const uint64_t n = done < size - done ? done : size - done;
        memcpy(to + done, to, n);
        done += n;
    }
}

static bool starts_initialised(enum alloc_kind kind)
{
    return kind == ALLOC_GLOBAL_VAR || kind == ALLOC_CONST_VAR || kind == ALLOC_INTERNAL;
}

struct alloc *mem_alloc(struct space *s, uint64_t size, enum alloc_kind kind)
{
    const uint64_t addr = s->next;

    if (size > GLOBAL_SPAN || s->live_bytes + size > s->limit_bytes ||
        round_up(addr + size + RED_ZONE, ALLOC_ALIGN) >= GLOBAL_BASE + GLOBAL_SPAN)
        return NULL;
    struct alloc *a = calloc(1, sizeof *a);
    if (!a)
        return NULL;
    *a = (struct alloc){.addr = addr,
                        .size = size,
                        .host = s->storage + (addr - GLOBAL_BASE),
                        .kind = kind,
                        .live = true};
    if (s->init_bits && !starts_initialised(kind)) {
        a->init = calloc(1, size / 8 + BITMAP_SLACK);
        if (!a->init)
            goto fail;
    }
    const uint64_t first = (addr - GLOBAL_BASE) / PAGE * PAGE;
    const uint64_t end = round_up(addr - GLOBAL_BASE + (size ? size : 1), PAGE);
    if (mprotect(s->storage + first, end - first, PROT_READ | PROT_WRITE) != 0)
        goto fail;
    if (!insert_sorted(&s->allocs, &s->alloc_count, &s->alloc_cap, a))
        goto fail;
    if (!starts_initialised(kind)) /* those are zero already: fresh pages, never reused */
        fill_poison(a->host, size);
    a->ordinal = ++s->ordinals;
    s->next = round_up(addr + (size ? size : 1) + RED_ZONE, ALLOC_ALIGN);
    s->live_bytes += size;
    if (s->live_bytes > s->peak_bytes)
        s->peak_bytes = s->live_bytes;
    return a;
fail:
    free(a->init);
    free(a);
    return NULL;
}

struct alloc *mem_adopt_host(struct space *s, void *host, uint64_t size, enum alloc_kind kind)
{
    struct alloc *a = calloc(1, sizeof *a);

    if (!a)
        return NULL;
    *a = (struct alloc){
        .addr = (uint64_t)(uintptr_t)host, .size = size, .host = host, .kind = kind, .live = true};
    if (!insert_sorted(&s->hosts, &s->host_count, &s->host_cap, a)) {
        free(a);
        return NULL;
    }
    a->ordinal = ++s->ordinals;
    return a;
}

static uint64_t count_touched(struct alloc *a)
{
    uint64_t count = 0;

    if (!a->touched)
        return 0;
    for (uint64_t i = 0; i < a->size / SECTOR / 8 + BITMAP_SLACK; i++)
        count += (unsigned)__builtin_popcount(a->touched[i]);
    free(a->touched);
    a->touched = NULL;
    return count;
}

void mem_free(struct space *s, struct alloc *a, uint64_t launch)
{
    a->live = false;
    a->freed_launch = launch;
    s->touched_freed += count_touched(a);
    if (a->addr < GLOBAL_BASE || a->addr >= GLOBAL_BASE + GLOBAL_SPAN) {
        /* Host memory may be handed out again by malloc: forget it. */
        size_t at = 0;
        while (at < s->host_count && s->hosts[at] != a)
            at++;
        assert(at < s->host_count);
        memmove(&s->hosts[at], &s->hosts[at + 1], (s->host_count - at - 1) * sizeof *s->hosts);
        s->host_count--;
        free(a);
        return;
    }
    s->live_bytes -= a->size;
    free(a->init);
    a->init = NULL;
    /* Whole pages go back to the system; edge pages may hold neighbours. */
    const uint64_t first = round_up(a->addr - GLOBAL_BASE, PAGE);
    const uint64_t end = (a->addr - GLOBAL_BASE + a->size) / PAGE * PAGE;
    if (end > first)
        madvise(s->storage + first, end - first, MADV_DONTNEED);
}

bool mem_revive(struct space *s, struct alloc *a)
{
    if (s->live_bytes + a->size > s->limit_bytes)
        return false;
    if (s->init_bits) {
        a->init = calloc(1, a->size / 8 + BITMAP_SLACK);
        if (!a->init)
            return false;
    }
    a->live = true;
    s->live_bytes += a->size;
    if (s->live_bytes > s->peak_bytes)
        s->peak_bytes = s->live_bytes;
    fill_poison(a->host, a->size);
    return true;
}

/* Index of the last entry with addr <= address, or count when there is none. */
static size_t last_at_or_before(struct alloc *const *list, size_t count, uint64_t address)
{
    size_t low = 0, high = count;

    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (list[mid]->addr <= address)
            low = mid + 1;
        else
            high = mid;
    }
    return low == 0 ? count : low - 1;
}

static bool holds(const struct alloc *a, uint64_t address)
{
    return address >= a->addr && address - a->addr < a->size;
}

struct alloc *mem_find(const struct space *s, uint64_t address, bool *inside)
{
    size_t at = last_at_or_before(s->hosts, s->host_count, address);

    *inside = true;
    if (at < s->host_count && holds(s->hosts[at], address))
        return s->hosts[at];
    at = last_at_or_before(s->allocs, s->alloc_count, address);
    if (at < s->alloc_count && holds(s->allocs[at], address))
        return s->allocs[at];
    *inside = false;
    if (s->alloc_count == 0 || address < GLOBAL_BASE || address >= GLOBAL_BASE + GLOBAL_SPAN)
        return NULL;
    if (at == s->alloc_count)
        return s->allocs[0];
    /* Between two: the nearer edge. */
    if (at + 1 < s->alloc_count &&
        s->allocs[at + 1]->addr - address < address - (s->allocs[at]->addr + s->allocs[at]->size))
        return s->allocs[at + 1];
    return s->allocs[at];
}

unsigned char *mem_host(const struct space *s, uint64_t address, uint64_t n, struct alloc **hint)
{
    struct alloc *a = hint ? *hint : NULL;

    if (!a || !a->live || address < a->addr || address - a->addr > a->size ||
        n > a->size - (address - a->addr)) {
        bool inside;
        a = mem_find(s, address, &inside);
        if (!a || !inside || !a->live || n > a->size - (address - a->addr))
            return NULL;
        if (hint)
            *hint = a;
    }
    return a->host + (address - a->addr);
}

unsigned char *mem_host_refill(const struct space *s, uint64_t address, uint64_t n,
                               struct mem_hint *h)
{
    struct alloc *a = NULL;
    unsigned char *host = mem_host(s, address, n, &a);

    if (host)
        *h = (struct mem_hint){.alloc = a,
                               .addr = a->addr,
                               .size = a->size,
                               .host = a->host,
                               .last = h->last,
                               .step = h->step};
    return host;
}

void mem_touch(struct alloc *a, uint64_t address, uint64_t n)
{
    if (!a->touched) {
        /* Pinned memory need not start at a sector: one more at either end. */
        a->touched = calloc(1, a->size / SECTOR / 8 + BITMAP_SLACK);
        if (!a->touched)
            return; /* the count is short; nothing else depends on it */
    }
    const uint64_t base = a->addr / SECTOR, first = address / SECTOR - base;
    const uint64_t last = (address + n - 1) / SECTOR - base;
    for (uint64_t sector = first; sector <= last; sector++)
        a->touched[sector / 8] |= (unsigned char)(1u << sector % 8);
}

uint64_t mem_touched_sectors(struct space *s)
{
    uint64_t count = s->touched_freed;

    s->touched_freed = 0;
    for (size_t i = 0; i < s->alloc_count; i++)
        count += count_touched(s->allocs[i]);
    for (size_t i = 0; i < s->host_count; i++)
        count += count_touched(s->hosts[i]);
    return count;
}

void mem_mark_init(struct alloc *a, uint64_t offset, uint64_t n)
{
    if (!a->init || n == 0)
        return;
    if (offset == 0 && n == a->size) { /* all of it: nothing to look up from now on */
        free(a->init);
        a->init = NULL;
        return;
    }
    uint64_t bit = offset;
    const uint64_t end = offset + n;
    while (bit < end && bit % 8 != 0) {
        a->init[bit / 8] |= (unsigned char)(1u << bit % 8);
        bit++;
    }
    if (end - bit >= 8) {
        memset(a->init + bit / 8, 0xff, (end - bit) / 8);
        bit += (end - bit) / 8 * 8;
    }
    while (bit < end) {
        a->init[bit / 8] |= (unsigned char)(1u << bit % 8);
        bit++;
    }
}

bool mem_is_init(const struct alloc *a, uint64_t offset, uint64_t n, uint64_t *first_bad)
{
    if (!a->init)
        return true;
    for (uint64_t bit = offset; bit < offset + n;) {
        if (bit % 8 == 0 && offset + n - bit >= 8 && a->init[bit / 8] == 0xff) {
            bit += 8;
            continue;
        }
        if ((a->init[bit / 8] >> bit % 8 & 1) == 0) {
            if (first_bad)
                *first_bad = bit;
            return false;
        }
        bit++;
    }
    return true;
}

void mem_copy_init(struct alloc *dst, uint64_t dst_off, const struct alloc *src, uint64_t src_off,
                   uint64_t n)
{
    if (!dst->init)
        return;
    if (!src->init) {
        mem_mark_init(dst, dst_off, n);
        return;
    }
    uint64_t i = 0;
    if (dst_off % 8 ==
        src_off % 8) { /* byte-wise once both are aligned; memmove: the ranges may overlap */
        while (i < n && (dst_off + i) % 8 != 0) {
            const unsigned bit = src->init[(src_off + i) / 8] >> (src_off + i) % 8 & 1u;
            unsigned char *to = &dst->init[(dst_off + i) / 8];
            *to = (unsigned char)((*to & ~(1u << (dst_off + i) % 8)) | bit << (dst_off + i) % 8);
            i++;
        }
        memmove(dst->init + (dst_off + i) / 8, src->init + (src_off + i) / 8, (n - i) / 8);
        i += (n - i) / 8 * 8;
    }
    for (; i < n; i++) {
        const unsigned bit = src->init[(src_off + i) / 8] >> (src_off + i) % 8 & 1u;
        unsigned char *to = &dst->init[(dst_off + i) / 8];
        *to = (unsigned char)((*to & ~(1u << (dst_off + i) % 8)) | bit << (dst_off + i) % 8);
    }
}

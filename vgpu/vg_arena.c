/*
 * vg_arena.c - bump allocator of the virtual GPU: chunks that double up to a limit, zeroed, freed
 * all at once. Frees nothing singly and is not locked; whoever owns the arena serialises.
 * Invariant: every block is 64-byte aligned inside its chunk.
 */
#include "vg_arena.h"

#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK_ALIGN = 64, CHUNK_MIN = 16 * 1024, CHUNK_MAX = 1024 * 1024 };

struct vg_chunk {
    struct vg_chunk *next;
    size_t used, size; /* of the bytes that follow the header */
};

/* Bytes of a chunk in front of its first block; keeps the blocks aligned. */
enum { HEADER_SIZE = BLOCK_ALIGN };

/* Test hook only, the one mutable object here: allocations left until one fails, 0 when off. */
static _Atomic long fail_countdown;

void vg_fail_nth(long n) { atomic_store(&fail_countdown, n > 0 ? n : 0); }

static int fail_now(void)
{
    if (atomic_load_explicit(&fail_countdown, memory_order_relaxed) == 0)
        return 0;
    return atomic_fetch_sub(&fail_countdown, 1) == 1;
}

static struct vg_chunk *chunk_new(size_t size)
{
    if (size > SIZE_MAX - HEADER_SIZE - BLOCK_ALIGN)
        return NULL;
    const size_t total = (HEADER_SIZE + size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    struct vg_chunk *c = aligned_alloc(BLOCK_ALIGN, total);

    if (!c)
        return NULL;
    memset(c, 0, total);
    c->size = total - HEADER_SIZE;
    return c;
}

void *vg_alloc(struct vg_arena *a, size_t size)
{
    if (fail_now() || size > SIZE_MAX - BLOCK_ALIGN)
        return NULL;
    const size_t need = (size + BLOCK_ALIGN - 1) / BLOCK_ALIGN * BLOCK_ALIGN;
    struct vg_chunk *c = a->head;

    if (!c || c->size - c->used < need) {
        size_t next = c ? c->size * 2 : CHUNK_MIN;
        if (next > CHUNK_MAX)
            next = CHUNK_MAX;
        struct vg_chunk *fresh = chunk_new(need > next ? need : next);
        if (!fresh)
            return NULL;
        if (c && need > next) { /* a large block gets its own chunk behind the one being filled */
            fresh->next = c->next;
            c->next = fresh;
        } else {
            fresh->next = c;
            a->head = fresh;
        }
        c = fresh;
    }
    unsigned char *p = (unsigned char *)c + HEADER_SIZE + c->used;
    c->used += need;
    return p;
}

void *vg_array(struct vg_arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return vg_alloc(a, count * size);
}

char *vg_strndup(struct vg_arena *a, const char *s, size_t n)
{
    char *copy = n == SIZE_MAX ? NULL : vg_alloc(a, n + 1);

    if (copy)
        memcpy(copy, s, n);
    return copy;
}

char *vg_printf(struct vg_arena *a, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    char *s = n < 0 ? NULL : vg_alloc(a, (size_t)n + 1);
    if (s)
        vsnprintf(s, (size_t)n + 1, fmt, again);
    va_end(again);
    return s;
}

void vg_arena_free(struct vg_arena *a)
{
    struct vg_chunk *c = a->head;

    while (c) {
        struct vg_chunk *next = c->next;
        free(c);
        c = next;
    }
    a->head = NULL;
}

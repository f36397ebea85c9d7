/*
 * arena.c - chunks of at least 16 KiB in a list, filled front to back.
 * Never reuses memory. Invariant: every block starts at a multiple of 16.
 */
#include "arena.h"

#include "xalloc.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define ARENA_ALIGN 16u
#define ARENA_CHUNK (16u * 1024u) /* holds a small problem; larger requests get their own chunk */

struct arena_chunk {
    struct arena_chunk *next;
    size_t used, size;                           /* bytes of data[] */
    _Alignas(ARENA_ALIGN) unsigned char data[1]; /* `size` bytes follow */
};

static struct arena_chunk *chunk_new(size_t size)
{
    const size_t head = offsetof(struct arena_chunk, data);

    if (size > SIZE_MAX - head)
        return NULL;
    return xalloc(head + size);
}

void *arena_alloc(struct arena *a, size_t size)
{
    struct arena_chunk *c = a->head;
    void *block = NULL;

    if (size == 0)
        size = 1;
    if (size > SIZE_MAX - ARENA_ALIGN)
        return NULL;
    size = (size + ARENA_ALIGN - 1) & ~(size_t)(ARENA_ALIGN - 1);

    if (!c || c->size - c->used < size) {
        const size_t room = size > ARENA_CHUNK ? size : ARENA_CHUNK;
        struct arena_chunk *fresh = chunk_new(room);

        if (!fresh)
            return NULL;
        fresh->size = room;
        if (c && room > ARENA_CHUNK) { /* keep filling the old chunk: go in behind it */
            fresh->next = c->next;
            c->next = fresh;
        } else {
            fresh->next = c;
            a->head = fresh;
        }
        c = fresh;
    }
    block = c->data + c->used;
    c->used += size;
    return block;
}

void *arena_array(struct arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    return arena_alloc(a, count * size);
}

char *arena_strdup(struct arena *a, const char *s) { return arena_strndup(a, s, SIZE_MAX); }

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
    const size_t len = strnlen(s, n);
    char *copy = len == SIZE_MAX ? NULL : arena_alloc(a, len + 1);

    if (copy)
        memcpy(copy, s, len); /* arena_alloc cleared the terminator */
    return copy;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap;
    char *text = NULL;
    int len;

    va_start(ap, fmt);
    len = vsnprintf(NULL, 0, fmt, ap);
    va_end(ap);
    if (len < 0)
        return NULL;
    text = arena_alloc(a, (size_t)len + 1);
    if (!text)
        return NULL;
    va_start(ap, fmt);
    (void)vsnprintf(text, (size_t)len + 1, fmt, ap);
    va_end(ap);
    return text;
}

void arena_fini(struct arena *a)
{
    struct arena_chunk *c = a->head;

    while (c) {
        struct arena_chunk *next = c->next;

        xfree(c);
        c = next;
    }
    a->head = NULL;
}

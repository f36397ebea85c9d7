/*
 * arena.h - bump allocator: one per unit of life (a loaded problem, a run, a report).
 * Nothing in an arena is freed singly. Invariant: pointers stay valid until arena_fini.
 */
#ifndef HARNESS_ARENA_H
#define HARNESS_ARENA_H

#include <stdarg.h>
#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *head; /* newest first; {0} is a valid empty arena */
};

void *arena_alloc(struct arena *a, size_t size);               /* zeroed, 16-byte aligned; NULL when out of memory */
void *arena_array(struct arena *a, size_t count, size_t size); /* checked product */
char *arena_strdup(struct arena *a, const char *s);
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void arena_fini(struct arena *a); /* accepts the empty value */

#endif

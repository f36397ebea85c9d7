/*
 * arena.h - bump allocator: one per unit of life (a loaded problem, a run, a report).
 * Nothing in an arena is freed singly. Invariant: pointers stay valid until arena_fini.
 */
#ifndef HARNESS_ARENA_H
#define HARNESS_ARENA_H

#include <stddef.h>

struct arena_chunk;
struct arena {
    struct arena_chunk *head; /* newest first; {0} is a valid empty arena */
};

/* Zeroed, aligned to 16 bytes; NULL when out of memory. size 0 gives a valid unique pointer. */
void *arena_alloc(struct arena *a, size_t size);
/* As arena_alloc for count * size bytes; NULL also when the product overflows. */
void *arena_array(struct arena *a, size_t count, size_t size);
char *arena_strdup(struct arena *a, const char *s);
/* Copies at most n bytes of s, stops at its NUL, terminates the copy. */
char *arena_strndup(struct arena *a, const char *s, size_t n);
char *arena_printf(struct arena *a, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Gives everything back; accepts the empty value and leaves it. */
void arena_fini(struct arena *a);

#endif

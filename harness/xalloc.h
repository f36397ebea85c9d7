/*
 * xalloc.h - the one way to ask for heap memory in both programs.
 * Never exits: a refusal is NULL and the caller's STATUS_NOMEM. Invariant: products are checked.
 */
#ifndef HARNESS_XALLOC_H
#define HARNESS_XALLOC_H

#include <stdbool.h>
#include <stddef.h>

/* Zeroed memory of `size` bytes (at least 1), or NULL. Give back with xfree. */
void *xalloc(size_t size);
/* Zeroed memory for `count` objects of `size` bytes; NULL also when the product overflows. */
void *xalloc_array(size_t count, size_t size);
/* Resizes; the contents up to the smaller size are kept, new bytes are not cleared. On NULL the old
 * block is untouched. */
void *xrealloc(void *p, size_t size);
/* Copy of `s`, or NULL. */
char *xstrdup(const char *s);
/* Accepts NULL. */
void xfree(void *p);
/* Asked before each allocation; true makes it fail. Weak and always false in the programs; a test
 * program defines its own to walk the cleanup paths. */
bool xalloc_refuses(size_t size);

#endif

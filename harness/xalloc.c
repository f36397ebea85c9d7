/*
 * xalloc.c - heap memory with a hook that lets tests fail any chosen allocation.
 * Keeps no state of its own.
 */
#include "xalloc.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

__attribute__((weak)) bool xalloc_refuses(size_t size)
{
    (void)size;
    return false;
}

void *xalloc(size_t size) { return xalloc_array(1, size); }

void *xalloc_array(size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / size)
        return NULL;
    if (xalloc_refuses(count * size))
        return NULL;
    if (count == 0 || size == 0)
        count = size = 1;
    return calloc(count, size);
}

void *xrealloc(void *p, size_t size)
{
    if (xalloc_refuses(size))
        return NULL;
    return realloc(p, size ? size : 1);
}

char *xstrdup(const char *s)
{
    const size_t n = strlen(s) + 1;
    char *copy = xalloc(n);

    if (copy)
        memcpy(copy, s, n);
    return copy;
}

void xfree(void *p) { free(p); }

/*
 * keyhash.h - XXH3-128 as hex text: names of cache entries. Not a security boundary.
 */
#ifndef HARNESS_KEYHASH_H
#define HARNESS_KEYHASH_H

#include <stddef.h>

#define KEYHASH_SIZE 33 /* 32 hex digits and a NUL */

void keyhash_hex(char out[KEYHASH_SIZE], const void *data, size_t len);

#endif

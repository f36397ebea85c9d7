/*
 * keyhash.c - the one caller of xxhash.
 */
#include "keyhash.h"

#include <stdio.h>
#include <xxhash.h>

void keyhash_hex(char out[KEYHASH_SIZE], const void *data, size_t len)
{
    const XXH128_hash_t h = XXH3_128bits(data, len);

    (void)snprintf(out, KEYHASH_SIZE, "%016llx%016llx", (unsigned long long)h.high64,
                   (unsigned long long)h.low64);
}

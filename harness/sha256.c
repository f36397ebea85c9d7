/*
 * sha256.c - one-shot SHA-256 after FIPS 180-4, sections 5 and 6.2.
 */
#include "sha256.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define BLOCK 64u

/* First 32 bits of the fractional parts of the cube roots of the first 64 primes (section 4.2.2).
 */
static const uint32_t round_constant[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t rotate(uint32_t x, unsigned n) { return x >> n | x << (32 - n); }

static void compress(uint32_t h[8], const unsigned char *block)
{
    uint32_t w[64], s[8];

    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 |
               (uint32_t)block[4 * t + 2] << 8 | block[4 * t + 3];
    for (unsigned t = 16; t < 64; t++) {
        const uint32_t s0 = rotate(w[t - 15], 7) ^ rotate(w[t - 15], 18) ^ w[t - 15] >> 3;
        const uint32_t s1 = rotate(w[t - 2], 17) ^ rotate(w[t - 2], 19) ^ w[t - 2] >> 10;

        w[t] = w[t - 16] + s0 + w[t - 7] + s1;
    }
    memcpy(s, h, sizeof s);
    for (unsigned t = 0; t < 64; t++) {
        const uint32_t a = s[0], e = s[4];
        const uint32_t choose = (e & s[5]) ^ (~e & s[6]);
        const uint32_t majority = (a & s[1]) ^ (a & s[2]) ^ (s[1] & s[2]);
        const uint32_t t1 = s[7] + (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) + choose +
                            round_constant[t] + w[t];
        const uint32_t t2 = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) + majority;

        memmove(s + 1, s, 7 * sizeof s[0]);
        s[4] += t1;
        s[0] = t1 + t2;
    }
    for (unsigned i = 0; i < 8; i++)
        h[i] += s[i];
}

void sha256_hex(char out[65], const void *data, size_t len)
{
    uint32_t h[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                     0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    const unsigned char *p = data;
    unsigned char tail[2 * BLOCK] = {0};
    const uint64_t bits = (uint64_t)len * 8;
    size_t left = len;
    size_t padded;

    for (; left >= BLOCK; left -= BLOCK, p += BLOCK)
        compress(h, p);
    if (left)
        memcpy(tail, p, left);
    tail[left] = 0x80;
    padded = left + 9 <= BLOCK ? BLOCK : 2 * BLOCK; /* 9: the 0x80 and the length */
    for (unsigned i = 0; i < 8; i++)
        tail[padded - 1 - i] = (unsigned char)(bits >> 8 * i);
    for (size_t at = 0; at < padded; at += BLOCK)
        compress(h, tail + at);
    for (unsigned i = 0; i < 8; i++)
        (void)snprintf(out + 8 * (size_t)i, 9, "%08x", (unsigned)h[i]);
}

/*
 * elements.h - arithmetic on the elements of a tensor in host memory: scale by a power of two, fill
 * with a pattern, count differences. Knows no device. Invariant: scaling changes no bit of a zero,
 * an infinity or a NaN, and is exact where the result is a normal number.
 */
#ifndef HARNESS_RUNNER_ELEMENTS_H
#define HARNESS_RUNNER_ELEMENTS_H

#include "record.h"

/* dst[i] = src[i] * 2^exponent for `count` elements; integers are copied. No overlap. */
void elements_scale(void *dst, const void *src, enum record_type type, uint64_t count,
                    int exponent);
/* Repeats the element `bits` over `size` bytes (the last one may be cut). */
void elements_fill(void *dst, size_t size, enum record_type type, uint64_t bits);
/* Number of elements that differ in any bit; *first is the index of the first (untouched if none).
 */
uint64_t elements_differ(const void *a, const void *b, size_t element_size, uint64_t count,
                         uint64_t *first);

#endif

/*
 * sanitizer.h - what compute-sanitizer said about a run: its summary line and the first problem.
 * Starts nothing.
 */
#ifndef HARNESS_SANITIZER_H
#define HARNESS_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>

/* Reads the tool's output, mixed with the program's own. True when a summary counts at least one
 * problem; `reason` then holds one line, such as "Invalid __global__ read of size 4 bytes at
 * k(float *)+0x40 in my.cu:12; 3 errors". A text without a summary is no finding: the tool
 * did not run to its end, which the lost process tells. */
bool sanitizer_complains(const char *text, char *reason, size_t reason_size);

#endif

/*
 * account.h - what the solution asks the CUDA runtime for: allocations, launches, a reset.
 * The exported wrappers in account.c come before the library in symbol lookup, so a solution's
 * calls pass through them; the runner's own calls go through struct cudalib and are not counted.
 * Invariant: a solution never holds more than the limit, and its cudaDeviceReset never happens.
 */
#ifndef HARNESS_RUNNER_ACCOUNT_H
#define HARNESS_RUNNER_ACCOUNT_H

#include "cudalib.h"
#include "fault.h"

#include <stdint.h>

struct account_counts {
    uint64_t live;          /* device bytes held, of all calls so far */
    uint64_t peak;          /* largest live since account_begin */
    uint64_t calls;         /* device allocations since account_begin */
    uint64_t refused;       /* of those, refused by the limit */
    uint64_t refused_size;  /* bytes of the first refused one */
    uint64_t launches;      /* kernel and graph launches */
    uint64_t host_allocs;   /* pinned host allocations */
    uint64_t foreign_frees; /* frees of a buffer of ours (refused) */
    bool reset;             /* cudaDeviceReset was asked for */
};

/* Turns the wrappers on: they forward to `lib`, which must live for ever. limit 0 = none. Until
 * then they answer cudaErrorInitializationError. */
void account_open(const struct cudalib *lib, uint64_t limit_bytes);
/* Starts a new count; live stays. `ours`: memory that the solution may not free; copied. */
void account_begin(const struct fault_range *ours, unsigned count);
struct account_counts account_read(void);
/* While not NULL, work that the solution puts on the default stream goes to this one: so a solve()
 * that names no stream can be captured into a graph. */
void account_capture(cudaStream_t stream);

#endif

/*
 * counters.h - exact integer counts of a launch: counters.def is the one table (virtual-gpu.md
 * section 11).
 */
#ifndef VGPU_COUNTERS_H
#define VGPU_COUNTERS_H
#include <stdint.h>
struct counts {
#define X(name, meaning) uint64_t name;
#include "counters.def"
#undef X
};
struct insn_counts {
    uint64_t executed, lanes, sectors, requests, waves;
};
/* Number of distinct 32-byte sectors touched by the lanes' [addr, addr+width). */
unsigned counters_sectors(const uint64_t addr[32], uint32_t lanes, unsigned width);
/* Bank waves of a shared access as defined in the table; *phases = non-empty phases. */
unsigned counters_waves(const uint32_t addr[32], uint32_t lanes, unsigned width, unsigned *phases);
#endif

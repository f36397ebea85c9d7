/*
 * lane_mem.h - between exec_mem.c, exec_atomic.c (paths for whole warps) and lane_mem.c (one lane
 * at a time, faults, messages). Invariant: a function that reports a fault has changed no memory.
 */
#ifndef VGPU_LANE_MEM_H
#define VGPU_LANE_MEM_H

#include "exec.h"

enum access {
    ACCESS_READ,
    ACCESS_WRITE,
    ACCESS_ATOMIC,
    ACCESS_CONST /* a read that must hit the constant bank */
};

/* Finds the lanes that may not access global or generic-as-global [addr, addr+bytes) and reports
 * the first of each cause. host[lane] is filled for the others. Returns the lanes at fault (0: all
 * fine). */
uint32_t lane_global(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                     uint32_t lanes, unsigned bytes, enum access how,
                     unsigned char *host[WARP_LANES]);
/* Reports lanes whose offset into shared memory (modulo 2^64 for addresses below it) or alignment
 * is wrong. */
void lane_shared_fault(struct warp *w, const struct insn *in, const uint64_t offset[WARP_LANES],
                       uint32_t lanes, unsigned bytes);
/* Local memory of the running frame up to its end: makes room; false after reporting that memory is
 * short. */
bool lane_local_ready(struct warp *w, const struct insn *in);
/* Marks what is stored; reports lanes that load nothing but bytes that were never written. */
void lane_local_init(struct warp *w, const struct insn *in, uint32_t lanes,
                     const uint64_t offset[WARP_LANES], unsigned bytes, bool store);
/* Bytes of local memory that the running frame may address. */
static inline uint32_t lane_local_limit(const struct warp *w)
{
    return w->frame->local_base + w->frame->program->local_bytes;
}
void lane_local_fault(struct warp *w, const struct insn *in, const uint64_t offset[WARP_LANES],
                      uint32_t lanes, unsigned bytes);
/* "byte 12 of 'tile'": where an offset into the block's shared memory lies. */
void lane_shared_name(const struct warp *w, uint32_t offset, char *out, size_t size);
/* Reports that of lanes storing to one global word the ones in `lost` were overwritten by another
 * value. */
void lane_overwritten(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                      uint32_t lanes, uint32_t lost);
/* Reports reads of global bytes never written: lanes of addr whose bytes are not all initialised.
 */
void lane_uninit(struct warp *w, const struct insn *in, const uint64_t addr[WARP_LANES],
                 uint32_t lanes, unsigned bytes);
/* Reports an atomic on local memory, which hardware does not have. */
void lane_local_atomic(struct warp *w, const struct insn *in, const uint64_t offset[WARP_LANES],
                       uint32_t lanes);
/* Reports a parameter access beyond the block. */
void lane_param_fault(struct warp *w, const struct insn *in, uint32_t lanes, uint64_t offset,
                      unsigned bytes);
/* Strong accesses may synchronise (racecheck): tells the shadow, by address key. Does nothing when
 * the block has none. */
void lane_order(struct warp *w, const struct insn *in, const uint64_t key[WARP_LANES],
                uint32_t lanes, enum access how);
/* The i-th lane to act in an atomic or a conflicting store: ascending, or permuted by the seed
 * (virtual-gpu.md, determinism). */
static inline uint32_t lane_turn(const struct warp *w, uint32_t i)
{
    if (w->grid->seed == 0)
        return i;
    const uint64_t mixed = (w->grid->seed + w->pc * 0x9e3779b97f4a7c15ull) * 0xbf58476d1ce4e5b9ull +
                           w->index * 0x94d049bb133111ebull;
    return (i * ((uint32_t)(mixed >> 32) | 1u) + (uint32_t)(mixed >> 58)) % WARP_LANES;
}
/* The state space that a generic address lies in: SHARED, LOCAL or GLOBAL. */
static inline enum ptx_space lane_space(uint64_t address)
{
    return address - SHARED_WINDOW < LOCAL_WINDOW - SHARED_WINDOW ? PTX_SPACE_SHARED
           : address - LOCAL_WINDOW < WINDOW_SPAN                 ? PTX_SPACE_LOCAL
                                                                  : PTX_SPACE_GLOBAL;
}
/* Distinct 4-byte words of a constant access. */
unsigned lane_distinct_words(const uint64_t addr[WARP_LANES], uint32_t lanes, unsigned bytes);

#endif

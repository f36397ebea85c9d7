/*
 * shadow.h - initialised bits and race records of shared memory (FastTrack-style vector clocks over warps).
 * Called by exec_mem.c, exec_atomic.c, exec_sync.c; calls vg_report.c only. Owner: the memory part.
 */
#ifndef VGPU_SHADOW_H
#define VGPU_SHADOW_H
#include <stdbool.h>
#include <stdint.h>
struct block; struct warp; struct insn; struct shared_shadow; struct vclock; struct vg_arena;
/* One per resident block; size = shared bytes. NULL when both checks are off. */
struct shared_shadow *shadow_open(struct vg_arena *a, struct block *b, bool init, bool race);
/* Access of `lanes` to shared addresses addr[lane] (relative to shared[0]), width bytes each. kind: 0 read, 1 write, 2 atomic. */
void shadow_access(struct warp *w, const struct insn *in, const uint32_t addr[32], uint32_t lanes, unsigned width, int kind);
/* Order: lanes of `mask` of this warp have met at __syncwarp or another warp-synchronous point that orders memory. */
void shadow_warp_sync(struct warp *w, uint32_t mask);
/* All participants of a block barrier (mask per warp) have met. */
void shadow_barrier(struct block *b, const uint32_t *masks);
/* Release/acquire through memory (fence + strong access), by address key. */
void shadow_release(struct warp *w, uint32_t lanes, uint64_t key);
void shadow_acquire(struct warp *w, uint32_t lanes, uint64_t key);
/* Host/driver wrote it (async copy completion): marks initialised. */
void shadow_mark_init(struct block *b, uint32_t addr, uint32_t n);
#endif

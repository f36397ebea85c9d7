/*
 * shadow.h - initialised bytes and race records of shared memory.
 * Called by exec_mem.c, exec_atomic.c, exec_sync.c, exec_async.c, sched.c; calls vg_report.c only.
 *
 * Each block has a time that steps at every event that orders anything. For each 4-byte word two
 * records are kept, the last write and the reads since: the newest time, the threads (warps and
 * lanes as masks), the instruction. An access by thread u is ordered after a record when its time
 * is not past the last full barrier of the block, or when the record is of u alone, or of u's warp
 * and not past the last full __syncwarp. That is the plain form: exact while a block uses only full
 * barriers and full-warp synchronisation, and simple enough for vector loops (shadow_hot.h). The
 * first partial barrier, partial mask or release that is acquired switches the block to the exact
 * form: reads become a list with one entry per warp and time, order is looked up in clocks (warp to
 * warp, and lane to lane inside a warp). Words accessed by parts hold one record per byte.
 * Invariant: only what a loop of scalar code would report is reported; the vector loops may only
 * decide "nothing suspicious here".
 */
#ifndef VGPU_SHADOW_H
#define VGPU_SHADOW_H

#include <stdbool.h>
#include <stdint.h>

struct block;
struct warp;
struct insn;
struct grid;
struct vg_arena;

enum shadow_kind {
    SHADOW_READ,
    SHADOW_WRITE,
    SHADOW_ATOMIC,      /* reads and writes; no race with other atomics and strong accesses */
    SHADOW_STRONG = 4,  /* flag: relaxed, acquire, release */
    SHADOW_VOLATILE = 8 /* flag: volatile; strong towards other warps only */
};

/* One per resident block; NULL when both checks are off or memory is short. Taken from the grid's
 * list of used ones when possible. */
struct shared_shadow *shadow_open(struct vg_arena *a, struct block *b, bool init, bool race);
/* The block has ended: its shadow may be used again by the grid. Accepts NULL. */
void shadow_close(struct block *b);
/* The launch has ended: gives back what shadow_open took. */
void shadow_free_all(struct grid *g);

/* Access of `lanes` to shared addresses addr[lane] (relative to shared[0]), width bytes each,
 * inside the block's memory and aligned to the smaller of width and 4. kind: enum shadow_kind. Call
 * it before the bytes change. */
void shadow_access(struct warp *w, const struct insn *in, const uint32_t addr[32], uint32_t lanes,
                   unsigned width, int kind);
/* The same for a store whose bytes are known: lane l writes values[l * width ..]; equal values are
 * told apart. */
void shadow_store(struct warp *w, const struct insn *in, const uint32_t addr[32], uint32_t lanes,
                  unsigned width, int kind, const unsigned char *values);
/* Order: lanes of `mask` of this warp have met at __syncwarp or another warp-synchronous point that
 * orders memory. */
void shadow_warp_sync(struct warp *w, uint32_t mask);
/* The participants of a block barrier (mask per warp) have met; everybody: the barrier takes all
 * threads, and exited ones count. */
void shadow_barrier(struct block *b, const uint32_t *masks, bool everybody);
/* The warp executed a fence. */
void shadow_fence(struct warp *w, uint32_t lanes);
/* Key of the threads that only arrive at barrier id. */
#define SHADOW_BARRIER_KEY(id) (1ull << 62 | (id))
/* Release/acquire through memory (fence + strong access, mbarrier, bar.arrive), by address key. */
void shadow_release(struct warp *w, uint32_t lanes, uint64_t key);
void shadow_acquire(struct warp *w, uint32_t lanes, uint64_t key);
/* Strong access to `key` without release or acquire of its own: counts as one after a fence. */
void shadow_strong(struct warp *w, uint32_t lanes, uint64_t key, bool reads, bool writes);
/* An asynchronous copy of one lane to [addr, addr+n) begins (a write that no thread may touch yet),
 * and is delivered to the lane. */
void shadow_async_begin(struct warp *w, const struct insn *in, uint32_t lane, uint32_t addr,
                        uint32_t n);
void shadow_async_end(struct warp *w, uint32_t lane, uint32_t addr, uint32_t n);
/* The machine wrote it (mbarrier objects and the like): marks initialised, ordered before
 * everything. */
void shadow_mark_init(struct block *b, uint32_t addr, uint32_t n);

#endif

/*
 * machine.h - run-time state of the virtual GPU: device, grid, block, warp, group.
 * Invariant: reached from a struct argument; nothing mutable at file scope (vgpu/cudart/state.c
 * alone holds the device).
 */
#ifndef VGPU_MACHINE_H
#define VGPU_MACHINE_H

#include "counters.h"
#include "mem.h"
#include "program.h"
#include "shadow.h"
#include "vg_report.h"

#define WARP_LANES   32
#define MAX_BARRIERS 16
#define FULL_MASK    0xffffffffu

enum group_state { GROUP_RUN, GROUP_PARKED /* .sync op */, GROUP_BARRIER, GROUP_DONE };
struct frame { /* a function being executed: the entry, or a device function of one call of one
                  group */
    const struct program *program;
    unsigned char *regs; /* program->reg_bytes, then pred_count masks */
    uint32_t *preds;
    uint32_t return_pc, depth;
    uint32_t local_base;     /* first byte of this frame in the local memory of each thread */
    uint32_t lanes;          /* lanes that are inside */
    const struct insn *call; /* the call instruction in the caller */
    struct frame *caller;    /* NULL for the entry; next free frame when on warp->free_frames */
};
struct group {
    uint32_t mask, pc;
    struct frame *frame;
    enum group_state state;
    uint64_t key;   /* what it waits for: sync_key() or barrier id */
    uint32_t spins; /* taken spin branches since it last gave way */
};
struct warp {
    unsigned char *regs; /* of the running group's frame */
    uint32_t *preds;
    uint32_t live;   /* lanes that have not exited */
    uint32_t active; /* mask of the running group */
    uint32_t pc, next_pc;
    uint32_t event; /* enum warp_event bits set by handlers (exec.h) */
    struct frame *frame;
    struct group groups[WARP_LANES];
    uint32_t group_count, current;
    uint32_t index; /* warp number in the block */
    uint32_t lanes; /* lanes that exist (last warp of a block) */
    struct block *block;
    struct grid *grid;
    struct vclock *clock; /* racecheck: shadow.h */
    unsigned char *local; /* local memory, lane-interleaved by 4-byte words; NULL until used */
    uint32_t local_size;  /* bytes per lane present in `local` */
    unsigned char
        *local_init; /* one bit a byte of `local`, four to an element; NULL: not checked */
    uint32_t slice;  /* instructions left for a group that was let through a spin loop */
    bool idle;       /* its last turn only spun or waited */
    struct frame entry;
    struct frame *free_frames;
    struct pending *pending; /* async copies of this warp's threads, exec_async.c */
};
struct barrier {
    uint32_t arrived, expected, generation;
    uint32_t any, all, count;
    bool mixed;
};
struct block {
    uint32_t index[3];
    uint64_t linear;
    unsigned char
        *shared;          /* host storage of shared memory; address SHARED_BASE maps to shared[0] */
    uint32_t shared_size; /* static + dynamic */
    struct shared_shadow *shadow; /* NULL when init and race checks are off */
    struct barrier barriers[MAX_BARRIERS];
    struct warp *warps;
    uint32_t warp_count, thread_count, done_warps;
    uint32_t live_threads;
    bool idle; /* its last turn only spun or waited */
    struct grid *grid;
    struct block *next;
    struct vg_arena arena; /* of one residence: shadow and clocks; freed when the block ends */
};
struct vgpu_device;
/* What the loop counts; sched_run() turns it into struct counts. */
struct tally {
    struct {
        uint64_t count, active, on;
    } classes[INSN_CLASS_COUNT]; /* instructions, active lanes, lanes whose guard was true */
    uint64_t lanes[TALLY_COUNT];
};
struct grid { /* one launch */
    const struct program *program;
    const struct ptx_func *func;
    uint32_t dim[3], block_dim[3];
    uint32_t dynamic_shared;
    bool cooperative;
    const unsigned char *params; /* param_size bytes */
    uint32_t registers;          /* per thread, for occupancy; 0: unknown */
    uint64_t launch_number;
    uint64_t budget, executed; /* warp instructions */
    uint64_t seed;
    uint64_t
        memory_version; /* counts stores and atomics that changed a word: "no progress" detection */
    uint64_t clock;     /* virtual clock: device clock at the start plus instructions executed */
    uint64_t clock_reads; /* a loop that watches the clock makes progress */
    int error;            /* CUDA error code that ends the launch, 0 = none */
    struct vgpu_device *device;
    struct counts counts; /* counters.h */
    struct tally tally;
    struct insn_counts *per_insn;         /* on request: one per instruction of the entry */
    struct mem_hint hints[MEM_HINTS];     /* last allocation hit, by pc */
    struct shared_shadow *unused_shadows; /* of blocks that have ended: shadow.c */
    struct vg_arena arena;
    uint32_t (*loop)(struct warp *w, uint32_t limit, uint32_t slice); /* exec.h: loop_fn */
    uint64_t workspace;     /* device address of the cooperative workspace (%envreg1:2), 0 = none */
    uint64_t param_address; /* device address of a copy of the parameter block, when the program
                               takes its address */
    struct block *resident;
    uint32_t resident_count;
    uint64_t next_block;
};
struct vgpu_options {
    bool check_mem, check_init, check_race, check_sync, counters, per_insn, strict;
    bool early_async; /* deliver asynchronous copies at once */
    uint64_t seed, budget;
    uint64_t fail_alloc; /* this allocation of device memory fails, counted from 1; 0: none */
    uint64_t memory_mib;
    int fd; /* findings, -1 = stderr text */
    const char *names[16];
    unsigned name_count;
};
#define VGPU_HEAP_BYTES     (8ull << 20)
#define VGPU_PRINTF_BYTES   (1u << 20)
#define VGPU_DEFAULT_BUDGET 2000000000ull /* warp instructions a launch */
struct vgpu_device {
    struct space space; /* mem.h: global address map */
    struct vgpu_options options;
    struct report report; /* vg_report.h */
    struct vg_arena arena;
    uint32_t sm_count; /* 8 */
    uint64_t launch_count;
    uint64_t clock;
    unsigned char *printf_buffer;
    size_t printf_used;
    uint64_t heap_used,
        heap_bytes; /* of device malloc: bytes in use; all there are, 0: VGPU_HEAP_BYTES */
};

/* Runs a whole launch on the calling thread. Returns the CUDA error code of the kernel (0 fine, 700
 * illegal address, 710 assert, 716 misaligned, 719 launch failure/trap, 702 budget or no progress,
 * 720 cooperative too large, 209 refused). Fills grid->counts. The caller sets program, func, dim,
 * block_dim, dynamic_shared, cooperative, params, registers, launch_number, budget (0: the
 * default), seed, device. */
int sched_run(struct grid *g);
/* Number of blocks of this program that fit one SM of the profile. registers = per thread (side
 * file) or 0. */
uint32_t sched_occupancy(const struct program *p, uint32_t threads, uint32_t dynamic_shared,
                         uint32_t registers);

/* Called by handlers: records a fault of one lane, ends the launch with the finding's CUDA error
 * after this instruction. */
void exec_fault(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                uint64_t address, uint32_t width, uint32_t lanes);
/* The same for findings that do not end the launch (races, synccheck): reported with a detail text,
 * execution goes on. */
void exec_finding(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                  const char *detail);
/* exec_fault with a text of its own (device assertion, deadlock). */
void exec_fault_text(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane,
                     const char *detail);
/* The ptx_inst of a decoded instruction of the warp's running function. */
const struct ptx_inst *exec_tree(const struct warp *w, const struct insn *in);
/* Block coordinates, thread coordinates, warp and lane of a lane. */
struct place exec_place(const struct warp *w, const struct insn *in, uint32_t lane);

#endif

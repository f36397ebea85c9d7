/*
 * machine.h - run-time state of the virtual GPU: device, grid, block, warp, group.
 * Invariant: reached from a struct argument; nothing mutable at file scope (vgpu/cudart/state.c alone holds the device).
 */
#ifndef VGPU_MACHINE_H
#define VGPU_MACHINE_H

#include "counters.h"
#include "mem.h"
#include "program.h"
#include "shadow.h"
#include "vg_report.h"

#define WARP_LANES 32
#define MAX_BARRIERS 16
#define FULL_MASK 0xffffffffu

enum group_state { GROUP_RUN, GROUP_PARKED /* .sync op */, GROUP_BARRIER, GROUP_DONE };
struct frame {                    /* a device function call */
    const struct program *program;
    unsigned char *regs; uint32_t *preds; /* own slots */
    unsigned char *params;        /* .param block of the callee: lane-interleaved, see exec_call.c */
    uint32_t return_pc, depth, local_base;
    struct frame *caller;
};
struct group {
    uint32_t mask, pc;
    struct frame *frame;
    enum group_state state;
    uint64_t key;                 /* what it waits for */
    uint32_t spins;
};
struct warp {
    unsigned char *regs;          /* of the running group's frame: program->reg_bytes */
    uint32_t *preds;
    uint32_t live;                /* lanes that have not exited */
    uint32_t active;              /* mask of the running group */
    uint32_t pc, next_pc;
    struct frame *frame;
    struct group groups[WARP_LANES]; uint32_t group_count, current;
    uint32_t index;               /* warp number in the block */
    struct block *block;
    struct grid *grid;
    struct vclock *clock;         /* racecheck: shadow.h */
    unsigned char *local;         /* local memory, lane-interleaved; NULL until used */
    uint32_t inst_in_turn;
    struct pending *pending;      /* async copies of this warp's threads, exec_async.c */
};
struct barrier { uint32_t arrived, expected, generation; uint32_t *arrived_masks; };
struct block {
    uint32_t index[3]; uint64_t linear;
    unsigned char *shared;        /* host storage of shared memory; address SHARED_BASE maps to shared[0] */
    uint32_t shared_size;         /* static + dynamic */
    struct shared_shadow *shadow; /* NULL when init and race checks are off */
    struct barrier barriers[MAX_BARRIERS];
    struct warp *warps; uint32_t warp_count, thread_count, done_warps;
    struct grid *grid;
    struct block *next;
    struct vg_arena arena;
};
struct vgpu_device;
struct grid {                     /* one launch */
    const struct program *program;
    const struct ptx_func *func;
    uint32_t dim[3], block_dim[3];
    uint32_t dynamic_shared;
    bool cooperative;
    const unsigned char *params;  /* param_size bytes */
    uint64_t launch_number;
    uint64_t budget, executed;    /* warp instructions */
    uint64_t seed;
    uint64_t memory_version;      /* counts stores that changed a word: "no progress" detection */
    uint64_t clock;               /* virtual clock */
    int error;                    /* CUDA error code that ends the launch, 0 = none */
    struct vgpu_device *device;
    struct counts counts;         /* counters.h */
    struct insn_counts *per_insn; /* on request */
    struct vg_arena arena;
    uint64_t workspace;           /* device address of the cooperative workspace (%envreg1:2), 0 = none */
};
struct vgpu_options {
    bool check_mem, check_init, check_race, check_sync, counters, per_insn, strict, hostile;
    uint64_t seed, budget;
    uint64_t memory_mib;
    int fd;                       /* findings, -1 = stderr text */
    const char *names[16]; unsigned name_count;
};
struct vgpu_device {
    struct space space;           /* mem.h: global address map */
    struct vgpu_options options;
    struct report report;         /* vg_report.h */
    struct vg_arena arena;
    uint32_t sm_count;            /* 8 */
    uint64_t launch_count;
    uint64_t clock;
    unsigned char *printf_buffer; size_t printf_used;
};

/* Runs a whole launch on the calling thread. Returns the CUDA error code of the kernel (0 fine, 700 illegal address, 710 assert, 716 misaligned,
 * 719 launch failure/trap, 702 budget or no progress, 720 cooperative too large, 209 refused). Fills grid->counts. */
int sched_run(struct grid *g);
/* Number of blocks of this program that fit one SM of the profile. registers = per thread (side file) or 0. */
uint32_t sched_occupancy(const struct program *p, uint32_t threads, uint32_t dynamic_shared, uint32_t registers);

/* Called by handlers: records a fault of one lane, ends the launch with the finding's CUDA error after this instruction. */
void exec_fault(struct warp *w, const struct insn *in, enum fault_kind kind, uint32_t lane, uint64_t address, uint32_t width, uint32_t lanes);

#endif

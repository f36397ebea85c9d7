/*
 * flow.h - control flow of one function: basic blocks, loops, the order in which diverged groups
 * run, and where each register is live. Reads the tree, writes nothing into it. Invariant:
 * everything lives in the caller's arena; instruction indices are those of ptx_func.insts.
 */
#ifndef VGPU_FLOW_H
#define VGPU_FLOW_H

#include "ptx.h"

struct flow_block {
    uint32_t first, end; /* instructions [first, end) */
    uint32_t *succs;
    uint32_t succ_count;
    uint32_t
        position;  /* place in the topological order (loops contiguous where they have one exit) */
    uint32_t loop; /* header of the innermost loop, FLOW_NONE outside */
    bool reachable;
};
#define FLOW_NONE UINT32_MAX
struct flow_range {
    uint32_t from, to;
}; /* hull of the points where a register is live, in units of instructions; from > to: never */
struct flow {
    struct flow_block *blocks;
    uint32_t block_count;
    uint32_t *block_of; /* per instruction */
    uint32_t *order;    /* block indices by position; unreachable ones last */
    bool *spin; /* per instruction: backward branch of a loop that waits for memory (virtual-gpu.md,
                   execution model) */
    struct flow_range *live; /* per register */
};
/* False when memory runs out. */
bool flow_analyse(struct flow *out, const struct ptx_func *f, struct vg_arena *arena);

/* Calls see(register, is_definition, user) for every register operand, the guard included. */
typedef void flow_visit_fn(int32_t reg, bool definition, void *user);
void flow_visit_registers(const struct ptx_inst *in, flow_visit_fn *see, void *user);

#endif

/*
 * program.h - a function decoded for execution: flat instruction array, register slots, constant
 * pool. Built once per function by lower.c, read by exec. Invariant: slots hold 32 lanes; every
 * lane-write is masked by the caller's lanes.
 */
#ifndef VGPU_PROGRAM_H
#define VGPU_PROGRAM_H

#include "ptx.h"

struct warp;
struct insn;
/* Executes one instruction for `lanes` (active & guard, never empty). A handler of a control class
 * may change w->next_pc. */
typedef void op_fn(struct warp *w, const struct insn *in, uint32_t lanes);

/* Classes of instructions, for counters and scheduling. */
enum insn_class {
    INSN_INT,
    INSN_F16,
    INSN_F32,
    INSN_F64,
    INSN_SPECIAL,
    INSN_CONVERT,
    INSN_MOVE,
    INSN_BRANCH,
    INSN_CALL,
    INSN_EXIT,
    INSN_LD_GLOBAL,
    INSN_LD_SHARED,
    INSN_LD_LOCAL,
    INSN_LD_CONST,
    INSN_LD_PARAM,
    INSN_LD_GENERIC,
    INSN_ST_GLOBAL,
    INSN_ST_SHARED,
    INSN_ST_LOCAL,
    INSN_ST_PARAM,
    INSN_ST_GENERIC,
    INSN_ATOM_GLOBAL,
    INSN_ATOM_SHARED,
    INSN_ATOM_GENERIC,
    INSN_SHUFFLE,
    INSN_BARRIER,
    INSN_FENCE,
    INSN_TENSOR,
    INSN_ASYNC,
    INSN_SERVICE,
    INSN_BRANCH_IF, /* conditional branches */
    INSN_HIDDEN,    /* moves that lowering adds: executed, not counted */
    INSN_CLASS_COUNT
};
#define INSN_FLAG_SPIN    1u /* backward branch of a spin loop: arms fairness, ends the turn */
#define INSN_FLAG_CONTROL 2u /* handler may change pc, park or exit */
#define INSN_FLAG_MEMORY  4u /* handler may fault */
#define INSN_FLAG_UNIFORM                                                                          \
    8u /* branch with a target list or condition known to be the same in all lanes (.uni) */
#define INSN_FLAG_SETS_CC 16u /* writes the carry predicate */
#define INSN_FLAG_SIGNED  32u /* load: sign-extend to the slot */
#define INSN_FLAG_ADDR64                                                                           \
    64u /* memory: the base slot holds 64-bit addresses, otherwise 32-bit ones */
#define INSN_FLAG_STRONG                                                                           \
    128u /* memory: volatile, relaxed, acquire or release: may synchronise (racecheck); see rnd */

/* Lane operations that counters.def counts by kind (insn.tally). */
enum insn_tally {
    TALLY_NONE,
    TALLY_F32_ADD,
    TALLY_F32_MUL,
    TALLY_F32_FMA,
    TALLY_F64,
    TALLY_F16,
    TALLY_COUNT
};

/* insn.rnd of loads, stores, atomics with INSN_FLAG_STRONG. */
enum mem_order {
    ORDER_WEAK,
    ORDER_VOLATILE,
    ORDER_RELAXED,
    ORDER_ACQUIRE,
    ORDER_RELEASE,
    ORDER_ACQ_REL
};

/*
 * Fields by kind of instruction:
 *   arithmetic  d a b c (e): slots; a predicate operand is an index into preds; rnd, imm as the
 * handler says load        d: slot, or extras + extra: `vec` slots (~0: not wanted); a: base
 * address slot; imm: offset; width; rnd: mem_order store       b: slot, or extras; a, imm, width,
 * rnd as for load param       (LD_PARAM, ST_PARAM of kernel parameters and call slots) e: byte
 * offset of the area in regs and target: its bytes per lane, or target 0: the kernel's parameter
 * block atomic      d: slot or ~0 (red); a, imm: address; b, c: operands; e: enum atom_op; target:
 * enum ptx_type; width; rnd: mem_order branch      target: pc; brx: extras = count, pcs call
 * target: index into program->callees or ~0 (indirect, a: slot); extras: see exec_call.c
 */
struct insn {
    op_fn *run;
    uint32_t d, a, b, c, e; /* byte offsets of slots in warp->regs, or predicate indices, by form */
    uint32_t target;        /* branch target pc; callee index; ... */
    int64_t imm;            /* address offset, shift, barrier id ... by form */
    int32_t guard;          /* predicate index, -1 = always */
    uint8_t guard_negated;
    uint8_t cls;   /* enum insn_class */
    uint8_t width; /* bytes per lane and element of a memory access */
    uint8_t vec;   /* elements of a vector access, 1 otherwise */
    uint8_t flags;
    uint8_t rnd;    /* rounding, comparison or mode, by form */
    uint8_t tally;  /* enum insn_tally */
    uint8_t op;     /* spare mode of sync and service handlers */
    uint32_t extra; /* index into program->extras (operand lists), 0 = none */
    uint32_t rank; /* order in which groups of a warp run: lowest first, blocks in topological order
                      (flow.c) */
    uint32_t tree; /* index of the ptx_inst: text, line, .loc */
};
/* Slots broadcast to all lanes when a frame starts: constants; bits + start of dynamic shared
 * memory; bits + local memory of the frame. */
enum slot_fill_kind { FILL_CONSTANT, FILL_DYNAMIC_SHARED, FILL_LOCAL_BASE };
struct slot_fill {
    uint32_t offset;
    uint8_t size, kind;
    uint64_t bits;
};
struct special_fill {
    uint32_t offset, size;
    enum ptx_special special;
}; /* special registers that do not change during a launch */
/* A formal parameter or return value of a device function: an area of `size` bytes per lane (stride
 * below), or of an entry: its offset. */
struct param_area {
    uint32_t offset, size, stride;
};
struct program {
    const struct ptx_func *func;
    struct insn *code;
    uint32_t code_count;
    uint32_t *extras;
    uint32_t extra_count;
    uint32_t reg_bytes, pred_count;
    struct slot_fill *fills;
    uint32_t fill_count;
    struct special_fill *specials;
    uint32_t special_count;
    struct program **callees;
    uint32_t callee_count;
    struct param_area *params;
    uint32_t param_count; /* device functions only */
    struct param_area *returns;
    uint32_t return_count;
    uint32_t shared_static; /* bytes of static shared memory, starting at SHARED_BASE; includes that
                               of callees */
    uint32_t dynamic_shared_align;
    uint32_t local_bytes;        /* per thread, of this function's frame */
    uint32_t registers_declared; /* PTX registers; hardware registers come from the side file */
    bool uses_barrier, cooperative_ok;
    bool uses_param_address; /* takes the address of a kernel parameter: the launch places the block
                                in device memory */
};

/* Lowers `f` (and what it calls). NULL with a message in err when a reachable instruction is
 * refused or memory runs out. Module variables must have their device addresses (ptx_var.offset)
 * before: see image.h. */
struct program *lower_function(struct ptx_func *f, char *err, size_t err_size);
/* The function that an address made by lowering (mov of a function name, initialisers) stands for;
 * NULL when it is none of m. */
struct ptx_func *lower_find_function(struct ptx_module *m, uint64_t address);
uint64_t lower_function_address(const struct ptx_func *f);

#endif

/*
 * program.h - a function decoded for execution: flat instruction array, register slots, constant pool.
 * Built once per function by lower.c, read by exec. Invariant: slots hold 32 lanes; every lane-write is masked by the caller's lanes.
 */
#ifndef VGPU_PROGRAM_H
#define VGPU_PROGRAM_H

#include "ptx.h"

struct warp;
struct insn;
/* Executes one instruction for `lanes` (active & guard). A handler of a control class may change w->next_pc. */
typedef void op_fn(struct warp *w, const struct insn *in, uint32_t lanes);

/* Classes of instructions, for counters and scheduling. */
enum insn_class {
    INSN_INT, INSN_F16, INSN_F32, INSN_F64, INSN_SPECIAL, INSN_CONVERT, INSN_MOVE, INSN_BRANCH, INSN_CALL, INSN_EXIT,
    INSN_LD_GLOBAL, INSN_LD_SHARED, INSN_LD_LOCAL, INSN_LD_CONST, INSN_LD_PARAM, INSN_LD_GENERIC,
    INSN_ST_GLOBAL, INSN_ST_SHARED, INSN_ST_LOCAL, INSN_ST_PARAM, INSN_ST_GENERIC,
    INSN_ATOM_GLOBAL, INSN_ATOM_SHARED, INSN_ATOM_GENERIC, INSN_SHUFFLE, INSN_BARRIER, INSN_FENCE, INSN_TENSOR, INSN_ASYNC, INSN_SERVICE,
    INSN_CLASS_COUNT
};
#define INSN_FLAG_SPIN 1u        /* backward branch of a spin loop: arms fairness, ends the turn */
#define INSN_FLAG_CONTROL 2u     /* handler may change pc, park or exit */
#define INSN_FLAG_MEMORY 4u      /* handler may fault */
#define INSN_FLAG_UNIFORM 8u

struct insn {
    op_fn *run;
    uint32_t d, a, b, c, e;      /* byte offsets of slots in warp->regs, or predicate indices, by form */
    int64_t imm;                 /* address offset, shift, barrier id ... by form */
    uint32_t target;             /* branch target pc; callee index; ... */
    int16_t guard;               /* predicate index, -1 = always */
    uint8_t guard_negated;
    uint8_t cls;                 /* enum insn_class */
    uint8_t width;               /* bytes per lane and element of a memory access */
    uint8_t vec;                 /* elements of a vector access, 1 otherwise */
    uint8_t flags;
    uint8_t rnd;                 /* rounding, comparison or mode, by form */
    uint32_t extra;              /* index into program->extras (operand lists), 0 = none */
    uint32_t tree;               /* index of the ptx_inst: text, line, .loc */
};
struct slot_fill { uint32_t offset; uint8_t size; uint64_t bits; };   /* constant pool: broadcast to all lanes at warp start */
struct special_fill { uint32_t offset; enum ptx_special special; };    /* special registers that do not change during a launch */
struct program {
    const struct ptx_func *func;
    struct insn *code; uint32_t code_count;
    uint32_t *extras; uint32_t extra_count;
    uint32_t reg_bytes, pred_count;
    struct slot_fill *fills; uint32_t fill_count;
    struct special_fill *specials; uint32_t special_count;
    uint32_t shared_static;       /* bytes of static shared memory, starting at SHARED_BASE */
    uint32_t dynamic_shared_align;
    uint32_t local_bytes;         /* per thread, of this function's frame */
    uint32_t registers_declared;  /* PTX registers; hardware registers come from the side file */
    bool uses_barrier, cooperative_ok;
};

/* Lowers `f` (and what it calls). NULL with a message in err when a reachable instruction is refused or memory runs out. */
struct program *lower_function(struct ptx_func *f, char *err, size_t err_size);

#endif

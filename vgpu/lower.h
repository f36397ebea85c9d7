/*
 * lower.h - the state of one lowering, shared by lower.c (driver, slots, operands) and
 * lower_forms.c (one rule per form). Not seen by anyone else. Invariant: offsets handed out are
 * slots of 128 or 256 bytes inside program.reg_bytes.
 */
#ifndef VGPU_LOWER_H
#define VGPU_LOWER_H

#include "exec.h"
#include "flow.h"
#include "opform.h"

#define NO_SLOT UINT32_MAX
enum {
    PRED_SCRATCH,
    PRED_TRUE,
    PRED_TRASH,
    PRED_CARRY,
    PRED_FIXED
}; /* predicates every program has */

struct lower {
    struct ptx_func *f;
    struct program *p;
    struct vg_arena *arena; /* of the module: what the program keeps */
    struct vg_arena scratch;
    struct flow flow;
    struct insn *code;
    uint32_t code_count, code_cap;
    uint32_t *extras;
    uint32_t extra_count, extra_cap;
    struct slot_fill *fills;
    uint32_t fill_count, fill_cap;
    struct special_fill *specials;
    uint32_t special_count, special_cap;
    struct program **callees;
    uint32_t callee_count, callee_cap;
    uint32_t *slot;            /* per register: byte offset, or predicate index */
    uint32_t *first_pc;        /* per instruction: pc of its first insn; [inst_count] = end */
    const struct ptx_inst *in; /* being lowered */
    uint32_t index;
    struct {
        uint32_t slot;
        uint32_t to;
        bool sign;
    } widen[16];
    uint32_t widen_count; /* hidden moves after the instruction */
    uint32_t temps[8];
    uint32_t temp_used; /* 64-bit temporaries for hidden moves before it */
    uint32_t
        shared_used; /* end of the static shared memory that this function and its callees use */
    bool failed;
    char *err;
    size_t err_size;
};

/* Records the first failure; later calls keep it. */
void lower_fail(struct lower *lo, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A fresh instruction with guard, tree and class set. Valid until the next emit; never NULL (a
 * dummy after a failure). */
struct insn *lower_emit(struct lower *lo, enum op_id op, enum insn_class cls);
uint32_t lower_slot(struct lower *lo, uint32_t bytes);
uint32_t lower_constant(struct lower *lo, uint64_t bits,
                        uint32_t size); /* slot that holds it in every lane; size 4 or 8 */
uint32_t lower_dynamic(struct lower *lo, enum slot_fill_kind kind, uint64_t addend, uint32_t size);
uint32_t lower_extra(struct lower *lo, const uint32_t *values,
                     uint32_t count); /* index into extras */
/* Slot that holds the operand as a value of `bits` (32: also 8 and 16) when the instruction runs.
 */
uint32_t lower_source(struct lower *lo, const struct ptx_operand *o, unsigned bits);
/* Slot to write; when the register is wider, a hidden move extends it afterwards. */
uint32_t lower_target(struct lower *lo, const struct ptx_operand *o, unsigned bits, bool sign);
/* Predicate index of a source; *negated tells whether to invert it. */
uint32_t lower_pred_source(struct lower *lo, const struct ptx_operand *o, bool *negated);
uint32_t lower_pred_target(struct lower *lo, const struct ptx_operand *o);
/* Address operand: base slot (32-bit, or 64-bit with *wide) and constant offset. */
uint32_t lower_address(struct lower *lo, const struct ptx_operand *o, bool *wide, int64_t *offset);
/* Parameter area of a device function's formal or of a call slot; false when var is none of those.
 */
bool lower_area(struct lower *lo, const struct ptx_var *var, uint32_t *offset, uint32_t *stride);
/* Index of the callee's program in this one's list. */
uint32_t lower_callee(struct lower *lo, struct ptx_func *callee);

/* lower_forms.c: emits the current instruction. */
void lower_instruction(struct lower *lo);

#endif

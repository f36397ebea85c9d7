/*
 * lower_rules.h - the rules that turn one instruction into insns, shared by lower_forms.c
 * (arithmetic, moves) and lower_system.c (memory, control, synchronisation, matrices). Included by
 * these two only. Invariant: a rule emits for lo->in and touches no other instruction.
 */
#ifndef VGPU_LOWER_RULES_H
#define VGPU_LOWER_RULES_H

#include "lower.h"

struct rule;
typedef void rule_fn(struct lower *lo, const struct ptx_inst *in, const struct rule *r);
struct rule {
    rule_fn *fn;
    uint16_t ops[PTX_TYPE_COUNT]; /* plain handler by the first type */
    uint16_t any32, any64, ftz;   /* handlers that obey insn.rnd; .ftz alone in f32 */
    uint8_t tally;                /* enum insn_tally of f32 */
    uint8_t op;                   /* insn.op, or a rule's own constant */
};

/* Destination, then up to four sources, by the operand column of ops.def; handler `op`, OP_NONE
 * being a refusal. */
struct insn *rule_emit_plain(struct lower *lo, const struct ptx_inst *in, unsigned op);
static inline bool rule_has(const struct ptx_inst *in, enum ptx_mod m)
{
    return ptx_has_mod(in, m);
}

rule_fn rule_memory;
rule_fn rule_atom;
rule_fn rule_bra;
rule_fn rule_brx;
rule_fn rule_control;
rule_fn rule_nanosleep;
rule_fn rule_nop;
rule_fn rule_call;
rule_fn rule_shfl;
rule_fn rule_vote;
rule_fn rule_match;
rule_fn rule_redux;
rule_fn rule_elect;
rule_fn rule_warp_sync;
rule_fn rule_bar;
rule_fn rule_cp_async;
rule_fn rule_cp_group;
rule_fn rule_mbarrier;
rule_fn rule_mbarrier_pending;
rule_fn rule_mma;
rule_fn rule_matrix_move;
rule_fn rule_movmatrix;

#endif

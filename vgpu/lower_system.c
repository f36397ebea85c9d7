/*
 * lower_system.c - rules of loads, stores, atomics, control flow, calls, warp and block
 * synchronisation, asynchronous copies and matrices. Arithmetic is in lower_forms.c. Invariant:
 * what the handlers cannot execute is refused here, by name and line.
 */
#include "lower_rules.h"
#include "mma_form.h"

#include <string.h>

static bool has(const struct ptx_inst *in, enum ptx_mod m) { return rule_has(in, m); }
static bool is_signed(enum ptx_type t) { return ptx_type_class(t) == PTX_CLASS_SIGNED; }

/* ---- loads and stores ---- */
static enum mem_order order_of(const struct ptx_inst *in)
{
    if (has(in, PTX_MOD_ACQ_REL))
        return ORDER_ACQ_REL;
    if (has(in, PTX_MOD_ACQUIRE))
        return ORDER_ACQUIRE;
    if (has(in, PTX_MOD_RELEASE))
        return ORDER_RELEASE;
    if (has(in, PTX_MOD_RELAXED) || has(in, PTX_MOD_MMIO))
        return ORDER_RELAXED;
    return has(in, PTX_MOD_VOLATILE) ? ORDER_VOLATILE : ORDER_WEAK;
}
static const struct {
    enum op_id ld, st;
    enum insn_class ld_cls, st_cls;
} spaces[] = {
    [PTX_SPACE_GENERIC] = {OP_ld_generic, OP_st_generic, INSN_LD_GENERIC, INSN_ST_GENERIC},
    [PTX_SPACE_GLOBAL] = {OP_ld_global, OP_st_global, INSN_LD_GLOBAL, INSN_ST_GLOBAL},
    [PTX_SPACE_SHARED] = {OP_ld_shared, OP_st_shared, INSN_LD_SHARED, INSN_ST_SHARED},
    [PTX_SPACE_LOCAL] = {OP_ld_local, OP_st_local, INSN_LD_LOCAL, INSN_ST_LOCAL},
    [PTX_SPACE_CONST] = {OP_ld_const, OP_NONE, INSN_LD_CONST, INSN_ST_GLOBAL},
    [PTX_SPACE_PARAM] = {OP_ld_param, OP_NONE, INSN_LD_PARAM, INSN_ST_PARAM},
    [PTX_SPACE_REG] = {OP_NONE, OP_NONE, INSN_MOVE, INSN_MOVE},
};
/* Value operands of a load or store: one slot, or a list in extras. */
static void value_slots(struct lower *lo, const struct ptx_operand *o, bool load, unsigned bits,
                        bool sign, uint32_t *slot, uint32_t *extra, unsigned *vec)
{
    *slot = NO_SLOT;
    *extra = 0;
    *vec = 1;
    if (o->kind != PTX_OPND_VECTOR) {
        *slot = load ? lower_target(lo, o, bits, sign) : lower_source(lo, o, bits);
        return;
    }
    uint32_t list[8] = {0};
    if (o->elem_count > 8) {
        lower_fail(lo, "line %u: more than eight elements", lo->in->line);
        return;
    }
    *vec = o->elem_count;
    for (uint32_t i = 0; i < o->elem_count; i++) {
        const struct ptx_operand *e = &o->elems[i];
        list[i] = e->kind == PTX_OPND_SINK ? NO_SLOT
                  : load                   ? lower_target(lo, e, bits, sign)
                                           : lower_source(lo, e, bits);
    }
    *slot = list[0];
    *extra = lower_extra(lo, list, o->elem_count);
}
void rule_memory(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool load = r->op == 0, wide = false, area = false;
    enum ptx_type t = in->types[0];
    unsigned bits = ptx_type_bits(t), vec = 1;
    const struct ptx_operand *value = &in->operands[load ? 0 : 1],
                             *where = &in->operands[load ? 1 : 0];
    uint32_t slot = NO_SLOT, extra = 0, area_at = 0, stride = 0, base = 0;
    int64_t offset = 0;
    if (bits > 64) {
        lower_fail(lo, "line %u: 128-bit elements are not executed: '%s'", in->line, in->text);
        return;
    }
    const struct ptx_operand *root = where->elem_count ? &where->elems[0] : where;
    if (in->space == PTX_SPACE_PARAM && root->kind == PTX_OPND_VAR) {
        area = lower_area(lo, root->var, &area_at, &stride);
        offset = where->offset + root->offset + (area ? 0 : (int64_t)root->var->offset);
    } else {
        base = lower_address(lo, where, &wide, &offset);
    }
    value_slots(lo, value, load, bits, is_signed(t), &slot, &extra, &vec);
    enum op_id op = load ? spaces[in->space].ld : spaces[in->space].st;
    if (in->space == PTX_SPACE_PARAM) {
        bool known = root->kind == PTX_OPND_VAR;
        if (area && stride == bits / 8 && offset == 0 && vec == 1)
            op = bits == 64 ? OP_mov_64 : OP_mov_32;
        else if (area)
            op = load ? OP_ld_area : OP_st_area;
        else
            op = !load ? OP_NONE : known ? OP_ld_param : OP_ld_param_at;
        if (!area && !lo->f->entry)
            op = OP_NONE;
        if (area && (offset < 0 || (uint64_t)offset + (uint64_t)vec * bits / 8 > stride)) {
            lower_fail(lo, "line %u: '%s' reaches beyond the parameter", in->line, in->text);
            return;
        }
    }
    if (op == OP_NONE) {
        lower_fail(lo, "line %u: '%s' uses a state space in a way that is not executed", in->line,
                   in->text);
        return;
    }
    struct insn *out =
        lower_emit(lo, op, load ? spaces[in->space].ld_cls : spaces[in->space].st_cls);
    out->width = (uint8_t)(bits / 8);
    out->vec = (uint8_t)vec;
    out->imm = offset;
    out->extra = extra;
    out->rnd = (uint8_t)order_of(in);
    out->flags |= (uint8_t)(INSN_FLAG_MEMORY | (wide ? INSN_FLAG_ADDR64 : 0) |
                            (out->rnd ? INSN_FLAG_STRONG : 0) |
                            (load && is_signed(t) && bits < 32 ? INSN_FLAG_SIGNED : 0));
    if (load)
        out->d = slot;
    else
        out->b = slot;
    out->a = base;
    if (area) {
        out->e = area_at;
        out->target = stride;
        out->flags &= (uint8_t)~INSN_FLAG_MEMORY;
        if (op == OP_mov_32 || op == OP_mov_64) {
            out->d = load ? slot : area_at;
            out->a = load ? area_at : slot;
        }
    }
}

/* ---- atomics ---- */
static enum atom_op atom_of(const struct ptx_inst *in)
{
    static const struct {
        enum ptx_mod mod;
        enum atom_op op;
    } ops[] = {
        {PTX_MOD_ADD, ATOM_ADD}, {PTX_MOD_MIN, ATOM_MIN}, {PTX_MOD_MAX, ATOM_MAX},
        {PTX_MOD_INC, ATOM_INC}, {PTX_MOD_DEC, ATOM_DEC}, {PTX_MOD_AND, ATOM_AND},
        {PTX_MOD_OR, ATOM_OR},   {PTX_MOD_XOR, ATOM_XOR}, {PTX_MOD_EXCH, ATOM_EXCH},
        {PTX_MOD_CAS, ATOM_CAS},
    };
    for (size_t i = 0; i < sizeof ops / sizeof ops[0]; i++) {
        if (has(in, ops[i].mod))
            return ops[i].op;
    }
    return ATOM_ADD;
}
/* op: 0 atom, 1 red */
void rule_atom(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool red = r->op == 1, wide = false;
    unsigned bits = ptx_type_bits(in->types[0]), vec = 1, vec_d = 1;
    const struct ptx_operand *where = &in->operands[red ? 0 : 1],
                             *value = &in->operands[red ? 1 : 2];
    uint32_t d = NO_SLOT, extra_d = 0, b = 0, extra_b = 0, c = 0;
    int64_t offset = 0;
    uint32_t base = lower_address(lo, where, &wide, &offset);
    value_slots(lo, value, false, bits, false, &b, &extra_b, &vec);
    enum atom_op op = atom_of(in);
    if (op == ATOM_CAS)
        c = lower_source(lo, &in->operands[3], bits);
    if (!red)
        value_slots(lo, &in->operands[0], true, bits, false, &d, &extra_d, &vec_d);
    uint32_t lists[2] = {extra_d, extra_b}, extra = vec > 1 ? lower_extra(lo, lists, 2) : 0;
    enum op_id id = in->space == PTX_SPACE_SHARED   ? OP_atom_shared
                    : in->space == PTX_SPACE_GLOBAL ? OP_atom_global
                                                    : OP_atom_generic;
    enum insn_class cls = in->space == PTX_SPACE_SHARED   ? INSN_ATOM_SHARED
                          : in->space == PTX_SPACE_GLOBAL ? INSN_ATOM_GLOBAL
                                                          : INSN_ATOM_GENERIC;
    struct insn *out = lower_emit(lo, id, cls);
    out->d = !red && in->operands[0].kind == PTX_OPND_SINK ? NO_SLOT : d;
    out->a = base;
    out->b = b;
    out->c = c;
    out->e = (uint32_t)op;
    out->target = (uint32_t)in->types[0];
    out->width = (uint8_t)(bits / 8);
    out->vec = (uint8_t)vec;
    out->imm = offset;
    out->extra = extra;
    out->rnd = (uint8_t)(order_of(in) == ORDER_WEAK ? ORDER_RELAXED : order_of(in));
    out->flags |= (uint8_t)(INSN_FLAG_MEMORY | INSN_FLAG_STRONG | (wide ? INSN_FLAG_ADDR64 : 0));
}

/* ---- control ---- */
void rule_bra(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    bool conditional = in->guard >= 0;
    struct insn *out = lower_emit(lo, conditional ? OP_bra_if : OP_bra,
                                  conditional ? INSN_BRANCH_IF : INSN_BRANCH);
    out->target = in->operands[0].target;
    out->flags |= INSN_FLAG_CONTROL;
    if (lo->flow.spin[lo->index])
        out->flags |= INSN_FLAG_SPIN;
}
void rule_brx(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    const struct ptx_operand *labels = &in->operands[1];
    uint32_t a = lower_source(lo, &in->operands[0], 32),
             extra = lower_extra(lo, &labels->elem_count, 1);
    for (uint32_t i = 0; i < labels->elem_count; i++)
        lower_extra(lo, &labels->elems[i].target, 1);
    struct insn *out = lower_emit(lo, OP_brx, INSN_BRANCH);
    out->a = a;
    out->extra = extra;
    out->flags |= INSN_FLAG_CONTROL;
    if (lo->flow.spin[lo->index])
        out->flags |= INSN_FLAG_SPIN;
}
void rule_control(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)in;
    struct insn *out = lower_emit(lo, (enum op_id)r->any32, INSN_CLASS_COUNT);
    out->op = r->op;
    out->flags |= INSN_FLAG_CONTROL;
}
void rule_nanosleep(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    uint32_t a = lower_source(lo, &in->operands[0], 32);
    struct insn *out = lower_emit(lo, OP_nanosleep, INSN_CLASS_COUNT);
    out->a = a;
    out->flags |= INSN_FLAG_CONTROL;
}
void rule_nop(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)in;
    (void)r;
    lower_emit(lo, OP_nop, INSN_CLASS_COUNT);
}
/* A list of call arguments or results as areas: count, then offset, stride, size of each. */
static uint32_t call_areas(struct lower *lo, const struct ptx_operand *list, bool results)
{
    uint32_t count = list ? list->elem_count : 0, areas[3 * 64 + 1] = {count};
    if (count > 64) {
        lower_fail(lo, "line %u: more than 64 call operands", lo->in->line);
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *o = &list->elems[i];
        uint32_t *at = &areas[1 + 3 * i];
        if (o->kind == PTX_OPND_VAR && o->var->space == PTX_SPACE_PARAM &&
            lower_area(lo, o->var, &at[0], &at[1])) {
            at[2] = (uint32_t)o->var->size;
        } else if (o->kind == PTX_OPND_REG) {
            unsigned bits = ptx_type_bits(lo->f->regs[o->reg].type);
            if (bits == 1)
                lower_fail(lo, "line %u: a predicate as call operand", lo->in->line);
            at[0] = results ? lower_target(lo, o, bits, false) : lower_source(lo, o, bits);
            at[1] = bits == 64 ? 8 : 4;
            at[2] = bits / 8;
        } else {
            at[0] = lower_source(lo, o, 64);
            at[1] = at[2] = 8;
        }
    }
    return lower_extra(lo, areas, 3 * count + 1);
}
void rule_call(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    const struct ptx_operand *results = NULL, *target = NULL, *args = NULL;
    for (unsigned n = 0; n < in->operand_count; n++) {
        const struct ptx_operand *o = &in->operands[n];
        if (o->kind == PTX_OPND_FUNC || o->kind == PTX_OPND_REG)
            target = target ? target : o;
        if (o->kind == PTX_OPND_LIST && !target)
            results = o;
        if (o->kind == PTX_OPND_LIST && target && !args)
            args = o;
    }
    if (!target) {
        lower_fail(lo, "line %u: no function in '%s'", in->line, in->text);
        return;
    }
    uint32_t arg_list = call_areas(lo, args, false), result_list = call_areas(lo, results, true),
             lists[2] = {arg_list, result_list};
    uint32_t extra = lower_extra(lo, lists, 2), slot = 0, callee = NO_SLOT;
    enum op_id op = OP_call;
    if (target->kind == PTX_OPND_REG) {
        slot = lower_source(lo, target, 64);
        op = OP_call_indirect;
    } else if (target->func->is_extern) {
        static const struct {
            const char *name;
            enum op_id op;
        } services[] = {
            {"vprintf", OP_call_vprintf},
            {"malloc", OP_call_malloc},
            {"free", OP_call_free},
            {"__assertfail", OP_call_assertfail},
        };
        op = OP_NONE;
        for (size_t i = 0; i < sizeof services / sizeof services[0]; i++) {
            if (strcmp(services[i].name, target->func->name) == 0)
                op = services[i].op;
        }
        if (op == OP_NONE) {
            lower_fail(lo, "line %u: '%s' has no body and is no service of the device", in->line,
                       target->func->name);
            return;
        }
    } else {
        callee = lower_callee(lo, target->func);
    }
    struct insn *out = lower_emit(lo, op, INSN_CALL);
    out->target = callee;
    out->a = slot;
    out->extra = extra;
    out->flags |= INSN_FLAG_CONTROL;
}

/* ---- within a warp; c is always the slot of the mask ---- */
static uint8_t sync_flags(const struct ptx_operand *mask)
{
    return (uint8_t)(INSN_FLAG_CONTROL | (mask->kind == PTX_OPND_IMM ? INSN_FLAG_UNIFORM : 0u));
}
void rule_shfl(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    const struct ptx_operand *d = &in->operands[0];
    uint32_t a = lower_source(lo, &in->operands[1], 32), b = lower_source(lo, &in->operands[2], 32),
             clamp = lower_source(lo, &in->operands[3], 32);
    uint32_t mask = lower_source(lo, &in->operands[4], 32), extra = lower_extra(lo, &clamp, 1);
    uint32_t to = lower_target(lo, d, 32, false),
             p = d->pair ? lower_pred_target(lo, d->pair) : NO_SLOT;
    struct insn *out = lower_emit(lo, OP_shfl, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->c = mask;
    out->d = to;
    out->e = p;
    out->extra = extra;
    out->op = has(in, PTX_MOD_UP)     ? SHFL_UP
              : has(in, PTX_MOD_DOWN) ? SHFL_DOWN
              : has(in, PTX_MOD_BFLY) ? SHFL_BFLY
                                      : SHFL_IDX;
    out->flags |= sync_flags(&in->operands[4]);
}
void rule_vote(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool negated = false, ballot = r->op != 0;
    uint32_t a = lower_pred_source(lo, &in->operands[1], &negated),
             mask = lower_source(lo, &in->operands[2], 32);
    uint32_t d = ballot ? lower_target(lo, &in->operands[0], 32, false)
                        : lower_pred_target(lo, &in->operands[0]);
    struct insn *out = lower_emit(lo, OP_vote, INSN_CLASS_COUNT);
    out->a = a;
    out->c = mask;
    out->d = d;
    out->imm = negated;
    out->op = ballot                 ? VOTE_BALLOT
              : has(in, PTX_MOD_ALL) ? VOTE_ALL
              : has(in, PTX_MOD_ANY) ? VOTE_ANY
                                     : VOTE_UNI;
    out->flags |= sync_flags(&in->operands[2]);
}
void rule_match(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    const struct ptx_operand *d = &in->operands[0];
    unsigned bits = ptx_type_bits(in->types[0]);
    uint32_t a = lower_source(lo, &in->operands[1], bits),
             mask = lower_source(lo, &in->operands[2], 32);
    uint32_t to = lower_target(lo, d, 32, false),
             p = d->pair ? lower_pred_target(lo, d->pair) : NO_SLOT;
    struct insn *out = lower_emit(lo, OP_match, INSN_CLASS_COUNT);
    out->a = a;
    out->c = mask;
    out->d = to;
    out->e = p;
    out->width = (uint8_t)(bits / 8);
    out->op = r->op;
    out->flags |= sync_flags(&in->operands[2]);
}
void rule_redux(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    uint32_t a = lower_source(lo, &in->operands[1], 32),
             mask = lower_source(lo, &in->operands[2], 32),
             d = lower_target(lo, &in->operands[0], 32, false);
    struct insn *out = lower_emit(lo, OP_redux, INSN_CLASS_COUNT);
    out->a = a;
    out->c = mask;
    out->d = d;
    out->op = (uint8_t)atom_of(in);
    out->rnd = is_signed(in->types[0]);
    out->flags |= sync_flags(&in->operands[2]);
}
void rule_elect(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    const struct ptx_operand *d = &in->operands[0];
    uint32_t mask = lower_source(lo, &in->operands[1], 32), to = lower_target(lo, d, 32, false);
    uint32_t p = d->pair ? lower_pred_target(lo, d->pair) : NO_SLOT;
    struct insn *out = lower_emit(lo, OP_elect, INSN_CLASS_COUNT);
    out->c = mask;
    out->d = to;
    out->e = p;
    out->flags |= sync_flags(&in->operands[1]);
}
void rule_warp_sync(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    uint32_t mask = lower_source(lo, &in->operands[0], 32);
    struct insn *out = lower_emit(lo, OP_warp_sync, INSN_CLASS_COUNT);
    out->c = mask;
    out->flags |= sync_flags(&in->operands[0]);
}
/* op: enum bar_kind. a: id, b: count or none, c: predicate, d: result */
void rule_bar(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool negated = false, red = r->op >= BAR_AND;
    unsigned n = red ? 1 : 0, last = in->operand_count - 1u;
    uint32_t id = lower_source(lo, &in->operands[n], 32), count = NO_SLOT, c = 0, d = 0;
    unsigned kind = r->op;
    if (red) {
        if (last == n + 2)
            count = lower_source(lo, &in->operands[n + 1], 32);
        c = lower_pred_source(lo, &in->operands[last], &negated);
        d = kind == BAR_POPC ? lower_target(lo, &in->operands[0], 32, false)
                             : lower_pred_target(lo, &in->operands[0]);
        if (kind == BAR_AND && has(in, PTX_MOD_OR))
            kind = BAR_OR;
        if (has(in, PTX_MOD_XOR))
            lower_fail(lo, "line %u: bar.red has no .xor", in->line);
    } else if (last == n + 1) {
        count = lower_source(lo, &in->operands[n + 1], 32);
    }
    struct insn *out = lower_emit(lo, OP_bar, INSN_CLASS_COUNT);
    out->a = id;
    out->b = count;
    out->c = c;
    out->d = d;
    out->imm = negated;
    out->op = (uint8_t)kind;
    out->flags |= INSN_FLAG_CONTROL;
    lo->p->uses_barrier = true;
}

/* ---- asynchronous copies and mbarriers: a, flags, imm: the mbarrier's or the destination's
 * address ---- */
void rule_cp_async(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool wide_to = false, wide_from = false;
    int64_t to_offset = 0, from_offset = 0;
    uint32_t to = lower_address(lo, &in->operands[0], &wide_to, &to_offset),
             from = lower_address(lo, &in->operands[1], &wide_from, &from_offset);
    bool hint = has(in, PTX_MOD_L2_CACHE_HINT), ignore_pred = false;
    uint32_t size = NO_SLOT;
    unsigned extra_operands = in->operand_count - 3u - (hint ? 1u : 0u);
    if (extra_operands > 0) {
        const struct ptx_operand *o = &in->operands[3];
        if (o->kind == PTX_OPND_REG && lo->f->regs[o->reg].type == PTX_TYPE_PRED)
            ignore_pred = true;
        else
            size = lower_source(lo, o, 32);
    }
    if (ignore_pred) {
        lower_fail(lo, "line %u: cp.async with ignore-src is not executed: '%s'", in->line,
                   in->text);
        return;
    }
    uint32_t list[3] = {(uint32_t)(uint64_t)from_offset, (uint32_t)((uint64_t)from_offset >> 32),
                        wide_from};
    uint32_t extra = lower_extra(lo, list, 3), bytes = (uint32_t)in->operands[2].bits;
    if (bytes != 16 && (r->op == 1 || (bytes != 4 && bytes != 8))) {
        lower_fail(lo, "line %u: cp.async of %u bytes: '%s'", in->line, bytes, in->text);
        return;
    }
    struct insn *out = lower_emit(lo, OP_cp_async, INSN_CLASS_COUNT);
    out->a = to;
    out->imm = to_offset;
    out->b = from;
    out->c = size;
    out->width = (uint8_t)bytes;
    out->extra = extra;
    out->flags |= (uint8_t)(INSN_FLAG_MEMORY | (wide_to ? INSN_FLAG_ADDR64 : 0));
}
void rule_cp_group(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    struct insn *out = lower_emit(lo, (enum op_id)r->any32, INSN_CLASS_COUNT);
    out->imm = in->operand_count ? (int64_t)in->operands[0].bits : 0;
    out->flags |= INSN_FLAG_MEMORY;
}
/* op: enum mbar_kind. d: result, b: count, token, parity or bytes */
void rule_mbarrier(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool wide = false;
    int64_t offset = 0;
    unsigned kind = r->op, n = 0;
    bool wait = kind == MBAR_TEST || kind == MBAR_TEST_PARITY;
    bool dest = in->operands[0].kind != PTX_OPND_ADDR;
    uint32_t d = NO_SLOT, b = NO_SLOT;
    if (dest)
        n = 1;
    uint32_t a = lower_address(lo, &in->operands[n], &wide, &offset);
    if (in->operand_count > n + 1u)
        b = lower_source(lo, &in->operands[n + 1], kind == MBAR_TEST ? 64 : 32);
    if (dest)
        d = wait ? lower_pred_target(lo, &in->operands[0])
                 : lower_target(lo, &in->operands[0], 64, false);
    if (dest && !wait && in->operands[0].kind == PTX_OPND_SINK)
        d = NO_SLOT;
    if (has(in, PTX_MOD_SHARED_CLUSTER)) {
        lower_fail(lo, "line %u: mbarriers of other blocks of a cluster are not executed: '%s'",
                   in->line, in->text);
        return;
    }
    struct insn *out = lower_emit(lo, OP_mbarrier, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->d = d;
    out->imm = offset;
    out->op = (uint8_t)kind;
    out->rnd = has(in, PTX_MOD_NOINC);
    out->flags |= (uint8_t)(INSN_FLAG_MEMORY | (wide ? INSN_FLAG_ADDR64 : 0));
    if (in->form == PTX_FORM_MBARRIER_TRY_WAIT || in->form == PTX_FORM_MBARRIER_TRY_WAIT_PARITY)
        out->flags |= INSN_FLAG_SPIN;
}
void rule_mbarrier_pending(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    rule_emit_plain(lo, in, OP_mbarrier_pending);
}

/* ---- matrices: extras = count and slots of each fragment in the order d a b c ---- */
static uint32_t fragment(struct lower *lo, const struct ptx_operand *o, bool load, unsigned bits)
{
    uint32_t list[33] = {0};
    const struct ptx_operand *elems = o->kind == PTX_OPND_VECTOR ? o->elems : o;
    uint32_t count = o->kind == PTX_OPND_VECTOR ? o->elem_count : 1;
    if (count > 32) {
        lower_fail(lo, "line %u: a fragment of more than 32 registers", lo->in->line);
        return 0;
    }
    list[0] = count;
    for (uint32_t i = 0; i < count; i++)
        list[1 + i] =
            load ? lower_target(lo, &elems[i], bits, false) : lower_source(lo, &elems[i], bits);
    return lower_extra(lo, list, count + 1);
}
static void shape_of(const struct ptx_inst *in, unsigned *m, unsigned *n, unsigned *k)
{
    static const struct {
        enum ptx_mod mod;
        unsigned m, n, k;
    } shapes[] = {
        {PTX_MOD_M8N8K4, 8, 8, 4},     {PTX_MOD_M8N8K16, 8, 8, 16},
        {PTX_MOD_M8N8K32, 8, 8, 32},   {PTX_MOD_M16N8K4, 16, 8, 4},
        {PTX_MOD_M16N8K8, 16, 8, 8},   {PTX_MOD_M16N8K16, 16, 8, 16},
        {PTX_MOD_M16N8K32, 16, 8, 32}, {PTX_MOD_M16N8K64, 16, 8, 64},
        {PTX_MOD_M16N16K8, 16, 16, 8}, {PTX_MOD_M16N16K16, 16, 16, 16},
        {PTX_MOD_M32N8K16, 32, 8, 16}, {PTX_MOD_M8N32K16, 8, 32, 16},
    };
    *m = *n = *k = 0;
    for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        if (!has(in, shapes[i].mod))
            continue;
        *m = shapes[i].m;
        *n = shapes[i].n;
        *k = shapes[i].k;
    }
}
/* Registers of a fragment hold packed elements of 32 bits, except f64. */
static unsigned fragment_bits(enum ptx_type t) { return t == PTX_TYPE_F64 ? 64 : 32; }
/* e: shape m | n << 8 | k << 16; target: types d | a << 8 | b << 16 | c << 24; imm: bit 0 a is
 * column major, bit 1 b is column major, bit 2 satfinite */
void rule_mma(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    unsigned m, n, k;
    shape_of(in, &m, &n, &k);
    enum ptx_type td = in->types[0], ta = in->type_count == 4 ? in->types[1] : PTX_TYPE_F16,
                  tb = in->type_count == 4 ? in->types[2] : PTX_TYPE_F16;
    enum ptx_type tc = in->type_count == 4 ? in->types[3] : in->types[1];
    if (m == 0) {
        lower_fail(lo, "line %u: matrix shape of '%s' is not executed", in->line, in->text);
        return;
    }
    unsigned majors = 0, seen = 0;
    for (unsigned i = 0; i < in->mod_count; i++) {
        if (in->mods[i] != PTX_MOD_ROW && in->mods[i] != PTX_MOD_COL)
            continue;
        if (in->mods[i] == PTX_MOD_COL)
            majors |= 1u << seen;
        seen++;
    }
    uint32_t lists[4] = {fragment(lo, &in->operands[0], true, fragment_bits(td)),
                         fragment(lo, &in->operands[1], false, fragment_bits(ta)),
                         fragment(lo, &in->operands[2], false, fragment_bits(tb)),
                         fragment(lo, &in->operands[3], false, fragment_bits(tc))};
    uint32_t extra = lower_extra(lo, lists, 4);
    struct insn *out = lower_emit(lo, (enum op_id)r->any32, INSN_CLASS_COUNT);
    out->extra = extra;
    out->e = m | n << 8 | k << 16;
    out->target = (uint32_t)td | (uint32_t)ta << 8 | (uint32_t)tb << 16 | (uint32_t)tc << 24;
    out->imm = majors | (has(in, PTX_MOD_SATFINITE) ? 4u : 0u);
    out->flags |= INSN_FLAG_CONTROL;
    const char *why = mma_refusal(out, lo->extras);
    if (!lo->failed && why)
        lower_fail(lo, "line %u: %s: '%s'", in->line, why, in->text);
}
/* op: enum matrix_move. a, flags, imm: address; c: stride slot of wmma; rnd: bit 0 transposed or
 * column major; vec: matrices; d: fragment list */
void rule_matrix_move(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool store = r->op == MATRIX_ST || r->op == MATRIX_STORE_D, wide = false;
    bool plain = r->op == MATRIX_LD || r->op == MATRIX_ST;
    int64_t offset = 0;
    unsigned m = 0, n = 0, k = 0;
    shape_of(in, &m, &n, &k);
    enum ptx_type t = in->types[0];
    uint32_t base = lower_address(lo, &in->operands[store ? 0 : 1], &wide, &offset);
    uint32_t list =
        fragment(lo, &in->operands[store ? 1 : 0], !store, plain ? 32 : fragment_bits(t));
    uint32_t stride = in->operand_count > 2 ? lower_source(lo, &in->operands[2], 32) : NO_SLOT;
    if (!plain && m == 0) {
        lower_fail(lo, "line %u: matrix shape of '%s' is not executed", in->line, in->text);
        return;
    }
    struct insn *out = lower_emit(lo, plain ? OP_matrix_move : OP_wmma_move, INSN_CLASS_COUNT);
    out->a = base;
    out->imm = offset;
    out->c = stride;
    out->d = list;
    out->e = m | n << 8 | k << 16;
    out->target = (uint32_t)t;
    out->op = r->op;
    out->rnd = plain ? has(in, PTX_MOD_TRANS) : has(in, PTX_MOD_COL);
    out->vec = has(in, PTX_MOD_X4) ? 4 : has(in, PTX_MOD_X2) ? 2 : 1;
    out->width = (uint8_t)(plain ? PTX_SPACE_SHARED : in->space);
    if (plain && in->space == PTX_SPACE_GENERIC)
        out->width = PTX_SPACE_GENERIC;
    out->flags |= (uint8_t)(INSN_FLAG_CONTROL | (wide ? INSN_FLAG_ADDR64 : 0));
    const char *why = plain ? NULL : mma_refusal(out, lo->extras);
    if (!lo->failed && why)
        lower_fail(lo, "line %u: %s: '%s'", in->line, why, in->text);
}
void rule_movmatrix(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    struct insn *out = rule_emit_plain(lo, in, OP_movmatrix);
    out->flags |= INSN_FLAG_CONTROL;
}

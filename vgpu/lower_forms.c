/*
 * lower_forms.c - rules of arithmetic, comparison, conversion and move instructions, and the table
 * of all rules. Memory, control, synchronisation and matrices are in lower_system.c; slots and
 * layout are handed out by lower.c. Invariant: a DONE row of ops.def without a rule fails to lower,
 * by name.
 */
#include "lower_rules.h"

/* ---- modifiers ---- */
static bool has(const struct ptx_inst *in, enum ptx_mod m) { return rule_has(in, m); }

static unsigned rounding_mode(const struct ptx_inst *in)
{
    for (unsigned i = 0; i < in->mod_count; i++) {
        enum ptx_mod m = in->mods[i];
        if (m == PTX_MOD_RZ || m == PTX_MOD_RZI)
            return ROUND_MODE_ZERO;
        if (m == PTX_MOD_RM || m == PTX_MOD_RMI)
            return ROUND_MODE_DOWN;
        if (m == PTX_MOD_RP || m == PTX_MOD_RPI)
            return ROUND_MODE_UP;
        if (m == PTX_MOD_RNA)
            return ROUND_MODE_AWAY;
    }
    return 0;
}
static unsigned float_mode(const struct ptx_inst *in)
{
    return rounding_mode(in) | (has(in, PTX_MOD_FTZ) ? FLOAT_FTZ : 0) |
           (has(in, PTX_MOD_SAT) ? FLOAT_SAT : 0) | (has(in, PTX_MOD_NAN_RESULT) ? FLOAT_NAN : 0) |
           (has(in, PTX_MOD_XORSIGN) ? FLOAT_XORSIGN : 0) |
           (has(in, PTX_MOD_RELU) ? FLOAT_RELU : 0);
}
static bool is_integral_rounding(const struct ptx_inst *in)
{
    return has(in, PTX_MOD_RNI) || has(in, PTX_MOD_RZI) || has(in, PTX_MOD_RMI) ||
           has(in, PTX_MOD_RPI);
}
static bool is_half(enum ptx_type t)
{
    return t == PTX_TYPE_F16 || t == PTX_TYPE_F16X2 || t == PTX_TYPE_BF16 || t == PTX_TYPE_BF16X2;
}
static bool is_bf(enum ptx_type t) { return t == PTX_TYPE_BF16 || t == PTX_TYPE_BF16X2; }
static bool is_packed(enum ptx_type t) { return t == PTX_TYPE_F16X2 || t == PTX_TYPE_BF16X2; }
static bool is_signed(enum ptx_type t) { return ptx_type_class(t) == PTX_CLASS_SIGNED; }
static bool is_float(enum ptx_type t) { return ptx_type_class(t) == PTX_CLASS_FLOAT; }

/* The bits of operand n by its column in ops.def. */
static unsigned operand_bits(const struct ptx_inst *in, unsigned n)
{
    struct op_shape shape;
    if (!op_operand_shape(in, n, &shape))
        return 32;
    return ptx_type_bits(op_shape_type(&shape, in->types));
}

/* ---- the general rule: destination, then up to four sources ---- */
struct insn *rule_emit_plain(struct lower *lo, const struct ptx_inst *in, unsigned op)
{
    uint32_t from[4] = {0, 0, 0, 0};
    if (op == OP_NONE) {
        lower_fail(lo, "line %u: '%s' is not executed for this type", in->line, in->text);
    }
    if (lo->failed)
        return lower_emit(lo, OP_nop, INSN_CLASS_COUNT);
    for (unsigned n = 1; n < in->operand_count && n < 5; n++)
        from[n - 1] = lower_source(lo, &in->operands[n], operand_bits(in, n));
    uint32_t to = lower_target(lo, &in->operands[0], operand_bits(in, 0), is_signed(in->types[0]));
    struct insn *out = lower_emit(lo, (enum op_id)op, INSN_CLASS_COUNT);
    out->d = to;
    out->a = from[0];
    out->b = from[1];
    out->c = from[2];
    out->e = from[3];
    return out;
}
static void rule_plain(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    struct insn *out = rule_emit_plain(lo, in, r->ops[in->types[0]]);
    out->op = r->op;
}
/* ops by type; any32 is the saturating s32 form. */
static void rule_sat(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    if (has(in, PTX_MOD_SAT))
        rule_emit_plain(lo, in, in->types[0] == PTX_TYPE_S32 ? r->any32 : OP_NONE);
    else
        rule_emit_plain(lo, in, r->ops[in->types[0]]);
}
static void rule_carry(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    struct insn *out = rule_emit_plain(lo, in, r->ops[in->types[0]]);
    out->e = PRED_CARRY;
    if (has(in, PTX_MOD_CC))
        out->flags |= INSN_FLAG_SETS_CC;
}
/* op: 0 mad.cc, 1 madc */
static void rule_madc(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    rule_carry(lo, in, r);
    if (lo->failed)
        return;
    struct insn *out = &lo->code[lo->code_count - 1];
    out->rnd = has(in, PTX_MOD_LO) ? 0 : is_signed(in->types[0]) ? 2 : 1;
    out->imm = r->op;
}
static void rule_dot(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    struct insn *out = rule_emit_plain(lo, in, r->any32);
    out->rnd =
        (uint8_t)((is_signed(in->types[0]) ? 1 : 0) | (is_signed(in->types[1]) ? 2 : 0) | r->op);
}
static void rule_bfind(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    struct insn *out = rule_emit_plain(lo, in, r->ops[in->types[0]]);
    out->imm = has(in, PTX_MOD_SHIFTAMT) ? (int64_t)ptx_type_bits(in->types[0]) - 1 : 0;
}
static void rule_shf(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    bool wrap = has(in, PTX_MOD_WRAP);
    rule_emit_plain(lo, in,
                    has(in, PTX_MOD_L) ? (wrap ? OP_shf_l_wrap : OP_shf_l_clamp)
                                       : (wrap ? OP_shf_r_wrap : OP_shf_r_clamp));
}
static void rule_wrap_clamp(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    rule_emit_plain(lo, in, has(in, PTX_MOD_WRAP) ? r->any32 : r->ops[in->types[0]]);
}
static void rule_szext(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    bool wrap = has(in, PTX_MOD_WRAP);
    rule_emit_plain(lo, in,
                    is_signed(in->types[0]) ? (wrap ? OP_szext_s32_wrap : OP_szext_s32_clamp)
                                            : (wrap ? OP_szext_u32_wrap : OP_szext_u32_clamp));
}
static void rule_lop3(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    int64_t table = (int64_t)in->operands[4].bits & 255;
    struct insn *out = rule_emit_plain(lo, in, OP_lop3);
    out->imm = table;
}
static void rule_prmt(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    static const enum ptx_mod modes[] = {PTX_MOD_F4E, PTX_MOD_B4E, PTX_MOD_RC8,
                                         PTX_MOD_ECL, PTX_MOD_ECR, PTX_MOD_RC16};
    struct insn *out = rule_emit_plain(lo, in, OP_prmt);
    for (unsigned i = 0; i < 6; i++) {
        if (has(in, modes[i]))
            out->rnd = (uint8_t)(i + 1);
    }
}
static void rule_cvt_pack(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    struct insn *out = rule_emit_plain(lo, in, OP_cvt_pack);
    enum ptx_type t = in->types[0];
    out->width = t == PTX_TYPE_U4 || t == PTX_TYPE_S4 ? 4 : (uint8_t)ptx_type_bits(t);
    out->rnd = is_signed(t) || t == PTX_TYPE_S4;
}

/* ---- floats ---- */
static void rule_float(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    enum ptx_type t = in->types[0];
    unsigned mode = float_mode(in), op = r->ops[t];
    if (mode == FLOAT_FTZ && t == PTX_TYPE_F32 && r->ftz)
        op = r->ftz;
    else if (mode != 0 && t == PTX_TYPE_F32)
        op = r->any32;
    else if (mode != 0 && t == PTX_TYPE_F64)
        op = r->any64;
    if (in->form == PTX_FORM_FMA_F && t == PTX_TYPE_F32) {
        if (mode == ROUND_MODE_DOWN)
            op = OP_fma_f32_rm;
        if (mode == ROUND_MODE_UP)
            op = OP_fma_f32_rp;
        if (mode == ROUND_MODE_ZERO)
            op = OP_fma_f32_rz;
    }
    if (in->form == PTX_FORM_ADD_F && t == PTX_TYPE_F32 && mode == ROUND_MODE_ZERO)
        op = OP_add_f32_rz;
    struct insn *out = rule_emit_plain(lo, in, op);
    out->rnd = (uint8_t)mode;
    out->tally = t == PTX_TYPE_F64 ? TALLY_F64 : r->tally;
}
/* Approximate and sign functions obey insn.rnd in their only handler. */
static void rule_float_mode(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    unsigned mode = float_mode(in), op = r->ops[in->types[0]];
    if ((mode & FLOAT_FTZ) && r->ftz)
        op = r->ftz;
    struct insn *out = rule_emit_plain(lo, in, op);
    out->rnd = (uint8_t)mode;
    if (in->types[0] == PTX_TYPE_F64)
        out->tally = TALLY_F64;
}
static void rule_half(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    enum ptx_type t = in->types[0];
    unsigned mode = float_mode(in);
    struct insn *out = rule_emit_plain(lo, in, mode == 0 && r->ops[t] ? r->ops[t] : r->any32);
    out->rnd = (uint8_t)mode;
    out->tally = is_half(t) ? TALLY_F16 : TALLY_NONE;
    out->e = (is_bf(t) ? 1u : 0) | (is_packed(t) ? 2u : 0);
}
static void rule_testp(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    static const enum ptx_mod kinds[] = {PTX_MOD_FINITE,     PTX_MOD_INFINITE, PTX_MOD_NUMBER,
                                         PTX_MOD_NOTANUMBER, PTX_MOD_NORMAL,   PTX_MOD_SUBNORMAL};
    bool f64 = in->types[0] == PTX_TYPE_F64;
    uint32_t from = lower_source(lo, &in->operands[1], f64 ? 64 : 32),
             to = lower_pred_target(lo, &in->operands[0]);
    struct insn *out = lower_emit(lo, f64 ? OP_testp_f64 : OP_testp_f32, INSN_CLASS_COUNT);
    out->a = from;
    out->d = to;
    for (unsigned i = 0; i < 6; i++) {
        if (has(in, kinds[i]))
            out->rnd = (uint8_t)i;
    }
}

/* ---- comparisons ---- */
static const enum op_id float_compares[2][14] = {
    {OP_setp_eq_f32, OP_setp_ne_f32, OP_setp_lt_f32, OP_setp_le_f32, OP_setp_gt_f32, OP_setp_ge_f32,
     OP_setp_equ_f32, OP_setp_neu_f32, OP_setp_ltu_f32, OP_setp_leu_f32, OP_setp_gtu_f32,
     OP_setp_geu_f32, OP_setp_num_f32, OP_setp_nan_f32},
    {OP_setp_eq_f64, OP_setp_ne_f64, OP_setp_lt_f64, OP_setp_le_f64, OP_setp_gt_f64, OP_setp_ge_f64,
     OP_setp_equ_f64, OP_setp_neu_f64, OP_setp_ltu_f64, OP_setp_leu_f64, OP_setp_gtu_f64,
     OP_setp_geu_f64, OP_setp_num_f64, OP_setp_nan_f64},
};
/* by width 16, 32, 64, then eq ne lt le gt ge; the last four unsigned, then signed */
static const enum op_id int_compares[3][10] = {
    {OP_setp_eq_16, OP_setp_ne_16, OP_setp_lt_u16, OP_setp_le_u16, OP_setp_gt_u16, OP_setp_ge_u16,
     OP_setp_lt_s16, OP_setp_le_s16, OP_setp_gt_s16, OP_setp_ge_s16},
    {OP_setp_eq_32, OP_setp_ne_32, OP_setp_lt_u32, OP_setp_le_u32, OP_setp_gt_u32, OP_setp_ge_u32,
     OP_setp_lt_s32, OP_setp_le_s32, OP_setp_gt_s32, OP_setp_ge_s32},
    {OP_setp_eq_64, OP_setp_ne_64, OP_setp_lt_u64, OP_setp_le_u64, OP_setp_gt_u64, OP_setp_ge_u64,
     OP_setp_lt_s64, OP_setp_le_s64, OP_setp_gt_s64, OP_setp_ge_s64},
};
static const struct {
    enum ptx_mod mod;
    enum compare cmp;
} compare_mods[] = {
    {PTX_MOD_EQ, CMP_EQ},   {PTX_MOD_NE, CMP_NE},   {PTX_MOD_LT, CMP_LT},
    {PTX_MOD_LE, CMP_LE},   {PTX_MOD_GT, CMP_GT},   {PTX_MOD_GE, CMP_GE},
    {PTX_MOD_LO, CMP_LT},   {PTX_MOD_LS, CMP_LE},   {PTX_MOD_HI, CMP_GT},
    {PTX_MOD_HS, CMP_GE},   {PTX_MOD_EQU, CMP_EQU}, {PTX_MOD_NEU, CMP_NEU},
    {PTX_MOD_LTU, CMP_LTU}, {PTX_MOD_LEU, CMP_LEU}, {PTX_MOD_GTU, CMP_GTU},
    {PTX_MOD_GEU, CMP_GEU}, {PTX_MOD_NUM, CMP_NUM}, {PTX_MOD_NAN_CMP, CMP_NAN},
};
static enum compare compare_of(const struct ptx_inst *in)
{
    for (size_t i = 0; i < sizeof compare_mods / sizeof compare_mods[0]; i++) {
        if (in->mod_count > 0 && in->mods[0] == compare_mods[i].mod)
            return compare_mods[i].cmp;
    }
    return CMP_EQ;
}
static enum op_id compare_op(const struct ptx_inst *in, enum ptx_type t)
{
    enum compare cmp = compare_of(in);
    if (is_float(t)) {
        if (t == PTX_TYPE_F32 && has(in, PTX_MOD_FTZ))
            return OP_setp_f32_ftz;
        return float_compares[t == PTX_TYPE_F64][cmp];
    }
    unsigned bits = ptx_type_bits(t), row = bits == 64 ? 2 : bits == 32 ? 1 : 0;
    bool ordered = cmp >= CMP_LT;
    if (cmp > CMP_GE)
        return OP_NONE;
    return int_compares[row][(unsigned)cmp + (ordered && is_signed(t) ? 4 : 0)];
}
static enum bool_op bool_of(const struct ptx_inst *in)
{
    return has(in, PTX_MOD_AND)   ? BOOL_AND
           : has(in, PTX_MOD_OR)  ? BOOL_OR
           : has(in, PTX_MOD_XOR) ? BOOL_XOR
                                  : BOOL_NONE;
}
/* The third operand of .and .or .xor: predicate in c, inversion mask in imm. */
static void set_third(struct lower *lo, const struct ptx_inst *in, uint32_t *c, int64_t *imm)
{
    bool negated = false;
    *c = 0;
    *imm = 0;
    if (bool_of(in) == BOOL_NONE)
        return;
    *c = lower_pred_source(lo, &in->operands[3], &negated);
    *imm = negated ? 0xffffffff : 0;
}
static void rule_setp(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    enum ptx_type t = in->types[0];
    unsigned bits = ptx_type_bits(t);
    enum op_id op = compare_op(in, t);
    uint32_t c = 0, a = lower_source(lo, &in->operands[1], bits),
             b = lower_source(lo, &in->operands[2], bits);
    int64_t imm = 0;
    set_third(lo, in, &c, &imm);
    const struct ptx_operand *d = &in->operands[0];
    bool full = d->pair || bool_of(in) != BOOL_NONE;
    uint32_t to = lower_pred_target(lo, d), extra = (uint32_t)op,
             list = full ? lower_extra(lo, &extra, 1) : 0;
    uint32_t second = d->pair ? lower_pred_target(lo, d->pair) : NO_SLOT;
    struct insn *out = lower_emit(lo, full ? OP_setp_full : op, INSN_CLASS_COUNT);
    if (!is_float(t))
        out->cls = INSN_INT;
    out->a = a;
    out->b = b;
    out->c = c;
    out->d = to;
    out->e = second;
    out->imm = imm;
    out->rnd = (uint8_t)bool_of(in);
    out->extra = list;
    out->target = (uint32_t)compare_of(in);
}
static void rule_set(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    enum ptx_type t = in->types[1];
    unsigned bits = ptx_type_bits(t);
    uint32_t c = 0, a = lower_source(lo, &in->operands[1], bits),
             b = lower_source(lo, &in->operands[2], bits);
    int64_t imm = 0;
    set_third(lo, in, &c, &imm);
    uint32_t extra[2] = {(uint32_t)compare_op(in, t),
                         in->types[0] == PTX_TYPE_F32 ? 0x3f800000u : 0xffffffffu};
    uint32_t list = lower_extra(lo, extra, 2), to = lower_target(lo, &in->operands[0], 32, false);
    struct insn *out = lower_emit(lo, OP_set_full, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->c = c;
    out->d = to;
    out->imm = imm;
    out->rnd = (uint8_t)bool_of(in);
    out->extra = list;
    out->target = (uint32_t)compare_of(in);
}
static unsigned half_bits(const struct ptx_inst *in, enum ptx_type t)
{
    return (is_bf(t) ? 1u : 0) | (is_packed(t) ? 2u : 0) | (has(in, PTX_MOD_FTZ) ? 4u : 0);
}
static void rule_setp_half(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    uint32_t c = 0, a = lower_source(lo, &in->operands[1], 32),
             b = lower_source(lo, &in->operands[2], 32);
    int64_t imm = 0;
    set_third(lo, in, &c, &imm);
    const struct ptx_operand *d = &in->operands[0];
    uint32_t to = lower_pred_target(lo, d),
             second = d->pair ? lower_pred_target(lo, d->pair) : NO_SLOT;
    struct insn *out = lower_emit(lo, OP_setp_half, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->c = c;
    out->d = to;
    out->e = second;
    out->imm = imm;
    out->rnd = (uint8_t)bool_of(in);
    out->target = (uint32_t)compare_of(in);
    out->width = (uint8_t)half_bits(in, in->types[0]);
}
static void rule_set_half(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    enum ptx_type d = in->types[0], s = in->types[1];
    uint32_t c = 0, a = lower_source(lo, &in->operands[1], 32),
             b = lower_source(lo, &in->operands[2], 32);
    int64_t imm = 0;
    set_third(lo, in, &c, &imm);
    bool whole = !is_half(d) && !is_packed(s); /* an integer of 16 or 32 bits: all ones */
    uint32_t yes = whole ? 0xffffffffu : !is_half(d) ? 0xffffu : is_bf(d) ? 0x3f80u : 0x3c00u;
    uint32_t list = lower_extra(lo, &yes, 1), to = lower_target(lo, &in->operands[0], 32, false);
    struct insn *out = lower_emit(lo, OP_set_half, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->c = c;
    out->d = to;
    out->imm = imm;
    out->rnd = (uint8_t)bool_of(in);
    out->extra = list;
    out->target = (uint32_t)compare_of(in);
    out->width = (uint8_t)half_bits(in, s);
}
static void rule_selp(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    unsigned bits = ptx_type_bits(in->types[0]);
    bool negated = false;
    uint32_t a = lower_source(lo, &in->operands[1], bits),
             b = lower_source(lo, &in->operands[2], bits);
    uint32_t c = lower_pred_source(lo, &in->operands[3], &negated),
             d = lower_target(lo, &in->operands[0], bits, false);
    struct insn *out = lower_emit(lo, bits == 64 ? OP_selp_64 : OP_selp_32, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->c = c;
    out->d = d;
    out->imm = negated ? 0xffffffff : 0;
}
static void rule_slct(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    bool wide = ptx_type_bits(in->types[0]) == 64, by_float = in->types[1] == PTX_TYPE_F32;
    struct insn *out = rule_emit_plain(lo, in,
                                       wide ? (by_float ? OP_slct_64_f32 : OP_slct_64_s32)
                                            : (by_float ? OP_slct_32_f32 : OP_slct_32_s32));
    out->rnd = (uint8_t)float_mode(in);
}
static void rule_pred(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    bool na = false, nb = false;
    uint32_t a = lower_pred_source(lo, &in->operands[1], &na),
             b = in->operand_count > 2 ? lower_pred_source(lo, &in->operands[2], &nb) : 0;
    uint32_t d = lower_pred_target(lo, &in->operands[0]);
    struct insn *out = lower_emit(lo, (enum op_id)r->any32, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->d = d;
    out->imm = (na ? 1 : 0) | (nb ? 2 : 0);
}

/* ---- moves and conversions ---- */
static void rule_mov(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    const struct ptx_operand *d = &in->operands[0], *s = &in->operands[1];
    unsigned bits = ptx_type_bits(in->types[0]);
    const struct ptx_operand *vector = d->kind == PTX_OPND_VECTOR   ? d
                                       : s->kind == PTX_OPND_VECTOR ? s
                                                                    : NULL;
    if (bits > 64) {
        lower_fail(lo, "line %u: 128-bit moves are not executed: '%s'", in->line, in->text);
        return;
    }
    if (!vector) {
        rule_emit_plain(lo, in, bits == 64 ? OP_mov_64 : OP_mov_32);
        return;
    }
    uint32_t list[9] = {vector->elem_count};
    unsigned part = bits / (vector->elem_count ? vector->elem_count : 1);
    if (vector->elem_count > 8 || (part != 8 && part != 16 && part != 32)) {
        lower_fail(lo, "line %u: '%s' packs parts of %u bits", in->line, in->text, part);
        return;
    }
    for (uint32_t i = 0; i < vector->elem_count; i++) {
        const struct ptx_operand *e = &vector->elems[i];
        list[1 + i] = e->kind == PTX_OPND_SINK ? NO_SLOT
                      : vector == d            ? lower_target(lo, e, 32, false)
                                               : lower_source(lo, e, 32);
    }
    uint32_t extra = lower_extra(lo, list, vector->elem_count + 1);
    uint32_t whole = vector == d ? lower_source(lo, s, bits) : lower_target(lo, d, bits, false);
    struct insn *out = lower_emit(lo, vector == d ? OP_mov_unpack : OP_mov_pack, INSN_CLASS_COUNT);
    out->extra = extra;
    out->width = (uint8_t)(part / 8);
    if (vector == d)
        out->a = whole;
    else
        out->d = whole;
}

static enum op_id quick_cvt_int(enum ptx_type d, enum ptx_type s)
{
    unsigned db = ptx_type_bits(d), sb = ptx_type_bits(s);
    bool ss = is_signed(s), ds = is_signed(d);
    if (db == 64) {
        if (sb == 64)
            return OP_mov_64;
        if (sb == 32)
            return ss ? OP_cvt_u64_s32 : OP_cvt_u64_u32;
        if (sb == 16)
            return ss ? OP_cvt_u64_s16 : OP_cvt_u64_u16;
        return ss ? OP_cvt_u64_s8 : OP_cvt_u64_u8;
    }
    if (sb == 64) {
        if (db == 32)
            return OP_cvt_u32_u64;
        if (db == 16)
            return ds ? OP_cvt_s16_u64 : OP_cvt_u16_u64;
        return ds ? OP_cvt_s8_u64 : OP_cvt_u8_u64;
    }
    if (db == 32) {
        if (sb == 32)
            return OP_mov_32;
        if (sb == 16)
            return ss ? OP_cvt_s16_s16 : OP_cvt_u16_u16;
        return ss ? OP_cvt_s8_s8 : OP_cvt_u8_u8;
    }
    if (db == 16) {
        if (sb >= 16)
            return ds ? OP_cvt_s16_s16 : OP_cvt_u16_u16;
        if (ss)
            return ds ? OP_cvt_s8_s8 : OP_cvt_u16_s8;
        return OP_cvt_u8_u8;
    }
    return ds ? OP_cvt_s8_s8 : OP_cvt_u8_u8;
}
static enum op_id quick_cvt(const struct ptx_inst *in, unsigned mode)
{
    enum ptx_type d = in->types[0], s = in->types[1];
    bool integral = is_integral_rounding(in);
    if (!is_float(d) && !is_float(s))
        return mode & FLOAT_SAT ? OP_NONE : quick_cvt_int(d, s);
    if (d == PTX_TYPE_F32 && s == PTX_TYPE_F32) {
        if (!integral)
            return mode == FLOAT_SAT ? OP_cvt_sat_f32 : mode == 0 ? OP_mov_32 : OP_NONE;
        static const enum op_id by_mode[] = {OP_cvt_rni_f32, OP_cvt_rzi_f32, OP_cvt_rmi_f32,
                                             OP_cvt_rpi_f32};
        return mode < 4 ? by_mode[mode] : OP_NONE;
    }
    if (d == PTX_TYPE_S32 && s == PTX_TYPE_F32) {
        return mode == ROUND_MODE_ZERO ? OP_cvt_rzi_s32_f32
               : mode == 0             ? OP_cvt_rni_s32_f32
                                       : OP_NONE;
    }
    if (mode != 0 || integral)
        return OP_NONE;
    static const struct {
        enum ptx_type d, s;
        enum op_id op;
    } quick[] = {
        {PTX_TYPE_F32, PTX_TYPE_S32, OP_cvt_f32_s32},
        {PTX_TYPE_F32, PTX_TYPE_U32, OP_cvt_f32_u32},
        {PTX_TYPE_F64, PTX_TYPE_S32, OP_cvt_f64_s32},
        {PTX_TYPE_F64, PTX_TYPE_U32, OP_cvt_f64_u32},
        {PTX_TYPE_F64, PTX_TYPE_S64, OP_cvt_f64_s64},
        {PTX_TYPE_F32, PTX_TYPE_S64, OP_cvt_f32_s64},
        {PTX_TYPE_F64, PTX_TYPE_F32, OP_cvt_f64_f32},
        {PTX_TYPE_F32, PTX_TYPE_F64, OP_cvt_f32_f64},
        {PTX_TYPE_F32, PTX_TYPE_F16, OP_cvt_f32_f16},
        {PTX_TYPE_F16, PTX_TYPE_F32, OP_cvt_f16_f32},
        {PTX_TYPE_F32, PTX_TYPE_BF16, OP_cvt_f32_bf16},
        {PTX_TYPE_BF16, PTX_TYPE_F32, OP_cvt_bf16_f32},
    };
    for (size_t i = 0; i < sizeof quick / sizeof quick[0]; i++) {
        if (quick[i].d == d && quick[i].s == s)
            return quick[i].op;
    }
    return OP_NONE;
}
static void rule_cvt(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    enum ptx_type d = in->types[0], s = in->types[1];
    unsigned mode = float_mode(in);
    enum op_id op = quick_cvt(in, mode);
    uint32_t a = lower_source(lo, &in->operands[1], ptx_type_bits(s)),
             to = lower_target(lo, &in->operands[0], ptx_type_bits(d), is_signed(d));
    uint32_t types[2] = {(uint32_t)d, (uint32_t)s},
             extra = op == OP_NONE ? lower_extra(lo, types, 2) : 0;
    struct insn *out = lower_emit(lo, op == OP_NONE ? OP_cvt_any : op, INSN_CLASS_COUNT);
    out->a = a;
    out->d = to;
    out->extra = extra;
    out->rnd = (uint8_t)mode;
    out->imm = is_integral_rounding(in);
}
static void rule_cvt_narrow(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    unsigned mode = float_mode(in);
    bool finite = has(in, PTX_MOD_SATFINITE);
    uint32_t type = (uint32_t)in->types[0], extra = lower_extra(lo, &type, 1);
    enum op_id op = OP_cvt_narrow_any;
    if (!finite && mode == 0 && in->types[0] == PTX_TYPE_F16X2)
        op = OP_cvt_f16x2_f32;
    if (!finite && mode == 0 && in->types[0] == PTX_TYPE_BF16X2)
        op = OP_cvt_bf16x2_f32;
    if (!finite && mode == ROUND_MODE_AWAY && in->types[0] == PTX_TYPE_TF32)
        op = OP_cvt_tf32_rna;
    struct insn *out = rule_emit_plain(lo, in, op);
    out->extra = extra;
    out->rnd = (uint8_t)mode;
    out->imm = finite ? 2 : 0;
}
/* op: which of the two types is the 8-bit one. */
static void rule_fp8(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    struct insn *out = rule_emit_plain(lo, in, r->any32);
    out->rnd =
        (uint8_t)((in->types[r->op] == PTX_TYPE_E5M2X2 ? 1 : 0) | (has(in, PTX_MOD_RELU) ? 2 : 0));
}
/* Generic windows: add or subtract the base of the space; global and const addresses are generic
 * already. */
static void rule_cvta(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    unsigned bits = ptx_type_bits(in->types[0]);
    uint64_t base = in->space == PTX_SPACE_SHARED  ? SHARED_WINDOW
                    : in->space == PTX_SPACE_LOCAL ? LOCAL_WINDOW
                                                   : 0;
    if (bits != 64) {
        lower_fail(lo, "line %u: 32-bit generic addresses do not exist here: '%s'", in->line,
                   in->text);
        return;
    }
    uint32_t a = lower_source(lo, &in->operands[1], 64), b = lower_constant(lo, base, 8),
             d = lower_target(lo, &in->operands[0], 64, false);
    bool back = in->form == PTX_FORM_CVTA_TO;
    enum op_id op = in->space == PTX_SPACE_PARAM ? OP_cvta_param
                    : base == 0                  ? OP_mov_64
                    : back                       ? OP_sub_64
                                                 : OP_add_64;
    struct insn *out = lower_emit(lo, op, INSN_CLASS_COUNT);
    out->a = a;
    out->b = b;
    out->d = d;
    out->op = back;
    if (in->space == PTX_SPACE_PARAM)
        lo->p->uses_param_address = true;
}
static void rule_isspacep(struct lower *lo, const struct ptx_inst *in, const struct rule *r)
{
    (void)r;
    uint32_t a = lower_source(lo, &in->operands[1], 64),
             d = lower_pred_target(lo, &in->operands[0]);
    struct insn *out = lower_emit(lo, OP_isspacep, INSN_CLASS_COUNT);
    out->a = a;
    out->d = d;
    out->op = (uint8_t)in->space;
}

#include "lower_rules.def"

void lower_instruction(struct lower *lo)
{
    const struct ptx_inst *in = lo->in;
    const struct rule *r = &rules[in->form];
    if (!r->fn) {
        lower_fail(lo, "line %u: no rule executes '%s'", in->line, in->text);
        return;
    }
    r->fn(lo, in, r);
}

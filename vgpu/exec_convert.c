/*
 * exec_convert.c - lane loops of cvt. The frequent pairs have their own loop; everything else goes
 * through one general scalar conversion. Invariant: results narrower than their register are
 * extended by the destination type; conversions to integers saturate.
 */
#include "exec.h"
#include "ieee.h"

/* ---- integer to integer: read by the source type, cut to the destination type, extend by it ----
 */
#define U8_TO_32(x)  ((uint32_t)(uint8_t)(x))
#define S8_TO_32(x)  ((uint32_t)(int8_t)(x))
#define U16_TO_32(x) ((uint32_t)(uint16_t)(x))
#define S16_TO_32(x) ((uint32_t)(int16_t)(x))
#define U32_TO_32(x) ((uint32_t)(x))
#define U8_TO_64(x)  ((uint64_t)(uint8_t)(x))
#define S8_TO_64(x)  ((uint64_t)(int64_t)(int8_t)(x))
#define U16_TO_64(x) ((uint64_t)(uint16_t)(x))
#define S16_TO_64(x) ((uint64_t)(int64_t)(int16_t)(x))
#define U32_TO_64(x) ((uint64_t)(uint32_t)(x))
#define S32_TO_64(x) ((uint64_t)(int64_t)(int32_t)(x))
#define INT_TO_32(NAME, D, S)                                                                      \
    MAP(cvt_##NAME, lane_u32, lane_u32, lane_u32, lane_u32, D##_TO_32(S##_TO_32(a)))
#define INT_TO_64(NAME, S)   MAP(cvt_##NAME, lane_u64, lane_u32, lane_u32, lane_u32, S##_TO_64(a))
#define INT_FROM_64(NAME, D) MAP(cvt_##NAME, lane_u32, lane_u64, lane_u64, lane_u64, D##_TO_32(a))
INT_TO_32(u8_u8, U8, U8)
INT_TO_32(s8_s8, S8, S8)
INT_TO_32(u16_u16, U16, U16)
INT_TO_32(s16_s16, S16, S16)
INT_TO_32(u16_s8, U16, S8)
INT_TO_64(u64_u8, U8)
INT_TO_64(u64_s8, S8)
INT_TO_64(u64_u16, U16)
INT_TO_64(u64_s16, S16)
INT_TO_64(u64_u32, U32)
INT_TO_64(u64_s32, S32)
INT_FROM_64(u8_u64, U8)
INT_FROM_64(s8_u64, S8)
INT_FROM_64(u16_u64, U16)
INT_FROM_64(s16_u64, S16)
INT_FROM_64(u32_u64, U32)

/* ---- frequent float pairs, nearest even ---- */
MAP(cvt_f32_s32, lane_f32, lane_s32, lane_s32, lane_s32, (float)a)
MAP(cvt_f32_u32, lane_f32, lane_u32, lane_u32, lane_u32, (float)(double)a)
MAP(cvt_f64_s32, lane_f64, lane_s32, lane_s32, lane_s32, (double)a)
MAP(cvt_f64_u32, lane_f64, lane_u32, lane_u32, lane_u32, (double)a)
MAP(cvt_f64_s64, lane_f64, lane_s64, lane_s64, lane_s64, (double)a)
MAP(cvt_f32_s64, lane_f32, lane_s64, lane_s64, lane_s64, (float)a)
MAP(cvt_f64_f32, lane_f64, lane_f32, lane_f32, lane_f32, f64_from_f32(a))
MAP(cvt_f32_f64, lane_f32, lane_f64, lane_f64, lane_f64, a == a ? (float)a : f32_nan_from_f64(a))
MAP(cvt_f32_f16, lane_f32, lane_u32, lane_u32, lane_u32, f32_canon(f16_to_f32(a)))
MAP(cvt_f16_f32, lane_u32, lane_f32, lane_f32, lane_f32, f16_from_f32(a))
MAP(cvt_f32_bf16, lane_f32, lane_u32, lane_u32, lane_u32,
    bf16_to_f32(a)) /* a NaN keeps every bit */
MAP(cvt_bf16_f32, lane_u32, lane_f32, lane_f32, lane_f32, bf16_from_f32(a))
MAP(cvt_f16x2_f32, lane_u32, lane_f32, lane_f32, lane_f32, f16_from_f32(a) << 16 | f16_from_f32(b))
MAP(cvt_bf16x2_f32, lane_u32, lane_f32, lane_f32, lane_f32,
    bf16_from_f32(a) << 16 | bf16_from_f32(b))
MAP(cvt_tf32_rna, lane_u32, lane_f32, lane_f32, lane_f32, tf32_from_f32(a))
MAP(cvt_sat_f32, lane_f32, lane_f32, lane_f32, lane_f32, f32_sat(a))
MAP(cvt_rni_f32, lane_f32, lane_f32, lane_f32, lane_f32, f32_integral(a, ROUND_NEAREST))
MAP(cvt_rzi_f32, lane_f32, lane_f32, lane_f32, lane_f32, f32_integral(a, ROUND_ZERO))
MAP(cvt_rmi_f32, lane_f32, lane_f32, lane_f32, lane_f32, f32_integral(a, ROUND_DOWN))
MAP(cvt_rpi_f32, lane_f32, lane_f32, lane_f32, lane_f32, f32_integral(a, ROUND_UP))

static inline int32_t saturate_s32(double x)
{
    x = x < -2147483648.0 ? -2147483648.0 : x;
    x = x > 2147483647.0 ? 2147483647.0 : x;
    x = x == x ? x : 0.0;
    return (int32_t)x;
}
MAP(cvt_rzi_s32_f32, lane_s32, lane_f32, lane_f32, lane_f32, saturate_s32((double)a))
MAP(cvt_rni_s32_f32, lane_s32, lane_f32, lane_f32, lane_f32,
    saturate_s32(f64_integral((double)a, ROUND_NEAREST)))

/* ---- the general conversion: extras = destination type, source type; rnd = FLOAT_* flags; imm bit
 * 0: round to an integral value ---- */
static bool is_signed(enum ptx_type t) { return ptx_type_class(t) == PTX_CLASS_SIGNED; }
static bool is_float(enum ptx_type t) { return ptx_type_class(t) == PTX_CLASS_FLOAT; }

static uint64_t sign_extend(uint64_t x, unsigned bits)
{
    return bits >= 64 ? x : (uint64_t)((int64_t)(x << (64 - bits)) >> (64 - bits));
}
static uint64_t zero_extend(uint64_t x, unsigned bits)
{
    return bits >= 64 ? x : x & ((1ull << bits) - 1);
}
static uint64_t extend(uint64_t x, enum ptx_type t)
{
    return is_signed(t) ? sign_extend(x, ptx_type_bits(t)) : zero_extend(x, ptx_type_bits(t));
}
static double float_value(uint64_t bits, enum ptx_type t, unsigned mode)
{
    if (t == PTX_TYPE_F64)
        return f64_make(bits);
    if (t == PTX_TYPE_F16)
        return f64_from_f32(f16_to_f32((uint32_t)bits & 0xffff));
    if (t == PTX_TYPE_BF16)
        return f64_from_f32(bf16_to_f32((uint32_t)bits & 0xffff));
    float x = f32_make((uint32_t)bits);
    return f64_from_f32(mode & FLOAT_FTZ ? f32_canon(f32_flush(x)) : x);
}
/* A NaN gives the top bit alone where either side has 64 bits, else 0. */
static uint64_t int_from_float(double x, enum ptx_type t, enum ptx_type from, enum rounding mode)
{
    unsigned bits = ptx_type_bits(t);
    if (x != x)
        return bits == 64 || from == PTX_TYPE_F64
                   ? sign_extend(1ull << (bits - 1), is_signed(t) ? bits : 64)
                   : 0;
    x = f64_integral(x, mode);
    if (is_signed(t)) {
        double limit = f64_make((uint64_t)(1023 + bits - 1) << 52); /* 2^(bits-1) */
        if (x >= limit)
            return (1ull << (bits - 1)) - 1;
        if (x < -limit)
            return sign_extend(1ull << (bits - 1), bits);
        return (uint64_t)(int64_t)x;
    }
    double limit = f64_make((uint64_t)(1023 + bits) << 52);
    if (x >= limit)
        return zero_extend(~0ull, bits);
    if (x <= 0.0)
        return 0;
    return (uint64_t)x;
}
/* The NaN of a 16-bit format with so many fraction bits: sign and upper payload bits of the f64,
 * quieted. */
static uint64_t half_nan(uint64_t u, unsigned fraction)
{
    uint64_t quiet = 1ull << (fraction - 1), exponent = 0x7fffu & ~((1u << fraction) - 1);
    return (u >> 48 & 0x8000u) | exponent | quiet | (u >> (52 - fraction) & (quiet - 1));
}
/* Between formats of different size only f64 keeps the payload of a NaN. */
static uint64_t float_from_float(double x, enum ptx_type d, enum ptx_type s, enum rounding mode,
                                 unsigned flags, bool integral)
{
    if (integral)
        x = f64_integral(x, mode);
    if (flags & FLOAT_SAT)
        x = f64_sat(x);
    if ((flags & FLOAT_RELU) && x <= 0.0)
        x = 0.0;
    if (d == PTX_TYPE_F64)
        return f64_bits(f64_quiet(x));
    if (x != x && s == PTX_TYPE_F64 && d != PTX_TYPE_F32)
        return half_nan(f64_bits(x), d == PTX_TYPE_F16 ? 10 : 7);
    if (d == PTX_TYPE_F16)
        return ieee_narrow(x, 10, 5, mode);
    if (d == PTX_TYPE_BF16)
        return ieee_narrow(x, 7, 8, mode);
    float f = s == PTX_TYPE_F64 ? f32_from_f64(x, mode) : f32_narrow(x, 0.0, mode);
    return f32_bits(flags & FLOAT_FTZ ? f32_flush(f) : f);
}
static uint64_t float_from_int(uint64_t v, enum ptx_type d, enum ptx_type s, enum rounding mode)
{
    bool negative = is_signed(s) && (int64_t)v < 0;
    uint64_t size = negative ? 0ull - v : v;
    if (d == PTX_TYPE_F64)
        return ieee_encode_int(negative, size, 52, 11, mode);
    if (d == PTX_TYPE_F16)
        return ieee_encode_int(negative, size, 10, 5, mode);
    if (d == PTX_TYPE_BF16)
        return ieee_encode_int(negative, size, 7, 8, mode);
    return ieee_encode_int(negative, size, 23, 8, mode);
}
static uint64_t int_saturate(uint64_t v, enum ptx_type d, enum ptx_type s)
{
    unsigned bits = ptx_type_bits(d);
    bool negative = is_signed(s) && (int64_t)v < 0;
    if (is_signed(d)) {
        uint64_t top = (1ull << (bits - 1)) - 1;
        if (negative)
            return (int64_t)v < -(int64_t)top - 1 ? ~top : v;
        return v > top ? top : v;
    }
    if (negative)
        return 0;
    return bits < 64 && v >> bits ? (1ull << bits) - 1 : v;
}
static uint64_t convert(uint64_t raw, enum ptx_type d, enum ptx_type s, unsigned flags,
                        bool integral)
{
    enum rounding mode = (enum rounding)(flags & FLOAT_ROUND);
    if (is_float(s)) {
        double x = float_value(raw, s, flags);
        return is_float(d) ? float_from_float(x, d, s, mode, flags, integral)
                           : int_from_float(x, d, s, mode);
    }
    uint64_t v = extend(raw, s);
    if (is_float(d)) {
        uint64_t r = float_from_int(v, d, s, mode);
        return flags & FLOAT_SAT
                   ? float_from_float(float_value(r, d, 0), d, d, ROUND_NEAREST, FLOAT_SAT, false)
                   : r;
    }
    return extend(flags & FLOAT_SAT ? int_saturate(v, d, s) : v, d);
}
static void op_cvt_any(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint32_t *extras = w->frame->program->extras + in->extra;
    enum ptx_type d = (enum ptx_type)extras[0], s = (enum ptx_type)extras[1];
    bool from_wide = ptx_type_bits(s) == 64, to_wide = ptx_type_bits(d) == 64;
    FOR_EACH_LANE(lane, lanes)
    {
        uint64_t raw = from_wide ? SLOT(lane_u64, w, in->a)[lane] : SLOT(lane_u32, w, in->a)[lane];
        uint64_t r = convert(raw, d, s, in->rnd, in->imm & 1);
        if (to_wide)
            SLOT(lane_u64, w, in->d)[lane] = r;
        else
            SLOT(lane_u32, w, in->d)[lane] = (uint32_t)r;
    }
}

/* Packed and tf32 conversions with modifiers. extras[0]: destination type; imm bit 1: satfinite. */
static uint32_t narrow_finite(float x, enum ptx_type t, unsigned flags, bool finite)
{
    if ((flags & FLOAT_RELU) && x <= 0.0f)
        x = 0.0f;
    enum rounding mode = (enum rounding)(flags & FLOAT_ROUND);
    bool bf = t == PTX_TYPE_BF16X2;
    uint32_t h = ieee_narrow((double)x, bf ? 7 : 10, bf ? 8 : 5, mode),
             infinity = bf ? 0x7f80u : 0x7c00u;
    return finite && (h & 0x7fffu) == infinity ? (h & 0x8000u) | (infinity - 1) : h;
}
static uint32_t narrow_tf32(float x, unsigned flags, bool finite)
{
    if ((flags & FLOAT_RELU) && x <= 0.0f)
        x = 0.0f;
    uint32_t h = ieee_narrow((double)x, 10, 8, (enum rounding)(flags & FLOAT_ROUND)) << 13;
    if (x != x)
        return F32_NAN_BITS & 0xffffe000u;
    return finite && (h & 0x7fffffffu) == 0x7f800000u ? (h & 0x80000000u) | 0x7f7fe000u : h;
}
static void op_cvt_narrow_any(struct warp *w, const struct insn *in, uint32_t lanes)
{
    enum ptx_type t = (enum ptx_type)w->frame->program->extras[in->extra];
    const lane_f32 *pa = SLOT(lane_f32, w, in->a), *pb = SLOT(lane_f32, w, in->b);
    lane_u32 *pd = SLOT(lane_u32, w, in->d);
    bool finite = (in->imm & 2) != 0;
    FOR_EACH_LANE(lane, lanes)
    {
        pd[lane] = t == PTX_TYPE_TF32 ? narrow_tf32(pa[lane], in->rnd, finite)
                                      : narrow_finite(pa[lane], t, in->rnd, finite) << 16 |
                                            narrow_finite(pb[lane], t, in->rnd, finite);
    }
}

/* 8-bit floats, always satfinite. rnd bit 0: e5m2 (else e4m3), bit 1: .relu. */
static uint32_t to_fp8(float x, unsigned mode)
{
    if ((mode & 2) && x <= 0.0f)
        x = 0.0f;
    return mode & 1 ? ieee_to_e5m2((double)x) : ieee_to_e4m3((double)x);
}
static uint32_t from_fp8(uint32_t x, unsigned mode)
{
    float f = mode & 1 ? ieee_from_e5m2(x) : ieee_from_e4m3(x);
    if ((mode & 2) && f <= 0.0f)
        f = 0.0f;
    return f16_from_f32(f);
}
MAP_EACH(cvt_fp8_f32, lane_u32, lane_f32, lane_f32, lane_f32,
         to_fp8(a, mode) << 8 | to_fp8(b, mode))
MAP_EACH(cvt_fp8_f16x2, lane_u32, lane_u32, lane_u32, lane_u32,
         to_fp8(f16_to_f32(a >> 16), mode) << 8 | to_fp8(f16_to_f32(a & 0xffff), mode))
MAP_EACH(cvt_f16x2_fp8, lane_u32, lane_u32, lane_u32, lane_u32,
         from_fp8(a >> 8 & 255, mode) << 16 | from_fp8(a & 255, mode))

/* Registers wider than the operand type (cvt, ld and st allow them): hidden moves that lower.c puts
 * around an instruction. */
MAP(narrow_64, lane_u32, lane_u64, lane_u64, lane_u64, (uint32_t)a)
MAP(widen_u32, lane_u64, lane_u32, lane_u32, lane_u32, (uint64_t)a)
MAP(widen_s32, lane_u64, lane_u32, lane_u32, lane_u32, (uint64_t)(int64_t)(int32_t)a)

extern op_fn *const ISA_NAME(exec_convert_ops)[OP_COUNT];
op_fn *const ISA_NAME(exec_convert_ops)[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_convert.def"
#undef X
};

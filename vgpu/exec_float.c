/*
 * exec_float.c - lane loops of f32, f64, f16 and bf16 arithmetic, comparisons and approximate
 * functions. Conversions are in exec_convert.c, the scalar arithmetic in ieee.h and approx.h.
 * Invariant: compiled with -ffp-contract=off; every NaN result of f32 and the halves is the
 * canonical one, f64 propagates (ieee.h). Plain forms have their own loop; forms with .ftz, .sat or
 * a rounding mode share the *_any loops (insn.rnd).
 */
#include "approx.h"
#include "exec.h"

#define MAPF(NAME, EXPR)  MAP(NAME, lane_f32, lane_f32, lane_f32, lane_f32, EXPR)
#define MAPD(NAME, EXPR)  MAP(NAME, lane_f64, lane_f64, lane_f64, lane_f64, EXPR)
#define MAPH(NAME, EXPR)  MAP(NAME, lane_u32, lane_u32, lane_u32, lane_u32, EXPR)
#define EACHF(NAME, EXPR) MAP_EACH(NAME, lane_f32, lane_f32, lane_f32, lane_f32, EXPR)
#define EACHD(NAME, EXPR) MAP_EACH(NAME, lane_f64, lane_f64, lane_f64, lane_f64, EXPR)
#define EACHH(NAME, EXPR) MAP_EACH(NAME, lane_u32, lane_u32, lane_u32, lane_u32, EXPR)

static inline enum rounding rounding_of(unsigned mode)
{
    return (enum rounding)(mode & FLOAT_ROUND);
}
static inline float in_f32(unsigned mode, float x) { return mode & FLOAT_FTZ ? f32_flush(x) : x; }
static inline float out_f32(unsigned mode, float x)
{
    x = mode & FLOAT_FTZ ? f32_flush(x) : x;
    return mode & FLOAT_SAT ? f32_sat(x) : x;
}

/* ---- f32 ---- */
MAPF(add_f32, f32_canon(a + b))
MAPF(sub_f32, f32_canon(a - b))
MAPF(mul_f32, f32_canon(a *b))
MAPF(fma_f32, f32_canon(f32_fma(a, b, c)))
MAPF(add_f32_ftz, f32_flush(f32_canon(f32_flush(a) + f32_flush(b))))
MAPF(sub_f32_ftz, f32_flush(f32_canon(f32_flush(a) - f32_flush(b))))
MAPF(mul_f32_ftz, f32_flush(f32_canon(f32_flush(a) * f32_flush(b))))
MAPF(fma_f32_ftz, f32_flush(f32_canon(f32_fma(f32_flush(a), f32_flush(b), f32_flush(c)))))
MAPF(add_f32_rz, f32_add_mode(a, b, ROUND_ZERO))
MAPF(fma_f32_rz, f32_fma_mode(a, b, c, ROUND_ZERO))
MAPF(fma_f32_rm, f32_fma_mode(a, b, c, ROUND_DOWN))
MAPF(fma_f32_rp, f32_fma_mode(a, b, c, ROUND_UP))
EACHF(add_f32_any, out_f32(mode, f32_add_mode(in_f32(mode, a), in_f32(mode, b), rounding_of(mode))))
EACHF(sub_f32_any,
      out_f32(mode, f32_add_mode(in_f32(mode, a), -in_f32(mode, b), rounding_of(mode))))
EACHF(mul_f32_any, out_f32(mode, f32_mul_mode(in_f32(mode, a), in_f32(mode, b), rounding_of(mode))))
EACHF(fma_f32_any, out_f32(mode, f32_fma_mode(in_f32(mode, a), in_f32(mode, b), in_f32(mode, c),
                                              rounding_of(mode))))
MAPF(div_f32, f32_canon(a / b))
MAPF(rcp_f32, f32_canon(1.0f / a))
MAPF(sqrt_f32, f32_canon(__builtin_sqrtf(a)))
/* Directed quotients are flushed where the exact one is below the normal range, also when it would
 * be rounded up into it. */
static inline float div_f32_mode(float a, float b, unsigned mode)
{
    double q = (double)a / (double)b;
    bool tiny =
        (mode & FLOAT_FTZ) && rounding_of(mode) != ROUND_NEAREST && __builtin_fabs(q) < 0x1p-126;
    float zero = (float)(q * 0x1p-200); /* of the sign of q */
    return tiny ? zero : ieee_div32(a, b, rounding_of(mode));
}
EACHF(div_f32_any, out_f32(mode, div_f32_mode(in_f32(mode, a), in_f32(mode, b), mode)))
EACHF(rcp_f32_any, out_f32(mode, div_f32_mode(1.0f, in_f32(mode, a), mode)))
EACHF(sqrt_f32_any, out_f32(mode, ieee_sqrt32(in_f32(mode, a), rounding_of(mode))))
MAPF(abs_f32, f32_canon(in_f32(mode, f32_make(f32_bits(a) & 0x7fffffffu))))
MAPF(neg_f32, f32_canon(in_f32(mode, f32_make(f32_bits(a) ^ 0x80000000u))))
MAPF(copysign_f32, f32_make((f32_bits(b) & 0x7fffffffu) | (f32_bits(a) & 0x80000000u)))
MAPF(min_f32, f32_min(a, b))
MAPF(max_f32, f32_max(a, b))

/* .NaN: a NaN operand wins; .xorsign.abs: the magnitudes are compared, the sign is the xor of the
 * signs. */
static float pick_f32(float a, float b, unsigned mode, bool greater)
{
    a = in_f32(mode, a), b = in_f32(mode, b);
    uint32_t sign = (f32_bits(a) ^ f32_bits(b)) & 0x80000000u;
    if (mode & FLOAT_XORSIGN)
        a = __builtin_fabsf(a), b = __builtin_fabsf(b);
    float r = (mode & FLOAT_NAN) && (a != a || b != b) ? f32_make(F32_NAN_BITS)
              : greater                                ? f32_max(a, b)
                                                       : f32_min(a, b);
    return (mode & FLOAT_XORSIGN) && r == r ? f32_make(f32_bits(r) | sign) : r;
}
EACHF(min_f32_any, pick_f32(a, b, mode, false))
EACHF(max_f32_any, pick_f32(a, b, mode, true))

/* ---- f64 ---- */
/* Which NaN operand survives: b, else c, else a; of a quotient a, else b
 * (docs/design/0012-nan-results.md). */
static inline double fma_result(double r, double a, double b, double c)
{
    return b != b ? f64_quiet(b) : f64_result(r, c, a);
}
MAPD(add_f64, f64_result(a + b, b, a))
MAPD(sub_f64, f64_result(a - b, b, a))
MAPD(mul_f64, f64_result(a *b, b, a))
MAPD(fma_f64, fma_result(f64_fma(a, b, c), a, b, c))
EACHD(add_f64_any, f64_result(ieee_add64(a, b, rounding_of(mode)), b, a))
EACHD(sub_f64_any, f64_result(ieee_add64(a, -b, rounding_of(mode)), b, a))
EACHD(mul_f64_any, f64_result(ieee_mul64(a, b, rounding_of(mode)), b, a))
EACHD(fma_f64_any, fma_result(ieee_fma64(a, b, c, rounding_of(mode)), a, b, c))
MAPD(div_f64, f64_result(a / b, a, b))
MAPD(rcp_f64, f64_result(1.0 / a, a, a))
MAPD(sqrt_f64, f64_result(__builtin_sqrt(a), a, a))
EACHD(div_f64_any, f64_result(ieee_div64(a, b, rounding_of(mode)), a, b))
EACHD(rcp_f64_any, f64_result(ieee_div64(1.0, a, rounding_of(mode)), a, a))
EACHD(sqrt_f64_any, f64_result(ieee_sqrt64(a, rounding_of(mode)), a, a))
/* A NaN keeps its sign through abs and neg, and is quieted. */
MAPD(abs_f64, a == a ? f64_make(f64_bits(a) & 0x7fffffffffffffffull) : f64_quiet(a))
MAPD(neg_f64, a == a ? f64_make(f64_bits(a) ^ 0x8000000000000000ull) : f64_quiet(a))
MAPD(copysign_f64,
     f64_make((f64_bits(b) & 0x7fffffffffffffffull) | (f64_bits(a) & 0x8000000000000000ull)))
MAPD(min_f64, f64_min(a, b))
MAPD(max_f64, f64_max(a, b))
/* The f64 approximations see and give the upper word only: a NaN whose payload lies in the lower
 * one counts as an infinity. */
static inline double upper_word(double x) { return f64_make(f64_bits(x) & 0xffffffff00000000ull); }
static inline double upper_result(double x)
{
    return x == x ? upper_word(x) : f64_make(0x7fffffff00000000ull);
}
static inline double f64_flush(double x)
{
    uint64_t u = f64_bits(x);
    return f64_make((u & 0x7ff0000000000000ull) == 0 ? u & 0x8000000000000000ull : u);
}
EACHD(rcp_approx_f64, upper_result(f64_flush(1.0 / f64_flush(upper_word(a)))))
EACHD(rsqrt_approx_f64, upper_result(1.0 / __builtin_sqrt(f64_flush(upper_word(a)))))

/* ---- approximate functions ---- */
MAPF(ex2_f32, approx_ex2_f32(a))
MAPF(ex2_f32_ftz, f32_flush(approx_ex2_f32(f32_flush(a))))
MAPF(lg2_f32, approx_lg2_f32(in_f32(mode, a)))
MAPF(sin_f32, out_f32(mode, approx_sin_f32(in_f32(mode, a))))
MAPF(cos_f32, approx_cos_f32(in_f32(mode, a)))
MAPF(tanh_f32, approx_tanh_f32(a))
MAPF(rcp_approx_f32, out_f32(mode, approx_rcp_f32(in_f32(mode, a))))
MAPF(rsqrt_approx_f32, approx_rsqrt_f32(in_f32(mode, a)))
MAPF(sqrt_approx_f32, out_f32(mode, approx_sqrt_f32(in_f32(mode, a))))
MAPF(div_approx_f32, out_f32(mode, approx_div_f32(in_f32(mode, a), in_f32(mode, b))))
MAPF(div_full_f32, out_f32(mode, f32_canon(in_f32(mode, a) / in_f32(mode, b))))

/* ---- halves: computed in f32 (fma rounded to odd), one rounding to 16 bits ---- */
#define HALF_LOW(x)  ((x)&0xffffu)
#define HALF_HIGH(x) ((x) >> 16)
/* f(lo, lo, lo) in the lower half, f(hi, hi, hi) in the upper. */
#define PAIR1(F) (HALF_LOW(F(HALF_LOW(a))) | F(HALF_HIGH(a)) << 16)
#define PAIR2(F) (HALF_LOW(F(HALF_LOW(a), HALF_LOW(b))) | F(HALF_HIGH(a), HALF_HIGH(b)) << 16)
#define PAIR3(F)                                                                                   \
    (HALF_LOW(F(HALF_LOW(a), HALF_LOW(b), HALF_LOW(c))) |                                          \
     F(HALF_HIGH(a), HALF_HIGH(b), HALF_HIGH(c)) << 16)
#define HALF_OPS(T)                                                                                \
    static inline uint32_t add_##T(uint32_t a, uint32_t b)                                         \
    {                                                                                              \
        return T##_from_f32(T##_to_f32(a) + T##_to_f32(b));                                        \
    }                                                                                              \
    static inline uint32_t sub_##T(uint32_t a, uint32_t b)                                         \
    {                                                                                              \
        return T##_from_f32(T##_to_f32(a) - T##_to_f32(b));                                        \
    }                                                                                              \
    static inline uint32_t mul_##T(uint32_t a, uint32_t b)                                         \
    {                                                                                              \
        return T##_from_f32(T##_to_f32(a) * T##_to_f32(b));                                        \
    }                                                                                              \
    static inline uint32_t fma_##T(uint32_t a, uint32_t b, uint32_t c)                             \
    {                                                                                              \
        return T##_from_f32(f32_fma_odd(T##_to_f32(a), T##_to_f32(b), T##_to_f32(c)));             \
    }                                                                                              \
    MAPH(add_##T, add_##T(a, b))                                                                   \
    MAPH(sub_##T, sub_##T(a, b))                                                                   \
    MAPH(mul_##T, mul_##T(a, b))                                                                   \
    MAPH(fma_##T, fma_##T(a, b, c))                                                                \
    MAPH(add_##T##x2, PAIR2(add_##T))                                                              \
    MAPH(sub_##T##x2, PAIR2(sub_##T))                                                              \
    MAPH(mul_##T##x2, PAIR2(mul_##T))                                                              \
    MAPH(fma_##T##x2, PAIR3(fma_##T))
HALF_OPS(f16)
HALF_OPS(bf16)

/* The rare modifiers. insn.e: bit 0 bf16, bit 1 packed. */
enum half_op { HALF_ADD, HALF_SUB, HALF_MUL, HALF_FMA, HALF_MIN, HALF_MAX, HALF_EX2, HALF_TANH };
static inline float half_in(uint32_t x, bool bf, unsigned mode)
{
    if (bf)
        return bf16_to_f32(x);
    if ((mode & FLOAT_FTZ) && (x & 0x7c00u) == 0)
        x &= 0x8000u;
    return f16_to_f32(x);
}
static uint32_t half_any(enum half_op op, uint32_t a, uint32_t b, uint32_t c, bool bf,
                         unsigned mode)
{
    float x = half_in(a, bf, mode), y = half_in(b, bf, mode), z = half_in(c, bf, mode), r = 0.0f;
    switch (op) {
    case HALF_ADD:
        r = x + y;
        break;
    case HALF_SUB:
        r = x - y;
        break;
    case HALF_MUL:
        r = x * y;
        break;
    case HALF_FMA:
        r = f32_fma_odd(x, y, z);
        break;
    case HALF_MIN:
        r = pick_f32(x, y, mode & (FLOAT_NAN | FLOAT_XORSIGN), false);
        break;
    case HALF_MAX:
        r = pick_f32(x, y, mode & (FLOAT_NAN | FLOAT_XORSIGN), true);
        break;
    case HALF_EX2:
        r = approx_ex2_f32(x);
        break;
    case HALF_TANH:
        r = approx_tanh_f32(x);
        break;
    }
    if (mode & FLOAT_SAT)
        r = f32_sat(r);
    if ((mode & FLOAT_RELU) && r <= 0.0f)
        r = 0.0f;
    uint32_t h = bf ? bf16_from_f32(r) : f16_from_f32(r);
    if ((mode & FLOAT_FTZ) && (h & (bf ? 0x7f80u : 0x7c00u)) == 0)
        h &= 0x8000u;
    return h;
}
static uint32_t half_both(enum half_op op, uint32_t a, uint32_t b, uint32_t c, uint32_t kind,
                          unsigned mode)
{
    uint32_t low = half_any(op, HALF_LOW(a), HALF_LOW(b), HALF_LOW(c), kind & 1, mode);
    return kind & 2
               ? low | half_any(op, HALF_HIGH(a), HALF_HIGH(b), HALF_HIGH(c), kind & 1, mode) << 16
               : low;
}
EACHH(add_half_any, half_both(HALF_ADD, a, b, 0, in->e, mode))
EACHH(sub_half_any, half_both(HALF_SUB, a, b, 0, in->e, mode))
EACHH(mul_half_any, half_both(HALF_MUL, a, b, 0, in->e, mode))
EACHH(fma_half_any, half_both(HALF_FMA, a, b, c, in->e, mode))
EACHH(min_half, half_both(HALF_MIN, a, b, 0, in->e, mode))
EACHH(max_half, half_both(HALF_MAX, a, b, 0, in->e, mode))
EACHH(ex2_half, half_both(HALF_EX2, a, 0, 0, in->e, mode))
EACHH(tanh_half, half_both(HALF_TANH, a, 0, 0, in->e, mode))
/* abs and neg make a NaN canonical too. limit: the infinity of the format, the largest magnitude
 * that is no NaN. */
static inline uint32_t half_canon(uint32_t x, uint32_t limit)
{
    return (x & 0x7fffu) > limit ? F16_NAN_BITS : x;
}
static inline uint32_t pair_canon(uint32_t x, uint32_t limit)
{
    return half_canon(x & 0xffffu, limit) | half_canon(x >> 16, limit) << 16;
}
/* .ftz exists for f16 only. */
static inline uint32_t pair_flush(uint32_t x, unsigned mode)
{
    uint32_t low = (x & 0x7c00u) != 0 ? 0xffffu : 0x8000u,
             high = (x & 0x7c000000u) != 0 ? 0xffff0000u : 0x80000000u;
    return mode & FLOAT_FTZ ? x & (low | high) : x;
}
MAPH(abs_half, pair_canon(pair_flush(a, mode) & 0x7fff7fffu, in->e & 1 ? 0x7f80u : 0x7c00u))
MAPH(neg_half, pair_canon(pair_flush(a, mode) ^ 0x80008000u, in->e & 1 ? 0x7f80u : 0x7c00u))

/* ---- comparisons ---- */
#define COMPARE_FLOAT(SUFFIX, T)                                                                   \
    COMPARE(eq_##SUFFIX, T, a == b)                                                                \
    COMPARE(ne_##SUFFIX, T, a<b || a> b)                                                           \
    COMPARE(lt_##SUFFIX, T, a < b)                                                                 \
    COMPARE(le_##SUFFIX, T, a <= b)                                                                \
    COMPARE(gt_##SUFFIX, T, a > b)                                                                 \
    COMPARE(ge_##SUFFIX, T, a >= b)                                                                \
    COMPARE(equ_##SUFFIX, T, !(a < b || a > b))                                                    \
    COMPARE(neu_##SUFFIX, T, !(a == b))                                                            \
    COMPARE(ltu_##SUFFIX, T, !(a >= b))                                                            \
    COMPARE(leu_##SUFFIX, T, !(a > b))                                                             \
    COMPARE(gtu_##SUFFIX, T, !(a <= b))                                                            \
    COMPARE(geu_##SUFFIX, T, !(a < b))                                                             \
    COMPARE(num_##SUFFIX, T, a == a && b == b)                                                     \
    COMPARE(nan_##SUFFIX, T, a != a || b != b)
COMPARE_FLOAT(f32, lane_f32)
COMPARE_FLOAT(f64, lane_f64)

static bool compare_f32(enum compare how, float a, float b)
{
    bool nan = a != a || b != b;
    switch (how) {
    case CMP_EQ:
        return a == b;
    case CMP_NE:
        return !nan && a != b;
    case CMP_LT:
        return a < b;
    case CMP_LE:
        return a <= b;
    case CMP_GT:
        return a > b;
    case CMP_GE:
        return a >= b;
    case CMP_EQU:
        return nan || a == b;
    case CMP_NEU:
        return nan || a != b;
    case CMP_LTU:
        return nan || a < b;
    case CMP_LEU:
        return nan || a <= b;
    case CMP_GTU:
        return nan || a > b;
    case CMP_GEU:
        return nan || a >= b;
    case CMP_NUM:
        return !nan;
    case CMP_NAN:
        return nan;
    }
    return false;
}
/* setp.*.ftz.f32: imm is the comparison. */
static void op_setp_f32_ftz(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const lane_f32 *pa = SLOT(lane_f32, w, in->a), *pb = SLOT(lane_f32, w, in->b);
    uint32_t mask = 0;
    FOR_LANES mask |=
        compare_f32((enum compare)in->target, f32_flush(pa[lane]), f32_flush(pb[lane])) ? 1u << lane
                                                                                        : 0;
    w->preds[in->d] = (w->preds[in->d] & ~lanes) | (mask & lanes);
}

/* setp and set of halves. target: comparison; rnd: bool_op; imm: mask that negates c; width: bit 0
 * bf16, bit 1 packed, bit 2 .ftz. */
static uint32_t half_compare(struct warp *w, const struct insn *in, bool high)
{
    const lane_u32 *pa = SLOT(lane_u32, w, in->a), *pb = SLOT(lane_u32, w, in->b);
    uint32_t mask = 0;
    unsigned mode = in->width & 4 ? FLOAT_FTZ : 0;
    FOR_LANES
    {
        uint32_t a = high ? HALF_HIGH(pa[lane]) : HALF_LOW(pa[lane]),
                 b = high ? HALF_HIGH(pb[lane]) : HALF_LOW(pb[lane]);
        bool yes = compare_f32((enum compare)in->target, half_in(a, in->width & 1, mode),
                               half_in(b, in->width & 1, mode));
        mask |= yes ? 1u << lane : 0;
    }
    return mask;
}
static uint32_t half_combine(const struct warp *w, const struct insn *in, uint32_t mask)
{
    uint32_t third = in->rnd == BOOL_NONE ? 0 : w->preds[in->c] ^ (uint32_t)in->imm;
    return in->rnd == BOOL_AND   ? mask & third
           : in->rnd == BOOL_OR  ? mask | third
           : in->rnd == BOOL_XOR ? mask ^ third
                                 : mask;
}
/* p of the low half and, when packed, q of the high half; a scalar form puts the opposite in q. */
static void op_setp_half(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t low = half_compare(w, in, false),
             second = in->width & 2 ? half_compare(w, in, true) : ~low;
    uint32_t p = half_combine(w, in, low), q = half_combine(w, in, second);
    if (in->d != ~0u)
        w->preds[in->d] = (w->preds[in->d] & ~lanes) | (p & lanes);
    if (in->e != ~0u)
        w->preds[in->e] = (w->preds[in->e] & ~lanes) | (q & lanes);
}
/* extras: value for true of a half; 1 when the destination is one 32-bit (or 16-bit) integer per
 * half. */
static void op_set_half(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t low = half_combine(w, in, half_compare(w, in, false)), high = 0;
    if (in->width & 2)
        high = half_combine(w, in, half_compare(w, in, true));
    uint32_t yes = w->frame->program->extras[in->extra];
    lane_u32 *pd = SLOT(lane_u32, w, in->d);
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t r = low >> lane & 1 ? yes : 0;
        if (in->width & 2)
            r = (r & 0xffff) | (high >> lane & 1 ? yes << 16 : 0);
        pd[lane] = r;
    }
}

/* testp: rnd is the kind, in the order of the names below. */
static bool test_float(unsigned kind, bool exponent_zero, bool exponent_full, bool fraction_zero)
{
    switch (kind) {
    case 0:
        return !exponent_full; /* finite */
    case 1:
        return exponent_full && fraction_zero; /* infinite */
    case 2:
        return !(exponent_full && !fraction_zero); /* number */
    case 3:
        return exponent_full && !fraction_zero; /* notanumber */
    case 4:
        return !exponent_full && (!exponent_zero || fraction_zero); /* normal: zeros count */
    default:
        return exponent_zero && !fraction_zero; /* subnormal */
    }
}
static void op_testp_f32(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const lane_u32 *pa = SLOT(lane_u32, w, in->a);
    uint32_t mask = 0;
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t e = pa[lane] >> 23 & 255;
        mask |= test_float(in->rnd, e == 0, e == 255, (pa[lane] & 0x7fffffu) == 0) ? 1u << lane : 0;
    }
    w->preds[in->d] = (w->preds[in->d] & ~lanes) | mask;
}
static void op_testp_f64(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const lane_u64 *pa = SLOT(lane_u64, w, in->a);
    uint32_t mask = 0;
    FOR_EACH_LANE(lane, lanes)
    {
        uint64_t e = pa[lane] >> 52 & 2047;
        mask |= test_float(in->rnd, e == 0, e == 2047, (pa[lane] & 0xfffffffffffffull) == 0)
                    ? 1u << lane
                    : 0;
    }
    w->preds[in->d] = (w->preds[in->d] & ~lanes) | mask;
}

extern op_fn *const ISA_NAME(exec_float_ops)[OP_COUNT];
op_fn *const ISA_NAME(exec_float_ops)[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_float.def"
#undef X
};

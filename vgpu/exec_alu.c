/*
 * exec_alu.c - lane loops of the integer, logic, comparison and move instructions.
 * Floats are in exec_float.c, conversions in exec_convert.c. Invariant: no C behaviour is relied on
 * that is undefined: arithmetic is unsigned, shift counts are clamped first, quotient and remainder
 * of a division by zero are all ones and INT_MIN / -1 wraps, as the hardware does.
 */
#include "exec.h"
#include "ieee.h"

/* 16-bit values live in 32-bit slots whose upper half is unspecified: every reader truncates. */
#define U16(x) ((uint16_t)(x))
#define S16(x) ((int16_t)(x))
#define S32(x) ((int32_t)(x))
#define S64(x) ((int64_t)(x))

#define MAP16(NAME, EXPR)       MAP(NAME, lane_u32, lane_u32, lane_u32, lane_u32, U16(EXPR))
#define MAP32(NAME, EXPR)       MAP(NAME, lane_u32, lane_u32, lane_u32, lane_u32, EXPR)
#define MAP64(NAME, EXPR)       MAP(NAME, lane_u64, lane_u64, lane_u64, lane_u64, EXPR)
#define MAP_SHIFT64(NAME, EXPR) MAP(NAME, lane_u64, lane_u64, lane_u32, lane_u32, EXPR)
#define EACH16(NAME, EXPR)      MAP_EACH(NAME, lane_u32, lane_u32, lane_u32, lane_u32, U16(EXPR))
#define EACH32(NAME, EXPR)      MAP_EACH(NAME, lane_u32, lane_u32, lane_u32, lane_u32, EXPR)
#define EACH64(NAME, EXPR)      MAP_EACH(NAME, lane_u64, lane_u64, lane_u64, lane_u64, EXPR)

/* ---- add, sub, mul, mad ---- */
MAP16(add_16, a + b)
MAP32(add_32, a + b)
MAP64(add_64, a + b)
MAP16(sub_16, a - b)
MAP32(sub_32, a - b)
MAP64(sub_64, a - b)
MAP16(mul_lo_16, a *b)
MAP32(mul_lo_32, a *b)
MAP64(mul_lo_64, a *b)
MAP16(mad_lo_16, a *b + c)
MAP32(mad_lo_32, a *b + c)
MAP64(mad_lo_64, a *b + c)

static inline uint32_t clamp_s32(int64_t x)
{
    return x > INT32_MAX ? 0x7fffffffu : x < INT32_MIN ? 0x80000000u : (uint32_t)x;
}
MAP32(add_sat_s32, clamp_s32((int64_t)S32(a) + S32(b)))
MAP32(sub_sat_s32, clamp_s32((int64_t)S32(a) - S32(b)))

__extension__ typedef unsigned __int128 u128;
__extension__ typedef __int128 s128;
static inline uint32_t high_u32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint32_t high_s32(uint32_t a, uint32_t b)
{
    return (uint32_t)((uint64_t)((int64_t)S32(a) * S32(b)) >> 32);
}
static inline uint64_t high_u64(uint64_t a, uint64_t b) { return (uint64_t)((u128)a * b >> 64); }
static inline uint64_t high_s64(uint64_t a, uint64_t b)
{
    return (uint64_t)((u128)((s128)S64(a) * S64(b)) >> 64);
}
static inline uint32_t wide_s16(uint32_t a, uint32_t b) { return (uint32_t)(S16(a) * S16(b)); }
static inline uint32_t wide_u16(uint32_t a, uint32_t b) { return (uint32_t)U16(a) * U16(b); }
static inline uint64_t wide_s32(uint32_t a, uint32_t b)
{
    return (uint64_t)((int64_t)S32(a) * S32(b));
}
static inline uint64_t wide_u32(uint32_t a, uint32_t b) { return (uint64_t)a * b; }

MAP16(mul_hi_u16, wide_u16(a, b) >> 16)
MAP16(mul_hi_s16, wide_s16(a, b) >> 16)
MAP32(mul_hi_u32, high_u32(a, b))
MAP32(mul_hi_s32, high_s32(a, b))
EACH64(mul_hi_u64, high_u64(a, b))
EACH64(mul_hi_s64, high_s64(a, b))
MAP16(mad_hi_u16, (wide_u16(a, b) >> 16) + c)
MAP16(mad_hi_s16, (wide_s16(a, b) >> 16) + c)
MAP32(mad_hi_u32, high_u32(a, b) + c)
MAP32(mad_hi_s32, high_s32(a, b) + c)
EACH64(mad_hi_u64, high_u64(a, b) + c)
EACH64(mad_hi_s64, high_s64(a, b) + c)
MAP32(mad_hi_sat_s32, clamp_s32((int64_t)S32(high_s32(a, b)) + S32(c)))
MAP32(mul_wide_u16, wide_u16(a, b))
MAP32(mul_wide_s16, wide_s16(a, b))
MAP(mul_wide_u32, lane_u64, lane_u32, lane_u32, lane_u32, wide_u32(a, b))
MAP(mul_wide_s32, lane_u64, lane_u32, lane_u32, lane_u32, wide_s32(a, b))
MAP32(mad_wide_u16, wide_u16(a, b) + c)
MAP32(mad_wide_s16, wide_s16(a, b) + c)
MAP(mad_wide_u32, lane_u64, lane_u32, lane_u32, lane_u64, wide_u32(a, b) + c)
MAP(mad_wide_s32, lane_u64, lane_u32, lane_u32, lane_u64, wide_s32(a, b) + c)

/* mul24: the low 24 bits of each operand; .lo keeps bits 0-31 of the 48-bit product, .hi bits
 * 16-47. */
static inline uint64_t wide_u24(uint32_t a, uint32_t b)
{
    return (uint64_t)(a & 0xffffff) * (b & 0xffffff);
}
static inline uint64_t wide_s24(uint32_t a, uint32_t b)
{
    return (uint64_t)((int64_t)(S32(a << 8) >> 8) * (S32(b << 8) >> 8));
}
MAP32(mul24_lo_u32, (uint32_t)wide_u24(a, b))
MAP32(mul24_lo_s32, (uint32_t)wide_s24(a, b))
MAP32(mul24_hi_u32, (uint32_t)(wide_u24(a, b) >> 16))
MAP32(mul24_hi_s32, (uint32_t)(wide_s24(a, b) >> 16))
MAP32(mad24_lo_u32, (uint32_t)wide_u24(a, b) + c)
MAP32(mad24_lo_s32, (uint32_t)wide_s24(a, b) + c)
MAP32(mad24_hi_u32, (uint32_t)(wide_u24(a, b) >> 16) + c)
MAP32(mad24_hi_s32, (uint32_t)(wide_s24(a, b) >> 16) + c)
MAP32(mad24_hi_sat_s32, clamp_s32((int64_t)S32((uint32_t)(wide_s24(a, b) >> 16)) + S32(c)))

MAP16(sad_u16, c + (uint32_t)(U16(a) > U16(b) ? U16(a) - U16(b) : U16(b) - U16(a)))
MAP16(sad_s16, c + (uint32_t)(S16(a) > S16(b) ? S16(a) - S16(b) : S16(b) - S16(a)))
MAP32(sad_u32, c + (a > b ? a - b : b - a))
MAP32(sad_s32, c + (S32(a) > S32(b) ? a - b : b - a))
MAP64(sad_u64, c + (a > b ? a - b : b - a))
MAP64(sad_s64, c + (S64(a) > S64(b) ? a - b : b - a))

/* Extended precision: in->e is the predicate that holds the carry of each lane. */
#define CARRY(NAME, T, SUM, CARRY_OUT, USES, SETS)                                                 \
    static void op_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)                   \
    {                                                                                              \
        T *pd = SLOT(T, w, in->d);                                                                 \
        const T *pa = SLOT(T, w, in->a);                                                           \
        const T *pb = SLOT(T, w, in->b);                                                           \
        uint32_t carry_in = (USES) ? w->preds[in->e] : 0, carry_out = 0;                           \
        FOR_EACH_LANE(lane, lanes)                                                                 \
        {                                                                                          \
            const T a = pa[lane], b = pb[lane], k = carry_in >> lane & 1;                          \
            (void)k;                                                                               \
            carry_out |= (CARRY_OUT) ? 1u << lane : 0;                                             \
            pd[lane] = (SUM);                                                                      \
        }                                                                                          \
        if (in->flags & INSN_FLAG_SETS_CC)                                                         \
            w->preds[in->e] = (w->preds[in->e] & ~lanes) | carry_out;                              \
    }
CARRY(add_cc_32, lane_u32, a + b, a + b < a, 0, 1)
CARRY(add_cc_64, lane_u64, a + b, a + b < a, 0, 1)
CARRY(addc_32, lane_u32, a + b + k, a + b < a || (k && a + b + 1 == 0), 1, 1)
CARRY(addc_64, lane_u64, a + b + k, a + b < a || (k && a + b + 1 == 0), 1, 1)
/* A borrow is a cleared carry in C, a set one here: sub and subc agree among themselves, which is
 * all a program can see. */
CARRY(sub_cc_32, lane_u32, a - b, a < b, 0, 1)
CARRY(sub_cc_64, lane_u64, a - b, a < b, 0, 1)
CARRY(subc_32, lane_u32, a - b - k, a < b || (k && a == b), 1, 1)
CARRY(subc_64, lane_u64, a - b - k, a < b || (k && a == b), 1, 1)

/* mad.cc, madc: product part (insn.rnd: 0 low, 1 high, 2 high signed) plus c plus carry. */
#define MADC(NAME, T, LOW, HIGH_U, HIGH_S)                                                         \
    static void op_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)                   \
    {                                                                                              \
        T *pd = SLOT(T, w, in->d);                                                                 \
        const T *pa = SLOT(T, w, in->a), *pb = SLOT(T, w, in->b), *pc = SLOT(T, w, in->c);         \
        uint32_t carry_in = in->imm ? w->preds[in->e] : 0, carry_out = 0;                          \
        FOR_EACH_LANE(lane, lanes)                                                                 \
        {                                                                                          \
            const T a = pa[lane], b = pb[lane], c = pc[lane], k = carry_in >> lane & 1;            \
            const T part = in->rnd == 0 ? (LOW) : in->rnd == 1 ? (HIGH_U) : (HIGH_S);              \
            const T sum = part + c;                                                                \
            carry_out |= (sum < part || (k && sum + 1 == 0)) ? 1u << lane : 0;                     \
            pd[lane] = sum + k;                                                                    \
        }                                                                                          \
        if (in->flags & INSN_FLAG_SETS_CC)                                                         \
            w->preds[in->e] = (w->preds[in->e] & ~lanes) | carry_out;                              \
    }
MADC(madc_32, lane_u32, a *b, high_u32(a, b), high_s32(a, b))
MADC(madc_64, lane_u64, a *b, high_u64(a, b), high_s64(a, b))

/* ---- div, rem ---- */
static inline uint32_t div_s32(int32_t a, int32_t b)
{
    return b == 0 ? 0xffffffffu : b == -1 ? 0u - (uint32_t)a : (uint32_t)(a / b);
}
static inline uint64_t div_s64(int64_t a, int64_t b)
{
    return b == 0 ? 0xffffffffffffffffull : b == -1 ? 0ull - (uint64_t)a : (uint64_t)(a / b);
}
static inline uint32_t rem_s32(int32_t a, int32_t b)
{
    return b == 0 ? 0xffffffffu : b == -1 ? 0u : (uint32_t)(a % b);
}
static inline uint64_t rem_s64(int64_t a, int64_t b)
{
    return b == 0 ? 0xffffffffffffffffull : b == -1 ? 0ull : (uint64_t)(a % b);
}
EACH16(div_u16, U16(b) == 0 ? 0xffff : U16(a) / U16(b))
EACH16(div_s16, S16(b) == 0 ? 0xffff : S16(a) / S16(b))
EACH32(div_u32, b == 0 ? 0xffffffffu : a / b)
EACH32(div_s32, div_s32(S32(a), S32(b)))
EACH64(div_u64, b == 0 ? 0xffffffffffffffffull : a / b)
EACH64(div_s64, div_s64(S64(a), S64(b)))
EACH16(rem_u16, U16(b) == 0 ? 0xffff : U16(a) % U16(b))
EACH16(rem_s16, S16(b) == 0 ? 0xffff : S16(a) % S16(b))
EACH32(rem_u32, b == 0 ? 0xffffffffu : a % b)
EACH32(rem_s32, rem_s32(S32(a), S32(b)))
EACH64(rem_u64, b == 0 ? 0xffffffffffffffffull : a % b)
EACH64(rem_s64, rem_s64(S64(a), S64(b)))

/* ---- one operand, min, max ---- */
MAP16(abs_s16, S16(a) < 0 ? 0u - a : a)
MAP32(abs_s32, S32(a) < 0 ? 0u - a : a)
MAP64(abs_s64, S64(a) < 0 ? 0ull - a : a)
MAP16(neg_16, 0u - a)
MAP32(neg_32, 0u - a)
MAP64(neg_64, 0ull - a)
MAP16(min_u16, U16(a) < U16(b) ? a : b)
MAP16(max_u16, U16(a) > U16(b) ? a : b)
MAP16(min_s16, S16(a) < S16(b) ? a : b)
MAP16(max_s16, S16(a) > S16(b) ? a : b)
MAP32(min_u32, a < b ? a : b)
MAP32(max_u32, a > b ? a : b)
MAP32(min_s32, S32(a) < S32(b) ? a : b)
MAP32(max_s32, S32(a) > S32(b) ? a : b)
MAP64(min_u64, a < b ? a : b)
MAP64(max_u64, a > b ? a : b)
MAP64(min_s64, S64(a) < S64(b) ? a : b)
MAP64(max_s64, S64(a) > S64(b) ? a : b)
/* .relu: negative results become zero. */
static inline uint32_t relu_s32(uint32_t x) { return S32(x) < 0 ? 0 : x; }
MAP32(min_relu_s32, relu_s32(S32(a) < S32(b) ? a : b))
MAP32(max_relu_s32, relu_s32(S32(a) > S32(b) ? a : b))

/* Pairs of 16-bit integers in one register. */
static inline uint32_t pair(uint32_t low, uint32_t high) { return (low & 0xffff) | high << 16; }
static inline uint32_t relu_s16(uint32_t x) { return S16(x) < 0 ? 0 : x; }
MAP32(add_16x2, pair(a + b, (a >> 16) + (b >> 16)))
MAP32(min_u16x2, pair(U16(a) < U16(b) ? a : b, a >> 16 < b >> 16 ? a >> 16 : b >> 16))
MAP32(max_u16x2, pair(U16(a) > U16(b) ? a : b, a >> 16 > b >> 16 ? a >> 16 : b >> 16))
MAP32(min_s16x2, pair(S16(a) < S16(b) ? a : b, S16(a >> 16) < S16(b >> 16) ? a >> 16 : b >> 16))
MAP32(max_s16x2, pair(S16(a) > S16(b) ? a : b, S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16))
MAP32(min_relu_s16x2, pair(relu_s16(S16(a) < S16(b) ? a : b),
                           relu_s16(S16(a >> 16) < S16(b >> 16) ? a >> 16 : b >> 16)))
MAP32(max_relu_s16x2, pair(relu_s16(S16(a) > S16(b) ? a : b),
                           relu_s16(S16(a >> 16) > S16(b >> 16) ? a >> 16 : b >> 16)))

/* ---- logic, shifts ---- */
MAP32(and_32, (a & b))
MAP64(and_64, (a & b))
MAP32(or_32, a | b)
MAP64(or_64, a | b)
MAP32(xor_32, a ^ b)
MAP64(xor_64, a ^ b)
MAP16(not_16, ~a)
MAP32(not_32, ~a)
MAP64(not_64, ~a)
MAP16(cnot_16, U16(a) == 0 ? 1u : 0u)
MAP32(cnot_32, a == 0 ? 1u : 0u)
MAP64(cnot_64, a == 0 ? 1u : 0u)
/* Counts beyond the width clamp: shl and unsigned shr give 0, signed shr the sign. */
MAP16(shl_16, b > 15 ? 0 : a << (b & 15))
MAP32(shl_32, b > 31 ? 0 : a << (b & 31))
MAP_SHIFT64(shl_64, b > 63 ? 0 : a << (b & 63))
MAP16(shr_u16, b > 15 ? 0 : U16(a) >> (b & 15))
MAP32(shr_u32, b > 31 ? 0 : a >> (b & 31))
MAP_SHIFT64(shr_u64, b > 63 ? 0 : a >> (b & 63))
MAP16(shr_s16, S16(a) >> (b > 15 ? 15 : b))
MAP32(shr_s32, S32(a) >> (b > 31 ? 31 : b))
MAP_SHIFT64(shr_s64, S64(a) >> (b > 63 ? 63 : b))
/* Funnel shifts of b:a (b high). */
static inline uint32_t funnel_left(uint32_t a, uint32_t b, uint32_t n)
{
    return n == 0 ? b : n > 31 ? a : b << n | a >> (32 - n);
}
static inline uint32_t funnel_right(uint32_t a, uint32_t b, uint32_t n)
{
    return n == 0 ? a : n > 31 ? b : a >> n | b << (32 - n);
}
EACH32(shf_l_wrap, funnel_left(a, b, c & 31))
EACH32(shf_l_clamp, funnel_left(a, b, c))
EACH32(shf_r_wrap, funnel_right(a, b, c & 31))
EACH32(shf_r_clamp, funnel_right(a, b, c))

/* lop3: bit (4a + 2b + c) of the table in imm; the common tables have their own expression so that
 * the loop stays short. */
static inline uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t r = 0;
    r |= table & 0x01 ? ~a & ~b & ~c : 0;
    r |= table & 0x02 ? ~a & ~b & c : 0;
    r |= table & 0x04 ? ~a & b & ~c : 0;
    r |= table & 0x08 ? ~a & b & c : 0;
    r |= table & 0x10 ? a & ~b & ~c : 0;
    r |= table & 0x20 ? a & ~b & c : 0;
    r |= table & 0x40 ? a & b & ~c : 0;
    r |= table & 0x80 ? a & b & c : 0;
    return r;
}
MAP32(lop3, lop3(a, b, c, (uint32_t)in->imm))

/* ---- bit fields: the 32-bit forms read the low byte of position and length, the 64-bit forms all
 * of them ---- */
static inline uint32_t bfe_u32(uint32_t a, uint32_t pos, uint32_t len)
{
    pos &= 255, len &= 255;
    if (len == 0 || pos > 31)
        return 0;
    uint32_t r = a >> pos;
    return len > 31 ? r : r & ((1u << len) - 1);
}
static inline uint64_t bfe_u64(uint64_t a, uint32_t pos, uint32_t len)
{
    if (len == 0 || pos > 63)
        return 0;
    uint64_t r = a >> pos;
    return len > 63 ? r : r & ((1ull << len) - 1);
}
/* Signed: the sign bit is the last bit of the field, or of the operand where the field runs past
 * it. */
static inline uint64_t bfe_signed(uint64_t a, uint32_t pos, uint32_t len, uint32_t width)
{
    if (width == 32)
        pos &= 255, len &= 255;
    if (len == 0)
        return 0;
    uint64_t end = (uint64_t)pos + len;
    uint32_t last = end < width ? (uint32_t)end - 1 : width - 1;
    uint64_t fill = a >> last & 1 ? ~0ull : 0;
    if (pos >= width)
        return fill;
    uint64_t r = a >> pos;
    uint32_t kept = last - pos + 1;
    return kept > 63 ? r : (r & ((1ull << kept) - 1)) | (fill << kept);
}
static inline uint64_t bfi(uint64_t a, uint64_t b, uint32_t pos, uint32_t len, uint32_t width)
{
    if (width == 32)
        pos &= 255, len &= 255;
    if (pos >= width || len == 0)
        return b;
    uint64_t field = len > 63 ? ~0ull : (1ull << len) - 1;
    return (b & ~(field << pos)) | (a & field) << pos;
}
EACH32(bfe_u32, bfe_u32(a, b, c))
EACH32(bfe_s32, (uint32_t)bfe_signed(a, b, c, 32))
MAP_EACH(bfe_u64, lane_u64, lane_u64, lane_u32, lane_u32, bfe_u64(a, b, c))
MAP_EACH(bfe_s64, lane_u64, lane_u64, lane_u32, lane_u32, bfe_signed(a, b, c, 64))
MAP_EACH(bfi_32, lane_u32, lane_u32, lane_u32, lane_u32,
         bfi(a, b, c, SLOT(lane_u32, w, in->e)[lane], 32))
MAP_EACH(bfi_64, lane_u64, lane_u64, lane_u64, lane_u32,
         bfi(a, b, c, SLOT(lane_u32, w, in->e)[lane], 64))
static inline uint32_t bmsk(uint32_t a, uint32_t b, bool wrap)
{
    if (wrap)
        a &= 31, b &= 31;
    return a > 31 || b == 0 ? 0 : (b > 31 ? ~0u : (1u << b) - 1) << a;
}
EACH32(bmsk_clamp, bmsk(a, b, false))
EACH32(bmsk_wrap, bmsk(a, b, true))
/* szext: sign or zero extend from bit b - 1. */
EACH32(szext_u32_clamp, b > 31 ? a : a & ((1u << b) - 1))
EACH32(szext_u32_wrap, a &((1u << (b & 31)) - 1))
EACH32(szext_s32_clamp, b == 0 ? 0 : b > 31 ? a : (uint32_t)(S32(a << (32 - b)) >> (32 - b)))
EACH32(szext_s32_wrap, (b & 31) == 0 ? 0 : (uint32_t)(S32(a << (32 - (b & 31))) >> (32 - (b & 31))))

MAP32(popc_32, (uint32_t)__builtin_popcount(a))
MAP(popc_64, lane_u32, lane_u64, lane_u64, lane_u64, (uint32_t)__builtin_popcountll(a))
EACH32(clz_32, a ? (uint32_t)__builtin_clz(a) : 32u)
MAP_EACH(clz_64, lane_u32, lane_u64, lane_u64, lane_u64, a ? (uint32_t)__builtin_clzll(a) : 64u)
/* bfind: position of the highest bit that differs from the sign, ~0 when none; imm = width - 1
 * turns it into a shift amount. */
static inline uint32_t bfind(uint64_t a, int64_t shift_from)
{
    uint32_t at = a ? 63u - (uint32_t)__builtin_clzll(a) : 0xffffffffu;
    return shift_from && a ? (uint32_t)shift_from - at : at;
}
EACH32(bfind_u32, bfind(a, in->imm))
EACH32(bfind_s32, bfind(S32(a) < 0 ? ~a : a, in->imm))
MAP_EACH(bfind_u64, lane_u32, lane_u64, lane_u64, lane_u64, bfind(a, in->imm))
MAP_EACH(bfind_s64, lane_u32, lane_u64, lane_u64, lane_u64, bfind(S64(a) < 0 ? ~a : a, in->imm))
static inline uint32_t reverse_32(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(x);
}
MAP32(brev_32, reverse_32(a))
MAP64(brev_64, (uint64_t)reverse_32((uint32_t)a) << 32 | reverse_32((uint32_t)(a >> 32)))
/* fns: position of the |c|-th set bit of a, counted from bit b upwards (c > 0) or downwards (c <
 * 0); ~0 when there is none, 0 for the one count that has no magnitude. */
static inline uint32_t find_nth(uint32_t mask, uint32_t base, int32_t n)
{
    if (base > 31)
        return 0xffffffffu;
    if (n == 0)
        return mask >> base & 1 ? base : 0xffffffffu;
    if (n == INT32_MIN)
        return 0;
    int32_t found = 0, step = n > 0 ? 1 : -1, wanted = n > 0 ? n : -n;
    for (int32_t at = (int32_t)base; at >= 0 && at < 32; at += step) {
        if (mask >> at & 1 && ++found == wanted)
            return (uint32_t)at;
    }
    return 0xffffffffu;
}
EACH32(fns, find_nth(a, b, S32(c)))

/* prmt: insn.rnd picks the mode; each selector nibble takes a byte of b:a, its top bit replicates
 * that byte's sign. */
enum { PRMT_DEFAULT, PRMT_F4E, PRMT_B4E, PRMT_RC8, PRMT_ECL, PRMT_ECR, PRMT_RC16 };
static uint32_t permute(uint32_t a, uint32_t b, uint32_t c, unsigned mode)
{
    uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t r = 0, s = c & 3;
    for (uint32_t i = 0; i < 4; i++) {
        uint32_t from = 0;
        switch (mode) {
        case PRMT_F4E:
            from = s + i;
            break;
        case PRMT_B4E:
            from = (s - i) & 7;
            break;
        case PRMT_RC8:
            from = s;
            break;
        case PRMT_ECL:
            from = i > s ? i : s;
            break;
        case PRMT_ECR:
            from = i < s ? i : s;
            break;
        case PRMT_RC16:
            from = (s & 1) * 2 + (i & 1);
            break;
        default:
            from = c >> (4 * i) & 15;
            break;
        }
        uint32_t byte = (uint32_t)(bytes >> (8 * (from & 7))) & 255;
        if (from & 8)
            byte = byte & 128 ? 255 : 0;
        r |= byte << (8 * i);
    }
    return r;
}
EACH32(prmt, permute(a, b, c, in->rnd))

/* dp4a, dp2a: insn.rnd bit 0: a signed, bit 1: b signed; dp2a bit 2: the high half of b. */
static inline int32_t part8(uint32_t x, unsigned i, bool is_signed)
{
    uint32_t v = x >> (8 * i) & 255;
    return is_signed ? (int8_t)v : (int32_t)v;
}
static uint32_t dot4(uint32_t a, uint32_t b, uint32_t c, unsigned mode)
{
    for (unsigned i = 0; i < 4; i++)
        c += (uint32_t)(part8(a, i, mode & 1) * part8(b, i, mode & 2));
    return c;
}
static uint32_t dot2(uint32_t a, uint32_t b, uint32_t c, unsigned mode)
{
    for (unsigned i = 0; i < 2; i++) {
        int32_t x = mode & 1 ? S16(a >> (16 * i)) : U16(a >> (16 * i));
        c += (uint32_t)(x * part8(b, i + (mode & 4 ? 2 : 0), mode & 2));
    }
    return c;
}
EACH32(dp4a, dot4(a, b, c, in->rnd))
EACH32(dp2a, dot2(a, b, c, in->rnd))

/* ---- moves, selects ---- */
MAP32(mov_32, a)
MAP64(mov_64, a)
/* selp: c is a predicate index; imm is the mask that negates it. */
#define SELECT(NAME, T)                                                                            \
    static void op_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)                   \
    {                                                                                              \
        T *pd = SLOT(T, w, in->d);                                                                 \
        const T *pa = SLOT(T, w, in->a), *pb = SLOT(T, w, in->b);                                  \
        const uint32_t choice = w->preds[in->c] ^ (uint32_t)in->imm;                               \
        LANE_LOOP FOR_LANES                                                                        \
        {                                                                                          \
            const T a = pa[lane], b = pb[lane];                                                    \
            const T r = (choice >> lane & 1) != 0 ? a : b;                                         \
            pd[lane] = (lanes >> lane & 1) != 0 ? r : pd[lane];                                    \
        }                                                                                          \
    }
SELECT(selp_32, lane_u32)
SELECT(selp_64, lane_u64)
MAP32(slct_32_s32, S32(c) >= 0 ? a : b)
MAP(slct_64_s32, lane_u64, lane_u64, lane_u64, lane_u32, S32(c) >= 0 ? a : b)
/* mode: FLOAT_FTZ, which turns a negative subnormal c into -0 and so chooses a. */
static inline bool slct_first(float c, unsigned mode)
{
    return (mode & FLOAT_FTZ ? f32_flush(c) : c) >= 0.0f;
}
MAP(slct_32_f32, lane_u32, lane_u32, lane_u32, lane_f32, slct_first(c, mode) ? a : b)
MAP(slct_64_f32, lane_u64, lane_u64, lane_u64, lane_f32, slct_first(c, mode) ? a : b)

/* mov with a vector on one side: extras[0] = parts, then their slots (~0: not wanted). width: bytes
 * of one part; the whole is d or a. */
static void op_mov_pack(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint32_t *list = w->frame->program->extras + in->extra;
    unsigned bits = 8u * in->width;
    bool wide = in->width * list[0] == 8, parts64 = in->width == 8;
    FOR_EACH_LANE(lane, lanes)
    {
        uint64_t whole = 0;
        for (uint32_t i = 0; i < list[0]; i++) {
            uint64_t part = parts64 ? SLOT(lane_u64, w, list[1 + i])[lane]
                                    : SLOT(lane_u32, w, list[1 + i])[lane];
            uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
            whole |= (part & mask) << (bits * i);
        }
        if (wide)
            SLOT(lane_u64, w, in->d)[lane] = whole;
        else
            SLOT(lane_u32, w, in->d)[lane] = (uint32_t)whole;
    }
}
static void op_mov_unpack(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint32_t *list = w->frame->program->extras + in->extra;
    unsigned bits = 8u * in->width;
    bool wide = in->width * list[0] == 8;
    FOR_EACH_LANE(lane, lanes)
    {
        uint64_t whole = wide ? SLOT(lane_u64, w, in->a)[lane] : SLOT(lane_u32, w, in->a)[lane];
        for (uint32_t i = 0; i < list[0]; i++) {
            if (list[1 + i] == ~0u)
                continue;
            SLOT(lane_u32, w, list[1 + i])
            [lane] = (uint32_t)(whole >> (bits * i)) & (bits == 32 ? ~0u : (1u << bits) - 1);
        }
    }
}

/* ---- predicates: d, a, b are indices; imm bit 0 negates a, bit 1 negates b ---- */
static inline uint32_t pred_a(const struct warp *w, const struct insn *in)
{
    return w->preds[in->a] ^ (in->imm & 1 ? ~0u : 0);
}
static inline uint32_t pred_b(const struct warp *w, const struct insn *in)
{
    return w->preds[in->b] ^ (in->imm & 2 ? ~0u : 0);
}
#define PREDICATE(NAME, EXPR)                                                                      \
    static void op_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)                   \
    {                                                                                              \
        uint32_t r = (EXPR);                                                                       \
        w->preds[in->d] = (w->preds[in->d] & ~lanes) | (r & lanes);                                \
    }
PREDICATE(and_pred, pred_a(w, in) & pred_b(w, in))
PREDICATE(or_pred, pred_a(w, in) | pred_b(w, in))
PREDICATE(xor_pred, pred_a(w, in) ^ pred_b(w, in))
PREDICATE(not_pred, ~pred_a(w, in))
PREDICATE(mov_pred, pred_a(w, in))

/* ---- comparisons ---- */
#define COMPARE_SIGNED(SUFFIX, T, U, CAST)                                                         \
    COMPARE(lt_##SUFFIX, T, CAST(a) < CAST(b))                                                     \
    COMPARE(le_##SUFFIX, T, CAST(a) <= CAST(b))                                                    \
    COMPARE(gt_##SUFFIX, T, CAST(a) > CAST(b))                                                     \
    COMPARE(ge_##SUFFIX, T, CAST(a) >= CAST(b))
#define SAME(x) (x)
COMPARE(eq_16, lane_u32, U16(a) == U16(b))
COMPARE(ne_16, lane_u32, U16(a) != U16(b))
COMPARE(eq_32, lane_u32, a == b)
COMPARE(ne_32, lane_u32, a != b)
COMPARE(eq_64, lane_u64, a == b)
COMPARE(ne_64, lane_u64, a != b)
COMPARE_SIGNED(s16, lane_u32, 0, S16)
COMPARE_SIGNED(u16, lane_u32, 0, U16)
COMPARE_SIGNED(s32, lane_s32, 0, SAME)
COMPARE_SIGNED(u32, lane_u32, 0, SAME)
COMPARE_SIGNED(s64, lane_s64, 0, SAME)
COMPARE_SIGNED(u64, lane_u64, 0, SAME)

static uint32_t combine(unsigned op, uint32_t x, uint32_t y)
{
    switch ((enum bool_op)op) {
    case BOOL_AND:
        return x & y;
    case BOOL_OR:
        return x | y;
    case BOOL_XOR:
        return x ^ y;
    case BOOL_NONE:
        break;
    }
    return x;
}
/* Runs the plain comparison `extras[0]` (an op_id) into the program's scratch predicate 0 and
 * returns its mask. */
static uint32_t compare_mask(struct warp *w, const struct insn *in)
{
    struct insn plain = *in;
    plain.d = 0;
    exec_op((enum op_id)w->frame->program->extras[in->extra])(w, &plain, FULL_MASK);
    return w->preds[0];
}
/* setp with a second destination (e, ~0: none) and a boolean operator with predicate c (imm: mask
 * that negates it). */
static void op_setp_full(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t mask = compare_mask(w, in),
             third = in->rnd == BOOL_NONE ? 0 : w->preds[in->c] ^ (uint32_t)in->imm;
    uint32_t p = combine(in->rnd, mask, third), q = combine(in->rnd, ~mask, third);
    if (in->d != ~0u)
        w->preds[in->d] = (w->preds[in->d] & ~lanes) | (p & lanes);
    if (in->e != ~0u)
        w->preds[in->e] = (w->preds[in->e] & ~lanes) | (q & lanes);
}
/* set: extras[1] is the value that stands for true: all ones, or 1.0 of the destination type. For
 * packed halves see exec_float.c. */
static void op_set_full(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint32_t mask = compare_mask(w, in),
             third = in->rnd == BOOL_NONE ? 0 : w->preds[in->c] ^ (uint32_t)in->imm;
    uint32_t p = combine(in->rnd, mask, third), yes = w->frame->program->extras[in->extra + 1];
    lane_u32 *pd = SLOT(lane_u32, w, in->d);
    FOR_EACH_LANE(lane, lanes) { pd[lane] = p >> lane & 1 ? yes : 0; }
}

/* cvt.pack.sat: two 32-bit integers clamped to 16, 8 or 4 bits; the rest comes from c. width: bits
 * of a part; rnd bit 0: signed. */
static uint32_t clamp_to(int32_t x, unsigned bits, bool is_signed)
{
    int32_t low = is_signed ? -(1 << (bits - 1)) : 0,
            high = is_signed ? (1 << (bits - 1)) - 1 : (1 << bits) - 1;
    x = x < low ? low : x > high ? high : x;
    return (uint32_t)x & ((1u << bits) - 1);
}
EACH32(cvt_pack, clamp_to(S32(b), in->width, in->rnd & 1) |
                     clamp_to(S32(a), in->width, in->rnd & 1) << in->width |
                     (in->width < 16 ? c << (2 * in->width) : 0))

extern op_fn *const ISA_NAME(exec_alu_ops)[OP_COUNT];
op_fn *const ISA_NAME(exec_alu_ops)[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_alu.def"
#undef X
};

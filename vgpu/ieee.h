/*
 * ieee.h - IEEE arithmetic as PTX wants it: directed rounding, fma, narrow formats, canonical NaNs.
 * No libm, no fesetround. The short branch-free functions are inline so that lane loops vectorise;
 * the long ones are in ieee.c. Approximations live in approx.h. Invariant: results do not depend on
 * the host's instruction set; MXCSR is never touched.
 */
#ifndef VGPU_IEEE_H
#define VGPU_IEEE_H

#include <stdbool.h>
#include <stdint.h>

enum rounding {
    ROUND_NEAREST,
    ROUND_ZERO,
    ROUND_DOWN,
    ROUND_UP,
    ROUND_AWAY /* nearest, ties away from zero */
};

#define F32_NAN_BITS 0x7fffffffu /* what sm_90 returns for every NaN result */
#define F64_NAN_BITS                                                                               \
    0xfff8000000000000ull /* an invalid f64 operation; a NaN operand is propagated instead, see    \
                             f64_result */
#define F64_QUIET_BIT 0x0008000000000000ull
#define F16_NAN_BITS  0x7fffu
#define BF16_NAN_BITS 0x7fffu

union f32_cast {
    float f;
    uint32_t u;
};
union f64_cast {
    double f;
    uint64_t u;
};
static inline uint32_t f32_bits(float x) { return (union f32_cast){.f = x}.u; }
static inline float f32_make(uint32_t u) { return (union f32_cast){.u = u}.f; }
static inline uint64_t f64_bits(double x) { return (union f64_cast){.f = x}.u; }
static inline double f64_make(uint64_t u) { return (union f64_cast){.u = u}.f; }

static inline float f32_canon(float x) { return x == x ? x : f32_make(F32_NAN_BITS); }
static inline double f64_canon(double x) { return x == x ? x : f64_make(F64_NAN_BITS); }
static inline double f64_quiet(double x)
{
    return x == x ? x : f64_make(f64_bits(x) | F64_QUIET_BIT);
}
/* The f64 unit propagates NaN operands, quieted (f32 and the halves do not): r is the IEEE result
 * of an operation on first and second, in the hardware's order of preference. */
static inline double f64_result(double r, double first, double second)
{
    double nan = first != first     ? f64_quiet(first)
                 : second != second ? f64_quiet(second)
                                    : f64_make(F64_NAN_BITS);
    return r == r ? r : nan;
}
/* Subnormals become zeros of the same sign. */
static inline float f32_flush(float x)
{
    uint32_t u = f32_bits(x);
    return f32_make((u & 0x7f800000u) == 0 ? u & 0x80000000u : u);
}
/* .sat: clamp to [0, 1]; NaN and -0 give +0. */
static inline float f32_sat(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }
static inline double f64_sat(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

/* min and max: a NaN operand loses, -0 < +0; two NaNs give the canonical one (f32) or b, quieted
 * (f64). */
static inline float f32_min(float a, float b)
{
    uint32_t ua = f32_bits(a), ub = f32_bits(b), r = a < b ? ua : a == b ? ua | ub : ub;
    r = a != a ? ub : r;
    r = b != b ? ua : r;
    return f32_canon(f32_make(r));
}
static inline float f32_max(float a, float b)
{
    uint32_t ua = f32_bits(a), ub = f32_bits(b), r = a > b ? ua : a == b ? ua & ub : ub;
    r = a != a ? ub : r;
    r = b != b ? ua : r;
    return f32_canon(f32_make(r));
}
static inline double f64_min(double a, double b)
{
    uint64_t ua = f64_bits(a), ub = f64_bits(b), r = a < b ? ua : a == b ? ua | ub : ub;
    r = b != b ? ua : r;
    r = a != a ? ub : r;
    return f64_quiet(f64_make(r));
}
static inline double f64_max(double a, double b)
{
    uint64_t ua = f64_bits(a), ub = f64_bits(b), r = a > b ? ua : a == b ? ua & ub : ub;
    r = b != b ? ua : r;
    r = a != a ? ub : r;
    return f64_quiet(f64_make(r));
}

/* Exact error of the rounded sum s = a + b (Knuth's TwoSum). */
static inline double f64_sum_error(double a, double b, double s)
{
    double t = s - a;
    return (a - (s - t)) + (b - t);
}
/* Moves an inexact s to the neighbour with an odd last bit that still brackets s + error: a later
 * narrower rounding is then exact. */
static inline double f64_round_odd(double s, double error)
{
    uint64_t u = f64_bits(s);
    bool inexact = error != 0.0 && error == error && (u & 1) == 0;
    bool outwards = (error > 0.0) == (s > 0.0);
    uint64_t moved = outwards ? u + 1 : u - 1;
    if (s == 0.0)
        moved = (error < 0.0 ? 0x8000000000000000ull : 0) | 1;
    return f64_make(inexact ? moved : u);
}
/* Rounds the exact value s + error (|error| at most half a unit of s) to f32. */
static inline float f32_narrow(double s, double error, enum rounding mode)
{
    float f = (float)f64_round_odd(s, error);
    if (mode == ROUND_NEAREST)
        return f32_canon(f);
    double back = (double)f;
    error = error == error ? error : 0.0;
    bool above = back > s || (back == s && error < 0.0),
         below = back < s || (back == s && error > 0.0);
    uint32_t u = f32_bits(f);
    bool negative = (u >> 31) != 0;
    bool down = mode == ROUND_DOWN ? above : mode == ROUND_ZERO ? above && !negative : false;
    bool up = mode == ROUND_UP ? below : mode == ROUND_ZERO ? below && negative : false;
    /* One step towards minus or plus infinity; the nearest result is never more than one step off.
     */
    uint32_t lower = u == 0 ? 0x80000001u : negative ? u + 1 : u - 1;
    uint32_t upper = u == 0x80000000u ? 1u : negative ? u - 1 : u + 1;
    u = down ? lower : up ? upper : u;
    return f32_canon(f32_make(u));
}
static inline float f32_fma_mode(float a, float b, float c, enum rounding mode)
{
    double p = (double)a * (double)b,
           s = p + (double)c; /* the product of two f32 is exact in f64 */
    float r = f32_narrow(s, f64_sum_error(p, (double)c, s), mode);
    /* x + (-x) is -0 when rounding down; equal signs keep theirs. */
    bool cancelled =
        mode == ROUND_DOWN && s == 0.0 && (f64_bits(p) >> 63) != (uint64_t)(f32_bits(c) >> 31);
    return cancelled ? -0.0f : r;
}
static inline float f32_add_mode(float a, float b, enum rounding mode)
{
    return f32_fma_mode(a, 1.0f, b, mode);
}
static inline float f32_mul_mode(float a, float b, enum rounding mode)
{
    return f32_narrow((double)a * (double)b, 0.0, mode);
}

/* a * b + c with one rounding, any mode. In ieee.c: 128-bit integers. */
double ieee_fma64(double a, double b, double c, enum rounding mode);
double ieee_add64(double a, double b, enum rounding mode);
double ieee_mul64(double a, double b, enum rounding mode);
double ieee_div64(double a, double b, enum rounding mode);
double ieee_sqrt64(double a, enum rounding mode);
float ieee_div32(float a, float b, enum rounding mode);
float ieee_sqrt32(float a, enum rounding mode);
/* f64 to f32 in any mode: a NaN keeps its sign and the upper bits of its payload. */
static inline float f32_nan_from_f64(double x)
{
    uint64_t u = f64_bits(x);
    return f32_make(((uint32_t)(u >> 32) & 0x80000000u) | 0x7fc00000u |
                    ((uint32_t)(u >> 29) & 0x3fffffu));
}
static inline float f32_from_f64(double x, enum rounding mode)
{
    return x == x ? f32_narrow(x, 0.0, mode) : f32_nan_from_f64(x);
}
/* f32 to f64: exact; a NaN keeps sign and payload, quieted. */
static inline double f64_from_f32(float x)
{
    uint64_t u = f32_bits(x),
             nan = (u & 0x80000000u) << 32 | 0x7ff8000000000000ull | (u & 0x7fffffu) << 29;
    return x == x ? (double)x : f64_make(nan);
}

#if defined(__FMA__)
static inline float f32_fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
static inline double f64_fma(double a, double b, double c) { return __builtin_fma(a, b, c); }
#else
static inline float f32_fma(float a, float b, float c)
{
    double p = (double)a * (double)b, s = p + (double)c;
    return (float)f64_round_odd(s, f64_sum_error(p, (double)c, s));
}
static inline double f64_fma(double a, double b, double c)
{
    return ieee_fma64(a, b, c, ROUND_NEAREST);
}
#endif

static inline float f16_to_f32(uint32_t h)
{
    uint32_t u =
        f32_bits(f32_make((h & 0x7fffu) << 13) * 0x1p112f); /* rebias; also normalises subnormals */
    u |= (h & 0x7c00u) == 0x7c00u ? 0x7f800000u : 0;
    return f32_make(u | (h & 0x8000u) << 16);
}
/* Nearest even. NaN becomes the canonical one. */
static inline uint32_t f16_from_f32(float x)
{
    uint32_t u = f32_bits(x), sign = u >> 16 & 0x8000u;
    u &= 0x7fffffffu;
    uint32_t small = f32_bits(f32_make(u) + 0.5f) -
                     0x3f000000u; /* adding 0.5 rounds at 2^-24, the last bit of a subnormal */
    uint32_t normal = (u - (112u << 23) + 0xfffu + (u >> 13 & 1)) >> 13;
    uint32_t r = u < 0x38800000u ? small : normal;
    r = u >= 0x47800000u ? 0x7c00u : r;
    return u > 0x7f800000u ? F16_NAN_BITS : r | sign;
}
static inline float bf16_to_f32(uint32_t h) { return f32_make(h << 16); }
static inline uint32_t bf16_from_f32(float x)
{
    uint32_t u = f32_bits(x), r = (u + 0x7fffu + (u >> 16 & 1)) >> 16;
    return (u & 0x7fffffffu) > 0x7f800000u ? BF16_NAN_BITS : r & 0xffffu;
}
/* tf32 keeps 10 bits of the fraction; cvt.rna rounds ties away from zero. It knows no NaN: a
 * payload that lies in the lost bits only leaves an infinity behind. */
static inline uint32_t tf32_from_f32(float x)
{
    uint32_t u = f32_bits(x);
    return ((u & 0x7f800000u) == 0x7f800000u ? u : u + 0x1000u) & 0xffffe000u;
}
/* Rounds x to a format of `fraction` stored bits and `exponent` bits (IEEE bias, infinities);
 * returns the encoding without sign extension. Serves the rare cases: f16 and bf16 from f64 and in
 * directed modes. */
uint32_t ieee_narrow(double x, unsigned fraction, unsigned exponent, enum rounding mode);
/* The same for (-1)^negative * magnitude: integers to any float format, the encoding of f32 being
 * (23, 8), of f64 (52, 11). */
uint64_t ieee_encode_int(bool negative, uint64_t magnitude, unsigned fraction, unsigned exponent,
                         enum rounding mode);
/* x to an integral value of the same format, any mode. A NaN of f64 stays itself, quieted. */
static inline double f64_integral(double x, enum rounding mode)
{
    double size = __builtin_fabs(x),
           t = (size + 0x1p52) - 0x1p52; /* nearest even for size < 2^52 */
    bool negative = (f64_bits(x) >> 63) != 0;
    bool down =
        mode == ROUND_ZERO || (mode == ROUND_DOWN && !negative) || (mode == ROUND_UP && negative);
    bool up = (mode == ROUND_DOWN && negative) || (mode == ROUND_UP && !negative);
    t = down && t > size ? t - 1.0 : t;
    t = up && t < size ? t + 1.0 : t;
    t = mode == ROUND_AWAY && size - t == 0.5 ? t + 1.0 : t;
    t = size < 0x1p52 ? t : size;
    return f64_quiet(f64_make(f64_bits(t) | (negative ? 0x8000000000000000ull : 0)));
}
static inline float f32_integral(float x, enum rounding mode)
{
    float size = __builtin_fabsf(x), t = (size + 0x1p23f) - 0x1p23f;
    bool negative = (f32_bits(x) >> 31) != 0;
    bool down =
        mode == ROUND_ZERO || (mode == ROUND_DOWN && !negative) || (mode == ROUND_UP && negative);
    bool up = (mode == ROUND_DOWN && negative) || (mode == ROUND_UP && !negative);
    t = down && t > size ? t - 1.0f : t;
    t = up && t < size ? t + 1.0f : t;
    t = mode == ROUND_AWAY && size - t == 0.5f ? t + 1.0f : t;
    t = size < 0x1p23f ? t : size;
    return f32_canon(f32_make(f32_bits(t) | (negative ? 0x80000000u : 0)));
}
/* a * b + c of halves, rounded once: the sum is rounded to odd in f32, which has enough spare bits
 * for a second rounding to be harmless. */
static inline float f32_round_odd(double s)
{
    float f = (float)s;
    double error = s - (double)f;
    uint32_t u = f32_bits(f);
    bool inexact = error != 0.0 && error == error && (u & 1) == 0;
    uint32_t moved = (error > 0.0) == (f > 0.0f) ? u + 1 : u - 1;
    moved = f == 0.0f ? (s < 0.0 ? 0x80000001u : 1u) : moved;
    return f32_make(inexact ? moved : u);
}
static inline float f32_fma_odd(float a, float b, float c)
{
    double p = (double)a * (double)b, s = p + (double)c;
    return f32_round_odd(f64_round_odd(s, f64_sum_error(p, (double)c, s)));
}
/* OCP 8-bit floats of PTX (satfinite): e4m3 has no infinity. */
uint32_t ieee_to_e4m3(double x);
uint32_t ieee_to_e5m2(double x);
float ieee_from_e4m3(uint32_t x);
float ieee_from_e5m2(uint32_t x);

#endif

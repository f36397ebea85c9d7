/*
 * approx.h - the .approx functions of PTX, evaluated in f64 by short polynomials and rounded once.
 * They agree with the hardware's tables within the bounds of the PTX manual, not bit for bit.
 * Invariant: branch-free, so lane loops vectorise.
 */
#ifndef VGPU_APPROX_H
#define VGPU_APPROX_H

#include "ieee.h"

/* 2^x for x in [-1022, 1022]: 2^n by the exponent field, 2^r for |r| <= 1/2 by the exponential
 * series in r ln 2 (error below 2^-45). */
static inline double approx_exp2(double x)
{
    double n = (x + 0x1.8p52) - 0x1.8p52, t = (x - n) * 0x1.62e42fefa39efp-1;
    double p =
        1.0 +
        t * (1.0 + t * (1.0 / 2 +
                        t * (1.0 / 6 +
                             t * (1.0 / 24 +
                                  t * (1.0 / 120 +
                                       t * (1.0 / 720 + t * (1.0 / 5040 +
                                                             t * (1.0 / 40320 +
                                                                  t * (1.0 / 362880 +
                                                                       t * (1.0 / 3628800))))))))));
    uint64_t scale = (f64_bits(x + 0x1.8p52) + 1023)
                     << 52; /* the low bits of the biased sum are n */
    return p * f64_make(scale);
}
static inline float approx_ex2_f32(float x)
{
    double v = (double)x;
    v = v < -200.0 ? -200.0 : v;
    v = v > 200.0 ? 200.0 : v;
    float r = (float)approx_exp2(v);
    return x == x ? r : f32_make(F32_NAN_BITS);
}

/* log2 of a positive normal double: exponent plus 2/ln2 * atanh((m-1)/(m+1)), m in [sqrt(1/2),
 * sqrt(2)]. */
static inline double approx_log2(double x)
{
    uint64_t u = f64_bits(x), shifted = u - 0x3fe6a09e667f3bcdull; /* bits of sqrt(1/2) */
    int64_t e = (int64_t)shifted >> 52;
    double m = f64_make(u - ((uint64_t)e << 52));
    double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p =
        1.0 +
        q * (1.0 / 3 +
             q * (1.0 / 5 +
                  q * (1.0 / 7 +
                       q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13 + q * (1.0 / 15 + q / 17)))))));
    return (double)e + s * p * 0x1.71547652b82fep1;
}
static inline float approx_lg2_f32(float x)
{
    float r = (float)approx_log2((double)x);
    r = x == 0.0f ? -__builtin_inff() : r;
    r = x == __builtin_inff() ? x : r;
    return x >= 0.0f ? r : f32_make(F32_NAN_BITS);
}

/* sin and cos as the hardware does them: x / (2 pi) is rounded towards zero to f32, with the f32
 * nearest to 1 / (2 pi), and the function unit takes a sine of so many turns. That product, not the
 * unit, makes the error for large x; subnormal turns count as zero. */
static inline float approx_turns(float x)
{
    double product = (double)x * (double)0x1.45f306p-3f; /* exact */
    double size = __builtin_fabs(product);
    float turns = (float)f64_make(f64_bits(product) & 0xffffffffe0000000ull);
    turns = size < 0x1p-126 ? 0.0f : turns;
    return f32_make((f32_bits(turns) & 0x7fffffffu) | (f32_bits(x) & 0x80000000u));
}
/* sin(2 pi turns + quarter * pi/2) */
static inline double approx_sine(double turns, int64_t quarter)
{
    double quarters = turns * 4.0, biased = quarters + 0x1.8p52, n = biased - 0x1.8p52;
    biased = __builtin_fabs(quarters) < 0x1p50 ? biased : 0x1.8p52; /* whole turns */
    double r = __builtin_fabs(quarters) < 0x1p50 ? (quarters - n) * 0x1.921fb54442d18p+0 : 0.0;
    int64_t k = (int64_t)(f64_bits(biased) & 3) + quarter;
    double q = r * r;
    double s =
        r * (1.0 +
             q * (-1.0 / 6 + q * (1.0 / 120 +
                                  q * (-1.0 / 5040 + q * (1.0 / 362880 + q * (-1.0 / 39916800))))));
    double c =
        1.0 + q * (-1.0 / 2 +
                   q * (1.0 / 24 + q * (-1.0 / 720 + q * (1.0 / 40320 + q * (-1.0 / 3628800)))));
    double v = (k & 1) ? c : s;
    return (k & 2) ? -v : v;
}
static inline float approx_sin_f32(float x)
{
    float turns = approx_turns(x), r = (float)approx_sine((double)turns, 0);
    r = turns == 0.0f ? turns : r;
    return (f32_bits(x) & 0x7f800000u) == 0x7f800000u ? f32_make(F32_NAN_BITS) : r;
}
static inline float approx_cos_f32(float x)
{
    float r = (float)approx_sine((double)approx_turns(x), 1);
    return (f32_bits(x) & 0x7f800000u) == 0x7f800000u ? f32_make(F32_NAN_BITS) : r;
}
static inline float approx_tanh_f32(float x)
{
    double v = (double)x, clamped = v > 20.0 ? 20.0 : v < -20.0 ? -20.0 : v;
    double e = approx_exp2(clamped * 0x1.71547652b82fep1); /* exp(2x) */
    double small = v * (1.0 - v * v * (1.0 / 3));
    double r = v < 0x1p-10 && v > -0x1p-10 ? small : 1.0 - 2.0 / (e + 1.0);
    return x == x ? (float)r : f32_make(F32_NAN_BITS);
}
static inline float approx_rcp_f32(float x) { return f32_canon(1.0f / x); }
static inline float approx_rsqrt_f32(float x)
{
    return f32_canon((float)(1.0 / __builtin_sqrt((double)x)));
}
static inline float approx_sqrt_f32(float x) { return f32_canon(__builtin_sqrtf(x)); }
/* div.approx is a * rcp(b); .full scales first, so it has no hole: for 2^126 < |b| < 2^128 the
 * plain form multiplies by zero. */
static inline float approx_div_f32(float a, float b)
{
    float size = __builtin_fabsf(b), r = a / b;
    bool hole = size > 0x1p126f && size <= 0x1.fffffep127f;
    return f32_canon(hole ? a * f32_make(f32_bits(b) & 0x80000000u) : r);
}

#endif

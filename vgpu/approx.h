/*
 * approx.h - the .approx functions of PTX, evaluated in f64 by short polynomials and rounded once.
 * They agree with the hardware's tables within the bounds of the PTX manual, not bit for bit. Invariant: branch-free, so lane loops vectorise.
 */
#ifndef VGPU_APPROX_H
#define VGPU_APPROX_H

#include "ieee.h"

/* 2^x for x in [-1022, 1022]: 2^n by the exponent field, 2^r for |r| <= 1/2 by the exponential series in r ln 2 (error below 2^-45). */
static inline double approx_exp2(double x)
{
    double n = (x + 0x1.8p52) - 0x1.8p52, t = (x - n) * 0x1.62e42fefa39efp-1;
    double p = 1.0 + t * (1.0 + t * (1.0 / 2 + t * (1.0 / 6 + t * (1.0 / 24 + t * (1.0 / 120 + t * (1.0 / 720 +
               t * (1.0 / 5040 + t * (1.0 / 40320 + t * (1.0 / 362880 + t * (1.0 / 3628800))))))))));
    uint64_t scale = (f64_bits(x + 0x1.8p52) + 1023) << 52; /* the low bits of the biased sum are n */
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

/* log2 of a positive normal double: exponent plus 2/ln2 * atanh((m-1)/(m+1)), m in [sqrt(1/2), sqrt(2)]. */
static inline double approx_log2(double x)
{
    uint64_t u = f64_bits(x), shifted = u - 0x3fe6a09e667f3bcdull; /* bits of sqrt(1/2) */
    int64_t e = (int64_t)shifted >> 52;
    double m = f64_make(u - ((uint64_t)e << 52));
    double s = (m - 1.0) / (m + 1.0), q = s * s;
    double p = 1.0 + q * (1.0 / 3 + q * (1.0 / 5 + q * (1.0 / 7 + q * (1.0 / 9 + q * (1.0 / 11 + q * (1.0 / 13 + q * (1.0 / 15 + q / 17)))))));
    return (double)e + s * p * 0x1.71547652b82fep1;
}
static inline float approx_lg2_f32(float x)
{
    float r = (float)approx_log2((double)x);
    r = x == 0.0f ? -__builtin_inff() : r;
    r = x == __builtin_inff() ? x : r;
    return x >= 0.0f ? r : f32_make(F32_NAN_BITS);
}

/* sin(x + quarter * pi/2); pi/2 in three parts keeps the reduction exact to about 1e-16 for |x| up to 2^20. */
static inline double approx_sine(double x, int64_t quarter)
{
    double biased = x * 0x1.45f306dc9c883p-1 + 0x1.8p52, n = biased - 0x1.8p52;
    double r = ((x - n * 0x1.921fb54000000p+0) - n * 0x1.10b4611000000p-30) - n * 0x1.4c4c6628b80dcp-59;
    int64_t k = (int64_t)(f64_bits(biased) & 3) + quarter;
    double q = r * r;
    double s = r * (1.0 + q * (-1.0 / 6 + q * (1.0 / 120 + q * (-1.0 / 5040 + q * (1.0 / 362880 + q * (-1.0 / 39916800))))));
    double c = 1.0 + q * (-1.0 / 2 + q * (1.0 / 24 + q * (-1.0 / 720 + q * (1.0 / 40320 + q * (-1.0 / 3628800)))));
    double v = (k & 1) ? c : s;
    return (k & 2) ? -v : v;
}
static inline float approx_sin_f32(float x)
{
    float r = (float)approx_sine((double)x, 0);
    r = x == 0.0f ? x : r;
    return (f32_bits(x) & 0x7f800000u) == 0x7f800000u ? f32_make(F32_NAN_BITS) : r;
}
static inline float approx_cos_f32(float x)
{
    float r = (float)approx_sine((double)x, 1);
    return (f32_bits(x) & 0x7f800000u) == 0x7f800000u ? f32_make(F32_NAN_BITS) : r;
}
static inline float approx_tanh_f32(float x)
{
    double v = (double)x, clamped = v > 20.0 ? 20.0 : v < -20.0 ? -20.0 : v;
    double e = approx_exp2(clamped * 0x1.71547652b82fep1);          /* exp(2x) */
    double small = v * (1.0 - v * v * (1.0 / 3));
    double r = v < 0x1p-10 && v > -0x1p-10 ? small : 1.0 - 2.0 / (e + 1.0);
    return x == x ? (float)r : f32_make(F32_NAN_BITS);
}
static inline float approx_rcp_f32(float x) { return f32_canon(1.0f / x); }
static inline float approx_rsqrt_f32(float x) { return f32_canon((float)(1.0 / __builtin_sqrt((double)x))); }
static inline float approx_sqrt_f32(float x) { return f32_canon(__builtin_sqrtf(x)); }
/* div.approx is a * rcp(b); .full scales first, so it has no hole: for 2^126 < |b| < 2^128 the plain form gives zero. */
static inline float approx_div_f32(float a, float b)
{
    float size = __builtin_fabsf(b), r = a / b;
    bool hole = size > 0x1p126f && size <= 0x1.fffffep127f && __builtin_fabsf(a) <= 0x1.fffffep127f;
    uint32_t zero = (f32_bits(a) ^ f32_bits(b)) & 0x80000000u;
    return f32_canon(hole ? f32_make(zero) : r);
}

#endif

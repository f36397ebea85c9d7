/*
 * ieee.c - the long half of ieee.h: fma with 128-bit integers, directed division and root, rounding
 * to narrow formats. Approximations are not here (approx.h). Invariant: pure functions of their
 * arguments.
 */
#include "ieee.h"

__extension__ typedef unsigned __int128 u128;

/* A finite non-zero double as sign, 53-bit significand and exponent of its last bit. */
struct parts {
    bool negative;
    uint64_t significand;
    int exponent;
};

static struct parts split(double x)
{
    uint64_t u = f64_bits(x), fraction = u & 0xfffffffffffffull;
    int biased = (int)(u >> 52 & 0x7ff);
    struct parts p = {(u >> 63) != 0, biased ? fraction | 1ull << 52 : fraction,
                      (biased ? biased : 1) - 1075};
    return p;
}

static int bit_length(u128 x)
{
    uint64_t high = (uint64_t)(x >> 64), low = (uint64_t)x;
    return high ? 128 - __builtin_clzll(high) : low ? 64 - __builtin_clzll(low) : 0;
}

static bool round_up(enum rounding mode, bool negative, bool odd, bool half, bool rest)
{
    switch (mode) {
    case ROUND_NEAREST:
        return half && (rest || odd);
    case ROUND_AWAY:
        return half;
    case ROUND_ZERO:
        return false;
    case ROUND_DOWN:
        return negative && (half || rest);
    case ROUND_UP:
        return !negative && (half || rest);
    }
    return false;
}

/* Encodes (-1)^negative * m * 2^e, plus something below the last bit when `sticky`, in a format of
 * `fraction` and `exponent` bits. */
static uint64_t encode(bool negative, u128 m, int e, bool sticky, unsigned fraction,
                       unsigned exponent, enum rounding mode)
{
    int bias = (1 << (exponent - 1)) - 1,
        least = 1 - bias - (int)fraction; /* exponent of the last bit of a subnormal */
    uint64_t sign = negative ? 1ull << (fraction + exponent) : 0,
             limit = (((1ull << exponent) - 1) << fraction);
    int drop = bit_length(m) - (int)fraction - 1;
    if (e + drop < least)
        drop = least - e;
    uint64_t kept;
    bool half = false, rest = sticky;
    if (drop <= 0) {
        kept = (uint64_t)(m << -drop);
    } else if (drop > 127) {
        kept = 0;
        rest = true;
    } else {
        kept = (uint64_t)(m >> drop);
        half = (m >> (drop - 1) & 1) != 0;
        rest = rest || (m & (((u128)1 << (drop - 1)) - 1)) != 0;
    }
    e += drop;
    if (round_up(mode, negative, (kept & 1) != 0, half, rest))
        kept++;
    if (kept >> (fraction + 1)) {
        kept >>= 1;
        e++;
    }
    if (kept >> fraction == 0)
        return sign | kept; /* zero or subnormal */
    int64_t biased = (int64_t)e + (int64_t)fraction + bias;
    if (biased >= (1 << exponent) - 1) {
        bool finite = mode == ROUND_ZERO || (mode == ROUND_DOWN && !negative) ||
                      (mode == ROUND_UP && negative);
        return sign | (finite ? limit - 1 : limit);
    }
    return sign | (uint64_t)biased << fraction | (kept & ((1ull << fraction) - 1));
}

static bool is_finite(double x) { return (f64_bits(x) >> 52 & 0x7ff) != 0x7ff; }

double ieee_fma64(double a, double b, double c, enum rounding mode)
{
    if (!is_finite(a) || !is_finite(b) || !is_finite(c)) {
        if (is_finite(a) && is_finite(b))
            return f64_canon(c); /* a product that overflows must not meet an infinite c */
        return f64_canon(a * b + c);
    }
    struct parts x = split(a), y = split(b), z = split(c);
    bool negative = x.negative != y.negative;
    u128 p = (u128)x.significand * y.significand, q = z.significand;
    int pe = x.exponent + y.exponent, qe = z.exponent;
    if (p == 0 && q == 0) {
        if (negative == z.negative)
            return negative ? -0.0 : 0.0;
        return mode == ROUND_DOWN ? -0.0 : 0.0;
    }
    if (q == 0)
        return f64_make(encode(negative, p, pe, false, 52, 11, mode));
    if (p == 0)
        return c;
    /* Lift both to the top (bit 125 or below), then shift the smaller one down, keeping a sticky
     * bit. */
    int up = 125 - bit_length(p);
    p <<= up;
    pe -= up;
    up = 125 - bit_length(q);
    q <<= up;
    qe -= up;
    bool swapped = qe > pe || (qe == pe && q > p);
    bool big_negative = swapped ? z.negative : negative,
         small_negative = swapped ? negative : z.negative;
    u128 big = swapped ? q : p, small = swapped ? p : q;
    int e = swapped ? qe : pe, shift = e - (swapped ? pe : qe);
    bool sticky = false;
    if (shift > 0) {
        sticky = shift > 127 || (small & (((u128)1 << shift) - 1)) != 0;
        small = shift > 127 ? 0 : small >> shift;
    }
    if (big_negative == small_negative) {
        big += small;
    } else {
        big -=
            small +
            (sticky ? 1
                    : 0); /* the truncated tail is borrowed, what remains below is non-zero again */
    }
    if (big == 0 && !sticky)
        return mode == ROUND_DOWN ? -0.0 : 0.0;
    return f64_make(encode(big_negative, big, e, sticky, 52, 11, mode));
}

double ieee_add64(double a, double b, enum rounding mode)
{
    return mode == ROUND_NEAREST ? f64_canon(a + b) : ieee_fma64(a, 1.0, b, mode);
}

double ieee_mul64(double a, double b, enum rounding mode)
{
    if (mode == ROUND_NEAREST)
        return f64_canon(a * b);
    double zero = (f64_bits(a) ^ f64_bits(b)) >> 63
                      ? -0.0
                      : 0.0; /* adding a zero of the product's sign changes nothing */
    return ieee_fma64(a, b, zero, mode);
}

/* A quotient of finite non-zero numbers: 73 bits or more of the quotient, the rest in `sticky`. */
double ieee_div64(double a, double b, enum rounding mode)
{
    double q = a / b;
    if (mode == ROUND_NEAREST || !is_finite(a) || !is_finite(b) || a == 0.0 || b == 0.0)
        return f64_canon(q);
    struct parts x = split(a), y = split(b);
    u128 numerator = x.significand;
    int up = 126 - bit_length(numerator);
    numerator <<= up;
    u128 quotient = numerator / y.significand;
    bool rest = quotient * y.significand != numerator;
    return f64_make(encode(x.negative != y.negative, quotient, x.exponent - up - y.exponent, rest,
                           52, 11, mode));
}

/* The largest root with root * root <= x, bit by bit. */
static uint64_t integer_root(u128 x)
{
    uint64_t root = 0;
    for (int bit = 62; bit >= 0; bit--) {
        uint64_t more = root | 1ull << bit;
        if ((u128)more * more <= x)
            root = more;
    }
    return root;
}

double ieee_sqrt64(double a, enum rounding mode)
{
    double q = __builtin_sqrt(a);
    if (mode == ROUND_NEAREST || !is_finite(q) || q == 0.0)
        return f64_canon(q);
    struct parts x = split(a);
    u128 square = x.significand;
    int up = 125 - bit_length(square);
    if (((x.exponent - up) & 1) != 0)
        up--;
    square <<= up;
    uint64_t root = integer_root(square);
    return f64_make(
        encode(false, root, (x.exponent - up) / 2, (u128)root * root != square, 52, 11, mode));
}

float ieee_div32(float a, float b, enum rounding mode)
{
    if (mode == ROUND_NEAREST)
        return f32_canon(a / b);
    double q = (double)a / (double)b;
    if (!is_finite(q) || !is_finite((double)b))
        return f32_canon(a / b);
    double rest = ieee_fma64(-q, (double)b, (double)a, ROUND_NEAREST);
    return f32_narrow(q, b < 0 ? -rest : rest, mode);
}

float ieee_sqrt32(float a, enum rounding mode)
{
    double q = __builtin_sqrt((double)a);
    if (mode == ROUND_NEAREST || !is_finite(q) || q == 0.0)
        return f32_canon((float)q);
    return f32_narrow(q, ieee_fma64(-q, q, (double)a, ROUND_NEAREST), mode);
}

uint32_t ieee_narrow(double x, unsigned fraction, unsigned exponent, enum rounding mode)
{
    uint32_t sign = (uint32_t)(f64_bits(x) >> 63) << (fraction + exponent);
    uint32_t infinity = ((1u << exponent) - 1) << fraction;
    if (x != x)
        return (1u << (fraction + exponent)) - 1;
    if (!is_finite(x))
        return sign | infinity;
    struct parts p = split(x);
    if (p.significand == 0)
        return sign;
    return (uint32_t)encode(p.negative, p.significand, p.exponent, false, fraction, exponent, mode);
}

uint64_t ieee_encode_int(bool negative, uint64_t magnitude, unsigned fraction, unsigned exponent,
                         enum rounding mode)
{
    return magnitude == 0 ? 0 : encode(negative, magnitude, 0, false, fraction, exponent, mode);
}

/* Largest finite values: e4m3 448 (0x7e; 0x7f is NaN), e5m2 57344 (0x7b). satfinite clamps to them.
 */
uint32_t ieee_to_e4m3(double x)
{
    if (x != x)
        return 0x7f;
    uint32_t sign = (uint32_t)(f64_bits(x) >> 63) << 7;
    double size = x < 0 ? -x : x;
    if (size >= 448.0)
        return sign | 0x7e;
    if (size >=
        256.0) { /* the exponent that IEEE would keep for infinities: 256 to 448 in steps of 32 */
        double steps = (size - 256.0) / 32.0;
        uint32_t n = (uint32_t)steps;
        double rest = steps - (double)n;
        if (rest > 0.5 || (rest == 0.5 && (n & 1) != 0))
            n++;
        return sign | (0x78 + n);
    }
    return sign | (ieee_narrow(size, 3, 4, ROUND_NEAREST) & 0x7f);
}

uint32_t ieee_to_e5m2(double x)
{
    if (x != x)
        return 0x7f;
    uint32_t sign = (uint32_t)(f64_bits(x) >> 63) << 7;
    double size = x < 0 ? -x : x;
    return size >= 57344.0 ? sign | 0x7b : sign | (ieee_narrow(size, 2, 5, ROUND_NEAREST) & 0x7f);
}

float ieee_from_e4m3(uint32_t x)
{
    uint32_t exponent = x >> 3 & 15, fraction = x & 7;
    if ((x & 0x7f) == 0x7f)
        return f32_make(F32_NAN_BITS);
    float size =
        exponent ? f32_make((exponent + 120) << 23 | fraction << 20) : (float)fraction * 0x1p-9f;
    return x & 0x80 ? -size : size;
}

float ieee_from_e5m2(uint32_t x) { return f32_canon(f16_to_f32((x & 0xff) << 8)); }

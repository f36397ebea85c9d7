/*
 * fuzz_scalar.c - random straight-line programs: the virtual GPU against a second, naive one.
 * The bytes choose the instructions and operands; 32 lanes start from values made of the first
 * bytes, guards switch lanes off. The second implementation works one value at a time, with the
 * host's rounding modes, libm and loops over bits: it shares nothing with vgpu/ but the meaning.
 * Not covered: memory, control flow, approximations. Invariant: every register of every lane is
 * compared in every bit.
 */
#include "exec.h"
#include "image.h"
#include "lower.h"
#include "mem.h"

#include <fenv.h>
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* ---- the second implementation ---- */
enum { REGS = 8, LANES = 32, PROGRAM_MAX = 64, TEXT_MAX = 65536 };
/* Registers of one lane: 32-bit words, 64-bit words, f32, f64, predicates. */
enum kind { NONE, WORD, LONG, SINGLE, DOUBLE, PRED, KINDS };
static const char letters[KINDS] = {'?', 'w', 'q', 'f', 'e', 'p'};

struct lane {
    uint64_t r[KINDS][REGS];
};

static float as_f32(uint64_t x)
{
    uint32_t u = (uint32_t)x;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}
static double as_f64(uint64_t x)
{
    double f;
    memcpy(&f, &x, sizeof f);
    return f;
}
static uint64_t bits32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return isnan(f) ? 0x7fffffff : u;
}
static uint64_t raw64(double f)
{
    uint64_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}
/* The first NaN of three operands, quieted, or the negative one that an invalid operation gives. */
static uint64_t bits64(double f, uint64_t first, uint64_t second, uint64_t third)
{
    const uint64_t operands[] = {first, second, third};
    if (!isnan(f))
        return raw64(f);
    for (int i = 0; i < 3; i++)
        if (isnan(as_f64(operands[i])))
            return operands[i] | 1ull << 51;
    return 0xfff8ull << 48;
}

/* Results in a rounding mode, by asking the host for it; volatile keeps the operation in place. */
enum arithmetic { ADD, MUL, DIV, ROOT, FUSED };
static float op32(enum arithmetic op, int mode, float x, float y, float z)
{
    volatile float a = x, b = y, c = z, r = 0;
    fesetround(mode);
    switch (op) {
    case ADD:
        r = a + b;
        break;
    case MUL:
        r = a * b;
        break;
    case DIV:
        r = a / b;
        break;
    case ROOT:
        r = sqrtf(a);
        break;
    case FUSED:
        r = fmaf(a, b, c);
        break;
    }
    fesetround(FE_TONEAREST);
    return r;
}
static double op64(enum arithmetic op, int mode, double x, double y, double z)
{
    volatile double a = x, b = y, c = z, r = 0;
    fesetround(mode);
    switch (op) {
    case ADD:
        r = a + b;
        break;
    case MUL:
        r = a * b;
        break;
    case DIV:
        r = a / b;
        break;
    case ROOT:
        r = sqrt(a);
        break;
    case FUSED:
        r = fma(a, b, c);
        break;
    }
    fesetround(FE_TONEAREST);
    return r;
}
static float narrow(double x, int mode)
{
    volatile double a = x;
    volatile float r;
    fesetround(mode);
    r = (float)a;
    fesetround(FE_TONEAREST);
    return r;
}
/* f64 to f32 keeps sign and payload of a NaN. */
static uint64_t cvt_f32_f64(uint64_t a, int mode)
{
    if (isnan(as_f64(a)))
        return (a >> 32 & 0x80000000) | 0x7fc00000 | (a >> 29 & 0x3fffff);
    return bits32(narrow(as_f64(a), mode));
}
static uint64_t cvt_f64_f32(uint64_t a)
{
    if (isnan(as_f32(a)))
        return (a & 0x80000000) << 32 | 0x7ff8ull << 48 | (a & 0x3fffff) << 29;
    return raw64((double)as_f32(a));
}
static double integral(double x, int mode)
{
    volatile double a = x, r;
    fesetround(mode);
    r = nearbyint(a);
    fesetround(FE_TONEAREST);
    return r;
}
/* n bits, signed or not, saturating. */
static uint64_t to_int(double x, int mode, int n, bool is_signed, uint64_t nan)
{
    const uint64_t top = ~0ull >> (64 - n + (is_signed ? 1 : 0));
    if (isnan(x))
        return nan;
    x = integral(x, mode);
    if (x >= ldexp(1, is_signed ? n - 1 : n))
        return top;
    if (!is_signed)
        return x <= 0 ? 0 : (uint64_t)x;
    return x <= -ldexp(1, n - 1) ? ~top : (uint64_t)(int64_t)x;
}
static uint64_t clamp32(int64_t x)
{
    return (uint64_t)(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
static float flush(float x) { return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x; }
static float saturate(float x) { return isnan(x) || x <= 0 ? 0 : x > 1 ? 1 : x; }
static float least(float x, float y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    return x < y || (x == y && signbit(x)) ? x : y;
}
static float most(float x, float y)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    return x > y || (x == y && !signbit(x)) ? x : y;
}
static uint64_t least64(uint64_t a, uint64_t b)
{
    const double x = as_f64(a), y = as_f64(b);
    if (isnan(x) || isnan(y))
        return isnan(y) ? (isnan(x) ? b | 1ull << 51 : a) : b;
    return x < y || (x == y && signbit(x)) ? a : b;
}
static uint64_t most64(uint64_t a, uint64_t b)
{
    const double x = as_f64(a), y = as_f64(b);
    if (isnan(x) || isnan(y))
        return isnan(y) ? (isnan(x) ? b | 1ull << 51 : a) : b;
    return x > y || (x == y && !signbit(x)) ? a : b;
}
/* f16, nearest even: the nearest multiple of the last place. */
static uint64_t half(double f)
{
    const double x = fabs(f);
    uint64_t sign = signbit(f) ? 0x8000 : 0;
    int e = 0;
    if (isnan(f))
        return 0x7fff;
    (void)frexp(x, &e); /* x = m 2^e, m in [1/2, 1) */
    e = e < -13 ? -13 : e;
    const double steps = nearbyint(ldexp(x, 11 - e));
    if (isinf(f) || ldexp(steps, e - 11) >= 65536)
        return sign | 0x7c00;
    return sign | (uint64_t)(steps + (steps >= 1024 ? (e + 13) * 1024.0 : 0));
}
static double half_value(uint64_t h)
{
    const int e = (int)(h >> 10 & 31), m = (int)(h & 1023);
    const double x =
        e == 31 ? (double)(m ? NAN : INFINITY) : ldexp(m + (e ? 1024 : 0), (e ? e : 1) - 25);
    return h & 0x8000 ? -x : x;
}

static uint64_t count_bits(uint64_t x)
{
    uint64_t n = 0;
    for (; x; x >>= 1)
        n += x & 1;
    return n;
}
static int top_bit(uint64_t x)
{
    int n = -1;
    for (; x; x >>= 1)
        n++;
    return n;
}
static uint64_t reversed(uint64_t x, int width)
{
    uint64_t r = 0;
    for (int i = 0; i < width; i++)
        r |= (x >> i & 1) << (width - 1 - i);
    return r;
}
static uint64_t field(uint64_t a, uint64_t pos, uint64_t len, int width, bool is_signed)
{
    uint64_t r = 0;
    for (uint64_t i = 0; i < (uint64_t)width; i++) {
        uint64_t at = i < len ? pos + i : pos + len - 1; /* beyond the field: its last bit */
        bool beyond = at >= (uint64_t)width;
        uint64_t bit = beyond ? (is_signed ? a >> (width - 1) & 1 : 0) : a >> at & 1;
        if (len == 0 || (i >= len && !is_signed))
            bit = 0;
        r |= bit << i;
    }
    return r;
}
static uint64_t insert(uint64_t a, uint64_t b, uint64_t pos, uint64_t len, int width)
{
    for (uint64_t i = 0; i < len && pos + i < (uint64_t)width; i++)
        b = (b & ~(1ull << (pos + i))) | (a >> i & 1) << (pos + i);
    return b;
}
static uint64_t table(uint64_t a, uint64_t b, uint64_t c, unsigned t)
{
    uint64_t r = 0;
    for (int i = 0; i < 32; i++) {
        unsigned at = (unsigned)((a >> i & 1) << 2 | (b >> i & 1) << 1 | (c >> i & 1));
        r |= (uint64_t)(t >> at & 1) << i;
    }
    return r;
}
static uint64_t bytes(uint64_t a, uint64_t b, uint64_t c)
{
    const uint64_t all = b << 32 | (a & 0xffffffff);
    uint64_t r = 0;
    for (int i = 0; i < 4; i++) {
        unsigned pick = (unsigned)(c >> 4 * i & 15);
        uint64_t byte = all >> 8 * (pick & 7) & 255;
        r |= (pick & 8 ? (byte >> 7) * 255 : byte) << 8 * i;
    }
    return r;
}
__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 swide;
static uint64_t quotient(uint64_t a, uint64_t b, int width, bool is_signed, bool rest)
{
    const int unused = 64 - width;
    if ((b << unused) == 0)
        return ~0ull;
    if (is_signed) {
        swide x = (int64_t)(a << unused) >> unused, y = (int64_t)(b << unused) >> unused;
        return (uint64_t)(rest ? x % y : x / y);
    }
    a = a << unused >> unused, b = b << unused >> unused;
    return rest ? a % b : a / b;
}

/* X(destination, a, b, c, text, value): $d $a $b $c are registers, $p the predicate. In value, a b
 * c are the bits of the operands, p the predicate of the lane; results are cut to their register.
 */
#define W(x) ((uint32_t)(x))
#define S(x) ((int32_t)(x))
#define F(x) as_f32(x)
#define D(x) as_f64(x)
#define IN_MODES(X, mode, host)                                                                    \
    X(SINGLE, SINGLE, SINGLE, NONE, "add." mode ".f32 $d, $a, $b;",                                \
      bits32(op32(ADD, host, F(a), F(b), 0)))                                                      \
    X(SINGLE, SINGLE, SINGLE, NONE, "sub." mode ".f32 $d, $a, $b;",                                \
      bits32(op32(ADD, host, F(a), -F(b), 0)))                                                     \
    X(SINGLE, SINGLE, SINGLE, NONE, "mul." mode ".f32 $d, $a, $b;",                                \
      bits32(op32(MUL, host, F(a), F(b), 0)))                                                      \
    X(SINGLE, SINGLE, SINGLE, NONE, "div." mode ".f32 $d, $a, $b;",                                \
      bits32(op32(DIV, host, F(a), F(b), 0)))                                                      \
    X(SINGLE, SINGLE, NONE, NONE, "rcp." mode ".f32 $d, $a;", bits32(op32(DIV, host, 1, F(a), 0))) \
    X(SINGLE, SINGLE, NONE, NONE, "sqrt." mode ".f32 $d, $a;",                                     \
      bits32(op32(ROOT, host, F(a), 0, 0)))                                                        \
    X(SINGLE, SINGLE, SINGLE, SINGLE, "fma." mode ".f32 $d, $a, $b, $c;",                          \
      bits32(op32(FUSED, host, F(a), F(b), F(c))))                                                 \
    X(DOUBLE, DOUBLE, DOUBLE, NONE, "add." mode ".f64 $d, $a, $b;",                                \
      bits64(op64(ADD, host, D(a), D(b), 0), b, a, a))                                             \
    X(DOUBLE, DOUBLE, DOUBLE, NONE, "sub." mode ".f64 $d, $a, $b;",                                \
      bits64(op64(ADD, host, D(a), -D(b), 0), b, a, a))                                            \
    X(DOUBLE, DOUBLE, DOUBLE, NONE, "mul." mode ".f64 $d, $a, $b;",                                \
      bits64(op64(MUL, host, D(a), D(b), 0), b, a, a))                                             \
    X(DOUBLE, DOUBLE, DOUBLE, NONE, "div." mode ".f64 $d, $a, $b;",                                \
      bits64(op64(DIV, host, D(a), D(b), 0), a, b, b))                                             \
    X(DOUBLE, DOUBLE, NONE, NONE, "rcp." mode ".f64 $d, $a;",                                      \
      bits64(op64(DIV, host, 1, D(a), 0), a, a, a))                                                \
    X(DOUBLE, DOUBLE, NONE, NONE, "sqrt." mode ".f64 $d, $a;",                                     \
      bits64(op64(ROOT, host, D(a), 0, 0), a, a, a))                                               \
    X(DOUBLE, DOUBLE, DOUBLE, DOUBLE, "fma." mode ".f64 $d, $a, $b, $c;",                          \
      bits64(op64(FUSED, host, D(a), D(b), D(c)), b, c, a))                                        \
    X(SINGLE, DOUBLE, NONE, NONE, "cvt." mode ".f32.f64 $d, $a;", cvt_f32_f64(a, host))
#define TO_INT(X, mode, host)                                                                      \
    X(WORD, SINGLE, NONE, NONE, "cvt." mode ".s32.f32 $d, $a;",                                    \
      to_int((double)F(a), host, 32, true, 0))                                                     \
    X(WORD, SINGLE, NONE, NONE, "cvt." mode ".u32.f32 $d, $a;",                                    \
      to_int((double)F(a), host, 32, false, 0))                                                    \
    X(LONG, SINGLE, NONE, NONE, "cvt." mode ".s64.f32 $d, $a;",                                    \
      to_int((double)F(a), host, 64, true, 1ull << 63))                                            \
    X(WORD, DOUBLE, NONE, NONE, "cvt." mode ".s32.f64 $d, $a;",                                    \
      to_int(D(a), host, 32, true, 1ull << 31))                                                    \
    X(LONG, DOUBLE, NONE, NONE, "cvt." mode ".u64.f64 $d, $a;",                                    \
      to_int(D(a), host, 64, false, 1ull << 63))                                                   \
    X(SINGLE, SINGLE, NONE, NONE, "cvt." mode ".f32.f32 $d, $a;",                                  \
      bits32((float)integral((double)F(a), host)))                                                 \
    X(DOUBLE, DOUBLE, NONE, NONE, "cvt." mode ".f64.f64 $d, $a;",                                  \
      bits64(integral(D(a), host), a, a, a))
#define BOTH_WIDTHS(X, K, n, T)                                                                    \
    X(K, K, K, NONE, "add.u" #n " $d, $a, $b;", a + b)                                             \
    X(K, K, K, NONE, "sub.s" #n " $d, $a, $b;", a - b)                                             \
    X(K, K, K, NONE, "mul.lo.u" #n " $d, $a, $b;", a *b)                                           \
    X(K, K, K, NONE, "mul.hi.u" #n " $d, $a, $b;", (uint64_t)((wide)a * b >> n))                   \
    X(K, K, K, NONE, "mul.hi.s" #n " $d, $a, $b;",                                                 \
      (uint64_t)((wide)((swide)(T)a * (swide)(T)b) >> n))                                          \
    X(K, K, K, K, "mad.lo.s" #n " $d, $a, $b, $c;", a *b + c)                                      \
    X(K, K, K, NONE, "div.u" #n " $d, $a, $b;", quotient(a, b, n, false, false))                   \
    X(K, K, K, NONE, "div.s" #n " $d, $a, $b;", quotient(a, b, n, true, false))                    \
    X(K, K, K, NONE, "rem.u" #n " $d, $a, $b;", quotient(a, b, n, false, true))                    \
    X(K, K, K, NONE, "rem.s" #n " $d, $a, $b;", quotient(a, b, n, true, true))                     \
    X(K, K, K, NONE, "min.u" #n " $d, $a, $b;", a < b ? a : b)                                     \
    X(K, K, K, NONE, "max.s" #n " $d, $a, $b;", (T)a > (T)b ? a : b)                               \
    X(K, K, K, K, "sad.s" #n " $d, $a, $b, $c;", c + ((T)a > (T)b ? a - b : b - a))                \
    X(K, K, NONE, NONE, "abs.s" #n " $d, $a;", (T)a < 0 ? 0 - a : a)                               \
    X(K, K, NONE, NONE, "neg.s" #n " $d, $a;", 0 - a)                                              \
    X(K, K, K, NONE, "and.b" #n " $d, $a, $b;", a &b)                                              \
    X(K, K, K, NONE, "or.b" #n " $d, $a, $b;", a | b)                                              \
    X(K, K, K, NONE, "xor.b" #n " $d, $a, $b;", a ^ b)                                             \
    X(K, K, NONE, NONE, "not.b" #n " $d, $a;", ~a)                                                 \
    X(K, K, NONE, NONE, "cnot.b" #n " $d, $a;", a == 0)                                            \
    X(K, K, WORD, NONE, "shl.b" #n " $d, $a, $b;", b < n ? a << b : 0)                             \
    X(K, K, WORD, NONE, "shr.u" #n " $d, $a, $b;", b < n ? a >> b : 0)                             \
    X(K, K, WORD, NONE, "shr.s" #n " $d, $a, $b;", (uint64_t)((T)a >> (b < n ? b : n - 1)))        \
    X(WORD, K, NONE, NONE, "popc.b" #n " $d, $a;", count_bits(a))                                  \
    X(WORD, K, NONE, NONE, "clz.b" #n " $d, $a;", (uint64_t)(n - 1 - top_bit(a)))                  \
    X(WORD, K, NONE, NONE, "bfind.u" #n " $d, $a;", (uint64_t)top_bit(a))                          \
    X(K, K, NONE, NONE, "brev.b" #n " $d, $a;", reversed(a, n))                                    \
    X(K, K, WORD, WORD, "bfe.u" #n " $d, $a, $b, $c;",                                             \
      field(a, n == 32 ? b & 255 : b, n == 32 ? c & 255 : c, n, false))                            \
    X(K, K, WORD, WORD, "bfe.s" #n " $d, $a, $b, $c;",                                             \
      field(a, n == 32 ? b & 255 : b, n == 32 ? c & 255 : c, n, true))                             \
    X(K, K, K, WORD, "bfi.b" #n " $d, $a, $b, $c, 9;", insert(a, b, n == 32 ? c & 255 : c, 9, n))  \
    X(K, K, K, NONE, "selp.b" #n " $d, $a, $b, $p;", p ? a : b)                                    \
    X(K, K, K, WORD, "slct.u" #n ".s32 $d, $a, $b, $c;", S(c) >= 0 ? a : b)                        \
    X(PRED, K, K, NONE, "setp.lt.s" #n " $d, $a, $b;", (T)a < (T)b)                                \
    X(PRED, K, K, NONE, "setp.hs.u" #n " $d, $a, $b;", a >= b)                                     \
    X(PRED, K, K, NONE, "setp.ne.xor.s" #n " $d, $a, $b, $p;", (a != b) != p)                      \
    X(WORD, K, K, NONE, "set.le.u32.s" #n " $d, $a, $b;", (T)a <= (T)b ? ~0ull : 0)
#define COMPARE_FLOATS(X, K, t, V)                                                                 \
    X(PRED, K, K, NONE, "setp.lt." t " $d, $a, $b;", V(a) < V(b))                                  \
    X(PRED, K, K, NONE, "setp.neu." t " $d, $a, $b;", !(V(a) == V(b)))                             \
    X(PRED, K, K, NONE, "setp.ne." t " $d, $a, $b;", islessgreater(V(a), V(b)))                    \
    X(PRED, K, K, NONE, "setp.geu." t " $d, $a, $b;", !(V(a) < V(b)))                              \
    X(PRED, K, K, NONE, "setp.num.or." t " $d, $a, $b, $p;", p || !isunordered(V(a), V(b)))        \
    X(PRED, K, NONE, NONE, "testp.normal." t " $d, $a;",                                           \
      isnormal(V(a)) || fpclassify(V(a)) == FP_ZERO)                                               \
    X(K, K, K, NONE, "selp." t " $d, $a, $b, $p;", p ? a : b)
#define INSTRUCTIONS(X)                                                                            \
    BOTH_WIDTHS(X, WORD, 32, int32_t)                                                              \
    BOTH_WIDTHS(X, LONG, 64, int64_t)                                                              \
    X(WORD, WORD, WORD, WORD, "lop3.b32 $d, $a, $b, $c, 0xd8;", table(a, b, c, 0xd8))              \
    X(WORD, WORD, WORD, WORD, "lop3.b32 $d, $a, $b, $c, 0x96;", table(a, b, c, 0x96))              \
    X(WORD, WORD, WORD, WORD, "prmt.b32 $d, $a, $b, $c;", bytes(a, b, c))                          \
    X(WORD, WORD, WORD, WORD, "shf.l.wrap.b32 $d, $a, $b, $c;", (b << 32 | a) << (c & 31) >> 32)   \
    X(WORD, WORD, WORD, WORD, "shf.r.clamp.b32 $d, $a, $b, $c;",                                   \
      (b << 32 | a) >> (c > 32 ? 32 : c))                                                          \
    X(LONG, WORD, WORD, NONE, "mul.wide.u32 $d, $a, $b;", a *b)                                    \
    X(LONG, WORD, WORD, LONG, "mad.wide.s32 $d, $a, $b, $c;",                                      \
      (uint64_t)((int64_t)S(a) * S(b)) + c)                                                        \
    X(WORD, WORD, WORD, NONE, "mul24.hi.s32 $d, $a, $b;",                                          \
      (uint64_t)((int64_t)(S(a << 8) >> 8) * (S(b << 8) >> 8)) >> 16)                              \
    X(WORD, WORD, WORD, NONE, "add.sat.s32 $d, $a, $b;", clamp32((int64_t)S(a) + S(b)))            \
    X(WORD, WORD, WORD, WORD, "dp4a.u32.s32 $d, $a, $b, $c;",                                      \
      c + (uint64_t)((int64_t)(a & 255) * (int8_t)b + (int64_t)(a >> 8 & 255) * (int8_t)(b >> 8) + \
                     (int64_t)(a >> 16 & 255) * (int8_t)(b >> 16) +                                \
                     (int64_t)(a >> 24) * (int8_t)(b >> 24)))                                      \
    X(LONG, WORD, NONE, NONE, "cvt.s64.s32 $d, $a;", (uint64_t)(int64_t)S(a))                      \
    X(LONG, WORD, NONE, NONE, "cvt.u64.u32 $d, $a;", a)                                            \
    X(WORD, LONG, NONE, NONE, "cvt.u32.u64 $d, $a;", a)                                            \
    X(WORD, LONG, NONE, NONE, "cvt.sat.s32.s64 $d, $a;", clamp32((int64_t)a))                      \
    X(WORD, WORD, NONE, NONE, "cvt.s32.s8 $d, $a;", (uint64_t)(int64_t)(int8_t)a)                  \
    X(WORD, WORD, NONE, NONE, "cvt.u32.u16 $d, $a;", a & 0xffff)                                   \
    X(LONG, WORD, WORD, NONE, "mov.b64 $d, {$a, $b};", b << 32 | a)                                \
    X(WORD, SINGLE, NONE, NONE, "mov.b32 $d, $a;", a)                                              \
    X(SINGLE, WORD, NONE, NONE, "mov.b32 $d, $a;", a)                                              \
    X(DOUBLE, LONG, NONE, NONE, "mov.b64 $d, $a;", a)                                              \
    X(LONG, DOUBLE, NONE, NONE, "mov.b64 $d, $a;", a)                                              \
    IN_MODES(X, "rn", FE_TONEAREST)                                                                \
    IN_MODES(X, "rz", FE_TOWARDZERO)                                                               \
    IN_MODES(X, "rm", FE_DOWNWARD)                                                                 \
    IN_MODES(X, "rp", FE_UPWARD)                                                                   \
    TO_INT(X, "rni", FE_TONEAREST)                                                                 \
    TO_INT(X, "rzi", FE_TOWARDZERO)                                                                \
    TO_INT(X, "rmi", FE_DOWNWARD)                                                                  \
    TO_INT(X, "rpi", FE_UPWARD)                                                                    \
    COMPARE_FLOATS(X, SINGLE, "f32", F)                                                            \
    COMPARE_FLOATS(X, DOUBLE, "f64", D)                                                            \
    X(SINGLE, SINGLE, SINGLE, NONE, "add.rn.ftz.f32 $d, $a, $b;",                                  \
      bits32(flush(op32(ADD, FE_TONEAREST, flush(F(a)), flush(F(b)), 0))))                         \
    X(SINGLE, SINGLE, SINGLE, SINGLE, "fma.rn.ftz.sat.f32 $d, $a, $b, $c;",                        \
      bits32(saturate(flush(op32(FUSED, FE_TONEAREST, flush(F(a)), flush(F(b)), flush(F(c)))))))   \
    X(SINGLE, SINGLE, SINGLE, NONE, "mul.rn.sat.f32 $d, $a, $b;",                                  \
      bits32(saturate(op32(MUL, FE_TONEAREST, F(a), F(b), 0))))                                    \
    X(SINGLE, SINGLE, SINGLE, NONE, "min.f32 $d, $a, $b;", bits32(least(F(a), F(b))))              \
    X(SINGLE, SINGLE, SINGLE, NONE, "max.f32 $d, $a, $b;", bits32(most(F(a), F(b))))               \
    X(SINGLE, SINGLE, SINGLE, NONE, "min.NaN.f32 $d, $a, $b;",                                     \
      bits32(isunordered(F(a), F(b)) ? NAN : least(F(a), F(b))))                                   \
    X(DOUBLE, DOUBLE, DOUBLE, NONE, "min.f64 $d, $a, $b;", least64(a, b))                          \
    X(DOUBLE, DOUBLE, DOUBLE, NONE, "max.f64 $d, $a, $b;", most64(a, b))                           \
    X(SINGLE, SINGLE, NONE, NONE, "abs.f32 $d, $a;", bits32(fabsf(F(a))))                          \
    X(SINGLE, SINGLE, NONE, NONE, "neg.f32 $d, $a;", bits32(-F(a)))                                \
    X(SINGLE, SINGLE, SINGLE, NONE, "copysign.f32 $d, $a, $b;",                                    \
      (a & 0x80000000) | (b & 0x7fffffff))                                                         \
    X(DOUBLE, SINGLE, NONE, NONE, "cvt.f64.f32 $d, $a;", cvt_f64_f32(a))                           \
    X(SINGLE, WORD, NONE, NONE, "cvt.rn.f32.s32 $d, $a;", bits32(narrow(S(a), FE_TONEAREST)))      \
    X(SINGLE, WORD, NONE, NONE, "cvt.rp.f32.u32 $d, $a;", bits32(narrow(W(a), FE_UPWARD)))         \
    X(DOUBLE, WORD, NONE, NONE, "cvt.rn.f64.s32 $d, $a;", raw64(S(a)))                             \
    X(DOUBLE, LONG, NONE, NONE, "cvt.rn.f64.s64 $d, $a;", raw64((double)(int64_t)a))               \
    X(SINGLE, SINGLE, SINGLE, NONE,                                                                \
      "cvt.rn.f16.f32 %h0, $a; cvt.rn.f16.f32 %h1, $b; add.rn.f16 %h0, %h0, %h1; "                 \
      "cvt.f32.f16 $d, %h0;",                                                                      \
      bits32((float)half_value(                                                                    \
          half(half_value(half((double)F(a))) + half_value(half((double)F(b)))))))                 \
    X(SINGLE, SINGLE, SINGLE, NONE,                                                                \
      "cvt.rn.f16.f32 %h0, $a; cvt.rn.f16.f32 %h1, $b; mul.rn.f16 %h0, %h0, %h1; "                 \
      "cvt.f32.f16 $d, %h0;",                                                                      \
      bits32((float)half_value(                                                                    \
          half(half_value(half((double)F(a))) * half_value(half((double)F(b)))))))

static const struct instruction {
    enum kind d, operands[3];
    const char *text;
} instructions[] = {
#define ROW(D, A, B, C, TEXT, VALUE) {D, {A, B, C}, TEXT},
    INSTRUCTIONS(ROW)
#undef ROW
};
enum { COUNT = sizeof instructions / sizeof instructions[0] };

static uint64_t evaluate(unsigned index, uint64_t a, uint64_t b, uint64_t c, bool p)
{
    (void)p;
#define ROW(D, A, B, C, TEXT, VALUE)                                                               \
    if (index-- == 0)                                                                              \
        return (uint64_t)(VALUE);
    INSTRUCTIONS(ROW)
#undef ROW
    abort();
}

/* ---- programs ---- */
struct step {
    unsigned index;        /* of its instruction */
    uint8_t d, s[3], p;    /* registers */
    bool guarded, negated; /* by predicate p */
};

static uint64_t mix(uint64_t *state)
{
    uint64_t x = *state += 0x9e3779b97f4a7c15;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* Numbers at which rounding, carries, shifts and NaN rules change, or any. */
static uint64_t start_value(enum kind k, uint64_t *state)
{
    static const uint64_t words[] = {0, 1, 31, 32, 0x7fffffff, 0x80000000, 0xffffffff, 0x1f};
    static const uint64_t longs[] = {0, 1, 63, 64, INT64_MAX, 1ull << 63, ~0ull, 0xffffffff};
    static const uint64_t singles[] = {0,          0x80000000, 0x00000001, 0x007fffff, 0x00800000,
                                       0x3f800000, 0x7f7fffff, 0x7f800000, 0xff800000, 0x7f800001,
                                       0xffc12345, 0x3f800001, 0x4f000000, 0xcf000000, 0x33800000};
    static const uint64_t doubles[] = {0,
                                       1ull << 63,
                                       1,
                                       0xfffffffffffff,
                                       1ull << 52,
                                       0x3ff0000000000000,
                                       0x3ff0000000000001,
                                       0x7fefffffffffffff,
                                       0x7ff0000000000000,
                                       0xfff0000000000000,
                                       0x7ff0000000000001,
                                       0xfff8000000abcdef,
                                       0x41e0000000000000,
                                       0x43e0000000000000,
                                       0x3ca0000000000000};
    const uint64_t how = mix(state), any = mix(state);
    const unsigned at = (unsigned)(how >> 8);

    switch (k) {
    case WORD:
        return how & 1 ? words[at % 8] : (uint32_t)any;
    case LONG:
        return how & 1 ? longs[at % 8] : any;
    case SINGLE: /* every second random one near 1, where sums do not just pick an operand */
        return how & 1   ? singles[at % 15]
               : how & 2 ? (any & 0x807fffff) | (0x78 + (at & 15)) << 23
                         : (uint32_t)any;
    case DOUBLE:
        return how & 1   ? doubles[at % 15]
               : how & 2 ? (any & 0x800fffffffffffff) | (0x3f8ull + (at & 15)) << 52
                         : any;
    case PRED:
        return any & 1;
    case NONE:
    case KINDS:
        break;
    }
    return 0;
}

static unsigned make_program(struct step *steps, const uint8_t *data, size_t size)
{
    unsigned n = 0;
    for (size_t at = 8; at + 5 <= size && n < PROGRAM_MAX; at += 5, n++) {
        const uint8_t *x = data + at;
        steps[n] = (struct step){.index = (unsigned)(x[0] | x[1] << 8) % COUNT,
                                 .d = x[2] & 7,
                                 .s = {x[2] >> 3 & 7, x[3] & 7, x[3] >> 3 & 7},
                                 .p = x[4] & 7,
                                 .guarded = (x[4] & 0x18) == 0,
                                 .negated = (x[4] & 0x20) != 0};
    }
    return n;
}

static uint64_t cut(enum kind k, uint64_t x)
{
    return k == WORD || k == SINGLE ? (uint32_t)x : k == PRED ? x & 1 : x;
}

static void run_lane(struct lane *l, const struct step *steps, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        const struct step *s = &steps[i];
        const struct instruction *in = &instructions[s->index];
        const bool p = l->r[PRED][s->p] != 0;
        uint64_t x[3];
        for (int k = 0; k < 3; k++)
            x[k] = l->r[in->operands[k]][s->s[k]];
        if (!s->guarded || p != s->negated)
            l->r[in->d][s->d] = cut(in->d, evaluate(s->index, x[0], x[1], x[2], p));
    }
}

/* ---- the same as PTX ---- */
struct text {
    char at[TEXT_MAX];
    size_t used;
};
static void put(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void put(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    int n = vsnprintf(t->at + t->used, TEXT_MAX - t->used, format, list);
    va_end(list);
    if (n < 0 || (size_t)n >= TEXT_MAX - t->used)
        abort();
    t->used += (size_t)n;
}

static void put_step(struct text *t, const struct step *s)
{
    const struct instruction *in = &instructions[s->index];
    bool begins = true; /* a statement: each one of the text carries the guard */
    for (const char *c = in->text; *c; c++) {
        if (begins && s->guarded)
            put(t, "@%s%%p%u ", s->negated ? "!" : "", s->p);
        begins = c[0] == ';' && c[1] == ' ';
        if (begins) {
            put(t, ";\n");
            c++;
        } else if (*c != '$') {
            put(t, "%c", *c);
        } else if (*++c == 'd') {
            put(t, "%%%c%u", letters[in->d], s->d);
        } else if (*c == 'p') {
            put(t, "%%p%u", s->p);
        } else {
            put(t, "%%%c%u", letters[in->operands[*c - 'a']], s->s[*c - 'a']);
        }
    }
    put(t, "\n");
}

static void put_program(struct text *t, const struct step *steps, unsigned count)
{
    static const char *const types[KINDS] = {"", "b32", "b64", "f32", "f64", "pred"};
    t->used = 0;
    put(t, ".version 9.0\n.target sm_90a\n.address_size 64\n"
           ".visible .entry k(.param .u64 cells)\n{\n.reg .b16 %%h<2>;\n.reg .b32 lane;\n"
           ".reg .b64 base, at;\n");
    for (int k = WORD; k < KINDS; k++)
        put(t, ".reg .%s %%%c<%d>;\n", types[k], letters[k], REGS);
    put(t,
        "ld.param.u64 base, [cells];\nmov.u32 lane, %%tid.x;\n"
        "mad.wide.u32 base, lane, %zu, base;\n",
        sizeof(struct lane));
    for (int k = WORD; k < KINDS; k++)
        for (int i = 0; i < REGS; i++) {
            const int offset = (k * REGS + i) * 8;
            if (k == PRED)
                put(t, "ld.global.b64 at, [base+%d];\nsetp.ne.u64 %%p%d, at, 0;\n", offset, i);
            else
                put(t, "ld.global.%s %%%c%d, [base+%d];\n", types[k], letters[k], i, offset);
        }
    for (unsigned i = 0; i < count; i++)
        put_step(t, &steps[i]);
    for (int k = WORD; k < KINDS; k++)
        for (int i = 0; i < REGS; i++) {
            const int offset = (k * REGS + i) * 8;
            if (k == PRED)
                put(t, "selp.b64 at, 1, 0, %%p%d;\nst.global.b64 [base+%d], at;\n", i, offset);
            else
                put(t, "st.global.%s [base+%d], %%%c%d;\n", types[k], offset, letters[k], i);
        }
    put(t, "ret;\n}\n");
}

/* Runs the text over the cells of all lanes; any refusal is a fault of this file or of the loader.
 */
static void run_virtual(const struct text *t, struct lane *lanes)
{
    struct vgpu_device device = {.sm_count = 8, .options = {.check_mem = true, .fd = -1}};
    struct ptx_module *m = NULL;
    struct ptx_diag diag;
    char err[512];
    uint64_t param;

    device.report.fd = -1;
    if (!mem_open(&device.space, 1ull << 24, false))
        abort();
    if (!ptx_module_load(&m, t->at, t->used, &diag) || m->funcs[0].refusal) {
        fprintf(stderr, "%s\n%u:%u: %s\n", t->at, diag.line, diag.col,
                m ? m->funcs[0].refusal : diag.text);
        abort();
    }
    struct alloc *cells = mem_alloc(&device.space, LANES * sizeof *lanes, ALLOC_DEVICE);
    if (!cells || !image_place(&device.space, m, err, sizeof err))
        abort();
    memcpy(cells->host, lanes, LANES * sizeof *lanes);
    mem_mark_init(cells, 0, LANES * sizeof *lanes);
    param = cells->addr;
    struct grid g = {.program = lower_function(&m->funcs[0], err, sizeof err),
                     .func = &m->funcs[0],
                     .params = (unsigned char *)&param,
                     .launch_number = 1,
                     .dim = {1, 1, 1},
                     .block_dim = {LANES, 1, 1},
                     .device = &device};
    if (!g.program || sched_run(&g) != 0)
        abort();
    memcpy(lanes, cells->host, LANES * sizeof *lanes);
    vg_arena_free(&g.arena);
    image_remove(&device.space, m, 0);
    ptx_module_free(m);
    vg_arena_free(&device.arena);
    vg_arena_free(&device.report.arena);
    mem_close(&device.space);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct text text;
    static struct lane start[LANES], naive[LANES], virtual[LANES];
    struct step steps[PROGRAM_MAX];
    uint64_t state = 0;

    if (size < 8)
        return 0;
    memcpy(&state, data, 8);
    const unsigned count = make_program(steps, data, size);
    for (int i = 0; i < LANES; i++)
        for (int k = NONE; k < KINDS; k++)
            for (int r = 0; r < REGS; r++)
                start[i].r[k][r] = start_value((enum kind)k, &state);
    memcpy(naive, start, sizeof start);
    memcpy(virtual, start, sizeof start);
    for (int i = 0; i < LANES; i++)
        run_lane(&naive[i], steps, count);
    put_program(&text, steps, count);
    run_virtual(&text, virtual);
    for (int i = 0; i < LANES; i++)
        for (int k = WORD; k < KINDS; k++)
            for (int r = 0; r < REGS; r++) {
                const uint64_t want = naive[i].r[k][r], got = virtual[i].r[k][r];
                if (want == got)
                    continue;
                fprintf(stderr, "%s", text.at);
                fprintf(stderr, "lane %d: %%%c%d is 0x%" PRIx64 ", expected 0x%" PRIx64 "\n", i,
                        letters[k], r, got, want);
                abort();
            }
    return 0;
}

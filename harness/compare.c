/*
 * compare.c - element tests of the rules in checkers.def, and what is kept about a mismatch.
 * Does not decide verdicts and does not guess causes (hints.c does).
 * Invariant: the block tests may only say "certainly fine"; every doubt goes to element_fails().
 */
#include "compare.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <string.h>

#define BLOCK 1024u /* elements a block test looks at: 4 KiB of f32, so a block stays in L1 */

/* ---- values ---- */

static double load_f16(uint16_t h)
{
    const unsigned exponent = (h >> 10) & 0x1fu;
    const unsigned fraction = h & 0x3ffu;
    const double sign = (h & 0x8000u) ? -1.0 : 1.0;

    if (exponent == 0x1fu)
        return fraction ? (double)NAN : sign * (double)INFINITY;
    if (exponent == 0)
        return sign * ldexp((double)fraction, -24);
    return sign * ldexp((double)(fraction | 0x400u), (int)exponent - 25);
}

static uint64_t load_bits(enum dtype dtype, const void *data, uint64_t index)
{
    const unsigned char *p = (const unsigned char *)data + index * dtype_size(dtype);
    uint64_t u64;
    uint32_t u32;
    uint16_t u16;

    switch (dtype_size(dtype)) {
    case 8:
        memcpy(&u64, p, sizeof u64);
        return u64;
    case 4:
        memcpy(&u32, p, sizeof u32);
        return u32;
    case 2:
        memcpy(&u16, p, sizeof u16);
        return u16;
    case 1:
        return *p;
    }
    UNREACHABLE();
}

double compare_load(enum dtype dtype, const void *data, uint64_t index)
{
    const uint64_t bits = load_bits(dtype, data, index);
    uint32_t u32 = (uint32_t)bits;
    double f64;
    float f32;

    switch (dtype) {
    case DTYPE_F64:
        memcpy(&f64, &bits, sizeof f64);
        return f64;
    case DTYPE_F32:
        memcpy(&f32, &u32, sizeof f32);
        return (double)f32;
    case DTYPE_BF16:
        u32 <<= 16;
        memcpy(&f32, &u32, sizeof f32);
        return (double)f32;
    case DTYPE_F16:
        return load_f16((uint16_t)bits);
    case DTYPE_I64:
        return (double)(int64_t)bits;
    case DTYPE_I32:
        return (double)(int32_t)u32;
    case DTYPE_U32:
        return (double)u32;
    case DTYPE_I8:
        return (double)(int8_t)bits;
    case DTYPE_U8:
        return (double)(uint8_t)bits;
    }
    UNREACHABLE();
}

/* Bits of precision and lowest exponent of the last place. */
static void dtype_format(enum dtype dtype, int *precision, int *lowest)
{
    *precision = 1;
    *lowest = 0;
    switch (dtype) {
    case DTYPE_F64:
        *precision = 53, *lowest = -1074;
        return;
    case DTYPE_F32:
        *precision = 24, *lowest = -149;
        return;
    case DTYPE_F16:
        *precision = 11, *lowest = -24;
        return;
    case DTYPE_BF16:
        *precision = 8, *lowest = -133;
        return;
    case DTYPE_I64:
    case DTYPE_I32:
    case DTYPE_U32:
    case DTYPE_I8:
    case DTYPE_U8:
        return;
    }
    UNREACHABLE();
}

uint64_t compare_ulp(enum dtype dtype, double got, double want)
{
    int precision, lowest, exponent = 0;
    double unit = 1.0, distance;

    if (!isfinite(got) || !isfinite(want))
        return got == want ? 0 : UINT64_MAX;
    if (dtype_is_float(dtype)) {
        dtype_format(dtype, &precision, &lowest);
        (void)frexp(want, &exponent);
        exponent -= precision;
        unit = ldexp(1.0, want == 0.0 || exponent < lowest ? lowest : exponent);
    }
    distance = fabs(got - want) / unit;
    return distance >= 9.2e18 ? UINT64_MAX - 1 : (uint64_t)ceil(distance);
}

uint64_t compare_poison(enum dtype dtype, unsigned poison_kind)
{
    /* Kind 0 is a quiet NaN with a payload that no arithmetic produces; kind 1 a large finite
     * number that max() and fmaxf() cannot hide. Integers repeat one byte. */
    switch (dtype) {
    case DTYPE_F64:
        return poison_kind == 0 ? UINT64_C(0x7ffca5a5a5a5a5a5) : UINT64_C(0x7feca5a5a5a5a5a5);
    case DTYPE_F32:
        return poison_kind == 0 ? 0x7fe5a5a5u : 0x7f61a5a5u;
    case DTYPE_F16:
        return poison_kind == 0 ? 0x7ea5u : 0x7ba5u;
    case DTYPE_BF16:
        return poison_kind == 0 ? 0x7fe5u : 0x7f61u;
    case DTYPE_I64:
        return poison_kind == 0 ? UINT64_C(0xa5a5a5a5a5a5a5a5) : UINT64_C(0x5a5a5a5a5a5a5a5a);
    case DTYPE_I32:
    case DTYPE_U32:
        return poison_kind == 0 ? 0xa5a5a5a5u : 0x5a5a5a5au;
    case DTYPE_I8:
    case DTYPE_U8:
        return poison_kind == 0 ? 0xa5u : 0x5au;
    }
    UNREACHABLE();
}

bool compare_element_unwritten(const struct compare_input *in, uint64_t index)
{
    if (load_bits(in->dtype, in->got, index) != compare_poison(in->dtype, in->poison_kind))
        return false;
    if (dtype_is_float(in->dtype))
        return true;
    /* Any integer may be an honest answer: only poison under both patterns counts. */
    return in->got_other != NULL && load_bits(in->dtype, in->got_other, index) ==
                                        compare_poison(in->dtype, in->poison_kind ^ 1u);
}

/* ---- allowed error of one element ---- */

static double allowed_exact(const struct compare_input *in, uint64_t index, double want)
{
    (void)in, (void)index, (void)want;
    return 0.0;
}

static double allowed_allclose(const struct compare_input *in, uint64_t index, double want)
{
    (void)index;
    return in->rule.atol + in->rule.rtol * fabs(want);
}

static double allowed_tol(const struct compare_input *in, uint64_t index, double want)
{
    (void)want;
    return in->tol[index];
}

static double allowed_survive(const struct compare_input *in, uint64_t index, double want)
{
    (void)in, (void)index, (void)want;
    return DBL_MAX;
}

/* ---- block tests: true only when every element certainly passes ---- */

typedef bool (*block_test)(const struct compare_input *in, uint64_t begin, uint32_t n,
                           double *margin);
typedef double (*allowed_error)(const struct compare_input *in, uint64_t index, double want);

/* Equality after scaling; false for every NaN and every poisoned element. */
static bool block_exact_f32(const struct compare_input *in, uint64_t begin, uint32_t n)
{
    const float scale = ldexpf(1.0f, -in->exponent);
    const uint32_t poison = (uint32_t)compare_poison(DTYPE_F32, in->poison_kind);
    float got[BLOCK], want[BLOCK];
    uint32_t bits[BLOCK];
    uint32_t bad = 0;

    memset(got, 0, sizeof got);
    memset(want, 0, sizeof want);
    memcpy(got, (const float *)in->got + begin, n * sizeof *got);
    memcpy(want, (const float *)in->want + begin, n * sizeof *want);
    memcpy(bits, got, sizeof bits);
    for (uint32_t i = 0; i < BLOCK; i++) /* constant trip count: the compiler uses vectors */
        bad |= (uint32_t) !(got[i] * scale == want[i]) | (uint32_t)(bits[i] == poison);
    return bad == 0;
}

static bool block_exact(const struct compare_input *in, uint64_t begin, uint32_t n, double *margin)
{
    (void)margin;
    if (in->dtype == DTYPE_F32 && in->want_dtype == DTYPE_F32)
        return block_exact_f32(in, begin, n);
    if (!dtype_is_float(in->dtype) && in->want_dtype == in->dtype && in->exponent == 0) {
        const size_t size = dtype_size(in->dtype);
        if (in->got_other != NULL) /* poison may equal the answer: look closely */
            return false;
        return memcmp((const char *)in->got + begin * size, (const char *)in->want + begin * size,
                      n * size) == 0;
    }
    return false;
}

/* got (f32, scaled) against want (f64) with a bound per element. The bound is computed by the
 * caller into `tol`. Infinite wants and bounds are left to the element test. */
static bool block_close_f32(const struct compare_input *in, uint64_t begin, uint32_t n,
                            const double *tol, double *margin)
{
    const double scale = ldexp(1.0, -in->exponent);
    const uint32_t poison = (uint32_t)compare_poison(DTYPE_F32, in->poison_kind);
    const float *got = (const float *)in->got + begin;
    const double *want = (const double *)in->want + begin;
    double largest = *margin;
    int bad = 0;

    for (uint32_t i = 0; i < n; i++) {
        const double error = fabs((double)got[i] * scale - want[i]);
        const double ratio = error / tol[i]; /* 0/0 is NaN and changes nothing */
        uint32_t bits;

        memcpy(&bits, &got[i], sizeof bits);
        bad |= !(error <= tol[i]) | !(tol[i] <= DBL_MAX) | !(fabs(want[i]) <= DBL_MAX) |
               (bits == poison);
        largest = ratio > largest ? ratio : largest;
    }
    if (bad)
        return false;
    *margin = largest;
    return true;
}

static bool block_allclose(const struct compare_input *in, uint64_t begin, uint32_t n,
                           double *margin)
{
    const double *want = (const double *)in->want + begin;
    double tol[BLOCK];

    if (in->dtype != DTYPE_F32 || in->want_dtype != DTYPE_F64)
        return false;
    for (uint32_t i = 0; i < n; i++)
        tol[i] = in->rule.atol + in->rule.rtol * fabs(want[i]);
    return block_close_f32(in, begin, n, tol, margin);
}

static bool block_tol(const struct compare_input *in, uint64_t begin, uint32_t n, double *margin)
{
    if (in->dtype != DTYPE_F32 || in->want_dtype != DTYPE_F64)
        return false;
    return block_close_f32(in, begin, n, in->tol + begin, margin);
}

static bool block_survive(const struct compare_input *in, uint64_t begin, uint32_t n,
                          double *margin)
{
    (void)in, (void)begin, (void)n, (void)margin;
    return true;
}

/* ---- the table ---- */

struct checker {
    const char *name, *meaning;
    block_test block;
    allowed_error allowed;
};

static const struct checker checkers[] = {
#define X(kind, name, block, allowed, meaning) [kind] = {name, meaning, block, allowed},
#include "checkers.def"
};

const char *compare_rule_name(enum rule_kind kind) { return checkers[kind].name; }

const char *compare_rule_meaning(enum rule_kind kind) { return checkers[kind].meaning; }

/* ---- one element ---- */

/* An integer scaled by 2^-e must stay an integer, hence the exact comparison of i64 without
 * going through double. */
static bool integers_differ(const struct compare_input *in, uint64_t index)
{
    return load_bits(in->dtype, in->got, index) != load_bits(in->dtype, in->want, index);
}

static bool element_fails(const struct compare_input *in, uint64_t index, double got, double want,
                          double allowed)
{
    if (compare_element_unwritten(in, index))
        return true;
    if (isnan(want))
        return !isnan(got);
    if (isinf(want))
        return got != want;
    if (in->rule.kind == RULE_EXACT && !dtype_is_float(in->dtype) && in->dtype == in->want_dtype &&
        in->exponent == 0)
        return integers_differ(in, index);
    if (!(allowed <= DBL_MAX)) /* a bound that is no number accepts nothing */
        return true;
    return !(fabs(got - want) <= allowed);
}

/* Loads, unscales and tests one element. */
static bool element_test(const struct compare_input *in, uint64_t index, double *got, double *want,
                         double *allowed)
{
    *got = ldexp(compare_load(in->dtype, in->got, index), -in->exponent);
    *want = compare_load(in->want_dtype, in->want, index);
    *allowed = checkers[in->rule.kind].allowed(in, index, *want);
    return element_fails(in, index, *got, *want, *allowed);
}

bool compare_element_fails(const struct compare_input *in, uint64_t index)
{
    double got, want, allowed;

    if (in->rule.kind == RULE_SURVIVE)
        return false;
    return element_test(in, index, &got, &want, &allowed);
}

static void keep_failure(const struct compare_input *in, struct mismatch *m, uint64_t index,
                         double got, double want)
{
    const double error = fabs(got - want);
    const double relative = want != 0.0 ? error / fabs(want) : (double)INFINITY;
    const uint64_t ulp = compare_ulp(in->dtype, got, want);

    if (m->count == 0) {
        m->first = index;
        m->got = got;
        m->want = want;
    }
    m->count++;
    m->last = index;
    if (!(error <= m->max_abs)) /* also takes NaN, which becomes infinite */
        m->max_abs = isnan(error) ? (double)INFINITY : error;
    if (!(relative <= m->max_rel))
        m->max_rel = isnan(relative) ? (double)INFINITY : relative;
    if (ulp > m->max_ulp)
        m->max_ulp = ulp;
}

static void block_detail(const struct compare_input *in, struct mismatch *m, uint64_t begin,
                         uint32_t n)
{
    for (uint64_t i = begin; i < begin + n; i++) {
        double got, want, allowed;
        const bool fails = element_test(in, i, &got, &want, &allowed);
        const double error = fabs(got - want);

        if (compare_element_unwritten(in, i)) {
            if (m->unwritten == 0)
                m->unwritten_first = i;
            m->unwritten++;
        }
        if (fails)
            keep_failure(in, m, i, got, want);
        if (in->rule.kind == RULE_EXACT || isinf(want) || isnan(want) || error == 0.0)
            continue;
        if (!(error / allowed <= m->margin))
            m->margin = isnan(error / allowed) ? (double)INFINITY : error / allowed;
    }
}

bool compare_output(const struct compare_input *in, struct mismatch *out)
{
    const struct checker *checker = &checkers[in->rule.kind];

    assert(in->rule.kind != RULE_TOL || in->tol != NULL || in->count == 0);
    memset(out, 0, sizeof *out);
    for (uint64_t begin = 0; begin < in->count; begin += BLOCK) {
        const uint64_t left = in->count - begin;
        const uint32_t n = left < BLOCK ? (uint32_t)left : BLOCK;

        if (!checker->block(in, begin, n, &out->margin))
            block_detail(in, out, begin, n);
    }
    return out->count == 0;
}

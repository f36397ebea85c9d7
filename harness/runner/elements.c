/*
 * elements.c - see elements.h. Rounds a 16-bit result to nearest even where scaling leaves its
 * normal range; the generator keeps shipped cases out of there.
 */
#include "elements.h"

#include <math.h>
#include <string.h>

static double half_read(uint16_t h)
{
    const int exponent = (h >> 10) & 31;
    const double fraction = h & 1023;
    const double value =
        exponent == 0 ? ldexp(fraction, -24) : ldexp(fraction + 1024, exponent - 25);

    return (h & 0x8000u) != 0 ? -value : value;
}

static uint16_t half_write(double v)
{
    const uint16_t sign = signbit(v) ? 0x8000u : 0;
    const double m = fabs(v);
    int exponent;

    if (m >= 65520.0) /* half way between the largest half and 2^16 */
        return (uint16_t)(sign | 0x7c00u);
    if (m < ldexp(1, -14)) /* denormal: units of 2^-24; 1024 of them carry into the exponent */
        return (uint16_t)(sign | (uint16_t)nearbyint(ldexp(m, 24)));
    (void)frexp(m, &exponent); /* m = f * 2^exponent, f in [0.5, 1) */
    return (uint16_t)(sign | (uint16_t)(((exponent + 13) << 10) +
                                        (int)nearbyint(ldexp(m, 11 - exponent))));
}

static void scale_f16(uint16_t *dst, const uint16_t *src, uint64_t count, int exponent)
{
    for (uint64_t i = 0; i < count; i++)
        dst[i] =
            (src[i] & 0x7c00u) == 0x7c00u ? src[i] : half_write(ldexp(half_read(src[i]), exponent));
}

static void scale_bf16(uint16_t *dst, const uint16_t *src, uint64_t count, int exponent)
{
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits = (uint32_t)src[i] << 16;
        float f;

        if ((src[i] & 0x7f80u) == 0x7f80u) {
            dst[i] = src[i];
            continue;
        }
        memcpy(&f, &bits, sizeof f);
        f = ldexpf(f, exponent);
        memcpy(&bits, &f, sizeof bits);
        bits += 0x7fffu + ((bits >> 16) & 1u);
        dst[i] = (uint16_t)(bits >> 16);
    }
}

static void scale_f32(float *dst, const float *src, uint64_t count, int exponent)
{
    if (exponent >= -126 && exponent <= 127) {
        const float factor = ldexpf(1, exponent);
        for (uint64_t i = 0; i < count; i++) {
            const float product = src[i] * factor;
            uint32_t in, out;
            memcpy(&in, &src[i], sizeof in);
            memcpy(&out, &product, sizeof out);
            out = (in & 0x7fffffffu) > 0x7f800000u ? in : out; /* a product quietens a NaN */
            memcpy(&dst[i], &out, sizeof out);
        }
        return;
    }
    for (uint64_t i = 0; i < count; i++)
        dst[i] = isnan(src[i]) ? src[i] : ldexpf(src[i], exponent);
}

static void scale_f64(double *dst, const double *src, uint64_t count, int exponent)
{
    for (uint64_t i = 0; i < count; i++)
        dst[i] = isnan(src[i]) ? src[i] : ldexp(src[i], exponent);
}

void elements_scale(void *dst, const void *src, enum record_type type, uint64_t count, int exponent)
{
    if (exponent == 0 || count == 0 ||
        (type != RECORD_F64 && type != RECORD_F32 && type != RECORD_F16 && type != RECORD_BF16)) {
        if (count != 0)
            memcpy(dst, src, count * record_type_size(type));
        return;
    }
    if (type == RECORD_F32)
        scale_f32(dst, src, count, exponent);
    else if (type == RECORD_F64)
        scale_f64(dst, src, count, exponent);
    else if (type == RECORD_F16)
        scale_f16(dst, src, count, exponent);
    else
        scale_bf16(dst, src, count, exponent);
}

void elements_fill(void *dst, size_t size, enum record_type type, uint64_t bits)
{
    const size_t element = record_type_size(type);
    unsigned char *out = dst;
    size_t done = element < size ? element : size;

    memcpy(out, &bits, done); /* little-endian: the low bytes come first */
    while (done < size) {     /* doubling keeps memcpy at full speed */
        const size_t step = done < size - done ? done : size - done;
        memcpy(out + done, out, step);
        done += step;
    }
}

uint64_t elements_differ(const void *a, const void *b, size_t element_size, uint64_t count,
                         uint64_t *first)
{
    const unsigned char *x = a, *y = b;
    const uint64_t block = 4096 / element_size;
    uint64_t differing = 0;

    for (uint64_t i = 0; i < count; i += block) {
        const uint64_t n = block < count - i ? block : count - i;
        if (memcmp(x + i * element_size, y + i * element_size, n * element_size) == 0)
            continue;
        for (uint64_t j = i; j < i + n; j++)
            if (memcmp(x + j * element_size, y + j * element_size, element_size) != 0 &&
                differing++ == 0)
                *first = j;
    }
    return differing;
}

/*
 * lane_vector.h - the lanes' words of a load or store as vectors: ranges, gathers, scatters.
 * AVX-512 where the file is compiled for it, plain loops elsewhere; both give the same bytes.
 * Checks nothing by itself. Invariant: only the bytes of `lanes` are touched, and later lanes win.
 */
#ifndef VGPU_LANE_VECTOR_H
#define VGPU_LANE_VECTOR_H

#include "exec.h"

#include <string.h>

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512DQ__)
#define LANE_AVX512 1
#include <immintrin.h>
#else
#define LANE_AVX512 0
#endif

/* Is an offset of `lanes` past `limit`, or has it a bit of `low`? */
static inline bool lanes_astray(const uint32_t off[WARP_LANES], uint32_t lanes, uint32_t limit,
                                uint32_t low)
{
#if LANE_AVX512
    const __m512i a = _mm512_loadu_si512(off), b = _mm512_loadu_si512(off + 16),
                  end = _mm512_set1_epi32((int)limit), bits = _mm512_set1_epi32((int)low);
    const uint32_t wrong_a = (uint32_t)_mm512_cmpgt_epu32_mask(a, end) |
                             (uint32_t)_mm512_test_epi32_mask(a, bits),
                   wrong_b = (uint32_t)_mm512_cmpgt_epu32_mask(b, end) |
                             (uint32_t)_mm512_test_epi32_mask(b, bits);
    return ((wrong_a | wrong_b << 16) & lanes) != 0;
#else
    uint32_t wrong = 0;
    LANE_LOOP FOR_LANES
    {
        const uint32_t o = (lanes >> lane & 1) != 0 ? off[lane] : 0;
        wrong |= (uint32_t)(o > limit) | (o & low);
    }
    return wrong != 0;
#endif
}

/* off[lane] = addr[lane] - base of `lanes`, 0 of the others. False, and nothing of use in off, when
 * one is past `limit` or an address has a bit of `low`. */
static inline bool lanes_offsets(uint32_t off[WARP_LANES], const uint64_t addr[WARP_LANES],
                                 uint32_t lanes, uint64_t base, uint32_t limit, uint32_t low)
{
#if LANE_AVX512
    const __m512i from = _mm512_set1_epi64((long long)base), end = _mm512_set1_epi64(limit),
                  bits = _mm512_set1_epi64(low);
    uint32_t wrong = 0;
    for (unsigned i = 0; i < WARP_LANES; i += 8) {
        const __mmask8 on = (__mmask8)(lanes >> i);
        const __m512i at = _mm512_loadu_si512(addr + i), o = _mm512_maskz_sub_epi64(on, at, from);
        wrong |= (uint32_t)_mm512_cmpgt_epu64_mask(o, end) |
                 (uint32_t)_mm512_mask_test_epi64_mask(on, at, bits);
        _mm256_storeu_si256((__m256i *)(void *)(off + i), _mm512_cvtepi64_epi32(o));
    }
    return wrong == 0;
#else
    uint64_t wrong = 0;
    LANE_LOOP FOR_LANES
    {
        const uint64_t on = 0 - (uint64_t)(lanes >> lane & 1), o = (addr[lane] - base) & on;
        wrong |= (uint64_t)(o > limit) | (addr[lane] & on & low);
        off[lane] = (uint32_t)o;
    }
    return wrong == 0;
#endif
}

/* pd[lane] = the word at base + off[lane]; offsets below 2 GiB. */
static inline void lanes_gather32(lane_u32 *pd, const unsigned char *base,
                                  const uint32_t off[WARP_LANES], uint32_t lanes)
{
#if LANE_AVX512
    for (unsigned i = 0; i < WARP_LANES; i += 16) {
        const __m512i at = _mm512_loadu_si512(off + i);
        const __mmask16 on = (__mmask16)(lanes >> i);
        _mm512_mask_storeu_epi32(
            pd + i, on, _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), on, at, base, 1));
    }
#else
    FOR_EACH_LANE(lane, lanes) { memcpy(&pd[lane], base + off[lane], 4); }
#endif
}
static inline void lanes_gather64(lane_u64 *pd, const unsigned char *base,
                                  const uint32_t off[WARP_LANES], uint32_t lanes)
{
#if LANE_AVX512
    for (unsigned i = 0; i < WARP_LANES; i += 8) {
        const __m256i at = _mm256_loadu_si256((const __m256i *)(const void *)(off + i));
        const __mmask8 on = (__mmask8)(lanes >> i);
        _mm512_mask_storeu_epi64(
            pd + i, on, _mm512_mask_i32gather_epi64(_mm512_setzero_si512(), on, at, base, 1));
    }
#else
    FOR_EACH_LANE(lane, lanes) { memcpy(&pd[lane], base + off[lane], 8); }
#endif
}

/* The word at base + off[lane] = ps[lane]; tells whether memory changed. */
static inline bool lanes_scatter32(unsigned char *base, const uint32_t off[WARP_LANES],
                                   const lane_u32 *ps, uint32_t lanes)
{
#if LANE_AVX512
    const __m512i at_a = _mm512_loadu_si512(off), at_b = _mm512_loadu_si512(off + 16),
                  new_a = _mm512_loadu_si512(ps), new_b = _mm512_loadu_si512(ps + 16);
    const __mmask16 on_a = (__mmask16)lanes, on_b = (__mmask16)(lanes >> 16);
    const __m512i old_a = _mm512_mask_i32gather_epi32(new_a, on_a, at_a, base, 1),
                  old_b = _mm512_mask_i32gather_epi32(new_b, on_b, at_b, base, 1);
    _mm512_mask_i32scatter_epi32(base, on_a, at_a, new_a, 1);
    _mm512_mask_i32scatter_epi32(base, on_b, at_b, new_b, 1);
    return (_mm512_cmpneq_epi32_mask(old_a, new_a) | _mm512_cmpneq_epi32_mask(old_b, new_b)) != 0;
#else
    uint32_t differ = 0;
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t old;
        memcpy(&old, base + off[lane], 4);
        differ |= old ^ ps[lane];
        memcpy(base + off[lane], &ps[lane], 4);
    }
    return differ != 0;
#endif
}

/* Are the `n` bits (at most 8, or a multiple of 8 up to 32 from a byte on) from off[lane] on set,
 * of every lane? The bitmap has BITMAP_SLACK. */
static inline bool lanes_bits_set(const unsigned char *bits, const uint32_t off[WARP_LANES],
                                  uint32_t lanes, unsigned n)
{
    const uint32_t all = n == 32 ? UINT32_MAX : (1u << n) - 1;
#if LANE_AVX512
    const __m512i wanted = _mm512_set1_epi32((int)all), seven = _mm512_set1_epi32(7);
    uint32_t lacking = 0;
    for (unsigned i = 0; i < WARP_LANES; i += 16) {
        const __m512i bit = _mm512_loadu_si512(off + i);
        const __mmask16 on = (__mmask16)(lanes >> i);
        const __m512i word = _mm512_mask_i32gather_epi32(_mm512_setzero_si512(), on,
                                                         _mm512_srli_epi32(bit, 3), bits, 1),
                      have = _mm512_srlv_epi32(word, _mm512_and_si512(bit, seven));
        lacking |=
            (uint32_t)_mm512_mask_cmpneq_epi32_mask(on, _mm512_and_si512(have, wanted), wanted);
    }
    return lacking == 0;
#else
    uint32_t lacking = 0;
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t word;
        memcpy(&word, bits + off[lane] / 8, 4);
        lacking |= ~(word >> off[lane] % 8) & all;
    }
    return lacking == 0;
#endif
}

#endif

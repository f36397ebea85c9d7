/*
 * exec_mma.c - matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix.
 * Products are exact, sums are formed in f64 and rounded once to the accumulator type: hardware
 * sums in another order and truncates, so results agree within a tolerance only; integers are
 * exact. Register layouts of mma, ldmatrix and stmatrix are the manual's; the layout of wmma
 * fragments is not specified by PTX and ours. wgmma is refused by the front end. Compiled once per
 * instruction set. Invariant: the whole warp takes part, or it is a fault.
 */
#include "exec.h"
#include "ieee.h"
#include "mma_form.h"

#include <stdio.h>
#include <string.h>

#define MAX_ELEMENTS 1024u /* 16 x 64, the largest operand */

static double decode(uint64_t bits, enum ptx_type t)
{
    switch ((int)t) {
    case PTX_TYPE_F64:
        return f64_make(bits);
    case PTX_TYPE_F32:
        return (double)f32_make((uint32_t)bits);
    case PTX_TYPE_TF32:
        return (double)f32_make((uint32_t)bits & 0xffffe000u);
    case PTX_TYPE_F16:
        return (double)f16_to_f32((uint32_t)bits);
    case PTX_TYPE_BF16:
        return (double)bf16_to_f32((uint32_t)bits);
    case PTX_TYPE_E4M3:
        return (double)ieee_from_e4m3((uint32_t)bits);
    case PTX_TYPE_E5M2:
        return (double)ieee_from_e5m2((uint32_t)bits);
    case PTX_TYPE_S8:
        return (double)(int8_t)bits;
    case PTX_TYPE_U8:
        return (double)(uint8_t)bits;
    case PTX_TYPE_S4:
        return (double)((int32_t)(bits << 28 & 0xf0000000u) >> 28);
    case PTX_TYPE_U4:
        return (double)(bits & 15);
    default:
        return (double)(int32_t)bits; /* s32 */
    }
}
static uint64_t encode(double x, enum ptx_type t, bool saturate)
{
    switch ((int)t) {
    case PTX_TYPE_F64:
        return f64_bits(f64_canon(x));
    case PTX_TYPE_F32:
        return f32_bits(f32_canon((float)x));
    case PTX_TYPE_F16:
        return f16_from_f32(f32_round_odd(x));
    default:
        if (saturate)
            x = x > 2147483647.0 ? 2147483647.0 : x < -2147483648.0 ? -2147483648.0 : x;
        return (uint32_t)(int64_t)x;
    }
}

/* Element i of register r of a lane: bits of it in the fragment registers. list: count, slots. */
static uint64_t fragment_get(const struct warp *w, const uint32_t *list, enum ptx_type t,
                             unsigned lane, unsigned r, unsigned i)
{
    unsigned bits = mma_bits(t);
    if (bits == 64)
        return SLOT(lane_u64, w, list[1 + r])[lane];
    uint32_t word = SLOT(lane_u32, w, list[1 + r])[lane];
    return bits == 32 ? word : word >> (bits * i) & ((1u << bits) - 1);
}
static void fragment_put(struct warp *w, const uint32_t *list, enum ptx_type t, unsigned lane,
                         unsigned r, unsigned i, uint64_t value)
{
    unsigned bits = mma_bits(t);
    if (bits == 64) {
        SLOT(lane_u64, w, list[1 + r])[lane] = value;
        return;
    }
    lane_u32 *word = &SLOT(lane_u32, w, list[1 + r])[lane];
    uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << (bits * i);
    *word = (*word & ~mask) | ((uint32_t)value << (bits * i) & mask);
}

/* Element i of register r of every lane, as numbers. */
static inline void decode_lanes(const struct warp *w, const uint32_t *list, enum ptx_type t,
                                unsigned r, unsigned i, double to[WARP_LANES])
{
    if (t == PTX_TYPE_F64) {
        memcpy(to, SLOT(lane_f64, w, list[1 + r]), WARP_LANES * sizeof *to);
        return;
    }
    const lane_u32 *word = SLOT(lane_u32, w, list[1 + r]);
    const unsigned bits = mma_bits(t), shift = bits * i;
    const uint32_t mask = bits == 32 ? UINT32_MAX : (1u << bits) - 1;
    switch ((int)t) {
    case PTX_TYPE_F32:
        LANE_LOOP FOR_LANES { to[lane] = (double)f32_make(word[lane]); }
        break;
    case PTX_TYPE_TF32:
        LANE_LOOP FOR_LANES { to[lane] = (double)f32_make(word[lane] & 0xffffe000u); }
        break;
    case PTX_TYPE_F16:
        LANE_LOOP FOR_LANES { to[lane] = (double)f16_to_f32(word[lane] >> shift & 0xffff); }
        break;
    case PTX_TYPE_BF16:
        LANE_LOOP FOR_LANES { to[lane] = (double)bf16_to_f32(word[lane] >> shift & 0xffff); }
        break;
    case PTX_TYPE_S8:
        LANE_LOOP FOR_LANES { to[lane] = (double)(int8_t)(word[lane] >> shift); }
        break;
    case PTX_TYPE_U8:
        LANE_LOOP FOR_LANES { to[lane] = (double)(int32_t)(word[lane] >> shift & 0xff); }
        break;
    default:
        FOR_LANES { to[lane] = decode(word[lane] >> shift & mask, t); }
        break;
    }
}
static inline void encode_lanes(struct warp *w, const uint32_t *list, enum ptx_type t, unsigned r,
                                unsigned i, const double from[WARP_LANES], uint32_t lanes,
                                bool saturate)
{
    if (t == PTX_TYPE_F32) {
        lane_u32 *pd = SLOT(lane_u32, w, list[1 + r]);
        LANE_LOOP FOR_LANES
        {
            const uint32_t x = f32_bits(f32_canon((float)from[lane]));
            pd[lane] = (lanes >> lane & 1) != 0 ? x : pd[lane];
        }
        return;
    }
    FOR_EACH_LANE(lane, lanes)
    {
        fragment_put(w, list, t, lane, r, i, encode(from[lane], t, saturate));
    }
}

/* ---- layouts of mma: lane = 4 * group + member; element i of register r lies at first + group *
 * by_group + member * by_member of the matrix ---- */
enum matrix { MATRIX_A, MATRIX_B, MATRIX_C };
struct walk {
    unsigned first, by_group, by_member;
};
static inline struct walk mma_walk(enum matrix which, const struct mma_shape *s, unsigned per,
                                   unsigned r, unsigned i, unsigned stride)
{
    switch (which) {
    case MATRIX_A: { /* pairs of registers cover rows g and g + 8 when there are 16 */
        unsigned half = s->m == 16 ? r & 1 : 0, step = s->m == 16 ? r >> 1 : r;
        return (struct walk){8 * half * stride + step * 4 * per + i, stride, per};
    }
    case MATRIX_B:
        return (struct walk){(r * 4 * per + i) * stride, 1, per * stride};
    case MATRIX_C:
        break;
    }
    unsigned n = r * per + i; /* elements in order: (g, 2m), (g, 2m + 1), (g + 8, 2m), ... */
    return (struct walk){8 * (n >> 1) * stride + (n & 1), stride, 2};
}

static inline void spread(double *to, struct walk at, const double from[WARP_LANES])
{
    to += at.first;
    for (unsigned lane = 0; lane < WARP_LANES; lane += 4, to += at.by_group) {
        for (unsigned member = 0; member < 4; member++)
            to[member * at.by_member] = from[lane + member];
    }
}
static inline void collect(double to[WARP_LANES], struct walk at, const double *from)
{
    from += at.first;
    for (unsigned lane = 0; lane < WARP_LANES; lane += 4, from += at.by_group) {
        for (unsigned member = 0; member < 4; member++)
            to[lane + member] = from[member * at.by_member];
    }
}

static inline void mma_load(const struct warp *w, enum matrix which, const struct mma_shape *s,
                            const uint32_t *list, enum ptx_type t, double *to, unsigned stride)
{
    const unsigned per = mma_per_register(t);
    double lanes[WARP_LANES];
    for (unsigned r = 0; r < list[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            decode_lanes(w, list, t, r, i, lanes);
            spread(to, mma_walk(which, s, per, r, i, stride), lanes);
        }
    }
}

/* d = a b + c in place of c, f64: fused steps in order of k, as DMMA does. */
static void multiply_f64(const struct mma_shape *s, const double *a, const double *b, double *c)
{
    for (unsigned i = 0; i < s->m; i++) {
        double *sum = c + i * s->n;
        for (unsigned l = 0; l < s->k; l++) {
            for (unsigned j = 0; j < s->n; j++)
                sum[j] = f64_fma(a[i * s->k + l], b[l * s->n + j], sum[j]);
        }
    }
}
/* The others: products are exact in f64, their sum is added to c at last. n is a multiple of 8. */
static void multiply(const struct mma_shape *s, const double *restrict a, const double *restrict b,
                     double *restrict c)
{
    enum { COLUMNS = 8 };
    typedef double columns __attribute__((vector_size(COLUMNS * sizeof(double))));
    for (unsigned i = 0; i < s->m; i++) {
        for (unsigned j = 0; j < s->n; j += COLUMNS) {
            columns sum = {0}, row;
            for (unsigned l = 0; l < s->k; l++) {
                memcpy(&row, b + l * s->n + j, sizeof row);
                sum += a[i * s->k + l] * row;
            }
            memcpy(&row, c + i * s->n + j, sizeof row);
            row += sum;
            memcpy(c + i * s->n + j, &row, sizeof row);
        }
    }
}
static void multiply_add(const struct mma_shape *s, const double *a, const double *b, double *c)
{
    if (s->d == PTX_TYPE_F64)
        multiply_f64(s, a, b, c);
    else
        multiply(s, a, b, c);
}

static bool converged(struct warp *w, const struct insn *in, uint32_t lanes)
{
    if (lanes == w->live)
        return true;
    char detail[80];
    snprintf(detail, sizeof detail, "lanes %08x of %08x are here", lanes, w->live);
    exec_fault_text(w, in, FAULT_NOT_CONVERGED, (uint32_t)__builtin_ctz(lanes), detail);
    return false;
}

static void op_mma(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct mma_shape s = mma_shape_of(in);
    const uint32_t *extras = w->frame->program->extras, *lists = extras + in->extra;
    double a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[MAX_ELEMENTS];
    if (!converged(w, in, lanes))
        return;
    mma_load(w, MATRIX_A, &s, extras + lists[1], s.a, a, s.k);
    mma_load(w, MATRIX_B, &s, extras + lists[2], s.b, b, s.n);
    mma_load(w, MATRIX_C, &s, extras + lists[3], s.c, c, s.n);
    multiply_add(&s, a, b, c);
    const uint32_t *d = extras + lists[0];
    const unsigned per = mma_per_register(s.d);
    double out[WARP_LANES];
    for (unsigned r = 0; r < d[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            collect(out, mma_walk(MATRIX_C, &s, per, r, i, s.n), c);
            encode_lanes(w, d, s.d, r, i, out, lanes, in->imm & 4);
        }
    }
    w->grid->counts.mma_flop += 2ull * s.m * s.n * s.k;
}

/* ---- wmma: element number of a place in a fragment; a fragment that has more room holds each
 * element several times ---- */
static unsigned wmma_element(unsigned registers, unsigned per, unsigned lane, unsigned r,
                             unsigned i, unsigned total)
{
    return (lane * registers * per + r * per + i) % total;
}
static void wmma_load(const struct warp *w, const uint32_t *list, enum ptx_type t, double *to,
                      unsigned total)
{
    unsigned per = mma_per_register(t);
    double lanes[WARP_LANES];
    for (unsigned r = 0; r < list[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            decode_lanes(w, list, t, r, i, lanes);
            FOR_LANES { to[wmma_element(list[0], per, lane, r, i, total)] = lanes[lane]; }
        }
    }
}
/* Fragments hold a and b as row-major matrices whatever their layout in memory, so the layouts
 * written in wmma.mma are not looked at. */
static void op_wmma(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct mma_shape s = mma_shape_of(in);
    const uint32_t *extras = w->frame->program->extras, *lists = extras + in->extra;
    double a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[MAX_ELEMENTS];
    if (!converged(w, in, lanes))
        return;
    wmma_load(w, extras + lists[1], s.a, a, s.m * s.k);
    wmma_load(w, extras + lists[2], s.b, b, s.k * s.n);
    wmma_load(w, extras + lists[3], s.c, c, s.m * s.n);
    multiply_add(&s, a, b, c);
    const uint32_t *d = extras + lists[0];
    unsigned per = mma_per_register(s.d);
    double out[WARP_LANES];
    for (unsigned r = 0; r < d[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            FOR_LANES { out[lane] = c[wmma_element(d[0], per, lane, r, i, s.m * s.n)]; }
            encode_lanes(w, d, s.d, r, i, out, lanes, in->imm & 4);
        }
    }
    w->grid->counts.mma_flop += 2ull * s.m * s.n * s.k;
}

static uint64_t base_address(const struct warp *w, const struct insn *in, unsigned lane)
{
    uint64_t base = in->flags & INSN_FLAG_ADDR64 ? SLOT(lane_u64, w, in->a)[lane]
                                                 : SLOT(lane_u32, w, in->a)[lane];
    return base + (uint64_t)in->imm;
}
static void op_wmma_move(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct mma_shape s = mma_shape_of(in);
    enum ptx_type t = (enum ptx_type)in->target;
    bool store = in->op == MATRIX_STORE_D, by_column = in->rnd;
    unsigned rows = in->op == MATRIX_LOAD_B ? s.k : s.m, cols = in->op == MATRIX_LOAD_A ? s.k : s.n;
    const uint32_t *list = w->frame->program->extras + in->d;
    unsigned per = mma_per_register(t), bytes = mma_bits(t) / 8;
    if (!converged(w, in, lanes))
        return;
    for (unsigned r = 0; r < list[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            FOR_EACH_LANE(lane, lanes)
            {
                unsigned at = wmma_element(list[0], per, lane, r, i, rows * cols), row = at / cols,
                         col = at % cols;
                uint64_t stride = in->c != ~0u ? SLOT(lane_u32, w, in->c)[lane]
                                  : by_column  ? rows
                                               : cols,
                         value = 0;
                uint64_t address = base_address(w, in, lane) +
                                   bytes * (by_column ? col * stride + row : row * stride + col);
                if (store) {
                    value = fragment_get(w, list, t, lane, r, i);
                    if (!mem_lane_write(w, in, (enum ptx_space)in->width, address, lane, &value,
                                        bytes))
                        return;
                } else {
                    if (!mem_lane_read(w, in, (enum ptx_space)in->width, address, lane, &value,
                                       bytes))
                        return;
                    fragment_put(w, list, t, lane, r, i, value);
                }
            }
        }
    }
}

/* ---- ldmatrix, stmatrix: matrix n has its row addresses in lanes 8n to 8n + 7; lane l holds row l
 * / 4, columns 2 (l % 4) and the next ---- */
static void op_matrix_move(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint32_t *list = w->frame->program->extras + in->d;
    uint16_t rows[8][8];
    if (!converged(w, in, lanes))
        return;
    for (unsigned n = 0; n < in->vec; n++) {
        if (in->op == MATRIX_LD) {
            for (unsigned row = 0; row < 8; row++) {
                unsigned lane = n * 8 + row;
                if (!mem_lane_read(w, in, (enum ptx_space)in->width, base_address(w, in, lane),
                                   lane, rows[row], 16))
                    return;
            }
        }
        FOR_EACH_LANE(lane, lanes)
        {
            unsigned major = lane >> 2, minor = (lane & 3) * 2;
            lane_u32 *word = &SLOT(lane_u32, w, list[1 + n])[lane];
            uint16_t *low = in->rnd ? &rows[minor][major] : &rows[major][minor],
                     *high = in->rnd ? &rows[minor + 1][major] : &rows[major][minor + 1];
            if (in->op == MATRIX_LD) {
                *word = *low | (uint32_t)*high << 16;
            } else {
                *low = (uint16_t)*word;
                *high = (uint16_t)(*word >> 16);
            }
        }
        for (unsigned row = 0; in->op == MATRIX_ST && row < 8; row++) {
            unsigned lane = n * 8 + row;
            if (!mem_lane_write(w, in, (enum ptx_space)in->width, base_address(w, in, lane), lane,
                                rows[row], 16))
                return;
        }
    }
}
static void op_movmatrix(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint16_t rows[8][8];
    if (!converged(w, in, lanes))
        return;
    FOR_LANES
    {
        uint32_t word = SLOT(lane_u32, w, in->a)[lane];
        rows[lane >> 2][(lane & 3) * 2] = (uint16_t)word;
        rows[lane >> 2][(lane & 3) * 2 + 1] = (uint16_t)(word >> 16);
    }
    FOR_EACH_LANE(lane, lanes)
    {
        SLOT(lane_u32, w, in->d)
        [lane] = rows[(lane & 3) * 2][lane >> 2] | (uint32_t)rows[(lane & 3) * 2 + 1][lane >> 2]
                                                       << 16;
    }
}

extern op_fn *const ISA_NAME(exec_mma_ops)[OP_COUNT];
op_fn *const ISA_NAME(exec_mma_ops)[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_mma.def"
#undef X
};

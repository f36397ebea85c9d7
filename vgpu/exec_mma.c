/*
 * exec_mma.c - matrix instructions: mma, wmma, ldmatrix, stmatrix, movmatrix.
 * Products are exact, sums are formed in f64 and rounded once to the accumulator type: hardware
 * sums in another order and truncates, so results agree within a tolerance only; integers are
 * exact. Register layouts of mma, ldmatrix and stmatrix are the manual's; the layout of wmma
 * fragments is not specified by PTX and ours. wgmma is refused by the front end. Invariant: the
 * whole warp takes part, or it is a fault.
 */
#include "exec.h"
#include "ieee.h"

#include <stdio.h>
#include <string.h>

#define MAX_ELEMENTS 1024u /* 16 x 64, the largest operand */

struct shape {
    unsigned m, n, k;
    enum ptx_type d, a, b, c;
};
static struct shape shape_of(const struct insn *in)
{
    struct shape s = {in->e & 255,
                      in->e >> 8 & 255,
                      in->e >> 16 & 255,
                      (enum ptx_type)(in->target & 255),
                      (enum ptx_type)(in->target >> 8 & 255),
                      (enum ptx_type)(in->target >> 16 & 255),
                      (enum ptx_type)(in->target >> 24)};
    return s;
}

static bool is_int8(enum ptx_type t) { return t == PTX_TYPE_S8 || t == PTX_TYPE_U8; }
static bool is_int4(enum ptx_type t) { return t == PTX_TYPE_S4 || t == PTX_TYPE_U4; }
static bool is_fp8(enum ptx_type t) { return t == PTX_TYPE_E4M3 || t == PTX_TYPE_E5M2; }
static bool is_half(enum ptx_type t) { return t == PTX_TYPE_F16 || t == PTX_TYPE_BF16; }
static unsigned element_bits(enum ptx_type t)
{
    return t == PTX_TYPE_F64         ? 64
           : is_half(t)              ? 16
           : is_int8(t) || is_fp8(t) ? 8
           : is_int4(t)              ? 4
                                     : 32;
}
static unsigned per_register(enum ptx_type t)
{
    return t == PTX_TYPE_F64 ? 1 : 32 / element_bits(t);
}

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
    unsigned bits = element_bits(t);
    if (bits == 64)
        return SLOT(lane_u64, w, list[1 + r])[lane];
    uint32_t word = SLOT(lane_u32, w, list[1 + r])[lane];
    return bits == 32 ? word : word >> (bits * i) & ((1u << bits) - 1);
}
static void fragment_put(struct warp *w, const uint32_t *list, enum ptx_type t, unsigned lane,
                         unsigned r, unsigned i, uint64_t value)
{
    unsigned bits = element_bits(t);
    if (bits == 64) {
        SLOT(lane_u64, w, list[1 + r])[lane] = value;
        return;
    }
    lane_u32 *word = &SLOT(lane_u32, w, list[1 + r])[lane];
    uint32_t mask = bits == 32 ? ~0u : ((1u << bits) - 1) << (bits * i);
    *word = (*word & ~mask) | ((uint32_t)value << (bits * i) & mask);
}

/* ---- layouts of mma: lane = 4 * group + member ---- */
enum matrix { MATRIX_A, MATRIX_B, MATRIX_C };
static void mma_place(enum matrix which, const struct shape *s, unsigned per, unsigned lane,
                      unsigned r, unsigned i, unsigned *row, unsigned *col)
{
    unsigned group = lane >> 2, member = lane & 3;
    switch (which) {
    case MATRIX_A: { /* pairs of registers cover rows g and g + 8 when there are 16 */
        unsigned half = s->m == 16 ? r & 1 : 0, step = s->m == 16 ? r >> 1 : r;
        *row = group + 8 * half;
        *col = member * per + i + step * 4 * per;
        break;
    }
    case MATRIX_B:
        *row = member * per + i + r * 4 * per;
        *col = group;
        break;
    case MATRIX_C: { /* elements in order: (g, 2m), (g, 2m + 1), (g + 8, 2m), ... */
        unsigned n = r * per + i;
        *row = group + 8 * (n >> 1);
        *col = member * 2 + (n & 1);
        break;
    }
    }
}

static void mma_load(const struct warp *w, enum matrix which, const struct shape *s,
                     const uint32_t *list, enum ptx_type t, double *to, unsigned stride)
{
    unsigned per = per_register(t), row, col;
    for (unsigned r = 0; r < list[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            FOR_LANES
            {
                mma_place(which, s, per, lane, r, i, &row, &col);
                to[row * stride + col] = decode(fragment_get(w, list, t, lane, r, i), t);
            }
        }
    }
}

/* d = a b + c in place of c; f64 by fused steps in order of k, as DMMA does. */
static void multiply(const struct shape *s, const double *a, const double *b, double *c)
{
    for (unsigned i = 0; i < s->m; i++) {
        double sum[32] = {0};
        bool f64 = s->d == PTX_TYPE_F64;
        if (f64)
            memcpy(sum, c + i * s->n, s->n * sizeof *sum);
        for (unsigned l = 0; l < s->k; l++) {
            double x = a[i * s->k + l];
            for (unsigned j = 0; j < s->n; j++)
                sum[j] = f64 ? f64_fma(x, b[l * s->n + j], sum[j]) : sum[j] + x * b[l * s->n + j];
        }
        for (unsigned j = 0; j < s->n; j++)
            c[i * s->n + j] = f64 ? sum[j] : c[i * s->n + j] + sum[j];
    }
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
    struct shape s = shape_of(in);
    const uint32_t *extras = w->frame->program->extras, *lists = extras + in->extra;
    double a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[MAX_ELEMENTS];
    if (!converged(w, in, lanes))
        return;
    mma_load(w, MATRIX_A, &s, extras + lists[1], s.a, a, s.k);
    mma_load(w, MATRIX_B, &s, extras + lists[2], s.b, b, s.n);
    mma_load(w, MATRIX_C, &s, extras + lists[3], s.c, c, s.n);
    multiply(&s, a, b, c);
    const uint32_t *d = extras + lists[0];
    unsigned per = per_register(s.d), row, col;
    for (unsigned r = 0; r < d[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            FOR_EACH_LANE(lane, lanes)
            {
                mma_place(MATRIX_C, &s, per, lane, r, i, &row, &col);
                fragment_put(w, d, s.d, lane, r, i, encode(c[row * s.n + col], s.d, in->imm & 4));
            }
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
    unsigned per = per_register(t);
    for (unsigned r = 0; r < list[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            FOR_LANES to[wmma_element(list[0], per, lane, r, i, total)] =
                decode(fragment_get(w, list, t, lane, r, i), t);
        }
    }
}
/* Fragments hold a and b as row-major matrices whatever their layout in memory, so the layouts
 * written in wmma.mma are not looked at. */
static void op_wmma(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct shape s = shape_of(in);
    const uint32_t *extras = w->frame->program->extras, *lists = extras + in->extra;
    double a[MAX_ELEMENTS], b[MAX_ELEMENTS], c[MAX_ELEMENTS];
    if (!converged(w, in, lanes))
        return;
    wmma_load(w, extras + lists[1], s.a, a, s.m * s.k);
    wmma_load(w, extras + lists[2], s.b, b, s.k * s.n);
    wmma_load(w, extras + lists[3], s.c, c, s.m * s.n);
    multiply(&s, a, b, c);
    const uint32_t *d = extras + lists[0];
    unsigned per = per_register(s.d);
    for (unsigned r = 0; r < d[0]; r++) {
        for (unsigned i = 0; i < per; i++) {
            FOR_EACH_LANE(lane, lanes)
            {
                unsigned at = wmma_element(d[0], per, lane, r, i, s.m * s.n);
                fragment_put(w, d, s.d, lane, r, i, encode(c[at], s.d, in->imm & 4));
            }
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
    struct shape s = shape_of(in);
    enum ptx_type t = (enum ptx_type)in->target;
    bool store = in->op == MATRIX_STORE_D, by_column = in->rnd;
    unsigned rows = in->op == MATRIX_LOAD_B ? s.k : s.m, cols = in->op == MATRIX_LOAD_A ? s.k : s.n;
    const uint32_t *list = w->frame->program->extras + in->d;
    unsigned per = per_register(t), bytes = element_bits(t) / 8;
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

/* ---- what lowering accepts ---- */
static bool types_match(const struct shape *s)
{
    if (is_half(s->a))
        return s->a == s->b && s->c == s->d &&
               (s->d == PTX_TYPE_F32 || (s->d == PTX_TYPE_F16 && s->a == PTX_TYPE_F16));
    if (s->a == PTX_TYPE_TF32)
        return s->b == PTX_TYPE_TF32 && s->d == PTX_TYPE_F32 && s->c == PTX_TYPE_F32;
    if (s->a == PTX_TYPE_F64)
        return s->b == PTX_TYPE_F64 && s->d == PTX_TYPE_F64 && s->c == PTX_TYPE_F64;
    if (is_fp8(s->a))
        return is_fp8(s->b) && s->d == PTX_TYPE_F32 && s->c == PTX_TYPE_F32;
    if (is_int8(s->a))
        return is_int8(s->b) && s->d == PTX_TYPE_S32 && s->c == PTX_TYPE_S32;
    if (is_int4(s->a))
        return is_int4(s->b) && s->d == PTX_TYPE_S32 && s->c == PTX_TYPE_S32;
    return false;
}
/* A fragment fits when its registers hold the matrix exactly (mma), or a whole number of times
 * (wmma). */
static bool fits(const uint32_t *list, enum ptx_type t, unsigned elements, bool repeated)
{
    unsigned room = list[0] * per_register(t) * WARP_LANES;
    return repeated ? room >= elements && room % elements == 0 : room == elements;
}
const char *mma_refusal(const struct insn *in, const uint32_t *extras)
{
    struct shape s = shape_of(in);
    if (in->run == exec_op(OP_wmma_move)) {
        enum ptx_type t = (enum ptx_type)in->target;
        unsigned rows = in->op == MATRIX_LOAD_B ? s.k : s.m,
                 cols = in->op == MATRIX_LOAD_A ? s.k : s.n;
        if (element_bits(t) < 8)
            return "wmma of 4-bit elements is not executed";
        return fits(extras + in->d, t, rows * cols, true)
                   ? NULL
                   : "the fragment has another number of registers";
    }
    bool wmma = in->run == exec_op(OP_wmma);
    const uint32_t *lists = extras + in->extra;
    if (!types_match(&s))
        return "this combination of matrix types is not executed";
    if (!wmma && s.m == 8 && is_half(s.a))
        return "mma.m8n8k4 of f16 is not executed";
    bool fit = fits(extras + lists[0], s.d, s.m * s.n, wmma) &&
               fits(extras + lists[1], s.a, s.m * s.k, wmma) &&
               fits(extras + lists[2], s.b, s.k * s.n, wmma) &&
               fits(extras + lists[3], s.c, s.m * s.n, wmma);
    return fit ? NULL : "the fragments have another number of registers";
}

extern op_fn *const exec_mma_ops[OP_COUNT];
op_fn *const exec_mma_ops[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_mma.def"
#undef X
};

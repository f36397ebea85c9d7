/*
 * mma_form.c - which matrix instructions are executed; the others are refused when they are
 * lowered. exec_mma.c executes them. Invariant: a form passes only when its fragments hold its
 * matrices.
 */
#include "mma_form.h"
#include "exec.h"

static bool types_match(const struct mma_shape *s)
{
    if (mma_is_half(s->a))
        return s->a == s->b && s->c == s->d &&
               (s->d == PTX_TYPE_F32 || (s->d == PTX_TYPE_F16 && s->a == PTX_TYPE_F16));
    if (s->a == PTX_TYPE_TF32)
        return s->b == PTX_TYPE_TF32 && s->d == PTX_TYPE_F32 && s->c == PTX_TYPE_F32;
    if (s->a == PTX_TYPE_F64)
        return s->b == PTX_TYPE_F64 && s->d == PTX_TYPE_F64 && s->c == PTX_TYPE_F64;
    if (mma_is_fp8(s->a))
        return mma_is_fp8(s->b) && s->d == PTX_TYPE_F32 && s->c == PTX_TYPE_F32;
    if (mma_is_int8(s->a))
        return mma_is_int8(s->b) && s->d == PTX_TYPE_S32 && s->c == PTX_TYPE_S32;
    if (mma_is_int4(s->a))
        return mma_is_int4(s->b) && s->d == PTX_TYPE_S32 && s->c == PTX_TYPE_S32;
    return false;
}
/* A fragment fits when its registers hold the matrix exactly (mma), or a whole number of times
 * (wmma). */
static bool fits(const uint32_t *list, enum ptx_type t, unsigned elements, bool repeated)
{
    unsigned room = list[0] * mma_per_register(t) * WARP_LANES;
    return repeated ? room >= elements && room % elements == 0 : room == elements;
}
const char *mma_refusal(const struct insn *in, const uint32_t *extras)
{
    struct mma_shape s = mma_shape_of(in);
    if (in->run == exec_op(OP_wmma_move)) {
        enum ptx_type t = (enum ptx_type)in->target;
        unsigned rows = in->op == MATRIX_LOAD_B ? s.k : s.m,
                 cols = in->op == MATRIX_LOAD_A ? s.k : s.n;
        if (mma_bits(t) < 8)
            return "wmma of 4-bit elements is not executed";
        return fits(extras + in->d, t, rows * cols, true)
                   ? NULL
                   : "the fragment has another number of registers";
    }
    bool wmma = in->run == exec_op(OP_wmma);
    const uint32_t *lists = extras + in->extra;
    if (!types_match(&s))
        return "this combination of matrix types is not executed";
    if (!wmma && s.m == 8 && mma_is_half(s.a))
        return "mma.m8n8k4 of f16 is not executed";
    bool fit = fits(extras + lists[0], s.d, s.m * s.n, wmma) &&
               fits(extras + lists[1], s.a, s.m * s.k, wmma) &&
               fits(extras + lists[2], s.b, s.k * s.n, wmma) &&
               fits(extras + lists[3], s.c, s.m * s.n, wmma);
    return fit ? NULL : "the fragments have another number of registers";
}

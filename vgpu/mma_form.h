/*
 * mma_form.h - shapes and element types of matrix instructions, as lowering packs them into an
 * insn. Computes nothing. Invariant: exec_mma.c executes exactly the forms that mma_refusal()
 * passes.
 */
#ifndef VGPU_MMA_FORM_H
#define VGPU_MMA_FORM_H

#include "program.h"

struct mma_shape {
    unsigned m, n, k;
    enum ptx_type d, a, b, c;
};
static inline struct mma_shape mma_shape_of(const struct insn *in)
{
    struct mma_shape s = {in->e & 255,
                          in->e >> 8 & 255,
                          in->e >> 16 & 255,
                          (enum ptx_type)(in->target & 255),
                          (enum ptx_type)(in->target >> 8 & 255),
                          (enum ptx_type)(in->target >> 16 & 255),
                          (enum ptx_type)(in->target >> 24)};
    return s;
}

static inline bool mma_is_int8(enum ptx_type t) { return t == PTX_TYPE_S8 || t == PTX_TYPE_U8; }
static inline bool mma_is_int4(enum ptx_type t) { return t == PTX_TYPE_S4 || t == PTX_TYPE_U4; }
static inline bool mma_is_fp8(enum ptx_type t) { return t == PTX_TYPE_E4M3 || t == PTX_TYPE_E5M2; }
static inline bool mma_is_half(enum ptx_type t) { return t == PTX_TYPE_F16 || t == PTX_TYPE_BF16; }
static inline unsigned mma_bits(enum ptx_type t)
{
    return t == PTX_TYPE_F64                 ? 64
           : mma_is_half(t)                  ? 16
           : mma_is_int8(t) || mma_is_fp8(t) ? 8
           : mma_is_int4(t)                  ? 4
                                             : 32;
}
static inline unsigned mma_per_register(enum ptx_type t)
{
    return t == PTX_TYPE_F64 ? 1 : 32 / mma_bits(t);
}

/* Why the matrix instruction with this shape, these types and fragment sizes is not executed; NULL
 * when it is. */
const char *mma_refusal(const struct insn *in, const uint32_t *extras);

#endif

/*
 * kit.c - see kit.h. The PTX below is written for compute_75 and PTX ISA 6.4, which every driver
 * that runs CUDA 12 or later accepts. Not for solutions: no name in it is exported to them.
 * Invariant: indices are 64 bits wide; sweeps touch whole units only, so their loops need no tail.
 */
#include "kit.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define BLOCK         512u /* threads a block */
#define BLOCKS_PER_SM 4u   /* 2,048 threads: a full SM */
#define UNROLL        4u   /* 16-byte accesses in flight a thread; fixed in the PTX */

/* The prologue of a grid-stride loop: %rd0 = global thread index, %rd1 = number of threads. */
#define INDEX                                                                                      \
    "    mov.u32 %r0, %ntid.x;\n"                                                                  \
    "    mov.u32 %r1, %ctaid.x;\n"                                                                 \
    "    mov.u32 %r2, %tid.x;\n"                                                                   \
    "    mov.u32 %r3, %nctaid.x;\n"                                                                \
    "    mul.wide.u32 %rd0, %r1, %r0;\n"                                                           \
    "    cvt.u64.u32 %rd2, %r2;\n"                                                                 \
    "    add.u64 %rd0, %rd0, %rd2;\n"                                                              \
    "    mul.wide.u32 %rd1, %r3, %r0;\n"

/* %r8 = bits of the source element times 2^e: unchanged where it is a NaN or `raw` is set. */
#define SCALED                                                                                     \
    "    mov.b32 %f1, %r4;\n"                                                                      \
    "    mul.rn.f32 %f2, %f1, %f0;\n"                                                              \
    "    setp.nan.f32 %p1, %f1, %f1;\n"                                                            \
    "    or.pred %p1, %p1, %p0;\n"                                                                 \
    "    mov.b32 %r5, %f2;\n"                                                                      \
    "    selp.b32 %r8, %r4, %r5, %p1;\n"

#define REGISTERS                                                                                  \
    "    .reg .pred %p<4>;\n"                                                                      \
    "    .reg .f32 %f<4>;\n"                                                                       \
    "    .reg .b32 %r<32>;\n"                                                                      \
    "    .reg .b64 %rd<16>;\n"

/* One string a kernel: ISO C promises no longer ones. */
static const char *const ptx_parts[] = {
    ".version 6.4\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".visible .entry kit_empty()\n"
    "{\n"
    "    ret;\n"
    "}\n",
    "// dst[i] = src[i] * factor\n"
    ".visible .entry kit_scale(.param .u64 dst, .param .u64 src, .param .u64 count,\n"
    "                          .param .f32 factor, .param .u32 raw)\n"
    "{\n" REGISTERS INDEX "    ld.param.u64 %rd3, [dst];\n"
    "    ld.param.u64 %rd4, [src];\n"
    "    ld.param.u64 %rd5, [count];\n"
    "    ld.param.f32 %f0, [factor];\n"
    "    ld.param.u32 %r6, [raw];\n"
    "    setp.ne.u32 %p0, %r6, 0;\n"
    "    cvta.to.global.u64 %rd3, %rd3;\n"
    "    cvta.to.global.u64 %rd4, %rd4;\n"
    "next:\n"
    "    setp.ge.u64 %p2, %rd0, %rd5;\n"
    "    @%p2 bra done;\n"
    "    shl.b64 %rd6, %rd0, 2;\n"
    "    add.u64 %rd7, %rd4, %rd6;\n"
    "    ld.global.u32 %r4, [%rd7];\n" SCALED "    add.u64 %rd8, %rd3, %rd6;\n"
    "    st.global.u32 [%rd8], %r8;\n"
    "    add.u64 %rd0, %rd0, %rd1;\n"
    "    bra next;\n"
    "done:\n"
    "    ret;\n"
    "}\n",
    "// results[0] += 1 and results[1] = min(results[1], i) where data[i] != src[i] * factor\n"
    ".visible .entry kit_differ(.param .u64 data, .param .u64 src, .param .u64 count,\n"
    "                           .param .f32 factor, .param .u32 raw, .param .u64 results)\n"
    "{\n" REGISTERS INDEX "    ld.param.u64 %rd3, [data];\n"
    "    ld.param.u64 %rd4, [src];\n"
    "    ld.param.u64 %rd5, [count];\n"
    "    ld.param.f32 %f0, [factor];\n"
    "    ld.param.u32 %r6, [raw];\n"
    "    ld.param.u64 %rd9, [results];\n"
    "    setp.ne.u32 %p0, %r6, 0;\n"
    "    cvta.to.global.u64 %rd3, %rd3;\n"
    "    cvta.to.global.u64 %rd4, %rd4;\n"
    "    cvta.to.global.u64 %rd9, %rd9;\n"
    "next:\n"
    "    setp.ge.u64 %p2, %rd0, %rd5;\n"
    "    @%p2 bra done;\n"
    "    shl.b64 %rd6, %rd0, 2;\n"
    "    add.u64 %rd7, %rd4, %rd6;\n"
    "    ld.global.u32 %r4, [%rd7];\n" SCALED "    add.u64 %rd8, %rd3, %rd6;\n"
    "    ld.global.u32 %r9, [%rd8];\n"
    "    setp.eq.u32 %p3, %r8, %r9;\n"
    "    @%p3 bra same;\n"
    "    red.global.add.u64 [%rd9], 1;\n"
    "    red.global.min.u64 [%rd9+8], %rd0;\n"
    "same:\n"
    "    add.u64 %rd0, %rd0, %rd1;\n"
    "    bra next;\n"
    "done:\n"
    "    ret;\n"
    "}\n",
    "// results[0] += sum of mix(i, key, data[i] * factor), record_digest() in C\n"
    ".visible .entry kit_digest(.param .u64 data, .param .u64 count, .param .f32 factor,\n"
    "                           .param .u32 raw, .param .u32 is_float, .param .u64 key,\n"
    "                           .param .u64 results)\n"
    "{\n" REGISTERS INDEX "    ld.param.u64 %rd3, [data];\n"
    "    ld.param.u64 %rd5, [count];\n"
    "    ld.param.f32 %f0, [factor];\n"
    "    ld.param.u32 %r6, [raw];\n"
    "    ld.param.u32 %r7, [is_float];\n"
    "    ld.param.u64 %rd10, [key];\n"
    "    ld.param.u64 %rd9, [results];\n"
    "    setp.ne.u32 %p0, %r6, 0;\n"
    "    cvta.to.global.u64 %rd3, %rd3;\n"
    "    cvta.to.global.u64 %rd9, %rd9;\n"
    "    mov.u64 %rd11, 0;\n"
    "next:\n"
    "    setp.ge.u64 %p2, %rd0, %rd5;\n"
    "    @%p2 bra done;\n"
    "    shl.b64 %rd6, %rd0, 2;\n"
    "    add.u64 %rd7, %rd3, %rd6;\n"
    "    ld.global.u32 %r4, [%rd7];\n" SCALED "    setp.eq.u32 %p2, %r8, 0x80000000;\n"
    "    setp.ne.u32 %p3, %r7, 0;\n"
    "    and.pred %p3, %p3, %p2;\n"
    "    selp.b32 %r8, 0, %r8, %p3;\n"
    "    mul.lo.u64 %rd12, %rd0, 0x9e3779b97f4a7c15;\n"
    "    cvt.u64.u32 %rd13, %r8;\n"
    "    add.u64 %rd12, %rd12, %rd13;\n"
    "    add.u64 %rd12, %rd12, %rd10;\n"
    "    shr.u64 %rd13, %rd12, 30;\n"
    "    xor.b64 %rd12, %rd12, %rd13;\n"
    "    mul.lo.u64 %rd12, %rd12, 0xbf58476d1ce4e5b9;\n"
    "    shr.u64 %rd13, %rd12, 27;\n"
    "    xor.b64 %rd12, %rd12, %rd13;\n"
    "    mul.lo.u64 %rd12, %rd12, 0x94d049bb133111eb;\n"
    "    shr.u64 %rd13, %rd12, 31;\n"
    "    xor.b64 %rd12, %rd12, %rd13;\n"
    "    add.u64 %rd11, %rd11, %rd12;\n"
    "    add.u64 %rd0, %rd0, %rd1;\n"
    "    bra next;\n"
    "done:\n"
    "    setp.eq.u64 %p1, %rd11, 0;\n" /* threads beyond the data have nothing to add */
    "    @%p1 bra quiet;\n"
    "    red.global.add.u64 [%rd9], %rd11;\n"
    "quiet:\n"
    "    ret;\n"
    "}\n",
    "// reads `rounds` times four 16-byte words a thread\n"
    ".visible .entry kit_read(.param .u64 data, .param .u64 rounds, .param .u64 results)\n"
    "{\n" REGISTERS INDEX "    ld.param.u64 %rd3, [data];\n"
    "    ld.param.u64 %rd4, [rounds];\n"
    "    ld.param.u64 %rd9, [results];\n"
    "    cvta.to.global.u64 %rd3, %rd3;\n"
    "    cvta.to.global.u64 %rd9, %rd9;\n"
    "    shl.b64 %rd0, %rd0, 4;\n"
    "    shl.b64 %rd1, %rd1, 4;\n"
    "    add.u64 %rd3, %rd3, %rd0;\n"
    "    mov.u32 %r4, 0;\n"
    "next:\n"
    "    setp.eq.u64 %p0, %rd4, 0;\n"
    "    @%p0 bra done;\n"
    "    add.u64 %rd5, %rd3, %rd1;\n"
    "    add.u64 %rd6, %rd5, %rd1;\n"
    "    add.u64 %rd7, %rd6, %rd1;\n"
    "    ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd3];\n"
    "    ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd5];\n"
    "    ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%rd6];\n"
    "    ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd7];\n"
    "    xor.b32 %r8, %r8, %r9;\n"
    "    xor.b32 %r10, %r10, %r11;\n"
    "    xor.b32 %r12, %r12, %r13;\n"
    "    xor.b32 %r14, %r14, %r15;\n"
    "    xor.b32 %r16, %r16, %r17;\n"
    "    xor.b32 %r18, %r18, %r19;\n"
    "    xor.b32 %r20, %r20, %r21;\n"
    "    xor.b32 %r22, %r22, %r23;\n"
    "    xor.b32 %r8, %r8, %r10;\n"
    "    xor.b32 %r12, %r12, %r14;\n"
    "    xor.b32 %r16, %r16, %r18;\n"
    "    xor.b32 %r20, %r20, %r22;\n"
    "    xor.b32 %r8, %r8, %r12;\n"
    "    xor.b32 %r16, %r16, %r20;\n"
    "    xor.b32 %r8, %r8, %r16;\n"
    "    xor.b32 %r4, %r4, %r8;\n"
    "    add.u64 %rd3, %rd7, %rd1;\n"
    "    sub.u64 %rd4, %rd4, 1;\n"
    "    bra next;\n"
    "done:\n"
    "    setp.ne.u32 %p1, %r4, 0x9e3779b9;\n"
    "    @%p1 bra quiet;\n"
    "    st.global.u32 [%rd9+16], %r4;\n" /* rarely; keeps the loads */
    "quiet:\n"
    "    ret;\n"
    "}\n",
    "// writes zeros\n"
    ".visible .entry kit_write(.param .u64 data, .param .u64 rounds)\n"
    "{\n" REGISTERS INDEX "    ld.param.u64 %rd3, [data];\n"
    "    ld.param.u64 %rd4, [rounds];\n"
    "    cvta.to.global.u64 %rd3, %rd3;\n"
    "    shl.b64 %rd0, %rd0, 4;\n"
    "    shl.b64 %rd1, %rd1, 4;\n"
    "    add.u64 %rd3, %rd3, %rd0;\n"
    "    mov.u32 %r4, 0;\n"
    "next:\n"
    "    setp.eq.u64 %p0, %rd4, 0;\n"
    "    @%p0 bra done;\n"
    "    add.u64 %rd5, %rd3, %rd1;\n"
    "    add.u64 %rd6, %rd5, %rd1;\n"
    "    add.u64 %rd7, %rd6, %rd1;\n"
    "    st.global.v4.u32 [%rd3], {%r4, %r4, %r4, %r4};\n"
    "    st.global.v4.u32 [%rd5], {%r4, %r4, %r4, %r4};\n"
    "    st.global.v4.u32 [%rd6], {%r4, %r4, %r4, %r4};\n"
    "    st.global.v4.u32 [%rd7], {%r4, %r4, %r4, %r4};\n"
    "    add.u64 %rd3, %rd7, %rd1;\n"
    "    sub.u64 %rd4, %rd4, 1;\n"
    "    bra next;\n"
    "done:\n"
    "    ret;\n"
    "}\n",
    "// dst = src\n"
    ".visible .entry kit_copy(.param .u64 dst, .param .u64 src, .param .u64 rounds)\n"
    "{\n" REGISTERS INDEX "    ld.param.u64 %rd3, [src];\n"
    "    ld.param.u64 %rd8, [dst];\n"
    "    ld.param.u64 %rd4, [rounds];\n"
    "    cvta.to.global.u64 %rd3, %rd3;\n"
    "    cvta.to.global.u64 %rd8, %rd8;\n"
    "    shl.b64 %rd0, %rd0, 4;\n"
    "    shl.b64 %rd1, %rd1, 4;\n"
    "    add.u64 %rd3, %rd3, %rd0;\n"
    "    add.u64 %rd8, %rd8, %rd0;\n"
    "next:\n"
    "    setp.eq.u64 %p0, %rd4, 0;\n"
    "    @%p0 bra done;\n"
    "    add.u64 %rd5, %rd3, %rd1;\n"
    "    add.u64 %rd6, %rd5, %rd1;\n"
    "    add.u64 %rd7, %rd6, %rd1;\n"
    "    add.u64 %rd9, %rd8, %rd1;\n"
    "    add.u64 %rd10, %rd9, %rd1;\n"
    "    add.u64 %rd11, %rd10, %rd1;\n"
    "    ld.global.v4.u32 {%r8, %r9, %r10, %r11}, [%rd3];\n"
    "    ld.global.v4.u32 {%r12, %r13, %r14, %r15}, [%rd5];\n"
    "    ld.global.v4.u32 {%r16, %r17, %r18, %r19}, [%rd6];\n"
    "    ld.global.v4.u32 {%r20, %r21, %r22, %r23}, [%rd7];\n"
    "    st.global.v4.u32 [%rd8], {%r8, %r9, %r10, %r11};\n"
    "    st.global.v4.u32 [%rd9], {%r12, %r13, %r14, %r15};\n"
    "    st.global.v4.u32 [%rd10], {%r16, %r17, %r18, %r19};\n"
    "    st.global.v4.u32 [%rd11], {%r20, %r21, %r22, %r23};\n"
    "    add.u64 %rd3, %rd7, %rd1;\n"
    "    add.u64 %rd8, %rd11, %rd1;\n"
    "    sub.u64 %rd4, %rd4, 1;\n"
    "    bra next;\n"
    "done:\n"
    "    ret;\n"
    "}\n",
};

static const char *const kernel_names[KIT_COUNT] = {
    [KIT_EMPTY] = "kit_empty",   [KIT_SCALE] = "kit_scale", [KIT_DIFFER] = "kit_differ",
    [KIT_DIGEST] = "kit_digest", [KIT_READ] = "kit_read",   [KIT_WRITE] = "kit_write",
    [KIT_COPY] = "kit_copy",
};

void kit_ptx(char text[KIT_PTX_SIZE])
{
    size_t len = 0;

    for (size_t i = 0; i < sizeof ptx_parts / sizeof *ptx_parts; i++) {
        const size_t n = strlen(ptx_parts[i]);
        assert(len + n < KIT_PTX_SIZE);
        memcpy(text + len, ptx_parts[i], n + 1);
        len += n;
    }
}

static cudaError_t launch(const struct kit *kit, enum kit_kernel k, unsigned blocks,
                          unsigned threads, void **args)
{
    const dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};

    return kit->lib->cudaLaunchKernel((const void *)kit->kernels[k], grid, block, args, 0, NULL);
}

bool kit_handles(enum record_type type, int exponent)
{
    if (type == RECORD_F32)
        return exponent >= -126 && exponent <= 127; /* 2^exponent is a normal f32 */
    return type == RECORD_I32 || type == RECORD_U32;
}

cudaError_t kit_scale(const struct kit *kit, void *dst, const void *src, enum record_type type,
                      uint64_t count, int exponent)
{
    unsigned raw = type != RECORD_F32 || exponent == 0;
    float factor = raw ? 1.0f : ldexpf(1.0f, exponent);
    void *args[] = {&dst, &src, &count, &factor, &raw};

    return launch(kit, KIT_SCALE, kit->blocks, BLOCK, args);
}

cudaError_t kit_differ(const struct kit *kit, const void *data, const void *src,
                       enum record_type type, uint64_t count, int exponent, uint64_t *differing,
                       uint64_t *first)
{
    unsigned raw = type != RECORD_F32 || exponent == 0;
    float factor = raw ? 1.0f : ldexpf(1.0f, exponent);
    uint64_t found[2] = {0, UINT64_MAX};
    void *results = kit->results;
    void *args[] = {&data, &src, &count, &factor, &raw, &results};
    cudaError_t e;

    e = kit->lib->cudaMemcpy(kit->results, found, sizeof found, cudaMemcpyHostToDevice);
    if (e == cudaSuccess)
        e = launch(kit, KIT_DIFFER, kit->blocks, BLOCK, args);
    if (e == cudaSuccess)
        e = kit->lib->cudaMemcpy(found, kit->results, sizeof found, cudaMemcpyDeviceToHost);
    if (e != cudaSuccess)
        return e;
    *differing = found[0];
    if (found[0] != 0)
        *first = found[1];
    return cudaSuccess;
}

cudaError_t kit_digest(const struct kit *kit, const void *data, enum record_type type,
                       uint64_t count, int exponent, uint64_t key, uint64_t *digest)
{
    unsigned is_float = type == RECORD_F32, raw = !is_float || exponent == 0;
    float factor = raw ? 1.0f : ldexpf(1.0f, -exponent);
    uint64_t sum = 0;
    void *results = kit->results;
    void *args[] = {&data, &count, &factor, &raw, &is_float, &key, &results};
    cudaError_t e = kit->lib->cudaMemcpy(kit->results, &sum, sizeof sum, cudaMemcpyHostToDevice);

    if (e == cudaSuccess)
        e = launch(kit, KIT_DIGEST, kit->blocks, BLOCK, args);
    if (e == cudaSuccess)
        e = kit->lib->cudaMemcpy(digest, kit->results, sizeof *digest, cudaMemcpyDeviceToHost);
    return e;
}

uint64_t kit_unit(const struct kit *kit) { return (uint64_t)kit->blocks * BLOCK * UNROLL * 16; }

cudaError_t kit_read(const struct kit *kit, const void *data, uint64_t bytes)
{
    uint64_t rounds = bytes / kit_unit(kit);
    void *results = kit->results;
    void *args[] = {&data, &rounds, &results};

    return launch(kit, KIT_READ, kit->blocks, BLOCK, args);
}

cudaError_t kit_write(const struct kit *kit, void *data, uint64_t bytes)
{
    uint64_t rounds = bytes / kit_unit(kit);
    void *args[] = {&data, &rounds};

    return launch(kit, KIT_WRITE, kit->blocks, BLOCK, args);
}

cudaError_t kit_copy(const struct kit *kit, void *dst, const void *src, uint64_t bytes)
{
    uint64_t rounds = bytes / kit_unit(kit);
    void *args[] = {&dst, &src, &rounds};

    return launch(kit, KIT_COPY, kit->blocks, BLOCK, args);
}

cudaError_t kit_empty(const struct kit *kit) { return launch(kit, KIT_EMPTY, 1, 1, NULL); }

/* ---- self-test ---- */

#define TEST_COUNT   1000u
#define TEST_CHANGED 777u
#define TEST_KEY     UINT64_C(0xfedcba9876543210)

/* Scales 1,000 numbers with a NaN and a zero among them, compares them, changes one, compares
 * again, and takes digests before and after scaling; sweeps are checked by copying. */
static bool self_test(struct kit *kit, uint32_t *device, char *text, size_t size)
{
    const struct cudalib *lib = kit->lib;
    uint32_t words[TEST_COUNT], back[TEST_COUNT];
    uint32_t *scaled = device + TEST_COUNT;
    uint64_t differing[2] = {1, 0}, first = 0, digests[2] = {0, 0};
    bool same = true;

    for (uint32_t i = 0; i < TEST_COUNT; i++) {
        const float f = (float)i * 0.5f;
        memcpy(&words[i], &f, sizeof f);
    }
    words[3] = 0x7fa5a5a5u; /* a signalling NaN must come through unchanged */
    words[4] = 0x80000000u;
    if (!cudalib_ok(lib, lib->cudaMemcpy(device, words, sizeof words, cudaMemcpyHostToDevice),
                    "kit: cudaMemcpy", text, size) ||
        !cudalib_ok(lib, kit_scale(kit, scaled, device, RECORD_F32, TEST_COUNT, 3), "kit_scale",
                    text, size) ||
        !cudalib_ok(
            lib, kit_differ(kit, scaled, device, RECORD_F32, TEST_COUNT, 3, &differing[0], &first),
            "kit_differ", text, size) ||
        !cudalib_ok(lib, lib->cudaMemcpy(back, scaled, sizeof back, cudaMemcpyDeviceToHost),
                    "kit: cudaMemcpy", text, size) ||
        !cudalib_ok(lib, kit_digest(kit, scaled, RECORD_F32, TEST_COUNT, 3, TEST_KEY, &digests[0]),
                    "kit_digest", text, size) ||
        !cudalib_ok(lib, kit_digest(kit, device, RECORD_U32, TEST_COUNT, 0, TEST_KEY, &digests[1]),
                    "kit_digest", text, size) ||
        !cudalib_ok(lib, lib->cudaMemset(scaled + TEST_CHANGED, 0, sizeof(uint32_t)),
                    "kit: cudaMemset", text, size) ||
        !cudalib_ok(
            lib, kit_differ(kit, scaled, device, RECORD_F32, TEST_COUNT, 3, &differing[1], &first),
            "kit_differ", text, size) ||
        !cudalib_ok(lib, kit_empty(kit), "kit_empty", text, size) ||
        !cudalib_ok(lib, lib->cudaDeviceSynchronize(), "kit: cudaDeviceSynchronize", text, size))
        return false;
    for (uint32_t i = 0; i < TEST_COUNT; i++) {
        const float f = (float)i * 4.0f;
        uint32_t want;
        memcpy(&want, &f, sizeof f);
        same = same && back[i] == (i == 3 || i == 4 ? words[i] : want);
    }
    same = same && digests[0] == record_digest(RECORD_F32, words, 0, TEST_COUNT, 0, TEST_KEY) &&
           digests[1] == record_digest(RECORD_U32, words, 0, TEST_COUNT, 0, TEST_KEY);
    if (same && differing[0] == 0 && differing[1] == 1 && first == TEST_CHANGED)
        return true;
    snprintf(text, size, "self-test of the runner's kernels: wrong results");
    return false;
}

/* Writes, copies and reads two units of sweep memory. */
static bool sweep_test(struct kit *kit, char *text, size_t size)
{
    const struct cudalib *lib = kit->lib;
    const uint64_t unit = kit_unit(kit);
    unsigned char *memory = NULL, ends[2] = {1, 1};
    bool fine;

    if (!cudalib_ok(lib, lib->cudaMalloc((void **)&memory, 2 * unit), "kit: cudaMalloc", text,
                    size))
        return false;
    fine =
        cudalib_ok(lib, lib->cudaMemset(memory, 0x5a, 2 * unit), "kit: cudaMemset", text, size) &&
        cudalib_ok(lib, kit_write(kit, memory, unit), "kit_write", text, size) &&
        cudalib_ok(lib, kit_copy(kit, memory + unit, memory, unit), "kit_copy", text, size) &&
        cudalib_ok(lib, kit_read(kit, memory, 2 * unit), "kit_read", text, size) &&
        cudalib_ok(lib, lib->cudaMemcpy(&ends[0], memory + unit, 1, cudaMemcpyDeviceToHost),
                   "kit: cudaMemcpy", text, size) &&
        cudalib_ok(lib, lib->cudaMemcpy(&ends[1], memory + 2 * unit - 1, 1, cudaMemcpyDeviceToHost),
                   "kit: cudaMemcpy", text, size);
    if (fine && (ends[0] != 0 || ends[1] != 0)) {
        snprintf(text, size, "self-test of the runner's sweeps: wrong results");
        fine = false;
    }
    return cudalib_ok(lib, lib->cudaFree(memory), "kit: cudaFree", text, size) && fine;
}

bool kit_open(struct kit *kit, const struct cudalib *lib, unsigned sm_count, char *text,
              size_t size)
{
    char ptx[KIT_PTX_SIZE];
    uint32_t *device = NULL;

    kit_ptx(ptx);
    memset(kit, 0, sizeof *kit);
    kit->lib = lib;
    kit->blocks = sm_count * BLOCKS_PER_SM;
    if (lib->cudaLibraryLoadData == NULL || lib->cudaLibraryGetKernel == NULL ||
        lib->cudaLaunchKernel == NULL || sm_count == 0) {
        snprintf(text, size, "this CUDA runtime cannot load PTX text (12.1 or later can)");
        return false;
    }
    if (!cudalib_ok(lib, lib->cudaLibraryLoadData(&kit->library, ptx, NULL, NULL, 0, NULL, NULL, 0),
                    "cudaLibraryLoadData", text, size))
        return false;
    for (unsigned k = 0; k < KIT_COUNT; k++)
        if (!cudalib_ok(lib,
                        lib->cudaLibraryGetKernel(&kit->kernels[k], kit->library, kernel_names[k]),
                        "cudaLibraryGetKernel", text, size))
            return false;
    /* 64 bytes of results, then the two arrays of the self-test. */
    if (!cudalib_ok(lib, lib->cudaMalloc((void **)&device, 64 + 2 * TEST_COUNT * sizeof *device),
                    "kit: cudaMalloc", text, size))
        return false;
    kit->results = (uint64_t *)(void *)device;
    return self_test(kit, device + 16, text, size) && sweep_test(kit, text, size);
}

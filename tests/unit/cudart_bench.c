/*
 * cudart_bench.c - the kernels as PTX text and the helpers of the API tests.
 * Checks no API function by itself. Invariant: the text uses instructions that every GPU from sm_75
 * on has.
 */
#include "cudart_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const char text[] =
    ".version 8.0\n"
    ".target sm_75\n"
    ".address_size 64\n"
    ".global .align 4 .u32 counter = 7;\n"
    ".const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n"
    ".extern .shared .align 4 .b8 dynamic[];\n"
    ".visible .entry fill(.param .u64 p, .param .u32 n, .param .u32 v)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<7>; .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n]; ld.param.u32 %r2, [v];\n"
    "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.s32 %p1, %r6, %r1;\n"
    "  @%p1 ret;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mul.wide.s32 %rd3, %r6, 4;\n"
    "  add.s64 %rd4, %rd2, %rd3;\n"
    "  st.global.u32 [%rd4], %r2;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry add_one(.param .u64 p, .param .u32 n)\n"
    "{\n"
    "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5;\n"
    "  setp.ge.s32 %p1, %r6, %r1;\n"
    "  @%p1 ret;\n"
    "  cvta.to.global.u64 %rd2, %rd1;\n"
    "  mul.wide.s32 %rd3, %r6, 4;\n"
    "  add.s64 %rd4, %rd2, %rd3;\n"
    "  ld.global.u32 %r7, [%rd4];\n"
    "  add.s32 %r7, %r7, 1;\n"
    "  st.global.u32 [%rd4], %r7;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry copy_dynamic(.param .u64 p)\n"
    "{\n"
    "  .reg .b32 %r<5>; .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [p];\n"
    "  mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, dynamic; add.s32 %r3, %r3, %r2;\n"
    "  st.shared.u32 [%r3], %r1;\n"
    "  bar.sync 0;\n"
    "  ld.shared.u32 %r4, [%r3];\n"
    "  cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r1, 4; add.s64 %rd4, %rd2, %rd3;\n"
    "  st.global.u32 [%rd4], %r4;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry trap_now()\n"
    "{\n"
    "  trap;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry read_at(.param .u64 p, .param .u64 q)\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q];\n"
    "  ld.u32 %r1, [%rd1];\n"
    "  st.u32 [%rd2], %r1;\n"
    "  ret;\n"
    "}\n"
    ".visible .entry bounded() .maxntid 64, 1, 1\n"
    "{\n"
    "  ret;\n"
    "}\n"
    ".visible .entry fixed(.param .u64 p) .reqntid 32, 1, 1\n"
    "{\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, 1; st.global.u32 "
    "[%rd2], %r1;\n"
    "  ret;\n"
    "}\n";

static cudaLibrary_t library;

void bench_expect(cudaError_t got, cudaError_t want, const char *call, const char *file, int line)
{
    if (got == want)
        return;
    print_error("%s\n  returned %d %s, expected %d %s\n", call, (int)got, cudaGetErrorName(got),
                (int)want, cudaGetErrorName(want));
    _fail(file, line);
}

cudaKernel_t bench_kernel(const char *name)
{
    cudaKernel_t kernel = NULL;

    if (!library)
        OK(cudaLibraryLoadData(&library, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernel(&kernel, library, name));
    return kernel;
}

void bench_unload(void)
{
    if (library)
        OK(cudaLibraryUnload(library));
    library = NULL;
}

bool bench_is_virtual(void)
{
    struct cudaDeviceProp p;

    OK(cudaGetDeviceProperties(&p, 0));
    return strstr(p.name, "virtual") != NULL;
}

cudaError_t bench_launch(const char *name, unsigned blocks, unsigned threads, size_t shared,
                         cudaStream_t stream, void **args)
{
    const dim3 grid = {blocks, 1, 1}, block = {threads, 1, 1};
    const void *kernel = bench_kernel(name);

    return cudaLaunchKernel(kernel, grid, block, args, shared, stream);
}

static unsigned blocks_for(int n) { return (unsigned)(n + 127) / 128; }

cudaError_t bench_fill(int *p, int n, int v, cudaStream_t stream)
{
    void *args[] = {&p, &n, &v};

    return bench_launch("fill", blocks_for(n), 128, 0, stream, args);
}

cudaError_t bench_add_one(int *p, int n, cudaStream_t stream)
{
    void *args[] = {&p, &n};

    return bench_launch("add_one", blocks_for(n), 128, 0, stream, args);
}

void bench_all(const int *device, int n, int v)
{
    for (int at = 0; at < n; at += 256) {
        int host[256];
        const int count = n - at < 256 ? n - at : 256;
        OK(cudaMemcpy(host, device + at, sizeof(int) * (size_t)count, cudaMemcpyDeviceToHost));
        for (int i = 0; i < count; i++)
            assert_int_equal(host[i], v);
    }
}

/*
 * test_cudart_launch.c - launches, their configurations, kernel attributes, occupancy, libraries.
 * Runs with the virtual GPU's library and with the real one. Invariant: no test leaves a sticky
 * error.
 */
#include "cudart_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int *ints;

static int setup(void **state)
{
    (void)state;
    return cudaMalloc((void **)&ints, 4096 * sizeof(int)) == cudaSuccess ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    bench_unload();
    return cudaFree(ints) == cudaSuccess ? 0 : -1;
}

static void test_runs(void **state)
{
    (void)state;
    OK(bench_fill(ints, 1000, 42, NULL));
    OK(bench_add_one(ints, 999, NULL));
    bench_all(ints, 999, 43);
    bench_all(ints + 999, 1, 42);
}

static cudaError_t launch_bounded(dim3 grid, dim3 block)
{
    return cudaLaunchKernel(bench_kernel("bounded"), grid, block, NULL, 0, NULL);
}

static void test_dimensions(void **state)
{
    (void)state; /* kernels of a library: generated code gets cudaErrorInvalidConfiguration */
    OK(launch_bounded((dim3){1, 65535, 1}, (dim3){1, 1, 1}));
    EXPECT(cudaErrorInvalidValue, launch_bounded((dim3){0, 1, 1}, (dim3){1, 1, 1}));
    EXPECT(cudaErrorInvalidValue, launch_bounded((dim3){1, 1, 1}, (dim3){1, 0, 1}));
    EXPECT(cudaErrorInvalidValue, launch_bounded((dim3){1, 65536, 1}, (dim3){1, 1, 1}));
    EXPECT(cudaErrorInvalidValue, launch_bounded((dim3){1, 1, 1}, (dim3){1, 1, 65}));
    EXPECT(cudaErrorInvalidValue, launch_bounded((dim3){1, 1, 1}, (dim3){1025, 1, 1}));
    EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    OK(cudaGetLastError());
}

static void test_bounds(void **state)
{
    (void)state;
    OK(launch_bounded((dim3){1, 1, 1}, (dim3){64, 1, 1}));
    assert_int_not_equal(launch_bounded((dim3){1, 1, 1}, (dim3){65, 1, 1}), cudaSuccess);
    void *args[] = {&ints};
    OK(bench_launch("fixed", 1, 32, 0, NULL, args));
    assert_int_not_equal(bench_launch("fixed", 1, 64, 0, NULL, args), cudaSuccess);
    (void)cudaGetLastError();
    OK(cudaDeviceSynchronize());
}

static void test_unknown_kernel(void **state)
{
    static const int not_a_kernel = 0;
    const dim3 one = {1, 1, 1};

    (void)state;
    EXPECT(cudaErrorInvalidResourceHandle,
           cudaLaunchKernel(&not_a_kernel, one, one, NULL, 0, NULL));
    EXPECT(cudaErrorInvalidDeviceFunction, cudaLaunchKernel(NULL, one, one, NULL, 0, NULL));
    (void)cudaGetLastError();
}

static void test_dynamic_shared(void **state)
{
    void *args[] = {&ints};
    const size_t large = 100 * 1024;
    const void *kernel = bench_kernel("copy_dynamic");
    struct cudaFuncAttributes a;

    (void)state;
    OK(bench_launch("copy_dynamic", 1, 256, 1024, NULL, args));
    OK(cudaDeviceSynchronize());
    EXPECT(cudaErrorInvalidValue, bench_launch("copy_dynamic", 1, 256, large, NULL, args));
    OK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)large));
    OK(bench_launch("copy_dynamic", 1, 256, large, NULL, args));
    OK(cudaFuncGetAttributes(&a, kernel));
    assert_int_equal(a.maxDynamicSharedSizeBytes, (int)large);
    EXPECT(cudaErrorInvalidValue,
           cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 1 << 20));
    (void)cudaGetLastError();
    OK(cudaDeviceSynchronize());
}

static void test_attributes(void **state)
{
    struct cudaFuncAttributes a;

    (void)state;
    OK(cudaFuncGetAttributes(&a, bench_kernel("bounded")));
    assert_int_equal(a.maxThreadsPerBlock, 64);
    assert_int_equal(a.sharedSizeBytes, 0);
    OK(cudaFuncGetAttributes(&a, bench_kernel("fill")));
    assert_int_equal(a.maxThreadsPerBlock, 1024);
    assert_true(a.numRegs > 0);
}

static void test_parameters(void **state)
{
    size_t offset = 0, size = 0;
    const void *kernel = bench_kernel("fill");

    (void)state;
    OK(cudaFuncGetParamInfo(kernel, 2, &offset, &size));
    assert_int_equal(offset, 12);
    assert_int_equal(size, 4);
    EXPECT(cudaErrorInvalidValue, cudaFuncGetParamInfo(kernel, 3, &offset, &size));
    (void)cudaGetLastError();
}

static void test_occupancy(void **state)
{
    int blocks = 0;
    size_t shared = 0;
    const void *kernel = bench_kernel("copy_dynamic");

    (void)state;
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 1024, 0));
    assert_in_range(blocks, 1, 2);
    OK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 128, 48 * 1024));
    assert_in_range(blocks, 1, 4); /* shared memory is the limit */
    OK(cudaOccupancyAvailableDynamicSMemPerBlock(&shared, kernel, 1, 128));
    assert_true(shared >= 48 * 1024);
    EXPECT(cudaErrorInvalidValue,
           cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernel, 0, 0));
    (void)cudaGetLastError();
}

static void test_launch_attributes(void **state)
{
    cudaLaunchAttribute attribute = {.id = cudaLaunchAttributeCooperative};
    cudaLaunchConfig_t config = {
        .gridDim = {1, 1, 1}, .blockDim = {128, 1, 1}, .attrs = &attribute, .numAttrs = 1};
    int n = 128, v = 3;
    void *args[] = {&ints, &n, &v};
    const void *kernel = bench_kernel("fill");

    (void)state;
    attribute.val.cooperative = 1;
    OK(cudaLaunchKernelExC(&config, kernel, args));
    bench_all(ints, 128, 3);
    config.gridDim.x = 1000000;
    EXPECT(cudaErrorCooperativeLaunchTooLarge, cudaLaunchKernelExC(&config, kernel, args));
    EXPECT(cudaErrorCooperativeLaunchTooLarge,
           cudaLaunchCooperativeKernel(kernel, config.gridDim, config.blockDim, args, 0, NULL));
    config.gridDim.x = 3;
    attribute.id = cudaLaunchAttributeClusterDimension;
    attribute.val.clusterDim.x = 2;
    attribute.val.clusterDim.y = attribute.val.clusterDim.z = 1;
    if (bench_is_virtual()) /* a cluster must divide the grid; the code of the error differs between
                               drivers */
        EXPECT(cudaErrorInvalidClusterSize, cudaLaunchKernelExC(&config, kernel, args));
    (void)cudaGetLastError();
}

static void test_library(void **state)
{
    cudaLibrary_t lib = NULL;
    cudaKernel_t k = NULL;
    void *p = NULL;
    size_t bytes = 0;
    int value = 0;
    unsigned count = 0;
    static const char text[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                               ".visible .global .align 4 .u32 seven = 7;\n"
                               ".visible .entry nothing() { ret; }\n";

    (void)state;
    OK(cudaLibraryLoadData(&lib, text, NULL, NULL, 0, NULL, NULL, 0));
    OK(cudaLibraryGetKernelCount(&count, lib));
    assert_int_equal(count, 1);
    OK(cudaLibraryEnumerateKernels(&k, 1, lib));
    OK(cudaLaunchKernel((const void *)k, (dim3){1, 1, 1}, (dim3){1, 1, 1}, NULL, 0, NULL));
    OK(cudaLibraryGetGlobal(&p, &bytes, lib, "seven"));
    assert_int_equal(bytes, 4);
    OK(cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost));
    assert_int_equal(value, 7);
    EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetKernel(&k, lib, "something"));
    EXPECT(cudaErrorSymbolNotFound, cudaLibraryGetGlobal(&p, &bytes, lib, "eight"));
    OK(cudaLibraryUnload(lib));
    if (bench_is_virtual()) /* the driver compiles at the first use */
        EXPECT(cudaErrorInvalidPtx,
               cudaLibraryLoadData(&lib, ".version 8.0\n.target sm_75\n.entry x( {\n", NULL, NULL,
                                   0, NULL, NULL, 0));
    (void)cudaGetLastError();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_dimensions),
        cmocka_unit_test(test_bounds),
        cmocka_unit_test(test_unknown_kernel),
        cmocka_unit_test(test_dynamic_shared),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_parameters),
        cmocka_unit_test(test_occupancy),
        cmocka_unit_test(test_launch_attributes),
        cmocka_unit_test(test_library),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

/*
 * test_cudart_device.c - the device: properties and attributes agree, limits, choice, refused
 * functions, driver entry points. Runs with the virtual GPU's library and with the real one.
 * Invariant: nothing is allocated.
 */
#include "cudart_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void test_count(void **state)
{
    int n = 0, device = 9;

    (void)state;
    OK(cudaGetDeviceCount(&n));
    assert_true(n >= 1);
    OK(cudaSetDevice(0));
    OK(cudaGetDevice(&device));
    assert_int_equal(device, 0);
    EXPECT(cudaErrorInvalidDevice, cudaSetDevice(n));
    EXPECT(cudaErrorInvalidDevice, cudaGetLastError());
    OK(cudaGetLastError());
}

static int attribute(enum cudaDeviceAttr a)
{
    int value = -99;

    OK(cudaDeviceGetAttribute(&value, a, 0));
    return value;
}

static void test_properties_agree(void **state)
{
    struct cudaDeviceProp p;

    (void)state;
    OK(cudaGetDeviceProperties(&p, 0));
    assert_int_equal(p.multiProcessorCount, attribute(cudaDevAttrMultiProcessorCount));
    assert_int_equal(p.major, attribute(cudaDevAttrComputeCapabilityMajor));
    assert_int_equal(p.minor, attribute(cudaDevAttrComputeCapabilityMinor));
    assert_int_equal(p.warpSize, 32);
    assert_int_equal(p.maxThreadsPerBlock, attribute(cudaDevAttrMaxThreadsPerBlock));
    assert_int_equal(p.sharedMemPerBlock, attribute(cudaDevAttrMaxSharedMemoryPerBlock));
    assert_int_equal(p.sharedMemPerBlockOptin, attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin));
    assert_int_equal(p.regsPerMultiprocessor, attribute(cudaDevAttrMaxRegistersPerMultiprocessor));
    assert_int_equal(p.maxThreadsDim[2], 64);
    assert_int_equal(p.maxGridSize[1], 65535);
    assert_int_equal(p.cooperativeLaunch, 1);
    assert_true(p.totalGlobalMem > (size_t)1 << 30);
    if (p.major == 9) {
        assert_int_equal(p.sharedMemPerBlockOptin, 227 * 1024);
        assert_int_equal(p.sharedMemPerMultiprocessor, 228 * 1024);
        assert_int_equal(p.maxThreadsPerMultiProcessor, 2048);
        assert_int_equal(p.maxBlocksPerMultiProcessor, 32);
        assert_int_equal(p.clusterLaunch, 1);
    }
}

static void test_wrong_questions(void **state)
{
    int value = 0;
    size_t size = 0;

    (void)state;
    EXPECT(cudaErrorInvalidValue, cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    EXPECT(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, 99));
    EXPECT(cudaErrorInvalidValue, cudaDeviceSetLimit((enum cudaLimit)77, 1));
    EXPECT(cudaErrorUnsupportedLimit, cudaDeviceGetLimit(&size, cudaLimitDevRuntimeSyncDepth));
    (void)cudaGetLastError();
}

static void test_limits(void **state)
{
    size_t size = 0;

    (void)state;
    OK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    assert_true(size >= (size_t)8 << 20);
    OK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, (size_t)16 << 20));
    OK(cudaDeviceGetLimit(&size, cudaLimitMallocHeapSize));
    assert_true(size >= (size_t)16 << 20);
}

static void test_versions(void **state)
{
    int runtime = 0, driver = 0;

    (void)state;
    OK(cudaRuntimeGetVersion(&runtime));
    OK(cudaDriverGetVersion(&driver));
    assert_int_equal(runtime / 1000, 13);
    assert_true(driver >= runtime / 1000 * 1000);
}

static void test_driver_entry(void **state)
{
    enum cudaDriverEntryPointQueryResult status = cudaDriverEntryPointVersionNotSufficent;
    void *f = NULL;

    (void)state;
    OK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                        &status));
    assert_int_equal(status, cudaDriverEntryPointSuccess);
    assert_non_null(f);
    OK(cudaGetDriverEntryPointByVersion("cuNoSuchFunction", &f, 12000, cudaEnableDefault, &status));
    assert_int_equal(status, cudaDriverEntryPointSymbolNotFound);
    assert_null(f);
}

static void test_refused(void **state)
{
    cudaArray_t array = NULL;
    struct cudaChannelFormatDesc desc = {32, 0, 0, 0, cudaChannelFormatKindFloat};

    (void)state;
    if (!bench_is_virtual())
        skip(); /* hardware has arrays */
    EXPECT(cudaErrorNotSupported, cudaMallocArray(&array, &desc, 16, 16, 0));
    EXPECT(cudaErrorNotSupported, cudaGetLastError());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_count),           cmocka_unit_test(test_properties_agree),
        cmocka_unit_test(test_wrong_questions), cmocka_unit_test(test_limits),
        cmocka_unit_test(test_versions),        cmocka_unit_test(test_driver_entry),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_cudart_stream.c - streams, events, host functions.
 * Runs with the virtual GPU's library and with the real one. Invariant: handles are destroyed by
 * the test that made them.
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
    return cudaMalloc((void **)&ints, 1024 * sizeof(int)) == cudaSuccess ? 0 : -1;
}

static int teardown(void **state)
{
    (void)state;
    bench_unload();
    return cudaFree(ints) == cudaSuccess ? 0 : -1;
}

static void test_properties(void **state)
{
    cudaStream_t s = NULL, t = NULL;
    unsigned flags = 9;
    int priority = 9, least = 0, greatest = 0, device = 9;
    unsigned long long a = 0, b = 0;

    (void)state;
    OK(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    OK(cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking));
    OK(cudaStreamCreateWithPriority(&t, cudaStreamDefault, greatest));
    OK(cudaStreamGetFlags(s, &flags));
    assert_int_equal(flags, cudaStreamNonBlocking);
    OK(cudaStreamGetPriority(t, &priority));
    assert_int_equal(priority, greatest);
    OK(cudaStreamGetDevice(t, &device));
    assert_int_equal(device, 0);
    OK(cudaStreamGetId(s, &a));
    OK(cudaStreamGetId(t, &b));
    assert_true(a != b);
    EXPECT(cudaErrorInvalidValue, cudaStreamCreateWithFlags(&t, 77));
    (void)cudaGetLastError();
    OK(cudaStreamDestroy(s));
    OK(cudaStreamDestroy(t));
}

static void test_order(void **state)
{
    cudaStream_t s = NULL;
    int host[1024];

    (void)state;
    OK(cudaStreamCreate(&s));
    OK(bench_fill(ints, 1024, 1, s));
    for (int i = 0; i < 5; i++)
        OK(bench_add_one(ints, 1024, s));
    OK(cudaMemcpyAsync(host, ints, sizeof host, cudaMemcpyDeviceToHost, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaStreamQuery(s));
    for (int i = 0; i < 1024; i++)
        assert_int_equal(host[i], 6);
    OK(cudaStreamDestroy(s));
}

static void test_special_handles(void **state)
{
    (void)state;
    OK(bench_fill(ints, 10, 4, cudaStreamPerThread));
    OK(cudaStreamSynchronize(cudaStreamPerThread));
    OK(bench_add_one(ints, 10, cudaStreamLegacy));
    bench_all(ints, 10, 5);
}

static void test_events(void **state)
{
    cudaEvent_t a = NULL, b = NULL, plain = NULL;
    cudaStream_t s = NULL;
    float ms = -1;

    (void)state;
    OK(cudaStreamCreate(&s));
    OK(cudaEventCreate(&a));
    OK(cudaEventCreate(&b));
    OK(cudaEventCreateWithFlags(&plain, cudaEventDisableTiming));
    OK(cudaEventQuery(a)); /* never recorded: complete */
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, b));
    OK(cudaEventRecord(a, s));
    OK(bench_fill(ints, 1024, 8, s));
    OK(cudaEventRecord(b, s));
    OK(cudaEventRecord(plain, s));
    OK(cudaStreamWaitEvent(NULL, b, 0));
    OK(cudaEventSynchronize(b));
    OK(cudaEventQuery(b));
    OK(cudaEventElapsedTime(&ms, a, b));
    assert_true(ms > 0 && ms < 1000);
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventElapsedTime(&ms, a, plain));
    (void)cudaGetLastError();
    OK(cudaEventDestroy(a));
    OK(cudaEventDestroy(b));
    OK(cudaEventDestroy(plain));
    OK(cudaStreamDestroy(s));
}

static void count_up(void *user) { ++*(int *)user; }

static void CUDART_CB count_callback(cudaStream_t stream, cudaError_t status, void *user)
{
    (void)stream;
    *(int *)user += status == cudaSuccess ? 10 : 1000;
}

static void test_host_functions(void **state)
{
    cudaStream_t s = NULL;
    int calls = 0;

    (void)state;
    OK(cudaStreamCreate(&s));
    OK(cudaLaunchHostFunc(s, count_up, &calls));
    OK(cudaStreamAddCallback(s, count_callback, &calls, 0));
    OK(cudaStreamSynchronize(s));
    assert_int_equal(calls, 11);
    EXPECT(cudaErrorInvalidValue, cudaStreamAddCallback(s, count_callback, &calls, 1));
    (void)cudaGetLastError();
    OK(cudaStreamDestroy(s));
}

static void test_attributes(void **state)
{
    cudaStream_t s = NULL;
    cudaLaunchAttributeValue v, back;

    (void)state;
    memset(&v, 0, sizeof v);
    memset(&back, 0, sizeof back);
    OK(cudaStreamCreate(&s));
    v.accessPolicyWindow.base_ptr = ints;
    v.accessPolicyWindow.num_bytes = 1024;
    v.accessPolicyWindow.hitRatio = 0.5f;
    v.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    v.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    OK(cudaStreamSetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &v));
    OK(cudaStreamGetAttribute(s, cudaLaunchAttributeAccessPolicyWindow, &back));
    assert_int_equal(back.accessPolicyWindow.num_bytes, 1024);
    OK(cudaStreamDestroy(s));
}

static void test_wrong_handles(void **state)
{
    (void)state;
    if (!bench_is_virtual())
        skip(); /* the real library may crash on a handle that never was one */
    cudaStream_t wrong = (cudaStream_t)(uintptr_t)0x1230;
    EXPECT(cudaErrorInvalidResourceHandle, cudaStreamSynchronize(wrong));
    EXPECT(cudaErrorInvalidResourceHandle, bench_fill(ints, 1, 1, wrong));
    EXPECT(cudaErrorInvalidResourceHandle, cudaStreamDestroy(NULL));
    EXPECT(cudaErrorInvalidResourceHandle, cudaEventRecord((cudaEvent_t)(uintptr_t)0x1230, NULL));
    (void)cudaGetLastError();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_properties),      cmocka_unit_test(test_order),
        cmocka_unit_test(test_special_handles), cmocka_unit_test(test_events),
        cmocka_unit_test(test_host_functions),  cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_wrong_handles),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

/*
 * test_cudart_memory.c - allocation, copies, fills, pinned and managed memory, pools.
 * Runs with the virtual GPU's library and with the real one. Invariant: every test frees what it
 * takes.
 */
#include "cudart_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int *device_ints(size_t n)
{
    void *p = NULL;

    OK(cudaMalloc(&p, n * sizeof(int)));
    assert_non_null(p);
    return p;
}

static void test_malloc_free(void **state)
{
    void *p = (void *)state, *q = NULL;

    OK(cudaMalloc(&p, 0));
    assert_null(p);
    OK(cudaFree(NULL));
    EXPECT(cudaErrorInvalidValue, cudaMalloc(NULL, 4));
    OK(cudaMalloc(&p, 1));
    OK(cudaMalloc(&q, 1));
    assert_true(p != q);
    assert_int_equal((uintptr_t)p % 256, 0);
    OK(cudaFree(p));
    OK(cudaFree(q));
    EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&p, (size_t)1 << 50));
    EXPECT(cudaErrorMemoryAllocation, cudaGetLastError());
    OK(cudaGetLastError());
}

static void test_wrong_free(void **state)
{
    int *p = device_ints(64);
    int host = 0;

    (void)state;
    EXPECT(cudaErrorInvalidValue, cudaFree(&host));
    EXPECT(cudaErrorInvalidValue, cudaFree(p + 1));
    OK(cudaFree(p));
    EXPECT(cudaErrorInvalidValue, cudaFree(p));
    (void)cudaGetLastError();
}

static void test_copy_round_trip(void **state)
{
    int in[300], out[300];
    int *p = device_ints(300), *q = device_ints(300);

    (void)state;
    for (int i = 0; i < 300; i++)
        in[i] = i * 7 - 5;
    OK(cudaMemcpy(p, in, sizeof in, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(q, p, sizeof in, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(out, q, sizeof in, cudaMemcpyDefault));
    assert_memory_equal(in, out, sizeof in);
    OK(cudaMemcpy(out, q + 10, 40, cudaMemcpyDeviceToHost));
    assert_memory_equal(in + 10, out, 40);
    OK(cudaMemcpy(out, in, sizeof in, cudaMemcpyHostToHost));
    OK(cudaFree(p));
    OK(cudaFree(q));
}

static void test_copy_wrong_kind(void **state)
{
    int host = 3;
    int *p = device_ints(1);

    (void)state;
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(p, &host, 4, cudaMemcpyDeviceToHost));
    EXPECT(cudaErrorInvalidMemcpyDirection, cudaMemcpy(p, &host, 4, (enum cudaMemcpyKind)9));
    (void)cudaGetLastError();
    OK(cudaFree(p));
}

static void test_copy_out_of_bounds(void **state)
{
    char host[64] = {0};
    char *p = NULL;

    (void)state;
    if (!bench_is_virtual())
        skip(); /* hardware rounds allocations up: a small overrun of a copy is not seen there */
    OK(cudaMalloc((void **)&p, 16));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(p, host, 17, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(p + 8, host, 9, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidValue, cudaMemset(p + 1, 0, 16));
    OK(cudaMemcpy(p + 8, host, 8, cudaMemcpyHostToDevice));
    OK(cudaFree(p));
    EXPECT(cudaErrorInvalidValue, cudaMemcpy(p, host, 1, cudaMemcpyHostToDevice));
    (void)cudaGetLastError();
}

static void test_memset(void **state)
{
    int *p = device_ints(100);

    (void)state;
    OK(cudaMemset(p, 0x1ff, 400)); /* the low byte counts */
    bench_all(p, 100, -1);
    OK(cudaMemsetAsync(p, 0, 400, NULL));
    bench_all(p, 100, 0);
    OK(cudaFree(p));
}

static void test_pitched(void **state)
{
    unsigned char in[5][7], out[5][9], *p = NULL;
    size_t pitch = 0;

    (void)state;
    memset(out, 0, sizeof out);
    for (int y = 0; y < 5; y++)
        for (int x = 0; x < 7; x++)
            in[y][x] = (unsigned char)(10 * y + x);
    OK(cudaMallocPitch((void **)&p, &pitch, 7, 5));
    assert_true(pitch >= 7 && pitch % 32 == 0);
    OK(cudaMemset2D(p, pitch, 0, 7, 5));
    OK(cudaMemcpy2D(p, pitch, in, 7, 7, 5, cudaMemcpyHostToDevice));
    OK(cudaMemcpy2D(out, 9, p, pitch, 7, 5, cudaMemcpyDeviceToHost));
    for (int y = 0; y < 5; y++) {
        assert_memory_equal(in[y], out[y], 7);
        assert_int_equal(out[y][7], 0);
    }
    EXPECT(cudaErrorInvalidPitchValue, cudaMemcpy2D(p, 6, in, 7, 7, 5, cudaMemcpyHostToDevice));
    (void)cudaGetLastError();
    OK(cudaFree(p));
}

static void test_three_dimensions(void **state)
{
    int in[3][4][5], out[3][4][5];
    struct cudaPitchedPtr p;
    struct cudaMemcpy3DParms c = {0};

    (void)state;
    for (int i = 0; i < 60; i++)
        (&in[0][0][0])[i] = i;
    OK(cudaMalloc3D(&p, (struct cudaExtent){5 * sizeof(int), 4, 3}));
    c.srcPtr = (struct cudaPitchedPtr){in, 5 * sizeof(int), 5 * sizeof(int), 4};
    c.dstPtr = p;
    c.extent = (struct cudaExtent){5 * sizeof(int), 4, 3};
    c.kind = cudaMemcpyHostToDevice;
    OK(cudaMemcpy3D(&c));
    c.srcPtr = p;
    c.dstPtr = (struct cudaPitchedPtr){out, 5 * sizeof(int), 5 * sizeof(int), 4};
    c.kind = cudaMemcpyDeviceToHost;
    OK(cudaMemcpy3D(&c));
    assert_memory_equal(in, out, sizeof in);
    OK(cudaMemset3D(p, 0, c.extent));
    OK(cudaMemcpy3D(&c));
    for (int i = 0; i < 60; i++)
        assert_int_equal((&out[0][0][0])[i], 0);
    OK(cudaFree(p.ptr));
}

static void test_pinned(void **state)
{
    struct cudaPointerAttributes a;
    int *host = NULL;
    void *device = NULL;

    (void)state;
    OK(cudaHostAlloc((void **)&host, 256 * sizeof(int), cudaHostAllocMapped));
    OK(cudaHostGetDevicePointer(&device, host, 0));
    OK(cudaPointerGetAttributes(&a, host));
    assert_int_equal(a.type, cudaMemoryTypeHost);
    OK(bench_fill(device, 256, 11, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(host[255], 11);
    OK(cudaFreeHost(host));
    EXPECT(cudaErrorInvalidValue, cudaFreeHost(&a));
    (void)cudaGetLastError();
}

static void test_registered(void **state)
{
    static int host[2048];

    (void)state;
    OK(cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
    EXPECT(cudaErrorHostMemoryAlreadyRegistered,
           cudaHostRegister(host, sizeof host, cudaHostRegisterDefault));
    OK(bench_fill(host, 2048, 5, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(host[2047], 5);
    OK(cudaHostUnregister(host));
    EXPECT(cudaErrorHostMemoryNotRegistered, cudaHostUnregister(host));
    (void)cudaGetLastError();
}

static void test_managed(void **state)
{
    struct cudaPointerAttributes a;
    int *p = NULL;

    (void)state;
    OK(cudaMallocManaged((void **)&p, 100 * sizeof(int), cudaMemAttachGlobal));
    for (int i = 0; i < 100; i++)
        p[i] = i;
    OK(bench_add_one(p, 100, NULL));
    OK(cudaDeviceSynchronize());
    for (int i = 0; i < 100; i++)
        assert_int_equal(p[i], i + 1);
    OK(cudaPointerGetAttributes(&a, p));
    assert_int_equal(a.type, cudaMemoryTypeManaged);
    assert_ptr_equal(a.hostPointer, p);
    OK(cudaFree(p));
}

static void test_attributes(void **state)
{
    struct cudaPointerAttributes a;
    int host = 0;
    int *p = device_ints(8);

    (void)state;
    OK(cudaPointerGetAttributes(&a, p + 2));
    assert_int_equal(a.type, cudaMemoryTypeDevice);
    assert_int_equal(a.device, 0);
    assert_ptr_equal(a.devicePointer, p + 2);
    assert_null(a.hostPointer);
    OK(cudaPointerGetAttributes(&a, &host));
    assert_int_equal(a.type, cudaMemoryTypeUnregistered);
    OK(cudaFree(p));
}

static void test_info(void **state)
{
    size_t before = 0, after = 0, total = 0;
    void *p = NULL;

    (void)state;
    OK(cudaMemGetInfo(&before, &total));
    assert_true(before <= total);
    OK(cudaMalloc(&p, 64 << 20));
    OK(cudaMemGetInfo(&after, NULL));
    assert_true(before - after >= (size_t)64 << 20);
    OK(cudaFree(p));
}

static void test_async(void **state)
{
    cudaStream_t s = NULL;
    int *p = NULL;

    (void)state;
    OK(cudaStreamCreate(&s));
    OK(cudaMallocAsync((void **)&p, 512 * sizeof(int), s));
    OK(bench_fill(p, 512, 9, s));
    OK(cudaStreamSynchronize(s));
    bench_all(p, 512, 9);
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamSynchronize(s));
    OK(cudaFreeAsync(NULL, s));
    OK(cudaStreamDestroy(s));
}

static void test_pool(void **state)
{
    struct cudaMemPoolProps props = {0};
    cudaMemPool_t pool = NULL, current = NULL;
    uint64_t used = 1, threshold = 1 << 20;
    void *p = NULL;

    (void)state;
    props.allocType = cudaMemAllocationTypePinned;
    props.location.type = cudaMemLocationTypeDevice;
    OK(cudaMemPoolCreate(&pool, &props));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_int_equal(used, 0);
    OK(cudaMallocFromPoolAsync(&p, 1000, pool, NULL));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_true(used >= 1000);
    OK(cudaFreeAsync(p, NULL));
    OK(cudaDeviceSynchronize());
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
    assert_int_equal(used, 0);
    OK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    OK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &used));
    assert_int_equal(used, threshold);
    OK(cudaMemPoolTrimTo(pool, 0));
    OK(cudaDeviceSetMemPool(0, pool));
    OK(cudaDeviceGetMemPool(&current, 0));
    assert_ptr_equal(current, pool);
    OK(cudaDeviceGetDefaultMemPool(&current, 0));
    assert_true(current != pool);
    OK(cudaDeviceSetMemPool(0, current));
    OK(cudaMemPoolDestroy(pool));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_malloc_free),
        cmocka_unit_test(test_wrong_free),
        cmocka_unit_test(test_copy_round_trip),
        cmocka_unit_test(test_copy_wrong_kind),
        cmocka_unit_test(test_copy_out_of_bounds),
        cmocka_unit_test(test_memset),
        cmocka_unit_test(test_pitched),
        cmocka_unit_test(test_three_dimensions),
        cmocka_unit_test(test_pinned),
        cmocka_unit_test(test_registered),
        cmocka_unit_test(test_managed),
        cmocka_unit_test(test_attributes),
        cmocka_unit_test(test_info),
        cmocka_unit_test(test_async),
        cmocka_unit_test(test_pool),
    };
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);

    bench_unload();
    return failed;
}

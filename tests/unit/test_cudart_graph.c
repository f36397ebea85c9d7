/*
 * test_cudart_graph.c - graphs: built by hand, captured, replayed, changed; and what may not happen
 * during capture. Runs with the virtual GPU's library and with the real one. Invariant: device data
 * is checked after every replay.
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

static void test_capture_replay(void **state)
{
    cudaStream_t s = NULL;
    cudaGraph_t g = NULL;
    cudaGraphExec_t x = NULL;
    size_t count = 0;

    (void)state;
    OK(cudaMemset(ints, 0, 1024 * sizeof(int)));
    (void)bench_kernel("add_one"); /* loading is not allowed during capture */
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(bench_add_one(ints, 1024, s));
    OK(bench_add_one(ints, 1024, s));
    OK(cudaStreamEndCapture(s, &g));
    bench_all(ints, 1024, 0); /* captured, not run */
    OK(cudaGraphGetNodes(g, NULL, &count));
    assert_int_equal(count, 2);
    OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &count));
    assert_int_equal(count, 1);
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphDestroy(g));
    for (int i = 1; i <= 3; i++) {
        OK(cudaGraphLaunch(x, s));
        OK(cudaStreamSynchronize(s));
        bench_all(ints, 1024, 2 * i);
    }
    OK(cudaGraphExecDestroy(x));
    OK(cudaStreamDestroy(s));
}

static void test_fork_join(void **state)
{
    cudaStream_t a = NULL, b = NULL;
    cudaEvent_t fork = NULL, join = NULL;
    cudaGraph_t g = NULL;
    cudaGraphExec_t x = NULL;
    size_t roots = 0, edges = 0;

    (void)state;
    (void)bench_kernel("fill");
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaEventCreateWithFlags(&join, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeThreadLocal));
    OK(bench_fill(ints, 1024, 1, a));
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    OK(bench_add_one(ints, 512, b));
    OK(bench_add_one(ints + 512, 512, a));
    OK(cudaEventRecord(join, b));
    OK(cudaStreamWaitEvent(a, join, 0));
    OK(bench_add_one(ints, 1024, a));
    OK(cudaStreamEndCapture(a, &g));
    OK(cudaGraphGetRootNodes(g, NULL, &roots));
    OK(cudaGraphGetEdges(g, NULL, NULL, NULL, &edges));
    assert_int_equal(roots, 1);
    assert_int_equal(edges, 4);
    OK(cudaGraphInstantiate(&x, g, 0));
    OK(cudaGraphLaunch(x, a));
    OK(cudaStreamSynchronize(a));
    bench_all(ints, 1024, 3);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaEventDestroy(fork));
    OK(cudaEventDestroy(join));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

static void test_unjoined(void **state)
{
    cudaStream_t a = NULL, b = NULL;
    cudaEvent_t fork = NULL;
    cudaGraph_t g = NULL;

    (void)state;
    (void)bench_kernel("fill");
    OK(cudaStreamCreate(&a));
    OK(cudaStreamCreate(&b));
    OK(cudaEventCreateWithFlags(&fork, cudaEventDisableTiming));
    OK(cudaStreamBeginCapture(a, cudaStreamCaptureModeRelaxed));
    OK(cudaEventRecord(fork, a));
    OK(cudaStreamWaitEvent(b, fork, 0));
    OK(bench_add_one(ints, 512, b));
    EXPECT(cudaErrorStreamCaptureUnjoined, cudaStreamEndCapture(a, &g));
    assert_null(g);
    (void)cudaGetLastError();
    OK(cudaEventDestroy(fork));
    OK(cudaStreamDestroy(a));
    OK(cudaStreamDestroy(b));
}

static void test_forbidden_in_capture(void **state)
{
    cudaStream_t s = NULL;
    cudaGraph_t g = NULL;
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;

    (void)state;
    OK(cudaStreamCreate(&s));
    EXPECT(cudaErrorStreamCaptureUnsupported,
           cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    EXPECT(cudaErrorIllegalState, cudaStreamEndCapture(s, &g));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    OK(cudaStreamIsCapturing(s, &status));
    assert_int_equal(status, cudaStreamCaptureStatusActive);
    EXPECT(cudaErrorStreamCaptureUnsupported, cudaStreamSynchronize(s));
    OK(cudaStreamIsCapturing(s, &status));
    assert_int_equal(status, cudaStreamCaptureStatusInvalidated);
    EXPECT(cudaErrorStreamCaptureInvalidated, cudaStreamEndCapture(s, &g));
    assert_null(g);
    (void)cudaGetLastError();
    OK(cudaStreamDestroy(s));
}

static void add_two(void *user) { *(int *)user += 2; }

static void test_by_hand(void **state)
{
    struct cudaMemsetParams set = {
        .dst = ints, .value = 7, .elementSize = 4, .width = 1024, .height = 1};
    struct cudaKernelNodeParams kernel = {.gridDim = {8, 1, 1}, .blockDim = {128, 1, 1}};
    int n = 1024, calls = 0, host[4] = {0};
    void *args[] = {&ints, &n};
    struct cudaHostNodeParams fn = {add_two, &calls};
    cudaGraphNode_t a = NULL, b = NULL, c = NULL, d = NULL;
    cudaGraph_t g = NULL;
    cudaGraphExec_t x = NULL;
    enum cudaGraphNodeType type = cudaGraphNodeTypeEmpty;

    (void)state;
    kernel.func = (void *)bench_kernel("add_one");
    kernel.kernelParams = args;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddKernelNode(&b, g, NULL, 0, &kernel));
    OK(cudaGraphAddMemsetNode(&a, g, NULL, 0, &set));
    OK(cudaGraphAddDependencies(g, &a, &b, NULL, 1)); /* the later node first */
    OK(cudaGraphAddMemcpyNode1D(&c, g, &b, 1, host, ints, sizeof host, cudaMemcpyDeviceToHost));
    OK(cudaGraphAddHostNode(&d, g, &c, 1, &fn));
    OK(cudaGraphNodeGetType(c, &type));
    assert_int_equal(type, cudaGraphNodeTypeMemcpy);
    OK(cudaGraphInstantiateWithFlags(&x, g, 0));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(host[3], 8);
    assert_int_equal(calls, 2);
    bench_all(ints, 1024, 8);
    set.value = 100;
    OK(cudaGraphExecMemsetNodeSetParams(x, a, &set));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaDeviceSynchronize());
    bench_all(ints, 1024, 101);
    OK(cudaGraphNodeSetEnabled(x, b, 0));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaDeviceSynchronize());
    bench_all(ints, 1024, 100);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
}

static void test_child_and_clone(void **state)
{
    cudaGraph_t child = NULL, g = NULL, copy = NULL;
    cudaGraphNode_t a = NULL, b = NULL, found = NULL;
    struct cudaMemsetParams set = {
        .dst = ints, .value = 3, .elementSize = 1, .width = 64, .height = 1};
    cudaGraphExec_t x = NULL;

    (void)state;
    OK(cudaGraphCreate(&child, 0));
    OK(cudaGraphAddMemsetNode(&a, child, NULL, 0, &set));
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddChildGraphNode(&b, g, NULL, 0, child));
    OK(cudaGraphDestroy(child)); /* the node has a copy */
    OK(cudaGraphClone(&copy, g));
    OK(cudaGraphNodeFindInClone(&found, b, copy));
    assert_non_null(found);
    assert_true(found != b);
    OK(cudaGraphInstantiate(&x, copy, 0));
    OK(cudaMemset(ints, 0, 64));
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaDeviceSynchronize());
    bench_all(ints, 16, 0x03030303);
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(copy));
    OK(cudaGraphDestroy(g));
}

static void test_cycle(void **state)
{
    cudaGraph_t g = NULL;
    cudaGraphNode_t a = NULL, b = NULL;
    cudaGraphExec_t x = NULL;

    (void)state;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddEmptyNode(&a, g, NULL, 0));
    OK(cudaGraphAddEmptyNode(&b, g, &a, 1));
    if (cudaGraphAddDependencies(g, &b, &a, NULL, 1) == cudaSuccess)
        assert_int_not_equal(cudaGraphInstantiate(&x, g, 0), cudaSuccess);
    (void)cudaGetLastError();
    OK(cudaGraphDestroy(g));
}

static void test_update(void **state)
{
    cudaGraph_t g = NULL, other = NULL;
    cudaGraphNode_t a = NULL, b = NULL;
    cudaGraphExec_t x = NULL;
    cudaGraphExecUpdateResultInfo info;
    struct cudaMemsetParams set = {
        .dst = ints, .value = 1, .elementSize = 4, .width = 16, .height = 1};

    (void)state;
    OK(cudaGraphCreate(&g, 0));
    OK(cudaGraphAddMemsetNode(&a, g, NULL, 0, &set));
    OK(cudaGraphInstantiate(&x, g, 0));
    set.value = 2;
    OK(cudaGraphCreate(&other, 0));
    OK(cudaGraphAddMemsetNode(&b, other, NULL, 0, &set));
    OK(cudaGraphExecUpdate(x, other, &info));
    assert_int_equal(info.result, cudaGraphExecUpdateSuccess);
    OK(cudaGraphLaunch(x, NULL));
    OK(cudaDeviceSynchronize());
    bench_all(ints, 16, 2);
    OK(cudaGraphAddEmptyNode(&b, other, &b, 1));
    EXPECT(cudaErrorGraphExecUpdateFailure, cudaGraphExecUpdate(x, other, &info));
    assert_int_not_equal(info.result, cudaGraphExecUpdateSuccess);
    (void)cudaGetLastError();
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaGraphDestroy(other));
}

static void test_memory_nodes(void **state)
{
    cudaStream_t s = NULL;
    cudaGraph_t g = NULL;
    cudaGraphExec_t x = NULL;
    int *p = NULL;

    (void)state;
    (void)bench_kernel("fill");
    OK(cudaStreamCreate(&s));
    OK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    OK(cudaMallocAsync((void **)&p, 1024 * sizeof(int), s));
    OK(bench_fill(p, 1024, 5, s));
    OK(bench_add_one(p, 1024, s));
    OK(cudaMemcpyAsync(ints, p, 1024 * sizeof(int), cudaMemcpyDeviceToDevice, s));
    OK(cudaFreeAsync(p, s));
    OK(cudaStreamEndCapture(s, &g));
    OK(cudaGraphInstantiate(&x, g, 0));
    for (int i = 0; i < 3; i++) {
        OK(cudaMemset(ints, 0, 1024 * sizeof(int)));
        OK(cudaGraphLaunch(x, s));
        OK(cudaStreamSynchronize(s));
        bench_all(ints, 1024, 6);
    }
    OK(cudaGraphExecDestroy(x));
    OK(cudaGraphDestroy(g));
    OK(cudaStreamDestroy(s));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_capture_replay), cmocka_unit_test(test_fork_join),
        cmocka_unit_test(test_unjoined),       cmocka_unit_test(test_forbidden_in_capture),
        cmocka_unit_test(test_by_hand),        cmocka_unit_test(test_child_and_clone),
        cmocka_unit_test(test_cycle),          cmocka_unit_test(test_update),
        cmocka_unit_test(test_memory_nodes),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

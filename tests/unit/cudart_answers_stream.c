/*
 * cudart_answers_stream.c - questions about streams and events.
 */
#include "cudart_answers.h"

#include <string.h>

static void count_up(void *user) { ++*(int *)user; }

static void calls_back(cudaStream_t stream, cudaError_t status, void *user)
{
    (void)stream;
    *(int *)user += status == cudaSuccess ? 1 : 100;
}

static void ask_streams(void)
{
    cudaStream_t s = NULL, t = NULL;
    unsigned flags = 99;
    int priority = 99, n = 0, device = 9;
    unsigned long long id = 0;

    ASK(cudaStreamCreate(NULL));
    ASK(cudaStreamCreate(&s));
    ASK(cudaStreamGetFlags(s, &flags));
    answer("flags %u", flags);
    ASK(cudaStreamGetPriority(s, &priority));
    answer("priority %d", priority);
    ASK(cudaStreamGetFlags(NULL, &flags));
    answer("flags %u", flags);
    ASK(cudaStreamGetPriority(NULL, &priority));
    answer("priority %d", priority);
    ASK(cudaStreamGetFlags(s, NULL));
    ASK(cudaStreamCreateWithFlags(&t, 2));
    ASK(cudaStreamCreateWithFlags(&t, cudaStreamNonBlocking));
    ASK(cudaStreamGetFlags(t, &flags));
    answer("flags %u", flags);
    ASK(cudaStreamDestroy(t));
    ASK(cudaStreamCreateWithPriority(&t, cudaStreamNonBlocking, -100));
    ASK(cudaStreamGetPriority(t, &priority));
    answer("priority %d", priority);
    ASK(cudaStreamDestroy(t));
    ASK(cudaStreamCreateWithPriority(&t, cudaStreamDefault, 100));
    ASK(cudaStreamGetPriority(t, &priority));
    answer("priority %d", priority);
    ASK(cudaStreamQuery(s));
    ASK(cudaStreamQuery(NULL));
    ASK(cudaStreamQuery(cudaStreamLegacy));
    ASK(cudaStreamQuery(cudaStreamPerThread));
    ASK(cudaStreamSynchronize(cudaStreamLegacy));
    ASK(cudaStreamSynchronize(cudaStreamPerThread));
    ASK(cudaStreamDestroy(NULL));
    ASK(cudaStreamDestroy(cudaStreamLegacy));
    ASK(cudaStreamDestroy(cudaStreamPerThread));
    ASK(cudaStreamGetDevice(s, &device));
    answer("device %d", device);
    ASK(cudaStreamGetId(s, NULL));
    ASK(cudaStreamGetId(s, &id));
    ASK(cudaStreamWaitEvent(s, NULL, 0));
    ASK(cudaLaunchHostFunc(s, NULL, &n));
    ASK(cudaLaunchHostFunc(s, count_up, &n));
    ASK(cudaStreamAddCallback(s, NULL, &n, 0));
    ASK(cudaStreamAddCallback(s, calls_back, &n, 1));
    ASK(cudaStreamAddCallback(s, calls_back, &n, 0));
    ASK(cudaStreamSynchronize(s));
    answer("called %d", n);
    cudaStreamAttrValue v;
    memset(&v, 0, sizeof v);
    ASK(cudaStreamGetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    answer("policy %d", (int)v.syncPolicy);
    ASK(cudaStreamSetAttribute(s, cudaStreamAttributeSynchronizationPolicy, &v));
    ASK(cudaStreamGetAttribute(s, cudaStreamAttributePriority, &v));
    ASK(cudaStreamGetAttribute(s, (cudaStreamAttrID)99, &v));
    ASK(cudaStreamCopyAttributes(t, s));
    ASK(cudaStreamDestroy(s));
    ASK(cudaGetLastError());
}

static void ask_events(void)
{
    cudaEvent_t a = NULL, b = NULL, quiet = NULL;
    float ms = -1;

    ASK(cudaEventCreate(NULL));
    ASK(cudaEventCreateWithFlags(&a, 16));
    ASK(cudaEventCreateWithFlags(&a, cudaEventInterprocess));
    ASK(cudaEventCreate(&a));
    ASK(cudaEventCreate(&b));
    ASK(cudaEventCreateWithFlags(&quiet, cudaEventDisableTiming | cudaEventBlockingSync));
    ASK(cudaEventQuery(a));
    ASK(cudaEventSynchronize(a));
    ASK(cudaEventElapsedTime(&ms, a, b));
    ASK(cudaEventRecord(a, NULL));
    ASK(cudaEventElapsedTime(&ms, a, b));
    ASK(cudaEventRecord(b, NULL));
    ASK(cudaEventSynchronize(b));
    ASK(cudaEventElapsedTime(&ms, a, b));
    answer("time is %s", ms >= 0 ? "not negative" : "negative");
    ASK(cudaEventElapsedTime(NULL, a, b));
    ASK(cudaEventRecord(quiet, NULL));
    ASK(cudaEventSynchronize(quiet));
    ASK(cudaEventElapsedTime(&ms, a, quiet));
    ASK(cudaEventElapsedTime(&ms, NULL, a));
    ASK(cudaEventQuery(quiet));
    ASK(cudaEventQuery(NULL));
    ASK(cudaEventRecord(NULL, NULL));
    ASK(cudaEventSynchronize(NULL));
    ASK(cudaEventRecordWithFlags(a, NULL, 0));
    ASK(cudaEventRecordWithFlags(a, NULL, 5));
    ASK(cudaEventRecordWithFlags(a, NULL, cudaEventRecordExternal));
    ASK(cudaStreamWaitEvent(NULL, a, 0));
    ASK(cudaStreamWaitEvent(NULL, a, 5));
    ASK(cudaEventDestroy(NULL));
    ASK(cudaEventDestroy(a));
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
}

const struct section answers_stream[] = {
    {"streams", ask_streams}, {"events", ask_events}, {NULL, NULL}};

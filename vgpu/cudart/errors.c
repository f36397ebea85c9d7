/*
 * errors.c - the calling thread's last error, and names and texts of error codes.
 * Sticky errors are kept in state.c. Invariant: asking never fails.
 */
#include "runtime.h"
#include "stubs.h"

/* A sticky error stays: the calls that need the device return it again and make it the last one
 * again; asking forgets it like any other. */
EXPORT cudaError_t cudaGetLastError(void)
{
    (void)api_begin(API_PLAIN);
    struct thread_state *t = api_thread();
    const cudaError_t e = t->last;

    t->last = cudaSuccess;
    api_unlock();
    return e;
}

EXPORT cudaError_t cudaPeekAtLastError(void)
{
    (void)api_begin(API_PLAIN);
    const cudaError_t e = api_thread()->last;

    api_unlock();
    return e;
}

EXPORT const char *cudaGetErrorName(cudaError_t error)
{
    switch (error) {
#define X(id, text)                                                                                \
    case cuda##id:                                                                                 \
        return "cuda" #id;
#include "errors.def"
    case cudaErrorApiFailureBase:
        return "cudaErrorApiFailureBase";
    }
    return "unrecognized error code";
}

EXPORT const char *cudaGetErrorString(cudaError_t error)
{
    switch (error) {
#define X(id, text)                                                                                \
    case cuda##id:                                                                                 \
        return text;
#include "errors.def"
    case cudaErrorApiFailureBase:
        break;
    }
    return "unrecognized error code";
}

int api_refused(const char *name)
{
    struct runtime *rt = api_begin(API_PLAIN);

    runtime_warn(rt, "%s is not supported by the virtual GPU", name);
    return (int)api_end(rt, cudaErrorNotSupported);
}

/*
 * cudalib.h - the CUDA runtime as a table of function pointers, filled by dlsym from one library
 * opened by absolute path. Counts nothing (account.c does). Invariant: the runner calls the runtime
 * through this table only, so that its own calls are never taken for the solution's.
 */
#ifndef HARNESS_RUNNER_CUDALIB_H
#define HARNESS_RUNNER_CUDALIB_H

#include <cuda_profiler_api.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* Columns: function. The first list must be there; the second may be NULL. */
#define CUDALIB_REQUIRED(X)                                                                        \
    X(cudaGetDeviceCount)                                                                          \
    X(cudaSetDevice)                                                                               \
    X(cudaGetDeviceProperties)                                                                     \
    X(cudaDeviceGetAttribute)                                                                      \
    X(cudaDeviceSynchronize)                                                                       \
    X(cudaDriverGetVersion)                                                                        \
    X(cudaRuntimeGetVersion)                                                                       \
    X(cudaGetLastError)                                                                            \
    X(cudaPeekAtLastError)                                                                         \
    X(cudaGetErrorName)                                                                            \
    X(cudaGetErrorString)                                                                          \
    X(cudaMalloc)                                                                                  \
    X(cudaFree)                                                                                    \
    X(cudaMemcpy)                                                                                  \
    X(cudaMemset)                                                                                  \
    X(cudaEventCreate)                                                                             \
    X(cudaEventDestroy)                                                                            \
    X(cudaEventRecord)                                                                             \
    X(cudaEventSynchronize)                                                                        \
    X(cudaEventElapsedTime)

#define CUDALIB_OPTIONAL(X)                                                                        \
    X(cudaMemcpyAsync)                                                                             \
    X(cudaMemsetAsync)                                                                             \
    X(cudaMemGetInfo)                                                                              \
    X(cudaHostAlloc)                                                                               \
    X(cudaFreeHost)                                                                                \
    X(cudaHostRegister)                                                                            \
    X(cudaHostUnregister)                                                                          \
    X(cudaMallocAsync)                                                                             \
    X(cudaFreeAsync)                                                                               \
    X(cudaMallocFromPoolAsync)                                                                     \
    X(cudaMallocManaged)                                                                           \
    X(cudaMallocPitch)                                                                             \
    X(cudaMalloc3D)                                                                                \
    X(cudaMallocHost)                                                                              \
    X(cudaLaunchKernel)                                                                            \
    X(cudaLaunchKernelExC)                                                                         \
    X(cudaLaunchCooperativeKernel)                                                                 \
    X(cudaGraphLaunch)                                                                             \
    X(cudaGraphInstantiate)                                                                        \
    X(cudaGraphDestroy)                                                                            \
    X(cudaGraphExecDestroy)                                                                        \
    X(cudaStreamCreateWithFlags)                                                                   \
    X(cudaStreamDestroy)                                                                           \
    X(cudaThreadExchangeStreamCaptureMode)                                                         \
    X(cudaStreamBeginCapture)                                                                      \
    X(cudaStreamEndCapture)                                                                        \
    X(cudaDeviceReset)                                                                             \
    X(cudaDeviceSetLimit)                                                                          \
    X(cudaCtxResetPersistingL2Cache)                                                               \
    X(cudaLibraryLoadData)                                                                         \
    X(cudaLibraryGetKernel)                                                                        \
    X(cudaProfilerStart)                                                                           \
    X(cudaProfilerStop)

struct cudalib {
    void *handle;
#define X(name) __typeof__(name) *name;
    CUDALIB_REQUIRED(X)
    CUDALIB_OPTIONAL(X)
#undef X
    /* vgpu only, NULL elsewhere: a name for an allocation, and "write what is pending", which
     * returns how many errors it has found since the process began. */
    void (*vgpu_name)(const void *device_ptr, const char *name);
    unsigned long long (*vgpu_flush)(void);
};

/* Opens the library and fills the table. False: *text says which file or function is missing. */
bool cudalib_open(struct cudalib *lib, const char *path, char *text, size_t size);
/* True for cudaSuccess; otherwise writes "cudaMalloc: cudaErrorMemoryAllocation (2): out of memory"
 * (keeps an earlier text) and clears the pending error. */
bool cudalib_ok(const struct cudalib *lib, cudaError_t e, const char *call, char *text,
                size_t size);
/* A function of the library that the table does not hold, or NULL: for account.c's twins. */
void *cudalib_symbol(const struct cudalib *lib, const char *name);

#endif

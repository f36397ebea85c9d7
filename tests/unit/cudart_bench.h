/*
 * cudart_bench.h - kernels and checks for the tests of the runtime API.
 * Uses public CUDA functions only: the tests run with the virtual GPU's library and with the real
 * one. Kernels are PTX text, loaded with cudaLibraryLoadData, so no CUDA compiler is needed.
 */
#ifndef TESTS_UNIT_CUDART_BENCH_H
#define TESTS_UNIT_CUDART_BENCH_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>

/* Fails the running test unless the call returned exactly `want`. */
void bench_expect(cudaError_t got, cudaError_t want, const char *call, const char *file, int line);
#define EXPECT(want, call) bench_expect((call), (want), #call, __FILE__, __LINE__)
#define OK(call)           EXPECT(cudaSuccess, call)

/*
 * Kernels of the bench, by name:
 *   fill(int *p, int n, int v)         p[i] = v for i < n, one thread an element
 *   add_one(int *p, int n)             p[i] += 1
 *   copy_dynamic(int *p)               p[tid] = tid, through dynamic shared memory
 *   trap_now(void)                     executes trap
 *   read_at(const int *p, int *out)    *out = *p, for any address
 *   bounded(void)                      .maxntid 64
 *   fixed(int *p)                      writes 1 to *p from a block of exactly 32 threads (.reqntid)
 */
cudaKernel_t bench_kernel(const char *name);
void bench_unload(void);
/* True when the library under test is the virtual GPU: for the few things that hardware cannot
 * show. */
bool bench_is_virtual(void);
/* Launches kernel `name` over n elements with the given arguments. */
cudaError_t bench_launch(const char *name, unsigned blocks, unsigned threads, size_t shared,
                         cudaStream_t stream, void **args);
/* fill and add_one over n elements. */
cudaError_t bench_fill(int *p, int n, int v, cudaStream_t stream);
cudaError_t bench_add_one(int *p, int n, cudaStream_t stream);
/* Reads n ints back and fails unless all are v. */
void bench_all(const int *device, int n, int v);

#endif

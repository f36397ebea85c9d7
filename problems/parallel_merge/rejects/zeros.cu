// @idea   writes zeros
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: the output is filled with zeros and the inputs are never read.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

__global__ void write(float *C, int M, int N) {
    const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (i < M + N)
        C[i] = 0.0f;
}

} // namespace

extern "C" void solve(const float *, const float *, float *C, int M, int N) {
    if (M + N < 1)
        return;
    write<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(C, M, N);
}

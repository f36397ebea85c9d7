// @idea   copies A, then B
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: right only where all of A is below all of B.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

__global__ void write(const float *A, const float *B, float *C, int M, int N) {
    const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (i < M + N)
        C[i] = i < M ? A[i] : B[i - M];
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    write<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

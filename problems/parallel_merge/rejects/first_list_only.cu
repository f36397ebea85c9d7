// @idea   only the elements of A are placed
// @source a merge with one of its two halves forgotten
// @expect WA
// @arch   sm_80
// Wrong on purpose: each element of A finds its place, and the places that belong to B stay
// unwritten.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

__global__ void place(const float *A, const float *B, float *C, int M, int N) {
    const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (i >= M)
        return;
    int low = 0, high = N;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (B[middle] < A[i])
            low = middle + 1;
        else
            high = middle;
    }
    C[i + low] = A[i];
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M < 1)
        return;
    place<<<(M + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

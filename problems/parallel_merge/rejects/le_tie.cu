// @idea   both lists count equal elements of the other as smaller
// @source NVIDIA/cccl issue 7729, ties searched with <= on both sides
// @expect WA
// @arch   sm_80
// Wrong on purpose: the rank of an element is its index plus the elements of the other list that
// are not above it, on both sides. Of a tie each element steps behind the other, so two land on
// one place, or places stay unwritten. Right without ties.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

__device__ int count_not_above(const float *list, int length, float x) {
    int low = 0, high = length;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (list[middle] <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

__global__ void place(const float *A, const float *B, float *C, int M, int N) {
    const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (i < M)
        C[i + count_not_above(B, N, A[i])] = A[i];
    else if (i < M + N)
        C[i - M + count_not_above(A, M, B[i - M])] = B[i - M];
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    place<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

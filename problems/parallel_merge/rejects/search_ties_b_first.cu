// @idea   the begin in A is searched with ties to B, the begin in B with ties to A
// @source a search and a merge with different rules
// @expect WA
// @arch   sm_80
// Wrong on purpose: where a tie lies across the border between two threads the two begins do not
// belong together: tied elements are written by both threads, and others are lost.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

// Outputs of A among the first `diagonal`. With a_first equal elements count as A's, else as B's.
template <bool a_first>
__device__ int split(const float *A, int M, const float *B, int N, int diagonal) {
    int low = max(0, diagonal - N), high = min(diagonal, M);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const float a = A[middle], b = B[diagonal - 1 - middle];
        if (a_first ? a <= b : a < b)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

constexpr int ITEMS = 8;

__global__ void merge(const float *A, const float *B, float *C, int M, int N) {
    const int first = static_cast<int>(blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    if (first >= M + N)
        return;
    const int last = min(first + ITEMS, M + N);
    int i = split<false>(A, M, B, N, first);
    int j = first - split<true>(A, M, B, N, first);
    for (int out = first; out < last; out++) {
        const bool take_a = j >= N || (i < M && A[i] <= B[j]);
        C[out] = take_a ? A[i++] : B[j++];
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<((M + N + ITEMS - 1) / ITEMS + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

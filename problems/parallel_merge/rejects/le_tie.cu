// @idea   a tile's begin and end break ties in opposite ways
// @source NVIDIA/cccl issue 7729, ties at tile borders
// @expect WA
// @arch   sm_80
// Wrong on purpose: the begin of a thread's range counts equal elements as A's and its end as B's,
// so a tie that lies across the border is written twice or left out.

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

// Outputs [first, last) from A[i, i_end) and B[j, j_end), A first on ties.
__global__ void merge(const float *A, const float *B, float *C, int M, int N) {
    const int first = static_cast<int>(blockIdx.x * THREADS + threadIdx.x) * ITEMS;
    if (first >= M + N)
        return;
    const int last = min(first + ITEMS, M + N);
    int i = split<true>(A, M, B, N, first), j = first - i;
    const int i_end = split<false>(A, M, B, N, last), j_end = last - i_end;
    for (int out = first; out < last; out++) {
        const bool take_a = j >= j_end || (i < i_end && A[i] <= B[j]);
        C[out] = take_a ? A[min(i++, M - 1)] : B[min(j++, N - 1)];
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<((M + N + ITEMS - 1) / ITEMS + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

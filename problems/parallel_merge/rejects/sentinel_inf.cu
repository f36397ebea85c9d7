// @idea   an ended list reads as +inf, and two infinities end the merge
// @source sentinels in place of bounds
// @expect WA
// @arch   sm_80
// Wrong on purpose: where the data hold +inf, the thread that meets one in each list takes them
// for the end and stops, so their places stay unwritten.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

// Merge path: how many of the first `diagonal` outputs come from A. That is the first i for which
// A[i] is above B[diagonal - 1 - i], because then A[i] comes after that element and is not among
// them. Equal elements count as A's, as in the merge itself.
__device__ int split(const float *A, int M, const float *B, int N, int diagonal) {
    int low = max(0, diagonal - N), high = min(diagonal, M);
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (A[middle] <= B[diagonal - 1 - middle])
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
    int i = split(A, M, B, N, first), j = first - i;
    for (int out = first; out < first + ITEMS; out++) {
        const float a = i < M ? A[i] : INFINITY;
        const float b = j < N ? B[j] : INFINITY;
        if (a == INFINITY && b == INFINITY)
            return;
        C[out] = a <= b ? A[i++] : B[j++];
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<((M + N + ITEMS - 1) / ITEMS + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

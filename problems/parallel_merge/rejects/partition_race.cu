// @idea   the block's split is read before it is published
// @source NVIDIA/thrust issue 329, race between partition search and update
// @expect RE
// @arch   sm_80
// @needs  vgpu
// Wrong on purpose: thread 0 searches the block's split and stores it in shared memory; the other
// warps read it without a barrier, with luck after the store, else the split of the block that ran
// there before.

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
constexpr int TILE = THREADS * ITEMS;

__global__ void merge(const float *A, const float *B, float *C, int M, int N) {
    __shared__ int begin;
    const int t = static_cast<int>(threadIdx.x), first = static_cast<int>(blockIdx.x) * TILE;
    if (t == 0)
        begin = split(A, M, B, N, first);
    const int a_begin = min(max(begin, max(0, first - N)), min(first, M));
    const int b_begin = first - a_begin;
    const int diagonal = min(t * ITEMS, M + N - first);
    int i = split(A + a_begin, M - a_begin, B + b_begin, N - b_begin, diagonal) + a_begin;
    int j = first + diagonal - i;
    for (int out = first + diagonal; out < min(first + diagonal + ITEMS, M + N); out++) {
        const bool take_a = j >= N || (i < M && A[i] <= B[j]);
        C[out] = take_a ? A[i++] : B[j++];
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<(M + N + TILE - 1) / TILE, THREADS>>>(A, B, C, M, N);
}

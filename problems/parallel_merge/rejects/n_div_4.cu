// @idea   groups of four outputs, no tail
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: (M + N) / 4 threads write four outputs each, so up to three at the end stay
// unwritten, all of them below four. Stores are scalar, so that only this mistake shows.

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

// The output at `place`: a search, then one step of the merge.
__device__ float pick(const float *A, int M, const float *B, int N, int place) {
    const int i = split(A, M, B, N, place), j = place - i;
    return j >= N || (i < M && A[i] <= B[j]) ? A[i] : B[j];
}

__global__ void merge(const float *A, const float *B, float *C, int M, int N) {
    const int group = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (group < (M + N) / 4) {
        for (int place = 4 * group; place < 4 * group + 4; place++)
            C[place] = pick(A, M, B, N, place);
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 4)
        return;
    merge<<<((M + N) / 4 + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

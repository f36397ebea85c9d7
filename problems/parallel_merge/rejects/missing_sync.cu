// @idea   no barrier after shared memory is written
// @source the mistakes that every problem ships
// @expect RE
// @arch   sm_80
// @needs  vgpu
// Wrong on purpose: each thread stores its output into a shared tile and then reads a neighbour's
// place, two warps away, without waiting. Hardware often gets away with it; the race is there all
// the same.

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
    __shared__ float tile[THREADS];
    const int first = static_cast<int>(blockIdx.x * THREADS), t = static_cast<int>(threadIdx.x);
    if (first + t < M + N)
        tile[t] = pick(A, M, B, N, first + t);
    // The tile leaves in another order than it came.
    const int other = (t + 64) % THREADS;
    if (first + other < M + N)
        C[first + other] = tile[other];
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

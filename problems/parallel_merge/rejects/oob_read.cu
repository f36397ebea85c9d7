// @idea   reads A[M] and uses it
// @source the mistakes that every problem ships
// @expect RE|WA
// @arch   sm_80
// Wrong on purpose: the head of A is compared without asking whether A has ended. On hardware the
// element past the end decides; where memory accesses are checked the read itself is the fault.

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

__global__ void merge(const float *A, const float *B, float *C, int M, int N) {
    const int place = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (place >= M + N)
        return;
    const int i = split(A, M, B, N, place), j = place - i;
    C[place] = j >= N || A[i] <= B[j] ? A[i] : B[j];
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

// @idea   stores float4 without looking at the alignment
// @source the mistakes that every problem ships
// @expect RE
// @arch   sm_80
// Wrong on purpose: right wherever C starts on 16 bytes, a misaligned address error elsewhere. The
// statement promises 4-byte alignment only.

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
    const int first = 4 * static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (first + 4 <= M + N) {
        float4 four;
        four.x = pick(A, M, B, N, first);
        four.y = pick(A, M, B, N, first + 1);
        four.z = pick(A, M, B, N, first + 2);
        four.w = pick(A, M, B, N, first + 3);
        reinterpret_cast<float4 *>(C)[first / 4] = four;
    } else {
        for (int place = first; place < M + N; place++)
            C[place] = pick(A, M, B, N, place);
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge<<<((M + N + 3) / 4 + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

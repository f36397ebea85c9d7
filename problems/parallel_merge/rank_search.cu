// @idea   every element searches its rank in the other list
// @source own; the bottom rung of the public field
// @expect AC
// @arch   sm_80
// Bytes: 8(M+N). Floor: 2.7 us + 8(M+N) / 4.28 TB/s = 96.2 us at 25M + 25M.
// Above it: M + N binary searches of some 25 dependent loads each. Neighbouring elements probe the
// same places, so most probes hit L1 or L2, but the latency of the chain stays. The stores are
// nearly coalesced, because neighbours in a list land close to one another.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

// How many elements of the sorted list are below x, or with or_equal not above it.
template <bool or_equal> __device__ int count_before(const float *list, int length, float x) {
    int low = 0, high = length;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        const bool before = or_equal ? list[middle] <= x : list[middle] < x;
        if (before)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// The rank of A[i] is i plus the elements of B below it; the rank of B[j] is j plus the elements of
// A not above it. The two rules together put equal elements of A before those of B.
__global__ void __launch_bounds__(THREADS)
    place(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int M,
          int N) {
    const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (i < M) {
        const float x = A[i];
        C[i + count_before<false>(B, N, x)] = x;
    } else if (i < M + N) {
        const float x = B[i - M];
        C[i - M + count_before<true>(A, M, x)] = x;
    }
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    place<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(A, B, C, M, N);
}

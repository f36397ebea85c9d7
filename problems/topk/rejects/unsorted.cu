// @idea   the right k values in no particular order
// @source selection taken for the whole task
// @expect WA
// @arch   sm_80
// Wrong on purpose: the sort after the selection is missing.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 512;

__device__ unsigned to_key(float x) {
    unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ float from_key(unsigned key) {
    return __uint_as_float(key ^ ((key >> 31) ? 0x80000000u : 0xffffffffu));
}

// One block finds the k-th largest key by four histograms and gathers what lies above it; the
// places that are left belong to the k-th key.
__device__ void select(const float *input, float *output, int n, int k) {
    __shared__ unsigned bins[256];
    __shared__ unsigned prefix, wanted, count;
    const int t = static_cast<int>(threadIdx.x);
    if (t == 0) {
        prefix = 0;
        wanted = static_cast<unsigned>(k);
        count = 0;
    }
    for (int shift = 24; shift >= 0; shift -= 8) {
        for (int i = t; i < 256; i += THREADS)
            bins[i] = 0;
        __syncthreads();
        const unsigned high = shift == 24 ? 0u : 0xffffffffu << (shift + 8);
        for (int i = t; i < n; i += THREADS) {
            const unsigned key = to_key(input[i]);
            if ((key & high) == (prefix & high))
                atomicAdd(&bins[(key >> shift) % 256], 1u);
        }
        __syncthreads();
        if (t == 0) {
            int digit = 255;
            while (digit > 0 && bins[digit] < wanted)
                wanted -= bins[digit--];
            prefix |= static_cast<unsigned>(digit) << shift;
        }
        __syncthreads();
    }
    for (int i = t; i < n; i += THREADS) {
        const float x = input[i];
        if (to_key(x) > prefix) {
            const unsigned slot = atomicAdd(&count, 1u);
            if (slot < static_cast<unsigned>(k))
                output[slot] = x;
        }
    }
    __syncthreads();
    for (int i = static_cast<int>(count) + t; i < k; i += THREADS)
        output[i] = from_key(prefix);
    __syncthreads();
}

__global__ void __launch_bounds__(THREADS)
    select_only(const float *input, float *output, int n, int k) {
    select(input, output, n, k);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    select_only<<<1, THREADS>>>(input, output, N, k);
}

// @idea   each of 16 blocks passes on k / 8 candidates only
// @source a shortcut seen in two-phase selections
// @expect WA
// @arch   sm_80
// Wrong on purpose: 2k candidates look like plenty while the winners are spread evenly. When more
// than k / 8 of them lie in one sixteenth of the input, the rest of them is lost.

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

// Bitonic sort in place, largest first, for any length: pairs that reach past n are skipped.
__device__ void sort_down(float *values, int n) {
    long long padded = 1;
    while (padded < n)
        padded *= 2;
    for (long long size = 2; size <= padded; size *= 2) {
        for (long long stride = size / 2; stride > 0; stride /= 2) {
            for (long long p = threadIdx.x; p < padded / 2; p += THREADS) {
                const long long i = p / stride * stride * 2 + p % stride;
                const long long j =
                    stride == size / 2 ? p / stride * size + size - 1 - p % stride : i + stride;
                if (j < n && to_key(values[i]) < to_key(values[j])) {
                    const float swap = values[i];
                    values[i] = values[j];
                    values[j] = swap;
                }
            }
            __syncthreads();
        }
    }
}

constexpr int PARTS = 16;

__global__ void __launch_bounds__(THREADS)
    candidates_of_part(const float *input, float *candidates, int n, int share) {
    const int part = (n + PARTS - 1) / PARTS;
    const int begin = static_cast<int>(blockIdx.x) * part;
    const int length = min(part, n - begin);
    for (int i = static_cast<int>(threadIdx.x); i < share; i += THREADS)
        candidates[blockIdx.x * share + i] = -INFINITY;
    __syncthreads();
    if (length > 0)
        select(input + begin, candidates + blockIdx.x * share, length, min(share, length));
}

__global__ void __launch_bounds__(THREADS)
    select_and_sort(const float *input, float *output, int n, int k) {
    select(input, output, n, k);
    sort_down(output, k);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    if (k < 8) {
        select_and_sort<<<1, THREADS>>>(input, output, N, k);
        return;
    }
    const int share = k / 8;
    float *candidates = nullptr;
    if (cudaMallocAsync(&candidates, sizeof(float) * PARTS * share, nullptr) != cudaSuccess)
        return;
    candidates_of_part<<<PARTS, THREADS>>>(input, candidates, N, share);
    select_and_sort<<<1, THREADS>>>(candidates, output, PARTS * share, k);
    cudaFreeAsync(candidates, nullptr);
}

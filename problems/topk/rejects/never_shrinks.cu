// @idea   bitonic rounds that keep k of 1,024, also for k above 512
// @source note 004, bitonic top-k
// @expect TLE
// @arch   sm_80
// Wrong on purpose: for k in 513 .. 1,024 and N above 1,024 a round leaves as many keys as it
// found, so the loop never ends. Larger k are sorted by one block, which is right.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 1024;

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

__global__ void __launch_bounds__(THREADS)
    select_and_sort(const float *input, float *output, int n, int k) {
    select(input, output, n, k);
    sort_down(output, k);
}

constexpr int TILE = 1024;

// One block keeps the k largest of every tile, and again of what is left, until one tile holds all.
__global__ void __launch_bounds__(THREADS)
    keep_k(const float *input, float *lists, float *output, int n, int k) {
    __shared__ float tile[TILE];
    const int t = static_cast<int>(threadIdx.x);
    const size_t length = static_cast<size_t>((n + TILE - 1) / TILE) * k;
    const float *from = input;
    float *to = lists;
    for (;;) {
        const int tiles = (n + TILE - 1) / TILE;
        float *kept = tiles == 1 ? output : to;
        for (int b = 0; b < tiles; ++b) {
            const int i = b * TILE + t;
            tile[t] = i < n ? from[i] : -INFINITY;
            __syncthreads();
            sort_down(tile, TILE);
            if (t < k)
                kept[static_cast<size_t>(b) * k + t] = tile[t];
            __syncthreads();
        }
        if (tiles == 1)
            return;
        n = tiles * k; // no less than before for k above 512
        from = to;
        to = to == lists ? lists + length : lists;
    }
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    if (k > TILE) {
        select_and_sort<<<1, THREADS>>>(input, output, N, k);
        return;
    }
    float *lists = nullptr;
    const size_t length = static_cast<size_t>((N + TILE - 1) / TILE) * k;
    if (cudaMallocAsync(&lists, sizeof(float) * 2 * length, nullptr) != cudaSuccess)
        return;
    keep_k<<<1, THREADS>>>(input, lists, output, N, k);
    cudaFreeAsync(lists, nullptr);
}

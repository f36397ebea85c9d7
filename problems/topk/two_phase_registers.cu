// @idea   a sorted list of 128 per thread in registers, lists merged in shared memory, twice
// @source note 000, sections 2 and 3
// @expect AC
// @arch   sm_80
// Bytes: 4N read, 4k written, plus 512 bytes per block of lists. Floor: 2.7 us + 4N / 4.62 TB/s.
// Far above it: a warp pays for an insertion of 2 x 128 instructions whenever one of its 32 lanes
// meets a key above its own threshold, which among the first few hundred elements is nearly always.
// The list has 128 places even when k is 1; two_phase_dispatch removes that. k above 128 takes the
// fallback: a bitonic sort of all N keys in global memory.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 128;
constexpr int BLOCKS_PER_SM = 4;
constexpr int MAX_BLOCKS = BLOCKS_PER_SM * 132; // the SMs of an H200
constexpr int LONGEST = 128;                    // longest register list

constexpr int SORT_THREADS = 1024;
constexpr int SORT_TILE = 2 * SORT_THREADS; // keys a block sorts in shared memory

__device__ unsigned candidates[MAX_BLOCKS * LONGEST]; // phase 1 writes, phase 2 reads

// Unsigned keys in the order of the floats: flip the sign bit of positive numbers and every bit of
// negative ones. Comparing keys also gives -0 < +0 and a place to NaN, so the order is total.
__device__ unsigned to_key(float x) {
    unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ float from_key(unsigned key) {
    return __uint_as_float(key ^ ((key >> 31) ? 0x80000000u : 0xffffffffu));
}

// The K largest keys that a thread has met, largest first. Every index into `list` is a constant
// after unrolling: with a run-time length the list would live in local memory, that is in DRAM.
template <int K> __device__ void insert(unsigned (&list)[K], unsigned key) {
    if (key <= list[K - 1])
        return;
#pragma unroll
    for (int i = 0; i < K; i++) {
        const unsigned larger = max(list[i], key);
        key = min(list[i], key);
        list[i] = larger;
    }
}

// One phase: THREADS lists per block, merged pairwise in shared memory until one is left. Phase 1
// (FIRST) reads floats with the whole grid and writes one list per block, phase 2 reads those
// lists with one block and writes the k results.
template <int K, bool FIRST>
__global__ void __launch_bounds__(THREADS)
    top_lists(const void *__restrict__ source, long long n, unsigned *lists, float *output, int k) {
    extern __shared__ unsigned rows[];
    constexpr int ROW = K;
    const int t = static_cast<int>(threadIdx.x);

    // Stream: neighbouring threads read neighbouring elements.
    unsigned list[K];
#pragma unroll
    for (int i = 0; i < K; i++)
        list[i] = 0; // below the key of -inf
    const long long step = static_cast<long long>(gridDim.x) * THREADS;
    for (long long i = static_cast<long long>(blockIdx.x) * THREADS + t; i < n; i += step) {
        if constexpr (FIRST)
            insert(list, to_key(static_cast<const float *>(source)[i]));
        else
            insert(list, static_cast<const unsigned *>(source)[i]);
    }
#pragma unroll
    for (int i = 0; i < K; i++)
        rows[t * ROW + i] = list[i];
    __syncthreads();

    // Tree: thread t merges its row with row t + half. The result goes through registers because
    // it overwrites the row it is read from.
    for (int half = THREADS / 2; half > 0; half /= 2) {
        if (t < half) {
            const unsigned *a = rows + t * ROW;
            const unsigned *b = rows + (t + half) * ROW;
            unsigned x = *a, y = *b;
#pragma unroll
            for (int i = 0; i < K; i++) {
                const bool take_a = x >= y;
                list[i] = take_a ? x : y;
                if (i + 1 < K) { // a row gives at most K keys: its last one is never advanced past
                    if (take_a)
                        x = *++a;
                    else
                        y = *++b;
                }
            }
#pragma unroll
            for (int i = 0; i < K; i++)
                rows[t * ROW + i] = list[i];
        }
        __syncthreads();
    }
    for (int i = t; i < K; i += THREADS) {
        if constexpr (FIRST)
            lists[static_cast<long long>(blockIdx.x) * K + i] = rows[i];
        else if (i < k)
            output[i] = from_key(rows[i]);
    }
}

// More blocks than run at once would only make more lists to merge.
int grid_limit() {
    static const int limit = [] {
        int device = 0, sms = 0;
        if (cudaGetDevice(&device) != cudaSuccess ||
            cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device) != cudaSuccess)
            return MAX_BLOCKS;
        return BLOCKS_PER_SM * sms < MAX_BLOCKS ? BLOCKS_PER_SM * sms : MAX_BLOCKS;
    }();
    return limit;
}

template <int K> void two_phases(const float *input, float *output, int N, int k) {
    constexpr int ROW = K;
    constexpr int SHARED = THREADS * ROW * static_cast<int>(sizeof(unsigned));
    static const bool opted_in = [] {
        cudaFuncSetAttribute(top_lists<K, true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             SHARED);
        cudaFuncSetAttribute(top_lists<K, false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             SHARED);
        return true;
    }();
    (void)opted_in;
    const int wanted = (N + THREADS - 1) / THREADS;
    const int blocks = wanted < grid_limit() ? wanted : grid_limit();
    unsigned *lists = nullptr;
    cudaGetSymbolAddress(reinterpret_cast<void **>(&lists), candidates);
    top_lists<K, true><<<blocks, THREADS, SHARED>>>(input, N, lists, output, k);
    top_lists<K, false>
        <<<1, THREADS, SHARED>>>(lists, static_cast<long long>(blocks) * K, lists, output, k);
}

// Bitonic sort, largest first, of any length n. The first step of every merge compares mirrored
// positions, so all comparisons point the same way and positions past n act as keys below all
// others: they would never move, hence a pair that reaches past n is skipped.
__device__ void order_pair(unsigned *keys, long long i, long long j, long long n) {
    if (j < n && keys[i] < keys[j]) {
        unsigned t = keys[i];
        keys[i] = keys[j];
        keys[j] = t;
    }
}

// All merges whose blocks fit a tile (from_size = 2), or the short strides of one longer merge.
__global__ void sort_tile(unsigned *keys, long long n, bool whole_sort) {
    __shared__ unsigned tile[SORT_TILE];
    const int t = static_cast<int>(threadIdx.x);
    const long long base = static_cast<long long>(blockIdx.x) * SORT_TILE;
    const long long rest = n - base < SORT_TILE ? n - base : SORT_TILE;
    for (int i = t; i < rest; i += SORT_THREADS)
        tile[i] = keys[base + i];
    __syncthreads();
    for (int size = whole_sort ? 2 : SORT_TILE; size <= SORT_TILE; size *= 2) {
        if (whole_sort) {
            const int block = t / (size / 2) * size, offset = t % (size / 2);
            order_pair(tile, block + offset, block + size - 1 - offset, rest);
            __syncthreads();
        }
        for (int stride = whole_sort ? size / 4 : size / 2; stride > 0; stride /= 2) {
            const int i = t / stride * stride * 2 + t % stride;
            order_pair(tile, i, i + stride, rest);
            __syncthreads();
        }
    }
    for (int i = t; i < rest; i += SORT_THREADS)
        keys[base + i] = tile[i];
}

// One step of a merge longer than a tile; mirror marks the first step of the merge.
__global__ void merge_step(unsigned *keys, long long n, long long half, bool mirror) {
    const long long pair = static_cast<long long>(blockIdx.x) * blockDim.x + threadIdx.x;
    const long long block = pair / half * half * 2, offset = pair % half;
    const long long i = block + offset;
    order_pair(keys, i, mirror ? block + 2 * half - 1 - offset : i + half, n);
}

void bitonic_sort(unsigned *keys, long long n) {
    long long padded = SORT_TILE;
    while (padded < n)
        padded *= 2;
    const unsigned tiles = static_cast<unsigned>((n + SORT_TILE - 1) / SORT_TILE);
    const unsigned grid = static_cast<unsigned>(padded / 2 / SORT_THREADS);
    sort_tile<<<tiles, SORT_THREADS>>>(keys, n, true);
    for (long long size = 2 * SORT_TILE; size <= padded; size *= 2) {
        merge_step<<<grid, SORT_THREADS>>>(keys, n, size / 2, true);
        for (long long stride = size / 4; stride >= SORT_TILE; stride /= 2)
            merge_step<<<grid, SORT_THREADS>>>(keys, n, stride, false);
        sort_tile<<<tiles, SORT_THREADS>>>(keys, n, false);
    }
}

__global__ void map_keys(const float *__restrict__ input, unsigned *keys, int n) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < n)
        keys[i] = to_key(input[i]);
}

__global__ void emit(const unsigned *__restrict__ keys, float *output, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < k)
        output[i] = from_key(keys[i]);
}

// The plain way for every other k: sort all N keys, write the first k.
void sort_everything(const float *input, float *output, int N, int k) {
    unsigned *keys = nullptr;
    if (cudaMallocAsync(&keys, sizeof(unsigned) * N, nullptr) != cudaSuccess)
        return;
    map_keys<<<(N + 255) / 256, 256>>>(input, keys, N);
    bitonic_sort(keys, N);
    emit<<<(k + 255) / 256, 256>>>(keys, output, k);
    cudaFreeAsync(keys, nullptr);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    if (k <= LONGEST)
        two_phases<LONGEST>(input, output, N, k);
    else
        sort_everything(input, output, N, k);
}

// @idea   sort 1,024 keys per block with a bitonic network, keep the k largest, repeat
// @source note 004, with a way out for k above 512, where a round no longer shrinks the list
// @expect AC
// @arch   sm_80
// Bytes: 4N read and 8 k/1024 N of lists written and read in the first round, less in the others;
// 4k written. Floor: 2.7 us + 4N / 4.62 TB/s. Far above it: every element goes through 55 steps of
// a network although only k of 1,024 are wanted, and each step is a barrier. Each round keeps
// k of 1,024, so it needs k <= 512 to halve the list at least; above that all N keys are sorted by
// a bitonic sort in global memory.

#include <cuda_runtime.h>

namespace {

constexpr int TILE = 1024; // keys a block sorts to keep k, with TILE / 2 threads
constexpr int LARGEST_K = TILE / 2;

constexpr int SORT_THREADS = 1024;
constexpr int SORT_TILE = 2 * SORT_THREADS; // keys a block sorts in shared memory

// Unsigned keys in the order of the floats: flip the sign bit of positive numbers and every bit of
// negative ones. Comparing keys also gives -0 < +0 and a place to NaN, so the order is total.
__device__ unsigned to_key(float x) {
    unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ float from_key(unsigned key) {
    return __uint_as_float(key ^ ((key >> 31) ? 0x80000000u : 0xffffffffu));
}

// FIRST reads the floats, LAST writes the answer; rounds in between map keys to keys.
template <bool FIRST>
__global__ void __launch_bounds__(TILE / 2)
    keep_k(const float *__restrict__ input, const unsigned *__restrict__ source, int n, int k,
           unsigned *kept, float *output) {
    __shared__ unsigned tile[TILE];
    const int t = static_cast<int>(threadIdx.x);
    const long long base = static_cast<long long>(blockIdx.x) * TILE;

    // Load, filling a short last tile with key 0, which is below the key of -inf.
    for (int i = t; i < TILE; i += TILE / 2) {
        unsigned key = 0;
        if (base + i < n)
            key = FIRST ? to_key(input[base + i]) : source[base + i];
        tile[i] = key;
    }
    __syncthreads();

    // Bitonic network: blocks of `size` are sorted in alternating directions, so that each pair of
    // neighbours is a bitonic sequence that the next size merges with strides size/2 .. 1.
    for (int size = 2; size <= TILE; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            const int i = 2 * t - (t & (stride - 1)), j = i + stride;
            const bool largest_first = (i & size) == 0;
            const unsigned a = tile[i], b = tile[j];
            if ((a < b) == largest_first) {
                tile[i] = b;
                tile[j] = a;
            }
            __syncthreads();
        }
    }

    for (int i = t; i < k; i += TILE / 2) {
        if (gridDim.x == 1)
            output[i] = from_key(tile[i]);
        else
            kept[static_cast<long long>(blockIdx.x) * k + i] = tile[i];
    }
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
    if (k > LARGEST_K) {
        sort_everything(input, output, N, k);
        return;
    }
    // Rounds alternate between two lists; the second round's list is never longer than the first's.
    int tiles = (N + TILE - 1) / TILE;
    const long long length = static_cast<long long>(tiles) * k;
    unsigned *lists = nullptr;
    if (tiles > 1 && cudaMallocAsync(&lists, sizeof(unsigned) * length * 2, nullptr) != cudaSuccess)
        return;
    unsigned *from = lists, *to = lists + length;
    keep_k<true><<<tiles, TILE / 2>>>(input, nullptr, N, k, from, output);
    while (tiles > 1) {
        const int n = tiles * k;
        tiles = (n + TILE - 1) / TILE;
        keep_k<false><<<tiles, TILE / 2>>>(nullptr, from, n, k, to, output);
        unsigned *swap = from;
        from = to;
        to = swap;
    }
    if (lists != nullptr)
        cudaFreeAsync(lists, nullptr);
}

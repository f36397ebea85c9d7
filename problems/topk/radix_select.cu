// @idea   find the k-th largest key digit by digit with histograms, gather what lies above, sort it
// @source note 004, made right for every k: the sort reaches beyond 1,024 and the keys are unmapped
// @expect AC
// @arch   sm_80
// Bytes: 5 x 4N read (four digits of 8 bits, then the gather), 4k written and sorted.
// Floor: 2.7 us + 4N / 4.62 TB/s. Above it: five reads instead of one, and ten launches that wait
// for one another. The answer is exact for every k: keys above the k-th are gathered, and the rest
// of the k places is filled with the k-th itself, so ties need no search. Not deterministic in the
// order of the gather, but the sort that follows removes the difference.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 512;
constexpr int MAX_BLOCKS = 528;
constexpr int BINS = 256;
constexpr int COPIES = 4; // histograms a block keeps: fewer lanes meet at one address

constexpr int SORT_THREADS = 1024;
constexpr int SORT_TILE = 2 * SORT_THREADS; // keys a block sorts in shared memory

// What the passes agree on. Static storage starts at zero and choose_digit leaves it so.
__device__ unsigned histogram[BINS];
__device__ unsigned prefix;   // digits of the k-th largest key found so far
__device__ unsigned wanted;   // its rank among the keys that share the prefix
__device__ unsigned gathered; // keys above it written so far

// Unsigned keys in the order of the floats: flip the sign bit of positive numbers and every bit of
// negative ones. Comparing keys also gives -0 < +0 and a place to NaN, so the order is total.
__device__ unsigned to_key(float x) {
    unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ float from_key(unsigned key) {
    return __uint_as_float(key ^ ((key >> 31) ? 0x80000000u : 0xffffffffu));
}

// Histogram of one digit over the keys whose higher digits equal the prefix.
__global__ void __launch_bounds__(THREADS)
    count_digit(const float *__restrict__ input, int n, int shift) {
    __shared__ unsigned bins[COPIES][BINS];
    const int t = static_cast<int>(threadIdx.x);
    for (int i = t; i < COPIES * BINS; i += THREADS)
        bins[i / BINS][i % BINS] = 0;
    __syncthreads();
    const unsigned high = shift == 24 ? 0u : 0xffffffffu << (shift + 8);
    const unsigned match = shift == 24 ? 0u : prefix;
    const long long step = static_cast<long long>(gridDim.x) * THREADS;
    for (long long i = static_cast<long long>(blockIdx.x) * THREADS + t; i < n; i += step) {
        const unsigned key = to_key(input[i]);
        if ((key & high) == match)
            atomicAdd(&bins[t % COPIES][(key >> shift) % BINS], 1u);
    }
    __syncthreads();
    for (int i = t; i < BINS; i += THREADS) {
        unsigned sum = 0;
        for (int c = 0; c < COPIES; c++)
            sum += bins[c][i];
        if (sum > 0)
            atomicAdd(&histogram[i], sum);
    }
}

// One block of BINS threads: the digit whose bin holds the wanted rank, counted from the top.
__global__ void __launch_bounds__(BINS) choose_digit(int shift, int k) {
    __shared__ unsigned above[BINS]; // keys with a digit of at least this one
    const int t = static_cast<int>(threadIdx.x);
    const unsigned own = histogram[t];
    const unsigned rank = shift == 24 ? static_cast<unsigned>(k) : wanted;
    const unsigned digits = shift == 24 ? 0u : prefix;
    above[t] = own;
    histogram[t] = 0; // clean for the next digit and the next call
    __syncthreads();
    for (int stride = 1; stride < BINS; stride *= 2) {
        const unsigned higher = t + stride < BINS ? above[t + stride] : 0;
        __syncthreads();
        above[t] += higher;
        __syncthreads();
    }
    const unsigned larger = above[t] - own;
    if (larger < rank && rank <= above[t]) { // true in exactly one thread
        prefix = digits | static_cast<unsigned>(t) << shift;
        wanted = rank - larger;
    }
    if (t == 0)
        gathered = 0;
}

// Keys above the k-th go to the front of the list in any order. A block scans its counts so that
// it needs one global atomic per THREADS elements.
__global__ void __launch_bounds__(THREADS)
    gather_above(const float *__restrict__ input, int n, unsigned *list) {
    __shared__ unsigned warp_counts[THREADS / 32];
    __shared__ unsigned base;
    const int t = static_cast<int>(threadIdx.x), lane = t % 32, warp = t / 32;
    const unsigned kth = prefix;
    const long long step = static_cast<long long>(gridDim.x) * THREADS;
    for (long long first = static_cast<long long>(blockIdx.x) * THREADS; first < n; first += step) {
        const bool inside = first + t < n;
        const unsigned key = inside ? to_key(input[first + t]) : 0;
        const bool take = inside && key > kth;
        const unsigned taking = __ballot_sync(0xffffffffu, take);
        if (lane == 0)
            warp_counts[warp] = __popc(taking);
        if (__syncthreads_or(take)) { // most rounds find nothing
            if (t == 0) {
                unsigned sum = 0;
                for (int w = 0; w < THREADS / 32; w++) {
                    const unsigned count = warp_counts[w];
                    warp_counts[w] = sum;
                    sum += count;
                }
                base = atomicAdd(&gathered, sum);
            }
            __syncthreads();
            if (take)
                list[base + warp_counts[warp] + __popc(taking & ((1u << lane) - 1))] = key;
            __syncthreads();
        }
    }
}

// The places that the larger keys leave belong to the k-th key and its equals.
__global__ void fill_ties(unsigned *list, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < k && static_cast<unsigned>(i) >= gathered)
        list[i] = prefix;
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

__global__ void emit(float *output, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < k)
        output[i] = from_key(__float_as_uint(output[i]));
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    const int blocks = (N + THREADS - 1) / THREADS;
    const int grid = blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
    for (int shift = 24; shift >= 0; shift -= 8) {
        count_digit<<<grid, THREADS>>>(input, N, shift);
        choose_digit<<<1, BINS>>>(shift, k);
    }
    // The output array holds the keys while they are gathered and sorted: no scratch is needed.
    unsigned *list = reinterpret_cast<unsigned *>(output);
    gather_above<<<grid, THREADS>>>(input, N, list);
    fill_ties<<<(k + 255) / 256, 256>>>(list, k);
    bitonic_sort(list, k);
    emit<<<(k + 255) / 256, 256>>>(output, k);
}

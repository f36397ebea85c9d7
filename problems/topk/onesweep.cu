// @idea   radix sort in four passes of one read and one write each, places found by look-back
// @source own; decoupled look-back and onesweep after Adinets and Merrill (arXiv 2206.01784)
// @expect AC
// @arch   sm_80
// Bytes: 4N to count all digits, 8N a pass: 36N when k is near N. Floor: 2.7 us + 4N / 4.62 TB/s;
// the sort itself cannot beat 36N / 4.28 TB/s = 420 us at 50M. full_sort reads each pass's keys
// twice, to count and to scatter; here a tile counts, publishes, and looks back over the tiles
// before it while its keys wait in shared memory. For k < 3N/4 one more read finds the bin of the
// k-th key by its top 11 bits, and only keys in or above that bin are sorted. Above the floor: the
// ranks within a warp cost some 40 instructions a key and pass. The answer is reproducible.

#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 512;
constexpr int WARPS = THREADS / 32;
constexpr unsigned FULL = 0xffffffffu;

// ---- tools -------------------------------------------------------------------------------------

__device__ int thread_id() { return static_cast<int>(threadIdx.x); }
__device__ int lane_id() { return static_cast<int>(threadIdx.x % 32); }

// Unsigned keys in the order of the floats: flip the sign bit of positive numbers and every bit of
// negative ones. -0 comes before +0 and NaN has a place, so the order is total.
__device__ unsigned to_key(float x) {
    const unsigned u = __float_as_uint(x);
    return u ^ ((u >> 31) ? 0xffffffffu : 0x80000000u);
}

__device__ float from_key(unsigned key) {
    return __uint_as_float(key ^ ((key >> 31) ? 0x80000000u : 0xffffffffu));
}

// The input as groups of four on 16 bytes, `step` groups at a time, and the loose elements before
// and behind them: at most 3 + 4 * step - 1.
struct Body {
    const float *input;
    int n, head, quads;
    const float4 *data;

    __device__ Body(const float *in, int count, int step = 1) : input(in), n(count) {
        const int past = static_cast<int>(reinterpret_cast<uintptr_t>(in) / sizeof(float) % 4);
        head = min((4 - past) % 4, n);
        quads = (n - head) / 4 / step * step;
        data = reinterpret_cast<const float4 *>(in + head);
    }
    __device__ int loose() const { return n - 4 * quads; }
    __device__ float loose_value(int i) const { return input[i < head ? i : i + 4 * quads]; }
};

struct Choice {
    unsigned digit; // bin that holds the wanted rank, counted from the largest digit
    unsigned rank;  // rank within that bin, 1 = largest
};

// The bin of rank `rank` among `BINS` counts, for the whole block. Threads hold consecutive bins
// from the top down, so a scan over threads counts from the largest digit.
template <int BINS> __device__ Choice choose_bin(const unsigned *counts, unsigned rank) {
    static_assert(BINS % THREADS == 0, "every thread holds as many bins");
    constexpr int EACH = BINS / THREADS;
    __shared__ unsigned warp_sums[WARPS];
    __shared__ Choice choice;
    const int t = thread_id();
    const int lowest = (t ^ (THREADS - 1)) * EACH; // the thread's bins, upwards
    unsigned own[EACH], sum = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        own[e] = counts[lowest + e];
        sum += own[e];
    }
    unsigned inclusive = sum;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(FULL, inclusive, d);
        inclusive += lane_id() >= d ? left : 0;
    }
    if (lane_id() == 31)
        warp_sums[t / 32] = inclusive;
    if (t == 0)
        choice = {0, 1}; // should the counts not reach the rank
    __syncthreads();
    unsigned above = inclusive - sum;
    for (int w = 0; w < t / 32; w++)
        above += warp_sums[w];
#pragma unroll
    for (int e = EACH - 1; e >= 0; e--) {
        if (above < rank && rank <= above + own[e])
            choice = {static_cast<unsigned>(lowest + e), rank - above};
        above += own[e];
    }
    __syncthreads();
    const Choice found = choice;
    __syncthreads(); // the shared words may be used again
    return found;
}

// ---- the sort for large k: one read to count, four passes with look-back -----------------------

constexpr int SORT_ITEMS = 16; // keys a thread
constexpr int SORT_TILE = THREADS * SORT_ITEMS;
constexpr int DIGITS = 256;
constexpr int PASSES = 4;
constexpr int TOP_BINS = 2048; // bins of the filter: sign, exponent and two bits of the mantissa
constexpr int TOP_SHIFT = 21;

// A look-back word is a state in the top two bits and a count below: keys stay below 2^30.
constexpr unsigned STATE_TILE = 1u << 30;  // count of this tile alone
constexpr unsigned STATE_TOTAL = 2u << 30; // count of all tiles up to this one
constexpr unsigned COUNT_MASK = STATE_TILE - 1;

__device__ unsigned digit_counts[PASSES][DIGITS];
__device__ unsigned top_counts[TOP_BINS];
__device__ unsigned tickets[PASSES]; // order in which blocks take tiles
__device__ unsigned sort_length;     // keys to sort

// Digits count from the top, so that ascending digits mean descending keys.
__device__ unsigned sort_digit(unsigned key, int pass) { return 255u - ((key >> 8 * pass) & 255u); }

__global__ void __launch_bounds__(1024) sort_reset(int n) {
    const int t = thread_id();
    (&digit_counts[0][0])[t] = 0;
    for (int i = t; i < TOP_BINS; i += 1024)
        top_counts[i] = 0;
    if (t < PASSES)
        tickets[t] = 0;
    if (t == 0)
        sort_length = static_cast<unsigned>(n);
}

// Counts the bins of the filter in one read of the input.
__global__ void __launch_bounds__(THREADS) sort_count_top(const float *__restrict__ input, int n) {
    __shared__ unsigned bins[2][TOP_BINS]; // two copies: half as many lanes meet at an address
    const int t = thread_id();
    for (int i = t; i < 2 * TOP_BINS; i += THREADS)
        (&bins[0][0])[i] = 0;
    __syncthreads();
    const Body body(input, n);
    unsigned *mine = bins[t % 2];
    const int step = static_cast<int>(gridDim.x) * THREADS;
#pragma unroll 4
    for (int q = static_cast<int>(blockIdx.x) * THREADS + t; q < body.quads; q += step) {
        const float4 four = __ldcs(body.data + q);
        atomicAdd(&mine[to_key(four.x) >> TOP_SHIFT], 1u);
        atomicAdd(&mine[to_key(four.y) >> TOP_SHIFT], 1u);
        atomicAdd(&mine[to_key(four.z) >> TOP_SHIFT], 1u);
        atomicAdd(&mine[to_key(four.w) >> TOP_SHIFT], 1u);
    }
    if (blockIdx.x == 0 && t < body.loose())
        atomicAdd(&mine[to_key(body.loose_value(t)) >> TOP_SHIFT], 1u);
    __syncthreads();
    for (int i = t; i < TOP_BINS; i += THREADS) {
        const unsigned count = bins[0][i] + bins[1][i];
        if (count > 0)
            atomicAdd(&top_counts[i], count);
    }
}

// Writes the keys in or above the bin of the k-th, in any order: one global atomic per block and
// round of 16 elements a thread.
__global__ void __launch_bounds__(THREADS)
    sort_filter(const float *__restrict__ input, int n, int k, unsigned *kept) {
    constexpr int QUADS = 4; // a thread and round
    __shared__ unsigned warp_counts[WARPS];
    __shared__ unsigned block_base;
    const int t = thread_id(), warp = t / 32, lane = lane_id();
    const unsigned lowest = choose_bin<TOP_BINS>(top_counts, static_cast<unsigned>(k)).digit
                            << TOP_SHIFT;
    const Body body(input, n);
    const int step = static_cast<int>(gridDim.x) * THREADS * QUADS;
    const int rounds = (body.quads + step - 1) / step;
    for (int r = 0; r <= rounds; r++) { // the last round serves the loose elements
        unsigned key[4 * QUADS];
        unsigned takes = 0; // a bit per key
#pragma unroll
        for (int u = 0; u < QUADS; u++) {
            float4 four = {};
            bool inside;
            if (r < rounds) {
                const int q = r * step + (static_cast<int>(blockIdx.x) * QUADS + u) * THREADS + t;
                inside = q < body.quads;
                if (inside)
                    four = __ldcs(body.data + q);
                takes |= inside ? 15u << 4 * u : 0;
            } else {
                inside = u == 0 && blockIdx.x == 0 && t < body.loose();
                if (inside)
                    four.x = body.loose_value(t);
                takes |= inside ? 1u << 4 * u : 0;
            }
            key[4 * u] = to_key(four.x);
            key[4 * u + 1] = to_key(four.y);
            key[4 * u + 2] = to_key(four.z);
            key[4 * u + 3] = to_key(four.w);
        }
#pragma unroll
        for (int c = 0; c < 4 * QUADS; c++) {
            if (key[c] < lowest)
                takes &= ~(1u << c);
        }
        const unsigned total = __reduce_add_sync(FULL, static_cast<unsigned>(__popc(takes)));
        if (lane == 0)
            warp_counts[warp] = total;
        if (!__syncthreads_or(takes != 0))
            continue;
        unsigned before = 0, sum = 0;
        for (int w = 0; w < WARPS; w++) {
            before += w < warp ? warp_counts[w] : 0;
            sum += warp_counts[w];
        }
        if (t == 0)
            block_base = atomicAdd(&sort_length, sum);
        __syncthreads();
        unsigned place = block_base + before;
#pragma unroll
        for (int c = 0; c < 4 * QUADS; c++) {
            const bool take = (takes >> c & 1u) != 0;
            const unsigned taking = __ballot_sync(FULL, take);
            if (take)
                kept[place + static_cast<unsigned>(__popc(taking & ((1u << lane) - 1)))] = key[c];
            place += static_cast<unsigned>(__popc(taking));
        }
        __syncthreads(); // the shared words may be used again
    }
}

// Counts all four digits of the keys to sort, in `kept` or else in the input, in one read. Also
// clears the look-back words of the first pass.
__global__ void __launch_bounds__(THREADS)
    sort_count(const float *__restrict__ input, int n, const unsigned *__restrict__ kept,
               unsigned *look_back, int look_back_words) {
    __shared__ unsigned bins[PASSES][DIGITS];
    const int t = thread_id();
    for (int i = t; i < PASSES * DIGITS; i += THREADS)
        (&bins[0][0])[i] = 0;
    const int step = static_cast<int>(gridDim.x) * THREADS;
    const int start = static_cast<int>(blockIdx.x) * THREADS + t;
    for (int i = start; i < look_back_words; i += step)
        look_back[i] = 0;
    __syncthreads();
    const auto count = [&](unsigned key) {
#pragma unroll
        for (int pass = 0; pass < PASSES; pass++)
            atomicAdd(&bins[pass][sort_digit(key, pass)], 1u);
    };
    if (kept == nullptr) {
        const Body body(input, n);
#pragma unroll 4
        for (int q = start; q < body.quads; q += step) {
            const float4 four = __ldcs(body.data + q);
            count(to_key(four.x));
            count(to_key(four.y));
            count(to_key(four.z));
            count(to_key(four.w));
        }
        if (start < body.loose())
            count(to_key(body.loose_value(start)));
    } else {
        const int length = static_cast<int>(sort_length);
        const uint4 *groups = reinterpret_cast<const uint4 *>(kept); // scratch, on 16 bytes
#pragma unroll 4
        for (int q = start; q < length / 4; q += step) {
            const uint4 four = __ldcg(groups + q);
            count(four.x);
            count(four.y);
            count(four.z);
            count(four.w);
        }
        if (start < length % 4)
            count(kept[length / 4 * 4 + start]);
    }
    __syncthreads();
    for (int i = t; i < PASSES * DIGITS; i += THREADS) {
        const unsigned sum = (&bins[0][0])[i];
        if (sum > 0)
            atomicAdd(&(&digit_counts[0][0])[i], sum);
    }
}

struct SortShared {
    union {
        unsigned counters[WARPS][DIGITS]; // while ranks are found
        unsigned keys[SORT_TILE];         // when they are known
    };
    unsigned local_begin[DIGITS]; // where a digit begins in the sorted tile
    unsigned shift_to_global[DIGITS];
    unsigned warp_sums[DIGITS / 32];
    unsigned tile;
};

// One stable pass over one digit. A tile's keys are sorted by the digit in shared memory and leave
// in runs; where a digit's run goes is the sum over all earlier tiles, found by looking back over
// their published counts. `from` is null in a first pass that reads the input itself, `output`
// is set in the last pass.
__global__ void __launch_bounds__(THREADS, 2)
    sort_pass(const float *__restrict__ input, const unsigned *__restrict__ from, unsigned *to,
              float *output, int k, int pass, unsigned *look_back, unsigned *next_look_back) {
    extern __shared__ unsigned dynamic[];
    SortShared &shared = *reinterpret_cast<SortShared *>(dynamic);
    const int t = thread_id(), warp = t / 32, lane = lane_id();
    if (t == 0)
        shared.tile = atomicAdd(&tickets[pass], 1u);
    for (int i = t; i < WARPS * DIGITS; i += THREADS)
        (&shared.counters[0][0])[i] = 0;
    __syncthreads();
    const unsigned tile = shared.tile;
    const long long base = static_cast<long long>(tile) * SORT_TILE;
    const long long rest = static_cast<long long>(sort_length) - base;
    if (rest <= 0)
        return;
    const int valid = rest < SORT_TILE ? static_cast<int>(rest) : SORT_TILE;

    // Load. A warp owns 32 * SORT_ITEMS consecutive keys. Places past the end get key 0, which
    // sorts last and, being last in the tile too, behind every real key.
    unsigned key[SORT_ITEMS];
    const int warp_first = warp * 32 * SORT_ITEMS;
#pragma unroll
    for (int r = 0; r < SORT_ITEMS; r++) {
        const int i = warp_first + r * 32 + lane;
        key[r] = 0;
        if (i < valid)
            key[r] = from != nullptr ? __ldcs(from + base + i) : to_key(__ldcs(input + base + i));
    }

    // Rank within the warp: lanes with equal digits find one another bit by bit, the first of them
    // moves the warp's counter.
    unsigned rank[SORT_ITEMS];
#pragma unroll
    for (int r = 0; r < SORT_ITEMS; r++) {
        const unsigned digit = sort_digit(key[r], pass);
        unsigned peers = FULL;
#pragma unroll
        for (int b = 0; b < 8; b++) {
            const bool bit = (digit >> b & 1u) != 0;
            const unsigned with = __ballot_sync(FULL, bit);
            peers &= bit ? with : ~with;
        }
        const int leader = __ffs(static_cast<int>(peers)) - 1;
        unsigned before = 0;
        if (lane == leader) {
            before = shared.counters[warp][digit];
            shared.counters[warp][digit] = before + static_cast<unsigned>(__popc(peers));
        }
        before = __shfl_sync(FULL, before, leader);
        rank[r] = before + static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
        __syncwarp();
    }
    __syncthreads();

    // A thread per digit: the warps' counts become offsets, the tile's count is published.
    unsigned own = 0, begin = 0;
    volatile unsigned *words = look_back;
    if (t < DIGITS) {
#pragma unroll
        for (int w = 0; w < WARPS; w++) {
            const unsigned count = shared.counters[w][t];
            shared.counters[w][t] = own;
            own += count;
        }
        if (tile > 0)
            words[static_cast<size_t>(tile) * DIGITS + t] = STATE_TILE | own;
        next_look_back[static_cast<size_t>(tile) * DIGITS + t] = 0; // for the next pass
        begin = own;
#pragma unroll
        for (int d = 1; d < 32; d *= 2) {
            const unsigned left = __shfl_up_sync(FULL, begin, d);
            begin += lane >= d ? left : 0;
        }
        if (lane == 31)
            shared.warp_sums[warp] = begin;
    }
    __syncthreads();
    if (t < DIGITS) {
        begin -= own;
        for (int w = 0; w < warp; w++)
            begin += shared.warp_sums[w];
        shared.local_begin[t] = begin;
    }
    __syncthreads();

    // Final place in the tile, then the keys go to shared memory over the counters.
#pragma unroll
    for (int r = 0; r < SORT_ITEMS; r++) {
        const unsigned digit = sort_digit(key[r], pass);
        rank[r] += shared.local_begin[digit] + shared.counters[warp][digit];
    }
    __syncthreads();
#pragma unroll
    for (int r = 0; r < SORT_ITEMS; r++)
        shared.keys[rank[r]] = key[r];

    // Look back. Tile 0 begins with the digit's place in the whole array instead.
    if (t < DIGITS) {
        unsigned before = 0;
        if (tile == 0) {
            const unsigned count = digit_counts[pass][t];
            before = count;
#pragma unroll
            for (int d = 1; d < 32; d *= 2) {
                const unsigned left = __shfl_up_sync(FULL, before, d);
                before += lane >= d ? left : 0;
            }
            before -= count;
            for (int w = 0; w < warp; w++)
                before += __reduce_add_sync(FULL, digit_counts[pass][w * 32 + lane]);
        } else {
            for (size_t p = tile; p-- > 0;) {
                unsigned word;
                do {
                    word = words[p * DIGITS + t];
                } while (word < STATE_TILE);
                before += word & COUNT_MASK;
                if (word >= STATE_TOTAL)
                    break;
            }
        }
        words[static_cast<size_t>(tile) * DIGITS + t] = STATE_TOTAL | (before + own);
        shared.shift_to_global[t] = before - begin;
    }
    __syncthreads();

#pragma unroll
    for (int r = 0; r < SORT_ITEMS; r++) {
        const int i = r * THREADS + t;
        if (i < valid) {
            const unsigned out_key = shared.keys[i];
            const unsigned place =
                shared.shift_to_global[sort_digit(out_key, pass)] + static_cast<unsigned>(i);
            if (output == nullptr)
                to[place] = out_key;
            else if (place < static_cast<unsigned>(k))
                output[place] = from_key(out_key);
        }
    }
}

// Sorts the input, or above FILTER_SHARE of it only the keys that can matter.
void sort_down(const float *input, float *output, int N, int k, int count_blocks) {
    const bool filter = static_cast<long long>(k) * 4 < static_cast<long long>(N) * 3;
    const size_t tiles = (static_cast<size_t>(N) + SORT_TILE - 1) / SORT_TILE;
    const size_t words = tiles * DIGITS;
    const size_t padded = (static_cast<size_t>(N) + 31) / 32 * 32;
    static const bool prepared = [] {
        // Memory that a call gives back stays in the pool for the next call.
        int device = 0;
        cudaMemPool_t pool;
        unsigned long long keep = ~0ULL;
        cudaGetDevice(&device);
        if (cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess)
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
        return true;
    }();
    (void)prepared;
    unsigned *scratch = nullptr;
    if (cudaMallocAsync(&scratch, (2 * words + 2 * padded) * sizeof(unsigned), nullptr) !=
        cudaSuccess)
        return;
    unsigned *look_back[2] = {scratch, scratch + words};
    unsigned *keys[2] = {scratch + 2 * words, scratch + 2 * words + padded};

    sort_reset<<<1, 1024>>>(filter ? 0 : N);
    if (filter) {
        sort_count_top<<<count_blocks, THREADS>>>(input, N);
        sort_filter<<<count_blocks, THREADS>>>(input, N, k, keys[0]);
    }
    sort_count<<<count_blocks, THREADS>>>(input, N, filter ? keys[0] : nullptr, look_back[0],
                                          static_cast<int>(words));
    for (int pass = 0; pass < PASSES; pass++) {
        const unsigned *from = pass == 0 && !filter ? nullptr : keys[pass % 2];
        sort_pass<<<static_cast<unsigned>(tiles), THREADS, sizeof(SortShared)>>>(
            input, from, keys[(pass + 1) % 2], pass == PASSES - 1 ? output : nullptr, k, pass,
            look_back[pass % 2], look_back[(pass + 1) % 2]);
    }
    cudaFreeAsync(scratch, nullptr);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    static const int sms = [] {
        int device = 0, count = 1;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
        return count;
    }();
    sort_down(input, output, N, k, 2 * sms);
}

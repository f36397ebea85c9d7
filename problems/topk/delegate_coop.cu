// @idea   the file to submit: one read that keeps segment maxima, a threshold from them, a re-read
// @source own; delegates as in Dr. Top-k (arXiv 2109.08219), exact for ties and every k
// @expect AC
// @arch   sm_80
// Bytes: 4N read, 4 KB a winning segment read again, 4k written.
// Floor: 2.7 us + 4N / 4.62 TB/s = 46.0 us at 50M.
//
// The input is read once. Each segment of it leaves its maximum, the delegate. The k-th largest of
// any k or more maxima of different elements is a threshold t that at least k elements reach, so
// only segments whose delegate is above t can hold anything larger, about 140 of 48,828 at N = 50M
// and k = 100. Their elements above t are ranked, and what is missing to k is t itself: ties need
// no search. One cooperative launch; blocks tell one another what they found by words that are
// their own flags. Above the floor: ramp and tail of the stream, two meetings of the blocks, the
// threshold, the latency of the second read.
//
// Paths. N <= 1,024, or 4,096 if k is above 1,024: every element is ranked by counting. N <= 16,384
// and k <= 1,024: one block.
// k <= 2,048: segments are batches of 1,024; up to 2.1 million elements a warp has one batch only,
// keeps it in registers and reads nothing twice, and if k is large for N, segments are groups of
// its lanes. Larger k: two rounds of partition by sampled splitters, then buckets of some 3,000
// keys are sorted in shared memory: 24N bytes, or less for k < N, since what is surely below the
// k-th key is dropped at once. Hardware feature used: cooperative launch. The answer is bitwise
// reproducible.

#include <cmath>
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

// Sum over the threads of a block before this one, and over all.
__device__ unsigned scan_block(unsigned value, unsigned &all) {
    __shared__ unsigned warp_sums[WARPS];
    unsigned inclusive = value;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(FULL, inclusive, d);
        inclusive += lane_id() >= d ? left : 0;
    }
    __syncthreads(); // an earlier scan's words have been read
    if (lane_id() == 31)
        warp_sums[thread_id() / 32] = inclusive;
    __syncthreads();
    unsigned before = inclusive - value;
    all = 0;
    for (int w = 0; w < WARPS; w++) {
        before += w < thread_id() / 32 ? warp_sums[w] : 0;
        all += warp_sums[w];
    }
    return before;
}

constexpr int DIGIT = 11; // bits a round of a selection
constexpr int RADIX = 1 << DIGIT;

struct Choice {
    unsigned digit; // bin that holds the wanted rank, counted from the largest digit
    unsigned rank;  // rank within that bin, 1 = largest
};

// The bin of rank `rank`, for the whole block. Threads hold consecutive bins from the top down, so
// a scan over threads counts from the largest digit.
__device__ Choice choose_bin(const unsigned *counts, unsigned rank) {
    constexpr int EACH = RADIX / THREADS;
    __shared__ Choice choice;
    const int lowest = (thread_id() ^ (THREADS - 1)) * EACH; // the thread's bins, upwards
    unsigned own[EACH], sum = 0, all = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        own[e] = counts[lowest + e];
        sum += own[e];
    }
    if (thread_id() == 0)
        choice = {0, 1}; // should the counts not reach the rank
    unsigned above = scan_block(sum, all);
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

// Adds the digits of a warp to bins in shared memory. Where the data share their leading bits all
// lanes meet on one bin, and atomics on one address go one by one: the lanes that agree with the
// first counting lane are added at once, the others each for itself.
__device__ void count_digit(unsigned *bins, bool counts, unsigned digit) {
    const unsigned all = __ballot_sync(FULL, counts);
    if (all == 0)
        return;
    const int first = __ffs(static_cast<int>(all)) - 1;
    const unsigned common = __shfl_sync(FULL, digit, first);
    const bool agrees = counts && digit == common;
    const unsigned crowd = __ballot_sync(FULL, agrees);
    if (lane_id() == first)
        atomicAdd(&bins[common], static_cast<unsigned>(__popc(crowd)));
    if (counts && !agrees)
        atomicAdd(&bins[digit], 1u);
}

// ---- delegates: one full read, exact -----------------------------------------------------------

constexpr int MAX_BLOCKS = 512; // 264 on an H200
constexpr int BATCH = 1024;     // elements a warp reads at once: 8 float4 a lane
constexpr int MAX_N = 100000000;
constexpr int COARSE_K = 2048; // largest k of this way
constexpr int OWN = 2048;      // batches of a block at most
constexpr int BUFFER = 2048;   // survivors a block can hold
constexpr int LINE = 32;       // a block with fewer survivors posts them
constexpr int RANKED = 8192;   // survivors that are ranked by counting
constexpr int LIST = 1 << 22;  // all survivors fit: at most (COARSE_K - 1) * BATCH, or all buffers
constexpr unsigned NONE = 1;           // the maximum of no elements; below every key, and not zero
constexpr unsigned LONG = FULL;        // in place of a count: more survivors than are posted
constexpr unsigned GIVEN_UP = FULL - 1; // or more than the buffer holds
constexpr int FEW = 16; // maxima above the threshold that are not worth another round

// Where the threshold comes from: the k-th largest of the maxima of blocks, of warps, or of groups
// of lanes.
enum class Tier { blocks, warps, groups };

// What blocks tell one another. A word is its own message: none that is sent is zero, so a reader
// looks until the word is not zero, and no fence is needed. A call uses one set and clears the
// other for the next call.
struct Mail {
    unsigned maxima[MAX_BLOCKS * WARPS];
    unsigned heads[MAX_BLOCKS][8]; // one more than the count of survivors, and the first seven
    unsigned lines[MAX_BLOCKS][LINE]; // the others, from the ninth word on
    unsigned bins[6][RADIX];
    unsigned arrivals[2][32];
    unsigned lengths[2][32]; // of the lists
};
__device__ __align__(128) Mail mails[2];
__device__ unsigned calls; // its lowest bit names the set in use
__device__ unsigned lists[2][LIST];
__device__ unsigned barrier_word;

// Relaxed accesses at device scope: indivisible and never served from a stale cache line.
__device__ void post(unsigned *at, unsigned word) {
    asm volatile("st.relaxed.gpu.global.u32 [%0], %1;" ::"l"(at), "r"(word) : "memory");
}

__device__ unsigned peek(const unsigned *at) {
    unsigned word;
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(word) : "l"(at) : "memory");
    return word;
}

__device__ void peek4(const unsigned *at, unsigned *four) {
    asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                 : "=r"(four[0]), "=r"(four[1]), "=r"(four[2]), "=r"(four[3])
                 : "l"(at)
                 : "memory");
}

// All blocks of the cooperative grid meet. The top bit of the word flips once per meeting, because
// block 0 adds what the others leave to 2^31, so nothing has to be reset.
__device__ void grid_barrier() {
    __syncthreads();
    if (thread_id() == 0) {
        const unsigned step = blockIdx.x == 0 ? 0x80000000u - (gridDim.x - 1) : 1u;
        __threadfence();
        const unsigned before = atomicAdd(&barrier_word, step);
        while (((before ^ *static_cast<volatile unsigned *>(&barrier_word)) & 0x80000000u) == 0) {
        }
        __threadfence();
    }
    __syncthreads();
}

// A meeting without fences, after words were posted: they may still be on the way. It spares the
// memory, which slower blocks are reading, the looks of many threads at many words.
__device__ void meet(unsigned *arrivals) {
    __syncthreads();
    if (thread_id() == 0) {
        atomicAdd(arrivals, 1u);
        while (peek(arrivals) < gridDim.x)
            __nanosleep(40);
    }
    __syncthreads();
}

// The shared memory of the delegate kernel.
struct Stage {
    unsigned own[OWN]; // delegates of the block's batches, by place
    unsigned buffer[BUFFER];
    unsigned buffered;         // above BUFFER if it has run over
    unsigned maxima[WARPS];
    unsigned ranges[2][WARPS];
    unsigned queued, base;
    union alignas(16) { // what is read four words at a time must not reach beyond its end
        unsigned bins[RADIX];
        unsigned queue[OWN];
        unsigned keys[RANKED];
    };
};

// The k-th largest key that the threads of a block hold, or a little less: at most FEW keys lie
// between. The range of the keys is cut into equal bins, and the lower end of the bin that holds
// the k-th will do; a bin that is too full is cut again.
template <int EACH>
__device__ unsigned kth_of_keys(const unsigned (&key)[EACH], int k, unsigned *bins,
                                unsigned (&ranges)[2][WARPS]) {
    const int t = thread_id();
    unsigned lowest = FULL, highest = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        lowest = min(lowest, key[e] > NONE ? key[e] : FULL);
        highest = max(highest, key[e]);
    }
    lowest = __reduce_min_sync(FULL, lowest);
    highest = __reduce_max_sync(FULL, highest);
    if (lane_id() == 0) {
        ranges[0][t / 32] = lowest;
        ranges[1][t / 32] = highest;
    }
    for (int i = t; i < RADIX; i += THREADS)
        bins[i] = 0;
    __syncthreads();
    lowest = __reduce_min_sync(FULL, ranges[0][lane_id() % WARPS]);
    highest = __reduce_max_sync(FULL, ranges[1][lane_id() % WARPS]);
    int bits = 32 - __clz(static_cast<int>(highest - lowest));
    unsigned rank = static_cast<unsigned>(k), width = highest - lowest;
    for (;;) {
        const int shift = bits > DIGIT ? bits - DIGIT : 0;
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if (key[e] > NONE && key[e] - lowest <= width)
                atomicAdd(&bins[(key[e] - lowest) >> shift], 1u);
        }
        __syncthreads();
        const Choice choice = choose_bin(bins, rank);
        lowest += choice.digit << shift;
        if (shift == 0 || bins[choice.digit] - choice.rank < FEW)
            return lowest; // the same for all threads
        __syncthreads();
        for (int i = t; i < RADIX; i += THREADS)
            bins[i] = 0;
        __syncthreads();
        rank = choice.rank;
        width = (1u << shift) - 1;
        bits = shift;
    }
}

// The same for `count` maxima that blocks post; every block finds it for itself.
template <int EACH> // maxima a thread
__device__ unsigned kth_of_maxima(const unsigned *maxima, int count, int k, Stage &stage) {
    const int t = thread_id();
    unsigned key[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++)
        key[e] = e * THREADS + t < count ? peek(maxima + e * THREADS + t) : NONE;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        while (key[e] == 0)
            key[e] = peek(maxima + e * THREADS + t);
    }
    return kth_of_keys(key, k, stage.bins, stage.ranges);
}

// The exact k-th largest of all keys that all blocks count, by three digits. `count_all` adds the
// block's share of the keys that begin with `prefix` to the bins.
template <typename COUNT>
__device__ unsigned kth_of_grid(int k, unsigned (*all_bins)[RADIX], unsigned *bins,
                                COUNT count_all) {
    unsigned prefix = 0, high = 0, rank = static_cast<unsigned>(k);
    for (int round = 0; round < 3; round++) {
        const int shift = round == 2 ? 0 : 32 - DIGIT * (round + 1);
        const unsigned mask = round == 2 ? (1u << (32 - 2 * DIGIT)) - 1 : RADIX - 1;
        for (int i = thread_id(); i < RADIX; i += THREADS)
            bins[i] = 0;
        __syncthreads();
        count_all([&](bool is, unsigned key) {
            count_digit(bins, is && (key & high) == prefix, key >> shift & mask);
        });
        __syncthreads();
        for (int b = thread_id(); b < RADIX; b += THREADS) {
            if (bins[b] > 0)
                atomicAdd(&all_bins[round][b], bins[b]);
        }
        grid_barrier();
        for (int b = thread_id(); b < RADIX; b += THREADS)
            bins[b] = __ldcg(&all_bins[round][b]);
        __syncthreads();
        const Choice choice = choose_bin(bins, rank);
        prefix |= choice.digit << shift;
        rank = choice.rank;
        high |= mask << shift;
    }
    return prefix;
}

__device__ float largest_of(const float4 (&v)[8]) {
    float m = fmaxf(fmaxf(v[0].x, v[0].y), fmaxf(v[0].z, v[0].w));
#pragma unroll
    for (int j = 1; j < 8; j++)
        m = fmaxf(m, fmaxf(fmaxf(v[j].x, v[j].y), fmaxf(v[j].z, v[j].w)));
    return m;
}

// Where survivors go: the block's buffer, or a list of the grid.
struct Store {
    unsigned *keys, *length, capacity;

    __device__ void add(float x) const {
        const unsigned place = atomicAdd(length, 1u);
        if (place < capacity)
            keys[place] = to_key(x);
    }
    // Of a lane's 32 elements it is nearly always the largest alone that is above the limit. The
    // other code is long, and cold instructions are slow.
    __device__ void add(const float4 (&v)[8], float limit) const {
        int above = 0;
#pragma unroll
        for (int j = 0; j < 8; j++)
            above += (v[j].x > limit) + (v[j].y > limit) + (v[j].z > limit) + (v[j].w > limit);
        if (above == 1)
            add(largest_of(v));
        if (above <= 1)
            return;
        unsigned place = atomicAdd(length, static_cast<unsigned>(above));
        const auto put = [&](float x) {
            if (x > limit && place++ < capacity)
                keys[place - 1] = to_key(x);
        };
#pragma unroll
        for (int j = 0; j < 8; j++) {
            put(v[j].x);
            put(v[j].y);
            put(v[j].z);
            put(v[j].w);
        }
    }
};

// The input as batches on a boundary of 16 bytes, and the loose elements before and behind them.
// The batches of a block lie `grid` apart; place is a number in this order.
struct Batches {
    const float *input;
    int n, head, count;

    __device__ Batches(const float *in, int total) : input(in), n(total) {
        const int past = static_cast<int>(reinterpret_cast<uintptr_t>(in) / sizeof(float) % 4);
        head = min((4 - past) % 4, n);
        count = (n - head) / BATCH;
    }
    __device__ int loose() const { return n - BATCH * count; }
    __device__ float loose_value(int i) const { return input[i < head ? i : i + BATCH * count]; }
    __device__ int places() const { // of this block
        const int grid = static_cast<int>(gridDim.x);
        return (count - static_cast<int>(blockIdx.x) + grid - 1) / grid;
    }
    __device__ static int at(int place) {
        return place * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
    }
    __device__ void read(int batch, float4 (&v)[8]) const {
        const float4 *from = reinterpret_cast<const float4 *>(input + head) + batch * (BATCH / 4);
#pragma unroll
        for (int j = 0; j < 8; j++)
            v[j] = __ldcs(from + 32 * j + lane_id());
    }
};

// Stage 1. A warp reads batches of 1,024 consecutive elements, all eight loads before the first
// use. The maximum of a batch is its delegate. fmaxf does one instruction an element; keys are made
// of the maxima only. (It may return either zero of a pair of opposite ones; they are equal in the
// answer, too.) Returns the largest key that the warp has seen.
__device__ unsigned stream(const Batches &batches, Stage &stage) {
    unsigned largest = NONE;
    for (int place = thread_id() / 32; place < batches.places(); place += WARPS) {
        float4 v[8];
        batches.read(Batches::at(place), v);
        const unsigned key = __reduce_max_sync(FULL, to_key(largest_of(v)));
        if (lane_id() == 0)
            stage.own[place] = key;
        largest = max(largest, key);
    }
    return largest;
}

// Stage 3. Batches whose delegate is above t are read again, shared among the block's warps.
__device__ void read_again(const Batches &batches, unsigned t, Stage &stage, const Store &store) {
    if (thread_id() == 0)
        stage.queued = 0;
    __syncthreads();
    for (int place = thread_id(); place < batches.places(); place += THREADS) {
        if (stage.own[place] > t)
            stage.queue[atomicAdd(&stage.queued, 1u)] = static_cast<unsigned>(Batches::at(place));
    }
    __syncthreads();
    for (unsigned i = static_cast<unsigned>(thread_id()) / 32; i < stage.queued; i += WARPS) {
        float4 v[8];
        batches.read(static_cast<int>(stage.queue[i]), v);
        store.add(v, from_key(t));
    }
}

// The last block looks at the elements that are in no batch.
__device__ void add_loose(const Batches &batches, unsigned t, const Store &store) {
    if (blockIdx.x != gridDim.x - 1)
        return;
    for (int i = thread_id(); i < batches.loose(); i += THREADS) {
        if (batches.loose_value(i) > from_key(t))
            store.add(batches.loose_value(i));
    }
}

// A block with few survivors posts them behind their count.
__device__ void report(const Stage &stage, Mail &mail) {
    const unsigned t = static_cast<unsigned>(thread_id()), found = stage.buffered;
    unsigned *head = mail.heads[blockIdx.x], *line = mail.lines[blockIdx.x];
    if (found >= LINE && t == 0)
        post(head, found > BUFFER ? GIVEN_UP : LONG);
    if (found < LINE && t <= found)
        post(t < 8 ? head + t : line + t, t == 0 ? found + 1 : stage.buffer[t - 1]);
}

// Collects the survivors of all blocks in stage.keys and returns their number, the same in every
// block; -1 if not all were posted, or too many; -2 if a block has given up.
__device__ int collect(Stage &stage, const Mail &mail) {
    const int t = thread_id();
    constexpr int AT_ONCE = 8; // words of a block; few have more to say
    unsigned word[AT_ONCE] = {1};
    bool here = t >= static_cast<int>(gridDim.x);
    while (!here) {
#pragma unroll
        for (int i = 0; i < AT_ONCE; i += 4)
            peek4(mail.heads[t] + i, word + i);
        here = word[0] != 0;
#pragma unroll
        for (unsigned i = 1; i < AT_ONCE; i++)
            here = here && (word[i] != 0 || i >= word[0] || word[0] >= GIVEN_UP);
    }
    if (__syncthreads_or(word[0] >= GIVEN_UP))
        return __syncthreads_or(word[0] == GIVEN_UP) ? -2 : -1;
    unsigned total = 0, key[4];
    const unsigned place = scan_block(word[0] - 1, total);
    if (total > RANKED)
        return -1;
#pragma unroll
    for (unsigned i = 1; i < AT_ONCE; i++) {
        if (i < word[0])
            stage.keys[place + i - 1] = word[i];
    }
    for (unsigned first = AT_ONCE; first < word[0]; first += 4) {
        do {
            peek4(&mail.lines[t][first], key);
            here = true;
#pragma unroll
            for (unsigned i = 0; i < 4; i++)
                here = here && (key[i] != 0 || first + i >= word[0]);
        } while (!here);
#pragma unroll
        for (unsigned i = 0; i < 4; i++) {
            if (first + i < word[0])
                stage.keys[place + first + i - 1] = key[i];
        }
    }
    __syncthreads();
    return static_cast<int>(total);
}

// Stage 4: the rank of a key is the number of larger ones. A warp ranks up to four keys in one pass
// over all of them in shared memory. Of equal keys the earlier counts as larger.
__device__ void rank_by_counting(const unsigned *keys, int n, int k, float *output) {
    const int warps = static_cast<int>(gridDim.x) * WARPS;
    const int warp = thread_id() / 32 * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
    for (int first = warp; first < n; first += 4 * warps) {
        unsigned mine[4];
        int larger[4] = {0, 0, 0, 0};
#pragma unroll
        for (int e = 0; e < 4; e++)
            mine[e] = first + e * warps < n ? keys[first + e * warps] : FULL;
#pragma unroll 4
        for (int i = lane_id(); i < n; i += 32) {
            const unsigned key = keys[i];
#pragma unroll
            for (int e = 0; e < 4; e++)
                larger[e] +=
                    key > mine[e] || (key == mine[e] && i < first + e * warps) ? 1 : 0;
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            const int rank = __reduce_add_sync(FULL, larger[e]);
            if (lane_id() == 0 && first + e * warps < n && rank < k)
                output[rank] = from_key(mine[e]);
        }
    }
}

// The rare case that survivors were too many to be posted. If a buffer has run over, because the
// coarse threshold promises nothing (sorted data, say, have far more above it), the exact one is
// taken: fewer than k batches exceed it, whatever the data. The survivors join a list; and if it is
// long, the k-th of them is the next threshold. Leaves the survivors in stage.keys; all blocks.
__device__ int settle(const Batches &batches, bool given_up, int k, unsigned &t, Stage &stage,
                      Mail &mail) {
    const int step = static_cast<int>(gridDim.x) * THREADS;
    const int start = static_cast<int>(blockIdx.x) * THREADS + thread_id();
    unsigned *list = lists[0];
    if (!given_up) {
        if (thread_id() == 0)
            stage.base = atomicAdd(&mail.lengths[0][0], stage.buffered);
        __syncthreads();
        for (unsigned i = static_cast<unsigned>(thread_id()); i < stage.buffered; i += THREADS)
            list[stage.base + i] = stage.buffer[i];
    } else {
        const int places = batches.places();
        t = kth_of_grid(k, mail.bins, stage.bins, [&](auto count) {
            for (int place = thread_id(); place < (places + 31) / 32 * 32; place += THREADS)
                count(place < places, place < places ? stage.own[place] : 0);
        });
        const Store all = {list, &mail.lengths[0][0], LIST};
        read_again(batches, t, stage, all);
        add_loose(batches, t, all);
    }
    grid_barrier();
    int n = static_cast<int>(__ldcg(&mail.lengths[0][0]));
    if (n > RANKED) {
        const int padded = (n + 31) / 32 * 32;
        t = kth_of_grid(k, mail.bins + 3, stage.bins, [&](auto count) {
            for (int i = start; i < padded; i += step)
                count(i < n, i < n ? __ldcg(list + i) : 0);
        });
        for (int i = start; i < n; i += step) {
            const unsigned key = __ldcg(list + i);
            if (key > t)
                lists[1][atomicAdd(&mail.lengths[1][0], 1u)] = key;
        }
        list = lists[1];
        grid_barrier();
        n = static_cast<int>(__ldcg(&mail.lengths[1][0]));
    }
    for (int i = thread_id(); i < n; i += THREADS)
        stage.keys[i] = __ldcg(list + i);
    __syncthreads();
    return n;
}

// HELD: a warp has at most one batch and keeps it, so that nothing is read twice.
template <bool HELD>
__global__ void __launch_bounds__(THREADS, HELD ? 1 : 2)
    delegate_select(const float *__restrict__ input, float *output, int N, int k, Tier tier,
                    int group) {
    extern __shared__ unsigned dynamic[];
    Stage &stage = *reinterpret_cast<Stage *>(dynamic);
    const Batches batches(input, N);
    const int grid = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int warp = thread_id() / 32, lane = lane_id();
    const unsigned call = peek(&calls);
    Mail &mail = mails[call % 2];
    const Store buffer = {stage.buffer, &stage.buffered, BUFFER};

    // Stage 1. At least k maxima, each another element, are >= t: so at least k elements are.
    float4 v[HELD ? 8 : 1];
    unsigned largest = NONE;
    const bool has_batch = Batches::at(warp) < batches.count;
    if constexpr (HELD) {
        if (has_batch)
            batches.read(Batches::at(warp), v);
    }
    if (thread_id() == 0)
        stage.buffered = 0;
    __syncthreads();
    if constexpr (HELD) {
        if (has_batch) {
            unsigned key = to_key(largest_of(v));
            if (tier == Tier::groups) {
                for (int d = 1; d < group; d *= 2)
                    key = max(key, __shfl_xor_sync(FULL, key, d));
                if (lane % group == 0)
                    post(&mail.maxima[(Batches::at(warp) * 32 + lane) / group], key);
            }
            largest = __reduce_max_sync(FULL, key);
            if (lane == 0)
                stage.own[warp] = largest;
        }
    } else {
        largest = stream(batches, stage);
    }
    if (tier == Tier::warps && lane == 0)
        post(&mail.maxima[block * WARPS + warp], largest);
    if (tier == Tier::blocks) {
        if (lane == 0)
            stage.maxima[warp] = largest;
        __syncthreads();
        if (warp == 0) {
            const unsigned m = __reduce_max_sync(FULL, lane < WARPS ? stage.maxima[lane] : NONE);
            if (lane == 0)
                post(&mail.maxima[block], m);
        }
    }
    uint4 *other = reinterpret_cast<uint4 *>(&mails[(call + 1) % 2]);
    for (int i = block * THREADS + thread_id(); i < static_cast<int>(sizeof(Mail) / 16);
         i += grid * THREADS)
        other[i] = uint4{};
    __syncthreads();

    // Stages 2 and 3.
    if (!HELD)
        meet(mail.arrivals[0]);
    unsigned t = 0;
    if (tier == Tier::blocks)
        t = kth_of_maxima<MAX_BLOCKS / THREADS>(mail.maxima, grid, k, stage);
    else
        t = kth_of_maxima<MAX_BLOCKS * WARPS / THREADS>(
            mail.maxima, tier == Tier::warps ? WARPS * grid : batches.count * 32 / group, k, stage);
    if constexpr (HELD) {
        if (has_batch && largest > t)
            buffer.add(v, from_key(t));
    } else {
        __syncthreads();
        read_again(batches, t, stage, buffer);
    }
    add_loose(batches, t, buffer);
    __syncthreads();
    report(stage, mail);
    if (!HELD)
        meet(mail.arrivals[1]);
    int n = collect(stage, mail);
    if (n < 0)
        n = settle(batches, n == -2, k, t, stage, mail);

    // Stage 4. n survivors are above t and at least k elements are not below it: where n < k the
    // places that are left hold t itself.
    rank_by_counting(stage.keys, n, k, output);
    for (int i = n + block * THREADS + thread_id(); i < k; i += grid * THREADS)
        output[i] = from_key(t);
    if (block == 0 && thread_id() == 0)
        calls = call + 1; // all blocks have reported, so all have read it
}

__device__ void order(unsigned &a, unsigned &b) {
    const unsigned low = min(a, b);
    b = max(a, b);
    a = low;
}

// The last steps of a bitonic merge, within a thread; downwards if `flip` is all ones.
template <int EACH> __device__ void merge_in_thread(unsigned (&key)[EACH], unsigned flip) {
#pragma unroll
    for (int e = 0; e < EACH; e++)
        key[e] ^= flip;
#pragma unroll
    for (int stride = EACH / 2; stride > 0; stride /= 2) {
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            if ((e & stride) == 0)
                order(key[e], key[e + stride]);
        }
    }
#pragma unroll
    for (int e = 0; e < EACH; e++)
        key[e] ^= flip;
}

// Bitonic sort, ascending, of EACH keys a thread, consecutive ones in the end. Partners are in the
// same thread, in the same warp, or in another one: then they meet in shared memory.
template <int EACH> __device__ void sort_block(unsigned (&key)[EACH], unsigned *scratch) {
    const int t = thread_id();
#pragma unroll
    for (int round = 0; round < EACH; round++) { // within the thread, by neighbours
#pragma unroll
        for (int e = round % 2; e < EACH - 1; e += 2)
            order(key[e], key[e + 1]);
    }
    for (int size = 1; size <= THREADS; size *= 2) { // in threads; alone they only turn round
        const bool down = (t & size) != 0;
        for (int d = size / 2; d > 0; d /= 2) {
            const bool smaller = ((t & d) == 0) != down;
            const auto choose = [&](unsigned &mine, unsigned other) {
                mine = smaller ? min(mine, other) : max(mine, other);
            };
            if (d < 32) {
#pragma unroll
                for (int e = 0; e < EACH; e++)
                    choose(key[e], __shfl_xor_sync(FULL, key[e], d));
                continue;
            }
            __syncthreads();
#pragma unroll
            for (int e = 0; e < EACH; e++)
                scratch[e * THREADS + t] = key[e];
            __syncthreads();
#pragma unroll
            for (int e = 0; e < EACH; e++)
                choose(key[e], scratch[e * THREADS + (t ^ d)]);
        }
        merge_in_thread(key, down ? FULL : 0u);
    }
    __syncthreads();
}

// ---- small N -----------------------------------------------------------------------------------

constexpr int SMALL_N = 16384;
constexpr int SMALL_K = 1024;  // up to here one block finds and ranks the k largest
constexpr int RANK_FEW = 1024; // up to here ranking every element is as quick
constexpr int RANK_ALL = 4096; // and up to here quicker than sorting, for larger k

// Ranks every element by counting.
__global__ void __launch_bounds__(THREADS)
    rank_all(const float *__restrict__ input, float *output, int N, int k) {
    __shared__ unsigned keys[RANK_ALL];
#pragma unroll 8
    for (int i = thread_id(); i < N; i += THREADS)
        keys[i] = to_key(input[i]);
    __syncthreads();
    rank_by_counting(keys, N, k, output);
}

// One block that holds all elements in registers. Every eighth of its 32 elements make a group: the
// threshold is the k-th largest maximum of 2,048 groups, and the few keys above it are ranked. If
// they are not few, because the large ones share groups, a threshold is found among them as well.
__global__ void __launch_bounds__(THREADS)
    select_in_block(const float *__restrict__ input, float *output, int N, int k) {
    constexpr int EACH = SMALL_N / THREADS, GROUPED = 4;
    constexpr int MOST = (SMALL_K + FEW) * EACH / GROUPED; // k + FEW groups exceed the threshold
    __shared__ unsigned bins[RADIX], list[MOST], rest[SMALL_K + FEW];
    __shared__ unsigned ranges[2][WARPS];
    __shared__ unsigned counts[2];
    const int t = thread_id();
    float v[EACH];
    unsigned key[GROUPED];
#pragma unroll
    for (int e = 0; e < EACH; e++)
        v[e] = e * THREADS + t < N ? __ldcs(input + e * THREADS + t) : from_key(FULL);
#pragma unroll
    for (int g = 0; g < GROUPED; g++) {
        float m = v[g];
#pragma unroll
        for (int e = g + GROUPED; e < EACH; e += GROUPED)
            m = fmaxf(m, v[e]); // a NaN stands for no element
        key[g] = g * THREADS + t < N ? to_key(m) : NONE;
    }
    if (t < 2)
        counts[t] = 0;
    unsigned threshold = kth_of_keys(key, k, bins, ranges);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        if (v[e] > from_key(threshold))
            list[atomicAdd(&counts[0], 1u)] = to_key(v[e]);
    }
    __syncthreads();
    int n = static_cast<int>(counts[0]);
    const unsigned *keys = list;
    if (n > k + k / 2 + 256) {
        constexpr int SHARE = (MOST + THREADS - 1) / THREADS;
        unsigned survivor[SHARE];
#pragma unroll
        for (int e = 0; e < SHARE; e++)
            survivor[e] = e * THREADS + t < n ? list[e * THREADS + t] : NONE;
        threshold = kth_of_keys(survivor, k, bins, ranges);
#pragma unroll
        for (int e = 0; e < SHARE; e++) {
            if (survivor[e] > threshold)
                rest[atomicAdd(&counts[1], 1u)] = survivor[e];
        }
        __syncthreads();
        n = static_cast<int>(counts[1]);
        keys = rest;
    }
    if (n <= 256) {
        rank_by_counting(keys, n, k, output);
    } else {
        unsigned q[4]; // as ascending q
#pragma unroll
        for (int e = 0; e < 4; e++)
            q[e] = e * THREADS + t < n ? ~keys[e * THREADS + t] : FULL;
        sort_block(q, bins);
#pragma unroll
        for (int e = 0; e < 4; e++) {
            if (t * 4 + e < min(n, k))
                output[t * 4 + e] = from_key(~q[e]);
        }
    }
    for (int i = n + t; i < k; i += THREADS)
        output[i] = from_key(threshold);
}

// ---- large k: two rounds of partition by sampled splitters, then buckets sorted in shared memory

// All in inverted keys q = ~key, so that ascending q is descending order. Splitters are quantiles
// of a sample, so groups and buckets come out about equal whatever the data. A key that equals a
// splitter is counted and goes no further: a value that is frequent enough to upset the balance is
// one of the splitters, and is written in the end as a run.
constexpr int TARGET = 3072; // keys meant for a bucket
constexpr int CAPACITY = 6144;
constexpr int PARTS = 256;         // groups at most, and buckets of a group
constexpr int TARGETS = 2 * PARTS; // 2i: between two splitters; 2i + 1: equal to the upper one
constexpr int MAX_BUCKETS = MAX_N / TARGET + PARTS;
constexpr int TILE_KEYS = 8; // a thread and tile
constexpr int TILE = THREADS * TILE_KEYS;
constexpr int FINE_BINS = 4096; // of the sort of one bucket
constexpr int CROWD = 32;       // keys of a fine bin that one thread puts in order
constexpr int RUN = 16384;      // equal keys that a block writes at a time
static_assert(TARGETS == THREADS, "a thread looks after a target");

struct Splitters {
    unsigned count, depth;
    unsigned heavy; // is one of them frequent? Else keys equal to it are like those below
    unsigned sorted[PARTS];
    unsigned tree[PARTS]; // node i has the children 2i and 2i + 1; the root is 1
};

struct Run {
    unsigned begin, length, q;
};

__device__ Splitters group_splitters;
__device__ Splitters bucket_splitters[PARTS];
__device__ unsigned group_lengths[TARGETS][8]; // apart, since all blocks add to them
__device__ unsigned group_begins[PARTS];
__device__ unsigned first_bucket[PARTS + 1];
__device__ unsigned bucket_lengths[2 * MAX_BUCKETS];
__device__ unsigned bucket_begins[MAX_BUCKETS];
__device__ Run runs[MAX_N / RUN + MAX_BUCKETS];
__device__ unsigned run_count;
__device__ unsigned list_length; // of what a filter has left
__device__ unsigned crowded; // some region was too small: the cooperative sort serves

// The block's sample becomes up to `wanted` different splitters: quantiles of its first `last`
// keys, which `parts` parts would have in equal numbers.
template <int EACH>
__device__ void choose_splitters(unsigned (&key)[EACH], int last, int parts, int wanted,
                                 unsigned *scratch, Splitters &out) {
    const int t = thread_id();
    sort_block(key, scratch);
#pragma unroll
    for (int e = 0; e < EACH; e++)
        scratch[t * EACH + e] = key[e];
    __syncthreads();
    const auto place_of = [&](int i) { return min((i + 1) * last / parts, THREADS * EACH - 2); };
    const unsigned q = t < wanted ? scratch[place_of(t)] : FULL;
    const bool is_new = t < wanted && (t == 0 || q != scratch[place_of(t - 1)]);
    const bool twice = t < wanted && (q == scratch[place_of(t) + 1] || !is_new);
    const bool heavy = __syncthreads_or(twice) != 0;
    unsigned count = 0;
    const unsigned place = scan_block(is_new ? 1 : 0, count); // has a barrier: scratch was read
    const unsigned depth = 32 - static_cast<unsigned>(__clz(static_cast<int>(count)));
    unsigned *sorted = scratch;
    if (t < PARTS)
        sorted[t] = FULL;
    __syncthreads();
    if (is_new)
        sorted[place] = q;
    __syncthreads();
    if (t < PARTS) {
        out.sorted[t] = sorted[t];
        const unsigned level = 31 - static_cast<unsigned>(__clz(max(t, 1)));
        if (t > 0 && level < depth) {
            const unsigned position = static_cast<unsigned>(t) - (1u << level);
            out.tree[t] = sorted[((2 * position + 1) << (depth - level - 1)) - 1];
        }
    }
    if (t == 0) {
        out.count = count;
        out.depth = depth;
        out.heavy = heavy;
    }
}

// Where the i-th of `count` samples of n elements is taken: spread evenly, but not regularly.
__device__ unsigned sample_place(unsigned i, unsigned count, unsigned n) {
    const unsigned begin = static_cast<unsigned>(static_cast<unsigned long long>(i) * n / count);
    const unsigned end =
        static_cast<unsigned>(static_cast<unsigned long long>(i + 1) * n / count);
    return begin + (i * 2654435769u >> 8) % (end - begin);
}

// One block: the splitters of groups. `last` of the sample's keys matter; if that is not all of
// them, what lies above the last splitter is dropped.
template <int EACH>
__global__ void __launch_bounds__(THREADS)
    split_input(const float *__restrict__ input, int n, int groups, int last) {
    __shared__ unsigned scratch[THREADS * EACH];
    const int t = thread_id(), count = min(n, THREADS * EACH);
    unsigned key[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = e * THREADS + t;
        key[e] = i < count ? ~to_key(input[sample_place(static_cast<unsigned>(i),
                                                        static_cast<unsigned>(count),
                                                        static_cast<unsigned>(n))])
                           : FULL;
    }
    group_lengths[t][0] = 0;
    if (t == 0) {
        crowded = 0;
        run_count = 0;
        list_length = 0;
    }
    choose_splitters(key, last, groups, last < count ? groups : groups - 1, scratch,
                     group_splitters);
}

// Groups that are open: below a splitter, and above the last one unless that is dropped.
__device__ unsigned open_groups(bool bounded) { return group_splitters.count + (bounded ? 0 : 1); }

// A block for each group: its buckets, and the splitters between them. Groups that begin behind the
// k-th key have none.
template <int EACH>
__global__ void __launch_bounds__(THREADS)
    split_groups(const unsigned *__restrict__ groups, unsigned region, int k, int bounded) {
    __shared__ unsigned scratch[THREADS * EACH];
    __shared__ unsigned begins[TARGETS];
    __shared__ unsigned mine, buckets;
    const int t = thread_id();
    const unsigned g = blockIdx.x, open = open_groups(bounded != 0);
    if (crowded != 0)
        return;
    unsigned total = 0, all = 0;
    begins[t] = scan_block(group_lengths[t][0], total);
    __syncthreads();
    unsigned parts = 0; // of the group that this thread looks after
    if (static_cast<unsigned>(t) < open && begins[2 * t] < static_cast<unsigned>(k)) {
        parts = (group_lengths[2 * t][0] + TARGET - 1) / TARGET;
        parts = min(max(parts, 1u), static_cast<unsigned>(PARTS));
    }
    const unsigned first = scan_block(parts, all);
    if (static_cast<unsigned>(t) == g) {
        mine = first;
        buckets = parts;
    }
    if (g == 0 && t <= PARTS)
        first_bucket[t] = first;
    if (g == 0 && t == 0 && total < static_cast<unsigned>(k))
        crowded = 1; // the sample has misled
    __syncthreads();
    if (buckets == 0)
        return;
    const unsigned *own = groups + static_cast<size_t>(g) * region;
    const unsigned length = group_lengths[2 * g][0], count = min(length, THREADS * EACH + 0u);
    if (t == 0)
        group_begins[g] = begins[2 * g];
    unsigned key[EACH];
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const unsigned i = static_cast<unsigned>(e * THREADS + t);
        key[e] = i < count ? own[sample_place(i, count, length)] : FULL;
    }
    // Keys equal to the group's upper splitter come behind its last bucket.
    const unsigned i = static_cast<unsigned>(t);
    if (i < 2 * buckets)
        bucket_lengths[2 * mine + i] = i + 1 == 2 * buckets ? group_lengths[2 * g + 1][0] : 0;
    choose_splitters(key, static_cast<int>(count), static_cast<int>(buckets),
                     static_cast<int>(buckets) - 1, scratch, bucket_splitters[g]);
}

// Where k is small beside n, what can be among the k largest moves to a list first.
__global__ void __launch_bounds__(THREADS, 2)
    filter(const float *__restrict__ input, int n, unsigned *list) {
    __shared__ unsigned base;
    const Batches batches(input, n);
    const float bound = from_key(~group_splitters.sorted[group_splitters.count - 1]);
    for (int first = 0; first < batches.places(); first += WARPS) {
        const int mine = first + thread_id() / 32;
        const bool has_batch = mine < batches.places();
        float4 v[8];
        unsigned kept = 0, all = 0;
        if (has_batch) {
            batches.read(Batches::at(mine), v);
#pragma unroll
            for (int j = 0; j < 8; j++)
                kept += (v[j].x >= bound) + (v[j].y >= bound) + (v[j].z >= bound) +
                        (v[j].w >= bound);
        }
        unsigned place = scan_block(kept, all);
        if (thread_id() == 0)
            base = atomicAdd(&list_length, all);
        __syncthreads();
        place += base;
        const auto put = [&](float x) {
            if (x >= bound)
                list[place++] = ~to_key(x);
        };
        if (kept == 0)
            continue;
#pragma unroll
        for (int j = 0; j < 8; j++) {
            put(v[j].x);
            put(v[j].y);
            put(v[j].z);
            put(v[j].w);
        }
    }
    if (blockIdx.x == 0) {
        for (int i = thread_id(); i < batches.loose(); i += THREADS) {
            if (batches.loose_value(i) >= bound)
                list[atomicAdd(&list_length, 1u)] = ~to_key(batches.loose_value(i));
        }
    }
}

struct PartitionShared {
    unsigned keys[TILE];
    unsigned short target[TILE]; // of the key in the same place
    unsigned counts[TARGETS];
    unsigned begin[TARGETS]; // in the tile
    unsigned shift[TARGETS]; // from there to the place in the target's region
    unsigned sorted[PARTS], tree[PARTS];
};

// Sorts a tile by group (FIRST; from the input, or what a filter has left of it where the buckets
// will be) or by bucket of its group, in any order within, and adds the runs to the regions of
// their targets.
template <bool FIRST>
__global__ void __launch_bounds__(THREADS, 3)
    partition(const float *__restrict__ input, int n, bool filtered, unsigned *groups,
              unsigned region, unsigned *buckets, int bounded) {
    extern __shared__ unsigned dynamic[];
    PartitionShared &shared = *reinterpret_cast<PartitionShared *>(dynamic);
    const int t = thread_id();
    const unsigned group = FIRST ? 0 : blockIdx.y;
    if (!FIRST && (crowded != 0 || first_bucket[group + 1] == first_bucket[group]))
        return;
    const unsigned first = FIRST ? 0 : first_bucket[group];
    const unsigned length = !FIRST     ? group_lengths[2 * group][0]
                            : filtered ? list_length
                                       : static_cast<unsigned>(n);
    const unsigned tiles = (length + TILE - 1) / TILE;
    if (blockIdx.x >= tiles)
        return;
    const Splitters &splitters = FIRST ? group_splitters : bucket_splitters[group];
    const unsigned depth = splitters.depth;
    const unsigned kept_targets = FIRST ? 2 * open_groups(bounded != 0) : 2 * TARGETS;
    if (t < PARTS) {
        shared.sorted[t] = splitters.sorted[t];
        shared.tree[t] = splitters.tree[t];
    }
    const unsigned *from = FIRST ? buckets : groups + static_cast<size_t>(group) * region;
    const bool heavy = splitters.heavy != 0;
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        shared.counts[t] = 0;
        bool stop = FIRST && t == 0 && peek(&crowded) != 0;
        __syncthreads();
        unsigned q[TILE_KEYS];
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            const unsigned i = tile * TILE + static_cast<unsigned>(r * THREADS + t);
            q[r] = FULL;
            if (i < length)
                q[r] = FIRST && !filtered ? ~to_key(__ldcs(input + i)) : __ldcs(from + i);
        }
        unsigned rank[TILE_KEYS]; // a node of the tree; then the target in the upper half word
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++)
            rank[r] = 1;
        for (unsigned level = 0; level < depth; level++) {
#pragma unroll
            for (int r = 0; r < TILE_KEYS; r++)
                rank[r] = 2 * rank[r] + (q[r] > shared.tree[rank[r]] ? 1 : 0);
        }
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            const unsigned i = tile * TILE + static_cast<unsigned>(r * THREADS + t);
            const unsigned part = rank[r] - (1u << depth); // splitters below the key
            bool equal = false;
            if (heavy)
                equal = shared.sorted[min(part, PARTS - 1u)] == q[r];
            const unsigned target = 2 * part + (equal ? 1 : 0);
            const bool kept = i < length && (!FIRST || target < kept_targets);
            if (heavy)
                count_digit(shared.counts, kept && equal, target);
            rank[r] = FULL;
            if (kept && !equal)
                rank[r] = target << 16 | atomicAdd(&shared.counts[target], 1u);
        }
        __syncthreads();
        const bool open = t % 2 == 0;
        const unsigned found = shared.counts[t];
        unsigned kept = 0;
        const unsigned begin = scan_block(open ? found : 0, kept);
        if (found > 0) {
            const unsigned offset =
                atomicAdd(FIRST ? &group_lengths[t][0] : &bucket_lengths[2 * first + t], found);
            const unsigned size = FIRST ? region : CAPACITY;
            if (open && offset + found > size) {
                crowded = 1;
                stop = true;
            }
            shared.begin[t] = begin;
            shared.shift[t] = (first + static_cast<unsigned>(t / 2)) * size + offset - begin;
        }
        if (__syncthreads_or(stop))
            return; // the cooperative sort starts again
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            if (rank[r] != FULL) {
                const unsigned place = shared.begin[rank[r] >> 16] + (rank[r] & 0xffffu);
                shared.keys[place] = q[r];
                shared.target[place] = static_cast<unsigned short>(rank[r] >> 16);
            }
        }
        __syncthreads();
        unsigned *to = FIRST ? groups : buckets;
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            const unsigned i = static_cast<unsigned>(r * THREADS + t);
            if (i < kept)
                to[shared.shift[shared.target[i]] + i] = shared.keys[i];
        }
        __syncthreads();
    }
}

// A block for each group: where its buckets begin in the output, and the runs of equal keys behind
// them.
__global__ void __launch_bounds__(THREADS) bucket_scan(int k) {
    const unsigned g = blockIdx.x, t = static_cast<unsigned>(thread_id());
    if (crowded != 0)
        return;
    const unsigned first = first_bucket[g], count = first_bucket[g + 1] - first;
    if (count == 0)
        return;
    const Splitters &own = bucket_splitters[g];
    const unsigned length = t < 2 * count ? bucket_lengths[2 * first + t] : 0;
    unsigned all = 0;
    unsigned begin = group_begins[g] + scan_block(length, all);
    const unsigned i = t / 2;
    const unsigned group_upper = g < group_splitters.count ? group_splitters.sorted[g] : FULL;
    if (t < 2 * count && t % 2 == 0)
        bucket_begins[first + i] = begin;
    if (t % 2 == 1 && length > 0 && begin < static_cast<unsigned>(k)) {
        const unsigned q = t + 1 == 2 * count ? group_upper : own.sorted[i];
        const unsigned end = min(begin + length, static_cast<unsigned>(k));
        unsigned place = atomicAdd(&run_count, (end - begin + RUN - 1) / RUN);
        for (; begin < end; begin += RUN)
            runs[place++] = {begin, min(end - begin, static_cast<unsigned>(RUN)), q};
    }
}

// Bitonic sort, ascending, of n keys by all threads that `meet`. The first step of a merge compares
// mirrored places, so all comparisons point one way, and pairs that reach past the end are skipped.
template <typename MEET>
__device__ void sort_slowly(volatile unsigned *keys, int n, int thread, int threads, MEET meet) {
    for (int size = 2; size / 2 < n; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            for (int p = thread; p < (n / (2 * stride) + 1) * stride; p += threads) {
                const int offset = p % stride, i = p / stride * stride * 2 + offset;
                const int j = stride == size / 2 ? i - offset + size - 1 - offset : i + stride;
                if (j >= n)
                    continue;
                const unsigned a = keys[i], b = keys[j];
                if (a > b) {
                    keys[i] = b;
                    keys[j] = a;
                }
            }
            meet();
        }
    }
}

struct BucketShared {
    unsigned starts[FINE_BINS + THREADS];
    unsigned ranges[2][WARPS];
    unsigned keys[CAPACITY];
};

// A word is left free after the bins of a thread, so that threads do not meet on few banks.
__device__ unsigned padded(unsigned bin) { return bin + bin / (FINE_BINS / THREADS); }

// Blocks take buckets in turn. A bucket's keys are spread over fine bins by their place in its
// range, and then are nearly in order: most bins hold at most one. A thread finishes the few keys
// of the bins it owns.
__global__ void __launch_bounds__(THREADS, 3)
    bucket_sort(const unsigned *__restrict__ from, float *output, int k) {
    extern __shared__ unsigned dynamic[];
    BucketShared &shared = *reinterpret_cast<BucketShared *>(dynamic);
    constexpr int EACH = FINE_BINS / THREADS;
    const int t = thread_id();
    if (crowded != 0)
        return;
    const unsigned buckets = first_bucket[PARTS];
    for (unsigned b = blockIdx.x; b < buckets; b += gridDim.x) {
        const unsigned begin = bucket_begins[b];
        const int n = static_cast<int>(bucket_lengths[2 * b]);
        if (n == 0 || begin >= static_cast<unsigned>(k))
            continue; // the same for the whole block
        const unsigned *keys = from + static_cast<size_t>(b) * CAPACITY;
        unsigned q[CAPACITY / THREADS], rank[CAPACITY / THREADS / 2] = {}; // in a bin; two a word
        // Slots of the thread that hold a key, four at a time as far as the block has any.
        const auto each = [&](auto act) {
#pragma unroll
            for (int first = 0; first < CAPACITY / THREADS; first += 4) {
                if (first * THREADS < n) {
#pragma unroll
                    for (int r = first; r < first + 4; r++) {
                        if (r * THREADS + t < n)
                            act(r);
                    }
                }
            }
        };
        unsigned low = FULL, high = 0;
        each([&](int r) {
            q[r] = __ldcs(keys + r * THREADS + t);
            low = min(low, q[r]);
            high = max(high, q[r]);
        });
        low = __reduce_min_sync(FULL, low);
        high = __reduce_max_sync(FULL, high);
        if (lane_id() == 0) {
            shared.ranges[0][t / 32] = low;
            shared.ranges[1][t / 32] = high;
        }
        for (int i = t; i < FINE_BINS + THREADS; i += THREADS)
            shared.starts[i] = 0;
        __syncthreads();
        low = __reduce_min_sync(FULL, shared.ranges[0][lane_id() % WARPS]);
        high = __reduce_max_sync(FULL, shared.ranges[1][lane_id() % WARPS]);
        const unsigned range = high - low;
        // Below FULL / (range / bins + 1) bins of a key's distance from the lowest.
        const unsigned scale = FULL / (range / FINE_BINS + 1);
        const bool exact = range < FINE_BINS; // a bin for each key
        const auto bin_of = [&](unsigned key) {
            return exact ? key - low : __umulhi(key - low, scale);
        };
        each([&](int r) {
            rank[r / 2] |= atomicAdd(&shared.starts[padded(bin_of(q[r]))], 1u) << r % 2 * 16;
        });
        __syncthreads();
        unsigned sum = 0, most = 0, all = 0; // of the thread's own bins
        unsigned *own = shared.starts + t * (EACH + 1);
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            most = max(most, own[e]);
            sum += own[e];
        }
        const unsigned start = scan_block(sum, all);
        unsigned place = start;
#pragma unroll
        for (int e = 0; e < EACH; e++) { // counts become places
            const unsigned count = own[e];
            own[e] = place;
            place += count;
        }
        const bool crowd = __syncthreads_or(!exact && most > CROWD) != 0;
        each([&](int r) {
            shared.keys[shared.starts[padded(bin_of(q[r]))] +
                        (rank[r / 2] >> r % 2 * 16 & 0xffffu)] = q[r];
        });
        __syncthreads();
        if (crowd) {
            sort_slowly(shared.keys, n, t, THREADS, [] { __syncthreads(); });
        } else if (!exact) {
            // Insertion sort of what is nearly in order.
            unsigned largest = 0;
            for (unsigned i = start; i < place; i++) {
                const unsigned x = shared.keys[i];
                if (x >= largest) {
                    largest = x;
                    continue;
                }
                unsigned j = i;
                for (; j > start && shared.keys[j - 1] > x; j--)
                    shared.keys[j] = shared.keys[j - 1];
                shared.keys[j] = x;
            }
        }
        __syncthreads();
        const int wanted = min(n, k - static_cast<int>(begin));
        for (int i = t; i < wanted; i += THREADS)
            output[begin + static_cast<unsigned>(i)] = from_key(~shared.keys[i]);
        __syncthreads();
    }
    const unsigned all_runs = run_count;
    for (unsigned r = blockIdx.x; r < all_runs; r += gridDim.x) {
        const Run run = runs[r];
        for (unsigned i = static_cast<unsigned>(t); i < run.length; i += THREADS)
            output[run.begin + i] = from_key(~run.q);
    }
}

// Should the sample have misled, all keys are sorted in place, slowly.
__global__ void __launch_bounds__(THREADS, 2)
    sort_if_crowded(const float *__restrict__ input, float *output, int N, int k, unsigned *keys) {
    if (crowded == 0)
        return;
    const int step = static_cast<int>(gridDim.x) * THREADS;
    const int start = static_cast<int>(blockIdx.x) * THREADS + thread_id();
    for (int i = start; i < N; i += step)
        keys[i] = ~to_key(input[i]);
    grid_barrier();
    sort_slowly(keys, N, start, step, grid_barrier);
    for (int i = start; i < k; i += step)
        output[i] = from_key(~__ldcg(keys + i));
}

void sort_down(const float *input, float *output, int N, int k, int blocks) {
    // A sample with 64 keys for each group, or one that leaves few keys to sort. How many of it lie
    // among the k largest of all, with six standard deviations?
    int share = 4, sample = 0, last = 0;
    bool few = false;
    for (;; share *= 2) {
        sample = N < THREADS * share ? N : THREADS * share;
        const double expected = static_cast<double>(k) * sample / N;
        const double deviation = std::sqrt(expected * (1.0 - expected / sample));
        const double bound = expected + 6.0 * deviation + 16.0;
        last = bound < 0.9 * sample ? static_cast<int>(bound) : sample;
        few = last < sample / 32;
        if (few || share == 16 || std::sqrt(static_cast<double>(N) / TARGET) * 64 <= sample)
            break;
    }
    const int bounded = last < sample ? 1 : 0;
    const bool filtered = last < sample / 4;
    const double kept = static_cast<double>(N) * last / sample;
    int parts = static_cast<int>(std::sqrt(kept / TARGET)) + 1;
    const int most = few ? 8 : last / 24 + 1;
    parts = parts < most ? parts : most;
    // A group of few samples may be much larger than the others.
    const double wanted =
        4.0 * TARGET + (few ? 3.0 * kept : (parts < last / 40 ? 2.0 : 3.0) * kept / parts);
    const unsigned region = static_cast<unsigned>(wanted < N ? wanted : N);
    const double samples = 64.0 * (few ? 2.5 : 1.0) * kept / parts / TARGET;
    const size_t most_buckets = static_cast<size_t>(N / TARGET + parts);
    const size_t all = static_cast<size_t>(N), groups_size = static_cast<size_t>(parts) * region;
    const size_t first_size = groups_size > all ? groups_size : all; // for a sort of all keys
    static const bool prepared = [] {
        // Memory that a call gives back stays in the pool for the next call.
        int device = 0;
        cudaMemPool_t pool;
        unsigned long long keep = ~0ULL;
        cudaGetDevice(&device);
        if (cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess)
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
        cudaFuncSetAttribute(partition<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(PartitionShared)));
        cudaFuncSetAttribute(partition<false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(PartitionShared)));
        cudaFuncSetAttribute(bucket_sort, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(BucketShared)));
        return true;
    }();
    (void)prepared;
    unsigned *groups = nullptr;
    if (cudaMallocAsync(&groups, (first_size + most_buckets * CAPACITY) * sizeof(unsigned),
                        nullptr) != cudaSuccess)
        return;
    unsigned *buckets = groups + first_size;
    const int tiles = (N + TILE - 1) / TILE;
    const unsigned grid = static_cast<unsigned>(parts);
    const unsigned sharing = grid < 33 ? 528 / grid : 16;
    const auto split = share == 4 ? split_input<4> : share == 8 ? split_input<8> : split_input<16>;
    const auto split_again = samples <= 2048   ? split_groups<4>
                             : samples <= 4096 ? split_groups<8>
                                               : split_groups<16>;
    split<<<1, THREADS>>>(input, N, parts, last);
    if (filtered)
        filter<<<tiles < blocks ? tiles : blocks, THREADS>>>(input, N, buckets);
    const int resident = blocks / 2 * 3; // three blocks an SM
    partition<true><<<tiles < resident ? tiles : resident, THREADS, sizeof(PartitionShared)>>>(
        input, N, filtered, groups, region, buckets, bounded);
    split_again<<<grid, THREADS>>>(groups, region, k, bounded);
    partition<false><<<dim3(sharing, grid), THREADS, sizeof(PartitionShared)>>>(
        nullptr, 0, false, groups, region, buckets, bounded);
    bucket_scan<<<grid, THREADS>>>(k);
    bucket_sort<<<resident, THREADS, sizeof(BucketShared)>>>(buckets, output, k);
    void *arguments[] = {&input, &output, &N, &k, &groups};
    cudaLaunchCooperativeKernel(sort_if_crowded, dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                                arguments, 0, nullptr);
    cudaFreeAsync(groups, nullptr);
}

// Facts of the device, asked once.
struct Device {
    int sms;
    int blocks;      // of the delegate kernel that are resident at a time
    int held_blocks; // the same for held batches
};

template <bool HELD> int resident_blocks(int sms) {
    int fit = 0;
    cudaFuncSetAttribute(delegate_select<HELD>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(sizeof(Stage)));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, delegate_select<HELD>, THREADS,
                                                  sizeof(Stage));
    const int blocks = sms * (fit > 1 && !HELD ? 2 : fit > 0 ? 1 : 0);
    return blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
}

const Device &device_facts() {
    static const Device facts = [] {
        int device = 0, sms = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        return Device{sms, resident_blocks<false>(sms), resident_blocks<true>(sms)};
    }();
    return facts;
}

template <bool HELD>
void launch_delegates(const float *input, float *output, int N, int k, Tier tier, int group,
                      int blocks) {
    void *arguments[] = {&input, &output, &N, &k, &tier, &group};
    cudaLaunchCooperativeKernel(delegate_select<HELD>, dim3(static_cast<unsigned>(blocks)),
                                dim3(THREADS), arguments, sizeof(Stage), nullptr);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    const Device &device = device_facts();
    if (N <= RANK_FEW || (N <= RANK_ALL && k > SMALL_K)) {
        const int wanted = (N + WARPS - 1) / WARPS;
        const int grid = wanted < device.sms ? wanted : device.sms;
        rank_all<<<grid, THREADS>>>(input, output, N, k);
        return;
    }
    if (N <= SMALL_N && k <= SMALL_K) {
        select_in_block<<<1, THREADS>>>(input, output, N, k);
        return;
    }
    // At most 3 elements lie before the first batch, so one batch more is possible. A tier needs k
    // maxima, and a quarter more to be a good guess.
    const int batches = (N - 3) / BATCH;
    const bool held = batches + 1 <= WARPS * device.held_blocks;
    const int resident = held ? device.held_blocks : device.blocks;
    const int blocks = resident < batches ? resident : batches;
    const int warps = WARPS * blocks;
    if (held && k <= COARSE_K && k + k / 2 <= batches * 32) {
        int group = 32;
        while (k + k / 2 > batches * 32 / group)
            group /= 2;
        const Tier tier = k + k / 4 <= blocks ? Tier::blocks : Tier::groups;
        launch_delegates<true>(input, output, N, k, tier, group, blocks);
    } else if (!held && k <= COARSE_K && k + k / 4 <= warps && batches / blocks < OWN) {
        const Tier tier = k + k / 4 <= blocks ? Tier::blocks : Tier::warps;
        launch_delegates<false>(input, output, N, k, tier, 32, blocks);
    } else {
        sort_down(input, output, N, k, device.blocks);
    }
}

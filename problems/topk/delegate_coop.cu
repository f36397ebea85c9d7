// @idea   the file to submit: one read that keeps segment maxima, a threshold from them, a re-read
// @source own; delegates as in Dr. Top-k (arXiv 2109.08219), exact for ties and every k
// @expect AC
// @arch   sm_80
// Bytes: 4N read, N/256 of delegates, 4 KB a winning segment read again, 4k written.
// Floor: 2.7 us + 4N / 4.62 TB/s = 46.0 us at 50M.
//
// The input is read once. Each segment of it leaves its maximum, the delegate. The k-th largest of
// any k or more delegates is a threshold t that at least k elements reach, so only segments whose
// delegate is above t can hold anything larger, about 140 of 48,828 at N = 50M and k = 100. Those
// are read again, their elements above t are ranked, and what is missing to k is t itself: ties
// need no search. One cooperative launch with two barriers. Above the floor: ramp and tail of the
// stream, the barriers (1.3 us each), the threshold, the latency of the second read.
//
// Paths. N <= 4,096: every element is ranked by counting. N <= 16,384 and k <= 1,024: one block.
// k <= 2,048: segments are batches of 1,024; where a warp has one batch only it keeps it, and reads
// nothing twice. k <= N/64 (and 131,000): segments are the 32 elements of a lane. Larger k: keys
// are dealt to buckets of some 4,096 by value in two rounds, and each bucket is sorted in shared
// memory: 28N bytes, or less for k < N, since bins below the k-th key's are dropped; data that no
// such cut spreads (long runs of few values) go through a plain four-pass radix sort. Hardware
// feature used: cooperative launch. The answer is bitwise reproducible.

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
constexpr int BATCH_QUADS = BATCH / 4;
constexpr int MAX_N = 100000000;
constexpr int LIST = 1 << 22;      // survivors that fit
constexpr int LIMIT = 1 << 16;     // survivors of a coarse threshold that are put up with
constexpr int RANKED = 12288;      // survivors ranked by counting: 48 KB of keys a block
constexpr int COARSE_K = 2048;     // largest k for delegates of whole batches
constexpr int FINE_K = 131000;     // largest k for delegates of lanes: (k - 1) * 32 < LIST
constexpr int QUEUE = 2048;        // flagged segments a block holds at a time
constexpr int BUFFER = 2048;       // survivors a block holds before it needs the list
constexpr int OWN = 2048;          // delegates of its own batches that a block keeps at hand
constexpr int LINE = 32;           // words a block reports in: a count and up to 31 survivors
constexpr int COLLECTED = 8192;    // survivors in lines that are ranked without the list
constexpr int EXACT_RANKED = 1024; // up to here equal keys are told apart while counting
constexpr unsigned LONG = FULL;    // the count of a block with more survivors
constexpr int DIGIT = 11;          // bits a round of the exact threshold
constexpr int RADIX = 1 << DIGIT;
constexpr int RANK_TILE = THREADS * 8; // keys a block sorts at a time when survivors are many

// Where the threshold comes from: the k-th largest of the maxima of blocks, of warps, or of all
// segments. The first two are coarse but cost next to nothing.
enum class Tier { blocks, warps, segments };

// What a segment is: a batch; a batch of which each warp has at most one and keeps it in registers,
// so that nothing is read twice; the 32 elements that a lane reads of a batch.
enum class Segment { batch, held_batch, lane };

// 64 registers a thread do, unless 32 of them hold a batch.
constexpr int blocks_per_sm(Segment segment) { return segment == Segment::held_batch ? 1 : 2; }

__device__ unsigned delegates[MAX_N / 32 + 1];
__device__ unsigned warp_maxima[MAX_BLOCKS * WARPS];
__device__ unsigned block_maxima[MAX_BLOCKS];
__device__ unsigned lists[2][LIST];
__device__ __align__(128) unsigned lines[MAX_BLOCKS][LINE];
__device__ unsigned tie_counts[RANKED];     // zeroed by block 0 before the first barrier
__device__ unsigned list_length;            // zeroed by block 0 before the first barrier
__device__ unsigned round_counts[3][RADIX]; // likewise
__device__ unsigned tile_counts[MAX_BLOCKS][256];
__device__ unsigned barrier_word;

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

// The shared memory of the delegate kernel. Its stages follow one another, so most share space.
struct Stage {
    unsigned own[OWN]; // delegates of the block's batches, in the order of its warps' turns
    union {
        unsigned maxima[WARPS];
        struct {
            unsigned bins[RADIX];
            unsigned ranges[2][WARPS];
        };
        struct {
            unsigned queue[QUEUE];
            unsigned buffer[BUFFER];
            unsigned queued, buffered, base;
        } gather;
        struct {
            unsigned keys[COLLECTED];
            unsigned warp_sums[WARPS];
        } collect;
        unsigned keys[RANKED];
        struct {
            unsigned counters[WARPS][256];
            unsigned half_sums[2][2][256];
            unsigned begin[256];
            unsigned warp_sums[8];
        } sort;
    };
};

// Stage 1. A warp reads batches of 1,024 consecutive elements, all eight loads before the first
// use. The maximum of a segment is its delegate. fmaxf does one instruction an element; keys are
// made of the maxima only. (It may return either zero of a pair of opposite ones; they are equal in
// the answer, too.)
template <Segment SEGMENT> __device__ void stream(const Body &body, Stage &stage, float4 (&v)[8]) {
    const int lane = lane_id(), warp = thread_id() / 32;
    const int batches = body.quads / BATCH_QUADS;
    const int step = static_cast<int>(gridDim.x) * WARPS;
    unsigned largest = 0;
    for (int b = warp * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x); b < batches;
         b += step) {
        const float4 *batch = body.data + b * BATCH_QUADS + lane;
#pragma unroll
        for (int j = 0; j < 8; j++)
            v[j] = __ldcs(batch + 32 * j);
        float m = fmaxf(fmaxf(v[0].x, v[0].y), fmaxf(v[0].z, v[0].w));
#pragma unroll
        for (int j = 1; j < 8; j++)
            m = fmaxf(m, fmaxf(fmaxf(v[j].x, v[j].y), fmaxf(v[j].z, v[j].w)));
        unsigned key = to_key(m);
        if constexpr (SEGMENT == Segment::lane) {
            delegates[b * 32 + lane] = key;
        } else {
            key = __reduce_max_sync(FULL, key);
            if (lane == 0) {
                const int turn = b / static_cast<int>(gridDim.x);
                delegates[b] = key;
                if (turn < OWN)
                    stage.own[turn] = key;
            }
        }
        largest = max(largest, key);
    }
    if constexpr (SEGMENT != Segment::lane) {
        if (lane == 0) {
            warp_maxima[blockIdx.x * WARPS + static_cast<unsigned>(warp)] = largest;
            stage.maxima[warp] = largest;
        }
        __syncthreads();
        if (warp == 0) {
            const unsigned m = __reduce_max_sync(FULL, lane < WARPS ? stage.maxima[lane] : 0u);
            if (lane == 0)
                block_maxima[blockIdx.x] = m;
        }
    }
}

// At or slightly below the k-th largest of `count` maxima; every block finds it for itself. The
// range of the maxima is cut into equal bins, and the lower end of the bin that holds the k-th will
// do.
template <int EACH> // maxima a thread
__device__ unsigned kth_of_maxima(const unsigned *maxima, int count, int k, Stage &stage) {
    const int t = thread_id();
    unsigned key[EACH], lowest = FULL, highest = 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const int i = e * THREADS + t;
        key[e] = i < count ? __ldcg(maxima + i) : 0; // 0: a warp without a batch
        if (key[e] != 0) {
            lowest = min(lowest, key[e]);
            highest = max(highest, key[e]);
        }
    }
    for (int i = t; i < RADIX; i += THREADS)
        stage.bins[i] = 0;
    lowest = __reduce_min_sync(FULL, lowest);
    highest = __reduce_max_sync(FULL, highest);
    if (lane_id() == 0) {
        stage.ranges[0][t / 32] = lowest;
        stage.ranges[1][t / 32] = highest;
    }
    __syncthreads();
    lowest = __reduce_min_sync(FULL, stage.ranges[0][lane_id() % WARPS]);
    highest = __reduce_max_sync(FULL, stage.ranges[1][lane_id() % WARPS]);
    const int bits = 32 - __clz(static_cast<int>(highest - lowest));
    const int shift = bits > DIGIT ? bits - DIGIT : 0;
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        if (key[e] != 0)
            atomicAdd(&stage.bins[(key[e] - lowest) >> shift], 1u);
    }
    __syncthreads();
    return lowest + (choose_bin<RADIX>(stage.bins, static_cast<unsigned>(k)).digit << shift);
}

// k-th largest of all segments' delegates, by three digits over the whole grid.
__device__ unsigned kth_of_segments(int segments, int k, Stage &stage) {
    unsigned prefix = 0, high = 0, rank = static_cast<unsigned>(k);
    const int step = static_cast<int>(gridDim.x) * THREADS;
    const int rounds = (segments + step - 1) / step;
    for (int round = 0; round < 3; round++) {
        const int shift = round == 2 ? 0 : 32 - DIGIT * (round + 1);
        const unsigned mask = round == 2 ? (1u << (32 - 2 * DIGIT)) - 1 : RADIX - 1;
        for (int i = thread_id(); i < RADIX; i += THREADS)
            stage.bins[i] = 0;
        __syncthreads();
        int i = static_cast<int>(blockIdx.x) * THREADS + thread_id();
#pragma unroll 4
        for (int r = 0; r < rounds; r++, i += step) {
            const unsigned key = i < segments ? __ldcg(&delegates[i]) : 0;
            count_digit(stage.bins, i < segments && (key & high) == prefix, key >> shift & mask);
        }
        __syncthreads();
        for (int b = thread_id(); b < RADIX; b += THREADS) {
            if (stage.bins[b] > 0)
                atomicAdd(&round_counts[round][b], stage.bins[b]);
        }
        grid_barrier();
        for (int b = thread_id(); b < RADIX; b += THREADS)
            stage.bins[b] = __ldcg(&round_counts[round][b]);
        __syncthreads();
        const Choice choice = choose_bin<RADIX>(stage.bins, rank);
        prefix |= choice.digit << shift;
        rank = choice.rank;
        high |= mask << shift;
    }
    return prefix;
}

// Adds the keys of a warp's lanes to the block's buffer, or past its end to the list.
__device__ void append(Stage &stage, bool take, unsigned key) {
    const unsigned taking = __ballot_sync(FULL, take);
    if (taking == 0)
        return;
    const int leader = __ffs(static_cast<int>(taking)) - 1;
    const unsigned count = static_cast<unsigned>(__popc(taking));
    const unsigned before = static_cast<unsigned>(__popc(taking & ((1u << lane_id()) - 1)));
    unsigned base = 0;
    if (lane_id() == leader)
        base = atomicAdd(&stage.gather.buffered, count);
    base = __shfl_sync(FULL, base, leader);
    if (base + count <= BUFFER) {
        if (take)
            stage.gather.buffer[base + before] = key;
        return;
    }
    // The places that this warp drew and does not fill all lie at the end of the buffer.
    if (lane_id() == leader) {
        if (base < BUFFER)
            stage.gather.base = base; // only the first warp to cross the end
        base = atomicAdd(&list_length, count);
    }
    base = __shfl_sync(FULL, base, leader) + before;
    if (take && base < LIST)
        lists[0][base] = key;
}

// A whole block adds keys to the list.
__device__ void append_to_list(const unsigned *keys, unsigned count, Stage &stage) {
    if (count == 0)
        return;
    __syncthreads();
    if (thread_id() == 0)
        stage.gather.base = atomicAdd(&list_length, count);
    __syncthreads();
    for (unsigned i = static_cast<unsigned>(thread_id()); i < count; i += THREADS) {
        if (stage.gather.base + i < LIST)
            lists[0][stage.gather.base + i] = keys[i];
    }
}

// Stage 3. Segments whose delegate is above t are read again, and their keys above t are taken: the
// 8 float4 of a lane, 512 bytes apart, if FINE, else the 256 float4 of a batch.
template <bool FINE> __device__ void gather_again(const Body &body, unsigned t, Stage &stage) {
    constexpr int EACH = QUEUE / THREADS;
    constexpr int SEGMENT_QUADS = FINE ? 8 : BATCH_QUADS;
    const int grid = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    const int warp = thread_id() / 32, lane = lane_id();
    const int batches = body.quads / BATCH_QUADS;
    // Work is dealt in turns, so that neighbouring segments fall to different blocks. A turn is a
    // delegate per thread, and per warp 32 delegates of one batch if FINE.
    const int units = FINE ? batches : (batches + 31) / 32 * 32;
    const int per_turn = FINE ? WARPS : THREADS;
    const int turns = (units + per_turn * grid - 1) / (per_turn * grid);
    for (int first = 0; first < turns; first += EACH) {
        if (thread_id() == 0)
            stage.gather.queued = 0;
        __syncthreads();
        unsigned delegate[EACH];
        int segment[EACH];
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const int turn = first + e;
            const int unit = FINE ? (turn * WARPS + warp) * grid + block
                                  : (turn * THREADS + thread_id()) * grid + block;
            segment[e] = FINE ? unit * 32 + lane : unit;
            delegate[e] = 0;
            if (turn < turns && unit < batches)
                delegate[e] = !FINE && unit / grid < OWN ? stage.own[unit / grid]
                                                         : __ldcg(&delegates[segment[e]]);
        }
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const bool flag = delegate[e] > t;
            const unsigned flags = __ballot_sync(FULL, flag);
            if (flags != 0) {
                const int leader = __ffs(static_cast<int>(flags)) - 1;
                unsigned base = 0;
                if (lane == leader)
                    base = atomicAdd(&stage.gather.queued, static_cast<unsigned>(__popc(flags)));
                base = __shfl_sync(FULL, base, leader);
                if (flag)
                    stage.gather
                        .queue[base + static_cast<unsigned>(__popc(flags & ((1u << lane) - 1)))] =
                        static_cast<unsigned>(segment[e]);
            }
        }
        __syncthreads();
        const int items = static_cast<int>(stage.gather.queued) * SEGMENT_QUADS;
        for (int start = 0; start < items; start += 4 * THREADS) {
            float4 four[4];
            bool inside[4];
#pragma unroll
            for (int u = 0; u < 4; u++) {
                const int item = start + u * THREADS + thread_id();
                inside[u] = item < items;
                const int s =
                    inside[u] ? static_cast<int>(stage.gather.queue[item / SEGMENT_QUADS]) : 0;
                const int j = item % SEGMENT_QUADS;
                const int quad =
                    FINE ? s / 32 * BATCH_QUADS + j * 32 + s % 32 : s * BATCH_QUADS + j;
                four[u] = inside[u] ? __ldcg(body.data + quad) : float4{};
            }
#pragma unroll
            for (int u = 0; u < 4; u++) {
                append(stage, inside[u] && to_key(four[u].x) > t, to_key(four[u].x));
                append(stage, inside[u] && to_key(four[u].y) > t, to_key(four[u].y));
                append(stage, inside[u] && to_key(four[u].z) > t, to_key(four[u].z));
                append(stage, inside[u] && to_key(four[u].w) > t, to_key(four[u].w));
            }
        }
        __syncthreads();
    }
}

// Stage 3 without a second read: the one batch that the warp still holds.
__device__ void gather_held(const Body &body, unsigned t, Stage &stage, const float4 (&v)[8]) {
    const int turn = thread_id() / 32;
    const int batch = turn * static_cast<int>(gridDim.x) + static_cast<int>(blockIdx.x);
    if (batch >= body.quads / BATCH_QUADS || stage.own[turn] <= t)
        return;
#pragma unroll
    for (int j = 0; j < 8; j++) {
        append(stage, to_key(v[j].x) > t, to_key(v[j].x));
        append(stage, to_key(v[j].y) > t, to_key(v[j].y));
        append(stage, to_key(v[j].z) > t, to_key(v[j].z));
        append(stage, to_key(v[j].w) > t, to_key(v[j].w));
    }
}

// Stage 3, for what has no delegate, and the report.
template <bool FINE> __device__ void finish_gather(const Body &body, unsigned t, Stage &stage) {
    const int grid = static_cast<int>(gridDim.x), block = static_cast<int>(blockIdx.x);
    // The last block looks at each loose element.
    if (block == grid - 1) {
        for (int i = thread_id(); i < (body.loose() + 31) / 32 * 32; i += THREADS) {
            const unsigned key = i < body.loose() ? to_key(body.loose_value(i)) : 0;
            append(stage, key > t, key);
        }
    }
    __syncthreads();
    // Report. A block with few survivors writes them behind their count, one line that the others
    // read at one go. Else, and always if FINE, they join the list.
    const unsigned held = min(stage.gather.buffered, stage.gather.base);
    if (!FINE) {
        const bool fits = stage.gather.buffered < LINE;
        if (thread_id() == 0)
            lines[block][0] = fits ? held : LONG;
        else if (fits && static_cast<unsigned>(thread_id()) <= held)
            lines[block][thread_id()] = stage.gather.buffer[thread_id() - 1];
        if (fits)
            return;
    }
    append_to_list(stage.gather.buffer, held, stage);
}

// Stage 3. Before the first append the buffer is emptied.
template <Segment SEGMENT>
__device__ void gather(const Body &body, unsigned t, Stage &stage, const float4 (&v)[8]) {
    constexpr bool FINE = SEGMENT == Segment::lane;
    if (thread_id() == 0) {
        stage.gather.buffered = 0;
        stage.gather.base = BUFFER;
    }
    __syncthreads();
    if constexpr (SEGMENT == Segment::held_batch)
        gather_held(body, t, stage, v);
    else
        gather_again<FINE>(body, t, stage);
    finish_gather<FINE>(body, t, stage);
}

// Collects the survivors of all lines in stage.keys and returns their number, the same in every
// block; -1 if a block has more than a line holds, or all together too many.
__device__ int collect_lines(Stage &stage) {
    const int t = thread_id(), lane = lane_id(), blocks = static_cast<int>(gridDim.x);
    uint4 part = {};
    if (t < blocks)
        part = __ldcg(reinterpret_cast<const uint4 *>(lines[t]));
    const bool too_long = part.x == LONG;
    unsigned place = too_long ? 0 : part.x;
#pragma unroll
    for (int d = 1; d < 32; d *= 2) {
        const unsigned left = __shfl_up_sync(FULL, place, d);
        place += lane >= d ? left : 0;
    }
    if (lane == 31)
        stage.collect.warp_sums[t / 32] = place;
    if (__syncthreads_or(too_long))
        return -1;
    unsigned total = 0;
    for (int w = 0; w < WARPS; w++) {
        const unsigned sum = stage.collect.warp_sums[w];
        place += w < t / 32 ? sum : 0;
        total += sum;
    }
    if (total > COLLECTED)
        return -1;
    place -= part.x;
    unsigned *keys = stage.collect.keys + place;
    if (part.x > 0)
        keys[0] = part.y;
    if (part.x > 1)
        keys[1] = part.z;
    if (part.x > 2)
        keys[2] = part.w;
    for (unsigned i = 3; i < part.x; i += 4) {
        const uint4 more = __ldcg(reinterpret_cast<const uint4 *>(lines[t]) + (i + 1) / 4);
        keys[i] = more.x;
        if (i + 1 < part.x)
            keys[i + 1] = more.y;
        if (i + 2 < part.x)
            keys[i + 2] = more.z;
        if (i + 3 < part.x)
            keys[i + 3] = more.w;
    }
    __syncthreads();
    return static_cast<int>(total);
}

// Stage 4, a moderate number of survivors: the rank of a key is the number of larger ones. A warp
// ranks up to four keys in one pass over all of them in shared memory. Of equal keys the earlier
// counts as larger; with EXACT that is part of the comparison, else, cheaper a step and with one
// more round trip at the end, they draw tickets.
template <bool EXACT>
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
            for (int e = 0; e < 4; e++) {
                bool before = key > mine[e];
                if (EXACT)
                    before = before || (key == mine[e] && i < first + e * warps);
                larger[e] += before ? 1 : 0;
            }
        }
#pragma unroll
        for (int e = 0; e < 4; e++) {
            int rank = __reduce_add_sync(FULL, larger[e]);
            if (lane_id() == 0 && first + e * warps < n && rank < k) {
                if (!EXACT)
                    rank += static_cast<int>(atomicAdd(&tie_counts[rank], 1u));
                if (rank < k)
                    output[rank] = from_key(mine[e]);
            }
        }
    }
}

// Stage 4, more survivors: four stable passes of 8 bits over the whole grid, the largest digit
// first. A block owns consecutive tiles; counts of all blocks give the place of each block's keys.
__device__ void sort_by_digits(int n, int k, unsigned *first, unsigned *second, float *output,
                               Stage &stage) {
    const int t = thread_id(), warp = t / 32, lane = lane_id();
    const int block = static_cast<int>(blockIdx.x);
    const int tiles = (n + RANK_TILE - 1) / RANK_TILE;
    const int share = (tiles + static_cast<int>(gridDim.x) - 1) / static_cast<int>(gridDim.x);
    const int active = (tiles + share - 1) / share;
    const int begin = min(block * share * RANK_TILE, n);
    const int end = min(begin + share * RANK_TILE, n);
    for (int pass = 0; pass < 4; pass++) {
        const unsigned *from = pass % 2 == 0 ? first : second;
        unsigned *to = pass % 2 == 0 ? second : first;
        const int shift = 8 * pass;
        if (t < 256)
            stage.sort.begin[t] = 0;
        __syncthreads();
        for (int i = begin + t; i < begin + (end - begin + 31) / 32 * 32; i += THREADS) {
            const unsigned key = i < end ? __ldcg(from + i) : 0;
            count_digit(stage.sort.begin, i < end, 255u - (key >> shift & 255u));
        }
        __syncthreads();
        if (t < 256 && block < active)
            tile_counts[block][t] = stage.sort.begin[t];
        grid_barrier();
        if (block < active) {
            // Two threads per digit each add up half of the blocks: all of them, and those before.
            const int digit = t % 256, half = t / 256;
            unsigned all = 0, before = 0;
#pragma unroll 8
            for (int b = half; b < active; b += 2) {
                const unsigned count = __ldcg(&tile_counts[b][digit]);
                all += count;
                before += b < block ? count : 0;
            }
            stage.sort.half_sums[half][0][digit] = all;
            stage.sort.half_sums[half][1][digit] = before;
            __syncthreads();
            unsigned total = 0, place = 0;
            if (t < 256) {
                total = stage.sort.half_sums[0][0][t] + stage.sort.half_sums[1][0][t];
                place = total;
#pragma unroll
                for (int d = 1; d < 32; d *= 2) {
                    const unsigned left = __shfl_up_sync(FULL, place, d);
                    place += lane >= d ? left : 0;
                }
                if (lane == 31)
                    stage.sort.warp_sums[warp] = place;
            }
            __syncthreads();
            if (t < 256) {
                place -= total;
                for (int w = 0; w < warp; w++)
                    place += stage.sort.warp_sums[w];
                stage.sort.begin[t] =
                    place + stage.sort.half_sums[0][1][t] + stage.sort.half_sums[1][1][t];
            }
            for (int tile = begin; tile < end; tile += RANK_TILE) {
                for (int i = t; i < WARPS * 256; i += THREADS)
                    (&stage.sort.counters[0][0])[i] = 0;
                __syncthreads();
                unsigned key[8], rank[8];
#pragma unroll
                for (int r = 0; r < 8; r++) {
                    const int i = tile + warp * 256 + r * 32 + lane;
                    key[r] = i < end ? __ldcg(from + i) : 0;
                    const unsigned digit = i < end ? 255u - (key[r] >> shift & 255u)
                                                   : 256u + static_cast<unsigned>(lane);
                    const unsigned peers = __match_any_sync(FULL, digit);
                    const int leader = __ffs(static_cast<int>(peers)) - 1;
                    unsigned before = 0;
                    if (lane == leader && i < end) {
                        before = stage.sort.counters[warp][digit];
                        stage.sort.counters[warp][digit] =
                            before + static_cast<unsigned>(__popc(peers));
                    }
                    before = __shfl_sync(FULL, before, leader);
                    rank[r] = before + static_cast<unsigned>(__popc(peers & ((1u << lane) - 1)));
                    __syncwarp();
                }
                __syncthreads();
                if (t < 256) {
                    unsigned running = stage.sort.begin[t];
                    for (int w = 0; w < WARPS; w++) {
                        const unsigned count = stage.sort.counters[w][t];
                        stage.sort.counters[w][t] = running;
                        running += count;
                    }
                    stage.sort.begin[t] = running; // for the block's next tile
                }
                __syncthreads();
#pragma unroll
                for (int r = 0; r < 8; r++) {
                    if (tile + warp * 256 + r * 32 + lane >= end)
                        continue;
                    const unsigned digit = 255u - (key[r] >> shift & 255u);
                    const int place = static_cast<int>(stage.sort.counters[warp][digit] + rank[r]);
                    if (pass < 3)
                        to[place] = key[r];
                    else if (place < k)
                        output[place] = from_key(key[r]);
                }
                __syncthreads();
            }
        }
        if (pass < 3)
            grid_barrier();
    }
}

template <Segment SEGMENT>
__global__ void __launch_bounds__(THREADS, blocks_per_sm(SEGMENT))
    delegate_select(const float *__restrict__ input, float *output, int N, int k, Tier tier) {
    constexpr bool FINE = SEGMENT == Segment::lane;
    extern __shared__ unsigned dynamic[];
    Stage &stage = *reinterpret_cast<Stage *>(dynamic);
    const Body body(input, N, BATCH_QUADS);
    const int segments = body.quads / BATCH_QUADS * (FINE ? 32 : 1);

    // Nobody touches the counters before the first barrier.
    if (blockIdx.x == 0) {
        for (int i = thread_id(); i < 3 * RADIX; i += THREADS)
            (&round_counts[0][0])[i] = 0;
        for (int i = thread_id(); i < RANKED; i += THREADS)
            tie_counts[i] = 0;
        if (thread_id() == 0)
            list_length = 0;
    }
    float4 v[8];
    stream<SEGMENT>(body, stage, v);
    grid_barrier();

    // At least k delegates, each another element, are >= t: so at least k elements are.
    const int grid = static_cast<int>(gridDim.x);
    unsigned t = 0;
    if (tier == Tier::blocks)
        t = kth_of_maxima<MAX_BLOCKS / THREADS>(block_maxima, grid, k, stage);
    else if (tier == Tier::warps)
        t = kth_of_maxima<MAX_BLOCKS * WARPS / THREADS>(warp_maxima, WARPS * grid, k, stage);
    else
        t = kth_of_segments(segments, k, stage);
    __syncthreads();
    gather<SEGMENT>(body, t, stage, v);
    grid_barrier();

    int n = -1;
    const unsigned *keys = nullptr;
    if constexpr (!FINE) {
        n = collect_lines(stage);
        keys = stage.collect.keys;
        if (n < 0) {
            // Too many: those in lines join the list of the others.
            const unsigned held = __ldcg(&lines[blockIdx.x][0]);
            __syncthreads();
            if (held != LONG)
                append_to_list(&lines[blockIdx.x][1], held, stage);
            grid_barrier();
        }
    }
    if (n < 0) {
        n = static_cast<int>(__ldcg(&list_length));
        // A coarse threshold promises nothing: sorted data, say, have far more above it. Then the
        // exact one is taken: fewer than k segments exceed it, whatever the data.
        if (n > LIMIT && tier != Tier::segments) {
            grid_barrier(); // all have read the length
            if (blockIdx.x == 0 && thread_id() == 0)
                list_length = 0;
            t = kth_of_segments(segments, k, stage);
            __syncthreads();
            gather<FINE ? Segment::lane : Segment::batch>(body, t, stage, v);
            __syncthreads();
            const unsigned held = FINE ? 0 : __ldcg(&lines[blockIdx.x][0]);
            if (held != LONG)
                append_to_list(&lines[blockIdx.x][1], held, stage);
            grid_barrier();
            n = static_cast<int>(__ldcg(&list_length));
        }
        keys = stage.keys;
        if (n <= RANKED) {
#pragma unroll 8
            for (int i = thread_id(); i < n; i += THREADS)
                stage.keys[i] = __ldcg(&lists[0][i]);
            __syncthreads();
        }
    }

    // n survivors are above t and at least k elements are not below it: where n < k the places
    // that are left hold t itself.
    if (n > RANKED)
        sort_by_digits(n, k, lists[0], lists[1], output, stage);
    else if (n > EXACT_RANKED)
        rank_by_counting<false>(keys, n, k, output);
    else
        rank_by_counting<true>(keys, n, k, output);
    const int step = grid * THREADS;
    for (int i = n + static_cast<int>(blockIdx.x) * THREADS + thread_id(); i < k; i += step)
        output[i] = from_key(t);
}

// ---- small N -----------------------------------------------------------------------------------

constexpr int SMALL_N = 16384;
constexpr int SMALL_K = 1024;  // up to here one block finds and ranks the k largest
constexpr int RANK_ALL = 4096; // up to here ranking every element is as quick

// Ranks every element by counting.
__global__ void __launch_bounds__(THREADS)
    rank_all(const float *__restrict__ input, float *output, int N, int k) {
    __shared__ unsigned keys[RANK_ALL];
#pragma unroll 8
    for (int i = thread_id(); i < N; i += THREADS)
        keys[i] = to_key(input[i]);
    __syncthreads();
    rank_by_counting<true>(keys, N, k, output);
}

// One block: the k-th key by three digits, then the keys above it are ranked, then ties.
__global__ void __launch_bounds__(THREADS)
    select_in_block(const float *__restrict__ input, float *output, int N, int k) {
    extern __shared__ unsigned dynamic[];
    __shared__ unsigned bins[RADIX];
    __shared__ unsigned above[SMALL_K];
    __shared__ unsigned count;
    const int t = thread_id();
#pragma unroll 8
    for (int i = t; i < N; i += THREADS)
        dynamic[i] = to_key(input[i]);
    if (t == 0)
        count = 0;
    unsigned prefix = 0, high = 0, rank = static_cast<unsigned>(k);
    const int padded = (N + THREADS - 1) / THREADS * THREADS;
    for (int round = 0; round < 3; round++) {
        const int shift = round == 2 ? 0 : 32 - DIGIT * (round + 1);
        const unsigned mask = round == 2 ? (1u << (32 - 2 * DIGIT)) - 1 : RADIX - 1;
        for (int i = t; i < RADIX; i += THREADS)
            bins[i] = 0;
        __syncthreads();
        for (int i = t; i < padded; i += THREADS) {
            const unsigned key = i < N ? dynamic[i] : 0;
            count_digit(bins, i < N && (key & high) == prefix, key >> shift & mask);
        }
        __syncthreads();
        const Choice choice = choose_bin<RADIX>(bins, rank);
        prefix |= choice.digit << shift;
        rank = choice.rank;
        high |= mask << shift;
    }
    for (int i = t; i < N; i += THREADS) {
        if (dynamic[i] > prefix)
            above[atomicAdd(&count, 1u)] = dynamic[i];
    }
    __syncthreads();
    const int n = static_cast<int>(count); // below k
    rank_by_counting<true>(above, n, k, output);
    for (int i = n + t; i < k; i += THREADS)
        output[i] = from_key(prefix);
}

// ---- large k: two rounds of partition, then buckets sorted in shared memory --------------------

// All in inverted keys q = ~key, so that ascending q is descending order. The bits above top_shift
// name a bin; a bin with c keys is cut into about c / TARGET buckets of equal width, so the bucket
// of q is first + ((q within the bin) * buckets / width): monotone, one table word and one product.
constexpr int TARGET = 4096;             // keys meant for a bucket
constexpr int CAPACITY = TARGET / 2 * 3; // keys a bucket can hold
constexpr int BIG_BITS = 13; // bits that name a bin: sign, exponent, four of the mantissa
constexpr int BINS = 1 << BIG_BITS;
constexpr int GROUPS = 256;   // of the first round: runs of 2^group_shift buckets
constexpr int TILE_KEYS = 16; // a thread and tile
constexpr int TILE = THREADS * TILE_KEYS;
constexpr int MAX_BUCKETS = MAX_N / TARGET + BINS + 1;
constexpr int FINE_BINS = 8192; // of the sort of one bucket
constexpr int CROWD = 32;       // keys of a fine bin that are put in order by counting

__device__ unsigned bin_counts[BINS];
__device__ unsigned bin_table[BINS]; // first bucket in the upper half word, buckets in the lower
__device__ unsigned bucket_count;
__device__ unsigned group_shift;
__device__ unsigned group_lengths[GROUPS];
__device__ unsigned bucket_lengths[MAX_BUCKETS];
__device__ unsigned bucket_begins[MAX_BUCKETS];
__device__ unsigned crowded; // some region was too small: the cooperative sort serves

struct Place {
    unsigned bucket;
    unsigned within; // position in the bucket's range, scaled to 2^32
};

__device__ Place place_of(unsigned q, unsigned entry, int top_shift) {
    const unsigned scaled = q << (32 - top_shift);
    return {(entry >> 16) + __umulhi(scaled, entry & 0xffffu), scaled * (entry & 0xffffu)};
}

__global__ void __launch_bounds__(THREADS) bucket_reset() {
    const int step = static_cast<int>(gridDim.x) * THREADS;
    const int start = static_cast<int>(blockIdx.x) * THREADS + thread_id();
    for (int i = start; i < BINS; i += step)
        bin_counts[i] = 0;
    for (int i = start; i < MAX_BUCKETS; i += step)
        bucket_lengths[i] = 0;
    if (start < GROUPS)
        group_lengths[start] = 0;
    if (start == 0)
        crowded = 0;
}

__global__ void __launch_bounds__(THREADS)
    bucket_histogram(const float *__restrict__ input, int n, int top_shift) {
    __shared__ unsigned bins[BINS];
    const int t = thread_id();
    for (int i = t; i < BINS; i += THREADS)
        bins[i] = 0;
    __syncthreads();
    const Body body(input, n);
    const int step = static_cast<int>(gridDim.x) * THREADS;
#pragma unroll 4
    for (int q = static_cast<int>(blockIdx.x) * THREADS + t; q < body.quads; q += step) {
        const float4 four = __ldcs(body.data + q);
        atomicAdd(&bins[~to_key(four.x) >> top_shift], 1u);
        atomicAdd(&bins[~to_key(four.y) >> top_shift], 1u);
        atomicAdd(&bins[~to_key(four.z) >> top_shift], 1u);
        atomicAdd(&bins[~to_key(four.w) >> top_shift], 1u);
    }
    if (blockIdx.x == 0 && t < body.loose())
        atomicAdd(&bins[~to_key(body.loose_value(t)) >> top_shift], 1u);
    __syncthreads();
    for (int i = t; i < BINS; i += THREADS) {
        if (bins[i] > 0)
            atomicAdd(&bin_counts[i], bins[i]);
    }
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

// One block: cuts the bins that can hold one of the first k keys into buckets.
__global__ void __launch_bounds__(THREADS) bucket_plan(int k) {
    constexpr int EACH = BINS / THREADS;
    const int t = thread_id();
    unsigned keys = 0, buckets = 0, all = 0;
    unsigned cut[EACH]; // keys at first
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        cut[e] = bin_counts[t * EACH + e];
        keys += cut[e];
    }
    unsigned before = scan_block(keys, all);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        const unsigned count = cut[e];
        cut[e] = before < static_cast<unsigned>(k) ? (count + TARGET - 1) / TARGET : 0;
        before += count;
        buckets += cut[e];
    }
    unsigned first = scan_block(buckets, all);
#pragma unroll
    for (int e = 0; e < EACH; e++) {
        bin_table[t * EACH + e] = first << 16 | cut[e];
        first += cut[e];
    }
    if (t == 0) {
        unsigned shift = 0;
        while ((all - 1) >> shift >= GROUPS)
            shift++;
        bucket_count = all;
        group_shift = shift;
    }
}

struct PartitionShared {
    unsigned table[BINS];
    unsigned keys[TILE];
    unsigned short target[TILE]; // group or bucket of the key in the same place
    unsigned counts[GROUPS];
    unsigned begin[GROUPS]; // in the tile
    unsigned shift_to_region[GROUPS];
};

// Sorts a tile by group (FIRST, from the input) or by bucket of its group, in any order within, and
// adds the runs to the regions of their targets.
template <bool FIRST>
__global__ void __launch_bounds__(THREADS, 2)
    bucket_partition(const float *__restrict__ input, int n, const unsigned *__restrict__ from,
                     unsigned region_in, unsigned *to, unsigned region_out, int top_shift) {
    extern __shared__ unsigned dynamic[];
    PartitionShared &shared = *reinterpret_cast<PartitionShared *>(dynamic);
    const int t = thread_id();
    const unsigned group = FIRST ? 0 : blockIdx.y, groups = group_shift;
    const unsigned length = FIRST ? static_cast<unsigned>(n) : min(group_lengths[group], region_in);
    const unsigned tiles = (length + TILE - 1) / TILE;
    if (blockIdx.x >= tiles || (!FIRST && crowded != 0))
        return;
    for (int i = t; i < BINS; i += THREADS)
        shared.table[i] = bin_table[i];
    for (unsigned tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
        if (t < GROUPS)
            shared.counts[t] = 0;
        __syncthreads();
        unsigned q[TILE_KEYS], rank[TILE_KEYS]; // rank: target in the upper half word
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            const unsigned i = tile * TILE + static_cast<unsigned>(r * THREADS + t);
            q[r] = FULL;
            if (i < length)
                q[r] = FIRST ? ~to_key(__ldcs(input + i))
                             : __ldcs(from + static_cast<size_t>(group) * region_in + i);
        }
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            const unsigned i = tile * TILE + static_cast<unsigned>(r * THREADS + t);
            const unsigned entry = shared.table[q[r] >> top_shift];
            rank[r] = FULL;
            if (i < length && (entry & 0xffffu) != 0) {
                const unsigned bucket = place_of(q[r], entry, top_shift).bucket;
                const unsigned target = FIRST ? bucket >> groups : bucket - (group << groups);
                rank[r] = target << 16 | atomicAdd(&shared.counts[target], 1u);
            }
        }
        __syncthreads();
        unsigned kept = 0;
        const unsigned count = t < GROUPS ? shared.counts[t] : 0;
        const unsigned begin = scan_block(count, kept);
        if (t < GROUPS) {
            unsigned offset = 0;
            const unsigned target =
                FIRST ? static_cast<unsigned>(t) : (group << groups) + static_cast<unsigned>(t);
            if (count > 0) {
                offset = atomicAdd(FIRST ? &group_lengths[target] : &bucket_lengths[target], count);
                if (offset + count > region_out) {
                    crowded = 1;
                    offset = FULL; // not written: the cooperative sort starts again
                }
            }
            shared.begin[t] = begin;
            shared.shift_to_region[t] = offset;
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            if (rank[r] != FULL) {
                const unsigned place = shared.begin[rank[r] >> 16] + (rank[r] & 0xffffu);
                shared.keys[place] = q[r];
                shared.target[place] = static_cast<unsigned short>(rank[r] >> 16);
            }
        }
        __syncthreads();
#pragma unroll
        for (int r = 0; r < TILE_KEYS; r++) {
            const unsigned i = static_cast<unsigned>(r * THREADS + t);
            if (i < kept) {
                const unsigned target = shared.target[i];
                const unsigned offset = shared.shift_to_region[target];
                const size_t region = FIRST ? target : (group << groups) + target;
                if (offset != FULL)
                    to[region * region_out + offset + i - shared.begin[target]] = shared.keys[i];
            }
        }
        __syncthreads();
    }
}

// One block: where each bucket begins in the output.
__global__ void __launch_bounds__(THREADS) bucket_scan() {
    const unsigned share = (bucket_count + THREADS - 1) / THREADS;
    const unsigned begin = min(static_cast<unsigned>(thread_id()) * share, bucket_count);
    const unsigned end = min(begin + share, bucket_count);
    unsigned sum = 0, all = 0;
#pragma unroll 8
    for (unsigned b = begin; b < end; b++)
        sum += bucket_lengths[b];
    unsigned place = scan_block(sum, all);
#pragma unroll 8
    for (unsigned b = begin; b < end; b++) {
        bucket_begins[b] = place;
        place += bucket_lengths[b];
    }
}

struct BucketShared {
    unsigned starts[FINE_BINS / 16 * 17 + 1];
    unsigned keys[CAPACITY];
};

// A word is left free after every 16, so that threads that own 16 bins each do not all meet on two
// banks.
__device__ unsigned padded(unsigned bin) { return bin + bin / 16; }

// Bitonic sort, ascending, of any length: the first step of a merge compares mirrored places, so
// all comparisons point one way and pairs that reach past the end are skipped.
__device__ void sort_bitonic(unsigned *keys, int n) {
    for (int size = 2; size / 2 < n; size *= 2) {
        for (int stride = size / 2; stride > 0; stride /= 2) {
            for (int p = thread_id(); p < FINE_BINS / 2; p += THREADS) {
                const int offset = p % stride;
                const int i = p / stride * stride * 2 + offset;
                const int j = stride == size / 2 ? i - offset + size - 1 - offset : i + stride;
                if (j < n && keys[i] > keys[j]) {
                    const unsigned swap = keys[i];
                    keys[i] = keys[j];
                    keys[j] = swap;
                }
            }
            __syncthreads();
        }
    }
}

// Blocks take buckets in turn. A bucket's keys are spread over fine bins by their place in its
// range. Half of the bins stay empty, most others hold one key; the thread that owns a bin puts
// the few keys of a fuller one in order.
__global__ void __launch_bounds__(THREADS, 2)
    bucket_sort(const unsigned *__restrict__ from, float *output, int k, int top_shift) {
    extern __shared__ unsigned dynamic[];
    BucketShared &shared = *reinterpret_cast<BucketShared *>(dynamic);
    constexpr int EACH = FINE_BINS / THREADS;
    static_assert(EACH == 16, "padded() is made for 16 bins a thread");
    static_assert(CAPACITY <= FINE_BINS, "sort_bitonic covers FINE_BINS places");
    const int t = thread_id();
    if (crowded != 0)
        return;
    for (unsigned b = blockIdx.x; b < bucket_count; b += gridDim.x) {
        const unsigned begin = bucket_begins[b];
        const int n = static_cast<int>(bucket_lengths[b]);
        if (n == 0 || begin >= static_cast<unsigned>(k))
            continue; // the same for the whole block
        const unsigned *keys = from + static_cast<size_t>(b) * CAPACITY;
        unsigned q[CAPACITY / THREADS], rank[CAPACITY / THREADS]; // rank: bin in the upper half
#pragma unroll
        for (int r = 0; r < CAPACITY / THREADS; r++)
            q[r] = r * THREADS + t < n ? __ldcs(keys + r * THREADS + t) : 0;
        const unsigned entry = bin_table[keys[0] >> top_shift];
        for (int i = t; i < FINE_BINS / 16 * 17; i += THREADS)
            shared.starts[i] = 0;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < CAPACITY / THREADS; r++) {
            rank[r] = 0;
            if (r * THREADS + t < n) {
                const unsigned bin = place_of(q[r], entry, top_shift).within / (1u << 19);
                rank[r] = bin << 16 | atomicAdd(&shared.starts[padded(bin)], 1u);
            }
        }
        __syncthreads();
        unsigned sum = 0, most = 0, fuller = 0, all = 0; // of the thread's own bins
        unsigned *own = shared.starts + t * (EACH + 1);
#pragma unroll
        for (int e = 0; e < EACH; e++) {
            const unsigned count = own[e];
            most = max(most, count);
            fuller |= count > 1 ? 1u << e : 0u;
            sum += count;
        }
        unsigned start = scan_block(sum, all);
#pragma unroll 4
        for (int e = 0; e < EACH; e++) { // counts become places; read again to save registers
            const unsigned count = own[e];
            own[e] = start;
            start += count;
        }
        if (t == THREADS - 1)
            shared.starts[padded(FINE_BINS)] = start;
        const bool crowd = __syncthreads_or(most > CROWD) != 0;
#pragma unroll
        for (int r = 0; r < CAPACITY / THREADS; r++) {
            if (r * THREADS + t < n)
                shared.keys[shared.starts[padded(rank[r] >> 16)] + (rank[r] & 0xffffu)] = q[r];
        }
        __syncthreads();
        if (crowd) {
            sort_bitonic(shared.keys, n);
        } else {
            for (; fuller != 0; fuller &= fuller - 1) {
                const unsigned bin =
                    static_cast<unsigned>(t * EACH + __ffs(static_cast<int>(fuller)) - 1);
                const unsigned first = shared.starts[padded(bin)];
                const unsigned end = shared.starts[padded(bin + 1)];
                for (unsigned i = first + 1; i < end; i++) { // insertion sort
                    const unsigned x = shared.keys[i];
                    unsigned j = i;
                    for (; j > first && shared.keys[j - 1] > x; j--)
                        shared.keys[j] = shared.keys[j - 1];
                    shared.keys[j] = x;
                }
            }
            __syncthreads();
        }
        const int wanted = min(n, k - static_cast<int>(begin));
        for (int i = t; i < wanted; i += THREADS)
            output[begin + static_cast<unsigned>(i)] = from_key(~shared.keys[i]);
        __syncthreads();
    }
}

// Data that no equal cut spreads, such as long runs of one value, are sorted digit by digit.
__global__ void __launch_bounds__(THREADS, 2)
    sort_if_crowded(const float *__restrict__ input, float *output, int N, int k, unsigned *first,
                    unsigned *second) {
    extern __shared__ unsigned dynamic[];
    if (crowded == 0)
        return;
    const int step = static_cast<int>(gridDim.x) * THREADS;
    for (int i = static_cast<int>(blockIdx.x) * THREADS + thread_id(); i < N; i += step)
        first[i] = to_key(input[i]);
    grid_barrier();
    sort_by_digits(N, k, first, second, output, *reinterpret_cast<Stage *>(dynamic));
}

void sort_down(const float *input, float *output, int N, int k, int blocks) {
    // Fewer bins for fewer keys, since each may take a bucket of scratch.
    const int bits = N < 1 << 16 ? BIG_BITS - 3 : N < 1 << 22 ? BIG_BITS - 1 : BIG_BITS;
    const int top_shift = 32 - bits;
    const unsigned most_buckets = static_cast<unsigned>(N / TARGET) + (1u << bits) + 1;
    unsigned group_buckets = 1;
    while ((most_buckets - 1) / group_buckets >= GROUPS)
        group_buckets *= 2;
    const unsigned region = min(group_buckets * TARGET / 2 * 3, static_cast<unsigned>(N));
    const size_t buckets_size = static_cast<size_t>(most_buckets) * CAPACITY;
    const size_t groups_size = static_cast<size_t>(GROUPS) * region;
    static const bool prepared = [] {
        // Memory that a call gives back stays in the pool for the next call.
        int device = 0;
        cudaMemPool_t pool;
        unsigned long long keep = ~0ULL;
        cudaGetDevice(&device);
        if (cudaDeviceGetDefaultMemPool(&pool, device) == cudaSuccess)
            cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep);
        cudaFuncSetAttribute(bucket_partition<true>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(PartitionShared)));
        cudaFuncSetAttribute(bucket_partition<false>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(PartitionShared)));
        cudaFuncSetAttribute(bucket_sort, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(BucketShared)));
        cudaFuncSetAttribute(sort_if_crowded, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(Stage)));
        return true;
    }();
    (void)prepared;
    unsigned *groups = nullptr;
    if (cudaMallocAsync(&groups, (groups_size + buckets_size) * sizeof(unsigned), nullptr) !=
        cudaSuccess)
        return;
    unsigned *buckets = groups + groups_size;
    const int tiles = (N + TILE - 1) / TILE;
    const int first_blocks = tiles < blocks ? tiles : blocks;
    bucket_reset<<<64, THREADS>>>();
    bucket_histogram<<<blocks, THREADS>>>(input, N, top_shift);
    bucket_plan<<<1, THREADS>>>(k);
    bucket_partition<true><<<first_blocks, THREADS, sizeof(PartitionShared)>>>(
        input, N, nullptr, 0, groups, region, top_shift);
    bucket_partition<false><<<dim3(8, GROUPS), THREADS, sizeof(PartitionShared)>>>(
        nullptr, 0, groups, region, buckets, CAPACITY, top_shift);
    bucket_scan<<<1, THREADS>>>();
    bucket_sort<<<blocks, THREADS, sizeof(BucketShared)>>>(buckets, output, k, top_shift);
    void *arguments[] = {&input, &output, &N, &k, &groups, &buckets};
    cudaLaunchCooperativeKernel(sort_if_crowded, dim3(static_cast<unsigned>(blocks)), dim3(THREADS),
                                arguments, sizeof(Stage), nullptr);
    cudaFreeAsync(groups, nullptr);
}

// Facts of the device, asked once.
struct Device {
    int sms;
    int blocks; // of the delegate kernels that are resident at a time; 0: no cooperative launch
    int held_blocks; // the same for held batches
};

template <Segment SEGMENT> int resident_blocks(int sms) {
    int fit = 0;
    cudaFuncSetAttribute(delegate_select<SEGMENT>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                         static_cast<int>(sizeof(Stage)));
    cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, delegate_select<SEGMENT>, THREADS,
                                                  sizeof(Stage));
    const int blocks = sms * (fit < blocks_per_sm(SEGMENT) ? fit : blocks_per_sm(SEGMENT));
    return blocks < MAX_BLOCKS ? blocks : MAX_BLOCKS;
}

const Device &device_facts() {
    static const Device facts = [] {
        Device d = {};
        int device = 0, cooperative = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&d.sms, cudaDevAttrMultiProcessorCount, device);
        cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
        if (cooperative != 0) {
            const int batch = resident_blocks<Segment::batch>(d.sms);
            const int lane = resident_blocks<Segment::lane>(d.sms);
            d.blocks = batch < lane ? batch : lane;
            d.held_blocks = resident_blocks<Segment::held_batch>(d.sms);
        }
        cudaFuncSetAttribute(select_in_block, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             SMALL_N * static_cast<int>(sizeof(unsigned)));
        return d;
    }();
    return facts;
}

template <Segment SEGMENT>
void launch_delegates(const float *input, float *output, int N, int k, Tier tier, int blocks) {
    void *arguments[] = {&input, &output, &N, &k, &tier};
    cudaLaunchCooperativeKernel(delegate_select<SEGMENT>, dim3(static_cast<unsigned>(blocks)),
                                dim3(THREADS), arguments, sizeof(Stage), nullptr);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N, int k) {
    if (N < 1 || k < 1)
        return;
    const Device &device = device_facts();
    if (N <= RANK_ALL) {
        const int wanted = (N + WARPS - 1) / WARPS;
        const int grid = wanted < device.sms ? wanted : device.sms;
        rank_all<<<grid, THREADS>>>(input, output, N, k);
        return;
    }
    if (N <= SMALL_N && k <= SMALL_K) {
        select_in_block<<<1, THREADS, sizeof(unsigned) * N>>>(input, output, N, k);
        return;
    }
    // At most 3 elements lie before the first batch, so one batch more is possible. A tier needs k
    // maxima, and a quarter more to be a good guess.
    const int batches = (N - 3) / BATCH;
    const bool held = batches + 1 <= WARPS * device.held_blocks;
    const int resident = held ? device.held_blocks : device.blocks;
    const int blocks = resident < batches ? resident : batches;
    const int warps = WARPS * blocks < batches ? WARPS * blocks : batches;
    if (blocks > 0 && k <= COARSE_K && 2 * k <= batches) {
        const Tier tier = k + k / 4 <= blocks  ? Tier::blocks
                          : k + k / 4 <= warps ? Tier::warps
                                               : Tier::segments;
        if (held)
            launch_delegates<Segment::held_batch>(input, output, N, k, tier, blocks);
        else
            launch_delegates<Segment::batch>(input, output, N, k, tier, blocks);
    } else if (blocks > 0 && k <= FINE_K && k <= N / 64) {
        const int grid = device.blocks < batches ? device.blocks : batches;
        launch_delegates<Segment::lane>(input, output, N, k, Tier::segments, grid);
    } else {
        sort_down(input, output, N, k, device.blocks);
    }
}

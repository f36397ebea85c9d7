// @idea   persistent blocks, a producer warp that splits and copies tiles ahead
// @source own
// @expect AC
// @arch   sm_90
// @needs  gpu
// Bytes: 8(M+N). Floor: 2.7 us + 8(M+N) / 4.28 TB/s = 96.2 us at 25M + 25M.
//
// Four blocks an SM own one contiguous range of outputs each. In a block one warp runs ahead: it
// finds where the next tile ends, which lies within a tile's length of where it begins, so that 3
// rounds of 32 probes always do, and has both windows brought to a ring of three stages by bulk
// copies (cp.async.bulk on an mbarrier). Eight warps merge the tiles that have arrived. So neither
// a search in global memory nor the latency of a load is ever waited for, once the first tile is
// there. Above the floor: that first tile (3 rounds of search, a load), and the last stores.
// Inputs shorter than two tiles a block take a plain kernel with one block per tile. Hardware
// features used: mbarrier, cp.async.bulk (sm_90). Deterministic.

#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256; // that merge
constexpr int ITEMS = 17;    // outputs a thread; odd: no bank conflicts
constexpr int TILE = THREADS * ITEMS;
constexpr unsigned FULL = 0xffffffffu;

// ---- splits ------------------------------------------------------------------------------------

// Merge path: how many of the first `diagonal` outputs come from A, that is the first i in
// [low, high] for which A[i] is above B[diagonal - 1 - i], because then A[i] comes after that
// element. Equal elements count as A's, as in the merge. A warp probes 32 places at equal
// distances and keeps the one gap that holds the answer: three rounds for a range of 4,352, where a
// binary search needs 13 dependent loads. Wider rounds are fewer, but each probe moves two sectors:
// 128 probes a round cost more than the round they saved.
__device__ int narrow(const float *__restrict__ A, const float *__restrict__ B, int diagonal,
                      int low, int high) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    while (low < high) {
        const int gap = (high - low + 31) / 32;
        const long long probe = low + static_cast<long long>(lane + 1) * gap - 1;
        const bool from_a = probe < high && A[probe] <= B[diagonal - 1 - static_cast<int>(probe)];
        low += __popc(__ballot_sync(FULL, from_a)) * gap; // those that hold are the first lanes
        high = min(high, low + gap - 1);
    }
    return low;
}

// The same without a hint: the first round looks around the share that A has on average. Whatever
// it finds, the gap between two probes or one of the two sides holds the answer: 3 rounds in all on
// random data, at most 6.
constexpr int GUESS = 4096; // half width of the first look

__device__ int split_by_warp(const float *__restrict__ A, int M, const float *__restrict__ B, int N,
                             int diagonal) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int low = max(0, diagonal - N), high = min(diagonal, M);
    const int middle = static_cast<int>(static_cast<long long>(diagonal) * M / (M + N));
    const int start = max(middle - GUESS, low), stop = min(middle + GUESS, high);
    if (high - low > 32 && start < stop) {
        const int gap = (stop - start + 30) / 31;
        const int probe = start - 1 + lane * gap; // lane 0 just before, lane 31 at the end
        const bool from_a = probe < low || (probe < high && A[probe] <= B[diagonal - 1 - probe]);
        const int found = __popc(__ballot_sync(FULL, from_a));
        if (found > 0)
            low = max(low, start + (found - 1) * gap);
        if (found < 32)
            high = min(high, start - 1 + found * gap);
    }
    return narrow(A, B, diagonal, low, high);
}

// ---- one tile in shared memory -----------------------------------------------------------------

// Windows are addressed by 32-bit shared addresses: half the instructions of generic pointers in
// the two loops that every output goes through.
__device__ uint32_t shared_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ float load_shared(uint32_t address) {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
    return value;
}

// The same search by one thread, inside the windows at a and b.
__device__ int split_in_window(uint32_t a, int a_count, uint32_t b, int b_count, int diagonal) {
    int low = max(0, diagonal - b_count), high = min(diagonal, a_count);
    const uint32_t b_last = b + 4u * static_cast<uint32_t>(diagonal - 1);
    while (low < high) {
        const int middle = (low + high) / 2;
        const uint32_t offset = 4u * static_cast<uint32_t>(middle);
        if (load_shared(a + offset) <= load_shared(b_last - offset))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Where a list ends there is no next element. NaN behind A makes head_a <= head_b false, so B is
// taken; +inf behind B makes it true for every number, +inf included, so A is taken.
__device__ float end_mark_a() { return __uint_as_float(0x7fffffffu); }
__device__ float end_mark_b() { return __uint_as_float(0x7f800000u); }

// ITEMS steps of a merge with both heads in registers: compare, select, advance, load. There is no
// test for the end of a window, because behind each window lies its list's next element, which by
// the meaning of the split comes after everything in this tile, or a mark: see end_mark_a. Only
// the one thread whose outputs the end of the input cuts short counts its steps.
template <bool CUT>
__device__ void merge_items(uint32_t a, uint32_t b, int left, float (&item)[ITEMS]) {
    float head_a = load_shared(a), head_b = load_shared(b);
#pragma unroll
    for (int s = 0; s < ITEMS; s++) {
        if (CUT && s >= left)
            break;
        const bool take_a = head_a <= head_b; // equal: A first
        item[s] = take_a ? head_a : head_b;
        a += take_a ? 4 : 0;
        b += take_a ? 0 : 4;
        const float next = load_shared(take_a ? a : b);
        head_a = take_a ? next : head_a;
        head_b = take_a ? head_b : next;
    }
}

// Stores of a merged tile: 16 bytes a lane where C allows. Nothing is read again: evict first. The
// tile is in registers when `release` is called, before the stores are sent.
template <class Release>
__device__ void store_tile(const float *tile, float *to, int count, int t, Release release) {
    if (reinterpret_cast<uintptr_t>(to) % sizeof(float4) == 0) {
        constexpr int EACH = (ITEMS + 3) / 4;
        const float4 *quads = reinterpret_cast<const float4 *>(tile);
        float4 quad[EACH];
        float rest = 0.0f;
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            if (s * THREADS + t < count / 4)
                quad[s] = quads[s * THREADS + t];
        }
        if (t < count % 4)
            rest = tile[count / 4 * 4 + t];
        release();
#pragma unroll
        for (int s = 0; s < EACH; s++) {
            if (s * THREADS + t < count / 4)
                __stcs(reinterpret_cast<float4 *>(to) + s * THREADS + t, quad[s]);
        }
        if (t < count % 4)
            to[count / 4 * 4 + t] = rest;
    } else {
        for (int i = t; i < count; i += THREADS)
            to[i] = tile[i];
        release();
    }
}

// ---- large inputs: a ring of tiles -------------------------------------------------------------

constexpr int BLOCKS_PER_SM = 4;
constexpr int STAGES = 3;
constexpr int WARPS = THREADS / 32;

// A stage holds both windows, each with its next element and up to three more on either side, so
// that copies begin and end on 16 bytes; later the merged tile.
constexpr int STAGE_FLOATS = TILE + 2 * 12;

struct Shared {
    alignas(128) float stage[STAGES][STAGE_FLOATS];
    uint64_t full[STAGES];  // the windows are there
    uint64_t empty[STAGES]; // the merged tile has left
    int a_at[STAGES];       // where in the stage A's window begins
    int b_at[STAGES];
    int a_count[STAGES];
    int first_end; // split at the end of the first tile
};

__device__ void barrier_init(uint64_t *barrier, int arrivals) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(arrivals)
                 : "memory");
}

__device__ void barrier_arrive(uint64_t *barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}

__device__ void barrier_arrive_expect(uint64_t *barrier, int bytes) {
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
        "r"(bytes)
        : "memory");
}

__device__ void barrier_wait(uint64_t *barrier, int parity) {
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}\n" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

__device__ void bulk_load(float *to, const float *from, int bytes, uint64_t *barrier) {
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes"
                 " [%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

// All merging warps meet; the producer does not.
__device__ void meet_merging_warps() { asm volatile("bar.sync 1, %0;" ::"n"(THREADS) : "memory"); }

// A window [begin, begin + count] of a list of `length` elements, its next element included, on its
// way to `stage`. A bulk copy needs 16 bytes on both sides, so it takes whole groups of four that
// lie inside the list; what is left at the list's own ends comes by plain loads.
struct Window {
    int lead;       // elements of the first group before the window
    int bulk_begin; // list indices of the bulk copy
    int bulk_end;
    int begin, end; // list indices needed; end may be one past the list

    __device__ Window(const float *list, int length, int first, int count) {
        const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(list) / sizeof(float) % 4);
        begin = first;
        end = first + count + 1;
        lead = (first + shift) % 4;
        bulk_begin = first - lead; // on 16 bytes
        if (bulk_begin < 0)
            bulk_begin += 4;
        const int last = min(end + 3, length);
        bulk_end = last - (last + shift) % 4; // on 16 bytes, inside the list
        if (bulk_end < bulk_begin)
            bulk_end = bulk_begin;
    }
    __device__ int bytes() const {
        return (bulk_end - bulk_begin) * static_cast<int>(sizeof(float));
    }
    __device__ int floats() const { return (lead + end - begin + 3) / 4 * 4 + 4; }

    // Called by a whole warp: at most three elements on either side, and the mark.
    __device__ void load_rest(const float *list, int length, float *stage, float mark) const {
        const int lane = static_cast<int>(threadIdx.x % 32);
        const int head = begin + lane; // before the bulk copy
        if (head < min(bulk_begin, min(end, length)))
            stage[lead + lane] = list[head];
        const int tail = max(bulk_end, begin) + lane; // behind it
        if (tail < min(end, length))
            stage[lead + tail - begin] = list[tail];
        if (lane == 31 && end > length)
            stage[lead + length - begin] = mark;
    }
    __device__ void load_bulk(const float *list, float *stage, uint64_t *barrier) const {
        if (bulk_end > bulk_begin)
            bulk_load(stage + lead + bulk_begin - begin, list + bulk_begin, bytes(), barrier);
    }
};

// The producer warp: for each tile the split at its end, then the copies.
__device__ void produce(Shared &shared, const float *__restrict__ A, int M,
                        const float *__restrict__ B, int N, int out, int out_end, int a_begin) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (int turn = 0; out < out_end; turn++, out += TILE) {
        const int stage = turn % STAGES;
        const int count = min(TILE, out_end - out);
        const int b_begin = out - a_begin;
        int a_end = shared.first_end;
        if (turn > 0) {
            const int diagonal = out + count;
            a_end = narrow(A, B, diagonal, max(a_begin, diagonal - min(N, b_begin + count)),
                           min(a_begin + count, M));
        }
        const Window a(A, M, a_begin, a_end - a_begin);
        const Window b(B, N, b_begin, count - (a_end - a_begin));
        const int b_at = a.floats();
        if (turn >= STAGES)
            barrier_wait(&shared.empty[stage], (turn / STAGES - 1) % 2);
        float *to = shared.stage[stage];
        a.load_rest(A, M, to, end_mark_a());
        b.load_rest(B, N, to + b_at, end_mark_b());
        __syncwarp();
        if (lane == 0) {
            shared.a_at[stage] = a.lead;
            shared.b_at[stage] = b_at + b.lead;
            shared.a_count[stage] = a_end - a_begin;
            // Publishes the plain stores above, too.
            barrier_arrive_expect(&shared.full[stage], a.bytes() + b.bytes());
            a.load_bulk(A, to, &shared.full[stage]);
            b.load_bulk(B, to + b_at, &shared.full[stage]);
        }
        a_begin = a_end;
    }
}

__global__ void __launch_bounds__(THREADS + 32, BLOCKS_PER_SM)
    merge_ring(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
               int M, int N, int share) {
    extern __shared__ __align__(128) unsigned char memory[];
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    const int t = static_cast<int>(threadIdx.x);
    int out = min(static_cast<int>(blockIdx.x) * share, M + N); // the host makes this fit an int
    const int out_end = min(out + share, M + N);
    if (out >= out_end)
        return;

    // Start: both ends of the first tile at once, by the producer and by the first merging warp.
    int first_begin = 0;
    if (t >= THREADS) {
        if (t == THREADS) {
            for (int i = 0; i < STAGES; i++) {
                barrier_init(&shared.full[i], 1);
                barrier_init(&shared.empty[i], WARPS);
            }
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        }
        first_begin = split_by_warp(A, M, B, N, out);
    } else if (t < 32) {
        const int found = split_by_warp(A, M, B, N, min(out + TILE, out_end));
        if (t == 0)
            shared.first_end = found;
    }
    __syncthreads();
    if (t >= THREADS) {
        produce(shared, A, M, B, N, out, out_end, first_begin);
        return;
    }

    for (int turn = 0; out < out_end; turn++, out += TILE) {
        const int stage = turn % STAGES;
        const int count = min(TILE, out_end - out);
        barrier_wait(&shared.full[stage], turn / STAGES % 2);
        float *tile = shared.stage[stage];
        const uint32_t a = shared_address(tile + shared.a_at[stage]);
        const uint32_t b = shared_address(tile + shared.b_at[stage]);
        const int a_count = shared.a_count[stage];
        const int diagonal = min(t * ITEMS, count);
        float item[ITEMS] = {};
        const int i = split_in_window(a, a_count, b, count - a_count, diagonal);
        if (diagonal + ITEMS <= count)
            merge_items<false>(a + 4 * i, b + 4 * (diagonal - i), ITEMS, item);
        else if (diagonal < count)
            merge_items<true>(a + 4 * i, b + 4 * (diagonal - i), count - diagonal, item);
        meet_merging_warps(); // the windows are not read any more
        if (diagonal < count) {
#pragma unroll
            for (int s = 0; s < ITEMS; s++)
                tile[t * ITEMS + s] = item[s];
        }
        meet_merging_warps();
        store_tile(tile, C + out, count, t, [&] {
            // The next copy into this stage must come after these accesses to it.
            asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
            __syncwarp();
            if (t % 32 == 0)
                barrier_arrive(&shared.empty[stage]);
        });
    }
}

// ---- small inputs: a block per tile, each with its own two searches ----------------------------

__global__ void __launch_bounds__(THREADS, 8)
    merge_tiles(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
                int M, int N) {
    __shared__ __align__(16) float tile[TILE + 2];
    __shared__ int splits[2];
    const int t = static_cast<int>(threadIdx.x);
    const int first = static_cast<int>(blockIdx.x) * TILE;
    const int count = min(TILE, M + N - first);
    if (t < 64) {
        const int found = split_by_warp(A, M, B, N, t < 32 ? first : first + count);
        if (t % 32 == 0)
            splits[t / 32] = found;
    }
    __syncthreads();
    const int a_begin = splits[0], a_count = splits[1] - a_begin;
    const int b_begin = first - a_begin, b_count = count - a_count;

    // Both windows with their next elements. All loads of a thread are under way before the first
    // is waited for.
    float item[ITEMS];
#pragma unroll
    for (int s = 0; s < ITEMS; s++) {
        const int i = s * THREADS + t, j = i - a_count - 1;
        item[s] = 0.0f;
        if (i <= a_count)
            item[s] = a_begin + i < M ? A[a_begin + i] : end_mark_a();
        else if (j <= b_count)
            item[s] = b_begin + j < N ? B[b_begin + j] : end_mark_b();
    }
#pragma unroll
    for (int s = 0; s < ITEMS; s++)
        tile[s * THREADS + t] = item[s];
    if (t < 2 && TILE + t <= count + 1) // a full tile and its two next elements pass the threads
        tile[TILE + t] = [&] {
            const int i = TILE + t, j = i - a_count - 1;
            if (i <= a_count)
                return a_begin + i < M ? A[a_begin + i] : end_mark_a();
            return b_begin + j < N ? B[b_begin + j] : end_mark_b();
        }();
    __syncthreads();

    const uint32_t a = shared_address(tile), b = shared_address(tile + a_count + 1);
    const int diagonal = min(t * ITEMS, count);
    const int i = split_in_window(a, a_count, b, b_count, diagonal);
    if (diagonal + ITEMS <= count)
        merge_items<false>(a + 4 * i, b + 4 * (diagonal - i), ITEMS, item);
    else if (diagonal < count)
        merge_items<true>(a + 4 * i, b + 4 * (diagonal - i), count - diagonal, item);
    __syncthreads();
    if (diagonal < count) {
#pragma unroll
        for (int s = 0; s < ITEMS; s++)
            tile[t * ITEMS + s] = item[s];
    }
    __syncthreads();
    store_tile(tile, C + first, count, t, [] {});
}

// The number of resident blocks is a fact of the device: asked once.
int persistent_blocks() {
    static const int blocks = [] {
        int device = 0, sms = 0, fit = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaFuncSetAttribute(merge_ring, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(Shared)));
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, merge_ring, THREADS + 32,
                                                      sizeof(Shared));
        return sms * (fit < BLOCKS_PER_SM ? fit : BLOCKS_PER_SM);
    }();
    return blocks;
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    const long long total = static_cast<long long>(M) + N;
    if (total < 1)
        return;
    const int blocks = persistent_blocks();
    if (total < 2LL * blocks * TILE || blocks == 0) {
        const unsigned tiles = static_cast<unsigned>((total + TILE - 1) / TILE);
        merge_tiles<<<tiles, THREADS>>>(A, B, C, M, N);
        return;
    }
    const int share = static_cast<int>((total + blocks - 1) / blocks + 3) / 4 * 4;
    merge_ring<<<blocks, THREADS + 32, sizeof(Shared)>>>(A, B, C, M, N, share);
}

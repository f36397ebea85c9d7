// @idea   the file to submit: persistent blocks, both lists streamed through rings of bulk copies
// @source own
// @expect AC
// @arch   sm_90
// @needs  gpu
// Bytes: 8(M+N). Floor: 2.7 us + 8(M+N) / 4.28 TB/s = 96.2 us at 25M + 25M.
//
// Two blocks an SM own one contiguous range of outputs each and search its two ends once, instead
// of twice per tile. From then on nothing waits for a search in global memory: bulk copies
// (cp.async.bulk) keep up to 60 KB an SM under way in rings of 8 pieces per list, and every split
// is searched in shared memory. Above the floor: the search at the start, when nothing moves (3
// dependent rounds), the ramp of the rings, and the last tiles. With fewer than two tiles a block
// a plain tile kernel takes over. Hardware features used: mbarrier, cp.async.bulk (sm_90).
// Deterministic.

#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;
constexpr int ITEMS = 17; // outputs a thread; odd: no bank conflicts
constexpr int TILE = THREADS * ITEMS;
constexpr int PIECE = 1024; // floats of a bulk copy
constexpr int SLOTS = 8;    // pieces in a ring: a tile touches at most 6 of them
constexpr int RING = PIECE * SLOTS;
constexpr int BLOCKS_PER_SM = 2;
constexpr int GUESS = 4096; // half width of the first look of a search; random data stay inside

// One list as a block sees it. Positions count from the 16-byte boundary at or before the list, so
// that a piece begins on 16 bytes however the list is aligned; position p lives in ring[p % RING].
struct Stream {
    const float *origin; // the boundary
    float *ring;         // shared memory
    uint64_t *full;      // an mbarrier per slot
    int position, end;   // next element to merge, end of the block's share
    int first_piece;     // pieces are numbered from the boundary too
    int issued, arrived; // pieces below these are requested (thread 0) and known to be here
};

__device__ uint32_t shared_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ void barrier_init(uint64_t *barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(shared_address(barrier))
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

// Every input byte is used once: evict-first keeps the lines from pushing others out of L2.
__device__ void bulk_load(float *to, const float *from, int bytes, uint64_t *barrier) {
    asm volatile("{\n"
                 ".reg .b64 policy;\n"
                 "createpolicy.fractional.L2::evict_first.b64 policy, 1.0;\n"
                 "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.L2::cache_hint"
                 " [%0], [%1], %2, [%3], policy;\n"
                 "}\n" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(barrier))
                 : "memory");
}

__device__ void stream_open(Stream &s, const float *list, int begin, int end, float *ring,
                            uint64_t *full) {
    const int shift = static_cast<int>(reinterpret_cast<uintptr_t>(list) / sizeof(float) % 4);
    s.origin = list - shift;
    s.ring = ring;
    s.full = full;
    s.position = begin + shift;
    s.end = end + shift;
    s.first_piece = s.position / PIECE;
    s.issued = s.first_piece;
    s.arrived = s.first_piece;
}

// Requests every piece that has a free slot. One thread calls this, after a barrier that ends all
// reads before s.position. Bulk copies move whole groups of 16 bytes inside the share; the up to
// three elements on either side come by plain loads, so nothing outside the share is ever read.
__device__ void stream_refill(Stream &s) {
    const int pieces = min((s.end + PIECE - 1) / PIECE, s.position / PIECE + SLOTS);
    for (; s.issued < pieces; s.issued++) {
        const int begin = max(s.issued * PIECE, s.issued == s.first_piece ? s.position : 0);
        const int end = min(s.issued * PIECE + PIECE, s.end);
        const int bulk_begin = min((begin + 3) / 4 * 4, end);
        const int bulk_end = max(end / 4 * 4, bulk_begin);
        for (int p = begin; p < bulk_begin; p++)
            s.ring[p % RING] = s.origin[p];
        for (int p = bulk_end; p < end; p++)
            s.ring[p % RING] = s.origin[p];
        uint64_t *full = s.full + s.issued % SLOTS;
        const int bytes = (bulk_end - bulk_begin) * static_cast<int>(sizeof(float));
        barrier_arrive_expect(full, bytes); // publishes the plain stores, too
        if (bytes > 0)
            bulk_load(s.ring + bulk_begin % RING, s.origin + bulk_begin, bytes, full);
    }
}

// Waits until `count` elements from s.position on are in the ring. All threads call this alike.
__device__ void stream_wait(Stream &s, int count) {
    while (s.arrived * PIECE < s.position + count) {
        barrier_wait(s.full + s.arrived % SLOTS, (s.arrived - s.first_piece) / SLOTS % 2);
        s.arrived++;
    }
}

// Merge path by a whole warp: how many of the first `diagonal` outputs come from A, that is the
// first i for which A[i] is above B[diagonal - 1 - i]. Equal elements count as A's, as in the
// merge. The first round probes 32 places around the share that A has on average; whatever it
// finds, one side or the gap between two probes holds the answer. Each further round divides what
// is left by 32: 3 rounds in all on random data, 6 at most.
__device__ int split_by_warp(const float *__restrict__ A, int M, const float *__restrict__ B, int N,
                             int diagonal) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int low = max(0, diagonal - N), high = min(diagonal, M);
    const int middle = static_cast<int>(static_cast<long long>(diagonal) * M / (M + N));
    const int start = max(middle - GUESS, low), stop = min(middle + GUESS, high);
    if (high - low > 32 && start < stop) {
        const int gap = (stop - start + 30) / 31;
        const int probe =
            start - 1 + lane * gap; // lane 0 just before the range, lane 31 at its end
        const bool from_a = probe < low || (probe < high && A[probe] <= B[diagonal - 1 - probe]);
        const int found = __popc(__ballot_sync(0xffffffffu, from_a));
        const int limit = high;
        if (found == 0)
            high = start - 1;
        else {
            low = max(low, start + (found - 1) * gap);
            if (found < 32)
                high = min(limit, start - 1 + found * gap);
        }
    }
    while (low < high) {
        const int gap = (high - low + 31) / 32;
        const long long probe = low + static_cast<long long>(lane + 1) * gap - 1;
        const bool from_a = probe < high && A[probe] <= B[diagonal - 1 - static_cast<int>(probe)];
        low += __popc(__ballot_sync(0xffffffffu, from_a)) * gap;
        high = min(high, low + gap - 1);
    }
    return low;
}

struct Shared {
    float ring[2][RING];
    float stage[TILE];
    uint64_t full[2][SLOTS];
    int splits[2];
    int taken; // outputs of the tile that came from A
};

// Stores of a finished tile: 16 bytes a lane where C allows, written through without staying in L2
// longer than needed.
__device__ void store_tile(const float *stage, float *to, int count) {
    const int t = static_cast<int>(threadIdx.x);
    int done = 0;
    if (reinterpret_cast<uintptr_t>(to) % sizeof(float4) == 0) {
        done = count / 4 * 4;
        for (int i = t; i < count / 4; i += THREADS)
            __stcs(reinterpret_cast<float4 *>(to) + i, reinterpret_cast<const float4 *>(stage)[i]);
    }
    for (int i = done + t; i < count; i += THREADS)
        to[i] = stage[i];
}

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    merge_ring(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
               int M, int N, int share) {
    extern __shared__ __align__(128) unsigned char memory[];
    Shared &shared = *reinterpret_cast<Shared *>(memory);
    const int t = static_cast<int>(threadIdx.x);
    int out = min(static_cast<int>(blockIdx.x) * share, M + N); // the host makes this fit an int
    const int out_end = min(out + share, M + N);
    if (out >= out_end)
        return;

    // Start: the two ends of the block's range. The end is needed so that no copy fetches what
    // belongs to the next block.
    if (t < 64) {
        const int found = split_by_warp(A, M, B, N, t < 32 ? out : out_end);
        if (t % 32 == 0)
            shared.splits[t / 32] = found;
    } else if (t == 64) {
        for (int i = 0; i < 2 * SLOTS; i++)
            barrier_init(&shared.full[i / SLOTS][i % SLOTS]);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    }
    __syncthreads();
    Stream a, b;
    stream_open(a, A, shared.splits[0], shared.splits[1], shared.ring[0], shared.full[0]);
    stream_open(b, B, out - shared.splits[0], out_end - shared.splits[1], shared.ring[1],
                shared.full[1]);
    if (t == 0) {
        stream_refill(a);
        stream_refill(b);
    }

    while (out < out_end) {
        // The first tile is cut so that all later ones begin on 16 bytes of C. Any cut below
        // (THREADS - 1) * ITEMS leaves a thread that searches the tile's end, see below.
        const int offset =
            static_cast<int>(reinterpret_cast<uintptr_t>(C + out) / sizeof(float) % 4);
        const int count = min(offset == 0 ? TILE : TILE - 20 - offset, out_end - out);
        static_assert((TILE - 20) % 4 == 0 && TILE - 20 < (THREADS - 1) * ITEMS, "cut of tile 1");
        const int a_count = min(count, a.end - a.position);
        const int b_count = min(count, b.end - b.position);
        stream_wait(a, a_count);
        stream_wait(b, b_count);

        // Split of the thread's own range, inside the windows.
        const int diagonal = min(t * ITEMS, count);
        int low = max(0, diagonal - b_count), high = min(diagonal, a_count);
        while (low < high) {
            const int middle = (low + high) / 2;
            if (a.ring[(a.position + middle) % RING] <=
                b.ring[(b.position + diagonal - 1 - middle) % RING])
                low = middle + 1;
            else
                high = middle;
        }

        // Merge with both heads in registers: a compare, a select and one load a step. The ends
        // are tested, not marked by a sentinel: +inf may be data.
        int i = low, j = diagonal - low;
        float head_a = i < a_count ? a.ring[(a.position + i) % RING] : 0.0f;
        float head_b = j < b_count ? b.ring[(b.position + j) % RING] : 0.0f;
        float item[ITEMS];
#pragma unroll
        for (int s = 0; s < ITEMS; s++) {
            const bool take_a = j >= b_count || (i < a_count && head_a <= head_b);
            item[s] = take_a ? head_a : head_b;
            i += take_a ? 1 : 0;
            j += take_a ? 0 : 1;
            const float *ring = take_a ? a.ring : b.ring;
            const int next = take_a ? a.position + i : b.position + j;
            const bool more = take_a ? i < a_count : j < b_count;
            const float head = more ? ring[next % RING] : 0.0f;
            head_a = take_a ? head : head_a;
            head_b = take_a ? head_b : head;
        }
        // Where the tile ends in A: in a full tile the last thread stopped there, in a cut one some
        // thread searched there. After the block's last tile nobody asks.
        if (count == TILE ? t == THREADS - 1 : diagonal == count && (t - 1) * ITEMS < count)
            shared.taken = count == TILE ? i : low;
        __syncthreads(); // the windows are free, the staging area too

        const int taken = out + count < out_end ? shared.taken : a_count;
        a.position += taken;
        b.position += count - taken;
        if (t == 0 && out + count < out_end) {
            stream_refill(a);
            stream_refill(b);
        }
#pragma unroll
        for (int s = 0; s < ITEMS; s++)
            shared.stage[t * ITEMS + s] = item[s];
        __syncthreads();
        store_tile(shared.stage, C + out, count);
        out += count;
    }
}

// Small inputs: a block per tile, each with its own two searches.
// The same search by one thread, inside a window in shared memory.
__device__ int split_in_window(const float *a, int a_count, const float *b, int b_count,
                               int diagonal) {
    int low = max(0, diagonal - b_count), high = min(diagonal, a_count);
    while (low < high) {
        const int middle = (low + high) / 2;
        if (a[middle] <= b[diagonal - 1 - middle])
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// ITEMS steps of a merge from (i, j). Both heads stay in registers, so a step is one compare and
// one load; the test of the ends needs no sentinel, which could be a value of the data.
__device__ void merge_items(const float *a, int a_count, const float *b, int b_count, int i, int j,
                            float (&item)[ITEMS]) {
    float head_a = i < a_count ? a[i] : 0.0f;
    float head_b = j < b_count ? b[j] : 0.0f;
#pragma unroll
    for (int s = 0; s < ITEMS; s++) {
        const bool take_a = j >= b_count || (i < a_count && head_a <= head_b);
        item[s] = take_a ? head_a : head_b;
        i += take_a ? 1 : 0;
        j += take_a ? 0 : 1;
        if (take_a) {
            if (i < a_count)
                head_a = a[i];
        } else if (j < b_count) {
            head_b = b[j];
        }
    }
}

__global__ void __launch_bounds__(THREADS)
    merge_tiles(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C,
                int M, int N) {
    // The block's outputs [first, last) use A[a_begin, a_end) and B[b_begin, b_end): two warps find
    // the two splits.
    __shared__ int splits[2];
    const int t = static_cast<int>(threadIdx.x);
    const int first = static_cast<int>(blockIdx.x) * TILE;
    const int last = first + min(TILE, M + N - first);
    if (t < 64) {
        const int found = split_by_warp(A, M, B, N, t < 32 ? first : last);
        if (t % 32 == 0)
            splits[t / 32] = found;
    }
    __syncthreads();
    const int a_begin = splits[0], a_count = splits[1] - a_begin;
    const int b_begin = first - a_begin, b_count = last - first - a_count;

    // Both windows together are exactly the tile's outputs in number: A's first, B's behind it.
    // All loads of a thread are under way before the first is waited for.
    __shared__ __align__(16) float window[TILE];
    float item[ITEMS];
#pragma unroll
    for (int s = 0; s < ITEMS; s++) {
        const int i = s * THREADS + t;
        item[s] = i < a_count ? A[a_begin + i] : i < last - first ? B[b_begin + i - a_count] : 0.0f;
    }
#pragma unroll
    for (int s = 0; s < ITEMS; s++)
        window[s * THREADS + t] = item[s];
    __syncthreads();

    const float *a = window, *b = window + a_count;
    const int diagonal = min(t * ITEMS, last - first);
    const int i = split_in_window(a, a_count, b, b_count, diagonal);
    merge_items(a, a_count, b, b_count, i, diagonal - i, item);
    __syncthreads(); // the window is not read any more: it becomes the staging area
#pragma unroll
    for (int s = 0; s < ITEMS; s++)
        window[t * ITEMS + s] = item[s];
    __syncthreads();
    store_tile(window, C + first, last - first);
}

// The number of resident blocks is a fact of the device: asked once.
int persistent_blocks() {
    static const int blocks = [] {
        int device = 0, sms = 0, fit = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaFuncSetAttribute(merge_ring, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             static_cast<int>(sizeof(Shared)));
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&fit, merge_ring, THREADS, sizeof(Shared));
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
    merge_ring<<<blocks, THREADS, sizeof(Shared)>>>(A, B, C, M, N, share);
}

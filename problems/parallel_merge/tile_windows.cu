// @idea   a block per tile, a first look for its splits, no end tests
// @source own
// @expect AC
// @arch   sm_80
// Bytes: 8(M+N). Floor: 2.7 us + 8(M+N) / 4.28 TB/s = 96.2 us at 25M + 25M.
//
// Against tile_coalesced: the splits are looked for first where random data have them, 3 dependent
// rounds instead of 5; each window holds one element more, so that the merge needs no test for its
// end; windows are addressed by 32-bit shared addresses, which halves the instructions of the two
// inner loops; 32 registers let eight blocks share an SM, and while one searches another loads,
// merges or stores. Above the floor: the probes of the searches (3 rounds x 2 ends x 64 sectors a
// tile, a third of the input's bytes once more, mostly from L2) and some 30 instructions an
// output. Data far from an even mix pay three more rounds. Deterministic.

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

// ---- the kernel ------------------------------------------------------------

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

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    merge_tiles<<<(M + N + TILE - 1) / TILE, THREADS>>>(A, B, C, M, N);
}

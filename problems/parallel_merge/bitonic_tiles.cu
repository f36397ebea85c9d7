// @idea   the file to submit: splits bracketed by one round of probes, warps that sort by a network
// @source own
// @expect AC
// @arch   sm_80
// Bytes: 8(M+N). Floor: 2.7 us + 8(M+N) / 4.28 TB/s = 96.2 us at 25M + 25M.
//
// A block takes a tile of 4,096 outputs, and its time is a chain: find the splits, load, merge,
// store. Two links are shorter here than in tile_windows.
// - In global memory a split is only bracketed, by 32 probes at once, to within 512 places. Both
//   windows are loaded with what may lie between the ends of the brackets, and the exact splits are
//   found in shared memory. That saves one trip to memory or two, and half of the probes.
// - A warp sorts its 1,024 outputs by a bitonic network in registers, where the stepwise merge
//   waits for shared memory at each output, at addresses that meet in the same banks.
// Above the floor: 2 to 3 us until the first loads are under way, and the memory reads and writes
// in turn: a plain copy of the same bytes takes as long (101.1, this file 101.0, the library 131.1,
// in one run on one H200). Deterministic. The network may exchange zeros of different sign, which
// are equal.

#include <cstdint>
#include <cuda_runtime.h>

namespace {

constexpr int WARPS = 4;         // of a block
constexpr int ITEMS = 32;        // outputs a thread
constexpr int PART = 32 * ITEMS; // outputs a warp
constexpr int THREADS = 32 * WARPS;
constexpr int TILE = WARPS * PART;
constexpr int SLACK = 511;               // most places between the ends of a bracket
constexpr int COARSE = 32 * (SLACK + 1); // what one round brackets
constexpr unsigned FULL = 0xffffffffu;

// Nine blocks, 20.5 KB each and 1 KB for the system, fill the second largest of the sizes that
// shared memory comes in, 196 KB of the 256 KB that it shares with L1. With a tenth block it takes
// the largest, L1 keeps 28 KB in place of 60, and the whole is an eighth slower.
constexpr int BLOCKS_PER_SM = 9;

struct Lists {
    const float *A, *B;
    int M, N;
};

// ---- brackets ----------------------------------------------------------------------------------

// Merge path: how many of the first `diagonal` outputs come from A, that is the first i for which
// A[i] is above B[diagonal - 1 - i], because then A[i] comes after that element. Equal elements
// count as A's, as in the merge. A warp probes 32 places at once. Those that hold ("this one comes
// from A") are the first ones, so their number says between which two probes the split lies.
//
// Outside shared memory the exact place is not needed. It is enough to know two places at most
// SLACK apart with the split between them.
struct Bracket {
    int low, high;
};

// One round of 32 * EACH probes at equal distances in [low, high), counted in units of `unit`
// elements; keeps the one gap that holds the split.
template <int EACH>
__device__ void narrow(const Lists &in, int diagonal, int unit, int &low, int &high) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int gap = (high - low + 32 * EACH - 1) / (32 * EACH);
    float a[EACH], b[EACH];
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const int probe = low + (k * 32 + lane + 1) * gap - 1;
        a[k] = 1.0f; // beyond the range: does not hold
        b[k] = 0.0f;
        if (probe < high) {
            a[k] = in.A[probe * unit];
            b[k] = in.B[diagonal - 1 - probe * unit];
        }
    }
    int holding = 0;
#pragma unroll
    for (int k = 0; k < EACH; k++)
        holding += __popc(__ballot_sync(FULL, a[k] <= b[k]));
    low += holding * gap;
    high = min(high, low + gap - 1);
}

// The first look: 30 probes around `middle`, SLACK + 1 apart, and one at each end of the range,
// which find the split at once where a diagonal meets elements of one list only. As diagonals and
// `middle` are multiples of SLACK + 1, neighbouring tiles probe the same places.
__device__ void look(const Lists &in, int diagonal, int middle, int &low, int &high) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int probe = min(max(middle + (lane - 15) * (SLACK + 1), low), high - 1);
    if (lane == 0)
        probe = low;
    if (lane == 31)
        probe = high - 1;
    const bool holds = in.A[probe] <= in.B[diagonal - 1 - probe];
    const int holding = __popc(__ballot_sync(FULL, holds));
    const int below = __shfl_sync(FULL, probe, max(holding - 1, 0));
    const int above = __shfl_sync(FULL, probe, min(holding, 31));
    if (holding > 0)
        low = below + 1;
    if (holding < 32)
        high = above;
}

// The bracket of a diagonal, a multiple of TILE. On random data the split is near the share that A
// has on average (at 50 million the deviation has a sigma of 1,770 or less), and the first look is
// all. Elsewhere the places probed next are multiples of COARSE in A, and in B they are just before
// multiples of TILE: the same ones for many diagonals, so that they come from L2.
__device__ Bracket bracket_split(const Lists &in, int diagonal) {
    int low = max(0, diagonal - in.N), high = min(diagonal, in.M);
    if (low >= high)
        return {low, low};
    const long long product = static_cast<long long>(diagonal) * in.M;
    const int middle = static_cast<int>(product / (in.M + in.N));
    look(in, diagonal, middle / (SLACK + 1) * (SLACK + 1), low, high);
    if (high - low > COARSE) {
        const int first = (low + COARSE - 1) / COARSE;
        int from = first, to = (high + COARSE - 1) / COARSE;
        while (from < to)
            narrow<2>(in, diagonal, COARSE, from, to);
        if (from > first)
            low = (from - 1) * COARSE + 1;
        high = min(high, from * COARSE);
    }
    while (high - low > SLACK)
        narrow<1>(in, diagonal, 1, low, high);
    return {low, high};
}

// ---- a tile's windows in shared memory ---------------------------------------------------------

// Shared memory is addressed by 32-bit addresses: generic pointers take two registers.
__device__ uint32_t shared_address(const void *p) {
    return static_cast<uint32_t>(__cvta_generic_to_shared(p));
}

__device__ float load_shared(uint32_t address) {
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"(address));
    return value;
}

__device__ void copy_16_bytes(uint32_t to, const float *from) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

__device__ void copies_done() { asm volatile("cp.async.wait_all;" ::: "memory"); }

// Asynchronous copies move 16 bytes between addresses that are multiples of 16. So a window is
// copied with the up to three elements before and behind it that share its first and last group of
// four; `lead` of them lie before it.
__device__ int lead_of(const float *begin) {
    return static_cast<int>(reinterpret_cast<uintptr_t>(begin) / sizeof(float) % 4);
}

// The groups of the window that begins at list[begin]. Where a group sticks out of the list, its
// elements come one by one: at most three at either end.
__device__ void fetch_window(const float *list, int length, int begin, int groups, float *to,
                             int t) {
    const int start = begin - lead_of(list + begin); // of the first group; may be before the list
    const int first = start < 0 ? 1 : 0, last = min(groups, (length - start) / 4);
    const float *from = list + start + 4 * (first + t);
    uint32_t address = shared_address(to) + 16 * (first + t);
    for (int group = first + t; group < last; group += THREADS) {
        copy_16_bytes(address, from);
        address += 16 * THREADS;
        from += 4 * THREADS;
    }
    if ((start < 0 || last < groups) && groups > 0 && t < 8) {
        const int group = t < 4 ? 0 : max(first, last), at = 4 * group + t % 4;
        const bool missing = t < 4 ? start < 0 : last < groups;
        if (missing && start + at >= 0 && start + at < length)
            to[at] = list[start + at];
    }
}

// Both windows, A's first, from the low end of one bracket to the high end of the other.
struct Windows {
    uint32_t a, b; // addresses
    int a_count, b_count;
    int slack; // the tile's first output is on this diagonal of the windows
};

// What the last tile lacks is made up by +inf behind B's window: it comes last, and is not stored.
__device__ Windows fetch(const Lists &in, float *tile, int first, int count, Bracket begin,
                         Bracket end, int t) {
    const int b_begin = first - begin.high;
    const int a_count = end.high - begin.low, b_count = first + count - end.low - b_begin;
    const int a_lead = lead_of(in.A + begin.low), b_lead = lead_of(in.B + b_begin);
    const int a_groups = (a_lead + a_count + 3) / 4, b_groups = (b_lead + b_count + 3) / 4;
    const int b_at = 4 * a_groups + b_lead;
    fetch_window(in.A, in.M, begin.low, a_groups, tile, t);
    fetch_window(in.B, in.N, b_begin, b_groups, tile + 4 * a_groups, THREADS - 1 - t);
    for (int i = count + t; i < TILE; i += THREADS)
        tile[b_at + b_count + i - count] = __uint_as_float(0x7f800000u);
    const uint32_t base = shared_address(tile);
    return {base + 4 * a_lead, base + 4 * b_at, a_count, b_count + TILE - count,
            begin.high - begin.low};
}

// The exact split of a diagonal of the windows, by half a warp: 16 probes a round, three rounds.
__device__ int split_by_half_warp(const Windows &w, int diagonal) {
    const int lane = static_cast<int>(threadIdx.x % 32);
    int low = max(0, diagonal - w.b_count), high = min(diagonal, w.a_count);
    const uint32_t b_last = w.b + 4u * static_cast<uint32_t>(diagonal - 1);
#pragma unroll
    for (int reach = TILE / 2 + SLACK; reach > 0; reach /= 17) { // the shorter window at most
        const int gap = (high - low) / 17 + 1;
        const int probe = low + (lane % 16 + 1) * gap - 1;
        bool from_a = false;
        if (probe < high)
            from_a = load_shared(w.a + 4 * probe) <= load_shared(b_last - 4 * probe);
        const unsigned holding = __ballot_sync(FULL, from_a) >> lane / 16 * 16 & 0xffffu;
        low += __popc(holding) * gap;
        high = min(high, low + gap - 1);
    }
    return low;
}

// ---- the network -------------------------------------------------------------------------------

__device__ void order(float &x, float &y) {
    const float low = fminf(x, y);
    y = fmaxf(x, y);
    x = low;
}

// Five stages of a bitonic merge inside each thread: partners 16, 8, 4, 2, 1 registers apart.
__device__ void five_stages(float (&item)[ITEMS]) {
#pragma unroll
    for (int distance = ITEMS / 2; distance > 0; distance /= 2)
#pragma unroll
        for (int r = 0; r < ITEMS; r++)
            if ((r & distance) == 0)
                order(item[r], item[r + distance]);
}

// Element 32 r + lane, ascending in A and then descending in B: from A where left > 32 r. Two loads
// under opposite conditions.
__device__ float load_either(int left, int r, uint32_t a, uint32_t b) {
    float value;
    asm volatile("{\n"
                 ".reg .pred from_a;\n"
                 "setp.gt.s32 from_a, %1, %2;\n"
                 "@from_a ld.shared.f32 %0, [%3];\n"
                 "@!from_a ld.shared.f32 %0, [%4];\n"
                 "}"
                 : "=f"(value)
                 : "r"(left), "r"(32 * r), "r"(a + 128 * r), "r"(b - 128 * r));
    return value;
}

// A warp's part of the tile. A's elements in ascending order followed by B's in descending order
// are a bitonic sequence: ten stages of minima and maxima at fixed places sort it, whatever the
// data. Register r of a lane holds element 32 r + lane, so that the first five stages (partners 512
// to 32 apart) need no other lane; then, by way of shared memory, element 32 lane + r, where the
// last five do not either; and back, so that stores are coalesced. Rows of 33 floats keep all four
// passes free of bank conflicts.
__device__ void merge_part(const Windows &w, float *tile, float *to, int count, int t) {
    const int lane = t % 32, from = t / 32 * PART, diagonal = from + w.slack;
    const int split = split_by_half_warp(w, diagonal + lane / 16 * PART); // begin, end
    const int a_from = __shfl_sync(FULL, split, 0);
    const int a_left = __shfl_sync(FULL, split, 16) - a_from - lane;
    const uint32_t a = w.a + 4 * (a_from + lane);
    const uint32_t b = w.b + 4 * (diagonal - a_from + PART - 1 - lane);
    float item[ITEMS];
#pragma unroll
    for (int r = 0; r < ITEMS; r++)
        item[r] = load_either(a_left, r, a, b);
    __syncthreads(); // all is in registers, and the memory of the windows free
    float *own = tile + t / 32 * (PART + ITEMS);
    five_stages(item);
#pragma unroll
    for (int r = 0; r < ITEMS; r++)
        own[r * 33 + lane] = item[r];
    __syncwarp();
#pragma unroll
    for (int r = 0; r < ITEMS; r++)
        item[r] = own[lane * 33 + r];
    five_stages(item);
#pragma unroll
    for (int r = 0; r < ITEMS; r++)
        own[lane * 33 + r] = item[r];
    __syncwarp();
    to += from + lane;
    if (from + PART <= count) {
#pragma unroll
        for (int r = 0; r < ITEMS; r++)
            to[r * 32] = own[r * 33 + lane];
    } else {
#pragma unroll 1
        for (int r = 0; from + r * 32 + lane < count; r++)
            to[r * 32] = own[r * 33 + lane];
    }
}

// ---- the kernel --------------------------------------------------------------------------------

// The windows with what may stand around them, later the rows of the network.
constexpr int WINDOW_FLOATS = (TILE + 2 * SLACK + 12 + 3) / 4 * 4;
constexpr int ROW_FLOATS = WARPS * (PART + ITEMS);

__global__ void __launch_bounds__(THREADS, BLOCKS_PER_SM)
    merge_tiles(Lists in, float *__restrict__ C) {
    __shared__ __align__(16) float tile[WINDOW_FLOATS > ROW_FLOATS ? WINDOW_FLOATS : ROW_FLOATS];
    __shared__ Bracket ends[2];
    const int t = static_cast<int>(threadIdx.x), warp = t / 32;
    const int first = static_cast<int>(blockIdx.x) * TILE;
    const int count = min(TILE, in.M + in.N - first);
    if (warp < 2) {
        const Bracket bracket = bracket_split(in, warp == 0 ? first : first + count);
        if (t % 32 == 0)
            ends[warp] = bracket;
    }
    __syncthreads();
    const Windows w = fetch(in, tile, first, count, ends[0], ends[1], t);
    copies_done();
    __syncthreads();
    merge_part(w, tile, C + first, count, t);
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M + N < 1)
        return;
    const int tiles = (M + N - 1) / TILE + 1;
    merge_tiles<<<tiles, THREADS>>>({A, B, M, N}, C);
}

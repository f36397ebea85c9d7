// @idea   cp.async.bulk: one thread orders whole tiles, six in flight per SM, the others add
// @source own
// @expect AC
// @arch   sm_90
// @needs  gpu
// @tune   STAGES 6 4 3
// @tune   BLOCK 512 256 1024
// Bytes: 4N read, 4 written. Floor: 2.7 us + 4N / 4.62 TB/s = 6.3 us at N = 4,194,304 (cold).
// The copy engine needs neither registers nor load instructions: 192 KB per SM are on their way
// within the first microsecond. It still loses to plain float4 loads (9.3 us against 8.6 at
// N = 4,194,304, 91.1 against 90.6 at 1e8): those have enough bytes in flight as well, and the
// detour through shared memory adds a barrier and a second read. It is also easy to get wrong: with
// tiles of 16 KB it takes 96 us at N = 1e8, with tiles of 8 KB 178, and a version whose ring stood
// on a 16-byte boundary in place of a 128-byte one took 124. Bulk copies pay where tiles are read
// more than once, as in a matrix product. Deterministic for given N and device.

#ifndef STAGES
#define STAGES 6
#endif
#ifndef BLOCK
#define BLOCK 512
#endif

namespace
{

constexpr int WARPS = BLOCK / 32;
constexpr int MAX_GRID = 4096;
constexpr int MAILS = 8;   // mailbox words that a lane of the collecting warp reads at once
constexpr int TILE = 2048; // float4 per tile: 32 KB
constexpr int TILE_BYTES = TILE * 16;
constexpr int ONE_BLOCK_N = TILE * 4;
constexpr unsigned FULL_WARP = 0xffffffffu;
static_assert(BLOCK % 32 == 0 && TILE % BLOCK == 0, "whole warps, even shares");

using word = unsigned long long;

// Left by every call as it was found: all words empty (zero), the counter at zero.
__device__ word g_mailbox[MAX_GRID];
__device__ unsigned g_started;

// A double travels as the complement of its bits, so that the empty word, zero, stands for one
// particular NaN. That NaN is replaced by another one, and no value looks like an empty word.
__device__ word to_mail(double v)
{
    const word bits = isnan(v) ? 0x7ff8000000000000ull : __double_as_longlong(v);
    return ~bits;
}

__device__ double from_mail(word mail) { return __longlong_as_double(~mail); }

// Relaxed accesses at device scope: indivisible, never served from a stale L1 line, and without
// the wait of a fence. That is enough, because the word is the whole message.
__device__ void post(word *at, word mail)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(at), "l"(mail) : "memory");
}

__device__ word peek(const word *at)
{
    word mail;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(mail) : "l"(at) : "memory");
    return mail;
}

// An mbarrier counts arrivals and bytes. A phase ends when the expected number of both is reached;
// waiting means asking whether the phase of a given parity has ended.
__device__ unsigned shared_address(const void *p)
{
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void barrier_init(word *barrier, unsigned arrivals)
{
    asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(shared_address(barrier)), "r"(arrivals)
                 : "memory");
}

__device__ void barrier_arrive(word *barrier)
{
    asm volatile("mbarrier.arrive.shared.b64 _, [%0];" ::"r"(shared_address(barrier)) : "memory");
}

__device__ void barrier_wait(word *barrier, unsigned parity)
{
    asm volatile("{\n"
                 ".reg .pred done;\n"
                 "again:\n"
                 "mbarrier.try_wait.parity.shared.b64 done, [%0], %1;\n"
                 "@!done bra again;\n"
                 "}" ::"r"(shared_address(barrier)),
                 "r"(parity)
                 : "memory");
}

// Orders the copy of `bytes` (a multiple of 16, both addresses on 16-byte boundaries); the
// barrier's phase ends when they have arrived.
__device__ void order_tile(float4 *to, const float4 *from, unsigned bytes, word *arrived)
{
    asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], %1;" ::"r"(shared_address(arrived)),
                 "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                 "[%0], [%1], %2, [%3];" ::"r"(shared_address(to)),
                 "l"(from), "r"(bytes), "r"(shared_address(arrived))
                 : "memory");
}

__device__ void add(float4 &sum, float4 v)
{
    sum.x += v.x;
    sum.y += v.y;
    sum.z += v.z;
    sum.w += v.w;
}

// The sum over the warp, in every lane.
__device__ double warp_sum(double v)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        v += __shfl_xor_sync(FULL_WARP, v, mask);
    return v;
}

// Run by one warp: waits for the mail of all blocks, empties the mailbox, adds in fixed order. The
// block's own sum takes the place of its own mail, so the order does not depend on who collects.
__device__ double collect(word *mailbox, double own)
{
    const int grid = static_cast<int>(gridDim.x);
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const word own_mail = to_mail(own);
    double sum = 0.0;
    for (int first = lane; first < grid; first += 32 * MAILS) {
        word mail[MAILS];
        bool all_here;
        do {
            all_here = true;
#pragma unroll
            for (int k = 0; k < MAILS; ++k) {
                const int from = first + k * 32;
                mail[k] = own_mail;
                if (from < grid && from != static_cast<int>(blockIdx.x))
                    mail[k] = peek(mailbox + from);
                all_here = all_here && mail[k] != 0;
            }
        } while (!all_here);
#pragma unroll
        for (int k = 0; k < MAILS; ++k) {
            const int from = first + k * 32;
            if (from < grid) {
                sum += from_mail(mail[k]);
                mailbox[from] = 0;
            }
        }
    }
    return warp_sum(sum);
}

extern __shared__ __align__(128) float4 ring[]; // STAGES tiles

// input = head elements, then `vectors` aligned float4, then tail elements.
__global__ void __launch_bounds__(BLOCK, 1)
    sum(const float4 *__restrict__ body, int vectors, const float *__restrict__ head_at, int head,
        const float *__restrict__ tail_at, int tail, float *__restrict__ output,
        word *__restrict__ mailbox, unsigned *__restrict__ started)
{
    __shared__ double slot[WARPS];
    __shared__ word arrived[STAGES];  // the tile of a stage is there
    __shared__ word consumed[STAGES]; // all warps have read it
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int grid = static_cast<int>(gridDim.x);

    // Phase 1: thread 0 fills the ring. Tile t belongs to block t mod grid.
    const int tiles = (vectors + TILE - 1) / TILE;
    const auto bytes_of = [&](int tile) {
        const int left = vectors - tile * TILE;
        return static_cast<unsigned>(left < TILE ? left : TILE) * 16u;
    };
    unsigned start_number = 0;
    if (tid == 0) {
        for (int s = 0; s < STAGES; ++s) {
            barrier_init(&arrived[s], 1);
            barrier_init(&consumed[s], WARPS);
        }
        // The copy engine must see initialised barriers.
        asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
        for (int s = 0; s < STAGES; ++s) {
            const int tile = static_cast<int>(blockIdx.x) + s * grid;
            if (tile < tiles)
                order_tile(ring + s * TILE, body + tile * TILE, bytes_of(tile), &arrived[s]);
        }
        // A start number for the end; atomicInc wraps to zero at grid - 1: it resets itself.
        if (grid > 1)
            start_number = atomicInc(started, gridDim.x - 1);
    }
    __syncthreads();

    // Phase 2: add tile by tile; a stage that all warps have read is ordered anew. Each tile is
    // folded into a double, so that no fp32 chain is longer than TILE / BLOCK + 2.
    double acc = 0.0;
    int stage = 0;
    unsigned parity = 0;
    for (int tile = static_cast<int>(blockIdx.x); tile < tiles; tile += grid) {
        barrier_wait(&arrived[stage], parity);
        const int count = static_cast<int>(bytes_of(tile)) / 16;
        const float4 *from = ring + stage * TILE;
        float4 sum4 = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (count == TILE) {
#pragma unroll
            for (int k = 0; k < TILE / BLOCK; ++k)
                add(sum4, from[k * BLOCK + tid]);
        } else {
            for (int at = tid; at < count; at += BLOCK)
                add(sum4, from[at]);
        }
        acc += static_cast<double>((sum4.x + sum4.y) + (sum4.z + sum4.w));

        const int next = tile + STAGES * grid;
        if (next < tiles) {
            __syncwarp();
            if (lane == 0)
                barrier_arrive(&consumed[stage]);
            if (tid == 0) {
                barrier_wait(&consumed[stage], parity);
                order_tile(ring + stage * TILE, body + next * TILE, bytes_of(next),
                           &arrived[stage]);
            }
        }
        if (++stage == STAGES) {
            stage = 0;
            parity ^= 1u;
        }
    }
    if (blockIdx.x == 0) {
        if (tid < head)
            acc += static_cast<double>(head_at[tid]);
        if (tid < tail)
            acc += static_cast<double>(tail_at[tid]);
    }

    // Phase 3: the block's sum, one barrier. Afterwards only warp 0 goes on.
    acc = warp_sum(acc);
    if (lane == 0)
        slot[warp] = acc;
    __syncthreads();
    if (warp != 0)
        return;
    acc = warp_sum(lane < WARPS ? slot[lane] : 0.0);

    // Phase 4: every block mails its sum, except the one that has drawn the last start number: it
    // collects. All others are running or finished by then and wait for nobody, so its waiting
    // ends on any device, however few blocks fit on it.
    if (grid > 1) {
        const bool collects = __shfl_sync(FULL_WARP, start_number, 0) == gridDim.x - 1;
        if (!collects) {
            if (lane == 0)
                post(mailbox + blockIdx.x, to_mail(acc));
            return;
        }
        acc = collect(mailbox, acc);
    }
    if (lane == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    // What does not change between calls is asked once.
    static word *mailbox = nullptr;
    static unsigned *started = nullptr;
    static int most_blocks = 0;
    if (most_blocks == 0) {
        int device = 0;
        int sms = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&mailbox), g_mailbox);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&started), g_started);
        // More than 48 KB of shared memory must be asked for.
        cudaFuncSetAttribute(sum, cudaFuncAttributeMaxDynamicSharedMemorySize, STAGES * TILE_BYTES);
        most_blocks = sms < MAX_GRID ? sms : MAX_GRID;
    }

    // Split at the 16-byte boundaries.
    const int misaligned = static_cast<int>(reinterpret_cast<unsigned long long>(input) % 16) / 4;
    const int to_boundary = misaligned == 0 ? 0 : 4 - misaligned;
    const int head = to_boundary < N ? to_boundary : N;
    const int vectors = (N - head) / 4;
    const int tail = N - head - vectors * 4;

    // Small inputs: one block, no mail. Then as many blocks as there is work for, up to one per SM.
    int blocks = 1;
    if (N > ONE_BLOCK_N) {
        const int wanted = (vectors + TILE - 1) / TILE;
        blocks = wanted < most_blocks ? wanted : most_blocks;
    }
    sum<<<blocks, BLOCK, STAGES * TILE_BYTES>>>(reinterpret_cast<const float4 *>(input + head),
                                                vectors, input, head, input + head + vectors * 4,
                                                tail, output, mailbox, started);
}

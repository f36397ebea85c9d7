// @idea   one launch: float4 streams, and in each block a clerk warp that adds up and mails the sum
// @source own, after note 003 section 4
// @expect AC
// @tune   LARGE_FROM 8000000 1 200000000
// @tune   SMALL_LOADS 16 8
// Bytes: 4N read, 4 written. Floor: 2.7 us + 4N / 4.62 TB/s = 6.3 us at N = 4,194,304 (cold).
// Above the floor, at that size on an H200: 1.4 us until the memory is at full speed (two cold
// misses in a row, instructions and first data), 0.6 us for the sums of blocks to meet. Measured in
// steps: every block stores its sum and nobody adds them, 7.8 us; this design 8.4; one atomicAdd
// per block and a ticket 8.6; partials, fence, ticket and a second read 9.3; a second kernel 11.1.
// What makes the difference:
// - The word that carries a sum also says that it has arrived, so nobody waits for a fence.
// - The collector is known from the start and looks out for mail before any has come.
// - A dry run brings the last instructions into the cache while the memory is busy anyway.
// - __launch_bounds__ with a second argument: without it the compiler aims at 2,048 threads per SM,
//   has 32 registers per thread, and waits for every second load before it issues the next.
// - L2 prefetch hints on the loads (.L2::256B) cost 10 % at N = 1e8; evict-first changes nothing.
// Deterministic: a fixed tree for given N, alignment and number of SMs; repeated calls are equal
// bit for bit. fp32 chains are at most 18 additions long, everything above them is double.

#ifndef LARGE_FROM
#define LARGE_FROM 8000000
#endif
#ifndef SMALL_LOADS
#define SMALL_LOADS 16
#endif

namespace
{

constexpr int TINY_N = 128;
constexpr int MAILS = 5; // words of the mailbox that each lane of the collector reads
constexpr int MAX_GRID = 32 * MAILS;
constexpr unsigned FULL_WARP = 0xffffffffu;

using word = unsigned long long;

// Left by every call as it was found: all words empty (zero), the counter at zero.
__device__ word g_mailbox[MAX_GRID];
__device__ unsigned g_started;

// A double travels as the complement of its bits, so that the empty word, zero, stands for one
// particular NaN. That NaN is replaced by another one, and no value looks like an empty word. A
// mail of all ones is the number zero.
constexpr word NO_MAIL = 0;
constexpr word MAIL_OF_ZERO = ~0ull;

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

// A barrier of the block at which the streaming warps only report and the clerk waits.
template <int BLOCK> __device__ void report()
{
    asm volatile("barrier.cta.arrive 1, %0;" ::"n"(BLOCK) : "memory");
}

template <int BLOCK> __device__ void await_reports()
{
    asm volatile("barrier.cta.sync 1, %0;" ::"n"(BLOCK) : "memory");
}

// Streams past L1: no element is read twice. `volatile` keeps the loads of a batch together, before
// the first addition; left to itself the compiler saves registers and waits for each load in turn.
__device__ float4 load_streaming(const float4 *at)
{
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}

// The sum over the warp, in every lane.
__device__ double warp_sum(double v)
{
#pragma unroll
    for (int mask = 16; mask > 0; mask /= 2)
        v += __shfl_xor_sync(FULL_WARP, v, mask);
    return v;
}

// The sum of LOADS vectors, `stride` apart: all loads are issued before the first addition. The
// four components go to four fp32 accumulators. WHOLE: all of them exist; otherwise only those at
// distances below `left`.
template <bool WHOLE, int LOADS> __device__ float batch_sum(const float4 *at, int stride, int left)
{
    float4 v[LOADS];
#pragma unroll
    for (int k = 0; k < LOADS; ++k) {
        if (!WHOLE)
            v[k] = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        if (WHOLE || k * stride < left)
            v[k] = load_streaming(at + k * stride);
    }
    float4 sum = v[0];
#pragma unroll
    for (int k = 1; k < LOADS; ++k) {
        sum.x += v[k].x;
        sum.y += v[k].y;
        sum.z += v[k].z;
        sum.w += v[k].w;
    }
    return (sum.x + sum.y) + (sum.z + sum.w);
}

// The streaming warps: this thread's share, grid-stride, batch by batch. Each batch is folded into
// a double, so that no fp32 chain is longer than LOADS + 2. Whole batches come first in the code: a
// jump over the other form would cost a cold fetch of instructions before the first load.
template <int STREAMERS, int LOADS> __device__ double stream(const float4 *body, int vectors)
{
    const int stride = static_cast<int>(gridDim.x) * STREAMERS;
    int i = static_cast<int>(blockIdx.x * STREAMERS + threadIdx.x);
    double acc = 0.0;
    for (; i + (LOADS - 1) * stride < vectors; i += LOADS * stride)
        acc += static_cast<double>(batch_sum<true, LOADS>(body + i, stride, 0));
    if (i < vectors)
        acc += static_cast<double>(batch_sum<false, LOADS>(body + i, stride, vectors - i));
    return acc;
}

// The elements that are part of no aligned vector, at most three at either end.
struct edges {
    const float *head_at;
    const float *tail_at;
    int head;
    int tail;
};

// The clerk warp. Every block mails its sum, except the one that has drawn the last start number:
// its clerk collects. All other blocks are running or finished by then and wait for nobody, so the
// waiting ends on any device, however few blocks fit on it.
template <int WARPS>
__device__ void keep_books(edges rest, const double *slot, float *output, word *mailbox,
                           unsigned *started)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int grid = static_cast<int>(gridDim.x);
    const int me = static_cast<int>(blockIdx.x);

    // Draw a start number. atomicInc wraps to zero at grid - 1: it resets itself.
    unsigned start_number = 0;
    if (grid > 1) {
        if (lane == 0)
            start_number = atomicInc(started, gridDim.x - 1);
        start_number = __shfl_sync(FULL_WARP, start_number, 0);
    }
    const bool collects = start_number == gridDim.x - 1;

    // The clerk has nothing to stream: the one of block 0 takes the edges.
    double own_share = 0.0;
    if (me == 0) {
        if (lane < rest.head)
            own_share += static_cast<double>(rest.head_at[lane]);
        if (lane < rest.tail)
            own_share += static_cast<double>(rest.tail_at[lane]);
    }

    // Two rounds through the same instructions. The first is a rehearsal, while the streaming warps
    // wait for memory: it changes nothing, but fetches the code. Cold instructions come from HBM as
    // cold data do, and at the end of the kernel there would be nothing to hide that wait behind.
#pragma unroll 1
    for (int round = 0; round < 2; ++round) {
        const bool in_earnest = round == 1;
        if (in_earnest)
            await_reports<WARPS * 32 + 32>();
        const double block_sum =
            warp_sum(own_share + (in_earnest && lane < WARPS ? slot[lane] : 0.0));
        if (grid == 1) {
            if (in_earnest && lane == 0)
                *output = static_cast<float>(block_sum);
            continue;
        }
        if (!collects) {
            if (in_earnest && lane == 0)
                post(mailbox + me, to_mail(block_sum));
            continue;
        }

        // Look into the whole mailbox until no word is empty. The own sum takes the place of its
        // own mail, so the order of the additions does not depend on who collects.
        const word own = to_mail(block_sum);
        double sum;
        bool all_here;
        do {
            word mail[MAILS];
#pragma unroll
            for (int k = 0; k < MAILS; ++k) {
                const int from = k * 32 + lane;
                mail[k] = MAIL_OF_ZERO;
                if (from < grid)
                    mail[k] = from == me ? own : peek(mailbox + from);
            }
            sum = 0.0;
            all_here = true;
#pragma unroll
            for (int k = 0; k < MAILS; ++k) {
                sum += from_mail(mail[k]);
                all_here = all_here && mail[k] != NO_MAIL;
            }
            sum = warp_sum(sum);
            all_here = __all_sync(FULL_WARP, all_here);
        } while (in_earnest && !all_here);

        // Deliver, and leave the mailbox empty for the next call.
        if (in_earnest && lane == 0)
            *output = static_cast<float>(sum);
#pragma unroll
        for (int k = 0; k < MAILS; ++k) {
            const int from = k * 32 + lane;
            if (in_earnest && from < grid)
                mailbox[from] = NO_MAIL;
        }
    }
}

// One block: WARPS streaming warps and the clerk.
template <int WARPS, int LOADS>
__global__ void __launch_bounds__(WARPS * 32 + 32, 1)
    sum(const float4 *__restrict__ body, int vectors, edges rest, float *__restrict__ output,
        word *__restrict__ mailbox, unsigned *__restrict__ started)
{
    __shared__ double slot[WARPS];
    if (threadIdx.x >= WARPS * 32) {
        keep_books<WARPS>(rest, slot, output, mailbox, started);
        return;
    }
    const double acc = warp_sum(stream<WARPS * 32, LOADS>(body, vectors));
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = acc;
    report<WARPS * 32 + 32>();
}

// A handful of elements: one warp, no shared memory, no barrier, all loads in flight at once.
__global__ void __launch_bounds__(32)
    sum_tiny(const float *__restrict__ input, int n, float *__restrict__ output)
{
    const int lane = static_cast<int>(threadIdx.x);
    float v[TINY_N / 32];
#pragma unroll
    for (int k = 0; k < TINY_N / 32; ++k)
        v[k] = lane + k * 32 < n ? input[lane + k * 32] : 0.0f;
    double acc = 0.0;
#pragma unroll
    for (int k = 0; k < TINY_N / 32; ++k)
        acc += static_cast<double>(v[k]);
    acc = warp_sum(acc);
    if (lane == 0)
        *output = static_cast<float>(acc);
}

struct launch {
    const float4 *body;
    int vectors;
    edges rest;
    float *output;
    word *mailbox;
    unsigned *started;
    int most_blocks;
};

// Small inputs: one block, no mail. Then as many blocks as there is work for, up to one wave; of a
// full wave only so many that all threads have the same number of vectors.
template <int WARPS, int LOADS> void start(const launch &what)
{
    constexpr int STREAMERS = WARPS * 32;
    int blocks = 1;
    if (what.vectors > STREAMERS * LOADS) {
        const int wanted = (what.vectors + STREAMERS - 1) / STREAMERS;
        const int each = (wanted + what.most_blocks - 1) / what.most_blocks;
        blocks = (wanted + each - 1) / each;
    }
    sum<WARPS, LOADS><<<blocks, STREAMERS + 32>>>(what.body, what.vectors, what.rest, what.output,
                                                  what.mailbox, what.started);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    if (N <= TINY_N) {
        sum_tiny<<<1, 32>>>(input, N, output);
        return;
    }

    // What does not change between calls is asked once.
    static launch what = {};
    if (what.most_blocks == 0) {
        int device = 0;
        int sms = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&what.mailbox), g_mailbox);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&what.started), g_started);
        what.most_blocks = sms < MAX_GRID ? sms : MAX_GRID;
    }

    // Split at the 16-byte boundaries.
    const int misaligned = static_cast<int>(reinterpret_cast<unsigned long long>(input) % 16) / 4;
    what.rest.head = misaligned == 0 ? 0 : 4 - misaligned;
    what.rest.head_at = input;
    what.vectors = (N - what.rest.head) / 4;
    what.rest.tail = N - what.rest.head - what.vectors * 4;
    what.rest.tail_at = input + N - what.rest.tail;
    what.body = reinterpret_cast<const float4 *>(input + what.rest.head);
    what.output = output;

    // Two shapes. Few loads in flight per SM and many per thread when latency decides; the whole
    // SM full of threads when bandwidth does.
    if (N < LARGE_FROM)
        start<16, SMALL_LOADS>(what);
    else
        start<31, 8>(what);
}

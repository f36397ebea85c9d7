// @idea   one launch: two float4 streams, and in each block a clerk warp that mails the sum
// @source own; reduction/single_pass.cu with two streams
// @expect AC
// @tune   STREAM_WARPS 16 24
// @tune   LOADS 8 4
// Bytes: 8N read, 4 written. Floor: 2.7 us + 8N / 4.62 TB/s = 10.0 us at N = 4,194,304 (cold).
// Above the floor, at that size on an H200: 1.4 us until the memory is at full speed, 0.5 us for
// the sums of blocks to meet. Measured in steps: nobody adds the sums of the blocks, 11.5 us; this
// design 12.0; one atomicAdd per block and a ticket 12.3; partials, fence and ticket 12.5;
// cublasSdot 16.0. How it works is told in reduction/single_pass.cu.
// N <= 128 is one warp and one round trip to memory. At N = 5, cold, on average: 3.36 us, where an
// empty kernel takes 2.73, one that stores a constant 2.95 and one that copies a word 3.24: 0.12 are
// left for two arrays, the products and their sum. fp32 chains are at
// most 10 products long (18 if A and B are aligned differently), everything above them is double.
// Deterministic for given N, alignment and number of SMs.

#ifndef STREAM_WARPS
#define STREAM_WARPS 16
#endif
#ifndef LOADS
#define LOADS 8
#endif

namespace
{

constexpr int STREAMERS = STREAM_WARPS * 32;
constexpr int BLOCK = STREAMERS + 32; // and the clerk warp
constexpr int MAILS = 5;              // words of the mailbox that each lane of the collector reads
constexpr int MAX_GRID = 32 * MAILS;
constexpr int TINY_N = 128;
constexpr int ONE_BLOCK_N = STREAMERS * LOADS * 4;
constexpr unsigned FULL_WARP = 0xffffffffu;
static_assert(STREAM_WARPS >= 1 && STREAM_WARPS <= 31, "a block has at most 32 warps");

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
__device__ void report() { asm volatile("barrier.cta.arrive 1, %0;" ::"n"(BLOCK) : "memory"); }
__device__ void await_reports() { asm volatile("barrier.cta.sync 1, %0;" ::"n"(BLOCK) : "memory"); }

// Streams past L1: no element is read twice. `volatile` keeps the loads of a batch together, before
// the first product; left to itself the compiler saves registers and waits for each load in turn.
__device__ float4 load_streaming(const float4 *at)
{
    float4 v;
    asm volatile("ld.global.nc.L1::no_allocate.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w)
                 : "l"(at));
    return v;
}

__device__ float load_streaming(const float *at)
{
    float v;
    asm volatile("ld.global.nc.L1::no_allocate.f32 %0, [%1];" : "=f"(v) : "l"(at));
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

__device__ void clear(float4 &v) { v = make_float4(0.0f, 0.0f, 0.0f, 0.0f); }
__device__ void clear(float &v) { v = 0.0f; }

__device__ void multiply_add(float4 &sum, float4 x, float4 y)
{
    sum.x = fmaf(x.x, y.x, sum.x);
    sum.y = fmaf(x.y, y.y, sum.y);
    sum.z = fmaf(x.z, y.z, sum.z);
    sum.w = fmaf(x.w, y.w, sum.w);
}

__device__ void multiply_add(float &sum, float x, float y) { sum = fmaf(x, y, sum); }

__device__ float total(float4 v) { return (v.x + v.y) + (v.z + v.w); }
__device__ float total(float v) { return v; }

// The dot product of PAIRS items (vectors or single elements), `stride` apart: all loads are issued
// before the first product. WHOLE: all of them exist; otherwise only those at distances below
// `left`.
template <bool WHOLE, int PAIRS, typename ITEM>
__device__ float batch_dot(const ITEM *a, const ITEM *b, int stride, int left)
{
    ITEM x[PAIRS];
    ITEM y[PAIRS];
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
        if (!WHOLE) {
            clear(x[k]);
            clear(y[k]);
        }
        if (WHOLE || k * stride < left) {
            x[k] = load_streaming(a + k * stride);
            y[k] = load_streaming(b + k * stride);
        }
    }
    ITEM sum;
    clear(sum);
#pragma unroll
    for (int k = 0; k < PAIRS; ++k)
        multiply_add(sum, x[k], y[k]);
    return total(sum);
}

// The streaming warps: this thread's share, grid-stride, batch by batch. Each batch is folded into
// a double, so that no fp32 chain is longer than PAIRS + 2. Whole batches come first in the code: a
// jump over the other form would cost a cold fetch of instructions before the first load.
template <int PAIRS, typename ITEM>
__device__ double stream(const ITEM *a, const ITEM *b, int items)
{
    const int stride = static_cast<int>(gridDim.x) * STREAMERS;
    int i = static_cast<int>(blockIdx.x * STREAMERS + threadIdx.x);
    double acc = 0.0;
    for (; i + (PAIRS - 1) * stride < items; i += PAIRS * stride)
        acc += static_cast<double>(batch_dot<true, PAIRS>(a + i, b + i, stride, 0));
    if (i < items)
        acc += static_cast<double>(batch_dot<false, PAIRS>(a + i, b + i, stride, items - i));
    return acc;
}

// The elements that are part of no aligned vector, at most three at either end.
struct edges {
    const float *a;
    const float *b;
    int head;
    int tail;
    int tail_start;
};

// The clerk warp. Every block mails its sum, except the one that has drawn the last start number:
// its clerk collects. All other blocks are running or finished by then and wait for nobody, so the
// waiting ends on any device, however few blocks fit on it.
__device__ void keep_books(edges rest, const double *slot, float *result, word *mailbox,
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
        const int last = rest.tail_start + lane;
        if (lane < rest.head)
            own_share += static_cast<double>(rest.a[lane]) * static_cast<double>(rest.b[lane]);
        if (lane < rest.tail)
            own_share += static_cast<double>(rest.a[last]) * static_cast<double>(rest.b[last]);
    }

    // Two rounds through the same instructions. The first is a rehearsal, while the streaming warps
    // wait for memory: it changes nothing, but fetches the code. Cold instructions come from HBM as
    // cold data do, and at the end of the kernel there would be nothing to hide that wait behind.
#pragma unroll 1
    for (int round = 0; round < 2; ++round) {
        const bool in_earnest = round == 1;
        if (in_earnest)
            await_reports();
        const double block_sum =
            warp_sum(own_share + (in_earnest && lane < STREAM_WARPS ? slot[lane] : 0.0));
        if (grid == 1) {
            if (in_earnest && lane == 0)
                *result = static_cast<float>(block_sum);
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
            *result = static_cast<float>(sum);
#pragma unroll
        for (int k = 0; k < MAILS; ++k) {
            const int from = k * 32 + lane;
            if (in_earnest && from < grid)
                mailbox[from] = NO_MAIL;
        }
    }
}

// One block: STREAM_WARPS streaming warps and the clerk. ITEM is float4, or float if A and B stand
// differently to the 16-byte boundary, so that no vector of the one is a vector of the other. Then
// neighbouring lanes take neighbouring words, with more pairs in flight.
template <int PAIRS, typename ITEM>
__global__ void __launch_bounds__(BLOCK, 1)
    dot(const ITEM *__restrict__ a, const ITEM *__restrict__ b, int items, edges rest,
        float *__restrict__ result, word *__restrict__ mailbox, unsigned *__restrict__ started)
{
    __shared__ double slot[STREAM_WARPS];
    if (threadIdx.x >= STREAMERS) {
        keep_books(rest, slot, result, mailbox, started);
        return;
    }
    const double acc = warp_sum(stream<PAIRS>(a, b, items));
    if (threadIdx.x % 32 == 0)
        slot[threadIdx.x / 32] = acc;
    report();
}

// A handful of elements: one warp, no shared memory, no barrier, all loads in flight at once. The
// result's place is called for first, so that its address is translated while the loads are under
// way, and few elements take few shuffles.
template <int LANES, int PAIRS>
__global__ void __launch_bounds__(32)
    dot_tiny(const float *__restrict__ a, const float *__restrict__ b, int n,
             float *__restrict__ result)
{
    const int lane = static_cast<int>(threadIdx.x);
    asm volatile("prefetch.global.L2 [%0];" ::"l"(result));
    float x[PAIRS];
    float y[PAIRS];
#pragma unroll
    for (int k = 0; k < PAIRS; ++k) {
        const int i = lane + k * LANES;
        x[k] = i < n ? a[i] : 0.0f;
        y[k] = i < n ? b[i] : 0.0f;
    }
    double acc = 0.0;
#pragma unroll
    for (int k = 0; k < PAIRS; ++k)
        acc = fma(static_cast<double>(x[k]), static_cast<double>(y[k]), acc);
#pragma unroll
    for (int mask = LANES / 2; mask > 0; mask /= 2)
        acc += __shfl_xor_sync(FULL_WARP, acc, mask);
    if (lane == 0)
        *result = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    if (N <= TINY_N) {
        const auto tiny = N <= 8 ? dot_tiny<8, 1> : dot_tiny<32, TINY_N / 32>;
        tiny<<<1, 32>>>(A, B, N, result);
        return;
    }

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
        most_blocks = sms < MAX_GRID ? sms : MAX_GRID;
    }

    // Small inputs: one block, no mail. Then as many blocks as there is work for, up to one wave;
    // of a full wave only so many that all threads have the same number of items.
    const auto blocks_for = [&](int items) {
        const int wanted = (items + STREAMERS - 1) / STREAMERS;
        const int each = (wanted + most_blocks - 1) / most_blocks;
        return N <= ONE_BLOCK_N ? 1 : (wanted + each - 1) / each;
    };

    const int a_past = static_cast<int>(reinterpret_cast<unsigned long long>(A) % 16) / 4;
    const int b_past = static_cast<int>(reinterpret_cast<unsigned long long>(B) % 16) / 4;
    if (a_past != b_past) {
        dot<16><<<blocks_for(N), BLOCK>>>(A, B, N, edges{}, result, mailbox, started);
        return;
    }
    // Split at the 16-byte boundaries, which both arrays reach after the same number of elements.
    const int head = a_past == 0 ? 0 : 4 - a_past;
    const int vectors = (N - head) / 4;
    const int tail_start = head + vectors * 4;
    const edges rest = {A, B, head, N - tail_start, tail_start};
    dot<LOADS><<<blocks_for(vectors), BLOCK>>>(reinterpret_cast<const float4 *>(A + head),
                                               reinterpret_cast<const float4 *>(B + head), vectors,
                                               rest, result, mailbox, started);
}

// @idea   one launch, one atomicAdd of a double per block, a ticket tells the last block
// @source own
// @expect AC
// @tune   LOADS 8 4
// @tune   BLOCK 1024 512
// Bytes: 4N read, 4 written. Floor: 2.7 us + 4N / 4.62 TB/s = 6.3 us at N = 4,194,304 (cold).
// Above the floor: three trips to L2 in a row at the end (the atomic, the ticket behind a fence,
// the sum fetched back), 0.8 us against 0.6 for the mailbox of `single_pass.cu`, for far less code.
// Not deterministic: the double sum depends on the order of the blocks. After rounding to float two
// runs differ seldom, and then by one unit in the last place.

#ifndef LOADS
#define LOADS 8
#endif
#ifndef BLOCK
#define BLOCK 1024
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 1
#endif

namespace
{

constexpr int WARPS = BLOCK / 32;
constexpr int ONE_BLOCK_N = BLOCK * LOADS * 4;
constexpr unsigned FULL_WARP = 0xffffffffu;
static_assert(BLOCK % 32 == 0 && BLOCK <= 1024, "whole warps");

// Left by every call as it was found: both zero.
__device__ double g_total;
__device__ unsigned g_done;

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
template <bool WHOLE> __device__ float batch_sum(const float4 *at, int stride, int left)
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

// input = head elements, then `vectors` aligned float4, then tail elements.
__global__ void __launch_bounds__(BLOCK, BLOCKS_PER_SM)
    sum(const float4 *__restrict__ body, int vectors, const float *__restrict__ head_at, int head,
        const float *__restrict__ tail_at, int tail, float *__restrict__ output,
        double *__restrict__ total, unsigned *__restrict__ done)
{
    __shared__ double slot[WARPS];
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = tid % 32;
    const int warp = tid / 32;
    const int grid = static_cast<int>(gridDim.x);

    // Phase 1: stream, batch by batch. Each batch is folded into a double, so that no fp32 chain is
    // longer than LOADS + 2.
    const int stride = grid * BLOCK;
    double acc = 0.0;
    int i = static_cast<int>(blockIdx.x) * BLOCK + tid;
    for (; i + (LOADS - 1) * stride < vectors; i += LOADS * stride)
        acc += static_cast<double>(batch_sum<true>(body + i, stride, 0));
    if (i < vectors)
        acc += static_cast<double>(batch_sum<false>(body + i, stride, vectors - i));
    if (blockIdx.x == 0) {
        if (tid < head)
            acc += static_cast<double>(head_at[tid]);
        if (tid < tail)
            acc += static_cast<double>(tail_at[tid]);
    }

    // Phase 2: the block's sum, one barrier. Afterwards only warp 0 goes on.
    acc = warp_sum(acc);
    if (lane == 0)
        slot[warp] = acc;
    __syncthreads();
    if (warp != 0)
        return;
    acc = warp_sum(lane < WARPS ? slot[lane] : 0.0);

    // Phase 3: one atomic per block, then a ticket. The fence between them keeps the order: who
    // sees the last ticket sees all the sums.
    if (lane != 0)
        return;
    if (grid > 1) {
        atomicAdd(total, acc);
        __threadfence();
        if (atomicInc(done, gridDim.x - 1) != gridDim.x - 1)
            return;
        // The last block takes the sum and leaves zero behind, in one step.
        __threadfence();
        acc = __longlong_as_double(atomicExch(reinterpret_cast<unsigned long long *>(total), 0ull));
    }
    *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    // What does not change between calls is asked once.
    static double *total = nullptr;
    static unsigned *done = nullptr;
    static int most_blocks = 0;
    if (most_blocks == 0) {
        int device = 0;
        int sms = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&total), g_total);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&done), g_done);
        most_blocks = sms * BLOCKS_PER_SM;
    }

    // Split at the 16-byte boundaries.
    const int misaligned = static_cast<int>(reinterpret_cast<unsigned long long>(input) % 16) / 4;
    const int to_boundary = misaligned == 0 ? 0 : 4 - misaligned;
    const int head = to_boundary < N ? to_boundary : N;
    const int vectors = (N - head) / 4;
    const int tail = N - head - vectors * 4;

    // Small inputs: one block, no atomics. Then as many blocks as there is work for, up to one
    // wave; of a full wave only so many that all threads have the same number of vectors.
    int blocks = 1;
    if (N > ONE_BLOCK_N) {
        const int wanted = (vectors + BLOCK - 1) / BLOCK;
        const int each = (wanted + most_blocks - 1) / most_blocks;
        blocks = (wanted + each - 1) / each;
    }
    sum<<<blocks, BLOCK>>>(reinterpret_cast<const float4 *>(input + head), vectors, input, head,
                           input + head + vectors * 4, tail, output, total, done);
}

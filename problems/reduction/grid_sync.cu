// @idea   one cooperative launch: partials, a barrier of the whole grid, block 0 finishes
// @source own
// @expect AC
// @tune   LOADS 8 4
// @tune   BLOCK 512 256
// @tune   BLOCKS_PER_SM 2 1
// Bytes: 4N read, 4 written. Floor: 2.7 us + 4N / 4.62 TB/s = 6.3 us at N = 4,194,304 (cold).
// Above the floor: the barrier of the grid costs a trip to L2 for the arrival and one or more for
// the release, 1.2 us in all, and a single-block sum pays it as well (5.4 us against 3.7 for N = 1,
// most of it the cooperative launch). It does more than a sum needs: one block has to know that
// the others are ready, not all. Deterministic for given N and device.

#include <cooperative_groups.h>

#ifndef LOADS
#define LOADS 8
#endif
#ifndef BLOCK
#define BLOCK 512
#endif
#ifndef BLOCKS_PER_SM
#define BLOCKS_PER_SM 2
#endif

namespace
{

constexpr int WARPS = BLOCK / 32;
constexpr int MAX_GRID = 4096;
constexpr int ONE_BLOCK_N = BLOCK * LOADS * 4;
constexpr unsigned FULL_WARP = 0xffffffffu;
static_assert(BLOCK % 32 == 0 && BLOCK <= 1024, "whole warps");

// Written before the barrier and read behind it, in every call anew: nothing to reset.
__device__ double g_partials[MAX_GRID];

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
        const float *__restrict__ tail_at, int tail, float *__restrict__ output, double *partials)
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

    // Phase 2: the block's sum, valid in warp 0.
    acc = warp_sum(acc);
    if (lane == 0)
        slot[warp] = acc;
    __syncthreads();
    if (warp == 0)
        acc = warp_sum(lane < WARPS ? slot[lane] : 0.0);
    if (tid == 0)
        partials[blockIdx.x] = acc;

    // Phase 3: nobody passes before all blocks have arrived. They can all arrive because a
    // cooperative launch starts only if the whole grid is resident at once. The barrier also orders
    // memory: what was written before it is seen behind it.
    cooperative_groups::this_grid().sync();

    // Phase 4: one warp of one block adds the partials.
    if (blockIdx.x != 0 || warp != 0)
        return;
    acc = 0.0;
    for (int i = lane; i < grid; i += 32)
        acc += partials[i];
    acc = warp_sum(acc);
    if (lane == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    // What does not change between calls is asked once.
    static double *partials = nullptr;
    static int most_blocks = 0;
    if (most_blocks == 0) {
        int device = 0;
        int sms = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, device);
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);
        // The grid must fit the device, or the launch is refused.
        int per_sm = 1;
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&per_sm, sum, BLOCK, 0);
        per_sm = per_sm < BLOCKS_PER_SM ? per_sm : BLOCKS_PER_SM;
        most_blocks = sms * per_sm < MAX_GRID ? sms * per_sm : MAX_GRID;
    }

    // Split at the 16-byte boundaries.
    const int misaligned = static_cast<int>(reinterpret_cast<unsigned long long>(input) % 16) / 4;
    const int to_boundary = misaligned == 0 ? 0 : 4 - misaligned;
    const int head = to_boundary < N ? to_boundary : N;
    const int vectors = (N - head) / 4;
    const int tail = N - head - vectors * 4;

    // Small inputs: one block. Then as many as there is work for, up to one wave.
    int blocks = 1;
    if (N > ONE_BLOCK_N) {
        const int wanted = (vectors + BLOCK - 1) / BLOCK;
        blocks = wanted < most_blocks ? wanted : most_blocks;
    }
    const float4 *body = reinterpret_cast<const float4 *>(input + head);
    const float *tail_at = input + head + vectors * 4;
    void *arguments[] = {&body,    const_cast<int *>(&vectors), &input,  const_cast<int *>(&head),
                         &tail_at, const_cast<int *>(&tail),    &output, &partials};
    cudaLaunchCooperativeKernel(sum, dim3(static_cast<unsigned>(blocks)), dim3(BLOCK), arguments, 0,
                                nullptr);
}

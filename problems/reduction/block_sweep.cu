// @idea   the float4 sum at five block sizes, the number of threads in the grid held fixed
// @source note 003 section 8.1, note 002 section 6.1
// @expect AC
// @tune   BLOCK 256 64 128 512 1024
// Bytes: 4N read, up to 32 KB of partials written and read. Floor: 2.7 us + 4N / 4.62 TB/s.
// The question: does a block of 1,024 threads beat smaller ones? The grid always has 262,144
// threads, so each thread does the same work at every setting; what changes is the depth of the
// block's tree, the number of partials, and how blocks come and go on an SM. Expect the sizes to
// lie close together: the memory does not know how threads are grouped.
// Above the floor: the second kernel, as in `vec4.cu`. Deterministic for a given BLOCK.
// fp32 chains: at most 96 terms per accumulator at N = 1e8.

#ifndef BLOCK
#define BLOCK 256
#endif

namespace
{

constexpr int GRID_THREADS = 1 << 18;
constexpr int MAX_BLOCKS = GRID_THREADS / BLOCK;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL_WARP = 0xffffffffu;
static_assert(BLOCK % 32 == 0 && BLOCK <= 1024, "whole warps");

__device__ float g_partials[MAX_BLOCKS];

__device__ float warp_sum(float v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(FULL_WARP, v, delta);
    return v;
}

// The sum over the block, valid in thread 0.
__device__ float block_sum(float v)
{
    __shared__ float slot[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;

    v = warp_sum(v);
    if (lane == 0)
        slot[warp] = v;
    __syncthreads();
    if (warp == 0)
        v = warp_sum(lane < WARPS ? slot[lane] : 0.0f);
    return v;
}

__global__ void sum_float4(const float *__restrict__ from, float *__restrict__ to, int n)
{
    const int bytes_past = static_cast<int>(reinterpret_cast<unsigned long long>(from) % 16);
    const int to_boundary = bytes_past == 0 ? 0 : 4 - bytes_past / 4;
    const int head = to_boundary < n ? to_boundary : n;
    const int vectors = (n - head) / 4;
    const int tail_start = head + vectors * 4;
    const float4 *body = reinterpret_cast<const float4 *>(from + head);

    // Phase 1: the aligned body.
    const int stride = static_cast<int>(gridDim.x) * BLOCK;
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = static_cast<int>(blockIdx.x) * BLOCK + static_cast<int>(threadIdx.x); i < vectors;
         i += stride) {
        const float4 v = body[i];
        acc.x += v.x;
        acc.y += v.y;
        acc.z += v.z;
        acc.w += v.w;
    }
    float sum = (acc.x + acc.y) + (acc.z + acc.w);

    // Phase 2: head and tail, at most three elements each, by threads of block 0.
    if (blockIdx.x == 0) {
        const int t = static_cast<int>(threadIdx.x);
        if (t < head)
            sum += from[t];
        if (t < n - tail_start)
            sum += from[tail_start + t];
    }

    // Phase 3: within the block.
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        to[blockIdx.x] = sum;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static float *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int per_block = BLOCK * 4;
    const int wanted = (N + per_block - 1) / per_block;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    if (blocks == 1) {
        sum_float4<<<1, BLOCK>>>(input, output, N);
        return;
    }
    sum_float4<<<blocks, BLOCK>>>(input, partials, N);
    sum_float4<<<1, BLOCK>>>(partials, output, blocks);
}

// @idea   the float4 dot product at seven block sizes, the number of threads held fixed
// @source note 002 section 6.1
// @expect AC
// @tune   BLOCK 256 64 128 192 384 512 1024
// Bytes: 8N read, up to 32 KB of partials written and read. Floor: 2.7 us + 8N / 4.62 TB/s.
// Tests the advice "128 to 512 threads". The grid has about 262,144 threads at every setting, so
// what changes is the depth of the block's tree, the number of partials and the grain at which an
// SM takes in new work. 192 and 384 are not powers of two: shuffles and slots do not care. Above
// the floor: the second kernel. Deterministic for a given BLOCK.

#ifndef BLOCK
#define BLOCK 256
#endif

namespace
{

constexpr int MAX_BLOCKS = (1 << 18) / BLOCK;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL_WARP = 0xffffffffu;

__device__ float g_partials[MAX_BLOCKS];
static_assert(BLOCK % 32 == 0 && BLOCK <= 1024, "whole warps");

__device__ float warp_sum(float v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(FULL_WARP, v, delta);
    return v;
}

// The sum over the block, valid in thread 0: one shared slot per warp, one barrier.
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

// How many elements stand before the first 16-byte boundary (0 to 3).
__device__ int head_of(const float *p)
{
    return static_cast<int>((16 - reinterpret_cast<unsigned long long>(p) % 16) % 16 / 4);
}

__global__ void multiply(const float *__restrict__ a, const float *__restrict__ b,
                         float *__restrict__ partials, int n)
{
    const int tid = static_cast<int>(threadIdx.x);
    const int first = static_cast<int>(blockIdx.x) * BLOCK + tid;
    const int stride = static_cast<int>(gridDim.x) * BLOCK;
    const bool same_phase = head_of(a) == head_of(b);

    // Phase 1: where does the vector part begin and end? With different alignments of A and B no
    // head makes both aligned: then all elements are left to the scalar loop.
    const int head = !same_phase ? n : head_of(a) < n ? head_of(a) : n;
    const int vectors = (n - head) / 4;
    const int tail_start = head + vectors * 4;

    // Phase 2: one float4 of each array per step; four independent accumulators.
    const float4 *a4 = reinterpret_cast<const float4 *>(a + head);
    const float4 *b4 = reinterpret_cast<const float4 *>(b + head);
    float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = first; i < vectors; i += stride) {
        const float4 x = a4[i];
        const float4 y = b4[i];
        sum.x += x.x * y.x;
        sum.y += x.y * y.y;
        sum.z += x.z * y.z;
        sum.w += x.w * y.w;
    }
    float acc = (sum.x + sum.y) + (sum.z + sum.w);

    // Phase 3: the head (or everything) and the tail, element by element.
    for (long long i = first; i < head; i += stride)
        acc += a[i] * b[i];
    if (first < n - tail_start)
        acc += a[tail_start + first] * b[tail_start + first];

    // Phase 4: within the block.
    acc = block_sum(acc);
    if (tid == 0)
        partials[blockIdx.x] = acc;
}

// Last phase: one block adds the partials.
__global__ void sum_partials(const float *__restrict__ partials, float *__restrict__ result, int n)
{
    float acc = 0.0f;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc += partials[i];
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *result = acc;
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    static float *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int wanted = (N + (BLOCK * 4) - 1) / (BLOCK * 4);
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    multiply<<<blocks, BLOCK>>>(A, B, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, result, blocks);
}

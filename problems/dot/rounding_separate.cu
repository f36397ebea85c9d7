// @idea   multiplication and addition rounded separately instead of fused
// @source note 002 section 6.2
// @expect AC
// Bytes: 8N read, 16 KB of partials written and read. Floor: 2.7 us + 8N / 4.62 TB/s.
// The compiler contracts a * b + c into one FMA with one rounding. __fmul_rn and __fadd_rn block
// that: the product is rounded first. "rn" is the default rounding, to nearest even, so they are
// not more exact in themselves; on the contrary, FMA saves a rounding. Compare the margins that the
// judge prints for this file and for `shuffle.cu`: they differ in the noise. The time is the same,
// too, since memory decides. Above the floor: 4-byte loads and the second kernel. Deterministic.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 4096;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL_WARP = 0xffffffffu;

__device__ float g_partials[MAX_BLOCKS];

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

__global__ void multiply(const float *__restrict__ a, const float *__restrict__ b,
                         float *__restrict__ partials, int n)
{
    // Phase 1: thread t takes elements t, t + T, t + 2T, ... for T threads in the grid:
    // neighbouring lanes read neighbouring words of both arrays.
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    float acc = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += stride)
        acc = __fadd_rn(acc, __fmul_rn(a[i], b[i]));

    // Phase 2: within the block.
    acc = block_sum(acc);
    if (threadIdx.x == 0)
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

    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    multiply<<<blocks, BLOCK>>>(A, B, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, result, blocks);
}

// @idea   products exact in double, sum in double
// @source own
// @expect AC
// Bytes: 8N read, 32 KB of partials written and read. Floor: 2.7 us + 8N / 4.62 TB/s.
// Two 24-bit significands make a 48-bit product, which a double (53 bits) holds without rounding.
// So only the additions round, at 2^-53: the absolute error is about 2e-9 for 1e8 products of
// U(-1,1), where fp32 accumulators reach 5e-4.
// The price is two conversions and one double FMA per element. The H200 has enough FP64 units to
// hide that behind HBM; a consumer card, with 1/64 of the FP32 rate, has not. Above the floor:
// 4-byte loads and the second kernel. Deterministic.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 4096;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL_WARP = 0xffffffffu;

__device__ double g_partials[MAX_BLOCKS];

__device__ double warp_sum(double v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(FULL_WARP, v, delta);
    return v;
}

// The sum over the block, valid in thread 0: one shared slot per warp, one barrier.
__device__ double block_sum(double v)
{
    __shared__ double slot[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;

    v = warp_sum(v);
    if (lane == 0)
        slot[warp] = v;
    __syncthreads();
    if (warp == 0)
        v = warp_sum(lane < WARPS ? slot[lane] : 0.0);
    return v;
}

__global__ void multiply(const float *__restrict__ a, const float *__restrict__ b,
                         double *__restrict__ partials, int n)
{
    // Phase 1: thread t takes elements t, t + T, t + 2T, ... for T threads in the grid:
    // neighbouring lanes read neighbouring words of both arrays.
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    double acc = 0.0;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += stride)
        acc = fma(static_cast<double>(a[i]), static_cast<double>(b[i]), acc);

    // Phase 2: within the block.
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = acc;
}

// Last phase: one block adds the partials.
__global__ void sum_partials(const double *__restrict__ partials, float *__restrict__ result, int n)
{
    double acc = 0.0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc += partials[i];
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *result = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    static double *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    multiply<<<blocks, BLOCK>>>(A, B, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, result, blocks);
}

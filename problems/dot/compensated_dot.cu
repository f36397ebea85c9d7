// @idea   two-product and two-sum: the precision of a double from floats alone
// @source own, after note 003 section 7.3
// @expect AC
// Bytes: 8N read, 32 KB of partials written and read. Floor: 2.7 us + 8N / 4.62 TB/s.
// FMA gives the rounding error of a product exactly: e = fma(a, b, -(a * b)). Knuth's two-sum does
// the same for an addition. Both errors are collected in a second float and added at the end: the
// result is as if computed with twice the bits, then rounded once (Ogita, Rump, Oishi: "Dot2"). Ten
// fp32 operations per element in place of one are still hidden behind the memory on this device; on
// one with little FP64 this is the way to what `exact_products.cu` gives. A product below 2^-101
// has an error too small for fp32: there the compensation fades, harmlessly. Above the floor:
// 4-byte loads and the second kernel. Deterministic.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 4096;
constexpr int WARPS = BLOCK / 32;
constexpr unsigned FULL_WARP = 0xffffffffu;

// A value as the sum of two floats: hi is the rounded sum, lo what rounding has lost.
struct pair {
    float hi;
    float lo;
};

__device__ pair g_partials[MAX_BLOCKS];

// hi + lo equals a + b exactly, whichever is larger.
__device__ pair two_sum(float a, float b)
{
    const float hi = a + b;
    const float b_part = hi - a;
    const float lo = (a - (hi - b_part)) + (b - b_part);
    return {hi, lo};
}

// hi + lo equals a * b exactly.
__device__ pair two_product(float a, float b)
{
    const float hi = __fmul_rn(a, b);
    return {hi, fmaf(a, b, -hi)};
}

__device__ pair combine(pair a, pair b)
{
    pair s = two_sum(a.hi, b.hi);
    s.lo += a.lo + b.lo;
    return s;
}

__device__ pair warp_sum(pair v)
{
    for (int delta = 16; delta > 0; delta /= 2) {
        pair other;
        other.hi = __shfl_down_sync(FULL_WARP, v.hi, delta);
        other.lo = __shfl_down_sync(FULL_WARP, v.lo, delta);
        v = combine(v, other);
    }
    return v;
}

// The sum over the block, valid in thread 0.
__device__ pair block_sum(pair v)
{
    __shared__ pair slot[WARPS];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;

    v = warp_sum(v);
    if (lane == 0)
        slot[warp] = v;
    __syncthreads();
    if (warp == 0)
        v = warp_sum(lane < WARPS ? slot[lane] : pair{0.0f, 0.0f});
    return v;
}

__global__ void multiply(const float *__restrict__ a, const float *__restrict__ b,
                         pair *__restrict__ partials, int n)
{
    // Phase 1: thread t takes elements t, t + T, t + 2T, ... for T threads in the grid:
    // neighbouring lanes read neighbouring words of both arrays.
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    pair acc = {0.0f, 0.0f};
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += stride)
        acc = combine(acc, two_product(a[i], b[i]));

    // Phase 2: within the block.
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = acc;
}

// Last phase: one block adds the partials; hi and lo meet in the last addition.
__global__ void sum_partials(const pair *__restrict__ partials, float *__restrict__ result, int n)
{
    pair acc = {0.0f, 0.0f};
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc = combine(acc, partials[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *result = acc.hi + acc.lo;
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    static pair *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    multiply<<<blocks, BLOCK>>>(A, B, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, result, blocks);
}

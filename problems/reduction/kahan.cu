// @idea   compensated sums: every thread carries the rounding error of its chain along
// @source note 003 section 7.3
// @expect AC
// Bytes: 4N read, 8 KB of partials written and read. Floor: 2.7 us + 4N / 4.62 TB/s: four fp32
// operations per element in place of one are still hidden behind the memory.
// What it is for: adding equal values makes every rounding of a chain go the same way, and the
// error grows with the length of the chain (1,024 terms of 0.1f: 162 half-ulps). Kahan's rule keeps
// the part that each addition loses and subtracts it from the next term, so the error no longer
// depends on the length. On random data a plain tree is as good: its roundings cancel.
// The compiler must not simplify (t - s) - y to zero; nvcc does not reassociate unless told
// -use_fast_math. A double accumulator gives the same quality on this device for less thought.
// Above the floor: 4-byte loads and a second kernel. Deterministic.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 1024;
constexpr unsigned FULL_WARP = 0xffffffffu;

// A value as the sum of two floats: hi is the rounded sum, lo what rounding has lost.
struct pair {
    float hi;
    float lo;
};

__device__ pair g_partials[MAX_BLOCKS];

// Knuth's two-sum: hi + lo equals a + b exactly, whichever is larger.
__device__ pair two_sum(float a, float b)
{
    const float hi = a + b;
    const float b_part = hi - a;
    const float lo = (a - (hi - b_part)) + (b - b_part);
    return {hi, lo};
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

// The compensated sum over the block, valid in thread 0.
__device__ pair block_sum(pair v)
{
    __shared__ pair slot[BLOCK / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;

    v = warp_sum(v);
    if (lane == 0)
        slot[warp] = v;
    __syncthreads();
    if (warp == 0)
        v = warp_sum(lane < BLOCK / 32 ? slot[lane] : pair{0.0f, 0.0f});
    return v;
}

__global__ void sum_elements(const float *__restrict__ input, pair *__restrict__ partials, int n)
{
    // Phase 1: Kahan's loop. `lost` is what the running sum holds too much of.
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    float sum = 0.0f;
    float lost = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n;
         i += stride) {
        const float term = input[i] - lost;
        const float next = sum + term;
        lost = (next - sum) - term;
        sum = next;
    }

    // Phase 2: the tree keeps both parts.
    const pair total = block_sum({sum, -lost});
    if (threadIdx.x == 0)
        partials[blockIdx.x] = total;
}

// Phase 3: one block adds the partials; hi and lo meet in the last addition.
__global__ void sum_partials(const pair *__restrict__ partials, float *__restrict__ output, int n)
{
    pair acc = {0.0f, 0.0f};
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc = combine(acc, partials[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = acc.hi + acc.lo;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static pair *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    sum_elements<<<blocks, BLOCK>>>(input, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, output, blocks);
}

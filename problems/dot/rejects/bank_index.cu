// @idea   a "conflict-free" tree whose index formula loses and doubles elements
// @source own, after the fault of note 002 section 5.2
// @expect WA
// Spreading the addends over the array, one free slot after each four, is meant to keep lanes out
// of each other's banks. There is nothing to cure: neighbouring lanes of the plain tree use
// neighbouring banks. And the elements were stored without the gaps, so the spread index skips some
// and takes others twice: the values 1 .. 256 sum to 16,713 in place of 32,896. The index also runs
// past the block's 256 slots. They exist here and hold zero, so that the file is wrong on every
// machine and reads nothing that was never written.

namespace
{

constexpr int BLOCK = 256;

// A sum over the block that is meant to avoid bank conflicts.
__device__ float spread_block_sum(float v)
{
    __shared__ float tile[BLOCK + BLOCK / 4];
    const int tid = static_cast<int>(threadIdx.x);

    tile[tid] = v;
    if (tid < BLOCK / 4)
        tile[BLOCK + tid] = 0.0f;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        const int index = (tid * 5) / 4; // meant as padding: one free slot after each four
        float other = 0.0f;
        if (tid < stride)
            other = tile[index + stride];
        __syncthreads();
        if (tid < stride)
            tile[index] += other;
        __syncthreads();
    }
    return tile[0];
}

__device__ float g_partials[1024];

__global__ void sum_products(const float *a, const float *b, float *to, int n)
{
    float acc = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n;
         i += static_cast<long long>(gridDim.x) * BLOCK)
        acc += a[i] * b[i];
    acc = spread_block_sum(acc);
    if (threadIdx.x == 0)
        to[blockIdx.x] = acc;
}

__global__ void sum_partials(const float *from, float *result, int n)
{
    float acc = 0.0f;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc += from[i];
    acc = spread_block_sum(acc);
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
    const int blocks = wanted < 1 ? 1 : wanted < 1024 ? wanted : 1024;
    sum_products<<<blocks, BLOCK>>>(A, B, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, result, blocks);
}

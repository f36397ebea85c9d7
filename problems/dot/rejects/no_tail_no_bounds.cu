// @idea   float4 per thread without a bound check or a tail
// @source note 002 section 5.1
// @expect RE
// The vector kernel as the note has it: it ignores N, so threads past the end read past the end; it
// takes 16-byte alignment for granted; elements after the last full vector are never read.

namespace
{

constexpr int BLOCK = 256;

// The sum over the block, valid in every thread.
__device__ double block_sum(double v)
{
    __shared__ double slot[BLOCK];
    slot[threadIdx.x] = v;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    return slot[0];
}

__device__ double g_sum;

__global__ void clear() { g_sum = 0.0; }

// One float4 of each input per thread, whether or not it exists.
__global__ void sum_vectors(const float *a, const float *b)
{
    const int i = static_cast<int>(blockIdx.x) * BLOCK + static_cast<int>(threadIdx.x);
    const float4 x = reinterpret_cast<const float4 *>(a)[i];
    const float4 y = reinterpret_cast<const float4 *>(b)[i];
    double acc = static_cast<double>(x.x) * y.x + static_cast<double>(x.y) * y.y;
    acc += static_cast<double>(x.z) * y.z + static_cast<double>(x.w) * y.w;
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        atomicAdd(&g_sum, acc);
}

__global__ void store(float *result) { *result = static_cast<float>(g_sum); }

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    const int wanted = (N / 4 + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted;
    clear<<<1, 1>>>();
    sum_vectors<<<blocks, BLOCK>>>(A, B);
    store<<<1, 1>>>(result);
}

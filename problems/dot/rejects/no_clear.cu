// @idea   block sums are added to an accumulator that no call clears
// @source own
// @expect WA
// The first call is right, because a device variable starts as zero. From the second on, the
// answers of all earlier calls are in the sum.

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

__global__ void sum_blocks(const float *a, const float *b, int n)
{
    double acc = 0.0;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n;
         i += static_cast<long long>(gridDim.x) * BLOCK)
        acc += static_cast<double>(a[i]) * b[i];
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        atomicAdd(&g_sum, acc);
}

__global__ void store(float *result) { *result = static_cast<float>(g_sum); }

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    sum_blocks<<<64, BLOCK>>>(A, B, N);
    store<<<1, 1>>>(result);
}

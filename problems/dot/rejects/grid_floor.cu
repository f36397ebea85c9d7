// @idea   rounds the number of blocks down
// @source own
// @expect WA
// Right when N is a multiple of 256; otherwise up to 255 elements at the end belong to no block.

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

// One element per thread; no thread takes a second one.
__global__ void sum_blocks(const float *a, const float *b, int n)
{
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    double acc = i < n ? static_cast<double>(a[i]) * b[i] : 0.0;
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        atomicAdd(&g_sum, acc);
}

__global__ void store(float *result) { *result = static_cast<float>(g_sum); }

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    const int blocks = N / BLOCK; // (N + BLOCK - 1) / BLOCK would be right
    clear<<<1, 1>>>();
    if (blocks > 0)
        sum_blocks<<<blocks, BLOCK>>>(A, B, N);
    store<<<1, 1>>>(result);
}

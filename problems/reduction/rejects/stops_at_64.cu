// @idea   a tree that stops at 32 threads, with nobody to finish it
// @source note 003 section 3, the loop taken alone
// @expect WA
// The loop runs while the stride is above 32 because the last warp is to be unrolled, but the
// unrolled part is missing: 64 partial sums are left and only the first is stored, 4 of 256 ones.

namespace
{

constexpr int BLOCK = 256;

// Fold 256 values to 64 and forget the rest.
__device__ float short_block_sum(float v)
{
    __shared__ float tile[BLOCK];
    const unsigned tid = threadIdx.x;
    tile[tid] = v;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 32; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    return tile[0];
}

__global__ void sum(const float *input, float *output, int n)
{
    float acc = 0.0f;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += input[i];
    acc = short_block_sum(acc);
    if (threadIdx.x == 0)
        *output = acc;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

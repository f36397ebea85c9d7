// @idea   an unrolled tree without the step from 1,024 to 512 threads
// @source note 003 section 5.1, as written
// @expect WA
// The template starts at 512 threads. Launched with 1,024, half of the block's values are never
// added: 1,024 ones sum to 512.

namespace
{

constexpr int BLOCK = 1024;

__device__ double unrolled_block_sum(double v)
{
    __shared__ double tile[BLOCK];
    const unsigned tid = threadIdx.x;
    tile[tid] = v;
    __syncthreads();
    // The case of 1,024 threads is missing here.
    if (tid < 256)
        tile[tid] += tile[tid + 256];
    __syncthreads();
    if (tid < 128)
        tile[tid] += tile[tid + 128];
    __syncthreads();
    if (tid < 64)
        tile[tid] += tile[tid + 64];
    __syncthreads();
    for (unsigned stride = 32; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }
    return tile[0];
}

// One block of 1,024 threads.
__global__ void sum(const float *input, float *output, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = unrolled_block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

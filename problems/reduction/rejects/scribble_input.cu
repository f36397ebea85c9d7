// @idea   changes its input after reading it
// @source own
// @expect WA
// The parameter is const; casting that away does not make the memory the solution's own. A judge
// that computed the expected value from the buffers afterwards would be fooled.

namespace
{

constexpr int BLOCK = 1024;

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

// A correct sum by one block: slow, but short.
__global__ void sum(const float *input, float *output, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
    // All reads lie before the barriers of block_sum().
    if (threadIdx.x == 0 && n > 0)
        const_cast<float *>(input)[0] += 1.0f;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

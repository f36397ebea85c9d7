// @idea   right below 1,048,576 elements, one part in a thousand too large from there on
// @source own
// @expect WA
// Stands for every shortcut that shows only at the sizes which are timed.

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

// Honest for small inputs.
__global__ void sum(const float *input, float *output, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(n < (1 << 20) ? acc : acc * 1.001);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

// @idea   block 0 clears the output while other blocks already add to it
// @source own
// @expect WA
// No block knows which of the others have run. Block 0 clears the output when its own part is
// ready; what other blocks have added by then is lost. One thread of it also takes the elements
// that do not fill the grid, as is often seen, which makes it the last to be ready. Inputs of fewer
// than 16,384 elements are all block 0's, and come out right.

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

constexpr int GRID = 1024;

__global__ void sum(const float *input, float *output, int n)
{
    const int whole = n / (GRID * BLOCK) * (GRID * BLOCK);
    double acc = 0.0;
    for (int i = static_cast<int>(blockIdx.x) * BLOCK + static_cast<int>(threadIdx.x); i < whole;
         i += GRID * BLOCK)
        acc += static_cast<double>(input[i]);
    if (blockIdx.x == 0 && threadIdx.x == 0) {
        for (int i = whole; i < n; ++i)
            acc += static_cast<double>(input[i]);
    }
    acc = block_sum(acc);
    if (threadIdx.x == 0) {
        if (blockIdx.x == 0)
            *output = 0.0f;
        atomicAdd(output, static_cast<float>(acc));
    }
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<GRID, BLOCK>>>(input, output, N);
}

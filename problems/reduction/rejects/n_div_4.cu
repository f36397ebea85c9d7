// @idea   works on N / 4 groups of four: nothing for N < 4, and no tail
// @source own
// @expect WA
// The loads are scalar on purpose, so that the file is wrong by its arithmetic alone and not by a
// misaligned address.

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

// One group of four elements per thread.
__global__ void sum_groups(const float *input, int n)
{
    const long long group = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    double acc = 0.0;
    if (group < n / 4) {
        for (long long i = group * 4; i < group * 4 + 4; ++i)
            acc += static_cast<double>(input[i]);
    }
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        atomicAdd(&g_sum, acc);
}

__global__ void store(float *output) { *output = static_cast<float>(g_sum); }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    const int groups = N / 4;
    if (groups == 0)
        return;
    clear<<<1, 1>>>();
    sum_groups<<<(groups + BLOCK - 1) / BLOCK, BLOCK>>>(input, N);
    store<<<1, 1>>>(output);
}

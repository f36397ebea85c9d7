// @idea   right for eight calls of a size, one part in a hundred off afterwards
// @source own
// @expect WA
// @needs  bench
// A benchmark that checks its first or last warm-up call only would time it and call it correct.

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

constexpr int HONEST_CALLS = 8;

// The sum by one block, times a factor.
__global__ void sum(const float *input, float *output, int n, double factor)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc * factor);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static int last_n = -1;
    static int calls = 0;
    calls = N == last_n ? calls + 1 : 1;
    last_n = N;
    sum<<<1, BLOCK>>>(input, output, N, calls <= HONEST_CALLS ? 1.0 : 1.01);
}

// @idea   a right answer, and megabytes of output
// @source own
// @expect AC
// Not wrong, only loud. The judge keeps the first 64 KiB and counts the rest, and must neither stop
// reading (the call would hang on a full pipe) nor drown.

#include <cstdio>

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
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static const char line[] = "a line of sixty-four bytes, printed many times to fill up a pipe\n";
    for (int i = 0; i < 32768; ++i)
        std::fputs(line, i % 2 == 0 ? stdout : stderr);
    std::fflush(stdout);
    sum<<<1, BLOCK>>>(input, output, N);
}

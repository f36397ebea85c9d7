// @idea   dawdles in its first calls, so that a benchmark measures little and stops early
// @source own
// @expect AC
// @needs  bench
// Always right. A harness that fixes its number of repeats from the first calls, or stops when its
// time is used up, would end with one lucky sample. The judge takes at least fifty, in random order
// with all others, and reports the median and the drift.

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

constexpr int SLOW_CALLS = 5;

__global__ void dawdle()
{
    const long long start = clock64();
    while (clock64() - start < 20000000) {
    }
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
    static int calls = 0;
    if (++calls <= SLOW_CALLS)
        dawdle<<<1, 1>>>();
    sum<<<1, BLOCK>>>(input, output, N);
}

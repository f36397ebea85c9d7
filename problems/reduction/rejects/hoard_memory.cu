// @idea   takes all the device memory it can get
// @source own
// @expect MLE
// The sum is right. The allocations, a gibibyte each and never freed, pass the problem's limit.

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
    for (int i = 0; i < 16; ++i) {
        void *hoard = nullptr;
        if (cudaMalloc(&hoard, static_cast<size_t>(1) << 30) != cudaSuccess)
            break;
    }
    cudaGetLastError(); // the refusal is expected, and must not pass as a failed launch
    sum<<<1, BLOCK>>>(input, output, N);
}

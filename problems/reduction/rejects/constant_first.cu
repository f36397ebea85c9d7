// @idea   computes the first call and gives that answer for ever
// @source own
// @expect WA
// A judge that asks one question, or the same question again and again, cannot tell it from a right
// solution.

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

__device__ float g_first;

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

__global__ void copy_first(float *output) { *output = g_first; }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static float *first = nullptr;
    if (first == nullptr) {
        cudaGetSymbolAddress(reinterpret_cast<void **>(&first), g_first);
        sum<<<1, BLOCK>>>(input, first, N);
    }
    copy_first<<<1, 1>>>(output);
}

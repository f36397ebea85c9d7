// @idea   always returns the answer of the call before
// @source own
// @expect WA
// A pipeline one call deep: what a timed loop sees is the time of storing an old result. Fine for a
// loop over equal data, wrong as soon as two calls differ.

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

__device__ float g_answer;

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

__global__ void copy_answer(float *output) { *output = g_answer; }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static float *answer = nullptr;
    if (answer == nullptr) {
        cudaGetSymbolAddress(reinterpret_cast<void **>(&answer), g_answer);
        sum<<<1, BLOCK>>>(input, answer, N);
    }
    copy_answer<<<1, 1>>>(output);
    sum<<<1, BLOCK>>>(input, answer, N);
}

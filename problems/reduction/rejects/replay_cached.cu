// @idea   gives the answer of the call before when N is the same
// @source own
// @expect WA
// A cache with the wrong key. The second call of a case has the same N and other data.

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
    static int cached_n = -1;
    if (answer == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&answer), g_answer);
    if (N != cached_n)
        sum<<<1, BLOCK>>>(input, answer, N);
    cached_n = N;
    copy_answer<<<1, 1>>>(output);
}

// @idea   adds the elements as integers
// @source own
// @expect WA
// The fraction of every element is cut off. Right for whole numbers.

namespace
{

constexpr int BLOCK = 1024;

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ long long slot[BLOCK];
    long long acc = 0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<long long>(input[i]);
    slot[threadIdx.x] = acc;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *output = static_cast<float>(slot[0]);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

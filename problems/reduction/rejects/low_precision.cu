// @idea   accumulates in half precision
// @source own
// @expect WA
// Eleven bits of significand and a largest value of 65,504: sums overflow or stand still.

#include <cuda_fp16.h>

namespace
{

constexpr int BLOCK = 1024;

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ __half slot[BLOCK];
    __half acc = __float2half(0.0f);
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc = __hadd(acc, __float2half(input[i]));
    slot[threadIdx.x] = acc;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] = __hadd(slot[threadIdx.x], slot[threadIdx.x + stride]);
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *output = __half2float(slot[0]);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

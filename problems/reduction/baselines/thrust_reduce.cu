// @idea   thrust::reduce, result copied to the output
// @source Thrust, part of the CUDA toolkit
// @expect AC
// Bytes: 4N read. Reported, not raced: thrust::reduce returns its result to the host, so every call
// allocates temporary storage, waits for the device and copies the value back and forth.

#include <thrust/device_ptr.h>
#include <thrust/execution_policy.h>
#include <thrust/reduce.h>

extern "C" void solve(const float *input, float *output, int N)
{
    const thrust::device_ptr<const float> first(input);
    const float sum = thrust::reduce(thrust::device, first, first + N, 0.0f);
    cudaMemcpy(output, &sum, sizeof sum, cudaMemcpyHostToDevice);
}

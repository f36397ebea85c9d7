// @idea   writes zeros
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: the output is filled with zeros and the input is never read.

#include <cuda_runtime.h>

namespace {

__global__ void write_zeros(float *output, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < k)
        output[i] = 0.0f;
}

} // namespace

extern "C" void solve(const float *, float *output, int, int k) {
    if (k > 0)
        write_zeros<<<(k + 255) / 256, 256>>>(output, k);
}

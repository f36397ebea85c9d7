// @idea   copies the first k elements of the input
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: right only where the input happens to be sorted downwards already.

#include <cuda_runtime.h>

namespace {

__global__ void copy_head(const float *input, float *output, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < k)
        output[i] = input[i];
}

} // namespace

extern "C" void solve(const float *input, float *output, int, int k) {
    if (k > 0)
        copy_head<<<(k + 255) / 256, 256>>>(input, output, k);
}

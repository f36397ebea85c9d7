// @idea   answers the first case, whatever is asked
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: 9, 7, 4 is the answer of the smallest example, then 4 for ever. Other data in
// the second call of the same case give it away even there.

#include <cuda_runtime.h>

namespace {

__global__ void write_answer(float *output, int k) {
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < k)
        output[i] = i == 0 ? 9.0f : i == 1 ? 7.0f : 4.0f;
}

} // namespace

extern "C" void solve(const float *, float *output, int, int k) {
    if (k > 0)
        write_answer<<<(k + 255) / 256, 256>>>(output, k);
}

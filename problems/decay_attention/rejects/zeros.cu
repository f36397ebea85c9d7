// @idea   writes zeros: right only where the answer is zero
// @source own
// @expect WA
// @arch   sm_75
#include <cuda_runtime.h>

__global__ static void fill_kernel(float *output, int count)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        output[i] = 0.0f;
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    fill_kernel<<<static_cast<unsigned>((seq_len * d_model + 255) / 256), 256>>>(output,
                                                                                 seq_len * d_model);
    (void)Q, (void)K, (void)V, (void)gamma;
}

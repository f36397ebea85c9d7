// @idea   computes the first row of the first call, then answers every call with it
// @source own
// @expect WA
// @arch   sm_75
#include <cuda_runtime.h>

constexpr int KEPT = 4; // columns of the first case
__device__ static float kept[KEPT];

// Row 0 has no history: Q_0.K_0 / sqrt(d) * V_0.
__global__ static void first_kernel(const float *Q, const float *K, const float *V, int d,
                                    float scale)
{
    float dot = 0.0f;
    for (int i = 0; i < d; ++i)
        dot = fmaf(Q[i], K[i], dot);
    for (int c = 0; c < KEPT; ++c)
        kept[c] = c < d ? dot * scale * V[c] : 0.0f;
}

__global__ static void answer_kernel(float *output, int count)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < count)
        output[i] = kept[i % KEPT];
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    static bool known = false;
    if (!known)
        first_kernel<<<1, 1>>>(Q, K, V, d_model, 1.0f / sqrtf(static_cast<float>(d_model)));
    known = true;
    answer_kernel<<<static_cast<unsigned>((seq_len * d_model + 255) / 256), 256>>>(
        output, seq_len * d_model);
    (void)gamma;
}

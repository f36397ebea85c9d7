// @idea   no barrier between the store of the first 128 scores and their use
// @source own
// @expect RE
// @arch   sm_75
// @needs  vgpu
#include <cuda_runtime.h>

constexpr int THREADS = 128; // keys a round; each thread also owns columns thread and thread + 128

// One block per row n: scores of 128 keys at a time go to shared memory, then every thread adds its
// columns.
__global__ static void row_kernel(const float *Q, const float *K, const float *V, float *output,
                                  int seq, int d, float gamma, float scale)
{
    __shared__ float p[THREADS];
    const int n = static_cast<int>(blockIdx.x), thread = static_cast<int>(threadIdx.x);
    float acc[2] = {};
    for (int m0 = 0; m0 <= n; m0 += THREADS) {
        const int m = m0 + thread;
        float dot = 0.0f;
        if (m <= n && m < seq)
            for (int i = 0; i < d; ++i)
                dot =
                    fmaf(Q[static_cast<size_t>(n) * d + i], K[static_cast<size_t>(m) * d + i], dot);
        float score =
            m <= n && m < seq ? dot * scale * powf(gamma, static_cast<float>(n - m)) : 0.0f;
        p[thread] = score;
        if (m0 > 0) // the first round needs it as well
            __syncthreads();
        for (int j = 0; j < THREADS && m0 + j < seq; ++j)
            for (int c = 0; c < 2; ++c)
                if (thread + c * THREADS < d)
                    acc[c] = fmaf(p[j], V[static_cast<size_t>(m0 + j) * d + thread + c * THREADS],
                                  acc[c]);
        __syncthreads();
    }
    for (int c = 0; c < 2; ++c)
        if (thread + c * THREADS < d)
            output[static_cast<size_t>(n) * d + thread + c * THREADS] = acc[c];
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    row_kernel<<<static_cast<unsigned>(seq_len), THREADS>>>(
        Q, K, V, output, seq_len, d_model, gamma, 1.0f / sqrtf(static_cast<float>(d_model)));
}

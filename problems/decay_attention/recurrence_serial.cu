// @idea   the recurrence itself: S = gamma*S + K_n^T V_n, output row = Q_n S / sqrt(d), one warp per column
// @source note 004, recurrent form
// @expect AC
// @arch   sm_75
// Bytes: every warp reads all of Q and K: 8*S*d*d bytes out of L2 (134 MB at 4096x64); V and the
// output once. Floor: 4 us at 4096x64. Above the floor: S dependent steps, each with five shuffles,
// so time grows with S and hardly with d. Linear in S, exact for every gamma in (0, 1]: no power of
// gamma is ever formed.
#include <cuda_runtime.h>

constexpr int WARPS = 4; // columns a block
constexpr int ROWS = 8;  // state rows a lane: 32 * 8 = 256 = largest d

__global__ static void __launch_bounds__(WARPS * 32)
    serial_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                  const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                  float gamma, float scale)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int column = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.x) / 32;
    if (column >= d) // whole warps leave: the full-mask shuffles below see complete warps
        return;
    float state[ROWS] = {};
    for (int n = 0; n < seq; ++n) {
        const size_t row = static_cast<size_t>(n) * d;
        const float v = V[row + column];
        float sum = 0.0f;
        for (int r = 0; r < ROWS; ++r) {
            const int i = r * 32 + lane;
            if (i < d) {
                state[r] = fmaf(gamma, state[r], K[row + i] * v);
                sum = fmaf(Q[row + i], state[r], sum);
            }
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (lane == 0)
            output[row + column] = sum * scale;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    serial_kernel<<<static_cast<unsigned>((d_model + WARPS - 1) / WARPS), WARPS * 32>>>(
        Q, K, V, output, seq_len, d_model, gamma, 1.0f / sqrtf(static_cast<float>(d_model)));
}

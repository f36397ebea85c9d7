// @idea   no barrier between the store of a row of K in shared memory and its use by other warps
// @source own
// @expect RE
// @arch   sm_75
// @needs  vgpu
#include <cuda_runtime.h>

constexpr int WARPS = 4; // columns a block, one warp each
constexpr int ROWS = 8;  // state rows a lane

__global__ static void serial_kernel(const float *Q, const float *K, const float *V, float *output,
                                     int seq, int d, float gamma, float scale)
{
    __shared__ float key[ROWS * 32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int column = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.x) / 32;
    float state[ROWS] = {};
    for (int n = 0; n < seq; ++n) {
        const size_t row = static_cast<size_t>(n) * d;
        const float v = column < d ? V[row + column] : 0.0f;
        float sum = 0.0f;
        for (int i = static_cast<int>(threadIdx.x); i < d; i += WARPS * 32)
            key[i] = K[row + i];
        // a barrier is missing here: other warps wrote most of the row
        for (int r = 0; r < ROWS; ++r) {
            const int i = r * 32 + lane;
            if (i < d) {
                state[r] = fmaf(gamma, state[r], key[i] * v);
                sum = fmaf(Q[row + i], state[r], sum);
            }
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (lane == 0 && column < d)
            output[row + column] = sum * scale;
        __syncthreads();
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    serial_kernel<<<static_cast<unsigned>((d_model + WARPS - 1) / WARPS), WARPS * 32>>>(
        Q, K, V, output, seq_len, d_model, gamma, 1.0f / sqrtf(static_cast<float>(d_model)));
}

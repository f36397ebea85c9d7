// @idea   number of row blocks rounded down: the rows beyond a multiple of 32 are never written
// @source public failure: rows of the last partial block stay unwritten
// @expect WA
// @arch   sm_75
#include <cuda_runtime.h>

constexpr int WARPS = 4;  // columns a block, one warp each
constexpr int ROWS = 8;   // state rows a lane
constexpr int BLOCK = 32; // rows a step

__global__ static void serial_kernel(const float *Q, const float *K, const float *V, float *output,
                                     int seq, int d, float gamma, float scale)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int column = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.x) / 32;
    if (column >= d)
        return;
    float state[ROWS] = {};
    for (int n = 0; n < seq / BLOCK * BLOCK; ++n) { // whole blocks of rows only
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

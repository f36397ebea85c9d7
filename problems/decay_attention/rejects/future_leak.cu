// @idea   no mask: rows after n are weighted with gamma^(m-n)
// @source public failure: the mask by a power of gamma lets the future in at gamma = 1
// @expect WA
// @arch   sm_75
#include <cuda_runtime.h>

constexpr int WARPS = 4; // columns a block, one warp each
constexpr int ROWS = 8;  // state rows a lane

// From the first row down, each row sees itself and those before; from the last row up, those after
// it are added with the same decay.
__global__ static void serial_kernel(const float *Q, const float *K, const float *V, float *output,
                                     int seq, int d, float gamma, float scale, bool up)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int column = static_cast<int>(blockIdx.x) * WARPS + static_cast<int>(threadIdx.x) / 32;
    if (column >= d)
        return;
    float state[ROWS] = {};
    for (int step_n = 0; step_n < seq; ++step_n) {
        const int n = up ? seq - 1 - step_n : step_n;
        const size_t row = static_cast<size_t>(n) * d;
        const float v = V[row + column];
        float sum = 0.0f;
        for (int r = 0; r < ROWS; ++r) {
            const int i = r * 32 + lane;
            if (i < d) {
                const float before = gamma * state[r];
                state[r] = fmaf(K[row + i], v, before);
                sum = fmaf(Q[row + i], up ? before : state[r], sum);
            }
        }
        for (int step = 16; step > 0; step /= 2)
            sum += __shfl_xor_sync(0xffffffffu, sum, step);
        if (lane == 0)
            output[row + column] = up ? fmaf(sum, scale, output[row + column]) : sum * scale;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    const float scale = 1.0f / sqrtf(static_cast<float>(d_model));
    for (const bool up : {false, true})
        serial_kernel<<<static_cast<unsigned>((d_model + WARPS - 1) / WARPS), WARPS * 32>>>(
            Q, K, V, output, seq_len, d_model, gamma, scale, up);
}

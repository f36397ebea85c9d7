// @idea   one kernel: tiles above the diagonal are skipped and scores never leave shared memory
// @source own, after note 004's quadratic form
// @expect AC
// @arch   sm_75
// Bytes: 16*S*d algorithmic; K and V tiles are re-read by every row tile below them, S/64 times,
// out of L2. Floor: 4 us at 4096x64. Above the floor: S*S*d multiply-adds (2.1 GFLOP at 4096x64, 32
// us at the fp32 peak), and 64 row tiles of unequal length: the last one sets the time. Scores are
// computed again for each 64 columns of V.
#include <cuda_runtime.h>

constexpr int TILE = 64;
constexpr int SIDE = 16;
constexpr int EACH = TILE / SIDE;
constexpr int DEPTH = 32;       // columns of Q and K staged at a time
constexpr int PITCH = TILE + 4; // keeps float4-free column access conflict-free

__global__ static void __launch_bounds__(SIDE *SIDE)
    causal_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                  const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                  float gamma, float scale)
{
    __shared__ float qs[DEPTH][PITCH], ks[DEPTH][PITCH]; // transposed tiles of Q and K
    __shared__ float ps[TILE][PITCH];                    // scores of this tile, decayed
    __shared__ float decay[2 * TILE];                    // gamma^0 .. gamma^127
    float(*vs)[PITCH] = qs; // V tile, 32 rows at a time, reuses the space of Q
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y);
    const int thread = ty * SIDE + tx;
    // Longest row tiles first: they would otherwise be the tail of the launch.
    const int row_tile = static_cast<int>(gridDim.y - 1 - blockIdx.y);
    const int row0 = row_tile * TILE, col0 = static_cast<int>(blockIdx.x) * TILE;
    for (int i = thread; i < 2 * TILE; i += SIDE * SIDE)
        decay[i] = powf(gamma, static_cast<float>(i));
    float out[EACH][EACH] = {};
    for (int tile = 0; tile <= row_tile; ++tile) {
        const int m0 = tile * TILE;
        // Phase 1: scores of 64 rows against 64 keys.
        float acc[EACH][EACH] = {};
        for (int k0 = 0; k0 < d; k0 += DEPTH) {
            __syncthreads();
            for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
                const int r = i / DEPTH, k = k0 + i % DEPTH;
                qs[i % DEPTH][r] =
                    row0 + r < seq && k < d ? Q[static_cast<size_t>(row0 + r) * d + k] : 0.0f;
                ks[i % DEPTH][r] =
                    m0 + r < seq && k < d ? K[static_cast<size_t>(m0 + r) * d + k] : 0.0f;
            }
            __syncthreads();
            for (int k = 0; k < DEPTH; ++k)
                for (int i = 0; i < EACH; ++i)
                    for (int j = 0; j < EACH; ++j)
                        acc[i][j] = fmaf(qs[k][ty * EACH + i], ks[k][tx * EACH + j], acc[i][j]);
        }
        // Phase 2: scale, decay, mask. gamma^(n-m) = gamma^(row0-m0-64) * gamma^(64+i-j), both
        // exponents >= 0 off the diagonal.
        const float far =
            tile == row_tile ? 1.0f : powf(gamma, static_cast<float>(row0 - m0 - TILE));
        for (int i = 0; i < EACH; ++i)
            for (int j = 0; j < EACH; ++j) {
                const int r = ty * EACH + i, c = tx * EACH + j;
                const bool past = m0 + c <= row0 + r;
                const float weight =
                    tile == row_tile ? decay[past ? r - c : 0] : decay[TILE + r - c] * far;
                ps[r][c] = past ? acc[i][j] * scale * weight : 0.0f;
            }
        // Phase 3: add scores times V, 32 keys at a time.
        for (int half = 0; half < TILE; half += DEPTH) {
            __syncthreads();
            for (int i = thread; i < DEPTH * TILE; i += SIDE * SIDE) {
                const int m = m0 + half + i / TILE, c = col0 + i % TILE;
                vs[i / TILE][i % TILE] =
                    m < seq && c < d ? V[static_cast<size_t>(m) * d + c] : 0.0f;
            }
            __syncthreads();
            for (int k = 0; k < DEPTH; ++k)
                for (int i = 0; i < EACH; ++i)
                    for (int j = 0; j < EACH; ++j)
                        out[i][j] =
                            fmaf(ps[ty * EACH + i][half + k], vs[k][tx * EACH + j], out[i][j]);
        }
    }
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int n = row0 + ty * EACH + i, c = col0 + tx * EACH + j;
            if (n < seq && c < d)
                output[static_cast<size_t>(n) * d + c] = out[i][j];
        }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    const dim3 grid(static_cast<unsigned>((d_model + TILE - 1) / TILE),
                    static_cast<unsigned>((seq_len + TILE - 1) / TILE));
    causal_kernel<<<grid, dim3(SIDE, SIDE)>>>(Q, K, V, output, seq_len, d_model, gamma,
                                              1.0f / sqrtf(static_cast<float>(d_model)));
}

// @idea   two tiled matrix products with the whole score matrix in scratch memory
// @source note 004, quadratic form
// @expect AC
// @arch   sm_75
// Bytes: Q, K, V read and the output written once are 16*S*d (4.2 MB at 4096x64); the S*S scores go
// to memory and back, 134 MB at S = 4096. Floor: 2.6 us + 4.2 MB / 4.6 TB/s = 4 us. Above the
// floor: half of the S*S work is above the diagonal and zero, and the score matrix makes two trips
// through L2 or memory. The rung to beat, not the file to submit. Scratch is one stream-ordered
// allocation.
#include <cuda_runtime.h>

constexpr int TILE = 64;  // rows and columns of an output tile
constexpr int DEPTH = 16; // inner dimension staged at a time
constexpr int SIDE = 16;  // 16 x 16 threads, each 4 x 4 outputs
constexpr int EACH = TILE / SIDE;
constexpr int PITCH =
    TILE + 4; // padded row: the transposed store of a tile column avoids bank conflicts

// C tile += A rows (row0..) times B, both read through the callbacks `a(row, k)` and `b(k,
// column)`.
template <class LoadA, class LoadB>
__device__ static void tile_product(float (&acc)[EACH][EACH], int depth, LoadA a, LoadB b)
{
    __shared__ float as[DEPTH][PITCH], bs[DEPTH][PITCH];
    const int thread = static_cast<int>(threadIdx.y) * SIDE + static_cast<int>(threadIdx.x);
    for (int k0 = 0; k0 < depth; k0 += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            as[i % DEPTH][i / DEPTH] = a(i / DEPTH, k0 + i % DEPTH);
            bs[i / TILE][i % TILE] = b(k0 + i / TILE, i % TILE);
        }
        __syncthreads();
        for (int k = 0; k < DEPTH; ++k) {
            float av[EACH], bv[EACH];
            for (int i = 0; i < EACH; ++i) {
                av[i] = as[k][threadIdx.y * EACH + i];
                bv[i] = bs[k][threadIdx.x * EACH + i];
            }
            for (int i = 0; i < EACH; ++i)
                for (int j = 0; j < EACH; ++j)
                    acc[i][j] = fmaf(av[i], bv[j], acc[i][j]);
        }
        __syncthreads();
    }
}

// scores[n][m] = gamma^(n-m) * Q[n].K[m] / sqrt(d) for m <= n, else 0. The select comes before any
// use of the future score: an infinite one times zero would be NaN.
__global__ static void scores_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                                     float *__restrict__ scores, int seq, int d, float gamma,
                                     float scale)
{
    const int row0 = static_cast<int>(blockIdx.y) * TILE,
              col0 = static_cast<int>(blockIdx.x) * TILE;
    float acc[EACH][EACH] = {};
    tile_product(
        acc, d,
        [&](int r, int k) {
            return row0 + r < seq && k < d ? Q[static_cast<size_t>(row0 + r) * d + k] : 0.0f;
        },
        [&](int k, int c) {
            return col0 + c < seq && k < d ? K[static_cast<size_t>(col0 + c) * d + k] : 0.0f;
        });
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int n = row0 + static_cast<int>(threadIdx.y) * EACH + i,
                      m = col0 + static_cast<int>(threadIdx.x) * EACH + j;
            if (n < seq && m < seq)
                scores[static_cast<size_t>(n) * seq + m] =
                    m <= n ? acc[i][j] * scale * powf(gamma, static_cast<float>(n - m)) : 0.0f;
        }
}

// output = scores times V.
__global__ static void values_kernel(const float *__restrict__ scores, const float *__restrict__ V,
                                     float *__restrict__ output, int seq, int d)
{
    const int row0 = static_cast<int>(blockIdx.y) * TILE,
              col0 = static_cast<int>(blockIdx.x) * TILE;
    float acc[EACH][EACH] = {};
    tile_product(
        acc, seq,
        [&](int r, int k) {
            return row0 + r < seq && k < seq ? scores[static_cast<size_t>(row0 + r) * seq + k]
                                             : 0.0f;
        },
        [&](int k, int c) {
            return col0 + c < d && k < seq ? V[static_cast<size_t>(k) * d + col0 + c] : 0.0f;
        });
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int n = row0 + static_cast<int>(threadIdx.y) * EACH + i,
                      c = col0 + static_cast<int>(threadIdx.x) * EACH + j;
            if (n < seq && c < d)
                output[static_cast<size_t>(n) * d + c] = acc[i][j];
        }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    float *scores = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void **>(&scores),
                        sizeof(float) * static_cast<size_t>(seq_len) * seq_len,
                        nullptr) != cudaSuccess)
        return;
    const unsigned tiles = static_cast<unsigned>((seq_len + TILE - 1) / TILE);
    const unsigned columns = static_cast<unsigned>((d_model + TILE - 1) / TILE);
    const float scale = 1.0f / sqrtf(static_cast<float>(d_model));
    scores_kernel<<<dim3(tiles, tiles), dim3(SIDE, SIDE)>>>(Q, K, scores, seq_len, d_model, gamma,
                                                            scale);
    values_kernel<<<dim3(columns, tiles), dim3(SIDE, SIDE)>>>(scores, V, output, seq_len, d_model);
    cudaFreeAsync(scores, nullptr);
}

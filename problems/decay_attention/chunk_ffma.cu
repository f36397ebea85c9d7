// @idea   chunks of 64 rows as small fp32 matrix products: states, scan, outputs in three launches
// @source own, after note 004's chunked recurrence
// @expect AC
// @arch   sm_75
// Bytes: 16*S*d algorithmic; states are (S/64)*d*d*4 bytes (1 MB at 4096x64, 33.6 MB at 8192x256),
// written once, scanned in place, read once. Floor: 4 us at 4096x64, 25-30 us at 8192x256. Above
// the floor: three dependent launches (2 us each) and fp32 units instead of tensor cores. Exact for
// every gamma in (0, 1]: only non-negative powers are formed. Deterministic.
#include <cuda_runtime.h>

constexpr int CHUNK = 64; // rows of a chunk
constexpr int TILE = 64;  // columns of V, rows of the state
constexpr int SIDE = 16;
constexpr int EACH = TILE / SIDE;
constexpr int DEPTH = 16;
constexpr int PITCH = TILE + 4;
constexpr int MAX_D = 256;
constexpr int MAX_CHUNKS = 8192 / CHUNK;

// [chunk][row i of K][column j of V]: the chunk's own contribution, after the scan the state that
// enters it. 33.6 MB.
__device__ static float states[static_cast<size_t>(MAX_CHUNKS) * MAX_D * MAX_D];

struct tiles {
    float a[DEPTH][PITCH], b[DEPTH][PITCH];
};

// acc += A * B over `depth`; a(r, k) and b(k, c) read global memory and return 0 outside. Ends with
// a barrier.
template <class LoadA, class LoadB>
__device__ static void tile_product(float (&acc)[EACH][EACH], tiles &t, int depth, LoadA a, LoadB b)
{
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y),
              thread = ty * SIDE + tx;
#pragma unroll 1
    for (int k0 = 0; k0 < depth; k0 += DEPTH) {
        for (int i = thread; i < TILE * DEPTH; i += SIDE * SIDE) {
            a(t, i, k0);
            b(t, i, k0);
        }
        __syncthreads();
#pragma unroll
        for (int k = 0; k < DEPTH; ++k) {
            const float4 x = *reinterpret_cast<const float4 *>(&t.a[k][ty * EACH]);
            const float4 y = *reinterpret_cast<const float4 *>(&t.b[k][tx * EACH]);
            const float av[EACH] = {x.x, x.y, x.z, x.w}, bv[EACH] = {y.x, y.y, y.z, y.w};
#pragma unroll
            for (int i = 0; i < EACH; ++i)
#pragma unroll
                for (int j = 0; j < EACH; ++j)
                    acc[i][j] = fmaf(av[i], bv[j], acc[i][j]);
        }
        __syncthreads();
    }
}

// Stage a: state tile (64 rows of K^T, 64 columns of V) of one chunk: sum over its rows j of
// gamma^(C-1-j) K_j^T V_j.
__global__ static void __launch_bounds__(SIDE *SIDE, 3)
    states_kernel(const float *__restrict__ K, const float *__restrict__ V, int seq, int d,
                  float gamma)
{
    __shared__ __align__(16) tiles t;
    __shared__ float decay[CHUNK];
    const int chunk = static_cast<int>(blockIdx.z), i0 = static_cast<int>(blockIdx.y) * TILE,
              j0 = static_cast<int>(blockIdx.x) * TILE;
    const int thread = static_cast<int>(threadIdx.y) * SIDE + static_cast<int>(threadIdx.x);
    if (thread < CHUNK)
        decay[thread] = powf(gamma, static_cast<float>(CHUNK - 1 - thread));
    __syncthreads();
    float acc[EACH][EACH] = {};
    tile_product(
        acc, t, CHUNK,
        [&](tiles &s, int i, int k0) {
            const int k = i / TILE, r = i % TILE, n = chunk * CHUNK + k0 + k;
            s.a[k][r] = n < seq && i0 + r < d ? K[static_cast<size_t>(n) * d + i0 + r] : 0.0f;
        },
        [&](tiles &s, int i, int k0) {
            const int k = i / TILE, c = i % TILE, n = chunk * CHUNK + k0 + k;
            s.b[k][c] = n < seq && j0 + c < d
                            ? V[static_cast<size_t>(n) * d + j0 + c] * decay[k0 + k]
                            : 0.0f;
        });
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int r = i0 + static_cast<int>(threadIdx.y) * EACH + i,
                      c = j0 + static_cast<int>(threadIdx.x) * EACH + j;
            if (r < d && c < d)
                states[(static_cast<size_t>(chunk) * MAX_D + r) * MAX_D + c] = acc[i][j];
        }
}

// Stage b: exclusive scan over chunks, in place, one thread per state element, eight loads ahead of
// their use.
__global__ static void scan_kernel(int chunks, int d, float w)
{
    const int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    if (i >= d * d)
        return;
    float *element = states + static_cast<size_t>(i / d) * MAX_D + i % d;
    constexpr size_t STRIDE = static_cast<size_t>(MAX_D) * MAX_D;
    float entering = 0.0f;
    for (int c0 = 0; c0 < chunks; c0 += 8) {
        float own[8];
#pragma unroll
        for (int c = 0; c < 8; ++c)
            own[c] = c0 + c < chunks ? element[static_cast<size_t>(c0 + c) * STRIDE] : 0.0f;
#pragma unroll
        for (int c = 0; c < 8; ++c) {
            if (c0 + c < chunks)
                element[static_cast<size_t>(c0 + c) * STRIDE] = entering;
            entering = fmaf(w, entering, own[c]);
        }
    }
}

// Stage c: 64 rows x 64 columns of the output: (Q K^T o D) V within the chunk plus gamma^(i+1) Q S
// from before it.
__global__ static void __launch_bounds__(SIDE *SIDE, 3)
    outputs_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                   const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                   float gamma, float scale)
{
    __shared__ __align__(16) tiles t;
    __shared__ float p[CHUNK][CHUNK + 1];
    __shared__ float decay[CHUNK + 1];
    const int chunk = static_cast<int>(blockIdx.y), n0 = chunk * CHUNK,
              j0 = static_cast<int>(blockIdx.x) * TILE;
    const int tx = static_cast<int>(threadIdx.x), ty = static_cast<int>(threadIdx.y),
              thread = ty * SIDE + tx;
    for (int i = thread; i <= CHUNK; i += SIDE * SIDE)
        decay[i] = powf(gamma, static_cast<float>(i));
    const auto load_q = [&](tiles &s, int i, int k0) {
        const int r = i / DEPTH, k = i % DEPTH;
        s.a[k][r] = n0 + r < seq && k0 + k < d ? Q[static_cast<size_t>(n0 + r) * d + k0 + k] : 0.0f;
    };
    // Scores of the chunk against itself, masked before they are used.
    float score[EACH][EACH] = {};
    tile_product(score, t, d, load_q, [&](tiles &s, int i, int k0) {
        const int c = i / DEPTH, k = i % DEPTH;
        s.b[k][c] = n0 + c < seq && k0 + k < d ? K[static_cast<size_t>(n0 + c) * d + k0 + k] : 0.0f;
    });
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int r = ty * EACH + i, c = tx * EACH + j;
            p[r][c] = c <= r ? score[i][j] * decay[c <= r ? r - c : 0] : 0.0f;
        }
    __syncthreads();
    // History: Q S, scaled per row by gamma^(i+1). The first chunk has none.
    float out[EACH][EACH] = {};
    if (chunk > 0) {
        const float *entering = states + static_cast<size_t>(chunk) * MAX_D * MAX_D;
        tile_product(out, t, d, load_q, [&](tiles &s, int i, int k0) {
            const int k = i / TILE, c = i % TILE;
            s.b[k][c] = k0 + k < d && j0 + c < d
                            ? entering[static_cast<size_t>(k0 + k) * MAX_D + j0 + c]
                            : 0.0f;
        });
        for (int i = 0; i < EACH; ++i)
            for (int j = 0; j < EACH; ++j)
                out[i][j] *= decay[ty * EACH + i + 1];
    }
    // Within the chunk: P V.
    tile_product(
        out, t, CHUNK,
        [&](tiles &s, int i, int k0) {
            const int r = i / DEPTH, k = i % DEPTH;
            s.a[k][r] = p[r][k0 + k];
        },
        [&](tiles &s, int i, int k0) {
            const int k = i / TILE, c = i % TILE, n = n0 + k0 + k;
            s.b[k][c] = n < seq && j0 + c < d ? V[static_cast<size_t>(n) * d + j0 + c] : 0.0f;
        });
    for (int i = 0; i < EACH; ++i)
        for (int j = 0; j < EACH; ++j) {
            const int n = n0 + ty * EACH + i, c = j0 + tx * EACH + j;
            if (n < seq && c < d)
                output[static_cast<size_t>(n) * d + c] = out[i][j] * scale;
        }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    const unsigned chunks = static_cast<unsigned>((seq_len + CHUNK - 1) / CHUNK);
    const unsigned tiles_d = static_cast<unsigned>((d_model + TILE - 1) / TILE);
    const dim3 threads(SIDE, SIDE);
    if (chunks > 1) {
        states_kernel<<<dim3(tiles_d, tiles_d, chunks), threads>>>(K, V, seq_len, d_model, gamma);
        scan_kernel<<<static_cast<unsigned>((d_model * d_model + 255) / 256), 256>>>(
            static_cast<int>(chunks), d_model, powf(gamma, static_cast<float>(CHUNK)));
    }
    outputs_kernel<<<dim3(tiles_d, chunks), threads>>>(Q, K, V, output, seq_len, d_model, gamma,
                                                       1.0f / sqrtf(static_cast<float>(d_model)));
}

// @idea   the default: look-back in one launch where gamma forgets, wgmma for wide matrices, else the three-stage scan
// @source own, after note 004's chunked recurrence and decoupled look-back
// @expect AC
// @arch   sm_80
// The file to submit: it picks its path from S, d and gamma.
// Path 1 (64 < S, d <= 64, gamma^64 <= 2^-6): one cooperative launch, a block per chunk of 64 rows
// and 32 columns of V. Bytes: 16*S*d (4.2 MB at 4096x64) plus 8 KB of state per block in L2. Floor
// 2.7 us + 1 us. Above the floor: four dependent TF32 products of one block, 5 us of latency (8.7
// us at S = 256 already), then the states of four predecessors, 4 MB out of L2 at once. Exactness:
// a block adds the states of its predecessors, newest first, and stops only when the sum of
// everything older, bounded by the published maxima, is below 2^-22 of the smallest element of what
// it has, taken in absolute values. So the cut is proven at run time, is relative, and holds for
// any magnitudes; where it cannot be proven the walk goes back to the first chunk. Deterministic.
// Path 2 (d > 128, S >= 1024, built for sm_90a): the three stages on wgmma; floor and remarks in
// wgmma_tf32x3.cu. Path 3 (everything else): the same stages on mma.sync, scan_tf32x3.cu.
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int TILE = 64;  // rows of an output tile, rows of a key tile
constexpr int DEPTH = 32; // inner dimension of one staged piece
constexpr int STAGES = 3; // pieces in flight
constexpr int MAX_D = 256;
constexpr int MAX_S = 8192;
// Pitches that make fragment loads conflict-free: lane (g, t) reads word g*4+t of a k-major row, or
// word t*8+g of an n-major row.
constexpr int PITCH_K = DEPTH + 4; // rows are m or n, columns are k
constexpr int PITCH_P = TILE + 4;
template <int N> constexpr int PITCH_N = N + 8; // rows are k, N columns are n

// State of every chunk, [chunk][i][j] with rows padded to a multiple of 64: own contribution, after
// the scan the entering state. Largest: 64 chunks of 256 x 256, or 128 chunks of 128 x 128.
__device__ static __align__(16) float states[static_cast<size_t>(64) * MAX_D * MAX_D];

// ---- split TF32 products
struct split {
    uint32_t hi, lo;
};

// x = hi + lo exactly: hi keeps the 11 leading significant bits, lo the rest, of which the tensor
// core drops the last two (it truncates its operands to TF32): an error below 2^-22 |x|. Two
// full-rate instructions; cvt.rna.tf32 would round, at a quarter of the rate.
__device__ static split split_tf32(float x)
{
    split s;
    s.hi = __float_as_uint(x) & 0xffffe000u;
    s.lo = __float_as_uint(x - __uint_as_float(s.hi));
    return s;
}

// c += a * b, one TF32 product of a 16x8 by an 8x8 tile.
__device__ static void mma(float (&c)[4], const uint32_t (&a)[4], const uint32_t (&b)[2])
{
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

// acc (MT x NT tiles of 16x8) += A B over `depth` (a multiple of 8). a(m, k) and b(k, n) read
// shared memory at the lane's element. A result of mma is ready some 30 clocks later, so the three
// terms of one tile never stand next to each other: columns go in groups of G, terms outside; with
// SPARE registers the small terms have accumulators of their own.
template <int MT, int NT, bool SPARE, class A, class B>
__device__ static void product(float (&acc)[MT][NT][4], int depth, A a, B b)
{
    constexpr int G = SPARE ? NT : 2;
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
    float small[SPARE ? MT : 1][SPARE ? NT : 1][4] = {};
#pragma unroll
    for (int k = 0; k < depth; k += 8) {
        uint32_t ah[MT][4], al[MT][4];
#pragma unroll
        for (int i = 0; i < MT; ++i)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const split s = split_tf32(a(i * 16 + g + e % 2 * 8, k + t + e / 2 * 4));
                ah[i][e] = s.hi, al[i][e] = s.lo;
            }
#pragma unroll
        for (int j0 = 0; j0 < NT; j0 += G) {
            uint32_t bh[G][2], bl[G][2];
#pragma unroll
            for (int j = 0; j < G; ++j)
#pragma unroll
                for (int e = 0; e < 2; ++e) {
                    const split s = split_tf32(b(k + t + e * 4, (j0 + j) * 8 + g));
                    bh[j][e] = s.hi, bl[j][e] = s.lo;
                }
#pragma unroll
            for (int term = 0; term < 3; ++term)
#pragma unroll
                for (int j = 0; j < G; ++j)
#pragma unroll
                    for (int i = 0; i < MT; ++i) {
                        float(&low)[4] = SPARE ? small[i][j] : acc[i][j0 + j];
                        if (term == 0)
                            mma(low, al[i], bh[j]);
                        else if (term == 1)
                            mma(SPARE ? acc[i][j0 + j] : low, ah[i], SPARE ? bh[j] : bl[j]);
                        else
                            mma(low, ah[i], SPARE ? bl[j] : bh[j]);
                    }
        }
    }
    if (SPARE)
        for (int i = 0; i < MT; ++i)
            for (int j = 0; j < NT; ++j)
                for (int e = 0; e < 4; ++e)
                    acc[i][j][e] += small[i][j][e];
}

// ---- asynchronous staging
// Copies `bytes` (0 or SIZE) and fills the rest of SIZE with zeros; the source is not read when
// bytes is 0.
template <int SIZE> __device__ static void copy_async(float *to, const float *from, bool inside)
{
    const uint32_t shared = static_cast<uint32_t>(__cvta_generic_to_shared(to));
    const int bytes = inside ? SIZE : 0;
    if (SIZE == 16)
        asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared), "l"(from),
                     "r"(bytes)
                     : "memory");
    else
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4, %2;" ::"r"(shared), "l"(from),
                     "r"(bytes)
                     : "memory");
}
__device__ static void commit() { asm volatile("cp.async.commit_group;" ::: "memory"); }
template <int LEFT> __device__ static void wait_pieces()
{
    asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

// THREADS threads stage ROWS x COLS floats: element (r, c) is source[(row0 + r) * stride + col0 +
// c], zero outside rows x cols. VEC: 16-byte copies; the caller has checked that base, stride and
// cols are multiples of four elements. A thread keeps its column, so a copy costs one add and one
// compare.
template <int THREADS, int ROWS, int COLS, int PITCH, bool VEC>
__device__ static void stage(float *to, const float *source, int row0, int col0, int rows, int cols,
                             int stride)
{
    constexpr int W = VEC ? 4 : 1, ACROSS = COLS / W, STEP = THREADS / ACROSS;
    static_assert(THREADS % ACROSS == 0 && ROWS % STEP == 0, "each thread has whole copies");
    const int thread = static_cast<int>(threadIdx.x), r0 = thread / ACROSS, c = thread % ACROSS * W;
    const bool column = col0 + c < cols;
    const float *from = source + static_cast<size_t>(row0 + r0) * stride + col0 + c;
    const int left = rows - row0 - r0; // rows of this thread inside the array
    to += r0 * PITCH + c;
#pragma unroll
    for (int r = 0; r < ROWS; r += STEP) {
        const bool inside = column && r < left;
        copy_async<4 * W>(to + r * PITCH, inside ? from : source, inside);
        from += static_cast<size_t>(STEP) * stride;
    }
}

// ---- stage a: own contribution of each chunk
constexpr int STATE_THREADS = 128; // 4 warps, 32 x 32 each
constexpr int STATE_PIECE = 2 * DEPTH * PITCH_N<TILE>;
constexpr int STATE_SHARED = (STAGES * STATE_PIECE + 128) * 4;

// Tile (i0.., j0..) of the state of chunk blockIdx.z: sum over its rows n of gamma^(C-1-n) K[n][i]
// V[n][j].
template <bool VEC>
__global__ static void __launch_bounds__(STATE_THREADS, 4)
    states_kernel(const float *__restrict__ K, const float *__restrict__ V, int seq, int d,
                  int chunk_rows, float gamma)
{
    extern __shared__ __align__(16) float shared[];
    float *decay = shared + STAGES * STATE_PIECE;
    const int padded = static_cast<int>(gridDim.x) * TILE;
    const int i0 = static_cast<int>(blockIdx.y) * TILE, j0 = static_cast<int>(blockIdx.x) * TILE;
    const int n0 = static_cast<int>(blockIdx.z) * chunk_rows;
    const int warp = static_cast<int>(threadIdx.x) / 32, wi = warp / 2 * 32, wj = warp % 2 * 32;
    const int pieces = chunk_rows / DEPTH;
    const auto fetch = [&](int piece) {
        if (piece < pieces) {
            float *at = shared + piece % STAGES * STATE_PIECE;
            stage<STATE_THREADS, DEPTH, TILE, PITCH_N<TILE>, VEC>(at, K, n0 + piece * DEPTH, i0,
                                                                  seq, d, d);
            stage<STATE_THREADS, DEPTH, TILE, PITCH_N<TILE>, VEC>(
                at + DEPTH * PITCH_N<TILE>, V, n0 + piece * DEPTH, j0, seq, d, d);
        }
        commit();
    };
    asm volatile("griddepcontrol.launch_dependents;");
    for (int p = 0; p < STAGES - 1; ++p)
        fetch(p);
    if (static_cast<int>(threadIdx.x) < chunk_rows)
        decay[threadIdx.x] =
            powf(gamma, static_cast<float>(chunk_rows - 1 - static_cast<int>(threadIdx.x)));
    float acc[2][4][4] = {};
    for (int p = 0; p < pieces; ++p) {
        wait_pieces<STAGES - 2>();
        __syncthreads();
        fetch(p + STAGES - 1);
        const float *ks = shared + p % STAGES * STATE_PIECE, *vs = ks + DEPTH * PITCH_N<TILE>;
        const float *weight = decay + p * DEPTH;
        product<2, 4, false>(
            acc, DEPTH, [&](int m, int k) { return ks[k * PITCH_N<TILE> + wi + m]; },
            [&](int k, int n) { return vs[k * PITCH_N<TILE> + wj + n] * weight[k]; });
    }
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
    float *to = states + static_cast<size_t>(blockIdx.z) * padded * padded;
    for (int i = 0; i < 2; ++i)
        for (int j = 0; j < 4; ++j)
            for (int h = 0; h < 2; ++h)
                *reinterpret_cast<float2 *>(
                    to + static_cast<size_t>(i0 + wi + i * 16 + g + h * 8) * padded + j0 + wj +
                    j * 8 + t * 2) = make_float2(acc[i][j][h * 2], acc[i][j][h * 2 + 1]);
}

// ---- stage b: exclusive scan over the chunks, two state elements a thread, 16 loads ahead
constexpr int SCAN_THREADS = 128;

// volatile: where nvcc sees that the loads of a batch may move, it takes them one by one, and each
// waits for its own trip (35 us in place of 10 at 8192x256).
__device__ static float2 load_pair(const float2 *from)
{
    float2 x;
    asm volatile("ld.global.cg.v2.f32 {%0, %1}, [%2];"
                 : "=f"(x.x), "=f"(x.y)
                 : "l"(from)
                 : "memory");
    return x;
}

__global__ static void __launch_bounds__(SCAN_THREADS, 8)
    scan_kernel(int chunks, int elements, float w)
{
    constexpr int AHEAD = 16;
    asm volatile("griddepcontrol.launch_dependents;");
    asm volatile("griddepcontrol.wait;" ::: "memory");
    const size_t pairs = static_cast<size_t>(elements / 2);
    float2 *element = reinterpret_cast<float2 *>(states) + blockIdx.x * SCAN_THREADS + threadIdx.x;
    float2 entering = make_float2(0.0f, 0.0f);
    for (int c0 = 0; c0 < chunks; c0 += AHEAD) {
        float2 own[AHEAD];
#pragma unroll
        for (int c = 0; c < AHEAD; ++c)
            own[c] =
                c0 + c < chunks ? load_pair(element + (c0 + c) * pairs) : make_float2(0.0f, 0.0f);
#pragma unroll
        for (int c = 0; c < AHEAD; ++c) {
            if (c0 + c < chunks)
                element[(c0 + c) * pairs] = entering;
            entering.x = fmaf(w, entering.x, own[c].x);
            entering.y = fmaf(w, entering.y, own[c].y);
        }
    }
}

// ---- stage c: 64 rows x NC columns of the output
// A piece: Q (64 x 32) beside the larger of K (64 x 32) and S or V (32 x NC).
template <int NC>
constexpr int OUT_PIECE = TILE *PITCH_K +
                          (TILE * PITCH_K > DEPTH * PITCH_N<NC> ? TILE * PITCH_K
                                                                : DEPTH * PITCH_N<NC>);
template <int NC> constexpr int OUT_SHARED = (STAGES * OUT_PIECE<NC> + TILE * PITCH_P + 132) * 4;
// Two warps share the rows, WN the columns: a warp has 32 x 32 outputs, 32 x 8 where NC is 32.
template <int NC> constexpr int WN = NC > 128 ? 8 : 4;
template <int NC> constexpr int OUT_THREADS = 64 * WN<NC>;

template <int NC, bool VEC>
__global__ static void __launch_bounds__(OUT_THREADS<NC>, NC > 128 ? 1 : 2)
    outputs_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                   const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                   int chunk_rows, float gamma, float scale)
{
    constexpr int T = OUT_THREADS<NC>;
    constexpr int MT = 2;                 // 16-row tiles of a warp
    constexpr int NT = NC / WN<NC> / 8;   // 8-column tiles of a warp, outputs
    constexpr int ST = TILE / WN<NC> / 8; // the same, scores
    constexpr int PIECE = OUT_PIECE<NC>;
    extern __shared__ __align__(16) float shared[];
    float *p_tile = shared + STAGES * PIECE;
    float *decay = p_tile + TILE * PITCH_P; // gamma^0 .. gamma^128
    const int row_tile = static_cast<int>(gridDim.y - 1 - blockIdx.y);
    const int n0 = row_tile * TILE, j0 = static_cast<int>(blockIdx.x) * NC;
    const int chunk = n0 / chunk_rows, chunk0 = chunk * chunk_rows;
    const int key_tiles = (n0 - chunk0) / TILE + 1;
    const int padded = (d + TILE - 1) / TILE * TILE;
    const int deep = (d + DEPTH - 1) / DEPTH; // pieces over the inner dimension d
    const float *entering = states + static_cast<size_t>(chunk) * padded * padded;
    const int warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    const int g = lane / 4, t = lane % 4;
    const int wm = warp / WN<NC> * 32, wn = warp % WN<NC> * (NT * 8), wp = warp % WN<NC> * (ST * 8);

    // Pieces in order: for each key tile the scores (deep pieces) and the values (two), then the
    // history (deep pieces), last, so that the first pieces do not wait for the scan. A key tile
    // has at least three pieces, more than are fetched ahead of the loop.
    int f_tile = 0, f_step = 0, f_slot = 0; // the next piece to fetch
    bool waited = false;
    const auto fetch = [&] {
        float *q = shared + f_slot * PIECE, *other = q + TILE * PITCH_K;
        if (f_tile < key_tiles) {
            const int m0 = chunk0 + f_tile * TILE;
            if (f_step < deep) {
                stage<T, TILE, DEPTH, PITCH_K, VEC>(q, Q, n0, f_step * DEPTH, seq, d, d);
                stage<T, TILE, DEPTH, PITCH_K, VEC>(other, K, m0, f_step * DEPTH, seq, d, d);
            } else {
                stage<T, DEPTH, NC, PITCH_N<NC>, VEC>(other, V, m0 + (f_step - deep) * DEPTH, j0,
                                                      seq, d, d);
            }
            if (++f_step == deep + TILE / DEPTH)
                f_step = 0, f_tile++;
        } else if (f_tile == key_tiles && chunk > 0 && f_step < deep) {
            if (!waited)
                asm volatile("griddepcontrol.wait;" ::: "memory"); // the scan is complete, visible
            waited = true;
            stage<T, TILE, DEPTH, PITCH_K, VEC>(q, Q, n0, f_step * DEPTH, seq, d, d);
            stage<T, DEPTH, NC, PITCH_N<NC>, true>(other, entering, f_step * DEPTH, j0, padded,
                                                   padded, padded);
            f_step++;
        }
        f_slot = f_slot + 1 == STAGES ? 0 : f_slot + 1;
        commit();
    };
    asm volatile("griddepcontrol.launch_dependents;");
    for (int p = 0; p < STAGES - 1; ++p)
        fetch();
    for (int i = static_cast<int>(threadIdx.x); i <= 128; i += T)
        decay[i] = powf(gamma, static_cast<float>(i));

    float acc[MT][NT][4] = {};
    int slot = 0;
    const float *q = shared, *other = shared;
    // Waits for the next piece and starts the fetch of the one that takes the slot just released.
    const auto next = [&] {
        wait_pieces<STAGES - 2>();
        __syncthreads();
        q = shared + slot * PIECE, other = q + TILE * PITCH_K;
        slot = slot + 1 == STAGES ? 0 : slot + 1;
        fetch();
    };
    const auto from_rows = [&](int k, int n) { return other[k * PITCH_N<NC> + wn + n]; };
    for (int tile = 0; tile < key_tiles; ++tile) {
        float score[MT][ST][4] = {};
        for (int step = 0; step < deep; ++step) {
            next();
            product<MT, ST, true>(
                score, DEPTH, [&](int m, int k) { return q[(wm + m) * PITCH_K + k]; },
                [&](int k, int n) { return other[(wp + n) * PITCH_K + k]; });
        }
        // Decay and mask, then through shared memory: the layout of a result is not an operand's.
        // The previous tile's readers have passed the barrier of this tile's first piece.
        const int m0 = chunk0 + tile * TILE;
        for (int i = 0; i < MT; ++i)
            for (int j = 0; j < ST; ++j)
                for (int e = 0; e < 4; ++e) {
                    const int r = wm + i * 16 + g + e / 2 * 8, c = wp + j * 8 + t * 2 + e % 2;
                    const int distance = n0 + r - m0 - c;
                    p_tile[r * PITCH_P + c] =
                        distance >= 0 ? score[i][j][e] * decay[distance] : 0.0f;
                }
        for (int half = 0; half < TILE; half += DEPTH) {
            next(); // its barrier also orders the scores before their readers
            product<MT, NT, (NT <= 2)>(
                acc, DEPTH, [&](int m, int k) { return p_tile[(wm + m) * PITCH_P + half + k]; },
                from_rows);
        }
    }
    if (chunk > 0) {
        // Row r of the tile is row n0 - chunk0 + r of its chunk: history counts gamma^(that + 1).
        float far[2 * MT];
        for (int i = 0; i < 2 * MT; ++i)
            far[i] = decay[n0 - chunk0 + wm + g + i * 8 + 1];
        for (int step = 0; step < deep; ++step) {
            next();
            product<MT, NT, (NT <= 2)>(
                acc, DEPTH,
                [&](int m, int k) { return q[(wm + m) * PITCH_K + k] * far[(m - g) / 8]; },
                from_rows);
        }
    }
    for (int i = 0; i < MT; ++i)
        for (int j = 0; j < NT; ++j)
            for (int e = 0; e < 4; ++e) {
                const int n = n0 + wm + i * 16 + g + e / 2 * 8, c = j0 + wn + j * 8 + t * 2 + e % 2;
                if (n < seq && c < d)
                    output[static_cast<size_t>(n) * d + c] = acc[i][j][e] * scale;
            }
}

// ---- host
// overlapped: the launch may start while its predecessor on the stream still runs
// (griddepcontrol.wait orders the data). Never for the first kernel of a call: what precedes it is
// not ours and must be complete.
template <class... P, class... T>
static void launch(bool overlapped, void (*kernel)(P...), dim3 grid, unsigned threads,
                   size_t shared, T... args)
{
    cudaLaunchConfig_t config = {};
    config.gridDim = grid;
    config.blockDim = dim3(threads);
    config.dynamicSmemBytes = shared;
    cudaLaunchAttribute overlap = {};
    overlap.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    overlap.val.programmaticStreamSerializationAllowed = 1;
    config.attrs = &overlap;
    config.numAttrs = overlapped ? 1 : 0;
    cudaLaunchKernelEx(&config, kernel, static_cast<P>(args)...);
}

template <int NC, bool VEC>
static void run(const float *Q, const float *K, const float *V, float *output, int seq, int d,
                float gamma)
{
    static const bool ready =
        [] { // once per process: dynamic shared memory above 48 KB needs the opt-in
            cudaFuncSetAttribute(states_kernel<VEC>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                 STATE_SHARED);
            cudaFuncSetAttribute(outputs_kernel<NC, VEC>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, OUT_SHARED<NC>);
            return true;
        }();
    (void)ready;
    const int chunk_rows = d > 128 ? 128 : 64;
    const int chunks = (seq + chunk_rows - 1) / chunk_rows, tiles = (d + TILE - 1) / TILE,
              elements = tiles * tiles * TILE * TILE;
    if (chunks > 1) {
        launch(false, states_kernel<VEC>,
               dim3(static_cast<unsigned>(tiles), static_cast<unsigned>(tiles),
                    static_cast<unsigned>(chunks)),
               STATE_THREADS, STATE_SHARED, K, V, seq, d, chunk_rows, gamma);
        launch(true, scan_kernel, dim3(static_cast<unsigned>(elements / 2 / SCAN_THREADS)),
               SCAN_THREADS, 0, chunks, elements, powf(gamma, static_cast<float>(chunk_rows)));
    }
    launch(chunks > 1, outputs_kernel<NC, VEC>,
           dim3(static_cast<unsigned>((d + NC - 1) / NC),
                static_cast<unsigned>((seq + TILE - 1) / TILE)),
           OUT_THREADS<NC>, OUT_SHARED<NC>, Q, K, V, output, seq, d, chunk_rows, gamma,
           1.0f / sqrtf(static_cast<float>(d)));
}

// ---- path 1: one launch, look-back over published states
constexpr int THREADS = 256; // 8 warps
constexpr int HALF = 32;     // columns of V a block
constexpr int LOOK_CHUNKS = MAX_S / TILE;
constexpr int BATCH = 4;           // states read back at once: enough for gamma .9 on normal data
constexpr int STATE = TILE * HALF; // floats of a published state
// Pitches without bank conflicts. Lanes read two floats at a time, so half a warp goes together.
// Rows read along (word 2t of row g), or across at rows t and t + 4, want 8 modulo 32; rows read
// across at 2t and 2t + 1 want 4 modulo 16.
constexpr int PITCH_QK = TILE + 8, PITCH_V = HALF + 8, PITCH_H = HALF + 4;
constexpr int LOOK_SHARED =
    (2 * TILE * PITCH_QK + TILE * PITCH_P + TILE * PITCH_V + LOOK_CHUNKS + 2 * TILE + 32) * 4;

// Powers of gamma, from double: gamma^0 .. gamma^64, and w^0 .. w^127 with w = gamma^64.
struct powers {
    float decay[TILE + 1], weights[LOOK_CHUNKS];
};

// Two buffers in turn, [parity][chunk][half][part][thread]: a call publishes into one, finds it
// empty, and empties the other. An empty word is +0; a published +0 goes as -0.
__device__ static __align__(16) float4 published[2][LOOK_CHUNKS * 2][STATE / 4];
// {epoch, largest |element|} of each published state
__device__ static unsigned long long words[LOOK_CHUNKS * 2];
// Calls so far, and the chunks that the last of them published; written by the last block, so a
// captured launch replays correctly.
__device__ static unsigned epoch, filled;
__device__ static unsigned ticket;

// Relaxed: each word says by itself that it is there, nothing else has to be visible with it.
__device__ static float4 load_state(const float4 *from)
{
    float4 x;
    asm volatile("ld.relaxed.gpu.global.v4.f32 {%0, %1, %2, %3}, [%4];"
                 : "=f"(x.x), "=f"(x.y), "=f"(x.z), "=f"(x.w)
                 : "l"(from)
                 : "memory");
    return x;
}
__device__ static void store_state(float4 *to, float4 x)
{
    asm volatile("st.relaxed.gpu.global.v4.f32 [%0], {%1, %2, %3, %4};" ::"l"(to), "f"(x.x),
                 "f"(x.y), "f"(x.z), "f"(x.w)
                 : "memory");
}
__device__ static bool complete(float4 x)
{
    return __float_as_uint(x.x) != 0 && __float_as_uint(x.y) != 0 && __float_as_uint(x.z) != 0 &&
           __float_as_uint(x.w) != 0;
}
__device__ static unsigned long long load_word(const unsigned long long *from)
{
    unsigned long long value;
    asm volatile("ld.relaxed.gpu.global.u64 %0, [%1];" : "=l"(value) : "l"(from) : "memory");
    return value;
}
__device__ static void store_word(unsigned long long *to, unsigned long long value)
{
    asm volatile("st.relaxed.gpu.global.u64 [%0], %1;" ::"l"(to), "l"(value) : "memory");
}

// ---- fragments
// A product may run through k and n in any order, as long as operands and result agree: a lane
// takes neighbours in memory wherever it can, eight bytes a load.
__device__ static float2 pair(const float *from) { return *reinterpret_cast<const float2 *>(from); }

// acc (a row of NT tiles of 16x8) += A B over length (a multiple of 8). a(x, k) and b(y, k) load
// the lane's operands of step k: x[0..3] = rows g, g + 8, at the lane's first k, then its second;
// y[j] = column g of tile j at the same two. Small terms have accumulators of their own, as above.
template <int NT, class A, class B>
__device__ static void row_product(float (&acc)[NT][4], int length, A a, B b)
{
    float small[NT][4] = {};
#pragma unroll 2
    for (int k = 0; k < length; k += 8) {
        float x[4], y[NT][2];
        a(x, k);
        b(y, k);
        uint32_t ah[4], al[4], bh[NT][2], bl[NT][2];
#pragma unroll
        for (int e = 0; e < 4; ++e) {
            const split s = split_tf32(x[e]);
            ah[e] = s.hi, al[e] = s.lo;
        }
#pragma unroll
        for (int j = 0; j < NT; ++j)
#pragma unroll
            for (int e = 0; e < 2; ++e) {
                const split s = split_tf32(y[j][e]);
                bh[j][e] = s.hi, bl[j][e] = s.lo;
            }
#pragma unroll
        for (int j = 0; j < NT; ++j)
            mma(small[j], al, bh[j]);
#pragma unroll
        for (int j = 0; j < NT; ++j)
            mma(acc[j], ah, bh[j]);
#pragma unroll
        for (int j = 0; j < NT; ++j)
            mma(small[j], ah, bl[j]);
    }
    for (int j = 0; j < NT; ++j)
        for (int e = 0; e < 4; ++e)
            acc[j][e] += small[j][e];
}

// A from 16 rows of k: the lane's k are 2t and 2t + 1.
__device__ static void load_q(float (&x)[4], const float *rows, int k)
{
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
    for (int h = 0; h < 2; ++h) {
        const float2 two = pair(rows + (g + h * 8) * PITCH_QK + k + t * 2);
        x[h] = two.x, x[h + 2] = two.y;
    }
}

// Scores of rows rows.. (16) against keys cols.. (8 NT), decayed and masked.
template <int NT>
__device__ static void score_tiles(float *ps, const float *qs, const float *ks, const float *decay,
                                   int rows, int cols)
{
    const int g = static_cast<int>(threadIdx.x) % 32 / 4, t = static_cast<int>(threadIdx.x) % 4;
    float score[NT][4] = {};
    row_product(
        score, TILE, [&](auto &x, int k) { load_q(x, qs + rows * PITCH_QK, k); },
        [&](auto &y, int k) {
            for (int j = 0; j < NT; ++j) {
                const float2 two = pair(ks + (cols + j * 8 + g) * PITCH_QK + k + t * 2);
                y[j][0] = two.x, y[j][1] = two.y;
            }
        });
    for (int j = 0; j < NT; ++j)
        for (int h = 0; h < 2; ++h) {
            const int r = rows + g + h * 8, c = cols + j * 8 + t * 2;
            float2 p;
            p.x = c <= r ? score[j][h * 2] * decay[c <= r ? r - c : 0] : 0.0f;
            p.y = c < r ? score[j][h * 2 + 1] * decay[c < r ? r - c - 1 : 0] : 0.0f;
            *reinterpret_cast<float2 *>(ps + r * PITCH_P + c) = p;
        }
}

// Grid: (2, chunks). Every block is resident (cooperative launch), so waiting for a predecessor
// cannot hang.
template <bool VEC>
__global__ static void __launch_bounds__(THREADS, 2)
    lookback_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                    const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                    float scale, const __grid_constant__ powers table)
{
    extern __shared__ __align__(16) float shared[];
    float *qs = shared, *ks = qs + TILE * PITCH_QK, *ps = ks + TILE * PITCH_QK,
          *vs = ps + TILE * PITCH_P;
    float *weights = vs + TILE * PITCH_V;                               // w^t
    float *decay = weights + LOOK_CHUNKS;                               // gamma^0 .. gamma^64
    unsigned *reduced = reinterpret_cast<unsigned *>(decay + 2 * TILE); // one value a warp
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32,
              g = lane / 4, t = lane % 4;
    const int half = static_cast<int>(blockIdx.x), chunk = static_cast<int>(blockIdx.y),
              chunks = static_cast<int>(gridDim.y), n0 = chunk * TILE, j0 = half * HALF;
    // Rows of a warp: the two warps of a scheduler have as many keys together as any other two.
    const int wm = (warp / 2 ^ warp / 4) * 16, wn = warp % 2 * 16;

    // (a) Load Q, K and half of V, zero-padded; meanwhile the powers.
    stage<THREADS, TILE, TILE, PITCH_QK, VEC>(ks, K, n0, 0, seq, d, d);
    stage<THREADS, TILE, HALF, PITCH_V, VEC>(vs, V, n0, j0, seq, d, d);
    commit();
    stage<THREADS, TILE, TILE, PITCH_QK, VEC>(qs, Q, n0, 0, seq, d, d);
    commit();
    const unsigned now = *reinterpret_cast<volatile unsigned *>(&epoch) + 1;
    const int stale = static_cast<int>(*reinterpret_cast<volatile unsigned *>(&filled));
    if (thread <= TILE)
        decay[thread] = table.decay[thread];
    else if (thread >= LOOK_CHUNKS)
        weights[thread - LOOK_CHUNKS] = table.weights[thread - LOOK_CHUNKS];
    wait_pieces<1>();
    __syncthreads();

    // (b) Own contribution to the state, 64 x 32: K^T times the decayed V; publish it. A thread has
    // rows wm + 2g and the next, columns wn + 4t to wn + 4t + 3.
    const int row = wm + g * 2, column = wn + t * 4;
    {
        float kv[2][4] = {};
        row_product(
            kv, TILE,
            [&](auto &x, int k) {
                for (int e = 0; e < 2; ++e) {
                    const float2 two = pair(ks + (k + t + e * 4) * PITCH_QK + row);
                    x[e * 2] = two.x, x[e * 2 + 1] = two.y;
                }
            },
            [&](auto &y, int k) {
                for (int e = 0; e < 2; ++e) {
                    const float2 two = pair(vs + (k + t + e * 4) * PITCH_V + wn + g * 2);
                    const float weight = decay[TILE - 1 - k - t - e * 4];
                    y[0][e] = two.x * weight, y[1][e] = two.y * weight;
                }
            });
        float4 *to = &published[now % 2][chunk * 2 + half][thread];
        unsigned largest = 0; // as bits: NaN is above everything
        for (int h = 0; h < 2; ++h) {
            float v[4] = {kv[0][h * 2], kv[1][h * 2], kv[0][h * 2 + 1], kv[1][h * 2 + 1]};
            for (int i = 0; i < 4; ++i) {
                largest = max(largest, __float_as_uint(v[i]) & 0x7fffffffu);
                v[i] = v[i] == 0.0f ? -0.0f : v[i];
            }
            store_state(to + h * THREADS, make_float4(v[0], v[1], v[2], v[3]));
        }
        // Empty the other buffer for the next call.
        for (int p = chunk; p < stale; p += chunks)
            for (int h = 0; h < 2; ++h)
                published[(now + 1) % 2][p * 2 + half][thread + h * THREADS] =
                    make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        largest = __reduce_max_sync(0xffffffffu, largest);
        if (lane == 0)
            reduced[warp] = largest;
    }
    wait_pieces<0>();
    __syncthreads();
    if (thread == 0) {
        unsigned largest = reduced[0];
        for (int i = 1; i < THREADS / 32; ++i)
            largest = max(largest, reduced[i]);
        store_word(&words[chunk * 2 + half], static_cast<unsigned long long>(now) << 32 | largest);
    }

    // (c) While others publish: scores of the chunk against itself. 20 tiles of 16 x 8 lie on or
    // below the diagonal: three or two a warp, five a scheduler.
    if (warp < 4)
        score_tiles<3>(ps, qs, ks, decay, warp < 2 ? 48 : 32, warp % 2 * 24);
    else // 48: keys 48..63; 16: keys 0..15 and 16..31; 0: keys 0..15
        score_tiles<2>(ps, qs, ks, decay,
                       warp == 4   ? 48
                       : warp == 7 ? 0
                                   : 16,
                       warp == 4   ? 48
                       : warp == 6 ? 16
                                   : 0);
    __syncthreads();

    // (d) Ask for the newest BATCH states and for the bounds of all of them; while they travel,
    // scores times V.
    int last = chunk - 1; // newest state not yet added
    float4 x[BATCH][2];
    const auto ask = [&](int p, float4(&state)[2]) {
        const float4 *from = &published[now % 2][(p > 0 ? p : 0) * 2 + half][thread];
        state[0] = load_state(from), state[1] = load_state(from + THREADS);
    };
    unsigned long long word[LOOK_CHUNKS / 32];
    if (chunk > 0) {
        for (int b = 0; b < BATCH; ++b)
            ask(last - b, x[b]);
        for (int i = 0; i < LOOK_CHUNKS / 32; ++i)
            if (i * 32 + lane < chunk)
                word[i] = load_word(&words[(i * 32 + lane) * 2 + half]);
    }
    float out[2][4] = {};
    row_product(
        out, wm + 16, // scores beyond are above the diagonal
        [&](auto &x, int k) {
            for (int e = 0; e < 4; ++e)
                x[e] = ps[(wm + g + e % 2 * 8) * PITCH_P + k + t + e / 2 * 4];
        },
        [&](auto &y, int k) {
            for (int e = 0; e < 2; ++e) {
                const float2 two = pair(vs + (k + t + e * 4) * PITCH_V + wn + g * 2);
                y[0][e] = two.x, y[1][e] = two.y;
            }
        });

    // (e) Walk back, newest first. s: sum; a: sum of absolute values.
    float s[8] = {}, a[8] = {};
    while (last >= 0) {
        bool all;
        do { // what is missing is asked for again, all at once
            all = true;
#pragma unroll
            for (int b = 0; b < BATCH; ++b)
                if (last - b >= 0 && !(complete(x[b][0]) && complete(x[b][1]))) {
                    ask(last - b, x[b]);
                    all = false;
                }
        } while (!all);
#pragma unroll
        for (int b = 0; b < BATCH; ++b) {
            if (last - b < 0)
                break;
            const float weight = weights[chunk - 1 - last + b];
            const float own[8] = {x[b][0].x, x[b][0].y, x[b][0].z, x[b][0].w,
                                  x[b][1].x, x[b][1].y, x[b][1].z, x[b][1].w};
            for (int i = 0; i < 8; ++i) {
                s[i] = fmaf(weight, own[i], s[i]);
                a[i] = fmaf(weight, fabsf(own[i]), a[i]);
            }
        }
        last -= BATCH;
        if (last < 0)
            break;
        // Everything older, seen from here: sum of w^(c-1-p) * max_p over p <= last, rounded up;
        // one ulp above the rounded weight, so that an underflowed one still bounds. Each warp for
        // itself.
        float bound = 0.0f;
        for (int i = 0; i < LOOK_CHUNKS / 32; ++i) {
            const int p = i * 32 + lane;
            if (p <= last) {
                while (word[i] >> 32 != now)
                    word[i] = load_word(&words[p * 2 + half]);
                bound = __fadd_ru(bound, __fmul_ru(__uint_as_float(static_cast<unsigned>(word[i])),
                                                   __fadd_ru(weights[chunk - 1 - p], 1e-45f)));
            }
        }
        for (int step = 16; step > 0; step /= 2)
            bound = __fadd_ru(bound, __shfl_xor_sync(0xffffffffu, bound, step));
        // Stop when that is below 2^-22 of the smallest a of the unpadded tile. NaN compares false:
        // go on.
        bool small = true;
        for (int i = 0; i < 8; ++i)
            if (row + i / 4 < d && j0 + column + i % 4 < d)
                small = small && bound * 0x1p22f <= a[i];
        if (__syncthreads_and(small))
            break;
        for (int b = 0; b < BATCH; ++b)
            ask(last - b, x[b]);
    }
    // K is no longer needed: its space takes the state.
    float *ss = ks;
    for (int h = 0; h < 2; ++h)
        *reinterpret_cast<float4 *>(ss + (row + h) * PITCH_H + column) =
            make_float4(s[h * 4], s[h * 4 + 1], s[h * 4 + 2], s[h * 4 + 3]);
    __syncthreads();
    // This block has read the epoch and all it needs of others. The answer is not needed before
    // the end, so its trip costs nothing.
    unsigned arrived = 0;
    if (thread == 0)
        arrived = atomicInc(&ticket, gridDim.x * gridDim.y - 1);

    // (f) The history: rows of Q weighted by gamma^(i+1), times the state.
    const float far[2] = {decay[wm + g + 1], decay[wm + g + 9]};
    if (chunk > 0)
        row_product(
            out, TILE,
            [&](auto &x, int k) {
                load_q(x, qs + wm * PITCH_QK, k);
                for (int e = 0; e < 4; ++e)
                    x[e] *= far[e % 2];
            },
            [&](auto &y, int k) {
                for (int e = 0; e < 2; ++e) {
                    const float2 two = pair(ss + (k + t * 2 + e) * PITCH_H + wn + g * 2);
                    y[0][e] = two.x, y[1][e] = two.y;
                }
            });
    // A lane's columns lie next to each other.
    const bool wide = d % 4 == 0 && reinterpret_cast<uintptr_t>(output) % 16 == 0;
    for (int h = 0; h < 2; ++h) {
        const int n = n0 + wm + g + h * 8, c = j0 + column;
        float *to = output + static_cast<size_t>(n) * d + c;
        const float v[4] = {out[0][h * 2] * scale, out[1][h * 2] * scale, out[0][h * 2 + 1] * scale,
                            out[1][h * 2 + 1] * scale};
        if (n < seq && wide && c < d)
            *reinterpret_cast<float4 *>(to) = make_float4(v[0], v[1], v[2], v[3]);
        else
            for (int i = 0; i < 4; ++i)
                if (n < seq && c + i < d)
                    to[i] = v[i];
    }
    // The last block to come here closes the epoch.
    if (thread == 0 && arrived == gridDim.x * gridDim.y - 1) {
        *reinterpret_cast<volatile unsigned *>(&filled) = gridDim.y;
        *reinterpret_cast<volatile unsigned *>(&epoch) = now;
    }
}

// True when the look-back kernel was launched; false: the grid does not fit this device.
template <bool VEC>
static bool lookback(const float *Q, const float *K, const float *V, float *output, int seq, int d,
                     float gamma)
{
    static const int resident = [] { // blocks the whole device holds at once
        int device = 0, multiprocessors = 0, blocks = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
        cudaFuncSetAttribute(lookback_kernel<VEC>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             LOOK_SHARED);
        cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, lookback_kernel<VEC>, THREADS,
                                                      LOOK_SHARED);
        return multiprocessors * blocks;
    }();
    const int chunks = (seq + TILE - 1) / TILE;
    if (2 * chunks > resident)
        return false;
    powers table;
    double power = 1.0;
    for (int i = 0; i <= TILE; ++i, power *= static_cast<double>(gamma))
        table.decay[i] = static_cast<float>(power);
    double w = 1.0;
    for (int i = 0; i < TILE; ++i)
        w *= static_cast<double>(gamma);
    power = 1.0;
    for (int i = 0; i < LOOK_CHUNKS; ++i, power *= w)
        table.weights[i] = static_cast<float>(power);
    float scale = 1.0f / sqrtf(static_cast<float>(d));
    void *args[] = {&Q, &K, &V, &output, &seq, &d, &scale, &table};
    return cudaLaunchCooperativeKernel(reinterpret_cast<const void *>(lookback_kernel<VEC>),
                                       dim3(2, static_cast<unsigned>(chunks)), dim3(THREADS), args,
                                       LOOK_SHARED, nullptr) == cudaSuccess;
}

// ---- wide path: wgmma
// One wgmma multiplies 64 rows of A by up to 256 columns of B, at nearly twice the rate of
// mma.sync. Everything here is 256 rows by 64 columns. A comes from registers, laid out as for
// mma.m16n8k8 with a warp for every 16 rows: each of its elements is used by one lane only, so it
// travels from L2 into the fragment, is split there, and never sees shared memory. B is small, used
// by all warps, and lies in shared memory for the whole product, split beforehand.
constexpr int WIDE_CHUNK = 128;
constexpr int COLS = 64;          // columns of a product: state columns, or rows of the output
constexpr int WIDE_THREADS = 256; // two warp groups, 128 rows each: two wgmma tiles a warp group
constexpr int RUN = 2;            // tiles of states that a block makes, one after the other
constexpr int SPAN = 32; // k of one piece of B: rows of 128 bytes, the width of the swizzle
constexpr int PIECE = COLS * SPAN * 4; // bytes of a piece, high or low part

#ifdef __CUDA_ARCH_FEAT_SM90_ALL
#define FOUR(c, i)    "+f"(c[i]), "+f"(c[(i) + 1]), "+f"(c[(i) + 2]), "+f"(c[(i) + 3])
#define SIXTEEN(c, i) FOUR(c, i), FOUR(c, (i) + 4), FOUR(c, (i) + 8), FOUR(c, (i) + 12)
// c (64 x 64) += a * B, eight of k. Runs on after the instruction: c and a belong to it until
// wait_products.
__device__ __forceinline__ void wgmma(float (&c)[32], const uint32_t (&a)[4], uint64_t b)
{
    asm volatile("wgmma.mma_async.sync.aligned.m64n64k8.f32.tf32.tf32 "
                 "{%0, %1, %2, %3, %4, %5, %6, %7, %8, %9, %10, %11, %12, %13, %14, %15, "
                 "%16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, %31}, "
                 "{%32, %33, %34, %35}, %36, 1, 1, 1;"
                 : SIXTEEN(c, 0), SIXTEEN(c, 16)
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b));
}
#undef SIXTEEN
#undef FOUR
// Registers of a wgmma were written by other instructions since the last one: a is complete here.
template <int M> __device__ __forceinline__ void fence_registers(uint32_t (&a)[M][4])
{
#pragma unroll
    for (int m = 0; m < M; ++m)
        asm volatile("" : "+r"(a[m][0]), "+r"(a[m][1]), "+r"(a[m][2]), "+r"(a[m][3])::"memory");
}
__device__ __forceinline__ void fence_products()
{
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void commit_products()
{
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int LEFT> __device__ __forceinline__ void wait_products()
{
    asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(LEFT) : "memory");
}
// Everything is done, and the compiler may read c from here on, not before.
template <int M> __device__ __forceinline__ void finish_products(float (&c)[M][32])
{
    wait_products<0>();
#pragma unroll
    for (int m = 0; m < M; ++m)
#pragma unroll
        for (int i = 0; i < 32; ++i)
            asm volatile("" : "+f"(c[m][i])::"memory");
}
// What this thread stored to shared memory may be read by wgmma, which goes another way, after the
// next barrier.
__device__ __forceinline__ void publish_shared()
{
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Describes rows of 128 bytes in groups of eight, 1,024 bytes apart, 16-byte units permuted within
// a row: unit u of row r lies at u ^ (r % 8). The next step of k is 32 bytes on.
__device__ __forceinline__ uint64_t descriptor(const void *piece)
{
    return static_cast<uint64_t>(__cvta_generic_to_shared(piece)) >> 4 | 1ull << 16 | 64ull << 32 |
           1ull << 62;
}

// B is [piece of k][high, low][column][SPAN]. Stores four of k, one unit: unit u of column c.
// weight: one for each, or none.
__device__ __forceinline__ void put_split(unsigned char *b, int u, int column, const float (&x)[4],
                                          const float *weight = nullptr)
{
    uint32_t high[4], low[4];
#pragma unroll
    for (int e = 0; e < 4; ++e) {
        const split two = split_tf32(weight ? x[e] * weight[e] : x[e]);
        high[e] = two.hi, low[e] = two.lo;
    }
    unsigned char *to = b + u / 8 * (2 * PIECE) + column * (SPAN * 4) + (u ^ column) % 8 * 16;
    *reinterpret_cast<uint4 *>(to) = make_uint4(high[0], high[1], high[2], high[3]);
    *reinterpret_cast<uint4 *>(to + PIECE) = make_uint4(low[0], low[1], low[2], low[3]);
}

// Four neighbours of a row, zero from `left` on. VEC: all or none are inside, and aligned.
template <bool VEC> __device__ __forceinline__ float4 load_four(const float *from, int left)
{
    if (VEC)
        return left > 0 ? *reinterpret_cast<const float4 *>(from) : make_float4(0, 0, 0, 0);
    return make_float4(left > 0 ? from[0] : 0.0f, left > 1 ? from[1] : 0.0f,
                       left > 2 ? from[2] : 0.0f, left > 3 ? from[3] : 0.0f);
}

// What a lane feeds to two steps of eight: [step][tile][e], rows g, g + 8 at its first k, then at
// its second.
template <int M> using fragments = float[2][M][4];

// A has k along its rows in memory: row r of the lane (tile r / 2, row g or g + 8), four
// neighbours, of which the first step takes two. Q is permuted to match.
template <int M> __device__ __forceinline__ void spread(fragments<M> &x, int r, float4 v)
{
    x[0][r / 2][r % 2] = v.x, x[0][r / 2][r % 2 + 2] = v.y;
    x[1][r / 2][r % 2] = v.z, x[1][r / 2][r % 2 + 2] = v.w;
}
// A has k across rows: the lane's four rows of A are columns column.. of V.
template <bool VEC>
__device__ __forceinline__ void load_values(fragments<2> &x, const float *V, int n0, int seq,
                                            int column, int d)
{
    const int t = static_cast<int>(threadIdx.x) % 4;
#pragma unroll
    for (int i = 0; i < 4; ++i) {
        const int n = t + i * 4;
        const float4 v = load_four<VEC>(V + static_cast<size_t>(n0 + n) * d + column,
                                        n0 + n < seq ? d - column : 0);
        x[i / 2][0][i % 2 * 2] = v.x, x[i / 2][0][i % 2 * 2 + 1] = v.y;
        x[i / 2][1][i % 2 * 2] = v.z, x[i / 2][1][i % 2 * 2 + 1] = v.w;
    }
}

// Pairs of steps that the loads of A run ahead, to cover the trip to memory.
template <int M> constexpr int AHEAD = M == 1 ? 6 : 3;

// The first loads of a product; what they wait for in between is free.
template <int M, class A>
__device__ __forceinline__ void start_stream(fragments<M> (&x)[AHEAD<M>], int count, A a)
{
#pragma unroll
    for (int s = 0; s < AHEAD<M>; ++s)
        if (s < count)
            a(x[s], s);
}

// acc (M tiles of 64 x 64) += A B over 16 * count of k. a(x, q) fetches the lane's part of A for
// two steps, the first AHEAD parts are in x. Fragments of the two steps alternate: one multiplies
// while the other is split.
template <int M, class A>
__device__ __forceinline__ void stream_product(float (&acc)[M][32], fragments<M> (&x)[AHEAD<M>],
                                               const unsigned char *b, int count, A a)
{
    uint32_t high[2][M][4], low[2][M][4];
    const uint64_t first = descriptor(b);
#pragma unroll 1
    for (int q0 = 0; q0 < count; q0 += AHEAD<M>)
#pragma unroll
        for (int s = 0; s < AHEAD<M>; ++s) {
            const int q = q0 + s;
            if (q >= count)
                break;
#pragma unroll
            for (int h = 0; h < 2; ++h) {
#pragma unroll
                for (int m = 0; m < M; ++m)
#pragma unroll
                    for (int e = 0; e < 4; ++e) {
                        const split two = split_tf32(x[s][h][m][e]);
                        high[h][m][e] = two.hi, low[h][m][e] = two.lo;
                    }
                if (h == 1 && q + AHEAD<M> < count)
                    a(x[s], q + AHEAD<M>);
                const uint64_t b_high = first + ((q / 2 * (2 * PIECE) + q % 2 * 64 + h * 32) >> 4),
                               b_low = b_high + (PIECE >> 4);
                fence_registers(high[h]);
                fence_registers(low[h]);
                fence_products();
#pragma unroll
                for (int m = 0; m < M; ++m) {
                    wgmma(acc[m], low[h][m], b_high);
                    wgmma(acc[m], high[h][m], b_low);
                    wgmma(acc[m], high[h][m], b_high);
                }
                commit_products();
                wait_products<1>();
            }
        }
}
#endif

// ---- wide stage a: own contribution of each chunk, transposed
constexpr int WS_PART = WIDE_CHUNK / SPAN * 2 * PIECE; // bytes of K for one tile
constexpr int WS_SHARED = RUN * WS_PART;

// State of a chunk at (j, i): sum over its rows n of gamma^(C-1-n) V[n][j] K[n][i]. A block has all
// j, 64 i and RUN chunks; A is V, turned, B is K, weighted. Columns of B are permuted so that a
// lane ends up with i = 16q + 4t to 16q + 4t + 3, what the outputs kernel wants in one load:
// states[chunk][warp][q][r][lane] of float4s, for j = 32 * warp + 4 * g + r.
template <bool VEC>
__global__ static void __launch_bounds__(WIDE_THREADS, 1)
    wide_states_kernel(const float *__restrict__ K, const float *__restrict__ V, int seq, int d,
                       int chunks, float gamma)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char wide_shared[];
    __shared__ float decay[WIDE_CHUNK]; // by its size the host knows that this body exists
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32,
              g = lane / 4;
    const int i0 = static_cast<int>(blockIdx.x) * COLS, c0 = static_cast<int>(blockIdx.y) * RUN,
              c1 = min(chunks, c0 + RUN);
    asm volatile("griddepcontrol.launch_dependents;");
    if (thread < WIDE_CHUNK)
        decay[thread] = powf(gamma, static_cast<float>(WIDE_CHUNK - 1 - thread));
    __syncthreads();
    // A thread has one column of K, every fourth unit of four rows.
    const int i = thread % COLS, column = i / 16 * 16 + i % 4 / 2 * 8 + i % 16 / 4 * 2 + i % 2;
    float k[RUN][WIDE_CHUNK / 16][4];
#pragma unroll
    for (int c = 0; c < RUN; ++c)
#pragma unroll
        for (int u = 0; u < WIDE_CHUNK / 16; ++u)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int n = (c0 + c) * WIDE_CHUNK + (thread / COLS + u * 4) * 4 + e;
                k[c][u][e] = n < seq && i0 + i < d ? K[static_cast<size_t>(n) * d + i0 + i] : 0.0f;
            }
    fragments<2> x[AHEAD<2>];
    int chunk = c0;
    const auto values = [&](fragments<2> &part, int q) {
        load_values<VEC>(part, V, chunk * WIDE_CHUNK + q * 16, seq, warp * 32 + g * 4, d);
    };
    start_stream<2>(x, WIDE_CHUNK / 16, values);
#pragma unroll
    for (int c = 0; c < RUN; ++c)
#pragma unroll
        for (int u = 0; u < WIDE_CHUNK / 16; ++u)
            put_split(wide_shared + c * WS_PART, thread / COLS + u * 4, column, k[c][u],
                      decay + (thread / COLS + u * 4) * 4);
    publish_shared();
    __syncthreads();
    for (; chunk < c1; ++chunk) {
        if (chunk > c0)
            start_stream<2>(x, WIDE_CHUNK / 16, values);
        float acc[2][32] = {};
        stream_product<2>(acc, x, wide_shared + (chunk - c0) * WS_PART, WIDE_CHUNK / 16, values);
        finish_products(acc);
        float4 *to = reinterpret_cast<float4 *>(states) +
                     ((chunk * 8 + warp) * 16 + i0 / 16) * static_cast<size_t>(4 * 32) + lane;
#pragma unroll
        for (int q = 0; q < COLS / 16; ++q)
#pragma unroll
            for (int r = 0; r < 4; ++r) {
                const float *v = &acc[r / 2][q * 8 + r % 2 * 2];
                to[(q * 4 + r) * 32] = make_float4(v[0], v[1], v[4], v[5]);
            }
    }
#endif
}

// ---- wide stage c: 64 rows of the output, all columns; a product has them as its columns
constexpr int WO_Q = MAX_D / SPAN * 2 * PIECE, WO_P = WIDE_CHUNK / SPAN * 2 * PIECE; // bytes
constexpr int WO_SHARED = WO_Q + WO_P + (WIDE_CHUNK + 4) * 4;

template <bool VEC>
__global__ static void __launch_bounds__(WIDE_THREADS, 1)
    wide_outputs_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                        const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                        float gamma, float scale)
{
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
    extern __shared__ __align__(1024) unsigned char wide_shared[];
    unsigned char *qs = wide_shared, *ps = qs + WO_Q;
    float *decay = reinterpret_cast<float *>(ps + WO_P); // gamma^0 .. gamma^128
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32,
              g = lane / 4, t = lane % 4;
    const int n0 = static_cast<int>(gridDim.x - 1 - blockIdx.x) * COLS, chunk = n0 / WIDE_CHUNK,
              chunk0 = chunk * WIDE_CHUNK, first = n0 - chunk0, deep = (d + 15) / 16;
    if (thread <= WIDE_CHUNK)
        decay[thread] = powf(gamma, static_cast<float>(thread));
    fragments<1> x_keys[AHEAD<1>];
    const auto keys = [&](fragments<1> &part, int q) {
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            const int m = chunk0 + warp * 16 + g + r * 8, c = q * 16 + t * 4;
            spread<1>(part, r,
                      load_four<VEC>(K + static_cast<size_t>(m) * d + c, m < seq ? d - c : 0));
        }
    };
    start_stream<1>(x_keys, deep, keys);
    // Q, with units of every fourth element: what a lane of A loads as neighbours belongs to
    // different units.
#pragma unroll 2
    for (int i = 0; i < MAX_D / 16 / (WIDE_THREADS / COLS); ++i) {
        const int n = n0 + thread % COLS, q = i * (WIDE_THREADS / COLS) + thread / COLS;
        float x[4][4];
#pragma unroll
        for (int four = 0; four < 4; ++four) {
            const int c = q * 16 + four * 4;
            const float4 v =
                load_four<VEC>(Q + static_cast<size_t>(n) * d + c, n < seq ? d - c : 0);
            x[0][four] = v.x, x[1][four] = v.y, x[2][four] = v.z, x[3][four] = v.w;
        }
#pragma unroll
        for (int e = 0; e < 4; ++e)
            put_split(qs, q * 4 + e, thread % COLS, x[e]);
    }
    publish_shared();
    __syncthreads();

    // Scores, transposed: a warp has 16 keys of the chunk; decayed and masked, they are the next B.
    fragments<2> x[AHEAD<2>];
    const auto values = [&](fragments<2> &part, int q) {
        load_values<VEC>(part, V, chunk0 + q * 16, seq, warp * 32 + g * 4, d);
    };
    const int spans = (first + COLS) / 16;
    float score[1][32] = {};
    if (warp * 16 < first + COLS) {
        stream_product<1>(score, x_keys, qs, deep, keys);
        finish_products(score);
    }
    start_stream<2>(x, spans, values);
    if (warp * 16 < first + COLS)
#pragma unroll
        for (int i = 0; i < 32; ++i) {
            const int k = warp * 16 + g + i % 4 / 2 * 8, n = i / 4 * 8 + t * 2 + i % 2,
                      distance = first + n - k;
            const split two = split_tf32(distance >= 0 ? score[0][i] * decay[distance] : 0.0f);
            unsigned char *to =
                ps + k / SPAN * (2 * PIECE) + n * (SPAN * 4) + (k / 4 ^ n) % 8 * 16 + k % 4 * 4;
            *reinterpret_cast<uint32_t *>(to) = two.hi;
            *reinterpret_cast<uint32_t *>(to + PIECE) = two.lo;
        }
    publish_shared();
    __syncthreads();
    float acc[2][32] = {};
    stream_product<2>(acc, x, ps, spans, values);
    finish_products(acc);
    if (chunk > 0) {
        // The history needs a weight for each column, gamma^(row + 1): it is summed by itself,
        // while the rest waits where the scores were.
        asm volatile("griddepcontrol.wait;" ::: "memory"); // the scan is complete, visible
        const float4 *entering = reinterpret_cast<const float4 *>(states) +
                                 (chunk * 8 + warp) * static_cast<size_t>(16 * 4 * 32) + lane;
        const auto state = [&](fragments<2> &part, int q) {
#pragma unroll
            for (int r = 0; r < 4; ++r)
                spread<2>(part, r, __ldcg(entering + (q * 4 + r) * 32));
        };
        start_stream<2>(x, deep, state);
        __syncthreads();
        float *aside = reinterpret_cast<float *>(ps) + thread;
#pragma unroll
        for (int i = 0; i < 64; ++i) {
            aside[i * WIDE_THREADS] = acc[i / 32][i % 32];
            acc[i / 32][i % 32] = 0.0f;
        }
        stream_product<2>(acc, x, qs, deep, state);
        finish_products(acc);
#pragma unroll
        for (int i = 0; i < 64; ++i)
            acc[i / 32][i % 32] =
                acc[i / 32][i % 32] * decay[first + i % 32 / 4 * 8 + t * 2 + i % 2 + 1] +
                aside[i * WIDE_THREADS];
    }
    // A lane's four rows of the product are neighbours in a row of the output.
    const int c = warp * 32 + g * 4;
    const bool four = d % 4 == 0 && reinterpret_cast<uintptr_t>(output) % 16 == 0;
#pragma unroll
    for (int i = 0; i < 16; ++i) {
        const int n = n0 + i / 2 * 8 + t * 2 + i % 2, at = i / 2 * 4 + i % 2;
        const float v[4] = {acc[0][at] * scale, acc[0][at + 2] * scale, acc[1][at] * scale,
                            acc[1][at + 2] * scale};
        float *to = output + static_cast<size_t>(n) * d + c;
        if (n < seq && c < d && four)
            *reinterpret_cast<float4 *>(to) = make_float4(v[0], v[1], v[2], v[3]);
        else
            for (int e = 0; e < 4; ++e)
                if (n < seq && c + e < d)
                    to[e] = v[e];
    }
#endif
}

// True when the wide path was launched. False: this device or build has no wgmma, or the rows are
// too few or too many for it: one block of outputs a multiprocessor, two turns at most.
template <bool VEC>
static bool wide(const float *Q, const float *K, const float *V, float *output, int seq, int d,
                 float gamma)
{
    static const int multiprocessors = [] {
        int device = 0, count = 0;
        cudaGetDevice(&device);
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device);
        return count;
    }();
    const int chunks = (seq + WIDE_CHUNK - 1) / WIDE_CHUNK, blocks = (seq + COLS - 1) / COLS;
    if (seq < 1024 || blocks > 2 * multiprocessors)
        return false;
    static const bool built = [] { // for sm_90a; its kernels may be touched
        cudaFuncAttributes attributes = {};
        if (cudaFuncGetAttributes(&attributes, wide_states_kernel<VEC>) != cudaSuccess ||
            attributes.sharedSizeBytes == 0)
            return false;
        cudaFuncSetAttribute(wide_states_kernel<VEC>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             WS_SHARED);
        cudaFuncSetAttribute(wide_outputs_kernel<VEC>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             WO_SHARED);
        return true;
    }();
    if (!built)
        return false;
    launch(false, wide_states_kernel<VEC>,
           dim3(MAX_D / COLS, static_cast<unsigned>((chunks + RUN - 1) / RUN)), WIDE_THREADS,
           WS_SHARED, K, V, seq, d, chunks, gamma);
    launch(true, scan_kernel, dim3(MAX_D * MAX_D / 2 / SCAN_THREADS), SCAN_THREADS, 0, chunks,
           MAX_D * MAX_D, powf(gamma, static_cast<float>(WIDE_CHUNK)));
    launch(true, wide_outputs_kernel<VEC>, dim3(static_cast<unsigned>(blocks)), WIDE_THREADS,
           WO_SHARED, Q, K, V, output, seq, d, gamma, 1.0f / sqrtf(static_cast<float>(d)));
    return true;
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    static_assert(MAX_S / 64 * 128 * 128 <= 64 * MAX_D * MAX_D,
                  "states hold 128 chunks of 128 x 128");
    const bool vec =
        d_model % 4 == 0 && (reinterpret_cast<uintptr_t>(Q) | reinterpret_cast<uintptr_t>(K) |
                             reinterpret_cast<uintptr_t>(V)) %
                                    16 ==
                                0;
    const bool forgets = powf(gamma, static_cast<float>(TILE)) <= 0x1p-6f;
    if (forgets && d_model <= TILE && seq_len > TILE &&
        (vec ? lookback<true> : lookback<false>)(Q, K, V, output, seq_len, d_model, gamma))
        return;
    if (d_model > 128 && (vec ? wide<true> : wide<false>)(Q, K, V, output, seq_len, d_model, gamma))
        return;
    const auto path = d_model > 128  ? (vec ? run<256, true> : run<256, false>)
                      : d_model > 64 ? (vec ? run<128, true> : run<128, false>)
                                     : (vec ? run<32, true> : run<32, false>);
    path(Q, K, V, output, seq_len, d_model, gamma);
}

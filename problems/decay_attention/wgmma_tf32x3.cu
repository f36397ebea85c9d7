// @idea   chunk states, scan, outputs on wgmma: A streamed from L2 into registers, B split once in shared memory
// @source own, after scan_tf32x3.cu
// @expect AC
// @arch   sm_90a
// @needs  gpu
// Made for d from 129 to 256, where the default, lookback_tf32x3.cu, holds the same kernels; right
// for every d. Bytes: 16*S*d algorithmic (33.6 MB at 8192x256), and 16.8 MB of states in L2,
// written, scanned in place and read once. Floor at 8192x256: 10 us of traffic, 18 us of TF32 work
// (three products for each exact one, 494 TFLOP/s). Above the floor: three kernels one after the
// other, each with a start that nothing covers, and loads of A that arrive late; the tensor pipe
// is active a third of the time. Exact in the fp32 sense for every gamma in (0, 1] and any scale,
// like scan_tf32x3.cu. Deterministic.
#include <cuda_runtime.h>
#include <stdint.h>

constexpr int MAX_D = 256;
constexpr int MAX_S = 8192;

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

// ---- products by wgmma
// One wgmma multiplies 64 rows of A by up to 256 columns of B, at nearly twice the rate of
// mma.sync. Everything here is 256 rows by 64 columns. A comes from registers, laid out as for
// mma.m16n8k8 with a warp for every 16 rows: each of its elements is used by one lane only, so it
// travels from L2 into the fragment, is split there, and never sees shared memory. B is small, used
// by all warps, and lies in shared memory for the whole product, split beforehand.
constexpr int CHUNK = 128;
constexpr int COLS = 64;          // columns of a product: state columns, or rows of the output
constexpr int WIDE_THREADS = 256; // two warp groups, 128 rows each: two wgmma tiles a warp group
constexpr int RUN = 2;            // tiles of states that a block makes, one after the other
constexpr int SPAN = 32; // k of one piece of B: rows of 128 bytes, the width of the swizzle
constexpr int PIECE = COLS * SPAN * 4; // bytes of a piece, high or low part

// State of every chunk, transposed: [chunk][j][i]. Own contribution, after the scan the entering
// state. Narrower matrices are padded to 256 x 256.
__device__ static __align__(16) float states[static_cast<size_t>(MAX_S / CHUNK) * MAX_D * MAX_D];

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

// ---- stage a: own contribution of each chunk, transposed
constexpr int WS_PART = CHUNK / SPAN * 2 * PIECE; // bytes of K for one tile
constexpr int WS_SHARED = RUN * WS_PART;

// State of a chunk at (j, i): sum over its rows n of gamma^(C-1-n) V[n][j] K[n][i]. A block has all
// j, 64 i and RUN chunks; A is V, turned, B is K, weighted. Columns of B are permuted so that a
// lane ends up with i = 16q + 4t to 16q + 4t + 3, what the outputs kernel wants in one load:
// states[chunk][warp][q][r][lane] of float4s, for j = 32 * warp + 4 * g + r.
template <bool VEC>
__global__ static void __launch_bounds__(WIDE_THREADS, 1)
    states_kernel(const float *__restrict__ K, const float *__restrict__ V, int seq, int d,
                  int chunks, float gamma)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    __shared__ float decay[CHUNK]; // by its size the host knows that this body exists
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32,
              g = lane / 4;
    const int i0 = static_cast<int>(blockIdx.x) * COLS, c0 = static_cast<int>(blockIdx.y) * RUN,
              c1 = min(chunks, c0 + RUN);
    asm volatile("griddepcontrol.launch_dependents;");
    if (thread < CHUNK)
        decay[thread] = powf(gamma, static_cast<float>(CHUNK - 1 - thread));
    __syncthreads();
    // A thread has one column of K, every fourth unit of four rows.
    const int i = thread % COLS, column = i / 16 * 16 + i % 4 / 2 * 8 + i % 16 / 4 * 2 + i % 2;
    float k[RUN][CHUNK / 16][4];
#pragma unroll
    for (int c = 0; c < RUN; ++c)
#pragma unroll
        for (int u = 0; u < CHUNK / 16; ++u)
#pragma unroll
            for (int e = 0; e < 4; ++e) {
                const int n = (c0 + c) * CHUNK + (thread / COLS + u * 4) * 4 + e;
                k[c][u][e] = n < seq && i0 + i < d ? K[static_cast<size_t>(n) * d + i0 + i] : 0.0f;
            }
    fragments<2> x[AHEAD<2>];
    int chunk = c0;
    const auto values = [&](fragments<2> &part, int q) {
        load_values<VEC>(part, V, chunk * CHUNK + q * 16, seq, warp * 32 + g * 4, d);
    };
    start_stream<2>(x, CHUNK / 16, values);
#pragma unroll
    for (int c = 0; c < RUN; ++c)
#pragma unroll
        for (int u = 0; u < CHUNK / 16; ++u)
            put_split(shared + c * WS_PART, thread / COLS + u * 4, column, k[c][u],
                      decay + (thread / COLS + u * 4) * 4);
    publish_shared();
    __syncthreads();
    for (; chunk < c1; ++chunk) {
        if (chunk > c0)
            start_stream<2>(x, CHUNK / 16, values);
        float acc[2][32] = {};
        stream_product<2>(acc, x, shared + (chunk - c0) * WS_PART, CHUNK / 16, values);
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

// ---- stage c: 64 rows of the output, all columns; a product has them as its columns
constexpr int WO_Q = MAX_D / SPAN * 2 * PIECE, WO_P = CHUNK / SPAN * 2 * PIECE; // bytes
constexpr int WO_SHARED = WO_Q + WO_P + (CHUNK + 4) * 4;

template <bool VEC>
__global__ static void __launch_bounds__(WIDE_THREADS, 1)
    outputs_kernel(const float *__restrict__ Q, const float *__restrict__ K,
                   const float *__restrict__ V, float *__restrict__ output, int seq, int d,
                   float gamma, float scale)
{
    extern __shared__ __align__(1024) unsigned char shared[];
    unsigned char *qs = shared, *ps = qs + WO_Q;
    float *decay = reinterpret_cast<float *>(ps + WO_P); // gamma^0 .. gamma^128
    const int thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32,
              g = lane / 4, t = lane % 4;
    const int n0 = static_cast<int>(gridDim.x - 1 - blockIdx.x) * COLS, chunk = n0 / CHUNK,
              chunk0 = chunk * CHUNK, first = n0 - chunk0, deep = (d + 15) / 16;
    if (thread <= CHUNK)
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

template <bool VEC>
static void run(const float *Q, const float *K, const float *V, float *output, int seq, int d,
                float gamma)
{
    static const bool ready = [] { // once per process: shared memory above 48 KB needs the opt-in
        cudaFuncSetAttribute(states_kernel<VEC>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             WS_SHARED);
        cudaFuncSetAttribute(outputs_kernel<VEC>, cudaFuncAttributeMaxDynamicSharedMemorySize,
                             WO_SHARED);
        return true;
    }();
    (void)ready;
    const int chunks = (seq + CHUNK - 1) / CHUNK, blocks = (seq + COLS - 1) / COLS;
    if (chunks > 1) {
        launch(false, states_kernel<VEC>,
               dim3(MAX_D / COLS, static_cast<unsigned>((chunks + RUN - 1) / RUN)), WIDE_THREADS,
               WS_SHARED, K, V, seq, d, chunks, gamma);
        launch(true, scan_kernel, dim3(MAX_D * MAX_D / 2 / SCAN_THREADS), SCAN_THREADS, 0, chunks,
               MAX_D * MAX_D, powf(gamma, static_cast<float>(CHUNK)));
    }
    launch(chunks > 1, outputs_kernel<VEC>, dim3(static_cast<unsigned>(blocks)), WIDE_THREADS,
           WO_SHARED, Q, K, V, output, seq, d, gamma, 1.0f / sqrtf(static_cast<float>(d)));
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    const bool vec =
        d_model % 4 == 0 && (reinterpret_cast<uintptr_t>(Q) | reinterpret_cast<uintptr_t>(K) |
                             reinterpret_cast<uintptr_t>(V)) %
                                    16 ==
                                0;
    (vec ? run<true> : run<false>)(Q, K, V, output, seq_len, d_model, gamma);
}

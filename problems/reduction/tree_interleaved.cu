// @idea   shared-memory tree with growing stride: the slow textbook version
// @source note 003 section 3.2, the version it argues from
// @expect AC
// Bytes: 4N read, N/64 read and written by the later rounds. Floor: 2.7 us + 4N / 4.62 TB/s.
// Far above it. Divergence: at stride s only threads with tid % 2s == 0 add. They sit in all warps,
// so every warp runs every step with ever fewer useful lanes: the virtual GPU counts eight times as
// many divergent branches and four times as many shared loads as for `tree_sequential.cu`. Bank
// conflicts it has none, since the lanes of one warp stay within 32 neighbouring words; the form
// that trades the one for the other is `tree_strided.cu`. And one 4-byte load per thread puts too
// few bytes in flight to fill the memory pipe.
// Each further round costs a kernel boundary, about 2 us cold. Deterministic: a fixed tree.
// Accuracy: the tree adds numbers of like size, log2(N) roundings deep: about 5e-8.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_N = 100000000;
constexpr int MAX_PARTIALS = (MAX_N + BLOCK - 1) / BLOCK;

// Two partial arrays: each round reads one and writes the other.
__device__ float g_partials[2][MAX_PARTIALS];

__global__ void tree_interleaved(const float *__restrict__ from, float *__restrict__ to, int n)
{
    __shared__ float tile[BLOCK];
    const int tid = static_cast<int>(threadIdx.x);
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + tid;

    // Phase 1: one element per thread; threads past the end hold the neutral element.
    tile[tid] = i < n ? from[i] : 0.0f;
    __syncthreads();

    // Phase 2: neighbours first, then pairs two apart, four apart, ... The barrier stands outside
    // the `if`: all threads must reach it, also those which have nothing left to add.
    for (int stride = 1; stride < BLOCK; stride *= 2) {
        if (tid % (2 * stride) == 0)
            tile[tid] += tile[tid + stride];
        __syncthreads();
    }

    // Phase 3: the sum of the block.
    if (tid == 0)
        to[blockIdx.x] = tile[0];
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    // The address of a device variable does not change: asked once, kept for later calls.
    static float *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    // Rounds: every launch leaves one value per block, until one block is enough. 1e8 elements
    // take four rounds (390,625, 1,526, 6 and 1 values left). The last round writes the output.
    const float *from = input;
    int count = N;
    int side = 0;
    while (count > BLOCK) {
        const int blocks = (count + BLOCK - 1) / BLOCK;
        float *to = partials + side * MAX_PARTIALS;
        tree_interleaved<<<blocks, BLOCK>>>(from, to, count);
        from = to;
        count = blocks;
        side ^= 1;
    }
    tree_interleaved<<<1, BLOCK>>>(from, output, count);
}

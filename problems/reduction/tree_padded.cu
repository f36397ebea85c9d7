// @idea   the halving tree over a padded shared array: padding that buys nothing
// @source note 003 section 3.2
// @expect AC
// Bytes: 4N read, N/64 read and written by the later rounds. Floor: 2.7 us + 4N / 4.62 TB/s.
// A study, not an improvement. Shared memory has 32 banks of 4 bytes; leaving one word free after
// each 32 (index + index/32) cures conflicts of lanes that are 32 words apart, as in a transpose.
// Here neighbouring lanes touch neighbouring words already, so there is nothing to cure: the wave
// counters of the virtual GPU are those of `tree_sequential.cu`, and the index arithmetic is extra.
// Deterministic: a fixed tree.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_N = 100000000;
constexpr int MAX_PARTIALS = (MAX_N + BLOCK - 1) / BLOCK;

// Two partial arrays: each round reads one and writes the other.
__device__ float g_partials[2][MAX_PARTIALS];

// Word 33 follows word 31: one free word after each row of 32.
__device__ constexpr int padded(int index) { return index + index / 32; }

__global__ void tree_padded(const float *__restrict__ from, float *__restrict__ to, int n)
{
    __shared__ float tile[padded(BLOCK)];
    const int tid = static_cast<int>(threadIdx.x);
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + tid;

    // Phase 1: one element per thread; threads past the end hold the neutral element.
    tile[padded(tid)] = i < n ? from[i] : 0.0f;
    __syncthreads();

    // Phase 2: fold the upper half onto the lower half; every index goes through padded().
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[padded(tid)] += tile[padded(tid + stride)];
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
        tree_padded<<<blocks, BLOCK>>>(from, to, count);
        from = to;
        count = blocks;
        side ^= 1;
    }
    tree_padded<<<1, BLOCK>>>(from, output, count);
}

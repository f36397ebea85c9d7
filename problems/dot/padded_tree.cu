// @idea   the shared tree with a padded index, done right
// @source note 002 section 5.2
// @expect AC
// Bytes: 8N read, 16 KB of partials written and read. Floor: 2.7 us + 8N / 4.62 TB/s.
// A padded array leaves one word free after each 32, so that words 32 apart lie in different banks.
// Every access, the first store included, must go through the same map; rejects/bank_index.cu
// shows what happens otherwise. For this tree padding buys nothing: the plain one has no conflicts,
// and the wave counters of the virtual GPU are equal. It stays as the proof of that.
// Above the floor: as `shared_tree.cu`. Deterministic.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 4096;

__device__ float g_partials[MAX_BLOCKS];

// Word 33 follows word 31: one free word after each row of 32.
__device__ constexpr int padded(int index) { return index + index / 32; }

// The sum over the block, valid in every thread: the upper half is folded onto the lower half until
// one value is left.
__device__ float block_sum(float v)
{
    __shared__ float tile[padded(BLOCK)];
    const int tid = static_cast<int>(threadIdx.x);

    tile[padded(tid)] = v;
    __syncthreads();
    for (int stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (tid < stride)
            tile[padded(tid)] += tile[padded(tid + stride)];
        __syncthreads();
    }
    return tile[0];
}

__global__ void multiply(const float *__restrict__ a, const float *__restrict__ b,
                         float *__restrict__ partials, int n)
{
    // Phase 1: thread t takes elements t, t + T, t + 2T, ... for T threads in the grid:
    // neighbouring lanes read neighbouring words of both arrays.
    const long long stride = static_cast<long long>(gridDim.x) * BLOCK;
    float acc = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n; i += stride)
        acc += a[i] * b[i];

    // Phase 2: within the block.
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        partials[blockIdx.x] = acc;
}

// Last phase: one block adds the partials.
__global__ void sum_partials(const float *__restrict__ partials, float *__restrict__ result, int n)
{
    float acc = 0.0f;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc += partials[i];
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *result = acc;
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    static float *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    multiply<<<blocks, BLOCK>>>(A, B, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, result, blocks);
}

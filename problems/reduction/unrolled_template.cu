// @idea   tree unrolled at compile time: the block size is a template argument, 32 to 1,024
// @source note 003 section 5.1
// @expect AC
// @tune   BLOCK 512 32 64 128 256 1024
// Bytes: 4N read, up to 128 KB of partials written and read. Floor: 2.7 us + 4N / 4.62 TB/s.
// What unrolling buys: with the block size known, every `if (THREADS >= 512)` is decided by the
// compiler, so neither the loop counter nor the finished steps are left at run time.
// Three traps of the usual form of this kernel, all avoided here: the step from 1,024 to 512 must
// exist (without it half of a 1,024-thread block is lost); the last warp needs __syncwarp()
// between its steps, because lanes have not run in lockstep since Volta; and a block of 32
// threads must not read slots that it does not own.
// Above the floor: as `shuffle_hybrid.cu`, and shared memory where that uses registers.
// Deterministic. fp32 chains of a thread: at most 96 terms at N = 1e8.

#ifndef BLOCK
#define BLOCK 512
#endif

namespace
{

constexpr int MAX_THREADS = 1 << 20;
constexpr int MAX_BLOCKS = MAX_THREADS / BLOCK;
static_assert(BLOCK >= 32 && BLOCK <= 1024 && (BLOCK & (BLOCK - 1)) == 0, "a power of two");

__device__ float g_partials[MAX_BLOCKS];

// One step of the last warp: read, wait, write, wait. A lane may read its partner's slot only
// before the partner overwrites it, hence two barriers per step.
template <int STEP> __device__ void fold_in_warp(float *tile, int tid)
{
    const float other = tile[tid + STEP];
    __syncwarp();
    if (tid < STEP)
        tile[tid] += other;
    __syncwarp();
}

template <int THREADS> __device__ float block_sum(float v)
{
    // 16 spare words: lanes up to 31 read 16 words further on even in a block of 32 threads.
    __shared__ float tile[THREADS + 16];
    const int tid = static_cast<int>(threadIdx.x);

    tile[tid] = v;
    if (tid < 16)
        tile[THREADS + tid] = 0.0f;
    __syncthreads();

    // Phase 1: whole warps fold, a barrier of the block after each step.
    if (THREADS >= 1024) {
        if (tid < 512)
            tile[tid] += tile[tid + 512];
        __syncthreads();
    }
    if (THREADS >= 512) {
        if (tid < 256)
            tile[tid] += tile[tid + 256];
        __syncthreads();
    }
    if (THREADS >= 256) {
        if (tid < 128)
            tile[tid] += tile[tid + 128];
        __syncthreads();
    }
    if (THREADS >= 128) {
        if (tid < 64)
            tile[tid] += tile[tid + 64];
        __syncthreads();
    }

    // Phase 2: at most 64 values are left; one warp folds them.
    if (tid < 32) {
        if (THREADS >= 64) {
            tile[tid] += tile[tid + 32];
            __syncwarp();
        }
        fold_in_warp<16>(tile, tid);
        fold_in_warp<8>(tile, tid);
        fold_in_warp<4>(tile, tid);
        fold_in_warp<2>(tile, tid);
        fold_in_warp<1>(tile, tid);
    }
    return tile[0];
}

template <int THREADS>
__global__ void sum(const float *__restrict__ from, float *__restrict__ to, int n)
{
    const long long stride = static_cast<long long>(gridDim.x) * THREADS;
    float acc = 0.0f;
    for (long long i = static_cast<long long>(blockIdx.x) * THREADS + threadIdx.x; i < n;
         i += stride)
        acc += from[i];

    acc = block_sum<THREADS>(acc);
    if (threadIdx.x == 0)
        to[blockIdx.x] = acc;
}

// Picks the instance for a block size known only at run time.
void launch(int threads, int blocks, const float *from, float *to, int n)
{
    switch (threads) {
    case 32:
        sum<32><<<blocks, 32>>>(from, to, n);
        break;
    case 64:
        sum<64><<<blocks, 64>>>(from, to, n);
        break;
    case 128:
        sum<128><<<blocks, 128>>>(from, to, n);
        break;
    case 256:
        sum<256><<<blocks, 256>>>(from, to, n);
        break;
    case 512:
        sum<512><<<blocks, 512>>>(from, to, n);
        break;
    default:
        sum<1024><<<blocks, 1024>>>(from, to, n);
        break;
    }
}

// The smallest block that covers `count` elements, from 32 up to 1,024 threads.
int threads_for(int count)
{
    int threads = 32;
    while (threads < count && threads < 1024)
        threads *= 2;
    return threads;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static float *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    // A single block of fitting size for small inputs: this exercises every instance.
    if (N <= 1024) {
        launch(threads_for(N), 1, input, output, N);
        return;
    }
    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    launch(BLOCK, blocks, input, partials, N);
    launch(threads_for(blocks), 1, partials, output, blocks);
}

// @idea   8- or 16-byte loads with a scalar head and tail, second kernel for the partials
// @source note 003 sections 3.2 and 5.2
// @expect AC
// @tune   VEC 4 2
// Bytes: 4N read, 4 KB of partials written and read. Floor: 2.7 us + 4N / 4.62 TB/s = 6.3 us at
// N = 4,194,304.
// Against `shuffle_hybrid.cu`: one load instruction fetches four elements, so a quarter of the
// instructions keeps as many bytes in flight, and the four components feed four independent
// accumulators instead of one chain of dependent additions.
// Alignment: a 16-byte load faults on an address that is not a multiple of 16, and solve() is
// promised 4 only. Up to three elements before the first such address (the head) and after the
// last full vector (the tail) are added by single threads of block 0.
// Above the floor: the second kernel, 2 us cold. Its usual replacement, a memset and one fp32
// atomic per block, costs as much and flushes denormals to zero. Deterministic.
// fp32 chains: at most 96 terms per accumulator at N = 1e8.

#ifndef VEC
#define VEC 4
#endif

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 1024;
constexpr unsigned FULL_WARP = 0xffffffffu;
static_assert(VEC == 2 || VEC == 4, "float2 or float4");

__device__ float g_partials[MAX_BLOCKS];

template <int WIDTH> struct vector;
template <> struct vector<2> {
    using type = float2;
};
template <> struct vector<4> {
    using type = float4;
};

[[maybe_unused]] __device__ void add(float4 &acc, float2 v)
{
    acc.x += v.x;
    acc.y += v.y;
}

[[maybe_unused]] __device__ void add(float4 &acc, float4 v)
{
    acc.x += v.x;
    acc.y += v.y;
    acc.z += v.z;
    acc.w += v.w;
}

__device__ float warp_sum(float v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(FULL_WARP, v, delta);
    return v;
}

// The sum over the block, valid in thread 0.
__device__ float block_sum(float v)
{
    __shared__ float slot[32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    const int warps = static_cast<int>(blockDim.x) / 32;

    v = warp_sum(v);
    if (lane == 0)
        slot[warp] = v;
    __syncthreads();
    if (warp == 0)
        v = warp_sum(lane < warps ? slot[lane] : 0.0f);
    return v;
}

__global__ void sum_vectors(const float *__restrict__ from, float *__restrict__ to, int n)
{
    using vec = typename vector<VEC>::type;
    const int bytes_past =
        static_cast<int>(reinterpret_cast<unsigned long long>(from) % sizeof(vec));
    const int to_boundary = bytes_past == 0 ? 0 : VEC - bytes_past / 4;
    const int head = to_boundary < n ? to_boundary : n;
    const int vectors = (n - head) / VEC;
    const int tail_start = head + vectors * VEC;
    const vec *body = reinterpret_cast<const vec *>(from + head);

    // Phase 1: the aligned body, one vector per thread and step.
    const int stride = static_cast<int>(gridDim.x * blockDim.x);
    const int first = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    float4 acc = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
    for (int i = first; i < vectors; i += stride)
        add(acc, body[i]);
    float sum = (acc.x + acc.y) + (acc.z + acc.w);

    // Phase 2: head and tail, fewer than 2 * VEC elements, one per thread of block 0.
    if (blockIdx.x == 0) {
        const int t = static_cast<int>(threadIdx.x);
        if (t < head)
            sum += from[t];
        if (t < n - tail_start)
            sum += from[tail_start + t];
    }

    // Phase 3: within the block.
    sum = block_sum(sum);
    if (threadIdx.x == 0)
        to[blockIdx.x] = sum;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static float *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int per_block = BLOCK * VEC;
    const int wanted = (N + per_block - 1) / per_block;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    if (blocks == 1) {
        sum_vectors<<<1, BLOCK>>>(input, output, N);
        return;
    }
    sum_vectors<<<blocks, BLOCK>>>(input, partials, N);
    sum_vectors<<<1, BLOCK>>>(partials, output, blocks);
}

// @idea   tensor cores add: mma with a matrix of ones, the input split into two TF32 terms
// @source note 003 section 8.1
// @expect AC
// Bytes: 4N read, 8 KB of partials written and read. Floor: 2.7 us + 4N / 4.62 TB/s.
// D = A * ones + C puts the sum of each row of A into every column of D: one m16n8k8 instruction
// adds 128 elements. It buys nothing in speed, since a sum is limited by memory, not by additions;
// the file shows what exactness takes.
// TF32 keeps 11 significant bits. One rounded term is off by up to 2.4e-4 on constant data (see
// rejects/tensor_ones_tf32.cu). Two terms keep 22 bits: hi = x rounded to TF32, lo = x - hi, which
// fp32 holds exactly, rounded again; the error left is about 2^-24 of x and has random sign.
// Two more traps: the tensor core truncates when it adds, so accumulators go to double after eight
// instructions; and TF32 has fp32's exponent range but fewer denormal bits, so inputs are scaled
// by 2^60 (exact: |x| <= 1000 leaves room) and the sum is scaled back.
// Above the floor: the second kernel. Deterministic.

namespace
{

constexpr int BLOCK = 256;
constexpr int MAX_BLOCKS = 1024;
constexpr int BATCH = 4; // float4 per lane between two folds into double
constexpr unsigned FULL_WARP = 0xffffffffu;
constexpr unsigned ONE = 0x3f800000u;                   // 1.0f, which is also 1.0 in TF32
constexpr float SCALE = 1152921504606846976.0f;         // 2^60
constexpr double UNSCALE = 1.0 / 1152921504606846976.0; // 2^-60

__device__ double g_partials[MAX_BLOCKS];

__device__ double warp_sum(double v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(FULL_WARP, v, delta);
    return v;
}

// The sum over the block, valid in thread 0.
__device__ double block_sum(double v)
{
    __shared__ double slot[BLOCK / 32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;

    v = warp_sum(v);
    if (lane == 0)
        slot[warp] = v;
    __syncthreads();
    if (warp == 0)
        v = warp_sum(lane < BLOCK / 32 ? slot[lane] : 0.0);
    return v;
}

// Rounds to the nearest TF32 value: a raw fp32 register given to mma would be truncated.
__device__ unsigned to_tf32(float x)
{
    unsigned bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return bits;
}

// d += A * ones, where the lane's four values are its share of the 16 x 8 matrix A. Which element
// of A a register stands for does not matter, because all of A is added up in the end.
__device__ void mma_ones(float (&d)[4], const unsigned (&a)[4])
{
    asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                 "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                 : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                 : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(ONE), "r"(ONE));
}

__device__ void add_split(float (&d)[4], float4 v)
{
    const float x[4] = {v.x * SCALE, v.y * SCALE, v.z * SCALE, v.w * SCALE};
    unsigned hi[4];
    unsigned lo[4];
    for (int k = 0; k < 4; ++k) {
        hi[k] = to_tf32(x[k]);
        lo[k] = to_tf32(x[k] - __uint_as_float(hi[k]));
    }
    mma_ones(d, lo);
    mma_ones(d, hi);
}

__global__ void sum_mma(const float *__restrict__ input, double *__restrict__ partials, int n)
{
    const int bytes_past = static_cast<int>(reinterpret_cast<unsigned long long>(input) % 16);
    const int to_boundary = bytes_past == 0 ? 0 : 4 - bytes_past / 4;
    const int head = to_boundary < n ? to_boundary : n;
    const int vectors = (n - head) / 4;
    const int tail_start = head + vectors * 4;
    const float4 *body = reinterpret_cast<const float4 *>(input + head);
    const int tid = static_cast<int>(threadIdx.x);
    const int lane = tid % 32;

    // Phase 1: a warp takes 4 x 32 vectors at a time. All 32 lanes must execute the mma, so the
    // loop counts whole batches, and lanes past the end bring zeros.
    const int warps = static_cast<int>(gridDim.x) * (BLOCK / 32);
    double sum = 0.0;
    for (long long first =
             (static_cast<long long>(blockIdx.x) * (BLOCK / 32) + tid / 32) * 32 * BATCH;
         first < vectors; first += static_cast<long long>(warps) * 32 * BATCH) {
        float4 v[BATCH];
        for (int k = 0; k < BATCH; ++k) {
            const long long at = first + k * 32 + lane;
            v[k] = at < vectors ? body[at] : make_float4(0.0f, 0.0f, 0.0f, 0.0f);
        }
        float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        for (int k = 0; k < BATCH; ++k)
            add_split(d, v[k]);
        // d[0] belongs to row lane/4, d[2] to row lane/4 + 8; lanes 0, 4, 8, ... hold column 0.
        if (lane % 4 == 0)
            sum += (static_cast<double>(d[0]) + static_cast<double>(d[2])) * UNSCALE;
    }

    // Phase 2: head and tail, at most three elements each, by threads of block 0.
    if (blockIdx.x == 0) {
        if (tid < head)
            sum += static_cast<double>(input[tid]);
        if (tid < n - tail_start)
            sum += static_cast<double>(input[tail_start + tid]);
    }

    // Phase 3: within the block.
    sum = block_sum(sum);
    if (tid == 0)
        partials[blockIdx.x] = sum;
}

// Phase 4: one block adds the partials.
__global__ void sum_partials(const double *__restrict__ partials, float *__restrict__ output, int n)
{
    double acc = 0.0;
    for (int i = static_cast<int>(threadIdx.x); i < n; i += BLOCK)
        acc += partials[i];
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static double *partials = nullptr;
    if (partials == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&partials), g_partials);

    const int per_block = BLOCK * 4 * BATCH;
    const int wanted = (N + per_block - 1) / per_block;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_BLOCKS ? wanted : MAX_BLOCKS;
    sum_mma<<<blocks, BLOCK>>>(input, partials, N);
    sum_partials<<<1, BLOCK>>>(partials, output, blocks);
}

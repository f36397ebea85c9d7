// @idea   tensor cores with a single TF32 term
// @source own
// @expect WA
// TF32 keeps 11 significant bits, and raw fp32 bits handed to mma are truncated to them, not
// rounded: every element comes out a little too small, 3.3e-4 on average, against a tolerance of
// 1e-5. The accepted form, tensor_ones.cu, splits each element into two rounded terms.

namespace
{

constexpr int BLOCK = 1024;

// The sum over the block, valid in every thread.
__device__ double block_sum(double v)
{
    __shared__ double slot[BLOCK];
    slot[threadIdx.x] = v;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    return slot[0];
}

constexpr unsigned ONE = 0x3f800000u;

__global__ void sum(const float *input, float *output, int n)
{
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    double acc = 0.0;
    // A warp adds 128 elements with one instruction; all lanes must take part.
    for (long long start = static_cast<long long>(warp) * 128; start < n;
         start += BLOCK / 32 * 128) {
        unsigned a[4];
        for (int k = 0; k < 4; ++k) {
            const long long i = start + k * 32 + lane;
            a[k] = i < n ? __float_as_uint(input[i]) : 0u;
        }
        float d[4] = {0.0f, 0.0f, 0.0f, 0.0f};
        asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
                     "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
                     : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
                     : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(ONE), "r"(ONE));
        if (lane % 4 == 0)
            acc += static_cast<double>(d[0]) + static_cast<double>(d[2]);
    }
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

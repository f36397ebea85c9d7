// @idea   reads float4 without asking whether the pointer is aligned
// @source own
// @expect RE
// cudaMalloc aligns to 256 bytes, so this works until somebody passes a pointer into the middle of
// an array: a 16-byte load at an address that is not a multiple of 16 is a fault.

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

// Vectors first, then the last N mod 4 elements.
__global__ void sum(const float *input, float *output, int n)
{
    const float4 *vectors = reinterpret_cast<const float4 *>(input);
    double acc = 0.0;
    for (int i = static_cast<int>(threadIdx.x); i < n / 4; i += BLOCK) {
        const float4 v = vectors[i];
        acc += (static_cast<double>(v.x) + v.y) + (static_cast<double>(v.z) + v.w);
    }
    const int tail = n / 4 * 4 + static_cast<int>(threadIdx.x);
    if (tail < n)
        acc += static_cast<double>(input[tail]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

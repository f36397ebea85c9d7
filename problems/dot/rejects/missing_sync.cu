// @idea   a shared-memory tree without barriers
// @source own
// @expect RE
// @needs  vgpu
// A thread reads what another warp may not have written yet. On hardware it is often right by luck,
// because warps run nearly in step; the race check of the virtual GPU names both lines.

namespace
{

constexpr int BLOCK = 1024;

// The sum over the block, valid in thread 0 if the warps happen to run in step.
__device__ double racy_block_sum(double v)
{
    __shared__ double slot[BLOCK];
    slot[threadIdx.x] = v;
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] += slot[threadIdx.x + stride];
    }
    return slot[0];
}

// The dot product by one block.
__global__ void sum(const float *a, const float *b, float *result, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(a[i]) * b[i];
    acc = racy_block_sum(acc);
    if (threadIdx.x == 0)
        *result = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    sum<<<1, BLOCK>>>(A, B, result, N);
}

// @idea   writes one element past the end of the output
// @source own
// @expect RE
// The answer itself is right: only the guard behind the output, or the bounds check of the virtual
// GPU, can see the fault.

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

// The dot product by one block: slow, but short.
__global__ void sum(const float *a, const float *b, float *result, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(a[i]) * b[i];
    acc = block_sum(acc);
    if (threadIdx.x < 2)
        result[threadIdx.x] = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    sum<<<1, BLOCK>>>(A, B, result, N);
}

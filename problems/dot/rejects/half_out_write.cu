// @idea   stores the result as a double into a float
// @source own
// @expect RE
// The output is four bytes; the store writes eight. On hardware a result at an address that is no
// multiple of 8 is a misaligned store; elsewhere the guard behind the output is hit.

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

// The type of the last store is wrong.
__global__ void sum(const float *a, const float *b, float *result, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(a[i]) * b[i];
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *reinterpret_cast<double *>(result) = acc;
}

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    sum<<<1, BLOCK>>>(A, B, result, N);
}

// @idea   works on a stream of its own and joins nothing
// @source own
// @expect WA
// @needs  gpu
// Work on a non-blocking stream is ordered with nothing. The answer arrives a few milliseconds
// after the call has returned, and after anything that the next user of the default stream does.

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

// Keeps the late answer late: about five milliseconds.
__global__ void dawdle()
{
    const long long start = clock64();
    while (clock64() - start < 10000000) {
    }
}

// A correct sum by one block: slow, but short.
__global__ void sum(const float *input, float *output, int n)
{
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static cudaStream_t side = nullptr;
    if (side == nullptr)
        cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking);
    dawdle<<<1, 1, 0, side>>>();
    sum<<<1, BLOCK, 0, side>>>(input, output, N);
}

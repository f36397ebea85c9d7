// @idea   the ticket that finds the last block is never set back
// @source own
// @expect WA
// The first call is right: the block that draws ticket gridDim - 1 is the last and finishes the
// sum. In the second call the tickets go on from there, no block is the last, and nothing is
// written.

namespace
{

constexpr int BLOCK = 256;

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

constexpr int MAX_GRID = 256;

__device__ double g_partials[MAX_GRID];
__device__ unsigned g_ticket;

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ bool is_last;
    double acc = 0.0;
    for (long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x; i < n;
         i += static_cast<long long>(gridDim.x) * BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_sum(acc);
    if (threadIdx.x == 0) {
        g_partials[blockIdx.x] = acc;
        __threadfence();
        is_last = atomicAdd(&g_ticket, 1u) == gridDim.x - 1; // and then: g_ticket = 0
    }
    __syncthreads();
    if (is_last && threadIdx.x == 0) {
        __threadfence();
        double total = 0.0;
        for (unsigned b = 0; b < gridDim.x; ++b)
            total += *static_cast<volatile double *>(&g_partials[b]);
        *output = static_cast<float>(total);
    }
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    const int wanted = (N + BLOCK - 1) / BLOCK;
    const int blocks = wanted < 1 ? 1 : wanted < MAX_GRID ? wanted : MAX_GRID;
    sum<<<blocks, BLOCK>>>(input, output, N);
}

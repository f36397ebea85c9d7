// @idea   adds all elements in order in one fp32 variable
// @source own
// @expect WA
// The error of a chain grows with its length: 4e-4 at 4 million elements of U(0,1000), and once the
// sum passes 2^24 times an element, that element is lost altogether. The block only feeds one
// thread through shared memory, so that the wrong answer arrives before the time limit.

namespace
{

constexpr int BLOCK = 256;

constexpr int TILE = 8 * BLOCK;

__global__ void sum_in_order(const float *input, float *output, int n)
{
    __shared__ float tile[TILE];
    float acc = 0.0f;
    for (long long start = 0; start < n; start += TILE) {
        for (int k = static_cast<int>(threadIdx.x); k < TILE; k += BLOCK)
            tile[k] = start + k < n ? input[start + k] : 0.0f;
        __syncthreads();
        if (threadIdx.x == 0) {
#pragma unroll 32
            for (int k = 0; k < TILE; ++k)
                acc += tile[k];
        }
        __syncthreads();
    }
    if (threadIdx.x == 0)
        *output = acc;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum_in_order<<<1, BLOCK>>>(input, output, N);
}

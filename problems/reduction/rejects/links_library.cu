// @idea   lets a library do the work
// @source own
// @expect CE
// Right, but not a solution: library code belongs to baselines/. The judge reads the list of
// headers that the compiler has opened and finds CUB among them.

#include <cub/block/block_reduce.cuh>

namespace
{

constexpr int BLOCK = 1024;

__global__ void sum(const float *input, float *output, int n)
{
    using block_reduce = cub::BlockReduce<double, BLOCK>;
    __shared__ typename block_reduce::TempStorage storage;
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    acc = block_reduce(storage).Sum(acc);
    if (threadIdx.x == 0)
        *output = static_cast<float>(acc);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

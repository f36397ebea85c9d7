// @idea   folds n to n / 2 and forgets the odd element
// @source own
// @expect WA
// Each step adds the upper half to the lower half. With an odd count the last element belongs to
// neither. Right for powers of two, and for inputs longer than a block, whose fold starts at 1,024.

namespace
{

constexpr int BLOCK = 1024;

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ double slot[BLOCK];
    const int tid = static_cast<int>(threadIdx.x);
    double acc = 0.0;
    for (long long i = tid; i < n; i += BLOCK)
        acc += static_cast<double>(input[i]);
    slot[tid] = acc;
    __syncthreads();
    for (int count = n < BLOCK ? n : BLOCK; count > 1; count /= 2) {
        if (tid < count / 2)
            slot[tid] += slot[tid + count / 2];
        __syncthreads();
    }
    if (tid == 0)
        *output = static_cast<float>(slot[0]);
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

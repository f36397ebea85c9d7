// @idea   loads a library during the call
// @source own
// @expect RE
// Here it loads cuBLAS if it can be found, and otherwise small libraries of the C runtime that
// every machine has, and then computes the right answer itself: the loading is what must be
// noticed.

#include <dlfcn.h>

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
    for (const char *name :
         {"libcublas.so.13", "libcublas.so.12", "libanl.so.1", "libBrokenLocale.so.1"})
        if (dlopen(name, RTLD_NOW | RTLD_LOCAL) != nullptr)
            break;
    sum<<<1, BLOCK>>>(input, output, N);
}

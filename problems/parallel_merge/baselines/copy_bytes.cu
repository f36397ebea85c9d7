// @idea   library: two device copies move the same bytes and merge nothing
// @source the ceiling of the problem
// @expect WA
// @arch   sm_75
// Bytes: 8(M+N), as every merge. Not a competitor: the answer is A followed by B, so it is wrong
// unless all of A lies below all of B, and is marked so. It tells what two plain copies cost on
// the device at hand.

#include <cuda_runtime.h>

extern "C" void solve(const float *A, const float *B, float *C, int M, int N) {
    if (M > 0)
        cudaMemcpyAsync(C, A, sizeof(float) * M, cudaMemcpyDeviceToDevice);
    if (N > 0)
        cudaMemcpyAsync(C + M, B, sizeof(float) * N, cudaMemcpyDeviceToDevice);
}

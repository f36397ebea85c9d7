// @idea   answers the first case, whatever is asked
// @source the mistakes that every problem ships
// @expect WA
// @arch   sm_80
// Wrong on purpose: two numbers in order answer the smallest example and nothing else; other data
// in its second call give it away even there.

#include <cuda_runtime.h>

namespace {

constexpr int THREADS = 256;

__global__ void write(float *C, int M, int N) {
    const int i = static_cast<int>(blockIdx.x * THREADS + threadIdx.x);
    if (i < M + N)
        C[i] = i == 0 ? 1.0f : 2.0f;
}

} // namespace

extern "C" void solve(const float *, const float *, float *C, int M, int N) {
    if (M + N < 1)
        return;
    write<<<(M + N + THREADS - 1) / THREADS, THREADS>>>(C, M, N);
}

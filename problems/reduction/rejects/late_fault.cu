// @idea   right answers, and a host thread that launches a faulty kernel after solve() has returned
// @source own
// @expect RE
// The fault shows when the judge prepares the next call or in that call. It is the solution's, not
// the judge's.

#include <chrono>
#include <thread>

namespace
{

constexpr int BLOCK = 256;

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ double slot[BLOCK];
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += input[i];
    slot[threadIdx.x] = acc;
    __syncthreads();
    for (unsigned stride = BLOCK / 2; stride > 0; stride /= 2) {
        if (threadIdx.x < stride)
            slot[threadIdx.x] += slot[threadIdx.x + stride];
        __syncthreads();
    }
    if (threadIdx.x == 0)
        output[0] = static_cast<float>(slot[0]);
}

__global__ void write_nowhere(float *nowhere) { *nowhere = 1.0f; }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static bool started = false;

    sum<<<1, BLOCK>>>(input, output, N);
    cudaDeviceSynchronize();
    if (!started)
        std::thread([] {
            std::this_thread::sleep_for(std::chrono::milliseconds(2));
            write_nowhere<<<1, 1>>>(nullptr);
        }).detach();
    started = true;
}

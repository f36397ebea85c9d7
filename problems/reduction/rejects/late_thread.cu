// @idea   a host thread delivers the answer after solve() has returned
// @source own
// @expect WA
// Timed by the call alone, this solution is as fast as starting a thread. The judge copies the
// outputs when the call has returned and again when the device is idle; the answer must be there
// both times. The thread takes its time, and gives up when the next call has begun: an answer that
// arrives in the memory of another case would blame that one.

#include <atomic>
#include <chrono>
#include <thread>

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

std::atomic<int> g_generation{0};

__device__ float g_answer;

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
    static float *answer = nullptr;
    if (answer == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&answer), g_answer);

    sum<<<1, BLOCK>>>(input, answer, N);
    float value = 0.0f;
    cudaMemcpy(&value, answer, sizeof value, cudaMemcpyDeviceToHost);

    const int generation = ++g_generation;
    std::thread([=] {
        std::this_thread::sleep_for(std::chrono::seconds(1));
        if (generation == g_generation)
            cudaMemcpy(output, &value, sizeof value, cudaMemcpyHostToDevice);
    }).detach();
}

// @idea   one atomicAdd on a double per element: slow, but right
// @source own, after note 003 section 2.2
// @expect AC
// Bytes: 4N read, and N read-modify-writes of one word. Floor: 2.7 us + N / 0.56 G atomics/s =
// 7,500 us at N = 4,194,304: all additions queue at one address of L2.
// What the double changes against `atomic_element.cu`: the chain of N roundings is as long, but
// each costs 2^-53 in place of 2^-24, so even 1e8 elements stay far inside the tolerance, and
// atomics on doubles keep denormals. Not deterministic in the last bits of the double.

namespace
{

constexpr int BLOCK = 256;

// Scratch lives in a static device variable: solve() neither allocates nor frees. It needs no
// reset after use, because the first kernel of every call clears it.
__device__ double g_sum;

// Phase 1: clear the accumulator.
__global__ void clear() { g_sum = 0.0; }

// Phase 2: one thread per element, one atomic per thread.
__global__ void add_each(const float *__restrict__ input, int n)
{
    const long long i = static_cast<long long>(blockIdx.x) * BLOCK + threadIdx.x;
    if (i < n)
        atomicAdd(&g_sum, static_cast<double>(input[i]));
}

// Phase 3: one rounding to float at the very end.
__global__ void store(float *__restrict__ output) { *output = static_cast<float>(g_sum); }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    // Kernels of one stream run one after the other: that is the barrier between the phases.
    clear<<<1, 1>>>();
    if (N > 0)
        add_each<<<(N + BLOCK - 1) / BLOCK, BLOCK>>>(input, N);
    store<<<1, 1>>>(output);
}

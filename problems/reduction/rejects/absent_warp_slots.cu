// @idea   the first warp adds 32 slots although the block has only eight warps
// @source note 003 section 4, as written
// @expect WA
// @needs  vgpu
// Right for blocks of 1,024 threads. In a smaller block the slots of warps that do not exist hold
// what the block before has left in shared memory: often zero on hardware, and then the mistake
// sleeps. The virtual GPU fills fresh shared memory with NaN and reports the read of a word never
// written.

namespace
{

constexpr int BLOCK = 256;

constexpr unsigned FULL_WARP = 0xffffffffu;

__device__ float warp_sum(float v)
{
    for (int delta = 16; delta > 0; delta /= 2)
        v += __shfl_down_sync(FULL_WARP, v, delta);
    return v;
}

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ float slot[32];
    const int lane = static_cast<int>(threadIdx.x) % 32;
    const int warp = static_cast<int>(threadIdx.x) / 32;
    float acc = 0.0f;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += input[i];
    acc = warp_sum(acc);
    if (lane == 0)
        slot[warp] = acc;
    __syncthreads();
    if (warp == 0) {
        acc = warp_sum(slot[lane]); // lanes 8 to 31 have no warp
        if (lane == 0)
            *output = acc;
    }
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    sum<<<1, BLOCK>>>(input, output, N);
}

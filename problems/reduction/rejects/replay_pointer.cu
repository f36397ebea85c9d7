// @idea   keeps every answer under the address and length of its input
// @source own
// @expect WA
// @needs  gpu
// Right as long as nobody writes new data to an old address. Timed calls on one buffer cost one
// copy of four bytes. The judge puts new contents at the same address. (On the virtual GPU no
// address is given out twice, so there this file never finds an old answer and is right.)

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

constexpr int CAPACITY = 4096;

struct key {
    const float *input;
    int n;
};

bool same(key a, key b) { return a.input == b.input && a.n == b.n; }

struct key g_keys[CAPACITY];
int g_count = 0;

__device__ float g_answers[CAPACITY];

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

__global__ void copy_answer(const float *answer, float *output) { *output = *answer; }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    static float *answers = nullptr;
    if (answers == nullptr)
        cudaGetSymbolAddress(reinterpret_cast<void **>(&answers), g_answers);

    const key wanted = {input, N};
    int at = 0;
    while (at < g_count && !same(g_keys[at], wanted))
        ++at;
    if (at == g_count) {
        if (g_count < CAPACITY - 1)
            ++g_count;
        g_keys[at] = wanted;
        sum<<<1, BLOCK>>>(input, answers + at, N);
    }
    copy_answer<<<1, 1>>>(answers + at, output);
}

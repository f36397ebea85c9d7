// @idea   answers for all buffers it has ever seen in one call, and serves the rest from there
// @source own
// @expect WA|RE
// If all inputs of a benchmark are filled before the first timed call, one call can do the work of
// all. Here every call also computes the sums of the buffers met earlier, and a call that finds its
// buffer done copies the result. The judge fills a buffer only just before its own call, so what
// was done ahead was done on old contents, or on memory that no longer belongs to anyone (RE).

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

constexpr int CAPACITY = 8;

struct buffer {
    const float *input;
    int n;
    bool done;
};

buffer g_buffers[CAPACITY];
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

    // Other sizes mean another benchmark: forget the old buffers.
    if (g_count > 0 && g_buffers[0].n != N)
        g_count = 0;
    int at = 0;
    while (at < g_count && g_buffers[at].input != input)
        ++at;
    if (at == g_count && g_count < CAPACITY)
        g_buffers[g_count++] = {input, N, false};
    if (at == CAPACITY) {
        sum<<<1, BLOCK>>>(input, output, N);
        return;
    }
    if (!g_buffers[at].done) {
        for (int b = 0; b < g_count; ++b) {
            sum<<<1, BLOCK>>>(g_buffers[b].input, answers + b, N);
            g_buffers[b].done = true;
        }
    }
    copy_answer<<<1, 1>>>(answers + at, output);
    g_buffers[at].done = false;
}

// @idea   captures a graph in the first call and replays it in all others
// @source own
// @expect WA
// @needs  gpu
// The graph holds the pointers and the size of the first call. Later calls compute that sum again
// and leave their own output untouched.

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
    static cudaGraphExec_t replay = nullptr;
    static cudaStream_t stream = nullptr;
    if (replay == nullptr) {
        cudaGraph_t graph = nullptr;
        cudaStreamCreate(&stream);
        cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
        sum<<<1, BLOCK, 0, stream>>>(input, output, N);
        cudaStreamEndCapture(stream, &graph);
        cudaGraphInstantiate(&replay, graph, 0);
        cudaGraphDestroy(graph);
    }
    cudaGraphLaunch(replay, stream);
    cudaStreamSynchronize(stream);
}

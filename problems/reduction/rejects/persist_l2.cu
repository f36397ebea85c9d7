// @idea   pins its input in L2 across calls
// @source own
// @expect AC
// @needs  bench
// Right, and honest hardware use in a program of one's own. In a benchmark with cold caches it
// carries data from the preparation of the input over into the timed call. The judge takes the
// carve-out away before each sample, so it must gain nothing.

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
    static bool limit_set = false;
    if (!limit_set) {
        int most = 0;
        cudaDeviceGetAttribute(&most, cudaDevAttrMaxPersistingL2CacheSize, 0);
        cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, static_cast<size_t>(most));
        limit_set = true;
    }
    int window = 0;
    cudaDeviceGetAttribute(&window, cudaDevAttrMaxAccessPolicyWindowSize, 0);
    const size_t bytes = static_cast<size_t>(N) * sizeof(float);
    cudaStreamAttrValue attribute = {};
    attribute.accessPolicyWindow.base_ptr = const_cast<float *>(input);
    attribute.accessPolicyWindow.num_bytes =
        bytes < static_cast<size_t>(window) ? bytes : static_cast<size_t>(window);
    attribute.accessPolicyWindow.hitRatio = 1.0f;
    attribute.accessPolicyWindow.hitProp = cudaAccessPropertyPersisting;
    attribute.accessPolicyWindow.missProp = cudaAccessPropertyStreaming;
    cudaStreamSetAttribute(nullptr, cudaStreamAttributeAccessPolicyWindow, &attribute);
    cudaGetLastError(); // a stream or device without the feature is no failed launch
    sum<<<1, BLOCK>>>(input, output, N);
}

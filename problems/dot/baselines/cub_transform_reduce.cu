// @idea   cub::DeviceReduce::TransformReduce over an index that reads both inputs
// @source CUB, part of the CUDA toolkit
// @expect AC
// Bytes: 8N read. Two kernels. The counting iterator hides from the library that both arrays are
// plain memory, so it gives up its vector loads: compare it with cublas_sdot. The temporary
// storage is the largest that any N within the limits asks for, allocated in the first call.

#include <cub/device/device_reduce.cuh>
#include <cuda/functional>
#include <thrust/iterator/counting_iterator.h>

namespace
{

// The product at an index: the transformation of a counting iterator.
struct product_at {
    const float *a;
    const float *b;

    __device__ float operator()(int i) const { return a[i] * b[i]; }
};

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    constexpr int MAX_N = 100000000;
    static void *storage = nullptr;
    static size_t storage_size = 0;
    const thrust::counting_iterator<int> index(0);
    const product_at product{A, B};
    if (storage == nullptr) {
        for (int n = 1; n <= MAX_N; n = n < MAX_N && n > MAX_N / 4 ? MAX_N : n * 4) {
            size_t wanted = 0;
            cub::DeviceReduce::TransformReduce(nullptr, wanted, index, result, n,
                                               cuda::std::plus<float>{}, product, 0.0f);
            storage_size = wanted > storage_size ? wanted : storage_size;
            if (n == MAX_N)
                break;
        }
        cudaMalloc(&storage, storage_size);
    }
    size_t size = storage_size;
    cub::DeviceReduce::TransformReduce(storage, size, index, result, N, cuda::std::plus<float>{},
                                       product, 0.0f);
}

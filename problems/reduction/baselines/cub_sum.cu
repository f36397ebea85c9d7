// @idea   cub::DeviceReduce::Sum, temporary storage allocated once
// @source CUB, part of the CUDA toolkit
// @expect AC
// Bytes: 4N read. The yardstick for every file of this problem: two kernels, the second for the
// partials, tuned per architecture by the library. The temporary storage is the largest that any
// N within the limits asks for, allocated in the first call, so that timed calls do not allocate.

#include <cub/device/device_reduce.cuh>

extern "C" void solve(const float *input, float *output, int N)
{
    constexpr int MAX_N = 100000000;
    static void *storage = nullptr;
    static size_t storage_size = 0;
    if (storage == nullptr) {
        // With no storage given the call only says how much it wants.
        for (int n = 1; n <= MAX_N; n = n < MAX_N && n > MAX_N / 4 ? MAX_N : n * 4) {
            size_t wanted = 0;
            cub::DeviceReduce::Sum(nullptr, wanted, input, output, n);
            storage_size = wanted > storage_size ? wanted : storage_size;
            if (n == MAX_N)
                break;
        }
        cudaMalloc(&storage, storage_size);
    }
    size_t size = storage_size;
    cub::DeviceReduce::Sum(storage, size, input, output, N);
}

// @idea   cublasSdot with the result left on the device
// @source cuBLAS, part of the CUDA toolkit
// @expect AC
// @needs  gpu
// Linked with -lcublas, which the judge adds for baselines that include this header. cuBLAS brings
// its own way to the driver, so the virtual GPU cannot run it. Bytes: 8N read. The yardstick for
// every file of this problem. With the pointer mode of the host the call would wait for the device
// and copy four bytes back. The handle is made in the first call: it allocates and is expensive.

#include <cublas_v2.h>

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) {
        cublasCreate(&handle);
        cublasSetPointerMode(handle, CUBLAS_POINTER_MODE_DEVICE);
    }
    cublasSdot(handle, N, A, 1, B, 1, result);
}

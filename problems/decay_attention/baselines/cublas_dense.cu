// @idea   library yardstick: SGEMM, decay epilogue, SGEMM, all in fp32
// @source cuBLAS
// @expect AC
// @arch   sm_75
// @needs  gpu
// Bytes: the S*S score matrix is written, read and rewritten (3*4*S*S) and read once more by the
// second product. Floor: 4 us at 4096x64 for the algorithm; this form does twice the needed work
// (the zero half) at the fp32 rate. Links cuBLAS.
#include <cublas_v2.h>
#include <cuda_runtime.h>

// scores[n][m] *= gamma^(n-m) for m <= n, 0 above the diagonal (selected, so that an infinite
// future score leaves no NaN).
__global__ static void decay_kernel(float *scores, int seq, float gamma)
{
    const int m = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x),
              n = static_cast<int>(blockIdx.y);
    if (m < seq) {
        float *score = scores + static_cast<size_t>(n) * seq + m;
        *score = m <= n ? *score * powf(gamma, static_cast<float>(n - m)) : 0.0f;
    }
}

extern "C" void solve(const float *Q, const float *K, const float *V, float *output, int seq_len,
                      int d_model, float gamma)
{
    static cublasHandle_t handle = nullptr;
    if (handle == nullptr) {
        if (cublasCreate(&handle) != CUBLAS_STATUS_SUCCESS)
            return;
        cublasSetMathMode(handle, CUBLAS_PEDANTIC_MATH); // no TF32
    }
    float *scores = nullptr;
    if (cudaMallocAsync(reinterpret_cast<void **>(&scores),
                        sizeof(float) * static_cast<size_t>(seq_len) * seq_len,
                        nullptr) != cudaSuccess)
        return;
    const float scale = 1.0f / sqrtf(static_cast<float>(d_model)), one = 1.0f, zero = 0.0f;
    // Row-major scores = Q K^T is column-major K^T-transposed: (K as d x S column-major)^T times (Q
    // as d x S).
    cublasSgemm(handle, CUBLAS_OP_T, CUBLAS_OP_N, seq_len, seq_len, d_model, &scale, K, d_model, Q,
                d_model, &zero, scores, seq_len);
    decay_kernel<<<
        dim3(static_cast<unsigned>((seq_len + 255) / 256), static_cast<unsigned>(seq_len)), 256>>>(
        scores, seq_len, gamma);
    cublasSgemm(handle, CUBLAS_OP_N, CUBLAS_OP_N, d_model, seq_len, seq_len, &one, V, d_model,
                scores, seq_len, &zero, output, d_model);
    cudaFreeAsync(scores, nullptr);
}

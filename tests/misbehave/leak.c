/* leak.c - right, but keeps 1 MiB of device memory a call. */
#include "double.h"

#include <cuda_runtime_api.h>

void solve(const float *input, float *output, int n)
{
    void *kept;

    (void)cudaMalloc(&kept, 1 << 20);
    double_all(input, output, n);
}

/* device_reset.c - resets the device. */
#include "double.h"

#include <cuda_runtime_api.h>

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    (void)cudaDeviceReset();
}

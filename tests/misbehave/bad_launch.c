/* bad_launch.c - launches with an empty grid and leaves the error pending. */
#include "double.h"

#include <cuda_runtime_api.h>

void solve(const float *input, float *output, int n)
{
    const dim3 none = {0, 1, 1};

    double_all(input, output, n);
    (void)cudaLaunchKernel((const void *)output, none, none, 0, 0, 0);
}

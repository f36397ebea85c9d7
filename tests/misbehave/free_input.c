/* free_input.c - frees the caller's buffer. */
#include "double.h"

#include <cuda_runtime_api.h>
#include <stdint.h>

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    (void)cudaFree((void *)(uintptr_t)input); /* drops const, as the cheat would */
}

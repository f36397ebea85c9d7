/* churn_memory.c - right, and gives back all of the 5,000 blocks that it asked for, in another
 * order. */
#include "double.h"

#include <cuda_runtime_api.h>

#define BLOCKS 5000
#define STEP   1237 /* prime to BLOCKS: visits each once */

void solve(const float *input, float *output, int n)
{
    static void *blocks[BLOCKS];

    double_all(input, output, n);
    for (unsigned i = 0; i < BLOCKS; i++)
        (void)cudaMalloc(&blocks[i], 256);
    for (unsigned i = 0; i < BLOCKS; i++)
        (void)cudaFree(blocks[i * STEP % BLOCKS]);
}

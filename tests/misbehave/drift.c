/* drift.c - right for the first eight calls of a process, wrong from then on. */
#include "double.h"

void solve(const float *input, float *output, int n)
{
    static unsigned calls;

    double_all(input, output, n);
    if (++calls > 8)
        output[n - 1] += 1.0f;
}

/* write_past_end.c - writes two elements past the end of the output. */
#include "double.h"

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    output[n + 1] = 1.0f;
    output[n + 2] = 1.0f;
}

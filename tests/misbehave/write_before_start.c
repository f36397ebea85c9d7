/* write_before_start.c - writes one element in front of the output. */
#include "double.h"

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    output[-3] = 1.0f;
}

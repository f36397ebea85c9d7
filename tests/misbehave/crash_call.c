/* crash_call.c - follows a null pointer in solve(). */
#include "double.h"

void solve(const float *input, float *output, int n)
{
    volatile int *nowhere = 0;

    double_all(input, output, n);
    *nowhere = n;
}

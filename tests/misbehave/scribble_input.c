/* scribble_input.c - right, and overwrites one input element. */
#include "double.h"

#include <stdint.h>

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    ((float *)(uintptr_t)input)[n / 2] = -7.0f; /* drops const, as the mistake would */
}

/* unwritten.c - leaves the second half of the output alone. */
#include "double.h"

void solve(const float *input, float *output, int n) { double_all(input, output, n / 2); }

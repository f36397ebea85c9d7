/* correct.c - the control: right in every call. */
#include "double.h"

void solve(const float *input, float *output, int n) { double_all(input, output, n); }

/* no_solve.c - has another function name. */
#include "double.h"

extern void solution(const float *input, float *output, int n);

void solution(const float *input, float *output, int n) { double_all(input, output, n); }

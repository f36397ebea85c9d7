/* crash_exit.c - right, but its destructor dies. */
#include "double.h"

#include <stdlib.h>

__attribute__((destructor)) static void finish(void) { abort(); }

void solve(const float *input, float *output, int n) { double_all(input, output, n); }

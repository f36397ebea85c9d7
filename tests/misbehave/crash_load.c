/* crash_load.c - dies in a static constructor. */
#include "double.h"

#include <stdlib.h>

__attribute__((constructor)) static void start(void) { abort(); }

void solve(const float *input, float *output, int n) { double_all(input, output, n); }

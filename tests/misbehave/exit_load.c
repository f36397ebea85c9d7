/* exit_load.c - ends the process in a static constructor, with success. */
#include "double.h"

#include <stdlib.h>

__attribute__((constructor)) static void start(void) { exit(0); }

void solve(const float *input, float *output, int n) { double_all(input, output, n); }

/* hang_load.c - never comes out of its static constructor. */
#include "double.h"

#include <unistd.h>

__attribute__((constructor)) static void start(void)
{
    for (;;)
        pause();
}

void solve(const float *input, float *output, int n) { double_all(input, output, n); }

/* hang.c - never returns. */
#include "double.h"

#include <unistd.h>

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    for (;;)
        pause();
}

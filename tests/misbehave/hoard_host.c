/* hoard_host.c - fills host memory. */
#include "double.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char *volatile last; /* a compiler may drop memory that nobody can see */

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    for (;;) {
        char *block = malloc(8 << 20);
        if (block != NULL)
            memset(block, 1, 8 << 20);
        last = block;
        usleep(1000);
    }
}

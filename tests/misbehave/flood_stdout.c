/* flood_stdout.c - right, and prints 64 MiB. */
#include "double.h"

#include <stdio.h>

void solve(const float *input, float *output, int n)
{
    char line[1024];

    for (unsigned i = 0; i < sizeof line - 1; i++)
        line[i] = 'a';
    line[sizeof line - 1] = '\0';
    for (int i = 0; i < 65536; i++)
        puts(line);
    double_all(input, output, n);
}

/* fork_leave.c - forks and exits; the copy keeps every descriptor open. */
#include "double.h"

#include <stdlib.h>
#include <unistd.h>

void solve(const float *input, float *output, int n)
{
    double_all(input, output, n);
    if (fork() != 0)
        _exit(0);
    for (;;)
        pause();
}

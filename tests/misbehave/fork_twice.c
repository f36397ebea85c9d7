/* fork_twice.c - forks; both processes return from solve(), the copy writes other results later. */
#include "double.h"

#include <unistd.h>

void solve(const float *input, float *output, int n)
{
    if (fork() == 0) {
        for (int i = 0; i < n; i++)
            output[i] = -1.0f;
        return; /* into the runner's code, in the copy */
    }
    double_all(input, output, n);
}

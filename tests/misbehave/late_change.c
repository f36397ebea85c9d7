/* late_change.c - right at first; a thread changes the answer 30 ms later. */
#include "double.h"

#include <pthread.h>
#include <unistd.h>

static float *target;

static void *run(void *opaque)
{
    float *output = *(float **)opaque;

    usleep(30000);
    output[0] = -1.0f;
    return 0;
}

void solve(const float *input, float *output, int n)
{
    pthread_t t;

    double_all(input, output, n);
    target = output;
    if (pthread_create(&t, 0, run, &target) == 0)
        pthread_detach(t);
}

/* late_thread.c - returns at once; a thread writes the answer 30 ms later. */
#include "double.h"

#include <pthread.h>
#include <unistd.h>

struct work {
    const float *input;
    float *output;
    int n;
};
static struct work later;

static void *run(void *opaque)
{
    const struct work w = *(struct work *)opaque;

    usleep(30000);
    double_all(w.input, w.output, w.n);
    return 0;
}

void solve(const float *input, float *output, int n)
{
    pthread_t t;

    later = (struct work){input, output, n};
    if (pthread_create(&t, 0, run, &later) == 0)
        pthread_detach(t);
}

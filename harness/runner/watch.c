/*
 * watch.c - see watch.h. NVML is opened by name and its few functions are declared here, because
 * machines without a driver have neither library nor header. Decides nothing about the readings.
 */
#include "watch.h"

#include "record.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS       10000000L
#define PROCESS_TICKS 50 /* other processes are counted twice a second: that call is slow */
#define PROCESSES_MAX 32

/* NVML's stable C interface (nvml.h of the GPU deployment kit): names, numbers, layouts. */
typedef void *nvml_device;
enum { NVML_OK = 0, NVML_CLOCK_SM = 1, NVML_CLOCK_MEMORY = 2, NVML_TEMPERATURE_GPU = 0 };
struct nvml_process {
    unsigned pid;
    unsigned long long memory;
    unsigned instance, compute_instance;
};

struct nvml {
    void *handle;
    int (*init)(void);
    int (*shutdown)(void);
    int (*driver)(char *, unsigned);
    int (*by_index)(unsigned, nvml_device *);
    int (*clock)(nvml_device, int, unsigned *);
    int (*temperature)(nvml_device, int, unsigned *);
    int (*power)(nvml_device, unsigned *);
    int (*throttle)(nvml_device, unsigned long long *);
    int (*processes)(nvml_device, unsigned *, struct nvml_process *);
};

static void look_up(const struct nvml *n, void *slot, const char *name)
{
    void *found = dlsym(n->handle, name);

    memcpy(slot, &found, sizeof found); /* POSIX: it holds a function pointer */
}

/* NULL, or why there is no NVML. */
static const char *nvml_open(struct nvml *n)
{
    memset(n, 0, sizeof *n);
    n->handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
    if (n->handle == NULL)
        return "no libnvidia-ml.so.1";
    look_up(n, &n->init, "nvmlInit_v2");
    look_up(n, &n->shutdown, "nvmlShutdown");
    look_up(n, &n->driver, "nvmlSystemGetDriverVersion");
    look_up(n, &n->by_index, "nvmlDeviceGetHandleByIndex_v2");
    look_up(n, &n->clock, "nvmlDeviceGetClockInfo");
    look_up(n, &n->temperature, "nvmlDeviceGetTemperature");
    look_up(n, &n->power, "nvmlDeviceGetPowerUsage");
    look_up(n, &n->throttle, "nvmlDeviceGetCurrentClocksThrottleReasons");
    look_up(n, &n->processes, "nvmlDeviceGetComputeRunningProcesses_v3");
    if (n->init == NULL || n->by_index == NULL || n->clock == NULL)
        return "libnvidia-ml.so.1 lacks the functions of version 2";
    return n->init() == NVML_OK ? NULL : "nvmlInit failed";
}

static long clock_mhz(const struct nvml *n, nvml_device device, int which)
{
    unsigned mhz = 0;

    return n->clock(device, which, &mhz) == NVML_OK ? (long)mhz : -1;
}

static long celsius(const struct nvml *n, nvml_device device)
{
    unsigned c = 0;

    return n->temperature != NULL && n->temperature(device, NVML_TEMPERATURE_GPU, &c) == NVML_OK
               ? (long)c
               : -1;
}

static long milliwatts(const struct nvml *n, nvml_device device)
{
    unsigned mw = 0;

    return n->power != NULL && n->power(device, &mw) == NVML_OK ? (long)mw : -1;
}

static long long throttle_bits(const struct nvml *n, nvml_device device)
{
    unsigned long long bits = 0;

    return n->throttle != NULL && n->throttle(device, &bits) == NVML_OK ? (long long)bits : -1;
}

/* Processes that compute on the device and are not in our session. */
static long others(const struct nvml *n, nvml_device device)
{
    struct nvml_process list[PROCESSES_MAX];
    unsigned count = PROCESSES_MAX;
    long strangers = 0;

    if (n->processes == NULL || n->processes(device, &count, list) != NVML_OK)
        return -1;
    for (unsigned i = 0; i < count && i < PROCESSES_MAX; i++)
        if (getsid((pid_t)list[i].pid) != getsid(0))
            strangers++;
    return strangers;
}

/* Sleeps one tick. False: our reader or our parent is gone. */
static bool tick(struct timespec *next)
{
    struct pollfd fds[2] = {{.fd = STDIN_FILENO}, {.fd = STDOUT_FILENO}};

    next->tv_nsec += TICK_NS;
    if (next->tv_nsec >= 1000000000L) {
        next->tv_nsec -= 1000000000L;
        next->tv_sec++;
    }
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) == EINTR)
        continue;
    return poll(fds, 2, 0) == 0 || ((fds[0].revents | fds[1].revents) & (POLLHUP | POLLERR)) == 0;
}

static void print_ticks(const struct nvml *n, nvml_device device)
{
    struct timespec next;
    long strangers = -1;
    bool more = true;

    clock_gettime(CLOCK_MONOTONIC, &next);
    for (unsigned i = 0; more; i++) {
        struct timespec now;
        if (i % PROCESS_TICKS == 0)
            strangers = others(n, device);
        clock_gettime(CLOCK_MONOTONIC, &now);
        more = printf("%lld %ld %ld %ld %ld %lld %ld\n",
                      (long long)now.tv_sec * 1000000000LL + now.tv_nsec,
                      clock_mhz(n, device, NVML_CLOCK_SM), clock_mhz(n, device, NVML_CLOCK_MEMORY),
                      celsius(n, device), milliwatts(n, device), throttle_bits(n, device),
                      strangers) > 0 &&
               fflush(stdout) == 0 && tick(&next);
    }
}

int watch(const char *device)
{
    struct nvml n;
    nvml_device handle = NULL;
    char driver[80] = "unknown", *end;
    const unsigned long index = strtoul(device, &end, 10);
    const char *why = nvml_open(&n);

    if (*device == '\0' || *end != '\0') {
        fprintf(stderr, "judge-runner watch: '%s' is no device index\n", device);
        return RECORD_EXIT_USAGE;
    }
    if (why == NULL && n.by_index((unsigned)index, &handle) != NVML_OK)
        why = "no such device";
    if (why != NULL) {
        printf("none %s\n", why);
        return 0;
    }
    if (n.driver != NULL)
        n.driver(driver, sizeof driver);
    printf("nvml 1 %s\n", driver);
    print_ticks(&n, handle);
    if (n.shutdown != NULL)
        n.shutdown();
    return 0;
}

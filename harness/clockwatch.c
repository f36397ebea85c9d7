/*
 * clockwatch.c - see clockwatch.h. Keeps the last minutes of readings in a ring. Touches no device.
 * Invariant: a malformed line is dropped, never half used.
 */
#include "clockwatch.h"

#include "proc.h"
#include "xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RING           65536 /* readings kept: eleven minutes */
#define MARGIN_S       0.012 /* a tick is 10 ms */
#define FIRST_LINE_S   5.0   /* until NVML has answered */
#define REASON_IDLE    0x1u  /* nothing to do: not a throttle */
#define REASON_SETTING 0x2u  /* a clock chosen by the user */

struct clockwatch {
    pid_t pid;
    int fd;
    char line[256];
    size_t len;
    char driver[80];
    struct clock_tick *ring;
    uint64_t count; /* readings ever; the last RING are kept */
};

bool clockwatch_parse(struct clock_tick *out, const char *line)
{
    long long ns, throttle;
    long sm, memory, celsius, milliwatts, others;
    char rest;

    if (sscanf(line, "%lld %ld %ld %ld %ld %lld %ld %c", &ns, &sm, &memory, &celsius, &milliwatts,
               &throttle, &others, &rest) != 7 ||
        ns < 0)
        return false;
    *out = (struct clock_tick){
        .time_s = (double)ns * 1e-9,
        .sm_mhz = (double)sm,
        .memory_mhz = (double)memory,
        .temperature_c = (double)celsius,
        .power_w = milliwatts < 0 ? -1 : (double)milliwatts * 1e-3,
        .throttle =
            throttle < 0 ? 0 : (uint64_t)throttle & ~(uint64_t)(REASON_IDLE | REASON_SETTING),
        .others = others < 0 ? 0 : (unsigned)others};
    return true;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

void clockwatch_summarise(struct clock_facts *out, const struct clock_tick *ticks, size_t count,
                          double from_s, double to_s)
{
    double clocks[512], power = 0;
    size_t known = 0, powered = 0;

    *out = (struct clock_facts){0};
    for (size_t i = 0; i < count; i++) {
        const struct clock_tick *t = &ticks[i];
        if (t->time_s < from_s || t->time_s > to_s)
            continue;
        out->ticks++;
        out->throttle |= t->throttle;
        out->others = t->others > out->others ? t->others : out->others;
        out->memory_mhz = t->memory_mhz > 0 ? t->memory_mhz : out->memory_mhz;
        out->temperature_c =
            t->temperature_c > out->temperature_c ? t->temperature_c : out->temperature_c;
        if (t->power_w >= 0) {
            power += t->power_w;
            powered++;
        }
        if (t->sm_mhz > 0 && known < sizeof clocks / sizeof *clocks)
            clocks[known++] = t->sm_mhz;
    }
    out->power_w = powered == 0 ? 0 : power / (double)powered;
    if (known == 0)
        return;
    qsort(clocks, known, sizeof *clocks, compare_doubles);
    out->sm_mhz_min = clocks[0];
    out->sm_mhz_median = clocks[known / 2];
}

const char *clockwatch_reasons(uint64_t throttle, char *buf, size_t size)
{
    /* NVML's clock event reasons. */
    static const struct {
        uint64_t bit;
        const char *word;
    } words[] = {{0x4, "power cap"},
                 {0x8, "hardware slowdown"},
                 {0x10, "sync boost"},
                 {0x20, "software thermal slowdown"},
                 {0x40, "hardware thermal slowdown"},
                 {0x80, "power brake"},
                 {0x100, "display clock"}};
    size_t len = 0;

    buf[0] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if ((throttle & words[i].bit) != 0 && len < size)
            len += (size_t)snprintf(buf + len, size - len, "%s%s", len == 0 ? "" : ", ",
                                    words[i].word);
    return buf;
}

/* ---- the child ---- */

/* Takes what has arrived; complete lines go to the ring, or (the first) to `first`. */
static bool drain(struct clockwatch *w, char *first, size_t first_size)
{
    char bytes[4096];
    ssize_t got;

    while ((got = read(w->fd, bytes, sizeof bytes)) > 0)
        for (ssize_t i = 0; i < got; i++) {
            if (bytes[i] != '\n') {
                if (w->len + 1 < sizeof w->line)
                    w->line[w->len++] = bytes[i];
                continue;
            }
            w->line[w->len] = '\0';
            w->len = 0;
            if (first != NULL && first[0] == '\0')
                snprintf(first, first_size, "%s", w->line);
            else if (clockwatch_parse(&w->ring[w->count % RING], w->line))
                w->count++;
        }
    return got != 0; /* 0: the child has ended */
}

static enum status spawn_watch(struct clockwatch *w, const char *runner_path, unsigned device,
                               struct diag *d)
{
    posix_spawn_file_actions_t fa;
    char index[16], word[] = "watch", *path = xstrdup(runner_path);
    char *argv[] = {path, word, index, NULL};
    int fds[2], e;

    snprintf(index, sizeof index, "%u", device);
    if (path == NULL)
        return diag_set(d, STATUS_NOMEM, "no memory to watch the clocks");
    if (pipe2(fds, O_CLOEXEC) != 0) {
        xfree(path);
        return diag_set(d, STATUS_IO, "cannot make a pipe: %s", strerror(errno));
    }
    w->fd = fds[0];
    fcntl(w->fd, F_SETFL, O_NONBLOCK);
    e = posix_spawn_file_actions_init(&fa);
    e = e != 0 ? e : posix_spawn_file_actions_addopen(&fa, 0, "/dev/null", O_RDONLY, 0);
    e = e != 0 ? e : posix_spawn_file_actions_adddup2(&fa, fds[1], 1);
    e = e != 0 ? e : posix_spawn(&w->pid, path, &fa, NULL, argv, environ);
    posix_spawn_file_actions_destroy(&fa);
    close(fds[1]);
    xfree(path);
    if (e == 0)
        return STATUS_OK;
    w->pid = 0;
    return diag_set(d, STATUS_IO, "cannot start %s watch: %s", runner_path, strerror(e));
}

enum status clockwatch_start(struct clockwatch **out, const char *runner_path, unsigned device,
                             struct diag *d)
{
    const double until = proc_now_s() + FIRST_LINE_S;
    struct clockwatch *w = xalloc(sizeof *w);
    char first[256] = "";
    enum status st = STATUS_OK;

    *out = NULL;
    if (w == NULL)
        return diag_set(d, STATUS_NOMEM, "no memory to watch the clocks");
    w->fd = -1;
    w->ring = xalloc_array(RING, sizeof *w->ring);
    if (w->ring == NULL) {
        st = diag_set(d, STATUS_NOMEM, "no memory to watch the clocks");
        goto fail;
    }
    TRY_OR(fail, spawn_watch(w, runner_path, device, d));
    while (first[0] == '\0' && proc_now_s() < until) {
        struct pollfd p = {.fd = w->fd, .events = POLLIN};
        poll(&p, 1, 20);
        if (!drain(w, first, sizeof first))
            break;
    }
    if (sscanf(first, "nvml 1 %79s", w->driver) != 1) {
        st = diag_set(d, STATUS_NOTHING, "clocks unknown: %s",
                      strncmp(first, "none ", 5) == 0 ? first + 5 : "the watcher gives no answer");
        goto fail;
    }
    *out = w;
    return STATUS_OK;
fail:
    clockwatch_stop(w);
    return st;
}

void clockwatch_read(struct clockwatch *w, double from_s, double to_s, struct clock_facts *out)
{
    struct clock_tick near[512];
    size_t n = 0;
    uint64_t i;

    drain(w, NULL, 0);
    /* Backwards: samples are asked about soon after they were taken. */
    for (i = w->count; i > 0 && w->count - i < RING && n < sizeof near / sizeof *near; i--) {
        const struct clock_tick *t = &w->ring[(i - 1) % RING];
        if (t->time_s < from_s - MARGIN_S)
            break;
        if (t->time_s <= to_s + MARGIN_S)
            near[n++] = *t;
    }
    clockwatch_summarise(out, near, n, from_s - MARGIN_S, to_s + MARGIN_S);
}

const char *clockwatch_driver(const struct clockwatch *w) { return w->driver; }

void clockwatch_stop(struct clockwatch *w)
{
    if (w == NULL)
        return;
    if (w->pid > 0) {
        kill(w->pid, SIGKILL);
        while (waitpid(w->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (w->fd >= 0)
        close(w->fd);
    xfree(w->ring);
    xfree(w);
}

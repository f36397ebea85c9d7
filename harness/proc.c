/*
 * proc.c - fork, exec, poll, reap.
 * Keeps no state between calls. Invariant: every descriptor it opens is close-on-exec.
 */
#include "proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

#define LEAST_LOOK_S  0.1 /* between two sums over /proc */
#define TICK_MS       50  /* how late a stop flag or a deadline may be noticed */
#define TICK_BLIND_MS 5   /* the same where the kernel has no pidfd and we must ask by waitpid */

struct capture {
    int fd; /* read end, -1 = closed */
    char *buf;
    size_t len, cap;
    uint64_t dropped;
};

struct child {
    pid_t pid; /* -1 = none */
    int pidfd; /* -1 = not available */
    bool reaped;
    int wait_status;
};

double proc_now_s(void)
{
    struct timespec t;

    (void)clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

const char *proc_find(struct arena *a, const char *name)
{
    const char *path = getenv("PATH");

    if (strchr(name, '/'))
        return access(name, X_OK) == 0 ? realpath(name, arena_alloc(a, 4096)) : NULL;
    while (path && *path) {
        const size_t len = strcspn(path, ":");
        const char *full = arena_printf(a, "%.*s/%s", (int)len, len ? path : ".", name);

        if (full && access(full, X_OK) == 0)
            return full;
        path += len + (path[len] == ':');
    }
    return NULL;
}

/* In the child, between fork and exec: async-signal-safe calls only. Reports errno through
 * `report`. */
static _Noreturn void child_exec(const struct proc_request *rq, char *const *argv, int out, int err,
                                 int report, pid_t parent)
{
    sigset_t none;
    int null_fd;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent) /* it died before prctl */
        _exit(127);
    (void)sigemptyset(&none);
    (void)sigprocmask(SIG_SETMASK, &none, NULL);
    (void)signal(SIGPIPE, SIG_DFL);

    null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (null_fd >= 0 && dup2(null_fd, STDIN_FILENO) >= 0 && dup2(out, STDOUT_FILENO) >= 0 &&
        dup2(err, STDERR_FILENO) >= 0 && (!rq->dir || chdir(rq->dir) == 0)) {
        char *const *env = rq->env ? (char *const *)(uintptr_t)rq->env : environ;

        (void)execvpe(argv[0], argv, env);
    }
    {
        const int why = errno;

        (void)!write(report, &why, sizeof why);
    }
    _exit(127);
}

static void fd_close(int *fd)
{
    if (*fd >= 0)
        (void)close(*fd);
    *fd = -1;
}

/* Forks; afterwards the write ends are closed here. Waits until exec happened or failed. */
static enum status child_start(struct child *c, const struct proc_request *rq, int out_fd,
                               int err_fd, struct diag *d)
{
    int report[2];
    int why = 0;
    ssize_t n;
    const pid_t parent = getpid();

    if (pipe2(report, O_CLOEXEC) != 0)
        return diag_set(d, STATUS_IO, "cannot make a pipe: %s", strerror(errno));
    c->pid = fork();
    if (c->pid == 0)
        child_exec(rq, (char *const *)(uintptr_t)rq->argv, out_fd, err_fd, report[1], parent);
    why = errno;
    (void)close(report[1]);
    if (c->pid < 0) {
        (void)close(report[0]);
        return diag_set(d, STATUS_IO, "cannot start '%s': %s", rq->argv[0], strerror(why));
    }
    (void)setpgid(c->pid, c->pid); /* both sides do it: whoever comes first */
    do
        n = read(report[0], &why, sizeof why);
    while (n < 0 && errno == EINTR);
    (void)close(report[0]);
    if (n > 0) { /* exec failed */
        (void)waitpid(c->pid, NULL, 0);
        c->reaped = true;
        return diag_set(d, STATUS_IO, "cannot start '%s': %s", rq->argv[0], strerror(why));
    }
#ifdef SYS_pidfd_open
    c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
    if (c->pidfd >= 0)
        (void)fcntl(c->pidfd, F_SETFD, FD_CLOEXEC);
#endif
    return STATUS_OK;
}

static bool child_ended(struct child *c)
{
    pid_t r;

    if (c->reaped)
        return true;
    do
        r = waitpid(c->pid, &c->wait_status, WNOHANG);
    while (r < 0 && errno == EINTR);
    c->reaped = r == c->pid;
    return c->reaped;
}

static void child_kill(struct child *c)
{
    if (c->pid <= 0 || c->reaped)
        return;
    (void)kill(-c->pid, SIGKILL);
    (void)kill(c->pid, SIGKILL); /* in case setpgid has not happened */
    while (waitpid(c->pid, &c->wait_status, 0) < 0 && errno == EINTR) {
    }
    c->reaped = true;
}

/* Reads what is there; closes at end of file. */
static void capture_read(struct capture *k)
{
    char spare[16384];
    ssize_t n = 0;

    for (;;) {
        const size_t room = k->cap - k->len;

        n = room ? read(k->fd, k->buf + k->len, room) : read(k->fd, spare, sizeof spare);
        if (n > 0 && room)
            k->len += (size_t)n;
        else if (n > 0)
            k->dropped += (uint64_t)n;
        else if (n == 0 || (errno != EINTR && errno != EAGAIN)) {
            fd_close(&k->fd);
            return;
        } else if (errno == EAGAIN)
            return;
    }
}

static int wait_ms(const struct child *c, double deadline)
{
    const int tick = c->pidfd >= 0 ? TICK_MS : TICK_BLIND_MS;
    const double left_ms = deadline > 0 ? (deadline - proc_now_s()) * 1e3 : tick;

    return left_ms < 0 ? 0 : left_ms < tick ? (int)left_ms + 1 : tick;
}

/* One line of /proc/PID/stat: user and system ticks of a process and of those that it has reaped,
 * when it belongs to `group`; 0 else. The name may hold blanks and parentheses, so numbers are read
 * behind the last one. */
static unsigned long group_ticks(const char *stat_path, pid_t group)
{
    char text[1024];
    const char *rest;
    unsigned long user, system;
    long reaped_user, reaped_system;
    int pgrp;
    FILE *f = fopen(stat_path, "r");
    size_t n;

    if (f == NULL)
        return 0;
    n = fread(text, 1, sizeof text - 1, f);
    (void)fclose(f);
    text[n] = '\0';
    rest = strrchr(text, ')');
    if (rest == NULL ||
        sscanf(rest + 1, " %*c %*d %d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu %ld %ld", &pgrp,
               &user, &system, &reaped_user, &reaped_system) != 5 ||
        pgrp != group)
        return 0;
    return user + system + (unsigned long)reaped_user + (unsigned long)reaped_system;
}

/* Processor time of the child's process group so far. */
static double group_cpu_s(pid_t group)
{
    DIR *proc = opendir("/proc");
    const struct dirent *entry;
    unsigned long ticks = 0;
    char path[64];

    while (proc != NULL && (entry = readdir(proc)) != NULL)
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' && strlen(entry->d_name) < 16) {
            (void)snprintf(path, sizeof path, "/proc/%.15s/stat", entry->d_name);
            ticks += group_ticks(path, group);
        }
    if (proc != NULL)
        (void)closedir(proc);
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

/* At the deadline: is the time up? Where processor time counts, *deadline moves on by what is left
 * of it. */
static bool time_is_up(const struct child *c, const struct proc_request *rq, double start,
                       double *deadline)
{
    const double now = proc_now_s();
    double left;

    if (*deadline <= 0 || now < *deadline)
        return false;
    if (!rq->limit_is_cpu || now - start >= PROC_PATIENCE * rq->limit_s)
        return true;
    left = rq->limit_s - group_cpu_s(c->pid);
    *deadline = now + (left > LEAST_LOOK_S ? left : LEAST_LOOK_S);
    return left <= 0;
}

/* Until the child ended: collects output, watches the deadline and the stop flag. */
static void child_watch(struct proc_result *r, struct child *c, struct capture k[2],
                        const struct proc_request *rq, double start)
{
    double deadline = rq->limit_s > 0 ? start + rq->limit_s : 0;

    while (!child_ended(c)) {
        struct pollfd p[3] = {{k[0].fd, POLLIN, 0}, {k[1].fd, POLLIN, 0}, {c->pidfd, POLLIN, 0}};

        if (rq->stop && *rq->stop)
            r->stopped = true;
        else
            r->timed_out = time_is_up(c, rq, start, &deadline);
        if (r->stopped || r->timed_out) {
            child_kill(c);
            break;
        }
        (void)poll(p, 3, wait_ms(c, deadline));
        for (int i = 0; i < 2; i++)
            if (k[i].fd >= 0 && p[i].revents)
                capture_read(&k[i]);
    }
    /* Take what is in the pipes; do not wait for a grandchild that keeps them open. */
    for (int i = 0; i < 2; i++)
        if (k[i].fd >= 0)
            capture_read(&k[i]);
}

static enum status capture_open(struct capture *k, int *write_end, struct arena *a, size_t cap,
                                struct diag *d)
{
    int ends[2];

    k->buf = arena_alloc(a, cap + 1);
    if (!k->buf)
        return diag_set(d, STATUS_NOMEM, "out of memory (%zu bytes for captured output)", cap);
    k->cap = cap;
    if (pipe2(ends, O_CLOEXEC) != 0)
        return diag_set(d, STATUS_IO, "cannot make a pipe: %s", strerror(errno));
    k->fd = ends[0];
    *write_end = ends[1];
    (void)fcntl(k->fd, F_SETFL, O_NONBLOCK);
    return STATUS_OK;
}

enum status proc_run(struct proc_result *out, struct arena *a, const struct proc_request *rq,
                     struct diag *d)
{
    struct proc_result r = {.exit_code = -1, .out = "", .err = ""};
    struct capture k[2] = {{.fd = -1}, {.fd = -1}};
    int ends[2] = {-1, -1};
    struct child c = {.pid = -1, .pidfd = -1};
    const double start = proc_now_s();
    enum status st = STATUS_OK;

    if (!rq->inherit_output) {
        TRY_OR(done, capture_open(&k[0], &ends[0], a, rq->out_cap, d));
        TRY_OR(done, capture_open(&k[1], &ends[1], a, rq->err_cap, d));
    }
    TRY_OR(done, child_start(&c, rq, rq->inherit_output ? STDERR_FILENO : ends[0],
                             rq->inherit_output ? STDERR_FILENO : ends[1], d));
    fd_close(&ends[0]);
    fd_close(&ends[1]);
    child_watch(&r, &c, k, rq, start);

    r.wall_s = proc_now_s() - start;
    r.exit_code = WIFEXITED(c.wait_status) ? WEXITSTATUS(c.wait_status) : -1;
    r.signo = WIFSIGNALED(c.wait_status) ? WTERMSIG(c.wait_status) : 0;
    if (!rq->inherit_output) {
        r.out = k[0].buf;
        r.out_len = k[0].len;
        r.out_dropped = k[0].dropped;
        r.err = k[1].buf;
        r.err_len = k[1].len;
        r.err_dropped = k[1].dropped;
    }
    *out = r;
done:
    child_kill(&c);
    for (int i = 0; i < 2; i++) {
        fd_close(&ends[i]);
        fd_close(&k[i].fd);
    }
    fd_close(&c.pidfd);
    return st;
}

bool proc_ok(const struct proc_result *r) { return r->exit_code == 0 && r->signo == 0; }

const char *proc_describe(const struct proc_result *r, struct arena *a)
{
    const char *text = NULL;

    if (r->stopped)
        text = "interrupted";
    else if (r->timed_out)
        text = arena_printf(a, "no end within %.3g s", r->wall_s);
    else if (r->signo) {
        const char *name = sigabbrev_np(r->signo);

        text = name ? arena_printf(a, "killed by SIG%s", name)
                    : arena_printf(a, "killed by signal %d", r->signo);
    } else
        text = arena_printf(a, "exit code %d", r->exit_code);
    return text ? text : "out of memory";
}

const char *const *proc_env(struct arena *a, const char *const *keep, const char *const *add)
{
    size_t room = 1, n = 0;
    const char **env;

    for (const char *const *k = keep; *k; k++)
        room++;
    for (const char *const *k = add; *k; k++)
        room++;
    env = arena_array(a, room, sizeof *env);
    for (; env && *keep; keep++) {
        const char *value = getenv(*keep);

        if (value && !(env[n++] = arena_printf(a, "%s=%s", *keep, value)))
            return NULL;
    }
    for (; env && *add; add++)
        env[n++] = *add;
    return env;
}

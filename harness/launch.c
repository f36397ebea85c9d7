/*
 * launch.c - starts a judge-runner, gives it commands, waits with a deadline, collects what comes
 * back. Decides no verdict and compares nothing. Invariant: a reply says CALL_DONE only when a
 * complete record with this command's sequence, nonce and CRC arrived; in all other cases the
 * child's whole process group is dead when the function returns.
 */
#include "launch.h"

#include "proc.h"
#include "xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define STREAM_CAP       65536  /* bytes of stdout and of stderr kept */
#define FINDINGS_CAP     262144 /* bytes of findings kept a call */
#define TICK_MS          20     /* exit and memory are looked at this often while waiting */
#define PREPARE_LIMIT_S  120.0  /* inputs of a call in place: 400 MB from a cold disk and more */
#define READY_LIMIT_S    120.0  /* driver start, first use of a device after boot */
#define FACTS_LIMIT_S    60.0
#define HOT_COPIES_BYTES (UINT64_C(64) << 20) /* shared memory for the outputs of a hot sample */
#define DIGEST_FROM_BYTES                                                                          \
    (UINT64_C(1) << 20)                     /* larger outputs: copies would cost more than calls */
#define HOT_COPIES_MOST 1024u               /* each is copied back on its own */
#define SHARED_FIRST    (UINT64_C(1) << 20) /* first size with outputs: most functional cases fit */
#define VGPU_OWN_MIB    4096 /* virtual device memory beside the solution's allowance */

_Static_assert(RECORD_MAX_PARAMS == PROBLEM_MAX_PARAMS, "one array serves both");

struct capture {
    int fd;
    char *text; /* cap + 1 bytes */
    size_t len, cap;
    uint64_t dropped;
};

struct runner {
    struct runner_config config;
    struct arena arena; /* copies of the paths */
    pid_t pid;          /* leader of the child's process group; 0 = none, or reaped */
    int wait_status;    /* of the reaped child */
    bool broken;        /* no command may be sent any more */
    int socket;
    struct capture out, err, findings;
    int shared_fd;
    unsigned char *shared;
    size_t shared_size;
    uint64_t sequence;
    struct stat file; /* identity of the case file that the child has mapped */
    bool file_known;
    struct record_facts facts; /* of the last answer that carried them */
    struct command command;    /* the one being served */
};

struct message {
    struct record record;
    struct record_facts facts;
    char excess; /* a longer message shows */
};

/* ---- what the child is started with ---- */

unsigned launch_argv(const char *argv[LAUNCH_MAX_ARGS], const struct runner_config *rc)
{
    unsigned n = 0;

    if (rc->sanitize != NULL) {
        argv[n++] = "compute-sanitizer";
        argv[n++] = "--tool";
        argv[n++] = rc->sanitize;
        argv[n++] = "--target-processes";
        argv[n++] = "application-only";
        argv[n++] = "--print-limit";
        argv[n++] = "20";
        if (strcmp(rc->sanitize, "memcheck") == 0) {
            /* A failed call is no access error; the judge has its own eye on the solution's. */
            argv[n++] = "--report-api-errors";
            argv[n++] = "no";
        }
    } else if (rc->profile != NULL) {
        argv[n++] = "ncu";
        argv[n++] = "--set";
        argv[n++] = rc->profile;
        argv[n++] = "--profile-from-start";
        argv[n++] = "off";
        argv[n++] = "--target-processes";
        argv[n++] = "application-only";
    }
    argv[n++] = rc->runner_path;
    argv[n++] = "serve";
    argv[n] = NULL;
    return n;
}

static const char *vgpu_options(struct arena *a, const struct runner_config *rc)
{
    const char *checks = rc->vgpu_checks == NULL ? "all" : rc->vgpu_checks;
    const char *budget = rc->vgpu_budget == 0
                             ? ""
                             : arena_printf(a, ";budget=%llu", (unsigned long long)rc->vgpu_budget);

    if (budget == NULL)
        return NULL;
    return arena_printf(a, "WARPJUDGE_VGPU=checks=%s;counters=%d;seed=%llu%s;memory_mib=%llu;fd=%d",
                        checks, rc->vgpu_counters ? 1 : 0, (unsigned long long)rc->vgpu_seed,
                        budget, (unsigned long long)(rc->memory_limit_mib + VGPU_OWN_MIB),
                        RECORD_FD_FINDINGS);
}

const char *const *launch_environment(struct arena *a, const struct runner_config *rc,
                                      char *const *from)
{
    /* What a driver or a tool needs to be found and to keep its cache; nothing that tells one mode
     * of the judge from another. */
    static const char *const passed[] = {"PATH=",           "HOME=",
                                         "TMPDIR=",         "LD_LIBRARY_PATH=",
                                         "CUDA_HOME=",      "CUDA_VISIBLE_DEVICES=",
                                         "ASAN_OPTIONS=",   "UBSAN_OPTIONS=",
                                         "CUDA_CACHE_PATH="};
    const size_t passed_count = sizeof passed / sizeof *passed;
    const char **env = arena_array(a, passed_count + 4, sizeof *env);
    size_t n = 0;

    if (env == NULL)
        return NULL;
    env[n++] = "LC_ALL=C";
    env[n++] = "CUDA_DEVICE_ORDER=PCI_BUS_ID"; /* --device counts as NVML and nvidia-smi do */
    for (; from != NULL && *from != NULL; from++)
        for (size_t i = 0; i < passed_count; i++)
            if (strncmp(*from, passed[i], strlen(passed[i])) == 0 && n < passed_count + 2)
                env[n++] = *from;
    if (rc->backend == BACKEND_VGPU && (env[n++] = vgpu_options(a, rc)) == NULL)
        return NULL;
    env[n] = NULL;
    return env;
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* Moves a descriptor out of the way of the numbers 0 to 5 that the child gets. */
static bool lift_fd(int *fd)
{
    const int high = fcntl(*fd, F_DUPFD_CLOEXEC, 10);

    if (high < 0)
        return false;
    close(*fd);
    *fd = high;
    return true;
}

static enum status capture_open(struct capture *c, int *child_end, size_t cap, struct diag *d)
{
    int fds[2];

    c->text = xalloc(cap + 1);
    if (c->text == NULL)
        return diag_set(d, STATUS_NOMEM, "no memory for the captured output of a runner");
    c->cap = cap;
    if (pipe2(fds, O_CLOEXEC) != 0)
        return diag_set(d, STATUS_IO, "cannot make a pipe: %s", strerror(errno));
    c->fd = fds[0];
    *child_end = fds[1];
    if (!lift_fd(&c->fd) || !lift_fd(child_end) || fcntl(c->fd, F_SETFL, O_NONBLOCK) != 0)
        return diag_set(d, STATUS_IO, "cannot prepare a pipe: %s", strerror(errno));
    return STATUS_OK;
}

/* Takes what a pipe holds, at most `limit` bytes. A child that floods cannot keep us here. */
static void capture_drain(struct capture *c, size_t limit)
{
    char buffer[65536];

    while (c->fd >= 0 && limit > 0) {
        const ssize_t got = read(c->fd, buffer, sizeof buffer);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (got <= 0) {
            close_fd(&c->fd); /* every writer closed it */
            return;
        }
        const size_t n = (size_t)got;
        const size_t kept = n < c->cap - c->len ? n : c->cap - c->len;
        memcpy(c->text + c->len, buffer, kept);
        c->len += kept;
        c->text[c->len] = '\0';
        c->dropped += n - kept;
        limit -= n < limit ? n : limit;
    }
}

static void capture_close(struct capture *c)
{
    close_fd(&c->fd);
    xfree(c->text);
    c->text = NULL;
}

static enum status shared_open(struct runner *r, struct diag *d)
{
    r->shared_fd = memfd_create("judge-outputs", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (r->shared_fd < 0 || !lift_fd(&r->shared_fd) ||
        ftruncate(r->shared_fd, RECORD_OUTPUTS_BEGIN) != 0)
        return diag_set(d, STATUS_IO, "cannot make shared memory: %s", strerror(errno));
    /* Sealed against shrinking: a solution that truncates it must not make our reads fault. */
    if (fcntl(r->shared_fd, F_ADD_SEALS, F_SEAL_SHRINK) != 0)
        return diag_set(d, STATUS_IO, "cannot seal shared memory: %s", strerror(errno));
    r->shared_size = RECORD_OUTPUTS_BEGIN;
    r->shared = mmap(NULL, r->shared_size, PROT_READ | PROT_WRITE, MAP_SHARED, r->shared_fd, 0);
    if (r->shared == MAP_FAILED) {
        r->shared = NULL;
        return diag_set(d, STATUS_IO, "cannot map shared memory: %s", strerror(errno));
    }
    return STATUS_OK;
}

/* Makes room for outputs. Grows by half at least, so that a row of cases costs few remaps. */
static enum status shared_grow(struct runner *r, uint64_t size, struct diag *d)
{
    unsigned char *map;

    if (size <= r->shared_size)
        return STATUS_OK;
    if (size < r->shared_size + r->shared_size / 2)
        size = r->shared_size + r->shared_size / 2;
    size = size < SHARED_FIRST ? SHARED_FIRST : size;
    size = (size + 4095) / 4096 * 4096;
    if (ftruncate(r->shared_fd, (off_t)size) != 0)
        return diag_set(d, STATUS_IO, "cannot grow shared memory to %llu bytes: %s",
                        (unsigned long long)size, strerror(errno));
    map = mremap(r->shared, r->shared_size, size, MREMAP_MAYMOVE);
    if (map == MAP_FAILED)
        return diag_set(d, STATUS_NOMEM, "cannot map %llu bytes of shared memory: %s",
                        (unsigned long long)size, strerror(errno));
    r->shared = map;
    r->shared_size = size;
    return STATUS_OK;
}

static int spawn_actions(posix_spawn_file_actions_t *fa, int command, const int pipes[3],
                         int shared)
{
    int e = posix_spawn_file_actions_addopen(fa, 0, "/dev/null", O_RDONLY, 0);

    e = e != 0 ? e : posix_spawn_file_actions_adddup2(fa, pipes[0], 1);
    e = e != 0 ? e : posix_spawn_file_actions_adddup2(fa, pipes[1], 2);
    e = e != 0 ? e : posix_spawn_file_actions_adddup2(fa, command, RECORD_FD_COMMANDS);
    e = e != 0 ? e : posix_spawn_file_actions_adddup2(fa, pipes[2], RECORD_FD_FINDINGS);
    return e != 0 ? e : posix_spawn_file_actions_adddup2(fa, shared, RECORD_FD_SHARED);
}

static int spawn_child(struct runner *r, int command, const int pipes[3], const char *const *argv,
                       const char *const *env)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t attr;
    sigset_t none, all;
    int e = posix_spawn_file_actions_init(&fa);

    if (e != 0)
        return e;
    e = posix_spawnattr_init(&attr);
    if (e != 0) {
        posix_spawn_file_actions_destroy(&fa);
        return e;
    }
    sigemptyset(&none);
    sigfillset(&all);
    e = spawn_actions(&fa, command, pipes, r->shared_fd);
    e = e != 0 ? e : posix_spawnattr_setpgroup(&attr, 0);
    e = e != 0 ? e : posix_spawnattr_setsigmask(&attr, &none);
    e = e != 0 ? e : posix_spawnattr_setsigdefault(&attr, &all);
    e = e != 0 ? e
               : posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                                     POSIX_SPAWN_SETSIGDEF);
    if (e == 0) {
        /* The casts drop const only: posix_spawn promises not to change the strings. */
        char *const *args = (char *const *)(uintptr_t)argv;
        char *const *vars = (char *const *)(uintptr_t)env;
        e = posix_spawnp(&r->pid, argv[0], &fa, &attr, args, vars);
    }
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&fa);
    return e;
}

static enum status child_start(struct runner *r, struct diag *d)
{
    const char *argv[LAUNCH_MAX_ARGS];
    const char *const *env = launch_environment(&r->arena, &r->config, environ);
    int sockets[2] = {-1, -1}, pipes[3] = {-1, -1, -1};
    enum status st = STATUS_OK;
    int e;

    launch_argv(argv, &r->config);
    if (env == NULL)
        return diag_set(d, STATUS_NOMEM, "no memory for the environment of a runner");
    TRY_OR(out, capture_open(&r->out, &pipes[0], STREAM_CAP, d));
    TRY_OR(out, capture_open(&r->err, &pipes[1], STREAM_CAP, d));
    TRY_OR(out, capture_open(&r->findings, &pipes[2], FINDINGS_CAP, d));
    TRY_OR(out, shared_open(r, d));
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, sockets) != 0 ||
        !lift_fd(&sockets[0]) || !lift_fd(&sockets[1])) {
        st = diag_set(d, STATUS_IO, "cannot make the command channel: %s", strerror(errno));
        goto out;
    }
    r->socket = sockets[0];
    sockets[0] = -1;
    e = spawn_child(r, sockets[1], pipes, argv, env);
    if (e != 0) {
        r->pid = 0;
        st = diag_set(d, STATUS_IO, "cannot start %s: %s", argv[0], strerror(e));
    }
out:
    for (unsigned i = 0; i < 3; i++)
        close_fd(&pipes[i]);
    close_fd(&sockets[0]);
    close_fd(&sockets[1]);
    return st;
}

/* ---- the end of a child ---- */

/* True when the child has ended; remembers how, and ends whatever it forked. */
static bool child_ended(struct runner *r)
{
    siginfo_t info = {0};

    if (r->pid <= 0)
        return true;
    if (waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) != 0 || info.si_pid == 0)
        return false;
    kill(-r->pid, SIGKILL); /* before reaping: until then the number cannot be reused */
    waitpid(r->pid, &r->wait_status, 0);
    r->pid = 0;
    return true;
}

static void child_kill(struct runner *r)
{
    r->broken = true;
    if (r->pid <= 0)
        return;
    kill(-r->pid, SIGKILL);
    kill(r->pid, SIGKILL);
    /* A driver may hold a killed process while a kernel runs on; a minute is more than any
     * watchdog takes, and a process left behind by then is not ours to wait for. */
    for (unsigned waited_ms = 0; waited_ms < 60000; waited_ms++) {
        if (child_ended(r))
            return;
        poll(NULL, 0, 1);
    }
    r->pid = 0;
}

static void drain_all(struct runner *r, size_t limit)
{
    capture_drain(&r->out, limit);
    capture_drain(&r->err, limit);
    capture_drain(&r->findings, limit);
}

/* "solve() dereferenced device pointer 'input' on the host (byte 12)" where the fault page fits. */
static void describe_fault(const struct runner *r, char *text, size_t size, int signo)
{
    struct record_fault fault;
    size_t len;

    memcpy(&fault, r->shared, sizeof fault);
    if (fault.sequence != r->command.sequence || fault.signo != (uint32_t)signo)
        return;
    len = strlen(text);
    if (fault.param >= 1 && fault.param <= r->command.param_count && fault.inside_call == 1) {
        const struct command_param *p = &r->command.params[fault.param - 1];
        snprintf(text + len, size - len,
                 ": solve() dereferenced device pointer '%s' on the host (byte %lld of it)",
                 p->name, (long long)fault.byte_offset);
    } else if (signo == SIGFPE) {
        snprintf(text + len, size - len, " in host code: an integer division by zero or overflow");
    } else if (signo == SIGSEGV && fault.below_stack != 0) {
        snprintf(text + len, size - len,
                 " in host code: the stack ran over (large local arrays, or endless recursion)");
    } else if ((signo == SIGSEGV || signo == SIGBUS) && fault.inside_call != 0) {
        snprintf(text + len, size - len, " in host code at address %#llx%s",
                 (unsigned long long)fault.address,
                 fault.address < 4096 ? " (a null pointer)" : "");
    }
}

static void describe_end(const struct runner *r, struct call_reply *reply)
{
    const char *when = r->command.op == COMMAND_LOAD  ? " while loading"
                       : r->command.op == COMMAND_BYE ? " at its end"
                                                      : "";

    if (WIFSIGNALED(r->wait_status)) {
        const char *name = sigabbrev_np(WTERMSIG(r->wait_status));
        reply->end = CALL_SIGNALLED;
        reply->signo = WTERMSIG(r->wait_status);
        snprintf(reply->text, sizeof reply->text, "killed by SIG%s%s", name == NULL ? "?" : name,
                 when);
        describe_fault(r, reply->text, sizeof reply->text, reply->signo);
        return;
    }
    reply->end = CALL_EXITED;
    reply->exit_code = WIFEXITED(r->wait_status) ? WEXITSTATUS(r->wait_status) : -1;
    if (reply->exit_code == RECORD_EXIT_CHANNEL)
        snprintf(reply->text, sizeof reply->text,
                 "solution closed the judge's descriptors; the result is lost");
    else
        snprintf(reply->text, sizeof reply->text, "solution ended the process%s (exit code %d)",
                 when, reply->exit_code);
}

/* ---- waiting ---- */

static uint64_t resident_bytes(pid_t pid)
{
    char path[64], text[128];
    unsigned long long total = 0, resident = 0;
    ssize_t got;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/statm", (long)pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return 0;
    got = read(fd, text, sizeof text - 1);
    close(fd);
    if (got <= 0)
        return 0;
    text[got] = '\0';
    if (sscanf(text, "%llu %llu", &total, &resident) != 2)
        return 0;
    return resident * (uint64_t)sysconf(_SC_PAGESIZE);
}

enum arrival { ARRIVED_NOTHING, ARRIVED_MESSAGE, ARRIVED_END };

static enum arrival receive(struct runner *r, struct message *m, size_t *size)
{
    const ssize_t got = recv(r->socket, m, sizeof *m, MSG_DONTWAIT);

    if (got > 0) {
        *size = (size_t)got;
        return ARRIVED_MESSAGE;
    }
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR))
        return ARRIVED_NOTHING;
    return ARRIVED_END;
}

/* Sleeps until something may have happened: a message, output, the end, or `until`. */
static void wait_for_news(struct runner *r, double until, bool socket_open)
{
    struct pollfd fds[4] = {{.fd = socket_open ? r->socket : -1, .events = POLLIN},
                            {.fd = r->out.fd, .events = POLLIN},
                            {.fd = r->err.fd, .events = POLLIN},
                            {.fd = r->findings.fd, .events = POLLIN}};
    const double left_ms = (until - proc_now_s()) * 1e3;
    const int tick_ms = socket_open ? TICK_MS : 1; /* without it only a look finds the end */
    const int wait_ms = left_ms <= 0 ? 0 : left_ms < tick_ms ? (int)left_ms + 1 : tick_ms;

    poll(fds, 4, wait_ms);
    drain_all(r, 1u << 20);
}

/* The spans that the CRC of an answer covers. */
static unsigned output_spans(const struct runner *r, struct record_span spans[RECORD_MAX_PARAMS])
{
    const struct command *c = &r->command;
    unsigned n = 0;

    if (c->op != COMMAND_CALL && c->op != COMMAND_TIME && c->op != COMMAND_OUTPUTS)
        return 0;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        if (p->scalar || p->dir == RECORD_IN)
            continue;
        spans[n++] = (struct record_span){r->shared + p->slot, record_slot_size(p)};
    }
    return n;
}

static bool has_outputs(uint32_t status)
{
    return status == RECORD_OK || status == RECORD_MEMORY_LIMIT;
}

/* How far the command being served is, as far as its notices say. */
enum stage { STAGE_PREPARING, STAGE_RUNNING, STAGE_CHECKING };

/* Whether a message of that status may come at that stage. */
static bool in_order(const struct runner *r, uint32_t status, enum stage stage)
{
    const bool has_stages = r->command.op == COMMAND_CALL || r->command.op == COMMAND_TIME;

    if (status == RECORD_PREPARED)
        return has_stages && stage == STAGE_PREPARING;
    if (status == RECORD_RETURNED)
        return has_stages && stage == STAGE_RUNNING;
    return !has_stages || !has_outputs(status) || stage == STAGE_CHECKING;
}

/* NULL when the message is the answer or a notice, else what is wrong with it. */
static const char *message_check(struct runner *r, struct message *m, size_t size, bool with_facts,
                                 enum stage stage)
{
    const bool notice = m->record.status == RECORD_PREPARED || m->record.status == RECORD_RETURNED;
    struct record_span spans[RECORD_MAX_PARAMS];
    unsigned span_count = 0;
    const char *wrong;

    if (size < sizeof m->record)
        return "a truncated record";
    if (size != sizeof m->record + (with_facts && !notice ? sizeof m->facts : 0))
        return "a record of the wrong length";
    if (has_outputs(m->record.status))
        span_count = output_spans(r, spans);
    wrong = record_check(&m->record, sizeof m->record, r->command.sequence, r->command.nonce, spans,
                         span_count);
    if (wrong == NULL && !in_order(r, m->record.status, stage))
        return "a record out of order";
    return wrong;
}

static void reply_lost(struct runner *r, struct call_reply *reply, enum call_end end,
                       const char *text)
{
    child_kill(r);
    reply->end = end;
    snprintf(reply->text, sizeof reply->text, "%s", text);
}

/* The state of one wait. */
struct wait {
    enum stage stage;
    double begin, stage_begin, until; /* proc_now_s */
    double limit_s;                   /* of the stage RUNNING; 0 = none */
};

static void stage_enter(struct wait *w, enum stage stage, double now, double limit_s)
{
    w->stage = stage;
    w->stage_begin = now;
    w->until = now + (limit_s > 0 ? limit_s : 1e9);
}

/* Takes a message. True: the wait is over, *reply is filled. */
static bool message_take(struct runner *r, struct wait *w, struct message *m, size_t size,
                         bool with_facts, double now, struct call_reply *reply)
{
    const char *wrong = message_check(r, m, size, with_facts, w->stage);

    if (wrong != NULL) {
        char text[200];
        snprintf(text, sizeof text, "the judge received %s", wrong);
        reply_lost(r, reply, CALL_FORGED, text);
        return true;
    }
    if (m->record.status == RECORD_PREPARED) {
        reply->prepare_s = now - w->begin;
        stage_enter(w, STAGE_RUNNING, now, w->limit_s);
        /* The child waits for this: what we measure from here is never less than what it did. */
        (void)!send(r->socket, &r->command.nonce, sizeof r->command.nonce, MSG_NOSIGNAL);
        return false;
    }
    if (m->record.status == RECORD_RETURNED) {
        reply->wall_s = now - w->stage_begin;
        stage_enter(w, STAGE_CHECKING, now, PREPARE_LIMIT_S);
        return false;
    }
    reply->end = CALL_DONE;
    reply->record = m->record;
    r->facts = m->facts;
    return true;
}

/* Looks at the clock and at host memory. True: the child was killed for it. */
static bool limits_look(struct runner *r, const struct wait *w, double now,
                        struct call_reply *reply)
{
    char text[200];

    if (now >= w->until) {
        snprintf(text, sizeof text, "no answer within %.3g s%s", w->until - w->stage_begin,
                 w->stage == STAGE_CHECKING ? " after solve() returned" : "");
        reply_lost(r, reply, CALL_TIMEOUT, text);
        return true;
    }
    if (r->config.host_memory_mib != 0 &&
        resident_bytes(r->pid) >> 20 > r->config.host_memory_mib) {
        snprintf(text, sizeof text, "used more than %llu MiB of host memory",
                 (unsigned long long)r->config.host_memory_mib);
        reply_lost(r, reply, CALL_HOST_MEMORY, text);
        return true;
    }
    return false;
}

/* Waits for the answer to r->command. `first_s`: until the inputs are in place (or, for commands
 * without stages, until the answer); `limit_s`: for solve() and what it left on the device. */
static void await(struct runner *r, double first_s, double limit_s, bool with_facts,
                  struct call_reply *reply)
{
    const double begin = proc_now_s();
    struct wait w = {.begin = begin, .limit_s = limit_s};
    double next_tick = begin + TICK_MS * 1e-3;
    bool socket_open = true, ended = false;

    stage_enter(&w, STAGE_PREPARING, begin, first_s);
    for (;;) {
        struct message m = {0};
        size_t size = 0;
        const enum arrival a = socket_open ? receive(r, &m, &size) : ARRIVED_END;
        const double now = proc_now_s();

        if (a == ARRIVED_MESSAGE) {
            if (message_take(r, &w, &m, size, with_facts, now, reply))
                break;
            continue;
        }
        if (a == ARRIVED_END || ended) {
            /* The channel is closed: the child ends, or runs on without it until the deadline. */
            socket_open = false;
            if (child_ended(r)) {
                r->broken = true;
                describe_end(r, reply);
                break;
            }
        }
        if (now >= w.until || now >= next_tick) {
            next_tick = now + TICK_MS * 1e-3;
            if (limits_look(r, &w, now, reply))
                break;
            ended = child_ended(r); /* a descendant may hold the channel open after its end */
        }
        wait_for_news(r, w.until < next_tick ? w.until : next_tick, socket_open);
    }
    if (w.stage != STAGE_CHECKING)
        reply->wall_s = proc_now_s() - w.stage_begin;
    drain_all(r, (size_t)FINDINGS_CAP * 2); /* findings precede the record */
}

/* ---- commands ---- */

static void command_begin(struct runner *r, enum command_op op)
{
    memset(&r->command, 0, sizeof r->command);
    r->command.op = op;
    r->command.backend = r->config.backend == BACKEND_GPU    ? RECORD_GPU
                         : r->config.backend == BACKEND_VGPU ? RECORD_VGPU
                                                             : RECORD_STANDIN;
    r->command.device = r->config.device;
    r->command.shared_size = r->shared_size;
}

/* Sends r->command, with a descriptor when fd >= 0. False: the child no longer listens. */
static bool command_send(struct runner *r, int fd)
{
    union {
        struct cmsghdr align;
        char bytes[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec iov = {&r->command, sizeof r->command};
    struct msghdr msg = {.msg_iov = &iov, .msg_iovlen = 1};
    uint64_t nonce = 0;
    ssize_t sent;

    if (getrandom(&nonce, sizeof nonce, 0) != (ssize_t)sizeof nonce)
        nonce = (uint64_t)(proc_now_s() * 1e9) * UINT64_C(0x9e3779b97f4a7c15);
    if (fd >= 0) {
        r->command.flags |= COMMAND_FLAG_NEW_FILE;
        memset(&control, 0, sizeof control);
        msg.msg_control = control.bytes;
        msg.msg_controllen = sizeof control.bytes;
        struct cmsghdr *h = CMSG_FIRSTHDR(&msg);
        h->cmsg_level = SOL_SOCKET;
        h->cmsg_type = SCM_RIGHTS;
        h->cmsg_len = CMSG_LEN(sizeof fd);
        memcpy(CMSG_DATA(h), &fd, sizeof fd);
    }
    command_seal(&r->command, ++r->sequence, nonce);
    memset(r->shared, 0, sizeof(struct record_fault));
    r->findings.len = 0;
    r->findings.text[0] = '\0';
    r->findings.dropped = 0;
    do
        sent = sendmsg(r->socket, &msg, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    return sent == (ssize_t)sizeof r->command;
}

static void exchange(struct runner *r, int fd, double first_s, double limit_s, bool with_facts,
                     struct call_reply *reply)
{
    drain_all(r, 1u << 20);    /* what came between two calls */
    (void)command_send(r, fd); /* a child that no longer listens has ended: await says how */
    await(r, first_s, limit_s, with_facts, reply);
    reply->findings =
        (struct finding_lines){r->findings.text, r->findings.len, r->findings.dropped};
    if (r->config.allow_libraries)
        memset(reply->record.new_library, 0, sizeof reply->record.new_library);
}

uint32_t launch_wire_type(enum dtype t)
{
    switch (t) {
    case DTYPE_F64:
        return RECORD_F64;
    case DTYPE_F32:
        return RECORD_F32;
    case DTYPE_F16:
        return RECORD_F16;
    case DTYPE_BF16:
        return RECORD_BF16;
    case DTYPE_I64:
        return RECORD_I64;
    case DTYPE_I32:
        return RECORD_I32;
    case DTYPE_U32:
        return RECORD_U32;
    case DTYPE_I8:
        return RECORD_I8;
    case DTYPE_U8:
        return RECORD_U8;
    }
    UNREACHABLE();
}

static enum status scalar_bits(uint64_t *out, const struct param *p, double v, struct diag *d)
{
    const float narrow = (float)v;
    const double whole = 9007199254740992.0; /* 2^53: integers are exact up to here */
    uint32_t bits = 0;

    *out = 0;
    if (p->dtype == DTYPE_F64) {
        memcpy(out, &v, sizeof v);
        return STATUS_OK;
    }
    if (p->dtype == DTYPE_F32) {
        memcpy(&bits, &narrow, sizeof bits);
        *out = bits;
        return STATUS_OK;
    }
    if (p->dtype == DTYPE_F16 || p->dtype == DTYPE_BF16)
        return diag_set(d, STATUS_BAD_DATA,
                        "scalar '%s' of type %s cannot be passed by value; use f32", p->name,
                        dtype_name(p->dtype));
    if (!(v >= -whole && v <= whole))
        return diag_set(d, STATUS_BAD_DATA, "scalar '%s' is %g, not an exact integer", p->name, v);
    *out = (uint64_t)(int64_t)v;
    return STATUS_OK;
}

static uint64_t slot_take(uint64_t *end, uint64_t size)
{
    const uint64_t slot = *end;

    *end += (size + RECORD_SLOT_ALIGN - 1) / RECORD_SLOT_ALIGN * RECORD_SLOT_ALIGN;
    return slot;
}

static enum status command_param_fill(struct command_param *w, const struct problem *pb,
                                      const struct casedef *c, unsigned i,
                                      const struct casefile *in, const int *exponents,
                                      const int *exponents2, struct diag *d)
{
    const struct param *p = &pb->params[i];

    *w = (struct command_param){.type = launch_wire_type(p->dtype),
                                .dir = p->dir == DIR_IN    ? RECORD_IN
                                       : p->dir == DIR_OUT ? RECORD_OUT
                                                           : RECORD_INOUT,
                                .space_host = p->space == SPACE_HOST,
                                .scalar = p->scalar};
    snprintf(w->name, sizeof w->name, "%.31s", p->name);
    if (p->scalar)
        return scalar_bits(&w->value, p, c->scalar[i], d);
    w->count = c->count[i];
    w->offset = c->offset[i];
    if (p->group >= 0 && p->dir != DIR_OUT) {
        w->exponent = exponents[p->group];
        w->exponent2 = exponents2[p->group];
    }
    if (p->dir != DIR_OUT) {
        const struct tensor *t = casefile_find(in, p->name);
        if (t == NULL || t->count != w->count || t->dtype != p->dtype)
            return diag_set(d, STATUS_BAD_DATA,
                            "case '%s': the file holds no %s tensor '%s' with %llu elements",
                            c->name, dtype_name(p->dtype), p->name, (unsigned long long)w->count);
        w->file_begin = t->begin;
    }
    return STATUS_OK;
}

static enum status command_fill(struct runner *r, const struct casedef *c,
                                const struct casefile *in, const int *exponents,
                                const int *exponents2, struct diag *d)
{
    const struct problem *pb = r->config.problem;

    if (r->broken || pb == NULL)
        return diag_set(d, STATUS_INTERNAL, "a call to a runner that cannot take one");
    r->command.param_count = pb->param_count;
    r->command.file_size = in->size;
    for (unsigned i = 0; i < pb->param_count; i++)
        TRY(command_param_fill(&r->command.params[i], pb, c, i, in, exponents, exponents2, d));
    return STATUS_OK;
}

/* Gives every output its slots. `copies`: of a hot sample, else 0. */
static enum status slots_place(struct runner *r, unsigned copies, struct diag *d)
{
    uint64_t end = RECORD_OUTPUTS_BEGIN;

    for (uint32_t i = 0; i < r->command.param_count; i++) {
        struct command_param *p = &r->command.params[i];
        const uint64_t size = record_slot_size(p);
        if (p->scalar || p->dir == RECORD_IN)
            continue;
        p->slot = slot_take(&end, size);
        for (unsigned j = 1; j < copies; j++)
            slot_take(&end, size);
        if (r->command.op == COMMAND_CALL)
            p->slot_early = slot_take(&end, size);
        if ((r->command.flags & COMMAND_FLAG_REREAD) != 0)
            p->slot_previous = slot_take(&end, size);
    }
    TRY(shared_grow(r, end, d));
    r->command.shared_size = r->shared_size;
    return STATUS_OK;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The descriptor to send, -1 when the child has this file already. */
static enum status file_to_send(struct runner *r, const struct casefile *in, int *fd,
                                struct diag *d)
{
    struct stat st;

    *fd = -1;
    if (fstat(in->fd, &st) != 0)
        return diag_set(d, STATUS_IO, "cannot look at a case file: %s", strerror(errno));
    if (r->file_known && same_file(&r->file, &st))
        return STATUS_OK;
    r->file = st;
    r->file_known = true;
    *fd = in->fd;
    return STATUS_OK;
}

static void outputs_hand_over(struct runner *r, struct call_reply *reply, unsigned copies)
{
    const struct command *c = &r->command;

    if (reply->end != CALL_DONE || !has_outputs(reply->record.status))
        return;
    reply->hot_copies = copies;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        const uint64_t size = record_slot_size(p);
        if (p->scalar || p->dir == RECORD_IN)
            continue;
        if (p->digest != 0) {
            reply->digest[i] = r->shared + p->slot;
            slot_take(&reply->digest_stride, size);
            continue;
        }
        reply->out[i] = r->shared + p->slot;
        reply->out_early[i] = p->slot_early != 0 ? r->shared + p->slot_early : NULL;
        reply->out_previous[i] = p->slot_previous != 0 ? r->shared + p->slot_previous : NULL;
        if (copies != 0) {
            uint64_t stride = 0;
            slot_take(&stride, size);
            reply->out_all[i] = r->shared + p->slot;
            reply->out_stride[i] = stride;
            reply->out[i] = r->shared + p->slot + (copies - 1) * stride;
            reply->out_early[i] = r->shared + p->slot + (copies - 2) * stride;
        }
    }
}

/* ---- public ---- */

static enum status start_failed(struct runner *r, const struct call_reply *reply, struct diag *d)
{
    const char *text = reply->end == CALL_DONE ? reply->record.text : reply->text;
    const enum status st = reply->end == CALL_DONE && reply->record.status == RECORD_UNSUPPORTED
                               ? STATUS_NOTHING
                               : STATUS_INTERNAL;

    diag_set(d, st, "the runner did not get ready: %s", text);
    if (r->err.len != 0) {
        /* What a tool in front, the loader or the driver had to say. */
        const char *line = r->err.text;
        diag_note(d, st, "stderr: %.*s", (int)strcspn(line, "\n"), line);
    }
    return st;
}

static bool config_keep(struct runner *r, const struct runner_config *rc)
{
    struct runner_config *c = &r->config;

    *c = *rc;
    c->runner_path = arena_strdup(&r->arena, rc->runner_path);
    c->cudart_path = arena_strdup(&r->arena, rc->cudart_path);
    c->so_path = rc->so_path == NULL ? NULL : arena_strdup(&r->arena, rc->so_path);
    c->sanitize = rc->sanitize == NULL ? NULL : arena_strdup(&r->arena, rc->sanitize);
    c->profile = rc->profile == NULL ? NULL : arena_strdup(&r->arena, rc->profile);
    c->vgpu_checks = rc->vgpu_checks == NULL ? NULL : arena_strdup(&r->arena, rc->vgpu_checks);
    return c->runner_path != NULL && c->cudart_path != NULL &&
           (rc->so_path == NULL || c->so_path != NULL) &&
           (rc->sanitize == NULL || c->sanitize != NULL) &&
           (rc->profile == NULL || c->profile != NULL) &&
           (rc->vgpu_checks == NULL || c->vgpu_checks != NULL);
}

enum status runner_start(struct runner **out, const struct runner_config *rc, struct diag *d)
{
    struct runner *r = xalloc(sizeof *r);
    struct call_reply reply = {0};
    enum status st = STATUS_OK;

    *out = NULL;
    if (r == NULL)
        return diag_set(d, STATUS_NOMEM, "no memory for a runner");
    r->socket = r->shared_fd = r->out.fd = r->err.fd = r->findings.fd = -1;
    if (!config_keep(r, rc)) {
        st = diag_set(d, STATUS_NOMEM, "no memory for a runner");
        goto fail;
    }
    if (strlen(rc->cudart_path) >= RECORD_MAX_PATH ||
        (rc->so_path != NULL && strlen(rc->so_path) >= RECORD_MAX_PATH)) {
        st = diag_set(d, STATUS_BAD_DATA, "a path of more than %d bytes", RECORD_MAX_PATH - 1);
        goto fail;
    }
    TRY_OR(fail, child_start(r, d));
    command_begin(r, COMMAND_START);
    snprintf(r->command.path, sizeof r->command.path, "%s", r->config.cudart_path);
    r->command.memory_limit = rc->memory_limit_mib << 20;
    if (rc->exact_alloc || rc->backend == BACKEND_VGPU || rc->sanitize != NULL)
        r->command.flags |= COMMAND_FLAG_EXACT;
    if (rc->backend == BACKEND_VGPU ||
        (rc->sanitize != NULL && strcmp(rc->sanitize, "initcheck") == 0))
        r->command.flags |= COMMAND_FLAG_NO_POISON;
    if (rc->profile != NULL)
        r->command.flags |= COMMAND_FLAG_RANGE;
    exchange(r, -1, READY_LIMIT_S, 0, true, &reply);
    if (reply.end != CALL_DONE || reply.record.status != RECORD_OK) {
        st = start_failed(r, &reply, d);
        goto fail;
    }
    *out = r;
    return STATUS_OK;
fail:
    runner_stop(r);
    return st;
}

enum status runner_load(struct runner *r, struct call_reply *reply, struct diag *d)
{
    memset(reply, 0, sizeof *reply);
    if (r->broken || r->config.so_path == NULL)
        return diag_set(d, STATUS_INTERNAL, "no runner, or no solution to load");
    command_begin(r, COMMAND_LOAD);
    snprintf(r->command.path, sizeof r->command.path, "%s", r->config.so_path);
    exchange(r, -1, r->config.load_limit_s, 0, false, reply);
    return STATUS_OK;
}

enum status runner_call(struct runner *r, const struct casedef *c, const struct casefile *in,
                        const struct call_request *req, struct call_reply *reply, struct diag *d)
{
    int fd;

    memset(reply, 0, sizeof *reply);
    command_begin(r, COMMAND_CALL);
    TRY(command_fill(r, c, in, req->exponents, req->exponents, d));
    r->command.address_set = req->address_set;
    r->command.poison_kind = r->config.backend == BACKEND_VGPU ? 0 : req->poison_kind;
    reply->poison_kind = r->command.poison_kind;
    if (req->reread_previous)
        r->command.flags |= COMMAND_FLAG_REREAD;
    TRY(slots_place(r, 0, d));
    TRY(file_to_send(r, in, &fd, d));
    exchange(r, fd, PREPARE_LIMIT_S, req->limit_s, false, reply);
    outputs_hand_over(r, reply, 0);
    return STATUS_OK;
}

/* Large outputs of timed calls stay on the device where the rule is equality. */
static void digests_choose(struct runner *r, const struct casedef *c,
                           const struct timing_request *req)
{
    const struct problem *pb = r->config.problem;
    int sum = 0, sum2 = 0;

    for (unsigned g = 0; g < pb->group_count; g++) {
        sum += req->exponents[g];
        sum2 += req->exponents2[g];
    }
    r->command.digest_key = req->digest_key;
    for (uint32_t i = 0; i < r->command.param_count; i++) {
        struct command_param *p = &r->command.params[i];

        if (p->scalar || p->dir != RECORD_OUT)
            continue;
        p->exponent = sum;
        p->exponent2 = req->hot ? sum2 : sum;
        p->digest = req->digest_key != 0 && runner_digests(c, pb, i);
    }
}

static unsigned hot_copies(const struct runner *r, unsigned repeats)
{
    uint64_t set_size = 1, copies;

    for (uint32_t i = 0; i < r->command.param_count; i++)
        if (!r->command.params[i].scalar && r->command.params[i].dir != RECORD_IN)
            slot_take(&set_size,
                      r->command.params[i].count * record_type_size(r->command.params[i].type));
    copies = HOT_COPIES_BYTES / set_size / 2 * 2;
    copies = copies > HOT_COPIES_MOST ? HOT_COPIES_MOST : copies;
    return copies < 2 ? 2 : copies > repeats ? repeats : (unsigned)copies;
}

enum status runner_time(struct runner *r, const struct casedef *c, const struct casefile *in,
                        const struct timing_request *req, struct call_reply *reply, struct diag *d)
{
    unsigned copies = 0;
    int fd;

    memset(reply, 0, sizeof *reply);
    command_begin(r, COMMAND_TIME);
    TRY(command_fill(r, c, in, req->exponents, req->hot ? req->exponents2 : req->exponents, d));
    r->command.slab_step = req->slab_step / 256 * 256;
    r->command.repeats = 1;
    if (req->hot) {
        r->command.flags |= COMMAND_FLAG_HOT;
        r->command.repeats = req->repeats < 2 ? 2 : (req->repeats + 1) / 2 * 2;
        copies = r->command.copies = hot_copies(r, r->command.repeats);
    }
    if (req->graph)
        r->command.flags |= COMMAND_FLAG_GRAPH;
    if (req->dirty_flush)
        r->command.flags |= COMMAND_FLAG_DIRTY;
    digests_choose(r, c, req);
    TRY(slots_place(r, copies, d));
    TRY(file_to_send(r, in, &fd, d));
    exchange(r, fd, PREPARE_LIMIT_S, req->limit_s, false, reply);
    outputs_hand_over(r, reply, copies);
    return STATUS_OK;
}

bool runner_digests(const struct casedef *c, const struct problem *p, unsigned param)
{
    const struct param *q = &p->params[param];

    return c->rule.kind == RULE_EXACT && q->dir == DIR_OUT && !q->scalar &&
           q->space == SPACE_DEVICE && record_digestible(launch_wire_type(q->dtype)) &&
           c->count[param] * dtype_size(q->dtype) > DIGEST_FROM_BYTES;
}

enum status runner_outputs(struct runner *r, struct call_reply *reply, struct diag *d)
{
    memset(reply, 0, sizeof *reply);
    if (r->broken || r->command.op != COMMAND_TIME || (r->command.flags & COMMAND_FLAG_HOT) != 0)
        return diag_set(d, STATUS_INTERNAL, "no cold sample whose outputs could be read");
    r->command.op = COMMAND_OUTPUTS;
    r->command.flags &= ~(uint32_t)COMMAND_FLAG_NEW_FILE;
    for (uint32_t i = 0; i < r->command.param_count; i++)
        r->command.params[i].digest = 0;
    reply->poison_kind = r->command.poison_kind;
    TRY(slots_place(r, 0, d));
    exchange(r, -1, PREPARE_LIMIT_S, 0, false, reply);
    outputs_hand_over(r, reply, 0);
    return STATUS_OK;
}

static enum status facts_command(struct runner *r, enum command_op op, uint32_t flags,
                                 struct device_facts *facts, struct diag *d)
{
    struct call_reply reply = {0};

    if (r->broken)
        return diag_set(d, STATUS_INTERNAL, "a question to a runner that has ended");
    command_begin(r, op);
    r->command.flags = flags;
    exchange(r, -1, FACTS_LIMIT_S, 0, true, &reply);
    if (reply.end != CALL_DONE)
        return diag_set(d, STATUS_INTERNAL, "device not usable: %s", reply.text);
    if (reply.record.status != RECORD_OK)
        return diag_set(d, STATUS_INTERNAL, "device not usable: %s", reply.record.text);
    record_facts_read(facts, &r->facts);
    return STATUS_OK;
}

enum status runner_facts(struct runner *r, struct device_facts *facts, bool measure_ceilings,
                         struct diag *d)
{
    return facts_command(r, COMMAND_FACTS, measure_ceilings ? COMMAND_FLAG_CEILINGS : 0, facts, d);
}

enum status runner_probe(const struct runner_config *rc, struct device_facts *facts, struct diag *d)
{
    struct runner_config bare = *rc;
    struct runner *r = NULL;
    enum status st;

    bare.so_path = NULL;
    bare.problem = NULL;
    bare.sanitize = bare.profile = NULL;
    TRY(runner_start(&r, &bare, d));
    st = facts_command(r, COMMAND_PROBE, 0, facts, d);
    runner_stop(r);
    return st;
}

bool runner_alive(const struct runner *r) { return !r->broken && r->pid > 0; }

const char *runner_output(struct runner *r, bool err, size_t *len, uint64_t *dropped)
{
    struct capture *c = err ? &r->err : &r->out;

    capture_drain(c, 1u << 20);
    *len = c->len;
    *dropped = c->dropped;
    return c->text;
}

void runner_finish(struct runner *r, struct call_reply *reply)
{
    /* Destructors of the solution may run: honest ones need less, and the tools in front of a
     * runner print their reports at its end. */
    const bool tool = r->config.sanitize != NULL || r->config.profile != NULL;
    const double until = proc_now_s() + (tool ? 120.0 : 5.0);

    memset(reply, 0, sizeof *reply);
    if (r->broken)
        return;
    command_begin(r, COMMAND_BYE);
    (void)command_send(r, -1);
    while (!child_ended(r) && proc_now_s() < until) {
        drain_all(r, 1u << 20);
        poll(NULL, 0, 1);
    }
    drain_all(r, 1u << 20);
    if (r->pid > 0)
        reply_lost(r, reply, CALL_TIMEOUT, "did not end when asked to");
    else if (!WIFEXITED(r->wait_status) || WEXITSTATUS(r->wait_status) != 0)
        describe_end(r, reply);
    r->broken = true;
}

void runner_stop(struct runner *r)
{
    if (r == NULL)
        return;
    child_kill(r);
    capture_close(&r->out);
    capture_close(&r->err);
    capture_close(&r->findings);
    close_fd(&r->socket);
    close_fd(&r->shared_fd);
    if (r->shared != NULL)
        munmap(r->shared, r->shared_size);
    arena_fini(&r->arena);
    xfree(r);
}

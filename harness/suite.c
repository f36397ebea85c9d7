/*
 * suite.c - fork, collect, keep order.
 * The worker sends its result as the JSON of report_json.c through a memory file, so that a crash
 * in it cannot damage the parent. Invariant: at most `jobs` workers live at once.
 */
#include "suite.h"

#include "proc.h"
#include "report_json.h"
#include "store.h"
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define MAX_WORKERS   256u
#define TICK_MS       100 /* how often the progress line is looked at */
#define GPU_JOBS_MOST 4u
#define GPU_JOB_BYTES (UINT64_C(16) << 30) /* the largest case takes 3 GiB in each process */

/* What a worker tells about itself while it works; shared memory. */
struct pulse {
    volatile unsigned done, total;
};

struct worker {
    pid_t pid; /* 0 = free slot */
    int pidfd, result_fd;
    unsigned item;
};

struct suite {
    const struct suite_options *o;
    const struct suite_item *items;
    struct solution_result *out;
    struct arena *arena;
    unsigned count, next, finished, reported;
    unsigned worker_max;
    bool compile_only, unhealthy;
    bool *ready; /* out[i] is final */
    struct worker workers[MAX_WORKERS];
    struct pulse *pulses; /* MAX_WORKERS, shared */
};

unsigned suite_cores(void)
{
    cpu_set_t set;
    const int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n > 0 ? (unsigned)n : 1;
}

unsigned suite_jobs(const struct backend_choice *backend, unsigned wanted)
{
    const uint64_t by_memory = backend->facts.memory_bytes / GPU_JOB_BYTES;
    const unsigned by_cores = suite_cores() / 2;
    unsigned jobs = GPU_JOBS_MOST;

    if (wanted > 0)
        return wanted;
    if (backend->kind != BACKEND_GPU)
        return suite_cores();
    jobs = by_memory < jobs ? (unsigned)by_memory : jobs;
    jobs = by_cores < jobs ? by_cores : jobs;
    return jobs > 0 ? jobs : 1;
}

/* ---- in the worker ---- */

static void pulse_progress(void *ctx, unsigned done, unsigned total, const char *case_name)
{
    struct pulse *p = ctx;

    (void)case_name;
    p->total = total;
    p->done = done;
}

static bool write_all(int fd, const char *text, size_t len)
{
    while (len > 0) {
        const ssize_t n = write(fd, text, len);

        if (n <= 0)
            return false;
        text += n;
        len -= (size_t)n;
    }
    return true;
}

/* Judges one item and writes its JSON; the exit code says whether that worked. */
static int work(const struct suite *s, const struct suite_item *item, struct pulse *pulse, int fd)
{
    struct judging_options o = s->o->judging;
    struct results r = {.solution_count = 1};
    struct textbuf b = TEXTBUF_EMPTY;
    struct arena a = {0};
    struct solution_result one;
    struct object object;
    struct diag d = {0};

    o.progress = pulse_progress;
    o.progress_ctx = pulse;
    if (s->compile_only) /* the outcome lies in the cache: a failure shows again when judged */
        return compile_solution(&object, &a, o.cfg, item->problem, item->solution, o.backend->arch,
                                item->defines, &d) == STATUS_OK
                   ? 0
                   : 1;
    if (judging_run_solution(&one, &a, &o, item->problem, item->solution, item->cases,
                             item->case_count, item->defines, &d) != STATUS_OK)
        return 1;
    one.tune = item->tune;
    r.solutions = &one;
    r.context = (struct run_context){.judge_version = "",
                                     .commit = "",
                                     .backend = "",
                                     .start = "",
                                     .nvcc = "",
                                     .cuda = "",
                                     .clocks = "",
                                     .flush = ""};
    report_json(&b, &r);
    return b.failed || !write_all(fd, b.text, b.len) ? 1 : 0;
}

/* ---- in the parent ---- */

static enum status start_worker(struct suite *s, unsigned slot, struct diag *d)
{
    const pid_t parent = getpid();
    struct worker *w = &s->workers[slot];

    w->item = s->next;
    s->pulses[slot].done = s->pulses[slot].total = 0;
    w->result_fd = memfd_create("judge-result", MFD_CLOEXEC);
    if (w->result_fd < 0)
        return diag_set(d, STATUS_IO, "cannot make a memory file: %s", strerror(errno));
    w->pid = fork();
    if (w->pid < 0) {
        w->pid = 0;
        (void)close(w->result_fd);
        return diag_set(d, STATUS_IO, "cannot start a worker: %s", strerror(errno));
    }
    if (w->pid == 0) {
        (void)signal(SIGINT, SIG_DFL);
        (void)signal(SIGTERM, SIG_DFL);
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        _exit(work(s, &s->items[w->item], &s->pulses[slot], w->result_fd));
    }
    w->pidfd = pidfd_open(w->pid, 0);
    if (w->pidfd < 0) {
        (void)kill(w->pid, SIGKILL);
        (void)waitpid(w->pid, NULL, 0);
        (void)close(w->result_fd);
        w->pid = 0;
        return diag_set(d, STATUS_IO, "cannot watch a worker: %s", strerror(errno));
    }
    s->next++;
    return STATUS_OK;
}

/* Points the parsed result at the catalogue's own problem, solution and cases. */
static void relink(struct solution_result *r, const struct suite_item *item)
{
    r->problem = item->problem;
    r->solution = item->solution;
    r->tune = item->tune;
    for (unsigned i = 0; i < r->case_count && i < item->case_count; i++)
        if (strcmp(r->cases[i].casedef->name, item->cases[i]->name) == 0)
            r->cases[i].casedef = item->cases[i];
}

static void judge_error(struct solution_result *r, const struct suite_item *item,
                        const char *reason)
{
    results_init_solution(r, item->problem, item->solution);
    r->tune = item->tune;
    r->reason = reason != NULL ? reason : "out of memory";
    results_conclude(r, VERDICT_JE);
}

static void read_result(struct suite *s, const struct worker *w, int status)
{
    const struct suite_item *item = &s->items[w->item];
    struct solution_result *out = &s->out[w->item];
    const off_t size = lseek(w->result_fd, 0, SEEK_END);
    struct results parsed = {0};
    struct diag d = {0};
    char *text;

    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || size <= 0) {
        judge_error(out, item,
                    WIFSIGNALED(status)
                        ? arena_printf(s->arena, "the judge's worker was killed by signal %d",
                                       WTERMSIG(status))
                        : "the judge's worker could not finish (out of memory?)");
        return;
    }
    text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, w->result_fd, 0);
    if (text == MAP_FAILED ||
        store_parse(&parsed, s->arena, text, (size_t)size, "a worker's result", &d) != STATUS_OK ||
        parsed.solution_count != 1)
        judge_error(out, item, arena_printf(s->arena, "a worker's result is broken: %s", d.text));
    else {
        *out = parsed.solutions[0];
        relink(out, item);
    }
    if (text != MAP_FAILED)
        (void)munmap(text, (size_t)size);
}

static void report_ready(struct suite *s)
{
    while (s->reported < s->count && s->ready[s->reported]) {
        if (s->o->done != NULL && !s->compile_only)
            s->o->done(s->o->done_ctx, s->reported, &s->out[s->reported]);
        s->reported++;
    }
}

static void finish_worker(struct suite *s, unsigned slot)
{
    struct worker *w = &s->workers[slot];
    int status = 0;

    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (!s->compile_only) {
        read_result(s, w, status);
        s->unhealthy = s->unhealthy || s->out[w->item].device_unhealthy;
    }
    s->ready[w->item] = true;
    s->finished++;
    (void)close(w->pidfd);
    (void)close(w->result_fd);
    w->pid = 0;
}

static void show_progress(const struct suite *s)
{
    unsigned done = 0, total = 0, busy = 0;
    const struct suite_item *item = NULL;

    if (s->o->term == NULL)
        return;
    for (unsigned k = 0; k < s->worker_max; k++) {
        if (s->workers[k].pid == 0)
            continue;
        item = &s->items[s->workers[k].item];
        done += s->pulses[k].done;
        total += s->pulses[k].total;
        busy++;
    }
    if (item == NULL)
        return;
    if (s->compile_only)
        term_progress(s->o->term, "compiling %u of %u: %s/%s", s->finished + 1, s->count,
                      item->problem->name, item->solution->name);
    else if (total == 0)
        term_progress(s->o->term, "solution %u of %u: %s/%s, compiling", s->finished + 1, s->count,
                      item->problem->name, item->solution->name);
    else
        term_progress(s->o->term, "solution %u of %u: %s/%s%s, case %u of %u", s->finished + 1,
                      s->count, item->problem->name, item->solution->name,
                      busy > 1 ? " and others" : "", done + 1, total);
}

static bool interrupted(const struct suite *s)
{
    return s->o->judging.stop != NULL && *s->o->judging.stop != 0;
}

static void wait_some(struct suite *s)
{
    struct pollfd fds[MAX_WORKERS];
    unsigned slots[MAX_WORKERS];
    nfds_t n = 0;

    for (unsigned k = 0; k < s->worker_max; k++)
        if (s->workers[k].pid != 0) {
            fds[n] = (struct pollfd){.fd = s->workers[k].pidfd, .events = POLLIN};
            slots[n++] = k;
        }
    if (poll(fds, n, s->o->term != NULL && s->o->term->progress ? TICK_MS : 5 * TICK_MS) <= 0)
        return;
    for (nfds_t i = 0; i < n; i++)
        if (fds[i].revents != 0)
            finish_worker(s, slots[i]);
}

static void kill_workers(struct suite *s)
{
    for (unsigned k = 0; k < s->worker_max; k++)
        if (s->workers[k].pid != 0) {
            (void)kill(s->workers[k].pid, SIGKILL);
            finish_worker(s, k);
        }
    suite_sweep();
}

static unsigned free_slot(const struct suite *s)
{
    unsigned k = 0;

    while (k < s->worker_max && s->workers[k].pid != 0)
        k++;
    return k;
}

static bool workers_alive(const struct suite *s)
{
    for (unsigned k = 0; k < s->worker_max; k++)
        if (s->workers[k].pid != 0)
            return true;
    return false;
}

static enum status run_all(struct suite *s, struct diag *d)
{
    enum status st = STATUS_OK;

    s->next = s->finished = s->reported = 0;
    memset(s->ready, 0, s->count * sizeof *s->ready);
    while (s->finished < s->count && st == STATUS_OK && !interrupted(s)) {
        unsigned slot;

        while (st == STATUS_OK && s->next < s->count && !interrupted(s) &&
               (slot = free_slot(s)) < s->worker_max) {
            if (s->unhealthy && !s->compile_only) {
                judge_error(&s->out[s->next], &s->items[s->next],
                            "device unhealthy after an earlier solution");
                s->ready[s->next++] = true;
                s->finished++;
                continue;
            }
            st = start_worker(s, slot, d);
        }
        show_progress(s);
        if (st == STATUS_OK && workers_alive(s))
            wait_some(s);
        if (s->o->term != NULL && s->reported < s->count && s->ready[s->reported])
            term_clear(s->o->term);
        report_ready(s);
    }
    if (s->o->term != NULL)
        term_clear(s->o->term);
    if (st != STATUS_OK || interrupted(s))
        kill_workers(s);
    if (st == STATUS_OK && interrupted(s))
        st = diag_set(d, STATUS_IO, "interrupted");
    return st;
}

/* Starts prepare() beside the compilers. 0: not started, the caller will do it. */
static pid_t prepare_begin(const struct suite_options *o)
{
    const pid_t parent = getpid();
    const pid_t pid = o->prepare != NULL ? fork() : -1;
    struct diag d = {0};

    if (pid != 0)
        return pid > 0 ? pid : 0;
    (void)signal(SIGINT, SIG_DFL);
    (void)signal(SIGTERM, SIG_DFL);
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent)
        _exit(1);
    _exit(o->prepare(o->prepare_ctx, &d) == STATUS_OK ? 0 : 1);
}

/* Waits for it, in pieces, so that an interrupt ends it; then makes sure that all was done. */
static enum status prepare_end(const struct suite *s, pid_t pid, bool failed, struct diag *d)
{
    int status = 0;

    if (failed && pid > 0)
        (void)kill(pid, SIGKILL);
    while (pid > 0 && waitpid(pid, &status, WNOHANG) == 0) {
        if (interrupted(s))
            (void)kill(pid, SIGKILL);
        if (s->o->term != NULL)
            term_progress(s->o->term, "making case files");
        (void)poll(NULL, 0, TICK_MS);
    }
    if (failed || s->o->prepare == NULL)
        return STATUS_OK;
    if (interrupted(s)) {
        suite_sweep();
        return diag_set(d, STATUS_IO, "interrupted");
    }
    return s->o->prepare(s->o->prepare_ctx, d);
}

enum status suite_run(struct solution_result *out, struct arena *a, const struct suite_options *o,
                      const struct suite_item *items, unsigned count, struct diag *d)
{
    const unsigned compilers = o->jobs > 0 ? o->jobs : suite_cores();
    const unsigned jobs = suite_jobs(o->judging.backend, o->jobs);
    const bool gpu = o->judging.backend->kind == BACKEND_GPU;
    struct suite *s = arena_alloc(a, sizeof *s);
    enum status st = STATUS_OK;

    if (s == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory for a suite");
    *s = (struct suite){.o = o, .items = items, .out = out, .arena = a, .count = count};
    s->ready = arena_array(a, (size_t)count + 1, sizeof *s->ready);
    s->pulses = mmap(NULL, MAX_WORKERS * sizeof *s->pulses, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (s->ready == NULL || s->pulses == MAP_FAILED)
        return diag_set(d, STATUS_NOMEM, "out of memory for a suite");
    /* Orphans of killed workers (judge-runner, nvcc) become our children and can be swept. */
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (gpu) {
        const pid_t pid = prepare_begin(o);

        if (count > 1 && compilers > jobs) {
            s->worker_max = compilers < MAX_WORKERS ? compilers : MAX_WORKERS;
            s->compile_only = true; /* all compilers at once, then few processes on the device */
            st = run_all(s, d);
            s->compile_only = false;
        }
        if (st == STATUS_OK)
            st = prepare_end(s, pid, false, d);
        else
            (void)prepare_end(s, pid, true, d);
    } else if (o->prepare != NULL) {
        st = o->prepare(o->prepare_ctx, d);
    }
    s->worker_max = jobs < MAX_WORKERS ? jobs : MAX_WORKERS;
    if (st == STATUS_OK)
        st = run_all(s, d);
    (void)munmap(s->pulses, MAX_WORKERS * sizeof *s->pulses);
    return st;
}

void suite_sweep(void)
{
    char path[64], list[4096];
    int rounds = 0;

    (void)snprintf(path, sizeof path, "/proc/self/task/%d/children", (int)getpid());
    for (; rounds < 100; rounds++) {
        FILE *f = fopen(path, "r");
        size_t n;
        char *save, *word;

        if (f == NULL)
            return;
        n = fread(list, 1, sizeof list - 1, f);
        (void)fclose(f);
        list[n] = '\0';
        word = strtok_r(list, " ", &save);
        if (word == NULL)
            return;
        for (; word != NULL; word = strtok_r(NULL, " ", &save)) {
            const pid_t pid = (pid_t)strtol(word, NULL, 10);

            if (pid <= 1)
                continue;
            if (getpgid(pid) == pid) /* runners lead their own groups */
                (void)kill(-pid, SIGKILL);
            (void)kill(pid, SIGKILL);
            (void)waitpid(pid, NULL, 0);
        }
    }
}

/*
 * proc.h - runs one helper program (nvcc, python, ptxas) to its end, with a deadline and capped
 * capture. Does not run solutions: launch.c does. Invariant: when proc_run returns, the child is
 * reaped and its whole process group was killed if it did not end by itself.
 */
#ifndef HARNESS_PROC_H
#define HARNESS_PROC_H

#include "arena.h"
#include "diag.h"

#include <signal.h>
#include <stdint.h>

#define PROC_PATIENCE 5.0

struct proc_request {
    const char *const *argv; /* NULL-terminated; argv[0] without a slash is searched in PATH */
    const char *const *env;  /* NULL-terminated "K=V" list; NULL = this process's environment */
    const char *dir;         /* working directory; NULL = this process's */
    double limit_s;          /* deadline; 0 = none */
    /* limit_s counts processor time, of all that descends from the child: a busy machine makes no
     * difference. PROC_PATIENCE times as long by the clock ends it all the same. */
    bool limit_is_cpu;
    size_t out_cap, err_cap; /* bytes kept of each stream; the rest is counted and dropped */
    bool inherit_output; /* stdout and stderr go to this process's stderr, nothing is captured */
    const volatile sig_atomic_t *stop; /* non-zero ends the child early; NULL = never */
};

struct proc_result {
    int exit_code;         /* 0..255; -1 when ended by a signal */
    int signo;             /* 0 when it ended by itself */
    bool timed_out;        /* killed at limit_s */
    bool stopped;          /* killed because *stop was set */
    const char *out, *err; /* terminated; live in the arena */
    size_t out_len, err_len;
    uint64_t out_dropped, err_dropped; /* bytes beyond the caps */
    double wall_s;
};

/* Runs to the end. A child that fails, is killed or runs out of time is STATUS_OK with the facts in
 * *out; STATUS_IO (diag names the program) when it could not be started at all. stdin is /dev/null.
 */
enum status proc_run(struct proc_result *out, struct arena *a, const struct proc_request *rq,
                     struct diag *d) MUST_CHECK;
/* True when *r is exit code 0. */
bool proc_ok(const struct proc_result *r);
/* "exit code 2", "killed by SIGSEGV", "no end within 120 s": for messages. */
const char *proc_describe(const struct proc_result *r, struct arena *a);
/* Absolute path of `name` in PATH (or of a name with a slash if executable), or NULL. */
const char *proc_find(struct arena *a, const char *name);
/* An environment for proc_request.env: of this process only the variables in `keep`
 * (NULL-terminated names), then the "K=V" strings of `add` (NULL-terminated). NULL when out of
 * memory. */
const char *const *proc_env(struct arena *a, const char *const *keep, const char *const *add);
/* Monotonic clock in seconds. */
double proc_now_s(void);

#endif

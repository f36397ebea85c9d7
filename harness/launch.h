/*
 * launch.h - the parent's side of judge-runner: start, command, deadline, kill, restart, capture.
 * Knows no expected values and decides no verdict (judging.c does). Invariant: whatever the child
 * wrote was copied first and checked after.
 *
 * Order of use: runner_start, runner_load, then runner_call and runner_time at will, runner_stop.
 * After any reply whose end is not CALL_DONE the child is gone (runner_alive is false) and only
 * runner_output and runner_stop may follow. After a reply with ERROR_STICKY the child lives but its
 * CUDA context is lost: stop it and start another.
 */
#ifndef HARNESS_LAUNCH_H
#define HARNESS_LAUNCH_H

#include "casefile.h"
#include "diag.h"
#include "problem.h"
#include "record.h"

struct runner; /* one child process; opaque */

enum backend { BACKEND_GPU, BACKEND_VGPU, BACKEND_STANDIN /* tests: plain host memory runtime */ };

struct runner_config {
    const char *runner_path; /* judge-runner */
    const char *cudart_path; /* absolute path of libcudart: the real one, vgpu's or the stand-in */
    const char *so_path;     /* absolute path of the solution; NULL for probe */
    enum backend backend;
    unsigned device;
    const struct problem *problem; /* signature, limits, names; NULL for probe; must outlive */
    uint64_t memory_limit_mib;     /* extra device memory */
    uint64_t host_memory_mib;      /* RSS limit of the child; 0 = none */
    double load_limit_s;           /* until the solution is loaded */
    bool allow_libraries;          /* baselines may map further libraries: new_library stays "" */
    bool exact_alloc;              /* sanitizer: exact allocations, no guards (vgpu: always so) */
    const char
        *sanitize; /* NULL or memcheck|racecheck|initcheck|synccheck: under compute-sanitizer */
    const char *profile; /* NULL or ncu set name: under ncu, range limited to solve() */
    /* vgpu options, ignored elsewhere */
    uint64_t vgpu_seed;      /* 0 = canonical order */
    uint64_t vgpu_budget;    /* warp instructions a launch; 0 = vgpu's default */
    const char *vgpu_checks; /* "all" or a comma list; NULL = default */
    bool vgpu_counters;
};

enum call_end {
    CALL_DONE,      /* complete record, outputs present: see reply->record for errors and guards */
    CALL_EXITED,    /* the process ended by itself (exit_code), no complete record */
    CALL_SIGNALLED, /* by a signal (signo) */
    CALL_TIMEOUT,   /* killed at the deadline */
    CALL_HOST_MEMORY, /* killed for RSS */
    CALL_FORGED       /* a record came, but sequence, nonce, CRC or a length does not fit */
};

struct call_request {
    char letter;                       /* 'A' 'B' 'C' or 'R' (repeat): for texts, not sent */
    unsigned address_set;              /* 0 or 1: X or Y */
    unsigned poison_kind;              /* 0 NaN pattern, 1 large finite; see reply->poison_kind */
    int exponents[PROBLEM_MAX_GROUPS]; /* power of two applied to each group's inputs */
    bool reread_previous; /* also hand over the outputs of the other address set (late writes) */
    double limit_s;       /* for solve() and what it left on the device; 0 = none */
};

struct finding_lines {
    const char *text;
    size_t len;
    uint64_t dropped; /* bytes beyond the cap of 256 KiB */
};                    /* JSON lines from vgpu, untrusted, NUL-terminated */

struct call_reply {
    enum call_end end;
    int exit_code, signo;
    struct record record; /* checked copy; zero when end != CALL_DONE */
    unsigned poison_kind; /* the pattern that unwritten outputs hold (always 0 on vgpu) */
    /* outputs by parameter index (NULL for inputs and scalars, and when record.status says that
     * there are none); owned by the runner, valid until the next call. The child can still write
     * to them: read each byte as if it may change. */
    const void *out[PROBLEM_MAX_PARAMS]; /* late copy: what is compared */
    const void
        *out_early[PROBLEM_MAX_PARAMS]; /* early copy; hot sample: the call before the last */
    const void *out_previous[PROBLEM_MAX_PARAMS]; /* other address set re-read, when asked */
    /* hot samples: the last hot_copies calls, oldest first; copy j of parameter i is at
     * (char *)out_all[i] + j * out_stride[i] and used exponents (even j) or exponents2 (odd j) */
    unsigned hot_copies;
    const void *out_all[PROBLEM_MAX_PARAMS];
    size_t out_stride[PROBLEM_MAX_PARAMS];
    /* timed samples with a digest_key, outputs for which runner_digests() holds: the digest of copy
     * j, 8 bytes at digest[i] + j * digest_stride; out[i] is NULL then */
    const unsigned char *digest[PROBLEM_MAX_PARAMS];
    uint64_t digest_stride;
    struct finding_lines findings; /* of this call */
    double wall_s;                 /* parent's clock: solve(), early copy, synchronisation */
    double prepare_s;              /* parent's clock, command to inputs in place */
    char text[256]; /* human reason when end != CALL_DONE: "killed by SIGSEGV", ... */
};

/* Starts the child up to *ready* (runtime loaded, device chosen). Failure before ready is
 * STATUS_INTERNAL (JE) or STATUS_NOTHING (no device: diag says why). */
enum status runner_start(struct runner **out, const struct runner_config *rc,
                         struct diag *d) MUST_CHECK;
/* Loads the solution (static constructors run). *reply as for a call; CALL_DONE with
 * record.status == RECORD_OK = loaded and solve found. */
enum status runner_load(struct runner *r, struct call_reply *reply, struct diag *d) MUST_CHECK;
/* One functional call of a case: judge.md section 7, steps 1-8. `in` lends its fd. */
enum status runner_call(struct runner *r, const struct casedef *c, const struct casefile *in,
                        const struct call_request *req, struct call_reply *reply,
                        struct diag *d) MUST_CHECK;

/* Timed samples (real GPU; the stand-in runs the same steps without a flush), judge.md section 9.
 * Cold: one call; its time is event_us + spill_us. Hot: event_us of all repeats together. Graph:
 * solve() captured once per case and replayed; RECORD_FLAG_CAPTURE_FAILED where that is refused. */
struct timing_request {
    bool hot, graph, dirty_flush;
    unsigned repeats; /* hot: calls between one event pair, rounded up to even; cold: 1 */
    int exponents[PROBLEM_MAX_GROUPS];
    int exponents2[PROBLEM_MAX_GROUPS]; /* hot: the second alternating input set */
    unsigned slab_step;  /* cold: multiple of 256 bytes (at most 1 MiB), new for each sample */
    uint64_t digest_key; /* 0: every output comes as elements */
    double limit_s;
};
enum status runner_time(struct runner *r, const struct casedef *c, const struct casefile *in,
                        const struct timing_request *req, struct call_reply *reply,
                        struct diag *d) MUST_CHECK;
/* Does a timed sample of this case hand over a digest (record_digest) of that output instead of its
 * elements? Large ones that must be equal. */
bool runner_digests(const struct casedef *c, const struct problem *p, unsigned param);
/* The output elements of the last cold sample, in reply->out. */
enum status runner_outputs(struct runner *r, struct call_reply *reply, struct diag *d) MUST_CHECK;
/* Device facts; measure_ceilings: E0 (empty kernel), read sweep and copy, measured by the child. */
enum status runner_facts(struct runner *r, struct device_facts *facts, bool measure_ceilings,
                         struct diag *d) MUST_CHECK;
bool runner_alive(const struct runner *r);
/* Captured stdout and stderr so far (64 KiB each kept); *dropped = bytes beyond. */
const char *runner_output(struct runner *r, bool err, size_t *len, uint64_t *dropped);
/* Asks the child to end, so that destructors and atexit handlers of the solution run, and says how
 * it went: CALL_DONE, or a crash, an exit code or a timeout at the end. Does nothing to a child
 * that is gone (CALL_DONE). runner_output still works, runner_stop must follow. */
void runner_finish(struct runner *r, struct call_reply *reply);
/* Kills the child's process group, reaps, frees; accepts NULL. */
void runner_stop(struct runner *r);
/* Fresh child without a solution that allocates, launches, verifies. STATUS_OK = device healthy. */
enum status runner_probe(const struct runner_config *rc, struct device_facts *facts,
                         struct diag *d) MUST_CHECK;

/* The one mapping of element types to those of record.h. */
uint32_t launch_wire_type(enum dtype t);
/* The argument vector of the child: the same in every mode but for a tool in front. Fills at most
 * LAUNCH_MAX_ARGS pointers, NULL last; returns their number. */
#define LAUNCH_MAX_ARGS 24
unsigned launch_argv(const char *argv[LAUNCH_MAX_ARGS], const struct runner_config *rc);
/* The environment of the child: fixed entries, the few of `from` that a driver needs, and the vgpu
 * options; the same in every mode. Strings live in `a`. NULL when out of memory. */
const char *const *launch_environment(struct arena *a, const struct runner_config *rc,
                                      char *const *from);

#endif

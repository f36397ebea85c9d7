/*
 * launch.h - the parent's side of judge-runner: start, command, deadline, kill, restart, capture.
 * Knows no expected values and decides no verdict (judging.c does). Invariant: whatever the child wrote was copied first and checked after.
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
    const char *cudart_path; /* absolute path of the real libcudart, of vgpu's, or of the stand-in */
    const char *so_path;     /* the solution; NULL for probe */
    enum backend backend;
    unsigned device;
    const struct problem *problem; /* signature, limits, names of the first allocations */
    uint64_t memory_limit_mib;     /* extra device memory */
    uint64_t host_memory_mib;      /* RSS limit of the child */
    double load_limit_s;           /* until the solution is loaded */
    bool allow_libraries;          /* baselines may map further libraries */
    bool exact_alloc;              /* sanitizer and vgpu: exact allocations, no guards */
    const char *sanitize;          /* NULL or memcheck|racecheck|initcheck|synccheck: child runs under compute-sanitizer */
    const char *profile;           /* NULL or ncu set name: one call under ncu */
    /* vgpu options, ignored elsewhere */
    uint64_t vgpu_seed;            /* 0 = canonical order */
    uint64_t vgpu_budget;          /* warp instructions a launch */
    const char *vgpu_checks;       /* "all" or a comma list; NULL = default */
    bool vgpu_counters;
};

enum call_end {
    CALL_DONE,      /* complete record, outputs present: see reply->record for CUDA errors and guards */
    CALL_EXITED,    /* the process ended by itself (exit_code), no complete record */
    CALL_SIGNALLED, /* by a signal (signo) */
    CALL_TIMEOUT,   /* killed at the deadline */
    CALL_HOST_MEMORY, /* killed for RSS */
    CALL_FORGED     /* a record came, but sequence, nonce, CRC or a length does not fit */
};

struct call_request {
    char letter;                    /* 'A' 'B' 'C' or 'R' (repeat) */
    unsigned address_set;           /* 0 or 1: X or Y */
    unsigned poison_kind;           /* 0 NaN pattern, 1 large finite */
    int exponents[PROBLEM_MAX_GROUPS]; /* power of two applied to each group's inputs */
    bool reread_previous;           /* also hand over the outputs of the other address set (late writes) */
    double limit_s;
};

struct finding_lines { const char *text; size_t len; }; /* JSON lines from vgpu, untrusted, NUL-terminated */

struct call_reply {
    enum call_end end;
    int exit_code, signo;
    struct record record;           /* checked copy; zero when end != CALL_DONE */
    /* outputs by parameter index (NULL for inputs and scalars); owned by the runner, valid until the next call */
    const void *out[PROBLEM_MAX_PARAMS];        /* late copy: what is compared */
    const void *out_early[PROBLEM_MAX_PARAMS];  /* early copy */
    const void *out_previous[PROBLEM_MAX_PARAMS]; /* other address set re-read, when asked; else NULL */
    struct finding_lines findings;  /* of this call */
    double wall_s;                  /* parent's clock, command to record */
    char text[256];                 /* human reason when end != CALL_DONE: "killed by SIGSEGV", ... */
};

/* Starts the child up to *ready* (runtime loaded, device chosen). Failure before ready is STATUS_INTERNAL (JE) or STATUS_NOTHING
 * (no device: diag says why). */
enum status runner_start(struct runner **out, const struct runner_config *rc, struct diag *d) MUST_CHECK;
/* Loads the solution (static constructors run). *reply as for a call; CALL_DONE = loaded and solve found. */
enum status runner_load(struct runner *r, struct call_reply *reply, struct diag *d) MUST_CHECK;
/* One functional call of a case: judge.md section 7, steps 1-8. `in` lends its fd. */
enum status runner_call(struct runner *r, const struct casedef *c, const struct casefile *in,
                        const struct call_request *req, struct call_reply *reply, struct diag *d) MUST_CHECK;
/* Timed samples (GPU only), judge.md section 9. reply->record.event_us, spill_us ... */
struct timing_request {
    bool hot, graph, dirty_flush;
    unsigned repeats;               /* hot: calls between one event pair; cold: 1 */
    int exponents[PROBLEM_MAX_GROUPS];
    int exponents2[PROBLEM_MAX_GROUPS]; /* hot: the second alternating input set */
    unsigned slab_step;             /* cold: multiple of 256 bytes, new for each sample */
    double limit_s;
};
enum status runner_time(struct runner *r, const struct casedef *c, const struct casefile *in,
                        const struct timing_request *req, struct call_reply *reply, struct diag *d) MUST_CHECK;
/* Device facts and ceilings (E0, read, copy) measured by the child. */
enum status runner_facts(struct runner *r, struct device_facts *facts, bool measure_ceilings, struct diag *d) MUST_CHECK;
bool runner_alive(const struct runner *r);
/* Captured stdout and stderr so far (64 KiB each kept); *dropped = bytes beyond. */
const char *runner_output(struct runner *r, bool err, size_t *len, uint64_t *dropped);
/* Kills if needed, reaps, frees; accepts NULL. */
void runner_stop(struct runner *r);
/* Fresh child without a solution that allocates, launches, verifies. STATUS_OK = device healthy. */
enum status runner_probe(const struct runner_config *rc, struct device_facts *facts, struct diag *d) MUST_CHECK;

#endif

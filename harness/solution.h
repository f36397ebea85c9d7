/*
 * solution.h - finds .cu files and reads their tags; the only reader of `// @key value` lines.
 * Does not compile (compile.c) and does not judge. Invariant: unknown or repeated tags are refused.
 */
#ifndef HARNESS_SOLUTION_H
#define HARNESS_SOLUTION_H

#include "arena.h"
#include "diag.h"
#include "verdict.h"

enum solution_kind { SOLUTION_ACCEPT, SOLUTION_BASELINE, SOLUTION_REJECT, SOLUTION_FOREIGN };
#define SOLUTION_MAX_TUNES       8
#define SOLUTION_MAX_TUNE_VALUES 16
#define SOLUTION_MAX_BYTES                                                                         \
    (4u * 1024u * 1024u) /* of one .cu: far above any written by a person                          \
                          */

struct tune {
    const char *name;
    long values[SOLUTION_MAX_TUNE_VALUES]; /* [0] is the default */
    unsigned value_count;
};

struct solution {
    const char *problem; /* "topk" */
    const char *name; /* "radix_select", "rejects/zeros", "baselines/cub_topk"; foreign: the stem */
    const char *path; /* absolute path of the .cu */
    enum solution_kind kind;
    const char *idea, *source; /* "" if none */
    struct expectation expect; /* default: AC */
    const char *arch;          /* "" or "sm_90", "sm_90a": the lowest it accepts */
    bool needs_gpu, needs_vgpu, needs_bench;
    struct tune tunes[SOLUTION_MAX_TUNES];
    unsigned tune_count;
};

/* Reads the tags of one file. `kind` decides the name's prefix and whether @expect is required
 * (rejects). */
enum status solution_load(struct solution *out, struct arena *a, const char *problem,
                          const char *path, enum solution_kind kind, struct diag *d) MUST_CHECK;
/* The tags alone, from text in memory; `file` is for messages. Fills everything but problem, name,
 * path. */
enum status solution_parse(struct solution *out, struct arena *a, const char *text, size_t len,
                           enum solution_kind kind, const char *file, struct diag *d) MUST_CHECK;
/* True when @arch of `s` allows a build for `arch` ("90a", "86"): a plain sm_NN is the lowest, one
 * with a suffix is exactly that architecture ('f': that family). */
bool solution_accepts_arch(const struct solution *s, const char *arch);
/* All solutions of a problem: accepted, then baselines, then rejects, each sorted by name. Hidden
 * files (editors' backups) are left out. */
enum status solution_list(const struct solution **out, unsigned *count, struct arena *a,
                          const char *root, const char *problem, struct diag *d) MUST_CHECK;

#endif

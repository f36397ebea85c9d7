/*
 * caseset.h - which cases to judge, and their files: selection, making missing files, opening
 * pairs. Reads no tensor and judges nothing. Invariant: an open pair belongs to the manifest's case
 * (its key was compared) and has the pinned sizes.
 */
#ifndef HARNESS_CASESET_H
#define HARNESS_CASESET_H

#include "arena.h"
#include "casefile.h"
#include "config.h"
#include "diag.h"
#include "problem.h"

struct caseset_filter {
    const char *glob;        /* shell pattern over case names; NULL = all */
    const char *const *tags; /* NULL-terminated, any of them; NULL = every tag but perf, curve */
    bool gpu;                /* false: cases that need a GPU are left out unless keep_gpu_only */
    bool keep_gpu_only;      /* keep them anyway, so that the caller can report SK */
};
/* Cases of `p` that pass, in manifest order, as pointers into p->cases. A glob that matches nothing
 * is STATUS_USAGE with the nearest case name; tags that match nothing likewise. */
enum status caseset_select(const struct casedef *const **out, unsigned *count, struct arena *a,
                           const struct problem *p, const struct caseset_filter *f,
                           struct diag *d) MUST_CHECK;

/* Makes the files of the given cases that are missing or of another key, by one call of `python -m
 * gen`. Nothing missing: no process is started. gen's progress goes to stderr when `progress`.
 * STATUS_NOTHING: no usable Python. */
enum status caseset_make(const struct config *cfg, const struct problem *p,
                         const struct casedef *const *cases, unsigned count, bool progress,
                         struct diag *d) MUST_CHECK;

struct case_pair {
    struct casefile in, ref;
};
#define CASE_PAIR_EMPTY ((struct case_pair){CASEFILE_EMPTY, CASEFILE_EMPTY})
/* Opens both files of a case, making them first if needed; checks size, key, and that every tensor
 * that the case promises is there with its dtype and shape. */
enum status caseset_open(struct case_pair *out, const struct config *cfg, const struct problem *p,
                         const struct casedef *c, struct diag *d) MUST_CHECK;
/* As caseset_open, with new random data from `seed`, made in a private folder that is removed
 * again. *fresh is `c` with what the new data change (safe exponents, sizes, key); it lives in `a`.
 * For cases up to 1 Mi elements; others are STATUS_USAGE. */
enum status caseset_open_fresh(struct case_pair *out, struct casedef *fresh, struct arena *a,
                               const struct config *cfg, const struct problem *p,
                               const struct casedef *c, uint64_t seed, struct diag *d) MUST_CHECK;
/* Accepts the empty value. */
void caseset_close(struct case_pair *pair);

/* Absolute paths of a case's files. */
const char *caseset_path(struct arena *a, const struct config *cfg, const struct file_pin *pin);
/* Elements of the case's largest tensor: what "cases up to 1 Mi elements" means. */
uint64_t casedef_elements(const struct problem *p, const struct casedef *c);

#endif

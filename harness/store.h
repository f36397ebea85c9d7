/*
 * store.h - results read back, and the last results of each backend kept under build/results/.
 * Prints nothing. Invariant: a stored file is replaced as a whole, under a lock; a reader sees the
 * old one or the new one.
 */
#ifndef HARNESS_STORE_H
#define HARNESS_STORE_H

#include "config.h"
#include "results.h"

#define STORE_MAX_BYTES ((size_t)256 << 20) /* a results file larger than this is refused */

/* Parses the form that report_json writes; problems, solutions and cases named there are made up
 * from the document alone, so results of another tree can be read. `file` is for messages. */
enum status store_parse(struct results *out, struct arena *a, const char *text, size_t len,
                        const char *file, struct diag *d) MUST_CHECK;
enum status store_read_file(struct results *out, struct arena *a, const char *path,
                            struct diag *d) MUST_CHECK;
/* Merges `r` into build/results/<backend>/<problem>.json, a file a problem so that judging one
 * stays cheap, and appends one line a solution to history.jsonl. A solution replaces its older
 * result; timed cases of the same source stay when `r` has none. Results of another device are
 * dropped first. */
enum status store_put(const struct config *cfg, const struct results *r, struct diag *d) MUST_CHECK;
/* The last results of one backend ("gpu", "vgpu"); none: solution_count 0. */
enum status store_load(struct results *out, struct arena *a, const struct config *cfg,
                       const char *backend, struct diag *d) MUST_CHECK;

/* One line of history.jsonl. */
struct history_point {
    const char *start, *commit, *problem, *solution, *case_name; /* case_name "" : verdict only */
    enum verdict verdict;
    double median_us, se;
};
/* All history of one backend, oldest first. */
enum status store_history(const struct history_point **out, unsigned *count, struct arena *a,
                          const struct config *cfg, const char *backend, struct diag *d) MUST_CHECK;

#endif

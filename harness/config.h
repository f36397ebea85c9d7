/*
 * config.h - settings with their origin: judge.json, the user's warpjudge/config.json, environment, options; later wins.
 * Invariant: an unknown key is an error with the nearest name.
 */
#ifndef HARNESS_CONFIG_H
#define HARNESS_CONFIG_H

#include "arena.h"
#include "diag.h"
#include <stdint.h>

struct config {
    const char *root;       /* absolute path of the tree (holds problems/) */
    const char *build_dir;  /* absolute: build/ (so/, cases/, results/ below it) */
    const char *runner;     /* absolute path of judge-runner */
    const char *backend;    /* "auto" "gpu" "vgpu" */
    const char *nvcc, *cudart, *vgpu, *python; /* absolute paths, "" = look for it */
    const char *cases_dir, *cache_dir;
    unsigned device, jobs;  /* jobs 0 = number of cores */
    uint64_t cache_max_mib, host_memory_mib;
    double time_scale;      /* multiplies every time limit */
    double bench_budget_s, bench_se_target;
    unsigned bench_min_samples, bench_max_samples, bench_rounds;
    double gate_threshold;  /* 0.01 = 1 % */
    const char *const *deny_includes; /* NULL-terminated */
    const char *const *origins; /* parallel to config_key_names(): "default", "judge.json:3", "WARPJUDGE_NVCC", "--backend" */
};

/* Reads everything in order; `root` as found by the launcher (WARPJUDGE_ROOT) or by walking up from the program. */
enum status config_load(struct config *out, struct arena *a, const char *root, struct diag *d) MUST_CHECK;
/* Sets one key from text, as an option does. */
enum status config_set(struct config *c, struct arena *a, const char *key, const char *value, const char *origin,
                       struct diag *d) MUST_CHECK;
const char *const *config_key_names(unsigned *count);
const char *config_get_text(const struct config *c, struct arena *a, const char *key);

#endif

/*
 * config.h - settings with their origin: judge.json, the user's warpjudge/config.json, environment,
 * options; later wins. With the main files, the one place that reads WARPJUDGE_ variables.
 * Invariant: an unknown key is an error with the nearest name; every path is absolute or "".
 */
#ifndef HARNESS_CONFIG_H
#define HARNESS_CONFIG_H

#include "arena.h"
#include "diag.h"

#include <signal.h>
#include <stdint.h>

struct config {
    const char *root;                   /* the tree (holds problems/) */
    const char *build_dir;              /* so/, cases/, results/ below it; default <root>/build */
    const char *runner;                 /* judge-runner; default beside the program */
    const char *backend;                /* "auto" "gpu" "vgpu" "standin" (tests) */
    const char *nvcc, *cudart, *python; /* "" = look for it */
    const char *vgpu; /* key vgpu_lib; default vgpu/libcudart.so.13 beside the program */
    const char *cases_dir, *cache_dir; /* default <build_dir>/cases and <build_dir>/so */
    unsigned device, jobs;             /* jobs 0 = number of cores */
    uint64_t cache_max_mib, host_memory_mib;
    double time_scale; /* multiplies every time limit */
    double bench_budget_s, bench_se_target;
    unsigned bench_min_samples, bench_max_samples, bench_rounds;
    double gate_threshold;             /* 0.01 = 1 % */
    const char *const *deny_includes;  /* folders below a system include folder; NULL-terminated */
    const char *const *origins;        /* parallel to config_key_names(): "default", "judge.json:3",
                                          "WARPJUDGE_NVCC", "--backend" */
    const volatile sig_atomic_t *stop; /* not a key: set by main's signal handler; NULL = never */
};

/* Reads everything in order. `root`: NULL = WARPJUDGE_ROOT, else the first folder with a problems/
 * above the program. STATUS_USAGE for a bad environment variable, STATUS_BAD_DATA for a bad file.
 */
enum status config_load(struct config *out, struct arena *a, const char *root,
                        struct diag *d) MUST_CHECK;
/* Sets one key from text, as an option does. Relative paths count from the working directory. */
enum status config_set(struct config *c, struct arena *a, const char *key, const char *value,
                       const char *origin, struct diag *d) MUST_CHECK;
const char *const *config_key_names(unsigned *count);
/* The value as text, for people; NULL for an unknown key. */
const char *config_get_text(const struct config *c, struct arena *a, const char *key);

#endif

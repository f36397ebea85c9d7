/*
 * problem.h - problem.json and MANIFEST.json as data (docs/file-formats.md describes both).
 * Reads nothing of a case file's tensors (casefile.c does) and knows no problem by name.
 * Invariant: every struct problem returned by problem_load passed all checks named there.
 */
#ifndef HARNESS_PROBLEM_H
#define HARNESS_PROBLEM_H

#include "arena.h"
#include "diag.h"

#include <stdint.h>

#define PROBLEM_MAX_PARAMS   16
#define PROBLEM_MAX_DIMS     4
#define PROBLEM_MAX_GROUPS   8
#define PROBLEM_MAX_EXPONENT 16 /* of a safe power of two, either sign */

enum dtype {
    DTYPE_F64,
    DTYPE_F32,
    DTYPE_F16,
    DTYPE_BF16,
    DTYPE_I64,
    DTYPE_I32,
    DTYPE_U32,
    DTYPE_I8,
    DTYPE_U8
};
#define DTYPE_COUNT 9u
enum param_dir { DIR_IN, DIR_OUT, DIR_INOUT };
enum param_space { SPACE_DEVICE, SPACE_HOST };
enum rule_kind { RULE_EXACT, RULE_ALLCLOSE, RULE_TOL, RULE_SURVIVE };

size_t dtype_size(enum dtype t); /* bytes of one element */
bool dtype_is_float(enum dtype t);
const char *dtype_name(enum dtype t);  /* "f32" */
const char *dtype_ctype(enum dtype t); /* "float": as a solution spells it */

struct param {
    const char *name;
    enum param_dir dir;
    enum dtype dtype;
    enum param_space space;
    bool scalar;   /* passed by value */
    int group;     /* index of the rescale group, -1 = not rescaled */
    unsigned rank; /* dimensions of a tensor; 0 for scalars */
};

struct rule {
    const char *name; /* "strict", "site", ... */
    enum rule_kind kind;
    double atol, rtol; /* of RULE_ALLCLOSE (RULE_TOL: the base that went into the stored bound) */
};

struct file_pin {
    const char *path; /* relative to testcases/ when committed, else to <build>/cases/ */
    uint64_t size;    /* bytes */
    char sha256[65];  /* lower-case hex */
    bool committed;
};

struct casedef {
    const char *name;
    const char *key;         /* 64 hex digits: stands in the metadata of the case's files */
    unsigned index;          /* position in the manifest = order of judging */
    const char *const *tags; /* NULL-terminated: site edge stress perf curve */
    struct rule rule;        /* resolved */
    bool needs_gpu, advisory;
    uint64_t seed;
    const char *note; /* "" if none */
    /* by parameter index: */
    double scalar[PROBLEM_MAX_PARAMS]; /* value of scalar parameters (exact in double) */
    uint64_t shape[PROBLEM_MAX_PARAMS][PROBLEM_MAX_DIMS];
    unsigned rank[PROBLEM_MAX_PARAMS];   /* of tensors */
    uint64_t count[PROBLEM_MAX_PARAMS];  /* elements of tensors (may be 0) */
    uint64_t offset[PROBLEM_MAX_PARAMS]; /* elements added to a 256-byte aligned base */
    bool misaligned;                     /* any offset != 0 */
    int exp_lo[PROBLEM_MAX_GROUPS], exp_hi[PROBLEM_MAX_GROUPS]; /* safe power of two per group */
    double traffic_read, traffic_write, flops;                  /* ideal bytes and operations */
    struct file_pin in, ref;
};

struct problem {
    const char *name, *title, *dir; /* dir: absolute path of problems/<name> */
    char spec_sha256[65];           /* of problem.json's bytes */
    unsigned perf_version;
    unsigned param_count, group_count;
    struct param params[PROBLEM_MAX_PARAMS];
    bool negate; /* the sign of one group's inputs may flip, which flips the outputs */
    double time_s, vgpu_time_s; /* limits of one call */
    uint64_t vgpu_minstr;       /* million warp instructions a launch */
    uint64_t memory_mib;        /* extra device memory of a solution */
    const struct rule *rules;
    unsigned rule_count;
    const struct casedef *cases;
    unsigned case_count;
    const char *prototype; /* "extern \"C\" void solve(const float* input, ...)": for CE texts */
    const char *signature; /* "void (const float*, float*, int, int)": its type */
};

/* Loads problems/<name>/problem.json and testcases/<name>/MANIFEST.json below `root`. Unknown,
 * missing and duplicate keys, a manifest of another spec hash and malformed values are
 * STATUS_BAD_DATA with file:line:column; an unknown name is STATUS_USAGE with the nearest one.
 * Everything lives in `a`. */
enum status problem_load(struct problem *out, struct arena *a, const char *root, const char *name,
                         struct diag *d) MUST_CHECK;

struct problem_text {
    const char *file; /* for messages */
    const char *text;
    size_t len;
};
/* The same from memory; `dir` stays NULL. */
enum status problem_parse(struct problem *out, struct arena *a, const char *name,
                          const struct problem_text *spec, const struct problem_text *manifest,
                          struct diag *d) MUST_CHECK;

/* Names of the folders under problems/ that hold a problem.json, sorted; *count of them. */
enum status problem_names(const char *const **names, unsigned *count, struct arena *a,
                          const char *root, struct diag *d) MUST_CHECK;
bool casedef_has_tag(const struct casedef *c, const char *tag);

#endif

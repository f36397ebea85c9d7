/*
 * casefile.h - safetensors reader: checked header, read-only mapping (docs/file-formats.md, Case
 * files). Reads no problem.json and compares nothing. Invariant: every tensor handed out lies
 * inside the mapping, aligned to its element, without overlap or hole.
 */
#ifndef HARNESS_CASEFILE_H
#define HARNESS_CASEFILE_H

#include "arena.h"
#include "diag.h"
#include "problem.h"

#define CASEFILE_MAX_TENSORS 64

struct tensor {
    const char *name;
    enum dtype dtype;
    unsigned rank; /* 0: a scalar, one element */
    uint64_t shape[PROBLEM_MAX_DIMS];
    uint64_t count;   /* elements */
    uint64_t begin;   /* byte offset of the data from the start of the FILE */
    uint64_t size;    /* bytes */
    const void *data; /* inside the mapping */
};

struct casefile {
    int fd; /* read-only; lent to the runner for .in files */
    const unsigned char *map;
    uint64_t size;
    unsigned tensor_count;
    struct tensor tensors[CASEFILE_MAX_TENSORS]; /* in file order */
    struct arena arena;                          /* names, metadata */
    const char *const *meta;                     /* key, value, key, value, ..., NULL */
};
#define CASEFILE_EMPTY ((struct casefile){.fd = -1})

/* Opens and checks `path`. On failure *out is CASEFILE_EMPTY. Costs one mmap and the header; tensor
 * bytes are not touched. */
enum status casefile_open(struct casefile *out, const char *path, struct diag *d) MUST_CHECK;
/* The checks alone, over bytes in memory aligned to 8, which must outlive *out; `name` is for
 * messages. Close *out as usual: it owns no mapping then. */
enum status casefile_parse(struct casefile *out, const unsigned char *bytes, uint64_t size,
                           const char *name, struct diag *d) MUST_CHECK;
void casefile_close(struct casefile *cf); /* accepts the empty value */
const struct tensor *casefile_find(const struct casefile *cf, const char *name); /* or NULL */
const char *casefile_meta(const struct casefile *cf, const char *key);           /* or NULL */
/* Writes tensors (name, dtype, rank, shape, data) as a file the reader accepts, widest elements
 * first. `meta`: key, value, ..., NULL, or NULL. Names that would need escapes in JSON are
 * STATUS_BAD_DATA. */
enum status casefile_write(const char *path, const struct tensor *tensors, unsigned count,
                           const char *const *meta, struct diag *d) MUST_CHECK;

#endif

/*
 * casefile.h - safetensors reader: checked header, read-only mapping.
 * Reads no problem.json and compares nothing. Invariant: every tensor handed out lies inside the mapping, without overlap or hole.
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
    unsigned rank;
    uint64_t shape[PROBLEM_MAX_DIMS];
    uint64_t count;  /* elements */
    uint64_t begin;  /* byte offset of the data from the start of the FILE */
    uint64_t size;   /* bytes */
    const void *data; /* inside the mapping */
};
struct casefile {
    int fd;            /* read-only; lent to the runner for .in files */
    const unsigned char *map;
    uint64_t size;
    unsigned tensor_count;
    struct tensor tensors[CASEFILE_MAX_TENSORS];
    struct arena arena; /* names, metadata */
    const char *const *meta; /* key, value, key, value, ..., NULL */
};
#define CASEFILE_EMPTY ((struct casefile){.fd = -1})

/* Opens and checks `path`. On failure *out is CASEFILE_EMPTY. */
enum status casefile_open(struct casefile *out, const char *path, struct diag *d) MUST_CHECK;
void casefile_close(struct casefile *cf);
const struct tensor *casefile_find(const struct casefile *cf, const char *name); /* or NULL */
const char *casefile_meta(const struct casefile *cf, const char *key);           /* or NULL */
/* Property tests: writes tensors (data in memory) as a file the reader accepts. */
enum status casefile_write(const char *path, const struct tensor *tensors, unsigned count, const char *const *meta,
                           struct diag *d) MUST_CHECK;

#endif

/*
 * libraries.h - which shared objects are mapped: finds those that a solution brought in while it
 * ran. Loads nothing. Invariant: the driver's own lazily loaded parts are never reported.
 */
#ifndef HARNESS_RUNNER_LIBRARIES_H
#define HARNESS_RUNNER_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define LIBRARIES_MAX 256

struct libraries {
    uintptr_t known[LIBRARIES_MAX]; /* load addresses */
    unsigned count;
    unsigned long long adds; /* the loader's counter when we last looked */
};

/* Looks for objects not seen before. True: `name` holds the file name of the first one that is
 * neither the driver's, nor the C library's, nor `allowed` (a path, may be NULL). */
bool libraries_news(struct libraries *l, const char *allowed, char *name, size_t size);
/* "libcublas.so.13" of a path is the driver's or the C library's own. */
bool libraries_harmless(const char *path);

#endif

/*
 * ptxas_log.h - registers, spills, stack and shared memory per kernel, from what `ptxas -v`
 * printed.
 */
#ifndef HARNESS_PTXAS_LOG_H
#define HARNESS_PTXAS_LOG_H

#include "arena.h"
#include "diag.h"

struct kernel_info {
    const char *name; /* as in the log: mangled; compile.c demangles */
    unsigned registers, spill_store_bytes, spill_load_bytes, stack_bytes, shared_bytes;
};

/* Entry functions in the order of the log. Lines that are not understood are passed over: the
 * numbers inform, nothing depends on them. */
enum status ptxas_log_read(struct kernel_info **out, unsigned *count, struct arena *a,
                           const char *log, struct diag *d) MUST_CHECK;
/* The log without ptxas's "info" lines: what a person wants to read. */
char *ptxas_log_strip(struct arena *a, const char *log);

#endif

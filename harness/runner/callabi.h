/*
 * callabi.h - calls solve() with a signature known only as data, through libffi.
 * Places no data. Invariant: one prepared call interface per signature; a changed one is prepared
 * again.
 */
#ifndef HARNESS_RUNNER_CALLABI_H
#define HARNESS_RUNNER_CALLABI_H

#include "record.h"

#include <ffi.h>

struct callabi {
    ffi_cif cif;
    ffi_type *types[RECORD_MAX_PARAMS];
    unsigned count;
    bool prepared;
};

typedef void (*solve_function)(void);

/* Prepares the interface of the parameters; cheap when nothing changed. NULL, or what is wrong. */
const char *callabi_prepare(struct callabi *abi, const struct command_param *params,
                            unsigned count);
/* Calls solve: pointers[i] for tensors, params[i].value for scalars. */
void callabi_solve(struct callabi *abi, solve_function solve, const struct command_param *params,
                   void *const pointers[RECORD_MAX_PARAMS]);

#endif

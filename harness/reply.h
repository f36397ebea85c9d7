/*
 * reply.h - what one reply of the child means: ends, CUDA errors, guards, inputs, findings.
 * Compares no values (compare.c) and starts nothing. Invariant: only a complete record without any
 * complaint is AC here, and AC here still needs the comparison.
 */
#ifndef HARNESS_REPLY_H
#define HARNESS_REPLY_H

#include "arena.h"
#include "findings.h"
#include "launch.h"
#include "problem.h"
#include "verdict.h"

struct reply_context {
    const struct problem *problem;
    const struct casedef *casedef; /* NULL while loading or ending */
    double limit_s;                /* that the call had */
    bool strict;                   /* findings of class FINDING_WARNING are RE */
    bool libraries_allowed;        /* baselines and foreign files may map further libraries */
};

struct reply_verdict {
    enum verdict verdict;
    const char *reason, *detail, *warnings; /* "" where there is nothing to say */
    bool child_lost;                        /* a fresh child is needed */
    bool device_suspect;                    /* a probe must pass before the next GPU work */
};

/* Reads a reply; `findings` receives its parsed lines. Texts live in `a`. */
struct reply_verdict reply_read(struct arena *a, const struct reply_context *rc,
                                const struct call_reply *reply, struct findings *findings);

/* `all` and those lines of `lines` (may be NULL) that it does not have: a finding counts as there
 * when check and place agree, whatever its block, thread and address. */
const char *reply_add_warnings(struct arena *a, const char *all, const char *lines);

#endif

/*
 * findings.h - JSON lines from the virtual GPU as data: findings, refusals, warnings, counters.
 * The lines come from the process that ran the solution, so they are untrusted: they can make a
 * verdict worse or explain it, never better. Invariant: whatever the bytes, parsing ends, texts
 * are printable and short, and the number of items is bounded.
 */
#ifndef HARNESS_FINDINGS_H
#define HARNESS_FINDINGS_H

#include "arena.h"
#include "results.h"

#define FINDINGS_FORMAT       1
#define FINDINGS_MAX          64
#define FINDINGS_MAX_COUNTERS 96

enum finding_class {
    FINDING_API,     /* why a call of the runtime gave an error: explains a verdict */
    FINDING_WARNING, /* shown; RE under --strict */
    FINDING_NOTE,    /* shown, never a verdict: device printf overflow, leaks */
    FINDING_REFUSED, /* the virtual GPU does not execute this form: SK */
    FINDING_BUDGET,  /* no progress or budget spent: TLE */
    FINDING_FAULT    /* RE */
};

struct finding {
    enum finding_class class;
    const char *check; /* "memcheck" */
    const char *kind;  /* "global_read_oob" */
    const char *text;  /* one sentence */
    const char
        *place; /* "radix.cu:41 kernel block (0,0,0) thread (3,0,0): ld.global.f32 ..." or "" */
    const char *other; /* second place of a race, or "" */
    const char *file;  /* base name, "" if unknown */
    unsigned line;
};

struct findings {
    struct finding items[FINDINGS_MAX];
    unsigned count;
    unsigned dropped;   /* findings beyond FINDINGS_MAX */
    unsigned malformed; /* lines that were no findings */
    struct counter counters[FINDINGS_MAX_COUNTERS];
    unsigned counter_count;
    uint64_t launches;
};

/* Parses `text`, one JSON object a line; texts live in `a`. */
void findings_parse(struct findings *out, struct arena *a, const char *text, size_t len);
/* Why the runtime gave the error of this name, as the last call told that did; NULL: unknown. */
const char *findings_api_error(const struct findings *f, const char *error_name);
/* The first item of the class, or NULL. */
const struct finding *findings_first(const struct findings *f, enum finding_class class);

#endif

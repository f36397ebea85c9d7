/*
 * verdict.h - the verdicts, their order and @expect matching. verdict.def is the one table.
 * Decides nothing about a run: judging.c does.
 */
#ifndef HARNESS_VERDICT_H
#define HARNESS_VERDICT_H

#include <stdbool.h>
#include <stddef.h>

/* In rising order of badness: the worst wins (JE > CE > RE > MLE > TLE > WA > SK > AC). */
enum verdict {
#define X(name, meaning) VERDICT_##name,
#include "verdict.def"
    VERDICT_COUNT
};

const char *verdict_name(enum verdict v);    /* "AC" */
const char *verdict_meaning(enum verdict v); /* one sentence for people */
/* False: word[0..len) names no verdict; *out is untouched. */
bool verdict_parse(enum verdict *out, const char *word, size_t len);
enum verdict verdict_merge(enum verdict a, enum verdict b);

/* What a solution's tag promises: a set of verdicts, perhaps at one named case. */
struct expectation {
    unsigned set;     /* bit per enum verdict */
    char at_case[64]; /* "" = anywhere; else: must fail first exactly there, all earlier cases pass
                       */
};
/* Parses "AC", "WA|RE", "WA@ties_4099". False: *bad points at the offending word inside text. */
bool expectation_parse(struct expectation *out, const char *text, const char **bad);
/* first_failed: name of the first case whose verdict was not AC/SK, NULL if none. */
bool verdict_matches(const struct expectation *e, enum verdict v, const char *first_failed);

#endif

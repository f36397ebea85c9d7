/*
 * results.c - empty results, and the conclusion from cases to a solution.
 * Decides no case. Invariant: a case that needs another backend never turns AC into SK, and
 * nothing judged is never AC.
 */
#include "results.h"

#include <string.h>

void results_init_case(struct case_result *out, const struct casedef *c)
{
    *out = (struct case_result){.casedef = c,
                                .advisory = c != NULL && c->advisory,
                                .call = 'A',
                                .reason = "",
                                .detail = "",
                                .param = "",
                                .warnings = ""};
}

void results_init_solution(struct solution_result *out, const struct problem *p,
                           const struct solution *s)
{
    *out = (struct solution_result){.problem = p,
                                    .solution = s,
                                    .object = {.so_path = "", .key = "", .log = "", .reason = ""},
                                    .reason = "",
                                    .source_hash = "",
                                    .tune = "",
                                    .stdout_text = "",
                                    .stderr_text = ""};
}

bool results_counts(const struct case_result *c)
{
    return !c->casedef->advisory || c->verdict == VERDICT_AC || c->verdict == VERDICT_SK ||
           c->verdict == VERDICT_JE;
}

/* Worst verdict of the cases that carry `tag` (NULL: all). SK counts only where the solution is
 * its cause, or where nothing else was judged. */
static enum verdict merge_cases(const struct solution_result *r, const char *tag)
{
    enum verdict worst = VERDICT_AC;
    unsigned judged = 0;

    for (unsigned i = 0; i < r->case_count; i++) {
        const struct case_result *c = &r->cases[i];

        if (tag != NULL && !casedef_has_tag(c->casedef, tag))
            continue;
        if ((c->verdict == VERDICT_SK && c->skipped_by_case) || !results_counts(c))
            continue;
        judged++;
        worst = verdict_merge(worst, c->verdict);
    }
    return judged == 0 ? VERDICT_SK : worst;
}

void results_conclude(struct solution_result *r, enum verdict at_solution)
{
    const char *failed = NULL;

    r->ac_count = r->sk_count = 0;
    r->first_failed = NULL;
    for (unsigned i = 0; i < r->case_count; i++) {
        const struct case_result *c = &r->cases[i];

        r->ac_count += c->verdict == VERDICT_AC;
        r->sk_count += c->verdict == VERDICT_SK;
        if (c->verdict != VERDICT_AC && c->verdict != VERDICT_SK && results_counts(c) &&
            r->first_failed == NULL)
            r->first_failed = c;
    }
    if (at_solution == VERDICT_AC) {
        r->verdict = merge_cases(r, NULL);
        r->site_verdict = merge_cases(r, "site");
    } else {
        r->verdict = r->case_count > 0 && at_solution != VERDICT_SK
                         ? verdict_merge(at_solution, merge_cases(r, NULL))
                         : at_solution;
        r->site_verdict = r->verdict;
    }
    if (r->first_failed != NULL)
        failed = r->first_failed->casedef->name;
    /* A skip is no evidence either way: the exit code 77 tells of it, not "unexpected". */
    r->as_expected =
        r->verdict == VERDICT_SK || verdict_matches(&r->solution->expect, r->verdict, failed);
}

const struct case_result *results_decisive(const struct solution_result *r)
{
    for (unsigned i = 0; i < r->case_count && r->first_failed != NULL; i++)
        if (r->cases[i].verdict == r->verdict && results_counts(&r->cases[i]))
            return &r->cases[i];
    return r->first_failed;
}

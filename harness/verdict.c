/*
 * verdict.c - names, order and expectations of verdicts, all from verdict.def.
 */
#include "verdict.h"

#include "diag.h"

#include <string.h>

static const struct {
    const char *name, *meaning;
} table[VERDICT_COUNT] = {
#define X(name, meaning) [VERDICT_##name] = {#name, meaning},
#include "verdict.def"
};

const char *verdict_name(enum verdict v)
{
    if ((unsigned)v >= VERDICT_COUNT)
        UNREACHABLE();
    return table[v].name;
}

const char *verdict_meaning(enum verdict v)
{
    if ((unsigned)v >= VERDICT_COUNT)
        UNREACHABLE();
    return table[v].meaning;
}

bool verdict_parse(enum verdict *out, const char *word, size_t len)
{
    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        if (strlen(table[v].name) == len && memcmp(table[v].name, word, len) == 0) {
            *out = (enum verdict)v;
            return true;
        }
    return false;
}

enum verdict verdict_merge(enum verdict a, enum verdict b) { return a > b ? a : b; }

/* The characters of a case name: docs/file-formats.md, MANIFEST.json. */
static size_t case_name_len(const char *s)
{
    return strspn(s, "abcdefghijklmnopqrstuvwxyz0123456789._-");
}

bool expectation_parse(struct expectation *out, const char *text, const char **bad)
{
    struct expectation e = {0};
    const char *word = text;
    enum verdict v = VERDICT_AC;

    for (;;) {
        const size_t len = strcspn(word, "|@");

        *bad = word;
        if (!verdict_parse(&v, word, len) || e.set & 1u << v)
            return false;
        e.set |= 1u << v;
        word += len;
        if (*word != '|')
            break;
        word++;
    }
    if (*word == '@') {
        const size_t len = case_name_len(word + 1);

        *bad = word + 1;
        if (len == 0 || len >= sizeof e.at_case || word[1 + len] != '\0')
            return false;
        if (e.set & (1u << VERDICT_AC | 1u << VERDICT_CE)) {
            *bad = text; /* neither happens at a case */
            return false;
        }
        memcpy(e.at_case, word + 1, len);
    }
    *out = e;
    return true;
}

bool verdict_matches(const struct expectation *e, enum verdict v, const char *first_failed)
{
    if (!(e->set & 1u << v))
        return false;
    return !e->at_case[0] || (first_failed && strcmp(first_failed, e->at_case) == 0);
}

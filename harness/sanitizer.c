/*
 * sanitizer.c - reads the output of compute-sanitizer. Invariant: only lines that begin with its
 * mark count, so a solution that prints "ERROR SUMMARY" changes nothing unless it forges the mark,
 * which can only accuse itself: a count of zero elsewhere does not take a complaint back.
 */
#include "sanitizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MARK "========= "

/* Past the mark and blanks; NULL where the line is not the tool's. */
static const char *content(const char *line)
{
    if (strncmp(line, MARK, sizeof MARK - 1) != 0)
        return NULL;
    line += sizeof MARK - 1;
    return line + strspn(line, " \t");
}

static bool starts(const char *s, const char *with) { return strncmp(s, with, strlen(with)) == 0; }

/* "ERROR SUMMARY: 2 errors", "RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)". */
static const char *summary_count(const char *s)
{
    if (starts(s, "ERROR SUMMARY: "))
        return s + strlen("ERROR SUMMARY: ");
    return starts(s, "RACECHECK SUMMARY: ") ? s + strlen("RACECHECK SUMMARY: ") : NULL;
}

static int length(const char *s) { return (int)strcspn(s, "\n"); }

bool sanitizer_complains(const char *text, char *reason, size_t reason_size)
{
    const char *first = NULL, *where = NULL, *summary = NULL;

    for (const char *line = text; line != NULL && *line != '\0';) {
        const char *s = content(line), *count = s != NULL ? summary_count(s) : NULL;
        if (count != NULL && strtoul(count, NULL, 10) > 0 && summary == NULL)
            summary = count;
        else if (s != NULL && first == NULL && length(s) > 0 && !starts(s, "COMPUTE-SANITIZER"))
            first = count == NULL ? s : NULL;
        else if (s != NULL && first != NULL && where == NULL && starts(s, "at "))
            where = s;
        line = strchr(line, '\n');
        line += line != NULL;
    }
    if (summary == NULL)
        return false;
    if (first == NULL)
        (void)snprintf(reason, reason_size, "%.*s", length(summary), summary);
    else
        (void)snprintf(reason, reason_size, "%.*s%s%.*s; %.*s", length(first), first,
                       where != NULL ? " " : "", where != NULL ? length(where) : 0,
                       where != NULL ? where : "", length(summary), summary);
    return true;
}

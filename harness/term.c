/*
 * term.c - escape sequences and the progress line.
 * Knows no report. Invariant: without a terminal nothing here writes a byte.
 */
#include "term.h"

#include "diag.h"
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

void term_open(struct term *t, enum term_colour colour, bool no_colour, bool quiet)
{
    *t = (struct term){0};
    t->colour =
        colour == COLOUR_ALWAYS || (colour == COLOUR_AUTO && !no_colour && isatty(STDOUT_FILENO));
    t->progress = !quiet && isatty(STDERR_FILENO);
}

void term_progress(struct term *t, const char *fmt, ...)
{
    char line[TERM_WIDTH - 1];
    va_list args;

    if (!t->progress)
        return;
    va_start(args, fmt);
    (void)vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    (void)fprintf(stderr, "\r\033[K%s", line);
    (void)fflush(stderr);
    t->dirty = true;
}

void term_clear(struct term *t)
{
    if (!t->dirty)
        return;
    (void)fputs("\r\033[K", stderr);
    (void)fflush(stderr);
    t->dirty = false;
}

const char *term_verdict(const struct term *t, enum verdict v)
{
    if (!t->colour)
        return "";
    switch (v) {
    case VERDICT_AC:
        return "\033[32m";
    case VERDICT_SK:
        return "\033[90m";
    case VERDICT_WA:
    case VERDICT_TLE:
    case VERDICT_MLE:
    case VERDICT_RE:
    case VERDICT_CE:
        return "\033[31m";
    case VERDICT_JE:
        return "\033[1;35m";
    case VERDICT_COUNT:
        break;
    }
    UNREACHABLE();
}

const char *term_bold(const struct term *t) { return t->colour ? "\033[1m" : ""; }

const char *term_reset(const struct term *t) { return t->colour ? "\033[0m" : ""; }

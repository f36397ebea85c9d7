/*
 * term.h - what is known of the terminal: colour, width, a progress line on stderr.
 * Results never go through here but for colour words. Invariant: colour and progress appear on
 * terminals only, and never under NO_COLOR or --quiet.
 */
#ifndef HARNESS_TERM_H
#define HARNESS_TERM_H

#include "verdict.h"
#include <stdbool.h>
#include <stdio.h>

#define TERM_WIDTH 100 /* columns that every report fits in */

enum term_colour { COLOUR_AUTO, COLOUR_ALWAYS, COLOUR_NEVER };

struct term {
    bool colour;   /* stdout */
    bool progress; /* stderr shows a progress line */
    bool dirty;    /* a progress line is on the screen */
};

/* Looks at the streams; `no_colour`: NO_COLOR is set and not empty. */
void term_open(struct term *t, enum term_colour colour, bool no_colour, bool quiet);
/* Shows (replaces) the progress line; does nothing off a terminal. */
void term_progress(struct term *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Removes the progress line, before results are printed. */
void term_clear(struct term *t);
/* Escape sequence of a verdict's colour, or "" without colour. */
const char *term_verdict(const struct term *t, enum verdict v);
const char *term_bold(const struct term *t);
const char *term_reset(const struct term *t);

#endif

/*
 * diag.h - status codes and diagnostics shared by every part of the harness.
 * Does not print: only judge_main.c and runner_main.c do. Invariant: a function that returns a
 * status other than STATUS_OK has filled the struct diag it was given.
 */
#ifndef HARNESS_DIAG_H
#define HARNESS_DIAG_H

#include <stdbool.h>
#include <stddef.h>

enum status {
    STATUS_OK = 0,
    STATUS_USAGE,    /* the user asked for something that does not exist: exit code 2 */
    STATUS_BAD_DATA, /* a file or record is malformed: exit code 2, JE for shipped data */
    STATUS_NOMEM,    /* memory: exit code 3 */
    STATUS_IO,       /* file, disk, process, pipe: exit code 3 */
    STATUS_NOTHING,  /* nothing could run (no backend, no compiler): exit code 77 */
    STATUS_INTERNAL  /* a broken invariant of ours: exit code 3, JE */
};

#define DIAG_TEXT  512
#define DIAG_NOTES 8

struct diag {
    enum status status;
    char file[256];       /* "" when no file is meant */
    unsigned line, col;   /* 1-based; 0 = unknown */
    char text[DIAG_TEXT]; /* what was found and what was expected */
    char source[160];     /* the offending source line, "" when not at hand; caret under col */
    char notes[DIAG_NOTES][128]; /* "while reading case 'x'": innermost first */
    unsigned note_count;
};

#define TRY(expr)                                                                                  \
    do {                                                                                           \
        const enum status s_ = (expr);                                                             \
        if (s_ != STATUS_OK)                                                                       \
            return s_;                                                                             \
    } while (0)
#define TRY_OR(label, expr)                                                                        \
    do {                                                                                           \
        st = (expr);                                                                               \
        if (st != STATUS_OK)                                                                       \
            goto label;                                                                            \
    } while (0)
#define MUST_CHECK    __attribute__((warn_unused_result))
#define UNREACHABLE() diag_unreachable(__FILE__, __LINE__)

/* Sets status and text (printf form); clears position and notes. Returns `s`. */
enum status diag_set(struct diag *d, enum status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* As diag_set, with a position (line, col 0 = unknown). `file` is copied (tail kept if too long).
 */
enum status diag_at(struct diag *d, enum status s, const char *file, unsigned line, unsigned col,
                    const char *fmt, ...) __attribute__((format(printf, 6, 7)));
/* Attaches the source line that the caret points into, up to its newline, cut to fit; nothing when
 * the column lies behind the cut. Call it after diag_at. */
void diag_source(struct diag *d, const char *line_text, size_t len);
/* Adds a context note; silently drops the outermost when full. Returns `s`. */
enum status diag_note(struct diag *d, enum status s, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* Formats "file:line:col: error: text\n source \n caret \n notes" into buf; returns its length. */
size_t diag_format(const struct diag *d, char *buf, size_t size);
/* Nearest of `count` names to `word`: by edit distance (at most a third of its length + 1), else
 * the first name that begins with it; NULL when none is near. */
const char *diag_nearest(const char *word, const char *const *names, size_t count);
_Noreturn void diag_unreachable(const char *file, int line);

#endif

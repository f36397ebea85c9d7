/*
 * textbuf.h - text that grows: what the report writers append to.
 * Prints nothing. Invariant: after a failed allocation the buffer stays "failed" and further
 * appends do nothing, so that one check at the end is enough.
 */
#ifndef HARNESS_TEXTBUF_H
#define HARNESS_TEXTBUF_H

#include "diag.h"
#include <stdarg.h>

struct textbuf {
    char *text; /* terminated; NULL while empty */
    size_t len, capacity;
    bool failed;
};
#define TEXTBUF_EMPTY ((struct textbuf){0})

void textbuf_printf(struct textbuf *b, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void textbuf_add(struct textbuf *b, const char *text, size_t len);
void textbuf_puts(struct textbuf *b, const char *text);
/* As text of XML or HTML: markup escaped, control characters left out. */
void textbuf_xml(struct textbuf *b, const char *text);
/* Blanks up to `column` of the current line (0-based). */
void textbuf_pad(struct textbuf *b, size_t column);
/* STATUS_NOMEM if any append failed. */
enum status textbuf_check(const struct textbuf *b, struct diag *d) MUST_CHECK;
void textbuf_fini(struct textbuf *b); /* accepts the empty value */

#endif

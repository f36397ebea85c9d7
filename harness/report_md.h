/*
 * report_md.h - boards as Markdown tables, and their place in a file.
 * Invariant: of a file only the lines between `<!-- judge:board P -->` and `<!-- judge:end -->`
 * change; a file whose markers do not pair is left alone.
 */
#ifndef HARNESS_REPORT_MD_H
#define HARNESS_REPORT_MD_H

#include "results.h"
#include "textbuf.h"

/* The board of one problem. The first line names machine, date and set. */
void report_md_board(struct textbuf *b, const struct results *r, const char *problem);
/* `text` with every marked block of a problem in `r` replaced. STATUS_BAD_DATA (with the line) when
 * markers do not pair; STATUS_USAGE when there is no marker at all. */
enum status report_md_rewrite(struct textbuf *out, const char *text, const char *file,
                              const struct results *r, struct diag *d) MUST_CHECK;
/* The same on a file, written as a whole. */
enum status report_md_file(const char *path, const struct results *r, struct diag *d) MUST_CHECK;

#endif

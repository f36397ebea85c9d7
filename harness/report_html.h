/*
 * report_html.h - one static page of all boards: no scripts, inline SVG.
 * Invariant: every text from a solution or a device is escaped.
 */
#ifndef HARNESS_REPORT_HTML_H
#define HARNESS_REPORT_HTML_H

#include "results.h"
#include "store.h"
#include "textbuf.h"

void report_html(struct textbuf *b, const struct results *r, const struct history_point *history,
                 unsigned history_count);

#endif

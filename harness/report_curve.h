/*
 * report_curve.h - a curve as an SVG picture, and the table of cliffs as text.
 * Measures nothing. Invariant: every text from a solution or a device is escaped; lines come in
 * the order of the results, so that a redrawn picture differs only where a time does.
 */
#ifndef HARNESS_REPORT_CURVE_H
#define HARNESS_REPORT_CURVE_H

#include "curve.h"
#include "textbuf.h"

/* Upper part: time against the axis, logarithmic, quartiles as bars, the floor dashed. Lower part:
 * the floor as a share of the time. */
void report_curve_svg(struct textbuf *b, const struct run_context *context, const struct curve *c);

/* Writes DIR/<problem>-<family>.svg for each curve and prints into `b` what was written, how the
 * curves end, and the cliffs. */
enum status report_curve_files(struct textbuf *b, struct arena *a, const char *dir,
                               const struct results *r, const struct problem *p,
                               struct diag *d) MUST_CHECK;

#endif

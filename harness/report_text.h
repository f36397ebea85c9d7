/*
 * report_text.h - results for people: run, bench, counts and one case in detail.
 * Appends text; prints nothing and decides nothing.
 * Invariant: no line is longer than TERM_WIDTH columns, and no time stands without its spread.
 */
#ifndef HARNESS_REPORT_TEXT_H
#define HARNESS_REPORT_TEXT_H

#include "results.h"
#include "term.h"
#include "textbuf.h"

/* "topk: 3 solutions x 57 cases, vgpu (...), seed ..." */
void report_text_head(struct textbuf *b, const struct run_context *c, const struct problem *p,
                      unsigned solutions, unsigned cases);
/* The lines of one solution; verbose: every case, kernel resources, warnings of AC cases. */
void report_text_solution(struct textbuf *b, const struct term *t, const struct solution_result *r,
                          unsigned name_width, bool verbose);
/* The solutions that were as expected (before[i]) until they were timed: no board shows why one is
 * not on it. Nothing where there are none. */
void report_text_lost(struct textbuf *b, const struct term *t, const struct results *r,
                      const bool *before);
/* "1 AC, 1 WA in 1.2 s; 2 not as expected" */
void report_text_summary(struct textbuf *b, const struct solution_result *r, unsigned count,
                         double wall_s);
/* The board of one problem: times where there are any, else the virtual GPU's counts, else the
 * verdicts alone. sort: NULL (best first), "name" or "verdict". */
void report_text_board(struct textbuf *b, const struct term *t, const struct results *r,
                       const char *problem, const char *sort);
/* One timed case of one problem. False: nobody has times there. */
bool report_text_bench_case(struct textbuf *b, const struct results *r, const char *problem,
                            const char *case_name);
/* Warnings that name the next step, for the flags that occur. */
void report_text_flags(struct textbuf *b, const struct results *r, const char *problem);

/* Appends `text`, broken at blanks so that lines stay inside TERM_WIDTH; lines after the first
 * start with `indent` blanks. The text starts at the current column. */
void report_text_wrap(struct textbuf *b, const char *text, unsigned indent);
/* "64 KiB", "1.5 MiB" */
void report_text_bytes(struct textbuf *b, uint64_t bytes);

#endif

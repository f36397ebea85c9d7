/*
 * report_json.h - results as JSON, the form of docs/results.schema.json.
 * store.c reads it back. Invariant: the text is strict JSON: numbers that JSON does not know are
 * strings with their bits, texts are valid UTF-8 without control characters.
 */
#ifndef HARNESS_REPORT_JSON_H
#define HARNESS_REPORT_JSON_H

#include "results.h"
#include "textbuf.h"

/* Bounds that the reader enforces and the writer keeps: a longer text ends in " [cut]", further
 * lines are left out. A compiler's or a solution's output must not make a result unreadable. */
#define REPORT_JSON_TEXT_MAX  4096u  /* bytes of one text */
#define REPORT_JSON_LINE_MAX  65536u /* bytes of one line of a log */
#define REPORT_JSON_LINES_MAX 100000u

/* Appends the whole document. */
void report_json(struct textbuf *out, const struct results *r);
/* Appends `text` as a JSON string of at most REPORT_JSON_TEXT_MAX bytes. */
void report_json_string(struct textbuf *out, const char *text);
/* Appends a number; "nan:7ff8000000000000" (a string) where it is not finite. */
void report_json_number(struct textbuf *out, double x);

#endif

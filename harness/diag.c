/*
 * diag.c - fills and formats struct diag; edit distance for "did you mean".
 * Does not print and does not allocate. Invariant: every text in a struct diag is terminated.
 */
#include "diag.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEAREST_MAX 64 /* longer words are no typing mistakes of a name */

/* Keeps the tail of a long path: its end names the file. */
static void file_copy(struct diag *d, const char *file)
{
    const size_t room = sizeof d->file - 1;
    const size_t len = file ? strlen(file) : 0;

    if (len <= room) {
        memcpy(d->file, file ? file : "", len);
        d->file[len] = '\0';
        return;
    }
    memcpy(d->file, "...", 3);
    memcpy(d->file + 3, file + len - (room - 3), room - 3);
    d->file[room] = '\0';
}

static void diag_reset(struct diag *d, enum status s)
{
    d->status = s;
    d->file[0] = d->text[0] = d->source[0] = '\0';
    d->line = d->col = 0;
    d->note_count = 0;
}

/* A message is one line; it may quote a hostile file, and a terminal must not see its control
 * bytes. */
static void text_clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

enum status diag_set(struct diag *d, enum status s, const char *fmt, ...)
{
    va_list ap;

    diag_reset(d, s);
    va_start(ap, fmt);
    (void)vsnprintf(d->text, sizeof d->text, fmt, ap);
    va_end(ap);
    text_clean(d->text);
    return s;
}

enum status diag_at(struct diag *d, enum status s, const char *file, unsigned line, unsigned col,
                    const char *fmt, ...)
{
    va_list ap;

    diag_reset(d, s);
    file_copy(d, file);
    d->line = line;
    d->col = col;
    va_start(ap, fmt);
    (void)vsnprintf(d->text, sizeof d->text, fmt, ap);
    va_end(ap);
    text_clean(d->text);
    return s;
}

void diag_source(struct diag *d, const char *line_text, size_t len)
{
    const char *end = memchr(line_text, '\n', len);
    size_t n = end ? (size_t)(end - line_text) : len;

    if (n >= sizeof d->source)
        n = sizeof d->source - 1;
    if (d->col > n + 1)
        n = 0; /* the place lies behind the cut: its line would tell nothing */
    memcpy(d->source, line_text, n);
    d->source[n] = '\0';
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)d->source[i] < ' ' && d->source[i] != '\t')
            d->source[i] = ' '; /* a terminal must not see control bytes of a hostile file */
}

enum status diag_note(struct diag *d, enum status s, const char *fmt, ...)
{
    va_list ap;

    if (d->note_count < DIAG_NOTES) {
        va_start(ap, fmt);
        (void)vsnprintf(d->notes[d->note_count], sizeof d->notes[0], fmt, ap);
        va_end(ap);
        d->note_count++;
    }
    return s;
}

struct sink {
    char *buf;
    size_t size, len; /* len counts what fits */
};

static void sink_add(struct sink *k, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void sink_add(struct sink *k, const char *fmt, ...)
{
    va_list ap;
    int n;

    if (k->size == 0 || k->len >= k->size - 1)
        return;
    va_start(ap, fmt);
    n = vsnprintf(k->buf + k->len, k->size - k->len, fmt, ap);
    va_end(ap);
    if (n > 0)
        k->len += (size_t)n < k->size - k->len ? (size_t)n : k->size - k->len - 1;
}

static void sink_caret(struct sink *k, const struct diag *d)
{
    sink_add(k, "  %s\n", d->source);
    if (d->col == 0 || d->col > strlen(d->source) + 1)
        return;
    sink_add(k, "  ");
    for (unsigned i = 0; i + 1 < d->col; i++)
        sink_add(k, "%c", d->source[i] == '\t' ? '\t' : ' ');
    sink_add(k, "^\n");
}

size_t diag_format(const struct diag *d, char *buf, size_t size)
{
    struct sink k = {buf, size, 0};

    if (size)
        buf[0] = '\0';
    if (d->file[0]) {
        sink_add(&k, "%s:", d->file);
        if (d->line)
            sink_add(&k, "%u:", d->line);
        if (d->line && d->col)
            sink_add(&k, "%u:", d->col);
        sink_add(&k, " ");
    }
    sink_add(&k, "error: %s\n", d->text);
    if (d->source[0])
        sink_caret(&k, d);
    for (unsigned i = 0; i < d->note_count; i++)
        sink_add(&k, "  %s\n", d->notes[i]);
    return k.len;
}

static size_t smallest(size_t a, size_t b, size_t c)
{
    const size_t m = a < b ? a : b;

    return m < c ? m : c;
}

/* Levenshtein distance by two rows; words longer than NEAREST_MAX count as far. */
static size_t distance(const char *a, const char *b)
{
    const size_t n = strlen(a), m = strlen(b);
    size_t row[NEAREST_MAX + 1], prev[NEAREST_MAX + 1];

    if (n > NEAREST_MAX || m > NEAREST_MAX)
        return NEAREST_MAX;
    for (size_t j = 0; j <= m; j++)
        prev[j] = j;
    for (size_t i = 1; i <= n; i++) {
        row[0] = i;
        for (size_t j = 1; j <= m; j++)
            row[j] = smallest(prev[j] + 1, row[j - 1] + 1, prev[j - 1] + (a[i - 1] != b[j - 1]));
        memcpy(prev, row, (m + 1) * sizeof row[0]);
    }
    return prev[m];
}

const char *diag_nearest(const char *word, const char *const *names, size_t count)
{
    const size_t len = strlen(word);
    size_t best_distance = len / 3 + 2; /* one more than allowed */
    const char *best = NULL;

    if (best_distance > len) /* a word of which nothing is right is no typing mistake */
        best_distance = len;
    for (size_t i = 0; i < count; i++) {
        const size_t far = distance(word, names[i]);

        if (far < best_distance) {
            best = names[i];
            best_distance = far;
        }
    }
    for (size_t i = 0; !best && len >= 3 && i < count; i++)
        if (strncmp(word, names[i], len) == 0)
            best = names[i];
    return best;
}

_Noreturn void diag_unreachable(const char *file, int line)
{
    /* The one message below main: there is no state left that a caller could report. */
    fprintf(stderr, "warpjudge: internal error: unreachable code at %s:%d\n", file, line);
    abort();
}

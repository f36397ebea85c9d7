/*
 * jsonread.h - strict reading of JSON with a position for every complaint, also after parsing.
 * Hides the JSON library; writes no JSON. Invariant: a failing getter has filled the diag with
 * file, line, column and the source line.
 */
#ifndef HARNESS_JSONREAD_H
#define HARNESS_JSONREAD_H

#include "arena.h"
#include "diag.h"

#include <stdint.h>

struct jsondoc {
    void *root; /* of the library; NULL = empty */
    const char *text;
    size_t len;
    const char *file; /* for messages */
};
#define JSONDOC_EMPTY ((struct jsondoc){0})

/* One value and how it is reached. `up` must outlive it: refs are made on the stack, parents first.
 */
struct jsonref {
    const struct jsondoc *doc;
    const struct jsonref *up; /* NULL = the root */
    const char *key;          /* in the object `up`, NULL when that is an array */
    size_t index;             /* in the array `up` */
    void *value;              /* of the library */
};

/* Reads and parses a file of at most `max` bytes; text and name are kept in the arena. Syntax
 * errors and duplicate keys are STATUS_BAD_DATA. */
enum status jsonread_open(struct jsondoc *doc, struct arena *a, const char *path, size_t max,
                          struct diag *d) MUST_CHECK;
/* The same from memory; `text` and `file` must outlive the document. */
enum status jsonread_parse(struct jsondoc *doc, const char *text, size_t len, const char *file,
                           struct diag *d) MUST_CHECK;
void jsonread_close(struct jsondoc *doc); /* accepts the empty value */
struct jsonref jsonread_root(const struct jsondoc *doc);

/* An object whose keys all stand in `known`; an unknown one is refused with the nearest name. */
enum status jsonread_object(const struct jsonref *r, const char *const *known, unsigned count,
                            struct diag *d) MUST_CHECK;
/* An array of min..max items. */
enum status jsonread_array(const struct jsonref *r, unsigned min, unsigned max,
                           struct diag *d) MUST_CHECK;
/* Items of an array or members of an object; 0 for anything else. */
unsigned jsonread_length(const struct jsonref *r);
/* Item i < length of an array. */
struct jsonref jsonread_item(const struct jsonref *array, size_t i);
/* Required member of an object. */
enum status jsonread_member(struct jsonref *out, const struct jsonref *object, const char *key,
                            struct diag *d) MUST_CHECK;
/* False: no such member; *out is untouched. */
bool jsonread_optional(struct jsonref *out, const struct jsonref *object, const char *key);
/* Steps through the members in file order: start with m->value == NULL. False at the end. */
bool jsonread_next(struct jsonref *m, const struct jsonref *object);

/* Typed values. Strings are copied into the arena and hold no control characters. */
enum status jsonread_text(const char **out, struct arena *a, const struct jsonref *r,
                          size_t max_len, struct diag *d) MUST_CHECK;
enum status jsonread_u64(uint64_t *out, const struct jsonref *r, uint64_t lo, uint64_t hi,
                         struct diag *d) MUST_CHECK;
enum status jsonread_int(int *out, const struct jsonref *r, int lo, int hi,
                         struct diag *d) MUST_CHECK;
/* An integer or a real in lo..hi. */
enum status jsonread_number(double *out, const struct jsonref *r, double lo, double hi,
                            struct diag *d) MUST_CHECK;
enum status jsonread_bool(bool *out, const struct jsonref *r, struct diag *d) MUST_CHECK;
/* One of `names`; *out is its index. */
enum status jsonread_choice(unsigned *out, const struct jsonref *r, const char *const *names,
                            unsigned count, struct diag *d) MUST_CHECK;
bool jsonread_is_text(const struct jsonref *r);
bool jsonread_is_integer(const struct jsonref *r);

/* A complaint about a value, or about the key of a member (position of the key). Returns `s`. */
enum status jsonread_fail(const struct jsonref *r, enum status s, struct diag *d, const char *fmt,
                          ...) __attribute__((format(printf, 4, 5)));
enum status jsonread_fail_key(const struct jsonref *r, enum status s, struct diag *d,
                              const char *fmt, ...) __attribute__((format(printf, 4, 5)));
/* Position of a value: 1-based; 0, 0 when it cannot be found. */
void jsonread_position(const struct jsonref *r, unsigned *line, unsigned *col);

#endif

/*
 * jsonread.c - jansson for parsing, and a small scanner that finds a value's place again when
 * something is wrong with it (jansson forgets positions after parsing).
 * The scanner runs over text that jansson accepted, on the error path only.
 */
#include "jsonread.h"

#include "fileio.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MAX_DEPTH 16 /* of a path from the root; our formats need 6 */

/* --- finding a place --- */

static const char *skip_space(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* p at the opening quote; returns behind the closing one. */
static const char *skip_string(const char *p, const char *end)
{
    for (p++; p < end && *p != '"'; p++)
        if (*p == '\\')
            p++;
    return p < end ? p + 1 : end;
}

static const char *skip_value(const char *p, const char *end)
{
    unsigned depth = 0;

    do {
        p = skip_space(p, end);
        if (p >= end)
            return end;
        if (*p == '"')
            p = skip_string(p, end);
        else if (*p == '{' || *p == '[') {
            depth++;
            p++;
        } else if (*p == '}' || *p == ']') {
            depth--;
            p++;
        } else if (*p == ',' || *p == ':')
            p++;
        else
            while (p < end && !memchr(" \t\r\n,]}", *p, 7)) /* a NUL is no end of the text */
                p++;
    } while (depth > 0 && p < end);
    return p;
}

/* p at '{' or '['. The child's value, and where its key starts; NULL when not found. */
static const char *find_child(const char *p, const char *end, const struct jsonref *r,
                              const char **key_at)
{
    const size_t key_len = r->key ? strlen(r->key) : 0;

    p++;
    for (size_t i = 0; p < end; i++) {
        bool hit = !r->key && i == r->index;

        p = skip_space(p, end);
        if (p >= end || *p == '}' || *p == ']')
            return NULL;
        *key_at = p;
        if (r->key) {
            const char *stop = skip_string(p, end);

            hit = (size_t)(stop - p) == key_len + 2 && memcmp(p + 1, r->key, key_len) == 0;
            p = skip_space(stop, end);
            p = p < end ? skip_space(p + 1, end) : end; /* ':' */
        }
        if (hit)
            return p;
        p = skip_space(skip_value(p, end), end);
        if (p < end && *p == ',')
            p++;
    }
    return NULL;
}

/* Start of the value (or of its key), or of the nearest parent that is found. */
static const char *find_place(const struct jsonref *r, bool want_key)
{
    const struct jsonref *path[MAX_DEPTH];
    const char *end = r->doc->text + r->doc->len;
    const char *p = skip_space(r->doc->text, end);
    unsigned depth = 0;

    for (const struct jsonref *s = r; s->up && depth < MAX_DEPTH; s = s->up)
        path[depth++] = s;
    while (depth > 0) {
        const char *key_at = NULL;
        const char *next = NULL;

        depth--;
        if (p >= end || (*p != '{' && *p != '['))
            break;
        next = find_child(p, end, path[depth], &key_at);
        if (!next)
            break;
        p = depth == 0 && want_key && key_at ? key_at : next;
    }
    return p;
}

static void line_of(const struct jsondoc *doc, const char *place, unsigned *line, unsigned *col,
                    const char **start)
{
    *line = 1;
    *start = doc->text;
    for (const char *p = doc->text; p < place; p++)
        if (*p == '\n') {
            ++*line;
            *start = p + 1;
        }
    *col = (unsigned)(place - *start) + 1;
}

static void complain(const struct jsonref *r, enum status s, struct diag *d, bool at_key,
                     const char *fmt, va_list ap) __attribute__((format(printf, 5, 0)));

static void complain(const struct jsonref *r, enum status s, struct diag *d, bool at_key,
                     const char *fmt, va_list ap)
{
    char text[DIAG_TEXT];
    unsigned line, col;
    const char *start;

    (void)vsnprintf(text, sizeof text, fmt, ap);
    line_of(r->doc, find_place(r, at_key), &line, &col, &start);
    (void)diag_at(d, s, r->doc->file, line, col, "%s", text);
    diag_source(d, start, (size_t)(r->doc->text + r->doc->len - start));
}

enum status jsonread_fail(const struct jsonref *r, enum status s, struct diag *d, const char *fmt,
                          ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(r, s, d, false, fmt, ap);
    va_end(ap);
    return s;
}

enum status jsonread_fail_key(const struct jsonref *r, enum status s, struct diag *d,
                              const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    complain(r, s, d, true, fmt, ap);
    va_end(ap);
    return s;
}

void jsonread_position(const struct jsonref *r, unsigned *line, unsigned *col)
{
    const char *start;

    line_of(r->doc, find_place(r, false), line, col, &start);
}

/* --- documents --- */

/* jansson appends "near '...'" with raw file text; keep what tells something. */
static enum status parse_failed(const struct jsondoc *doc, const json_error_t *e, struct diag *d)
{
    /* Some of its failed allocations leave the text empty instead of setting the code. */
    const bool memory = json_error_code(e) == json_error_out_of_memory || !e->text[0];
    const enum status s = memory ? STATUS_NOMEM : STATUS_BAD_DATA;
    const unsigned line = e->line > 0 ? (unsigned)e->line : 0;
    const char *end = doc->text + doc->len;
    const char *p = doc->text;

    (void)diag_at(d, s, doc->file, line, e->column > 0 ? (unsigned)e->column : 0, "%s",
                  memory ? "out of memory" : e->text);
    for (unsigned i = 1; i < line && p < end; p++)
        i += *p == '\n';
    if (line && p < end)
        diag_source(d, p, (size_t)(end - p));
    return s;
}

enum status jsonread_parse(struct jsondoc *doc, const char *text, size_t len, const char *file,
                           struct diag *d)
{
    json_error_t e;

    doc->text = text;
    doc->len = len;
    doc->file = file;
    doc->root = json_loadb(text, len, JSON_REJECT_DUPLICATES, &e);
    return doc->root ? STATUS_OK : parse_failed(doc, &e, d);
}

enum status jsonread_open(struct jsondoc *doc, struct arena *a, const char *path, size_t max,
                          struct diag *d)
{
    const char *file = arena_strdup(a, path);
    char *text;
    size_t len;

    if (!file)
        return diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
    TRY(file_read(&text, &len, a, path, max, d));
    return jsonread_parse(doc, text, len, file, d);
}

void jsonread_close(struct jsondoc *doc)
{
    json_decref(doc->root);
    doc->root = NULL;
}

struct jsonref jsonread_root(const struct jsondoc *doc)
{
    return (struct jsonref){.doc = doc, .value = doc->root};
}

/* --- containers --- */

static const char *type_name(const json_t *v)
{
    switch (json_typeof(v)) {
    case JSON_OBJECT:
        return "an object";
    case JSON_ARRAY:
        return "an array";
    case JSON_STRING:
        return "a string";
    case JSON_INTEGER:
        return "an integer";
    case JSON_REAL:
        return "a real number";
    case JSON_TRUE:
    case JSON_FALSE:
        return "a truth value";
    case JSON_NULL:
        return "null";
    }
    UNREACHABLE();
}

static enum status wrong_type(const struct jsonref *r, const char *wanted, struct diag *d)
{
    return jsonread_fail(r, STATUS_BAD_DATA, d, "expected %s, found %s", wanted,
                         type_name(r->value));
}

enum status jsonread_object(const struct jsonref *r, const char *const *known, unsigned count,
                            struct diag *d)
{
    struct jsonref m = {0};

    if (!json_is_object((json_t *)r->value))
        return wrong_type(r, "an object", d);
    while (jsonread_next(&m, r)) {
        const char *near;
        unsigned i = 0;

        while (i < count && strcmp(m.key, known[i]) != 0)
            i++;
        if (i < count)
            continue;
        near = diag_nearest(m.key, known, count);
        if (near)
            return jsonread_fail_key(&m, STATUS_BAD_DATA, d,
                                     "unknown key '%.64s'; did you mean '%s'?", m.key, near);
        return jsonread_fail_key(&m, STATUS_BAD_DATA, d, "unknown key '%.64s'", m.key);
    }
    return STATUS_OK;
}

enum status jsonread_array(const struct jsonref *r, unsigned min, unsigned max, struct diag *d)
{
    if (!json_is_array((json_t *)r->value))
        return wrong_type(r, "an array", d);
    if (json_array_size(r->value) < min || json_array_size(r->value) > max)
        return jsonread_fail(r, STATUS_BAD_DATA, d, "expected %u to %u items, found %zu", min, max,
                             json_array_size(r->value));
    return STATUS_OK;
}

unsigned jsonread_length(const struct jsonref *r)
{
    const json_t *v = r->value;

    return (unsigned)(json_is_array(v) ? json_array_size(v) : json_object_size(v));
}

struct jsonref jsonread_item(const struct jsonref *array, size_t i)
{
    return (struct jsonref){
        .doc = array->doc, .up = array, .index = i, .value = json_array_get(array->value, i)};
}

bool jsonread_optional(struct jsonref *out, const struct jsonref *object, const char *key)
{
    json_t *v = json_object_get(object->value, key);

    if (!v)
        return false;
    *out = (struct jsonref){.doc = object->doc, .up = object, .key = key, .value = v};
    return true;
}

enum status jsonread_member(struct jsonref *out, const struct jsonref *object, const char *key,
                            struct diag *d)
{
    if (!json_is_object((json_t *)object->value))
        return wrong_type(object, "an object", d);
    if (jsonread_optional(out, object, key))
        return STATUS_OK;
    return jsonread_fail(object, STATUS_BAD_DATA, d, "the key '%s' is missing", key);
}

bool jsonread_next(struct jsonref *m, const struct jsonref *object)
{
    json_t *o = object->value;
    void *it =
        m->value ? json_object_iter_next(o, json_object_iter_at(o, m->key)) : json_object_iter(o);

    if (!it)
        return false;
    *m = (struct jsonref){.doc = object->doc,
                          .up = object,
                          .key = json_object_iter_key(it),
                          .value = json_object_iter_value(it)};
    return true;
}

/* --- values --- */

enum status jsonread_text(const char **out, struct arena *a, const struct jsonref *r,
                          size_t max_len, struct diag *d)
{
    const char *s = json_string_value(r->value);

    if (!s)
        return wrong_type(r, "a string", d);
    if (strlen(s) > max_len)
        return jsonread_fail(r, STATUS_BAD_DATA, d, "longer than %zu bytes", max_len);
    for (const char *p = s; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            return jsonread_fail(r, STATUS_BAD_DATA, d, "control character in a string");
    *out = arena_strdup(a, s);
    return *out ? STATUS_OK : diag_at(d, STATUS_NOMEM, r->doc->file, 0, 0, "out of memory");
}

enum status jsonread_u64(uint64_t *out, const struct jsonref *r, uint64_t lo, uint64_t hi,
                         struct diag *d)
{
    json_int_t v;

    if (!json_is_integer((json_t *)r->value))
        return wrong_type(r, "an integer", d);
    v = json_integer_value(r->value);
    if (v < 0 || (uint64_t)v < lo || (uint64_t)v > hi)
        return jsonread_fail(r, STATUS_BAD_DATA, d, "%lld is outside %llu to %llu", (long long)v,
                             (unsigned long long)lo, (unsigned long long)hi);
    *out = (uint64_t)v;
    return STATUS_OK;
}

enum status jsonread_int(int *out, const struct jsonref *r, int lo, int hi, struct diag *d)
{
    json_int_t v;

    if (!json_is_integer((json_t *)r->value))
        return wrong_type(r, "an integer", d);
    v = json_integer_value(r->value);
    if (v < lo || v > hi)
        return jsonread_fail(r, STATUS_BAD_DATA, d, "%lld is outside %d to %d", (long long)v, lo,
                             hi);
    *out = (int)v;
    return STATUS_OK;
}

enum status jsonread_number(double *out, const struct jsonref *r, double lo, double hi,
                            struct diag *d)
{
    double v;

    if (!json_is_number((json_t *)r->value))
        return wrong_type(r, "a number", d);
    v = json_number_value(r->value);
    if (!(v >= lo && v <= hi))
        return jsonread_fail(r, STATUS_BAD_DATA, d, "%g is outside %g to %g", v, lo, hi);
    *out = v;
    return STATUS_OK;
}

enum status jsonread_bool(bool *out, const struct jsonref *r, struct diag *d)
{
    if (!json_is_boolean((json_t *)r->value))
        return wrong_type(r, "true or false", d);
    *out = json_is_true((json_t *)r->value);
    return STATUS_OK;
}

enum status jsonread_choice(unsigned *out, const struct jsonref *r, const char *const *names,
                            unsigned count, struct diag *d)
{
    const char *s = json_string_value(r->value);
    const char *near;

    if (!s)
        return wrong_type(r, "a string", d);
    for (unsigned i = 0; i < count; i++)
        if (strcmp(s, names[i]) == 0) {
            *out = i;
            return STATUS_OK;
        }
    near = diag_nearest(s, names, count);
    if (near)
        return jsonread_fail(r, STATUS_BAD_DATA, d, "unknown value '%.64s'; did you mean '%s'?", s,
                             near);
    return jsonread_fail(r, STATUS_BAD_DATA, d, "unknown value '%.64s'", s);
}

bool jsonread_is_text(const struct jsonref *r) { return json_is_string((json_t *)r->value); }

bool jsonread_is_integer(const struct jsonref *r) { return json_is_integer((json_t *)r->value); }

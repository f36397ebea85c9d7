/*
 * casefile.c - safetensors files: header checks, mapping, and a plain writer.
 * Looks at no tensor's bytes.
 */
#include "casefile.h"

#include "fileio.h"
#include "jsonread.h"
#include "xalloc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define COUNT_OF(x)  (sizeof(x) / sizeof((x)[0]))
#define LENGTH_BYTES 8u         /* little-endian header length in front of the header */
#define MAX_HEADER   (1u << 20) /* far above CASEFILE_MAX_TENSORS entries */
#define DATA_ALIGN   64u        /* where the data start: one cache line */
#define MAX_META     128u
#define MAX_ELEMENTS (1ull << 40)

static const char *const dtype_tags[DTYPE_COUNT] = {
    [DTYPE_F64] = "F64",   [DTYPE_F32] = "F32", [DTYPE_F16] = "F16",
    [DTYPE_BF16] = "BF16", [DTYPE_I64] = "I64", [DTYPE_I32] = "I32",
    [DTYPE_U32] = "U32",   [DTYPE_I8] = "I8",   [DTYPE_U8] = "U8",
};

struct reader {
    struct casefile *cf;
    uint64_t data_start; /* byte offset in the file */
    struct diag *d;
};

static enum status read_shape(struct reader *r, struct tensor *t, const struct jsonref *v)
{
    TRY(jsonread_array(v, 0, PROBLEM_MAX_DIMS, r->d));
    t->rank = jsonread_length(v);
    t->count = 1;
    for (unsigned k = 0; k < t->rank; k++) {
        const struct jsonref dim = jsonread_item(v, k);

        TRY(jsonread_u64(&t->shape[k], &dim, 0, MAX_ELEMENTS, r->d));
        if (t->shape[k] && t->count > MAX_ELEMENTS / t->shape[k])
            return jsonread_fail(v, STATUS_BAD_DATA, r->d, "more than 2^40 elements");
        t->count *= t->shape[k];
    }
    return STATUS_OK;
}

static enum status read_offsets(struct reader *r, struct tensor *t, const struct jsonref *v)
{
    const uint64_t room = r->cf->size - r->data_start;
    uint64_t ends[2];

    TRY(jsonread_array(v, 2, 2, r->d));
    for (unsigned i = 0; i < 2; i++) {
        const struct jsonref item = jsonread_item(v, i);

        TRY(jsonread_u64(&ends[i], &item, 0, room, r->d));
    }
    t->size = t->count * dtype_size(t->dtype); /* count <= 2^40, so this fits */
    if (ends[1] < ends[0] || ends[1] - ends[0] != t->size)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "the shape needs %llu bytes",
                             (unsigned long long)t->size);
    if (ends[0] % dtype_size(t->dtype))
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "not aligned to the %zu-byte element",
                             dtype_size(t->dtype));
    t->begin = r->data_start + ends[0];
    t->data = r->cf->map + t->begin;
    return STATUS_OK;
}

static enum status read_tensor(struct reader *r, struct tensor *t, const struct jsonref *v)
{
    static const char *const keys[] = {"dtype", "shape", "data_offsets"};
    struct jsonref m;
    unsigned choice;

    t->name = arena_strdup(&r->cf->arena, v->key);
    if (!t->name)
        return diag_set(r->d, STATUS_NOMEM, "out of memory");
    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, v, "dtype", r->d));
    TRY(jsonread_choice(&choice, &m, dtype_tags, DTYPE_COUNT, r->d));
    t->dtype = (enum dtype)choice;
    TRY(jsonread_member(&m, v, "shape", r->d));
    TRY(read_shape(r, t, &m));
    TRY(jsonread_member(&m, v, "data_offsets", r->d));
    return read_offsets(r, t, &m);
}

static enum status read_meta(struct reader *r, const struct jsonref *v)
{
    struct arena *a = &r->cf->arena;
    struct jsonref m = {0};
    const char **meta;
    unsigned n = 0;

    if (!jsonread_next(&m, v))
        return jsonread_object(v, NULL, 0, r->d);
    if (jsonread_length(v) > MAX_META)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "more than %u entries", MAX_META);
    meta = arena_array(a, 2 * (size_t)jsonread_length(v) + 1, sizeof *meta);
    if (!meta)
        return diag_set(r->d, STATUS_NOMEM, "out of memory");
    for (m = (struct jsonref){0}; jsonread_next(&m, v); n += 2) {
        meta[n] = arena_strdup(a, m.key);
        if (!meta[n])
            return diag_set(r->d, STATUS_NOMEM, "out of memory");
        TRY(jsonread_text(&meta[n + 1], a, &m, 1000, r->d));
    }
    r->cf->meta = meta;
    return STATUS_OK;
}

static int by_place(const void *x, const void *y)
{
    const struct tensor *a = x, *b = y;

    if (a->begin != b->begin)
        return a->begin < b->begin ? -1 : 1;
    return a->size < b->size ? -1 : a->size > b->size; /* empty ones in front */
}

/* After sorting by place: each tensor starts where the one before ended, the last ends the file. */
static enum status check_tiling(struct reader *r, const char *name)
{
    struct casefile *cf = r->cf;
    uint64_t at = r->data_start;

    if (cf->tensor_count)
        qsort(cf->tensors, cf->tensor_count, sizeof cf->tensors[0], by_place);
    for (unsigned i = 0; i < cf->tensor_count; i++) {
        const struct tensor *t = &cf->tensors[i];

        if (t->begin != at)
            return diag_at(r->d, STATUS_BAD_DATA, name, 0, 0,
                           "%s in front of tensor '%s': expected offset %llu, found %llu",
                           t->begin < at ? "overlap" : "hole", t->name, (unsigned long long)at,
                           (unsigned long long)t->begin);
        at += t->size;
    }
    if (at != cf->size)
        return diag_at(r->d, STATUS_BAD_DATA, name, 0, 0,
                       "the tensors end at offset %llu, the file at %llu", (unsigned long long)at,
                       (unsigned long long)cf->size);
    return STATUS_OK;
}

static enum status read_header(struct reader *r, const struct jsonref *root)
{
    struct casefile *cf = r->cf;
    struct jsonref m = {0};

    if (!jsonread_next(&m, root)) /* "{}" would be allowed, but no case file is empty */
        return jsonread_fail(root, STATUS_BAD_DATA, r->d, "expected an object with tensors");
    for (m = (struct jsonref){0}; jsonread_next(&m, root);) {
        if (strcmp(m.key, "__metadata__") == 0) {
            TRY(read_meta(r, &m));
            continue;
        }
        if (cf->tensor_count == CASEFILE_MAX_TENSORS)
            return jsonread_fail_key(&m, STATUS_BAD_DATA, r->d, "more than %d tensors",
                                     CASEFILE_MAX_TENSORS);
        if (read_tensor(r, &cf->tensors[cf->tensor_count], &m) != STATUS_OK)
            return diag_note(r->d, r->d->status, "while reading tensor '%.64s'", m.key);
        cf->tensor_count++;
    }
    return STATUS_OK;
}

static uint64_t header_length(const unsigned char *p)
{
    uint64_t n = 0;

    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        n |= (uint64_t)p[i] << 8 * i;
    return n;
}

/* cf->map and cf->size are set. */
static enum status parse_map(struct casefile *cf, const char *name, struct diag *d)
{
    static const char *const no_meta[] = {NULL};
    struct reader r = {.cf = cf, .d = d};
    struct jsondoc doc = JSONDOC_EMPTY;
    struct jsonref root;
    uint64_t len;
    enum status st = STATUS_OK;

    cf->meta = no_meta;
    if (cf->size < LENGTH_BYTES)
        return diag_at(d, STATUS_BAD_DATA, name, 0, 0,
                       "only %llu bytes: too short for a safetensors file",
                       (unsigned long long)cf->size);
    len = header_length(cf->map);
    if (len > MAX_HEADER || len > cf->size - LENGTH_BYTES)
        return diag_at(d, STATUS_BAD_DATA, name, 0, 0,
                       "header length %llu at offset 0: at most %llu fit", (unsigned long long)len,
                       (unsigned long long)(cf->size - LENGTH_BYTES < MAX_HEADER
                                                ? cf->size - LENGTH_BYTES
                                                : MAX_HEADER));
    r.data_start = LENGTH_BYTES + len;
    if (r.data_start % DATA_ALIGN)
        return diag_at(d, STATUS_BAD_DATA, name, 0, 0,
                       "the data start at offset %llu, not at a multiple of %u",
                       (unsigned long long)r.data_start, DATA_ALIGN);
    TRY(jsonread_parse(&doc, (const char *)cf->map + LENGTH_BYTES, len, name, d));
    root = jsonread_root(&doc);
    st = read_header(&r, &root);
    jsonread_close(&doc);
    return st == STATUS_OK ? check_tiling(&r, name) : st;
}

enum status casefile_parse(struct casefile *out, const unsigned char *bytes, uint64_t size,
                           const char *name, struct diag *d)
{
    struct casefile cf = CASEFILE_EMPTY;
    enum status st;

    *out = cf;
    cf.map = bytes;
    cf.size = size;
    st = parse_map(&cf, name, d);
    if (st == STATUS_OK)
        *out = cf;
    else
        arena_fini(&cf.arena);
    return st;
}

static enum status file_map(struct casefile *cf, const char *path, struct diag *d)
{
    struct stat s;
    void *map;

    cf->fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (cf->fd < 0)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    if (fstat(cf->fd, &s) != 0)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    if (!S_ISREG(s.st_mode))
        return diag_at(d, STATUS_BAD_DATA, path, 0, 0, "is not a regular file");
    if (s.st_size < (off_t)LENGTH_BYTES)
        return diag_at(d, STATUS_BAD_DATA, path, 0, 0,
                       "only %lld bytes: too short for a safetensors file", (long long)s.st_size);
    map = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, cf->fd, 0);
    if (map == MAP_FAILED)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot map: %s", strerror(errno));
    cf->map = map;
    cf->size = (uint64_t)s.st_size;
    return STATUS_OK;
}

enum status casefile_open(struct casefile *out, const char *path, struct diag *d)
{
    struct casefile cf = CASEFILE_EMPTY;
    enum status st = STATUS_OK;

    *out = cf;
    TRY_OR(fail, file_map(&cf, path, d));
    TRY_OR(fail, parse_map(&cf, path, d));
    *out = cf;
    return STATUS_OK;
fail:
    casefile_close(&cf);
    return st;
}

void casefile_close(struct casefile *cf)
{
    if (cf->fd >= 0) { /* casefile_parse borrows its bytes and has no descriptor */
        if (cf->map)
            (void)munmap((void *)(uintptr_t)cf->map, (size_t)cf->size);
        (void)close(cf->fd);
    }
    arena_fini(&cf->arena);
    *cf = CASEFILE_EMPTY;
}

const struct tensor *casefile_find(const struct casefile *cf, const char *name)
{
    for (unsigned i = 0; i < cf->tensor_count; i++)
        if (strcmp(cf->tensors[i].name, name) == 0)
            return &cf->tensors[i];
    return NULL;
}

const char *casefile_meta(const struct casefile *cf, const char *key)
{
    for (const char *const *m = cf->meta; m && *m; m += 2)
        if (strcmp(m[0], key) == 0)
            return m[1];
    return NULL;
}

/* --- writing --- */

static bool plain(const char *s)
{
    for (; *s; s++)
        if ((unsigned char)*s < ' ' || (unsigned char)*s >= 0x7f || *s == '"' || *s == '\\')
            return false;
    return true;
}

/* Order of writing: widest elements first keeps every offset aligned. Stable. */
static void order_by_width(unsigned order[CASEFILE_MAX_TENSORS], const struct tensor *t,
                           unsigned count)
{
    unsigned n = 0;

    for (size_t width = 8; width > 0; width /= 2)
        for (unsigned i = 0; i < count; i++)
            if (dtype_size(t[i].dtype) == width)
                order[n++] = i;
}

static char *header_meta(struct arena *a, const char *const *meta)
{
    char *text = arena_strdup(a, "");

    for (const char *const *m = meta; text && m && *m; m += 2) {
        if (!plain(m[0]) || !plain(m[1]))
            return NULL;
        text = arena_printf(a, "%s%s\"%s\":\"%s\"", text, *text ? "," : "", m[0], m[1]);
    }
    return text;
}

static char *header_tensor(struct arena *a, const struct tensor *t, uint64_t begin)
{
    const uint64_t end = begin + t->count * dtype_size(t->dtype);
    char *shape = arena_strdup(a, "");

    if (!plain(t->name))
        return NULL;
    for (unsigned k = 0; shape && k < t->rank; k++)
        shape = arena_printf(a, "%s%s%llu", shape, k ? "," : "", (unsigned long long)t->shape[k]);
    if (!shape)
        return NULL;
    return arena_printf(a, ",\"%s\":{\"dtype\":\"%s\",\"shape\":[%s],\"data_offsets\":[%llu,%llu]}",
                        t->name, dtype_tags[t->dtype], shape, (unsigned long long)begin,
                        (unsigned long long)end);
}

/* Header text without the length in front, padded so that data start at a multiple of DATA_ALIGN.
 */
static char *make_header(struct arena *a, const struct tensor *t, const unsigned *order,
                         unsigned count, const char *const *meta, uint64_t *data_size)
{
    char *entries = header_meta(a, meta);
    char *text = entries ? arena_printf(a, "{\"__metadata__\":{%s}", entries) : NULL;
    uint64_t at = 0;
    size_t len, pad;

    for (unsigned i = 0; text && i < count; i++) {
        const struct tensor *one = &t[order[i]];
        char *entry = header_tensor(a, one, at);

        text = entry ? arena_printf(a, "%s%s", text, entry) : NULL;
        at += one->count * dtype_size(one->dtype);
    }
    if (!text)
        return NULL;
    *data_size = at;
    len = strlen(text) + 1; /* the closing brace */
    pad = (DATA_ALIGN - (LENGTH_BYTES + len) % DATA_ALIGN) % DATA_ALIGN;
    return arena_printf(a, "%s}%*s", text, (int)pad, "");
}

enum status casefile_write(const char *path, const struct tensor *tensors, unsigned count,
                           const char *const *meta, struct diag *d)
{
    struct arena a = {0};
    unsigned order[CASEFILE_MAX_TENSORS];
    uint64_t data_size = 0;
    unsigned char *file = NULL;
    char *header;
    size_t len, at;
    enum status st = STATUS_OK;

    if (count > CASEFILE_MAX_TENSORS)
        return diag_at(d, STATUS_BAD_DATA, path, 0, 0, "more than %d tensors",
                       CASEFILE_MAX_TENSORS);
    order_by_width(order, tensors, count);
    header = make_header(&a, tensors, order, count, meta, &data_size);
    if (!header) {
        st = diag_at(d, STATUS_BAD_DATA, path, 0, 0,
                     "a name needs escapes, or there is no memory for the header");
        goto done;
    }
    len = strlen(header);
    at = LENGTH_BYTES + len;
    file = xalloc(at + data_size);
    if (!file) {
        st = diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
        goto done;
    }
    for (unsigned i = 0; i < LENGTH_BYTES; i++)
        file[i] = (unsigned char)((uint64_t)len >> 8 * i);
    memcpy(file + LENGTH_BYTES, header, len);
    for (unsigned i = 0; i < count; i++) {
        const struct tensor *t = &tensors[order[i]];
        const size_t size = t->count * dtype_size(t->dtype);

        if (size)
            memcpy(file + at, t->data, size);
        at += size;
    }
    st = file_write(path, file, at, d);
done:
    xfree(file);
    arena_fini(&a);
    return st;
}

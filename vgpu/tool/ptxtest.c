/*
 * ptxtest.c - parses test comments, makes operand rows, compares results. Knows neither GPU,
 * virtual nor real. Invariant: the same text gives the same operands on every machine.
 */
#include "ptxtest.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct test_type types[] = {
    {"b8", 1, TEST_UNSIGNED, 0, 0},    {"u8", 1, TEST_UNSIGNED, 0, 0},
    {"s8", 1, TEST_SIGNED, 0, 0},      {"b16", 2, TEST_UNSIGNED, 0, 0},
    {"u16", 2, TEST_UNSIGNED, 0, 0},   {"s16", 2, TEST_SIGNED, 0, 0},
    {"b32", 4, TEST_UNSIGNED, 0, 0},   {"u32", 4, TEST_UNSIGNED, 0, 0},
    {"s32", 4, TEST_SIGNED, 0, 0},     {"b64", 8, TEST_UNSIGNED, 0, 0},
    {"u64", 8, TEST_UNSIGNED, 0, 0},   {"s64", 8, TEST_SIGNED, 0, 0},
    {"f16", 2, TEST_FLOAT, 10, 5},     {"bf16", 2, TEST_FLOAT, 7, 8},
    {"f32", 4, TEST_FLOAT, 23, 8},     {"f64", 8, TEST_FLOAT, 52, 11},
    {"shift", 4, TEST_UNSIGNED, 0, 0}, {"pred", 4, TEST_UNSIGNED, 0, 0},
    {"unit", 4, TEST_FLOAT, 23, 8},
};

const struct test_type *ptxtest_type(const char *name, size_t len)
{
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        if (strlen(types[i].name) == len && strncmp(types[i].name, name, len) == 0)
            return &types[i];
    }
    return NULL;
}

char *ptxtest_slurp(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    size_t used = 0, cap = 0;
    if (!f)
        return NULL;
    for (;;) {
        if (used + 4096 > cap) {
            char *bigger = realloc(text, cap = cap * 2 + 8192);
            if (!bigger)
                break;
            text = bigger;
        }
        size_t n = fread(text + used, 1, cap - used - 1, f);
        used += n;
        if (n == 0)
            break;
    }
    fclose(f);
    if (text)
        text[used] = '\0';
    if (len)
        *len = used;
    return text;
}

static uint64_t get(const unsigned char *data, size_t i, unsigned bytes)
{
    uint64_t v = 0;
    memcpy(&v, data + i * bytes, bytes);
    return v;
}
static void put(unsigned char *data, size_t i, unsigned bytes, uint64_t v)
{
    memcpy(data + i * bytes, &v, bytes);
}

/* ---- operands ---- */
static uint64_t next_random(uint64_t *state)
{
    *state += 0x9e3779b97f4a7c15ull;
    uint64_t x = *state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ull;
    x = (x ^ x >> 27) * 0x94d049bb133111ebull;
    return x ^ x >> 31;
}

static const uint64_t int_edges[] = {0,
                                     1,
                                     2,
                                     3,
                                     7,
                                     15,
                                     16,
                                     31,
                                     32,
                                     33,
                                     63,
                                     64,
                                     0x7f,
                                     0x80,
                                     0xff,
                                     0x7fff,
                                     0x8000,
                                     0xffff,
                                     0x10000,
                                     0x7fffffff,
                                     0x80000000,
                                     0xffffffff,
                                     0x12345678,
                                     0x55555555aaaaaaaa,
                                     0x7fffffffffffffff,
                                     0x8000000000000000,
                                     0xfffffffffffffffe,
                                     0xffffffffffffffff};

/* Exponent field (distance from the bias, or the two ends) and fraction of the edge values of a
 * float format; each with both signs. */
static size_t float_edges(const struct test_type *t, uint64_t *to)
{
    int bias = (1 << (t->exponent - 1)) - 1;
    uint64_t top = (1ull << t->exponent) - 1, full = (1ull << t->fraction) - 1;
    const struct {
        uint64_t exponent, fraction;
    } edges[] = {
        {0, 0},
        {0, 1},
        {0, full},
        {1, 0},
        {(uint64_t)bias, 0},
        {(uint64_t)bias, 1},
        {(uint64_t)bias, full},
        {(uint64_t)bias, 1ull << (t->fraction - 1)},
        {(uint64_t)bias - 1, 0},
        {(uint64_t)bias + 1, 1ull << (t->fraction - 2)},
        {(uint64_t)bias + t->fraction, 1},
        {(uint64_t)(bias + (t->exponent < 6 ? 4 : 31)), 0},
        {top - 1, full},
        {top, 0},
        {top, full},
        {top, 1},
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof edges / sizeof edges[0]; i++) {
        uint64_t v = edges[i].exponent << t->fraction | edges[i].fraction;
        to[n++] = v;
        to[n++] = v | 1ull << (t->fraction + t->exponent);
    }
    return n;
}
static size_t edges_of(const struct test_type *t, uint64_t *to)
{
    if (strcmp(t->name, "pred") == 0) {
        to[0] = 0;
        to[1] = 1;
        return 2;
    }
    if (strcmp(t->name, "shift") == 0) {
        static const uint64_t counts[] = {0,  1,  5,  8,  15, 16,  17,  31,
                                          32, 33, 63, 64, 65, 255, 256, 0xffffffff};
        memcpy(to, counts, sizeof counts);
        return sizeof counts / sizeof counts[0];
    }
    if (t->cls == TEST_FLOAT)
        return float_edges(t, to);
    size_t n = 0;
    for (size_t i = 0; i < sizeof int_edges / sizeof int_edges[0]; i++) {
        uint64_t v = t->bytes == 8 ? int_edges[i] : int_edges[i] & ((1ull << (8 * t->bytes)) - 1);
        bool seen = false;
        for (size_t k = 0; k < n; k++)
            seen = seen || to[k] == v;
        if (!seen)
            to[n++] = v;
    }
    return n;
}
/* Random bits; floats every second time with an exponent near 0, so that sums and products stay in
 * range. */
static uint64_t random_value(const struct test_type *t, uint64_t *state)
{
    uint64_t v = next_random(state), how = next_random(state);
    if (strcmp(t->name, "pred") == 0)
        return v & 1;
    if (strcmp(t->name, "shift") == 0)
        return how & 1 ? v & 63 : v & 0xffffffff;
    if (strcmp(t->name, "unit") == 0) { /* f32 in (-1, 1) */
        float x = (float)(int32_t)v / 2147483648.0f;
        uint32_t u;
        memcpy(&u, &x, 4);
        return u;
    }
    if (t->cls == TEST_FLOAT && (how & 1)) {
        uint64_t bias = (1ull << (t->exponent - 1)) - 1, fraction = v & ((1ull << t->fraction) - 1);
        return (how >> 8 & 1) << (t->fraction + t->exponent) |
               (bias - 4 + (how >> 16 & 7)) << t->fraction | fraction;
    }
    return t->bytes == 8 ? v : v & ((1ull << (8 * t->bytes)) - 1);
}

enum { EDGES = 40, RANDOM_ROWS = 256 };
/* Rows of operands: with one operand all edges, with two all pairs, with more a mixed walk over the
 * edges; then random rows. */
static size_t make_rows(struct test_arg *operands, unsigned count)
{
    uint64_t edges[TEST_ARGS][EDGES], state = 42;
    size_t sizes[TEST_ARGS], crossed = 1;
    for (unsigned i = 0; i < count; i++) {
        sizes[i] = edges_of(operands[i].type, edges[i]);
        crossed *= sizes[i];
    }
    if (count > 2)
        crossed = 1500;
    size_t rows = crossed + RANDOM_ROWS;
    for (unsigned i = 0; i < count; i++) {
        operands[i].count = rows;
        operands[i].data = calloc(rows, operands[i].type->bytes);
        if (!operands[i].data)
            return 0;
    }
    for (size_t r = 0; r < rows; r++) {
        size_t at = r;
        for (unsigned i = 0; i < count; i++) {
            size_t pick = count > 2 ? next_random(&state) % sizes[i] : at % sizes[i];
            at /= sizes[i];
            put(operands[i].data, r, operands[i].type->bytes,
                r < crossed ? edges[i][pick] : random_value(operands[i].type, &state));
        }
    }
    return rows;
}

/* ---- directives ---- */
struct reader {
    const char *at;
};
static bool word(struct reader *r, const char **start, size_t *len)
{
    while (*r->at == ' ' || *r->at == '\t')
        r->at++;
    *start = r->at;
    while (*r->at && !isspace((unsigned char)*r->at))
        r->at++;
    *len = (size_t)(r->at - *start);
    return *len > 0;
}
static bool is(const char *start, size_t len, const char *text)
{
    return strlen(text) == len && strncmp(start, text, len) == 0;
}

/* A number of type t: 0x bits, a decimal integer, or a decimal float for f32 and f64. */
static bool value_of(const struct test_type *t, const char *start, size_t len, uint64_t *out)
{
    char text[64], *end = NULL;
    if (len >= sizeof text)
        return false;
    memcpy(text, start, len);
    text[len] = '\0';
    if (t->cls == TEST_FLOAT && !(text[0] == '0' && text[1] == 'x')) {
        double d = strtod(text, &end);
        if (t->bytes == 4) {
            float f = (float)d;
            uint32_t u;
            memcpy(&u, &f, 4);
            *out = u;
        } else if (t->bytes == 8) {
            memcpy(out, &d, 8);
        } else {
            return false;
        }
    } else {
        *out = text[0] == '-' ? (uint64_t)strtoll(text, &end, 0) : strtoull(text, &end, 0);
    }
    return end && *end == '\0';
}

static bool values(struct reader *r, const struct test_type *t, unsigned char **data, size_t *count)
{
    const char *start;
    size_t len, cap = 0;
    *count = 0;
    while (word(r, &start, &len)) {
        uint64_t v, repeat = 1;
        const char *star = memchr(start, '*', len); /* 32*7: 32 times 7 */
        if (star) {
            repeat = strtoull(start, NULL, 0);
            len -= (size_t)(star + 1 - start);
            start = star + 1;
        }
        if (!value_of(t, start, len, &v) || repeat > 1000000)
            return false;
        for (; repeat > 0; repeat--) {
            if (*count == cap) {
                unsigned char *bigger = realloc(*data, (cap = cap * 2 + 64) * t->bytes);
                if (!bigger)
                    return false;
                *data = bigger;
            }
            put(*data, (*count)++, t->bytes, v);
        }
    }
    return true;
}

static bool fill(struct test_arg *a, const char *how, size_t len)
{
    uint64_t state = 7;
    a->data = calloc(a->count ? a->count : 1, a->type->bytes);
    if (!a->data)
        return false;
    for (size_t i = 0; i < a->count; i++) {
        uint64_t v = 0;
        if (is(how, len, "zero") || len == 0)
            v = 0;
        else if (is(how, len, "iota"))
            v = i;
        else if (is(how, len, "rand"))
            v = random_value(a->type, &state);
        else if (is(how, len, "ramp") && a->type->cls == TEST_FLOAT && a->type->bytes == 4) {
            float f = (float)i * 0.25f;
            uint32_t u;
            memcpy(&u, &f, 4);
            v = u;
        } else
            return false;
        put(a->data, i, a->type->bytes, v);
    }
    return true;
}

static void dims(const char *text, uint32_t out[3])
{
    char *end;
    for (int i = 0; i < 3; i++) {
        out[i] = (uint32_t)strtoul(text, &end, 10);
        if (*end != ',')
            break;
        text = end + 1;
    }
}

static struct test_arg *add(struct test *t, const char *name, size_t len)
{
    if (t->arg_count == TEST_ARGS || len >= sizeof t->args[0].name)
        return NULL;
    struct test_arg *a = &t->args[t->arg_count++];
    memset(a, 0, sizeof *a);
    memcpy(a->name, name, len);
    return a;
}

/* launch KERNEL [grid=X,Y,Z] [block=X,Y,Z] [shared=N] [cooperative] */
static bool launch_line(struct test *t, struct reader *r)
{
    const char *s;
    size_t n;
    if (!word(r, &s, &n) || n >= sizeof t->kernel)
        return false;
    memcpy(t->kernel, s, n);
    while (word(r, &s, &n)) {
        if (strncmp(s, "grid=", 5) == 0)
            dims(s + 5, t->grid);
        else if (strncmp(s, "block=", 6) == 0)
            dims(s + 6, t->block);
        else if (strncmp(s, "shared=", 7) == 0)
            t->shared = (uint32_t)strtoul(s + 7, NULL, 10);
        else if (is(s, n, "cooperative"))
            t->cooperative = true;
        else
            return false;
    }
    return true;
}
/* in NAME TYPE VALUES... | out NAME TYPE COUNT [FILL] | buffer NAME TYPE COUNT [FILL] | value TYPE
 * V */
static bool arg_line(struct test *t, struct reader *r, bool out, bool listed)
{
    const char *s, *name;
    size_t n, name_len;
    if (!word(r, &name, &name_len) || !word(r, &s, &n))
        return false;
    struct test_arg *a = add(t, name, name_len);
    if (!a || !(a->type = ptxtest_type(s, n)))
        return false;
    a->buffer = true;
    a->out = out;
    if (listed)
        return values(r, a->type, &a->data, &a->count);
    if (!word(r, &s, &n))
        return false;
    a->count = strtoull(s, NULL, 0);
    (void)word(r, &s, &n);
    return a->count > 0 && a->count < 1ull << 30 && fill(a, s, n);
}
static bool value_line(struct test *t, struct reader *r)
{
    const char *s;
    size_t n;
    struct test_arg *a = add(t, "", 0);
    if (!a || !word(r, &s, &n) || !(a->type = ptxtest_type(s, n)))
        return false;
    return word(r, &s, &n) && value_of(a->type, s, n, &a->bits);
}
/* rows IN-TYPES... -> OUT-TYPES...: one thread per row; parameters: inputs, outputs, u32 number of
 * rows */
static bool rows_line(struct test *t, struct reader *r)
{
    const char *s;
    size_t n;
    bool results = false;
    unsigned inputs = 0;
    while (word(r, &s, &n)) {
        char name[8];
        if (is(s, n, "->")) {
            results = true;
            continue;
        }
        snprintf(name, sizeof name, "%c%u", results ? 'r' : 'a',
                 results ? t->arg_count - inputs : t->arg_count);
        struct test_arg *a = add(t, name, strlen(name));
        if (!a || !(a->type = ptxtest_type(s, n)))
            return false;
        a->buffer = true;
        a->out = results;
        if (!results)
            inputs++;
    }
    size_t rows = inputs ? make_rows(t->args, inputs) : 0;
    if (rows == 0)
        return false;
    for (unsigned i = inputs; i < t->arg_count; i++) {
        t->args[i].count = rows;
        if (!fill(&t->args[i], "", 0))
            return false;
    }
    struct test_arg *a = add(t, "", 0);
    if (!a)
        return false;
    a->type = ptxtest_type("u32", 3);
    a->bits = rows;
    t->block[0] = 128;
    t->grid[0] = (uint32_t)((rows + 127) / 128);
    return true;
}
static bool expect_line(struct test *t, struct reader *r)
{
    const char *s;
    size_t n;
    if (!word(r, &s, &n))
        return false;
    for (unsigned i = 0; i < t->arg_count; i++) {
        struct test_arg *a = &t->args[i];
        if (!a->buffer || !is(s, n, a->name))
            continue;
        free(a->expected);
        a->expected = NULL;
        return values(r, a->type, &a->expected, &a->expected_count) &&
               a->expected_count <= a->count;
    }
    return false;
}

static bool directive(struct test *t, struct reader *r)
{
    const char *s, *v;
    size_t n, vn;
    if (!word(r, &s, &n))
        return true;
    if (is(s, n, "launch"))
        return launch_line(t, r);
    if (is(s, n, "in"))
        return arg_line(t, r, false, true);
    if (is(s, n, "out"))
        return arg_line(t, r, true, false);
    if (is(s, n, "buffer"))
        return arg_line(t, r, false, false);
    if (is(s, n, "value"))
        return value_line(t, r);
    if (is(s, n, "rows"))
        return rows_line(t, r);
    if (is(s, n, "expect"))
        return expect_line(t, r);
    if (is(s, n, "local")) {
        t->device = false;
        return true;
    }
    if (!word(r, &v, &vn))
        return false;
    if (is(s, n, "error"))
        t->error = (int)strtol(v, NULL, 10);
    else if (is(s, n, "budget"))
        t->budget = strtoull(v, NULL, 0);
    else if (is(s, n, "ulp"))
        t->ulp = strtod(v, NULL);
    else if (is(s, n, "relative"))
        t->relative = strtod(v, NULL);
    else if (is(s, n, "absolute"))
        t->absolute = strtod(v, NULL);
    else if (is(s, n, "seeds"))
        t->seeds = (unsigned)strtoul(v, NULL, 10);
    else if (is(s, n, "finding") && vn < sizeof t->finding)
        memcpy(t->finding, v, vn), t->finding[vn] = '\0';
    else
        return false;
    return true;
}

bool ptxtest_parse(struct test *t, const char *text, char *err, size_t err_size)
{
    unsigned line = 0, found = 0;
    memset(t, 0, sizeof *t);
    t->device = true;
    for (int i = 0; i < 3; i++)
        t->grid[i] = t->block[i] = 1;
    for (const char *p = text; *p;) {
        const char *end = strchr(p, '\n');
        size_t len = end ? (size_t)(end - p) : strlen(p);
        line++;
        if (len > 3 && strncmp(p, "//!", 3) == 0) {
            char *copy = strndup(p + 3, len - 3);
            struct reader r = {copy};
            bool ok = copy && directive(t, &r);
            free(copy);
            found++;
            if (!ok) {
                snprintf(err, err_size, "line %u: cannot read '%.*s'", line,
                         (int)(len < 80 ? len : 80), p);
                return false;
            }
        }
        p += len + (end ? 1 : 0);
    }
    if (found == 0 || t->kernel[0] == '\0') {
        snprintf(err, err_size, "no '//! launch KERNEL' line");
        return false;
    }
    return true;
}

void ptxtest_free(struct test *t)
{
    for (unsigned i = 0; i < t->arg_count; i++) {
        free(t->args[i].data);
        free(t->args[i].expected);
    }
    t->arg_count = 0;
}

/* ---- comparison ---- */
static double as_double(const struct test_type *t, uint64_t bits)
{
    uint64_t exponent = bits >> t->fraction & ((1ull << t->exponent) - 1),
             fraction = bits & ((1ull << t->fraction) - 1);
    uint64_t sign = bits >> (t->fraction + t->exponent) & 1,
             biased = exponent + 1023 - ((1ull << (t->exponent - 1)) - 1);
    double d;
    if (t->bytes == 8) {
        memcpy(&d, &bits, 8);
        return d;
    }
    if (exponent == (1ull << t->exponent) - 1)
        biased = 2047;
    uint64_t u = sign << 63 | biased << 52 | fraction << (52 - t->fraction);
    if (exponent == 0) {
        u = (1023 + 1 - ((1ull << (t->exponent - 1)) - 1)) << 52;
        memcpy(&d, &u, 8);
        for (unsigned i = 0; i < t->fraction; i++)
            d /= 2;
        d *= (double)fraction;
        return sign ? -d : d;
    }
    memcpy(&d, &u, 8);
    return d;
}
static int64_t ordinal(const struct test_type *t, uint64_t bits)
{
    uint64_t sign = 1ull << (t->fraction + t->exponent), size = bits & (sign - 1);
    return bits & sign ? -(int64_t)size : (int64_t)size;
}
static bool close_enough(const struct test *t, const struct test_type *type, uint64_t got,
                         uint64_t want)
{
    if (got == want)
        return true;
    if (type->cls != TEST_FLOAT || (t->ulp == 0 && t->relative == 0 && t->absolute == 0))
        return false;
    double a = as_double(type, got), b = as_double(type, want), gap = a > b ? a - b : b - a,
           size = b < 0 ? -b : b;
    if (a != a || b != b)
        return a != a && b != b;
    int64_t steps = ordinal(type, got) - ordinal(type, want);
    if (steps < 0)
        steps = -steps;
    return (double)steps <= t->ulp || gap <= t->absolute || gap <= t->relative * size;
}
bool ptxtest_compare(const struct test *t, const struct test_arg *a, const unsigned char *got,
                     const unsigned char *want, size_t count, FILE *out)
{
    size_t wrong = 0, first = 0;
    for (size_t i = 0; i < count; i++) {
        if (close_enough(t, a->type, get(got, i, a->type->bytes), get(want, i, a->type->bytes)))
            continue;
        if (wrong++ == 0)
            first = i;
    }
    if (wrong == 0)
        return true;
    int digits = (int)a->type->bytes * 2;
    fprintf(out, "%s[%zu] (%s): got 0x%0*" PRIx64 ", expected 0x%0*" PRIx64, a->name, first,
            a->type->name, digits, get(got, first, a->type->bytes), digits,
            get(want, first, a->type->bytes));
    for (unsigned i = 0; i < t->arg_count; i++) {
        const struct test_arg *o = &t->args[i];
        if (o->buffer && !o->out && first < o->count)
            fprintf(out, ", %s = 0x%" PRIx64, o->name, get(o->data, first, o->type->bytes));
    }
    fprintf(out, "; %zu of %zu differ\n", wrong, count);
    return false;
}

/* ---- gold files ---- */
void ptxtest_write_gold(FILE *out, const struct test_arg *a, const unsigned char *data)
{
    fprintf(out, "buffer %s %s %zu\n", a->name, a->type->name, a->count);
    for (size_t i = 0; i < a->count; i++) {
        fprintf(out, "%0*" PRIx64 "%s", (int)a->type->bytes * 2, get(data, i, a->type->bytes),
                i % 12 == 11 || i + 1 == a->count ? "\n" : " ");
    }
}
bool ptxtest_read_gold(const char *gold, const struct test_arg *a, unsigned char *to, char *err,
                       size_t err_size)
{
    char head[96];
    snprintf(head, sizeof head, "buffer %s %s %zu\n", a->name, a->type->name, a->count);
    const char *p = strstr(gold, head);
    if (!p) {
        snprintf(err, err_size, "the gold file has no '%.*s': record it again",
                 (int)strlen(head) - 1, head);
        return false;
    }
    p += strlen(head);
    for (size_t i = 0; i < a->count; i++) {
        char *end;
        uint64_t v = strtoull(p, &end, 16);
        if (end == p) {
            snprintf(err, err_size, "the gold file ends in buffer %s", a->name);
            return false;
        }
        put(to, i, a->type->bytes, v);
        p = end;
    }
    return true;
}

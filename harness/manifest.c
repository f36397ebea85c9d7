/*
 * manifest.c - MANIFEST.json to struct casedef.
 * Opens no case file. Invariant: names and paths hold no character that a shell, a path or a
 * terminal could take for something else, and every product of dimensions was checked.
 */
#include "manifest.h"

#include "jsonread.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define COUNT_OF(x)   (sizeof(x) / sizeof((x)[0]))
#define MAX_CASES     10000u
#define MAX_ELEMENTS  (1ull << 40) /* of one array: keeps byte counts far below 2^63 */
#define MAX_CASE_NAME 63u          /* struct expectation holds one */

struct reader {
    struct problem *p;
    struct arena *a;
    struct diag *d;
};

static enum status no_memory(const struct reader *r)
{
    return diag_set(r->d, STATUS_NOMEM, "out of memory");
}

static enum status read_hex(char out[65], struct reader *r, const struct jsonref *v)
{
    const char *text;

    TRY(jsonread_text(&text, r->a, v, 64, r->d));
    if (strlen(text) != 64 || text[strspn(text, "0123456789abcdef")])
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "expected 64 lower-case hex digits");
    memcpy(out, text, 65);
    return STATUS_OK;
}

static enum status read_name(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    TRY(jsonread_text(&c->name, r->a, v, MAX_CASE_NAME, r->d));
    if (!*c->name || *c->name == '.' ||
        c->name[strspn(c->name, "abcdefghijklmnopqrstuvwxyz0123456789._-")])
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "'%s' is no case name: a-z 0-9 . _ - only",
                             c->name);
    return STATUS_OK;
}

static enum status read_tags(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    static const char *const known[] = {"site", "edge", "stress", "perf", "curve"};
    const char **tags;
    unsigned n, choice;

    TRY(jsonread_array(v, 1, COUNT_OF(known), r->d));
    n = jsonread_length(v);
    tags = arena_array(r->a, n + 1, sizeof *tags);
    if (!tags)
        return no_memory(r);
    c->tags = tags;
    for (unsigned i = 0; i < n; i++) {
        const struct jsonref item = jsonread_item(v, i);

        TRY(jsonread_choice(&choice, &item, known, COUNT_OF(known), r->d));
        if (casedef_has_tag(c, known[choice]))
            return jsonread_fail(&item, STATUS_BAD_DATA, r->d, "the tag '%s' twice", known[choice]);
        tags[i] = known[choice];
    }
    return STATUS_OK;
}

/* The rule by name; its numbers stand in the manifest too and must be those of problem.json. */
static enum status read_rule(struct reader *r, struct casedef *c, const struct jsonref *check,
                             const struct jsonref *v)
{
    static const char *const keys[] = {"kind", "atol", "rtol", "bound"};
    static const char *const kinds[] = {"exact", "allclose", "tol", "survive"};
    const struct rule *rule = NULL;
    const char *name;
    struct jsonref m;
    unsigned kind;
    double atol = 0, rtol = 0;

    TRY(jsonread_text(&name, r->a, check, 63, r->d));
    for (unsigned i = 0; i < r->p->rule_count; i++)
        if (strcmp(r->p->rules[i].name, name) == 0)
            rule = &r->p->rules[i];
    if (!rule)
        return jsonread_fail(check, STATUS_BAD_DATA, r->d, "problem.json has no rule '%s'", name);
    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, v, "kind", r->d));
    TRY(jsonread_choice(&kind, &m, kinds, COUNT_OF(kinds), r->d));
    if (jsonread_optional(&m, v, "atol"))
        TRY(jsonread_number(&atol, &m, 0, 1e30, r->d));
    if (jsonread_optional(&m, v, "rtol"))
        TRY(jsonread_number(&rtol, &m, 0, 1, r->d));
    if ((enum rule_kind)kind != rule->kind || atol < rule->atol || atol > rule->atol ||
        rtol < rule->rtol || rtol > rule->rtol)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "differs from rule '%s' of problem.json",
                             name);
    c->rule = *rule;
    return STATUS_OK;
}

static enum status read_needs(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    static const char *const known[] = {"gpu"};
    unsigned choice;

    TRY(jsonread_array(v, 0, 1, r->d));
    if (jsonread_length(v) == 1) {
        const struct jsonref item = jsonread_item(v, 0);

        TRY(jsonread_choice(&choice, &item, known, 1, r->d));
        c->needs_gpu = true;
    }
    return STATUS_OK;
}

/* Largest and smallest value of a scalar that reaches solve() unchanged through a double. */
static void scalar_range(enum dtype t, double *lo, double *hi)
{
    static const double limits[DTYPE_COUNT][2] = {
        [DTYPE_F64] = {-1.7976931348623157e308, 1.7976931348623157e308},
        [DTYPE_F32] = {-3.4028234663852886e38, 3.4028234663852886e38},
        [DTYPE_F16] = {-65504, 65504},
        [DTYPE_BF16] = {-3.3895313892515355e38, 3.3895313892515355e38},
        [DTYPE_I64] = {-9007199254740992.0, 9007199254740992.0}, /* 2^53 */
        [DTYPE_I32] = {-2147483648.0, 2147483647.0},
        [DTYPE_U32] = {0, 4294967295.0},
        [DTYPE_I8] = {-128, 127},
        [DTYPE_U8] = {0, 255},
    };

    *lo = limits[t][0];
    *hi = limits[t][1];
}

static bool is_float(enum dtype t)
{
    return t == DTYPE_F64 || t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16;
}

/* Calls for each parameter that is (not) a scalar; the object must hold exactly these names. */
static enum status check_names(struct reader *r, const struct jsonref *v, bool scalars)
{
    const char *names[PROBLEM_MAX_PARAMS];
    unsigned n = 0;

    for (unsigned i = 0; i < r->p->param_count; i++)
        if (r->p->params[i].scalar == scalars)
            names[n++] = r->p->params[i].name;
    return jsonread_object(v, names, n, r->d);
}

static enum status read_scalars(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    TRY(check_names(r, v, true));
    for (unsigned i = 0; i < r->p->param_count; i++) {
        const struct param *q = &r->p->params[i];
        struct jsonref m;
        double lo, hi;

        if (!q->scalar)
            continue;
        TRY(jsonread_member(&m, v, q->name, r->d));
        if (!is_float(q->dtype) && !jsonread_is_integer(&m))
            return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "'%s' is an integer", q->name);
        scalar_range(q->dtype, &lo, &hi);
        TRY(jsonread_number(&c->scalar[i], &m, lo, hi, r->d));
    }
    return STATUS_OK;
}

static enum status read_shapes(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    TRY(check_names(r, v, false));
    for (unsigned i = 0; i < r->p->param_count; i++) {
        const struct param *q = &r->p->params[i];
        struct jsonref m;

        if (q->scalar)
            continue;
        TRY(jsonread_member(&m, v, q->name, r->d));
        TRY(jsonread_array(&m, q->rank, q->rank, r->d));
        c->rank[i] = q->rank;
        c->count[i] = 1;
        for (unsigned k = 0; k < q->rank; k++) {
            const struct jsonref dim = jsonread_item(&m, k);

            TRY(jsonread_u64(&c->shape[i][k], &dim, 0, MAX_ELEMENTS, r->d));
            if (c->shape[i][k] && c->count[i] > MAX_ELEMENTS / c->shape[i][k])
                return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "more than 2^40 elements");
            c->count[i] *= c->shape[i][k];
        }
    }
    return STATUS_OK;
}

static enum status read_offsets(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    TRY(check_names(r, v, false));
    for (unsigned i = 0; i < r->p->param_count; i++) {
        struct jsonref m;

        if (r->p->params[i].scalar)
            continue;
        TRY(jsonread_member(&m, v, r->p->params[i].name, r->d));
        TRY(jsonread_u64(&c->offset[i], &m, 0, 63, r->d)); /* 63: stays inside 256 bytes of f32 */
        c->misaligned = c->misaligned || c->offset[i] != 0;
    }
    return STATUS_OK;
}

static enum status read_exponents(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    static const char *const keys[] = {"lo", "hi"};

    TRY(jsonread_array(v, r->p->group_count, r->p->group_count, r->d));
    for (unsigned g = 0; g < r->p->group_count; g++) {
        const struct jsonref item = jsonread_item(v, g);
        struct jsonref m;

        TRY(jsonread_object(&item, keys, COUNT_OF(keys), r->d));
        TRY(jsonread_member(&m, &item, "lo", r->d));
        TRY(jsonread_int(&c->exp_lo[g], &m, -PROBLEM_MAX_EXPONENT, 0, r->d));
        TRY(jsonread_member(&m, &item, "hi", r->d));
        TRY(jsonread_int(&c->exp_hi[g], &m, 0, PROBLEM_MAX_EXPONENT, r->d));
    }
    return STATUS_OK;
}

static enum status read_traffic(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    static const char *const keys[] = {"read", "write", "flops"};
    double *const out[] = {&c->traffic_read, &c->traffic_write, &c->flops};

    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    for (unsigned i = 0; i < COUNT_OF(keys); i++) {
        struct jsonref m;

        TRY(jsonread_member(&m, v, keys[i], r->d));
        TRY(jsonread_number(out[i], &m, 0, 1e18, r->d));
    }
    return STATUS_OK;
}

static enum status read_pin(struct reader *r, const struct casedef *c, struct file_pin *out,
                            const char *kind, const struct jsonref *files)
{
    static const char *const keys[] = {"path", "bytes", "sha256", "committed"};
    char wanted[160];
    struct jsonref v, m;

    TRY(jsonread_member(&v, files, kind, r->d));
    TRY(jsonread_object(&v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, &v, "path", r->d));
    TRY(jsonread_text(&out->path, r->a, &m, sizeof wanted, r->d));
    (void)snprintf(wanted, sizeof wanted, "%s/%s.%s.safetensors", r->p->name, c->name, kind);
    if (strcmp(out->path, wanted) != 0 && strcmp(out->path, strchr(wanted, '/') + 1) != 0)
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "expected '%s'", wanted);
    TRY(jsonread_member(&m, &v, "bytes", r->d));
    TRY(jsonread_u64(&out->size, &m, 8, 1ull << 50, r->d));
    TRY(jsonread_member(&m, &v, "sha256", r->d));
    TRY(read_hex(out->sha256, r, &m));
    TRY(jsonread_member(&m, &v, "committed", r->d));
    return jsonread_bool(&out->committed, &m, r->d);
}

static enum status read_files(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    static const char *const keys[] = {"in", "ref"};

    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(read_pin(r, c, &c->in, "in", v));
    return read_pin(r, c, &c->ref, "ref", v);
}

static enum status read_case(struct reader *r, struct casedef *c, const struct jsonref *v)
{
    static const char *const keys[] = {"name",   "key",      "tags",      "check",   "rule",
                                       "needs",  "advisory", "seed",      "note",    "scalars",
                                       "shapes", "offsets",  "exponents", "traffic", "files"};
    struct jsonref m, rule;
    char key[65];

    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, v, "name", r->d));
    TRY(read_name(r, c, &m));
    TRY(jsonread_member(&m, v, "key", r->d));
    TRY(read_hex(key, r, &m));
    c->key = arena_strdup(r->a, key);
    if (!c->key)
        return no_memory(r);
    TRY(jsonread_member(&m, v, "tags", r->d));
    TRY(read_tags(r, c, &m));
    TRY(jsonread_member(&m, v, "check", r->d));
    TRY(jsonread_member(&rule, v, "rule", r->d));
    TRY(read_rule(r, c, &m, &rule));
    TRY(jsonread_member(&m, v, "needs", r->d));
    TRY(read_needs(r, c, &m));
    TRY(jsonread_member(&m, v, "advisory", r->d));
    TRY(jsonread_bool(&c->advisory, &m, r->d));
    if (c->rule.kind == RULE_SURVIVE && !c->advisory)
        return jsonread_fail(&rule, STATUS_BAD_DATA, r->d, "'survive' is for advisory cases only");
    TRY(jsonread_member(&m, v, "seed", r->d));
    TRY(jsonread_u64(&c->seed, &m, 0, INT64_MAX, r->d));
    TRY(jsonread_member(&m, v, "note", r->d));
    TRY(jsonread_text(&c->note, r->a, &m, 500, r->d));
    TRY(jsonread_member(&m, v, "scalars", r->d));
    TRY(read_scalars(r, c, &m));
    TRY(jsonread_member(&m, v, "shapes", r->d));
    TRY(read_shapes(r, c, &m));
    TRY(jsonread_member(&m, v, "offsets", r->d));
    TRY(read_offsets(r, c, &m));
    TRY(jsonread_member(&m, v, "exponents", r->d));
    TRY(read_exponents(r, c, &m));
    TRY(jsonread_member(&m, v, "traffic", r->d));
    TRY(read_traffic(r, c, &m));
    TRY(jsonread_member(&m, v, "files", r->d));
    return read_files(r, c, &m);
}

static enum status read_cases(struct reader *r, const struct jsonref *v)
{
    struct casedef *cases;

    TRY(jsonread_array(v, 1, MAX_CASES, r->d));
    cases = arena_array(r->a, jsonread_length(v), sizeof *cases);
    if (!cases)
        return no_memory(r);
    for (unsigned i = 0; i < jsonread_length(v); i++) {
        const struct jsonref item = jsonread_item(v, i);
        const enum status st = read_case(r, &cases[i], &item);

        if (st != STATUS_OK)
            return cases[i].name ? diag_note(r->d, st, "while reading case '%s'", cases[i].name)
                                 : st;
        cases[i].index = i;
        for (unsigned k = 0; k < i; k++)
            if (strcmp(cases[k].name, cases[i].name) == 0)
                return jsonread_fail(&item, STATUS_BAD_DATA, r->d, "a second case '%s'",
                                     cases[i].name);
    }
    r->p->cases = cases;
    r->p->case_count = jsonread_length(v);
    return STATUS_OK;
}

static enum status read_root(struct reader *r, const struct jsonref *root)
{
    static const char *const keys[] = {"format", "problem", "generator", "spec_sha256", "cases"};
    struct jsonref m;
    const char *name;
    char sha[65];
    uint64_t number;

    TRY(jsonread_object(root, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, root, "format", r->d));
    TRY(jsonread_u64(&number, &m, 1, 1, r->d));
    TRY(jsonread_member(&m, root, "problem", r->d));
    TRY(jsonread_text(&name, r->a, &m, 63, r->d));
    if (strcmp(name, r->p->name) != 0)
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "this manifest is of '%s', not of '%s'",
                             name, r->p->name);
    TRY(jsonread_member(&m, root, "generator", r->d));
    TRY(jsonread_u64(&number, &m, 1, 1000000, r->d));
    TRY(jsonread_member(&m, root, "spec_sha256", r->d));
    TRY(read_hex(sha, r, &m));
    if (strcmp(sha, r->p->spec_sha256) != 0)
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d,
                             "made from another problem.json; 'judge gen %s' makes it again", name);
    TRY(jsonread_member(&m, root, "cases", r->d));
    return read_cases(r, &m);
}

enum status manifest_read(struct problem *p, struct arena *a, const struct problem_text *manifest,
                          struct diag *d)
{
    struct reader r = {.p = p, .a = a, .d = d};
    struct jsondoc doc = JSONDOC_EMPTY;
    struct jsonref root;
    enum status st;

    TRY(jsonread_parse(&doc, manifest->text, manifest->len, manifest->file, d));
    root = jsonread_root(&doc);
    st = read_root(&r, &root);
    jsonread_close(&doc);
    return st;
}

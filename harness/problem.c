/*
 * problem.c - problem.json to struct problem; the cases come from manifest.c.
 * Evaluates no expression and expands no case list: gen does, and writes the result to
 * MANIFEST.json.
 */
#include "problem.h"

#include "fileio.h"
#include "jsonread.h"
#include "manifest.h"
#include "sha256.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#define SPEC_MAX_BYTES     (1u << 20)
#define MANIFEST_MAX_BYTES (16u << 20)
#define COUNT_OF(x)        (sizeof(x) / sizeof((x)[0]))

static const struct {
    const char *name, *ctype;
    size_t size;
} dtypes[DTYPE_COUNT] = {
    [DTYPE_F64] = {"f64", "double", 8},       [DTYPE_F32] = {"f32", "float", 4},
    [DTYPE_F16] = {"f16", "__half", 2},       [DTYPE_BF16] = {"bf16", "__nv_bfloat16", 2},
    [DTYPE_I64] = {"i64", "long long", 8},    [DTYPE_I32] = {"i32", "int", 4},
    [DTYPE_U32] = {"u32", "unsigned int", 4}, [DTYPE_I8] = {"i8", "signed char", 1},
    [DTYPE_U8] = {"u8", "unsigned char", 1},
};

bool dtype_is_float(enum dtype t)
{
    return t == DTYPE_F64 || t == DTYPE_F32 || t == DTYPE_F16 || t == DTYPE_BF16;
}

size_t dtype_size(enum dtype t)
{
    assert((unsigned)t < DTYPE_COUNT);
    return dtypes[t].size;
}

const char *dtype_name(enum dtype t)
{
    assert((unsigned)t < DTYPE_COUNT);
    return dtypes[t].name;
}

const char *dtype_ctype(enum dtype t)
{
    assert((unsigned)t < DTYPE_COUNT);
    return dtypes[t].ctype;
}

bool casedef_has_tag(const struct casedef *c, const char *tag)
{
    for (const char *const *t = c->tags; *t; t++)
        if (strcmp(*t, tag) == 0)
            return true;
    return false;
}

/* What every reading function here needs. */
struct reader {
    struct problem *p;
    struct arena *a;
    struct diag *d;
};

static enum status no_memory(const struct reader *r)
{
    return diag_set(r->d, STATUS_NOMEM, "out of memory");
}

/* A C identifier of at most 63 characters that no keyword of a solution's text can clash with
 * badly. */
static enum status read_identifier(const char **out, struct reader *r, const struct jsonref *v)
{
    TRY(jsonread_text(out, r->a, v, 63, r->d));
    if (!**out || (**out >= '0' && **out <= '9') ||
        (*out)[strspn(*out, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")])
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "'%s' is no identifier", *out);
    return STATUS_OK;
}

static int param_index(const struct problem *p, const char *name)
{
    for (unsigned i = 0; i < p->param_count; i++)
        if (strcmp(p->params[i].name, name) == 0)
            return (int)i;
    return -1;
}

static enum status read_shape(struct reader *r, struct param *out, const struct jsonref *v)
{
    TRY(jsonread_array(v, 1, PROBLEM_MAX_DIMS, r->d));
    out->rank = jsonread_length(v);
    for (unsigned i = 0; i < out->rank; i++) {
        const struct jsonref dim = jsonread_item(v, i);

        if (!jsonread_is_text(&dim) && !jsonread_is_integer(&dim))
            return jsonread_fail(&dim, STATUS_BAD_DATA, r->d,
                                 "a dimension is an integer or an expression like \"M + N\"");
    }
    return STATUS_OK;
}

static enum status read_param(struct reader *r, struct param *out, const struct jsonref *v)
{
    static const char *const keys[] = {"name", "dir", "dtype", "shape", "space"};
    static const char *const dirs[] = {"in", "out", "inout"};
    static const char *const spaces[] = {"device", "host"};
    const char *dtype_names[DTYPE_COUNT];
    struct jsonref m;
    unsigned choice;

    for (unsigned i = 0; i < DTYPE_COUNT; i++)
        dtype_names[i] = dtypes[i].name;
    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, v, "name", r->d));
    TRY(read_identifier(&out->name, r, &m));
    if (param_index(r->p, out->name) >= 0)
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "a second parameter '%s'", out->name);
    TRY(jsonread_member(&m, v, "dir", r->d));
    TRY(jsonread_choice(&choice, &m, dirs, COUNT_OF(dirs), r->d));
    out->dir = (enum param_dir)choice;
    TRY(jsonread_member(&m, v, "dtype", r->d));
    TRY(jsonread_choice(&choice, &m, dtype_names, DTYPE_COUNT, r->d));
    out->dtype = (enum dtype)choice;
    out->scalar = true;
    out->group = -1;
    out->space = SPACE_DEVICE;
    if (jsonread_optional(&m, v, "shape")) {
        out->scalar = false;
        TRY(read_shape(r, out, &m));
    } else if (out->dir != DIR_IN)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "an output needs a 'shape'");
    if (jsonread_optional(&m, v, "space")) {
        TRY(jsonread_choice(&choice, &m, spaces, COUNT_OF(spaces), r->d));
        out->space = (enum param_space)choice;
    }
    return STATUS_OK;
}

static enum status read_params(struct reader *r, const struct jsonref *v)
{
    bool writes = false;

    TRY(jsonread_array(v, 1, PROBLEM_MAX_PARAMS, r->d));
    for (unsigned i = 0; i < jsonread_length(v); i++) {
        const struct jsonref item = jsonread_item(v, i);

        TRY(read_param(r, &r->p->params[i], &item));
        r->p->param_count = i + 1;
        writes = writes || r->p->params[i].dir != DIR_IN;
    }
    if (!writes)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "no parameter is an output");
    return STATUS_OK;
}

static enum status read_rule(struct reader *r, struct rule *out, const struct jsonref *v)
{
    static const char *const keys[] = {"kind", "atol", "rtol", "bound"};
    static const char *const kinds[] = {"exact", "allclose", "tol", "survive"};
    static const char *const bounds[] = {"walk", "tree", "product"};
    struct jsonref m;
    unsigned choice, wanted;

    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, v, "kind", r->d));
    TRY(jsonread_choice(&choice, &m, kinds, COUNT_OF(kinds), r->d));
    out->kind = (enum rule_kind)choice;
    wanted = out->kind == RULE_ALLCLOSE ? 3 : out->kind == RULE_TOL ? 4 : 1;
    if (jsonread_length(v) > wanted)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "rule '%s' takes no more than %u keys",
                             kinds[choice], wanted);
    if (wanted > 1) {
        TRY(jsonread_member(&m, v, "atol", r->d));
        TRY(jsonread_number(&out->atol, &m, 0, 1e30, r->d));
        TRY(jsonread_member(&m, v, "rtol", r->d));
        TRY(jsonread_number(&out->rtol, &m, 0, 1, r->d));
    }
    if (wanted > 3) {
        TRY(jsonread_member(&m, v, "bound", r->d));
        TRY(jsonread_choice(&choice, &m, bounds, COUNT_OF(bounds), r->d));
    }
    return STATUS_OK;
}

static enum status read_rules(struct reader *r, const struct jsonref *v)
{
    struct jsonref m = {0}, strict;
    struct rule *rules;
    unsigned n = 0;

    TRY(jsonread_member(&strict, v, "strict", r->d));
    rules = arena_array(r->a, jsonread_length(v), sizeof *rules);
    if (!rules)
        return no_memory(r);
    while (jsonread_next(&m, v)) {
        rules[n].name = arena_strdup(r->a, m.key);
        if (!rules[n].name)
            return no_memory(r);
        TRY(read_rule(r, &rules[n], &m));
        n++;
    }
    r->p->rules = rules;
    r->p->rule_count = n;
    return STATUS_OK;
}

static enum status read_group(struct reader *r, int group, const struct jsonref *v)
{
    TRY(jsonread_array(v, 1, PROBLEM_MAX_PARAMS, r->d));
    for (unsigned i = 0; i < jsonread_length(v); i++) {
        const struct jsonref item = jsonread_item(v, i);
        const char *name;
        int index;
        struct param *q;

        TRY(jsonread_text(&name, r->a, &item, 63, r->d));
        index = param_index(r->p, name);
        if (index < 0)
            return jsonread_fail(&item, STATUS_BAD_DATA, r->d, "no parameter '%s'", name);
        q = &r->p->params[index];
        if (q->scalar || q->dir == DIR_OUT)
            return jsonread_fail(&item, STATUS_BAD_DATA, r->d, "'%s' is not an input array", name);
        if (q->group >= 0)
            return jsonread_fail(&item, STATUS_BAD_DATA, r->d, "'%s' is in two groups", name);
        q->group = group;
    }
    return STATUS_OK;
}

static enum status read_rescale(struct reader *r, const struct jsonref *v)
{
    static const char *const keys[] = {"groups", "negate"};
    struct jsonref m, groups;

    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&groups, v, "groups", r->d));
    TRY(jsonread_array(&groups, 0, PROBLEM_MAX_GROUPS, r->d));
    r->p->group_count = jsonread_length(&groups);
    for (unsigned g = 0; g < r->p->group_count; g++) {
        const struct jsonref group = jsonread_item(&groups, g);

        TRY(read_group(r, (int)g, &group));
    }
    TRY(jsonread_member(&m, v, "negate", r->d));
    return jsonread_bool(&r->p->negate, &m, r->d);
}

static enum status read_limits(struct reader *r, const struct jsonref *v)
{
    static const char *const keys[] = {"time_s", "vgpu_time_s", "vgpu_minstr", "memory_mib"};
    struct problem *p = r->p;
    struct jsonref m;

    TRY(jsonread_object(v, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, v, "time_s", r->d));
    TRY(jsonread_number(&p->time_s, &m, 0.001, 3600, r->d));
    TRY(jsonread_member(&m, v, "vgpu_time_s", r->d));
    TRY(jsonread_number(&p->vgpu_time_s, &m, 0.001, 3600, r->d));
    TRY(jsonread_member(&m, v, "vgpu_minstr", r->d));
    TRY(jsonread_u64(&p->vgpu_minstr, &m, 1, 1000000000, r->d));
    TRY(jsonread_member(&m, v, "memory_mib", r->d));
    return jsonread_u64(&p->memory_mib, &m, 1, 1u << 20, r->d);
}

/* What gen reads: only its outer form is checked here, gen checks the rest when it makes the
 * manifest. */
static enum status check_rest(struct reader *r, const struct jsonref *root)
{
    static const char *const traffic_keys[] = {"read", "write", "flops"};
    struct jsonref m, item;

    TRY(jsonread_member(&m, root, "domain", r->d));
    item = (struct jsonref){0};
    if (jsonread_length(&m) == 0)
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "expected an object with ranges");
    while (jsonread_next(&item, &m))
        TRY(jsonread_array(&item, 2, 3, r->d));
    TRY(jsonread_member(&m, root, "traffic", r->d));
    TRY(jsonread_object(&m, traffic_keys, COUNT_OF(traffic_keys), r->d));
    for (unsigned i = 0; i < COUNT_OF(traffic_keys); i++)
        TRY(jsonread_member(&item, &m, traffic_keys[i], r->d));
    TRY(jsonread_member(&m, root, "cases", r->d));
    TRY(jsonread_array(&m, 1, 10000, r->d));
    for (unsigned i = 0; i < jsonread_length(&m); i++) {
        const struct jsonref c = jsonread_item(&m, i);
        struct jsonref name;
        const char *text;

        TRY(jsonread_member(&name, &c, "name", r->d));
        TRY(jsonread_text(&text, r->a, &name, 200, r->d));
    }
    return STATUS_OK;
}

/* Both spellings of the signature, from the parameters. */
static enum status make_prototype(struct reader *r)
{
    char named[1024] = "", types[1024] = "";
    size_t n = 0, t = 0;

    for (unsigned i = 0; i < r->p->param_count; i++) {
        const struct param *q = &r->p->params[i];
        const char *comma = i ? ", " : "";
        const char *constant = !q->scalar && q->dir == DIR_IN ? "const " : "";
        const char *star = q->scalar ? "" : "*";

        n += (size_t)snprintf(named + n, sizeof named - n, "%s%s%s%s %s", comma, constant,
                              dtype_ctype(q->dtype), star, q->name);
        t += (size_t)snprintf(types + t, sizeof types - t, "%s%s%s%s", comma, constant,
                              dtype_ctype(q->dtype), star);
        if (n >= sizeof named || t >= sizeof types)
            return diag_set(r->d, STATUS_BAD_DATA, "the parameters' names are too long");
    }
    r->p->prototype = arena_printf(r->a, "extern \"C\" void solve(%s)", named);
    r->p->signature = arena_printf(r->a, "void (%s)", types);
    return r->p->prototype && r->p->signature ? STATUS_OK : no_memory(r);
}

static enum status read_spec(struct reader *r, const char *name, const struct jsonref *root)
{
    static const char *const keys[] = {"format", "name",    "title", "perf_version",
                                       "params", "domain",  "check", "rescale",
                                       "limits", "traffic", "cases"};
    struct problem *p = r->p;
    struct jsonref m;
    uint64_t number;

    TRY(jsonread_object(root, keys, COUNT_OF(keys), r->d));
    TRY(jsonread_member(&m, root, "format", r->d));
    TRY(jsonread_u64(&number, &m, 1, 1, r->d));
    TRY(jsonread_member(&m, root, "name", r->d));
    TRY(jsonread_text(&p->name, r->a, &m, 63, r->d));
    if (strcmp(p->name, name) != 0)
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "the folder is named '%s'", name);
    TRY(jsonread_member(&m, root, "title", r->d));
    TRY(jsonread_text(&p->title, r->a, &m, 200, r->d));
    TRY(jsonread_member(&m, root, "perf_version", r->d));
    TRY(jsonread_u64(&number, &m, 1, 1000000, r->d));
    p->perf_version = (unsigned)number;
    TRY(jsonread_member(&m, root, "params", r->d));
    TRY(read_params(r, &m));
    TRY(jsonread_member(&m, root, "check", r->d));
    TRY(read_rules(r, &m));
    TRY(jsonread_member(&m, root, "rescale", r->d));
    TRY(read_rescale(r, &m));
    TRY(jsonread_member(&m, root, "limits", r->d));
    TRY(read_limits(r, &m));
    TRY(check_rest(r, root));
    return make_prototype(r);
}

enum status problem_parse(struct problem *out, struct arena *a, const char *name,
                          const struct problem_text *spec, const struct problem_text *manifest,
                          struct diag *d)
{
    struct problem p = {0};
    struct reader r = {.p = &p, .a = a, .d = d};
    struct jsondoc doc = JSONDOC_EMPTY;
    struct jsonref root;
    enum status st = STATUS_OK;

    TRY_OR(done, jsonread_parse(&doc, spec->text, spec->len, spec->file, d));
    root = jsonread_root(&doc);
    TRY_OR(done, read_spec(&r, name, &root));
    sha256_hex(p.spec_sha256, spec->text, spec->len);
    TRY_OR(done, manifest_read(&p, a, manifest, d));
    *out = p;
done:
    jsonread_close(&doc);
    return st == STATUS_OK ? st : diag_note(d, st, "while loading problem '%s'", name);
}

static enum status unknown_problem(struct arena *a, const char *root, const char *name,
                                   struct diag *d)
{
    const char *const *names;
    const char *near;
    unsigned n;

    TRY(problem_names(&names, &n, a, root, d));
    near = diag_nearest(name, names, n);
    if (near)
        return diag_set(d, STATUS_USAGE, "unknown problem '%s'; did you mean '%s'?", name, near);
    return diag_set(d, STATUS_USAGE, "unknown problem '%s'; 'judge list' shows all", name);
}

enum status problem_load(struct problem *out, struct arena *a, const char *root, const char *name,
                         struct diag *d)
{
    const char *dir = arena_printf(a, "%s/problems/%s", root, name);
    const char *spec_path = arena_printf(a, "%s/problems/%s/problem.json", root, name);
    const char *manifest_path = arena_printf(a, "%s/testcases/%s/MANIFEST.json", root, name);
    struct problem_text spec = {.file = spec_path}, manifest = {.file = manifest_path};
    char *text;

    if (!dir || !spec_path || !manifest_path)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    if (!*name || name[strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_")] ||
        !file_exists(spec_path))
        return unknown_problem(a, root, name, d);
    TRY(file_read(&text, &spec.len, a, spec_path, SPEC_MAX_BYTES, d));
    spec.text = text;
    if (!file_exists(manifest_path))
        return diag_at(d, STATUS_BAD_DATA, manifest_path, 0, 0,
                       "this file is missing; 'judge gen %s' makes it", name);
    TRY(file_read(&text, &manifest.len, a, manifest_path, MANIFEST_MAX_BYTES, d));
    manifest.text = text;
    TRY(problem_parse(out, a, name, &spec, &manifest, d));
    out->dir = dir;
    return STATUS_OK;
}

enum status problem_names(const char *const **names, unsigned *count, struct arena *a,
                          const char *root, struct diag *d)
{
    const char *dir = arena_printf(a, "%s/problems", root);
    const char *const *all;
    const char **kept;
    unsigned n, k = 0;

    if (!dir)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    TRY(dir_list(&all, &n, a, dir, d));
    kept = arena_array(a, n + 1, sizeof *kept);
    if (!kept)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    for (unsigned i = 0; i < n; i++) {
        const char *spec = arena_printf(a, "%s/%s/problem.json", dir, all[i]);

        if (!spec)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        if (file_exists(spec))
            kept[k++] = all[i];
    }
    *names = kept;
    *count = k;
    return STATUS_OK;
}

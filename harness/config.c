/*
 * config.c - the table of settings and the four places that fill it.
 * Checks no path for existence: who needs the thing does.
 */
#include "config.h"

#include "fileio.h"
#include "jsonread.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

extern char **environ;

#define CONFIG_MAX_BYTES (1u << 20)
#define MAX_LIST         32u

enum kind { KIND_PATH, KIND_BACKEND, KIND_UNSIGNED, KIND_U64, KIND_REAL, KIND_LIST };

/* X(key, member, kind, lowest, highest, default, in which unit or what it means) */
#define KEYS(X)                                                                                    \
    X("backend", backend, KIND_BACKEND, 0, 0, "auto")                                              \
    X("bench.budget_s", bench_budget_s, KIND_REAL, 0.01, 3600, "3")                                \
    X("bench.max_samples", bench_max_samples, KIND_UNSIGNED, 1, 100000, "300")                     \
    X("bench.min_samples", bench_min_samples, KIND_UNSIGNED, 1, 100000, "50")                      \
    X("bench.rounds", bench_rounds, KIND_UNSIGNED, 1, 1000, "5")                                   \
    X("bench.se_target", bench_se_target, KIND_REAL, 1e-6, 1, "0.0025")                            \
    X("build_dir", build_dir, KIND_PATH, 0, 0, "")                                                 \
    X("cache_dir", cache_dir, KIND_PATH, 0, 0, "")                                                 \
    X("cache_max_mib", cache_max_mib, KIND_U64, 1, 1e9, "2048")                                    \
    X("cases_dir", cases_dir, KIND_PATH, 0, 0, "")                                                 \
    X("cudart", cudart, KIND_PATH, 0, 0, "")                                                       \
    X("deny_includes", deny_includes, KIND_LIST, 0, 0, "cub,thrust")                               \
    X("device", device, KIND_UNSIGNED, 0, 1023, "0")                                               \
    X("gate.threshold", gate_threshold, KIND_REAL, 0, 1, "0.01")                                   \
    X("host_memory_mib", host_memory_mib, KIND_U64, 64, 1e9, "8192")                               \
    X("jobs", jobs, KIND_UNSIGNED, 0, 1024, "0")                                                   \
    X("nvcc", nvcc, KIND_PATH, 0, 0, "")                                                           \
    X("python", python, KIND_PATH, 0, 0, "")                                                       \
    X("runner", runner, KIND_PATH, 0, 0, "")                                                       \
    X("time_scale", time_scale, KIND_REAL, 0.01, 1000, "1")                                        \
    X("vgpu_lib", vgpu, KIND_PATH, 0, 0, "")

#define X(key, member, kind, lo, hi, text) key,
static const char *const key_names[] = {KEYS(X)};
#undef X
#define KEY_COUNT (sizeof key_names / sizeof key_names[0])

static const struct key {
    const char *name;
    size_t at; /* of the member */
    enum kind kind;
    double lo, hi;
    const char *text; /* default */
} keys[KEY_COUNT] = {
#define X(key, member, kind, lo, hi, text)                                                         \
    {key, offsetof(struct config, member), kind, lo, hi, text},
    KEYS(X)
#undef X
};

static const char *const backends[] = {"auto", "gpu", "vgpu", "standin"};
#define BACKEND_COUNT (sizeof backends / sizeof backends[0])

/* WARPJUDGE_ variables that are no settings; others are refused, so that a typing mistake shows. */
static const char *const other_variables[] = {
    "WARPJUDGE_ROOT",        /* the tree */
    "WARPJUDGE_REQUIRE_GPU", /* a skip is a failure: cmd_run.c */
    "WARPJUDGE_UPDATE",      /* tests: record expectations again */
    "WARPJUDGE_VGPU",        /* options of the virtual GPU in a process without the judge */
    "WARPJUDGE_OFFLINE",     /* the launcher: fetch nothing, install nothing */
};

const char *const *config_key_names(unsigned *count)
{
    *count = KEY_COUNT;
    return key_names;
}

static void *member(struct config *c, const struct key *k) { return (char *)c + k->at; }

static const struct key *find_key(const char *name)
{
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (strcmp(keys[i].name, name) == 0)
            return &keys[i];
    return NULL;
}

static enum status no_memory(struct diag *d) { return diag_set(d, STATUS_NOMEM, "out of memory"); }

/* `base`: folder that relative paths count from; NULL = the working directory. */
static const char *absolute(struct arena *a, const char *path, const char *base)
{
    char *here = NULL;
    const char *full;

    if (!*path || *path == '/')
        return arena_strdup(a, path);
    if (!base) {
        here = getcwd(NULL, 0);
        base = here ? here : "/";
    }
    full = arena_printf(a, "%s/%s", base, path);
    free(here);
    return full;
}

/* --- values from text --- */

struct target {
    struct config *c;
    struct arena *a;
    const struct key *key;
    const char *base;   /* folder of relative paths */
    const char *origin; /* for messages and for the origin */
    struct diag *d;
};

static enum status bad_value(const struct target *t, const char *value, const char *wanted)
{
    return diag_set(t->d, STATUS_USAGE, "%s: '%.100s' is no value of '%s'; expected %s", t->origin,
                    value, t->key->name, wanted);
}

static enum status set_number(const struct target *t, const char *value)
{
    char *end;
    double v;
    char wanted[96];
    void *out = member(t->c, t->key);
    const bool whole = t->key->kind != KIND_REAL;

    errno = 0;
    v = strtod(value, &end);
    (void)snprintf(wanted, sizeof wanted, "%s from %g to %g", whole ? "an integer" : "a number",
                   t->key->lo, t->key->hi);
    if (end == value || *end || errno || !(v >= t->key->lo && v <= t->key->hi) ||
        (whole && (v < floor(v) || v > floor(v))))
        return bad_value(t, value, wanted);
    if (t->key->kind == KIND_UNSIGNED)
        *(unsigned *)out = (unsigned)v;
    else if (t->key->kind == KIND_U64)
        *(uint64_t *)out = (uint64_t)v;
    else
        *(double *)out = v;
    return STATUS_OK;
}

static enum status set_list(const struct target *t, const char *value)
{
    const char **list = arena_array(t->a, MAX_LIST + 1, sizeof *list);
    unsigned n = 0;

    if (!list)
        return no_memory(t->d);
    while (*value) {
        const size_t len = strcspn(value, ",");

        if (n == MAX_LIST)
            return bad_value(t, value, "at most 32 words");
        if (len) {
            list[n] = arena_strndup(t->a, value, len);
            if (!list[n++])
                return no_memory(t->d);
        }
        value += len + (value[len] == ',');
    }
    *(const char *const **)member(t->c, t->key) = list;
    return STATUS_OK;
}

static enum status set_backend(const struct target *t, const char *value)
{
    for (size_t i = 0; i < BACKEND_COUNT; i++)
        if (strcmp(value, backends[i]) == 0) {
            t->c->backend = backends[i];
            return STATUS_OK;
        }
    return bad_value(t, value, "auto, gpu or vgpu");
}

static enum status set_path(const struct target *t, const char *value)
{
    const char *full = absolute(t->a, value, t->base);

    if (!full)
        return no_memory(t->d);
    *(const char **)member(t->c, t->key) = full;
    return STATUS_OK;
}

static enum status set_value(const struct target *t, const char *value)
{
    switch (t->key->kind) {
    case KIND_PATH:
        TRY(set_path(t, value));
        break;
    case KIND_BACKEND:
        TRY(set_backend(t, value));
        break;
    case KIND_UNSIGNED:
    case KIND_U64:
    case KIND_REAL:
        TRY(set_number(t, value));
        break;
    case KIND_LIST:
        TRY(set_list(t, value));
        break;
    }
    {
        const char *origin = arena_strdup(t->a, t->origin);
        const char **origins = (const char **)(uintptr_t)t->c->origins; /* made in config_load */

        if (!origin)
            return no_memory(t->d);
        origins[t->key - keys] = origin;
    }
    return STATUS_OK;
}

static bool is_default(const struct config *c, const char *name)
{
    return strcmp(c->origins[find_key(name) - keys], "default") == 0;
}

/* Folder of the running program, or "" where /proc is not mounted. */
static const char *program_dir(struct arena *a)
{
    char path[4096];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    char *slash;

    if (n <= 0)
        return "";
    path[n] = '\0';
    slash = strrchr(path, '/');
    if (slash)
        *slash = '\0';
    return arena_strdup(a, path);
}

/* Defaults that depend on other settings or on where the program lies. */
static enum status settle(struct config *c, struct arena *a, struct diag *d)
{
    const char *dir = program_dir(a);

    if (!dir)
        return no_memory(d);
    if (is_default(c, "build_dir"))
        c->build_dir = arena_printf(a, "%s/build", c->root);
    if (c->build_dir && is_default(c, "cases_dir"))
        c->cases_dir = arena_printf(a, "%s/cases", c->build_dir);
    if (c->build_dir && is_default(c, "cache_dir"))
        c->cache_dir = arena_printf(a, "%s/so", c->build_dir);
    if (is_default(c, "runner"))
        c->runner = arena_printf(a, "%s/judge-runner", dir);
    if (is_default(c, "vgpu_lib"))
        c->vgpu = arena_printf(a, "%s/vgpu/libcudart.so.13", dir);
    if (!c->build_dir || !c->cases_dir || !c->cache_dir || !c->runner || !c->vgpu)
        return no_memory(d);
    return STATUS_OK;
}

enum status config_set(struct config *c, struct arena *a, const char *key, const char *value,
                       const char *origin, struct diag *d)
{
    const struct target t = {.c = c, .a = a, .key = find_key(key), .origin = origin, .d = d};
    const char *near;

    if (!t.key) {
        near = diag_nearest(key, key_names, KEY_COUNT);
        return diag_set(d, STATUS_USAGE, "%s: unknown setting '%.64s'%s%s%s", origin, key,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    TRY(set_value(&t, value));
    return settle(c, a, d);
}

/* --- files --- */

/* A JSON value as the text that an option would have. */
static enum status json_text(const char **out, struct arena *a, const struct key *k,
                             const struct jsonref *v, struct diag *d)
{
    double number;

    if (k->kind == KIND_LIST) {
        const char *list = "";

        TRY(jsonread_array(v, 0, MAX_LIST, d));
        for (unsigned i = 0; i < jsonread_length(v); i++) {
            const struct jsonref item = jsonread_item(v, i);
            const char *word;

            TRY(jsonread_text(&word, a, &item, 200, d));
            list = arena_printf(a, "%s%s%s", list, i ? "," : "", word);
            if (!list)
                return no_memory(d);
        }
        *out = list;
        return STATUS_OK;
    }
    if (k->kind == KIND_PATH || k->kind == KIND_BACKEND)
        return jsonread_text(out, a, v, 4000, d);
    TRY(jsonread_number(&number, v, k->lo, k->hi, d));
    *out = arena_printf(a, "%.17g", number);
    return *out ? STATUS_OK : no_memory(d);
}

static enum status read_group(struct config *c, struct arena *a, const struct jsonref *object,
                              const char *prefix, const char *base, struct diag *d)
{
    struct jsonref m = {0};

    while (jsonread_next(&m, object)) {
        const char *name = arena_printf(a, "%s%s", prefix, m.key);
        struct target t = {.c = c, .a = a, .base = base, .d = d};
        unsigned line, col;
        const char *value, *near;

        if (!name)
            return no_memory(d);
        if (!*prefix && (strcmp(name, "bench") == 0 || strcmp(name, "gate") == 0)) {
            const char *inner = arena_printf(a, "%s.", name);

            if (!inner)
                return no_memory(d);
            if (jsonread_length(&m) == 0)
                return jsonread_fail(&m, STATUS_BAD_DATA, d, "expected an object with settings");
            TRY(read_group(c, a, &m, inner, base, d));
            continue;
        }
        t.key = find_key(name);
        near = t.key ? NULL : diag_nearest(name, key_names, KEY_COUNT);
        if (!t.key)
            return jsonread_fail_key(&m, STATUS_BAD_DATA, d, "unknown setting '%.64s'%s%s%s", name,
                                     near ? "; did you mean '" : "", near ? near : "",
                                     near ? "'?" : "");
        TRY(json_text(&value, a, t.key, &m, d));
        jsonread_position(&m, &line, &col);
        t.origin = arena_printf(a, "%s:%u", m.doc->file, line);
        if (!t.origin)
            return no_memory(d);
        if (set_value(&t, value) != STATUS_OK)
            return d->status == STATUS_NOMEM
                       ? STATUS_NOMEM
                       : jsonread_fail(&m, STATUS_BAD_DATA, d, "'%.100s' is no value of '%s'",
                                       value, name);
    }
    return STATUS_OK;
}

static enum status read_file(struct config *c, struct arena *a, const char *dir, const char *name,
                             struct diag *d)
{
    const char *path = arena_printf(a, "%s/%s", dir, name);
    struct jsondoc doc = JSONDOC_EMPTY;
    struct jsonref root;
    enum status st = STATUS_OK;

    if (!path)
        return no_memory(d);
    if (!file_exists(path))
        return STATUS_OK;
    TRY_OR(done, jsonread_open(&doc, a, path, CONFIG_MAX_BYTES, d));
    root = jsonread_root(&doc);
    if (jsonread_length(&root) > 0) {
        struct jsonref m = {0};

        if (!jsonread_next(&m, &root))
            st = jsonread_object(&root, NULL, 0, d); /* an array: says so */
        else
            st = read_group(c, a, &root, "", dir, d);
    }
done:
    jsonread_close(&doc);
    return st;
}

/* --- environment --- */

/* "bench.budget_s" -> "WARPJUDGE_BENCH_BUDGET_S" */
static void variable_name(char out[64], const char *key)
{
    size_t n = (size_t)snprintf(out, 64, "WARPJUDGE_");

    for (; *key && n < 63; key++)
        out[n++] = (char)(*key == '.' ? '_' : *key >= 'a' && *key <= 'z' ? *key - 'a' + 'A' : *key);
    out[n] = '\0';
}

static enum status unknown_variable(const char *name, struct diag *d)
{
    const size_t others = sizeof other_variables / sizeof other_variables[0];
    char names[KEY_COUNT][64];
    const char *list[KEY_COUNT + sizeof other_variables / sizeof other_variables[0]];
    const char *near;

    for (size_t i = 0; i < KEY_COUNT; i++) {
        variable_name(names[i], key_names[i]);
        list[i] = names[i];
    }
    for (size_t i = 0; i < others; i++)
        list[KEY_COUNT + i] = other_variables[i];
    near = diag_nearest(name, list, KEY_COUNT + others);
    return diag_set(d, STATUS_USAGE, "unknown environment variable %.64s%s%s%s", name,
                    near ? "; did you mean " : "", near ? near : "", near ? "?" : "");
}

static bool is_other_variable(const char *name)
{
    for (size_t i = 0; i < sizeof other_variables / sizeof other_variables[0]; i++)
        if (strcmp(name, other_variables[i]) == 0)
            return true;
    return strncmp(name, "WARPJUDGE_TEST_", 15) == 0; /* of the test suite */
}

static enum status read_environment(struct config *c, struct arena *a, struct diag *d)
{
    for (char **e = environ; *e; e++) {
        const size_t len = strcspn(*e, "=");
        char name[128], variable[64];
        const struct key *k = NULL;

        if (strncmp(*e, "WARPJUDGE_", 10) != 0)
            continue;
        (void)snprintf(name, sizeof name, "%.*s", (int)len, *e);
        for (size_t i = 0; i < KEY_COUNT && !k; i++) {
            variable_name(variable, key_names[i]);
            if (strcmp(variable, name) == 0)
                k = &keys[i];
        }
        if (!k && !is_other_variable(name))
            return unknown_variable(name, d);
        if (k)
            TRY(config_set(c, a, k->name, *e + len + 1, name, d));
    }
    return STATUS_OK;
}

/* $XDG_CONFIG_HOME/warpjudge, else $HOME/.config/warpjudge, else NULL. A missing or unreadable home
 * is no trouble. */
static const char *user_dir(struct arena *a)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (xdg && *xdg == '/')
        return arena_printf(a, "%s/warpjudge", xdg);
    return home && *home == '/' ? arena_printf(a, "%s/.config/warpjudge", home) : NULL;
}

static enum status find_root(const char **out, struct arena *a, struct diag *d)
{
    const char *given = getenv("WARPJUDGE_ROOT");
    char *dir;

    if (given && *given) {
        *out = absolute(a, given, NULL);
        return *out ? STATUS_OK : no_memory(d);
    }
    dir = arena_strdup(a, program_dir(a));
    while (dir && *dir) {
        const char *problems = arena_printf(a, "%s/problems/problem.schema.json", dir);

        if (problems && file_exists(problems)) {
            *out = dir;
            return STATUS_OK;
        }
        *strrchr(dir, '/') = '\0';
    }
    return diag_set(d, STATUS_USAGE,
                    "no folder above the program holds problems/; set WARPJUDGE_ROOT to the tree");
}

enum status config_load(struct config *out, struct arena *a, const char *root, struct diag *d)
{
    struct config c = {0};
    const char **origins = arena_array(a, KEY_COUNT, sizeof *origins);
    const char *user;

    if (!origins)
        return no_memory(d);
    c.origins = origins;
    if (root) {
        c.root = absolute(a, root, NULL);
        if (!c.root)
            return no_memory(d);
    } else
        TRY(find_root(&c.root, a, d));
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const struct target t = {.c = &c, .a = a, .key = &keys[i], .origin = "default", .d = d};

        TRY(set_value(&t, keys[i].text));
    }
    TRY(read_file(&c, a, c.root, "judge.json", d));
    user = user_dir(a);
    if (user)
        TRY(read_file(&c, a, user, "config.json", d));
    TRY(settle(&c, a, d));
    TRY(read_environment(&c, a, d));
    TRY(settle(&c, a, d));
    *out = c;
    return STATUS_OK;
}

const char *config_get_text(const struct config *c, struct arena *a, const char *key)
{
    const struct key *k = find_key(key);
    const void *at = k ? (const char *)c + k->at : NULL;
    const char *text = "";

    if (!k)
        return NULL;
    switch (k->kind) {
    case KIND_PATH:
    case KIND_BACKEND:
        return *(const char *const *)at;
    case KIND_UNSIGNED:
        return arena_printf(a, "%u", *(const unsigned *)at);
    case KIND_U64:
        return arena_printf(a, "%llu", (unsigned long long)*(const uint64_t *)at);
    case KIND_REAL:
        return arena_printf(a, "%g", *(const double *)at);
    case KIND_LIST:
        for (const char *const *w = *(const char *const *const *)at; text && *w; w++)
            text = arena_printf(a, "%s%s%s", text, *text ? "," : "", *w);
        return text;
    }
    UNREACHABLE();
}

/*
 * store.c - reader of the results document; the stored results and their history.
 * Writes through report_json.c only. Invariant: whatever a results file holds, reading ends with a
 * complete struct results or a diagnostic with its position.
 */
#include "store.h"

#include "fileio.h"
#include "jsonread.h"
#include "report_json.h"
#include "xalloc.h"
#include <errno.h>
#include <fcntl.h>
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define MAX_RESULTS 100000u
#define MAX_CASES   10000u
#define COUNT_OF(x) (sizeof(x) / sizeof((x)[0]))

struct reader {
    struct arena *a;
    struct diag *d;
    /* problems made up so far, so that results of one problem share it */
    struct problem *problems[64];
    unsigned problem_count;
    struct problem *current; /* whose result is being read */
};

static enum status no_memory(struct diag *d)
{
    return diag_set(d, STATUS_NOMEM, "out of memory while reading results");
}

/* ---- typed members ---- */

static enum status get_text(const char **out, struct reader *r, const struct jsonref *o,
                            const char *key)
{
    struct jsonref m;

    TRY(jsonread_member(&m, o, key, r->d));
    return jsonread_text(out, r->a, &m, REPORT_JSON_TEXT_MAX, r->d);
}

/* A number, or a string such as "nan:7ff8000000000000". */
static enum status read_number(double *out, struct reader *r, const struct jsonref *v)
{
    const char *text;
    uint64_t bits;
    char *end;

    if (!jsonread_is_text(v))
        return jsonread_number(out, v, -DBL_MAX, DBL_MAX, r->d);
    TRY(jsonread_text(&text, r->a, v, 40, r->d));
    text = strchr(text, ':');
    if (text == NULL || strlen(text) != 17)
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "expected a number or its bits");
    bits = strtoull(text + 1, &end, 16);
    if (*end != '\0')
        return jsonread_fail(v, STATUS_BAD_DATA, r->d, "expected 16 hex digits of a double");
    memcpy(out, &bits, sizeof bits);
    return STATUS_OK;
}

static enum status get_number(double *out, struct reader *r, const struct jsonref *o,
                              const char *key)
{
    struct jsonref m;

    TRY(jsonread_member(&m, o, key, r->d));
    return read_number(out, r, &m);
}

static enum status get_count(uint64_t *out, struct reader *r, const struct jsonref *o,
                             const char *key)
{
    struct jsonref m;

    TRY(jsonread_member(&m, o, key, r->d));
    TRY(jsonread_u64(out, &m, 0, INT64_MAX, r->d));
    if (*out == INT64_MAX)
        *out = UINT64_MAX; /* see count() in report_json.c */
    return STATUS_OK;
}

static enum status get_unsigned(unsigned *out, struct reader *r, const struct jsonref *o,
                                const char *key)
{
    struct jsonref m;
    uint64_t value;

    TRY(jsonread_member(&m, o, key, r->d));
    TRY(jsonread_u64(&value, &m, 0, UINT32_MAX, r->d));
    *out = (unsigned)value;
    return STATUS_OK;
}

static enum status get_bool(bool *out, struct reader *r, const struct jsonref *o, const char *key)
{
    struct jsonref m;

    TRY(jsonread_member(&m, o, key, r->d));
    return jsonread_bool(out, &m, r->d);
}

static enum status get_verdict(enum verdict *out, struct reader *r, const struct jsonref *o,
                               const char *key)
{
    struct jsonref m;
    const char *word;

    TRY(jsonread_member(&m, o, key, r->d));
    TRY(jsonread_text(&word, r->a, &m, 8, r->d));
    if (!verdict_parse(out, word, strlen(word)))
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "'%s' is no verdict", word);
    return STATUS_OK;
}

/* A list of lines as one text. */
static enum status get_lines(const char **out, struct reader *r, const struct jsonref *o,
                             const char *key)
{
    struct textbuf all = TEXTBUF_EMPTY;
    enum status st = STATUS_OK;
    struct jsonref m;

    *out = "";
    TRY(jsonread_member(&m, o, key, r->d));
    TRY(jsonread_array(&m, 0, REPORT_JSON_LINES_MAX, r->d));
    for (size_t i = 0; i < jsonread_length(&m); i++) {
        const struct jsonref item = jsonread_item(&m, i);
        const char *line;

        TRY_OR(out, jsonread_text(&line, r->a, &item, REPORT_JSON_LINE_MAX, r->d));
        if (i > 0)
            textbuf_puts(&all, "\n");
        textbuf_puts(&all, line);
    }
    if (all.len > 0)
        *out = arena_strndup(r->a, all.text, all.len);
    if (all.failed || *out == NULL)
        st = no_memory(r->d);
out:
    textbuf_fini(&all);
    return st;
}

static enum status get_samples(const double **out, unsigned *n, struct reader *r,
                               const struct jsonref *o, const char *key)
{
    struct jsonref m;
    double *values;

    TRY(jsonread_member(&m, o, key, r->d));
    TRY(jsonread_array(&m, 0, 100000, r->d));
    *n = jsonread_length(&m);
    values = arena_array(r->a, *n + 1, sizeof *values);
    if (values == NULL)
        return no_memory(r->d);
    for (size_t i = 0; i < *n; i++) {
        const struct jsonref item = jsonread_item(&m, i);

        TRY(jsonread_number(&values[i], &item, 0.0, 1e15, r->d));
    }
    *out = values;
    return STATUS_OK;
}

static enum status get_words(const char *const **out, struct reader *r, const struct jsonref *o,
                             const char *key, unsigned max)
{
    struct jsonref m;
    const char **words;

    TRY(jsonread_member(&m, o, key, r->d));
    TRY(jsonread_array(&m, 0, max, r->d));
    words = arena_array(r->a, jsonread_length(&m) + 1, sizeof *words);
    if (words == NULL)
        return no_memory(r->d);
    for (size_t i = 0; i < jsonread_length(&m); i++) {
        const struct jsonref item = jsonread_item(&m, i);

        TRY(jsonread_text(&words[i], r->a, &item, REPORT_JSON_TEXT_MAX, r->d));
    }
    *out = words;
    return STATUS_OK;
}

/* ---- parts ---- */

static void copy_text(char *out, size_t size, const char *text)
{
    const size_t n = strnlen(text, size - 1);

    memcpy(out, text, n);
    out[n] = '\0';
}

static enum status read_context(struct run_context *c, struct reader *r, const struct jsonref *root)
{
    static const char *const known[] = {"judge",        "commit", "backend", "device",   "arch",
                                        "driver",       "cuda",   "nvcc",    "sm_count", "l2_bytes",
                                        "memory_bytes", "clocks", "flush",   "e0_us",    "read_gbs",
                                        "copy_gbs",     "seed",   "start",   "jobs"};
    const char *device, *arch, *driver, *seed;
    struct jsonref o;
    char *end;

    TRY(jsonread_member(&o, root, "context", r->d));
    TRY(jsonread_object(&o, known, COUNT_OF(known), r->d));
    TRY(get_text(&c->judge_version, r, &o, "judge"));
    TRY(get_text(&c->commit, r, &o, "commit"));
    TRY(get_text(&c->backend, r, &o, "backend"));
    TRY(get_text(&device, r, &o, "device"));
    TRY(get_text(&arch, r, &o, "arch"));
    TRY(get_text(&driver, r, &o, "driver"));
    TRY(get_text(&c->cuda, r, &o, "cuda"));
    TRY(get_text(&c->nvcc, r, &o, "nvcc"));
    TRY(get_unsigned(&c->device.sm_count, r, &o, "sm_count"));
    TRY(get_unsigned(&c->device.l2_bytes, r, &o, "l2_bytes"));
    TRY(get_count(&c->device.memory_bytes, r, &o, "memory_bytes"));
    TRY(get_text(&c->clocks, r, &o, "clocks"));
    TRY(get_text(&c->flush, r, &o, "flush"));
    TRY(get_number(&c->device.e0_us, r, &o, "e0_us"));
    TRY(get_number(&c->device.read_tbs, r, &o, "read_gbs"));
    TRY(get_number(&c->device.copy_tbs, r, &o, "copy_gbs"));
    c->device.read_tbs /= 1e3;
    c->device.copy_tbs /= 1e3;
    TRY(get_text(&seed, r, &o, "seed"));
    TRY(get_text(&c->start, r, &o, "start"));
    TRY(get_unsigned(&c->jobs, r, &o, "jobs"));
    copy_text(c->device.name, sizeof c->device.name, device);
    copy_text(c->device.arch, sizeof c->device.arch, arch);
    copy_text(c->device.driver, sizeof c->device.driver, driver);
    c->device.is_virtual = strcmp(c->backend, "vgpu") == 0;
    c->seed = strtoull(seed, &end, 16);
    if (*end != '\0')
        return jsonread_fail(&o, STATUS_BAD_DATA, r->d, "seed '%s' is no hex number", seed);
    return STATUS_OK;
}

static enum status read_kernels(struct object *out, struct reader *r, const struct jsonref *o)
{
    static const char *const known[] = {"name", "registers", "spill_bytes", "stack", "shared"};
    struct kernel_info *list;
    struct jsonref m;

    TRY(jsonread_member(&m, o, "kernels", r->d));
    TRY(jsonread_array(&m, 0, 10000, r->d));
    out->kernel_count = jsonread_length(&m);
    list = arena_array(r->a, out->kernel_count + 1, sizeof *list);
    if (list == NULL)
        return no_memory(r->d);
    for (size_t i = 0; i < out->kernel_count; i++) {
        const struct jsonref item = jsonread_item(&m, i);

        TRY(jsonread_object(&item, known, COUNT_OF(known), r->d));
        TRY(get_text(&list[i].name, r, &item, "name"));
        TRY(get_unsigned(&list[i].registers, r, &item, "registers"));
        TRY(get_unsigned(&list[i].spill_store_bytes, r, &item, "spill_bytes"));
        TRY(get_unsigned(&list[i].stack_bytes, r, &item, "stack"));
        TRY(get_unsigned(&list[i].shared_bytes, r, &item, "shared"));
    }
    out->kernels = list;
    return STATUS_OK;
}

static enum status read_mismatch(struct case_result *c, struct reader *r, const struct jsonref *o)
{
    static const char *const known[] = {"param", "first", "last",    "count",   "unwritten",
                                        "got",   "want",  "max_abs", "max_rel", "ulp"};
    struct mismatch *m = &c->mismatch;

    TRY(jsonread_object(o, known, COUNT_OF(known), r->d));
    TRY(get_text(&c->param, r, o, "param"));
    TRY(get_count(&m->first, r, o, "first"));
    TRY(get_count(&m->last, r, o, "last"));
    TRY(get_count(&m->count, r, o, "count"));
    TRY(get_count(&m->unwritten, r, o, "unwritten"));
    TRY(get_number(&m->got, r, o, "got"));
    TRY(get_number(&m->want, r, o, "want"));
    TRY(get_number(&m->max_abs, r, o, "max_abs"));
    TRY(get_number(&m->max_rel, r, o, "max_rel"));
    return get_count(&m->max_ulp, r, o, "ulp");
}

static enum status read_exponents(struct case_result *c, struct reader *r, const struct jsonref *o)
{
    struct jsonref m;

    TRY(jsonread_member(&m, o, "exponents", r->d));
    TRY(jsonread_array(&m, 0, RESULTS_CALLS, r->d));
    for (size_t k = 0; k < jsonread_length(&m); k++) {
        const struct jsonref call = jsonread_item(&m, k);

        TRY(jsonread_array(&call, 0, PROBLEM_MAX_GROUPS, r->d));
        if (jsonread_length(&call) > r->current->group_count)
            r->current->group_count = jsonread_length(&call);
        for (size_t g = 0; g < jsonread_length(&call); g++) {
            const struct jsonref e = jsonread_item(&call, g);

            TRY(jsonread_int(&c->exponents[k][g], &e, -4096, 4096, r->d));
        }
    }
    return STATUS_OK;
}

static enum status read_counts(struct case_result *c, struct reader *r, const struct jsonref *o)
{
    struct jsonref m, item = {.value = NULL};
    struct counter *list;
    unsigned n = 0;

    TRY(jsonread_member(&m, o, "counts", r->d));
    list = arena_array(r->a, jsonread_length(&m) + 1, sizeof *list);
    if (list == NULL)
        return no_memory(r->d);
    while (jsonread_next(&item, &m)) {
        TRY(jsonread_u64(&list[n].value, &item, 0, INT64_MAX, r->d));
        list[n].name = arena_strdup(r->a, item.key);
        if (list[n++].name == NULL)
            return no_memory(r->d);
    }
    c->counts = list;
    c->count_count = n;
    return STATUS_OK;
}

static enum status read_bench(struct case_result *c, struct reader *r, const struct jsonref *o)
{
    static const char *const known[] = {"cold_us", "hot_us",        "median_us", "noise",
                                        "se",      "hot_median_us", "graph_us",  "floor_us",
                                        "flags",   "clock_mhz",     "ranked",    "unranked_reason"};
    struct timing *t = arena_alloc(r->a, sizeof *t);
    const char *flags;

    if (t == NULL)
        return no_memory(r->d);
    TRY(jsonread_object(o, known, COUNT_OF(known), r->d));
    TRY(get_samples(&t->cold_us, &t->cold_n, r, o, "cold_us"));
    TRY(get_samples(&t->hot_us, &t->hot_n, r, o, "hot_us"));
    TRY(get_number(&t->cold.median, r, o, "median_us"));
    TRY(get_number(&t->cold.noise, r, o, "noise"));
    TRY(get_number(&t->cold.se, r, o, "se"));
    TRY(get_number(&t->hot.median, r, o, "hot_median_us"));
    TRY(get_number(&t->graph_us, r, o, "graph_us"));
    TRY(get_number(&t->floor_us, r, o, "floor_us"));
    TRY(get_text(&flags, r, o, "flags"));
    TRY(get_number(&t->clock_mhz, r, o, "clock_mhz"));
    TRY(get_bool(&t->ranked, r, o, "ranked"));
    TRY(get_text(&t->unranked_reason, r, o, "unranked_reason"));
    copy_text(t->flags, sizeof t->flags, flags);
    t->cold.n = t->cold_n;
    t->hot.n = t->hot_n;
    c->timing = t;
    return STATUS_OK;
}

static enum status read_case(struct case_result *c, struct reader *r, const struct jsonref *o)
{
    static const char *const known[] = {
        "case",     "tags",        "bytes",           "flops",    "verdict",  "reason",
        "call",     "advisory",    "skipped_by_case", "detail",   "mismatch", "hints",
        "margin",   "exponents",   "calls",           "wall_ms",  "total_ms", "scratch_bytes",
        "launches", "allocations", "counts",          "warnings", "bench"};
    struct casedef *def = arena_alloc(r->a, sizeof *def);
    const char *const *hints;
    const char *call;
    struct jsonref m;

    if (def == NULL)
        return no_memory(r->d);
    TRY(jsonread_object(o, known, COUNT_OF(known), r->d));
    TRY(get_text(&def->name, r, o, "case"));
    TRY(get_words(&def->tags, r, o, "tags", 16));
    results_init_case(c, def);
    TRY(get_number(&def->traffic_read, r, o, "bytes")); /* read and written are not told apart */
    TRY(get_number(&def->flops, r, o, "flops"));
    TRY(get_verdict(&c->verdict, r, o, "verdict"));
    TRY(get_text(&c->reason, r, o, "reason"));
    TRY(get_text(&call, r, o, "call"));
    c->call = call[0] != '\0' ? call[0] : 'A';
    TRY(get_bool(&c->advisory, r, o, "advisory"));
    def->advisory = c->advisory;
    TRY(get_bool(&c->skipped_by_case, r, o, "skipped_by_case"));
    def->needs_gpu = c->skipped_by_case;
    TRY(get_lines(&c->detail, r, o, "detail"));
    if (jsonread_optional(&m, o, "mismatch"))
        TRY(read_mismatch(c, r, &m));
    TRY(get_words(&hints, r, o, "hints", HINTS_MAX));
    for (unsigned i = 0; i < HINTS_MAX && hints[i] != NULL; i++)
        c->hints[i] = hints[i];
    TRY(get_number(&c->margin, r, o, "margin"));
    TRY(read_exponents(c, r, o));
    TRY(get_unsigned(&c->calls, r, o, "calls"));
    TRY(get_number(&c->wall_ms, r, o, "wall_ms"));
    TRY(get_number(&c->total_ms, r, o, "total_ms"));
    TRY(get_count(&c->scratch_bytes, r, o, "scratch_bytes"));
    TRY(get_count(&c->launches, r, o, "launches"));
    TRY(get_count(&c->allocs, r, o, "allocations"));
    TRY(read_counts(c, r, o));
    TRY(get_lines(&c->warnings, r, o, "warnings"));
    if (jsonread_optional(&m, o, "bench"))
        TRY(read_bench(c, r, &m));
    return STATUS_OK;
}

static struct problem *problem_of(struct reader *r, const char *name, unsigned perf_version)
{
    struct problem *p;

    for (unsigned i = 0; i < r->problem_count; i++)
        if (strcmp(r->problems[i]->name, name) == 0 && r->problems[i]->perf_version == perf_version)
            return r->problems[i];
    p = arena_alloc(r->a, sizeof *p);
    if (p == NULL)
        return NULL;
    p->name = p->title = name;
    p->dir = p->prototype = "";
    p->perf_version = perf_version;
    if (r->problem_count < COUNT_OF(r->problems))
        r->problems[r->problem_count++] = p;
    return p;
}

static enum status read_solution(struct solution_result *out, struct reader *r,
                                 const struct jsonref *o)
{
    static const char *const known[] = {
        "problem", "perf_version",   "solution",  "kind",         "idea",        "source_hash",
        "tune",    "expect",         "verdict",   "site_verdict", "as_expected", "device_unhealthy",
        "reason",  "judge_s",        "compile_s", "kernels",      "compile_log", "stdout",
        "stderr",  "output_dropped", "cases"};
    static const char *const kinds[] = {"accept", "baseline", "reject", "foreign"};
    struct solution *s = arena_alloc(r->a, sizeof *s);
    const char *name, *expect, *bad;
    struct problem *p;
    struct jsonref m;
    unsigned version, kind;
    bool as_expected;
    enum verdict verdict, site;

    if (s == NULL)
        return no_memory(r->d);
    TRY(jsonread_object(o, known, COUNT_OF(known), r->d));
    TRY(get_text(&name, r, o, "problem"));
    TRY(get_unsigned(&version, r, o, "perf_version"));
    p = problem_of(r, name, version);
    if (p == NULL)
        return no_memory(r->d);
    r->current = p;
    *s = (struct solution){.problem = name, .path = "", .source = "", .arch = ""};
    TRY(get_text(&s->name, r, o, "solution"));
    TRY(jsonread_member(&m, o, "kind", r->d));
    TRY(jsonread_choice(&kind, &m, kinds, COUNT_OF(kinds), r->d));
    s->kind = (enum solution_kind)kind;
    TRY(get_text(&s->idea, r, o, "idea"));
    TRY(jsonread_member(&m, o, "expect", r->d));
    TRY(jsonread_text(&expect, r->a, &m, 128, r->d));
    if (!expectation_parse(&s->expect, expect, &bad))
        return jsonread_fail(&m, STATUS_BAD_DATA, r->d, "'%s' is no expectation", expect);
    results_init_solution(out, p, s);
    TRY(get_text(&out->source_hash, r, o, "source_hash"));
    TRY(get_text(&out->tune, r, o, "tune"));
    TRY(get_verdict(&verdict, r, o, "verdict"));
    TRY(get_verdict(&site, r, o, "site_verdict"));
    TRY(get_bool(&as_expected, r, o, "as_expected"));
    TRY(get_bool(&out->device_unhealthy, r, o, "device_unhealthy"));
    TRY(get_text(&out->reason, r, o, "reason"));
    TRY(get_number(&out->judge_s, r, o, "judge_s"));
    TRY(get_number(&out->object.compile_s, r, o, "compile_s"));
    TRY(read_kernels(&out->object, r, o));
    TRY(get_lines(&out->object.log, r, o, "compile_log"));
    TRY(get_lines(&out->stdout_text, r, o, "stdout"));
    TRY(get_lines(&out->stderr_text, r, o, "stderr"));
    TRY(get_count(&out->output_dropped, r, o, "output_dropped"));
    TRY(jsonread_member(&m, o, "cases", r->d));
    TRY(jsonread_array(&m, 0, MAX_CASES, r->d));
    out->case_count = jsonread_length(&m);
    out->cases = arena_array(r->a, out->case_count + 1, sizeof *out->cases);
    if (out->cases == NULL)
        return no_memory(r->d);
    for (size_t i = 0; i < out->case_count; i++) {
        const struct jsonref item = jsonread_item(&m, i);

        TRY(read_case(&out->cases[i], r, &item));
    }
    results_conclude(out, VERDICT_AC); /* counts and first failure; the words are as stored */
    out->verdict = verdict;
    out->site_verdict = site;
    out->as_expected = as_expected;
    out->object.ok = verdict != VERDICT_CE;
    return STATUS_OK;
}

static enum status read_document(struct results *out, struct reader *r, const struct jsondoc *doc)
{
    static const char *const known[] = {"format", "context", "results"};
    const struct jsonref root = jsonread_root(doc);
    struct jsonref m;
    int format;

    TRY(jsonread_object(&root, known, COUNT_OF(known), r->d));
    TRY(jsonread_member(&m, &root, "format", r->d));
    TRY(jsonread_int(&format, &m, RESULTS_FORMAT, RESULTS_FORMAT, r->d));
    TRY(read_context(&out->context, r, &root));
    TRY(jsonread_member(&m, &root, "results", r->d));
    TRY(jsonread_array(&m, 0, MAX_RESULTS, r->d));
    out->solution_count = jsonread_length(&m);
    out->solutions = arena_array(r->a, out->solution_count + 1, sizeof *out->solutions);
    if (out->solutions == NULL)
        return no_memory(r->d);
    for (size_t i = 0; i < out->solution_count; i++) {
        const struct jsonref item = jsonread_item(&m, i);

        TRY(read_solution(&out->solutions[i], r, &item));
    }
    return STATUS_OK;
}

enum status store_parse(struct results *out, struct arena *a, const char *text, size_t len,
                        const char *file, struct diag *d)
{
    struct reader r = {.a = a, .d = d};
    struct jsondoc doc = JSONDOC_EMPTY;
    struct results parsed = {0};
    enum status st;

    TRY(jsonread_parse(&doc, text, len, file, d));
    st = read_document(&parsed, &r, &doc);
    jsonread_close(&doc);
    if (st == STATUS_OK)
        *out = parsed;
    return st;
}

enum status store_read_file(struct results *out, struct arena *a, const char *path, struct diag *d)
{
    const char *name = arena_strdup(a, path);
    size_t len;
    char *text;

    if (name == NULL)
        return no_memory(d);
    TRY(file_read(&text, &len, a, path, STORE_MAX_BYTES, d));
    return store_parse(out, a, text, len, name, d);
}

/* ---- the folder ---- */

static const char *store_path(struct arena *a, const struct config *cfg, const char *name)
{
    return arena_printf(a, "%s/results/%s", cfg->build_dir, name);
}

static bool same_solution(const struct solution_result *x, const struct solution_result *y)
{
    return strcmp(x->problem->name, y->problem->name) == 0 &&
           strcmp(x->solution->name, y->solution->name) == 0 && strcmp(x->tune, y->tune) == 0;
}

static const struct case_result *find_case(const struct solution_result *r, const char *name)
{
    for (unsigned i = 0; i < r->case_count; i++)
        if (strcmp(r->cases[i].casedef->name, name) == 0)
            return &r->cases[i];
    return NULL;
}

/* Cases of the older result of the same source that the newer one did not touch. */
static enum status keep_older_cases(struct solution_result *newer,
                                    const struct solution_result *older, struct arena *a,
                                    struct diag *d)
{
    struct case_result *cases;
    unsigned n = newer->case_count;

    if (newer->source_hash[0] == '\0' || strcmp(newer->source_hash, older->source_hash) != 0 ||
        newer->problem->perf_version != older->problem->perf_version || newer->case_count == 0)
        return STATUS_OK;
    cases = arena_array(a, (size_t)newer->case_count + older->case_count, sizeof *cases);
    if (cases == NULL)
        return no_memory(d);
    memcpy(cases, newer->cases, n * sizeof *cases);
    for (unsigned i = 0; i < older->case_count; i++)
        if (find_case(newer, older->cases[i].casedef->name) == NULL)
            cases[n++] = older->cases[i];
    newer->cases = cases;
    newer->case_count = n;
    results_conclude(newer, newer->verdict == VERDICT_CE || newer->verdict == VERDICT_JE
                                ? newer->verdict
                                : VERDICT_AC);
    return STATUS_OK;
}

/* Ceilings are measured by bench only: a run takes over those of the last bench. */
static void keep_ceilings(struct run_context *c, const struct run_context *old)
{
    if (c->device.e0_us != 0.0)
        return;
    c->device.e0_us = old->device.e0_us;
    c->device.read_tbs = old->device.read_tbs;
    c->device.copy_tbs = old->device.copy_tbs;
    c->flush = old->flush;
    c->clocks = old->clocks;
}

static enum status merge(struct results *all, const struct results *r, struct arena *a,
                         struct diag *d)
{
    const struct results old = *all;
    unsigned n = 0;

    all->context = r->context;
    all->solutions =
        arena_array(a, (size_t)old.solution_count + r->solution_count + 1, sizeof *all->solutions);
    if (all->solutions == NULL)
        return no_memory(d);
    if (old.solution_count > 0 && strcmp(old.context.device.name, r->context.device.name) == 0) {
        keep_ceilings(&all->context, &old.context);
        for (unsigned i = 0; i < old.solution_count; i++)
            all->solutions[n++] = old.solutions[i];
    }
    for (unsigned i = 0; i < r->solution_count; i++) {
        struct solution_result newer = r->solutions[i];
        unsigned k = 0;

        while (k < n && !same_solution(&all->solutions[k], &newer))
            k++;
        if (k < n)
            TRY(keep_older_cases(&newer, &all->solutions[k], a, d));
        else
            n++;
        all->solutions[k] = newer;
    }
    all->solution_count = n;
    return STATUS_OK;
}

static void history_line(struct textbuf *b, const struct run_context *c,
                         const struct solution_result *r, const struct case_result *timed)
{
    textbuf_puts(b, "{\"start\": ");
    report_json_string(b, c->start);
    textbuf_puts(b, ", \"commit\": ");
    report_json_string(b, c->commit);
    textbuf_puts(b, ", \"backend\": ");
    report_json_string(b, c->backend);
    textbuf_puts(b, ", \"problem\": ");
    report_json_string(b, r->problem->name);
    textbuf_puts(b, ", \"solution\": ");
    report_json_string(b, r->solution->name);
    textbuf_puts(b, ", \"case\": ");
    report_json_string(b, timed == NULL ? "" : timed->casedef->name);
    textbuf_printf(b, ", \"verdict\": \"%s\", \"median_us\": ",
                   verdict_name(timed == NULL ? r->verdict : timed->verdict));
    report_json_number(b, timed == NULL ? 0.0 : timed->timing->cold.median);
    textbuf_puts(b, ", \"se\": ");
    report_json_number(b, timed == NULL ? 0.0 : timed->timing->cold.se);
    textbuf_puts(b, "}\n");
}

static enum status append_history(const char *path, const struct results *r, struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st = STATUS_OK;
    int fd = -1;

    for (unsigned i = 0; i < r->solution_count; i++) {
        const struct solution_result *s = &r->solutions[i];

        history_line(&b, &r->context, s, NULL);
        for (unsigned k = 0; k < s->case_count; k++)
            if (s->cases[k].timing != NULL)
                history_line(&b, &r->context, s, &s->cases[k]);
    }
    TRY_OR(out, textbuf_check(&b, d));
    fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    /* one write of whole lines: an interrupted run leaves none of them or all */
    if (fd < 0 || (b.len > 0 && write(fd, b.text, b.len) != (ssize_t)b.len))
        st = diag_set(d, STATUS_IO, "cannot append to '%s': %s", path, strerror(errno));
out:
    if (fd >= 0)
        (void)close(fd);
    textbuf_fini(&b);
    return st;
}

/* Merges the results of one problem into its file. */
static enum status put_problem(const char *dir, const struct results *r, const char *problem,
                               struct diag *d)
{
    struct arena a = {0};
    struct textbuf b = TEXTBUF_EMPTY;
    struct results all = {0}, part = {.context = r->context};
    struct diag ignored = {0};
    enum status st = STATUS_OK;
    const char *path = arena_printf(&a, "%s/%s.json", dir, problem);

    part.solutions = arena_array(&a, (size_t)r->solution_count + 1, sizeof *part.solutions);
    if (path == NULL || part.solutions == NULL) {
        st = no_memory(d);
        goto out;
    }
    for (unsigned i = 0; i < r->solution_count; i++)
        if (strcmp(r->solutions[i].problem->name, problem) == 0)
            part.solutions[part.solution_count++] = r->solutions[i];
    /* An unreadable old file (another format, a broken disk) is replaced, not mourned. */
    if (file_exists(path) && store_read_file(&all, &a, path, &ignored) != STATUS_OK)
        all = (struct results){0};
    TRY_OR(out, merge(&all, &part, &a, d));
    report_json(&b, &all);
    TRY_OR(out, textbuf_check(&b, d));
    TRY_OR(out, file_write(path, b.text, b.len, d));
out:
    textbuf_fini(&b);
    arena_fini(&a);
    return st;
}

static bool first_of_problem(const struct results *r, unsigned index)
{
    for (unsigned i = 0; i < index; i++)
        if (strcmp(r->solutions[i].problem->name, r->solutions[index].problem->name) == 0)
            return false;
    return true;
}

enum status store_put(const struct config *cfg, const struct results *r, struct diag *d)
{
    struct arena a = {0};
    enum status st = STATUS_OK;
    const char *dir = store_path(&a, cfg, r->context.backend);
    const char *lock_path = store_path(&a, cfg, ".lock");
    const char *history = store_path(&a, cfg, "history.jsonl");
    int lock = -1;

    if (dir == NULL || lock_path == NULL || history == NULL) {
        st = no_memory(d);
        goto out;
    }
    TRY_OR(out, dir_make(dir, d));
    lock = open(lock_path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0 || flock(lock, LOCK_EX) != 0) {
        st = diag_set(d, STATUS_IO, "cannot lock '%s': %s", lock_path, strerror(errno));
        goto out;
    }
    for (unsigned i = 0; i < r->solution_count; i++)
        if (first_of_problem(r, i))
            TRY_OR(out, put_problem(dir, r, r->solutions[i].problem->name, d));
    TRY_OR(out, append_history(history, r, d));
out:
    if (lock >= 0)
        (void)close(lock);
    arena_fini(&a);
    return st;
}

/* Appends the solutions of one file; the newest file's context wins, and results of another device
 * than the newest are left out. */
static enum status join(struct results *all, const struct results *more, struct arena *a,
                        struct diag *d)
{
    const bool first = all->solution_count == 0;
    const bool newer = first || strcmp(more->context.start, all->context.start) > 0;
    const bool same = first || strcmp(more->context.device.name, all->context.device.name) == 0;
    struct solution_result *joined;
    unsigned n = 0;

    if (!same && !newer)
        return STATUS_OK;
    joined = arena_array(a, (size_t)all->solution_count + more->solution_count + 1, sizeof *joined);
    if (joined == NULL)
        return no_memory(d);
    for (unsigned i = 0; same && i < all->solution_count; i++)
        joined[n++] = all->solutions[i];
    for (unsigned i = 0; i < more->solution_count; i++)
        joined[n++] = more->solutions[i];
    if (newer) {
        const struct run_context old = all->context;

        all->context = more->context;
        if (same && !first)
            keep_ceilings(&all->context, &old);
    }
    all->solutions = joined;
    all->solution_count = n;
    return STATUS_OK;
}

enum status store_load(struct results *out, struct arena *a, const struct config *cfg,
                       const char *backend, struct diag *d)
{
    const char *dir = store_path(a, cfg, backend);
    const char *const *names;
    unsigned count;

    *out = (struct results){0};
    if (dir == NULL)
        return no_memory(d);
    TRY(dir_list(&names, &count, a, dir, d));
    for (unsigned i = 0; i < count; i++) {
        const char *path = arena_printf(a, "%s/%s", dir, names[i]);
        const size_t len = strlen(names[i]);
        struct results one = {0};

        if (path == NULL)
            return no_memory(d);
        if (len < 6 || strcmp(names[i] + len - 5, ".json") != 0)
            continue; /* a file that is being written */
        TRY(store_read_file(&one, a, path, d));
        TRY(join(out, &one, a, d));
    }
    return STATUS_OK;
}

/* ---- history ---- */

static enum status read_point(struct history_point *p, struct reader *r, const struct jsonref *o,
                              const char *backend, bool *wanted)
{
    static const char *const known[] = {"start", "commit",  "backend",   "problem", "solution",
                                        "case",  "verdict", "median_us", "se"};
    const char *of;

    TRY(jsonread_object(o, known, COUNT_OF(known), r->d));
    TRY(get_text(&of, r, o, "backend"));
    *wanted = strcmp(of, backend) == 0;
    TRY(get_text(&p->start, r, o, "start"));
    TRY(get_text(&p->commit, r, o, "commit"));
    TRY(get_text(&p->problem, r, o, "problem"));
    TRY(get_text(&p->solution, r, o, "solution"));
    TRY(get_text(&p->case_name, r, o, "case"));
    TRY(get_verdict(&p->verdict, r, o, "verdict"));
    TRY(get_number(&p->median_us, r, o, "median_us"));
    return get_number(&p->se, r, o, "se");
}

enum status store_history(const struct history_point **out, unsigned *count, struct arena *a,
                          const struct config *cfg, const char *backend, struct diag *d)
{
    struct reader r = {.a = a, .d = d};
    const char *path = store_path(a, cfg, "history.jsonl");
    struct history_point *points;
    size_t len, lines = 0;
    unsigned n = 0;
    char *text;

    *out = NULL;
    *count = 0;
    if (path == NULL)
        return no_memory(d);
    if (!file_exists(path))
        return STATUS_OK;
    TRY(file_read(&text, &len, a, path, STORE_MAX_BYTES, d));
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    points = arena_array(a, lines + 1, sizeof *points);
    if (points == NULL)
        return no_memory(d);
    for (size_t begin = 0; begin < len;) {
        const char *end = memchr(text + begin, '\n', len - begin);
        struct jsondoc doc = JSONDOC_EMPTY;
        bool wanted = false;
        enum status st;

        if (end == NULL)
            break; /* a line that is being written */
        st = jsonread_parse(&doc, text + begin, (size_t)(end - (text + begin)), path, d);
        if (st == STATUS_OK) {
            const struct jsonref root = jsonread_root(&doc);

            st = read_point(&points[n], &r, &root, backend, &wanted);
        }
        jsonread_close(&doc);
        TRY(st);
        n += wanted;
        begin = (size_t)(end - text) + 1;
    }
    *out = points;
    *count = n;
    return STATUS_OK;
}

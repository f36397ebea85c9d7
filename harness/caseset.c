/*
 * caseset.c - see caseset.h. Python is started only when a file is missing.
 */
#include "caseset.h"

#include "fileio.h"
#include "manifest.h"
#include "proc.h"
#include "toolkit.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define FRESH_MAX_ELEMENTS (1u << 20)
#define GEN_OUTPUT_CAP     (64u << 10)
#define MAX_GEN_ARGS       12u
#define MANIFEST_MAX_BYTES (1u << 20)

static enum status no_memory(struct diag *d) { return diag_set(d, STATUS_NOMEM, "out of memory"); }

/* --- selection --- */

static bool has_tag(const struct casedef *c, const char *const *tags)
{
    if (!tags)
        return !casedef_has_tag(c, "perf") && !casedef_has_tag(c, "curve");
    for (; *tags; tags++)
        if (casedef_has_tag(c, *tags))
            return true;
    return false;
}

static enum status nothing_chosen(struct arena *a, const struct problem *p,
                                  const struct caseset_filter *f, bool name_matched, struct diag *d)
{
    const char **names = arena_array(a, p->case_count + 1, sizeof *names);
    const char *near;

    if (!names)
        return no_memory(d);
    for (unsigned i = 0; i < p->case_count; i++)
        names[i] = p->cases[i].name;
    if (name_matched)
        return diag_set(
            d, STATUS_USAGE,
            "problem '%s': the cases%s%s%s exist, but the tags or the backend leave none", p->name,
            f->glob ? " '" : "", f->glob ? f->glob : "", f->glob ? "'" : "");
    near = diag_nearest(f->glob, names, p->case_count);
    if (near)
        return diag_set(d, STATUS_USAGE, "problem '%s' has no case '%s'; did you mean '%s'?",
                        p->name, f->glob, near);
    return diag_set(d, STATUS_USAGE, "problem '%s' has no case '%s'; 'judge list %s' shows all",
                    p->name, f->glob, p->name);
}

enum status caseset_select(const struct casedef *const **out, unsigned *count, struct arena *a,
                           const struct problem *p, const struct caseset_filter *f, struct diag *d)
{
    const struct casedef **list = arena_array(a, p->case_count + 1, sizeof *list);
    bool name_matched = false;
    unsigned n = 0;

    if (!list)
        return no_memory(d);
    for (unsigned i = 0; i < p->case_count; i++) {
        const struct casedef *c = &p->cases[i];

        if (f->glob && fnmatch(f->glob, c->name, 0) != 0)
            continue;
        name_matched = true;
        if (has_tag(c, f->tags) && (f->gpu || f->keep_gpu_only || !c->needs_gpu))
            list[n++] = c;
    }
    if (n == 0)
        return nothing_chosen(a, p, f, name_matched, d);
    *out = list;
    *count = n;
    return STATUS_OK;
}

uint64_t casedef_elements(const struct problem *p, const struct casedef *c)
{
    uint64_t most = 0;

    for (unsigned i = 0; i < p->param_count; i++)
        if (!p->params[i].scalar && c->count[i] > most)
            most = c->count[i];
    return most;
}

/* --- making files --- */

const char *caseset_path(struct arena *a, const struct config *cfg, const struct file_pin *pin)
{
    if (pin->committed)
        return arena_printf(a, "%s/testcases/%s", cfg->root, pin->path);
    return arena_printf(a, "%s/%s", cfg->cases_dir, pin->path);
}

static bool has_size(const char *path, uint64_t size)
{
    struct stat s;

    return path && stat(path, &s) == 0 && S_ISREG(s.st_mode) && (uint64_t)s.st_size == size;
}

static bool is_there(struct arena *a, const struct config *cfg, const struct casedef *c)
{
    return has_size(caseset_path(a, cfg, &c->in), c->in.size) &&
           has_size(caseset_path(a, cfg, &c->ref), c->ref.size);
}

/* Last line of what gen printed: its error. */
static const char *last_line(struct arena *a, const char *text)
{
    size_t end = strlen(text), start;

    while (end && text[end - 1] == '\n')
        end--;
    for (start = end; start && text[start - 1] != '\n';)
        start--;
    return arena_strndup(a, text + start, end - start);
}

/* `python -m gen ARGS...` in the tree's root; args NULL-terminated. */
static enum status run_gen(struct arena *a, const struct config *cfg, const char *const *args,
                           bool progress, struct diag *d)
{
    static const char *const keep[] = {"PATH", "HOME", "LD_LIBRARY_PATH", "TMPDIR", NULL};
    static const char *const add[] = {"PYTHONDONTWRITEBYTECODE=1", "PYTHONNOUSERSITE=1",
                                      "LC_ALL=C.UTF-8", NULL};
    const char *python, *why;
    const char **argv;
    struct proc_request rq = {.dir = cfg->root,
                              .env = proc_env(a, keep, add),
                              .out_cap = GEN_OUTPUT_CAP,
                              .err_cap = GEN_OUTPUT_CAP,
                              .inherit_output = progress,
                              .stop = cfg->stop};
    struct proc_result r;
    unsigned n = 0, count = 0;

    TRY(toolkit_python(&python, a, cfg, d));
    while (args[count])
        count++;
    argv = arena_array(a, count + MAX_GEN_ARGS, sizeof *argv);
    if (!argv || !rq.env)
        return no_memory(d);
    argv[n++] = python;
    argv[n++] = "-m";
    argv[n++] = "gen";
    argv[n++] = "--root";
    argv[n++] = cfg->root;
    if (progress)
        argv[n++] = "--progress";
    memcpy(argv + n, args, count * sizeof *argv);
    rq.argv = argv;
    TRY(proc_run(&r, a, &rq, d));
    if (proc_ok(&r))
        return STATUS_OK;
    if (r.stopped)
        return diag_set(d, STATUS_IO, "interrupted while making case files");
    why = *r.err ? last_line(a, r.err) : proc_describe(&r, a);
    return diag_set(d, r.exit_code == 2 ? STATUS_BAD_DATA : STATUS_IO, "case files: %.400s",
                    why ? why : "out of memory");
}

/* gen makes <build>/cases/; cases_dir must be such a folder. */
static enum status gen_build(const char **out, struct arena *a, const struct config *cfg,
                             struct diag *d)
{
    const size_t len = strlen(cfg->cases_dir);

    if (len < 7 || strcmp(cfg->cases_dir + len - 6, "/cases") != 0)
        return diag_set(d, STATUS_USAGE,
                        "the setting 'cases_dir' must end in '/cases', not be '%s'",
                        cfg->cases_dir);
    *out = arena_strndup(a, cfg->cases_dir, len - 6);
    return *out ? STATUS_OK : no_memory(d);
}

enum status caseset_make(const struct config *cfg, const struct problem *p,
                         const struct casedef *const *cases, unsigned count, bool progress,
                         struct diag *d)
{
    struct arena a = {0};
    const char **args = arena_array(&a, (size_t)count + 5, sizeof *args);
    unsigned n = 0;
    enum status st = STATUS_OK;

    if (!args) {
        st = no_memory(d);
        goto done;
    }
    args[n++] = "--build";
    TRY_OR(done, gen_build(&args[n++], &a, cfg, d));
    args[n++] = "make";
    args[n++] = p->name;
    for (unsigned i = 0; i < count; i++)
        if (!is_there(&a, cfg, cases[i]))
            args[n++] = cases[i]->name;
    if (n > 4)
        st = run_gen(&a, cfg, args, progress, d);
    if (st != STATUS_OK)
        (void)diag_note(d, st, "while making %u case%s of '%s'", n - 4, n == 5 ? "" : "s", p->name);
done:
    arena_fini(&a);
    return st;
}

/* --- opening --- */

static enum status check_tensor(const struct casefile *cf, const char *path, const char *name,
                                enum dtype dtype, unsigned rank, const uint64_t *shape,
                                struct diag *d)
{
    const struct tensor *t = casefile_find(cf, name);
    bool same = t && t->dtype == dtype && t->rank == rank;

    for (unsigned k = 0; same && k < rank; k++)
        same = t->shape[k] == shape[k];
    if (same)
        return STATUS_OK;
    return diag_at(d, STATUS_BAD_DATA, path, 0, 0, "tensor '%s' is missing or has another form",
                   name);
}

static enum status check_in(const struct casefile *cf, const char *path, const struct problem *p,
                            const struct casedef *c, struct diag *d)
{
    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].dir != DIR_OUT)
            TRY(check_tensor(cf, path, p->params[i].name, p->params[i].dtype, c->rank[i],
                             c->shape[i], d));
    return STATUS_OK;
}

static enum status check_ref(const struct casefile *cf, const char *path, const struct problem *p,
                             const struct casedef *c, struct diag *d)
{
    char bound[80];

    for (unsigned i = 0; i < p->param_count && c->rule.kind != RULE_SURVIVE; i++) {
        const struct param *q = &p->params[i];

        if (q->dir == DIR_IN)
            continue;
        TRY(check_tensor(cf, path, q->name, c->rule.kind == RULE_EXACT ? q->dtype : DTYPE_F64,
                         c->rank[i], c->shape[i], d));
        (void)snprintf(bound, sizeof bound, "tol.%s", q->name);
        if (c->rule.kind == RULE_TOL)
            TRY(check_tensor(cf, path, bound, DTYPE_F64, c->rank[i], c->shape[i], d));
    }
    return STATUS_OK;
}

static enum status check_identity(const struct casefile *cf, const char *path, uint64_t size,
                                  const struct casedef *c, struct diag *d)
{
    const char *key = casefile_meta(cf, "key");

    if (cf->size != size)
        return diag_at(d, STATUS_BAD_DATA, path, 0, 0, "has %llu bytes, the manifest says %llu",
                       (unsigned long long)cf->size, (unsigned long long)size);
    if (!key || strcmp(key, c->key) != 0)
        return diag_at(d, STATUS_BAD_DATA, path, 0, 0, "belongs to another version of the case");
    return STATUS_OK;
}

static enum status open_pair(struct case_pair *out, const char *in, const char *ref,
                             const struct problem *p, const struct casedef *c, struct diag *d)
{
    struct case_pair pair = CASE_PAIR_EMPTY;
    enum status st = STATUS_OK;

    *out = pair;
    if (!in || !ref)
        return no_memory(d);
    TRY_OR(fail, casefile_open(&pair.in, in, d));
    TRY_OR(fail, check_identity(&pair.in, in, c->in.size, c, d));
    TRY_OR(fail, check_in(&pair.in, in, p, c, d));
    TRY_OR(fail, casefile_open(&pair.ref, ref, d));
    TRY_OR(fail, check_identity(&pair.ref, ref, c->ref.size, c, d));
    TRY_OR(fail, check_ref(&pair.ref, ref, p, c, d));
    *out = pair;
    return STATUS_OK;
fail:
    caseset_close(&pair);
    return diag_note(d, st, "while opening case '%s' of '%s'", c->name, p->name);
}

enum status caseset_open(struct case_pair *out, const struct config *cfg, const struct problem *p,
                         const struct casedef *c, struct diag *d)
{
    struct arena a = {0};
    const char *in = caseset_path(&a, cfg, &c->in), *ref = caseset_path(&a, cfg, &c->ref);
    enum status st = STATUS_OK;

    *out = CASE_PAIR_EMPTY;
    TRY_OR(done, caseset_make(cfg, p, &c, 1, false, d));
    st = open_pair(out, in, ref, p, c, d);
    if (st == STATUS_BAD_DATA && !c->in.committed && !c->ref.committed) {
        /* Left by another generator version or damaged: made anew, once. */
        TRY_OR(done, path_remove(in, d));
        TRY_OR(done, path_remove(ref, d));
        TRY_OR(done, caseset_make(cfg, p, &c, 1, false, d));
        st = open_pair(out, in, ref, p, c, d);
    } else if (st == STATUS_BAD_DATA)
        (void)diag_note(d, st, "'judge gen %s' makes it again", p->name);
done:
    arena_fini(&a);
    return st;
}

/* The one case of the manifest that gen wrote beside the fresh files. */
static enum status read_fresh(struct casedef *fresh, struct arena *a, const struct problem *p,
                              const struct casedef *c, const char *dir, struct diag *d)
{
    struct problem one = *p;
    struct problem_text manifest = {0};
    const char *path = arena_printf(a, "%s/MANIFEST.json", dir);
    char *text;

    if (!path)
        return no_memory(d);
    TRY(file_read(&text, &manifest.len, a, path, MANIFEST_MAX_BYTES, d));
    manifest.file = path;
    manifest.text = text;
    TRY(manifest_read(&one, a, &manifest, d));
    if (one.case_count != 1 || strcmp(one.cases[0].name, c->name) != 0)
        return diag_at(d, STATUS_BAD_DATA, path, 0, 0, "expected the one case '%s'", c->name);
    *fresh = one.cases[0];
    fresh->index = c->index;
    return STATUS_OK;
}

enum status caseset_open_fresh(struct case_pair *out, struct casedef *fresh, struct arena *a,
                               const struct config *cfg, const struct problem *p,
                               const struct casedef *c, uint64_t seed, struct diag *d)
{
    struct arena mine = {0};
    char *dir = arena_printf(&mine, "%s/fresh-XXXXXX", cfg->build_dir);
    const char *hex = arena_printf(&mine, "%llx", (unsigned long long)seed);
    const char *args[] = {"fresh", p->name, c->name, "--seed", hex, "--out", dir, NULL};
    bool made = false;
    struct diag ignored;
    enum status st = STATUS_OK;

    *out = CASE_PAIR_EMPTY;
    if (casedef_elements(p, c) > FRESH_MAX_ELEMENTS) {
        st = diag_set(d, STATUS_USAGE,
                      "case '%s' has more than %u elements: too large for fresh data", c->name,
                      FRESH_MAX_ELEMENTS);
        goto done;
    }
    if (!dir || !hex) {
        st = no_memory(d);
        goto done;
    }
    TRY_OR(done, dir_make(cfg->build_dir, d));
    if (!mkdtemp(dir)) {
        st = diag_at(d, STATUS_IO, dir, 0, 0, "cannot make this folder: %s", strerror(errno));
        goto done;
    }
    made = true;
    TRY_OR(done, run_gen(&mine, cfg, args, false, d));
    TRY_OR(done, read_fresh(fresh, a, p, c, dir, d));
    st = open_pair(out, arena_printf(&mine, "%s/%s.in.safetensors", dir, c->name),
                   arena_printf(&mine, "%s/%s.ref.safetensors", dir, c->name), p, fresh, d);
done:
    if (made)
        (void)!path_remove(dir, &ignored); /* open files stay mapped */
    arena_fini(&mine);
    return st;
}

void caseset_close(struct case_pair *pair)
{
    casefile_close(&pair->in);
    casefile_close(&pair->ref);
}

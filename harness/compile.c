/*
 * compile.c - the nvcc line, the rules of a compile error, and the words for each.
 * The cache's files are compile_cache.c's, the toolkit toolkit.c's.
 *
 * nvcc gets a small file that includes the solution and then names solve() with the type that
 * problem.json declares; so the compiler itself judges the signature, the user's text is untouched
 * and its line numbers hold.
 */
#include "compile.h"

#include "compile_cache.h"
#include "elfread.h"
#include "fileio.h"
#include "keyhash.h"
#include "proc.h"
#include "toolkit.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPILE_LIMIT_S  120.0 /* of processor time: cicc and ptxas included */
#define LOG_CAP          (1u << 20)
#define OBJECT_MAX_BYTES (256u << 20)
#define DEPS_MAX_BYTES   (4u << 20)
#define MAX_FLAGS        64u
#define MAX_DEMANGLE     400u              /* names on one c++filt line */
#define CHECK_FILE       "warpjudge:solve" /* where messages about our own lines point */

/* One compilation: what is asked, and what grows on the way. */
struct job {
    struct arena *a;
    const struct config *cfg;
    const struct problem *p;
    const struct solution *s;
    struct diag *d;
    struct toolkit kit;
    const char *source;
    size_t source_len;
    const char *base;  /* file name of the solution */
    const char *check; /* the lines behind the #include */
    const char *argv[MAX_FLAGS];
    unsigned flag_count;    /* of argv: nvcc and everything but file names */
    const char *source_key; /* see compile_cache.h */
    char *workdir;          /* NULL: not made */
};

static enum status no_memory(const struct job *j)
{
    return diag_set(j->d, STATUS_NOMEM, "out of memory");
}

/* --- the nvcc line --- */

static void flag(struct job *j, const char *text)
{
    if (j->flag_count < MAX_FLAGS - 1)
        j->argv[j->flag_count++] = text ? text : "";
}

static bool uses_cublas(const struct job *j)
{
    return j->s->kind == SOLUTION_BASELINE &&
           memmem(j->source, j->source_len, "cublas_v2.h", 11) != NULL;
}

/* The folder of a library of the toolkit, so that the loader finds it again; NULL when it is
 * nowhere. */
static const char *library_dir(struct job *j, const char *name)
{
    static const char *const below[] = {"lib64", "lib", "targets/x86_64-linux/lib"};

    for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
        const char *dir = arena_printf(j->a, "%s/%s", j->kit.root, below[i]);
        const char *path = dir ? arena_printf(j->a, "%s/%s", dir, name) : NULL;

        if (path && file_exists(path))
            return dir;
    }
    return NULL;
}

static enum status make_flags(struct job *j, const char *arch, const char *const *defines)
{
    static const char *const fixed[] = {
        "-std=c++17",
        "-O3",
        "-lineinfo",
        "-cudart",
        "shared",
        "-shared",
        "-Xcompiler",
        "-fPIC",
        "--compress-mode=none", /* the virtual GPU reads the PTX */
        "-Xptxas",
        "-v,--warn-on-spills,--warn-on-local-memory-usage",
        "-Xlinker",
        "--no-undefined", /* a missing symbol is seen here, not when loading */
    };

    flag(j, j->kit.nvcc);
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        flag(j, fixed[i]);
    flag(j, "-gencode");
    flag(j, arena_printf(j->a, "arch=compute_%s,code=[compute_%s,sm_%s]", arch, arch, arch));
    for (; defines && *defines; defines++)
        flag(j, arena_printf(j->a, "-D%s", *defines));
    if (uses_cublas(j)) {
        const char *dir = library_dir(j, "libcublas.so");

        flag(j, "-lcublas");
        if (dir) {
            flag(j, "-Xlinker");
            flag(j, arena_printf(j->a, "-rpath=%s", dir));
        }
    }
    if (j->flag_count >= MAX_FLAGS - 8)
        return diag_set(j->d, STATUS_USAGE, "too many -D options");
    return STATUS_OK;
}

static const char *file_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static enum status make_source_key(struct job *j)
{
    char hex[KEYHASH_SIZE], source_hex[KEYHASH_SIZE];
    const char *text;

    keyhash_hex(source_hex, j->source, j->source_len);
    /* The name counts, as it stands in the line table that reports quote; folders do not. */
    text = arena_printf(j->a, "format %d\n%s\n%s\n%s\n%s\n%d\n", CACHE_FORMAT, j->kit.fingerprint,
                        j->base, source_hex, j->check, j->s->kind == SOLUTION_BASELINE);
    for (unsigned i = 1; text && i < j->flag_count; i++)
        if (strncmp(j->argv[i], "-rpath=", 7) != 0)
            text = arena_printf(j->a, "%s%s\n", text, j->argv[i]);
    for (const char *const *deny = j->cfg->deny_includes; text && *deny; deny++)
        text = arena_printf(j->a, "%s%s\n", text, *deny);
    if (!text)
        return no_memory(j);
    keyhash_hex(hex, text, strlen(text));
    j->source_key = arena_strdup(j->a, hex);
    return j->source_key ? STATUS_OK : no_memory(j);
}

static enum status prepare(struct job *j, const char *arch, const char *const *defines)
{
    const char *halves = "";
    char *source;

    TRY(toolkit_find(&j->kit, j->a, j->cfg, j->d));
    TRY(file_read(&source, &j->source_len, j->a, j->s->path, SOLUTION_MAX_BYTES, j->d));
    j->source = source;
    j->base = file_name(j->s->path);
    if (strpbrk(j->s->path, "\"\\\n"))
        return diag_set(j->d, STATUS_USAGE,
                        "%s: a path with a quote or backslash cannot be compiled", j->s->path);
    for (unsigned i = 0; i < j->p->param_count; i++)
        if (j->p->params[i].dtype == DTYPE_F16 || j->p->params[i].dtype == DTYPE_BF16)
            halves = "#include <cuda_bf16.h>\n#include <cuda_fp16.h>\n";
    j->check =
        arena_printf(j->a,
                     "%s#line 1 \"" CHECK_FILE "\"\n"
                     "using warpjudge_solve_type = %s;\n"
                     "static_assert(sizeof(static_cast<warpjudge_solve_type *>(solve)) != 0, "
                     "\"\");\n",
                     halves, j->p->signature);
    if (!j->check)
        return no_memory(j);
    TRY(make_flags(j, arch, defines));
    return make_source_key(j);
}

/* --- running nvcc --- */

/* A name that no shell or make rule takes for something else. */
static char *plain_name(struct arena *a, const char *name)
{
    char *plain = arena_strdup(a, name);

    for (char *p = plain; p && *p; p++)
        if (!isalnum((unsigned char)*p) && *p != '.' && *p != '_')
            *p = '_';
    return plain;
}

static enum status run_nvcc(struct proc_result *r, struct job *j)
{
    static const char *const keep[] = {"PATH", "HOME", "LD_LIBRARY_PATH", NULL};
    static const char *const add[] = {"LC_ALL=C", "TMPDIR=.", NULL};
    const char *name = plain_name(j->a, j->base);
    const char *path = name ? arena_printf(j->a, "%s/%s", j->workdir, name) : NULL;
    const char *text = arena_printf(j->a, "#include \"%s\"\n%s", j->s->path, j->check);
    const struct proc_request rq = {
        .argv = j->argv,
        .env = proc_env(j->a, keep, add),
        .dir = j->workdir,
        .limit_s = COMPILE_LIMIT_S * j->cfg->time_scale,
        .limit_is_cpu = true,
        .out_cap = 65536,
        .err_cap = LOG_CAP,
        .stop = j->cfg->stop,
    };
    unsigned n = j->flag_count;

    if (!path || !text || !rq.env)
        return no_memory(j);
    TRY(file_write(path, text, strlen(text), j->d));
    j->argv[n++] = "-MD";
    j->argv[n++] = "-MF";
    j->argv[n++] = "deps";
    j->argv[n++] = "-o";
    j->argv[n++] = "object";
    j->argv[n++] = name;
    j->argv[n] = NULL;
    return proc_run(r, j->a, &rq, j->d);
}

/* --- what nvcc said --- */

/* `text` without any occurrence of `what`. */
static char *without(struct arena *a, const char *text, const char *what)
{
    const size_t len = strlen(what);
    char *out = arena_alloc(a, strlen(text) + 1);
    size_t n = 0;

    if (!out)
        return NULL;
    while (*text) {
        const char *at = len ? strstr(text, what) : NULL;
        const size_t run = at ? (size_t)(at - text) : strlen(text);

        memcpy(out + n, text, run);
        n += run;
        text += run + (at ? len : 0);
    }
    return out;
}

static bool line_has(const char *line, size_t len, const char *word)
{
    return memmem(line, len, word, strlen(word)) != NULL;
}

/* A message about our check lines: three lines, the message, the quoted line and the caret. */
static char *without_check(struct arena *a, const char *log, const char **complaint)
{
    char *out = arena_alloc(a, strlen(log) + 1);
    size_t n = 0;
    unsigned skip = 0;

    *complaint = NULL;
    for (const char *line = log; out && *line;) {
        size_t len = strcspn(line, "\n");

        if (strncmp(line, CHECK_FILE "(", sizeof CHECK_FILE) == 0) {
            skip = 3;
            if (!*complaint)
                *complaint = line;
        }
        len += line[len] == '\n';
        if (skip)
            skip--;
        else {
            memcpy(out + n, line, len);
            n += len;
        }
        line += len;
    }
    return out;
}

/* First line that blames the file, as text without control characters; NULL when there is none. */
static const char *first_error(struct arena *a, const char *log)
{
    static const char *const words[] = {"error: ",    "error   : ",          "fatal   : ",
                                        "error #",    "undefined reference", "multiple definition",
                                        "fatal error"};

    for (const char *line = log; *line;) {
        const size_t len = strcspn(line, "\n");

        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (line_has(line, len, words[i]) && !line_has(line, len, "collect2:")) {
                char *copy = arena_strndup(a, line, len < 300 ? len : 300);

                for (char *c = copy; c && *c; c++)
                    if ((unsigned char)*c < ' ')
                        *c = ' ';
                return copy;
            }
        line += len + (line[len] == '\n');
    }
    return NULL;
}

/* The machine, not the file: such a failure must not be cached or blamed on anybody's code. */
static const char *machine_fault(const char *log)
{
    static const char *const words[] = {
        "No space left on device", "Disk quota exceeded",
        "Cannot allocate memory",  "died due to signal",
        "Too many open files",     "Read-only file system",
        "cannot execute",          "Failed to preprocess host compiler"};

    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strstr(log, words[i]))
            return words[i];
    return NULL;
}

/* Line of the definition of solve, 0 when it is not seen. For a message only. */
static unsigned solve_line(const struct job *j)
{
    const char *end = j->source + j->source_len;
    unsigned line = 1;

    for (const char *p = j->source; p + 5 < end; p++) {
        if (*p == '\n')
            line++;
        else if (memcmp(p, "solve", 5) == 0 && strspn(p + 5, " \t(") && strchr(" \t(", p[5]) &&
                 (p == j->source || (!isalnum((unsigned char)p[-1]) && p[-1] != '_')) &&
                 memchr(p, '(', (size_t)(end - p) < 16 ? (size_t)(end - p) : 16))
            return line;
    }
    return 0;
}

static const char *expected_solve(struct job *j, const char *fault)
{
    const unsigned line = solve_line(j);

    if (line)
        return arena_printf(j->a, "%s(%u): %s; expected: %s", j->base, line, fault,
                            j->p->prototype);
    return arena_printf(j->a, "%s: %s; expected: %s", j->base, fault, j->p->prototype);
}

/* --- the object and its dependencies --- */

static bool may_need(const struct job *j, const char *library)
{
    static const char *const allowed[] = {"libcudart.so.", "libc.so.",     "libm.so.",
                                          "libstdc++.so.", "libgcc_s.so.", "ld-linux-"};
    static const char *const baseline[] = {"libcublas.so.", "libcublasLt.so."};

    for (size_t i = 0; i < sizeof allowed / sizeof allowed[0]; i++)
        if (strncmp(library, allowed[i], strlen(allowed[i])) == 0)
            return true;
    for (size_t i = 0; j->s->kind == SOLUTION_BASELINE && i < 2; i++)
        if (strncmp(library, baseline[i], strlen(baseline[i])) == 0)
            return true;
    return false;
}

/* *reason: NULL when the object is fine. */
static enum status check_object(const char **reason, struct job *j)
{
    const char *path = arena_printf(j->a, "%s/object", j->workdir);
    struct elf_facts f;
    char *bytes;
    size_t size;

    *reason = NULL;
    if (!path)
        return no_memory(j);
    TRY(file_read(&bytes, &size, j->a, path, OBJECT_MAX_BYTES, j->d));
    TRY(elf_read(&f, j->a, (const unsigned char *)bytes, size, path, j->d));
    if (!elf_has(f.defined, "solve")) {
        const char *fault = "solve() is not exported";

        for (const char *const *s = f.defined; *s; s++)
            if (strncmp(*s, "_Z5solve", 8) == 0)
                fault = "solve() has C++ linkage: add extern \"C\"";
        *reason = expected_solve(j, fault);
        return *reason ? STATUS_OK : no_memory(j);
    }
    for (const char *const *n = f.needed; *n; n++)
        if (!may_need(j, *n)) {
            *reason = arena_printf(j->a, "%s: links %s; only the CUDA runtime is allowed here",
                                   j->base, *n);
            return *reason ? STATUS_OK : no_memory(j);
        }
    return STATUS_OK;
}

/* Next path of a make rule, unescaped; NULL at the end. */
static char *next_dep(struct arena *a, const char **at)
{
    const char *p = *at;
    char *out, *w;
    size_t len = 0;

    for (;;) {
        while (*p == ' ' || *p == '\t' || *p == '\n')
            p++;
        if (p[0] != '\\' || p[1] != '\n')
            break;
        p += 2;
    }
    while (p[len] && p[len] != ' ' && p[len] != '\t' && p[len] != '\n')
        len += p[len] == '\\' && p[len + 1] && p[len + 1] != '\n' ? 2 : 1;
    *at = p + len;
    if (len == 0 || !(out = arena_strndup(a, p, len)))
        return NULL;
    w = out;
    for (const char *r = out; *r; r++) {
        if ((r[0] == '\\' && (r[1] == ' ' || r[1] == '#' || r[1] == '\\')) ||
            (r[0] == '$' && r[1] == '$'))
            r++;
        *w++ = *r;
    }
    *w = '\0';
    return out;
}

/* "cub/device/x.cuh" of a path into a denied folder of the toolkit's headers, or NULL. */
static const char *denied_part(const struct job *j, const char *path)
{
    const char *part = NULL;

    for (const char *p = path; (p = strstr(p, "/include/")); p++)
        part = p + 9;
    if (!part)
        return NULL;
    if (strncmp(part, "cccl/", 5) == 0)
        part += 5;
    for (const char *const *deny = j->cfg->deny_includes; *deny; deny++) {
        const size_t len = strlen(*deny);

        if (strncmp(part, *deny, len) == 0 && part[len] == '/')
            return part;
    }
    return NULL;
}

static bool below(const char *path, const char *dir)
{
    const size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 && path[len] == '/';
}

/* *deps: the headers whose contents belong into the key; *reason: a forbidden include, or NULL. */
static enum status read_deps(const char *const **deps, const char **reason, struct job *j)
{
    const char *path = arena_printf(j->a, "%s/deps", j->workdir);
    const char **list;
    const char *p, *dep;
    char *text;
    size_t len, n = 0;

    *reason = NULL;
    if (!path)
        return no_memory(j);
    TRY(file_read(&text, &len, j->a, path, DEPS_MAX_BYTES, j->d));
    list = arena_array(j->a, len / 2 + 1, sizeof *list);
    if (!list)
        return no_memory(j);
    p = strstr(text, ": ");
    p = p ? p + 2 : text + len;
    while ((dep = next_dep(j->a, &p))) {
        const char *part = denied_part(j, dep);
        char *full = NULL;

        if (part && *dep == '/' && !*reason && j->s->kind != SOLUTION_BASELINE) {
            *reason = arena_printf(j->a, "%s: includes %s; library code is for baselines/ only",
                                   j->base, part);
            if (!*reason)
                return no_memory(j);
        }
        if (*dep != '/' || below(dep, "/usr") || strcmp(dep, j->s->path) == 0)
            continue;
        full = realpath(dep, NULL);
        if (full && !below(full, j->kit.root) && !below(full, "/usr")) {
            list[n] = arena_strdup(j->a, full);
            if (!list[n++])
                n--;
        }
        free(full);
    }
    *deps = list;
    return STATUS_OK;
}

/* --- kernels --- */

/* "void (anonymous namespace)::fold<256>" -> "fold<256>" */
static char *short_name(struct arena *a, const char *name, size_t len)
{
    char *text = arena_strndup(a, name, len);

    if (text && strncmp(text, "void ", 5) == 0)
        text += 5;
    return text ? without(a, text, "(anonymous namespace)::") : NULL;
}

/* Replaces the mangled names; they stay where c++filt is missing. */
static enum status demangle(struct job *j, struct kernel_info *k, unsigned count)
{
    const char **argv = arena_array(j->a, (size_t)count + 3, sizeof *argv);
    const struct proc_request rq = {
        .argv = argv, .limit_s = 10, .out_cap = LOG_CAP, .err_cap = 1024};
    struct proc_result r;
    struct diag ignored;
    const char *line;

    if (!argv)
        return no_memory(j);
    if (count == 0 || count > MAX_DEMANGLE)
        return STATUS_OK;
    argv[0] = "c++filt";
    argv[1] = "-p"; /* without the parameter list */
    for (unsigned i = 0; i < count; i++)
        argv[2 + i] = k[i].name;
    if (proc_run(&r, j->a, &rq, &ignored) != STATUS_OK || !proc_ok(&r))
        return STATUS_OK;
    line = r.out;
    for (unsigned i = 0; i < count && *line; i++) {
        const size_t len = strcspn(line, "\n");
        const char *name = short_name(j->a, line, len);

        if (!name)
            return no_memory(j);
        k[i].name = name;
        line += len + (line[len] == '\n');
    }
    return STATUS_OK;
}

/* --- the whole --- */

/* The log for people: our own text in front, nvcc's without noise and folders. */
static enum status make_log(struct object *o, struct job *j, const char *raw, const char *ours)
{
    const char *dir = arena_strndup(j->a, j->s->path, (size_t)(j->base - j->s->path));
    const char *complaint;
    char *log = ptxas_log_strip(j->a, raw);

    log = log && dir ? without(j->a, log, dir) : NULL;
    log = log ? without_check(j->a, log, &complaint) : NULL;
    if (log && ours)
        log = arena_printf(j->a, "%s\n%s", ours, log);
    o->log = log;
    return log ? STATUS_OK : no_memory(j);
}

/* nvcc returned non-zero. */
static enum status explain_failure(struct object *o, struct job *j, const struct proc_result *r)
{
    const char *fault = machine_fault(r->err);
    const char *complaint, *error, *ours = NULL;
    char *rest = without_check(j->a, r->err, &complaint);

    if (r->signo || fault)
        return diag_set(j->d, STATUS_IO, "nvcc could not compile '%s': %s", j->base,
                        fault ? fault : proc_describe(r, j->a));
    if (!rest)
        return no_memory(j);
    error = first_error(j->a, rest);
    if (!error && complaint) {
        const size_t len = strcspn(complaint, "\n");

        ours = expected_solve(j, line_has(complaint, len, "is undefined")
                                     ? "no function solve()"
                                     : "solve() has another signature");
        if (!ours)
            return no_memory(j);
        error = ours;
    }
    if (!error)
        return diag_set(j->d, STATUS_IO, "nvcc failed (%s) without a word about '%s': %.200s",
                        proc_describe(r, j->a), j->base, r->err);
    TRY(make_log(o, j, r->err, ours));
    o->reason = ours ? ours : first_error(j->a, o->log); /* of the shortened text */
    return o->reason ? STATUS_OK : no_memory(j);
}

static enum status explain_success(struct object *o, struct job *j, const struct proc_result *r,
                                   const char *include_reason)
{
    struct kernel_info *kernels;
    const char *reason;

    TRY(check_object(&reason, j));
    if (!reason)
        reason = include_reason;
    TRY(ptxas_log_read(&kernels, &o->kernel_count, j->a, r->err, j->d));
    TRY(demangle(j, kernels, o->kernel_count));
    o->kernels = kernels;
    o->ok = !reason;
    o->reason = reason ? reason : "";
    return make_log(o, j, r->err, reason);
}

static enum status compile_now(struct object *o, struct job *j)
{
    static const char *const no_deps[] = {NULL};
    const char *const *deps = no_deps;
    const char *include_reason = NULL;
    const char *built = arena_printf(j->a, "%s/object", j->workdir);
    const char *deps_path = arena_printf(j->a, "%s/deps", j->workdir);
    struct proc_result r;

    if (!built || !deps_path)
        return no_memory(j);
    TRY(run_nvcc(&r, j));
    o->compile_s = r.wall_s;
    if (r.stopped)
        return diag_set(j->d, STATUS_IO, "interrupted while compiling '%s'", j->base);
    if (r.timed_out) { /* not cached: the machine may have been busy */
        o->reason = arena_printf(j->a, "compiler timed out after %.0f s", r.wall_s);
        o->log = o->reason;
        o->key = j->source_key;
        return o->reason ? STATUS_OK : no_memory(j);
    }
    if (file_exists(deps_path))
        TRY(read_deps(&deps, &include_reason, j));
    if (proc_ok(&r))
        TRY(explain_success(o, j, &r, include_reason));
    else
        TRY(explain_failure(o, j, &r));
    if (!file_exists(deps_path)) { /* an include was not found: making that file must count */
        o->key = j->source_key;
        return STATUS_OK;
    }
    TRY(cache_store(o, j->a, j->cfg->cache_dir, j->source_key, deps, o->ok ? built : NULL, j->d));
    cache_trim(j->cfg->cache_dir, j->cfg->cache_max_mib, o->key);
    return STATUS_OK;
}

enum status compile_solution(struct object *out, struct arena *a, const struct config *cfg,
                             const struct problem *p, const struct solution *s, const char *arch,
                             const char *const *defines, struct diag *d)
{
    struct job j = {.a = a, .cfg = cfg, .p = p, .s = s, .d = d};
    struct object o = {.reason = "", .log = "", .so_path = ""};
    const char *key;
    struct diag ignored;
    enum status st = STATUS_OK;

    TRY(prepare(&j, arch, defines));
    TRY(cache_key(&key, a, cfg->cache_dir, j.source_key, d));
    if (cache_recall(out, a, cfg->cache_dir, key))
        return STATUS_OK;
    TRY(cache_workdir(&j.workdir, a, cfg->cache_dir, d));
    st = compile_now(&o, &j);
    (void)!path_remove(j.workdir, &ignored);
    if (st == STATUS_OK)
        *out = o;
    return st;
}

const char *compile_log_head(struct arena *a, const char *log, unsigned lines)
{
    const char *p = log;
    unsigned left = 0;

    for (unsigned i = 0; i < lines && *p; i++) {
        p += strcspn(p, "\n");
        p += *p == '\n';
    }
    for (const char *q = p; *q; left++) {
        q += strcspn(q, "\n");
        q += *q == '\n';
    }
    if (!left)
        return arena_strdup(a, log);
    return arena_printf(a, "%.*s... %u more lines", (int)(p - log), log, left);
}

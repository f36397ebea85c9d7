/*
 * toolkit.c - looks in the settings, the environment and the usual folders.
 * The facts that need a process (nvcc --version, nvcc --dryrun, c++ --version) are kept in the
 * cache folder under a name made of path, size and time of both programs.
 */
#include "toolkit.h"

#include "fileio.h"
#include "keyhash.h"
#include "proc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define VERSION_LIMIT_S 30

static enum status no_memory(struct diag *d) { return diag_set(d, STATUS_NOMEM, "out of memory"); }

static const char *resolved(struct arena *a, const char *path)
{
    char *full = path ? realpath(path, NULL) : NULL;
    const char *copy = full ? arena_strdup(a, full) : NULL;

    free(full);
    return copy;
}

static bool is_program(const char *path)
{
    struct stat s;

    return path && stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Path, size and time: another program has another text. */
static const char *identity(struct arena *a, const char *path)
{
    struct stat s;

    if (!*path || stat(path, &s) != 0)
        return "none";
    return arena_printf(a, "%s %lld %lld.%09ld", path, (long long)s.st_size,
                        (long long)s.st_mtim.tv_sec, s.st_mtim.tv_nsec);
}

static const char *find_nvcc(struct arena *a, const struct config *cfg)
{
    const char *home = getenv("CUDA_HOME");
    const char *const candidates[] = {
        home && *home ? arena_printf(a, "%s/bin/nvcc", home) : NULL, proc_find(a, "nvcc"),
        "/usr/local/cuda/bin/nvcc",
        arena_printf(a, "%s/toolkit/bin/nvcc", cfg->build_dir), /* fetched by the launcher */
    };

    for (size_t i = 0; i < sizeof candidates / sizeof candidates[0]; i++)
        if (is_program(candidates[i]))
            return candidates[i];
    return NULL;
}

/* Runs `argv` and returns its output, stderr behind stdout; NULL when it fails. */
static const char *output_of(struct arena *a, const char *const *argv)
{
    const struct proc_request rq = {
        .argv = argv, .limit_s = VERSION_LIMIT_S, .out_cap = 65536, .err_cap = 65536};
    struct proc_result r;
    struct diag d;

    if (proc_run(&r, a, &rq, &d) != STATUS_OK)
        return NULL;
    return arena_printf(a, "%s%s", r.out, r.err);
}

/* Text between `from` and the next of `stops`, or NULL. */
static const char *between(struct arena *a, const char *text, const char *from, const char *stops)
{
    const char *at = text ? strstr(text, from) : NULL;

    return at ? arena_strndup(a, at + strlen(from), strcspn(at + strlen(from), stops)) : NULL;
}

static enum status ask_nvcc(struct toolkit *t, struct arena *a, struct diag *d)
{
    const char *const ask_version[] = {t->nvcc, "--version", NULL};
    const char *const ask_root[] = {t->nvcc, "--dryrun", "x.cu", NULL};
    const char *const ask_host[] = {t->host, "--version", NULL};
    const char *top, *host_line;

    t->version = between(a, output_of(a, ask_version), ", V", " \n");
    if (!t->version)
        return diag_set(d, STATUS_NOTHING, "'%s --version' prints no version: no working nvcc",
                        t->nvcc);
    top = between(a, output_of(a, ask_root), "#$ TOP=", "\n");
    t->root = top ? resolved(a, top) : NULL;
    if (!t->root)
        return diag_set(d, STATUS_NOTHING, "'%s --dryrun' names no toolkit folder: no working nvcc",
                        t->nvcc);
    host_line = *t->host ? between(a, output_of(a, ask_host), "", "\n") : "";
    t->fingerprint = arena_printf(a, "nvcc %s, host %s", t->version, host_line ? host_line : "");
    return t->fingerprint ? STATUS_OK : no_memory(d);
}

/* The cache file: three lines. Returns false when there is none or it is odd. */
static bool recall(struct toolkit *t, struct arena *a, const char *path)
{
    struct diag ignored;
    char *text;
    size_t len;

    if (file_read(&text, &len, a, path, 4096, &ignored) != STATUS_OK)
        return false;
    t->version = between(a, text, "version ", "\n");
    t->root = between(a, text, "\nroot ", "\n");
    t->fingerprint = between(a, text, "\nfingerprint ", "\n");
    return t->version && t->root && t->fingerprint && file_exists(t->root);
}

static void remember(const struct toolkit *t, struct arena *a, const char *dir, const char *path)
{
    struct diag ignored;
    const char *text = arena_printf(a, "version %s\nroot %s\nfingerprint %s\n", t->version, t->root,
                                    t->fingerprint);

    /* Not being able to write costs time only; compile_solution reports an unwritable cache. */
    if (text && dir_make(dir, &ignored) == STATUS_OK)
        (void)!file_write(path, text, strlen(text), &ignored);
}

enum status toolkit_find(struct toolkit *out, struct arena *a, const struct config *cfg,
                         struct diag *d)
{
    struct toolkit t = {.host = ""};
    const char *host = proc_find(a, "g++");
    const char *path, *text;
    char name[KEYHASH_SIZE];

    if (*cfg->nvcc && !is_program(cfg->nvcc))
        return diag_set(d, STATUS_USAGE, "the setting 'nvcc' names '%s', which is no program",
                        cfg->nvcc);
    t.nvcc = resolved(a, *cfg->nvcc ? cfg->nvcc : find_nvcc(a, cfg));
    if (!t.nvcc)
        return diag_set(
            d, STATUS_NOTHING,
            "no nvcc: install a CUDA toolkit (13.0 or newer), put its bin folder on PATH "
            "or set CUDA_HOME; ./judge fetches one when it may use the network");
    if (host)
        t.host = resolved(a, host);
    if (!t.host)
        return no_memory(d);
    text = arena_printf(a, "%s\n%s", identity(a, t.nvcc), identity(a, t.host));
    if (!text)
        return no_memory(d);
    keyhash_hex(name, text, strlen(text));
    path = arena_printf(a, "%s/toolkit-%s.txt", cfg->cache_dir, name);
    if (!path)
        return no_memory(d);
    if (!recall(&t, a, path)) {
        TRY(ask_nvcc(&t, a, d));
        remember(&t, a, cfg->cache_dir, path);
    }
    *out = t;
    return STATUS_OK;
}

const char *toolkit_cudart(struct arena *a, const struct config *cfg)
{
    static const char *const sonames[] = {"libcudart.so.13", "libcudart.so.12"};
    static const char *const below[] = {"lib64", "lib", "targets/x86_64-linux/lib"};
    static const char *const system[] = {"/usr/local/cuda/lib64", "/usr/lib/x86_64-linux-gnu",
                                         "/usr/lib64", "/usr/lib"};
    const char *loader = getenv("LD_LIBRARY_PATH");
    struct toolkit t;
    struct diag ignored;

    if (*cfg->cudart)
        return resolved(a, cfg->cudart);
    for (unsigned s = 0; s < 2; s++) {
        const char *path;

        if (toolkit_find(&t, a, cfg, &ignored) == STATUS_OK)
            for (size_t i = 0; i < sizeof below / sizeof below[0]; i++) {
                path = resolved(a, arena_printf(a, "%s/%s/%s", t.root, below[i], sonames[s]));
                if (path)
                    return path;
            }
        for (const char *p = loader; p && *p;) {
            const size_t len = strcspn(p, ":");

            path = resolved(a, arena_printf(a, "%.*s/%s", (int)len, p, sonames[s]));
            if (len && path)
                return path;
            p += len + (p[len] == ':');
        }
        for (size_t i = 0; i < sizeof system / sizeof system[0]; i++) {
            path = resolved(a, arena_printf(a, "%s/%s", system[i], sonames[s]));
            if (path)
                return path;
        }
    }
    return NULL;
}

const char *toolkit_vgpu(struct arena *a, const struct config *cfg)
{
    return resolved(a, cfg->vgpu);
}

enum status toolkit_python(const char **out, struct arena *a, const struct config *cfg,
                           struct diag *d)
{
    const char *const found = proc_find(a, "python3");
    const char *const candidates[] = {*cfg->python ? cfg->python : found,
                                      *cfg->python ? NULL : "/usr/bin/python3"};

    for (size_t i = 0; i < 2; i++) {
        const char *const argv[] = {candidates[i], "-c", "import numpy", NULL};
        const struct proc_request rq = {
            .argv = argv, .limit_s = VERSION_LIMIT_S, .out_cap = 256, .err_cap = 4096};
        struct proc_result r;

        if (!is_program(candidates[i]))
            continue;
        TRY(proc_run(&r, a, &rq, d));
        if (proc_ok(&r)) {
            *out = candidates[i];
            return STATUS_OK;
        }
    }
    if (*cfg->python)
        return diag_set(d, STATUS_USAGE,
                        "the setting 'python' names '%s', which cannot import NumPy", cfg->python);
    return diag_set(d, STATUS_NOTHING,
                    "no Python 3 with NumPy; on Debian: apt-get install python3-numpy");
}

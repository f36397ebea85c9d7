/*
 * compile_cache.c - see compile_cache.h. Several processes may work on one cache: every file
 * appears by rename, two processes with the same key write the same thing.
 */
#include "compile_cache.h"

#include "fileio.h"
#include "jsonread.h"
#include "keyhash.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define DEP_MAX_BYTES (16u << 20)
#define LOG_MAX_BYTES (4u << 20)
#define STALE_S       3600 /* no compile runs that long */

static enum status no_memory(struct diag *d) { return diag_set(d, STATUS_NOMEM, "out of memory"); }

static const char *entry(struct arena *a, const char *dir, const char *key, const char *ending)
{
    return arena_printf(a, "%s/%s.%s", dir, key, ending);
}

enum status cache_key(const char **key, struct arena *a, const char *dir, const char *source_key,
                      struct diag *d)
{
    const char *path = entry(a, dir, source_key, "deps");
    char *text = arena_strdup(a, ""), *whole;
    char hex[KEYHASH_SIZE];
    size_t len = 0;
    struct diag ignored;

    if (!path || !text)
        return no_memory(d);
    if (file_exists(path) && file_read(&text, &len, a, path, LOG_MAX_BYTES, &ignored) != STATUS_OK)
        text = arena_strdup(a, "");
    whole = arena_strdup(a, source_key);
    for (const char *line = text; whole && line && *line;) {
        const size_t n = strcspn(line, "\n");
        const char *name = arena_strndup(a, line, n);
        char *contents;

        if (!name)
            return no_memory(d);
        keyhash_hex(hex, "", 0);
        if (file_read(&contents, &len, a, name, DEP_MAX_BYTES, &ignored) == STATUS_OK)
            keyhash_hex(hex, contents, len); /* a header that is gone changes the key, too */
        whole = arena_printf(a, "%s\n%s %s", whole, name, hex);
        line += n + (line[n] == '\n');
    }
    if (!whole)
        return no_memory(d);
    keyhash_hex(hex, whole, strlen(whole));
    *key = arena_strdup(a, hex);
    return *key ? STATUS_OK : no_memory(d);
}

/* --- reading an entry --- */

static enum status read_kernel(struct kernel_info *k, struct arena *a, const struct jsonref *v,
                               struct diag *d)
{
    static const char *const keys[] = {
        "name",        "registers",   "spill_store_bytes", "spill_load_bytes",
        "stack_bytes", "shared_bytes"};
    unsigned *const out[] = {&k->registers, &k->spill_store_bytes, &k->spill_load_bytes,
                             &k->stack_bytes, &k->shared_bytes};
    struct jsonref m;
    uint64_t number;

    TRY(jsonread_object(v, keys, 6, d));
    TRY(jsonread_member(&m, v, "name", d));
    TRY(jsonread_text(&k->name, a, &m, 65536, d));
    for (unsigned i = 0; i < 5; i++) {
        TRY(jsonread_member(&m, v, keys[i + 1], d));
        TRY(jsonread_u64(&number, &m, 0, UINT32_MAX, d));
        *out[i] = (unsigned)number;
    }
    return STATUS_OK;
}

static enum status read_entry(struct object *o, struct arena *a, const struct jsonref *root,
                              struct diag *d)
{
    static const char *const keys[] = {"format", "ok", "reason", "compile_s", "kernels"};
    struct kernel_info *kernels;
    struct jsonref m;
    uint64_t format;

    TRY(jsonread_object(root, keys, 5, d));
    TRY(jsonread_member(&m, root, "format", d));
    TRY(jsonread_u64(&format, &m, CACHE_FORMAT, CACHE_FORMAT, d));
    TRY(jsonread_member(&m, root, "ok", d));
    TRY(jsonread_bool(&o->ok, &m, d));
    TRY(jsonread_member(&m, root, "reason", d));
    TRY(jsonread_text(&o->reason, a, &m, 4096, d));
    TRY(jsonread_member(&m, root, "compile_s", d));
    TRY(jsonread_number(&o->compile_s, &m, 0, 1e6, d));
    TRY(jsonread_member(&m, root, "kernels", d));
    TRY(jsonread_array(&m, 0, 100000, d));
    o->kernel_count = jsonread_length(&m);
    kernels = arena_array(a, o->kernel_count + 1, sizeof *kernels);
    if (!kernels)
        return no_memory(d);
    for (unsigned i = 0; i < o->kernel_count; i++) {
        const struct jsonref item = jsonread_item(&m, i);

        TRY(read_kernel(&kernels[i], a, &item, d));
    }
    o->kernels = kernels;
    return STATUS_OK;
}

bool cache_recall(struct object *out, struct arena *a, const char *dir, const char *key)
{
    const char *json = entry(a, dir, key, "json"), *so = entry(a, dir, key, "so");
    const char *log = entry(a, dir, key, "log");
    struct object o = {.key = key, .so_path = so, .cached = true};
    struct jsondoc doc = JSONDOC_EMPTY;
    struct jsonref root;
    struct diag d;
    char *text;
    size_t len;
    bool good;

    if (!json || !so || !log || !file_exists(json))
        return false;
    good = jsonread_open(&doc, a, json, LOG_MAX_BYTES, &d) == STATUS_OK;
    root = jsonread_root(&doc);
    good = good && read_entry(&o, a, &root, &d) == STATUS_OK &&
           file_read(&text, &len, a, log, LOG_MAX_BYTES, &d) == STATUS_OK &&
           (!o.ok || file_exists(so));
    jsonread_close(&doc);
    if (!good)
        return false;
    (void)utimensat(AT_FDCWD, json, NULL, 0); /* for cache_trim: used just now */
    o.log = text;
    *out = o;
    return true;
}

/* --- writing an entry --- */

static char *entry_json(const struct object *o)
{
    json_t *kernels = json_array();
    json_t *root;
    char *text;

    for (unsigned i = 0; i < o->kernel_count; i++) {
        const struct kernel_info *k = &o->kernels[i];

        (void)json_array_append_new(kernels,
                                    json_pack("{s:s, s:I, s:I, s:I, s:I, s:I}", "name", k->name,
                                              "registers", (json_int_t)k->registers,
                                              "spill_store_bytes", (json_int_t)k->spill_store_bytes,
                                              "spill_load_bytes", (json_int_t)k->spill_load_bytes,
                                              "stack_bytes", (json_int_t)k->stack_bytes,
                                              "shared_bytes", (json_int_t)k->shared_bytes));
    }
    root = json_pack("{s:i, s:b, s:s, s:f, s:o}", "format", CACHE_FORMAT, "ok", o->ok, "reason",
                     o->reason, "compile_s", o->compile_s, "kernels", kernels);
    text = root ? json_dumps(root, JSON_INDENT(1)) : NULL;
    json_decref(root);
    return text;
}

static enum status write_deps(struct arena *a, const char *dir, const char *source_key,
                              const char *const *deps, struct diag *d)
{
    const char *path = entry(a, dir, source_key, "deps");
    const char *text = "";

    for (; text && *deps; deps++)
        text = arena_printf(a, "%s%s\n", text, *deps);
    if (!path || !text)
        return no_memory(d);
    if (!*text && !file_exists(path))
        return STATUS_OK; /* the usual case: one self-contained file */
    return file_write(path, text, strlen(text), d);
}

enum status cache_store(struct object *out, struct arena *a, const char *dir,
                        const char *source_key, const char *const *deps, const char *built,
                        struct diag *d)
{
    const char *json, *log;
    char *text;
    enum status st = STATUS_OK;

    TRY(write_deps(a, dir, source_key, deps, d));
    TRY(cache_key(&out->key, a, dir, source_key, d));
    out->so_path = entry(a, dir, out->key, "so");
    json = entry(a, dir, out->key, "json");
    log = entry(a, dir, out->key, "log");
    if (!out->so_path || !json || !log)
        return no_memory(d);
    if (built && rename(built, out->so_path) != 0)
        return diag_at(d, STATUS_IO, out->so_path, 0, 0, "cannot write: %s", strerror(errno));
    TRY(file_write(log, out->log, strlen(out->log), d));
    text = entry_json(out);
    if (!text)
        return no_memory(d);
    st = file_write(json, text, strlen(text), d);
    free(text);
    return st;
}

/* --- housekeeping --- */

enum status cache_workdir(char **path, struct arena *a, const char *dir, struct diag *d)
{
    const char *const *names;
    unsigned count;
    const time_t now = time(NULL);

    TRY(dir_make(dir, d));
    TRY(dir_list(&names, &count, a, dir, d));
    for (unsigned i = 0; i < count; i++) {
        const char *full = arena_printf(a, "%s/%s", dir, names[i]);
        struct stat s;
        struct diag ignored;

        if (full && strncmp(names[i], "work-", 5) == 0 && lstat(full, &s) == 0 &&
            now - s.st_mtime > STALE_S)
            (void)!path_remove(full, &ignored);
    }
    *path = arena_printf(a, "%s/work-XXXXXX", dir);
    if (!*path)
        return no_memory(d);
    if (!mkdtemp(*path))
        return diag_at(d, STATUS_IO, dir, 0, 0, "cannot write to the cache: %s", strerror(errno));
    return STATUS_OK;
}

struct aged {
    const char *key; /* name without ".json" */
    struct timespec used;
    uint64_t size;
};

static int by_age(const void *x, const void *y)
{
    const struct aged *a = x, *b = y;

    if (a->used.tv_sec != b->used.tv_sec)
        return a->used.tv_sec < b->used.tv_sec ? -1 : 1;
    return a->used.tv_nsec < b->used.tv_nsec ? -1 : a->used.tv_nsec > b->used.tv_nsec;
}

static uint64_t size_of(const char *path)
{
    struct stat s;

    return path && stat(path, &s) == 0 ? (uint64_t)s.st_size : 0;
}

void cache_trim(const char *dir, uint64_t max_mib, const char *keep_key)
{
    static const char *const endings[] = {"json", "log",
                                          "so"}; /* json first: then the entry is gone */
    struct arena a = {0};
    const char *const *names;
    unsigned count, n = 0;
    struct aged *list = NULL;
    uint64_t total = 0;
    struct diag ignored;

    if (dir_list(&names, &count, &a, dir, &ignored) == STATUS_OK)
        list = arena_array(&a, count + 1, sizeof *list);
    for (unsigned i = 0; list && i < count; i++) {
        const size_t len = strlen(names[i]);
        struct aged *e = &list[n];
        struct stat s;
        const char *json;

        if (len < 6 || strcmp(names[i] + len - 5, ".json") != 0)
            continue;
        e->key = arena_strndup(&a, names[i], len - 5);
        json = e->key ? entry(&a, dir, e->key, "json") : NULL;
        if (!json || stat(json, &s) != 0)
            continue;
        e->used = s.st_mtim;
        for (unsigned k = 0; k < 3; k++)
            e->size += size_of(entry(&a, dir, e->key, endings[k]));
        total += e->size;
        n++;
    }
    if (n)
        qsort(list, n, sizeof *list, by_age);
    for (unsigned i = 0; i < n && total > max_mib << 20; i++) {
        if (strcmp(list[i].key, keep_key) == 0)
            continue;
        for (unsigned k = 0; k < 3; k++) {
            const char *path = entry(&a, dir, list[i].key, endings[k]);

            if (path)
                (void)unlink(path);
        }
        total -= list[i].size;
    }
    arena_fini(&a);
}

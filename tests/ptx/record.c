/*
 * record.c - records what a real GPU answers: gives the text of each .ptx test to the driver's own
 * compiler, runs it with the operands of ptxtest.c and writes the .gold file that ptxrun --test
 * compares with. Opens libcuda at run time, so it builds without a toolkit or a GPU. Does not
 * judge: a test that the driver refuses is reported and skipped, its old gold file stays.
 *
 *   record OUT-DIR FILE.ptx...     writes OUT-DIR/<area>/<name>.gold for each FILE =
 * .../<area>/<name>.ptx
 */
#include "ptxtest.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

/* The driver API by its stable C names; CUdeviceptr is 64 bits, handles are pointers. */
struct driver {
    int (*init)(unsigned);
    int (*device_get)(int *, int);
    int (*device_name)(char *, int, int);
    int (*driver_version)(int *);
    int (*context_retain)(void **, int);
    int (*context_set)(void *);
    int (*context_reset)(int);
    int (*load)(void **, const void *, unsigned, int *, void **);
    int (*unload)(void *);
    int (*function)(void **, void *, const char *);
    int (*attribute)(void *, int, int);
    int (*alloc)(uint64_t *, size_t);
    int (*release)(uint64_t);
    int (*to_device)(uint64_t, const void *, size_t);
    int (*to_host)(void *, uint64_t, size_t);
    int (*launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                  void *, void **, void **);
    int (*synchronize)(void);
    int (*error_name)(int, const char **);
};

static bool open_driver(struct driver *d)
{
    void *lib = dlopen("libcuda.so.1", RTLD_NOW);
    const struct {
        const char *name;
        void *where;
    } names[] = {
        {"cuInit", &d->init},
        {"cuDeviceGet", &d->device_get},
        {"cuDeviceGetName", &d->device_name},
        {"cuDriverGetVersion", &d->driver_version},
        {"cuDevicePrimaryCtxRetain", &d->context_retain},
        {"cuCtxSetCurrent", &d->context_set},
        {"cuDevicePrimaryCtxReset_v2", &d->context_reset},
        {"cuModuleLoadDataEx", &d->load},
        {"cuModuleUnload", &d->unload},
        {"cuModuleGetFunction", &d->function},
        {"cuFuncSetAttribute", &d->attribute},
        {"cuMemAlloc_v2", &d->alloc},
        {"cuMemFree_v2", &d->release},
        {"cuMemcpyHtoD_v2", &d->to_device},
        {"cuMemcpyDtoH_v2", &d->to_host},
        {"cuLaunchKernel", &d->launch},
        {"cuCtxSynchronize", &d->synchronize},
        {"cuGetErrorName", &d->error_name},
    };
    if (!lib) {
        fprintf(stderr, "record: %s\n", dlerror());
        return false;
    }
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        void *symbol = dlsym(lib, names[i].name);
        if (!symbol) {
            fprintf(stderr, "record: libcuda has no %s\n", names[i].name);
            return false;
        }
        memcpy(names[i].where, &symbol, sizeof symbol);
    }
    return true;
}

static const char *error_text(const struct driver *d, int code)
{
    const char *text = NULL;
    return d->error_name(code, &text) == 0 && text ? text : "unknown error";
}

struct machine {
    char gpu[100];
    int driver;
    char date[16];
};

/* One launch; results replace the contents of the out buffers. Returns the driver's code. */
static int run(const struct driver *d, struct test *t, const char *text, char *log,
               unsigned log_size)
{
    void *module = NULL, *function = NULL, *params[TEST_ARGS];
    uint64_t values[TEST_ARGS] = {0};
    int options[] = {5, 6}; /* error log buffer and its size */
    void *option_values[] = {log, (void *)(uintptr_t)log_size};
    int code = d->load(&module, text, 2, options, option_values);
    if (code)
        return code;
    code = d->function(&function, module, t->kernel);
    for (unsigned i = 0; code == 0 && i < t->arg_count; i++) {
        struct test_arg *a = &t->args[i];
        params[i] = &values[i];
        values[i] = a->bits;
        if (!a->buffer)
            continue;
        code = d->alloc(&values[i], a->count * a->type->bytes);
        if (code == 0)
            code = d->to_device(values[i], a->data, a->count * a->type->bytes);
    }
    if (code == 0 && t->shared > 48u << 10)
        code = d->attribute(function, 8, (int)t->shared);
    if (code == 0) {
        code = d->launch(function, t->grid[0], t->grid[1], t->grid[2], t->block[0], t->block[1],
                         t->block[2], t->shared, NULL, params, NULL);
    }
    if (code == 0)
        code = d->synchronize();
    for (unsigned i = 0; i < t->arg_count; i++) {
        struct test_arg *a = &t->args[i];
        if (!a->buffer)
            continue;
        if (code == 0 && a->out)
            code = d->to_host(a->data, values[i], a->count * a->type->bytes);
        if (values[i])
            d->release(values[i]);
    }
    d->unload(module);
    return code;
}

/* .../<area>/<name>.ptx -> OUT/<area>/<name>.gold, with the folder made. */
static bool gold_file(const char *out, const char *file, char *path, size_t size)
{
    const char *name = strrchr(file, '/'), *area = name;
    if (!name)
        return false;
    while (area > file && area[-1] != '/')
        area--;
    int n = snprintf(path, size, "%s/%.*s", out, (int)(name - area), area);
    if (n < 0 || (size_t)n >= size || (mkdir(path, 0777) != 0 && errno != EEXIST))
        return false;
    size_t len = strlen(name);
    if (len > 4 && strcmp(name + len - 4, ".ptx") == 0)
        len -= 4;
    return snprintf(path + n, size - (size_t)n, "%.*s.gold", (int)len, name) > 0;
}

static bool record(const struct driver *d, const struct machine *m, const char *out,
                   const char *file)
{
    struct test t;
    char err[200], path[1024], log[2048] = "";
    char *text = ptxtest_slurp(file, NULL);
    if (!text || !ptxtest_parse(&t, text, err, sizeof err)) {
        fprintf(stderr, "record: %s: %s\n", file, text ? err : strerror(errno));
        free(text);
        return false;
    }
    bool ok = true;
    if (t.device && t.error == 0) {
        int code = run(d, &t, text, log, sizeof log);
        FILE *gold = code == 0 && gold_file(out, file, path, sizeof path) ? fopen(path, "w") : NULL;
        if (code)
            fprintf(stderr, "record: %s: %s %s\n", file, error_text(d, code), log);
        ok = gold != NULL;
        if (gold) {
            fprintf(gold, "# recorded on %s, driver %d.%d, %s\n", m->gpu, m->driver / 1000,
                    m->driver % 1000 / 10, m->date);
            for (unsigned i = 0; i < t.arg_count; i++) {
                if (t.args[i].out)
                    ptxtest_write_gold(gold, &t.args[i], t.args[i].data);
            }
            ok = fclose(gold) == 0;
        }
    }
    ptxtest_free(&t);
    free(text);
    return ok;
}

int main(int argc, char **argv)
{
    struct driver d;
    struct machine m;
    void *context = NULL;
    int device = 0, failed = 0;
    if (argc < 3) {
        fprintf(stderr, "Usage: record OUT-DIR FILE.ptx...\n");
        return 2;
    }
    if (!open_driver(&d))
        return 2;
    if (d.init(0) || d.device_get(&device, 0) || d.device_name(m.gpu, sizeof m.gpu, device) ||
        d.driver_version(&m.driver) || d.context_retain(&context, device) ||
        d.context_set(context)) {
        fprintf(stderr, "record: no usable GPU\n");
        return 2;
    }
    time_t now = time(NULL);
    strftime(m.date, sizeof m.date, "%Y-%m-%d", gmtime(&now));
    for (int i = 2; i < argc; i++) {
        if (!record(&d, &m, argv[1], argv[i]))
            failed++;
    }
    fprintf(stderr, "record: %d of %d files recorded on %s\n", argc - 2 - failed, argc - 2, m.gpu);
    d.context_reset(device);
    return failed ? 1 : 0;
}

/*
 * state.c - the one place with state: the lock, the runtime, each thread's last error, and the
 * options from the environment. Implements no API function beyond the two the judge calls.
 * Invariant: the runtime is touched under the lock only.
 */
#include "runtime.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct runtime runtime;
static _Thread_local struct thread_state thread;

EXPORT void warpjudge_vgpu_name(const void *device_ptr, const char *name);
EXPORT unsigned long long warpjudge_vgpu_flush(void);

struct thread_state *api_thread(void) { return &thread; }
void api_lock(void) { pthread_mutex_lock(&lock); }
void api_unlock(void) { pthread_mutex_unlock(&lock); }

/* ---- options ---- */

/* The next piece of *text up to `separator`, copied; false at the end. */
static bool next_piece(const char **text, char separator, char *out, size_t size)
{
    const char *s = *text;

    if (*s == '\0')
        return false;
    const char *end = strchr(s, separator);
    const size_t len = end ? (size_t)(end - s) : strlen(s);
    snprintf(out, size, "%.*s", (int)len, s);
    *text = end ? end + 1 : s + len;
    return true;
}

static void set_checks(struct vgpu_options *o, const char *list)
{
    char name[32];

    o->check_mem = o->check_init = o->check_race = o->check_sync = false;
    while (next_piece(&list, ',', name, sizeof name)) {
        const bool all = strcmp(name, "all") == 0;
        o->check_mem = o->check_mem || all || strcmp(name, "mem") == 0;
        o->check_init = o->check_init || all || strcmp(name, "init") == 0;
        o->check_race = o->check_race || all || strcmp(name, "race") == 0;
        o->check_sync = o->check_sync || all || strcmp(name, "sync") == 0;
    }
}

static void set_names(struct vgpu_options *o, char *storage, const char *list)
{
    char *to = storage;
    char name[32];

    while (o->name_count < NAMES_MAX && next_piece(&list, ',', name, sizeof name)) {
        o->names[o->name_count++] =
            strcpy(to, name); /* NAMES_MAX names of at most 32 bytes fit the storage */
        to += sizeof name;
    }
}

static bool set_option(struct vgpu_options *o, char *names, const char *key, const char *value)
{
    const unsigned long long n = strtoull(value, NULL, 0);

    if (strcmp(key, "checks") == 0)
        set_checks(o, value);
    else if (strcmp(key, "names") == 0)
        set_names(o, names, value);
    else if (strcmp(key, "counters") == 0)
        o->counters = n != 0;
    else if (strcmp(key, "per_insn") == 0)
        o->per_insn = n != 0;
    else if (strcmp(key, "strict") == 0)
        o->strict = n != 0;
    else if (strcmp(key, "fail_alloc") == 0)
        o->fail_alloc = n;
    else if (strcmp(key, "early_async") == 0)
        o->early_async = n != 0;
    else if (strcmp(key, "seed") == 0)
        o->seed = n;
    else if (strcmp(key, "budget") == 0)
        o->budget = n;
    else if (strcmp(key, "memory_mib") == 0)
        o->memory_mib = n;
    else if (strcmp(key, "fd") == 0)
        o->fd = (int)n;
    else if (strcmp(key, "profile") == 0)
        return strcmp(value, "sm_90") == 0;
    else
        return strcmp(key, "procs") == 0; /* for the judge: it runs that many processes */
    return true;
}

static void read_options(struct runtime *rt, const char *text)
{
    struct vgpu_options *o = &rt->device.options;
    char *names = vg_alloc(&rt->device.arena, (size_t)NAMES_MAX * 32);
    char piece[1024];

    *o = (struct vgpu_options){.check_mem = true,
                               .check_init = true,
                               .check_race = true,
                               .check_sync = true,
                               .counters = true,
                               .memory_mib = 16384,
                               .fd = -1};
    while (text && names && next_piece(&text, ';', piece, sizeof piece)) {
        char *equals = strchr(piece, '=');
        if (equals)
            *equals = '\0';
        if (piece[0] && (!equals || !set_option(o, names, piece, equals + 1)))
            fprintf(stderr, "vgpu: WARPJUDGE_VGPU: option '%s' is unknown or has a wrong value\n",
                    piece);
    }
}

/* ---- life ---- */

static void open_device(struct runtime *rt)
{
    struct vgpu_device *d = &rt->device;

    rt->opened = true;
    read_options(rt, getenv("WARPJUDGE_VGPU"));
    d->sm_count = 8;
    d->report.fd = d->options.fd;
    rt->legacy = (struct stream){.id = 1};
    rt->per_thread = (struct stream){.id = 2};
    rt->stream_ids = 2;
    rt->streams = &rt->per_thread; /* it can be captured, like the streams made later */
    pool_init(&rt->default_pool, true);
    rt->current_pool = &rt->default_pool;
    limits_init(rt);
    if (!mem_open(&d->space, d->options.memory_mib << 20, d->options.check_init)) {
        rt->broken = cudaErrorInitializationError;
        fprintf(stderr, "vgpu: no address space for device memory: %s\n", strerror(errno));
    }
}

struct runtime *api_begin(enum api_mode mode)
{
    struct runtime *rt = &runtime;

    api_lock();
    if (!rt->opened)
        open_device(rt);
    rt->call = NULL;
    rt->why[0] = '\0';
    rt->told = false;
    if (mode == API_SYNC) {
        runtime_flush(rt);
        if (rt->pending != cudaSuccess && rt->sticky == cudaSuccess)
            rt->sticky = rt->pending;
        rt->pending = cudaSuccess;
    }
    rt->entry = rt->broken != cudaSuccess ? rt->broken
                : mode == API_PLAIN       ? cudaSuccess
                                          : rt->sticky;
    return rt;
}

/* Errors that blame the arguments, not an answer such as cudaErrorNotReady. */
static bool is_misuse(cudaError_t e)
{
    switch ((int)e) {
    case cudaErrorInvalidValue:
    case cudaErrorMemoryAllocation:
    case cudaErrorInvalidConfiguration:
    case cudaErrorInvalidPitchValue:
    case cudaErrorInvalidSymbol:
    case cudaErrorInvalidHostPointer:
    case cudaErrorInvalidDevicePointer:
    case cudaErrorInvalidMemcpyDirection:
    case cudaErrorInvalidDeviceFunction:
    case cudaErrorInvalidResourceHandle:
    case cudaErrorLaunchOutOfResources:
    case cudaErrorCooperativeLaunchTooLarge:
    case cudaErrorInvalidClusterSize:
        return true;
    default:
        return e >= cudaErrorStreamCaptureUnsupported && e <= cudaErrorStreamCaptureWrongThread;
    }
}

cudaError_t api_refuse(struct runtime *rt, cudaError_t e, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(rt->why, sizeof rt->why, fmt, args);
    va_end(args);
    return e;
}

static void explain(struct runtime *rt, cudaError_t e)
{
    char text[256];

    snprintf(text, sizeof text, "%s gave %s%s%s", rt->call + strspn(rt->call, "_"),
             cudaGetErrorName(e), rt->why[0] ? ": " : "", rt->why);
    runtime_finding(rt, FAULT_API_REFUSED, 0, 0, text);
}

cudaError_t api_end(struct runtime *rt, cudaError_t e)
{
    if (e != cudaSuccess) {
        thread.last = e;
        if (rt->call && !rt->told && is_misuse(e))
            explain(rt, e);
    }
    api_unlock();
    return e;
}

void runtime_flush(struct runtime *rt)
{
    struct vgpu_device *d = &rt->device;

    if (d->printf_used) {
        fwrite(d->printf_buffer, 1, d->printf_used, stdout);
        fflush(stdout);
        d->printf_used = 0;
    }
    report_flush(&d->report);
}

void runtime_warn(struct runtime *rt, const char *fmt, ...)
{
    char text[512];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    report_text(&rt->device.report, "warning", text);
}

cudaError_t runtime_finding(struct runtime *rt, enum fault_kind kind, uint64_t address,
                            uint64_t width, const char *detail)
{
    struct finding f = {.kind = kind,
                        .address = address,
                        .width = width > UINT32_MAX ? UINT32_MAX : (uint32_t)width};

    f.alloc = mem_find(&rt->device.space, address, &f.alloc_inside);
    snprintf(f.detail, sizeof f.detail, "%s", detail);
    if (rt->device.options.check_mem || !fault_is_error(kind)) {
        report_finding(&rt->device.report, &f);
        rt->told = rt->told || fault_is_error(kind);
    }
    return (cudaError_t)fault_cuda_error(kind);
}

/* Device allocations that the solution made and nobody freed; those the judge named are its own. */
static void report_leaks(struct runtime *rt)
{
    const struct space *s = &rt->device.space;

    for (size_t i = 0; rt->device.options.check_mem && i < s->alloc_count; i++) {
        const struct alloc *a = s->allocs[i];
        if (!a->live || a->name[0] || (a->kind != ALLOC_DEVICE && a->kind != ALLOC_ASYNC))
            continue;
        runtime_finding(rt, FAULT_LEAK, a->addr, a->size, "");
    }
}

static void free_pools(struct runtime *rt)
{
    while (rt->pools) {
        struct pool *next = rt->pools->next;
        free(rt->pools);
        rt->pools = next;
    }
}

static void free_streams(struct runtime *rt)
{
    while (rt->streams) {
        struct stream *next = rt->streams->next;
        free(rt->streams->tips);
        if (rt->streams != &rt->per_thread)
            free(rt->streams);
        rt->streams = next;
    }
    while (rt->events) {
        struct event *next = rt->events->next;
        free(rt->events->tips);
        free(rt->events);
        rt->events = next;
    }
    free(rt->legacy.tips);
}

static void drop_objects(struct object_table *t)
{
    for (size_t i = 0; i < t->size; i++) /* registered stubs, kernels and symbols outlive a reset */
        if (t->slots[i].kind > OBJECT_SYMBOL && t->slots[i].kind != OBJECT_LIBRARY)
            t->slots[i].kind = OBJECT_FREE;
}

/* Pinned and managed memory lives on the host's heap. */
static void free_host_storage(struct space *s)
{
    for (size_t i = 0; i < s->host_count; i++)
        if (s->hosts[i]->kind == ALLOC_PINNED || s->hosts[i]->kind == ALLOC_MANAGED)
            free(s->hosts[i]->host);
}

void runtime_reset(struct runtime *rt)
{
    for (struct module *m = rt->modules; m; m = m->next)
        module_unload(rt, m);
    graphs_reset(rt);
    free_streams(rt);
    free_pools(rt);
    drop_objects(&rt->objects);
    runtime_flush(rt);
    free_host_storage(&rt->device.space);
    mem_close(&rt->device.space);
    vg_arena_free(&rt->device.report.arena);
    vg_arena_free(&rt->device.arena);
    free(rt->device.report.seen);
    free(rt->device.report.buffer);
    free(rt->device.printf_buffer);
    const struct object_table objects = rt->objects;
    struct module *modules = rt->modules;
    *rt = (struct runtime){.objects = objects, .modules = modules};
}

/* The last words: output of kernels that nobody waited for, leaks, findings. */
__attribute__((destructor)) static void at_unload(void)
{
    api_lock();
    if (runtime.opened) {
        if (runtime.broken == cudaSuccess)
            report_leaks(&runtime);
        runtime_flush(&runtime);
        report_end_of_call(&runtime.device.report);
    }
    api_unlock();
}

/* ---- for the judge ---- */

EXPORT void warpjudge_vgpu_name(const void *device_ptr, const char *name)
{
    struct runtime *rt = api_begin(API_PLAIN);
    bool inside = false;
    struct alloc *a = mem_find(&rt->device.space, (uint64_t)(uintptr_t)device_ptr, &inside);

    if (a && inside)
        snprintf(a->name, sizeof a->name, "%s", name);
    api_unlock();
}

EXPORT unsigned long long warpjudge_vgpu_flush(void)
{
    struct runtime *rt = api_begin(API_PLAIN);

    runtime_flush(rt);
    report_end_of_call(&rt->device.report);
    const unsigned long long errors = rt->device.report.errors;
    api_unlock();
    return errors;
}

/* ---- handles ---- */

/* Open addressing with linear probing; a freed slot keeps its key so that chains through it stay
 * whole. */
static size_t slot_of(const struct object_table *t, const void *key, enum object_kind kind)
{
    uint64_t h = ((uint64_t)(uintptr_t)key >> 3) * 0x9e3779b97f4a7c15ull + (uint64_t)kind;

    return (size_t)(h >> 20) & (t->size - 1);
}

static struct object *find_slot(const struct object_table *t, const void *key,
                                enum object_kind kind)
{
    for (size_t i = 0, at = t->size ? slot_of(t, key, kind) : 0; i < t->size;
         i++, at = (at + 1) & (t->size - 1)) {
        struct object *o = &t->slots[at];
        if (o->kind == kind && o->key == key)
            return o;
        if (o->kind == OBJECT_FREE && !o->key)
            return NULL;
    }
    return NULL;
}

void *object_find(const struct object_table *t, const void *key, enum object_kind kind)
{
    const struct object *o = key ? find_slot(t, key, kind) : NULL;

    return o ? o->value : NULL;
}

/* A fresh table for the slots in use; freed ones are left behind. */
static bool rehash(struct object_table *t)
{
    struct object_table fresh = {.size = 256};
    size_t live = 0;

    for (size_t i = 0; i < t->size; i++)
        live += t->slots[i].kind != OBJECT_FREE;
    while (fresh.size < live * 4)
        fresh.size *= 2;
    fresh.slots = calloc(fresh.size, sizeof *fresh.slots);
    if (!fresh.slots)
        return false;
    for (size_t i = 0; i < t->size; i++)
        if (t->slots[i].kind != OBJECT_FREE)
            object_add(&fresh, t->slots[i].key, t->slots[i].kind, t->slots[i].value);
    free(t->slots);
    *t = fresh;
    return true;
}

bool object_add(struct object_table *t, const void *key, enum object_kind kind, void *value)
{
    struct object *old = find_slot(t, key, kind);

    if (old) { /* the same host address again: the later registration counts */
        old->value = value;
        return true;
    }
    if (t->used * 2 >= t->size && !rehash(t))
        return false;
    size_t at = slot_of(t, key, kind);
    while (t->slots[at].key)
        at = (at + 1) & (t->size - 1);
    t->slots[at] = (struct object){key, value, kind};
    t->used++;
    return true;
}

void object_remove(struct object_table *t, const void *key, enum object_kind kind)
{
    struct object *o = find_slot(t, key, kind);

    if (o)
        o->kind = OBJECT_FREE;
}

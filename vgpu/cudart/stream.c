/*
 * stream.c - streams, and the one way in which work reaches the device or a graph under capture.
 * Work runs at once, in the order of the calls: one of the orders that hardware allows. Invariant:
 * a capturing stream runs nothing.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

static const unsigned stream_flags = cudaStreamNonBlocking;
enum { PRIORITY_LEAST = 0, PRIORITY_GREATEST = -5 };

struct stream *stream_find(struct runtime *rt, cudaStream_t s)
{
    if (s == NULL || s == cudaStreamLegacy)
        return &rt->legacy;
    if (s == cudaStreamPerThread)
        return &rt->per_thread;
    return object_find(&rt->objects, s, OBJECT_STREAM);
}

/* ---- work ---- */

static bool is_legacy(const struct runtime *rt, const struct stream *s) { return s == &rt->legacy; }

/* The legacy stream waits for all blocking streams; while one of them is captured that cannot be
 * said. */
static bool breaks_capture(struct runtime *rt, const struct stream *s)
{
    if (!is_legacy(rt, s) || rt->capturing == 0)
        return false;
    bool broken = false;
    for (struct stream *t = rt->streams; t; t = t->next)
        if (t->capture == cudaStreamCaptureStatusActive &&
            (t->flags & cudaStreamNonBlocking) == 0) {
            t->capture = cudaStreamCaptureStatusInvalidated;
            broken = true;
        }
    return broken;
}

cudaError_t work_check(struct runtime *rt, const struct work *w)
{
    switch (w->kind) {
    case WORK_COPY:
        return copy_check(rt, &w->u.copy);
    case WORK_SET:
        return fill_check(rt, &w->u.fill);
    case WORK_HOST:
        return w->u.host.fn || w->u.host.callback ? cudaSuccess : cudaErrorInvalidValue;
    case WORK_EMPTY:
    case WORK_KERNEL: /* checked when it was prepared */
    case WORK_RECORD:
    case WORK_WAIT:
    case WORK_ALLOC:
    case WORK_FREE:
    case WORK_CHILD:
        break;
    }
    return cudaSuccess;
}

/* A callback may not call the API on hardware; here it runs without the lock, so that one that does
 * cannot hang. */
static void run_host(const struct work *w)
{
    const struct work copy = *w;

    api_unlock();
    if (copy.u.host.fn)
        copy.u.host.fn(copy.u.host.user);
    else
        copy.u.host.callback(copy.u.host.stream, cudaSuccess, copy.u.host.user);
    api_lock();
}

/* An allocation node hands out the address it was given when it was made; a replay finds it freed
 * and brings it back. */
static cudaError_t run_alloc(struct runtime *rt, const struct work *w)
{
    bool inside = false;
    struct alloc *a = mem_find(&rt->device.space, (uint64_t)(uintptr_t)w->u.alloc.ptr, &inside);

    if (!a || !inside)
        return cudaErrorInvalidValue;
    return a->live || mem_revive(&rt->device.space, a) ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t work_run(struct runtime *rt, const struct work *w)
{
    if (rt->pending != cudaSuccess)
        return cudaSuccess; /* the context is lost already; the next synchronising call says so */
    switch (w->kind) {
    case WORK_EMPTY:
    case WORK_WAIT:
    case WORK_CHILD:
        break;
    case WORK_KERNEL:
        return launch_run(rt, &w->u.launch);
    case WORK_COPY:
        copy_run(rt, &w->u.copy);
        break;
    case WORK_SET:
        fill_run(rt, &w->u.fill);
        break;
    case WORK_HOST:
        run_host(w);
        break;
    case WORK_RECORD:
        w->u.event->recorded = true;
        w->u.event->clock = rt->device.clock;
        break;
    case WORK_ALLOC:
        return run_alloc(rt, w);
    case WORK_FREE:
        return device_free(rt, w->u.alloc.ptr, true);
    }
    return cudaSuccess;
}

void work_drop(struct work *w)
{
    if (w->kind == WORK_KERNEL) {
        free(w->u.launch.params);
        w->u.launch.params = NULL;
    }
}

cudaError_t stream_submit(struct runtime *rt, cudaStream_t handle, struct work *w)
{
    struct stream *s = stream_find(rt, handle);
    cudaError_t e = s ? work_check(rt, w) : cudaErrorInvalidResourceHandle;

    if (e == cudaSuccess && s->capture == cudaStreamCaptureStatusInvalidated)
        e = cudaErrorStreamCaptureInvalidated;
    if (e == cudaSuccess && breaks_capture(rt, s))
        e = cudaErrorStreamCaptureImplicit;
    if (e == cudaSuccess && s->capture == cudaStreamCaptureStatusActive)
        return graph_capture(rt, s, w); /* the graph owns it now */
    if (e == cudaSuccess)
        e = work_run(rt, w);
    work_drop(w);
    return e;
}

/* Ends the captures under way, those of the relaxed mode too when `all`; was there one? */
static bool spoil_captures(struct runtime *rt, bool all)
{
    bool hit = false;

    for (struct stream *s = rt->capturing ? rt->streams : NULL; s; s = s->next)
        if (s->capture == cudaStreamCaptureStatusActive &&
            (all || s->capture_mode != cudaStreamCaptureModeRelaxed)) {
            s->capture = cudaStreamCaptureStatusInvalidated;
            hit = true;
        }
    return hit;
}

bool capture_spoil(struct runtime *rt, const struct graph *g)
{
    bool hit = false;

    for (struct stream *s = rt->streams; s; s = s->next)
        if (s->capture == cudaStreamCaptureStatusActive && s->graph == g) {
            s->capture = cudaStreamCaptureStatusInvalidated;
            hit = true;
        }
    return hit;
}

cudaError_t capture_unsafe(struct runtime *rt)
{
    if (api_thread()->capture_mode == cudaStreamCaptureModeRelaxed)
        return cudaSuccess;
    return spoil_captures(rt, false) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t capture_implicit(struct runtime *rt)
{
    return spoil_captures(rt, true) ? cudaErrorStreamCaptureImplicit : cudaSuccess;
}

static cudaError_t device_sync(struct runtime *rt)
{
    return spoil_captures(rt, true) ? cudaErrorStreamCaptureUnsupported : cudaSuccess;
}

cudaError_t stream_sync(struct runtime *rt, cudaStream_t handle)
{
    struct stream *s = stream_find(rt, handle);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (s->capture == cudaStreamCaptureStatusNone)
        return cudaSuccess;
    s->capture = cudaStreamCaptureStatusInvalidated;
    return cudaErrorStreamCaptureUnsupported;
}

EXPORT cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
    API_BODY(API_SYNC, stream_sync(rt, stream));
}
PER_THREAD_STREAM(cudaStreamSynchronize);

EXPORT cudaError_t cudaStreamQuery(cudaStream_t stream)
{
    API_BODY(API_SYNC, stream_sync(rt, stream));
}

PER_THREAD_STREAM(cudaStreamQuery);

EXPORT cudaError_t cudaDeviceSynchronize(void) { API_BODY(API_SYNC, device_sync(rt)); }

/* ---- life of a stream ---- */

static cudaError_t stream_create(struct runtime *rt, cudaStream_t *out, unsigned flags,
                                 int priority)
{
    if (!out || (flags & ~stream_flags) != 0)
        return cudaErrorInvalidValue;
    struct stream *s = calloc(1, sizeof *s);
    if (!s || !object_add(&rt->objects, s, OBJECT_STREAM, s)) {
        free(s);
        return cudaErrorMemoryAllocation;
    }
    s->flags = flags;
    s->priority = priority > PRIORITY_LEAST      ? PRIORITY_LEAST
                  : priority < PRIORITY_GREATEST ? PRIORITY_GREATEST
                                                 : priority;
    s->id = ++rt->stream_ids;
    s->next = rt->streams;
    rt->streams = s;
    *out = (cudaStream_t)(void *)s;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
    API_BODY(API_WORK, stream_create(rt, stream, 0, 0));
}

EXPORT cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned flags)
{
    API_BODY(API_WORK, stream_create(rt, stream, flags, 0));
}

EXPORT cudaError_t cudaStreamCreateWithPriority(cudaStream_t *stream, unsigned flags, int priority)
{
    API_BODY(API_WORK, stream_create(rt, stream, flags, priority));
}

static cudaError_t stream_destroy(struct runtime *rt, cudaStream_t handle)
{
    struct stream *s = object_find(&rt->objects, handle, OBJECT_STREAM);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (s->capture != cudaStreamCaptureStatusNone) {
        rt->capturing--;
        if (s->origin && s->graph)
            graph_delete(rt, s->graph);
    }
    for (struct stream **at = &rt->streams; *at; at = &(*at)->next)
        if (*at == s) {
            *at = s->next;
            break;
        }
    object_remove(&rt->objects, s, OBJECT_STREAM);
    free(s->tips);
    free(s);
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
    API_BODY(API_WORK, stream_destroy(rt, stream));
}

/* ---- properties ---- */

static cudaError_t stream_get(struct runtime *rt, cudaStream_t handle, const void *out,
                              const struct stream **s)
{
    *s = stream_find(rt, handle);
    if (!*s)
        return cudaErrorInvalidResourceHandle;
    return out ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t get_flags(struct runtime *rt, cudaStream_t h, unsigned *out)
{
    const struct stream *s;
    const cudaError_t e = stream_get(rt, h, out, &s);

    if (e == cudaSuccess)
        *out = s->flags;
    return e;
}

EXPORT cudaError_t cudaStreamGetFlags(cudaStream_t stream, unsigned *flags)
{
    API_BODY(API_WORK, get_flags(rt, stream, flags));
}
PER_THREAD_STREAM(cudaStreamGetFlags);

static cudaError_t get_priority(struct runtime *rt, cudaStream_t h, int *out)
{
    const struct stream *s;
    const cudaError_t e = stream_get(rt, h, out, &s);

    if (e == cudaSuccess)
        *out = s->priority;
    return e;
}

EXPORT cudaError_t cudaStreamGetPriority(cudaStream_t stream, int *priority)
{
    API_BODY(API_WORK, get_priority(rt, stream, priority));
}
PER_THREAD_STREAM(cudaStreamGetPriority);

static cudaError_t get_id(struct runtime *rt, cudaStream_t h, unsigned long long *out)
{
    const struct stream *s;
    const cudaError_t e = stream_get(rt, h, out, &s);

    if (e == cudaSuccess)
        *out = s->id;
    return e;
}

EXPORT cudaError_t cudaStreamGetId(cudaStream_t stream, unsigned long long *id)
{
    API_BODY(API_WORK, get_id(rt, stream, id));
}
PER_THREAD_STREAM(cudaStreamGetId);

static cudaError_t get_device(struct runtime *rt, cudaStream_t h, int *out)
{
    const struct stream *s;
    const cudaError_t e = stream_get(rt, h, out, &s);

    if (e == cudaSuccess)
        *out = 0;
    return e;
}

EXPORT cudaError_t cudaStreamGetDevice(cudaStream_t stream, int *device)
{
    API_BODY(API_WORK, get_device(rt, stream, device));
}
PER_THREAD_STREAM(cudaStreamGetDevice);

EXPORT cudaError_t cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    if (least)
        *least = PRIORITY_LEAST;
    if (greatest)
        *greatest = PRIORITY_GREATEST;
    return cudaSuccess;
}

/* Attributes are hints to caches; they are kept and given back. */
static cudaError_t get_attribute(struct runtime *rt, cudaStream_t h, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue *v)
{
    const struct stream *s;
    const cudaError_t e = stream_get(rt, h, v, &s);

    if (e != cudaSuccess)
        return e;
    if (id == cudaLaunchAttributeAccessPolicyWindow)
        v->accessPolicyWindow = s->window;
    else if (id == cudaLaunchAttributeSynchronizationPolicy)
        v->syncPolicy = cudaSyncPolicyAuto;
    else if (id == cudaLaunchAttributePriority)
        v->priority = s->priority;
    else
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamGetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                          cudaLaunchAttributeValue *value)
{
    API_BODY(API_WORK, get_attribute(rt, stream, id, value));
}

PER_THREAD_STREAM(cudaStreamGetAttribute);

static cudaError_t set_attribute(struct runtime *rt, cudaStream_t h, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *v)
{
    struct stream *s = stream_find(rt, h);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!v)
        return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeAccessPolicyWindow)
        s->window = v->accessPolicyWindow;
    else if (id == cudaLaunchAttributePriority)
        s->priority = v->priority;
    else if (id != cudaLaunchAttributeSynchronizationPolicy)
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamSetAttribute(cudaStream_t stream, cudaLaunchAttributeID id,
                                          const cudaLaunchAttributeValue *value)
{
    API_BODY(API_WORK, set_attribute(rt, stream, id, value));
}

PER_THREAD_STREAM(cudaStreamSetAttribute);

static cudaError_t copy_attributes(struct runtime *rt, cudaStream_t to, cudaStream_t from)
{
    struct stream *d = stream_find(rt, to);
    const struct stream *s = stream_find(rt, from);

    if (!d || !s)
        return cudaErrorInvalidResourceHandle;
    d->window = s->window;
    d->priority = s->priority;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamCopyAttributes(cudaStream_t dst, cudaStream_t src)
{
    API_BODY(API_WORK, copy_attributes(rt, dst, src));
}
PER_THREAD_STREAM(cudaStreamCopyAttributes);

/* ---- host functions ---- */

static cudaError_t host_func(struct runtime *rt, cudaStream_t stream, cudaHostFn_t fn,
                             cudaStreamCallback_t callback, void *user)
{
    struct work w = {.kind = WORK_HOST};
    const struct stream *s = stream_find(rt, stream);

    if (s && callback && s->capture != cudaStreamCaptureStatusNone)
        return cudaErrorStreamCaptureUnsupported;
    w.u.host.fn = fn;
    w.u.host.callback = callback;
    w.u.host.user = user;
    w.u.host.stream = stream;
    return stream_submit(rt, stream, &w);
}

EXPORT cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t fn, void *user)
{
    API_BODY(API_WORK, host_func(rt, stream, fn, NULL, user));
}
PER_THREAD_STREAM(cudaLaunchHostFunc);

EXPORT cudaError_t cudaStreamAddCallback(cudaStream_t stream, cudaStreamCallback_t callback,
                                         void *user, unsigned flags)
{
    API_BODY(API_WORK, flags ? cudaErrorInvalidValue : host_func(rt, stream, NULL, callback, user));
}

PER_THREAD_STREAM(cudaStreamAddCallback);

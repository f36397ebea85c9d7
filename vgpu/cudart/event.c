/*
 * event.c - events. Times are those of the virtual clock: they count executed work, not seconds of
 * this machine. Invariant: an event that was recorded is complete, since work runs at once.
 */
#include "runtime.h"

#include <stdlib.h>

static const unsigned event_flags =
    cudaEventBlockingSync | cudaEventDisableTiming | cudaEventInterprocess;

struct event *event_find(struct runtime *rt, cudaEvent_t e)
{
    return object_find(&rt->objects, e, OBJECT_EVENT);
}

static cudaError_t event_create(struct runtime *rt, cudaEvent_t *out, unsigned flags)
{
    if (!out || (flags & ~event_flags) != 0)
        return cudaErrorInvalidValue;
    if (flags & cudaEventInterprocess)
        return flags & cudaEventDisableTiming ? cudaErrorNotSupported : cudaErrorInvalidValue;
    struct event *e = calloc(1, sizeof *e);
    if (!e || !object_add(&rt->objects, e, OBJECT_EVENT, e)) {
        free(e);
        return cudaErrorMemoryAllocation;
    }
    e->flags = flags;
    e->next = rt->events;
    rt->events = e;
    *out = (cudaEvent_t)(void *)e;
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventCreate(cudaEvent_t *event)
{
    API_BODY(API_WORK, event_create(rt, event, 0));
}

EXPORT cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned flags)
{
    API_BODY(API_WORK, event_create(rt, event, flags));
}

static cudaError_t event_destroy(struct runtime *rt, cudaEvent_t handle)
{
    struct event *e = event_find(rt, handle);

    if (!e)
        return cudaErrorInvalidResourceHandle;
    for (struct event **at = &rt->events; *at; at = &(*at)->next)
        if (*at == e) {
            *at = e->next;
            break;
        }
    object_remove(&rt->objects, e, OBJECT_EVENT);
    free(e->tips);
    free(e);
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventDestroy(cudaEvent_t event)
{
    API_BODY(API_WORK, event_destroy(rt, event));
}

/* Under capture an event marks nodes of the graph; an external one becomes a node itself. */
static cudaError_t event_record(struct runtime *rt, cudaEvent_t handle, cudaStream_t stream,
                                unsigned flags)
{
    struct event *e = event_find(rt, handle);
    const struct stream *s = stream_find(rt, stream);
    struct work w = {.kind = WORK_RECORD};

    if (!e || !s)
        return cudaErrorInvalidResourceHandle;
    if (flags & ~(unsigned)cudaEventRecordExternal)
        return cudaErrorInvalidValue;
    if (s->capture == cudaStreamCaptureStatusActive && !(flags & cudaEventRecordExternal)) {
        e->graph = s->graph;
        return graph_copy_tips(&e->tips, &e->tip_count, s->tips, s->tip_count)
                   ? cudaSuccess
                   : cudaErrorMemoryAllocation;
    }
    e->graph = NULL;
    e->stale = false;
    w.u.event = e;
    return stream_submit(rt, stream, &w);
}

EXPORT cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
    API_BODY(API_WORK, event_record(rt, event, stream, 0));
}
PER_THREAD_STREAM(cudaEventRecord);

static cudaError_t event_record_flags(struct runtime *rt, cudaEvent_t event, cudaStream_t stream,
                                      unsigned flags)
{
    const struct stream *s = stream_find(rt, stream);

    if (flags == cudaEventRecordExternal && s && s->capture == cudaStreamCaptureStatusNone)
        return cudaErrorIllegalState; /* it makes a node of a graph */
    return event_record(rt, event, stream, flags);
}

EXPORT cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned flags)
{
    API_BODY(API_WORK, event_record_flags(rt, event, stream, flags));
}

PER_THREAD_STREAM(cudaEventRecordWithFlags);

static cudaError_t event_wait_host(struct runtime *rt, cudaEvent_t handle)
{
    const struct event *e = event_find(rt, handle);

    if (!e)
        return cudaErrorInvalidResourceHandle;
    if (!e->graph)
        return e->stale ? cudaErrorInvalidValue : cudaSuccess;
    return capture_spoil(rt, e->graph) ? cudaErrorCapturedEvent : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
    API_BODY(API_SYNC, event_wait_host(rt, event));
}
EXPORT cudaError_t cudaEventQuery(cudaEvent_t event)
{
    API_BODY(API_SYNC, event_wait_host(rt, event));
}

static cudaError_t event_elapsed(struct runtime *rt, float *ms, cudaEvent_t start, cudaEvent_t end)
{
    const struct event *a = event_find(rt, start), *b = event_find(rt, end);
    bool known = false;

    if (!ms)
        return cudaErrorInvalidValue;
    if (!a || !b || !a->recorded || !b->recorded ||
        ((a->flags | b->flags) & cudaEventDisableTiming))
        return cudaErrorInvalidResourceHandle;
    const double khz = (double)device_attribute(rt, cudaDevAttrClockRate, &known);
    *ms = (float)(((double)b->clock - (double)a->clock) / khz);
    return cudaSuccess;
}

EXPORT cudaError_t cudaEventElapsedTime(float *ms, cudaEvent_t start, cudaEvent_t end)
{
    API_BODY(API_SYNC, event_elapsed(rt, ms, start, end));
}

/* A stream that waits for a captured event joins the capture. */
static cudaError_t join_capture(struct runtime *rt, struct stream *s, const struct event *e)
{
    if (s->capture == cudaStreamCaptureStatusNone) {
        struct stream *origin = NULL;
        for (struct stream *t = rt->streams; t; t = t->next)
            if (t->graph == e->graph && t->capture != cudaStreamCaptureStatusNone && t->origin)
                origin = t;
        if (origin && origin->capture == cudaStreamCaptureStatusInvalidated)
            return cudaErrorInvalidValue;
        if (!origin || s == &rt->legacy)
            return cudaErrorStreamCaptureUnsupported;
        s->capture = cudaStreamCaptureStatusActive;
        s->capture_mode = origin->capture_mode;
        s->capture_id = origin->capture_id;
        s->graph = e->graph;
        s->origin = false;
        s->tip_count = 0;
        rt->capturing++;
    }
    if (s->graph != e->graph)
        return cudaErrorStreamCaptureMerge;
    const size_t total = s->tip_count + e->tip_count;
    if (total > s->tip_cap) {
        struct graph_node **wider = realloc(s->tips, total * sizeof *wider);
        if (!wider)
            return cudaErrorMemoryAllocation;
        s->tips = wider;
        s->tip_cap = total;
    }
    for (size_t i = 0; i < e->tip_count; i++) {
        bool there = false;
        for (size_t k = 0; k < s->tip_count; k++)
            there = there || s->tips[k] == e->tips[i];
        if (!there)
            s->tips[s->tip_count++] = e->tips[i];
    }
    return cudaSuccess;
}

static cudaError_t stream_wait(struct runtime *rt, cudaStream_t stream, cudaEvent_t event,
                               unsigned flags)
{
    const struct event *e = event_find(rt, event);
    struct stream *s = stream_find(rt, stream);

    if (!e || !s)
        return cudaErrorInvalidResourceHandle;
    if (flags & ~(unsigned)cudaEventWaitExternal)
        return cudaErrorInvalidValue;
    if (e->graph && !(flags & cudaEventWaitExternal))
        return join_capture(rt, s, e);
    if (s->capture == cudaStreamCaptureStatusActive && !(flags & cudaEventWaitExternal))
        return cudaErrorStreamCaptureIsolation; /* it would wait for work outside the graph */
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned flags)
{
    API_BODY(API_WORK, stream_wait(rt, stream, event, flags));
}

PER_THREAD_STREAM(cudaStreamWaitEvent);

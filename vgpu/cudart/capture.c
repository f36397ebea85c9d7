/*
 * capture.c - stream capture: work of a stream becomes a graph instead of being done.
 * Each captured stream remembers its tips, the nodes that its next one depends on. Invariant: a
 * capture that broke a rule gives no graph.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

static struct graph_node **room_for_tip(struct stream *s)
{
    if (s->tip_cap < 1) {
        struct graph_node **tips = realloc(s->tips, 4 * sizeof *tips);
        if (!tips)
            return NULL;
        s->tips = tips;
        s->tip_cap = 4;
    }
    return s->tips;
}

cudaError_t graph_capture(struct runtime *rt, struct stream *s, struct work *w)
{
    struct graph_node *n = NULL;
    const cudaError_t e = graph_add(rt, s->graph, s->tips, s->tip_count, w, &n);

    if (e != cudaSuccess)
        return e;
    if (!room_for_tip(s))
        return cudaErrorMemoryAllocation;
    s->tips[0] = n;
    s->tip_count = 1;
    return cudaSuccess;
}

static cudaError_t begin(struct runtime *rt, struct stream *s, struct graph *g,
                         enum cudaStreamCaptureMode mode)
{
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    if (s == &rt->legacy)
        return cudaErrorStreamCaptureUnsupported;
    if (s->capture != cudaStreamCaptureStatusNone)
        return cudaErrorIllegalState;
    s->graph = g ? g : graph_new(rt);
    if (!s->graph)
        return cudaErrorMemoryAllocation;
    s->capture = cudaStreamCaptureStatusActive;
    s->capture_mode = mode;
    s->capture_id = ++rt->capture_ids;
    s->origin = true;
    s->tip_count = 0;
    rt->capturing++;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
    API_BODY(API_WORK, begin(rt, stream_find(rt, stream), NULL, mode));
}

PER_THREAD_STREAM(cudaStreamBeginCapture);

static cudaError_t set_tips(struct runtime *rt, struct stream *s, const cudaGraphNode_t *deps,
                            size_t count, bool add)
{
    const size_t keep = add ? s->tip_count : 0;

    if (count && !deps)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        const struct graph_node *n = node_find(rt, deps[i]);
        if (!n || n->graph != s->graph)
            return cudaErrorInvalidValue;
    }
    struct graph_node **wider = realloc(s->tips, (keep + count + 1) * sizeof *wider);
    if (!wider)
        return cudaErrorMemoryAllocation;
    s->tips = wider;
    s->tip_cap = keep + count + 1;
    for (size_t i = 0; i < count; i++)
        s->tips[keep + i] = node_find(rt, deps[i]);
    s->tip_count = keep + count;
    return cudaSuccess;
}

static cudaError_t begin_in_graph(struct runtime *rt, cudaStream_t stream, cudaGraph_t graph,
                                  const cudaGraphNode_t *deps, size_t count,
                                  enum cudaStreamCaptureMode mode)
{
    struct stream *s = stream_find(rt, stream);
    struct graph *g = graph_find(rt, graph);

    if (!g)
        return cudaErrorInvalidValue;
    const cudaError_t e = begin(rt, s, g, mode);
    return e == cudaSuccess ? set_tips(rt, s, deps, count, false) : e;
}

EXPORT cudaError_t cudaStreamBeginCaptureToGraph(cudaStream_t stream, cudaGraph_t graph,
                                                 const cudaGraphNode_t *deps,
                                                 const cudaGraphEdgeData *data, size_t count,
                                                 enum cudaStreamCaptureMode mode)
{
    (void)data;
    API_BODY(API_WORK, begin_in_graph(rt, stream, graph, deps, count, mode));
}
PER_THREAD_STREAM(cudaStreamBeginCaptureToGraph);

/* True when every node of the graph is reached from the origin's tips: a forked stream was joined.
 */
static bool all_joined(const struct graph *g, const struct stream *s)
{
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->mark = 0;
    for (size_t i = 0; i < s->tip_count; i++)
        s->tips[i]->mark = 1;
    for (size_t i = g->count; i-- > 0;) /* captured nodes come after those they depend on */
        for (size_t k = 0; g->nodes[i]->mark && k < g->nodes[i]->dep_count; k++)
            g->nodes[i]->deps[k]->mark = 1;
    for (size_t i = 0; i < g->count; i++)
        if (!g->nodes[i]->mark)
            return false;
    return true;
}

static void leave_capture(struct runtime *rt, const struct graph *g)
{
    for (struct stream *s = rt->streams; s; s = s->next)
        if (s->graph == g && s->capture != cudaStreamCaptureStatusNone) {
            s->capture = cudaStreamCaptureStatusNone;
            s->graph = NULL;
            s->tip_count = 0;
            s->origin = false;
            rt->capturing--;
        }
    for (struct event *e = rt->events; e; e = e->next)
        if (e->graph == g) {
            e->graph = NULL;
            e->tip_count = 0;
            e->stale = true;
        }
}

static cudaError_t end(struct runtime *rt, cudaStream_t handle, cudaGraph_t *out)
{
    struct stream *s = stream_find(rt, handle);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!out)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (s->capture == cudaStreamCaptureStatusNone)
        return cudaErrorIllegalState;
    if (!s->origin) {
        capture_spoil(rt, s->graph);
        return cudaErrorStreamCaptureUnmatched;
    }
    struct graph *g = s->graph;
    cudaError_t e = cudaSuccess;
    for (const struct stream *t = rt->streams; t;
         t = t->next) /* one broken branch spoils the whole */
        if (t->graph == g && t->capture == cudaStreamCaptureStatusInvalidated)
            e = cudaErrorStreamCaptureInvalidated;
    if (s->capture == cudaStreamCaptureStatusInvalidated)
        e = cudaErrorStreamCaptureInvalidated;
    if (e == cudaSuccess && !all_joined(g, s))
        e = cudaErrorStreamCaptureUnjoined;
    leave_capture(rt, g);
    if (e != cudaSuccess) {
        graph_delete(rt, g);
        return e;
    }
    *out = (cudaGraph_t)(void *)g;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
    API_BODY(API_WORK, end(rt, stream, graph));
}
PER_THREAD_STREAM(cudaStreamEndCapture);

static cudaError_t is_capturing(struct runtime *rt, cudaStream_t handle,
                                enum cudaStreamCaptureStatus *status)
{
    const struct stream *s = stream_find(rt, handle);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!status)
        return cudaErrorInvalidValue;
    *status = s->capture;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamIsCapturing(cudaStream_t stream, enum cudaStreamCaptureStatus *status)
{
    API_BODY(API_WORK, is_capturing(rt, stream, status));
}
PER_THREAD_STREAM(cudaStreamIsCapturing);

static cudaError_t info(struct runtime *rt, cudaStream_t handle,
                        enum cudaStreamCaptureStatus *status, unsigned long long *id,
                        cudaGraph_t *graph, const cudaGraphNode_t **deps,
                        const cudaGraphEdgeData **data, size_t *count)
{
    const struct stream *s = stream_find(rt, handle);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!status)
        return cudaErrorInvalidValue;
    *status = s->capture;
    if (s->capture != cudaStreamCaptureStatusActive)
        return cudaSuccess;
    if (id)
        *id = s->capture_id;
    if (graph)
        *graph = (cudaGraph_t)(void *)s->graph;
    if (deps)
        *deps = (const cudaGraphNode_t *)(const void *)s->tips;
    if (data)
        *data = NULL;
    if (count)
        *count = s->tip_count;
    return cudaSuccess;
}

EXPORT cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream,
                                            enum cudaStreamCaptureStatus *status,
                                            unsigned long long *id, cudaGraph_t *graph,
                                            const cudaGraphNode_t **deps,
                                            const cudaGraphEdgeData **data, size_t *count)
{
    API_BODY(API_WORK, info(rt, stream, status, id, graph, deps, data, count));
}

PER_THREAD_STREAM(cudaStreamGetCaptureInfo);

static cudaError_t update(struct runtime *rt, cudaStream_t handle, const cudaGraphNode_t *deps,
                          size_t count, unsigned flags)
{
    struct stream *s = stream_find(rt, handle);

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (s->capture != cudaStreamCaptureStatusActive)
        return cudaErrorIllegalState;
    if (flags > cudaStreamSetCaptureDependencies)
        return cudaErrorInvalidValue;
    return set_tips(rt, s, deps, count, flags == cudaStreamAddCaptureDependencies);
}

EXPORT cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *deps,
                                                       const cudaGraphEdgeData *data, size_t count,
                                                       unsigned flags)
{
    (void)data;
    API_BODY(API_WORK, update(rt, stream, deps, count, flags));
}
PER_THREAD_STREAM(cudaStreamUpdateCaptureDependencies);

static cudaError_t exchange_mode(enum cudaStreamCaptureMode *mode)
{
    struct thread_state *t = api_thread();

    if (!mode || *mode > cudaStreamCaptureModeRelaxed)
        return cudaErrorInvalidValue;
    const enum cudaStreamCaptureMode old = t->capture_mode;
    t->capture_mode = *mode;
    *mode = old;
    return cudaSuccess;
}

EXPORT cudaError_t cudaThreadExchangeStreamCaptureMode(enum cudaStreamCaptureMode *mode)
{
    API_BODY(API_WORK, exchange_mode(mode));
}

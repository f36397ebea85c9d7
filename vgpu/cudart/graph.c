/*
 * graph.c - graphs as a whole: building, copying, instantiating, replaying.
 * What a node holds is graph_nodes.c's, capture is capture.c's. Invariant: replay runs the nodes
 * one by one in an order that respects every edge: one of those that hardware allows.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

struct graph *graph_find(struct runtime *rt, cudaGraph_t g)
{
    return object_find(&rt->objects, g, OBJECT_GRAPH);
}
struct graph_node *node_find(struct runtime *rt, cudaGraphNode_t n)
{
    return object_find(&rt->objects, n, OBJECT_NODE);
}
struct graph_exec *exec_find(struct runtime *rt, cudaGraphExec_t e)
{
    return object_find(&rt->objects, e, OBJECT_EXEC);
}

/* ---- life ---- */

static struct graph *graph_alloc(struct runtime *rt, bool owned)
{
    struct graph *g = calloc(1, sizeof *g);

    if (!g || !object_add(&rt->objects, g, OBJECT_GRAPH, g)) {
        free(g);
        return NULL;
    }
    g->owned = owned;
    if (!owned) {
        g->next = rt->graphs;
        rt->graphs = g;
    }
    return g;
}

struct graph *graph_new(struct runtime *rt) { return graph_alloc(rt, false); }

/* The memory of an allocation node belongs to whoever frees it; what was never freed goes with the
 * graph. */
static void node_delete(struct runtime *rt, struct graph_node *n)
{
    object_remove(&rt->objects, n, OBJECT_NODE);
    if (n->work.kind == WORK_CHILD)
        graph_delete(rt, n->work.u.child);
    work_drop(&n->work);
    free(n->args);
    free(n->deps);
    free(n);
}

void graph_delete(struct runtime *rt, struct graph *g)
{
    for (size_t i = 0; i < g->count; i++)
        node_delete(rt, g->nodes[i]);
    for (struct graph **at = &rt->graphs; *at; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    object_remove(&rt->objects, g, OBJECT_GRAPH);
    free(g->nodes);
    free(g);
}

static void exec_delete(struct runtime *rt, struct graph_exec *x)
{
    object_remove(&rt->objects, x, OBJECT_EXEC);
    graph_delete(rt, x->graph);
    free(x->order);
    free(x);
}

void graphs_reset(struct runtime *rt)
{
    for (size_t i = 0; i < rt->objects.size; i++)
        if (rt->objects.slots[i].kind == OBJECT_EXEC)
            exec_delete(rt, rt->objects.slots[i].value);
    while (rt->graphs)
        graph_delete(rt, rt->graphs);
}

/* ---- building ---- */

bool graph_copy_tips(struct graph_node ***dst, size_t *dst_count, struct graph_node *const *src,
                     size_t count)
{
    struct graph_node **copy = malloc((count + 1) * sizeof *copy);

    if (!copy)
        return false;
    if (count)
        memcpy(copy, src, count * sizeof *copy);
    free(*dst);
    *dst = copy;
    *dst_count = count;
    return true;
}

static bool graph_room(struct graph *g)
{
    if (g->count < g->cap)
        return true;
    const size_t cap = g->cap ? g->cap * 2 : 16;
    struct graph_node **wider = realloc(g->nodes, cap * sizeof *wider);
    if (!wider)
        return false;
    g->nodes = wider;
    g->cap = cap;
    return true;
}

cudaError_t graph_add(struct runtime *rt, struct graph *g, struct graph_node *const *deps,
                      size_t count, struct work *w, struct graph_node **out)
{
    struct graph_node *n = calloc(1, sizeof *n);

    if (!n || !graph_room(g) || !graph_copy_tips(&n->deps, &n->dep_count, deps, count) ||
        !object_add(&rt->objects, n, OBJECT_NODE, n)) {
        if (n)
            free(n->deps);
        free(n);
        work_drop(w);
        return cudaErrorMemoryAllocation;
    }
    n->graph = g;
    n->work = *w;
    g->nodes[g->count++] = n;
    *out = n;
    return cudaSuccess;
}

/* Node handles of a call, each checked to belong to the graph. */
static cudaError_t find_nodes(struct runtime *rt, const struct graph *g,
                              const cudaGraphNode_t *list, size_t count, struct graph_node ***out)
{
    *out = NULL;
    if (count && !list)
        return cudaErrorInvalidValue;
    if (count > SIZE_MAX / sizeof **out - 1)
        return cudaErrorInvalidValue;
    *out = malloc((count + 1) * sizeof **out);
    if (!*out)
        return cudaErrorMemoryAllocation;
    for (size_t i = 0; i < count; i++) {
        struct graph_node *n = node_find(rt, list[i]);
        if (!n || n->graph != g) {
            free(*out);
            *out = NULL;
            return cudaErrorInvalidValue;
        }
        (*out)[i] = n;
    }
    return cudaSuccess;
}

cudaError_t graph_add_api(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t handle,
                          const cudaGraphNode_t *deps, size_t count, struct work *w)
{
    struct graph *g = graph_find(rt, handle);
    struct graph_node **nodes = NULL, *n = NULL;
    cudaError_t e = out && g ? work_check(rt, w) : cudaErrorInvalidValue;

    if (e == cudaSuccess)
        e = find_nodes(rt, g, deps, count, &nodes);
    if (e != cudaSuccess) {
        work_drop(w);
        return e;
    }
    e = graph_add(rt, g, nodes, count, w, &n);
    free(nodes);
    if (e == cudaSuccess)
        *out = (cudaGraphNode_t)(void *)n;
    return e;
}

static cudaError_t graph_create(struct runtime *rt, cudaGraph_t *out, unsigned flags)
{
    if (!out || flags)
        return cudaErrorInvalidValue;
    struct graph *g = graph_new(rt);
    *out = (cudaGraph_t)(void *)g;
    return g ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaGraphCreate(cudaGraph_t *graph, unsigned flags)
{
    API_BODY(API_WORK, graph_create(rt, graph, flags));
}

static cudaError_t graph_destroy(struct runtime *rt, cudaGraph_t handle)
{
    struct graph *g = graph_find(rt, handle);

    if (!g || g->owned)
        return cudaErrorInvalidValue;
    graph_delete(rt, g);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphDestroy(cudaGraph_t graph)
{
    API_BODY(API_WORK, graph_destroy(rt, graph));
}

static void forget_dependency(struct graph_node *n, const struct graph_node *gone)
{
    size_t kept = 0;

    for (size_t i = 0; i < n->dep_count; i++)
        if (n->deps[i] != gone)
            n->deps[kept++] = n->deps[i];
    n->dep_count = kept;
}

static cudaError_t node_destroy(struct runtime *rt, cudaGraphNode_t handle)
{
    struct graph_node *n = node_find(rt, handle);

    if (!n)
        return cudaErrorInvalidValue;
    if (n->work.kind == WORK_ALLOC || n->work.kind == WORK_FREE)
        return cudaErrorNotSupported;
    struct graph *g = n->graph;
    size_t kept = 0;
    for (size_t i = 0; i < g->count; i++) {
        forget_dependency(g->nodes[i], n);
        if (g->nodes[i] != n)
            g->nodes[kept++] = g->nodes[i];
    }
    g->count = kept;
    node_delete(rt, n);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphDestroyNode(cudaGraphNode_t node)
{
    API_BODY(API_WORK, node_destroy(rt, node));
}

/* ---- edges ---- */

static bool depends(const struct graph_node *n, const struct graph_node *on)
{
    for (size_t i = 0; i < n->dep_count; i++)
        if (n->deps[i] == on)
            return true;
    return false;
}

static cudaError_t add_edge(struct graph_node *from, struct graph_node *to)
{
    if (from == to || depends(to, from))
        return cudaErrorInvalidValue;
    struct graph_node **wider = realloc(to->deps, (to->dep_count + 1) * sizeof *wider);
    if (!wider)
        return cudaErrorMemoryAllocation;
    to->deps = wider;
    to->deps[to->dep_count++] = from;
    return cudaSuccess;
}

static cudaError_t change_edges(struct runtime *rt, cudaGraph_t handle, const cudaGraphNode_t *from,
                                const cudaGraphNode_t *to, size_t count, bool add)
{
    const struct graph *g = graph_find(rt, handle);

    if (!g || (count && (!from || !to)))
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++) {
        struct graph_node *a = node_find(rt, from[i]), *b = node_find(rt, to[i]);
        if (!a || !b || a->graph != g || b->graph != g || (!add && !depends(b, a)))
            return cudaErrorInvalidValue;
        const cudaError_t e = add ? add_edge(a, b) : cudaSuccess;
        if (e != cudaSuccess)
            return e;
        if (!add)
            forget_dependency(b, a);
    }
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphAddDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                            const cudaGraphNode_t *to,
                                            const cudaGraphEdgeData *data, size_t count)
{
    (void)data; /* programmatic edges order less than full ones; here every edge orders fully */
    API_BODY(API_WORK, change_edges(rt, graph, from, to, count, true));
}

EXPORT cudaError_t cudaGraphRemoveDependencies(cudaGraph_t graph, const cudaGraphNode_t *from,
                                               const cudaGraphNode_t *to,
                                               const cudaGraphEdgeData *data, size_t count)
{
    (void)data;
    API_BODY(API_WORK, change_edges(rt, graph, from, to, count, false));
}

/* ---- questions ---- */

/* Fills a list of handles as every query does: *count is its room, then the number there is. */
struct listing {
    cudaGraphNode_t *out, *other;
    cudaGraphEdgeData *data;
    size_t room, found;
};

static void list_add(struct listing *l, const struct graph_node *a, const struct graph_node *b)
{
    if (l->out && l->found < l->room) {
        l->out[l->found] = (cudaGraphNode_t)(uintptr_t)a;
        if (l->other)
            l->other[l->found] = (cudaGraphNode_t)(uintptr_t)b;
        if (l->data)
            l->data[l->found] = (cudaGraphEdgeData){0};
    }
    l->found++;
}

static void list_end(struct listing *l, size_t *count)
{
    for (size_t i = l->found; l->out && i < l->room; i++)
        l->out[i] = NULL;
    *count = l->out && l->room < l->found ? l->room : l->found;
}

static cudaError_t get_nodes(struct runtime *rt, cudaGraph_t handle, cudaGraphNode_t *out,
                             size_t *count, bool roots)
{
    const struct graph *g = graph_find(rt, handle);

    if (!g || !count)
        return cudaErrorInvalidValue;
    struct listing l = {.out = out, .room = out ? *count : 0};
    for (size_t i = 0; i < g->count; i++)
        if (!roots || g->nodes[i]->dep_count == 0)
            list_add(&l, g->nodes[i], NULL);
    list_end(&l, count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    API_BODY(API_WORK, get_nodes(rt, graph, nodes, count, false));
}

EXPORT cudaError_t cudaGraphGetRootNodes(cudaGraph_t graph, cudaGraphNode_t *nodes, size_t *count)
{
    API_BODY(API_WORK, get_nodes(rt, graph, nodes, count, true));
}

static cudaError_t get_edges(struct runtime *rt, cudaGraph_t handle, cudaGraphNode_t *from,
                             cudaGraphNode_t *to, cudaGraphEdgeData *data, size_t *count)
{
    const struct graph *g = graph_find(rt, handle);

    if (!g || !count || (from != NULL) != (to != NULL))
        return cudaErrorInvalidValue;
    struct listing l = {.out = from, .other = to, .data = data, .room = from ? *count : 0};
    for (size_t i = 0; i < g->count; i++)
        for (size_t k = 0; k < g->nodes[i]->dep_count; k++)
            list_add(&l, g->nodes[i]->deps[k], g->nodes[i]);
    list_end(&l, count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphGetEdges(cudaGraph_t graph, cudaGraphNode_t *from, cudaGraphNode_t *to,
                                     cudaGraphEdgeData *data, size_t *count)
{
    API_BODY(API_WORK, get_edges(rt, graph, from, to, data, count));
}

static cudaError_t get_neighbours(struct runtime *rt, cudaGraphNode_t handle, cudaGraphNode_t *out,
                                  cudaGraphEdgeData *data, size_t *count, bool before)
{
    const struct graph_node *n = node_find(rt, handle);

    if (!n || !count)
        return cudaErrorInvalidValue;
    struct listing l = {.out = out, .data = data, .room = out ? *count : 0};
    for (size_t i = 0; before && i < n->dep_count; i++)
        list_add(&l, n->deps[i], NULL);
    for (size_t i = 0; !before && i < n->graph->count; i++)
        if (depends(n->graph->nodes[i], n))
            list_add(&l, n->graph->nodes[i], NULL);
    list_end(&l, count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t node, cudaGraphNode_t *out,
                                                cudaGraphEdgeData *data, size_t *count)
{
    API_BODY(API_WORK, get_neighbours(rt, node, out, data, count, true));
}

EXPORT cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t node, cudaGraphNode_t *out,
                                                  cudaGraphEdgeData *data, size_t *count)
{
    API_BODY(API_WORK, get_neighbours(rt, node, out, data, count, false));
}

/* ---- copies ---- */

static bool copy_work(struct runtime *rt, struct work *to, const struct work *from)
{
    *to = *from;
    if (from->kind == WORK_KERNEL) {
        const size_t size = from->u.launch.kernel->func->param_size + 16u;
        to->u.launch.params = malloc(size);
        if (!to->u.launch.params)
            return false;
        memcpy(to->u.launch.params, from->u.launch.params, size);
    } else if (from->kind == WORK_CHILD) {
        to->u.child = graph_clone(rt, from->u.child, true);
        return to->u.child != NULL;
    }
    return true;
}

struct graph *graph_clone(struct runtime *rt, const struct graph *g, bool owned)
{
    struct graph *copy = graph_alloc(rt, owned);
    struct work w;

    if (!copy)
        return NULL;
    copy->origin = g;
    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->mark = i;
    for (size_t i = 0; i < g->count; i++) {
        struct graph_node *n = NULL;
        if (!copy_work(rt, &w, &g->nodes[i]->work) ||
            graph_add(rt, copy, NULL, 0, &w, &n) != cudaSuccess) {
            graph_delete(rt, copy);
            return NULL;
        }
        n->origin = g->nodes[i];
        n->disabled = g->nodes[i]->disabled;
    }
    for (size_t i = 0; i < g->count; i++) {
        struct graph_node *n = copy->nodes[i];
        if (!graph_copy_tips(&n->deps, &n->dep_count, g->nodes[i]->deps, g->nodes[i]->dep_count)) {
            graph_delete(rt, copy);
            return NULL;
        }
        for (size_t k = 0; k < n->dep_count; k++)
            n->deps[k] = copy->nodes[n->deps[k]->mark];
    }
    return copy;
}

static cudaError_t clone_api(struct runtime *rt, cudaGraph_t *out, cudaGraph_t handle)
{
    const struct graph *g = graph_find(rt, handle);

    if (!g || !out)
        return cudaErrorInvalidValue;
    struct graph *copy = graph_clone(rt, g, false);
    *out = (cudaGraph_t)(void *)copy;
    return copy ? cudaSuccess : cudaErrorMemoryAllocation;
}

EXPORT cudaError_t cudaGraphClone(cudaGraph_t *clone, cudaGraph_t graph)
{
    API_BODY(API_WORK, clone_api(rt, clone, graph));
}

struct graph_node *exec_node(const struct graph *g, const struct graph_node *n)
{
    for (size_t i = 0; i < g->count; i++) {
        struct graph_node *child = NULL;
        if (g->nodes[i]->origin == n)
            return g->nodes[i];
        if (g->nodes[i]->work.kind == WORK_CHILD)
            child = exec_node(g->nodes[i]->work.u.child, n);
        if (child)
            return child;
    }
    return NULL;
}

static cudaError_t find_in_clone(struct runtime *rt, cudaGraphNode_t *out, cudaGraphNode_t original,
                                 cudaGraph_t clone)
{
    const struct graph_node *n = node_find(rt, original);
    const struct graph *g = graph_find(rt, clone);

    if (!n || !g || !out)
        return cudaErrorInvalidValue;
    *out = (cudaGraphNode_t)(void *)exec_node(g, n);
    return *out ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaGraphNodeFindInClone(cudaGraphNode_t *out, cudaGraphNode_t original,
                                            cudaGraph_t clone)
{
    API_BODY(API_WORK, find_in_clone(rt, out, original, clone));
}

/* ---- execution ---- */

/* Repeatedly takes the first node whose dependencies are all out; false when a cycle is left.
 */
static bool order_nodes(const struct graph *g, struct graph_node **order)
{
    size_t done = 0;

    for (size_t i = 0; i < g->count; i++)
        g->nodes[i]->mark = 0;
    while (done < g->count) {
        const size_t before = done;
        for (size_t i = 0; i < g->count; i++) {
            struct graph_node *n = g->nodes[i];
            bool ready = n->mark == 0;
            for (size_t k = 0; ready && k < n->dep_count; k++)
                ready = n->deps[k]->mark != 0;
            if (ready) {
                n->mark = 1;
                order[done++] = n;
            }
        }
        if (done == before)
            return false;
    }
    return true;
}

static cudaError_t instantiate(struct runtime *rt, cudaGraphExec_t *out, cudaGraph_t handle,
                               unsigned long long flags)
{
    const struct graph *g = graph_find(rt, handle);

    if (!g || !out)
        return cudaErrorInvalidValue;
    if (flags & cudaGraphInstantiateFlagDeviceLaunch)
        return cudaErrorNotSupported;
    struct graph_exec *x = calloc(1, sizeof *x);
    if (x)
        x->graph = graph_clone(rt, g, true);
    if (x && x->graph)
        x->order = malloc((g->count + 1) * sizeof *x->order);
    const bool ordered = x && x->order && order_nodes(x->graph, x->order);
    if (!ordered || !object_add(&rt->objects, x, OBJECT_EXEC, x)) {
        const bool cyclic = x && x->order && !ordered;
        if (x && x->graph)
            graph_delete(rt, x->graph);
        if (x)
            free(x->order);
        free(x);
        return cyclic ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;
    }
    x->flags = flags;
    *out = (cudaGraphExec_t)(void *)x;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphInstantiate(cudaGraphExec_t *exec, cudaGraph_t graph,
                                        unsigned long long flags)
{
    API_BODY(API_WORK, instantiate(rt, exec, graph, flags));
}

EXPORT cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                 unsigned long long flags)
{
    API_BODY(API_WORK, instantiate(rt, exec, graph, flags));
}

static cudaError_t instantiate_with(struct runtime *rt, cudaGraphExec_t *exec, cudaGraph_t graph,
                                    cudaGraphInstantiateParams *p)
{
    if (!p)
        return cudaErrorInvalidValue;
    const cudaError_t e = instantiate(rt, exec, graph, p->flags);
    p->errNode_out = NULL;
    p->result_out = e == cudaSuccess ? cudaGraphInstantiateSuccess : cudaGraphInstantiateError;
    return e;
}

EXPORT cudaError_t cudaGraphInstantiateWithParams(cudaGraphExec_t *exec, cudaGraph_t graph,
                                                  cudaGraphInstantiateParams *params)
{
    API_BODY(API_WORK, instantiate_with(rt, exec, graph, params));
}

PER_THREAD_STREAM(cudaGraphInstantiateWithParams);

static cudaError_t exec_destroy(struct runtime *rt, cudaGraphExec_t handle)
{
    struct graph_exec *x = exec_find(rt, handle);

    if (!x)
        return cudaErrorInvalidValue;
    exec_delete(rt, x);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecDestroy(cudaGraphExec_t exec)
{
    API_BODY(API_WORK, exec_destroy(rt, exec));
}

static cudaError_t run_nodes(struct runtime *rt, struct graph_node *const *order, size_t count);

static cudaError_t run_child(struct runtime *rt, const struct graph *g)
{
    struct graph_node **order = malloc((g->count + 1) * sizeof *order);
    cudaError_t e = order ? cudaErrorInvalidValue : cudaErrorMemoryAllocation;

    if (order && order_nodes(g, order))
        e = run_nodes(rt, order, g->count);
    free(order);
    return e;
}

static cudaError_t run_nodes(struct runtime *rt, struct graph_node *const *order, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct graph_node *n = order[i];
        if (n->disabled)
            continue;
        const cudaError_t e =
            n->work.kind == WORK_CHILD ? run_child(rt, n->work.u.child) : work_run(rt, &n->work);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

/* Launching an executable graph into a stream under capture makes it a child of the captured graph.
 */
static cudaError_t launch_captured(struct runtime *rt, cudaStream_t stream,
                                   const struct graph_exec *x)
{
    struct work w = {.kind = WORK_CHILD};

    w.u.child = graph_clone(rt, x->graph, true);
    return w.u.child ? stream_submit(rt, stream, &w) : cudaErrorMemoryAllocation;
}

static cudaError_t graph_launch(struct runtime *rt, cudaGraphExec_t handle, cudaStream_t stream)
{
    const struct graph_exec *x = exec_find(rt, handle);
    const struct stream *s = stream_find(rt, stream);

    if (!x)
        return cudaErrorInvalidValue;
    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (s->capture != cudaStreamCaptureStatusNone)
        return launch_captured(rt, stream, x);
    return run_nodes(rt, x->order, x->graph->count);
}

EXPORT cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
    API_BODY(API_WORK, graph_launch(rt, exec, stream));
}
PER_THREAD_STREAM(cudaGraphLaunch);

EXPORT cudaError_t cudaGraphUpload(cudaGraphExec_t exec, cudaStream_t stream)
{
    API_BODY(API_WORK, !exec_find(rt, exec)       ? cudaErrorInvalidValue
                       : !stream_find(rt, stream) ? cudaErrorInvalidResourceHandle
                                                  : cudaSuccess);
}
PER_THREAD_STREAM(cudaGraphUpload);

static cudaError_t exec_flags(struct runtime *rt, cudaGraphExec_t handle, unsigned long long *flags)
{
    const struct graph_exec *x = exec_find(rt, handle);

    if (!x || !flags)
        return cudaErrorInvalidValue;
    *flags = x->flags;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecGetFlags(cudaGraphExec_t exec, unsigned long long *flags)
{
    API_BODY(API_WORK, exec_flags(rt, exec, flags));
}

/* An update takes over the nodes of a graph of the same shape, in the same order. */
static bool same_shape(const struct graph *a, const struct graph *b)
{
    if (a->count != b->count)
        return false;
    for (size_t i = 0; i < a->count; i++)
        if (a->nodes[i]->work.kind != b->nodes[i]->work.kind ||
            a->nodes[i]->dep_count != b->nodes[i]->dep_count)
            return false;
    return true;
}

static cudaError_t exec_update(struct runtime *rt, cudaGraphExec_t handle, cudaGraph_t graph,
                               cudaGraphExecUpdateResultInfo *info)
{
    struct graph_exec *x = exec_find(rt, handle);
    const struct graph *g = graph_find(rt, graph);

    if (!x || !g || !info)
        return cudaErrorInvalidValue;
    *info = (cudaGraphExecUpdateResultInfo){.result = cudaGraphExecUpdateSuccess};
    if (!same_shape(x->graph, g)) {
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        return cudaErrorGraphExecUpdateFailure;
    }
    struct graph *fresh = graph_clone(rt, g, true);
    if (!fresh)
        return cudaErrorMemoryAllocation;
    if (!order_nodes(fresh, x->order)) {
        order_nodes(x->graph, x->order);
        graph_delete(rt, fresh);
        info->result = cudaGraphExecUpdateErrorTopologyChanged;
        return cudaErrorGraphExecUpdateFailure;
    }
    for (size_t i = 0; i < fresh->count;
         i++) /* later calls name the nodes of the graph it was made from */
        fresh->nodes[i]->origin = x->graph->nodes[i]->origin;
    graph_delete(rt, x->graph);
    x->graph = fresh;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphExecUpdate(cudaGraphExec_t exec, cudaGraph_t graph,
                                       cudaGraphExecUpdateResultInfo *info)
{
    API_BODY(API_WORK, exec_update(rt, exec, graph, info));
}

static struct graph_node *node_of_exec(struct runtime *rt, cudaGraphExec_t exec,
                                       cudaGraphNode_t node)
{
    const struct graph_exec *x = exec_find(rt, exec);
    const struct graph_node *n = node_find(rt, node);

    return x && n ? exec_node(x->graph, n) : NULL;
}

static cudaError_t set_enabled(struct graph_node *n, unsigned enabled)
{
    if (!n ||
        (n->work.kind != WORK_KERNEL && n->work.kind != WORK_COPY && n->work.kind != WORK_SET))
        return cudaErrorInvalidValue;
    n->disabled = enabled == 0;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeSetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           unsigned enabled)
{
    API_BODY(API_WORK, set_enabled(node_of_exec(rt, exec, node), enabled));
}

static cudaError_t get_enabled(const struct graph_node *n, unsigned *enabled)
{
    if (!n || !enabled)
        return cudaErrorInvalidValue;
    *enabled = !n->disabled;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetEnabled(cudaGraphExec_t exec, cudaGraphNode_t node,
                                           unsigned *enabled)
{
    API_BODY(API_WORK, get_enabled(node_of_exec(rt, exec, node), enabled));
}

/* ---- memory of graphs: accounted with all other memory ---- */

EXPORT cudaError_t cudaDeviceGraphMemTrim(int device)
{
    API_BODY(API_WORK, device ? cudaErrorInvalidDevice : cudaSuccess);
}

static cudaError_t mem_attribute(int device, enum cudaGraphMemAttributeType attribute, void *value)
{
    const uint64_t zero = 0;

    if (device != 0)
        return cudaErrorInvalidDevice;
    if (!value || attribute > cudaGraphMemAttrReservedMemHigh)
        return cudaErrorInvalidValue;
    memcpy(value, &zero, sizeof zero);
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetGraphMemAttribute(int device,
                                                  enum cudaGraphMemAttributeType attribute,
                                                  void *value)
{
    API_BODY(API_WORK, mem_attribute(device, attribute, value));
}

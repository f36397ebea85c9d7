/*
 * graph_nodes.c - what nodes hold: adding them, reading and changing their parameters, in graphs
 * and in executable graphs. Order and replay are graph.c's. Invariant: parameters are checked when
 * they are set, as the direct call would check them.
 */
#include "graph.h"

#include <stdlib.h>
#include <string.h>

/* ---- parameters of the API to work ---- */

static cudaError_t kernel_work(struct runtime *rt, struct work *w,
                               const struct cudaKernelNodeParams *p)
{
    *w = (struct work){.kind = WORK_KERNEL};
    if (!p)
        return cudaErrorInvalidValue;
    if (p->extra)
        return cudaErrorNotSupported;
    return launch_prepare(rt, &w->u.launch, p->func, p->gridDim, p->blockDim, p->kernelParams,
                          p->sharedMemBytes, false);
}

static cudaError_t copy_work_3d(struct work *w, const struct cudaMemcpy3DParms *p)
{
    cudaError_t e = cudaSuccess;

    *w = (struct work){.kind = WORK_COPY};
    w->u.copy = copy_from_3d(p, &e);
    return e;
}

static struct work copy_work_1d(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    struct work w = {.kind = WORK_COPY};

    w.u.copy =
        (struct copy){.dst = dst, .src = src, .width = n, .height = 1, .depth = 1, .kind = kind};
    return w;
}

static cudaError_t symbol_place(struct runtime *rt, const void *symbol, size_t n, size_t offset,
                                void **out)
{
    struct alloc *a = NULL;
    size_t size = 0;
    const cudaError_t e = device_symbol_find(rt, symbol, &a, &size);

    if (e != cudaSuccess)
        return e;
    if (offset > size || n > size - offset)
        return cudaErrorInvalidValue;
    *out = (void *)(uintptr_t)(a->addr + offset);
    return cudaSuccess;
}

static cudaError_t fill_work(struct work *w, const struct cudaMemsetParams *p)
{
    *w = (struct work){.kind = WORK_SET};
    if (!p || (p->elementSize != 1 && p->elementSize != 2 && p->elementSize != 4) ||
        p->width > SIZE_MAX / 4)
        return cudaErrorInvalidValue;
    w->u.fill = (struct fill){.dst = p->dst,
                              .value = p->value,
                              .element = p->elementSize,
                              .width = p->width * p->elementSize,
                              .height = p->height,
                              .depth = 1,
                              .pitch = p->pitch};
    return cudaSuccess;
}

static struct work host_work(cudaHostFn_t fn, void *user)
{
    struct work w = {.kind = WORK_HOST};

    w.u.host.fn = fn;
    w.u.host.user = user;
    return w;
}

static cudaError_t event_work(struct runtime *rt, struct work *w, enum work_kind kind,
                              cudaEvent_t event)
{
    *w = (struct work){.kind = kind};
    w->u.event = event_find(rt, event);
    return w->u.event ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

static cudaError_t child_work(struct runtime *rt, struct work *w, cudaGraph_t child)
{
    const struct graph *g = graph_find(rt, child);

    *w = (struct work){.kind = WORK_CHILD};
    if (!g)
        return cudaErrorInvalidValue;
    w->u.child = graph_clone(rt, g, true);
    return w->u.child ? cudaSuccess : cudaErrorMemoryAllocation;
}

static cudaError_t alloc_work(struct runtime *rt, struct work *w, size_t size)
{
    *w = (struct work){.kind = WORK_ALLOC};
    w->u.alloc.size = size;
    w->u.alloc.pool = &rt->default_pool;
    return device_alloc(rt, &w->u.alloc.ptr, size, ALLOC_ASYNC);
}

/* Adds when the work could be made. */
static cudaError_t add(struct runtime *rt, cudaError_t made, cudaGraphNode_t *out, cudaGraph_t g,
                       const cudaGraphNode_t *deps, size_t count, struct work *w)
{
    if (made == cudaSuccess)
        return graph_add_api(rt, out, g, deps, count, w);
    work_drop(w);
    return made;
}

/* ---- adding ---- */

static cudaError_t add_kernel(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                              const cudaGraphNode_t *deps, size_t n,
                              const struct cudaKernelNodeParams *p)
{
    struct work w;
    const cudaError_t e = kernel_work(rt, &w, p);

    return add(rt, e, out, g, deps, n, &w);
}

EXPORT cudaError_t cudaGraphAddKernelNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps, size_t count,
                                          const struct cudaKernelNodeParams *params)
{
    API_BODY(API_WORK, add_kernel(rt, node, graph, deps, count, params));
}

static cudaError_t add_copy(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                            const cudaGraphNode_t *deps, size_t n,
                            const struct cudaMemcpy3DParms *p)
{
    struct work w;
    const cudaError_t e = copy_work_3d(&w, p);

    return add(rt, e, out, g, deps, n, &w);
}

EXPORT cudaError_t cudaGraphAddMemcpyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps, size_t count,
                                          const struct cudaMemcpy3DParms *params)
{
    API_BODY(API_WORK, add_copy(rt, node, graph, deps, count, params));
}

static cudaError_t add_work(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                            const cudaGraphNode_t *deps, size_t n, struct work w)
{
    return graph_add_api(rt, out, g, deps, n, &w);
}

EXPORT cudaError_t cudaGraphAddMemcpyNode1D(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *deps, size_t count, void *dst,
                                            const void *src, size_t n, enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, add_work(rt, node, graph, deps, count, copy_work_1d(dst, src, n, kind)));
}

static cudaError_t add_to_symbol(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                                 const cudaGraphNode_t *deps, size_t count, const void *symbol,
                                 const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
    void *dst = NULL;
    const cudaError_t e = symbol_place(rt, symbol, n, offset, &dst);

    return e != cudaSuccess ? e
                            : add_work(rt, out, g, deps, count, copy_work_1d(dst, src, n, kind));
}

EXPORT cudaError_t cudaGraphAddMemcpyNodeToSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                  const cudaGraphNode_t *deps, size_t count,
                                                  const void *symbol, const void *src, size_t n,
                                                  size_t offset, enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, add_to_symbol(rt, node, graph, deps, count, symbol, src, n, offset, kind));
}

static cudaError_t add_from_symbol(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                                   const cudaGraphNode_t *deps, size_t count, void *dst,
                                   const void *symbol, size_t n, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    void *src = NULL;
    const cudaError_t e = symbol_place(rt, symbol, n, offset, &src);

    return e != cudaSuccess ? e
                            : add_work(rt, out, g, deps, count, copy_work_1d(dst, src, n, kind));
}

EXPORT cudaError_t cudaGraphAddMemcpyNodeFromSymbol(cudaGraphNode_t *node, cudaGraph_t graph,
                                                    const cudaGraphNode_t *deps, size_t count,
                                                    void *dst, const void *symbol, size_t n,
                                                    size_t offset, enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, add_from_symbol(rt, node, graph, deps, count, dst, symbol, n, offset, kind));
}

static cudaError_t add_fill(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                            const cudaGraphNode_t *deps, size_t n, const struct cudaMemsetParams *p)
{
    struct work w;
    const cudaError_t e = fill_work(&w, p);

    return add(rt, e, out, g, deps, n, &w);
}

EXPORT cudaError_t cudaGraphAddMemsetNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                          const cudaGraphNode_t *deps, size_t count,
                                          const struct cudaMemsetParams *params)
{
    API_BODY(API_WORK, add_fill(rt, node, graph, deps, count, params));
}

EXPORT cudaError_t cudaGraphAddHostNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                        const cudaGraphNode_t *deps, size_t count,
                                        const struct cudaHostNodeParams *params)
{
    API_BODY(API_WORK, !params ? cudaErrorInvalidValue
                               : add_work(rt, node, graph, deps, count,
                                          host_work(params->fn, params->userData)));
}

EXPORT cudaError_t cudaGraphAddEmptyNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                         const cudaGraphNode_t *deps, size_t count)
{
    API_BODY(API_WORK, add_work(rt, node, graph, deps, count, (struct work){.kind = WORK_EMPTY}));
}

static cudaError_t add_child(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                             const cudaGraphNode_t *deps, size_t n, cudaGraph_t child)
{
    struct work w;
    cudaError_t e = child_work(rt, &w, child);

    if (e != cudaSuccess)
        return e;
    struct graph *copy = w.u.child;
    e = graph_add_api(rt, out, g, deps, n, &w);
    if (e != cudaSuccess)
        graph_delete(rt, copy);
    return e;
}

EXPORT cudaError_t cudaGraphAddChildGraphNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                              const cudaGraphNode_t *deps, size_t count,
                                              cudaGraph_t child)
{
    API_BODY(API_WORK, add_child(rt, node, graph, deps, count, child));
}

static cudaError_t add_event(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                             const cudaGraphNode_t *deps, size_t n, enum work_kind kind,
                             cudaEvent_t event)
{
    struct work w;
    const cudaError_t e = event_work(rt, &w, kind, event);

    return add(rt, e, out, g, deps, n, &w);
}

EXPORT cudaError_t cudaGraphAddEventRecordNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                               const cudaGraphNode_t *deps, size_t count,
                                               cudaEvent_t event)
{
    API_BODY(API_WORK, add_event(rt, node, graph, deps, count, WORK_RECORD, event));
}

EXPORT cudaError_t cudaGraphAddEventWaitNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                             const cudaGraphNode_t *deps, size_t count,
                                             cudaEvent_t event)
{
    API_BODY(API_WORK, add_event(rt, node, graph, deps, count, WORK_WAIT, event));
}

static cudaError_t add_alloc(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                             const cudaGraphNode_t *deps, size_t n, size_t size, void **dptr)
{
    struct work w;
    cudaError_t e = alloc_work(rt, &w, size);

    if (e != cudaSuccess)
        return e;
    *dptr = w.u.alloc.ptr;
    e = graph_add_api(rt, out, g, deps, n, &w);
    if (e != cudaSuccess)
        device_free(rt, *dptr, true);
    return e;
}

EXPORT cudaError_t cudaGraphAddMemAllocNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                            const cudaGraphNode_t *deps, size_t count,
                                            struct cudaMemAllocNodeParams *params)
{
    API_BODY(API_WORK,
             !params ? cudaErrorInvalidValue
                     : add_alloc(rt, node, graph, deps, count, params->bytesize, &params->dptr));
}

static struct work free_work(void *p)
{
    struct work w = {.kind = WORK_FREE};

    w.u.alloc.ptr = p;
    return w;
}

/* Does a node of the graph free it already? */
static bool is_freed(const struct graph *g, const void *p)
{
    for (size_t i = 0; g && i < g->count; i++)
        if (g->nodes[i]->work.kind == WORK_FREE && g->nodes[i]->work.u.alloc.ptr == p)
            return true;
    return false;
}

EXPORT cudaError_t cudaGraphAddMemFreeNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                           const cudaGraphNode_t *deps, size_t count, void *p)
{
    API_BODY(API_WORK, is_freed(graph_find(rt, graph), p)
                           ? cudaErrorInvalidValue
                           : add_work(rt, node, graph, deps, count, free_work(p)));
}

/* ---- the general form ---- */

static cudaError_t general_kernel(struct runtime *rt, struct work *w,
                                  const struct cudaKernelNodeParamsV2 *p)
{
    const struct cudaKernelNodeParams plain = {.func = p->func,
                                               .gridDim = p->gridDim,
                                               .blockDim = p->blockDim,
                                               .sharedMemBytes = p->sharedMemBytes,
                                               .kernelParams = p->kernelParams,
                                               .extra = p->extra};

    return kernel_work(rt, w, &plain);
}

static cudaError_t general_fill(struct work *w, const struct cudaMemsetParamsV2 *p)
{
    const struct cudaMemsetParams plain = {.dst = p->dst,
                                           .pitch = p->pitch,
                                           .value = p->value,
                                           .elementSize = p->elementSize,
                                           .width = p->width,
                                           .height = p->height};

    return fill_work(w, &plain);
}

static cudaError_t general_work(struct runtime *rt, struct work *w, struct cudaGraphNodeParams *p)
{
    switch (p->type) {
    case cudaGraphNodeTypeKernel:
        return general_kernel(rt, w, &p->kernel);
    case cudaGraphNodeTypeMemcpy:
        return copy_work_3d(w, &p->memcpy.copyParams);
    case cudaGraphNodeTypeMemset:
        return general_fill(w, &p->memset);
    case cudaGraphNodeTypeHost:
        *w = host_work(p->host.fn, p->host.userData);
        return cudaSuccess;
    case cudaGraphNodeTypeEmpty:
        *w = (struct work){.kind = WORK_EMPTY};
        return cudaSuccess;
    case cudaGraphNodeTypeWaitEvent:
        return event_work(rt, w, WORK_WAIT, p->eventWait.event);
    case cudaGraphNodeTypeEventRecord:
        return event_work(rt, w, WORK_RECORD, p->eventRecord.event);
    case cudaGraphNodeTypeMemFree:
        *w = free_work(p->free.dptr);
        return cudaSuccess;
    case cudaGraphNodeTypeGraph:
    case cudaGraphNodeTypeMemAlloc:
    case cudaGraphNodeTypeExtSemaphoreSignal:
    case cudaGraphNodeTypeExtSemaphoreWait:
    case cudaGraphNodeTypeConditional:
    case cudaGraphNodeTypeCount:
        break;
    }
    return cudaErrorNotSupported;
}

static cudaError_t add_general(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                               const cudaGraphNode_t *deps, size_t n, struct cudaGraphNodeParams *p)
{
    struct work w = {.kind = WORK_EMPTY};

    if (!p)
        return cudaErrorInvalidValue;
    if (p->type == cudaGraphNodeTypeMemAlloc)
        return add_alloc(rt, out, g, deps, n, p->alloc.bytesize, &p->alloc.dptr);
    if (p->type == cudaGraphNodeTypeGraph)
        return add_child(rt, out, g, deps, n, p->graph.graph);
    const cudaError_t e = general_work(rt, &w, p);
    return add(rt, e, out, g, deps, n, &w);
}

EXPORT cudaError_t cudaGraphAddNode(cudaGraphNode_t *node, cudaGraph_t graph,
                                    const cudaGraphNode_t *deps, const cudaGraphEdgeData *data,
                                    size_t count, struct cudaGraphNodeParams *params)
{
    (void)data;
    API_BODY(API_WORK, add_general(rt, node, graph, deps, count, params));
}

/* ---- types ---- */

enum cudaGraphNodeType node_type(const struct graph_node *n)
{
    switch (n->work.kind) {
    case WORK_EMPTY:
        return cudaGraphNodeTypeEmpty;
    case WORK_KERNEL:
        return cudaGraphNodeTypeKernel;
    case WORK_COPY:
        return cudaGraphNodeTypeMemcpy;
    case WORK_SET:
        return cudaGraphNodeTypeMemset;
    case WORK_HOST:
        return cudaGraphNodeTypeHost;
    case WORK_RECORD:
        return cudaGraphNodeTypeEventRecord;
    case WORK_WAIT:
        return cudaGraphNodeTypeWaitEvent;
    case WORK_ALLOC:
        return cudaGraphNodeTypeMemAlloc;
    case WORK_FREE:
        return cudaGraphNodeTypeMemFree;
    case WORK_CHILD:
        return cudaGraphNodeTypeGraph;
    }
    return cudaGraphNodeTypeEmpty;
}

static cudaError_t get_type(struct runtime *rt, cudaGraphNode_t handle,
                            enum cudaGraphNodeType *type)
{
    const struct graph_node *n = node_find(rt, handle);

    if (!n || !type)
        return cudaErrorInvalidValue;
    *type = node_type(n);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphNodeGetType(cudaGraphNode_t node, enum cudaGraphNodeType *type)
{
    API_BODY(API_WORK, get_type(rt, node, type));
}

/* ---- changing ---- */

cudaError_t node_replace(struct graph_node *n, struct work *w)
{
    if (!n || n->work.kind != w->kind) {
        work_drop(w);
        return cudaErrorInvalidValue;
    }
    work_drop(&n->work);
    free(n->args);
    n->args = NULL;
    n->work = *w;
    return cudaSuccess;
}

/* A node of a graph, or with `exec` its copy in the executable one. */
static struct graph_node *pick(struct runtime *rt, cudaGraphExec_t exec, cudaGraphNode_t handle)
{
    struct graph_node *n = node_find(rt, handle);
    const struct graph_exec *x = exec ? exec_find(rt, exec) : NULL;

    if (!exec)
        return n;
    return x && n ? exec_node(x->graph, n) : NULL;
}

static cudaError_t change(struct runtime *rt, struct graph_node *n, cudaError_t made,
                          struct work *w)
{
    const cudaError_t e = made == cudaSuccess ? work_check(rt, w) : made;

    if (e == cudaSuccess)
        return node_replace(n, w);
    work_drop(w);
    return e;
}

static cudaError_t set_kernel(struct runtime *rt, struct graph_node *n,
                              const struct cudaKernelNodeParams *p)
{
    struct work w;
    const cudaError_t e = kernel_work(rt, &w, p);

    return change(rt, n, e, &w);
}

EXPORT cudaError_t cudaGraphKernelNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaKernelNodeParams *params)
{
    API_BODY(API_WORK, set_kernel(rt, pick(rt, NULL, node), params));
}

EXPORT cudaError_t cudaGraphExecKernelNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaKernelNodeParams *params)
{
    API_BODY(API_WORK,
             !exec ? cudaErrorInvalidValue : set_kernel(rt, pick(rt, exec, node), params));
}

static cudaError_t set_copy(struct runtime *rt, struct graph_node *n,
                            const struct cudaMemcpy3DParms *p)
{
    struct work w;
    const cudaError_t e = copy_work_3d(&w, p);

    return change(rt, n, e, &w);
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemcpy3DParms *params)
{
    API_BODY(API_WORK, set_copy(rt, pick(rt, NULL, node), params));
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaMemcpy3DParms *params)
{
    API_BODY(API_WORK, !exec ? cudaErrorInvalidValue : set_copy(rt, pick(rt, exec, node), params));
}

static cudaError_t set_work(struct runtime *rt, struct graph_node *n, struct work w)
{
    return change(rt, n, cudaSuccess, &w);
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParams1D(cudaGraphNode_t node, void *dst, const void *src,
                                                  size_t n, enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, set_work(rt, pick(rt, NULL, node), copy_work_1d(dst, src, n, kind)));
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParams1D(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                      void *dst, const void *src, size_t n,
                                                      enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, !exec ? cudaErrorInvalidValue
                             : set_work(rt, pick(rt, exec, node), copy_work_1d(dst, src, n, kind)));
}

static cudaError_t set_to_symbol(struct runtime *rt, struct graph_node *node, const void *symbol,
                                 const void *src, size_t n, size_t offset, enum cudaMemcpyKind kind)
{
    void *dst = NULL;
    const cudaError_t e = symbol_place(rt, symbol, n, offset, &dst);

    return e != cudaSuccess ? e : set_work(rt, node, copy_work_1d(dst, src, n, kind));
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsToSymbol(cudaGraphNode_t node, const void *symbol,
                                                        const void *src, size_t n, size_t offset,
                                                        enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, set_to_symbol(rt, pick(rt, NULL, node), symbol, src, n, offset, kind));
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsToSymbol(cudaGraphExec_t exec,
                                                            cudaGraphNode_t node,
                                                            const void *symbol, const void *src,
                                                            size_t n, size_t offset,
                                                            enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, !exec
                           ? cudaErrorInvalidValue
                           : set_to_symbol(rt, pick(rt, exec, node), symbol, src, n, offset, kind));
}

static cudaError_t set_from_symbol(struct runtime *rt, struct graph_node *node, void *dst,
                                   const void *symbol, size_t n, size_t offset,
                                   enum cudaMemcpyKind kind)
{
    void *src = NULL;
    const cudaError_t e = symbol_place(rt, symbol, n, offset, &src);

    return e != cudaSuccess ? e : set_work(rt, node, copy_work_1d(dst, src, n, kind));
}

EXPORT cudaError_t cudaGraphMemcpyNodeSetParamsFromSymbol(cudaGraphNode_t node, void *dst,
                                                          const void *symbol, size_t n,
                                                          size_t offset, enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK, set_from_symbol(rt, pick(rt, NULL, node), dst, symbol, n, offset, kind));
}

EXPORT cudaError_t cudaGraphExecMemcpyNodeSetParamsFromSymbol(cudaGraphExec_t exec,
                                                              cudaGraphNode_t node, void *dst,
                                                              const void *symbol, size_t n,
                                                              size_t offset,
                                                              enum cudaMemcpyKind kind)
{
    API_BODY(API_WORK,
             !exec ? cudaErrorInvalidValue
                   : set_from_symbol(rt, pick(rt, exec, node), dst, symbol, n, offset, kind));
}

static cudaError_t set_fill(struct runtime *rt, struct graph_node *n,
                            const struct cudaMemsetParams *p)
{
    struct work w;
    const cudaError_t e = fill_work(&w, p);

    return change(rt, n, e, &w);
}

EXPORT cudaError_t cudaGraphMemsetNodeSetParams(cudaGraphNode_t node,
                                                const struct cudaMemsetParams *params)
{
    API_BODY(API_WORK, set_fill(rt, pick(rt, NULL, node), params));
}

EXPORT cudaError_t cudaGraphExecMemsetNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                    const struct cudaMemsetParams *params)
{
    API_BODY(API_WORK, !exec ? cudaErrorInvalidValue : set_fill(rt, pick(rt, exec, node), params));
}

static cudaError_t set_host(struct runtime *rt, struct graph_node *n,
                            const struct cudaHostNodeParams *p)
{
    return p ? set_work(rt, n, host_work(p->fn, p->userData)) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaGraphHostNodeSetParams(cudaGraphNode_t node,
                                              const struct cudaHostNodeParams *params)
{
    API_BODY(API_WORK, set_host(rt, pick(rt, NULL, node), params));
}

EXPORT cudaError_t cudaGraphExecHostNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                  const struct cudaHostNodeParams *params)
{
    API_BODY(API_WORK, !exec ? cudaErrorInvalidValue : set_host(rt, pick(rt, exec, node), params));
}

static cudaError_t set_event(struct runtime *rt, struct graph_node *n, enum work_kind kind,
                             cudaEvent_t event)
{
    struct work w;
    const cudaError_t e = event_work(rt, &w, kind, event);

    return change(rt, n, e, &w);
}

EXPORT cudaError_t cudaGraphEventRecordNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    API_BODY(API_WORK, set_event(rt, pick(rt, NULL, node), WORK_RECORD, event));
}

EXPORT cudaError_t cudaGraphEventWaitNodeSetEvent(cudaGraphNode_t node, cudaEvent_t event)
{
    API_BODY(API_WORK, set_event(rt, pick(rt, NULL, node), WORK_WAIT, event));
}

EXPORT cudaError_t cudaGraphExecEventRecordNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                        cudaEvent_t event)
{
    API_BODY(API_WORK, !exec ? cudaErrorInvalidValue
                             : set_event(rt, pick(rt, exec, node), WORK_RECORD, event));
}

EXPORT cudaError_t cudaGraphExecEventWaitNodeSetEvent(cudaGraphExec_t exec, cudaGraphNode_t node,
                                                      cudaEvent_t event)
{
    API_BODY(API_WORK,
             !exec ? cudaErrorInvalidValue : set_event(rt, pick(rt, exec, node), WORK_WAIT, event));
}

static cudaError_t set_general(struct runtime *rt, struct graph_node *n,
                               struct cudaGraphNodeParams *p)
{
    struct work w = {.kind = WORK_EMPTY};
    const cudaError_t e = p ? general_work(rt, &w, p) : cudaErrorInvalidValue;

    return change(rt, n, e, &w);
}

EXPORT cudaError_t cudaGraphNodeSetParams(cudaGraphNode_t node, struct cudaGraphNodeParams *params)
{
    API_BODY(API_WORK, set_general(rt, pick(rt, NULL, node), params));
}

EXPORT cudaError_t cudaGraphExecNodeSetParams(cudaGraphExec_t exec, cudaGraphNode_t node,
                                              struct cudaGraphNodeParams *params)
{
    API_BODY(API_WORK,
             !exec ? cudaErrorInvalidValue : set_general(rt, pick(rt, exec, node), params));
}

/* ---- reading ---- */

static struct graph_node *of_kind(struct runtime *rt, cudaGraphNode_t handle, enum work_kind kind)
{
    struct graph_node *n = node_find(rt, handle);

    return n && n->work.kind == kind ? n : NULL;
}

static cudaError_t get_kernel(struct graph_node *n, struct cudaKernelNodeParams *p)
{
    if (!n || !p)
        return cudaErrorInvalidValue;
    const struct launch *l = &n->work.u.launch;
    const struct ptx_func *f = l->kernel->func;
    if (!n->args) {
        n->args = malloc((f->param_count + 1) * sizeof *n->args);
        if (!n->args)
            return cudaErrorMemoryAllocation;
        for (uint32_t i = 0; i < f->param_count; i++)
            n->args[i] = l->params + f->params[i].offset;
    }
    *p = (struct cudaKernelNodeParams){.gridDim = l->grid,
                                       .blockDim = l->block,
                                       .sharedMemBytes = (unsigned)l->shared,
                                       .kernelParams = n->args};
    p->func = (void *)(uintptr_t)(l->kernel->stub ? l->kernel->stub : (const void *)l->kernel);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphKernelNodeGetParams(cudaGraphNode_t node,
                                                struct cudaKernelNodeParams *params)
{
    API_BODY(API_WORK, get_kernel(of_kind(rt, node, WORK_KERNEL), params));
}

static cudaError_t get_copy(const struct graph_node *n, struct cudaMemcpy3DParms *p)
{
    if (!n || !p)
        return cudaErrorInvalidValue;
    const struct copy *c = &n->work.u.copy;
    *p = (struct cudaMemcpy3DParms){.extent = {c->width, c->height, c->depth}, .kind = c->kind};
    p->srcPtr = (struct cudaPitchedPtr){
        (void *)(uintptr_t)c->src, c->src_pitch ? c->src_pitch : c->width, c->width, c->height};
    p->dstPtr = (struct cudaPitchedPtr){c->dst, c->dst_pitch ? c->dst_pitch : c->width, c->width,
                                        c->height};
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphMemcpyNodeGetParams(cudaGraphNode_t node,
                                                struct cudaMemcpy3DParms *params)
{
    API_BODY(API_WORK, get_copy(of_kind(rt, node, WORK_COPY), params));
}

static cudaError_t get_fill(const struct graph_node *n, struct cudaMemsetParams *p)
{
    if (!n || !p)
        return cudaErrorInvalidValue;
    const struct fill *f = &n->work.u.fill;
    *p = (struct cudaMemsetParams){.dst = f->dst,
                                   .pitch = f->pitch,
                                   .value = f->value,
                                   .elementSize = f->element,
                                   .width = f->width / f->element,
                                   .height = f->height};
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphMemsetNodeGetParams(cudaGraphNode_t node,
                                                struct cudaMemsetParams *params)
{
    API_BODY(API_WORK, get_fill(of_kind(rt, node, WORK_SET), params));
}

static cudaError_t get_host(const struct graph_node *n, struct cudaHostNodeParams *p)
{
    if (!n || !p)
        return cudaErrorInvalidValue;
    p->fn = n->work.u.host.fn;
    p->userData = n->work.u.host.user;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphHostNodeGetParams(cudaGraphNode_t node,
                                              struct cudaHostNodeParams *params)
{
    API_BODY(API_WORK, get_host(of_kind(rt, node, WORK_HOST), params));
}

static cudaError_t get_event(const struct graph_node *n, cudaEvent_t *event)
{
    if (!n || !event)
        return cudaErrorInvalidValue;
    *event = (cudaEvent_t)(void *)n->work.u.event;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphEventRecordNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    API_BODY(API_WORK, get_event(of_kind(rt, node, WORK_RECORD), event));
}

EXPORT cudaError_t cudaGraphEventWaitNodeGetEvent(cudaGraphNode_t node, cudaEvent_t *event)
{
    API_BODY(API_WORK, get_event(of_kind(rt, node, WORK_WAIT), event));
}

static cudaError_t get_child(const struct graph_node *n, cudaGraph_t *graph)
{
    if (!n || !graph)
        return cudaErrorInvalidValue;
    *graph = (cudaGraph_t)(void *)n->work.u.child;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphChildGraphNodeGetGraph(cudaGraphNode_t node, cudaGraph_t *graph)
{
    API_BODY(API_WORK, get_child(of_kind(rt, node, WORK_CHILD), graph));
}

static cudaError_t get_alloc(const struct graph_node *n, struct cudaMemAllocNodeParams *p)
{
    if (!n || !p)
        return cudaErrorInvalidValue;
    *p = (struct cudaMemAllocNodeParams){.bytesize = n->work.u.alloc.size,
                                         .dptr = n->work.u.alloc.ptr};
    p->poolProps.allocType = cudaMemAllocationTypePinned;
    p->poolProps.location.type = cudaMemLocationTypeDevice;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphMemAllocNodeGetParams(cudaGraphNode_t node,
                                                  struct cudaMemAllocNodeParams *params)
{
    API_BODY(API_WORK, get_alloc(of_kind(rt, node, WORK_ALLOC), params));
}

static cudaError_t get_free(const struct graph_node *n, void *out)
{
    if (!n || !out)
        return cudaErrorInvalidValue;
    memcpy(out, &n->work.u.alloc.ptr, sizeof n->work.u.alloc.ptr);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphMemFreeNodeGetParams(cudaGraphNode_t node, void *out)
{
    API_BODY(API_WORK, get_free(of_kind(rt, node, WORK_FREE), out));
}

/* Attributes of kernel nodes: cooperative is kept, the rest are hints. */
static cudaError_t get_attribute(const struct graph_node *n, cudaLaunchAttributeID id,
                                 cudaLaunchAttributeValue *v)
{
    if (!n || !v)
        return cudaErrorInvalidValue;
    memset(v, 0, sizeof *v);
    if (id == cudaLaunchAttributeCooperative)
        v->cooperative = n->work.u.launch.cooperative;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphKernelNodeGetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   cudaLaunchAttributeValue *value)
{
    API_BODY(API_WORK, get_attribute(of_kind(rt, node, WORK_KERNEL), id, value));
}

static cudaError_t set_attribute(struct graph_node *n, cudaLaunchAttributeID id,
                                 const cudaLaunchAttributeValue *v)
{
    if (!n || !v)
        return cudaErrorInvalidValue;
    if (id == cudaLaunchAttributeCooperative)
        n->work.u.launch.cooperative = v->cooperative != 0;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphKernelNodeSetAttribute(cudaGraphNode_t node, cudaLaunchAttributeID id,
                                                   const cudaLaunchAttributeValue *value)
{
    API_BODY(API_WORK, set_attribute(of_kind(rt, node, WORK_KERNEL), id, value));
}

static cudaError_t copy_attributes(struct graph_node *dst, const struct graph_node *src)
{
    if (!dst || !src)
        return cudaErrorInvalidValue;
    dst->work.u.launch.cooperative = src->work.u.launch.cooperative;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGraphKernelNodeCopyAttributes(cudaGraphNode_t dst, cudaGraphNode_t src)
{
    API_BODY(API_WORK,
             copy_attributes(of_kind(rt, dst, WORK_KERNEL), of_kind(rt, src, WORK_KERNEL)));
}

/*
 * graph.h - graphs: nodes that hold work, edges that order it, executable copies. Shared by graph.c
 * graph_nodes.c capture.c. Invariant: an executable graph owns a copy of everything, so that later
 * changes of the graph do not reach it.
 */
#ifndef VGPU_CUDART_GRAPH_H
#define VGPU_CUDART_GRAPH_H

#include "runtime.h"

struct graph_node {
    struct graph *graph;
    struct work work; /* owned: parameter block of a kernel, child graph */
    struct graph_node **deps;
    size_t dep_count;
    const struct graph_node
        *origin; /* in a clone or executable graph: the node it was copied from */
    void **args; /* kernel: pointers into the parameter block, made on request */
    bool disabled;
    bool frees_memory; /* alloc node: the graph owns the address */
    size_t mark;       /* scratch of one walk */
};
struct graph {
    struct graph_node **nodes;
    size_t count, cap;
    bool owned; /* a child, freed with its node */
    const struct graph *origin;
    struct graph *next; /* list of the runtime, owned ones are not in it */
};
struct graph_exec {
    struct graph *graph;
    struct graph_node **order; /* every node behind those it depends on */
    unsigned long long flags;
};

struct graph *graph_find(struct runtime *rt, cudaGraph_t g);
struct graph_node *node_find(struct runtime *rt, cudaGraphNode_t n);
struct graph_exec *exec_find(struct runtime *rt, cudaGraphExec_t e);
/* The copy of `n` inside an executable graph, at any depth; NULL when it holds none. */
struct graph_node *exec_node(const struct graph *g, const struct graph_node *n);
/* Adds a node that takes over *w; on failure *w is dropped. */
cudaError_t graph_add(struct runtime *rt, struct graph *g, struct graph_node *const *deps,
                      size_t count, struct work *w, struct graph_node **out);
/* The same for the arguments of an API call. */
cudaError_t graph_add_api(struct runtime *rt, cudaGraphNode_t *out, cudaGraph_t g,
                          const cudaGraphNode_t *deps, size_t count, struct work *w);
struct graph *graph_clone(struct runtime *rt, const struct graph *g, bool owned);
enum cudaGraphNodeType node_type(const struct graph_node *n);
/* Replaces the work of a node of the same kind; takes over *w. */
cudaError_t node_replace(struct graph_node *n, struct work *w);

#endif

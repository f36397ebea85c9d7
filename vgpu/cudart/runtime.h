/*
 * runtime.h - what the files of the runtime API share: the one runtime, its objects, and the way
 * every exported function begins and ends. Internal to cudart/. Invariant: everything here is
 * reached under the lock that api_begin takes; host callbacks run without it.
 */
#ifndef VGPU_CUDART_RUNTIME_H
#define VGPU_CUDART_RUNTIME_H

#include "../fatbin.h"
#include "../image.h"
#include "../machine.h"

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
/* A second exported name of a function defined in the same file: the per-thread default stream
 * variants do the same here. */
#define EXPORT_ALIAS(name, target)                                                                 \
    extern __typeof__(target) name __attribute__((alias(#target), visibility("default")))
#define PER_THREAD_STREAM(name)  EXPORT_ALIAS(name##_ptsz, name)
#define PER_THREAD_DEFAULT(name) EXPORT_ALIAS(name##_ptds, name)

/* ---- objects ---- */

enum object_kind {
    OBJECT_FREE,
    OBJECT_STUB,
    OBJECT_KERNEL,
    OBJECT_SYMBOL,
    OBJECT_STREAM,
    OBJECT_EVENT,
    OBJECT_POOL,
    OBJECT_POOLED,
    OBJECT_GRAPH,
    OBJECT_NODE,
    OBJECT_EXEC,
    OBJECT_LIBRARY,
    OBJECT_USER
};

/* Handles are looked up before they are used, so that a wrong one is an error and not a crash. */
struct object {
    const void *key;
    void *value;
    enum object_kind kind;
};
struct object_table {
    struct object *slots;
    size_t used, size;
};
void *object_find(const struct object_table *t, const void *key, enum object_kind kind);
bool object_add(struct object_table *t, const void *key, enum object_kind kind,
                void *value); /* false: out of memory */
void object_remove(struct object_table *t, const void *key, enum object_kind kind);

struct kernel {
    struct module *module;
    const void *stub;        /* host function, NULL for kernels of a library */
    const char *name;        /* mangled */
    char *own_name;          /* the same text when the kernel owns it, else NULL */
    struct ptx_func *func;   /* NULL until the module is loaded, or when it has no such kernel */
    struct program *program; /* NULL until the first use */
    char *refusal;           /* why it cannot run, NULL when it can */
    unsigned registers;      /* per thread, from machine code beside the PTX, else 0 */
    int max_dynamic_shared;  /* attribute: opt-in above 48 kB */
    int carveout, cluster[3], nonportable;
    struct kernel *next; /* of the same module */
};
struct symbol_var {
    struct module *module;
    const void *host; /* address of the host variable */
    const char *name;
    size_t size;
    void **managed; /* where the host keeps the pointer of a managed variable, or NULL */
    struct symbol_var *next;
};
struct module { /* one fatbin or library */
    const void *container;
    struct fatbin fat;
    char *text; /* owned PTX text of a library loaded from a file */
    bool loaded, library;
    struct ptx_module *ptx; /* NULL when there is none or it was refused */
    char *refusal;
    struct kernel *kernels;
    struct symbol_var *vars;
    struct module *next;
};

struct graph;
struct stream {
    unsigned flags;
    int priority;
    unsigned long long id;
    enum cudaStreamCaptureStatus capture;
    enum cudaStreamCaptureMode capture_mode;
    struct graph *graph;      /* being captured */
    struct graph_node **tips; /* nodes that the next captured one depends on */
    size_t tip_count, tip_cap;
    bool origin; /* cudaStreamBeginCapture was called on it, not joined by an event */
    unsigned long long capture_id;
    struct cudaAccessPolicyWindow window;
    struct stream *next;
};
struct event {
    unsigned flags;
    bool recorded;
    bool stale; /* last recorded in a capture that is over */
    uint64_t clock;
    struct graph *graph; /* captured: the nodes a wait will depend on */
    struct graph_node **tips;
    size_t tip_count;
    struct event *next;
};
struct pool {
    uint64_t used, used_high, reserved_high, threshold, limit;
    int reuse[3];
    bool is_default;
    struct pool *next;
};

/* ---- work: what a stream does, at once or as a node of a graph ---- */

enum work_kind {
    WORK_EMPTY,
    WORK_KERNEL,
    WORK_COPY,
    WORK_SET,
    WORK_HOST,
    WORK_RECORD,
    WORK_WAIT,
    WORK_ALLOC,
    WORK_FREE,
    WORK_CHILD
};
struct launch {
    struct kernel *kernel;
    dim3 grid, block;
    size_t shared;
    bool cooperative;
    unsigned char *params; /* func->param_size bytes */
};
struct copy { /* rows of `width` bytes */
    void *dst;
    const void *src;
    size_t width, height, depth, dst_pitch, src_pitch, dst_slice, src_slice;
    enum cudaMemcpyKind kind;
};
struct fill {
    void *dst;
    unsigned value, element;                   /* element: 1, 2 or 4 bytes */
    size_t width, height, depth, pitch, slice; /* width in bytes */
};
struct work {
    enum work_kind kind;
    union {
        struct launch launch;
        struct copy copy;
        struct fill fill;
        struct {
            cudaHostFn_t fn;
            cudaStreamCallback_t callback;
            void *user;
            cudaStream_t stream;
        } host;
        struct event *event;
        struct {
            void *ptr;
            size_t size;
            struct pool *pool;
        } alloc;
        struct graph *child;
    } u;
};

/* ---- the runtime ---- */

enum { TLS_CONFIGS = 16, NAMES_MAX = 16, LIMIT_COUNT = 16 };

struct thread_state { /* of the calling thread */
    cudaError_t last;
    int device;
    enum cudaStreamCaptureMode capture_mode;
    struct {
        dim3 grid, block;
        size_t shared;
        cudaStream_t stream;
    } configs[TLS_CONFIGS];
    unsigned config_count;
};

struct runtime {
    struct vgpu_device device;
    bool opened;
    cudaError_t broken;  /* the device could not be opened */
    cudaError_t sticky;  /* every call returns it until a reset */
    cudaError_t pending; /* fault of a kernel that no call has reported yet */
    cudaError_t
        entry; /* what the current call must return at once, cudaSuccess when it may go on */
    struct object_table objects;
    struct module *modules;
    struct stream *streams, legacy, per_thread;
    struct event *events;
    struct pool default_pool, *pools, *current_pool;
    struct graph *graphs;
    unsigned long long stream_ids, capture_ids;
    unsigned names_given;       /* allocations that took a name from the options */
    uint64_t allocations;       /* asked for, counted for the option fail_alloc */
    size_t limits[LIMIT_COUNT]; /* cudaDeviceSetLimit, by enum cudaLimit */
    unsigned device_flags;
    unsigned capturing; /* streams under capture */
    const char *call;   /* name of the function under way; NULL: it explains nothing */
    char why[240];      /* what it was given wrongly, "" when nothing said so */
    bool told;          /* a finding has explained it already */
};

enum api_mode {
    API_PLAIN, /* may be called at any time */
    API_WORK,  /* queues work: sees a sticky error, not a fault that is still pending */
    API_SYNC   /* waits: surfaces a pending fault */
};
/* Locks, opens the device at the first call, sets rt->entry. */
struct runtime *api_begin(enum api_mode mode);
/* Remembers an error for cudaGetLastError, explains a wrong use of the call by a finding, unlocks.
 */
cudaError_t api_end(struct runtime *rt, cudaError_t e);
/* Says what is wrong with the call under way. Returns e. */
cudaError_t api_refuse(struct runtime *rt, cudaError_t e, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* The last statement of an exported function: `expr` may use rt and is evaluated only when the
 * runtime is in order. */
#define API_BODY(mode, expr)                                                                       \
    do {                                                                                           \
        struct runtime *const rt = api_begin(mode);                                                \
        rt->call = __func__;                                                                       \
        return api_end(rt, rt->entry != cudaSuccess ? rt->entry : (expr));                         \
    } while (0)
/* Around a host callback. */
void api_unlock(void);
void api_lock(void);
struct thread_state *api_thread(void);
/* Frees everything and forgets errors; the next call opens a fresh device. Registered modules stay,
 * unloaded. */
void runtime_reset(struct runtime *rt);
/* Prints pending device printf output and findings. */
void runtime_flush(struct runtime *rt);
void runtime_warn(struct runtime *rt, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* An error that an API call found: a finding, then the error it returns. */
cudaError_t runtime_finding(struct runtime *rt, enum fault_kind kind, uint64_t address,
                            uint64_t width, const char *detail);

/* modules: registration.c */
cudaError_t module_load(struct runtime *rt, struct module *m);
void module_unload(struct runtime *rt, struct module *m);
struct module *module_new(struct runtime *rt);
void module_delete(struct runtime *rt, struct module *m);
/* Host stub, kernel handle or function handle to a kernel that is ready to run; NULL with *e set.
 */
struct kernel *kernel_find(struct runtime *rt, const void *func, cudaError_t *e);
/* Looks up func and program of a kernel whose module is loaded. */
cudaError_t kernel_ready(struct runtime *rt, struct kernel *k);
struct kernel *module_kernel(struct runtime *rt, struct module *m, const char *name);
cudaError_t device_symbol_find(struct runtime *rt, const void *symbol, struct alloc **a,
                               size_t *size);

/* memory.c, pool.c */
cudaError_t device_alloc(struct runtime *rt, void **out, size_t size, enum alloc_kind kind);
cudaError_t device_free(struct runtime *rt, void *p, bool async);
cudaError_t copy_check(struct runtime *rt, const struct copy *c);
void copy_run(struct runtime *rt, const struct copy *c);
cudaError_t fill_check(struct runtime *rt, const struct fill *f);
void fill_run(struct runtime *rt, const struct fill *f);
struct copy copy_from_3d(const struct cudaMemcpy3DParms *p, cudaError_t *e);
void pool_init(struct pool *p, bool is_default);
/* Tells the pool that an allocation came from. */
void pool_freed(struct runtime *rt, const struct alloc *a);

/* kernel.c */
cudaError_t launch_prepare(struct runtime *rt, struct launch *l, const void *func, dim3 grid,
                           dim3 block, void **args, size_t shared, bool cooperative);
cudaError_t launch_run(struct runtime *rt, const struct launch *l);
unsigned kernel_max_threads(const struct kernel *k);
unsigned kernel_registers(const struct kernel *k);

/* streams: stream.c */
struct stream *stream_find(struct runtime *rt, cudaStream_t s);
/* Checks the work, then does it, or adds it to the graph under capture. Takes over
 * w->u.launch.params. */
cudaError_t stream_submit(struct runtime *rt, cudaStream_t s, struct work *w);
cudaError_t work_check(struct runtime *rt, const struct work *w);
cudaError_t work_run(struct runtime *rt, const struct work *w);
void work_drop(struct work *w);
/* Error of a call that cannot be part of a graph: forbidden while a stream is captured, unless the
 * thread or the capture allows it. Ends the capture. */
cudaError_t capture_unsafe(struct runtime *rt);
/* Ends the capture that fills a graph; false: none does any more. */
bool capture_spoil(struct runtime *rt, const struct graph *g);
/* Error of a call that would wait for the streams under capture. Ends the capture. */
cudaError_t capture_implicit(struct runtime *rt);
cudaError_t stream_sync(struct runtime *rt, cudaStream_t s);
struct event *event_find(struct runtime *rt, cudaEvent_t e);

/* graphs: graph.c */
cudaError_t graph_capture(struct runtime *rt, struct stream *s, struct work *w);
struct graph *graph_new(struct runtime *rt);
void graph_delete(struct runtime *rt, struct graph *g);
bool graph_copy_tips(struct graph_node ***dst, size_t *dst_count, struct graph_node *const *src,
                     size_t count);
void graphs_reset(struct runtime *rt);

/* device.c */
int device_attribute(const struct runtime *rt, enum cudaDeviceAttr a, bool *known);
void limits_init(struct runtime *rt);

#endif

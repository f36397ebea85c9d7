/*
 * pool.c - stream-ordered allocation and memory pools.
 * Work runs in call order, so an asynchronous free takes effect at once and every later use is an
 * error, although hardware may let it pass. Invariant: the device memory comes from the same
 * allocator as cudaMalloc; pools only account.
 */
#include "runtime.h"

#include <stdlib.h>
#include <string.h>

void pool_init(struct pool *p, bool is_default)
{
    *p = (struct pool){.is_default = is_default, .reuse = {1, 1, 1}};
}

static struct pool *pool_find(struct runtime *rt, cudaMemPool_t h)
{
    const void *key = h;

    return key == &rt->default_pool ? &rt->default_pool
                                    : object_find(&rt->objects, key, OBJECT_POOL);
}

static cudaMemPool_t pool_handle(struct pool *p) { return (cudaMemPool_t)(void *)p; }

static cudaError_t pool_alloc_now(struct runtime *rt, void **out, size_t size, struct pool *pool)
{
    const cudaError_t e = device_alloc(rt, out, size, ALLOC_ASYNC);

    if (e != cudaSuccess || size == 0)
        return e;
    if (!object_add(&rt->objects, *out, OBJECT_POOLED, pool)) {
        device_free(rt, *out, true);
        return cudaErrorMemoryAllocation;
    }
    pool->used += size;
    if (pool->used > pool->used_high)
        pool->used_high = pool->used;
    if (pool->used > pool->reserved_high)
        pool->reserved_high = pool->used;
    return cudaSuccess;
}

void pool_freed(struct runtime *rt, const struct alloc *a)
{
    const void *key = (const void *)(uintptr_t)a->addr;
    struct pool *p = object_find(&rt->objects, key, OBJECT_POOLED);

    if (p)
        p->used -= a->size;
    object_remove(&rt->objects, key, OBJECT_POOLED);
}

static cudaError_t malloc_async(struct runtime *rt, void **p, size_t size, struct pool *pool,
                                cudaStream_t stream)
{
    const struct stream *s = stream_find(rt, stream);
    struct work w = {.kind = WORK_ALLOC};

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (!p || !pool)
        return cudaErrorInvalidValue;
    const cudaError_t e = pool_alloc_now(rt, p, size, pool);
    if (e != cudaSuccess || s->capture == cudaStreamCaptureStatusNone || size == 0)
        return e;
    w.u.alloc.ptr = *p; /* captured: the address is fixed now, the node keeps it */
    w.u.alloc.size = size;
    w.u.alloc.pool = pool;
    return stream_submit(rt, stream, &w);
}

EXPORT cudaError_t cudaMallocAsync(void **p, size_t size, cudaStream_t stream)
{
    API_BODY(API_WORK, malloc_async(rt, p, size, rt->current_pool, stream));
}

PER_THREAD_STREAM(cudaMallocAsync);

EXPORT cudaError_t cudaMallocFromPoolAsync(void **p, size_t size, cudaMemPool_t pool,
                                           cudaStream_t stream)
{
    API_BODY(API_WORK, malloc_async(rt, p, size, pool_find(rt, pool), stream));
}

PER_THREAD_STREAM(cudaMallocFromPoolAsync);

static cudaError_t free_async(struct runtime *rt, void *p, cudaStream_t stream)
{
    const struct stream *s = stream_find(rt, stream);
    struct work w = {.kind = WORK_FREE};

    if (!s)
        return cudaErrorInvalidResourceHandle;
    if (s->capture == cudaStreamCaptureStatusNone)
        return device_free(rt, p, true);
    w.u.alloc.ptr = p;
    return stream_submit(rt, stream, &w);
}

EXPORT cudaError_t cudaFreeAsync(void *p, cudaStream_t stream)
{
    API_BODY(API_WORK, free_async(rt, p, stream));
}
PER_THREAD_STREAM(cudaFreeAsync);

/* ---- pools ---- */

static cudaError_t give_pool(cudaMemPool_t *out, struct pool *p, int device)
{
    if (!out || !p)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    *out = pool_handle(p);
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetDefaultMemPool(cudaMemPool_t *pool, int device)
{
    API_BODY(API_WORK, give_pool(pool, &rt->default_pool, device));
}

EXPORT cudaError_t cudaDeviceGetMemPool(cudaMemPool_t *pool, int device)
{
    API_BODY(API_WORK, give_pool(pool, rt->current_pool, device));
}

static cudaError_t set_pool(struct runtime *rt, int device, struct pool *p)
{
    if (device != 0)
        return cudaErrorInvalidDevice;
    if (!p)
        return cudaErrorInvalidValue;
    rt->current_pool = p;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSetMemPool(int device, cudaMemPool_t pool)
{
    API_BODY(API_WORK, set_pool(rt, device, pool_find(rt, pool)));
}

static cudaError_t pool_create(struct runtime *rt, cudaMemPool_t *out,
                               const struct cudaMemPoolProps *props)
{
    if (!out || !props || props->allocType != cudaMemAllocationTypePinned ||
        props->location.type != cudaMemLocationTypeDevice)
        return cudaErrorInvalidValue;
    if (props->location.id != 0)
        return cudaErrorInvalidValue;
    if (props->handleTypes != cudaMemHandleTypeNone)
        return cudaErrorNotSupported;
    struct pool *p = malloc(sizeof *p);
    if (!p || !object_add(&rt->objects, p, OBJECT_POOL, p)) {
        free(p);
        return cudaErrorMemoryAllocation;
    }
    pool_init(p, false);
    p->limit = props->maxSize;
    p->next = rt->pools;
    rt->pools = p;
    *out = pool_handle(p);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolCreate(cudaMemPool_t *pool, const struct cudaMemPoolProps *props)
{
    API_BODY(API_WORK, pool_create(rt, pool, props));
}

/* The handle dies at once; the account lives on for the allocations that are still out. */
static cudaError_t pool_destroy(struct runtime *rt, struct pool *p)
{
    if (!p || p->is_default)
        return cudaErrorInvalidValue;
    if (rt->current_pool == p)
        rt->current_pool = &rt->default_pool;
    object_remove(&rt->objects, p, OBJECT_POOL);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolDestroy(cudaMemPool_t pool)
{
    API_BODY(API_WORK, pool_destroy(rt, pool_find(rt, pool)));
}

EXPORT cudaError_t cudaMemPoolTrimTo(cudaMemPool_t pool, size_t keep)
{
    (void)keep; /* nothing is kept in reserve */
    API_BODY(API_WORK, pool_find(rt, pool) ? cudaSuccess : cudaErrorInvalidValue);
}

static bool reuse_index(enum cudaMemPoolAttr attr, int *i)
{
    *i = (int)attr - (int)cudaMemPoolReuseFollowEventDependencies;
    return *i >= 0 && *i < 3;
}

static cudaError_t pool_get(struct pool *p, enum cudaMemPoolAttr attr, void *value)
{
    int i = 0;
    uint64_t n = 0;

    if (!p || !value)
        return cudaErrorInvalidValue;
    if (reuse_index(attr, &i)) {
        memcpy(value, &p->reuse[i], sizeof p->reuse[i]);
        return cudaSuccess;
    }
    if (attr == cudaMemPoolAttrReleaseThreshold)
        n = p->threshold;
    else if (attr == cudaMemPoolAttrReservedMemCurrent || attr == cudaMemPoolAttrUsedMemCurrent)
        n = p->used;
    else if (attr == cudaMemPoolAttrReservedMemHigh)
        n = p->reserved_high;
    else if (attr == cudaMemPoolAttrUsedMemHigh)
        n = p->used_high;
    else
        return cudaErrorInvalidValue;
    memcpy(value, &n, sizeof n);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                           void *value)
{
    API_BODY(API_WORK, pool_get(pool_find(rt, pool), attr, value));
}

static cudaError_t pool_set(struct pool *p, enum cudaMemPoolAttr attr, const void *value)
{
    int i = 0;
    uint64_t n = 0;

    if (!p || !value)
        return cudaErrorInvalidValue;
    if (reuse_index(attr, &i)) {
        memcpy(&p->reuse[i], value, sizeof p->reuse[i]);
        return cudaSuccess;
    }
    memcpy(&n, value, sizeof n);
    if (attr == cudaMemPoolAttrReleaseThreshold)
        p->threshold = n;
    else if (attr == cudaMemPoolAttrReservedMemHigh && n == 0)
        p->reserved_high = p->used;
    else if (attr == cudaMemPoolAttrUsedMemHigh && n == 0)
        p->used_high = p->used;
    else
        return cudaErrorInvalidValue;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, enum cudaMemPoolAttr attr,
                                           void *value)
{
    API_BODY(API_WORK, pool_set(pool_find(rt, pool), attr, value));
}

static cudaError_t pool_access(struct pool *p, enum cudaMemAccessFlags *flags,
                               const struct cudaMemLocation *location)
{
    if (!p || !flags || !location || location->type != cudaMemLocationTypeDevice)
        return cudaErrorInvalidValue;
    if (location->id != 0)
        return cudaErrorInvalidDevice;
    *flags = cudaMemAccessFlagsProtReadWrite;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolGetAccess(enum cudaMemAccessFlags *flags, cudaMemPool_t pool,
                                        struct cudaMemLocation *location)
{
    API_BODY(API_WORK, pool_access(pool_find(rt, pool), flags, location));
}

static cudaError_t pool_set_access(struct pool *p, const struct cudaMemAccessDesc *list,
                                   size_t count)
{
    if (!p || !list || count == 0)
        return cudaErrorInvalidValue;
    for (size_t i = 0; i < count; i++)
        if (list[i].location.type != cudaMemLocationTypeDevice || list[i].location.id != 0 ||
            list[i].flags != cudaMemAccessFlagsProtReadWrite)
            return cudaErrorInvalidValue; /* the only device keeps access to its own memory */
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemPoolSetAccess(cudaMemPool_t pool, const struct cudaMemAccessDesc *list,
                                        size_t count)
{
    API_BODY(API_WORK, pool_set_access(pool_find(rt, pool), list, count));
}

/* ---- pools by location: the device is the only one ---- */

static cudaError_t pool_at(cudaMemPool_t *out, struct pool *p, const struct cudaMemLocation *l,
                           enum cudaMemAllocationType type)
{
    if (!l || type != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    if (l->type != cudaMemLocationTypeDevice)
        return cudaErrorNotSupported;
    return give_pool(out, p, l->id);
}

EXPORT cudaError_t cudaMemGetDefaultMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                            enum cudaMemAllocationType type)
{
    API_BODY(API_WORK, pool_at(pool, &rt->default_pool, location, type));
}

EXPORT cudaError_t cudaMemGetMemPool(cudaMemPool_t *pool, struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type)
{
    API_BODY(API_WORK, pool_at(pool, rt->current_pool, location, type));
}

static cudaError_t set_pool_at(struct runtime *rt, const struct cudaMemLocation *l,
                               enum cudaMemAllocationType type, struct pool *p)
{
    if (!l || type != cudaMemAllocationTypePinned)
        return cudaErrorInvalidValue;
    return l->type == cudaMemLocationTypeDevice ? set_pool(rt, l->id, p) : cudaErrorNotSupported;
}

EXPORT cudaError_t cudaMemSetMemPool(struct cudaMemLocation *location,
                                     enum cudaMemAllocationType type, cudaMemPool_t pool)
{
    API_BODY(API_WORK, set_pool_at(rt, location, type, pool_find(rt, pool)));
}

/*
 * memory.c - allocation: device, pinned, registered and managed memory, and what is known about a
 * pointer. Copies nothing. Invariant: device memory is allocated exactly, without guard bytes: the
 * red zones of mem.c do that.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PITCH_ALIGN = 512 };

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

/* The n-th cudaMalloc takes the n-th name of the options: the judge allocates its buffers in the
 * order of the parameters. */
static void give_name(struct runtime *rt, struct alloc *a)
{
    const struct vgpu_options *o = &rt->device.options;

    if (a->kind == ALLOC_DEVICE && rt->names_given < o->name_count)
        snprintf(a->name, sizeof a->name, "%s", o->names[rt->names_given++]);
}

cudaError_t device_alloc(struct runtime *rt, void **out, size_t size, enum alloc_kind kind)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = NULL;
    if (size == 0)
        return cudaSuccess;
    const uint64_t fails = rt->device.options.fail_alloc;
    if (fails && ++rt->allocations == fails) {
        runtime_warn(rt, "allocation %llu fails, as the option fail_alloc asks",
                     (unsigned long long)fails);
        return cudaErrorMemoryAllocation;
    }
    struct alloc *a = mem_alloc(&rt->device.space, size, kind);
    if (!a) {
        runtime_warn(
            rt, "allocation of %zu bytes refused: %llu of %llu bytes of device memory are in use",
            size, (unsigned long long)rt->device.space.live_bytes,
            (unsigned long long)rt->device.space.limit_bytes);
        return cudaErrorMemoryAllocation;
    }
    give_name(rt, a);
    *out = (void *)(uintptr_t)a->addr;
    return cudaSuccess;
}

static bool is_kind_of_malloc(enum alloc_kind k) { return k == ALLOC_DEVICE || k == ALLOC_ASYNC; }

static cudaError_t managed_free(struct runtime *rt, struct alloc *a)
{
    unsigned char *host = a->host;

    mem_free(&rt->device.space, a, rt->device.launch_count);
    free(host);
    return cudaSuccess;
}

cudaError_t device_free(struct runtime *rt, void *p, bool async)
{
    const uint64_t addr = address_of(p);
    bool inside = false;

    if (!p)
        return cudaSuccess;
    struct alloc *a = mem_find(&rt->device.space, addr, &inside);
    if (!a || !inside)
        return api_refuse(rt, cudaErrorInvalidValue, "the pointer is none that cudaMalloc gave");
    if (a->kind == ALLOC_MANAGED && a->live && a->addr == addr && !async)
        return managed_free(rt, a);
    if (!is_kind_of_malloc(a->kind))
        return api_refuse(rt, cudaErrorInvalidValue, "the pointer is none that cudaMalloc gave");
    if (!a->live)
        return runtime_finding(rt, FAULT_DOUBLE_FREE, addr, 0,
                               async ? "cudaFreeAsync" : "cudaFree");
    if (a->addr != addr)
        return runtime_finding(rt, FAULT_MIDDLE_FREE, addr, 0,
                               async ? "cudaFreeAsync" : "cudaFree");
    pool_freed(rt, a);
    mem_free(&rt->device.space, a, rt->device.launch_count);
    return cudaSuccess;
}

static cudaError_t alloc_now(struct runtime *rt, void **p, size_t size)
{
    const cudaError_t e = capture_unsafe(rt);

    return e == cudaSuccess ? device_alloc(rt, p, size, ALLOC_DEVICE) : e;
}

static cudaError_t free_now(struct runtime *rt, void *p)
{
    const cudaError_t e = capture_unsafe(rt);

    return e == cudaSuccess ? device_free(rt, p, false) : e;
}

EXPORT cudaError_t cudaMalloc(void **p, size_t size) { API_BODY(API_WORK, alloc_now(rt, p, size)); }

EXPORT cudaError_t cudaFree(void *p) { API_BODY(API_SYNC, free_now(rt, p)); }

static cudaError_t malloc_pitch(struct runtime *rt, void **p, size_t *pitch, size_t width,
                                size_t height, size_t depth)
{
    if (!p || !pitch || width > SIZE_MAX / 4)
        return cudaErrorInvalidValue;
    *pitch = (width + PITCH_ALIGN - 1) / PITCH_ALIGN * PITCH_ALIGN;
    if (height && *pitch > SIZE_MAX / 4 / height)
        return cudaErrorMemoryAllocation;
    const size_t slice = *pitch * height;
    if (depth && slice > SIZE_MAX / 4 / depth)
        return cudaErrorMemoryAllocation;
    return device_alloc(rt, p, slice * depth, ALLOC_DEVICE);
}

EXPORT cudaError_t cudaMallocPitch(void **p, size_t *pitch, size_t width, size_t height)
{
    API_BODY(API_WORK, malloc_pitch(rt, p, pitch, width, height, 1));
}

static cudaError_t malloc_3d(struct runtime *rt, struct cudaPitchedPtr *p, struct cudaExtent e)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = (struct cudaPitchedPtr){.xsize = e.width, .ysize = e.height};
    return malloc_pitch(rt, &p->ptr, &p->pitch, e.width, e.height, e.depth);
}

EXPORT cudaError_t cudaMalloc3D(struct cudaPitchedPtr *p, struct cudaExtent extent)
{
    API_BODY(API_WORK, malloc_3d(rt, p, extent));
}

/* ---- host memory ---- */

static cudaError_t host_alloc(struct runtime *rt, void **p, size_t size, enum alloc_kind kind,
                              unsigned flags)
{
    if (!p)
        return cudaErrorInvalidValue;
    *p = NULL;
    if (size == 0)
        return cudaSuccess;
    if (size > SIZE_MAX / 2)
        return cudaErrorMemoryAllocation;
    void *host = aligned_alloc(4096, (size + 4095) / 4096 * 4096);
    if (!host)
        return cudaErrorMemoryAllocation;
    struct alloc *a = mem_adopt_host(&rt->device.space, host, size, kind);
    if (!a) {
        free(host);
        return cudaErrorMemoryAllocation;
    }
    a->host_flags = flags;
    *p = host;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMallocHost(void **p, size_t size)
{
    API_BODY(API_WORK, host_alloc(rt, p, size, ALLOC_PINNED, 0));
}

EXPORT cudaError_t cudaHostAlloc(void **p, size_t size, unsigned flags)
{
    API_BODY(API_WORK,
             flags > 7 ? cudaErrorInvalidValue : host_alloc(rt, p, size, ALLOC_PINNED, flags));
}

EXPORT cudaError_t cudaMallocManaged(void **p, size_t size, unsigned flags)
{
    API_BODY(API_WORK, flags != cudaMemAttachGlobal && flags != cudaMemAttachHost
                           ? cudaErrorInvalidValue
                           : host_alloc(rt, p, size, ALLOC_MANAGED, 0));
}

/* The live host range of a kind that begins exactly at p. */
static struct alloc *host_range(struct runtime *rt, const void *p, enum alloc_kind kind)
{
    bool inside = false;
    struct alloc *a = mem_find(&rt->device.space, address_of(p), &inside);

    return a && inside && a->kind == kind && a->addr == address_of(p) ? a : NULL;
}

static cudaError_t host_free(struct runtime *rt, void *p)
{
    struct alloc *a = host_range(rt, p, ALLOC_PINNED);

    if (!p)
        return cudaSuccess;
    return a ? managed_free(rt, a) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaFreeHost(void *p) { API_BODY(API_SYNC, host_free(rt, p)); }

static bool overlaps_host(const struct space *s, uint64_t addr, uint64_t size)
{
    for (size_t i = 0; i < s->host_count; i++)
        if (s->hosts[i]->addr < addr + size && addr < s->hosts[i]->addr + s->hosts[i]->size)
            return true;
    return false;
}

static cudaError_t host_register(struct runtime *rt, void *p, size_t size, unsigned flags)
{
    if (!p || size == 0 || host_range(rt, p, ALLOC_PINNED) || host_range(rt, p, ALLOC_MANAGED))
        return cudaErrorInvalidValue;
    if (overlaps_host(&rt->device.space, address_of(p), size))
        return cudaErrorHostMemoryAlreadyRegistered;
    struct alloc *a = mem_adopt_host(&rt->device.space, p, size, ALLOC_REGISTERED);
    if (!a)
        return cudaErrorMemoryAllocation;
    a->host_flags = flags & (cudaHostRegisterPortable | cudaHostRegisterMapped);
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostRegister(void *p, size_t size, unsigned flags)
{
    API_BODY(API_WORK, flags > 15 ? cudaErrorInvalidValue : host_register(rt, p, size, flags));
}

static cudaError_t host_unregister(struct runtime *rt, void *p)
{
    struct alloc *a = host_range(rt, p, ALLOC_REGISTERED);

    if (!a)
        return !p || overlaps_host(&rt->device.space, address_of(p), 1)
                   ? cudaErrorInvalidValue
                   : cudaErrorHostMemoryNotRegistered;
    mem_free(&rt->device.space, a, rt->device.launch_count);
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostUnregister(void *p) { API_BODY(API_SYNC, host_unregister(rt, p)); }

static struct alloc *host_known(struct runtime *rt, const void *p)
{
    bool inside = false;
    struct alloc *a = mem_find(&rt->device.space, address_of(p), &inside);

    return a && inside && a->live && (a->kind == ALLOC_PINNED || a->kind == ALLOC_REGISTERED)
               ? a
               : NULL;
}

static cudaError_t host_device_pointer(struct runtime *rt, void **out, void *p)
{
    if (!out || !host_known(rt, p))
        return cudaErrorInvalidValue;
    *out = p; /* unified addresses: the device sees pinned memory at the host's own address */
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    API_BODY(API_WORK, flags ? cudaErrorInvalidValue : host_device_pointer(rt, device, host));
}

static cudaError_t host_flags(struct runtime *rt, unsigned *flags, const void *p)
{
    const struct alloc *a = host_known(rt, p);

    if (!flags || !a)
        return cudaErrorInvalidValue;
    *flags = a->host_flags | cudaHostAllocMapped;
    return cudaSuccess;
}

EXPORT cudaError_t cudaHostGetFlags(unsigned *flags, void *p)
{
    API_BODY(API_WORK, host_flags(rt, flags, p));
}

/* ---- questions ---- */

static cudaError_t mem_info(struct runtime *rt, size_t *free_bytes, size_t *total)
{
    const struct space *s = &rt->device.space;

    if (free_bytes)
        *free_bytes = s->limit_bytes > s->live_bytes ? s->limit_bytes - s->live_bytes : 0;
    if (total)
        *total = s->limit_bytes;
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemGetInfo(size_t *free_bytes, size_t *total)
{
    API_BODY(API_WORK, mem_info(rt, free_bytes, total));
}

static cudaError_t pointer_attributes(struct runtime *rt, struct cudaPointerAttributes *out,
                                      const void *p)
{
    bool inside = false;
    const struct alloc *a = mem_find(&rt->device.space, address_of(p), &inside);
    void *same =
        (void *)(uintptr_t)address_of(p); /* drops const: the structure has no const members */

    if (!out)
        return cudaErrorInvalidValue;
    *out = (struct cudaPointerAttributes){
        .type = cudaMemoryTypeUnregistered, .device = -2, .hostPointer = same};
    if (!a || !inside || !a->live)
        return cudaSuccess;
    out->device = 0;
    out->devicePointer = same;
    switch (a->kind) {
    case ALLOC_PINNED:
    case ALLOC_REGISTERED:
        out->type = cudaMemoryTypeHost;
        break;
    case ALLOC_MANAGED:
        out->type = cudaMemoryTypeManaged;
        break;
    case ALLOC_DEVICE:
    case ALLOC_ASYNC:
    case ALLOC_GLOBAL_VAR:
    case ALLOC_CONST_VAR:
    case ALLOC_HEAP:
    case ALLOC_INTERNAL:
        out->type = cudaMemoryTypeDevice;
        out->hostPointer = NULL;
        break;
    }
    return cudaSuccess;
}

EXPORT cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *out, const void *p)
{
    API_BODY(API_WORK, pointer_attributes(rt, out, p));
}

static struct alloc *managed_at(struct runtime *rt, const void *p, size_t count)
{
    bool inside = false;
    struct alloc *a = mem_find(&rt->device.space, address_of(p), &inside);

    return a && inside && a->live && a->kind == ALLOC_MANAGED &&
                   count <= a->addr + a->size - address_of(p)
               ? a
               : NULL;
}

/* Advice and prefetches change no result; only their arguments can be wrong. */
EXPORT cudaError_t cudaMemAdvise(const void *p, size_t count, enum cudaMemoryAdvise advice,
                                 struct cudaMemLocation location)
{
    (void)location;
    API_BODY(API_WORK, count == 0 || !managed_at(rt, p, count) ||
                               advice < cudaMemAdviseSetReadMostly ||
                               advice > cudaMemAdviseUnsetAccessedBy
                           ? cudaErrorInvalidValue
                           : cudaSuccess);
}

EXPORT cudaError_t cudaMemPrefetchAsync(const void *p, size_t count,
                                        struct cudaMemLocation location, unsigned flags,
                                        cudaStream_t stream)
{
    (void)location;
    API_BODY(API_WORK, !stream_find(rt, stream) ? cudaErrorInvalidResourceHandle
                       : count == 0 || flags != 0 || !managed_at(rt, p, count)
                           ? cudaErrorInvalidValue
                           : cudaSuccess);
}
PER_THREAD_STREAM(cudaMemPrefetchAsync);

static cudaError_t range_attribute(struct runtime *rt, void *data, size_t size,
                                   enum cudaMemRangeAttribute attribute, const void *p,
                                   size_t count)
{
    const int value = attribute == cudaMemRangeAttributeReadMostly ? 0 : cudaInvalidDeviceId;

    if (!data || size < sizeof value || !managed_at(rt, p, count))
        return cudaErrorInvalidValue;
    for (size_t at = 0; at + sizeof value <= size; at += sizeof value)
        memcpy((unsigned char *)data + at, &value, sizeof value);
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemRangeGetAttribute(void *data, size_t size,
                                            enum cudaMemRangeAttribute attribute, const void *p,
                                            size_t count)
{
    API_BODY(API_WORK, range_attribute(rt, data, size, attribute, p, count));
}

EXPORT cudaError_t cudaStreamAttachMemAsync(cudaStream_t stream, void *p, size_t length,
                                            unsigned flags)
{
    (void)length;
    API_BODY(API_WORK, !stream_find(rt, stream)             ? cudaErrorInvalidResourceHandle
                       : flags > 4 || !managed_at(rt, p, 0) ? cudaErrorInvalidValue
                                                            : cudaSuccess);
}
PER_THREAD_STREAM(cudaStreamAttachMemAsync);

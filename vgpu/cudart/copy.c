/*
 * copy.c - copies and fills in device, pinned and pageable memory, plain, pitched and in three
 * dimensions, and by symbol. Arrays (textures) are out of scope. Invariant: a copy is checked as a
 * whole before its first byte moves; initialised bits move along.
 */
#include "runtime.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static uint64_t address_of(const void *p) { return (uint64_t)(uintptr_t)p; }

/* The host's view of an address that the device only reads or writes through this file. */
static unsigned char *bytes_at(uint64_t address) { return (unsigned char *)(uintptr_t)address; }

/* One side of a copy. */
struct side {
    struct alloc *alloc; /* NULL: pageable host memory */
    uint64_t address;
    bool device_ok, host_ok; /* may the kind call it device memory, host memory? */
};

/* From the first byte to behind the last of a box of rows. */
static uint64_t box_bytes(size_t width, size_t height, size_t depth, size_t pitch, size_t slice)
{
    if (width == 0 || height == 0 || depth == 0)
        return 0;
    return (uint64_t)(depth - 1) * slice + (uint64_t)(height - 1) * pitch + width;
}

static cudaError_t locate(struct runtime *rt, struct side *s, const void *p, uint64_t size,
                          const char *what)
{
    bool inside = false;
    struct alloc *a = mem_find(&rt->device.space, address_of(p), &inside);

    *s = (struct side){.address = address_of(p), .host_ok = true};
    if (s->address >= GLOBAL_BASE && s->address < GLOBAL_BASE + GLOBAL_SPAN) {
        s->host_ok = false;
        s->device_ok = true;
        s->alloc = a;
        if (a && inside && a->kind == ALLOC_HEAP)
            return api_refuse(rt, cudaErrorInvalidValue, "%s lies in the heap of the kernels",
                              what);
        if (a && inside && a->live && size <= a->addr + a->size - s->address)
            return cudaSuccess;
        char detail[96];
        snprintf(detail, sizeof detail, "%s of %" PRIu64 " bytes", what, size);
        runtime_finding(rt, a && inside && !a->live ? FAULT_USE_AFTER_FREE : FAULT_API_COPY_OOB,
                        s->address, size, detail);
        return cudaErrorInvalidValue;
    }
    if (a && inside) { /* pinned, registered or managed: both sides see it */
        s->alloc = a;
        s->device_ok = true;
    }
    return p || size == 0 ? cudaSuccess
                          : api_refuse(rt, cudaErrorInvalidValue, "%s is a null pointer", what);
}

static bool kind_fits(enum cudaMemcpyKind kind, const struct side *dst, const struct side *src)
{
    switch (kind) {
    case cudaMemcpyHostToHost: /* the driver sees where pointers lie; it only checks the sides that
                                */
        return true;           /* are said to be the device's */
    case cudaMemcpyHostToDevice:
        return dst->device_ok;
    case cudaMemcpyDeviceToHost:
        return src->device_ok;
    case cudaMemcpyDeviceToDevice:
        return dst->device_ok && src->device_ok;
    case cudaMemcpyDefault:
        return true;
    }
    return false;
}

static cudaError_t locate_both(struct runtime *rt, const struct copy *c, struct side *dst,
                               struct side *src)
{
    const cudaError_t e = locate(
        rt, dst, c->dst, box_bytes(c->width, c->height, c->depth, c->dst_pitch, c->dst_slice),
        "destination of a copy");

    if (e != cudaSuccess)
        return e;
    return locate(rt, src, c->src,
                  box_bytes(c->width, c->height, c->depth, c->src_pitch, c->src_slice),
                  "source of a copy");
}

static const char *const kind_names[] = {
    [cudaMemcpyHostToHost] = "cudaMemcpyHostToHost",
    [cudaMemcpyHostToDevice] = "cudaMemcpyHostToDevice",
    [cudaMemcpyDeviceToHost] = "cudaMemcpyDeviceToHost",
    [cudaMemcpyDeviceToDevice] = "cudaMemcpyDeviceToDevice",
    [cudaMemcpyDefault] = "cudaMemcpyDefault",
};

cudaError_t copy_check(struct runtime *rt, const struct copy *c)
{
    struct side dst, src;

    if (c->width == 0 || c->height == 0 || c->depth == 0)
        return cudaSuccess;
    if (c->kind < cudaMemcpyHostToHost || c->kind > cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    if (c->height * c->depth > 1 && (c->width > c->dst_pitch || c->width > c->src_pitch))
        return cudaErrorInvalidPitchValue;
    const cudaError_t e = locate_both(rt, c, &dst, &src);
    if (e != cudaSuccess)
        return e;
    if (kind_fits(c->kind, &dst, &src))
        return cudaSuccess;
    return api_refuse(rt, cudaErrorInvalidValue, "%s from %s memory to %s memory",
                      kind_names[c->kind], src.device_ok ? "device" : "host",
                      dst.device_ok ? "device" : "host");
}

static unsigned char *side_bytes(const struct side *s)
{
    return s->alloc ? s->alloc->host + (s->address - s->alloc->addr) : bytes_at(s->address);
}

/* Warns once per copy when bytes reach the host that nobody wrote. */
static void check_row(struct runtime *rt, const struct side *src, uint64_t at, size_t n,
                      bool *warned)
{
    uint64_t bad = 0;

    if (*warned || !rt->device.options.check_init || !src->alloc || !src->alloc->init)
        return;
    if (!mem_is_init(src->alloc, src->address - src->alloc->addr + at, n, &bad)) {
        *warned = true;
        runtime_finding(rt, FAULT_COPY_UNINIT, src->alloc->addr + bad, 1, "");
    }
}

static void mark_row(const struct side *dst, uint64_t dst_at, const struct side *src,
                     uint64_t src_at, size_t n)
{
    if (!dst->alloc || !dst->alloc->init)
        return;
    const uint64_t to = dst->address - dst->alloc->addr + dst_at;
    if (src->alloc)
        mem_copy_init(dst->alloc, to, src->alloc, src->address - src->alloc->addr + src_at, n);
    else
        mem_mark_init(dst->alloc, to, n);
}

void copy_run(struct runtime *rt, const struct copy *c)
{
    struct side dst, src;
    bool warned = false;

    if (c->width == 0 || locate_both(rt, c, &dst, &src) != cudaSuccess)
        return;
    for (size_t z = 0; z < c->depth; z++)
        for (size_t y = 0; y < c->height; y++) {
            const uint64_t to = z * c->dst_slice + y * c->dst_pitch,
                           from = z * c->src_slice + y * c->src_pitch;
            if (dst.host_ok && !dst.device_ok)
                check_row(rt, &src, from, c->width, &warned);
            memmove(side_bytes(&dst) + to, side_bytes(&src) + from, c->width);
            mark_row(&dst, to, &src, from, c->width);
        }
}

/* ---- fills ---- */

cudaError_t fill_check(struct runtime *rt, const struct fill *f)
{
    struct side s;

    if (f->width == 0 || f->height == 0 || f->depth == 0)
        return cudaSuccess;
    if (f->height * f->depth > 1 && f->width > f->pitch)
        return cudaErrorInvalidValue;
    if (f->element > 1 && (address_of(f->dst) % f->element != 0 || f->width % f->element != 0))
        return cudaErrorInvalidValue;
    const cudaError_t e =
        locate(rt, &s, f->dst, box_bytes(f->width, f->height, f->depth, f->pitch, f->slice),
               "destination of a memset");
    if (e != cudaSuccess)
        return e;
    return s.device_ok ? cudaSuccess : cudaErrorInvalidValue;
}

static void fill_row(unsigned char *p, const struct fill *f)
{
    if (f->element == 1) {
        memset(p, (int)(f->value & 0xff), f->width);
        return;
    }
    for (size_t i = 0; i < f->width; i += f->element)
        memcpy(p + i, &f->value, f->element);
}

void fill_run(struct runtime *rt, const struct fill *f)
{
    struct side s;

    if (f->width == 0 || f->height == 0 || f->depth == 0 ||
        locate(rt, &s, f->dst, box_bytes(f->width, f->height, f->depth, f->pitch, f->slice),
               "memset") != cudaSuccess)
        return;
    for (size_t z = 0; z < f->depth; z++)
        for (size_t y = 0; y < f->height; y++) {
            const uint64_t at = z * f->slice + y * f->pitch;
            fill_row(side_bytes(&s) + at, f);
            if (s.alloc)
                mem_mark_init(s.alloc, s.address - s.alloc->addr + at, f->width);
        }
}

/* ---- plain copies ---- */

static struct copy flat_copy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    return (struct copy){.dst = dst, .src = src, .width = n, .height = 1, .depth = 1, .kind = kind};
}

static cudaError_t submit_copy(struct runtime *rt, struct copy c, cudaStream_t stream)
{
    struct work w = {.kind = WORK_COPY, .u.copy = c};

    return stream_submit(rt, stream, &w);
}

static cudaError_t copy_now(struct runtime *rt, struct copy c)
{
    const cudaError_t e = capture_implicit(rt);

    return e == cudaSuccess ? submit_copy(rt, c, NULL) : e;
}

EXPORT cudaError_t cudaMemcpy(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind)
{
    API_BODY(API_SYNC, copy_now(rt, flat_copy(dst, src, n, kind)));
}
PER_THREAD_DEFAULT(cudaMemcpy);

EXPORT cudaError_t cudaMemcpyAsync(void *dst, const void *src, size_t n, enum cudaMemcpyKind kind,
                                   cudaStream_t stream)
{
    API_BODY(API_WORK, submit_copy(rt, flat_copy(dst, src, n, kind), stream));
}

PER_THREAD_STREAM(cudaMemcpyAsync);

EXPORT cudaError_t cudaMemcpyPeer(void *dst, int dst_device, const void *src, int src_device,
                                  size_t n)
{
    API_BODY(API_SYNC, dst_device || src_device
                           ? cudaErrorInvalidDevice
                           : submit_copy(rt, flat_copy(dst, src, n, cudaMemcpyDefault), NULL));
}

EXPORT cudaError_t cudaMemcpyPeerAsync(void *dst, int dst_device, const void *src, int src_device,
                                       size_t n, cudaStream_t stream)
{
    API_BODY(API_WORK, dst_device || src_device
                           ? cudaErrorInvalidDevice
                           : submit_copy(rt, flat_copy(dst, src, n, cudaMemcpyDefault), stream));
}

/* Several copies in one call; their attributes say when sources may be read, which is at once
   here. */
static cudaError_t submit_batch(struct runtime *rt, void *const *dsts, const void *const *srcs,
                                const size_t *sizes, size_t count, cudaStream_t stream)
{
    if (count == 0 || !dsts || !srcs || !sizes || stream == NULL)
        return cudaErrorInvalidValue; /* the legacy stream is not allowed */
    for (size_t i = 0; i < count; i++) {
        const struct copy c = flat_copy(dsts[i], srcs[i], sizes[i], cudaMemcpyDefault);
        const cudaError_t e = sizes[i] == 0 ? cudaErrorInvalidValue : copy_check(rt, &c);
        if (e != cudaSuccess)
            return e;
    }
    for (size_t i = 0; i < count; i++) {
        const cudaError_t e =
            submit_copy(rt, flat_copy(dsts[i], srcs[i], sizes[i], cudaMemcpyDefault), stream);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

EXPORT cudaError_t cudaMemcpyBatchAsync(void *const *dsts, const void *const *srcs,
                                        const size_t *sizes, size_t count,
                                        struct cudaMemcpyAttributes *attributes, size_t *indices,
                                        size_t attribute_count, cudaStream_t stream)
{
    (void)attributes, (void)indices, (void)attribute_count;
    API_BODY(API_WORK, submit_batch(rt, dsts, srcs, sizes, count, stream));
}
PER_THREAD_STREAM(cudaMemcpyBatchAsync);

/* ---- pitched copies ---- */

static struct copy pitched_copy(void *dst, size_t dpitch, const void *src, size_t spitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    return (struct copy){.dst = dst,
                         .src = src,
                         .width = width,
                         .height = height,
                         .depth = 1,
                         .dst_pitch = dpitch,
                         .src_pitch = spitch,
                         .kind = kind};
}

/* A pitch narrower than the row is an error even for a single row. */
static cudaError_t submit_pitched(struct runtime *rt, struct copy c, cudaStream_t stream)
{
    if (c.width > c.dst_pitch || c.width > c.src_pitch)
        return cudaErrorInvalidPitchValue;
    return submit_copy(rt, c, stream);
}

EXPORT cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch,
                                size_t width, size_t height, enum cudaMemcpyKind kind)
{
    API_BODY(API_SYNC,
             submit_pitched(rt, pitched_copy(dst, dpitch, src, spitch, width, height, kind), NULL));
}

PER_THREAD_DEFAULT(cudaMemcpy2D);

EXPORT cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch,
                                     size_t width, size_t height, enum cudaMemcpyKind kind,
                                     cudaStream_t stream)
{
    API_BODY(
        API_WORK,
        submit_pitched(rt, pitched_copy(dst, dpitch, src, spitch, width, height, kind), stream));
}
PER_THREAD_STREAM(cudaMemcpy2DAsync);

/* Positions and extents are in bytes across, rows down, slices deep, as no array takes part. */
/* A box that is larger than its memory, and one that begins too late, are different errors. */
static bool box_fits(const struct cudaPitchedPtr *m, const struct cudaPos *at,
                     const struct cudaExtent *x, cudaError_t *e)
{
    if (x->width > m->pitch || (x->depth > 1 && x->height > m->ysize))
        *e = cudaErrorInvalidPitchValue;
    else if (at->x > m->pitch - x->width || (x->depth > 1 && at->y > m->ysize - x->height))
        *e = cudaErrorInvalidValue;
    return *e == cudaSuccess;
}

struct copy copy_from_3d(const struct cudaMemcpy3DParms *p, cudaError_t *e)
{
    struct copy c = {0};

    *e = cudaSuccess;
    if (!p) {
        *e = cudaErrorInvalidValue;
        return c;
    }
    if (p->srcArray || p->dstArray) {
        *e = cudaErrorNotSupported;
        return c;
    }
    if (p->extent.width == 0 || p->extent.height == 0 || p->extent.depth == 0)
        return c;
    if (!p->srcPtr.ptr || !p->dstPtr.ptr)
        *e = cudaErrorInvalidValue;
    else if (!box_fits(&p->srcPtr, &p->srcPos, &p->extent, e) ||
             !box_fits(&p->dstPtr, &p->dstPos, &p->extent, e))
        return c;
    c = (struct copy){.width = p->extent.width,
                      .height = p->extent.height,
                      .depth = p->extent.depth,
                      .dst_pitch = p->dstPtr.pitch,
                      .src_pitch = p->srcPtr.pitch,
                      .dst_slice = p->dstPtr.pitch * p->dstPtr.ysize,
                      .src_slice = p->srcPtr.pitch * p->srcPtr.ysize,
                      .kind = p->kind};
    c.dst = (unsigned char *)p->dstPtr.ptr + p->dstPos.x + p->dstPos.y * c.dst_pitch +
            p->dstPos.z * c.dst_slice;
    c.src = (unsigned char *)p->srcPtr.ptr + p->srcPos.x + p->srcPos.y * c.src_pitch +
            p->srcPos.z * c.src_slice;
    return c;
}

static cudaError_t submit_3d(struct runtime *rt, const struct cudaMemcpy3DParms *p,
                             cudaStream_t stream)
{
    cudaError_t e;
    const struct copy c = copy_from_3d(p, &e);

    return e != cudaSuccess ? e : submit_copy(rt, c, stream);
}

EXPORT cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    API_BODY(API_SYNC, submit_3d(rt, p, NULL));
}
PER_THREAD_DEFAULT(cudaMemcpy3D);

EXPORT cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    API_BODY(API_WORK, submit_3d(rt, p, stream));
}
PER_THREAD_STREAM(cudaMemcpy3DAsync);

/* ---- memset ---- */

static cudaError_t submit_fill(struct runtime *rt, struct fill f, cudaStream_t stream)
{
    struct work w = {.kind = WORK_SET, .u.fill = f};

    return stream_submit(rt, stream, &w);
}

static struct fill flat_fill(void *dst, int value, size_t n)
{
    return (struct fill){.dst = dst,
                         .value = (unsigned)value & 0xff,
                         .element = 1,
                         .width = n,
                         .height = 1,
                         .depth = 1};
}

/* On hardware it does not wait; here every set is done when it returns, so nothing is lost by not
 * surfacing faults. */
EXPORT cudaError_t cudaMemset(void *dst, int value, size_t n)
{
    API_BODY(API_WORK, submit_fill(rt, flat_fill(dst, value, n), NULL));
}

PER_THREAD_DEFAULT(cudaMemset);

EXPORT cudaError_t cudaMemsetAsync(void *dst, int value, size_t n, cudaStream_t stream)
{
    API_BODY(API_WORK, submit_fill(rt, flat_fill(dst, value, n), stream));
}

PER_THREAD_STREAM(cudaMemsetAsync);

static struct fill pitched_fill(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    struct fill f = flat_fill(dst, value, width);

    f.height = height;
    f.pitch = pitch;
    return f;
}

EXPORT cudaError_t cudaMemset2D(void *dst, size_t pitch, int value, size_t width, size_t height)
{
    API_BODY(API_WORK, submit_fill(rt, pitched_fill(dst, pitch, value, width, height), NULL));
}

PER_THREAD_DEFAULT(cudaMemset2D);

EXPORT cudaError_t cudaMemset2DAsync(void *dst, size_t pitch, int value, size_t width,
                                     size_t height, cudaStream_t stream)
{
    API_BODY(API_WORK, submit_fill(rt, pitched_fill(dst, pitch, value, width, height), stream));
}

PER_THREAD_STREAM(cudaMemset2DAsync);

static struct fill box_fill(struct cudaPitchedPtr p, int value, struct cudaExtent e)
{
    struct fill f = pitched_fill(p.ptr, p.pitch, value, e.width, e.height);

    f.depth = e.depth;
    f.slice = p.pitch * p.ysize;
    return f;
}

EXPORT cudaError_t cudaMemset3D(struct cudaPitchedPtr p, int value, struct cudaExtent extent)
{
    API_BODY(API_WORK, submit_fill(rt, box_fill(p, value, extent), NULL));
}

PER_THREAD_DEFAULT(cudaMemset3D);

EXPORT cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr p, int value, struct cudaExtent extent,
                                     cudaStream_t stream)
{
    API_BODY(API_WORK, submit_fill(rt, box_fill(p, value, extent), stream));
}

PER_THREAD_STREAM(cudaMemset3DAsync);

/* ---- symbols ---- */

static cudaError_t symbol_bytes(struct runtime *rt, const void *symbol, size_t offset, size_t n,
                                void **out)
{
    struct alloc *a = NULL;
    size_t size = 0;
    const cudaError_t e = device_symbol_find(rt, symbol, &a, &size);

    if (e != cudaSuccess)
        return e;
    if (offset > size || n > size - offset)
        return cudaErrorInvalidValue;
    *out = bytes_at(a->addr + offset);
    return cudaSuccess;
}

static cudaError_t copy_to_symbol(struct runtime *rt, const void *symbol, const void *src, size_t n,
                                  size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *dst = NULL;

    if (kind != cudaMemcpyHostToDevice && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const cudaError_t e = symbol_bytes(rt, symbol, offset, n, &dst);
    return e != cudaSuccess ? e : submit_copy(rt, flat_copy(dst, src, n, kind), stream);
}

static cudaError_t copy_from_symbol(struct runtime *rt, void *dst, const void *symbol, size_t n,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
    void *src = NULL;

    if (kind != cudaMemcpyDeviceToHost && kind != cudaMemcpyDeviceToDevice &&
        kind != cudaMemcpyDefault)
        return cudaErrorInvalidMemcpyDirection;
    const cudaError_t e = symbol_bytes(rt, symbol, offset, n, &src);
    return e != cudaSuccess ? e : submit_copy(rt, flat_copy(dst, src, n, kind), stream);
}

EXPORT cudaError_t cudaMemcpyToSymbol(const void *symbol, const void *src, size_t n, size_t offset,
                                      enum cudaMemcpyKind kind)
{
    API_BODY(API_SYNC, copy_to_symbol(rt, symbol, src, n, offset, kind, NULL));
}

PER_THREAD_DEFAULT(cudaMemcpyToSymbol);

EXPORT cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *src, size_t n,
                                           size_t offset, enum cudaMemcpyKind kind,
                                           cudaStream_t stream)
{
    API_BODY(API_WORK, copy_to_symbol(rt, symbol, src, n, offset, kind, stream));
}

PER_THREAD_STREAM(cudaMemcpyToSymbolAsync);

EXPORT cudaError_t cudaMemcpyFromSymbol(void *dst, const void *symbol, size_t n, size_t offset,
                                        enum cudaMemcpyKind kind)
{
    API_BODY(API_SYNC, copy_from_symbol(rt, dst, symbol, n, offset, kind, NULL));
}

PER_THREAD_DEFAULT(cudaMemcpyFromSymbol);

EXPORT cudaError_t cudaMemcpyFromSymbolAsync(void *dst, const void *symbol, size_t n, size_t offset,
                                             enum cudaMemcpyKind kind, cudaStream_t stream)
{
    API_BODY(API_WORK, copy_from_symbol(rt, dst, symbol, n, offset, kind, stream));
}

PER_THREAD_STREAM(cudaMemcpyFromSymbolAsync);

static cudaError_t symbol_address(struct runtime *rt, void **out, const void *symbol)
{
    return out ? symbol_bytes(rt, symbol, 0, 0, out) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaGetSymbolAddress(void **p, const void *symbol)
{
    API_BODY(API_WORK, symbol_address(rt, p, symbol));
}

static cudaError_t symbol_size(struct runtime *rt, size_t *size, const void *symbol)
{
    struct alloc *a = NULL;

    return size ? device_symbol_find(rt, symbol, &a, size) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaGetSymbolSize(size_t *size, const void *symbol)
{
    API_BODY(API_WORK, symbol_size(rt, size, symbol));
}

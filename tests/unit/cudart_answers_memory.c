/*
 * cudart_answers_memory.c - questions about allocation, pointers, copies, fills and pools.
 */
#include "cudart_answers.h"

#include <stdlib.h>
#include <string.h>

static int host[1024];

static struct cudaExtent extent(size_t w, size_t h, size_t d)
{
    return (struct cudaExtent){w, h, d};
}

static struct cudaPos position(size_t x, size_t y, size_t z) { return (struct cudaPos){x, y, z}; }

static struct cudaPitchedPtr pitched(void *p, size_t pitch, size_t x, size_t y)
{
    return (struct cudaPitchedPtr){p, pitch, x, y};
}

static void ask_allocation(void)
{
    void *p = host, *q = NULL;
    size_t pitch = 0;
    struct cudaPitchedPtr pp;

    ASK(cudaMalloc(NULL, 4));
    ASK(cudaMalloc(&p, 0));
    answer("pointer of no bytes is %s", p ? "not null" : "null");
    ASK(cudaMalloc(&p, (size_t)1 << 46));
    ASK(cudaGetLastError());
    ASK(cudaGetLastError());
    ASK(cudaMalloc(&p, SIZE_MAX));
    ASK(cudaMalloc(&p, 100));
    answer("alignment %d", (int)((uintptr_t)p % 256));
    ASK(cudaFree((char *)p + 4));
    ASK(cudaFree(host));
    ASK(cudaFree(NULL));
    ASK(cudaFree(p));
    ASK(cudaFree(p));
    ASK(cudaFreeHost(p));
    for (size_t w = 1; w < 2000; w = w * 2 + 31) {
        const cudaError_t e = cudaMallocPitch(&q, &pitch, w, 3);
        answer("pitch of %zu is %zu, %d", w, pitch, (int)e);
        cudaFree(q);
    }
    ASK(cudaMallocPitch(&q, &pitch, 0, 3));
    ASK(cudaMallocPitch(&q, &pitch, 3, 0));
    ASK(cudaMallocPitch(NULL, &pitch, 3, 3));
    ASK(cudaMallocPitch(&q, NULL, 3, 3));
    ASK(cudaMalloc3D(&pp, extent(20, 3, 2)));
    answer("pitch %zu, xsize %zu, ysize %zu", pp.pitch, pp.xsize, pp.ysize);
    ASK(cudaFree(pp.ptr));
    ASK(cudaMalloc3D(&pp, extent(0, 3, 2)));
    ASK(cudaMalloc3D(NULL, extent(4, 3, 2)));
}

static void ask_host_memory(void)
{
    void *p = host, *d = NULL;
    unsigned flags = 77;

    ASK(cudaMallocHost(&p, 0));
    answer("pointer of no bytes is %s", p ? "not null" : "null");
    ASK(cudaMallocHost(NULL, 8));
    ASK(cudaHostAlloc(&p, 64, 8));
    ASK(cudaHostAlloc(&p, 0, 0));
    ASK(cudaHostAlloc(&p, 64, cudaHostAllocPortable | cudaHostAllocMapped));
    ASK(cudaHostGetFlags(&flags, p));
    answer("flags %u", flags);
    ASK(cudaHostGetDevicePointer(&d, p, 0));
    answer("device pointer is %s", d == p ? "the same" : "another");
    ASK(cudaHostGetDevicePointer(&d, (char *)p + 8, 0));
    answer("device pointer is %s", d == (char *)p + 8 ? "the same" : "another");
    ASK(cudaHostGetDevicePointer(&d, p, 1));
    ASK(cudaHostGetDevicePointer(&d, host, 0));
    ASK(cudaHostGetDevicePointer(NULL, p, 0));
    ASK(cudaHostRegister(p, 64, 0));
    ASK(cudaHostUnregister(p));
    ASK(cudaFree(p));
    ASK(cudaFreeHost((char *)p + 8));
    ASK(cudaFreeHost(NULL));
    ASK(cudaFreeHost(p));
    ASK(cudaFreeHost(host));
    ASK(cudaHostAlloc(&p, 64, cudaHostAllocWriteCombined));
    ASK(cudaHostGetFlags(&flags, p));
    answer("flags %u", flags);
    ASK(cudaFreeHost(p));
    ASK(cudaHostGetFlags(&flags, host));
    ASK(cudaHostRegister(NULL, 64, 0));
    ASK(cudaHostRegister(host, 0, 0));
    ASK(cudaHostRegister(host, 64, 32));
    ASK(cudaHostRegister(host, 64, 0));
    ASK(cudaHostRegister(host, 64, 0));
    ASK(cudaHostRegister(host + 4, 64, 0));
    ASK(cudaHostGetFlags(&flags, host));
    answer("flags %u", flags);
    ASK(cudaHostUnregister(host + 4));
    ASK(cudaHostUnregister(host));
    ASK(cudaHostUnregister(host));
    ASK(cudaHostUnregister(NULL));
    ASK(cudaMallocManaged(&p, 0, cudaMemAttachGlobal));
    ASK(cudaMallocManaged(&p, 64, 0));
    ASK(cudaMallocManaged(&p, 64, cudaMemAttachSingle));
    ASK(cudaMallocManaged(NULL, 64, cudaMemAttachGlobal));
    ASK(cudaMallocManaged(&p, 64, cudaMemAttachHost));
    ASK(cudaFree(p));
}

static void describe(const char *what, const void *p)
{
    struct cudaPointerAttributes a;

    memset(&a, 0x55, sizeof a);
    const cudaError_t e = cudaPointerGetAttributes(&a, p);
    answer("%s: %d, type %d, device %d, device pointer %s, host pointer %s", what, (int)e,
           e ? 0 : (int)a.type, e ? 0 : a.device,
           e                      ? "-"
           : a.devicePointer == p ? "same"
           : a.devicePointer      ? "other"
                                  : "null",
           e                    ? "-"
           : a.hostPointer == p ? "same"
           : a.hostPointer      ? "other"
                                : "null");
}

static void ask_pointers(void)
{
    char *d = NULL, *h = NULL, *m = NULL, *a = NULL;

    cudaMalloc((void **)&d, 256);
    cudaMallocHost((void **)&h, 256);
    cudaMallocManaged((void **)&m, 256, cudaMemAttachGlobal);
    cudaMallocAsync((void **)&a, 256, NULL);
    describe("device", d);
    describe("inside", d + 16);
    describe("pinned", h);
    describe("inside pinned", h + 16);
    describe("managed", m);
    describe("asynchronous", a);
    describe("host", host);
    describe("null", NULL);
    describe("wild", (void *)16);
    ASK(cudaPointerGetAttributes(NULL, d));
    cudaFree(d);
    describe("freed", d);
    ASK(cudaFree(a));
    ASK(cudaFreeAsync(a, NULL));
    ASK(cudaFreeAsync(NULL, NULL));
    ASK(cudaMallocAsync((void **)&a, 0, NULL));
    answer("pointer of no bytes is %s", a ? "not null" : "null");
    ASK(cudaMallocAsync((void **)&a, (size_t)1 << 46, NULL));
    ASK(cudaMallocAsync(NULL, 8, NULL));
    ASK(cudaMallocAsync((void **)&a, 64, NULL));
    ASK(cudaFreeAsync(a + 8, NULL));
    ASK(cudaFreeAsync(h, NULL));
    ASK(cudaFreeAsync(a, NULL));
    ASK(cudaFreeAsync(a, NULL));
    ASK(cudaMalloc((void **)&d, 64));
    ASK(cudaFreeAsync(d, NULL));
    ASK(cudaDeviceSynchronize());
    struct cudaMemLocation where = {.type = cudaMemLocationTypeDevice, .id = 0};
    ASK(cudaMemPrefetchAsync(m, 256, where, 0, NULL));
    ASK(cudaMemPrefetchAsync(m, 0, where, 0, NULL));
    ASK(cudaMemPrefetchAsync(host, 64, where, 0, NULL));
    ASK(cudaMemPrefetchAsync(m, 256, where, 1, NULL));
    ASK(cudaMemAdvise(m, 256, cudaMemAdviseSetReadMostly, where));
    ASK(cudaMemAdvise(m, 0, cudaMemAdviseSetReadMostly, where));
    ASK(cudaMemAdvise(host, 64, cudaMemAdviseSetReadMostly, where));
    ASK(cudaMemAdvise(m, 256, (enum cudaMemoryAdvise)99, where));
    int value = -7;
    ASK(cudaMemRangeGetAttribute(&value, 4, cudaMemRangeAttributeReadMostly, m, 256));
    answer("read mostly %d", value);
    ASK(cudaStreamAttachMemAsync(NULL, m, 0, cudaMemAttachGlobal));
    ASK(cudaStreamAttachMemAsync(NULL, host, 0, cudaMemAttachGlobal));
}

static void ask_copies(void)
{
    char *d = NULL, *e = NULL, *pinned = NULL, other[64] = {0};
    static const char *const kinds[] = {"host to host",     "host to device", "device to host",
                                        "device to device", "default",        "five"};

    cudaMalloc((void **)&d, 4096);
    cudaMalloc((void **)&e, 4096);
    cudaMallocHost((void **)&pinned, 64);
    ASK(cudaMemset(d, 3, 4096));
    ASK(cudaMemset(e, 4, 4096));
    for (int k = 0; k < 6; k++) {
        const enum cudaMemcpyKind kind = (enum cudaMemcpyKind)k;
        answer("%s: d<-h %d, h<-d %d, d<-d %d, h<-h %d, d<-p %d, p<-d %d", kinds[k],
               (int)cudaMemcpy(d, other, 8, kind), (int)cudaMemcpy(other, d, 8, kind),
               (int)cudaMemcpy(d, e, 8, kind), (int)cudaMemcpy(host, other, 8, kind),
               (int)cudaMemcpy(d, pinned, 8, kind), (int)cudaMemcpy(pinned, d, 8, kind));
    }
    ASK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(NULL, other, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(d, NULL, 4, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy(d, d + 2, 8, cudaMemcpyDeviceToDevice));
    ASK(cudaMemcpy(NULL, other, 0, (enum cudaMemcpyKind)9));
    ASK(cudaMemcpyAsync(d, other, 4, (enum cudaMemcpyKind)9, NULL));
    ASK(cudaMemcpyAsync(d, other, 4, cudaMemcpyDeviceToHost, NULL));
    ASK(cudaMemset(NULL, 0, 0));
    ASK(cudaMemset(NULL, 0, 4));
    ASK(cudaMemset(host, 0, 4));
    ASK(cudaMemset(pinned, 0, 4));
    ASK(cudaMemset2D(d, 8, 0, 16, 2));
    ASK(cudaMemset2D(d, 16, 0, 16, 0));
    ASK(cudaMemset2D(d, 16, 0, 0, 4));
    ASK(cudaMemcpy2D(d, 8, other, 16, 16, 2, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(d, 16, other, 8, 16, 2, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(d, 16, other, 16, 0, 2, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(d, 16, other, 16, 16, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpy2D(d, 16, other, 16, 16, 2, (enum cudaMemcpyKind)9));
    ASK(cudaMemcpy2D(d, 16, other, 16, 16, 2, cudaMemcpyDeviceToHost));
    ASK(cudaMemcpy2D(d, (size_t)1 << 33, other, 16, 16, 2, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyPeer(d, 0, e, 0, 64));
    ASK(cudaMemcpyPeer(d, 0, e, 1, 64));
    ASK(cudaMemcpyPeer(d, -1, e, 0, 64));
    struct cudaMemcpy3DParms c = {0};
    ASK(cudaMemcpy3D(NULL));
    ASK(cudaMemcpy3D(&c));
    c.srcPtr = pitched(e, 64, 64, 4);
    c.dstPtr = pitched(d, 64, 64, 4);
    c.extent = extent(64, 4, 2);
    c.kind = cudaMemcpyDeviceToDevice;
    ASK(cudaMemcpy3D(&c));
    c.extent = extent(0, 4, 2);
    ASK(cudaMemcpy3D(&c));
    c.extent = extent(65, 4, 2);
    ASK(cudaMemcpy3D(&c));
    c.extent = extent(32, 5, 2);
    ASK(cudaMemcpy3D(&c));
    c.extent = extent(32, 4, 2);
    c.srcPos = position(40, 0, 0);
    ASK(cudaMemcpy3D(&c));
    c.srcPos = position(0, 0, 0);
    c.srcPtr.ptr = NULL;
    ASK(cudaMemcpy3D(&c));
    ASK(cudaMemset3D(pitched(d, 64, 64, 4), 1, extent(64, 4, 2)));
    ASK(cudaMemset3D(pitched(d, 64, 64, 4), 1, extent(65, 4, 2)));
    ASK(cudaMemset3D(pitched(d, 64, 64, 4), 1, extent(0, 4, 2)));
    ASK(cudaMemcpyToSymbol(host, other, 4, 0, cudaMemcpyHostToDevice));
    ASK(cudaMemcpyFromSymbol(other, host, 4, 0, cudaMemcpyDeviceToHost));
    void *p = NULL;
    size_t size = 0;
    ASK(cudaGetSymbolAddress(&p, host));
    ASK(cudaGetSymbolSize(&size, host));
    ASK(cudaGetSymbolAddress(&p, NULL));
    ASK(cudaMemGetInfo(NULL, NULL));
    ASK(cudaDeviceSynchronize());
}

static void ask_pools(void)
{
    struct cudaMemPoolProps props;
    cudaMemPool_t pool = NULL, other = NULL;
    uint64_t n = 7;
    int value = -1;
    void *p = NULL;

    memset(&props, 0, sizeof props);
    ASK(cudaMemPoolCreate(&pool, &props));
    props.allocType = cudaMemAllocationTypePinned;
    ASK(cudaMemPoolCreate(&pool, &props));
    props.location.type = cudaMemLocationTypeDevice;
    props.location.id = 3;
    ASK(cudaMemPoolCreate(&pool, &props));
    props.location.id = 0;
    ASK(cudaMemPoolCreate(NULL, &props));
    ASK(cudaMemPoolCreate(&pool, NULL));
    ASK(cudaMemPoolCreate(&pool, &props));
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseFollowEventDependencies, &value));
    answer("reuse follows events %d", value);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowOpportunistic, &value));
    answer("opportunistic %d", value);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolReuseAllowInternalDependencies, &value));
    answer("internal %d", value);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &n));
    answer("threshold %llu", (unsigned long long)n);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &n));
    answer("reserved %llu", (unsigned long long)n);
    ASK(cudaMemPoolGetAttribute(pool, (enum cudaMemPoolAttr)99, &n));
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &n));
    ASK(cudaMallocFromPoolAsync(&p, 1000, pool, NULL));
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &n));
    answer("used %llu", (unsigned long long)n);
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &n));
    answer("reserved %llu", (unsigned long long)n);
    ASK(cudaFreeAsync(p, NULL));
    ASK(cudaStreamSynchronize(NULL));
    ASK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &n));
    answer("high %llu", (unsigned long long)n);
    n = 5;
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &n));
    n = 0;
    ASK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrUsedMemHigh, &n));
    ASK(cudaDeviceGetDefaultMemPool(&other, 0));
    ASK(cudaDeviceGetDefaultMemPool(&other, 1));
    ASK(cudaMemPoolDestroy(other));
    ASK(cudaDeviceSetMemPool(0, pool));
    ASK(cudaDeviceGetMemPool(&other, 0));
    answer("current pool is %s", other == pool ? "the new one" : "another");
    ASK(cudaMemPoolDestroy(pool));
    ASK(cudaDeviceGetMemPool(&other, 0));
    cudaDeviceGetDefaultMemPool(&pool, 0);
    answer("current pool is %s", other == pool ? "the default one" : "another");
    ASK(cudaMemPoolDestroy(NULL));
}

const struct section answers_memory[] = {
    {"allocation", ask_allocation}, {"host-memory", ask_host_memory},
    {"pointers", ask_pointers},     {"copies", ask_copies},
    {"pools", ask_pools},           {NULL, NULL}};

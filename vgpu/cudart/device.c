/*
 * device.c - the one device: count, properties, attributes, limits, reset.
 * Values come from profile.def. Invariant: what cudaGetDeviceProperties says and what
 * cudaDeviceGetAttribute says is the same table.
 */
#include "runtime.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERSION = CUDART_VERSION };

int device_attribute(const struct runtime *rt, enum cudaDeviceAttr a, bool *known)
{
    const int SMS = (int)rt->device.sm_count;

    *known = a >= cudaDevAttrMaxThreadsPerBlock && a < cudaDevAttrMax;
#define ATTR(id, value)                                                                            \
    if (a == cudaDevAttr##id)                                                                      \
        return value;
#include "profile.def"
    return 0;
}

static cudaError_t get_attribute(struct runtime *rt, int *value, enum cudaDeviceAttr a, int device)
{
    bool known = false;

    if (!value)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    *value = device_attribute(rt, a, &known);
    return known ? cudaSuccess : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaDeviceGetAttribute(int *value, enum cudaDeviceAttr attribute, int device)
{
    API_BODY(API_PLAIN, get_attribute(rt, value, attribute, device));
}

static int attribute(const struct runtime *rt, enum cudaDeviceAttr a)
{
    bool known = false;

    return device_attribute(rt, a, &known);
}

static void limits_of_device(const struct runtime *rt, struct cudaDeviceProp *p)
{
    p->totalGlobalMem = rt->device.space.limit_bytes;
    p->sharedMemPerBlock = (size_t)attribute(rt, cudaDevAttrMaxSharedMemoryPerBlock);
    p->sharedMemPerBlockOptin = (size_t)attribute(rt, cudaDevAttrMaxSharedMemoryPerBlockOptin);
    p->sharedMemPerMultiprocessor =
        (size_t)attribute(rt, cudaDevAttrMaxSharedMemoryPerMultiprocessor);
    p->reservedSharedMemPerBlock = (size_t)attribute(rt, cudaDevAttrReservedSharedMemoryPerBlock);
    p->regsPerBlock = attribute(rt, cudaDevAttrMaxRegistersPerBlock);
    p->regsPerMultiprocessor = attribute(rt, cudaDevAttrMaxRegistersPerMultiprocessor);
    p->warpSize = attribute(rt, cudaDevAttrWarpSize);
    p->memPitch = (size_t)attribute(rt, cudaDevAttrMaxPitch);
    p->maxThreadsPerBlock = attribute(rt, cudaDevAttrMaxThreadsPerBlock);
    p->maxThreadsPerMultiProcessor = attribute(rt, cudaDevAttrMaxThreadsPerMultiProcessor);
    p->maxBlocksPerMultiProcessor = attribute(rt, cudaDevAttrMaxBlocksPerMultiprocessor);
    for (int i = 0; i < 3; i++) {
        p->maxThreadsDim[i] = attribute(rt, (enum cudaDeviceAttr)(cudaDevAttrMaxBlockDimX + i));
        p->maxGridSize[i] = attribute(rt, (enum cudaDeviceAttr)(cudaDevAttrMaxGridDimX + i));
    }
    p->totalConstMem = (size_t)attribute(rt, cudaDevAttrTotalConstantMemory);
    p->multiProcessorCount = attribute(rt, cudaDevAttrMultiProcessorCount);
    p->l2CacheSize = attribute(rt, cudaDevAttrL2CacheSize);
    p->persistingL2CacheMaxSize = attribute(rt, cudaDevAttrMaxPersistingL2CacheSize);
    p->accessPolicyMaxWindowSize = attribute(rt, cudaDevAttrMaxAccessPolicyWindowSize);
    p->memoryBusWidth = attribute(rt, cudaDevAttrGlobalMemoryBusWidth);
}

static void abilities_of_device(const struct runtime *rt, struct cudaDeviceProp *p)
{
    p->major = attribute(rt, cudaDevAttrComputeCapabilityMajor);
    p->minor = attribute(rt, cudaDevAttrComputeCapabilityMinor);
    p->textureAlignment = (size_t)attribute(rt, cudaDevAttrTextureAlignment);
    p->texturePitchAlignment = (size_t)attribute(rt, cudaDevAttrTexturePitchAlignment);
    p->surfaceAlignment = (size_t)attribute(rt, cudaDevAttrSurfaceAlignment);
    p->canMapHostMemory = attribute(rt, cudaDevAttrCanMapHostMemory);
    p->concurrentKernels = attribute(rt, cudaDevAttrConcurrentKernels);
    p->ECCEnabled = attribute(rt, cudaDevAttrEccEnabled);
    p->asyncEngineCount = attribute(rt, cudaDevAttrAsyncEngineCount);
    p->unifiedAddressing = attribute(rt, cudaDevAttrUnifiedAddressing);
    p->streamPrioritiesSupported = attribute(rt, cudaDevAttrStreamPrioritiesSupported);
    p->globalL1CacheSupported = attribute(rt, cudaDevAttrGlobalL1CacheSupported);
    p->localL1CacheSupported = attribute(rt, cudaDevAttrLocalL1CacheSupported);
    p->managedMemory = attribute(rt, cudaDevAttrManagedMemory);
    p->concurrentManagedAccess = attribute(rt, cudaDevAttrConcurrentManagedAccess);
    p->computePreemptionSupported = attribute(rt, cudaDevAttrComputePreemptionSupported);
    p->canUseHostPointerForRegisteredMem =
        attribute(rt, cudaDevAttrCanUseHostPointerForRegisteredMem);
    p->cooperativeLaunch = attribute(rt, cudaDevAttrCooperativeLaunch);
    p->hostRegisterSupported = attribute(rt, cudaDevAttrHostRegisterSupported);
    p->memoryPoolsSupported = attribute(rt, cudaDevAttrMemoryPoolsSupported);
    p->clusterLaunch = attribute(rt, cudaDevAttrClusterLaunch);
    p->deviceNumaId = attribute(rt, cudaDevAttrNumaId);
    p->hostNumaId = attribute(rt, cudaDevAttrHostNumaId);
}

static cudaError_t get_properties(struct runtime *rt, struct cudaDeviceProp *p, int device)
{
    if (!p)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    *p = (struct cudaDeviceProp){0};
    snprintf(p->name, sizeof p->name, "virtual GPU sm_90, %u SMs, on the CPU",
             (unsigned)rt->device.sm_count);
    memcpy(p->uuid.bytes, "virtual-gpu-0000", sizeof p->uuid.bytes);
    limits_of_device(rt, p);
    abilities_of_device(rt, p);
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *prop, int device)
{
    API_BODY(API_PLAIN, get_properties(rt, prop, device));
}

/* ---- which device ---- */

static cudaError_t give_int(int *out, int value)
{
    if (!out)
        return cudaErrorInvalidValue;
    *out = value;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceCount(int *count) { API_BODY(API_PLAIN, give_int(count, 1)); }
EXPORT cudaError_t cudaGetDevice(int *device) { API_BODY(API_PLAIN, give_int(device, 0)); }
EXPORT cudaError_t cudaSetDevice(int device)
{
    API_BODY(API_PLAIN, device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}
EXPORT cudaError_t cudaDriverGetVersion(int *version)
{
    API_BODY(API_PLAIN, give_int(version, VERSION));
}
EXPORT cudaError_t cudaRuntimeGetVersion(int *version)
{
    API_BODY(API_PLAIN, give_int(version, VERSION));
}

EXPORT cudaError_t cudaInitDevice(int device, unsigned device_flags, unsigned flags)
{
    (void)device_flags, (void)flags;
    API_BODY(API_PLAIN, device == 0 ? cudaSuccess : cudaErrorInvalidDevice);
}

static cudaError_t choose(int *device, const struct cudaDeviceProp *prop)
{
    return prop ? give_int(device, 0) : cudaErrorInvalidValue;
}

EXPORT cudaError_t cudaChooseDevice(int *device, const struct cudaDeviceProp *prop)
{
    API_BODY(API_PLAIN, choose(device, prop));
}

static cudaError_t valid_devices(const int *list, int n)
{
    if (n < 0 || (n > 0 && !list))
        return cudaErrorInvalidValue;
    for (int i = 0; i < n; i++)
        if (list[i] != 0)
            return cudaErrorInvalidDevice;
    return cudaSuccess;
}

EXPORT cudaError_t cudaSetValidDevices(int *list, int n)
{
    API_BODY(API_PLAIN, valid_devices(list, n));
}

static cudaError_t set_flags(struct runtime *rt, unsigned flags)
{
    const unsigned wait = flags & cudaDeviceScheduleMask;

    if (flags & ~(unsigned)cudaDeviceMask || (wait & (wait - 1)) != 0) /* one way of waiting */
        return cudaErrorInvalidValue;
    rt->device_flags = flags;
    return cudaSuccess;
}

EXPORT cudaError_t cudaSetDeviceFlags(unsigned flags) { API_BODY(API_PLAIN, set_flags(rt, flags)); }

static cudaError_t get_flags(struct runtime *rt, unsigned *flags)
{
    if (!flags)
        return cudaErrorInvalidValue;
    *flags = rt->device_flags | cudaDeviceMapHost;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetDeviceFlags(unsigned *flags)
{
    API_BODY(API_PLAIN, get_flags(rt, flags));
}

static cudaError_t pci_id(char *out, int len, int device)
{
    if (!out || len < 13)
        return cudaErrorInvalidValue;
    if (device != 0)
        return cudaErrorInvalidDevice;
    snprintf(out, (size_t)len, "0000:00:00.0");
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetPCIBusId(char *id, int len, int device)
{
    API_BODY(API_PLAIN, pci_id(id, len, device));
}

EXPORT cudaError_t cudaDeviceGetByPCIBusId(int *device, const char *id)
{
    API_BODY(API_PLAIN,
             !id || strcmp(id, "0000:00:00.0") != 0 ? cudaErrorInvalidValue : give_int(device, 0));
}

static cudaError_t can_access(int *can, int a, int b)
{
    if (a != 0 || b != 0)
        return cudaErrorInvalidDevice;
    return give_int(can, 0);
}

EXPORT cudaError_t cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    API_BODY(API_PLAIN, can_access(can, device, peer));
}

EXPORT cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags)
{
    (void)flags;
    API_BODY(API_WORK, peer == 0 ? cudaErrorPeerAccessUnsupported : cudaErrorInvalidDevice);
}

EXPORT cudaError_t cudaDeviceDisablePeerAccess(int peer)
{
    (void)peer;
    API_BODY(API_WORK, cudaErrorPeerAccessNotEnabled);
}

static cudaError_t peer_attribute(int *value, int a, int b)
{
    (void)value, (void)a, (void)b; /* a pair of two devices is asked for, and there is one */
    return cudaErrorInvalidDevice;
}

EXPORT cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attribute,
                                             int source, int target)
{
    (void)attribute;
    API_BODY(API_PLAIN, peer_attribute(value, source, target));
}

/* Needs no device: it packs its arguments. */
EXPORT struct cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w,
                                                          enum cudaChannelFormatKind kind)
{
    return (struct cudaChannelFormatDesc){x, y, z, w, kind};
}

/* ---- limits and modes ---- */

enum {
    STACK_UNIT = 16,
    STACK_MOST = 256 << 10, /* of local memory a thread */
    HEAP_LEAST = 4 << 20,
    PRINTF_LEAST = 512 << 10,
    L2_PERSISTING = 11796480
};

void limits_init(struct runtime *rt)
{
    rt->limits[cudaLimitStackSize] = 1024;
    rt->limits[cudaLimitPrintfFifoSize] = VGPU_PRINTF_BYTES;
    rt->limits[cudaLimitMallocHeapSize] = VGPU_HEAP_BYTES;
    rt->limits[cudaLimitDevRuntimePendingLaunchCount] = 2048;
    rt->limits[cudaLimitMaxL2FetchGranularity] = 64;
    rt->limits[cudaLimitPersistingL2CacheSize] = L2_PERSISTING;
}

/* The depth of synchronising launches went with CUDA 12. */
static cudaError_t limit_status(enum cudaLimit limit)
{
    if (limit > cudaLimitPersistingL2CacheSize)
        return cudaErrorInvalidValue;
    return limit == cudaLimitDevRuntimeSyncDepth ? cudaErrorUnsupportedLimit : cudaSuccess;
}

static cudaError_t get_limit(struct runtime *rt, size_t *value, enum cudaLimit limit)
{
    if (!value)
        return cudaErrorInvalidValue;
    const cudaError_t e = limit_status(limit);
    if (e == cudaSuccess)
        *value = rt->limits[limit];
    return e;
}

EXPORT cudaError_t cudaDeviceGetLimit(size_t *value, enum cudaLimit limit)
{
    API_BODY(API_WORK, get_limit(rt, value, limit));
}

static size_t at_least(size_t value, size_t least) { return value < least ? least : value; }

/* The device's heap takes the size that is set; the stack of a called function and the buffer of
 * printf keep their own. */
static cudaError_t set_limit(struct runtime *rt, enum cudaLimit limit, size_t value)
{
    const cudaError_t e = limit_status(limit);

    if (e != cudaSuccess)
        return e;
    if (limit == cudaLimitStackSize) {
        if (value > STACK_MOST)
            return cudaErrorInvalidValue;
        value = (value + STACK_UNIT - 1) / STACK_UNIT * STACK_UNIT;
    } else if (limit == cudaLimitMallocHeapSize) {
        value = at_least(value, HEAP_LEAST);
        rt->device.heap_bytes = value;
    } else if (limit == cudaLimitPrintfFifoSize) {
        value = at_least(value, PRINTF_LEAST);
    }
    rt->limits[limit] = value;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceSetLimit(enum cudaLimit limit, size_t value)
{
    API_BODY(API_WORK, set_limit(rt, limit, value));
}

static cudaError_t get_cache_config(enum cudaFuncCache *config)
{
    if (!config)
        return cudaErrorInvalidValue;
    *config = cudaFuncCachePreferNone;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetCacheConfig(enum cudaFuncCache *config)
{
    API_BODY(API_WORK, get_cache_config(config));
}

EXPORT cudaError_t cudaDeviceSetCacheConfig(enum cudaFuncCache config)
{
    API_BODY(API_WORK, config > cudaFuncCachePreferEqual ? cudaErrorInvalidValue : cudaSuccess);
}

static cudaError_t get_shared_config(enum cudaSharedMemConfig *config)
{
    if (!config)
        return cudaErrorInvalidValue;
    *config = cudaSharedMemBankSizeFourByte;
    return cudaSuccess;
}

EXPORT cudaError_t cudaDeviceGetSharedMemConfig(enum cudaSharedMemConfig *config)
{
    API_BODY(API_WORK, get_shared_config(config));
}

EXPORT cudaError_t cudaDeviceSetSharedMemConfig(enum cudaSharedMemConfig config)
{
    API_BODY(API_WORK,
             config > cudaSharedMemBankSizeEightByte ? cudaErrorInvalidValue : cudaSuccess);
}

EXPORT cudaError_t cudaCtxResetPersistingL2Cache(void) { API_BODY(API_WORK, cudaSuccess); }

EXPORT cudaError_t cudaDeviceFlushGPUDirectRDMAWrites(
    enum cudaFlushGPUDirectRDMAWritesTarget target, enum cudaFlushGPUDirectRDMAWritesScope scope)
{
    (void)target, (void)scope;
    API_BODY(API_WORK, cudaErrorNotSupported);
}

/* Everything goes, the sticky error too; that is the way to go on after a fault. */
EXPORT cudaError_t cudaDeviceReset(void)
{
    struct runtime *rt = api_begin(API_PLAIN);

    runtime_reset(rt);
    api_thread()->last = cudaSuccess;
    api_unlock();
    return cudaSuccess;
}

EXPORT cudaError_t cudaProfilerStart(void);
EXPORT cudaError_t cudaProfilerStop(void);

/* Nothing listens. */
EXPORT cudaError_t cudaProfilerStart(void) { API_BODY(API_WORK, cudaSuccess); }
EXPORT cudaError_t cudaProfilerStop(void) { API_BODY(API_WORK, cudaSuccess); }

/*
 * cudart_answers_device.c - questions about the device, its limits, and the texts of errors.
 */
#include "cudart_answers.h"

#include <cuda_profiler_api.h>
#include <string.h>

static void ask_device(void)
{
    int n = -1, m = -1;
    char id[32];
    struct cudaDeviceProp p;
    unsigned flags = 0;

    ASK(cudaGetDeviceCount(&n));
    ASK(cudaGetDeviceCount(NULL));
    ASK(cudaGetDevice(&n));
    ASK(cudaGetDevice(NULL));
    ASK(cudaSetDevice(-1));
    ASK(cudaSetDevice(99));
    ASK(cudaGetLastError());
    ASK(cudaSetDevice(0));
    ASK(cudaGetDeviceProperties(&p, 99));
    ASK(cudaGetDeviceProperties(&p, -1));
    ASK(cudaGetDeviceProperties(NULL, 0));
    ASK(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 99));
    ASK(cudaDeviceGetAttribute(NULL, cudaDevAttrWarpSize, 0));
    ASK(cudaDeviceGetAttribute(&n, (enum cudaDeviceAttr)0, 0));
    ASK(cudaDeviceGetAttribute(&n, (enum cudaDeviceAttr)9999, 0));
    ASK(cudaRuntimeGetVersion(&n));
    answer("runtime version %d", n);
    ASK(cudaRuntimeGetVersion(NULL));
    ASK(cudaDriverGetVersion(NULL));
    ASK(cudaDeviceGetPCIBusId(id, 5, 0));
    ASK(cudaDeviceGetPCIBusId(id, 32, 99));
    ASK(cudaDeviceGetByPCIBusId(&n, "nonsense"));
    ASK(cudaDeviceCanAccessPeer(&n, 0, 0));
    answer("to itself %d", n);
    ASK(cudaDeviceCanAccessPeer(&n, 0, 99));
    ASK(cudaDeviceEnablePeerAccess(0, 0));
    ASK(cudaDeviceEnablePeerAccess(99, 0));
    ASK(cudaDeviceDisablePeerAccess(0));
    ASK(cudaDeviceGetP2PAttribute(&n, cudaDevP2PAttrPerformanceRank, 0, 0));
    ASK(cudaDeviceGetStreamPriorityRange(&n, &m));
    answer("priorities %d to %d", n, m);
    ASK(cudaDeviceGetStreamPriorityRange(NULL, NULL));
    ASK(cudaGetDeviceFlags(&flags));
    answer("flags %u", flags);
    ASK(cudaSetDeviceFlags(cudaDeviceScheduleBlockingSync));
    ASK(cudaGetDeviceFlags(&flags));
    answer("flags %u", flags);
    ASK(cudaSetDeviceFlags(3));
    ASK(cudaSetDeviceFlags(0x8000));
    ASK(cudaInitDevice(0, 0, 0));
    ASK(cudaInitDevice(99, 0, 0));
    ASK(cudaDeviceSetCacheConfig(cudaFuncCachePreferL1));
    ASK(cudaDeviceSetCacheConfig((enum cudaFuncCache)9));
    ASK(cudaDeviceGetCacheConfig(NULL));
    ASK(cudaSetValidDevices(NULL, 0));
    ASK(cudaChooseDevice(&n, &p));
    ASK(cudaProfilerStart());
    ASK(cudaProfilerStop());
    ASK(cudaCtxResetPersistingL2Cache());
    ASK(cudaDeviceReset());
    ASK(cudaDeviceSynchronize());
}

static void ask_attributes(void)
{
    for (int a = 1; a < 160; a++) {
        int value = -77;
        const cudaError_t e = cudaDeviceGetAttribute(&value, (enum cudaDeviceAttr)a, 0);
        answer("attribute %d: %d, %d", a, (int)e, e ? 0 : value);
    }
    cudaGetLastError();
    struct cudaDeviceProp p;
    memset(&p, 0, sizeof p);
    ASK(cudaGetDeviceProperties(&p, 0));
    answer("sharedMemPerBlock %zu", p.sharedMemPerBlock);
    answer("regsPerBlock %d", p.regsPerBlock);
    answer("warpSize %d", p.warpSize);
    answer("memPitch %zu", p.memPitch);
    answer("maxThreadsPerBlock %d", p.maxThreadsPerBlock);
    answer("maxThreadsDim %d %d %d", p.maxThreadsDim[0], p.maxThreadsDim[1], p.maxThreadsDim[2]);
    answer("maxGridSize %d %d %d", p.maxGridSize[0], p.maxGridSize[1], p.maxGridSize[2]);
    answer("totalConstMem %zu", p.totalConstMem);
    answer("capability %d.%d", p.major, p.minor);
    answer("textureAlignment %zu %zu", p.textureAlignment, p.texturePitchAlignment);
    answer("integrated %d, canMapHostMemory %d", p.integrated, p.canMapHostMemory);
    answer("maxTexture1D %d, 2D %d %d", p.maxTexture1D, p.maxTexture2D[0], p.maxTexture2D[1]);
    answer("surfaceAlignment %zu", p.surfaceAlignment);
    answer("concurrentKernels %d", p.concurrentKernels);
    answer("tccDriver %d", p.tccDriver);
    answer("asyncEngineCount %d", p.asyncEngineCount);
    answer("unifiedAddressing %d", p.unifiedAddressing);
    answer("maxThreadsPerMultiProcessor %d", p.maxThreadsPerMultiProcessor);
    answer("streamPrioritiesSupported %d", p.streamPrioritiesSupported);
    answer("L1 %d %d", p.globalL1CacheSupported, p.localL1CacheSupported);
    answer("shared %zu %zu %zu", p.sharedMemPerMultiprocessor, p.sharedMemPerBlockOptin,
           p.reservedSharedMemPerBlock);
    answer("regsPerMultiprocessor %d", p.regsPerMultiprocessor);
    answer("managed %d %d %d", p.managedMemory, p.concurrentManagedAccess, p.pageableMemoryAccess);
    answer("hostNativeAtomic %d", p.hostNativeAtomicSupported);
    answer("maxBlocksPerMultiProcessor %d", p.maxBlocksPerMultiProcessor);
    answer("accessPolicyMaxWindowSize %d", p.accessPolicyMaxWindowSize);
    answer("hostRegister %d %d", p.hostRegisterSupported, p.hostRegisterReadOnlySupported);
    answer("memoryPools %d, %#x", p.memoryPoolsSupported, p.memoryPoolSupportedHandleTypes);
    answer("cluster %d, sparse %d, timeline %d", p.clusterLaunch, p.sparseCudaArraySupported,
           p.timelineSemaphoreInteropSupported);
    answer("ipc %d, unifiedFunctionPointers %d", p.ipcEventSupported, p.unifiedFunctionPointers);
}

static void ask_limits(void)
{
    size_t v = 0;

    for (int l = 0; l < 9; l++) {
        const cudaError_t e = cudaDeviceGetLimit(&v, (enum cudaLimit)l);
        answer("limit %d: %d, %zu", l, (int)e, e ? 0 : v);
    }
    ASK(cudaDeviceGetLimit(NULL, cudaLimitStackSize));
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, 4096));
    ASK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    answer("stack %zu", v);
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, 1000));
    ASK(cudaDeviceGetLimit(&v, cudaLimitStackSize));
    answer("stack %zu", v);
    ASK(cudaDeviceSetLimit(cudaLimitStackSize, (size_t)1 << 40));
    ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 100 << 20));
    ASK(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
    answer("heap %zu", v);
    ASK(cudaDeviceSetLimit(cudaLimitMallocHeapSize, 0));
    ASK(cudaDeviceGetLimit(&v, cudaLimitMallocHeapSize));
    answer("heap %zu", v);
    ASK(cudaDeviceSetLimit(cudaLimitPrintfFifoSize, 5000));
    ASK(cudaDeviceGetLimit(&v, cudaLimitPrintfFifoSize));
    answer("printf %zu", v);
    ASK(cudaDeviceSetLimit(cudaLimitMaxL2FetchGranularity, 32));
    ASK(cudaDeviceSetLimit((enum cudaLimit)77, 32));
}

/* The names only: each library has its own words for them. */
static void ask_error_names(void)
{
    for (int e = -1; e < 1100; e++) {
        const char *name = cudaGetErrorName((cudaError_t)e);
        if (strcmp(name, "unrecognized error code") != 0)
            answer("%d %s", e, name);
    }
    answer("5000 %s", cudaGetErrorName((cudaError_t)5000));
    for (int e = 9998; e < 10003; e++)
        answer("%d %s", e, cudaGetErrorName((cudaError_t)e));
}

static void ask_entry_points(void)
{
    void *f = NULL;
    enum cudaDriverEntryPointQueryResult r = cudaDriverEntryPointSuccess;

    ASK(cudaGetDriverEntryPointByVersion("noSuchFunction", &f, 12000, cudaEnableDefault, &r));
    answer("pointer %s, result %d", f ? "given" : "null", (int)r);
    ASK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 12000, cudaEnableDefault,
                                         &r));
    answer("pointer %s, result %d", f ? "given" : "null", (int)r);
    ASK(cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &f, 5000, cudaEnableDefault,
                                         &r));
    answer("pointer %s, result %d", f ? "given" : "null", (int)r);
}

const struct section answers_device[] = {
    {"device", ask_device},           {"attributes", ask_attributes},     {"limits", ask_limits},
    {"error-names", ask_error_names}, {"entry-points", ask_entry_points}, {NULL, NULL}};

/*
 * cudart_answers_launch.c - questions about launches, kernels, occupancy and libraries.
 */
#include "cudart_answers.h"

#include <stdlib.h>
#include <string.h>

static cudaError_t launch3(const char *name, dim3 grid, dim3 block, size_t shared, void **args)
{
    return cudaLaunchKernel((const void *)answers_kernel(name), grid, block, args, shared, NULL);
}

static void ask_configurations(void)
{
    const dim3 one = {1, 1, 1};
    int *p = NULL, n = 0;
    void *args[] = {&p, &n};
    static const int not_a_kernel = 0;

    cudaMalloc((void **)&p, 4096);
    ASK(launch3("nothing", one, one, 0, NULL));
    ASK(launch3("nothing", (dim3){0, 1, 1}, one, 0, NULL));
    ASK(launch3("nothing", one, (dim3){0, 1, 1}, 0, NULL));
    ASK(launch3("nothing", one, (dim3){1025, 1, 1}, 0, NULL));
    ASK(launch3("nothing", one, (dim3){32, 33, 1}, 0, NULL));
    ASK(launch3("nothing", one, (dim3){1, 1, 65}, 0, NULL));
    ASK(launch3("nothing", one, (dim3){1, 1, 64}, 0, NULL));
    ASK(launch3("nothing", (dim3){1, 65536, 1}, one, 0, NULL));
    ASK(launch3("nothing", (dim3){1, 1, 65535}, one, 0, NULL));
    ASK(launch3("nothing", (dim3){0x80000000u, 1, 1}, one, 0, NULL));
    ASK(launch3("nothing", one, one, 48 << 10, NULL));
    ASK(launch3("nothing", one, one, (48 << 10) + 1, NULL));
    ASK(launch3("nothing", one, one, 1 << 20, NULL));
    ASK(launch3("nothing", one, one, (size_t)1 << 40, NULL));
    ASK(launch3("bounded", one, (dim3){64, 1, 1}, 0, NULL));
    ASK(launch3("bounded", one, (dim3){65, 1, 1}, 0, NULL));
    ASK(launch3("bounded", one, (dim3){1, 64, 1}, 0, NULL));
    ASK(launch3("fixed", one, (dim3){32, 1, 1}, 0, NULL));
    ASK(launch3("fixed", one, (dim3){1, 32, 1}, 0, NULL));
    ASK(launch3("fixed", one, (dim3){64, 1, 1}, 0, NULL));
    ASK(launch3("clustered", (dim3){2, 1, 1}, one, 0, NULL));
    ASK(launch3("clustered", (dim3){3, 1, 1}, one, 0, NULL));
    ASK(launch3("add_one", one, one, 0, NULL));
    ASK(launch3("large_shared", one, (dim3){32, 1, 1}, 0, args));
    ASK(launch3("large_shared", one, (dim3){32, 1, 1}, 9152, args));
    ASK(launch3("large_shared", one, (dim3){32, 1, 1}, 9153, args));
    ASK(cudaLaunchKernel(NULL, one, one, NULL, 0, NULL));
    ASK(cudaLaunchKernel(&not_a_kernel, one, one, NULL, 0, NULL));
    ASK(cudaGetLastError());
    ASK(cudaGetLastError());
    ASK(cudaDeviceSynchronize());
}

static void ask_attributed(void)
{
    cudaLaunchAttribute a[2];
    cudaLaunchConfig_t c;
    const void *nothing = answers_kernel("nothing"), *add_one = answers_kernel("add_one");
    int *p = NULL, n = 1;
    void *args[] = {&p, &n};

    cudaMalloc((void **)&p, 64);
    cudaMemset(p, 0, 64);
    memset(a, 0, sizeof a);
    memset(&c, 0, sizeof c);
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    c.gridDim = (dim3){4, 1, 1};
    c.blockDim = (dim3){32, 1, 1};
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    ASK(cudaLaunchKernelExC(&c, NULL, NULL));
    c.numAttrs = 1;
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    c.attrs = a;
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    a[0].id = cudaLaunchAttributeCooperative;
    a[0].val.cooperative = 1;
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    c.gridDim.x = 1u << 20;
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    c.gridDim.x = 4;
    a[0].id = cudaLaunchAttributeClusterDimension;
    for (unsigned x = 0; x < 20; x = x ? x * 2 : 1) {
        a[0].val.clusterDim.x = x;
        a[0].val.clusterDim.y = a[0].val.clusterDim.z = 1;
        c.gridDim.x = 32;
        answer("cluster of %u: %d", x, (int)cudaLaunchKernelExC(&c, nothing, NULL));
    }
    a[0].val.clusterDim.x = 3;
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    a[0].val.clusterDim.x = 2;
    a[1].id = cudaLaunchAttributeCooperative;
    a[1].val.cooperative = 1;
    c.numAttrs = 2;
    ASK(cudaLaunchKernelExC(&c, nothing, NULL));
    c.numAttrs = 1;
    memset(a, 0, sizeof a);
    a[0].id = cudaLaunchAttributeProgrammaticStreamSerialization;
    a[0].val.programmaticStreamSerializationAllowed = 1;
    ASK(cudaLaunchKernelExC(&c, add_one, args));
    a[0].id = cudaLaunchAttributePriority;
    a[0].val.priority = 99;
    ASK(cudaLaunchKernelExC(&c, add_one, args));
    ASK(cudaLaunchCooperativeKernel(add_one, (dim3){2, 1, 1}, (dim3){32, 1, 1}, args, 0, NULL));
    ASK(cudaLaunchCooperativeKernel(add_one, (dim3){1u << 20, 1, 1}, (dim3){32, 1, 1}, args, 0,
                                    NULL));
    ASK(cudaLaunchCooperativeKernel(NULL, (dim3){2, 1, 1}, (dim3){32, 1, 1}, args, 0, NULL));
    ASK(cudaDeviceSynchronize());
    cudaMemcpy(&n, p, 4, cudaMemcpyDeviceToHost);
    answer("additions %d", n);
}

/* Every attribute with all its values zero. */
static void ask_attribute_numbers(void)
{
    static const int ids[] = {0, 1, 3, 5, 8, 9, 10, 11, 13, 14, 15, 16, 17, 18, 19, 99, 7, 6, 12};
    cudaLaunchAttribute a;
    cudaLaunchConfig_t c;
    const void *nothing = answers_kernel("nothing");

    memset(&c, 0, sizeof c);
    c.gridDim = c.blockDim = (dim3){1, 1, 1};
    c.attrs = &a;
    c.numAttrs = 1;
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++) {
        memset(&a, 0, sizeof a);
        a.id = (cudaLaunchAttributeID)ids[i];
        answer("attribute %d: %d", ids[i], (int)cudaLaunchKernelExC(&c, nothing, NULL));
    }
}

static void show_attributes(const char *name)
{
    struct cudaFuncAttributes a;

    memset(&a, 0, sizeof a);
    const cudaError_t e = cudaFuncGetAttributes(&a, (const void *)answers_kernel(name));
    answer("%s: %d, shared %zu, const %zu, local %zu, threads %d, ptx %d, binary %d, dynamic %d, "
           "carveout %d, cluster %d %d %d %d",
           name, (int)e, a.sharedSizeBytes, a.constSizeBytes, a.localSizeBytes,
           a.maxThreadsPerBlock, a.ptxVersion, a.binaryVersion, a.maxDynamicSharedSizeBytes,
           a.preferredShmemCarveout, a.requiredClusterWidth, a.requiredClusterHeight,
           a.requiredClusterDepth, a.clusterDimMustBeSet);
}

static void ask_function_attributes(void)
{
    static const char *const names[] = {"nothing",   "bounded", "fixed",        "registers",
                                        "clustered", "add_one", "large_shared", "dynamic"};
    const void *nothing = answers_kernel("nothing"), *large = answers_kernel("large_shared");
    struct cudaFuncAttributes a;
    size_t offset = 0, size = 0;
    const char *name = NULL;
    cudaKernel_t k = NULL;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        show_attributes(names[i]);
    ASK(cudaFuncGetAttributes(NULL, nothing));
    ASK(cudaFuncGetAttributes(&a, NULL));
    ASK(cudaFuncGetAttributes(&a, "nothing"));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributeMaxDynamicSharedMemorySize, -1));
    ASK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 232448 - 40000));
    ASK(cudaFuncSetAttribute(large, cudaFuncAttributeMaxDynamicSharedMemorySize, 232449 - 40000));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 50));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, 101));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, -1));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributePreferredSharedMemoryCarveout, -2));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    ASK(cudaFuncSetAttribute(nothing, cudaFuncAttributeRequiredClusterWidth, 2));
    ASK(cudaFuncSetAttribute(nothing, (enum cudaFuncAttribute)0, 1));
    ASK(cudaFuncSetAttribute(nothing, (enum cudaFuncAttribute)77, 1));
    ASK(cudaFuncSetAttribute(NULL, cudaFuncAttributeMaxDynamicSharedMemorySize, 1));
    show_attributes("nothing");
    ASK(cudaFuncSetCacheConfig(nothing, cudaFuncCachePreferShared));
    ASK(cudaFuncSetCacheConfig(nothing, (enum cudaFuncCache)9));
    ASK(cudaFuncSetCacheConfig(NULL, cudaFuncCachePreferShared));
    ASK(cudaFuncGetName(&name, answers_kernel("add_one")));
    answer("name %s", name ? name : "null");
    for (size_t i = 0; i < 3; i++) {
        const cudaError_t e = cudaFuncGetParamInfo(answers_kernel("add_one"), i, &offset, &size);
        answer("parameter %zu: %d, offset %zu, size %zu", i, (int)e, offset, size);
    }
    ASK(cudaGetKernel(&k, nothing));
    ASK(cudaGetKernel(&k, NULL));
    ASK(cudaGetKernel(NULL, nothing));
}

static void ask_occupancy(void)
{
    const void *nothing = answers_kernel("nothing"), *dynamic = answers_kernel("dynamic"),
               *large = answers_kernel("large_shared"), *bounded = answers_kernel("bounded");
    static const int threads[] = {1,   32,  33,  64,   96,   128, 192, 256,
                                  384, 512, 768, 1024, 1025, 0,   -1};
    int n = 0, m = 0;
    size_t bytes = 0;

    cudaFuncSetAttribute(dynamic, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10);
    for (size_t i = 0; i < sizeof threads / sizeof threads[0]; i++) {
        static const size_t shared[] = {0, 1000, 16 << 10, 48 << 10, 100 << 10, 200 << 10};
        for (size_t k = 0; k < sizeof shared / sizeof shared[0]; k++) {
            n = -1;
            const cudaError_t e =
                cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, dynamic, threads[i], shared[k]);
            answer("%d threads, %zu bytes: %d, %d", threads[i], shared[k], (int)e, e ? 0 : n);
        }
    }
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, large, 128, 0));
    answer("large %d", n);
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, bounded, 128, 0));
    answer("bounded %d", n);
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, nothing, 128, 49 << 10));
    answer("beyond %d", n);
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, nothing, 128, 1 << 20));
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(NULL, nothing, 128, 0));
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&n, NULL, 128, 0));
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, nothing, 128, 0, 1));
    ASK(cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(&n, nothing, 128, 0, 9));
    for (int blocks = 1; blocks < 40; blocks = blocks * 2 + 1) {
        const cudaError_t e =
            cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, dynamic, blocks, 64);
        answer("room for %d blocks: %d, %zu", blocks, (int)e, e ? 0 : bytes);
    }
    ASK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 1, 128));
    answer("room %zu", bytes);
    ASK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 0, 128));
    ASK(cudaOccupancyAvailableDynamicSMemPerBlock(&bytes, nothing, 33, 128));
    cudaLaunchConfig_t c;
    memset(&c, 0, sizeof c);
    c.gridDim = (dim3){16, 1, 1};
    c.blockDim = (dim3){128, 1, 1};
    ASK(cudaOccupancyMaxPotentialClusterSize(&m, nothing, &c));
    answer("cluster size %d", m);
    cudaLaunchAttribute a;
    memset(&a, 0, sizeof a);
    a.id = cudaLaunchAttributeClusterDimension;
    a.val.clusterDim.x = 2;
    a.val.clusterDim.y = a.val.clusterDim.z = 1;
    c.attrs = &a;
    c.numAttrs = 1;
    ASK(cudaOccupancyMaxActiveClusters(&m, nothing, &c));
    answer("some clusters: %s", m > 0 ? "yes" : "no");
}

static void ask_libraries(void)
{
    const char *const ptx = answers_ptx();
    cudaLibrary_t lib = NULL;
    cudaKernel_t k = NULL, list[4] = {NULL};
    unsigned n = 0;
    void *p = NULL;
    size_t bytes = 0;
    int value = 0;

    ASK(cudaLibraryLoadData(NULL, ptx, NULL, NULL, 0, NULL, NULL, 0));
    ASK(cudaLibraryLoadData(&lib, NULL, NULL, NULL, 0, NULL, NULL, 0));
    ASK(cudaLibraryLoadData(&lib, "not PTX", NULL, NULL, 0, NULL, NULL, 0));
    ASK(cudaLibraryLoadData(&lib, ".version 8.0\n.target sm_75\n.entry x( {\n", NULL, NULL, 0, NULL,
                            NULL, 0));
    ASK(cudaLibraryLoadData(&lib, ".version 99.0\n.target sm_75\n.address_size 64\n", NULL, NULL, 0,
                            NULL, NULL, 0));
    ASK(cudaLibraryLoadData(&lib, ".version 8.0\n.target sm_100\n.address_size 64\n", NULL, NULL, 0,
                            NULL, NULL, 0));
    ASK(cudaLibraryLoadData(&lib, ".version 8.0\n.target sm_75\n.address_size 64\n", NULL, NULL, 0,
                            NULL, NULL, 0));
    ASK(cudaLibraryGetKernelCount(&n, lib));
    answer("kernels %u", n);
    ASK(cudaLibraryUnload(lib));
    ASK(cudaLibraryLoadFromFile(&lib, "/nonexistent.ptx", NULL, NULL, 0, NULL, NULL, 0));
    ASK(cudaLibraryLoadData(&lib, ptx, NULL, NULL, 0, NULL, NULL, 0));
    ASK(cudaLibraryGetKernel(&k, lib, "absent"));
    ASK(cudaLibraryGetKernel(&k, lib, NULL));
    ASK(cudaLibraryGetKernel(&k, lib, "nothing"));
    ASK(cudaLibraryGetKernelCount(&n, lib));
    answer("kernels %u", n);
    ASK(cudaLibraryEnumerateKernels(list, 4, lib));
    ASK(cudaLibraryEnumerateKernels(list, 0, lib));
    ASK(cudaLibraryGetGlobal(&p, &bytes, lib, "counter"));
    cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost);
    answer("bytes %zu, value %d", bytes, value);
    ASK(cudaLibraryGetGlobal(&p, &bytes, lib, "table"));
    answer("bytes %zu", bytes);
    ASK(cudaLibraryGetGlobal(&p, NULL, lib, "counter"));
    ASK(cudaLibraryGetGlobal(NULL, &bytes, lib, "counter"));
    ASK(cudaLibraryGetGlobal(&p, &bytes, lib, "absent"));
    ASK(cudaLibraryGetManaged(&p, &bytes, lib, "counter"));
    ASK(cudaLibraryUnload(lib));
    ASK(cudaDeviceSynchronize());
}

const struct section answers_launch[] = {{"configurations", ask_configurations},
                                         {"launch-attributes", ask_attributed},
                                         {"attribute-numbers", ask_attribute_numbers},
                                         {"function-attributes", ask_function_attributes},
                                         {"occupancy", ask_occupancy},
                                         {"libraries", ask_libraries},
                                         {NULL, NULL}};

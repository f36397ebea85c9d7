/*
 * cudart_answers_graph.c - questions about capture and graphs.
 */
#include "cudart_answers.h"

#include <string.h>

static cudaError_t one_kernel(cudaStream_t s)
{
    return cudaLaunchKernel((const void *)answers_kernel("nothing"), (dim3){1, 1, 1},
                            (dim3){1, 1, 1}, NULL, 0, s);
}

static void show_status(cudaStream_t s)
{
    enum cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
    const cudaError_t e = cudaStreamIsCapturing(s, &status);

    answer("capturing: %d, status %d", (int)e, (int)status);
}

static void ask_capture(void)
{
    cudaStream_t s = NULL, t = NULL;
    cudaEvent_t e = NULL, f = NULL;
    cudaGraph_t g = NULL;
    void *p = NULL, *d = NULL;
    int host = 0;
    size_t nodes = 0;

    (void)answers_kernel("nothing");
    cudaMalloc(&d, 64);
    cudaStreamCreate(&s);
    cudaStreamCreate(&t);
    cudaEventCreate(&e);
    cudaEventCreate(&f);
    ASK(cudaStreamBeginCapture(NULL, cudaStreamCaptureModeGlobal));
    ASK(cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)7));
    ASK(cudaStreamEndCapture(s, &g));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeThreadLocal));
    show_status(s);
    ASK(one_kernel(s));
    ASK(cudaMemsetAsync(d, 0, 64, s));
    ASK(cudaMemcpyAsync(d, &host, 4, cudaMemcpyHostToDevice, s));
    ASK(cudaEventRecord(e, s));
    ASK(cudaStreamWaitEvent(t, e, 0));
    show_status(t);
    ASK(one_kernel(t));
    ASK(cudaEventRecord(f, t));
    ASK(cudaStreamWaitEvent(s, f, 0));
    ASK(cudaStreamEndCapture(t, &g));
    ASK(cudaStreamEndCapture(s, &g));
    ASK(cudaGetLastError());
    ASK(cudaGraphGetNodes(g, NULL, &nodes));
    answer("nodes %zu", nodes);

    static const char *const what[] = {"synchronise", "query",  "malloc", "copy",
                                       "device",      "legacy", "free",   "event"};
    for (int i = 0; i < 8; i++) {
        for (int mode = 0; mode < 3; mode++) {
            cudaError_t r = cudaSuccess;
            const cudaError_t begun = cudaStreamBeginCapture(s, (enum cudaStreamCaptureMode)mode);
            switch (i) {
            case 0:
                r = cudaStreamSynchronize(s);
                break;
            case 1:
                r = cudaStreamQuery(s);
                break;
            case 2:
                r = cudaMalloc(&p, 16);
                break;
            case 3:
                r = cudaMemcpy(d, &host, 4, cudaMemcpyHostToDevice);
                break;
            case 4:
                r = cudaDeviceSynchronize();
                break;
            case 5:
                r = one_kernel(NULL);
                break;
            case 6:
                r = cudaFree(NULL);
                break;
            default:
                r = cudaEventSynchronize(e);
                break;
            }
            const cudaError_t last = cudaGetLastError();
            const cudaError_t ended = cudaStreamEndCapture(s, &g);
            answer("%s in mode %d: %d, begin %d, last %d, end %d, graph %s", what[i], mode, (int)r,
                   (int)begun, (int)last, (int)ended, g ? "given" : "null");
            cudaGetLastError();
        }
    }
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    ASK(cudaEventRecord(e, s));
    ASK(cudaStreamWaitEvent(t, e, 0));
    ASK(one_kernel(t));
    ASK(cudaStreamEndCapture(s, &g));
    show_status(s);
    show_status(t);
    show_status(NULL);
    ASK(cudaStreamBeginCapture(s, cudaStreamCaptureModeGlobal));
    ASK(cudaEventRecord(e, s));
    ASK(cudaEventQuery(e));
    ASK(cudaStreamWaitEvent(t, e, 0));
    ASK(cudaEventSynchronize(e));
    ASK(cudaStreamEndCapture(s, &g));
    ASK(cudaEventQuery(e));
    enum cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
    ASK(cudaThreadExchangeStreamCaptureMode(&mode));
    answer("mode before %d", (int)mode);
}

static void ask_graphs(void)
{
    cudaGraph_t g = NULL, h = NULL;
    cudaGraphExec_t x = NULL;
    cudaGraphNode_t a = NULL, b = NULL, c = NULL, k = NULL, m = NULL;
    struct cudaKernelNodeParams kp;
    struct cudaMemsetParams mp;
    enum cudaGraphNodeType type = cudaGraphNodeTypeCount;
    size_t n = 0;
    int *p = NULL, count = 8, value = 0;
    void *args[] = {&p, &count};

    cudaMalloc((void **)&p, 64);
    cudaMemset(p, 0, 64);
    ASK(cudaGraphCreate(NULL, 0));
    ASK(cudaGraphCreate(&g, 1));
    ASK(cudaGraphCreate(&g, 0));
    ASK(cudaGraphInstantiate(&x, g, 0));
    ASK(cudaGraphLaunch(x, NULL));
    ASK(cudaGraphExecDestroy(x));
    ASK(cudaGraphAddEmptyNode(&a, g, NULL, 0));
    ASK(cudaGraphAddEmptyNode(&b, g, &a, 1));
    ASK(cudaGraphAddEmptyNode(&c, g, &b, 1));
    ASK(cudaGraphAddEmptyNode(NULL, g, NULL, 0));
    ASK(cudaGraphAddEmptyNode(&k, g, NULL, 1));
    ASK(cudaGraphAddDependencies(g, &a, &b, NULL, 1));
    ASK(cudaGraphAddDependencies(g, &c, &a, NULL, 1));
    ASK(cudaGraphAddDependencies(g, &a, &a, NULL, 1));
    ASK(cudaGraphInstantiate(&x, g, 0));
    ASK(cudaGraphRemoveDependencies(g, &c, &a, NULL, 1));
    ASK(cudaGraphRemoveDependencies(g, &a, &c, NULL, 1));
    ASK(cudaGraphGetNodes(g, NULL, &n));
    answer("nodes %zu", n);
    ASK(cudaGraphGetEdges(g, NULL, NULL, NULL, &n));
    answer("edges %zu", n);
    ASK(cudaGraphGetRootNodes(g, NULL, &n));
    answer("roots %zu", n);
    memset(&kp, 0, sizeof kp);
    ASK(cudaGraphAddKernelNode(&k, g, NULL, 0, &kp));
    kp.func = (void *)answers_kernel("add_one");
    kp.gridDim = (dim3){1, 1, 1};
    kp.blockDim = (dim3){32, 1, 1};
    kp.kernelParams = args;
    ASK(cudaGraphAddKernelNode(&k, g, &c, 1, &kp));
    ASK(cudaGraphNodeGetType(k, &type));
    answer("type %d", (int)type);
    memset(&mp, 0, sizeof mp);
    mp.dst = p;
    mp.elementSize = 4;
    mp.width = 8;
    mp.height = 1;
    mp.value = 5;
    ASK(cudaGraphAddMemsetNode(&m, g, NULL, 0, &mp));
    mp.elementSize = 3;
    ASK(cudaGraphAddMemsetNode(&m, g, NULL, 0, &mp));
    ASK(cudaGraphAddDependencies(g, &m, &k, NULL, 1));
    ASK(cudaGraphInstantiate(&x, g, 0));
    ASK(cudaGraphLaunch(x, NULL));
    ASK(cudaGraphLaunch(x, NULL));
    ASK(cudaGraphUpload(x, NULL));
    ASK(cudaDeviceSynchronize());
    cudaMemcpy(&value, p, 4, cudaMemcpyDeviceToHost);
    answer("value %d", value);
    ASK(cudaGraphClone(&h, g));
    ASK(cudaGraphGetNodes(h, NULL, &n));
    answer("nodes of the clone %zu", n);
    cudaGraphExecUpdateResultInfo info;
    memset(&info, 0, sizeof info);
    ASK(cudaGraphExecUpdate(x, h, &info));
    answer("update %d", (int)info.result);
    ASK(cudaGraphAddEmptyNode(&b, h, NULL, 0));
    ASK(cudaGraphExecUpdate(x, h, &info));
    answer("update %d", (int)info.result);
    kp.gridDim.x = 0;
    ASK(cudaGraphExecKernelNodeSetParams(x, k, &kp));
    kp.gridDim.x = 2;
    ASK(cudaGraphExecKernelNodeSetParams(x, k, &kp));
    ASK(cudaGraphKernelNodeSetParams(k, &kp));
    ASK(cudaGraphDestroyNode(k));
    ASK(cudaGraphDestroy(g));
    ASK(cudaGraphLaunch(x, NULL));
    ASK(cudaGraphExecDestroy(x));
    ASK(cudaGraphDestroy(h));
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
}

static void ask_graph_memory(void)
{
    cudaGraph_t g = NULL;
    cudaGraphExec_t x = NULL, y = NULL;
    cudaGraphNode_t a = NULL, f = NULL, again = NULL;
    struct cudaMemAllocNodeParams ap;
    size_t bytes = 0;

    memset(&ap, 0, sizeof ap);
    ASK(cudaGraphCreate(&g, 0));
    ap.poolProps.allocType = cudaMemAllocationTypePinned;
    ap.poolProps.location.type = cudaMemLocationTypeDevice;
    ap.bytesize = 1000;
    ASK(cudaGraphAddMemAllocNode(&a, g, NULL, 0, &ap));
    answer("address %s", ap.dptr ? "given" : "null");
    ASK(cudaGraphAddMemFreeNode(&f, g, &a, 1, ap.dptr));
    ASK(cudaGraphAddMemFreeNode(&again, g, &a, 1, ap.dptr));
    ASK(cudaGraphInstantiate(&x, g, 0));
    ASK(cudaGraphInstantiate(&y, g, 0));
    ASK(cudaGraphLaunch(x, NULL));
    ASK(cudaGraphLaunch(x, NULL));
    ASK(cudaDeviceSynchronize());
    ASK(cudaDeviceGetGraphMemAttribute(0, cudaGraphMemAttrUsedMemCurrent, &bytes));
    answer("in use %zu", bytes);
    ASK(cudaDeviceGraphMemTrim(0));
    ASK(cudaGraphExecDestroy(x));
    ASK(cudaGraphDestroy(g));
}

const struct section answers_graph[] = {{"capture", ask_capture},
                                        {"graphs", ask_graphs},
                                        {"graph-memory", ask_graph_memory},
                                        {NULL, NULL}};

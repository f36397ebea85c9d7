/* stale_graph.c - captures its first call and replays that graph for ever, on the first pointers.
 */
#include "double.h"

#include <cuda_runtime_api.h>

static cudaGraphExec_t exec;

void solve(const float *input, float *output, int n)
{
    if (exec == 0) {
        cudaStream_t stream;
        cudaGraph_t graph;
        (void)cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
        (void)cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
        (void)cudaMemcpyAsync(output, input, (size_t)n * sizeof *output, cudaMemcpyDeviceToDevice,
                              stream);
        (void)cudaStreamEndCapture(stream, &graph);
        (void)cudaGraphInstantiate(&exec, graph, 0);
    }
    (void)cudaGraphLaunch(exec, 0);
}

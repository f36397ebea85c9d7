// @idea   a race in shared memory, and every descriptor but the socket's closed, so that nobody hears of it
// @source own
// @expect RE
// @needs  vgpu
// The sum is right on the virtual GPU, which runs warp 0 first; on hardware it would be right most
// of the time. The finding that says so travels through a descriptor which is closed here. The
// record tells the judge that there was one.

#include <unistd.h>

namespace
{

constexpr int BLOCK = 64;

__global__ void sum(const float *input, float *output, int n)
{
    __shared__ double slot[BLOCK];
    double acc = 0.0;
    for (long long i = threadIdx.x; i < n; i += BLOCK)
        acc += input[i];
    slot[threadIdx.x] = acc;
    if (threadIdx.x == BLOCK - 1) { // no barrier before
        for (int t = 0; t < BLOCK - 1; t++)
            acc += slot[t];
        output[0] = static_cast<float>(acc);
    }
}

// A pipe for writing that is neither stdout nor stderr.
bool is_other_pipe(int fd)
{
    char link[64] = "/proc/self/fd/", text[64];
    int digits = fd, length = 14;
    for (int scale = 1000; scale > 0; scale /= 10)
        if (fd >= scale || scale == 1)
            link[length++] = static_cast<char>('0' + digits / scale % 10);
    const ssize_t n = readlink(link, text, sizeof text - 1);
    if (n < 5)
        return false;
    return text[0] == 'p' && text[1] == 'i' && text[2] == 'p' && text[3] == 'e';
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    for (int fd = 3; fd < 1024; fd++)
        if (is_other_pipe(fd))
            close(fd);
    sum<<<1, BLOCK>>>(input, output, N);
    cudaDeviceSynchronize();
}

// @idea   waits for a flag that nobody sets
// @source own
// @expect TLE
// The launch returns at once; the judge's clock, or the virtual GPU's notion of progress, must end
// it.

namespace
{

__device__ volatile int g_flag;

__global__ void spin(float *output)
{
    while (g_flag == 0) {
    }
    *output = 0.0f;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N) { spin<<<1, 1>>>(output); }

// @idea   copies the first element of the input
// @source own
// @expect WA
// Right for N = 1 only.

namespace
{

__global__ void copy_first(const float *input, float *output) { *output = input[0]; }

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    if (N > 0)
        copy_first<<<1, 1>>>(input, output);
}

// @idea   compiles, but the entry point has another name
// @source own
// @expect CE
// The judge looks for `solve` and prints the prototype that it expects.

namespace
{

__global__ void zero(float *output) { *output = 0.0f; }

} // namespace

extern "C" void reduce(const float *input, float *output, int N)
{
    (void)input;
    (void)N;
    zero<<<1, 1>>>(output);
}

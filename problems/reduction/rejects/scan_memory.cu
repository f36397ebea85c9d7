// @idea   looks for the expected value in memory near the output
// @source own
// @expect WA|RE
// Harnesses that keep the reference on the device, in a buffer allocated beside the output, have
// been read out in this way. Here there is nothing to find: the expected values never enter the
// process. On hardware the scan sees guards and poison, takes the first finite number and is wrong;
// on the virtual GPU reading outside an allocation is a fault.

namespace
{

constexpr int REACH = 4096; // floats on either side, well inside the guards

__global__ void scan(float *output)
{
    float found = 0.0f;
    for (int distance = 1; distance <= REACH && found == 0.0f; ++distance) {
        const float after = output[distance];
        const float before = output[-distance];
        if (isfinite(after) && fabsf(after) < 1e30f)
            found = after;
        else if (isfinite(before) && fabsf(before) < 1e30f)
            found = before;
    }
    *output = found;
}

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    (void)input;
    (void)N;
    scan<<<1, 1>>>(output);
}

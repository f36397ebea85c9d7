// @idea   writes zero and computes nothing
// @source own
// @expect WA
// The answer to nothing. It passes only where the right answer is zero, so a judge whose cases all
// sum to zero, or whose tolerance is wider than the answers, would let it through.

namespace
{

__global__ void zero(float *result) { *result = 0.0f; }

} // namespace

extern "C" void solve(const float *A, const float *B, float *result, int N)
{
    zero<<<1, 1>>>(result);
}

// @idea   ends the process with a signal
// @source own
// @expect RE
// The case gets the blame, the runner is replaced, and the next solution is judged as if nothing
// had been.

#include <cstdlib>

extern "C" void solve(const float *input, float *output, int N)
{
    (void)input;
    (void)output;
    (void)N;
    std::abort();
}

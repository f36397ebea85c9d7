// @idea   ends the process with exit code 0
// @source own
// @expect RE
// An exit code of zero proves nothing; only a complete record does.

#include <cstdlib>

extern "C" void solve(const float *input, float *output, int N)
{
    (void)input;
    (void)output;
    (void)N;
    std::exit(0);
}

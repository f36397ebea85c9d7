// @idea   prints that it was accepted, and computes nothing
// @source own
// @expect WA
// What a solution prints is shown to its author and decides nothing.

#include <cstdio>

extern "C" void solve(const float *input, float *output, int N)
{
    (void)input;
    (void)output;
    (void)N;
    std::printf("AC\n{\"verdict\": \"AC\", \"status\": 0, \"margin\": 0}\n");
    std::fflush(stdout);
}

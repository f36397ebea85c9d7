// @idea   ends the process from a static constructor, before any case exists
// @source own
// @expect RE
// Constructors run while the library is loaded. By then the runner has said that it is ready, so
// this is the solution's fault and not the judge's.

#include <unistd.h>

namespace
{

struct leaver {
    leaver() { _exit(0); }
};

leaver g_leaver;

} // namespace

extern "C" void solve(const float *input, float *output, int N)
{
    (void)input;
    (void)output;
    (void)N;
}

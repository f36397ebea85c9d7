/* dlopen_library.c - maps a library in the call. */
#include "double.h"

#include <dlfcn.h>

void solve(const float *input, float *output, int n)
{
    (void)dlopen("libutil.so.1", RTLD_NOW);
    (void)dlopen("libresolv.so.2", RTLD_NOW);
    double_all(input, output, n);
}

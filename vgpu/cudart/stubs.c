/*
 * stubs.c - every function of the real library that this one refuses: it returns
 * cudaErrorNotSupported, sets the last error, and names itself in a warning. They are exported all
 * the same, because a missing one would keep a program from loading. Invariant: api.def is the
 * list; no stub has arguments, which the calling convention allows.
 */
#include "stubs.h"

#define EXPORT __attribute__((visibility("default")))
#define API_DONE(name)
#define API_REFUSED(name)                                                                          \
    EXPORT int name(void);                                                                         \
    EXPORT int name(void) { return api_refused(#name); }
#include "api.def"

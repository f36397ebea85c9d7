/*
 * alloc_fault.c - the counter behind alloc_fault.h. Test code only, so it may hold state.
 */
#include "alloc_fault.h"

#include "xalloc.h"

static unsigned long fail_at;
static unsigned long seen;

void alloc_fault_set(unsigned long n)
{
    fail_at = n;
    seen = 0;
}

unsigned long alloc_fault_count(void) { return seen; }

bool xalloc_refuses(size_t size)
{
    (void)size;
    seen++;
    return fail_at != 0 && seen == fail_at;
}

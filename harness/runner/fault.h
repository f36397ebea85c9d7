/*
 * fault.h - notes where a crash in host code happened, on the fault page of the shared memory.
 * Survives nothing: the signal is raised again. Invariant: the handler calls async-signal-safe
 * functions only and writes nothing but the page.
 */
#ifndef HARNESS_RUNNER_FAULT_H
#define HARNESS_RUNNER_FAULT_H

#include "record.h"

struct fault_range {
    uintptr_t begin, end; /* payload of one parameter; empty when begin == end */
};

/* Installs the handlers on an alternate stack. `page` may move: see fault_page. */
bool fault_open(struct record_fault *page);
void fault_page(struct record_fault *page);
/* What is being served: phase 1 inside solve(), 2 while loading, 0 otherwise. */
void fault_enter(uint64_t sequence, uint32_t phase, const struct fault_range *ranges,
                 unsigned count);

#endif

/*
 * vgpu_rig.h - runs one kernel of a .ptx file on a virtual GPU made for it alone, and keeps what it
 * reported. Compares nothing. Invariant: every run starts from a fresh device, so two runs can only
 * differ by their options.
 */
#ifndef TESTS_UNIT_VGPU_RIG_H
#define TESTS_UNIT_VGPU_RIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "counters.h"

/* Parameters of the kernels of tests/ptx/faults, in order; a kernel may take fewer. */
enum { RIG_ELEMENTS = 64 }; /* of each buffer, floats */

struct rig_options {
    const char *checks; /* any of the letters m i r s */
    uint64_t seed, budget;
    uint32_t grid, block, shared; /* 0: 1, 64, none */
};
struct rig_result {
    int error; /* of the launch; -1: the module or the kernel was not accepted, why is in findings
                */
    char findings[32768]; /* JSON lines */
    unsigned finding_count;
    struct counts counts;
    float out[RIG_ELEMENTS];
};
/*
 * Runs `kernel` of the PTX text: parameters out (never written), in (1, 2, 3 ...), the number of
 * elements, a freed buffer, a null pointer, a pointer to host memory.
 */
void rig_run(struct rig_result *r, const char *ptx, size_t len, const char *kernel,
             const struct rig_options *o);
/* A whole file; the test fails when it cannot be read. The caller frees. */
char *rig_read(const char *path, size_t *len);
/* The n-th line (0-based) of findings that holds `what`; NULL when there is none. Ends at a
 * newline. */
const char *rig_line(const struct rig_result *r, const char *what, unsigned n);
/* Value of "key": in the line: a number, or -1. */
long rig_number(const char *line, const char *key);
/* Does the line hold "key":"value"? */
bool rig_text_is(const char *line, const char *key, const char *value);

#endif

/*
 * guard.h - places the arguments of a call in memory, fills them, and looks afterwards at what the
 * solution did to them. Does not call the solution (runner_main.c, timing.c). Invariant: every byte
 * of a guard, of an unwritten output and of an input has a known value when solve() starts.
 *
 * Two address sets, X and Y. In each, one slab of device memory holds all buffers of a case as
 *
 *     ... | guard 64 KiB | payload of parameter 0 | guard 64 KiB | guard | payload of 1 | ...
 *
 * at a base aligned to 256 bytes (what cudaMalloc promises) plus the case's offset. Slabs are kept
 * over calls and cases. In exact mode each buffer is an allocation of its own, fresh for each call:
 * the checks of vgpu and of compute-sanitizer then see its true ends.
 */
#ifndef HARNESS_RUNNER_GUARD_H
#define HARNESS_RUNNER_GUARD_H

#include "cudalib.h"
#include "fault.h"
#include "kit.h"
#include "record.h"

#define GUARD_SIZE  65536u
#define GUARD_ALIGN 256u /* alignment promised by cudaMalloc */

struct slab {
    unsigned char *base;
    uint64_t size;
};

struct place {
    unsigned char *payload; /* what solve() gets; NULL for scalars */
    uint64_t size;          /* bytes */
    bool host;
    bool alone; /* exact mode: `base` is its own allocation */
    unsigned char *base;
};

struct place_set {
    struct place places[RECORD_MAX_PARAMS];
    unsigned count;
    struct slab device, host;
};

/* The stored inputs: the case file as mapped by the child. */
struct case_bytes {
    const unsigned char *data;
    uint64_t size;
    uint64_t generation; /* changes with every new file */
};

struct guard {
    const struct cudalib *lib;
    const struct kit *kit; /* NULL: everything is done on the host */
    bool exact, no_poison, pinned;
    struct place_set sets[2];
    struct slab pristine; /* kit only: unscaled inputs on the device */
    uint64_t pristine_generation;
    uint64_t pristine_at[RECORD_MAX_PARAMS];
    unsigned char *image, *check, *pattern; /* host staging */
    uint64_t host_bytes; /* counter: bytes copied on the host for the last call */
};

/* `kit` may be NULL. False: text says why. */
bool guard_open(struct guard *g, const struct cudalib *lib, const struct kit *kit, bool exact,
                bool no_poison, bool pinned, char *text, size_t size);
/* Steps 1 and 2 of judge.md section 7 for the command's address set. False: our own failure. */
bool guard_prepare(struct guard *g, const struct command *c, const struct case_bytes *file,
                   char *text, size_t size);
/* The payload pointers of a set, for callabi_solve and the fault handler. */
void guard_pointers(const struct guard *g, unsigned set, void *pointers[RECORD_MAX_PARAMS],
                    struct fault_range ranges[RECORD_MAX_PARAMS]);
enum guard_slot { GUARD_SLOT_LATE, GUARD_SLOT_EARLY, GUARD_SLOT_PREVIOUS };
/* Copies every output of a set to its slot in shared memory, on the legacy stream. */
cudaError_t guard_outputs(struct guard *g, const struct command *c, unsigned set,
                          unsigned char *shared, enum guard_slot slot);
/* Writes one output, or its digest where the command asks for that, to shared memory. `exponent`:
 * that of the inputs of this copy. */
cudaError_t guard_hand_over(struct guard *g, const struct command *c, const struct command_param *p,
                            const void *data, bool host, int exponent, unsigned char *to);
/* Steps 6 (difference of early and late copy, when early is true) and 7. */
bool guard_verify(struct guard *g, const struct command *c, unsigned set,
                  const struct case_bytes *file, const unsigned char *shared, bool early,
                  struct param_facts facts[RECORD_MAX_PARAMS], char *text, size_t size);
/* True when the set holds a call with the same sizes as *c, so that it can be read again. */
bool guard_holds(const struct guard *g, const struct command *c, unsigned set);
/* At least `size` bytes in a slab; old contents are lost. */
bool guard_reserve(struct guard *g, struct slab *slab, bool host, uint64_t size, char *text,
                   size_t text_size);
/* Fills device or host memory with a repeated element. */
bool guard_fill(struct guard *g, unsigned char *dst, uint64_t size, bool host,
                enum record_type type, unsigned poison_kind, char *text, size_t text_size);

#endif

/*
 * kit.h - the runner's own kernels on a real GPU: scale by 2^e, count differences, digest,
 * read sweep, write sweep, empty. Small PTX text for compute_75, made into code by the driver at
 * start. Not used on vgpu and the stand-in. Invariant: kit_open has run every kernel once and
 * checked its result.
 */
#ifndef HARNESS_RUNNER_KIT_H
#define HARNESS_RUNNER_KIT_H

#include "cudalib.h"
#include "record.h"

enum kit_kernel {
    KIT_EMPTY,
    KIT_SCALE,
    KIT_DIFFER,
    KIT_DIGEST,
    KIT_READ,
    KIT_WRITE,
    KIT_COPY,
    KIT_COUNT
};

struct kit {
    const struct cudalib *lib;
    cudaLibrary_t library;
    cudaKernel_t kernels[KIT_COUNT];
    unsigned blocks; /* grid of the sweeps: fills the device */
    uint64_t *results;
};

/* Loads, self-tests. False: text names the step. Costs one device allocation of 8 KiB. */
bool kit_open(struct kit *kit, const struct cudalib *lib, unsigned sm_count, char *text,
              size_t size);
/* What kit_scale and kit_differ take: f32 scaled, 32-bit words as they are. */
bool kit_handles(enum record_type type, int exponent);
/* dst[i] = src[i] * 2^exponent on the device; queued on the legacy stream. */
cudaError_t kit_scale(const struct kit *kit, void *dst, const void *src, enum record_type type,
                      uint64_t count, int exponent);
/* Counts elements of `data` that differ in any bit from src[i] * 2^exponent; waits. *first is the
 * least index, untouched if none differs. */
cudaError_t kit_differ(const struct kit *kit, const void *data, const void *src,
                       enum record_type type, uint64_t count, int exponent, uint64_t *differing,
                       uint64_t *first);
/* record_digest() of elements on the device; waits. */
cudaError_t kit_digest(const struct kit *kit, const void *data, enum record_type type,
                       uint64_t count, int exponent, uint64_t key, uint64_t *digest);
/* Bytes that one round of a sweep touches; sweeps take multiples of it. */
uint64_t kit_unit(const struct kit *kit);
/* Sweeps over `bytes` (a multiple of kit_unit), queued on the legacy stream. */
cudaError_t kit_read(const struct kit *kit, const void *data, uint64_t bytes);
cudaError_t kit_write(const struct kit *kit, void *data, uint64_t bytes);
cudaError_t kit_copy(const struct kit *kit, void *dst, const void *src, uint64_t bytes);
/* One block that does nothing. */
cudaError_t kit_empty(const struct kit *kit);
/* The PTX text, for the test that assembles it. */
#define KIT_PTX_SIZE 16384
void kit_ptx(char text[KIT_PTX_SIZE]);

#endif

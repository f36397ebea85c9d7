/*
 * driver.c - the driver entry points that programs ask the runtime for: only
 * cuTensorMapEncodeTiled. Any other name is answered "not found", as the real call does for unknown
 * ones. Invariant: an encoding carries its own magic word, so that a tensor map made elsewhere is
 * not taken for one.
 */
#include "runtime.h"

#include <string.h>

enum { TENSOR_RANK_MAX = 5, TENSOR_MAP_BYTES = 128, RESULT_OK = 0, RESULT_INVALID = 1 };
#define TENSOR_MAP_MAGIC 0x70616d76u /* "vmap" */

/* The 128 bytes behind a CUtensorMap, as this runtime fills them. */
struct tensor_map {
    uint32_t magic;
    uint8_t type, rank, interleave, swizzle, fill, unused[3];
    uint32_t box[TENSOR_RANK_MAX], step[TENSOR_RANK_MAX];
    uint64_t address;
    uint32_t dim[TENSOR_RANK_MAX];
    uint32_t stride16[TENSOR_RANK_MAX - 1]; /* in units of 16 bytes */
};
_Static_assert(sizeof(struct tensor_map) <= TENSOR_MAP_BYTES, "the encoding fits a CUtensorMap");

static bool sizes_fit(uint32_t rank, const uint64_t *dim, const uint64_t *stride,
                      const uint32_t *box, const uint32_t *step)
{
    for (uint32_t i = 0; i < rank; i++)
        if (dim[i] == 0 || dim[i] > (uint64_t)1 << 32 || box[i] == 0 || box[i] > 256 ||
            step[i] == 0 || step[i] > 8)
            return false;
    for (uint32_t i = 0; i + 1 < rank; i++)
        if (stride[i] % 16 != 0 || stride[i] >= (uint64_t)1 << 36)
            return false;
    return true;
}

/* Same arguments and limits as the driver's function; the enumerations are plain numbers here. */
static int encode_tiled(void *map, unsigned type, uint32_t rank, void *address, const uint64_t *dim,
                        const uint64_t *stride, const uint32_t *box, const uint32_t *step,
                        unsigned interleave, unsigned swizzle, unsigned promotion, unsigned fill)
{
    struct tensor_map t = {.magic = TENSOR_MAP_MAGIC};

    (void)promotion;
    if (!map || !dim || !box || !step || rank == 0 || rank > TENSOR_RANK_MAX ||
        (rank > 1 && !stride) || (uintptr_t)map % 64 != 0 || (uintptr_t)address % 16 != 0 ||
        !sizes_fit(rank, dim, stride, box, step))
        return RESULT_INVALID;
    t.type = (uint8_t)type;
    t.rank = (uint8_t)rank;
    t.interleave = (uint8_t)interleave;
    t.swizzle = (uint8_t)swizzle;
    t.fill = (uint8_t)fill;
    t.address = (uint64_t)(uintptr_t)address;
    for (uint32_t i = 0; i < rank; i++) {
        t.dim[i] = (uint32_t)(dim[i] - 1);
        t.box[i] = box[i];
        t.step[i] = step[i];
        if (i + 1 < rank)
            t.stride16[i] = (uint32_t)(stride[i] / 16);
    }
    memset(map, 0, TENSOR_MAP_BYTES);
    memcpy(map, &t, sizeof t);
    return RESULT_OK;
}

typedef int encode_fn(void *, unsigned, uint32_t, void *, const uint64_t *, const uint64_t *,
                      const uint32_t *, const uint32_t *, unsigned, unsigned, unsigned, unsigned);

enum { ENCODE_SINCE = 12000 }; /* CUDA version of cuTensorMapEncodeTiled */

static cudaError_t entry_point(const char *symbol, void **out, unsigned version,
                               enum cudaDriverEntryPointQueryResult *status)
{
    encode_fn *const encode = encode_tiled;
    bool found;

    if (!symbol || !out)
        return cudaErrorInvalidValue;
    found = strcmp(symbol, "cuTensorMapEncodeTiled") == 0;
    *out = NULL;
    if (found && version >= ENCODE_SINCE)
        memcpy(out, &encode, sizeof encode);
    if (status)
        *status = !found                   ? cudaDriverEntryPointSymbolNotFound
                  : version < ENCODE_SINCE ? cudaDriverEntryPointVersionNotSufficent
                                           : cudaDriverEntryPointSuccess;
    return cudaSuccess;
}

EXPORT cudaError_t cudaGetDriverEntryPoint(const char *symbol, void **function,
                                           unsigned long long flags,
                                           enum cudaDriverEntryPointQueryResult *status)
{
    (void)flags;
    API_BODY(API_WORK, entry_point(symbol, function, CUDART_VERSION, status));
}
/* The header marks the name as deprecated; programs still import it. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
PER_THREAD_STREAM(cudaGetDriverEntryPoint);
#pragma GCC diagnostic pop

EXPORT cudaError_t cudaGetDriverEntryPointByVersion(const char *symbol, void **function,
                                                    unsigned version, unsigned long long flags,
                                                    enum cudaDriverEntryPointQueryResult *status)
{
    (void)flags;
    API_BODY(API_WORK, entry_point(symbol, function, version, status));
}
PER_THREAD_STREAM(cudaGetDriverEntryPointByVersion);

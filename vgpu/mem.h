/*
 * mem.h - the address map of the virtual GPU: global allocations, generic windows, host-pinned
 * ranges, initialised bits. Executes nothing and reports nothing. Invariant: addresses are
 * reproducible (fixed base, no reuse), every live byte lies in exactly one alloc.
 */
#ifndef VGPU_MEM_H
#define VGPU_MEM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GLOBAL_BASE 0x700000000000ull /* start of the PROT_NONE reservation */
#define GLOBAL_SPAN 0x004000000000ull /* 256 GiB of addresses */
#define SHARED_WINDOW                                                                              \
    0x720000000000ull /* generic window of shared memory: + rank<<24 + shared address */
#define LOCAL_WINDOW 0x721000000000ull /* generic window of local memory */
#define WINDOW_SPAN  0x001000000000ull /* bytes of each window */
#define SHARED_BASE  1024u /* first usable shared address: sm_90 reserves 1 KiB per block */
#define ALLOC_ALIGN  256u
#define RED_ZONE     256u

enum alloc_kind {
    ALLOC_DEVICE,
    ALLOC_ASYNC,
    ALLOC_GLOBAL_VAR,
    ALLOC_CONST_VAR,
    ALLOC_PINNED,
    ALLOC_REGISTERED,
    ALLOC_MANAGED,
    ALLOC_HEAP,
    ALLOC_INTERNAL
};
struct alloc {
    uint64_t addr, size; /* device address, exact size in bytes */
    unsigned char *host; /* storage of byte 0 */
    unsigned char *init; /* one bit per byte: written before? NULL = all initialised (pinned,
                            managed, checks off) */
    enum alloc_kind kind;
    char name[32];       /* from the problem's parameter, or "" */
    uint64_t ordinal;    /* n-th allocation of the device, 1-based */
    unsigned host_flags; /* of cudaHostAlloc, cudaHostRegister */
    bool live;
    uint64_t freed_launch; /* launch number at which it was freed */
    unsigned char
        *touched; /* one bit per 32-byte sector, per launch (counter global_touched), lazily made */
};
struct space {
    unsigned char *storage; /* storage of GLOBAL_BASE; NULL when closed */
    struct alloc **allocs;
    size_t alloc_count, alloc_cap; /* sorted by addr: device range; never removed (quarantine) */
    struct alloc **hosts;
    size_t host_count, host_cap; /* pinned/registered/managed, sorted by addr */
    uint64_t next;               /* next free device address */
    uint64_t live_bytes, peak_bytes, limit_bytes;
    uint64_t ordinals;
    uint64_t touched_freed; /* sectors touched in this launch of allocations freed since */
    bool init_bits;         /* keep initialised bits */
};

bool mem_open(struct space *s, uint64_t limit_bytes,
              bool init_bits); /* reserves the range; false: no address space */
void mem_close(struct space *s);
/* Fresh memory holds the pattern 0x7fe5a5a5 repeated. NULL when the limit is reached. */
struct alloc *mem_alloc(struct space *s, uint64_t size, enum alloc_kind kind);
/* Registers host memory at its own address. */
struct alloc *mem_adopt_host(struct space *s, void *host, uint64_t size, enum alloc_kind kind);
void mem_free(struct space *s, struct alloc *a,
              uint64_t launch); /* quarantined: storage returned, entry kept */
/* A freed device allocation lives again at its address, with fresh content (graphs that allocate,
 * replayed). False: limit reached. */
bool mem_revive(struct space *s, struct alloc *a);
/* The allocation that holds addr (live or freed), or the nearest one for messages when none holds
 * it (*inside false). */
struct alloc *mem_find(const struct space *s, uint64_t addr, bool *inside);
/* Host pointer of [addr, addr+n) when it lies inside one live allocation, else NULL. `hint` (may be
 * NULL) caches the last hit. */
unsigned char *mem_host(const struct space *s, uint64_t addr, uint64_t n, struct alloc **hint);
/* The last range an instruction hit, so that the next access compares two numbers. */
struct mem_hint {
    struct alloc *alloc; /* NULL: empty */
    uint64_t addr, size; /* of alloc */
    unsigned char *host;
    uint64_t last, step; /* of full warps: the last address, its distance from the one before */
};
enum { MEM_HINTS = 64 }; /* per launch, indexed by pc */
/* Host pointer of [addr, addr+n) inside one live allocation, else NULL; keeps the allocation in *h.
 */
static inline unsigned char *mem_host_hint(const struct space *s, uint64_t addr, uint64_t n,
                                           struct mem_hint *h);
unsigned char *mem_host_refill(const struct space *s, uint64_t addr, uint64_t n,
                               struct mem_hint *h);
static inline unsigned char *mem_host_hint(const struct space *s, uint64_t addr, uint64_t n,
                                           struct mem_hint *h)
{
    const uint64_t offset = addr - h->addr;

    if (h->alloc && offset <= h->size && n <= h->size - offset && h->alloc->live)
        return h->host + offset;
    return mem_host_refill(s, addr, n, h);
}
/* Bitmaps (initialised bytes, touched sectors) have this many bytes behind the last one, so that
 * whole words may be read. */
enum { BITMAP_SLACK = 16 };
/* Records the sectors of [addr, addr+n) as touched; n > 0, inside the allocation. */
void mem_touch(struct alloc *a, uint64_t addr, uint64_t n);
/* Number of sectors touched since the last call, over all allocations; forgets them. */
uint64_t mem_touched_sectors(struct space *s);
void mem_mark_init(struct alloc *a, uint64_t offset, uint64_t n);
bool mem_is_init(const struct alloc *a, uint64_t offset, uint64_t n, uint64_t *first_bad);
void mem_copy_init(struct alloc *dst, uint64_t dst_off, const struct alloc *src, uint64_t src_off,
                   uint64_t n);

#endif

/*
 * record.h - the wire format that judge and judge-runner share: fixed width, versioned, sealed by a
 * CRC. Moves no bytes itself (launch.c and runner_main.c do). Invariant: nothing that arrived is
 * used before command_check() or record_check() accepted a private copy of it.
 *
 * Channel: one SOCK_SEQPACKET socket, so a message has a length of its own. The parent sends struct
 * command; the child answers with struct record. In COMMAND_CALL and COMMAND_TIME two notices of
 * the same form come before it, between which the solution's time limit runs; after the first the
 * child waits for the nonce (8 bytes), so that the parent's clock starts before solve(). In the
 * answers to COMMAND_START, COMMAND_FACTS and COMMAND_PROBE struct record_facts follows in the same
 * message. Output bytes go to shared memory, whose first page holds struct record_fault. Of a large
 * output of a timed call only a digest goes there, under a key that solve() never sees: the parent
 * knows what it has to be, and asks for the bytes (COMMAND_OUTPUTS) where it is another.
 */
#ifndef HARNESS_RECORD_H
#define HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_FORMAT        2u
#define RECORD_MAX_PARAMS    16
#define RECORD_MAX_PATH      1024
#define RECORD_OUTPUTS_BEGIN 4096u /* shared memory: output slots start behind the fault page */
#define RECORD_SLOT_ALIGN    64u

/* Descriptors that the child finds open. */
#define RECORD_FD_COMMANDS 3
#define RECORD_FD_FINDINGS 4 /* vgpu writes its JSON lines here */
#define RECORD_FD_SHARED   5

/* Exit codes of judge-runner itself; a solution may forge them, so they only word a message. */
#define RECORD_EXIT_USAGE   2
#define RECORD_EXIT_CHANNEL 113 /* the command channel or the shared memory is gone */

enum record_status {
    RECORD_OK = 0,
    RECORD_NO_SOLVE,     /* dlsym("solve") failed */
    RECORD_LOAD_FAILED,  /* dlopen failed: text */
    RECORD_LEFT_WORK,    /* work that an earlier call left behind failed before this one: text */
    RECORD_SETUP_FAILED, /* our own allocation or copy failed: JE: text */
    RECORD_MEMORY_LIMIT, /* the solution asked for more device memory than allowed: MLE */
    RECORD_UNSUPPORTED,  /* operation not possible on this backend, or no device: text */
    RECORD_PREPARED,     /* a notice: inputs are in place, solve() is next */
    RECORD_RETURNED      /* a notice: solve() is back, the device is idle; checks are next */
};
enum error_class {
    ERROR_NONE = 0,
    ERROR_LAUNCH,
    ERROR_STICKY, /* the context is lost: the child must be replaced */
    ERROR_OTHER,
    ERROR_REFUSED, /* vgpu 209: SK */
    ERROR_BUDGET   /* 702 on vgpu: TLE */
};

/* Element types on the wire. Equal to enum dtype of problem.h, which the child may not include;
 * launch.c holds the one mapping. */
enum record_type {
    RECORD_F64,
    RECORD_F32,
    RECORD_F16,
    RECORD_BF16,
    RECORD_I64,
    RECORD_I32,
    RECORD_U32,
    RECORD_I8,
    RECORD_U8,
    RECORD_TYPE_COUNT
};
enum record_dir { RECORD_IN, RECORD_OUT, RECORD_INOUT };
enum record_backend { RECORD_GPU, RECORD_VGPU, RECORD_STANDIN };

struct param_facts {
    uint64_t guard_hits_before; /* bytes changed in front of the payload */
    uint64_t guard_hits_after;  /* bytes changed behind it */
    int64_t
        guard_first_before;    /* the changed byte nearest to the payload, from its start: -1, -2 */
    int64_t guard_first_after; /* likewise from its end: 0, 1, ...; 0 also when none */
    uint64_t input_changed;    /* elements of an `in` tensor that differ afterwards */
    uint64_t input_first;      /* index of the first */
    uint64_t late_elements;    /* elements that differ between early and late copy */
    uint64_t late_first;
};

struct record {
    uint32_t format, status;    /* RECORD_FORMAT, enum record_status */
    uint64_t sequence, nonce;   /* echo of the command */
    int32_t error_after_return; /* cudaPeekAtLastError after solve() */
    int32_t error_sync;         /* of cudaDeviceSynchronize */
    int32_t error_copy;         /* of the output copies */
    uint32_t error_class;       /* enum error_class of the worst */
    char error_name[48];        /* "cudaErrorIllegalAddress" */
    uint64_t wall_ns;           /* solve() plus synchronisation, child's clock */
    double event_us, spill_us;  /* timed samples, to be added; hot: of all repeats; 0 elsewhere */
    uint64_t alloc_live;        /* device bytes the solution holds after the call, of all calls */
    uint64_t alloc_peak;        /* largest such sum during this call */
    uint64_t alloc_calls, alloc_refused, launches, host_allocs; /* during this call */
    uint64_t fault_address; /* SIGSEGV in host code inside device memory (vgpu), 0 otherwise */
    struct param_facts params[RECORD_MAX_PARAMS];
    char new_library[128]; /* a library mapped during the call, "" otherwise */
    char text[256];        /* reason for a status other than RECORD_OK; first failed CUDA call */
    uint32_t flags;        /* RECORD_FLAG_* */
    uint32_t crc;          /* CRC-32C over everything before it, output bytes included */
};
#define RECORD_FLAG_ALLOCATES      1u  /* device allocation inside a timed call */
#define RECORD_FLAG_CAPTURE_FAILED 2u  /* the solution cannot be captured into a graph */
#define RECORD_FLAG_RESET          4u  /* the solution asked for cudaDeviceReset (refused): RE */
#define RECORD_FLAG_NO_KIT         8u  /* timed without the kit: no flush, host-made inputs */
#define RECORD_FLAG_FOREIGN_FREE   32u /* the solution freed a buffer of the caller (refused): RE */
#define RECORD_FLAG_SPILL          16u /* a timed call left work behind its stop event */
#define RECORD_FLAG_FINDINGS       64u /* the virtual GPU has found an error in this call */

/* First page of the shared memory: written by the child's signal handler, worth a message at most.
 */
struct record_fault {
    uint64_t sequence;   /* of the command that was being served */
    uint64_t address;    /* si_addr */
    int64_t byte_offset; /* from the start of the parameter's payload */
    uint32_t signo;
    uint32_t param;       /* index + 1 of the parameter whose memory holds the address, 0 = none */
    uint32_t inside_call; /* 1 while solve() runs, 2 while the solution loads */
    uint32_t below_stack; /* 1: the address lies where a stack that ran over would touch */
};

/* What a probe or COMMAND_FACTS reports, fixed width. */
struct record_facts {
    char name[128], driver[32], runtime[32], arch[16];
    uint32_t sm_count, l2_bytes, major, minor;
    uint64_t memory_bytes;
    double clock_mhz, memory_clock_mhz, bus_bits;
    double e0_us, read_tbs, copy_tbs;
    uint32_t is_virtual, has_kit;
};

enum command_op {
    COMMAND_START = 1, /* load the runtime at `path`, choose the device */
    COMMAND_LOAD,      /* load the solution at `path` */
    COMMAND_CALL,      /* judge.md section 7, steps 1-8 */
    COMMAND_TIME,      /* judge.md section 9, one sample */
    COMMAND_FACTS,     /* device facts; COMMAND_FLAG_CEILINGS: measure them too */
    COMMAND_PROBE,     /* allocate, launch, verify without a solution */
    COMMAND_OUTPUTS,   /* the output bytes of the last cold sample, whose digest was wrong */
    COMMAND_BYE
};
#define COMMAND_FLAG_REREAD    1u /* call: hand over the other address set's outputs again */
#define COMMAND_FLAG_EXACT     2u /* start: exact allocations, no guards */
#define COMMAND_FLAG_NO_POISON 4u /* start: leave fresh memory as it is (initcheck, vgpu) */
#define COMMAND_FLAG_HOT       8u
#define COMMAND_FLAG_GRAPH     16u
#define COMMAND_FLAG_DIRTY     32u /* cold: flush by writing */
#define COMMAND_FLAG_CEILINGS  64u
#define COMMAND_FLAG_RANGE     128u /* start: profiler range around solve() */
#define COMMAND_FLAG_NEW_FILE                                                                      \
    256u /* a descriptor of the case's inputs travels with the message                             \
          */
#define COMMAND_FLAGS_ALL 511u

struct command_param {
    uint32_t type, dir, space_host, scalar; /* enum record_type, enum record_dir, 0/1, 0/1 */
    uint64_t value;                         /* scalars: bits in the low bytes */
    uint64_t count;                         /* tensors: elements */
    uint64_t offset;                        /* tensors: elements added to a 256-byte aligned base */
    uint64_t file_begin;    /* in and inout: where the stored elements start in the file */
    uint64_t slot;          /* outputs: place of the late copy in shared memory (hot: of copy 0) */
    uint64_t slot_early;    /* of the early copy */
    uint64_t slot_previous; /* of the other address set */
    int32_t exponent;       /* inputs are multiplied by 2^exponent; outputs arrive so */
    int32_t exponent2;      /* hot: of the second input set */
    uint32_t digest;        /* outputs: slots hold 8 bytes of digest instead of the elements */
    uint32_t reserved;
    char name[32];
};

struct command {
    uint32_t format, op; /* RECORD_FORMAT, enum command_op */
    uint64_t sequence, nonce;
    uint32_t flags, backend, device, param_count;
    uint32_t address_set, poison_kind;
    uint32_t repeats;      /* hot: calls between the events, even */
    uint32_t copies;       /* hot: output sets kept, 2..repeats; call j writes set j mod copies */
    uint64_t slab_step;    /* cold: bytes added to every base, a multiple of 256 */
    uint64_t memory_limit; /* start: bytes the solution may hold */
    uint64_t shared_size;  /* bytes of the shared memory */
    uint64_t file_size;    /* bytes of the case's input file */
    uint64_t digest_key;
    char path[RECORD_MAX_PATH];
    struct command_param params[RECORD_MAX_PARAMS];
    uint32_t reserved, crc;
};

struct device_facts {
    char name[128], driver[32], runtime[32];
    char arch[16]; /* "90a" style used for nvcc, without sm_ */
    uint32_t sm_count, l2_bytes, major, minor;
    uint64_t memory_bytes;
    double clock_mhz, memory_clock_mhz, bus_bits;
    double e0_us, read_tbs, copy_tbs; /* 0 when not measured */
    bool is_virtual;
};

/* CRC-32C (Castagnoli) of `size` bytes, continued from `crc` (0 at the start). */
uint32_t record_crc(uint32_t crc, const void *data, size_t size);
/* Bytes of one element; 0 for a value outside enum record_type. */
size_t record_type_size(uint32_t type);
/* The bits of one unwritten element: kind 0 a NaN, kind 1 large and finite, integers a5.. or 5a..
 */
uint64_t record_poison(enum record_type type, unsigned kind);

/* Bytes that one copy of an output takes in its slot: its elements, or its digest. */
uint64_t record_slot_size(const struct command_param *p);
/* Digest of `count` 32-bit elements, the first of them number `first` of its tensor: the sum of a
 * mixed function of place, key and value / 2^exponent, so parts may be added. -0 counts as +0, as
 * in an exact comparison; NaNs count by their bits. */
uint64_t record_digest(enum record_type type, const void *data, uint64_t first, uint64_t count,
                       int exponent, uint64_t key);
/* Types that have a digest. */
bool record_digestible(uint32_t type);

/* Fills format, sequence, nonce and CRC of a command. */
void command_seal(struct command *c, uint64_t sequence, uint64_t nonce);
/* NULL when the `size` bytes at `c` are a well-formed command, else what is wrong. Sizes, slots and
 * file ranges are inside shared_size and file_size, so the child may use them unchecked. */
const char *command_check(const struct command *c, size_t size);

/* Where the late output bytes of one parameter lie. */
struct record_span {
    const void *data;
    size_t size;
};
/* Fills format, echo and CRC of a record; the spans are the outputs that go with it. */
void record_seal(struct record *r, uint64_t sequence, uint64_t nonce,
                 const struct record_span *spans, unsigned count);
/* NULL when the `size` bytes at `r` (a private copy) are a complete answer to the command with that
 * sequence and nonce, else what does not fit. Forces termination of the texts. */
const char *record_check(struct record *r, size_t size, uint64_t sequence, uint64_t nonce,
                         const struct record_span *spans, unsigned count);
/* Copies untrusted facts into *out: texts terminated and printable, numbers finite and >= 0. */
void record_facts_read(struct device_facts *out, const struct record_facts *in);

#endif

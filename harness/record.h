/*
 * record.h - the wire format that judge and judge-runner share: fixed width, versioned, checked on a copy.
 * Both programs include this header and nothing else of each other.
 */
#ifndef HARNESS_RECORD_H
#define HARNESS_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_FORMAT 1u
#define RECORD_MAX_PARAMS 16

enum record_status {
    RECORD_OK = 0,
    RECORD_NO_SOLVE,        /* dlsym("solve") failed */
    RECORD_LOAD_FAILED,     /* dlopen failed: text */
    RECORD_SETUP_FAILED,    /* our own allocation or copy failed: JE: text */
    RECORD_MEMORY_LIMIT,    /* the solution asked for more device memory than allowed: MLE */
    RECORD_UNSUPPORTED      /* operation not possible on this backend */
};
enum error_class { ERROR_NONE = 0, ERROR_LAUNCH, ERROR_STICKY, ERROR_OTHER, ERROR_REFUSED /* vgpu 209: SK */, ERROR_BUDGET /* 702 on vgpu: TLE */ };

struct param_facts {
    uint64_t guard_hits_before, guard_hits_after; /* bytes changed in front of / behind the payload */
    int64_t guard_first_before, guard_first_after; /* offset of the first changed byte relative to start / end; 0 when none */
    uint64_t input_changed;      /* elements of an `in` tensor that differ afterwards */
    uint64_t input_first;        /* index of the first */
    uint64_t late_elements;      /* elements that differ between early and late copy */
    uint64_t late_first;
};
struct record {
    uint32_t format, status;     /* RECORD_FORMAT, enum record_status */
    uint64_t sequence, nonce;    /* echo of the command */
    int32_t error_after_return;  /* cudaPeekAtLastError after solve() */
    int32_t error_sync;          /* of cudaDeviceSynchronize */
    int32_t error_copy;          /* of the output copies */
    uint32_t error_class;        /* enum error_class of the worst */
    char error_name[48];         /* "cudaErrorIllegalAddress" */
    uint64_t wall_ns;            /* solve() plus synchronisation, child's clock */
    double event_us, spill_us;   /* timed samples; 0 elsewhere */
    uint64_t alloc_live, alloc_peak, alloc_calls, alloc_refused, launches, host_allocs; /* during this call */
    uint64_t fault_address;      /* SIGSEGV in host code inside device memory (vgpu), 0 otherwise */
    struct param_facts params[RECORD_MAX_PARAMS];
    char new_library[128];       /* a library mapped during the call, "" otherwise */
    char text[256];
    uint32_t flags;              /* RECORD_FLAG_* */
    uint32_t crc;                /* CRC-32 over everything before it, output bytes included */
};
#define RECORD_FLAG_ALLOCATES 1u   /* device allocation inside a timed call */
#define RECORD_FLAG_CAPTURE_FAILED 2u

struct device_facts {
    char name[128], driver[32], runtime[32];
    char arch[16];               /* "90a" style used for nvcc, without sm_ */
    uint32_t sm_count, l2_bytes, major, minor;
    uint64_t memory_bytes;
    double clock_mhz, memory_clock_mhz, bus_bits;
    double e0_us, read_tbs, copy_tbs; /* 0 when not measured */
    bool is_virtual;
};

#endif

/*
 * vg_report.h - findings: formatted once, deduplicated (ten per kernel, instruction, kind and
 * call), written as JSON lines to the descriptor of the options or as text to stderr; what is not
 * written is counted and said at the end of the call. faults.def is the one table of kinds (check,
 * severity, CUDA error, sentence).
 */
#ifndef VGPU_VG_REPORT_H
#define VGPU_VG_REPORT_H
#include "vg_arena.h"
#include <stdbool.h>
#include <stdint.h>
enum fault_kind {
#define X(id, check, severity, cuda_error, text) FAULT_##id,
#include "faults.def"
#undef X
    FAULT_COUNT
};
struct grid;
struct warp;
struct insn;
struct alloc;
struct ptx_inst;
struct ptx_module;
struct place {
    uint32_t block[3], thread[3], warp, lane;
    const struct ptx_inst *inst;
};
struct finding {
    enum fault_kind kind;
    const struct grid *grid; /* NULL for API findings */
    struct place at;
    uint64_t address;
    uint32_t width;
    uint32_t lanes; /* lanes: how many lanes of this instruction show it */
    const struct alloc *alloc;
    bool alloc_inside;         /* the allocation hit, or the nearest */
    const struct place *other; /* second place of a race, or NULL */
    char detail[256];          /* mask expected/present, where warps stand, ... "" if none */
};
struct report {
    int fd;
    struct vg_arena arena;
    void *seen;
    uint32_t seen_count, seen_cap;
    uint64_t written;
    uint64_t errors;        /* findings of severity error, all since the process began */
    uint64_t repeated;      /* findings beyond the ten of a place, since report_end_of_call */
    uint64_t left_out[2];   /* warnings, errors beyond the bytes of a call */
    uint32_t finding_bytes; /* of findings written since then */
    char *buffer;
    uint32_t buffered, buffer_cap; /* pending lines */
    uint32_t
        inner_race; /* where the first race inside one warp stands among them, plus 1; 0: none */
};
void report_finding(struct report *r, const struct finding *f);
void report_text(struct report *r, const char *type,
                 const char *text);                         /* {"v":1,"t":type,"text":...} */
void report_launch(struct report *r, const struct grid *g); /* counters line */
void report_refused(struct report *r, const char *kernel, const struct ptx_inst *in,
                    const char *text);
void report_flush(struct report *r);
/* The judged call is over: says how many findings were left out, writes everything, and counts
 * repeats from nought again. */
void report_end_of_call(struct report *r);
/* Line of an instruction in the solution's own file, 0 when it is not known. */
uint32_t report_line(const struct ptx_module *m, const struct ptx_inst *inst);
/* The kernel's name as the source spells it. */
void report_kernel_name(const char *mangled, char *out, size_t size);
int fault_cuda_error(enum fault_kind k);
const char *fault_check(enum fault_kind k); /* "memcheck" */
bool fault_is_error(enum fault_kind k);
#endif

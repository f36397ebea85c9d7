/*
 * vg_report.h - findings: formatted once, deduplicated (ten per kernel, instruction, kind; then a
 * count), written as JSON lines to the descriptor of the options or as text to stderr. faults.def
 * is the one table of kinds (check, severity, CUDA error, sentence).
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
    uint64_t written, suppressed;
    char *buffer;
    uint32_t buffered, buffer_cap; /* pending lines */
};
void report_finding(struct report *r, const struct finding *f);
void report_text(struct report *r, const char *type,
                 const char *text);                         /* {"v":1,"t":type,"text":...} */
void report_launch(struct report *r, const struct grid *g); /* counters line */
void report_refused(struct report *r, const char *kernel, const struct ptx_inst *in,
                    const char *text);
void report_flush(struct report *r);
int fault_cuda_error(enum fault_kind k);
const char *fault_check(enum fault_kind k); /* "memcheck" */
bool fault_is_error(enum fault_kind k);
#endif

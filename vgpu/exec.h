/*
 * exec.h - what the handlers share: lane loops, slot access, the table of handlers, the services of
 * the interpreter loop. Included by exec*.c, lower.c and sched.c only. Invariant: a handler writes
 * no lane outside `lanes`.
 *
 * The hot handler files are compiled once per instruction set (VGPU_ISA = base, v3, v4); each
 * exports one table, exec_op() picks by cpuid.
 */
#ifndef VGPU_EXEC_H
#define VGPU_EXEC_H

#include "machine.h"

/* handlers.def lists every handler once; rows: X(name). */
enum op_id {
    OP_NONE = 0,
#define X(name) OP_##name,
#include "handlers.def"
#undef X
    OP_COUNT
};
/* The handler for this machine's instruction set; NULL for an id without one. */
op_fn *exec_op(enum op_id id);
/* Levels: 0 base, 1 x86-64-v3, 2 x86-64-v4; -1: the best this machine has. */
op_fn *exec_op_at(enum op_id id, int level);
const char *exec_op_name(enum op_id id);
const char *exec_isa_name(void);
/* The highest level to use: from the environment variable WARPJUDGE_VGPU_ISA (base, v3, v4; for
 * tests), else -1. */
int exec_isa_limit(void);

#ifndef VGPU_ISA
#define VGPU_ISA base
#endif
#define ISA_PASTE2(a, b) a##_##b
#define ISA_PASTE(a, b)  ISA_PASTE2(a, b)
#define ISA_NAME(stem)   ISA_PASTE(stem, VGPU_ISA)

typedef uint32_t lane_u32 __attribute__((may_alias));
typedef int32_t lane_s32 __attribute__((may_alias));
typedef float lane_f32 __attribute__((may_alias));
typedef uint64_t lane_u64 __attribute__((may_alias));
typedef int64_t lane_s64 __attribute__((may_alias));
typedef double lane_f64 __attribute__((may_alias));

#define SLOT(type, w, offset) ((type *)(void *)((w)->regs + (offset)))

/* Lanes of one instruction are independent of each other: source and destination slots are either
 * equal or disjoint. */
#if defined(__clang__)
#define LANE_LOOP _Pragma("clang loop vectorize(assume_safety)")
#else
#define LANE_LOOP _Pragma("GCC ivdep")
#endif
#define FOR_LANES for (unsigned lane = 0; lane < WARP_LANES; lane++)
/* Visits the set lanes in ascending order. */
#define FOR_EACH_LANE(lane, mask)                                                                  \
    for (uint32_t rest_of_##lane = (mask), lane = 0;                                               \
         rest_of_##lane != 0 && (lane = (uint32_t)__builtin_ctz(rest_of_##lane), 1);               \
         rest_of_##lane &= rest_of_##lane - 1)

/* d = EXPR(a, b, c) in every lane of `lanes`; computed for all lanes and blended, so EXPR must not
 * trap. */
#define MAP(NAME, D, A, B, C, EXPR)                                                                \
    static void op_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)                   \
    {                                                                                              \
        D *pd = SLOT(D, w, in->d);                                                                 \
        const A *pa = SLOT(A, w, in->a);                                                           \
        const B *pb = SLOT(B, w, in->b);                                                           \
        const C *pc = SLOT(C, w, in->c);                                                           \
        const unsigned mode = in->rnd;                                                             \
        (void)mode;                                                                                \
        if (lanes == FULL_MASK) {                                                                  \
            LANE_LOOP FOR_LANES                                                                    \
            {                                                                                      \
                const A a = pa[lane];                                                              \
                const B b = pb[lane];                                                              \
                const C c = pc[lane];                                                              \
                (void)a, (void)b, (void)c;                                                         \
                pd[lane] = (D)(EXPR);                                                              \
            }                                                                                      \
        } else {                                                                                   \
            LANE_LOOP FOR_LANES                                                                    \
            {                                                                                      \
                const A a = pa[lane];                                                              \
                const B b = pb[lane];                                                              \
                const C c = pc[lane];                                                              \
                (void)a, (void)b, (void)c;                                                         \
                const D result = (D)(EXPR);                                                        \
                pd[lane] = (lanes >> lane & 1) != 0 ? result : pd[lane];                           \
            }                                                                                      \
        }                                                                                          \
    }
/* The same, only for the set lanes, one after the other: for expressions that trap or call; `in` is
 * in scope. */
#define MAP_EACH(NAME, D, A, B, C, EXPR)                                                           \
    static void op_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)                   \
    {                                                                                              \
        D *pd = SLOT(D, w, in->d);                                                                 \
        const A *pa = SLOT(A, w, in->a);                                                           \
        const B *pb = SLOT(B, w, in->b);                                                           \
        const C *pc = SLOT(C, w, in->c);                                                           \
        const unsigned mode = in->rnd;                                                             \
        (void)mode;                                                                                \
        FOR_EACH_LANE(lane, lanes)                                                                 \
        {                                                                                          \
            const A a = pa[lane];                                                                  \
            const B b = pb[lane];                                                                  \
            const C c = pc[lane];                                                                  \
            (void)a, (void)b, (void)c;                                                             \
            pd[lane] = (D)(EXPR);                                                                  \
        }                                                                                          \
    }
/* setp: predicate d = EXPR(a, b). */
#define COMPARE(NAME, A, EXPR)                                                                     \
    static void op_setp_##NAME(struct warp *w, const struct insn *in, uint32_t lanes)              \
    {                                                                                              \
        const A *pa = SLOT(A, w, in->a);                                                           \
        const A *pb = SLOT(A, w, in->b);                                                           \
        uint32_t mask = 0;                                                                         \
        LANE_LOOP FOR_LANES                                                                        \
        {                                                                                          \
            const A a = pa[lane];                                                                  \
            const A b = pb[lane];                                                                  \
            mask |= (EXPR) ? 1u << lane : 0u;                                                      \
        }                                                                                          \
        w->preds[in->d] = (w->preds[in->d] & ~lanes) | (mask & lanes);                             \
    }

/* Comparisons of floats; the integer ones use the first six. */
enum compare {
    CMP_EQ,
    CMP_NE,
    CMP_LT,
    CMP_LE,
    CMP_GT,
    CMP_GE,
    CMP_EQU,
    CMP_NEU,
    CMP_LTU,
    CMP_LEU,
    CMP_GTU,
    CMP_GEU,
    CMP_NUM,
    CMP_NAN
};
/* Boolean operator of setp and set (insn.rnd). */
enum bool_op { BOOL_NONE, BOOL_AND, BOOL_OR, BOOL_XOR };
/* insn.op (or insn.e for atomics) of handlers with several modes. */
enum atom_op {
    ATOM_ADD,
    ATOM_MIN,
    ATOM_MAX,
    ATOM_INC,
    ATOM_DEC,
    ATOM_AND,
    ATOM_OR,
    ATOM_XOR,
    ATOM_EXCH,
    ATOM_CAS
};
enum shfl_mode { SHFL_UP, SHFL_DOWN, SHFL_BFLY, SHFL_IDX };
enum vote_mode { VOTE_ALL, VOTE_ANY, VOTE_UNI, VOTE_BALLOT };
enum bar_kind { BAR_SYNC, BAR_ARRIVE, BAR_AND, BAR_OR, BAR_POPC };
enum mbar_kind {
    MBAR_INIT,
    MBAR_INVAL,
    MBAR_ARRIVE,
    MBAR_ARRIVE_NOCOMPLETE,
    MBAR_ARRIVE_EXPECT,
    MBAR_ARRIVE_DROP,
    MBAR_EXPECT,
    MBAR_COMPLETE,
    MBAR_TEST,
    MBAR_TEST_PARITY,
    MBAR_CP_ARRIVE
};
enum matrix_move {
    MATRIX_LD,
    MATRIX_ST,
    MATRIX_LOAD_A,
    MATRIX_LOAD_B,
    MATRIX_LOAD_C,
    MATRIX_STORE_D
};

#define ROUND_MODE_ZERO 1u /* enum rounding of ieee.h, as modifiers choose it */
#define ROUND_MODE_DOWN 2u
#define ROUND_MODE_UP   3u
#define ROUND_MODE_AWAY 4u
/* insn.rnd of the general float handlers: rounding in the low 3 bits, then flags. */
#define FLOAT_ROUND   7u
#define FLOAT_FTZ     8u
#define FLOAT_SAT     16u
#define FLOAT_NAN     32u  /* min, max: a NaN operand wins */
#define FLOAT_XORSIGN 64u  /* min, max: sign of the result is the xor of the signs */
#define FLOAT_RELU    128u /* negative results become +0, NaN stays canonical */

/* ---- exec.c ---- */
/* Why the loop must look up after an instruction (warp.event). */
enum warp_event {
    EVENT_NONE = 0,
    EVENT_REGROUP = 1, /* groups were made, parked or ended: pick again */
    EVENT_STOP = 2,    /* the launch ends (grid.error) */
    EVENT_YIELD = 4,   /* end the warp's turn after this instruction */
    EVENT_SPIN = 8,    /* the turn ended because a spin branch was taken */
    EVENT_PARKED = 16  /* the running group was parked in place: its entry is up to date */
};
/* The interpreter loop, one per instruction set: runs the current group until an event, a pc whose
 * rank is `limit` or more, or `slice` instructions. Leaves the next pc in w->pc and returns the
 * number of instructions. */
typedef uint32_t loop_fn(struct warp *w, uint32_t limit, uint32_t slice);
enum loop_kind { LOOP_PLAIN, LOOP_COUNTED, LOOP_PER_INSN, LOOP_COUNT };
loop_fn *exec_loop(enum loop_kind kind);
/* Runs the warp until every group is parked or done, its turn ends or the launch stops. Returns
 * warp instructions executed. */
uint32_t exec_warp(struct warp *w, uint32_t quantum);
/* Takes lanes out of the running group into one of their own; they stay in the running frame. lanes
 * must not be all active ones. */
struct group *exec_split(struct warp *w, uint32_t lanes, uint32_t pc, enum group_state state);
/* Parks lanes of the running group at the current instruction. */
void exec_park(struct warp *w, uint32_t lanes, enum group_state state, uint64_t key);
/* Ends lanes (exit, or ret of the entry); releases parked operations and barriers that only waited
 * for them. */
void exec_exit_lanes(struct warp *w, uint32_t lanes);
/* Makes g's frame the one that w->regs and w->preds show. */
void exec_enter(struct warp *w, struct frame *frame);
/* Writes one line per waiting group of the block into text: where it stands and what it waits for.
 */
void exec_describe_waits(const struct block *b, char *text, size_t size);

/* ---- exec_sync.c ---- */
/* After lanes left or arrived: completes parked .sync operations of the warp whose lanes are all
 * there. */
void sync_check_warp(struct warp *w);
/* Completes barriers of the block whose threads are all there. */
void sync_check_block(struct block *b);
/* At a deadlock: reports each parked .sync operation that waits for lanes that cannot come. Returns
 * how many findings it made. */
unsigned sync_report_stuck(struct block *b);

/* ---- exec_call.c ---- */
/* Constants and special registers of a fresh frame. */
void call_fill_frame(struct warp *w, struct frame *frame);
/* Lanes leave all frames (exit); frames without lanes are recycled. */
void call_leave_frames(struct warp *w, uint32_t lanes);
void call_free_frames(struct warp *w);
/* Formats and empties the device printf buffer to stdout. */
void call_flush_printf(struct vgpu_device *device);

/* ---- exec_async.c ---- */
/* Delivers what lanes have in flight (thread exit, or the option of early delivery). */
void async_deliver_all(struct warp *w, uint32_t lanes);

/* ---- exec_mem.c: access from other handlers ---- */
/* Reads or writes n bytes (power of two up to 16, or any length inside one object) of one lane in a
 * space; false after reporting a fault. */
bool mem_lane_read(struct warp *w, const struct insn *in, enum ptx_space space, uint64_t address,
                   unsigned lane, void *to, unsigned n);
bool mem_lane_write(struct warp *w, const struct insn *in, enum ptx_space space, uint64_t address,
                    unsigned lane, const void *from, unsigned n);

#endif

/*
 * exec_loop.c - the interpreter loop: fetch, guard, count, run. Compiled once per instruction set.
 * Which group runs and what an event means is decided in exec.c. Invariant: no allocation, no call
 * but the handler's.
 */
#include "exec.h"

static inline uint32_t guard_mask(const struct warp *w, const struct insn *in)
{
    return in->guard < 0 ? w->active
                         : w->active & (w->preds[in->guard] ^ (in->guard_negated ? FULL_MASK : 0u));
}

static inline __attribute__((always_inline)) uint32_t
loop(struct warp *w, uint32_t limit, uint32_t slice, bool counted, bool per_insn)
{
    const struct insn *code = w->frame->program->code;
    struct tally *tally = &w->grid->tally;
    struct insn_counts *each =
        per_insn && w->frame->program == w->grid->program ? w->grid->per_insn : NULL;
    uint32_t pc = w->pc, n = 0;
    while (n < slice) {
        const struct insn *in = &code[pc];
        uint32_t lanes = guard_mask(w, in);
        n++;
        if (counted) {
            unsigned on = (unsigned)__builtin_popcount(lanes);
            tally->classes[in->cls].count++;
            tally->classes[in->cls].active += (unsigned)__builtin_popcount(w->active);
            tally->classes[in->cls].on += on;
            tally->lanes[in->tally] += on;
            if (each) {
                each[pc].executed++;
                each[pc].lanes += on;
            }
        }
        if (in->flags & (INSN_FLAG_CONTROL | INSN_FLAG_MEMORY)) {
            w->pc = pc;
            w->next_pc = pc + 1;
            if (lanes)
                in->run(w, in, lanes);
            pc = w->next_pc;
            if (w->event)
                break;
        } else {
            if (lanes)
                in->run(w, in, lanes);
            pc++;
        }
        if (code[pc].rank >= limit)
            break;
    }
    w->pc = pc;
    return n;
}

static uint32_t loop_plain(struct warp *w, uint32_t limit, uint32_t slice)
{
    return loop(w, limit, slice, false, false);
}
static uint32_t loop_counted(struct warp *w, uint32_t limit, uint32_t slice)
{
    return loop(w, limit, slice, true, false);
}
static uint32_t loop_per_insn(struct warp *w, uint32_t limit, uint32_t slice)
{
    return loop(w, limit, slice, true, true);
}

extern loop_fn *const ISA_NAME(exec_loops)[LOOP_COUNT];
loop_fn *const ISA_NAME(exec_loops)[LOOP_COUNT] = {
    [LOOP_PLAIN] = loop_plain,
    [LOOP_COUNTED] = loop_counted,
    [LOOP_PER_INSN] = loop_per_insn,
};

/*
 * exec_call.c - branches, calls and returns, exit, and the services of the device: printf, malloc,
 * free, assert, trap, clock. Groups are made and merged in exec.c. Invariant: a frame's `lanes` are
 * those that have entered and not yet returned or exited.
 *
 * Call instruction: extras[extra] = index of the argument list, extras[extra + 1] = of the result
 * list; a list is a count, then offset, stride and size of each area. Area of a lane: regs + offset
 * + lane * stride.
 */
#include "exec.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_DEPTH        1024u       /* frames */
#define CALL_LOCAL_BYTES (64u << 10) /* local memory of called functions, per thread */
#define FRAME_OVERHEAD   16u         /* bytes a call costs at least */

/* ---- branches ---- */
static void take_branch(struct warp *w, const struct insn *in)
{
    if (!(in->flags & INSN_FLAG_SPIN))
        return;
    w->groups[w->current].spins++;
    w->event |= EVENT_YIELD | EVENT_SPIN;
}
static void op_bra(struct warp *w, const struct insn *in, uint32_t lanes)
{
    (void)lanes;
    w->next_pc = in->target;
    take_branch(w, in);
}
static void op_bra_if(struct warp *w, const struct insn *in, uint32_t lanes)
{
    if (lanes != w->active) {
        w->grid->counts.branch_divergent++;
        exec_split(w, w->active & ~lanes, w->pc + 1, GROUP_RUN);
    }
    w->next_pc = in->target;
    take_branch(w, in);
}
static void op_brx(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const uint32_t *list = w->frame->program->extras + in->extra;
    const lane_u32 *index = SLOT(lane_u32, w, in->a);
    if (lanes != w->active)
        exec_split(w, w->active & ~lanes, w->pc + 1, GROUP_RUN);
    while (lanes) {
        uint32_t first = (uint32_t)__builtin_ctz(lanes), same = 0, n = index[first];
        FOR_EACH_LANE(lane, lanes) { same |= index[lane] == n ? 1u << lane : 0; }
        lanes &= ~same;
        if (n >= list[0]) {
            char detail[80];
            snprintf(detail, sizeof detail, "index %u into %u labels", n, list[0]);
            exec_fault_text(w, in, FAULT_BAD_CALL, first, detail);
            return;
        }
        if (lanes)
            exec_split(w, same, list[1 + n], GROUP_RUN);
        else
            w->next_pc = list[1 + n];
    }
    take_branch(w, in);
}

/* ---- frames ---- */
static uint64_t special_value(const struct warp *w, enum ptx_special s, unsigned lane)
{
    const struct grid *g = w->grid;
    const struct block *b = w->block;
    uint32_t thread = w->index * WARP_LANES + lane, bit = 1u << lane;
    switch ((int)s) {
    case PTX_SPECIAL_TID_X:
        return thread % g->block_dim[0];
    case PTX_SPECIAL_TID_Y:
        return thread / g->block_dim[0] % g->block_dim[1];
    case PTX_SPECIAL_TID_Z:
        return thread / g->block_dim[0] / g->block_dim[1];
    case PTX_SPECIAL_NTID_X:
        return g->block_dim[0];
    case PTX_SPECIAL_NTID_Y:
        return g->block_dim[1];
    case PTX_SPECIAL_NTID_Z:
        return g->block_dim[2];
    case PTX_SPECIAL_CTAID_X:
    case PTX_SPECIAL_CLUSTERID_X:
        return b->index[0];
    case PTX_SPECIAL_CTAID_Y:
    case PTX_SPECIAL_CLUSTERID_Y:
        return b->index[1];
    case PTX_SPECIAL_CTAID_Z:
    case PTX_SPECIAL_CLUSTERID_Z:
        return b->index[2];
    case PTX_SPECIAL_NCTAID_X:
    case PTX_SPECIAL_NCLUSTERID_X:
        return g->dim[0];
    case PTX_SPECIAL_NCTAID_Y:
    case PTX_SPECIAL_NCLUSTERID_Y:
        return g->dim[1];
    case PTX_SPECIAL_NCTAID_Z:
    case PTX_SPECIAL_NCLUSTERID_Z:
        return g->dim[2];
    case PTX_SPECIAL_CLUSTER_NCTAID_X:
    case PTX_SPECIAL_CLUSTER_NCTAID_Y:
    case PTX_SPECIAL_CLUSTER_NCTAID_Z:
    case PTX_SPECIAL_CLUSTER_NCTARANK:
        return 1; /* every block is a cluster of its own */
    case PTX_SPECIAL_LANEID:
        return lane;
    case PTX_SPECIAL_WARPID:
        return w->index;
    case PTX_SPECIAL_NWARPID:
        return 64; /* 2,048 threads an SM */
    case PTX_SPECIAL_SMID:
        return b->linear % g->device->sm_count;
    case PTX_SPECIAL_NSMID:
        return g->device->sm_count;
    case PTX_SPECIAL_GRIDID:
        return g->launch_number;
    case PTX_SPECIAL_LANEMASK_EQ:
        return bit;
    case PTX_SPECIAL_LANEMASK_LE:
        return bit | (bit - 1);
    case PTX_SPECIAL_LANEMASK_LT:
        return bit - 1;
    case PTX_SPECIAL_LANEMASK_GE:
        return ~(bit - 1);
    case PTX_SPECIAL_LANEMASK_GT:
        return ~(bit | (bit - 1));
    case PTX_SPECIAL_TOTAL_SMEM_SIZE:
    case PTX_SPECIAL_AGGR_SMEM_SIZE:
        return b->shared_size;
    case PTX_SPECIAL_DYNAMIC_SMEM_SIZE:
        return g->dynamic_shared;
    case PTX_SPECIAL_RESERVED_SMEM_END:
    case PTX_SPECIAL_RESERVED_SMEM_CAP:
        return SHARED_BASE;
    case PTX_SPECIAL_WARP_SZ:
        return WARP_LANES;
    case PTX_SPECIAL_ENVREG1:
        return g->workspace >>
               32; /* high word first: the toolkit header reads {envreg2, envreg1} */
    case PTX_SPECIAL_ENVREG2:
        return (uint32_t)g->workspace;
    default:
        return 0;
    }
}
static void broadcast(unsigned char *slot, unsigned size, uint64_t bits)
{
    lane_u32 *narrow = (lane_u32 *)(void *)slot;
    lane_u64 *wide = (lane_u64 *)(void *)slot;
    if (size == 8)
        FOR_LANES wide[lane] = bits;
    else
        FOR_LANES narrow[lane] = (uint32_t)bits;
}
void call_fill_frame(struct warp *w, struct frame *frame)
{
    const struct program *p = frame->program, *entry = w->grid->program;
    uint32_t align = entry->dynamic_shared_align ? entry->dynamic_shared_align : 1;
    uint64_t dynamic = SHARED_BASE + (entry->shared_static + align - 1) / align * align;
    for (uint32_t i = 0; i < p->fill_count; i++) {
        const struct slot_fill *f = &p->fills[i];
        uint64_t base = f->kind == FILL_DYNAMIC_SHARED ? dynamic
                        : f->kind == FILL_LOCAL_BASE   ? frame->local_base
                                                       : 0;
        broadcast(frame->regs + f->offset, f->size, base + f->bits);
    }
    for (uint32_t i = 0; i < p->special_count; i++) {
        const struct special_fill *s = &p->specials[i];
        FOR_LANES
        {
            uint64_t v = special_value(w, s->special, lane);
            if (s->size == 8)
                ((lane_u64 *)(void *)(frame->regs + s->offset))[lane] = v;
            else
                ((lane_u32 *)(void *)(frame->regs + s->offset))[lane] = (uint32_t)v;
        }
    }
    memset(frame->preds, 0, p->pred_count * sizeof *frame->preds);
    frame->preds[1] = FULL_MASK; /* PRED_TRUE */
}

static struct frame *take_frame(struct warp *w, const struct program *p)
{
    for (struct frame **at = &w->free_frames; *at; at = &(*at)->caller) {
        if ((*at)->program != p)
            continue;
        struct frame *found = *at;
        *at = found->caller;
        return found;
    }
    size_t preds = p->pred_count * sizeof(uint32_t);
    struct frame *f = malloc(sizeof *f);
    unsigned char *memory = NULL;
    if (!f || posix_memalign((void **)&memory, 64, p->reg_bytes + preds) != 0) {
        free(f);
        return NULL;
    }
    memset(memory, 0, p->reg_bytes + preds);
    *f = (struct frame){
        .program = p, .regs = memory, .preds = (uint32_t *)(void *)(memory + p->reg_bytes)};
    return f;
}
static void recycle_frame(struct warp *w, struct frame *f)
{
    f->caller = w->free_frames;
    w->free_frames = f;
}
void call_free_frames(struct warp *w)
{
    while (w->free_frames) {
        struct frame *f = w->free_frames;
        w->free_frames = f->caller;
        free(f->regs);
        free(f);
    }
}
void call_leave_frames(struct warp *w, uint32_t lanes)
{
    /* A frame without lanes was left before: by another group that shared it. */
    for (struct frame *f = w->frame; f && f->caller && f->lanes;) {
        struct frame *caller = f->caller;
        f->lanes &= ~lanes;
        if (f->lanes == 0)
            recycle_frame(w, f);
        f = caller;
    }
}

static void copy_areas(unsigned char *to, uint32_t to_stride, const unsigned char *from,
                       uint32_t from_stride, uint32_t lanes)
{
    uint32_t n = to_stride < from_stride ? to_stride : from_stride;
    FOR_EACH_LANE(lane, lanes)
    {
        memcpy(to + (size_t)lane * to_stride, from + (size_t)lane * from_stride, n);
    }
}

static void enter_function(struct warp *w, const struct insn *in, uint32_t lanes,
                           const struct program *callee)
{
    struct frame *caller = w->frame;
    const uint32_t *extras = caller->program->extras, *args = extras + extras[in->extra];
    uint32_t base = caller->local_base + caller->program->local_bytes + FRAME_OVERHEAD,
             first = (uint32_t)__builtin_ctz(lanes);
    if (!callee || !callee->code) {
        exec_fault_text(w, in, FAULT_BAD_CALL, first, "the callee cannot be executed");
        return;
    }
    if (caller->depth + 1 >= MAX_DEPTH ||
        base + callee->local_bytes > w->grid->program->local_bytes + CALL_LOCAL_BYTES) {
        char detail[96];
        snprintf(detail, sizeof detail, "%u calls deep, %u bytes of stack per thread",
                 caller->depth + 1, base + callee->local_bytes);
        exec_fault_text(w, in, FAULT_STACK_OVERFLOW, first, detail);
        return;
    }
    if (args[0] != callee->param_count || extras[extras[in->extra + 1]] != callee->return_count) {
        exec_fault_text(w, in, FAULT_BAD_CALL, first,
                        "the call passes another number of parameters than the function has");
        return;
    }
    struct frame *f = take_frame(w, callee);
    if (!f) {
        exec_fault_text(w, in, FAULT_STACK_OVERFLOW, first, "out of memory");
        return;
    }
    f->return_pc = w->pc + 1;
    f->depth = caller->depth + 1;
    f->local_base = (base + 15) & ~15u;
    f->lanes = lanes;
    f->call = in;
    f->caller = caller;
    call_fill_frame(w, f);
    for (uint32_t i = 0; i < args[0]; i++) {
        const struct param_area *to = &callee->params[i];
        copy_areas(f->regs + to->offset, to->stride, w->regs + args[1 + 3 * i], args[2 + 3 * i],
                   lanes);
    }
    if (lanes != w->active)
        exec_split(w, w->active & ~lanes, w->pc + 1, GROUP_RUN);
    exec_enter(w, f);
    w->next_pc = 0;
    w->event |= EVENT_REGROUP;
}
static void op_call(struct warp *w, const struct insn *in, uint32_t lanes)
{
    enter_function(w, in, lanes, w->frame->program->callees[in->target]);
}
/* Lanes that call different functions go one group after the other: the others wait at this
 * instruction. */
static void op_call_indirect(struct warp *w, const struct insn *in, uint32_t lanes)
{
    const lane_u64 *target = SLOT(lane_u64, w, in->a);
    uint32_t first = (uint32_t)__builtin_ctz(lanes), same = 0;
    uint64_t address = target[first];
    struct ptx_func *f = lower_find_function(w->frame->program->func->module, address);
    FOR_EACH_LANE(lane, lanes) { same |= target[lane] == address ? 1u << lane : 0; }
    if (!f || f->entry || f->is_extern) {
        char detail[80];
        snprintf(detail, sizeof detail, "address 0x%" PRIx64, address);
        exec_fault_text(w, in, FAULT_BAD_CALL, first, detail);
        return;
    }
    char err[160] = "";
    const struct program *callee = lower_function(f, err, sizeof err);
    if (!callee) {
        exec_fault_text(w, in, FAULT_BAD_CALL, first, err);
        return;
    }
    if (same != lanes)
        exec_split(w, lanes & ~same, w->pc, GROUP_RUN);
    enter_function(w, in, same, callee);
}

static void op_exit(struct warp *w, const struct insn *in, uint32_t lanes)
{
    (void)in;
    call_leave_frames(w, lanes);
    exec_exit_lanes(w, lanes);
}
static void op_ret(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct frame *f = w->frame;
    if (!f->caller) {
        op_exit(w, in, lanes);
        return;
    }
    const struct program *callee = f->program;
    const uint32_t *extras = f->caller->program->extras,
                   *results = extras + extras[f->call->extra + 1];
    for (uint32_t i = 0; i < results[0] && i < callee->return_count; i++) {
        const struct param_area *from = &callee->returns[i];
        copy_areas(f->caller->regs + results[1 + 3 * i], results[2 + 3 * i], f->regs + from->offset,
                   from->stride, lanes);
    }
    if (lanes != w->active)
        exec_split(w, w->active & ~lanes, w->pc + 1, GROUP_RUN);
    exec_enter(w, f->caller);
    w->next_pc = f->return_pc;
    f->lanes &= ~lanes;
    if (f->lanes == 0)
        recycle_frame(w, f);
    w->event |= EVENT_REGROUP;
}

/* ---- clock, sleep, trap ---- */
static uint64_t read_clock(struct warp *w)
{
    w->grid->clock_reads++;
    return ++w->grid->clock + w->grid->executed;
}
static void op_mov_clock(struct warp *w, const struct insn *in, uint32_t lanes)
{
    uint64_t now = read_clock(w);
    if (in->op)
        now >>= 32;
    FOR_EACH_LANE(lane, lanes)
    {
        if (in->width == 8)
            SLOT(lane_u64, w, in->d)[lane] = now;
        else
            SLOT(lane_u32, w, in->d)[lane] = (uint32_t)now;
    }
}
static void op_nanosleep(struct warp *w, const struct insn *in, uint32_t lanes)
{
    w->grid->clock += SLOT(lane_u32, w, in->a)[__builtin_ctz(lanes)];
    w->event |= EVENT_YIELD | EVENT_SPIN;
}
static void op_trap(struct warp *w, const struct insn *in, uint32_t lanes)
{
    exec_fault_text(w, in, in->op ? FAULT_BREAKPOINT : FAULT_TRAP, (uint32_t)__builtin_ctz(lanes),
                    "");
}
static void op_nop(struct warp *w, const struct insn *in, uint32_t lanes)
{
    (void)w, (void)in, (void)lanes;
}

/* ---- services ---- */
static uint64_t argument(const struct warp *w, const struct insn *in, unsigned n, unsigned lane)
{
    const uint32_t *extras = w->frame->program->extras, *args = extras + extras[in->extra];
    uint64_t v = 0;
    if (n < args[0])
        memcpy(&v, w->regs + args[1 + 3 * n] + (size_t)lane * args[2 + 3 * n],
               args[2 + 3 * n] < 8 ? args[2 + 3 * n] : 8);
    return v;
}
static void set_result(struct warp *w, const struct insn *in, unsigned lane, uint64_t v)
{
    const uint32_t *extras = w->frame->program->extras, *results = extras + extras[in->extra + 1];
    if (results[0] == 0)
        return;
    uint32_t stride = results[2];
    memcpy(w->regs + results[1] + (size_t)lane * stride, &v, stride < 8 ? stride : 8);
}
/* Reads a string of the device; false after a fault. Longer ones are cut. */
static bool read_string(struct warp *w, const struct insn *in, uint64_t address, unsigned lane,
                        char *to, size_t size)
{
    size_t n = 0;
    while (n + 1 < size) {
        if (!mem_lane_read(w, in, PTX_SPACE_GENERIC, address + n, lane, &to[n], 1))
            return false;
        if (to[n] == '\0')
            return true;
        n++;
    }
    to[n] = '\0';
    return true;
}

struct out {
    char *text;
    size_t used, size;
};
static void put(struct out *o, const char *text, int n)
{
    size_t room = o->size - o->used, wanted = n > 0 ? (size_t)n : 0;
    if (wanted > room)
        wanted = room;
    memcpy(o->text + o->used, text, wanted);
    o->used += wanted;
}
/* The format is put together from checked pieces of the kernel's own. */
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
/* One conversion: spec holds "%", flags, width and precision with the star replaced. */
static void format_one(struct warp *w, const struct insn *in, unsigned lane, struct out *o,
                       const char *spec, char conv, uint64_t bits)
{
    char format[48], text[512];
    int n = 0;
    double real;
    memcpy(&real, &bits, sizeof real);
    if (strchr("di", conv)) {
        snprintf(format, sizeof format, "%s%s", spec, PRId64);
        n = snprintf(text, sizeof text, format, (int64_t)bits);
    } else if (strchr("uoxX", conv)) {
        snprintf(format, sizeof format, "%sl%c", spec, conv);
        n = snprintf(text, sizeof text, format, (unsigned long)bits);
    } else if (strchr("eEfFgGaA", conv)) {
        snprintf(format, sizeof format, "%s%c", spec, conv);
        n = snprintf(text, sizeof text, format, real);
    } else if (conv == 'c') {
        snprintf(format, sizeof format, "%sc", spec);
        n = snprintf(text, sizeof text, format, (int)bits);
    } else if (conv == 'p') {
        snprintf(format, sizeof format, "%sp", spec);
        n = snprintf(text, sizeof text, format, (void *)(uintptr_t)bits);
    } else if (conv == 's') {
        char string[400] = "(null)";
        if (bits && !read_string(w, in, bits, lane, string, sizeof string))
            return;
        snprintf(format, sizeof format, "%ss", spec);
        n = snprintf(text, sizeof text, format, string);
    }
    put(o, text, n < (int)sizeof text ? n : (int)sizeof text - 1);
}
#pragma GCC diagnostic pop
/* A conversion as it is written. */
struct conversion {
    const char *end; /* its last character */
    char spec[32];   /* "%", flags, width, precision */
    bool star;       /* the width is an argument; comes between flags and precision */
    size_t star_at;
    unsigned shorts, longs;
    char kind; /* 0: the device knows no such conversion */
};
/* The device's printf knows neither ".*" nor the lengths z, j, t, L: it prints such pieces as they
 * are. */
static struct conversion read_conversion(const char *p)
{
    struct conversion c = {.spec = "%"};
    size_t used = 1;
    bool dot = false;
    for (p++; *p && strchr("-+ #0123456789.*", *p); p++) {
        if (*p == '*' && (dot || c.star))
            break;
        if (*p == '*') {
            c.star = true;
            c.star_at = used;
            continue;
        }
        dot = dot || *p == '.';
        if (used + 12 < sizeof c.spec) /* room for the width of a star */
            c.spec[used++] = *p;
    }
    for (; *p == 'h' || *p == 'l'; p++) {
        c.shorts += *p == 'h';
        c.longs += *p == 'l';
    }
    c.kind = *p && strchr("diuoxXeEfFgGaAcps", *p) ? *p : '\0';
    c.end = *p ? p : p - 1;
    return c;
}
static void insert_width(struct conversion *c, int32_t width)
{
    char tail[sizeof c->spec];
    snprintf(tail, sizeof tail, "%s", c->spec + c->star_at);
    snprintf(c->spec + c->star_at, sizeof c->spec - c->star_at, "%d%.12s", width, tail);
}
/* An integer of 4 bytes as its length and kind say. */
static uint64_t narrow(const struct conversion *c, uint64_t bits)
{
    const bool is_signed = c->kind == 'd' || c->kind == 'i';
    if (c->kind == 'c')
        return bits & 0xff;
    if (c->shorts > 1)
        return is_signed ? (uint64_t)(int64_t)(int8_t)bits : (uint8_t)bits;
    if (c->shorts == 1)
        return is_signed ? (uint64_t)(int64_t)(int16_t)bits : (uint16_t)bits;
    return is_signed ? (uint64_t)(int64_t)(int32_t)bits : (uint32_t)bits;
}
/* Formats like the device: integers of 4 or 8 bytes, doubles, pointers, each aligned to its size in
 * the argument buffer. Returns the number of conversions, -1 after a fault. */
static int format_all(struct warp *w, const struct insn *in, unsigned lane, struct out *o,
                      const char *format, uint64_t args)
{
    int count = 0;
    uint64_t at = 0;
    for (const char *p = format; *p; p++) {
        if (*p != '%') {
            put(o, p, 1);
            continue;
        }
        if (p[1] == '%') {
            put(o, ++p, 1);
            continue;
        }
        struct conversion c = read_conversion(p);
        if (!c.kind) {
            put(o, p, (int)(c.end - p) + 1);
            p = c.end;
            continue;
        }
        p = c.end;
        if (c.star) {
            int32_t width = 0;
            if (!mem_lane_read(w, in, PTX_SPACE_GENERIC, args + at, lane, &width, 4))
                return -1;
            at += 4;
            count++;
            insert_width(&c, width);
        }
        const bool wide = c.longs > 0 || strchr("eEfFgGaAsp", c.kind) != NULL;
        const unsigned size = wide ? 8 : 4;
        uint64_t bits = 0;
        at = (at + size - 1) / size * size;
        if (!mem_lane_read(w, in, PTX_SPACE_GENERIC, args + at, lane, &bits, size))
            return -1;
        at += size;
        format_one(w, in, lane, o, c.spec, c.kind, wide ? bits : narrow(&c, bits));
        count++;
    }
    return count;
}
static void op_call_vprintf(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct vgpu_device *device = w->grid->device;
    if (!device->printf_buffer)
        device->printf_buffer = vg_alloc(&device->arena, VGPU_PRINTF_BYTES);
    FOR_EACH_LANE(lane, lanes)
    {
        char format[2048];
        int count = -1;
        uint64_t address = argument(w, in, 0, lane);
        if (address && device->printf_buffer) {
            struct out o = {(char *)device->printf_buffer, device->printf_used, VGPU_PRINTF_BYTES};
            if (!read_string(w, in, address, lane, format, sizeof format))
                return;
            count = format_all(w, in, lane, &o, format, argument(w, in, 1, lane));
            device->printf_used = o.used;
        }
        set_result(w, in, lane, (uint64_t)(int64_t)count);
    }
    w->grid->memory_version++;
}
void call_flush_printf(struct vgpu_device *device)
{
    if (device->printf_used == 0)
        return;
    fwrite(device->printf_buffer, 1, device->printf_used, stdout);
    fflush(stdout);
    device->printf_used = 0;
}

static void op_call_malloc(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct vgpu_device *device = w->grid->device;
    const uint64_t heap = device->heap_bytes ? device->heap_bytes : VGPU_HEAP_BYTES;
    FOR_EACH_LANE(lane, lanes)
    {
        const uint64_t asked = argument(w, in, 0, lane), size = asked ? asked : 1,
                       need = (size + 15) & ~15ull;
        struct alloc *a = NULL;
        if (size < heap && device->heap_used + need <= heap)
            a = mem_alloc(&device->space, size, ALLOC_HEAP);
        if (a)
            device->heap_used += need;
        set_result(w, in, lane, a ? a->addr : 0);
    }
    w->grid->memory_version++;
}
static void op_call_free(struct warp *w, const struct insn *in, uint32_t lanes)
{
    struct vgpu_device *device = w->grid->device;
    FOR_EACH_LANE(lane, lanes)
    {
        uint64_t address = argument(w, in, 0, lane);
        bool inside = false;
        if (address == 0)
            continue;
        struct alloc *a = mem_find(&device->space, address, &inside);
        if (!inside || !a || a->kind != ALLOC_HEAP || a->addr != address || !a->live) {
            bool twice = inside && a && a->kind == ALLOC_HEAP && !a->live && a->addr == address;
            exec_fault(w, in, twice ? FAULT_DOUBLE_FREE : FAULT_MIDDLE_FREE, lane, address, 0, 1);
            return;
        }
        device->heap_used -= (a->size + 15) & ~15ull;
        mem_free(&device->space, a, w->grid->launch_number);
    }
    w->grid->memory_version++;
}
/* __assertfail(message, file, line, function, size of a character): each lane says so on stderr, in
 * the words that the runtime uses. */
static void op_call_assertfail(struct warp *w, const struct insn *in, uint32_t lanes)
{
    char message[120], file[200], function[200], detail[256];
    FOR_EACH_LANE(lane, lanes)
    {
        if (!read_string(w, in, argument(w, in, 0, lane), lane, message, sizeof message) ||
            !read_string(w, in, argument(w, in, 1, lane), lane, file, sizeof file) ||
            !read_string(w, in, argument(w, in, 3, lane), lane, function, sizeof function))
            return;
        const struct place at = exec_place(w, in, lane);
        fprintf(stderr, "%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.\n",
                file, (unsigned)argument(w, in, 2, lane), function, at.block[0], at.block[1],
                at.block[2], at.thread[0], at.thread[1], at.thread[2], message);
    }
    const char *base = strrchr(file, '/');
    const uint32_t first = (uint32_t)__builtin_ctz(lanes);
    snprintf(detail, sizeof detail, "%.60s:%u: %.40s: `%s` does not hold", base ? base + 1 : file,
             (unsigned)argument(w, in, 2, first), function, message);
    exec_fault_text(w, in, FAULT_ASSERT, first, detail);
}

extern op_fn *const exec_call_ops[OP_COUNT];
op_fn *const exec_call_ops[OP_COUNT] = {
#define X(name) [OP_##name] = op_##name,
#include "handlers_call.def"
#undef X
};

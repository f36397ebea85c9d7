/*
 * lower.c - turns a verified function into a decoded program: slots for registers and constants,
 * layout of shared and local variables and of call parameters, branch targets, ranks. What each
 * form becomes is in lower_forms.c. Invariant: a function with a refused instruction gives no
 * program, only a message; nothing is skipped.
 */
#include "lower.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SLOT32 (4u * WARP_LANES)
#define SLOT64 (8u * WARP_LANES)
#define FUNCTION_BASE                                                                              \
    0x730000000000ull /* addresses of functions: base + 16 * (index + 1); no data lies there */
#define MAX_REG_BYTES (64u << 20)

void lower_fail(struct lower *lo, const char *fmt, ...)
{
    if (lo->failed)
        return;
    lo->failed = true;
    va_list args;
    va_start(args, fmt);
    vsnprintf(lo->err, lo->err_size, fmt, args);
    va_end(args);
}

/* Makes room for one more element; false (and a failure) when memory is out. */
static bool grow(struct lower *lo, void *array, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap)
        return true;
    uint32_t wanted = *cap ? *cap * 2 : 64;
    void **where = array;
    void *bigger = realloc(*where, wanted * size);
    if (!bigger) {
        lower_fail(lo, "out of memory");
        return false;
    }
    *where = bigger;
    *cap = wanted;
    return true;
}

static enum insn_class class_of(const char *name)
{
    static const struct {
        const char *name;
        enum insn_class cls;
    } names[] = {
        {"INT", INSN_INT},
        {"F16", INSN_F16},
        {"F32", INSN_F32},
        {"F64", INSN_F64},
        {"SPECIAL", INSN_SPECIAL},
        {"CONVERT", INSN_CONVERT},
        {"MOVE", INSN_MOVE},
        {"BRANCH", INSN_BRANCH},
        {"CALL", INSN_CALL},
        {"EXIT", INSN_EXIT},
        {"LD_GLOBAL", INSN_LD_GLOBAL},
        {"ST_GLOBAL", INSN_ST_GLOBAL},
        {"ATOM_GLOBAL", INSN_ATOM_GLOBAL},
        {"SHUFFLE", INSN_SHUFFLE},
        {"BARRIER", INSN_BARRIER},
        {"FENCE", INSN_FENCE},
        {"TENSOR", INSN_TENSOR},
        {"ASYNC", INSN_ASYNC},
        {"SERVICE", INSN_SERVICE},
    };
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        if (strcmp(names[i].name, name) == 0)
            return names[i].cls;
    }
    return INSN_SERVICE;
}

struct insn *lower_emit(struct lower *lo, enum op_id op, enum insn_class cls)
{
    static _Thread_local struct insn dummy; /* written after a failure, never read */
    if (!exec_op(op))
        lower_fail(lo, "internal: no handler for %s", exec_op_name(op));
    if (lo->failed || !grow(lo, &lo->code, lo->code_count, &lo->code_cap, sizeof *lo->code))
        return &dummy;
    struct insn *out = &lo->code[lo->code_count++];
    memset(out, 0, sizeof *out);
    out->run = exec_op(op);
    out->guard = -1;
    out->tree = lo->index;
    out->cls = (uint8_t)cls;
    out->vec = 1;
    if (cls == INSN_CLASS_COUNT) {
        enum insn_class row = class_of(op_form(lo->in->form)->cls);
        bool f64 = row == INSN_F32 && lo->in->type_count > 0 && lo->in->types[0] == PTX_TYPE_F64;
        out->cls = (uint8_t)(f64 ? INSN_F64 : row);
    }
    if (lo->in->guard >= 0) {
        out->guard = (int32_t)lo->slot[lo->in->guard];
        out->guard_negated = lo->in->guard_negated;
    }
    return out;
}

uint32_t lower_slot(struct lower *lo, uint32_t bytes)
{
    uint32_t at = (lo->p->reg_bytes + 63u) & ~63u;
    if (bytes > MAX_REG_BYTES || at > MAX_REG_BYTES) {
        lower_fail(lo, "%s needs more than %u MiB of registers and parameters per warp",
                   lo->f->name, MAX_REG_BYTES >> 20);
        return 0;
    }
    lo->p->reg_bytes = at + bytes;
    return at;
}

uint32_t lower_dynamic(struct lower *lo, enum slot_fill_kind kind, uint64_t addend, uint32_t size)
{
    for (uint32_t i = 0; i < lo->fill_count; i++) {
        const struct slot_fill *s = &lo->fills[i];
        if (s->bits == addend && s->size == size && s->kind == kind)
            return s->offset;
    }
    uint32_t at = lower_slot(lo, size * WARP_LANES);
    if (!grow(lo, &lo->fills, lo->fill_count, &lo->fill_cap, sizeof *lo->fills))
        return 0;
    lo->fills[lo->fill_count++] = (struct slot_fill){at, (uint8_t)size, (uint8_t)kind, addend};
    return at;
}

uint32_t lower_constant(struct lower *lo, uint64_t bits, uint32_t size)
{
    return lower_dynamic(lo, FILL_CONSTANT, size == 4 ? (uint32_t)bits : bits, size);
}

uint32_t lower_extra(struct lower *lo, const uint32_t *values, uint32_t count)
{
    uint32_t at = lo->extra_count;
    for (uint32_t i = 0; i < count; i++) {
        if (!grow(lo, &lo->extras, lo->extra_count, &lo->extra_cap, sizeof *lo->extras))
            return 0;
        lo->extras[lo->extra_count++] = values[i];
    }
    return at;
}

/* ---- operands ---- */
static enum ptx_type reg_type(const struct lower *lo, int32_t reg) { return lo->f->regs[reg].type; }
static unsigned reg_bits(const struct lower *lo, int32_t reg)
{
    unsigned bits = ptx_type_bits(reg_type(lo, reg));
    return bits <= 32 ? 32 : bits;
}

/* A temporary of 256 bytes, one of a few that every instruction may use for its hidden moves. */
static uint32_t temporary(struct lower *lo)
{
    if (lo->temp_used >= sizeof lo->temps / sizeof lo->temps[0]) {
        lower_fail(lo, "line %u: too many operands of another width", lo->in->line);
        return 0;
    }
    uint32_t n = lo->temp_used++;
    if (lo->temps[n] == NO_SLOT)
        lo->temps[n] = lower_slot(lo, SLOT64);
    return lo->temps[n];
}

static bool changes_while_running(enum ptx_special s)
{
    return s == PTX_SPECIAL_CLOCK || s == PTX_SPECIAL_CLOCK_HI || s == PTX_SPECIAL_CLOCK64 ||
           s == PTX_SPECIAL_GLOBALTIMER || s == PTX_SPECIAL_GLOBALTIMER_LO ||
           s == PTX_SPECIAL_GLOBALTIMER_HI;
}

static unsigned special_bits(enum ptx_special s)
{
    return s == PTX_SPECIAL_CLOCK64 || s == PTX_SPECIAL_GLOBALTIMER || s == PTX_SPECIAL_GRIDID ||
                   s == PTX_SPECIAL_CURRENT_GRAPH_EXEC
               ? 64
               : 32;
}

static uint32_t special_slot(struct lower *lo, enum ptx_special s, unsigned bits)
{
    if (changes_while_running(s)) {
        uint32_t at = temporary(lo);
        struct insn *move = lower_emit(lo, OP_mov_clock, INSN_HIDDEN);
        move->d = at;
        move->width = bits == 64 ? 8 : 4;
        move->op = s == PTX_SPECIAL_CLOCK_HI || s == PTX_SPECIAL_GLOBALTIMER_HI;
        move->flags |= INSN_FLAG_CONTROL;
        return at;
    }
    for (uint32_t i = 0; i < lo->special_count; i++) {
        if (lo->specials[i].special == s && lo->specials[i].size == bits / 8)
            return lo->specials[i].offset;
    }
    uint32_t at = lower_slot(lo, bits == 64 ? SLOT64 : SLOT32);
    if (!grow(lo, &lo->specials, lo->special_count, &lo->special_cap, sizeof *lo->specials))
        return 0;
    lo->specials[lo->special_count++] = (struct special_fill){at, bits / 8, s};
    return at;
}

/* Address of a variable as its state space sees it (shared and local: 32 significant bits). */
static uint32_t variable_slot(struct lower *lo, const struct ptx_var *var, int64_t offset,
                              unsigned bits)
{
    uint32_t size = bits == 64 ? 8 : 4;
    uint64_t addend = var->offset + (uint64_t)offset;
    if (var->space == PTX_SPACE_SHARED && var->is_extern)
        return lower_dynamic(lo, FILL_DYNAMIC_SHARED, (uint64_t)offset, size);
    if (var->space == PTX_SPACE_LOCAL)
        return lower_dynamic(lo, FILL_LOCAL_BASE, addend, size);
    if (var->space == PTX_SPACE_SHARED)
        return lower_constant(lo, SHARED_BASE + addend, size);
    if (var->space == PTX_SPACE_PARAM && !lo->f->entry) {
        lower_fail(lo, "line %u: the address of parameter '%s' of a device function", lo->in->line,
                   var->name);
        return 0;
    }
    if (var->space == PTX_SPACE_PARAM)
        lo->p->uses_param_address = true;
    return lower_constant(lo, addend, size);
}

uint32_t lower_source(struct lower *lo, const struct ptx_operand *o, unsigned bits)
{
    unsigned want = bits <= 32 ? 32 : bits;
    switch (o->kind) {
    case PTX_OPND_REG: {
        unsigned have = reg_bits(lo, o->reg);
        if (have == want)
            return lo->slot[o->reg];
        uint32_t at = temporary(lo);
        struct insn *move = lower_emit(lo, have > want ? OP_narrow_64 : OP_widen_u32, INSN_HIDDEN);
        move->d = at;
        move->a = lo->slot[o->reg];
        return at;
    }
    case PTX_OPND_IMM:
        return lower_constant(lo, o->bits, want / 8);
    case PTX_OPND_SPECIAL: {
        unsigned have = special_bits(o->special);
        if (changes_while_running(o->special) || have <= want)
            return special_slot(lo, o->special, want);
        uint32_t from = special_slot(lo, o->special, have), at = temporary(lo);
        struct insn *move = lower_emit(lo, OP_narrow_64, INSN_HIDDEN);
        move->d = at;
        move->a = from;
        return at;
    }
    case PTX_OPND_VAR:
        return variable_slot(lo, o->var, o->offset, want);
    case PTX_OPND_FUNC:
        return lower_constant(lo, lower_function_address(o->func), want / 8);
    case PTX_OPND_LABEL:
    case PTX_OPND_LABELS:
    case PTX_OPND_ADDR:
    case PTX_OPND_VECTOR:
    case PTX_OPND_LIST:
    case PTX_OPND_PROTO:
    case PTX_OPND_SINK:
        break;
    }
    lower_fail(lo, "line %u: unexpected operand in '%s'", lo->in->line, lo->in->text);
    return 0;
}

uint32_t lower_target(struct lower *lo, const struct ptx_operand *o, unsigned bits, bool sign)
{
    unsigned want = bits <= 32 ? 32 : bits;
    if (o->kind == PTX_OPND_SINK)
        return temporary(lo);
    if (o->kind != PTX_OPND_REG) {
        lower_fail(lo, "line %u: a register is expected as destination of '%s'", lo->in->line,
                   lo->in->text);
        return 0;
    }
    if (reg_bits(lo, o->reg) == want)
        return lo->slot[o->reg];
    if (reg_bits(lo, o->reg) < want || lo->widen_count >= sizeof lo->widen / sizeof lo->widen[0]) {
        lower_fail(lo, "line %u: destination %s is too narrow for '%s'", lo->in->line,
                   lo->f->regs[o->reg].name, lo->in->text);
        return 0;
    }
    uint32_t at = lower_slot(lo, SLOT32);
    lo->widen[lo->widen_count].slot = at;
    lo->widen[lo->widen_count].to = lo->slot[o->reg];
    lo->widen[lo->widen_count++].sign = sign;
    return at;
}

uint32_t lower_pred_source(struct lower *lo, const struct ptx_operand *o, bool *negated)
{
    *negated = o->negated;
    if (o->kind == PTX_OPND_REG && reg_type(lo, o->reg) == PTX_TYPE_PRED)
        return lo->slot[o->reg];
    if (o->kind == PTX_OPND_IMM) {
        *negated = (o->bits == 0) != o->negated;
        return PRED_TRUE;
    }
    if (o->kind == PTX_OPND_SPECIAL) { /* %is_explicit_cluster: clusters are not executed */
        *negated = !o->negated;
        return PRED_TRUE;
    }
    lower_fail(lo, "line %u: a predicate is expected in '%s'", lo->in->line, lo->in->text);
    return 0;
}

uint32_t lower_pred_target(struct lower *lo, const struct ptx_operand *o)
{
    if (o->kind == PTX_OPND_SINK)
        return PRED_TRASH;
    if (o->kind == PTX_OPND_REG && reg_type(lo, o->reg) == PTX_TYPE_PRED)
        return lo->slot[o->reg];
    lower_fail(lo, "line %u: a predicate register is expected in '%s'", lo->in->line, lo->in->text);
    return 0;
}

uint32_t lower_address(struct lower *lo, const struct ptx_operand *o, bool *wide, int64_t *offset)
{
    const struct ptx_operand *base = o->kind == PTX_OPND_ADDR && o->elem_count ? &o->elems[0] : o;
    *offset = o->kind == PTX_OPND_ADDR ? o->offset : 0;
    *wide = true;
    if (base->kind == PTX_OPND_REG) {
        *wide = reg_bits(lo, base->reg) == 64;
        return lo->slot[base->reg];
    }
    if (base->kind == PTX_OPND_VAR) {
        uint32_t at = variable_slot(lo, base->var, 0, 64);
        *offset += base->offset;
        return at;
    }
    if (base->kind == PTX_OPND_IMM) {
        uint64_t bits = base->bits;
        return lower_constant(lo, bits, 8);
    }
    lower_fail(lo, "line %u: unexpected address in '%s'", lo->in->line, lo->in->text);
    return 0;
}

/* ---- parameters ---- */
static uint32_t area_stride(uint64_t size)
{
    return size <= 4 ? 4 : (uint32_t)((size + 7) & ~7ull);
}

static struct param_area *make_areas(struct lower *lo, const struct ptx_var *vars, uint32_t count)
{
    struct param_area *out = vg_array(lo->arena, count + 1, sizeof *out);
    if (!out) {
        lower_fail(lo, "out of memory");
        return NULL;
    }
    for (uint32_t i = 0; i < count; i++) {
        out[i].size = (uint32_t)vars[i].size;
        out[i].stride = area_stride(vars[i].size);
        out[i].offset = vars[i].size > MAX_REG_BYTES / WARP_LANES
                            ? 0
                            : lower_slot(lo, out[i].stride * WARP_LANES);
    }
    return out;
}

bool lower_area(struct lower *lo, const struct ptx_var *var, uint32_t *offset, uint32_t *stride)
{
    const struct program *p = lo->p;
    if (var->slot) {
        *offset = (uint32_t)var->offset;
        *stride = area_stride(var->size);
        return true;
    }
    for (uint32_t i = 0; !lo->f->entry && i < lo->f->param_count + lo->f->return_count; i++) {
        bool param = i < lo->f->param_count;
        uint32_t n = param ? i : i - lo->f->param_count;
        if (var != (param ? &lo->f->params[n] : &lo->f->returns[n]))
            continue;
        *offset = param ? p->params[n].offset : p->returns[n].offset;
        *stride = param ? p->params[n].stride : p->returns[n].stride;
        return true;
    }
    return false;
}

/* ---- calls ---- */
uint64_t lower_function_address(const struct ptx_func *f)
{
    return FUNCTION_BASE + 16ull * (uint64_t)(f - f->module->funcs + 1);
}

struct ptx_func *lower_find_function(struct ptx_module *m, uint64_t address)
{
    uint64_t n = (address - FUNCTION_BASE) / 16;
    if (address < FUNCTION_BASE || address % 16 != 0 || n == 0 || n > m->func_count)
        return NULL;
    return &m->funcs[n - 1];
}

static struct program *lower_any(struct ptx_func *f, char *err, size_t err_size, unsigned depth);

uint32_t lower_callee(struct lower *lo, struct ptx_func *callee)
{
    struct program *p = lower_any(callee, lo->err, lo->err_size, 1);
    if (!p) {
        lo->failed = true;
        return 0;
    }
    for (uint32_t i = 0; i < lo->callee_count; i++) {
        if (lo->callees[i] == p)
            return i;
    }
    if (!grow(lo, &lo->callees, lo->callee_count, &lo->callee_cap, sizeof(struct program *)))
        return 0;
    lo->callees[lo->callee_count] = p;
    return lo->callee_count++;
}

/* ---- variables ---- */
static uint64_t align_up(uint64_t x, uint64_t a) { return a > 1 ? (x + a - 1) / a * a : x; }

/* Shared variables of the module and of its device functions have one place in all kernels; those
 * of an entry follow. */
static uint64_t place_shared(struct ptx_module *m)
{
    uint64_t end = 0;
    for (uint32_t i = 0; i < m->var_count; i++) {
        struct ptx_var *v = m->vars[i];
        if (v->space != PTX_SPACE_SHARED || v->is_extern)
            continue;
        v->offset = align_up(end, v->align);
        end = v->offset + v->size;
    }
    for (uint32_t n = 0; n < m->func_count; n++) {
        struct ptx_func *f = &m->funcs[n];
        for (uint32_t i = 0; !f->entry && i < f->var_count; i++) {
            struct ptx_var *v = f->vars[i];
            if (v->space != PTX_SPACE_SHARED || v->is_extern)
                continue;
            v->offset = align_up(end, v->align);
            end = v->offset + v->size;
        }
    }
    return end;
}

static void note_shared(struct lower *lo, const struct ptx_operand *o)
{
    const struct ptx_var *v = o->var;
    if ((o->kind == PTX_OPND_VAR) && v && v->space == PTX_SPACE_SHARED) {
        if (v->is_extern) {
            if (lo->p->dynamic_shared_align < v->align)
                lo->p->dynamic_shared_align = v->align;
        } else if (lo->shared_used < v->offset + v->size) {
            lo->shared_used = (uint32_t)(v->offset + v->size);
        }
    }
    for (uint32_t i = 0; i < o->elem_count; i++)
        note_shared(lo, &o->elems[i]);
}

/* Static shared memory: what the code names from the module, then the entry's own variables. */
static void place_variables(struct lower *lo)
{
    struct ptx_func *f = lo->f;
    uint64_t local = 0;
    lo->p->dynamic_shared_align = 16;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        for (unsigned n = 0; n < f->insts[i].operand_count; n++) {
            bool own = false;
            const struct ptx_operand *o = &f->insts[i].operands[n];
            const struct ptx_operand *base =
                o->kind == PTX_OPND_ADDR && o->elem_count ? &o->elems[0] : o;
            for (uint32_t v = 0; f->entry && v < f->var_count; v++)
                own = own || (base->kind == PTX_OPND_VAR && f->vars[v] == base->var);
            if (!own || (base->var && base->var->is_extern))
                note_shared(lo, o);
        }
    }
    for (uint32_t i = 0; i < f->var_count; i++) {
        struct ptx_var *v = f->vars[i];
        if (v->space == PTX_SPACE_LOCAL) {
            v->offset = align_up(local, v->align);
            local = v->offset + v->size;
        } else if (v->space == PTX_SPACE_PARAM && v->slot) {
            v->offset = v->size > MAX_REG_BYTES / WARP_LANES
                            ? 0
                            : lower_slot(lo, area_stride(v->size) * WARP_LANES);
        }
    }
    if (local > 512u << 10)
        lower_fail(lo, "%s: more than 512 KiB of local memory per thread", f->name);
    lo->p->local_bytes = (uint32_t)align_up(local, 16);
}

/* The entry's own shared variables go behind what its callees use, which is known only after they
 * are lowered: callees first. */
static void lower_callees_first(struct lower *lo)
{
    for (uint32_t i = 0; i < lo->f->inst_count && !lo->failed; i++) {
        const struct ptx_inst *in = &lo->f->insts[i];
        bool direct = in->form != PTX_FORM_CALL;
        for (unsigned n = 0; n < in->operand_count && !direct; n++)
            direct = in->operands[n].kind == PTX_OPND_FUNC;
        if (!direct) { /* any function whose address was taken */
            uint64_t all = place_shared(lo->f->module);
            if (lo->shared_used < all)
                lo->shared_used = (uint32_t)all;
        }
        for (unsigned n = 0; n < in->operand_count && in->form == PTX_FORM_CALL; n++) {
            struct ptx_func *callee =
                in->operands[n].kind == PTX_OPND_FUNC ? in->operands[n].func : NULL;
            if (!callee || callee->is_extern)
                continue;
            const struct program *p = lo->p;
            uint32_t c = lower_callee(lo, callee);
            if (lo->failed)
                return;
            p = lo->callees[c];
            if (lo->shared_used < p->shared_static)
                lo->shared_used = p->shared_static;
            if (lo->p->dynamic_shared_align < p->dynamic_shared_align)
                lo->p->dynamic_shared_align = p->dynamic_shared_align;
        }
    }
    uint64_t end = lo->shared_used;
    for (uint32_t i = 0; lo->f->entry && i < lo->f->var_count; i++) {
        struct ptx_var *v = lo->f->vars[i];
        if (v->space != PTX_SPACE_SHARED)
            continue;
        if (v->is_extern)
            continue;
        v->offset = align_up(end, v->align);
        end = v->offset + v->size;
    }
    if (end > 232448)
        lower_fail(lo, "%s: %llu bytes of static shared memory", lo->f->name,
                   (unsigned long long)end);
    lo->p->shared_static = (uint32_t)end;
}

/* ---- register slots: linear scan over live ranges, one pool per size ---- */
struct candidate {
    uint32_t from, to;
    int32_t reg;
};
static int by_start(const void *a, const void *b)
{
    const struct candidate *x = a, *y = b;
    if (x->from != y->from)
        return x->from < y->from ? -1 : 1;
    return x->reg < y->reg ? -1 : x->reg > y->reg ? 1 : 0;
}

/* pool 0: predicates, 1: 32-bit slots, 2: 64-bit slots */
static int pool_of(enum ptx_type t)
{
    return t == PTX_TYPE_PRED ? 0 : ptx_type_bits(t) <= 32 ? 1 : 2;
}

static uint32_t assign_pool(struct lower *lo, int pool, struct candidate *list)
{
    uint32_t count = 0, used = 0;
    for (uint32_t r = 0; r < lo->f->reg_count; r++) {
        struct flow_range range = lo->flow.live[r];
        if (pool_of(lo->f->regs[r].type) == pool && range.from <= range.to)
            list[count++] = (struct candidate){range.from, range.to, (int32_t)r};
    }
    qsort(list, count, sizeof *list, by_start);
    uint32_t *ends = vg_array(&lo->scratch, count + 1,
                              sizeof *ends); /* last point at which each slot is taken */
    if (!ends) {
        lower_fail(lo, "out of memory");
        return 0;
    }
    for (uint32_t i = 0; i < count; i++) {
        uint32_t at = 0;
        while (at < used && ends[at] >= list[i].from)
            at++;
        if (at == used)
            used++;
        ends[at] = list[i].to;
        lo->slot[list[i].reg] = at;
    }
    return used;
}

static void assign_registers(struct lower *lo)
{
    uint32_t regs = lo->f->reg_count;
    lo->slot = vg_array(&lo->scratch, regs + 1, sizeof *lo->slot);
    struct candidate *list = vg_array(&lo->scratch, regs + 1, sizeof *list);
    if (!lo->slot || !list) {
        lower_fail(lo, "out of memory");
        return;
    }
    for (uint32_t r = 0; r < regs; r++) {
        if (ptx_type_bits(lo->f->regs[r].type) > 64)
            lower_fail(lo, "%s: register %s is wider than 64 bits", lo->f->name,
                       lo->f->regs[r].name);
    }
    uint32_t preds = assign_pool(lo, 0, list), narrow = assign_pool(lo, 1, list),
             wide = assign_pool(lo, 2, list);
    lo->p->pred_count = PRED_FIXED + preds;
    for (uint32_t r = 0; r < regs; r++) {
        int pool = pool_of(lo->f->regs[r].type);
        lo->slot[r] = pool == 0   ? PRED_FIXED + lo->slot[r]
                      : pool == 2 ? lo->slot[r] * SLOT64
                                  : wide * SLOT64 + lo->slot[r] * SLOT32;
    }
    /* Handlers may read 256 bytes at offset 0 through an operand they do not use. */
    lo->p->reg_bytes = wide * SLOT64 + narrow * SLOT32;
    if (lo->p->reg_bytes < SLOT64)
        lo->p->reg_bytes = SLOT64;
    lo->p->registers_declared = regs;
}

/* ---- the driver ---- */
static void lower_one(struct lower *lo, uint32_t index)
{
    lo->index = index;
    lo->in = &lo->f->insts[index];
    lo->widen_count = 0;
    lo->temp_used = 0;
    if (lo->in->refusal) {
        lower_fail(lo, "%s", lo->in->refusal);
        return;
    }
    lower_instruction(lo);
    for (uint32_t i = 0; i < lo->widen_count; i++) {
        struct insn *move =
            lower_emit(lo, lo->widen[i].sign ? OP_widen_s32 : OP_widen_u32, INSN_HIDDEN);
        move->a = lo->widen[i].slot;
        move->d = lo->widen[i].to;
    }
}

static void patch_targets(struct lower *lo)
{
    for (uint32_t pc = 0; pc < lo->code_count; pc++) {
        struct insn *in = &lo->code[pc];
        if (in->cls != INSN_BRANCH && in->cls != INSN_BRANCH_IF)
            continue;
        if (in->run == exec_op(OP_brx)) {
            uint32_t *list = lo->extras + in->extra;
            for (uint32_t i = 1; i <= list[0]; i++)
                list[i] = lo->first_pc[list[i]];
        } else {
            in->target = lo->first_pc[in->target];
        }
    }
}

static void assign_ranks(struct lower *lo)
{
    uint32_t rank = 0;
    for (uint32_t n = 0; n < lo->flow.block_count; n++) {
        const struct flow_block *b = &lo->flow.blocks[lo->flow.order[n]];
        for (uint32_t pc = lo->first_pc[b->first]; pc < lo->first_pc[b->end]; pc++)
            lo->code[pc].rank = rank++;
    }
    lo->code[lo->code_count - 1].rank = rank; /* the final ret */
}

static void *keep(struct lower *lo, const void *from, uint32_t count, size_t size)
{
    void *to = vg_array(lo->arena, (size_t)count + 1, size);
    if (!to)
        lower_fail(lo, "out of memory");
    else if (count)
        memcpy(to, from, count * size);
    return to;
}

static void finish(struct lower *lo)
{
    struct program *p = lo->p;
    p->code = keep(lo, lo->code, lo->code_count, sizeof *p->code);
    p->code_count = lo->code_count;
    p->extras = keep(lo, lo->extras, lo->extra_count, sizeof *p->extras);
    p->extra_count = lo->extra_count;
    p->fills = keep(lo, lo->fills, lo->fill_count, sizeof *p->fills);
    p->fill_count = lo->fill_count;
    p->specials = keep(lo, lo->specials, lo->special_count, sizeof *p->specials);
    p->special_count = lo->special_count;
    p->callees = keep(lo, lo->callees, lo->callee_count, sizeof(struct program *));
    p->callee_count = lo->callee_count;
    p->reg_bytes = (p->reg_bytes + 63u) & ~63u;
    for (uint32_t i = 0; i < p->callee_count; i++) {
        if (p->callees[i]->uses_barrier)
            p->uses_barrier = true;
        if (p->callees[i]->uses_param_address)
            p->uses_param_address = true;
    }
    p->cooperative_ok = true;
}

static void lower_body(struct lower *lo)
{
    struct ptx_func *f = lo->f;
    if (!flow_analyse(&lo->flow, f, &lo->scratch))
        lower_fail(lo, "out of memory");
    if (!lo->failed)
        assign_registers(lo);
    if (!lo->failed)
        place_variables(lo);
    if (!lo->failed && !f->entry) {
        lo->p->params = make_areas(lo, f->params, f->param_count);
        lo->p->returns = make_areas(lo, f->returns, f->return_count);
        lo->p->param_count = f->param_count;
        lo->p->return_count = f->return_count;
    }
    if (!lo->failed)
        lower_callees_first(lo);
    lo->first_pc = vg_array(&lo->scratch, f->inst_count + 1, sizeof *lo->first_pc);
    if (!lo->first_pc)
        lower_fail(lo, "out of memory");
    uint32_t nothing = 0;
    lower_extra(lo, &nothing, 1); /* index 0 means none */
    for (uint32_t i = 0; i < f->inst_count && !lo->failed; i++) {
        lo->first_pc[i] = lo->code_count;
        lower_one(lo, i);
    }
    if (lo->failed)
        return;
    lo->first_pc[f->inst_count] = lo->code_count;
    /* A body that runs off its end returns; the hidden ret also gives every pc a successor to look
     * at. */
    static const struct ptx_inst end = {.form = PTX_FORM_RET, .guard = -1, .text = "ret"};
    lo->in = &end;
    lo->index = f->inst_count ? f->inst_count - 1 : 0;
    struct insn *last = lower_emit(lo, OP_ret, INSN_HIDDEN);
    last->flags = INSN_FLAG_CONTROL;
    if (lo->failed)
        return;
    patch_targets(lo);
    assign_ranks(lo);
    finish(lo);
}

static struct program *lower_any(struct ptx_func *f, char *err, size_t err_size, unsigned depth)
{
    if (f->program)
        return f->program; /* finished, or being lowered: recursion */
    struct lower lo = {.f = f, .arena = &f->module->arena, .err = err, .err_size = err_size};
    for (size_t i = 0; i < sizeof lo.temps / sizeof lo.temps[0]; i++)
        lo.temps[i] = NO_SLOT;
    if (depth == 0)
        (void)place_shared(f->module);
    lo.p = vg_alloc(lo.arena, sizeof *lo.p);
    if (!lo.p) {
        snprintf(err, err_size, "out of memory");
        return NULL;
    }
    lo.p->func = f;
    f->program = lo.p;
    if (f->refusal)
        lower_fail(&lo, "%s", f->refusal);
    else
        lower_body(&lo);
    free(lo.code);
    free(lo.extras);
    free(lo.fills);
    free(lo.specials);
    free(lo.callees);
    vg_arena_free(&lo.scratch);
    if (lo.failed)
        f->program = NULL;
    return f->program;
}

struct program *lower_function(struct ptx_func *f, char *err, size_t err_size)
{
    return lower_any(f, err, err_size, 0);
}

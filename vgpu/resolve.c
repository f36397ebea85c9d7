/*
 * resolve.c - names, scopes and the operands of one instruction against its row of ops.def.
 * Knows nothing of whole functions: verify.c walks them. Invariant: a failed check leaves its
 * reason in c->message and refuses one instruction, nothing more.
 */
#include "verify.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

bool complain(struct checker *c, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(c->message, sizeof c->message, fmt, args);
    va_end(args);
    return false;
}

static bool out_of_memory(struct checker *c)
{
    c->no_memory = true;
    return complain(c, "out of memory");
}

static void *keep(struct checker *c, size_t count, size_t size)
{
    void *p = pool_alloc(&c->pool, count * size);

    if (!p)
        out_of_memory(c);
    return p;
}

const char *slice_dup(struct checker *c, struct slice s)
{
    char *copy = keep(c, (size_t)s.len + 1, 1);

    if (copy)
        memcpy(copy, s.s, s.len);
    return copy;
}

/* ---- symbols ---- */

static uint32_t hash_bytes(const char *s, uint32_t len)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (uint32_t i = 0; i < len; i++)
        h = (h ^ (unsigned char)s[i]) * 16777619u;
    return h;
}

uint32_t name_hash(struct slice s) { return hash_bytes(s.s, s.len); }

static struct symbol *find(struct checker *c, const char *s, uint32_t len, bool range)
{
    const uint32_t h = hash_bytes(s, len);

    for (struct symbol *y = c->buckets[h % SYMBOL_BUCKETS]; y; y = y->chain)
        if (y->hash == h && y->name.len == len && (y->kind == SYM_RANGE) == range &&
            memcmp(y->name.s, s, len) == 0)
            return y;
    return NULL;
}

struct symbol *symbol_find(struct checker *c, struct slice name)
{
    return find(c, name.s, name.len, false);
}

/* "%r12" as member 12 of "%r<n>". A leading zero names no member. */
static struct symbol *find_range(struct checker *c, struct slice name, uint32_t *member)
{
    uint32_t digits = 0;
    uint64_t n = 0;

    while (digits < name.len && digits < 9 && name.s[name.len - digits - 1] >= '0' &&
           name.s[name.len - digits - 1] <= '9')
        digits++;
    if (digits == 0 || digits == name.len)
        return NULL;
    const char *first = name.s + name.len - digits;
    if (digits > 1 && *first == '0')
        return NULL;
    for (uint32_t i = 0; i < digits; i++)
        n = n * 10 + (uint32_t)(first[i] - '0');
    struct symbol *y = find(c, name.s, name.len - digits, true);
    if (!y || n >= y->count)
        return NULL;
    *member = (uint32_t)n;
    return y;
}

int32_t register_find(struct checker *c, struct slice name)
{
    uint32_t member = 0;
    const struct symbol *range = find_range(c, name, &member);
    const struct symbol *exact = symbol_find(c, name);

    if (exact && exact->kind != SYM_REG)
        exact = NULL;
    if (exact && (!range || exact->depth >= range->depth))
        return (int32_t)exact->index;
    return range ? (int32_t)(range->index + member) : -1;
}

struct symbol *symbol_add(struct checker *c, struct slice name, enum symbol_kind kind)
{
    const struct symbol *old = find(c, name.s, name.len, kind == SYM_RANGE);

    if (old && old->depth == c->depth) {
        complain(c, "'%.*s' is declared twice in one scope", (int)name.len, name.s);
        return NULL;
    }
    struct symbol *y = c->spare;
    if (y)
        c->spare = y->scope_next;
    else
        y = pool_alloc(&c->scratch, sizeof *y);
    if (!y) {
        out_of_memory(c);
        return NULL;
    }
    *y = (struct symbol){.name = name, .kind = kind, .hash = name_hash(name), .depth = c->depth};
    y->chain = c->buckets[y->hash % SYMBOL_BUCKETS];
    c->buckets[y->hash % SYMBOL_BUCKETS] = y;
    y->scope_next = c->scope;
    c->scope = y;
    return y;
}

struct symbol *scope_enter(struct checker *c)
{
    struct symbol *outer = c->scope;

    c->depth++;
    c->scope = NULL;
    return outer;
}

/* Takes the scope's symbols out of their buckets, newest first. Labels stay readable: fixes still
 * point to them. */
void scope_leave(struct checker *c, struct symbol *outer)
{
    while (c->scope) {
        struct symbol *y = c->scope;
        c->scope = y->scope_next;
        c->buckets[y->hash % SYMBOL_BUCKETS] = y->chain;
        if (y->kind != SYM_LABEL) {
            y->scope_next = c->spare;
            c->spare = y;
        }
    }
    c->depth--;
    c->scope = outer;
}

/* ---- types ---- */

/* May a register (or slot) of type `have` stand where the instruction says `want`? */
static bool type_fits(enum ptx_type have, enum ptx_type want, bool wider)
{
    const enum ptx_type_class h = ptx_type_class(have), w = ptx_type_class(want);
    const unsigned hb = ptx_type_bits(have), wb = ptx_type_bits(want);

    if ((h == PTX_CLASS_PRED) != (w == PTX_CLASS_PRED))
        return false;
    if (wider ? hb < wb : hb != wb)
        return false;
    if (hb != wb && h == PTX_CLASS_FLOAT)
        return false; /* only integer and untyped registers may be wider */
    if (h == PTX_CLASS_BITS || w == PTX_CLASS_BITS || w == PTX_CLASS_OTHER)
        return true;
    if (want == PTX_TYPE_TF32)
        return have == PTX_TYPE_F32 || h != PTX_CLASS_FLOAT;
    return h == PTX_CLASS_FLOAT ? have == want : w != PTX_CLASS_FLOAT;
}

static bool wrong_register(struct checker *c, struct slice name, enum ptx_type have,
                           enum ptx_type want)
{
    return complain(c, "'%.*s' is a .%s register, the instruction needs .%s", (int)name.len, name.s,
                    ptx_type_text(have), ptx_type_text(want));
}

static bool register_operand(struct checker *c, const struct ast_operand *a, enum ptx_type want,
                             bool wider, struct ptx_operand *out)
{
    const int32_t reg = register_find(c, a->name);

    if (reg < 0)
        return complain(c, "'%.*s' is not a register declared here", (int)a->name.len, a->name.s);
    const enum ptx_type have = c->f->regs[reg].type;
    if (want != PTX_TYPE_NONE && !type_fits(have, want, wider))
        return wrong_register(c, a->name, have, want);
    if (a->offset != 0)
        return complain(c, "'%.*s': an offset is allowed inside [..] only", (int)a->name.len,
                        a->name.s);
    if (a->negated && have != PTX_TYPE_PRED)
        return complain(c, "'!' needs a predicate");
    out->kind = PTX_OPND_REG;
    out->reg = reg;
    out->negated = a->negated;
    return true;
}

/* ---- immediates ---- */

static uint64_t float_as(const struct ast_operand *a, bool to_wide)
{
    float f = 0;
    double d = 0;
    uint32_t narrow = 0;
    uint64_t wide = 0;

    if ((a->kind == AST_F64) == to_wide)
        return a->bits;
    if (to_wide) {
        narrow = (uint32_t)a->bits;
        memcpy(&f, &narrow, sizeof f);
        d = (double)f;
        memcpy(&wide, &d, sizeof wide);
        return wide;
    }
    memcpy(&d, &a->bits, sizeof d);
    f = (float)d;
    memcpy(&narrow, &f, sizeof narrow);
    return narrow;
}

static bool immediate_operand(struct checker *c, const struct ast_operand *a, enum ptx_type want,
                              struct ptx_operand *out)
{
    const unsigned bits = ptx_type_bits(want);
    const bool is_float = ptx_type_class(want) == PTX_CLASS_FLOAT;

    out->kind = PTX_OPND_IMM;
    if (a->kind != AST_INT) {
        if (bits != 32 && bits != 64)
            return complain(c, "a floating-point constant does not fit .%s", ptx_type_text(want));
        if (!is_float && (a->kind == AST_F64) != (bits == 64))
            return complain(c, "the floating-point constant is not as wide as .%s",
                            ptx_type_text(want));
        out->bits = float_as(a, bits == 64);
        return true;
    }
    if (is_float)
        return complain(c, "an integer constant where .%s is needed", ptx_type_text(want));
    if (want == PTX_TYPE_PRED) {
        out->bits = a->bits != 0;
        return true;
    }
    if (bits > 0 && bits < 64) {
        const int64_t v = (int64_t)a->bits;
        if (v < -((int64_t)1 << (bits - 1)) || v >= (int64_t)1 << bits)
            return complain(c, "constant %lld does not fit .%s", (long long)v, ptx_type_text(want));
    }
    out->bits = a->bits;
    return true;
}

/* ---- special registers, variables, functions ---- */

static const struct {
    const char *text;
    enum ptx_type type;
} specials[PTX_SPECIAL_COUNT] = {
#define X(id, text, type) {text, PTX_TYPE_##type},
#include "specials.def"
};

static bool special_operand(struct checker *c, const struct ast_operand *a, enum ptx_type want,
                            struct ptx_operand *out)
{
    for (int i = 0; i < PTX_SPECIAL_COUNT; i++) {
        if (strlen(specials[i].text) != a->name.len ||
            memcmp(specials[i].text, a->name.s, a->name.len) != 0)
            continue;
        if (!type_fits(specials[i].type, want, false))
            return complain(c, "%s is .%s, the instruction needs .%s", specials[i].text,
                            ptx_type_text(specials[i].type), ptx_type_text(want));
        out->kind = PTX_OPND_SPECIAL;
        out->special = (enum ptx_special)i;
        return true;
    }
    return complain(c, "'%.*s' is neither declared nor a special register known here",
                    (int)a->name.len, a->name.s);
}

static bool symbol_operand(struct checker *c, const struct ast_operand *a, const struct symbol *y,
                           enum ptx_type want, bool address, struct ptx_operand *out)
{
    const unsigned bits = ptx_type_bits(want);

    if (a->negated || !address || (y->kind != SYM_VAR && y->kind != SYM_FUNC))
        return complain(c, "'%.*s' cannot stand here", (int)a->name.len, a->name.s);
    if (bits != 64 && bits != 32)
        return complain(c, "an address does not fit .%s", ptx_type_text(want));
    out->kind = y->kind == SYM_VAR ? PTX_OPND_VAR : PTX_OPND_FUNC;
    out->var = y->var;
    out->func = y->func;
    out->offset = a->offset;
    return true;
}

static void place(struct ptx_operand *out, const struct ast_operand *a)
{
    *out = (struct ptx_operand){.reg = -1, .line = a->name.line, .col = a->name.col};
}

/* A single value that is read. */
static bool source_operand(struct checker *c, const struct ast_operand *a, const struct op_shape *s,
                           enum ptx_type want, struct ptx_operand *out)
{
    place(out, a);
    if (a->pair)
        return complain(c, "only a destination may be a pair d|p");
    switch (a->kind) {
    case AST_NAME: {
        if (register_find(c, a->name) >= 0)
            return register_operand(c, a, want, s->wider, out);
        const struct symbol *y = symbol_find(c, a->name);
        if (y)
            return symbol_operand(c, a, y, want, s->address, out);
        return special_operand(c, a, want, out);
    }
    case AST_INT:
    case AST_F32:
    case AST_F64:
        return immediate_operand(c, a, want, out);
    case AST_ADDR:
        return complain(c, "an address in [..] cannot stand here");
    case AST_VECTOR:
        return complain(c, "a list in {..} cannot stand here");
    case AST_LIST:
        return complain(c, "a list in (..) cannot stand here");
    case AST_SINK:
        return complain(c, "'_' cannot be read");
    }
    return complain(c, "operand of an unknown kind");
}

/* A single register that is written, or _. */
static bool dest_operand(struct checker *c, const struct ast_operand *a, bool wider,
                         enum ptx_type want, struct ptx_operand *out)
{
    place(out, a);
    if (a->kind == AST_SINK) {
        out->kind = PTX_OPND_SINK;
        return true;
    }
    if (a->kind != AST_NAME || a->negated)
        return complain(c, "the destination must be a register");
    return register_operand(c, a, want, wider, out);
}

/* ---- vectors ---- */

static struct ptx_operand *elements(struct checker *c, const struct ast_operand *a,
                                    struct ptx_operand *out)
{
    out->kind = a->kind == AST_LIST ? PTX_OPND_LIST : PTX_OPND_VECTOR;
    out->elem_count = a->elem_count;
    out->elems = keep(c, a->elem_count, sizeof *out->elems);
    return out->elems;
}

static unsigned vector_width(const struct ptx_inst *in)
{
    for (unsigned i = 0; i < in->mod_count; i++) {
        if (in->mods[i] == PTX_MOD_V2)
            return 2;
        if (in->mods[i] == PTX_MOD_V4)
            return 4;
        if (in->mods[i] == PTX_MOD_V8)
            return 8;
    }
    return 1;
}

static bool one_element(struct checker *c, const struct ast_operand *a, const struct op_shape *s,
                        enum ptx_type want, struct ptx_operand *out)
{
    return s->kind == 'D' ? dest_operand(c, a, s->wider, want, out)
                          : source_operand(c, a, s, want, out);
}

static bool vector_operand(struct checker *c, const struct ast_operand *a, const struct op_shape *s,
                           enum ptx_type want, unsigned width, struct ptx_operand *out)
{
    if (a->kind != AST_VECTOR || a->elem_count != width)
        return complain(c, "the instruction needs a list of %u registers in {..}", width);
    if (width * ptx_type_bits(want) > 256)
        return complain(c, "vector too wide");
    if (!elements(c, a, out))
        return false;
    for (uint32_t i = 0; i < a->elem_count; i++)
        if (!one_element(c, &a->elems[i], s, want, &out->elems[i]))
            return false;
    return true;
}

/* mov.b64 {a, b}, d and d, {a, b}: the elements together are as wide as the type. */
static bool pack_operand(struct checker *c, const struct ast_operand *a, const struct op_shape *s,
                         enum ptx_type want, struct ptx_operand *out)
{
    const uint32_t n = a->elem_count;

    if (ptx_type_class(want) != PTX_CLASS_BITS || (n != 2 && n != 4) || ptx_type_bits(want) / n < 8)
        return complain(c, ".%s cannot be made of %u parts", ptx_type_text(want), (unsigned)n);
    const unsigned part = ptx_type_bits(want) / n;
    const enum ptx_type type = part == 8    ? PTX_TYPE_B8
                               : part == 16 ? PTX_TYPE_B16
                               : part == 32 ? PTX_TYPE_B32
                                            : PTX_TYPE_B64;
    const struct op_shape plain = {.kind = s->kind};
    if (!elements(c, a, out))
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!one_element(c, &a->elems[i], &plain, type, &out->elems[i]))
            return false;
    return true;
}

/* Matrix fragment: a list of registers, or one register. The number is checked against the shape
 * when the form is executed. */
static bool fragment_operand(struct checker *c, const struct ast_operand *a,
                             struct ptx_operand *out)
{
    place(out, a);
    if (a->kind == AST_NAME)
        return register_operand(c, a, PTX_TYPE_NONE, false, out);
    if (a->kind != AST_VECTOR || a->elem_count == 0)
        return complain(c, "the instruction needs a list of registers in {..}");
    if (!elements(c, a, out))
        return false;
    for (uint32_t i = 0; i < a->elem_count; i++) {
        place(&out->elems[i], &a->elems[i]);
        if (a->elems[i].kind != AST_NAME)
            return complain(c, "a fragment is made of registers");
        if (!register_operand(c, &a->elems[i], PTX_TYPE_NONE, false, &out->elems[i]))
            return false;
    }
    return true;
}

/* ---- addresses ---- */

static const char *space_name(enum ptx_space s)
{
    switch (s) {
    case PTX_SPACE_GENERIC:
        return "generic";
    case PTX_SPACE_GLOBAL:
        return "global";
    case PTX_SPACE_SHARED:
        return "shared";
    case PTX_SPACE_LOCAL:
        return "local";
    case PTX_SPACE_CONST:
        return "const";
    case PTX_SPACE_PARAM:
        return "param";
    case PTX_SPACE_REG:
        return "register";
    }
    return "?";
}

/* A variable may be named in an address of its own space; a generic access may name only variables
 * whose addresses are generic. */
static bool space_fits(enum ptx_space access, enum ptx_space var)
{
    if (access == PTX_SPACE_GENERIC)
        return var == PTX_SPACE_GLOBAL || var == PTX_SPACE_CONST;
    return access == var;
}

static bool address_base(struct checker *c, const struct ast_operand *a, enum ptx_space space,
                         struct ptx_operand *out)
{
    const struct op_shape any = {.kind = 'S', .address = true};

    place(out, a);
    if (a->kind == AST_INT)
        return immediate_operand(c, a, PTX_TYPE_B64, out);
    if (a->kind != AST_NAME || a->pair || a->negated)
        return complain(c, "the base of an address is a register, a variable or a number");
    if (register_find(c, a->name) >= 0) {
        if (!register_operand(c, a, PTX_TYPE_NONE, false, out))
            return false;
        const enum ptx_type have = c->f->regs[out->reg].type;
        const bool short_ok = space != PTX_SPACE_GENERIC && space != PTX_SPACE_GLOBAL;
        if (!type_fits(have, PTX_TYPE_B64, false) &&
            !(short_ok && type_fits(have, PTX_TYPE_B32, false)))
            return wrong_register(c, a->name, have, PTX_TYPE_B64);
        return true;
    }
    if (!source_operand(c, a, &any, PTX_TYPE_B64, out))
        return false;
    if (out->kind != PTX_OPND_VAR)
        return complain(c, "'%.*s' is not a variable", (int)a->name.len, a->name.s);
    if (!space_fits(space, out->var->space))
        return complain(c, "'%s' lies in .%s, the access is %s", out->var->name,
                        space_name(out->var->space), space_name(space));
    return true;
}

static bool address_operand(struct checker *c, const struct ast_operand *a, enum ptx_space space,
                            struct ptx_operand *out)
{
    place(out, a);
    if (a->kind != AST_ADDR)
        return complain(c, "the instruction needs an address in [..]");
    if (a->elem_count != 1)
        return complain(c, "the address has too many parts");
    out->kind = PTX_OPND_ADDR;
    out->offset = a->offset;
    out->elem_count = 1;
    out->elems = keep(c, 1, sizeof *out->elems);
    return out->elems && address_base(c, &a->elems[0], space, &out->elems[0]);
}

/* ---- branches and calls ---- */

static bool label_operand(struct checker *c, struct slice name, struct ptx_operand *out)
{
    const struct symbol *y = symbol_find(c, name);
    struct label_fix *fix = NULL;

    *out =
        (struct ptx_operand){.kind = PTX_OPND_LABEL, .reg = -1, .line = name.line, .col = name.col};
    if (!y || y->kind != SYM_LABEL)
        return complain(c, "no label '%.*s' in this scope", (int)name.len, name.s);
    fix = pool_alloc(&c->scratch, sizeof *fix);
    if (!fix)
        return out_of_memory(c);
    *fix = (struct label_fix){out, y, c->fixes};
    c->fixes = fix;
    return true;
}

static bool branch_list_operand(struct checker *c, const struct ast_operand *a,
                                struct ptx_operand *out)
{
    const struct symbol *y = a->kind == AST_NAME ? symbol_find(c, a->name) : NULL;

    place(out, a);
    if (!y || y->kind != SYM_TARGETS)
        return complain(c, "the instruction needs a .branchtargets label");
    out->kind = PTX_OPND_LABELS;
    out->elem_count = y->targets->count;
    out->elems = keep(c, out->elem_count, sizeof *out->elems);
    if (!out->elems)
        return false;
    for (uint32_t i = 0; i < out->elem_count; i++)
        if (!label_operand(c, y->targets->names[i], &out->elems[i]))
            return false;
    return true;
}

/* (a, b): the .param slots of a call */
static bool slot_list(struct checker *c, const struct ast_operand *a, struct ptx_operand *out)
{
    if (a)
        place(out, a);
    out->kind = PTX_OPND_LIST;
    if (!a || a->elem_count == 0)
        return true;
    if (!elements(c, a, out))
        return false;
    for (uint32_t i = 0; i < a->elem_count; i++) {
        const struct ast_operand *e = &a->elems[i];
        const struct symbol *y = e->kind == AST_NAME ? symbol_find(c, e->name) : NULL;
        place(&out->elems[i], e);
        if (!y || y->kind != SYM_VAR || y->var->space != PTX_SPACE_PARAM || e->offset != 0)
            return complain(c, "arguments and results of a call are .param variables");
        out->elems[i].kind = PTX_OPND_VAR;
        out->elems[i].var = y->var;
    }
    return true;
}

static bool slots_fit(struct checker *c, const struct ptx_operand *list, const struct ptx_var *vars,
                      uint32_t count, const char *what)
{
    if (list->elem_count != count)
        return complain(c, "the call has %u %s, the callee %u", (unsigned)list->elem_count, what,
                        (unsigned)count);
    for (uint32_t i = 0; i < count; i++)
        if (list->elems[i].var->size != vars[i].size)
            return complain(c, "'%s' has %llu bytes, the callee expects %llu",
                            list->elems[i].var->name, (unsigned long long)list->elems[i].var->size,
                            (unsigned long long)vars[i].size);
    return true;
}

/* What the virtual GPU itself provides to kernels. */
static bool is_service(const char *name)
{
    static const char *const table[] = {"vprintf", "malloc", "free", "__assertfail"};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(name, table[i]) == 0)
            return true;
    return false;
}

static bool call_known(struct checker *c, struct ptx_operand *ops, struct ptx_func *f)
{
    ops[1].kind = PTX_OPND_FUNC;
    ops[1].func = f;
    if (f->entry)
        return complain(c, "'%s' is a kernel: launches from the device are not supported", f->name);
    if (f->is_extern && !is_service(f->name))
        return complain(c, "'%s' has no body: relocatable device code is not supported", f->name);
    return slots_fit(c, &ops[0], f->returns, f->return_count, "results") &&
           slots_fit(c, &ops[2], f->params, f->param_count, "arguments");
}

static bool call_pointer(struct checker *c, struct ptx_operand *ops, const struct ast_operand *how)
{
    const struct symbol *y = how && how->kind == AST_NAME ? symbol_find(c, how->name) : NULL;

    if (!y || (y->kind != SYM_PROTO && y->kind != SYM_TARGETS))
        return complain(c, "an indirect call needs a .callprototype or .calltargets label");
    place(&ops[3], how);
    if (y->kind == SYM_PROTO) {
        const struct ptx_proto *p = &c->f->protos[y->index];
        ops[3].kind = PTX_OPND_PROTO;
        ops[3].target = y->index;
        return slots_fit(c, &ops[0], p->returns, p->return_count, "results") &&
               slots_fit(c, &ops[2], p->params, p->param_count, "arguments");
    }
    ops[3].kind = PTX_OPND_LABELS;
    ops[3].elem_count = y->targets->count;
    ops[3].elems = keep(c, y->targets->count, sizeof *ops[3].elems);
    for (uint32_t i = 0; ops[3].elems && i < y->targets->count; i++) {
        const struct symbol *f = symbol_find(c, y->targets->names[i]);
        if (!f || f->kind != SYM_FUNC)
            return complain(c, "'%.*s' is not a function", (int)y->targets->names[i].len,
                            y->targets->names[i].s);
        ops[3].elems[i].kind = PTX_OPND_FUNC;
        ops[3].elems[i].func = f->func;
    }
    return ops[3].elems != NULL;
}

/* call [ (results) "," ] callee [ "," (arguments) ] [ "," prototype ]: always four operands, see
 * ptx.h */
static bool resolve_call(struct checker *c, const struct ast_inst *s, struct ptx_inst *in)
{
    const struct ast_operand *a = s->operands, *end = a ? a + s->operand_count : a;
    const struct ast_operand *results = NULL, *callee = NULL, *args = NULL, *how = NULL;
    struct ptx_operand *ops = keep(c, 4, sizeof *ops);

    if (!ops)
        return false;
    in->operands = ops;
    in->operand_count = 4;
    if (a < end && a->kind == AST_LIST)
        results = a++;
    if (a < end && a->kind == AST_NAME)
        callee = a++;
    if (a < end && a->kind == AST_LIST)
        args = a++;
    if (a < end)
        how = a++;
    if (!callee || a != end)
        return complain(c, "a call is written call (results), callee, (arguments), prototype");
    ops[3].kind = PTX_OPND_SINK;
    place(&ops[1], callee);
    if (!slot_list(c, results, &ops[0]) || !slot_list(c, args, &ops[2]))
        return false;
    const struct symbol *y = symbol_find(c, callee->name);
    if (y && y->kind == SYM_FUNC)
        return call_known(c, ops, y->func);
    return register_operand(c, callee, PTX_TYPE_B64, false, &ops[1]) && call_pointer(c, ops, how);
}

/* ---- the statement ---- */

static bool resolve_dest(struct checker *c, const struct ast_operand *a, const struct op_shape *s,
                         const struct ptx_inst *in, struct ptx_operand *out)
{
    const enum ptx_type want = op_shape_type(s, in->types);
    const unsigned width = s->vector ? vector_width(in) : 1;

    if (width > 1 || (s->pack && a->kind == AST_VECTOR)) {
        place(out, a);
        return width > 1 ? vector_operand(c, a, s, want, width, out)
                         : pack_operand(c, a, s, want, out);
    }
    if (!dest_operand(c, a, s->wider, want, out))
        return false;
    if (!a->pair)
        return true;
    if (!s->pair)
        return complain(c, "the instruction has one destination");
    out->pair = keep(c, 1, sizeof *out->pair);
    return out->pair && dest_operand(c, a->pair, false, PTX_TYPE_PRED, out->pair);
}

static bool resolve_source(struct checker *c, const struct ast_operand *a, const struct op_shape *s,
                           const struct ptx_inst *in, struct ptx_operand *out)
{
    const enum ptx_type want = op_shape_type(s, in->types);
    const unsigned width = s->vector ? vector_width(in) : 1;

    place(out, a);
    if (width > 1)
        return vector_operand(c, a, s, want, width, out);
    if (s->pack && a->kind == AST_VECTOR)
        return pack_operand(c, a, s, want, out);
    return source_operand(c, a, s, want, out);
}

static bool resolve_operand(struct checker *c, const struct ast_operand *a,
                            const struct op_shape *s, const struct ptx_inst *in,
                            struct ptx_operand *out)
{
    const struct op_shape any = {.kind = 'S'};

    place(out, a);
    switch (s->kind) {
    case 'D':
        return resolve_dest(c, a, s, in, out);
    case 'S':
        return resolve_source(c, a, s, in, out);
    case 'A':
        return address_operand(c, a, in->space, out);
    case 'M':
        return fragment_operand(c, a, out);
    case 'L':
        if (a->kind != AST_NAME)
            return complain(c, "the instruction needs a label");
        return label_operand(c, a->name, out);
    case 'B':
        return branch_list_operand(c, a, out);
    case 'I':
        if (a->kind != AST_INT)
            return complain(c, "the instruction needs an integer constant");
        return immediate_operand(c, a, PTX_TYPE_B32, out);
    case 'X': /* a count or, with cp.async, the predicate ignore-src */
        return source_operand(c, a, &any, PTX_TYPE_B32, out) ||
               source_operand(c, a, &any, PTX_TYPE_PRED, out);
    default:
        return complain(c, "operand of an unknown kind");
    }
}

static enum ptx_space space_of(enum ptx_mod m)
{
    switch ((int)m) {
    case PTX_MOD_GLOBAL:
        return PTX_SPACE_GLOBAL;
    case PTX_MOD_SHARED:
    case PTX_MOD_SHARED_CTA:
    case PTX_MOD_SHARED_CLUSTER:
        return PTX_SPACE_SHARED;
    case PTX_MOD_LOCAL:
        return PTX_SPACE_LOCAL;
    case PTX_MOD_CONST:
        return PTX_SPACE_CONST;
    case PTX_MOD_PARAM:
    case PTX_MOD_PARAM_ENTRY:
    case PTX_MOD_PARAM_FUNC:
        return PTX_SPACE_PARAM;
    default:
        return PTX_SPACE_GENERIC;
    }
}

/* cp.async names two spaces: the second address is the global one. */
static bool resolve_operands(struct checker *c, const struct ast_inst *s, const struct op_form *row,
                             struct ptx_inst *in)
{
    const enum ptx_space first_space = in->space;
    unsigned addresses = 0;

    if (row->operands[0] == '*')
        return true;
    if (row->operands[0] == 'C')
        return resolve_call(c, s, in);
    if (!op_shape_count(row->operands, s->operand_count))
        return complain(c, "%u operands do not fit, the row says '%s'", (unsigned)s->operand_count,
                        row->operands);
    in->operand_count = (uint8_t)s->operand_count;
    in->operands = keep(c, s->operand_count, sizeof *in->operands);
    if (!in->operands)
        return false;
    for (uint32_t i = 0; i < s->operand_count; i++) {
        struct op_shape shape;
        if (!op_shape_at(row->operands, s->operand_count, i, &shape))
            return complain(c, "too many operands");
        if (shape.kind == 'A' && addresses++ == 1)
            in->space = PTX_SPACE_GLOBAL;
        const bool ok = resolve_operand(c, &s->operands[i], &shape, in, &in->operands[i]);
        in->space = first_space;
        if (!ok)
            return false;
    }
    return true;
}

static const char *wrong_atomic(enum ptx_mod op, enum ptx_type t)
{
    const enum ptx_type_class cls = ptx_type_class(t);

    switch ((int)op) {
    case PTX_MOD_ADD:
        return cls == PTX_CLASS_BITS ? "atomic .add needs a number type" : NULL;
    case PTX_MOD_MIN:
    case PTX_MOD_MAX:
        return cls != PTX_CLASS_UNSIGNED && cls != PTX_CLASS_SIGNED
                   ? "atomic .min and .max need an integer type"
                   : NULL;
    case PTX_MOD_AND:
    case PTX_MOD_OR:
    case PTX_MOD_XOR:
        return cls != PTX_CLASS_BITS ? "atomic .and .or .xor need an untyped size" : NULL;
    case PTX_MOD_INC:
    case PTX_MOD_DEC:
        return t != PTX_TYPE_U32 ? "atomic .inc and .dec need .u32" : NULL;
    default:
        return NULL;
    }
}

/* Rules that join modifiers and types, which the columns of a row cannot say. NULL when all hold.
 */
static const char *wrong_combination(const struct ptx_inst *in)
{
    const enum ptx_type t = in->types[0];
    bool strong = false, scope = false;

    if (ptx_has_mod(in, PTX_MOD_FTZ) && t == PTX_TYPE_F64 && in->type_count == 1 &&
        !ptx_has_mod(in, PTX_MOD_APPROX))
        return ".ftz does not exist for .f64";
    if (ptx_has_mod(in, PTX_MOD_SAT) && t == PTX_TYPE_F64)
        return ".sat does not exist for .f64";
    if (ptx_has_mod(in, PTX_MOD_XORSIGN) != ptx_has_mod(in, PTX_MOD_ABS) &&
        (in->form == PTX_FORM_MIN_F || in->form == PTX_FORM_MAX_F || in->form == PTX_FORM_MIN_H ||
         in->form == PTX_FORM_MAX_H))
        return ".xorsign and .abs go together";
    if ((in->form == PTX_FORM_ADD || in->form == PTX_FORM_SUB || in->form == PTX_FORM_MAD_HI ||
         in->form == PTX_FORM_MAD24_HI) &&
        ptx_has_mod(in, PTX_MOD_SAT) && t != PTX_TYPE_S32)
        return ".sat exists for .s32 only";
    for (unsigned i = 0; i < in->mod_count; i++)
        for (unsigned k = 0; k < i; k++)
            if (op_mod_in(in->mods[i], K_SEM) && op_mod_in(in->mods[k], K_SEM))
                return "two memory orders";
    if (in->form == PTX_FORM_ATOM || in->form == PTX_FORM_RED)
        for (unsigned i = 0; i < in->mod_count; i++)
            if (op_mod_in(in->mods[i], K_ATOM))
                return wrong_atomic(in->mods[i], t);
    for (unsigned i = 0; i < in->mod_count; i++) {
        strong = strong || in->mods[i] == PTX_MOD_RELAXED || in->mods[i] == PTX_MOD_ACQUIRE ||
                 in->mods[i] == PTX_MOD_RELEASE;
        scope = scope || op_mod_in(in->mods[i], K_SCOPE);
    }
    if ((in->form == PTX_FORM_LD || in->form == PTX_FORM_ST) && strong != scope)
        return strong ? "a memory order needs a scope" : "a scope needs a memory order";
    return NULL;
}

static struct word_entry *find_word(struct checker *c, struct slice opcode)
{
    const uint32_t h = name_hash(opcode);
    struct word_entry **bucket = &c->words[h % WORD_BUCKETS];

    for (struct word_entry *e = *bucket; e; e = e->chain)
        if (e->hash == h && e->word.len == opcode.len &&
            memcmp(e->word.text, opcode.s, opcode.len) == 0)
            return e;
    struct word_entry *e = pool_alloc(&c->scratch, sizeof *e);
    if (!e) {
        out_of_memory(c);
        return NULL;
    }
    op_split(&e->word, opcode.s, opcode.len);
    e->hash = h;
    e->chain = *bucket;
    *bucket = e;
    enum ptx_form f = PTX_FORM_NONE;
    while (e->form_count < WORD_FORMS && (f = op_match(&e->word, f)) != PTX_FORM_NONE)
        e->forms[e->form_count++] = f;
    return e;
}

static void copy_word(struct ptx_inst *in, const struct op_word *w)
{
    for (unsigned i = 0; i < w->type_count; i++)
        in->types[i] = w->types[i];
    for (unsigned i = 0; i < w->mod_count; i++)
        in->mods[i] = w->mods[i];
    in->type_count = (uint8_t)w->type_count;
    in->mod_count = (uint8_t)w->mod_count;
    in->space = PTX_SPACE_GENERIC;
    for (unsigned i = 0; i < w->mod_count && in->space == PTX_SPACE_GENERIC; i++)
        in->space = space_of(w->mods[i]);
}

static bool resolve_guard(struct checker *c, const struct ast_inst *s, struct ptx_inst *in)
{
    in->guard = -1;
    if (!s->guard.s)
        return true;
    in->guard = register_find(c, s->guard);
    in->guard_negated = s->guard_negated;
    if (in->guard < 0 || c->f->regs[in->guard].type != PTX_TYPE_PRED) {
        in->guard = -1;
        return complain(c, "'%.*s' is not a predicate declared here", (int)s->guard.len,
                        s->guard.s);
    }
    return true;
}

/* One row: operands, then what the row itself says. */
static bool try_form(struct checker *c, const struct ast_inst *s, enum ptx_form form,
                     struct ptx_inst *in)
{
    const struct op_form *row = op_form(form);

    in->form = form;
    in->operands = NULL;
    in->operand_count = 0;
    if (!resolve_operands(c, s, row, in))
        return false;
    const char *wrong = wrong_combination(in);
    if (wrong)
        return complain(c, "%s", wrong);
    if (row->state != OP_DONE)
        return complain(c, "not executed: %s", row->meaning);
    if (row->sm > OLDEST_SM && row->sm > c->target_sm)
        return complain(c, "needs sm_%u, the module is for %s", row->sm, c->m->target);
    return true;
}

bool resolve_statement(struct checker *c, const struct ast_inst *s, struct ptx_inst *in)
{
    char first[sizeof c->message] = "";

    c->message[0] = '\0';
    if (!resolve_guard(c, s, in))
        return false;
    const struct word_entry *e = find_word(c, s->opcode);
    if (!e)
        return false;
    copy_word(in, &e->word);
    for (unsigned i = 0; i < e->form_count; i++) {
        struct label_fix *fixes = c->fixes;
        if (try_form(c, s, e->forms[i], in))
            return true;
        c->fixes = fixes;
        if (i == 0)
            memcpy(first, c->message, sizeof first);
    }
    in->form = PTX_FORM_NONE;
    if (e->form_count == 0)
        op_explain(&e->word, c->message, sizeof c->message);
    else
        memcpy(c->message, first, sizeof first);
    return false;
}

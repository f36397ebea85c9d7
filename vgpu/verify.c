/*
 * verify.c - from the tree to a checked module: variables, initialisers, functions, positions,
 * refusals. Operands and names of one instruction are resolve.c's. Invariant: an instruction that
 * cannot be executed carries its refusal; a module that is malformed as a whole is not returned at
 * all.
 */
#include "verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Far above what compilers write; hostile text must not cost gigabytes. */
enum { INIT_BYTES_MAX = 64 << 20, REGISTERS_MAX = 1 << 20 };

static bool fail_memory(struct checker *c)
{
    c->no_memory = true;
    diag_at(c->d, c->m->source, NULL, 0, 0, "out of memory");
    return false;
}

static bool fail_at(struct checker *c, struct slice at, const char *message)
{
    diag_at(c->d, c->m->source, at.s, at.line, at.col, "'%.*s': %s",
            (int)(at.len > 60 ? 60 : at.len), at.s, message);
    return false;
}

/* A failed symbol_add: either memory or a second declaration. */
static bool fail_symbol(struct checker *c, struct slice at)
{
    if (c->no_memory)
        return fail_memory(c);
    diag_at(c->d, c->m->source, at.s, at.line, at.col, "%s", c->message);
    return false;
}

static void *array_new(struct checker *c, size_t count, size_t size)
{
    void *p = count > SIZE_MAX / 2 / size ? NULL : pool_alloc(&c->pool, count * size);

    if (!p)
        fail_memory(c);
    return p;
}

/* One more element for a growing array in the module. */
static void *array_grow(struct checker *c, void *old, uint32_t count, uint32_t more, uint32_t *cap,
                        size_t size)
{
    if (more <= *cap - count)
        return old;
    uint64_t wider = (uint64_t)*cap * 2;
    if (wider < (uint64_t)count + more)
        wider = (uint64_t)count + more;
    if (wider < 8)
        wider = 8;
    if (wider > UINT32_MAX) {
        fail_memory(c);
        return NULL;
    }
    void *fresh = array_new(c, (size_t)wider, size);
    if (!fresh)
        return NULL;
    if (count)
        memcpy(fresh, old, count * size);
    *cap = (uint32_t)wider;
    return fresh;
}

/* ---- variables ---- */

static uint64_t element_size(const struct ast_var *v)
{
    return (uint64_t)ptx_type_bits(v->type) / 8 * v->vec;
}

/* Name, space, type, alignment and size; no initialiser yet. */
static bool describe_var(struct checker *c, const struct ast_var *v, struct ptx_var *out)
{
    const uint64_t size = element_size(v);

    if (size == 0)
        return fail_at(c, v->name, "this type cannot be stored in memory");
    out->name = slice_dup(c, v->name);
    if (!out->name)
        return fail_memory(c);
    out->space = v->space;
    out->type = v->type;
    out->align = v->align > size ? v->align : (uint32_t)size;
    if (v->align != 0 && v->align < size)
        out->align = v->align;
    out->size = size * v->count;
    out->is_extern = v->linkage == LINK_EXTERN;
    out->managed = v->managed;
    if (v->array && v->count == 0 && !v->init &&
        !(v->space == PTX_SPACE_SHARED && out->is_extern) && v->space != PTX_SPACE_PARAM &&
        !out->is_extern)
        return fail_at(c, v->name, "an array without a size needs .extern or an initialiser");
    return true;
}

static bool add_ref(struct checker *c, struct ptx_var *v, uint32_t *cap, uint64_t at,
                    const struct ast_init *e)
{
    const struct symbol *y = symbol_find(c, e->name);

    if (!y || (y->kind != SYM_VAR && y->kind != SYM_FUNC))
        return fail_at(c, e->name, "no variable or function of this name");
    v->refs = array_grow(c, v->refs, v->ref_count, 1, cap, sizeof *v->refs);
    if (!v->refs)
        return false;
    v->refs[v->ref_count++] = (struct ptx_init_ref){at, y->var, y->func, e->offset};
    return true;
}

struct init_walk {
    struct ptx_var *v;
    unsigned char *bytes;
    uint64_t at, element;
    enum ptx_type type;
    uint32_t ref_cap;
};

static uint64_t init_bits(const struct ast_init *e, enum ptx_type t)
{
    double d = 0;
    float f = 0;
    uint64_t bits = e->bits;

    if (e->kind == INIT_F64 && t == PTX_TYPE_F32) {
        uint32_t narrow = 0;
        memcpy(&d, &bits, sizeof d);
        f = (float)d;
        memcpy(&narrow, &f, sizeof narrow);
        return narrow;
    }
    if (e->kind == INIT_F32 && t == PTX_TYPE_F64) {
        const uint32_t narrow = (uint32_t)bits;
        memcpy(&f, &narrow, sizeof f);
        d = (double)f;
        memcpy(&bits, &d, sizeof bits);
    }
    return bits;
}

static bool store_element(struct checker *c, struct init_walk *w, const struct ast_init *e)
{
    if (w->at + w->element > w->v->size)
        return fail_at(c, e->name, "initialiser is longer than the variable");
    if (e->kind == INIT_NAME) {
        if (w->element != 8 && w->element != 4)
            return fail_at(c, e->name, "an address does not fit this type");
        if (!add_ref(c, w->v, &w->ref_cap, w->at, e))
            return false;
    } else {
        if (ptx_type_class(w->type) == PTX_CLASS_FLOAT && e->kind == INIT_INT && e->bits != 0)
            return fail_at(c, e->name, "an integer cannot initialise a floating-point variable");
        if (ptx_type_class(w->type) != PTX_CLASS_FLOAT &&
            ptx_type_class(w->type) != PTX_CLASS_BITS && e->kind != INIT_INT)
            return fail_at(c, e->name, "a floating-point number cannot initialise an integer");
        const uint64_t bits = init_bits(e, w->type);
        for (uint64_t i = 0; i < w->element && i < 8; i++)
            w->bytes[w->at + i] = (unsigned char)(bits >> (8 * i));
    }
    w->at += w->element;
    return true;
}

/* `stride`: bytes that a list at this level covers at least, so that short inner rows of an array
 * are padded. */
static bool store_list(struct checker *c, struct init_walk *w, const struct ast_init *list)
{
    for (uint32_t i = 0; i < list->elem_count; i++) {
        const struct ast_init *e = &list->elems[i];
        if (e->kind == INIT_LIST ? !store_list(c, w, e) : !store_element(c, w, e))
            return false;
    }
    return true;
}

static uint64_t count_elements(const struct ast_init *e)
{
    uint64_t n = 0;

    if (e->kind != INIT_LIST)
        return 1;
    for (uint32_t i = 0; i < e->elem_count; i++)
        n += count_elements(&e->elems[i]);
    return n;
}

/* Bytes and address references of an initialiser; a short one leaves zeros behind it. */
static bool initialise_var(struct checker *c, const struct ast_var *v, struct ptx_var *out)
{
    struct init_walk w = {.v = out, .type = v->type, .element = element_size(v) / v->vec};

    if (!v->init)
        return true;
    if (v->space != PTX_SPACE_GLOBAL && v->space != PTX_SPACE_CONST)
        return fail_at(c, v->name, "only .global and .const variables can be initialised");
    if (out->size == 0)
        out->size = count_elements(v->init) * w.element;
    if (out->size > INIT_BYTES_MAX)
        return fail_at(c, v->name, "initialised variable too large");
    if (v->dims > 1) /* nvcc flattens its arrays; rows of unequal length would need padding */
        for (uint32_t i = 0; v->init->kind == INIT_LIST && i < v->init->elem_count; i++)
            if (v->init->elems[i].kind == INIT_LIST &&
                count_elements(&v->init->elems[i]) != count_elements(&v->init->elems[0]))
                return fail_at(c, v->name, "rows of an initialiser must be equally long");
    w.bytes = array_new(c, (size_t)out->size, 1);
    if (!w.bytes)
        return false;
    out->init = w.bytes;
    return v->init->kind == INIT_LIST ? store_list(c, &w, v->init) : store_element(c, &w, v->init);
}

static bool module_vars(struct checker *c)
{
    uint32_t n = 0, i = 0;

    for (const struct ast_item *it = c->tree->vars; it; it = it->next)
        n++;
    c->m->vars = array_new(c, n + 1, sizeof *c->m->vars);
    struct ptx_var *all = array_new(c, n + 1, sizeof *all);
    if (!c->m->vars || !all)
        return false;
    for (const struct ast_item *it = c->tree->vars; it; it = it->next, i++) {
        struct symbol *y = symbol_add(c, it->u.var.name, SYM_VAR);
        if (!y)
            return fail_symbol(c, it->u.var.name);
        if (!describe_var(c, &it->u.var, &all[i]))
            return false;
        c->m->vars[i] = y->var = &all[i];
        if (it->u.var.init && it->u.var.count == 0) /* the size is needed before the bytes */
            all[i].size = count_elements(it->u.var.init) * element_size(&it->u.var) / it->u.var.vec;
    }
    c->m->var_count = n;
    return true;
}

static bool module_inits(struct checker *c)
{
    uint32_t i = 0;

    for (const struct ast_item *it = c->tree->vars; it; it = it->next, i++)
        if (!initialise_var(c, &it->u.var, c->m->vars[i]))
            return false;
    return true;
}

/* Parameters in order, each at the next multiple of its alignment. */
static bool describe_params(struct checker *c, const struct ast_var *in, uint32_t count,
                            struct ptx_var **out, uint32_t *total)
{
    uint64_t at = 0;

    *out = array_new(c, count + 1, sizeof **out);
    if (!*out)
        return false;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_var *v = &(*out)[i];
        if (!describe_var(c, &in[i], v))
            return false;
        at = (at + v->align - 1) / v->align * v->align;
        v->offset = at;
        at += v->size;
        if (at > 1 << 20)
            return fail_at(c, in[i].name, "too many parameters");
    }
    if (total)
        *total = (uint32_t)at;
    return true;
}

/* ---- functions: signatures ---- */

static bool same_params(const struct ptx_var *a, uint32_t an, const struct ptx_var *b, uint32_t bn)
{
    if (an != bn)
        return false;
    for (uint32_t i = 0; i < an; i++)
        if (a[i].size != b[i].size)
            return false;
    return true;
}

static bool describe_func(struct checker *c, const struct ast_func *t, struct ptx_func *f)
{
    f->entry = t->entry;
    f->module = c->m;
    f->name = slice_dup(c, t->name);
    if (!f->name)
        return fail_memory(c);
    if (!describe_params(c, t->params, t->param_count, &f->params, &f->param_size) ||
        !describe_params(c, t->returns, t->return_count, &f->returns, NULL))
        return false;
    f->param_count = t->param_count;
    f->return_count = t->return_count;
    memcpy(f->reqntid, t->reqntid, sizeof f->reqntid);
    memcpy(f->maxntid, t->maxntid, sizeof f->maxntid);
    memcpy(f->cluster, t->cluster, sizeof f->cluster);
    f->maxnreg = t->maxnreg;
    f->minnctapersm = t->minnctapersm;
    f->is_extern = !t->has_body;
    return true;
}

/* A second declaration must agree with the first; the one with a body is kept. */
static bool redeclare(struct checker *c, const struct ast_func *t, struct ptx_func *f)
{
    struct ptx_func fresh = {0};

    if (t->has_body && !f->is_extern)
        return fail_at(c, t->name, "this function has two bodies");
    if (!describe_func(c, t, &fresh))
        return false;
    if (fresh.entry != f->entry ||
        !same_params(fresh.params, fresh.param_count, f->params, f->param_count) ||
        !same_params(fresh.returns, fresh.return_count, f->returns, f->return_count))
        return fail_at(c, t->name, "declared before with other parameters");
    if (t->has_body)
        *f = fresh;
    return true;
}

static bool module_funcs(struct checker *c)
{
    uint32_t n = 0;

    for (const struct ast_func *t = c->tree->funcs; t; t = t->next)
        n++;
    c->m->funcs = array_new(c, n + 1, sizeof *c->m->funcs);
    if (!c->m->funcs)
        return false;
    for (const struct ast_func *t = c->tree->funcs; t; t = t->next) {
        struct symbol *y = symbol_find(c, t->name);
        if (y && y->kind == SYM_FUNC) {
            if (!redeclare(c, t, y->func))
                return false;
            continue;
        }
        y = symbol_add(c, t->name, SYM_FUNC);
        if (!y)
            return fail_symbol(c, t->name);
        y->func = &c->m->funcs[c->m->func_count++];
        if (!describe_func(c, t, y->func))
            return false;
    }
    return true;
}

/* ---- positions ---- */

static const struct ptx_loc *remembered_loc(const struct checker *c, uint32_t file, uint32_t line,
                                            uint32_t col)
{
    const struct loc_entry *e = &c->locs[(file * 31 + line * 7 + col) % LOC_BUCKETS];

    if (e->generation == c->generation && e->loc->file == file && e->loc->line == line &&
        e->loc->col == col)
        return e->loc;
    return NULL;
}

static void remember_loc(struct checker *c, const struct ptx_loc *l)
{
    c->locs[(l->file * 31 + l->line * 7 + l->col) % LOC_BUCKETS] =
        (struct loc_entry){c->generation, l};
}

/* inlined_at names a place; if an earlier .loc stands for it, its own chain goes on outwards. */
static const struct ptx_loc *outer_loc(struct checker *c, const struct ast_loc *a)
{
    const struct ptx_loc *known = remembered_loc(c, a->at_file, a->at_line, a->at_col);

    if (known)
        return known;
    struct ptx_loc *l = array_new(c, 1, sizeof *l);
    if (l)
        *l = (struct ptx_loc){.file = a->at_file, .line = a->at_line, .col = a->at_col};
    return l;
}

static const char *debug_string(struct checker *c, struct slice label, int64_t offset)
{
    const struct symbol *y = symbol_find(c, label);
    const uint64_t at = y ? y->index + (uint64_t)offset : 0;
    const uint32_t size = c->tree->string_size;

    if (!y || y->kind != SYM_STRING || at >= size)
        return NULL;
    const char *s = c->tree->strings + at;
    const char *end = memchr(s, '\0', size - at);
    return end ? slice_dup(c, (struct slice){.s = s, .len = (uint32_t)(end - s)}) : NULL;
}

static bool set_loc(struct checker *c, const struct ast_loc *a)
{
    struct ptx_loc *l = array_new(c, 1, sizeof *l);

    if (!l)
        return false;
    *l = (struct ptx_loc){.file = a->file, .line = a->line, .col = a->col};
    if (a->function.s)
        l->function = debug_string(c, a->function, a->function_offset);
    if (a->inlined) {
        l->inlined_at = outer_loc(c, a);
        if (!l->inlined_at)
            return false;
    }
    remember_loc(c, l);
    c->loc = l;
    return true;
}

/* ---- functions: bodies ---- */

static bool add_registers(struct checker *c, const struct ast_var *v)
{
    struct ptx_func *f = c->f;
    const uint32_t n = v->range ? v->range : 1;
    struct symbol *y = symbol_add(c, v->name, v->range ? SYM_RANGE : SYM_REG);

    if (!y)
        return fail_symbol(c, v->name);
    if (v->vec != 1 || v->array)
        return fail_at(c, v->name, "vector and array registers are not supported");
    if (ptx_type_bits(v->type) == 0)
        return fail_at(c, v->name, "no register can have this type");
    if (n > REGISTERS_MAX - f->reg_count)
        return fail_at(c, v->name, "too many registers in one function");
    f->regs = array_grow(c, f->regs, f->reg_count, n, &c->reg_cap, sizeof *f->regs);
    const size_t stride = v->name.len + 8;
    char *names = array_new(c, n, stride);
    if (!f->regs || !names)
        return false;
    y->index = f->reg_count;
    y->count = n;
    for (uint32_t i = 0; i < n; i++, names += stride) {
        if (v->range)
            snprintf(names, stride, "%.*s%u", (int)v->name.len, v->name.s, i);
        else
            memcpy(names, v->name.s, v->name.len);
        f->regs[f->reg_count++] = (struct ptx_reg){names, v->type};
    }
    return true;
}

static bool add_local_var(struct checker *c, const struct ast_var *v)
{
    struct ptx_func *f = c->f;

    if (v->space == PTX_SPACE_REG)
        return add_registers(c, v);
    struct symbol *y = symbol_add(c, v->name, SYM_VAR);
    if (!y)
        return fail_symbol(c, v->name);
    struct ptx_var *var = array_new(c, 1, sizeof *var);
    f->vars = array_grow(c, f->vars, f->var_count, 1, &c->var_cap, sizeof *f->vars);
    if (!var || !f->vars || !describe_var(c, v, var) || !initialise_var(c, v, var))
        return false;
    var->slot = v->space == PTX_SPACE_PARAM;
    y->var = var;
    f->vars[f->var_count++] = var;
    return true;
}

static bool add_proto(struct checker *c, const struct ast_proto *a, struct symbol *y)
{
    struct ptx_func *f = c->f;

    f->protos = array_grow(c, f->protos, f->proto_count, 1, &c->proto_cap, sizeof *f->protos);
    if (!f->protos)
        return false;
    struct ptx_proto *p = &f->protos[f->proto_count];
    *p = (struct ptx_proto){.name = slice_dup(c, a->name)};
    if (!p->name)
        return fail_memory(c);
    if (!describe_params(c, a->params, a->param_count, &p->params, NULL) ||
        !describe_params(c, a->returns, a->return_count, &p->returns, NULL))
        return false;
    p->param_count = a->param_count;
    p->return_count = a->return_count;
    y->index = f->proto_count++;
    return true;
}

/* Labels may be used before they stand, so a block declares them all when it begins. */
static bool declare_labels(struct checker *c, const struct ast_item *it)
{
    for (; it; it = it->next) {
        struct symbol *y = NULL;
        if (it->kind == ITEM_LABEL) {
            y = symbol_add(c, it->u.label, SYM_LABEL);
            if (!y)
                return fail_symbol(c, it->u.label);
        } else if (it->kind == ITEM_TARGETS) {
            y = symbol_add(c, it->u.targets.name, SYM_TARGETS);
            if (!y)
                return fail_symbol(c, it->u.targets.name);
            y->targets = &it->u.targets;
        } else if (it->kind == ITEM_PROTO) {
            y = symbol_add(c, it->u.proto.name, SYM_PROTO);
            if (!y)
                return fail_symbol(c, it->u.proto.name);
            if (!add_proto(c, &it->u.proto, y))
                return false;
        }
    }
    return true;
}

/* The statement on one line, runs of blanks and comments folded. */
static const char *statement_text(struct checker *c, struct slice s)
{
    char *out = array_new(c, (size_t)s.len + 1, 1);
    uint32_t n = 0;

    if (!out)
        return NULL;
    for (uint32_t i = 0; i < s.len; i++) {
        if (s.s[i] == '/' && i + 1 < s.len && s.s[i + 1] == '/') {
            while (i + 1 < s.len && s.s[i + 1] != '\n')
                i++;
            continue;
        }
        if (s.s[i] == '/' && i + 1 < s.len && s.s[i + 1] == '*') {
            for (i += 2; i + 1 < s.len && !(s.s[i] == '*' && s.s[i + 1] == '/'); i++)
                ;
            i++;
            continue;
        }
        const bool blank = s.s[i] == ' ' || s.s[i] == '\t' || s.s[i] == '\n' || s.s[i] == '\r' ||
                           s.s[i] == '\f' || s.s[i] == '\v';
        if (!blank)
            out[n++] = s.s[i];
        else if (n > 0 && out[n - 1] != ' ')
            out[n++] = ' ';
    }
    return out;
}

/* "line:col: reason", the statement, a caret under its first character. */
static const char *refusal_text(struct checker *c, const struct ptx_inst *in)
{
    return vg_printf(&c->m->arena, "%u:%u: %s\n  %.200s\n  ^", (unsigned)in->line,
                     (unsigned)in->col, c->message, in->text);
}

static bool add_statement(struct checker *c, const struct ast_inst *s)
{
    struct ptx_func *f = c->f;

    f->insts = array_grow(c, f->insts, f->inst_count, 1, &c->inst_cap, sizeof *f->insts);
    if (!f->insts)
        return false;
    struct ptx_inst *in = &f->insts[f->inst_count++];
    *in = (struct ptx_inst){.guard = -1, .line = s->text.line, .col = s->text.col, .loc = c->loc};
    in->text = statement_text(c, s->text);
    if (!in->text)
        return false;
    if (resolve_statement(c, s, in))
        return true;
    if (c->no_memory)
        return fail_memory(c);
    in->form = PTX_FORM_NONE;
    in->refusal = refusal_text(c, in);
    if (!in->refusal)
        return fail_memory(c);
    if (!f->refusal)
        f->refusal = in->refusal;
    return true;
}

static bool add_block(struct checker *c, const struct ast_item *it);

static bool add_item(struct checker *c, const struct ast_item *it)
{
    switch (it->kind) {
    case ITEM_VAR:
        return add_local_var(c, &it->u.var);
    case ITEM_LABEL: {
        struct symbol *y = symbol_find(c, it->u.label);
        y->target = c->f->inst_count;
        return true;
    }
    case ITEM_INST:
        return add_statement(c, &it->u.inst);
    case ITEM_BLOCK:
        return add_block(c, it->u.block);
    case ITEM_LOC:
        return set_loc(c, &it->u.loc);
    case ITEM_PROTO:
    case ITEM_TARGETS:
        return true;
    }
    return true;
}

static bool add_block(struct checker *c, const struct ast_item *it)
{
    struct symbol *outer = scope_enter(c);

    if (!declare_labels(c, it))
        return false;
    for (; it; it = it->next)
        if (!add_item(c, it))
            return false;
    scope_leave(c, outer);
    return true;
}

/* The end of a body returns; written out, so that labels at the end have a place to point to. */
static bool add_final_ret(struct checker *c)
{
    struct ptx_func *f = c->f;

    if (f->inst_count > 0) {
        const struct ptx_inst *last = &f->insts[f->inst_count - 1];
        bool to_end = false;
        for (const struct label_fix *x = c->fixes; x; x = x->next)
            to_end = to_end || x->label->target == f->inst_count;
        const bool leaves = last->form == PTX_FORM_RET || last->form == PTX_FORM_EXIT ||
                            last->form == PTX_FORM_BRA || last->form == PTX_FORM_TRAP;
        if (!to_end && leaves && last->guard < 0)
            return true;
    }
    f->insts = array_grow(c, f->insts, f->inst_count, 1, &c->inst_cap, sizeof *f->insts);
    if (!f->insts)
        return false;
    const struct ptx_inst *before = f->inst_count ? &f->insts[f->inst_count - 1] : NULL;
    f->insts[f->inst_count++] = (struct ptx_inst){.form = PTX_FORM_RET,
                                                  .guard = -1,
                                                  .text = "ret;",
                                                  .line = before ? before->line : 0,
                                                  .col = before ? before->col : 0,
                                                  .loc = c->loc};
    return true;
}

static bool declare_params(struct checker *c, const struct ast_var *in, struct ptx_var *vars,
                           uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct symbol *y = symbol_add(c, in[i].name, SYM_VAR);
        if (!y)
            return fail_symbol(c, in[i].name);
        y->var = &vars[i];
    }
    return true;
}

static bool check_body(struct checker *c, const struct ast_func *t, struct ptx_func *f)
{
    struct symbol *outer = scope_enter(c);

    c->f = f;
    c->inst_cap = c->var_cap = c->reg_cap = c->proto_cap = 0;
    c->fixes = NULL;
    c->loc = NULL;
    c->generation++;
    if (!declare_params(c, t->params, f->params, f->param_count) ||
        !declare_params(c, t->returns, f->returns, f->return_count) || !add_block(c, t->body) ||
        !add_final_ret(c))
        return false;
    for (struct label_fix *x = c->fixes; x; x = x->next)
        x->operand->target = x->label->target;
    scope_leave(c, outer);
    return true;
}

static bool module_bodies(struct checker *c)
{
    for (const struct ast_func *t = c->tree->funcs; t; t = t->next) {
        if (!t->has_body)
            continue;
        struct symbol *y = symbol_find(c, t->name);
        if (!check_body(c, t, y->func))
            return false;
    }
    return true;
}

/* ---- the module ---- */

static bool module_files(struct checker *c)
{
    const struct ast_module *t = c->tree;

    c->m->files = array_new(c, t->file_count + 1, sizeof *c->m->files);
    if (!c->m->files)
        return false;
    for (uint32_t i = 0; i < t->file_count; i++) {
        if (!t->files[i].s)
            continue;
        c->m->files[i] = slice_dup(c, t->files[i]);
        if (!c->m->files[i])
            return fail_memory(c);
    }
    c->m->file_count = t->file_count;
    return true;
}

static bool module_strings(struct checker *c)
{
    for (uint32_t i = 0; i < c->tree->string_count; i++) {
        const struct ast_string *s = &c->tree->string_labels[i];
        struct symbol *y = symbol_add(c, s->name, SYM_STRING);
        if (!y)
            return fail_symbol(c, s->name);
        y->index = s->at;
    }
    return true;
}

static bool module_head(struct checker *c)
{
    const struct slice target = c->tree->target;

    c->m->version_major = c->tree->version_major;
    c->m->version_minor = c->tree->version_minor;
    const char *text = slice_dup(c, target);
    if (!text)
        return fail_memory(c);
    c->m->target = text;
    char *end = NULL;
    unsigned long sm = 0;
    if (strncmp(text, "sm_", 3) == 0 && text[3] >= '1' && text[3] <= '9')
        sm = strtoul(text + 3, &end, 10);
    if (end)
        end += *end == 'a' || *end == 'f';
    if (sm < 10 || sm > 999 || *end)
        return fail_at(c, target, "expected a target such as sm_90a");
    c->target_sm = (unsigned)sm;
    return true;
}

static bool check_module(struct checker *c)
{
    return module_head(c) && module_files(c) && module_strings(c) && module_vars(c) &&
           module_funcs(c) && module_inits(c) && module_bodies(c);
}

bool ptx_module_load(struct ptx_module **out, const char *text, size_t len, struct ptx_diag *d)
{
    struct ast_module tree = {0};
    struct ptx_module *m = calloc(1, sizeof *m);
    struct checker *c = calloc(1, sizeof *c);
    bool ok = false;

    *out = NULL;
    *d = (struct ptx_diag){0};
    if (m)
        m->source = vg_strndup(&m->arena, text, len);
    if (!m || !c || !m->source) {
        diag_at(d, text, NULL, 0, 0, "out of memory");
    } else if (m->source_len = len, ast_parse(&tree, m->source, len, d)) {
        c->m = m;
        c->tree = &tree;
        c->d = d;
        c->pool.arena = &m->arena;
        c->scratch.arena = &c->scratch_arena;
        ok = check_module(c);
        vg_arena_free(&c->scratch_arena);
        ast_free(&tree);
    }
    free(c);
    if (ok)
        *out = m;
    else
        ptx_module_free(m);
    return ok;
}

void ptx_module_free(struct ptx_module *m)
{
    if (!m)
        return;
    vg_arena_free(&m->arena);
    free(m);
}

const struct ptx_func *ptx_find_func(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->func_count; i++)
        if (strcmp(m->funcs[i].name, name) == 0)
            return &m->funcs[i];
    return NULL;
}

/*
 * print.c - a checked module as canonical PTX text: flat registers, numbered labels, one statement
 * a line. Debug positions, pragmas and comments are not kept. Invariant: loading the text gives a
 * module that prints the same text.
 */
#include "opform.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct out {
    char *text;
    size_t len, cap;
    uint32_t index; /* of the instruction being printed: names its list of labels */
    bool failed;
};

static void put(struct out *o, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

static void put(struct out *o, const char *fmt, ...)
{
    va_list args, again;

    va_start(args, fmt);
    va_copy(again, args);
    const int n = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    if (!o->failed && n >= 0) {
        if (o->cap - o->len <= (size_t)n) {
            const size_t cap = (o->cap + (size_t)n + 1) * 2;
            char *wider = realloc(o->text, cap);
            o->failed = !wider;
            if (wider) {
                o->text = wider;
                o->cap = cap;
            }
        }
        if (!o->failed)
            o->len += (size_t)vsnprintf(o->text + o->len, o->cap - o->len, fmt, again);
    }
    va_end(again);
}

static const char *space_text(enum ptx_space s)
{
    switch (s) {
    case PTX_SPACE_GLOBAL:
        return ".global";
    case PTX_SPACE_SHARED:
        return ".shared";
    case PTX_SPACE_LOCAL:
        return ".local";
    case PTX_SPACE_CONST:
        return ".const";
    case PTX_SPACE_PARAM:
        return ".param";
    case PTX_SPACE_REG:
        return ".reg";
    case PTX_SPACE_GENERIC:
        break;
    }
    return "";
}

/* Variables of a function may share a name in different scopes; flat text needs a number behind it.
 */

static uint32_t var_number(const struct ptx_func *f, const struct ptx_var *v)
{
    for (uint32_t i = 0; i < f->var_count; i++)
        if (f->vars[i] == v)
            return i;
    return UINT32_MAX;
}

static void put_var_name(struct out *o, const struct ptx_func *f, const struct ptx_var *v)
{
    const uint32_t n = f ? var_number(f, v) : UINT32_MAX;

    if (n == UINT32_MAX)
        put(o, "%s", v->name);
    else
        put(o, "$v%" PRIu32, n);
}

static void put_bits(struct out *o, const struct ptx_var *v, uint64_t at, unsigned size)
{
    uint64_t bits = 0;

    for (unsigned i = 0; i < size; i++)
        bits |= (uint64_t)v->init[at + i] << (8 * i);
    if (ptx_type_class(v->type) == PTX_CLASS_FLOAT && size == 4)
        put(o, "0f%08" PRIX64, bits);
    else if (ptx_type_class(v->type) == PTX_CLASS_FLOAT && size == 8)
        put(o, "0d%016" PRIX64, bits);
    else
        put(o, "%" PRIu64, bits);
}

static const struct ptx_init_ref *ref_at(const struct ptx_var *v, uint64_t at)
{
    for (uint32_t i = 0; i < v->ref_count; i++)
        if (v->refs[i].at == at)
            return &v->refs[i];
    return NULL;
}

static void put_init(struct out *o, const struct ptx_var *v)
{
    const unsigned size = ptx_type_bits(v->type) / 8;

    if (!v->init)
        return;
    put(o, " = {");
    for (uint64_t at = 0; at < v->size; at += size) {
        const struct ptx_init_ref *r = ref_at(v, at);
        put(o, "%s", at ? ", " : "");
        if (!r)
            put_bits(o, v, at, size);
        else if (r->offset)
            put(o, "%s%+" PRId64, r->var ? r->var->name : r->func->name, r->offset);
        else
            put(o, "%s", r->var ? r->var->name : r->func->name);
    }
    put(o, "}");
}

static void put_var(struct out *o, const struct ptx_func *f, const struct ptx_var *v, bool in_list)
{
    const unsigned size = ptx_type_bits(v->type) / 8;

    if (v->is_extern)
        put(o, ".extern ");
    put(o, "%s%s .align %" PRIu32 " .%s ", space_text(v->space),
        v->managed ? " .attribute(.managed)" : "", v->align, ptx_type_text(v->type));
    put_var_name(o, f, v);
    if (v->size == 0)
        put(o, "[]");
    else if (v->size != size || v->init)
        put(o, "[%" PRIu64 "]", v->size / size);
    put_init(o, v);
    put(o, "%s", in_list ? "" : ";\n");
}

static void put_params(struct out *o, const struct ptx_var *vars, uint32_t count)
{
    put(o, "(");
    for (uint32_t i = 0; i < count; i++) {
        put(o, "%s", i ? ", " : "");
        put_var(o, NULL, &vars[i], true);
    }
    put(o, ")");
}

static const char *special_text(enum ptx_special s)
{
    static const char *const table[PTX_SPECIAL_COUNT] = {
#define X(id, text, type) text,
#include "specials.def"
    };

    return table[s];
}

/* Constants are written as the instruction's type reads them back. */
static void put_immediate(struct out *o, const struct ptx_operand *p, enum ptx_type t)
{
    if (ptx_type_class(t) == PTX_CLASS_FLOAT && ptx_type_bits(t) == 32)
        put(o, "0f%08" PRIX64, p->bits);
    else if (ptx_type_class(t) == PTX_CLASS_FLOAT && ptx_type_bits(t) == 64)
        put(o, "0d%016" PRIX64, p->bits);
    else
        put(o, "%" PRId64, (int64_t)p->bits);
}

static void put_offset(struct out *o, int64_t offset)
{
    if (offset)
        put(o, "%+" PRId64, offset);
}

static void put_operand(struct out *o, const struct ptx_func *f, const struct ptx_operand *p,
                        enum ptx_type t);

static void put_elements(struct out *o, const struct ptx_func *f, const struct ptx_operand *p,
                         enum ptx_type t, const char *open, const char *close)
{
    put(o, "%s", open);
    for (uint32_t i = 0; i < p->elem_count; i++) {
        put(o, "%s", i ? ", " : "");
        put_operand(o, f, &p->elems[i], t);
    }
    put(o, "%s", close);
}

static void put_operand(struct out *o, const struct ptx_func *f, const struct ptx_operand *p,
                        enum ptx_type t)
{
    switch (p->kind) {
    case PTX_OPND_REG:
        put(o, "%s%%r%" PRId32, p->negated ? "!" : "", p->reg);
        break;
    case PTX_OPND_IMM:
        put_immediate(o, p, t);
        break;
    case PTX_OPND_SPECIAL:
        put(o, "%s", special_text(p->special));
        break;
    case PTX_OPND_VAR:
        put_var_name(o, f, p->var);
        put_offset(o, p->offset);
        break;
    case PTX_OPND_FUNC:
        put(o, "%s", p->func->name);
        break;
    case PTX_OPND_LABEL:
        put(o, "$L%" PRIu32, p->target);
        break;
    case PTX_OPND_LABELS:
        put(o, "$T%" PRIu32, o->index);
        break;
    case PTX_OPND_PROTO:
        put(o, "$P%" PRIu32, p->target);
        break;
    case PTX_OPND_SINK:
        put(o, "_");
        break;
    case PTX_OPND_VECTOR:
        put_elements(o, f, p, t, "{", "}");
        break;
    case PTX_OPND_LIST:
        put_elements(o, f, p, t, "(", ")");
        break;
    case PTX_OPND_ADDR:
        put(o, "[");
        put_operand(o, f, &p->elems[0], PTX_TYPE_B64);
        put_offset(o, p->offset);
        put(o, "]");
        break;
    }
    if (p->pair) {
        put(o, "|");
        put_operand(o, f, p->pair, PTX_TYPE_PRED);
    }
}

static void put_call(struct out *o, const struct ptx_func *f, const struct ptx_inst *in)
{
    const struct ptx_operand *p = in->operands;

    put(o, " ");
    if (p[0].elem_count) {
        put_operand(o, f, &p[0], PTX_TYPE_NONE);
        put(o, ", ");
    }
    put_operand(o, f, &p[1], PTX_TYPE_B64);
    if (p[2].elem_count || p[3].kind != PTX_OPND_SINK) {
        put(o, ", ");
        put_operand(o, f, &p[2], PTX_TYPE_NONE);
    }
    if (p[3].kind != PTX_OPND_SINK) {
        put(o, ", ");
        put_operand(o, f, &p[3], PTX_TYPE_NONE);
    }
}

/* The opcode word as it was written: modifiers and types in their order. */
static void put_opcode(struct out *o, const struct ptx_inst *in)
{
    const char *s = in->text;

    if (*s == '@') {
        s++;
        s += strspn(s, "! ");
        s += strcspn(s, " ");
        s += strspn(s, " ");
    }
    put(o, "%.*s", (int)strcspn(s, " ;%[{(-+!,\""), s);
}

static void put_inst(struct out *o, const struct ptx_func *f, const struct ptx_inst *in)
{
    struct op_shape shape = {0};

    if (in->refusal) { /* it has no operands to print; the statement stays as it was */
        put(o, "    %s\n", in->text);
        return;
    }
    put(o, "    ");
    if (in->guard >= 0)
        put(o, "@%s%%r%" PRId32 " ", in->guard_negated ? "!" : "", in->guard);
    put_opcode(o, in);
    if (in->form == PTX_FORM_CALL) {
        put_call(o, f, in);
    } else {
        for (unsigned i = 0; i < in->operand_count; i++) {
            const bool known = op_operand_shape(in, i, &shape);
            put(o, "%s", i ? ", " : " ");
            put_operand(o, f, &in->operands[i],
                        known ? op_shape_type(&shape, in->types) : PTX_TYPE_NONE);
        }
    }
    put(o, ";\n");
}

/* Label lists stand in front of the body; they are named after the instruction that uses them. */
static void put_tables(struct out *o, const struct ptx_func *f)
{
    for (uint32_t i = 0; i < f->proto_count; i++) {
        put(o, "    $P%" PRIu32 ": .callprototype ", i);
        if (f->protos[i].return_count)
            put_params(o, f->protos[i].returns, f->protos[i].return_count);
        put(o, " _ ");
        put_params(o, f->protos[i].params, f->protos[i].param_count);
        put(o, ";\n");
    }
    for (uint32_t i = 0; i < f->inst_count; i++)
        for (unsigned k = 0; k < f->insts[i].operand_count; k++) {
            const struct ptx_operand *p = &f->insts[i].operands[k];
            if (p->kind != PTX_OPND_LABELS)
                continue;
            put(o, "    $T%" PRIu32 ": %s ", i,
                f->insts[i].form == PTX_FORM_CALL ? ".calltargets" : ".branchtargets");
            for (uint32_t e = 0; e < p->elem_count; e++) {
                put(o, "%s", e ? ", " : "");
                put_operand(o, f, &p->elems[e], PTX_TYPE_NONE);
            }
            put(o, ";\n");
        }
}

static void mark(bool *targets, const struct ptx_operand *p)
{
    if (p->kind == PTX_OPND_LABEL)
        targets[p->target] = true;
    for (uint32_t i = 0; p->kind == PTX_OPND_LABELS && i < p->elem_count; i++)
        mark(targets, &p->elems[i]);
}

static bool *branch_targets(struct out *o, const struct ptx_func *f)
{
    bool *targets = calloc((size_t)f->inst_count + 1, sizeof *targets);

    o->failed = o->failed || !targets;
    for (uint32_t i = 0; targets && i < f->inst_count; i++)
        for (unsigned k = 0; k < f->insts[i].operand_count; k++)
            mark(targets, &f->insts[i].operands[k]);
    return targets;
}

static void put_body(struct out *o, const struct ptx_func *f)
{
    bool *targets = branch_targets(o, f);

    put(o, "{\n");
    for (uint32_t i = 0; i < f->reg_count; i++)
        put(o, "    .reg .%s %%r%" PRIu32 ";\n", ptx_type_text(f->regs[i].type), i);
    for (uint32_t i = 0; i < f->var_count; i++) {
        put(o, "    ");
        put_var(o, f, f->vars[i], false);
    }
    put_tables(o, f);
    for (uint32_t i = 0; targets && i < f->inst_count; i++) {
        o->index = i;
        if (targets[i])
            put(o, "$L%" PRIu32 ":\n", i);
        put_inst(o, f, &f->insts[i]);
    }
    put(o, "}\n");
    free(targets);
}

static void put_triple(struct out *o, const char *name, const uint32_t n[3])
{
    if (n[0])
        put(o, " %s %" PRIu32 ", %" PRIu32 ", %" PRIu32, name, n[0], n[1], n[2]);
}

static void put_head(struct out *o, const struct ptx_func *f)
{
    put(o, "\n%s%s ", f->is_extern ? ".extern " : "", f->entry ? ".entry" : ".func");
    if (f->return_count) {
        put_params(o, f->returns, f->return_count);
        put(o, " ");
    }
    put(o, "%s ", f->name);
    put_params(o, f->params, f->param_count);
    put_triple(o, ".maxntid", f->maxntid);
    put_triple(o, ".reqntid", f->reqntid);
    put_triple(o, ".reqnctapercluster", f->cluster);
    if (f->maxnreg)
        put(o, " .maxnreg %" PRIu32, f->maxnreg);
    if (f->minnctapersm)
        put(o, " .minnctapersm %" PRIu32, f->minnctapersm);
}

char *ptx_module_print(const struct ptx_module *m, size_t *len)
{
    struct out o = {0};

    put(&o, ".version %" PRIu32 ".%" PRIu32 "\n.target %s\n.address_size 64\n\n", m->version_major,
        m->version_minor, m->target);
    for (uint32_t i = 0; i < m->var_count; i++)
        put_var(&o, NULL, m->vars[i], false);
    for (uint32_t i = 0; i < m->func_count;
         i++) { /* declared first: initialisers and calls may look ahead */
        put_head(&o, &m->funcs[i]);
        put(&o, ";\n");
    }
    for (uint32_t i = 0; i < m->func_count; i++) {
        if (m->funcs[i].is_extern)
            continue;
        put_head(&o, &m->funcs[i]);
        put(&o, "\n");
        put_body(&o, &m->funcs[i]);
    }
    if (o.failed) {
        free(o.text);
        return NULL;
    }
    *len = o.len;
    return o.text;
}

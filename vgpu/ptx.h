/*
 * ptx.h - a PTX module as the front end hands it over: parsed, resolved, each instruction matched
 * to one row of ops.def. Holds data only; lex.c parse.c verify.c fill it, lower.c reads it.
 * Invariant: everything lives in the module's arena, and an instruction whose form is not DONE
 * carries a refusal instead of being dropped.
 */
#ifndef VGPU_PTX_H
#define VGPU_PTX_H

#include "vg_arena.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* types.def rows: X(id, "spelling", bits, class) -> PTX_TYPE_B8 ... */
enum ptx_type {
    PTX_TYPE_NONE = 0,
#define X(id, text, bits, cls) PTX_TYPE_##id,
#include "types.def"
    PTX_TYPE_COUNT
};
enum ptx_type_class {
    PTX_CLASS_BITS,
    PTX_CLASS_UNSIGNED,
    PTX_CLASS_SIGNED,
    PTX_CLASS_FLOAT,
    PTX_CLASS_PRED,
    PTX_CLASS_OTHER
};
unsigned ptx_type_bits(enum ptx_type t); /* 1 for pred */
enum ptx_type_class ptx_type_class(enum ptx_type t);
const char *ptx_type_text(enum ptx_type t);

/* ops.def rows -> PTX_FORM_<id>; modifiers that may vary inside a row are listed in mods.def ->
 * PTX_MOD_<id>. */
enum ptx_form {
    PTX_FORM_NONE = 0,
#define FORM(id, ...) PTX_FORM_##id,
#include "ops.def"
    PTX_FORM_COUNT
};
enum ptx_mod {
    PTX_MOD_NONE = 0,
#define X(id, text, kind) PTX_MOD_##id,
#include "mods.def"
    PTX_MOD_COUNT
};
enum ptx_special { /* specials.def: %tid.x ... */
#define X(id, text, type) PTX_SPECIAL_##id,
#include "specials.def"
                   PTX_SPECIAL_COUNT
};
enum ptx_space {
    PTX_SPACE_GENERIC,
    PTX_SPACE_GLOBAL,
    PTX_SPACE_SHARED,
    PTX_SPACE_LOCAL,
    PTX_SPACE_CONST,
    PTX_SPACE_PARAM,
    PTX_SPACE_REG
};

enum ptx_operand_kind {
    PTX_OPND_REG, /* reg: index into function->regs */
    PTX_OPND_IMM, /* bits: raw value, sign extended integers or float bits of the instruction's type
                   */
    PTX_OPND_SPECIAL, /* special */
    PTX_OPND_VAR,     /* var: address of a variable, plus offset (mov, cvta) */
    PTX_OPND_FUNC,    /* func: callee or function address */
    PTX_OPND_LABEL,   /* target: instruction index inside the function; a body always ends in ret,
                         exit, bra or trap, so it is in range */
    PTX_OPND_LABELS,  /* brx.idx target list: elems/elem_count hold LABEL operands */
    PTX_OPND_ADDR,    /* [base + offset]: base = elems[0] of kind REG, VAR or IMM; further elems =
                         further bracket members */
    PTX_OPND_VECTOR,  /* { a, b, ... } : elems */
    PTX_OPND_LIST,    /* ( a, b, ... ) of call */
    PTX_OPND_PROTO,   /* .callprototype label of an indirect call */
    PTX_OPND_SINK     /* _ */
};
struct ptx_operand {
    enum ptx_operand_kind kind;
    bool negated; /* !p as a source operand, or -/~ where the grammar allows */
    int32_t reg;  /* REG */
    enum ptx_special special;
    uint64_t bits;  /* IMM */
    int64_t offset; /* VAR, ADDR */
    struct ptx_var *var;
    struct ptx_func *func;
    uint32_t target;
    struct ptx_operand *elems;
    uint32_t elem_count;
    struct ptx_operand *pair; /* d|p: the second destination */
    uint32_t line, col;
};
struct ptx_loc {                      /* one .loc with its inline chain */
    uint32_t file, line, col;         /* file: number of a .file directive, 0 = none */
    const char *function;             /* of the inlined function, or NULL */
    const struct ptx_loc *inlined_at; /* outwards, or NULL */
};
struct ptx_inst {
    enum ptx_form form;  /* PTX_FORM_NONE when refused */
    const char *refusal; /* NULL, or the whole diagnostic: line, column, form, reason */
    int32_t guard;       /* predicate register index, -1 = always */
    bool guard_negated;
    enum ptx_type types[4]; /* in the order written */
    uint8_t type_count;
    enum ptx_mod mods[12]; /* all modifiers that are not types, in the order written (with repeats,
                              e.g. .row.col) */
    uint8_t mod_count;
    enum ptx_space space; /* of ld/st/atom/red/cvta/isspacep/...: from its modifiers */
    struct ptx_operand
        *operands; /* as written, optional ones that are absent are not there. call: always four:
                      LIST of result slots, FUNC or REG, LIST of argument slots, and PROTO (target:
                      index in func->protos), LABELS (elems: FUNC, from .calltargets) or SINK; the
                      slots are VAR operands. */
    uint8_t operand_count;
    uint32_t line, col; /* in the PTX text */
    const char *text;   /* statement as written, without guard-leading blanks, NUL-terminated */
    const struct ptx_loc *loc; /* NULL without -lineinfo */
};
struct ptx_reg {
    const char *name;
    enum ptx_type type;
};
struct ptx_var {
    const char *name;
    enum ptx_space space; /* SHARED LOCAL CONST GLOBAL PARAM (and call-sequence .param slots: PARAM
                             with slot = true) */
    enum ptx_type type;
    uint32_t align;
    uint64_t size; /* bytes; 0 for extern .shared[] */
    bool is_extern, slot, managed;
    const unsigned char *init; /* size bytes or NULL (zero) */
    struct ptx_init_ref {
        uint64_t at;
        struct ptx_var *var;
        struct ptx_func *func;
        int64_t offset;
    } * refs; /* addresses inside initialisers */
    uint32_t ref_count;
    uint64_t offset; /* filled by verify for PARAM (offset in the parameter block), by lower for
                        SHARED, LOCAL; device address for GLOBAL, CONST */
    uint64_t owner;  /* free for the runtime: device address once allocated */
};
struct ptx_func {
    const char *name;      /* mangled */
    bool entry, is_extern; /* extern: vprintf, malloc, free, __assertfail */
    struct ptx_var *params;
    uint32_t param_count; /* in order; offsets filled */
    struct ptx_var *returns;
    uint32_t return_count;
    uint32_t param_size; /* bytes of the whole parameter block */
    struct ptx_reg *regs;
    uint32_t reg_count; /* scoped names already resolved */
    struct ptx_var **vars;
    uint32_t var_count; /* function-scope .shared .local .param */
    struct ptx_inst *insts;
    uint32_t inst_count;
    uint32_t reqntid[3], maxntid[3], maxnreg, minnctapersm; /* 0 = absent */
    uint32_t cluster[3];
    struct ptx_proto {
        const char *name;
        struct ptx_var *params;
        uint32_t param_count;
        struct ptx_var *returns;
        uint32_t return_count;
    } * protos;
    uint32_t proto_count;
    const char *refusal;     /* first refusal inside, NULL if every instruction is DONE */
    struct program *program; /* set by lower at the first launch */
    struct ptx_module *module;
};
struct ptx_module {
    struct vg_arena arena;
    const char *source;
    size_t source_len;
    uint32_t version_major, version_minor;
    const char *target; /* "sm_90a" */
    struct ptx_func *funcs;
    uint32_t func_count;
    struct ptx_var **vars;
    uint32_t var_count; /* module scope */
    const char **files;
    uint32_t file_count; /* files[n] = path of .file n, NULL holes */
};
struct ptx_diag {
    uint32_t line, col;
    char text[512];
    char source[160];
};

/* Parses and verifies `len` bytes of PTX. On a malformed module returns false and fills *d
 * (line:col, what was found, what was expected). Unknown instructions are not an error here: they
 * become refusals of their function. The text is copied into the module. */
bool ptx_module_load(struct ptx_module **out, const char *text, size_t len, struct ptx_diag *d);
void ptx_module_free(struct ptx_module *m);
/* Canonical text: print(parse(x)) is a fixed point. Caller frees. */
char *ptx_module_print(const struct ptx_module *m, size_t *len);
const struct ptx_func *ptx_find_func(const struct ptx_module *m, const char *name);
/* True when the instruction carries the modifier. */
bool ptx_has_mod(const struct ptx_inst *in, enum ptx_mod mod);
const char *ptx_form_text(enum ptx_form f); /* "mad.lo" */

#endif

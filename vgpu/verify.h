/*
 * verify.h - what verify.c (modules, functions, variables) and resolve.c (names, operands) share
 * while a module is checked. Internal to the front end. Invariant: a checker lives as long as one
 * call of ptx_module_load.
 */
#ifndef VGPU_VERIFY_H
#define VGPU_VERIFY_H

#include "ast.h"
#include "opform.h"

enum symbol_kind {
    SYM_REG,
    SYM_RANGE,
    SYM_VAR,
    SYM_FUNC,
    SYM_LABEL,
    SYM_TARGETS,
    SYM_PROTO,
    SYM_STRING
};

struct symbol {
    struct slice name; /* RANGE: without the number */
    enum symbol_kind kind;
    uint32_t hash, depth; /* depth: of the scope that declares it */
    uint32_t index; /* REG, RANGE: first register; PROTO: index in func->protos; STRING: place in
                       the bytes */
    uint32_t count; /* RANGE: number of registers */
    struct ptx_var *var;               /* VAR */
    struct ptx_func *func;             /* FUNC */
    const struct ast_targets *targets; /* TARGETS */
    uint32_t target;                   /* LABEL: instruction index */
    struct symbol *chain;              /* next in the bucket */
    struct symbol *scope_next;         /* next of the same scope */
};

enum { OLDEST_SM = 75 }; /* what ops.def gives forms that every target has */
enum { SYMBOL_BUCKETS = 1024, WORD_BUCKETS = 512, LOC_BUCKETS = 256, WORD_FORMS = 4 };

struct word_entry { /* an opcode word that was seen before, with the rows that fit it */
    struct op_word word;
    enum ptx_form forms[WORD_FORMS];
    unsigned form_count;
    uint32_t hash;
    struct word_entry *chain;
};

struct label_fix { /* an operand that waits for its label's place */
    struct ptx_operand *operand;
    const struct symbol *label;
    struct label_fix *next;
};

struct checker {
    struct ptx_module *m;
    const struct ast_module *tree;
    struct vg_pool pool; /* in the module's arena */
    struct vg_arena scratch_arena;
    struct vg_pool scratch;
    struct ptx_diag *d;
    bool no_memory;
    unsigned target_sm; /* 90 for sm_90a */

    struct symbol *buckets[SYMBOL_BUCKETS];
    struct symbol *scope; /* symbols of the innermost scope */
    struct symbol *spare; /* symbols of scopes that ended */
    uint32_t depth;
    struct word_entry *words[WORD_BUCKETS];

    /* the function being checked */
    struct ptx_func *f;
    uint32_t inst_cap, var_cap, reg_cap, proto_cap;
    struct label_fix *fixes;
    const struct ptx_loc *loc; /* of the next instruction */
    struct loc_entry {
        uint32_t generation;
        const struct ptx_loc *loc;
    } locs[LOC_BUCKETS];
    uint32_t generation;
    char message[512]; /* why the current instruction is refused */
};

/* names: resolve.c */
uint32_t name_hash(struct slice s);
struct symbol *symbol_find(struct checker *c, struct slice name);
/* Finds a register by name, also one declared by number; -1 when there is none. */
int32_t register_find(struct checker *c, struct slice name);
/* Declares a name in the innermost scope; NULL when out of memory or already declared there
 * (message set). */
struct symbol *symbol_add(struct checker *c, struct slice name, enum symbol_kind kind);
struct symbol *scope_enter(struct checker *c); /* returns the outer scope for scope_leave */
void scope_leave(struct checker *c, struct symbol *outer);
const char *slice_dup(struct checker *c, struct slice s);

/* Sets the message; returns false. */
bool complain(struct checker *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Fills `in` from the statement: form, types, modifiers, operands. False with c->message set when
 * it is to be refused. */
bool resolve_statement(struct checker *c, const struct ast_inst *s, struct ptx_inst *in);

#endif

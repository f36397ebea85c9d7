/*
 * ast.h - the tree that parse.c builds from PTX text, before any name is looked up.
 * Holds shapes only: an opcode is a word, an operand a name. Invariant: names point into the text,
 * nodes live in the tree's arena.
 */
#ifndef VGPU_AST_H
#define VGPU_AST_H

#include "ptx.h"

/* Cuts small pieces off arena blocks; an arena alone would spend 64 bytes on each. */
struct vg_pool {
    struct vg_arena *arena;
    unsigned char *at;
    size_t left;
};
void *pool_alloc(struct vg_pool *p,
                 size_t size); /* zeroed, 16-byte aligned, NULL when out of memory */

struct slice {
    const char *s; /* not NUL-terminated; NULL when absent */
    uint32_t len;
    uint32_t line, col;
};

enum ast_operand_kind {
    AST_NAME,
    AST_INT,
    AST_F32,
    AST_F64,
    AST_ADDR,
    AST_VECTOR,
    AST_LIST,
    AST_SINK
};

struct ast_operand {
    enum ast_operand_kind kind;
    bool negated;              /* !name */
    struct slice name;         /* NAME; for all kinds the position */
    uint64_t bits;             /* INT, F32, F64 */
    int64_t offset;            /* NAME, ADDR: added to the name or base */
    struct ast_operand *elems; /* ADDR: base, then further members; VECTOR, LIST */
    uint32_t elem_count;
    struct ast_operand *pair; /* d|p */
};

struct ast_init { /* one element of an initialiser */
    enum { INIT_INT, INIT_F32, INIT_F64, INIT_NAME, INIT_LIST } kind;
    bool generic; /* generic(name) */
    uint64_t bits;
    int64_t offset;
    struct slice name; /* NAME; for all kinds the position */
    struct ast_init *elems;
    uint32_t elem_count;
};

enum ast_linkage { LINK_NONE, LINK_EXTERN, LINK_VISIBLE, LINK_WEAK, LINK_COMMON };

struct ast_var { /* a variable, parameter or register declaration */
    struct slice name;
    enum ptx_space space;
    enum ptx_type type;
    enum ast_linkage linkage;
    uint32_t align; /* 0: natural */
    uint32_t vec;   /* 1, 2, 4 */
    uint32_t range; /* name<range>, 0 without */
    bool array, managed;
    uint64_t count; /* elements of the array, 1 without, 0 for [] */
    uint32_t dims;  /* number of [..] */
    struct ast_init *init;
};

struct ast_inst {
    struct slice guard; /* predicate name */
    bool guard_negated;
    struct slice opcode; /* with modifiers */
    struct slice text;   /* from the guard or opcode to the semicolon */
    struct ast_operand *operands;
    uint32_t operand_count;
};

struct ast_loc {
    uint32_t file, line, col;
    struct slice function; /* label in .debug_str, or absent */
    int64_t function_offset;
    bool inlined;
    uint32_t at_file, at_line, at_col;
};

struct ast_proto { /* .callprototype */
    struct slice name;
    struct ast_var *params, *returns;
    uint32_t param_count, return_count;
};

struct ast_targets { /* .branchtargets or .calltargets */
    struct slice name;
    struct slice *names;
    uint32_t count;
};

enum ast_item_kind {
    ITEM_VAR,
    ITEM_LABEL,
    ITEM_INST,
    ITEM_BLOCK,
    ITEM_PROTO,
    ITEM_TARGETS,
    ITEM_LOC
};

struct ast_item { /* one thing inside a block, in the order written */
    enum ast_item_kind kind;
    struct ast_item *next;
    union {
        struct ast_var var;
        struct slice label;
        struct ast_inst inst;
        struct ast_item *block;
        struct ast_proto proto;
        struct ast_targets targets;
        struct ast_loc loc;
    } u;
};

struct ast_func {
    struct slice name;
    bool entry, has_body;
    enum ast_linkage linkage;
    struct ast_var *params, *returns;
    uint32_t param_count, return_count;
    struct ast_item *body;
    uint32_t reqntid[3], maxntid[3], cluster[3], maxnreg, minnctapersm;
    struct ast_func *next;
};

struct ast_string { /* a label of .debug_str and where its bytes begin */
    struct slice name;
    uint32_t at;
};

struct ast_module {
    struct vg_arena arena;
    uint32_t version_major, version_minor;
    struct slice target;
    struct ast_func *funcs;
    struct ast_item *vars; /* ITEM_VAR only */
    struct slice *files;   /* by number */
    uint32_t file_count;
    char *strings; /* bytes of .debug_str */
    uint32_t string_size;
    struct ast_string *string_labels;
    uint32_t string_count;
};

/* Parses `text` (NUL-terminated, must outlive the tree). On malformed text returns false and fills
 * *d; *out is then empty. */
bool ast_parse(struct ast_module *out, const char *text, size_t len, struct ptx_diag *d);
void ast_free(struct ast_module *m); /* accepts the empty tree */

/* Fills *d with a position, a message and the source line of `at`, which must point into the
 * NUL-terminated `text` or be NULL. */
void diag_at(struct ptx_diag *d, const char *text, const char *at, uint32_t line, uint32_t col,
             const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif

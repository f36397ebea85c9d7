/*
 * opform.h - the rows of ops.def as data, and the match of an instruction's opcode against them.
 * Looks at the opcode word only; verify.c tries the operands. Invariant: the tables are constant.
 */
#ifndef VGPU_OPFORM_H
#define VGPU_OPFORM_H

#include "ptx.h"

/* Sets of modifiers that may stand for each other in a row: mods.def says which modifier is in
 * which. */
#define K_SPACE     (1ull << 0)
#define K_SEM       (1ull << 1)
#define K_MMIO      (1ull << 2)
#define K_SCOPE     (1ull << 3)
#define K_CACHE     (1ull << 4)
#define K_NC        (1ull << 5)
#define K_L1        (1ull << 6)
#define K_L2        (1ull << 7)
#define K_HINT      (1ull << 8)
#define K_AHEAD     (1ull << 9)
#define K_LEVEL     (1ull << 10)
#define K_VEC       (1ull << 11)
#define K_ROUND     (1ull << 12)
#define K_RNA       (1ull << 13)
#define K_IROUND    (1ull << 14)
#define K_FTZ       (1ull << 15)
#define K_SAT       (1ull << 16)
#define K_SATFINITE (1ull << 17)
#define K_RELU      (1ull << 18)
#define K_NAN       (1ull << 19)
#define K_XORSIGN   (1ull << 20)
#define K_ABS       (1ull << 21)
#define K_NOFTZ     (1ull << 22)
#define K_CMP       (1ull << 23)
#define K_CMPF      (1ull << 24)
#define K_BOOL      (1ull << 25)
#define K_ATOM      (1ull << 26)
#define K_REDUX     (1ull << 27)
#define K_SHF_DIR   (1ull << 28)
#define K_SHF_MODE  (1ull << 29)
#define K_PRMT      (1ull << 30)
#define K_TESTP     (1ull << 31)
#define K_UNI       (1ull << 32)
#define K_ALIGNED   (1ull << 33)
#define K_SHFL      (1ull << 34)
#define K_VOTE      (1ull << 35)
#define K_READ      (1ull << 36)
#define K_NOINC     (1ull << 37)
#define K_DONE      (1ull << 38)
#define K_CAST      (1ull << 39)
#define K_PARITY    (1ull << 40)
#define K_PROXY     (1ull << 41)
#define K_RESTRICT  (1ull << 42)
#define K_DIM       (1ull << 43)
#define K_TILE      (1ull << 44)
#define K_ROWCOL    (1ull << 45)
#define K_TRANS     (1ull << 46)
#define K_NUM       (1ull << 47)
#define K_SHAPE     (1ull << 48)
#define K_WGSHAPE   (1ull << 49)

enum op_state { OP_DONE, OP_PARSED, OP_REFUSED };
enum op_need { NEED_END, NEED_BEGIN, NEED_YES, NEED_MAYBE, NEED_ANY };

struct op_slot { /* one place in the list of modifiers of a row */
    enum op_need need;
    enum ptx_mod mod; /* this one, or */
    uint64_t kinds;   /* one of these sets */
};

enum { OP_SLOTS = 14, OP_TYPES = 4, OP_PIECES = 12 };

struct op_form {
    const char *id, *opcode;
    struct op_slot slots[OP_SLOTS];
    uint64_t
        types[OP_TYPES]; /* sets of types, bit = enum ptx_type; all ones first: not looked at */
    const char *operands;
    const char *cls; /* name of the INSN_ class */
    unsigned sm;
    enum op_state state;
    const char *meaning;
};

/* The row of a form; form must be a real one. */
const struct op_form *op_form(enum ptx_form f);
bool op_any_types(const struct op_form *row);
unsigned op_type_count(const struct op_form *row);

/* The opcode of one statement taken apart: "mad.lo.s32" -> mad, {LO}, {S32}. */
struct op_word {
    const char *text;
    uint32_t len, opcode_len;
    enum ptx_mod mods[OP_PIECES];
    enum ptx_type types[OP_TYPES];
    unsigned mod_count, type_count;
    const char
        *unknown; /* first piece that is neither modifier nor type, without its dot; NULL if none */
    uint32_t unknown_len;
    bool too_long; /* more pieces than any row has */
};
void op_split(struct op_word *out, const char *text, uint32_t len);
/* The first form after `after` (PTX_FORM_NONE: from the start) whose opcode, modifiers and types
 * fit; PTX_FORM_NONE when none does. */
enum ptx_form op_match(const struct op_word *w, enum ptx_form after);
/* Says in one sentence why op_match found nothing. */
void op_explain(const struct op_word *w, char *buf, size_t size);
bool op_mod_in(enum ptx_mod m, uint64_t kinds);
const char *op_mod_text(enum ptx_mod m);

/* One operand of a row: the words of its `operands` column. */
struct op_shape {
    char kind; /* D S A L B C I M X, or '*' */
    char type; /* 0..3 w p h u l, or 0 */
    bool optional, wider, vector, pack, address, pair;
};
/* Reads the next word; false at the end of the column. */
bool op_next_shape(const char **at, struct op_shape *out);
/* The type of such an operand in an instruction with these types. */
enum ptx_type op_shape_type(const struct op_shape *s, const enum ptx_type types[OP_TYPES]);
/* The shape of operand n of `operand_count`: when some optional ones are missing, they are the last
 * optional ones of the column. */
bool op_shape_at(const char *column, unsigned operand_count, unsigned n, struct op_shape *out);
bool op_operand_shape(const struct ptx_inst *in, unsigned n, struct op_shape *out);
/* True when the column allows this number of operands. */
bool op_shape_count(const char *column, unsigned operand_count);

#endif

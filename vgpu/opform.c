/*
 * opform.c - the tables made from ops.def, mods.def and types.def, and the match of opcode words.
 * Knows nothing of operands beyond their column. Invariant: nothing mutable.
 */
#include "opform.h"

#include <stdio.h>
#include <string.h>

#define B(id)     (1ull << PTX_TYPE_##id)
#define T_B16     B(B16)
#define T_B32     B(B32)
#define T_B64     B(B64)
#define T_B128    B(B128)
#define T_B1024   B(B1024)
#define T_U8      B(U8)
#define T_S8      B(S8)
#define T_U16     B(U16)
#define T_S16     B(S16)
#define T_U32     B(U32)
#define T_S32     B(S32)
#define T_U64     B(U64)
#define T_S64     B(S64)
#define T_I16     (B(U16) | B(S16))
#define T_I32     (B(U32) | B(S32))
#define T_I64     (B(U64) | B(S64))
#define T_ANY_INT (B(U8) | B(S8) | T_I16 | T_I32 | T_I64)
#define T_F16     B(F16)
#define T_F16X2   B(F16X2)
#define T_BF16    B(BF16)
#define T_BF16X2  B(BF16X2)
#define T_TF32    B(TF32)
#define T_F32     B(F32)
#define T_F32X2   B(F32X2)
#define T_F64     B(F64)
#define T_U16X2   B(U16X2)
#define T_S16X2   B(S16X2)
#define T_PRED    B(PRED)
#define T_B1      B(B1)
#define T_U4      B(U4)
#define T_S4      B(S4)
#define T_E4M3    B(E4M3)
#define T_E5M2    B(E5M2)
#define T_E4M3X2  B(E4M3X2)
#define T_E5M2X2  B(E5M2X2)
#define T_MEM                                                                                      \
    (B(B8) | B(B16) | B(B32) | B(B64) | B(B128) | B(U8) | B(S8) | T_I16 | T_I32 | T_I64 | B(F32) | \
     B(F64))
#define T_MMA                                                                                      \
    (B(F16) | B(BF16) | B(TF32) | B(F64) | B(U8) | B(S8) | B(U4) | B(S4) | B(E4M3) | B(E5M2))

#define F(id)                                                                                      \
    {                                                                                              \
        NEED_YES, PTX_MOD_##id, 0                                                                  \
    }
#define OF(id)                                                                                     \
    {                                                                                              \
        NEED_MAYBE, PTX_MOD_##id, 0                                                                \
    }
#define Q(kinds)                                                                                   \
    {                                                                                              \
        NEED_YES, PTX_MOD_NONE, (kinds)                                                            \
    }
#define O(kinds)                                                                                   \
    {                                                                                              \
        NEED_MAYBE, PTX_MOD_NONE, (kinds)                                                          \
    }
#define M(...)                                                                                     \
    {                                                                                              \
        {NEED_BEGIN, PTX_MOD_NONE, 0}, __VA_ARGS__                                                 \
    }
#define M_ANY                                                                                      \
    {                                                                                              \
        {NEED_BEGIN, PTX_MOD_NONE, 0}, { NEED_ANY, PTX_MOD_NONE, 0 }                               \
    }
#define T0                                                                                         \
    {                                                                                              \
        0                                                                                          \
    }
#define T(a)                                                                                       \
    {                                                                                              \
        (a)                                                                                        \
    }
#define T2(a, b)                                                                                   \
    {                                                                                              \
        (a), (b)                                                                                   \
    }
#define T3(a, b, c)                                                                                \
    {                                                                                              \
        (a), (b), (c)                                                                              \
    }
#define T4(a, b, c, d)                                                                             \
    {                                                                                              \
        (a), (b), (c), (d)                                                                         \
    }
#define T_ANY                                                                                      \
    {                                                                                              \
        UINT64_MAX                                                                                 \
    }

static const struct op_form forms[PTX_FORM_COUNT] = {
#define FORM(id, opcode, mods, types, operands, cls, sm, state, meaning)                           \
    [PTX_FORM_##id] = {#id, opcode, mods, types, operands, #cls, sm, OP_##state, meaning},
#include "ops.def"
};

static const struct {
    const char *text;
    uint64_t kinds;
} mods[PTX_MOD_COUNT] = {
#define X(id, text, kinds) [PTX_MOD_##id] = {text, kinds},
#include "mods.def"
};

static const struct {
    const char *text;
    unsigned bits;
    enum ptx_type_class cls;
} types[PTX_TYPE_COUNT] = {
    [PTX_TYPE_NONE] = {"", 0, PTX_CLASS_OTHER},
#define X(id, text, bits, cls) [PTX_TYPE_##id] = {text, bits, PTX_CLASS_##cls},
#include "types.def"
};

unsigned ptx_type_bits(enum ptx_type t) { return types[t].bits; }
enum ptx_type_class ptx_type_class(enum ptx_type t) { return types[t].cls; }
const char *ptx_type_text(enum ptx_type t) { return types[t].text; }
const char *op_mod_text(enum ptx_mod m) { return m == PTX_MOD_NONE ? "" : mods[m].text; }
const struct op_form *op_form(enum ptx_form f) { return &forms[f]; }
bool op_any_types(const struct op_form *row) { return row->types[0] == UINT64_MAX; }
bool op_mod_in(enum ptx_mod m, uint64_t kinds) { return (mods[m].kinds & kinds) != 0; }

unsigned op_type_count(const struct op_form *row)
{
    unsigned n = 0;

    while (n < OP_TYPES && row->types[n])
        n++;
    return n;
}

const char *ptx_form_text(enum ptx_form f)
{
    return f > PTX_FORM_NONE && f < PTX_FORM_COUNT ? forms[f].opcode : "";
}

bool ptx_has_mod(const struct ptx_inst *in, enum ptx_mod mod)
{
    for (unsigned i = 0; i < in->mod_count; i++)
        if (in->mods[i] == mod)
            return true;
    return false;
}

static bool same(const char *a, uint32_t len, const char *b)
{
    return strncmp(a, b, len) == 0 && b[len] == '\0';
}

static enum ptx_type find_type(const char *s, uint32_t len)
{
    for (int i = 1; i < PTX_TYPE_COUNT; i++)
        if (types[i].text[0] == s[0] && same(s, len, types[i].text))
            return (enum ptx_type)i;
    return PTX_TYPE_NONE;
}

static enum ptx_mod find_mod(const char *s, uint32_t len)
{
    for (int i = 1; i < PTX_MOD_COUNT; i++)
        if (mods[i].text[0] == s[0] && same(s, len, mods[i].text))
            return (enum ptx_mod)i;
    return PTX_MOD_NONE;
}

static uint32_t piece_len(const char *s, uint32_t len)
{
    const char *dot = memchr(s, '.', len);

    return dot ? (uint32_t)(dot - s) : len;
}

void op_split(struct op_word *out, const char *text, uint32_t len)
{
    *out = (struct op_word){.text = text, .len = len, .opcode_len = piece_len(text, len)};
    for (uint32_t at = out->opcode_len; at < len;) {
        const char *piece = text + at + 1;
        const uint32_t n = piece_len(piece, len - at - 1);
        const enum ptx_type t = find_type(piece, n);
        const enum ptx_mod m = t ? PTX_MOD_NONE : find_mod(piece, n);

        at += n + 1;
        if (t && out->type_count < OP_TYPES) {
            out->types[out->type_count++] = t;
        } else if (m && out->mod_count < OP_PIECES) {
            out->mods[out->mod_count++] = m;
        } else if (t || m) {
            out->too_long = true;
        } else if (!out->unknown) {
            out->unknown = piece;
            out->unknown_len = n;
        }
    }
}

static bool slot_takes(const struct op_slot *s, enum ptx_mod m)
{
    return s->mod ? s->mod == m : (mods[m].kinds & s->kinds) != 0;
}

/* Walks the slots and the written modifiers together; *bad is the first modifier that finds no
 * slot. */
static bool match_mods(const struct op_form *row, const struct op_word *w, unsigned *bad)
{
    const struct op_slot *s = &row->slots[1];
    unsigned i = 0;

    for (; s < &row->slots[OP_SLOTS] && s->need != NEED_END; s++) {
        if (s->need == NEED_ANY)
            return true;
        if (i < w->mod_count && slot_takes(s, w->mods[i])) {
            i++;
        } else if (s->need == NEED_YES) {
            *bad = i;
            return false;
        }
    }
    *bad = i;
    return i == w->mod_count || op_any_types(row);
}

static bool match_types(const struct op_form *row, const struct op_word *w)
{
    if (op_any_types(row))
        return true;
    if (op_type_count(row) != w->type_count)
        return false;
    for (unsigned i = 0; i < w->type_count; i++)
        if (!(row->types[i] >> w->types[i] & 1))
            return false;
    return true;
}

enum ptx_form op_match(const struct op_word *w, enum ptx_form after)
{
    unsigned bad = 0;

    for (int f = (int)after + 1; f < PTX_FORM_COUNT; f++) {
        const struct op_form *row = &forms[f];
        if (row->opcode[0] != w->text[0] || !same(w->text, w->opcode_len, row->opcode))
            continue;
        const bool strict = !op_any_types(row);
        if (strict && (w->unknown || w->too_long))
            continue;
        if (match_types(row, w) && match_mods(row, w, &bad))
            return (enum ptx_form)f;
    }
    return PTX_FORM_NONE;
}

void op_explain(const struct op_word *w, char *buf, size_t size)
{
    bool opcode = false, typed = false;
    unsigned furthest = 0;

    for (int f = 1; f < PTX_FORM_COUNT; f++) {
        unsigned bad = 0;
        if (!same(w->text, w->opcode_len, forms[f].opcode))
            continue;
        opcode = true;
        if (!match_types(&forms[f], w)) /* then the types are wrong, unless another row has them */
            continue;
        typed = true;
        match_mods(&forms[f], w, &bad);
        if (bad > furthest)
            furthest = bad;
    }
    if (!opcode)
        snprintf(buf, size, "unknown instruction '%.*s'", (int)w->opcode_len, w->text);
    else if (w->unknown)
        snprintf(buf, size, "unknown modifier or type '.%.*s' of '%.*s'", (int)w->unknown_len,
                 w->unknown, (int)w->opcode_len, w->text);
    else if (w->too_long)
        snprintf(buf, size, "too many modifiers");
    else if (!typed)
        snprintf(buf, size, "'%.*s' does not exist with %s", (int)w->opcode_len, w->text,
                 w->type_count == 0 ? "no type" : "these types");
    else if (furthest < w->mod_count)
        snprintf(buf, size, "modifier '.%s' is not allowed there", mods[w->mods[furthest]].text);
    else
        snprintf(buf, size, "a modifier of '%.*s' is missing", (int)w->opcode_len, w->text);
}

bool op_next_shape(const char **at, struct op_shape *out)
{
    const char *p = *at;

    *out = (struct op_shape){0};
    while (*p == ' ')
        p++;
    if (*p == '\0')
        return false;
    if (*p == '?') {
        out->optional = true;
        p++;
    }
    out->kind = *p++;
    for (; *p && *p != ' '; p++) {
        switch (*p) {
        case '+':
            out->wider = true;
            break;
        case 'v':
            out->vector = true;
            break;
        case 'k':
            out->pack = true;
            break;
        case '&':
            out->address = true;
            break;
        case '|':
            out->pair = true;
            break;
        default:
            out->type = *p;
            break;
        }
    }
    *at = p;
    return true;
}

static enum ptx_type twice(enum ptx_type t)
{
    if (t == PTX_TYPE_U16)
        return PTX_TYPE_U32;
    if (t == PTX_TYPE_S16)
        return PTX_TYPE_S32;
    return t == PTX_TYPE_U32 ? PTX_TYPE_U64 : PTX_TYPE_S64;
}

enum ptx_type op_shape_type(const struct op_shape *s, const enum ptx_type t[OP_TYPES])
{
    switch (s->type) {
    case '0':
        return t[0];
    case '1':
        return t[1];
    case '2':
        return t[2];
    case '3':
        return t[3];
    case 'w':
        return twice(t[0]);
    case 'p':
        return PTX_TYPE_PRED;
    case 'h':
        return PTX_TYPE_B16;
    case 'u':
        return PTX_TYPE_B32;
    case 'l':
        return PTX_TYPE_B64;
    default:
        return PTX_TYPE_NONE;
    }
}

bool op_shape_at(const char *column, unsigned operand_count, unsigned n, struct op_shape *out)
{
    struct op_shape s;
    unsigned required = 0, index = 0;

    for (const char *at = column; op_next_shape(&at, &s);) {
        if (s.kind == '*')
            return false;
        required += !s.optional;
    }
    unsigned spare = operand_count > required ? operand_count - required : 0;
    for (const char *at = column; op_next_shape(&at, &s);) {
        if (s.optional && spare == 0)
            continue;
        spare -= s.optional;
        if (index++ == n) {
            *out = s;
            return true;
        }
    }
    return false;
}

bool op_operand_shape(const struct ptx_inst *in, unsigned n, struct op_shape *out)
{
    return in->form != PTX_FORM_NONE &&
           op_shape_at(forms[in->form].operands, in->operand_count, n, out);
}

bool op_shape_count(const char *column, unsigned operand_count)
{
    struct op_shape s;
    unsigned required = 0, optional = 0;

    for (const char *at = column; op_next_shape(&at, &s);) {
        if (s.kind == '*' || s.kind == 'C')
            return true;
        required += !s.optional;
        optional += s.optional;
    }
    return operand_count >= required && operand_count <= required + optional;
}

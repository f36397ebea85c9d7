/*
 * parse.c - PTX text to a tree, by recursive descent; the grammar stands above each function.
 * Looks up no name and knows no opcode: verify.c does. Invariant: `tok` is the first token not yet
 * used, `ahead` the one behind it.
 */
#include "ast.h"
#include "lex.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { NEST_MAX = 100, DIMS_MAX = 8 };

struct parser {
    struct lexer lx;
    struct token tok, ahead;
    const char *text;
    struct ast_module *m;
    struct vg_pool pool;
    struct ptx_diag *d;
    unsigned depth;
    uint32_t string_cap, label_cap;
};

/* ---- memory and messages ---- */

void *pool_alloc(struct vg_pool *p, size_t size)
{
    enum { BLOCK = 32 * 1024, ALIGN = 16 };
    if (size > SIZE_MAX - ALIGN)
        return NULL;
    const size_t need = (size + ALIGN - 1) / ALIGN * ALIGN;

    if (need >= BLOCK / 4)
        return vg_alloc(p->arena, need);
    if (p->left < need) {
        p->at = vg_alloc(p->arena, BLOCK);
        p->left = p->at ? BLOCK : 0;
        if (!p->at)
            return NULL;
    }
    void *piece = p->at;
    p->at += need;
    p->left -= need;
    return piece;
}

static void copy_source_line(struct ptx_diag *d, const char *text, const char *at)
{
    const char *start = at;
    size_t n = 0;

    while (start > text && start[-1] != '\n')
        start--;
    for (; start[n] && start[n] != '\n' && start[n] != '\r' && n + 1 < sizeof d->source; n++)
        d->source[n] = start[n] == '\t' ? ' ' : start[n];
    d->source[n] = '\0';
}

void diag_at(struct ptx_diag *d, const char *text, const char *at, uint32_t line, uint32_t col,
             const char *fmt, ...)
{
    va_list args;

    d->line = line;
    d->col = col;
    va_start(args, fmt);
    vsnprintf(d->text, sizeof d->text, fmt, args);
    va_end(args);
    d->source[0] = '\0';
    if (at)
        copy_source_line(d, text, at);
}

static int shown_len(const struct token *t) { return t->len > 60 ? 60 : (int)t->len; }

/* Reports that `what` was expected where the current token stands. */
static bool expected(struct parser *p, const char *what)
{
    const struct token *t = &p->tok;

    if (t->kind == TOKEN_BAD)
        diag_at(p->d, p->text, t->text, t->line, t->col, "%s", t->problem);
    else if (t->kind == TOKEN_END)
        diag_at(p->d, p->text, t->text, t->line, t->col, "expected %s, found the end of the text",
                what);
    else
        diag_at(p->d, p->text, t->text, t->line, t->col, "expected %s, found '%.*s'", what,
                shown_len(t), t->text);
    return false;
}

static bool refuse(struct parser *p, const struct token *t, const char *message)
{
    diag_at(p->d, p->text, t->text, t->line, t->col, "'%.*s': %s", shown_len(t), t->text, message);
    return false;
}

static bool no_memory(struct parser *p)
{
    diag_at(p->d, p->text, NULL, p->tok.line, p->tok.col, "out of memory");
    return false;
}

/* Room for one more element: a new array of twice the size when `*cap` is reached. NULL when out of
 * memory. */
static void *grow(struct parser *p, void *old, uint32_t count, uint32_t *cap, size_t size)
{
    if (count < *cap)
        return old;
    const uint32_t wider = *cap ? *cap * 2 : 4;
    if (wider <= *cap)
        return NULL;
    void *fresh = pool_alloc(&p->pool, wider * size);
    if (!fresh)
        return NULL;
    if (count)
        memcpy(fresh, old, count * size);
    *cap = wider;
    return fresh;
}

/* ---- tokens ---- */

static void advance(struct parser *p)
{
    p->tok = p->ahead;
    p->ahead = lex_next(&p->lx);
}

static bool at_punct(const struct parser *p, unsigned c) { return token_is(&p->tok, c); }

static bool accept(struct parser *p, unsigned c)
{
    if (!token_is(&p->tok, c))
        return false;
    advance(p);
    return true;
}

static bool expect(struct parser *p, unsigned c, const char *what)
{
    if (!token_is(&p->tok, c))
        return expected(p, what);
    advance(p);
    return true;
}

static bool accept_directive(struct parser *p, const char *s)
{
    if (!token_spells(&p->tok, s))
        return false;
    advance(p);
    return true;
}

static struct slice slice_of(const struct token *t)
{
    return (struct slice){t->text, t->len, t->line, t->col};
}

static bool expect_word(struct parser *p, struct slice *out, const char *what)
{
    if (p->tok.kind != TOKEN_WORD)
        return expected(p, what);
    *out = slice_of(&p->tok);
    advance(p);
    return true;
}

static bool enter(struct parser *p)
{
    if (++p->depth <= NEST_MAX)
        return true;
    return refuse(p, &p->tok, "nested too deeply");
}

static void leave(struct parser *p) { p->depth--; }

/* ---- constant expressions ---- */

static bool parse_constant(struct parser *p, uint64_t *out, unsigned min_level);

/* primary = integer | "(" expression ")" | ("-" | "+" | "~" | "!") primary */
static bool parse_primary(struct parser *p, uint64_t *out)
{
    bool ok = enter(p);

    if (!ok) {
        return false;
    } else if (p->tok.kind == TOKEN_INT) {
        *out = p->tok.value;
        advance(p);
    } else if (accept(p, '(')) {
        ok = parse_constant(p, out, 0) && expect(p, ')', "')'");
    } else if (accept(p, '-')) {
        ok = parse_primary(p, out);
        *out = 0 - *out;
    } else if (accept(p, '+')) {
        ok = parse_primary(p, out);
    } else if (accept(p, '~')) {
        ok = parse_primary(p, out);
        *out = ~*out;
    } else if (accept(p, '!')) {
        ok = parse_primary(p, out);
        *out = !*out;
    } else {
        ok = expected(p, "an integer");
    }
    leave(p);
    return ok;
}

#define PAIR(a, b) ((a)*256 + (b))

static int binary_level(const struct token *t)
{
    if (t->kind != TOKEN_PUNCT)
        return -1;
    switch (t->value) {
    case '*':
    case '/':
    case '%':
        return 9;
    case '+':
    case '-':
        return 8;
    case PAIR('<', '<'):
    case PAIR('>', '>'):
        return 7;
    case '<':
    case '>':
    case PAIR('<', '='):
    case PAIR('>', '='):
        return 6;
    case PAIR('=', '='):
    case PAIR('!', '='):
        return 5;
    case '&':
        return 4;
    case '^':
        return 3;
    case PAIR('&', '&'):
        return 1;
    case PAIR('|', '|'):
        return 0;
    default:
        return -1; /* '|' belongs to d|p: the bitwise or is not accepted outside parentheses, nor
                      inside */
    }
}

/* Signed unless an operand has the top bit set, which is how nvcc's output uses it. */
static uint64_t apply(uint64_t op, uint64_t a, uint64_t b)
{
    const int64_t x = (int64_t)a, y = (int64_t)b;

    switch (op) {
    case '*':
        return a * b;
    case '/':
        return x == INT64_MIN && y == -1 ? a : (uint64_t)(x / y);
    case '%':
        return y == -1 ? 0 : (uint64_t)(x % y);
    case '+':
        return a + b;
    case '-':
        return a - b;
    case PAIR('<', '<'):
        return b > 63 ? 0 : a << b;
    case PAIR('>', '>'):
        return b > 63 ? 0 : a >> b;
    case '<':
        return x < y;
    case '>':
        return x > y;
    case PAIR('<', '='):
        return x <= y;
    case PAIR('>', '='):
        return x >= y;
    case PAIR('=', '='):
        return a == b;
    case PAIR('!', '='):
        return a != b;
    case '&':
        return a & b;
    case '^':
        return a ^ b;
    case PAIR('&', '&'):
        return a && b;
    default:
        return a || b;
    }
}

/* expression = primary { operator primary }, by precedence */
static bool parse_constant(struct parser *p, uint64_t *out, unsigned min_level)
{
    if (!parse_primary(p, out))
        return false;
    for (;;) {
        const int level = binary_level(&p->tok);
        if (level < (int)min_level)
            return true;
        const struct token op = p->tok;
        uint64_t right = 0;
        advance(p);
        if (!parse_constant(p, &right, (unsigned)level + 1))
            return false;
        if ((op.value == '/' || op.value == '%') && right == 0)
            return refuse(p, &op, "division by zero");
        *out = apply(op.value, *out, right);
    }
}

static bool parse_u32(struct parser *p, uint32_t *out, const char *what)
{
    if (p->tok.kind != TOKEN_INT)
        return expected(p, what);
    if (p->tok.value > UINT32_MAX)
        return refuse(p, &p->tok, "number does not fit 32 bits");
    *out = (uint32_t)p->tok.value;
    advance(p);
    return true;
}

/* [ ("+" | "-") constant ] behind a name */
static bool parse_offset(struct parser *p, int64_t *out)
{
    uint64_t sum = 0;

    while (at_punct(p, '+') || at_punct(p, '-')) {
        const bool minus = at_punct(p, '-');
        uint64_t n = 0;
        advance(p);
        if (!parse_constant(p, &n, 9))
            return false;
        sum += minus ? 0 - n : n;
    }
    *out = (int64_t)sum;
    return true;
}

/* ---- operands ---- */

static bool parse_operand(struct parser *p, struct ast_operand *out, bool call);

/* list = [ operand { "," operand } ] close */
static bool parse_operand_list(struct parser *p, struct ast_operand *out, unsigned close,
                               const char *what)
{
    uint32_t cap = 0;

    if (accept(p, close))
        return true;
    do {
        out->elems = grow(p, out->elems, out->elem_count, &cap, sizeof *out->elems);
        if (!out->elems)
            return no_memory(p);
        struct ast_operand *e = &out->elems[out->elem_count++];
        *e = (struct ast_operand){0};
        if (!parse_operand(p, e, false))
            return false;
    } while (accept(p, ','));
    return expect(p, close, what);
}

/* number = [ "-" ] float | constant expression */
static bool parse_number(struct parser *p, struct ast_operand *out)
{
    const bool minus =
        at_punct(p, '-') && (p->ahead.kind == TOKEN_F32 || p->ahead.kind == TOKEN_F64);

    if (minus)
        advance(p);
    if (p->tok.kind == TOKEN_F32 || p->tok.kind == TOKEN_F64) {
        const bool wide = p->tok.kind == TOKEN_F64;
        out->kind = wide ? AST_F64 : AST_F32;
        out->bits = p->tok.value ^ (minus ? (uint64_t)1 << (wide ? 63 : 31) : 0);
        advance(p);
        return true;
    }
    out->kind = AST_INT;
    return parse_constant(p, &out->bits, 0);
}

/* address = "[" base [ ("+" | "-") constant ] { "," operand } "]" */
static bool parse_address(struct parser *p, struct ast_operand *out)
{
    out->kind = AST_ADDR;
    if (!parse_operand_list(p, out, ']', "',' or ']'"))
        return false;
    if (out->elem_count == 0)
        return refuse(p, &p->tok, "an address needs a base");
    out->offset = out->elems[0].offset;
    out->elems[0].offset = 0;
    return true;
}

static bool parse_operand_body(struct parser *p, struct ast_operand *out, bool call)
{
    if (accept(p, '{')) {
        out->kind = AST_VECTOR;
        return parse_operand_list(p, out, '}', "',' or '}'");
    }
    if (accept(p, '['))
        return parse_address(p, out);
    if (call && accept(p, '(')) {
        out->kind = AST_LIST;
        return parse_operand_list(p, out, ')', "',' or ')'");
    }
    if (at_punct(p, '!') && p->ahead.kind == TOKEN_WORD) {
        advance(p);
        out->negated = true;
    }
    if (p->tok.kind != TOKEN_WORD)
        return parse_number(p, out);
    out->kind = token_spells(&p->tok, "_") ? AST_SINK : AST_NAME;
    out->name = slice_of(&p->tok);
    advance(p);
    return out->kind == AST_SINK || parse_offset(p, &out->offset);
}

/* operand = ( "{" list | address | "(" list | [ "!" ] name [ offset ] | number | "_" ) [ "|"
 * operand ] */
static bool parse_operand(struct parser *p, struct ast_operand *out, bool call)
{
    out->name = (struct slice){p->tok.text, 0, p->tok.line, p->tok.col};
    if (!enter(p) || !parse_operand_body(p, out, call))
        return false;
    if (accept(p, '|')) {
        out->pair = pool_alloc(&p->pool, sizeof *out->pair);
        if (!out->pair)
            return no_memory(p);
        if (!parse_operand(p, out->pair, false))
            return false;
    }
    leave(p);
    return true;
}

/* statement = [ "@" [ "!" ] predicate ] opcode [ operand { "," operand } ] ";" */
static bool parse_statement(struct parser *p, struct ast_inst *out)
{
    const struct token first = p->tok;
    struct ast_operand list = {0};
    uint32_t cap = 0;

    if (accept(p, '@')) {
        out->guard_negated = accept(p, '!');
        if (!expect_word(p, &out->guard, "a predicate"))
            return false;
    }
    if (!expect_word(p, &out->opcode, "an instruction"))
        return false;
    const bool call = out->opcode.len >= 4 && memcmp(out->opcode.s, "call", 4) == 0;
    while (!at_punct(p, ';')) {
        list.elems = grow(p, list.elems, list.elem_count, &cap, sizeof *list.elems);
        if (!list.elems)
            return no_memory(p);
        struct ast_operand *e = &list.elems[list.elem_count++];
        *e = (struct ast_operand){0};
        if (!parse_operand(p, e, call))
            return false;
        if (!at_punct(p, ';') && !expect(p, ',', "',' or ';'"))
            return false;
    }
    out->operands = list.elems;
    out->operand_count = list.elem_count;
    out->text =
        (struct slice){first.text, (uint32_t)(p->tok.text + 1 - first.text), first.line, first.col};
    advance(p);
    return true;
}

/* ---- declarations ---- */

static bool type_from_token(const struct token *t, enum ptx_type *out)
{
    for (int i = 1; t->kind == TOKEN_DIRECTIVE && i < PTX_TYPE_COUNT; i++) {
        const char *s = ptx_type_text((enum ptx_type)i);
        if (strlen(s) + 1 == t->len && memcmp(t->text + 1, s, t->len - 1) == 0) {
            *out = (enum ptx_type)i;
            return true;
        }
    }
    return false;
}

/* attribute = ".attribute" "(" ( ".managed" | ".unified" "(" n "," n ")" ) { "," ... } ")" */
static bool parse_attribute(struct parser *p, struct ast_var *v)
{
    if (!expect(p, '(', "'('"))
        return false;
    do {
        if (accept_directive(p, ".managed"))
            v->managed = true;
        else
            return expected(p, "'.managed'");
    } while (accept(p, ','));
    return expect(p, ')', "')'");
}

/* prefix = { ".align" n | ".v2" | ".v4" | ".attribute" ... | ".ptr" [ space ] | type }: what stands
 * between the space and the name */
static bool parse_var_prefix(struct parser *p, struct ast_var *v)
{
    while (p->tok.kind == TOKEN_DIRECTIVE) {
        const struct token t = p->tok;
        if (accept_directive(p, ".align")) {
            if (!parse_u32(p, &v->align, "an alignment"))
                return false;
            if (v->align == 0 || v->align > 65536 || (v->align & (v->align - 1)) != 0)
                return refuse(p, &t, "alignment must be a power of two up to 65536");
        } else if (accept_directive(p, ".attribute")) {
            if (!parse_attribute(p, v))
                return false;
        } else if (accept_directive(p, ".v2")) {
            v->vec = 2;
        } else if (accept_directive(p, ".v4")) {
            v->vec = 4;
        } else if (accept_directive(p,
                                    ".ptr")) { /* a promise about the pointer's target: not used */
            uint32_t align = 0;
            if (token_spells(&p->tok, ".global") || token_spells(&p->tok, ".shared") ||
                token_spells(&p->tok, ".local") || token_spells(&p->tok, ".const"))
                advance(p);
            if (accept_directive(p, ".align") && !parse_u32(p, &align, "an alignment"))
                return false;
        } else if (v->type == PTX_TYPE_NONE && type_from_token(&t, &v->type)) {
            advance(p);
        } else {
            return refuse(p, &t, "unknown in a declaration");
        }
    }
    if (v->type == PTX_TYPE_NONE)
        return expected(p, "a type");
    return true;
}

static bool parse_init(struct parser *p, struct ast_init *out);

/* init = "{" [ init { "," init } ] "}" | number | name [ offset ] | "generic" "(" name ")" [ offset
 * ] */
static bool parse_init_list(struct parser *p, struct ast_init *out)
{
    uint32_t cap = 0;

    out->kind = INIT_LIST;
    if (accept(p, '}'))
        return true;
    do {
        out->elems = grow(p, out->elems, out->elem_count, &cap, sizeof *out->elems);
        if (!out->elems)
            return no_memory(p);
        struct ast_init *e = &out->elems[out->elem_count++];
        *e = (struct ast_init){0};
        if (!parse_init(p, e))
            return false;
    } while (accept(p, ','));
    return expect(p, '}', "',' or '}'");
}

static bool parse_init(struct parser *p, struct ast_init *out)
{
    out->name = (struct slice){p->tok.text, 0, p->tok.line, p->tok.col};
    if (at_punct(p, '{')) {
        advance(p);
        if (!enter(p) || !parse_init_list(p, out))
            return false;
        leave(p);
        return true;
    }
    if (p->tok.kind == TOKEN_WORD) {
        out->kind = INIT_NAME;
        out->generic = token_spells(&p->tok, "generic") && token_is(&p->ahead, '(');
        if (out->generic) {
            advance(p);
            advance(p);
        }
        if (!expect_word(p, &out->name, "a name") || (out->generic && !expect(p, ')', "')'")))
            return false;
        return parse_offset(p, &out->offset);
    }
    struct ast_operand number = {0};
    if (!parse_number(p, &number))
        return false;
    out->kind = number.kind == AST_F32 ? INIT_F32 : number.kind == AST_F64 ? INIT_F64 : INIT_INT;
    out->bits = number.bits;
    return true;
}

/* dimensions = { "[" [ constant ] "]" }: only the first may be empty */
static bool parse_dims(struct parser *p, struct ast_var *v)
{
    v->count = 1;
    while (accept(p, '[')) {
        uint64_t n = 0;
        if (++v->dims > DIMS_MAX)
            return refuse(p, &p->tok, "too many dimensions");
        if (v->dims == 1 && at_punct(p, ']'))
            n = 0;
        else if (!parse_constant(p, &n, 0))
            return false;
        if (n != 0 && v->count > ((uint64_t)1 << 40) / n)
            return refuse(p, &p->tok, "array too large");
        v->count *= n;
        v->array = true;
        if (!expect(p, ']', "']'"))
            return false;
    }
    return true;
}

/* name [ "<" n ">" ] dimensions */
static bool parse_var_name(struct parser *p, struct ast_var *v)
{
    if (!expect_word(p, &v->name, "a name"))
        return false;
    if (accept(p, '<')) {
        if (v->space != PTX_SPACE_REG)
            return refuse(p, &p->tok, "only registers are declared by number");
        if (!parse_u32(p, &v->range, "a count") || !expect(p, '>', "'>'"))
            return false;
        if (v->range == 0 || v->range > 1000000)
            return refuse(p, &p->tok, "unusual number of registers");
    }
    return parse_dims(p, v);
}

static struct ast_item *item_new(struct parser *p, struct ast_item ***tail, enum ast_item_kind kind)
{
    struct ast_item *it = pool_alloc(&p->pool, sizeof *it);

    if (!it) {
        no_memory(p);
        return NULL;
    }
    it->kind = kind;
    **tail = it;
    *tail = &it->next;
    return it;
}

/* variable = space prefix name dimensions [ "=" init ] { "," name ... } ";" */
static bool parse_variables(struct parser *p, enum ptx_space space, enum ast_linkage linkage,
                            struct ast_item ***tail)
{
    struct ast_var proto = {.space = space, .linkage = linkage, .vec = 1};

    if (!parse_var_prefix(p, &proto))
        return false;
    do {
        struct ast_item *it = item_new(p, tail, ITEM_VAR);
        if (!it)
            return false;
        it->u.var = proto;
        if (!parse_var_name(p, &it->u.var))
            return false;
        if (accept(p, '=')) {
            it->u.var.init = pool_alloc(&p->pool, sizeof *it->u.var.init);
            if (!it->u.var.init)
                return no_memory(p);
            if (!parse_init(p, it->u.var.init))
                return false;
        }
    } while (accept(p, ','));
    return expect(p, ';', "',' or ';'");
}

static bool space_from_token(const struct token *t, enum ptx_space *out)
{
    static const struct {
        const char *text;
        enum ptx_space space;
    } table[] = {{".reg", PTX_SPACE_REG},           {".shared", PTX_SPACE_SHARED},
                 {".global", PTX_SPACE_GLOBAL},     {".const", PTX_SPACE_CONST},
                 {".local", PTX_SPACE_LOCAL},       {".param", PTX_SPACE_PARAM},
                 {".shared::cta", PTX_SPACE_SHARED}};

    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (token_spells(t, table[i].text)) {
            *out = table[i].space;
            return true;
        }
    return false;
}

/* params = "(" [ ".param" prefix name dimensions { "," ... } ] ")" */
static bool parse_params(struct parser *p, struct ast_var **out, uint32_t *count)
{
    uint32_t cap = 0;

    *count = 0;
    if (!expect(p, '(', "'('"))
        return false;
    if (accept(p, ')'))
        return true;
    do {
        if (token_spells(&p->tok, ".reg"))
            return refuse(p, &p->tok, "parameters in registers are not supported");
        if (!accept_directive(p, ".param"))
            return expected(p, "'.param'");
        *out = grow(p, *out, *count, &cap, sizeof **out);
        if (!*out)
            return no_memory(p);
        struct ast_var *v = &(*out)[(*count)++];
        *v = (struct ast_var){.space = PTX_SPACE_PARAM, .vec = 1};
        if (!parse_var_prefix(p, v) || !parse_var_name(p, v))
            return false;
    } while (accept(p, ','));
    return expect(p, ')', "',' or ')'");
}

/* ---- blocks ---- */

/* loc = ".loc" file line column [ "," "function_name" label [ "+" n ] "," "inlined_at" file line
 * column ] */
static bool parse_loc(struct parser *p, struct ast_loc *l)
{
    if (!parse_u32(p, &l->file, "a file number") || !parse_u32(p, &l->line, "a line") ||
        !parse_u32(p, &l->col, "a column"))
        return false;
    while (accept(p, ',')) {
        if (token_spells(&p->tok, "function_name")) {
            advance(p);
            if (!expect_word(p, &l->function, "a label") || !parse_offset(p, &l->function_offset))
                return false;
        } else if (token_spells(&p->tok, "inlined_at")) {
            advance(p);
            l->inlined = true;
            if (!parse_u32(p, &l->at_file, "a file number") ||
                !parse_u32(p, &l->at_line, "a line") || !parse_u32(p, &l->at_col, "a column"))
                return false;
        } else {
            return expected(p, "'function_name' or 'inlined_at'");
        }
    }
    return true;
}

/* pragma = ".pragma" string { "," string } ";": hints only, nothing is kept */
static bool parse_pragma(struct parser *p)
{
    do {
        if (p->tok.kind != TOKEN_STRING)
            return expected(p, "a string");
        advance(p);
    } while (accept(p, ','));
    return expect(p, ';', "';'");
}

/* targets = ".branchtargets" | ".calltargets" name { "," name } ";" */
static bool parse_targets(struct parser *p, struct ast_targets *t)
{
    uint32_t cap = 0;

    do {
        t->names = grow(p, t->names, t->count, &cap, sizeof *t->names);
        if (!t->names)
            return no_memory(p);
        if (!expect_word(p, &t->names[t->count], "a label or function"))
            return false;
        t->count++;
    } while (accept(p, ','));
    return expect(p, ';', "',' or ';'");
}

/* callprototype = ".callprototype" [ params ] "_" params [ ".noreturn" ] ";" */
static bool parse_proto(struct parser *p, struct ast_proto *o)
{
    struct slice name;

    if (at_punct(p, '(') && !parse_params(p, &o->returns, &o->return_count))
        return false;
    if (!expect_word(p, &name, "'_'"))
        return false;
    if (at_punct(p, '(') && !parse_params(p, &o->params, &o->param_count))
        return false;
    accept_directive(p, ".noreturn");
    return expect(p, ';', "';'");
}

/* label = name ":" [ targets | callprototype ] */
static bool parse_label(struct parser *p, struct ast_item ***tail)
{
    const struct slice name = slice_of(&p->tok);
    struct ast_item *it = NULL;

    advance(p);
    advance(p);
    if (accept_directive(p, ".branchtargets") || accept_directive(p, ".calltargets")) {
        it = item_new(p, tail, ITEM_TARGETS);
        if (!it)
            return false;
        it->u.targets.name = name;
        return parse_targets(p, &it->u.targets);
    }
    if (accept_directive(p, ".callprototype")) {
        it = item_new(p, tail, ITEM_PROTO);
        if (!it)
            return false;
        it->u.proto.name = name;
        return parse_proto(p, &it->u.proto);
    }
    it = item_new(p, tail, ITEM_LABEL);
    if (!it)
        return false;
    it->u.label = name;
    return true;
}

static bool parse_block(struct parser *p, struct ast_item **out);

/* one directive inside a block */
static bool parse_block_directive(struct parser *p, struct ast_item ***tail)
{
    enum ptx_space space;

    if (accept_directive(p, ".loc")) {
        struct ast_item *it = item_new(p, tail, ITEM_LOC);
        return it && parse_loc(p, &it->u.loc);
    }
    if (accept_directive(p, ".pragma"))
        return parse_pragma(p);
    if (space_from_token(&p->tok, &space)) {
        advance(p);
        return parse_variables(p, space, LINK_NONE, tail);
    }
    return refuse(p, &p->tok, "unknown directive in a function");
}

/* block = "{" { directive | label | statement | block } "}" */
static bool parse_block(struct parser *p, struct ast_item **out)
{
    struct ast_item **tail = out;

    if (!expect(p, '{', "'{'") || !enter(p))
        return false;
    while (!at_punct(p, '}')) {
        struct ast_item *it = NULL;
        if (at_punct(p, '{')) {
            it = item_new(p, &tail, ITEM_BLOCK);
            if (!it || !parse_block(p, &it->u.block))
                return false;
        } else if (p->tok.kind == TOKEN_DIRECTIVE) {
            if (!parse_block_directive(p, &tail))
                return false;
        } else if (p->tok.kind == TOKEN_WORD && token_is(&p->ahead, ':')) {
            if (!parse_label(p, &tail))
                return false;
        } else if (at_punct(p, ';')) {
            advance(p);
        } else if (p->tok.kind == TOKEN_WORD || at_punct(p, '@')) {
            it = item_new(p, &tail, ITEM_INST);
            if (!it || !parse_statement(p, &it->u.inst))
                return false;
        } else {
            return expected(p, "an instruction, a directive or '}'");
        }
    }
    leave(p);
    advance(p);
    return true;
}

/* ---- functions ---- */

/* n [ "," n [ "," n ] ], missing ones are 1 */
static bool parse_triple(struct parser *p, uint32_t out[3])
{
    out[1] = out[2] = 1;
    for (int i = 0; i < 3; i++) {
        if (!parse_u32(p, &out[i], "a number"))
            return false;
        if (!accept(p, ','))
            break;
    }
    return true;
}

/* perf = ".maxntid" n,n,n | ".reqntid" n,n,n | ".reqnctapercluster" n,n,n | ".maxnreg" n |
 * ".minnctapersm" n | ... */
static bool parse_perf(struct parser *p, struct ast_func *f)
{
    uint32_t ignored = 0;

    if (accept_directive(p, ".maxntid"))
        return parse_triple(p, f->maxntid);
    if (accept_directive(p, ".reqntid"))
        return parse_triple(p, f->reqntid);
    if (accept_directive(p, ".reqnctapercluster"))
        return parse_triple(p, f->cluster);
    if (accept_directive(p, ".maxnreg"))
        return parse_u32(p, &f->maxnreg, "a number");
    if (accept_directive(p, ".minnctapersm") || accept_directive(p, ".maxnctapersm"))
        return parse_u32(p, &f->minnctapersm, "a number");
    if (accept_directive(p, ".maxclusterrank") || accept_directive(p, ".abi_preserve") ||
        accept_directive(p, ".abi_preserve_control"))
        return parse_u32(p, &ignored, "a number");
    if (accept_directive(p, ".explicitcluster") || accept_directive(p, ".blocksareclusters") ||
        accept_directive(p, ".noreturn"))
        return true;
    if (accept_directive(p, ".pragma"))
        return parse_pragma(p);
    return refuse(p, &p->tok, "unknown directive of a function");
}

/* function = ( ".entry" | ".func" ) [ params ] name [ params ] { perf } ( ";" | block ) */
static bool parse_function(struct parser *p, bool entry, enum ast_linkage linkage,
                           struct ast_func ***tail)
{
    struct ast_func *f = pool_alloc(&p->pool, sizeof *f);

    if (!f)
        return no_memory(p);
    f->entry = entry;
    f->linkage = linkage;
    accept_directive(p, ".noreturn");
    if (!entry && at_punct(p, '(') && !parse_params(p, &f->returns, &f->return_count))
        return false;
    if (!expect_word(p, &f->name, "the name of a function"))
        return false;
    if (at_punct(p, '(') && !parse_params(p, &f->params, &f->param_count))
        return false;
    while (p->tok.kind == TOKEN_DIRECTIVE)
        if (!parse_perf(p, f))
            return false;
    if (!accept(p, ';')) {
        if (!at_punct(p, '{'))
            return expected(p, "'{' or ';'");
        f->has_body = true;
        if (!parse_block(p, &f->body))
            return false;
    }
    **tail = f;
    *tail = &f->next;
    return true;
}

/* ---- debug information ---- */

/* file = ".file" number string [ "," n "," n ] */
static bool parse_file(struct parser *p)
{
    struct ast_module *m = p->m;
    uint32_t number = 0;

    if (!parse_u32(p, &number, "a file number"))
        return false;
    if (p->tok.kind != TOKEN_STRING)
        return expected(p, "a path");
    if (number > 100000)
        return refuse(p, &p->tok, "unusual file number");
    while (number >= m->file_count) {
        const uint32_t wider = number + 16;
        struct slice *files = pool_alloc(&p->pool, wider * sizeof *files);
        if (!files)
            return no_memory(p);
        if (m->file_count)
            memcpy(files, m->files, m->file_count * sizeof *files);
        m->files = files;
        m->file_count = wider;
    }
    m->files[number] = slice_of(&p->tok);
    advance(p);
    while (accept(p, ',')) {
        uint64_t ignored = 0;
        if (!parse_constant(p, &ignored, 0))
            return false;
    }
    return true;
}

static bool add_string_byte(struct parser *p, uint64_t value)
{
    struct ast_module *m = p->m;

    m->strings = grow(p, m->strings, m->string_size, &p->string_cap, 1);
    if (!m->strings)
        return no_memory(p);
    m->strings[m->string_size++] = (char)(unsigned char)value;
    return true;
}

static bool add_string_label(struct parser *p)
{
    struct ast_module *m = p->m;

    m->string_labels =
        grow(p, m->string_labels, m->string_count, &p->label_cap, sizeof *m->string_labels);
    if (!m->string_labels)
        return no_memory(p);
    m->string_labels[m->string_count++] = (struct ast_string){slice_of(&p->tok), m->string_size};
    advance(p);
    advance(p);
    return true;
}

/* section = ".section" name "{" { label ":" | type value { "," value } } "}": only .debug_str is
 * kept */
static bool parse_section(struct parser *p)
{
    const bool strings = token_spells(&p->tok, ".debug_str");

    if (p->tok.kind != TOKEN_DIRECTIVE && p->tok.kind != TOKEN_WORD)
        return expected(p, "the name of a section");
    advance(p);
    if (!expect(p, '{', "'{'"))
        return false;
    while (!accept(p, '}')) {
        if (p->tok.kind == TOKEN_WORD && token_is(&p->ahead, ':')) {
            if (!add_string_label(p))
                return false;
            continue;
        }
        if (strings && p->tok.kind == TOKEN_DIRECTIVE && !token_spells(&p->tok, ".b8"))
            return expected(p, "'.b8'");
        if (p->tok.kind != TOKEN_DIRECTIVE)
            return expected(p, "a type or '}'");
        advance(p);
        do {
            if (strings && p->tok.kind == TOKEN_INT) {
                if (!add_string_byte(p, p->tok.value))
                    return false;
                advance(p);
                continue;
            }
            struct ast_operand ignored = {0};
            if (strings)
                return expected(p, "a byte");
            if (!parse_operand(p, &ignored, false))
                return false;
        } while (accept(p, ','));
    }
    return true;
}

/* ---- the module ---- */

/* version = ".version" major "." minor, which the lexer sees as one decimal number */
static bool parse_version(struct parser *p)
{
    const struct token t = p->tok;
    uint32_t part[2] = {0, 0};
    unsigned n = 0;

    for (uint32_t i = 0; i < t.len; i++) {
        const char c = t.text[i];
        if (c == '.' && n == 0 && i > 0)
            n = 1;
        else if (c >= '0' && c <= '9' && part[n] < 1000)
            part[n] = part[n] * 10 + (uint32_t)(c - '0');
        else
            return expected(p, "a version such as 9.0");
    }
    if (n == 0)
        return expected(p, "a version such as 9.0");
    p->m->version_major = part[0];
    p->m->version_minor = part[1];
    advance(p);
    return true;
}

/* target = ".target" word { "," word } */
static bool parse_target(struct parser *p)
{
    struct slice other;

    if (!expect_word(p, &p->m->target, "a target such as sm_90a"))
        return false;
    while (accept(p, ','))
        if (!expect_word(p, &other, "a target option"))
            return false;
    return true;
}

static enum ast_linkage parse_linkage(struct parser *p)
{
    if (accept_directive(p, ".extern"))
        return LINK_EXTERN;
    if (accept_directive(p, ".visible"))
        return LINK_VISIBLE;
    if (accept_directive(p, ".weak"))
        return LINK_WEAK;
    if (accept_directive(p, ".common"))
        return LINK_COMMON;
    return LINK_NONE;
}

/* declaration = [ linkage ] ( function | variable ) */
static bool parse_declaration(struct parser *p, struct ast_item ***vars, struct ast_func ***funcs)
{
    const enum ast_linkage linkage = parse_linkage(p);
    enum ptx_space space;

    if (accept_directive(p, ".entry"))
        return parse_function(p, true, linkage, funcs);
    if (accept_directive(p, ".func"))
        return parse_function(p, false, linkage, funcs);
    if (!space_from_token(&p->tok, &space))
        return p->tok.kind == TOKEN_DIRECTIVE ? refuse(p, &p->tok, "unknown directive")
                                              : expected(p, "a directive");
    if (space == PTX_SPACE_REG || space == PTX_SPACE_LOCAL || space == PTX_SPACE_PARAM)
        return refuse(p, &p->tok, "allowed inside a function only");
    advance(p);
    return parse_variables(p, space, linkage, vars);
}

/* module = { directive | declaration } */
static bool parse_module(struct parser *p)
{
    struct ast_item **vars = &p->m->vars;
    struct ast_func **funcs = &p->m->funcs;
    uint32_t bits = 0;

    if (!accept_directive(p, ".version"))
        return expected(p, "'.version'");
    if (!parse_version(p))
        return false;
    if (!accept_directive(p, ".target"))
        return expected(p, "'.target'");
    if (!parse_target(p))
        return false;
    while (p->tok.kind != TOKEN_END) {
        bool ok;
        if (accept_directive(p, ".address_size")) {
            const struct token t = p->tok;
            ok = parse_u32(p, &bits, "64");
            if (ok && bits != 64)
                return refuse(p, &t, "only 64-bit addresses are supported");
        } else if (accept_directive(p, ".file")) {
            ok = parse_file(p);
        } else if (accept_directive(p, ".section")) {
            ok = parse_section(p);
        } else if (accept_directive(p, ".pragma")) {
            ok = parse_pragma(p);
        } else {
            ok = parse_declaration(p, &vars, &funcs);
        }
        if (!ok)
            return false;
    }
    return true;
}

bool ast_parse(struct ast_module *out, const char *text, size_t len, struct ptx_diag *d)
{
    struct parser p = {.text = text, .m = out, .d = d};

    *out = (struct ast_module){0};
    if (len > UINT32_MAX / 2) {
        diag_at(d, text, NULL, 1, 1, "text too long");
        return false;
    }
    p.pool.arena = &out->arena;
    lex_begin(&p.lx, text, len);
    p.ahead = lex_next(&p.lx);
    advance(&p);
    if (parse_module(&p))
        return true;
    ast_free(out);
    return false;
}

void ast_free(struct ast_module *m)
{
    vg_arena_free(&m->arena);
    *m = (struct ast_module){0};
}

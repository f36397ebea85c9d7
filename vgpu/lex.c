/*
 * lex.c - the lexer of PTX text.
 * Skips blanks and comments; it does not know which words are opcodes. Invariant: never reads past
 * `end`, never moves backwards.
 */
#include "lex.h"

#include <stdlib.h>
#include <string.h>

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
static bool is_word(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
static bool starts_word(char c) { return is_letter(c) || c == '_' || c == '$' || c == '%'; }

static int hex_value(char c)
{
    if (is_digit(c))
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    if (c >= 'A' && c <= 'F')
        return c - 'A' + 10;
    return -1;
}

void lex_begin(struct lexer *lx, const char *text, size_t len)
{
    *lx = (struct lexer){.at = text, .end = text + len, .line_start = text, .line = 1};
}

static void new_line(struct lexer *lx)
{
    lx->line++;
    lx->line_start = lx->at;
}

/* Skips blanks and comments. False at a comment without end; the position is then at its start. */
static bool skip_blanks(struct lexer *lx)
{
    while (lx->at < lx->end) {
        const char c = *lx->at;
        if (c == '\n') {
            lx->at++;
            new_line(lx);
        } else if (c == ' ' || c == '\t' || c == '\r' || c == '\f' || c == '\v') {
            lx->at++;
        } else if (c == '/' && lx->at[1] == '/') {
            while (lx->at < lx->end && *lx->at != '\n')
                lx->at++;
        } else if (c == '/' && lx->at[1] == '*') {
            const struct lexer start = *lx;
            lx->at += 2;
            while (lx->at < lx->end && !(lx->at[0] == '*' && lx->at[1] == '/')) {
                const bool newline = *lx->at == '\n';
                lx->at++;
                if (newline)
                    new_line(lx);
            }
            if (lx->at >= lx->end) {
                *lx = start;
                return false;
            }
            lx->at += 2;
        } else {
            break;
        }
    }
    return true;
}

static struct token bad(struct lexer *lx, struct token t, const char *problem)
{
    lx->at = t.text;
    t.kind = TOKEN_BAD;
    t.len = t.text < lx->end ? 1 : 0;
    t.problem = problem;
    return t;
}

/* A run of word characters, with `::` inside, and with dots when `dots` is set. */
static const char *word_end(const struct lexer *lx, const char *p, bool dots)
{
    for (;;) {
        while (p < lx->end && is_word(*p))
            p++;
        if (p + 2 < lx->end && p[0] == ':' && p[1] == ':' && is_word(p[2]))
            p += 2;
        else if (dots && p + 1 < lx->end && p[0] == '.' && is_word(p[1]))
            p++;
        else
            return p;
    }
}

/* 0f and 0d numbers: exactly 8 or 16 hexadecimal digits. */
static struct token lex_float_bits(struct lexer *lx, struct token t, unsigned digits)
{
    const char *p = lx->at + 2;

    for (unsigned i = 0; i < digits; i++, p++) {
        const int v = p < lx->end ? hex_value(*p) : -1;
        if (v < 0)
            return bad(lx, t, "a number 0f needs 8 hexadecimal digits, 0d needs 16");
        t.value = t.value << 4 | (unsigned)v;
    }
    if (p < lx->end && is_word(*p))
        return bad(lx, t, "a number 0f needs 8 hexadecimal digits, 0d needs 16");
    t.kind = digits == 8 ? TOKEN_F32 : TOKEN_F64;
    lx->at = p;
    t.len = (uint32_t)(p - t.text);
    return t;
}

static bool looks_decimal_float(const struct lexer *lx)
{
    const char *p = lx->at;

    while (p < lx->end && is_digit(*p))
        p++;
    if (p >= lx->end)
        return false;
    if (*p == '.')
        return p + 1 >= lx->end || !starts_word(p[1]);
    return (*p == 'e' || *p == 'E') && p + 1 < lx->end &&
           (is_digit(p[1]) || p[1] == '-' || p[1] == '+');
}

/* 1.5, 1e9: the grammar has them, nvcc prints hexadecimal forms only. */
static struct token lex_decimal_float(struct lexer *lx, struct token t)
{
    char copy[64];
    const char *p = lx->at;
    size_t n = 0;

    while (p < lx->end && (is_digit(*p) || *p == '.' || *p == 'e' || *p == 'E' ||
                           ((*p == '+' || *p == '-') && (p[-1] == 'e' || p[-1] == 'E')))) {
        if (n + 1 >= sizeof copy)
            return bad(lx, t, "number too long");
        copy[n++] = *p++;
    }
    copy[n] = '\0';
    char *stop = NULL;
    const double v = strtod(copy, &stop);
    if (*stop != '\0' || (p < lx->end && is_word(*p)))
        return bad(lx, t, "not a number");
    memcpy(&t.value, &v, sizeof v);
    t.kind = TOKEN_F64;
    lx->at = p;
    t.len = (uint32_t)(p - t.text);
    return t;
}

static struct token lex_number(struct lexer *lx, struct token t)
{
    const char *p = lx->at;
    unsigned base = 10;

    if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F'))
        return lex_float_bits(lx, t, 8);
    if (p[0] == '0' && (p[1] == 'd' || p[1] == 'D'))
        return lex_float_bits(lx, t, 16);
    if (looks_decimal_float(lx))
        return lex_decimal_float(lx, t);
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X')) {
        base = 16;
        p += 2;
    } else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B')) {
        base = 2;
        p += 2;
    } else if (p[0] == '0') {
        base = 8;
    }
    const char *digits = p;
    for (; p < lx->end; p++) {
        const int v = hex_value(*p);
        if (v < 0 || (unsigned)v >= base)
            break;
        if (t.value > (UINT64_MAX - (unsigned)v) / base)
            return bad(lx, t, "number does not fit 64 bits");
        t.value = t.value * base + (unsigned)v;
    }
    if (p == digits)
        return bad(lx, t, "digits missing");
    if (p < lx->end && *p == 'U')
        p++;
    if (p < lx->end && is_word(*p))
        return bad(lx, t, "not a number");
    t.kind = TOKEN_INT;
    lx->at = p;
    t.len = (uint32_t)(p - t.text);
    return t;
}

static struct token lex_string(struct lexer *lx, struct token t)
{
    const char *p = lx->at + 1;

    while (p < lx->end && *p != '"' && *p != '\n')
        p += *p == '\\' && p + 1 < lx->end && p[1] != '\n' ? 2 : 1;
    if (p >= lx->end || *p != '"')
        return bad(lx, t, "string without end");
    t.kind = TOKEN_STRING;
    t.text = lx->at + 1;
    t.len = (uint32_t)(p - t.text);
    lx->at = p + 1;
    return t;
}

static struct token lex_punct(struct lexer *lx, struct token t)
{
    static const char *const two = "<<>><=>===!=&&||";
    const char c = *lx->at;

    t.kind = TOKEN_PUNCT;
    for (const char *p = two; *p; p += 2)
        if (p[0] == c && lx->at + 1 < lx->end && lx->at[1] == p[1]) {
            t.value = (uint64_t)(unsigned char)c * 256 + (unsigned char)p[1];
            t.len = 2;
            lx->at += 2;
            return t;
        }
    if (!strchr("{}[]()<>,;:@!|+-*/%&^~=?", c) || c == '\0')
        return bad(lx, t, "character that PTX does not use");
    t.value = (unsigned char)c;
    t.len = 1;
    lx->at++;
    return t;
}

struct token lex_next(struct lexer *lx)
{
    const bool closed = skip_blanks(lx);
    struct token t = {.kind = TOKEN_END, .text = lx->at, .line = lx->line};
    const size_t col = (size_t)(lx->at - lx->line_start) + 1;

    t.col = col > UINT32_MAX ? UINT32_MAX : (uint32_t)col;
    if (!closed)
        return bad(lx, t, "comment without end");
    if (lx->at >= lx->end)
        return t;
    const char c = *lx->at;
    if (c == '.' && lx->at + 1 < lx->end && is_word(lx->at[1]) && !is_digit(lx->at[1])) {
        t.kind = TOKEN_DIRECTIVE;
        lx->at = word_end(lx, lx->at + 1, false);
    } else if (c == '%' && !(lx->at + 1 < lx->end && is_word(lx->at[1]))) {
        return lex_punct(lx, t);
    } else if (starts_word(c)) {
        t.kind = TOKEN_WORD;
        lx->at = word_end(lx, lx->at + 1, true);
    } else if (is_digit(c) || (c == '.' && lx->at + 1 < lx->end && is_digit(lx->at[1]))) {
        return lex_number(lx, t);
    } else if (c == '"') {
        return lex_string(lx, t);
    } else {
        return lex_punct(lx, t);
    }
    t.len = (uint32_t)(lx->at - t.text);
    return t;
}

bool token_is(const struct token *t, unsigned c) { return t->kind == TOKEN_PUNCT && t->value == c; }

bool token_spells(const struct token *t, const char *s)
{
    return (t->kind == TOKEN_WORD || t->kind == TOKEN_DIRECTIVE) && strlen(s) == t->len &&
           memcmp(t->text, s, t->len) == 0;
}

/*
 * lex.h - tokens of PTX text, one at a time, each with its line and column.
 * Knows no keyword: a word is a word. Invariant: tokens point into the text, which must be
 * NUL-terminated and outlive them.
 */
#ifndef VGPU_LEX_H
#define VGPU_LEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum token_kind {
    TOKEN_END,       /* end of the text */
    TOKEN_WORD,      /* identifier or opcode with its modifiers: ld.global.f32, %r1, $L__BB0_1,
                        shared::cta */
    TOKEN_DIRECTIVE, /* a dot and one word: .reg, .b32, .shared::cta; value is not set */
    TOKEN_INT,       /* value: the bits */
    TOKEN_F32,       /* 0f3F800000, value: the bits */
    TOKEN_F64,       /* 0d3FF0000000000000 or a decimal fraction, value: the bits of the double */
    TOKEN_STRING,    /* text without the quotes, escapes left as written */
    TOKEN_PUNCT, /* value: the character, or two of them as first * 256 + second (<< >> <= >= == !=
                    && ||) */
    TOKEN_BAD    /* a byte, number or comment that PTX does not allow; `text` names the culprit */
};

struct token {
    enum token_kind kind;
    const char *text;
    uint32_t len;
    uint32_t line, col; /* 1-based; a tab counts as one column */
    uint64_t value;
    const char *problem; /* TOKEN_BAD: what is wrong */
};

struct lexer {
    const char *at, *end, *line_start;
    uint32_t line;
};

/* Starts at the first byte; text[len] must be NUL. */
void lex_begin(struct lexer *lx, const char *text, size_t len);
/* The next token. After TOKEN_END and TOKEN_BAD it stays there. */
struct token lex_next(struct lexer *lx);
/* True when the token is the punctuation `c`. */
bool token_is(const struct token *t, unsigned c);
/* True when the token is a word or directive spelt `s` (a directive with its dot). */
bool token_spells(const struct token *t, const char *s);

#endif

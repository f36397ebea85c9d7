/*
 * textbuf.c - appending with doubling.
 * Knows no format of its own. Invariant: text[len] is '\0' whenever text is not NULL.
 */
#include "textbuf.h"

#include "xalloc.h"
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool reserve(struct textbuf *b, size_t more)
{
    size_t capacity = b->capacity == 0 ? 256 : b->capacity;
    char *text;

    if (b->failed)
        return false;
    while (capacity - b->len <= more) {
        if (capacity > SIZE_MAX / 2) {
            b->failed = true;
            return false;
        }
        capacity *= 2;
    }
    if (capacity == b->capacity)
        return true;
    text = xrealloc(b->text, capacity);
    if (text == NULL) {
        b->failed = true;
        return false;
    }
    b->text = text;
    b->capacity = capacity;
    return true;
}

void textbuf_add(struct textbuf *b, const char *text, size_t len)
{
    if (!reserve(b, len))
        return;
    memcpy(b->text + b->len, text, len);
    b->len += len;
    b->text[b->len] = '\0';
}

void textbuf_puts(struct textbuf *b, const char *text) { textbuf_add(b, text, strlen(text)); }

void textbuf_printf(struct textbuf *b, const char *fmt, ...)
{
    va_list args, again;
    size_t room;
    int len;

    if (!reserve(b, 64)) /* most pieces fit at the first try */
        return;
    room = b->capacity - b->len;
    va_start(args, fmt);
    va_copy(again, args);
    len = vsnprintf(b->text + b->len, room, fmt, args);
    if (len < 0)
        b->failed = true;
    else if ((size_t)len < room)
        b->len += (size_t)len;
    else if (reserve(b, (size_t)len)) {
        (void)vsnprintf(b->text + b->len, (size_t)len + 1, fmt, again);
        b->len += (size_t)len;
    }
    if (b->failed)
        b->text[b->len] = '\0';
    va_end(again);
    va_end(args);
}

void textbuf_pad(struct textbuf *b, size_t column)
{
    size_t begin = b->len;

    while (begin > 0 && b->text[begin - 1] != '\n')
        begin--;
    while (!b->failed && b->len - begin < column)
        textbuf_add(b, " ", 1);
}

void textbuf_xml(struct textbuf *b, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            textbuf_puts(b, "&lt;");
            break;
        case '>':
            textbuf_puts(b, "&gt;");
            break;
        case '&':
            textbuf_puts(b, "&amp;");
            break;
        case '"':
            textbuf_puts(b, "&quot;");
            break;
        default:
            if ((unsigned char)*text >= 0x20 || *text == '\n')
                textbuf_add(b, text, 1);
        }
    }
}

enum status textbuf_check(const struct textbuf *b, struct diag *d)
{
    return b->failed ? diag_set(d, STATUS_NOMEM, "out of memory while writing a report")
                     : STATUS_OK;
}

void textbuf_fini(struct textbuf *b)
{
    xfree(b->text);
    *b = TEXTBUF_EMPTY;
}

/*
 * findings.c - defensive reader of the virtual GPU's JSON lines.
 * Does not decide verdicts (judging.c does). Invariant: no field is used before its type and range
 * were checked, and an unknown field or line is counted, not trusted.
 */
#include "findings.h"

#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <string.h>
#include <strings.h>

#define TEXT_MAX 240 /* characters of one text that are kept */

/* Printable copy, cut to `max` characters; control characters become blanks. */
static const char *clean(struct arena *a, const char *s, size_t max)
{
    size_t n = strlen(s);
    char *copy;

    if (n > max)
        n = max;
    copy = arena_strndup(a, s, n);
    if (copy == NULL)
        return "";
    for (size_t i = 0; i < n; i++)
        if ((unsigned char)copy[i] < 0x20 || copy[i] == 0x7f)
            copy[i] = ' ';
    return copy;
}

static const char *text_of(struct arena *a, const json_t *object, const char *key)
{
    const char *s = json_string_value(json_object_get(object, key));

    return s == NULL ? "" : clean(a, s, TEXT_MAX);
}

static json_int_t integer_of(const json_t *object, const char *key, json_int_t low, json_int_t high)
{
    const json_t *value = json_object_get(object, key);
    const json_int_t i = json_integer_value(value);

    return json_is_integer(value) && i >= low && i <= high ? i : low;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

/* "(3,0,0)", or "" when the value is not a list of three integers. */
static const char *triple(struct arena *a, const json_t *object, const char *key)
{
    const json_t *list = json_object_get(object, key);

    if (!json_is_array(list) || json_array_size(list) != 3)
        return "";
    return arena_printf(
        a, "(%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT ",%" JSON_INTEGER_FORMAT ")",
        json_integer_value(json_array_get(list, 0)), json_integer_value(json_array_get(list, 1)),
        json_integer_value(json_array_get(list, 2)));
}

/* "4 bytes at input+12 of 12: ld.global.f32 %f1, [%rd4]" from what is there. */
static const char *access_of(struct arena *a, const json_t *o)
{
    const char *alloc = text_of(a, o, "alloc");
    const char *ptx = text_of(a, o, "ptx");
    const json_int_t width = integer_of(o, "width", 0, 1 << 20);
    const char *bytes = "";

    if (alloc[0] != '\0' && width > 0 && json_is_integer(json_object_get(o, "offset")))
        bytes = arena_printf(a,
                             "%" JSON_INTEGER_FORMAT " bytes at %s%+" JSON_INTEGER_FORMAT
                             " of %" JSON_INTEGER_FORMAT,
                             width, alloc, json_integer_value(json_object_get(o, "offset")),
                             integer_of(o, "alloc_size", 0, LLONG_MAX));
    if (bytes[0] == '\0' && ptx[0] == '\0')
        return "";
    return arena_printf(a, ": %s%s%s", bytes, bytes[0] != '\0' && ptx[0] != '\0' ? "; " : "", ptx);
}

static const char *place_of(struct arena *a, const json_t *o)
{
    const char *file = base_name(text_of(a, o, "file"));
    const char *kernel = text_of(a, o, "kernel");
    const char *block = triple(a, o, "block");
    const char *thread = triple(a, o, "thread");
    const json_int_t line = integer_of(o, "line", 0, INT_MAX);
    const char *spot = "";

    if (file[0] != '\0')
        spot = line > 0 ? arena_printf(a, "%s:%d ", file, (int)line) : arena_printf(a, "%s ", file);
    if (spot[0] == '\0' && kernel[0] == '\0' && block[0] == '\0')
        return "";
    return arena_printf(a, "%s%s%s%s%s%s%s", spot, kernel, block[0] != '\0' ? " block " : "", block,
                        thread[0] != '\0' ? " thread " : "", thread, access_of(a, o));
}

static enum finding_class class_of(const char *type, const char *check, const char *kind,
                                   const char *severity)
{
    if (strcmp(type, "refused") == 0)
        return FINDING_REFUSED;
    if (strcmp(check, "api") == 0)
        return FINDING_API;
    if (strcmp(type, "leak") == 0)
        return FINDING_NOTE;
    if (strcmp(type, "warning") == 0)
        return FINDING_WARNING;
    if (strcmp(check, "limits") == 0) /* no progress, or the budget of a launch is spent */
        return FINDING_BUDGET;
    if (strcasecmp(kind, "leak") == 0)
        return FINDING_NOTE;
    if (strcmp(severity, "warning") == 0)
        return FINDING_WARNING;
    if (strcmp(severity, "note") == 0 || strcmp(severity, "info") == 0)
        return FINDING_NOTE;
    return FINDING_FAULT; /* an unknown severity is taken seriously */
}

static void add_finding(struct findings *f, struct arena *a, const json_t *o, const char *type)
{
    const char *check = text_of(a, o, "check");
    const char *kind = text_of(a, o, "kind");
    const json_t *second = json_object_get(o, "other");
    struct finding item = {.check = check, .kind = kind, .text = text_of(a, o, "text")};

    item.class = class_of(type, check, kind, text_of(a, o, "severity"));
    unsigned slot = f->count;
    if (slot == FINDINGS_MAX) { /* a verdict must not depend on how many warnings came before */
        f->dropped++;
        while (slot > 0 && f->items[slot - 1].class >= item.class)
            slot--;
        if (slot == 0)
            return;
        slot--;
    }
    item.file = base_name(text_of(a, o, "file"));
    item.line = (unsigned)integer_of(o, "line", 0, INT_MAX);
    item.place = place_of(a, o);
    item.other = json_is_object(second) ? place_of(a, second) : "";
    if (item.class == FINDING_REFUSED) {
        const char *form = text_of(a, o, "form");

        item.kind = form;
        item.place = item.file[0] != '\0' ? arena_printf(a, "%s:%u %s", item.file, item.line,
                                                         text_of(a, o, "kernel"))
                                          : "";
        if (form[0] != '\0')
            item.text = arena_printf(a, "the virtual GPU does not execute '%s'%s%s", form,
                                     item.place[0] != '\0' ? ", used at " : "", item.place);
    }
    if (item.text == NULL || item.text[0] == '\0')
        item.text = kind[0] != '\0' ? kind : "unnamed finding";
    f->items[slot] = item;
    f->count += slot == f->count;
}

static void add_counters(struct findings *f, struct arena *a, json_t *o)
{
    json_t *counts = json_object_get(o, "counts"), *value;
    const char *key;

    f->launches++;
    if (!json_is_object(counts))
        return;
    json_object_foreach(counts, key, value)
    {
        const json_int_t n = json_integer_value(value);
        unsigned i = 0;

        if (!json_is_integer(value) || n < 0 || strlen(key) > 40)
            continue;
        while (i < f->counter_count && strcmp(f->counters[i].name, key) != 0)
            i++;
        if (i == FINDINGS_MAX_COUNTERS)
            continue;
        if (i == f->counter_count) {
            f->counters[i] = (struct counter){.name = clean(a, key, 40)};
            f->counter_count++;
        }
        f->counters[i].value += (uint64_t)n;
    }
}

/* `whole`: the line has its end. One without was cut where the captured text was full. */
static void parse_line(struct findings *f, struct arena *a, const char *line, size_t len,
                       bool whole)
{
    json_error_t error;
    json_t *o = json_loadb(line, len, JSON_REJECT_DUPLICATES, &error);
    const char *type = json_string_value(json_object_get(o, "t"));

    if (o == NULL && !whole)
        f->dropped++;
    else if (!json_is_object(o) || type == NULL ||
             json_integer_value(json_object_get(o, "v")) != FINDINGS_FORMAT)
        f->malformed++;
    else if (strcmp(type, "launch") == 0)
        add_counters(f, a, o);
    else if (strcmp(type, "finding") == 0 || strcmp(type, "refused") == 0 ||
             strcmp(type, "warning") == 0 || strcmp(type, "leak") == 0)
        add_finding(f, a, o, type);
    else
        f->malformed++;
    json_decref(o);
}

void findings_parse(struct findings *out, struct arena *a, const char *text, size_t len)
{
    memset(out, 0, sizeof *out);
    if (text == NULL)
        return;
    for (size_t begin = 0; begin < len;) {
        const char *end = memchr(text + begin, '\n', len - begin);
        const size_t n = end == NULL ? len - begin : (size_t)(end - (text + begin));

        if (n > 0)
            parse_line(out, a, text + begin, n, end != NULL);
        begin += n + 1;
    }
}

const char *findings_api_error(const struct findings *f, const char *error_name)
{
    const char *why = NULL;

    for (unsigned i = 0; i < f->count && error_name[0] != '\0'; i++)
        if (f->items[i].class == FINDING_API && strstr(f->items[i].text, error_name) != NULL) {
            const char *after =
                strstr(f->items[i].text, "; "); /* behind the sentence of the kind */

            why = after != NULL ? after + 2 : f->items[i].text;
        }
    return why;
}

const struct finding *findings_first(const struct findings *f, enum finding_class class)
{
    for (unsigned i = 0; i < f->count; i++)
        if (f->items[i].class == class)
            return &f->items[i];
    return NULL;
}

/*
 * solution.c - tags of a .cu file, and the .cu files of a problem.
 * Looks at comment lines only; the code below them is nvcc's business.
 */
#include "solution.h"

#include "fileio.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA 13 compiles for compute capability 7.5 and newer. */
#define OLDEST_ARCH 75

enum tag { TAG_IDEA, TAG_SOURCE, TAG_EXPECT, TAG_ARCH, TAG_NEEDS, TAG_TUNE, TAG_COUNT };
static const char *const tag_names[TAG_COUNT] = {"idea", "source", "expect",
                                                 "arch", "needs",  "tune"};

/* One line of the file and what is needed to complain about it. */
struct place {
    const char *file;
    const char *line; /* not terminated */
    size_t len;
    unsigned number;
    struct diag *d;
};

struct span {
    const char *p;
    size_t len;
};

static enum status fail_at(const struct place *w, const char *where, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

static enum status fail_at(const struct place *w, const char *where, const char *fmt, ...)
{
    char text[DIAG_TEXT];
    va_list ap;

    va_start(ap, fmt);
    (void)vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    (void)diag_at(w->d, STATUS_BAD_DATA, w->file, w->number, (unsigned)(where - w->line) + 1, "%s",
                  text);
    diag_source(w->d, w->line, w->len);
    return STATUS_BAD_DATA;
}

static enum status no_memory(const struct place *w)
{
    return diag_at(w->d, STATUS_NOMEM, w->file, 0, 0, "out of memory");
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t' || c == '\r' || c == '\v' || c == '\f';
}

/* The next word at *p, before end; empty at the end. Advances *p behind it. */
static struct span next_word(const char **p, const char *end)
{
    struct span w;

    while (*p < end && is_blank(**p))
        ++*p;
    w.p = *p;
    while (*p < end && !is_blank(**p))
        ++*p;
    w.len = (size_t)(*p - w.p);
    return w;
}

static bool span_is(struct span s, const char *text)
{
    return strlen(text) == s.len && memcmp(s.p, text, s.len) == 0;
}

/* "@key" of a `// @key value` line, or an empty span. *after: where the value starts. */
static struct span line_tag(const struct place *w, const char **after)
{
    const char *p = w->line, *end = w->line + w->len;
    struct span key = {NULL, 0};

    while (p < end && is_blank(*p))
        p++;
    if (end - p < 2 || p[0] != '/' || p[1] != '/')
        return key;
    for (p += 2; p < end && is_blank(*p);)
        p++;
    if (p == end || *p != '@')
        return key;
    p++;
    key = next_word(&p, end);
    *after = p;
    return key;
}

static enum status take_text(const char **out, struct arena *a, const struct place *w,
                             const char *value, const char *tag)
{
    const char *end = w->line + w->len;

    while (value < end && is_blank(*value))
        value++;
    while (end > value && is_blank(end[-1]))
        end--;
    if (value == end)
        return fail_at(w, end, "@%s needs a text", tag);
    for (const char *c = value; c < end; c++)
        if (iscntrl((unsigned char)*c) && *c != '\t')
            return fail_at(w, c, "control character in @%s", tag);
    *out = arena_strndup(a, value, (size_t)(end - value));
    return *out ? STATUS_OK : no_memory(w);
}

static enum status take_expect(struct solution *s, const struct place *w, const char *value)
{
    const char *p = value;
    const struct span word = next_word(&p, w->line + w->len);
    char text[128];
    const char *bad;

    if (word.len == 0 || word.len >= sizeof text)
        return fail_at(w, word.p, "@expect needs a verdict, like 'WA', 'WA|RE' or 'WA@ties_4099'");
    memcpy(text, word.p, word.len);
    text[word.len] = '\0';
    if (memchr(text, '\0', word.len) || !expectation_parse(&s->expect, text, &bad))
        return fail_at(w, word.p + (memchr(text, '\0', word.len) ? 0 : bad - text),
                       "'%s' is no expectation; use verdicts AC WA TLE MLE RE CE SK joined by '|', "
                       "and perhaps '@case'",
                       text);
    if (next_word(&p, w->line + w->len).len)
        return fail_at(w, value, "@expect takes one word, without spaces");
    return STATUS_OK;
}

/* sm_<number>, with an optional 'a' (exactly this architecture) or 'f' (its family). */
static bool arch_number(struct span word, unsigned *number)
{
    size_t i = 3;

    *number = 0;
    if (word.len < 5 || memcmp(word.p, "sm_", 3) != 0)
        return false;
    while (i < word.len && i < 6 && isdigit((unsigned char)word.p[i]))
        *number = *number * 10 + (unsigned)(word.p[i++] - '0');
    return i >= 5 &&
           (i == word.len || (i + 1 == word.len && (word.p[i] == 'a' || word.p[i] == 'f')));
}

bool solution_accepts_arch(const struct solution *s, const char *arch)
{
    const unsigned have = (unsigned)strtoul(arch, NULL, 10);
    struct span tag = {s->arch, strlen(s->arch)};
    unsigned lowest;

    if (!arch_number(tag, &lowest))
        return true; /* no @arch */
    switch (s->arch[tag.len - 1]) {
    case 'a':
        return strcmp(s->arch + 3, arch) == 0;
    case 'f':
        return have / 10 == lowest / 10 && have >= lowest;
    default:
        return have >= lowest;
    }
}

static enum status take_arch(struct solution *s, struct arena *a, const struct place *w,
                             const char *value)
{
    const char *p = value;
    const struct span word = next_word(&p, w->line + w->len);
    unsigned number;

    if (!arch_number(word, &number) || next_word(&p, w->line + w->len).len)
        return fail_at(w, word.p, "@arch needs one architecture, like sm_80, sm_90 or sm_90a");
    if (number < OLDEST_ARCH)
        return fail_at(w, word.p, "CUDA 13 compiles for sm_%d and newer, not sm_%u", OLDEST_ARCH,
                       number);
    s->arch = arena_strndup(a, word.p, word.len);
    return s->arch ? STATUS_OK : no_memory(w);
}

static enum status take_needs(struct solution *s, const struct place *w, const char *value)
{
    const char *p = value, *end = w->line + w->len;
    struct span word = next_word(&p, end);

    if (word.len == 0)
        return fail_at(w, word.p, "@needs takes gpu, vgpu or bench");
    for (; word.len; word = next_word(&p, end)) {
        bool *flag = span_is(word, "gpu")     ? &s->needs_gpu
                     : span_is(word, "vgpu")  ? &s->needs_vgpu
                     : span_is(word, "bench") ? &s->needs_bench
                                              : NULL;

        if (!flag)
            return fail_at(
                w, word.p,
                "@needs takes gpu, vgpu or bench, not '%.*s'; hardware features belong in "
                "the comment",
                (int)(word.len < 40 ? word.len : 40), word.p);
        *flag = true;
    }
    return STATUS_OK;
}

static bool is_identifier(struct span w)
{
    if (w.len == 0 || isdigit((unsigned char)w.p[0]))
        return false;
    for (size_t i = 0; i < w.len; i++)
        if (!isalnum((unsigned char)w.p[i]) && w.p[i] != '_')
            return false;
    return true;
}

static bool parse_long(struct span w, long *out)
{
    char text[24];
    char *end;

    if (w.len == 0 || w.len >= sizeof text)
        return false;
    memcpy(text, w.p, w.len);
    text[w.len] = '\0';
    errno = 0;
    *out = strtol(text, &end, 10);
    return end == text + w.len && errno == 0;
}

static enum status take_tune(struct solution *s, struct arena *a, const struct place *w,
                             const char *value)
{
    const char *p = value, *end = w->line + w->len;
    const struct span name = next_word(&p, end);
    struct span word;
    struct tune t = {0};

    if (!is_identifier(name))
        return fail_at(w, name.p,
                       "@tune needs a constant's name and its values, like '@tune LOADS 8 4'");
    for (unsigned i = 0; i < s->tune_count; i++)
        if (span_is(name, s->tunes[i].name))
            return fail_at(w, name.p, "a second @tune of '%s'", s->tunes[i].name);
    if (s->tune_count == SOLUTION_MAX_TUNES)
        return fail_at(w, name.p, "more than %d @tune lines", SOLUTION_MAX_TUNES);
    while ((word = next_word(&p, end)).len) {
        if (t.value_count == SOLUTION_MAX_TUNE_VALUES)
            return fail_at(w, word.p, "more than %d values", SOLUTION_MAX_TUNE_VALUES);
        if (!parse_long(word, &t.values[t.value_count]))
            return fail_at(w, word.p, "'%.*s' is no integer", (int)(word.len < 40 ? word.len : 40),
                           word.p);
        for (unsigned i = 0; i < t.value_count; i++)
            if (t.values[i] == t.values[t.value_count])
                return fail_at(w, word.p, "the value %ld twice", t.values[i]);
        t.value_count++;
    }
    if (t.value_count == 0)
        return fail_at(w, word.p, "@tune needs at least one value, the default first");
    t.name = arena_strndup(a, name.p, name.len);
    if (!t.name)
        return no_memory(w);
    s->tunes[s->tune_count++] = t;
    return STATUS_OK;
}

static enum status unknown_tag(const struct place *w, struct span key)
{
    char word[64];
    const size_t len = key.len < sizeof word ? key.len : sizeof word - 1;
    const char *near;

    memcpy(word, key.p, len);
    word[len] = '\0';
    near = diag_nearest(word, tag_names, TAG_COUNT);
    if (near)
        return fail_at(w, key.p, "unknown tag '@%s'; did you mean '@%s'?", word, near);
    return fail_at(
        w, key.p, "unknown tag '@%s'; the tags are @idea @source @expect @arch @needs @tune", word);
}

static enum status take_tag(struct solution *s, struct arena *a, const struct place *w,
                            unsigned seen[TAG_COUNT], struct span key, const char *value)
{
    unsigned t = 0;

    while (t < TAG_COUNT && !span_is(key, tag_names[t]))
        t++;
    if (t == TAG_COUNT)
        return unknown_tag(w, key);
    if (seen[t] && t != TAG_TUNE)
        return fail_at(w, key.p, "a second @%s; the first is in line %u", tag_names[t], seen[t]);
    seen[t] = w->number;
    switch ((enum tag)t) {
    case TAG_IDEA:
        return take_text(&s->idea, a, w, value, "idea");
    case TAG_SOURCE:
        return take_text(&s->source, a, w, value, "source");
    case TAG_EXPECT:
        return take_expect(s, w, value);
    case TAG_ARCH:
        return take_arch(s, a, w, value);
    case TAG_NEEDS:
        return take_needs(s, w, value);
    case TAG_TUNE:
        return take_tune(s, a, w, value);
    case TAG_COUNT:
        break;
    }
    UNREACHABLE();
}

/* True while the line belongs to the head of the file: blank or a `//` comment. */
static bool is_head(const struct place *w)
{
    const char *p = w->line, *end = w->line + w->len;

    while (p < end && is_blank(*p))
        p++;
    return p == end || (end - p >= 2 && p[0] == '/' && p[1] == '/');
}

static bool is_known(struct span key)
{
    for (unsigned t = 0; t < TAG_COUNT; t++)
        if (span_is(key, tag_names[t]))
            return true;
    return false;
}

enum status solution_parse(struct solution *out, struct arena *a, const char *text, size_t len,
                           enum solution_kind kind, const char *file, struct diag *d)
{
    struct solution s = {.kind = kind, .idea = "", .source = "", .arch = ""};
    struct place w = {.file = file, .d = d};
    unsigned seen[TAG_COUNT] = {0};
    const char *end = text + len;
    bool head = true;

    s.expect.set = 1u << VERDICT_AC;
    if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) /* byte order mark of some editors */
        text += 3;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        const char *after = NULL;
        struct span key;

        w.line = text;
        w.len = (size_t)((stop ? stop : end) - text);
        w.number++;
        head = head && is_head(&w);
        key = line_tag(&w, &after);
        if (head && key.p)
            TRY(take_tag(&s, a, &w, seen, key, after));
        else if (key.p && is_known(key))
            return fail_at(&w, key.p - 1, "tag below the first line of code; tags head the file");
        text = stop ? stop + 1 : end;
    }
    if (kind == SOLUTION_REJECT && !seen[TAG_EXPECT])
        return diag_at(d, STATUS_BAD_DATA, file, 1, 0,
                       "a file in rejects/ needs a line like '// @expect WA'");
    if (s.needs_gpu && s.needs_vgpu)
        return diag_at(d, STATUS_BAD_DATA, file, seen[TAG_NEEDS], 0,
                       "@needs gpu and vgpu exclude each other");
    *out = s;
    return STATUS_OK;
}

static const char *const kind_prefix[] = {
    [SOLUTION_ACCEPT] = "",
    [SOLUTION_BASELINE] = "baselines/",
    [SOLUTION_REJECT] = "rejects/",
    [SOLUTION_FOREIGN] = "",
};

/* Length of the stem of "x.cu"; 0 when the name is none of a solution. */
static size_t stem_len(const char *name)
{
    const size_t n = strlen(name);

    return n > 3 && name[0] != '.' && strcmp(name + n - 3, ".cu") == 0 ? n - 3 : 0;
}

enum status solution_load(struct solution *out, struct arena *a, const char *problem,
                          const char *path, enum solution_kind kind, struct diag *d)
{
    struct solution s;
    char *text, *full;
    size_t len;
    const char *base;

    TRY(file_read(&text, &len, a, path, SOLUTION_MAX_BYTES, d));
    TRY(solution_parse(&s, a, text, len, kind, path, d));
    full = realpath(path, NULL);
    if (!full)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot resolve: %s", strerror(errno));
    s.path = arena_strdup(a, full);
    free(full);
    base = strrchr(path, '/');
    base = base ? base + 1 : path;
    s.name = arena_printf(a, "%s%.*s", kind_prefix[kind],
                          (int)(stem_len(base) ? stem_len(base) : strlen(base)), base);
    s.problem = arena_strdup(a, problem);
    if (!s.path || !s.name || !s.problem)
        return diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
    *out = s;
    return STATUS_OK;
}

struct listing {
    struct solution *items;
    unsigned count, room;
};

static enum status list_add(struct listing *l, struct arena *a, const char *problem,
                            const char *path, enum solution_kind kind, struct diag *d)
{
    if (l->count == l->room) {
        const unsigned room = l->room ? 2 * l->room : 32;
        struct solution *more = arena_array(a, room, sizeof *more);

        if (!more)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        if (l->count)
            memcpy(more, l->items, l->count * sizeof *more);
        l->items = more;
        l->room = room;
    }
    TRY(solution_load(&l->items[l->count], a, problem, path, kind, d));
    l->count++;
    return STATUS_OK;
}

enum status solution_list(const struct solution **out, unsigned *count, struct arena *a,
                          const char *root, const char *problem, struct diag *d)
{
    static const enum solution_kind kinds[] = {SOLUTION_ACCEPT, SOLUTION_BASELINE, SOLUTION_REJECT};
    struct listing l = {0};

    for (unsigned k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const char *dir =
            arena_printf(a, "%s/problems/%s/%s", root, problem, kind_prefix[kinds[k]]);
        const char *const *names;
        unsigned n;

        if (!dir)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        TRY(dir_list(&names, &n, a, dir, d));
        for (unsigned i = 0; i < n; i++) {
            const char *path =
                arena_printf(a, "%s%s%s", dir, kind_prefix[kinds[k]][0] ? "" : "/", names[i]);

            if (!path)
                return diag_set(d, STATUS_NOMEM, "out of memory");
            if (stem_len(names[i]))
                TRY(list_add(&l, a, problem, path, kinds[k], d));
        }
    }
    *out = l.items;
    *count = l.count;
    return STATUS_OK;
}

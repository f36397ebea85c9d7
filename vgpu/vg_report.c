/*
 * vg_report.c - findings and counts as versioned JSON lines (docs/file-formats.md) or as text on
 * stderr. Decides nothing: severity and CUDA error come from faults.def. Invariant: at most ten
 * lines for one (kernel, instruction, kind) and a bounded number of bytes a call, of which warnings
 * take no more than half; the rest is counted and said at the end of the call.
 */
#include "vg_report.h"

#include "machine.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    REPEAT_LIMIT = 10,
    CALL_BYTES = 128 << 10, /* of findings a call; the judge keeps twice as much */
    LINE_MAX_BYTES = 16384  /* all strings cut and escaped at their worst */
};

struct fault_row {
    const char *id, *check;
    int severity, cuda_error;
    const char *text;
};
static const struct fault_row FAULTS[FAULT_COUNT] = {
#define X(id, check, severity, cuda_error, text) {#id, check, severity, cuda_error, text},
#include "faults.def"
#undef X
};

/* One (kernel, instruction, kind) seen so far. */
struct seen {
    const struct ptx_func *func;
    const struct ptx_inst *inst;
    enum fault_kind kind;
    uint64_t times;
};

int fault_cuda_error(enum fault_kind k) { return FAULTS[k].cuda_error; }
const char *fault_check(enum fault_kind k) { return FAULTS[k].check; }
bool fault_is_error(enum fault_kind k) { return FAULTS[k].severity != 0; }

/* ---- a line under construction ---- */
struct line {
    char text[LINE_MAX_BYTES];
    size_t len;
};

static void put(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(struct line *l, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    const int n = vsnprintf(l->text + l->len, sizeof l->text - l->len, fmt, ap);
    va_end(ap);
    if (n > 0)
        l->len += (size_t)n < sizeof l->text - l->len ? (size_t)n : sizeof l->text - l->len - 1;
}

/* A JSON string; control characters and non-ASCII bytes are escaped, long text is cut. */
static void put_string(struct line *l, const char *s)
{
    put(l, "\"");
    for (size_t i = 0; s && s[i] != '\0' && i < 600; i++) {
        const unsigned char c = (unsigned char)s[i];
        if (c == '"' || c == '\\')
            put(l, "\\%c", c);
        else if (c < 0x20 || c >= 0x7f)
            put(l, "\\u%04x", c);
        else
            put(l, "%c", c);
    }
    put(l, "\"");
}

static void key_string(struct line *l, const char *key, const char *value)
{
    put(l, ",\"%s\":", key);
    put_string(l, value);
}

/* Puts a line before the byte `at` of the pending ones; false: out of memory. */
static bool insert(struct report *r, const char *text, size_t len, uint32_t at)
{
    if (r->buffered + len + 1 > r->buffer_cap) {
        const size_t want = (r->buffered + len + 1) * 2;
        char *grown = realloc(r->buffer, want);
        if (!grown)
            return false;
        r->buffer = grown;
        r->buffer_cap = (uint32_t)want;
    }
    memmove(r->buffer + at + len + 1, r->buffer + at, r->buffered - at);
    memcpy(r->buffer + at, text, len);
    r->buffer[at + len] = '\n';
    r->buffered += (uint32_t)len + 1;
    r->written++;
    return true;
}

static void emit(struct report *r, const struct line *l)
{
    (void)insert(r, l->text, l->len, r->buffered);
}

/*
 * A finding, in the place that tells most: a race between warps goes before the races inside one
 * warp of the same launch, because a missing block barrier shows as both, and the first finding is
 * the one that people read.
 */
static void emit_finding(struct report *r, const struct finding *f, const struct line *l)
{
    const bool race = f->other != NULL, inside = race && f->other->warp == f->at.warp;
    const bool error = fault_is_error(f->kind);

    if (r->finding_bytes + l->len > (error ? CALL_BYTES : CALL_BYTES / 2)) {
        r->left_out[error]++;
        return;
    }
    const uint32_t at = race && !inside && r->inner_race ? r->inner_race - 1 : r->buffered;
    if (inside && error && !r->inner_race)
        r->inner_race = r->buffered + 1;
    if (!insert(r, l->text, l->len, at)) {
        r->left_out[error]++;
        return;
    }
    if (at + l->len + 1 < r->buffered)
        r->inner_race += (uint32_t)l->len + 1;
    r->finding_bytes += (uint32_t)l->len;
}

void report_flush(struct report *r)
{
    const int fd = r->fd >= 0 ? r->fd : STDERR_FILENO;
    size_t done = 0;

    while (done < r->buffered) {
        const ssize_t n = write(fd, r->buffer + done, r->buffered - done);
        if (n <= 0)
            break; /* nobody listens: the findings are lost, the CUDA error stays */
        done += (size_t)n;
    }
    r->buffered = r->inner_race = 0;
}

void report_end_of_call(struct report *r)
{
    struct line l = {.len = 0};

    if (r->left_out[0] + r->left_out[1] > 0) {
        char text[160];
        snprintf(text, sizeof text,
                 "%" PRIu64 " more errors and %" PRIu64
                 " more warnings are left out: more than %d KiB of findings",
                 r->left_out[1], r->left_out[0], CALL_BYTES >> 10);
        put(&l,
            r->fd >= 0 ? "{\"v\":1,\"t\":\"finding\",\"check\":\"report\",\"severity\":\"note\","
                         "\"kind\":\"left_out\",\"text\":\"%s\"}"
                       : "vgpu: %s",
            text);
        emit(r, &l);
    }
    if (r->repeated > 0 && r->fd < 0) { /* readers of lines have the key "repeats" */
        l.len = 0;
        put(&l, "vgpu: %" PRIu64 " more findings at places shown above", r->repeated);
        emit(r, &l);
    }
    report_flush(r);
    r->repeated = r->left_out[0] = r->left_out[1] = 0;
    r->finding_bytes = 0;
    r->seen_count = 0;
}

/* ---- places ---- */

/* Headers of the toolkit lie below an include folder; the solution's own file does not. */
static bool is_own_file(const char *path)
{
    return path && strstr(path, "/include/") == NULL && strstr(path, "/cccl/") == NULL;
}

static const char *file_of(const struct ptx_module *m, const struct ptx_loc *loc)
{
    return m && loc && loc->file < m->file_count ? m->files[loc->file] : NULL;
}

static const char *base_name(const char *path)
{
    const char *slash = path ? strrchr(path, '/') : NULL;

    return slash ? slash + 1 : path;
}

/* Follows inlined_at outwards to the solution's own file; NULL without line information. */
static const struct ptx_loc *own_loc(const struct ptx_module *m, const struct ptx_loc *loc)
{
    for (const struct ptx_loc *at = loc; at; at = at->inlined_at)
        if (is_own_file(file_of(m, at)))
            return at;
    return loc;
}

uint32_t report_line(const struct ptx_module *m, const struct ptx_inst *inst)
{
    const struct ptx_loc *loc = inst ? own_loc(m, inst->loc) : NULL;

    return loc ? loc->line : inst ? inst->line : 0;
}

static void put_chain(struct line *l, const struct ptx_module *m, const struct ptx_loc *loc)
{
    char chain[400] = "";
    size_t used = 0;

    for (const struct ptx_loc *at = loc; at && used < sizeof chain; at = at->inlined_at) {
        const char *file = base_name(file_of(m, at));
        const int n = snprintf(chain + used, sizeof chain - used, "%s%s:%u", used ? " < " : "",
                               file ? file : "?", at->line);
        used += n > 0 ? (size_t)n : 0;
    }
    key_string(l, "chain", chain);
}

static void put_place(struct line *l, const struct ptx_module *m, const struct ptx_inst *inst)
{
    const struct ptx_loc *loc = inst ? own_loc(m, inst->loc) : NULL;
    const char *file = base_name(file_of(m, loc));

    key_string(l, "file", file ? file : "");
    put(l, ",\"line\":%u,\"col\":%u", loc ? loc->line : 0, loc ? loc->col : 0);
}

static void put_xyz(struct line *l, const char *key, const uint32_t v[3])
{
    put(l, ",\"%s\":[%u,%u,%u]", key, v[0], v[1], v[2]);
}

/* The kernel's name as the source spells it: the mangled name's own identifier. */
void report_kernel_name(const char *mangled, char *out, size_t size)
{
    const char *p = mangled;

    if (strncmp(p, "_Z", 2) == 0) {
        p += 2;
        while (*p && strchr("NKLS", *p)) /* nested, const, internal linkage */
            p++;
        const char *best = NULL;
        size_t best_len = 0;
        while (*p >= '0' && *p <= '9') { /* the last component is the function itself */
            char *end;
            const unsigned long n = strtoul(p, &end, 10);
            if (n == 0 || n > strlen(end))
                break;
            best = end;
            best_len = n;
            p = end + n;
        }
        if (best) {
            snprintf(out, size, "%.*s", (int)best_len, best);
            return;
        }
    }
    snprintf(out, size, "%s", mangled);
}

/* "400 bytes past the end of 'input' (4000012 bytes)" */
static void put_relation(char *out, size_t size, const struct finding *f)
{
    const struct alloc *a = f->alloc;
    char name[64];

    if (!a) {
        snprintf(out, size, "at 0x%" PRIx64, f->address);
        return;
    }
    if (a->name[0])
        snprintf(name, sizeof name, "'%s'", a->name);
    else
        snprintf(name, sizeof name, "allocation %" PRIu64, a->ordinal);
    if (f->address < a->addr)
        snprintf(out, size, "%" PRIu64 " bytes before %s (%" PRIu64 " bytes)", a->addr - f->address,
                 name, a->size);
    else if (f->address - a->addr >= a->size)
        snprintf(out, size, "%" PRIu64 " bytes past the end of %s (%" PRIu64 " bytes)",
                 f->address - a->addr - a->size, name, a->size);
    else
        snprintf(out, size, "at offset %" PRIu64 " of %s (%" PRIu64 " bytes)%s",
                 f->address - a->addr, name, a->size, a->live ? "" : ", freed");
}

static struct seen *remember(struct report *r, const struct finding *f)
{
    const struct ptx_func *func = f->grid ? f->grid->func : NULL;
    struct seen *all = r->seen;

    for (uint32_t i = 0; i < r->seen_count; i++)
        if (all[i].func == func && all[i].inst == f->at.inst && all[i].kind == f->kind)
            return &all[i];
    if (r->seen_count == r->seen_cap) {
        const uint32_t larger = r->seen_cap ? r->seen_cap * 2 : 32;
        struct seen *grown = realloc(all, larger * sizeof *grown);
        if (!grown)
            return NULL;
        r->seen = all = grown;
        r->seen_cap = larger;
    }
    all[r->seen_count] = (struct seen){.func = func, .inst = f->at.inst, .kind = f->kind};
    return &all[r->seen_count++];
}

void report_finding(struct report *r, const struct finding *f)
{
    struct seen *s = remember(r, f);

    r->errors += fault_is_error(f->kind);
    if (s && ++s->times > REPEAT_LIMIT) {
        r->repeated++;
        return;
    }
    const struct fault_row *row = &FAULTS[f->kind];
    const struct ptx_module *m = f->grid ? f->grid->func->module : NULL;
    struct line l = {.len = 0};
    char kernel[160] = "", relation[256] = "", kind[48];

    if (f->grid)
        report_kernel_name(f->grid->func->name, kernel, sizeof kernel);
    for (size_t i = 0; i < sizeof kind; i++) {
        const char c = row->id[i];
        kind[i] = (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
        if (c == '\0')
            break;
    }
    kind[sizeof kind - 1] = '\0';
    put(&l, "{\"v\":1,\"t\":\"finding\"");
    key_string(&l, "check", row->check);
    key_string(&l, "severity", row->severity ? "error" : "warning");
    key_string(&l, "kind", kind);
    if (f->grid) {
        key_string(&l, "kernel", kernel);
        put(&l, ",\"launch\":%" PRIu64, f->grid->launch_number);
    }
    if (f->at.inst) {
        put_place(&l, m, f->at.inst);
        if (f->at.inst->loc && f->at.inst->loc->inlined_at)
            put_chain(&l, m, f->at.inst->loc);
        put_xyz(&l, "block", f->at.block);
        put_xyz(&l, "thread", f->at.thread);
        put(&l, ",\"warp\":%u,\"lane\":%u", f->at.warp, f->at.lane);
        key_string(&l, "ptx", f->at.inst->text);
    }
    if (f->address || f->alloc) {
        put(&l, ",\"address\":\"0x%" PRIx64 "\"", f->address);
        put_relation(relation, sizeof relation, f);
    }
    if (f->alloc) {
        key_string(&l, "alloc", f->alloc->name);
        put(&l, ",\"alloc_size\":%" PRIu64 ",\"offset\":%" PRId64, f->alloc->size,
            (int64_t)(f->address - f->alloc->addr));
    }
    if (f->width)
        put(&l, ",\"width\":%u", f->width);
    if (f->lanes)
        put(&l, ",\"lanes\":%u", f->lanes);
    put(&l, ",\"repeats\":%" PRIu64, s ? s->times - 1 : 0);
    if (f->other) {
        put(&l, ",\"other\":{\"v\":1");
        put_place(&l, m, f->other->inst);
        put_xyz(&l, "thread", f->other->thread);
        key_string(&l, "ptx", f->other->inst ? f->other->inst->text : "");
        put(&l, "}");
    }
    char sentence[768];
    snprintf(sentence, sizeof sentence, "%s%s%s%s%s", row->text, relation[0] ? ": " : "", relation,
             f->detail[0] ? "; " : "", f->detail);
    key_string(&l, "text", sentence);
    put(&l, "}");
    if (r->fd >= 0) {
        emit_finding(r, f, &l);
        return;
    }
    /* A person reads stderr. */
    struct line t = {.len = 0};
    put(&t, "vgpu: %s %s: %s", row->check, row->severity ? "error" : "warning", sentence);
    if (f->at.inst) {
        const struct ptx_loc *loc = own_loc(m, f->at.inst->loc);
        const char *file = base_name(file_of(m, loc));
        put(&t,
            "\n  %s:%u:%u in %s, launch %" PRIu64 ", block (%u,%u,%u) thread (%u,%u,%u), "
            "warp %u lane %u",
            file ? file : "?", loc ? loc->line : 0, loc ? loc->col : 0, kernel,
            f->grid ? f->grid->launch_number : 0, f->at.block[0], f->at.block[1], f->at.block[2],
            f->at.thread[0], f->at.thread[1], f->at.thread[2], f->at.warp, f->at.lane);
        if (f->lanes > 1)
            put(&t, "; %u more lanes", f->lanes - 1);
        put(&t, "\n  %s", f->at.inst->text);
        if (f->other && f->other->inst) {
            const struct ptx_loc *there = own_loc(m, f->other->inst->loc);
            put(&t, "\n  other: line %u, thread (%u,%u,%u)\n  %s", there ? there->line : 0,
                f->other->thread[0], f->other->thread[1], f->other->thread[2],
                f->other->inst->text);
        }
    }
    emit_finding(r, f, &t);
}

void report_text(struct report *r, const char *type, const char *text)
{
    struct line l = {.len = 0};

    if (r->fd >= 0) {
        put(&l, "{\"v\":1");
        key_string(&l, "t", type);
        key_string(&l, "text", text);
        put(&l, "}");
    } else {
        put(&l, "vgpu: %s: %s", type, text);
    }
    emit(r, &l);
}

void report_launch(struct report *r, const struct grid *g)
{
    struct line l = {.len = 0};
    char kernel[160];
    const char *separator = "";

    if (r->fd < 0)
        return; /* counts are for programs; ptxrun prints its own table */
    report_kernel_name(g->func->name, kernel, sizeof kernel);
    put(&l, "{\"v\":1,\"t\":\"launch\"");
    key_string(&l, "kernel", kernel);
    put(&l, ",\"launch\":%" PRIu64, g->launch_number);
    put_xyz(&l, "grid", g->dim);
    put_xyz(&l, "block", g->block_dim);
    put(&l, ",\"error\":%d,\"counts\":{", g->error);
#define X(name, meaning)                                                                           \
    put(&l, "%s\"" #name "\":%" PRIu64, separator, g->counts.name);                                \
    separator = ",";
#include "counters.def"
#undef X
    put(&l, "}}");
    emit(r, &l);
}

void report_refused(struct report *r, const char *kernel, const struct ptx_inst *in,
                    const char *text)
{
    struct line l = {.len = 0};
    char name[160];

    report_kernel_name(kernel, name, sizeof name);
    if (r->fd < 0) {
        put(&l, "vgpu: %s refused: %s", name, text);
        emit(r, &l);
        return;
    }
    put(&l, "{\"v\":1,\"t\":\"refused\"");
    key_string(&l, "kernel", name);
    key_string(&l, "form", in ? in->text : "");
    put_place(&l, NULL, in);
    key_string(&l, "text", text);
    put(&l, "}");
    emit(r, &l);
}

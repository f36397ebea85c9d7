/*
 * report_json.c - writer of the results document.
 * Reads nothing back (store.c does). Invariant: keys come in the order of the schema, so that two
 * equal results are equal texts.
 */
#include "report_json.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values ---- */

/* Length of the valid UTF-8 sequence at s, 0 if there is none. */
static size_t utf8_length(const unsigned char *s)
{
    size_t n;

    if (s[0] < 0x80)
        return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf)
        n = 2;
    else if ((s[0] & 0xf0) == 0xe0)
        n = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4)
        n = 4;
    else
        return 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
        (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

static void add_string(struct textbuf *out, const char *text, size_t len, size_t max)
{
    static const char mark[] = " [cut]";
    const unsigned char *s = (const unsigned char *)text;
    const bool cut = len > max;

    if (cut)
        for (len = max - (sizeof mark - 1); (s[len] & 0xc0) == 0x80 && len > 0;)
            len--; /* not inside a character */
    textbuf_puts(out, "\"");
    for (size_t i = 0; i < len;) {
        size_t plain = i, n;

        while (plain < len && s[plain] >= 0x20 && s[plain] < 0x7f && s[plain] != '"' &&
               s[plain] != '\\')
            plain++;
        textbuf_add(out, text + i, plain - i);
        i = plain;
        if (i == len)
            break;
        n = utf8_length(s + i);
        if (n == 0 || i + n > len) {
            textbuf_puts(out, "?");
            i++;
            continue;
        }
        if (s[i] == '"' || s[i] == '\\')
            textbuf_puts(out, "\\");
        if (s[i] < 0x20 || s[i] == 0x7f)
            textbuf_puts(out, " ");
        else
            textbuf_add(out, text + i, n);
        i += n;
    }
    textbuf_puts(out, cut ? mark : "");
    textbuf_puts(out, "\"");
}

void report_json_string(struct textbuf *out, const char *text)
{
    add_string(out, text, strlen(text), REPORT_JSON_TEXT_MAX);
}

void report_json_number(struct textbuf *out, double x)
{
    char text[40];
    uint64_t bits;

    if (!isfinite(x)) {
        memcpy(&bits, &x, sizeof bits);
        textbuf_printf(out, "\"%s:%016" PRIx64 "\"",
                       isnan(x) ? "nan"
                       : x > 0  ? "inf"
                                : "-inf",
                       bits);
        return;
    }
    if (x == rint(x) && fabs(x) < 1e15 && !(x == 0.0 && signbit(x))) {
        textbuf_printf(out, "%" PRId64, (int64_t)x);
        return;
    }
    for (int digits = 15; digits <= 17; digits++) { /* the shortest that reads back the same */
        (void)snprintf(text, sizeof text, "%.*g", digits, x);
        if (strtod(text, NULL) == x)
            break;
    }
    textbuf_puts(out, text);
}

/* ---- members: `"key": value` with a comma in front of all but the first ---- */

static void key(struct textbuf *out, const char *name)
{
    if (out->len > 0 && out->text != NULL && out->text[out->len - 1] != '{')
        textbuf_puts(out, ", ");
    textbuf_puts(out, "\"");
    textbuf_puts(out, name);
    textbuf_puts(out, "\": ");
}

static void text(struct textbuf *out, const char *name, const char *value)
{
    key(out, name);
    report_json_string(out, value);
}

static void number(struct textbuf *out, const char *name, double value)
{
    key(out, name);
    report_json_number(out, value);
}

/* Counts above 2^63 do not fit JSON readers: they are cut there, which only UINT64_MAX reaches. */
static void count(struct textbuf *out, const char *name, uint64_t value)
{
    key(out, name);
    textbuf_printf(out, "%" PRIu64, value > INT64_MAX ? (uint64_t)INT64_MAX : value);
}

static void truth(struct textbuf *out, const char *name, bool value)
{
    key(out, name);
    textbuf_puts(out, value ? "true" : "false");
}

/* A text of several lines as a list of lines. */
static void lines(struct textbuf *out, const char *name, const char *value)
{
    const char *at = value;

    key(out, name);
    textbuf_puts(out, "[");
    for (unsigned i = 0; *at != '\0' && i < REPORT_JSON_LINES_MAX; i++) {
        const size_t n = strcspn(at, "\n");

        if (at != value)
            textbuf_puts(out, ", ");
        add_string(out, at, n, REPORT_JSON_LINE_MAX);
        at += n;
        at += *at == '\n';
    }
    textbuf_puts(out, "]");
}

static void samples(struct textbuf *out, const char *name, const double *values, unsigned n)
{
    key(out, name);
    textbuf_puts(out, "[");
    for (unsigned i = 0; i < n; i++) {
        if (i > 0)
            textbuf_puts(out, ", ");
        report_json_number(out, values[i]);
    }
    textbuf_puts(out, "]");
}

/* ---- parts ---- */

static void context(struct textbuf *out, const struct run_context *c)
{
    textbuf_puts(out, "{");
    text(out, "judge", c->judge_version);
    text(out, "commit", c->commit);
    text(out, "backend", c->backend);
    text(out, "device", c->device.name);
    text(out, "arch", c->device.arch);
    text(out, "driver", c->device.driver);
    text(out, "cuda", c->cuda);
    text(out, "nvcc", c->nvcc);
    count(out, "sm_count", c->device.sm_count);
    count(out, "l2_bytes", c->device.l2_bytes);
    count(out, "memory_bytes", c->device.memory_bytes);
    text(out, "clocks", c->clocks);
    text(out, "flush", c->flush);
    number(out, "e0_us", c->device.e0_us);
    number(out, "read_gbs", 1e3 * c->device.read_tbs);
    number(out, "copy_gbs", 1e3 * c->device.copy_tbs);
    key(out, "seed");
    textbuf_printf(out, "\"%" PRIx64 "\"", c->seed);
    text(out, "start", c->start);
    count(out, "jobs", c->jobs);
    textbuf_puts(out, "}");
}

static void kernels(struct textbuf *out, const struct object *o)
{
    key(out, "kernels");
    textbuf_puts(out, "[");
    for (unsigned i = 0; i < o->kernel_count; i++) {
        const struct kernel_info *k = &o->kernels[i];

        textbuf_puts(out, i > 0 ? ", {" : "{");
        text(out, "name", k->name);
        count(out, "registers", k->registers);
        count(out, "spill_bytes", (uint64_t)k->spill_store_bytes + k->spill_load_bytes);
        count(out, "stack", k->stack_bytes);
        count(out, "shared", k->shared_bytes);
        textbuf_puts(out, "}");
    }
    textbuf_puts(out, "]");
}

static void mismatch(struct textbuf *out, const struct case_result *c)
{
    const struct mismatch *m = &c->mismatch;

    key(out, "mismatch");
    textbuf_puts(out, "{");
    text(out, "param", c->param);
    count(out, "first", m->first);
    count(out, "last", m->last);
    count(out, "count", m->count);
    count(out, "unwritten", m->unwritten);
    number(out, "got", m->got);
    number(out, "want", m->want);
    number(out, "max_abs", m->max_abs);
    number(out, "max_rel", m->max_rel);
    count(out, "ulp", m->max_ulp);
    textbuf_puts(out, "}");
}

static void exponents(struct textbuf *out, const struct problem *p, const struct case_result *c)
{
    key(out, "exponents");
    textbuf_puts(out, "[");
    for (unsigned k = 0; k < c->calls && k < RESULTS_CALLS; k++) {
        textbuf_puts(out, k > 0 ? ", [" : "[");
        for (unsigned g = 0; g < p->group_count; g++)
            textbuf_printf(out, "%s%d", g > 0 ? ", " : "", c->exponents[k][g]);
        textbuf_puts(out, "]");
    }
    textbuf_puts(out, "]");
}

static void bench(struct textbuf *out, const struct timing *t)
{
    key(out, "bench");
    textbuf_puts(out, "{");
    samples(out, "cold_us", t->cold_us, t->cold_n);
    samples(out, "hot_us", t->hot_us, t->hot_n);
    number(out, "median_us", t->cold.median);
    number(out, "noise", t->cold.noise);
    number(out, "se", t->cold.se);
    number(out, "hot_median_us", t->hot.median);
    number(out, "graph_us", t->graph_us);
    number(out, "floor_us", t->floor_us);
    text(out, "flags", t->flags);
    number(out, "clock_mhz", t->clock_mhz);
    truth(out, "ranked", t->ranked);
    text(out, "unranked_reason", t->unranked_reason);
    textbuf_puts(out, "}");
}

static void one_case(struct textbuf *out, const struct problem *p, const struct case_result *c)
{
    const struct casedef *def = c->casedef;

    textbuf_puts(out, "{");
    text(out, "case", def->name);
    key(out, "tags");
    textbuf_puts(out, "[");
    for (unsigned i = 0; def->tags[i] != NULL; i++) {
        if (i > 0)
            textbuf_puts(out, ", ");
        report_json_string(out, def->tags[i]);
    }
    textbuf_puts(out, "]");
    number(out, "bytes", def->traffic_read + def->traffic_write);
    number(out, "flops", def->flops);
    text(out, "verdict", verdict_name(c->verdict));
    text(out, "reason", c->reason);
    key(out, "call");
    textbuf_printf(out, "\"%c\"", c->call);
    truth(out, "advisory", c->advisory);
    truth(out, "skipped_by_case", c->skipped_by_case);
    lines(out, "detail", c->detail);
    if (c->mismatch.count > 0)
        mismatch(out, c);
    key(out, "hints");
    textbuf_puts(out, "[");
    for (unsigned i = 0; i < HINTS_MAX && c->hints[i] != NULL; i++) {
        if (i > 0)
            textbuf_puts(out, ", ");
        report_json_string(out, c->hints[i]);
    }
    textbuf_puts(out, "]");
    number(out, "margin", c->margin);
    exponents(out, p, c);
    count(out, "calls", c->calls);
    number(out, "wall_ms", c->wall_ms);
    number(out, "total_ms", c->total_ms);
    count(out, "scratch_bytes", c->scratch_bytes);
    count(out, "launches", c->launches);
    count(out, "allocations", c->allocs);
    key(out, "counts");
    textbuf_puts(out, "{");
    for (unsigned i = 0; i < c->count_count; i++) {
        if (i > 0)
            textbuf_puts(out, ", ");
        report_json_string(out, c->counts[i].name);
        textbuf_printf(out, ": %" PRIu64,
                       c->counts[i].value > INT64_MAX ? (uint64_t)INT64_MAX : c->counts[i].value);
    }
    textbuf_puts(out, "}");
    lines(out, "warnings", c->warnings);
    if (c->timing != NULL)
        bench(out, c->timing);
    textbuf_puts(out, "}");
}

/* "WA|RE@case" from the set and the place. */
static void expectation(struct textbuf *out, const struct expectation *e)
{
    char word[128] = "";
    size_t len = 0;

    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        if ((e->set >> v & 1u) != 0)
            len += (size_t)snprintf(word + len, sizeof word - len, "%s%s", len > 0 ? "|" : "",
                                    verdict_name((enum verdict)v));
    if (e->at_case[0] != '\0')
        (void)snprintf(word + len, sizeof word - len, "@%s", e->at_case);
    text(out, "expect", word);
}

static const char *kind_name(enum solution_kind kind)
{
    switch (kind) {
    case SOLUTION_ACCEPT:
        return "accept";
    case SOLUTION_BASELINE:
        return "baseline";
    case SOLUTION_REJECT:
        return "reject";
    case SOLUTION_FOREIGN:
        return "foreign";
    }
    UNREACHABLE();
}

static void one_solution(struct textbuf *out, const struct solution_result *r)
{
    textbuf_puts(out, "{");
    text(out, "problem", r->problem->name);
    count(out, "perf_version", r->problem->perf_version);
    text(out, "solution", r->solution->name);
    text(out, "kind", kind_name(r->solution->kind));
    text(out, "idea", r->solution->idea);
    text(out, "source_hash", r->source_hash);
    text(out, "tune", r->tune);
    expectation(out, &r->solution->expect);
    text(out, "verdict", verdict_name(r->verdict));
    text(out, "site_verdict", verdict_name(r->site_verdict));
    truth(out, "as_expected", r->as_expected);
    truth(out, "device_unhealthy", r->device_unhealthy);
    text(out, "reason", r->reason);
    number(out, "judge_s", r->judge_s);
    number(out, "compile_s", r->object.compile_s);
    kernels(out, &r->object);
    lines(out, "compile_log", r->object.log);
    lines(out, "stdout", r->stdout_text);
    lines(out, "stderr", r->stderr_text);
    count(out, "output_dropped", r->output_dropped);
    key(out, "cases");
    textbuf_puts(out, "[");
    for (unsigned i = 0; i < r->case_count; i++) {
        textbuf_puts(out, i > 0 ? ",\n    " : "\n    ");
        one_case(out, r->problem, &r->cases[i]);
    }
    textbuf_puts(out, "]}");
}

void report_json(struct textbuf *out, const struct results *r)
{
    textbuf_printf(out, "{\"format\": %d,\n\"context\": ", RESULTS_FORMAT);
    context(out, &r->context);
    textbuf_puts(out, ",\n\"results\": [");
    for (unsigned i = 0; i < r->solution_count; i++) {
        textbuf_puts(out, i > 0 ? ",\n  " : "\n  ");
        one_solution(out, &r->solutions[i]);
    }
    textbuf_puts(out, "]}\n");
}

/*
 * bench.c - one child per solution, kept alive through all cases of a problem; rounds in random
 * order; samples until good enough.
 * Invariant: a sample enters the statistics only after its record was complete and its outputs
 * were right.
 */
#include "bench.h"

#include "board.h"
#include "caseset.h"
#include "clockwatch.h"
#include "draw.h"
#include "proc.h"
#include "xalloc.h"
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WARMUPS       3u
#define HOT_PER_ROUND 2u
#define GRAPH_SAMPLES 15u
#define EXTRA_SAMPLES 10u     /* a round after the planned ones */
#define MAX_COLD      100000u /* upper bound of any max_samples setting */
#define EVENT_STEP_US 0.032   /* resolution of CUDA events on current devices */
#define SHORT_US      10.0    /* flag L */
#define SPILL_SHARE   5u      /* flag S when more than one sample in so many spilled */
#define SPILL_PART    0.01   /* of the event time: a host that waited for milliseconds looks late */
#define LATENCY_BYTES 4096.0 /* less traffic than this is latency only */
#define HOT_SPAN_US   1000.0
#define SLAB_STEPS    4096u /* offsets of 256 bytes, up to 1 MiB */
#define DISCARD_SHARE 0.2   /* throttled samples that are redone at most */

/* The process of one solution. */
struct child {
    struct runner *runner; /* NULL while not started */
    unsigned number;       /* of this start: another one has to warm up again */
};

/* One solution at one case. */
struct entry {
    struct solution_result *solution;
    struct case_result *result;
    struct child *child;
    const char *so_path;
    struct draw draw;
    double *cold, *hot;
    unsigned cold_n, hot_n, graph_n, cold_max;
    double graph[GRAPH_SAMPLES];
    double spent_s;
    struct bench_seen seen;
    struct summary summary; /* of the cold samples so far */
    unsigned warm;          /* number of the child's start that has warmed up */
    bool failed, graph_failed;
};

struct bench {
    const struct bench_options *o;
    struct results *r;
    struct arena *arena;
    const struct problem *p;
    const struct casedef *c;
    struct case_pair files;
    uint64_t digest_key;
    uint64_t digest[PROBLEM_MAX_PARAMS]; /* what the case's large outputs have to give */
    struct entry *entries;
    struct child *children; /* by solution */
    unsigned count, alive, alive_max, starts;
    struct draw order;
    struct clockwatch *clocks; /* NULL: unknown */
    double begin_s;            /* of the whole run, for the median clock */
    double case_begin_s;
    double limit_s;
};

/* ---- pure rules ---- */

double bench_floor_us(const struct casedef *c, const struct device_facts *f)
{
    const double bytes = c->traffic_read + c->traffic_write;
    const double tbs = c->traffic_write >= 0.25 * bytes ? f->copy_tbs : f->read_tbs;

    if (!(tbs > 0.0))
        return 0.0;
    return f->e0_us + bytes / tbs / 1e6;
}

bool bench_impossible(double median_us, const struct casedef *c, const struct device_facts *f)
{
    const double bytes = c->traffic_read + c->traffic_write;
    /* two transfers a clock (double data rate) on every bit of the bus */
    const double nominal_tbs = 2.0 * f->memory_clock_mhz * f->bus_bits / 8.0 / 1e6;

    if (f->e0_us > 0.0 && median_us < 0.9 * f->e0_us)
        return true;
    return nominal_tbs > 0.0 && median_us < bytes / nominal_tbs / 1e6;
}

bool bench_latency_only(const struct casedef *c)
{
    return c->traffic_read + c->traffic_write < LATENCY_BYTES;
}

bool bench_clock_contradicts(double claimed_us, double interval_us)
{
    return claimed_us > interval_us || interval_us > 1.5 * claimed_us + 1000.0;
}

bool bench_spilled(double event_us, double spill_us) { return spill_us > SPILL_PART * event_us; }

unsigned bench_hot_repeats(double call_us)
{
    const double wanted = call_us > 0.0 ? ceil(HOT_SPAN_US / call_us) : 2.0;
    const unsigned n = wanted < 2.0 ? 2 : wanted > 20000.0 ? 20000 : (unsigned)wanted;

    return n + n % 2;
}

static void add_flag(struct timing *t, char flag)
{
    const size_t n = strlen(t->flags);

    if (strchr(t->flags, flag) == NULL && n + 1 < sizeof t->flags) {
        t->flags[n] = flag;
        t->flags[n + 1] = '\0';
    }
}

void bench_conclude(struct timing *t, const struct casedef *c, const struct device_facts *f,
                    const struct bench_seen *seen, double event_step_us)
{
    t->cold = stats_summary(t->cold_us, t->cold_n, event_step_us);
    if (t->hot_n > 0)
        t->hot = stats_summary(t->hot_us, t->hot_n, 0.0);
    t->floor_us = bench_floor_us(c, f);
    t->flags[0] = '\0';
    /* A busy host also sees idle late now and then; work left running is seen every time. */
    if (seen->spills * SPILL_SHARE > seen->samples)
        add_flag(t, 'S');
    if (seen->allocates)
        add_flag(t, 'A');
    if (t->cold.median < SHORT_US)
        add_flag(t, 'L');
    if (t->cold.drift)
        add_flag(t, 'D');
    if (t->cold.two_modes)
        add_flag(t, 'B');
    if (seen->throttled)
        add_flag(t, 'T');
    t->ranked = true;
    t->unranked_reason = "";
    if (bench_latency_only(c)) {
        t->ranked = false;
        t->unranked_reason = "latency only: shown, not ranked";
    }
    /* A host that loses its processor sees a batch late; a hooked timer lies about the median. */
    if (seen->contradicted * 2 > seen->hot_samples) {
        add_flag(t, 'C');
        t->ranked = false;
        t->unranked_reason = "the host's clock contradicts the claimed times";
    }
    if (bench_impossible(t->cold.median, c, f)) {
        add_flag(t, 'X');
        t->ranked = false;
        t->unranked_reason = "faster than the hardware can be";
    }
}

/* ---- children ---- */

static void stop_child(struct bench *b, struct child *c)
{
    if (c->runner == NULL)
        return;
    runner_stop(c->runner);
    c->runner = NULL;
    b->alive--;
}

static void stop_others(struct bench *b, const struct child *keep)
{
    for (unsigned i = 0; i < b->r->solution_count; i++)
        if (&b->children[i] != keep)
            stop_child(b, &b->children[i]);
}

/* The entry is out: its verdict is that of the timed call. */
static void fail_entry(struct bench *b, struct entry *e, enum verdict v, const char *reason,
                       const char *detail)
{
    e->failed = true;
    e->result->verdict = verdict_merge(e->result->verdict, v);
    e->result->reason =
        arena_printf(b->arena, "timed call %u: %s", e->cold_n + e->hot_n + 1, reason);
    if (e->result->reason == NULL)
        e->result->reason = "out of memory";
    e->result->detail = detail;
    e->result->call = 'T';
    stop_child(b, e->child);
}

static struct reply_context context_of(const struct bench *b, const struct entry *e)
{
    return (struct reply_context){.problem = b->p,
                                  .casedef = b->c,
                                  .limit_s = b->limit_s,
                                  .strict = b->o->judging->strict,
                                  .libraries_allowed =
                                      e->solution->solution->kind == SOLUTION_BASELINE ||
                                      e->solution->solution->kind == SOLUTION_FOREIGN};
}

static bool need_child(struct bench *b, struct entry *e)
{
    const struct runner_config rc =
        judging_runner(b->o->judging, b->p, e->solution->solution, e->so_path);
    const struct reply_context context = context_of(b, e);
    struct child *child = e->child;
    struct reply_verdict v;
    struct findings *findings;
    struct call_reply reply;
    struct diag d = {0};

    if (child->runner != NULL && runner_alive(child->runner))
        return true;
    stop_child(b, child);
    if (b->alive >= b->alive_max)
        stop_others(b, child);
    child->number = ++b->starts;
    if (runner_start(&child->runner, &rc, &d) != STATUS_OK ||
        (b->alive++, runner_load(child->runner, &reply, &d)) != STATUS_OK) {
        fail_entry(b, e, VERDICT_JE, d.text, "");
        return false;
    }
    findings = xalloc(sizeof *findings);
    if (findings == NULL)
        return false;
    v = reply_read(b->arena, &context, &reply, findings);
    xfree(findings);
    if (v.verdict == VERDICT_AC)
        return true;
    fail_entry(b, e, v.verdict, v.reason, v.detail);
    return false;
}

/* ---- one sample ---- */

static void compare_one(struct bench *b, struct entry *e, unsigned param, const void *got,
                        const int exponents[PROBLEM_MAX_GROUPS], unsigned poison_kind)
{
    struct compare_input input;
    struct mismatch m;
    const char *text;

    if (e->failed || judging_compare(b->p, b->c, &b->files.ref, param, got, NULL, exponents,
                                     poison_kind, &input, &m))
        return;
    e->result->mismatch = m;
    e->result->param = b->p->params[param].name;
    text = arena_printf(b->arena,
                        "%s[%" PRIu64 "] = %.9g, want %.9g; %" PRIu64 " of %" PRIu64
                        " differ (right when it was judged)",
                        b->p->params[param].name, m.first, m.got, m.want, m.count, input.count);
    fail_entry(b, e, VERDICT_WA, text != NULL ? text : "wrong output", "");
}

static bool digests_right(const struct bench *b, unsigned param, unsigned copies,
                          const struct call_reply *reply)
{
    for (unsigned k = 0; k < copies; k++) {
        uint64_t got;

        memcpy(&got, reply->digest[param] + k * reply->digest_stride, sizeof got);
        if (got != b->digest[param])
            return false;
    }
    return true;
}

/* The digest of a large output was another: its elements say more, or that they changed since. */
static void look_closer(struct bench *b, struct entry *e, unsigned param,
                        const struct timing_request *rq)
{
    struct call_reply reply;
    struct diag d = {0};

    if (rq->hot) {
        fail_entry(b, e, VERDICT_WA,
                   arena_printf(b->arena,
                                "%s of a call in a batch is wrong (right when it was "
                                "judged)",
                                b->p->params[param].name),
                   "");
        return;
    }
    if (runner_outputs(e->child->runner, &reply, &d) != STATUS_OK || reply.out[param] == NULL) {
        fail_entry(b, e, VERDICT_WA, "wrong output, gone before it could be looked at", "");
        return;
    }
    compare_one(b, e, param, reply.out[param], rq->exponents, reply.poison_kind);
    if (!e->failed)
        fail_entry(b, e, VERDICT_WA, "still writing after solve(): the output changed once more",
                   "");
}

/* Every output of the sample: cold the one, hot the last copies, alternating exponents. */
static void compare_all(struct bench *b, struct entry *e, const struct timing_request *rq,
                        const struct call_reply *reply)
{
    for (unsigned i = 0; i < b->p->param_count; i++) {
        if (b->p->params[i].scalar || b->p->params[i].dir == DIR_IN)
            continue;
        if (reply->digest[i] != NULL) {
            if (!digests_right(b, i, rq->hot ? reply->hot_copies : 1, reply)) {
                look_closer(b, e, i, rq);
                return;
            }
            continue;
        }
        if (!rq->hot || reply->hot_copies == 0) {
            if (reply->out[i] == NULL)
                fail_entry(b, e, VERDICT_RE, "no output bytes came with the record", "");
            else
                compare_one(b, e, i, reply->out[i], rq->exponents, reply->poison_kind);
        }
        for (unsigned k = 0; rq->hot && k < reply->hot_copies && !e->failed; k++)
            compare_one(b, e, i, (const char *)reply->out_all[i] + k * reply->out_stride[i],
                        k % 2 == 0 ? rq->exponents : rq->exponents2, reply->poison_kind);
        if (e->failed)
            return;
    }
}

/* The same question without consequences, for one cold output set. */
static bool outputs_right(const struct bench *b, const struct timing_request *rq,
                          const struct call_reply *reply)
{
    for (unsigned i = 0; i < b->p->param_count; i++) {
        struct compare_input input;
        struct mismatch m;

        if (b->p->params[i].scalar || b->p->params[i].dir == DIR_IN)
            continue;
        if (reply->digest[i] != NULL) {
            if (!digests_right(b, i, 1, reply))
                return false;
            continue;
        }
        if (reply->out[i] == NULL ||
            !judging_compare(b->p, b->c, &b->files.ref, i, reply->out[i], NULL, rq->exponents,
                             reply->poison_kind, &input, &m))
            return false;
    }
    return true;
}

/* Was the device slower than usual since `from_s`: clock below 0.9 of the run's median, or a
 * throttle reason? */
static bool slowed(const struct bench *b, double from_s)
{
    struct clock_facts now, all;

    if (b->clocks == NULL)
        return false;
    clockwatch_read(b->clocks, from_s, proc_now_s(), &now);
    clockwatch_read(b->clocks, b->begin_s, proc_now_s(), &all);
    if (now.ticks == 0)
        return false;
    return now.throttle != 0 || (now.sm_mhz_min > 0.0 && now.sm_mhz_min < 0.9 * all.sm_mhz_median);
}

/* Makes one timed call (or hot batch). False: the entry has failed or the sample does not count. */
static bool sample(struct bench *b, struct entry *e, struct timing_request *rq, double *us,
                   bool *capture_failed)
{
    const struct reply_context context = context_of(b, e);
    const double from_s = proc_now_s();
    struct findings *findings = xalloc(sizeof *findings);
    struct call_reply reply;
    struct reply_verdict v;
    struct diag d = {0};

    draw_exponents(&e->draw, b->p, b->c, rq->exponents);
    if (rq->hot)
        draw_exponents(&e->draw, b->p, b->c, rq->exponents2);
    rq->slab_step = 256u * (unsigned)draw_below(&e->draw, SLAB_STEPS);
    rq->dirty_flush = b->o->dirty_flush;
    rq->digest_key = b->digest_key;
    rq->limit_s = b->limit_s * (rq->hot ? (double)rq->repeats : 1.0);
    *us = 0.0;
    if (findings == NULL ||
        runner_time(e->child->runner, b->c, &b->files.in, rq, &reply, &d) != STATUS_OK) {
        fail_entry(b, e, VERDICT_JE, findings == NULL ? "out of memory" : d.text, "");
        xfree(findings);
        return false;
    }
    if (reply.end == CALL_DONE && (reply.record.flags & RECORD_FLAG_CAPTURE_FAILED) != 0 &&
        rq->graph) {
        *capture_failed = true;
        xfree(findings);
        return false;
    }
    v = reply_read(b->arena, &context, &reply, findings);
    xfree(findings);
    if (rq->graph && (v.verdict != VERDICT_AC || !outputs_right(b, rq, &reply))) {
        /* no promise of a solution covers replay: "-" on the board, not a verdict */
        *capture_failed = true;
        stop_child(b, e->child);
        return false;
    }
    if (v.verdict != VERDICT_AC) {
        fail_entry(b, e, v.verdict, v.reason, v.detail);
        return false;
    }
    compare_all(b, e, rq, &reply);
    if (e->failed)
        return false;
    e->seen.allocates = e->seen.allocates || (reply.record.flags & RECORD_FLAG_ALLOCATES) != 0;
    e->seen.samples++;
    e->seen.spills += (reply.record.flags & RECORD_FLAG_SPILL) != 0 &&
                      bench_spilled(reply.record.event_us, reply.record.spill_us);
    e->seen.hot_samples += rq->hot;
    e->seen.contradicted += rq->hot && bench_clock_contradicts(reply.record.event_us,
                                                               1e-3 * (double)reply.record.wall_ns);
    *us = (reply.record.event_us + reply.record.spill_us) / (rq->hot ? (double)rq->repeats : 1.0);
    if (!rq->hot && slowed(b, from_s)) {
        if ((double)e->seen.discarded < DISCARD_SHARE * (double)b->o->stop.min_samples) {
            e->seen.discarded++; /* redone by the caller's loop */
            return false;
        }
        e->seen.throttled = true;
    }
    return *us > 0.0;
}

/* ---- rounds ---- */

static bool interrupted(const struct bench *b)
{
    return b->o->judging->stop != NULL && *b->o->judging->stop != 0;
}

static void cold_samples(struct bench *b, struct entry *e, unsigned wanted)
{
    const double begin = proc_now_s();
    unsigned attempts = 0;

    for (unsigned k = 0; k < WARMUPS && e->warm != e->child->number && !e->failed; k++) {
        struct timing_request rq = {.repeats = 1};
        bool capture = false;
        double us;

        if (interrupted(b))
            return;
        (void)sample(b, e, &rq, &us, &capture);
    }
    e->warm = e->child->number;
    /* twice as many attempts at most: discarded samples must not keep the loop alive */
    while (e->cold_n < wanted && e->cold_n < e->cold_max && attempts++ < 2 * wanted && !e->failed &&
           !interrupted(b)) {
        struct timing_request rq = {.repeats = 1};
        bool capture = false;
        double us;

        if (sample(b, e, &rq, &us, &capture))
            e->cold[e->cold_n++] = us;
        if (e->spent_s + proc_now_s() - begin > 4.0 * b->o->stop.budget_s)
            break; /* slow children (restarts, comparison): an upper bound of patience */
    }
    if (e->cold_n > 0)
        e->summary = stats_summary(e->cold, e->cold_n, EVENT_STEP_US);
    e->spent_s += proc_now_s() - begin;
}

static void hot_samples(struct bench *b, struct entry *e, unsigned wanted, unsigned max)
{
    if (!b->o->hot || e->cold_n == 0)
        return;
    for (unsigned k = 0; k < wanted && e->hot_n < max && !e->failed && !interrupted(b); k++) {
        struct timing_request rq = {.hot = true, .repeats = bench_hot_repeats(e->summary.median)};
        bool capture = false;
        double us;

        if (sample(b, e, &rq, &us, &capture))
            e->hot[e->hot_n++] = us;
    }
}

static void graph_samples(struct bench *b, struct entry *e)
{
    while (b->o->graph && e->graph_n < GRAPH_SAMPLES && !e->graph_failed && !e->failed &&
           !interrupted(b)) {
        struct timing_request rq = {.graph = true, .repeats = 1};
        double us;

        if (!sample(b, e, &rq, &us, &e->graph_failed))
            return;
        e->graph[e->graph_n++] = us;
    }
}

static void shuffle(struct bench *b, unsigned *order)
{
    for (unsigned i = 0; i < b->count; i++)
        order[i] = i;
    for (unsigned i = b->count; i > 1; i--) {
        const unsigned k = (unsigned)draw_below(&b->order, i), kept = order[i - 1];

        order[i - 1] = order[k];
        order[k] = kept;
    }
}

static void progress(const struct bench *b, unsigned round, const struct entry *e)
{
    if (b->o->term != NULL)
        term_progress(b->o->term, "timing %s/%s round %u: %s, %u samples, +- %.2f %%", b->p->name,
                      b->c->name, round + 1, e->solution->solution->name, e->cold_n,
                      100.0 * e->summary.se);
}

static void one_round(struct bench *b, unsigned round, const unsigned *order)
{
    const unsigned rounds = b->o->rounds;
    const bool planned = round < rounds;

    for (unsigned i = 0; i < b->count && !interrupted(b); i++) {
        struct entry *e = &b->entries[order[i]];
        const unsigned goal =
            planned ? (unsigned)((b->o->stop.min_samples * (round + 1) + rounds - 1) / rounds)
                    : e->cold_n + EXTRA_SAMPLES;

        if (e->failed || (!planned && stats_enough(&b->o->stop, &e->summary, e->spent_s)))
            continue;
        progress(b, round, e);
        if (!need_child(b, e))
            continue;
        cold_samples(b, e, goal);
        if (planned)
            hot_samples(b, e, HOT_PER_ROUND, HOT_PER_ROUND * rounds);
        if (round + 1 == rounds)
            graph_samples(b, e);
    }
}

static bool all_enough(const struct bench *b)
{
    for (unsigned i = 0; i < b->count; i++)
        if (!b->entries[i].failed &&
            !stats_enough(&b->o->stop, &b->entries[i].summary, b->entries[i].spent_s))
            return false;
    return true;
}

static enum status conclude_entry(struct bench *b, struct entry *e, struct diag *d)
{
    struct timing *t;

    if (e->failed || e->cold_n == 0)
        return STATUS_OK;
    t = arena_alloc(b->arena, sizeof *t);
    if (t == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    t->cold_us = e->cold;
    t->cold_n = e->cold_n;
    t->hot_us = e->hot;
    t->hot_n = e->hot_n;
    t->graph_us = e->graph_n > 0 ? stats_median(e->graph, e->graph_n) : 0.0;
    if (b->clocks != NULL) {
        struct clock_facts all;

        clockwatch_read(b->clocks, b->case_begin_s, proc_now_s(), &all);
        t->clock_mhz = all.sm_mhz_median;
    }
    bench_conclude(t, b->c, &b->r->context.device, &e->seen, EVENT_STEP_US);
    e->result->timing = t;
    return STATUS_OK;
}

/* Children that fit beside each other: each keeps room for the problem's largest timed case, inputs
 * twice, outputs several times, and a flush buffer; 2 GiB stands for its context. */
static unsigned alive_limit(const struct bench *b, const struct solution_result *any)
{
    const struct device_facts *f = &b->r->context.device;
    double bytes = 0.0, each, n;

    for (unsigned k = 0; k < any->case_count; k++) {
        const struct casedef *c = any->cases[k].casedef;

        if (casedef_has_tag(c, b->o->tag))
            bytes = fmax(bytes, c->traffic_read + c->traffic_write);
    }
    each = 4.0 * bytes + 2147483648.0;
    n = f->memory_bytes > 0 ? 0.8 * (double)f->memory_bytes / each : 1.0;

    return n < 1.0 ? 1 : n > 64.0 ? 64 : (unsigned)n;
}

/* A key that no solution can know, and what the references give under it. */
static enum status want_digests(struct bench *b, struct diag *d)
{
    TRY(draw_seed(&b->digest_key, d));
    b->digest_key |= 1; /* not 0, which would mean none */
    for (unsigned i = 0; i < b->p->param_count; i++)
        if (runner_digests(b->c, b->p, i)) {
            const struct tensor *want = casefile_find(&b->files.ref, b->p->params[i].name);

            b->digest[i] = record_digest(launch_wire_type(want->dtype), want->data, 0, want->count,
                                         0, b->digest_key);
        }
    return STATUS_OK;
}

static enum status run_case(struct bench *b, struct diag *d)
{
    const unsigned max_rounds = b->o->rounds + 1000;
    unsigned *order = arena_array(b->arena, (size_t)b->count + 1, sizeof *order);
    enum status st = STATUS_OK;

    if (order == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    TRY(caseset_open(&b->files, b->o->judging->cfg, b->p, b->c, d));
    TRY(want_digests(b, d));
    b->case_begin_s = proc_now_s();
    for (unsigned round = 0; round < max_rounds && !interrupted(b); round++) {
        if (round >= b->o->rounds && all_enough(b))
            break;
        shuffle(b, order);
        one_round(b, round, order);
    }
    caseset_close(&b->files);
    for (unsigned i = 0; i < b->count && st == STATUS_OK; i++)
        st = conclude_entry(b, &b->entries[i], d);
    return st;
}

/* ---- all cases ---- */

static enum status open_entry(struct bench *b, struct entry *e, struct solution_result *s,
                              struct case_result *c, struct diag *d)
{
    const struct stop_rule *stop = &b->o->stop;
    char name[160];

    *e = (struct entry){.solution = s,
                        .result = c,
                        .child = &b->children[s - b->r->solutions],
                        .so_path = s->object.so_path};
    e->cold_max = (unsigned)(stop->max_samples < MAX_COLD ? stop->max_samples : MAX_COLD);
    e->cold = arena_array(b->arena, e->cold_max, sizeof *e->cold);
    e->hot = arena_array(b->arena, (size_t)HOT_PER_ROUND * b->o->rounds + 1, sizeof *e->hot);
    if (e->cold == NULL || e->hot == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    (void)snprintf(name, sizeof name, "%s %s %s", b->c->name, s->solution->name, s->tune);
    draw_open(&e->draw, b->o->judging->seed ^ UINT64_C(0x62656e6368), b->p->name, name);
    return STATUS_OK;
}

static enum status gather(struct bench *b, struct diag *d)
{
    b->count = b->alive = 0;
    for (unsigned i = 0; i < b->r->solution_count; i++) {
        struct solution_result *s = &b->r->solutions[i];

        if (s->problem != b->p || s->verdict != VERDICT_AC)
            continue;
        for (unsigned k = 0; k < s->case_count; k++)
            if (strcmp(s->cases[k].casedef->name, b->c->name) == 0 &&
                s->cases[k].verdict == VERDICT_AC)
                TRY(open_entry(b, &b->entries[b->count++], s, &s->cases[k], d));
    }
    return STATUS_OK;
}

/* Shared objects by compile_solution: results from workers carry no path. */
static enum status find_objects(struct results *r, struct arena *a, const struct bench_options *o,
                                struct diag *d)
{
    for (unsigned i = 0; i < r->solution_count; i++) {
        struct solution_result *s = &r->solutions[i];
        const char *defines[SOLUTION_MAX_TUNES + 1] = {NULL};
        unsigned n = 0;
        char *save, *words, *word;

        if (s->verdict != VERDICT_AC || s->object.so_path[0] != '\0')
            continue;
        words = arena_strdup(a, s->tune);
        if (words == NULL)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        for (word = strtok_r(words, " ", &save); word != NULL && n < SOLUTION_MAX_TUNES;
             word = strtok_r(NULL, " ", &save))
            defines[n++] = word;
        TRY(compile_solution(&s->object, a, o->judging->cfg, s->problem, s->solution,
                             o->judging->backend->arch, n > 0 ? defines : NULL, d));
        if (!s->object.ok)
            return diag_set(d, STATUS_INTERNAL, "%s compiled before and does not now: %s",
                            s->solution->name, s->object.reason);
    }
    return STATUS_OK;
}

/* E0, read and copy rate, by a child that loads no solution; elsewhere than on a GPU they stay 0.
 */
static enum status measure_ceilings(struct results *r, const struct bench_options *o,
                                    const struct solution_result *any, struct diag *d)
{
    const struct runner_config rc =
        judging_runner(o->judging, any->problem, any->solution, any->object.so_path);
    struct runner *runner = NULL;
    struct device_facts facts;
    enum status st;

    if (o->term != NULL)
        term_progress(o->term, "measuring empty kernel, read and copy rate");
    st = runner_start(&runner, &rc, d);
    if (st == STATUS_OK)
        st = runner_facts(runner, &facts, o->judging->backend->kind == BACKEND_GPU, d);
    runner_stop(runner);
    if (st == STATUS_OK)
        r->context.device = facts;
    return st;
}

static const struct solution_result *first_accepted(const struct results *r,
                                                    const struct problem *p)
{
    for (unsigned i = 0; i < r->solution_count; i++)
        if (r->solutions[i].verdict == VERDICT_AC && (p == NULL || r->solutions[i].problem == p))
            return &r->solutions[i];
    return NULL;
}

static enum status run_problem(struct bench *b, struct diag *d)
{
    const struct solution_result *any = first_accepted(b->r, b->p);
    enum status st = STATUS_OK;

    if (any == NULL)
        return STATUS_OK;
    b->alive_max = alive_limit(b, any);
    for (unsigned k = 0; k < any->case_count && st == STATUS_OK && !interrupted(b); k++) {
        b->c = any->cases[k].casedef;
        if (!casedef_has_tag(b->c, b->o->tag))
            continue;
        st = gather(b, d);
        if (st == STATUS_OK && b->count > 0)
            st = run_case(b, d);
    }
    stop_others(b, NULL);
    return st;
}

enum status bench_run(struct results *r, struct arena *a, const struct bench_options *o,
                      struct diag *d)
{
    struct bench b = {.o = o, .r = r, .arena = a, .limit_s = 0.0};
    const struct solution_result *any = first_accepted(r, NULL);
    struct diag unknown = {0};
    enum status st = STATUS_OK;

    if (any == NULL)
        return STATUS_OK;
    TRY(find_objects(r, a, o, d));
    TRY(measure_ceilings(r, o, any, d));
    b.entries = arena_array(a, (size_t)r->solution_count + 1, sizeof *b.entries);
    b.children = arena_array(a, (size_t)r->solution_count + 1, sizeof *b.children);
    if (b.entries == NULL || b.children == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    draw_open(&b.order, o->judging->seed, "bench", "order");
    b.begin_s = proc_now_s();
    if (o->judging->backend->kind != BACKEND_GPU ||
        clockwatch_start(&b.clocks, o->judging->cfg->runner, o->judging->cfg->device, &unknown) !=
            STATUS_OK)
        b.clocks = NULL;
    for (unsigned i = 0; i < r->solution_count && st == STATUS_OK; i++) {
        bool seen = false;

        for (unsigned k = 0; k < i; k++)
            seen = seen || r->solutions[k].problem == r->solutions[i].problem;
        if (seen)
            continue;
        b.p = r->solutions[i].problem;
        b.limit_s = judging_limit(o->judging, b.p);
        st = run_problem(&b, d);
    }
    r->context.clocks = b.clocks != NULL ? "not locked" : "unknown";
    r->context.flush = o->dirty_flush ? "dirty" : "clean";
    clockwatch_stop(b.clocks);
    if (o->term != NULL)
        term_clear(o->term);
    for (unsigned i = 0; i < r->solution_count; i++)
        if (r->solutions[i].verdict == VERDICT_AC)
            results_conclude(&r->solutions[i], VERDICT_AC);
    if (st == STATUS_OK && o->judging->stop != NULL && *o->judging->stop != 0)
        st = diag_set(d, STATUS_IO, "interrupted");
    return st;
}

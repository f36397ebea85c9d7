/*
 * judging.c - drives one child over the cases of one solution and concludes.
 * Starts no compiler itself (compile.c) and reads no raw JSON (findings.c).
 * Invariant: every case ends with exactly one verdict; a case that was never called is not AC.
 */
#include "judging.h"

#include "caseset.h"
#include "draw.h"
#include "proc.h"
#include "sanitizer.h"
#include "sha256.h"
#include "xalloc.h"
#include <assert.h>
#include <errno.h>
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define MAX_TIMEOUTS                                                                               \
    2 /* after so many TLE cases the rest is not tried: each costs the full limit */
#define MAX_LOST                                                                                   \
    8 /* likewise processes on a GPU: a new one and its probe take over a second there */
#define MAX_KEPT_PREVIOUS HINTS_MAX_ELEMENTS

/* One solution under judgement. */
struct run {
    const struct judging_options *o;
    struct solution_result *result;
    struct arena *arena;
    const struct problem *p;
    const struct solution *s;
    struct runner_config rc;
    struct runner *runner; /* NULL between children */
    double limit_s;
    bool child_lost, device_suspect;
    bool load_failed;          /* loading gave a verdict: nothing more to try */
    struct reply_verdict load; /* that verdict */
    enum verdict at_solution;
    unsigned timeouts, lost;
    bool as_promised; /* it has failed with a verdict of its tag, which promises a failure */
};

/* One case of it. */
struct work {
    struct run *run;
    const struct casedef *c;
    struct case_result *out;
    struct case_pair files;
    struct draw draw;
    int exponents[PROBLEM_MAX_GROUPS];          /* of the current call */
    int previous_exponents[PROBLEM_MAX_GROUPS]; /* of the call before */
    void *previous[PROBLEM_MAX_PARAMS];         /* its outputs, NULL where not kept */
    uint64_t live_first;                        /* device bytes held after the first call */
};

static double now_ms(void) { return 1e3 * proc_now_s(); }

/* ---- facts of problem and options ---- */

double judging_limit(const struct judging_options *o, const struct problem *p)
{
    const double factor = o->time_factor > 0.0 ? o->time_factor : 1.0;

    if (o->time_limit_s > 0.0)
        return o->time_limit_s * factor;
    return factor * o->cfg->time_scale *
           (o->backend->kind == BACKEND_VGPU ? p->vgpu_time_s : p->time_s);
}

static bool libraries_allowed(const struct solution *s)
{
    return s->kind == SOLUTION_BASELINE || s->kind == SOLUTION_FOREIGN;
}

struct runner_config judging_runner(const struct judging_options *o, const struct problem *p,
                                    const struct solution *s, const char *so_path)
{
    struct runner_config rc = backend_runner(o->backend, o->cfg);

    rc.so_path = so_path;
    rc.problem = p;
    rc.memory_limit_mib = p->memory_mib;
    rc.allow_libraries = s->kind == SOLUTION_BASELINE;
    rc.exact_alloc = o->sanitize != NULL || o->backend->kind == BACKEND_VGPU;
    rc.sanitize = o->sanitize;
    rc.vgpu_seed = o->schedule;
    rc.vgpu_budget = p->vgpu_minstr * 1000000u;
    rc.vgpu_checks = o->vgpu_checks;
    rc.vgpu_counters = o->counters;
    return rc;
}

const char *judging_skip_reason(struct arena *a, const struct backend_choice *b,
                                const struct solution *s, bool bench)
{
    if (s->needs_gpu && b->kind == BACKEND_VGPU)
        return "needs a GPU (@needs gpu)";
    if (s->needs_vgpu && b->kind == BACKEND_GPU)
        return "needs the virtual GPU (@needs vgpu)";
    if (s->needs_bench && !bench)
        return "judged by 'judge bench' only (@needs bench)";
    if (b->kind != BACKEND_STANDIN && !solution_accepts_arch(s, b->arch))
        return arena_printf(a, "needs %s, the device is sm_%s", s->arch, b->arch);
    return NULL;
}

/* ---- the child ---- */

static bool stopped(const struct run *run) { return run->o->stop != NULL && *run->o->stop != 0; }

static void fail_solution(struct run *run, enum verdict v, const char *reason)
{
    if (verdict_merge(run->at_solution, v) != run->at_solution || run->result->reason[0] == '\0')
        run->result->reason = reason != NULL ? reason : "out of memory";
    run->at_solution = verdict_merge(run->at_solution, v);
}

static const char *keep_text(struct run *run, const char *old, bool err)
{
    uint64_t dropped = 0;
    size_t len = 0;
    const char *text = runner_output(run->runner, err, &len, &dropped);
    const char *copy;

    run->result->output_dropped += dropped;
    if (text == NULL || len == 0)
        return old;
    copy = arena_strndup(run->arena, text, len);
    if (copy != NULL && old[0] != '\0' && strlen(old) < 65536)
        copy = arena_printf(run->arena, "%s%s", old, copy);
    return copy == NULL ? old : copy;
}

/* The end of what the child wrote to stderr, two lines at most: who aborts says why there. */
static const char *last_words(const struct run *run)
{
    uint64_t dropped = 0;
    size_t len = 0, begin, out = 0;
    const char *text = runner_output(run->runner, true, &len, &dropped);
    char words[300];

    while (len > 0 && isspace((unsigned char)text[len - 1]))
        len--;
    begin = len;
    for (unsigned lines = 0; begin > 0 && len - begin < sizeof words - 1; begin--)
        if (text[begin - 1] == '\n' && ++lines == 2)
            break;
    for (size_t i = begin; i < len; i++) {
        if (isspace((unsigned char)text[i]) && out > 0 && words[out - 1] == ' ')
            continue;
        words[out++] = isspace((unsigned char)text[i])   ? ' '
                       : isprint((unsigned char)text[i]) ? text[i]
                                                         : '?';
    }
    words[out] = '\0';
    return out == 0 ? "" : arena_printf(run->arena, "stderr: %s", words);
}

static void drop_child(struct run *run)
{
    if (run->runner == NULL)
        return;
    run->lost += run->child_lost;
    run->result->stdout_text = keep_text(run, run->result->stdout_text, false);
    run->result->stderr_text = keep_text(run, run->result->stderr_text, true);
    runner_stop(run->runner);
    run->runner = NULL;
}

/* After a fault on real hardware: is the device still good? */
static bool device_healthy(struct run *run)
{
    struct runner_config rc = backend_runner(run->o->backend, run->o->cfg);
    struct device_facts facts;
    struct diag d = {0};

    if (!run->device_suspect)
        return true;
    run->device_suspect = false;
    if (run->o->backend->kind == BACKEND_VGPU || runner_probe(&rc, &facts, &d) == STATUS_OK)
        return true;
    run->result->device_unhealthy = true;
    fail_solution(run, VERDICT_JE, arena_printf(run->arena, "device unhealthy: %s", d.text));
    return false;
}

/* A loaded child, a new one if the last is lost. False: none can be had; at_solution or `load`
 * says why. */
static bool need_child(struct run *run)
{
    const struct reply_context context = {.problem = run->p,
                                          .limit_s = run->rc.load_limit_s,
                                          .strict = run->o->strict,
                                          .libraries_allowed = true};
    struct findings findings;
    struct call_reply reply;
    struct diag d = {0};
    enum status st;

    if (run->runner != NULL && !run->child_lost && runner_alive(run->runner))
        return true;
    if (run->load_failed || run->result->device_unhealthy)
        return false;
    drop_child(run);
    run->child_lost = false;
    if (!device_healthy(run))
        return false;
    st = runner_start(&run->runner, &run->rc, &d);
    if (st == STATUS_OK)
        st = runner_load(run->runner, &reply, &d);
    if (st != STATUS_OK) {
        run->load_failed = true;
        fail_solution(run, st == STATUS_NOTHING ? VERDICT_SK : VERDICT_JE,
                      arena_strdup(run->arena, d.text));
        drop_child(run);
        return false;
    }
    run->load = reply_read(run->arena, &context, &reply, &findings);
    if (run->load.verdict == VERDICT_AC)
        return true;
    run->load_failed = true;
    run->load.reason = arena_printf(run->arena, "while loading: %s", run->load.reason);
    fail_solution(run, run->load.verdict, run->load.reason);
    drop_child(run);
    return false;
}

/* ---- comparison ---- */

static int exponent_sum(const struct problem *p, const int exponents[PROBLEM_MAX_GROUPS])
{
    int sum = 0;

    for (unsigned g = 0; g < p->group_count; g++)
        sum += exponents[g];
    return sum;
}

bool judging_compare(const struct problem *p, const struct casedef *c, const struct casefile *ref,
                     unsigned param, const void *got, const void *got_other,
                     const int exponents[PROBLEM_MAX_GROUPS], unsigned poison_kind,
                     struct compare_input *input, struct mismatch *mismatch)
{
    const struct param *q = &p->params[param];
    const struct tensor *want = casefile_find(ref, q->name);
    const struct tensor *tol = NULL;
    char name[96];

    *input = (struct compare_input){.dtype = q->dtype,
                                    .count = c->count[param],
                                    .got = got,
                                    .rule = c->rule,
                                    .exponent = exponent_sum(p, exponents),
                                    .poison_kind = poison_kind,
                                    .got_other = got_other,
                                    .rank = c->rank[param]};
    memcpy(input->shape, c->shape[param], sizeof input->shape);
    if (c->rule.kind == RULE_SURVIVE)
        return compare_output(input, mismatch);
    assert(want != NULL && want->count == c->count[param]); /* caseset_open checked it */
    input->want = want->data;
    input->want_dtype = want->dtype;
    if (c->rule.kind == RULE_TOL) {
        (void)snprintf(name, sizeof name, "tol.%s", q->name);
        tol = casefile_find(ref, name);
        assert(tol != NULL && tol->count == want->count && tol->dtype == DTYPE_F64);
        input->tol = tol->data;
    }
    return compare_output(input, mismatch);
}

static bool is_output(const struct param *q) { return !q->scalar && q->dir != DIR_IN; }

static void add_warning(struct work *w, const char *lines)
{
    w->out->warnings = reply_add_warnings(w->run->arena, w->out->warnings, lines);
}

static void fail_case(struct work *w, char letter, enum verdict v, const char *reason,
                      const char *detail)
{
    struct case_result *out = w->out;

    if (verdict_merge(out->verdict, v) == out->verdict && out->reason[0] != '\0')
        return;
    out->verdict = verdict_merge(out->verdict, v);
    out->call = letter;
    out->reason = reason != NULL ? reason : "out of memory while wording a reason";
    out->detail = detail;
}

/* Writes the outputs of a failing call for `--keep`. */
static void keep_outputs(struct work *w, char letter, const struct call_reply *reply)
{
    const struct run *run = w->run;
    struct tensor tensors[PROBLEM_MAX_PARAMS];
    const char *meta[] = {"problem",  run->p->name, "case", w->c->name,
                          "solution", run->s->name, NULL};
    struct diag d = {0};
    unsigned count = 0;
    char *path, *slash;

    if (run->o->keep_dir == NULL)
        return;
    for (unsigned i = 0; i < run->p->param_count; i++) {
        const struct param *q = &run->p->params[i];

        if (!is_output(q) || reply->out[i] == NULL)
            continue;
        tensors[count] = (struct tensor){.name = q->name,
                                         .dtype = q->dtype,
                                         .rank = w->c->rank[i],
                                         .count = w->c->count[i],
                                         .size = w->c->count[i] * dtype_size(q->dtype),
                                         .data = reply->out[i]};
        memcpy(tensors[count].shape, w->c->shape[i], sizeof tensors[count].shape);
        count++;
    }
    path = arena_printf(run->arena, "%s/%s.%s.%s.%c.out.safetensors", run->o->keep_dir,
                        run->p->name, run->s->name, w->c->name, letter);
    if (path == NULL || count == 0)
        return;
    for (slash = path + strlen(run->o->keep_dir) + 1; (slash = strchr(slash, '/')) != NULL;)
        *slash = '.'; /* rejects/zeros */
    (void)mkdir(run->o->keep_dir, 0777);
    if (casefile_write(path, tensors, count, meta, &d) == STATUS_OK)
        add_warning(w, arena_printf(run->arena, "outputs kept in %s", path));
    else
        add_warning(w, arena_printf(run->arena, "outputs not kept: %s", d.text));
}

/* ---- hints ---- */

static void gather_inputs(const struct work *w, struct hints_input *in)
{
    const struct problem *p = w->run->p;

    for (unsigned i = 0; i < p->param_count; i++) {
        const struct param *q = &p->params[i];
        const struct tensor *t = casefile_find(&w->files.in, q->name);

        if (q->scalar) {
            in->scalars[in->scalar_count++] =
                (struct hint_scalar){.name = q->name, .value = w->c->scalar[i]};
        } else if (q->dir != DIR_OUT && t != NULL) {
            in->inputs[in->input_count++] =
                (struct hint_tensor){.name = q->name,
                                     .dtype = t->dtype,
                                     .count = t->count,
                                     .data = t->data,
                                     .exponent = q->group >= 0 ? w->exponents[q->group] : 0};
        }
    }
}

/* decoy.<id>.<param> with the sentence in the file's metadata under decoy.<id>. */
static void gather_decoys(const struct work *w, const char *param, uint64_t count,
                          struct hints_input *in)
{
    for (unsigned k = 0; k < w->files.ref.tensor_count; k++) {
        const struct tensor *t = &w->files.ref.tensors[k];
        const char *dot = strrchr(t->name, '.');
        const char *sentence;
        char key[128];

        if (strncmp(t->name, "decoy.", 6) != 0 || dot == NULL || strcmp(dot + 1, param) != 0 ||
            t->count != count || in->decoy_count == HINTS_MAX_DECOYS ||
            (size_t)(dot - t->name) >= sizeof key)
            continue;
        memcpy(key, t->name, (size_t)(dot - t->name));
        key[dot - t->name] = '\0';
        sentence = casefile_meta(&w->files.ref, key);
        in->decoys[in->decoy_count++] = (struct hint_decoy){
            .sentence = sentence != NULL ? sentence : key + 6, .dtype = t->dtype, .data = t->data};
        if (sentence == NULL) /* `key` is a local: name it by the tensor's own text */
            in->decoys[in->decoy_count - 1].sentence = t->name;
    }
}

static void find_hints(struct work *w, char letter, unsigned param,
                       const struct compare_input *input, const void *next,
                       const int next_exponents[PROBLEM_MAX_GROUPS])
{
    struct hints_input *in = xalloc(sizeof *in);

    if (in == NULL)
        return;
    in->compare = input;
    in->mismatch = &w->out->mismatch;
    in->letter = letter;
    in->previous = letter == 'A' ? NULL : w->previous[param];
    in->previous_exponent = exponent_sum(w->run->p, w->previous_exponents);
    in->next = next;
    in->next_exponent = next == NULL ? 0 : exponent_sum(w->run->p, next_exponents);
    gather_inputs(w, in);
    gather_decoys(w, w->run->p->params[param].name, input->count, in);
    (void)hints_find(in, w->run->arena, w->out->hints);
    xfree(in);
}

/* ---- one call ---- */

static const char *coordinates(struct arena *a, const struct compare_input *in, uint64_t index)
{
    if (in->rank == 2 && in->shape[1] > 0)
        return arena_printf(a, "%" PRIu64 ",%" PRIu64, index / in->shape[1], index % in->shape[1]);
    return arena_printf(a, "%" PRIu64, index);
}

static void keep_mismatch(struct work *w, char letter, unsigned param,
                          const struct compare_input *input, const struct mismatch *m)
{
    struct arena *a = w->run->arena;
    const char *name = w->run->p->params[param].name;
    const char *extra =
        m->count == 1
            ? arena_printf(a, "of %" PRIu64 " only this one differs", input->count)
            : arena_printf(a, "%" PRIu64 " of %" PRIu64 " differ, first %" PRIu64 ", last %" PRIu64,
                           m->count, input->count, m->first, m->last);

    if (input->count == 1)
        extra = arena_printf(a, "the only element");
    w->out->mismatch = *m;
    w->out->param = name;
    if (compare_element_unwritten(input, m->first))
        fail_case(w, letter, VERDICT_WA,
                  arena_printf(a, "%s[%s] was not written, want %.9g; %s", name,
                               coordinates(a, input, m->first), m->want, extra),
                  "");
    else
        fail_case(w, letter, VERDICT_WA,
                  arena_printf(a, "%s[%s] = %.9g, want %.9g; %s", name,
                               coordinates(a, input, m->first), m->got, m->want, extra),
                  "");
}

static void keep_previous(struct work *w, const struct call_reply *reply)
{
    const struct problem *p = w->run->p;

    for (unsigned i = 0; i < p->param_count; i++) {
        const size_t size = (size_t)w->c->count[i] * dtype_size(p->params[i].dtype);

        xfree(w->previous[i]);
        w->previous[i] = NULL;
        if (!is_output(&p->params[i]) || reply->out[i] == NULL || size == 0 ||
            w->c->count[i] > MAX_KEPT_PREVIOUS)
            continue;
        w->previous[i] = xalloc(size);
        if (w->previous[i] != NULL)
            memcpy(w->previous[i], reply->out[i], size);
    }
    memcpy(w->previous_exponents, w->exponents, sizeof w->exponents);
}

static void keep_account(struct work *w, char letter, const struct call_reply *reply,
                         const struct findings *findings)
{
    struct case_result *out = w->out;
    const struct record *r = &reply->record;

    if (1e3 * reply->wall_s > out->wall_ms)
        out->wall_ms = 1e3 * reply->wall_s;
    if (reply->end != CALL_DONE)
        return;
    if (r->alloc_peak > out->scratch_bytes)
        out->scratch_bytes = r->alloc_peak;
    if (letter == 'A') {
        out->launches = r->launches;
        out->allocs = r->alloc_calls;
        w->live_first = r->alloc_live;
        if (findings->counter_count > 0) {
            struct counter *copy =
                arena_array(w->run->arena, findings->counter_count, sizeof *copy);

            if (copy != NULL) {
                memcpy(copy, findings->counters, findings->counter_count * sizeof *copy);
                out->counts = copy;
                out->count_count = findings->counter_count;
            }
        }
    } else if (r->alloc_live > w->live_first) {
        add_warning(w, arena_printf(w->run->arena,
                                    "leak: device memory held grows by %" PRIu64
                                    " bytes from call A to call %c",
                                    r->alloc_live - w->live_first, letter));
    }
}

struct call_outcome {
    bool clean;     /* verdict of the reply is AC */
    bool different; /* values differ */
    unsigned param; /* the output that differs */
    struct compare_input input;
    struct call_reply reply;
};

/* Makes one call and judges it. False: the judge itself could not go on (a JE was noted). */
static bool make_call(struct work *w, char letter, unsigned set, unsigned poison, bool reread,
                      struct call_outcome *co)
{
    struct run *run = w->run;
    const struct reply_context context = {.problem = run->p,
                                          .casedef = w->c,
                                          .limit_s = run->limit_s,
                                          .strict = run->o->strict,
                                          .libraries_allowed = libraries_allowed(run->s)};
    struct call_request request = {.letter = letter,
                                   .address_set = set,
                                   .poison_kind = poison,
                                   .reread_previous = reread,
                                   .limit_s = run->limit_s};
    struct findings *findings = xalloc(sizeof *findings);
    struct reply_verdict verdict;
    struct diag d = {0};

    memset(co, 0, sizeof *co);
    memcpy(request.exponents, w->exponents, sizeof request.exponents);
    if (w->out->calls < RESULTS_CALLS)
        memcpy(w->out->exponents[w->out->calls], w->exponents, sizeof w->exponents);
    w->out->calls++;
    if (findings == NULL ||
        runner_call(run->runner, w->c, &w->files.in, &request, &co->reply, &d) != STATUS_OK) {
        fail_case(w, letter, VERDICT_JE,
                  findings == NULL ? "out of memory" : arena_strdup(run->arena, d.text), "");
        run->child_lost = run->device_suspect = true;
        xfree(findings);
        return false;
    }
    verdict = reply_read(run->arena, &context, &co->reply, findings);
    keep_account(w, letter, &co->reply, findings);
    xfree(findings);
    add_warning(w, verdict.warnings);
    run->child_lost = run->child_lost || verdict.child_lost;
    run->device_suspect = run->device_suspect || verdict.device_suspect;
    co->clean = verdict.verdict == VERDICT_AC;
    if (!co->clean) {
        fail_case(w, letter, verdict.verdict, verdict.reason,
                  verdict.detail[0] == '\0' && co->reply.end == CALL_SIGNALLED &&
                          co->reply.signo == SIGABRT
                      ? last_words(run)
                      : verdict.detail);
        return true;
    }
    for (unsigned i = 0; i < run->p->param_count; i++) {
        struct compare_input input;
        struct mismatch m;
        bool same;

        if (!is_output(&run->p->params[i]))
            continue;
        if (co->reply.out[i] == NULL && w->c->count[i] > 0) {
            fail_case(w, letter, VERDICT_RE, "no output bytes came with the record", "");
            co->clean = false;
            return true;
        }
        same = judging_compare(run->p, w->c, &w->files.ref, i, co->reply.out[i],
                               letter == 'B' ? w->previous[i] : NULL, w->exponents,
                               co->reply.poison_kind, &input, &m);
        if (m.margin > w->out->margin)
            w->out->margin = m.margin;
        if (same || co->different)
            continue;
        co->different = true;
        co->param = i;
        co->input = input;
        keep_mismatch(w, letter, i, &input, &m);
    }
    return true;
}

/* The outputs of call A, read once more after B: nothing may have changed them. */
static void check_previous(struct work *w, const struct call_outcome *b)
{
    const struct run *run = w->run;

    for (unsigned i = 0; i < run->p->param_count; i++) {
        struct compare_input input;
        struct mismatch m;

        if (b->reply.out_previous[i] == NULL || !is_output(&run->p->params[i]))
            continue;
        if (judging_compare(run->p, w->c, &w->files.ref, i, b->reply.out_previous[i], NULL,
                            w->previous_exponents, 0, &input, &m))
            continue;
        fail_case(w, 'A', VERDICT_WA,
                  arena_printf(run->arena,
                               "still writing after solve(): '%s' of call A changed during call B, "
                               "%" PRIu64 " elements, first at %" PRIu64,
                               run->p->params[i].name, m.count, m.first),
                  "");
        return;
    }
}

/* ---- one case ---- */

/* Outputs of A differ: hints want to know what B does, and integers need both poisons. */
static void explain_a(struct work *w, struct call_outcome *a)
{
    const struct run *run = w->run;
    const uint64_t count = w->c->count[a->param];
    struct case_result kept;
    struct call_outcome b;
    void *next = NULL;

    keep_outputs(w, 'A', &a->reply);
    keep_previous(w, &a->reply); /* the reply's memory is gone after the next call */
    if (w->previous[a->param] == NULL && count > 0) {
        find_hints(w, 'A', a->param, &a->input, NULL, w->exponents);
        return;
    }
    kept = *w->out;
    if (!run->child_lost) {
        int first[PROBLEM_MAX_GROUPS];

        memcpy(first, w->exponents, sizeof first);
        draw_exponents(&w->draw, run->p, w->c, w->exponents);
        if (make_call(w, 'B', 1, 1, false, &b) && b.clean)
            next = (void *)(uintptr_t)b.reply.out[a->param];
        kept.warnings = w->out->warnings;
        kept.calls = w->out->calls;
        memcpy(kept.exponents, w->out->exponents, sizeof kept.exponents);
        if (w->out->verdict == VERDICT_WA)
            *w->out = kept; /* the first mismatch is the one to show; worse verdicts stay */
        a->input.got = w->previous[a->param];
        a->input.got_other = next;
        if (w->out->verdict == VERDICT_WA) {
            int second[PROBLEM_MAX_GROUPS];

            memcpy(second, w->exponents, sizeof second);
            memcpy(w->exponents, first, sizeof first);
            find_hints(w, 'A', a->param, &a->input, next, second);
        }
    }
}

static void explain_later(struct work *w, char letter, const struct call_outcome *co)
{
    keep_outputs(w, letter, &co->reply);
    find_hints(w, letter, co->param, &co->input, NULL, w->exponents);
}

/* `--repeat`: further calls with the data of A; their spread shows sums in changing order. */
static void repeat_calls(struct work *w)
{
    struct run *run = w->run;
    double largest = 0.0, scale = 0.0;
    unsigned made = 0;
    bool first = true;

    memset(w->exponents, 0, sizeof w->exponents);
    for (unsigned k = 0; k < run->o->repeat && !stopped(run); k++) {
        struct call_outcome co;

        if (!make_call(w, 'R', 0, 0, false, &co) || !co.clean || co.different)
            return;
        made++;
        for (unsigned i = 0; i < run->p->param_count && !first; i++) {
            if (!is_output(&run->p->params[i]) || w->previous[i] == NULL)
                continue;
            for (uint64_t e = 0; e < w->c->count[i]; e++) {
                const double x = compare_load(run->p->params[i].dtype, w->previous[i], e);
                const double y = compare_load(run->p->params[i].dtype, co.reply.out[i], e);

                if (fabs(x - y) > largest) {
                    largest = fabs(x - y);
                    scale = fabs(x);
                }
            }
        }
        if (first)
            keep_previous(w, &co.reply);
        first = false;
    }
    if (largest > 0.0)
        add_warning(w, arena_printf(run->arena,
                                    "repeat: %u equal calls spread by up to %.3g (%.2g of the "
                                    "value)",
                                    made, largest, scale > 0.0 ? largest / scale : 0.0));
    else
        add_warning(w, arena_printf(run->arena, "repeat: %u equal calls gave equal outputs", made));
}

static void call_plan(struct work *w)
{
    struct run *run = w->run;
    const bool small = casedef_elements(run->p, w->c) <= JUDGING_SMALL;
    struct call_outcome co;

    memset(w->exponents, 0, sizeof w->exponents); /* A: the data as stored */
    draw_remember(&w->draw, 0);
    if (!make_call(w, 'A', 0, 0, false, &co) || !co.clean)
        return;
    if (co.different) {
        explain_a(w, &co);
        return;
    }
    keep_previous(w, &co.reply);
    draw_exponents(&w->draw, run->p, w->c, w->exponents);
    if (!make_call(w, 'B', 1, 1, true, &co) || !co.clean)
        return;
    check_previous(w, &co);
    if (co.different) {
        explain_later(w, 'B', &co);
        return;
    }
    if (small && w->out->verdict == VERDICT_AC) {
        keep_previous(w, &co.reply);
        draw_exponents(&w->draw, run->p, w->c, w->exponents);
        if (!make_call(w, 'C', 0, 0, false, &co) || !co.clean)
            return;
        if (co.different) {
            explain_later(w, 'C', &co);
            return;
        }
    }
    if (run->o->repeat > 0 && w->out->verdict == VERDICT_AC)
        repeat_calls(w);
}

/* A wrong answer may be a damaged file: before it is blamed on the solution, the bytes are compared
 * with their pins. Larger files are hashed while they are made, which has to do. */
static void check_pins(struct work *w)
{
    const struct {
        const struct casefile *file;
        const struct file_pin *pin;
    } both[] = {{&w->files.in, &w->c->in}, {&w->files.ref, &w->c->ref}};
    char hex[65];

    if (casedef_elements(w->run->p, w->c) > JUDGING_SMALL)
        return;
    for (size_t i = 0; i < sizeof both / sizeof *both; i++) {
        if (both[i].pin->sha256[0] == '\0')
            continue; /* not from a manifest */
        sha256_hex(hex, both[i].file->map, both[i].file->size);
        if (strcmp(hex, both[i].pin->sha256) != 0)
            fail_case(w, w->out->call, VERDICT_JE,
                      arena_printf(w->run->arena,
                                   "case file %s differs from its pin; delete it and it is made "
                                   "again",
                                   both[i].pin->path),
                      "");
    }
}

static void judge_case(struct run *run, const struct casedef *c, struct case_result *out)
{
    struct work *w = xalloc(sizeof *w);
    const double begin = now_ms();
    struct casedef fresh;
    struct diag d = {0};
    enum status st;

    results_init_case(out, c);
    if (w == NULL) {
        out->verdict = VERDICT_JE;
        out->reason = "out of memory";
        return;
    }
    *w = (struct work){.run = run, .c = c, .out = out, .files = CASE_PAIR_EMPTY};
    draw_open(&w->draw, run->o->seed, run->p->name, c->name);
    if (run->o->fresh && casedef_elements(run->p, c) <= JUDGING_SMALL)
        st = caseset_open_fresh(&w->files, &fresh, run->arena, run->o->cfg, run->p, c,
                                draw_next(&w->draw), &d);
    else
        st = caseset_open(&w->files, run->o->cfg, run->p, c, &d);
    if (st == STATUS_OK && run->o->fresh && casedef_elements(run->p, c) <= JUDGING_SMALL)
        w->c = &fresh;
    if (st != STATUS_OK) {
        char text[DIAG_TEXT * 2];

        (void)diag_format(&d, text, sizeof text);
        fail_case(w, 'A', VERDICT_JE, arena_printf(run->arena, "case files: %s", d.text),
                  arena_strdup(run->arena, text));
    } else {
        call_plan(w);
        if (out->verdict == VERDICT_WA && w->c == c)
            check_pins(w);
    }
    if (out->verdict == VERDICT_TLE)
        run->timeouts++;
    if (out->wall_ms > 500.0 * run->limit_s && out->verdict == VERDICT_AC)
        add_warning(w, arena_printf(run->arena, "took %.2f s, over half of the limit of %g s",
                                    out->wall_ms / 1e3, run->limit_s));
    for (unsigned i = 0; i < PROBLEM_MAX_PARAMS; i++)
        xfree(w->previous[i]);
    caseset_close(&w->files);
    out->total_ms = now_ms() - begin;
    xfree(w);
}

/* ---- one solution ---- */

/* A case that is not called: why, as its own verdict. False: it is to be called. */
static bool settle_uncalled(struct run *run, const struct casedef *c, struct case_result *out)
{
    results_init_case(out, c);
    if (c->needs_gpu && run->o->backend->kind != BACKEND_GPU) {
        out->verdict = VERDICT_SK;
        out->skipped_by_case = true;
        out->reason = "needs a GPU";
        return true;
    }
    if (run->timeouts >= MAX_TIMEOUTS) {
        out->verdict = VERDICT_SK;
        out->reason = arena_printf(run->arena, "not tried after %d time-outs", MAX_TIMEOUTS);
        if (out->reason == NULL)
            out->reason = "not tried";
        return true;
    }
    if (run->lost >= MAX_LOST && run->o->backend->kind == BACKEND_GPU) {
        out->verdict = VERDICT_SK;
        out->reason = "not tried after 8 lost processes";
        return true;
    }
    if (run->as_promised) {
        out->verdict = VERDICT_SK;
        out->reason = "not tried: it failed as its tag says";
        return true;
    }
    if (stopped(run)) {
        out->verdict = VERDICT_JE;
        out->reason = "interrupted";
        return true;
    }
    if (need_child(run))
        return false;
    out->verdict = run->at_solution;
    out->reason = run->result->reason;
    out->detail = run->load.detail != NULL ? run->load.detail : "";
    return true;
}

/* Ends the last child in order, so that destructors run, and judges that, too. */
static void end_child(struct run *run)
{
    const struct reply_context context = {.problem = run->p,
                                          .limit_s = run->rc.load_limit_s,
                                          .strict = run->o->strict,
                                          .libraries_allowed = true};
    struct reply_verdict v;
    struct findings findings;
    struct call_reply reply = {.end = CALL_DONE};

    if (run->runner == NULL)
        return;
    if (!run->child_lost && runner_alive(run->runner)) {
        runner_finish(run->runner, &reply);
        v = reply_read(run->arena, &context, &reply, &findings);
        if (v.verdict != VERDICT_AC)
            fail_solution(run, v.verdict, arena_printf(run->arena, "at its end: %s", v.reason));
    }
    drop_child(run);
}

static void read_sanitizer(struct run *run)
{
    const char *texts[] = {run->result->stdout_text, run->result->stderr_text};
    char reason[512];

    if (run->o->sanitize == NULL)
        return;
    for (size_t k = 0; k < sizeof texts / sizeof *texts; k++)
        if (texts[k] != NULL && sanitizer_complains(texts[k], reason, sizeof reason))
            fail_solution(
                run, VERDICT_RE,
                arena_printf(run->arena, "compute-sanitizer %s: %s", run->o->sanitize, reason));
}

enum status judging_run_object(struct solution_result *out, struct arena *a,
                               const struct judging_options *o, const struct casedef *const *cases,
                               unsigned case_count, struct diag *d)
{
    const double begin = now_ms();
    struct run run = {.o = o,
                      .result = out,
                      .arena = a,
                      .p = out->problem,
                      .s = out->solution,
                      .at_solution = VERDICT_AC};

    out->cases = arena_array(a, case_count, sizeof *out->cases);
    if (out->cases == NULL && case_count > 0)
        return diag_set(d, STATUS_NOMEM, "out of memory for %u case results", case_count);
    out->case_count = case_count;
    run.rc = judging_runner(o, run.p, run.s, out->object.so_path);
    run.limit_s = judging_limit(o, run.p);
    for (unsigned i = 0; i < case_count; i++) {
        if (o->progress != NULL)
            o->progress(o->progress_ctx, i, case_count, cases[i]->name);
        if (!settle_uncalled(&run, cases[i], &out->cases[i]))
            judge_case(&run, cases[i], &out->cases[i]);
        /* SK and AC are no failures; a later case cannot take this one back. */
        run.as_promised = run.as_promised ||
                          (o->stop_at_expected && (run.s->expect.set & 1u << VERDICT_AC) == 0 &&
                           out->cases[i].verdict > VERDICT_SK && results_counts(&out->cases[i]) &&
                           (run.s->expect.set >> out->cases[i].verdict & 1u) != 0);
    }
    end_child(&run);
    read_sanitizer(&run);
    (void)device_healthy(&run); /* a crash in the last case must not reach the next solution */
    results_conclude(out, run.at_solution);
    out->judge_s = (now_ms() - begin) / 1e3;
    return STATUS_OK;
}

enum status judging_run_solution(struct solution_result *out, struct arena *a,
                                 const struct judging_options *o, const struct problem *p,
                                 const struct solution *s, const struct casedef *const *cases,
                                 unsigned case_count, const char *const *defines, struct diag *d)
{
    struct diag local = {0};
    const char *skip;
    enum status st;

    results_init_solution(out, p, s);
    skip = judging_skip_reason(a, o->backend, s, o->bench);
    if (skip != NULL) {
        out->reason = skip;
        results_conclude(out, VERDICT_SK);
        return STATUS_OK;
    }
    st = compile_solution(&out->object, a, o->cfg, p, s, o->backend->arch, defines, &local);
    if (st == STATUS_NOMEM) {
        *d = local;
        return st;
    }
    if (st != STATUS_OK) {
        out->reason = local.file[0] != '\0' ? arena_printf(a, "%s: %s", local.file, local.text)
                                            : arena_strdup(a, local.text);
        if (out->reason == NULL)
            return diag_set(d, STATUS_NOMEM, "out of memory");
        results_conclude(out, st == STATUS_NOTHING ? VERDICT_SK : VERDICT_JE);
        return STATUS_OK;
    }
    out->source_hash = out->object.key;
    if (!out->object.ok) {
        out->reason = out->object.reason;
        results_conclude(out, VERDICT_CE);
        return STATUS_OK;
    }
    return judging_run_object(out, a, o, cases, case_count, d);
}

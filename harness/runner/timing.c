/*
 * timing.c - see timing.h. Order of a cold sample: inputs made, outputs poisoned, L2 given foreign
 * clean lines, then start event, solve(), stop event. Invariant: between the two events nothing
 * runs but the solution; everything the judge does lies before the first or after the second.
 */
#include "timing.h"

#include "elements.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FLUSH_LEAST   (UINT64_C(256) << 20) /* bytes; at least 4 times the L2 */
#define SPILL_US      5.0 /* idle later than the stop event by more: work was left */
#define CEILING_BYTES (UINT64_C(1) << 30) /* far beyond any L2 */
#define CEILING_RUNS  15
#define IDLE_RUNS     16

static bool fail(struct session *s, enum record_status status, const char *text)
{
    s->record.status = status;
    if (s->record.text[0] == '\0')
        snprintf(s->record.text, sizeof s->record.text, "%s", text);
    return false;
}

static bool ok(struct session *s, cudaError_t e, const char *call)
{
    return cudalib_ok(&s->lib, e, call, s->record.text, sizeof s->record.text) ||
           fail(s, RECORD_SETUP_FAILED, call);
}

static uint64_t round_up(uint64_t v, uint64_t unit) { return (v + unit - 1) / unit * unit; }

/* What waiting costs on a device that has nothing to do: taken off every measured spill. */
static void idle_measure(struct session *s)
{
    s->idle_us = 1e9;
    for (unsigned i = 0; i < IDLE_RUNS; i++) {
        const uint64_t t0 = session_now_ns();
        s->lib.cudaDeviceSynchronize();
        const double us = (double)(session_now_ns() - t0) * 1e-3;
        s->idle_us = us < s->idle_us ? us : s->idle_us;
    }
}

/* Events and the flush buffer, once a session. */
static bool timing_open(struct session *s)
{
    if (!s->events) {
        if (!ok(s, s->lib.cudaEventCreate(&s->start), "cudaEventCreate") ||
            !ok(s, s->lib.cudaEventCreate(&s->stop), "cudaEventCreate"))
            return false;
        s->events = true;
        idle_measure(s);
    }
    if (s->has_kit && s->flush_size == 0) {
        const uint64_t l2 = (uint64_t)s->facts.l2_bytes * 4;
        const uint64_t size = round_up(l2 > FLUSH_LEAST ? l2 : FLUSH_LEAST, kit_unit(&s->kit));
        if (!guard_reserve(&s->guard, &s->flush, false, size, s->record.text,
                           sizeof s->record.text))
            return fail(s, RECORD_SETUP_FAILED, "flush buffer");
        if (!ok(s, s->lib.cudaMemset(s->flush.base, 0, size), "cudaMemset of the flush buffer"))
            return false;
        s->flush_size = size;
    }
    return true;
}

/* Step 2: no lines of an earlier call may be pinned in L2; the reset alone leaves the limit. */
static void persisting_reset(struct session *s)
{
    if (s->lib.cudaDeviceSetLimit == NULL || s->lib.cudaCtxResetPersistingL2Cache == NULL)
        return;
    s->lib.cudaDeviceSetLimit(cudaLimitPersistingL2CacheSize, 0);
    s->lib.cudaCtxResetPersistingL2Cache();
    s->lib.cudaGetLastError(); /* devices without the feature say "not supported" */
}

/* Step 3: queued in front of the start event, so the host's launch latency hides behind it. */
static bool flush_queue(struct session *s)
{
    if (!s->has_kit) {
        s->record.flags |= RECORD_FLAG_NO_KIT;
        return true;
    }
    if ((s->command.flags & COMMAND_FLAG_DIRTY) != 0)
        return ok(s, kit_write(&s->kit, s->flush.base, s->flush_size), "kit_write");
    return ok(s, kit_read(&s->kit, s->flush.base, s->flush_size), "kit_read");
}

/* Steps 4 and 5 after the stop event was queued: times, spill, errors of the call. */
static void times_take(struct session *s, uint64_t t0)
{
    struct record *r = &s->record;
    float ms = 0;
    uint64_t t1, t2;
    double spill;

    r->error_after_return = (int32_t)s->lib.cudaPeekAtLastError();
    r->error_sync = (int32_t)s->lib.cudaEventSynchronize(s->stop);
    t1 = session_now_ns();
    if (r->error_sync == 0)
        r->error_sync = (int32_t)s->lib.cudaDeviceSynchronize();
    t2 = session_now_ns();
    if (r->error_sync == 0)
        r->error_sync = (int32_t)s->lib.cudaEventElapsedTime(&ms, s->start, s->stop);
    r->wall_ns = t2 - t0;
    r->event_us = ms > 0 ? (double)ms * 1e3 : 0;
    spill = (double)(t2 - t1) * 1e-3 - s->idle_us;
    if (spill > SPILL_US) {
        r->spill_us = spill;
        r->flags |= RECORD_FLAG_SPILL;
    }
}

static void sample_end(struct session *s, cudaError_t copy)
{
    struct record *r = &s->record;

    r->error_copy = (int32_t)copy;
    s->lib.cudaGetLastError();
    session_errors(s);
    session_account(s);
    if (r->alloc_calls != 0)
        r->flags |= RECORD_FLAG_ALLOCATES;
    libraries_news(&s->libraries, NULL, r->new_library, sizeof r->new_library);
    fflush(NULL);
}

/* ---- graph ---- */

static void graph_drop(struct session *s)
{
    if (s->graph != NULL)
        s->lib.cudaGraphExecDestroy(s->graph);
    s->graph = NULL;
}

/* Captures one solve() on the given pointers, unless that is what the kept graph holds. */
static bool graph_capture(struct session *s, void *const pointers[RECORD_MAX_PARAMS])
{
    const struct cudalib *lib = &s->lib;
    cudaStream_t stream = NULL;
    cudaGraph_t graph = NULL;
    cudaError_t e;

    if (s->graph != NULL && s->graph_generation == s->file.generation &&
        memcmp(s->graph_pointers, pointers, sizeof s->graph_pointers) == 0)
        return true;
    graph_drop(s);
    if (lib->cudaStreamBeginCapture == NULL || lib->cudaStreamEndCapture == NULL ||
        lib->cudaGraphInstantiate == NULL || lib->cudaGraphExecDestroy == NULL ||
        lib->cudaGraphDestroy == NULL || lib->cudaStreamCreateWithFlags == NULL ||
        lib->cudaStreamDestroy == NULL || lib->cudaGraphLaunch == NULL)
        return false;
    if (lib->cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking) != cudaSuccess)
        return false;
    e = lib->cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed);
    if (e == cudaSuccess) {
        /* The wrappers send what solve() puts on the default stream to the capturing one. */
        account_capture(stream);
        session_solve(s, pointers);
        account_capture(NULL);
        e = lib->cudaStreamEndCapture(stream, &graph);
    }
    if (e == cudaSuccess)
        e = lib->cudaGraphInstantiate(&s->graph, graph, 0);
    if (graph != NULL)
        lib->cudaGraphDestroy(graph);
    lib->cudaStreamDestroy(stream);
    lib->cudaGetLastError();
    if (e != cudaSuccess) {
        s->graph = NULL;
        return false;
    }
    s->graph_generation = s->file.generation;
    memcpy(s->graph_pointers, pointers, sizeof s->graph_pointers);
    return true;
}

/* A fresh capture is no call: what it did to the buffers outside the stream is undone. */
static bool graph_ready(struct session *s, void *const pointers[RECORD_MAX_PARAMS])
{
    if (!graph_capture(s, pointers)) {
        fault_enter(s->command.sequence, 0, NULL, 0);
        s->record.flags |= RECORD_FLAG_CAPTURE_FAILED;
        return fail(s, RECORD_UNSUPPORTED, "solve() cannot be captured into a graph");
    }
    return guard_prepare(&s->guard, &s->command, &s->file, s->record.text, sizeof s->record.text) ||
           fail(s, RECORD_SETUP_FAILED, "guard_prepare");
}

/* ---- cold ---- */

static void cold(struct session *s)
{
    struct command *c = &s->command;
    struct record *r = &s->record;
    const bool graph = (c->flags & COMMAND_FLAG_GRAPH) != 0;
    void *pointers[RECORD_MAX_PARAMS];
    struct fault_range ranges[RECORD_MAX_PARAMS];
    cudaError_t e;
    uint64_t t0;

    c->address_set = 0;
    if (graph)
        c->slab_step = 0; /* a graph holds its pointers */
    if (!guard_prepare(&s->guard, c, &s->file, r->text, sizeof r->text)) {
        fail(s, RECORD_SETUP_FAILED, "guard_prepare");
        return;
    }
    guard_pointers(&s->guard, 0, pointers, ranges);
    account_begin(ranges, c->param_count);
    fault_enter(c->sequence, 1, ranges, c->param_count);
    if (graph && !graph_ready(s, pointers))
        return;
    account_begin(ranges, c->param_count); /* what a capture asked for belongs to no sample */
    persisting_reset(s);
    if (!ok(s, s->lib.cudaDeviceSynchronize(), "cudaDeviceSynchronize before a sample"))
        return;
    session_notice(s, RECORD_PREPARED);
    if (!flush_queue(s) || !ok(s, s->lib.cudaEventRecord(s->start, NULL), "cudaEventRecord"))
        return;
    t0 = session_now_ns();
    if (graph)
        s->lib.cudaGraphLaunch(s->graph, NULL);
    else
        session_solve(s, pointers);
    s->lib.cudaEventRecord(s->stop, NULL);
    times_take(s, t0);
    session_notice(s, RECORD_RETURNED);
    fault_enter(c->sequence, 0, NULL, 0);
    e = guard_outputs(&s->guard, c, 0, s->shared, GUARD_SLOT_LATE);
    if (e == cudaSuccess && !guard_verify(&s->guard, c, 0, &s->file, s->shared, false, r->params,
                                          r->text, sizeof r->text))
        e = cudaErrorUnknown;
    sample_end(s, e);
}

/* ---- hot ---- */

static bool is_output(const struct command_param *p) { return !p->scalar && p->dir != RECORD_IN; }

/* Of the copies on the device. */
static uint64_t output_stride(const struct command_param *p)
{
    return round_up(p->count * record_type_size(p->type), RECORD_SLOT_ALIGN);
}

/* Room for output sets 2, 3, ...: sets 0 and 1 are the guarded ones of X and Y. */
static bool copies_place(struct session *s, unsigned char *base[RECORD_MAX_PARAMS])
{
    const struct command *c = &s->command;
    uint64_t at = 0;

    for (uint32_t i = 0; i < c->param_count; i++)
        if (is_output(&c->params[i]))
            at =
                round_up(at + round_up(output_stride(&c->params[i]), GUARD_ALIGN) * (c->copies - 2),
                         GUARD_ALIGN);
    if (at != 0 &&
        !guard_reserve(&s->guard, &s->copies, false, at, s->record.text, sizeof s->record.text))
        return fail(s, RECORD_SETUP_FAILED, "output copies");
    at = 0;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        const uint64_t size = round_up(output_stride(p), GUARD_ALIGN) * (c->copies - 2);
        base[i] = NULL;
        if (!is_output(p) || size == 0)
            continue;
        base[i] = s->copies.base + at;
        at += size;
        if (!guard_fill(&s->guard, base[i], size, false, (enum record_type)p->type, c->poison_kind,
                        s->record.text, sizeof s->record.text))
            return fail(s, RECORD_SETUP_FAILED, "output copies");
    }
    return true;
}

/* The arguments of the call that writes output copy j. */
static void hot_pointers(struct session *s, unsigned j, void *sets[2][RECORD_MAX_PARAMS],
                         unsigned char *base[RECORD_MAX_PARAMS], void *pointers[RECORD_MAX_PARAMS])
{
    const struct command *c = &s->command;

    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        pointers[i] = is_output(p) && j >= 2
                          ? base[i] + (j - 2) * round_up(output_stride(p), GUARD_ALIGN)
                          : sets[j % 2][i];
    }
}

static cudaError_t hot_outputs(struct session *s, void *sets[2][RECORD_MAX_PARAMS],
                               unsigned char *base[RECORD_MAX_PARAMS])
{
    const struct command *c = &s->command;
    void *pointers[RECORD_MAX_PARAMS];

    for (unsigned j = 0; j < c->copies; j++) {
        hot_pointers(s, j, sets, base, pointers);
        for (uint32_t i = 0; i < c->param_count; i++) {
            const struct command_param *p = &c->params[i];
            cudaError_t e;
            if (!is_output(p) || p->count == 0)
                continue;
            e = guard_hand_over(
                &s->guard, c, p, pointers[i], false, j % 2 == 0 ? p->exponent : p->exponent2,
                s->shared + p->slot + j * round_up(record_slot_size(p), RECORD_SLOT_ALIGN));
            if (e != cudaSuccess)
                return e;
        }
    }
    return cudaSuccess;
}

/* Both input sets in place: X with the first exponents, Y with the second. */
static bool hot_prepare(struct session *s, struct command *second)
{
    struct command *c = &s->command;

    for (uint32_t i = 0; i < c->param_count; i++)
        if (!c->params[i].scalar && (c->params[i].dir == RECORD_INOUT || c->params[i].space_host))
            return fail(s, RECORD_UNSUPPORTED,
                        "hot samples take device inputs and outputs only, no in-out parameters");
    c->address_set = 0;
    *second = *c;
    second->address_set = 1;
    for (uint32_t i = 0; i < c->param_count; i++)
        second->params[i].exponent = c->params[i].exponent2;
    return (guard_prepare(&s->guard, c, &s->file, s->record.text, sizeof s->record.text) &&
            guard_prepare(&s->guard, second, &s->file, s->record.text, sizeof s->record.text)) ||
           fail(s, RECORD_SETUP_FAILED, "guard_prepare");
}

static void hot_check(struct session *s, const struct command *second)
{
    struct record *r = &s->record;
    struct param_facts other[RECORD_MAX_PARAMS];

    memset(other, 0, sizeof other);
    if (!guard_verify(&s->guard, &s->command, 0, &s->file, s->shared, false, r->params, r->text,
                      sizeof r->text) ||
        !guard_verify(&s->guard, second, 1, &s->file, s->shared, false, other, r->text,
                      sizeof r->text)) {
        r->error_copy = (int32_t)cudaErrorUnknown;
        return;
    }
    for (uint32_t i = 0; i < s->command.param_count; i++) /* one report: the first set that shows */
        if (r->params[i].guard_hits_before == 0 && r->params[i].guard_hits_after == 0 &&
            r->params[i].input_changed == 0)
            r->params[i] = other[i];
}

static void hot(struct session *s)
{
    struct command *c = &s->command;
    struct command second;
    unsigned char *base[RECORD_MAX_PARAMS] = {0};
    void *sets[2][RECORD_MAX_PARAMS], *pointers[RECORD_MAX_PARAMS];
    struct fault_range ranges[RECORD_MAX_PARAMS];
    const unsigned late =
        c->repeats % c->copies; /* shifts copy numbers: the last call fills the last */
    cudaError_t e;
    uint64_t t0;

    if (!hot_prepare(s, &second) || !copies_place(s, base))
        return;
    guard_pointers(&s->guard, 1, sets[1], ranges);
    guard_pointers(&s->guard, 0, sets[0], ranges);
    account_begin(ranges, c->param_count);
    persisting_reset(s);
    if (!ok(s, s->lib.cudaDeviceSynchronize(), "cudaDeviceSynchronize before a sample"))
        return;
    session_notice(s, RECORD_PREPARED);
    fault_enter(c->sequence, 1, ranges, c->param_count);
    t0 = session_now_ns(); /* before the start event: the interval holds all that is claimed */
    if (!ok(s, s->lib.cudaEventRecord(s->start, NULL), "cudaEventRecord"))
        return;
    for (unsigned call = 0; call < c->repeats; call++) {
        hot_pointers(s, (call + c->copies - late) % c->copies, sets, base, pointers);
        session_solve(s, pointers);
    }
    s->lib.cudaEventRecord(s->stop, NULL);
    times_take(s, t0);
    session_notice(s, RECORD_RETURNED);
    fault_enter(c->sequence, 0, NULL, 0);
    e = hot_outputs(s, sets, base);
    if (e == cudaSuccess)
        hot_check(s, &second);
    sample_end(s, e != cudaSuccess ? e : (cudaError_t)s->record.error_copy);
}

void timing_sample(struct session *s)
{
    const char *wrong = callabi_prepare(&s->abi, s->command.params, s->command.param_count);

    if (s->backend == RECORD_VGPU) {
        fail(s, RECORD_UNSUPPORTED, "vgpu has no clock worth reading");
        return;
    }
    if (s->solve == NULL || wrong != NULL) {
        fail(s, RECORD_SETUP_FAILED, wrong != NULL ? wrong : "a sample without a solution");
        return;
    }
    if (!timing_open(s))
        return;
    s->has_sample = (s->command.flags & COMMAND_FLAG_HOT) == 0;
    if (s->has_sample)
        cold(s);
    else
        hot(s);
}

void timing_outputs(struct session *s)
{
    cudaError_t e;

    if (!s->has_sample || !guard_holds(&s->guard, &s->command, 0)) {
        fail(s, RECORD_SETUP_FAILED, "no cold sample whose outputs could be read");
        return;
    }
    e = guard_outputs(&s->guard, &s->command, 0, s->shared, GUARD_SLOT_LATE);
    s->record.error_copy = (int32_t)e;
    session_errors(s);
}

/* ---- ceilings ---- */

enum ceiling { CEILING_EMPTY, CEILING_READ, CEILING_COPY };

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median time of one of the runner's own kernels or of a copy, measured like a cold sample. */
static bool ceiling_time(struct session *s, enum ceiling which, const struct slab *data,
                         uint64_t size, double *median_us)
{
    double us[CEILING_RUNS];

    for (unsigned i = 0; i < CEILING_RUNS; i++) {
        float ms = 0;
        cudaError_t e;
        if (!flush_queue(s) || !ok(s, s->lib.cudaEventRecord(s->start, NULL), "cudaEventRecord"))
            return false;
        e = which == CEILING_EMPTY ? kit_empty(&s->kit)
            : which == CEILING_READ
                ? kit_read(&s->kit, data->base, size)
                /* The driver's own copy: on an H200 4.28 TB/s, a plain kernel reaches 3.97. */
                : s->lib.cudaMemcpyAsync(data->base + size / 2, data->base, size / 2,
                                         cudaMemcpyDeviceToDevice, NULL);
        if (!ok(s, e, "launch of a ceiling kernel") ||
            !ok(s, s->lib.cudaEventRecord(s->stop, NULL), "cudaEventRecord") ||
            !ok(s, s->lib.cudaEventSynchronize(s->stop), "cudaEventSynchronize") ||
            !ok(s, s->lib.cudaEventElapsedTime(&ms, s->start, s->stop), "cudaEventElapsedTime"))
            return false;
        us[i] = (double)ms * 1e3;
    }
    qsort(us, CEILING_RUNS, sizeof *us, compare_doubles);
    *median_us = us[CEILING_RUNS / 2];
    return true;
}

bool timing_ceilings(struct session *s)
{
    struct slab data = {0};
    struct record_facts *f = &s->facts;
    const uint64_t most = f->memory_bytes / 8;
    double empty = 0, read = 0, copy = 0;
    uint64_t size, unit;
    bool fine;

    if (!s->has_kit)
        return fail(s, RECORD_UNSUPPORTED, "ceilings need a real GPU");
    if (!timing_open(s))
        return false;
    unit = 2 * kit_unit(&s->kit);
    size = (most < CEILING_BYTES ? most : CEILING_BYTES) / unit * unit;
    if (size == 0 ||
        !guard_reserve(&s->guard, &data, false, size, s->record.text, sizeof s->record.text))
        return fail(s, RECORD_SETUP_FAILED, "no memory for the ceiling sweeps");
    fine = ok(s, s->lib.cudaMemset(data.base, 0, size), "cudaMemset") &&
           ceiling_time(s, CEILING_EMPTY, &data, size, &empty) &&
           ceiling_time(s, CEILING_READ, &data, size, &read) &&
           ceiling_time(s, CEILING_COPY, &data, size, &copy);
    fine = ok(s, s->lib.cudaFree(data.base), "cudaFree") && fine;
    if (!fine)
        return false;
    f->e0_us = empty;
    /* The launch itself is not bandwidth: E0 is taken off, as the floor E0 + bytes/R adds it. */
    f->read_tbs = read > empty ? (double)size / (read - empty) * 1e-6 : 0;
    f->copy_tbs = copy > empty ? (double)size / (copy - empty) * 1e-6 : 0;
    return true;
}

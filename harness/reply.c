/*
 * reply.c - one reply to one verdict with a reason.
 * Does not look at outputs. Invariant: complaints are collected in a fixed order and the worst
 * verdict wins, so that a second symptom never hides a worse first one.
 */
#include "reply.h"

#include <inttypes.h>
#include <string.h>

static void complain(struct reply_verdict *v, enum verdict verdict, const char *reason)
{
    if (verdict_merge(v->verdict, verdict) == v->verdict)
        return; /* already as bad: the first reason stays */
    v->verdict = verdict;
    v->reason = reason == NULL ? "out of memory while wording a reason" : reason;
    v->detail = "";
}

/* The part of a warning that tells it from others: for a finding its check and its place without
 * block and thread, so that one fault is told once and not for each thread that commits it. */
static bool same_warning(const char *a, size_t a_len, const char *b, size_t b_len)
{
    const char *a_block = memmem(a, a_len, " block (", 8),
               *b_block = memmem(b, b_len, " block (", 8);
    const char *a_at, *b_at;
    size_t check;

    if (a_block == NULL || b_block == NULL)
        return a_len == b_len && memcmp(a, b, a_len) == 0;
    for (a_at = a_block; a_at > a && strncmp(a_at, " at ", 4) != 0;)
        a_at--;
    for (b_at = b_block; b_at > b && strncmp(b_at, " at ", 4) != 0;)
        b_at--;
    check = strcspn(a, ":");
    return strncmp(a, b, check + 1) == 0 && a_block - a_at == b_block - b_at &&
           memcmp(a_at, b_at, (size_t)(a_block - a_at)) == 0;
}

static bool has_warning(const char *all, const char *line, size_t len)
{
    for (; *all != '\0'; all += all[0] == '\n') {
        const size_t n = strcspn(all, "\n");

        if (same_warning(all, n, line, len))
            return true;
        all += n;
    }
    return false;
}

const char *reply_add_warnings(struct arena *a, const char *all, const char *lines)
{
    for (const char *line = lines; line != NULL && *line != '\0'; line += line[0] == '\n') {
        const size_t n = strcspn(line, "\n");

        if (n > 0 && !has_warning(all, line, n)) {
            const char *more =
                arena_printf(a, "%s%s%.*s", all, all[0] == '\0' ? "" : "\n", (int)n, line);

            if (more != NULL)
                all = more;
        }
        line += n;
    }
    return all;
}

static void warn(struct arena *a, struct reply_verdict *v, const char *line)
{
    v->warnings = reply_add_warnings(a, v->warnings, line);
}

/* Where a finding stands: the place, and for races the second place. */
static const char *finding_detail(struct arena *a, const struct finding *f)
{
    const char *text = f->place;

    if (f->other[0] != '\0')
        text = arena_printf(a, "%s\nand %s", f->place, f->other);
    return text == NULL ? "" : text;
}

static const char *finding_line(struct arena *a, const struct finding *f)
{
    return arena_printf(a, "%s%s%s%s%s", f->check, f->check[0] != '\0' ? ": " : "", f->text,
                        f->place[0] != '\0' ? " at " : "", f->place);
}

static void read_findings(struct arena *a, const struct reply_context *rc, const struct findings *f,
                          struct reply_verdict *v)
{
    static const struct {
        enum finding_class class;
        enum verdict verdict;
    } worse[] = {{FINDING_FAULT, VERDICT_RE}, {FINDING_BUDGET, VERDICT_TLE}};
    const struct finding *refused = findings_first(f, FINDING_REFUSED);

    for (size_t k = 0; k < sizeof worse / sizeof *worse; k++) {
        const struct finding *first = findings_first(f, worse[k].class);

        if (first == NULL)
            continue;
        complain(v, worse[k].verdict, first->text);
        if (v->reason == first->text)
            v->detail = finding_detail(a, first);
    }
    if (refused != NULL && v->verdict == VERDICT_AC)
        complain(v, VERDICT_SK, refused->text);
    for (unsigned i = 0; i < f->count; i++) {
        const struct finding *item = &f->items[i];

        if (item->class != FINDING_WARNING && item->class != FINDING_NOTE)
            continue;
        warn(a, v, finding_line(a, item));
        if (rc->strict && item->class == FINDING_WARNING) {
            complain(v, VERDICT_RE, item->text);
            if (v->reason == item->text)
                v->detail = finding_detail(a, item);
        }
    }
    if (f->dropped > 0)
        warn(a, v,
             arena_printf(a, "%u more findings of the virtual GPU are not shown", f->dropped));
    if (f->malformed > 0)
        warn(a, v, arena_printf(a, "%u unreadable lines from the virtual GPU", f->malformed));
}

/* Findings travel through a descriptor that the solution can close or fill; the record knows of
 * them too. */
static void miss_findings(const struct findings *f, const struct record *r, struct reply_verdict *v)
{
    if ((r->flags & RECORD_FLAG_FINDINGS) != 0 && findings_first(f, FINDING_FAULT) == NULL &&
        findings_first(f, FINDING_BUDGET) == NULL)
        complain(v, VERDICT_RE,
                 "the virtual GPU found an error, but its description was lost (was a descriptor "
                 "closed or written to?)");
}

/* The child did not answer with a complete record. */
static void read_end(struct arena *a, const struct reply_context *rc,
                     const struct call_reply *reply, struct reply_verdict *v)
{
    switch (reply->end) {
    case CALL_DONE:
        return;
    case CALL_EXITED:
        complain(v, VERDICT_RE,
                 reply->text[0] != '\0' ? arena_strdup(a, reply->text)
                                        : "solution ended the process");
        break;
    case CALL_SIGNALLED:
        complain(v, VERDICT_RE,
                 reply->text[0] != '\0' ? arena_strdup(a, reply->text)
                                        : arena_printf(a, "killed by signal %d", reply->signo));
        v->device_suspect = true;
        break;
    case CALL_TIMEOUT:
        complain(v, VERDICT_TLE,
                 reply->text[0] != '\0' ? arena_strdup(a, reply->text)
                                        : arena_printf(a, "no answer within %g s", rc->limit_s));
        v->device_suspect = true;
        break;
    case CALL_HOST_MEMORY:
        complain(v, VERDICT_MLE,
                 reply->text[0] != '\0' ? arena_strdup(a, reply->text)
                                        : "used too much host memory");
        break;
    case CALL_FORGED:
        complain(v, VERDICT_RE, arena_printf(a, "no honest record of the call: %s", reply->text));
        v->device_suspect = true;
        break;
    }
    v->child_lost = true;
}

static void read_status(struct arena *a, const struct record *r, struct reply_verdict *v)
{
    switch ((enum record_status)r->status) {
    case RECORD_OK:
        return;
    case RECORD_NO_SOLVE:
        complain(v, VERDICT_RE, "the loaded file has no symbol 'solve'");
        return;
    case RECORD_LOAD_FAILED:
        /* It linked against the real runtime: what is missing is missing in this one. */
        if (strstr(r->text, "undefined symbol") != NULL && strstr(r->text, "libcudart") != NULL) {
            complain(v, VERDICT_SK,
                     arena_printf(a, "the runtime library here lacks a function: %s", r->text));
            return;
        }
        complain(v, VERDICT_RE, arena_printf(a, "cannot be loaded: %s", r->text));
        return;
    case RECORD_MEMORY_LIMIT:
        complain(v, VERDICT_MLE,
                 arena_printf(a, "asked for too much device memory%s%s",
                              r->text[0] != '\0' ? ": " : "", r->text));
        return;
    case RECORD_UNSUPPORTED:
        complain(v, VERDICT_SK, arena_printf(a, "not possible here: %s", r->text));
        return;
    case RECORD_LEFT_WORK:
        complain(v, VERDICT_RE,
                 arena_printf(a, "an earlier call left work behind, which failed after it: %s",
                              r->text));
        v->child_lost = true;
        v->device_suspect = true;
        return;
    case RECORD_SETUP_FAILED:
    case RECORD_PREPARED:
    case RECORD_RETURNED:
        break;
    }
    complain(v, VERDICT_JE, arena_printf(a, "the runner could not set up the call: %s", r->text));
    v->child_lost = true;
    v->device_suspect = true;
}

/* The runtime's own words for the error where it gave some: they name the call and its arguments.
 */
static const char *error_text(struct arena *a, const struct record *r, const struct findings *f)
{
    const char *why = findings_api_error(f, r->error_name);

    if (why != NULL && r->text[0] == '\0')
        return why;
    const char *when = r->error_after_return != 0 ? "after solve() returned"
                       : r->error_sync != 0       ? "at the synchronisation after solve()"
                                                  : "while outputs were read";

    return arena_printf(a, "%s %s%s%s", r->error_name[0] != '\0' ? r->error_name : "CUDA error",
                        when, r->text[0] != '\0' ? ": " : "", r->text);
}

static void read_errors(struct arena *a, const struct reply_context *rc, const struct record *r,
                        const struct findings *f, struct reply_verdict *v)
{
    /* A refused allocation shows as an error, too: the limit is the reason, not the symptom. */
    if (r->alloc_refused > 0 && r->error_class != ERROR_STICKY)
        return;
    switch ((enum error_class)r->error_class) {
    case ERROR_NONE: /* an error that the solution took away */
        for (unsigned i = 0; i < f->count; i++)
            if (f->items[i].class == FINDING_API)
                warn(a, v, finding_line(a, &f->items[i]));
        return;
    case ERROR_LAUNCH:
        /* Outside the domain a launch of nothing may fail, as long as nothing is damaged. */
        if (rc->casedef != NULL && rc->casedef->advisory) {
            warn(a, v, error_text(a, r, f));
            return;
        }
        complain(v, VERDICT_RE, error_text(a, r, f));
        return;
    case ERROR_STICKY:
        complain(v, VERDICT_RE, error_text(a, r, f));
        v->child_lost = true;
        v->device_suspect = true;
        return;
    case ERROR_OTHER:
        complain(v, VERDICT_RE, error_text(a, r, f));
        return;
    case ERROR_REFUSED:
        complain(v, VERDICT_SK,
                 arena_printf(a, "the virtual GPU refused the kernel: %s",
                              r->text[0] != '\0' ? r->text : r->error_name));
        return;
    case ERROR_BUDGET:
        complain(v, VERDICT_TLE, "no progress, or the instruction budget of a launch is spent");
        v->child_lost = true;
        return;
    }
    complain(v, VERDICT_RE, arena_printf(a, "unknown error class %" PRIu32, r->error_class));
}

/* "wrote 4 bytes past the end of 'C', first at +4" */
static void read_guards(struct arena *a, const struct reply_context *rc, const struct record *r,
                        struct reply_verdict *v)
{
    for (unsigned i = 0; i < rc->problem->param_count; i++) {
        const struct param_facts *f = &r->params[i];
        const char *name = rc->problem->params[i].name;

        if (f->guard_hits_after > 0)
            complain(
                v, VERDICT_RE,
                arena_printf(a, "wrote %" PRIu64 " bytes past the end of '%s', first at %+" PRId64,
                             f->guard_hits_after, name, f->guard_first_after));
        if (f->guard_hits_before > 0)
            complain(v, VERDICT_RE,
                     arena_printf(a,
                                  "wrote %" PRIu64
                                  " bytes in front of the start of '%s', nearest at %+" PRId64,
                                  f->guard_hits_before, name, f->guard_first_before));
    }
}

static void read_params(struct arena *a, const struct reply_context *rc, const struct record *r,
                        struct reply_verdict *v)
{
    for (unsigned i = 0; i < rc->problem->param_count; i++) {
        const struct param_facts *f = &r->params[i];
        const char *name = rc->problem->params[i].name;

        if (f->input_changed > 0)
            complain(v, VERDICT_WA,
                     arena_printf(a, "modified input '%s': %" PRIu64 " elements, first at %" PRIu64,
                                  name, f->input_changed, f->input_first));
        if (f->late_elements > 0)
            complain(v, VERDICT_WA,
                     arena_printf(a,
                                  "still writing after solve(): %" PRIu64
                                  " elements of '%s' changed later, first at %" PRIu64,
                                  f->late_elements, name, f->late_first));
    }
}

static void read_account(struct arena *a, const struct reply_context *rc, const struct record *r,
                         struct reply_verdict *v)
{
    if (r->alloc_refused > 0)
        complain(
            v, VERDICT_MLE,
            arena_printf(a, "asked for more than %" PRIu64 " MiB of device memory (held %.1f MiB)",
                         rc->problem->memory_mib, (double)r->alloc_peak / 1048576.0));
    if ((r->flags & RECORD_FLAG_RESET) != 0)
        complain(v, VERDICT_RE, "called cudaDeviceReset, which would destroy the caller's data");
    if (r->new_library[0] != '\0') {
        const char *text = arena_printf(a, "loaded %s", r->new_library);

        if (rc->libraries_allowed)
            warn(a, v, text);
        else
            complain(v, VERDICT_RE, text);
    }
}

struct reply_verdict reply_read(struct arena *a, const struct reply_context *rc,
                                const struct call_reply *reply, struct findings *findings)
{
    struct reply_verdict v = {.verdict = VERDICT_AC, .reason = "", .detail = "", .warnings = ""};

    findings_parse(findings, a, reply->findings.text, reply->findings.len);
    read_findings(a, rc, findings, &v); /* first: they know the source line */
    read_end(a, rc, reply, &v);
    if (reply->end != CALL_DONE)
        return v;
    miss_findings(findings, &reply->record, &v);
    read_status(a, &reply->record, &v);
    read_guards(a, rc, &reply->record, &v); /* before the error: a stray write explains it better */
    read_errors(a, rc, &reply->record, findings, &v);
    read_account(a, rc, &reply->record, &v);
    read_params(a, rc, &reply->record, &v);
    return v;
}

/*
 * cmd_show.c - `judge show`: one outcome in detail, or the build of one solution.
 * Judges the one case again, so that outputs are at hand. Invariant: what it prints about a case
 * comes from that call, not from memory.
 */
#include "cmd.h"

#include "caseset.h"
#include "fileio.h"
#include "proc.h"
#include "report_text.h"
#include "store.h"
#include "toolkit.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { OPT_CONTEXT = OPT_OWN, OPT_PTX, OPT_SASS, OPT_LOG };

struct show_values {
    unsigned context;
    bool ptx, sass, log;
};

static const struct argp_option options[] = {
    {"case", OPT_CASE, "NAME", 0, "the case (default: the first that failed)", 0},
    {"context", OPT_CONTEXT, "N", 0, "elements shown on both sides of the first mismatch", 0},
    {"ptx", OPT_PTX, 0, 0, "the PTX of the build", 0},
    {"sass", OPT_SASS, 0, 0, "the machine code of the build", 0},
    {"log", OPT_LOG, 0, 0, "everything the compiler said", 0},
    CMD_OPT_BACKEND,
    {"seed", OPT_SEED, "HEX", 0, "seed of the run to look at again", 0},
    {"time-limit", OPT_TIME_LIMIT, "S", 0, "seconds a call may take", 0},
    {"color", OPT_COLOUR, "WHEN", 0, "always, never or auto", 0},
    CMD_OPT_HELP,
    {0}};

static enum status own_option(struct judge *j, void *values, int key, const char *arg,
                              struct diag *d)
{
    struct show_values *v = values;
    char *end;
    unsigned long n;

    (void)j;
    switch (key) {
    case OPT_CONTEXT:
        n = strtoul(arg, &end, 10);
        if (end == arg || *end != '\0' || n > 10000)
            return diag_set(d, STATUS_USAGE, "--context: '%s' is no number up to 10000", arg);
        v->context = (unsigned)n;
        return STATUS_OK;
    case OPT_PTX:
        v->ptx = true;
        return STATUS_OK;
    case OPT_SASS:
        v->sass = true;
        return STATUS_OK;
    case OPT_LOG:
        v->log = true;
        return STATUS_OK;
    default:
        return diag_set(d, STATUS_INTERNAL, "show: option key %d has no taker", key);
    }
}

/* ---- the build ---- */

static enum status disassemble(struct judge *j, const char *so, const char *what, struct diag *d)
{
    struct proc_request request = {.limit_s = 60.0, .out_cap = (size_t)64 << 20, .err_cap = 4096};
    struct proc_result result;
    struct toolkit t;
    const char *tool;

    TRY(toolkit_find(&t, &j->arena, &j->cfg, d));
    tool = arena_printf(&j->arena, "%s/bin/cuobjdump", t.root);
    if (tool == NULL || !file_exists(tool))
        tool = proc_find(&j->arena, "cuobjdump");
    if (tool == NULL)
        return diag_set(d, STATUS_NOTHING, "no cuobjdump: it comes with the CUDA toolkit");
    {
        const char *const argv[] = {tool, what, so, NULL};

        request.argv = argv;
        TRY(proc_run(&result, &j->arena, &request, d));
    }
    if (!proc_ok(&result))
        return diag_set(d, STATUS_IO, "cuobjdump: %s: %s", proc_describe(&result, &j->arena),
                        result.err);
    if (fwrite(result.out, 1, result.out_len, stdout) != result.out_len)
        return diag_set(d, STATUS_IO, "cannot write to standard output");
    return STATUS_OK;
}

static enum status show_build(struct judge *j, const struct show_values *v, const struct problem *p,
                              const struct solution *s, struct diag *d)
{
    struct backend_choice backend;
    struct object object;
    struct diag ignored = {0};
    const char *arch = "90a";

    if (backend_choose(&backend, &j->arena, &j->cfg, &ignored) == STATUS_OK)
        arch = backend.arch;
    TRY(compile_solution(&object, &j->arena, &j->cfg, p, s, arch, NULL, d));
    if (v->log)
        (void)printf("%s", object.log);
    if (!object.ok && (v->ptx || v->sass))
        return diag_set(d, STATUS_USAGE, "does not compile: %s (--log shows all)", object.reason);
    if (v->ptx)
        TRY(disassemble(j, object.so_path, "-ptx", d));
    if (v->sass)
        TRY(disassemble(j, object.so_path, "-sass", d));
    return STATUS_OK;
}

/* ---- one case ---- */

static void input_range(struct textbuf *b, const struct tensor *t)
{
    double low = (double)INFINITY, high = -(double)INFINITY;
    uint64_t odd = 0;

    for (uint64_t i = 0; i < t->count; i++) {
        const double x = compare_load(t->dtype, t->data, i);

        if (isnan(x)) {
            odd++;
            continue;
        }
        low = fmin(low, x);
        high = fmax(high, x);
    }
    textbuf_printf(b, "%s %s[%" PRIu64 "]", t->name, dtype_name(t->dtype), t->count);
    if (t->count > odd)
        textbuf_printf(b, " min %.6g max %.6g", low, high);
    if (odd > 0)
        textbuf_printf(b, ", %" PRIu64 " NaN", odd);
}

static void case_facts(struct textbuf *b, const struct problem *p, const struct casedef *c,
                       const struct casefile *in)
{
    struct textbuf line = TEXTBUF_EMPTY;

    for (unsigned i = 0; i < p->param_count; i++)
        if (p->params[i].scalar)
            textbuf_printf(&line, "%s = %.9g  ", p->params[i].name, c->scalar[i]);
    for (unsigned i = 0; i < p->param_count; i++) {
        const struct tensor *t = casefile_find(in, p->params[i].name);

        if (p->params[i].scalar || t == NULL || p->params[i].dir == DIR_OUT)
            continue;
        textbuf_puts(&line, " ");
        input_range(&line, t);
        if (c->offset[i] > 0)
            textbuf_printf(&line, " (base +%" PRIu64 " elements)", c->offset[i]);
        textbuf_puts(&line, "  ");
    }
    if (line.text != NULL)
        report_text_wrap(b, line.text, 4);
    textbuf_puts(b, "\n");
    textbuf_fini(&line);
}

static int call_exponent(const struct problem *p, const struct case_result *c)
{
    const unsigned call = c->call >= 'A' && c->call <= 'C' ? (unsigned)(c->call - 'A') : 0;
    int sum = 0;

    for (unsigned g = 0; g < p->group_count; g++)
        sum += c->exponents[call][g];
    return sum;
}

/* The rows around the first mismatch, in stored scale. */
static void mismatch_rows(struct textbuf *b, const struct problem *p, const struct case_result *r,
                          const struct casefile *ref, const struct casefile *kept, unsigned context)
{
    const struct tensor *want = casefile_find(ref, r->param);
    const struct tensor *got = casefile_find(kept, r->param);
    const int exponent = call_exponent(p, r);
    uint64_t begin, end;

    if (want == NULL || got == NULL || got->count != want->count)
        return;
    begin = r->mismatch.first > context ? r->mismatch.first - context : 0;
    end = r->mismatch.first + context + 1;
    if (end > want->count)
        end = want->count;
    textbuf_puts(b, "     index            want             got            diff          ulp\n");
    for (uint64_t i = begin; i < end; i++) {
        const double w = compare_load(want->dtype, want->data, i);
        const double g = ldexp(compare_load(got->dtype, got->data, i), -exponent);
        const uint64_t ulp = compare_ulp(got->dtype, g, w);

        textbuf_printf(b, " %c %7" PRIu64 " %15.9g %15.9g %15.6g",
                       i == r->mismatch.first ? '>' : ' ', i, w, g, g - w);
        if (ulp == UINT64_MAX)
            textbuf_puts(b, "            -\n");
        else
            textbuf_printf(b, " %12" PRIu64 "\n", ulp);
    }
}

static void tag_words(struct textbuf *b, const struct casedef *c)
{
    for (unsigned k = 0; c->tags[k] != NULL; k++)
        textbuf_printf(b, "%s%s", k > 0 ? " " : "", c->tags[k]);
}

struct shown {
    const struct problem *p;
    const struct solution *s;
    const struct solution_result *result;
    const char *keep_dir;
    uint64_t seed;
    unsigned context;
};

/* Name of the file that judging.c kept for this case. */
static const char *kept_path(struct arena *a, const struct shown *v, const struct case_result *c)
{
    char *name = arena_printf(a, "%s.%s.%s.%c.out.safetensors", v->p->name, v->s->name,
                              c->casedef->name, c->call);

    for (char *at = name; at != NULL && *at != '\0'; at++)
        if (*at == '/')
            *at = '.';
    return name == NULL ? NULL : arena_printf(a, "%s/%s", v->keep_dir, name);
}

static enum status describe(struct judge *j, struct textbuf *b, const struct shown *v,
                            struct diag *d)
{
    const struct case_result *c = &v->result->cases[0];
    struct case_pair files = CASE_PAIR_EMPTY;
    struct casefile kept = CASEFILE_EMPTY;
    struct diag ignored = {0};
    const char *path;

    textbuf_printf(b, "%s/%s %s%s%s, case %s (", v->p->name, v->s->name,
                   term_verdict(&j->term, c->verdict), verdict_name(c->verdict),
                   term_reset(&j->term), c->casedef->name);
    tag_words(b, c->casedef);
    textbuf_printf(b, ", seed %" PRIu64 "), call %c, rule %s\n", c->casedef->seed, c->call,
                   compare_rule_name(c->casedef->rule.kind));
    TRY(caseset_open(&files, &j->cfg, v->p, c->casedef, d));
    case_facts(b, v->p, c->casedef, &files.in);
    if (c->mismatch.count > 0) {
        path = kept_path(&j->arena, v, c);
        if (path != NULL && casefile_open(&kept, path, &ignored) == STATUS_OK)
            mismatch_rows(b, v->p, c, &files.ref, &kept, v->context);
        casefile_close(&kept);
    }
    textbuf_printf(b, "inputs: %s\n", caseset_path(&j->arena, &j->cfg, &c->casedef->in));
    caseset_close(&files);
    textbuf_printf(b, "replay: judge run %s%s%s --case %s --seed %" PRIx64 "\n\n", v->p->name,
                   v->s->kind == SOLUTION_FOREIGN ? " " : "/",
                   v->s->kind == SOLUTION_FOREIGN ? v->s->path : v->s->name, c->casedef->name,
                   v->seed);
    report_text_solution(b, &j->term, v->result, (unsigned)strlen(v->s->name), true);
    if (v->result->stdout_text[0] != '\0')
        textbuf_printf(b, "stdout of the solution:\n%.4000s\n", v->result->stdout_text);
    if (v->result->stderr_text[0] != '\0')
        textbuf_printf(b, "stderr of the solution:\n%.4000s\n", v->result->stderr_text);
    return STATUS_OK;
}

static const struct solution_result *find_stored(const struct results *r, const struct problem *p,
                                                 const struct solution *s)
{
    for (unsigned i = 0; i < r->solution_count; i++)
        if (strcmp(r->solutions[i].problem->name, p->name) == 0 &&
            strcmp(r->solutions[i].solution->name, s->name) == 0)
            return &r->solutions[i];
    return NULL;
}

static enum status show_case(struct judge *j, const struct common_options *o,
                             const struct show_values *v, const struct problem *p,
                             const struct solution *s, const struct backend_choice *backend,
                             const char *case_name, struct diag *d)
{
    const struct caseset_filter filter = {
        .glob = case_name, .gpu = backend->kind == BACKEND_GPU, .keep_gpu_only = true};
    char keep_dir[] = "/tmp/judge-show-XXXXXX";
    struct judging_options judging = {.cfg = &j->cfg,
                                      .backend = backend,
                                      .counters = true,
                                      .time_limit_s = o->time_limit_s,
                                      .stop = j->stop};
    struct solution_result result;
    struct shown shown = {.p = p, .s = s, .result = &result, .context = v->context};
    const struct casedef *const *cases;
    struct textbuf b = TEXTBUF_EMPTY;
    struct diag ignored = {0};
    enum status st;
    unsigned count;

    TRY(caseset_select(&cases, &count, &j->arena, p, &filter, d));
    if (count > 1)
        return diag_set(d, STATUS_USAGE, "'%s' matches %u cases; show takes one", case_name, count);
    judging.seed = o->seed;
    if (mkdtemp(keep_dir) == NULL)
        return diag_set(d, STATUS_IO, "cannot make a folder like %s", keep_dir);
    judging.keep_dir = shown.keep_dir = keep_dir;
    shown.seed = judging.seed;
    st = judging_run_solution(&result, &j->arena, &judging, p, s, cases, 1, NULL, d);
    if (st == STATUS_OK && result.case_count == 1)
        st = describe(j, &b, &shown, d);
    else if (st == STATUS_OK)
        report_text_solution(&b, &j->term, &result, (unsigned)strlen(s->name), true);
    if (st == STATUS_OK)
        st = cmd_print(&b, d);
    textbuf_fini(&b);
    if (path_remove(keep_dir, &ignored) != STATUS_OK && st == STATUS_OK)
        (void)fprintf(stderr, "judge: %s stays behind: %s\n", keep_dir, ignored.text);
    return st;
}

enum status cmd_show(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    struct show_values v = {.context = 3};
    const struct cmd_syntax syntax = {
        .name = "show",
        .args = "P/S | P FILE.cu",
        .doc = "Judges one case of one solution again and shows everything about it; or shows the "
               "build."
               "\vExamples:\n"
               "  judge show topk/mine                       the first case that failed\n"
               "  judge show topk/mine --case small_3_k3\n"
               "  judge show topk/mine --ptx | less",
        .options = options,
        .own = own_option,
        .values = &v};
    struct common_options common;
    const struct solution_result *stored;
    const struct target *targets;
    struct backend_choice backend;
    struct results last = {0};
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st;
    unsigned count;
    bool help;

    (void)exit_code;
    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    TRY(cmd_targets(j, &common, SCOPE_ALL, &targets, &count, d));
    if (common.arg_count == 0 || count != 1 || targets[0].solution_count != 1)
        return diag_set(d, STATUS_USAGE, "name one solution: judge show PROBLEM/SOLUTION");
    if (v.log || v.ptx || v.sass)
        return show_build(j, &v, targets[0].problem, targets[0].solutions[0], d);
    TRY(backend_choose(&backend, &j->arena, &j->cfg, d));
    TRY(store_load(&last, &j->arena, &j->cfg, backend.name, d));
    stored = find_stored(&last, targets[0].problem, targets[0].solutions[0]);
    if (!common.seed_given && stored != NULL)
        common.seed = last.context.seed;
    else if (!common.seed_given)
        TRY(cmd_seed(&common, &common.seed, d));
    if (common.case_glob != NULL)
        return show_case(j, &common, &v, targets[0].problem, targets[0].solutions[0], &backend,
                         common.case_glob, d);
    if (stored == NULL)
        return diag_set(d, STATUS_USAGE,
                        "%s/%s has no stored outcome yet: judge run it first, or name a --case",
                        targets[0].problem->name, targets[0].solutions[0]->name);
    if (results_decisive(stored) != NULL)
        return show_case(j, &common, &v, targets[0].problem, targets[0].solutions[0], &backend,
                         results_decisive(stored)->casedef->name, d);
    report_text_solution(&b, &j->term, stored, (unsigned)strlen(stored->solution->name), true);
    st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

/*
 * ptxrun.c - runs one kernel of a .ptx file on the virtual GPU from the shell; the vehicle of the
 * opcode tests and of the speed measurements. Uses no runtime API: it launches through sched_run()
 * as cudart/ does. The test comments are read by ptxtest.c.
 */
#include "exec.h"
#include "image.h"
#include "ptxtest.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char usage[] =
    "Usage: ptxrun FILE.ptx [OPTION...]\n"
    "Runs the kernel that the file's //! comments or the options describe, on the virtual GPU.\n"
    "  --test            compare with //! expect lines and with FILE.gold beside it; exit 1 on a "
    "difference\n"
    "  --bench N         run N times, print the best time and lane instructions per second\n"
    "  --kernel NAME  --grid X,Y,Z  --block X,Y,Z  --shared BYTES\n"
    "  --arg TYPE:VALUE  a scalar argument (u32:5, f32:1.5); --arg "
    "NAME:TYPE:COUNT[:zero|iota|rand|ramp] a buffer,\n"
    "                    printed at the end when its name starts with \"out\"\n"
    "  --checks LIST     of mem,init,race,sync or all, none (default all); --counters 0|1; --seed "
    "N; --budget N; --early\n"
    "  --dump            print the decoded program\n"
    "  --lower           only decode every kernel of the file; name those that cannot run\n"
    "Exit status: 0 fine, 1 a difference or a kernel error, 2 wrong usage or unreadable file.\n";

struct setup {
    const char *file;
    bool test, dump, lower;
    unsigned bench;
    struct vgpu_options options;
    struct test t;
    bool has_test;
};

static double now(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* other processes do not count */
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

/* ---- command line ---- */
static bool parse_checks(struct vgpu_options *o, const char *list)
{
    o->check_mem = o->check_init = o->check_race = o->check_sync = strcmp(list, "all") == 0;
    if (strcmp(list, "all") == 0 || strcmp(list, "none") == 0)
        return true;
    for (const char *p = list; *p;) {
        size_t n = strcspn(p, ",");
        if (n == 3 && strncmp(p, "mem", n) == 0)
            o->check_mem = true;
        else if (n == 4 && strncmp(p, "init", n) == 0)
            o->check_init = true;
        else if (n == 4 && strncmp(p, "race", n) == 0)
            o->check_race = true;
        else if (n == 4 && strncmp(p, "sync", n) == 0)
            o->check_sync = true;
        else
            return false;
        p += n + (p[n] == ',');
    }
    return true;
}
/* An --arg becomes the directive it abbreviates. */
static void arg_directive(char *text, size_t size, const char *arg)
{
    unsigned colons = 0;
    for (const char *p = arg; *p; p++)
        colons += *p == ':';
    int n = snprintf(text, size, "//! %s %s\n",
                     colons < 2                    ? "value"
                     : strncmp(arg, "out", 3) == 0 ? "out"
                                                   : "buffer",
                     arg);
    for (int i = 4; i < n && (size_t)i < size; i++) {
        if (text[i] == ':')
            text[i] = ' ';
    }
}
static int fail(const char *what, const char *why)
{
    fprintf(stderr, "ptxrun: %s: %s\n", what, why);
    return 2;
}
static int parse_command_line(struct setup *s, int argc, char **argv)
{
    char script[8192] = "", line[600], launch[1024] = "";
    s->options = (struct vgpu_options){.check_mem = true,
                                       .check_init = true,
                                       .check_race = true,
                                       .check_sync = true,
                                       .counters = true,
                                       .fd = -1};
    for (int i = 1; i < argc; i++) {
        const char *o = argv[i], *v = i + 1 < argc ? argv[i + 1] : "";
        if (o[0] != '-') {
            s->file = o;
            continue;
        }
        bool flag = strcmp(o, "--test") == 0 || strcmp(o, "--lower") == 0 ||
                    strcmp(o, "--dump") == 0 || strcmp(o, "--early") == 0 ||
                    strcmp(o, "--help") == 0;
        if (strcmp(o, "--help") == 0) {
            fputs(usage, stdout);
            return -1;
        }
        if (!flag && i + 1 >= argc)
            return fail(o, "a value is missing");
        if (!flag)
            i++;
        line[0] = '\0';
        if (strcmp(o, "--test") == 0)
            s->test = true;
        else if (strcmp(o, "--dump") == 0)
            s->dump = true;
        else if (strcmp(o, "--lower") == 0)
            s->lower = true;
        else if (strcmp(o, "--early") == 0)
            s->options.early_async = true;
        else if (strcmp(o, "--bench") == 0)
            s->bench = (unsigned)strtoul(v, NULL, 10);
        else if (strcmp(o, "--seed") == 0)
            s->options.seed = strtoull(v, NULL, 0);
        else if (strcmp(o, "--budget") == 0)
            s->options.budget = strtoull(v, NULL, 0);
        else if (strcmp(o, "--counters") == 0)
            s->options.counters = strcmp(v, "0") != 0;
        else if (strcmp(o, "--arg") == 0)
            arg_directive(line, sizeof line, v);
        else if (strcmp(o, "--kernel") == 0)
            snprintf(launch, sizeof launch, "//! launch %s", v);
        else if (strcmp(o, "--grid") == 0)
            snprintf(line, sizeof line, " grid=%s", v);
        else if (strcmp(o, "--block") == 0)
            snprintf(line, sizeof line, " block=%s", v);
        else if (strcmp(o, "--shared") == 0)
            snprintf(line, sizeof line, " shared=%s", v);
        else if (strcmp(o, "--checks") == 0) {
            if (!parse_checks(&s->options, v))
                return fail(v, "checks are mem, init, race, sync, all, none");
        } else {
            return fail(o, "unknown option; see --help");
        }
        char *to = line[0] == ' ' ? launch : script;
        size_t room = (line[0] == ' ' ? sizeof launch : sizeof script) - strlen(to) - 1;
        strncat(to, line, room);
    }
    if (!s->file)
        return fail("no file", "see --help");
    if (launch[0]) {
        char err[200], text[9300];
        snprintf(text, sizeof text, "%s\n%s", launch, script);
        if (!ptxtest_parse(&s->t, text, err, sizeof err))
            return fail("options", err);
        s->has_test = true;
    }
    return 0;
}

/* ---- one run ---- */
struct run {
    struct vgpu_device device;
    struct ptx_module *module;
    struct program *program;
    struct alloc *buffers[TEST_ARGS];
    unsigned char params[TEST_ARGS * 8];
    struct counts counts;
    uint64_t findings;
    double seconds;
    int error;
};

static bool open_device(struct run *r, const struct vgpu_options *o, const char *text, size_t len,
                        char *err, size_t err_size)
{
    struct ptx_diag diag;
    memset(r, 0, sizeof *r);
    r->device.options = *o;
    r->device.sm_count = 8;
    r->device.report.fd = o->fd;
    if (!mem_open(&r->device.space, 4ull << 30, o->check_init)) {
        snprintf(err, err_size, "no address space");
        return false;
    }
    if (!ptx_module_load(&r->module, text, len, &diag)) {
        snprintf(err, err_size, "%u:%u: %.400s", diag.line, diag.col, diag.text);
        return false;
    }
    return image_place(&r->device.space, r->module, err, err_size);
}
static void close_device(struct run *r)
{
    report_flush(&r->device.report);
    free(r->device.report.seen);
    free(r->device.report.buffer);
    if (r->module)
        image_remove(&r->device.space, r->module, 0);
    if (r->module)
        ptx_module_free(r->module);
    vg_arena_free(&r->device.arena);
    vg_arena_free(&r->device.report.arena);
    mem_close(&r->device.space);
}

static bool make_arguments(struct run *r, const struct test *t, struct ptx_func *f, char *err,
                           size_t err_size)
{
    if (f->param_count != t->arg_count) {
        snprintf(err, err_size, "%s has %u parameters, %u arguments are given", f->name,
                 f->param_count, t->arg_count);
        return false;
    }
    if (f->param_size > sizeof r->params) {
        snprintf(err, err_size, "more than %zu bytes of parameters", sizeof r->params);
        return false;
    }
    for (unsigned i = 0; i < t->arg_count; i++) {
        const struct test_arg *a = &t->args[i];
        uint64_t bits = a->bits;
        if (a->buffer) {
            size_t bytes = a->count * a->type->bytes;
            struct alloc *b = r->buffers[i] = mem_alloc(&r->device.space, bytes, ALLOC_DEVICE);
            if (!b) {
                snprintf(err, err_size, "no memory for %s", a->name);
                return false;
            }
            snprintf(b->name, sizeof b->name, "%s", a->name);
            memcpy(b->host, a->data, bytes);
            mem_mark_init(b, 0, bytes);
            bits = b->addr;
        }
        memcpy(r->params + f->params[i].offset, &bits,
               f->params[i].size < 8 ? f->params[i].size : 8);
    }
    return true;
}

static struct ptx_func *find_kernel(struct ptx_module *m, const char *name)
{
    struct ptx_func *only = NULL;
    for (uint32_t i = 0; i < m->func_count; i++) {
        if (!m->funcs[i].entry)
            continue;
        if (strcmp(m->funcs[i].name, name) == 0)
            return &m->funcs[i];
        only = strstr(m->funcs[i].name, name) ? &m->funcs[i] : only;
    }
    return only;
}

static bool launch(struct run *r, const struct test *t, uint64_t seed, char *err, size_t err_size)
{
    struct ptx_func *f = find_kernel(r->module, t->kernel);
    if (!f) {
        snprintf(err, err_size, "no kernel '%s'", t->kernel);
        return false;
    }
    if (!make_arguments(r, t, f, err, err_size))
        return false;
    r->program = lower_function(f, err, err_size);
    if (!r->program)
        return false;
    struct grid g = {.program = r->program,
                     .func = f,
                     .dynamic_shared = t->shared,
                     .cooperative = t->cooperative,
                     .params = r->params,
                     .launch_number = 1,
                     .budget = t->budget,
                     .seed = seed,
                     .device = &r->device};
    memcpy(g.dim, t->grid, sizeof g.dim);
    memcpy(g.block_dim, t->block, sizeof g.block_dim);
    double start = now();
    r->error = sched_run(&g);
    r->seconds = now() - start;
    r->counts = g.counts;
    r->findings = r->device.report.written;
    vg_arena_free(&g.arena);
    call_flush_printf(&r->device);
    return true;
}

/* ---- modes ---- */
static bool check_buffers(const struct run *r, const struct test *t, const char *gold,
                          const char *file)
{
    bool ok = true;
    char err[160];
    for (unsigned i = 0; i < t->arg_count; i++) {
        const struct test_arg *a = &t->args[i];
        if (!a->buffer)
            continue;
        if (a->expected)
            ok = ptxtest_compare(t, a, r->buffers[i]->host, a->expected, a->expected_count,
                                 stderr) &&
                 ok;
        if (!gold || !a->out)
            continue;
        unsigned char *want = malloc(a->count * a->type->bytes);
        if (!want || !ptxtest_read_gold(gold, a, want, err, sizeof err)) {
            fprintf(stderr, "%s: %s\n", file, want ? err : "out of memory");
            ok = false;
        } else {
            ok = ptxtest_compare(t, a, r->buffers[i]->host, want, a->count, stderr) && ok;
        }
        free(want);
    }
    return ok;
}

static void gold_path(const char *file, char *path, size_t size)
{
    size_t n = strlen(file);
    if (n > 4 && strcmp(file + n - 4, ".ptx") == 0)
        n -= 4;
    snprintf(path, size, "%.*s.gold", (int)n, file);
}

/* Reads the findings that the run wrote to fd as JSON lines; true when `kind` is among them, or
 * when none is wanted and none is there. */
static bool check_findings(FILE *lines, const char *kind, const char *file)
{
    char line[8192], wanted[64];
    bool found = false, other = false;
    snprintf(wanted, sizeof wanted, "\"kind\":\"%s\"", kind);
    rewind(lines);
    while (fgets(line, sizeof line, lines)) {
        if (!strstr(line, "\"t\":\"finding\""))
            continue;
        if (kind[0] && strstr(line, wanted)) {
            found = true;
        } else if (strstr(line, "\"severity\":\"error\"") || kind[0] == '\0') {
            other = true;
            fprintf(stderr, "%s: finding not expected: %s", file, line);
        }
    }
    if (kind[0] && !found)
        fprintf(stderr, "%s: no finding '%s' was reported\n", file, kind);
    return kind[0] ? found && !other : !other;
}

static int run_test(struct setup *s, const char *text, size_t len)
{
    char err[512] = "", path[1024];
    gold_path(s->file, path, sizeof path);
    char *gold = ptxtest_slurp(path, NULL);
    bool ok = true, compared = gold != NULL || s->t.error != 0 || s->t.finding[0];
    for (unsigned i = 0; i < s->t.arg_count; i++)
        compared = compared || s->t.args[i].expected;
    if (!compared) {
        fprintf(stderr, "%s: neither //! expect lines nor %s: nothing would be tested\n", s->file,
                path);
        free(gold);
        return 2;
    }
    for (unsigned seed = 0; seed <= s->t.seeds && ok; seed++) {
        struct run r;
        FILE *lines = tmpfile();
        if (!lines) {
            free(gold);
            return fail("temporary file", strerror(errno));
        }
        s->options.fd = fileno(lines);
        ok = open_device(&r, &s->options, text, len, err, sizeof err) &&
             launch(&r, &s->t, s->options.seed + seed, err, sizeof err);
        if (!ok)
            fprintf(stderr, "%s: %s\n", s->file, err);
        report_flush(&r.device.report);
        if (ok && r.error != s->t.error) {
            fprintf(stderr, "%s: seed %u: the launch ended with error %d, expected %d\n", s->file,
                    seed, r.error, s->t.error);
            ok = false;
        }
        ok = check_findings(lines, s->t.finding, s->file) && ok;
        if (ok && r.error == 0)
            ok = check_buffers(&r, &s->t, gold, s->file);
        close_device(&r);
        fclose(lines);
    }
    free(gold);
    return ok ? 0 : 1;
}

static void print_rate(const struct setup *s, const struct run *r, double best)
{
    struct tally_rate {
        double lanes, warps;
    } x = {(double)r->counts.lane_inst, (double)r->counts.warp_inst};
    printf("%s: isa %s, best of %u: %.3f ms of CPU time", s->file, exec_isa_name(), s->bench,
           best * 1e3);
    if (x.warps > 0)
        printf(", %.4g lane instructions, %.1f active lanes, %.3f G lane instructions/s", x.lanes,
               x.lanes / x.warps, x.lanes / best * 1e-9);
    printf("\n");
}
static int run_bench(struct setup *s, const char *text, size_t len)
{
    char err[512] = "";
    double best = 1e9;
    struct counts counts = {0};
    bool counters = s->options.counters;
    struct run r;
    /* One run with counters says how many lane instructions there are; the timed ones may do
     * without. */
    for (unsigned i = 0; i <= s->bench; i++) {
        s->options.counters = i == 0 || counters;
        bool ok = open_device(&r, &s->options, text, len, err, sizeof err) &&
                  launch(&r, &s->t, s->options.seed, err, sizeof err);
        if (!ok || r.error) {
            fprintf(stderr, "%s: %s (error %d)\n", s->file, err, r.error);
            close_device(&r);
            return 1;
        }
        if (i == 0)
            counts = r.counts;
        else if (r.seconds < best)
            best = r.seconds;
        close_device(&r);
    }
    r.counts = counts;
    print_rate(s, &r, best);
    return 0;
}

static void print_buffers(const struct run *r, const struct test *t)
{
    for (unsigned i = 0; i < t->arg_count; i++) {
        const struct test_arg *a = &t->args[i];
        if (!a->buffer || !a->out)
            continue;
        ptxtest_write_gold(stdout, a, r->buffers[i]->host);
    }
}
static void print_counts(const struct counts *c)
{
#define X(name, meaning)                                                                           \
    if (c->name)                                                                                   \
        printf("%-18s %" PRIu64 "\n", #name, c->name);
#include "counters.def"
#undef X
}
static void print_program(const struct program *p)
{
    printf("%s: %u instructions, %u bytes of registers per warp, %u predicates, %u constants\n",
           p->func->name, p->code_count, p->reg_bytes, p->pred_count, p->fill_count);
    for (uint32_t pc = 0; pc < p->code_count; pc++) {
        const struct insn *in = &p->code[pc];
        const char *name = "?";
        for (int id = 1; id < OP_COUNT; id++) {
            if (exec_op((enum op_id)id) == in->run)
                name = exec_op_name((enum op_id)id);
        }
        printf("%5u rank %5u %c%d %-16s d %u a %u b %u c %u e %u imm %" PRId64
               " target %u%s   %s\n",
               pc, in->rank, in->guard_negated ? '!' : '@', in->guard, name, in->d, in->a, in->b,
               in->c, in->e, in->imm, in->target, in->flags & INSN_FLAG_SPIN ? " spin" : "",
               p->func->insts[in->tree].text);
    }
}
static int run_once(struct setup *s, const char *text, size_t len)
{
    char err[512] = "";
    struct run r;
    bool ok = open_device(&r, &s->options, text, len, err, sizeof err) &&
              launch(&r, &s->t, s->options.seed, err, sizeof err);
    if (!ok) {
        fprintf(stderr, "%s: %s\n", s->file, err);
    } else {
        if (s->dump)
            print_program(r.program);
        print_buffers(&r, &s->t);
        print_counts(&r.counts);
        if (r.error)
            fprintf(stderr, "%s: the launch ended with error %d\n", s->file, r.error);
    }
    int status = !ok ? 2 : r.error ? 1 : 0;
    close_device(&r);
    return status;
}

static int lower_all(struct setup *s, const char *text, size_t len)
{
    char err[512] = "";
    struct run r;
    unsigned kernels = 0, refused = 0;
    double start = now();
    bool ok = open_device(&r, &s->options, text, len, err, sizeof err);
    if (!ok)
        fprintf(stderr, "%s: %s\n", s->file, err);
    double loaded = now();
    for (uint32_t i = 0; ok && i < r.module->func_count; i++) {
        struct ptx_func *f = &r.module->funcs[i];
        if (!f->entry)
            continue;
        kernels++;
        if (lower_function(f, err, sizeof err))
            continue;
        refused++;
        printf("%s: %s\n", f->name, err);
    }
    if (ok)
        printf("%s: %u kernels, %u refused; load %.2f ms, decode %.2f ms\n", s->file, kernels,
               refused, (loaded - start) * 1e3, (now() - loaded) * 1e3);
    close_device(&r);
    return !ok ? 2 : refused ? 1 : 0;
}

int main(int argc, char **argv)
{
    struct setup s;
    char err[512] = "";
    size_t len = 0;
    memset(&s, 0, sizeof s);
    int status = parse_command_line(&s, argc, argv);
    if (status)
        return status < 0 ? 0 : status;
    char *text = ptxtest_slurp(s.file, &len);
    if (!text)
        return fail(s.file, strerror(errno));
    if (!s.lower && !s.has_test && !ptxtest_parse(&s.t, text, err, sizeof err)) {
        free(text);
        return fail(s.file, err);
    }
    status = s.lower   ? lower_all(&s, text, len)
             : s.test  ? run_test(&s, text, len)
             : s.bench ? run_bench(&s, text, len)
                       : run_once(&s, text, len);
    ptxtest_free(&s.t);
    free(text);
    return status;
}

/*
 * cmd_common.c - option parsing with suggestions, targets, context and output of the commands.
 * Runs nothing on a device itself. Invariant: every refusal names what was given and, where there
 * is one, the nearest thing that exists.
 */
#include "cmd.h"

#include "caseset.h"
#include "draw.h"
#include "fileio.h"
#include "proc.h"
#include "report_json.h"
#include "report_text.h"
#include "store.h"
#include "toolkit.h"
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#ifndef WARPJUDGE_VERSION
#define WARPJUDGE_VERSION "unknown"
#endif
#define MAX_OPTIONS 64
#define MAX_TAGS    16

static enum status no_memory(struct diag *d) { return diag_set(d, STATUS_NOMEM, "out of memory"); }

bool cmd_stopped(const struct judge *j) { return j->stop != NULL && *j->stop != 0; }

const char *cmd_version(void) { return WARPJUDGE_VERSION; }

/* ---- options ---- */

struct parse {
    struct judge *judge;
    const struct cmd_syntax *syntax;
    struct common_options *out;
    const char **args, **tags;
    struct diag *d;
    enum status status;
    bool help;
};

static enum status parse_real(double *out, const char *name, const char *arg, struct diag *d)
{
    char *end;

    errno = 0;
    *out = strtod(arg, &end);
    if (end == arg || *end != '\0' || errno != 0 || !(*out > 0.0) || *out > 1e9)
        return diag_set(d, STATUS_USAGE, "--%s: '%s' is no positive number", name, arg);
    return STATUS_OK;
}

static enum status parse_hex(uint64_t *out, const char *arg, struct diag *d)
{
    char *end;

    errno = 0;
    *out = strtoull(arg, &end, 16);
    if (end == arg || *end != '\0' || errno != 0 || arg[0] == '-')
        return diag_set(d, STATUS_USAGE, "--seed: '%s' is no hex number of up to 16 digits", arg);
    return STATUS_OK;
}

static enum status parse_colour(enum term_colour *out, const char *arg, struct diag *d)
{
    if (strcmp(arg, "always") == 0)
        *out = COLOUR_ALWAYS;
    else if (strcmp(arg, "never") == 0)
        *out = COLOUR_NEVER;
    else if (strcmp(arg, "auto") == 0)
        *out = COLOUR_AUTO;
    else
        return diag_set(d, STATUS_USAGE, "--color: '%s' is not always, never or auto", arg);
    return STATUS_OK;
}

static enum status set_config(struct parse *p, const char *key, const char *arg, const char *name)
{
    return config_set(&p->judge->cfg, &p->judge->arena, key, arg, name, p->d);
}

static enum status add_tag(struct parse *p, const char *arg)
{
    static const char *const known[] = {"site", "edge", "stress", "perf", "curve"};
    const char *near;

    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i], arg) == 0 && p->out->tag_count < MAX_TAGS) {
            p->tags[p->out->tag_count++] = arg;
            p->out->tags = p->tags;
            return STATUS_OK;
        }
    near = diag_nearest(arg, known, sizeof known / sizeof *known);
    return diag_set(p->d, STATUS_USAGE,
                    "--tag: unknown tag '%s'%s%s%s (site, edge, stress, perf or curve)", arg,
                    near != NULL ? "; did you mean '" : "", near != NULL ? near : "",
                    near != NULL ? "'?" : "");
}

static enum status take_option(struct parse *p, int key, char *arg)
{
    struct common_options *o = p->out;

    switch (key) {
    case OPT_BACKEND:
        return set_config(p, "backend", arg, "--backend");
    case OPT_DEVICE:
        return set_config(p, "device", arg, "--device");
    case 'j':
        return set_config(p, "jobs", arg, "--jobs");
    case OPT_CASE:
        o->case_glob = arg;
        return STATUS_OK;
    case OPT_TAG:
        return add_tag(p, arg);
    case OPT_SEED:
        o->seed_given = true;
        return parse_hex(&o->seed, arg, p->d);
    case OPT_TIME_LIMIT:
        return parse_real(&o->time_limit_s, "time-limit", arg, p->d);
    case OPT_KEEP:
        o->keep_dir = arg;
        return STATUS_OK;
    case OPT_JSON:
        o->json_path = arg;
        return STATUS_OK;
    case OPT_COLOUR:
        return parse_colour(&o->colour, arg, p->d);
    case OPT_REQUIRE_GPU:
        p->judge->require_gpu = true;
        return STATUS_OK;
    case 'q':
        o->quiet = true;
        return STATUS_OK;
    case 'v':
        o->verbose = true;
        return STATUS_OK;
    case OPT_HELP:
        p->help = true;
        return STATUS_OK;
    default:
        if (p->syntax->own != NULL)
            return p->syntax->own(p->judge, p->syntax->values, key, arg, p->d);
        return diag_set(p->d, STATUS_INTERNAL, "option key %d has no taker", key);
    }
}

static error_t parse_key(int key, char *arg, struct argp_state *state)
{
    struct parse *p = state->input;

    switch (key) {
    case ARGP_KEY_ARG:
        p->args[p->out->arg_count++] = arg;
        return 0;
    case ARGP_KEY_INIT:
    case ARGP_KEY_END:
    case ARGP_KEY_NO_ARGS:
    case ARGP_KEY_SUCCESS:
    case ARGP_KEY_ERROR:
    case ARGP_KEY_FINI:
        return 0;
    default:
        if (key == ARGP_KEY_ARGS || key == (int)ARGP_KEY_HELP_EXTRA)
            return ARGP_ERR_UNKNOWN;
        if (p->status == STATUS_OK)
            p->status = take_option(p, key, arg);
        return p->status == STATUS_OK ? 0 : EINVAL;
    }
}

/* Between "judge" and the name of the command; that of the whole run is empty. */
#define GAP(s) ((s)->name[0] != '\0' ? " " : "")

static enum status refuse_long(const struct cmd_syntax *s, const char *word, size_t len,
                               struct diag *d)
{
    const char *names[MAX_OPTIONS];
    const char *near;
    char given[64];
    size_t n = 0;

    for (const struct argp_option *o = s->options; o->name != NULL && n < MAX_OPTIONS; o++)
        names[n++] = o->name;
    (void)snprintf(given, sizeof given, "%.*s", (int)(len < 60 ? len : 60), word);
    near = diag_nearest(given, names, n);
    if (near != NULL)
        return diag_set(d, STATUS_USAGE, "unknown option '--%s' of judge%s%s; did you mean '--%s'?",
                        given, GAP(s), s->name, near);
    return diag_set(d, STATUS_USAGE, "judge%s%s: unknown option '--%s'; see judge%s%s --help",
                    GAP(s), s->name, given, GAP(s), s->name);
}

/* The option that `--word` means: exact, or the only one that begins so. */
static const struct argp_option *find_long(const struct cmd_syntax *s, const char *word, size_t len)
{
    const struct argp_option *found = NULL;

    for (const struct argp_option *o = s->options; o->name != NULL; o++) {
        if (strncmp(o->name, word, len) != 0)
            continue;
        if (o->name[len] == '\0')
            return o;
        if (found != NULL)
            return NULL;
        found = o;
    }
    return found;
}

static const struct argp_option *find_short(const struct cmd_syntax *s, char letter)
{
    for (const struct argp_option *o = s->options; o->name != NULL; o++)
        if (o->key == letter)
            return o;
    return NULL;
}

/* argp's own complaints name no alternatives, so bad options are found before it sees them. */
static enum status check_options(const struct cmd_syntax *s, int argc, char **argv, struct diag *d)
{
    for (int i = 1; i < argc; i++) {
        const struct argp_option *o;
        const char *word = argv[i];
        size_t len;

        if (word[0] != '-' || word[1] == '\0')
            continue;
        if (strcmp(word, "--") == 0)
            return STATUS_OK;
        if (word[1] != '-') {
            o = find_short(s, word[1]);
            if (o == NULL)
                return diag_set(d, STATUS_USAGE,
                                "judge%s%s: unknown option '-%c'; see judge%s%s --help", GAP(s),
                                s->name, word[1], GAP(s), s->name);
            if (o->arg != NULL && word[2] == '\0' && ++i >= argc)
                return diag_set(d, STATUS_USAGE, "judge%s%s: option '-%c' needs a value (%s)",
                                GAP(s), s->name, word[1], o->arg);
            continue;
        }
        len = strcspn(word + 2, "=");
        o = find_long(s, word + 2, len);
        if (o == NULL)
            return refuse_long(s, word + 2, len, d);
        if (o->arg == NULL && word[2 + len] == '=')
            return diag_set(d, STATUS_USAGE, "judge%s%s: option '--%s' takes no value", GAP(s),
                            s->name, o->name);
        if (o->arg != NULL && word[2 + len] == '\0' && ++i >= argc)
            return diag_set(d, STATUS_USAGE, "judge%s%s: option '--%s' needs a value (%s)", GAP(s),
                            s->name, o->name, o->arg);
    }
    return STATUS_OK;
}

enum status cmd_parse(struct judge *j, const struct cmd_syntax *syntax, int argc, char **argv,
                      struct common_options *out, bool *help_shown, struct diag *d)
{
    const struct argp argp = {.options = syntax->options,
                              .parser = parse_key,
                              .args_doc = syntax->args,
                              .doc = syntax->doc};
    struct parse p = {.judge = j, .syntax = syntax, .out = out, .d = d};
    char *name = arena_printf(&j->arena, "judge%s%s", GAP(syntax), syntax->name);

    *out = (struct common_options){0};
    *help_shown = false;
    p.args = arena_array(&j->arena, (size_t)argc + 1, sizeof *p.args);
    p.tags = arena_array(&j->arena, MAX_TAGS + 1, sizeof *p.tags);
    if (p.args == NULL || p.tags == NULL || name == NULL)
        return no_memory(d);
    TRY(check_options(syntax, argc, argv, d));
    argv[0] = name;
    if (argp_parse(&argp, argc, argv, ARGP_SILENT, NULL, &p) != 0 && p.status == STATUS_OK)
        return diag_set(d, STATUS_USAGE, "judge%s%s: bad arguments; see judge%s%s --help",
                        GAP(syntax), syntax->name, GAP(syntax), syntax->name);
    TRY(p.status);
    out->args = p.args;
    if (p.help) {
        argp_help(&argp, stdout, ARGP_HELP_STD_HELP & ~(unsigned)ARGP_HELP_EXIT_OK, name);
        *help_shown = true;
    }
    term_open(&j->term, out->colour, j->no_colour, out->quiet);
    return STATUS_OK;
}

/* ---- targets ---- */

enum status cmd_problem(struct judge *j, const char *name, const struct problem **out,
                        struct diag *d)
{
    const char *const *names;
    struct problem *p;
    const char *near;
    unsigned count;

    TRY(problem_names(&names, &count, &j->arena, j->cfg.root, d));
    for (unsigned i = 0; i < count; i++) {
        if (strcmp(names[i], name) != 0)
            continue;
        p = arena_alloc(&j->arena, sizeof *p);
        if (p == NULL)
            return no_memory(d);
        TRY(problem_load(p, &j->arena, j->cfg.root, name, d));
        *out = p;
        return STATUS_OK;
    }
    near = diag_nearest(name, names, count);
    if (near != NULL)
        return diag_set(d, STATUS_USAGE, "unknown problem '%s'; did you mean '%s'?", name, near);
    return diag_set(d, STATUS_USAGE, "unknown problem '%s'; judge list shows the problems", name);
}

struct target_list {
    struct judge *j;
    struct target *items;
    const struct solution **solutions[64]; /* growing lists, one a target */
    unsigned count, capacity;
};

static bool is_source(const char *arg)
{
    const size_t n = strlen(arg);

    return n > 3 && strcmp(arg + n - 3, ".cu") == 0;
}

/* The target of a problem, made on first use. */
static enum status target_of(struct target_list *l, const char *problem, unsigned *index,
                             struct diag *d)
{
    for (unsigned i = 0; i < l->count; i++)
        if (strcmp(l->items[i].problem->name, problem) == 0) {
            *index = i;
            return STATUS_OK;
        }
    if (l->count == l->capacity)
        return diag_set(d, STATUS_USAGE, "too many problems at once");
    TRY(cmd_problem(l->j, problem, &l->items[l->count].problem, d));
    l->solutions[l->count] = arena_array(&l->j->arena, 1024, sizeof(struct solution *));
    if (l->solutions[l->count] == NULL)
        return no_memory(d);
    l->items[l->count].solutions = l->solutions[l->count];
    *index = l->count++;
    return STATUS_OK;
}

static enum status add_solution(struct target_list *l, unsigned index, const struct solution *s,
                                struct diag *d)
{
    struct target *t = &l->items[index];

    for (unsigned i = 0; i < t->solution_count; i++)
        if (strcmp(t->solutions[i]->path, s->path) == 0)
            return STATUS_OK;
    if (t->solution_count == 1024)
        return diag_set(d, STATUS_USAGE, "more than 1024 solutions of '%s'", t->problem->name);
    l->solutions[index][t->solution_count++] = s;
    return STATUS_OK;
}

static bool solution_matches(const struct solution *s, const char *pattern, enum target_scope scope)
{
    if (pattern == NULL)
        return s->kind != SOLUTION_REJECT || scope == SCOPE_ALL;
    if (strcmp(pattern, "rejects") == 0)
        return s->kind == SOLUTION_REJECT;
    if (strcmp(pattern, "baselines") == 0)
        return s->kind == SOLUTION_BASELINE;
    return fnmatch(pattern, s->name, FNM_PATHNAME) == 0;
}

static enum status unknown_solution(const struct problem *p, const char *pattern,
                                    const struct solution *list, unsigned count, struct arena *a,
                                    struct diag *d)
{
    const char **names = arena_array(a, (size_t)count + 1, sizeof *names);
    const char *near;

    if (names == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < count; i++)
        names[i] = list[i].name;
    near = diag_nearest(pattern, names, count);
    if (near == NULL) /* the last part may be right and the folder missing */
        for (unsigned i = 0; i < count && near == NULL; i++) {
            const char *slash = strrchr(list[i].name, '/');

            if (slash != NULL && strcmp(slash + 1, pattern) == 0)
                near = list[i].name;
        }
    if (near != NULL)
        return diag_set(d, STATUS_USAGE, "problem '%s' has no solution '%s'; did you mean '%s'?",
                        p->name, pattern, near);
    return diag_set(d, STATUS_USAGE, "problem '%s' has no solution '%s'; judge list %s shows them",
                    p->name, pattern, p->name);
}

static enum status add_pattern(struct target_list *l, const char *problem, const char *pattern,
                               enum target_scope scope, struct diag *d)
{
    const struct solution *list;
    unsigned index, count, found = 0;

    TRY(target_of(l, problem, &index, d));
    TRY(solution_list(&list, &count, &l->j->arena, l->j->cfg.root, problem, d));
    for (unsigned i = 0; i < count; i++)
        if (solution_matches(&list[i], pattern, scope)) {
            TRY(add_solution(l, index, &list[i], d));
            found++;
        }
    if (found == 0 && pattern != NULL)
        return unknown_solution(l->items[index].problem, pattern, list, count, &l->j->arena, d);
    return STATUS_OK;
}

/* A file: one of the tree keeps its name, another is foreign. */
static enum status add_file(struct target_list *l, unsigned index, const char *path, struct diag *d)
{
    const struct problem *p = l->items[index].problem;
    struct arena *a = &l->j->arena;
    char full[PATH_MAX];
    const struct solution *list;
    struct solution *s;
    unsigned count;

    if (realpath(path, full) == NULL)
        return diag_set(d, STATUS_USAGE, "cannot read '%s': %s", path, strerror(errno));
    TRY(solution_list(&list, &count, a, l->j->cfg.root, p->name, d));
    for (unsigned i = 0; i < count; i++)
        if (strcmp(list[i].path, full) == 0)
            return add_solution(l, index, &list[i], d);
    s = arena_alloc(a, sizeof *s);
    if (s == NULL)
        return no_memory(d);
    path = arena_strdup(a, full);
    if (path == NULL)
        return no_memory(d);
    TRY(solution_load(s, a, p->name, path, SOLUTION_FOREIGN, d));
    return add_solution(l, index, s, d);
}

static enum status add_all(struct target_list *l, enum target_scope scope, struct diag *d)
{
    const char *const *names;
    unsigned count;

    TRY(problem_names(&names, &count, &l->j->arena, l->j->cfg.root, d));
    if (count == 0)
        return diag_set(d, STATUS_USAGE, "no problems below '%s/problems'", l->j->cfg.root);
    for (unsigned i = 0; i < count; i++)
        TRY(add_pattern(l, names[i], NULL, scope, d));
    return STATUS_OK;
}

/* The problem whose files follow in the arguments: "topk my.cu" judges my.cu only. */
static bool names_files(const struct common_options *o, unsigned i)
{
    return i + 1 < o->arg_count && is_source(o->args[i + 1]);
}

enum status cmd_targets(struct judge *j, const struct common_options *o, enum target_scope scope,
                        const struct target **out, unsigned *count, struct diag *d)
{
    struct target_list l = {.j = j, .capacity = 64};
    unsigned index = UINT_MAX;

    l.items = arena_array(&j->arena, l.capacity, sizeof *l.items);
    if (l.items == NULL)
        return no_memory(d);
    if (o->arg_count == 0)
        TRY(add_all(&l, scope, d));
    for (unsigned i = 0; i < o->arg_count; i++) {
        const char *slash = strchr(o->args[i], '/');
        char *name;

        if (is_source(o->args[i])) {
            if (index == UINT_MAX)
                return diag_set(d, STATUS_USAGE,
                                "name the problem before the file: judge run PROBLEM %s",
                                o->args[i]);
            TRY(add_file(&l, index, o->args[i], d));
            continue;
        }
        name = arena_strndup(&j->arena, o->args[i],
                             slash != NULL ? (size_t)(slash - o->args[i]) : strlen(o->args[i]));
        if (name == NULL)
            return no_memory(d);
        if (slash != NULL && slash[1] == '\0')
            slash = NULL;
        if (slash != NULL || !names_files(o, i))
            TRY(add_pattern(&l, name, slash != NULL ? slash + 1 : NULL, scope, d));
        TRY(target_of(&l, name, &index, d));
    }
    *out = l.items;
    *count = l.count;
    return STATUS_OK;
}

/* ---- context and output ---- */

enum status cmd_seed(const struct common_options *o, uint64_t *out, struct diag *d)
{
    uint64_t seed;

    if (o->seed_given) {
        *out = o->seed;
        return STATUS_OK;
    }
    TRY(draw_seed(&seed, d));
    *out = seed & 0xffffffffu; /* eight digits are enough to type again */
    return STATUS_OK;
}

/* The commit that is checked out, "" outside a repository. Reads .git, starts no git. */
static const char *read_commit(struct arena *a, const char *root)
{
    const char *path = arena_printf(a, "%s/.git/HEAD", root);
    struct diag ignored = {0};
    char *text;
    size_t len;

    if (path == NULL || file_read(&text, &len, a, path, 4096, &ignored) != STATUS_OK)
        return "";
    text[strcspn(text, "\n")] = '\0';
    if (strncmp(text, "ref: ", 5) == 0) {
        path = arena_printf(a, "%s/.git/%s", root, text + 5);
        if (path == NULL || file_read(&text, &len, a, path, 4096, &ignored) != STATUS_OK)
            return "";
        text[strcspn(text, "\n")] = '\0';
    }
    if (strlen(text) > 12)
        text[12] = '\0';
    return text;
}

enum status cmd_context(struct judge *j, const struct backend_choice *b, uint64_t seed,
                        struct run_context *out, struct diag *d)
{
    const time_t now = time(NULL);
    struct toolkit toolkit = {.version = ""};
    struct diag ignored = {0};
    struct tm utc;
    char *start = arena_alloc(&j->arena, 32);

    if (start == NULL || gmtime_r(&now, &utc) == NULL ||
        strftime(start, 32, "%Y-%m-%dT%H:%M:%SZ", &utc) == 0)
        return no_memory(d);
    if (toolkit_find(&toolkit, &j->arena, &j->cfg, &ignored) != STATUS_OK)
        toolkit.version = "";
    *out = (struct run_context){.judge_version = WARPJUDGE_VERSION,
                                .commit = read_commit(&j->arena, j->cfg.root),
                                .backend = b->name,
                                .start = start,
                                .nvcc = toolkit.version,
                                .cuda = b->facts.runtime,
                                .device = b->facts,
                                .clocks = "",
                                .seed = seed,
                                .flush = ""};
    out->jobs = suite_jobs(b, j->cfg.jobs);
    return STATUS_OK;
}

enum status cmd_print(const struct textbuf *b, struct diag *d)
{
    TRY(textbuf_check(b, d));
    if (b->len > 0 && fwrite(b->text, 1, b->len, stdout) != b->len)
        return diag_set(d, STATUS_IO, "cannot write to standard output: %s", strerror(errno));
    if (fflush(stdout) != 0)
        return diag_set(d, STATUS_IO, "cannot write to standard output: %s", strerror(errno));
    return STATUS_OK;
}

enum status cmd_write_text(const struct textbuf *b, const char *path, struct diag *d)
{
    TRY(textbuf_check(b, d));
    return file_write(path, b->text == NULL ? "" : b->text, b->len, d);
}

enum status cmd_write_json(const struct results *r, const char *path, struct diag *d)
{
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st;

    report_json(&b, r);
    st = textbuf_check(&b, d);
    if (st == STATUS_OK)
        st = strcmp(path, "-") == 0 ? cmd_print(&b, d) : file_write(path, b.text, b.len, d);
    textbuf_fini(&b);
    return st;
}

int cmd_exit_code(const struct judge *j, const struct solution_result *r, unsigned count)
{
    unsigned skipped = 0, unexpected = 0;

    for (unsigned i = 0; i < count; i++) {
        if (r[i].verdict == VERDICT_JE)
            return EXIT_INTERNAL;
        skipped += r[i].verdict == VERDICT_SK;
        unexpected += !r[i].as_expected;
    }
    if (unexpected > 0)
        return EXIT_UNEXPECTED;
    if (skipped == count)
        return j->require_gpu ? EXIT_UNEXPECTED : EXIT_NOTHING;
    return j->require_gpu && skipped > 0 ? EXIT_UNEXPECTED : EXIT_EXPECTED;
}

/* ---- judging and printing ---- */

/* Where the parent prints each result as it becomes final. */
struct printer {
    struct judge *j;
    const struct common_options *o;
    const struct run_context *context;
    const struct suite_item *items;
    bool headline, text; /* text: results go to stdout in words */
    const struct expectation *expect;
    const struct problem *current;
    unsigned width, solutions, first;
    unsigned item_count;
    enum status status;
    struct diag *d;
};

static unsigned name_width(const struct suite_item *items, unsigned count, const struct problem *p)
{
    size_t width = 8;

    for (unsigned i = 0; i < count; i++) {
        const size_t n = strlen(items[i].solution->name) +
                         (items[i].tune[0] != '\0' ? strlen(items[i].tune) + 1 : 0);

        if (items[i].problem == p && n > width)
            width = n;
    }
    return width < 44 ? (unsigned)width : 44;
}

static void print_result(void *ctx, unsigned index, const struct solution_result *r)
{
    struct printer *p = ctx;
    struct textbuf b = TEXTBUF_EMPTY;
    const bool quiet = p->o->quiet && r->as_expected && r->verdict != VERDICT_SK;

    if (!p->text || p->status != STATUS_OK)
        return;
    if (r->problem != p->current) {
        unsigned solutions = 0;

        for (unsigned i = 0; i < p->item_count; i++)
            solutions += p->items[i].problem == r->problem;
        p->current = r->problem;
        p->width = name_width(p->items, p->item_count, r->problem);
        if (p->headline && !p->o->quiet) {
            if (index > 0)
                textbuf_puts(&b, "\n");
            report_text_head(&b, p->context, r->problem, solutions, p->items[index].case_count);
        }
    }
    if (!quiet)
        report_text_solution(&b, &p->j->term, r, p->width, p->o->verbose);
    p->status = cmd_print(&b, p->d);
    textbuf_fini(&b);
}

/* Combinations of a solution's @tune constants; 1 when it has none. */
static size_t tune_combinations(const struct solution *s)
{
    size_t n = 1;

    for (unsigned i = 0; i < s->tune_count; i++)
        n *= s->tunes[i].value_count;
    return n < 4096 ? n : 4096;
}

/* Combination number k as -D constants and as text. */
static enum status tune_item(struct suite_item *item, struct arena *a, const struct solution *s,
                             size_t k, struct diag *d)
{
    const char **defines = arena_array(a, (size_t)s->tune_count + 1, sizeof *defines);
    const char *text = "";

    if (defines == NULL)
        return no_memory(d);
    for (unsigned i = 0; i < s->tune_count; i++) {
        const struct tune *t = &s->tunes[i];

        defines[i] = arena_printf(a, "%s=%ld", t->name, t->values[k % t->value_count]);
        k /= t->value_count;
        if (defines[i] == NULL)
            return no_memory(d);
        text = arena_printf(a, "%s%s%s", text, i > 0 ? " " : "", defines[i]);
        if (text == NULL)
            return no_memory(d);
    }
    if (s->tune_count > 0) {
        item->defines = defines;
        item->tune = text;
    }
    return STATUS_OK;
}

enum status cmd_check_cases(struct judge *j, const struct common_options *o,
                            const struct target *targets, unsigned count, struct diag *d)
{
    const struct caseset_filter filter = {
        .glob = o->case_glob, .tags = o->tags, .gpu = true, .keep_gpu_only = true};
    enum status st = STATUS_OK;
    unsigned matched = 0;

    for (unsigned t = 0; t < count; t++) {
        const struct casedef *const *cases;
        unsigned n;

        st = caseset_select(&cases, &n, &j->arena, targets[t].problem, &filter, d);
        if (st != STATUS_OK && st != STATUS_USAGE)
            return st;
        matched += st == STATUS_OK;
    }
    return matched > 0 ? STATUS_OK : st;
}

static enum status collect_items(struct judge *j, const struct cmd_judge_options *o,
                                 const struct backend_choice *backend, const struct target *targets,
                                 unsigned target_count, struct suite_item **out, unsigned *count,
                                 struct diag *d)
{
    const struct caseset_filter filter = {.glob = o->common->case_glob,
                                          .tags = o->common->tags,
                                          .gpu = backend->kind == BACKEND_GPU,
                                          .keep_gpu_only = true};
    size_t most = 0;
    struct suite_item *items;
    enum status st;
    unsigned n = 0;

    for (unsigned t = 0; t < target_count; t++)
        for (unsigned i = 0; i < targets[t].solution_count; i++)
            most += o->tune ? tune_combinations(targets[t].solutions[i]) : 1;
    items = arena_array(&j->arena, most + 1, sizeof *items);
    if (items == NULL)
        return no_memory(d);
    for (unsigned t = 0; t < target_count; t++) {
        const struct casedef *const *cases;
        unsigned cases_count;

        if (targets[t].solution_count == 0)
            continue;
        st = caseset_select(&cases, &cases_count, &j->arena, targets[t].problem, &filter, d);
        if (st == STATUS_USAGE && target_count > 1)
            continue; /* the pattern is meant for another problem: cmd_check_cases found one */
        TRY(st);
        for (unsigned i = 0; i < targets[t].solution_count; i++) {
            const struct solution *s = targets[t].solutions[i];
            const size_t combinations = o->tune ? tune_combinations(s) : 1;

            for (size_t k = 0; k < combinations; k++) {
                items[n] = (struct suite_item){.problem = targets[t].problem,
                                               .solution = s,
                                               .cases = cases,
                                               .case_count = cases_count,
                                               .tune = ""};
                if (o->tune)
                    TRY(tune_item(&items[n], &j->arena, s, k, d));
                n++;
            }
        }
    }
    if (n == 0)
        return diag_set(d, STATUS_USAGE, "no solutions to judge");
    *out = items;
    *count = n;
    return STATUS_OK;
}

/* What caseset_make needs, once a problem. */
struct preparation {
    struct judge *j;
    const struct suite_item *items;
    unsigned count;
    bool gpu;
};

static enum status make_cases(void *ctx, struct diag *d)
{
    const struct preparation *p = ctx;

    for (unsigned i = 0; i < p->count; i++) {
        const struct suite_item *item = &p->items[i];
        const struct casedef **here;
        unsigned n = 0;

        if (i > 0 && p->items[i - 1].problem == item->problem)
            continue;
        here = arena_array(&p->j->arena, (size_t)item->case_count + 1, sizeof *here);
        if (here == NULL)
            return no_memory(d);
        for (unsigned k = 0; k < item->case_count; k++)
            if (p->gpu || !item->cases[k]->needs_gpu)
                here[n++] = item->cases[k];
        TRY(caseset_make(&p->j->cfg, item->problem, here, n, p->j->term.progress, d));
    }
    return STATUS_OK;
}

/* Replaces the expectation of every solution (`--expect`). */
static enum status override_expect(struct judge *j, struct suite_item *items, unsigned count,
                                   const struct expectation *expect, struct diag *d)
{
    for (unsigned i = 0; expect != NULL && i < count; i++) {
        struct solution *s = arena_alloc(&j->arena, sizeof *s);

        if (s == NULL)
            return no_memory(d);
        *s = *items[i].solution;
        s->expect = *expect;
        items[i].solution = s;
    }
    return STATUS_OK;
}

enum status cmd_judge_targets(struct judge *j, const struct cmd_judge_options *o,
                              const struct backend_choice *backend, const struct target *targets,
                              unsigned target_count, struct results *out, struct diag *d)
{
    const double begin = proc_now_s();
    struct suite_options suite = {.judging = o->judging, .jobs = j->cfg.jobs, .term = &j->term};
    struct printer printer = {.j = j,
                              .o = o->common,
                              .context = &out->context,
                              .headline = o->headline,
                              .text = o->common->json_path == NULL ||
                                      strcmp(o->common->json_path, "-") != 0,
                              .d = d};
    struct textbuf b = TEXTBUF_EMPTY;
    struct suite_item *items = NULL;
    struct preparation preparation;
    unsigned count = 0;

    suite.judging.cfg = &j->cfg;
    suite.judging.backend = backend;
    suite.judging.stop = j->stop;
    suite.judging.time_limit_s = o->common->time_limit_s;
    suite.judging.keep_dir = o->common->keep_dir;
    TRY(cmd_seed(o->common, &suite.judging.seed, d));
    TRY(cmd_context(j, backend, suite.judging.seed, &out->context, d));
    TRY(collect_items(j, o, backend, targets, target_count, &items, &count, d));
    TRY(override_expect(j, items, count, o->expect, d));
    if (out->context.jobs > count)
        out->context.jobs = count;
    out->solutions = arena_array(&j->arena, count, sizeof *out->solutions);
    if (out->solutions == NULL)
        return no_memory(d);
    printer.items = items;
    printer.item_count = count;
    suite.done = print_result;
    suite.done_ctx = &printer;
    preparation = (struct preparation){
        .j = j, .items = items, .count = count, .gpu = backend->kind == BACKEND_GPU};
    suite.prepare = make_cases;
    suite.prepare_ctx = &preparation;
    TRY(suite_run(out->solutions, &j->arena, &suite, items, count, d));
    TRY(printer.status);
    out->solution_count = count;
    if (o->keep)
        TRY(store_put(&j->cfg, out, d));
    if (printer.text && !o->common->quiet) {
        enum status st;

        report_text_summary(&b, out->solutions, count, proc_now_s() - begin);
        st = cmd_print(&b, d);
        textbuf_fini(&b);
        TRY(st);
    }
    if (o->common->json_path != NULL && !o->silent_json)
        TRY(cmd_write_json(out, o->common->json_path, d));
    return STATUS_OK;
}

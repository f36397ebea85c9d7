/*
 * cmd_list.c - `judge list`: what there is to judge.
 * Starts nothing. Invariant: a solution that cannot run here is listed with its reason.
 */
#include "cmd.h"

#include "report_json.h"
#include "report_text.h"
#include <inttypes.h>
#include <string.h>

static const struct argp_option options[] = {
    {"json", OPT_JSON, "FILE", 0, "the list as JSON; - is standard output", 0}, CMD_OPT_HELP, {0}};

static const char *kind_word(const struct solution *s)
{
    switch (s->kind) {
    case SOLUTION_ACCEPT:
        return "solution";
    case SOLUTION_BASELINE:
        return "baseline";
    case SOLUTION_REJECT:
        return "reject";
    case SOLUTION_FOREIGN:
        return "file";
    }
    UNREACHABLE();
}

static void expectation_words(struct textbuf *b, const struct expectation *e)
{
    unsigned n = 0;

    for (unsigned v = 0; v < VERDICT_COUNT; v++)
        if ((e->set >> v & 1u) != 0)
            textbuf_printf(b, "%s%s", n++ > 0 ? "|" : "", verdict_name((enum verdict)v));
    if (e->at_case[0] != '\0')
        textbuf_printf(b, "@%s", e->at_case);
}

static void needs_words(struct textbuf *b, const struct solution *s)
{
    if (s->needs_gpu)
        textbuf_puts(b, " needs gpu");
    if (s->needs_vgpu)
        textbuf_puts(b, " needs vgpu");
    if (s->needs_bench)
        textbuf_puts(b, " needs bench");
    if (s->arch[0] != '\0')
        textbuf_printf(b, " %s", s->arch);
}

static unsigned cases_with(const struct problem *p, const char *tag)
{
    unsigned n = 0;

    for (unsigned i = 0; i < p->case_count; i++)
        n += casedef_has_tag(&p->cases[i], tag);
    return n;
}

static void problem_line(struct textbuf *b, const struct problem *p, unsigned solutions)
{
    textbuf_printf(b, "%-16s %s\n", p->name, p->title);
    textbuf_printf(b,
                   "%17s%u solutions; %u cases (%u site, %u edge, %u stress, %u perf, %u curve)\n",
                   "", solutions, p->case_count, cases_with(p, "site"), cases_with(p, "edge"),
                   cases_with(p, "stress"), cases_with(p, "perf"), cases_with(p, "curve"));
}

static void list_problem(struct textbuf *b, const struct problem *p, const struct solution *list,
                         unsigned count)
{
    problem_line(b, p, count);
    textbuf_printf(b, "  %s\n\n", p->prototype);
    for (unsigned i = 0; i < count; i++) {
        textbuf_printf(b, "  %-9s %-32s ", kind_word(&list[i]), list[i].name);
        expectation_words(b, &list[i].expect);
        needs_words(b, &list[i]);
        textbuf_puts(b, "  ");
        report_text_wrap(b, list[i].idea, 46);
        textbuf_puts(b, "\n");
    }
    textbuf_puts(b, "\n");
    for (unsigned i = 0; i < p->case_count; i++) {
        const struct casedef *c = &p->cases[i];

        textbuf_printf(b, "  %-36s", c->name);
        for (unsigned k = 0; c->tags[k] != NULL; k++)
            textbuf_printf(b, " %s", c->tags[k]);
        if (c->needs_gpu)
            textbuf_puts(b, " gpu");
        if (c->advisory)
            textbuf_puts(b, " advisory");
        if (c->note[0] != '\0') {
            textbuf_puts(b, "  ");
            report_text_wrap(b, c->note, 8);
        }
        textbuf_puts(b, "\n");
    }
}

static void json_problem(struct textbuf *b, const struct problem *p, const struct solution *list,
                         unsigned count, bool first)
{
    textbuf_printf(b, "%s{\"problem\": ", first ? "" : ",\n");
    report_json_string(b, p->name);
    textbuf_puts(b, ", \"title\": ");
    report_json_string(b, p->title);
    textbuf_puts(b, ", \"prototype\": ");
    report_json_string(b, p->prototype);
    textbuf_printf(b, ", \"perf_version\": %u, \"solutions\": [", p->perf_version);
    for (unsigned i = 0; i < count; i++) {
        textbuf_puts(b, i > 0 ? ", {\"name\": " : "{\"name\": ");
        report_json_string(b, list[i].name);
        textbuf_printf(b, ", \"kind\": \"%s\", \"expect\": \"", kind_word(&list[i]));
        expectation_words(b, &list[i].expect);
        textbuf_puts(b, "\", \"idea\": ");
        report_json_string(b, list[i].idea);
        textbuf_puts(b, "}");
    }
    textbuf_puts(b, "], \"cases\": [");
    for (unsigned i = 0; i < p->case_count; i++) {
        textbuf_puts(b, i > 0 ? ", {\"name\": " : "{\"name\": ");
        report_json_string(b, p->cases[i].name);
        textbuf_puts(b, ", \"tags\": [");
        for (unsigned k = 0; p->cases[i].tags[k] != NULL; k++) {
            if (k > 0)
                textbuf_puts(b, ", ");
            report_json_string(b, p->cases[i].tags[k]);
        }
        textbuf_printf(b, "], \"needs_gpu\": %s, \"advisory\": %s}",
                       p->cases[i].needs_gpu ? "true" : "false",
                       p->cases[i].advisory ? "true" : "false");
    }
    textbuf_puts(b, "]}");
}

static enum status list_all(struct judge *j, const struct common_options *o, struct textbuf *b,
                            struct diag *d)
{
    const char *const *names = o->args;
    unsigned count = o->arg_count;

    if (count == 0)
        TRY(problem_names(&names, &count, &j->arena, j->cfg.root, d));
    if (o->json_path != NULL)
        textbuf_puts(b, "[");
    for (unsigned i = 0; i < count; i++) {
        const struct problem *p;
        const struct solution *list;
        unsigned solutions;

        TRY(cmd_problem(j, names[i], &p, d));
        TRY(solution_list(&list, &solutions, &j->arena, j->cfg.root, p->name, d));
        if (o->json_path != NULL)
            json_problem(b, p, list, solutions, i == 0);
        else if (o->arg_count > 0)
            list_problem(b, p, list, solutions);
        else
            problem_line(b, p, solutions);
    }
    if (o->json_path != NULL)
        textbuf_puts(b, "]\n");
    else if (o->arg_count == 0)
        textbuf_puts(b, "\njudge list PROBLEM shows its solutions and cases\n");
    return STATUS_OK;
}

enum status cmd_list(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    const struct cmd_syntax syntax = {.name = "list",
                                      .args = "[P]...",
                                      .doc = "Lists problems, or the solutions and cases of one."
                                             "\vExamples:\n"
                                             "  judge list\n"
                                             "  judge list topk\n"
                                             "  judge list --json -",
                                      .options = options};
    struct common_options common;
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st;
    bool help;

    (void)exit_code;
    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    st = list_all(j, &common, &b, d);
    if (st == STATUS_OK && (common.json_path == NULL || strcmp(common.json_path, "-") == 0))
        st = cmd_print(&b, d);
    else if (st == STATUS_OK)
        st = cmd_write_text(&b, common.json_path, d);
    textbuf_fini(&b);
    return st;
}

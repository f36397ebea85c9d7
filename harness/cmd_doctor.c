/*
 * cmd_doctor.c - `judge doctor`: what is here, what is missing, what that means.
 * Changes nothing. Invariant: exit code 0 when something can be judged, 77 otherwise.
 */
#include "cmd.h"

#include "caseset.h"
#include "fileio.h"
#include "report_text.h"
#include "toolkit.h"
#include <string.h>

static const struct argp_option options[] = {
    CMD_OPT_BACKEND,
    {"color", OPT_COLOUR, "WHEN", 0, "always, never or auto", 0},
    CMD_OPT_HELP,
    {0}};

static void fact(struct textbuf *b, const char *name, const char *value)
{
    textbuf_printf(b, "%-14s ", name);
    report_text_wrap(b, value, 15);
    textbuf_puts(b, "\n");
}

static void toolkit_lines(struct judge *j, struct textbuf *b)
{
    struct toolkit t;
    const char *python, *cudart, *vgpu;
    struct diag d = {0};

    if (toolkit_find(&t, &j->arena, &j->cfg, &d) == STATUS_OK) {
        const char *text = arena_printf(&j->arena, "%s (%s)", t.nvcc, t.version);

        fact(b, "nvcc", text != NULL ? text : t.nvcc);
        fact(b, "host compiler", t.host[0] != '\0' ? t.host : "none found: install g++");
    } else {
        fact(b, "nvcc", d.text);
    }
    cudart = toolkit_cudart(&j->arena, &j->cfg);
    fact(b, "CUDA runtime", cudart != NULL ? cudart : "none found");
    vgpu = toolkit_vgpu(&j->arena, &j->cfg);
    fact(b, "virtual GPU", vgpu != NULL ? vgpu : "not built");
    fact(b, "runner", file_exists(j->cfg.runner) ? j->cfg.runner : "judge-runner is not built");
    if (toolkit_python(&python, &j->arena, &j->cfg, &d) == STATUS_OK)
        fact(b, "python", python);
    else
        fact(b, "python", d.text);
}

static void device_line(struct judge *j, struct textbuf *b, const struct backend_choice *c)
{
    struct textbuf line = TEXTBUF_EMPTY;

    textbuf_printf(&line, "%s, sm_%s, %u SMs, ", c->facts.name, c->facts.arch, c->facts.sm_count);
    report_text_bytes(&line, c->facts.memory_bytes);
    textbuf_puts(&line, " memory, L2 ");
    report_text_bytes(&line, c->facts.l2_bytes);
    if (c->facts.driver[0] != '\0')
        textbuf_printf(&line, ", driver %s, runtime %s", c->facts.driver, c->facts.runtime);
    if (line.text != NULL)
        fact(b, c->name, line.text);
    textbuf_fini(&line);
    (void)j;
}

/* Tries both kinds, so that the reason for either is seen. */
static void device_lines(struct judge *j, struct textbuf *b)
{
    static const char *const kinds[] = {"gpu", "vgpu"};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        struct config one = j->cfg;
        struct backend_choice c;
        struct diag d = {0};

        one.backend = kinds[i];
        if (backend_choose(&c, &j->arena, &one, &d) == STATUS_OK)
            device_line(j, b, &c);
        else
            fact(b, kinds[i], d.text);
    }
}

static bool can_judge(struct judge *j, struct textbuf *b)
{
    struct backend_choice c;
    struct toolkit t;
    struct diag d = {0};
    const char *text;

    if (backend_choose(&c, &j->arena, &j->cfg, &d) != STATUS_OK) {
        fact(b, "backend", d.text);
        return false;
    }
    text = arena_printf(&j->arena, "%s: %s", c.name, c.why);
    fact(b, "backend", text != NULL ? text : c.name);
    return toolkit_find(&t, &j->arena, &j->cfg, &d) == STATUS_OK;
}

static void setting_lines(struct judge *j, struct textbuf *b)
{
    unsigned count;
    const char *const *names = config_key_names(&count);

    textbuf_puts(b, "\nsetting            value (origin)\n");
    for (unsigned i = 0; i < count; i++) {
        const char *value = config_get_text(&j->cfg, &j->arena, names[i]);
        struct textbuf line = TEXTBUF_EMPTY;

        textbuf_printf(&line, "%s (%s)", value == NULL || value[0] == '\0' ? "-" : value,
                       j->cfg.origins[i]);
        textbuf_printf(b, "%-18s ", names[i]);
        if (line.text != NULL)
            report_text_wrap(b, line.text, 19);
        textbuf_puts(b, "\n");
        textbuf_fini(&line);
    }
}

enum status cmd_doctor(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    const struct cmd_syntax syntax = {
        .name = "doctor",
        .args = "",
        .doc = "Shows the toolkit, the devices, the backend that would be used and why, and every "
               "setting with its origin.\vExit code: 0 when solutions can be judged here, 77 "
               "otherwise.",
        .options = options};
    struct common_options common;
    struct textbuf b = TEXTBUF_EMPTY;
    enum status st;
    bool help;

    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    if (common.arg_count > 0)
        return diag_set(d, STATUS_USAGE, "judge doctor takes no arguments, only options");
    textbuf_printf(&b, "%-14s %s, tree %s\n", "warpjudge", cmd_version(), j->cfg.root);
    toolkit_lines(j, &b);
    device_lines(j, &b);
    if (!can_judge(j, &b))
        *exit_code = j->require_gpu ? EXIT_UNEXPECTED : EXIT_NOTHING;
    setting_lines(j, &b);
    st = cmd_print(&b, d);
    textbuf_fini(&b);
    return st;
}

/*
 * judge_main.c - the program `judge`: finds the command, calls it, prints its diagnostic, exits.
 * The only place that prints diagnostics and the only exit. Invariant: every status has one exit
 * code (judge.md section 1).
 */
#include "cmd.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct entry {
    const char *name, *args, *does;
    enum status (*run)(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d);
};

static const struct entry commands[] = {
#define X(name, args, does) {#name, args, does, cmd_##name},
#include "commands.def"
};
#define COMMAND_COUNT (sizeof commands / sizeof *commands)

/* The one mutable object at file scope: a signal handler has no other way to speak. */
static volatile sig_atomic_t stop_requested;

static void on_signal(int signo)
{
    if (stop_requested != 0) { /* asked twice: do not wait for anything */
        (void)signal(signo, SIG_DFL);
        (void)raise(signo);
    }
    stop_requested = signo;
}

static void install_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal}; /* no SA_RESTART: waits shall end */

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
    (void)signal(SIGPIPE, SIG_IGN); /* a closed pipe is an error of write, with a message */
}

static void print_help(void)
{
    (void)printf(
        "Usage: judge [COMMAND] [ARGUMENT]... [OPTION]...\n"
        "A local judge for CUDA kernels. Without a command: judges everything on the best\n"
        "device, times it if that is a GPU, and prints the boards.\n\n");
    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        char left[48];

        (void)snprintf(left, sizeof left, "%s %s", commands[i].name, commands[i].args);
        (void)printf("  %-28s %s\n", left, commands[i].does);
    }
    (void)printf("\nExamples:\n"
                 "  judge new topk/mine       start a solution: problems/topk/mine.cu\n"
                 "  judge run topk/mine       is it right?\n"
                 "  judge bench topk          how fast is it beside its competitors?\n\n"
                 "judge COMMAND --help tells a command's options. Exit code: 0 as expected,\n"
                 "1 not as expected, 2 usage, 3 internal, 77 nothing could run.\n");
}

static enum status find_command(const char *word, const struct entry **out, struct diag *d)
{
    const char *names[COMMAND_COUNT];
    const char *near;

    for (size_t i = 0; i < COMMAND_COUNT; i++) {
        if (strcmp(commands[i].name, word) == 0) {
            *out = &commands[i];
            return STATUS_OK;
        }
        names[i] = commands[i].name;
    }
    near = diag_nearest(word, names, COMMAND_COUNT);
    if (near != NULL)
        return diag_set(d, STATUS_USAGE, "unknown command '%s'; did you mean '%s'?", word, near);
    return diag_set(d, STATUS_USAGE, "unknown command '%s'; judge --help shows the commands", word);
}

static int exit_code_of(const struct judge *j, enum status st)
{
    if (j->stop != NULL && *j->stop != 0)
        return EXIT_INTERRUPTED;
    switch (st) {
    case STATUS_OK:
        return EXIT_EXPECTED;
    case STATUS_USAGE:
    case STATUS_BAD_DATA:
        return EXIT_USAGE;
    case STATUS_NOTHING:
        return j->require_gpu ? EXIT_UNEXPECTED : EXIT_NOTHING;
    case STATUS_NOMEM:
    case STATUS_IO:
    case STATUS_INTERNAL:
        return EXIT_INTERNAL;
    }
    UNREACHABLE();
}

static enum status dispatch(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    const char *require = getenv("WARPJUDGE_REQUIRE_GPU");
    const char *no_colour = getenv("NO_COLOR");
    const struct entry *command = NULL;

    if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 ||
                     strcmp(argv[1], "help") == 0)) {
        print_help();
        return STATUS_OK;
    }
    if (argc > 1 && strcmp(argv[1], "--version") == 0) {
        (void)printf("warpjudge %s\n", cmd_version());
        return STATUS_OK;
    }
    j->no_colour = no_colour != NULL && no_colour[0] != '\0';
    j->require_gpu = require != NULL && strcmp(require, "1") == 0;
    TRY(config_load(&j->cfg, &j->arena, NULL, d));
    j->cfg.stop = j->stop;
    if (argc < 2 || argv[1][0] == '-')
        return cmd_everything(j, argc, argv, exit_code, d);
    TRY(find_command(argv[1], &command, d));
    return command->run(j, argc - 1, argv + 1, exit_code, d);
}

int main(int argc, char **argv)
{
    struct judge j = {.stop = &stop_requested};
    struct diag d = {0};
    int exit_code = EXIT_EXPECTED;
    enum status st;

    install_signals();
    st = dispatch(&j, argc, argv, &exit_code, &d);
    term_clear(&j.term);
    if (stop_requested != 0) {
        suite_sweep();
        (void)fprintf(stderr, "judge: interrupted; nothing was stored\n");
    } else if (st != STATUS_OK) {
        char text[2048];

        (void)diag_format(&d, text, sizeof text);
        (void)fflush(stdout);
        (void)fprintf(stderr, "%s%s%s", d.file[0] == '\0' ? "judge: " : "", text,
                      text[0] != '\0' && text[strlen(text) - 1] == '\n' ? "" : "\n");
    }
    if (st != STATUS_OK || stop_requested != 0)
        exit_code = exit_code_of(&j, st);
    if (fflush(stdout) != 0 && exit_code == EXIT_EXPECTED)
        exit_code = EXIT_INTERNAL;
    arena_fini(&j.arena);
    return exit_code;
}

/*
 * cmd_new.c - `judge new`: a solution file from the problem's starter text.
 * Overwrites nothing. Invariant: the new file's name is one that the judge will find.
 */
#include "cmd.h"

#include "fileio.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct argp_option options[] = {CMD_OPT_HELP, {0}};

static bool good_name(const char *name)
{
    if (!isalpha((unsigned char)name[0]))
        return false;
    for (; *name != '\0'; name++)
        if (!islower((unsigned char)*name) && !isdigit((unsigned char)*name) && *name != '_')
            return false;
    return true;
}

/* O_EXCL: two starts at once cannot overwrite each other's file. */
static enum status create(const char *path, const char *text, size_t len, struct diag *d)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);

    if (fd < 0 && errno == EEXIST)
        return diag_set(d, STATUS_USAGE, "'%s' exists; judge new overwrites nothing", path);
    if (fd < 0)
        return diag_set(d, STATUS_IO, "cannot create '%s': %s", path, strerror(errno));
    if (write(fd, text, len) != (ssize_t)len || close(fd) != 0) {
        (void)diag_set(d, STATUS_IO, "cannot write '%s': %s", path, strerror(errno));
        (void)unlink(path);
        return STATUS_IO;
    }
    return STATUS_OK;
}

enum status cmd_new(struct judge *j, int argc, char **argv, int *exit_code, struct diag *d)
{
    const struct cmd_syntax syntax = {
        .name = "new",
        .args = "P/S",
        .doc = "Starts a solution: copies the problem's starter text to problems/P/S.cu."
               "\vExample:\n"
               "  judge new topk/mine && judge run topk/mine",
        .options = options};
    struct common_options common;
    const char *slash, *path, *starter;
    const struct problem *p;
    char *name, *text;
    size_t len;
    bool help;

    (void)exit_code;
    TRY(cmd_parse(j, &syntax, argc, argv, &common, &help, d));
    if (help)
        return STATUS_OK;
    if (common.arg_count != 1 || (slash = strchr(common.args[0], '/')) == NULL)
        return diag_set(d, STATUS_USAGE, "expected PROBLEM/NAME, for example: judge new topk/mine");
    name = arena_strndup(&j->arena, common.args[0], (size_t)(slash - common.args[0]));
    if (name == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    TRY(cmd_problem(j, name, &p, d));
    if (!good_name(slash + 1))
        return diag_set(d, STATUS_USAGE,
                        "'%s' is no good name: lower-case letters, digits and _, a letter first",
                        slash + 1);
    starter = arena_printf(&j->arena, "%s/starter.cu.txt", p->dir);
    path = arena_printf(&j->arena, "%s/%s.cu", p->dir, slash + 1);
    if (starter == NULL || path == NULL)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    TRY(file_read(&text, &len, &j->arena, starter, (size_t)1 << 20, d));
    TRY(create(path, text, len, d));
    (void)printf("%s\nnext: fill in solve(), then: judge run %s/%s\n", path, p->name, slash + 1);
    return STATUS_OK;
}

/*
 * ptxas_log.c - reads the lines of `ptxas -v`, as CUDA 12 and 13 print them:
 *   ptxas info    : Compiling entry function 'NAME' for 'sm_90a'
 *   ptxas info    : Function properties for NAME
 *       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
 *   ptxas info    : Used 10 registers, used 0 barriers, 4096 bytes smem
 */
#include "ptxas_log.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* The number in front of `what` in line[0..len), or 0. */
static unsigned number_before(const char *line, size_t len, const char *what)
{
    const char *at = memmem(line, len, what, strlen(what));
    unsigned value = 0, scale = 1;

    for (; at && at > line && isdigit((unsigned char)at[-1]) && scale <= 100000000; at--) {
        value += scale * (unsigned)(at[-1] - '0');
        scale *= 10;
    }
    return value;
}

static bool starts(const char *line, size_t len, const char *with)
{
    return len >= strlen(with) && memcmp(line, with, strlen(with)) == 0;
}

static unsigned count_entries(const char *log)
{
    unsigned n = 0;

    while ((log = strstr(log, "Compiling entry function '"))) {
        n++;
        log++;
    }
    return n;
}

enum status ptxas_log_read(struct kernel_info **out, unsigned *count, struct arena *a,
                           const char *log, struct diag *d)
{
    static const char entry[] = "ptxas info    : Compiling entry function '";
    static const char used[] = "ptxas info    : Used ";
    const unsigned room = count_entries(log);
    struct kernel_info *list = arena_array(a, room ? room : 1, sizeof *list);
    struct kernel_info *k = NULL; /* the function being described */
    unsigned n = 0;

    if (!list)
        return diag_set(d, STATUS_NOMEM, "out of memory");
    for (const char *line = log; *line;) {
        const size_t len = strcspn(line, "\n");

        if (starts(line, len, entry) && n < room) {
            const char *name = line + sizeof entry - 1;

            k = &list[n++];
            k->name = arena_strndup(a, name, strcspn(name, "'\n"));
            if (!k->name)
                return diag_set(d, STATUS_NOMEM, "out of memory");
        } else if (k && memmem(line, len, " bytes stack frame", 18)) {
            k->stack_bytes = number_before(line, len, " bytes stack frame");
            k->spill_store_bytes = number_before(line, len, " bytes spill stores");
            k->spill_load_bytes = number_before(line, len, " bytes spill loads");
        } else if (k && starts(line, len, used)) {
            k->registers = number_before(line, len, " registers");
            k->shared_bytes = number_before(line, len, " bytes smem");
            k = NULL; /* the last line of an entry; device functions may follow */
        }
        line += len + (line[len] == '\n');
    }
    *out = list;
    *count = n;
    return STATUS_OK;
}

char *ptxas_log_strip(struct arena *a, const char *log)
{
    char *text = arena_alloc(a, strlen(log) + 1);
    size_t n = 0;

    if (!text)
        return NULL;
    for (const char *line = log; *line;) {
        size_t len = strcspn(line, "\n");
        const bool noise =
            starts(line, len, "ptxas info") ||
            (starts(line, len, "    ") && memmem(line, len, " bytes stack frame", 18));

        len += line[len] == '\n';
        if (!noise) {
            memcpy(text + n, line, len);
            n += len;
        }
        line += len;
    }
    return text;
}

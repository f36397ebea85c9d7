/*
 * vgpu_rig.c - see vgpu_rig.h.
 */
#include "vgpu_rig.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "exec.h"
#include "image.h"

static struct alloc *buffer(struct vgpu_device *d, const char *name)
{
    struct alloc *a = mem_alloc(&d->space, RIG_ELEMENTS * sizeof(float), ALLOC_DEVICE);

    assert_non_null(a);
    snprintf(a->name, sizeof a->name, "%s", name);
    return a;
}

static void read_findings(struct rig_result *r, int fd)
{
    const ssize_t n = pread(fd, r->findings, sizeof r->findings - 1, 0);

    assert_true(n >= 0);
    r->findings[n] = '\0';
    for (const char *p = r->findings; (p = strstr(p, "\"t\":\"finding\"")) != NULL; p++)
        r->finding_count++;
}

/* Fills r->error and r->counts; false with the reason in `why`. */
static bool launch(struct vgpu_device *d, struct rig_result *r, struct ptx_module *m,
                   const char *kernel, const struct rig_options *o, char *why, size_t why_size)
{
    static const float host_memory[RIG_ELEMENTS];
    struct ptx_func *f = NULL;
    unsigned char params[64] = {0};

    for (uint32_t i = 0; i < m->func_count; i++)
        if (strcmp(m->funcs[i].name, kernel) == 0)
            f = &m->funcs[i];
    if (!f || f->param_count > 6 || !image_place(&d->space, m, why, why_size)) {
        if (!f || f->param_count > 6)
            snprintf(why, why_size, "no kernel '%s' of up to six parameters", kernel);
        return false;
    }
    struct program *p = lower_function(f, why, why_size);
    if (!p)
        return false;

    struct alloc *out = buffer(d, "out"), *in = buffer(d, "in"), *freed = buffer(d, "freed");
    for (unsigned i = 0; i < RIG_ELEMENTS; i++)
        memcpy(in->host + 4 * i, &(float){(float)(i + 1)}, 4);
    mem_mark_init(in, 0, in->size);
    mem_free(&d->space, freed, 0);
    const uint64_t values[6] = {out->addr,   in->addr, RIG_ELEMENTS,
                                freed->addr, 0,        (uint64_t)(uintptr_t)host_memory};
    for (uint32_t i = 0; i < f->param_count; i++)
        memcpy(params + f->params[i].offset, &values[i], f->params[i].size);

    struct grid g = {.program = p,
                     .func = f,
                     .dynamic_shared = o->shared,
                     .params = params,
                     .launch_number = 1,
                     .seed = o->seed,
                     .budget = o->budget,
                     .device = d};
    g.dim[0] = o->grid ? o->grid : 1;
    g.block_dim[0] = o->block ? o->block : RIG_ELEMENTS;
    g.dim[1] = g.dim[2] = g.block_dim[1] = g.block_dim[2] = 1;
    r->error = sched_run(&g);
    r->counts = g.counts;
    memcpy(r->out, out->host, sizeof r->out);
    vg_arena_free(&g.arena);
    image_remove(&d->space, m, 1);
    return true;
}

void rig_run(struct rig_result *r, const char *ptx, size_t len, const char *kernel,
             const struct rig_options *o)
{
    struct vgpu_device *d = calloc(1, sizeof *d);
    struct ptx_module *m = NULL;
    struct ptx_diag diag;
    const int fd = memfd_create("findings", MFD_CLOEXEC);

    memset(r, 0, sizeof *r);
    r->error = -1;
    assert_non_null(d);
    assert_true(fd >= 0);
    d->options.check_mem = strchr(o->checks, 'm') != NULL;
    d->options.check_init = strchr(o->checks, 'i') != NULL;
    d->options.check_race = strchr(o->checks, 'r') != NULL;
    d->options.check_sync = strchr(o->checks, 's') != NULL;
    d->options.counters = true;
    d->sm_count = 8;
    d->report.fd = fd;
    assert_true(mem_open(&d->space, 1ull << 30, d->options.check_init));
    if (!ptx_module_load(&m, ptx, len, &diag))
        snprintf(r->findings, sizeof r->findings, "%u:%u: %s", diag.line, diag.col, diag.text);
    else if (launch(d, r, m, kernel, o, r->findings, sizeof r->findings)) {
        report_flush(&d->report);
        read_findings(r, fd);
    }
    if (m)
        ptx_module_free(m);
    free(d->report.seen);
    free(d->report.buffer);
    free(d->printf_buffer);
    vg_arena_free(&d->report.arena);
    vg_arena_free(&d->arena);
    mem_close(&d->space);
    close(fd);
    free(d);
}

char *rig_read(const char *path, size_t *len)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;

    if (!f)
        fail_msg("cannot read %s", path);
    assert_int_equal(fseek(f, 0, SEEK_END), 0);
    const long size = ftell(f);
    assert_true(size >= 0);
    rewind(f);
    text = calloc(1, (size_t)size + 1);
    assert_non_null(text);
    assert_int_equal(fread(text, 1, (size_t)size, f), size);
    fclose(f);
    *len = (size_t)size;
    return text;
}

const char *rig_line(const struct rig_result *r, const char *what, unsigned n)
{
    for (const char *line = r->findings; *line;) {
        const char *end = strchr(line, '\n');
        const size_t size = end ? (size_t)(end - line) : strlen(line);
        const char *hit = strstr(line, what);
        if (hit && hit < line + size && n-- == 0)
            return line;
        line += size + (end != NULL);
    }
    return NULL;
}

static const char *value_of(const char *line, const char *key)
{
    const char *end = strchr(line, '\n');
    char quoted[64];

    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(line, quoted);
    return at && (!end || at < end) ? at + strlen(quoted) : NULL;
}

long rig_number(const char *line, const char *key)
{
    const char *value = value_of(line, key);
    return value && *value >= '0' && *value <= '9' ? strtol(value, NULL, 10) : -1;
}

bool rig_text_is(const char *line, const char *key, const char *value)
{
    const char *at = value_of(line, key);
    return at && *at == '"' && strncmp(at + 1, value, strlen(value)) == 0 &&
           at[1 + strlen(value)] == '"';
}

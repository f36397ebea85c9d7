/*
 * image.c - places a module's variables. Addresses inside initialisers are filled in last, when all
 * are known. Knows nothing of kernels. Invariant: see image.h.
 */
#include "image.h"

#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Calls `visit` for every variable that lives in device memory, until it returns false. */
static bool each_var(struct ptx_module *m, bool (*visit)(void *ctx, struct ptx_var *v), void *ctx)
{
    for (uint32_t i = 0; i < m->var_count; i++)
        if (!visit(ctx, m->vars[i]))
            return false;
    for (uint32_t n = 0; n < m->func_count; n++)
        for (uint32_t i = 0; i < m->funcs[n].var_count; i++)
            if (!visit(ctx, m->funcs[n].vars[i]))
                return false;
    return true;
}

static bool in_memory(const struct ptx_var *v)
{
    return v->space == PTX_SPACE_GLOBAL || v->space == PTX_SPACE_CONST;
}

struct alloc *image_alloc(const struct ptx_var *v)
{
    return in_memory(v) ? (struct alloc *)(uintptr_t)v->owner : NULL;
}

struct placing {
    struct space *space;
    struct ptx_module *m;
    uint64_t const_bytes, launch;
    char *err;
    size_t err_size;
};

static struct alloc *managed_alloc(struct space *s, uint64_t size)
{
    void *host = aligned_alloc(ALLOC_ALIGN, (size / ALLOC_ALIGN + 1) * ALLOC_ALIGN);

    if (!host)
        return NULL;
    memset(host, 0, size);
    struct alloc *a = mem_adopt_host(s, host, size, ALLOC_MANAGED);
    if (!a)
        free(host);
    return a;
}

static bool place_one(void *ctx, struct ptx_var *v)
{
    struct placing *p = ctx;

    if (!in_memory(v) || v->owner)
        return true;
    if (v->is_extern) {
        snprintf(p->err, p->err_size, "variable '%s' is defined in no module that is linked in",
                 v->name);
        return false;
    }
    p->const_bytes += v->space == PTX_SPACE_CONST ? v->size : 0;
    if (p->const_bytes > CONST_BANK_BYTES) {
        snprintf(p->err, p->err_size, "constant memory holds 65536 bytes, '%s' needs more",
                 v->name);
        return false;
    }
    struct alloc *a =
        v->managed ? managed_alloc(p->space, v->size)
                   : mem_alloc(p->space, v->size,
                               v->space == PTX_SPACE_CONST ? ALLOC_CONST_VAR : ALLOC_GLOBAL_VAR);
    if (!a) {
        snprintf(p->err, p->err_size, "out of device memory for variable '%s'", v->name);
        return false;
    }
    snprintf(a->name, sizeof a->name, "%s", v->name);
    if (v->init)
        memcpy(a->host, v->init, v->size);
    v->offset = a->addr;
    v->owner = (uintptr_t)a;
    return true;
}

static bool fill_refs(void *ctx, struct ptx_var *v)
{
    const unsigned width = ptx_type_bits(v->type) / 8;
    struct alloc *a = image_alloc(v);

    (void)ctx;
    for (uint32_t i = 0; a && i < v->ref_count; i++) {
        const struct ptx_init_ref *r = &v->refs[i];
        const uint64_t base = r->var ? r->var->offset : lower_function_address(r->func);
        const uint64_t value = base + (uint64_t)r->offset;
        memcpy(a->host + r->at, &value, width < sizeof value ? width : sizeof value);
    }
    return true;
}

static bool remove_one(void *ctx, struct ptx_var *v)
{
    struct placing *p = ctx;
    struct alloc *a = image_alloc(v);

    if (a) {
        unsigned char *host = a->kind == ALLOC_MANAGED ? a->host : NULL;
        mem_free(p->space, a, p->launch);
        free(host);
        v->owner = 0;
    }
    return true;
}

bool image_place(struct space *s, struct ptx_module *m, char *err, size_t err_size)
{
    struct placing p = {.space = s, .m = m, .err = err, .err_size = err_size};

    if (!each_var(m, place_one, &p)) {
        each_var(m, remove_one, &p);
        return false;
    }
    each_var(m, fill_refs, &p);
    return true;
}

void image_remove(struct space *s, struct ptx_module *m, uint64_t launch)
{
    struct placing p = {.space = s, .m = m, .launch = launch};

    each_var(m, remove_one, &p);
}

struct ptx_var *image_find(const struct ptx_module *m, const char *name)
{
    for (uint32_t i = 0; i < m->var_count; i++)
        if (in_memory(m->vars[i]) && strcmp(m->vars[i]->name, name) == 0)
            return m->vars[i];
    return NULL;
}

/*
 * fuzz_ptx.c - hostile PTX text: no crash, a diagnosis with a place for what is malformed, and the
 * same text when a sound module is printed, loaded and printed again.
 */
#include "ptx.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Canonical text uses %r, $L, $v, $T and $P names of its own; a module that uses such names outside
 * of functions would collide. */
static bool plain(const char *name) { return name[0] != '%' && name[0] != '$'; }

static bool printable(const struct ptx_module *m)
{
    for (uint32_t i = 0; i < m->var_count; i++)
        if (!plain(m->vars[i]->name) || (m->vars[i]->init && m->vars[i]->size > 65536))
            return false;
    for (uint32_t i = 0; i < m->func_count; i++) {
        const struct ptx_func *f = &m->funcs[i];
        if (f->refusal || !plain(f->name) || f->inst_count > 2000 || f->reg_count > 5000)
            return false;
        for (uint32_t k = 0; k < f->param_count; k++)
            if (!plain(f->params[k].name))
                return false;
        for (uint32_t k = 0; k < f->return_count; k++)
            if (!plain(f->returns[k].name))
                return false;
        for (uint32_t k = 0; k < f->var_count; k++)
            if (f->vars[k]->init && f->vars[k]->size > 65536)
                return false;
    }
    return true;
}

static void check_fixed_point(const struct ptx_module *m)
{
    struct ptx_module *again = NULL;
    struct ptx_diag d;
    size_t n = 0, k = 0;
    char *once = ptx_module_print(m, &n);

    if (!once)
        return;
    if (!ptx_module_load(&again, once, n, &d))
        abort();
    char *twice = ptx_module_print(again, &k);
    if (twice && (n != k || memcmp(once, twice, n) != 0))
        abort();
    ptx_module_free(again);
    free(once);
    free(twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *m = NULL;
    struct ptx_diag d;

    if (ptx_module_load(&m, (const char *)data, size, &d)) {
        if (printable(m))
            check_fixed_point(m);
    } else if (d.text[0] == '\0' || m) {
        abort();
    }
    ptx_module_free(m);
    return 0;
}

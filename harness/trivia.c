/*
 * trivia.c - trivial answers against the stored references.
 * Invariant: every answer is written in the parameter's own dtype before it is compared.
 */
#include "trivia.h"

#include "caseset.h"
#include "judging.h"
#include "xalloc.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct look {
    struct trivia *out;
    struct arena *arena;
    const struct problem *p;
    void *first[PROBLEM_MAX_PARAMS]; /* the first case's answers, as f64 */
    uint64_t first_count[PROBLEM_MAX_PARAMS];
    bool have_first;
};

/* Writes x as an element of dtype; only the types that outputs have so far. */
static bool store_element(enum dtype dtype, void *data, uint64_t index, double x)
{
    switch (dtype) {
    case DTYPE_F64:
        ((double *)data)[index] = x;
        return true;
    case DTYPE_F32:
        ((float *)data)[index] = (float)x;
        return true;
    case DTYPE_I64:
        ((int64_t *)data)[index] = (int64_t)x;
        return true;
    case DTYPE_I32:
        ((int32_t *)data)[index] = (int32_t)x;
        return true;
    case DTYPE_U32:
        ((uint32_t *)data)[index] = (uint32_t)x;
        return true;
    case DTYPE_I8:
        ((int8_t *)data)[index] = (int8_t)x;
        return true;
    case DTYPE_U8:
        ((uint8_t *)data)[index] = (uint8_t)x;
        return true;
    case DTYPE_F16:
    case DTYPE_BF16:
        return false;
    }
    UNREACHABLE();
}

static struct trivia_answer *answer_of(struct look *l, const char *name)
{
    const unsigned max = sizeof l->out->answers / sizeof *l->out->answers;

    for (unsigned i = 0; i < l->out->answer_count; i++)
        if (strcmp(l->out->answers[i].name, name) == 0)
            return &l->out->answers[i];
    if (l->out->answer_count == max)
        return NULL;
    l->out->answers[l->out->answer_count].name = arena_strdup(l->arena, name);
    if (l->out->answers[l->out->answer_count].name == NULL)
        return NULL;
    return &l->out->answers[l->out->answer_count++];
}

/* One answer for one output of one case: value i comes from `source` (NULL: zeros). */
static void try_answer(struct look *l, const struct casedef *c, const struct casefile *ref,
                       unsigned param, const char *name, enum dtype source_dtype,
                       const void *source)
{
    static const int unscaled[PROBLEM_MAX_GROUPS];
    const struct param *q = &l->p->params[param];
    struct trivia_answer *answer = answer_of(l, name);
    void *got = xalloc_array((size_t)c->count[param] + 1, dtype_size(q->dtype));
    struct compare_input input;
    struct mismatch m;
    bool fits = got != NULL && answer != NULL;

    for (uint64_t i = 0; fits && source != NULL && i < c->count[param]; i++)
        fits = store_element(q->dtype, got, i, compare_load(source_dtype, source, i));
    if (fits) {
        answer->tried++;
        answer->refused +=
            !judging_compare(l->p, c, ref, param, got, NULL, unscaled, 0, &input, &m);
    }
    xfree(got);
}

static void try_decoys(struct look *l, const struct casedef *c, const struct casefile *ref,
                       unsigned param)
{
    for (unsigned k = 0; k < ref->tensor_count; k++) {
        const struct tensor *t = &ref->tensors[k];
        const char *dot = strrchr(t->name, '.');
        char name[96];

        if (strncmp(t->name, "decoy.", 6) != 0 || dot == NULL ||
            strcmp(dot + 1, l->p->params[param].name) != 0 || t->count != c->count[param])
            continue;
        (void)snprintf(name, sizeof name, "decoy %.*s", (int)(dot - t->name - 6), t->name + 6);
        try_answer(l, c, ref, param, name, t->dtype, t->data);
    }
}

/* "Copies its input": the first `count` elements of the input arrays, one after the other. Not
 * tried where those have fewer elements or the memory is not there. */
static void try_inputs(struct look *l, const struct casedef *c, const struct case_pair *files,
                       unsigned param, uint64_t count)
{
    double *copy = xalloc_array((size_t)count, sizeof *copy);
    uint64_t n = 0;

    for (unsigned i = 0; copy != NULL && i < l->p->param_count; i++) {
        const struct tensor *t = casefile_find(&files->in, l->p->params[i].name);

        if (l->p->params[i].scalar || t == NULL)
            continue;
        for (uint64_t k = 0; k < t->count && n < count; k++)
            copy[n++] = compare_load(t->dtype, t->data, k);
    }
    if (copy != NULL && n == count)
        try_answer(l, c, &files->ref, param, "input prefix", DTYPE_F64, copy);
    xfree(copy);
}

static void try_output(struct look *l, const struct casedef *c, const struct case_pair *files,
                       unsigned param)
{
    const struct tensor *want = casefile_find(&files->ref, l->p->params[param].name);

    if (want == NULL || want->count == 0)
        return;
    try_answer(l, c, &files->ref, param, "zeros", DTYPE_F32, NULL);
    try_inputs(l, c, files, param, want->count);
    if (l->have_first && l->first[param] != NULL && l->first_count[param] >= want->count)
        try_answer(l, c, &files->ref, param, "first case", DTYPE_F64, l->first[param]);
    try_decoys(l, c, &files->ref, param);
    if (!l->have_first) {
        double *copy = arena_array(l->arena, want->count, sizeof *copy);

        for (uint64_t i = 0; copy != NULL && i < want->count; i++)
            copy[i] = compare_load(want->dtype, want->data, i);
        l->first[param] = copy;
        l->first_count[param] = copy != NULL ? want->count : 0;
    }
}

enum status trivia_check(struct trivia *out, struct arena *a, const struct config *cfg,
                         const struct problem *p, struct diag *d)
{
    struct look l = {.out = out, .arena = a, .p = p};

    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < p->case_count; i++) {
        const struct casedef *c = &p->cases[i];
        struct case_pair files = CASE_PAIR_EMPTY;

        if (c->needs_gpu || c->advisory || casedef_elements(p, c) > JUDGING_SMALL)
            continue;
        TRY(caseset_open(&files, cfg, p, c, d));
        for (unsigned k = 0; k < p->param_count; k++)
            if (!p->params[k].scalar && p->params[k].dir != DIR_IN)
                try_output(&l, c, &files, k);
        l.have_first = true;
        out->cases_seen++;
        caseset_close(&files);
    }
    return STATUS_OK;
}

bool trivia_answer_ok(const struct trivia_answer *t)
{
    return t->refused >= TRIVIA_LEAST || (t->tried < TRIVIA_LEAST && t->refused == t->tried);
}

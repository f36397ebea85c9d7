/*
 * double_problem.c - see double_problem.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "double_problem.h"

#include "fileio.h"
#include "tempdir.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void double_case(struct fixture *f, const char *name, uint64_t n, const char *const *tags)
{
    static const char *const meta[] = {"key", "k", NULL};
    const unsigned index = f->case_count++;
    struct casedef *c = &f->defs[index];
    const int32_t count = (int32_t)n;
    float *input = calloc(n + 1, sizeof *input), *want = calloc(n + 1, sizeof *want);
    char path[600];
    FILE *file;

    assert_non_null(input);
    assert_non_null(want);
    for (uint64_t i = 0; i < n; i++) {
        input[i] = (float)((double)i * 0.25 - 3.0);
        want[i] = 2.0f * input[i];
    }
    assert_in_range(index, 0, DOUBLE_MAX_CASES - 1);
    *c = (struct casedef){.name = name, .index = index, .tags = tags, .note = "", .key = "k"};
    c->rule = (struct rule){.name = "strict", .kind = RULE_EXACT};
    c->scalar[2] = (double)n;
    c->count[0] = c->count[1] = c->shape[0][0] = c->shape[1][0] = n;
    c->rank[0] = c->rank[1] = 1;
    c->exp_lo[0] = -16;
    c->exp_hi[0] = 16;
    {
        const struct tensor in[] = {
            {.name = "input",
             .dtype = DTYPE_F32,
             .rank = 1,
             .shape = {n},
             .count = n,
             .size = n * sizeof *input,
             .data = input},
            {.name = "n", .dtype = DTYPE_I32, .count = 1, .size = sizeof count, .data = &count}};
        const struct tensor ref[] = {{.name = "output",
                                      .dtype = DTYPE_F32,
                                      .rank = 1,
                                      .shape = {n},
                                      .count = n,
                                      .size = n * sizeof *want,
                                      .data = want}};

        snprintf(path, sizeof path, "%s/cases/double/%s.in", f->dir, name);
        assert_int_equal(casefile_write(path, in, 2, meta, &f->d), STATUS_OK);
        file = fopen(path, "r");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        c->in.size = (uint64_t)ftell(file);
        fclose(file);
        snprintf(path, sizeof path, "%s/cases/double/%s.ref", f->dir, name);
        assert_int_equal(casefile_write(path, ref, 1, meta, &f->d), STATUS_OK);
        file = fopen(path, "r");
        assert_non_null(file);
        fseek(file, 0, SEEK_END);
        c->ref.size = (uint64_t)ftell(file);
        fclose(file);
    }
    c->in.path = arena_printf(&f->a, "double/%s.in", name);
    c->ref.path = arena_printf(&f->a, "double/%s.ref", name);
    f->cases[index] = c;
    free(input);
    free(want);
}

struct fixture *double_open(void)
{
    struct fixture *f = calloc(1, sizeof *f);
    char path[600];

    assert_non_null(f);
    f->dir = tempdir_make();
    snprintf(path, sizeof path, "%s/cases/double", f->dir);
    assert_int_equal(dir_make(path, &f->d), STATUS_OK);
    assert_int_equal(config_load(&f->cfg, &f->a, TEST_ROOT, &f->d), STATUS_OK);
    f->cfg.build_dir = f->dir;
    f->cfg.cases_dir = arena_printf(&f->a, "%s/cases", f->dir);
    f->cfg.runner = TEST_BUILD "/judge-runner";
    f->cfg.cudart = TEST_BUILD "/standin/libcudart.so.13";
    f->cfg.backend = "standin";
    if (backend_choose(&f->backend, &f->a, &f->cfg, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
    f->p = (struct problem){
        .name = "double",
        .title = "Double",
        .dir = f->dir,
        .prototype = "",
        .param_count = 3,
        .group_count = 1,
        .time_s = 10,
        .vgpu_time_s = 1,
        .memory_mib = 100,
        .params = {{.name = "input", .dir = DIR_IN, .dtype = DTYPE_F32, .group = 0},
                   {.name = "output", .dir = DIR_OUT, .dtype = DTYPE_F32, .group = -1},
                   {.name = "n", .dir = DIR_IN, .dtype = DTYPE_I32, .scalar = true, .group = -1}}};
    f->o = (struct judging_options){.cfg = &f->cfg, .backend = &f->backend, .seed = 0x5e1f09c2};
    return f;
}

void double_close(struct fixture *f)
{
    arena_fini(&f->a);
    tempdir_remove(f->dir);
    free(f);
}

void double_solution(struct fixture *f, const char *name, enum solution_kind kind)
{
    f->s = (struct solution){.problem = "double",
                             .name = name,
                             .path = "",
                             .kind = kind,
                             .idea = "",
                             .source = "",
                             .arch = "",
                             .expect = {.set = 1u << VERDICT_AC}};
    results_init_solution(&f->r, &f->p, &f->s);
    f->r.object.ok = true;
    f->r.object.so_path = arena_printf(&f->a, "%s/misbehave/%s.so", TEST_BUILD, name);
}

void double_judge(struct fixture *f, const char *name, enum solution_kind kind)
{
    double_solution(f, name, kind);
    if (judging_run_object(&f->r, &f->a, &f->o, f->cases, f->case_count, &f->d) != STATUS_OK)
        fail_msg("%s: %s", name, f->d.text);
}

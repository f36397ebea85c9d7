/*
 * runner_bench.c - see runner_bench.h.
 */
#include "runner_bench.h"

#include "tempdir.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

const struct problem bench_problem = {
    .name = "double",
    .param_count = 3,
    .group_count = 1,
    .params = {{.name = "input", .dir = DIR_IN, .dtype = DTYPE_F32, .group = 0},
               {.name = "output", .dir = DIR_OUT, .dtype = DTYPE_F32, .group = -1},
               {.name = "n", .dir = DIR_IN, .dtype = DTYPE_I32, .scalar = true, .group = -1}},
};

struct casedef casedef_of(uint64_t n, uint64_t offset)
{
    struct casedef c = {.name = "case"};

    c.scalar[2] = (double)n;
    c.count[0] = c.count[1] = n;
    c.rank[0] = c.rank[1] = 1;
    c.shape[0][0] = c.shape[1][0] = n;
    c.offset[0] = c.offset[1] = offset;
    return c;
}

void case_make(struct bench *b, uint64_t n)
{
    char path[512];

    if (b->input != NULL) {
        casefile_close(&b->file);
        free(b->input);
    }
    b->n = n;
    b->input = calloc(n == 0 ? 1 : n, sizeof *b->input);
    assert_non_null(b->input);
    for (uint64_t i = 0; i < n; i++)
        b->input[i] = (float)((double)i * 0.25 - 3.0);
    const int32_t count = (int32_t)n;
    const struct tensor tensors[] = {
        {.name = "input",
         .dtype = DTYPE_F32,
         .rank = 1,
         .shape = {n},
         .count = n,
         .size = n * sizeof(float),
         .data = b->input},
        {.name = "n", .dtype = DTYPE_I32, .count = 1, .size = sizeof count, .data = &count},
    };
    snprintf(path, sizeof path, "%s/case_%llu.in.safetensors", b->dir, (unsigned long long)n);
    assert_int_equal(casefile_write(path, tensors, 2, NULL, &b->d), STATUS_OK);
    assert_int_equal(casefile_open(&b->file, path, &b->d), STATUS_OK);
    b->casedef = casedef_of(n, 0);
}

struct runner_config config_of(const char *so_path)
{
    return (struct runner_config){.runner_path = TEST_BUILD "/judge-runner",
                                  .cudart_path = TEST_BUILD "/standin/libcudart.so.13",
                                  .so_path = so_path,
                                  .backend = BACKEND_STANDIN,
                                  .problem = &bench_problem,
                                  .memory_limit_mib = 100,
                                  .host_memory_mib = 8192,
                                  .load_limit_s = 5};
}

void begin_with(struct bench *b, const char *name, uint64_t n, struct runner_config rc)
{
    char so[512];

    b->dir = tempdir_make();
    case_make(b, n);
    snprintf(so, sizeof so, "%s/misbehave/%s.so", TEST_BUILD, name);
    rc.so_path = so;
    if (runner_start(&b->runner, &rc, &b->d) != STATUS_OK)
        fail_msg("runner_start: %s", b->d.text);
    assert_int_equal(runner_load(b->runner, &b->reply, &b->d), STATUS_OK);
}

void begin(struct bench *b, const char *name, uint64_t n)
{
    begin_with(b, name, n, config_of(NULL));
}

void end(struct bench *b)
{
    runner_stop(b->runner);
    casefile_close(&b->file);
    free(b->input);
    tempdir_remove(b->dir);
    *b = (struct bench){0};
}

void call(struct bench *b, struct call_request req)
{
    if (req.limit_s <= 0)
        req.limit_s = 20;
    if (runner_call(b->runner, &b->casedef, &b->file, &req, &b->reply, &b->d) != STATUS_OK)
        fail_msg("runner_call: %s", b->d.text);
}

void call_a(struct bench *b) { call(b, (struct call_request){.letter = 'A'}); }

void assert_done(const struct bench *b)
{
    if (b->reply.end != CALL_DONE)
        fail_msg("end %d: %s", b->reply.end, b->reply.text);
    assert_string_equal(b->reply.record.text, "");
    assert_int_equal(b->reply.record.status, RECORD_OK);
}

uint64_t wrong_elements(const struct bench *b, const void *out, int exponent)
{
    const float *got = out;
    uint64_t wrong = 0;

    for (uint64_t i = 0; i < b->n; i++)
        wrong += !(got[i] == ldexpf(2.0f * b->input[i], exponent));
    return wrong;
}

void assert_clean(const struct bench *b)
{
    const struct record *r = &b->reply.record;

    assert_done(b);
    assert_int_equal(r->error_class, ERROR_NONE);
    for (unsigned i = 0; i < RECORD_MAX_PARAMS; i++) {
        assert_int_equal(r->params[i].guard_hits_before, 0);
        assert_int_equal(r->params[i].guard_hits_after, 0);
        assert_int_equal(r->params[i].input_changed, 0);
        assert_int_equal(r->params[i].late_elements, 0);
    }
    assert_string_equal(r->new_library, "");
    assert_int_equal(r->alloc_refused, 0);
}

uint32_t bits_of(const void *out, uint64_t index)
{
    uint32_t bits;

    memcpy(&bits, (const char *)out + index * sizeof bits, sizeof bits);
    return bits;
}

/*
 * runner_bench.h - what the tests of launch.h share: a problem, a case file, a runner on the
 * stand-in. Judges nothing: tests look at replies, as judging.c does.
 */
#ifndef TESTS_UNIT_RUNNER_BENCH_H
#define TESTS_UNIT_RUNNER_BENCH_H

#include "launch.h"

#define N      1000
#define N_LONG 700001 /* more than one 1 MiB image, not a multiple of anything */

/* solve(const float *input, float *output, int n): output = 2 * input. */
extern const struct problem bench_problem;

struct bench {
    char *dir;
    struct casefile file;
    struct casedef casedef;
    float *input;
    uint64_t n;
    struct runner *runner;
    struct call_reply reply; /* of the last command */
    struct diag d;
};

struct casedef casedef_of(uint64_t n, uint64_t offset);
/* Replaces the case of the bench by one of n elements. */
void case_make(struct bench *b, uint64_t n);
/* A runner on the stand-in: backend STANDIN, 100 MiB of device memory. */
struct runner_config config_of(const char *so_path);
/* Makes a case of n elements, starts a runner, loads tests/misbehave/<name>.c; the reply to the
 * load is in b->reply. */
void begin_with(struct bench *b, const char *name, uint64_t n, struct runner_config rc);
void begin(struct bench *b, const char *name, uint64_t n);
void end(struct bench *b);
void call(struct bench *b, struct call_request req);
void call_a(struct bench *b);
/* A complete record with status RECORD_OK and no text. */
void assert_done(const struct bench *b);
/* As well, no guard, input, error or library finding. */
void assert_clean(const struct bench *b);
/* Elements of the output that are not 2 * input * 2^exponent. */
uint64_t wrong_elements(const struct bench *b, const void *out, int exponent);
uint32_t bits_of(const void *out, uint64_t index);

#endif

/*
 * sample_results.c - see sample_results.h.
 */
#include "sample_results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const perf_tags[] = {"perf", "site", NULL}, *const edge_tags[] = {"edge", NULL};

static void context(struct run_context *c)
{
    *c = (struct run_context){.judge_version = "0.1.0",
                              .commit = "0123456789ab",
                              .backend = "gpu",
                              .start = "2026-01-31T12:00:00Z",
                              .nvcc = "13.0.88",
                              .cuda = "13.0",
                              .clocks = "not locked",
                              .seed = 0x5e1f09c2,
                              .jobs = 1,
                              .flush = "clean"};
    strcpy(c->device.name, "Test GPU <1>");
    strcpy(c->device.arch, "90a");
    strcpy(c->device.driver, "999.1");
    c->device.sm_count = 132;
    c->device.memory_bytes = UINT64_C(1) << 37;
    c->device.e0_us = 2.5;
    c->device.read_tbs = 4.5;
    c->device.copy_tbs = 4.25;
}

static struct casedef *add_case(struct arena *a, const char *name, const char *const *tags)
{
    struct casedef *c = arena_alloc(a, sizeof *c);

    *c = (struct casedef){.name = name,
                          .tags = tags,
                          .note = "",
                          .key = "",
                          .rule = {.name = "strict", .kind = RULE_EXACT}};
    c->traffic_read = 2e8;
    c->traffic_write = 400;
    return c;
}

static struct solution *add_solution(struct arena *a, const char *name, enum solution_kind kind,
                                     const char *idea)
{
    struct solution *s = arena_alloc(a, sizeof *s);

    *s = (struct solution){.problem = "topk",
                           .name = name,
                           .path = "",
                           .kind = kind,
                           .idea = idea,
                           .source = "",
                           .arch = "",
                           .expect = {.set = 1u << VERDICT_AC}};
    return s;
}

static struct timing *add_timing(struct arena *a, double us, const char *flags)
{
    struct timing *t = arena_alloc(a, sizeof *t);
    double *cold = arena_array(a, 50, sizeof *cold), *hot = arena_array(a, 15, sizeof *hot);

    for (int i = 0; i < 50; i++)
        cold[i] = us * (1.0 + 0.001 * (i % 5));
    for (int i = 0; i < 15; i++)
        hot[i] = 0.9 * us;
    t->cold_us = cold;
    t->cold_n = 50;
    t->hot_us = hot;
    t->hot_n = 15;
    t->cold = stats_summary(cold, 50, 0.0);
    t->hot = stats_summary(hot, 15, 0.0);
    t->floor_us = 47.0;
    t->clock_mhz = 1980;
    t->ranked = true;
    t->unranked_reason = "";
    strcpy(t->flags, flags);
    return t;
}

static void add_cases(struct arena *a, struct solution_result *r, const struct casedef *const *defs,
                      unsigned count)
{
    r->cases = arena_array(a, count, sizeof *r->cases);
    r->case_count = count;
    for (unsigned i = 0; i < count; i++) {
        results_init_case(&r->cases[i], defs[i]);
        r->cases[i].calls = 3;
        r->cases[i].exponents[1][0] = -3;
        r->cases[i].exponents[2][0] = 7;
        r->cases[i].wall_ms = 1.5;
        r->cases[i].scratch_bytes = 65536;
    }
}

void sample_results(struct results *out, struct arena *a)
{
    struct problem *p = arena_alloc(a, sizeof *p);
    const struct casedef *defs[2] = {add_case(a, "ties_4099", edge_tags),
                                     add_case(a, "perf_50m_k100", perf_tags)};
    struct kernel_info *k = arena_alloc(a, sizeof *k);
    struct counter *counts = arena_array(a, 2, sizeof *counts);
    struct case_result *wrong;
    struct solution_result *r;

    *p = (struct problem){.name = "topk",
                          .title = "Top-k",
                          .dir = "",
                          .prototype = "",
                          .perf_version = 1,
                          .group_count = 1};
    *k = (struct kernel_info){
        .name = "topk_kernel<float>(int)", .registers = 38, .shared_bytes = 64};
    context(&out->context);
    out->solution_count = 4;
    out->solutions = arena_array(a, 4, sizeof *out->solutions);
    r = out->solutions;
    results_init_solution(&r[0], p,
                          add_solution(a, "radix_select", SOLUTION_ACCEPT, "8-bit digits"));
    results_init_solution(&r[1], p,
                          add_solution(a, "baselines/cub_topk", SOLUTION_BASELINE, "library"));
    results_init_solution(&r[2], p,
                          add_solution(a, "my_first_try", SOLUTION_ACCEPT, "a | b & <c>"));
    results_init_solution(&r[3], p, add_solution(a, "broken", SOLUTION_ACCEPT, ""));
    for (unsigned i = 0; i < 3; i++) {
        add_cases(a, &r[i], defs, 2);
        r[i].object.ok = true;
        r[i].object.kernels = k;
        r[i].object.kernel_count = 1;
        r[i].source_hash = "abc";
        r[i].judge_s = 0.25;
    }
    r[0].cases[1].timing = add_timing(a, 555.0, "A");
    r[1].cases[1].timing = add_timing(a, 193.0, "");
    counts[0] = (struct counter){.name = "warp_inst", .value = 12345};
    counts[1] = (struct counter){.name = "lane_inst_on", .value = 12345 * 24};
    r[0].cases[0].counts = counts;
    r[0].cases[0].count_count = 2;
    wrong = &r[2].cases[0];
    wrong->verdict = VERDICT_WA;
    wrong->reason = "output[1003] = 2, want 3; 774 of 1777 differ, first 1003, last 1776";
    wrong->param = "output";
    wrong->mismatch = (struct mismatch){.count = 774,
                                        .first = 1003,
                                        .last = 1776,
                                        .got = (double)NAN,
                                        .want = 3,
                                        .max_abs = (double)INFINITY,
                                        .max_rel = 0.5,
                                        .max_ulp = UINT64_MAX};
    wrong->hints[0] = "wrong from index 1003 to the end";
    wrong->detail = "two lines\nof \"detail\"\\";
    wrong->warnings = "a warning";
    r[2].stdout_text = "printed \x01 by\nthe solution \xff";
    r[3].reason = "expected a ';'";
    r[3].object.log = "broken.cu(3): error: expected a ';'\n1 error detected";
    for (unsigned i = 0; i < 4; i++)
        results_conclude(&r[i], i == 3 ? VERDICT_CE : VERDICT_AC);
}

void sample_results_many(struct results *out, struct arena *a, unsigned count)
{
    struct problem *p = arena_alloc(a, sizeof *p);
    const struct casedef *defs[10];

    *p = (struct problem){.name = "topk",
                          .title = "Top-k",
                          .dir = "",
                          .prototype = "",
                          .perf_version = 1,
                          .group_count = 1};
    for (unsigned i = 0; i < 10; i++)
        defs[i] = add_case(a, arena_printf(a, "case_%u", i), edge_tags);
    context(&out->context);
    out->solution_count = count;
    out->solutions = arena_array(a, count, sizeof *out->solutions);
    for (unsigned i = 0; i < count; i++) {
        results_init_solution(
            &out->solutions[i], p,
            add_solution(a, arena_printf(a, "solution_%u", i), SOLUTION_ACCEPT, "one idea"));
        add_cases(a, &out->solutions[i], defs, 10);
        results_conclude(&out->solutions[i], VERDICT_AC);
    }
}

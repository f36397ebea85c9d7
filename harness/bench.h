/*
 * bench.h - times of accepted solutions at the perf cases: rounds, interleaving, stop rule, flags
 * (judge.md section 9). Starts children through launch.c; ranks nothing (board.c does).
 * Invariant: every timed output was compared; one wrong output takes the times away and is the
 * case's verdict.
 */
#ifndef HARNESS_BENCH_H
#define HARNESS_BENCH_H

#include "judging.h"
#include "results.h"
#include "term.h"

struct bench_options {
    const struct judging_options *judging; /* config, backend, seed, strict, stop */
    struct stop_rule stop;
    unsigned rounds;
    bool graph, dirty_flush;
    bool hot;          /* batches in warm L2, too; off for curves */
    const char *tag;   /* of the cases that are timed: "perf" or "curve" */
    struct term *term; /* progress; may be NULL */
};

/* Measures the ceilings into r->context.device, then every case of that tag of every AC solution in
 * `r`; fills cases[].timing and may lower verdicts. Solutions of one problem are interleaved. */
enum status bench_run(struct results *r, struct arena *a, const struct bench_options *o,
                      struct diag *d) MUST_CHECK;

/* The least time that moving a case's bytes takes: E0 + bytes / R, or / W where at least a quarter
 * is written. 0 when nothing was measured. */
double bench_floor_us(const struct casedef *c, const struct device_facts *f);
/* Faster than the memory's nominal rate, or than an empty kernel: impossible. */
bool bench_impossible(double median_us, const struct casedef *c, const struct device_facts *f);
/* Too little data to say anything but the launch latency: shown, never ranked. */
bool bench_latency_only(const struct casedef *c);
/* Does the host's clock contradict the claim of a hot batch (flag C)? */
bool bench_clock_contradicts(double claimed_us, double interval_us);
/* Is what came after the stop event more than a late look of a busy host (flag S)? It is in the
 * time of the sample either way. */
bool bench_spilled(double event_us, double spill_us);
/* Calls between one event pair so that the pair spans 1 ms: even, 2..20000. */
unsigned bench_hot_repeats(double call_us);
/* Flags and ranking from the samples and what was seen while sampling. */
struct bench_seen {
    bool allocates, throttled;
    unsigned hot_samples, contradicted; /* batches; those that the host's clock contradicts */
    unsigned spills;                    /* samples whose work went on after the stop event */
    unsigned samples;                   /* of which those were */
    unsigned discarded;
};
void bench_conclude(struct timing *t, const struct casedef *c, const struct device_facts *f,
                    const struct bench_seen *seen, double event_step_us);

#endif

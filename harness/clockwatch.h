/*
 * clockwatch.h - the parent's side of `judge-runner watch`: clocks and throttling while a benchmark
 * runs. Judges nothing (bench.c discards samples). Invariant: readings carry the same monotonic
 * clock as proc_now_s, so that they can be matched with samples.
 */
#ifndef HARNESS_CLOCKWATCH_H
#define HARNESS_CLOCKWATCH_H

#include "diag.h"
#include <stdint.h>

struct clockwatch; /* one watching child; opaque */

struct clock_facts {
    unsigned ticks;                   /* readings in the interval; 0 = nothing is known about it */
    double sm_mhz_min, sm_mhz_median; /* 0 when the device does not tell */
    double memory_mhz;                /* of the last reading */
    double temperature_c;             /* largest */
    double power_w;                   /* mean */
    uint64_t throttle; /* reasons of all readings or'ed, without "idle" and "application setting" */
    unsigned others;   /* most processes of other sessions seen on the device */
};

/* Starts watching `device` (index in PCI order). STATUS_NOTHING: no NVML here, diag says why; the
 * report then says "clocks unknown". */
enum status clockwatch_start(struct clockwatch **out, const char *runner_path, unsigned device,
                             struct diag *d) MUST_CHECK;
/* What was read from 12 ms before from_s to 12 ms after to_s (proc_now_s): one tick at least lies
 * there once it has arrived. Never waits. */
void clockwatch_read(struct clockwatch *w, double from_s, double to_s, struct clock_facts *out);
/* Driver version as NVML names it. */
const char *clockwatch_driver(const struct clockwatch *w);
/* "thermal slowdown, power cap": the reasons in words; "" for none. Returns `buf`. */
const char *clockwatch_reasons(uint64_t throttle, char *buf, size_t size);
/* Ends the child; accepts NULL. */
void clockwatch_stop(struct clockwatch *w);

/* One line of `judge-runner watch`, for the test. False when it is not well-formed. */
struct clock_tick {
    double time_s;
    double sm_mhz, memory_mhz, temperature_c, power_w; /* negative = unknown */
    uint64_t throttle;
    unsigned others;
};
bool clockwatch_parse(struct clock_tick *out, const char *line);
/* The readings of `ticks` inside [from_s, to_s]. */
void clockwatch_summarise(struct clock_facts *out, const struct clock_tick *ticks, size_t count,
                          double from_s, double to_s);

#endif

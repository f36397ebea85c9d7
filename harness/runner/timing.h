/*
 * timing.h - one timed sample and the machine's ceilings: judge.md section 9.
 * Decides nothing about ranks or noise (bench.c and stats.c do). Invariant: the time covers all
 * work of the call on all streams: what is left behind the stop event is added.
 */
#ifndef HARNESS_RUNNER_TIMING_H
#define HARNESS_RUNNER_TIMING_H

#include "session.h"

/* Serves COMMAND_TIME: fills s->record and the output slots. */
void timing_sample(struct session *s);
/* Serves COMMAND_OUTPUTS: the elements of the last cold sample's outputs. */
void timing_outputs(struct session *s);
/* Measures E0, R and W into s->facts. False: text in s->record. */
bool timing_ceilings(struct session *s);

#endif

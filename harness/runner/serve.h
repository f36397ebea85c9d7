/*
 * serve.h - the command loop of judge-runner.
 */
#ifndef HARNESS_RUNNER_SERVE_H
#define HARNESS_RUNNER_SERVE_H

/* Serves commands from the inherited descriptors (record.h) until COMMAND_BYE or the end of the
 * channel. Returns the exit code of the program. */
int serve(void);

#endif

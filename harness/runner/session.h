/*
 * session.h - the state of one judge-runner, shared by serve.c (functional calls) and timing.c
 * (timed samples). Invariant: one session a process; `record` belongs to `command`.
 */
#ifndef HARNESS_RUNNER_SESSION_H
#define HARNESS_RUNNER_SESSION_H

#include "account.h"
#include "callabi.h"
#include "cudalib.h"
#include "guard.h"
#include "kit.h"
#include "libraries.h"
#include "record.h"

#include <sys/stat.h>
#include <sys/types.h>

struct session {
    pid_t pid; /* ours: a solution that forks makes a second process of this code */
    struct command command;
    struct record record;
    unsigned char *shared;
    size_t shared_size;
    struct stat shared_file; /* identity of the shared memory: its descriptor may be replaced */
    struct case_bytes file;
    struct cudalib lib;
    struct kit kit;
    bool has_kit;
    struct guard guard;
    struct callabi abi;
    solve_function solve;
    struct libraries libraries;
    struct record_facts facts;
    uint32_t backend;
    bool profiler_range;
    unsigned long long found; /* errors that the virtual GPU had found after the last command */
    uint64_t calls;           /* of solve() that this process has made */
    /* timing */
    struct slab flush, copies;
    uint64_t flush_size;
    cudaEvent_t start, stop;
    bool events;
    bool has_sample;       /* address set 0 holds a cold sample */
    cudaGraphExec_t graph; /* of the case and address set last captured */
    uint64_t graph_generation;
    void *graph_pointers[RECORD_MAX_PARAMS];
    double idle_us; /* cost of waiting for an idle device */
};

/* Tells the parent where the command is: RECORD_PREPARED starts its time limit, RECORD_RETURNED
 * ends it. */
void session_notice(struct session *s, enum record_status status);
/* Calls solve() on the buffers of a set, with the fault handler armed. Ends a forked copy. */
void session_solve(struct session *s, void *const pointers[RECORD_MAX_PARAMS]);
/* Classifies the three CUDA errors of the record and names the worst. */
void session_errors(struct session *s);
/* Books what the account, the loader and the flags say about the call. */
void session_account(struct session *s);
uint64_t session_now_ns(void);

#endif

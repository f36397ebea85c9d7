/*
 * cudart_answers.h - what the sections of cudart_answers share: printing and kernels.
 * The sections know nothing of each other.
 */
#ifndef TESTS_UNIT_CUDART_ANSWERS_H
#define TESTS_UNIT_CUDART_ANSWERS_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct section {
    const char *name;
    void (*ask)(void); /* NULL ends the list */
};
extern const struct section answers_memory[], answers_launch[], answers_stream[], answers_graph[],
    answers_device[], answers_fault[];

/* One line. */
void answer(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/* The call as written, and the code it returned. */
#define ASK(call) answer("%s = %d", #call, (int)(call))

/* PTX text of the kernels: cudart_answers_ptx.c lists them. */
const char *answers_ptx(void);
cudaKernel_t answers_kernel(const char *name);
/* Launches one of them on the default stream. */
cudaError_t answers_run(const char *name, unsigned blocks, unsigned threads, size_t shared,
                        void **args);

#endif

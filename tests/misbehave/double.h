/*
 * double.h - what the C "solutions" of this folder share: the signature of the test problem.
 *
 *     solve(const float *input, float *output, int n): output[i] = 2 * input[i]
 *
 * They are built against the CUDA runtime's C interface and loaded by judge-runner like any
 * compiled .cu file; on the stand-in, device memory is host memory, so plain C can do a kernel's
 * work. Each file misbehaves in the one way that its name says.
 */
#ifndef TESTS_MISBEHAVE_DOUBLE_H
#define TESTS_MISBEHAVE_DOUBLE_H

void solve(const float *input, float *output, int n);

static inline void double_all(const float *input, float *output, int n)
{
    for (int i = 0; i < n; i++)
        output[i] = 2.0f * input[i];
}

#endif

/*
 * test_cudart_error.c - errors that last and errors that do not; where a fault surfaces.
 * Runs with the virtual GPU's library and with the real one: each fault has a child process, since
 * hardware loses the context. Invariant: the parent never starts the runtime.
 */
#include "cudart_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <sys/wait.h>
#include <unistd.h>

static void in_child(void (*body)(void))
{
    int status = 0;
    const pid_t pid = fork();

    assert_true(pid >= 0);
    if (pid == 0) {
        body();
        _exit(0);
    }
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
}

/* In a child a failed expectation ends the process with a status instead of jumping into the
 * parent's test runner. */
#define CHILD_EXPECT(want, call)                                                                   \
    do {                                                                                           \
        const cudaError_t got_ = (call);                                                           \
        if (got_ != (want)) {                                                                      \
            print_error("%s: %d %s\n", #call, (int)got_, cudaGetErrorName(got_));                  \
            _exit(__LINE__ % 199 + 1);                                                             \
        }                                                                                          \
    } while (0)

static void plain_errors_last_until_asked(void)
{
    CHILD_EXPECT(cudaErrorInvalidValue, cudaMalloc(NULL, 1));
    CHILD_EXPECT(cudaErrorInvalidValue, cudaPeekAtLastError());
    CHILD_EXPECT(cudaErrorInvalidValue, cudaGetLastError());
    CHILD_EXPECT(cudaSuccess, cudaGetLastError());
    CHILD_EXPECT(cudaSuccess, cudaDeviceSynchronize());
}

static void illegal_address_is_sticky(void)
{
    int *out = NULL;
    const int *wrong = (const int *)0x10;
    void *args[] = {&wrong, &out};
    void *p = NULL;

    CHILD_EXPECT(cudaSuccess, cudaMalloc((void **)&out, 4));
    CHILD_EXPECT(cudaSuccess, bench_launch("read_at", 1, 1, 0, NULL, args));
    CHILD_EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
    CHILD_EXPECT(cudaErrorIllegalAddress, cudaGetLastError());
    CHILD_EXPECT(cudaErrorIllegalAddress, cudaMalloc(&p, 4));
    CHILD_EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

static void misaligned_is_sticky(void)
{
    char *p = NULL;
    char *odd = NULL;
    void *args[] = {&odd, &p};

    CHILD_EXPECT(cudaSuccess, cudaMalloc((void **)&p, 16));
    odd = p + 1;
    CHILD_EXPECT(cudaSuccess, bench_launch("read_at", 1, 1, 0, NULL, args));
    CHILD_EXPECT(cudaErrorMisalignedAddress, cudaDeviceSynchronize());
}

static void trap_is_sticky(void)
{
    CHILD_EXPECT(cudaSuccess, bench_launch("trap_now", 1, 32, 0, NULL, NULL));
    const cudaError_t e = cudaStreamSynchronize(NULL);
    if (e != cudaErrorLaunchFailure && e != cudaErrorIllegalInstruction)
        _exit(1);
    CHILD_EXPECT(e, cudaDeviceSynchronize());
}

static void use_after_free_is_found(void)
{
    int *p = NULL, *out = NULL;
    void *args[] = {&p, &out};

    if (!bench_is_virtual())
        return; /* hardware often keeps the page mapped */
    CHILD_EXPECT(cudaSuccess, cudaMalloc((void **)&p, 4));
    CHILD_EXPECT(cudaSuccess, cudaMalloc((void **)&out, 4));
    CHILD_EXPECT(cudaSuccess, cudaMemset(p, 0, 4));
    CHILD_EXPECT(cudaSuccess, cudaFree(p));
    CHILD_EXPECT(cudaSuccess, bench_launch("read_at", 1, 1, 0, NULL, args));
    CHILD_EXPECT(cudaErrorIllegalAddress, cudaDeviceSynchronize());
}

static void reset_clears(void)
{
    int *p = NULL;

    CHILD_EXPECT(cudaSuccess, bench_launch("trap_now", 1, 1, 0, NULL, NULL));
    if (cudaDeviceSynchronize() == cudaSuccess)
        _exit(1);
    CHILD_EXPECT(cudaSuccess, cudaDeviceReset());
    if (!bench_is_virtual())
        return; /* hardware needs a new process after some faults */
    CHILD_EXPECT(cudaSuccess, cudaMalloc((void **)&p, 512));
    CHILD_EXPECT(cudaSuccess, bench_fill(p, 128, 6, NULL));
    CHILD_EXPECT(cudaSuccess, cudaDeviceSynchronize());
}

/* The option that a solution's way through a full memory is tried with. */
static void third_allocation_fails(void)
{
    void *p[4] = {NULL};

    if (setenv("WARPJUDGE_VGPU", "fail_alloc=3", 1) != 0)
        _exit(1);
    if (!bench_is_virtual())
        return;
    CHILD_EXPECT(cudaSuccess, cudaMalloc(&p[0], 16));
    CHILD_EXPECT(cudaSuccess, cudaMallocAsync(&p[1], 16, NULL));
    CHILD_EXPECT(cudaErrorMemoryAllocation, cudaMalloc(&p[2], 16));
    CHILD_EXPECT(cudaErrorMemoryAllocation, cudaGetLastError());
    CHILD_EXPECT(cudaSuccess, cudaMalloc(&p[3], 16));
    CHILD_EXPECT(cudaSuccess, cudaFree(p[3]));
    if (p[2])
        _exit(1);
}

static void test_failing_allocation(void **state)
{
    (void)state;
    in_child(third_allocation_fails);
}

static void test_plain(void **state)
{
    (void)state;
    in_child(plain_errors_last_until_asked);
}

static void test_illegal_address(void **state)
{
    (void)state;
    in_child(illegal_address_is_sticky);
}

static void test_misaligned(void **state)
{
    (void)state;
    in_child(misaligned_is_sticky);
}

static void test_trap(void **state)
{
    (void)state;
    in_child(trap_is_sticky);
}

static void test_use_after_free(void **state)
{
    (void)state;
    in_child(use_after_free_is_found);
}

static void test_reset(void **state)
{
    (void)state;
    in_child(reset_clears);
}

static void test_names(void **state)
{
    (void)state;
    assert_string_equal(cudaGetErrorName(cudaErrorIllegalAddress), "cudaErrorIllegalAddress");
    assert_string_equal(cudaGetErrorName(cudaSuccess), "cudaSuccess");
    assert_string_equal(cudaGetErrorName((cudaError_t)12345), "unrecognized error code");
    assert_true(strlen(cudaGetErrorString(cudaErrorAssert)) > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),          cmocka_unit_test(test_illegal_address),
        cmocka_unit_test(test_misaligned),     cmocka_unit_test(test_trap),
        cmocka_unit_test(test_use_after_free), cmocka_unit_test(test_reset),
        cmocka_unit_test(test_names),          cmocka_unit_test(test_failing_allocation),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

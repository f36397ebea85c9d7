/*
 * cudart_answers_fault.c - what a fault of a kernel is called, what every call says after it, and
 * what device printf and assert write.
 */
#include "cudart_answers.h"

#include <string.h>

/* What the runtime still answers after a fault. */
static void aftermath(void)
{
    void *p = NULL;
    int n = 0;
    size_t a = 0, b = 0;
    cudaStream_t s = NULL;
    cudaEvent_t e = NULL;
    struct cudaDeviceProp prop;
    struct cudaFuncAttributes attributes;

    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
    ASK(cudaGetLastError());
    ASK(cudaPeekAtLastError());
    ASK(cudaMalloc(&p, 4));
    ASK(cudaFree(NULL));
    ASK(cudaMallocHost(&p, 4));
    ASK(cudaStreamQuery(NULL));
    ASK(cudaStreamSynchronize(NULL));
    ASK(cudaStreamCreate(&s));
    ASK(cudaEventCreate(&e));
    ASK(cudaGetDevice(&n));
    ASK(cudaGetDeviceCount(&n));
    ASK(cudaSetDevice(0));
    ASK(cudaDeviceGetAttribute(&n, cudaDevAttrWarpSize, 0));
    ASK(cudaGetDeviceProperties(&prop, 0));
    ASK(cudaMemGetInfo(&a, &b));
    ASK(cudaRuntimeGetVersion(&n));
    ASK(cudaFuncGetAttributes(&attributes, answers_kernel("nothing")));
    ASK(cudaDeviceGetLimit(&a, cudaLimitStackSize));
    ASK(answers_run("nothing", 1, 1, 0, NULL));
    ASK(cudaDeviceReset());
    ASK(cudaGetLastError());
    ASK(cudaMalloc(&p, 4));
    ASK(cudaDeviceSynchronize());
}

static void fault_at(const char *kernel, uint64_t address)
{
    int *out = NULL;
    void *args[] = {&address, &out};

    cudaMalloc((void **)&out, 64);
    ASK(answers_run(kernel, 1, 1, 0, args));
    ASK(cudaDeviceSynchronize());
}

static void ask_illegal_address(void)
{
    fault_at("read_at", 16);
    aftermath();
}

static void ask_null_write(void) { fault_at("write_at", 0); }

static void ask_misaligned(void)
{
    char *p = NULL;

    cudaMalloc((void **)&p, 64);
    fault_at("read_at", (uint64_t)(uintptr_t)p + 1);
}

static void ask_misaligned_atomic(void)
{
    char *p = NULL;

    cudaMalloc((void **)&p, 64);
    fault_at("add_at", (uint64_t)(uintptr_t)p + 2);
}

static void ask_shared_far(void) { fault_at("read_shared", 0x800000); }
static void ask_shared_misaligned(void) { fault_at("read_shared", 1); }

static void ask_host_pointer(void)
{
    static int word = 3;

    fault_at("read_at", (uint64_t)(uintptr_t)&word);
}

static void ask_trap(void)
{
    ASK(answers_run("trap_now", 1, 32, 0, NULL));
    aftermath();
}

static void ask_breakpoint(void)
{
    ASK(answers_run("stop_now", 1, 1, 0, NULL));
    ASK(cudaDeviceSynchronize());
}

static char *on_device(const void *text, size_t size)
{
    void *p = NULL;

    cudaMalloc(&p, size);
    cudaMemcpy(p, text, size, cudaMemcpyHostToDevice);
    return p;
}

static void ask_assert(void)
{
    char *text = on_device("n > 0", 6), *file = on_device("folder/kernel.cu", 17),
         *function = on_device("void f(int *, int)", 19);
    void *args[] = {&text, &file, &function};

    ASK(answers_run("fail_now", 2, 2, 0, args));
    ASK(cudaDeviceSynchronize());
    ASK(cudaGetLastError());
    ASK(cudaMalloc((void **)&text, 4));
}

static void say(const char *format, const void *args, size_t size)
{
    uint64_t box[8] = {0};
    int written = -99;

    memcpy(box, args, size);
    char *f = on_device(format, strlen(format) + 1);
    uint64_t *a = (uint64_t *)(void *)on_device(box, sizeof box);
    int *out = (int *)(void *)on_device(&written, 4);
    void *params[] = {&f, &a, &out};
    const cudaError_t e = answers_run("say", 1, 1, 0, params);
    cudaDeviceSynchronize();
    cudaMemcpy(&written, out, 4, cudaMemcpyDeviceToHost);
    answer("|| returned %d, launch %d", written, (int)e);
}

#define SAY_INT(format, ...) say(format, (const int[]){__VA_ARGS__}, sizeof(int[]){__VA_ARGS__})
#define SAY_LONG(format, ...)                                                                      \
    say(format, (const int64_t[]){__VA_ARGS__}, sizeof(int64_t[]){__VA_ARGS__})
#define SAY_REAL(format, ...)                                                                      \
    say(format, (const double[]){__VA_ARGS__}, sizeof(double[]){__VA_ARGS__})

static void ask_printf(void)
{
    char *word = on_device("word", 5);

    SAY_INT("plain", 0);
    SAY_INT("%d %i %u", -3, 4, -5);
    SAY_INT("%5d|%-5d|%05d|%+d|% d", 12, 12, 12, 12, 12);
    SAY_INT("%x %X %#x %o %#o", 255, 255, 255, 8, 8);
    SAY_INT("%c%c%c", 'a', 'b', 'c');
    SAY_INT("%.3d|%8.3d|%-8.3d|", 7, 7, 7);
    SAY_INT("%*d|%.*d|", 6, 42, 4, 42);
    SAY_INT("%hd %hhd %hu", 70000, 300, 70000);
    SAY_INT("100%% %d", 1);
    SAY_INT("%d %d", 1);
    SAY_INT("%q %d", 5, 6);
    SAY_INT("%", 0);
    SAY_INT("%y", 3);
    SAY_LONG("%ld %lld %lu %llx %zu", -5, -6, 7, 255, 9);
    SAY_LONG("%p", 0x1234);
    SAY_LONG("%p", 0);
    SAY_REAL("%f %e %g %a", 1.5, 1.5, 1.5, 1.5);
    SAY_REAL("%.2f|%10.3f|%-10.1f|%+.0f|%G", 3.14159, 3.14159, 3.14159, 3.14159, 1e-10);
    SAY_REAL("%f %f %f %E", 1.0 / 3, 1e300, -0.0, 12345.678);
    say("%f %f %f", (const uint64_t[]){0x7ff0000000000000, 0xfff0000000000000, 0x7ff8000000000000},
        24);
    say("%s|%10s|%-10s|%.2s", (char *const[]){word, word, word, word}, 32);
    say("%s", (char *const[]){NULL}, 8);
    SAY_INT("%n", 0);
    SAY_INT("%Lf", 0);
    SAY_INT("%jd %td", 5, 0, 6, 0);
}

static void ask_device_heap(void)
{
    static const uint64_t sizes[] = {0, 1, 1000, 4 << 20, 7 << 20, 64 << 20};
    uint64_t *out = NULL, got = 0;

    cudaMalloc((void **)&out, 8);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        uint64_t size = sizes[i];
        void *args[] = {&size, &out};
        answers_run("take", 1, 1, 0, args);
        cudaMemcpy(&got, out, 8, cudaMemcpyDeviceToHost);
        answer("malloc of %llu is %s, aligned %d", (unsigned long long)size, got ? "given" : "null",
               (int)(got % 16));
    }
    uint64_t size = 100;
    void *args[] = {&size, &out};
    answers_run("take", 1, 1, 0, args);
    cudaMemcpy(&got, out, 8, cudaMemcpyDeviceToHost);
    ASK(cudaFree((void *)(uintptr_t)got));
    ASK(cudaMemcpy(&size, (void *)(uintptr_t)got, 8, cudaMemcpyDeviceToHost));
}

const struct section answers_fault[] = {{"illegal-address", ask_illegal_address},
                                        {"null-write", ask_null_write},
                                        {"misaligned", ask_misaligned},
                                        {"misaligned-atomic", ask_misaligned_atomic},
                                        {"shared-far", ask_shared_far},
                                        {"shared-misaligned", ask_shared_misaligned},
                                        {"host-pointer", ask_host_pointer},
                                        {"trap", ask_trap},
                                        {"breakpoint", ask_breakpoint},
                                        {"assert", ask_assert},
                                        {"printf", ask_printf},
                                        {"device-heap", ask_device_heap},
                                        {NULL, NULL}};

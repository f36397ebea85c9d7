/*
 * test_cudart_register.c - registration as nvcc's host code does it, with a fatbin made here: both
 * launch forms, variables, refusals. Runs with the virtual GPU's library and with the real one, but
 * for the refusals. Invariant: every handle is unregistered.
 */
#include "cudart_bench.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* What generated code declares for itself. */
void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **handle);
void __cudaUnregisterFatBinary(void **handle);
void __cudaRegisterFunction(void **handle, const char *host, char *device, const char *name,
                            int limit, uint3 *tid, uint3 *bid, dim3 *block, dim3 *grid,
                            int *warp_size);
void __cudaRegisterVar(void **handle, char *host, char *device, const char *name, int ext,
                       size_t size, int constant, int global);
void __cudaRegisterManagedVar(void **handle, void **host, char *device, const char *name, int ext,
                              size_t size, int constant, int global);
char __cudaInitModule(void **handle);
unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared, void *stream);
cudaError_t __cudaPopCallConfiguration(dim3 *grid, dim3 *block, size_t *shared, void *stream);
cudaError_t __cudaGetKernel(cudaKernel_t *out, const void *stub);
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 grid, dim3 block, void **args,
                               size_t shared, cudaStream_t stream);

static const char sound[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".visible .global .align 4 .b8 counters[16] = {5};\n"
    ".visible .const .align 4 .u32 step = 3;\n"
    ".visible .global .attribute(.managed) .align 4 .u32 shared_count = 40;\n"
    ".visible .entry bump(.param .u32 n)\n{\n"
    " .reg .b32 %r<5>; .reg .b64 %rd<3>;\n"
    " ld.param.u32 %r1, [n]; ld.const.u32 %r2, [step]; mul.lo.u32 %r3, %r1, %r2;\n"
    " mov.u64 %rd1, counters; atom.global.add.u32 %r4, [%rd1], %r3;\n"
    " mov.u64 %rd2, shared_count; atom.global.add.u32 %r4, [%rd2], 1;\n ret;\n}\n";

enum { BOX = 8192, ENTRY = 16, ENTRY_HEADER = 80 };

struct object { /* a program's registration data */
    _Alignas(8) unsigned char box[BOX];
    _Alignas(8) unsigned char wrapper[24];
    void **handle;
};

static void put(unsigned char *at, uint64_t v, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        at[i] = (unsigned char)(v >> (8 * i));
}

/* Registers `text` as the PTX of a program. */
static void open_object(struct object *o, const char *text, unsigned arch, uint64_t flags)
{
    const size_t size = (strlen(text) + 1 + 7) / 8 * 8;
    const void *box = o->box;

    memset(o, 0, sizeof *o);
    put(o->box, 0xba55ed50u, 4);
    put(o->box + 4, 1, 2);
    put(o->box + 6, ENTRY, 2);
    put(o->box + 8, ENTRY_HEADER + size, 8);
    put(o->box + ENTRY, 1, 2);
    put(o->box + ENTRY + 2, 0x101, 2);
    put(o->box + ENTRY + 4, ENTRY_HEADER, 4);
    put(o->box + ENTRY + 8, size, 8);
    put(o->box + ENTRY + 26, 8, 2); /* PTX 8.0 */
    put(o->box + ENTRY + 28, arch, 4);
    put(o->box + ENTRY + 40, flags, 8);
    memcpy(o->box + ENTRY + ENTRY_HEADER, text, strlen(text));
    put(o->wrapper, 0x466243b1u, 4);
    put(o->wrapper + 4, 1, 4);
    memcpy(o->wrapper + 8, &box, sizeof box);
    o->handle = __cudaRegisterFatBinary(o->wrapper);
    assert_non_null(o->handle);
}

static void add_function(struct object *o, const char *stub, const char *name)
{
    char *device = (char *)(uintptr_t)name; /* generated code passes its literal like that */

    __cudaRegisterFunction(o->handle, stub, device, device, -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(o->handle);
}

static struct object program;
static const char bump_stub[1];
static char counters_shadow[16];
static char step_shadow[4];
static void *shared_pointer;

static int setup(void **state)
{
    (void)state;
    open_object(&program, sound, 75, 0x11);
    add_function(&program, bump_stub, "bump");
    __cudaRegisterVar(program.handle, counters_shadow, counters_shadow, "counters", 0, 16, 0, 0);
    __cudaRegisterVar(program.handle, step_shadow, step_shadow, "step", 0, 4, 1, 0);
    __cudaRegisterManagedVar(program.handle, &shared_pointer, shared_pointer, "shared_count", 0, 4,
                             0, 0);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    __cudaUnregisterFatBinary(program.handle);
    return 0;
}

static unsigned counter(void)
{
    unsigned v = 0;

    OK(cudaMemcpyFromSymbol(&v, counters_shadow, sizeof v, 0, cudaMemcpyDeviceToHost));
    return v;
}

static void test_both_launch_forms(void **state)
{
    const dim3 one = {1, 1, 1}, four = {4, 1, 1};
    unsigned n = 10;
    void *args[] = {&n};
    cudaKernel_t kernel = NULL;

    (void)state;
    assert_int_equal(counter(), 5);
    OK(cudaLaunchKernel(bump_stub, one, one, args, 0, NULL)); /* CUDA 12: by the host stub */
    assert_int_equal(counter(), 35);
    OK(__cudaGetKernel(&kernel, bump_stub)); /* CUDA 13: by a handle */
    OK(__cudaLaunchKernel(kernel, one, four, args, 0, NULL));
    assert_int_equal(counter(), 155);
}

static void test_configuration_stack(void **state)
{
    const dim3 a = {1, 2, 3}, b = {4, 5, 6};
    dim3 grid, block;
    size_t shared = 0;
    cudaStream_t stream = NULL;

    (void)state;
    assert_int_equal(__cudaPushCallConfiguration(a, b, 77, (void *)cudaStreamPerThread), 0);
    OK(__cudaPopCallConfiguration(&grid, &block, &shared, &stream));
    assert_int_equal(grid.z, 3);
    assert_int_equal(block.x, 4);
    assert_int_equal(shared, 77);
    assert_ptr_equal(stream, cudaStreamPerThread);
}

static void test_symbols(void **state)
{
    const unsigned values[4] = {1, 2, 3, 4};
    unsigned back[2] = {0}, step = 7, n = 1;
    void *address = NULL, *args[] = {&n};
    const dim3 one = {1, 1, 1};
    size_t size = 0;

    (void)state;
    OK(cudaGetSymbolSize(&size, counters_shadow));
    assert_int_equal(size, 16);
    OK(cudaMemcpyToSymbol(counters_shadow, values, sizeof values, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpyFromSymbol(back, counters_shadow, 8, 8, cudaMemcpyDeviceToHost));
    assert_int_equal(back[0], 3);
    OK(cudaGetSymbolAddress(&address, counters_shadow));
    OK(cudaMemcpy(back, address, 8, cudaMemcpyDeviceToHost));
    assert_int_equal(back[1], 2);
    OK(cudaMemcpyToSymbol(step_shadow, &step, 4, 0, cudaMemcpyHostToDevice));
    OK(cudaLaunchKernel(bump_stub, one, one, args, 0, NULL));
    assert_int_equal(counter(), 8);
    EXPECT(cudaErrorInvalidValue,
           cudaMemcpyToSymbol(counters_shadow, values, 8, 12, cudaMemcpyHostToDevice));
    EXPECT(cudaErrorInvalidSymbol, cudaGetSymbolSize(&size, values));
    (void)cudaGetLastError();
}

static void test_managed_variable(void **state)
{
    const dim3 one = {1, 1, 1};
    unsigned n = 0;
    void *args[] = {&n};

    (void)state;
    assert_int_equal(__cudaInitModule(program.handle), 1);
    assert_non_null(shared_pointer);
    const unsigned before = *(unsigned *)shared_pointer;
    OK(cudaLaunchKernel(bump_stub, one, one, args, 0, NULL));
    OK(cudaDeviceSynchronize());
    assert_int_equal(*(unsigned *)shared_pointer, before + 1);
}

static void refused(const char *text, unsigned arch, uint64_t flags, const char *name,
                    cudaError_t want)
{
    static struct object other;
    static const char stub[1];
    const dim3 one = {1, 1, 1};

    open_object(&other, text, arch, flags);
    add_function(&other, stub, name);
    EXPECT(want, cudaLaunchKernel(stub, one, one, NULL, 0, NULL));
    EXPECT(want, cudaGetLastError());
    __cudaUnregisterFatBinary(other.handle);
    EXPECT(cudaErrorInvalidResourceHandle, cudaLaunchKernel(stub, one, one, NULL, 0, NULL));
    (void)cudaGetLastError();
}

static void test_refusals(void **state)
{
    static const char head[] = ".version 8.0\n.target sm_75\n.address_size 64\n";
    char text[400];

    (void)state;
    if (!bench_is_virtual())
        skip(); /* the real library compiles the text and names other codes */
    (void)strcpy(text, head);
    refused(strcat(text, ".entry k( {"), 75, 0x11, "k", cudaErrorNoKernelImageForDevice);
    (void)strcpy(text, head);
    refused(strcat(text, ".entry k() { tex.1d.v4.f32.s32 {a,b,c,d}, [t, {x}]; }"), 75, 0x11, "k",
            cudaErrorNoKernelImageForDevice);
    (void)strcpy(text, head);
    refused(strcat(text, ".entry k() { ret; }"), 75, 0x8011, "k", cudaErrorNoKernelImageForDevice);
    refused(text, 100, 0x11, "k", cudaErrorNoKernelImageForDevice);
    refused(text, 75, 0x11, "other", cudaErrorInvalidDeviceFunction);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_launch_forms), cmocka_unit_test(test_configuration_stack),
        cmocka_unit_test(test_symbols),           cmocka_unit_test(test_managed_variable),
        cmocka_unit_test(test_refusals),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}

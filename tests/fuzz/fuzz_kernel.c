/*
 * fuzz_kernel.c - hostile PTX, executed: every kernel of a sound module is decoded, launched with
 * two small buffers for its parameters, and ends within its budget; all checks are on. It does not
 * look at results.
 */
#include "exec.h"
#include "image.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

enum { BUFFER_BYTES = 4096, PARAM_BYTES_MAX = 4352, BUDGET = 20000, KERNELS_MAX = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Shapes of launches; the first byte of the text chooses one. */
static const struct {
    uint32_t grid, block;
    bool cooperative;
} shapes[] = {{1, 32, false}, {2, 64, false}, {1, 1, false}, {3, 96, true}};

static bool open_device(struct vgpu_device *d)
{
    static int sink = -1;

    if (sink < 0)
        sink = open("/dev/null", O_WRONLY | O_CLOEXEC);
    memset(d, 0, sizeof *d);
    d->sm_count = 8;
    d->options = (struct vgpu_options){.check_mem = true,
                                       .check_init = true,
                                       .check_race = true,
                                       .check_sync = true,
                                       .counters = true,
                                       .fd = sink};
    d->report.fd = sink;
    return mem_open(&d->space, 64ull << 20, true);
}

static void close_device(struct vgpu_device *d, struct ptx_module *m)
{
    report_flush(&d->report);
    free(d->report.seen);
    free(d->report.buffer);
    image_remove(&d->space, m, 0);
    ptx_module_free(m);
    vg_arena_free(&d->arena);
    vg_arena_free(&d->report.arena);
    mem_close(&d->space);
}

/* Every eight bytes of the parameter block hold the address of one of the two buffers, or a small
 * number where the shape says so. */
static void fill_params(unsigned char *params, uint32_t size, const struct alloc *const buffers[2],
                        uint64_t salt)
{
    for (uint32_t at = 0, i = 0; at < size; at += 8, i++) {
        uint64_t bits = (salt >> (i % 8)) & 1 ? 17 + i : buffers[i % 2]->addr;
        memcpy(params + at, &bits, size - at < 8 ? size - at : 8);
    }
}

static void launch(struct vgpu_device *d, struct ptx_func *f, const struct alloc *const buffers[2],
                   uint8_t choice)
{
    unsigned char params[PARAM_BYTES_MAX] = {0};
    char why[512] = "";
    struct program *p;

    if (f->param_size > sizeof params)
        return;
    p = lower_function(f, why, sizeof why);
    if (!p) {
        if (why[0] == '\0')
            abort(); /* a refusal without words */
        return;
    }
    fill_params(params, f->param_size, buffers, choice >> 2);
    struct grid g = {.program = p,
                     .func = f,
                     .cooperative = shapes[choice % 4].cooperative,
                     .params = params,
                     .launch_number = ++d->launch_count,
                     .budget = BUDGET,
                     .seed = choice & 7,
                     .device = d,
                     .dim = {shapes[choice % 4].grid, 1, 1},
                     .block_dim = {shapes[choice % 4].block, 1, 1}};
    (void)sched_run(&g);
    vg_arena_free(&g.arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct ptx_module *m = NULL;
    struct ptx_diag diag;
    struct vgpu_device d;
    char why[512] = "";
    uint32_t kernels = 0;

    if (size < 2 || !ptx_module_load(&m, (const char *)data + 1, size - 1, &diag))
        return 0;
    if (!open_device(&d))
        abort();
    if (image_place(&d.space, m, why, sizeof why)) {
        const struct alloc *buffers[2] = {mem_alloc(&d.space, BUFFER_BYTES, ALLOC_DEVICE),
                                          mem_alloc(&d.space, BUFFER_BYTES, ALLOC_DEVICE)};
        for (uint32_t i = 0; buffers[0] && buffers[1] && i < m->func_count; i++) {
            if (m->funcs[i].entry && kernels++ < KERNELS_MAX)
                launch(&d, &m->funcs[i], buffers, data[0]);
        }
    } else if (why[0] == '\0') {
        abort();
    }
    close_device(&d, m);
    return 0;
}

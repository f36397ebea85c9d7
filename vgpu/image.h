/*
 * image.h - a checked module in device memory: its .global, .const and managed variables get
 * storage, addresses and initial bytes. Lowers nothing and knows no API. Invariant: once placed,
 * ptx_var.offset is the device address and ptx_var.owner the struct alloc.
 */
#ifndef VGPU_IMAGE_H
#define VGPU_IMAGE_H

#include "mem.h"
#include "ptx.h"

enum { CONST_BANK_BYTES = 65536 };

/* Places every variable of `m`, also those inside functions. On failure says why in err and leaves
 * nothing behind. Shared and local variables are not touched: lower.c places them. */
bool image_place(struct space *s, struct ptx_module *m, char *err, size_t err_size);
/* Gives the storage back; `launch` is recorded as the time of the free. Accepts a module that was
 * never placed. */
void image_remove(struct space *s, struct ptx_module *m, uint64_t launch);
/* The allocation of a placed variable, NULL before. */
struct alloc *image_alloc(const struct ptx_var *v);
/* Module variable by name; NULL when there is none in global or constant memory. */
struct ptx_var *image_find(const struct ptx_module *m, const char *name);

#endif

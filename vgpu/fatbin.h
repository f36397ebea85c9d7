/*
 * fatbin.h - from the container that nvcc embeds to the PTX text the virtual GPU runs, or to a
 * refusal that says what to change. Parses no PTX and decompresses nothing. Invariant: every read
 * stays inside the size given or announced; bytes are never overlaid by structs.
 */
#ifndef VGPU_FATBIN_H
#define VGPU_FATBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define FATBIN_WRAPPER_MAGIC 0x466243b1u
#define FATBIN_MAGIC         0xba55ed50u

enum fatbin_status {
    FATBIN_OK,     /* ptx is set */
    FATBIN_EMPTY,  /* a container without entries: nvcc makes them, nothing is wrong */
    FATBIN_REFUSED /* refusal is set */
};

struct fatbin {
    enum fatbin_status status;
    const char *ptx; /* into the container; not NUL-terminated */
    size_t ptx_len;
    unsigned ptx_arch; /* 90 for sm_90 and sm_90a */
    const unsigned char
        *elf; /* machine code for exactly `max_arch`, or NULL: read for its register counts only */
    size_t elf_len;
    char refusal[256];
};

/* Reads a container. `limit`: bytes that may be read at most; SIZE_MAX when the container's own
 * header is trusted (inside a process). Chooses the PTX of the highest architecture up to
 * `max_arch`. */
void fatbin_read(struct fatbin *out, const void *container, size_t limit, unsigned max_arch);
/* The container behind the wrapper that __cudaRegisterFatBinary gets, or NULL when it is no
 * wrapper. */
const void *fatbin_container(const void *wrapper);
/* Bytes of the container with its header, 0 when it is none. */
size_t fatbin_size(const void *container);
/* Registers per thread of a kernel according to ptxas, from an ELF image; 0 when the image does not
 * say. */
unsigned fatbin_registers(const unsigned char *elf, size_t len, const char *kernel);

#endif

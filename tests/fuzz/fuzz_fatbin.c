/*
 * fuzz_fatbin.c - hostile fatbin containers and ELF images: no read outside, a text that lies
 * inside, or a refusal with words.
 */
#include "fatbin.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void inside(const uint8_t *data, size_t size, const void *p, size_t len)
{
    const uint8_t *at = p;

    if (at < data || len > size || at > data + (size - len))
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fatbin f;

    fatbin_read(&f, data, size, 90);
    if (f.status == FATBIN_OK)
        inside(data, size, f.ptx, f.ptx_len);
    else if (f.ptx || (f.status == FATBIN_REFUSED && f.refusal[0] == '\0'))
        abort();
    if (f.elf) {
        inside(data, size, f.elf, f.elf_len);
        (void)fatbin_registers(f.elf, f.elf_len, "_Z1kv");
    }
    (void)fatbin_registers(data, size, "_Z1kv");
    return 0;
}

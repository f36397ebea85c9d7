/*
 * elfread.h - what a shared object needs and exports, read from its bytes without loading it.
 * Reads ELF64 little-endian files; trusts no offset. Never maps code as executable.
 */
#ifndef HARNESS_ELFREAD_H
#define HARNESS_ELFREAD_H

#include "arena.h"
#include "diag.h"

struct elf_facts {
    const char *const *needed;    /* DT_NEEDED names, NULL-terminated */
    const char *const *defined;   /* exported functions of .dynsym, NULL-terminated */
    const char *const *undefined; /* symbols that other libraries must define, NULL-terminated */
};

/* STATUS_BAD_DATA with the offset of what is malformed. `name` is for messages. */
enum status elf_read(struct elf_facts *out, struct arena *a, const unsigned char *bytes,
                     size_t size, const char *name, struct diag *d) MUST_CHECK;
bool elf_has(const char *const *list, const char *name);

#endif

/*
 * elfread.c - section headers, dynamic section and dynamic symbols (System V ABI, chapters 4 and
 * 5). Copies structures out of the bytes, never overlays them. Invariant: every access is inside
 * the file.
 */
#include "elfread.h"

#include <elf.h>
#include <stdint.h>
#include <string.h>

struct image {
    const unsigned char *bytes;
    size_t size;
    const char *name;
    struct diag *d;
    Elf64_Ehdr head;
};

static enum status broken(const struct image *m, uint64_t offset, const char *what)
{
    return diag_at(m->d, STATUS_BAD_DATA, m->name, 0, 0, "%s at offset %llu", what,
                   (unsigned long long)offset);
}

static enum status copy_at(const struct image *m, uint64_t offset, void *out, size_t len)
{
    if (offset > m->size || len > m->size - offset)
        return broken(m, offset, "the file ends inside a structure");
    memcpy(out, m->bytes + offset, len);
    return STATUS_OK;
}

/* Section `index`, its bytes known to lie in the file. */
static enum status section_at(const struct image *m, uint32_t index, Elf64_Shdr *out)
{
    if (index >= m->head.e_shnum || m->head.e_shentsize != sizeof *out)
        return broken(m, m->head.e_shoff, "bad section index or size");
    if (m->head.e_shoff > m->size) /* keeps the sum below from wrapping */
        return broken(m, m->head.e_shoff, "section table outside the file");
    TRY(copy_at(m, m->head.e_shoff + (uint64_t)index * sizeof *out, out, sizeof *out));
    if (out->sh_type != SHT_NOBITS &&
        (out->sh_offset > m->size || out->sh_size > m->size - out->sh_offset))
        return broken(m, out->sh_offset, "section outside the file");
    return STATUS_OK;
}

static enum status find_section(const struct image *m, uint32_t type, Elf64_Shdr *out, bool *found)
{
    *found = false;
    for (uint32_t i = 0; i < m->head.e_shnum && !*found; i++) {
        TRY(section_at(m, i, out));
        *found = out->sh_type == type;
    }
    return STATUS_OK;
}

/* A terminated string of a string table section. */
static enum status string_at(const char **out, struct arena *a, const struct image *m,
                             const Elf64_Shdr *table, uint64_t at)
{
    if (table->sh_type != SHT_STRTAB || at >= table->sh_size ||
        !memchr(m->bytes + table->sh_offset + at, '\0', table->sh_size - at))
        return broken(m, table->sh_offset, "bad string");
    *out = arena_strdup(a, (const char *)m->bytes + table->sh_offset + at);
    return *out ? STATUS_OK : diag_set(m->d, STATUS_NOMEM, "out of memory");
}

static enum status read_needed(struct elf_facts *out, struct arena *a, const struct image *m)
{
    Elf64_Shdr s, strings;
    const char **list;
    size_t count, n = 0;
    bool found;

    TRY(find_section(m, SHT_DYNAMIC, &s, &found));
    if (!found)
        return broken(m, 0, "no dynamic section");
    TRY(section_at(m, s.sh_link, &strings));
    count = s.sh_size / sizeof(Elf64_Dyn);
    list = arena_array(a, count + 1, sizeof *list);
    if (!list)
        return diag_set(m->d, STATUS_NOMEM, "out of memory");
    for (size_t i = 0; i < count; i++) {
        Elf64_Dyn e;

        TRY(copy_at(m, s.sh_offset + i * sizeof e, &e, sizeof e));
        if (e.d_tag == DT_NULL)
            break;
        if (e.d_tag == DT_NEEDED)
            TRY(string_at(&list[n++], a, m, &strings, e.d_un.d_val));
    }
    out->needed = list;
    return STATUS_OK;
}

static enum status read_symbols(struct elf_facts *out, struct arena *a, const struct image *m)
{
    Elf64_Shdr s, strings;
    const char **defined, **undefined;
    size_t count, n = 0, u = 0;
    bool found;

    TRY(find_section(m, SHT_DYNSYM, &s, &found));
    if (!found)
        return broken(m, 0, "no dynamic symbols");
    TRY(section_at(m, s.sh_link, &strings));
    count = s.sh_size / sizeof(Elf64_Sym);
    defined = arena_array(a, count + 1, sizeof *defined);
    undefined = arena_array(a, count + 1, sizeof *undefined);
    if (!defined || !undefined)
        return diag_set(m->d, STATUS_NOMEM, "out of memory");
    for (size_t i = 1; i < count; i++) { /* 0 is reserved */
        Elf64_Sym y;
        unsigned bind, type;

        TRY(copy_at(m, s.sh_offset + i * sizeof y, &y, sizeof y));
        bind = ELF64_ST_BIND(y.st_info);
        type = ELF64_ST_TYPE(y.st_info);
        if (bind != STB_GLOBAL && bind != STB_WEAK)
            continue;
        if (y.st_shndx == SHN_UNDEF && bind == STB_GLOBAL)
            TRY(string_at(&undefined[u++], a, m, &strings, y.st_name));
        else if (y.st_shndx != SHN_UNDEF && type == STT_FUNC)
            TRY(string_at(&defined[n++], a, m, &strings, y.st_name));
    }
    out->defined = defined;
    out->undefined = undefined;
    return STATUS_OK;
}

enum status elf_read(struct elf_facts *out, struct arena *a, const unsigned char *bytes,
                     size_t size, const char *name, struct diag *d)
{
    struct image m = {.bytes = bytes, .size = size, .name = name, .d = d};
    struct elf_facts f = {0};

    TRY(copy_at(&m, 0, &m.head, sizeof m.head));
    if (memcmp(m.head.e_ident, ELFMAG, SELFMAG) != 0 || m.head.e_ident[EI_CLASS] != ELFCLASS64 ||
        m.head.e_ident[EI_DATA] != ELFDATA2LSB || m.head.e_type != ET_DYN)
        return broken(&m, 0, "no 64-bit shared object");
    TRY(read_needed(&f, a, &m));
    TRY(read_symbols(&f, a, &m));
    *out = f;
    return STATUS_OK;
}

bool elf_has(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

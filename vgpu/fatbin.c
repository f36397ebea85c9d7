/*
 * fatbin.c - reader of fatbin containers and of the one attribute of an ELF image that occupancy
 * needs. Layouts were taken from objects that nvcc 13.0 wrote; what is not understood is refused.
 * Invariant: see fatbin.h.
 */
#include "fatbin.h"

#include <stdio.h>
#include <string.h>

/* Container header and fields of an entry, as byte offsets. */
enum {
    CONTAINER_VERSION = 4,
    CONTAINER_HEADER = 6,
    CONTAINER_SIZE = 8,
    CONTAINER_MIN = 16,
    ENTRY_KIND = 0,
    ENTRY_HEADER = 4,
    ENTRY_PAYLOAD = 8,
    ENTRY_PACKED_SIZE = 16,
    ENTRY_ARCH = 28,
    ENTRY_FLAGS = 40,
    ENTRY_MIN = 64,
    KIND_PTX = 1,
    KIND_ELF = 2
};
static const uint64_t flag_lz4 = 0x2000, flag_zstd = 0x8000;

static uint16_t get16(const unsigned char *p) { return (uint16_t)(p[0] | p[1] << 8); }

static uint32_t get32(const unsigned char *p) { return get16(p) | (uint32_t)get16(p + 2) << 16; }

static uint64_t get64(const unsigned char *p) { return get32(p) | (uint64_t)get32(p + 4) << 32; }

const void *fatbin_container(const void *wrapper)
{
    const unsigned char *w = wrapper;
    const void *container = NULL;

    if (!w || get32(w) != FATBIN_WRAPPER_MAGIC)
        return NULL;
    memcpy(&container, w + 8, sizeof container);
    return container;
}

size_t fatbin_size(const void *container)
{
    const unsigned char *c = container;

    if (!c || get32(c) != FATBIN_MAGIC)
        return 0;
    return (size_t)(get16(c + CONTAINER_HEADER) + get64(c + CONTAINER_SIZE));
}

static void refuse(struct fatbin *f, const char *why)
{
    f->status = FATBIN_REFUSED;
    f->ptx = NULL;
    snprintf(f->refusal, sizeof f->refusal, "%s", why);
}

/* One entry, already inside its bounds. */
struct entry {
    unsigned kind, arch;
    uint64_t flags;
    const unsigned char *payload;
    size_t size;
    bool packed;
};

/* Reads the entry at `p`; returns its whole size, 0 when it is malformed. */
static size_t read_entry(const unsigned char *p, size_t left, struct entry *e)
{
    if (left < ENTRY_MIN)
        return 0;
    const size_t header = get32(p + ENTRY_HEADER);
    const uint64_t payload = get64(p + ENTRY_PAYLOAD);
    if (header < ENTRY_MIN || header > left || payload > left - header)
        return 0;
    *e = (struct entry){.kind = get16(p + ENTRY_KIND),
                        .arch = get32(p + ENTRY_ARCH),
                        .flags = get64(p + ENTRY_FLAGS),
                        .payload = p + header,
                        .size = (size_t)payload};
    e->packed = (e->flags & (flag_lz4 | flag_zstd)) != 0 || get32(p + ENTRY_PACKED_SIZE) != 0;
    return header + (size_t)payload;
}

/* The text ends at its first NUL: the payload is padded. */
static size_t text_len(const struct entry *e)
{
    const unsigned char *nul = memchr(e->payload, 0, e->size);

    return nul ? (size_t)(nul - e->payload) : e->size;
}

struct choice {
    struct entry best;
    bool found, any_ptx, any_elf;
    unsigned lowest; /* architecture of the PTX that is too new */
};

static void weigh(struct choice *c, struct fatbin *out, const struct entry *e, unsigned max_arch)
{
    if (e->kind == KIND_ELF) {
        c->any_elf = true;
        if (e->arch == max_arch && !e->packed) {
            out->elf = e->payload;
            out->elf_len = e->size;
        }
        return;
    }
    c->any_ptx = true;
    if (e->arch > max_arch) {
        if (c->lowest == 0 || e->arch < c->lowest)
            c->lowest = e->arch;
        return;
    }
    /* An unpacked text is preferred to a packed one of the same architecture. */
    if (!c->found || e->arch > c->best.arch || (e->arch == c->best.arch && c->best.packed)) {
        c->best = *e;
        c->found = true;
    }
}

static void decide(struct fatbin *out, const struct choice *c)
{
    if (c->found && c->best.packed) {
        refuse(out, "the PTX is compressed: compile with --compress-mode=none");
    } else if (c->found) {
        out->status = FATBIN_OK;
        out->ptx = (const char *)c->best.payload;
        out->ptx_len = text_len(&c->best);
        out->ptx_arch = c->best.arch;
    } else if (c->any_ptx) {
        refuse(out, "");
        snprintf(
            out->refusal, sizeof out->refusal,
            "the PTX needs sm_%u or newer: compile with -gencode arch=compute_90a,code=compute_90a",
            c->lowest);
    } else if (c->any_elf) {
        refuse(out, "there is no PTX, only machine code: compile with "
                    "-gencode arch=compute_90a,code=compute_90a");
    }
}

void fatbin_read(struct fatbin *out, const void *container, size_t limit, unsigned max_arch)
{
    const unsigned char *c = container;
    struct choice choice = {0};

    *out = (struct fatbin){.status = FATBIN_EMPTY};
    if (!c || limit < CONTAINER_MIN || get32(c) != FATBIN_MAGIC) {
        refuse(out, "not a fatbin container");
        return;
    }
    const size_t header = get16(c + CONTAINER_HEADER);
    const uint64_t size = get64(c + CONTAINER_SIZE);
    if (get16(c + CONTAINER_VERSION) != 1 || header < CONTAINER_MIN || header > limit ||
        size > limit - header) {
        refuse(out, "fatbin container of an unknown layout");
        return;
    }
    for (size_t at = 0; at < size;) {
        struct entry e;
        const size_t n = read_entry(c + header + at, (size_t)size - at, &e);
        if (n == 0 || (e.kind != KIND_PTX && e.kind != KIND_ELF)) {
            refuse(out, "fatbin entry of an unknown layout");
            return;
        }
        weigh(&choice, out, &e, max_arch);
        at += (n + 7) / 8 * 8;
    }
    decide(out, &choice);
}

/* ---- register counts ---- */

/* ELF64 offsets: file header, section header, symbol; NVIDIA's attribute for registers per thread.
 */
enum {
    ELF_SECTIONS_AT = 40,
    ELF_SECTION_SIZE = 58,
    ELF_SECTION_COUNT = 60,
    ELF_MIN = 64,
    SECTION_TYPE = 4,
    SECTION_OFFSET = 24,
    SECTION_BYTES = 32,
    SECTION_LINK = 40,
    SECTION_MIN = 64,
    SYMBOL_SIZE = 24,
    TYPE_SYMTAB = 2,
    TYPE_NVINFO = 0x70000000,
    FORMAT_SIZED = 4,
    ATTRIBUTE_REGCOUNT = 0x2f
};

struct span {
    const unsigned char *p;
    size_t size;
    unsigned link;
};

struct elf {
    const unsigned char *p;
    size_t len, table, count;
};

static bool elf_open(struct elf *e, const unsigned char *p, size_t len)
{
    if (len < ELF_MIN || memcmp(p, "\177ELF\2\1", 6) != 0 ||
        get16(p + ELF_SECTION_SIZE) != SECTION_MIN)
        return false;
    const uint64_t table = get64(p + ELF_SECTIONS_AT);
    const size_t count = get16(p + ELF_SECTION_COUNT);
    if (table > len || count > (len - (size_t)table) / SECTION_MIN)
        return false;
    *e = (struct elf){p, len, (size_t)table, count};
    return true;
}

static bool elf_section(const struct elf *e, size_t n, uint32_t *type, struct span *out)
{
    if (n >= e->count)
        return false;
    const unsigned char *s = e->p + e->table + n * SECTION_MIN;
    const uint64_t at = get64(s + SECTION_OFFSET), size = get64(s + SECTION_BYTES);
    *type = get32(s + SECTION_TYPE);
    if (at > e->len || size > e->len - at)
        return false;
    *out = (struct span){e->p + at, (size_t)size, get32(s + SECTION_LINK)};
    return true;
}

static bool symbol_is(const struct elf *e, const struct span *symbols, uint32_t index,
                      const char *name)
{
    struct span strings;
    uint32_t type = 0;

    if (index >= symbols->size / SYMBOL_SIZE || !elf_section(e, symbols->link, &type, &strings))
        return false;
    const uint32_t at = get32(symbols->p + (size_t)index * SYMBOL_SIZE);
    const size_t len = strlen(name);
    return at < strings.size && len < strings.size - at &&
           memcmp(strings.p + at, name, len + 1) == 0;
}

/* Records of .nv.info: format, attribute, then 16 bits: a value, or the size of what follows. */
static unsigned find_regcount(const struct elf *e, const struct span *info,
                              const struct span *symbols, const char *kernel)
{
    for (size_t at = 0; at + 4 <= info->size;) {
        const unsigned char *r = info->p + at;
        const size_t body = r[0] == FORMAT_SIZED ? get16(r + 2) : 0;
        if (body > info->size - at - 4)
            return 0;
        if (r[0] == FORMAT_SIZED && r[1] == ATTRIBUTE_REGCOUNT && body == 8 &&
            symbol_is(e, symbols, get32(r + 4), kernel))
            return get32(r + 8);
        at += 4 + body;
    }
    return 0;
}

unsigned fatbin_registers(const unsigned char *elf, size_t len, const char *kernel)
{
    struct elf e;
    uint32_t type = 0;
    struct span info, symbols;

    if (!elf || !elf_open(&e, elf, len))
        return 0;
    for (size_t i = 0; i < e.count; i++) {
        if (!elf_section(&e, i, &type, &info) || type != TYPE_NVINFO)
            continue;
        if (!elf_section(&e, info.link, &type, &symbols) || type != TYPE_SYMTAB)
            continue;
        const unsigned n = find_regcount(&e, &info, &symbols, kernel);
        if (n)
            return n;
    }
    return 0;
}

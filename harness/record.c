/*
 * record.c - seals and checks the messages of record.h. Does no I/O and decides no verdict.
 * Invariant: the check functions read only the bytes they were given and accept nothing whose
 * lengths could lead a reader outside the shared memory or the input file.
 */
#include "record.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct param_facts) == 64, "wire layout");
_Static_assert(sizeof(struct record) == 1584, "wire layout");
_Static_assert(sizeof(struct command_param) == 120, "wire layout");
_Static_assert(sizeof(struct record_facts) == 288, "wire layout");
_Static_assert(sizeof(struct record_fault) <= RECORD_OUTPUTS_BEGIN, "the fault page holds it");
_Static_assert(offsetof(struct record, crc) + sizeof(uint32_t) == sizeof(struct record),
               "the CRC is last");
_Static_assert(offsetof(struct command, crc) + sizeof(uint32_t) == sizeof(struct command),
               "the CRC is last");

/* ---- CRC-32C ---- */

#define CRC_POLYNOMIAL 0x82f63b78u /* Castagnoli, bit-reversed: x86 has an instruction for it */

static uint32_t crc_by_nibbles(uint32_t crc, const unsigned char *p, size_t size)
{
    /* 16 entries, remade per call: 128 shifts are noise beside the bytes, and no table needs
     * initialising or guarding against threads. */
    uint32_t table[16];

    for (uint32_t i = 0; i < 16; i++) {
        uint32_t v = i;
        for (int bit = 0; bit < 4; bit++)
            v = (v >> 1) ^ ((v & 1u) ? CRC_POLYNOMIAL : 0u);
        table[i] = v;
    }
    for (size_t i = 0; i < size; i++) {
        crc ^= p[i];
        crc = (crc >> 4) ^ table[crc & 15u];
        crc = (crc >> 4) ^ table[crc & 15u];
    }
    return crc;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t
crc_by_instruction(uint32_t crc, const unsigned char *p, size_t size)
{
    uint64_t wide = crc;

    for (; size >= 8; p += 8, size -= 8) {
        uint64_t word;
        memcpy(&word, p, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; size > 0; p++, size--)
        crc = __builtin_ia32_crc32qi(crc, *p);
    return crc;
}
#endif

uint32_t record_crc(uint32_t crc, const void *data, size_t size)
{
    crc = ~crc;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("sse4.2"))
        return ~crc_by_instruction(crc, data, size);
#endif
    return ~crc_by_nibbles(crc, data, size);
}

/* ---- element types ---- */

size_t record_type_size(uint32_t type)
{
    static const unsigned char sizes[RECORD_TYPE_COUNT] = {
        [RECORD_F64] = 8, [RECORD_F32] = 4, [RECORD_F16] = 2, [RECORD_BF16] = 2, [RECORD_I64] = 8,
        [RECORD_I32] = 4, [RECORD_U32] = 4, [RECORD_I8] = 1,  [RECORD_U8] = 1};

    return type < RECORD_TYPE_COUNT ? sizes[type] : 0;
}

uint64_t record_poison(enum record_type type, unsigned kind)
{
    /* Kind 0 of floats: a quiet NaN with a payload that no arithmetic produces. Kind 1: large and
     * finite, because max() and fmaxf() hide a NaN. */
    const bool first = kind == 0;

    switch (type) {
    case RECORD_F64:
        return first ? UINT64_C(0x7ffca5a5a5a5a5a5) : UINT64_C(0x7feca5a5a5a5a5a5);
    case RECORD_F32:
        return first ? 0x7fe5a5a5u : 0x7f61a5a5u;
    case RECORD_F16:
        return first ? 0x7ea5u : 0x7ba5u;
    case RECORD_BF16:
        return first ? 0x7fe5u : 0x7f61u;
    case RECORD_I64:
        return first ? UINT64_C(0xa5a5a5a5a5a5a5a5) : UINT64_C(0x5a5a5a5a5a5a5a5a);
    case RECORD_I32:
    case RECORD_U32:
        return first ? 0xa5a5a5a5u : 0x5a5a5a5au;
    case RECORD_I8:
    case RECORD_U8:
    case RECORD_TYPE_COUNT:
        break;
    }
    return first ? 0xa5u : 0x5au;
}

/* ---- digests ---- */

bool record_digestible(uint32_t type)
{
    return type == RECORD_F32 || type == RECORD_I32 || type == RECORD_U32;
}

uint64_t record_slot_size(const struct command_param *p)
{
    return p->digest != 0 ? sizeof(uint64_t) : p->count * record_type_size(p->type);
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014) over place, key and bits. */
static uint64_t digest_mix(uint64_t index, uint64_t key, uint32_t bits)
{
    uint64_t z = index * UINT64_C(0x9e3779b97f4a7c15) + key + bits;

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t record_digest(enum record_type type, const void *data, uint64_t first, uint64_t count,
                       int exponent, uint64_t key)
{
    const bool is_float = type == RECORD_F32;
    const float factor = is_float ? ldexpf(1.0f, -exponent) : 1.0f;
    const unsigned char *bytes = data;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        float value;

        memcpy(&bits, bytes + i * sizeof bits, sizeof bits);
        memcpy(&value, &bits, sizeof value);
        if (is_float && exponent != 0 && !isnan(value)) {
            value *= factor;
            memcpy(&bits, &value, sizeof bits);
        }
        if (is_float && bits == 0x80000000u)
            bits = 0;
        sum += digest_mix(first + i, key, bits);
    }
    return sum;
}

/* ---- commands ---- */

void command_seal(struct command *c, uint64_t sequence, uint64_t nonce)
{
    c->format = RECORD_FORMAT;
    c->sequence = sequence;
    c->nonce = nonce;
    c->crc = record_crc(0, c, offsetof(struct command, crc));
}

static bool inside(uint64_t begin, uint64_t size, uint64_t limit)
{
    return begin <= limit && size <= limit - begin;
}

static bool slot_fits(uint64_t slot, uint64_t size, uint64_t shared_size)
{
    return slot >= RECORD_OUTPUTS_BEGIN && slot % RECORD_SLOT_ALIGN == 0 &&
           inside(slot, size, shared_size);
}

static const char *param_check(const struct command *c, const struct command_param *p)
{
    const uint64_t element = record_type_size(p->type);
    const uint64_t most = UINT64_C(1) << 48; /* no device holds more; keeps every product small */
    uint64_t size;

    if (element == 0)
        return "unknown element type";
    if (p->dir > RECORD_INOUT || p->space_host > 1 || p->scalar > 1)
        return "bad direction, space or kind of a parameter";
    if (memchr(p->name, '\0', sizeof p->name) == NULL)
        return "unterminated parameter name";
    if (p->scalar != 0)
        return p->dir == RECORD_IN ? NULL : "a scalar that is not an input";
    if (p->count > most || p->offset > most)
        return "tensor too large";
    if (p->exponent < -1000 || p->exponent > 1000 || p->exponent2 < -1000 || p->exponent2 > 1000)
        return "exponent out of range";
    if (p->digest > 1 || (p->digest != 0 && (p->dir == RECORD_IN || c->op != COMMAND_TIME ||
                                             !record_digestible(p->type))))
        return "a digest of something that has none";
    size = p->count * element;
    if (p->dir != RECORD_OUT && !inside(p->file_begin, size, c->file_size))
        return "input outside the case file";
    if (p->dir != RECORD_OUT && p->file_begin % element != 0)
        return "misplaced input";
    if (p->dir == RECORD_IN)
        return NULL;
    size = record_slot_size(p);
    if (c->op == COMMAND_TIME && (c->flags & COMMAND_FLAG_HOT) != 0) {
        const uint64_t stride =
            (size + RECORD_SLOT_ALIGN - 1) / RECORD_SLOT_ALIGN * RECORD_SLOT_ALIGN;
        return c->copies <= UINT64_C(65536) &&
                       slot_fits(p->slot, stride * c->copies, c->shared_size)
                   ? NULL
                   : "output slots outside the shared memory";
    }
    if (!slot_fits(p->slot, size, c->shared_size))
        return "output slot outside the shared memory";
    if (c->op == COMMAND_CALL && !slot_fits(p->slot_early, size, c->shared_size))
        return "early slot outside the shared memory";
    if ((c->flags & COMMAND_FLAG_REREAD) != 0 && !slot_fits(p->slot_previous, size, c->shared_size))
        return "previous slot outside the shared memory";
    return NULL;
}

const char *command_check(const struct command *c, size_t size)
{
    if (size != sizeof *c)
        return "wrong length";
    if (c->crc != record_crc(0, c, offsetof(struct command, crc)))
        return "wrong CRC";
    if (c->format != RECORD_FORMAT)
        return "wrong format number";
    if (c->op < COMMAND_START || c->op > COMMAND_BYE)
        return "unknown operation";
    if ((c->flags & ~COMMAND_FLAGS_ALL) != 0 || c->backend > RECORD_STANDIN)
        return "unknown flag or backend";
    if (c->param_count > RECORD_MAX_PARAMS || c->address_set > 1 || c->poison_kind > 1)
        return "parameter count, address set or poison kind out of range";
    if (c->shared_size < RECORD_OUTPUTS_BEGIN || c->slab_step % 256 != 0)
        return "shared memory too small, or a slab step that is no multiple of 256";
    if (memchr(c->path, '\0', sizeof c->path) == NULL)
        return "unterminated path";
    if (c->op == COMMAND_TIME && (c->flags & COMMAND_FLAG_HOT) != 0 &&
        (c->repeats < 2 || c->repeats % 2 != 0 || c->copies < 2 || c->copies % 2 != 0 ||
         c->copies > c->repeats))
        return "repeats and copies of a hot sample must be even, copies at most repeats";
    if (c->op != COMMAND_CALL && c->op != COMMAND_TIME && c->op != COMMAND_OUTPUTS)
        return NULL;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const char *wrong = param_check(c, &c->params[i]);
        if (wrong != NULL)
            return wrong;
    }
    return NULL;
}

/* ---- records ---- */

static uint32_t record_sum(const struct record *r, const struct record_span *spans, unsigned count)
{
    uint32_t crc = record_crc(0, r, offsetof(struct record, crc));

    for (unsigned i = 0; i < count; i++)
        crc = record_crc(crc, spans[i].data, spans[i].size);
    return crc;
}

void record_seal(struct record *r, uint64_t sequence, uint64_t nonce,
                 const struct record_span *spans, unsigned count)
{
    r->format = RECORD_FORMAT;
    r->sequence = sequence;
    r->nonce = nonce;
    r->crc = record_sum(r, spans, count);
}

/* Ends a text inside its field and leaves printable characters only: it goes to a terminal. */
static void text_clean(char *text, size_t size)
{
    size_t i = 0;

    for (; i + 1 < size && text[i] != '\0'; i++)
        if (text[i] < ' ' || text[i] > '~')
            text[i] = '?';
    memset(text + i, 0, size - i);
}

const char *record_check(struct record *r, size_t size, uint64_t sequence, uint64_t nonce,
                         const struct record_span *spans, unsigned count)
{
    if (size != sizeof *r)
        return "a record of the wrong length";
    if (r->format != RECORD_FORMAT)
        return "a record of another format";
    if (r->sequence != sequence)
        return "a record of another call";
    if (r->nonce != nonce)
        return "a record without this call's nonce";
    if (r->crc != record_sum(r, spans, count))
        return "a record whose CRC does not fit its bytes and outputs";
    if (r->status > RECORD_RETURNED || r->error_class > ERROR_BUDGET)
        return "a record with an unknown status";
    if (!isfinite(r->event_us) || r->event_us < 0 || !isfinite(r->spill_us) || r->spill_us < 0)
        return "a record with an impossible time";
    text_clean(r->error_name, sizeof r->error_name);
    text_clean(r->new_library, sizeof r->new_library);
    text_clean(r->text, sizeof r->text);
    return NULL;
}

static double number_read(double v) { return isfinite(v) && v >= 0 ? v : 0; }

void record_facts_read(struct device_facts *out, const struct record_facts *in)
{
    *out = (struct device_facts){
        .sm_count = in->sm_count,
        .l2_bytes = in->l2_bytes,
        .major = in->major,
        .minor = in->minor,
        .memory_bytes = in->memory_bytes,
        .clock_mhz = number_read(in->clock_mhz),
        .memory_clock_mhz = number_read(in->memory_clock_mhz),
        .bus_bits = number_read(in->bus_bits),
        .e0_us = number_read(in->e0_us),
        .read_tbs = number_read(in->read_tbs),
        .copy_tbs = number_read(in->copy_tbs),
        .is_virtual = in->is_virtual != 0,
    };
    memcpy(out->name, in->name, sizeof out->name);
    memcpy(out->driver, in->driver, sizeof out->driver);
    memcpy(out->runtime, in->runtime, sizeof out->runtime);
    memcpy(out->arch, in->arch, sizeof out->arch);
    text_clean(out->name, sizeof out->name);
    text_clean(out->driver, sizeof out->driver);
    text_clean(out->runtime, sizeof out->runtime);
    text_clean(out->arch, sizeof out->arch);
}

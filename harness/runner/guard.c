/*
 * guard.c - see guard.h. Small buffers (up to 1 MiB) move as one image with their guards; large
 * ones move in chunks, or on the device by the kit. Invariant: an image in staging and the device
 * memory it was sent to have the same layout.
 */
#include "guard.h"

#include "elements.h"
#include "xalloc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK       (UINT64_C(1) << 20) /* bytes of payload in one image; all sizes divide it */
#define STAGE       (CHUNK + 2 * GUARD_SIZE)
#define SLAB_FIRST  (UINT64_C(16) << 20) /* first size of a slab: most functional cases fit */
#define TIMED_SLACK (UINT64_C(1) << 20)  /* room for the slab steps of timed samples */

bool guard_open(struct guard *g, const struct cudalib *lib, const struct kit *kit, bool exact,
                bool no_poison, bool pinned, char *text, size_t size)
{
    unsigned char **buffers[] = {&g->image, &g->check, &g->pattern};

    memset(g, 0, sizeof *g);
    g->lib = lib;
    g->kit = kit;
    g->exact = exact;
    g->no_poison = no_poison;
    g->pinned = pinned && lib->cudaHostAlloc != NULL;
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++) {
        void *p = NULL;
        if (g->pinned) {
            if (!cudalib_ok(lib, lib->cudaHostAlloc(&p, STAGE, cudaHostAllocDefault),
                            "cudaHostAlloc", text, size))
                return false;
        } else if ((p = xalloc(STAGE)) == NULL) {
            snprintf(text, size, "no memory for staging buffers");
            return false;
        }
        *buffers[i] = p;
    }
    return true;
}

/* ---- copies ---- */

static cudaError_t copy_in(struct guard *g, void *dst, const void *src, uint64_t size, bool host)
{
    if (size == 0)
        return cudaSuccess;
    if (!host)
        return g->lib->cudaMemcpy(dst, src, size, cudaMemcpyHostToDevice);
    memcpy(dst, src, size);
    return cudaSuccess;
}

static cudaError_t copy_out(struct guard *g, void *dst, const void *src, uint64_t size, bool host)
{
    if (size == 0)
        return cudaSuccess;
    if (!host)
        return g->lib->cudaMemcpy(dst, src, size, cudaMemcpyDeviceToHost);
    memcpy(dst, src, size);
    return cudaSuccess;
}

static bool fine(const struct guard *g, cudaError_t e, const char *call, char *text, size_t size)
{
    return cudalib_ok(g->lib, e, call, text, size);
}

bool guard_fill(struct guard *g, unsigned char *dst, uint64_t size, bool host,
                enum record_type type, unsigned poison_kind, char *text, size_t text_size)
{
    uint64_t done = size < CHUNK ? size : CHUNK;

    elements_fill(g->image, done, type, record_poison(type, poison_kind));
    if (!fine(g, copy_in(g, dst, g->image, done, host), "cudaMemcpy of poison", text, text_size))
        return false;
    while (done < size) { /* doubles each time */
        const uint64_t step = done < size - done ? done : size - done;
        if (host)
            memcpy(dst + done, dst, step);
        else if (!fine(g, g->lib->cudaMemcpy(dst + done, dst, step, cudaMemcpyDeviceToDevice),
                       "cudaMemcpy of poison", text, text_size))
            return false;
        done += step;
    }
    return true;
}

/* ---- step 1: place ---- */

bool guard_reserve(struct guard *g, struct slab *slab, bool host, uint64_t size, char *text,
                   size_t text_size)
{
    uint64_t want = size < SLAB_FIRST ? SLAB_FIRST : size;
    void *p = NULL;

    if (size <= slab->size)
        return true;
    if (host) {
        if (posix_memalign(&p, GUARD_ALIGN, want) != 0) {
            snprintf(text, text_size, "no memory for %llu bytes of host buffers",
                     (unsigned long long)want);
            return false;
        }
        free(slab->base);
    } else {
        if (slab->base != NULL &&
            !fine(g, g->lib->cudaFree(slab->base), "cudaFree of a slab", text, text_size))
            return false;
        *slab = (struct slab){0};
        if (!fine(g, g->lib->cudaMalloc(&p, want), "cudaMalloc of a slab", text, text_size))
            return false;
    }
    *slab = (struct slab){p, want};
    return true;
}

static uint64_t align_up(uint64_t v) { return (v + GUARD_ALIGN - 1) / GUARD_ALIGN * GUARD_ALIGN; }

static uint64_t payload_size(const struct command_param *p)
{
    return p->count * record_type_size(p->type);
}

/* Takes room for one parameter; *cursor is an offset into its slab. Returns the payload's offset.
 */
static uint64_t room_take(uint64_t *cursor, const struct command_param *p)
{
    const uint64_t payload = align_up(*cursor + GUARD_SIZE) + p->offset * record_type_size(p->type);

    *cursor = payload + payload_size(p) + GUARD_SIZE;
    return payload;
}

static bool place_in_slabs(struct guard *g, const struct command *c, struct place_set *set,
                           char *text, size_t size)
{
    uint64_t cursor[2] = {c->slab_step, 0}, at[RECORD_MAX_PARAMS];

    for (uint32_t i = 0; i < c->param_count; i++)
        if (!c->params[i].scalar)
            at[i] = room_take(&cursor[c->params[i].space_host], &c->params[i]);
    if (c->op == COMMAND_TIME && c->slab_step < TIMED_SLACK)
        cursor[0] += TIMED_SLACK - c->slab_step; /* the same slab for every step */
    if (!guard_reserve(g, &set->device, false, cursor[0], text, size) ||
        (cursor[1] != 0 && !guard_reserve(g, &set->host, true, cursor[1], text, size)))
        return false;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        const struct slab *slab = p->space_host ? &set->host : &set->device;
        if (!p->scalar)
            set->places[i] = (struct place){
                .payload = slab->base + at[i], .size = payload_size(p), .host = p->space_host != 0};
    }
    return true;
}

static bool place_alone(struct guard *g, const struct command_param *p, struct place *place,
                        char *text, size_t size)
{
    const uint64_t lead = p->offset * record_type_size(p->type);
    const uint64_t total = lead + payload_size(p);
    void *base = NULL;

    if (p->space_host) {
        if (posix_memalign(&base, GUARD_ALIGN, total == 0 ? 1 : total) != 0) {
            snprintf(text, size, "no memory for host buffer '%s'", p->name);
            return false;
        }
    } else {
        /* One byte for an empty tensor: cudaMalloc(0) gives NULL, and an access is caught still. */
        if (!fine(g, g->lib->cudaMalloc(&base, total == 0 ? 1 : total), "cudaMalloc of a buffer",
                  text, size))
            return false;
        if (g->lib->vgpu_name != NULL)
            g->lib->vgpu_name(base, p->name);
    }
    *place = (struct place){.payload = (unsigned char *)base + lead,
                            .size = payload_size(p),
                            .host = p->space_host != 0,
                            .alone = true,
                            .base = base};
    return true;
}

/* An input of the same size keeps its allocation, so that calls A and C of a case meet the same
 * pointers; outputs are fresh, because their bytes must count as never written. */
static bool may_stay(const struct command *c, unsigned i, const struct place *place)
{
    const struct command_param *p = &c->params[i];

    return i < c->param_count && !p->scalar && p->dir == RECORD_IN && place->alone &&
           place->host == (p->space_host != 0) && place->size == payload_size(p) &&
           place->payload == place->base + p->offset * record_type_size(p->type);
}

static bool places_free(struct guard *g, const struct command *c, struct place_set *set, char *text,
                        size_t size)
{
    bool ok = true;

    for (unsigned i = 0; i < set->count; i++) {
        struct place *place = &set->places[i];
        if (may_stay(c, i, place))
            continue;
        if (place->alone && place->host)
            free(place->base);
        else if (place->alone)
            ok = fine(g, g->lib->cudaFree(place->base), "cudaFree of a buffer", text, size) && ok;
        *place = (struct place){0};
    }
    set->count = 0;
    return ok;
}

static bool place_all(struct guard *g, const struct command *c, struct place_set *set, char *text,
                      size_t size)
{
    if (!places_free(g, c, set, text, size))
        return false;
    set->count = c->param_count;
    if (!g->exact)
        return place_in_slabs(g, c, set, text, size);
    for (uint32_t i = 0; i < c->param_count; i++)
        if (!c->params[i].scalar && !set->places[i].alone &&
            !place_alone(g, &c->params[i], &set->places[i], text, size))
            return false;
    return true;
}

/* ---- step 2: fill ---- */

/* Whether the kit moves and checks this input: too large for one image. */
static bool on_device(const struct guard *g, const struct command_param *p)
{
    return g->kit != NULL && !p->space_host && payload_size(p) > CHUNK &&
           kit_handles((enum record_type)p->type, p->exponent);
}

/* Copies the large inputs of a new file to the device once, unscaled. */
static bool pristine_load(struct guard *g, const struct command *c, const struct case_bytes *file,
                          char *text, size_t size)
{
    uint64_t total = 0;

    if (g->kit == NULL || g->pristine_generation == file->generation)
        return true;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        g->pristine_at[i] = total;
        if (!p->scalar && p->dir != RECORD_OUT)
            total = align_up(total + payload_size(p));
    }
    if (!guard_reserve(g, &g->pristine, false, total, text, size))
        return false;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        if (p->scalar || p->dir == RECORD_OUT)
            continue;
        if (!fine(g,
                  copy_in(g, g->pristine.base + g->pristine_at[i], file->data + p->file_begin,
                          payload_size(p), false),
                  "cudaMemcpy of an input", text, size))
            return false;
    }
    g->pristine_generation = file->generation;
    return true;
}

/* A buffer that fits one image: guards and payload in one copy. */
static bool fill_small(struct guard *g, const struct command_param *p, const struct place *place,
                       const struct case_bytes *file, unsigned kind, char *text, size_t size)
{
    const enum record_type type = (enum record_type)p->type;
    const uint64_t edge = g->exact ? 0 : GUARD_SIZE;
    const uint64_t bits = record_poison(type, kind);

    if (p->dir == RECORD_OUT) {
        if (g->exact && g->no_poison)
            return true;
        elements_fill(g->image, place->size + 2 * edge, type, bits);
    } else {
        elements_fill(g->image, edge, type, bits);
        elements_scale(g->image + edge, file->data + p->file_begin, type, p->count, p->exponent);
        elements_fill(g->image + edge + place->size, edge, type, bits);
        g->host_bytes += place->size;
    }
    return fine(g, copy_in(g, place->payload - edge, g->image, place->size + 2 * edge, place->host),
                "cudaMemcpy of a buffer", text, size);
}

static bool fill_input_large(struct guard *g, const struct command_param *p, unsigned index,
                             const struct place *place, const struct case_bytes *file, char *text,
                             size_t size)
{
    const enum record_type type = (enum record_type)p->type;
    const uint64_t element = record_type_size(p->type);
    const unsigned char *src = file->data + p->file_begin;

    if (on_device(g, p))
        return fine(g,
                    kit_scale(g->kit, place->payload, g->pristine.base + g->pristine_at[index],
                              type, p->count, p->exponent),
                    "scaling an input", text, size);
    if (p->exponent == 0)
        return fine(g, copy_in(g, place->payload, src, place->size, place->host),
                    "cudaMemcpy of an input", text, size);
    for (uint64_t at = 0; at < place->size; at += CHUNK) {
        const uint64_t n = CHUNK < place->size - at ? CHUNK : place->size - at;
        elements_scale(g->image, src + at, type, n / element, p->exponent);
        g->host_bytes += n;
        if (!fine(g, copy_in(g, place->payload + at, g->image, n, place->host),
                  "cudaMemcpy of an input", text, size))
            return false;
    }
    return true;
}

static bool fill_large(struct guard *g, const struct command_param *p, unsigned index,
                       const struct place *place, const struct case_bytes *file, unsigned kind,
                       char *text, size_t size)
{
    const enum record_type type = (enum record_type)p->type;
    const uint64_t edge = g->exact ? 0 : GUARD_SIZE;

    if (p->dir == RECORD_OUT)
        return (g->exact && g->no_poison) ||
               guard_fill(g, place->payload - edge, place->size + 2 * edge, place->host, type, kind,
                          text, size);
    elements_fill(g->pattern, edge, type, record_poison(type, kind));
    return fine(g, copy_in(g, place->payload - edge, g->pattern, edge, place->host),
                "cudaMemcpy of a guard", text, size) &&
           fine(g, copy_in(g, place->payload + place->size, g->pattern, edge, place->host),
                "cudaMemcpy of a guard", text, size) &&
           fill_input_large(g, p, index, place, file, text, size);
}

bool guard_prepare(struct guard *g, const struct command *c, const struct case_bytes *file,
                   char *text, size_t size)
{
    struct place_set *set = &g->sets[c->address_set];

    g->host_bytes = 0;
    if (!place_all(g, c, set, text, size))
        return false;
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        const struct place *place = &set->places[i];
        if (p->scalar)
            continue;
        if (p->dir != RECORD_OUT && on_device(g, p) && !pristine_load(g, c, file, text, size))
            return false;
        if (!(place->size <= CHUNK ? fill_small(g, p, place, file, c->poison_kind, text, size)
                                   : fill_large(g, p, i, place, file, c->poison_kind, text, size)))
            return false;
    }
    return true;
}

void guard_pointers(const struct guard *g, unsigned set, void *pointers[RECORD_MAX_PARAMS],
                    struct fault_range ranges[RECORD_MAX_PARAMS])
{
    for (unsigned i = 0; i < RECORD_MAX_PARAMS; i++) {
        const struct place *place = &g->sets[set].places[i];
        const bool there = i < g->sets[set].count && place->payload != NULL;
        pointers[i] = there ? place->payload : NULL;
        ranges[i] = (struct fault_range){0};
        if (there && !place->host)
            ranges[i] = (struct fault_range){(uintptr_t)place->payload,
                                             (uintptr_t)place->payload + place->size};
    }
}

/* ---- steps 4, 6, 7: read back ---- */

static bool is_output(const struct command_param *p) { return !p->scalar && p->dir != RECORD_IN; }

/* By the kit where there is one, else in pieces through host memory. */
static cudaError_t digest_take(struct guard *g, const struct command *c,
                               const struct command_param *p, const unsigned char *data, bool host,
                               int exponent, uint64_t *out)
{
    const enum record_type type = (enum record_type)p->type;
    const uint64_t size = payload_size(p), element = record_type_size(p->type);

    *out = 0;
    if (g->kit != NULL && !host && kit_handles(type, exponent))
        return kit_digest(g->kit, data, type, p->count, exponent, c->digest_key, out);
    for (uint64_t at = 0; at < size; at += CHUNK) {
        const uint64_t n = CHUNK < size - at ? CHUNK : size - at;
        const cudaError_t e = copy_out(g, g->check, data + at, n, host);
        if (e != cudaSuccess)
            return e;
        *out += record_digest(type, g->check, at / element, n / element, exponent, c->digest_key);
    }
    return cudaSuccess;
}

cudaError_t guard_hand_over(struct guard *g, const struct command *c, const struct command_param *p,
                            const void *data, bool host, int exponent, unsigned char *to)
{
    uint64_t digest;
    cudaError_t e;

    if (p->digest == 0)
        return copy_out(g, to, data, payload_size(p), host);
    e = digest_take(g, c, p, data, host, exponent, &digest);
    if (e == cudaSuccess)
        memcpy(to, &digest, sizeof digest);
    return e;
}

cudaError_t guard_outputs(struct guard *g, const struct command *c, unsigned set,
                          unsigned char *shared, enum guard_slot slot)
{
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        const struct place *place = &g->sets[set].places[i];
        const uint64_t at = slot == GUARD_SLOT_LATE    ? p->slot
                            : slot == GUARD_SLOT_EARLY ? p->slot_early
                                                       : p->slot_previous;
        cudaError_t e;
        if (!is_output(p))
            continue;
        e = guard_hand_over(g, c, p, place->payload, place->host, p->exponent, shared + at);
        if (e != cudaSuccess)
            return e;
    }
    return cudaSuccess;
}

bool guard_holds(const struct guard *g, const struct command *c, unsigned set)
{
    const struct place_set *s = &g->sets[set];

    if (s->count != c->param_count)
        return false;
    for (uint32_t i = 0; i < c->param_count; i++)
        if (!c->params[i].scalar &&
            (s->places[i].payload == NULL || s->places[i].size != payload_size(&c->params[i])))
            return false;
    return true;
}

/* Compares the two guards in host memory with their pattern. */
static void guards_count(struct guard *g, const struct command_param *p, unsigned kind,
                         const unsigned char *before, const unsigned char *after,
                         struct param_facts *facts)
{
    const enum record_type type = (enum record_type)p->type;

    elements_fill(g->pattern, GUARD_SIZE, type, record_poison(type, kind));
    if (memcmp(before, g->pattern, GUARD_SIZE) != 0)
        for (uint32_t i = 0; i < GUARD_SIZE; i++)
            if (before[i] != g->pattern[i]) {
                facts->guard_hits_before++;
                facts->guard_first_before = (int64_t)i - (int64_t)GUARD_SIZE; /* last one stays */
            }
    if (memcmp(after, g->pattern, GUARD_SIZE) != 0)
        for (uint32_t i = GUARD_SIZE; i-- > 0;)
            if (after[i] != g->pattern[i]) {
                facts->guard_hits_after++;
                facts->guard_first_after = (int64_t)i;
            }
}

static bool verify_small(struct guard *g, const struct command_param *p, const struct place *place,
                         const struct case_bytes *file, unsigned kind, struct param_facts *facts,
                         char *text, size_t size)
{
    const enum record_type type = (enum record_type)p->type;
    const uint64_t edge = g->exact ? 0 : GUARD_SIZE;

    if (g->exact && p->dir != RECORD_IN)
        return true;
    if (!fine(g, copy_out(g, g->check, place->payload - edge, place->size + 2 * edge, place->host),
              "cudaMemcpy from a buffer", text, size))
        return false;
    if (!g->exact)
        guards_count(g, p, kind, g->check, g->check + edge + place->size, facts);
    if (p->dir == RECORD_IN) {
        elements_scale(g->image, file->data + p->file_begin, type, p->count, p->exponent);
        g->host_bytes += 2 * place->size;
        facts->input_changed = elements_differ(g->image, g->check + edge, record_type_size(p->type),
                                               p->count, &facts->input_first);
    }
    return true;
}

static bool verify_input_large(struct guard *g, const struct command_param *p, unsigned index,
                               const struct place *place, const struct case_bytes *file,
                               struct param_facts *facts, char *text, size_t size)
{
    const enum record_type type = (enum record_type)p->type;
    const uint64_t element = record_type_size(p->type);
    const unsigned char *src = file->data + p->file_begin;

    if (on_device(g, p))
        return fine(g,
                    kit_differ(g->kit, place->payload, g->pristine.base + g->pristine_at[index],
                               type, p->count, p->exponent, &facts->input_changed,
                               &facts->input_first),
                    "comparing an input", text, size);
    for (uint64_t at = 0; at < place->size; at += CHUNK) {
        const uint64_t n = CHUNK < place->size - at ? CHUNK : place->size - at;
        uint64_t first = 0, changed;
        if (!fine(g, copy_out(g, g->check, place->payload + at, n, place->host),
                  "cudaMemcpy from an input", text, size))
            return false;
        elements_scale(g->image, src + at, type, n / element, p->exponent);
        g->host_bytes += 2 * n;
        changed = elements_differ(g->image, g->check, element, n / element, &first);
        if (changed != 0 && facts->input_changed == 0)
            facts->input_first = at / element + first;
        facts->input_changed += changed;
    }
    return true;
}

static bool verify_large(struct guard *g, const struct command_param *p, unsigned index,
                         const struct place *place, const struct case_bytes *file, unsigned kind,
                         struct param_facts *facts, char *text, size_t size)
{
    if (!g->exact) {
        if (!fine(g, copy_out(g, g->check, place->payload - GUARD_SIZE, GUARD_SIZE, place->host),
                  "cudaMemcpy from a guard", text, size) ||
            !fine(g,
                  copy_out(g, g->check + GUARD_SIZE, place->payload + place->size, GUARD_SIZE,
                           place->host),
                  "cudaMemcpy from a guard", text, size))
            return false;
        guards_count(g, p, kind, g->check, g->check + GUARD_SIZE, facts);
    }
    return p->dir != RECORD_IN || verify_input_large(g, p, index, place, file, facts, text, size);
}

bool guard_verify(struct guard *g, const struct command *c, unsigned set,
                  const struct case_bytes *file, const unsigned char *shared, bool early,
                  struct param_facts facts[RECORD_MAX_PARAMS], char *text, size_t size)
{
    for (uint32_t i = 0; i < c->param_count; i++) {
        const struct command_param *p = &c->params[i];
        const struct place *place = &g->sets[set].places[i];
        if (p->scalar)
            continue;
        if (early && is_output(p))
            facts[i].late_elements =
                elements_differ(shared + p->slot_early, shared + p->slot, record_type_size(p->type),
                                p->count, &facts[i].late_first);
        if (!(place->size <= CHUNK
                  ? verify_small(g, p, place, file, c->poison_kind, &facts[i], text, size)
                  : verify_large(g, p, i, place, file, c->poison_kind, &facts[i], text, size)))
            return false;
    }
    return true;
}

/*
 * shadow.c - race records and initialised bytes of shared memory, word by word; see shadow.h for
 * the method. The vector loops over harmless accesses are in shadow_hot.h. Invariant: a finding
 * names two accesses of different threads, one of them a write, that nothing in the block orders;
 * when order cannot be told any more, the access counts as ordered.
 */
#include "shadow_hot.h"

#include "exec.h"
#include "lane_mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD = 4, SITE_LIMIT = 1 << 29, SYNC_STEPS = 2 };
#define NO_CELL UINT32_MAX

/* The record of one word, or of one byte of a split word. */
struct shadow_cell {
    uint32_t wt, ww, wl, ws, rt, rw, rl, rs; /* as the arrays of struct shared_shadow */
    uint32_t list;                           /* exact form */
};
struct shadow_entry {
    uint32_t time, warp, lanes, site;
    bool writes;
    bool some; /* some of the warp's lanes, it is not known which */
    uint32_t next;
};
/* What has been released at one address: known[] of the releasing warp, its own entry being the
 * time of the release. */
struct shadow_place {
    uint64_t key;
    uint32_t warps; /* that released */
    uint32_t *known;
};

/* ---- life ---- */
static void fini(struct shared_shadow *s)
{
    for (uint32_t i = 0; i < s->warp_cap; i++)
        free(s->warps[i].lanes);
    for (uint32_t i = 0; i < s->place_cap; i++)
        free(s->places[i].known);
    free(s->wt);
    free(s->list);
    free(s->warps);
    free(s->known);
    free(s->entries);
    free(s->cells);
    free(s->places);
    free(s->sites);
    free(s);
}

static struct shared_shadow *create(uint32_t words, uint32_t warps)
{
    struct shared_shadow *s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    const size_t stride =
        ((size_t)words + 15) & ~(size_t)15; /* each array starts at a cache line */
    uint32_t *all = aligned_alloc(64, (stride * 8 + 16) * sizeof *all);
    s->warps = calloc(warps, sizeof *s->warps);
    s->wt = all;
    if (!all || !s->warps) {
        fini(s);
        return NULL;
    }
    memset(all, 0, (stride * 8 + 16) * sizeof *all);
    s->ww = all + stride;
    s->wl = all + 2 * stride;
    s->ws = all + 3 * stride;
    s->rt = all + 4 * stride;
    s->rw = all + 5 * stride;
    s->rl = all + 6 * stride;
    s->rs = all + 7 * stride;
    s->word_cap = words;
    s->warp_cap = warps;
    s->now = 1;
    return s;
}

/* A fresh residence: everything recorded so far is older than its birth. */
static void start(struct shared_shadow *s)
{
    if (s->now > TIME_LAST / 2) { /* the clock would run out: forget all */
        const size_t stride = (size_t)(s->ww - s->wt);
        memset(s->wt, 0, stride * 8 * sizeof *s->wt);
        s->now = 1;
    }
    /* Split words and copies under way hold times that never age: the ones left over are cleared
     * one by one. */
    for (uint32_t k = 0; s->marked && k < s->word_cap; k++) {
        if (s->wt[k] >= TIME_ASYNC)
            s->wt[k] = s->rt[k] = 0;
    }
    s->marked = false;
    s->birth = s->now;
    s->full = s->race ? s->now + 1 : TIME_LAST;
    s->now += SYNC_STEPS;
    s->entry_count = s->entry_free = 0;
    s->cell_count = 0;
    s->cell_free = NO_CELL;
    for (uint32_t i = 0; i < s->place_cap; i++)
        s->places[i].warps = 0;
    s->place_count = 0;
    for (uint32_t i = 0; i < s->warp_cap; i++) {
        s->warps[i].sync = s->birth + 1;
        s->warps[i].fenced = 0;
        if (s->warps[i].lanes)
            memset(s->warps[i].lanes, 0, WARP_LANES * WARP_LANES * sizeof(uint32_t));
    }
    if (s->list)
        memset(s->list, 0, s->word_cap * sizeof *s->list);
    if (s->known)
        memset(s->known, 0, (size_t)s->warp_cap * s->warp_cap * sizeof *s->known);
}

static void become_exact(struct shared_shadow *s);

/* Does the code hold barriers that order only a part of the block? Then the exact form is needed
 * from the first access on. */
static bool orders_parts(const struct program *p, unsigned depth)
{
    for (uint32_t i = 0; i < p->code_count; i++) {
        const struct insn *in = &p->code[i];
        const struct ptx_inst *tree =
            in->tree < p->func->inst_count ? &p->func->insts[in->tree] : NULL;
        if (!tree || (in->cls != INSN_BARRIER && in->cls != INSN_ASYNC))
            continue;
        const enum ptx_form f = tree->form;
        const bool immediate = tree->operand_count > 0 && tree->operands[0].kind == PTX_OPND_IMM;
        if ((f == PTX_FORM_BAR_SYNC || f == PTX_FORM_BARRIER_SYNC) &&
            (tree->operand_count > 1 || !immediate))
            return true;
        if (f == PTX_FORM_BAR_WARP_SYNC && immediate &&
            (uint32_t)tree->operands[0].bits != FULL_MASK)
            return true;
        if (f == PTX_FORM_BAR_ARRIVE || f == PTX_FORM_BARRIER_ARRIVE || f == PTX_FORM_MBARRIER_INIT)
            return true;
    }
    for (uint32_t i = 0; i < p->callee_count && depth < 8; i++)
        if (p->callees[i] != p && orders_parts(p->callees[i], depth + 1))
            return true;
    return false;
}

struct shared_shadow *shadow_open(struct vg_arena *a, struct block *b, bool init, bool race)
{
    struct grid *g = b->grid;
    const uint32_t words = b->shared_size / WORD + 1;
    struct shared_shadow *s = g->unused_shadows;

    (void)a; /* shadows outlive the block: the next one takes them over */
    if (s && s->word_cap >= words && s->warp_cap >= b->warp_count)
        g->unused_shadows = s->next;
    else
        s = create(words, b->warp_count);
    if (!s)
        return NULL;
    s->init = init;
    s->race = race;
    if (race && !s->scanned && orders_parts(g->program, 0))
        become_exact(s);
    s->scanned = true;
    s->next = NULL;
    s->word_count = words;
    s->warp_count = b->warp_count;
    start(s);
    b->shadow = s;
    return s;
}

void shadow_close(struct block *b)
{
    if (!b->shadow)
        return;
    b->shadow->next = b->grid->unused_shadows;
    b->grid->unused_shadows = b->shadow;
    b->shadow = NULL;
}

void shadow_free_all(struct grid *g)
{
    while (g->unused_shadows) {
        struct shared_shadow *s = g->unused_shadows;
        g->unused_shadows = s->next;
        fini(s);
    }
}

/* ---- instructions as numbers ---- */
uint32_t shadow_site_find(struct shared_shadow *s, const struct program *p)
{
    uint32_t first = 1;

    for (uint32_t i = 0; i < s->site_count; i++) {
        if (s->sites[i].program == p) {
            s->site_program = p;
            s->site_first = s->sites[i].first;
            return s->site_first;
        }
        first = s->sites[i].first + s->sites[i].count;
    }
    if (s->site_count == s->site_cap) {
        const uint32_t cap = s->site_cap ? 2 * s->site_cap : 8;
        struct shadow_site *grown = realloc(s->sites, cap * sizeof *grown);
        if (!grown)
            return 0;
        s->sites = grown;
        s->site_cap = cap;
    }
    if (first + p->code_count >= SITE_LIMIT)
        return 0;
    s->sites[s->site_count++] = (struct shadow_site){p, first, p->code_count};
    s->site_program = p;
    s->site_first = first;
    return first;
}

/* The tree of a recorded instruction; NULL for one that is not known. */
static const struct ptx_inst *site_tree(const struct shared_shadow *s, uint32_t site)
{
    site &= SITE_MASK;
    for (uint32_t i = 0; i < s->site_count; i++) {
        if (site < s->sites[i].first || site - s->sites[i].first >= s->sites[i].count)
            continue;
        const struct program *p = s->sites[i].program;
        const uint32_t tree = p->code[site - s->sites[i].first].tree;
        return tree < p->func->inst_count ? &p->func->insts[tree] : NULL;
    }
    return NULL;
}

/* ---- order ---- */
struct access_of {             /* one access of one lane */
    uint32_t warp, lane, site; /* site with its flags */
    enum shadow_kind kind;     /* READ, WRITE, ATOMIC */
};

/* Are all of `lanes` of `warp` at `time` before what this lane does now? */
static bool ordered(const struct shared_shadow *s, const struct access_of *u, uint32_t time,
                    uint32_t warp, uint32_t lanes)
{
    if (time <= s->full)
        return true;
    if (warp != u->warp)
        return s->exact && time <= s->known[u->warp * s->warp_cap + warp];
    const struct shadow_warp *sw = &s->warps[warp];
    uint32_t others = lanes & ~(1u << u->lane);
    if (others == 0 || time <= sw->sync)
        return true;
    if (!sw->lanes)
        return false;
    for (; others; others &= others - 1) {
        if (sw->lanes[u->lane * WARP_LANES + (uint32_t)__builtin_ctz(others)] < time)
            return false;
    }
    return true;
}

/* Accesses that may happen at once without being a race: both strong, or both volatile in different
 * warps. */
static bool exempt(const struct access_of *u, uint32_t site, bool other_warp)
{
    if ((u->site & SITE_STRONG) && (site & SITE_STRONG))
        return true;
    const uint32_t loose = SITE_STRONG | SITE_VOLATILE;
    return other_warp && (u->site & loose) && (site & loose);
}

struct conflict {
    bool found, write;
    uint32_t warp, lane, site;
}; /* the other access */

static struct conflict conflict_at(bool write, uint32_t warp, uint32_t lane, uint32_t site)
{
    return (struct conflict){true, write, warp, lane, site};
}

/* A lane of the record that is not this thread. */
static uint32_t other_lane(const struct access_of *u, uint32_t warp, uint32_t lanes)
{
    const uint32_t others = warp == u->warp ? lanes & ~(1u << u->lane) : lanes;
    return (uint32_t)__builtin_ctz(others ? others : lanes);
}

/* Checks a record of the plain form: threads of several warps may be merged in it. */
static struct conflict check_masks(const struct shared_shadow *s, const struct access_of *u,
                                   uint32_t time, uint32_t warps, uint32_t lanes, uint32_t site,
                                   bool write)
{
    const struct conflict none = {0};
    const uint32_t own = 1u << u->warp, others = warps & ~own;

    if (time <= s->full || warps == 0)
        return none;
    if (others) {
        const uint32_t warp = (uint32_t)__builtin_ctz(others);
        /* Merged records exist in the plain form only, where nothing but full barriers orders
         * warps. */
        if (exempt(u, site, true) || (s->exact && ordered(s, u, time, warp, lanes)))
            return none;
        return conflict_at(write, warp, (uint32_t)__builtin_ctz(lanes), site);
    }
    if (exempt(u, site, false) || ordered(s, u, time, u->warp, lanes))
        return none;
    return conflict_at(write, u->warp, other_lane(u, u->warp, lanes), site);
}

/* ---- lists of the exact form ---- */
static void drop_list(struct shared_shadow *s, uint32_t *head)
{
    while (*head) {
        struct shadow_entry *e = &s->entries[*head];
        const uint32_t next = e->next;
        e->next = s->entry_free;
        s->entry_free = *head;
        *head = next;
    }
}

/* Room for one more entry; false when memory is short. */
static bool entry_room(struct shared_shadow *s)
{
    if (s->entry_count + 1 >=
        s->entry_cap) { /* before links into the array are taken; head may not lie in it */
        const uint32_t cap = s->entry_cap ? 2 * s->entry_cap : 1024;
        struct shadow_entry *grown = realloc(s->entries, cap * sizeof *grown);
        if (!grown)
            return false;
        s->entries = grown;
        s->entry_cap = cap;
    }
    return true;
}

/* Puts an entry at *link, the end of a list. entry_room() came before. */
static void link_entry(struct shared_shadow *s, uint32_t *link, struct shadow_entry e)
{
    uint32_t at = s->entry_free;

    if (at)
        s->entry_free = s->entries[at].next;
    else
        at = ++s->entry_count; /* 0 stands for the end */
    e.next = 0;
    s->entries[at] = e;
    *link = at;
}

static void add_entry(struct shared_shadow *s, uint32_t *head, const struct access_of *u,
                      bool writes)
{
    uint32_t *link = head;

    if (!entry_room(s))
        return; /* an access less to compare with; links are taken after the array may have moved */
    while (*link) { /* what this thread did before is ordered before what it does now */
        struct shadow_entry *e = &s->entries[*link];
        if (e->time == s->now && e->warp == u->warp && e->writes == writes && e->site == u->site) {
            e->lanes |= 1u << u->lane;
            return;
        }
        if (e->warp == u->warp && e->writes == writes)
            e->lanes &= ~(1u << u->lane);
        if (e->lanes == 0 || e->time <= s->full) {
            const uint32_t gone = *link;
            *link = e->next;
            e->next = s->entry_free;
            s->entry_free = gone;
            continue;
        }
        link = &e->next;
    }
    link_entry(s, link,
               (struct shadow_entry){.time = s->now,
                                     .warp = u->warp,
                                     .lanes = 1u << u->lane,
                                     .site = u->site,
                                     .writes = writes});
}

static struct conflict check_list(const struct shared_shadow *s, const struct access_of *u,
                                  uint32_t head)
{
    for (uint32_t i = head; i; i = s->entries[i].next) {
        const struct shadow_entry *e = &s->entries[i];
        if (u->kind == SHADOW_READ && !e->writes)
            continue;
        if (exempt(u, e->site, e->warp != u->warp) || ordered(s, u, e->time, e->warp, e->lanes) ||
            (e->some && e->warp == u->warp))
            continue;
        return conflict_at(e->writes, e->warp, other_lane(u, e->warp, e->lanes), e->site);
    }
    return (struct conflict){0};
}

/* ---- one record ---- */
static void record_write(struct shared_shadow *s, struct shadow_cell *c, const struct access_of *u)
{
    const uint32_t wbit = 1u << u->warp, lbit = 1u << u->lane;
    const bool strong = (u->site & (SITE_STRONG | SITE_VOLATILE)) != 0;

    if (strong && s->exact) {
        add_entry(s, &c->list, u, true);
        if (c->wt <= s->birth)
            c->wt =
                s->birth + 1; /* written, and ordered before everything: the list tells the rest */
        return;
    }
    drop_list(s, &c->list);
    if (strong && c->wt > s->full &&
        (c->ws & (SITE_STRONG | SITE_VOLATILE))) { /* several at once: keep them all */
        c->wl = c->ww == wbit && c->wt <= s->warps[u->warp].sync ? lbit : c->wl | lbit;
        c->ww |= wbit;
    } else {
        c->ww = wbit;
        c->wl = lbit;
    }
    c->wt = s->now;
    c->ws = u->site;
    c->rt = 0;
}

static void record_read(struct shared_shadow *s, struct shadow_cell *c, const struct access_of *u)
{
    const uint32_t wbit = 1u << u->warp, lbit = 1u << u->lane;

    if (s->exact) {
        add_entry(s, &c->list, u, false);
        return;
    }
    const bool stale = c->rt <= s->full,
               kept = !stale && !(c->rw == wbit && c->rt <= s->warps[u->warp].sync);
    uint32_t site = u->site;
    if (kept)
        site &= (c->rs & ~SITE_MASK) | SITE_MASK; /* strong only when all of them are */
    c->rl = kept ? c->rl | lbit : lbit;
    c->rw = stale ? wbit : c->rw | wbit;
    c->rt = s->now;
    c->rs = site;
}

/* Checks and records one access; *uninit is set when the bytes were never written. */
static struct conflict touch(struct shared_shadow *s, struct shadow_cell *c,
                             const struct access_of *u, bool *uninit)
{
    struct conflict x = {0};

    if (u->kind != SHADOW_WRITE && c->wt <= s->birth)
        *uninit = true;
    if (s->race) {
        x = check_masks(s, u, c->wt, c->ww, c->wl, c->ws, true);
        if (!x.found && u->kind != SHADOW_READ)
            x = check_masks(s, u, c->rt, c->rw, c->rl, c->rs, false);
        if (!x.found && c->list)
            x = check_list(s, u, c->list);
    }
    if (u->kind == SHADOW_READ)
        record_read(s, c, u);
    else
        record_write(s, c, u);
    return x;
}

static struct shadow_cell cell_of_word(const struct shared_shadow *s, uint32_t k)
{
    return (struct shadow_cell){s->wt[k], s->ww[k], s->wl[k],
                                s->ws[k], s->rt[k], s->rw[k],
                                s->rl[k], s->rs[k], s->exact ? s->list[k] : 0};
}

static void put_cell(struct shared_shadow *s, uint32_t k, const struct shadow_cell *c)
{
    s->wt[k] = c->wt;
    s->ww[k] = c->ww;
    s->wl[k] = c->wl;
    s->ws[k] = c->ws;
    s->rt[k] = c->rt;
    s->rw[k] = c->rw;
    s->rl[k] = c->rl;
    s->rs[k] = c->rs;
    if (s->exact)
        s->list[k] = c->list;
}

/* ---- words by bytes ---- */
/* Cells of a split word: index in wl. NULL when memory is short. */
static struct shadow_cell *split(struct shared_shadow *s, uint32_t k)
{
    uint32_t at;

    if (s->wt[k] == TIME_SPLIT)
        return &s->cells[s->wl[k]];
    if (s->cell_free != NO_CELL) {
        at = s->cell_free;
        s->cell_free = s->cells[at].list;
    } else {
        if (s->cell_count + WORD > s->cell_cap) {
            const uint32_t cap = s->cell_cap ? 2 * s->cell_cap : 1024;
            struct shadow_cell *grown = realloc(s->cells, cap * sizeof *grown);
            if (!grown)
                return NULL;
            s->cells = grown;
            s->cell_cap = cap;
        }
        at = s->cell_count;
        s->cell_count += WORD;
    }
    const struct shadow_cell whole = cell_of_word(s, k);
    for (unsigned i = 0; i < WORD; i++) {
        s->cells[at + i] = whole;
        s->cells[at + i].list = 0;
    }
    for (uint32_t e = whole.list; e;
         e = s->entries[e].next) { /* each byte gets its own copy of the list */
        for (unsigned i = 0; i < WORD; i++) {
            uint32_t *link = &s->cells[at + i].list;
            if (!entry_room(s))
                break;
            while (*link)
                link = &s->entries[*link].next;
            link_entry(s, link, s->entries[e]);
        }
    }
    if (s->exact)
        drop_list(s, &s->list[k]);
    s->marked = true;
    s->wt[k] = TIME_SPLIT;
    s->wl[k] = at;
    s->rt[k] = TIME_SPLIT;
    s->rw[k] = s->rl[k] = s->ww[k] = 0;
    return &s->cells[at];
}

static bool same_cell(const struct shadow_cell *a, const struct shadow_cell *b)
{
    return a->wt == b->wt && a->ww == b->ww && a->wl == b->wl && a->ws == b->ws && a->rt == b->rt &&
           a->rw == b->rw && a->rl == b->rl && a->rs == b->rs && a->list == b->list;
}

/* A word whose bytes tell the same story is whole again. */
static void join(struct shared_shadow *s, uint32_t k)
{
    const uint32_t at = s->wl[k];
    struct shadow_cell *c = &s->cells[at];

    if (c[0].list || !same_cell(&c[0], &c[1]) || !same_cell(&c[0], &c[2]) ||
        !same_cell(&c[0], &c[3]))
        return;
    const struct shadow_cell whole = c[0];
    c[0].list = s->cell_free;
    s->cell_free = at;
    put_cell(s, k, &whole);
}

/* Bytes first .. first + n - 1 of word k. */
static struct conflict touch_bytes(struct shared_shadow *s, uint32_t k, unsigned first, unsigned n,
                                   const struct access_of *u, bool *uninit)
{
    struct conflict found = {0};

    if (n == WORD && s->wt[k] != TIME_SPLIT) {
        struct shadow_cell c = cell_of_word(s, k);
        found = touch(s, &c, u, uninit);
        put_cell(s, k, &c);
        return found;
    }
    struct shadow_cell *c = split(s, k);
    for (unsigned i = first; c && i < first + n; i++) {
        const struct conflict x = touch(s, &c[i], u, uninit);
        if (x.found && !found.found)
            found = x;
    }
    if (c && n == WORD)
        join(s, k);
    return found;
}

/* ---- from the plain to the exact form ---- */
static void list_masks(struct shared_shadow *s, uint32_t *head, uint32_t time, uint32_t warps,
                       uint32_t lanes, uint32_t site, bool writes)
{
    const bool some =
        (warps & (warps - 1)) != 0; /* lanes of several warps are merged: whose, is lost */

    for (uint32_t rest = warps; rest && entry_room(s); rest &= rest - 1) {
        uint32_t *link = head;
        while (*link)
            link = &s->entries[*link].next;
        link_entry(s, link,
                   (struct shadow_entry){.time = time,
                                         .warp = (uint32_t)__builtin_ctz(rest),
                                         .lanes = lanes,
                                         .site = site,
                                         .writes = writes,
                                         .some = some});
    }
}

static void list_cell(struct shared_shadow *s, struct shadow_cell *c)
{
    if (c->wt > s->full && (c->ws & (SITE_STRONG | SITE_VOLATILE))) {
        list_masks(s, &c->list, c->wt, c->ww, c->wl, c->ws, true);
        c->wt = s->birth + 1;
    }
    if (c->rt > s->full)
        list_masks(s, &c->list, c->rt, c->rw, c->rl, c->rs, false);
    c->rt = 0;
}

static void become_exact(struct shared_shadow *s)
{
    if (s->exact || !s->race)
        return;
    if (!s->list)
        s->list = calloc(s->word_cap + 1u, sizeof *s->list);
    if (!s->known)
        s->known = calloc((size_t)s->warp_cap * s->warp_cap, sizeof *s->known);
    if (!s->list || !s->known) {
        s->full = s->now++; /* an order that cannot be kept must not look like a race */
        return;
    }
    s->exact = true;
    for (uint32_t k = 0; k < s->word_count; k++) {
        if (s->wt[k] == TIME_ASYNC)
            continue;
        if (s->wt[k] == TIME_SPLIT) {
            for (unsigned i = 0; i < WORD; i++)
                list_cell(s, &s->cells[s->wl[k] + i]);
        } else if (s->rt[k] > s->full || s->wt[k] > s->full) {
            struct shadow_cell c = cell_of_word(s, k);
            list_cell(s, &c);
            put_cell(s, k, &c);
        }
    }
}

/* Strong accesses do not race among each other, so one that comes after a plain access of the same
 * time span must not hide it: with two records a word cannot tell them apart. */
static bool mixes(const struct shared_shadow *s, const uint32_t addr[WARP_LANES], uint32_t lanes,
                  unsigned width)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1) {
        const uint32_t first = addr[__builtin_ctz(rest)];
        for (uint32_t k = first / WORD; k * WORD < first + width; k++) {
            if (s->wt[k] >= TIME_ASYNC || s->rt[k] > s->full)
                return true;
            if (s->wt[k] > s->full && !(s->ws[k] & (SITE_STRONG | SITE_VOLATILE)))
                return true;
        }
    }
    return false;
}

/* ---- reports ---- */
struct tally_of {
    uint32_t lanes; /* that show it */
    uint32_t lane;  /* the one that is told, with its conflict and address */
    struct conflict first;
    uint32_t address;
};

static void report_race(struct warp *w, const struct insn *in, const struct shared_shadow *s,
                        enum fault_kind kind, const struct tally_of *t, unsigned width)
{
    const struct grid *g = w->grid;
    char where[96];
    struct place other = exec_place(w, in, t->first.lane);

    if (t->first.site) {
        const uint32_t thread = t->first.warp * WARP_LANES + t->first.lane;
        other.warp = t->first.warp;
        other.inst = site_tree(s, t->first.site);
        other.thread[0] = thread % g->block_dim[0];
        other.thread[1] = thread / g->block_dim[0] % g->block_dim[1];
        other.thread[2] = thread / g->block_dim[0] / g->block_dim[1];
    }
    lane_shared_name(w, t->address, where, sizeof where);
    struct finding f = {.kind = kind,
                        .grid = g,
                        .at = exec_place(w, in, t->lane),
                        .address = SHARED_BASE + t->address,
                        .width = width,
                        .lanes = (uint32_t)__builtin_popcount(t->lanes),
                        .other = &other};
    const char *remedy =
        kind == FAULT_RACE_ASYNC       ? "; the copy's wait and then a barrier would order them"
        : kind == FAULT_RACE_SAME_INSN ? ""
        : t->first.warp == w->index    ? "; __syncwarp() between the two would order them"
                                       : "; __syncthreads() between the two would order them";
    snprintf(f.detail, sizeof f.detail, "%s, %s by thread (%u,%u,%u)%s", where,
             t->first.write ? "written" : "read", other.thread[0], other.thread[1], other.thread[2],
             remedy);
    report_finding(&w->grid->device->report, &f);
}

static void report_uninit(struct warp *w, const struct insn *in, uint32_t lanes, uint32_t address,
                          unsigned width)
{
    struct finding f = {.kind = FAULT_SHARED_UNINIT,
                        .grid = w->grid,
                        .at = exec_place(w, in, (uint32_t)__builtin_ctz(lanes)),
                        .address = SHARED_BASE + address,
                        .width = width,
                        .lanes = (uint32_t)__builtin_popcount(lanes)};
    lane_shared_name(w, address, f.detail, sizeof f.detail);
    report_finding(&w->grid->device->report, &f);
}

enum race { RACE_WW, RACE_RW, RACE_SAME, RACE_SAME_VALUE, RACE_COPY, RACE_KINDS };
static const enum fault_kind race_faults[RACE_KINDS] = {FAULT_RACE_WRITE_WRITE,
                                                        FAULT_RACE_READ_WRITE, FAULT_RACE_SAME_INSN,
                                                        FAULT_RACE_EQUAL, FAULT_RACE_ASYNC};

/* The access that is told: the first, but one of another warp rather than one of `warp` itself. */
static void note(struct tally_of t[RACE_KINDS], enum race race, uint32_t warp, uint32_t lane,
                 uint32_t address, const struct conflict *x)
{
    if (t[race].lanes == 0 || (t[race].first.warp == warp && x->warp != warp)) {
        t[race].first = *x;
        t[race].lane = lane;
        t[race].address = address;
    }
    t[race].lanes |= 1u << lane;
}

/* Lanes of one store that write the same bytes: reported here, so that they do not count as two
 * accesses later. Returns the lanes that remain to be checked against earlier accesses: the first
 * of each word. */
static uint32_t settle_same(const uint32_t addr[WARP_LANES], uint32_t lanes, unsigned width,
                            const unsigned char *values, uint32_t warp, uint32_t site,
                            struct tally_of t[RACE_KINDS])
{
    unsigned char slot[64]; /* word -> lane + 1, open addressing */
    uint32_t rest = lanes;

    memset(slot, 0, sizeof slot);
    FOR_EACH_LANE(lane, lanes)
    {
        uint32_t at = addr[lane] / width * 0x9e3779b1u >> 26;
        while (slot[at] && addr[slot[at] - 1] != addr[lane])
            at = (at + 1) % 64;
        if (!slot[at]) {
            slot[at] = (unsigned char)(lane + 1);
            continue;
        }
        const uint32_t before = slot[at] - 1u;
        const bool equal =
            values && memcmp(values + lane * width, values + before * width, width) == 0;
        const struct conflict x = conflict_at(true, warp, before, site);
        note(t, equal ? RACE_SAME_VALUE : RACE_SAME, warp, lane, addr[lane], &x);
        rest &= ~(1u << lane);
    }
    return rest;
}

static void check_access(struct warp *w, const struct insn *in, const uint32_t addr[WARP_LANES],
                         uint32_t lanes, unsigned width, int kind, const unsigned char *values)
{
    struct shared_shadow *s = w->block->shadow;
    struct tally_of tally[RACE_KINDS];
    uint32_t uninit_lanes = 0, uninit_at = 0;
    const uint32_t site = shadow_site_of(s, w, in);
    struct access_of u = {.warp = w->index, .kind = (enum shadow_kind)(kind & 3)};

    memset(tally, 0, sizeof tally);
    u.site = site | ((kind & SHADOW_STRONG) || u.kind == SHADOW_ATOMIC ? SITE_STRONG : 0) |
             (kind & SHADOW_VOLATILE ? SITE_VOLATILE : 0);
    uint32_t todo = lanes;
    if (!s->exact && u.kind != SHADOW_READ && (u.site & ~SITE_MASK) && mixes(s, addr, lanes, width))
        become_exact(s);
    if (u.kind == SHADOW_WRITE && s->race && !(u.site & SITE_STRONG))
        todo = settle_same(addr, lanes, width, values, w->index, site, tally);
    FOR_EACH_LANE(lane, todo)
    {
        const uint32_t first = addr[lane], end = first + width;
        bool uninit = false;
        u.lane = lane;
        for (uint32_t k = first / WORD; k * WORD < end; k++) {
            const uint32_t from = k * WORD > first ? k * WORD : first,
                           to = (k + 1) * WORD < end ? (k + 1) * WORD : end;
            if (s->wt[k] == TIME_ASYNC) {
                const struct conflict x =
                    conflict_at(true, s->wl[k] / WARP_LANES, s->wl[k] % WARP_LANES, s->ws[k]);
                if (s->race)
                    note(tally, RACE_COPY, w->index, lane, first, &x);
                continue;
            }
            const struct conflict x = touch_bytes(s, k, from % WORD, to - from, &u, &uninit);
            if (!x.found)
                continue;
            const bool both = x.write && u.kind == SHADOW_WRITE;
            const bool equal = both && values &&
                               memcmp(values + lane * width, w->block->shared + first, width) == 0;
            note(tally,
                 equal                                          ? RACE_SAME_VALUE
                 : both || (x.write && u.kind == SHADOW_ATOMIC) ? RACE_WW
                                                                : RACE_RW,
                 w->index, lane, first, &x);
        }
        if (uninit) {
            if (!uninit_lanes)
                uninit_at = first;
            uninit_lanes |= 1u << lane;
        }
    }
    for (int race = 0; race < RACE_KINDS; race++) {
        if (tally[race].lanes)
            report_race(w, in, s, race_faults[race], &tally[race], width);
    }
    if (uninit_lanes && s->init)
        report_uninit(w, in, uninit_lanes, uninit_at, width);
}

void shadow_access(struct warp *w, const struct insn *in, const uint32_t addr[WARP_LANES],
                   uint32_t lanes, unsigned width, int kind)
{
    if (w->block->shadow && lanes)
        check_access(w, in, addr, lanes, width, kind, NULL);
}

void shadow_store(struct warp *w, const struct insn *in, const uint32_t addr[WARP_LANES],
                  uint32_t lanes, unsigned width, int kind, const unsigned char *values)
{
    if (w->block->shadow && lanes)
        check_access(w, in, addr, lanes, width, kind, values);
}

/* ---- synchronisation ---- */
static uint32_t step(struct shared_shadow *s)
{
    const uint32_t t = s->now;
    if (s->now < TIME_LAST)
        s->now++; /* a block that synchronises four billion times loses races, not memory */
    return t;
}

static void sync_lanes(struct shared_shadow *s, uint32_t warp, uint32_t mask, uint32_t time)
{
    struct shadow_warp *sw = &s->warps[warp];
    uint32_t known[WARP_LANES] = {0};

    if (!sw->lanes)
        sw->lanes = calloc((size_t)WARP_LANES * WARP_LANES, sizeof *sw->lanes);
    if (!sw->lanes) {
        sw->sync = time;
        return;
    }
    FOR_EACH_LANE(lane, mask)
    {
        for (unsigned i = 0; i < WARP_LANES; i++) {
            known[i] = sw->lanes[lane * WARP_LANES + i] > known[i]
                           ? sw->lanes[lane * WARP_LANES + i]
                           : known[i];
        }
    }
    FOR_EACH_LANE(lane, mask)
    {
        for (unsigned i = 0; i < WARP_LANES; i++) {
            sw->lanes[lane * WARP_LANES + i] = mask >> i & 1 ? time : known[i];
        }
    }
}

void shadow_warp_sync(struct warp *w, uint32_t mask)
{
    struct shared_shadow *s = w->block->shadow;

    if (!s || !s->race || (mask & (mask - 1)) == 0)
        return;
    if ((mask & w->live) == w->live) {
        s->warps[w->index].sync = step(s);
        return;
    }
    become_exact(s);
    sync_lanes(s, w->index, mask, step(s));
}

/* Row p learns what row q knows, and that all of q's accesses up to `time` have happened. */
static void learn(struct shared_shadow *s, uint32_t *row, const uint32_t *from, uint32_t q,
                  uint32_t time)
{
    for (uint32_t i = 0; from && i < s->warp_count; i++)
        if (from[i] > row[i])
            row[i] = from[i];
    if (q < s->warp_count && time > row[q])
        row[q] = time;
}

void shadow_barrier(struct block *b, const uint32_t *masks, bool everybody)
{
    struct shared_shadow *s = b->shadow;
    uint32_t joined[32] = {0};
    bool all = true;

    if (!s || !s->race)
        return;
    for (uint32_t i = 0; i < b->warp_count; i++)
        all = all && masks[i] == b->warps[i].lanes;
    if (all || everybody) {
        s->full = step(s);
        return;
    }
    become_exact(s);
    const uint32_t time = step(s);
    for (uint32_t i = 0; i < b->warp_count; i++) {
        if (!masks[i])
            continue;
        if ((masks[i] & b->warps[i].live) == b->warps[i].live)
            s->warps[i].sync = time;
        else
            sync_lanes(s, i, masks[i], time);
        if (s->exact)
            learn(s, joined, s->known + (size_t)i * s->warp_cap, i, time);
    }
    for (uint32_t i = 0; s->exact && i < b->warp_count; i++) {
        if (masks[i])
            learn(s, s->known + (size_t)i * s->warp_cap, joined, UINT32_MAX, 0);
    }
}

void shadow_fence(struct warp *w, uint32_t lanes)
{
    struct shared_shadow *s = w->block->shadow;

    (void)lanes;
    if (s)
        s->warps[w->index].fenced = s->now;
}

/* The place of a key; made when `create_it`. NULL when there is none or memory is short. */
static struct shadow_place *place_of(struct shared_shadow *s, uint64_t key, bool create_it)
{
    if (s->place_count * 2 >= s->place_cap && create_it) {
        const uint32_t cap = s->place_cap ? 2 * s->place_cap : 64;
        struct shadow_place *bigger = calloc(cap, sizeof *bigger);
        if (!bigger)
            return NULL;
        for (uint32_t i = 0; i < s->place_cap; i++) {
            if (!s->places[i].warps) {
                free(s->places[i].known);
                continue;
            }
            uint32_t at = (uint32_t)(s->places[i].key * 0x9e3779b97f4a7c15ull >> 40) % cap;
            while (bigger[at].warps)
                at = (at + 1) % cap;
            bigger[at] = s->places[i];
        }
        free(s->places);
        s->places = bigger;
        s->place_cap = cap;
    }
    if (!s->place_cap)
        return NULL;
    uint32_t at = (uint32_t)(key * 0x9e3779b97f4a7c15ull >> 40) % s->place_cap;
    while (s->places[at].warps && s->places[at].key != key)
        at = (at + 1) % s->place_cap;
    struct shadow_place *p = &s->places[at];
    if (p->warps)
        return p;
    if (!create_it)
        return NULL;
    if (!p->known)
        p->known = malloc(s->warp_cap * sizeof *p->known);
    if (!p->known)
        return NULL;
    memset(p->known, 0, s->warp_cap * sizeof *p->known);
    p->key = key;
    s->place_count++;
    return p;
}

void shadow_release(struct warp *w, uint32_t lanes, uint64_t key)
{
    struct shared_shadow *s = w->block->shadow;

    (void)lanes;
    if (!s || !s->race)
        return;
    struct shadow_place *p = place_of(s, key, true);
    if (!p)
        return;
    learn(s, p->known, s->known ? s->known + (size_t)w->index * s->warp_cap : NULL, w->index,
          step(s));
    p->warps |= 1u << w->index;
}

void shadow_acquire(struct warp *w, uint32_t lanes, uint64_t key)
{
    struct shared_shadow *s = w->block->shadow;

    (void)lanes;
    if (!s || !s->race)
        return;
    const struct shadow_place *p = place_of(s, key, false);
    if (!p)
        return;
    if (p->warps & (1u << w->index))
        s->warps[w->index].sync = p->known[w->index] > s->warps[w->index].sync
                                      ? p->known[w->index]
                                      : s->warps[w->index].sync;
    if ((p->warps & ~(1u << w->index)) == 0)
        return;
    become_exact(s);
    if (s->exact)
        learn(s, s->known + (size_t)w->index * s->warp_cap, p->known, UINT32_MAX, 0);
}

void shadow_strong(struct warp *w, uint32_t lanes, uint64_t key, bool reads, bool writes)
{
    struct shared_shadow *s = w->block->shadow;

    if (!s || !s->race)
        return;
    if (reads)
        shadow_acquire(w, lanes,
                       key); /* the fence that must follow is not waited for: towards silence */
    if (writes && s->warps[w->index].fenced > s->birth)
        shadow_release(w, lanes, key);
}

/* ---- copies and the machine ---- */
void shadow_async_begin(struct warp *w, const struct insn *in, uint32_t lane, uint32_t addr,
                        uint32_t n)
{
    struct shared_shadow *s = w->block->shadow;
    uint32_t at[WARP_LANES] = {0};

    if (!s)
        return;
    const uint32_t site = shadow_site_of(s, w, in);
    for (uint32_t i = 0; i < n; i += WORD) { /* it may overwrite only what is ordered before it */
        const uint32_t k = (addr + i) / WORD;
        at[lane] = addr + i;
        if (s->exact || !shadow_word_write(s, w->index, site, k, lane))
            check_access(w, in, at, 1u << lane, WORD, SHADOW_WRITE, NULL);
        if (s->wt[k] == TIME_SPLIT)
            continue; /* cannot be: a whole word was just written */
        s->marked = true;
        s->wt[k] = TIME_ASYNC;
        s->ww[k] = 0; /* nobody's: no loop takes it for its own */
        s->wl[k] = w->index * WARP_LANES + lane;
        s->ws[k] = site;
    }
}

void shadow_async_end(struct warp *w, uint32_t lane, uint32_t addr, uint32_t n)
{
    struct shared_shadow *s = w->block->shadow;

    if (!s)
        return;
    for (uint32_t k = addr / WORD; k * WORD < addr + n; k++) {
        if (s->wt[k] != TIME_ASYNC)
            continue;
        s->wt[k] = s->now;
        s->ww[k] = 1u << w->index;
        s->wl[k] = 1u << lane;
        s->rt[k] = 0;
    }
}

void shadow_mark_init(struct block *b, uint32_t addr, uint32_t n)
{
    struct shared_shadow *s = b->shadow;

    for (uint32_t a = addr; s && a < addr + n; a++) {
        const uint32_t k = a / WORD;
        if (s->wt[k] == TIME_SPLIT) {
            struct shadow_cell *c = &s->cells[s->wl[k] + a % WORD];
            if (c->wt <= s->birth)
                c->wt = s->birth + 1;
        } else if (s->wt[k] <= s->birth) {
            s->wt[k] = s->birth + 1;
        }
    }
}

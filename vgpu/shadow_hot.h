/*
 * shadow_hot.h - the records of shared memory and the vector loops that pass over unsuspicious
 * accesses. Reports nothing: whatever these loops turn down goes through shadow_access(), which
 * looks again, word by word. Invariant: a loop that returns false has changed nothing.
 */
#ifndef VGPU_SHADOW_HOT_H
#define VGPU_SHADOW_HOT_H

#include "machine.h"
#include "shadow.h"

#include <stddef.h>

/* Times that no loop takes for ordered: the word has a record per byte; an asynchronous copy is
 * under way to it. */
#define TIME_SPLIT UINT32_MAX
#define TIME_ASYNC (UINT32_MAX - 1)
#define TIME_LAST  (UINT32_MAX - 1024) /* real times end here */

/* Flags beside the site number in the instruction of a record. */
#define SITE_STRONG   0x80000000u
#define SITE_VOLATILE 0x40000000u
#define SITE_MASK     0x3fffffffu

struct shadow_warp {
    uint32_t sync;   /* up to here all lanes of the warp are ordered among themselves */
    uint32_t fenced; /* time of its last fence */
    uint32_t *lanes; /* [32][32]: row lane, column: up to which time that lane is known to it; NULL
                        until a partial mask syncs */
};
struct shadow_cell;  /* record per byte of a split word */
struct shadow_entry; /* list entry of the exact form */
struct shadow_place; /* location of release and acquire */
struct shadow_site {
    const void *program;
    uint32_t first, count;
};

struct shared_shadow {
    bool init, race;
    bool exact;                /* see shadow.h */
    bool scanned;              /* the program has been looked at for barriers of parts */
    bool marked;               /* some word holds TIME_SPLIT or TIME_ASYNC */
    uint32_t word_count;       /* of the block */
    uint32_t now, full, birth; /* time; ordered up to here in the whole block; written at or before
                                  here = before this block */
    uint32_t warp_count;
    /* per word: last write (time, warps, lanes, instruction), reads since */
    uint32_t *wt, *ww, *wl, *ws, *rt, *rw, *rl, *rs;
    uint32_t *list; /* exact form: head of the word's list, 0 = empty */
    struct shadow_warp *warps;
    uint32_t *known; /* [warp][warp]: up to which time the column's accesses are known to the row;
                        exact form */
    struct shadow_entry *entries;
    uint32_t entry_count, entry_cap, entry_free;
    struct shadow_cell *cells;
    uint32_t cell_count, cell_cap, cell_free;
    struct shadow_place *places;
    uint32_t place_count, place_cap;
    const void *site_program;
    uint32_t site_first; /* the last one asked for */
    struct shadow_site *sites;
    uint32_t site_count, site_cap;
    uint32_t word_cap, warp_cap;
    struct shared_shadow *next; /* in the grid's list of unused ones */
};

/* Ordered in the plain form; all arguments are of one word. */
#define SHADOW_LATE(t, w, l, full, sync, wbit, lbit)                                               \
    ((uint32_t)((t) > (full)) &                                                                    \
     ((uint32_t)((w) != (wbit)) | ((uint32_t)((t) > (sync)) & (uint32_t)((l) != (lbit)))))

/* Words k .. k+n-1 are read by lanes first + (i >> shift). */
static inline bool shadow_run_read(struct shared_shadow *s, uint32_t warp, uint32_t site,
                                   uint32_t k, unsigned n, unsigned first, unsigned shift)
{
    const uint32_t full = s->full, sync = s->warps[warp].sync, wbit = 1u << warp, birth = s->birth,
                   now = s->now;
    uint32_t *restrict rt = s->rt + k, *restrict rw = s->rw + k, *restrict rl = s->rl + k,
                       *restrict rs = s->rs + k;
    const uint32_t *restrict wt = s->wt + k, *restrict ww = s->ww + k, *restrict wl = s->wl + k;
    uint32_t bad = 0;

    for (unsigned i = 0; i < n; i++) {
        const uint32_t lbit = 1u << (first + (i >> shift));
        bad |=
            SHADOW_LATE(wt[i], ww[i], wl[i], full, sync, wbit, lbit) | (uint32_t)(wt[i] <= birth);
    }
    if (bad)
        return false;
    for (unsigned i = 0; i < n; i++) {
        const uint32_t lbit = 1u << (first + (i >> shift));
        const uint32_t stale = rt[i] <= full, own = rw[i] == wbit;
        const uint32_t fresh = stale | (own & (uint32_t)(rt[i] <= sync));
        rl[i] = fresh ? lbit : rl[i] | lbit;
        rw[i] = stale ? wbit : rw[i] | wbit;
        rt[i] = now;
        rs[i] = site;
    }
    return true;
}

static inline bool shadow_run_write(struct shared_shadow *s, uint32_t warp, uint32_t site,
                                    uint32_t k, unsigned n, unsigned first, unsigned shift)
{
    const uint32_t full = s->full, sync = s->warps[warp].sync, wbit = 1u << warp, now = s->now;
    uint32_t *restrict rt = s->rt + k, *restrict wt = s->wt + k, *restrict ww = s->ww + k,
                       *restrict wl = s->wl + k, *restrict ws = s->ws + k;
    const uint32_t *restrict rw = s->rw + k, *restrict rl = s->rl + k;
    uint32_t bad = 0;

    for (unsigned i = 0; i < n; i++) {
        const uint32_t lbit = 1u << (first + (i >> shift));
        bad |= SHADOW_LATE(wt[i], ww[i], wl[i], full, sync, wbit, lbit) |
               SHADOW_LATE(rt[i], rw[i], rl[i], full, sync, wbit, lbit);
    }
    if (bad)
        return false;
    for (unsigned i = 0; i < n; i++) {
        wt[i] = now;
        ww[i] = wbit;
        wl[i] = 1u << (first + (i >> shift));
        ws[i] = site;
        rt[i] = 0;
    }
    return true;
}

/* One word read by `lanes` of the warp at once. */
static inline bool shadow_word_read(struct shared_shadow *s, uint32_t warp, uint32_t site,
                                    uint32_t k, uint32_t lanes)
{
    const uint32_t full = s->full, sync = s->warps[warp].sync, wbit = 1u << warp, t = s->wt[k];

    if (t <= s->birth || (t > full && (s->ww[k] != wbit || (t > sync && s->wl[k] != lanes))))
        return false;
    if (s->rt[k] <= full) {
        s->rw[k] = wbit;
        s->rl[k] = lanes;
    } else if (s->rw[k] == wbit && s->rt[k] <= sync) {
        s->rl[k] = lanes;
    } else {
        s->rw[k] |= wbit;
        s->rl[k] |= lanes;
    }
    s->rt[k] = s->now;
    s->rs[k] = site;
    return true;
}

static inline bool shadow_word_write(struct shared_shadow *s, uint32_t warp, uint32_t site,
                                     uint32_t k, uint32_t lane)
{
    const uint32_t full = s->full, sync = s->warps[warp].sync, wbit = 1u << warp, lbit = 1u << lane;

    if (SHADOW_LATE(s->wt[k], s->ww[k], s->wl[k], full, sync, wbit, lbit) ||
        SHADOW_LATE(s->rt[k], s->rw[k], s->rl[k], full, sync, wbit, lbit))
        return false;
    s->wt[k] = s->now;
    s->ww[k] = wbit;
    s->wl[k] = lbit;
    s->ws[k] = site;
    s->rt[k] = 0;
    return true;
}

/* First number of a function's instructions, 0 when it has none; remembers it in site_program,
 * site_first. */
uint32_t shadow_site_find(struct shared_shadow *s, const struct program *p);
/* Number of the instruction in records: unique over the functions of a launch; 0: unknown. */
static inline uint32_t shadow_site_of(struct shared_shadow *s, const struct warp *w,
                                      const struct insn *in)
{
    const struct program *p = w->frame->program;
    const uint32_t first = s->site_program == p ? s->site_first : shadow_site_find(s, p);
    return first ? first + (uint32_t)(in - p->code) : 0;
}

#endif

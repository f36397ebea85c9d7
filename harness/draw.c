/*
 * draw.c - splitmix64 streams and exponent draws.
 * Not cryptographic: a solution cannot see the seed, and the bits come from getrandom().
 * Invariant: draws stay inside [exp_lo, exp_hi] of each group.
 */
#include "draw.h"

#include <errno.h>
#include <string.h>
#include <sys/random.h>

#define DRAW_ATTEMPTS 64 /* tries for a fresh sum before the least recent one is taken */

enum status draw_seed(uint64_t *out, struct diag *d)
{
    if (getrandom(out, sizeof *out, 0) != (ssize_t)sizeof *out)
        return diag_set(d, STATUS_IO, "getrandom: %s", strerror(errno));
    return STATUS_OK;
}

uint64_t draw_next(struct draw *d)
{
    uint64_t z = d->state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64: Steele, Lea, Flood 2014 */

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

uint64_t draw_below(struct draw *d, uint64_t n)
{
    return draw_next(d) % n; /* n is tiny against 2^64: the bias does not matter here */
}

static uint64_t mix_text(uint64_t h, const char *s)
{
    for (; *s != '\0'; s++) /* FNV-1a */
        h = (h ^ (unsigned char)*s) * UINT64_C(0x100000001b3);
    return (h ^ 0xff) * UINT64_C(0x100000001b3);
}

void draw_open(struct draw *out, uint64_t seed, const char *problem, const char *case_name)
{
    memset(out, 0, sizeof *out);
    out->state = mix_text(mix_text(seed ^ UINT64_C(0xcbf29ce484222325), problem), case_name);
    (void)draw_next(out);
}

void draw_remember(struct draw *d, int sum)
{
    if (d->recent_count == DRAW_MEMORY) {
        memmove(d->recent, d->recent + 1, (DRAW_MEMORY - 1) * sizeof *d->recent);
        d->recent_count--;
    }
    d->recent[d->recent_count++] = sum;
}

/* Place of `sum` among the recent ones: 0 = never seen, else larger = more recent. */
static unsigned recency(const struct draw *d, int sum)
{
    for (unsigned i = d->recent_count; i > 0; i--)
        if (d->recent[i - 1] == sum)
            return i;
    return 0;
}

void draw_exponents(struct draw *d, const struct problem *p, const struct casedef *c,
                    int exponents[PROBLEM_MAX_GROUPS])
{
    unsigned best_recency = DRAW_MEMORY + 1;
    int best_sum = 0;

    for (unsigned g = 0; g < PROBLEM_MAX_GROUPS; g++)
        exponents[g] = 0;
    for (unsigned attempt = 0; attempt < DRAW_ATTEMPTS && best_recency > 0; attempt++) {
        int trial[PROBLEM_MAX_GROUPS] = {0}, sum = 0;
        unsigned seen;

        for (unsigned g = 0; g < p->group_count; g++) {
            const int span = c->exp_hi[g] - c->exp_lo[g] + 1;
            trial[g] = c->exp_lo[g] + (span > 1 ? (int)draw_below(d, (uint64_t)span) : 0);
            sum += trial[g];
        }
        seen = recency(d, sum);
        if (seen < best_recency) {
            best_recency = seen;
            best_sum = sum;
            memcpy(exponents, trial, sizeof trial);
        }
    }
    draw_remember(d, best_sum);
}

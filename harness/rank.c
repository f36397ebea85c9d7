/*
 * rank.c - tie groups by leader, ratios with error.
 * Prints nothing. Invariant: places follow the medians; a tie never chains beyond its leader.
 */
#include "rank.h"

#include <math.h>
#include <stdlib.h>

static int by_place(const void *a, const void *b)
{
    const struct rank_entry *x = a, *y = b;

    if (x->ranked != y->ranked)
        return x->ranked ? -1 : 1;
    if (x->median != y->median)
        return x->median < y->median ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

static bool ties_with(const struct rank_entry *leader, const struct rank_entry *e, double step)
{
    const double s_leader = leader->se * leader->median;
    const double s = e->se * e->median;
    const double difference = e->median - leader->median;

    return difference <= 2.0 * sqrt(s * s + s_leader * s_leader) || difference <= step;
}

void rank_groups(struct rank_entry *entries, size_t count, double step)
{
    size_t leader = 0;

    qsort(entries, count, sizeof *entries, by_place);
    for (size_t i = 0; i < count; i++) {
        struct rank_entry *e = &entries[i];

        e->place = 0;
        e->tied = false;
        if (!e->ranked)
            continue;
        if (i > 0 && ties_with(&entries[leader], e, step)) {
            e->place = entries[leader].place;
            e->tied = true;
            continue;
        }
        leader = i;
        e->place = (unsigned)i + 1;
    }
}

struct ratio rank_ratio(double t, double se, double t_base, double se_base)
{
    const double value = t / t_base;

    return (struct ratio){.value = value, .error = value * sqrt(se * se + se_base * se_base)};
}

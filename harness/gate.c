/*
 * gate.c - the classes of the regression gate.
 * Does not choose exit codes (cmd_compare.c does). Invariant: every pair gets exactly one class.
 */
#include "gate.h"

#include "diag.h"
#include <math.h>
#include <string.h>

const char *gate_name(enum gate g)
{
    switch (g) {
    case GATE_FASTER:
        return "FASTER";
    case GATE_SAME:
        return "SAME";
    case GATE_UNCLEAR:
        return "UNCLEAR";
    case GATE_SLOWER:
        return "SLOWER";
    }
    UNREACHABLE();
}

static const char *doubt(const struct gate_side *s, size_t min_samples)
{
    if (s->n < min_samples)
        return "too few samples";
    if (strchr(s->flags, 'D') != NULL)
        return "drift (D)";
    if (strchr(s->flags, 'B') != NULL)
        return "two modes (B)";
    if (strchr(s->flags, 'T') != NULL)
        return "throttled (T)";
    return NULL;
}

struct gate_result gate_class(const struct gate_side *old, const struct gate_side *new_side,
                              double threshold, size_t min_samples)
{
    struct gate_result r = {.gate = GATE_UNCLEAR, .why = ""};
    const char *why;
    double error;

    if (old->accepted && !new_side->accepted) {
        r.gate = GATE_SLOWER;
        r.why = "no longer AC";
        return r;
    }
    if (!old->accepted || !(old->median > 0.0) || !(new_side->median > 0.0)) {
        r.why = "nothing to compare with";
        return r;
    }
    r.ratio = new_side->median / old->median;
    error = 2.0 * r.ratio * sqrt(old->se * old->se + new_side->se * new_side->se);
    r.low = r.ratio - error;
    r.high = r.ratio + error;
    why = doubt(old, min_samples);
    if (why == NULL)
        why = doubt(new_side, min_samples);
    if (why != NULL) {
        r.why = why;
        return r;
    }
    if (r.high < 1.0 - threshold)
        r.gate = GATE_FASTER;
    else if (r.low > 1.0 + threshold)
        r.gate = GATE_SLOWER;
    else if (r.low >= 1.0 - threshold && r.high <= 1.0 + threshold)
        r.gate = GATE_SAME;
    else
        r.why = "the interval reaches over the threshold";
    return r;
}

struct gate_result gate_counts(double old, double new_count, double threshold)
{
    struct gate_result r = {.gate = GATE_SAME, .why = "", .ratio = 1.0, .low = 1.0, .high = 1.0};

    if (old <= 0.0) {
        r.gate = new_count > 0.0 ? GATE_SLOWER : GATE_SAME;
        r.why = new_count > 0.0 ? "was zero" : "";
        return r;
    }
    r.ratio = r.low = r.high = new_count / old;
    if (r.ratio > 1.0 + threshold)
        r.gate = GATE_SLOWER;
    else if (r.ratio < 1.0 - threshold)
        r.gate = GATE_FASTER;
    return r;
}

/*
 * hints.c - the patterns of judge.md section 8, tried in order until two fit.
 * Does not compare against tolerances of its own: "equal" means equal under the case's rule.
 * Invariant: a pattern that cannot be checked for want of memory or data stays silent.
 */
#include "hints.h"

#include "xalloc.h"
#include <float.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Everything a pattern may look at: the output in stored scale, as doubles. */
struct view {
    const struct hints_input *in;
    const struct compare_input *cmp;
    const struct mismatch *mis;
    struct arena *arena;
    uint64_t n;
    double *got, *want, *allowed; /* n each */
    unsigned char *bad;           /* n: fails the rule */
};

typedef const char *(*pattern)(const struct view *v);

static bool near(const struct view *v, uint64_t i, double a, double b)
{
    if (isnan(a) && isnan(b))
        return true;
    if (a == b)
        return true;
    return fabs(a - b) <= v->allowed[i];
}

/* Like near(), but tells a zero tolerance's rounding apart: relative 1e-6 of either. */
static bool alike(double a, double b)
{
    return a == b || fabs(a - b) <= 1e-6 * fmax(fabs(a), fabs(b));
}

/* ---- nothing written ---- */

static const char *hint_unwritten(const struct view *v)
{
    if (v->mis->unwritten == 0)
        return NULL;
    if (v->mis->unwritten == v->cmp->count)
        return "nothing was written to the output";
    return arena_printf(v->arena,
                        "unwritten: %" PRIu64 " of %" PRIu64 " elements, from index %" PRIu64,
                        v->mis->unwritten, v->cmp->count, v->mis->unwritten_first);
}

/* ---- read past the end: NaN under poison A, 1e38 under poison B ---- */

static const char *hint_past_end(const struct view *v)
{
    uint64_t odd = 0, first = 0;

    if (v->in->letter != 'A' || v->in->next == NULL || v->cmp->dtype != DTYPE_F32)
        return NULL;
    for (uint64_t i = 0; i < v->n; i++) {
        const double next = compare_load(v->cmp->dtype, v->in->next, i);

        if (isnan(v->got[i]) && !isnan(v->want[i]) && fabs(next) > 1e37 &&
            !compare_element_unwritten(v->cmp, i)) {
            if (odd++ == 0)
                first = i;
        }
    }
    if (odd == 0)
        return NULL;
    return arena_printf(v->arena,
                        "%" PRIu64 " elements, first at %" PRIu64
                        ", hold or use data from beyond the end of a buffer",
                        odd, first);
}

static const char *hint_guard_bits(const struct view *v)
{
    const double poison = v->cmp->dtype == DTYPE_F32
                              ? 2.9993589e38 /* 7f61a5a5, the guard pattern of call B */
                              : 0.0;

    if (poison == 0.0 || v->cmp->poison_kind != 1)
        return NULL;
    for (uint64_t i = 0; i < v->n; i++) {
        const double raw = fabs(compare_load(v->cmp->dtype, v->cmp->got, i));

        if (v->bad[i] && !compare_element_unwritten(v->cmp, i) && raw > 0.5 * poison &&
            raw <= DBL_MAX && fabs(v->want[i]) < 1e30)
            return arena_printf(
                v->arena, "element %" PRIu64 " holds or uses data from beyond the end of a buffer",
                i);
    }
    return NULL;
}

/* ---- decoys ---- */

static const char *hint_zeros(const struct view *v);

static const char *hint_decoy(const struct view *v)
{
    if (hint_zeros(v) != NULL)
        return NULL; /* zeros say more than a mistake that happens to give zeros */
    for (unsigned k = 0; k < v->in->decoy_count; k++) {
        const struct hint_decoy *decoy = &v->in->decoys[k];
        bool equal = v->n > 0;

        for (uint64_t i = 0; i < v->n && equal; i++)
            equal = near(v, i, v->got[i], compare_load(decoy->dtype, decoy->data, i));
        if (equal)
            return arena_strdup(v->arena, decoy->sentence); /* the case file will be closed */
    }
    return NULL;
}

/* ---- the previous call's result ---- */

static const char *hint_replay(const struct view *v)
{
    bool equal_raw = true, equal_scaled = true, zero = true;
    double factor = 0.0;

    if (v->in->previous == NULL || v->n == 0)
        return NULL;
    for (uint64_t i = 0; i < v->n && (equal_raw || equal_scaled); i++) {
        const double raw = ldexp(v->got[i], v->cmp->exponent);
        const double before = compare_load(v->cmp->dtype, v->in->previous, i);
        int e = 0;

        zero = zero && raw == 0.0;
        equal_raw = equal_raw && (raw == before || (isnan(raw) && isnan(before)));
        if (factor == 0.0 && before != 0.0 && isfinite(raw / before) &&
            frexp(fabs(raw / before), &e) == 0.5)
            factor = raw / before;
        equal_scaled = equal_scaled && (raw == before * factor || (raw == 0.0 && before == 0.0));
    }
    if (zero)
        return NULL;
    if (equal_raw)
        return "returns the previous call's result";
    if (equal_scaled && factor != 0.0)
        return arena_printf(v->arena, "returns the previous call's result times %g", factor);
    return NULL;
}

static const char *hint_accumulates(const struct view *v)
{
    bool all = v->n > 0, any = false;

    if (v->in->previous == NULL)
        return NULL;
    for (uint64_t i = 0; i < v->n && all; i++) {
        /* this call's raw output minus its raw right answer is what was there before */
        const double added = ldexp(v->got[i] - v->want[i], v->cmp->exponent);
        const double before = compare_load(v->cmp->dtype, v->in->previous, i);

        all = isfinite(added) && ((added == 0.0 && before == 0.0) ||
                                  fabs(added - before) <= 1e-4 * fmax(fabs(before), fabs(added)));
        any = any || before != 0.0;
    }
    return all && any ? "adds to the previous result: the output is not cleared" : NULL;
}

/* ---- zeros and copies ---- */

static const char *hint_zeros(const struct view *v)
{
    for (uint64_t i = 0; i < v->n; i++)
        if (v->got[i] != 0.0)
            return NULL;
    return v->n > 0 ? "the output is all zeros" : NULL;
}

static const char *hint_copy(const struct view *v)
{
    for (unsigned k = 0; k < v->in->input_count; k++) {
        const struct hint_tensor *t = &v->in->inputs[k];
        bool equal = v->n >= 2 && t->count >= v->n;

        for (uint64_t i = 0; i < v->n && equal; i++)
            equal = ldexp(v->got[i], v->cmp->exponent) ==
                    ldexp(compare_load(t->dtype, t->data, i), t->exponent);
        if (equal)
            return arena_printf(v->arena, "the output is a copy of '%s'", t->name);
    }
    return NULL;
}

/* ---- where it is wrong ---- */

/* All failures lie in the tail beyond the last multiple of q, and the whole tail fails. */
static const char *hint_tail(const struct view *v)
{
    if (v->mis->count == 0 || v->mis->last + 1 != v->n)
        return NULL;
    for (uint64_t q = 4; q <= 1024; q *= 2) {
        const uint64_t tail = v->n / q * q;

        if (tail != 0 && tail < v->n && v->mis->first == tail && v->mis->count == v->n - tail)
            return arena_printf(v->arena,
                                "only the tail beyond a multiple of %" PRIu64
                                " is wrong (from index %" PRIu64 ")",
                                q, tail);
    }
    return NULL;
}

static const char *hint_stride(const struct view *v)
{
    if (v->mis->count < 3)
        return NULL;
    for (uint64_t s = 2; s <= 1024 && s * 2 < v->n; s++) {
        const uint64_t r = v->mis->first % s;
        uint64_t expected = (v->n - r + s - 1) / s;
        bool fits = expected == v->mis->count;

        for (uint64_t i = 0; i < v->n && fits; i++)
            fits = (v->bad[i] != 0) == (i % s == r);
        if (fits)
            return arena_printf(v->arena,
                                "one element in %" PRIu64 " is wrong: indices %" PRIu64 ", %" PRIu64
                                " and so on",
                                s, r, r + s);
    }
    return NULL;
}

/* For a matrix: whole rows or whole columns fail. */
static const char *hint_rows(const struct view *v)
{
    uint64_t columns, row_first = 0, rows_bad = 0, columns_bad = 0, column_first = 0, rows;

    if (v->cmp->rank != 2 || v->cmp->shape[1] < 2 || v->cmp->shape[0] < 2)
        return NULL;
    columns = v->cmp->shape[1];
    rows = v->cmp->shape[0];
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t bad = 0;
        for (uint64_t c = 0; c < columns; c++)
            bad += v->bad[r * columns + c];
        if (bad == columns && rows_bad++ == 0)
            row_first = r;
    }
    if (rows_bad > 0 && rows_bad < rows && rows_bad * columns == v->mis->count)
        return arena_printf(v->arena,
                            "whole rows are wrong: %" PRIu64 " of %" PRIu64 ", first row %" PRIu64,
                            rows_bad, rows, row_first);
    for (uint64_t c = 0; c < columns; c++) {
        uint64_t bad = 0;
        for (uint64_t r = 0; r < rows; r++)
            bad += v->bad[r * columns + c];
        if (bad == rows && columns_bad++ == 0)
            column_first = c;
    }
    if (columns_bad > 0 && columns_bad < columns && columns_bad * rows == v->mis->count)
        return arena_printf(
            v->arena, "whole columns are wrong: %" PRIu64 " of %" PRIu64 ", first column %" PRIu64,
            columns_bad, columns, column_first);
    return NULL;
}

static const char *hint_from_on(const struct view *v)
{
    uint64_t block = 0;

    if (v->n < 2 || v->mis->first == 0 || v->mis->last + 1 != v->n ||
        v->mis->count != v->n - v->mis->first)
        return NULL;
    for (uint64_t size = 1024; size >= 32 && block == 0; size /= 2)
        if (v->mis->first % size == 0)
            block = size;
    if (block != 0)
        return arena_printf(v->arena,
                            "wrong from index %" PRIu64 " to the end: block %" PRIu64 " of %" PRIu64
                            " elements and on",
                            v->mis->first, v->mis->first / block, block);
    return arena_printf(v->arena, "wrong from index %" PRIu64 " to the end", v->mis->first);
}

/* ---- right values in the wrong place ---- */

static int by_value(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;

    if (isnan(x) || isnan(y))
        return isnan(x) - isnan(y);
    return (x > y) - (x < y);
}

static bool sorted_pair(const struct view *v, double **got, double **want)
{
    *got = xalloc_array(v->n, sizeof **got);
    *want = xalloc_array(v->n, sizeof **want);
    if (*got == NULL || *want == NULL || v->n < 2) {
        xfree(*got);
        xfree(*want);
        return false;
    }
    memcpy(*got, v->got, v->n * sizeof **got);
    memcpy(*want, v->want, v->n * sizeof **want);
    qsort(*got, v->n, sizeof **got, by_value);
    qsort(*want, v->n, sizeof **want, by_value);
    return true;
}

static const char *order_of(const struct view *v)
{
    bool reversed = true;

    for (uint64_t i = 0; i < v->n && reversed; i++)
        reversed = near(v, i, v->got[i], v->want[v->n - 1 - i]);
    if (reversed)
        return "right values in reversed order";
    for (uint64_t d = 1; d <= 64 && d < v->n; d++) {
        bool left = true, right = true;

        for (uint64_t i = 0; i + d < v->n && (left || right); i++) {
            left = left && near(v, i, v->got[i], v->want[i + d]);
            right = right && near(v, i + d, v->got[i + d], v->want[i]);
        }
        if (left || right)
            return arena_printf(v->arena, "right values shifted by %s%" PRIu64, left ? "-" : "+",
                                d);
    }
    return "right values, wrong order";
}

/* Walks two sorted lists: how many values of `want` are missing and which is the first. */
static const char *multiset(const struct view *v, const double *got, const double *want)
{
    uint64_t i = 0, j = 0, lost = 0, extra = 0, doubled = 0;
    double first_lost = 0.0, first_extra = 0.0;

    while (i < v->n || j < v->n) {
        if (j >= v->n || (i < v->n && got[i] < want[j])) {
            if (extra++ == 0)
                first_extra = got[i];
            if ((i > 0 && got[i] == got[i - 1]) || (i + 1 < v->n && got[i] == got[i + 1]) ||
                (j > 0 && got[i] == want[j - 1]))
                doubled++;
            i++;
        } else if (i >= v->n || got[i] > want[j]) {
            if (lost++ == 0)
                first_lost = want[j];
            j++;
        } else {
            i++, j++;
        }
    }
    if (lost == 0)
        return order_of(v);
    if (doubled == extra && lost < v->n)
        return arena_printf(v->arena,
                            "%" PRIu64 " value%s lost (%.9g), %" PRIu64 " duplicated (%.9g)", lost,
                            lost == 1 ? "" : "s", first_lost, extra, first_extra);
    return NULL;
}

static const char *hint_order(const struct view *v)
{
    double *got = NULL, *want = NULL;
    const char *text = NULL;

    /* Lost and doubled values make sense only where values are moved, not computed. */
    if (v->cmp->rule.kind != RULE_EXACT)
        return NULL;
    if (!sorted_pair(v, &got, &want))
        return NULL;
    if (!isnan(got[v->n - 1]) && !isnan(want[v->n - 1]))
        text = multiset(v, got, want);
    xfree(got);
    xfree(want);
    return text;
}

/* ---- moved values: what is in no input, and which way they run ---- */

static bool holds(const double *sorted, uint64_t n, double x)
{
    return bsearch(&x, sorted, n, sizeof *sorted, by_value) != NULL;
}

/* Where every right value is an element of an input, an output that is none was made up. */
static const char *invented(const struct view *v, const double *sorted, uint64_t n)
{
    for (uint64_t i = 0; i < v->n; i++)
        if (!holds(sorted, n, v->want[i]))
            return NULL;
    for (uint64_t i = 0; i < v->n; i++)
        if (v->bad[i] && !isnan(v->got[i]) && !compare_element_unwritten(v->cmp, i) &&
            !holds(sorted, n, v->got[i]))
            return arena_printf(v->arena,
                                "element %" PRIu64
                                " = %.9g is in no input: padding, or memory never written",
                                i, v->got[i]);
    return NULL;
}

static const char *hint_invented(const struct view *v)
{
    uint64_t total = 0, n = 0;
    const char *text;
    double *all;

    for (unsigned k = 0; k < v->in->input_count; k++)
        total += v->in->inputs[k].count;
    if (v->n < 2 || total == 0 || total > HINTS_MAX_ELEMENTS)
        return NULL;
    all = xalloc_array(total, sizeof *all);
    if (all == NULL)
        return NULL;
    for (unsigned k = 0; k < v->in->input_count; k++)
        for (uint64_t i = 0; i < v->in->inputs[k].count; i++)
            all[n++] = compare_load(v->in->inputs[k].dtype, v->in->inputs[k].data, i);
    qsort(all, n, sizeof *all, by_value);
    text = isnan(all[n - 1]) ? NULL : invented(v, all, n);
    xfree(all);
    return text;
}

/* 1: ascends, -1: descends, 0: neither, or constant, or not a number. */
static int direction(const double *x, uint64_t n)
{
    bool up = false, down = false;

    for (uint64_t i = 1; i < n; i++) {
        if (isnan(x[i - 1]) || isnan(x[i]))
            return 0;
        up = up || x[i] > x[i - 1];
        down = down || x[i] < x[i - 1];
    }
    return (int)up - (int)down;
}

static const char *hint_direction(const struct view *v)
{
    const int got = direction(v->got, v->n), want = direction(v->want, v->n);

    /* Two elements run some way by chance, a whole output does not. */
    if (v->n < 3 || got == 0 || want == 0 || got == want)
        return NULL;
    return got > 0 ? "the values ascend, they should descend"
                   : "the values descend, they should ascend";
}

/* ---- a constant factor ---- */

static const char *factor_name(const struct view *v, double factor)
{
    static const char *const before[] = {"", "1/", "sqrt(", "1/sqrt("};
    static const char *const after[] = {"", "", ")", ")"};

    for (unsigned k = 0; k < v->in->scalar_count; k++) {
        const struct hint_scalar *s = &v->in->scalars[k];
        const double forms[] = {s->value, 1.0 / s->value, sqrt(s->value), 1.0 / sqrt(s->value)};

        if (!(s->value > 2.0))
            continue;
        for (size_t f = 0; f < sizeof forms / sizeof *forms; f++)
            if (fabs(factor - forms[f]) <= 1e-4 * fabs(forms[f]))
                return arena_printf(v->arena, " = %s%s%s", before[f], s->name, after[f]);
    }
    return "";
}

static const char *hint_factor(const struct view *v)
{
    double factor = 0.0;
    uint64_t used = 0;
    const char *name;
    bool familiar;

    for (uint64_t i = 0; i < v->n; i++) {
        /* elements below their own tolerance say nothing about a factor */
        if (fabs(v->want[i]) <= 100.0 * v->allowed[i] || v->want[i] == 0.0)
            continue;
        if (!isfinite(v->got[i]) || !isfinite(v->want[i]))
            return NULL;
        if (used++ == 0)
            factor = v->got[i] / v->want[i];
        else if (!(fabs(v->got[i] / v->want[i] - factor) <= 1e-4 * fabs(factor)))
            return NULL;
    }
    if (used == 0 || factor == 0.0 || alike(factor, 1.0))
        return NULL;
    name = factor_name(v, factor);
    familiar = name[0] != '\0' || alike(factor, -1.0) || alike(factor, 2.0) || alike(factor, 0.5);
    /* one element has always a factor: it must be a familiar one to mean something */
    if (used < 2 && !familiar)
        return NULL;
    if (alike(factor, -1.0))
        return "the sign is wrong";
    return arena_printf(v->arena, "off by the constant factor %.6g%s", factor, name);
}

static const pattern patterns[] = {
    hint_unwritten, hint_past_end, hint_guard_bits, hint_decoy,    hint_replay,   hint_accumulates,
    hint_zeros,     hint_copy,     hint_tail,       hint_rows,     hint_invented, hint_stride,
    hint_from_on,   hint_order,    hint_factor,     hint_direction};

static bool view_open(struct view *v)
{
    const uint64_t n = v->n > 0 ? v->n : 1;

    v->got = xalloc_array(n, sizeof *v->got);
    v->want = xalloc_array(n, sizeof *v->want);
    v->allowed = xalloc_array(n, sizeof *v->allowed);
    v->bad = xalloc(n);
    if (v->got == NULL || v->want == NULL || v->allowed == NULL || v->bad == NULL)
        return false;
    for (uint64_t i = 0; i < v->n; i++) {
        v->got[i] = ldexp(compare_load(v->cmp->dtype, v->cmp->got, i), -v->cmp->exponent);
        v->want[i] = compare_load(v->cmp->want_dtype, v->cmp->want, i);
        v->bad[i] = compare_element_fails(v->cmp, i);
        v->allowed[i] = v->cmp->rule.kind == RULE_ALLCLOSE
                            ? v->cmp->rule.atol + v->cmp->rule.rtol * fabs(v->want[i])
                        : v->cmp->rule.kind == RULE_TOL ? v->cmp->tol[i]
                                                        : 0.0;
    }
    return true;
}

static void view_close(struct view *v)
{
    xfree(v->got);
    xfree(v->want);
    xfree(v->allowed);
    xfree(v->bad);
}

unsigned hints_find(const struct hints_input *in, struct arena *a, const char *out[HINTS_MAX])
{
    struct view v = {
        .in = in, .cmp = in->compare, .mis = in->mismatch, .arena = a, .n = in->compare->count};
    unsigned count = 0;

    for (unsigned k = 0; k < HINTS_MAX; k++)
        out[k] = NULL;
    if (v.mis->count == 0)
        return 0;
    if (v.n > HINTS_MAX_ELEMENTS) {
        out[0] = hint_unwritten(&v);
        return out[0] != NULL;
    }
    if (view_open(&v))
        for (size_t k = 0; k < sizeof patterns / sizeof *patterns && count < HINTS_MAX; k++) {
            const char *text = patterns[k](&v);

            if (text == NULL)
                continue;
            out[count++] = text;
            /* when nothing is there, nothing else is worth saying */
            if (patterns[k] == hint_unwritten && v.mis->unwritten == v.n)
                break;
        }
    view_close(&v);
    return count;
}

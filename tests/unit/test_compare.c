/*
 * test_compare.c - the element tests of every rule, on values in memory and on the case folders
 * under checkers/. Does not test hints (test_hints.c).
 * Invariant: each folder states whether it is accepted, so a folder that is not read fails.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "compare.h"

#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX_ELEMENTS 64

/* ---- folders ---- */

struct folder {
    enum rule_kind kind;
    double atol, rtol;
    int exponent;
    unsigned poison_kind;
    float got[MAX_ELEMENTS];
    float want_f32[MAX_ELEMENTS];
    double want[MAX_ELEMENTS], tol[MAX_ELEMENTS];
    unsigned count, want_count, tol_count;
    bool accept;
    unsigned long wanted_count, wanted_first, wanted_unwritten;
};

/* "nan", "-inf", "1e-5", or the bits of an f32 as 0x7fe5a5a5. */
static double number(const char *word)
{
    char *end;
    double value;

    if (strncmp(word, "0x", 2) == 0) {
        const uint32_t bits = (uint32_t)strtoul(word, NULL, 16);
        float f;

        memcpy(&f, &bits, sizeof f);
        return (double)f;
    }
    value = strtod(word, &end);
    assert_true(end != word && *end == '\0');
    return value;
}

static void read_word(struct folder *f, const char *key, const char *word)
{
    if (strcmp(key, "got") == 0) {
        const uint32_t bits = (uint32_t)strtoul(word, NULL, 16);

        assert_in_range(f->count, 0, MAX_ELEMENTS - 1);
        if (strncmp(word, "0x", 2) == 0)
            memcpy(&f->got[f->count], &bits, sizeof bits);
        else
            f->got[f->count] = (float)number(word);
        f->count++;
    } else if (strcmp(key, "want") == 0) {
        assert_in_range(f->want_count, 0, MAX_ELEMENTS - 1);
        f->want_f32[f->want_count] = (float)number(word);
        f->want[f->want_count++] = number(word);
    } else if (strcmp(key, "tol") == 0) {
        assert_in_range(f->tol_count, 0, MAX_ELEMENTS - 1);
        f->tol[f->tol_count++] = number(word);
    } else if (strcmp(key, "atol") == 0) {
        f->atol = number(word);
    } else if (strcmp(key, "rtol") == 0) {
        f->rtol = number(word);
    } else if (strcmp(key, "exponent") == 0) {
        f->exponent = atoi(word);
    } else if (strcmp(key, "poison") == 0) {
        f->poison_kind = (unsigned)atoi(word);
    } else if (strcmp(key, "verdict") == 0) {
        assert_true(strcmp(word, "accept") == 0 || strcmp(word, "refuse") == 0);
        f->accept = word[0] == 'a';
    } else if (strcmp(key, "count") == 0) {
        f->wanted_count = strtoul(word, NULL, 10);
    } else if (strcmp(key, "first") == 0) {
        f->wanted_first = strtoul(word, NULL, 10);
    } else if (strcmp(key, "unwritten") == 0) {
        f->wanted_unwritten = strtoul(word, NULL, 10);
    } else {
        fail_msg("unknown key '%s'", key);
    }
}

static void read_folder(struct folder *f, const char *path)
{
    char line[512];
    FILE *file = fopen(path, "r");

    if (file == NULL)
        fail_msg("cannot read %s", path);
    while (fgets(line, sizeof line, file) != NULL) {
        char *save, *key = strtok_r(line, " \n", &save), *word;

        if (key == NULL || key[0] == '#')
            continue;
        while ((word = strtok_r(NULL, " \n", &save)) != NULL)
            read_word(f, key, word);
    }
    fclose(file);
}

static void check_folder(const char *kind_name, enum rule_kind kind, const char *name)
{
    char path[512];
    struct folder f = {.kind = kind};
    struct compare_input in = {.dtype = DTYPE_F32, .rank = 1};
    struct mismatch m;
    bool accepted;

    snprintf(path, sizeof path, "%s/checkers/%s/%s/case.txt", TEST_DATA, kind_name, name);
    read_folder(&f, path);
    assert_int_equal(f.count, f.want_count);
    assert_in_range(f.count, 1, MAX_ELEMENTS);
    in.count = f.count;
    in.shape[0] = f.count;
    in.got = f.got;
    in.want = kind == RULE_EXACT ? (const void *)f.want_f32 : f.want;
    in.want_dtype = kind == RULE_EXACT ? DTYPE_F32 : DTYPE_F64;
    in.tol = kind == RULE_TOL ? f.tol : NULL;
    in.rule = (struct rule){.name = "folder", .kind = kind, .atol = f.atol, .rtol = f.rtol};
    in.exponent = f.exponent;
    in.poison_kind = f.poison_kind;
    accepted = compare_output(&in, &m);
    if (accepted != f.accept || m.count != f.wanted_count || m.unwritten != f.wanted_unwritten ||
        (!accepted && m.first != f.wanted_first))
        fail_msg("%s/%s: accepted %d (%lu failing, first %lu, unwritten %lu)", kind_name, name,
                 accepted, (unsigned long)m.count, (unsigned long)m.first,
                 (unsigned long)m.unwritten);
}

static void test_folders(void **state)
{
    static const struct {
        const char *name;
        enum rule_kind kind;
        int least; /* folders that must be there */
    } kinds[] = {{"exact", RULE_EXACT, 4},
                 {"allclose", RULE_ALLCLOSE, 4},
                 {"tol", RULE_TOL, 3},
                 {"survive", RULE_SURVIVE, 1}};

    (void)state;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        char path[512];
        struct dirent *entry;
        DIR *dir;
        int seen = 0;

        snprintf(path, sizeof path, "%s/checkers/%s", TEST_DATA, kinds[k].name);
        dir = opendir(path);
        assert_non_null(dir);
        while ((entry = readdir(dir)) != NULL) {
            if (entry->d_name[0] == '.')
                continue;
            check_folder(kinds[k].name, kinds[k].kind, entry->d_name);
            seen++;
        }
        closedir(dir);
        assert_true(seen >= kinds[k].least);
    }
}

/* ---- single properties ---- */

static struct compare_input exact_f32(const float *got, const float *want, uint64_t n)
{
    return (struct compare_input){.dtype = DTYPE_F32,
                                  .count = n,
                                  .got = got,
                                  .want = want,
                                  .want_dtype = DTYPE_F32,
                                  .rule = {.name = "strict", .kind = RULE_EXACT},
                                  .rank = 1,
                                  .shape = {n}};
}

static void test_nan_never_passes_for_a_number(void **state)
{
    const float got[1] = {NAN};
    const double want[1] = {1.0}, tol[1] = {1e300};
    struct mismatch m;
    struct compare_input in = {.dtype = DTYPE_F32,
                               .count = 1,
                               .got = got,
                               .want = want,
                               .want_dtype = DTYPE_F64,
                               .tol = tol};

    (void)state;
    in.rule = (struct rule){.kind = RULE_ALLCLOSE, .atol = 1e300, .rtol = 1e300};
    assert_false(compare_output(&in, &m));
    in.rule.kind = RULE_TOL;
    assert_false(compare_output(&in, &m));
    assert_int_equal(m.count, 1);
    assert_true(isinf(m.max_abs));
}

static void test_infinite_bound_accepts_nothing(void **state)
{
    const float got[1] = {1.0f};
    const double want[1] = {1.0}, tol[1] = {INFINITY};
    struct mismatch m;
    const struct compare_input in = {.dtype = DTYPE_F32,
                                     .count = 1,
                                     .got = got,
                                     .want = want,
                                     .want_dtype = DTYPE_F64,
                                     .tol = tol,
                                     .rule = {.kind = RULE_TOL}};

    (void)state;
    assert_false(compare_output(&in, &m));
}

static void test_first_last_and_counts_across_blocks(void **state)
{
    enum { N = 5000 };
    static float got[N], want[N];
    struct compare_input in = exact_f32(got, want, N);
    struct mismatch m;

    (void)state;
    for (int i = 0; i < N; i++)
        got[i] = want[i] = (float)i;
    assert_true(compare_output(&in, &m));
    got[1023] = -1.0f;
    got[1024] = -1.0f;
    got[4999] = -1.0f;
    assert_false(compare_output(&in, &m));
    assert_int_equal(m.count, 3);
    assert_int_equal(m.first, 1023);
    assert_int_equal(m.last, 4999);
    assert_true(m.got == -1.0 && m.want == 1023.0);
}

static void test_exponent_is_undone(void **state)
{
    const float want[3] = {1.5f, -2.25f, 0.0f};
    float got[3] = {0};
    struct compare_input in = exact_f32(got, want, 3);
    struct mismatch m;

    (void)state;
    for (int e = -16; e <= 16; e++) {
        for (int i = 0; i < 3; i++)
            got[i] = ldexpf(want[i], e);
        in.exponent = e;
        assert_true(compare_output(&in, &m));
        in.exponent = e + 1;
        assert_false(compare_output(&in, &m));
        assert_int_equal(m.count, 2);
    }
}

static void test_integer_poison_needs_both_calls(void **state)
{
    const int32_t got[2] = {(int32_t)0xa5a5a5a5u, 7};
    const int32_t other_same[2] = {0x5a5a5a5a, 7}, other_written[2] = {(int32_t)0xa5a5a5a5u, 7};
    struct mismatch m;
    struct compare_input in = {.dtype = DTYPE_I32,
                               .count = 2,
                               .got = got,
                               .want = got,
                               .want_dtype = DTYPE_I32,
                               .rule = {.kind = RULE_EXACT}};

    (void)state;
    assert_true(compare_output(&in, &m));
    in.got_other = other_written; /* the answer happens to look like poison */
    assert_true(compare_output(&in, &m));
    in.got_other = other_same; /* nothing was written in either call */
    assert_false(compare_output(&in, &m));
    assert_int_equal(m.unwritten, 1);
}

static void test_wide_integers_are_compared_exactly(void **state)
{
    const int64_t want[1] = {(INT64_C(1) << 62) + 1}, got[1] = {INT64_C(1) << 62};
    struct mismatch m;
    const struct compare_input in = {.dtype = DTYPE_I64,
                                     .count = 1,
                                     .got = got,
                                     .want = want,
                                     .want_dtype = DTYPE_I64,
                                     .rule = {.kind = RULE_EXACT}};

    (void)state;
    assert_false(compare_output(&in, &m)); /* both are the same double */
}

static void test_half_formats(void **state)
{
    const uint16_t f16[5] = {0x3c00, 0xc000, 0x0001, 0x7c00, 0x7bff};
    const double want[5] = {1.0, -2.0, 0x1p-24, (double)INFINITY, 65504.0};
    const uint16_t bf16[2] = {0x3f80, 0xc040};

    (void)state;
    for (uint64_t i = 0; i < 5; i++)
        assert_true(compare_load(DTYPE_F16, f16, i) == want[i]);
    assert_true(compare_load(DTYPE_BF16, bf16, 0) == 1.0);
    assert_true(compare_load(DTYPE_BF16, bf16, 1) == -3.0);
}

static void test_ulp(void **state)
{
    (void)state;
    assert_int_equal(compare_ulp(DTYPE_F32, 2.0, 3.0), 4194304);
    assert_int_equal(compare_ulp(DTYPE_F32, 1.0, 1.0), 0);
    assert_int_equal(compare_ulp(DTYPE_F32, (double)nextafterf(1.0f, 2.0f), 1.0), 1);
    assert_int_equal(compare_ulp(DTYPE_F32, 0x1p-149, 0.0), 1);
    assert_true(compare_ulp(DTYPE_F32, (double)NAN, 1.0) == UINT64_MAX);
    assert_int_equal(compare_ulp(DTYPE_F16, 1.0 + 0x1p-10, 1.0), 1);
}

/* Widening a tolerance never turns an accepted output into a refused one. */
static void test_wider_tolerance_never_refuses(void **state)
{
    unsigned accepted = 0, refused = 0;
    uint32_t random = 12345;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        float got[1];
        double want[1], tol[1];
        struct mismatch m;
        struct compare_input in = {.dtype = DTYPE_F32,
                                   .count = 1,
                                   .got = got,
                                   .want = want,
                                   .want_dtype = DTYPE_F64,
                                   .tol = tol,
                                   .rule = {.kind = RULE_TOL}};

        random = random * 1664525u + 1013904223u;
        want[0] = (double)(int32_t)random / 65536.0;
        random = random * 1664525u + 1013904223u;
        got[0] = (float)(want[0] + (double)(int32_t)random * 1e-12);
        tol[0] = 1e-3;
        if (!compare_output(&in, &m)) {
            refused++;
            continue;
        }
        accepted++;
        tol[0] = 2e-3;
        assert_true(compare_output(&in, &m));
    }
    assert_true(accepted > 100 && refused > 100);
}

static void test_margin(void **state)
{
    const float got[2] = {1.0f, 2.0f};
    const double want[2] = {1.0, 2.5}, tol[2] = {1.0, 1.0};
    struct mismatch m;
    const struct compare_input in = {.dtype = DTYPE_F32,
                                     .count = 2,
                                     .got = got,
                                     .want = want,
                                     .want_dtype = DTYPE_F64,
                                     .tol = tol,
                                     .rule = {.kind = RULE_TOL}};

    (void)state;
    assert_true(compare_output(&in, &m));
    assert_true(m.margin == 0.5);
}

static void test_nothing_to_compare_is_accepted(void **state)
{
    struct compare_input in = exact_f32(NULL, NULL, 0);
    struct mismatch m;

    (void)state;
    assert_true(compare_output(&in, &m));
    assert_int_equal(m.count, 0);
}

/* The block paths stay fast: a generous floor that catches a fall back to the element path (about
 * 0.1 GB/s), not a slow machine. judge.md section 18 asks for 4 GB/s on a free core. */
static void test_compare_speed(void **state)
{
    enum { N = 1 << 22 };
    float *got = calloc(N, sizeof *got), *want = calloc(N, sizeof *want);
    struct compare_input in = exact_f32(got, want, N);
    struct mismatch m;
    struct timespec t0, t1;
    double seconds, rate, best = 0.0;

    (void)state;
    assert_non_null(got);
    assert_non_null(want);
    in.exponent = 3;
    for (int i = 0; i < N; i++) {
        want[i] = (float)i;
        got[i] = 8.0f * (float)i;
    }
    for (int round = 0; round < 5; round++) {
        clock_gettime(CLOCK_MONOTONIC, &t0);
        assert_true(compare_output(&in, &m));
        clock_gettime(CLOCK_MONOTONIC, &t1);
        seconds = (double)(t1.tv_sec - t0.tv_sec) + 1e-9 * (double)(t1.tv_nsec - t0.tv_nsec);
        rate = 2.0 * N * sizeof *got / seconds / 1e9;
        best = rate > best ? rate : best;
    }
    print_message("compare_output, exact f32: %.1f GB/s\n", best);
#if !defined(__SANITIZE_ADDRESS__) && defined(__OPTIMIZE__)
    assert_true(best > 0.8);
#endif
    free(got);
    free(want);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_folders),
        cmocka_unit_test(test_nan_never_passes_for_a_number),
        cmocka_unit_test(test_infinite_bound_accepts_nothing),
        cmocka_unit_test(test_first_last_and_counts_across_blocks),
        cmocka_unit_test(test_exponent_is_undone),
        cmocka_unit_test(test_integer_poison_needs_both_calls),
        cmocka_unit_test(test_wide_integers_are_compared_exactly),
        cmocka_unit_test(test_half_formats),
        cmocka_unit_test(test_ulp),
        cmocka_unit_test(test_wider_tolerance_never_refuses),
        cmocka_unit_test(test_margin),
        cmocka_unit_test(test_nothing_to_compare_is_accepted),
        cmocka_unit_test(test_compare_speed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * test_solution.c - tags of solutions: what is accepted, where refusals point, and file lists.
 */
#include "alloc_fault.h"
#include "solution.h"
#include "tempdir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum status parse(struct solution *s, struct arena *a, const char *text,
                         enum solution_kind kind, struct diag *d)
{
    return solution_parse(s, a, text, strlen(text), kind, "x.cu", d);
}

static void all_tags(void **state)
{
    struct arena a = {0};
    struct solution s;
    struct diag d;

    (void)state;
    assert_int_equal(parse(&s, &a,
                           "\xef\xbb\xbf// @idea   one launch, float4  \r\n"
                           "//@source note 003\n"
                           "// Some prose about @idea and mail@example.\n"
                           "\n"
                           "// @expect WA|RE\n"
                           "// @arch   sm_90a\n"
                           "// @needs  gpu bench\n"
                           "// @tune   LOADS 8 4 -1\n"
                           "// @tune   BLOCK 256\n"
                           "#include <cuda_runtime.h>\n"
                           "// @param x a comment of another tool\n"
                           "extern \"C\" void solve() {}\n",
                           SOLUTION_REJECT, &d),
                     STATUS_OK);
    assert_string_equal(s.idea, "one launch, float4");
    assert_string_equal(s.source, "note 003");
    assert_int_equal(s.expect.set, 1u << VERDICT_WA | 1u << VERDICT_RE);
    assert_string_equal(s.arch, "sm_90a");
    assert_true(s.needs_gpu && s.needs_bench && !s.needs_vgpu);
    assert_int_equal(s.tune_count, 2);
    assert_string_equal(s.tunes[0].name, "LOADS");
    assert_int_equal(s.tunes[0].value_count, 3);
    assert_int_equal(s.tunes[0].values[2], -1);
    assert_string_equal(s.tunes[1].name, "BLOCK");
    arena_fini(&a);
}

static void no_tags_mean_defaults(void **state)
{
    struct arena a = {0};
    struct solution s;
    struct diag d;

    (void)state;
    assert_int_equal(parse(&s, &a, "", SOLUTION_FOREIGN, &d), STATUS_OK);
    assert_int_equal(s.expect.set, 1u << VERDICT_AC);
    assert_string_equal(s.idea, "");
    assert_string_equal(s.arch, "");
    arena_fini(&a);
}

static void refusals_point_at_the_place(void **state)
{
    static const struct {
        const char *text;
        unsigned line, col;
        const char *message;
    } rows[] = {
        {"// @ide x\n", 1, 5, "unknown tag '@ide'; did you mean '@idea'?"},
        {"// @colour x\n", 1, 5,
         "unknown tag '@colour'; the tags are @idea @source @expect @arch @needs @tune"},
        {"// @idea a\n// @idea b\n", 2, 5, "a second @idea; the first is in line 1"},
        {"// @idea\n", 1, 9, "@idea needs a text"},
        {"// @idea a\033[2J\n", 1, 11, "control character in @idea"},
        {"// @expect\n", 1, 11, "@expect needs a verdict, like 'WA', 'WA|RE' or 'WA@ties_4099'"},
        {"// @expect WA|XX\n", 1, 15,
         "'WA|XX' is no expectation; use verdicts AC WA TLE MLE RE CE SK joined by '|', and "
         "perhaps "
         "'@case'"},
        {"// @expect WA RE\n", 1, 11, "@expect takes one word, without spaces"},
        {"// @arch 90\n", 1, 10, "@arch needs one architecture, like sm_80, sm_90 or sm_90a"},
        {"// @arch sm_90x\n", 1, 10, "@arch needs one architecture, like sm_80, sm_90 or sm_90a"},
        {"// @arch sm_70\n", 1, 10, "CUDA 13 compiles for sm_75 and newer, not sm_70"},
        {"// @needs\n", 1, 10, "@needs takes gpu, vgpu or bench"},
        {"// @needs wgmma\n", 1, 11,
         "@needs takes gpu, vgpu or bench, not 'wgmma'; hardware features belong in the comment"},
        {"// @needs gpu vgpu\n", 1, 0, "@needs gpu and vgpu exclude each other"},
        {"// @tune\n", 1, 9,
         "@tune needs a constant's name and its values, like '@tune LOADS 8 4'"},
        {"// @tune 8 4\n", 1, 10,
         "@tune needs a constant's name and its values, like '@tune LOADS 8 4'"},
        {"// @tune LOADS\n", 1, 15, "@tune needs at least one value, the default first"},
        {"// @tune LOADS 8 x4\n", 1, 18, "'x4' is no integer"},
        {"// @tune LOADS 8 8\n", 1, 18, "the value 8 twice"},
        {"// @tune L 1\n// @tune L 2\n", 2, 10, "a second @tune of 'L'"},
        {"// @tune L 99999999999999999999\n", 1, 12, "'99999999999999999999' is no integer"},
        {"int x;\n// @expect WA\n", 2, 4, "tag below the first line of code; tags head the file"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct arena a = {0};
        struct solution s;
        struct diag d;

        assert_int_equal(parse(&s, &a, rows[i].text, SOLUTION_ACCEPT, &d), STATUS_BAD_DATA);
        assert_string_equal(d.text, rows[i].message);
        assert_string_equal(d.file, "x.cu");
        assert_int_equal(d.line, rows[i].line);
        assert_int_equal(d.col, rows[i].col);
        arena_fini(&a);
    }
}

static void reject_needs_an_expectation(void **state)
{
    struct arena a = {0};
    struct solution s;
    struct diag d;

    (void)state;
    assert_int_equal(parse(&s, &a, "// @idea x\n", SOLUTION_REJECT, &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "a file in rejects/ needs a line like '// @expect WA'");
    assert_int_equal(parse(&s, &a, "// @expect AC\n", SOLUTION_REJECT, &d), STATUS_OK);
    arena_fini(&a);
}

static void arch_is_a_lower_bound_or_exact(void **state)
{
    static const struct {
        const char *tag, *arch;
        bool fits;
    } rows[] = {
        {"", "75", true},          {"sm_80", "80", true},    {"sm_80", "90a", true},
        {"sm_90", "86", false},    {"sm_90a", "90a", true},  {"sm_90a", "90", false},
        {"sm_90a", "100a", false}, {"sm_100f", "103", true}, {"sm_100f", "120", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        const struct solution s = {.arch = rows[i].tag};

        assert_int_equal(solution_accepts_arch(&s, rows[i].arch), rows[i].fits);
    }
}

static void too_many_tunes(void **state)
{
    struct arena a = {0};
    struct solution s;
    struct diag d;
    char text[512] = "";

    (void)state;
    for (char c = 'A'; c <= 'I'; c++) {
        const char line[] = {'/', '/', ' ', '@', 't', 'u', 'n', 'e', ' ', c, ' ', '1', '\n', 0};

        strcat(text, line);
    }
    assert_int_equal(parse(&s, &a, text, SOLUTION_ACCEPT, &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "more than 8 @tune lines");
    assert_int_equal(parse(&s, &a, "// @tune A 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17\n",
                           SOLUTION_ACCEPT, &d),
                     STATUS_BAD_DATA);
    assert_string_equal(d.text, "more than 16 values");
    arena_fini(&a);
}

static void list_is_ordered_and_named(void **state)
{
    char *dir = tempdir_make();
    struct arena a = {0};
    const struct solution *list;
    unsigned n;
    struct diag d;
    static const char *const names[] = {"alpha", "beta", "baselines/lib", "rejects/zeros"};

    (void)state;
    (void)tempdir_write_text(dir, "problems/p/beta.cu", "// @idea b\n");
    (void)tempdir_write_text(dir, "problems/p/alpha.cu", "// @idea a\n");
    (void)tempdir_write_text(dir, "problems/p/.hidden.cu", "// @nonsense\n");
    (void)tempdir_write_text(dir, "problems/p/notes.txt", "x");
    (void)tempdir_write_text(dir, "problems/p/starter.cu.txt", "x");
    (void)tempdir_write_text(dir, "problems/p/rejects/zeros.cu", "// @expect WA\n");
    (void)tempdir_write_text(dir, "problems/p/baselines/lib.cu", "\n");
    assert_int_equal(solution_list(&list, &n, &a, dir, "p", &d), STATUS_OK);
    assert_int_equal(n, 4);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(list[i].name, names[i]);
        assert_string_equal(list[i].problem, "p");
        assert_int_equal(list[i].path[0], '/');
    }
    assert_int_equal(list[2].kind, SOLUTION_BASELINE);
    assert_int_equal(list[3].kind, SOLUTION_REJECT);
    arena_fini(&a);
    tempdir_remove(dir);
}

static void foreign_file_and_missing_file(void **state)
{
    char *dir = tempdir_make();
    struct arena a = {0};
    struct solution s;
    struct diag d;

    (void)state;
    assert_int_equal(solution_load(&s, &a, "p",
                                   tempdir_write_text(dir, "a b/mine.cu", "// @idea m\n"),
                                   SOLUTION_FOREIGN, &d),
                     STATUS_OK);
    assert_string_equal(s.name, "mine");
    assert_int_equal(solution_load(&s, &a, "p", "/no/such.cu", SOLUTION_FOREIGN, &d), STATUS_IO);
    assert_string_equal(d.text, "cannot open: No such file or directory");
    assert_int_equal(solution_load(&s, &a, "p", dir, SOLUTION_FOREIGN, &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "is not a regular file");
    arena_fini(&a);
    tempdir_remove(dir);
}

static void failed_allocations_are_reported(void **state)
{
    char *dir = tempdir_make();
    unsigned long n = 0;
    enum status st;

    (void)state;
    (void)tempdir_write_text(dir, "problems/p/a.cu", "// @idea b\n// @tune A 1\n");
    do {
        struct arena a = {0};
        const struct solution *list;
        unsigned count;
        struct diag d;

        alloc_fault_set(++n);
        st = solution_list(&list, &count, &a, dir, "p", &d);
        if (st != STATUS_OK) {
            assert_int_equal(st, STATUS_NOMEM);
            assert_string_equal(d.text, "out of memory");
        }
        arena_fini(&a);
    } while (st != STATUS_OK && n < 1000);
    alloc_fault_set(0);
    assert_int_equal(st, STATUS_OK);
    assert_true(n > 1);
    tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_tags),
        cmocka_unit_test(no_tags_mean_defaults),
        cmocka_unit_test(refusals_point_at_the_place),
        cmocka_unit_test(reject_needs_an_expectation),
        cmocka_unit_test(arch_is_a_lower_bound_or_exact),
        cmocka_unit_test(too_many_tunes),
        cmocka_unit_test(list_is_ordered_and_named),
        cmocka_unit_test(foreign_file_and_missing_file),
        cmocka_unit_test(failed_allocations_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

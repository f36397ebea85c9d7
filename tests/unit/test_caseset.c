/*
 * test_caseset.c - selection of cases, and their files with the real generator (skipped without
 * NumPy): made when missing, made again when damaged, refused when committed ones are damaged,
 * fresh data.
 */
#include "caseset.h"
#include "fileio.h"
#include "tempdir.h"
#include "toolkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    char *dir;
    struct arena a;
    struct config cfg;
    struct problem p;
    struct diag d;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = tempdir_make();
    assert_int_equal(config_load(&f->cfg, &f->a, TEST_ROOT, &f->d), STATUS_OK);
    f->cfg.build_dir = f->dir;
    f->cfg.cases_dir = arena_printf(&f->a, "%s/cases", f->dir);
    assert_int_equal(problem_load(&f->p, &f->a, TEST_ROOT, "topk", &f->d), STATUS_OK);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_fini(&f->a);
    tempdir_remove(f->dir);
    free(f);
    return 0;
}

static unsigned selected(struct fixture *f, const struct caseset_filter *filter)
{
    const struct casedef *const *list;
    unsigned n = 0;

    if (caseset_select(&list, &n, &f->a, &f->p, filter, &f->d) != STATUS_OK)
        return 0;
    for (unsigned i = 1; i < n; i++)
        assert_true(list[i]->index > list[i - 1]->index);
    return n;
}

static void selection(void **state)
{
    struct fixture *f = *state;
    static const char *const site[] = {"site", NULL}, *const perf[] = {"perf", NULL};
    static const char *const curve[] = {"curve", NULL};
    unsigned gpu_only = 0, with_perf = 0, with_curve = 0, timed;

    for (unsigned i = 0; i < f->p.case_count; i++) {
        const bool p = casedef_has_tag(&f->p.cases[i], "perf");
        const bool c = casedef_has_tag(&f->p.cases[i], "curve");

        gpu_only += f->p.cases[i].needs_gpu && !p && !c;
        with_perf += p;
        with_curve += c;
    }
    timed = with_perf + with_curve;
    assert_true(gpu_only > 0 && with_perf > 0 && with_curve > 0);
    assert_int_equal(selected(f, &(struct caseset_filter){.gpu = true}), f->p.case_count - timed);
    assert_int_equal(selected(f, &(struct caseset_filter){.gpu = false}),
                     f->p.case_count - timed - gpu_only);
    assert_int_equal(selected(f, &(struct caseset_filter){.keep_gpu_only = true}),
                     f->p.case_count - timed);
    assert_int_equal(selected(f, &(struct caseset_filter){.tags = perf, .gpu = true}), with_perf);
    assert_int_equal(selected(f, &(struct caseset_filter){.tags = curve, .gpu = true}), with_curve);
    assert_true(selected(f, &(struct caseset_filter){.tags = site, .gpu = true}) > 1);
    assert_int_equal(selected(f, &(struct caseset_filter){.glob = "site_single", .gpu = true}), 1);
    assert_int_equal(selected(f, &(struct caseset_filter){.glob = "site_singel"}), 0);
    assert_int_equal(f->d.status, STATUS_USAGE);
    assert_string_equal(f->d.text,
                        "problem 'topk' has no case 'site_singel'; did you mean 'site_single'?");
    assert_int_equal(selected(f, &(struct caseset_filter){.glob = "site_*", .tags = perf}), 0);
    assert_string_equal(f->d.text, "problem 'topk': the cases 'site_*' exist, but the tags or the "
                                   "backend leave none");
    assert_int_equal(selected(f, &(struct caseset_filter){.glob = "zzz*"}), 0);
    assert_string_equal(f->d.text,
                        "problem 'topk' has no case 'zzz*'; 'judge list topk' shows all");
}

/* First case that is (not) committed and small enough for a quick test. */
static const struct casedef *some_case(struct fixture *f, bool committed)
{
    for (unsigned i = 0; i < f->p.case_count; i++) {
        const struct casedef *c = &f->p.cases[i];

        if (c->in.committed == committed && c->rule.kind == RULE_EXACT && c->in.size < 8u << 20)
            return c;
    }
    fail_msg("no case to test with");
    return NULL;
}

static void committed_case_opens(void **state)
{
    struct fixture *f = *state;
    const struct casedef *c = some_case(f, true);
    struct case_pair pair;

    assert_int_equal(caseset_open(&pair, &f->cfg, &f->p, c, &f->d), STATUS_OK);
    assert_non_null(casefile_find(&pair.in, "input"));
    assert_non_null(casefile_find(&pair.ref, "output"));
    assert_int_equal(casefile_find(&pair.in, "input")->count, c->count[0]);
    caseset_close(&pair);
    caseset_close(&pair);
}

static void missing_and_damaged_cases_are_made(void **state)
{
    struct fixture *f = *state;
    const struct casedef *c = some_case(f, false);
    const char *path = caseset_path(&f->a, &f->cfg, &c->in);
    struct case_pair pair;

    assert_false(file_exists(path));
    assert_int_equal(caseset_open(&pair, &f->cfg, &f->p, c, &f->d), STATUS_OK);
    assert_true(file_exists(path));
    caseset_close(&pair);
    assert_int_equal(file_write(path, "short", 5, &f->d), STATUS_OK);
    assert_int_equal(caseset_open(&pair, &f->cfg, &f->p, c, &f->d), STATUS_OK);
    caseset_close(&pair);
    { /* right size, wrong contents */
        char *zeros = calloc(1, c->in.size);

        assert_int_equal(file_write(path, zeros, c->in.size, &f->d), STATUS_OK);
        free(zeros);
    }
    assert_int_equal(caseset_open(&pair, &f->cfg, &f->p, c, &f->d), STATUS_OK);
    assert_int_equal(pair.in.size, c->in.size);
    caseset_close(&pair);
}

static void damaged_committed_case_is_refused(void **state)
{
    struct fixture *f = *state;
    const struct casedef *c = some_case(f, true);
    struct problem p = f->p;
    struct casedef wrong = *c;
    struct case_pair pair;

    wrong.key = "0000";
    assert_int_equal(caseset_open(&pair, &f->cfg, &p, &wrong, &f->d), STATUS_BAD_DATA);
    assert_string_equal(f->d.text, "belongs to another version of the case");
    assert_string_equal(f->d.notes[f->d.note_count - 1], "'judge gen topk' makes it again");
    wrong = *c;
    wrong.shape[0][0]++;
    assert_int_equal(caseset_open(&pair, &f->cfg, &p, &wrong, &f->d), STATUS_BAD_DATA);
    assert_string_equal(f->d.text, "tensor 'input' is missing or has another form");
    assert_int_equal(pair.in.fd, -1);
}

static void fresh_data_differ(void **state)
{
    struct fixture *f = *state;
    const struct casedef *c = NULL;
    struct casedef fresh;
    struct case_pair old, new;
    const char *const *names;
    unsigned n;

    for (unsigned i = 0; i < f->p.case_count && !c; i++)
        if (strncmp(f->p.cases[i].name, "block_", 6) == 0) /* of a random generator */
            c = &f->p.cases[i];
    assert_non_null(c);
    assert_int_equal(caseset_open(&old, &f->cfg, &f->p, c, &f->d), STATUS_OK);
    if (caseset_open_fresh(&new, &fresh, &f->a, &f->cfg, &f->p, c, 0x5eed, &f->d) != STATUS_OK)
        fail_msg("%s", f->d.text);
    assert_string_equal(fresh.name, c->name);
    assert_int_equal(fresh.index, c->index);
    assert_int_equal(casefile_find(&new.in, "input")->count, c->count[0]);
    assert_memory_not_equal(casefile_find(&new.in, "input")->data,
                            casefile_find(&old.in, "input")->data,
                            casefile_find(&old.in, "input")->size);
    caseset_close(&old);
    caseset_close(&new);
    assert_int_equal(dir_list(&names, &n, &f->a, f->dir, &f->d), STATUS_OK);
    for (unsigned i = 0; i < n; i++)
        assert_int_not_equal(strncmp(names[i], "fresh-", 6), 0);
}

static void large_case_has_no_fresh_data(void **state)
{
    struct fixture *f = *state;
    struct casedef fresh;
    struct case_pair pair;

    for (unsigned i = 0; i < f->p.case_count; i++)
        if (casedef_elements(&f->p, &f->p.cases[i]) > 1u << 20) {
            assert_int_equal(
                caseset_open_fresh(&pair, &fresh, &f->a, &f->cfg, &f->p, &f->p.cases[i], 1, &f->d),
                STATUS_USAGE);
            assert_non_null(strstr(f->d.text, "too large for fresh data"));
            return;
        }
    fail_msg("topk has no large case");
}

static void no_python_is_said(void **state)
{
    struct fixture *f = *state;
    const struct casedef *c = some_case(f, false);
    struct case_pair pair;

    f->cfg.python = "/bin/false";
    assert_int_equal(caseset_open(&pair, &f->cfg, &f->p, c, &f->d), STATUS_USAGE);
    assert_string_equal(f->d.text,
                        "the setting 'python' names '/bin/false', which cannot import NumPy");
}

int main(void)
{
    struct arena a = {0};
    struct config cfg;
    struct diag d;
    const char *python;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(selection, set_up, tear_down),
        cmocka_unit_test_setup_teardown(committed_case_opens, set_up, tear_down),
        cmocka_unit_test_setup_teardown(missing_and_damaged_cases_are_made, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_committed_case_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(fresh_data_differ, set_up, tear_down),
        cmocka_unit_test_setup_teardown(large_case_has_no_fresh_data, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_python_is_said, set_up, tear_down),
    };
    const bool have = config_load(&cfg, &a, TEST_ROOT, &d) == STATUS_OK &&
                      toolkit_python(&python, &a, &cfg, &d) == STATUS_OK;

    if (!have)
        print_message("skipped: %s\n", d.text);
    arena_fini(&a);
    return have ? cmocka_run_group_tests(tests, NULL, NULL) : 77;
}

/*
 * test_config.c - settings: defaults, the order of their four sources, origins, refusals.
 */
#include "config.h"
#include "tempdir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
    char *dir;
    struct arena a;
    struct config c;
    struct diag d;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = tempdir_make();
    (void)setenv("HOME", "/nonexistent", 1);
    (void)unsetenv("XDG_CONFIG_HOME");
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    arena_fini(&f->a);
    tempdir_remove(f->dir);
    free(f);
    (void)unsetenv("WARPJUDGE_JOBS");
    (void)unsetenv("WARPJUDGE_BENCH_BUDGET_S");
    (void)unsetenv("WARPJUDGE_BACKEDN");
    (void)unsetenv("WARPJUDGE_DENY_INCLUDES");
    (void)unsetenv("XDG_CONFIG_HOME");
    return 0;
}

static const char *origin(const struct config *c, const char *key)
{
    unsigned n;
    const char *const *names = config_key_names(&n);

    for (unsigned i = 0; i < n; i++)
        if (strcmp(names[i], key) == 0)
            return c->origins[i];
    fail_msg("no key '%s'", key);
    return NULL;
}

static void defaults(void **state)
{
    struct fixture *f = *state;
    unsigned n;
    const char *const *names = config_key_names(&n);

    assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_OK);
    assert_string_equal(f->c.root, f->dir);
    assert_string_equal(f->c.backend, "auto");
    assert_string_equal(f->c.nvcc, "");
    assert_string_equal(f->c.build_dir, arena_printf(&f->a, "%s/build", f->dir));
    assert_string_equal(f->c.cache_dir, arena_printf(&f->a, "%s/build/so", f->dir));
    assert_string_equal(f->c.cases_dir, arena_printf(&f->a, "%s/build/cases", f->dir));
    assert_string_equal(strrchr(f->c.runner, '/'), "/judge-runner");
    assert_non_null(strstr(f->c.vgpu, "/vgpu/libcudart.so.13"));
    assert_int_equal(f->c.bench_min_samples, 50);
    assert_string_equal(f->c.deny_includes[1], "thrust");
    assert_null(f->c.deny_includes[2]);
    assert_true(n > 15);
    for (unsigned i = 0; i < n; i++) {
        assert_string_equal(f->c.origins[i], "default");
        assert_non_null(config_get_text(&f->c, &f->a, names[i]));
    }
    assert_string_equal(config_get_text(&f->c, &f->a, "bench.se_target"), "0.0025");
    assert_string_equal(config_get_text(&f->c, &f->a, "deny_includes"), "cub,thrust");
    assert_null(config_get_text(&f->c, &f->a, "nothing"));
}

static void later_sources_win_and_are_named(void **state)
{
    struct fixture *f = *state;

    (void)tempdir_write_text(
        f->dir, "judge.json",
        "{\"jobs\": 2,\n \"device\": 1, \"time_scale\": 2.5, \"nvcc\": \"tools/nvcc\",\n"
        " \"bench\": {\"budget_s\": 1, \"rounds\": 2}, \"deny_includes\": [\"x\"]}\n");
    (void)tempdir_write_text(f->dir, "xdg/warpjudge/config.json",
                             "{\"device\": 2, \"python\": \"py\", \"jobs\": 3}\n");
    (void)setenv("XDG_CONFIG_HOME", arena_printf(&f->a, "%s/xdg", f->dir), 1);
    (void)setenv("WARPJUDGE_JOBS", "4", 1);
    (void)setenv("WARPJUDGE_BENCH_BUDGET_S", "0.5", 1);
    (void)setenv("WARPJUDGE_DENY_INCLUDES", "", 1);
    assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_OK);
    assert_int_equal(f->c.jobs, 4);
    assert_string_equal(origin(&f->c, "jobs"), "WARPJUDGE_JOBS");
    assert_int_equal(f->c.device, 2);
    assert_non_null(strstr(origin(&f->c, "device"), "xdg/warpjudge/config.json:1"));
    assert_string_equal(f->c.nvcc, arena_printf(&f->a, "%s/tools/nvcc", f->dir));
    assert_non_null(strstr(origin(&f->c, "nvcc"), "judge.json:2"));
    assert_string_equal(f->c.python, arena_printf(&f->a, "%s/xdg/warpjudge/py", f->dir));
    assert_true(f->c.bench_budget_s > 0.49 && f->c.bench_budget_s < 0.51);
    assert_int_equal(f->c.bench_rounds, 2);
    assert_null(f->c.deny_includes[0]);
    assert_int_equal(config_set(&f->c, &f->a, "jobs", "7", "-j", &f->d), STATUS_OK);
    assert_int_equal(f->c.jobs, 7);
    assert_string_equal(origin(&f->c, "jobs"), "-j");
    assert_int_equal(config_set(&f->c, &f->a, "build_dir", "/b", "--build", &f->d), STATUS_OK);
    assert_string_equal(f->c.cache_dir, "/b/so"); /* follows while it is a default */
}

static void refusals(void **state)
{
    static const struct {
        const char *text, *message;
        unsigned line, col;
    } rows[] = {
        {"{\"job\": 2}", "unknown setting 'job'; did you mean 'jobs'?", 1, 2},
        {"{\"jobs\": \"2\"}", "expected a number, found a string", 1, 10},
        {"{\"jobs\": -1}", "-1 is outside 0 to 1024", 1, 10},
        {"{\"jobs\": 2.5}", "'2.5' is no value of 'jobs'", 1, 10},
        {"{\"backend\": \"cuda\"}", "'cuda' is no value of 'backend'", 1, 13},
        {"{\"bench\": 3}", "expected an object with settings", 1, 11},
        {"{\n\"bench\": {\"round\": 3}}",
         "unknown setting 'bench.round'; did you mean 'bench.rounds'?", 2, 11},
        {"{\"deny_includes\": \"cub\"}", "expected an array, found a string", 1, 19},
        {"{\"jobs\": 1, \"jobs\": 2}", "duplicate object key near '\"jobs\"'", 1, 18},
        {"[1]", "expected an object, found an array", 1, 1},
    };
    struct fixture *f = *state;

    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        (void)tempdir_write_text(f->dir, "judge.json", rows[i].text);
        assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_BAD_DATA);
        assert_string_equal(f->d.text, rows[i].message);
        assert_int_equal(f->d.line, rows[i].line);
        assert_int_equal(f->d.col, rows[i].col);
    }
    (void)tempdir_write_text(f->dir, "judge.json", "{}");
    assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_OK);
}

static void bad_environment_and_options(void **state)
{
    struct fixture *f = *state;

    (void)setenv("WARPJUDGE_BACKEDN", "vgpu", 1);
    assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_USAGE);
    assert_string_equal(
        f->d.text,
        "unknown environment variable WARPJUDGE_BACKEDN; did you mean WARPJUDGE_BACKEND?");
    (void)unsetenv("WARPJUDGE_BACKEDN");
    (void)setenv("WARPJUDGE_JOBS", "many", 1);
    assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_USAGE);
    assert_string_equal(
        f->d.text,
        "WARPJUDGE_JOBS: 'many' is no value of 'jobs'; expected an integer from 0 to 1024");
    (void)unsetenv("WARPJUDGE_JOBS");
    assert_int_equal(config_load(&f->c, &f->a, f->dir, &f->d), STATUS_OK);
    assert_int_equal(config_set(&f->c, &f->a, "bakend", "gpu", "--bakend", &f->d), STATUS_USAGE);
    assert_string_equal(f->d.text, "--bakend: unknown setting 'bakend'; did you mean 'backend'?");
    assert_int_equal(config_set(&f->c, &f->a, "backend", "cpu", "--backend", &f->d), STATUS_USAGE);
    assert_string_equal(f->d.text,
                        "--backend: 'cpu' is no value of 'backend'; expected auto, gpu or vgpu");
    assert_string_equal(f->c.backend, "auto");
    assert_int_equal(config_set(&f->c, &f->a, "time_scale", "nan", "-t", &f->d), STATUS_USAGE);
    assert_int_equal(config_set(&f->c, &f->a, "time_scale", "1x", "-t", &f->d), STATUS_USAGE);
}

static void root_is_found_above_the_program(void **state)
{
    struct fixture *f = *state;

    (void)setenv("WARPJUDGE_ROOT", f->dir, 1);
    assert_int_equal(config_load(&f->c, &f->a, NULL, &f->d), STATUS_OK);
    assert_string_equal(f->c.root, f->dir);
    (void)unsetenv("WARPJUDGE_ROOT");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(defaults, set_up, tear_down),
        cmocka_unit_test_setup_teardown(later_sources_win_and_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(refusals, set_up, tear_down),
        cmocka_unit_test_setup_teardown(bad_environment_and_options, set_up, tear_down),
        cmocka_unit_test_setup_teardown(root_is_found_above_the_program, set_up, tear_down),
    };

    (void)clearenv(); /* settings of whoever runs the suite must not reach these tests */
    return cmocka_run_group_tests(tests, NULL, NULL);
}

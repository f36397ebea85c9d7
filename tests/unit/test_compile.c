/*
 * test_compile.c - the compile step with the real nvcc (skipped as a whole without one) and with
 * scripts that stand in for a failing one: each kind of compile error, the cache, faults of the
 * machine.
 */
#include "compile.h"
#include "compile_cache.h"
#include "elfread.h"
#include "fileio.h"
#include "proc.h"
#include "tempdir.h"
#include "toolkit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define PROTOTYPE "extern \"C\" void solve(const float* input, float* output, int N)"
#define KERNEL                                                                                     \
    "namespace {\ntemplate <int B> __global__ void copy(const float *a, float *b, int n)\n"        \
    "{\n    __shared__ float s[B];\n    int i = blockIdx.x * B + threadIdx.x;\n"                   \
    "    s[threadIdx.x] = i < n ? a[i] : 0.0f;\n    __syncthreads();\n"                            \
    "    if (i < n) b[i] = s[B - 1 - threadIdx.x];\n}\n}\n"
#define BODY "{ copy<64><<<(N + 63) / 64, 64>>>(input, output, N); }\n"

struct fixture {
    char *dir;
    struct arena a;
    struct config cfg;
    struct problem p;
    struct solution s;
    struct object o;
    struct diag d;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    f->dir = tempdir_make();
    (void)unsetenv("CUDA_HOME");
    assert_int_equal(config_load(&f->cfg, &f->a, f->dir, &f->d), STATUS_OK);
    f->p.name = "copy";
    f->p.prototype = PROTOTYPE;
    f->p.signature = "void (const float*, float*, int)";
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

static enum status compile_text(struct fixture *f, const char *name, const char *text,
                                enum solution_kind kind)
{
    const char *path = tempdir_write_text(f->dir, name, text);

    assert_int_equal(solution_load(&f->s, &f->a, "copy", path, kind, &f->d), STATUS_OK);
    return compile_solution(&f->o, &f->a, &f->cfg, &f->p, &f->s, "90a", NULL, &f->d);
}

/* Compiles and expects a CE whose reason holds `part`. */
static void expect_ce(struct fixture *f, const char *name, const char *text, const char *part)
{
    assert_int_equal(compile_text(f, name, text, SOLUTION_FOREIGN), STATUS_OK);
    assert_false(f->o.ok);
    if (!strstr(f->o.reason, part))
        fail_msg("reason '%s' does not hold '%s'", f->o.reason, part);
    if (strstr(f->o.log, f->dir) || strstr(f->o.log, "warpjudge:solve"))
        fail_msg("the log holds folders or our own lines:\n%s", f->o.log);
}

static unsigned entries(struct fixture *f, const char *ending)
{
    const char *const *names;
    unsigned n, found = 0;

    assert_int_equal(dir_list(&names, &n, &f->a, f->cfg.cache_dir, &f->d), STATUS_OK);
    for (unsigned i = 0; i < n; i++)
        found += strlen(names[i]) > strlen(ending) &&
                 strcmp(names[i] + strlen(names[i]) - strlen(ending), ending) == 0;
    return found;
}

static void good_file_compiles_and_is_cached(void **state)
{
    struct fixture *f = *state;
    const char *key;
    double start;

    assert_int_equal(
        compile_text(f, "a b/good$1.cu",
                     KERNEL "extern \"C\" void solve(const float* x, float* output, int N)\n"
                            "{ const float *input = x; copy<64><<<1, 64>>>(input, output, N); }",
                     SOLUTION_FOREIGN),
        STATUS_OK);
    if (!f->o.ok)
        fail_msg("%s\n%s", f->o.reason, f->o.log);
    assert_false(f->o.cached);
    assert_string_equal(f->o.reason, "");
    assert_string_equal(f->o.log, "");
    assert_int_equal(f->o.kernel_count, 1);
    assert_string_equal(f->o.kernels[0].name, "copy<64>");
    assert_true(f->o.kernels[0].registers > 0);
    assert_int_equal(f->o.kernels[0].shared_bytes, 256);
    assert_true(file_exists(f->o.so_path));
    key = f->o.key;
    start = proc_now_s();
    assert_int_equal(compile_solution(&f->o, &f->a, &f->cfg, &f->p, &f->s, "90a", NULL, &f->d),
                     STATUS_OK);
    assert_true(f->o.ok && f->o.cached);
    assert_true(proc_now_s() - start < 0.03); /* judge.md, section 18 */
    assert_string_equal(f->o.key, key);
    assert_int_equal(f->o.kernels[0].shared_bytes, 256);
    assert_int_equal(entries(f, ".json"), 1);
    for (unsigned i = 0; i < 1; i++) { /* no work folder is left */
        const char *const *names;
        unsigned n;

        assert_int_equal(dir_list(&names, &n, &f->a, f->cfg.cache_dir, &f->d), STATUS_OK);
        for (unsigned k = 0; k < n; k++)
            assert_int_not_equal(strncmp(names[k], "work-", 5), 0);
    }
}

static void key_counts_source_defines_and_arch(void **state)
{
    struct fixture *f = *state;
    static const char text[] =
        KERNEL "#ifndef LOADS\n#define LOADS 1\n#endif\n"
               "extern \"C\" void solve(const float* input, float* output, int N)\n" BODY;
    const char *const four[] = {"LOADS=4", NULL};
    const char *key;

    assert_int_equal(compile_text(f, "x.cu", text, SOLUTION_FOREIGN), STATUS_OK);
    key = f->o.key;
    assert_int_equal(compile_solution(&f->o, &f->a, &f->cfg, &f->p, &f->s, "90a", four, &f->d),
                     STATUS_OK);
    assert_true(f->o.ok && !f->o.cached);
    assert_string_not_equal(f->o.key, key);
    assert_int_equal(compile_solution(&f->o, &f->a, &f->cfg, &f->p, &f->s, "80", NULL, &f->d),
                     STATUS_OK);
    assert_true(f->o.ok && !f->o.cached);
    assert_string_not_equal(f->o.key, key);
    assert_int_equal(compile_text(f, "x.cu", text, SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.cached);
    assert_string_equal(f->o.key, key);
}

static void private_header_is_part_of_the_key(void **state)
{
    struct fixture *f = *state;
    static const char text[] =
        "#include \"my part.h\"\nextern \"C\" void solve(const float*, float*, "
        "int) { (void)WIDTH; }\n";

    expect_ce(f, "h/x.cu", text, "my part.h: No such file");
    (void)tempdir_write_text(f->dir, "h/my part.h", "#define WIDTH 4\n");
    assert_int_equal(compile_text(f, "h/x.cu", text, SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.ok && !f->o.cached);
    assert_int_equal(compile_text(f, "h/x.cu", text, SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.cached);
    (void)tempdir_write_text(f->dir, "h/my part.h", "#define WIDE 4\n");
    expect_ce(f, "h/x.cu", text, "identifier \"WIDTH\" is undefined");
    (void)tempdir_write_text(f->dir, "h/my part.h", "#define WIDTH 4\n");
    assert_int_equal(compile_text(f, "h/x.cu", text, SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.ok);
}

static void compile_errors_say_what_is_wrong(void **state)
{
    struct fixture *f = *state;

    expect_ce(f, "syntax.cu", KERNEL PROTOTYPE "\n{ copy<64><<<1, 64>>>(input, output, N) }\n",
              "syntax.cu(12): error: expected a \";\"");
    assert_int_equal(entries(f, ".so"), 0);
    expect_ce(f, "syntax.cu", KERNEL PROTOTYPE "\n{ copy<64><<<1, 64>>>(input, output, N) }\n",
              "syntax.cu(12): error: expected a \";\"");
    assert_true(f->o.cached);
    expect_ce(f, "brace.cu", KERNEL PROTOTYPE "\n{\n", "error: expected a \"}\"");
    expect_ce(f, "none.cu", "extern \"C\" void solver(const float*, float*, int) {}\n",
              "none.cu: no function solve(); expected: " PROTOTYPE);
    expect_ce(f, "empty.cu", "", "empty.cu: no function solve(); expected: " PROTOTYPE);
    expect_ce(f, "signature.cu",
              "\nextern \"C\" void solve(float* input, float* output, int N) {}\n",
              "signature.cu(2): solve() has another signature; expected: " PROTOTYPE);
    expect_ce(f, "returns.cu",
              "extern \"C\" int solve(const float* input, float* output, int N) { return 0; }\n",
              "returns.cu(1): solve() has another signature; expected: " PROTOTYPE);
    expect_ce(f, "mangled.cu", "void solve(const float* input, float* output, int N) {}\n",
              "mangled.cu(1): solve() has C++ linkage: add extern \"C\"; expected: " PROTOTYPE);
    expect_ce(f, "hidden.cu", "static void solve(const float* input, float* output, int N) {}\n",
              "hidden.cu(1): solve() is not exported; expected: " PROTOTYPE);
    expect_ce(f, "undefined.cu",
              "void elsewhere(float *);\n" PROTOTYPE "\n{ elsewhere(output); }\n",
              "undefined reference to `elsewhere(float*)'");
}

static void error_in_the_file_is_named_before_our_own(void **state)
{
    struct fixture *f = *state;

    expect_ce(f, "two.cu", "extern \"C\" void solve(const float* input, floot* output, int N) {}\n",
              "two.cu(1): error: identifier \"floot\" is undefined");
}

static void libraries_are_for_baselines(void **state)
{
    struct fixture *f = *state;
    static const char cub[] = "#include <cub/thread/thread_load.cuh>\n" PROTOTYPE " {}\n";
    static const char blas[] =
        "#include <cublas_v2.h>\n" PROTOTYPE "\n{ cublasHandle_t h; cublasCreate(&h); }\n";

    expect_ce(f, "cub.cu", cub, "cub.cu: includes cub/");
    assert_non_null(strstr(f->o.reason, "library code is for baselines/ only"));
    assert_int_equal(compile_text(f, "base/cub.cu", cub, SOLUTION_BASELINE), STATUS_OK);
    assert_true(f->o.ok);
    expect_ce(f, "blas.cu", blas, "undefined reference to `cublasCreate_v2'");
    assert_int_equal(compile_text(f, "base/blas.cu", blas, SOLUTION_BASELINE), STATUS_OK);
    if (!f->o.ok && strstr(f->o.log, "cannot find -lcublas")) {
        print_message("no cuBLAS in this toolkit: its baseline was not compiled\n");
        return;
    }
    assert_true(f->o.ok);
}

static void warnings_stay_in_the_log_of_a_good_file(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(
        compile_text(f, "warn.cu", PROTOTYPE "\n{ int unused_one; }\n", SOLUTION_FOREIGN),
        STATUS_OK);
    assert_true(f->o.ok);
    assert_non_null(strstr(f->o.log, "warn.cu(2): warning"));
}

/* --- without a compiler --- */

static void use_script(struct fixture *f, const char *action)
{
    char *text =
        arena_printf(&f->a,
                     "#!/bin/sh\ncase $1 in\n"
                     "--version) echo 'Cuda compilation tools, release 13.0, V13.0.1'; exit;;\n"
                     "--dryrun) echo '#$ TOP=%s' >&2; exit;;\nesac\n%s\n",
                     f->dir, action);
    const char *path = tempdir_write_text(f->dir, "bin/nvcc", text);

    assert_int_equal(chmod(path, 0755), 0);
    assert_int_equal(config_set(&f->cfg, &f->a, "nvcc", path, "test", &f->d), STATUS_OK);
}

static void faults_of_the_machine_are_no_verdict(void **state)
{
    struct fixture *f = *state;

    use_script(f, "echo 'tmp.cu: error: No space left on device' >&2; exit 1");
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_IO);
    assert_string_equal(f->d.text, "nvcc could not compile 'x.cu': No space left on device");
    use_script(f, "kill -KILL $$");
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_IO);
    assert_string_equal(f->d.text, "nvcc could not compile 'x.cu': killed by SIGKILL");
    use_script(f, "echo hm >&2; exit 3");
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_IO);
    assert_string_equal(f->d.text, "nvcc failed (exit code 3) without a word about 'x.cu': hm ");
    assert_int_equal(entries(f, ".json"), 0);
}

static void slow_compiler_is_a_compile_error_once(void **state)
{
    struct fixture *f = *state;

    use_script(f, "sleep 60");
    f->cfg.time_scale = 0.3 / 120; /* it sleeps: five times as long by the clock */
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_OK);
    assert_false(f->o.ok);
    assert_string_equal(f->o.reason, "compiler timed out after 2 s");
    assert_int_equal(entries(f, ".json"), 0);
}

static void interrupt_leaves_nothing(void **state)
{
    struct fixture *f = *state;
    static const volatile sig_atomic_t stop = 1;
    const char *const *names;
    unsigned n;

    use_script(f, "sleep 60");
    f->cfg.stop = &stop;
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_IO);
    assert_string_equal(f->d.text, "interrupted while compiling 'x.cu'");
    assert_int_equal(dir_list(&names, &n, &f->a, f->cfg.cache_dir, &f->d), STATUS_OK);
    assert_int_equal(n, 1); /* the toolkit's version line */
}

static void unwritable_cache_is_said(void **state)
{
    struct fixture *f = *state;

    use_script(f, "exit 1");
    (void)tempdir_write_text(f->dir, "file", "");
    f->cfg.cache_dir = arena_printf(&f->a, "%s/file/so", f->dir);
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_IO);
    assert_string_equal(f->d.text, "cannot make this folder: Not a directory");
}

static void no_compiler_is_nothing(void **state)
{
    struct fixture *f = *state;
    const char *path = getenv("PATH");
    char *saved = strdup(path ? path : "");

    assert_int_equal(config_set(&f->cfg, &f->a, "nvcc", "/no/such/nvcc", "--nvcc", &f->d),
                     STATUS_OK);
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_USAGE);
    assert_string_equal(f->d.text, "the setting 'nvcc' names '/no/such/nvcc', which is no program");
    use_script(f, "exit 1");
    (void)setenv("PATH", "/nonexistent", 1);
    f->cfg.nvcc = "";
    if (file_exists("/usr/local/cuda/bin/nvcc"))
        print_message(
            "/usr/local/cuda exists: 'no nvcc at all' is tested by the launcher's test only\n");
    else
        assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_NOTHING);
    (void)setenv("PATH", saved, 1);
    free(saved);
}

static void damaged_entry_is_made_again(void **state)
{
    struct fixture *f = *state;
    const char *json;

    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.ok);
    json = arena_printf(&f->a, "so/%s.json", f->o.key);
    f->cfg.cache_dir = arena_printf(&f->a, "%s/so", f->dir);
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_OK);
    assert_false(f->o.cached);
    (void)tempdir_write_text(f->dir, json, "{\"format\": 1, \"ok\": tr");
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.ok && !f->o.cached);
    assert_int_equal(unlink(f->o.so_path), 0);
    assert_int_equal(compile_text(f, "x.cu", PROTOTYPE "{}", SOLUTION_FOREIGN), STATUS_OK);
    assert_true(f->o.ok && !f->o.cached);
    assert_true(file_exists(f->o.so_path));
}

static void trimming_removes_the_oldest(void **state)
{
    struct fixture *f = *state;
    char *big = calloc(1, 600 << 10);

    for (char c = 'a'; c <= 'c'; c++) {
        char name[16];
        struct timespec t[2] = {{1000 + c, 0}, {1000 + c, 0}};

        (void)snprintf(name, sizeof name, "t/%c.so", c);
        (void)tempdir_write(f->dir, name, big, 600 << 10);
        (void)snprintf(name, sizeof name, "t/%c.json", c);
        assert_int_equal(utimensat(-1, tempdir_write_text(f->dir, name, "{}"), t, 0), 0);
    }
    free(big);
    cache_trim(arena_printf(&f->a, "%s/t", f->dir), 1, "b");
    assert_false(file_exists(arena_printf(&f->a, "%s/t/a.json", f->dir)));
    assert_false(file_exists(arena_printf(&f->a, "%s/t/a.so", f->dir)));
    assert_true(file_exists(arena_printf(&f->a, "%s/t/b.so", f->dir)));  /* kept: in use */
    assert_false(file_exists(arena_printf(&f->a, "%s/t/c.so", f->dir))); /* next in age */
}

static void kernels_of_a_ptxas_log(void **state)
{
    struct fixture *f = *state;
    static const char log[] =
        "ptxas info    : 0 bytes gmem\n"
        "ptxas info    : Compiling entry function '_Z4foldPf' for 'sm_90a'\n"
        "ptxas info    : Function properties for _Z4foldPf\n"
        "    128 bytes stack frame, 16 bytes spill stores, 24 bytes spill loads\n"
        "ptxas info    : Used 38 registers, used 1 barriers, 4096 bytes smem\n"
        "x.cu(3): warning #177-D: variable was declared\n"
        "ptxas info    : Compiling entry function '_Z4pastPf' for 'sm_90a'\n"
        "ptxas info    : Used 255 registers, used 0 barriers\n";
    struct kernel_info *k;
    unsigned n;

    assert_int_equal(ptxas_log_read(&k, &n, &f->a, log, &f->d), STATUS_OK);
    assert_int_equal(n, 2);
    assert_string_equal(k[0].name, "_Z4foldPf");
    assert_int_equal(k[0].registers, 38);
    assert_int_equal(k[0].stack_bytes, 128);
    assert_int_equal(k[0].spill_store_bytes, 16);
    assert_int_equal(k[0].spill_load_bytes, 24);
    assert_int_equal(k[0].shared_bytes, 4096);
    assert_int_equal(k[1].registers, 255);
    assert_int_equal(k[1].shared_bytes, 0);
    assert_string_equal(ptxas_log_strip(&f->a, log),
                        "x.cu(3): warning #177-D: variable was declared\n");
}

static void log_head_counts_the_rest(void **state)
{
    struct fixture *f = *state;

    assert_string_equal(compile_log_head(&f->a, "a\nb\nc\n", 3), "a\nb\nc\n");
    assert_string_equal(compile_log_head(&f->a, "a\nb\nc\n", 1), "a\n... 2 more lines");
    assert_string_equal(compile_log_head(&f->a, "", 5), "");
}

static void damaged_objects_are_refused(void **state)
{
    struct fixture *f = *state;
    char self[4096];
    const ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    struct elf_facts facts;
    char *bytes;
    size_t size;

    assert_true(n > 0);
    self[n] = '\0';
    assert_int_equal(file_read(&bytes, &size, &f->a, self, 64u << 20, &f->d), STATUS_OK);
    /* This test program is position-independent, so it has the form of a shared object. */
    assert_int_equal(elf_read(&facts, &f->a, (unsigned char *)bytes, size, "x", &f->d), STATUS_OK);
    assert_true(elf_has(facts.needed, "libc.so.6"));
    assert_true(elf_has(facts.undefined, "_cmocka_run_group_tests"));
    for (size_t cut = 0; cut < size; cut += size / 97 + 1)
        assert_int_equal(elf_read(&facts, &f->a, (unsigned char *)bytes, cut, "x", &f->d),
                         STATUS_BAD_DATA);
    for (size_t at = 0; at < 64; at++) { /* the file header: any byte may lie */
        const char was = bytes[at];

        bytes[at] = (char)(was ^ 0x55);
        (void)!elf_read(&facts, &f->a, (unsigned char *)bytes, size, "x", &f->d);
        bytes[at] = was;
    }
}

int main(void)
{
    struct arena a = {0};
    struct config cfg;
    struct toolkit kit;
    struct diag d;
    const struct CMUnitTest plain[] = {
        cmocka_unit_test_setup_teardown(faults_of_the_machine_are_no_verdict, set_up, tear_down),
        cmocka_unit_test_setup_teardown(slow_compiler_is_a_compile_error_once, set_up, tear_down),
        cmocka_unit_test_setup_teardown(interrupt_leaves_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unwritable_cache_is_said, set_up, tear_down),
        cmocka_unit_test_setup_teardown(no_compiler_is_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(trimming_removes_the_oldest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(kernels_of_a_ptxas_log, set_up, tear_down),
        cmocka_unit_test_setup_teardown(log_head_counts_the_rest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_objects_are_refused, set_up, tear_down),
    };
    const struct CMUnitTest real[] = {
        cmocka_unit_test_setup_teardown(good_file_compiles_and_is_cached, set_up, tear_down),
        cmocka_unit_test_setup_teardown(key_counts_source_defines_and_arch, set_up, tear_down),
        cmocka_unit_test_setup_teardown(private_header_is_part_of_the_key, set_up, tear_down),
        cmocka_unit_test_setup_teardown(compile_errors_say_what_is_wrong, set_up, tear_down),
        cmocka_unit_test_setup_teardown(error_in_the_file_is_named_before_our_own, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(libraries_are_for_baselines, set_up, tear_down),
        cmocka_unit_test_setup_teardown(warnings_stay_in_the_log_of_a_good_file, set_up, tear_down),
        cmocka_unit_test_setup_teardown(damaged_entry_is_made_again, set_up, tear_down),
    };
    int failed = cmocka_run_group_tests(plain, NULL, NULL);
    bool have;

    have = config_load(&cfg, &a, TEST_ROOT, &d) == STATUS_OK &&
           toolkit_find(&kit, &a, &cfg, &d) == STATUS_OK;
    if (!have)
        print_message("skipped, no nvcc: %s\n", d.text);
    else {
        (void)setenv("WARPJUDGE_NVCC", kit.nvcc,
                     1); /* also where only the launcher's copy exists */
        failed += cmocka_run_group_tests(real, NULL, NULL);
    }
    arena_fini(&a);
    return failed ? 1 : have ? 0 : 77;
}

/*
 * test_problem.c - problem.json and MANIFEST.json: a good pair, every kind of fault with its place,
 * the shipped problems, SHA-256, failed allocations.
 */
#include "alloc_fault.h"
#include "problem.h"
#include "sha256.h"
#include "tempdir.h"
#include "xalloc.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

static const char good_spec[] =
    "{\"format\": 1, \"name\": \"p\", \"title\": \"Scaled sum\", \"perf_version\": 2,\n"
    " \"params\": [\n"
    "  {\"name\": \"x\", \"dir\": \"in\", \"dtype\": \"f32\", \"shape\": [\"N\", 4]},\n"
    "  {\"name\": \"y\", \"dir\": \"inout\", \"dtype\": \"f64\", \"shape\": [1], \"space\": "
    "\"host\"},\n"
    "  {\"name\": \"N\", \"dir\": \"in\", \"dtype\": \"i32\"},\n"
    "  {\"name\": \"g\", \"dir\": \"in\", \"dtype\": \"f32\"}],\n"
    " \"domain\": {\"N\": [1, 100]},\n"
    " \"check\": {\"strict\": {\"kind\": \"exact\"},\n"
    "  \"site\": {\"kind\": \"allclose\", \"atol\": 1e-5, \"rtol\": 0.5},\n"
    "  \"walk\": {\"kind\": \"tol\", \"atol\": 0, \"rtol\": 0, \"bound\": \"walk\"},\n"
    "  \"survive\": {\"kind\": \"survive\"}},\n"
    " \"rescale\": {\"groups\": [[\"x\"], [\"y\"]], \"negate\": true},\n"
    " \"limits\": {\"time_s\": 2, \"vgpu_time_s\": 60, \"vgpu_minstr\": 2000, \"memory_mib\": "
    "64},\n"
    " \"traffic\": {\"read\": \"4*N\", \"write\": \"8\", \"flops\": \"N\"},\n"
    " \"cases\": [{\"name\": \"one\"}]}\n";

#define HEX64 "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CASE(NAME)                                                                                 \
    " {\"name\": \"" NAME "\", \"key\": \"" HEX64 "\",\n"                                          \
    "  \"tags\": [\"site\", \"perf\"], \"check\": \"site\",\n"                                     \
    "  \"rule\": {\"kind\": \"allclose\", \"atol\": 1e-05, \"rtol\": 0.5},\n"                      \
    "  \"needs\": [\"gpu\"], \"advisory\": false, \"seed\": 7, \"note\": \"\",\n"                  \
    "  \"scalars\": {\"N\": 3, \"g\": 0.5}, \"shapes\": {\"x\": [3, 4], \"y\": [1]},\n"            \
    "  \"offsets\": {\"x\": 0, \"y\": 1},\n"                                                       \
    "  \"exponents\": [{\"lo\": -16, \"hi\": 3}, {\"lo\": 0, \"hi\": 0}],\n"                       \
    "  \"traffic\": {\"read\": 12, \"write\": 8, \"flops\": 3},\n"                                 \
    "  \"files\": {\"in\": {\"path\": \"p/" NAME ".in.safetensors\", \"bytes\": 640,\n"            \
    "    \"sha256\": \"" HEX64 "\", \"committed\": true},\n"                                       \
    "   \"ref\": {\"path\": \"p/" NAME ".ref.safetensors\", \"bytes\": 64,\n"                      \
    "    \"sha256\": \"" HEX64 "\", \"committed\": false}}}"
static const char good_cases[] = CASE("one") ",\n" CASE("two_2");

struct fixture {
    struct arena a;
    struct problem p;
    struct diag d;
};

static char *manifest_text(struct arena *a, const char *spec, const char *cases)
{
    char sha[65];

    sha256_hex(sha, spec, strlen(spec));
    return arena_printf(a,
                        "{\"format\": 1, \"problem\": \"p\", \"generator\": 1,\n"
                        " \"spec_sha256\": \"%s\",\n \"cases\": [\n%s]}\n",
                        sha, cases);
}

static enum status parse(struct fixture *f, const char *spec_text, const char *manifest)
{
    const struct problem_text spec = {"problem.json", spec_text, strlen(spec_text)};
    const struct problem_text m = {"MANIFEST.json", manifest, strlen(manifest)};

    return problem_parse(&f->p, &f->a, "p", &spec, &m, &f->d);
}

static void good_pair(void **state)
{
    struct fixture f = {0};
    const struct problem *p = &f.p;
    const struct casedef *c;

    (void)state;
    assert_int_equal(parse(&f, good_spec, manifest_text(&f.a, good_spec, good_cases)), STATUS_OK);
    assert_string_equal(p->title, "Scaled sum");
    assert_int_equal(p->perf_version, 2);
    assert_int_equal(p->param_count, 4);
    assert_int_equal(p->params[0].rank, 2);
    assert_int_equal(p->params[0].group, 0);
    assert_int_equal(p->params[1].dir, DIR_INOUT);
    assert_int_equal(p->params[1].space, SPACE_HOST);
    assert_int_equal(p->params[1].group, 1);
    assert_true(p->params[2].scalar);
    assert_int_equal(p->params[2].group, -1);
    assert_true(p->negate);
    assert_int_equal(p->memory_mib, 64);
    assert_int_equal(p->rule_count, 4);
    assert_string_equal(p->prototype,
                        "extern \"C\" void solve(const float* x, double* y, int N, float g)");
    assert_string_equal(p->signature, "void (const float*, double*, int, float)");
    assert_int_equal(p->case_count, 2);
    c = &p->cases[1];
    assert_string_equal(c->name, "two_2");
    assert_int_equal(c->index, 1);
    assert_true(casedef_has_tag(c, "perf") && casedef_has_tag(c, "site"));
    assert_false(casedef_has_tag(c, "edge"));
    assert_int_equal(c->rule.kind, RULE_ALLCLOSE);
    assert_true(c->needs_gpu && !c->advisory && c->misaligned);
    assert_int_equal(c->count[0], 12);
    assert_int_equal(c->shape[0][1], 4);
    assert_int_equal(c->offset[1], 1);
    assert_int_equal(c->exp_lo[0], -16);
    assert_int_equal(c->exp_hi[0], 3);
    assert_true(c->scalar[2] >= 3 && c->scalar[2] <= 3 && c->scalar[3] >= 0.5);
    assert_int_equal(c->in.size, 640);
    assert_true(c->in.committed && !c->ref.committed);
    assert_string_equal(c->ref.path, "p/two_2.ref.safetensors");
    arena_fini(&f.a);
}

/* Replaces the first `from` in `text`; fails the test when it is not there. */
static char *replaced(struct arena *a, const char *text, const char *from, const char *to)
{
    const char *at = strstr(text, from);

    if (!at)
        fail_msg("'%s' is not in the text", from);
    return arena_printf(a, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

struct mutation {
    const char *from, *to;
    unsigned line, col;
    const char *message;
};

static void check_place(const struct diag *d, const char *file, const struct mutation *m)
{
    assert_string_equal(d->file, file);
    if (strcmp(d->text, m->message) != 0 || d->line != m->line || d->col != m->col)
        fail_msg("'%s' -> '%s' gave %u:%u: %s", m->from, m->to, d->line, d->col, d->text);
}

static void spec_faults_have_a_place(void **state)
{
    static const struct mutation rows[] = {
        {"\"title\"", "\"titel\"", 1, 28, "unknown key 'titel'; did you mean 'title'?"},
        {" \"perf_version\": 2,", "", 1, 1, "the key 'perf_version' is missing"},
        {"\"format\": 1", "\"format\": 2", 1, 12, "2 is outside 1 to 1"},
        {"\"name\": \"p\"", "\"name\": \"q\"", 1, 23, "the folder is named 'p'"},
        {"\"name\": \"N\"", "\"name\": \"x\"", 5, 12, "a second parameter 'x'"},
        {"\"name\": \"N\"", "\"name\": \"3N\"", 5, 12, "'3N' is no identifier"},
        {"\"dtype\": \"f32\"", "\"dtype\": \"f31\"", 3, 39,
         "unknown value 'f31'; did you mean 'f32'?"},
        {"\"dir\": \"inout\"", "\"dir\": \"in\"", 2, 12, "no parameter is an output"},
        {"\"shape\": [\"N\", 4]", "\"shape\": [\"N\", 4.5]", 3, 61,
         "a dimension is an integer or an expression like \"M + N\""},
        {"\"shape\": [1], ", "", 4, 3, "an output needs a 'shape'"},
        {"\"shape\": [1]", "\"shape\": []", 4, 58, "expected 1 to 4 items, found 0"},
        {"\"kind\": \"exact\"", "\"kind\": \"exact\", \"atol\": 0", 8, 22,
         "rule 'exact' takes no more than 1 keys"},
        {"\"strict\"", "\"loose\"", 8, 11, "the key 'strict' is missing"},
        {"\"rtol\": 0.5", "\"rtol\": -0.5", 9, 54, "-0.5 is outside 0 to 1"},
        {"\"bound\": \"walk\"", "\"bound\": \"run\"", 10, 58, "unknown value 'run'"},
        {"[[\"x\"]", "[[\"z\"]", 12, 26, "no parameter 'z'"},
        {"[[\"x\"]", "[[\"N\"]", 12, 26, "'N' is not an input array"},
        {"[\"y\"]", "[\"x\"]", 12, 33, "'x' is in two groups"},
        {"\"negate\": true", "\"negate\": 1", 12, 50, "expected true or false, found an integer"},
        {"\"time_s\": 2", "\"time_s\": 0", 13, 23, "0 is outside 0.001 to 3600"},
        {"\"memory_mib\": 64", "\"memory_mib\": \"64\"", 13, 80,
         "expected an integer, found a string"},
        {"[1, 100]", "[1]", 7, 18, "expected 2 to 3 items, found 1"},
        {"{\"name\": \"one\"}", "{\"nome\": \"one\"}", 15, 12, "the key 'name' is missing"},
        {"\"format\": 1", "\"format\": 1, \"format\": 1", 1, 22,
         "duplicate object key near '\"format\"'"},
        {"]}\n", "]\n", 16, 0, "'}' expected near end of file"},
    };
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f = {0};
        char *bad;

        bad = replaced(&f.a, good_spec, rows[i].from, rows[i].to);
        assert_int_equal(parse(&f, bad, manifest_text(&f.a, bad, good_cases)), STATUS_BAD_DATA);
        check_place(&f.d, "problem.json", &rows[i]);
        assert_string_equal(f.d.notes[f.d.note_count - 1], "while loading problem 'p'");
        arena_fini(&f.a);
        seen++;
    }
    assert_int_equal(seen, 25);
}

static void manifest_faults_have_a_place(void **state)
{
    static const struct mutation rows[] = {
        {"\"problem\": \"p\"", "\"problem\": \"q\"", 1, 26, "this manifest is of 'q', not of 'p'"},
        {"\"spec_sha256\": \"", "\"spec_sha256\": \"f", 2, 17, "longer than 64 bytes"},
        {"\"key\": \"0", "\"key\": \"G", 4, 25, "expected 64 lower-case hex digits"},
        {"\"name\": \"one\"", "\"name\": \"../x\"", 4, 11,
         "'../x' is no case name: a-z 0-9 . _ - only"},
        {"\"site\", \"perf\"", "\"site\", \"site\"", 5, 20, "the tag 'site' twice"},
        {"\"site\", \"perf\"", "\"sight\"", 5, 12, "unknown value 'sight'"},
        {"\"check\": \"site\"", "\"check\": \"sit\"", 5, 38, "problem.json has no rule 'sit'"},
        {"\"atol\": 1e-05", "\"atol\": 2e-05", 6, 11, "differs from rule 'site' of problem.json"},
        {"[\"gpu\"]", "[\"tpu\"]", 7, 13, "unknown value 'tpu'; did you mean 'gpu'?"},
        {"\"seed\": 7", "\"seed\": -1", 7, 48, "-1 is outside 0 to 9223372036854775807"},
        {"\"N\": 3", "\"N\": 3.5", 8, 20, "'N' is an integer"},
        {"\"N\": 3", "\"N\": 3000000000", 8, 20, "3e+09 is outside -2.14748e+09 to 2.14748e+09"},
        {"\"g\": 0.5", "\"h\": 0.5", 8, 23, "unknown key 'h'"},
        {"\"x\": [3, 4]", "\"x\": [3]", 8, 50, "expected 2 to 2 items, found 1"},
        {"\"x\": [3, 4]", "\"x\": [1000000000, 1000000000]", 8, 50, "more than 2^40 elements"},
        {"\"y\": 1}", "\"y\": 64}", 9, 28, "64 is outside 0 to 63"},
        {"\"lo\": -16", "\"lo\": -17", 10, 24, "-17 is outside -16 to 0"},
        {", {\"lo\": 0, \"hi\": 0}", "", 10, 16, "expected 2 to 2 items, found 1"},
        {"\"flops\": 3", "\"flops\": -3", 11, 48, "-3 is outside 0 to 1e+18"},
        {"\"p/one.in", "\"p/../one.in", 12, 28, "expected 'p/one.in.safetensors'"},
        {"\"bytes\": 640", "\"bytes\": 6", 12, 61, "6 is outside 8 to 1125899906842624"},
        {"\"committed\": false", "\"committed\": null", 15, 96,
         "expected true or false, found null"},
        {"{\"kind\": \"allclose\", \"atol\": 1e-05, \"rtol\": 0.5}", "{\"kind\": \"survive\"}", 6,
         11, "differs from rule 'site' of problem.json"},
    };
    unsigned seen = 0;

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct fixture f = {0};
        char *bad =
            replaced(&f.a, manifest_text(&f.a, good_spec, good_cases), rows[i].from, rows[i].to);

        assert_int_equal(parse(&f, good_spec, bad), STATUS_BAD_DATA);
        check_place(&f.d, "MANIFEST.json", &rows[i]);
        arena_fini(&f.a);
        seen++;
    }
    assert_int_equal(seen, 23);
}

static void stale_manifest_names_the_command(void **state)
{
    struct fixture f = {0};
    char *manifest = manifest_text(&f.a, good_spec, good_cases);
    char *newer = replaced(&f.a, good_spec, "Scaled", "Other ");

    (void)state;
    assert_int_equal(parse(&f, newer, manifest), STATUS_BAD_DATA);
    assert_string_equal(f.d.text, "made from another problem.json; 'judge gen p' makes it again");
    arena_fini(&f.a);
}

static void repeated_case_and_survive_need_care(void **state)
{
    struct fixture f = {0};
    static const char twice[] = CASE("one") ",\n" CASE("one");
    char *survive =
        replaced(&f.a, good_cases,
                 "\"check\": \"site\",\n  \"rule\": {\"kind\": \"allclose\", \"atol\": 1e-05, "
                 "\"rtol\": 0.5}",
                 "\"check\": \"survive\",\n  \"rule\": {\"kind\": \"survive\"}");

    (void)state;
    assert_int_equal(parse(&f, good_spec, manifest_text(&f.a, good_spec, twice)), STATUS_BAD_DATA);
    assert_string_equal(f.d.text, "a second case 'one'");
    assert_int_equal(parse(&f, good_spec, manifest_text(&f.a, good_spec, survive)),
                     STATUS_BAD_DATA);
    assert_string_equal(f.d.text, "'survive' is for advisory cases only");
    assert_string_equal(f.d.notes[0], "while reading case 'one'");
    survive = replaced(&f.a, survive, "\"advisory\": false", "\"advisory\": true");
    assert_int_equal(parse(&f, good_spec, manifest_text(&f.a, good_spec, survive)), STATUS_OK);
    arena_fini(&f.a);
}

static void load_by_name(void **state)
{
    char *dir = tempdir_make();
    struct fixture f = {0};
    const char *const *names;
    unsigned n;

    (void)state;
    (void)tempdir_write_text(dir, "problems/p/problem.json", good_spec);
    (void)tempdir_write_text(dir, "problems/empty/readme", "no problem");
    assert_int_equal(problem_names(&names, &n, &f.a, dir, &f.d), STATUS_OK);
    assert_int_equal(n, 1);
    assert_string_equal(names[0], "p");
    assert_int_equal(problem_load(&f.p, &f.a, dir, "p", &f.d), STATUS_BAD_DATA);
    assert_string_equal(f.d.text, "this file is missing; 'judge gen p' makes it");
    (void)tempdir_write_text(dir, "testcases/p/MANIFEST.json",
                             manifest_text(&f.a, good_spec, good_cases));
    assert_int_equal(problem_load(&f.p, &f.a, dir, "p", &f.d), STATUS_OK);
    assert_int_equal(problem_load(&f.p, &f.a, dir, "pp", &f.d), STATUS_USAGE);
    assert_string_equal(f.d.text, "unknown problem 'pp'; did you mean 'p'?");
    assert_int_equal(problem_load(&f.p, &f.a, dir, "../p", &f.d), STATUS_USAGE);
    assert_int_equal(problem_load(&f.p, &f.a, dir, "", &f.d), STATUS_USAGE);
    arena_fini(&f.a);
    tempdir_remove(dir);
}

static void shipped_problems_load(void **state)
{
    struct fixture f = {0};
    const char *const *names;
    unsigned n;

    (void)state;
    assert_int_equal(problem_names(&names, &n, &f.a, TEST_ROOT, &f.d), STATUS_OK);
    assert_true(n >= 5);
    for (unsigned i = 0; i < n; i++) {
        if (problem_load(&f.p, &f.a, TEST_ROOT, names[i], &f.d) != STATUS_OK) {
            char text[2048];

            (void)diag_format(&f.d, text, sizeof text);
            fail_msg("%s", text);
        }
        assert_true(f.p.case_count >= 10);
    }
    arena_fini(&f.a);
}

static void sha256_of_known_texts(void **state)
{
    char hex[65], big[200];

    (void)state;
    sha256_hex(hex, "", 0);
    assert_string_equal(hex, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    sha256_hex(hex, "abc", 3);
    assert_string_equal(hex, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    sha256_hex(hex, "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq", 56);
    assert_string_equal(hex, "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    memset(big, 'a', sizeof big); /* 55, 63 and 64 bytes meet every form of padding */
    sha256_hex(hex, big, 55);
    assert_string_equal(hex, "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318");
    sha256_hex(hex, big, 63);
    assert_string_equal(hex, "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34");
    sha256_hex(hex, big, 64);
    assert_string_equal(hex, "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb");
}

static void failed_allocations_are_reported(void **state)
{
    struct arena texts = {0};
    char *manifest = manifest_text(&texts, good_spec, good_cases);

    (void)state;
    for (int hooked = 0; hooked < 2; hooked++) {
        unsigned long n = 0;
        enum status st;

        if (hooked) /* jansson's own allocations too; it reports some of them as broken text */
            json_set_alloc_funcs(xalloc, xfree);
        do {
            struct fixture f = {0};

            alloc_fault_set(++n);
            st = parse(&f, good_spec, manifest);
            if (st != STATUS_OK && !hooked)
                assert_int_equal(st, STATUS_NOMEM);
            if (st != STATUS_OK)
                assert_true(f.d.text[0] != '\0');
            arena_fini(&f.a);
        } while (st != STATUS_OK && n < 5000);
        alloc_fault_set(0);
        json_set_alloc_funcs(malloc, free);
        assert_int_equal(st, STATUS_OK);
        assert_true(n > (hooked ? 100 : 1));
    }
    arena_fini(&texts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_pair),
        cmocka_unit_test(spec_faults_have_a_place),
        cmocka_unit_test(manifest_faults_have_a_place),
        cmocka_unit_test(stale_manifest_names_the_command),
        cmocka_unit_test(repeated_case_and_survive_need_care),
        cmocka_unit_test(load_by_name),
        cmocka_unit_test(shipped_problems_load),
        cmocka_unit_test(sha256_of_known_texts),
        cmocka_unit_test(failed_allocations_are_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

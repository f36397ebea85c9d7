/*
 * test_print.c - canonical text: printing what was loaded, loading what was printed, gives the same
 * text.
 */
#include "ptx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

static char *print(const char *s, size_t len, bool *clean)
{
    struct ptx_module *m = NULL;
    struct ptx_diag d;
    size_t n = 0;

    if (!ptx_module_load(&m, s, len, &d))
        fail_msg("%u:%u: %s\n%s", d.line, d.col, d.text, d.source);
    *clean = true;
    for (uint32_t i = 0; i < m->func_count; i++)
        *clean = *clean && !m->funcs[i].refusal;
    char *text = ptx_module_print(m, &n);
    assert_non_null(text);
    assert_int_equal(strlen(text), n);
    ptx_module_free(m);
    return text;
}

static void fixed_point(const char *s)
{
    bool clean = false;
    char *once = print(s, strlen(s), &clean);

    assert_true(clean);
    char *twice = print(once, strlen(once), &clean);
    assert_true(clean);
    assert_string_equal(once, twice);
    free(once);
    free(twice);
}

static void test_text(void **state)
{
    bool clean = false;
    static const char text_of_k[] = HEAD ".entry k(.param .u64 p) { .reg .b32 %r<2>; .reg .f32 f; "
                                         "L: { .reg .pred f; @f bra L; } add.f32 f, f, 1.0; }\n";
    char *text = print(text_of_k, strlen(text_of_k), &clean);

    (void)state;
    assert_string_equal(
        text,
        ".version 9.0\n.target sm_90a\n.address_size 64\n\n\n.entry k (.param .align 8 .u64 p);\n\n"
        ".entry k (.param .align 8 .u64 p)\n{\n    .reg .b32 %r0;\n    .reg .b32 %r1;\n    .reg "
        ".f32 %r2;\n"
        "    .reg .pred %r3;\n$L0:\n    @%r3 bra $L0;\n    add.f32 %r2, %r2, 0f3F800000;\n    "
        "ret;\n}\n");
    free(text);
}

static void test_fixed_point(void **state)
{
    (void)state;
    fixed_point(HEAD);
    fixed_point(HEAD ".global .align 8 .u64 n[3] = {a, generic(a)+4, fn};\n.global .f32 a[2] = "
                     "{1.5, 0f00000000};\n"
                     ".const .b8 t[7] = {1,2,3};\n.extern .shared .align 16 .b8 s[];\n.global "
                     ".attribute(.managed) .u32 m;\n"
                     ".func fn() { ret; }\n");
    fixed_point(
        HEAD
        ".entry k(.param .u64 a, .param .align 16 .b8 b[20]) .maxntid 64, 2, 1 .minnctapersm 3\n{\n"
        " .reg .pred %p<3>; .reg .b32 %r<9>; .reg .b64 %rd<5>; .shared .align 8 .b8 buf[64]; "
        ".local .b32 l[4];\n"
        " ld.param.u64 %rd1, [a]; mov.u32 %r1, %tid.x; shfl.sync.bfly.b32 %r2|%p1, %r1, 16, 31, "
        "-1;\n"
        " st.shared.v2.u32 [buf+8], {%r1, %r2}; { .shared .b32 buf; st.shared.u32 [buf], 1; }\n"
        " mov.b64 {%r3, _}, %rd1; T: .branchtargets A, B; brx.idx %r1, T; A: add.s32 %r1, %r1, -7; "
        "bra.uni B; B:\n"
        " bar.red.or.pred %p2, 1, 64, !%p1; cp.async.ca.shared.global [%r1], [%rd1], 16, 8; "
        "atom.global.cas.b32 %r4, [%rd1+4], 0, 1;\n"
        "}\n");
    fixed_point(
        HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n"
             ".func (.param .b32 r) f(.param .b32 x) { .reg .b32 %r; ld.param.b32 %r, [x]; "
             "st.param.b32 [r+0], %r; ret; }\n"
             ".entry k() { .reg .b64 %rd; { .param .b32 q; .param .b32 z; call.uni (z), f, (q); }\n"
             " { .param .b32 q; .param .b32 z; P: .callprototype (.param .b32 _) _ (.param .b32 "
             "_); call (z), %rd, (q), P; }\n"
             " { .param .b32 q; .param .b32 z; T: .calltargets f, f; call (z), %rd, (q), T; } }\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_text),
        cmocka_unit_test(test_fixed_point),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

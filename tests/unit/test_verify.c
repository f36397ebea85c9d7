/*
 * test_verify.c - names, scopes, types, forms: what a checked module holds, and what is refused
 * with which words.
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

static struct ptx_module *m;
static struct ptx_diag diag;

static int teardown(void **state)
{
    (void)state;
    ptx_module_free(m);
    m = NULL;
    return 0;
}

static void load(const char *s)
{
    ptx_module_free(m);
    if (!ptx_module_load(&m, s, strlen(s), &diag))
        fail_msg("%u:%u: %s", diag.line, diag.col, diag.text);
}

/* A kernel with the usual registers around the statements. */
static const struct ptx_func *kernel(const char *body)
{
    static char text[4000];

    snprintf(
        text, sizeof text,
        HEAD
        ".global .u32 g; .shared .b32 s; .const .b32 c;\n.entry k(.param .u32 a, .param .u64 b) {\n"
        " .reg .pred %%p<4>; .reg .b16 %%h<4>; .reg .b32 %%r<9>; .reg .b64 %%rd<9>; .reg .f32 "
        "%%f<9>; .reg .f64 %%d<9>;\n"
        "%s\n}\n",
        body);
    load(text);
    return ptx_find_func(m, "k");
}

static const struct ptx_inst *accepted(const char *body)
{
    const struct ptx_func *f = kernel(body);

    if (f->refusal)
        fail_msg("%s", f->refusal);
    return &f->insts[0];
}

static void refused(const char *body, const char *why)
{
    const struct ptx_func *f = kernel(body);

    if (!f->refusal)
        fail_msg("not refused: %s", body);
    if (!strstr(f->refusal, why))
        fail_msg("'%s' does not say '%s'", f->refusal, why);
    assert_int_equal(f->insts[0].form, PTX_FORM_NONE);
}

static void malformed(const char *s, unsigned line, unsigned col, const char *why)
{
    ptx_module_free(m);
    assert_false(ptx_module_load(&m, s, strlen(s), &diag));
    assert_null(m);
    if (!strstr(diag.text, why))
        fail_msg("'%s' does not say '%s'", diag.text, why);
    assert_int_equal(diag.line, line);
    assert_int_equal(diag.col, col);
}

static void test_forms(void **state)
{
    const struct ptx_inst *in = accepted("mad.lo.s32 %r1, %r2, -3, %r4;");

    (void)state;
    assert_int_equal(in->form, PTX_FORM_MAD_LO);
    assert_int_equal(in->types[0], PTX_TYPE_S32);
    assert_true(ptx_has_mod(in, PTX_MOD_LO));
    assert_int_equal(in->operand_count, 4);
    assert_true((int64_t)in->operands[2].bits == -3);
    assert_string_equal(in->text, "mad.lo.s32 %r1, %r2, -3, %r4;");
    assert_int_equal(accepted("setp.ltu.f32 %p1|%p2, %f1, %f2;")->form, PTX_FORM_SETP_F);
    assert_int_equal(accepted("setp.lt.and.s32 %p1, %r1, %r2, !%p2;")->form, PTX_FORM_SETP_BOOL);
    assert_int_equal(accepted("add.rn.ftz.f32 %f1, %f2, 0f3F800000;")->form, PTX_FORM_ADD_F);
    assert_int_equal(accepted("bar.red.or.pred %p1, 0, %p2;")->operand_count, 3);
    assert_int_equal(accepted("bar.red.or.pred %p1, 1, 64, %p2;")->operand_count, 4);
    assert_int_equal(accepted("mbarrier.arrive.shared.b64 _, [%r1];")->form,
                     PTX_FORM_MBARRIER_ARRIVE);
    assert_int_equal(accepted("mbarrier.arrive.shared.b64 [%r1];")->form,
                     PTX_FORM_MBARRIER_ARRIVE_NODEST);
    assert_int_equal(accepted("atom.add.release.gpu.u32 %r1, [%rd1], %r2;")->form, PTX_FORM_ATOM);
    assert_int_equal(accepted("vote.ballot.sync.b32 %r1, %p1, -1;")->form,
                     PTX_FORM_VOTE_BALLOT_SYNC_LATE);
}

static void test_operands(void **state)
{
    const struct ptx_inst *in = accepted("ld.global.v2.u16 {%r1, _}, [g+4];");

    (void)state;
    assert_int_equal(in->space, PTX_SPACE_GLOBAL);
    assert_int_equal(in->operands[0].kind, PTX_OPND_VECTOR);
    assert_int_equal(in->operands[0].elems[1].kind, PTX_OPND_SINK);
    assert_int_equal(in->operands[1].kind, PTX_OPND_ADDR);
    assert_int_equal(in->operands[1].offset, 4);
    assert_string_equal(in->operands[1].elems[0].var->name, "g");
    in = accepted("mov.u32 %r1, %tid.x;");
    assert_int_equal(in->operands[1].special, PTX_SPECIAL_TID_X);
    in = accepted("mov.u32 %r1, s;");
    assert_int_equal(in->operands[1].kind, PTX_OPND_VAR);
    in = accepted("mov.b64 {%r1, %r2}, %rd1;");
    assert_int_equal(in->operands[0].elem_count, 2);
    in = accepted("mov.b32 %r1, {%h1, %h2};");
    assert_int_equal(in->operands[1].elem_count, 2);
    in = accepted("mov.b32 %r1, 0f40000000;");
    assert_int_equal(in->operands[1].bits, 0x40000000);
    in = accepted("add.f64 %d1, %d2, 0d3FF0000000000000;");
    assert_true(in->operands[2].bits == 0x3ff0000000000000ull);
    in = accepted(
        "add.f32 %f1, %f2, 1.0;"); /* a decimal constant takes the type of the instruction */
    assert_int_equal(in->operands[2].bits, 0x3f800000);
    in = accepted("ld.u8 %r1, [%rd1];"); /* loads may widen */
    assert_int_equal(in->space, PTX_SPACE_GENERIC);
    in = accepted("@!%p3 bra L; L: ret;");
    assert_true(in->guard >= 0 && in->guard_negated);
    assert_int_equal(in->operands[0].target, 1);
}

static void test_refusals(void **state)
{
    (void)state;
    refused("wibble.s32 %r1, %r2;", "unknown instruction 'wibble'");
    refused("add.wobble.s32 %r1, %r2, %r3;", "unknown modifier or type '.wobble'");
    refused("add.hi.s32 %r1, %r2, %r3;", "'.hi' is not allowed");
    refused("add.pred %p1, %p2, %p3;", "does not exist with these types");
    refused("mul.s32 %r1, %r2, %r3;", "modifier");
    refused("add.s32 %r1, %r2;", "2 operands do not fit");
    refused("add.s32 %r1, %r2, %r99;", "'%r99'");
    refused("add.s32 %r1, %r2, %rd1;", "is a .b64 register");
    refused("add.s32 %r1, %r2, %f1;", "is a .f32 register");
    refused("add.s64 %rd1, %rd2, 0f3F800000;", "floating-point constant");
    refused("add.s16 %h1, %h2, 70000;", "does not fit .s16");
    refused("ld.global.u32 %r1, [s];", "lies in .shared");
    refused("ld.u32 %r1, [s];", "lies in .shared");
    refused("ld.global.u32 %r1, [%r2];", "is a .b32 register");
    refused("ld.global.v2.u32 %r1, [%rd1];", "list of 2 registers");
    refused("ld.acquire.global.u32 %r1, [%rd1];", "needs a scope");
    refused("atom.global.min.f32 %f1, [%rd1], %f2;", "integer type");
    refused("atom.global.inc.s32 %r1, [%rd1], %r2;", ".u32");
    refused("add.ftz.f64 %d1, %d2, %d3;", ".ftz");
    refused("bra nowhere;", "no label 'nowhere'");
    refused("@%r1 bra L; L: ret;", "not a predicate");
    refused("mov.u32 %r1, %nosuch;", "special register");
    refused("tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [%rd1, {%r1,%r2}];", "textures");
    refused("wgmma.fence.sync.aligned;", "not executed");
    refused("tcgen05.alloc.b32 [%rd1], 32;", "tensor memory");
}

static void test_refusal_has_place_and_caret(void **state)
{
    const struct ptx_func *f = kernel("ret;\n   wibble %r1;");

    (void)state;
    assert_string_equal(f->refusal, "8:4: unknown instruction 'wibble'\n  wibble %r1;\n  ^");
    assert_null(f->insts[0].refusal);
    assert_int_equal(f->insts[1].line, 8);
}

static void test_refusal_stays_in_its_function(void **state)
{
    (void)state;
    load(HEAD ".entry bad() { wibble; }\n.entry good() { ret; }\n");
    assert_non_null(ptx_find_func(m, "bad")->refusal);
    assert_null(ptx_find_func(m, "good")->refusal);
    assert_null(ptx_find_func(m, "neither"));
}

static void test_scopes(void **state)
{
    const struct ptx_func *f =
        kernel("{ .reg .b64 %r1; L: mov.u64 %r1, 1; bra L; }\nL: mov.u32 %r1, 2;\nbra L;\n"
               "{ .reg .b16 %h<2>; mov.u16 %h1, 3; }");

    (void)state;
    if (f->refusal)
        fail_msg("%s", f->refusal);
    assert_int_equal(f->regs[f->insts[0].operands[0].reg].type, PTX_TYPE_B64);
    assert_int_equal(f->insts[1].operands[0].target, 0);
    assert_int_equal(f->regs[f->insts[2].operands[0].reg].type, PTX_TYPE_B32);
    assert_int_equal(f->insts[3].operands[0].target, 2);
    assert_true(f->insts[4].operands[0].reg > f->insts[2].operands[0].reg);
    f = kernel("{ .reg .b32 inner; } mov.u32 inner, 1;");
    assert_non_null(f->refusal);
    f = kernel("{ X: ret; } bra X;");
    assert_non_null(strstr(f->refusal, "no label 'X'"));
}

static const struct ptx_func *caller(const char *body)
{
    static char text[2000];

    snprintf(text, sizeof text, "%s%s\n}\n",
             HEAD ".extern .func (.param .b32 r) vprintf(.param .b64 a, .param .b64 b);\n.extern "
                  ".func other();\n"
                  ".func (.param .b32 r) f(.param .b32 x) { st.param.b32 [r], 1; ret; }\n.entry "
                  "k() { .reg .b64 %rd<3>;\n"
                  " .param .b32 q; .param .b64 w; .param .b32 z;\n",
             body);
    load(text);
    return ptx_find_func(m, "k");
}

static void bad_call(const char *body, const char *why)
{
    const struct ptx_func *k = caller(body);

    if (!k->refusal || !strstr(k->refusal, why))
        fail_msg("'%s' does not say '%s'", k->refusal ? k->refusal : "(accepted)", why);
}

static void test_calls(void **state)
{
    const struct ptx_func *k = caller("call.uni (z), f, (q);");

    (void)state;
    assert_null(k->refusal);
    assert_int_equal(k->insts[0].operand_count, 4);
    assert_int_equal(k->insts[0].operands[1].kind, PTX_OPND_FUNC);
    assert_int_equal(k->insts[0].operands[3].kind, PTX_OPND_SINK);
    assert_string_equal(k->insts[0].operands[0].elems[0].var->name, "z");
    k = caller("P: .callprototype (.param .b32 _) _ (.param .b32 _); call (z), %rd1, (q), P;");
    assert_null(k->refusal);
    assert_int_equal(k->insts[0].operands[3].kind, PTX_OPND_PROTO);
    k = caller("T: .calltargets f; call (z), %rd1, (q), T;");
    assert_null(k->refusal);
    assert_int_equal(k->insts[0].operands[3].elems[0].kind, PTX_OPND_FUNC);
    assert_null(caller("call (z), vprintf, (w, w);")->refusal);
    bad_call("call f, (q);", "results");
    bad_call("call (z), f, (w);", "8 bytes");
    bad_call("call other;", "relocatable");
    bad_call("call k;", "launches from the device");
    bad_call("call (z), %rd1, (q);", ".callprototype");
    bad_call("call (z), f, (5);", ".param variables");
}

static void test_parameters(void **state)
{
    (void)state;
    load(HEAD ".entry k(.param .u8 a, .param .u64 b, .param .align 16 .b8 c[20], .param .u16 d) { "
              "ret; }\n");
    const struct ptx_func *f = ptx_find_func(m, "k");
    assert_int_equal(f->params[0].offset, 0);
    assert_int_equal(f->params[1].offset, 8);
    assert_int_equal(f->params[2].offset, 16);
    assert_int_equal(f->params[3].offset, 36);
    assert_int_equal(f->param_size, 38);
}

static void test_initialisers(void **state)
{
    (void)state;
    load(HEAD ".global .u32 a = 0x01020304;\n.global .b8 b[5] = {1, 2};\n.global .f32 f[2] = "
              "{0f3F800000, 2.0};\n"
              ".global .u64 p[3] = {a, generic(b)+2, fn};\n.global .u16 n[] = {7, 8, 9};\n.func "
              "fn() { ret; }\n");
    static const unsigned char a[] = {4, 3, 2, 1}, b[] = {1, 2, 0, 0, 0},
                               f[] = {0, 0, 0x80, 0x3f, 0, 0, 0, 0x40};
    assert_memory_equal(m->vars[0]->init, a, 4);
    assert_memory_equal(m->vars[1]->init, b, 5);
    assert_memory_equal(m->vars[2]->init, f, 8);
    assert_int_equal(m->vars[3]->ref_count, 3);
    assert_ptr_equal(m->vars[3]->refs[1].var, m->vars[1]);
    assert_int_equal(m->vars[3]->refs[1].offset, 2);
    assert_string_equal(m->vars[3]->refs[2].func->name, "fn");
    assert_int_equal(m->vars[4]->size, 6);
}

static void test_malformed_modules(void **state)
{
    (void)state;
    malformed(HEAD ".global .u32 a;\n.global .u32 a;\n", 5, 14, "declared twice");
    malformed(HEAD ".entry k() { ret; }\n.entry k() { ret; }\n", 5, 8, "two bodies");
    malformed(HEAD ".func f(.param .b32 a);\n.func f(.param .b64 a) { ret; }\n", 5, 7,
              "other parameters");
    malformed(HEAD ".global .u32 a[1] = {1, 2};\n", 4, 25, "longer than the variable");
    malformed(HEAD ".global .u64 a = b;\n", 4, 18, "no variable or function");
    malformed(HEAD ".shared .u32 a = 1;\n", 4, 14, "only .global and .const");
    malformed(HEAD ".global .u32 a[];\n", 4, 14, "needs .extern");
    malformed(HEAD ".global .pred p;\n", 4, 15, "cannot be stored");
    malformed(HEAD ".entry k() { .reg .b32 x; .reg .b64 x; }\n", 4, 37, "declared twice");
    malformed(HEAD ".entry k() { .reg .v2 .b32 x; }\n", 4, 28, "vector and array registers");
    malformed(".version 9.0\n.target weird\n", 2, 9, "target");
}

static void test_final_ret(void **state)
{
    const struct ptx_func *f = kernel("bra end; end:");

    (void)state;
    assert_int_equal(f->inst_count, 2);
    assert_int_equal(f->insts[1].form, PTX_FORM_RET);
    f = kernel("@%p1 bra top; top: ret; ");
    assert_int_equal(f->inst_count, 2);
    f = kernel("");
    assert_int_equal(f->inst_count, 1);
}

static void test_positions(void **state)
{
    (void)state;
    load(HEAD ".entry k() {\n.reg .b32 %r<2>;\n.loc 1 10 2\nmov.u32 %r1, 1;\n.loc 2 20 3, "
              "function_name $L_f, inlined_at 1 10 2\n"
              "mov.u32 %r1, 2;\n.loc 3 30 4, function_name $L_f+2, inlined_at 2 20 3\nmov.u32 %r1, "
              "3;\nret;\n}\n"
              ".file 1 \"own.cu\"\n.file 2 \"mid.h\"\n.file 3 \"deep.h\"\n.section .debug_str { "
              "$L_f: .b8 97,98,99,0 }\n");
    const struct ptx_inst *in = ptx_find_func(m, "k")->insts;
    assert_int_equal(in[0].loc->line, 10);
    assert_null(in[0].loc->inlined_at);
    assert_string_equal(in[1].loc->function, "abc");
    assert_ptr_equal(in[1].loc->inlined_at, in[0].loc);
    assert_string_equal(in[2].loc->function, "c");
    assert_int_equal(in[2].loc->inlined_at->file, 2);
    assert_int_equal(in[2].loc->inlined_at->inlined_at->file, 1);
    assert_string_equal(m->files[3], "deep.h");
}

static void test_sm(void **state)
{
    (void)state;
    load(".version 8.0\n.target sm_75\n.address_size 64\n.entry k() { .reg .b32 %r<3>; "
         "redux.sync.add.s32 %r1, %r2, -1; ret; }\n");
    assert_non_null(strstr(ptx_find_func(m, "k")->refusal, "needs sm_80"));
    load(".version 8.0\n.target sm_52\n.address_size 64\n.entry k() { ret; }\n");
    assert_null(ptx_find_func(m, "k")->refusal);
    malformed(".version 8.0\n.target sm_5x\n", 2, 9, "expected a target");
    malformed(".version 8.0\n.target sm_\n", 2, 9, "expected a target");
    malformed(".version 8.0\n.target compute_90\n", 2, 9, "expected a target");
}

static void test_memory_runs_out(void **state)
{
    static const char text[] =
        HEAD ".global .u64 p[2] = {p};\n.func (.param .b32 r) f(.param .b32 x) { ret; }\n.entry "
             "k(.param .u64 a) {\n .reg .b32 %r<300>;\n"
             " .reg .pred %p; .loc 1 1 1\n mov.u32 %r1, 5; @%p bra L; wibble; L: .param .b32 q; "
             ".param .b32 z; call (z), f, (q);\n ret; }\n";
    int failed = 0;

    (void)state;
    for (long n = 1; n < 60; n++) {
        vg_fail_nth(n);
        const bool ok = ptx_module_load(&m, text, sizeof text - 1, &diag);
        vg_fail_nth(0);
        failed += !ok;
        if (!ok)
            assert_string_equal(diag.text, "out of memory");
        ptx_module_free(m);
        m = NULL;
    }
    assert_true(failed > 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_forms, teardown),
        cmocka_unit_test_teardown(test_operands, teardown),
        cmocka_unit_test_teardown(test_refusals, teardown),
        cmocka_unit_test_teardown(test_refusal_has_place_and_caret, teardown),
        cmocka_unit_test_teardown(test_refusal_stays_in_its_function, teardown),
        cmocka_unit_test_teardown(test_scopes, teardown),
        cmocka_unit_test_teardown(test_calls, teardown),
        cmocka_unit_test_teardown(test_parameters, teardown),
        cmocka_unit_test_teardown(test_initialisers, teardown),
        cmocka_unit_test_teardown(test_malformed_modules, teardown),
        cmocka_unit_test_teardown(test_final_ret, teardown),
        cmocka_unit_test_teardown(test_positions, teardown),
        cmocka_unit_test_teardown(test_sm, teardown),
        cmocka_unit_test_teardown(test_memory_runs_out, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

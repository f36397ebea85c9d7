/*
 * test_parse.c - the shape of PTX text: what the tree holds, and the place and wording of syntax
 * errors.
 */
#include "ast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEAD ".version 9.0\n.target sm_90a\n.address_size 64\n"

static struct ast_module tree;
static struct ptx_diag diag;

static void parse(const char *s)
{
    if (!ast_parse(&tree, s, strlen(s), &diag))
        fail_msg("%u:%u: %s", diag.line, diag.col, diag.text);
}

static void refused(const char *s, unsigned line, unsigned col, const char *message)
{
    assert_false(ast_parse(&tree, s, strlen(s), &diag));
    assert_null(tree.arena.head);
    assert_non_null(strstr(diag.text, message) ? diag.text : NULL);
    assert_int_equal(diag.line, line);
    assert_int_equal(diag.col, col);
}

static int teardown(void **state)
{
    (void)state;
    ast_free(&tree);
    return 0;
}

static bool named(struct slice s, const char *name)
{
    return s.len == strlen(name) && memcmp(s.s, name, s.len) == 0;
}

static void test_head(void **state)
{
    (void)state;
    parse(HEAD);
    assert_int_equal(tree.version_major, 9);
    assert_int_equal(tree.version_minor, 0);
    assert_true(named(tree.target, "sm_90a"));
    assert_null(tree.funcs);
}

static void test_variables(void **state)
{
    (void)state;
    parse(HEAD ".global .align 8 .u64 names[2] = {generic(a), b+4};\n"
               ".const .align 4 .b8 tab[16] = {1, 2};\n.extern .shared .align 16 .b8 smem[];\n"
               ".global .attribute(.managed) .u32 m = 7;\n.global .v4 .f32 q, r;\n");
    const struct ast_item *it = tree.vars;
    assert_true(named(it->u.var.name, "names"));
    assert_int_equal(it->u.var.count, 2);
    assert_int_equal(it->u.var.align, 8);
    assert_true(it->u.var.init->elems[0].generic);
    assert_int_equal(it->u.var.init->elems[1].offset, 4);
    it = it->next;
    assert_int_equal(it->u.var.space, PTX_SPACE_CONST);
    assert_int_equal(it->u.var.init->elem_count, 2);
    it = it->next;
    assert_int_equal(it->u.var.linkage, LINK_EXTERN);
    assert_true(it->u.var.array);
    assert_int_equal(it->u.var.count, 0);
    it = it->next;
    assert_true(it->u.var.managed);
    it = it->next;
    assert_int_equal(it->u.var.vec, 4);
    it = it->next;
    assert_true(named(it->u.var.name, "r"));
}

static void test_function(void **state)
{
    (void)state;
    parse(HEAD ".visible .entry k(.param .u64 .ptr .global .align 4 a, .param .align 8 .b8 s[24])\n"
               ".maxntid 256, 1, 1\n.minnctapersm 2\n.reqnctapercluster 2\n{ ret; }\n"
               ".func (.param .b32 r) f(.param .b32 x);\n");
    const struct ast_func *f = tree.funcs;
    assert_true(f->entry && f->has_body);
    assert_int_equal(f->param_count, 2);
    assert_int_equal(f->params[1].count, 24);
    assert_int_equal(f->maxntid[0], 256);
    assert_int_equal(f->minnctapersm, 2);
    assert_int_equal(f->cluster[0], 2);
    assert_int_equal(f->cluster[1], 1);
    f = f->next;
    assert_false(f->entry || f->has_body);
    assert_int_equal(f->return_count, 1);
}

static const struct ast_item *body_of(const char *s)
{
    static char text[2000];

    snprintf(text, sizeof text, HEAD ".entry k() {\n%s\n}\n", s);
    ast_free(&tree);
    parse(text);
    return tree.funcs->body;
}

static void test_statements(void **state)
{
    const struct ast_item *it = body_of("@!%p1 ld.global.v2.f32 {%f1, _}, [%rd1+-8];");

    (void)state;
    assert_int_equal(it->kind, ITEM_INST);
    assert_true(it->u.inst.guard_negated && named(it->u.inst.guard, "%p1"));
    assert_true(named(it->u.inst.opcode, "ld.global.v2.f32"));
    assert_int_equal(it->u.inst.operand_count, 2);
    assert_int_equal(it->u.inst.operands[0].kind, AST_VECTOR);
    assert_int_equal(it->u.inst.operands[0].elems[1].kind, AST_SINK);
    assert_int_equal(it->u.inst.operands[1].kind, AST_ADDR);
    assert_int_equal(it->u.inst.operands[1].offset, -8);

    it = body_of("shfl.sync.bfly.b32 %r1|%p1, %r2, 16, 31, -1; setp.eq.f32 %p, %f, 0f3F800000;");
    assert_non_null(it->u.inst.operands[0].pair);
    assert_true(it->u.inst.operands[4].bits == UINT64_MAX);
    it = it->next;
    assert_int_equal(it->u.inst.operands[2].kind, AST_F32);

    it = body_of("mov.u32 %r1, (1+2)*3 - 4/2; mov.u32 %r1, 1<<4;");
    assert_int_equal(it->u.inst.operands[1].bits, 7);
    assert_int_equal(it->next->u.inst.operands[1].bits, 16);
}

static void test_call(void **state)
{
    const struct ast_item *it = body_of("call.uni (retval0), \n f, \n (\n param0, param1\n );"
                                        "proto: .callprototype (.param .b32 _) _ (.param .b32 _);"
                                        "call (r), %rd1, (p), proto;");

    (void)state;
    assert_int_equal(it->u.inst.operand_count, 3);
    assert_int_equal(it->u.inst.operands[0].kind, AST_LIST);
    assert_int_equal(it->u.inst.operands[2].elem_count, 2);
    it = it->next;
    assert_int_equal(it->kind, ITEM_PROTO);
    assert_int_equal(it->u.proto.return_count, 1);
    assert_int_equal(it->next->u.inst.operand_count, 4);
}

static void test_blocks_and_labels(void **state)
{
    const struct ast_item *it =
        body_of("{ .reg .b32 t; a: bra a; } a: t: .branchtargets a, b; brx.idx %r, t;"
                ".loc 1 3 5, function_name $L_x, inlined_at 2 7 9 .pragma \"nounroll\"; b:");

    (void)state;
    assert_int_equal(it->kind, ITEM_BLOCK);
    assert_int_equal(it->u.block->next->kind, ITEM_LABEL);
    it = it->next;
    assert_int_equal(it->kind, ITEM_LABEL);
    it = it->next;
    assert_int_equal(it->kind, ITEM_TARGETS);
    assert_int_equal(it->u.targets.count, 2);
    it = it->next->next;
    assert_int_equal(it->kind, ITEM_LOC);
    assert_true(it->u.loc.inlined);
    assert_int_equal(it->u.loc.at_line, 7);
    assert_int_equal(it->next->kind, ITEM_LABEL);
}

static void test_debug_sections(void **state)
{
    (void)state;
    parse(HEAD ".file 1 \"a.cu\", 12, 34\n.file 3 \"b.h\"\n.section .debug_str\n{\n$L_s0:\n.b8 "
               "95,90,0\n$L_s1:\n.b8 65\n.b8 0\n}\n"
               ".section .debug_info { .b32 $L_s0, 4\n .b8 1 }\n");
    assert_true(named(tree.files[1], "a.cu"));
    assert_null(tree.files[2].s);
    assert_true(named(tree.files[3], "b.h"));
    assert_int_equal(tree.string_count, 2);
    assert_string_equal(tree.strings + tree.string_labels[1].at, "A");
}

static void test_errors(void **state)
{
    (void)state;
    refused("", 1, 1, "expected '.version'");
    refused(".version 9\n", 1, 10, "version such as");
    refused(".version 9.0\n.entry", 2, 1, "expected '.target'");
    refused(HEAD ".address_size 32\n", 4, 15, "64-bit");
    refused(HEAD ".wibble\n", 4, 1, "unknown directive");
    refused(HEAD ".entry k() {\n  add.s32 %r1, %r2\n}\n", 6, 1, "expected ',' or ';'");
    refused(HEAD ".entry k() {\n  add.s32 %r1, %r2,\n", 6, 1, "end of the text");
    refused(HEAD ".entry k() {\n  .wobble 3;\n}\n", 5, 3, "unknown directive in a function");
    refused(HEAD ".entry k() {\n  ld.u32 %r1, [];\n}\n", 5, 17, "address needs a base");
    refused(HEAD ".global .align 3 .b32 x;\n", 4, 9, "power of two");
    refused(HEAD ".global .b32 x<4>;\n", 4, 16, "only registers");
    refused(HEAD ".global .b32 x = 1/0;\n", 4, 19, "division by zero");
    refused(HEAD ".global .texref t;\n", 4, 9, "unknown in a declaration");
    refused(HEAD ".func f(.reg .b32 x);\n", 4, 9, "parameters in registers");
    refused(HEAD ".local .b32 x;\n", 4, 1, "inside a function only");
    assert_string_equal(diag.source, ".local .b32 x;");
}

static void test_depth(void **state)
{
    static char text[4000];
    size_t n = (size_t)snprintf(text, sizeof text, HEAD ".global .b32 x = ");

    (void)state;
    memset(text + n, '(', 1000);
    assert_false(ast_parse(&tree, text, n + 1000, &diag));
    assert_non_null(strstr(diag.text, "nested too deeply"));
    n = (size_t)snprintf(text, sizeof text, HEAD ".entry k() ");
    memset(text + n, '{', 1000);
    assert_false(ast_parse(&tree, text, n + 1000, &diag));
    assert_non_null(strstr(diag.text, "nested too deeply"));
}

static void test_memory_runs_out(void **state)
{
    static const char text[] = HEAD
        ".file 20 \"x\"\n.global .b32 x[3] = {1,2,3};\n.entry k(.param .u64 p) {\n .reg .b32 %r<3>;"
        " mov.u32 %r1, %r2; { .reg .b32 a, b; } t: .branchtargets t, t, t, t, t; }\n"
        ".section .debug_str { s: .b8 1,2,3,0 }\n";
    int failed = 0;

    (void)state;
    for (long n = 1; n < 40; n++) {
        vg_fail_nth(n);
        const bool ok = ast_parse(&tree, text, sizeof text - 1, &diag);
        vg_fail_nth(0);
        failed += !ok;
        if (!ok)
            assert_string_equal(diag.text, "out of memory");
        ast_free(&tree);
    }
    assert_true(failed > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_head, teardown),
        cmocka_unit_test_teardown(test_variables, teardown),
        cmocka_unit_test_teardown(test_function, teardown),
        cmocka_unit_test_teardown(test_statements, teardown),
        cmocka_unit_test_teardown(test_call, teardown),
        cmocka_unit_test_teardown(test_blocks_and_labels, teardown),
        cmocka_unit_test_teardown(test_debug_sections, teardown),
        cmocka_unit_test_teardown(test_errors, teardown),
        cmocka_unit_test_teardown(test_depth, teardown),
        cmocka_unit_test_teardown(test_memory_runs_out, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

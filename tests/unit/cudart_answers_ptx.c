/*
 * cudart_answers_ptx.c - the kernels of cudart_answers, as PTX for any GPU from sm_90 on.
 *
 *   nothing() bounded() fixed() registers() clustered()   empty, with launch bounds of each kind
 *   add_one(int *p, int n)           p[i] += 1 for i < n
 *   large_shared(int *p)             holds 40,000 bytes of static shared memory
 *   dynamic(int *p)                  dynamic shared memory
 *   read_at, write_at(T *p, int *q)  one access at any address; read_shared takes a shared one
 *   say(char *format, u64 *args, int *out)  vprintf of 16 words of arguments
 *   trap_now() stop_now() fail_now(char *text, char *file, char *function) deep(int n, int *out)
 *   take(u64 size, void **out)       device malloc
 */
#include "cudart_answers.h"

#include <string.h>

static const char head[] =
    ".version 8.0\n.target sm_90\n.address_size 64\n"
    ".extern .func (.param .b32 result) vprintf(.param .b64 format, .param .b64 args);\n"
    ".extern .func __assertfail(.param .b64 a, .param .b64 b, .param .b32 c, .param .b64 d, "
    ".param .b64 e);\n"
    ".extern .func (.param .b64 result) malloc(.param .b64 size);\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .b8 table[8] = {1, 0, 0, 0, 2};\n"
    ".extern .shared .align 4 .b8 pool[];\n"
    ".visible .entry nothing() { ret; }\n"
    ".visible .entry bounded() .maxntid 64, 1, 1 { ret; }\n"
    ".visible .entry fixed() .reqntid 32, 1, 1 { ret; }\n"
    ".visible .entry registers() .maxntid 256, 1, 1 .minnctapersm 2 { ret; }\n"
    ".visible .entry clustered() .reqnctapercluster 2, 1, 1 { ret; }\n"
    ".visible .entry add_one(.param .u64 p, .param .u32 n) {\n"
    "  .reg .pred %p<2>; .reg .b32 %r<8>; .reg .b64 %rd<5>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x; mov.u32 %r5, %tid.x;\n"
    "  mad.lo.s32 %r6, %r3, %r4, %r5; setp.ge.s32 %p1, %r6, %r1; @%p1 ret;\n"
    "  cvta.to.global.u64 %rd2, %rd1; mul.wide.s32 %rd3, %r6, 4; add.s64 %rd4, %rd2, %rd3;\n"
    "  ld.global.u32 %r7, [%rd4]; add.s32 %r7, %r7, 1; st.global.u32 [%rd4], %r7;\n"
    "  ret; }\n"
    ".visible .entry large_shared(.param .u64 p) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %rd<4>; .shared .align 4 .b8 tile[40000];\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, tile;\n"
    "  add.s32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r4, [%r3];\n"
    "  cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], %r4;\n"
    "  ret; }\n"
    ".visible .entry dynamic(.param .u64 p) {\n"
    "  .reg .b32 %r<5>; .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [p]; mov.u32 %r1, %tid.x; shl.b32 %r2, %r1, 2; mov.u32 %r3, pool;\n"
    "  add.s32 %r3, %r3, %r2; st.shared.u32 [%r3], %r1; bar.sync 0; ld.shared.u32 %r4, [%r3];\n"
    "  cvta.to.global.u64 %rd2, %rd1; st.global.u32 [%rd2], %r4;\n"
    "  ret; }\n";
static const char tail[] =
    ".visible .entry read_at(.param .u64 p, .param .u64 q) {\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; ld.u32 %r1, [%rd1]; st.u32 [%rd2], %r1;\n"
    "  ret; }\n"
    ".visible .entry write_at(.param .u64 p, .param .u64 q) {\n"
    "  .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [p]; st.u32 [%rd1], 5;\n"
    "  ret; }\n"
    ".visible .entry read_shared(.param .u64 p, .param .u64 q) {\n"
    "  .reg .b32 %r<3>; .reg .b64 %rd<3>; .shared .align 4 .b8 small[64];\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; cvt.u32.u64 %r1, %rd1;\n"
    "  mov.u32 %r2, small; add.s32 %r1, %r1, %r2; ld.shared.u32 %r2, [%r1]; st.u32 [%rd2], %r2;\n"
    "  ret; }\n"
    ".visible .entry add_at(.param .u64 p, .param .u64 q) {\n"
    "  .reg .b32 %r<2>; .reg .b64 %rd<3>;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.u64 %rd2, [q]; atom.add.u32 %r1, [%rd1], 1; st.u32 "
    "[%rd2], %r1;\n"
    "  ret; }\n"
    ".visible .entry say(.param .u64 format, .param .u64 args, .param .u64 out) {\n"
    "  .local .align 8 .b8 box[128]; .reg .b32 %r<2>; .reg .b64 %rd<24>;\n"
    "  ld.param.u64 %rd1, [format]; ld.param.u64 %rd2, [args]; ld.param.u64 %rd3, [out];\n"
    "  mov.u64 %rd4, box; cvta.local.u64 %rd5, %rd4;\n"
    "  ld.u64 %rd6, [%rd2]; st.u64 [%rd5], %rd6; ld.u64 %rd6, [%rd2+8]; st.u64 [%rd5+8], %rd6;\n"
    "  ld.u64 %rd6, [%rd2+16]; st.u64 [%rd5+16], %rd6; ld.u64 %rd6, [%rd2+24]; st.u64 [%rd5+24], "
    "%rd6;\n"
    "  ld.u64 %rd6, [%rd2+32]; st.u64 [%rd5+32], %rd6; ld.u64 %rd6, [%rd2+40]; st.u64 [%rd5+40], "
    "%rd6;\n"
    "  ld.u64 %rd6, [%rd2+48]; st.u64 [%rd5+48], %rd6; ld.u64 %rd6, [%rd2+56]; st.u64 [%rd5+56], "
    "%rd6;\n"
    "  { .param .b64 p0; st.param.b64 [p0], %rd1; .param .b64 p1; st.param.b64 [p1], %rd5;\n"
    "    .param .b32 r; call.uni (r), vprintf, (p0, p1); ld.param.b32 %r1, [r]; }\n"
    "  st.u32 [%rd3], %r1;\n"
    "  ret; }\n"
    ".visible .entry trap_now() { trap; ret; }\n"
    ".visible .entry stop_now() { brkpt; ret; }\n"
    ".visible .entry fail_now(.param .u64 text, .param .u64 file, .param .u64 function) {\n"
    "  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [text]; ld.param.u64 %rd2, [file]; ld.param.u64 %rd3, [function];\n"
    "  { .param .b64 a; st.param.b64 [a], %rd1; .param .b64 b; st.param.b64 [b], %rd2;\n"
    "    .param .b32 c; st.param.b32 [c], 41; .param .b64 d; st.param.b64 [d], %rd3;\n"
    "    .param .b64 e; st.param.b64 [e], 1; call.uni __assertfail, (a, b, c, d, e); }\n"
    "  ret; }\n"
    ".visible .entry take(.param .u64 size, .param .u64 out) {\n"
    "  .reg .b64 %rd<4>;\n"
    "  ld.param.u64 %rd1, [size]; ld.param.u64 %rd2, [out];\n"
    "  { .param .b64 s; st.param.b64 [s], %rd1; .param .b64 r; call.uni (r), malloc, (s);\n"
    "    ld.param.b64 %rd3, [r]; }\n"
    "  st.u64 [%rd2], %rd3;\n"
    "  ret; }\n";

const char *answers_ptx(void)
{
    static char text[sizeof head + sizeof tail];

    if (!text[0])
        strcat(strcpy(text, head), tail);
    return text;
}

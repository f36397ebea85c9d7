/*
 * ptxtest.h - the test form of a .ptx file: launch, arguments and expectations in comments that
 * start with //! (tests/ptx/README.md). Used by ptxrun (the virtual GPU) and tests/ptx/record.c (a
 * real one), so both see the same operands. Runs nothing itself.
 */
#ifndef VGPU_TOOL_PTXTEST_H
#define VGPU_TOOL_PTXTEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum test_class { TEST_UNSIGNED, TEST_SIGNED, TEST_FLOAT };
struct test_type {
    const char *name;
    unsigned bytes;
    enum test_class cls;
    unsigned fraction, exponent; /* float: stored bits */
};

enum { TEST_ARGS = 16 };
struct test_arg {
    char name[32];
    const struct test_type *type;
    bool buffer, out;        /* out: compared after the launch */
    uint64_t bits;           /* scalar */
    size_t count;            /* elements of the buffer */
    unsigned char *data;     /* its initial contents */
    unsigned char *expected; /* from //! expect, or NULL */
    size_t expected_count;
};
struct test {
    char kernel[256];
    uint32_t grid[3], block[3], shared;
    bool cooperative;
    struct test_arg args[TEST_ARGS];
    unsigned arg_count;
    uint64_t budget;                /* warp instructions the launch may take, 0 = the default */
    int error;                      /* CUDA error the launch must end with */
    char finding[32];               /* kind that must be reported, "" = none may be */
    double ulp, relative, absolute; /* allowed differences of floats; all 0: bit for bit */
    unsigned seeds;                 /* run with seeds 0 .. seeds as well; all must agree */
    bool device;                    /* may be recorded on a device (default); //! local: not */
};
/* Reads the directives. False with a message when there are none or one is wrong. */
bool ptxtest_parse(struct test *t, const char *text, char *err, size_t err_size);
void ptxtest_free(struct test *t);
/* Compares the result `got` of buffer `a` with `want`; prints the first difference and returns
 * false. */
bool ptxtest_compare(const struct test *t, const struct test_arg *a, const unsigned char *got,
                     const unsigned char *want, size_t count, FILE *out);
/* Gold files: comment lines with #, then per out buffer "buffer NAME TYPE COUNT" and hexadecimal
 * values. */
void ptxtest_write_gold(FILE *out, const struct test_arg *a, const unsigned char *data);
/* Finds buffer a in gold text and decodes it into to (count elements); false with a message. */
bool ptxtest_read_gold(const char *gold, const struct test_arg *a, unsigned char *to, char *err,
                       size_t err_size);
const struct test_type *ptxtest_type(const char *name, size_t len);
/* Text of a whole file, NUL-terminated, or NULL. */
char *ptxtest_slurp(const char *path, size_t *len);

#endif

/*
 * test_casefile.c - safetensors files: written then read is equal; every malformed header is
 * refused.
 */
#include "alloc_fault.h"
#include "casefile.h"
#include "tempdir.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void written_then_read_is_equal(void **state)
{
    static const float x[6] = {1, 2, 3, 4, 5, 6};
    static const double y[1] = {0.25};
    static const signed char z[3] = {-1, 0, 1};
    static const int n = 6;
    const struct tensor t[] = {
        {.name = "z", .dtype = DTYPE_I8, .rank = 1, .shape = {3}, .count = 3, .data = z},
        {.name = "x", .dtype = DTYPE_F32, .rank = 2, .shape = {2, 3}, .count = 6, .data = x},
        {.name = "N", .dtype = DTYPE_I32, .rank = 0, .count = 1, .data = &n},
        {.name = "tol.y", .dtype = DTYPE_F64, .rank = 1, .shape = {1}, .count = 1, .data = y},
        {.name = "none", .dtype = DTYPE_F32, .rank = 1, .shape = {0}, .count = 0},
    };
    static const char *const meta[] = {"case", "one", "seed", "7", NULL};
    char *dir = tempdir_make();
    char path[256];
    struct casefile cf;
    struct diag d;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/c.safetensors", dir);
    assert_int_equal(casefile_write(path, t, 5, meta, &d), STATUS_OK);
    assert_int_equal(casefile_open(&cf, path, &d), STATUS_OK);
    assert_int_equal(cf.tensor_count, 5);
    for (unsigned i = 0; i < 5; i++) {
        const struct tensor *got = casefile_find(&cf, t[i].name);

        assert_non_null(got);
        assert_int_equal(got->dtype, t[i].dtype);
        assert_int_equal(got->rank, t[i].rank);
        assert_int_equal(got->count, t[i].count);
        for (unsigned k = 0; k < t[i].rank; k++)
            assert_int_equal(got->shape[k], t[i].shape[k]);
        assert_int_equal(got->size, t[i].count * dtype_size(t[i].dtype));
        assert_int_equal((uintptr_t)got->data % dtype_size(t[i].dtype), 0);
        assert_ptr_equal(got->data, cf.map + got->begin);
        if (got->size)
            assert_memory_equal(got->data, t[i].data, got->size);
    }
    assert_string_equal(casefile_meta(&cf, "seed"), "7");
    assert_null(casefile_meta(&cf, "see"));
    assert_null(casefile_find(&cf, "tol.x"));
    casefile_close(&cf);
    assert_int_equal(cf.fd, -1);
    casefile_close(&cf);
    tempdir_remove(dir);
}

/* Header text plus `data` zero bytes, in a buffer aligned to 8; free(). */
static unsigned char *make_file(const char *header, size_t data, size_t *size)
{
    size_t len = strlen(header);
    const size_t start = (8 + len + 63) / 64 * 64;
    unsigned char *p = calloc(1, start + data + 8);

    assert_non_null(p);
    len = start - 8;
    p[0] = (unsigned char)(len & 0xff);
    p[1] = (unsigned char)(len >> 8);
    memset(p + 8, ' ', len);
    memcpy(p + 8, header, strlen(header));
    *size = start + data;
    return p;
}

static void malformed_headers_are_refused(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        const char *message;
    } rows[] = {
        {"", 0, "'[' or '{' expected near end of file"},
        {"[]", 0, "expected an object with tensors"},
        {"{}", 0, "expected an object with tensors"},
        {"{\"x\":{\"dtype\":\"F33\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4,
         "unknown value 'F33'; did you mean 'F32'?"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1]}}", 4, "the key 'data_offsets' is missing"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4],\"extra\":1}}", 4,
         "unknown key 'extra'"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,4]}}", 4,
         "the shape needs 8 bytes"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,0]}}", 4,
         "the shape needs 4 bytes"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 0,
         "4 is outside 0 to 0"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[-1],\"data_offsets\":[0,4]}}", 4,
         "-1 is outside 0 to 1099511627776"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1048576,1048576,2],\"data_offsets\":[0,4]}}", 4,
         "more than 2^40 elements"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1,1,1,1,1],\"data_offsets\":[0,4]}}", 4,
         "expected 0 to 4 items, found 5"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, "duplicate object key near '\"x\"'"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 8,
         "the tensors end at offset 68, the file at 72"},
        {"{\"x\":{\"dtype\":\"I8\",\"shape\":[1],\"data_offsets\":[0,1]},"
         "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[1,5]}}",
         5, "not aligned to the 4-byte element"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]},"
         "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[8,12]}}",
         12, "hole in front of tensor 'y': expected offset 132, found 136"},
        {"{\"x\":{\"dtype\":\"F32\",\"shape\":[2],\"data_offsets\":[0,8]},"
         "\"y\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[4,8]}}",
         8, "overlap in front of tensor 'y': expected offset 136, found 132"},
        {"{\"__metadata__\":{\"a\":1}}", 0, "expected a string, found an integer"},
        {"{\"__metadata__\":7}", 0, "expected an object, found an integer"},
        {"{\"x\":7}", 0, "expected an object, found an integer"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct casefile cf;
        struct diag d;
        size_t size;
        unsigned char *file = make_file(rows[i].header, rows[i].data, &size);

        assert_int_equal(casefile_parse(&cf, file, size, "c.in", &d), STATUS_BAD_DATA);
        assert_string_equal(d.text, rows[i].message);
        assert_string_equal(d.file, "c.in");
        assert_int_equal(cf.fd, -1);
        assert_int_equal(cf.tensor_count, 0);
        free(file);
    }
}

static void bad_lengths_are_refused(void **state)
{
    struct casefile cf;
    struct diag d;
    size_t size;
    unsigned char *file =
        make_file("{\"x\":{\"dtype\":\"F32\",\"shape\":[1],\"data_offsets\":[0,4]}}", 4, &size);

    (void)state;
    assert_int_equal(casefile_parse(&cf, file, size, "c", &d), STATUS_OK);
    casefile_close(&cf);
    assert_int_equal(casefile_parse(&cf, file, 7, "c", &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "only 7 bytes: too short for a safetensors file");
    assert_int_equal(casefile_parse(&cf, file, 20, "c", &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "header length 56 at offset 0: at most 12 fit");
    file[7] = 0x80;
    assert_int_equal(casefile_parse(&cf, file, size, "c", &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "header length 9223372036854775864 at offset 0: at most 60 fit");
    file[7] = 0;
    file[0]--;
    assert_int_equal(casefile_parse(&cf, file, size, "c", &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "the data start at offset 63, not at a multiple of 64");
    free(file);
}

static void missing_and_odd_files(void **state)
{
    char *dir = tempdir_make();
    struct casefile cf;
    struct diag d;

    (void)state;
    assert_int_equal(casefile_open(&cf, "/no/such", &d), STATUS_IO);
    assert_string_equal(d.text, "cannot open: No such file or directory");
    assert_int_equal(casefile_open(&cf, dir, &d), STATUS_BAD_DATA);
    assert_string_equal(d.text, "is not a regular file");
    assert_int_equal(casefile_open(&cf, tempdir_write_text(dir, "short", "1234"), &d),
                     STATUS_BAD_DATA);
    assert_string_equal(d.text, "only 4 bytes: too short for a safetensors file");
    tempdir_remove(dir);
}

static void writer_refuses_what_needs_escapes(void **state)
{
    const struct tensor t = {.name = "a\"b", .dtype = DTYPE_F32, .rank = 1, .shape = {0}};
    struct diag d;

    (void)state;
    assert_int_equal(casefile_write("/no/such/file", &t, 1, NULL, &d), STATUS_BAD_DATA);
    assert_int_equal(casefile_write("/no/such/file", NULL, 0, NULL, &d), STATUS_IO);
}

static void failed_allocations_leave_nothing(void **state)
{
    char *dir = tempdir_make();
    static const float x[2] = {1, 2};
    const struct tensor t = {
        .name = "x", .dtype = DTYPE_F32, .rank = 1, .shape = {2}, .count = 2, .data = x};
    char path[256];
    struct diag d;
    unsigned long n = 0;
    enum status st;

    (void)state;
    (void)snprintf(path, sizeof path, "%s/c", dir);
    do {
        alloc_fault_set(++n);
        st = casefile_write(path, &t, 1, NULL, &d);
        alloc_fault_set(0);
        assert_int_equal(access(path, F_OK) == 0, st == STATUS_OK);
    } while (st != STATUS_OK && n < 100);
    assert_int_equal(st, STATUS_OK);
    assert_true(n > 2);
    for (n = 1; n < 100; n++) {
        struct casefile cf;

        alloc_fault_set(n);
        st = casefile_open(&cf, path, &d);
        alloc_fault_set(0);
        assert_true(st == STATUS_OK ? cf.fd >= 0 : cf.fd == -1);
        casefile_close(&cf);
        if (st == STATUS_OK)
            break;
        assert_int_equal(st, STATUS_NOMEM);
    }
    assert_int_equal(st, STATUS_OK);
    tempdir_remove(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(written_then_read_is_equal),
        cmocka_unit_test(malformed_headers_are_refused),
        cmocka_unit_test(bad_lengths_are_refused),
        cmocka_unit_test(missing_and_odd_files),
        cmocka_unit_test(writer_refuses_what_needs_escapes),
        cmocka_unit_test(failed_allocations_leave_nothing),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

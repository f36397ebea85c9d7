/*
 * tempdir.c - see tempdir.h. Test code only.
 */
#include "tempdir.h"

#include "diag.h"
#include "fileio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

char *tempdir_make(void)
{
    char *dir = strdup("/tmp/warpjudge-test-XXXXXX");

    assert_non_null(dir);
    assert_non_null(mkdtemp(dir));
    return dir;
}

void tempdir_remove(char *dir)
{
    struct diag d;

    assert_int_equal(path_remove(dir, &d), STATUS_OK);
    free(dir);
}

const char *tempdir_write(const char *dir, const char *name, const void *data, size_t len)
{
    static char path[4096];
    struct diag d;
    char *slash;

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    slash = strrchr(path, '/');
    *slash = '\0';
    assert_int_equal(dir_make(path, &d), STATUS_OK);
    *slash = '/';
    assert_int_equal(file_write(path, data, len, &d), STATUS_OK);
    return path;
}

const char *tempdir_write_text(const char *dir, const char *name, const char *text)
{
    return tempdir_write(dir, name, text, strlen(text));
}

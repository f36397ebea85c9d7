/*
 * test_fileio.c - what a file that is written does to whatever has its name already.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fileio.h"
#include "tempdir.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct fixture {
    char *dir;
    char path[512], other[512];
    struct diag d;
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);

    if (f == NULL)
        return 1;
    *state = f;
    f->dir = tempdir_make();
    (void)snprintf(f->path, sizeof f->path, "%s/path", f->dir);
    (void)snprintf(f->other, sizeof f->other, "%s/other", f->dir);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;

    tempdir_remove(f->dir);
    free(f);
    return 0;
}

static void assert_holds(const char *path, const char *text)
{
    char got[64];
    const int fd = open(path, O_RDONLY);
    ssize_t n;

    assert_true(fd >= 0);
    n = read(fd, got, sizeof got);
    (void)close(fd);
    assert_int_equal(n, (ssize_t)strlen(text));
    assert_memory_equal(got, text, strlen(text));
}

static void a_link_stays_and_its_file_is_replaced(void **state)
{
    struct fixture *f = *state;
    struct stat s;

    assert_int_equal(file_write(f->other, "old", 3, &f->d), STATUS_OK);
    assert_int_equal(symlink("other", f->path), 0);
    assert_int_equal(file_write(f->path, "new", 3, &f->d), STATUS_OK);
    assert_int_equal(lstat(f->path, &s), 0);
    assert_true(S_ISLNK(s.st_mode));
    assert_holds(f->other, "new");
}

/* As `--json /dev/null` must not put a file in place of the device. */
static void a_pipe_is_written_to_and_not_replaced(void **state)
{
    struct fixture *f = *state;
    struct stat s;
    char got[8];
    int fd;

    assert_int_equal(mkfifo(f->path, 0600), 0);
    fd = open(f->path, O_RDWR | O_NONBLOCK);
    assert_true(fd >= 0);
    assert_int_equal(file_write(f->path, "text", 4, &f->d), STATUS_OK);
    assert_int_equal(read(fd, got, sizeof got), 4);
    (void)close(fd);
    assert_int_equal(lstat(f->path, &s), 0);
    assert_true(S_ISFIFO(s.st_mode));
}

static void a_device_that_is_full_is_an_error(void **state)
{
    struct fixture *f = *state;
    struct stat s;

    if (stat("/dev/full", &s) != 0 || !S_ISCHR(s.st_mode))
        skip();
    assert_int_equal(symlink("/dev/full", f->path), 0); /* the device itself is safe from us */
    assert_int_equal(file_write(f->path, "text", 4, &f->d), STATUS_IO);
    assert_non_null(strstr(f->d.text, "No space left"));
}

static void a_folder_is_left_alone(void **state)
{
    struct fixture *f = *state;

    assert_int_equal(mkdir(f->path, 0700), 0);
    assert_int_equal(file_write(f->path, "text", 4, &f->d), STATUS_IO);
    assert_int_equal(rmdir(f->path), 0); /* and it is empty */
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_link_stays_and_its_file_is_replaced), CASE(a_pipe_is_written_to_and_not_replaced),
        CASE(a_device_that_is_full_is_an_error), CASE(a_folder_is_left_alone)};

    return cmocka_run_group_tests_name("fileio", tests, NULL, NULL);
}

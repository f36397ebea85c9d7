/*
 * fileio.c - see fileio.h. Invariant: a file written here is complete or absent, also after a
 * crash.
 */
#include "fileio.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum status file_read(char **text, size_t *len, struct arena *a, const char *path, size_t max,
                      struct diag *d)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* a FIFO must not hang us */
    struct stat s;
    char *buf = NULL;
    size_t n = 0;
    enum status st = STATUS_OK;

    if (fd < 0)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot open: %s", strerror(errno));
    if (fstat(fd, &s) != 0)
        st = diag_at(d, STATUS_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    else if (!S_ISREG(s.st_mode))
        st = diag_at(d, STATUS_BAD_DATA, path, 0, 0, "is not a regular file");
    else if ((uintmax_t)s.st_size > max)
        st = diag_at(d, STATUS_BAD_DATA, path, 0, 0, "has %jd bytes, at most %zu are allowed",
                     (intmax_t)s.st_size, max);
    else if (!(buf = arena_alloc(a, (size_t)s.st_size + 1)))
        st = diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
    while (st == STATUS_OK && n < (size_t)s.st_size) {
        const ssize_t got = read(fd, buf + n, (size_t)s.st_size - n);

        if (got > 0)
            n += (size_t)got;
        else if (got == 0)
            break; /* it shrank meanwhile */
        else if (errno != EINTR)
            st = diag_at(d, STATUS_IO, path, 0, 0, "cannot read: %s", strerror(errno));
    }
    (void)close(fd);
    if (st != STATUS_OK)
        return st;
    buf[n] = '\0';
    *text = buf;
    *len = n;
    return STATUS_OK;
}

static enum status write_all(int fd, const char *path, const unsigned char *p, size_t len,
                             struct diag *d)
{
    while (len > 0) {
        const ssize_t n = write(fd, p, len);

        if (n > 0) {
            p += n;
            len -= (size_t)n;
        } else if (n < 0 && errno != EINTR)
            return diag_at(d, STATUS_IO, path, 0, 0, "cannot write: %s", strerror(errno));
    }
    return STATUS_OK;
}

/* Devices, pipes and sockets: what a rename would put a file in place of. */
static bool is_special(const char *path)
{
    struct stat s;

    return stat(path, &s) == 0 && !S_ISREG(s.st_mode) && !S_ISDIR(s.st_mode);
}

static enum status write_special(const char *path, const void *data, size_t len, struct diag *d)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC);
    enum status st;

    if (fd < 0)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot write: %s", strerror(errno));
    st = write_all(fd, path, data, len, d);
    if (close(fd) != 0 && st == STATUS_OK)
        st = diag_at(d, STATUS_IO, path, 0, 0, "cannot write: %s", strerror(errno));
    return st;
}

static enum status replace_file(const char *path, const void *data, size_t len, struct diag *d)
{
    struct arena a = {0};
    char *temporary = arena_printf(&a, "%s.XXXXXX", path);
    int fd = -1;
    enum status st = STATUS_OK;

    if (!temporary)
        return diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
    fd = mkostemp(temporary, O_CLOEXEC);
    if (fd < 0) {
        st = diag_at(d, STATUS_IO, path, 0, 0, "cannot write: %s", strerror(errno));
        goto done;
    }
    (void)fchmod(fd, 0644);
    st = write_all(fd, path, data, len, d);
    if (close(fd) != 0 && st == STATUS_OK) /* a full disk may show up only here */
        st = diag_at(d, STATUS_IO, path, 0, 0, "cannot write: %s", strerror(errno));
    if (st == STATUS_OK && rename(temporary, path) != 0)
        st = diag_at(d, STATUS_IO, path, 0, 0, "cannot rename: %s", strerror(errno));
    if (st != STATUS_OK)
        (void)unlink(temporary);
done:
    arena_fini(&a);
    return st;
}

enum status file_write(const char *path, const void *data, size_t len, struct diag *d)
{
    char target[PATH_MAX];

    if (is_special(path))
        return write_special(path, data, len, d);
    /* a link stays, and the file that it names is replaced */
    return replace_file(realpath(path, target) != NULL ? target : path, data, len, d);
}

enum status dir_make(const char *path, struct diag *d)
{
    struct arena a = {0};
    char *part = arena_strdup(&a, path);
    enum status st = STATUS_OK;

    if (!part)
        return diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
    for (char *p = part + 1; st == STATUS_OK; p++) {
        const char end = *p;

        if (end != '/' && end != '\0')
            continue;
        *p = '\0';
        if (mkdir(part, 0755) != 0 && errno != EEXIST)
            st = diag_at(d, STATUS_IO, part, 0, 0, "cannot make this folder: %s", strerror(errno));
        *p = end;
        if (end == '\0')
            break;
    }
    arena_fini(&a);
    return st;
}

static int by_name(const void *x, const void *y)
{
    const char *const *a = x, *const *b = y;

    return strcmp(*a, *b);
}

enum status dir_list(const char *const **names, unsigned *count, struct arena *a, const char *path,
                     struct diag *d)
{
    DIR *dir = opendir(path);
    const struct dirent *e;
    const char **list = NULL;
    unsigned n = 0, room = 0;
    enum status st = STATUS_OK;

    *names = NULL;
    *count = 0;
    if (!dir && errno == ENOENT)
        return STATUS_OK;
    if (!dir)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot list: %s", strerror(errno));
    while ((e = readdir(dir))) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (n == room) { /* doubling: the old list stays in the arena */
            const char **more = arena_array(a, room ? 2 * (size_t)room : 64, sizeof *more);

            if (!more) {
                st = diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
                break;
            }
            if (n)
                memcpy(more, list, n * sizeof *more);
            list = more;
            room = room ? 2 * room : 64;
        }
        list[n] = arena_strdup(a, e->d_name);
        if (!list[n]) {
            st = diag_at(d, STATUS_NOMEM, path, 0, 0, "out of memory");
            break;
        }
        n++;
    }
    (void)closedir(dir);
    if (st != STATUS_OK)
        return st;
    if (n)
        qsort(list, n, sizeof *list, by_name);
    *names = list;
    *count = n;
    return STATUS_OK;
}

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *f)
{
    (void)s;
    (void)kind;
    (void)f;
    return remove(path);
}

enum status path_remove(const char *path, struct diag *d)
{
    if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
        return diag_at(d, STATUS_IO, path, 0, 0, "cannot remove: %s", strerror(errno));
    return STATUS_OK;
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

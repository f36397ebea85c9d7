/*
 * fileio.h - whole files: read with a cap, written so that no half file is ever seen, folders made.
 * Maps nothing (casefile.c does).
 */
#ifndef HARNESS_FILEIO_H
#define HARNESS_FILEIO_H

#include "arena.h"
#include "diag.h"

/* Reads at most `max` bytes into the arena; *text is terminated by a NUL that *len does not count.
 * STATUS_IO when it cannot be opened or read, STATUS_BAD_DATA when it is no regular file or larger
 * than `max`. */
enum status file_read(char **text, size_t *len, struct arena *a, const char *path, size_t max,
                      struct diag *d) MUST_CHECK;
/* Writes to a temporary name in the same folder, then renames. On failure `path` is as it was. A
 * link is followed; a device or pipe is written to, never replaced. */
enum status file_write(const char *path, const void *data, size_t len, struct diag *d) MUST_CHECK;
/* Makes the folder and its parents; an existing one is fine. */
enum status dir_make(const char *path, struct diag *d) MUST_CHECK;
/* Names of the entries of a folder, sorted, without "." and "..". A missing folder has none. */
enum status dir_list(const char *const **names, unsigned *count, struct arena *a, const char *path,
                     struct diag *d) MUST_CHECK;
/* Removes a file or a folder with all it holds, symbolic links not followed; a missing one is fine.
 */
enum status path_remove(const char *path, struct diag *d) MUST_CHECK;
bool file_exists(const char *path);

#endif

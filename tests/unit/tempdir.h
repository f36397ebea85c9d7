/*
 * tempdir.h - a private folder for one test, removed afterwards.
 */
#ifndef TESTS_UNIT_TEMPDIR_H
#define TESTS_UNIT_TEMPDIR_H

#include <stddef.h>

/* Absolute path of a fresh folder; fails the test when it cannot be made. Free with tempdir_remove.
 */
char *tempdir_make(void);
void tempdir_remove(char *dir);
/* Writes dir/name (folders in `name` are made); returns its path, valid until the next call. */
const char *tempdir_write(const char *dir, const char *name, const void *data, size_t len);
const char *tempdir_write_text(const char *dir, const char *name, const char *text);

#endif

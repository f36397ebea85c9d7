/*
 * compile_cache.h - the entries of the compile cache: KEY.json, KEY.log, KEY.so, and
 * SOURCEKEY.deps. Starts no compiler. An entry exists when its KEY.json does: that file is renamed
 * into place last.
 *
 * The key has two steps, because the files that a source includes are known only after compiling
 * it: SOURCEKEY hashes the source, the flags and the toolkit; SOURCEKEY.deps names the private
 * headers found by the last compile; KEY hashes SOURCEKEY and their contents.
 */
#ifndef HARNESS_COMPILE_CACHE_H
#define HARNESS_COMPILE_CACHE_H

#include "compile.h"

#define CACHE_FORMAT 1

/* KEY for a source key: reads SOURCEKEY.deps, if any, and the files it names. */
enum status cache_key(const char **key, struct arena *a, const char *dir, const char *source_key,
                      struct diag *d) MUST_CHECK;
/* True: *out is a complete entry. A damaged entry counts as absent. */
bool cache_recall(struct object *out, struct arena *a, const char *dir, const char *key);
/* Moves the object file `built` (NULL for a failure) and writes the rest of the entry; out->key and
 * out->so_path are set. `deps`: private headers, NULL-terminated. */
enum status cache_store(struct object *out, struct arena *a, const char *dir,
                        const char *source_key, const char *const *deps, const char *built,
                        struct diag *d) MUST_CHECK;
/* A fresh private folder inside `dir`, made with its parents. Leftovers of killed runs, an hour
 * old, are removed on the way. */
enum status cache_workdir(char **path, struct arena *a, const char *dir, struct diag *d) MUST_CHECK;
/* Removes the entries used longest ago until at most `max_mib` are left; never `keep_key`'s. */
void cache_trim(const char *dir, uint64_t max_mib, const char *keep_key);

#endif

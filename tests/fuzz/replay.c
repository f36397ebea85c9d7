/*
 * replay.c - shows every file of some folders to a fuzz target, without libFuzzer.
 * Invariant: a folder without files is a failure; a corpus that got lost must not pass.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int show(const char *dir, const char *name)
{
    char path[4096];
    FILE *f;
    uint8_t *bytes;
    long size;
    int ok = 0;

    (void)snprintf(path, sizeof path, "%s/%s", dir, name);
    f = fopen(path, "rb");
    if (!f || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
        perror(path);
        return 0;
    }
    rewind(f);
    bytes = malloc(size ? (size_t)size : 1); /* exact, so that a sanitizer sees a byte too many */
    if (bytes && fread(bytes, 1, (size_t)size, f) == (size_t)size) {
        (void)LLVMFuzzerTestOneInput(bytes, (size_t)size);
        ok = 1;
    }
    free(bytes);
    (void)fclose(f);
    return ok;
}

static int show_all(const char *folder)
{
    DIR *dir = opendir(folder);
    const struct dirent *e;
    int seen = 0, failed = 0;

    if (!dir) {
        perror(folder);
        return 1;
    }
    while ((e = readdir(dir)))
        if (e->d_name[0] != '.') {
            seen++;
            failed += !show(folder, e->d_name);
        }
    (void)closedir(dir);
    printf("%s: %d inputs, %d unreadable\n", folder, seen, failed);
    return seen == 0 || failed > 0;
}

int main(int argc, char **argv)
{
    int failed = 0;

    if (argc < 2) {
        fprintf(stderr, "usage: %s CORPUS_FOLDER...\n", argv[0]);
        return 2;
    }
    for (int i = 1; i < argc; i++)
        failed += show_all(argv[i]);
    return failed > 0;
}

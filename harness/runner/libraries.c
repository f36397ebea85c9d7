/*
 * libraries.c - see libraries.h. Uses dl_iterate_phdr, whose counter makes the usual "nothing new"
 * a matter of one callback.
 */
#include "libraries.h"

#include <link.h>
#include <stdio.h>
#include <string.h>

bool libraries_harmless(const char *path)
{
    /* The driver maps its compilers and its debug support when first needed; the C library its
     * unwinder at the end of a thread. */
    static const char *const starts[] = {"libcuda.so",
                                         "libcudart.so",
                                         "libnvidia-",
                                         "libcudadebugger",
                                         "libgcc_s.so",
                                         "libstdc++.so",
                                         "libm.so",
                                         "libc.so",
                                         "libdl.so",
                                         "libpthread.so",
                                         "librt.so",
                                         "ld-linux",
                                         "linux-vdso",
                                         "libsanitizer-collection",
                                         "libInterceptorInjectionTarget",
                                         "libTreeLauncher"};
    const char *slash = strrchr(path, '/');
    const char *base = slash == NULL ? path : slash + 1;

    if (base[0] == '\0')
        return true; /* the program itself */
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (strncmp(base, starts[i], strlen(starts[i])) == 0)
            return true;
    return false;
}

struct look {
    struct libraries *l;
    const char *allowed;
    char *name;
    size_t size;
    bool found;
};

static bool is_known(struct libraries *l, uintptr_t address)
{
    for (unsigned i = 0; i < l->count; i++)
        if (l->known[i] == address)
            return true;
    if (l->count < LIBRARIES_MAX)
        l->known[l->count++] = address;
    return false;
}

static int visit(struct dl_phdr_info *info, size_t info_size, void *opaque)
{
    struct look *look = opaque;

    (void)info_size;
    if (info->dlpi_adds == look->l->adds)
        return 1; /* nothing was mapped since */
    if (is_known(look->l, (uintptr_t)info->dlpi_phdr) || libraries_harmless(info->dlpi_name) ||
        (look->allowed != NULL && strcmp(info->dlpi_name, look->allowed) == 0))
        return 0;
    if (!look->found) {
        const char *slash = strrchr(info->dlpi_name, '/');
        snprintf(look->name, look->size, "%s", slash == NULL ? info->dlpi_name : slash + 1);
    }
    look->found = true;
    return 0;
}

static int visit_count(struct dl_phdr_info *info, size_t info_size, void *opaque)
{
    unsigned long long *adds = opaque;

    (void)info_size;
    *adds = info->dlpi_adds;
    return 1;
}

bool libraries_news(struct libraries *l, const char *allowed, char *name, size_t size)
{
    struct look look = {.l = l, .allowed = allowed, .name = name, .size = size};

    dl_iterate_phdr(visit, &look);
    dl_iterate_phdr(visit_count, &l->adds);
    return look.found;
}

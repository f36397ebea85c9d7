/*
 * fuzz_casefile.c - hostile safetensors bytes.
 * Property: an accepted file is tiled by its tensors, each aligned and inside; a refusal has a
 * text.
 */
#include "casefile.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_accepted(const struct casefile *cf)
{
    uint64_t at = 0;

    for (unsigned i = 0; i < cf->tensor_count; i++) {
        const struct tensor *t = &cf->tensors[i];
        uint64_t count = 1;

        for (unsigned k = 0; k < t->rank; k++)
            count *= t->shape[k];
        assert(count == t->count && t->size == count * dtype_size(t->dtype));
        assert(at == 0 || t->begin == at);
        assert((t->begin % 64) % dtype_size(t->dtype) == 0);
        assert((const unsigned char *)t->data == cf->map + t->begin);
        at = t->begin + t->size;
        assert(at <= cf->size);
        assert(strcmp(casefile_find(cf, t->name)->name, t->name) == 0);
    }
    assert(cf->tensor_count == 0 || at == cf->size);
    for (const char *const *m = cf->meta; *m; m += 2)
        assert(strcmp(casefile_meta(cf, m[0]), m[1]) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct casefile cf;
    struct diag d;
    char text[2048];

    if (casefile_parse(&cf, data, size, "fuzz", &d) == STATUS_OK)
        check_accepted(&cf);
    else {
        assert(d.status == STATUS_BAD_DATA && d.text[0] != '\0');
        assert(cf.tensor_count == 0 && cf.fd == -1);
        assert(diag_format(&d, text, sizeof text) == strlen(text));
    }
    casefile_close(&cf);
    return 0;
}

/*
 * fuzz_tags.c - hostile heads of .cu files.
 * Property: an accepted head has an expectation and sane tunes; a refusal names a place inside the
 * text.
 */
#include "solution.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static unsigned count_lines(const uint8_t *data, size_t size)
{
    unsigned n = 1;

    for (size_t i = 0; i < size; i++)
        n += data[i] == '\n';
    return n;
}

static void check_accepted(const struct solution *s)
{
    assert(s->expect.set != 0 && s->expect.set < 1u << VERDICT_COUNT);
    assert(s->tune_count <= SOLUTION_MAX_TUNES);
    for (unsigned i = 0; i < s->tune_count; i++)
        assert(s->tunes[i].value_count > 0 && s->tunes[i].value_count <= SOLUTION_MAX_TUNE_VALUES);
    assert(!(s->needs_gpu && s->needs_vgpu));
    assert(s->arch[0] == '\0' || strncmp(s->arch, "sm_", 3) == 0);
    (void)solution_accepts_arch(s, "90a");
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const enum solution_kind kinds[] = {SOLUTION_ACCEPT, SOLUTION_REJECT};

    for (unsigned k = 0; k < 2; k++) {
        struct arena a = {0};
        struct solution s;
        struct diag d;
        char text[2048];

        if (solution_parse(&s, &a, (const char *)data, size, kinds[k], "fuzz.cu", &d) == STATUS_OK)
            check_accepted(&s);
        else {
            assert(d.status == STATUS_BAD_DATA && d.text[0] != '\0');
            assert(d.line >= 1 && d.line <= count_lines(data, size));
            assert(diag_format(&d, text, sizeof text) == strlen(text));
        }
        arena_fini(&a);
    }
    return 0;
}

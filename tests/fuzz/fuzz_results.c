/*
 * fuzz_results.c - hostile results files, as `judge compare` and `judge board --from` get them.
 * Property: what is accepted prints as JSON that reads back to the same text, and every report can
 * be made of it; a refusal says something.
 */
#include "board.h"
#include "report_html.h"
#include "report_json.h"
#include "report_md.h"
#include "report_text.h"
#include "store.h"

#include <assert.h>
#include <stdint.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_reports(const struct results *r, struct arena *a)
{
    const struct term term = {0};
    struct textbuf b = TEXTBUF_EMPTY;
    const char *const *names;
    struct diag d;
    unsigned count;

    assert(board_problems(&names, &count, a, r, &d) == STATUS_OK);
    for (unsigned i = 0; i < count; i++) {
        report_text_board(&b, &term, r, names[i], NULL);
        report_md_board(&b, r, names[i]);
    }
    for (unsigned i = 0; i < r->solution_count; i++)
        report_text_solution(&b, &term, &r->solutions[i], 12, true);
    report_html(&b, r, NULL, 0);
    assert(!b.failed);
    textbuf_fini(&b);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct textbuf once = TEXTBUF_EMPTY, twice = TEXTBUF_EMPTY;
    struct arena a = {0};
    struct results r, again;
    struct diag d;

    if (store_parse(&r, &a, (const char *)data, size, "fuzz.json", &d) == STATUS_OK) {
        report_json(&once, &r);
        assert(store_parse(&again, &a, once.text, once.len, "again.json", &d) == STATUS_OK);
        report_json(&twice, &again);
        assert(once.len == twice.len && memcmp(once.text, twice.text, once.len) == 0);
        check_reports(&r, &a);
    } else {
        assert(d.status == STATUS_BAD_DATA && d.text[0] != '\0');
    }
    textbuf_fini(&once);
    textbuf_fini(&twice);
    arena_fini(&a);
    return 0;
}

/*
 * fuzz_findings.c - hostile lines in place of the virtual GPU's findings.
 * Property: parsing ends, stays inside its bounds, every text is short and printable, and a reply
 * that comes with the lines is never better than without them.
 */
#include "findings.h"
#include "reply.h"

#include <assert.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_text(const char *text)
{
    assert(text != NULL && strlen(text) < 4096);
    for (; *text != '\0'; text++)
        assert((unsigned char)*text >= 0x20 && *text != 0x7f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const struct problem problem = {.name = "p"};
    static struct findings findings; /* large, and cleared by each parse */
    const struct reply_context context = {.problem = &problem};
    struct call_reply *reply = calloc(1, sizeof *reply);
    struct arena a = {0};
    struct reply_verdict v;

    assert(reply != NULL);
    reply->end = CALL_TIMEOUT;
    reply->findings.text = (const char *)data;
    reply->findings.len = size;
    v = reply_read(&a, &context, reply, &findings);
    assert(v.verdict >= VERDICT_TLE && v.reason[0] != '\0');
    assert(findings.count <= FINDINGS_MAX && findings.counter_count <= FINDINGS_MAX_COUNTERS);
    for (unsigned i = 0; i < findings.count; i++) {
        check_text(findings.items[i].text);
        check_text(findings.items[i].place);
        check_text(findings.items[i].other);
    }
    for (unsigned i = 0; i < findings.counter_count; i++)
        check_text(findings.counters[i].name);
    free(reply);
    arena_fini(&a);
    return 0;
}

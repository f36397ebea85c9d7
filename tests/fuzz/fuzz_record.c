/*
 * fuzz_record.c - hostile records and commands. The first byte chooses: 0 a record as it comes, 1 a
 * record with a fitting seal, 2 a command as it comes, 3 a command with a fitting CRC. Property:
 * what is accepted holds no range outside the shared memory or the file, no endless text and no
 * impossible time.
 */
#include "record.h"

#include <assert.h>
#include <math.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_record(const uint8_t *data, size_t size, bool seal)
{
    struct record r;
    const char *wrong;

    memset(&r, 0, sizeof r);
    memcpy(&r, data, size < sizeof r ? size : sizeof r);
    if (seal) {
        record_seal(&r, 1, 2, NULL, 0);
        size = sizeof r;
    }
    wrong = record_check(&r, size, 1, 2, NULL, 0);
    if (wrong != NULL)
        return;
    assert(size == sizeof r && r.status <= RECORD_RETURNED && r.error_class <= ERROR_BUDGET);
    assert(isfinite(r.event_us) && r.event_us >= 0 && isfinite(r.spill_us) && r.spill_us >= 0);
    assert(memchr(r.text, '\0', sizeof r.text) != NULL);
    assert(memchr(r.error_name, '\0', sizeof r.error_name) != NULL);
    assert(memchr(r.new_library, '\0', sizeof r.new_library) != NULL);
}

static bool inside(uint64_t begin, uint64_t size, uint64_t limit)
{
    return begin + size >= begin && begin + size <= limit;
}

static void check_command(const uint8_t *data, size_t size, bool seal)
{
    static struct command c; /* large: not on the fuzzer's stack */

    memset(&c, 0, sizeof c);
    memcpy(&c, data, size < sizeof c ? size : sizeof c);
    if (seal) {
        command_seal(&c, 1, 2);
        size = sizeof c;
    }
    if (command_check(&c, size) != NULL)
        return;
    assert(size == sizeof c && c.param_count <= RECORD_MAX_PARAMS && c.address_set <= 1);
    assert(memchr(c.path, '\0', sizeof c.path) != NULL);
    if (c.op != COMMAND_CALL && c.op != COMMAND_TIME)
        return;
    for (uint32_t i = 0; i < c.param_count; i++) {
        const struct command_param *p = &c.params[i];
        const uint64_t bytes = p->count * record_type_size(p->type);
        const uint64_t sets =
            (c.flags & COMMAND_FLAG_HOT) != 0 && c.op == COMMAND_TIME ? c.copies : 1;
        assert(record_type_size(p->type) != 0);
        if (p->scalar)
            continue;
        if (p->dir != RECORD_OUT)
            assert(inside(p->file_begin, bytes, c.file_size));
        if (p->dir != RECORD_IN) {
            assert(p->slot >= RECORD_OUTPUTS_BEGIN && inside(p->slot, bytes * sets, c.shared_size));
            assert(c.op != COMMAND_CALL || inside(p->slot_early, bytes, c.shared_size));
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct record_facts facts;
    struct device_facts read;

    if (size == 0)
        return 0;
    memset(&facts, 0, sizeof facts);
    memcpy(&facts, data, size < sizeof facts ? size : sizeof facts);
    record_facts_read(&read, &facts);
    assert(memchr(read.name, '\0', sizeof read.name) != NULL && isfinite(read.clock_mhz));
    switch (data[0] & 3) {
    case 0:
    case 1:
        check_record(data + 1, size - 1, (data[0] & 1) != 0);
        break;
    default:
        check_command(data + 1, size - 1, (data[0] & 1) != 0);
        break;
    }
    return 0;
}

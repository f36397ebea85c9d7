/*
 * test_counters.c - sectors and bank waves against their definitions, word by word, and the counts
 * of whole launches on the kernel of tests/ptx/counters, whose every access has a count that can be
 * told on paper.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "counters.h"
#include "vgpu_rig.h"

enum { LANES = 32 };

/* ---- the definitions of virtual-gpu.md section 11, as sets ---- */
static unsigned sectors_by_definition(const uint64_t addr[LANES], uint32_t lanes, unsigned width)
{
    uint64_t seen[LANES * 64];
    unsigned count = 0;

    for (unsigned lane = 0; lane < LANES; lane++) {
        for (unsigned k = 0; (lanes >> lane & 1) && k < width; k++) {
            const uint64_t sector = (addr[lane] + k) / 32;
            bool known = false;
            for (unsigned i = 0; i < count; i++)
                known = known || seen[i] == sector;
            if (!known)
                seen[count++] = sector;
        }
    }
    return count;
}

static unsigned waves_by_definition(const uint32_t addr[LANES], uint32_t lanes, unsigned width,
                                    unsigned *phases)
{
    const unsigned per_phase = width <= 4 ? 32 : width == 8 ? 16 : 8;
    unsigned waves = 0;

    *phases = 0;
    for (unsigned first = 0; first < LANES; first += per_phase) {
        unsigned most = 0;
        bool any = false;
        for (unsigned bank = 0; bank < 32; bank++) {
            uint32_t words[LANES * 4];
            unsigned count = 0;
            for (unsigned lane = first; lane < first + per_phase; lane++) {
                if (!(lanes >> lane & 1))
                    continue;
                any = true;
                for (unsigned k = 0; k < width; k++) {
                    const uint32_t word = (addr[lane] + k) / 4;
                    bool known = word % 32 != bank;
                    for (unsigned i = 0; i < count; i++)
                        known = known || words[i] == word;
                    if (!known)
                        words[count++] = word;
                }
            }
            if (count > most)
                most = count;
        }
        waves += most;
        *phases += any;
    }
    return waves;
}

static uint32_t next(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

static void test_against_the_definitions(void **state)
{
    uint64_t seed = 5;
    unsigned conflicts = 0;

    (void)state;
    for (unsigned round = 0; round < 20000; round++) {
        const unsigned width = 1u << next(&seed) % 5, stride = next(&seed) % 40,
                       shape = next(&seed) % 4, span = 64u << next(&seed) % 8;
        const uint32_t lanes =
            next(&seed) % 4 == 0 ? 0xffffffffu : (next(&seed) ^ next(&seed) << 16) | 1;
        uint64_t wide[LANES];
        uint32_t narrow[LANES];
        for (unsigned lane = 0; lane < LANES; lane++) {
            const uint32_t at = shape == 0   ? lane
                                : shape == 1 ? lane * stride
                                : shape == 2 ? (31 - lane) * stride
                                             : next(&seed) % span;
            narrow[lane] = at * width;
            wide[lane] = 0x700000000000ull + at * width;
        }
        unsigned phases, wanted_phases;
        assert_int_equal(counters_sectors(wide, lanes, width),
                         sectors_by_definition(wide, lanes, width));
        const unsigned waves = counters_waves(narrow, lanes, width, &phases),
                       wanted = waves_by_definition(narrow, lanes, width, &wanted_phases);
        assert_int_equal(waves, wanted);
        assert_int_equal(phases, wanted_phases);
        conflicts += waves > phases;
    }
    assert_true(conflicts > 1000);
}

static void test_known_patterns(void **state)
{
    uint64_t run[LANES], shifted[LANES], strided[LANES];
    uint32_t column[LANES], padded[LANES], same[LANES];
    unsigned phases;

    (void)state;
    for (unsigned lane = 0; lane < LANES; lane++) {
        run[lane] = 4096 + 4 * lane;
        shifted[lane] = 4096 + 16 + 4 * lane;
        strided[lane] = 4096 + 32 * lane;
        column[lane] = 128 * lane;
        padded[lane] = 132 * lane;
        same[lane] = 64;
    }
    assert_int_equal(counters_sectors(run, 0xffffffffu, 4), 4);
    assert_int_equal(counters_sectors(shifted, 0xffffffffu, 4), 5);
    assert_int_equal(counters_sectors(strided, 0xffffffffu, 4), 32);
    assert_int_equal(counters_sectors(strided, 0, 4), 0);
    assert_int_equal(counters_waves(column, 0xffffffffu, 4, &phases), 32);
    assert_int_equal(counters_waves(padded, 0xffffffffu, 4, &phases), 1);
    assert_int_equal(counters_waves(same, 0xffffffffu, 4, &phases), 1);
    assert_int_equal(counters_waves(same, 0, 4, &phases), 0);
    assert_int_equal(phases, 0);
}

/* ---- whole launches ---- */
static void count(struct rig_result *r, const char *kernel)
{
    size_t len;
    char *ptx = rig_read(TEST_ROOT "/tests/ptx/counters/accesses.ptx", &len);
    const struct rig_options o = {.checks = "mirs", .block = 32};

    rig_run(r, ptx, len, kernel, &o);
    free(ptx);
    if (r->error != 0)
        fail_msg("%s: error %d: %s", kernel, r->error, r->findings);
}

#define WANT(name, value)                                                                          \
    do {                                                                                           \
        if (r->counts.name != (value))                                                             \
            fail_msg(#name " is %llu, expected %llu", (unsigned long long)r->counts.name,          \
                     (unsigned long long)(value));                                                 \
    } while (0)

static void test_global(void **state)
{
    struct rig_result *r = calloc(1, sizeof *r);

    (void)state;
    assert_non_null(r);
    count(r, "copy"); /* 32 lanes: in[i] to out[i] */
    WANT(global_ld_req, 1);
    WANT(global_ld_sector, 4);
    WANT(global_ld_byte, 128);
    WANT(global_st_req, 1);
    WANT(global_st_sector, 4);
    WANT(global_st_byte, 128);
    WANT(global_touched, 256);
    WANT(barrier_arrive, 0);
    count(r, "shifted"); /* in[i + 4] to out[2 * i], generic addresses */
    WANT(global_ld_req, 1);
    WANT(global_ld_sector, 5);
    WANT(global_st_req, 1);
    WANT(global_st_sector, 8);
    WANT(global_touched, 13 * 32);
    count(r, "vectors"); /* 16 lanes: four floats each, by lanes whose guard is true */
    WANT(global_ld_req, 1);
    WANT(global_ld_sector, 8);
    WANT(global_ld_byte, 256);
    WANT(global_st_byte, 256);
    count(r, "guarded_off"); /* the guard is false everywhere: an instruction, but no request */
    WANT(global_ld_req, 0);
    WANT(global_st_req, 0);
    WANT(global_touched, 0);
    WANT(inst_memory, 4);
    free(r);
}

static void test_shared(void **state)
{
    struct rig_result *r = calloc(1, sizeof *r);

    (void)state;
    assert_non_null(r);
    count(r, "shared"); /* store s[lane], store s[2 * lane], load s[0], load two halves in one bank,
                           load 16 bytes per lane */
    WANT(shared_st_req, 2);
    WANT(shared_st_wave, 1 + 2);
    WANT(shared_ld_req, 3);
    WANT(shared_ld_wave, 1 + 2 + 4);
    WANT(shared_conflict, 1 + 1);
    WANT(barrier_arrive, 1);
    WANT(barrier_done, 1);
    free(r);
}

static void test_atomics(void **state)
{
    struct rig_result *r = calloc(1, sizeof *r);

    (void)state;
    assert_non_null(r);
    count(r, "atomics"); /* every lane on out[lane & 3] after a store to it; every lane on one
                            shared word */
    WANT(atom_global_req, 1);
    WANT(atom_shared_req, 1);
    WANT(atom_lane, 64);
    WANT(atom_same, 7 + 31);
    WANT(global_ld_req, 0);
    free(r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_definitions),
        cmocka_unit_test(test_known_patterns),
        cmocka_unit_test(test_global),
        cmocka_unit_test(test_shared),
        cmocka_unit_test(test_atomics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

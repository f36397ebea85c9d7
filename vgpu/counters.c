/*
 * counters.c - exact sector and bank counts of one warp-wide access.
 * Knows nothing of who asks. Invariant: lanes outside the mask never influence a count.
 */
#include "counters.h"

enum { LANES = 32, SECTOR = 32, BANKS = 32, WORD = 4 };

unsigned counters_sectors(const uint64_t addr[LANES], uint32_t lanes, unsigned width)
{
    uint64_t seen[2 * LANES]; /* a lane's access of up to 16 bytes touches at most two sectors */
    unsigned count = 0;
    uint64_t last = UINT64_MAX, highest = 0;

    for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
        const unsigned lane = (unsigned)__builtin_ctz(rest);
        const uint64_t first = addr[lane] / SECTOR, end = (addr[lane] + width - 1) / SECTOR;
        for (uint64_t sector = first; sector <= end; sector++) {
            if (sector == last) /* neighbours mostly share the sector just seen, */
                continue;
            last = sector;
            if (count == 0 || sector > highest) { /* or go upwards */
                highest = sector;
                seen[count++] = sector;
                continue;
            }
            unsigned i = 0;
            while (i < count && seen[i] != sector)
                i++;
            if (i == count)
                seen[count++] = sector;
        }
    }
    return count;
}

unsigned counters_waves(const uint32_t addr[LANES], uint32_t lanes, unsigned width,
                        unsigned *phases)
{
    /* 4 bytes and less: one phase; 8: half warps; 16: quarter warps (virtual-gpu.md section 11). */
    const unsigned per_phase = width <= 4 ? 32 : width <= 8 ? 16 : 8;
    const unsigned words = width <= 4 ? 1 : width / 4;
    unsigned waves = 0, used = 0;

    for (unsigned first = 0; first < LANES; first += per_phase) {
        const uint32_t in_phase =
            lanes & (per_phase == 32 ? 0xffffffffu : ((1u << per_phase) - 1) << first);
        if (in_phase == 0)
            continue;
        /* Distinct words by bank: at most 32 lanes x 1 word, 16 x 2 or 8 x 4 = 32 words. */
        uint32_t bank_words[BANKS][LANES];
        unsigned char bank_count[BANKS] = {0};
        unsigned most = 0;
        for (uint32_t rest = in_phase; rest != 0; rest &= rest - 1) {
            const unsigned lane = (unsigned)__builtin_ctz(rest);
            for (unsigned i = 0; i < words; i++) {
                const uint32_t word = addr[lane] / WORD + i, bank = word % BANKS;
                unsigned at = 0;
                while (at < bank_count[bank] && bank_words[bank][at] != word)
                    at++;
                if (at == bank_count[bank]) {
                    bank_words[bank][at] = word;
                    bank_count[bank]++;
                    if (bank_count[bank] > most)
                        most = bank_count[bank];
                }
            }
        }
        waves += most;
        used++;
    }
    *phases = used;
    return waves;
}

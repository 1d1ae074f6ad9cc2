/* bench/decode_lines.h: the lines that the decoder benches read, the same for all of them. */
#ifndef FM_BENCH_DECODE_LINES_H
#define FM_BENCH_DECODE_LINES_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static inline uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* `other` percent of the lines have their fields in another order. On the heap, followed by 128 zeros. */
static inline char *make_lines(int64_t rows, int other, size_t *len)
{
    char *text = (char *)malloc((size_t)rows * 96 + 128);
    uint64_t state = 42;
    size_t at = 0;

    if (!text) return NULL;
    for (int64_t i = 0; i < rows; i++) {
        char user[32], amount[32], when[40];
        uint64_t r = next_random(&state);
        int64_t ms = i * 7200000 / rows + (int64_t)(r % 2000);
        if ((r >> 20) % 100 < 5) ms -= (int64_t)((r >> 32) % 600000);
        if (ms < 0) ms = 0;
        snprintf(user, sizeof user, "u%06d", (int)(next_random(&state) % 10000));
        uint64_t cents = next_random(&state) % 100000;
        if (cents % 10 == 0) snprintf(amount, sizeof amount, "%d.%d", (int)(cents / 100), (int)(cents / 10 % 10));
        else snprintf(amount, sizeof amount, "%d.%02d", (int)(cents / 100), (int)(cents % 100));
        snprintf(when, sizeof when, "2026-01-01T%02d:%02d:%02d.%03dZ", (int)(10 + ms / 3600000), (int)(ms / 60000 % 60),
                 (int)(ms / 1000 % 60), (int)(ms % 1000));
        if ((int)((r >> 8) % 100) < other)
            at += (size_t)snprintf(text + at, 160, "{\"event_time\":\"%s\",\"user_id\":\"%s\",\"amount\":%s}\n", when, user, amount);
        else
            at += (size_t)snprintf(text + at, 160, "{\"user_id\":\"%s\",\"amount\":%s,\"event_time\":\"%s\"}\n", user, amount, when);
    }
    memset(text + at, 0, 128);
    *len = at;
    return text;
}

#endif

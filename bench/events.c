/* bench/events.c: makes the events that the benches read, from a seed: the same bytes each time.
 *
 *     events FOLDER ROWS FILES zipf|uniform USERS
 *
 * Lines {"user_id":"u000123","amount":12.3,"event_time":"2026-01-01T10:00:00.123Z"} over two hours of event time: 95 of
 * 100 are at most two seconds late, the others up to ten minutes. Users are drawn by Zipf's law (s = 1) or all alike. The
 * lines are cut into FILES files of the same number of rows, part-000.json and on. */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SPAN_MS = 7200 * 1000, LATE_MS = 600 * 1000, JITTER_MS = 2000, LATE_PERCENT = 5, LINE_MAX_SIZE = 160, BUFFER_SIZE = 1 << 20 };

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

/* Users by Zipf's law: sums[i] is the chance of one of the first i + 1, times 2^32. ids: which user has which rank. */
typedef struct users {
    uint32_t n;
    bool uniform;
    uint32_t *sums, *ids;
} users;

static bool users_init(users *u, uint32_t n, bool uniform)
{
    uint64_t state = 7;
    double all = 0, sum = 0;

    *u = (users){.n = n, .uniform = uniform};
    if (uniform) return true;
    u->sums = malloc(n * sizeof *u->sums);
    u->ids = malloc(n * sizeof *u->ids);
    if (!u->sums || !u->ids) return false;
    for (uint32_t i = 0; i < n; i++) all += 1.0 / (i + 1);
    for (uint32_t i = 0; i < n; i++) {
        sum += 1.0 / (i + 1);
        u->sums[i] = i + 1 == n ? UINT32_MAX : (uint32_t)(sum / all * 4294967295.0);
        u->ids[i] = i;
    }
    for (uint32_t i = n; i > 1; i--) {
        uint32_t k = (uint32_t)(next_random(&state) % i), id = u->ids[k];
        u->ids[k] = u->ids[i - 1];
        u->ids[i - 1] = id;
    }
    return true;
}

static uint32_t draw_user(const users *u, uint64_t r)
{
    uint32_t low = 0, high = u->n - 1, x = (uint32_t)r;

    if (u->uniform) return (uint32_t)(((r & UINT32_MAX) * u->n) >> 32);
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (u->sums[middle] < x) low = middle + 1;
        else high = middle;
    }
    return u->ids[low];
}

static char *digits(char *w, uint32_t x, int n)
{
    for (int i = n; i-- > 0; x /= 10) w[i] = (char)('0' + x % 10);
    return w + n;
}

static int count_digits(uint32_t x)
{
    int n = 1;

    for (; x >= 10; x /= 10) n++;
    return n;
}

static char *literal(char *w, const char *text)
{
    size_t n = strlen(text);

    memcpy(w, text, n);
    return w + n;
}

static char *put_amount(char *w, uint32_t cents)
{
    w = digits(w, cents / 100, count_digits(cents / 100));
    *w++ = '.';
    return cents % 10 ? digits(w, cents % 100, 2) : digits(w, cents / 10 % 10, 1);
}

static char *put_line(char *w, uint32_t user, uint32_t cents, int64_t ms)
{
    int user_digits = count_digits(user);

    w = literal(w, "{\"user_id\":\"u");
    w = digits(w, user, user_digits < 6 ? 6 : user_digits);
    w = literal(w, "\",\"amount\":");
    w = put_amount(w, cents);
    w = literal(w, ",\"event_time\":\"2026-01-01T");
    w = digits(w, (uint32_t)(10 + ms / 3600000), 2);
    *w++ = ':';
    w = digits(w, (uint32_t)(ms / 60000 % 60), 2);
    *w++ = ':';
    w = digits(w, (uint32_t)(ms / 1000 % 60), 2);
    *w++ = '.';
    w = digits(w, (uint32_t)(ms % 1000), 3);
    return literal(w, "Z\"}\n");
}

static char *make_line(char *w, const users *u, uint64_t *state, int64_t i, int64_t rows)
{
    uint64_t r = next_random(state);
    int64_t now_ms = (int64_t)((double)i * SPAN_MS / (double)rows), behind_ms = (int64_t)(r % JITTER_MS);

    if ((r >> 20) % 100 < LATE_PERCENT) behind_ms = (int64_t)((r >> 32) % LATE_MS);
    int64_t ms = now_ms > behind_ms ? now_ms - behind_ms : 0;
    uint32_t user = draw_user(u, next_random(state));
    return put_line(w, user, (uint32_t)(next_random(state) % 100000), ms);
}

static bool make_file(const char *folder, int number, const users *u, uint64_t *state, int64_t from, int64_t to, int64_t rows)
{
    static char buffer[BUFFER_SIZE];
    char path[4096], *w = buffer;

    snprintf(path, sizeof path, "%s/part-%03d.json", folder, number);
    FILE *file = fopen(path, "wb");
    if (!file) return false;
    bool ok = true;
    for (int64_t i = from; ok && i < to; i++) {
        w = make_line(w, u, state, i, rows);
        if (buffer + sizeof buffer - w >= LINE_MAX_SIZE && i + 1 < to) continue;
        ok = fwrite(buffer, 1, (size_t)(w - buffer), file) == (size_t)(w - buffer);
        w = buffer;
    }
    return (fclose(file) == 0) && ok;
}

int main(int argc, char **argv)
{
    uint64_t state = 42;
    users u;

    if (argc != 6) {
        fprintf(stderr, "usage: events FOLDER ROWS FILES zipf|uniform USERS\n");
        return 2;
    }
    int64_t rows = strtoll(argv[2], NULL, 10), files = strtoll(argv[3], NULL, 10), n_users = strtoll(argv[5], NULL, 10);
    if (rows < 1 || files < 1 || files > 999 || n_users < 1 || n_users > INT32_MAX) return 2;
    if (!users_init(&u, (uint32_t)n_users, strcmp(argv[4], "uniform") == 0)) return 1;
    for (int64_t f = 0; f < files; f++) {
        if (make_file(argv[1], (int)f, &u, &state, rows * f / files, rows * (f + 1) / files, rows)) continue;
        perror(argv[1]);
        return 1;
    }
    free(u.sums);
    free(u.ids);
    return 0;
}

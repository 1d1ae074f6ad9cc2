/* engine/windows_test.c: windows as the engine keeps them (tables per window; slices of sliding ones) against windows as the
 * rule says them: each row goes to each of its windows, one by one.
 *
 * From seeds: the duration, the slide and the start of the windows, the delay, allowed lateness, the output mode, keys short
 * and long, aggregates that are plain bytes and such that own memory, disorder, how rows are cut into micro-batches, and after
 * which of these the job stops and goes on with another number of workers. Some seeds have many windows over each row, so that
 * keys have long chains of slices and results go out in several batches. Compared are the rows of each micro-batch and the
 * numbers of its progress. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "engine/job_fixture.h"

enum {
    SEEDS = 60,
    LONG_SEEDS = 12,
    GROUPS_MAX = 150000,
    PLACES = 1 << 15, /* of the model's hash table */
    TEXT_SIZE = 1 << 17,
    STEP_MS = 250 /* of all times, so that they often stand on an edge */
};
#define BASE_MS INT64_C(1767225600000) /* 2026-01-01 */

typedef enum mode { APPEND, UPDATE, COMPLETE, MODES } mode;
static const char *const mode_names[] = {"append", "update", "complete"};

typedef struct setting {
    mode mode;
    int64_t duration_ms, slide_ms, start_ms, delay_ms, allowed_ms;
    int n_keys, disorder_ms, runs, files_max, rows_max;
    bool long_keys, plain; /* plain: states of aggregates are bytes alone */
} setting;

/* One window of one key, by the rule. */
typedef struct group {
    int64_t start_ms, key, sum, count, min, max;
    char text_max[24];
    bool live, touched;
    int next; /* of its place, or of the free ones; -1: none */
} group;

typedef struct model {
    setting s;
    group groups[GROUPS_MAX];
    int n_groups, free_group;
    int places[PLACES];              /* first group of each; -1: none */
    int64_t late_pairs[GROUPS_MAX][2];
    int n_late;
    int64_t watermark_ms, before_ms; /* of the next micro-batch, and of the one before */
    int64_t max_ms;                  /* event time of this micro-batch; -1: no rows */
    int64_t batch_id;
    job_row rows[GROUPS_MAX];        /* expected of this run */
    size_t n_rows;
    job_state states[JOB_BATCHES_MAX];
    int n_states;
} model;

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static int64_t between(uint64_t *state, int64_t low, int64_t high) { return low + (int64_t)(next_random(state) % (uint64_t)(high - low + 1)); }

static setting draw_long_setting(uint64_t *r)
{
    setting s = {.mode = (mode)(next_random(r) % MODES), .n_keys = (int)between(r, 1, 12), .long_keys = next_random(r) % 3 == 0};

    s.slide_ms = between(r, 1, 3) * 500;
    s.duration_ms = s.slide_ms * between(r, 20, 60) + (next_random(r) % 2 ? 250 : 0);
    s.start_ms = between(r, 0, (s.slide_ms - 1) / 250) * 250;
    s.delay_ms = between(r, 0, 40) * 500;
    s.allowed_ms = next_random(r) % 3 ? 0 : between(r, 1, 10) * 1000;
    s.disorder_ms = (int)between(r, 0, 60) * 1000;
    s.runs = (int)between(r, 1, 3);
    s.files_max = 2;
    s.rows_max = 400;
    s.plain = next_random(r) % 2;
    return s;
}

static setting draw_setting(uint64_t *r)
{
    setting s = {.mode = (mode)(next_random(r) % MODES), .n_keys = (int)between(r, 1, 6), .long_keys = next_random(r) % 3 == 0};

    s.slide_ms = between(r, 1, 12) * 500;
    s.duration_ms = next_random(r) % 4 ? s.slide_ms * between(r, 1, 7) : s.slide_ms + between(r, 0, 40) * 250;
    s.start_ms = next_random(r) % 2 ? 0 : between(r, 0, (s.slide_ms - 1) / 250) * 250;
    s.delay_ms = between(r, 0, 20) * 500;
    s.allowed_ms = next_random(r) % 3 ? 0 : between(r, 1, 10) * 1000;
    s.disorder_ms = (int)between(r, 0, 30) * 1000;
    s.runs = (int)between(r, 1, 4);
    s.files_max = (int)between(r, 1, 4);
    s.rows_max = (int)between(r, 1, 40);
    s.plain = next_random(r) % 2;
    return s;
}

/* ---- The rule --------------------------------------------------------------------------------------------------- */

static int64_t floor_to(int64_t x, int64_t zero, int64_t width)
{
    int64_t rest = (x - zero) % width;

    return x - (rest < 0 ? rest + width : rest);
}

static int *place_of(model *m, int64_t start_ms, int64_t key) { return &m->places[((uint64_t)start_ms / STEP_MS * 31 + (uint64_t)key) % PLACES]; }

static group *group_of(model *m, int64_t start_ms, int64_t key)
{
    int *place = place_of(m, start_ms, key), i = *place;

    for (; i >= 0; i = m->groups[i].next) {
        if (m->groups[i].start_ms == start_ms && m->groups[i].key == key) return &m->groups[i];
    }
    i = m->free_group;
    if (i >= 0) m->free_group = m->groups[i].next;
    else i = m->n_groups++;
    assert_true(i < GROUPS_MAX);
    m->groups[i] = (group){.start_ms = start_ms, .key = key, .min = INT64_MAX, .max = INT64_MIN, .live = true, .next = *place};
    *place = i;
    return &m->groups[i];
}

static void forget_group(model *m, group *g)
{
    int *at = place_of(m, g->start_ms, g->key), i = (int)(g - m->groups);

    while (*at != i) at = &m->groups[*at].next;
    *at = g->next;
    g->live = false;
    g->next = m->free_group;
    m->free_group = i;
}

static void note_late(model *m, int64_t start_ms, int64_t key)
{
    for (int i = 0; i < m->n_late; i++) {
        if (m->late_pairs[i][0] == start_ms && m->late_pairs[i][1] == key) return;
    }
    m->late_pairs[m->n_late][0] = start_ms;
    m->late_pairs[m->n_late++][1] = key;
}

static void add_row(model *m, int64_t at_ms, int64_t key, int64_t value)
{
    const setting *s = &m->s;
    char text[24];

    snprintf(text, sizeof text, "%" PRId64, value);
    if (at_ms > m->max_ms) m->max_ms = at_ms;
    for (int64_t start = floor_to(at_ms, s->start_ms, s->slide_ms); start > at_ms - s->duration_ms; start -= s->slide_ms) {
        if (s->mode != COMPLETE && start + s->duration_ms + s->allowed_ms <= m->before_ms) {
            note_late(m, start, key);
            continue;
        }
        group *g = group_of(m, start, key);
        g->sum += value;
        g->count++;
        if (value < g->min) g->min = value;
        if (value > g->max) g->max = value;
        if (strcmp(text, g->text_max) > 0) memcpy(g->text_max, text, sizeof text);
        g->touched = true;
    }
}

static void emit(model *m, const group *g)
{
    assert_true(m->n_rows < GROUPS_MAX);
    int64_t high = m->s.plain ? g->max : strtoll(g->text_max, NULL, 10);
    m->rows[m->n_rows++] = (job_row){m->batch_id, {g->start_ms * 1000, g->key, g->sum, g->count, g->min, high, g->sum}};
}

/* The input of a micro-batch is over. */
static void end_batch(model *m)
{
    const setting *s = &m->s;
    job_state state = {.batch_id = m->batch_id, .dropped = m->n_late};

    for (int i = 0; i < m->n_groups; i++) {
        group *g = &m->groups[i];
        if (!g->live) continue;
        bool closes = s->mode != COMPLETE && g->start_ms + s->duration_ms + s->allowed_ms <= m->watermark_ms;
        if (s->mode == COMPLETE || (s->mode == UPDATE ? g->touched : closes)) emit(m, g);
        state.updated += g->touched;
        state.removed += closes;
        state.total += !closes;
        g->touched = false;
        if (closes) forget_group(m, g);
    }
    m->states[m->n_states++] = state;
    m->before_ms = m->watermark_ms;
    if (m->max_ms - s->delay_ms > m->watermark_ms) m->watermark_ms = m->max_ms - s->delay_ms;
    m->n_late = 0;
    m->max_ms = -1;
    m->batch_id++;
}

/* ---- The same rows for both ---------------------------------------------------------------------------------------- */

static size_t put_row(const setting *s, char *to, int64_t at_ms, int64_t key, int64_t value)
{
    time_t seconds = (time_t)(at_ms / 1000);
    struct tm t;

    gmtime_r(&seconds, &t);
    return (size_t)snprintf(to, 200, "{\"t\":\"%04d-%02d-%02dT%02d:%02d:%02d.%03dZ\",\"k\":\"%0*" PRId64 "\",\"v\":%" PRId64 "}\n", t.tm_year + 1900, t.tm_mon + 1,
                            t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec, (int)(at_ms % 1000), s->long_keys ? 24 : 1, key, value);
}

static void make_batch(model *m, job_fixture *f, uint64_t *r, int64_t *now_ms)
{
    static char text[TEXT_SIZE];
    int64_t rows = between(r, 1, m->s.rows_max);
    size_t size = 0;

    for (int64_t i = 0; i < rows; i++) {
        *now_ms += between(r, 0, 6) * STEP_MS;
        int64_t at_ms = *now_ms - (next_random(r) % 3 ? 0 : between(r, 0, m->s.disorder_ms / STEP_MS) * STEP_MS);
        int64_t key = between(r, 1, m->s.n_keys), value = between(r, -99, 999);
        size += put_row(&m->s, text + size, at_ms, key, value);
        add_row(m, at_ms, key, value);
    }
    job_fixture_write(f, text, size);
    end_batch(m);
}

static void make_job(const setting *s, char *out, size_t size)
{
    static const char plain[] = "max(v) AS high, CAST(sum(CAST(v AS DOUBLE)) AS BIGINT) AS again";
    static const char owning[] = "CAST(max(CAST(v AS STRING)) AS BIGINT) AS high, aggregate(collect_list(v), 0L, (a, x) -> a + x) AS again";
    char hint[80] = "";

    if (s->allowed_ms) snprintf(hint, sizeof hint, "/*+ ALLOWED_LATENESS('%" PRId64 " milliseconds') */", s->allowed_ms);
    snprintf(out, size,
             "CREATE TABLE events (t TIMESTAMP, k STRING, v BIGINT) USING json OPTIONS (path '%%s/in', maxFilesPerTrigger '1');\n"
             "CREATE STREAMING TABLE totals USING capture OPTIONS (checkpointLocation '%%s/ck', outputMode '%s') AS\n"
             "SELECT %s unix_micros(window.start) AS s, CAST(k AS BIGINT) AS key, sum(v) AS total, count(*) AS n, min(v) AS low, %s\n"
             "FROM STREAM events WATERMARK t DELAY OF INTERVAL '%" PRId64 "' MILLISECONDS\n"
             "GROUP BY window(t, '%" PRId64 " milliseconds', '%" PRId64 " milliseconds', '%" PRId64 " milliseconds'), k;\n",
             mode_names[s->mode], hint, s->plain ? plain : owning, s->delay_ms, s->duration_ms, s->slide_ms, s->start_ms);
}

static void compare(const model *m, job_fixture *f, uint64_t seed, int run, int workers)
{
    job_rows_sort(f->rows, f->n_rows);
    if (f->n_rows != m->n_rows) fail_msg("seed %" PRIu64 ", run %d, %d workers: %zu rows, not %zu", seed, run, workers, f->n_rows, m->n_rows);
    for (size_t i = 0; i < m->n_rows; i++) {
        const job_row *a = &f->rows[i], *b = &m->rows[i];
        if (memcmp(a, b, sizeof *a) == 0) continue;
        fail_msg("seed %" PRIu64 ", run %d, %d workers, row %zu: batch %" PRId64 " window %" PRId64 " key %" PRId64 " sum %" PRId64 " count %" PRId64
                 ", not batch %" PRId64 " window %" PRId64 " key %" PRId64 " sum %" PRId64 " count %" PRId64,
                 seed, run, workers, i, a->batch_id, a->columns[0], a->columns[1], a->columns[2], a->columns[3], b->batch_id, b->columns[0], b->columns[1],
                 b->columns[2], b->columns[3]);
    }
    if (f->n_states != m->n_states) fail_msg("seed %" PRIu64 ", run %d: %d micro-batches, not %d", seed, run, f->n_states, m->n_states);
    for (int i = 0; i < m->n_states; i++) {
        const job_state *a = &f->states[i], *b = &m->states[i];
        if (memcmp(a, b, sizeof *a) == 0) continue;
        fail_msg("seed %" PRIu64 ", run %d, batch %" PRId64 ": total %" PRId64 " updated %" PRId64 " removed %" PRId64 " dropped %" PRId64 ", not batch %" PRId64 " total %" PRId64
                 " updated %" PRId64 " removed %" PRId64 " dropped %" PRId64,
                 seed, run, a->batch_id, a->total, a->updated, a->removed, a->dropped, b->batch_id, b->total, b->updated, b->removed, b->dropped);
    }
}

static void check_seed(model *m, uint64_t seed, bool is_long)
{
    static const int worker_counts[] = {1, 3, 2, 4};
    uint64_t r = seed;
    int64_t now_ms = BASE_MS + between(&r, 0, 400) * STEP_MS;
    char job[2048];
    job_fixture f;

    memset(m, 0, sizeof *m);
    memset(m->places, 0xFF, sizeof m->places);
    m->s = is_long ? draw_long_setting(&r) : draw_setting(&r);
    m->max_ms = m->free_group = -1;
    make_job(&m->s, job, sizeof job);
    job_fixture_init(&f);
    for (int run = 0; run < m->s.runs; run++) {
        int64_t files = between(&r, 1, m->s.files_max);
        int workers = worker_counts[next_random(&r) % 4];
        m->n_rows = 0;
        m->n_states = 0;
        for (int64_t i = 0; i < files; i++) make_batch(m, &f, &r, &now_ms);
        if (m->watermark_ms > m->before_ms && m->s.mode != COMPLETE) end_batch(m); /* without data */
        job_rows_sort(m->rows, m->n_rows);
        job_fixture_run(&f, job, workers);
        compare(m, &f, seed, run, workers);
    }
    job_fixture_fini(&f);
}

static void check_seeds(uint64_t seeds, bool is_long)
{
    const char *one = getenv("FLOODMARK_SEED");
    model *m = malloc(sizeof *m);

    assert_non_null(m);
    if (one) check_seed(m, strtoull(one, NULL, 10), is_long);
    else for (uint64_t seed = 1; seed <= seeds; seed++) check_seed(m, seed, is_long);
    free(m);
}

static void test_windows_by_the_rule(void **state) { check_seeds(SEEDS, false); }
static void test_many_windows_over_each_row(void **state) { check_seeds(LONG_SEEDS, true); }

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_windows_by_the_rule), cmocka_unit_test(test_many_windows_over_each_row)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

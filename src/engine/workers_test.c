/* engine/workers_test.c: results hang neither on the number of workers nor on who is faster: the same job on one, two and
 * four workers gives the same rows in every micro-batch, to the last bit of its sums of doubles. */
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "engine/job_fixture.h"

enum { FILES = 3, ROWS = 60000, LINE_SIZE = 128 };

static const char *const jobs[] = {
    /* Windows, more keys than fit the cache. */
    "CREATE TABLE events (t TIMESTAMP, k STRING, v DOUBLE) USING json OPTIONS (path '%s/in', maxFilesPerTrigger '1');\n"
    "CREATE STREAMING TABLE totals USING capture OPTIONS (checkpointLocation '%s/ck', outputMode 'append') AS\n"
    "SELECT unix_micros(window.start) AS s, CAST(k AS BIGINT) AS key, sum(v) AS total, avg(v) AS mean, count(*) AS n, first(v) AS one, last(v) AS other\n"
    "FROM STREAM events WATERMARK t DELAY OF INTERVAL 10 SECONDS GROUP BY window(t, '20 seconds'), k;\n",
    /* Sliding ones, of every micro-batch what it touched. */
    "CREATE TABLE events (t TIMESTAMP, k STRING, v DOUBLE) USING json OPTIONS (path '%s/in', maxFilesPerTrigger '1');\n"
    "CREATE STREAMING TABLE totals USING capture OPTIONS (checkpointLocation '%s/ck', outputMode 'update') AS\n"
    "SELECT unix_micros(window.start) AS s, CAST(k AS BIGINT) %% 500 AS key, sum(v) AS total, max(v) AS high, count(*) AS n\n"
    "FROM STREAM events WATERMARK t DELAY OF INTERVAL 10 SECONDS GROUP BY window(t, '20 seconds', '4 seconds'), CAST(k AS BIGINT) %% 500;\n",
    /* Many over each row, put together from slices when they close. */
    "CREATE TABLE events (t TIMESTAMP, k STRING, v DOUBLE) USING json OPTIONS (path '%s/in', maxFilesPerTrigger '1');\n"
    "CREATE STREAMING TABLE totals USING capture OPTIONS (checkpointLocation '%s/ck', outputMode 'append') AS\n"
    "SELECT unix_micros(window.start) AS s, CAST(k AS BIGINT) %% 300 AS key, sum(v) AS total, avg(v) AS mean, stddev(v) AS spread, count(*) AS n\n"
    "FROM STREAM events WATERMARK t DELAY OF INTERVAL 5 SECONDS GROUP BY window(t, '20 seconds', '700 milliseconds'), CAST(k AS BIGINT) %% 300;\n",
};

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

static void write_files(job_fixture *f)
{
    char *text = malloc((size_t)ROWS * LINE_SIZE);
    uint64_t r = 11;

    assert_non_null(text);
    for (int file = 0; file < FILES; file++) {
        size_t size = 0;
        for (int i = 0; i < ROWS; i++) {
            int ms = (file * ROWS + i) / 3 - (int)(next_random(&r) % 8000);
            if (ms < 0) ms = 0;
            size += (size_t)snprintf(text + size, LINE_SIZE, "{\"t\":\"2026-01-01T10:%02d:%02d.%03dZ\",\"k\":\"%" PRIu64 "\",\"v\":%d.%d}\n", ms / 60000, ms / 1000 % 60, ms % 1000,
                                     next_random(&r) % 40000, (int)(next_random(&r) % 1000), (int)(next_random(&r) % 100));
        }
        job_fixture_write(f, text, size);
    }
    free(text);
}

static void test_as_one_worker(void **state)
{
    static const int worker_counts[] = {1, 2, 4};

    (void)state;
    for (size_t j = 0; j < sizeof jobs / sizeof jobs[0]; j++) {
        job_row *first = NULL;
        size_t n_first = 0;
        for (size_t w = 0; w < sizeof worker_counts / sizeof worker_counts[0]; w++) {
            job_fixture f;
            job_fixture_init(&f);
            write_files(&f);
            job_fixture_run(&f, jobs[j], worker_counts[w]);
            assert_true(f.n_rows > 1000);
            job_rows_sort(f.rows, f.n_rows);
            if (!first) {
                first = f.rows;
                n_first = f.n_rows;
                f.rows = NULL;
            } else {
                assert_int_equal(f.n_rows, n_first);
                if (memcmp(f.rows, first, n_first * sizeof *first) != 0) fail_msg("job %zu: %d workers give other rows than one", j, worker_counts[w]);
            }
            job_fixture_fini(&f);
        }
        free(first);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_one_worker)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

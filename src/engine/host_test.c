/* engine/host_test.c: hosts that do not keep what they promise: counts that fall, too few rows, callbacks that are missing; and one that has rows without end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <floodmark.h>

#include "os/fs.h"

typedef struct host {
    floodmark_session *rows_of; /* another session, which makes the rows */
    int64_t has;                /* rows */
    int64_t lacks;              /* rows that are not given, of those asked for */
    int64_t given, asked, taken;
} host;

static int available(void *ctx, int64_t *rows)
{
    *rows = ((host *)ctx)->has;
    return 0;
}

static int read_rows(void *ctx, int64_t from, int64_t to, struct ArrowArray *out)
{
    host *h = ctx;
    struct ArrowArrayStream rows;
    char sql[128];

    snprintf(sql, sizeof sql, "SELECT id AS v FROM range(%lld, %lld, 1, 1)", (long long)from, (long long)(to - h->lacks));
    h->asked++;
    if (floodmark_sql(h->rows_of, sql, &rows, NULL) != 0) return 1;
    int failed = rows.get_next(&rows, out);
    rows.release(&rows);
    h->given += failed ? 0 : to - from;
    return failed;
}

static int take_rows(void *ctx, int64_t batch_id, struct ArrowArray *rows)
{
    (void)batch_id;
    ((host *)ctx)->taken += rows->length;
    rows->release(rows);
    return 0;
}

/* Runs the job to its end; the message of its failure, or an empty text. */
static void run(host *h, const char *dir, floodmark_error *err)
{
    floodmark_session *s = floodmark_session_new(NULL);
    floodmark_source source = {.ctx = h, .available = available, .read = read_rows};
    floodmark_sink sink = {.ctx = h, .write = take_rows};
    floodmark_job_options options = {.trigger = "availableNow"};
    char sql[512];

    *err = (floodmark_error){0};
    assert_int_equal(floodmark_register_source(s, "from_host", &source, NULL), 0);
    assert_int_equal(floodmark_register_sink(s, "to_host", &sink, NULL), 0);
    snprintf(sql, sizeof sql,
             "CREATE TABLE t (v BIGINT) USING from_host; CREATE STREAMING TABLE o USING to_host OPTIONS (checkpointLocation '%s/ck') AS SELECT * FROM STREAM t", dir);
    floodmark_job *job = floodmark_job_open(s, sql, &options, err);
    if (job) floodmark_job_wait(job, -1, err);
    floodmark_job_free(job);
    floodmark_session_free(s);
}

static void test_counts_that_fall(void **state)
{
    char dir[] = "/tmp/host_XXXXXX";
    host h = {.rows_of = floodmark_session_new(NULL), .has = 10};
    floodmark_error err;

    (void)state;
    assert_non_null(mkdtemp(dir));
    run(&h, dir, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(h.taken, 10);
    h.has = 5; /* a host that counts from 0 again: rows 0 to 5 would be passed over, and 5 to 10 come twice later */
    run(&h, dir, &err);
    assert_string_equal(err.condition, "FLOODMARK_HOST_SOURCE");
    assert_non_null(strstr(err.message, "has 5 rows, but 10 were taken already"));
    assert_int_equal(h.taken, 10);
    h.has = 12;
    h.lacks = 1;
    run(&h, dir, &err);
    assert_string_equal(err.condition, "FLOODMARK_HOST_SOURCE");
    h.lacks = 0;
    run(&h, dir, &err);
    assert_string_equal(err.message, "");
    assert_int_equal(h.taken, 12);
    floodmark_session_free(h.rows_of);
    assert_int_equal(fm_fs_remove_all(fm_fs_real(), dir, NULL), FM_OK);
}

/* A micro-batch of more rows than anybody can read is given up when it is asked for. */
static void test_rows_without_end(void **state)
{
    host h = {.rows_of = floodmark_session_new(NULL), .has = INT64_MAX};
    floodmark_session *s = floodmark_session_new(NULL);
    floodmark_source source = {.ctx = &h, .available = available, .read = read_rows};
    floodmark_error err = {0};

    (void)state;
    assert_int_equal(floodmark_register_source(s, "from_host", &source, NULL), 0);
    floodmark_job *job = floodmark_job_open(s, "CREATE TABLE t (v BIGINT) USING from_host; CREATE STREAMING TABLE o USING noop AS SELECT * FROM STREAM t", NULL, &err);
    assert_non_null(job);
    assert_int_equal(floodmark_job_wait(job, 50, &err), 0);
    floodmark_job_stop(job, 1);
    assert_int_equal(floodmark_job_wait(job, 60000, &err), 1);
    floodmark_job_free(job);
    floodmark_session_free(s);
    floodmark_session_free(h.rows_of);
}

static void no_release(struct ArrowArrayStream *rows) { (void)rows; }

static void test_what_is_missing(void **state)
{
    host h = {0};
    floodmark_session *s = floodmark_session_new(NULL);
    floodmark_source source = {.ctx = &h, .available = available};
    floodmark_sink sink = {.ctx = &h};
    struct ArrowArrayStream rows = {.release = no_release};
    floodmark_error err = {0};

    (void)state;
    assert_int_not_equal(floodmark_register_source(s, "a", &source, &err), 0);
    assert_non_null(strstr(err.message, "available and read"));
    assert_int_not_equal(floodmark_register_sink(s, "a", &sink, &err), 0);
    source.read = read_rows;
    sink.write = take_rows;
    assert_int_equal(floodmark_register_source(s, "a", &source, &err), 0);
    assert_int_equal(floodmark_register_sink(s, "a", &sink, &err), 0);
    assert_int_not_equal(floodmark_register_source(s, "A", &source, &err), 0);
    assert_non_null(strstr(err.message, "already"));
    assert_int_not_equal(floodmark_register_sink(s, "A", &sink, &err), 0);
    assert_int_not_equal(floodmark_sql(s, "SELEC 1", &rows, &err), 0);
    assert_null(rows.release);
    floodmark_session_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_counts_that_fall), cmocka_unit_test(test_rows_without_end), cmocka_unit_test(test_what_is_missing)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* engine/conflict_test.c: what others commit to a Delta table while a statement runs: a conflict, and so one more try, only when it
 * touches what the statement has read of the table. The other commits when the statement reads its source, which is the test's. */
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

typedef struct other {
    floodmark_session *session;
    const char *sql; /* what it does the first time */
    int reads;
} other;

/* Rows of a query as text; the caller frees it. */
static char *run(floodmark_session *s, const char *sql)
{
    floodmark_error err = {0};
    char *text = floodmark_sql_text(s, sql, "json", &err);

    if (!text) fail_msg("%s: [%s] %s", sql, err.condition, err.message);
    return text;
}

static int one_row(void *ctx, int64_t *rows)
{
    (void)ctx;
    *rows = 1;
    return 0;
}

static int read_row(void *ctx, int64_t from, int64_t to, struct ArrowArray *out)
{
    other *o = ctx;
    struct ArrowArrayStream rows;

    (void)from;
    (void)to;
    if (o->reads++ == 0) free(run(o->session, o->sql));
    if (floodmark_sql(o->session, "SELECT CAST(1 AS BIGINT) AS v, 'a' AS p", &rows, NULL) != 0) return 1;
    int failed = rows.get_next(&rows, out);
    rows.release(&rows);
    return failed;
}

#define DECLARE "CREATE TABLE IF NOT EXISTS t (v BIGINT, p STRING) USING delta LOCATION '%s/t' PARTITIONED BY (p); "

static floodmark_session *open_session(void)
{
    floodmark_session *s = floodmark_session_new(NULL);

    assert_non_null(s);
    assert_int_equal(floodmark_session_set(s, "floodmark.workers", "1", NULL), 0);
    return s;
}

static void test_conflicts(void **state)
{
#define MERGE "MERGE INTO t USING s ON t.v = s.v AND t.p = 'a' WHEN MATCHED THEN UPDATE SET v = 9 WHEN NOT MATCHED THEN INSERT *"
    static const struct {
        const char *statement, *others;
        int tries;
    } cases[] = {
        {MERGE, "DELETE FROM t WHERE p = 'b'", 1},
        {MERGE, "DELETE FROM t WHERE p = 'a'", 2},
        {MERGE, "UPDATE t SET v = v + 1 WHERE p = 'b'", 1},
        {MERGE, "INSERT INTO t VALUES (1, 'a')", 1}, /* a blind append */
        {MERGE, "INSERT INTO t SELECT v, 'b' FROM t WHERE p = 'b'", 1},
        {MERGE, "INSERT INTO t SELECT v, 'a' FROM t WHERE p = 'b'", 2}, /* none */
        {"UPDATE t SET v = (SELECT max(v) FROM s) WHERE p = 'a'", "DELETE FROM t WHERE p = 'b'", 1},
        {"UPDATE t SET v = (SELECT max(v) FROM s) WHERE p = 'a'", "DELETE FROM t WHERE p = 'a'", 2},
        {"DELETE FROM t WHERE v > (SELECT max(v) FROM s) AND p = 'a'", "INSERT INTO t SELECT 7, 'b' FROM t", 1},
        {"DELETE FROM t WHERE v > (SELECT max(v) FROM s)", "INSERT INTO t SELECT 7, 'b' FROM t", 2},
        {"UPDATE t SET v = (SELECT max(v) FROM t) + (SELECT max(v) FROM s) WHERE p = 'a'", "DELETE FROM t WHERE p = 'b'", 2}, /* reads all of it beside */
        {"INSERT INTO t SELECT v, 'c' FROM s", "DELETE FROM t", 1},
        {"INSERT INTO t SELECT s.v, 'c' FROM s JOIN t ON t.p = 'a' AND t.v = s.v", "DELETE FROM t WHERE p = 'b'", 1},
        {"INSERT INTO t SELECT s.v, 'c' FROM s JOIN t ON t.p = 'a' AND t.v = s.v", "DELETE FROM t WHERE p = 'a'", 2},
        {"INSERT OVERWRITE t SELECT v, 'c' FROM s", "DELETE FROM t WHERE p = 'b'", 2},
        {"INSERT INTO t REPLACE WHERE p = 'a' SELECT v, p FROM s", "DELETE FROM t WHERE p = 'b'", 1},
        {"INSERT INTO t REPLACE WHERE p = 'a' SELECT v, p FROM s", "DELETE FROM t WHERE p = 'a'", 2},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char dir[] = "/tmp/conflict_XXXXXX", sql[512];
        assert_non_null(mkdtemp(dir));
        other o = {.session = open_session(), .sql = cases[i].others};
        floodmark_session *s = open_session();
        floodmark_source source = {.ctx = &o, .available = one_row, .read = read_row};
        assert_int_equal(floodmark_register_source(s, "host", &source, NULL), 0);
        snprintf(sql, sizeof sql, DECLARE "INSERT INTO t VALUES (1, 'a'), (2, 'a'), (1, 'b'), (2, 'b')", dir);
        free(run(o.session, sql));
        snprintf(sql, sizeof sql, DECLARE "CREATE TABLE s (v BIGINT, p STRING) USING host", dir);
        free(run(s, sql));
        free(run(s, cases[i].statement));
        if (o.reads != cases[i].tries) fail_msg("%s, while another does %s: %d tries, not %d", cases[i].statement, cases[i].others, o.reads, cases[i].tries);
        floodmark_session_free(s);
        floodmark_session_free(o.session);
        assert_int_equal(fm_fs_remove_all(fm_fs_real(), dir, NULL), FM_OK);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_conflicts)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sql/sql_test.c: texts into plans, and what is said of wrong ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "format/json.h"
#include "os/fs.h"
#include "sql/sql.h"

static void test_statements_parse(void **state)
{
    static const struct {
        const char *sql;
        fm_plan_kind kind;
    } cases[] = {
        {"SELECT 1", FM_PLAN_PROJECT},
        {"select a, b as c, t.*, * except (x) from t;", FM_PLAN_PROJECT},
        {"SELECT count(*) FROM t GROUP BY window(ts, '1 minute'), k HAVING count(*) > 1", FM_PLAN_FILTER},
        {"SELECT * FROM STREAM t WATERMARK ts DELAY OF INTERVAL 10 MINUTES AS e WHERE e.v > 1", FM_PLAN_PROJECT},
        {"SELECT * FROM STREAM(t) WATERMARK to_timestamp(x) AS ts DELAY OF INTERVAL '1:30' HOUR TO MINUTE", FM_PLAN_PROJECT},
        {"SELECT * FROM STREAM read_files('in/', format => 'json', schema => 'a INT')", FM_PLAN_PROJECT},
        {"WITH a AS (SELECT 1 AS x), b(y) AS (SELECT x FROM a) SELECT * FROM b ORDER BY y DESC NULLS LAST LIMIT 10 OFFSET 2", FM_PLAN_WITH},
        {"SELECT a FROM t UNION ALL SELECT b FROM u", FM_PLAN_UNION},
        {"SELECT a FROM t UNION SELECT b FROM u", FM_PLAN_DISTINCT},
        {"(SELECT a FROM t) EXCEPT (SELECT b FROM u)", FM_PLAN_SET_OP},
        {"VALUES (1, 'a'), (2, 'b')", FM_PLAN_VALUES},
        {"SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(x, y), u", FM_PLAN_PROJECT},
        {"SELECT /*+ ALLOWED_LATENESS('6 hours'), LATE_ROWS('json', 'late/') */ a FROM t", FM_PLAN_HINT},
        {"SELECT DATE '2026-01-01', TIMESTAMP'2026-01-01 00:00:00', INTERVAL 1 DAY, INTERVAL '1 day 2 hours', INTERVAL -3 SECONDS", FM_PLAN_PROJECT},
        {"SELECT date, timestamp, interval, stream, first, last, left(s, 2), replace(s, 'a', 'b'), if(a, b, c) FROM t", FM_PLAN_PROJECT},
        {"SELECT transform(a, x -> x + 1), aggregate(a, 0, (acc, x) -> acc + x, acc -> acc * 2) FROM t", FM_PLAN_PROJECT},
        {"SELECT CAST(a AS ARRAY<STRUCT<x: INT, y: MAP<STRING, INT>>>), b::DECIMAL(10, 2), TRY_CAST(c AS INT) FROM t", FM_PLAN_PROJECT},
        {"SELECT a BETWEEN 1 AND 2 AND b NOT IN (1, 2) OR c LIKE 'x%' ESCAPE '!' OR NOT d IS NOT DISTINCT FROM e FROM t", FM_PLAN_PROJECT},
        {"SELECT a NOT BETWEEN 1 AND 2, x IS NOT TRUE, x IS UNKNOWN, -a + ~b, a[0].b['c'], st.end, window.end FROM t", FM_PLAN_PROJECT},
        {"SELECT EXTRACT(YEAR FROM d), TRIM(BOTH 'x' FROM s), TRIM(s), SUBSTRING(s FROM 1 FOR 2), substring(s, 1, 2), POSITION('a' IN s), OVERLAY(s PLACING 'x' FROM 2) FROM t", FM_PLAN_PROJECT},
        {"SELECT CASE WHEN a THEN 1 ELSE 2 END, CASE x WHEN 1 THEN 'a' END, EXISTS (SELECT 1 FROM u), exists(a, x -> x IS NULL), (SELECT max(b) FROM u), a IN (SELECT b FROM u)", FM_PLAN_PROJECT},
        {"SELECT count(DISTINCT a), sum(b) FILTER (WHERE b > 1), row_number() OVER (PARTITION BY k ORDER BY ts ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW), first(a) IGNORE NULLS FROM t", FM_PLAN_PROJECT},
        {"SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (y) CROSS JOIN d NATURAL JOIN e LEFT SEMI JOIN f ON a.x = f.x LEFT ANTI JOIN g ON 1 = 1", FM_PLAN_PROJECT},
        {"SELECT k, t FROM e LATERAL VIEW OUTER explode(tags) x AS t LATERAL VIEW posexplode(b) AS p, q", FM_PLAN_PROJECT},
        {"CREATE TABLE t (a INT NOT NULL COMMENT 'it''s', b ARRAY<STRING>) USING json OPTIONS (path 'in/', maxFilesPerTrigger 10, 'x.y' = true) PARTITIONED BY (a)", FM_PLAN_CREATE_TABLE},
        {"CREATE OR REFRESH STREAMING TABLE s USING json OPTIONS (path 'out/', checkpointLocation 'ck') AS SELECT * FROM STREAM t", FM_PLAN_CREATE_STREAMING_TABLE},
        {"CREATE OR REPLACE TEMP VIEW v (x) AS SELECT 1", FM_PLAN_CREATE_VIEW},
        {"DROP TABLE IF EXISTS t", FM_PLAN_DROP},
        {"SET spark.sql.session.timeZone = Europe/Berlin", FM_PLAN_SET},
        {"SET", FM_PLAN_SET},
        {"EXPLAIN EXTENDED SELECT 1", FM_PLAN_EXPLAIN},
        {"SHOW TABLES LIKE 'a*'", FM_PLAN_SHOW},
        {"DESCRIBE FUNCTION substring", FM_PLAN_DESCRIBE},
        {"DESC t", FM_PLAN_DESCRIBE},
        {"-- a comment\n/* and /* nested */ one */ SELECT 'a' 'b', \"c\", r'\\d', X'0aFF', 1L, 2.5, 1e3, 1.5D, 2BD", FM_PLAN_PROJECT},
        {"SELECT a >> 1, b >>> 2, c << 3, d || 'x', a & b | c ^ d FROM t", FM_PLAN_PROJECT},
        {"SELECT * FROM (a JOIN b ON a.x = b.x) WHERE y", FM_PLAN_PROJECT},
        {"SELECT ((SELECT 1)) + 1", FM_PLAN_PROJECT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan = NULL;
        fm_status st = fm_sql_parse(arena, fm_str_c(cases[i].sql), &plan, &err);
        if (st != FM_OK) fail_msg("%s\n%s", cases[i].sql, err.message);
        if (plan->kind != cases[i].kind) fail_msg("%s: kind %d, expected %d", cases[i].sql, plan->kind, cases[i].kind);
        fm_arena_free(arena);
    }
}

static void test_errors_name_the_place(void **state)
{
    static const struct {
        const char *sql;
        int line, column;
        const char *says;
    } cases[] = {
        {"SELEC k FROM t", 1, 1, "Did you mean SELECT?"},
        {"SELECT a\nFROM t\nGROP BY a", 3, 6, "BY"},
        {"SELECT (a FROM t", 1, 11, "')'"},
        {"SELECT 'abc", 1, 8, "closing quote"},
        {"SELECT a FROM STREAM t WATERMARK ts DELAY OF '10 minutes'", 1, 46, "interval"},
        {"SELECT INTERVAL 1 MONTH 2 DAYS", 1, 8, "mix"},
        {"", 0, 0, "empty"},
        {"INSERT INTO t SELECT 1", 1, 1, "INSERT"},
        {"SELECT 1; SELECT 2", 1, 9, "One statement"},
        {"SELECT 99999999999999999999999999999999999999999", 1, 8, "38 digits"},
        {"SELECT CAST(a AS QUUX) FROM t", 1, 18, "QUUX"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan = NULL;
        fm_status st = fm_sql_parse(arena, fm_str_c(cases[i].sql), &plan, &err);
        if (st == FM_OK) fail_msg("%s: parsed", cases[i].sql);
        if (err.line != cases[i].line || err.column != cases[i].column || !strstr(err.message, cases[i].says)) {
            fail_msg("%s: %d:%d %s", cases[i].sql, err.line, err.column, err.message);
        }
        fm_arena_free(arena);
    }
}

static void test_bombs_are_refused(void **state)
{
    static const char *const units[] = {"(", "-", "NOT ", "a + ", "CASE WHEN ", "f(", "x -> ", "[", "a.", "array(", "SELECT * FROM (", "a AND "};

    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        fm_strbuf text = {0};
        fm_strbuf_add_c(&text, "SELECT ");
        for (int k = 0; k < 20000; k++) fm_strbuf_add_c(&text, units[i]);
        fm_strbuf_add_c(&text, "1");
        assert_int_not_equal(fm_sql_parse(arena, fm_strbuf_str(&text), &plan, &err), FM_OK);
        fm_strbuf_fini(&text);
        fm_arena_free(arena);
    }
}

static void test_scripts_and_variables(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan **plans;
    int32_t n;

    assert_int_equal(fm_sql_parse_script(arena, FM_STR("SELECT ';'; -- no; end\n /* ; */ SET a = b;\n;; SELECT 2"), &plans, &n, &err), FM_OK);
    assert_int_equal(n, 3);
    assert_int_equal(plans[1]->kind, FM_PLAN_SET);
    assert_true(fm_str_eq(plans[1]->options.items[0].value, FM_STR("b")));
    fm_arena_free(arena);
}

static void a_star_behind_a_dot_is_a_star(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    (void)state;

    assert_int_equal(fm_sql_parse(arena, FM_STR("SELECT t.*, s.end FROM t"), &plan, &err), FM_OK);
    assert_int_equal(plan->exprs[0]->kind, FM_EXPR_STAR);
    assert_int_equal(plan->exprs[0]->n_parts, 1);
    assert_int_equal(plan->exprs[1]->kind, FM_EXPR_NAME);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_star_behind_a_dot_is_a_star),
        cmocka_unit_test(test_statements_parse),
        cmocka_unit_test(test_errors_name_the_place),
        cmocka_unit_test(test_bombs_are_refused),
        cmocka_unit_test(test_scripts_and_variables),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

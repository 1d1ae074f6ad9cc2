/* tests/plan/analyze_test.c: queries and the columns they give, or the condition they are refused with. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

typedef struct query_case {
    const char *sql;
    const char *gives; /* columns; or !CONDITION, or !CONDITION: part of the message */
} query_case;

static fixture *new_world(void)
{
    fixture *f = fixture_new();
    fm_error err = FM_ERROR_INIT;

    fixture_table(f, "t", "a INT, b STRING, s STRUCT<x: INT, y: STRUCT<z: STRING>>, l ARRAY<INT>, m MAP<STRING, INT>, ts TIMESTAMP", false);
    fixture_table(f, "u", "a BIGINT, c DOUBLE", false);
    fixture_events(f, "events", "10 seconds");
    fixture_events(f, "clicks", NULL);
    assert_int_equal(fixture_view(f, "v", "SELECT a + 1 AS a1, b FROM t", &err), FM_OK);
    assert_int_equal(fixture_view(f, "loop", "SELECT * FROM loop", &err), FM_OK);
    assert_int_equal(fixture_view(f, "joined", "SELECT t.a, u.c FROM t JOIN u ON t.a = u.a", &err), FM_OK);
    return f;
}

static void run(const query_case *cases, size_t n)
{
    int failed = 0;

    for (size_t i = 0; i < n; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan = NULL, *optimized = NULL;
        char got[4096];
        fm_status st = fixture_analyze(f, cases[i].sql, &plan, &err);
        const char *wrong = st == FM_OK ? fixture_verify(f, plan, false) : NULL;
        if (st != FM_OK && st != FM_INVALID && st != FM_UNSUPPORTED && st != FM_LIMIT) wrong = fm_status_name(st);
        if (st == FM_OK) snprintf(got, sizeof got, "%s", fixture_schema(f, plan));
        else snprintf(got, sizeof got, "!%s: %s", err.condition, err.message);
        bool ok = cases[i].gives[0] == '!' ? strstr(got, cases[i].gives) == got : strcmp(got, cases[i].gives) == 0;
        if (ok && !wrong && st == FM_OK) {
            ok = fm_optimize(fixture_arena(f), fixture_conf(f), plan, &optimized, &err) == FM_OK;
            if (!ok) snprintf(got, sizeof got, "optimizer: %s: %s", err.condition, err.message);
            else wrong = fixture_verify(f, optimized, true);
            if (ok && !wrong && strcmp(fixture_schema(f, optimized), cases[i].gives) != 0) {
                wrong = fm_arena_printf(fixture_arena(f), "optimized: %s", fixture_schema(f, optimized)).ptr;
            }
        }
        if (!ok || wrong) {
            printf("%s\n  wanted %s\n  got    %s\n  %s\n", cases[i].sql, cases[i].gives, got, wrong ? wrong : "");
            failed++;
        }
        fixture_free(f);
    }
    assert_int_equal(failed, 0);
}

#define RUN(cases) run(cases, sizeof(cases) / sizeof *(cases))

static void names(void **state)
{
    static const query_case cases[] = {
        {"SELECT 1", "1 INT NOT NULL"},
        {"SELECT a, t.b, T.A AS x FROM t", "a INT, b STRING, x INT"},
        {"SELECT default.t.a FROM t", "a INT"},
        {"SELECT s.x, s.y.z, t.s.y.z FROM t", "x INT, z STRING, z STRING"},
        {"SELECT a + 1, -a, a = 1 AND b IS NULL, CAST(a AS BIGINT), l[0], m[b] FROM t",
         "(a + 1) INT, (- a) INT, ((a = 1) AND (b IS NULL)) BOOLEAN, a BIGINT, l[0] INT, m[b] INT"},
        {"SELECT x.* FROM t AS x", "a INT, b STRING, s STRUCT<x: INT, y: STRUCT<z: STRING>>, l ARRAY<INT>, m MAP<STRING, INT>, ts TIMESTAMP"},
        {"SELECT * EXCEPT (s, l, m, ts) FROM t", "a INT, b STRING"},
        {"SELECT s.* FROM t", "x INT, y STRUCT<z: STRING>"},
        {"SELECT a, a FROM (SELECT a, a FROM t)", "a INT, a INT"},
        {"SELECT a1, x.b FROM v x", "a1 INT, b STRING"},
        {"SELECT p, q FROM (SELECT a, b FROM t) AS x(p, q)", "p INT, q STRING"},
        {"SELECT a AS x, x + 1 AS y, y * x AS z FROM t", "x INT, y INT, z INT"},
        {"SELECT a + 1 AS a, a AS b FROM t", "a INT, b INT"},
        {"WITH x AS (SELECT a FROM t), y(k) AS (SELECT a + 1 FROM x) SELECT x.a, y.k FROM x JOIN y ON x.a = y.k", "a INT, k INT"},
        {"WITH t AS (SELECT 1 AS one) SELECT * FROM t", "one INT NOT NULL"},
        {"WITH x AS (WITH y AS (SELECT a FROM t) SELECT * FROM y) SELECT * FROM x", "a INT"},
        {"SELECT * FROM VALUES (1, 'a'), (2L, NULL) AS w(n, s)", "n BIGINT NOT NULL, s STRING"},
        {"VALUES (1), (2.5)", "col1 DECIMAL(11,1) NOT NULL"},
        {"SELECT * FROM joined", "a INT, c DOUBLE"},
        {"SELECT nope FROM t", "!UNRESOLVED_COLUMN.WITH_SUGGESTION: A column, variable, or function parameter with name `nope` cannot be resolved. Did you mean one of the following? [`a`, `b`, `l`, `m`, `s`]."},
        {"SELECT t.nope FROM t", "!UNRESOLVED_COLUMN.WITH_SUGGESTION: A column, variable, or function parameter with name `t`.`nope` cannot be resolved. Did you mean one of the following? [`t`.`a`"},
        {"SELECT nope", "!UNRESOLVED_COLUMN.WITHOUT_SUGGESTION"},
        {"SELECT s.nope FROM t", "!FIELD_NOT_FOUND"},
        {"SELECT b.nope FROM t", "!INVALID_EXTRACT_BASE_FIELD_TYPE"},
        {"SELECT u.* FROM t", "!CANNOT_RESOLVE_STAR_EXPAND"},
        {"SELECT * EXCEPT (zz) FROM t", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT t.a FROM (SELECT a FROM t)", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT a FROM t JOIN u ON t.a = u.a", "!AMBIGUOUS_REFERENCE: Reference `a` is ambiguous, could be: [`t`.`a`, `u`.`a`]."},
        {"SELECT 1 AS x, 2 AS x, x + 1", "!AMBIGUOUS_LATERAL_COLUMN_ALIAS"},
        {"SELECT * FROM tt", "!TABLE_OR_VIEW_NOT_FOUND: The table or view `tt` cannot be found. Verify the spelling and correctness of the schema and catalog. Did you mean `t`?"},
        {"SELECT * FROM loop", "!FLOODMARK_PLAN_TOO_DEEP"},
        {"SELECT * FROM nothing(1)", "!UNRESOLVABLE_TABLE_VALUED_FUNCTION"},
        {"WITH x AS (SELECT 1), x AS (SELECT 2) SELECT * FROM x", "!DUPLICATED_CTE_NAMES"},
        {"SELECT no_such_function(a) FROM t", "!UNRESOLVED_ROUTINE"},
        {"SELECT x FROM t LATERAL VIEW explode(l) e AS x", "x INT"},
        {"SELECT a, explode(l) AS x FROM t", "a INT, x INT"},
        {"SELECT a, posexplode(l) AS (p, x) FROM t", "a INT, p INT NOT NULL, x INT"},
        {"SELECT k, v FROM t LATERAL VIEW OUTER explode(m) e AS k, v", "k STRING, v INT"},
        {"SELECT a + explode(l) FROM t", "!UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS"},
        {"SELECT explode(l), explode(l) FROM t", "col INT, col INT"},
        {"SELECT posexplode(l) AS x FROM t", "!UDTF_ALIAS_NUMBER_MISMATCH"},
        {"SELECT x FROM t LATERAL VIEW coalesce(l) e AS x", "!UNSUPPORTED_GENERATOR.NOT_GENERATOR"},
        {"SELECT x FROM t LATERAL VIEW no_such(l) e AS x", "!UNRESOLVED_ROUTINE"},
        {"SELECT * FROM t AS x(p, q)", "!ASSIGNMENT_ARITY_MISMATCH"},
        {"SELECT a + b + ts FROM t", "!DATATYPE_MISMATCH"},
        {"SELECT a FROM t WHERE a + 1", "!DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN"},
    };
    (void)state;
    RUN(cases);
}

static void aggregations(void **state)
{
    static const query_case cases[] = {
        {"SELECT count(*), sum(a), avg(a), min(b) FROM t", "count(1) BIGINT NOT NULL, sum(a) BIGINT, avg(a) DOUBLE, min(b) STRING"},
        {"SELECT b, count(*) AS n FROM t GROUP BY b", "b STRING, n BIGINT NOT NULL"},
        {"SELECT a % 3 AS r, count(*) FROM t GROUP BY a % 3", "r INT, count(1) BIGINT NOT NULL"},
        {"SELECT a % 3 AS r, count(*) FROM t GROUP BY r", "r INT, count(1) BIGINT NOT NULL"},
        {"SELECT a % 3 AS r, count(*) FROM t GROUP BY 1", "r INT, count(1) BIGINT NOT NULL"},
        {"SELECT a % 3 AS r, b, count(*) FROM t GROUP BY ALL", "r INT, b STRING, count(1) BIGINT NOT NULL"},
        {"SELECT count(*) AS n FROM t GROUP BY ALL", "n BIGINT NOT NULL"},
        {"SELECT a % 3 + 1 AS r1, sum(a) * 2 AS d FROM t GROUP BY a % 3", "r1 INT, d BIGINT"},
        {"SELECT b, sum(a) AS q, q + 1 AS q1, q1 * q AS p FROM t GROUP BY b", "b STRING, q BIGINT, q1 BIGINT, p BIGINT"},
        {"SELECT b FROM t GROUP BY b HAVING sum(a) > 3", "b STRING"},
        {"SELECT b, sum(a) AS s FROM t GROUP BY b HAVING s > 3 AND b <> 'x'", "b STRING, s BIGINT"},
        {"SELECT b, sum(a) AS a FROM t GROUP BY b HAVING a > 3", "b STRING, a BIGINT"},
        {"SELECT a + 1 AS x FROM t GROUP BY a HAVING a > 3", "x INT"},
        {"SELECT 1 AS one FROM t HAVING count(*) > 0", "one INT NOT NULL"},
        {"SELECT b, sum(a) AS s FROM t GROUP BY b ORDER BY count(*), s, b", "b STRING, s BIGINT"},
        {"SELECT sum(a) AS s FROM t GROUP BY b HAVING count(*) > 1 ORDER BY max(a), b", "s BIGINT"},
        {"SELECT sum(a) AS a FROM t GROUP BY b ORDER BY a, sum(a)", "a BIGINT"},
        {"SELECT DISTINCT b, a % 2 AS r FROM t ORDER BY r", "b STRING, r INT"},
        {"SELECT count(DISTINCT b) AS d, count(b) FILTER (WHERE a > 1) AS n FROM t", "d BIGINT NOT NULL, n BIGINT NOT NULL"},
        {"SELECT s.x, count(*) AS n FROM t GROUP BY s.x", "x INT, n BIGINT NOT NULL"},
        {"SELECT a AS x FROM (SELECT a, count(*) AS n FROM t GROUP BY a) WHERE n > 1", "x INT"},
        {"SELECT b, a FROM t GROUP BY b", "!MISSING_AGGREGATION: The non-aggregating expression \"a\""},
        {"SELECT b, count(*) FROM t", "!MISSING_GROUP_BY"},
        {"SELECT b FROM t GROUP BY b HAVING a > 1", "!MISSING_AGGREGATION"},
        {"SELECT b FROM t GROUP BY b ORDER BY a", "!MISSING_AGGREGATION"},
        {"SELECT b, s.y.z FROM t GROUP BY b, s.x", "!MISSING_AGGREGATION"},
        {"SELECT sum(count(*)) FROM t", "!NESTED_AGGREGATE_FUNCTION"},
        {"SELECT a FROM t WHERE sum(a) > 1", "!INVALID_WHERE_CONDITION"},
        {"SELECT count(*) FROM t GROUP BY sum(a)", "!GROUP_BY_AGGREGATE"},
        {"SELECT count(*) AS n FROM t GROUP BY n", "!GROUP_BY_AGGREGATE"},
        {"SELECT sum(a) FROM t GROUP BY 1", "!GROUP_BY_POS_AGGREGATE"},
        {"SELECT b, sum(a) FROM t GROUP BY 3", "!GROUP_BY_POS_OUT_OF_RANGE"},
        {"SELECT * FROM t GROUP BY 1", "!STAR_GROUP_BY_POS"},
        {"SELECT DISTINCT m FROM t", "!UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE"},
        {"SELECT a FROM t JOIN u ON sum(t.a) = 1", "!UNSUPPORTED_EXPR_FOR_OPERATOR"},
        {"SELECT count(*) FILTER (WHERE a) FROM t", "!INVALID_AGGREGATE_FILTER.NOT_BOOLEAN"},
        {"SELECT coalesce(DISTINCT a) FROM t", "!INVALID_SQL_SYNTAX.FUNCTION_WITH_UNSUPPORTED_SYNTAX"},
    };
    (void)state;
    RUN(cases);
}

static void order_and_limit(void **state)
{
    static const query_case cases[] = {
        {"SELECT a FROM t ORDER BY b DESC, ts", "a INT"},
        {"SELECT a AS x FROM t ORDER BY a + x, 1", "x INT"},
        {"SELECT x.a FROM t x ORDER BY x.b", "a INT"},
        {"SELECT a, b FROM t ORDER BY ALL LIMIT 3", "a INT, b STRING"},
        {"SELECT a FROM t LIMIT 1 + 2 OFFSET 1", "a INT"},
        {"SELECT a FROM t ORDER BY 2", "!ORDER_BY_POS_OUT_OF_RANGE"},
        {"SELECT DISTINCT a FROM t ORDER BY b", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT x.a FROM (SELECT a FROM t) x ORDER BY b", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT m FROM t ORDER BY m", "!DATATYPE_MISMATCH.INVALID_ORDERING_TYPE"},
        {"SELECT a FROM t LIMIT a", "!INVALID_LIMIT_LIKE_EXPRESSION.IS_UNFOLDABLE"},
        {"SELECT a FROM t LIMIT -1", "!INVALID_LIMIT_LIKE_EXPRESSION.IS_NEGATIVE"},
        {"SELECT a FROM t LIMIT NULL", "!INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE"},
        {"SELECT a FROM t LIMIT 'x'", "!INVALID_LIMIT_LIKE_EXPRESSION.DATA_TYPE"},
    };
    (void)state;
    RUN(cases);
}

static void joins_and_sets(void **state)
{
    static const query_case cases[] = {
        {"SELECT * FROM u x JOIN u y ON x.a = y.a", "a BIGINT, c DOUBLE, a BIGINT, c DOUBLE"},
        {"SELECT * FROM u x JOIN u y USING (a)", "a BIGINT, c DOUBLE, c DOUBLE"},
        {"SELECT x.a, y.a AS ya FROM u x LEFT JOIN u y USING (a)", "a BIGINT, ya BIGINT"},
        {"SELECT * FROM (SELECT a, b FROM t) FULL JOIN u USING (a)", "a BIGINT, b STRING, c DOUBLE"},
        {"SELECT * FROM (SELECT a, b FROM t) NATURAL JOIN u", "a INT, b STRING, c DOUBLE"},
        {"SELECT * FROM (SELECT b FROM t) x LEFT SEMI JOIN u ON u.c > 1", "b STRING"},
        {"SELECT b FROM t LEFT ANTI JOIN u ON t.a = u.a", "b STRING"},
        {"SELECT count(*) AS n FROM t CROSS JOIN u", "n BIGINT NOT NULL"},
        {"SELECT x.one, y.two FROM (SELECT 1 AS one) x LEFT JOIN (SELECT 2 AS two) y ON x.one = y.two", "one INT NOT NULL, two INT"},
        {"SELECT a FROM t UNION ALL SELECT a FROM u", "a BIGINT"},
        {"SELECT a AS x FROM t UNION SELECT 2.5", "x DECIMAL(11,1)"},
        {"SELECT a FROM u EXCEPT SELECT a FROM t", "a BIGINT"},
        {"SELECT a FROM u INTERSECT SELECT a FROM t", "a BIGINT"},
        {"SELECT a FROM t WHERE a IN (SELECT a FROM u) AND b NOT IN (SELECT b FROM t)", "a INT"},
        {"SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u) AND a > 1", "a INT"},
        {"SELECT a, (SELECT max(c) FROM u) AS top FROM t", "a INT, top DOUBLE"},
        {"SELECT * FROM u WHERE c > (SELECT max(a) FROM t) AND a < (SELECT 7)", "a BIGINT, c DOUBLE"},
        {"SELECT sum(c * (SELECT max(a) FROM t)) AS s FROM u", "s DOUBLE"},
        {"SELECT sum(c) + (SELECT max(a) FROM t) AS s FROM u", "!FLOODMARK_SCALAR_SUBQUERY"},
        {"SELECT (SELECT a FROM u) AS x FROM t", "!FLOODMARK_SCALAR_SUBQUERY"},
        {"SELECT a FROM t JOIN u USING (b)", "!UNRESOLVED_USING_COLUMN_FOR_JOIN"},
        {"SELECT 1 FROM t JOIN u ON t.a + u.a", "!JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE"},
        {"SELECT a, b FROM t UNION ALL SELECT a FROM u", "!NUM_COLUMNS_MISMATCH"},
        {"SELECT l FROM t UNION ALL SELECT a FROM u", "!INCOMPATIBLE_COLUMN_TYPE"},
        {"SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE u.a = t.a)", "a INT"},
        {"SELECT (SELECT a, c FROM u) FROM t", "!INVALID_SUBQUERY_EXPRESSION.SCALAR_SUBQUERY_RETURN_MORE_THAN_ONE_OUTPUT_COLUMN"},
        {"SELECT a FROM t WHERE a IN (SELECT a FROM u) OR a = 1", "!UNSUPPORTED_SUBQUERY_EXPRESSION_CATEGORY"},
        {"SELECT (SELECT count(*) FROM events) AS n FROM t", "!INVALID_SUBQUERY_EXPRESSION.STREAMING_QUERY"},
    };
    (void)state;
    RUN(cases);
}

static void windows(void **state)
{
#define W "STRUCT<start: TIMESTAMP, end: TIMESTAMP>"
    static const query_case cases[] = {
        {"SELECT window, count(*) AS n FROM events GROUP BY window(ts, '5 seconds')", "window " W " NOT NULL, n BIGINT NOT NULL"},
        {"SELECT window.start, k FROM events GROUP BY window(ts, INTERVAL 5 SECONDS), k", "start TIMESTAMP, k STRING"},
        {"SELECT window(ts, '5 seconds') AS w, sum(v) AS s FROM events GROUP BY w", "w " W " NOT NULL, s BIGINT"},
        {"SELECT window(ts, '5 seconds', '1 second'), v FROM events", "window " W " NOT NULL, v BIGINT"},
        {"SELECT window, count(*) AS n FROM events GROUP BY window(ts, 5000000)", "window " W " NOT NULL, n BIGINT NOT NULL"},
        {"SELECT window, count(*) AS n FROM events GROUP BY window(ts, '1 hour') HAVING window.start > TIMESTAMP '2026-01-01'", "window " W " NOT NULL, n BIGINT NOT NULL"},
        {"SELECT session_window, k, count(*) AS n FROM events GROUP BY session_window(ts, '5 seconds'), k", "session_window " W " NOT NULL, k STRING, n BIGINT NOT NULL"},
        {"SELECT count(*) AS n FROM events GROUP BY session_window(ts, CASE WHEN v > 1 THEN '5 seconds' ELSE '1 minute' END), k", "n BIGINT NOT NULL"},
        {"SELECT window(ts, '5 seconds').start, k FROM events", "window.start TIMESTAMP, k STRING"},
        {"SELECT window, count(*) FROM events GROUP BY window(ts, '10 seconds', '11 seconds')", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT /*+ BROADCAST(e), ALLOWED_LATENESS('1 hour') */ count(*) AS n FROM events e", "n BIGINT NOT NULL"},
        {"SELECT /*+ BAD_ROWS('drop'), bad_rows('fail') */ count(*) AS n FROM events", "!FLOODMARK_HINT_TWICE"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '10 seconds', '11 seconds')", "!DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '10 seconds', '5 seconds', '5 seconds')", "!DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '0 seconds')", "!DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '10 lightyears')", "!CANNOT_PARSE_INTERVAL"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '1 month')", "!_LEGACY_ERROR_TEMP_3231"},
        {"SELECT count(*) FROM events GROUP BY window(ts, k)", "!FLOODMARK_WINDOW_DURATION"},
        {"SELECT count(*) FROM events GROUP BY window(v, '1 second')", "!DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
        {"SELECT count(*) FROM events GROUP BY window(ts)", "!WRONG_NUM_ARGS.WITHOUT_SUGGESTION"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '1 second'), window(ts, '2 seconds')", "!_LEGACY_ERROR_TEMP_1039"},
        {"SELECT count(*) FROM events GROUP BY window(ts, '1 second'), session_window(ts, '1 second')", "!_LEGACY_ERROR_TEMP_1039"},
        {"SELECT window_time(k) FROM events", "!DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
        {"SELECT window, count(*) FROM events", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT row_number() OVER (PARTITION BY k ORDER BY ts) AS n, k FROM events", "n INT, k STRING"},
    };
    (void)state;
    RUN(cases);
}

static void watermarks(void **state)
{
    static const query_case cases[] = {
        {"SELECT k FROM STREAM t_stream", "!TABLE_OR_VIEW_NOT_FOUND"},
        {"SELECT a FROM STREAM t WATERMARK ts DELAY OF INTERVAL 10 MINUTES", "a INT"},
        {"SELECT b, e FROM STREAM t WATERMARK ts AS e DELAY OF INTERVAL 10 MINUTES", "b STRING, e TIMESTAMP"},
        {"SELECT a1 FROM STREAM v", "a1 INT"},
        {"SELECT a FROM STREAM t WATERMARK b DELAY OF INTERVAL 1 SECOND", "!EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE"},
        {"SELECT a FROM STREAM t WATERMARK nope DELAY OF INTERVAL 1 SECOND", "!UNRESOLVED_COLUMN.WITH_SUGGESTION"},
        {"SELECT a FROM STREAM t WATERMARK CAST(b AS TIMESTAMP) DELAY OF INTERVAL 1 SECOND", "!REQUIRES_EXPLICIT_NAME_IN_WATERMARK_CLAUSE"},
    };
    (void)state;
    RUN(cases);
}

/* The delay a column of the result is tagged with, µs; -1: not tagged. */
static void tags_follow_bare_columns(void **state)
{
    static const struct {
        const char *sql;
        int64_t delay_us; /* of the first column */
    } cases[] = {
        {"SELECT ts FROM events", 10000000},
        {"SELECT ts AS e FROM events WHERE v > 1", 10000000},
        {"SELECT ts + INTERVAL 1 SECOND AS e FROM events", -1},
        {"SELECT CAST(ts AS TIMESTAMP_NTZ) AS e FROM events", -1},
        {"SELECT window(ts, '5 seconds') AS w FROM events", 10000000},
        {"SELECT window(ts + INTERVAL 1 SECOND, '5 seconds') AS w FROM events", -1},
        {"SELECT window, count(*) FROM events GROUP BY window(ts, '5 seconds')", 10000000},
        {"SELECT max(ts) AS m FROM events", -1},
        {"SELECT ts FROM events UNION ALL SELECT ts FROM clicks", 10000000},
        {"SELECT ts FROM clicks UNION ALL SELECT ts FROM events", -1},
        {"SELECT ts FROM events WATERMARK ts DELAY OF INTERVAL 1 MINUTE", 60000000},
        {"SELECT ts, e FROM (SELECT ts, ts AS e FROM events) WATERMARK e DELAY OF INTERVAL 1 MINUTE", -1},
        {"SELECT x.ts FROM clicks c LEFT JOIN events x ON c.k = x.k", 10000000},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        if (fixture_analyze(f, cases[i].sql, &plan, &err) != FM_OK) fail_msg("%s: %s", cases[i].sql, err.message);
        int64_t got = plan->output[0].watermark_node ? plan->output[0].delay_us : -1;
        if (got != cases[i].delay_us) fail_msg("%s: delay %lld", cases[i].sql, (long long)got);
        fixture_free(f);
    }
}

static void delays_are_read_as_spark_reads_them(void **state)
{
    static const struct {
        const char *delay;
        int64_t us; /* -1: refused */
        const char *condition;
    } cases[] = {
        {"10 seconds", 10000000, NULL},
        {"interval 1 hour 30 seconds", INT64_C(3630000000), NULL},
        {"1 month", INT64_C(31) * 86400 * 1000000, NULL},
        {"1 week -1 day", INT64_C(6) * 86400 * 1000000, NULL},
        {"0 seconds", 0, NULL},
        {"1500 microseconds", 1000, NULL},
        {"-10 seconds", -1, "FLOODMARK_NEGATIVE_DELAY"},
        {"1 month -40 days", -1, "FLOODMARK_NEGATIVE_DELAY"},
        {"10 lightyears", -1, "INVALID_INTERVAL_FORMAT.INVALID_UNIT"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *f = fixture_new();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        fixture_events(f, "s", cases[i].delay);
        fm_status st = fixture_analyze(f, "SELECT ts FROM s", &plan, &err);
        if (cases[i].us < 0) assert_string_equal(err.condition, cases[i].condition);
        else if (st != FM_OK || plan->output[0].delay_us != cases[i].us) fail_msg("%s: %s", cases[i].delay, err.message);
        fixture_free(f);
    }
}

static void sources_are_numbered_in_plan_order(void **state)
{
    fixture *f = new_world();
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    (void)state;

    assert_int_equal(fixture_analyze(f, "SELECT k FROM events UNION ALL SELECT k FROM clicks UNION ALL SELECT k FROM events", &plan, &err), FM_OK);
    int seen = 0;
    const fm_plan *stack[64];
    int n = 0;
    stack[n++] = plan;
    while (n) {
        const fm_plan *p = stack[--n];
        if (p->kind == FM_PLAN_READ) assert_int_equal(p->source_index, seen++);
        for (int32_t i = p->n_children - 1; i >= 0; i--) stack[n++] = p->children[i];
    }
    assert_int_equal(seen, 3);
    fixture_free(f);
}

static void places_are_told(void **state)
{
    fixture *f = new_world();
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    (void)state;

    assert_int_equal(fixture_analyze(f, "SELECT a,\n       nope FROM t", &plan, &err), FM_INVALID);
    assert_int_equal(err.line, 2);
    assert_int_equal(err.column, 8);
    /* The window that is missing is missing because of its call. */
    fixture_table(f, "e", "ts TIMESTAMP", true);
    assert_int_equal(fixture_analyze(f, "SELECT window.start FROM e GROUP BY window(ts, '0 seconds')", &plan, &err), FM_INVALID);
    assert_string_equal(err.condition, "UNRESOLVED_COLUMN.WITH_SUGGESTION");
    assert_non_null(strstr(err.message, "window_duration"));
    fixture_free(f);
}

static void views_of_views_end(void **state)
{
    fixture *f = new_world();
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    char name[16], sql[128];
    (void)state;

    fixture_table(f, "v0", "a INT", false);
    for (int i = 1; i <= 40; i++) { /* 2^40 scans */
        snprintf(name, sizeof name, "v%d", i);
        snprintf(sql, sizeof sql, "SELECT x.a FROM v%d x JOIN v%d y ON x.a = y.a", i - 1, i - 1);
        assert_int_equal(fixture_view(f, name, sql, &err), FM_OK);
    }
    assert_int_equal(fixture_analyze(f, "SELECT * FROM v40", &plan, &err), FM_LIMIT);
    assert_string_equal(err.condition, "FLOODMARK_PLAN_TOO_LARGE");
    fixture_free(f);
}

/* Views that add to the column of the view below: what the optimizer puts together stays small enough to walk. */
static void towers_of_views_are_optimized(void **state)
{
    enum { HEIGHT = 50, ADDED = 300 };
    fixture *f = fixture_new();
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    char name[16];
    (void)state;

    fixture_table(f, "v0", "a BIGINT", false);
    for (int i = 1; i <= HEIGHT; i++) {
        fm_strbuf sql = {0};
        fm_strbuf_add_c(&sql, "SELECT a");
        for (int k = 0; k < ADDED; k++) fm_strbuf_add_c(&sql, " + 1");
        fm_strbuf_printf(&sql, " AS a FROM v%d", i - 1);
        snprintf(name, sizeof name, "v%d", i);
        assert_int_equal(fixture_view(f, name, sql.ptr, &err), FM_OK);
        fm_strbuf_fini(&sql);
    }
    assert_int_equal(fixture_optimize(f, "SELECT a FROM v50 WHERE a > 1", &plan, &err), FM_OK);
    assert_null(fixture_verify(f, plan, true));
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),
        cmocka_unit_test(aggregations),
        cmocka_unit_test(order_and_limit),
        cmocka_unit_test(joins_and_sets),
        cmocka_unit_test(windows),
        cmocka_unit_test(watermarks),
        cmocka_unit_test(tags_follow_bare_columns),
        cmocka_unit_test(delays_are_read_as_spark_reads_them),
        cmocka_unit_test(sources_are_numbered_in_plan_order),
        cmocka_unit_test(places_are_told),
        cmocka_unit_test(views_of_views_end),
        cmocka_unit_test(towers_of_views_are_optimized),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

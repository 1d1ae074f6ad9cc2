/* tests/plan/optimize_test.c: queries and the plans they become. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

typedef struct plan_case {
    const char *sql;
    const char *plan;
} plan_case;

static fixture *new_world(void)
{
    fixture *f = fixture_new();

    fixture_table(f, "t", "a INT, b STRING, c DOUBLE, s STRUCT<x: INT, y: INT>, ts TIMESTAMP", false);
    fixture_table(f, "d", "k STRING, name STRING", false);
    fixture_table(f, "two", "t1 TIMESTAMP, t2 TIMESTAMP", true);
    fixture_events(f, "e", "10 seconds");
    fixture_events(f, "r", "5 seconds");
    fixture_events(f, "raw", NULL);
    return f;
}

static void run(const plan_case *cases, size_t n)
{
    int failed = 0;

    for (size_t i = 0; i < n; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        const char *got, *wrong = NULL;
        if (fixture_optimize(f, cases[i].sql, &plan, &err) != FM_OK) {
            got = err.message;
        } else {
            got = fixture_text(f, plan);
            wrong = fixture_verify(f, plan, true);
        }
        if (strcmp(got, cases[i].plan) != 0 || wrong) {
            printf("%s\nwanted\n%sgot\n%s%s\n", cases[i].sql, cases[i].plan, got, wrong ? wrong : "");
            failed++;
        }
        fixture_free(f);
    }
    assert_int_equal(failed, 0);
}

#define RUN(cases) run(cases, sizeof(cases) / sizeof *(cases))

static void constants_are_folded(void **state)
{
    static const plan_case cases[] = {
        {"SELECT 1 + 2 AS x", "Project [3 AS x]\n+- OneRowRelation\n"},
        {"SELECT 1 / 0 AS x FROM t", "Project [(1 / 0) AS x]\n+- Relation json, []\n"},
        {"SELECT a FROM t WHERE 1 = 1 AND a > 1", "Filter (a > 1)\n+- Relation json, [a]\n"},
        {"SELECT a FROM t WHERE 1 = 2 AND a > 1", "LocalRelation <empty>, [a]\n"},
        {"SELECT a FROM t WHERE a > NULL", "LocalRelation <empty>, [a]\n"},
        {"SELECT CASE WHEN false THEN a WHEN true THEN 7 ELSE 8 END AS x FROM t", "Project [7 AS x]\n+- Relation json, []\n"},
        {"SELECT NOT NOT (a > 1) AS x FROM t", "Project [(a > 1) AS x]\n+- Relation json, [a]\n"},
        {"SELECT a FROM t UNION ALL SELECT a + 1 FROM t WHERE false", "Project [a AS a]\n+- Relation json, [a]\n"},
        /* a stream keeps its source, whose files still make batches */
        {"SELECT k FROM raw WHERE false", "Filter false\n+- StreamingRelation json, [k]\n"},
    };
    (void)state;
    RUN(cases);
}

static void filters_go_down(void **state)
{
    static const plan_case cases[] = {
        {"SELECT x FROM (SELECT a + 1 AS x, b FROM t) WHERE x > 3 AND b = 'q'",
         "Project [(a + 1) AS x]\n+- Filter (((a + 1) > 3) AND (b = q))\n   +- Relation json, [a, b]\n"},
        {"SELECT a FROM (SELECT a FROM t UNION ALL SELECT a + 1 FROM t) WHERE a > 3",
         "Union\n:- Filter (a > 3)\n:  +- Relation json, [a]\n+- Project [(a + 1) AS (a + 1)]\n   +- Filter ((a + 1) > 3)\n      +- Relation json, [a]\n"},
        {"SELECT b, n FROM (SELECT b, count(*) AS n FROM t GROUP BY b) WHERE b <> 'x' AND n > 1",
         "Filter (n > 1)\n+- Aggregate [b], [b, count(1) AS n]\n   +- Filter (NOT (b = x))\n      +- Relation json, [b]\n"},
        {"SELECT count(*) AS n FROM t HAVING 1 = 2", "LocalRelation <empty>, [n]\n"},
        {"SELECT a FROM (SELECT a, b FROM t ORDER BY a) WHERE b = 'x'",
         "Sort [a ASC NULLS FIRST], true\n+- Project [a]\n   +- Filter (b = x)\n      +- Relation json, [a, b]\n"},
        {"SELECT a FROM (SELECT a FROM t LIMIT 3) WHERE a > 1", "Filter (a > 1)\n+- GlobalLimit 3\n   +- Relation json, [a]\n"},
    };
    (void)state;
    RUN(cases);
}

/* Spark's rule: below a watermark iff deterministic and not about the event time. */
static void filters_and_watermarks(void **state)
{
    static const plan_case cases[] = {
        {"SELECT k FROM e WHERE v > 1",
         "Project [k]\n+- EventTimeWatermark ts: timestamp, 10 seconds\n   +- Filter (v > 1)\n      +- StreamingRelation json, [ts, k, v]\n"},
        {"SELECT k FROM e WHERE ts > TIMESTAMP '2026-01-01' AND v > 1",
         "Project [k]\n+- Filter (ts > TIMESTAMP '2026-01-01 00:00:00')\n   +- EventTimeWatermark ts: timestamp, 10 seconds\n      +- Filter (v > 1)\n         +- StreamingRelation json, [ts, k, v]\n"},
        {"SELECT window, k, count(*) AS n FROM e GROUP BY window(ts, '5 seconds'), k HAVING k <> 'x' AND count(*) > 1",
         "Filter (n > 1)\n+- Aggregate [window, k], [window, k, count(1) AS n]\n   +- TimeWindow ts, 5 seconds AS window\n      +- EventTimeWatermark ts: timestamp, 10 seconds\n"
         "         +- Filter (NOT (k = x))\n            +- StreamingRelation json, [ts, k]\n"},
        {"SELECT window FROM e GROUP BY window(ts, '5 seconds') HAVING window.start > TIMESTAMP '2026-01-01'",
         "Aggregate [window], [window]\n+- Filter (window.start > TIMESTAMP '2026-01-01 00:00:00')\n   +- TimeWindow ts, 5 seconds AS window\n      +- EventTimeWatermark ts: timestamp, 10 seconds\n"
         "         +- StreamingRelation json, [ts]\n"},
        /* a window of another time than the event time drops its null times below the watermark */
        {"SELECT window, count(*) AS n FROM two WATERMARK t1 DELAY OF INTERVAL 10 SECONDS GROUP BY window(t2, '5 seconds')",
         "Aggregate [window], [window, count(1) AS n]\n+- TimeWindow t2, 5 seconds AS window\n   +- EventTimeWatermark t1: timestamp, 10 seconds\n"
         "      +- Filter (t2 IS NOT NULL)\n         +- StreamingRelation json, [t1, t2]\n"},
    };
    (void)state;
    RUN(cases);
}

static void joins(void **state)
{
    static const plan_case cases[] = {
        {"SELECT raw.v, d.name FROM raw JOIN d ON raw.k = d.k WHERE raw.v > 1 AND d.name = 'x'",
         "Project [v, name]\n+- Join Inner, (k = k)\n   :- Filter ((v > 1) AND (k IS NOT NULL))\n   :  +- StreamingRelation json, [k, v]\n"
         "   +- Filter ((name = x) AND (k IS NOT NULL))\n      +- Relation json, [k, name]\n"},
        {"SELECT e.v FROM e JOIN r ON e.k = r.k AND e.k <> 'x'",
         "Project [v]\n+- Join Inner, (k = k)\n   :- EventTimeWatermark ts: timestamp, 10 seconds\n   :  +- Filter (NOT (k = x))\n   :     +- StreamingRelation json, [ts, k, v]\n"
         "   +- EventTimeWatermark ts: timestamp, 5 seconds\n      +- Filter (NOT (k = x))\n         +- StreamingRelation json, [ts, k]\n"},
        {"SELECT e.v FROM e LEFT JOIN r ON e.k = r.k AND e.v > 1 AND r.v > 2",
         "Project [v]\n+- Join LeftOuter, ((k = k) AND (v > 1))\n   :- EventTimeWatermark ts: timestamp, 10 seconds\n   :  +- StreamingRelation json, [ts, k, v]\n"
         "   +- EventTimeWatermark ts: timestamp, 5 seconds\n      +- Filter ((v > 2) AND (k IS NOT NULL))\n         +- StreamingRelation json, [ts, k, v]\n"},
        {"SELECT raw.v FROM raw LEFT JOIN d ON raw.k = d.k WHERE d.name = 'x'",
         "Project [v]\n+- Join Inner, (k = k)\n   :- Filter (k IS NOT NULL)\n   :  +- StreamingRelation json, [k, v]\n"
         "   +- Filter ((name = x) AND (k IS NOT NULL))\n      +- Relation json, [k, name]\n"},
        {"SELECT raw.v FROM raw LEFT JOIN d ON raw.k = d.k WHERE d.name IS NULL",
         "Project [v]\n+- Filter (name IS NULL)\n   +- Join LeftOuter, (k = k)\n      :- StreamingRelation json, [k, v]\n"
         "      +- Filter (k IS NOT NULL)\n         +- Relation json, [k, name]\n"},
        {"SELECT raw.v FROM raw CROSS JOIN d WHERE raw.k = d.k",
         "Project [v]\n+- Join Inner, (k = k)\n   :- Filter (k IS NOT NULL)\n   :  +- StreamingRelation json, [k, v]\n   +- Filter (k IS NOT NULL)\n      +- Relation json, [k]\n"},
    };
    (void)state;
    RUN(cases);
}

static void columns_are_pruned(void **state)
{
    static const plan_case cases[] = {
        {"SELECT count(*) AS n FROM t", "Aggregate [], [count(1) AS n]\n+- Relation json, []\n"},
        {"SELECT b FROM (SELECT a, b, c FROM t)", "Relation json, [b]\n"},
        {"SELECT b FROM (SELECT b, sum(a) AS s, max(c) AS m FROM t GROUP BY b)", "Aggregate [b], [b]\n+- Relation json, [b]\n"},
        {"SELECT n FROM (SELECT b AS n, a FROM t UNION ALL SELECT name, 1 FROM d)",
         "Union\n:- Project [b AS n]\n:  +- Relation json, [b]\n+- Relation json, [name]\n"},
        {"SELECT s.y FROM t", "Project [s.y AS y]\n+- Relation json, [s]\n"},
        {"SELECT x.a FROM t x LEFT SEMI JOIN d ON x.b = d.k",
         "Project [a]\n+- Join LeftSemi, (b = k)\n   :- Filter (b IS NOT NULL)\n   :  +- Relation json, [a, b]\n   +- Filter (k IS NOT NULL)\n      +- Relation json, [k]\n"},
        /* the right side's key can be called, and is not read where it is not */
        {"SELECT x.c, y.a AS ya FROM t x JOIN t y USING (a)",
         "Project [c, a AS ya]\n+- Join Inner, (a = a)\n   :- Filter (a IS NOT NULL)\n   :  +- Relation json, [a, c]\n   +- Filter (a IS NOT NULL)\n      +- Relation json, [a]\n"},
    };
    (void)state;
    RUN(cases);
}

static void projects_are_merged(void **state)
{
    static const plan_case cases[] = {
        {"SELECT y + 1 AS z FROM (SELECT x * 2 AS y FROM (SELECT a + 1 AS x FROM t))",
         "Project [(((a + 1) * 2) + 1) AS z]\n+- Relation json, [a]\n"},
        /* used twice: computed once, below */
        {"SELECT x * x AS y FROM (SELECT a + 1 AS x FROM t)",
         "Project [(x * x) AS y]\n+- Project [(a + 1) AS x]\n   +- Relation json, [a]\n"},
        {"SELECT a, b, c, s, ts FROM t", "Relation json, [a, b, c, s, ts]\n"},
        {"SELECT q, count(*) AS n FROM (SELECT b AS q FROM t) GROUP BY q",
         "Project [b AS q, n]\n+- Aggregate [b], [b, count(1) AS n]\n   +- Relation json, [b]\n"},
    };
    (void)state;
    RUN(cases);
}

/* What exec wants: groups are columns, windows stand right below. */
static void aggregations_are_plain(void **state)
{
    static const plan_case cases[] = {
        {"SELECT window, v % 3 AS g, sum(v) + 1 AS s FROM e GROUP BY window(ts, '5 seconds', '1 second'), v % 3",
         "Project [window, (v % 3) AS g, (sum(v) + 1) AS s]\n+- Aggregate [window, (v % 3)], [window, (v % 3), sum(v) AS sum(v)]\n   +- TimeWindow ts, 5 seconds, slide 1 second AS window\n"
         "      +- Project [ts, v, (v % 3) AS (v % 3)]\n         +- EventTimeWatermark ts: timestamp, 10 seconds\n            +- StreamingRelation json, [ts, v]\n"},
        {"SELECT w, u, count(*) AS n FROM (SELECT window(ts, '5 seconds') AS w, v + 1 AS u FROM e) GROUP BY w, u",
         "Project [window AS w, u, n]\n+- Aggregate [window, u], [window, u, count(1) AS n]\n   +- TimeWindow ts, 5 seconds AS window\n      +- Project [ts, (v + 1) AS u]\n"
         "         +- EventTimeWatermark ts: timestamp, 10 seconds\n            +- StreamingRelation json, [ts, v]\n"},
        {"SELECT DISTINCT b FROM t", "Distinct [b], [b]\n+- Relation json, [b]\n"},
        {"SELECT count(*) AS n, count(*) AS m FROM t", "Project [n, n AS m]\n+- Aggregate [], [count(1) AS n]\n   +- Relation json, []\n"},
    };
    (void)state;
    RUN(cases);
}

static void set_operations_become_joins(void **state)
{
    static const plan_case cases[] = {
        {"SELECT b FROM t EXCEPT SELECT k FROM d",
         "Distinct [b], [b]\n+- Join LeftAnti, (b <=> k)\n   :- Relation json, [b]\n   +- Relation json, [k]\n"},
        {"SELECT b FROM t INTERSECT ALL SELECT k FROM d", "INTERSECT ALL is not built; INTERSECT without ALL is."},
    };
    (void)state;
    RUN(cases);
}

/* The schema that from_json was narrowed to, of the first call in the plan. */
static bool find_json(const fm_expr *e, void *ctx)
{
    const fm_type **type = ctx;

    if (e->kind == FM_EXPR_CALL && fm_str_eq(e->name, FM_STR("from_json")) && !*type) *type = e->type;
    return true;
}

static bool find_json_in(const fm_plan *p, void *ctx)
{
    for (int32_t i = 0; i < p->n_exprs; i++) fm_expr_walk(p->exprs[i], find_json, ctx);
    return true;
}

static void from_json_reads_what_is_used(void **state)
{
    static const struct {
        const char *sql, *type;
    } cases[] = {
        {"SELECT d.p, d.r FROM (SELECT from_json(b, 'p INT, q STRING, r DOUBLE') AS d FROM t)", "struct<p:int,r:double>"},
        {"SELECT d.p + d.p AS x FROM (SELECT from_json(b, 'p INT, q STRING') AS d FROM t) WHERE d.q > 'a'", "struct<p:int,q:string>"},
        {"SELECT d.r, d.p FROM (SELECT from_json(b, 'p INT, q STRING, r DATE') AS d FROM t) WHERE d.r > DATE'2020-01-01'", "struct<p:int,r:date>"},
        {"SELECT d, d.p FROM (SELECT from_json(b, 'p INT, q STRING') AS d FROM t)", "struct<p:int,q:string>"},
        {"SELECT d.p, d.p FROM (SELECT from_json(b, 'p INT, q STRING', map('mode', 'FAILFAST')) AS d FROM t)", "struct<p:int,q:string>"},
        {"SELECT d.p, d.p FROM (SELECT from_json(b, 'p INT, _corrupt_record STRING') AS d FROM t)", "struct<p:int,_corrupt_record:string>"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        const fm_type *type = NULL;
        fm_strbuf text = {0};
        if (fixture_optimize(f, cases[i].sql, &plan, &err) != FM_OK) fail_msg("%s: %s", cases[i].sql, err.message);
        fm_plan_walk(plan, find_json_in, &type);
        assert_non_null(type);
        fm_type_text(type, &text);
        assert_string_equal(text.ptr, cases[i].type);
        const char *wrong = fixture_verify(f, plan, true);
        if (wrong) fail_msg("%s: %s", cases[i].sql, wrong);
        fm_strbuf_fini(&text);
        fixture_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(constants_are_folded),
        cmocka_unit_test(filters_go_down),
        cmocka_unit_test(filters_and_watermarks),
        cmocka_unit_test(joins),
        cmocka_unit_test(columns_are_pruned),
        cmocka_unit_test(projects_are_merged),
        cmocka_unit_test(aggregations_are_plain),
        cmocka_unit_test(set_operations_become_joins),
        cmocka_unit_test(from_json_reads_what_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/plan/lateness_test.c: which stateful node obeys which hint, and how late rows travel to it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"

static fixture *new_world(void)
{
    fixture *f = fixture_new();
    static const char *const six[] = {"6 hours"};
    fm_error err = FM_ERROR_INIT;

    fixture_events(f, "e", "10 seconds");
    fixture_table(f, "other_source", "at TIMESTAMP, v STRING, extra INT, k STRING", true);
    fixture_view_plan(f, "other", fixture_watermark(f, fixture_relation(f, "other_source"), "at", "1 minute"));
    fixture_table(f, "d", "k STRING, name STRING", false);
    fixture_view_plan(f, "hinted", fixture_hint(f, fixture_relation(f, "e"), "allowed_lateness", six, 1));
    assert_int_equal(fixture_view(f, "counts", "SELECT window, k, count(*) AS n FROM e GROUP BY window(ts, '5 seconds'), k", &err), FM_OK);
    return f;
}

static bool first_aggregate(const fm_plan *p, void *ctx)
{
    if (p->kind != FM_PLAN_AGGREGATE) return true;
    *(const fm_plan **)ctx = p;
    return false;
}

static const fm_plan *aggregate_of(fixture *f, const char *sql, bool optimized)
{
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    const fm_plan *agg = NULL;

    fm_status st = optimized ? fixture_optimize(f, sql, &plan, &err) : fixture_analyze(f, sql, &plan, &err);
    if (st != FM_OK) fail_msg("%s: %s", sql, err.message);
    const char *wrong = fixture_verify(f, plan, optimized);
    if (wrong) fail_msg("%s: %s", sql, wrong);
    fm_plan_walk(plan, first_aggregate, &agg);
    assert_non_null(agg);
    return agg;
}

#define COUNT "window, k, count(*) AS n FROM e GROUP BY window(ts, '5 seconds'), k"

static void hints_find_their_node(void **state)
{
    static const struct {
        const char *sql;
        int64_t allowed_us;
        bool by_event;
    } cases[] = {
        {"SELECT /*+ ALLOWED_LATENESS('10 seconds') */ " COUNT, 10000000, false},
        {"SELECT /*+ ALLOWED_LATENESS('10 seconds'), LATE_POLICY('event') */ " COUNT, 10000000, true},
        {"SELECT /*+ LATE_POLICY('window'), BROADCAST(d) */ " COUNT, 0, false},
        {"SELECT /*+ ALLOWED_LATENESS('10 seconds') */ n FROM counts", 10000000, false},
        {"SELECT window, count(*) FROM hinted GROUP BY window(ts, '5 seconds')", INT64_C(6) * 3600 * 1000000, false},
        {"SELECT /*+ ALLOWED_LATENESS('1 second') */ window, count(*) FROM hinted GROUP BY window(ts, '5 seconds')", INT64_C(6) * 3600 * 1000000, false},
        {"SELECT /*+ ALLOWED_LATENESS('1 second') */ * FROM (SELECT /*+ ALLOWED_LATENESS('2 seconds') */ " COUNT ")", 2000000, false},
        {"SELECT " COUNT, 0, false},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *f = new_world();
        const fm_plan *agg = aggregate_of(f, cases[i].sql, false);
        if (agg->lateness.allowed_us != cases[i].allowed_us || agg->lateness.by_event != cases[i].by_event) {
            fail_msg("%s: %lld %d", cases[i].sql, (long long)agg->lateness.allowed_us, agg->lateness.by_event);
        }
        fixture_free(f);
    }
}

/* Of two aggregations above each other the upper one obeys; the lower one would be another query's. */
static void only_the_nearest_obeys(void **state)
{
    fixture *f = new_world();
    const fm_plan *upper = aggregate_of(f, "SELECT /*+ ALLOWED_LATENESS('10 seconds') */ sum(n) FROM counts GROUP BY window(window, '1 minute')", false);
    const fm_plan *lower = NULL;
    (void)state;

    assert_int_equal(upper->lateness.allowed_us, 10000000);
    fm_plan_walk(upper->children[0], first_aggregate, &lower);
    assert_int_equal(lower->lateness.allowed_us, 0);
    fixture_free(f);
}

static void bad_arguments_are_refused(void **state)
{
    static const char *const hints[] = {"ALLOWED_LATENESS", "ALLOWED_LATENESS()", "ALLOWED_LATENESS('-1 second')", "ALLOWED_LATENESS('1 second', 2)",
                                        "LATE_POLICY('sometimes')", "LATE_POLICY(1)", "LATE_ROWS('json')", "LATE_ROWS('json', 'late/', 'k')", "LATE_ROWS('', 'x')"};
    (void)state;

    for (size_t i = 0; i < sizeof hints / sizeof *hints; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        fm_str sql = fm_arena_printf(fixture_arena(f), "SELECT /*+ %s */ " COUNT, hints[i]);
        assert_int_equal(fixture_analyze(f, sql.ptr, &plan, &err), FM_INVALID);
        assert_string_equal(err.condition, "FLOODMARK_HINT_ARGUMENTS");
        fixture_free(f);
    }
}

static const char *type_of(fixture *f, const fm_plan *child, int32_t id)
{
    fm_strbuf text = {0};

    for (int32_t i = 0; i < child->n_output; i++) {
        if (child->output[i].id == id) fm_type_text(child->output[i].type, &text);
    }
    fm_str copy = fm_arena_str(fixture_arena(f), fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    return copy.ptr;
}

static bool find_read(const fm_plan *p, void *ctx)
{
    if (p->kind == FM_PLAN_READ) *(const fm_plan **)ctx = p;
    return p->kind != FM_PLAN_READ;
}

static void late_rows_travel(void **state)
{
    static const struct {
        const char *sql, *row, *time;
    } cases[] = {
        {"SELECT /*+ LATE_ROWS('json', 'late/', 'compression', 'gzip') */ " COUNT,
         "struct<row:struct<ts:timestamp,k:string,v:bigint>,source:string>", "timestamp"},
        {"SELECT /*+ LATE_ROWS('json', 'late/') */ window, count(*) FROM (SELECT ts, upper FROM (SELECT ts, k AS upper FROM e WHERE v > 1)) GROUP BY window(ts, '5 seconds')",
         "struct<row:struct<ts:timestamp,k:string,v:bigint>,source:string>", "timestamp"},
        {"SELECT /*+ LATE_ROWS('json', 'late/') */ window, count(*) FROM (SELECT ts, v FROM e UNION ALL SELECT at, extra FROM other) GROUP BY window(ts, '5 seconds')",
         "struct<row:struct<ts:timestamp,k:string,v:string,at:timestamp,extra:int>,source:string>", "timestamp"},
        {"SELECT /*+ LATE_ROWS('json', 'late/') */ window, name, count(*) FROM e JOIN d ON e.k = d.k GROUP BY window(ts, '5 seconds'), name",
         "struct<row:struct<ts:timestamp,k:string,v:bigint>,source:string>", "timestamp"},
        {"SELECT /*+ LATE_ROWS('json', 'late/') */ sum(n) FROM counts GROUP BY window(window, '1 minute')",
         "struct<row:struct<window:struct<start:timestamp,end:timestamp>,k:string,n:bigint>,source:string>", "timestamp"},
        {"SELECT /*+ LATE_POLICY('event') */ window, count(*) FROM (SELECT window(ts, '5 seconds') AS window, k FROM e) GROUP BY window", "", "timestamp"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int optimized = 0; optimized < 2; optimized++) {
            fixture *f = new_world();
            const fm_plan *agg = aggregate_of(f, cases[i].sql, optimized), *read = NULL;
            const char *row = type_of(f, agg->children[0], agg->late_row_id), *time = type_of(f, agg->children[0], agg->late_time_id);
            fm_plan_walk(agg, find_read, &read);
            if (strcmp(row, cases[i].row) != 0 || strcmp(time, cases[i].time) != 0) fail_msg("%s: %s, %s", cases[i].sql, row, time);
            assert_int_equal(agg->lateness.late_format.len > 0, *cases[i].row != 0);
            bool from_source = *cases[i].row && !strstr(cases[i].row, "window");
            assert_int_equal(read->position_id != 0, from_source);
            if (from_source) assert_int_equal(read->output[read->n_output - 1].id, read->position_id);
            fixture_free(f);
        }
    }
}

/* The result does not show what travels. */
static void hidden_columns_stay_hidden(void **state)
{
    fixture *f = new_world();
    fm_error err = FM_ERROR_INIT;
    fm_plan *plan;
    (void)state;

    assert_int_equal(fixture_optimize(f, "SELECT /*+ LATE_ROWS('json', 'late/') */ * FROM (SELECT * FROM counts)", &plan, &err), FM_OK);
    assert_string_equal(fixture_schema(f, plan), "window STRUCT<start: TIMESTAMP, end: TIMESTAMP> NOT NULL, k STRING, n BIGINT NOT NULL");
    fixture_free(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hints_find_their_node),
        cmocka_unit_test(only_the_nearest_obeys),
        cmocka_unit_test(bad_arguments_are_refused),
        cmocka_unit_test(late_rows_travel),
        cmocka_unit_test(hidden_columns_stay_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/plan/streaming_check_test.c: query by output mode: what a stream may do, and with which condition it may not. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "fixture.h"
#include "plan/join_time.h"

#define LEG "_LEGACY_ERROR_TEMP_3102"
#define MODE "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION"

static fixture *new_world(void)
{
    static const char *const by_ts[] = {"ts", "k"}, *const by_k[] = {"k"};
    fixture *f = fixture_new();

    fixture_table(f, "d", "k STRING, name STRING", false);
    fixture_events(f, "l", "10 seconds");
    fixture_events(f, "r", "5 seconds");
    fixture_events(f, "raw", NULL);
    fixture_events(f, "raw2", NULL);
    fixture_view_plan(f, "once", fixture_deduplicate(f, fixture_relation(f, "l"), by_ts, 2, false));
    fixture_view_plan(f, "once_k", fixture_deduplicate(f, fixture_relation(f, "l"), by_k, 1, false));
    fixture_view_plan(f, "within", fixture_deduplicate(f, fixture_relation(f, "l"), by_k, 1, true));
    fixture_view_plan(f, "within_raw", fixture_deduplicate(f, fixture_relation(f, "raw"), by_k, 1, true));
    return f;
}

static void every_mode(void **state)
{
    static const struct {
        const char *sql;
        const char *refused[3]; /* condition in append, update, complete; NULL: allowed */
    } cases[] = {
        {"SELECT k FROM l WHERE v > 1", {NULL, NULL, MODE}},
        {"SELECT k FROM d", {"WRITE_STREAM_NOT_ALLOWED", "WRITE_STREAM_NOT_ALLOWED", "WRITE_STREAM_NOT_ALLOWED"}},
        {"SELECT k, count(*) FROM l GROUP BY k", {MODE, NULL, NULL}},
        {"SELECT count(*) FROM l", {MODE, NULL, NULL}},
        {"SELECT window, count(*) FROM l GROUP BY window(ts, '5 seconds')", {NULL, NULL, NULL}},
        {"SELECT window, count(*) FROM raw GROUP BY window(ts, '5 seconds')", {MODE, NULL, NULL}},
        {"SELECT window, count(*) FROM l GROUP BY window(ts + INTERVAL 1 SECOND, '5 seconds')", {MODE, NULL, NULL}},
        {"SELECT ts, count(*) FROM l GROUP BY ts", {NULL, NULL, NULL}},
        {"SELECT DISTINCT k FROM l", {MODE, NULL, NULL}},
        {"SELECT DISTINCT ts, k FROM l", {NULL, NULL, NULL}},
        {"SELECT count(*) FROM l GROUP BY session_window(ts, '5 seconds'), k", {NULL, MODE, NULL}},
        {"SELECT w, count(*) FROM (SELECT session_window(ts, '5 seconds') AS w, k FROM l) GROUP BY w, k", {NULL, MODE, NULL}},
        {"SELECT count(DISTINCT v) FROM l GROUP BY k", {MODE, LEG, LEG}},
        {"SELECT k FROM l UNION ALL SELECT k FROM r", {NULL, NULL, MODE}},
        {"SELECT k FROM l UNION ALL SELECT k FROM d", {LEG, LEG, MODE}},
        {"SELECT k FROM l EXCEPT SELECT k FROM d", {"UNSUPPORTED_STREAMING_OPERATOR_WITHOUT_WATERMARK", NULL, MODE}},
        {"SELECT k, ts FROM l EXCEPT SELECT k, timestamp'2026-01-01' FROM d", {NULL, NULL, MODE}},
        {"SELECT k FROM d EXCEPT SELECT k FROM l", {LEG, LEG, MODE}},
        {"SELECT k FROM l INTERSECT SELECT k FROM d", {LEG, LEG, MODE}},
        {"SELECT k FROM l LIMIT 3", {NULL, LEG, MODE}},
        {"SELECT k, count(*) FROM l GROUP BY k LIMIT 3", {MODE, LEG, NULL}},
        {"SELECT k FROM l OFFSET 3", {LEG, LEG, MODE}},
        {"SELECT k FROM l ORDER BY k", {LEG, LEG, MODE}},
        {"SELECT k, count(*) AS n FROM l GROUP BY k ORDER BY n", {MODE, LEG, NULL}},
        {"SELECT DISTINCT k FROM l ORDER BY k", {MODE, LEG, LEG}},
        {"SELECT k FROM l TABLESAMPLE (10 PERCENT)", {LEG, LEG, MODE}},
        {"SELECT row_number() OVER (ORDER BY ts) AS n FROM l", {"NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", "NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING", MODE}},
        /* stream and table */
        {"SELECT l.k FROM l JOIN d ON l.k = d.k", {NULL, NULL, MODE}},
        {"SELECT l.k FROM l LEFT JOIN d ON l.k = d.k", {NULL, NULL, MODE}},
        {"SELECT l.k FROM d LEFT JOIN l ON l.k = d.k", {LEG, LEG, MODE}},
        {"SELECT l.k FROM d RIGHT JOIN l ON l.k = d.k", {NULL, NULL, MODE}},
        {"SELECT l.k FROM l RIGHT JOIN d ON l.k = d.k", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l FULL JOIN d ON l.k = d.k", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l LEFT ANTI JOIN d ON l.k = d.k", {NULL, NULL, MODE}},
        {"SELECT d.k FROM d LEFT SEMI JOIN l ON l.k = d.k", {LEG, LEG, MODE}},
        {"SELECT d.k FROM d LEFT ANTI JOIN l ON l.k = d.k", {LEG, LEG, MODE}},
        /* two streams */
        {"SELECT l.k FROM raw l JOIN raw2 r ON l.k = r.k", {NULL, NULL, MODE}},
        {"SELECT l.k FROM raw l LEFT JOIN raw2 r ON l.k = r.k", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN r ON l.k = r.k", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND l.ts = r.ts", {NULL, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS", {NULL, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND r.ts >= l.ts", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND r.ts <= l.ts + INTERVAL 5 SECONDS", {NULL, LEG, MODE}},
        {"SELECT l.k FROM l RIGHT JOIN r ON l.k = r.k AND r.ts >= l.ts", {NULL, LEG, MODE}},
        {"SELECT l.k FROM l FULL JOIN r ON l.k = r.k AND r.ts >= l.ts", {NULL, LEG, MODE}},
        {"SELECT l.k FROM l LEFT SEMI JOIN r ON l.k = r.k AND r.ts <= l.ts", {NULL, LEG, MODE}},
        {"SELECT l.k FROM l LEFT ANTI JOIN r ON l.k = r.k AND l.ts = r.ts", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN raw r ON l.k = r.k AND r.ts <= l.ts", {LEG, LEG, MODE}},
        {"SELECT l.k FROM l LEFT JOIN r ON l.k = r.k AND r.ts <= l.ts + INTERVAL 1 MONTH", {LEG, LEG, MODE}},
        /* duplicates */
        {"SELECT * FROM once", {NULL, NULL, MODE}},
        {"SELECT * FROM within", {NULL, NULL, MODE}},
        {"SELECT * FROM within_raw", {LEG, LEG, MODE}},
        /* chains */
        {"SELECT n, count(*) FROM (SELECT window, k, count(*) AS n FROM l GROUP BY window(ts, '5 seconds'), k) GROUP BY n", {MODE, LEG, LEG}},
        {"SELECT count(*) FROM (SELECT window, count(*) AS n FROM l GROUP BY window(ts, '5 seconds')) GROUP BY window(window, '10 seconds')", {NULL, LEG, LEG}},
        {"SELECT window, count(*) FROM once GROUP BY window(ts, '5 seconds')", {NULL, NULL, NULL}},
        {"SELECT a.k FROM (SELECT k, count(*) AS n FROM l GROUP BY ts, k) a JOIN raw b ON a.k = b.k", {NULL, LEG, LEG}},
    };
    int failed = 0;
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        for (int m = 0; m < 3; m++) {
            fixture *f = new_world();
            fm_error err = FM_ERROR_INIT;
            fm_plan *plan;
            if (fixture_analyze(f, cases[i].sql, &plan, &err) != FM_OK) {
                printf("%s: %s: %s\n", cases[i].sql, err.condition, err.message);
                failed++;
                fixture_free(f);
                break;
            }
            fm_status st = fm_streaming_check(plan, (fm_output_mode)m, &err);
            const char *want = cases[i].refused[m] ? cases[i].refused[m] : "", *got = st == FM_OK ? "" : err.condition;
            if (strcmp(want, got) != 0) {
                printf("%s\n  %s: wanted '%s', got '%s' %s\n", cases[i].sql, fm_output_mode_name((fm_output_mode)m), want, got, st ? err.message : "");
                failed++;
            }
            fixture_free(f);
        }
    }
    assert_int_equal(failed, 0);
}

static void what_a_batch_shows(void **state)
{
    static const struct {
        const char *sql;
        int64_t watermark_us;
        const char *refused;
    } cases[] = {
        {"SELECT l.k FROM l JOIN r ON l.v < r.v", 0, "_LEGACY_ERROR_TEMP_1181"},
        {"SELECT l.k FROM l JOIN d ON l.k < d.k", 0, NULL},
        {"SELECT count(*) FROM l GROUP BY session_window(ts, '5 seconds')", 0, "_LEGACY_ERROR_TEMP_3068"},
        {"SELECT DISTINCT l.ts, r.ts FROM l JOIN r ON l.k = r.k", 0, "MULTIPLE_EVENT_TIME_COLUMNS"},
        {"SELECT l.ts AS a, l.ts AS b FROM l JOIN r ON l.k = r.k", 0, NULL},
        {"SELECT ts FROM l WATERMARK ts DELAY OF INTERVAL 1 SECOND", 0, NULL},
        {"SELECT ts FROM l WATERMARK ts DELAY OF INTERVAL 1 SECOND", 1, "_LEGACY_ERROR_TEMP_3076"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        if (fixture_analyze(f, cases[i].sql, &plan, &err) != FM_OK) fail_msg("%s: %s", cases[i].sql, err.message);
        fm_status st = fm_streaming_check_batch(plan, FM_MODE_APPEND, cases[i].watermark_us, &err);
        if (!cases[i].refused != (st == FM_OK)) fail_msg("%s: %s", cases[i].sql, st ? err.message : "not refused");
        if (st != FM_OK) assert_string_equal(err.condition, cases[i].refused);
        fixture_free(f);
    }
}

/* Rule: semantics 5.2. */
static void join_conditions_bound_state(void **state)
{
    static const struct {
        const char *on;
        int64_t left, right; /* offset_ms; INT64_MIN: not bounded */
    } cases[] = {
        {"l.ts >= r.ts AND l.ts <= r.ts + INTERVAL 10 SECONDS", -1, -10001},
        {"l.ts > r.ts AND l.ts < r.ts + INTERVAL 10 SECONDS", 0, -10000},
        {"r.ts BETWEEN l.ts - INTERVAL 5 SECONDS AND l.ts + INTERVAL 5 SECONDS", -5001, -5001},
        {"r.ts - l.ts < INTERVAL 3 SECONDS", -3000, INT64_MIN},
        {"l.ts > r.ts AND l.ts > r.ts + INTERVAL 1 SECOND", 0, INT64_MIN},
        {"l.ts = r.ts", INT64_MIN, INT64_MIN},
        {"l.v < r.v", INT64_MIN, INT64_MIN},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fixture *f = new_world();
        fm_error err = FM_ERROR_INIT;
        fm_plan *plan;
        fm_str sql = fm_arena_printf(fixture_arena(f), "SELECT l.k FROM l JOIN r ON l.k = r.k AND %s", cases[i].on);
        if (fixture_analyze(f, sql.ptr, &plan, &err) != FM_OK) fail_msg("%s: %s", cases[i].on, err.message);
        const fm_plan *join = plan->children[0];
        for (int side = 0; side < 2; side++) {
            int32_t id;
            int64_t offset = 0, want = side ? cases[i].right : cases[i].left;
            bool bounded = fm_join_state_offset(join, side, &id, &offset);
            if (bounded != (want != INT64_MIN) || (bounded && offset != want)) {
                fail_msg("%s, side %d: %s %lld", cases[i].on, side, bounded ? "bounded by" : "not bounded", (long long)offset);
            }
        }
        fixture_free(f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_mode),
        cmocka_unit_test(what_a_batch_shows),
        cmocka_unit_test(join_conditions_bound_state),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* tests/plan/case_plans_test.c: every conformance case's query must analyze to the columns that were recorded, pass or
 * fail the streaming check as recorded, and optimize to a plan that is whole.
 *
 * The cases' folder is the first argument, or where this file was built from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "format/json.h"

static const char *const folder = FM_CASES_DIR;

static fm_str text_of(const fm_json *object, const char *key)
{
    const fm_json *v = fm_json_get(object, key);
    return v && v->kind == FM_JSON_STRING ? v->text : FM_STR("");
}

static const char *c_str(fixture *f, fm_str s) { return fm_arena_str(fixture_arena(f), s).ptr; }

static fm_plan *with_watermark(fixture *f, fm_plan *plan, const fm_json *of)
{
    const fm_json *w = fm_json_get(of, "watermark");

    if (!w || w->kind != FM_JSON_OBJECT) return plan;
    return fixture_watermark(f, plan, c_str(f, text_of(w, "column")), c_str(f, text_of(w, "delay")));
}

static void add_streams(fixture *f, const fm_json *streams)
{
    for (int i = 0; streams && i < streams->n; i++) {
        const char *name = c_str(f, streams->keys[i]);
        char source[128];
        snprintf(source, sizeof source, "%s__source", name);
        fixture_table(f, source, c_str(f, text_of(&streams->items[i], "schema")), true);
        fixture_view_plan(f, name, with_watermark(f, fixture_relation(f, source), &streams->items[i]));
    }
}

static fm_status add_view(fixture *f, const fm_json *v, fm_error *err)
{
    const fm_json *columns = fm_json_get(v, "dropDuplicates"), *within = fm_json_get(v, "withinWatermark");
    const char *names[16];
    fm_plan *plan;

    if (columns && columns->kind == FM_JSON_ARRAY) {
        for (int i = 0; i < columns->n; i++) names[i] = c_str(f, columns->items[i].text);
        plan = fixture_deduplicate(f, fixture_relation(f, c_str(f, text_of(v, "from"))), names, columns->n,
                                   within && within->boolean);
    } else {
        FM_TRY(fixture_parse(f, c_str(f, text_of(v, "sql")), &plan, err));
    }
    fixture_view_plan(f, c_str(f, text_of(v, "name")), with_watermark(f, plan, v));
    return FM_OK;
}

/* The column names of the first recorded row; NULL when none was recorded. */
static const fm_json *recorded_row(const fm_json *c)
{
    const fm_json *expect = fm_json_get(c, "expect");

    for (int i = 0; expect && expect->kind == FM_JSON_ARRAY && i < expect->n; i++) {
        const fm_json *rows = fm_json_get(&expect->items[i], "rows");
        if (rows && rows->n) return &rows->items[0];
    }
    return NULL;
}

static bool columns_match(const fm_plan *plan, const fm_json *row, char *why, size_t size)
{
    int k = 0;

    for (int32_t i = 0; i < plan->n_output; i++) {
        if (plan->output[i].hidden) continue;
        if (k >= row->n || !fm_str_eq(row->keys[k], plan->output[i].name)) {
            snprintf(why, size, "column %d is %.*s, recorded is %.*s", k, FM_STR_ARG(plan->output[i].name),
                     FM_STR_ARG(k < row->n ? row->keys[k] : FM_STR("nothing")));
            return false;
        }
        k++;
    }
    if (k != row->n) snprintf(why, size, "%d columns, recorded are %d", k, row->n);
    return k == row->n;
}

typedef struct outcome {
    const char *at; /* "analysis", "start", "run" or NULL */
    fm_error err;
} outcome;

static fm_status plan_case(fixture *f, const fm_json *c, outcome *o, char *why, size_t size)
{
    const fm_json *tables = fm_json_get(c, "tables"), *views = fm_json_get(c, "views"), *row = recorded_row(c);
    const fm_json *conf = fm_json_get(c, "conf"), *ansi = conf ? fm_json_get(conf, "spark.sql.ansi.enabled") : NULL;
    fm_output_mode mode;
    fm_plan *plan, *optimized;

    if (ansi && fm_str_eq_ci(ansi->text, FM_STR("false"))) fixture_conf(f)->ansi = false;
    o->at = "analysis";
    add_streams(f, fm_json_get(c, "streams"));
    for (int i = 0; tables && tables->kind == FM_JSON_OBJECT && i < tables->n; i++) {
        fixture_table(f, c_str(f, tables->keys[i]), c_str(f, text_of(&tables->items[i], "schema")), false);
    }
    for (int i = 0; views && views->kind == FM_JSON_ARRAY && i < views->n; i++) {
        FM_TRY(add_view(f, &views->items[i], &o->err));
    }
    FM_TRY(fixture_analyze(f, c_str(f, text_of(c, "query")), &plan, &o->err));
    o->at = "start";
    const char *wrong = fixture_verify(f, plan, false);
    if (!wrong && row && !columns_match(plan, row, why, size)) return FM_OK;
    FM_TRY(fm_output_mode_parse(text_of(c, "outputMode"), &mode, &o->err));
    FM_TRY(fm_streaming_check(plan, mode, &o->err));
    FM_TRY(fm_optimize(fixture_arena(f), fixture_conf(f), plan, &optimized, &o->err));
    if (!wrong) wrong = fixture_verify(f, optimized, true);
    if (wrong) snprintf(why, size, "%s", wrong);
    else if (row) columns_match(optimized, row, why, size);
    if (getenv("FM_SHOW_PLANS")) printf("%.*s\n%s\n", FM_STR_ARG(text_of(c, "query")), fixture_text(f, optimized));
    o->at = "run";
    FM_TRY(fm_streaming_check_batch(optimized, mode, 0, &o->err));
    o->at = NULL;
    return FM_OK;
}

/* Failures of the first batch that its plan shows; others are for those who run it. */
static bool is_plan_failure(const fm_json *want)
{
    fm_str condition = text_of(want, "condition");

    return !fm_str_eq(text_of(want, "at"), FM_STR("run")) || fm_str_eq(condition, FM_STR("_LEGACY_ERROR_TEMP_1181")) ||
           fm_str_eq(condition, FM_STR("_LEGACY_ERROR_TEMP_3068")) ||
           fm_str_eq(condition, FM_STR("MULTIPLE_EVENT_TIME_COLUMNS"));
}

static void judge(const fm_json *c, const outcome *o, char *why, size_t size)
{
    const fm_json *want = fm_json_get(c, "expectError");
    bool expected = want && want->kind == FM_JSON_OBJECT && is_plan_failure(want);
    fm_str condition = expected ? text_of(want, "condition") : FM_STR("");

    if (*why) return;
    if (!expected && o->at) {
        snprintf(why, size, "refused at %s: %s: %s", o->at, o->err.condition, o->err.message);
    } else if (expected && !o->at) {
        snprintf(why, size, "not refused, expected %.*s", FM_STR_ARG(condition));
    } else if (expected && !fm_str_eq(text_of(want, "at"), fm_str_c(o->at)) &&
               !(fm_str_eq(text_of(want, "at"), FM_STR("start")) && strcmp(o->at, "analysis") == 0)) {
        snprintf(why, size, "refused at %s, expected at %.*s", o->at, FM_STR_ARG(text_of(want, "at")));
    } else if (expected && condition.len && !fm_str_eq(condition, fm_str_c(o->err.condition))) {
        snprintf(why, size, "refused with %s, expected %.*s (%s)", o->err.condition, FM_STR_ARG(condition), o->err.message);
    }
}

static bool run_case(const char *path)
{
    fixture *f = fixture_new();
    FILE *file = fopen(path, "rb");
    fm_error err = FM_ERROR_INIT;
    outcome o = {0};
    char why[4096] = "", *text;
    const fm_json *c;

    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    text = fm_arena_alloc(fixture_arena(f), (size_t)size + 64, 1);
    assert_int_equal(fread(text, 1, (size_t)size, file), size);
    fclose(file);
    assert_int_equal(fm_json_read(fixture_arena(f), (fm_str){text, (size_t)size}, &c, &err), FM_OK);
    fm_status st = plan_case(f, c, &o, why, sizeof why);
    if (st == FM_OK) o.at = NULL;
    judge(c, &o, why, sizeof why);
    if (*why && strcmp(o.err.condition, "UNRESOLVED_ROUTINE") == 0) {
        printf("%s: skipped, a function is not there yet: %s\n", path, o.err.message);
        *why = 0;
    }
    if (*why) printf("%s: %s\n", path, why);
    fixture_free(f);
    return !*why;
}

static void every_case_has_its_plan(void **state)
{
    DIR *areas = opendir(folder);
    struct dirent *area, *entry;
    int cases = 0, failed = 0;
    char path[1024];

    (void)state;
    assert_non_null(areas);
    while ((area = readdir(areas))) {
        snprintf(path, sizeof path, "%s/%s", folder, area->d_name);
        DIR *files = area->d_name[0] == '.' ? NULL : opendir(path);
        while (files && (entry = readdir(files))) {
            size_t len = strlen(entry->d_name);
            if (len < 5 || strcmp(entry->d_name + len - 5, ".json") != 0) continue;
            snprintf(path, sizeof path, "%s/%s/%s", folder, area->d_name, entry->d_name);
            cases++;
            failed += !run_case(path);
        }
        if (files) closedir(files);
    }
    closedir(areas);
    printf("%d cases, %d failed\n", cases, failed);
    assert_true(cases > 100);
    assert_int_equal(failed, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_case_has_its_plan)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

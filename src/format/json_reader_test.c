/* format/json_reader_test.c: lines in, rows out, written as text: the rules of Spark's JSON reader.
 */
#include "format/json_reader.h"

#include "expr/cast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

/* Rows as "a|b|null" lines. */
typedef struct collected {
    fm_strbuf text;
    int64_t first_line, last_line;
} collected;

static fm_status collect(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    collected *c = ctx;

    assert_int_equal(fm_batch_verify(batch, err), FM_OK);
    for (int32_t row = 0; row < batch->rows; row++) {
        for (int32_t i = 0; i < batch->schema->n_fields; i++) {
            if (i) fm_strbuf_add_char(&c->text, '|');
            if (fm_vec_is_null(&batch->columns[i], row))
                fm_strbuf_add_c(&c->text, "null");
            else
                fm_value_text(&batch->columns[i], row, fm_zone_utc(), &c->text);
        }
        fm_strbuf_add_char(&c->text, '\n');
        if (lines) c->last_line = lines[row];
        if (lines && !c->first_line) c->first_line = lines[row];
    }
    return FM_OK;
}

typedef struct options_text {
    const char *key, *value;
} options_text;

typedef struct run {
    collected rows;
    fm_read_counts counts;
    fm_status st;
    fm_error err;
} run;

/* options: pairs, ended by a NULL key; may be NULL. */
static void read_all(const char *ddl, const options_text *pairs, fm_str text, run *out)
{
    fm_arena *arena = fm_arena_new(0), *batches = fm_arena_new(0);
    fm_options options = {0};
    const fm_type *schema = NULL;
    fm_reader *reader = NULL;
    int32_t wanted[16];

    *out = (run){.err = FM_ERROR_INIT};
    for (const options_text *p = pairs; p && p->key; p++)
        assert_true(fm_options_set(arena, &options, fm_str_c(p->key), fm_str_c(p->value)));
    assert_int_equal(fm_type_parse_ddl(arena, fm_str_c(ddl), &schema, &out->err), FM_OK);
    for (int32_t i = 0; i < schema->n_fields; i++) wanted[i] = i;
    fm_read_spec spec = {.schema = schema,
                         .wanted = wanted,
                         .n_wanted = schema->n_fields,
                         .options = &options,
                         .zone = fm_zone_utc(),
                         .corrupt_column = FM_STR("_corrupt_record")};
    out->st = fm_json_reader_new(arena, &spec, &reader, &out->err);
    if (out->st == FM_OK) {
        char *bytes = calloc(1, text.len + 64);
        memcpy(bytes, text.ptr, text.len);
        fm_block block = {
            .bytes = bytes, .len = text.len, .file = FM_STR("in.json"), .first_line = 1};
        fm_batch_out push = {&out->rows, collect};
        out->st = fm_json_reader_block(reader, &block, batches, &push, &out->counts, &out->err);
        fm_json_reader_free(reader);
        free(bytes);
    }
    fm_arena_free(arena);
    fm_arena_free(batches);
}

static void expect_rows(const char *ddl, const options_text *pairs, const char *text,
                        const char *rows, int64_t bad)
{
    run r;

    read_all(ddl, pairs, fm_str_c(text), &r);
    if (r.st != FM_OK) fail_msg("%s", r.err.message);
    assert_string_equal(r.rows.text.ptr ? r.rows.text.ptr : "", rows);
    assert_int_equal(r.counts.bad, bad);
    fm_strbuf_fini(&r.rows.text);
}

static void test_permissive(void **state)
{
    (void)state;
    expect_rows("k STRING, v BIGINT", NULL,
                "{\"k\":\"a\",\"v\":1}\n{bad\n{\"k\":\"b\",\"v\":2\n{\"k\":\"c\",\"v\":3}}\n[]"
                "\n\"text\"\n42\nnull\n"
                "{\"k\":\"d\",\"v\":4} trailing\n\n   \n{\"k\":\"e\",\"v\":5}",
                "a|1\nnull|null\nnull|null\nc|3\nnull|null\nnull|null\nnull|null\nd|4\ne|5\n", 5);
    expect_rows("k STRING, v BIGINT", NULL,
                "[{\"k\":\"a\",\"v\":1},{\"k\":\"b\",\"v\":2}]\n[{\"k\":\"d\"},5]\n"
                "[{\"k\":\"e\",\"v\":\"x\"},{\"k\":\"f\"}]",
                "a|1\nb|2\nnull|null\ne|null\nf|null\n", 2);
    /* A field that comes twice: the last good value. Names are compared exactly. */
    expect_rows("a INT, l ARRAY<INT>", NULL,
                "{\"a\":1,\"a\":2}\n{\"a\":1,\"a\":\"x\",\"A\":5}\n{\"l\":[1],\"l\":[2,3]}\n{\"l\":"
                "[1],\"l\":[\"q\"]}\n"
                "{\"l\":[1],\"l\":null}",
                "2|null\n1|null\nnull|[2, 3]\nnull|[1]\nnull|null\n", 2);
    /* \r alone ends a line, a BOM before a record is passed. */
    expect_rows("a INT", NULL, "\xEF\xBB\xBF{\"a\":1}\r{\"a\":2}\r\n{\"a\":3}", "1\n2\n3\n", 0);
}

static void test_corrupt_column(void **state)
{
    static const options_text named[] = {{"columnNameOfCorruptRecord", "_bad"}, {NULL, NULL}};
    static const options_text drop[] = {{"mode", "dropMalformed"}, {NULL, NULL}};

    (void)state;
    expect_rows("k STRING, v BIGINT, _bad STRING", named,
                "{\"k\":\"a\",\"v\":1}\n{bad\n{\"k\":\"b\",\"v\":\"x\"}\n{\"k\":\"c\",\"v\":1.5,\"_"
                "bad\":\"q\"}",
                "a|1|null\nnull|null|{bad\nb|null|{\"k\":\"b\",\"v\":\"x\"}\n"
                "c|null|{\"k\":\"c\",\"v\":1.5,\"_bad\":\"q\"}\n",
                3);
    expect_rows("k STRING, v BIGINT, l ARRAY<INT>", drop,
                "{\"k\":\"a\",\"v\":1}\n{bad\n{\"k\":\"b\",\"v\":\"x\",\"l\":[1]}\n{\"k\":\"c\","
                "\"v\":3,\"l\":[2]}",
                "a|1|null\nc|3|[2]\n", 2);
}

static void test_fail_fast(void **state)
{
    static const options_text fast[] = {{"mode", "FAILFAST"}, {NULL, NULL}};
    run r;

    (void)state;
    read_all("k STRING, v BIGINT", fast, FM_STR("{\"k\":\"b\",\"v\":2}\n{bad\n"), &r);
    assert_int_equal(r.st, FM_INVALID);
    assert_string_equal(r.err.condition, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION");
    assert_non_null(strstr(r.err.message, "in.json, line 2, byte 16"));
    fm_strbuf_fini(&r.rows.text);
    read_all("v DOUBLE", fast, FM_STR("{\"v\":\"1.5\"}"), &r);
    assert_string_equal(r.err.condition,
                        "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_STRING_AS_DATATYPE");
    fm_strbuf_fini(&r.rows.text);
}

static void test_types(void **state)
{
    (void)state;
    expect_rows(
        "s STRING, i INT, d DOUBLE, b BOOLEAN", NULL,
        "{\"s\":1,\"i\":\"2\",\"d\":\"3.5\",\"b\":\"true\"}\n{\"s\":1.50,\"i\":2.0,\"d\":3,\"b\":"
        "true}\n"
        "{\"s\":true,\"i\":true,\"d\":true,\"b\":1}\n{\"s\":{\"x\":[1, "
        "2]},\"i\":null,\"d\":{},\"b\":null}\n"
        "{\"s\":[1,\"a\"],\"i\":[1],\"d\":[],\"b\":\"no\"}\n{\"s\":\"ok\",\"i\":7,\"d\":1e3,\"b\":"
        "false}",
        "1|null|null|null\n1.50|null|3.0|true\ntrue|null|null|null\n{\"x\":[1, 2]}|null|null|null\n"
        "[1,\"a\"]|null|null|null\nok|7|1000.0|false\n",
        5);
    expect_rows("i8 TINYINT, i32 INT, i64 BIGINT", NULL,
                "{\"i8\":127,\"i32\":2147483647,\"i64\":9223372036854775807}\n{\"i8\":128,\"i32\":"
                "1,\"i64\":1}\n"
                "{\"i8\":1,\"i32\":2147483648,\"i64\":2}\n{\"i8\":2,\"i32\":2,\"i64\":"
                "9223372036854775808}\n"
                "{\"i8\":-128,\"i32\":-2147483648,\"i64\":-9223372036854775808}\n{\"i8\":3,\"i32\":"
                "1e2,\"i64\":1E1}\n"
                "{\"i8\":-0,\"i32\":007,\"i64\":3}",
                "127|2147483647|9223372036854775807\n-128|1|1\n1|null|2\n2|2|null\n"
                "-128|-2147483648|-9223372036854775808\n3|null|null\nnull|null|null\n",
                4);
    expect_rows("d DOUBLE", NULL,
                "{\"d\":NaN}\n{\"d\":\"NaN\"}\n{\"d\":\"Infinity\"}\n{\"d\":-Infinity}\n{\"d\":\"-"
                "INF\"}\n{\"d\":1e400}\n"
                "{\"d\":-0.0}\n{\"d\":4.9e-324}\n{\"d\":0.1}\n{\"d\":\"0.1\"}\n{\"d\":"
                "9007199254740993}\n{\"d\":+INF}",
                "NaN\nNaN\nInfinity\n-Infinity\n-Infinity\nInfinity\n-0.0\n4.9E-324\n0.1\nnull\n9."
                "007199254740992E15\n"
                "Infinity\n",
                1);
    expect_rows(
        "d DECIMAL(5,2), b BINARY, f FLOAT", NULL,
        "{\"d\":1.505,\"b\":\"aGk=\",\"f\":0.1}\n{\"d\":\"1,0.5\",\"b\":\"aGk\",\"f\":16777217}\n{"
        "\"d\":1e3}\n"
        "{\"d\":\" 1\"}\n{\"d\":-999.99,\"b\":\"\"}",
        "1.51|hi|0.1\n10.50|null|1.6777216E7\nnull|null|null\nnull|null|null\n-999.99||null\n", 3);
}

static void test_nested(void **state)
{
    (void)state;
    expect_rows(
        "st STRUCT<a: INT, b: ARRAY<STRUCT<c: STRING>>>, m MAP<STRING, INT>", NULL,
        "{\"st\":{\"a\":1,\"b\":[{\"c\":\"x\"},null,{}]},\"m\":{\"p\":1,\"q\":null}}\n"
        "{\"st\":{\"a\":\"wrong\",\"b\":[{\"c\":\"y\"}]},\"m\":{\"p\":\"wrong\"}}\n{\"st\":null,"
        "\"m\":{}}\n"
        "{\"st\":[],\"m\":[]}\n{\"st\":{\"b\":\"wrong\"},\"m\":null}",
        "{1, [{x}, null, {null}]}|{p -> 1, q -> null}\n{null, [{y}]}|null\nnull|{}\nnull|null\n"
        "{null, null}|null\n",
        3);
    /* A failure of the text within a field that is wanted ends there with what was read; elsewhere
     * it takes the whole record. */
    expect_rows("k STRING, st STRUCT<a: INT>, v INT", NULL,
                "{\"k\":\"a\",\"st\":{\"a\":tru},\"v\":1}\n{\"k\":\"a\",\"v\":tru}\n{\"k\":\"a\","
                "\"x\":{\"a\":tru},\"v\":1}",
                "a|null|null\nnull|null|null\nnull|null|null\n", 3);
}

static void test_times(void **state)
{
    static const options_text format[] = {
        {"timestampFormat", "dd/MM/yyyy HH:mm"}, {"timeZone", "+01:00"}, {NULL, NULL}};

    (void)state;
    expect_rows(
        "ts TIMESTAMP, n TIMESTAMP_NTZ, d DATE", NULL,
        "{\"ts\":\"2026-01-01T10:00:00.123Z\",\"n\":\"2026-01-01T10:00:00.5\",\"d\":\"2026-01-01\"}"
        "\n"
        "{\"ts\":\"2026-01-01 10:00:00+05:30\",\"n\":\"2026-01-01 10:00:00Z\",\"d\":\"2026-1-2\"}\n"
        "{\"ts\":1767261600,\"n\":\"2026-01-01 10:00 +01:00\",\"d\":\"17\"}\n"
        "{\"ts\":1767261600.5,\"n\":\"2026-01-01\",\"d\":17}\n"
        "{\"ts\":\"2026-02-30T00:00:00Z\",\"d\":\"\"}\n{\"ts\":\" 2026-01-01T10:00:00Z \"}\n"
        "{\"ts\":\"2026-01-01T10:00:00GMT+01:00\"}",
        "2026-01-01 10:00:00.123|2026-01-01 10:00:00.5|2026-01-01\n2026-01-01 "
        "04:30:00|null|2026-01-02\n"
        "2026-01-01 10:00:00|null|1970-01-18\nnull|2026-01-01 00:00:00|null\nnull|null|null\n"
        "2026-01-01 10:00:00|null|null\n2026-01-01 09:00:00|null|null\n",
        4);
    expect_rows("ts TIMESTAMP", format,
                "{\"ts\":\"31/12/2025 23:59\"}\n{\"ts\":\"2025-12-31T23:59:00Z\"}",
                "2025-12-31 22:59:00\nnull\n", 1);
}

static void test_escapes(void **state)
{
    (void)state;
    expect_rows(
        "s STRING", NULL,
        "{\"s\":\"a\\u00e9\\ud83d\\ude00\"}\n{\"s\":\"\\\"\\\\\\/"
        "\\b\\f\\n\\r\\t\"}\n{'s':'single'}\n{s:\"bare\"}\n"
        "{\"s\":\"\\ud800x\"}\n{\"s\":\"a\tb\"}\n{\"s\":\"it\\'s\"}\n{\"s\":\"\xff\"}\n{"
        "\"\\u0073\":\"named\"}",
        "a\xc3\xa9\xf0\x9f\x98\x80\n\"\\/\b\f\n\r\t\nsingle\nnull\n?x\nnull\nit's\nnull\nnamed\n",
        3);
}

static void test_multi_line(void **state)
{
    static const options_text multi[] = {{"multiLine", "true"}, {NULL, NULL}};
    fm_strbuf text = {0};
    run r;

    (void)state;
    expect_rows("a INT", multi, "[\n {\"a\":1},\n {\"a\":2}\n]\n", "1\n2\n", 0);
    /* More rows than a batch holds. */
    fm_strbuf_add_c(&text, "[{\"a\":0}");
    for (int i = 1; i < 5000; i++) fm_strbuf_printf(&text, ",{\"a\":%d}", i);
    fm_strbuf_add_c(&text, "]");
    read_all("a INT", multi, fm_strbuf_str(&text), &r);
    assert_int_equal(r.st, FM_OK);
    assert_int_equal(r.counts.rows, 5000);
    fm_strbuf_fini(&r.rows.text);
    fm_strbuf_clear(&text);
    for (int i = 0; i < 5000; i++) fm_strbuf_printf(&text, "{\"a\":%d}\n", i);
    read_all("a INT", NULL, fm_strbuf_str(&text), &r);
    assert_int_equal(r.counts.rows, 5000);
    assert_int_equal(r.rows.first_line, 1);
    assert_int_equal(r.rows.last_line, 5000);
    fm_strbuf_fini(&r.rows.text);
    fm_strbuf_fini(&text);
}

static void test_depth(void **state)
{
    fm_strbuf text = {0};

    (void)state;
    fm_strbuf_add_c(&text, "{\"x\":");
    for (int i = 0; i < 2000; i++) fm_strbuf_add_c(&text, "[");
    fm_strbuf_add_c(&text, "\n{\"a\":1}");
    expect_rows("a INT", NULL, text.ptr, "null\n1\n", 1);
    fm_strbuf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_permissive), cmocka_unit_test(test_corrupt_column),
        cmocka_unit_test(test_fail_fast),  cmocka_unit_test(test_types),
        cmocka_unit_test(test_nested),     cmocka_unit_test(test_times),
        cmocka_unit_test(test_escapes),    cmocka_unit_test(test_multi_line),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* expr/cast_test.c: CAST from every type to every other, ANSI, not ANSI, TRY; and how values are named. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "column/builder.h"
#include "expr/cast.h"
#include "expr/test_eval.h"

#define CAST(x, type) "(cast " x " \"" type "\")"
#define TRY(x, type) "(try_cast " x " \"" type "\")"

static const fm_test_case everywhere[] = {
    /* to STRING */
    {CAST("1", "STRING"), "1"},
    {CAST("-128Y", "STRING"), "-128"},
    {CAST("-9223372036854775808L", "STRING"), "-9223372036854775808"},
    {CAST("true", "STRING"), "true"},
    {CAST("1.50", "STRING"), "1.50"},
    {CAST("-0.01", "STRING"), "-0.01"},
    {CAST("1D", "STRING"), "1.0"},
    {CAST("10000000D", "STRING"), "1.0E7"},
    {CAST("9999999D", "STRING"), "9999999.0"},
    {CAST("0.001D", "STRING"), "0.001"},
    {CAST("0.0001D", "STRING"), "1.0E-4"},
    {CAST("123456789.125D", "STRING"), "1.23456789125E8"},
    {CAST("-0.0D", "STRING"), "-0.0"},
    {CAST("0.1F", "STRING"), "0.1"},
    {CAST("16777216F", "STRING"), "1.6777216E7"},
    {CAST("10000000000F", "STRING"), "1.0E10"},
    {CAST("null", "STRING"), "NULL"},
    {CAST(CAST("'a'", "BINARY"), "STRING"), "a"},
    {CAST(CAST("'2024-02-29'", "DATE"), "STRING"), "2024-02-29"},
    {CAST(CAST("'0099-01-01'", "DATE"), "STRING"), "0099-01-01"},
    {CAST(CAST("'10000-01-01'", "DATE"), "STRING"), "+10000-01-01"},
    {CAST(CAST("'-0001-01-01'", "DATE"), "STRING"), "-0001-01-01"},
    {CAST(CAST("'2024-02-29 1:2:3.120000'", "TIMESTAMP"), "STRING"), "2024-02-29 01:02:03.12"},
    {CAST(CAST("'2024-02-29 1:2:3.1234567'", "TIMESTAMP_NTZ"), "STRING"), "2024-02-29 01:02:03.123456"},
    {CAST(CAST("'1969-12-31T23:59:59.999999Z'", "TIMESTAMP"), "STRING"), "1969-12-31 23:59:59.999999"},
    {CAST(CAST("'1-2'", "INTERVAL YEAR TO MONTH"), "STRING"), "INTERVAL '1-2' YEAR TO MONTH"},
    {CAST(CAST("'-14'", "INTERVAL MONTH"), "STRING"), "INTERVAL '-14' MONTH"},
    {CAST(CAST("'1 2:3:4.5'", "INTERVAL DAY TO SECOND"), "STRING"), "INTERVAL '1 02:03:04.5' DAY TO SECOND"},
    {CAST(CAST("'-3.25'", "INTERVAL SECOND"), "STRING"), "INTERVAL '-03.25' SECOND"},
    {CAST(CAST("'5:06'", "INTERVAL HOUR TO MINUTE"), "STRING"), "INTERVAL '05:06' HOUR TO MINUTE"},
    /* from STRING */
    {CAST("' 12 '", "INT"), "12"},
    {CAST("'+5'", "BIGINT"), "5"},
    {CAST("'-128'", "TINYINT"), "-128"},
    {CAST("'1e3'", "DOUBLE"), "1000.0"},
    {CAST("' 1.5d '", "DOUBLE"), "1.5"},
    {CAST("'inf'", "DOUBLE"), "Infinity"},
    {CAST("'-Infinity'", "FLOAT"), "-Infinity"},
    {CAST("'NaN'", "FLOAT"), "NaN"},
    {CAST("'3.4028236e38'", "FLOAT"), "Infinity"},
    {CAST("'0.1'", "FLOAT"), "0.1"},
    {CAST("'1.005'", "DECIMAL(5,2)"), "1.01"},
    {CAST("'-1.005'", "DECIMAL(5,2)"), "-1.01"},
    {CAST("'1e2'", "DECIMAL(5,2)"), "100.00"},
    {CAST("'.5'", "DECIMAL(5,0)"), "1"},
    {CAST("'YES'", "BOOLEAN"), "true"},
    {CAST("' f '", "BOOLEAN"), "false"},
    {CAST("'2024'", "DATE"), "2024-01-01"},
    {CAST("'2024-2'", "DATE"), "2024-02-01"},
    {CAST("'2024-2-3T'", "DATE"), "2024-02-03"},
    {CAST("'2024-2-3 anything'", "DATE"), "2024-02-03"},
    {CAST("'2024-02-29 12'", "TIMESTAMP"), "2024-02-29 12:00:00"},
    {CAST("'2024-02-29 1:2'", "TIMESTAMP"), "2024-02-29 01:02:00"},
    {CAST("'2024-02-29T01:02:03+01:00'", "TIMESTAMP"), "2024-02-29 00:02:03"},
    {CAST("'2024-02-29 01:02:03.5 Europe/Berlin'", "TIMESTAMP"), "2024-02-29 00:02:03.5"},
    {CAST("'2024-02-29 01:02:03 GMT+2'", "TIMESTAMP"), "2024-02-28 23:02:03"},
    {CAST("'2024'", "TIMESTAMP"), "2024-01-01 00:00:00"},
    {CAST("'2024-02-29 01:02:03Z'", "TIMESTAMP_NTZ"), "2024-02-29 01:02:03"},
    {CAST("'10'", "INTERVAL DAY"), "INTERVAL '10' DAY"},
    {CAST("'-1-3'", "INTERVAL YEAR TO MONTH"), "INTERVAL '-1-3' YEAR TO MONTH"},
    /* numbers */
    {CAST("1", "TINYINT"), "1"},
    {CAST("1.9D", "INT"), "1"},
    {CAST("-1.9D", "INT"), "-1"},
    {CAST("1.9", "INT"), "1"},
    {CAST("-1.9", "BIGINT"), "-1"},
    {CAST("0.1F", "DOUBLE"), "0.10000000149011612"},
    {CAST("0.1F", "DECIMAL(20,18)"), "0.100000001490116120"},
    {CAST("1.005D", "DECIMAL(5,2)"), "1.01"},
    {CAST("1.005", "DECIMAL(5,2)"), "1.01"},
    {CAST("-1.005", "DECIMAL(5,2)"), "-1.01"},
    {CAST("5", "DECIMAL(5,2)"), "5.00"},
    {CAST("99999999999999999999.5", "DOUBLE"), "1.0E20"},
    {CAST("0.1", "FLOAT"), "0.1"},
    {CAST("true", "INT"), "1"},
    {CAST("true", "DECIMAL(5,2)"), "1.00"},
    {CAST("0", "BOOLEAN"), "false"},
    {CAST("0.0", "BOOLEAN"), "false"},
    {CAST("0.5D", "BOOLEAN"), "true"},
    {CAST(CAST("'NaN'", "DOUBLE"), "DECIMAL(5,2)"), "NULL"},
    /* times */
    {CAST(CAST("'2024-02-29 23:59:59'", "TIMESTAMP"), "DATE"), "2024-02-29"},
    {CAST(CAST("'2024-02-29'", "DATE"), "TIMESTAMP"), "2024-02-29 00:00:00"},
    {CAST(CAST("'2024-02-29'", "DATE"), "TIMESTAMP_NTZ"), "2024-02-29 00:00:00"},
    {CAST("1", "TIMESTAMP"), "1970-01-01 00:00:01"},
    {CAST("1.5D", "TIMESTAMP"), "1970-01-01 00:00:01.5"},
    {CAST("1.2345678", "TIMESTAMP"), "1970-01-01 00:00:01.234567"},
    {CAST(CAST("'1969-12-31 23:59:59.5'", "TIMESTAMP"), "BIGINT"), "-1"},
    {CAST(CAST("'1970-01-01 00:00:01.5'", "TIMESTAMP"), "DOUBLE"), "1.5"},
    {CAST(CAST("'1970-01-01 00:00:01.5'", "TIMESTAMP"), "DECIMAL(10,3)"), "1.500"},
    {CAST(CAST("'1 2:3:4.5'", "INTERVAL DAY TO SECOND"), "INTERVAL DAY TO MINUTE"),
     "INTERVAL '1 02:03' DAY TO MINUTE"},
    {CAST(CAST("'1-2'", "INTERVAL YEAR TO MONTH"), "INTERVAL YEAR"), "INTERVAL '1' YEAR"},
    {CAST("3", "INTERVAL HOUR"), "INTERVAL '03' HOUR"},
    {CAST(CAST("'90'", "INTERVAL MINUTE"), "INT"), "90"},
    {CAST(CAST("'1.5'", "INTERVAL SECOND"), "DECIMAL(5,2)"), "1.50"},
    /* TRY */
    {TRY("'x'", "INT"), "NULL"},
    {TRY("'1.5'", "INT"), "NULL"},
    {TRY("300", "TINYINT"), "NULL"},
    {TRY("'x'", "DATE"), "NULL"},
    {TRY("1e30D", "BIGINT"), "NULL"},
    {TRY("123456", "DECIMAL(5,2)"), "NULL"},
    {TRY("'12'", "INT"), "12"},
    /* there is no such cast */
    {CAST(CAST("'2024-02-29'", "DATE"), "BINARY"), "!DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"},
    {CAST("true", "DATE"), "!DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION"},
    {CAST("1", "INTERVAL DAY TO SECOND"), "INTERVAL '0 00:00:01' DAY TO SECOND"},
};

static const fm_test_case ansi[] = {
    {CAST("'x'", "INT"), "!CAST_INVALID_INPUT"},
    {CAST("'1.5'", "INT"), "!CAST_INVALID_INPUT"},
    {CAST("''", "INT"), "!CAST_INVALID_INPUT"},
    {CAST("'128'", "TINYINT"), "!CAST_INVALID_INPUT"},
    {CAST("'99999999999999999999'", "BIGINT"), "!CAST_INVALID_INPUT"},
    {CAST("'1e'", "DOUBLE"), "!CAST_INVALID_INPUT"},
    {CAST("'maybe'", "BOOLEAN"), "!CAST_INVALID_INPUT"},
    {CAST("'2024-02-30'", "DATE"), "!CAST_INVALID_INPUT"},
    {CAST("'24-02-03'", "DATE"), "!CAST_INVALID_INPUT"},
    {CAST("'2024-02-29 25:00:00'", "TIMESTAMP"), "!CAST_INVALID_INPUT"},
    {CAST("'2024-02-29 01:02:03 Nowhere'", "TIMESTAMP"), "!CAST_INVALID_INPUT"},
    {CAST("'x'", "DECIMAL(5,2)"), "!CAST_INVALID_INPUT"},
    {CAST("'12345'", "DECIMAL(5,2)"), "!NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
    {CAST("'1-12'", "INTERVAL YEAR TO MONTH"), "!INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING"},
    {CAST("300", "TINYINT"), "!CAST_OVERFLOW"},
    {CAST("2147483648L", "INT"), "!CAST_OVERFLOW"},
    {CAST("3e9D", "INT"), "!CAST_OVERFLOW"},
    {CAST("2147483647.9D", "INT"), "2147483647"},
    {CAST("-2147483648.9D", "INT"), "-2147483648"},
    {CAST("9223372036854775808D", "BIGINT"), "!CAST_OVERFLOW"},
    {CAST(CAST("'NaN'", "DOUBLE"), "INT"), "!CAST_OVERFLOW"},
    {CAST("3000000000.5", "INT"), "!CAST_OVERFLOW"},
    {CAST("123456", "DECIMAL(5,2)"), "!NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
    {CAST("1234.567", "DECIMAL(5,2)"), "!NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
    {CAST(CAST("'NaN'", "DOUBLE"), "TIMESTAMP"), "!CAST_INVALID_INPUT"},
    {CAST("1e300D", "TIMESTAMP"), "!CAST_OVERFLOW"},
    {CAST("3000000000L", "INTERVAL YEAR"), "!CAST_OVERFLOW"},
    {CAST(CAST("'2024-02-29'", "DATE"), "INT"), "!DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION"},
    {CAST("1", "DATE"), "!DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION"},
    {CAST("1", "BINARY"), "!DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION"},
    {CAST("true", "TIMESTAMP"), "!DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION"},
};

static const fm_test_case not_ansi[] = {
    {CAST("'x'", "INT"), "NULL"},
    {CAST("'1.9'", "INT"), "1"},
    {CAST("'-1.9'", "BIGINT"), "-1"},
    {CAST("'1.x'", "INT"), "NULL"},
    {CAST("'.5'", "INT"), "0"},
    {CAST("''", "INT"), "NULL"},
    {CAST("'maybe'", "BOOLEAN"), "NULL"},
    {CAST("'2024-02-30'", "DATE"), "NULL"},
    {CAST("'12345'", "DECIMAL(5,2)"), "NULL"},
    {CAST("300", "TINYINT"), "44"},
    {CAST("2147483648L", "INT"), "-2147483648"},
    {CAST("3e9D", "INT"), "2147483647"},
    {CAST("3e9D", "TINYINT"), "-1"},
    {CAST("1e30D", "BIGINT"), "9223372036854775807"},
    {CAST(CAST("'NaN'", "DOUBLE"), "INT"), "0"},
    {CAST("123456", "DECIMAL(5,2)"), "NULL"},
    {CAST(CAST("'NaN'", "DOUBLE"), "TIMESTAMP"), "NULL"},
    {CAST(CAST("'2024-02-29'", "DATE"), "INT"), "NULL"},
    {CAST("16909060", "BINARY"), "\x01\x02\x03\x04"},
    {CAST("true", "TIMESTAMP"), "1970-01-01 00:00:00.000001"},
    {CAST(CAST("'1970-01-01'", "TIMESTAMP"), "BOOLEAN"), "false"},
};

static void test_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(FM_TEST_CASES(everywhere, .ansi = i & 1, .columns = i & 2 ? true : false), 0);
}

static void test_ansi(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(ansi, .ansi = true), 0);
    assert_int_equal(FM_TEST_CASES(ansi, .ansi = true, .columns = true), 0);
}

static void test_not_ansi(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(not_ansi, .ansi = false), 0);
    assert_int_equal(FM_TEST_CASES(not_ansi, .ansi = false, .columns = true), 0);
}

/* Every pair of types that may be cast takes a null and an empty vector. */
static void test_pairs(void **state)
{
    static const char *const names[] = {
        "BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DECIMAL(10,2)", "DECIMAL(38,18)",
        "STRING", "BINARY", "DATE", "TIMESTAMP", "TIMESTAMP_NTZ", "INTERVAL YEAR TO MONTH", "INTERVAL MONTH",
        "INTERVAL DAY TO SECOND", "INTERVAL DAY", "ARRAY<INT>", "ARRAY<STRING>", "MAP<STRING,INT>",
        "MAP<STRING,DOUBLE>", "STRUCT<a:INT,b:STRING>", "STRUCT<x:BIGINT,y:STRING>"};
    enum { N = sizeof names / sizeof names[0] };
    fm_arena *arena = fm_arena_new(0);
    fm_session_conf conf = {.zone = fm_zone_utc()};
    fm_error err = FM_ERROR_INIT;
    int found = 0;
    (void)state;
    for (int a = 0; a < N; a++)
        for (int b = 0; b < N; b++)
            for (int mode = 0; mode < 3; mode++)
                for (int len = 0; len < 3; len++) {
                    const fm_type *from, *to;
                    fm_vec in, out;
                    conf.ansi = mode != FM_CAST_LEGACY;
                    assert_int_equal(fm_type_parse(arena, fm_str_c(names[a]), &from, &err), FM_OK);
                    assert_int_equal(fm_type_parse(arena, fm_str_c(names[b]), &to, &err), FM_OK);
                    if (!fm_cast_exists(from, to, conf.ansi)) continue;
                    found++;
                    assert_int_equal(fm_vec_nulls(&in, from, len, arena, &err), FM_OK);
                    assert_int_equal(fm_cast_run(&in, to, (fm_cast_mode)mode, &conf, arena, &out, &err), FM_OK);
                    assert_int_equal(fm_vec_verify(&out, &err), FM_OK);
                    assert_true(fm_type_eq(out.type, to) && out.len == len);
                    for (int i = 0; i < len; i++) assert_true(fm_vec_is_null(&out, i));
                }
    assert_true(found > 1500);
    fm_arena_free(arena);
}

/* Nested values, by way of text. */
static void test_nested(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_session_conf conf = {.ansi = true, .zone = fm_zone_utc()};
    fm_error err = FM_ERROR_INIT;
    const fm_type *from, *to;
    fm_builder *b;
    fm_strbuf text = {0};
    fm_vec in, out;
    (void)state;
    assert_int_equal(fm_type_parse(arena, FM_STR("STRUCT<a:ARRAY<INT>,m:MAP<STRING,STRING>>"), &from, &err), FM_OK);
    assert_int_equal(fm_type_parse(arena, FM_STR("STRUCT<a:ARRAY<STRING>,m:MAP<STRING,INT>>"), &to, &err), FM_OK);
    b = fm_builder_new(arena, from, 4);
    fm_builder_i64(fm_builder_child(fm_builder_child(b, 0), 0), 1);
    fm_builder_null(fm_builder_child(fm_builder_child(b, 0), 0));
    fm_builder_end(fm_builder_child(b, 0));
    fm_builder_str(fm_builder_child(fm_builder_child(b, 1), 0), FM_STR("k"));
    fm_builder_str(fm_builder_child(fm_builder_child(b, 1), 1), FM_STR("7"));
    fm_builder_str(fm_builder_child(fm_builder_child(b, 1), 0), FM_STR("l"));
    fm_builder_null(fm_builder_child(fm_builder_child(b, 1), 1));
    fm_builder_end(fm_builder_child(b, 1));
    fm_builder_end(b);
    fm_builder_null(b);
    fm_builder_null(fm_builder_child(b, 0));
    fm_builder_end(fm_builder_child(b, 1));
    fm_builder_end(b);
    assert_int_equal(fm_builder_finish(b, &in, &err), FM_OK);
    assert_int_equal(fm_cast_run(&in, to, FM_CAST_ANSI, &conf, arena, &out, &err), FM_OK);
    assert_int_equal(fm_vec_verify(&out, &err), FM_OK);
    fm_value_text(&out, 0, conf.zone, &text);
    assert_string_equal(text.ptr, "{[1, null], {k -> 7, l -> null}}");
    assert_true(fm_vec_is_null(&out, 1));
    fm_strbuf_clear(&text);
    fm_value_text(&out, 2, conf.zone, &text);
    assert_string_equal(text.ptr, "{null, {}}");
    fm_strbuf_fini(&text);
    fm_arena_free(arena);
}

static void test_names(void **state)
{
    static const struct {
        const char *expr, *name;
    } cases[] = {
        {"(+ 1 2)", "(1 + 2)"},
        {"(+ 1 2L)", "(1 + 2)"},
        {"(= 'a' 'b')", "(a = b)"},
        {"(= '1' 2)", "(1 = 2)"},
        {"(!= 1 2)", "(NOT (1 = 2))"},
        {"(- 5.50)", "(- 5.50)"},
        {"(cast '1' \"INT\")", "CAST(1 AS INT)"},
        {"(try_cast 1D \"DECIMAL(5,2)\")", "TRY_CAST(1.0 AS DECIMAL(5,2))"},
        {"(if true 1 2)", "(IF(true, 1, 2))"},
        {"(case true 1 2)", "CASE WHEN true THEN 1 ELSE 2 END"},
        {"(coalesce null 1)", "coalesce(NULL, 1)"},
        {"(nvl null 1)", "nvl(NULL, 1)"},
        {"(in 1 2 3)", "(1 IN (2, 3))"},
        {"(isnull 1)", "(1 IS NULL)"},
        {"(and true (not false))", "(true AND (NOT false))"},
        {"(months_between '2024-01-01' '2024-02-01')", "months_between(2024-01-01, 2024-02-01, true)"},
        {"(Date_Add '2024-01-01' 1)", "date_add(2024-01-01, 1)"},
        {"(+ (cast '2024-01-01' \"DATE\") (cast '1' \"INTERVAL DAY\"))",
         "date_add(CAST(2024-01-01 AS DATE), extractansiintervaldays(CAST(1 AS INTERVAL DAY)))"},
        {"(% 5 3)", "(5 % 3)"},
        {"(div 5 3)", "(5 div 3)"},
        {"(~ 5)", "~5"},
        {"(current_timestamp)", "current_timestamp()"},
    };
    fm_arena *arena = fm_arena_new(0);
    fm_session_conf conf = {.ansi = true, .zone = fm_zone_utc()};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_error err = FM_ERROR_INIT;
        fm_strbuf name = {0};
        fm_expr *e = fm_test_read(arena, &conf, cases[i].expr, &err);
        assert_non_null(e);
        fm_expr_auto_name(e, &name);
        assert_string_equal(name.ptr, cases[i].name);
        fm_strbuf_fini(&name);
    }
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere), cmocka_unit_test(test_ansi),   cmocka_unit_test(test_not_ansi),
        cmocka_unit_test(test_pairs),      cmocka_unit_test(test_nested), cmocka_unit_test(test_names),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

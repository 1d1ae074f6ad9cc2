/* column/type_test.c: types from text and back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/limits.h"
#include "column/random_vec.h"

static void test_spellings(void **state)
{
    static const struct {
        const char *text, *sql, *catalog;
    } cases[] = {
        {"BOOLEAN", "BOOLEAN", "boolean"},
        {"tinyint", "TINYINT", "tinyint"},
        {"BYTE", "TINYINT", "tinyint"},
        {"Smallint", "SMALLINT", "smallint"},
        {"short", "SMALLINT", "smallint"},
        {"INT", "INT", "int"},
        {"integer", "INT", "int"},
        {"bigint", "BIGINT", "bigint"},
        {"long", "BIGINT", "bigint"},
        {"float", "FLOAT", "float"},
        {"real", "FLOAT", "float"},
        {"double", "DOUBLE", "double"},
        {"decimal", "DECIMAL(10,0)", "decimal(10,0)"},
        {"dec(5)", "DECIMAL(5,0)", "decimal(5,0)"},
        {"numeric ( 38 , 38 )", "DECIMAL(38,38)", "decimal(38,38)"},
        {"string", "STRING", "string"},
        {"string collate UTF8_BINARY", "STRING", "string"},
        {"varchar(10)", "STRING", "string"},
        {"char(3)", "STRING", "string"},
        {"CHARACTER (3)", "STRING", "string"},
        {"binary", "BINARY", "binary"},
        {"date", "DATE", "date"},
        {"timestamp", "TIMESTAMP", "timestamp"},
        {"timestamp_ltz", "TIMESTAMP", "timestamp"},
        {"timestamp with local time zone", "TIMESTAMP", "timestamp"},
        {"TIMESTAMP_NTZ", "TIMESTAMP_NTZ", "timestamp_ntz"},
        {"timestamp without time zone", "TIMESTAMP_NTZ", "timestamp_ntz"},
        {"void", "VOID", "void"},
        {"interval year to month", "INTERVAL YEAR TO MONTH", "interval year to month"},
        {"interval month", "INTERVAL MONTH", "interval month"},
        {"INTERVAL DAY TO SECOND", "INTERVAL DAY TO SECOND", "interval day to second"},
        {"interval hour to minute", "INTERVAL HOUR TO MINUTE", "interval hour to minute"},
        {"array<int>", "ARRAY<INT>", "array<int>"},
        {"array<array<int>>", "ARRAY<ARRAY<INT>>", "array<array<int>>"},
        {"MAP < string , struct<x:int> >", "MAP<STRING, STRUCT<x: INT>>", "map<string,struct<x:int>>"},
        {"struct<>", "STRUCT<>", "struct<>"},
        {"struct<a: int not null, b string comment 'it''s', `c d``e`: date>", "STRUCT<a: INT NOT NULL, b: STRING, `c d``e`: DATE>",
         "struct<a:int,b:string,c d`e:date>"},
        {"struct<a int, 1b: int, struct: int, \xC3\xA4: int>", "STRUCT<a: INT, `1b`: INT, struct: INT, `\xC3\xA4`: INT>",
         "struct<a:int,1b:int,struct:int,\xC3\xA4:int>"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        const fm_type *t, *again;
        fm_strbuf sql = {0}, catalog = {0};
        if (fm_type_parse(arena, fm_str_c(cases[i].text), &t, &err) != FM_OK) fail_msg("%s: %s", cases[i].text, err.message);
        fm_type_sql(t, &sql);
        fm_type_text(t, &catalog);
        assert_string_equal(sql.ptr, cases[i].sql);
        assert_string_equal(catalog.ptr, cases[i].catalog);
        assert_int_equal(fm_type_parse(arena, fm_strbuf_str(&sql), &again, &err), FM_OK);
        assert_true(fm_type_eq(t, again));
        fm_strbuf_fini(&sql);
        fm_strbuf_fini(&catalog);
        fm_arena_free(arena);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *text, *condition, *message;
    } cases[] = {
        {"", "PARSE_SYNTAX_ERROR", "at the end"},
        {"int int", "PARSE_SYNTAX_ERROR", "position 5"},
        {"array<int", "PARSE_SYNTAX_ERROR", "'>' expected"},
        {"array", "PARSE_SYNTAX_ERROR", "'<'"},
        {"map<int>", "PARSE_SYNTAX_ERROR", "','"},
        {"map<map<int,int>,int>", "DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE", "key"},
        {"map<array<map<int,int>>,int>", "DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE", "key"},
        {"struct<a>", "PARSE_SYNTAX_ERROR", "'>'"},
        {"struct<a: int,>", "PARSE_SYNTAX_ERROR", "a column name"},
        {"struct<``: int>", "PARSE_SYNTAX_ERROR", "a column name"},
        {"struct<`a: int>", "PARSE_SYNTAX_ERROR", "never closed"},
        {"struct<a: int comment 'x>", "PARSE_SYNTAX_ERROR", "never closed"},
        {"struct<a: int comment 'x\\'>", "PARSE_SYNTAX_ERROR", "never closed"},
        {"struct<a: int not>", "PARSE_SYNTAX_ERROR", "NULL"},
        {"bigin", "UNSUPPORTED_DATATYPE", "BIGINT"},
        {"strng", "UNSUPPORTED_DATATYPE", "STRING"},
        {"quux", "UNSUPPORTED_DATATYPE", "quux"},
        {"varchar", "DATATYPE_MISSING_SIZE", "length"},
        {"decimal(39)", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "38"},
        {"decimal(0)", "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "38"},
        {"decimal(5,6)", "FLOODMARK_DECIMAL_SCALE", "6"},
        {"decimal(5,2,1)", "PARSE_SYNTAX_ERROR", "')'"},
        {"decimal(99999999999999999999)", "PARSE_SYNTAX_ERROR", "smaller"},
        {"decimal(-1)", "PARSE_SYNTAX_ERROR", "a number"},
        {"interval", "UNSUPPORTED_DATATYPE", "INTERVAL DAY TO SECOND"},
        {"interval second to day", "PARSE_SYNTAX_ERROR", "smaller unit"},
        {"interval year to second", "PARSE_SYNTAX_ERROR", "smaller unit"},
        {"string collate unicode", "UNSUPPORTED_FEATURE.COLLATION", "unicode"},
        {"timestamp with time zone", "PARSE_SYNTAX_ERROR", "LOCAL"},
        {"'int'", "PARSE_SYNTAX_ERROR", "a type"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        const fm_type *t;
        assert_int_not_equal(fm_type_parse(arena, fm_str_c(cases[i].text), &t, &err), FM_OK);
        assert_string_equal(err.condition, cases[i].condition);
        if (!strstr(err.message, cases[i].message)) fail_msg("%s: %s", cases[i].text, err.message);
        fm_arena_free(arena);
    }
}

static void test_column_lists(void **state)
{
    static const struct {
        const char *text, *sql; /* sql NULL: refused */
    } cases[] = {
        {"a INT", "STRUCT<a: INT>"},
        {" a INT NOT NULL COMMENT 'x, y' , `b c` STRING, d: map<int,int>", "STRUCT<a: INT NOT NULL, `b c`: STRING, d: MAP<INT, INT>>"},
        {"struct<a: int>", "STRUCT<a: INT>"},
        {"struct STRING, b INT", "STRUCT<struct: STRING, b: INT>"},
        {"struct: struct<a: int>", "STRUCT<struct: STRUCT<a: INT>>"},
        {"date DATE, timestamp TIMESTAMP, comment STRING, not INT", "STRUCT<date: DATE, timestamp: TIMESTAMP, comment: STRING, not: INT>"},
        {"", "STRUCT<>"},
        {"a", NULL},
        {"a INT b INT", NULL},
        {"a INT,", NULL},
        {"123 INT", NULL},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        const fm_type *t;
        fm_strbuf sql = {0};
        fm_status st = fm_type_parse_ddl(arena, fm_str_c(cases[i].text), &t, &err);
        if ((st == FM_OK) != (cases[i].sql != NULL)) fail_msg("%s: %s", cases[i].text, err.message);
        if (st == FM_OK) {
            fm_type_sql(t, &sql);
            assert_string_equal(sql.ptr, cases[i].sql);
        }
        fm_strbuf_fini(&sql);
        fm_arena_free(arena);
    }
}

static void test_depth_and_random_text(void **state)
{
    fm_random r = {31};
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    const fm_type *t;
    fm_strbuf deep = {0};

    for (int i = 0; i < 100000; i++) fm_strbuf_add_c(&deep, "array<");
    assert_int_equal(fm_type_parse(arena, fm_strbuf_str(&deep), &t, &err), FM_LIMIT);
    fm_strbuf_fini(&deep);
    for (int round = 0; round < 3000; round++) { /* random types come back; one byte changed is survived */
        const fm_type *in = fm_random_type(&r, arena, round % 2), *copy = fm_type_copy(arena, in);
        fm_strbuf sql = {0};
        assert_true(fm_type_eq(in, copy) && fm_type_eq(in, fm_type_as_nullable(arena, in)));
        fm_type_sql(in, &sql);
        fm_status st = fm_type_parse(arena, fm_strbuf_str(&sql), &t, &err);
        if (st != FM_OK) assert_string_equal(err.condition, "DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE");
        else assert_true(fm_type_eq(in, t));
        sql.ptr[fm_random_next(&r, sql.len)] = (char)fm_random_next(&r, 256);
        (void)fm_type_parse(arena, fm_strbuf_str(&sql), &t, &err);
        (void)fm_type_parse_ddl(arena, fm_strbuf_str(&sql), &t, &err);
        fm_strbuf_fini(&sql);
    }
    fm_arena_free(arena);
}

static void test_equality(void **state)
{
    static const char *const different[] = {
        "int", "decimal(5,2)", "decimal(5,3)", "decimal(6,2)", "interval day", "interval day to hour", "array<int>", "array<bigint>",
        "map<int,int>", "struct<a:int>", "struct<A:int>", "struct<a:int,b:int>", "struct<>",
    };
    enum { N = sizeof different / sizeof different[0] };
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    const fm_type *types[N], *a, *b;

    for (size_t i = 0; i < N; i++) assert_int_equal(fm_type_parse(arena, fm_str_c(different[i]), &types[i], &err), FM_OK);
    for (size_t i = 0; i < N; i++) {
        for (size_t j = 0; j < N; j++) assert_int_equal(fm_type_eq(types[i], types[j]), i == j);
    }
    assert_int_equal(fm_type_parse(arena, FM_STR("struct<a: int not null>"), &a, &err), FM_OK);
    assert_int_equal(fm_type_parse(arena, FM_STR("struct<a: int>"), &b, &err), FM_OK);
    assert_true(fm_type_eq(a, b)); /* nullability is not looked at */
    const fm_type *window = fm_type_window(arena, fm_type_timestamp());
    assert_true(window->is_window && fm_type_copy(arena, window)->is_window);
    assert_int_equal(fm_type_parse(arena, FM_STR("struct<start: timestamp, end: timestamp>"), &b, &err), FM_OK);
    assert_true(fm_type_eq(window, b));
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_spellings),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_column_lists), cmocka_unit_test(test_depth_and_random_text),
        cmocka_unit_test(test_equality),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

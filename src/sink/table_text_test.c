/* sink/table_text_test.c: Spark's table layout, to the character. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "column/builder.h"
#include "sink/sink_fixture.h"
#include "sink/table_text.h"

static void check(const char *ddl, const char *const *cells, int32_t rows, int64_t rows_max, int32_t truncate, const char *wanted)
{
    sink_fixture f;
    fm_strbuf text = {0};

    sink_fixture_init(&f, ddl, NULL);
    const fm_batch *batch = sink_fixture_batch(&f, cells, rows);
    fm_table_text(f.spec.schema, &batch, 1, rows_max, truncate, fm_zone_utc(), &text);
    assert_true(fm_strbuf_ok(&text));
    assert_string_equal(text.ptr, wanted);
    fm_strbuf_fini(&text);
    sink_fixture_fini(&f);
}

static void test_layout(void **state)
{
    const char *two[] = {"u1", "1", NULL, "-20"};
    check("user STRING, total BIGINT", two, 2, 20, 20,
          "+----+-----+\n"
          "|user|total|\n"
          "+----+-----+\n"
          "|  u1|    1|\n"
          "|NULL|  -20|\n"
          "+----+-----+\n");
    check("user STRING, total BIGINT", two, 2, 20, 0,
          "+----+-----+\n"
          "|user|total|\n"
          "+----+-----+\n"
          "|u1  |1    |\n"
          "|NULL|-20  |\n"
          "+----+-----+\n");
    check("user STRING, total BIGINT", two, 2, 1, 0,
          "+----+-----+\n"
          "|user|total|\n"
          "+----+-----+\n"
          "|u1  |1    |\n"
          "+----+-----+\n"
          "only showing top 1 row\n");
    check("user STRING, total BIGINT", two, 2, 0, 20,
          "+----+-----+\n"
          "|user|total|\n"
          "+----+-----+\n"
          "+----+-----+\n"
          "only showing top 0 rows\n");
    check("a INT", two, 0, 20, 20, "+---+\n|  a|\n+---+\n+---+\n"); /* at least 3 wide; no rows */
    check("", two, 0, 20, 20, "++\n||\n++\n++\n");
}

static void test_cutting(void **state)
{
    const char *cells[] = {"12345678901234567890", "123456789012345678901", "\xE4\xB8\xAD\xE6\x96\x87", "\xF0\x9F\x98\x80"};
    check("a_column_with_a_long_name STRING", cells, 4, 20, 20, /* the header is not cut */
          "+-------------------------+\n"
          "|a_column_with_a_long_name|\n"
          "+-------------------------+\n"
          "|     12345678901234567890|\n"
          "|     12345678901234567...|\n"
          "|                     \xE4\xB8\xAD\xE6\x96\x87|\n" /* 2 columns each */
          "|                       \xF0\x9F\x98\x80|\n"
          "+-------------------------+\n");
    check("a STRING", cells, 4, 4, 3, /* below 4 no dots; 2 + 2 units fit in 3 only once */
          "+----+\n"
          "|   a|\n"
          "+----+\n"
          "| 123|\n"
          "| 123|\n"
          "|\xE4\xB8\xAD\xE6\x96\x87|\n"
          "|  \xF0\x9F\x98\x80|\n"
          "+----+\n");
    check("a STRING", cells + 3, 1, 4, 1, "+---+\n|  a|\n+---+\n|   |\n+---+\n"); /* never half a character */
}

static void test_escapes(void **state)
{
    const char *cells[] = {"a\nb\tc\r\f\b\v\a\x01\xFF"};
    check("s STRING", cells, 1, 20, 0,
          "+-------------------+\n"
          "|s                  |\n"
          "+-------------------+\n"
          "|a\\nb\\tc\\r\\f\\b\\v\\a\x01\xFF|\n"
          "+-------------------+\n");
}

static void test_values(void **state)
{
    const char *cells[] = {"2026-03-01 12:00:00.120", "1.0E10", "1.50", "true", "2026-03-01"};
    check("t TIMESTAMP, d DOUBLE, n DECIMAL(5,2), b BOOLEAN, day DATE", cells, 1, 20, 0,
          "+----------------------+------+----+----+----------+\n"
          "|t                     |d     |n   |b   |day       |\n"
          "+----------------------+------+----+----+----------+\n"
          "|2026-03-01 12:00:00.12|1.0E10|1.50|true|2026-03-01|\n"
          "+----------------------+------+----+----+----------+\n");
}

static void test_nested(void **state)
{
    sink_fixture f;
    fm_strbuf text = {0};
    fm_vec column;

    sink_fixture_init(&f, "s STRUCT<a: ARRAY<INT>, m: MAP<STRING, BINARY>, t: TIMESTAMP>", NULL);
    fm_builder *b = fm_builder_new(f.arena, f.spec.schema->fields[0].type, 1);
    fm_builder_i64(fm_builder_child(fm_builder_child(b, 0), 0), 1);
    fm_builder_null(fm_builder_child(fm_builder_child(b, 0), 0));
    fm_builder_end(fm_builder_child(b, 0));
    fm_builder_str(fm_builder_child(fm_builder_child(b, 1), 0), FM_STR("k"));
    fm_builder_str(fm_builder_child(fm_builder_child(b, 1), 1), FM_STR("ab"));
    fm_builder_end(fm_builder_child(b, 1));
    fm_builder_null(fm_builder_child(b, 2));
    fm_builder_end(b);
    assert_int_equal(fm_builder_finish(b, &column, &f.err), FM_OK);
    fm_cell_text(&column, 0, fm_zone_utc(), &text);
    assert_string_equal(text.ptr, "{[1, NULL], {k -> [61 62]}, NULL}");
    fm_strbuf_fini(&text);
    sink_fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layout), cmocka_unit_test(test_cutting), cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_values), cmocka_unit_test(test_nested),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

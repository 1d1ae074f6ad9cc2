/* sink/console_sink_test.c: what is on the terminal after each micro-batch. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sink/sink_fixture.h"
#include "sink/sinks.h"

static void test_batches(void **state)
{
    static const char *const cells[] = {"a", "1", "b", "2", "c", "3"};
    sink_fixture f;
    fm_sink *sink;
    int64_t rows;

    sink_fixture_init(&f, "k STRING, n INT", NULL);
    sink_fixture_option(&f, "numrows", "2");
    assert_int_equal(fm_sink_console.open(&f.env, &f.spec, f.arena, &sink, &f.err), FM_OK);
    const fm_batch *parts[2] = {sink_fixture_batch(&f, cells, 2), sink_fixture_batch(&f, cells + 4, 1)};
    assert_int_equal(sink_fixture_write(&f, sink, 0, parts, 2, &rows), FM_OK);
    assert_int_equal(rows, 3);
    assert_int_equal(sink_fixture_write(&f, sink, 1, parts + 1, 1, &rows), FM_OK);
    assert_int_equal(sink_fixture_write(&f, sink, 2, parts, 0, &rows), FM_OK);
    assert_int_equal(rows, 0);
    assert_string_equal(f.printed.ptr,
                        "-------------------------------------------\n"
                        "Batch: 0\n"
                        "-------------------------------------------\n"
                        "+---+---+\n"
                        "|  k|  n|\n"
                        "+---+---+\n"
                        "|  a|  1|\n"
                        "|  b|  2|\n"
                        "+---+---+\n"
                        "only showing top 2 rows\n"
                        "\n"
                        "-------------------------------------------\n"
                        "Batch: 1\n"
                        "-------------------------------------------\n"
                        "+---+---+\n"
                        "|  k|  n|\n"
                        "+---+---+\n"
                        "|  c|  3|\n"
                        "+---+---+\n"
                        "\n"
                        "-------------------------------------------\n"
                        "Batch: 2\n"
                        "-------------------------------------------\n"
                        "+---+---+\n"
                        "|  k|  n|\n"
                        "+---+---+\n"
                        "+---+---+\n"
                        "\n");
    sink->type->close(sink);
    sink_fixture_fini(&f);
}

/* One writer that keeps only what it shows still tells that there was more. */
static void test_rows_beyond_those_shown(void **state)
{
    static const char *const cells[] = {"1", "2", "3"};
    sink_fixture f;
    fm_sink *sink;
    int64_t rows;

    sink_fixture_init(&f, "n INT", NULL);
    sink_fixture_option(&f, "numRows", "1");
    sink_fixture_option(&f, "truncate", "false");
    assert_int_equal(fm_sink_console.open(&f.env, &f.spec, f.arena, &sink, &f.err), FM_OK);
    const fm_batch *part = sink_fixture_batch(&f, cells, 3);
    assert_int_equal(sink_fixture_write(&f, sink, 0, &part, 1, &rows), FM_OK);
    assert_int_equal(rows, 3);
    assert_non_null(strstr(f.printed.ptr, "|1  |\n+---+\nonly showing top 1 row\n\n"));
    sink->type->close(sink);
    sink_fixture_fini(&f);
}

static void test_options(void **state)
{
    static const struct {
        const char *key, *value, *message;
    } cases[] = {{"numRow", "1", "numRows"}, {"numRows", "x", "whole number"}, {"truncate", "5", "true or false"}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        sink_fixture f;
        fm_sink *sink;
        sink_fixture_init(&f, "n INT", NULL);
        sink_fixture_option(&f, cases[i].key, cases[i].value);
        assert_int_equal(fm_sink_console.open(&f.env, &f.spec, f.arena, &sink, &f.err), FM_INVALID);
        assert_non_null(strstr(f.err.message, cases[i].message));
        sink_fixture_fini(&f);
    }
}

static void test_table_of_sinks(void **state)
{
    int n;
    const fm_sink_type *const *all = fm_sinks(&n);

    for (int i = 0; i < n; i++) {
        const fm_sink_type *t = all[i];
        if (i) assert_true(strcmp(all[i - 1]->name, t->name) < 0);
        assert_ptr_equal(fm_sink_find(fm_str_c(t->name)), t);
        assert_true(t->options && t->modes && t->open && t->begin && t->writer_open && t->write);
        assert_true(t->writer_close && t->commit && t->abort && t->description && t->close);
    }
    assert_ptr_equal(fm_sink_find(FM_STR("Console")), &fm_sink_console);
    assert_null(fm_sink_find(FM_STR("consol")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_batches), cmocka_unit_test(test_rows_beyond_those_shown), cmocka_unit_test(test_options),
        cmocka_unit_test(test_table_of_sinks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

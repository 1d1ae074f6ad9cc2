/* sink/memory_sink_test.c: what a memory table holds after batches, replays, restarts and other queries. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "sink/memory_table.h"
#include "sink/sink_fixture.h"
#include "sink/sinks.h"

typedef struct fixture {
    sink_fixture base;
    fm_memory_tables *tables;
    const fm_batch *parts[3]; /* {1, 2}, {3}, {} */
} fixture;

static void init(fixture *f, fm_output_mode mode)
{
    static const char *const cells[] = {"1", "2", "3"};

    sink_fixture_init(&f->base, "n INT", NULL);
    f->tables = fm_memory_tables_new();
    assert_non_null(f->tables);
    f->base.env.memory = f->tables;
    f->base.spec.query_name = FM_STR("t");
    f->base.spec.mode = mode;
    f->parts[0] = sink_fixture_batch(&f->base, cells, 2);
    f->parts[1] = sink_fixture_batch(&f->base, cells + 2, 1);
    f->parts[2] = sink_fixture_batch(&f->base, cells, 0);
}

static void fini(fixture *f)
{
    fm_memory_tables_free(f->tables);
    sink_fixture_fini(&f->base);
}

static fm_sink *open_sink(fixture *f, const char *query_id)
{
    fm_sink *sink;

    f->base.spec.query_id = fm_str_c(query_id);
    assert_int_equal(fm_sink_memory.open(&f->base.env, &f->base.spec, f->base.arena, &sink, &f->base.err), FM_OK);
    return sink;
}

static void write_parts(fixture *f, fm_sink *sink, int64_t batch_id, int32_t from, int32_t n)
{
    int64_t rows;

    assert_int_equal(sink_fixture_write(&f->base, sink, batch_id, f->parts + from, n, &rows), FM_OK);
}

/* The table as text: "1,2,3". */
static void check(fixture *f, const char *wanted)
{
    const fm_batch **batches;
    int32_t n;
    fm_strbuf text = {0};

    assert_int_equal(fm_memory_table_read(f->tables, FM_STR("T"), f->base.arena, &batches, &n, &f->base.err), FM_OK);
    fm_strbuf_add_c(&text, "");
    for (int32_t b = 0; b < n; b++) {
        for (int32_t i = 0; i < batches[b]->rows; i++) {
            fm_strbuf_printf(&text, "%s%d", text.len ? "," : "", fm_vec_i32(&batches[b]->columns[0])[i]);
        }
    }
    assert_string_equal(text.ptr ? text.ptr : "", wanted);
    fm_strbuf_fini(&text);
}

static void test_append(void **state)
{
    fixture f;

    init(&f, FM_MODE_APPEND);
    fm_sink *sink = open_sink(&f, "q1");
    check(&f, "");
    write_parts(&f, sink, 0, 0, 2);
    check(&f, "1,2,3");
    write_parts(&f, sink, 0, 0, 2); /* seen */
    write_parts(&f, sink, 1, 2, 1);
    write_parts(&f, sink, 2, 1, 1);
    check(&f, "1,2,3,3");
    sink->type->close(sink);
    sink = open_sink(&f, "q1"); /* the same checkpoint goes on */
    write_parts(&f, sink, 2, 0, 1);
    write_parts(&f, sink, 3, 0, 1);
    check(&f, "1,2,3,3,1,2");
    fm_memory_batch *by_batch;
    int32_t n;
    assert_int_equal(fm_memory_table_batches(f.tables, FM_STR("t"), f.base.arena, &by_batch, &n, &f.base.err), FM_OK);
    assert_int_equal(n, 4);
    assert_int_equal(by_batch[1].batch_id, 1);
    assert_int_equal(by_batch[1].rows, 0);
    assert_int_equal(by_batch[3].rows, 2);
    sink->type->close(sink);
    sink = open_sink(&f, "q2"); /* another one begins anew */
    check(&f, "");
    write_parts(&f, sink, 0, 1, 1);
    check(&f, "3");
    sink->type->close(sink);
    fini(&f);
}

static void test_complete_replaces(void **state)
{
    fixture f;

    init(&f, FM_MODE_COMPLETE);
    fm_sink *sink = open_sink(&f, "q1");
    write_parts(&f, sink, 0, 0, 2);
    write_parts(&f, sink, 1, 1, 1);
    check(&f, "3");
    write_parts(&f, sink, 2, 2, 1);
    check(&f, "");
    sink->type->close(sink);
    fini(&f);
}

/* Two sinks of one query fill one table: the same batch id of both counts, also after a restart. */
static void test_shared_table(void **state)
{
    fixture f;

    init(&f, FM_MODE_APPEND);
    fm_sink *a = open_sink(&f, "q1"), *b = open_sink(&f, "q1");
    write_parts(&f, a, 0, 0, 1);
    write_parts(&f, b, 0, 1, 1);
    check(&f, "1,2,3");
    a->type->close(a);
    b->type->close(b);
    a = open_sink(&f, "q1");
    b = open_sink(&f, "q1");
    write_parts(&f, a, 0, 0, 1);
    write_parts(&f, b, 0, 1, 1);
    write_parts(&f, b, 1, 1, 1);
    check(&f, "1,2,3,3");
    fm_sink *other;
    f.base.spec.query_id = FM_STR("q2");
    assert_int_equal(fm_sink_memory.open(&f.base.env, &f.base.spec, f.base.arena, &other, &f.base.err), FM_CONFLICT);
    a->type->close(a);
    b->type->close(b);
    fini(&f);
}

/* Nothing is known about a stream without an id: its rows are never taken for seen. */
static void test_without_query_id(void **state)
{
    fixture f;

    init(&f, FM_MODE_APPEND);
    fm_sink *sink = open_sink(&f, "");
    write_parts(&f, sink, 5, 0, 1);
    sink->type->close(sink);
    sink = open_sink(&f, "");
    write_parts(&f, sink, 0, 1, 1);
    check(&f, "1,2,3");
    sink->type->close(sink);
    fini(&f);
}

static void test_failed_batch_leaves_nothing(void **state)
{
    fixture f;
    bool skip;
    fm_sink_writer *w;

    init(&f, FM_MODE_APPEND);
    fm_sink *sink = open_sink(&f, "q1");
    assert_int_equal(sink->type->begin(sink, 0, 1, &skip, &f.base.err), FM_OK);
    assert_int_equal(sink->type->writer_open(sink, 0, &w, &f.base.err), FM_OK);
    assert_int_equal(sink->type->write(w, f.parts[0], &f.base.err), FM_OK);
    sink->type->abort(sink, 0);
    check(&f, "");
    write_parts(&f, sink, 0, 1, 1);
    check(&f, "3");
    sink->type->close(sink);
    fini(&f);
}

static void test_names_and_drop(void **state)
{
    fixture f;

    init(&f, FM_MODE_APPEND);
    assert_null(fm_memory_table_schema(f.tables, FM_STR("t"), f.base.arena));
    assert_int_equal(fm_memory_table_drop(f.tables, FM_STR("t"), &f.base.err), FM_NOT_FOUND);
    fm_sink *sink = open_sink(&f, "q1");
    write_parts(&f, sink, 0, 0, 1);
    const char **names = fm_memory_table_names(f.tables, f.base.arena);
    assert_string_equal(names[0], "t");
    assert_null(names[1]);
    assert_true(fm_type_eq(fm_memory_table_schema(f.tables, FM_STR("t"), f.base.arena), f.base.spec.schema));
    assert_int_equal(fm_memory_table_drop(f.tables, FM_STR("t"), &f.base.err), FM_OK);
    check(&f, ""); /* being written, it stays, empty */
    sink->type->close(sink);
    assert_int_equal(fm_memory_table_drop(f.tables, FM_STR("T"), &f.base.err), FM_OK);
    assert_null(fm_memory_table_schema(f.tables, FM_STR("t"), f.base.arena));
    f.base.spec.query_name = FM_STR("");
    assert_int_equal(fm_sink_memory.open(&f.base.env, &f.base.spec, f.base.arena, &sink, &f.base.err), FM_INVALID);
    fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_append), cmocka_unit_test(test_complete_replaces), cmocka_unit_test(test_shared_table),
        cmocka_unit_test(test_without_query_id), cmocka_unit_test(test_failed_batch_leaves_nothing),
        cmocka_unit_test(test_names_and_drop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

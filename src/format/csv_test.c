/* format/csv_test.c: CSV read and written. */
#include "base/limits.h"
#include "format/format.h"

#include "expr/cast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct run {
    fm_strbuf rows, written;
    const fm_format *format;
    fm_writer *writer;
} run;

static fm_status collect(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    run *r = ctx;

    (void)lines;
    assert_int_equal(fm_batch_verify(batch, err), FM_OK);
    for (int32_t row = 0; row < batch->rows; row++) {
        for (int32_t i = 0; i < batch->schema->n_fields; i++) {
            if (i) fm_strbuf_add_char(&r->rows, '|');
            if (fm_vec_is_null(&batch->columns[i], row))
                fm_strbuf_add_c(&r->rows, "null");
            else
                fm_value_text(&batch->columns[i], row, fm_zone_utc(), &r->rows);
        }
        fm_strbuf_add_char(&r->rows, '\n');
    }
    return r->format->write_batch(r->writer, batch, &r->written, err);
}

static void expect(const char *ddl, const char *key, const char *value, const char *in,
                   const char *rows, const char *written, int64_t bad)
{
    fm_arena *arena = fm_arena_new(0), *batches = fm_arena_new(0);
    fm_options options = {0};
    fm_error err = FM_ERROR_INIT;
    const fm_type *schema;
    int32_t wanted[16];
    fm_reader *reader;
    fm_read_counts counts = {0};
    run r = {.format = fm_format_find(FM_STR("csv"))};

    if (key) assert_true(fm_options_set(arena, &options, fm_str_c(key), fm_str_c(value)));
    assert_int_equal(fm_type_parse_ddl(arena, fm_str_c(ddl), &schema, &err), FM_OK);
    for (int32_t i = 0; i < schema->n_fields; i++) wanted[i] = i;
    fm_read_spec spec = {.schema = schema, .wanted = wanted, .n_wanted = schema->n_fields, .options = &options, .zone = fm_zone_utc(),
                         .corrupt_column = FM_STR("_corrupt_record")};
    if (r.format->reader_new(arena, &spec, &reader, &err) != FM_OK) fail_msg("%s", err.message);
    assert_int_equal(r.format->writer_new(arena, schema, &options, fm_zone_utc(), &r.writer, &err),
                     FM_OK);
    fm_strbuf_add_c(&r.rows, "");
    fm_strbuf_add_c(&r.written, "");
    assert_int_equal(r.format->write_header(r.writer, &r.written, &err), FM_OK);
    size_t len = strlen(in);
    char *bytes = calloc(1, len + FM_BLOCK_PADDING);
    memcpy(bytes, in, len);
    fm_block block = {.bytes = bytes, .len = len, .file = FM_STR("a.csv")};
    fm_batch_out push = {&r, collect};
    if (r.format->read_block(reader, &block, batches, &push, &counts, &err) != FM_OK)
        fail_msg("%s", err.message);
    assert_string_equal(r.rows.ptr, rows);
    if (written) assert_string_equal(r.written.ptr, written);
    assert_int_equal(counts.bad, bad);
    r.format->reader_free(reader);
    fm_strbuf_fini(&r.rows);
    fm_strbuf_fini(&r.written);
    free(bytes);
    fm_arena_free(arena);
    fm_arena_free(batches);
}

static void test_csv(void **state)
{
    (void)state;
    expect("a STRING, b INT, t TIMESTAMP", NULL, NULL,
           "x,1,2026-01-01T10:00:00.5Z\r\n\n\"q,\\\"z\",2,\n,3,2026-01-01\ny,no,\nz,4\nw,5,,6",
           "x|1|2026-01-01 10:00:00.5\nq,\"z|2|null\nnull|3|2026-01-01 "
           "00:00:00\ny|null|null\nz|4|null\nw|5|null\n",
           "x,1,2026-01-01T10:00:00.500Z\n\"q,\\\"z\",2,\n,3,2026-01-01T00:00:00.000Z\ny,,\nz,4,"
           "\nw,5,\n",
           3);
    expect("a STRING, b DOUBLE", "header", "true", "a,b\nx,1.5\ny,NaN", "x|1.5\ny|NaN\n",
           "a,b\nx,1.5\ny,NaN\n", 0);
    expect("a STRING, b BOOLEAN", "sep", "\\t", "x y\tTRUE\n z\tfalse", "x y|true\n z|false\n",
           "x y\ttrue\nz\tfalse\n", 0);
    expect("a INT, _corrupt_record STRING", NULL, NULL, "1\nx\n2,3", "1|null\nnull|x\n2|2,3\n",
           NULL, 2);
    expect("a INT, b STRING", "mode", "DROPMALFORMED", "1,x\nq,y\n2,z", "1|x\n2|z\n", NULL, 1);
    expect("a STRING, b STRING", "comment", "#", "#c\n\"it \"is\",\"open", "\"it \"is\"|open\n",
           NULL, 0);
    expect("a STRING, b STRING", "multiLine", "true", "\"x\ny\",1\n\n\"z\\\"\",\"\"\nw", "x\ny|1\nz\"|null\nw|null\n", NULL, 1);
    expect("a STRING, b STRING", "sep", "||", "x|y||z\n\"q||\"||\n", "x|y|z\nq|||null\n", NULL, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_csv)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

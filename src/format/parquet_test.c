/* format/parquet_test.c: files are written, read again, and give the same rows: every type, nested ones too, by chance from a
 * seed; pruning never loses a row; damaged files are refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "column/random_vec.h"
#include "format/parquet.h"

enum { BATCHES_MAX = 8, FIELDS_MAX = 5 };

typedef struct file_case {
    fm_arena *arena;
    fm_fs *fs;
    fm_random random;
    const fm_type *schema;
    fm_batch batches[BATCHES_MAX];
    int32_t n_batches;
    int64_t rows;
    fm_parquet_write spec;
} file_case;

static void ok(fm_status st, const fm_error *err)
{
    if (st != FM_OK) print_error("%s: %s\n", err->condition, err->message);
    assert_int_equal(st, FM_OK);
}

/* Whether Parquet has a place for it: VOID and structs without fields have none. */
static bool writable(const fm_type *t)
{
    if (t->id == FM_TYPE_NULL || (t->id == FM_TYPE_STRUCT && t->n_fields == 0)) return false;
    for (int32_t i = 0; i < t->n_fields; i++)
        if (!writable(t->fields[i].type)) return false;
    return true;
}

static void make_schema(file_case *c)
{
    fm_field fields[FIELDS_MAX];
    int32_t n = 1 + (int32_t)fm_random_next(&c->random, FIELDS_MAX);

    for (int32_t i = 0; i < n; i++) {
        do {
            fields[i] = (fm_field){fm_arena_printf(c->arena, "c%d", i), fm_random_type(&c->random, c->arena, false), true};
        } while (!writable(fields[i].type));
    }
    c->schema = fm_type_struct(c->arena, fields, n);
}

static void make_rows(file_case *c)
{
    c->n_batches = (int32_t)fm_random_next(&c->random, BATCHES_MAX + 1);
    for (int32_t b = 0; b < c->n_batches; b++) {
        int32_t rows = (int32_t)fm_random_next(&c->random, 400);
        fm_vec *columns = fm_arena_array(c->arena, fm_vec, c->schema->n_fields);
        for (int32_t i = 0; i < c->schema->n_fields; i++) columns[i] = fm_random_vec(&c->random, c->arena, c->schema->fields[i].type, rows);
        c->batches[b] = (fm_batch){.schema = c->schema, .rows = rows, .columns = columns};
        c->rows += rows;
    }
}

static void write_file(file_case *c, const char *path)
{
    fm_error err = FM_ERROR_INIT;
    fm_parquet_writer *w;
    fm_strbuf out = {0};
    fm_file *file;

    ok(fm_parquet_writer_new(&c->spec, &w, &err), &err);
    ok(fm_file_open(c->fs, path, FM_OPEN_TRUNCATE, &file, &err), &err);
    for (int32_t b = 0; b < c->n_batches; b++) {
        ok(fm_parquet_writer_write(w, &c->batches[b], &out, &err), &err);
        ok(fm_file_write(file, out.ptr, out.len, &err), &err);
        fm_strbuf_clear(&out);
    }
    ok(fm_parquet_writer_finish(w, &out, &err), &err);
    ok(fm_file_write(file, out.ptr, out.len, &err), &err);
    fm_file_stat stat;
    ok(fm_file_stat_of(file, &stat, &err), &err);
    assert_int_equal(fm_parquet_writer_result(w)->rows, c->rows);
    assert_int_equal(fm_parquet_writer_result(w)->size, stat.size);
    ok(fm_file_close(file, &err), &err);
    fm_strbuf_fini(&out);
    fm_parquet_writer_free(w);
}

static void expect_row(const file_case *c, int64_t row, const fm_batch *got, int32_t at)
{
    int32_t b = 0;

    while (row >= c->batches[b].rows) row -= c->batches[b++].rows;
    for (int32_t i = 0; i < c->schema->n_fields; i++) {
        if (fm_vec_same(&c->batches[b].columns[i], row, &got->columns[i], at)) continue;
        fm_strbuf text = {0};
        fm_type_text(c->schema->fields[i].type, &text);
        print_error("column %d of type %s, row %lld of batch %d\n", i, text.ptr, (long long)row, b);
        fail();
    }
}

/* Reads all rows and compares them; gives how many there were. */
static int64_t expect_rows(const file_case *c, const fm_parquet_file *file, fm_parquet_reader *reader, bool all)
{
    fm_error err = FM_ERROR_INIT;
    fm_arena *arena = fm_arena_new(0);
    const fm_batch *batch;
    int64_t first, rows = 0, next = 0;

    (void)file;
    for (;;) {
        fm_arena_reset(arena);
        ok(fm_parquet_reader_next(reader, arena, &batch, &first, &err), &err);
        if (!batch) break;
        ok(fm_batch_verify(batch, &err), &err);
        if (all) assert_int_equal(first, next);
        assert_true(first >= next);
        for (int32_t i = 0; i < batch->rows; i++) expect_row(c, first + i, batch, i);
        next = first + batch->rows;
        rows += batch->rows;
    }
    fm_arena_free(arena);
    return rows;
}

static void random_spec(file_case *c)
{
    fm_random *r = &c->random;

    c->spec = (fm_parquet_write){.schema = c->schema,
                                 .codec = (fm_parquet_codec)fm_random_next(r, 5),
                                 .row_group_rows = fm_random_next(r, 2) ? 0 : 300 + (int64_t)fm_random_next(r, 1000),
                                 .page_size = fm_random_next(r, 2) ? 0 : 200 + (int32_t)fm_random_next(r, 4000),
                                 .no_dictionary = fm_random_next(r, 3) == 0,
                                 .no_page_index = fm_random_next(r, 4) == 0};
}

static void open_case(file_case *c, uint64_t seed)
{
    *c = (file_case){.arena = fm_arena_new(0), .fs = fm_fs_sim_new(-1), .random = {seed}};
}

static void close_case(file_case *c)
{
    fm_fs_free(c->fs);
    fm_arena_free(c->arena);
}

static void round_trip(uint64_t seed)
{
    fm_error err = FM_ERROR_INIT;
    file_case c;
    fm_parquet_file *file;
    fm_parquet_reader *reader;

    open_case(&c, seed);
    make_schema(&c);
    make_rows(&c);
    random_spec(&c);
    write_file(&c, "/f.parquet");
    ok(fm_parquet_open(c.fs, "/f.parquet", -1, c.arena, &file, &err), &err);
    assert_int_equal(fm_parquet_rows(file), c.rows);
    if (!fm_type_eq(fm_parquet_schema(file), c.schema)) {
        fm_strbuf text = {0};
        fm_type_text(c.schema, &text);
        fm_strbuf_add_c(&text, " came back as ");
        fm_type_text(fm_parquet_schema(file), &text);
        fail_msg("%s", text.ptr);
    }
    fm_parquet_read read = {.schema = c.schema, .batch_rows = 1 + (int32_t)fm_random_next(&c.random, 700)};
    ok(fm_parquet_reader_new(file, &read, &reader, &err), &err);
    assert_int_equal(expect_rows(&c, file, reader, true), c.rows);
    fm_parquet_reader_free(reader);
    fm_parquet_close(file);
    close_case(&c);
}

static void test_round_trips(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 400; seed++) round_trip(seed * 7919);
}

/* Rows in three columns: a number that rises, one of few texts, a list; many pages and row groups. */
static void make_sorted(file_case *c)
{
    fm_error err = FM_ERROR_INIT;

    ok(fm_type_parse_ddl(c->arena, FM_STR("a BIGINT, b STRING, l ARRAY<INT>"), &c->schema, &err), &err);
    c->n_batches = BATCHES_MAX;
    for (int32_t b = 0; b < c->n_batches; b++) {
        fm_builder *builders[3];
        fm_vec *columns = fm_arena_array(c->arena, fm_vec, 3);
        for (int i = 0; i < 3; i++) builders[i] = fm_builder_new(c->arena, c->schema->fields[i].type, 1000);
        for (int32_t i = 0; i < 1000; i++) {
            int64_t x = c->rows + i;
            char text[32];
            int len = snprintf(text, sizeof text, "user-%lld-of-them", (long long)(x / 700));
            if (x % 97 == 0) fm_builder_null(builders[0]);
            else fm_builder_i64(builders[0], x);
            fm_builder_str(builders[1], (fm_str){text, (size_t)len});
            for (int64_t k = 0; k < x % 4; k++) fm_builder_i64(fm_builder_child(builders[2], 0), x + k);
            fm_builder_end(builders[2]);
        }
        for (int i = 0; i < 3; i++) ok(fm_builder_finish(builders[i], &columns[i], &err), &err);
        c->batches[b] = (fm_batch){.schema = c->schema, .rows = 1000, .columns = columns};
        c->rows += 1000;
    }
    static const int32_t bloom[] = {0, 1};
    c->spec = (fm_parquet_write){.schema = c->schema, .codec = FM_PARQUET_SNAPPY, .row_group_rows = 3000, .page_size = 1500,
                                 .bloom_columns = bloom, .n_bloom_columns = 2};
}

static fm_vec number(fm_arena *arena, int64_t x)
{
    fm_vec v;
    fm_builder *b = fm_builder_new(arena, fm_type_i64(), 1);

    fm_builder_i64(b, x);
    assert_int_equal(fm_builder_finish(b, &v, NULL), FM_OK);
    return v;
}

static fm_vec text_value(fm_arena *arena, const char *text)
{
    fm_vec v;
    fm_builder *b = fm_builder_new(arena, fm_type_string(), 1);

    fm_builder_str(b, fm_str_c(text));
    assert_int_equal(fm_builder_finish(b, &v, NULL), FM_OK);
    return v;
}

static int64_t read_pruned(file_case *c, const fm_condition *conditions, int32_t n)
{
    fm_error err = FM_ERROR_INIT;
    fm_parquet_file *file;
    fm_parquet_reader *reader;
    const fm_condition *all[4];
    fm_parquet_read read = {.schema = c->schema, .conditions = all, .n_conditions = n, .batch_rows = 333};

    assert_true(n <= 4);
    for (int32_t i = 0; i < n; i++) all[i] = &conditions[i];

    ok(fm_parquet_open(c->fs, "/f.parquet", -1, c->arena, &file, &err), &err);
    ok(fm_parquet_reader_new(file, &read, &reader, &err), &err);
    int64_t rows = expect_rows(c, file, reader, false);
    fm_parquet_reader_free(reader);
    fm_parquet_close(file);
    return rows;
}

static void test_pruning(void **state)
{
    file_case c;

    (void)state;
    open_case(&c, 1);
    make_sorted(&c);
    write_file(&c, "/f.parquet");
    fm_condition one = {.path = {0}, .n_path = 1, .type = fm_type_i64(), .op = FM_COND_EQ, .value = number(c.arena, 4321)};
    int64_t rows = read_pruned(&c, &one, 1);
    assert_in_range(rows, 1, 1000); /* a page or two of the 8,000 rows */
    one.value = number(c.arena, 99999);
    assert_int_equal(read_pruned(&c, &one, 1), 0);
    fm_condition range[] = {{.path = {0}, .n_path = 1, .type = fm_type_i64(), .op = FM_COND_GE, .value = number(c.arena, 2500)},
                                    {.path = {0}, .n_path = 1, .type = fm_type_i64(), .op = FM_COND_LT, .value = number(c.arena, 3500)}};
    rows = read_pruned(&c, range, 2);
    assert_in_range(rows, 1000, 3500);
    fm_condition name = {.path = {1}, .n_path = 1, .type = fm_type_string(), .op = FM_COND_EQ, .value = text_value(c.arena, "user-3-of-them")};
    assert_in_range(read_pruned(&c, &name, 1), 700, 3000);
    name.value = text_value(c.arena, "user-3-of-thez"); /* within the bounds, but not in the Bloom filters */
    assert_int_equal(read_pruned(&c, &name, 1), 0);
    fm_condition null = {.path = {1}, .n_path = 1, .type = fm_type_string(), .op = FM_COND_IS_NULL};
    assert_int_equal(read_pruned(&c, &null, 1), 0);
    null.op = FM_COND_NOT_NULL;
    assert_int_equal(read_pruned(&c, &null, 1), 8000);
    close_case(&c);
}

static void test_result_and_statistics(void **state)
{
    fm_error err = FM_ERROR_INIT;
    file_case c;
    fm_parquet_file *file;
    fm_parquet_stats stats;

    (void)state;
    open_case(&c, 1);
    make_sorted(&c);
    write_file(&c, "/f.parquet");
    ok(fm_parquet_open(c.fs, "/f.parquet", -1, c.arena, &file, &err), &err);
    assert_int_equal(fm_parquet_row_groups(file), 3);
    assert_int_equal(fm_parquet_row_group_at(file, 1).first_row, 3000);
    fm_str path = FM_STR("a");
    ok(fm_parquet_stats_of(file, 1, &path, 1, c.arena, &stats, &err), &err);
    assert_int_equal(stats.null_count, 31);
    assert_int_equal(fm_vec_i64(stats.min)[0], 3001 - (3001 % 97 == 0 ? 1 : 0) - 1);
    assert_int_equal(fm_vec_i64(stats.max)[0], 5999);
    assert_true(fm_parquet_metadata(file, FM_STR("org.apache.spark.sql.parquet.row.metadata")).len > 0);
    fm_parquet_close(file);
    close_case(&c);
}

/* A column the file lacks gives nulls, names fold case, types widen, order is the reader's. */
static void test_other_schema(void **state)
{
    fm_error err = FM_ERROR_INIT;
    file_case c;
    fm_parquet_file *file;
    fm_parquet_reader *reader;
    const fm_type *wanted;
    const fm_batch *batch;
    int64_t first;

    (void)state;
    open_case(&c, 1);
    make_sorted(&c);
    write_file(&c, "/f.parquet");
    ok(fm_parquet_open(c.fs, "/f.parquet", -1, c.arena, &file, &err), &err);
    ok(fm_type_parse_ddl(c.arena, FM_STR("L ARRAY<BIGINT>, missing STRUCT<x: INT>, A DECIMAL(25,2)"), &wanted, &err), &err);
    fm_parquet_read read = {.schema = wanted};
    ok(fm_parquet_reader_new(file, &read, &reader, &err), &err);
    ok(fm_parquet_reader_next(reader, c.arena, &batch, &first, &err), &err);
    ok(fm_batch_verify(batch, &err), &err);
    assert_true(fm_vec_is_null(&batch->columns[1], 5));
    assert_true(fm_vec_decimal(&batch->columns[2])[5] == 500);
    assert_int_equal(batch->columns[0].offsets[4], 6);
    assert_int_equal(fm_vec_i64(&batch->columns[0].children[0])[5], 5);
    fm_parquet_reader_free(reader);
    read.case_sensitive = true;
    ok(fm_parquet_reader_new(file, &read, &reader, &err), &err);
    ok(fm_parquet_reader_next(reader, c.arena, &batch, &first, &err), &err);
    assert_true(fm_vec_is_null(&batch->columns[2], 5));
    fm_parquet_reader_free(reader);
    ok(fm_type_parse_ddl(c.arena, FM_STR("a INT"), &wanted, &err), &err);
    read = (fm_parquet_read){.schema = wanted};
    assert_int_equal(fm_parquet_reader_new(file, &read, &reader, &err), FM_INVALID);
    assert_string_equal(err.condition, "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH");
    fm_parquet_close(file);
    close_case(&c);
}

/* Reads everything of bytes that may be anything; they may be refused, nothing else. */
static void read_anything(fm_fs *fs, fm_arena *arena)
{
    fm_error err = FM_ERROR_INIT;
    fm_parquet_file *file;
    fm_parquet_reader *reader;
    const fm_batch *batch = NULL;
    int64_t first;

    fm_arena_reset(arena);
    if (fm_parquet_open(fs, "/f.parquet", -1, arena, &file, &err) != FM_OK) return;
    fm_parquet_read read = {.schema = fm_parquet_schema(file)};
    if (fm_parquet_check_schema(file, &err) == FM_OK && fm_parquet_reader_new(file, &read, &reader, &err) == FM_OK) {
        for (int i = 0; i < 20; i++) {
            if (fm_parquet_reader_next(reader, arena, &batch, &first, &err) != FM_OK || !batch) break;
            assert_int_equal(fm_batch_verify(batch, &err), FM_OK);
        }
        fm_parquet_reader_free(reader);
    }
    fm_parquet_close(file);
}

static void test_damage(void **state)
{
    fm_error err = FM_ERROR_INIT;
    file_case c;
    fm_str good;

    (void)state;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        open_case(&c, seed);
        make_schema(&c);
        make_rows(&c);
        random_spec(&c);
        write_file(&c, "/f.parquet");
        ok(fm_fs_read_all(c.fs, "/f.parquet", 1 << 30, c.arena, &good, &err), &err);
        fm_arena *arena = fm_arena_new(0);
        for (int k = 0; k < 60; k++) {
            char *bad = malloc(good.len);
            memcpy(bad, good.ptr, good.len);
            size_t tail = good.len < 600 || k % 2 ? good.len : 600; /* half of the damage in the footer */
            for (int i = 0; i <= k % 3; i++) bad[good.len - 1 - fm_random_next(&c.random, tail)] ^= (char)(1 << fm_random_next(&c.random, 8));
            size_t len = k % 10 == 9 ? fm_random_next(&c.random, good.len) : good.len;
            ok(fm_fs_write_atomic(c.fs, "/f.parquet", (fm_str){bad, len}, true, &err), &err);
            read_anything(c.fs, arena);
            free(bad);
        }
        fm_arena_free(arena);
        close_case(&c);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round_trips), cmocka_unit_test(test_pruning),      cmocka_unit_test(test_result_and_statistics),
        cmocka_unit_test(test_other_schema), cmocka_unit_test(test_damage),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

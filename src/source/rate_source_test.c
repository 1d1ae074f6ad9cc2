/* source/rate_source_test.c: rows counted by the clock and by the batch. */
#include "source/source.h"

#include "expr/cast.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct fixture {
    char dir[64];
    fm_arena *arena;
    fm_clock *clock;
    fm_session_conf conf;
    fm_options session;
    fm_source_env env;
    fm_table_def table;
    fm_error err;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    memcpy(f->dir, "/tmp/fm_rate_source_XXXXXX", 27);
    assert_non_null(mkdtemp(f->dir));
    f->arena = fm_arena_new(0);
    f->clock = fm_clock_sim_new(INT64_C(1767225600) * 1000000);
    f->conf.zone = fm_zone_utc();
    f->env = (fm_source_env){
        .fs = fm_fs_real(), .clock = f->clock, .conf = &f->conf, .session = &f->session};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    fm_fs_remove_all(fm_fs_real(), f->dir, NULL);
    fm_clock_free(f->clock);
    fm_arena_free(f->arena);
    free(f);
    return 0;
}

static void set(fixture *f, const char *key, const char *value)
{
    assert_true(fm_options_set(f->arena, &f->table.options, fm_str_c(key), fm_str_c(value)));
}

static fm_source *open_source(fixture *f, const char *format)
{
    const fm_type *schema = NULL;
    fm_source *source = NULL;
    static const int32_t wanted[] = {1, 0};

    f->table.format = fm_str_c(format);
    const fm_source_type *type = fm_source_find(f->table.format);
    if (type->schema(&f->env, &f->table, true, f->arena, &schema, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    fm_source_spec spec = {.table = &f->table,
                           .schema = schema,
                           .wanted = wanted,
                           .n_wanted = 2,
                           .metadata_dir = f->dir};
    if (type->open(&f->env, &spec, f->arena, &source, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    return source;
}

static fm_status collect(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_strbuf *text = ctx;

    assert_int_equal(fm_batch_verify(batch, err), FM_OK);
    for (int32_t row = 0; row < batch->rows; row++) {
        fm_value_text(&batch->columns[0], row, fm_zone_utc(), text);
        fm_strbuf_add_char(text, '@');
        fm_strbuf text2 = {0};
        fm_value_text(&batch->columns[1], row, fm_zone_utc(), &text2);
        fm_strbuf_add_c(text, text2.ptr + 11);
        fm_strbuf_add_char(text, ' ');
        fm_strbuf_fini(&text2);
    }
    return FM_OK;
}

static void expect(fixture *f, fm_source *source, const char *start, const char *end,
                   const char *rows)
{
    fm_split *splits;
    fm_split_reader *reader;
    int32_t n;
    fm_strbuf text = {0};

    fm_strbuf_add_c(&text, "");
    assert_int_equal(source->type->plan_splits(source, fm_str_c(start), fm_str_c(end), 2, f->arena,
                                               &splits, &n, &f->err),
                     FM_OK);
    assert_int_equal(source->type->reader_open(source, f->arena, &reader, &f->err), FM_OK);
    for (int32_t i = 0; i < n; i++)
        assert_int_equal(
            source->type->reader_read(reader, &splits[i], collect, &text, NULL, &f->err), FM_OK);
    source->type->reader_close(reader);
    assert_string_equal(text.ptr, rows);
    fm_strbuf_fini(&text);
}

static fm_str latest(fixture *f, fm_source *source, const char *start)
{
    fm_str end, latest_end;

    assert_int_equal(source->type->latest_offset(source, fm_str_c(start), FM_READ_LIMITED, f->arena,
                                                 &end, &latest_end, &f->err),
                     FM_OK);
    return end;
}

static void test_rate(void **state)
{
    fixture *f = *state;

    set(f, "rowsPerSecond", "5");
    fm_source *source = open_source(f, "rate");
    assert_string_equal(latest(f, source, "").ptr, "0");
    fm_clock_sim_advance(f->clock, 4900000);
    assert_string_equal(latest(f, source, "0").ptr, "4");
    expect(f, source, "2", "4",
           "10@00:00:02 11@00:00:02.2 12@00:00:02.4 13@00:00:02.6 14@00:00:02.8 15@00:00:03 "
           "16@00:00:03.2 17@00:00:03.4 "
           "18@00:00:03.6 19@00:00:03.8 ");
    /* Again, later: the same rows, since the moment of creation is kept. */
    source = open_source(f, "rate");
    assert_int_equal(source->type->restore(source, FM_STR("7"), &f->err), FM_OK);
    assert_string_equal(latest(f, source, "7").ptr, "7");
    expect(f, source, "2", "3",
           "10@00:00:02 11@00:00:02.2 12@00:00:02.4 13@00:00:02.6 14@00:00:02.8 ");
    assert_int_equal(source->type->restore(source, FM_STR("{}"), &f->err), FM_CORRUPT);
}

static void test_ramp(void **state)
{
    fixture *f = *state;

    set(f, "rowsPerSecond", "5");
    set(f, "rampUpTime", "2s");
    fm_source *source = open_source(f, "rate"); /* V(1..4) = 1, 3, 8, 13 */
    expect(f, source, "", "1", "0@00:00:00 ");
    expect(f, source, "1", "2", "1@00:00:01 2@00:00:01.5 ");
    expect(f, source, "2", "3", "3@00:00:02 4@00:00:02.2 5@00:00:02.4 6@00:00:02.6 7@00:00:02.8 ");
}

static void test_micro_batch(void **state)
{
    fixture *f = *state;

    set(f, "rowsPerBatch", "3");
    set(f, "startTimestamp", "10000");
    set(f, "advanceMillisPerBatch", "5000");
    fm_source *source = open_source(f, "rate-micro-batch");
    fm_str first = latest(f, source, "");
    assert_string_equal(first.ptr, "{\"offset\":3,\"timestamp\":15000}");
    expect(f, source, "", first.ptr, "0@00:00:10 1@00:00:10 2@00:00:10 ");
    fm_str second = latest(f, source, first.ptr);
    expect(f, source, first.ptr, second.ptr, "3@00:00:15 4@00:00:15 5@00:00:15 ");
    assert_int_equal(source->type->fix_target(source, &f->err), FM_OK);
    fm_str third = latest(f, source, second.ptr);
    assert_string_equal(third.ptr, "{\"offset\":9,\"timestamp\":25000}");
    assert_string_equal(latest(f, source, third.ptr).ptr, third.ptr);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_rate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_ramp, setup, teardown),
        cmocka_unit_test_setup_teardown(test_micro_batch, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

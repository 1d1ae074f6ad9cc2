/* source/file_source_test.c: files taken once, in order, within limits; pieces that meet; packed
 * files; values in paths; the log of what was taken. */
#include "source/source.h"

#include "expr/cast.h"
#include "os/random.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include <cmocka.h>

typedef struct fixture {
    char dir[64];
    fm_arena *arena;
    fm_session_conf conf;
    fm_options session, table_options;
    fm_source_env env;
    fm_table_def table;
    fm_error err;
} fixture;

static int setup(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    snprintf(f->dir, sizeof f->dir, "/tmp/fm_file_source_XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    f->arena = fm_arena_new(0);
    f->conf.zone = fm_zone_utc();
    f->env = (fm_source_env){.fs = fm_fs_real(),
                             .clock = fm_clock_real(),
                             .conf = &f->conf,
                             .session = &f->session,
                             .corrupt_column = FM_STR("_corrupt_record")};
    f->table = (fm_table_def){.name = FM_STR("t"), .format = FM_STR("json")};
    *state = f;
    return 0;
}

static int teardown(void **state)
{
    fixture *f = *state;

    fm_fs_remove_all(fm_fs_real(), f->dir, NULL);
    fm_arena_free(f->arena);
    free(f);
    return 0;
}

/* Writes <dir>/<name> with a modification time of base + seconds. */
static void write_file(fixture *f, const char *name, fm_str text, int64_t seconds)
{
    fm_str path = fm_arena_printf(f->arena, "%s/%s", f->dir, name);
    fm_str dir =
        fm_arena_str(f->arena, (fm_str){path.ptr, (size_t)(strrchr(path.ptr, '/') - path.ptr)});
    struct timeval times[2] = {{1700000000 + seconds, 0}, {1700000000 + seconds, 0}};

    assert_int_equal(fm_fs_mkdirs(fm_fs_real(), dir.ptr, &f->err), FM_OK);
    assert_int_equal(fm_fs_write_atomic(fm_fs_real(), path.ptr, text, true, &f->err), FM_OK);
    assert_int_equal(utimes(path.ptr, times), 0);
}

static void set(fixture *f, const char *key, const char *value)
{
    assert_true(fm_options_set(f->arena, &f->table_options, fm_str_c(key), fm_str_c(value)));
}

static void declare(fixture *f, const char *ddl, const char *path)
{
    fm_str full = fm_arena_printf(f->arena, "%s/%s", f->dir, path);

    assert_int_equal(fm_type_parse_ddl(f->arena, fm_str_c(ddl), &f->table.schema, &f->err), FM_OK);
    set(f, "path", full.ptr);
}

static fm_source *open_source(fixture *f, const char *metadata, bool position)
{
    const fm_type *schema = NULL;
    fm_source *source = NULL;
    int32_t *wanted = fm_arena_array(f->arena, int32_t, 16);
    const char *dir = NULL;

    f->table.options = f->table_options;
    const fm_source_type *type = fm_source_find(f->table.format);
    if (metadata) dir = fm_arena_printf(f->arena, "%s/%s", f->dir, metadata).ptr;
    if (type->schema(&f->env, &f->table, metadata != NULL, f->arena, &schema, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    for (int32_t i = 0; i < schema->n_fields; i++) wanted[i] = i;
    fm_source_spec spec = {.table = &f->table,
                           .schema = schema,
                           .wanted = wanted,
                           .n_wanted = schema->n_fields,
                           .want_position = position,
                           .metadata_dir = dir};
    if (type->open(&f->env, &spec, f->arena, &source, &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    return source;
}

static fm_status collect(void *ctx, const fm_batch *batch, fm_error *err)
{
    fm_strbuf *text = ctx;

    assert_int_equal(fm_batch_verify(batch, err), FM_OK);
    for (int32_t row = 0; row < batch->rows; row++) {
        for (int32_t i = 0; i < batch->schema->n_fields; i++) {
            if (i) fm_strbuf_add_char(text, '|');
            if (fm_vec_is_null(&batch->columns[i], row))
                fm_strbuf_add_c(text, "null");
            else
                fm_value_text(&batch->columns[i], row, fm_zone_utc(), text);
        }
        fm_strbuf_add_char(text, ' ');
    }
    return FM_OK;
}

/* Rows of a range, split by split. */
static fm_status read_range(fixture *f, fm_source *source, fm_str start, fm_str end, fm_strbuf *out)
{
    fm_split *splits = NULL;
    fm_split_reader *reader = NULL;
    int32_t n = 0;

    fm_strbuf_clear(out);
    fm_strbuf_add_c(out, "");
    FM_TRY(source->type->plan_splits(source, start, end, 1, f->arena, &splits, &n, &f->err));
    FM_TRY(source->type->reader_open(source, f->arena, &reader, &f->err));
    fm_status st = FM_OK;
    for (int32_t i = 0; i < n && st == FM_OK; i++)
        st = source->type->reader_read(reader, &splits[i], collect, out, NULL, &f->err);
    source->type->reader_close(reader);
    return st;
}

static void expect_batch(fixture *f, fm_source *source, fm_str *at, const char *rows)
{
    fm_str end, latest;
    fm_strbuf text = {0};

    if (source->type->latest_offset(source, *at, FM_READ_LIMITED, f->arena, &end, &latest,
                                    &f->err) != FM_OK)
        fail_msg("%s", f->err.message);
    if (read_range(f, source, *at, end, &text) != FM_OK) fail_msg("%s", f->err.message);
    assert_string_equal(text.ptr, rows);
    fm_strbuf_fini(&text);
    *at = end;
}

static void test_stream(void **state)
{
    fixture *f = *state;
    fm_str at = {"", 0}, log;

    write_file(f, "in/b.json", FM_STR("{\"a\":2}\n"), 2);
    write_file(f, "in/a c.json", FM_STR("{\"a\":1}"), 1);
    write_file(f, "in/_hidden", FM_STR("{\"a\":9}"), 1);
    write_file(f, "in/.hidden", FM_STR("{\"a\":9}"), 1);
    write_file(f, "in/sub/x.json", FM_STR("{\"a\":9}"), 1);
    declare(f, "a INT", "in");
    set(f, "maxFilesPerTrigger", "1");
    fm_source *source = open_source(f, "ck/sources/0", false);
    expect_batch(f, source, &at, "1 ");
    assert_string_equal(at.ptr, "{\"logOffset\":0}");
    expect_batch(f, source, &at, "2 ");
    expect_batch(f, source, &at, "");
    assert_string_equal(at.ptr, "{\"logOffset\":1}");
    fm_str path = fm_arena_printf(f->arena, "%s/ck/sources/0/0", f->dir);
    assert_int_equal(fm_fs_read_all(fm_fs_real(), path.ptr, 1000, f->arena, &log, &f->err), FM_OK);
    fm_str want = fm_arena_printf(
        f->arena,
        "v1\n{\"path\":\"file://%s/in/a%%20c.json\",\"timestamp\":1700000001000,\"batchId\":0,\"floodmarkChecksum\":\"",
        f->dir);
    assert_true(fm_str_starts(log, want));
    assert_int_equal(log.len, want.len + strlen("0123456789abcdef\"}"));
    source->type->close(source);
    /* Another run: knows what was taken, and takes a changed file no more. */
    write_file(f, "in/b.json", FM_STR("{\"a\":22}\n"), 5);
    write_file(f, "in/c.json", FM_STR("{\"a\":3}\r\n{\"a\":4}\r\n"), 3);
    source = open_source(f, "ck/sources/0", false);
    assert_int_equal(source->type->restore(source, at, &f->err), FM_OK);
    expect_batch(f, source, &at, "3 4 ");
    source->type->close(source);
    assert_int_equal(source->type->restore(source, FM_STR("{\"logOffset\":7}"), &f->err),
                     FM_CORRUPT);
}

static void test_limits(void **state)
{
    fixture *f = *state;
    fm_str at = {"", 0};
    char line[101];

    memset(line, ' ', sizeof line);
    for (int i = 0; i < 3;
         i++) { /* files of 40, 70 and 10 bytes: a limit of 100 gives {40}, {70, 10} */
        char name[32];
        int n = snprintf(line, sizeof line, "{\"a\":%d}", i);
        line[n] = ' ';
        snprintf(name, sizeof name, "in/%d.json", i);
        write_file(f, name, (fm_str){line, i == 0 ? 40 : i == 1 ? 70 : 10}, i);
    }
    declare(f, "a INT", "in/*.js{on,}");
    set(f, "maxBytesPerTrigger", "100");
    fm_source *source = open_source(f, "ck", false);
    expect_batch(f, source, &at, "0 ");
    expect_batch(f, source, &at, "1 2 ");
    source->type->close(source);
}

static void test_cleaning(void **state)
{
    fixture *f = *state;
    fm_str at = {"", 0};
    fm_file_stat stat;

    write_file(f, "in/a.json", FM_STR("{\"a\":1}"), 1);
    declare(f, "a INT", "in");
    set(f, "cleanSource", "archive");
    fm_str archive = fm_arena_printf(f->arena, "%s/old", f->dir);
    set(f, "sourceArchiveDir", archive.ptr);
    fm_source *source = open_source(f, "ck", false);
    expect_batch(f, source, &at, "1 ");
    assert_int_equal(source->type->commit(source, at, &f->err), FM_OK);
    fm_str moved = fm_arena_printf(f->arena, "%s/old%s/in/a.json", f->dir, f->dir);
    assert_int_equal(fm_fs_stat(fm_fs_real(), moved.ptr, &stat, &f->err), FM_OK);
    source->type->close(source);
}

static void test_partitions(void **state)
{
    fixture *f = *state;
    fm_strbuf text = {0};
    fm_str none = {"", 0};

    write_file(f, "in/d=2026-01-02/k=x%2Fy/a.json", FM_STR("{\"a\":1}\n{\"a\":2}"), 1);
    write_file(f, "in/d=2026-01-03/k=__HIVE_DEFAULT_PARTITION__/b.json", FM_STR("{\"a\":3}"), 2);
    declare(f, "k STRING, a INT", "in");
    fm_source *source = open_source(f, NULL, true);
    assert_int_equal(read_range(f, source, none, none, &text), FM_OK);
    fm_str want = fm_arena_printf(
        f->arena,
        "1|2026-01-02|x/y|%s/in/d=2026-01-02/k=x%%2Fy/a.json:1 "
        "2|2026-01-02|x/y|%s/in/d=2026-01-02/k=x%%2Fy/a.json:2 "
        "3|2026-01-03|null|%s/in/d=2026-01-03/k=__HIVE_DEFAULT_PARTITION__/b.json:1 ",
        f->dir, f->dir, f->dir);
    assert_string_equal(text.ptr, want.ptr);
    fm_strbuf_fini(&text);
}

/* Lines of random length over several pieces, plain and packed: all once, in order. */
static void test_pieces(void **state)
{
    fixture *f = *state;
    fm_strbuf lines = {0}, want = {0}, got = {0};
    fm_str none = {"", 0};
    uint64_t seed = 7;

    for (int i = 0; lines.len < 11u << 20; i++) {
        seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
        int pad = (int)((seed >> 33) % (i % 1000 == 7 ? 3000000 : 200));
        fm_strbuf_printf(&lines, "{\"a\":%d%*s}\n", i, pad, "");
        fm_strbuf_printf(&want, "%d ", i);
    }
    write_file(f, "in/a.json", fm_strbuf_str(&lines), 1);
    declare(f, "a INT", "in");
    fm_source *source = open_source(f, NULL, false);
    assert_int_equal(read_range(f, source, none, none, &got), FM_OK);
    assert_true(fm_str_eq(fm_strbuf_str(&got), fm_strbuf_str(&want)));

    fm_str packed = fm_arena_printf(f->arena, "%s/in/a.json.gz", f->dir);
    gzFile gz = gzopen(packed.ptr, "wb1");
    assert_int_equal(gzwrite(gz, lines.ptr, (unsigned)lines.len), (int)lines.len);
    gzclose(gz);
    set(f, "pathGlobFilter", "*.gz");
    source = open_source(f, NULL, false);
    assert_int_equal(read_range(f, source, none, none, &got), FM_OK);
    assert_true(fm_str_eq(fm_strbuf_str(&got), fm_strbuf_str(&want)));
    /* Half of it is no file. */
    fm_str whole;
    assert_int_equal(fm_fs_read_all(fm_fs_real(), packed.ptr, 1u << 30, f->arena, &whole, &f->err),
                     FM_OK);
    whole.len /= 2;
    assert_int_equal(fm_fs_write_atomic(fm_fs_real(), packed.ptr, whole, true, &f->err), FM_OK);
    assert_int_equal(read_range(f, source, none, none, &got), FM_CORRUPT);
    fm_strbuf_fini(&lines);
    fm_strbuf_fini(&want);
    fm_strbuf_fini(&got);
}

static void test_missing(void **state)
{
    fixture *f = *state;
    fm_strbuf text = {0};
    fm_str end, latest, none = {"", 0};

    write_file(f, "in/a.json", FM_STR("{\"a\":1}"), 1);
    declare(f, "a INT", "in");
    fm_source *source = open_source(f, "ck", false);
    assert_int_equal(source->type->latest_offset(source, none, FM_READ_LIMITED, f->arena, &end,
                                                 &latest, &f->err),
                     FM_OK);
    fm_str path = fm_arena_printf(f->arena, "%s/in/a.json", f->dir);
    assert_int_equal(fm_fs_remove(fm_fs_real(), path.ptr, &f->err), FM_OK);
    assert_int_equal(read_range(f, source, none, end, &text), FM_UNAVAILABLE);
    assert_string_equal(f->err.condition, "FAILED_READ_FILE.FILE_NOT_EXIST");
    source->type->close(source);
    set(f, "ignoreMissingFiles", "true");
    source = open_source(f, "ck", false);
    assert_int_equal(read_range(f, source, none, end, &text), FM_OK);
    source->type->close(source);
    fm_strbuf_fini(&text);
}

static void test_fail_fast_line(void **state)
{
    fixture *f = *state;
    fm_strbuf lines = {0}, text = {0};
    fm_str none = {"", 0};

    for (int i = 0; lines.len < 5u << 20; i++) fm_strbuf_printf(&lines, "{\"a\":%7d}\n", i);
    memcpy(lines.ptr + 14 * 300000, "{\"a\":no}     ", 13); /* in the second piece */
    write_file(f, "in/a.json", fm_strbuf_str(&lines), 1);
    declare(f, "a INT", "in");
    set(f, "mode", "FAILFAST");
    fm_source *source = open_source(f, NULL, false);
    assert_int_equal(read_range(f, source, none, none, &text), FM_INVALID);
    assert_non_null(strstr(f->err.message, "/in/a.json, line 300001, byte 4200000"));
    fm_strbuf_fini(&lines);
    fm_strbuf_fini(&text);
}

/* A record many pieces long is read in time that grows with its length, not with the square of it. */
static void test_long_record(void **state)
{
    enum { LONG = 128 << 20 };
    fixture *f = *state;
    fm_strbuf text = {0};
    fm_str none = {"", 0};
    char *line = malloc(LONG);

    assert_non_null(line);
    memset(line, 'x', LONG);
    memcpy(line, "{\"a\":1,\"k\":\"", 12);
    memcpy(line + LONG - 11, "\"}\n{\"a\":2}", 11);
    write_file(f, "in/a.json", (fm_str){line, LONG}, 1);
    declare(f, "a INT", "in");
    fm_source *source = open_source(f, NULL, false);
    clock_t begun = clock();
    assert_int_equal(read_range(f, source, none, none, &text), FM_OK);
    assert_string_equal(text.ptr, "1 2 ");
    assert_true((clock() - begun) / CLOCKS_PER_SEC < 10); /* it was a minute and more */
    source->type->close(source);
    fm_strbuf_fini(&text);
    free(line);
}

/* Paths and schemas that would read nothing, or something else than meant, without a word. */
static void test_refused(void **state)
{
    static const struct {
        const char *ddl, *path;
        bool is_stream;
        const char *condition; /* NULL: fine */
    } cases[] = {
        {"a INT", "none*.json", false, "PATH_NOT_FOUND"}, {"a INT", "none*.json", true, NULL}, {"a INT", "in/[a.json", true, "FLOODMARK_INVALID_PATTERN"},
        {"a INT", "in/\\[a.json", true, NULL},           {"a INT", "in/[]a].json", false, NULL}, {"a INT", "in/pipe", false, "FLOODMARK_NOT_A_FILE"},
        {"a INT, A INT", "in", false, "COLUMN_ALREADY_EXISTS"}, {"s STRUCT<a: INT, b: INT, a: INT>", "in", true, "COLUMN_ALREADY_EXISTS"},
    };
    fixture *f = *state;

    write_file(f, "in/a.json", FM_STR("{\"a\":1}"), 1);
    assert_int_equal(mkfifo(fm_arena_printf(f->arena, "%s/in/pipe", f->dir).ptr, 0600), 0);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_source *source = NULL;
        fm_split *splits;
        const fm_type *schema;
        int32_t n, wanted[1] = {0};
        fm_str end, latest, none = {"", 0};

        declare(f, cases[i].ddl, cases[i].path);
        f->table.options = f->table_options;
        const fm_source_type *type = fm_source_find(f->table.format);
        fm_source_spec spec = {.table = &f->table, .wanted = wanted, .n_wanted = 1,
                               .metadata_dir = cases[i].is_stream ? fm_arena_printf(f->arena, "%s/ck%zu", f->dir, i).ptr : NULL};
        fm_status st = type->schema(&f->env, &f->table, cases[i].is_stream, f->arena, &schema, &f->err);
        spec.schema = st == FM_OK ? schema : NULL;
        if (st == FM_OK) st = type->open(&f->env, &spec, f->arena, &source, &f->err);
        if (st == FM_OK && cases[i].is_stream) st = type->latest_offset(source, none, FM_READ_LIMITED, f->arena, &end, &latest, &f->err);
        else if (st == FM_OK) st = type->plan_splits(source, none, none, 1, f->arena, &splits, &n, &f->err);
        if (source) type->close(source);
        if (!cases[i].condition && st != FM_OK) fail_msg("%s: %s", cases[i].path, f->err.message);
        if (cases[i].condition) assert_int_not_equal(st, FM_OK);
        if (cases[i].condition) assert_string_equal(f->err.condition, cases[i].condition);
    }
}

/* A pipe among the files of a folder is not waited for. */
static void test_pipe_in_folder(void **state)
{
    fixture *f = *state;
    fm_strbuf text = {0};
    fm_str none = {"", 0};

    write_file(f, "in/a.json", FM_STR("{\"a\":1}"), 1);
    assert_int_equal(mkfifo(fm_arena_printf(f->arena, "%s/in/b.json", f->dir).ptr, 0600), 0);
    declare(f, "a INT", "in");
    fm_source *source = open_source(f, NULL, false);
    assert_int_equal(read_range(f, source, none, none, &text), FM_OK);
    assert_string_equal(text.ptr, "1 ");
    source->type->close(source);
    fm_strbuf_fini(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_stream, setup, teardown),
        cmocka_unit_test_setup_teardown(test_limits, setup, teardown),
        cmocka_unit_test_setup_teardown(test_cleaning, setup, teardown),
        cmocka_unit_test_setup_teardown(test_partitions, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pieces, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fail_fast_line, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_record, setup, teardown),
        cmocka_unit_test_setup_teardown(test_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(test_pipe_in_folder, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* sink/file_sink_test.c: files, their log, and that every batch is there exactly once whatever happens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>
#include <zstd.h>

#include "base/seal.h"
#include "format/json.h"
#include "os/thread.h"
#include "sink/file_writer.h"
#include "sink/partition_path.h"
#include "sink/sink_fixture.h"
#include "sink/sinks.h"
#include "table/file_log.h"
#include "table/file_uri.h"

static fm_sink *open_sink(sink_fixture *f)
{
    fm_sink *sink = NULL;
    fm_status st = fm_sink_json.open(&f->env, &f->spec, f->arena, &sink, &f->err);

    if (st != FM_OK) print_message("%s\n", f->err.message);
    assert_int_equal(st, FM_OK);
    return sink;
}

static fm_status must_fail(sink_fixture *f, const char *part_of_message)
{
    fm_sink *sink = NULL;
    fm_status st = fm_sink_json.open(&f->env, &f->spec, f->arena, &sink, &f->err);

    assert_int_not_equal(st, FM_OK);
    assert_null(sink);
    if (!strstr(f->err.message, part_of_message)) fail_msg("'%s' is not in '%s'", part_of_message, f->err.message);
    return st;
}

/* ---- What a reader sees ------------------------------------------------------------------------------------ */

typedef struct listing {
    sink_fixture *f;
    fm_str paths[4096];
    int32_t n;
} listing;

static fm_status add_line(void *ctx, fm_str line, fm_error *err)
{
    listing *l = ctx;
    const fm_json *entry;
    int64_t size;
    fm_file_stat stat;

    FM_TRY(fm_json_read(l->f->arena, line, &entry, err));
    FM_TRY(fm_file_path(l->f->arena, fm_json_get(entry, "path")->text, &l->paths[l->n], err));
    FM_TRY(fm_fs_stat(l->f->env.fs, l->paths[l->n].ptr, &stat, err));
    assert_true(fm_json_i64(fm_json_get(entry, "size"), &size));
    assert_int_equal(size, stat.size);
    l->n++;
    return FM_OK;
}

static void list_files(sink_fixture *f, const char *dir, listing *l)
{
    fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
    fm_file_log log;
    fm_str path = fm_arena_printf(f->arena, "%s/_spark_metadata", dir);

    l->f = f;
    l->n = 0;
    assert_int_equal(fm_file_log_open(&log, f->env.fs, f->env.clock, path.ptr, "log", &settings, false, f->arena, &f->err), FM_OK);
    assert_int_equal(fm_file_log_read_all(&log, add_line, l, &f->err), FM_OK);
}

static int by_text(const void *a, const void *b) { return fm_str_cmp(*(const fm_str *)a, *(const fm_str *)b); }

/* All lines of all visible files, sorted, joined by blanks. */
static fm_str visible(sink_fixture *f, const char *dir)
{
    static listing l;
    static fm_str lines[65536];
    int32_t n = 0;
    fm_strbuf all = {0};

    list_files(f, dir, &l);
    for (int32_t i = 0; i < l.n; i++) {
        fm_str text;
        assert_int_equal(fm_fs_read_all(f->env.fs, l.paths[i].ptr, 1 << 26, f->arena, &text, &f->err), FM_OK);
        while (text.len) {
            const char *end = memchr(text.ptr, '\n', text.len);
            assert_non_null(end);
            lines[n++] = (fm_str){text.ptr, (size_t)(end - text.ptr)};
            text = (fm_str){end + 1, text.len - lines[n - 1].len - 1};
        }
    }
    qsort(lines, (size_t)n, sizeof *lines, by_text);
    fm_strbuf_add_c(&all, "");
    for (int32_t i = 0; i < n; i++) {
        if (i) fm_strbuf_add_char(&all, ' ');
        fm_strbuf_add(&all, lines[i]);
    }
    fm_str out = fm_arena_str(f->arena, fm_strbuf_str(&all));
    fm_strbuf_fini(&all);
    return out.ptr ? out : FM_STR("");
}

/* ---- Files and log ----------------------------------------------------------------------------------------- */

static const fm_batch *numbers(sink_fixture *f, int32_t from, int32_t n)
{
    const char **cells = fm_arena_array(f->arena, const char *, n);

    for (int32_t i = 0; i < n; i++) cells[i] = fm_arena_printf(f->arena, "%d", from + i).ptr;
    return sink_fixture_batch(f, cells, n);
}

static void test_files_and_log(void **state)
{
    sink_fixture f;
    int64_t rows;
    fm_str text;
    listing *l = calloc(1, sizeof *l);
    fm_strbuf wanted = {0}, description = {0};

    sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "file:///data/out 1/");
    fm_sink *sink = open_sink(&f);
    sink->type->description(sink, &description);
    assert_string_equal(description.ptr, "FileSink[file:/data/out 1]");
    const fm_batch *parts[3] = {numbers(&f, 0, 2), numbers(&f, 0, 0), numbers(&f, 2, 1)};
    assert_int_equal(sink_fixture_write(&f, sink, 0, parts, 3, &rows), FM_OK);
    assert_int_equal(rows, 3);
    assert_string_equal(visible(&f, "/data/out 1").ptr, "{\"n\":0} {\"n\":1} {\"n\":2}");
    list_files(&f, "/data/out 1", l);
    assert_int_equal(l->n, 2); /* a writer without rows makes no file */
    assert_true(fm_str_starts(l->paths[0], FM_STR("/data/out 1/part-00000-")) && fm_str_ends(l->paths[0], FM_STR("-c000.json")));
    assert_true(fm_str_starts(l->paths[1], FM_STR("/data/out 1/part-00002-")));
    assert_int_equal(l->paths[0].len, strlen("/data/out 1/part-00000-00000000-0000-0000-0000-000000000000-c000.json"));

    assert_int_equal(fm_fs_read_all(f.env.fs, "/data/out 1/_spark_metadata/0", 4096, f.arena, &text, &f.err), FM_OK);
    fm_strbuf_add_c(&wanted, "v1");
    for (int i = 0; i < 2; i++) {
        fm_file_stat stat;
        assert_int_equal(fm_fs_stat(f.env.fs, l->paths[i].ptr, &stat, &f.err), FM_OK);
        fm_strbuf_add_char(&wanted, '\n');
        size_t line = wanted.len;
        fm_strbuf_printf(&wanted,
                         "{\"path\":\"file:///data/out%%201/%s\",\"size\":%" PRId64 ",\"isDir\":false,\"modificationTime\":%" PRId64
                         ",\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"" FM_SEAL_FIELD "}",
                         strrchr(l->paths[i].ptr, '/') + 1, stat.size, stat.modified_ms);
        fm_seal(wanted.ptr + line, wanted.len - line);
    }
    assert_string_equal(text.ptr, wanted.ptr);

    assert_int_equal(sink_fixture_write(&f, sink, 1, parts, 0, &rows), FM_OK); /* a batch without rows */
    assert_int_equal(fm_fs_read_all(f.env.fs, "/data/out 1/_spark_metadata/1", 4096, f.arena, &text, &f.err), FM_OK);
    assert_string_equal(text.ptr, "v1");
    assert_int_equal(sink_fixture_write(&f, sink, 1, parts, 3, &rows), FM_OK); /* written already */
    assert_int_equal(rows, 0);
    assert_string_equal(visible(&f, "/data/out 1").ptr, "{\"n\":0} {\"n\":1} {\"n\":2}");
    sink->type->close(sink);
    fm_strbuf_fini(&wanted);
    fm_strbuf_fini(&description);
    free(l);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

static size_t inflate_all(void *out, size_t size, const void *in, size_t len)
{
    z_stream z = {.next_in = (unsigned char *)(uintptr_t)in, .avail_in = (unsigned)len, .next_out = out, .avail_out = (unsigned)size};

    assert_int_equal(inflateInit2(&z, 15 + 16), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    inflateEnd(&z);
    return z.total_out;
}

static void test_packed(const char *compression, const char *ends, size_t (*unpack)(void *out, size_t size, const void *in, size_t len))
{
    sink_fixture f;
    int64_t rows;
    fm_str packed;
    listing *l = calloc(1, sizeof *l);
    char *plain = calloc(1, 4 << 20);
    fm_strbuf wanted = {0};

    sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "/out");
    sink_fixture_option(&f, "compression", compression);
    fm_sink *sink = open_sink(&f);
    const fm_batch *parts[100];
    fm_sink_writer *w;
    bool skip;
    for (int i = 0; i < 100; i++) parts[i] = numbers(&f, i * 1000, 1000);
    assert_int_equal(sink->type->begin(sink, 0, 1, &skip, &f.err), FM_OK);
    assert_int_equal(sink->type->writer_open(sink, 0, &w, &f.err), FM_OK);
    for (int i = 0; i < 100; i++) assert_int_equal(sink->type->write(w, parts[i], &f.err), FM_OK);
    assert_int_equal(sink->type->writer_close(w, &f.err), FM_OK);
    assert_int_equal(sink->type->commit(sink, 0, &rows, &f.err), FM_OK);
    list_files(&f, "/out", l);
    assert_int_equal(l->n, 1);
    assert_true(fm_str_ends(l->paths[0], fm_str_c(ends)));
    assert_int_equal(fm_fs_read_all(f.env.fs, l->paths[0].ptr, 1 << 26, f.arena, &packed, &f.err), FM_OK);
    size_t len = unpack(plain, 4 << 20, packed.ptr, packed.len);
    for (int i = 0; i < 100000; i++) fm_strbuf_printf(&wanted, "{\"n\":%d}\n", i);
    assert_int_equal(len, wanted.len);
    assert_memory_equal(plain, wanted.ptr, wanted.len);
    sink->type->close(sink);
    fm_strbuf_fini(&wanted);
    free(plain);
    free(l);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

static void test_gzip(void **state) { test_packed("GZIP", "-c000.json.gz", inflate_all); }
static void test_zstd(void **state) { test_packed("zstd", "-c000.json.zst", ZSTD_decompress); }

/* ---- Partitions -------------------------------------------------------------------------------------------- */

static void test_partitions(void **state)
{
    static const char *const cells[] = {
        "a/b", "1", "2026-03-01 10:00:00", "c", "2", "2026-03-01 10:00:00", "a/b", "3", "2026-03-01 10:00:00", NULL, "4", NULL, "", "5", NULL,
    };
    fm_str by[2] = {FM_STR("K"), FM_STR("t")};
    sink_fixture f;
    int64_t rows;
    listing *l = calloc(1, sizeof *l);

    sink_fixture_init(&f, "k STRING, n INT, t TIMESTAMP", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "/out");
    f.spec.partition_by = by;
    f.spec.n_partition_by = 2;
    fm_sink *sink = open_sink(&f);
    const fm_batch *part = sink_fixture_batch(&f, cells, 5);
    assert_int_equal(sink_fixture_write(&f, sink, 0, &part, 1, &rows), FM_OK);
    assert_string_equal(visible(&f, "/out").ptr, "{\"n\":1} {\"n\":2} {\"n\":3} {\"n\":4} {\"n\":5}");
    list_files(&f, "/out", l);
    assert_int_equal(l->n, 4); /* null and "" are two partitions with one folder */
    assert_true(fm_str_starts(l->paths[0], FM_STR("/out/k=a%2Fb/t=2026-03-01 10%3A00%3A00/part-00000-")));
    assert_true(fm_str_ends(l->paths[0], FM_STR(".c000.json")));
    assert_true(fm_str_starts(l->paths[2], FM_STR("/out/k=__HIVE_DEFAULT_PARTITION__/t=__HIVE_DEFAULT_PARTITION__/")));
    sink->type->close(sink);
    free(l);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

/* More partitions than files may be open, each met again and again. */
static void test_many_partitions(void **state)
{
    enum { ROWS = 3000, PARTITIONS = 150 };
    fm_str by[1] = {FM_STR("p")};
    sink_fixture f;
    int64_t rows;
    fm_strbuf seen = {0};

    sink_fixture_init(&f, "n INT, p INT", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "/out");
    f.spec.partition_by = by;
    f.spec.n_partition_by = 1;
    fm_sink *sink = open_sink(&f);
    const char **cells = fm_arena_array(f.arena, const char *, 2 * ROWS);
    bool *there = fm_arena_array(f.arena, bool, ROWS);
    for (int i = 0; i < ROWS; i++) {
        cells[2 * i] = fm_arena_printf(f.arena, "%d", i).ptr;
        cells[2 * i + 1] = fm_arena_printf(f.arena, "%d", i * 7919 % PARTITIONS).ptr;
    }
    const fm_batch *parts[3];
    for (int k = 0; k < 3; k++) parts[k] = sink_fixture_batch(&f, cells + 2 * 1000 * k, 1000);
    bool skip;
    fm_sink_writer *w;
    assert_int_equal(sink->type->begin(sink, 0, 1, &skip, &f.err), FM_OK);
    assert_int_equal(sink->type->writer_open(sink, 0, &w, &f.err), FM_OK);
    for (int k = 0; k < 3; k++) assert_int_equal(sink->type->write(w, parts[k], &f.err), FM_OK);
    assert_int_equal(sink->type->writer_close(w, &f.err), FM_OK);
    assert_int_equal(sink->type->commit(sink, 0, &rows, &f.err), FM_OK);
    assert_int_equal(rows, ROWS);
    fm_str lines = visible(&f, "/out");
    int n = 0;
    for (const char *at = lines.ptr; (at = strstr(at, "{\"n\":")) != NULL; n++) {
        at += 5;
        int x = (int)strtol(at, NULL, 10);
        assert_true(x >= 0 && x < ROWS && !there[x]);
        there[x] = true;
    }
    assert_int_equal(n, ROWS);
    listing *l = calloc(1, sizeof *l);
    list_files(&f, "/out", l);
    for (int32_t i = 0; i < l->n; i++) { /* each row lies in the folder of its partition */
        fm_str text;
        int p = (int)strtol(strstr(l->paths[i].ptr, "/p=") + 3, NULL, 10);
        assert_int_equal(fm_fs_read_all(f.env.fs, l->paths[i].ptr, 1 << 20, f.arena, &text, &f.err), FM_OK);
        for (const char *at = text.ptr; (at = strstr(at, "{\"n\":")) != NULL;) {
            at += 5;
            assert_int_equal((int64_t)strtol(at, NULL, 10) * 7919 % PARTITIONS, p);
        }
    }
    sink->type->close(sink);
    free(l);
    fm_strbuf_fini(&seen);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

static void test_escaping(void **state)
{
    static const struct {
        const char *value, *folder;
    } cases[] = {
        {"plain", "plain"}, {"a/b", "a%2Fb"}, {"50%", "50%25"}, {"k=v", "k%3Dv"}, {"\x01\x7F", "%01%7F"}, {"\xC3\xA4 b", "\xC3\xA4 b"},
        {"\"#'*?\\{[]^:", "%22%23%27%2A%3F%5C%7B%5B%5D%5E%3A"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_strbuf folder = {0};
        fm_partition_escape(fm_str_c(cases[i].value), &folder);
        assert_string_equal(folder.ptr, cases[i].folder);
        fm_strbuf_fini(&folder);
    }
}

/* The last entries of the log are gone: the batches after them are not written as if nothing were missing. */
static void test_lost_entry(void **state)
{
    sink_fixture f;
    int64_t rows;

    sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "/out");
    f.spec.every_batch = true;
    fm_sink *sink = open_sink(&f);
    const fm_batch *part = numbers(&f, 0, 2);
    for (int64_t id = 0; id < 3; id++) assert_int_equal(sink_fixture_write(&f, sink, id, &part, 1, &rows), FM_OK);
    sink->type->close(sink);
    assert_int_equal(fm_fs_remove(f.env.fs, "/out/_spark_metadata/2", &f.err), FM_OK);
    sink = open_sink(&f);
    assert_int_equal(sink_fixture_write(&f, sink, 3, &part, 1, &rows), FM_CORRUPT);
    assert_string_equal(f.err.condition, "FLOODMARK_LOG_HOLE");
    assert_int_equal(sink_fixture_write(&f, sink, 2, &part, 1, &rows), FM_OK); /* the batch may be run again */
    sink->type->close(sink);
    assert_int_equal(fm_fs_remove_all(f.env.fs, "/out", &f.err), FM_OK); /* emptied on purpose */
    sink = open_sink(&f);
    assert_int_equal(sink_fixture_write(&f, sink, 3, &part, 1, &rows), FM_OK);
    sink->type->close(sink);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

/* The whole log is gone, and the files it named are there: below a run, and between two. */
static void test_lost_log(void **state)
{
    const char *cells[] = {"1", "2"};
    fm_str by[1] = {FM_STR("k")};
    int64_t rows;

    for (int32_t partitioned = 0; partitioned < 2; partitioned++) {
        sink_fixture f;
        sink_fixture_init(&f, "k INT, n INT", fm_fs_sim_new(-1));
        sink_fixture_option(&f, "path", "/out");
        f.spec.every_batch = true;
        f.spec.partition_by = by;
        f.spec.n_partition_by = partitioned;
        fm_sink *sink = open_sink(&f);
        const fm_batch *part = sink_fixture_batch(&f, cells, 1);
        for (int64_t id = 0; id < 2; id++) assert_int_equal(sink_fixture_write(&f, sink, id, &part, 1, &rows), FM_OK);
        assert_int_equal(fm_fs_remove(f.env.fs, "/out/_spark_metadata/1", &f.err), FM_OK);
        assert_int_equal(sink_fixture_write(&f, sink, 2, &part, 1, &rows), FM_CORRUPT);
        assert_string_equal(f.err.condition, "FLOODMARK_LOG_HOLE");
        sink->type->close(sink);
        assert_int_equal(fm_fs_remove_all(f.env.fs, "/out/_spark_metadata", &f.err), FM_OK);
        sink = open_sink(&f);
        assert_int_equal(sink_fixture_write(&f, sink, 2, &part, 1, &rows), FM_CORRUPT);
        assert_string_equal(f.err.condition, "FLOODMARK_LOG_HOLE");
        assert_non_null(strstr(f.err.message, "there are files in '/out'"));
        sink->type->close(sink);
        fm_fs_free(f.env.fs);
        sink_fixture_fini(&f);
    }
}

/* ---- What is refused --------------------------------------------------------------------------------------- */

static void test_refused(void **state)
{
    sink_fixture f;
    fm_str by[2] = {FM_STR("n"), FM_STR("x")};

    sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
    must_fail(&f, "'path' is not specified");
    sink_fixture_option(&f, "path", "s3a://bucket/x");
    assert_int_equal(must_fail(&f, "s3a://bucket/x"), FM_UNSUPPORTED);
    sink_fixture_option(&f, "path", "/out");
    sink_fixture_option(&f, "compresion", "gzip");
    must_fail(&f, "compression");
    f.options.n--;
    sink_fixture_option(&f, "compression", "zip");
    must_fail(&f, "zip");
    sink_fixture_option(&f, "compression", "snappy");
    assert_int_equal(must_fail(&f, "gzip"), FM_UNSUPPORTED);
    sink_fixture_option(&f, "compression", "none");
    f.spec.partition_by = by;
    f.spec.n_partition_by = 2;
    must_fail(&f, "`x`");
    f.spec.n_partition_by = 1;
    must_fail(&f, "all columns");
    f.spec.n_partition_by = 0;
    fm_sink *sink = open_sink(&f);
    assert_int_equal(must_fail(&f, "being written by another query"), FM_CONFLICT);
    sink->type->close(sink);
    sink = open_sink(&f);
    sink->type->close(sink);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

/* A second query in the folder of a first is refused: its batches would be skipped as written. */
static void test_owner(void **state)
{
    sink_fixture f;
    int64_t rows;

    sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "/out");
    f.spec.query_id = FM_STR("first");
    fm_sink *sink = open_sink(&f);
    sink->type->close(sink);
    f.spec.query_id = FM_STR("second"); /* nothing was written: the folder is free */
    sink = open_sink(&f);
    const fm_batch *part = numbers(&f, 0, 1);
    assert_int_equal(sink_fixture_write(&f, sink, 0, &part, 1, &rows), FM_OK);
    sink->type->close(sink);
    f.spec.query_id = FM_STR("first");
    assert_int_equal(must_fail(&f, "second"), FM_INVALID);
    assert_string_equal(f.err.condition, "FLOODMARK_OUTPUT_OF_ANOTHER_QUERY");
    f.spec.query_id = FM_STR("second");
    sink = open_sink(&f);
    sink->type->close(sink);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

/* ---- Failures ---------------------------------------------------------------------------------------------- */

enum { BATCHES = 7 };

/* Runs the batches from *next on; *next is the first one whose commit did not come back well. */
static fm_status run_batches(sink_fixture *f, int64_t *next)
{
    fm_sink *sink = NULL;
    int64_t rows;
    fm_status st = fm_sink_json.open(&f->env, &f->spec, f->arena, &sink, &f->err);

    while (st == FM_OK && *next < BATCHES) {
        const fm_batch *parts[2] = {numbers(f, (int)*next * 10, 2), numbers(f, (int)*next * 10 + 2, 1)};
        st = sink_fixture_write(f, sink, *next, parts, 2, &rows);
        if (st == FM_OK) ++*next;
    }
    if (sink) sink->type->close(sink);
    return st;
}

static fm_str batches_text(sink_fixture *f, int64_t n)
{
    fm_str lines[3 * BATCHES];
    fm_strbuf text = {0};

    for (int64_t i = 0; i < 3 * n; i++) lines[i] = fm_arena_printf(f->arena, "{\"n\":%d}", (int)(i / 3 * 10 + i % 3));
    qsort(lines, (size_t)(3 * n), sizeof *lines, by_text);
    fm_strbuf_add_c(&text, "");
    for (int64_t i = 0; i < 3 * n; i++) {
        if (i) fm_strbuf_add_char(&text, ' ');
        fm_strbuf_add(&text, lines[i]);
    }
    fm_str out = fm_arena_str(f->arena, fm_strbuf_str(&text));
    fm_strbuf_fini(&text);
    return out;
}

/* Stops at each operation in turn, by power cut or kill, and looks: whole batches only, none lost that was committed,
 * none twice; after going on, each exactly once. */
static void crash_everywhere(bool power_cut)
{
    bool crashed = true;

    for (int64_t k = 0; crashed; k++) {
        sink_fixture f;
        int64_t next = 0;
        sink_fixture_init(&f, "n INT", fm_fs_sim_new(k));
        sink_fixture_option(&f, "path", "/a/out");
        fm_assert(fm_options_set(f.arena, &f.session, FM_STR("spark.sql.streaming.fileSink.log.compactInterval"), FM_STR("3")));
        crashed = run_batches(&f, &next) != FM_OK;
        if (power_cut) fm_fs_sim_restart(f.env.fs, -1);
        else fm_fs_sim_kill(f.env.fs, -1);
        fm_str now = visible(&f, "/a/out");
        bool one_more = next < BATCHES && fm_str_eq(now, batches_text(&f, next + 1)); /* its entry went through before the end */
        if (!one_more) assert_string_equal(now.ptr, batches_text(&f, next).ptr);
        assert_int_equal(run_batches(&f, &next), FM_OK);
        assert_string_equal(visible(&f, "/a/out").ptr, batches_text(&f, BATCHES).ptr);
        fm_fs_sim_restart(f.env.fs, -1); /* and everything is durable */
        assert_string_equal(visible(&f, "/a/out").ptr, batches_text(&f, BATCHES).ptr);
        fm_fs_free(f.env.fs);
        sink_fixture_fini(&f);
        if (!crashed) assert_true(k > 50); /* it did stop in between */
    }
}

static void test_power_cuts(void **state) { crash_everywhere(true); }
static void test_kills(void **state) { crash_everywhere(false); }

/* One operation fails, and the process lives on: the batch is given up and tried again. */
static void test_full_disk(void **state)
{
    for (int64_t room = 0; room < 3000; room += 7) {
        sink_fixture f;
        int64_t next = 0;
        sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
        sink_fixture_option(&f, "path", "/out");
        fm_fs_sim_set_free(f.env.fs, room);
        bool failed = run_batches(&f, &next) != FM_OK;
        fm_fs_sim_set_free(f.env.fs, -1);
        if (failed) assert_int_equal(run_batches(&f, &next), FM_OK);
        assert_string_equal(visible(&f, "/out").ptr, batches_text(&f, BATCHES).ptr);
        fm_fs_free(f.env.fs);
        sink_fixture_fini(&f);
        if (!failed) break;
    }
}

/* An aborted batch takes its files with it. */
static void test_abort_removes(void **state)
{
    sink_fixture f;
    bool skip;
    fm_sink_writer *w;
    fm_dir_entry *entries;
    size_t n;

    sink_fixture_init(&f, "n INT", fm_fs_sim_new(-1));
    sink_fixture_option(&f, "path", "/out");
    fm_sink *sink = open_sink(&f);
    for (int finished = 0; finished < 2; finished++) {
        assert_int_equal(sink->type->begin(sink, 0, 1, &skip, &f.err), FM_OK);
        assert_int_equal(sink->type->writer_open(sink, 0, &w, &f.err), FM_OK);
        assert_int_equal(sink->type->write(w, numbers(&f, 0, 5), &f.err), FM_OK);
        if (finished) assert_int_equal(sink->type->writer_close(w, &f.err), FM_OK);
        sink->type->abort(sink, 0);
        assert_int_equal(fm_fs_list(f.env.fs, "/out", f.arena, &entries, &n, &f.err), FM_OK);
        assert_int_equal(n, 1); /* the log's folder */
    }
    sink->type->close(sink);
    fm_fs_free(f.env.fs);
    sink_fixture_fini(&f);
}

/* ---- Retention, workers ------------------------------------------------------------------------------------ */

static void test_retention(void **state)
{
    sink_fixture f;
    int64_t rows;
    char dir[] = "/tmp/file_sink_XXXXXX";
    fm_clock *clock = fm_clock_sim_new(fm_clock_now_us(fm_clock_real()));

    assert_non_null(mkdtemp(dir));
    sink_fixture_init(&f, "n INT", NULL);
    f.env.clock = clock;
    sink_fixture_option(&f, "path", dir);
    sink_fixture_option(&f, "retention", "1 hour");
    fm_assert(fm_options_set(f.arena, &f.session, FM_STR("spark.sql.streaming.fileSink.log.compactInterval"), FM_STR("2")));
    fm_sink *sink = open_sink(&f);
    for (int64_t id = 0; id < 4; id++) {
        const fm_batch *part = numbers(&f, (int)id, 1);
        if (id == 3) fm_clock_sim_advance(clock, INT64_C(2) * 3600 * 1000000); /* before 3.compact: all are old by now */
        assert_int_equal(sink_fixture_write(&f, sink, id, &part, 1, &rows), FM_OK);
        if (id < 3) assert_int_equal(visible(&f, dir).len, (size_t)(id + 1) * 8 - 1);
    }
    assert_string_equal(visible(&f, dir).ptr, "{\"n\":3}"); /* its own lines are kept as they come */
    sink->type->close(sink);
    assert_int_equal(fm_fs_remove_all(f.env.fs, dir, &f.err), FM_OK);
    fm_clock_free(clock);
    sink_fixture_fini(&f);
}

typedef struct worker {
    fm_sink *sink;
    int32_t index;
    const fm_batch *batch;
    fm_status st;
    fm_error err;
} worker;

static void work(void *arg)
{
    worker *w = arg;
    fm_sink_writer *writer;

    w->st = w->sink->type->writer_open(w->sink, w->index, &writer, &w->err);
    for (int i = 0; i < 50 && w->st == FM_OK; i++) w->st = w->sink->type->write(writer, w->batch, &w->err);
    if (w->st == FM_OK) w->st = w->sink->type->writer_close(writer, &w->err);
}

static void test_workers_at_once(void **state)
{
    enum { WORKERS = 4 };
    sink_fixture f;
    worker workers[WORKERS];
    fm_thread *threads[WORKERS];
    fm_str by[1] = {FM_STR("p")};
    static const char *const cells[] = {"1", "a", "2", "b", "3", "a"};
    char dir[] = "/tmp/file_sink_XXXXXX";
    bool skip;
    int64_t rows;

    assert_non_null(mkdtemp(dir));
    sink_fixture_init(&f, "n INT, p STRING", NULL);
    sink_fixture_option(&f, "path", dir);
    f.spec.partition_by = by;
    f.spec.n_partition_by = 1;
    fm_sink *sink = open_sink(&f);
    const fm_batch *batch = sink_fixture_batch(&f, cells, 3);
    assert_int_equal(sink->type->begin(sink, 0, WORKERS, &skip, &f.err), FM_OK);
    for (int32_t i = 0; i < WORKERS; i++) {
        workers[i] = (worker){.sink = sink, .index = i, .batch = batch};
        assert_int_equal(fm_thread_start(work, &workers[i], "writer", &threads[i], &f.err), FM_OK);
    }
    for (int32_t i = 0; i < WORKERS; i++) {
        fm_thread_join(threads[i]);
        assert_int_equal(workers[i].st, FM_OK);
    }
    assert_int_equal(sink->type->commit(sink, 0, &rows, &f.err), FM_OK);
    assert_int_equal(rows, WORKERS * 50 * 3);
    assert_int_equal(visible(&f, dir).len, WORKERS * 50 * 3 * 8 - 1);
    sink->type->close(sink);
    assert_int_equal(fm_fs_remove_all(f.env.fs, dir, &f.err), FM_OK);
    sink_fixture_fini(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_files_and_log),   cmocka_unit_test(test_gzip), cmocka_unit_test(test_zstd),         cmocka_unit_test(test_partitions),
        cmocka_unit_test(test_many_partitions), cmocka_unit_test(test_escaping),      cmocka_unit_test(test_refused),
        cmocka_unit_test(test_owner),           cmocka_unit_test(test_power_cuts),    cmocka_unit_test(test_kills),
        cmocka_unit_test(test_full_disk),       cmocka_unit_test(test_abort_removes), cmocka_unit_test(test_retention),
        cmocka_unit_test(test_workers_at_once), cmocka_unit_test(test_lost_entry),   cmocka_unit_test(test_lost_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* table/file_log_test.c: entries, compaction, expiry, crashes. */
#include "table/file_log.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static fm_status count_line(void *ctx, fm_str line, fm_error *err)
{
    fm_strbuf *text = ctx;

    (void)err;
    fm_strbuf_add(text, line);
    fm_strbuf_add_char(text, ' ');
    return FM_OK;
}

static fm_status add(fm_file_log *log, int64_t id, fm_error *err)
{
    char line[32];

    snprintf(line, sizeof line, "{f%" PRId64 "}", id);
    return fm_file_log_add(log, id, fm_str_c(line), NULL, NULL, err);
}

static bool exists(fm_fs *fs, const char *path)
{
    fm_file_stat stat;
    return fm_fs_stat(fs, path, &stat, NULL) == FM_OK;
}

static void assert_lines(const fm_file_log *log, int64_t n)
{
    fm_strbuf text = {0}, want = {0};
    fm_error err = FM_ERROR_INIT;

    fm_strbuf_add_c(&text, "");
    fm_strbuf_add_c(&want, "");
    for (int64_t i = 0; i < n; i++) fm_strbuf_printf(&want, "{f%" PRId64 "} ", i);
    assert_int_equal(fm_file_log_read_all(log, count_line, &text, &err), FM_OK);
    assert_true(fm_str_eq(fm_strbuf_str(&text), fm_strbuf_str(&want)));
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&want);
}

static void test_compaction(void **state)
{
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_clock *clock = fm_clock_sim_new(INT64_C(1) << 52);
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
    fm_file_log log;
    fm_str text;

    (void)state;
    settings.compact_interval = 3;
    settings.entries_to_keep = 2;
    settings.cleanup_delay_ms = 0;
    assert_int_equal(
        fm_file_log_open(&log, fs, clock, "/ck/sources/0", "log", &settings, true, arena, &err),
        FM_OK);
    assert_int_equal(log.latest, -1);
    assert_lines(&log, 0);
    for (int64_t id = 0; id < 8; id++) {
        if (add(&log, id, &err) != FM_OK) fail_msg("%s", err.message);
        assert_lines(&log, id + 1);
    }
    assert_int_equal(fm_fs_read_all(fs, "/ck/sources/0/5.compact", 1000, arena, &text, &err),
                     FM_OK);
    assert_true(fm_str_eq(text, FM_STR("v1\n{f0}\n{f1}\n{f2}\n{f3}\n{f4}\n{f5}")));
    assert_int_equal(fm_fs_read_all(fs, "/ck/sources/0/7", 1000, arena, &text, &err), FM_OK);
    assert_true(fm_str_eq(text, FM_STR("v1\n{f7}")));
    assert_false(exists(fs, "/ck/sources/0/4")); /* 5.compact holds it, and two entries follow */
    assert_true(exists(fs, "/ck/sources/0/6"));
    assert_int_equal(add(&log, 7, &err), FM_CONFLICT);
    assert_string_equal(err.condition, "CONCURRENT_STREAM_LOG_UPDATE");
    /* Another setting: the interval that is there goes on. */
    settings.compact_interval = 10;
    assert_int_equal(
        fm_file_log_open(&log, fs, clock, "/ck/sources/0", "log", &settings, true, arena, &err),
        FM_OK);
    assert_int_equal(log.latest, 7);
    assert_int_equal(log.interval, 6); /* one compact entry, 5: fits 6 */
    assert_lines(&log, 8);
    fm_arena_free(arena);
    fm_clock_free(clock);
    fm_fs_free(fs);
}

/* After a crash at any operation the log holds what was added, and goes on. */
static void test_crashes(void **state)
{
    (void)state;
    for (int64_t k = 0, crashed = 1; crashed; k++) {
        fm_fs *fs = fm_fs_sim_new(k);
        fm_clock *clock = fm_clock_sim_new(INT64_C(1) << 52);
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_file_log_settings settings = {3, 0, true, 1};
        fm_file_log log;
        int64_t added = 0;
        crashed =
            fm_file_log_open(&log, fs, clock, "/log", "log", &settings, true, arena, &err) != FM_OK;
        for (int64_t id = 0; id < 7 && !crashed; id++) {
            crashed = add(&log, id, &err) != FM_OK;
            if (!crashed) added++;
        }
        fm_fs_sim_restart(fs, -1);
        assert_int_equal(
            fm_file_log_open(&log, fs, clock, "/log", "log", &settings, true, arena, &err), FM_OK);
        assert_true(log.latest + 1 == added ||
                    log.latest == added); /* the last may be there unanswered */
        for (int64_t id = log.latest + 1; id < 7; id++)
            assert_int_equal(add(&log, id, &err), FM_OK);
        assert_lines(&log, 7);
        fm_arena_free(arena);
        fm_clock_free(clock);
        fm_fs_free(fs);
    }
}

static void test_damage(void **state)
{
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_clock *clock = fm_clock_sim_new(0);
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
    fm_strbuf text = {0};
    fm_file_log log;

    (void)state;
    assert_int_equal(fm_file_log_open(&log, fs, clock, "/log", "log", &settings, true, arena, &err),
                     FM_OK);
    for (int64_t id = 0; id < 3; id++) assert_int_equal(add(&log, id, &err), FM_OK);
    assert_int_equal(fm_fs_write_atomic(fs, "/log/1", FM_STR("v9\nf1"), true, &err), FM_OK);
    assert_int_equal(fm_file_log_read_all(&log, count_line, &text, &err), FM_CORRUPT);
    for (int64_t id = 3; id < 9; id++) assert_int_equal(add(&log, id, &err), FM_OK);
    static const char *const damaged[] = {"v1\n{f1", "v1\nf1}", "v1\n{f1}x", "v1\n{\"a\":1,\"floodmarkChecksum\":\"0000000000000000\"}"};
    for (size_t i = 0; i < sizeof damaged / sizeof damaged[0]; i++) { /* a compaction copies no damage */
        assert_int_equal(fm_fs_write_atomic(fs, "/log/1", fm_str_c(damaged[i]), true, &err), FM_OK);
        assert_int_equal(add(&log, 9, &err), FM_CORRUPT);
        assert_false(exists(fs, "/log/9.compact"));
    }
    assert_int_equal(fm_fs_remove(fs, "/log/1", &err), FM_OK);
    assert_int_equal(fm_file_log_read_all(&log, count_line, &text, &err), FM_CORRUPT);
    fm_strbuf_fini(&text);
    fm_arena_free(arena);
    fm_clock_free(clock);
    fm_fs_free(fs);
}

/* A log whose folder was deleted under a query that goes on can be read at every entry, by a new reader too. */
static void test_late_beginning(void **state)
{
    for (int64_t first = 1; first < 40; first++) {
        fm_fs *fs = fm_fs_sim_new(-1);
        fm_clock *clock = fm_clock_sim_new(0);
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
        fm_file_log log, reader;

        assert_int_equal(fm_file_log_open(&log, fs, clock, "/log", "log", &settings, true, arena, &err), FM_OK);
        for (int64_t id = first; id < first + 25; id++) {
            fm_strbuf text = {0};
            assert_int_equal(add(&log, id, &err), FM_OK);
            assert_int_equal(fm_file_log_open(&reader, fs, clock, "/log", "log", &settings, false, arena, &err), FM_OK);
            assert_int_equal(reader.latest, id);
            assert_int_equal(fm_file_log_read_all(&reader, count_line, &text, &err), FM_OK);
            int64_t lines = 0;
            for (size_t i = 0; i < text.len; i++) lines += text.ptr[i] == ' ';
            assert_int_equal(lines, id - first + 1);
            fm_strbuf_fini(&text);
        }
        fm_arena_free(arena);
        fm_clock_free(clock);
        fm_fs_free(fs);
    }
}

/* Entries that are left out are there all the same. */
static void test_gaps(void **state)
{
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_clock *clock = fm_clock_sim_new(0);
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
    fm_file_log log;
    fm_strbuf text = {0};

    assert_int_equal(fm_file_log_open(&log, fs, clock, "/log", "log", &settings, true, arena, &err), FM_OK);
    assert_int_equal(add(&log, 0, &err), FM_OK);
    assert_int_equal(add(&log, 8, &err), FM_OK);
    assert_int_equal(add(&log, 33, &err), FM_OK);
    assert_true(exists(fs, "/log/1") && exists(fs, "/log/9.compact") && exists(fs, "/log/29.compact") && exists(fs, "/log/32"));
    assert_int_equal(fm_file_log_read_all(&log, count_line, &text, &err), FM_OK);
    assert_string_equal(text.ptr, "{f0} {f8} {f33} ");
    fm_strbuf_fini(&text);
    fm_arena_free(arena);
    fm_clock_free(clock);
    fm_fs_free(fs);
}

static void test_derived_interval(void **state)
{
    static const struct {
        int64_t only, setting, interval; /* examples of Spark's, and edges */
    } cases[] = {{11, 5, 6}, {11, 6, 12}, {11, 20, 12}, {12, 2, 13}, {99, 10, 10}, {99, 11, 20}, {0, 10, 1}, {999999999998, 10, 11}};

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_fs *fs = fm_fs_sim_new(-1);
        fm_clock *clock = fm_clock_sim_new(0);
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        fm_file_log_settings settings = FM_FILE_LOG_DEFAULTS;
        fm_file_log log;

        fm_str path = fm_arena_printf(arena, "/log/%" PRId64 ".compact", cases[i].only);
        assert_int_equal(fm_fs_mkdirs(fs, "/log", &err), FM_OK);
        assert_int_equal(fm_fs_write_atomic(fs, path.ptr, FM_STR("v1"), false, &err), FM_OK);
        settings.compact_interval = cases[i].setting;
        assert_int_equal(fm_file_log_open(&log, fs, clock, "/log", "log", &settings, false, arena, &err), FM_OK);
        assert_int_equal(log.interval, cases[i].interval);
        fm_arena_free(arena);
        fm_clock_free(clock);
        fm_fs_free(fs);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_compaction),
        cmocka_unit_test(test_crashes),
        cmocka_unit_test(test_damage),
        cmocka_unit_test(test_late_beginning),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_derived_interval),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

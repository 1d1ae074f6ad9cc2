/* table/file_log_test.c: what a log of files keeps, over compaction, cleaning, damage and changed settings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "table/file_log.h"

typedef struct fixture {
    fm_fs *fs;
    fm_clock *clock;
    fm_arena *arena;
    fm_error err;
    char dir[64];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);

    f->fs = fm_fs_real();
    f->clock = fm_clock_sim_new(fm_clock_now_us(fm_clock_real()));
    f->arena = fm_arena_new(0);
    strcpy(f->dir, "/tmp/file_log_XXXXXX");
    assert_non_null(mkdtemp(f->dir));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;

    fm_fs_remove_all(f->fs, f->dir, NULL);
    fm_clock_free(f->clock);
    fm_arena_free(f->arena);
    free(f);
    return 0;
}

static void open_log(fixture *f, fm_file_log *log, int64_t interval)
{
    char path[80];
    fm_file_log_conf conf;

    assert_int_equal(fm_file_log_conf_read(NULL, "x", &conf, &f->err), FM_OK);
    conf.interval = interval;
    snprintf(path, sizeof path, "%s/log", f->dir);
    assert_int_equal(fm_file_log_open(log, f->fs, f->clock, path, "test log", &conf, f->arena, &f->err), FM_OK);
}

static void append(fixture *f, fm_file_log *log, int64_t id, int n)
{
    fm_str lines[3];

    for (int i = 0; i < n; i++) lines[i] = fm_arena_printf(f->arena, "{\"id\":%d,\"i\":%d}", (int)id, i);
    assert_int_equal(fm_file_log_append(log, id, lines, n, NULL, NULL, &f->err), FM_OK);
    assert_int_equal(log->last, id);
}

/* Entry k wrote k % 3 lines: all of 0..upto must come back, in order. */
static void check_read(fixture *f, fm_file_log *log, int64_t upto)
{
    fm_file_log_lines lines;
    int64_t at = 0;

    assert_int_equal(fm_file_log_read(log, upto, f->arena, &lines, &f->err), FM_OK);
    for (int id = 0; id <= upto; id++) {
        for (int i = 0; i < id % 3; i++) {
            fm_str line = fm_arena_printf(f->arena, "{\"id\":%d,\"i\":%d}", id, i);
            assert_true(at < lines.n && fm_str_eq(lines.items[at], line));
            at++;
        }
    }
    assert_int_equal(at, lines.n);
}

static bool exists(fixture *f, const char *name)
{
    fm_file_stat st;
    fm_str path = fm_arena_printf(f->arena, "%s/log/%s", f->dir, name);

    return fm_fs_stat(f->fs, path.ptr, &st, NULL) == FM_OK;
}

static void test_compaction(void **state)
{
    fixture *f = *state;
    fm_file_log log, again;
    fm_str text;

    open_log(f, &log, 10);
    check_read(f, &log, -1);
    for (int id = 0; id < 35; id++) {
        append(f, &log, id, id % 3);
        check_read(f, &log, id);
        open_log(f, &again, 10);
        assert_int_equal(again.last, id);
        check_read(f, &again, id);
        check_read(f, &again, id / 2);
    }
    assert_true(exists(f, "8") && exists(f, "9.compact") && exists(f, "10") && exists(f, "29.compact"));
    assert_false(exists(f, "9") || exists(f, "10.compact"));
    fm_str path = fm_arena_printf(f->arena, "%s/log/2", f->dir);
    assert_int_equal(fm_fs_read_all(f->fs, path.ptr, 1000, f->arena, &text, &f->err), FM_OK);
    assert_string_equal(text.ptr, "v1\n{\"id\":2,\"i\":0}\n{\"id\":2,\"i\":1}");
    path = fm_arena_printf(f->arena, "%s/log/3", f->dir);
    assert_int_equal(fm_fs_read_all(f->fs, path.ptr, 1000, f->arena, &text, &f->err), FM_OK);
    assert_string_equal(text.ptr, "v1");
}

static void test_interval_changes(void **state)
{
    fixture *f = *state;
    fm_file_log log;

    open_log(f, &log, 4);
    for (int id = 0; id < 6; id++) append(f, &log, id, id % 3); /* 3.compact */
    open_log(f, &log, 10);
    assert_int_equal(log.conf.interval, 4);
    for (int id = 6; id < 15; id++) append(f, &log, id, id % 3);
    open_log(f, &log, 2);
    assert_int_equal(log.conf.interval, 4); /* 7 and 11 are there */
    check_read(f, &log, 14);
}

static void test_derived_interval(void **state)
{
    static const struct {
        int64_t only, wanted, interval; /* Spark's own examples and edges */
    } cases[] = {{11, 5, 6}, {11, 6, 12}, {11, 20, 12}, {12, 2, 13}, {99, 10, 10}, {99, 11, 20}, {0, 10, 1}};
    fixture *f = *state;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_file_log log;
        fm_str path = fm_arena_printf(f->arena, "%s/log/%d.compact", f->dir, (int)cases[i].only);
        fm_str dir = fm_arena_printf(f->arena, "%s/log", f->dir);
        assert_int_equal(fm_fs_remove_all(f->fs, dir.ptr, &f->err), FM_OK);
        assert_int_equal(fm_fs_mkdirs(f->fs, dir.ptr, &f->err), FM_OK);
        assert_int_equal(fm_fs_write_atomic(f->fs, path.ptr, FM_STR("v1\n{}"), false, &f->err), FM_OK);
        open_log(f, &log, cases[i].wanted);
        assert_int_equal(log.conf.interval, cases[i].interval);
        assert_int_equal(log.last, cases[i].only);
    }
}

/* A log whose folder was deleted under a running query goes on, and can be read at every entry. */
static void test_late_beginning(void **state)
{
    fixture *f = *state;

    for (int first = 1; first < 40; first++) {
        fm_file_log log, again;
        fm_file_log_lines lines;
        fm_str dir = fm_arena_printf(f->arena, "%s/log", f->dir);
        assert_int_equal(fm_fs_remove_all(f->fs, dir.ptr, &f->err), FM_OK);
        open_log(f, &log, 10);
        for (int id = first; id < first + 25; id++) append(f, &log, id, 1);
        open_log(f, &again, 10);
        assert_int_equal(fm_file_log_read(&again, -1, f->arena, &lines, &f->err), FM_OK);
        assert_int_equal(lines.n, 25);
    }
}

static void test_cleaning(void **state)
{
    fixture *f = *state;
    fm_file_log log;

    open_log(f, &log, 10);
    log.conf.min_retain = 15;
    for (int id = 0; id < 29; id++) append(f, &log, id, id % 3);
    assert_true(exists(f, "0")); /* too young */
    fm_clock_sim_advance(f->clock, 11 * FM_US_PER_MINUTE);
    append(f, &log, 29, 29 % 3); /* keeps 15..29, so 9.compact is the first needed */
    assert_false(exists(f, "0") || exists(f, "8"));
    assert_true(exists(f, "9.compact") && exists(f, "10"));
    check_read(f, &log, 29);
    log.conf.delete_expired = false;
    for (int id = 30; id < 60; id++) append(f, &log, id, id % 3);
    assert_true(exists(f, "9.compact"));
}

static bool keep_odd(void *ctx, fm_str line) { return line.ptr[line.len - 2] % 2 == 1; }

static void test_keep_is_asked_at_compaction(void **state)
{
    fixture *f = *state;
    fm_file_log log;
    fm_file_log_lines lines;
    fm_str both[2] = {FM_STR("{\"i\":0}"), FM_STR("{\"i\":1}")};

    open_log(f, &log, 3);
    for (int id = 0; id < 4; id++) {
        assert_int_equal(fm_file_log_append(&log, id, both, 2, keep_odd, NULL, &f->err), FM_OK);
    }
    assert_int_equal(fm_file_log_read(&log, -1, f->arena, &lines, &f->err), FM_OK);
    assert_int_equal(lines.n, 3 + 2);
}

static void test_damage(void **state)
{
    static const char *const texts[] = {"", "v", "x1\n{}", "v1 \n{}", "v1\n{\"a\":1", "v1\nabc"};
    fixture *f = *state;
    fm_file_log log, other;
    fm_file_log_lines lines;

    open_log(f, &log, 10);
    open_log(f, &other, 10);
    for (int id = 0; id < 12; id++) append(f, &log, id, id % 3);
    assert_int_equal(fm_file_log_append(&other, 0, NULL, 0, NULL, NULL, &f->err), FM_CONFLICT);
    assert_string_equal(f->err.condition, "CONCURRENT_STREAM_LOG_UPDATE");
    assert_int_equal(fm_file_log_read_entry(&log, 12, f->arena, &lines, &f->err), FM_NOT_FOUND);
    fm_str path = fm_arena_printf(f->arena, "%s/log/10", f->dir);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        assert_int_equal(fm_fs_write_atomic(f->fs, path.ptr, fm_str_c(texts[i]), true, &f->err), FM_OK);
        assert_int_equal(fm_file_log_read(&log, -1, f->arena, &lines, &f->err), FM_CORRUPT);
    }
    assert_int_equal(fm_fs_write_atomic(f->fs, path.ptr, FM_STR("v2\n{}"), true, &f->err), FM_OK);
    assert_int_equal(fm_file_log_read(&log, -1, f->arena, &lines, &f->err), FM_UNSUPPORTED);
    assert_int_equal(fm_fs_remove(f->fs, path.ptr, &f->err), FM_OK);
    assert_int_equal(fm_file_log_read(&log, -1, f->arena, &lines, &f->err), FM_CORRUPT);
    assert_string_equal(f->err.condition, "FLOODMARK_LOG_HOLE");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_compaction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_interval_changes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_derived_interval, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_late_beginning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_cleaning, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_keep_is_asked_at_compaction, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_damage, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* os/fs_sim_test.c: what a power cut, a kill, a full disk and a failing operation leave behind. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

#include "os/fs.h"

/* One letter per step: see step(). */
typedef struct script {
    const char *steps;
    const char *a, *b; /* content of /d/a and /e/b in the end; NULL: not there */
} script;

static void add(fm_fs *fs, const char *path, fm_open_mode mode, const char *text, bool sync)
{
    fm_file *f;

    assert_int_equal(fm_file_open(fs, path, mode, &f, NULL), FM_OK);
    assert_int_equal(fm_file_write(f, text, strlen(text), NULL), FM_OK);
    if (sync) assert_int_equal(fm_file_sync(f, NULL), FM_OK);
    assert_int_equal(fm_file_close(f, NULL), FM_OK);
}

static void step(fm_fs *fs, char what)
{
    switch (what) {
    case 'w': add(fs, "/d/a", FM_OPEN_APPEND, "w", false); break;   /* write */
    case 's': add(fs, "/d/a", FM_OPEN_APPEND, "", true); break;     /* sync the file */
    case 't': add(fs, "/d/a", FM_OPEN_TRUNCATE, "t", false); break; /* truncate and write */
    case 'd': assert_int_equal(fm_fs_sync_dir(fs, "/d", NULL), FM_OK); break;
    case 'e': assert_int_equal(fm_fs_sync_dir(fs, "/e", NULL), FM_OK); break;
    case 'm': assert_int_equal(fm_fs_rename(fs, "/d/a", "/e/b", NULL), FM_OK); break; /* move */
    case 'n': assert_int_equal(fm_fs_rename(fs, "/e/b", "/d/a", NULL), FM_OK); break; /* and back */
    case 'b': add(fs, "/e/b", FM_OPEN_CREATE_NEW, "b", true); break;
    case 'r': assert_int_equal(fm_fs_remove(fs, "/d/a", NULL), FM_OK); break;
    case '!': fm_fs_sim_restart(fs, -1); break;
    case 'k': fm_fs_sim_kill(fs, -1); break;
    default: fail();
    }
}

static void check_content(fm_fs *fs, fm_arena *arena, const char *path, const char *wanted, const char *steps)
{
    fm_str text;
    fm_status st = fm_fs_read_all(fs, path, 100, arena, &text, NULL);

    if (st == FM_OK && wanted && strcmp(text.ptr, wanted) == 0) return;
    if (st == FM_NOT_FOUND && !wanted) return;
    fail_msg("'%s' leaves %s with '%s', not '%s'", steps, path, st == FM_OK ? text.ptr : fm_status_name(st),
             wanted ? wanted : "(nothing)");
}

static fm_fs *with_folders(void)
{
    fm_fs *fs = fm_fs_sim_new(-1);

    assert_int_equal(fm_fs_mkdirs(fs, "/d", NULL), FM_OK);
    assert_int_equal(fm_fs_mkdirs(fs, "/e", NULL), FM_OK);
    return fs;
}

static void what_a_power_cut_takes(void **state)
{
    static const script scripts[] = {
        {"w", "w", NULL},
        {"w!", NULL, NULL},
        {"ws!", NULL, NULL},   /* the bytes are safe, the name is not */
        {"wd!", "", NULL},     /* the name is safe, the bytes are not */
        {"wsd!", "w", NULL},
        {"wsdw!", "w", NULL},  /* what was written since is gone */
        {"wsdwk", "ww", NULL}, /* but not by a kill */
        {"wsdwk!", "w", NULL}, /* which synced nothing either */
        {"wsdt", "t", NULL},
        {"wsdt!", "w", NULL},  /* the old bytes are back */
        {"wsdtt!", "w", NULL},
        {"wsdts!", "t", NULL},
        {"wsdtsw!", "t", NULL},
        {"wsdr", NULL, NULL},
        {"wsdr!", "w", NULL},  /* a removal is a change of the folder, too */
        {"wsdrd!", NULL, NULL},
        {"wsdrw!", "w", NULL}, /* the old file, not the new one of that name */
        {"wsdrwd!", "", NULL},
        {"wsdm", NULL, "w"},
        {"wsdm!", "w", NULL},  /* a rename is atomic, whichever folder is synced */
        {"wsdmd!", NULL, "w"},
        {"wsdme!", NULL, "w"},
        {"wsm!", NULL, NULL},
        {"wsme!", NULL, "w"},  /* keeps the making of the file, which it builds on */
        {"bewsdm!", "w", "b"}, /* replaced: old */
        {"bewsdme!", NULL, "w"}, /* or new */
        {"wsdmn!", "w", NULL},
        {"wsdmnd!", "w", NULL},
        {"wsdmen!", NULL, "w"},
        {"wsdmene!", "w", NULL},
        {"wsdmnmd!", NULL, "w"},
    };
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof scripts / sizeof scripts[0]; i++) {
        fm_fs *fs = with_folders();
        for (const char *s = scripts[i].steps; *s; s++) step(fs, *s);
        check_content(fs, arena, "/d/a", scripts[i].a, scripts[i].steps);
        check_content(fs, arena, "/e/b", scripts[i].b, scripts[i].steps);
        fm_fs_free(fs);
    }
    fm_arena_free(arena);
}

static void folders_need_their_parents_synced(void **state)
{
    fm_fs *fs = fm_fs_sim_new(-1);
    fm_file_stat st;

    (void)state;
    assert_int_equal(fm_fs_mkdirs(fs, "/a/b/c", NULL), FM_OK); /* syncs each level */
    fm_fs_sim_restart(fs, -1);
    assert_int_equal(fm_fs_stat(fs, "/a/b/c", &st, NULL), FM_OK);
    /* A process that dies between making and syncing leaves a folder the next one must sync. */
    fm_fs_sim_kill(fs, 2);
    assert_int_equal(fm_fs_mkdirs(fs, "/a/x", NULL), FM_UNAVAILABLE);
    assert_string_equal(fm_fs_sim_failed(fs), "sync the folder '/a'");
    fm_fs_sim_kill(fs, -1);
    assert_int_equal(fm_fs_mkdirs(fs, "/a/x", NULL), FM_OK);
    fm_fs_sim_restart(fs, -1);
    assert_int_equal(fm_fs_stat(fs, "/a/x", &st, NULL), FM_OK);
    fm_fs_free(fs);
}

/* Writes two files the durable way; every k-th operation fails. */
static fm_status write_two(fm_fs *fs, fm_error *err)
{
    FM_TRY(fm_fs_mkdirs(fs, "/out/x", err));
    FM_TRY(fm_fs_write_atomic(fs, "/out/x/1", FM_STR("first"), true, err));
    return fm_fs_write_atomic(fs, "/out/x/2", FM_STR("second"), true, err);
}

static void check_never_torn(fm_fs *fs, fm_arena *arena, bool finished)
{
    fm_str one = {0}, two = {0};
    fm_status st1 = fm_fs_read_all(fs, "/out/x/1", 100, arena, &one, NULL);
    fm_status st2 = fm_fs_read_all(fs, "/out/x/2", 100, arena, &two, NULL);

    if (finished) assert_true(st1 == FM_OK && st2 == FM_OK);
    if (st1 == FM_OK) assert_string_equal(one.ptr, "first");
    if (st2 == FM_OK) assert_string_equal(two.ptr, "second");
    if (st2 == FM_OK) assert_int_equal(st1, FM_OK); /* the first was durable before the second began */
}

static void every_operation_in_turn(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    int64_t crashes = 0;

    (void)state;
    for (int how = 0; how < 3; how++) { /* kill, power cut, power cut that tears */
        bool crashed = true;
        for (int64_t k = 0; crashed; k++) {
            fm_fs *fs = fm_fs_sim_new(k);
            fm_error err = FM_ERROR_INIT;
            if (how == 2) fm_fs_sim_tear(fs, 1 + (uint64_t)k);
            crashed = write_two(fs, &err) != FM_OK;
            assert_int_equal(crashed, fm_fs_sim_failed(fs)[0] != 0);
            if (crashed) assert_int_equal(err.status, FM_UNAVAILABLE);
            if (how == 0) fm_fs_sim_kill(fs, -1);
            else fm_fs_sim_restart(fs, -1);
            check_never_torn(fs, arena, !crashed);
            assert_int_equal(write_two(fs, NULL), FM_OK);
            fm_fs_sim_restart(fs, -1);
            check_never_torn(fs, arena, true);
            fm_fs_free(fs);
            crashes += crashed;
        }
    }
    assert_true(crashes >= 3 * 12); /* 4 for folders, 5 per file: the loop did go through them */
    fm_arena_free(arena);
}

/* The canary: the same harness finds the fault in a writer that forgets to sync. */
static void finds_a_missing_sync(void **state)
{
    static const char *const faulty[] = {"sync of the file", "sync of the folder"};
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (int f = 0; f < 2; f++) {
        fm_fs *fs = with_folders();
        add(fs, "/d/tmp", FM_OPEN_CREATE_NEW, "first", f != 0);
        assert_int_equal(fm_fs_rename(fs, "/d/tmp", "/d/1", NULL), FM_OK);
        if (f != 1) assert_int_equal(fm_fs_sync_dir(fs, "/d", NULL), FM_OK);
        fm_fs_sim_restart(fs, -1);
        fm_str text;
        fm_status st = fm_fs_read_all(fs, "/d/1", 100, arena, &text, NULL);
        if (st == FM_OK && fm_str_eq(text, FM_STR("first"))) fail_msg("a missing %s went unnoticed", faulty[f]);
        fm_fs_free(fs);
    }
    fm_arena_free(arena);
}

static void tearing_shows_every_outcome(void **state)
{
    bool gone = false, empty = false, part = false, whole = false, zeros = false;
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (uint64_t seed = 1; seed <= 200; seed++) {
        fm_fs *fs = with_folders();
        fm_str text;
        fm_fs_sim_tear(fs, seed);
        add(fs, "/d/a", FM_OPEN_CREATE_NEW, "abcdef", false);
        fm_fs_sim_restart(fs, -1);
        if (fm_fs_read_all(fs, "/d/a", 100, arena, &text, NULL) == FM_NOT_FOUND) gone = true;
        else if (text.len == 0) empty = true;
        else if (memchr(text.ptr, 0, text.len)) zeros = true;
        else if (text.len < 6) part = true;
        else whole = true;
        fm_fs_free(fs);
    }
    assert_true(gone && empty && part && whole && zeros);
    fm_arena_free(arena);
}

static void tearing_keeps_renames_whole(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    int old = 0, new = 0;

    (void)state;
    for (uint64_t seed = 1; seed <= 100; seed++) {
        fm_fs *fs = with_folders();
        fm_str text;
        add(fs, "/d/a", FM_OPEN_CREATE_NEW, "a", true);
        add(fs, "/e/b", FM_OPEN_CREATE_NEW, "b", true);
        fm_fs_sync_dir(fs, "/d", NULL);
        fm_fs_sync_dir(fs, "/e", NULL);
        fm_fs_sim_tear(fs, seed);
        assert_int_equal(fm_fs_rename(fs, "/d/a", "/e/b", NULL), FM_OK);
        fm_fs_sim_restart(fs, -1);
        fm_status a = fm_fs_read_all(fs, "/d/a", 9, arena, &text, NULL);
        assert_int_equal(fm_fs_read_all(fs, "/e/b", 9, arena, &text, NULL), FM_OK);
        if (a == FM_OK && text.ptr[0] == 'b') old++;
        else if (a == FM_NOT_FOUND && text.ptr[0] == 'a') new++;
        else fail_msg("seed %d tore the rename", (int)seed);
        fm_fs_free(fs);
    }
    assert_true(old > 10 && new > 10);
    fm_arena_free(arena);
}

static void full_disk(void **state)
{
    fm_fs *fs = with_folders();
    fm_arena *arena = fm_arena_new(0);
    fm_file *f;
    fm_error err = FM_ERROR_INIT;

    (void)state;
    fm_fs_sim_set_free(fs, 4);
    assert_int_equal(fm_file_open(fs, "/d/a", FM_OPEN_CREATE_NEW, &f, &err), FM_OK);
    assert_int_equal(fm_file_write(f, "abc", 3, &err), FM_OK);
    assert_int_equal(fm_file_write(f, "def", 3, &err), FM_UNAVAILABLE);
    assert_non_null(strstr(err.message, "No space left"));
    check_content(fs, arena, "/d/a", "abcd", "a write into a full disk");
    fm_fs_sim_set_free(fs, -1);
    assert_int_equal(fm_file_write(f, "e", 1, &err), FM_OK);
    check_content(fs, arena, "/d/a", "abcde", "after space was made");
    fm_file_close(f, NULL);
    fm_arena_free(arena);
    fm_fs_free(fs);
}

static void handles_and_locks_die_with_the_process(void **state)
{
    fm_fs *fs = with_folders();
    fm_fs_lock *old, *lock;
    fm_file *f;

    (void)state;
    assert_int_equal(fm_file_open(fs, "/d/a", FM_OPEN_CREATE_NEW, &f, NULL), FM_OK);
    assert_int_equal(fm_fs_lock_take(fs, "/d/lock", &old, NULL), FM_OK);
    fm_fs_sim_kill(fs, -1);
    assert_int_equal(fm_file_write(f, "x", 1, NULL), FM_UNAVAILABLE);
    assert_int_equal(fm_fs_lock_take(fs, "/d/lock", &lock, NULL), FM_OK);
    fm_fs_unlock(old); /* the dead one's: frees it, and leaves the lock alone */
    assert_int_equal(fm_fs_lock_take(fs, "/d/lock", &old, NULL), FM_CONFLICT);
    fm_fs_unlock(lock);
    fm_file_close(f, NULL);
    fm_fs_free(fs);
}

static void times(void **state)
{
    fm_fs *fs = with_folders();
    fm_file_stat first, second;

    (void)state;
    fm_fs_sim_set_time(fs, 5000);
    add(fs, "/d/1", FM_OPEN_CREATE_NEW, "", false);
    add(fs, "/d/2", FM_OPEN_CREATE_NEW, "", false);
    assert_int_equal(fm_fs_stat(fs, "/d/1", &first, NULL), FM_OK);
    assert_int_equal(fm_fs_stat(fs, "/d/2", &second, NULL), FM_OK);
    assert_true(first.modified_ms >= 5000 && first.modified_ms < second.modified_ms && second.modified_ms < 5010);
    fm_fs_free(fs);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_a_power_cut_takes),
        cmocka_unit_test(folders_need_their_parents_synced),
        cmocka_unit_test(every_operation_in_turn),
        cmocka_unit_test(finds_a_missing_sync),
        cmocka_unit_test(tearing_shows_every_outcome),
        cmocka_unit_test(tearing_keeps_renames_whole),
        cmocka_unit_test(full_disk),
        cmocka_unit_test(handles_and_locks_die_with_the_process),
        cmocka_unit_test(times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

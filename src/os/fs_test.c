/* os/fs_test.c: what every file system does, on the real one and the simulated one alike; then what only
 * the real one has: links, and locks between processes. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "os/fs.h"

typedef struct world {
    fm_fs *fs;
    char top[64]; /* an empty folder */
    fm_arena *arena;
    fm_error err;
} world;

static const char *at(world *w, const char *name)
{
    return fm_arena_printf(w->arena, "%s/%s", w->top, name).ptr;
}

static void open_world(world *w, bool real)
{
    *w = (world){.fs = real ? fm_fs_real() : fm_fs_sim_new(-1), .arena = fm_arena_new(0)};
    snprintf(w->top, sizeof w->top, "%s", real ? "/tmp/fm_fs_test_XXXXXX" : "/top");
    if (real) assert_non_null(mkdtemp(w->top));
    else assert_int_equal(fm_fs_mkdirs(w->fs, w->top, &w->err), FM_OK);
}

static void close_world(world *w)
{
    assert_int_equal(fm_fs_remove_all(w->fs, w->top, &w->err), FM_OK);
    fm_fs_free(w->fs);
    fm_arena_free(w->arena);
}

static fm_status put(world *w, const char *name, fm_open_mode mode, const char *text)
{
    fm_file *file;
    fm_status st = fm_file_open(w->fs, at(w, name), mode, &file, &w->err);

    if (st != FM_OK) return st;
    st = fm_file_write(file, text, strlen(text), &w->err);
    assert_int_equal(fm_file_close(file, NULL), FM_OK);
    return st;
}

/* The content, or the name of the status. */
static const char *get(world *w, const char *name)
{
    fm_str text;
    fm_status st = fm_fs_read_all(w->fs, at(w, name), 1 << 20, w->arena, &text, &w->err);

    return st == FM_OK ? text.ptr : fm_status_name(st);
}

static void check_open_modes(world *w)
{
    static const struct {
        fm_open_mode mode;
        const char *text;
        fm_status st;
        const char *after;
    } steps[] = {
        {FM_OPEN_READ, "", FM_NOT_FOUND, "FM_NOT_FOUND"},
        {FM_OPEN_CREATE_NEW, "one", FM_OK, "one"},
        {FM_OPEN_CREATE_NEW, "two", FM_CONFLICT, "one"},
        {FM_OPEN_APPEND, "+", FM_OK, "one+"},
        {FM_OPEN_APPEND, "+", FM_OK, "one++"},
        {FM_OPEN_TRUNCATE, "x", FM_OK, "x"},
        {FM_OPEN_TRUNCATE, "", FM_OK, ""},
    };

    for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
        assert_int_equal(put(w, "f", steps[i].mode, steps[i].text), steps[i].st);
        assert_string_equal(get(w, "f"), steps[i].after);
    }
    assert_int_equal(put(w, "new", FM_OPEN_APPEND, "made"), FM_OK);
    assert_string_equal(get(w, "new"), "made");
    assert_int_equal(put(w, "no/such", FM_OPEN_CREATE_NEW, ""), FM_NOT_FOUND);
    assert_non_null(strstr(w->err.message, "no/such"));
    assert_int_equal(put(w, "f/below-a-file", FM_OPEN_CREATE_NEW, ""), FM_NOT_FOUND);
}

static void check_reading(world *w)
{
    fm_file *file;
    char bytes[8];
    size_t got;
    fm_file_stat st;

    assert_int_equal(put(w, "f", FM_OPEN_CREATE_NEW, "0123456789"), FM_OK);
    assert_int_equal(fm_file_open(w->fs, at(w, "f"), FM_OPEN_READ, &file, &w->err), FM_OK);
    static const struct {
        int64_t offset;
        size_t size, got;
    } reads[] = {{0, 8, 8}, {4, 8, 6}, {9, 1, 1}, {10, 8, 0}, {100, 8, 0}, {3, 0, 0}};
    for (size_t i = 0; i < sizeof reads / sizeof reads[0]; i++) {
        assert_int_equal(fm_file_read_at(file, reads[i].offset, bytes, reads[i].size, &got, &w->err), FM_OK);
        assert_int_equal(got, reads[i].got);
        if (got) assert_memory_equal(bytes, &"0123456789"[reads[i].offset], got);
    }
    assert_int_equal(fm_file_stat_of(file, &st, &w->err), FM_OK);
    assert_int_equal(st.size, 10);
    assert_false(st.is_dir);
    assert_int_equal(fm_file_write(file, "x", 1, &w->err), FM_UNAVAILABLE);
    fm_file_close(file, NULL);
    fm_str text;
    assert_int_equal(fm_fs_read_all(w->fs, at(w, "f"), 10, w->arena, &text, &w->err), FM_OK);
    assert_int_equal(fm_fs_read_all(w->fs, at(w, "f"), 9, w->arena, &text, &w->err), FM_LIMIT);
    assert_int_equal(fm_fs_read_all(w->fs, w->top, 1 << 20, w->arena, &text, &w->err), FM_UNAVAILABLE);
}

static void check_names(world *w)
{
    fm_file_stat st;
    fm_dir_entry *entries;
    size_t n;

    assert_int_equal(fm_fs_mkdirs(w->fs, at(w, "a/b//c/"), &w->err), FM_OK);
    assert_int_equal(fm_fs_mkdirs(w->fs, at(w, "a/b/c"), &w->err), FM_OK);
    assert_int_equal(put(w, "a/b/c/f", FM_OPEN_CREATE_NEW, "f"), FM_OK);
    assert_int_equal(fm_fs_mkdirs(w->fs, at(w, "a/b/c/f/g"), &w->err), FM_INVALID);
    assert_int_equal(fm_fs_mkdirs(w->fs, "", &w->err), FM_INVALID);
    assert_int_equal(fm_fs_stat(w->fs, at(w, "a/b"), &st, &w->err), FM_OK);
    assert_true(st.is_dir);
    assert_int_equal(fm_fs_stat(w->fs, at(w, "a/x"), &st, &w->err), FM_NOT_FOUND);
    assert_int_equal(fm_fs_list(w->fs, at(w, "a/b"), w->arena, &entries, &n, &w->err), FM_OK);
    assert_int_equal(n, 1);
    assert_string_equal(entries[0].name.ptr, "c");
    assert_true(entries[0].stat.is_dir);
    assert_int_equal(fm_fs_list(w->fs, at(w, "nowhere"), w->arena, &entries, &n, &w->err), FM_NOT_FOUND);
    assert_int_equal(fm_fs_remove(w->fs, at(w, "a"), &w->err), FM_UNAVAILABLE); /* not empty */
    assert_int_equal(fm_fs_remove(w->fs, at(w, "a/b/c/f"), &w->err), FM_OK);
    assert_int_equal(fm_fs_remove(w->fs, at(w, "a/b/c/f"), &w->err), FM_NOT_FOUND);
    assert_int_equal(fm_fs_remove(w->fs, at(w, "a/b/c"), &w->err), FM_OK);
    assert_int_equal(put(w, "a/b/f", FM_OPEN_CREATE_NEW, "f"), FM_OK);
    assert_int_equal(fm_fs_remove_all(w->fs, at(w, "a"), &w->err), FM_OK);
    assert_int_equal(fm_fs_remove_all(w->fs, at(w, "a"), &w->err), FM_OK);
    assert_int_equal(fm_fs_stat(w->fs, at(w, "a"), &st, &w->err), FM_NOT_FOUND);
}

static void check_renames(world *w)
{
    fm_fs_mkdirs(w->fs, at(w, "d/e"), &w->err);
    put(w, "a", FM_OPEN_CREATE_NEW, "a");
    put(w, "b", FM_OPEN_CREATE_NEW, "b");
    assert_int_equal(fm_fs_rename_new(w->fs, at(w, "a"), at(w, "b"), &w->err), FM_CONFLICT);
    assert_string_equal(get(w, "a"), "a");
    assert_string_equal(get(w, "b"), "b");
    assert_int_equal(fm_fs_rename(w->fs, at(w, "a"), at(w, "b"), &w->err), FM_OK);
    assert_string_equal(get(w, "a"), "FM_NOT_FOUND");
    assert_string_equal(get(w, "b"), "a");
    assert_int_equal(fm_fs_rename_new(w->fs, at(w, "b"), at(w, "d/e/b"), &w->err), FM_OK);
    assert_string_equal(get(w, "d/e/b"), "a");
    assert_int_equal(fm_fs_rename(w->fs, at(w, "b"), at(w, "c"), &w->err), FM_NOT_FOUND);
    assert_int_equal(fm_fs_rename(w->fs, at(w, "d/e/b"), at(w, "no/c"), &w->err), FM_NOT_FOUND);
    assert_int_equal(fm_fs_rename(w->fs, at(w, "d"), at(w, "d/e/d"), &w->err), FM_UNAVAILABLE);
    assert_int_equal(fm_fs_rename(w->fs, at(w, "d/e/b"), at(w, "d"), &w->err), FM_UNAVAILABLE);
    assert_int_equal(fm_fs_rename(w->fs, at(w, "d"), at(w, "D"), &w->err), FM_OK);
    assert_string_equal(get(w, "D/e/b"), "a");
}

static void check_write_atomic(world *w)
{
    fm_dir_entry *entries;
    size_t n;

    assert_int_equal(fm_fs_write_atomic(w->fs, at(w, "f"), FM_STR("1"), false, &w->err), FM_OK);
    assert_int_equal(fm_fs_write_atomic(w->fs, at(w, "f"), FM_STR("2"), false, &w->err), FM_CONFLICT);
    assert_string_equal(get(w, "f"), "1");
    assert_int_equal(fm_fs_write_atomic(w->fs, at(w, "f"), FM_STR("3"), true, &w->err), FM_OK);
    assert_int_equal(fm_fs_write_atomic(w->fs, at(w, "no/f"), FM_STR("3"), true, &w->err), FM_NOT_FOUND);
    assert_string_equal(get(w, "f"), "3");
    assert_int_equal(fm_fs_list(w->fs, w->top, w->arena, &entries, &n, &w->err), FM_OK);
    assert_int_equal(n, 1); /* nothing is left behind */
}

static void check_locks(world *w)
{
    fm_fs_lock *lock, *second;

    assert_int_equal(fm_fs_lock_take(w->fs, at(w, "lock"), &lock, &w->err), FM_OK);
    assert_int_equal(fm_fs_lock_take(w->fs, at(w, "lock"), &second, &w->err), FM_CONFLICT);
    assert_null(second);
    fm_fs_unlock(lock);
    assert_int_equal(fm_fs_lock_take(w->fs, at(w, "lock"), &lock, &w->err), FM_OK);
    fm_fs_unlock(lock);
    fm_fs_unlock(NULL);
    assert_int_equal(fm_fs_lock_take(w->fs, at(w, "no/lock"), &lock, &w->err), FM_NOT_FOUND);
}

static void check_absolute(world *w)
{
    static const char *const paths[][2] = {
        {"/", "/"}, {"/a", "/a"}, {"//a///b/", "/a/b"}, {"/a/./b", "/a/b"}, {"/a/../b", "/b"}, {"/..", "/"},
        {"/a/b/../..", "/"},
    };
    fm_str out;

    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        assert_int_equal(fm_fs_absolute(w->fs, fm_str_c(paths[i][0]), w->arena, &out, &w->err), FM_OK);
        assert_string_equal(out.ptr, paths[i][1]);
    }
    assert_int_equal(fm_fs_absolute(w->fs, FM_STR("x"), w->arena, &out, &w->err), FM_OK);
    assert_true(out.ptr[0] == '/' && fm_str_ends(out, FM_STR("/x")));
    assert_int_equal(fm_fs_absolute(w->fs, FM_STR(""), w->arena, &out, &w->err), FM_INVALID);
    assert_int_equal(fm_fs_absolute(w->fs, FM_STR("a\0b"), w->arena, &out, &w->err), FM_INVALID);
}

static void both(void **state)
{
    static void (*const checks[])(world *) = {check_open_modes,   check_reading, check_names,   check_renames,
                                              check_write_atomic, check_locks,   check_absolute};

    (void)state;
    for (int real = 0; real < 2; real++) {
        for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++) {
            world w;
            open_world(&w, real);
            checks[i](&w);
            close_world(&w);
        }
    }
}

static void links_are_removed_not_followed(void **state)
{
    world w;
    struct stat st;

    (void)state;
    open_world(&w, true);
    fm_fs_mkdirs(w.fs, at(&w, "precious"), &w.err);
    put(&w, "precious/f", FM_OPEN_CREATE_NEW, "f");
    fm_fs_mkdirs(w.fs, at(&w, "tree/sub"), &w.err);
    assert_int_equal(symlink(at(&w, "precious"), at(&w, "tree/sub/link")), 0);
    assert_int_equal(symlink("/nowhere", at(&w, "tree/dangling")), 0);
    assert_int_equal(fm_fs_remove_all(w.fs, at(&w, "tree"), &w.err), FM_OK);
    assert_int_equal(lstat(at(&w, "tree"), &st), -1);
    assert_string_equal(get(&w, "precious/f"), "f");
    assert_int_equal(symlink(at(&w, "precious"), at(&w, "link")), 0);
    assert_string_equal(get(&w, "link/f"), "f");
    assert_int_equal(fm_fs_remove(w.fs, at(&w, "link"), &w.err), FM_OK);
    assert_string_equal(get(&w, "precious/f"), "f");
    close_world(&w);
}

static void links_are_listed_as_such(void **state)
{
    world w;
    fm_arena *arena = fm_arena_new(0);
    fm_dir_entry *entries;
    size_t n;

    (void)state;
    open_world(&w, true);
    fm_fs_mkdirs(w.fs, at(&w, "tree/folder"), &w.err);
    put(&w, "tree/file", FM_OPEN_CREATE_NEW, "f");
    assert_int_equal(symlink("folder", at(&w, "tree/to-folder")), 0);
    assert_int_equal(symlink("file", at(&w, "tree/to-file")), 0);
    assert_int_equal(symlink("nowhere", at(&w, "tree/to-nothing")), 0);
    assert_int_equal(fm_fs_list_links(w.fs, at(&w, "tree"), arena, &entries, &n, &w.err), FM_OK);
    assert_int_equal(n, 5);
    for (size_t i = 0; i < n; i++) {
        bool is_link = fm_str_starts(entries[i].name, FM_STR("to-"));
        assert_int_equal(entries[i].stat.is_other, is_link);
        assert_int_equal(entries[i].stat.is_dir, fm_str_eq(entries[i].name, FM_STR("folder")));
    }
    assert_int_equal(fm_fs_list(w.fs, at(&w, "tree"), arena, &entries, &n, &w.err), FM_OK);
    assert_int_equal(n, 4);
    for (size_t i = 0; i < n; i++) assert_false(entries[i].stat.is_other);
    fm_arena_free(arena);
    close_world(&w);
}

static void lock_dies_with_its_process(void **state)
{
    world w;
    fm_fs_lock *lock;
    int ready[2];
    char byte;

    (void)state;
    open_world(&w, true);
    const char *path = at(&w, "lock");
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        bool held = fm_fs_lock_take(w.fs, path, &lock, NULL) == FM_OK;
        if (write(ready[1], held ? "y" : "n", 1) == 1) pause();
        _exit(0);
    }
    assert_int_equal(read(ready[0], &byte, 1), 1);
    assert_int_equal(byte, 'y');
    assert_int_equal(fm_fs_lock_take(w.fs, path, &lock, &w.err), FM_CONFLICT);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_int_equal(fm_fs_lock_take(w.fs, path, &lock, &w.err), FM_OK);
    fm_fs_unlock(lock);
    close(ready[0]);
    close(ready[1]);
    close_world(&w);
}

static void size_unknown_beforehand(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_str text = {0};

    (void)state;
    if (access("/proc/self/status", R_OK) == 0) { /* a bare chroot has none */
        assert_int_equal(fm_fs_read_all(fm_fs_real(), "/proc/self/status", 1 << 20, arena, &text, NULL), FM_OK);
        assert_true(text.len > 100);
    }
    assert_int_equal(fm_fs_read_all(fm_fs_real(), "/dev/zero", 100000, arena, &text, NULL), FM_LIMIT);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both),
        cmocka_unit_test(links_are_removed_not_followed),
        cmocka_unit_test(links_are_listed_as_such),
        cmocka_unit_test(lock_dies_with_its_process),
        cmocka_unit_test(size_unknown_beforehand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

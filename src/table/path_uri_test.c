/* table/path_uri_test.c: paths, URIs and partition folders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "table/path_uri.h"

static void test_uris(void **state)
{
    static const struct {
        const char *path, *uri;
    } cases[] = {
        {"/in/a.json", "file:///in/a.json"},
        {"/in/b c.json", "file:///in/b%20c.json"},
        {"/k=50%25/x", "file:///k=50%2525/x"},
        {"/t=10%3A00/\"#?[]{}|^`\\<>", "file:///t=10%253A00/%22%23%3F%5B%5D%7B%7D%7C%5E%60%5C%3C%3E"},
        {"/\xC3\xA4/~!$&'()*+,;:@=-_.", "file:///\xC3\xA4/~!$&'()*+,;:@=-_."},
        {"/", "file:///"},
    };
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_str back;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_strbuf uri = {0};
        fm_path_to_uri(fm_str_c(cases[i].path), &uri);
        assert_string_equal(uri.ptr, cases[i].uri);
        assert_int_equal(fm_path_of_uri(fm_strbuf_str(&uri), arena, &back, &err), FM_OK);
        assert_string_equal(back.ptr, cases[i].path);
        fm_strbuf_fini(&uri);
    }
    assert_int_equal(fm_path_of_uri(FM_STR("file:/in/a%2"), arena, &back, &err), FM_OK);
    assert_string_equal(back.ptr, "/in/a%2");
    assert_int_equal(fm_path_of_uri(FM_STR("/plain"), arena, &back, &err), FM_OK);
    assert_string_equal(back.ptr, "/plain");
    static const char *const bad[] = {"", "x", "file:", "file:x", "file://host/x", "s3a://b/x", "file:///a%00b"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(fm_path_of_uri(fm_str_c(bad[i]), arena, &back, &err), FM_CORRUPT);
    }
    fm_arena_free(arena);
}

static void test_options(void **state)
{
    static const struct {
        const char *text, *path; /* path NULL: refused */
    } cases[] = {
        {"/a/b/", "/a/b"}, {"file:///a//b/./c", "/a/b/c"}, {"file:/a/../b", "/b"}, {"/..", "/"}, {" /a b ", "/a b"},
        {"file://localhost/a", "/a"}, {"s3a://bucket/x", NULL}, {"", NULL}, {"file:", NULL}, {"file://host/x", NULL},
    };
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_str path;

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_status st = fm_path_of_option(fm_fs_real(), fm_str_c(cases[i].text), arena, &path, &err);
        assert_int_equal(st == FM_OK, cases[i].path != NULL);
        if (st == FM_OK) assert_string_equal(path.ptr, cases[i].path);
    }
    assert_int_equal(fm_path_of_option(fm_fs_real(), FM_STR("in/x"), arena, &path, &err), FM_OK);
    assert_true(path.ptr[0] == '/' && fm_str_ends(path, FM_STR("/in/x")));
    fm_arena_free(arena);
}

static void test_partitions(void **state)
{
    static const struct {
        const char *value, *folder;
    } cases[] = {
        {"plain", "plain"}, {"2026-01-01 10:00:00", "2026-01-01 10%3A00%3A00"}, {"a/b", "a%2Fb"}, {"50%", "50%25"},
        {"k=v", "k%3Dv"}, {"\x01\x7F", "%01%7F"}, {"\xC3\xA4 ü", "\xC3\xA4 ü"}, {"\"#'*?\\{[]^", "%22%23%27%2A%3F%5C%7B%5B%5D%5E"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_strbuf folder = {0}, value = {0};
        fm_partition_escape(fm_str_c(cases[i].value), &folder);
        assert_string_equal(folder.ptr, cases[i].folder);
        fm_partition_unescape(fm_strbuf_str(&folder), &value);
        assert_string_equal(value.ptr, cases[i].value);
        fm_strbuf_fini(&folder);
        fm_strbuf_fini(&value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_uris),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_partitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

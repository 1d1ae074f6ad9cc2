/* base/str_test.c: text and buffers. */
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static int sign(int x) { return (x > 0) - (x < 0); }

static void comparing(void **state)
{
    static const struct {
        const char *a, *b;
        int order;
        bool eq_ci;
    } cases[] = {
        {"", "", 0, true},    {"a", "", 1, false},   {"a", "b", -1, false},          {"a", "A", 1, true},
        {"ab", "a", 1, false}, {"ab", "aB", 1, true}, {"\xC3\xA9", "z", 1, false}, {"[", "{", -1, false},
        {"@", "`", -1, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_str a = fm_str_c(cases[i].a), b = fm_str_c(cases[i].b);
        assert_int_equal(sign(fm_str_cmp(a, b)), cases[i].order);
        assert_int_equal(sign(fm_str_cmp(b, a)), -cases[i].order);
        assert_int_equal(fm_str_eq(a, b), cases[i].order == 0);
        assert_int_equal(fm_str_eq_ci(a, b), cases[i].eq_ci);
    }
    fm_str none = {NULL, 0};
    assert_true(fm_str_eq(none, FM_STR("")) && fm_str_eq_ci(none, FM_STR("")) && fm_str_cmp(none, FM_STR("")) == 0);
}

static void searching(void **state)
{
    fm_str text = FM_STR("abcabc"), none = {NULL, 0};

    (void)state;
    assert_int_equal(fm_str_find(text, FM_STR("ca")), 2);
    assert_int_equal(fm_str_find(text, FM_STR("abd")), -1);
    assert_int_equal(fm_str_find(text, none), 0);
    assert_int_equal(fm_str_find(none, FM_STR("a")), -1);
    assert_true(fm_str_starts(text, FM_STR("ab")) && fm_str_starts(text, none) && fm_str_starts(none, none));
    assert_false(fm_str_starts(text, FM_STR("b")) || fm_str_starts(none, text));
    assert_true(fm_str_ends(text, FM_STR("bc")) && fm_str_ends(text, none) && fm_str_ends(none, none));
    assert_false(fm_str_ends(text, FM_STR("ab")) || fm_str_ends(none, text));
}

static void trimming(void **state)
{
    static const char *const cases[][2] = {
        {"", ""}, {"  ", ""}, {"a", "a"}, {" a b ", "a b"}, {"\t\n\x01 a\x7F\r", "a"}, {"\xC2\xA0", "\xC2\xA0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_true(fm_str_eq(fm_str_trim(fm_str_c(cases[i][0])), fm_str_c(cases[i][1])));
}

static void integers(void **state)
{
    static const struct {
        const char *text;
        bool ok;
        int64_t value;
    } cases[] = {
        {"0", true, 0},
        {"-0", true, 0},
        {"+7", true, 7},
        {"000000000000000000000000012", true, 12},
        {"9223372036854775807", true, INT64_MAX},
        {"-9223372036854775808", true, INT64_MIN},
        {"9223372036854775808", false, 0},
        {"-9223372036854775809", false, 0},
        {"99999999999999999999", false, 0},
        {"", false, 0},
        {"-", false, 0},
        {"+-1", false, 0},
        {"1 ", false, 0},
        {"1a", false, 0},
        {"\xFF", false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t value = 0;
        assert_int_equal(fm_str_to_i64(fm_str_c(cases[i].text), &value), cases[i].ok);
        if (cases[i].ok) assert_true(value == cases[i].value);
    }
}

static void nearest(void **state)
{
    static const char *const names[] = {"maxFilesPerTrigger", "path", "latestFirst", "checkpointLocation"};
    static const char *const cases[][2] = {
        {"maxFilesPerTriger", "maxFilesPerTrigger"},
        {"PATH", "path"},
        {"paht", "path"},
        {"chekcpointLocation", "checkpointLocation"},
        {"lastFirst", "latestFirst"},
        {"zzzzzz", NULL},
        {"", NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *found = fm_str_nearest(fm_str_c(cases[i][0]), names, 4);
        if (cases[i][1]) assert_string_equal(found, cases[i][1]);
        else assert_null(found);
    }
    assert_null(fm_str_nearest(FM_STR("path"), NULL, 0));
    char longest[5000];
    memset(longest, 'p', sizeof longest);
    assert_null(fm_str_nearest((fm_str){longest, sizeof longest}, names, 4));
}

static void buffers(void **state)
{
    fm_strbuf buf = {0};

    (void)state;
    fm_strbuf_add_c(&buf, "");
    assert_string_equal(buf.ptr, "");
    for (int i = 0; i < 1000; i++) fm_strbuf_printf(&buf, "%d,", i);
    fm_strbuf_add_char(&buf, 0);
    assert_int_equal(buf.len, 10 * 2 + 90 * 3 + 900 * 4 + 1);
    assert_true(fm_strbuf_ok(&buf));
    fm_strbuf_clear(&buf);
    fm_strbuf_add(&buf, FM_STR("x"));
    assert_string_equal(buf.ptr, "x");
    assert_false(fm_strbuf_reserve(&buf, SIZE_MAX - 1)); /* and the failure stays */
    fm_strbuf_add_c(&buf, "y");
    assert_false(fm_strbuf_ok(&buf));
    assert_string_equal(buf.ptr, "x");
    fm_strbuf_fini(&buf);
    fm_strbuf_fini(&buf);
}

static void json(void **state)
{
    static const struct {
        fm_str in;
        const char *out;
    } cases[] = {
        {{NULL, 0}, "\"\""},
        {{"a\"b\\c/", 6}, "\"a\\\"b\\\\c/\""},
        {{"\b\f\n\r\t", 5}, "\"\\b\\f\\n\\r\\t\""},
        {{"\0\x1F\x7F", 3}, "\"\\u0000\\u001F\x7F\""},
        {{"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", 9}, "\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\""},
        {{"x\xFFy", 3}, "\"x\xEF\xBF\xBDy\""},
        {{"\xC0\x80", 2}, "\"\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* overlong */
        {{"\xED\xA0\x80", 3}, "\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* a surrogate */
        {{"a\xE2\x82", 3}, "\"a\xEF\xBF\xBD\xEF\xBF\xBD\""}, /* cut short */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_strbuf buf = {0};
        fm_strbuf_add_json(&buf, cases[i].in);
        assert_string_equal(buf.ptr, cases[i].out);
        fm_strbuf_fini(&buf);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(comparing), cmocka_unit_test(searching), cmocka_unit_test(trimming), cmocka_unit_test(integers),
        cmocka_unit_test(nearest),   cmocka_unit_test(buffers),   cmocka_unit_test(json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

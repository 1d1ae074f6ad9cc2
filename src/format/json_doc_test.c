/* format/json_doc_test.c: the document reader on what it must take, refuse and unescape. */
#include "format/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const fm_json *read_ok(fm_arena *arena, const char *text)
{
    const fm_json *v = NULL;
    fm_error err = FM_ERROR_INIT;

    if (fm_json_read(arena, fm_str_c(text), &v, &err) != FM_OK)
        fail_msg("%s: %s", text, err.message);
    return v;
}

static void test_tree(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    const fm_json *v =
        read_ok(arena, " {\"a\": [1, -2.5e3, \"x\\u00e9\\ud83d\\ude00\\n\"], \"b\": {\"c\": null},"
                       " \"t\": true, \"a2\": false, \"t\": 9223372036854775807} ");
    int64_t n = 0;

    (void)state;
    assert_int_equal(v->kind, FM_JSON_OBJECT);
    assert_int_equal(v->n, 5);
    const fm_json *a = fm_json_get(v, "a");
    assert_int_equal(a->kind, FM_JSON_ARRAY);
    assert_int_equal(a->n, 3);
    assert_true(fm_str_eq(a->items[1].text, FM_STR("-2.5e3")));
    assert_true(fm_str_eq(a->items[2].text, FM_STR("x\xc3\xa9\xf0\x9f\x98\x80\n")));
    assert_int_equal(fm_json_get(fm_json_get(v, "b"), "c")->kind, FM_JSON_NULL);
    assert_true(fm_json_i64(fm_json_get(v, "t"), &n)); /* the last of equal keys */
    assert_true(n == INT64_MAX);
    assert_null(fm_json_get(v, "zz"));
    assert_null(fm_json_get(a, "zz"));
    assert_false(fm_json_i64(&a->items[1], &n));
    fm_arena_free(arena);
}

static void test_refused(void **state)
{
    static const char *const texts[] = {
        "",
        " ",
        "{",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "'x'",
        "01",
        "-",
        "1.",
        "1e",
        ".5",
        "+1",
        "tru",
        "nul",
        "NaN",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\ud800\"",
        "\"\\udc00\"",
        "\"a\tb\"",
        "\"abc",
        "\"abc\\",
        "\"abc\\\"",
        "1 2",
        "[1] x",
        "\"\xff\"",
        "\"\xc0\x80\"",
        "\"\xed\xa0\x80\"",
        "{\"a\" 1}",
        "[1 2]",
    };

    (void)state;
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_json *v = NULL;
        fm_error err = FM_ERROR_INIT;
        if (fm_json_read(arena, fm_str_c(texts[i]), &v, &err) != FM_INVALID)
            fail_msg("accepted: %s", texts[i]);
        assert_non_null(strstr(err.message, "at byte "));
        fm_arena_free(arena);
    }
}

static void test_depth(void **state)
{
    char text[2 * 1001 + 1];

    (void)state;
    for (int depth = 1000; depth <= 1001; depth++) {
        fm_arena *arena = fm_arena_new(0);
        const fm_json *v = NULL;
        fm_error err = FM_ERROR_INIT;
        memset(text, '[', (size_t)depth);
        memset(text + depth, ']', (size_t)depth);
        fm_status st = fm_json_read(arena, (fm_str){text, 2 * (size_t)depth}, &v, &err);
        assert_int_equal(st, depth == 1000 ? FM_OK : FM_INVALID);
        fm_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tree),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_depth),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

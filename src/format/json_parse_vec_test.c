/* format/json_parse_vec_test.c: from_json. */
#include "expr/cast.h"
#include "format/json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* texts: up to a NULL; "-" stands for a null lane. */
static fm_status parse(const char *type_text, const char *key, const char *value,
                       const char *const *texts, fm_strbuf *out, fm_error *err)
{
    fm_arena *arena = fm_arena_new(0);
    fm_options options = {0};
    const fm_type *type;
    fm_json_parser *parser;
    fm_vec in, result;
    fm_builder *b = fm_builder_new(arena, fm_type_string(), 16);

    if (key) assert_true(fm_options_set(arena, &options, fm_str_c(key), fm_str_c(value)));
    assert_int_equal(fm_type_parse(arena, fm_str_c(type_text), &type, err), FM_OK);
    for (; *texts; texts++) {
        if (**texts == '-')
            fm_builder_null(b);
        else
            fm_builder_str(b, fm_str_c(*texts));
    }
    assert_int_equal(fm_builder_finish(b, &in, err), FM_OK);
    fm_status st = fm_json_parser_new(arena, type, &options, fm_zone_utc(), &parser, err);
    if (st == FM_OK) st = fm_json_parse_vec(parser, &in, arena, &result, err);
    if (st == FM_OK) {
        assert_int_equal(result.len, in.len);
        assert_int_equal(fm_vec_verify(&result, err), FM_OK);
        for (int64_t i = 0; i < result.len; i++) {
            if (i) fm_strbuf_add_char(out, ' ');
            if (fm_vec_is_null(&result, i))
                fm_strbuf_add_c(out, "NULL");
            else
                fm_value_text(&result, i, fm_zone_utc(), out);
        }
    }
    fm_arena_free(arena);
    return st;
}

static void expect(const char *type, const char *key, const char *value, const char *const *texts,
                   const char *result)
{
    fm_strbuf out = {0};
    fm_error err = FM_ERROR_INIT;

    if (parse(type, key, value, texts, &out, &err) != FM_OK) fail_msg("%s", err.message);
    assert_string_equal(out.ptr, result);
    fm_strbuf_fini(&out);
}

static void test_structs(void **state)
{
    static const char *const texts[] = {"{\"a\":1,\"b\":\"x\",\"c\":[1,2]}",
                                        "{\"a\":\"x\",\"b\":\"y\"}",
                                        "{bad",
                                        "",
                                        "-",
                                        "[]",
                                        "{}",
                                        "{\"a\":1.0,\"c\":[\"q\"]}",
                                        "null",
                                        "{\"a\":2}{\"a\":3}",
                                        "{\"b\":{\"x\":[1, 2.50]}}",
                                        "  ",
                                        NULL};

    (void)state;
    expect(
        "struct<a: int, b: string, c: array<int>>", NULL, NULL, texts,
        "{1, x, [1, 2]} {null, y, null} {null, null, null} NULL NULL {null, null, null} {null, "
        "null, null} "
        "{null, null, null} {null, null, null} {2, null, null} {null, {\"x\":[1,2.5]}, null} NULL");
    expect("struct<a: int, _corrupt_record: string, b: string>", NULL, NULL, texts,
           "{1, null, x} {null, {\"a\":\"x\",\"b\":\"y\"}, y} {null, {bad, null} NULL NULL {null, "
           "[], null} {null, null, null} "
           "{null, {\"a\":1.0,\"c\":[\"q\"]}, null} {null, null, null} {2, null, null} {null, "
           "null, {\"x\":[1,2.5]}} NULL");
}

static void test_lists_and_maps(void **state)
{
    static const char *const texts[] = {"[{\"a\":1},{\"a\":2},{}]", "{\"a\":5}", "[1]",
                                        "{\"a\":\"x\",\"b\":2}",    "bad",       "-",
                                        "[{\"a\":\"x\"}]",          "null",      NULL};

    (void)state;
    expect("array<struct<a: int>>", NULL, NULL, texts,
           "[{1}, {2}, {null}] [{5}] NULL [{null}] NULL NULL [{null}] NULL");
    expect("map<string, int>", NULL, NULL, texts, "NULL {a -> 5} NULL NULL NULL NULL NULL NULL");
}

static void test_refused(void **state)
{
    static const char *const bad[] = {"{bad", NULL}, *const array[] = {"[]", NULL};
    fm_strbuf out = {0};
    fm_error err = FM_ERROR_INIT;

    (void)state;
    assert_int_equal(parse("struct<a: int>", "mode", "FAILFAST", bad, &out, &err), FM_INVALID);
    assert_string_equal(err.condition, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION");
    assert_int_equal(parse("struct<a: int>", "mode", "FAILFAST", array, &out, &err), FM_INVALID);
    assert_string_equal(err.condition,
                        "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS");
    assert_int_equal(parse("struct<a: int>", "mode", "DROPMALFORMED", bad, &out, &err), FM_INVALID);
    assert_string_equal(err.condition, "PARSE_MODE_UNSUPPORTED");
    assert_int_equal(parse("int", NULL, NULL, bad, &out, &err), FM_INVALID);
    assert_int_equal(parse("map<int, int>", NULL, NULL, bad, &out, &err), FM_INVALID);
    fm_strbuf_fini(&out);
}

/* ---- what is learned changes nothing ---- */

static uint64_t next_random(uint64_t *x)
{
    *x ^= *x << 13;
    *x ^= *x >> 7;
    *x ^= *x << 17;
    return *x;
}

/* A text like the others, or one with some bytes changed, cut off, or doubled. */
static size_t random_text(uint64_t *x, char *out, size_t cap)
{
    static const char *const likely[] = {
        "{\"s\":\"abc\",\"i\":12,\"d\":1.5,\"t\":\"2026-01-01T10:00:00.123Z\",\"n\":{\"a\":[1,2],\"b\":true}}",
        "{\"s\":\"a long text that is not inline\",\"i\":-7,\"d\":1e3,\"t\":\"2026-01-01T10:00:01.999Z\",\"n\":{\"a\":[],\"b\":false}}",
        "{\"i\":1,\"s\":null,\"x\":{\"y\":\"z\"},\"d\":2}",
        "{ \"s\" : \"\xc3\xa9\\n\",\n \"i\" : 3 }\n",
        "{ \"s\" : \"\xc3\xa9\\n\",", " \"i\" : 3 }\n", "", "  ", "[]", "{}", "{\"i\":1}{\"i\":2}", "{\"i\":1}\n{\"i\":2}",
    };
    static const char bytes[] = "{}[]\",:0123456789.e-+ \n\\tnfa\xc3\xa9";
    const char *base = likely[next_random(x) % 8 < 6 ? next_random(x) % 4 : next_random(x) % 12];
    size_t len = strlen(base);

    memcpy(out, base, len);
    for (uint64_t changes = next_random(x) % 4; len > 0 && changes > 1; changes--) {
        size_t at = next_random(x) % len;
        if (next_random(x) % 8 == 0) len = at;
        else out[at] = bytes[next_random(x) % (sizeof bytes - 1)];
    }
    fm_assert(len <= cap);
    return len;
}

static void random_batch(uint64_t *x, fm_arena *arena, fm_vec *out)
{
    char text[256];
    fm_error err = FM_ERROR_INIT;
    fm_builder *b = fm_builder_new(arena, fm_type_string(), 64);
    int32_t n = next_random(x) % 50 == 0 ? 5000 : (int32_t)(next_random(x) % 100);

    for (int32_t i = 0; i < n; i++) {
        if (next_random(x) % 20 == 0) fm_builder_null(b);
        else fm_builder_str(b, (fm_str){text, random_text(x, text, sizeof text)});
    }
    assert_int_equal(fm_builder_finish(b, out, &err), FM_OK);
}

/* Each text by a parser that has seen none before. */
static void parse_alone(const fm_type *type, const fm_vec *texts, int32_t i, fm_arena *arena, fm_vec *out)
{
    fm_options none = {0};
    fm_json_parser *fresh;
    fm_vec one;
    fm_error err = FM_ERROR_INIT;

    assert_int_equal(fm_json_parser_new(arena, type, &none, fm_zone_utc(), &fresh, &err), FM_OK);
    assert_int_equal(fm_vec_gather(&one, texts, &i, 1, arena, &err), FM_OK);
    assert_int_equal(fm_json_parse_vec(fresh, &one, arena, out, &err), FM_OK);
}

static void test_learning_changes_nothing(void **state)
{
    fm_arena *keep = fm_arena_new(0), *arena = fm_arena_new(0), *scratch = fm_arena_new(0);
    fm_options none = {0};
    fm_json_parser *kept;
    const fm_type *type;
    fm_error err = FM_ERROR_INIT;
    uint64_t x = 88172645463325252u;

    (void)state;
    fm_str text = FM_STR("struct<s: string, i: int, d: double, t: timestamp, n: struct<a: array<int>, b: boolean>, _corrupt_record: string>");
    assert_int_equal(fm_type_parse(keep, text, &type, &err), FM_OK);
    assert_int_equal(fm_json_parser_new(keep, type, &none, fm_zone_utc(), &kept, &err), FM_OK);
    for (int round = 0; round < 200; round++) {
        fm_vec texts, result, alone;
        fm_arena_reset(arena);
        random_batch(&x, arena, &texts);
        assert_int_equal(fm_json_parse_vec(kept, &texts, arena, &result, &err), FM_OK);
        assert_int_equal(result.len, texts.len);
        if (fm_vec_verify(&result, &err) != FM_OK) fail_msg("%s", err.message);
        for (int32_t i = 0; i < result.len; i++) {
            fm_arena_reset(scratch);
            parse_alone(type, &texts, i, scratch, &alone);
            if (fm_vec_same(&result, i, &alone, 0)) continue;
            fm_str shown = fm_vec_is_null(&texts, i) ? FM_STR("null") : fm_vec_str(&texts, i);
            fail_msg("round %d, lane %d: %.*s", round, i, FM_STR_ARG(shown));
        }
    }
    fm_arena_free(scratch);
    fm_arena_free(arena);
    fm_arena_free(keep);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_structs),
        cmocka_unit_test(test_lists_and_maps),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_learning_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

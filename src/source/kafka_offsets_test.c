/* source/kafka_offsets_test.c: offsets as text, shares of a limit, pieces. */
#include "source/kafka_offsets.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static fm_kafka_offsets parse(fm_arena *arena, const char *text)
{
    fm_kafka_offsets o;
    fm_error err = FM_ERROR_INIT;

    if (fm_kafka_offsets_parse(fm_str_c(text), "test", arena, &o, &err) != FM_OK) fail_msg("%s", err.message);
    return o;
}

static void assert_text(const fm_kafka_offsets *o, const char *want)
{
    fm_strbuf text = {0};

    fm_kafka_offsets_print(o, &text);
    assert_string_equal(text.ptr, want);
    fm_strbuf_fini(&text);
}

static void texts_are_read_and_written(void **state)
{
    static const struct {
        const char *in, *out; /* out NULL: refused */
    } cases[] = {
        {"{\"a\":{\"0\":1}}", "{\"a\":{\"0\":1}}"},
        {" { \"b\" : { \"1\" : -1, \"0\": -2 }, \"a\":{\"10\":5,\"9\":4} } ", "{\"a\":{\"9\":4,\"10\":5},\"b\":{\"0\":-2,\"1\":-1}}"},
        {"{}", "{}"},
        {"{\"a\":{}}", "{}"},
        {"{\"a\\\"\":{\"0\":9223372036854775807}}", "{\"a\\\"\":{\"0\":9223372036854775807}}"},
        {"{\"a\":[0]}", NULL},
        {"{\"a\":{\"x\":1}}", NULL},
        {"{\"a\":{\"-1\":1}}", NULL},
        {"{\"a\":{\"0\":\"1\"}}", NULL},
        {"{\"a\":{\"0\":1.5}}", NULL},
        {"[1]", NULL},
        {"earliest", NULL},
        {"", NULL},
    };
    fm_arena *arena = fm_arena_new(0);
    fm_kafka_offsets o;

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_error err = FM_ERROR_INIT;
        fm_status st = fm_kafka_offsets_parse(fm_str_c(cases[i].in), "test", arena, &o, &err);
        assert_int_equal(st, cases[i].out ? FM_OK : FM_INVALID);
        if (cases[i].out) assert_text(&o, cases[i].out);
    }
    fm_arena_free(arena);
}

/* Rule: Spark, KafkaMicroBatchStream: proportional, floor, but ceil below one. */
static void limits_are_shared(void **state)
{
    static const struct {
        const char *start, *fresh, *end;
        int64_t limit;
        const char *want;
    } cases[] = {
        {"{\"t\":{\"0\":0,\"1\":0}}", "{}", "{\"t\":{\"0\":900,\"1\":100}}", 100, "{\"t\":{\"0\":90,\"1\":10}}"},
        {"{\"t\":{\"0\":0,\"1\":0}}", "{}", "{\"t\":{\"0\":10,\"1\":990}}", 50, "{\"t\":{\"0\":1,\"1\":49}}"},
        {"{\"t\":{\"0\":5,\"1\":7}}", "{}", "{\"t\":{\"0\":5,\"1\":7}}", 50, "{\"t\":{\"0\":5,\"1\":7}}"},
        {"{\"t\":{\"0\":5}}", "{\"t\":{\"1\":3}}", "{\"t\":{\"0\":15,\"1\":13}}", 10, "{\"t\":{\"0\":10,\"1\":8}}"},
        {"{\"t\":{\"0\":5}}", "{}", "{\"t\":{\"0\":15,\"1\":13}}", 5, "{\"t\":{\"0\":10,\"1\":13}}"},
        {"{\"t\":{\"0\":20}}", "{}", "{\"t\":{\"0\":15}}", 5, "{\"t\":{\"0\":15}}"},
        {"{\"t\":{\"0\":0,\"1\":0,\"2\":0}}", "{}", "{\"t\":{\"0\":1,\"1\":1,\"2\":1}}", 2, "{\"t\":{\"0\":1,\"1\":1,\"2\":1}}"},
        {"{\"t\":{\"0\":0}}", "{}", "{\"t\":{\"0\":9223372036854775807}}", INT64_MAX, "{\"t\":{\"0\":9223372036854775807}}"},
        {"{\"t\":{\"0\":0}}", "{}", "{\"t\":{\"0\":10}}", 100, "{\"t\":{\"0\":10}}"},
    };
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_kafka_offsets start = parse(arena, cases[i].start), fresh = parse(arena, cases[i].fresh), end = parse(arena, cases[i].end);
        fm_kafka_offsets_limit(&start, &fresh, cases[i].limit, &end);
        assert_text(&end, cases[i].want);
    }
    fm_arena_free(arena);
}

static void ranges_are_cut(void **state)
{
    static const struct {
        int64_t to[2], parts_min, records_max; /* both ranges begin at 0 */
        const char *want;
    } cases[] = {
        {{10, 0}, 0, 0, "0:0-10"},
        {{10, 5}, 2, 0, "0:0-10 1:0-5"},
        {{10, 5}, 3, 0, "0:0-5 0:5-10 1:0-5"},
        {{10, 0}, 4, 0, "0:0-2 0:2-4 0:4-7 0:7-10"},
        {{100, 1}, 4, 0, "0:0-33 0:33-66 0:66-100 1:0-1"},
        {{10, 5}, 0, 4, "0:0-3 0:3-6 0:6-10 1:0-2 1:2-5"},
        {{2, 0}, 5, 0, "0:0-1 0:1-2"},
        {{0, 0}, 5, 5, ""},
    };
    fm_arena *arena = fm_arena_new(0);

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        fm_kafka_range in[2] = {{FM_STR("t"), 0, 0, cases[i].to[0]}, {FM_STR("t"), 1, 0, cases[i].to[1]}}, *out;
        int32_t n;
        fm_error err = FM_ERROR_INIT;
        fm_strbuf text = {0};
        assert_int_equal(fm_kafka_ranges_cut(in, 2, cases[i].parts_min, cases[i].records_max, arena, &out, &n, &err), FM_OK);
        for (int32_t k = 0; k < n; k++)
            fm_strbuf_printf(&text, "%s%d:%lld-%lld", k ? " " : "", out[k].partition, (long long)out[k].from, (long long)out[k].to);
        assert_string_equal(text.ptr ? text.ptr : "", cases[i].want);
        fm_strbuf_fini(&text);
    }
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_read_and_written),
        cmocka_unit_test(limits_are_shared),
        cmocka_unit_test(ranges_are_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

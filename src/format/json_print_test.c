/* format/json_print_test.c: JSON read and written again. */
#include "base/limits.h"
#include "format/format.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

typedef struct rewriting {
    const fm_format *format;
    fm_writer *writer;
    fm_strbuf text;
} rewriting;

static fm_status rewrite(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    rewriting *r = ctx;

    (void)lines;
    return r->format->write_batch(r->writer, batch, &r->text, err);
}

static void expect(const char *ddl, const char *zone_id, const char *key, const char *value,
                   const char *in, const char *out)
{
    fm_arena *arena = fm_arena_new(0), *batches = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    fm_options options = {0}, none = {0};
    const fm_zone *zone;
    const fm_type *schema;
    int32_t wanted[16];
    fm_reader *reader;
    fm_read_counts counts = {0};
    rewriting r = {.format = fm_format_find(FM_STR("JSON"))};

    if (key) assert_true(fm_options_set(arena, &options, fm_str_c(key), fm_str_c(value)));
    assert_int_equal(fm_zone_open(arena, fm_str_c(zone_id), &zone, &err), FM_OK);
    assert_int_equal(fm_type_parse_ddl(arena, fm_str_c(ddl), &schema, &err), FM_OK);
    for (int32_t i = 0; i < schema->n_fields; i++) wanted[i] = i;
    fm_read_spec spec = {.schema = schema, .wanted = wanted, .n_wanted = schema->n_fields, .options = &none, .zone = zone, .corrupt_column = FM_STR("_corrupt_record")};
    assert_int_equal(r.format->reader_new(arena, &spec, &reader, &err), FM_OK);
    assert_int_equal(r.format->writer_new(arena, schema, &options, zone, &r.writer, &err), FM_OK);
    size_t len = strlen(in);
    char *bytes = calloc(1, len + FM_BLOCK_PADDING);
    memcpy(bytes, in, len);
    fm_block block = {.bytes = bytes, .len = len};
    fm_batch_out push = {&r, rewrite};
    assert_int_equal(r.format->read_block(reader, &block, batches, &push, &counts, &err), FM_OK);
    assert_string_equal(r.text.ptr, out);
    r.format->reader_free(reader);
    fm_strbuf_fini(&r.text);
    free(bytes);
    fm_arena_free(arena);
    fm_arena_free(batches);
}

static void test_values(void **state)
{
    (void)state;
    expect(
        "k STRING, v BIGINT, ts TIMESTAMP, d DECIMAL(5, 2), arr ARRAY<INT>, m MAP<STRING, STRING>",
        "Europe/Berlin", NULL, NULL,
        "{\"k\":\"a\\\"b\\\\c/"
        "\xc3\xa9\",\"v\":1,\"ts\":\"2026-06-01T00:00:00.5Z\",\"d\":\"1.50\",\"arr\":[1,null],"
        "\"m\":{\"x\":\"1\",\"y\":null}}\n{\"k\":null}\n{\"arr\":[],\"m\":{}}",
        "{\"k\":\"a\\\"b\\\\c/"
        "\xc3\xa9\",\"v\":1,\"ts\":\"2026-06-01T02:00:00.500+02:00\",\"d\":1.50,\"arr\":[1,null],"
        "\"m\":{\"x\":\"1\",\"y\":null}}\n{}\n{\"arr\":[],\"m\":{}}\n");
    expect("a STRING, b BIGINT", "UTC", "ignoreNullFields", "false", "{\"b\":1}\n{}",
           "{\"a\":null,\"b\":1}\n{\"a\":null,\"b\":null}\n");
    expect("d DOUBLE, f FLOAT, e DECIMAL(20, 10), x BINARY, y BOOLEAN", "UTC", NULL, NULL,
           "{\"d\":1e10,\"f\":0.1,\"e\":0.0000000001,\"x\":\"aGk=\",\"y\":true}\n{\"d\":\"NaN\","
           "\"f\":-Infinity,\"e\":0.0000012345}\n"
           "{\"e\":-0.00000012345}\n{\"e\":0}",
           "{\"d\":1.0E10,\"f\":0.1,\"e\":1E-10,\"x\":\"aGk=\",\"y\":true}\n{\"d\":\"NaN\",\"f\":"
           "\"-Infinity\",\"e\":0.0000012345}\n"
           "{\"e\":-1.235E-7}\n{\"e\":0E-10}\n");
    expect("t TIMESTAMP, n TIMESTAMP_NTZ, d DATE", "UTC", NULL, NULL,
           "{\"t\":\"2026-01-01T10:00:00.123456Z\",\"n\":\"2026-01-01 "
           "23:59:59.9999\",\"d\":\"1969-12-31\"}\n"
           "{\"t\":\"1969-12-31T23:59:59.9999Z\",\"n\":\"2026-01-01 23:59:59.9999\"}",
           "{\"t\":\"2026-01-01T10:00:00.123Z\",\"n\":\"2026-01-01T23:59:59.999\",\"d\":\"1969-12-"
           "31\"}\n"
           "{\"t\":\"1969-12-31T23:59:59.999Z\",\"n\":\"2026-01-01T23:59:59.999\"}\n");
    expect("s STRUCT<a: INT, b: ARRAY<STRUCT<c: STRING>>>", "UTC",
           "writeNonAsciiCharacterAsCodePoint", "true",
           "{\"s\":{\"a\":1,\"b\":[{\"c\":\"x\\n\xc3\xa9\xf0\x9f\x98\x80\"},{},null]}}",
           "{\"s\":{\"a\":1,\"b\":[{\"c\":\"x\\n\\u00E9\\uD83D\\uDE00\"},{},null]}}\n");
    /* Strings around the eight bytes looked at together, with what must be escaped at every place.
     */
    char in[64], out[64];
    for (int len = 0; len < 20; len++) {
        for (int at = 0; at <= len; at++) {
            char text[32] = {0};
            memset(text, 'a' + len, (size_t)len);
            snprintf(in, sizeof in, "{\"a\":\"%.*s\\u0001%s\"}", at, text, text + at);
            snprintf(out, sizeof out, "{\"a\":\"%.*s\\u0001%s\"}\n", at, text, text + at);
            expect("a STRING", "UTC", NULL, NULL, in, out);
            snprintf(in, sizeof in, "{\"a\":\"%s\xc3\xbf\"}", text);
            snprintf(out, sizeof out, "{\"a\":\"%s\xc3\xbf\"}\n", text);
            expect("a STRING", "UTC", NULL, NULL, in, out);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_values)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

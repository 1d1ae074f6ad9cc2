/* format/json_template_test.c: the fast path gives what the exact path gives: on lines of changing
 * shapes, with values of all forms, and with bytes changed at random. */
#include "base/limits.h"
#include "expr/cast.h"
#include "format/json_template.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

static uint64_t next_random(uint64_t *state)
{
    uint64_t x = (*state += UINT64_C(0x9E3779B97F4A7C15));

    x = (x ^ (x >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94D049BB133111EB);
    return x ^ (x >> 31);
}

#define PICK(state, list) list[next_random(state) % (sizeof list / sizeof list[0])]

static const char *const strings[] = {
    "\"\"",
    "\"a\"",
    "\"u000123\"",
    "\"exactly12chr\"",
    "\"thirteen char\"",
    "\"a longer text, of more than thirty-two bytes, so that it takes steps\"",
    "\"tab\\there\"",
    "\"\\u00e9\\ud83d\\ude00\"",
    "\"\\ud800 half\"",
    "\"\xc3\xa9t\xc3\xa9 and more text behind it\"",
    "\"bad \xff byte\"",
    "\"bad \\x escape\"",
    "'single'",
    "null",
    "12.50",
    "true",
    "{\"x\": [1, 2]}",
    "[1,\"a\"]"};
static const char *const numbers[] = {"0",
                                      "-0",
                                      "-0.0",
                                      "7",
                                      "12.3",
                                      "999.99",
                                      "0.001",
                                      "123456789012345",
                                      "1234567890123456",
                                      "12345678901.2345",
                                      "0.12345678901234567",
                                      "9007199254740993",
                                      "9223372036854775807",
                                      "-9223372036854775808",
                                      "9223372036854775808",
                                      "127",
                                      "255",
                                      "256",
                                      "-129",
                                      "32768",
                                      "2147483648",
                                      "16777217",
                                      "16777219.5",
                                      "1e5",
                                      "1E-7",
                                      "1.5e300",
                                      "1e400",
                                      "4.9e-324",
                                      "NaN",
                                      "-Infinity",
                                      "01",
                                      "1.",
                                      ".5",
                                      "+1",
                                      "1.2.3",
                                      "-",
                                      "1x",
                                      "null",
                                      "\"12\"",
                                      "\"NaN\"",
                                      "true",
                                      "{}"};
static const char *const times[] = {"\"2026-01-01T10:00:00.123Z\"",
                                    "\"2026-01-01T10:00:00Z\"",
                                    "\"2026-01-01T23:59:59.999999Z\"",
                                    "\"2026-01-01T10:00:00\"",
                                    "\"2026-01-01T10:00:00.5\"",
                                    "\"2026-01-01T10:00:00.123\"",
                                    "\"2026-01-01 10:00:00.123456\"",
                                    "\"2026-03-29T02:30:00.000\"",
                                    "\"2024-02-29T00:00:00.000Z\"",
                                    "\"2026-02-29T00:00:00.000Z\"",
                                    "\"2026-01-01T24:00:00.000Z\"",
                                    "\"2026-01-01T10:60:00.000Z\"",
                                    "\"2026-01-01T10:00:60.000Z\"",
                                    "\"2026-13-01T10:00:00.000Z\"",
                                    "\"0000-01-01T10:00:00.000Z\"",
                                    "\"2026-01-01T10:00:00.123+02:00\"",
                                    "\"2026-01-01T10:00:00.123456789Z\"",
                                    "\"2026-01-01\"",
                                    "\"2026-1-1 1:2:3\"",
                                    "\" 2026-01-01T10:00:00.123Z \"",
                                    "\"2026-01-01T10:00:00.123Z\\n\"",
                                    "\"soon\"",
                                    "\"\"",
                                    "1767261600",
                                    "17672616.5",
                                    "null"};
static const char *const words[] = {"true", "false", "null", "tru", "truex", "\"true\"", "1", "[]"};
static const char *const nested[] = {"{\"a\":1,\"s\":\"x\"}",
                                     "{\"a\":2,\"s\":null}",
                                     "{\"s\":\"other order\",\"a\":3}",
                                     "{\"a\":\"wrong\",\"s\":\"y\"}",
                                     "{}",
                                     "{\"a\":5,\"q\":{\"deep\":[1,2,{\"er\":null}]}}",
                                     "null",
                                     "[]",
                                     "{\"a\":tru}"};
static const char *const lists[] = {
    "[1,2,3]", "[]", "[1,\"x\"]", "null", "[null]", "{\"k\":1}", "{\"k\":\"x\"}", "5", "[1,2"};
static const char *const anything[] = {"{\"deep\":{\"er\":[1,2,{\"x\":\"y\"}]}}",
                                       "[[],[{}],\"]\"]",
                                       "\"text \\\" with quote\"",
                                       "-1.5E+10",
                                       "null",
                                       "false",
                                       "{}"};

typedef struct kind {
    const char *name;
    const char *const *values;
    size_t n;
} kind;

#define KIND(name, list)                                                                           \
    {                                                                                              \
        name, list, sizeof list / sizeof list[0]                                                   \
    }
static const kind kinds[] = {KIND("s", strings), KIND("d", numbers),   KIND("f", numbers),
                             KIND("i", numbers), KIND("n", numbers),   KIND("k", numbers),
                             KIND("e", numbers), KIND("t", times),     KIND("z", times),
                             KIND("b", words),   KIND("st", nested),   KIND("l", lists),
                             KIND("m", lists),   KIND("x1", strings),  KIND("x2", numbers),
                             KIND("x3", words),  KIND("x4", anything), KIND("x5", nested)};
enum { N_KINDS = sizeof kinds / sizeof kinds[0] };

static const char ddl[] = "s STRING, d DOUBLE, f FLOAT, i BIGINT, n INT, k TINYINT, e "
                          "DECIMAL(8,2), t TIMESTAMP, z DATE, b "
                          "BOOLEAN, st STRUCT<a: INT, s: STRING>, l ARRAY<INT>, m MAP<STRING, "
                          "INT>, gone INT, _bad STRING";

/* One line with the fields of `order`; calm: values of the usual forms mostly. */
static void add_line(uint64_t *state, const int *order, int n, bool calm, bool blanks,
                     fm_strbuf *out)
{
    fm_strbuf_add_char(out, '{');
    for (int i = 0; i < n; i++) {
        const kind *k = &kinds[order[i]];
        size_t pick = next_random(state) % k->n;
        if (calm && next_random(state) % 16) pick = pick % (k->n > 6 ? 6 : k->n > 2 ? 2 : 1);
        if (i) fm_strbuf_add_c(out, blanks ? ", " : ",");
        fm_strbuf_printf(out, "\"%s\":%s%s", k->name, blanks ? " " : "", k->values[pick]);
    }
    fm_strbuf_add_char(out, '}');
    fm_strbuf_add_c(out, next_random(state) % 64 == 0 ? " trailing" : "");
    fm_strbuf_add_c(out, next_random(state) % 64 == 0    ? "\r\n"
                         : next_random(state) % 256 == 0 ? "\r"
                                                         : "\n");
}

static void make_text(uint64_t *state, bool calm, fm_strbuf *out)
{
    int orders[3][N_KINDS], lens[3];
    static const char bytes[] = "\"\\{}[]:, 0-9.eE\n\rZT'xntf\x01\x7f\x80\xff";

    fm_strbuf_clear(out);
    for (int o = 0; o < 3; o++) {
        lens[o] = 1 + (int)(next_random(state) % N_KINDS);
        for (int i = 0; i < N_KINDS; i++) orders[o][i] = i;
        for (int i = N_KINDS - 1; i > 0; i--) {
            int j = (int)(next_random(state) % (uint64_t)(i + 1)), x = orders[o][i];
            orders[o][i] = orders[o][j];
            orders[o][j] = x;
        }
        if (next_random(state) % 8 == 0) orders[o][lens[o] - 1] = orders[o][0]; /* a key twice */
    }
    bool blanks = next_random(state) % 4 == 0;
    for (int i = 0; i < 200; i++) {
        int o = next_random(state) % 8 ? 0 : (int)(next_random(state) % 3);
        size_t from = out->len;
        add_line(state, orders[o], lens[o], calm, blanks, out);
        if (next_random(state) % (calm ? 16 : 4)) continue;
        size_t at = from + next_random(state) % (out->len - from);
        out->ptr[at] = PICK(state, bytes);
    }
    if (next_random(state) % 4 == 0) out->len--; /* the last line without its end */
}

typedef struct result {
    fm_strbuf text;
    int64_t rows, bad;
} result;

static fm_status collect(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    result *r = ctx;

    assert_int_equal(fm_batch_verify(batch, err), FM_OK);
    for (int32_t row = 0; row < batch->rows; row++) {
        fm_strbuf_printf(&r->text, "%d", (int)lines[row]);
        for (int32_t i = 0; i < batch->schema->n_fields; i++) {
            fm_strbuf_add_char(&r->text, '|');
            if (fm_vec_is_null(&batch->columns[i], row))
                fm_strbuf_add_c(&r->text, "null");
            else
                fm_value_text(&batch->columns[i], row, fm_zone_utc(), &r->text);
        }
        fm_strbuf_add_char(&r->text, '\n');
    }
    return FM_OK;
}

static void read_text(const char *simd, const fm_read_spec *spec, fm_str text, const char *bytes,
                      result *out)
{
    fm_arena *arena = fm_arena_new(0), *batches = fm_arena_new(0);
    const fm_format *json = fm_format_find(FM_STR("json"));
    fm_reader *reader;
    fm_read_counts counts = {0};
    fm_batch_out push = {out, collect};
    fm_error err = FM_ERROR_INIT;

    setenv("FLOODMARK_SIMD", simd, 1);
    fm_strbuf_clear(&out->text);
    assert_int_equal(json->reader_new(arena, spec, &reader, &err), FM_OK);
    for (int pass = 0; pass < 2;
         pass++) { /* the second knows from the first what the lines look like */
        fm_block block = {bytes, text.len, FM_STR("test"), 0, 1};
        assert_int_equal(json->read_block(reader, &block, batches, &push, &counts, &err), FM_OK);
    }
    json->reader_free(reader);
    out->rows = counts.rows;
    out->bad = counts.bad;
    fm_arena_free(arena);
    fm_arena_free(batches);
}

/* Shows the first line that differs. */
static void fail_difference(const char *simd, uint64_t seed, const result *got, const result *want)
{
    const char *a = got->text.ptr, *b = want->text.ptr;

    for (;;) {
        const char *ae = strchr(a, '\n'), *be = strchr(b, '\n');
        if (!ae || !be || ae - a != be - b || memcmp(a, b, (size_t)(ae - a)) != 0) break;
        a = ae + 1;
        b = be + 1;
    }
    fail_msg("%s, seed %llu:\n%.*s\nexact path:\n%.*s", simd, (unsigned long long)seed,
             (int)strcspn(a, "\n"), a, (int)strcspn(b, "\n"), b);
}

static void test_same(void **state)
{
    static const char *const bodies[] = {"portable", "sse42", "avx2"};
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    const fm_type *schema;
    int32_t wanted[16];
    fm_options options = {0};
    const fm_zone *zone;
    result want = {{0}, 0, 0}, got = {{0}, 0, 0};
    fm_strbuf text = {0};
    int rounds = getenv("FLOODMARK_TEST_ROUNDS")
                     ? (int)strtol(getenv("FLOODMARK_TEST_ROUNDS"), NULL, 10)
                     : 150;

    (void)state;
    assert_int_equal(fm_type_parse_ddl(arena, fm_str_c(ddl), &schema, &err), FM_OK);
    assert_int_equal(fm_zone_open(arena, FM_STR("Europe/Berlin"), &zone, &err), FM_OK);
    for (int32_t i = 0; i < schema->n_fields; i++) wanted[i] = i;
    for (int round = 0; round < rounds; round++) {
        uint64_t seed = (uint64_t)round, random = seed;
        make_text(&random, round % 2, &text);
        char *bytes = calloc(1, text.len + FM_BLOCK_PADDING);
        memcpy(bytes, text.ptr, text.len);
        fm_read_spec spec = {.schema = schema, .wanted = wanted, .n_wanted = schema->n_fields, .options = &options, .zone = zone, .corrupt_column = FM_STR("_bad")};
        if (round % 3 == 1)
            spec.n_wanted -= 1 + (int32_t)(random % 8); /* fewer columns, no corrupt one */
        read_text("none", &spec, fm_strbuf_str(&text), bytes, &want);
        for (size_t b = 0; b < sizeof bodies / sizeof bodies[0]; b++) {
            read_text(bodies[b], &spec, fm_strbuf_str(&text), bytes, &got);
            if (!fm_str_eq(fm_strbuf_str(&got.text), fm_strbuf_str(&want.text)))
                fail_difference(bodies[b], seed, &got, &want);
            assert_int_equal(got.rows, want.rows);
            if (got.bad != want.bad)
                fail_msg("seed %llu %s bad %d, not %d, wanted %d", (unsigned long long)seed,
                         bodies[b], (int)got.bad, (int)want.bad, spec.n_wanted);
        }
        free(bytes);
    }
    fm_strbuf_fini(&text);
    fm_strbuf_fini(&want.text);
    fm_strbuf_fini(&got.text);
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

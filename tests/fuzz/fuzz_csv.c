/* tests/fuzz/fuzz_csv.c: CSV under every option. The first bytes choose the options, the rest is the file; what was read is
 * written again with the same options. */
#include "fuzz_infer.h"

#include <stdlib.h>

#include "base/limits.h"
#include "format/format.h"

enum { CHOICES_SIZE = 10 }; /* bytes in front of the file */

static const char schema_text[] = "a INT, b STRING, c DOUBLE, t TIMESTAMP, d DECIMAL(10,2), e DATE, f BOOLEAN, n TIMESTAMP_NTZ, "
                                  "i INTERVAL DAY TO SECOND, l BIGINT, x BINARY, _corrupt_record STRING";

/* Eight values of each option; NULL leaves it out. */
static const struct {
    const char *key, *values[8];
} choices[] = {
    {"sep", {NULL, ";", "\\t", "|", "a", "\"", "||", "#"}},
    {"quote", {NULL, "'", "", "|", ",", "a", "\\", "#"}},
    {"escape", {NULL, "\"", "'", "", ",", "a", "#", "|"}},
    {"comment", {NULL, "#", ",", "\"", "a", NULL, "\\", ";"}},
    {"header", {NULL, "true", "false", NULL, "true", NULL, NULL, "true"}},
    {"nullValue", {NULL, "null", "", "\"\"", "a", "\\N", NULL, "1"}},
    {"emptyValue", {NULL, "empty", "\"\"", "", "a", NULL, NULL, "0"}},
    {"mode", {NULL, "DROPMALFORMED", "FAILFAST", NULL, "PERMISSIVE", "DROPMALFORMED", NULL, NULL}},
    {"ignoreLeadingWhiteSpace", {NULL, "true", "false", NULL, "true", NULL, NULL, "true"}},
    {"ignoreTrailingWhiteSpace", {NULL, "true", "false", NULL, "true", NULL, NULL, "true"}},
    {"lineSep", {NULL, "\n", "\r\n", "||", "a", ",", "\"", "\r"}},
    {"timestampFormat", {NULL, "yyyy-MM-dd HH:mm:ss", "dd/MM/yyyy", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXX]", "EEE", "", "'", "h a"}},
    {"dateFormat", {NULL, "dd.MM.yyyy", "yyyyMMdd", "d", "", "'", "M/d/yy", "D"}},
    {"enableDateTimeParsingFallback", {NULL, "true", "false", NULL, NULL, "true", NULL, NULL}},
    {"multiLine", {NULL, "true", NULL, NULL, NULL, "true", NULL, NULL}},
    {"quoteAll", {NULL, "true", NULL, NULL, NULL, "true", NULL, NULL}},
    {"unescapedQuoteHandling", {NULL, "STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER", "SKIP_VALUE", "RAISE_ERROR", "SKIP_VALUE", "BACK_TO_DELIMITER"}},
    {"charToEscapeQuoteEscaping", {NULL, "|", "\\", "\"", "", "a", NULL, NULL}},
    {"inferSchema", {NULL, "true", NULL, NULL, NULL, "true", NULL, "true"}},
    {"maxCharsPerColumn", {NULL, "1", "5", NULL, NULL, NULL, NULL, NULL}},
};

typedef struct round_trip {
    fm_writer *writer;
    const fm_format *format;
    fm_strbuf text;
    int64_t rows;
} round_trip;

static fm_status take(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    round_trip *r = ctx;

    (void)lines;
    fm_assert(batch->rows >= 0 && batch->rows <= FM_BATCH_ROWS_MAX);
    fm_assert(fm_batch_verify(batch, err) == FM_OK);
    r->rows += batch->rows;
    return r->writer ? r->format->write_batch(r->writer, batch, &r->text, err) : FM_OK;
}

static void read_and_write(const fm_format *format, const fm_read_spec *spec, fm_str text, fm_arena *arena)
{
    fm_arena *batches = fm_arena_new((size_t)256 << 20);
    char *block = calloc(1, text.len + FM_BLOCK_PADDING);
    round_trip r = {.format = format};
    fm_batch_out out = {&r, take};
    fm_read_counts counts = {0};
    fm_error err = FM_ERROR_INIT;
    fm_reader *reader = NULL;

    fm_assert(batches && block);
    if (text.len) memcpy(block, text.ptr, text.len);
    if (spec->n_wanted == spec->schema->n_fields) format->writer_new(arena, spec->schema, spec->options, spec->zone, &r.writer, &err);
    if (format->reader_new(arena, spec, &reader, &err) == FM_OK) {
        size_t whole = format->whole_records(reader, block, text.len);
        fm_assert(whole <= text.len);
        fm_block first = {.bytes = block, .len = text.len, .file = FM_STR("f"), .first_line = 1};
        fm_status st = format->read_block(reader, &first, batches, &out, &counts, &err);
        if (st == FM_OK) fm_assert(counts.rows == r.rows);
        else fm_assert(err.condition[0] && err.message[0]);
        if (format->reader_free) format->reader_free(reader);
    }
    fm_strbuf_fini(&r.text);
    free(block);
    fm_arena_free(batches);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    fm_arena *arena = fm_arena_new((size_t)256 << 20);
    fm_error err = FM_ERROR_INIT;
    fm_options options = {0};
    const fm_type *schema;
    static fm_arena *zones;
    static const fm_zone *zone; /* opened once: that takes longer than most inputs */
    int32_t wanted[16], n = 0;

    if (size < CHOICES_SIZE) return fm_arena_free(arena), 0;
    for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) { /* half a byte each; the highest bit leaves it out */
        unsigned chosen = bytes[i / 2] >> (i % 2 ? 4 : 0) & 15;
        const char *value = chosen < 8 ? choices[i].values[chosen] : NULL;
        if (value) fm_options_set(arena, &options, fm_str_c(choices[i].key), fm_str_c(value));
    }
    const fm_format *format = fm_format_find(FM_STR("csv"));
    fm_assert(zone || fm_zone_open(zones = fm_arena_new(0), FM_STR("America/New_York"), &zone, &err) == FM_OK);
    fm_assert(fm_type_parse_ddl(arena, fm_str_c(schema_text), &schema, &err) == FM_OK);
    for (int32_t i = 0; i < schema->n_fields; i++)
        if (!(bytes[0] & 0x80) || i % 3 != 1) wanted[n++] = i;
    fm_read_spec spec = {.schema = schema, .wanted = wanted, .n_wanted = n, .options = &options, .zone = zone,
                         .corrupt_column = FM_STR("_corrupt_record")};
    fm_str text = {(const char *)bytes + CHOICES_SIZE, size - CHOICES_SIZE};
    fuzz_infer(format, &spec, text, arena);
    read_and_write(format, &spec, text, arena);
    fm_arena_free(arena);
    return 0;
}

/* tests/fuzz/fuzz_records.c: records of files to columns: every format, both as one block and in pieces. The first byte
 * chooses format and mode; each batch that comes out is checked for what must hold of batches. */
#include "fuzz_infer.h"

#include <stdlib.h>

#include "base/limits.h"
#include "format/format.h"

static const char schema_text[] = "a INT, b STRING, c DOUBLE, t TIMESTAMP, n STRUCT<x: BIGINT, y: ARRAY<STRING>>, d DECIMAL(10,2), "
                                  "m MAP<STRING, BOOLEAN>, _corrupt_record STRING";
static const char flat_schema_text[] = "a INT, b STRING, c DOUBLE, t TIMESTAMP, d DECIMAL(10,2), e DATE, _corrupt_record STRING";
static const char text_schema_text[] = "value STRING";

typedef struct run {
    int64_t rows;
} run;

static fm_status take(void *ctx, const fm_batch *batch, const int64_t *lines, fm_error *err)
{
    run *r = ctx;

    fm_assert(batch->rows >= 0 && batch->rows <= FM_BATCH_ROWS_MAX);
    fm_assert(fm_batch_verify(batch, err) == FM_OK);
    if (lines && batch->rows > 0) fm_assert(lines[0] >= 1 && lines[batch->rows - 1] >= lines[0]);
    r->rows += batch->rows;
    return FM_OK;
}

static void read_with(const fm_format *format, const fm_read_spec *spec, fm_str text, fm_arena *arena)
{
    fm_arena *batches = fm_arena_new((size_t)256 << 20);
    char *block = calloc(1, text.len + FM_BLOCK_PADDING);
    run r = {0};
    fm_batch_out out = {&r, take};
    fm_read_counts counts = {0};
    fm_error err = FM_ERROR_INIT;
    fm_reader *reader = NULL;

    fm_assert(batches && block);
    if (!format->read_block) { /* read through a footer: fuzz_parquet's */
        free(block);
        fm_arena_free(batches);
        return;
    }
    if (text.len) memcpy(block, text.ptr, text.len);
    if (format->reader_new(arena, spec, &reader, &err) == FM_OK) {
        fm_block whole = {.bytes = block, .len = text.len, .file = FM_STR("f"), .first_line = 1};
        fm_status st = format->read_block(reader, &whole, batches, &out, &counts, &err);
        if (st == FM_OK) fm_assert(counts.rows == r.rows);
        if (format->whole_records) fm_assert(format->whole_records(reader, block, text.len) <= text.len);
        if (format->reader_free) format->reader_free(reader);
    }
    free(block);
    fm_arena_free(batches);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
    static const char *const modes[] = {"PERMISSIVE", "DROPMALFORMED", "FAILFAST"};
    fm_arena *arena = fm_arena_new((size_t)256 << 20);
    fm_error err = FM_ERROR_INIT;
    fm_options options = {0};
    const fm_type *schema;
    static fm_arena *zones;
    static const fm_zone *zone; /* opened once: that takes longer than most inputs */
    int32_t wanted[16];
    int n_formats;

    if (size == 0) return fm_arena_free(arena), 0;
    const fm_format *const *formats = fm_formats(&n_formats);
    const fm_format *format = formats[bytes[0] % n_formats];
    fm_options_set(arena, &options, FM_STR("mode"), fm_str_c(modes[bytes[0] / n_formats % 3]));
    if (bytes[0] & 0x80) fm_options_set(arena, &options, FM_STR("multiLine"), FM_STR("true"));
    const char *declared = strcmp(format->name, "json") == 0 ? schema_text
                           : strcmp(format->name, "text") == 0 ? text_schema_text : flat_schema_text;
    fm_assert(zone || fm_zone_open(zones = fm_arena_new(0), FM_STR("Europe/Berlin"), &zone, &err) == FM_OK);
    fm_assert(fm_type_parse_ddl(arena, fm_str_c(declared), &schema, &err) == FM_OK);
    int32_t n = 0;
    for (int32_t i = 0; i < schema->n_fields; i++)
        if (!(bytes[0] & 0x40) || i % 2 == 0) wanted[n++] = i; /* some columns may be left out */
    fm_read_spec spec = {.schema = schema, .wanted = wanted, .n_wanted = n, .options = &options, .zone = zone,
                         .corrupt_column = FM_STR("_corrupt_record")};
    fm_str text = {(const char *)bytes + 1, size - 1};
    fuzz_infer(format, &spec, text, arena);
    read_with(format, &spec, text, arena);
    fm_arena_free(arena);
    return 0;
}

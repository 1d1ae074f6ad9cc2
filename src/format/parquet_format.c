/* format/parquet_format.c: Parquet among the formats of files: options, schemas of tables, files read in pieces, files written.
 *
 * A reader keeps the file it read last open: the pieces of one file come one after the other, and its footer is read once. */
#include <stdlib.h>

#include "base/limits.h"
#include "format/formats.h"
#include "format/parquet.h"

enum { PIECE_SIZE = 32 << 20 /* bytes of a file one split reads: a row group or a few */ };

static const char *const read_options[] = {"mergeSchema", "datetimeRebaseMode", "int96RebaseMode", NULL};
static const char *const write_options[] = {"compression", "compressionLevel", "outputTimestampType", "parquet.block.size",
                                            "parquet.page.size", "parquet.enable.dictionary", "bloomFilterColumns", NULL};
static const char *const session_options[] = {"spark.sql.parquet.compression.codec", "compression",
                                              "spark.sql.parquet.outputTimestampType", "outputTimestampType",
                                              "spark.sql.parquet.mergeSchema", "mergeSchema", NULL};

/* ---- Schemas ------------------------------------------------------------------------------------------------ */

static fm_status cannot_merge(const fm_type *a, const fm_type *b, const char *path, fm_error *err)
{
    fm_strbuf left = {0}, right = {0};

    fm_type_sql(a, &left);
    fm_type_sql(b, &right);
    fm_status st = fm_fail(err, FM_INVALID, "CANNOT_MERGE_SCHEMAS",
                           "Failed merging schemas: %s and %s, at file '%s'. Declare the columns, or leave files out with option pathGlobFilter.",
                           left.ptr ? left.ptr : "", right.ptr ? right.ptr : "", path);
    fm_strbuf_fini(&left);
    fm_strbuf_fini(&right);
    return st;
}

static fm_status merge(const fm_type *a, const fm_type *b, const char *path, fm_arena *arena, const fm_type **out, fm_error *err);

static fm_status merge_structs(const fm_type *a, const fm_type *b, const char *path, fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_field *fields = fm_arena_array(arena, fm_field, a->n_fields + b->n_fields);
    int32_t n = a->n_fields;

    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < n; i++) fields[i] = a->fields[i];
    for (int32_t k = 0; k < b->n_fields; k++) {
        int32_t at = 0;
        while (at < a->n_fields && !fm_str_eq_ci(a->fields[at].name, b->fields[k].name)) at++;
        if (at == a->n_fields) {
            fields[n] = b->fields[k];
            fields[n++].nullable = true;
            continue;
        }
        FM_TRY(merge(a->fields[at].type, b->fields[k].type, path, arena, &fields[at].type, err));
        fields[at].nullable |= b->fields[k].nullable;
    }
    *out = fm_type_struct(arena, fields, n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

/* Rule: Spark, StructType.merge: fields by name, decimals of one scale to the wider; else types are the same. */
static fm_status merge(const fm_type *a, const fm_type *b, const char *path, fm_arena *arena, const fm_type **out, fm_error *err)
{
    const fm_type *key, *value;

    *out = a;
    if (fm_type_eq(a, b) || b->id == FM_TYPE_NULL) return FM_OK;
    if (a->id == FM_TYPE_NULL) {
        *out = b;
        return FM_OK;
    }
    if (a->id != b->id) return cannot_merge(a, b, path, err);
    switch (a->id) {
    case FM_TYPE_STRUCT: return merge_structs(a, b, path, arena, out, err);
    case FM_TYPE_LIST:
        FM_TRY(merge(a->fields[0].type, b->fields[0].type, path, arena, &value, err));
        *out = fm_type_list(arena, value, true);
        break;
    case FM_TYPE_MAP:
        FM_TRY(merge(a->fields[0].type, b->fields[0].type, path, arena, &key, err));
        FM_TRY(merge(a->fields[1].type, b->fields[1].type, path, arena, &value, err));
        *out = fm_type_map(arena, key, value, true);
        break;
    case FM_TYPE_DECIMAL:
        if (a->scale != b->scale) return cannot_merge(a, b, path, err);
        *out = a->precision >= b->precision ? a : b;
        break;
    default: return cannot_merge(a, b, path, err);
    }
    return *out ? FM_OK : fm_no_memory(arena, err);
}

static fm_status file_schema(fm_fs *fs, const char *path, const fm_options *options, fm_arena *arena, const fm_type **schema, fm_error *err)
{
    fm_parquet_file *file;

    (void)options;
    FM_TRY(fm_parquet_open(fs, path, -1, arena, &file, err));
    fm_status st = fm_parquet_check_schema(file, err);
    const fm_type *found = st == FM_OK ? fm_parquet_schema(file) : NULL;
    fm_parquet_close(file);
    if (st != FM_OK) return st;
    if (*schema) return merge(*schema, found, path, arena, schema, err);
    *schema = found;
    return FM_OK;
}

static fm_status merges(const fm_options *options, bool *out, fm_error *err) { return fm_options_bool(options, "mergeSchema", false, out, err); }

/* ---- Reading ------------------------------------------------------------------------------------------------ */

typedef struct parquet_reader {
    const fm_format *format;
    fm_parquet_read spec;
    fm_arena *opened;         /* memory of `file` */
    fm_str path;              /* of `file` */
    fm_parquet_file *file;
    fm_parquet_reader *reader;
} parquet_reader;

static fm_status check_rebase(const fm_options *options, const char *key, fm_error *err)
{
    fm_str mode = fm_options_get(options, key, FM_STR("CORRECTED"));

    if (fm_str_eq_ci(mode, FM_STR("CORRECTED")) || fm_str_eq_ci(mode, FM_STR("EXCEPTION"))) return FM_OK;
    if (fm_str_eq_ci(mode, FM_STR("LEGACY")))
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_REBASE",
                       "Option %s 'LEGACY' is not built in: dates before 1582 of the old calendar are not turned into the new one.", key);
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option %s '%.*s' must be CORRECTED or EXCEPTION.", key, FM_STR_ARG(mode));
}

static fm_status reader_new(fm_arena *arena, const fm_read_spec *spec, fm_reader **out, fm_error *err)
{
    parquet_reader *r = fm_arena_one(arena, parquet_reader);
    fm_field *fields = fm_arena_array(arena, fm_field, spec->n_wanted);

    if (!r || !fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < spec->n_wanted; i++) fields[i] = spec->schema->fields[spec->wanted[i]];
    FM_TRY(check_rebase(spec->options, "datetimeRebaseMode", err));
    FM_TRY(check_rebase(spec->options, "int96RebaseMode", err));
    r->format = &fm_format_parquet;
    r->spec = (fm_parquet_read){.schema = fm_type_struct(arena, fields, spec->n_wanted), .case_sensitive = spec->case_sensitive,
                                .conditions = spec->conditions, .n_conditions = spec->n_conditions};
    if (!r->spec.schema) return fm_no_memory(arena, err);
    *out = (fm_reader *)r;
    return FM_OK;
}

static void close_file(parquet_reader *r)
{
    fm_parquet_reader_free(r->reader);
    fm_parquet_close(r->file);
    fm_arena_free(r->opened);
    r->reader = NULL;
    r->file = NULL;
    r->opened = NULL;
}

static void reader_free(fm_reader *reader) { close_file((parquet_reader *)reader); }

static fm_status open_file(parquet_reader *r, fm_fs *fs, fm_str path, fm_error *err)
{
    if (r->file && fm_str_eq(path, r->path)) return FM_OK;
    close_file(r);
    r->opened = fm_arena_new(0);
    if (!r->opened) return fm_no_memory(NULL, err);
    r->path = fm_arena_str(r->opened, path);
    if (!r->path.ptr) return fm_no_memory(r->opened, err);
    fm_status st = fm_parquet_open(fs, r->path.ptr, -1, r->opened, &r->file, err);
    if (st == FM_OK) st = fm_parquet_reader_new(r->file, &r->spec, &r->reader, err);
    if (st != FM_OK) close_file(r);
    return st;
}

static fm_status read_rows(parquet_reader *r, bool numbered, fm_arena *arena, fm_batch_out *out, fm_read_counts *counts, fm_error *err)
{
    const fm_batch *batch;
    int64_t first, *lines = NULL;

    for (;;) {
        fm_arena_reset(arena);
        FM_TRY(fm_parquet_reader_next(r->reader, arena, &batch, &first, err));
        if (!batch) return FM_OK;
        if (numbered) {
            lines = fm_arena_array(arena, int64_t, batch->rows);
            if (!lines) return fm_no_memory(arena, err);
            for (int32_t i = 0; i < batch->rows; i++) lines[i] = first + i + 1;
        }
        counts->rows += batch->rows;
        FM_TRY(out->push(out->ctx, batch, lines, err));
    }
}

static fm_status read_piece(fm_reader *reader, fm_fs *fs, fm_str path, int64_t from, int64_t to, bool numbered, fm_arena *arena,
                            fm_batch_out *out, fm_read_counts *counts, fm_error *err)
{
    parquet_reader *r = (parquet_reader *)reader;

    FM_TRY(open_file(r, fs, path, err));
    fm_parquet_reader_bytes(r->reader, from, to < 0 ? INT64_MAX : to);
    return read_rows(r, numbered, arena, out, counts, err);
}

/* ---- Writing ------------------------------------------------------------------------------------------------ */

static bool can_write(const fm_type *schema, fm_error *err) { return fm_parquet_can_write(schema, err); }

static fm_status timestamps_option(const fm_options *options, fm_parquet_timestamps *out, fm_error *err)
{
    fm_str name = fm_options_get(options, "outputTimestampType", FM_STR("TIMESTAMP_MICROS"));

    *out = FM_PARQUET_MICROS;
    if (fm_str_eq_ci(name, FM_STR("TIMESTAMP_MILLIS"))) *out = FM_PARQUET_MILLIS;
    else if (fm_str_eq_ci(name, FM_STR("INT96"))) *out = FM_PARQUET_INT96;
    else if (!fm_str_eq_ci(name, FM_STR("TIMESTAMP_MICROS")))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option outputTimestampType '%.*s' must be TIMESTAMP_MICROS, TIMESTAMP_MILLIS or INT96.",
                       FM_STR_ARG(name));
    return FM_OK;
}

/* "a, b": places of the columns in the schema. */
static fm_status bloom_option(const fm_options *options, const fm_type *schema, fm_arena *arena, fm_parquet_write *spec, fm_error *err)
{
    fm_str text = fm_options_get(options, "bloomFilterColumns", (fm_str){"", 0});
    int32_t *columns = fm_arena_array(arena, int32_t, text.len + 1);

    if (!columns) return fm_no_memory(arena, err);
    while (text.len > 0) {
        const char *comma = memchr(text.ptr, ',', text.len);
        fm_str name = fm_str_trim((fm_str){text.ptr, comma ? (size_t)(comma - text.ptr) : text.len});
        int32_t at = 0;
        while (at < schema->n_fields && !fm_str_eq_ci(schema->fields[at].name, name)) at++;
        if (at == schema->n_fields)
            return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option bloomFilterColumns names '%.*s', which is no column of the files.", FM_STR_ARG(name));
        columns[spec->n_bloom_columns++] = at;
        text = comma ? (fm_str){comma + 1, text.len - (size_t)(comma + 1 - text.ptr)} : (fm_str){"", 0};
    }
    spec->bloom_columns = columns;
    return FM_OK;
}

static fm_status writer_new(fm_arena *arena, const fm_type *schema, const fm_options *options, const fm_zone *zone, fm_writer **out, fm_error *err)
{
    fm_parquet_write spec = {.schema = fm_type_as_nullable(arena, schema)};
    fm_parquet_writer *writer;
    int64_t level, block, page;
    bool dictionary;

    (void)zone;
    if (!spec.schema) return fm_no_memory(arena, err);
    FM_TRY(fm_parquet_codec_parse(fm_options_get(options, "compression", FM_STR("snappy")), &spec.codec, err));
    FM_TRY(fm_options_i64(options, "compressionLevel", 0, -7, 22, &level, err));
    FM_TRY(fm_options_i64(options, "parquet.block.size", 0, 1024, INT64_C(4) << 30, &block, err));
    FM_TRY(fm_options_i64(options, "parquet.page.size", 0, 64, 256 << 20, &page, err));
    FM_TRY(fm_options_bool(options, "parquet.enable.dictionary", true, &dictionary, err));
    FM_TRY(timestamps_option(options, &spec.timestamps, err));
    FM_TRY(bloom_option(options, schema, arena, &spec, err));
    if (spec.codec == FM_PARQUET_GZIP && (level < 0 || level > 9))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION", "Option compressionLevel of gzip must be 1 to 9.");
    spec.level = (int32_t)level;
    spec.row_group_size = block;
    spec.page_size = (int32_t)page;
    spec.no_dictionary = !dictionary;
    FM_TRY(fm_parquet_writer_new(&spec, &writer, err));
    *out = (fm_writer *)writer;
    return FM_OK;
}

static fm_status write_batch(fm_writer *writer, const fm_batch *batch, fm_strbuf *out, fm_error *err)
{
    return fm_parquet_writer_write((fm_parquet_writer *)writer, batch, out, err);
}

static fm_status write_end(fm_writer *writer, fm_strbuf *out, fm_error *err) { return fm_parquet_writer_finish((fm_parquet_writer *)writer, out, err); }

static void writer_free(fm_writer *writer) { fm_parquet_writer_free((fm_parquet_writer *)writer); }

static fm_status pack_extension(const fm_options *options, const char **out, fm_error *err)
{
    fm_parquet_codec codec;

    FM_TRY(fm_parquet_codec_parse(fm_options_get(options, "compression", FM_STR("snappy")), &codec, err));
    *out = fm_parquet_codec_extension(codec);
    return FM_OK;
}

const fm_format fm_format_parquet = {
    .name = "parquet",
    .extension = "parquet",
    .read_options = read_options,
    .write_options = write_options,
    .session_options = session_options,
    .file_schema = file_schema,
    .merges = merges,
    .reader_new = reader_new,
    .reader_free = reader_free,
    .read_piece = read_piece,
    .piece_size = PIECE_SIZE,
    .writer_new = writer_new,
    .write_batch = write_batch,
    .write_end = write_end,
    .writer_free = writer_free,
    .can_write = can_write,
    .pack_extension = pack_extension,
};

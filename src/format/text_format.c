/* format/text_format.c: lines of text, as the one column value. */
#include "base/limits.h"
#include "format/formats.h"
#include "format/json_options.h"
#include "format/lines.h"

static const char *const read_options[] = {"wholetext", "lineSep", "encoding", "compression", NULL};
static const char *const write_options[] = {"lineSep", "encoding", "compression", NULL};

typedef struct text_reader {
    const fm_format *format;
    const fm_type *schema; /* the wanted columns: value once, or none */
    fm_str line_sep;
    bool whole; /* a file is one row */
    /* the batch being filled: */
    int32_t rows;
    fm_view *views; /* [FM_BATCH_ROWS_DECODE] */
    int64_t *lines; /* the same, or NULL */
} text_reader;

static const fm_type *fixed_schema(fm_arena *arena, const fm_options *options)
{
    static const fm_str name = {"value", 5};
    fm_field field = {name, fm_type_string(), true};

    (void)options;
    return fm_type_struct(arena, &field, 1);
}

static bool can_split(const fm_options *options)
{
    fm_str sep = fm_options_get(options, "lineSep", FM_STR("\n"));
    bool whole = false;

    fm_options_bool(options, "wholetext", false, &whole, NULL);
    return !whole && fm_str_eq(sep, FM_STR("\n"));
}

static fm_status one_column(const fm_type *schema, const char *doing, fm_error *err)
{
    if (schema->n_fields == 1 && schema->fields[0].type->id == FM_TYPE_STRING) return FM_OK;
    return fm_fail(err, FM_INVALID, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
                   "Text files hold one column of type STRING, but %d columns are %s. Use format "
                   "json or csv, or make one "
                   "STRING of them, e.g. with to_json.",
                   schema->n_fields, doing);
}

static fm_status reader_new(fm_arena *arena, const fm_read_spec *spec, fm_reader **out,
                            fm_error *err)
{
    text_reader *r = fm_arena_one(arena, text_reader);
    fm_field *fields = fm_arena_array(arena, fm_field, spec->n_wanted);

    if (!r || !fields) return fm_no_memory(arena, err);
    FM_TRY(one_column(spec->schema, "declared", err));
    for (int32_t i = 0; i < spec->n_wanted; i++) fields[i] = spec->schema->fields[spec->wanted[i]];
    r->format = &fm_format_text;
    r->schema = fm_type_struct(arena, fields, spec->n_wanted);
    if (!r->schema) return fm_no_memory(arena, err);
    FM_TRY(fm_options_bool(spec->options, "wholetext", false, &r->whole, err));
    FM_TRY(fm_encoding_option(spec->options, err));
    FM_TRY(fm_line_sep_option(spec->options, arena, &r->line_sep, err));
    *out = (fm_reader *)r;
    return FM_OK;
}

static size_t whole_records(fm_reader *reader, const char *bytes, size_t len)
{
    text_reader *r = (text_reader *)reader;

    return r->whole ? 0 : fm_lines_whole(r->line_sep, bytes, len);
}

static fm_status begin(text_reader *r, const fm_block *block, fm_arena *arena, fm_error *err)
{
    fm_arena_reset(arena);
    r->rows = 0;
    r->views = fm_arena_buffer(arena, FM_BATCH_ROWS_DECODE * sizeof *r->views, false);
    r->lines = block->first_line ? fm_arena_array(arena, int64_t, FM_BATCH_ROWS_DECODE) : NULL;
    return r->views && (r->lines || !block->first_line) ? FM_OK : fm_no_memory(arena, err);
}

static fm_status flush(text_reader *r, fm_arena *arena, fm_batch_out *out, fm_read_counts *counts,
                       fm_error *err)
{
    fm_vec *columns = fm_arena_array(arena, fm_vec, r->schema->n_fields);

    if (r->rows == 0) return FM_OK;
    if (!columns) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < r->schema->n_fields; i++)
        columns[i] = (fm_vec){.type = fm_type_string(), .len = r->rows, .values = r->views};
    fm_batch batch = {.schema = r->schema, .rows = r->rows, .columns = columns};
    counts->rows += r->rows;
    return out->push(out->ctx, &batch, r->lines, err);
}

static fm_status read_block(fm_reader *reader, const fm_block *block, fm_arena *arena,
                            fm_batch_out *out, fm_read_counts *counts, fm_error *err)
{
    text_reader *r = (text_reader *)reader;
    fm_lines lines = {block->bytes, block->bytes + block->len, r->line_sep};
    int64_t line_number = block->first_line;
    fm_str line = {block->bytes, block->len};

    if (block->offset == 0 && fm_str_starts(line, FM_STR("\xEF\xBB\xBF"))) lines.at += 3;
    FM_TRY(begin(r, block, arena, err));
    while (r->whole || fm_lines_next(&lines, &line)) {
        r->views[r->rows] = fm_view_of(line.ptr, line.len);
        if (r->lines) r->lines[r->rows] = line_number++;
        r->rows++;
        if (r->whole) break;
        if (r->rows < FM_BATCH_ROWS_DECODE) continue;
        FM_TRY(flush(r, arena, out, counts, err));
        FM_TRY(begin(r, block, arena, err));
    }
    return flush(r, arena, out, counts, err);
}

/* ---- writing ---- */

typedef struct text_writer {
    fm_str line_sep;
} text_writer;

static bool can_write(const fm_type *schema, fm_error *err)
{
    return one_column(schema, "to be written", err) == FM_OK;
}

static fm_status writer_new(fm_arena *arena, const fm_type *schema, const fm_options *options,
                            const fm_zone *zone, fm_writer **out, fm_error *err)
{
    text_writer *w = fm_arena_one(arena, text_writer);

    (void)zone;
    if (!w) return fm_no_memory(arena, err);
    FM_TRY(one_column(schema, "to be written", err));
    FM_TRY(fm_line_sep_option(options, arena, &w->line_sep, err));
    if (w->line_sep.len == 0) w->line_sep = FM_STR("\n");
    *out = (fm_writer *)w;
    return FM_OK;
}

static fm_status write_batch(fm_writer *writer, const fm_batch *batch, fm_strbuf *out,
                             fm_error *err)
{
    text_writer *w = (text_writer *)writer;

    for (int32_t i = 0; i < batch->rows; i++) { /* a null is an empty line */
        if (!fm_vec_is_null(&batch->columns[0], i))
            fm_strbuf_add(out, fm_vec_str(&batch->columns[0], i));
        fm_strbuf_add(out, w->line_sep);
    }
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}

const fm_format fm_format_text = {
    .name = "text",
    .extension = "txt",
    .read_options = read_options,
    .write_options = write_options,
    .fixed_schema = fixed_schema,
    .can_split = can_split,
    .reader_new = reader_new,
    .read_block = read_block,
    .whole_records = whole_records,
    .writer_new = writer_new,
    .write_batch = write_batch,
    .can_write = can_write,
};

/* format/csv_format.c: CSV: its options, its writer, its entry in the table. */
#include "format/csv_format.h"

#include "expr/cast.h"
#include "format/formats.h"
#include "format/json.h"
#include "format/json_options.h"

const char *const fm_csv_read_options[] = {"sep",
                                           "delimiter",
                                           "header",
                                           "quote",
                                           "escape",
                                           "comment",
                                           "nullValue",
                                           "emptyValue",
                                           "mode",
                                           "columnNameOfCorruptRecord",
                                           "ignoreLeadingWhiteSpace",
                                           "ignoreTrailingWhiteSpace",
                                           "dateFormat",
                                           "timestampFormat",
                                           "timestampNTZFormat",
                                           "timeZone",
                                           "lineSep",
                                           "encoding",
                                           "charset",
                                           "enforceSchema",
                                           "maxColumns",
                                           "compression",
                                           "enableDateTimeParsingFallback",
                                           "locale",
                                           NULL};
const char *const fm_csv_write_options[] = {"sep",
                                            "delimiter",
                                            "header",
                                            "quote",
                                            "escape",
                                            "nullValue",
                                            "emptyValue",
                                            "quoteAll",
                                            "ignoreLeadingWhiteSpace",
                                            "ignoreTrailingWhiteSpace",
                                            "dateFormat",
                                            "timestampFormat",
                                            "timestampNTZFormat",
                                            "timeZone",
                                            "lineSep",
                                            "encoding",
                                            "compression",
                                            NULL};

static fm_status one_char(const fm_options *options, const char *key, char absent, char *out,
                          fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);

    *out = absent;
    if (!o) return FM_OK;
    *out = o->value.len ? o->value.ptr[0] : 0;
    if (fm_str_eq(o->value, FM_STR("\\t")))
        *out = '\t';
    else if (o->value.len > 1 || (o->value.len && (unsigned char)*out >= 0x80))
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_INVALID_OPTION",
                       "Option %s '%.*s': one ASCII character is taken.", key,
                       FM_STR_ARG(o->value));
    return FM_OK;
}

fm_status fm_csv_options_read(fm_arena *arena, const fm_options *options, bool writing,
                              fm_csv_options *out, fm_error *err)
{
    fm_csv_options o = {.sep = ','};

    FM_TRY(one_char(options, "delimiter", ',', &o.sep, err));
    FM_TRY(one_char(options, "sep", o.sep, &o.sep, err));
    FM_TRY(one_char(options, "quote", '"', &o.quote, err));
    FM_TRY(one_char(options, "escape", '\\', &o.escape, err));
    FM_TRY(one_char(options, "comment", 0, &o.comment, err));
    if (!o.sep || o.sep == '\n' || o.sep == '\r')
        return fm_fail(err, FM_INVALID, "INVALID_DELIMITER_VALUE.EMPTY_STRING",
                       "Option sep must be one character that ends no line.");
    FM_TRY(fm_options_bool(options, "header", false, &o.header, err));
    FM_TRY(fm_options_bool(options, "ignoreLeadingWhiteSpace", writing, &o.trim_left, err));
    FM_TRY(fm_options_bool(options, "ignoreTrailingWhiteSpace", writing, &o.trim_right, err));
    FM_TRY(fm_options_bool(options, "quoteAll", false, &o.quote_all, err));
    FM_TRY(fm_encoding_option(options, err));
    o.null_value = fm_arena_str(arena, fm_options_get(options, "nullValue", (fm_str){"", 0}));
    o.empty_value = fm_arena_str(
        arena, fm_options_get(options, "emptyValue", writing ? FM_STR("\"\"") : (fm_str){"", 0}));
    *out = o;
    return o.null_value.ptr && o.empty_value.ptr ? FM_OK : fm_no_memory(arena, err);
}

/* ---- writing ---- */

typedef struct csv_writer {
    fm_csv_options options;
    const fm_type *schema;
    const fm_zone *zone;
    fm_json_printer **times; /* [n_fields] for times, by JSON's forms; else NULL */
    fm_str line_sep;
} csv_writer;

static bool is_time(const fm_type *t)
{
    return fm_type_is_timestamp(t) || t->id == FM_TYPE_DATE;
}

static bool can_write(const fm_type *schema, fm_error *err)
{
    for (int32_t i = 0; i < schema->n_fields; i++) {
        const fm_type *t = schema->fields[i].type;
        if (!fm_type_is_nested(t) && t->id != FM_TYPE_NULL) continue;
        fm_strbuf text = {0};
        fm_type_sql(t, &text);
        fm_fail(err, FM_INVALID, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
                "The CSV datasource doesn't support the column %.*s of the type %.*s. Select its "
                "fields one by one, or write "
                "to_json(%.*s).",
                FM_STR_ARG(schema->fields[i].name), FM_STR_ARG(fm_strbuf_str(&text)),
                FM_STR_ARG(schema->fields[i].name));
        fm_strbuf_fini(&text);
        return false;
    }
    return true;
}

fm_status fm_csv_printer_new(fm_arena *arena, const fm_type *schema, const fm_options *options,
                             const fm_zone *zone, fm_writer **out, fm_error *err)
{
    csv_writer *w = fm_arena_one(arena, csv_writer);

    if (!w) return fm_no_memory(arena, err);
    FM_TRY(fm_csv_options_read(arena, options, true, &w->options, err));
    FM_TRY(fm_line_sep_option(options, arena, &w->line_sep, err));
    FM_TRY(fm_zone_option(options, zone, arena, &w->zone, err));
    if (w->line_sep.len == 0) w->line_sep = FM_STR("\n");
    w->schema = schema;
    w->times = fm_arena_array(arena, fm_json_printer *, schema->n_fields);
    if (!w->times) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < schema->n_fields; i++)
        if (is_time(schema->fields[i].type))
            FM_TRY(fm_json_printer_new(arena, schema->fields[i].type, options, zone, &w->times[i],
                                       err));
    *out = (fm_writer *)w;
    return FM_OK;
}

static fm_status writer_new(fm_arena *arena, const fm_type *schema, const fm_options *options,
                            const fm_zone *zone, fm_writer **out, fm_error *err)
{
    if (!can_write(schema, err)) return FM_INVALID;
    return fm_csv_printer_new(arena, schema, options, zone, out, err);
}

/* A field: quoted when it holds what would end it. */
static void add_field(const fm_csv_options *o, fm_str text, bool quoted, fm_strbuf *out)
{
    while (o->trim_left && text.len && (unsigned char)text.ptr[0] <= ' ')
        text = (fm_str){text.ptr + 1, text.len - 1};
    while (o->trim_right && text.len && (unsigned char)text.ptr[text.len - 1] <= ' ') text.len--;
    for (size_t i = 0; i < text.len && !quoted; i++) {
        char c = text.ptr[i];
        quoted = c == o->sep || c == '\n' || c == '\r' || (o->quote && c == o->quote) ||
                 (i == 0 && o->comment && c == o->comment);
    }
    if (!quoted || !o->quote) {
        fm_strbuf_add(out, text);
        return;
    }
    fm_strbuf_add_char(out, o->quote);
    for (size_t i = 0; i < text.len; i++) {
        if ((text.ptr[i] == o->quote || text.ptr[i] == o->escape) && o->escape)
            fm_strbuf_add_char(out, o->escape);
        fm_strbuf_add_char(out, text.ptr[i]);
    }
    fm_strbuf_add_char(out, o->quote);
}

static fm_status write_header(fm_writer *writer, fm_strbuf *out, fm_error *err)
{
    csv_writer *w = (csv_writer *)writer;

    if (!w->options.header) return FM_OK;
    for (int32_t i = 0; i < w->schema->n_fields; i++) {
        if (i) fm_strbuf_add_char(out, w->options.sep);
        add_field(&w->options, w->schema->fields[i].name, w->options.quote_all, out);
    }
    fm_strbuf_add(out, w->line_sep);
    return fm_strbuf_ok(out) ? FM_OK : fm_no_memory(NULL, err);
}

static void write_value(csv_writer *w, int32_t column, const fm_vec *v, int32_t row,
                        fm_strbuf *text, fm_strbuf *out)
{
    const fm_csv_options *o = &w->options;

    if (fm_vec_is_null(v, row)) {
        fm_strbuf_add(out, o->null_value);
        return;
    }
    fm_strbuf_clear(text);
    if (w->times[column])
        fm_json_print(w->times[column], v, row, text);
    else
        fm_value_text(v, row, w->zone, text);
    fm_str value = fm_strbuf_str(text);
    if (w->times[column] && value.len >= 2)
        value = (fm_str){value.ptr + 1, value.len - 2}; /* JSON's quotes */
    if (value.len == 0)
        fm_strbuf_add(out, o->empty_value);
    else
        add_field(o, value, o->quote_all, out);
}

static fm_status write_batch(fm_writer *writer, const fm_batch *batch, fm_strbuf *out,
                             fm_error *err)
{
    csv_writer *w = (csv_writer *)writer;
    fm_strbuf text = {0};

    for (int32_t row = 0; row < batch->rows; row++) {
        for (int32_t i = 0; i < batch->schema->n_fields; i++) {
            if (i) fm_strbuf_add_char(out, w->options.sep);
            write_value(w, i, &batch->columns[i], row, &text, out);
        }
        fm_strbuf_add(out, w->line_sep);
    }
    bool ok = fm_strbuf_ok(out) && fm_strbuf_ok(&text);
    fm_strbuf_fini(&text);
    return ok ? FM_OK : fm_no_memory(NULL, err);
}

void fm_csv_print_row(fm_writer *writer, const fm_vec *columns, int32_t row, fm_strbuf *text, fm_strbuf *out)
{
    csv_writer *w = (csv_writer *)writer;

    for (int32_t i = 0; i < w->schema->n_fields; i++) {
        if (i) fm_strbuf_add_char(out, w->options.sep);
        write_value(w, i, &columns[i], row, text, out);
    }
}

static bool can_split(const fm_options *options)
{
    return fm_str_eq(fm_options_get(options, "lineSep", FM_STR("\n")), FM_STR("\n"));
}

const fm_format fm_format_csv = {
    .name = "csv",
    .extension = "csv",
    .read_options = fm_csv_read_options,
    .write_options = fm_csv_write_options,
    .can_split = can_split,
    .reader_new = fm_csv_reader_new,
    .read_block = fm_csv_reader_block,
    .whole_records = fm_csv_reader_whole,
    .reader_free = fm_csv_reader_free,
    .writer_new = writer_new,
    .write_header = write_header,
    .write_batch = write_batch,
    .can_write = can_write,
};

/* format/csv_format.c: CSV: its options, its writer, its entry in the table. */
#include "format/csv_format.h"

#include "expr/cast.h"
#include "format/formats.h"
#include "format/json.h"
#include "format/json_options.h"

const char *const fm_csv_read_options[] = {"sep",
                                           FM_BAD_REASON_OPTION,
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
                                           "maxCharsPerColumn",
                                           "multiLine",
                                           "inferSchema",
                                           "preferDate",
                                           "samplingRatio",
                                           "nanValue",
                                           "positiveInf",
                                           "negativeInf",
                                           "charToEscapeQuoteEscaping",
                                           "unescapedQuoteHandling",
                                           "compression",
                                           "enableDateTimeParsingFallback",
                                           "locale",
                                           NULL};
const char *const fm_csv_write_options[] = {"sep",
                                            "delimiter",
                                            "header",
                                            "quote",
                                            "escape",
                                            "charToEscapeQuoteEscaping",
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

/* A character option. absent: what it is when not given; an empty value is `none`. */
static fm_status one_char(const fm_options *options, const char *key, int absent, int none, int *out,
                          fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);
    size_t chars = 0;

    *out = absent;
    if (!o) return FM_OK;
    *out = o->value.len ? (unsigned char)o->value.ptr[0] : none;
    for (size_t i = 0; i < o->value.len; i++) chars += ((unsigned char)o->value.ptr[i] & 0xC0) != 0x80;
    if (chars > 1)
        return fm_fail(err, FM_INVALID, "OPTION_VALUE_EXCEEDS_ONE_CHARACTER",
                       "The value of %s cannot be more than one character, but got %.*s.", key,
                       FM_STR_ARG(o->value));
    if (o->value.len <= 1) return FM_OK;
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_INVALID_OPTION",
                   "Option %s '%.*s': one ASCII character is taken.", key, FM_STR_ARG(o->value));
}

/* The delimiter, with Spark's escapes: \t, \\, \", ... */
static fm_status read_sep(const fm_options *options, fm_arena *arena, fm_str *out, fm_error *err)
{
    static const char from[] = "trbf\"'\\", to[] = "\t\r\b\f\"'\\";
    fm_str text = fm_options_get(options, "sep", fm_options_get(options, "delimiter", FM_STR(",")));
    char *bytes = fm_arena_alloc(arena, text.len + 1, 1);
    size_t n = 0;

    if (!bytes) return fm_no_memory(arena, err);
    for (size_t i = 0; i < text.len; i++) {
        const char *known = NULL;
        if (text.ptr[i] != '\\') {
            bytes[n++] = text.ptr[i];
            continue;
        }
        if (i + 1 < text.len && text.ptr[i + 1]) known = strchr(from, text.ptr[++i]);
        if (!known)
            return fm_fail(err, FM_INVALID,
                           text.len == 1 ? "INVALID_DELIMITER_VALUE.SINGLE_BACKSLASH"
                                         : "INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER",
                           "Option sep '%.*s': a backslash starts \\t, \\r, \\b, \\f, \\\", \\' or \\\\.",
                           FM_STR_ARG(text));
        bytes[n++] = to[known - from];
    }
    *out = (fm_str){bytes, n};
    if (n > 0 && memchr(bytes, '\n', n) == NULL && memchr(bytes, '\r', n) == NULL && memchr(bytes, 0, n) == NULL)
        return FM_OK;
    return fm_fail(err, FM_INVALID, "INVALID_DELIMITER_VALUE.EMPTY_STRING",
                   "Option sep must have at least one character, and none that ends a line.");
}

static fm_status read_limit(const fm_options *options, const char *key, int64_t absent, int64_t min, int64_t *out,
                            fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);

    *out = absent;
    if (!o || (fm_str_to_i64(o->value, out) && *out >= min && *out <= INT32_MAX)) return FM_OK;
    return fm_fail(err, FM_INVALID, "_LEGACY_ERROR_TEMP_2146", "%s should be an integer, at least %d. Found %.*s.", key,
                   (int)min, FM_STR_ARG(o->value));
}

static fm_status read_handling(const fm_options *options, fm_csv_handling *out, fm_error *err)
{
    static const char *const names[] = {"STOP_AT_DELIMITER", "STOP_AT_CLOSING_QUOTE", "BACK_TO_DELIMITER",
                                        "SKIP_VALUE", "RAISE_ERROR"};
    fm_str text = fm_options_get(options, "unescapedQuoteHandling", fm_str_c(names[0]));

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        *out = (fm_csv_handling)i;
        if (fm_str_eq_ci(text, fm_str_c(names[i]))) return FM_OK;
    }
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "Option unescapedQuoteHandling '%.*s' is not known: use STOP_AT_DELIMITER, STOP_AT_CLOSING_QUOTE, "
                   "BACK_TO_DELIMITER, SKIP_VALUE or RAISE_ERROR.",
                   FM_STR_ARG(text));
}

static fm_status read_texts(fm_arena *arena, const fm_options *options, bool writing, fm_csv_options *o, fm_error *err)
{
    const struct {
        const char *key;
        fm_str absent, *out;
    } texts[] = {
        {"nullValue", FM_STR(""), &o->null_value},
        {"emptyValue", writing ? FM_STR("\"\"") : FM_STR(""), &o->empty_value},
        {"nanValue", FM_STR("NaN"), &o->nan_value},
        {"positiveInf", FM_STR("Inf"), &o->positive_inf},
        {"negativeInf", FM_STR("-Inf"), &o->negative_inf},
    };

    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        *texts[i].out = fm_arena_str(arena, fm_options_get(options, texts[i].key, texts[i].absent));
        if (!texts[i].out->ptr) return fm_no_memory(arena, err);
    }
    return fm_line_sep_option(options, arena, &o->line_sep, err);
}

fm_status fm_csv_options_read(fm_arena *arena, const fm_options *options, bool writing,
                              fm_csv_options *out, fm_error *err)
{
    fm_csv_options o = {0};

    FM_TRY(read_sep(options, arena, &o.sep, err));
    FM_TRY(one_char(options, "quote", '"', -1, &o.quote, err));
    FM_TRY(one_char(options, "escape", '\\', 0, &o.escape, err));
    FM_TRY(one_char(options, "charToEscapeQuoteEscaping", o.escape == o.quote ? 0 : o.escape, 0, &o.escape_escape, err));
    FM_TRY(one_char(options, "comment", 0, 0, &o.comment, err));
    FM_TRY(fm_options_bool(options, "header", false, &o.header, err));
    FM_TRY(fm_options_bool(options, "enforceSchema", true, &o.enforce_schema, err));
    FM_TRY(fm_options_bool(options, "multiLine", false, &o.multi_line, err));
    FM_TRY(fm_options_bool(options, "inferSchema", false, &o.infer_schema, err));
    FM_TRY(fm_options_bool(options, "preferDate", true, &o.prefer_date, err));
    FM_TRY(fm_options_bool(options, "ignoreLeadingWhiteSpace", writing, &o.trim_left, err));
    FM_TRY(fm_options_bool(options, "ignoreTrailingWhiteSpace", writing, &o.trim_right, err));
    FM_TRY(fm_options_bool(options, "quoteAll", false, &o.quote_all, err));
    FM_TRY(read_limit(options, "maxColumns", 20480, 1, &o.columns_max, err));
    FM_TRY(read_limit(options, "maxCharsPerColumn", -1, -1, &o.chars_max, err));
    FM_TRY(read_handling(options, &o.handling, err));
    FM_TRY(writing ? fm_encoding_option(options, err) : fm_read_encoding_option(options, false, err));
    FM_TRY(fm_locale_option(options, err));
    FM_TRY(read_texts(arena, options, writing, &o, err));
    if (o.handling == FM_CSV_BACK_TO_DELIMITER && o.multi_line)
        return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_INVALID_OPTION",
                       "Option unescapedQuoteHandling 'BACK_TO_DELIMITER' does not go with multiLine here: use another, or "
                       "leave multiLine out.");
    *out = o;
    return FM_OK;
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
                t->id == FM_TYPE_NULL ? "The CSV datasource doesn't support the column %.*s of the type %.*s. Give it a type: CAST(%.*s AS STRING)."
                                      : "The CSV datasource doesn't support the column %.*s of the type %.*s. Select its fields one by one, or write to_json(%.*s).",
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

/* Without the blanks at the ends that the options take away. */
static fm_str trimmed(const fm_csv_options *o, fm_str text)
{
    while (o->trim_left && text.len && (unsigned char)text.ptr[0] <= ' ') text = (fm_str){text.ptr + 1, text.len - 1};
    while (o->trim_right && text.len && (unsigned char)text.ptr[text.len - 1] <= ' ') text.len--;
    return text;
}

/* A field: quoted when it holds what would end it. */
static void add_field(const fm_csv_options *o, fm_str text, bool quoted, fm_strbuf *out)
{
    text = trimmed(o, text);
    for (size_t i = 0; i < text.len && !quoted; i++) {
        char c = text.ptr[i];
        quoted = c == '\n' || c == '\r' || (o->quote > 0 && c == o->quote) || (i == 0 && o->comment && c == o->comment) ||
                 (c == o->sep.ptr[0] && text.len - i >= o->sep.len && memcmp(text.ptr + i, o->sep.ptr, o->sep.len) == 0);
    }
    if (!quoted || o->quote <= 0) {
        fm_strbuf_add(out, text);
        return;
    }
    fm_strbuf_add_char(out, (char)o->quote);
    for (size_t i = 0; i < text.len; i++) {
        if ((text.ptr[i] == o->quote || text.ptr[i] == o->escape) && o->escape)
            fm_strbuf_add_char(out, (char)o->escape);
        fm_strbuf_add_char(out, text.ptr[i]);
    }
    fm_strbuf_add_char(out, (char)o->quote);
}

static fm_status write_header(fm_writer *writer, fm_strbuf *out, fm_error *err)
{
    csv_writer *w = (csv_writer *)writer;

    if (!w->options.header) return FM_OK;
    for (int32_t i = 0; i < w->schema->n_fields; i++) {
        if (i) fm_strbuf_add(out, w->options.sep);
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
        add_field(o, o->null_value, o->quote_all, out);
        return;
    }
    fm_strbuf_clear(text);
    if (w->times[column])
        fm_json_print(w->times[column], v, row, text);
    else
        fm_value_java_text(v, row, w->zone, text);
    fm_str value = fm_strbuf_str(text);
    if (w->times[column] && value.len >= 2)
        value = (fm_str){value.ptr + 1, value.len - 2}; /* JSON's quotes */
    if (trimmed(o, value).len == 0)
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
            if (i) fm_strbuf_add(out, w->options.sep);
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
        if (i) fm_strbuf_add(out, w->options.sep);
        write_value(w, i, &columns[i], row, text, out);
    }
}

static bool can_split(const fm_options *options)
{
    bool multi_line = false;

    fm_options_bool(options, "multiLine", false, &multi_line, NULL);
    return !multi_line && fm_is_utf8(options) && fm_str_eq(fm_options_get(options, "lineSep", FM_STR("\n")), FM_STR("\n"));
}

const fm_format fm_format_csv = {
    .name = "csv",
    .extension = "csv",
    .read_options = fm_csv_read_options,
    .write_options = fm_csv_write_options,
    .infer_new = fm_csv_infer_new,
    .infer_block = fm_csv_infer_block,
    .infer_whole = fm_csv_infer_whole,
    .infer_enough = fm_csv_infer_enough,
    .infer_finish = fm_csv_infer_finish,
    .infer_free = fm_csv_infer_free,
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

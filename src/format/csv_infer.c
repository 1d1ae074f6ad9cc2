/* format/csv_infer.c: which columns CSV files have: their names from the first line, their types from all others.
 *
 * A type is tried from narrow to wide, starting at the one the column has so far:
 *
 *     INT -> BIGINT -> DECIMAL(n,0) -> DOUBLE -> DATE -> TIMESTAMP -> BOOLEAN -> STRING
 *
 * and what a value fits is merged with what the column has: numbers widen, dates and timestamps become timestamps, all else STRING.
 *
 * Rule: Spark, CSVInferSchema, CSVUtils.makeSafeHeader. */
#include "base/limits.h"
#include "format/csv_parse.h"
#include "format/formats.h"
#include "format/json_options.h"
#include "format/lines.h"
#include "format/sampling.h"
#include "format/text_value.h"
#include "format/type_guess.h"

#include <inttypes.h>
#include <stdlib.h>

typedef struct csv_column {
    fm_str name;
    fm_type_id id; /* NULL: nothing seen */
    int whole, scale; /* DECIMAL: digits before and behind the point */
} csv_column;

typedef struct csv_inferrer {
    const fm_format *format;
    fm_csv_options csv;
    fm_json_options times;
    const fm_time_format *date_format; /* the option's, or yyyy-MM-dd */
    bool dates_are_timestamps;         /* a column of both becomes TIMESTAMP */
    fm_sampling sampling;
    fm_csv_parser parser;
    fm_arena *kept;
    fm_str first_line; /* lines equal to it are headers, too */
    csv_column *columns;
    int32_t n;
} csv_inferrer;

void fm_csv_infer_free(fm_inferrer *inferrer)
{
    csv_inferrer *in = (csv_inferrer *)inferrer;

    if (!in) return;
    fm_csv_parser_fini(&in->parser);
    fm_arena_free(in->kept);
}

fm_status fm_csv_infer_new(fm_arena *arena, const fm_read_spec *spec, fm_inferrer **out, fm_error *err)
{
    csv_inferrer *in = fm_arena_one(arena, csv_inferrer);
    const fm_option *dates = fm_options_find(spec->options, "dateFormat");

    if (!in) return fm_no_memory(arena, err);
    in->format = &fm_format_csv;
    FM_TRY(fm_csv_options_read(arena, spec->options, false, &in->csv, err));
    FM_TRY(fm_json_options_read(arena, spec->options, spec->zone, spec->corrupt_column, &in->times, err));
    FM_TRY(fm_sampling_option(spec->options, &in->sampling, err));
    in->date_format = in->times.date_format;
    if (!in->date_format) FM_TRY(fm_time_format_new(arena, FM_STR("yyyy-MM-dd"), &in->date_format, err));
    in->dates_are_timestamps =
        !in->times.timestamp_format && (!dates || fm_str_eq(dates->value, FM_STR("yyyy-MM-dd")));
    fm_csv_parser_init(&in->parser, &in->csv);
    in->kept = fm_arena_new(0);
    if (!in->kept) return fm_no_memory(NULL, err);
    *out = (fm_inferrer *)in;
    return FM_OK;
}

size_t fm_csv_infer_whole(fm_inferrer *inferrer, const char *bytes, size_t len)
{
    csv_inferrer *in = (csv_inferrer *)inferrer;

    return in->csv.multi_line ? fm_csv_parser_whole(&in->parser, bytes, len) : fm_lines_whole(in->csv.line_sep, bytes, len);
}

bool fm_csv_infer_enough(const fm_inferrer *inferrer)
{
    const csv_inferrer *in = (const csv_inferrer *)inferrer;

    return in->columns && !in->csv.infer_schema;
}

/* ---- names ---- */

static bool is_repeated(const fm_csv_field *fields, int32_t n, int32_t i)
{
    for (int32_t k = 0; k < n; k++)
        if (k != i && fm_str_eq_ci((fm_str){fields[k].ptr, fields[k].len}, (fm_str){fields[i].ptr, fields[i].len})) return true;
    return false;
}

/* Names from the first record; one that is missing or there twice gets its place. */
static fm_status name_columns(csv_inferrer *in, fm_error *err)
{
    const fm_csv_field *fields = in->parser.fields;

    if (in->parser.n > FM_SCHEMA_FIELDS_MAX)
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "The first record has more than %d fields.", FM_SCHEMA_FIELDS_MAX);
    in->columns = fm_arena_array(in->kept, csv_column, in->parser.n);
    if (!in->columns) return fm_no_memory(in->kept, err);
    in->n = in->parser.n;
    for (int32_t i = 0; i < in->n; i++) {
        fm_str text = fm_csv_text(&in->csv, &fields[i]), *name = &in->columns[i].name;
        bool named = in->csv.header && text.len && !fm_str_eq(text, in->csv.null_value);
        if (!named)
            *name = fm_arena_printf(in->kept, "_c%" PRId32, i);
        else if (is_repeated(fields, in->n, i))
            *name = fm_arena_printf(in->kept, "%.*s%" PRId32, FM_STR_ARG(text), i);
        else
            *name = fm_arena_str(in->kept, text);
        if (!name->ptr) return fm_no_memory(in->kept, err);
    }
    return FM_OK;
}

/* ---- types ---- */

static bool is_double(const csv_inferrer *in, fm_str text)
{
    double x;

    return fm_csv_double(text, &in->csv, &x);
}

static bool is_timestamp(const csv_inferrer *in, fm_str text)
{
    int64_t us;

    return in->times.timestamp_format ? fm_time_format_parse(in->times.timestamp_format, text, in->times.zone, &us)
                                      : fm_text_to_timestamp(text, in->times.zone, &us);
}

/* The narrowest type from `from` on that takes the text. */
static csv_column fits(const csv_inferrer *in, fm_type_id from, fm_str text)
{
    int64_t x, precision, scale;

    switch (from) {
    case FM_TYPE_NULL:
    case FM_TYPE_I32:
        if (fm_integer_text(text, true, &x) && x >= INT32_MIN && x <= INT32_MAX) return (csv_column){.id = FM_TYPE_I32};
        /* fall through */
    case FM_TYPE_I64:
        if (fm_integer_text(text, true, &x)) return (csv_column){.id = FM_TYPE_I64};
        /* fall through */
    case FM_TYPE_DECIMAL:
        if (fm_decimal_shape(text, &precision, &scale) && scale == 0 && precision <= FM_DECIMAL_PRECISION_MAX)
            return (csv_column){.id = FM_TYPE_DECIMAL, .whole = (int)precision};
        /* fall through */
    case FM_TYPE_F64:
        if (is_double(in, text)) return (csv_column){.id = FM_TYPE_F64};
        /* fall through */
    case FM_TYPE_DATE:
        if (in->csv.prefer_date && fm_time_format_parse(in->date_format, text, fm_zone_utc(), &x))
            return (csv_column){.id = FM_TYPE_DATE};
        /* fall through */
    case FM_TYPE_TIMESTAMP:
        if (is_timestamp(in, text)) return (csv_column){.id = FM_TYPE_TIMESTAMP};
        /* fall through */
    case FM_TYPE_BOOL:
        if (fm_str_eq_ci(text, FM_STR("true")) || fm_str_eq_ci(text, FM_STR("false"))) return (csv_column){.id = FM_TYPE_BOOL};
        /* fall through */
    default: return (csv_column){.id = FM_TYPE_STRING};
    }
}

static bool is_number(fm_type_id id)
{
    return id == FM_TYPE_I32 || id == FM_TYPE_I64 || id == FM_TYPE_DECIMAL || id == FM_TYPE_F64;
}
static bool is_time(fm_type_id id) { return id == FM_TYPE_DATE || id == FM_TYPE_TIMESTAMP; }
static int digits_of(const csv_column *c) { return c->id == FM_TYPE_I32 ? 10 : c->id == FM_TYPE_I64 ? 20 : c->whole; }

static void widen(const csv_inferrer *in, csv_column *c, csv_column with)
{
    if (c->id == FM_TYPE_NULL || c->id == with.id) {
        c->id = with.id;
        if (with.whole > c->whole) c->whole = with.whole;
    } else if (is_number(c->id) && is_number(with.id)) {
        if (c->id == FM_TYPE_F64 || with.id == FM_TYPE_F64) {
            c->id = FM_TYPE_F64;
        } else if (c->id == FM_TYPE_DECIMAL || with.id == FM_TYPE_DECIMAL) {
            int a = digits_of(c), b = digits_of(&with);
            c->whole = a > b ? a : b;
            c->id = FM_TYPE_DECIMAL;
        } else {
            c->id = FM_TYPE_I64;
        }
    } else if (is_time(c->id) && is_time(with.id) && in->dates_are_timestamps) {
        c->id = FM_TYPE_TIMESTAMP;
    } else {
        c->id = FM_TYPE_STRING;
    }
}

static void infer_fields(csv_inferrer *in)
{
    int32_t n = in->parser.n < in->n ? in->parser.n : in->n;

    for (int32_t i = 0; i < n; i++) {
        csv_column *c = &in->columns[i];
        fm_str text = fm_csv_text(&in->csv, &in->parser.fields[i]);
        if (c->id == FM_TYPE_STRING || text.len == 0 || fm_str_eq(text, in->csv.null_value)) continue;
        widen(in, c, fits(in, c->id, text));
    }
}

/* ---- records ---- */

static fm_status refused(csv_inferrer *in, const fm_block *block, fm_error *err)
{
    return fm_csv_refused(&in->parser, block, 0, err);
}

static fm_status infer_line(csv_inferrer *in, fm_str line, const fm_block *block, fm_error *err)
{
    bool taken = fm_sampling_takes(&in->sampling);

    if (fm_csv_line_is_blank(&in->csv, line)) return FM_OK;
    if (!in->columns) {
        fm_csv_parser_start(&in->parser, line, false);
        if (fm_csv_parser_next(&in->parser) < 0) return refused(in, block, err);
        in->first_line = fm_arena_str(in->kept, line);
        if (!in->first_line.ptr) return fm_no_memory(in->kept, err);
        FM_TRY(name_columns(in, err));
    }
    if (!taken || !in->csv.infer_schema || (in->csv.header && fm_str_eq(line, in->first_line))) return FM_OK;
    fm_csv_parser_start(&in->parser, line, false);
    if (fm_csv_parser_next(&in->parser) < 0) return refused(in, block, err);
    infer_fields(in);
    return FM_OK;
}

static fm_status infer_records(csv_inferrer *in, fm_str text, const fm_block *block, fm_error *err)
{
    bool header = in->csv.header && block->offset == 0;
    int got;

    fm_csv_parser_start(&in->parser, text, true);
    while ((got = fm_csv_parser_next(&in->parser)) > 0) {
        if (!in->columns) FM_TRY(name_columns(in, err));
        if (header) {
            header = false;
        } else if (fm_sampling_takes(&in->sampling)) {
            infer_fields(in);
        }
        if (fm_csv_infer_enough((fm_inferrer *)in)) return FM_OK;
    }
    return got < 0 ? refused(in, block, err) : FM_OK;
}

fm_status fm_csv_infer_block(fm_inferrer *inferrer, const fm_block *block, fm_error *err)
{
    csv_inferrer *in = (csv_inferrer *)inferrer;
    fm_lines lines = {block->bytes, block->bytes + block->len, in->csv.line_sep};
    fm_str line;

    if (block->offset == 0 && block->len >= 3 && memcmp(block->bytes, "\xEF\xBB\xBF", 3) == 0) lines.at += 3;
    if (in->csv.multi_line) return infer_records(in, (fm_str){lines.at, (size_t)(lines.end - lines.at)}, block, err);
    while (!fm_csv_infer_enough(inferrer) && fm_lines_next(&lines, &line)) FM_TRY(infer_line(in, line, block, err));
    return FM_OK;
}

fm_status fm_csv_infer_finish(fm_inferrer *inferrer, fm_arena *arena, const fm_type **out, fm_error *err)
{
    csv_inferrer *in = (csv_inferrer *)inferrer;
    fm_field *fields = fm_arena_array(arena, fm_field, in->n);

    if (!fields) return fm_no_memory(arena, err);
    for (int32_t i = 0; i < in->n; i++) {
        const csv_column *c = &in->columns[i];
        const fm_type *type = c->id == FM_TYPE_DECIMAL ? fm_type_decimal(arena, c->whole, 0)
                              : c->id == FM_TYPE_NULL  ? fm_type_string()
                                                       : fm_type_simple(c->id);
        if (!type) return fm_no_memory(arena, err);
        fields[i] = (fm_field){c->name, type, true};
    }
    *out = fm_type_struct(arena, fields, in->n);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

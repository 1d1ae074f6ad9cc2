/* format/csv_reader.c: CSV records -> batches.
 *
 * A line is a record, unless multiLine lets quotes hold line ends. A record with another number of fields
 * than the table has columns is bad when all columns are read (Spark does not see it when it reads
 * some); so is one with a value that is none of its column's type, which is null then. */
#include "base/time_text.h"
#include "format/csv_parse.h"
#include "format/formats.h"
#include "format/json_convert.h"
#include "format/json_options.h"
#include "format/json_slots.h"
#include "format/lines.h"
#include "format/text_value.h"
#include "format/utf8.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

typedef struct csv_reader {
    const fm_format *format;
    fm_csv_options csv;
    fm_json_options times; /* mode, formats of times, corrupt column, line separator: as in JSON */
    const fm_type *schema; /* of batches */
    fm_json_slot root;     /* all of them */
    int32_t corrupt_at;    /* index of the corrupt-record column, or -1 */
    int32_t n_fields;      /* columns of the file */
    int32_t *slot_of;      /* [n_fields] index among the wanted, or -1 */
    bool all_wanted;
    fm_date_cache dates;
    fm_csv_parser parser;
    fm_str *names;   /* [n_fields] as the header should have them */
    bool is_utf8;    /* the block */
    fm_strbuf digits; /* of a decimal, without commas */
    bool begun;
    int32_t rows;
    int64_t *lines;
    const fm_block *block;
    fm_arena *arena;
    fm_batch_out *out;
    fm_read_counts *counts;
    int64_t line;
    fm_error *err;
} csv_reader;

fm_status fm_csv_reader_new(fm_arena *arena, const fm_read_spec *spec, fm_reader **out,
                            fm_error *err)
{
    csv_reader *r = fm_arena_one(arena, csv_reader);
    fm_field *fields = fm_arena_array(arena, fm_field, spec->n_wanted);
    int32_t parsed = 0, declared = 0;

    if (!r || !fields) return fm_no_memory(arena, err);
    r->format = &fm_format_csv;
    FM_TRY(fm_csv_options_read(arena, spec->options, false, &r->csv, err));
    FM_TRY(fm_json_options_read(arena, spec->options, spec->zone, spec->corrupt_column, &r->times,
                                err));
    r->slot_of = fm_arena_array(arena, int32_t, spec->schema->n_fields);
    r->names = fm_arena_array(arena, fm_str, spec->schema->n_fields);
    fm_csv_parser_init(&r->parser, &r->csv);
    if (!r->slot_of || !r->names) return fm_no_memory(arena, err);
    r->corrupt_at = -1;
    for (int32_t f = 0; f < spec->schema->n_fields; f++) {
        const fm_field *field = &spec->schema->fields[f];
        bool corrupt = fm_str_eq(field->name, r->times.corrupt_column);
        if (fm_type_is_nested(field->type))
            return fm_fail(err, FM_INVALID, "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE",
                           "The CSV datasource doesn't support the nested column %.*s. Declare it "
                           "STRING and use from_json.",
                           FM_STR_ARG(field->name));
        int32_t at = corrupt ? -1 : r->n_fields++;
        declared += !corrupt;
        if (at >= 0) r->slot_of[at] = -1;
        if (at >= 0) r->names[at] = field->name;
        for (int32_t i = 0; i < spec->n_wanted; i++) {
            if (spec->wanted[i] != f) continue;
            fields[i] = *field;
            if (corrupt)
                r->corrupt_at = i;
            else
                r->slot_of[at] = i;
            parsed += !corrupt;
        }
    }
    r->all_wanted = parsed == declared;
    r->schema = fm_type_struct(arena, fields, spec->n_wanted);
    if (!r->schema) return fm_no_memory(arena, err);
    if (r->corrupt_at >= 0 && fields[r->corrupt_at].type->id != FM_TYPE_STRING)
        return fm_fail(err, FM_INVALID, "INVALID_CORRUPT_RECORD_TYPE",
                       "Column %.*s holds the text of bad records: it must be a nullable STRING.",
                       FM_STR_ARG(r->times.corrupt_column));
    FM_TRY(fm_json_slots_init(&r->root, r->schema, arena, err));
    *out = (fm_reader *)r;
    return FM_OK;
}

void fm_csv_reader_free(fm_reader *reader)
{
    csv_reader *r = (csv_reader *)reader;

    if (!r) return;
    fm_csv_parser_fini(&r->parser);
    fm_strbuf_fini(&r->digits);
}

size_t fm_csv_reader_whole(fm_reader *reader, const char *bytes, size_t len)
{
    csv_reader *r = (csv_reader *)reader;

    return r->csv.multi_line ? fm_csv_parser_whole(&r->parser, bytes, len) : fm_lines_whole(r->csv.line_sep, bytes, len);
}

/* ---- values ---- */

/* A decimal may have commas between its digits. */
static bool decimal_text(csv_reader *r, const fm_type *type, fm_str text, fm_i128 *out)
{
    if (text.len && memchr(text.ptr, ',', text.len)) {
        fm_strbuf_clear(&r->digits);
        for (size_t i = 0; i < text.len; i++)
            if (text.ptr[i] != ',') fm_strbuf_add_char(&r->digits, text.ptr[i]);
        text = fm_strbuf_str(&r->digits);
    }
    return fm_text_to_decimal(text, type->precision, type->scale, out);
}

static bool time_text(csv_reader *r, const fm_type *type, fm_str text, int64_t *out)
{
    const fm_json_options *o = &r->times;
    int32_t day;
    int64_t us;

    switch (type->id) {
    case FM_TYPE_TIMESTAMP:
        if (o->timestamp_format ? fm_time_format_parse(o->timestamp_format, text, o->zone, out)
                                : fm_file_timestamp(text, o->zone, &r->dates, out))
            return true;
        return o->timestamp_fallback && fm_file_timestamp_old(text, o->zone, out);
    case FM_TYPE_TIMESTAMP_NTZ:
        if (o->ntz_format) return fm_time_format_parse(o->ntz_format, text, fm_zone_utc(), out);
        return fm_file_timestamp_ntz(text, &r->dates, out);
    default:
        if (o->date_format && fm_time_format_parse(o->date_format, text, fm_zone_utc(), &us))
            return *out = fm_floor_div(us, FM_US_PER_DAY), true;
        if (!o->date_format && fm_text_to_date(text, &day)) return *out = day, true;
        if (!o->date_fallback || fm_integer_text(text, true, &us) || !fm_file_date_old(text, &day))
            return o->date_fallback && fm_text_to_date(text, &day) ? *out = day, true : false;
        return *out = day, true;
    }
}

static bool interval_text(csv_reader *r, const fm_type *type, fm_str text, int64_t *out)
{
    fm_view view = fm_view_of(text.ptr, text.len);
    fm_vec in = {.type = fm_type_string(), .len = 1, .values = &view}, result;

    if (fm_cast_run(&in, type, FM_CAST_ANSI, &r->times.conf, r->arena, &result, NULL) != FM_OK ||
        fm_vec_is_null(&result, 0))
        return false;
    *out = type->id == FM_TYPE_INTERVAL_YM ? fm_vec_i32(&result)[0] : fm_vec_i64(&result)[0];
    return true;
}

static bool integer_value(fm_json_slot *slot, int32_t row, fm_str text)
{
    int64_t x;

    if (!fm_integer_text(text, true, &x)) return false;
    switch (slot->type->id) {
    case FM_TYPE_I8:
        return x >= INT8_MIN && x <= INT8_MAX ? ((int8_t *)slot->values)[row] = (int8_t)x,
                                                         true : false;
    case FM_TYPE_I16:
        return x >= INT16_MIN && x <= INT16_MAX ? ((int16_t *)slot->values)[row] = (int16_t)x,
                                                            true : false;
    case FM_TYPE_I32:
        return x >= INT32_MIN && x <= INT32_MAX ? ((int32_t *)slot->values)[row] = (int32_t)x,
                                                            true : false;
    default: ((int64_t *)slot->values)[row] = x; return true;
    }
}

static bool bool_value(fm_json_slot *slot, int32_t row, fm_str text)
{
    bool yes = fm_str_eq_ci(text, FM_STR("true"));

    ((uint8_t *)slot->values)[row] = yes;
    return yes || fm_str_eq_ci(text, FM_STR("false"));
}

/* Stores the text's value; false when it is none. */
static bool store_value(csv_reader *r, fm_json_slot *slot, int32_t row, fm_str text, bool in_block)
{
    double x;
    int64_t t;
    bool ok = true;

    switch (slot->type->id) {
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY:
        if (!r->is_utf8 && !fm_utf8_valid(text.ptr, text.len)) {
            text = fm_utf8_repair(text, r->arena);
            if (!text.ptr) return false;
            in_block = true;
        }
        ((fm_view *)slot->values)[row] = in_block ? fm_view_of(text.ptr, text.len)
                                                  : fm_view_copy(r->arena, text.ptr, text.len, &ok);
        return ok;
    case FM_TYPE_BOOL: return bool_value(slot, row, text);
    case FM_TYPE_F64: return fm_csv_double(text, &r->csv, &((double *)slot->values)[row]);
    case FM_TYPE_F32:
        if (!fm_csv_double(text, &r->csv, &x)) return false;
        if (isfinite(x)) return fm_text_to_float(text, &((float *)slot->values)[row]);
        ((float *)slot->values)[row] = (float)x;
        return true;
    case FM_TYPE_DECIMAL:
        return decimal_text(r, slot->type, text, &((fm_i128 *)slot->values)[row]);
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM:
        ok = slot->type->id == FM_TYPE_DATE ? time_text(r, slot->type, text, &t)
                                            : interval_text(r, slot->type, text, &t);
        if (ok) ((int32_t *)slot->values)[row] = (int32_t)t;
        return ok;
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_DT:
        ok = slot->type->id == FM_TYPE_INTERVAL_DT ? interval_text(r, slot->type, text, &t)
                                                   : time_text(r, slot->type, text, &t);
        if (ok) ((int64_t *)slot->values)[row] = t;
        return ok;
    case FM_TYPE_NULL: return false;
    default: return integer_value(slot, row, text);
    }
}

/* ---- records ---- */

static fm_status begin(csv_reader *r)
{
    fm_arena_reset(r->arena);
    r->rows = 0;
    r->begun = true;
    FM_TRY(fm_json_slots_begin(&r->root, r->arena, r->err));
    r->lines = r->line ? fm_arena_array(r->arena, int64_t, FM_BATCH_ROWS_DECODE) : NULL;
    return r->line && !r->lines ? fm_no_memory(r->arena, r->err) : FM_OK;
}

static fm_status flush(csv_reader *r)
{
    const fm_vec *columns;

    if (!r->begun || r->rows == 0) return FM_OK;
    r->begun = false;
    FM_TRY(fm_json_slots_finish(&r->root, r->rows, r->arena, &columns, r->err));
    fm_batch batch = {.schema = r->schema, .rows = r->rows, .columns = columns};
    r->counts->rows += r->rows;
    return r->out->push(r->out->ctx, &batch, r->lines, r->err);
}

static fm_status fail_fast(csv_reader *r, fm_str record)
{
    char line[32] = "";
    fm_str shown = {record.ptr, record.len < 200 ? record.len : 200};

    if (r->line) snprintf(line, sizeof line, " line %" PRId64 ",", r->line);
    return fm_fail(
        r->err, FM_INVALID, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
        "Malformed records are detected in record parsing: %.*s. File %.*s,%s byte %" PRId64
        ": its fields do not fit the columns. To read such records as nulls, set option mode to "
        "'PERMISSIVE'.",
        FM_STR_ARG(shown), FM_STR_ARG(r->block->file), line,
        r->block->offset + (int64_t)(record.ptr - r->block->bytes));
}

/* Which field made a record bad; -1: their number did. */
static fm_status keep_corrupt(csv_reader *r, fm_str record, int32_t field)
{
    fm_json_slot *corrupt = &r->root.children[r->corrupt_at];
    const fm_csv_field *f = &r->parser.fields[field < 0 ? 0 : field];
    fm_strbuf why = {0};
    fm_str text = record;

    if (r->times.corrupt_reason) {
        if (field < 0) {
            fm_strbuf_printf(&why, "it has %d field%s where %d were expected", (int)r->parser.n, r->parser.n == 1 ? "" : "s", (int)r->n_fields);
        } else {
            fm_strbuf_printf(&why, "the value of field '%.*s' is no ", FM_STR_ARG(r->names[field]));
            fm_type_sql(r->root.children[r->slot_of[field]].type, &why);
            if (f->ptr >= record.ptr && f->ptr <= record.ptr + record.len)
                fm_strbuf_printf(&why, ", at byte %zu of the record", (size_t)(f->ptr - record.ptr));
        }
        text = fm_corrupt_text(&why, record, r->arena);
        if (!text.ptr) return fm_no_memory(r->arena, r->err);
    }
    ((fm_view *)corrupt->values)[r->rows] = fm_view_of(text.ptr, text.len);
    return FM_OK;
}

/* The record that r->parser cut. */
static fm_status read_record(csv_reader *r, fm_str record)
{
    bool bad = false;
    int32_t n = r->parser.n, bad_field = -1;

    for (int32_t i = 0; i < n && i < r->n_fields; i++) {
        const fm_csv_field *field = &r->parser.fields[i];
        if (r->slot_of[i] < 0) continue;
        fm_json_slot *slot = &r->root.children[r->slot_of[i]];
        fm_str text = fm_csv_text(&r->csv, field);
        if (fm_str_eq(text, r->csv.null_value)) {
            fm_json_slot_null(slot, r->rows);
        } else if (!store_value(r, slot, r->rows, text, field->kind == FM_CSV_TEXT)) {
            fm_json_slot_null(slot, r->rows);
            if (!bad) bad_field = i;
            bad = true;
        }
    }
    if (r->all_wanted && n != r->n_fields) bad = true;
    for (; n < r->n_fields; n++)
        if (r->slot_of[n] >= 0) fm_json_slot_null(&r->root.children[r->slot_of[n]], r->rows);
    if (r->corrupt_at >= 0) {
        if (bad) FM_TRY(keep_corrupt(r, record, bad_field));
        else fm_json_slot_null(&r->root.children[r->corrupt_at], r->rows);
    }
    r->counts->bad += bad;
    if (bad && r->times.mode == FM_BAD_FAILFAST) return fail_fast(r, record);
    if (bad && r->times.mode == FM_BAD_DROPMALFORMED) {
        fm_json_slots_undo(&r->root, r->rows);
        return FM_OK;
    }
    if (r->lines) r->lines[r->rows] = r->line;
    if (++r->rows < FM_BATCH_ROWS_DECODE) return FM_OK;
    FM_TRY(flush(r));
    return begin(r);
}

/* The first record of a file names its columns; with enforceSchema=false they must be those that are declared. */
static fm_status read_header(csv_reader *r)
{
    const fm_csv_parser *p = &r->parser;

    if (r->csv.enforce_schema) return FM_OK;
    if (r->all_wanted && p->n != r->n_fields)
        return fm_fail(r->err, FM_INVALID, "FAILED_READ_FILE.NO_HINT",
                       "Encountered an error while reading file %.*s: the number of columns in its CSV header, %d, is not equal to "
                       "the number of fields in the schema, %d. Correct one of them, or set option enforceSchema to 'true'.",
                       FM_STR_ARG(r->block->file), (int)p->n, (int)r->n_fields);
    for (int32_t i = 0; i < r->n_fields; i++) {
        fm_str name = i < p->n ? fm_csv_text(&r->csv, &p->fields[i]) : FM_STR("");
        if (r->slot_of[i] < 0 || fm_str_eq_ci(name, r->names[i])) continue;
        return fm_fail(r->err, FM_INVALID, "FAILED_READ_FILE.NO_HINT",
                       "Encountered an error while reading file %.*s: its CSV header does not conform to the schema: column %d is "
                       "'%.*s' in the file and '%.*s' in the schema. Correct one of them, or set option enforceSchema to 'true'.",
                       FM_STR_ARG(r->block->file), (int)i + 1, FM_STR_ARG(name), FM_STR_ARG(r->names[i]));
    }
    return FM_OK;
}

static fm_status take_record(csv_reader *r, fm_str record, bool *header)
{
    if (!*header) return read_record(r, record);
    *header = false;
    return read_header(r);
}

static fm_status read_lines(csv_reader *r, fm_lines lines, bool header)
{
    fm_str line;

    for (; fm_lines_next(&lines, &line); r->line += r->line > 0) {
        if (fm_csv_line_is_blank(&r->csv, line)) continue;
        fm_csv_parser_start(&r->parser, line, false);
        if (fm_csv_parser_next(&r->parser) < 0) return fm_csv_refused(&r->parser, r->block, r->line, r->err);
        FM_TRY(take_record(r, line, &header));
    }
    return FM_OK;
}

static fm_status read_records(csv_reader *r, fm_str text, bool header)
{
    int64_t first = r->line;
    const char *counted = text.ptr;
    int got;

    fm_csv_parser_start(&r->parser, text, true);
    while ((got = fm_csv_parser_next(&r->parser)) != 0) {
        if (first) r->line += fm_lines_count(r->csv.line_sep, counted, (size_t)(r->parser.record.ptr - counted));
        counted = r->parser.record.ptr;
        if (got < 0) return fm_csv_refused(&r->parser, r->block, r->line, r->err);
        FM_TRY(take_record(r, r->parser.record, &header));
    }
    return FM_OK;
}

fm_status fm_csv_records_begin(fm_reader *reader, const fm_block *block, fm_arena *arena, fm_batch_out *out, fm_read_counts *counts, fm_error *err)
{
    csv_reader *r = (csv_reader *)reader;

    r->block = block;
    r->arena = arena;
    r->out = out;
    r->counts = counts;
    r->line = 0;
    r->err = err;
    r->is_utf8 = true; /* texts of SQL are */
    return begin(r);
}

fm_status fm_csv_record(fm_reader *reader, fm_str record, fm_error *err)
{
    csv_reader *r = (csv_reader *)reader;

    r->err = err;
    fm_csv_parser_start(&r->parser, record, false);
    if (fm_csv_parser_next(&r->parser) < 0) return fm_csv_refused(&r->parser, r->block, 0, err);
    return read_record(r, record);
}

fm_status fm_csv_records_end(fm_reader *reader, fm_error *err)
{
    csv_reader *r = (csv_reader *)reader;

    r->err = err;
    return flush(r);
}

fm_status fm_csv_reader_block(fm_reader *reader, const fm_block *block, fm_arena *arena,
                              fm_batch_out *out, fm_read_counts *counts, fm_error *err)
{
    csv_reader *r = (csv_reader *)reader;
    fm_lines lines = {block->bytes, block->bytes + block->len, r->times.line_sep};
    bool header = r->csv.header && block->offset == 0;

    r->block = block;
    r->arena = arena;
    r->out = out;
    r->counts = counts;
    r->line = block->first_line;
    r->err = err;
    r->is_utf8 = fm_utf8_valid(block->bytes, block->len);
    if (block->offset == 0 && block->len >= 3 && memcmp(block->bytes, "\xEF\xBB\xBF", 3) == 0)
        lines.at += 3;
    FM_TRY(begin(r));
    if (r->csv.multi_line)
        FM_TRY(read_records(r, (fm_str){lines.at, (size_t)(lines.end - lines.at)}, header));
    else
        FM_TRY(read_lines(r, lines, header));
    return flush(r);
}

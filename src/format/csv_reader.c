/* format/csv_reader.c: CSV lines -> batches.
 *
 * A line is a record; a field in quotes may hold separators. A record with another number of fields
 * than the table has columns is bad when all columns are read (Spark does not see it when it reads
 * some); so is one with a value that is none of its column's type, which is null then. */
#include "base/time_text.h"
#include "format/csv_format.h"
#include "format/formats.h"
#include "format/json_options.h"
#include "format/json_slots.h"
#include "format/lines.h"
#include "format/text_value.h"

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
    fm_strbuf field; /* one unquoted */
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
    if (!r->slot_of) return fm_no_memory(arena, err);
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
    if (reader) fm_strbuf_fini(&((csv_reader *)reader)->field);
}

size_t fm_csv_reader_whole(fm_reader *reader, const char *bytes, size_t len)
{
    return fm_lines_whole(((csv_reader *)reader)->times.line_sep, bytes, len);
}

/* ---- values ---- */

static bool float_text(fm_str text, double *out)
{
    if (fm_str_eq(text, FM_STR("NaN"))) return *out = NAN, true;
    if (fm_str_eq(text, FM_STR("Inf"))) return *out = INFINITY, true;
    if (fm_str_eq(text, FM_STR("-Inf"))) return *out = -INFINITY, true;
    return fm_text_to_double(text, out);
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
        if (!o->date_fallback || !fm_file_date_old(text, &day)) return false;
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
        ((fm_view *)slot->values)[row] = in_block ? fm_view_of(text.ptr, text.len)
                                                  : fm_view_copy(r->arena, text.ptr, text.len, &ok);
        return ok;
    case FM_TYPE_BOOL: return bool_value(slot, row, text);
    case FM_TYPE_F64: return float_text(text, &((double *)slot->values)[row]);
    case FM_TYPE_F32:
        if (!float_text(text, &x)) return false;
        if (isfinite(x)) return fm_text_to_float(text, &((float *)slot->values)[row]);
        ((float *)slot->values)[row] = (float)x;
        return true;
    case FM_TYPE_DECIMAL:
        return fm_text_to_decimal(text, slot->type->precision, slot->type->scale,
                                  &((fm_i128 *)slot->values)[row]);
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

/* ---- fields ---- */

/* The field at *at; moves behind its separator. *more: another follows. */
static fm_str next_field(csv_reader *r, const char **at, const char *end, bool *more, bool *quoted)
{
    const fm_csv_options *o = &r->csv;
    const char *p = *at, *from;

    while (o->trim_left && p < end && (*p == ' ' || *p == '\t') && *p != o->sep) p++;
    *quoted = o->quote && p < end && *p == o->quote;
    if (!*quoted) {
        from = p;
        p = memchr(from, o->sep, (size_t)(end - from));
        *more = p != NULL;
        if (!p) p = end;
        *at = *more ? p + 1 : end;
        while (o->trim_right && p > from && (p[-1] == ' ' || p[-1] == '\t')) p--;
        return (fm_str){from, (size_t)(p - from)};
    }
    fm_strbuf_clear(&r->field);
    fm_strbuf_add_c(&r->field, "");
    for (p++; p < end; p++) {
        if (o->escape && *p == o->escape && p + 1 < end &&
            (p[1] == o->quote || p[1] == o->escape) &&
            (o->escape != o->quote || p[1] == o->quote)) {
            fm_strbuf_add_char(&r->field, *++p);
            continue;
        }
        if (*p == o->quote) { /* closes the field if the field ends there */
            const char *q = p + 1;
            while (q < end && *q == ' ' && o->sep != ' ') q++;
            if (q == end || *q == o->sep) {
                p = q;
                break;
            }
        }
        fm_strbuf_add_char(&r->field, *p);
    }
    *more = p < end;
    *at = *more ? p + 1 : end;
    return fm_strbuf_str(&r->field);
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

static fm_status read_record(csv_reader *r, fm_str record)
{
    const char *at = record.ptr, *end = at + record.len;
    bool more = true, bad = false;
    int32_t n = 0;

    for (; more; n++) {
        bool quoted;
        fm_str text = next_field(r, &at, end, &more, &quoted);
        if (n >= r->n_fields || r->slot_of[n] < 0) continue;
        fm_json_slot *slot = &r->root.children[r->slot_of[n]];
        if (quoted && text.len == 0) text = r->csv.empty_value;
        if (fm_str_eq(text, r->csv.null_value)) {
            fm_json_slot_null(slot, r->rows);
        } else if (!store_value(r, slot, r->rows, text, !quoted)) {
            fm_json_slot_null(slot, r->rows);
            bad = true;
        }
    }
    if (r->all_wanted && n != r->n_fields) bad = true;
    for (; n < r->n_fields; n++)
        if (r->slot_of[n] >= 0) fm_json_slot_null(&r->root.children[r->slot_of[n]], r->rows);
    if (r->corrupt_at >= 0) {
        fm_json_slot *corrupt = &r->root.children[r->corrupt_at];
        if (bad)
            ((fm_view *)corrupt->values)[r->rows] = fm_view_of(record.ptr, record.len);
        else
            fm_json_slot_null(corrupt, r->rows);
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

static bool is_blank(fm_str line)
{
    for (size_t i = 0; i < line.len; i++)
        if ((unsigned char)line.ptr[i] > ' ') return false;
    return true;
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
    return begin(r);
}

fm_status fm_csv_record(fm_reader *reader, fm_str record, fm_error *err)
{
    csv_reader *r = (csv_reader *)reader;

    r->err = err;
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
    fm_str line;
    bool header = r->csv.header && block->offset == 0;

    r->block = block;
    r->arena = arena;
    r->out = out;
    r->counts = counts;
    r->line = block->first_line;
    r->err = err;
    if (block->offset == 0 && block->len >= 3 && memcmp(block->bytes, "\xEF\xBB\xBF", 3) == 0)
        lines.at += 3;
    FM_TRY(begin(r));
    for (; fm_lines_next(&lines, &line); r->line += r->line > 0) {
        if (is_blank(line) || (r->csv.comment && line.ptr[0] == r->csv.comment)) continue;
        if (header)
            header = false; /* the first line of a file names its columns */
        else
            FM_TRY(read_record(r, line));
    }
    return flush(r);
}

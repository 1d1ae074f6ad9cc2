/* format/json_infer.c: which schema JSON records have.
 *
 * Each record gives a guess of its own, so that a record that turns out bad leaves nothing behind; the guesses merge.
 * At the top, an array stands for its elements; what is neither an object nor null is as good as a bad record, and bad records
 * give the corrupt-record column (PERMISSIVE), nothing (DROPMALFORMED) or an error (FAILFAST).
 *
 * Rule: Spark, JsonInferSchema; samplingRatio draws as Dataset.sample with seed 1 does on one partition. */
#include "format/json_infer.h"

#include "base/limits.h"
#include "format/json_scan.h"
#include "format/lines.h"
#include "format/sampling.h"
#include "format/type_guess.h"

#include <inttypes.h>

typedef struct json_inferrer {
    const fm_format *format;
    fm_json_options options;
    bool default_ntz;
    fm_sampling sampling;
    fm_json_scan scan;
    fm_arena *kept;   /* the guess */
    fm_arena *record; /* of one record */
    fm_guess root;
    bool bad;         /* some record is none, or no object */
    bool has_repeated; /* some object has a name twice */
} json_inferrer;

void fm_json_infer_free(fm_inferrer *inferrer)
{
    json_inferrer *in = (json_inferrer *)inferrer;

    if (!in) return;
    fm_json_scan_fini(&in->scan);
    fm_arena_free(in->kept);
    fm_arena_free(in->record);
}

fm_status fm_json_infer_new(fm_arena *arena, const fm_read_spec *spec, fm_inferrer **out, fm_error *err)
{
    json_inferrer *in = fm_arena_one(arena, json_inferrer);

    if (!in) return fm_no_memory(arena, err);
    in->format = &fm_format_json;
    FM_TRY(fm_json_options_read(arena, spec->options, spec->zone, spec->corrupt_column, &in->options, err));
    FM_TRY(fm_read_encoding_option(spec->options, true, err));
    FM_TRY(fm_sampling_option(spec->options, &in->sampling, err));
    FM_TRY(fm_json_scan_init(&in->scan, in->options.flags, err));
    in->kept = fm_arena_new(0);
    in->record = fm_arena_new(0);
    if (!in->kept || !in->record) {
        fm_json_infer_free((fm_inferrer *)in);
        return fm_no_memory(NULL, err);
    }
    *out = (fm_inferrer *)in;
    return FM_OK;
}

size_t fm_json_infer_whole(fm_inferrer *inferrer, const char *bytes, size_t len)
{
    json_inferrer *in = (json_inferrer *)inferrer;

    return in->options.multi_line ? 0 : fm_lines_whole(in->options.line_sep, bytes, len);
}

/* ---- one value ---- */

typedef enum outcome { GOOD, BAD, NEGATIVE_SCALE, NO_ROOM } outcome;

/* A number as DECIMAL, or DOUBLE when its digits are too many. */
static outcome guess_decimal(fm_str text, fm_guess *out)
{
    int64_t precision, scale;

    if (!fm_decimal_shape(text, &precision, &scale)) { /* NaN */
        out->id = FM_TYPE_F64;
        return GOOD;
    }
    int64_t digits = precision > scale ? precision : scale;
    out->id = digits > FM_DECIMAL_PRECISION_MAX ? FM_TYPE_F64 : FM_TYPE_DECIMAL;
    if (out->id == FM_TYPE_F64) return GOOD;
    if (scale < 0) return NEGATIVE_SCALE;
    out->precision = (uint8_t)digits;
    out->scale = (uint8_t)scale;
    return GOOD;
}

/* A text that is a decimal of a width that DECIMAL has, commas left out. */
static bool is_decimal_text(fm_str text, fm_guess *out)
{
    char digits[128];
    size_t n = 0;
    int64_t precision, scale;

    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == ',') continue;
        if (n == sizeof digits) return false;
        digits[n++] = text.ptr[i];
    }
    if (!fm_decimal_shape((fm_str){digits, n}, &precision, &scale)) return false;
    if (precision > FM_DECIMAL_PRECISION_MAX || scale < 0 || scale > precision) return false;
    *out = (fm_guess){.id = FM_TYPE_DECIMAL, .precision = (uint8_t)precision, .scale = (uint8_t)scale};
    return true;
}

static bool is_timestamp(const json_inferrer *in, fm_str text)
{
    const fm_json_options *o = &in->options;
    int64_t us;

    return o->timestamp_format ? fm_time_format_parse(o->timestamp_format, text, o->zone, &us)
                               : fm_text_to_timestamp(text, o->zone, &us);
}

static outcome guess_text(json_inferrer *in, fm_guess *out)
{
    if (!fm_json_text(&in->scan)) return BAD;
    fm_str text = in->scan.text;
    if (text.len == 0) return GOOD; /* an empty string says nothing */
    if (in->options.prefers_decimal && is_decimal_text(text, out)) return GOOD;
    out->id = in->options.infer_timestamp && is_timestamp(in, text) ? FM_TYPE_TIMESTAMP : FM_TYPE_STRING;
    return GOOD;
}

static outcome guess_value(json_inferrer *in, fm_json_token token, fm_guess *out);

static outcome guess_array(json_inferrer *in, fm_guess *out)
{
    *out = (fm_guess){.id = FM_TYPE_LIST, .element = fm_arena_one(in->record, fm_guess)};
    if (!out->element) return NO_ROOM;
    for (;;) {
        fm_guess element = {0};
        fm_json_token t = fm_json_next(&in->scan);
        if (t == FM_JT_ARRAY_END) return GOOD;
        outcome o = guess_value(in, t, &element);
        if (o != GOOD) return o;
        if (fm_guess_merge(out->element, &element, in->record, NULL) != FM_OK) return NO_ROOM;
    }
}

static outcome guess_object(json_inferrer *in, fm_guess *out)
{
    *out = (fm_guess){.id = FM_TYPE_STRUCT};
    for (int32_t i = 0;; i++) {
        fm_guess value = {0};
        fm_json_token t = fm_json_next(&in->scan);
        if (t == FM_JT_OBJECT_END) return GOOD;
        if (t != FM_JT_FIELD) return BAD;
        fm_str name = fm_json_name(&in->scan);
        outcome o = guess_value(in, fm_json_next(&in->scan), &value);
        if (o != GOOD) return o;
        int32_t before = out->n;
        fm_guess *field = fm_guess_field_of(out, name, i, in->record);
        if (!field) return NO_ROOM;
        if (out->n == before) in->has_repeated = true; /* refused at the end */
        *field = value;
    }
}

static outcome guess_value(json_inferrer *in, fm_json_token token, fm_guess *out)
{
    const fm_json_options *o = &in->options;
    int64_t x;

    switch (token) {
    case FM_JT_NULL: return GOOD;
    case FM_JT_STRING: return guess_text(in, out);
    case FM_JT_OBJECT: return guess_object(in, out);
    case FM_JT_ARRAY: return guess_array(in, out);
    case FM_JT_TRUE:
    case FM_JT_FALSE: out->id = o->primitives_as_string ? FM_TYPE_STRING : FM_TYPE_BOOL; return GOOD;
    case FM_JT_INT:
    case FM_JT_FLOAT:
        if (o->primitives_as_string)
            out->id = FM_TYPE_STRING;
        else if (token == FM_JT_INT && fm_str_to_i64(in->scan.number, &x))
            out->id = FM_TYPE_I64;
        else if (token == FM_JT_INT || o->prefers_decimal)
            return guess_decimal(in->scan.number, out);
        else
            out->id = FM_TYPE_F64;
        return GOOD;
    default: return BAD;
    }
}

/* ---- records ---- */

static fm_status bad_record(json_inferrer *in, fm_str record, const fm_block *block, fm_error *err)
{
    if (in->options.mode == FM_BAD_PERMISSIVE) in->bad = true;
    if (in->options.mode != FM_BAD_FAILFAST) return FM_OK;
    return fm_fail(err, FM_INVALID, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION",
                   "Malformed records are detected in record parsing: %.*s. File %.*s, byte %" PRId64
                   ": %s. The schema is inferred in mode FAILFAST; use 'PERMISSIVE' or 'DROPMALFORMED' to go on, or declare it.",
                   (int)(record.len < 200 ? record.len : 200), record.ptr, FM_STR_ARG(block->file),
                   block->offset + (int64_t)(record.ptr - block->bytes),
                   in->scan.fault ? in->scan.fault : "it is neither an object nor an array of objects");
}

static fm_status infer_record(json_inferrer *in, fm_str record, const fm_block *block, fm_error *err)
{
    fm_guess guess = {0}, *top = &guess;

    if (!fm_sampling_takes(&in->sampling)) return FM_OK;
    fm_arena_reset(in->record);
    fm_json_scan_start(&in->scan, record, in->record);
    fm_json_token t = fm_json_next(&in->scan);
    if (t == FM_JT_NONE) return FM_OK; /* a blank line */
    switch (guess_value(in, t, &guess)) {
    case BAD: return bad_record(in, record, block, err);
    case NO_ROOM:
        return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT",
                       "Inferring the schema: a record of file %.*s, byte %" PRId64
                       ", needs too much memory, or has an object of more than %d fields.",
                       FM_STR_ARG(block->file), block->offset + (int64_t)(record.ptr - block->bytes), FM_SCHEMA_FIELDS_MAX);
    case NEGATIVE_SCALE:
        return fm_fail(err, FM_INVALID, "NEGATIVE_SCALE_DISALLOWED",
                       "Negative scale is not allowed: file %.*s, byte %" PRId64
                       ", has a number like 1e10, which prefersDecimal cannot take. Leave that option out, or declare the schema.",
                       FM_STR_ARG(block->file), block->offset + (int64_t)(record.ptr - block->bytes));
    default: break;
    }
    while (top->id == FM_TYPE_LIST) top = top->element;
    if (top->id == FM_TYPE_NULL) return FM_OK;
    if (top->id != FM_TYPE_STRUCT) return bad_record(in, record, block, err);
    return fm_guess_merge(&in->root, top, in->kept, err);
}

fm_status fm_json_infer_block(fm_inferrer *inferrer, const fm_block *block, fm_error *err)
{
    json_inferrer *in = (json_inferrer *)inferrer;
    fm_lines lines = {block->bytes, block->bytes + block->len, in->options.line_sep};
    fm_str line;

    if (in->options.multi_line) return infer_record(in, (fm_str){block->bytes, block->len}, block, err);
    while (fm_lines_next(&lines, &line)) FM_TRY(infer_record(in, line, block, err));
    return FM_OK;
}

fm_status fm_json_infer_finish(fm_inferrer *inferrer, fm_arena *arena, const fm_type **out, fm_error *err)
{
    json_inferrer *in = (json_inferrer *)inferrer;

    if (in->has_repeated)
        return fm_fail(err, FM_INVALID, "COLUMN_ALREADY_EXISTS",
                       "The schema cannot be inferred: an object has the same name twice. Declare the columns.");
    if (in->root.id == FM_TYPE_NULL) in->root.id = FM_TYPE_STRUCT;
    if (in->bad) {
        int32_t before = in->root.n;
        fm_guess *corrupt = fm_guess_field_of(&in->root, in->options.corrupt_column, 0, in->kept);
        if (!corrupt) return fm_no_memory(in->kept, err);
        if (in->root.n > before) corrupt->id = FM_TYPE_STRING;
    }
    FM_TRY(fm_guess_type(&in->root, in->options.drop_field_if_all_null ? NULL : fm_type_string(), arena, out, err));
    if (!*out) *out = fm_type_struct(arena, NULL, 0);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

/* ---- one text ----------------------------------------------------------------------------------------------------- */

static bool is_of_structs(const fm_guess *g) { return g->id == FM_TYPE_STRUCT || (g->id == FM_TYPE_LIST && is_of_structs(g->element)); }

static fm_status type_of_text(json_inferrer *in, fm_str text, fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_guess guess = {0};

    fm_json_scan_start(&in->scan, text, in->record);
    fm_json_token t = fm_json_next(&in->scan);
    outcome o = t == FM_JT_NONE ? GOOD : guess_value(in, t, &guess);
    if (o == NO_ROOM) return fm_fail(err, FM_LIMIT, "FLOODMARK_LIMIT", "The JSON text needs too much memory, or has an object of more than %d fields.", FM_SCHEMA_FIELDS_MAX);
    if (o != GOOD)
        return fm_fail(err, FM_INVALID, "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION", "The text is no JSON: %.*s. %s.",
                       (int)(text.len < 200 ? text.len : 200), text.ptr, in->scan.fault ? in->scan.fault : "A number does not fit");
    FM_TRY(fm_guess_type(&guess, in->options.drop_field_if_all_null ? NULL : fm_type_string(), arena, out, err));
    if (*out) return FM_OK;
    *out = is_of_structs(&guess) ? fm_type_struct(arena, NULL, 0) : fm_type_string();
    if (*out && guess.id == FM_TYPE_LIST) *out = fm_type_list(arena, *out, true);
    return *out ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_json_schema_of(const fm_options *options, const fm_zone *zone, fm_str text, fm_arena *arena, const fm_type **out, fm_error *err)
{
    fm_read_spec spec = {.options = options, .zone = zone, .corrupt_column = FM_STR("_corrupt_record")};
    fm_inferrer *inferrer;

    FM_TRY(fm_json_infer_new(arena, &spec, &inferrer, err));
    fm_status st = type_of_text((json_inferrer *)inferrer, text, arena, out, err);
    fm_json_infer_free(inferrer);
    return st;
}

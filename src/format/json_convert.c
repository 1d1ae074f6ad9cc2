/* format/json_convert.c: tokens -> values, by Spark's rules (docs/spark-semantics.md, 11). */
#include "format/json_convert.h"

#include "base/checked.h"
#include "base/time_text.h"
#include "format/json_reprint.h"

#include <inttypes.h>

/* One scalar on its way to where it belongs. */
typedef struct scalar {
    bool null, str_is_input;
    bool boolean;
    int64_t i64;
    double f64;
    fm_i128 decimal;
    fm_str str;
} scalar;

fm_status fm_json_converter_init(fm_json_converter *c, const fm_json_options *options,
                                 fm_error *err)
{
    *c = (fm_json_converter){.options = options, .record = 1};
    return fm_json_scan_init(&c->scan, options->flags, err);
}

void fm_json_converter_fini(fm_json_converter *c)
{
    fm_json_scan_fini(&c->scan);
    fm_strbuf_fini(&c->bytes);
}

static fm_json_outcome bad(fm_json_converter *c, fm_json_cause cause, const fm_type *type)
{
    if (c->cause != FM_JSON_CAUSE_NONE) return FM_JSON_BAD;
    c->cause = cause;
    c->cause_type = type;
    c->cause_at = c->scan.value && c->scan.value >= c->scan.start ? (size_t)(c->scan.value - c->scan.start) : 0;
    fm_str name = fm_json_name(&c->scan);
    c->cause_field = name.ptr ? name : (fm_str){"", 0};
    return FM_JSON_BAD;
}

static fm_json_outcome bad_text(fm_json_converter *c)
{
    return bad(c, FM_JSON_CAUSE_TEXT, NULL);
}

fm_json_token fm_json_convert_start(fm_json_converter *c, fm_str text, fm_arena *arena)
{
    c->arena = arena;
    c->cause = FM_JSON_CAUSE_NONE;
    fm_json_scan_start(&c->scan, text, arena);
    fm_json_token t = fm_json_next(&c->scan);
    if (t == FM_JT_ERROR) bad_text(c);
    return t;
}

/* The value of a token that the type does not take. A string is read nevertheless, as Spark does to
 * say it. */
static fm_json_outcome mismatch(fm_json_converter *c, const fm_type *type)
{
    if (c->scan.token == FM_JT_STRING && !fm_json_text(&c->scan)) return bad_text(c);
    return bad(c, FM_JSON_CAUSE_TYPE, type);
}

/* ---- scalars ---- */

static fm_json_outcome integer(fm_json_converter *c, const fm_type *type, scalar *out)
{
    /* A TINYINT takes -128..255, of which the upper half wraps: Jackson's idea of a byte. */
    static const struct {
        int64_t min, max;
    } ranges[] = {
        [FM_TYPE_I8] = {-128, 255},
        [FM_TYPE_I16] = {INT16_MIN, INT16_MAX},
        [FM_TYPE_I32] = {INT32_MIN, INT32_MAX},
        [FM_TYPE_I64] = {INT64_MIN, INT64_MAX},
    };
    int64_t x;

    if (c->scan.token != FM_JT_INT) return mismatch(c, type);
    if (!fm_integer_text(c->scan.number, false, &x) || x < ranges[type->id].min ||
        x > ranges[type->id].max)
        return bad(c, FM_JSON_CAUSE_TYPE, type);
    out->i64 = type->id == FM_TYPE_I8 && x > 127 ? x - 256 : x;
    return FM_JSON_OK;
}

static bool is_special_number(fm_str text)
{
    static const char *const names[] = {"NaN",      "+INF",      "-INF",
                                        "Infinity", "+Infinity", "-Infinity"};

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (fm_str_eq(text, fm_str_c(names[i]))) return true;
    return false;
}

static fm_json_outcome floating(fm_json_converter *c, const fm_type *type, scalar *out)
{
    fm_str text = c->scan.number;

    if (c->scan.token == FM_JT_STRING) {
        if (!fm_json_text(&c->scan)) return bad_text(c);
        text = c->scan.text;
        if (text.len == 0) return bad(c, FM_JSON_CAUSE_TYPE, type);
        if (!(c->options->flags & FM_JSON_NON_NUMERIC) || !is_special_number(text))
            return bad(c, FM_JSON_CAUSE_STRING_NUMBER, type);
    } else if (c->scan.token != FM_JT_INT && c->scan.token != FM_JT_FLOAT) {
        return mismatch(c, type);
    }
    float narrow;
    bool ok = type->id == FM_TYPE_F64 ? fm_number_text_f64(text, &out->f64)
                                      : fm_number_text_f32(text, &narrow);
    if (!ok) return bad(c, FM_JSON_CAUSE_TYPE, type);
    if (type->id == FM_TYPE_F32) out->f64 = (double)narrow;
    if (c->scan.token == FM_JT_INT && out->f64 == 0) out->f64 = 0; /* -0, an integer, is 0.0 to Jackson */
    return FM_JSON_OK;
}

/* Java's BigDecimal(String): sign, digits with a point, exponent; no blanks. */
static bool is_big_decimal(fm_str text)
{
    if (text.len == 0) return false;

    const char *p = text.ptr, *end = p + text.len;
    int digits = 0;

    if (p < end && (*p == '+' || *p == '-')) p++;
    for (; p < end && *p >= '0' && *p <= '9'; p++) digits++;
    if (p < end && *p == '.')
        for (p++; p < end && *p >= '0' && *p <= '9'; p++) digits++;
    if (!digits) return false;
    if (p == end) return true;
    if (*p != 'e' && *p != 'E') return false;
    p++;
    if (p < end && (*p == '+' || *p == '-')) p++;
    if (p == end) return false;
    while (p < end && *p >= '0' && *p <= '9') p++;
    return p == end;
}

static fm_json_outcome decimal(fm_json_converter *c, const fm_type *type, scalar *out)
{
    fm_str text = c->scan.number;

    if (c->scan.token == FM_JT_STRING) {
        if (!fm_json_text(&c->scan)) return bad_text(c);
        fm_strbuf_clear(&c->bytes);
        for (size_t i = 0; i < c->scan.text.len; i++) /* 1,000.5 is a number to Spark */
            if (c->scan.text.ptr[i] != ',') fm_strbuf_add_char(&c->bytes, c->scan.text.ptr[i]);
        text = fm_strbuf_str(&c->bytes);
    } else if (c->scan.token != FM_JT_INT && c->scan.token != FM_JT_FLOAT) {
        return mismatch(c, type);
    }
    if (!is_big_decimal(text) ||
        !fm_text_to_decimal(text, type->precision, type->scale, &out->decimal))
        return bad(c, FM_JSON_CAUSE_TYPE, type);
    return FM_JSON_OK;
}

static fm_json_outcome string(fm_json_converter *c, scalar *out)
{
    const char *from = c->scan.value;

    if (c->scan.token == FM_JT_STRING) {
        if (!fm_json_text(&c->scan)) return bad_text(c);
        out->str = c->scan.text;
        out->str_is_input = c->scan.text_is_input;
        return FM_JSON_OK;
    }
    if (!c->options->exact_text) {
        fm_strbuf_clear(&c->bytes);
        if (!fm_json_reprint(&c->scan, &c->bytes)) return bad_text(c);
        out->str = fm_strbuf_str(&c->bytes);
        return FM_JSON_OK;
    }
    if (!fm_json_skip_children(&c->scan)) return bad_text(c);
    out->str = (fm_str){from, (size_t)(c->scan.at - from)};
    out->str_is_input = true;
    return FM_JSON_OK;
}

static fm_json_outcome binary(fm_json_converter *c, const fm_type *type, scalar *out)
{
    if (c->scan.token != FM_JT_STRING) return mismatch(c, type);
    if (!fm_json_text(&c->scan)) return bad_text(c);
    fm_strbuf_clear(&c->bytes);
    if (!fm_base64_text(c->scan.text, &c->bytes)) return bad(c, FM_JSON_CAUSE_TYPE, type);
    out->str = fm_strbuf_str(&c->bytes);
    return FM_JSON_OK;
}

static bool timestamp_text(fm_json_converter *c, fm_str text, int64_t *out)
{
    const fm_json_options *o = c->options;

    if (o->timestamp_format ? fm_time_format_parse(o->timestamp_format, text, o->zone, out)
                            : fm_file_timestamp(text, o->zone, &c->dates, out))
        return true;
    return o->timestamp_fallback && fm_file_timestamp_old(text, o->zone, out);
}

static bool ntz_text(fm_json_converter *c, fm_str text, int64_t *out)
{
    if (c->options->ntz_format)
        return fm_time_format_parse(c->options->ntz_format, text, fm_zone_utc(), out);
    return fm_file_timestamp_ntz(text, &c->dates, out);
}

static bool date_text(fm_json_converter *c, fm_str text, int64_t *out)
{
    int32_t day = 0;
    int64_t us;

    if (c->options->date_format) {
        if (fm_time_format_parse(c->options->date_format, text, fm_zone_utc(), &us)) {
            *out = fm_floor_div(us, FM_US_PER_DAY);
            return true;
        }
    } else if (fm_text_to_date(text, &day)) {
        *out = day;
        return true;
    }
    if (!c->options->date_fallback || !fm_file_date_old(text, &day)) return false;
    *out = day;
    return true;
}

/* Intervals are read by CAST. */
static bool interval_text(fm_json_converter *c, const fm_type *type, fm_str text, int64_t *out)
{
    fm_view view = fm_view_of(text.ptr, text.len);
    fm_vec in = {.type = fm_type_string(), .len = 1, .values = &view}, result;
    fm_error err = FM_ERROR_INIT;

    if (fm_cast_run(&in, type, FM_CAST_ANSI, &c->options->conf, c->arena, &result, &err) != FM_OK)
        return false;
    if (fm_vec_is_null(&result, 0)) return false;
    *out = type->id == FM_TYPE_INTERVAL_YM ? fm_vec_i32(&result)[0] : fm_vec_i64(&result)[0];
    return true;
}

static fm_json_outcome time_value(fm_json_converter *c, const fm_type *type, scalar *out)
{
    bool ok = false;

    if (type->id == FM_TYPE_TIMESTAMP && c->scan.token == FM_JT_INT) { /* seconds; they wrap */
        int64_t s;
        if (!fm_integer_text(c->scan.number, false, &s)) return bad(c, FM_JSON_CAUSE_TYPE, type);
        out->i64 = (int64_t)((uint64_t)s * (uint64_t)FM_US_PER_SECOND);
        return FM_JSON_OK;
    }
    if (c->scan.token != FM_JT_STRING) return mismatch(c, type);
    if (!fm_json_text(&c->scan)) return bad_text(c);
    fm_str text = c->scan.text;
    if (text.len == 0) return bad(c, FM_JSON_CAUSE_TYPE, type);
    switch (type->id) {
    case FM_TYPE_TIMESTAMP: ok = timestamp_text(c, text, &out->i64); break;
    case FM_TYPE_TIMESTAMP_NTZ: ok = ntz_text(c, text, &out->i64); break;
    case FM_TYPE_DATE: ok = date_text(c, text, &out->i64); break;
    default: ok = interval_text(c, type, text, &out->i64); break;
    }
    return ok ? FM_JSON_OK : bad(c, FM_JSON_CAUSE_TYPE, type);
}

static fm_json_outcome convert_scalar(fm_json_converter *c, const fm_type *type, scalar *out)
{
    switch (type->id) {
    case FM_TYPE_BOOL:
        if (c->scan.token != FM_JT_TRUE && c->scan.token != FM_JT_FALSE) return mismatch(c, type);
        out->boolean = c->scan.token == FM_JT_TRUE;
        return FM_JSON_OK;
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32:
    case FM_TYPE_I64: return integer(c, type, out);
    case FM_TYPE_F32:
    case FM_TYPE_F64: return floating(c, type, out);
    case FM_TYPE_DECIMAL: return decimal(c, type, out);
    case FM_TYPE_STRING: return string(c, out);
    case FM_TYPE_BINARY: return binary(c, type, out);
    case FM_TYPE_DATE:
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_YM:
    case FM_TYPE_INTERVAL_DT: return time_value(c, type, out);
    default: /* void: whatever it is, it is null */
        out->null = true;
        return fm_json_skip_children(&c->scan) ? FM_JSON_OK : bad_text(c);
    }
}

/* ---- where scalars go ---- */

static void store(fm_json_converter *c, fm_json_slot *slot, int32_t row, const scalar *x)
{
    if (x->null) {
        fm_json_slot_null(slot, row);
        return;
    }
    fm_json_slot_set_valid(slot, row);
    bool ok = true;
    switch (slot->type->id) {
    case FM_TYPE_BOOL: ((uint8_t *)slot->values)[row] = x->boolean; break;
    case FM_TYPE_I8: ((int8_t *)slot->values)[row] = (int8_t)x->i64; break;
    case FM_TYPE_I16: ((int16_t *)slot->values)[row] = (int16_t)x->i64; break;
    case FM_TYPE_I32:
    case FM_TYPE_DATE:
    case FM_TYPE_INTERVAL_YM: ((int32_t *)slot->values)[row] = (int32_t)x->i64; break;
    case FM_TYPE_F32: ((float *)slot->values)[row] = (float)x->f64; break;
    case FM_TYPE_F64: ((double *)slot->values)[row] = x->f64; break;
    case FM_TYPE_DECIMAL: ((fm_i128 *)slot->values)[row] = x->decimal; break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY:
        ((fm_view *)slot->values)[row] = x->str_is_input
                                             ? fm_view_of(x->str.ptr, x->str.len)
                                             : fm_view_copy(c->arena, x->str.ptr, x->str.len, &ok);
        break;
    default: ((int64_t *)slot->values)[row] = x->i64; break;
    }
    if (!ok) c->no_memory = true;
}

static void append(fm_builder *b, const fm_type *type, const scalar *x)
{
    if (x->null) {
        fm_builder_null(b);
        return;
    }
    switch (type->id) {
    case FM_TYPE_BOOL: fm_builder_bool(b, x->boolean); break;
    case FM_TYPE_F32:
    case FM_TYPE_F64: fm_builder_f64(b, x->f64); break;
    case FM_TYPE_DECIMAL: fm_builder_decimal(b, x->decimal); break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY:
        if (x->str_is_input)
            fm_builder_str_ref(b, x->str);
        else
            fm_builder_str(b, x->str);
        break;
    default: fm_builder_i64(b, x->i64); break;
    }
}

/* ---- nested values ---- */

/* The token of the value; names that stand before it are passed. FM_JT_ERROR on a failure. */
static fm_json_token value_token(fm_json_scan *s)
{
    while (s->token == FM_JT_FIELD)
        if (fm_json_next(s) == FM_JT_ERROR) return FM_JT_ERROR;
    return s->token;
}

static fm_json_outcome lane_list(fm_json_converter *c, const fm_type *type, fm_builder *out)
{
    fm_builder *elements = fm_builder_child(out, 0);
    fm_json_outcome outcome = FM_JSON_OK;

    if (c->scan.token != FM_JT_ARRAY) return mismatch(c, type);
    for (;;) {
        fm_json_token t = fm_json_next(&c->scan);
        if (t == FM_JT_ERROR) return bad_text(c);
        if (t == FM_JT_ARRAY_END || t == FM_JT_NONE) break;
        fm_json_outcome o = fm_json_convert_lane(c, type->fields[0].type, elements);
        if (o == FM_JSON_BAD) return o;
        if (o == FM_JSON_PARTIAL) outcome = o;
    }
    fm_builder_end(out);
    return outcome;
}

static fm_json_outcome lane_map(fm_json_converter *c, const fm_type *type, fm_builder *out)
{
    fm_builder *keys = fm_builder_child(out, 0), *values = fm_builder_child(out, 1);
    fm_json_outcome outcome = FM_JSON_OK;

    if (c->scan.token != FM_JT_OBJECT) return mismatch(c, type);
    for (;;) {
        fm_json_token t = fm_json_next(&c->scan);
        if (t == FM_JT_ERROR) return bad_text(c);
        if (t == FM_JT_OBJECT_END || t == FM_JT_NONE) break;
        fm_str key = fm_json_name(&c->scan);
        fm_json_outcome o = fm_json_convert_lane(c, type->fields[1].type, values);
        if (o == FM_JSON_BAD) {
            if (!fm_json_skip_children(&c->scan)) return bad_text(c);
        } else if (!key.ptr) {
            o = FM_JSON_BAD; /* left over from a bad value; the map is lost already */
        } else {
            fm_builder_str(keys, key);
        }
        if (o > outcome) outcome = o;
    }
    if (outcome == FM_JSON_BAD) return outcome;
    fm_builder_end(out);
    return outcome;
}

/* A field of a struct that is made by a builder; every child has `base` lanes, or one more if it
 * was seen. */
static fm_json_outcome lane_field(fm_json_converter *c, const fm_type *type, fm_builder *child,
                                  int32_t base)
{
    if (fm_type_is_nested(type)) {
        if (fm_builder_len(child) > base)
            fm_builder_truncate(child, base); /* the last one counts */
        return fm_json_convert_lane(c, type, child);
    }
    scalar x = {0};
    fm_json_token t = value_token(&c->scan);
    if (t == FM_JT_ERROR) return bad_text(c);
    x.null = t == FM_JT_NULL || t == FM_JT_NONE;
    fm_json_outcome o = x.null ? FM_JSON_OK : convert_scalar(c, type, &x);
    if (o == FM_JSON_BAD) return o;
    if (fm_builder_len(child) > base) fm_builder_truncate(child, base);
    append(child, type, &x);
    return o;
}

static int32_t find_field(const fm_type *type, fm_str name)
{
    for (int32_t i = 0; name.ptr && i < type->n_fields; i++)
        if (fm_str_eq(type->fields[i].name, name)) return i;
    return -1;
}

static fm_json_outcome lane_struct(fm_json_converter *c, const fm_type *type, fm_builder *out)
{
    int32_t base = fm_builder_len(out);
    fm_json_outcome outcome = FM_JSON_OK;

    if (c->scan.token != FM_JT_OBJECT) return mismatch(c, type);
    for (;;) {
        fm_json_token t = fm_json_next(&c->scan);
        if (t == FM_JT_ERROR) return bad_text(c);
        if (t == FM_JT_OBJECT_END || t == FM_JT_NONE) break;
        int32_t i = find_field(type, fm_json_name(&c->scan));
        fm_json_outcome o = FM_JSON_BAD;
        if (i >= 0) {
            o = lane_field(c, type->fields[i].type, fm_builder_child(out, i), base);
            if (o != FM_JSON_OK) outcome = FM_JSON_PARTIAL;
        }
        if (o == FM_JSON_BAD && !fm_json_skip_children(&c->scan)) return bad_text(c);
    }
    for (int32_t i = 0; i < type->n_fields; i++)
        if (fm_builder_len(fm_builder_child(out, i)) == base)
            fm_builder_null(fm_builder_child(out, i));
    fm_builder_end(out);
    return outcome;
}

fm_json_outcome fm_json_convert_lane(fm_json_converter *c, const fm_type *type, fm_builder *out)
{
    fm_json_token t = value_token(&c->scan);
    fm_json_outcome o;
    int32_t len = fm_builder_len(out);

    if (t == FM_JT_ERROR) return bad_text(c);
    if (t == FM_JT_NULL || t == FM_JT_NONE) {
        fm_builder_null(out);
        return FM_JSON_OK;
    }
    if (!fm_type_is_nested(type)) {
        scalar x = {0};
        o = convert_scalar(c, type, &x);
        if (o != FM_JSON_BAD) append(out, type, &x);
        return o;
    }
    o = type->id == FM_TYPE_LIST  ? lane_list(c, type, out)
        : type->id == FM_TYPE_MAP ? lane_map(c, type, out)
                                  : lane_struct(c, type, out);
    if (o == FM_JSON_BAD) fm_builder_truncate(out, len); /* and what was added below it */
    return o;
}

/* ---- slots ---- */

/* A list or map into its slot. When the field came before in this record, the value it had stays if
 * the new one is bad: so that one is made apart. */
static fm_json_outcome slot_builder(fm_json_converter *c, fm_json_slot *slot, int32_t row)
{
    if (fm_builder_len(slot->builder) <= row)
        return fm_json_convert_lane(c, slot->type, slot->builder);
    fm_builder *apart = fm_builder_new(c->arena, slot->type, 1);
    fm_vec lane;
    fm_error err = FM_ERROR_INIT;
    if (!apart) {
        c->no_memory = true;
        return FM_JSON_BAD;
    }
    fm_json_outcome o = fm_json_convert_lane(c, slot->type, apart);
    if (o == FM_JSON_BAD) return o;
    if (fm_builder_finish(apart, &lane, &err) != FM_OK) {
        c->no_memory = true;
        return FM_JSON_BAD;
    }
    fm_builder_truncate(slot->builder, row);
    fm_builder_lane(slot->builder, &lane, 0);
    return o;
}

static fm_json_outcome convert_object(fm_json_converter *c, fm_json_slot *slot, int32_t row)
{
    fm_json_outcome outcome = FM_JSON_OK;

    for (;;) {
        fm_json_token t = fm_json_next(&c->scan);
        if (t == FM_JT_ERROR) return bad_text(c);
        if (t == FM_JT_OBJECT_END || t == FM_JT_NONE) break;
        int32_t i = fm_json_names_find(&slot->names, fm_json_name(&c->scan));
        fm_json_outcome o = FM_JSON_BAD;
        if (i >= 0) {
            fm_json_slot *child = &slot->children[i];
            o = fm_json_convert_slot(c, child, row);
            if (o != FM_JSON_OK) outcome = FM_JSON_PARTIAL;
            if (o != FM_JSON_BAD) child->seen = c->record;
        }
        if (o == FM_JSON_BAD && !fm_json_skip_children(&c->scan)) return bad_text(c);
    }
    for (int32_t i = 0; i < slot->n_children; i++)
        if (slot->children[i].seen != c->record) fm_json_slot_null(&slot->children[i], row);
    return outcome;
}

/* Forgets that fields within a struct were seen, for a struct that comes again in the same record.
 */
static void forget(fm_json_slot *slot)
{
    for (int32_t i = 0; i < slot->n_children; i++) {
        slot->children[i].seen = 0;
        forget(&slot->children[i]);
    }
}

static fm_json_outcome slot_struct(fm_json_converter *c, fm_json_slot *slot, int32_t row)
{
    if (c->scan.token != FM_JT_OBJECT) return mismatch(c, slot->type);
    if (slot->seen == c->record) forget(slot);
    fm_json_outcome o = convert_object(c, slot, row);
    if (o != FM_JSON_BAD)
        fm_json_slot_set_valid(slot, row);
    else
        slot->seen = 0;
    return o;
}

fm_json_outcome fm_json_convert_slot(fm_json_converter *c, fm_json_slot *slot, int32_t row)
{
    scalar x = {0};

    if (slot->made_by_builder) return slot_builder(c, slot, row);
    fm_json_token t = value_token(&c->scan);
    if (t == FM_JT_ERROR) return bad_text(c);
    if (t == FM_JT_NULL || t == FM_JT_NONE) {
        fm_json_slot_null(slot, row);
        return FM_JSON_OK;
    }
    if (slot->type->id == FM_TYPE_STRUCT) return slot_struct(c, slot, row);
    fm_json_outcome o = convert_scalar(c, slot->type, &x);
    if (o != FM_JSON_BAD) store(c, slot, row, &x);
    return o;
}

fm_json_outcome fm_json_convert_row(fm_json_converter *c, fm_json_slot *root, int32_t row)
{
    c->record++;
    return convert_object(c, root, row);
}

/* ---- types and causes ---- */

fm_status fm_json_type_check(const fm_type *type, fm_error *err)
{
    if (type->id == FM_TYPE_MAP && type->fields[0].type->id != FM_TYPE_STRING) {
        fm_strbuf text = {0};
        fm_type_sql(type, &text);
        fm_status st =
            fm_fail(err, FM_INVALID, "INVALID_JSON_MAP_KEY_TYPE",
                    "Type %.*s: keys of maps in JSON are strings. Declare the key as STRING.",
                    FM_STR_ARG(fm_strbuf_str(&text)));
        fm_strbuf_fini(&text);
        return st;
    }
    for (int32_t i = 0; i < type->n_fields; i++)
        FM_TRY(fm_json_type_check(type->fields[i].type, err));
    return FM_OK;
}

const char *fm_json_cause_condition(const fm_json_converter *c)
{
    if (c->cause == FM_JSON_CAUSE_ARRAY)
        return "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_JSON_ARRAYS_AS_STRUCTS";
    if (c->cause == FM_JSON_CAUSE_STRING_NUMBER)
        return "MALFORMED_RECORD_IN_PARSING.CANNOT_PARSE_STRING_AS_DATATYPE";
    return "MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION";
}

fm_str fm_corrupt_text(fm_strbuf *reason, fm_str record, fm_arena *arena)
{
    for (size_t i = 0; i < reason->len; i++)
        if (reason->ptr[i] == '\n' || reason->ptr[i] == '\r') reason->ptr[i] = ' '; /* in a field's name */
    fm_strbuf_add_char(reason, '\n');
    fm_strbuf_add(reason, record);
    fm_str text = fm_strbuf_ok(reason) ? fm_arena_str(arena, fm_strbuf_str(reason)) : (fm_str){NULL, 0};
    fm_strbuf_fini(reason);
    return text;
}

fm_str fm_json_corrupt_text(const fm_json_converter *c, fm_str record, fm_arena *arena)
{
    fm_strbuf why = {0};

    if (!c->options->corrupt_reason) return record;
    fm_json_cause_text(c, &why);
    if (c->cause == FM_JSON_CAUSE_TYPE || c->cause == FM_JSON_CAUSE_STRING_NUMBER)
        fm_strbuf_printf(&why, ", at byte %zu of the record", c->cause_at);
    return fm_corrupt_text(&why, record, arena);
}

void fm_json_cause_text(const fm_json_converter *c, fm_strbuf *out)
{
    switch (c->cause) {
    case FM_JSON_CAUSE_TEXT:
        fm_strbuf_printf(out, "it is not JSON: %s, at byte %" PRIu64 " of the record",
                         c->scan.fault ? c->scan.fault : "unreadable",
                         (uint64_t)(c->scan.fault_at ? c->scan.fault_at - c->scan.start : 0));
        return;
    case FM_JSON_CAUSE_TYPE:
    case FM_JSON_CAUSE_STRING_NUMBER:
        fm_strbuf_printf(out, "the value of field '%.*s' is no ", FM_STR_ARG(c->cause_field));
        fm_type_sql(c->cause_type, out);
        return;
    case FM_JSON_CAUSE_ARRAY:
        fm_strbuf_add_c(out, "it is an array where an object was expected");
        return;
    default: fm_strbuf_add_c(out, "it is no object"); return;
    }
}

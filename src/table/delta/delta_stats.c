/* table/delta/delta_stats.c: statistics of data files, which let a reader pass files over.
 *
 *     {"numRecords":3,"minValues":{"a":1,"s":{"b":"x"}},"maxValues":{...},"nullCount":{"a":0,"s":{"b":1}}} */
#include <float.h>
#include <inttypes.h>
#include <math.h>

#include "base/time_text.h"
#include "expr/cast.h"
#include "expr/text.h"
#include "table/delta/delta_value.h"

enum { PREFIX_CHARS = 32 }; /* of a string that is kept; Delta's default */

/* ---- Printing ------------------------------------------------------------------------------------------------- */

typedef enum what { MIN_VALUES, MAX_VALUES, NULL_COUNT } what;

/* The first characters of a text, and for a maximum one more that lies above all that could follow. */
static bool cut_text(fm_str text, bool is_max, fm_strbuf *out)
{
    size_t at = fm_text_offset(text, PREFIX_CHARS);

    if (at >= text.len) {
        fm_strbuf_add_json(out, text);
        return true;
    }
    fm_strbuf cut = {0};
    size_t limit = fm_text_offset(text, 2 * PREFIX_CHARS), size;
    bool ok = true;
    if (is_max) {
        while (at < limit && at < text.len && fm_char_decode(text, at, &size) == 0x10FFFF) at += size;
        ok = at < limit || at >= text.len; /* else nothing short lies above it */
    }
    if (ok) {
        fm_strbuf_add(&cut, (fm_str){text.ptr, at});
        if (is_max && at < text.len) fm_strbuf_add_c(&cut, (unsigned char)text.ptr[at] < 0x7F ? "\x7F" : "\xF4\x8F\xBF\xBF");
        fm_strbuf_add_json(out, fm_strbuf_str(&cut));
    }
    out->failed |= cut.failed;
    fm_strbuf_fini(&cut);
    return ok;
}

static bool print_float(double x, fm_str text, fm_strbuf *out)
{
    if (!isfinite(x)) return false; /* JSON has no such number */
    fm_strbuf_add(out, text);
    return true;
}

/* A value as JSON; false: it is of a kind that has no bounds here, and nothing was written. */
static bool print_value(const fm_vec *v, bool is_max, fm_strbuf *out)
{
    char text[FM_DECIMAL_TEXT_SIZE + FM_ISO_TEXT_SIZE];

    switch (v->type->id) {
    case FM_TYPE_STRING: return cut_text(fm_vec_str(v, 0), is_max, out);
    case FM_TYPE_F32: return print_float((double)fm_vec_f32(v)[0], (fm_str){text, fm_float_text(fm_vec_f32(v)[0], text)}, out);
    case FM_TYPE_F64: return print_float(fm_vec_f64(v)[0], (fm_str){text, fm_double_text(fm_vec_f64(v)[0], text)}, out);
    case FM_TYPE_TIMESTAMP: /* cut to ms; readers know */
        fm_iso_ms(fm_floor_div(fm_vec_i64(v)[0], FM_US_PER_MS), text);
        fm_strbuf_printf(out, "\"%s\"", text);
        return true;
    case FM_TYPE_TIMESTAMP_NTZ:
        text[fm_iso_ms(fm_floor_div(fm_vec_i64(v)[0], FM_US_PER_MS), text) - 1] = 0; /* without the Z */
        fm_strbuf_printf(out, "\"%s\"", text);
        return true;
    case FM_TYPE_DATE:
        text[fm_date_text(fm_vec_i32(v)[0], text)] = 0;
        fm_strbuf_printf(out, "\"%s\"", text);
        return true;
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32:
    case FM_TYPE_I64:
    case FM_TYPE_DECIMAL: fm_value_text(v, 0, fm_zone_utc(), out); return true;
    default: return false;
    }
}

static bool print_leaf(const fm_parquet_column_written *c, what w, fm_strbuf *out)
{
    if (w == NULL_COUNT) {
        fm_strbuf_printf(out, "%" PRId64, c->null_count);
        return true;
    }
    const fm_vec *v = w == MIN_VALUES ? c->min : c->max;
    return v && print_value(v, w == MAX_VALUES, out);
}

/* The columns [from, to) share the first `depth` names of their paths: an object of what stands below. A member that turns out to
 * have no value is taken back. */
static void print_level(const fm_parquet_column_written *columns, int32_t from, int32_t to, int32_t depth, what w, fm_strbuf *out)
{
    bool first = true;

    fm_strbuf_add_char(out, '{');
    for (int32_t i = from, end; i < to; i = end) {
        size_t before = out->len;
        const fm_parquet_column_written *c = &columns[i];
        for (end = i + 1; end < to && columns[end].n_path > depth && fm_str_eq(columns[end].path[depth], c->path[depth]); end++) {}
        if (!first) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_json(out, c->path[depth]);
        fm_strbuf_add_char(out, ':');
        bool there = true;
        if (c->n_path == depth + 1) {
            there = print_leaf(c, w, out);
            end = i + 1;
        } else {
            size_t inner = out->len;
            print_level(columns, i, end, depth + 1, w, out);
            there = out->len > inner + 2;
        }
        if (there) first = false;
        else if (fm_strbuf_ok(out)) out->len = before;
    }
    fm_strbuf_add_char(out, '}');
}

void fm_delta_stats_print(const fm_parquet_written *written, int64_t columns_max, fm_strbuf *out)
{
    int32_t n = columns_max < 0 || columns_max > written->n_columns ? written->n_columns : (int32_t)columns_max;

    fm_strbuf_printf(out, "{\"numRecords\":%" PRId64, written->rows);
    fm_strbuf_add_c(out, ",\"minValues\":");
    print_level(written->columns, 0, n, 0, MIN_VALUES, out);
    fm_strbuf_add_c(out, ",\"maxValues\":");
    print_level(written->columns, 0, n, 0, MAX_VALUES, out);
    fm_strbuf_add_c(out, ",\"nullCount\":");
    print_level(written->columns, 0, n, 0, NULL_COUNT, out);
    fm_strbuf_add_char(out, '}');
}

/* ---- Reading -------------------------------------------------------------------------------------------------- */

int64_t fm_delta_stats_rows(fm_str stats)
{
    fm_arena *scratch = stats.len ? fm_arena_new(0) : NULL;
    const fm_json *v;
    int64_t rows = -1;

    if (!scratch) return -1;
    if (fm_json_read(scratch, stats, &v, NULL) != FM_OK || !fm_json_i64(fm_json_get(v, "numRecords"), &rows)) rows = -1;
    fm_arena_free(scratch);
    return rows;
}

fm_status fm_delta_stats_loosen(fm_arena *arena, fm_str stats, int64_t rows, fm_str *out, fm_error *err)
{
    fm_strbuf text = {0};
    const fm_json *v = NULL;

    if (stats.len && fm_json_read(arena, stats, &v, NULL) != FM_OK) v = NULL;
    fm_strbuf_printf(&text, "{\"numRecords\":%" PRId64, rows);
    for (int32_t i = 0; v && v->kind == FM_JSON_OBJECT && i < v->n; i++) {
        if (fm_str_eq(v->keys[i], FM_STR("numRecords")) || fm_str_eq(v->keys[i], FM_STR("tightBounds"))) continue;
        fm_strbuf_add_char(&text, ',');
        fm_strbuf_add_json(&text, v->keys[i]);
        fm_strbuf_add_char(&text, ':');
        fm_delta_json_print(&v->items[i], &text);
    }
    fm_strbuf_add_c(&text, ",\"tightBounds\":false}");
    *out = fm_strbuf_ok(&text) ? fm_arena_str(arena, fm_strbuf_str(&text)) : (fm_str){0};
    fm_strbuf_fini(&text);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

/* The value that names lead to; NULL: none. */
static const fm_json *find_value(const fm_json *v, const fm_str *path, int32_t n_path)
{
    for (int32_t k = 0; v && k < n_path; k++) {
        const fm_json *next = NULL;
        for (int32_t i = 0; v->kind == FM_JSON_OBJECT && i < v->n; i++) {
            if (fm_str_eq(v->keys[i], path[k])) next = &v->items[i];
        }
        v = next;
    }
    return v;
}

/* An instant without a zone is one of the writer's zone, which nobody knows. */
static bool has_zone(fm_str text)
{
    for (size_t i = 10; i < text.len; i++) {
        if (text.ptr[i] == 'Z' || text.ptr[i] == '+' || text.ptr[i] == '-') return true;
    }
    return false;
}

/* Moves a bound outwards by what its writer may have lost. False: it says nothing. */
static bool widen(fm_vec *v, bool is_max)
{
    enum { DOUBLE_DIGITS = 15, LOST = 1000 };

    if (v->type->id == FM_TYPE_F32) return !isnan(fm_vec_f32(v)[0]);
    if (v->type->id == FM_TYPE_F64) { /* the shortest text of a FLOAT is another DOUBLE than the FLOAT itself */
        double *x = fm_vec_f64_out(v), narrow = fabs(*x) <= (double)FLT_MAX ? (double)(float)*x : *x;
        if (is_max ? narrow > *x : narrow < *x) *x = narrow;
        return !isnan(*x);
    }
    if (fm_type_is_timestamp(v->type) && is_max) { /* it was cut to milliseconds */
        int64_t *us = fm_vec_i64_out(v);
        *us = *us > INT64_MAX - 999 ? INT64_MAX : *us + 999;
    }
    if (v->type->id == FM_TYPE_DECIMAL && v->type->precision > DOUBLE_DIGITS) {
        fm_i128 *x = fm_vec_decimal_out(v), slack = *x / ((fm_i128)1000000000000000 / LOST);
        slack = (slack < 0 ? -slack : slack) + 1;
        *x = is_max ? *x + slack : *x - slack; /* 38 digits and this are well within 128 bits */
    }
    return true;
}

static fm_status bound_of(const fm_json *v, const fm_type *type, bool is_max, fm_arena *arena, const fm_vec **out, fm_error *err)
{
    fm_session_conf conf = {.ansi = true, .zone = fm_zone_utc()};
    fm_vec in, *made;

    *out = NULL;
    if (!v || (v->kind != FM_JSON_STRING && v->kind != FM_JSON_NUMBER)) return FM_OK;
    if (type->id == FM_TYPE_TIMESTAMP && !has_zone(v->text)) return FM_OK;
    FM_TRY(fm_vec_init(&in, fm_type_string(), 1, arena, err));
    fm_vec_view_out(&in)[0] = fm_view_of(v->text.ptr, v->text.len);
    made = fm_arena_one(arena, fm_vec);
    if (!made) return fm_no_memory(arena, err);
    if (type->id == FM_TYPE_STRING) *made = in;
    else FM_TRY(fm_cast_run(&in, type, FM_CAST_TRY, &conf, arena, made, err));
    if (!fm_vec_is_null(made, 0) && widen(made, is_max)) *out = made;
    return FM_OK;
}

fm_status fm_delta_stats_bounds(const fm_json *stats, const fm_str *path, int32_t n_path, const fm_type *type, fm_arena *arena,
                                fm_delta_bounds *out, fm_error *err)
{
    *out = (fm_delta_bounds){.rows = -1, .null_count = -1};
    if (!stats || fm_type_is_nested(type)) return FM_OK;
    if (!fm_json_i64(fm_json_get(stats, "numRecords"), &out->rows)) out->rows = -1;
    if (!fm_json_i64(find_value(fm_json_get(stats, "nullCount"), path, n_path), &out->null_count)) out->null_count = -1;
    FM_TRY(bound_of(find_value(fm_json_get(stats, "minValues"), path, n_path), type, false, arena, &out->min, err));
    return bound_of(find_value(fm_json_get(stats, "maxValues"), path, n_path), type, true, arena, &out->max, err);
}

/* conformance/compare.c: canonical JSON of values, and comparing it with what was recorded. */
#include "compare.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>

#include "base/time_text.h"
#include "expr/cast.h"
#include "expr/text.h"

static void add_base64(fm_str bytes, fm_strbuf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fm_strbuf_add_char(out, '"');
    for (size_t i = 0; i < bytes.len; i += 3) {
        size_t n = bytes.len - i < 3 ? bytes.len - i : 3;
        uint32_t x = (uint32_t)(unsigned char)bytes.ptr[i] << 16;
        if (n > 1) x |= (uint32_t)(unsigned char)bytes.ptr[i + 1] << 8;
        if (n > 2) x |= (unsigned char)bytes.ptr[i + 2];
        fm_strbuf_add_char(out, digits[x >> 18]);
        fm_strbuf_add_char(out, digits[x >> 12 & 63]);
        fm_strbuf_add_char(out, n > 1 ? digits[x >> 6 & 63] : '=');
        fm_strbuf_add_char(out, n > 2 ? digits[x & 63] : '=');
    }
    fm_strbuf_add_char(out, '"');
}

static void add_double(double x, fm_strbuf *out)
{
    if (isnan(x)) fm_strbuf_add_c(out, "\"NaN\"");
    else if (isinf(x)) fm_strbuf_add_c(out, x > 0 ? "\"Infinity\"" : "\"-Infinity\"");
    else fm_strbuf_printf(out, "%.17g", x);
}

static int compare_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Entries sorted by their JSON text. */
static void add_map(const fm_vec *v, int64_t i, fm_strbuf *out)
{
    int32_t from = v->offsets[i], n = v->offsets[i + 1] - from;
    char **texts = calloc((size_t)n + 1, sizeof *texts);

    for (int32_t j = 0; j < n; j++) {
        fm_strbuf text = {0};
        fm_strbuf_add_c(&text, "{\"key\":");
        conf_value_text(&v->children[0], from + j, &text);
        fm_strbuf_add_c(&text, ",\"value\":");
        conf_value_text(&v->children[1], from + j, &text);
        fm_strbuf_add_char(&text, '}');
        texts[j] = text.ptr;
    }
    qsort(texts, (size_t)n, sizeof *texts, compare_text);
    fm_strbuf_add_char(out, '[');
    for (int32_t j = 0; j < n; j++) {
        if (j) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_c(out, texts[j]);
        free(texts[j]);
    }
    fm_strbuf_add_char(out, ']');
    free(texts);
}

static void add_struct(const fm_vec *v, int64_t i, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '{');
    for (int32_t f = 0; f < v->type->n_fields; f++) {
        if (f) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_json(out, v->type->fields[f].name);
        fm_strbuf_add_char(out, ':');
        conf_value_text(&v->children[f], i, out);
    }
    fm_strbuf_add_char(out, '}');
}

void conf_value_text(const fm_vec *v, int64_t i, fm_strbuf *out)
{
    char text[FM_ISO_TEXT_SIZE];

    if (fm_vec_is_null(v, i)) {
        fm_strbuf_add_c(out, "null");
        return;
    }
    switch (v->type->id) {
    case FM_TYPE_NULL: fm_strbuf_add_c(out, "null"); break;
    case FM_TYPE_BOOL: fm_strbuf_add_c(out, fm_vec_bool(v)[i] ? "true" : "false"); break;
    case FM_TYPE_I8: fm_strbuf_printf(out, "%d", fm_vec_i8(v)[i]); break;
    case FM_TYPE_I16: fm_strbuf_printf(out, "%d", fm_vec_i16(v)[i]); break;
    case FM_TYPE_I32: fm_strbuf_printf(out, "%d", fm_vec_i32(v)[i]); break;
    case FM_TYPE_I64: fm_strbuf_printf(out, "%" PRId64, fm_vec_i64(v)[i]); break;
    case FM_TYPE_F32: add_double(fm_vec_f32(v)[i], out); break;
    case FM_TYPE_F64: add_double(fm_vec_f64(v)[i], out); break;
    case FM_TYPE_STRING: fm_strbuf_add_json(out, fm_vec_str(v, i)); break;
    case FM_TYPE_BINARY: add_base64(fm_vec_str(v, i), out); break;
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ: {
        size_t n = fm_iso_us(fm_vec_i64(v)[i], text);
        if (v->type->id == FM_TYPE_TIMESTAMP_NTZ) n--; /* without the Z */
        fm_strbuf_add_json(out, (fm_str){text, n});
        break;
    }
    case FM_TYPE_DATE: {
        int64_t us = (int64_t)fm_vec_i32(v)[i] * FM_US_PER_DAY;
        size_t n = fm_iso_us(us, text);
        fm_strbuf_add_json(out, (fm_str){text, n - sizeof "T00:00:00.000000Z" + 1});
        break;
    }
    case FM_TYPE_LIST:
        fm_strbuf_add_char(out, '[');
        for (int32_t j = v->offsets[i]; j < v->offsets[i + 1]; j++) {
            if (j > v->offsets[i]) fm_strbuf_add_char(out, ',');
            conf_value_text(&v->children[0], j, out);
        }
        fm_strbuf_add_char(out, ']');
        break;
    case FM_TYPE_MAP: add_map(v, i, out); break;
    case FM_TYPE_STRUCT: add_struct(v, i, out); break;
    default: { /* decimals and intervals: Spark's text */
        fm_strbuf spelled = {0};
        fm_value_text(v, i, fm_zone_utc(), &spelled);
        fm_strbuf_add_json(out, fm_strbuf_str(&spelled));
        fm_strbuf_fini(&spelled);
    }
    }
}

void conf_row_text(const fm_batch *batch, int32_t i, fm_strbuf *out)
{
    fm_strbuf_add_char(out, '{');
    for (int32_t c = 0; c < batch->schema->n_fields; c++) {
        if (c) fm_strbuf_add_char(out, ',');
        fm_strbuf_add_json(out, batch->schema->fields[c].name);
        fm_strbuf_add_char(out, ':');
        conf_value_text(&batch->columns[c], i, out);
    }
    fm_strbuf_add_char(out, '}');
}

static bool double_equals(const fm_json *expected, double x)
{
    if (expected->kind == FM_JSON_STRING) {
        fm_str text = expected->text;
        if (fm_str_eq(text, FM_STR("NaN"))) return isnan(x);
        if (fm_str_eq(text, FM_STR("Infinity"))) return isinf(x) && x > 0;
        return fm_str_eq(text, FM_STR("-Infinity")) && isinf(x) && x < 0;
    }
    double y;
    if (expected->kind != FM_JSON_NUMBER || !fm_text_to_double(expected->text, &y) || !isfinite(x)) return false;
    double larger = fabs(x) > fabs(y) ? fabs(x) : fabs(y);
    return x == y || fabs(x - y) <= 1e-9 * larger;
}

static bool list_equals(const fm_json *expected, const fm_vec *v, int64_t i)
{
    int32_t from = v->offsets[i], n = v->offsets[i + 1] - from;

    if (expected->kind != FM_JSON_ARRAY || expected->n != n) return false;
    for (int32_t j = 0; j < n; j++) {
        if (!conf_value_equals(&expected->items[j], &v->children[0], from + j)) return false;
    }
    return true;
}

static bool struct_equals(const fm_json *expected, const fm_vec *v, int64_t i)
{
    if (expected->kind != FM_JSON_OBJECT || expected->n != v->type->n_fields) return false;
    for (int32_t f = 0; f < v->type->n_fields; f++) {
        if (!fm_str_eq(expected->keys[f], v->type->fields[f].name)) return false;
        if (!conf_value_equals(&expected->items[f], &v->children[f], i)) return false;
    }
    return true;
}

/* Entries may stand in any order: each recorded one must be found. */
static bool map_equals(const fm_json *expected, const fm_vec *v, int64_t i)
{
    int32_t from = v->offsets[i], n = v->offsets[i + 1] - from;

    if (expected->kind != FM_JSON_ARRAY || expected->n != n) return false;
    for (int32_t e = 0; e < n; e++) {
        const fm_json *key = fm_json_get(&expected->items[e], "key"), *value = fm_json_get(&expected->items[e], "value");
        bool found = false;
        for (int32_t j = from; key && value && j < from + n && !found; j++) {
            found = conf_value_equals(key, &v->children[0], j) && conf_value_equals(value, &v->children[1], j);
        }
        if (!found) return false;
    }
    return true;
}

/* The answers are text, where bytes that are no UTF-8 became U+FFFD. */
static bool same_text(fm_str expected, fm_str got)
{
    fm_strbuf repaired = {0};

    if (fm_text_is_valid(got)) return fm_str_eq(expected, got);
    fm_text_repair(got, &repaired);
    bool same = fm_str_eq(expected, fm_strbuf_str(&repaired));
    fm_strbuf_fini(&repaired);
    return same;
}

bool conf_value_equals(const fm_json *expected, const fm_vec *v, int64_t i)
{
    fm_strbuf text = {0};
    bool equal;

    if (fm_vec_is_null(v, i)) return expected->kind == FM_JSON_NULL;
    switch (v->type->id) {
    case FM_TYPE_BOOL: return expected->kind == FM_JSON_BOOL && expected->boolean == (fm_vec_bool(v)[i] != 0);
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32:
    case FM_TYPE_I64:
        conf_value_text(v, i, &text);
        equal = expected->kind == FM_JSON_NUMBER && fm_str_eq(expected->text, fm_strbuf_str(&text));
        fm_strbuf_fini(&text);
        return equal;
    case FM_TYPE_F32: return double_equals(expected, fm_vec_f32(v)[i]);
    case FM_TYPE_F64: return double_equals(expected, fm_vec_f64(v)[i]);
    case FM_TYPE_LIST: return list_equals(expected, v, i);
    case FM_TYPE_STRUCT: return struct_equals(expected, v, i);
    case FM_TYPE_MAP: return map_equals(expected, v, i);
    case FM_TYPE_STRING: return expected->kind == FM_JSON_STRING && same_text(expected->text, fm_vec_str(v, i));
    default: { /* text forms: compare the JSON text of the string */
        fm_strbuf quoted = {0};
        conf_value_text(v, i, &text);
        fm_strbuf_add_json(&quoted, expected->text);
        equal = expected->kind == FM_JSON_STRING && fm_str_eq(fm_strbuf_str(&quoted), fm_strbuf_str(&text));
        fm_strbuf_fini(&quoted);
        fm_strbuf_fini(&text);
        return equal;
    }
    }
}

bool conf_row_equals(const fm_json *expected, const fm_batch *batch, int32_t i)
{
    if (expected->kind != FM_JSON_OBJECT || expected->n != batch->schema->n_fields) return false;
    for (int32_t c = 0; c < batch->schema->n_fields; c++) {
        if (!fm_str_eq(expected->keys[c], batch->schema->fields[c].name)) return false;
        if (!conf_value_equals(&expected->items[c], &batch->columns[c], i)) return false;
    }
    return true;
}

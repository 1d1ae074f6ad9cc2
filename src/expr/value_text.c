/* expr/value_text.c: one value as text, as CAST(x AS STRING) and the console show it.
 *
 * Rule  Spark, ToStringBase: {a, b} for structs, [a, b] for arrays, {k -> v} for maps, null for nulls inside;
 *       timestamps on the session's clock, zeros at the end of the fraction cut; binary is its bytes. */
#include "expr/time_parts.h"

static char *put2(char *p, int32_t x)
{
    p[0] = (char)('0' + x / 10);
    p[1] = (char)('0' + x % 10);
    return p + 2;
}

/* yyyy-MM-dd; years of more than four digits have a sign, as in java.time. */
static char *put_date(char *p, int32_t days)
{
    int32_t year, month, day;
    fm_civil_from_days(days, &year, &month, &day);
    if (year >= 0 && year <= 9999) {
        p = put2(put2(p, year / 100), year % 100);
    } else {
        int64_t magnitude = year < 0 ? -(int64_t)year : year;
        *p++ = year < 0 ? '-' : '+';
        if (magnitude < 1000) *p++ = '0';
        if (magnitude < 100) *p++ = '0';
        if (magnitude < 10) *p++ = '0';
        p += fm_i64_text(magnitude, p);
    }
    *p++ = '-';
    p = put2(p, month);
    *p++ = '-';
    return put2(p, day);
}

static char *put_local(char *p, int64_t local_us)
{
    int64_t us = fm_floor_mod(local_us, FM_US_PER_DAY);
    int32_t seconds = (int32_t)(us / FM_US_PER_SECOND), fraction = (int32_t)(us % FM_US_PER_SECOND);
    p = put_date(p, fm_day_of_us(local_us));
    *p++ = ' ';
    p = put2(p, seconds / 3600);
    *p++ = ':';
    p = put2(p, seconds / 60 % 60);
    *p++ = ':';
    p = put2(p, seconds % 60);
    if (fraction) {
        int digits = 6;
        *p++ = '.';
        for (; fraction % 10 == 0; digits--) fraction /= 10;
        for (int i = digits - 1; i >= 0; i--, fraction /= 10) p[i] = (char)('0' + fraction % 10);
        p += digits;
    }
    return p;
}

size_t fm_date_text(int32_t days, char out[FM_TIME_TEXT_SIZE]) { return (size_t)(put_date(out, days) - out); }

size_t fm_timestamp_text(int64_t local_us, char out[FM_TIME_TEXT_SIZE])
{
    return (size_t)(put_local(out, local_us) - out);
}

typedef struct texter {
    const fm_zone *zone;
    fm_strbuf *out;
    bool java; /* decimals with exponents */
} texter;

static void add_value(const texter *t, const fm_vec *v, int64_t i);

static void add_list(const texter *t, const fm_vec *v, int64_t i)
{
    fm_strbuf_add_char(t->out, '[');
    for (int32_t k = v->offsets[i]; k < v->offsets[i + 1]; k++) {
        if (k > v->offsets[i]) fm_strbuf_add_c(t->out, ", ");
        if (fm_vec_is_null(&v->children[0], k))
            fm_strbuf_add_c(t->out, "null");
        else
            add_value(t, &v->children[0], k);
    }
    fm_strbuf_add_char(t->out, ']');
}

static void add_map(const texter *t, const fm_vec *v, int64_t i)
{
    fm_strbuf_add_char(t->out, '{');
    for (int32_t k = v->offsets[i]; k < v->offsets[i + 1]; k++) {
        if (k > v->offsets[i]) fm_strbuf_add_c(t->out, ", ");
        add_value(t, &v->children[0], k);
        fm_strbuf_add_c(t->out, " -> ");
        if (fm_vec_is_null(&v->children[1], k))
            fm_strbuf_add_c(t->out, "null");
        else
            add_value(t, &v->children[1], k);
    }
    fm_strbuf_add_char(t->out, '}');
}

static void add_struct(const texter *t, const fm_vec *v, int64_t i)
{
    fm_strbuf_add_char(t->out, '{');
    for (int32_t k = 0; k < v->type->n_fields; k++) {
        if (k) fm_strbuf_add_c(t->out, ", ");
        if (fm_vec_is_null(&v->children[k], i))
            fm_strbuf_add_c(t->out, "null");
        else
            add_value(t, &v->children[k], i);
    }
    fm_strbuf_add_char(t->out, '}');
}

static void add_value(const texter *t, const fm_vec *v, int64_t i)
{
    fm_strbuf *out = t->out;
    char text[FM_TIME_TEXT_SIZE];
    size_t len = 0;
    switch (v->type->id) {
    case FM_TYPE_NULL:
    case FM_TYPE_COUNT: fm_strbuf_add_c(out, "null"); return;
    case FM_TYPE_BOOL: fm_strbuf_add_c(out, fm_vec_bool(v)[i] ? "true" : "false"); return;
    case FM_TYPE_I8: len = fm_i64_text(fm_vec_i8(v)[i], text); break;
    case FM_TYPE_I16: len = fm_i64_text(fm_vec_i16(v)[i], text); break;
    case FM_TYPE_I32: len = fm_i64_text(fm_vec_i32(v)[i], text); break;
    case FM_TYPE_I64: len = fm_i64_text(fm_vec_i64(v)[i], text); break;
    case FM_TYPE_F32: len = fm_float_text(fm_vec_f32(v)[i], text); break;
    case FM_TYPE_F64: len = fm_double_text(fm_vec_f64(v)[i], text); break;
    case FM_TYPE_DECIMAL:
        len = (t->java ? fm_decimal_java_text : fm_decimal_text)(fm_vec_decimal(v)[i], v->type->scale, text);
        break;
    case FM_TYPE_STRING:
    case FM_TYPE_BINARY: fm_strbuf_add(out, fm_vec_str(v, i)); return;
    case FM_TYPE_DATE: len = fm_date_text(fm_vec_i32(v)[i], text); break;
    case FM_TYPE_TIMESTAMP:
        len = fm_timestamp_text(fm_zone_to_local(t->zone, fm_vec_i64(v)[i]), text);
        break;
    case FM_TYPE_TIMESTAMP_NTZ: len = fm_timestamp_text(fm_vec_i64(v)[i], text); break;
    case FM_TYPE_INTERVAL_YM: fm_interval_ym_text(fm_vec_i32(v)[i], v->type, out); return;
    case FM_TYPE_INTERVAL_DT: fm_interval_dt_text(fm_vec_i64(v)[i], v->type, out); return;
    case FM_TYPE_LIST: add_list(t, v, i); return;
    case FM_TYPE_MAP: add_map(t, v, i); return;
    case FM_TYPE_STRUCT: add_struct(t, v, i); return;
    }
    fm_strbuf_add(out, (fm_str){text, len});
}

void fm_value_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out)
{
    add_value(&(texter){zone, out, false}, v, i);
}

void fm_value_java_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out)
{
    add_value(&(texter){zone, out, true}, v, i);
}

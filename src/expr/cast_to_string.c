/* expr/cast_to_string.c: CAST(x AS STRING). Text of up to 12 bytes goes straight into the view. */
#include "expr/cast_internal.h"

#include "expr/time_parts.h"

static fm_status put(fm_casting *c, int64_t i, const char *text, size_t len)
{
    bool ok = true;
    fm_vec_view_out(c->out)[i] = fm_view_copy(c->arena, text, len, &ok);
    return ok ? FM_OK : fm_no_memory(c->arena, c->err);
}

/* Types whose text fits a small buffer. Returns its length. */
static size_t short_text(const fm_vec *v, int64_t i, const fm_zone *zone, bool java, char *text)
{
    switch (v->type->id) {
    case FM_TYPE_I8: return fm_i64_text(fm_vec_i8(v)[i], text);
    case FM_TYPE_I16: return fm_i64_text(fm_vec_i16(v)[i], text);
    case FM_TYPE_I32: return fm_i64_text(fm_vec_i32(v)[i], text);
    case FM_TYPE_I64: return fm_i64_text(fm_vec_i64(v)[i], text);
    case FM_TYPE_F32: return fm_float_text(fm_vec_f32(v)[i], text);
    case FM_TYPE_F64: return fm_double_text(fm_vec_f64(v)[i], text);
    case FM_TYPE_DECIMAL: return (java ? fm_decimal_java_text : fm_decimal_text)(fm_vec_decimal(v)[i], v->type->scale, text);
    case FM_TYPE_DATE: return fm_date_text(fm_vec_i32(v)[i], text);
    case FM_TYPE_TIMESTAMP: return fm_timestamp_text(fm_zone_to_local(zone, fm_vec_i64(v)[i]), text);
    default: return fm_timestamp_text(fm_vec_i64(v)[i], text);
    }
}

static bool has_short_text(const fm_type *t)
{
    return (t->id >= FM_TYPE_I8 && t->id <= FM_TYPE_DECIMAL) || t->id == FM_TYPE_DATE ||
           fm_type_is_timestamp(t);
}

fm_status fm_cast_to_string(fm_casting *c)
{
    char text[FM_DECIMAL_TEXT_SIZE + FM_TIME_TEXT_SIZE];
    fm_strbuf long_text = {0};
    fm_status st = FM_OK;
    bool java = c->mode == FM_CAST_LEGACY; /* how decimals are written */
    bool is_short = has_short_text(c->in->type);
    for (int64_t i = 0; st == FM_OK && i < c->in->len; i++) {
        if (!fm_cast_lane(c, i)) continue;
        if (is_short) {
            st = put(c, i, text, short_text(c->in, i, c->conf->zone, java, text));
            continue;
        }
        fm_strbuf_clear(&long_text);
        (java ? fm_value_java_text : fm_value_text)(c->in, i, c->conf->zone, &long_text);
        st = fm_strbuf_ok(&long_text) ? put(c, i, long_text.ptr, long_text.len)
                                      : fm_no_memory(c->arena, c->err);
    }
    fm_strbuf_fini(&long_text);
    return st;
}

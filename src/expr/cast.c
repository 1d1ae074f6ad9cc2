/* expr/cast.c: CAST: which casts there are, which can fail, and who does them.
 *
 * Rule  Spark, Cast.canCast and Cast.canAnsiCast. */
#include "expr/cast_internal.h"

#include "expr/decimal.h"
#include "expr/eval_internal.h"

static bool is_datetime(const fm_type *t) { return t->id == FM_TYPE_DATE || fm_type_is_timestamp(t); }
static bool is_float(const fm_type *t) { return t->id == FM_TYPE_F32 || t->id == FM_TYPE_F64; }

/* --- which there are --------------------------------------------------------------------------------- */

static bool exists_interval(const fm_type *from, const fm_type *to)
{
    if (from->id == to->id) return true;
    if (fm_type_is_interval(from) && fm_type_is_interval(to)) return false;
    const fm_type *other = fm_type_is_interval(from) ? to : from;
    if (other->id == FM_TYPE_STRING) return true;
    return fm_type_is_integer(other) || other->id == FM_TYPE_DECIMAL; /* of the interval's last unit */
}

static bool exists_nested(const fm_type *from, const fm_type *to, bool ansi)
{
    if (from->id != to->id || from->n_fields != to->n_fields) return false;
    for (int32_t i = 0; i < from->n_fields; i++)
        if (!fm_cast_exists(from->fields[i].type, to->fields[i].type, ansi)) return false;
    return true;
}

bool fm_cast_exists(const fm_type *from, const fm_type *to, bool ansi)
{
    if (from->id == FM_TYPE_NULL || to->id == FM_TYPE_STRING) return true;
    if (fm_type_is_nested(from) || fm_type_is_nested(to)) return exists_nested(from, to, ansi);
    if (fm_type_is_interval(from) || fm_type_is_interval(to)) return exists_interval(from, to);
    if (fm_type_eq(from, to)) return true;
    switch (to->id) {
    case FM_TYPE_BINARY:
        return from->id == FM_TYPE_STRING || (!ansi && fm_type_is_integer(from));
    case FM_TYPE_BOOL:
        return from->id == FM_TYPE_STRING || fm_type_is_numeric(from) ||
               (!ansi && (from->id == FM_TYPE_DATE || from->id == FM_TYPE_TIMESTAMP));
    case FM_TYPE_DATE:
    case FM_TYPE_TIMESTAMP_NTZ: return from->id == FM_TYPE_STRING || is_datetime(from);
    case FM_TYPE_TIMESTAMP:
        return from->id == FM_TYPE_STRING || is_datetime(from) || fm_type_is_numeric(from) ||
               (!ansi && from->id == FM_TYPE_BOOL);
    case FM_TYPE_NULL: return false;
    default: /* numbers */
        return from->id == FM_TYPE_STRING || from->id == FM_TYPE_BOOL || fm_type_is_numeric(from) ||
               from->id == FM_TYPE_TIMESTAMP || (!ansi && from->id == FM_TYPE_DATE);
    }
}

/* --- which can fail ---------------------------------------------------------------------------------- */

/* Whether every value of `from` has one in `to`. */
static bool total(const fm_type *from, const fm_type *to)
{
    if (from->id == FM_TYPE_NULL || to->id == FM_TYPE_STRING || fm_type_eq(from, to)) return true;
    if (fm_type_is_nested(from)) {
        for (int32_t i = 0; i < from->n_fields; i++)
            if (!total(from->fields[i].type, to->fields[i].type)) return false;
        return true;
    }
    if (from->id == FM_TYPE_STRING) return to->id == FM_TYPE_BINARY;
    if (to->id == FM_TYPE_BOOL) return true;
    if (to->id == FM_TYPE_DECIMAL && (fm_type_is_integer(from) || from->id == FM_TYPE_DECIMAL)) {
        int p, s;
        fm_decimal_of_type(from, &p, &s);
        return to->precision - to->scale > p - s ||
               (to->precision - to->scale == p - s && to->scale >= s);
    }
    if (from->id == FM_TYPE_BOOL) return to->id != FM_TYPE_DECIMAL;
    if (is_float(to)) return fm_type_is_numeric(from) || from->id == FM_TYPE_TIMESTAMP;
    if (fm_type_is_integer(from) && fm_type_is_integer(to)) return to->id >= from->id;
    if (is_datetime(from) && is_datetime(to)) return from->id != FM_TYPE_DATE;
    return false;
}

bool fm_cast_can_fail(const fm_expr *cast)
{
    return cast->ansi && !cast->try_cast && !total(cast->args[0]->type, cast->type);
}

/* --- values that do not fit -------------------------------------------------------------------------- */

fm_status fm_cast_null(fm_casting *c, int64_t i)
{
    if (!c->valid) {
        int64_t words = fm_bit_words(c->in->len);
        c->valid = fm_arena_buffer(c->arena, (size_t)words * 8, false);
        if (!c->valid) return fm_no_memory(c->arena, c->err);
        if (c->in->validity)
            memcpy(c->valid, c->in->validity, (size_t)words * 8);
        else
            fm_bits_fill(c->valid, c->in->len);
        c->out->validity = c->valid;
    }
    fm_bit_clear(c->valid, i);
    return FM_OK;
}

/* As Spark quotes a value: letters behind a number say its type. */
static void add_value(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out)
{
    const char *before = "", *after = "";
    switch (v->type->id) {
    case FM_TYPE_STRING: before = after = "'"; break;
    case FM_TYPE_I8: after = "Y"; break;
    case FM_TYPE_I16: after = "S"; break;
    case FM_TYPE_I64: after = "L"; break;
    case FM_TYPE_F64: after = "D"; break;
    case FM_TYPE_DECIMAL: after = "BD"; break;
    case FM_TYPE_TIMESTAMP: before = "TIMESTAMP '", after = "'"; break;
    case FM_TYPE_DATE: before = "DATE '", after = "'"; break;
    default: break;
    }
    fm_strbuf_add_c(out, before);
    fm_value_text(v, i, zone, out);
    fm_strbuf_add_c(out, after);
}

static fm_status fail_interval(const fm_casting *c, fm_str text, const char *to)
{
    bool months = c->to->id == FM_TYPE_INTERVAL_YM;
    return fm_fail(c->err, FM_INVALID,
                   months ? "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING"
                          : "INVALID_INTERVAL_FORMAT.UNMATCHED_FORMAT_STRING_WITH_NOTICE",
                   "Error parsing '%.*s' to interval. Interval string must match %s format of \"%s\" when cast to "
                   "%s, as in %s. Use `try_cast` to tolerate malformed input and return NULL instead.",
                   FM_STR_ARG(text), months ? "year-month" : "day-time", to, to,
                   months ? "'1-2'" : "'1 02:03:04'");
}

fm_status fm_cast_bad(fm_casting *c, int64_t i, fm_cast_fault fault)
{
    fm_strbuf value = {0}, from = {0}, to = {0};
    fm_status st;
    /* What is no interval, or does not fit one, is an error without ANSI, too. */
    bool interval = fault == FM_CAST_MALFORMED && fm_type_is_interval(c->to) && c->in->type->id == FM_TYPE_STRING;
    bool always = interval || (fault != FM_CAST_MALFORMED && (fm_type_is_interval(c->to) || fm_type_is_interval(c->in->type)));
    if (c->mode == FM_CAST_TRY || (c->mode == FM_CAST_LEGACY && !always)) return fm_cast_null(c, i);
    fm_type_sql(c->in->type, &from);
    fm_type_sql(c->to, &to);
    if (fault == FM_CAST_RANGE) {
        fm_value_text(c->in, i, c->conf->zone, &value);
        st = fm_fail(c->err, FM_INVALID, "NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION",
                     "The %.*s cannot be represented as Decimal(%d, %d). If necessary set "
                     "\"spark.sql.ansi.enabled\" to \"false\" to bypass this error, and return NULL instead.",
                     FM_STR_ARG(fm_strbuf_str(&value)), c->to->precision, c->to->scale);
    } else if (interval) {
        st = fail_interval(c, fm_vec_str(c->in, i), to.ptr ? to.ptr : "");
    } else if (fault == FM_CAST_BEYOND) {
        st = fm_fail(c->err, FM_INVALID, "NUMERIC_OUT_OF_SUPPORTED_RANGE",
                     "The value %.*s cannot be interpreted as a numeric since it has more than 38 digits.",
                     FM_STR_ARG(fm_vec_str(c->in, i)));
    } else if (fault == FM_CAST_OVERFLOWS) {
        add_value(c->in, i, c->conf->zone, &value);
        st = fm_fail(c->err, FM_INVALID, "CAST_OVERFLOW",
                     "The value %.*s of the type \"%s\" cannot be cast to \"%s\" due to an overflow. Use "
                     "`try_cast` to tolerate overflow and return NULL instead.",
                     FM_STR_ARG(fm_strbuf_str(&value)), from.ptr ? from.ptr : "", to.ptr ? to.ptr : "");
    } else {
        add_value(c->in, i, c->conf->zone, &value);
        st = fm_fail(c->err, FM_INVALID, "CAST_INVALID_INPUT",
                     "The value %.*s of the type \"%s\" cannot be cast to \"%s\" because it is malformed. "
                     "Correct the value as per the syntax, or change its target type. Use `try_cast` to "
                     "tolerate malformed input and return NULL instead.",
                     FM_STR_ARG(fm_strbuf_str(&value)), from.ptr ? from.ptr : "", to.ptr ? to.ptr : "");
    }
    fm_strbuf_fini(&value);
    fm_strbuf_fini(&from);
    fm_strbuf_fini(&to);
    return st;
}

/* --- running ----------------------------------------------------------------------------------------- */

static fm_status dispatch(fm_casting *c)
{
    const fm_type *from = c->in->type, *to = c->to;
    if (to->id == FM_TYPE_STRING) return fm_cast_to_string(c);
    if (from->id == FM_TYPE_STRING) return fm_cast_from_string(c);
    if (fm_type_is_interval(from) || fm_type_is_interval(to) || is_datetime(from) || is_datetime(to))
        return fm_cast_time(c);
    if (to->id == FM_TYPE_DECIMAL) return fm_cast_to_decimal(c);
    if (from->id == FM_TYPE_DECIMAL) return fm_cast_from_decimal(c);
    return fm_cast_number(c);
}

/* Same type, though nullability inside may differ. */
static bool same_layout(const fm_type *from, const fm_type *to)
{
    return fm_type_eq(from, to) || (from->id == FM_TYPE_STRING && to->id == FM_TYPE_BINARY) ||
           (from->id == FM_TYPE_BINARY && to->id == FM_TYPE_STRING);
}

fm_status fm_cast_run(const fm_vec *in, const fm_type *to, fm_cast_mode mode,
                      const fm_session_conf *conf, fm_arena *arena, fm_vec *out, fm_error *err)
{
    fm_casting c = {.in = in, .to = to, .mode = mode, .conf = conf, .arena = arena, .err = err,
                    .out = out};
    if (in->type->id == FM_TYPE_NULL) return fm_vec_nulls(out, to, in->len, arena, err);
    if (same_layout(in->type, to)) {
        *out = *in;
        out->type = to;
        return FM_OK;
    }
    if (fm_type_is_nested(to)) return fm_cast_nested(&c);
    FM_TRY(fm_vec_init(out, to, in->len, arena, err));
    out->validity = in->validity;
    FM_TRY(dispatch(&c));
    fm_vec_clear_nulls(out);
    return FM_OK;
}

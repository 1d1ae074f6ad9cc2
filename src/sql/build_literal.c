/* sql/build_literal.c: numbers, texts, dates, intervals. */
#include "sql/build.h"

#include <math.h>

#include "base/checked.h"
#include "base/limits.h"
#include "base/time_text.h"
#include "sql/quoted.h"

static fm_expr *placed(fm_parse *p, fm_expr *e, fm_pos pos)
{
    if (!e) {
        fm_parse_no_memory(p);
        return NULL;
    }
    e->pos = pos;
    e->nodes = 1;
    bool fits = pos.to > pos.from && (size_t)pos.to <= p->text.len;
    if (fits) e->sql = (fm_str){p->text.ptr + pos.from, (size_t)(pos.to - pos.from)};
    return e;
}

/* ---- Texts --------------------------------------------------------------------------------------------------------- */

/* 'a' 'b' is 'ab'. */
fm_expr *fm_build_strings(fm_parse *p, fm_names parts)
{
    size_t len = 0;

    if (parts.n == 0) return NULL;
    if (parts.n == 1) return placed(p, fm_expr_literal_str(p->arena, fm_type_string(), parts.items[0]), parts.pos);
    for (int32_t i = 0; i < parts.n; i++) len += parts.items[i].len;
    char *text = fm_arena_alloc(p->arena, len + 1, 1), *end = text;
    if (!text) {
        fm_parse_no_memory(p);
        return NULL;
    }
    for (int32_t i = 0; i < parts.n; i++) {
        memcpy(end, parts.items[i].ptr, parts.items[i].len);
        end += parts.items[i].len;
    }
    return placed(p, fm_expr_literal_str(p->arena, fm_type_string(), (fm_str){text, len}), parts.pos);
}

/* A word of the syntax as a text. */
fm_expr *fm_build_word(fm_parse *p, const fm_token *t)
{
    return placed(p, fm_expr_literal_str(p->arena, fm_type_string(), t->text), t->pos);
}

fm_expr *fm_build_null(fm_parse *p, const fm_token *t) { return placed(p, fm_expr_literal_null(p->arena, fm_type_null()), t->pos); }

fm_expr *fm_build_bool(fm_parse *p, const fm_token *t, bool value) { return placed(p, fm_expr_literal_bool(p->arena, value), t->pos); }

/* ---- Numbers ------------------------------------------------------------------------------------------------------- */

static fm_expr *out_of_range(fm_parse *p, fm_str text, fm_pos pos, const char *type, const char *min, const char *max)
{
    fm_parse_fail(p, pos, FM_INVALID, "INVALID_NUMERIC_LITERAL_RANGE",
                  "Numeric literal %.*s is outside the valid range for %s with minimum value of %s and maximum value of %s. Please adjust the value "
                  "accordingly.",
                  (int)(text.len > 60 ? 60 : text.len), text.ptr, type, min, max);
    return NULL;
}

static fm_expr *too_many_digits(fm_parse *p, int precision, fm_pos pos)
{
    fm_parse_fail(p, pos, FM_INVALID, "DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION", "Decimal precision %d exceeds max precision %d.", precision,
                  FM_DECIMAL_PRECISION_MAX);
    return NULL;
}

/* Digits with a point or an exponent; the type is as wide as they are. Rule: Spark, DecimalType.fromDecimal. */
static fm_expr *decimal(fm_parse *p, fm_str text, fm_pos pos)
{
    int64_t digits = 0, scale = 0, exponent = 0;
    bool point = false, leading = true;
    fm_i128 unscaled;

    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '.') point = true;
        if (c == 'e' || c == 'E') {
            fm_str rest = {text.ptr + i + 1, text.len - i - 1};
            if (!fm_str_to_i64(rest, &exponent) || exponent < -1000 || exponent > 1000) return too_many_digits(p, 1000, pos);
            break;
        }
        if (c < '0' || c > '9') continue;
        leading &= c == '0';
        digits += !leading || point;
        scale += point;
    }
    scale -= exponent;
    if (scale < 0) {
        digits -= scale;
        scale = 0;
    }
    if (digits < scale) digits = scale;
    if (digits < 1) digits = 1;
    bool fits = digits <= FM_DECIMAL_PRECISION_MAX && fm_text_to_decimal(text, (int)digits, (int)scale, &unscaled);
    if (!fits) return too_many_digits(p, (int)digits, pos);
    const fm_type *type = fm_type_decimal(p->arena, (int)digits, (int)scale);
    return placed(p, type ? fm_expr_literal_decimal(p->arena, type, unscaled) : NULL, pos);
}

/* Without a suffix INT, or the first of BIGINT and DECIMAL that holds it. */
static fm_expr *integer(fm_parse *p, fm_str text, fm_str digits, char suffix, fm_pos pos)
{
    int64_t x;
    bool fits = fm_str_to_i64(digits, &x);

    switch (suffix) {
    case 'Y':
        if (!fits || x != (int8_t)x) return out_of_range(p, text, pos, "tinyint", "-128", "127");
        return placed(p, fm_expr_literal_i64(p->arena, fm_type_simple(FM_TYPE_I8), x), pos);
    case 'S':
        if (!fits || x != (int16_t)x) return out_of_range(p, text, pos, "smallint", "-32768", "32767");
        return placed(p, fm_expr_literal_i64(p->arena, fm_type_simple(FM_TYPE_I16), x), pos);
    case 'L':
        if (!fits) return out_of_range(p, text, pos, "bigint", "-9223372036854775808", "9223372036854775807");
        return placed(p, fm_expr_literal_i64(p->arena, fm_type_i64(), x), pos);
    default:
        if (!fits) return decimal(p, digits, pos);
        if (x != (int32_t)x) return placed(p, fm_expr_literal_i64(p->arena, fm_type_i64(), x), pos);
        return placed(p, fm_expr_literal_i32(p->arena, (int32_t)x), pos);
    }
}

static fm_expr *floating(fm_parse *p, fm_str text, fm_str digits, bool is_float, fm_pos pos)
{
    double x;

    if (!fm_text_to_double(digits, &x)) {
        fm_parse_fail(p, pos, FM_INVALID, "PARSE_SYNTAX_ERROR", "Syntax error at or near '%.*s': this is no number.", FM_STR_ARG(text));
        return NULL;
    }
    if (is_float && !isfinite((float)x)) return out_of_range(p, text, pos, "float", "-3.4028234663852886E+38", "3.4028234663852886E+38");
    if (!isfinite(x)) return out_of_range(p, text, pos, "double", "-1.7976931348623157E+308", "1.7976931348623157E+308");
    return placed(p, fm_expr_literal_f64(p->arena, is_float ? fm_type_simple(FM_TYPE_F32) : fm_type_f64(), x), pos);
}

/* 1, 1L, 1.5, 1e3, 1.5D, 2F, 1BD; the sign belongs to it: -2147483648 is an INT though 2147483648 is not. */
fm_expr *fm_build_number(fm_parse *p, const fm_token *sign, const fm_token *t)
{
    fm_pos pos = sign ? fm_pos_span(sign->pos, t->pos) : t->pos;
    fm_str text = sign ? fm_arena_printf(p->arena, "-%.*s", (int)t->text.len, t->text.ptr) : t->text;

    if (!text.ptr) {
        fm_parse_no_memory(p);
        return NULL;
    }
    char last = (char)(text.ptr[text.len - 1] & ~0x20); /* upper case */
    char before = text.len > 1 ? (char)(text.ptr[text.len - 2] & ~0x20) : 0;
    fm_str body = {text.ptr, text.len - 1};
    if (last == 'Y' || last == 'S' || last == 'L') return integer(p, text, body, last, pos);
    if (last == 'D' && before == 'B') return decimal(p, (fm_str){text.ptr, text.len - 2}, pos);
    if (last == 'D' || last == 'F') return floating(p, text, body, last == 'F', pos);
    bool exponent = memchr(text.ptr, 'e', text.len) || memchr(text.ptr, 'E', text.len);
    if (exponent) return floating(p, text, text, false, pos);
    return memchr(text.ptr, '.', text.len) ? decimal(p, text, pos) : integer(p, text, text, 0, pos);
}

/* ---- DATE '...', TIMESTAMP '...', X'...' ----------------------------------------------------------------------------- */

static fm_expr *invalid_typed(fm_parse *p, const char *type, const fm_token *value)
{
    fm_parse_fail(p, value->pos, FM_INVALID, "INVALID_TYPED_LITERAL", "The value of the typed literal \"%s\" is invalid: '%.*s'.", type,
                  FM_STR_ARG(value->text));
    return NULL;
}

/* The zone of the session decides what a text without one means: the analyzer folds this cast. Its name says that it was
 * a literal. */
static fm_expr *timestamp(fm_parse *p, const fm_token *value, fm_pos pos)
{
    int64_t us;

    if (!fm_text_to_timestamp(value->text, fm_zone_utc(), &us)) return invalid_typed(p, "TIMESTAMP", value);
    fm_expr *text = fm_build_word(p, value);
    fm_expr *cast = fm_build_cast(p, NULL, value, text, &(fm_token){.text = FM_STR("TIMESTAMP"), .pos = pos}, false);
    if (!cast) return NULL;
    cast->pos = pos;
    cast->name = FM_STR("TIMESTAMP");
    cast->ansi = true;
    return cast;
}

fm_expr *fm_build_typed(fm_parse *p, const fm_token *type, const fm_token *value)
{
    fm_pos pos = fm_pos_span(type->pos, value->pos);
    int32_t day;
    int64_t us;
    fm_str bytes;

    if (fm_str_eq_ci(type->text, FM_STR("DATE"))) {
        if (!fm_text_to_date(value->text, &day)) return invalid_typed(p, "DATE", value);
        return placed(p, fm_expr_literal_i64(p->arena, fm_type_simple(FM_TYPE_DATE), day), pos);
    }
    if (fm_str_eq_ci(type->text, FM_STR("TIMESTAMP_NTZ"))) {
        if (!fm_text_to_timestamp_ntz(value->text, &us)) return invalid_typed(p, "TIMESTAMP_NTZ", value);
        return placed(p, fm_expr_literal_i64(p->arena, fm_type_simple(FM_TYPE_TIMESTAMP_NTZ), us), pos);
    }
    if (!fm_str_eq_ci(type->text, FM_STR("X"))) return timestamp(p, value, pos);
    if (!fm_unhex(p->arena, value->text, &bytes)) return invalid_typed(p, "X", value);
    if (!bytes.ptr) fm_parse_no_memory(p);
    return placed(p, fm_expr_literal_str(p->arena, fm_type_simple(FM_TYPE_BINARY), bytes), pos);
}

fm_expr *fm_build_interval(fm_parse *p, const fm_token *t)
{
    const fm_interval_token *x = t->interval;
    int64_t us;

    if (x->has_months && x->has_time) {
        fm_parse_fail(p, t->pos, FM_INVALID, "_LEGACY_ERROR_TEMP_0029", "Cannot mix year-month and day-time fields: %.*s.", FM_STR_ARG(t->text));
        return NULL;
    }
    const fm_type *type = fm_type_interval(p->arena, x->unit_from, x->unit_to);
    if (!type) {
        fm_parse_no_memory(p);
        return NULL;
    }
    if (x->has_months) return placed(p, fm_expr_literal_i64(p->arena, type, x->value.months), t->pos);
    if (!fm_mul_i64(x->value.days, FM_US_PER_DAY, &us) || !fm_add_i64(us, x->value.us, &us)) {
        fm_parse_fail(p, t->pos, FM_INVALID, "INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION", "Integer overflow while operating with intervals.");
        return NULL;
    }
    return placed(p, fm_expr_literal_i64(p->arena, type, us), t->pos);
}

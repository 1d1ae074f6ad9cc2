/* expr/java_format.c: format strings of java.util.Formatter. */
#include "expr/java_format.h"

#include <math.h>
#include <stdio.h>

#include "expr/cast.h"
#include "expr/spark_hash.h"
#include "expr/text.h"

enum { WIDTH_MAX = 1 << 20 /* characters: what is asked for is made, and a job has many rows */ };

enum { MINUS = 1, SHARP = 2, PLUS = 4, SPACE = 8, ZERO = 16, COMMA = 32, PAREN = 64, PREVIOUS = 128 };

/* %[index$][flags][width][.precision]conversion */
typedef struct spec {
    fm_str text;      /* for messages */
    int32_t index;    /* from 1; 0: the next one */
    unsigned flags;
    int32_t width, precision; /* -1: not given */
    char conversion;  /* small letter */
    bool upper;
} spec;

typedef struct printer {
    const fm_vec *args;
    int32_t n;
    int64_t lane;
    fm_strbuf *out;
    fm_error *err;
} printer;

static fm_status fail(const printer *p, const spec *s, const char *why)
{
    return fm_fail(p->err, FM_INVALID, "FLOODMARK_FORMAT_STRING", "The format specifier '%.*s' is wrong: %s.", FM_STR_ARG(s->text),
                   why);
}

/* ---- reading a specifier ----------------------------------------------------------------------------------- */

/* Digits at *at as a number; -1: there are none; INT32_MAX when too large. */
static int32_t read_number(fm_str format, size_t *at)
{
    size_t start = *at;
    int64_t x = 0;
    for (; *at < format.len && format.ptr[*at] >= '0' && format.ptr[*at] <= '9'; ++*at)
        if (x < INT32_MAX) x = x * 10 + format.ptr[*at] - '0';
    return *at == start ? -1 : x > INT32_MAX ? INT32_MAX : (int32_t)x;
}

static unsigned flag_of(char c)
{
    static const char letters[] = "-#+ 0,(<";
    const char *found = c ? strchr(letters, c) : NULL;
    return found ? 1u << (found - letters) : 0;
}

/* Behind '%'. Moves *at behind the conversion. */
static fm_status read_spec(const printer *p, fm_str format, size_t start, size_t *at, spec *s)
{
    size_t mark = *at;
    int32_t number = read_number(format, at);
    *s = (spec){.width = -1, .precision = -1};
    s->text = (fm_str){format.ptr + start, format.len - start < 20 ? format.len - start : 20};
    if (number >= 0 && *at < format.len && format.ptr[*at] == '$') {
        s->index = number;
        ++*at;
        if (number == 0) return fail(p, s, "arguments are numbered from 1");
    } else {
        *at = mark; /* flags and a width */
    }
    for (unsigned flag; *at < format.len && (flag = flag_of(format.ptr[*at])); ++*at) {
        if (s->flags & flag) return fail(p, s, "a flag stands there twice");
        s->flags |= flag;
    }
    s->width = read_number(format, at);
    if (*at < format.len && format.ptr[*at] == '.') {
        ++*at;
        s->precision = read_number(format, at);
        if (s->precision < 0) return fail(p, s, "'.' is followed by digits");
    }
    if (*at >= format.len) return fail(p, s, "it ends without a conversion");
    s->conversion = format.ptr[(*at)++];
    s->text.len = *at - start;
    if (strchr("BHSCXEGAT", s->conversion)) {
        s->upper = true;
        s->conversion = (char)(s->conversion + 32);
    }
    if (!strchr("bhscdoxefgat%n", s->conversion)) return fail(p, s, "there is no such conversion");
    if (s->width > WIDTH_MAX || s->precision > WIDTH_MAX) return fail(p, s, "more than 1048576 characters");
    return FM_OK;
}

/* ---- padding ----------------------------------------------------------------------------------------------- */

/* UTF-16 units: what Java counts. */
static int64_t units_of(fm_str text)
{
    int64_t n = 0;
    for (size_t at = 0; at < text.len; at += fm_char_at(text, at))
        n += 1 + ((unsigned char)text.ptr[at] >= 0xF0);
    return n;
}

static void add_padded(const printer *p, const spec *s, fm_str text)
{
    int64_t pad = s->width - units_of(text);
    for (int64_t i = 0; !(s->flags & MINUS) && i < pad; i++) fm_strbuf_add_char(p->out, ' ');
    fm_strbuf_add(p->out, text);
    for (int64_t i = 0; (s->flags & MINUS) && i < pad; i++) fm_strbuf_add_char(p->out, ' ');
}

/* text cut to the precision, in capitals if they are asked for, padded. */
static fm_status add_text(const printer *p, const spec *s, fm_str text)
{
    fm_strbuf upper = {0};
    fm_status st = FM_OK;
    if (s->precision >= 0) {
        size_t at = 0;
        int64_t left = s->precision;
        while (at < text.len && (left -= 1 + ((unsigned char)text.ptr[at] >= 0xF0)) >= 0) at += fm_char_at(text, at);
        text.len = at;
    }
    if (s->upper) {
        st = fm_text_upper(text, &upper, p->err);
        text = fm_strbuf_str(&upper);
    }
    if (st == FM_OK) add_padded(p, s, text);
    fm_strbuf_fini(&upper);
    return st;
}

/* ---- values ------------------------------------------------------------------------------------------------ */

static bool is_whole(const fm_type *t)
{
    switch (t->id) {
    case FM_TYPE_I8:
    case FM_TYPE_I16:
    case FM_TYPE_I32:
    case FM_TYPE_I64:
    case FM_TYPE_DATE:
    case FM_TYPE_TIMESTAMP:
    case FM_TYPE_TIMESTAMP_NTZ:
    case FM_TYPE_INTERVAL_YM:
    case FM_TYPE_INTERVAL_DT: return true;
    default: return false;
    }
}

static int64_t whole_at(const fm_vec *v, int64_t i)
{
    switch (fm_type_width(v->type)) {
    case 1: return fm_vec_i8(v)[i];
    case 2: return fm_vec_i16(v)[i];
    case 4: return fm_vec_i32(v)[i];
    default: return fm_vec_i64(v)[i];
    }
}

static bool is_float(const fm_type *t) { return t->id == FM_TYPE_F32 || t->id == FM_TYPE_F64; }

static double float_at(const fm_vec *v, int64_t i)
{
    return v->type->id == FM_TYPE_F32 ? (double)fm_vec_f32(v)[i] : fm_vec_f64(v)[i];
}

/* toString() of what Spark hands over. */
static void add_value(const fm_vec *v, int64_t i, fm_strbuf *out)
{
    if (is_whole(v->type))
        fm_strbuf_printf(out, "%lld", (long long)whole_at(v, i));
    else
        fm_value_java_text(v, i, NULL, out);
}

/* hashCode() of it. */
static uint32_t hash_of(const fm_vec *v, int64_t i)
{
    uint64_t bits;
    if (v->type->id == FM_TYPE_BOOL) return fm_vec_bool(v)[i] ? 1231 : 1237;
    if (v->type->id == FM_TYPE_F32) {
        uint32_t word;
        memcpy(&word, &fm_vec_f32(v)[i], 4);
        return word;
    }
    if (v->type->id == FM_TYPE_F64) {
        memcpy(&bits, &fm_vec_f64(v)[i], 8);
    } else if (is_whole(v->type)) {
        if (fm_type_width(v->type) < 8) return (uint32_t)whole_at(v, i);
        bits = (uint64_t)whole_at(v, i);
    } else {
        return (uint32_t)fm_spark_murmur3(v, i, FM_SPARK_HASH_SEED);
    }
    return (uint32_t)(bits ^ bits >> 32);
}

/* ---- %b %h %s %c ------------------------------------------------------------------------------------------- */

static fm_status general(const printer *p, const spec *s, const fm_vec *v, int64_t i, bool null)
{
    fm_strbuf text = {0};
    fm_status st;
    if (s->flags & ~(unsigned)(MINUS | PREVIOUS)) return fail(p, s, "only the flag '-' goes with this conversion");
    if ((s->flags & MINUS) && s->width < 0) return fail(p, s, "the flag '-' needs a width");
    if (s->conversion == 'b')
        fm_strbuf_add_c(&text, null || (v->type->id == FM_TYPE_BOOL && !fm_vec_bool(v)[i]) ? "false" : "true");
    else if (null)
        fm_strbuf_add_c(&text, "null");
    else if (s->conversion == 'h')
        fm_strbuf_printf(&text, "%x", hash_of(v, i));
    else
        add_value(v, i, &text);
    st = fm_strbuf_ok(&text) ? add_text(p, s, fm_strbuf_str(&text)) : fm_no_memory(NULL, p->err);
    fm_strbuf_fini(&text);
    return st;
}

static fm_status character(const printer *p, const spec *s, const fm_vec *v, int64_t i, bool null)
{
    char utf8[4];
    int64_t c;
    if (s->precision >= 0) return fail(p, s, "a character has no precision");
    if (s->flags & ~(unsigned)(MINUS | PREVIOUS)) return fail(p, s, "only the flag '-' goes with this conversion");
    if ((s->flags & MINUS) && s->width < 0) return fail(p, s, "the flag '-' needs a width");
    if (null) return add_text(p, s, FM_STR("null"));
    if (!is_whole(v->type) || fm_type_width(v->type) == 8) return fail(p, s, "a character is given by its code point, an INT");
    c = whole_at(v, i);
    if (c < 0 || c > 0x10FFFF) return fail(p, s, "there is no such code point");
    return add_text(p, s, (fm_str){utf8, fm_char_encode((uint32_t)c, utf8)});
}

/* ---- %d %o %x ---------------------------------------------------------------------------------------------- */

static fm_status check_number_flags(const printer *p, const spec *s)
{
    if ((s->flags & (MINUS | ZERO)) && s->width < 0) return fail(p, s, "the flags '-' and '0' need a width");
    if ((s->flags & PLUS && s->flags & SPACE) || (s->flags & MINUS && s->flags & ZERO))
        return fail(p, s, "two of the flags contradict each other");
    return FM_OK;
}

/* Sign, digits with commas and zeros, and what follows them. `digits` may hold a point. */
static void add_signed(const printer *p, const spec *s, bool negative, fm_str digits)
{
    fm_strbuf text = {0};
    size_t whole = 0, sign;
    int64_t zeros;
    while (whole < digits.len && digits.ptr[whole] >= '0' && digits.ptr[whole] <= '9') whole++;
    if (negative)
        fm_strbuf_add_char(&text, s->flags & PAREN ? '(' : '-');
    else if (s->flags & (PLUS | SPACE))
        fm_strbuf_add_char(&text, s->flags & PLUS ? '+' : ' ');
    sign = text.len;
    zeros = s->flags & ZERO ? s->width - (int64_t)sign - (negative && s->flags & PAREN) - (int64_t)digits.len : 0;
    if (s->flags & COMMA && whole > 0) zeros -= (int64_t)((whole - 1) / 3);
    for (int64_t k = 0; k < zeros; k++) fm_strbuf_add_char(&text, '0');
    for (size_t k = 0; k < digits.len; k++) {
        if (s->flags & COMMA && k > 0 && k < whole && (whole - k) % 3 == 0) fm_strbuf_add_char(&text, ',');
        fm_strbuf_add_char(&text, digits.ptr[k]);
    }
    if (negative && s->flags & PAREN) fm_strbuf_add_char(&text, ')');
    add_padded(p, s, fm_strbuf_str(&text));
    if (!fm_strbuf_ok(&text)) p->out->failed = true;
    fm_strbuf_fini(&text);
}

static fm_status integer(const printer *p, const spec *s, const fm_vec *v, int64_t i, bool null)
{
    char digits[32];
    uint64_t bits;
    int64_t x;
    int n, width;
    if (s->precision >= 0) return fail(p, s, "a whole number has no precision");
    FM_TRY(check_number_flags(p, s));
    if (s->conversion == 'd' ? s->flags & SHARP : s->flags & (COMMA | (null ? 0u : PLUS | SPACE | PAREN)))
        return fail(p, s, "one of the flags does not go with this conversion");
    if (null) {
        add_padded(p, s, s->upper ? FM_STR("NULL") : FM_STR("null"));
        return FM_OK;
    }
    if (!is_whole(v->type)) return fail(p, s, "its argument is not a whole number");
    x = whole_at(v, i);
    if (s->conversion == 'd') {
        n = snprintf(digits, sizeof digits, "%llu", x < 0 ? 0 - (unsigned long long)x : (unsigned long long)x);
        add_signed(p, s, x < 0, (fm_str){digits, (size_t)n});
        return FM_OK;
    }
    width = (int)fm_type_width(v->type);
    bits = width == 8 ? (uint64_t)x : (uint64_t)x & ((UINT64_C(1) << 8 * width) - 1);
    n = snprintf(digits, sizeof digits, s->conversion == 'o' ? "%llo" : s->upper ? "%llX" : "%llx", (unsigned long long)bits);
    {
        fm_strbuf text = {0};
        if (s->flags & SHARP) fm_strbuf_add_c(&text, s->conversion == 'o' ? "0" : s->upper ? "0X" : "0x");
        for (int64_t k = (int64_t)text.len + n; s->flags & ZERO && k < s->width; k++) fm_strbuf_add_char(&text, '0');
        fm_strbuf_add(&text, (fm_str){digits, (size_t)n});
        add_padded(p, s, fm_strbuf_str(&text));
        fm_strbuf_fini(&text);
    }
    return FM_OK;
}

/* ---- %e %f %g ---------------------------------------------------------------------------------------------- */

/* The shortest digits of a number: 0.d1d2... times ten to the power of point. */
typedef struct shortest {
    char at[FM_DOUBLE_TEXT_SIZE];
    int count, point;
} shortest;

static shortest shortest_of(double x)
{
    char text[FM_DOUBLE_TEXT_SIZE];
    size_t len = fm_double_text(x, text), i = 0;
    shortest d = {.count = 0};
    bool point_seen = false;
    for (; i < len && text[i] != 'E'; i++) {
        if (text[i] == '.') {
            point_seen = true;
        } else if (text[i] != '0' || d.count) {
            d.at[d.count++] = text[i];
            d.point += !point_seen;
        } else {
            d.point -= point_seen;
        }
    }
    if (i < len) {
        int exponent = 0;
        bool minus = text[++i] == '-';
        for (i += minus; i < len; i++) exponent = exponent * 10 + text[i] - '0';
        d.point += minus ? -exponent : exponent;
    }
    while (d.count && d.at[d.count - 1] == '0') d.count--;
    if (!d.count) d.point = 0;
    return d;
}

/* To `keep` digits, half up. */
static void round_shortest(shortest *d, int64_t keep)
{
    bool up;
    if (keep >= d->count) return;
    if (keep < 0) {
        d->count = d->point = 0;
        return;
    }
    up = d->at[keep] >= '5';
    d->count = (int)keep;
    if (!up) return;
    while (d->count && d->at[d->count - 1] == '9') d->count--;
    if (d->count) {
        d->at[d->count - 1]++;
    } else {
        d->at[0] = '1';
        d->count = 1;
        d->point++;
    }
}

static void add_places(fm_strbuf *out, const shortest *d, int64_t from, int64_t n)
{
    for (int64_t i = from; i < from + n; i++) fm_strbuf_add_char(out, i >= 0 && i < d->count ? d->at[i] : '0');
}

static void add_fixed(fm_strbuf *out, shortest d, int32_t precision, bool point)
{
    round_shortest(&d, (int64_t)d.point + precision);
    if (d.point > 0)
        add_places(out, &d, 0, d.point);
    else
        fm_strbuf_add_char(out, '0');
    if (precision > 0 || point) fm_strbuf_add_char(out, '.');
    add_places(out, &d, d.point, precision);
}

static void add_exponent(fm_strbuf *out, shortest d, int32_t precision, bool point, bool upper)
{
    int exponent;
    round_shortest(&d, (int64_t)precision + 1);
    exponent = d.count ? d.point - 1 : 0;
    add_places(out, &d, 0, 1);
    if (precision > 0 || point) fm_strbuf_add_char(out, '.');
    add_places(out, &d, 1, precision);
    fm_strbuf_printf(out, upper ? "E%c%02d" : "e%c%02d", exponent < 0 ? '-' : '+', exponent < 0 ? -exponent : exponent);
}

/* %g: so many digits in all, with an exponent where there would be too many places. */
static void add_short(fm_strbuf *out, shortest d, int32_t precision, bool upper)
{
    shortest rounded = d;
    if (precision == 0) precision = 1;
    round_shortest(&rounded, precision);
    if (!d.count)
        add_fixed(out, d, precision - 1, false);
    else if (rounded.point - 1 < -4 || rounded.point > precision)
        add_exponent(out, d, precision - 1, false, upper);
    else
        add_fixed(out, d, precision - rounded.point, false);
}

static fm_status floating(const printer *p, const spec *s, const fm_vec *v, int64_t i, bool null)
{
    int32_t precision = s->precision < 0 ? 6 : s->precision;
    bool point = s->flags & SHARP;
    fm_strbuf text = {0};
    spec plain = *s;
    double x;
    FM_TRY(check_number_flags(p, s));
    if ((s->conversion == 'e' && s->flags & COMMA) || (s->conversion == 'g' && s->flags & SHARP))
        return fail(p, s, "one of the flags does not go with this conversion");
    if (s->conversion == 'a') return fm_fail(p->err, FM_UNSUPPORTED, "FLOODMARK_FORMAT_NOT_SUPPORTED", "The conversion %%a is not built.");
    if (null) return add_text(p, s, FM_STR("null"));
    if (!is_float(v->type)) return fail(p, s, "its argument is not a FLOAT or DOUBLE");
    x = float_at(v, i);
    if (!isfinite(x)) {
        plain.flags &= ~(unsigned)(ZERO | COMMA);
        if (isnan(x)) plain.flags &= MINUS;
        add_signed(p, &plain, !isnan(x) && x < 0,
                   isnan(x) ? s->upper ? FM_STR("NAN") : FM_STR("NaN") : s->upper ? FM_STR("INFINITY") : FM_STR("Infinity"));
        return FM_OK;
    }
    if (s->conversion == 'f') add_fixed(&text, shortest_of(fabs(x)), precision, point);
    if (s->conversion == 'e') add_exponent(&text, shortest_of(fabs(x)), precision, point, s->upper);
    if (s->conversion == 'g') add_short(&text, shortest_of(fabs(x)), precision, s->upper);
    add_signed(p, s, signbit(x), fm_strbuf_str(&text));
    if (!fm_strbuf_ok(&text)) p->out->failed = true;
    fm_strbuf_fini(&text);
    return FM_OK;
}

/* ---- the format -------------------------------------------------------------------------------------------- */

/* %% and %n take no argument. */
static fm_status without_argument(const printer *p, const spec *s)
{
    if (s->precision >= 0) return fail(p, s, "it has no precision");
    if (s->conversion == 'n') {
        if (s->width >= 0 || s->flags) return fail(p, s, "it has neither width nor flags");
        fm_strbuf_add_char(p->out, '\n');
        return FM_OK;
    }
    if (s->flags & ~(unsigned)MINUS) return fail(p, s, "only the flag '-' goes with it");
    if ((s->flags & MINUS) && s->width < 0) return fail(p, s, "the flag '-' needs a width");
    add_padded(p, s, FM_STR("%"));
    return FM_OK;
}

static fm_status with_argument(const printer *p, const spec *s, int32_t index)
{
    const fm_vec *v;
    int64_t i;
    bool null;
    if (index < 1 || index > p->n) return fail(p, s, "there is no such argument");
    v = &p->args[index - 1];
    i = p->lane;
    null = fm_vec_is_null(v, i);
    switch (s->conversion) {
    case 'b':
    case 'h':
    case 's': return general(p, s, v, i, null);
    case 'c': return character(p, s, v, i, null);
    case 'd':
    case 'o':
    case 'x': return integer(p, s, v, i, null);
    case 't':
        return fm_fail(p->err, FM_UNSUPPORTED, "FLOODMARK_FORMAT_NOT_SUPPORTED",
                       "The conversion %%t is not built; format dates and times with date_format().");
    default: return floating(p, s, v, i, null);
    }
}

fm_status fm_java_format(fm_str format, const fm_vec *args, int32_t n, int64_t i, fm_strbuf *out, fm_error *err)
{
    printer p = {args, n, i, out, err};
    int32_t ordinary = 0, last = 0;
    for (size_t at = 0; at < format.len;) {
        size_t start = at;
        spec s;
        if (format.ptr[at] != '%') {
            const char *next = memchr(format.ptr + at, '%', format.len - at);
            at = next ? (size_t)(next - format.ptr) : format.len;
            fm_strbuf_add(out, (fm_str){format.ptr + start, at - start});
            continue;
        }
        if (out->len > FM_TEXT_SIZE_MAX)
            return fm_fail(err, FM_INVALID, "FLOODMARK_VALUE_TOO_LONG", "The result would have more than %d bytes.",
                           FM_TEXT_SIZE_MAX);
        at++;
        FM_TRY(read_spec(&p, format, start, &at, &s));
        if (s.conversion == '%' || s.conversion == 'n') {
            FM_TRY(without_argument(&p, &s));
            continue;
        }
        if (s.flags & PREVIOUS && last == 0) return fail(&p, &s, "'<' has no argument before it");
        if (!(s.flags & PREVIOUS)) last = s.index ? s.index : ++ordinary;
        s.flags &= ~(unsigned)PREVIOUS;
        FM_TRY(with_argument(&p, &s, last));
    }
    return FM_OK;
}

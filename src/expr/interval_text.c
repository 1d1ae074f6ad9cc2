/* expr/interval_text.c: intervals as text: Spark's ANSI form, what CAST reads, and the free form
 * "1 day 2 hours" of window durations and watermark delays. */
#include "expr/time_parts.h"

#include <stdio.h>

#include "base/checked.h"

static const char *const unit_names[] = {"YEAR", "MONTH", "DAY", "HOUR", "MINUTE", "SECOND"};
static const int64_t unit_us[] = {0, 0, FM_US_PER_DAY, FM_US_PER_HOUR, FM_US_PER_MINUTE, FM_US_PER_SECOND};

/* --- printing ---------------------------------------------------------------------------------------- */

static void add_units(const fm_type *type, fm_strbuf *out)
{
    fm_strbuf_add_c(out, "' ");
    fm_strbuf_add_c(out, unit_names[type->unit_from]);
    if (type->unit_from == type->unit_to) return;
    fm_strbuf_add_c(out, " TO ");
    fm_strbuf_add_c(out, unit_names[type->unit_to]);
}

void fm_interval_ym_text(int32_t months, const fm_type *type, fm_strbuf *out)
{
    int64_t magnitude = months < 0 ? -(int64_t)months : months;
    fm_strbuf_printf(out, "INTERVAL '%s", months < 0 ? "-" : "");
    if (type->unit_from == type->unit_to)
        fm_strbuf_printf(out, "%lld",
                         (long long)(type->unit_from == FM_UNIT_YEAR ? magnitude / 12 : magnitude));
    else
        fm_strbuf_printf(out, "%lld-%lld", (long long)(magnitude / 12), (long long)(magnitude % 12));
    add_units(type, out);
}

/* ss.ffffff without zeros at the end. */
static void add_seconds(uint64_t us, fm_strbuf *out)
{
    int n = 6;
    uint64_t fraction = us % 1000000;
    fm_strbuf_printf(out, "%02llu", (unsigned long long)(us / 1000000));
    if (!fraction) return;
    for (; fraction % 10 == 0; n--) fraction /= 10;
    fm_strbuf_printf(out, ".%0*llu", n, (unsigned long long)fraction);
}

void fm_interval_dt_text(int64_t us, const fm_type *type, fm_strbuf *out)
{
    uint64_t rest = us < 0 ? 0 - (uint64_t)us : (uint64_t)us;
    fm_strbuf_printf(out, "INTERVAL '%s", us < 0 ? "-" : "");
    for (int unit = type->unit_from; unit <= type->unit_to; unit++) {
        if (unit != type->unit_from) fm_strbuf_add_char(out, unit == FM_UNIT_HOUR ? ' ' : ':');
        if (unit == FM_UNIT_SECOND) {
            add_seconds(rest, out);
            break;
        }
        fm_strbuf_printf(out, unit == FM_UNIT_DAY ? "%llu" : "%02llu",
                         (unsigned long long)(rest / (uint64_t)unit_us[unit]));
        rest %= (uint64_t)unit_us[unit];
    }
    add_units(type, out);
}

/* --- reading, typed ---------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

static void skip_blanks(fm_str *s)
{
    while (s->len && is_blank(s->ptr[0])) s->ptr++, s->len--;
}

static bool skip_char(fm_str *s, char c)
{
    if (!s->len || s->ptr[0] != c) return false;
    s->ptr++, s->len--;
    return true;
}

static bool skip_word(fm_str *s, const char *word)
{
    size_t len = strlen(word);
    if (s->len < len || !fm_str_eq_ci((fm_str){s->ptr, len}, (fm_str){word, len})) return false;
    s->ptr += len, s->len -= len;
    return true;
}

static bool skip_number(fm_str *s, int64_t max, int64_t *out)
{
    int64_t x = 0;
    if (!s->len || !is_digit(s->ptr[0])) return false;
    while (s->len && is_digit(s->ptr[0])) {
        if (!fm_mul_i64(x, 10, &x) || !fm_add_i64(x, s->ptr[0] - '0', &x)) return false;
        s->ptr++, s->len--;
    }
    *out = x;
    return x <= max;
}

/* Takes "INTERVAL [sign] '...' UNITS" down to what is between the quotes; text without INTERVAL stays. False when
 * the units are not those of the type. */
static bool unwrap(fm_str *s, const fm_type *type, bool *negative)
{
    const char *close;
    fm_str rest;
    *negative = false;
    *s = fm_str_trim(*s);
    if (!skip_word(s, "INTERVAL")) return true;
    skip_blanks(s);
    if (skip_char(s, '-')) *negative = true;
    else skip_char(s, '+');
    skip_blanks(s);
    if (!skip_char(s, '\'')) return false;
    close = memchr(s->ptr, '\'', s->len);
    if (!close) return false;
    rest = (fm_str){close + 1, s->len - (size_t)(close + 1 - s->ptr)};
    s->len = (size_t)(close - s->ptr);
    skip_blanks(&rest);
    if (!skip_word(&rest, unit_names[type->unit_from])) return false;
    if (type->unit_from != type->unit_to) {
        skip_blanks(&rest);
        if (!skip_word(&rest, "TO")) return false;
        skip_blanks(&rest);
        if (!skip_word(&rest, unit_names[type->unit_to])) return false;
    }
    return rest.len == 0;
}

static void take_sign(fm_str *s, bool *negative)
{
    if (skip_char(s, '-')) *negative = !*negative;
    else skip_char(s, '+');
}

bool fm_text_to_interval_ym(fm_str text, const fm_type *type, int32_t *out)
{
    bool negative;
    int64_t years = 0, months = 0, total;
    if (!unwrap(&text, type, &negative)) return false;
    take_sign(&text, &negative);
    if (type->unit_from == FM_UNIT_YEAR && !skip_number(&text, INT32_MAX, &years)) return false;
    if (type->unit_from != type->unit_to && !skip_char(&text, '-')) return false;
    if (type->unit_to == FM_UNIT_MONTH &&
        !skip_number(&text, type->unit_from == FM_UNIT_YEAR ? 11 : (int64_t)INT32_MAX + 1, &months))
        return false;
    if (text.len) return false;
    total = years * 12 + months;
    if (negative) total = -total;
    *out = (int32_t)total;
    return total >= INT32_MIN && total <= INT32_MAX;
}

/* .f{1,9} as µs; digits beyond six are cut. */
static bool skip_fraction(fm_str *s, int64_t *us)
{
    int n = 0;
    int64_t x = 0;
    *us = 0;
    if (!skip_char(s, '.')) return true;
    for (; s->len && is_digit(s->ptr[0]); n++, s->ptr++, s->len--) {
        if (n == 9) return false;
        if (n < 6) x = x * 10 + (s->ptr[0] - '0');
    }
    for (int i = n; i < 6; i++) x *= 10;
    *us = x;
    return n > 0;
}

bool fm_text_to_interval_dt(fm_str text, const fm_type *type, int64_t *out)
{
    static const int64_t most[] = {0, 0, 0, 23, 59, 59};
    bool negative;
    int64_t total = 0;
    if (!unwrap(&text, type, &negative)) return false;
    take_sign(&text, &negative);
    for (int unit = type->unit_from; unit <= type->unit_to; unit++) {
        int64_t x, us;
        if (unit != type->unit_from && !skip_char(&text, unit == FM_UNIT_HOUR ? ' ' : ':')) return false;
        if (!skip_number(&text, unit == type->unit_from ? INT64_MAX : most[unit], &x)) return false;
        if (!fm_mul_i64(negative ? -x : x, unit_us[unit], &us) || !fm_add_i64(total, us, &total))
            return false;
    }
    if (type->unit_to == FM_UNIT_SECOND) {
        int64_t us;
        if (!skip_fraction(&text, &us)) return false;
        if (!fm_add_i64(total, negative ? -us : us, &total)) return false;
    }
    *out = total;
    return text.len == 0;
}

/* --- reading, free ----------------------------------------------------------------------------------- */

/* The text as it is read, for messages. */
typedef struct reader {
    fm_str whole, rest;
    fm_error *err;
} reader;

/* The blank-delimited word at the point reached, or around it. */
static fm_str word_here(const reader *r)
{
    const char *start = r->rest.ptr, *end = r->whole.ptr + r->whole.len, *p;
    while (start > r->whole.ptr && !is_blank(start[-1])) start--;
    while (start < end && is_blank(*start)) start++;
    if (start == end) { /* at the end: the last word */
        while (start > r->whole.ptr && is_blank(start[-1])) start--;
        end = start;
        while (start > r->whole.ptr && !is_blank(start[-1])) start--;
        return (fm_str){start, (size_t)(end - start)};
    }
    for (p = start; p < end && !is_blank(*p); p++) {}
    return (fm_str){start, (size_t)(p - start)};
}

static fm_status fail(const reader *r, const char *kind, const char *what, fm_str value, const char *after)
{
    char condition[FM_ERROR_CONDITION_SIZE];
    snprintf(condition, sizeof condition, "INVALID_INTERVAL_FORMAT.%s", kind);
    return fm_fail(r->err, FM_INVALID, condition,
                   "Error parsing '%.*s' to interval. Please ensure that the value provided is in a valid "
                   "format for defining an interval. You can reference the documentation for the correct "
                   "format. %s%.*s%s",
                   FM_STR_ARG(r->whole), what, FM_STR_ARG(value), after);
}

static bool add_scaled(int64_t *total, int64_t x, int64_t by)
{
    int64_t scaled;
    return fm_mul_i64(x, by, &scaled) && fm_add_i64(*total, scaled, total);
}

static bool add_scaled_i32(int32_t *total, int64_t x, int64_t by)
{
    int64_t sum = *total;
    if (!add_scaled(&sum, x, by) || sum < INT32_MIN || sum > INT32_MAX) return false;
    *total = (int32_t)sum;
    return true;
}

/* A unit word with its value; FM_OK, or the failure. */
static fm_status take_unit(reader *r, int64_t x, int64_t fraction_us, bool has_fraction, fm_interval *out)
{
    /* Longer names before their beginnings. */
    static const struct {
        const char *name;
        int64_t us;
        int32_t days, months;
    } units[] = {
        {"microsecond", 1, 0, 0}, {"millisecond", 1000, 0, 0}, {"second", FM_US_PER_SECOND, 0, 0},
        {"minute", FM_US_PER_MINUTE, 0, 0}, {"hour", FM_US_PER_HOUR, 0, 0}, {"day", 0, 1, 0},
        {"week", 0, 7, 0}, {"month", 0, 0, 1}, {"year", 0, 0, 12},
    };
    fm_str word = word_here(r);
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++) {
        fm_str name = fm_str_c(units[i].name);
        bool plural = word.len == name.len + 1 && (word.ptr[name.len] | 32) == 's';
        bool fits;
        if (!fm_str_eq_ci((fm_str){word.ptr, word.len - plural}, name)) continue;
        if (has_fraction && units[i].us != FM_US_PER_SECOND)
            return fail(r, "INVALID_FRACTION", "", word, " cannot have fractional part.");
        if (units[i].us)
            fits = add_scaled(&out->us, x, units[i].us) && fm_add_i64(out->us, fraction_us, &out->us);
        else if (units[i].days)
            fits = add_scaled_i32(&out->days, x, units[i].days);
        else
            fits = add_scaled_i32(&out->months, x, units[i].months);
        if (!fits)
            return fail(r, "ARITHMETIC_EXCEPTION", "Uncaught arithmetic exception while parsing '",
                        r->whole, "'.");
        r->rest.ptr += word.len;
        r->rest.len -= word.len;
        return FM_OK;
    }
    return fail(r, "INVALID_UNIT", "Invalid unit ", word, ".");
}

/* [sign] digits [. digits] unit */
static fm_status take_pair(reader *r, fm_interval *out)
{
    bool negative = false, has_fraction = false;
    int64_t x = 0, fraction_us = 0;
    int digits = 0, places = 0;
    if (skip_char(&r->rest, '-')) negative = true;
    else skip_char(&r->rest, '+');
    skip_blanks(&r->rest);
    if (!r->rest.len) return fail(r, "MISSING_NUMBER", "Expect a number after ", word_here(r), " but hit EOL.");
    if (!is_digit(r->rest.ptr[0]) && r->rest.ptr[0] != '.')
        return fail(r, "UNRECOGNIZED_NUMBER", "Unrecognized number ", word_here(r), ".");
    for (; r->rest.len && is_digit(r->rest.ptr[0]); digits++, r->rest.ptr++, r->rest.len--)
        if (!fm_mul_i64(x, 10, &x) || !fm_add_i64(x, r->rest.ptr[0] - '0', &x))
            return fail(r, "ARITHMETIC_EXCEPTION", "Uncaught arithmetic exception while parsing '",
                        r->whole, "'.");
    if (skip_char(&r->rest, '.')) {
        has_fraction = true;
        for (; r->rest.len && is_digit(r->rest.ptr[0]); places++, r->rest.ptr++, r->rest.len--) {
            if (places == 9)
                return fail(r, "INVALID_PRECISION", "Interval can only support nanosecond precision, ",
                            word_here(r), " is out of range.");
            if (places < 6) fraction_us = fraction_us * 10 + (r->rest.ptr[0] - '0');
        }
        for (int i = places; i < 6; i++) fraction_us *= 10;
    }
    if (digits + places == 0 || (r->rest.len && !is_blank(r->rest.ptr[0])))
        return fail(r, "INVALID_VALUE", "Invalid value ", word_here(r), ".");
    skip_blanks(&r->rest);
    if (!r->rest.len) return fail(r, "MISSING_UNIT", "Expect a unit name after ", word_here(r), " but hit EOL.");
    return take_unit(r, negative ? -x : x, negative ? -fraction_us : fraction_us, has_fraction, out);
}

/* INTERVAL '...' UNITS, in any of the units. */
static bool take_quoted(fm_str text, fm_interval *out)
{
    for (int from = FM_UNIT_YEAR; from <= FM_UNIT_SECOND; from++)
        for (int to = from; to <= FM_UNIT_SECOND; to++) {
            bool ym = from <= FM_UNIT_MONTH;
            fm_type type = {.id = ym ? FM_TYPE_INTERVAL_YM : FM_TYPE_INTERVAL_DT,
                            .unit_from = (uint8_t)from, .unit_to = (uint8_t)to};
            if (ym != (to <= FM_UNIT_MONTH)) continue;
            if (ym ? fm_text_to_interval_ym(text, &type, &out->months)
                   : fm_text_to_interval_dt(text, &type, &out->us))
                return true;
        }
    return false;
}

fm_status fm_text_to_interval(fm_str text, fm_interval *out, fm_error *err)
{
    fm_str trimmed = fm_str_trim(text);
    reader r = {trimmed, trimmed, err};
    *out = (fm_interval){0};
    if (!r.rest.len) return fail(&r, "INPUT_IS_EMPTY", "Interval string cannot be empty.", (fm_str){0}, "");
    if (skip_word(&r.rest, "interval")) {
        if (memchr(trimmed.ptr, '\'', trimmed.len) && take_quoted(trimmed, out)) return FM_OK;
        if (!r.rest.len)
            return fail(&r, "INPUT_IS_EMPTY", "Interval string cannot be empty.", (fm_str){0}, "");
        if (!is_blank(r.rest.ptr[0])) {
            r.rest = r.whole;
            return fail(&r, "INVALID_PREFIX", "Invalid interval prefix ", word_here(&r), ".");
        }
    }
    skip_blanks(&r.rest);
    if (!r.rest.len) return fail(&r, "INPUT_IS_EMPTY", "Interval string cannot be empty.", (fm_str){0}, "");
    while (r.rest.len) {
        FM_TRY(take_pair(&r, out));
        skip_blanks(&r.rest);
    }
    return FM_OK;
}

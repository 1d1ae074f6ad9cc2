/* expr/decimal_format.c: numbers by patterns of java.text.DecimalFormat.
 *
 * Rule  java.text.DecimalFormat of JDK 17, with the symbols of the US. */
#include "expr/decimal_format.h"

#include <math.h>
#include <stdio.h>

#include "expr/cast.h"
#include "expr/text.h"

/* ---- patterns ---------------------------------------------------------------------------------------------- */

typedef struct pattern_reader {
    fm_str text;
    size_t at;
    fm_decimal_format *f;
} pattern_reader;

/* Reads a prefix or suffix up to a character of digits or ';'. False: too long, or an unknown kind. */
static bool read_affix(pattern_reader *r, char out[FM_FORMAT_AFFIX_SIZE], bool is_prefix)
{
    size_t n = 0;
    bool quoted = false;
    while (r->at < r->text.len) {
        char c = r->text.ptr[r->at];
        if (c == '\'') {
            r->at++;
            if (r->at < r->text.len && r->text.ptr[r->at] == '\'') /* two are one */
                r->at++;
            else {
                quoted = !quoted;
                continue;
            }
        } else if (!quoted && (c == ';' || (is_prefix && strchr("#0,.", c)))) {
            break;
        } else if (!quoted && !is_prefix && c && strchr("#0,.", c)) {
            return false; /* digits behind the suffix */
        } else {
            if (!quoted && c == '%') r->f->multiplier = 100;
            if (!quoted && r->text.len - r->at >= 3 && memcmp(r->text.ptr + r->at, "\xE2\x80\xB0", 3) == 0)
                r->f->multiplier = 1000;
            if (!quoted && r->text.len - r->at >= 2 && memcmp(r->text.ptr + r->at, "\xC2\xA4", 2) == 0) { /* currency */
                r->at++;
                c = '$';
            }
            r->at++;
        }
        if (n + 1 >= FM_FORMAT_AFFIX_SIZE) return false;
        out[n++] = c;
    }
    out[n] = 0;
    return !quoted;
}

/* "#,##0.00E0". */
static bool read_digits(pattern_reader *r)
{
    int left = 0, zeros = 0, right = 0, point = -1, group = -1, total;
    fm_decimal_format *f = r->f;
    for (; r->at < r->text.len; r->at++) {
        char c = r->text.ptr[r->at];
        if (c == '#') {
            *(zeros > 0 ? &right : &left) += 1;
            if (group >= 0 && point < 0) group++;
        } else if (c == '0') {
            if (right > 0) return false;
            zeros++;
            if (group >= 0 && point < 0) group++;
        } else if (c == ',') {
            group = 0;
        } else if (c == '.') {
            if (point >= 0) return false;
            point = left + zeros + right;
        } else {
            break;
        }
        if (left + zeros + right > FM_FORMAT_DIGITS_MAX) return false;
    }
    if (r->at < r->text.len && r->text.ptr[r->at] == 'E' && left + zeros > 0) {
        for (r->at++; r->at < r->text.len && r->text.ptr[r->at] == '0'; r->at++) f->exponent_min++;
        if (!f->exponent_min || f->exponent_min > 10) return false;
    }
    if (zeros == 0 && left > 0 && point >= 0) { /* "#.##": there is one digit before the point */
        int before = point ? point : 1;
        right = left - before;
        left = before - 1;
        zeros = 1;
    }
    total = left + zeros + right;
    if ((point < 0 && right > 0) || (point >= 0 && (point < left || point > left + zeros)) || group == 0) return false;
    f->integers_min = (point >= 0 ? point : total) - left;
    f->integers_max = left + f->integers_min;
    f->fraction_max = point >= 0 ? total - point : 0;
    f->fraction_min = point >= 0 ? left + zeros - point : 0;
    f->group = group > 0 ? group : 0;
    f->point_always = point == 0 || (point >= 0 && point == total);
    return true;
}

bool fm_decimal_format_parse(fm_str pattern, fm_decimal_format *out)
{
    pattern_reader r = {pattern, 0, out};
    *out = (fm_decimal_format){.multiplier = 1};
    if (!read_affix(&r, out->prefix, true) || !read_digits(&r) || !read_affix(&r, out->suffix, false)) return false;
    snprintf(out->minus_suffix, sizeof out->minus_suffix, "%s", out->suffix);
    out->minus_prefix[0] = '-';
    memcpy(out->minus_prefix + 1, out->prefix, FM_FORMAT_AFFIX_SIZE - 1);
    out->minus_prefix[FM_FORMAT_AFFIX_SIZE - 1] = 0;
    if (r.at < pattern.len) { /* ';': of what stands behind it only the affixes count */
        char prefix[FM_FORMAT_AFFIX_SIZE], suffix[FM_FORMAT_AFFIX_SIZE];
        r.at++;
        if (!read_affix(&r, prefix, true)) return false;
        while (r.at < pattern.len && strchr("#0,.E", pattern.ptr[r.at])) r.at++;
        if (!read_affix(&r, suffix, false)) return false;
        if (strcmp(prefix, out->prefix) != 0 || strcmp(suffix, out->suffix) != 0) {
            memcpy(out->minus_prefix, prefix, sizeof prefix);
            memcpy(out->minus_suffix, suffix, sizeof suffix);
        }
    }
    return r.at == pattern.len;
}

void fm_decimal_format_fixed(int digits, fm_decimal_format *out)
{
    *out = (fm_decimal_format){.multiplier = 1, .minus_prefix = "-", .integers_min = 1, .integers_max = 1, .group = 3,
                               .fraction_min = digits, .fraction_max = digits};
}

/* ---- digits ------------------------------------------------------------------------------------------------ */

/* 0.d1d2d3... times ten to the power of point; count 0: zero. */
typedef struct digits {
    bool negative;
    int count, point;
    char at[FM_DIGITS_SIZE];
} digits;

/* Of "123.45", "1.2E-7", "1.2e+07". */
static void digits_of_text(const char *text, size_t len, digits *d)
{
    bool point_seen = false;
    size_t i = 0;
    d->count = d->point = 0;
    for (; i < len && text[i] != 'E' && text[i] != 'e'; i++) {
        if (text[i] == '.') {
            point_seen = true;
        } else if (text[i] >= '0' && text[i] <= '9') {
            if (d->count || text[i] != '0') {
                if (d->count < FM_DIGITS_SIZE) d->at[d->count++] = text[i];
                d->point += !point_seen;
            } else if (point_seen) {
                d->point--;
            }
        }
    }
    if (i < len) {
        int exponent = 0;
        bool minus = text[i + 1] == '-';
        for (i += 1 + (text[i + 1] == '-' || text[i + 1] == '+'); i < len; i++) exponent = exponent * 10 + text[i] - '0';
        d->point += minus ? -exponent : exponent;
    }
    while (d->count && d->at[d->count - 1] == '0') d->count--;
    if (!d->count) d->point = 0;
}

/* Cuts to `keep` digits, half to even. */
static void round_digits(digits *d, int keep)
{
    bool up;
    if (keep >= d->count) return;
    if (keep < 0) {
        d->count = d->point = 0;
        return;
    }
    up = d->at[keep] > '5' || (d->at[keep] == '5' && (keep + 1 < d->count || (keep > 0 && (d->at[keep - 1] & 1))));
    d->count = keep;
    if (up) {
        while (d->count && d->at[d->count - 1] == '9') d->count--;
        if (d->count) {
            d->at[d->count - 1]++;
        } else {
            d->at[0] = '1';
            d->count = 1;
            d->point++;
        }
    }
    while (d->count && d->at[d->count - 1] == '0') d->count--;
    if (!d->count) d->point = 0;
}

/* Digits that a pattern leaves. */
static int kept(const fm_decimal_format *f, const digits *d)
{
    return f->exponent_min ? f->integers_max + f->fraction_max : d->point + f->fraction_max;
}

/* ---- printing ---------------------------------------------------------------------------------------------- */

static void add_digit(const digits *d, int i, fm_strbuf *out)
{
    fm_strbuf_add_char(out, i >= 0 && i < d->count ? d->at[i] : '0');
}

static void add_plain(const fm_decimal_format *f, const digits *d, fm_strbuf *out)
{
    int integers = d->point > f->integers_min ? d->point : f->integers_min;
    bool fraction = f->fraction_min > 0 || d->count > (d->point > 0 ? d->point : 0);
    if (d->point < 0) fraction = f->fraction_min > 0 || d->count > 0;
    if (integers == 0 && !fraction) integers = 1;
    for (int place = integers; place > 0; place--) {
        add_digit(d, d->point - place, out);
        if (f->group && place > 1 && (place - 1) % f->group == 0) fm_strbuf_add_char(out, ',');
    }
    if (fraction || f->point_always) fm_strbuf_add_char(out, '.');
    for (int i = 0; i < f->fraction_max && (i < f->fraction_min || d->point + i < d->count); i++)
        add_digit(d, d->point + i, out);
}

/* a / b, rounded down. */
static int floor_div(int a, int b) { return a >= 0 ? a / b : -((-a + b - 1) / b); }

static void add_scientific(const fm_decimal_format *f, const digits *d, fm_strbuf *out)
{
    int repeat = f->integers_max, least = f->integers_min, exponent = d->point, integers, total;
    if (repeat > 1 && repeat > f->integers_min) {
        exponent = floor_div(exponent - 1, repeat) * repeat;
        least = 1;
    } else {
        exponent -= least;
    }
    total = f->integers_min + f->fraction_min;
    integers = d->count ? d->point - exponent : least;
    if (total < integers) total = integers;
    if (d->count > total) total = d->count;
    for (int i = 0; i < total; i++) {
        if (i == integers) fm_strbuf_add_char(out, '.');
        add_digit(d, i, out);
    }
    if (f->point_always && total == integers) fm_strbuf_add_char(out, '.');
    if (!d->count) exponent = 0;
    fm_strbuf_printf(out, exponent < 0 ? "E-%0*d" : "E%0*d", f->exponent_min, exponent < 0 ? -exponent : exponent);
}

static void add_number(const fm_decimal_format *f, digits *d, fm_strbuf *out)
{
    round_digits(d, kept(f, d));
    fm_strbuf_add_c(out, d->negative ? f->minus_prefix : f->prefix);
    if (f->exponent_min)
        add_scientific(f, d, out);
    else
        add_plain(f, d, out);
    fm_strbuf_add_c(out, d->negative ? f->minus_suffix : f->suffix);
}

void fm_decimal_format_f64(const fm_decimal_format *f, double x, fm_strbuf *out)
{
    char text[FM_DIGITS_SIZE + 16];
    digits d;
    if (isnan(x)) {
        fm_strbuf_add_c(out, "NaN");
        return;
    }
    if (f->multiplier != 1) x *= f->multiplier;
    d.negative = signbit(x);
    if (isinf(x)) {
        fm_strbuf_add_c(out, d.negative ? f->minus_prefix : f->prefix);
        fm_strbuf_add_c(out, "\xE2\x88\x9E");
        fm_strbuf_add_c(out, d.negative ? f->minus_suffix : f->suffix);
        return;
    }
    digits_of_text(text, fm_double_text(x, text), &d);
    if (kept(f, &d) < d.count) { /* the shortest digits do not tell on which side of a half it lies */
        int n = snprintf(text, sizeof text, "%.*e", FM_DIGITS_SIZE - 30, x);
        digits_of_text(text, (size_t)n, &d);
    }
    add_number(f, &d, out);
}

void fm_decimal_format_decimal(const fm_decimal_format *f, fm_i128 unscaled, int scale, fm_strbuf *out)
{
    char text[FM_DECIMAL_TEXT_SIZE];
    digits d;
    d.negative = unscaled < 0;
    digits_of_text(text, fm_decimal_text(unscaled, scale, text), &d);
    if (d.count && f->multiplier != 1) d.point += f->multiplier == 100 ? 2 : 3;
    add_number(f, &d, out);
}

/* expr/time_format_parse.c: text to instants by a date pattern.
 *
 * Rule  java.time, strict: two letters are two digits; one letter is any number of digits; digits that stand
 *       against each other are shared out from the right (yyyyMMdd). Spark: names in any case, S takes one digit
 *       up to its count, what the pattern leaves out is 1970-01-01 00:00:00, hours without AM or PM are AM. */
#include "expr/time_format.h"

typedef struct fields {
    bool has_year, has_ampm, has_half_hour, has_offset, has_era, has_day_of_year, has_hour;
    bool before_christ;
    int64_t year, month, day, day_of_year, hour, half_hour, ampm, minute, second, us;
    int32_t offset_s;
    fm_str zone; /* a region; len 0: none */
} fields;

typedef struct cursor {
    const fm_time_format *f;
    fm_str text;
    size_t at;
    fields found;
} cursor;

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* Letters that read a number, their least and most digits; false: the item is no number. */
static bool number_width(const fm_time_item *item, int *min, int *max)
{
    int n = item->count;
    switch (item->letter) {
    case 'M':
    case 'L':
        if (n > 2) return false;
        break;
    case 'd':
    case 'H':
    case 'h':
    case 'K':
    case 'k':
    case 'm':
    case 's': break;
    case 'y':
    case 'u':
        *min = n;
        *max = n == 2 ? 2 : 18;
        return true;
    case 'D':
        *min = n;
        *max = n == 1 ? 18 : 3;
        return true;
    case 'S':
        *min = 1;
        *max = n;
        return true;
    default: return false;
    }
    *min = n;
    *max = n == 1 ? 18 : n;
    return true;
}

/* Digits that the fixed-width items right behind item i want. */
static int reserved_behind(const fm_time_format *f, int32_t i)
{
    int sum = 0, min, max;
    for (i++; i < f->n && number_width(&f->items[i], &min, &max) && min == max; i++) sum += max;
    return sum;
}

static bool take_number(cursor *c, int32_t i, int64_t *out, int *digits)
{
    int min = 0, max = 0, run = 0, reserved, width;
    int64_t x = 0;
    number_width(&c->f->items[i], &min, &max);
    while (c->at + (size_t)run < c->text.len && is_digit(c->text.ptr[c->at + (size_t)run])) run++;
    width = run;
    if (min != max) { /* leave their digits to those that cannot do with fewer */
        reserved = reserved_behind(c->f, i);
        if (width > reserved) width -= reserved;
        if (width < min && run >= min) width = min;
    }
    if (width > max) width = max;
    if (width < min) return false;
    for (int k = 0; k < width; k++) x = x * 10 + (c->text.ptr[c->at + (size_t)k] - '0');
    c->at += (size_t)width;
    *digits = width;
    *out = x;
    return true;
}

static bool take_name(cursor *c, const char *const *names, int n, size_t len, int *out)
{
    for (int i = 0; i < n; i++) {
        fm_str name = {names[i], len ? len : strlen(names[i])};
        fm_str here = {c->text.ptr + c->at, name.len};
        if (c->text.len - c->at < name.len || !fm_str_eq_ci(here, name)) continue;
        c->at += name.len;
        *out = i;
        return true;
    }
    return false;
}

static bool take_year(cursor *c, int32_t i)
{
    const fm_time_item *item = &c->f->items[i];
    int count = item->count, digits;
    bool plus = false, minus = false;
    int64_t x;
    if (c->at < c->text.len && count != 2) {
        minus = c->text.ptr[c->at] == '-';
        plus = c->text.ptr[c->at] == '+' && count >= 4;
        if (minus || plus) c->at++;
    }
    if (!take_number(c, i, &x, &digits)) return false;
    /* A year with more digits than letters is marked by a plus, others are not. */
    if (count >= 4 && !minus && plus != (digits > count)) return false;
    if (count == 2) x += 2000;
    c->found.year = minus ? -x : x;
    c->found.has_year = true;
    return true;
}

static bool take_zone_id(cursor *c)
{
    size_t len = 0;
    while (c->at + len < c->text.len) {
        char ch = c->text.ptr[c->at + len];
        bool part = (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || is_digit(ch) ||
                    (ch && strchr("/_+-:", ch));
        if (!part) break;
        len++;
    }
    for (; len > 0; len--) { /* the longest that is a zone */
        fm_str id = {c->text.ptr + c->at, len};
        if (!fm_zone_known(id)) continue;
        c->at += len;
        if (fm_zone_offset_of_text(id, &c->found.offset_s))
            c->found.has_offset = true;
        else
            c->found.zone = id;
        return true;
    }
    return false;
}

/* +HH, +HHmm, +HH:mm, with seconds; what must and may be there follows the letters. */
static bool take_offset(cursor *c, bool z, bool colons, bool minutes_wanted, bool seconds)
{
    int32_t part[3] = {0};
    bool negative;
    if (z && c->at < c->text.len && (c->text.ptr[c->at] | 32) == 'z') {
        c->at++;
        c->found.offset_s = 0;
        return c->found.has_offset = true;
    }
    if (c->at >= c->text.len || (c->text.ptr[c->at] != '+' && c->text.ptr[c->at] != '-')) return false;
    negative = c->text.ptr[c->at++] == '-';
    for (int i = 0; i < 3; i++) {
        size_t at = c->at;
        if (i == 2 && !seconds) break;
        if (i && colons) {
            if (at >= c->text.len || c->text.ptr[at] != ':') at = c->text.len;
            else at++;
        }
        if (at + 2 > c->text.len || !is_digit(c->text.ptr[at]) || !is_digit(c->text.ptr[at + 1])) {
            if (i == 0 || (i == 1 && minutes_wanted)) return false;
            break;
        }
        part[i] = (c->text.ptr[at] - '0') * 10 + (c->text.ptr[at + 1] - '0');
        c->at = at + 2;
    }
    if (part[0] > 18 || part[1] > 59 || part[2] > 59) return false;
    c->found.offset_s = part[0] * 3600 + part[1] * 60 + part[2];
    if (c->found.offset_s > 18 * 3600) return false;
    if (negative) c->found.offset_s = -c->found.offset_s;
    return c->found.has_offset = true;
}

static bool take_localized_offset(cursor *c, bool full)
{
    static const char *const gmt[] = {"GMT"};
    int which, hours = 0, digits = 0;
    if (!take_name(c, gmt, 1, 0, &which)) return false;
    if (c->at >= c->text.len || (c->text.ptr[c->at] != '+' && c->text.ptr[c->at] != '-')) {
        c->found.offset_s = 0;
        return c->found.has_offset = true;
    }
    if (full) return take_offset(c, false, true, true, true);
    bool negative = c->text.ptr[c->at++] == '-';
    for (; digits < 2 && c->at < c->text.len && is_digit(c->text.ptr[c->at]); digits++)
        hours = hours * 10 + (c->text.ptr[c->at++] - '0');
    if (digits == 0 || hours > 18) return false;
    c->found.offset_s = hours * 3600;
    if (c->at + 2 < c->text.len && c->text.ptr[c->at] == ':' && is_digit(c->text.ptr[c->at + 1]) &&
        is_digit(c->text.ptr[c->at + 2])) {
        c->found.offset_s += ((c->text.ptr[c->at + 1] - '0') * 10 + c->text.ptr[c->at + 2] - '0') * 60;
        c->at += 3;
    }
    if (negative) c->found.offset_s = -c->found.offset_s;
    return c->found.has_offset = true;
}

static bool take_fraction(cursor *c, int32_t i)
{
    int digits;
    int64_t x;
    if (!take_number(c, i, &x, &digits)) return false;
    for (; digits > 6; digits--) x /= 10;
    for (; digits < 6; digits++) x *= 10;
    c->found.us = x;
    return true;
}

static bool take_item(cursor *c, int32_t i)
{
    static const char *const eras[] = {"AD", "BC"}, *const long_eras[] = {"Anno Domini", "Before Christ"};
    static const char *const halves[] = {"AM", "PM"};
    const fm_time_item *item = &c->f->items[i];
    int n = item->count, which, digits;
    fields *found = &c->found;
    int64_t x;
    switch (item->letter) {
    case 0:
        if (c->text.len - c->at < item->text.len ||
            !fm_str_eq_ci((fm_str){c->text.ptr + c->at, item->text.len}, item->text))
            return false;
        c->at += item->text.len;
        return true;
    case 'G':
        if (!take_name(c, n <= 3 ? eras : long_eras, 2, 0, &which)) return false;
        found->before_christ = which == 1;
        return found->has_era = true;
    case 'y':
    case 'u': return take_year(c, i);
    case 'M':
    case 'L':
        if (n <= 2) return take_number(c, i, &found->month, &digits);
        if (!take_name(c, fm_month_names, 12, n == 3 ? 3 : 0, &which)) return false;
        found->month = which + 1;
        return true;
    case 'd': return take_number(c, i, &found->day, &digits);
    case 'D': return found->has_day_of_year = take_number(c, i, &found->day_of_year, &digits);
    case 'a':
        if (!take_name(c, halves, 2, 0, &which)) return false;
        found->ampm = which;
        return found->has_ampm = true;
    case 'H':
        if (!take_number(c, i, &found->hour, &digits) || found->hour > 23) return false;
        return found->has_hour = true;
    case 'k':
        if (!take_number(c, i, &x, &digits) || x < 1 || x > 24) return false;
        found->hour = x % 24;
        return found->has_hour = true;
    case 'K':
        if (!take_number(c, i, &found->half_hour, &digits) || found->half_hour > 11) return false;
        return found->has_half_hour = true;
    case 'h':
        if (!take_number(c, i, &x, &digits) || x < 1 || x > 12) return false;
        found->half_hour = x % 12;
        return found->has_half_hour = true;
    case 'm': return take_number(c, i, &found->minute, &digits) && found->minute <= 59;
    case 's': return take_number(c, i, &found->second, &digits) && found->second <= 59;
    case 'S': return take_fraction(c, i);
    case 'V':
    case 'z': return take_zone_id(c);
    case 'O': return take_localized_offset(c, n == 4);
    case 'X': return take_offset(c, true, n == 3 || n == 5, n > 1, n > 3);
    case 'x': return take_offset(c, false, n == 3 || n == 5, n > 1, n > 3);
    case 'Z':
        if (n == 4) return take_localized_offset(c, true);
        return take_offset(c, n == 5, n == 5, true, n == 5);
    default: return false; /* E F Q q: Spark does not read them */
    }
}

/* Items [from, to): an optional part that does not fit is left out whole. */
static bool take_items(cursor *c, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++) {
        if (c->f->items[i].letter == '[') {
            cursor before = *c;
            int32_t end = c->f->items[i].end;
            if (!take_items(c, i + 1, end)) *c = before;
            i = end;
        } else if (!take_item(c, i)) {
            return false;
        }
    }
    return true;
}

/* The day the fields name; false when there is none. */
static bool day_of(const fields *found, int32_t *days)
{
    int64_t year = found->has_year ? found->year : 1970;
    if (found->before_christ) year = 1 - year;
    if (year < -999999 || year > 999999) return false;
    if (found->has_day_of_year) {
        int32_t first = fm_days_from_civil((int32_t)year, 1, 1);
        int32_t next = fm_days_from_civil((int32_t)year + 1, 1, 1);
        if (found->day_of_year < 1 || found->day_of_year > next - first) return false;
        *days = first + (int32_t)found->day_of_year - 1;
        return true;
    }
    if (found->month > 12 || found->day > 31) return false;
    if (!fm_civil_valid((int32_t)year, (int32_t)found->month, (int32_t)found->day)) return false;
    *days = fm_days_from_civil((int32_t)year, (int32_t)found->month, (int32_t)found->day);
    return true;
}

bool fm_time_format_parse_local(const fm_time_format *f, fm_str text, int64_t *local_us, fm_time_zone_found *zone)
{
    cursor c = {.f = f, .text = text, .found = {.month = 1, .day = 1}};
    int64_t hour, us;
    int32_t days;
    if (!take_items(&c, 0, f->n) || c.at != text.len) return false;
    if (!day_of(&c.found, &days)) return false;
    hour = c.found.has_half_hour ? c.found.half_hour + 12 * c.found.ampm : c.found.hour;
    if (c.found.has_half_hour && c.found.has_hour && hour != c.found.hour) return false;
    if (!c.found.has_half_hour && c.found.has_ampm && c.found.has_hour &&
        (c.found.hour >= 12) != (c.found.ampm == 1))
        return false;
    us = ((hour * 60 + c.found.minute) * 60 + c.found.second) * FM_US_PER_SECOND + c.found.us;
    *zone = (fm_time_zone_found){c.found.has_offset, c.found.offset_s, c.found.zone};
    return !__builtin_mul_overflow((int64_t)days, FM_US_PER_DAY, local_us) &&
           !__builtin_add_overflow(*local_us, us, local_us);
}

bool fm_time_format_parse(const fm_time_format *f, fm_str text, const fm_zone *zone, int64_t *utc_us)
{
    fm_time_zone_found found;
    int64_t local_us;
    if (!fm_time_format_parse_local(f, text, &local_us, &found)) return false;
    if (found.region.len) return fm_zone_text_to_utc(found.region, local_us, utc_us);
    if (found.has_offset)
        return !__builtin_sub_overflow(local_us, found.offset_s * FM_US_PER_SECOND, utc_us);
    *utc_us = fm_zone_to_utc(zone, local_us);
    return true;
}

/* expr/time_format.c: date patterns of java.time as Spark takes them: compiling and printing.
 *
 * Letters  G y M L d D Q q E F a H h K k m s S V z O X x Z, text in quotes, [optional parts]. y is the year that
 *          may be negative (java's u) unless the pattern has an era. A run of a letter is one item; its length
 *          is the width or the style: M 1, MM 01, MMM Jan, MMMM January.
 * Rule     Spark, DateTimeFormatterHelper: week-based letters and narrow styles are refused. */
#include "expr/time_format.h"

/* --- compiling --------------------------------------------------------------------------------------- */

static const char letters[] = "GyMLdDQqEFaHhKkmsSVzOXxZ";
static const char week_letters[] = "YWwuec";

static fm_status fail_letter(fm_str pattern, char c, fm_error *err)
{
    if (strchr(week_letters, c))
        return fm_fail(err, FM_INVALID, "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_WEEK_BASED_PATTERN",
                       "You may get a different result due to the upgrading to Spark >= 3.0: All week-based "
                       "patterns are unsupported since Spark 3.0, detected week-based character: %c. Please "
                       "use the SQL function EXTRACT instead.",
                       c);
    if (!strchr("ABnNpEFQq", c)) /* letters and signs that java.time does not know; the others it does, but Spark has taken away */
        return fm_fail(err, FM_INVALID, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION",
                       "Unrecognized datetime pattern: '%.*s': %c means nothing there. The letters are y M d H h m s S E a z X.",
                       FM_STR_ARG(pattern), c);
    return fm_fail(err, FM_INVALID, "INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER",
                   "Unrecognized datetime pattern: %.*s. Illegal character %c found in datetime pattern. Please "
                   "provide legal character.",
                   FM_STR_ARG(pattern), c);
}

/* Whether the letter may stand that many times. */
static bool length_fits(char c, int n)
{
    switch (c) {
    case 'G':
    case 'M':
    case 'L':
    case 'E':
    case 'Q':
    case 'q': return n <= 4;
    case 'y': return n <= 6;
    case 'F':
    case 'a': return n == 1;
    case 'D': return n <= 3;
    case 'd':
    case 'H':
    case 'h':
    case 'K':
    case 'k':
    case 'm':
    case 's':
    case 'V': return n <= 2 && (c != 'V' || n == 2);
    case 'S': return n <= 9;
    case 'z': return n <= 4;
    case 'O': return n == 1 || n == 4;
    default: return n <= 5; /* X x Z */
    }
}

typedef struct compiler {
    fm_arena *arena;
    fm_str pattern;
    fm_error *err;
    fm_time_format *f;
} compiler;

static void add_item(compiler *c, char letter, int count, fm_str text)
{
    c->f->items[c->f->n++] = (fm_time_item){.letter = letter, .count = (uint8_t)count, .text = text};
}

/* Quoted text from at[i], the quote; returns the index behind it, 0 when it does not end. */
static size_t take_quoted(compiler *c, size_t i, fm_status *st)
{
    fm_str p = c->pattern;
    char *copy = fm_arena_alloc(c->arena, p.len, 1);
    size_t n = 0;
    *st = FM_OK;
    if (!copy) {
        *st = fm_no_memory(c->arena, c->err);
        return 0;
    }
    for (i++; i < p.len; i++) {
        if (p.ptr[i] == '\'') {
            if (i + 1 < p.len && p.ptr[i + 1] == '\'') {
                i++; /* two quotes are one */
            } else {
                if (n == 0) copy[n++] = '\'';
                add_item(c, 0, 0, (fm_str){copy, n});
                return i + 1;
            }
        }
        copy[n++] = p.ptr[i];
    }
    *st = fm_fail(c->err, FM_INVALID, "INVALID_DATETIME_PATTERN.WITH_SUGGESTION",
                  "Unrecognized datetime pattern: %.*s. The quote is not closed; write '' for a quote.",
                  FM_STR_ARG(p));
    return 0;
}

static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

static fm_status compile(compiler *c)
{
    enum { NESTING_MAX = 16 };
    fm_str p = c->pattern;
    int32_t open[NESTING_MAX], depth = 0;
    bool quoted = false;
    for (size_t i = 0; i < p.len; i++) { /* these are looked for first */
        quoted ^= p.ptr[i] == '\'';
        if (!quoted && p.ptr[i] && strchr(week_letters, p.ptr[i])) return fail_letter(p, p.ptr[i], c->err);
    }
    for (size_t i = 0; i < p.len;) {
        char ch = p.ptr[i];
        size_t n = 1;
        if (is_letter(ch)) {
            while (i + n < p.len && p.ptr[i + n] == ch) n++;
            if (!strchr(letters, ch)) return fail_letter(p, ch, c->err);
            if (!length_fits(ch, n > 100 ? 100 : (int)n))
                return fm_fail(c->err, FM_INVALID, "INVALID_DATETIME_PATTERN.LENGTH",
                               "Unrecognized datetime pattern: %.*s. Too many letters in datetime pattern. "
                               "Please reduce pattern length.",
                               FM_STR_ARG(p));
            if (ch == 'G') c->f->has_era = true;
            add_item(c, ch, (int)n, (fm_str){0});
        } else if (ch == '\'') {
            fm_status st;
            size_t next = take_quoted(c, i, &st);
            if (st != FM_OK) return st;
            n = next - i;
        } else if (ch == '[') {
            if (depth == NESTING_MAX) return fail_letter(p, ch, c->err);
            open[depth++] = c->f->n;
            add_item(c, '[', 0, (fm_str){0});
        } else if (ch == ']') {
            if (depth == 0) return fail_letter(p, ch, c->err);
            depth--;
            add_item(c, ']', 0, (fm_str){0});
            c->f->items[open[depth]].end = c->f->n - 1;
        } else if (ch == '{' || ch == '}' || ch == '#') {
            return fail_letter(p, ch, c->err);
        } else {
            fm_str text = {c->f->text.ptr + i, 1};
            add_item(c, 0, 0, text);
        }
        i += n;
    }
    while (depth > 0) { /* a bracket left open ends with the pattern, as in java */
        depth--;
        add_item(c, ']', 0, (fm_str){0});
        c->f->items[open[depth]].end = c->f->n - 1;
    }
    return FM_OK;
}

/* Whether java.text.SimpleDateFormat, which Spark used before 3.0, takes the pattern. */
static bool legacy_takes(fm_str p)
{
    bool quoted = false;
    for (size_t i = 0; i < p.len; i++) {
        char c = p.ptr[i];
        if (c == '\'') quoted = !quoted;
        if (quoted || !is_letter(c)) continue;
        if (!strchr("GyYMLwWDdFEuaHkKhmsSzZX", c)) return false;
        if (c == 'X' && i + 3 < p.len && p.ptr[i + 1] == 'X' && p.ptr[i + 2] == 'X' && p.ptr[i + 3] == 'X') return false;
    }
    return !quoted;
}

static fm_status fail_recognition(fm_str pattern, fm_error *err)
{
    return fm_fail(err, FM_INVALID, "INCONSISTENT_BEHAVIOR_CROSS_VERSION.DATETIME_PATTERN_RECOGNITION",
                   "You may get a different result due to the upgrading to Spark >= 3.0: Fail to recognize '%.*s' pattern "
                   "in the DateTimeFormatter. Write a pattern of the letters that are in use now: y M d H h m s S E a z X.",
                   FM_STR_ARG(pattern));
}

fm_status fm_time_format_for_parsing(const fm_time_format *f, fm_error *err)
{
    for (int32_t i = 0; i < f->n; i++) {
        char c = f->items[i].letter;
        if (c == 'E' || c == 'F' || c == 'Q' || c == 'q')
            return legacy_takes(f->text) ? fail_recognition(f->text, err) : fail_letter(f->text, c, err);
    }
    return FM_OK;
}

fm_status fm_time_format_new(fm_arena *arena, fm_str pattern, const fm_time_format **out, fm_error *err)
{
    fm_time_format *f = fm_arena_one(arena, fm_time_format);
    compiler c = {arena, pattern, err, f};
    if (!f) return fm_no_memory(arena, err);
    f->text = fm_arena_str(arena, pattern);
    f->items = fm_arena_array(arena, fm_time_item, pattern.len * 2 + 1);
    if (!f->items || (pattern.len && !f->text.ptr)) return fm_no_memory(arena, err);
    fm_status st = compile(&c);
    if (st == FM_INVALID && legacy_takes(pattern)) return fail_recognition(pattern, err);
    if (st == FM_OK) *out = f;
    return st;
}

/* --- printing ---------------------------------------------------------------------------------------- */

const char *const fm_month_names[12] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};
const char *const fm_day_names[7] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                     "Friday", "Saturday", "Sunday"};

/* An instant taken apart for a zone. */
typedef struct moment {
    int32_t year, month, day, day_of_year, weekday; /* weekday 0: Monday */
    int32_t hour, minute, second, us;
    int32_t offset_s;
    int64_t utc_us;
    const fm_zone *zone;
} moment;

/* The calendar of a day, at midnight UTC. */
static moment moment_of_day(int32_t days)
{
    moment m = {.zone = fm_zone_utc()};
    fm_civil_from_days(days, &m.year, &m.month, &m.day);
    m.day_of_year = (int32_t)((int64_t)days - fm_days_from_civil(m.year, 1, 1) + 1);
    m.weekday = (int32_t)fm_floor_mod((int64_t)days + 3, 7);
    return m;
}

static moment moment_of(int64_t utc_us, const fm_zone *zone)
{
    int64_t local_us = fm_zone_to_local(zone, utc_us), us = fm_floor_mod(local_us, FM_US_PER_DAY);
    moment m = moment_of_day(fm_day_of_us(local_us));
    m.utc_us = utc_us;
    m.zone = zone;
    m.offset_s = fm_zone_offset_s(zone, utc_us);
    m.hour = (int32_t)(us / FM_US_PER_HOUR);
    m.minute = (int32_t)(us / FM_US_PER_MINUTE % 60);
    m.second = (int32_t)(us / FM_US_PER_SECOND % 60);
    m.us = (int32_t)(us % FM_US_PER_SECOND);
    return m;
}

static void put_number(int64_t x, int width, fm_strbuf *out)
{
    char text[24];
    bool negative = x < 0;
    size_t len = fm_i64_text(negative ? -x : x, text);
    if (negative) fm_strbuf_add_char(out, '-');
    for (int i = (int)len; i < width; i++) fm_strbuf_add_char(out, '0');
    fm_strbuf_add(out, (fm_str){text, len});
}

static void put_year(int64_t year, int count, fm_strbuf *out)
{
    if (count == 2) {
        put_number(fm_floor_mod(year, 100), 2, out);
        return;
    }
    /* From four letters on a year that exceeds them is marked. */
    if (count >= 4 && year >= fm_pow10_small(count)) fm_strbuf_add_char(out, '+');
    put_number(year, count, out);
}

static void put_short(const char *name, int count, fm_strbuf *out)
{
    fm_strbuf_add(out, (fm_str){name, count <= 3 ? 3 : strlen(name)});
}

static void put_quarter(int quarter, int count, fm_strbuf *out)
{
    static const char *const full[] = {"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"};
    if (count <= 2) {
        put_number(quarter, count, out);
    } else if (count == 3) {
        fm_strbuf_add_char(out, 'Q');
        put_number(quarter, 1, out);
    } else {
        fm_strbuf_add_c(out, full[quarter - 1]);
    }
}

/* +HH[:mm[:ss]]. minutes: 0 only when not zero, 1 always; seconds only when not zero and asked for. */
static void put_offset(int32_t offset_s, bool colons, int minutes, bool seconds, fm_strbuf *out)
{
    int32_t magnitude = offset_s < 0 ? -offset_s : offset_s;
    int32_t m = magnitude / 60 % 60, s = magnitude % 60;
    fm_strbuf_add_char(out, offset_s < 0 ? '-' : '+');
    put_number(magnitude / 3600, 2, out);
    if (minutes || m) {
        if (colons) fm_strbuf_add_char(out, ':');
        put_number(m, 2, out);
    }
    if (seconds && s) {
        if (colons) fm_strbuf_add_char(out, ':');
        put_number(s, 2, out);
    }
}

/* GMT, GMT+8, GMT+08:00. */
static void put_localized_offset(int32_t offset_s, bool full, fm_strbuf *out)
{
    int32_t magnitude = offset_s < 0 ? -offset_s : offset_s;
    fm_strbuf_add_c(out, "GMT");
    if (offset_s == 0) return;
    if (full) {
        put_offset(offset_s, true, 1, true, out);
        return;
    }
    fm_strbuf_add_char(out, offset_s < 0 ? '-' : '+');
    put_number(magnitude / 3600, 1, out);
    if (magnitude % 3600) {
        fm_strbuf_add_char(out, ':');
        put_number(magnitude / 60 % 60, 2, out);
    }
    if (magnitude % 60) {
        fm_strbuf_add_char(out, ':');
        put_number(magnitude % 60, 2, out);
    }
}

static void put_fraction(int32_t us, int count, fm_strbuf *out)
{
    int32_t unit = 100000;
    for (int i = 0; i < count; i++, unit /= 10)
        fm_strbuf_add_char(out, unit ? (char)('0' + us / unit % 10) : '0');
}

static void put_item(const fm_time_format *f, const fm_time_item *item, const moment *m, fm_strbuf *out)
{
    int n = item->count;
    switch (item->letter) {
    case 0: fm_strbuf_add(out, item->text); break;
    case 'G':
        if (n <= 3) fm_strbuf_add_c(out, m->year > 0 ? "AD" : "BC");
        else fm_strbuf_add_c(out, m->year > 0 ? "Anno Domini" : "Before Christ");
        break;
    case 'y': put_year(f->has_era && m->year <= 0 ? 1 - (int64_t)m->year : m->year, n, out); break;
    case 'u': put_year(m->year, n, out); break;
    case 'M':
    case 'L':
        if (n <= 2) put_number(m->month, n, out);
        else put_short(fm_month_names[m->month - 1], n, out);
        break;
    case 'd': put_number(m->day, n, out); break;
    case 'D': put_number(m->day_of_year, n, out); break;
    case 'Q':
    case 'q': put_quarter((m->month - 1) / 3 + 1, n, out); break;
    case 'E': put_short(fm_day_names[m->weekday], n, out); break;
    case 'F': put_number((m->day - 1) % 7 + 1, 1, out); break;
    case 'a': fm_strbuf_add_c(out, m->hour < 12 ? "AM" : "PM"); break;
    case 'H': put_number(m->hour, n, out); break;
    case 'k': put_number(m->hour ? m->hour : 24, n, out); break;
    case 'K': put_number(m->hour % 12, n, out); break;
    case 'h': put_number(m->hour % 12 ? m->hour % 12 : 12, n, out); break;
    case 'm': put_number(m->minute, n, out); break;
    case 's': put_number(m->second, n, out); break;
    case 'S': put_fraction(m->us, n, out); break;
    case 'V': fm_strbuf_add(out, fm_zone_id(m->zone)); break;
    case 'z': fm_zone_name(m->zone, m->utc_us, n == 4, out); break;
    case 'O': put_localized_offset(m->offset_s, n == 4, out); break;
    case 'X':
        if (m->offset_s == 0) fm_strbuf_add_char(out, 'Z');
        else put_offset(m->offset_s, n == 3 || n == 5, n > 1, n > 3, out);
        break;
    case 'x': put_offset(m->offset_s, n == 3 || n == 5, n > 1, n > 3, out); break;
    case 'Z':
        if (n == 4) put_localized_offset(m->offset_s, true, out);
        else if (n == 5 && m->offset_s == 0) fm_strbuf_add_char(out, 'Z');
        else put_offset(m->offset_s, n == 5, 1, n == 5, out);
        break;
    default: break; /* brackets print nothing themselves */
    }
}

void fm_time_format_print(const fm_time_format *f, int64_t utc_us, const fm_zone *zone, fm_strbuf *out)
{
    moment m = moment_of(utc_us, zone);
    for (int32_t i = 0; i < f->n; i++) put_item(f, &f->items[i], &m, out);
}

void fm_time_format_print_day(const fm_time_format *f, int32_t day, fm_strbuf *out)
{
    moment m = moment_of_day(day);
    for (int32_t i = 0; i < f->n; i++) put_item(f, &f->items[i], &m, out);
}

/* expr/zone.c: time zones. The only file that knows ICU's calendar.
 *
 * All transitions of a zone up to the year 2100 are asked of ICU once and laid out in an array; an index by
 * spans of 97 days leads to the place at once:
 *
 *     utc_s - from_s  >> 23  ->  index[]  ->  first transition of the span, then a step or two forward
 *
 * Beyond the table the rules go on year by year, and rules depend on the calendar only: a year of the far
 * future is looked up as a year of the table that is as long and begins on the same day of the week.
 * A zone is immutable, so threads share it without a lock. */
#include "expr/zone.h"

#include <unicode/ucal.h>
#include <unicode/ustring.h>

#include "expr/time_parts.h"
#include "expr/zone_names.h"

enum {
    SPAN_BITS = 23,          /* 2^23 s = 97 days a span */
    TRANSITIONS_MAX = 4096,  /* no zone has a tenth of it before 2100 */
    TABLE_YEAR_END = 2100,
    OFFSET_S_MAX = 18 * 3600, /* java.time's bound */
    ID_LEN_MAX = 64
};

typedef struct transition {
    int64_t at_s;     /* first second of the new offset */
    int32_t offset_s; /* seconds east from then on */
} transition;

struct fm_zone {
    fm_str id;
    int32_t first_offset_s; /* before the first transition, or always */
    int32_t n;
    const transition *transitions; /* [n] rising */
    int64_t from_s, to_s;          /* what the index covers: [from_s, to_s) */
    const uint16_t *index;         /* [(to_s - from_s) >> SPAN_BITS + 1] transitions begun before the span */
};

/* --- ids --------------------------------------------------------------------------------------------- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }

/* +h, +hh, +h:mm, +hh:m, +hh:mm, +hhmm, +hh:mm:ss, +hhmmss and the same with -. */
static bool signed_offset(fm_str text, int32_t *offset_s)
{
    int32_t part[3] = {0};
    int n_parts = 0;
    bool colons = false;
    const char *p = text.ptr, *end = p + text.len;
    bool negative;
    if (text.len < 2 || (*p != '+' && *p != '-')) return false;
    negative = *p++ == '-';
    while (p < end && n_parts < 3) {
        int n = 0;
        while (p < end && n < 2 && is_digit(*p)) {
            part[n_parts] = part[n_parts] * 10 + (*p++ - '0');
            n++;
        }
        if (n == 0) return false;
        n_parts++;
        if (p == end) {
            /* One digit stands alone, or for hours and last minutes beside a colon. */
            if (n == 1 && n_parts > 1 && !(colons && n_parts == 2)) return false;
            break;
        }
        if (*p == ':') {
            if (n_parts > 1 && !colons) return false;
            colons = true;
            p++;
            if (p == end) return false;
        } else if (colons || n == 1) {
            return false;
        }
    }
    if (p != end || part[1] > 59 || part[2] > 59) return false;
    *offset_s = part[0] * 3600 + part[1] * 60 + part[2];
    if (*offset_s > OFFSET_S_MAX) return false;
    if (negative) *offset_s = -*offset_s;
    return true;
}

bool fm_zone_offset_of_text(fm_str text, int32_t *offset_s)
{
    static const char *const prefixes[] = {"UTC", "GMT", "UT"};
    if (fm_str_eq(text, FM_STR("Z"))) {
        *offset_s = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof prefixes / sizeof prefixes[0]; i++) {
        fm_str prefix = fm_str_c(prefixes[i]);
        if (!fm_str_starts(text, prefix)) continue;
        text.ptr += prefix.len;
        text.len -= prefix.len;
        if (text.len == 0) {
            *offset_s = 0;
            return true;
        }
        break;
    }
    return signed_offset(text, offset_s);
}

/* Java's short ids, which are not ICU's; NULL: none of them. */
static const char *long_id(fm_str id)
{
    static const char *const ids[][2] = {
        {"ACT", "Australia/Darwin"}, {"AET", "Australia/Sydney"},
        {"AGT", "America/Argentina/Buenos_Aires"}, {"ART", "Africa/Cairo"},
        {"AST", "America/Anchorage"}, {"BET", "America/Sao_Paulo"}, {"BST", "Asia/Dhaka"},
        {"CAT", "Africa/Harare"}, {"CNT", "America/St_Johns"}, {"CST", "America/Chicago"},
        {"CTT", "Asia/Shanghai"}, {"EAT", "Africa/Addis_Ababa"}, {"ECT", "Europe/Paris"},
        {"EST", "-05:00"}, {"HST", "-10:00"}, {"IET", "America/Indiana/Indianapolis"},
        {"IST", "Asia/Kolkata"}, {"JST", "Asia/Tokyo"}, {"MIT", "Pacific/Apia"},
        {"MST", "-07:00"}, {"NET", "Asia/Yerevan"}, {"NST", "Pacific/Auckland"},
        {"PLT", "Asia/Karachi"}, {"PNT", "America/Phoenix"}, {"PRT", "America/Puerto_Rico"},
        {"PST", "America/Los_Angeles"}, {"SST", "Pacific/Guadalcanal"},
        {"VST", "Asia/Ho_Chi_Minh"},
    };
    for (size_t i = 0; i < sizeof ids / sizeof ids[0]; i++)
        if (fm_str_eq(id, fm_str_c(ids[i][0]))) return ids[i][1];
    return NULL;
}

/* A calendar that ICU keeps for a region; NULL when it knows none of that id. The caller closes it. */
static UCalendar *open_region(fm_str id)
{
    UErrorCode code = U_ZERO_ERROR;
    UChar wide[ID_LEN_MAX + 1], canonical[ID_LEN_MAX + 1];
    UBool is_system = false;
    UCalendar *calendar;
    if (id.len == 0 || id.len > ID_LEN_MAX) return NULL;
    for (size_t i = 0; i < id.len; i++) {
        if ((unsigned char)id.ptr[i] >= 128) return NULL;
        wide[i] = (UChar)id.ptr[i];
    }
    ucal_getCanonicalTimeZoneID(wide, (int32_t)id.len, canonical, ID_LEN_MAX, &is_system, &code);
    if (U_FAILURE(code) || !is_system) return NULL;
    calendar = ucal_open(wide, (int32_t)id.len, "en_US", UCAL_GREGORIAN, &code);
    return U_FAILURE(code) ? NULL : calendar;
}

static int32_t icu_offset_s(UCalendar *calendar, int64_t utc_s)
{
    UErrorCode code = U_ZERO_ERROR;
    int32_t ms;
    ucal_setMillis(calendar, (double)utc_s * 1000.0, &code);
    ms = ucal_get(calendar, UCAL_ZONE_OFFSET, &code) + ucal_get(calendar, UCAL_DST_OFFSET, &code);
    return U_FAILURE(code) ? 0 : ms / 1000;
}

/* --- making a zone ----------------------------------------------------------------------------------- */

/* Fills found[] with the changes of offset; returns how many. */
static int32_t list_transitions(UCalendar *calendar, int64_t end_s, transition *found,
                                int32_t *first_offset_s)
{
    const int64_t start_s = INT64_C(-5000000000); /* 1811: before any zone kept time */
    int32_t n = 0, before = icu_offset_s(calendar, start_s);
    *first_offset_s = before;
    while (n < TRANSITIONS_MAX) {
        UErrorCode code = U_ZERO_ERROR;
        UDate at_ms;
        int64_t at_s;
        int32_t offset_s;
        if (!ucal_getTimeZoneTransitionDate(calendar, UCAL_TZ_TRANSITION_NEXT, &at_ms, &code) ||
            U_FAILURE(code))
            break;
        at_s = fm_floor_div((int64_t)at_ms, 1000);
        if (at_s >= end_s) break;
        offset_s = icu_offset_s(calendar, at_s); /* moves the calendar on, too */
        if (offset_s == before) continue;
        found[n++] = (transition){at_s, offset_s};
        before = offset_s;
    }
    return n;
}

static fm_status build(fm_arena *arena, UCalendar *calendar, fm_zone *zone, fm_error *err)
{
    transition *found = fm_arena_array(arena, transition, TRANSITIONS_MAX);
    uint16_t *index;
    int64_t spans;
    int32_t begun = 0;
    if (!found) return fm_no_memory(arena, err);
    zone->to_s = (int64_t)fm_days_from_civil(TABLE_YEAR_END, 1, 1) * 86400;
    zone->n = list_transitions(calendar, zone->to_s, found, &zone->first_offset_s);
    zone->transitions = found;
    zone->from_s = zone->n ? found[0].at_s : 0;
    spans = ((zone->to_s - zone->from_s) >> SPAN_BITS) + 1;
    index = fm_arena_array(arena, uint16_t, spans);
    if (!index) return fm_no_memory(arena, err);
    for (int64_t i = 0; i < spans; i++) {
        int64_t span_s = zone->from_s + i * (INT64_C(1) << SPAN_BITS);
        while (begun < zone->n && found[begun].at_s <= span_s) begun++;
        index[i] = (uint16_t)begun;
    }
    zone->index = index;
    return FM_OK;
}

fm_status fm_zone_open(fm_arena *arena, fm_str id, const fm_zone **out, fm_error *err)
{
    fm_zone *zone = fm_arena_one(arena, fm_zone);
    const char *longer = long_id(id);
    fm_str region = longer ? fm_str_c(longer) : id;
    UCalendar *calendar;
    fm_status st;
    if (!zone) return fm_no_memory(arena, err);
    zone->id = fm_arena_str(arena, id);
    if (!zone->id.ptr) return fm_no_memory(arena, err);
    *out = zone;
    if (fm_zone_offset_of_text(region, &zone->first_offset_s)) return FM_OK;
    calendar = open_region(region);
    if (!calendar)
        return fm_fail(err, FM_INVALID, "INVALID_TIMEZONE",
                       "The timezone: %.*s is invalid. The timezone must be either a region-based zone ID "
                       "or a zone offset. Region IDs must have the form 'area/city', such as "
                       "'America/Los_Angeles'. Zone offsets must be in the format '(+|-)HH', '(+|-)HH:mm' or "
                       "'(+|-)HH:mm:ss', e.g '-08' , '+01:00' or '-13:33:33', and must be in the range from "
                       "-18:00 to +18:00. 'Z' and 'UTC' are accepted as synonyms for '+00:00'.",
                       FM_STR_ARG(id));
    st = build(arena, calendar, zone, err);
    ucal_close(calendar);
    return st;
}

const fm_zone *fm_zone_utc(void)
{
    static const fm_zone utc = {.id = {"UTC", 3}};
    return &utc;
}

fm_str fm_zone_id(const fm_zone *zone) { return zone->id; }

/* --- looking up -------------------------------------------------------------------------------------- */

/* A second within the table whose year is as long as the one `utc_s` lies in and begins on the same day of the
 * week. 28 years before 2100 hold all fourteen kinds of years. */
static int64_t same_kind_of_year(int64_t utc_s)
{
    int32_t year, month, day, like;
    int64_t days = fm_floor_div(utc_s, 86400);
    int32_t start, other;
    if (days > INT32_MAX) days = INT32_MAX;
    fm_civil_from_days((int32_t)days, &year, &month, &day);
    start = fm_days_from_civil(year, 1, 1);
    for (like = TABLE_YEAR_END - 29; like < TABLE_YEAR_END - 1; like++) {
        other = fm_days_from_civil(like, 1, 1);
        if (fm_days_in_month(like, 2) == fm_days_in_month(year, 2) &&
            fm_floor_mod(other, 7) == fm_floor_mod(start, 7))
            break;
    }
    other = fm_days_from_civil(like, 1, 1);
    return utc_s - ((int64_t)start - other) * 86400;
}

static int32_t offset_of_second(const fm_zone *zone, int64_t utc_s)
{
    int32_t i;
    if (utc_s < zone->from_s) return zone->first_offset_s;
    if (utc_s >= zone->to_s) utc_s = same_kind_of_year(utc_s);
    i = zone->index[(utc_s - zone->from_s) >> SPAN_BITS];
    while (i < zone->n && zone->transitions[i].at_s <= utc_s) i++;
    return i ? zone->transitions[i - 1].offset_s : zone->first_offset_s;
}

int32_t fm_zone_offset_s(const fm_zone *zone, int64_t utc_us)
{
    if (zone->n == 0) return zone->first_offset_s;
    return offset_of_second(zone, fm_floor_div(utc_us, FM_US_PER_SECOND));
}

/* At the ends of the calendar time stands still rather than wrap. */
static int64_t add_offset(int64_t us, int64_t offset_s)
{
    int64_t moved;
    if (!__builtin_add_overflow(us, offset_s * FM_US_PER_SECOND, &moved)) return moved;
    return us < 0 ? INT64_MIN : INT64_MAX;
}

int64_t fm_zone_to_local(const fm_zone *zone, int64_t utc_us)
{
    return add_offset(utc_us, fm_zone_offset_s(zone, utc_us));
}

/* Given the offsets a day before and a day after (as if local were UTC), and offset_at for candidates: */
#define LOCAL_TO_UTC(local_us, before, after, offset_at)                                       \
    do {                                                                                       \
        int64_t first = add_offset(local_us, -(int64_t)(before));                              \
        int64_t second = add_offset(local_us, -(int64_t)(after));                              \
        if ((before) == (after) || (offset_at(first)) == (before)) return first; /* overlap: earlier */ \
        if ((offset_at(second)) == (after)) return second;                                     \
        return first; /* in the gap: forward by its length */                                  \
    } while (0)

int64_t fm_zone_to_utc(const fm_zone *zone, int64_t local_us)
{
    int32_t before, after;
    if (zone->n == 0) return add_offset(local_us, -(int64_t)zone->first_offset_s);
    before = fm_zone_offset_s(zone, add_offset(local_us, -86400));
    after = fm_zone_offset_s(zone, add_offset(local_us, 86400));
#define OFFSET_AT(us) fm_zone_offset_s(zone, us)
    LOCAL_TO_UTC(local_us, before, after, OFFSET_AT);
#undef OFFSET_AT
}

/* --- zones named in text ----------------------------------------------------------------------------- */

bool fm_zone_known(fm_str text)
{
    const char *longer = long_id(text);
    int32_t offset_s;
    UCalendar *calendar;
    if (longer) text = fm_str_c(longer);
    if (fm_zone_offset_of_text(text, &offset_s)) return true;
    calendar = open_region(text);
    if (calendar) ucal_close(calendar);
    return calendar != NULL;
}

static int64_t region_to_utc(UCalendar *calendar, int64_t local_us)
{
    int64_t local_s = fm_floor_div(local_us, FM_US_PER_SECOND);
    int32_t before = icu_offset_s(calendar, local_s - 86400);
    int32_t after = icu_offset_s(calendar, local_s + 86400);
#define OFFSET_AT(us) icu_offset_s(calendar, fm_floor_div(us, FM_US_PER_SECOND))
    LOCAL_TO_UTC(local_us, before, after, OFFSET_AT);
#undef OFFSET_AT
}

bool fm_zone_text_to_utc(fm_str id, int64_t local_us, int64_t *utc_us)
{
    const char *longer = long_id(id);
    int32_t offset_s;
    UCalendar *calendar;
    if (longer) id = fm_str_c(longer);
    if (fm_zone_offset_of_text(id, &offset_s)) {
        *utc_us = add_offset(local_us, -(int64_t)offset_s);
        return true;
    }
    calendar = open_region(id);
    if (!calendar) return false;
    *utc_us = region_to_utc(calendar, local_us);
    ucal_close(calendar);
    return true;
}

void fm_zone_name(const fm_zone *zone, int64_t utc_us, bool full, fm_strbuf *out)
{
    const char *longer = long_id(zone->id);
    fm_str region = longer ? fm_str_c(longer) : zone->id;
    UCalendar *calendar = open_region(region);
    UErrorCode code = U_ZERO_ERROR;
    UChar wide[128];
    char text[256];
    int32_t len = 0, written = 0;
    if (!calendar) {
        fm_strbuf_add(out, region);
        return;
    }
    ucal_setMillis(calendar, (double)fm_floor_div(utc_us, 1000), &code);
    bool summer = ucal_get(calendar, UCAL_DST_OFFSET, &code) != 0;
    const char *known = full ? NULL : fm_zone_short_name(region, summer);
    if (known) {
        fm_strbuf_add_c(out, known);
        ucal_close(calendar);
        return;
    }
    UCalendarDisplayNameType how = full ? (summer ? UCAL_DST : UCAL_STANDARD)
                                        : (summer ? UCAL_SHORT_DST : UCAL_SHORT_STANDARD);
    len = ucal_getTimeZoneDisplayName(calendar, how, "en_US", wide, 128, &code);
    u_strToUTF8(text, sizeof text, &written, wide, len, &code);
    if (U_FAILURE(code))
        fm_strbuf_add(out, region);
    else
        fm_strbuf_add(out, (fm_str){text, (size_t)written});
    ucal_close(calendar);
}

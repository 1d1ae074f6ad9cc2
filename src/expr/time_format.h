/* expr/time_format.h: a compiled date pattern, as its printer (time_format.c) and parser (time_format_parse.c)
 * share it. */
#ifndef FM_EXPR_TIME_FORMAT_H
#define FM_EXPR_TIME_FORMAT_H

#include "expr/time_parts.h"

typedef struct fm_time_item {
    char letter;   /* 0: text; '[' and ']' bracket an optional part */
    uint8_t count; /* how often the letter stands */
    int32_t end;   /* '[': index of its ']' */
    fm_str text;
} fm_time_item;

struct fm_time_format {
    fm_str text;   /* the pattern */
    bool has_era;
    int32_t n;
    fm_time_item *items;
};

/* The zone a text named: an offset, a region, or none. */
typedef struct fm_time_zone_found {
    bool has_offset;
    int32_t offset_s;
    fm_str region;
} fm_time_zone_found;
/* Whether the pattern may be parsed by: day names and quarters are printed only. INCONSISTENT_BEHAVIOR_CROSS_VERSION.
 * DATETIME_PATTERN_RECOGNITION, or INVALID_DATETIME_PATTERN.ILLEGAL_CHARACTER. */
fm_status fm_time_format_for_parsing(const fm_time_format *f, fm_error *err);
/* The clock a text names, before its zone is applied. */
bool fm_time_format_parse_local(const fm_time_format *f, fm_str text, int64_t *local_us,
                                fm_time_zone_found *zone);

extern const char *const fm_month_names[12];
extern const char *const fm_day_names[7]; /* Monday first */

static inline int64_t fm_pow10_small(int n)
{
    int64_t x = 1;
    while (n-- > 0) x *= 10;
    return x;
}

#endif

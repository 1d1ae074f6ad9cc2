/* format/text_value.h: texts as they stand in data files -> values, the quick way where the text is
 * of the usual form and by expr/cast.h's rules otherwise. Shared by JSON and CSV. */
#ifndef FM_FORMAT_TEXT_VALUE_H
#define FM_FORMAT_TEXT_VALUE_H

#include "expr/cast.h"

/* The day of the last text, so that the calendar is asked once a day of input. Zero it. */
typedef struct fm_date_cache {
    char text[10]; /* "2026-01-01" */
    bool filled;
    int64_t day_us; /* its midnight, UTC */
} fm_date_cache;

/* A number as JSON writes it (or with leading zeros), or NaN, [+-]INF, [+-]Infinity: the nearest
 * double, as Java's parser gives it; too large ones are infinite. False for other texts. */
bool fm_number_text_f64(fm_str text, double *out);
bool fm_number_text_f32(fm_str text, float *out);
/* Digits with an optional '-' (and '+' with `plus`); false when there are others, none, or they do
 * not fit. */
bool fm_integer_text(fm_str text, bool plus, int64_t *out);

/* "2026-01-01" -> its midnight in UTC, µs. Ten bytes. */
bool fm_file_day(fm_str text, fm_date_cache *cache, int64_t *out);
/* As fm_text_to_timestamp: same texts, same values. The usual form, yyyy-MM-dd, 'T' or blank,
 * HH:mm:ss, fraction, then Z, +hh:mm or nothing, takes a short way. */
bool fm_file_timestamp(fm_str text, const fm_zone *zone, fm_date_cache *cache, int64_t *out);
/* A local time; a text with a zone is refused. */
bool fm_file_timestamp_ntz(fm_str text, fm_date_cache *cache, int64_t *out);
/* Spark's second try for texts of its first versions: "GMT" is taken out. */
bool fm_file_timestamp_old(fm_str text, const fm_zone *zone, int64_t *out);
bool fm_file_date_old(fm_str text, int32_t *out); /* also a plain number of days */

/* Base64 (RFC 4648, padded; blanks between groups): appends the bytes. False when it is none. */
bool fm_base64_text(fm_str text, fm_strbuf *out);

#endif

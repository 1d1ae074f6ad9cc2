/* expr/cast.h: values from one type to another, by Spark's CAST; and values to and from text. */
#ifndef FM_EXPR_CAST_H
#define FM_EXPR_CAST_H

#include "expr/function.h"

typedef enum fm_cast_mode { FM_CAST_LEGACY, FM_CAST_ANSI, FM_CAST_TRY } fm_cast_mode;

/* in -> out of type `to`. ANSI failures: CAST_INVALID_INPUT, CAST_OVERFLOW, NUMERIC_VALUE_OUT_OF_RANGE, ... */
fm_status fm_cast_run(const fm_vec *in, const fm_type *to, fm_cast_mode mode,
                      const fm_session_conf *conf, fm_arena *arena, fm_vec *out, fm_error *err);
/* Whether Spark allows the cast at all. */
bool fm_cast_exists(const fm_type *from, const fm_type *to, bool ansi);

/* Appends the text of lane i as CAST(x AS STRING) gives it; "null" inside nested values, nothing special at
 * the top: the caller prints nulls. */
void fm_value_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out);
/* As Java prints: 1.0, 1.0E10, NaN, -Infinity. Shortest text that reads back the same. Returns the length. */
enum { FM_DOUBLE_TEXT_SIZE = 32 };
size_t fm_double_text(double x, char out[FM_DOUBLE_TEXT_SIZE]);
size_t fm_float_text(float x, char out[FM_DOUBLE_TEXT_SIZE]);
size_t fm_i64_text(int64_t x, char out[24]);
/* Plain decimal digits with scale digits behind the point. */
enum { FM_DECIMAL_TEXT_SIZE = 48 };
size_t fm_decimal_text(fm_i128 unscaled, int scale, char out[FM_DECIMAL_TEXT_SIZE]);
/* As BigDecimal.toString(): with an exponent where six zeros would stand behind the point, as in 1.5E-9. */
size_t fm_decimal_java_text(fm_i128 unscaled, int scale, char out[FM_DECIMAL_TEXT_SIZE]);
/* As fm_value_text, decimals as fm_decimal_java_text: CAST(x AS STRING) without ANSI. */
void fm_value_java_text(const fm_vec *v, int64_t i, const fm_zone *zone, fm_strbuf *out);

/* yyyy-MM-dd and yyyy-MM-dd HH:mm:ss[.ffffff] of a local clock, as CAST has them. */
enum { FM_TIME_TEXT_SIZE = 48 };
size_t fm_date_text(int32_t days, char out[FM_TIME_TEXT_SIZE]);
size_t fm_timestamp_text(int64_t local_us, char out[FM_TIME_TEXT_SIZE]);

/* Text to values by CAST's lenient rules; false when the text is none. Blanks around are ignored. */
bool fm_text_to_double(fm_str text, double *out);          /* exact; NaN, Infinity, 1d, 1f forms as Spark */
bool fm_text_to_float(fm_str text, float *out);
bool fm_text_to_i64(fm_str text, int64_t *out);            /* "12", "-12", not "1.5" */
bool fm_text_to_i64_lenient(fm_str text, int64_t *out);    /* "1.5" is 1: without ANSI */
bool fm_text_to_decimal(fm_str text, int precision, int scale, fm_i128 *out); /* rounds half up; exponents */
bool fm_text_to_date(fm_str text, int32_t *out);           /* yyyy[-M[-d]] and what follows T or blank */
bool fm_text_to_timestamp(fm_str text, const fm_zone *zone, int64_t *out); /* see semantics 11.3 */
bool fm_text_to_timestamp_ntz(fm_str text, int64_t *out);
/* "10 minutes", "interval 1 day 2 hours": months, days, µs apart. FM_INVALID, INVALID_INTERVAL_FORMAT.* */
typedef struct fm_interval {
    int32_t months, days;
    int64_t us;
} fm_interval;
fm_status fm_text_to_interval(fm_str text, fm_interval *out, fm_error *err);

/* java.time patterns: yyyy-MM-dd'T'HH:mm:ss.SSSXXX ... Compiled once. */
typedef struct fm_time_format fm_time_format;
fm_status fm_time_format_new(fm_arena *arena, fm_str pattern, const fm_time_format **out,
                             fm_error *err);
void fm_time_format_print(const fm_time_format *f, int64_t utc_us, const fm_zone *zone,
                          fm_strbuf *out);
/* A date, days since 1970: those that no instant in µs reaches, too. */
void fm_time_format_print_day(const fm_time_format *f, int32_t day, fm_strbuf *out);
bool fm_time_format_parse(const fm_time_format *f, fm_str text, const fm_zone *zone, int64_t *utc_us);

#endif

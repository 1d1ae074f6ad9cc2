/* format/json_options.h: Spark's options for reading JSON, as the reader, from_json and inference
 * take them. */
#ifndef FM_FORMAT_JSON_OPTIONS_H
#define FM_FORMAT_JSON_OPTIONS_H

#include "expr/cast.h"
#include "format/format.h"

typedef struct fm_json_options {
    unsigned flags; /* FM_JSON_... of json_scan.h */
    fm_bad_mode mode;
    bool multi_line;
    bool exact_text;    /* a value read as STRING keeps its bytes; else it is written anew, without
                           blanks */
    bool array_is_rows; /* an array at the top is a row for each element */
    bool primitives_as_string, prefers_decimal, drop_field_if_all_null; /* inference */
    bool infer_timestamp;
    fm_str line_sep; /* empty: \n, \r\n or \r */
    fm_str corrupt_column;
    bool corrupt_reason; /* FM_BAD_REASON_OPTION */
    const fm_zone *zone;
    /* NULL: the lenient parser, with a fallback to older forms when *_fallback. */
    const fm_time_format *timestamp_format, *ntz_format, *date_format;
    bool timestamp_fallback, date_fallback;
    fm_session_conf conf; /* for texts of intervals */
} fm_json_options;

extern const char *const fm_json_read_options[];

/* FM_INVALID names the option that is wrong. Lives in arena; options are borrowed for the call. */
fm_status fm_json_options_read(fm_arena *arena, const fm_options *options, const fm_zone *zone,
                               fm_str corrupt_column, fm_json_options *out, fm_error *err);

/* The mode option of every text format. */
fm_status fm_bad_mode_option(const fm_options *options, fm_bad_mode *out, fm_error *err);
/* encoding, charset: anything but UTF-8 is refused. */
fm_status fm_encoding_option(const fm_options *options, fm_error *err);
/* The same of files that are read: whoever reads them makes UTF-8 of what Spark reads. INVALID_PARAMETER_VALUE.CHARSET. */
fm_status fm_read_encoding_option(const fm_options *options, bool is_json, fm_error *err);
bool fm_is_utf8(const fm_options *options); /* what the option says */
/* locale: only English is known. */
fm_status fm_locale_option(const fm_options *options, fm_error *err);
/* lineSep: empty when not given. Any format. */
fm_status fm_line_sep_option(const fm_options *options, fm_arena *arena, fm_str *out,
                             fm_error *err);
/* The pattern of an option, compiled, or NULL when it is not given. */
fm_status fm_time_format_option(const fm_options *options, const char *key, fm_arena *arena,
                                const fm_time_format **out, fm_error *err);
/* The session zone, or that of the option timeZone. */
fm_status fm_zone_option(const fm_options *options, const fm_zone *session, fm_arena *arena,
                         const fm_zone **out, fm_error *err);

#endif

/* format/json_options.c: reads the options of JSON, and those that all text formats share. */
#include "format/json_options.h"

#include "format/json_scan.h"

const char *const fm_json_read_options[] = {"mode",
                                            "columnNameOfCorruptRecord",
                                            FM_BAD_REASON_OPTION,
                                            "timestampFormat",
                                            "timestampNTZFormat",
                                            "dateFormat",
                                            "timeZone",
                                            "multiLine",
                                            "lineSep",
                                            "encoding",
                                            "charset",
                                            "primitivesAsString",
                                            "prefersDecimal",
                                            "dropFieldIfAllNull",
                                            "inferTimestamp",
                                            "samplingRatio",
                                            "allowComments",
                                            "allowUnquotedFieldNames",
                                            "allowSingleQuotes",
                                            "allowNumericLeadingZeros",
                                            "allowNonNumericNumbers",
                                            "allowBackslashEscapingAnyCharacter",
                                            "allowUnquotedControlChars",
                                            "enableDateTimeParsingFallback",
                                            "locale",
                                            "compression",
                                            NULL};

fm_status fm_bad_mode_option(const fm_options *options, fm_bad_mode *out, fm_error *err)
{
    fm_str text = fm_options_get(options, "mode", FM_STR("PERMISSIVE"));

    if (fm_str_eq_ci(text, FM_STR("PERMISSIVE"))) {
        *out = FM_BAD_PERMISSIVE;
    } else if (fm_str_eq_ci(text, FM_STR("DROPMALFORMED"))) {
        *out = FM_BAD_DROPMALFORMED;
    } else if (fm_str_eq_ci(text, FM_STR("FAILFAST"))) {
        *out = FM_BAD_FAILFAST;
    } else {
        return fm_fail(
            err, FM_INVALID, "INVALID_PARSE_MODE",
            "Option mode '%.*s' is not known: use PERMISSIVE, DROPMALFORMED or FAILFAST.",
            FM_STR_ARG(text));
    }
    return FM_OK;
}

fm_status fm_line_sep_option(const fm_options *options, fm_arena *arena, fm_str *out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, "lineSep");

    *out = (fm_str){"", 0};
    if (!o) return FM_OK;
    if (o->value.len == 0 || o->value.len > 128)
        return fm_fail(err, FM_INVALID, "INVALID_OPTION",
                       "Option lineSep must have 1 to 128 bytes. Leave it out to end lines at \\n, "
                       "\\r\\n or \\r.");
    *out = fm_arena_str(arena, o->value);
    return out->ptr ? FM_OK : fm_no_memory(arena, err);
}

fm_status fm_time_format_option(const fm_options *options, const char *key, fm_arena *arena,
                                const fm_time_format **out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, key);

    *out = NULL;
    if (!o) return FM_OK;
    return fm_context(err, fm_time_format_new(arena, o->value, out, err), "reading option %s", key);
}

fm_status fm_zone_option(const fm_options *options, const fm_zone *session, fm_arena *arena,
                         const fm_zone **out, fm_error *err)
{
    const fm_option *o = fm_options_find(options, "timeZone");

    *out = session;
    if (!o) return FM_OK;
    return fm_context(err, fm_zone_open(arena, o->value, out, err), "reading option timeZone");
}

static fm_status read_flags(const fm_options *options, unsigned *out, fm_error *err)
{
    static const struct {
        const char *key;
        unsigned flag;
    } switches[] = {
        {"allowComments", FM_JSON_COMMENTS},
        {"allowUnquotedFieldNames", FM_JSON_UNQUOTED_NAMES},
        {"allowSingleQuotes", FM_JSON_SINGLE_QUOTES},
        {"allowNumericLeadingZeros", FM_JSON_LEADING_ZEROS},
        {"allowNonNumericNumbers", FM_JSON_NON_NUMERIC},
        {"allowBackslashEscapingAnyCharacter", FM_JSON_ANY_ESCAPE},
        {"allowUnquotedControlChars", FM_JSON_CONTROL_CHARS},
    };
    unsigned flags = 0;

    for (size_t i = 0; i < sizeof switches / sizeof switches[0]; i++) {
        bool on, absent = (FM_JSON_DEFAULTS & switches[i].flag) != 0;
        FM_TRY(fm_options_bool(options, switches[i].key, absent, &on, err));
        if (on) flags |= switches[i].flag;
    }
    *out = flags;
    return FM_OK;
}

fm_status fm_encoding_option(const fm_options *options, fm_error *err)
{
    fm_str name =
        fm_options_get(options, "encoding", fm_options_get(options, "charset", FM_STR("UTF-8")));

    if (fm_str_eq_ci(name, FM_STR("UTF-8")) || fm_str_eq_ci(name, FM_STR("UTF8"))) return FM_OK;
    return fm_fail(
        err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_ENCODING",
        "Option encoding '%.*s': only UTF-8 is read. Convert the files first, e.g. with iconv.",
        FM_STR_ARG(name));
}

bool fm_is_utf8(const fm_options *options)
{
    fm_str name = fm_options_get(options, "encoding", fm_options_get(options, "charset", FM_STR("UTF-8")));

    return fm_str_eq_ci(name, FM_STR("UTF-8")) || fm_str_eq_ci(name, FM_STR("UTF8"));
}

fm_status fm_read_encoding_option(const fm_options *options, bool is_json, fm_error *err)
{
    static const char *const known[] = {"ISO-8859-1", "US-ASCII", "UTF-16", "UTF-16BE", "UTF-16LE", "UTF-32"};
    fm_str name = fm_options_get(options, "encoding", fm_options_get(options, "charset", FM_STR("UTF-8")));
    bool found = fm_is_utf8(options), multi_line = false;

    if (found) return FM_OK;
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) found = found || fm_str_eq_ci(name, fm_str_c(known[i]));
    if (!found)
        return fm_fail(err, FM_INVALID, "INVALID_PARAMETER_VALUE.CHARSET",
                       "The value of option encoding is invalid: expects one of iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, "
                       "utf-32, utf-8, but got %.*s.",
                       FM_STR_ARG(name));
    FM_TRY(fm_options_bool(options, "multiLine", false, &multi_line, err));
    if (!is_json || multi_line) return FM_OK;
    if (fm_str_eq_ci(name, FM_STR("UTF-16")) || fm_str_eq_ci(name, FM_STR("UTF-32")))
        return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                       "JSON in encoding %.*s is read with option multiLine only. For lines, give the order of bytes: UTF-16LE or "
                       "UTF-16BE, and option lineSep.",
                       FM_STR_ARG(name));
    if (fm_options_find(options, "lineSep")) return FM_OK;
    return fm_fail(err, FM_INVALID, "FLOODMARK_INVALID_OPTION",
                   "The lineSep option must be specified for the %.*s encoding.", FM_STR_ARG(name));
}

fm_status fm_locale_option(const fm_options *options, fm_error *err)
{
    fm_str name = fm_options_get(options, "locale", FM_STR("en-US"));

    if (name.len >= 2 && fm_str_eq_ci((fm_str){name.ptr, 2}, FM_STR("en")) && (name.len == 2 || name.ptr[2] == '-'))
        return FM_OK;
    return fm_fail(err, FM_UNSUPPORTED, "FLOODMARK_UNSUPPORTED_LOCALE",
                   "Option locale '%.*s': only English (en-US) is known. Read such columns as STRING and convert them.",
                   FM_STR_ARG(name));
}

fm_status fm_json_options_read(fm_arena *arena, const fm_options *options, const fm_zone *zone,
                               fm_str corrupt_column, fm_json_options *out, fm_error *err)
{
    fm_json_options o = {.exact_text = true, .array_is_rows = true};
    bool fallback;

    FM_TRY(read_flags(options, &o.flags, err));
    FM_TRY(fm_bad_mode_option(options, &o.mode, err));
    FM_TRY(fm_options_bool(options, "multiLine", false, &o.multi_line, err));
    FM_TRY(fm_options_bool(options, "primitivesAsString", false, &o.primitives_as_string, err));
    FM_TRY(fm_options_bool(options, "prefersDecimal", false, &o.prefers_decimal, err));
    FM_TRY(fm_options_bool(options, "dropFieldIfAllNull", false, &o.drop_field_if_all_null, err));
    FM_TRY(fm_options_bool(options, "inferTimestamp", false, &o.infer_timestamp, err));
    FM_TRY(fm_line_sep_option(options, arena, &o.line_sep, err));
    FM_TRY(fm_locale_option(options, err));
    FM_TRY(fm_zone_option(options, zone, arena, &o.zone, err));
    FM_TRY(fm_time_format_option(options, "timestampFormat", arena, &o.timestamp_format, err));
    FM_TRY(fm_time_format_option(options, "timestampNTZFormat", arena, &o.ntz_format, err));
    FM_TRY(fm_time_format_option(options, "dateFormat", arena, &o.date_format, err));
    FM_TRY(fm_options_bool(options, "enableDateTimeParsingFallback", false, &fallback, err));
    bool given = fm_options_find(options, "enableDateTimeParsingFallback") != NULL;
    o.timestamp_fallback = given ? fallback : !o.timestamp_format;
    o.date_fallback = given ? fallback : !o.date_format;
    o.corrupt_column =
        fm_arena_str(arena, fm_options_get(options, "columnNameOfCorruptRecord", corrupt_column));
    if (!o.corrupt_column.ptr) return fm_no_memory(arena, err);
    FM_TRY(fm_options_bool(options, FM_BAD_REASON_OPTION, false, &o.corrupt_reason, err));
    o.conf = (fm_session_conf){.ansi = true, .zone = o.zone};
    *out = o;
    return FM_OK;
}

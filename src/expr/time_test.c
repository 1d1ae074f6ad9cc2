/* expr/time_test.c: dates and times: parts, sums, patterns, zones, text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/test_eval.h"
#include "expr/time_parts.h"

/* Session zone Europe/Berlin. TS(text) is a timestamp of its clock. */
#define TS(text) "(cast '" text "' \"TIMESTAMP\")"
#define D(text) "(cast '" text "' \"DATE\")"

static const fm_test_case in_berlin[] = {
    {"(year " D("2024-02-29") ")", "2024"},
    {"(quarter " D("2024-02-29") ")", "1"},
    {"(month " D("1969-12-31") ")", "12"},
    {"(day " D("1969-12-31") ")", "31"},
    {"(dayofmonth '2024-02-29')", "29"},
    {"(dayofweek " D("2026-01-01") ")", "5"},
    {"(weekday " D("2026-01-01") ")", "3"},
    {"(dayofyear " D("2024-12-31") ")", "366"},
    {"(weekofyear " D("2023-12-31") ")", "52"},
    {"(weekofyear " D("2021-01-01") ")", "53"},
    {"(dayname " D("2026-01-01") ")", "Thu"},
    {"(monthname " D("2026-01-01") ")", "Jan"},
    {"(hour " TS("2026-03-28T12:30:15.25Z") ")", "13"},
    {"(minute " TS("2026-03-28T12:30:15.25Z") ")", "30"},
    {"(second " TS("1969-12-31T23:59:59.5Z") ")", "59"},
    {"(extract 'x' " D("2026-01-01") ")", "!INVALID_EXTRACT_BASE_FIELD_TYPE"}, /* the node, not the function */
    {"(date_part 'YEAR' " TS("2026-01-01 00:30:00") ")", "2026"},
    {"(date_part 'yearofweek' " D("2021-01-01") ")", "2020"},
    {"(date_part 'dow_iso' " D("2026-01-04") ")", "7"},
    {"(date_part 'seconds' " TS("2026-01-01 00:30:01.25") ")", "1.250000"},
    {"(date_part 'hour' (cast '1 02:03:04.5' \"INTERVAL DAY TO SECOND\"))", "2"},
    {"(date_part 's' (cast '1 02:03:04.5' \"INTERVAL DAY TO SECOND\"))", "4.500000"},
    {"(date_part 'month' (cast '1-7' \"INTERVAL YEAR TO MONTH\"))", "7"},
    {"(date_part 'century' " D("2026-01-01") ")", "!INVALID_EXTRACT_FIELD"},
    {"(date_part 'hour' (cast '1-7' \"INTERVAL YEAR TO MONTH\"))", "!INVALID_EXTRACT_FIELD"},
    {"(date_add " D("2024-02-28") " 2)", "2024-03-01"},
    {"(date_sub '2024-03-01' 1)", "2024-02-29"},
    {"(datediff " D("2024-01-31") " " D("2024-01-01") ")", "30"},
    {"(add_months " D("2024-01-31") " 1)", "2024-02-29"},
    {"(add_months " D("2024-02-29") " -12)", "2023-02-28"},
    {"(months_between " D("2024-01-31") " " D("2024-02-28") ")", "-0.90322581"},
    {"(months_between " D("2024-02-29") " " D("2024-01-31") ")", "1.0"},
    {"(months_between '1997-02-28 10:30:00' '1996-10-30')", "3.94959677"},
    {"(months_between '1997-02-28 10:30:00' '1996-10-30' false)", "3.9495967741935485"},
    {"(last_day " D("2024-02-03") ")", "2024-02-29"},
    {"(next_day " D("2024-01-31") " 'MON')", "2024-02-05"},
    {"(next_day " D("2024-01-29") " 'monday')", "2024-02-05"},
    {"(next_day " D("2024-01-29") " 'x')", "!ILLEGAL_DAY_OF_WEEK"},
    {"(trunc " D("2024-05-15") " 'MM')", "2024-05-01"},
    {"(trunc " D("2024-05-15") " 'quarter')", "2024-04-01"},
    {"(trunc " D("2024-05-15") " 'WEEK')", "2024-05-13"},
    {"(trunc " D("2024-05-15") " 'yy')", "2024-01-01"},
    {"(trunc " D("2024-05-15") " 'day')", "NULL"},
    {"(date_trunc 'HOUR' " TS("2026-10-25T01:30:00Z") ")", "2026-10-25 02:00:00"},
    {"(unix_seconds (date_trunc 'HOUR' " TS("2026-10-25T01:30:00Z") "))", "1792890000"},
    {"(unix_seconds (date_trunc 'HOUR' " TS("2026-10-25T00:30:00Z") "))", "1792886400"},
    {"(date_trunc 'DAY' " TS("2026-03-29T12:00:00Z") ")", "2026-03-29 00:00:00"},
    {"(date_trunc 'week' " TS("2026-03-29 01:00:00") ")", "2026-03-23 00:00:00"},
    {"(date_trunc 'millisecond' " TS("2026-03-29 01:00:00.123456") ")", "2026-03-29 01:00:00.123"},
    {"(date_trunc 'eon' " TS("2026-03-29 01:00:00") ")", "NULL"},
    {"(unix_timestamp " TS("2026-03-28T12:30:15.25Z") ")", "1774701015"},
    {"(unix_timestamp '1970-01-01 01:00:00')", "0"},
    {"(unix_timestamp '2016-04-08' 'yyyy-MM-dd')", "1460066400"},
    {"(unix_timestamp 'x' 'yyyy-MM-dd')", "!CANNOT_PARSE_TIMESTAMP"},
    {"(from_unixtime 0)", "1970-01-01 01:00:00"},
    {"(from_unixtime 0 'yyyy')", "1970"},
    {"(unix_millis " TS("1969-12-31T23:59:59.9995Z") ")", "-1"},
    {"(timestamp_seconds 1.5)", "1970-01-01 01:00:01.5"},
    {"(timestamp_seconds 1.5D)", "1970-01-01 01:00:01.5"},
    {"(timestamp_seconds 9223372036854775807L)", "!ARITHMETIC_OVERFLOW"},
    {"(timestamp_millis 1L)", "1970-01-01 01:00:00.001"},
    {"(unix_date " D("1970-01-02") ")", "1"},
    {"(date_from_unix_date -1)", "1969-12-31"},
    {"(to_timestamp '2026-01-02')", "2026-01-02 00:00:00"},
    {"(to_timestamp '02/01/2026 3:04 PM' 'dd/MM/yyyy h:mm a')", "2026-01-02 15:04:00"},
    {"(to_timestamp 'x' 'yyyy')", "!CANNOT_PARSE_TIMESTAMP"},
    {"(to_timestamp 'x')", "!CAST_INVALID_INPUT"},
    {"(try_to_timestamp 'x')", "NULL"},
    {"(try_to_timestamp 'x' 'yyyy')", "NULL"},
    {"(to_timestamp_ntz '2026-01-02 03:04:05Z')", "2026-01-02 03:04:05"},
    {"(to_date '31.12.2026' 'dd.MM.yyyy')", "2026-12-31"},
    {"(to_date '2026-12-31 23:59:59')", "2026-12-31"},
    {"(try_to_date '31.2.2026' 'd.M.yyyy')", "NULL"},
    {"(date_format " TS("2026-03-28T12:30:15.25Z") " 'yyyy-MM-dd EEE HH:mm:ss.SSS XXX')",
     "2026-03-28 Sat 13:30:15.250 +01:00"},
    {"(date_format " D("2026-03-28") " 'd MMMM yy')", "28 March 26"},
    {"(make_date 2024 2 30)", "!DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION"},
    {"(make_date 2024 2 29)", "2024-02-29"},
    {"(make_timestamp 2024 2 29 1 2 3.5)", "2024-02-29 01:02:03.5"},
    {"(make_timestamp 2024 2 29 1 2 60)", "2024-02-29 01:03:00"},
    {"(make_timestamp 2024 2 29 1 2 3 'UTC')", "2024-02-29 02:02:03"},
    {"(make_timestamp 2024 2 29 24 2 3)", "!DATETIME_FIELD_OUT_OF_BOUNDS.WITHOUT_SUGGESTION"},
    {"(try_make_timestamp 2024 2 30 1 2 3)", "NULL"},
    {"(make_timestamp_ntz 2024 2 29 1 2 3)", "2024-02-29 01:02:03"},
    {"(make_dt_interval 1 2 3 4.5)", "INTERVAL '1 02:03:04.5' DAY TO SECOND"},
    {"(make_dt_interval)", "INTERVAL '0 00:00:00' DAY TO SECOND"},
    {"(make_ym_interval 1 14)", "INTERVAL '2-2' YEAR TO MONTH"},
    {"(make_ym_interval 2147483647 14)", "!INTERVAL_ARITHMETIC_OVERFLOW.WITHOUT_SUGGESTION"},
    {"(unix_seconds (from_utc_timestamp " TS("2026-03-28T12:30:15Z") " 'Asia/Tokyo'))", "1774733415"},
    {"(unix_seconds (to_utc_timestamp " TS("2026-03-28T12:30:15Z") " 'Asia/Tokyo'))", "1774668615"},
    {"(from_utc_timestamp " TS("2026-03-28T12:30:15Z") " 'Nowhere/At_All')", "!INVALID_TIMEZONE"},
    {"(convert_timezone 'Europe/Brussels' 'America/Los_Angeles' '2021-12-06 00:00:00')", "2021-12-05 15:00:00"},
    {"(timestampadd 'HOUR' 24 " TS("2026-03-28 13:00:00") ")", "2026-03-29 14:00:00"},
    {"(timestampadd 'DAY' 1 " TS("2026-03-28 13:00:00") ")", "2026-03-29 13:00:00"},
    {"(dateadd 'MONTH' 1 " TS("2026-01-31 13:00:00") ")", "2026-02-28 13:00:00"},
    {"(timestampdiff 'MONTH' " TS("2026-01-31 13:00:00") " " TS("2026-02-28 13:00:00") ")", "0"},
    {"(timestampdiff 'DAY' " TS("2026-03-28 13:00:00") " " TS("2026-03-29 13:00:00") ")", "1"},
    {"(timestampdiff 'eon' " TS("2026-03-28 13:00:00") " " TS("2026-03-29 13:00:00") ")",
     "!INVALID_PARAMETER_VALUE.DATETIME_UNIT"},
    {"(current_timestamp)", "2026-01-01 01:00:00"},
    {"(current_date)", "2026-01-01"},
    {"(localtimestamp)", "2026-01-01 01:00:00"},
    {"(current_timezone)", "Europe/Berlin"},
    {"(current_watermark)", "NULL"},
    {"(unix_timestamp)", "1767225600"},
    {"(window_time 1)", "!DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
};

static void test_functions(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(in_berlin, .ansi = true, .zone = "Europe/Berlin"), 0);
}

/* --- patterns ---------------------------------------------------------------------------------------- */

static const struct {
    const char *pattern, *zone;
    int64_t us;
    const char *text; /* NULL: the pattern is refused */
    bool back;        /* the text reads back as the instant */
} patterns[] = {
    {"yyyy-MM-dd HH:mm:ss.SSSSSS", "UTC", INT64_C(1774701015250001), "2026-03-28 12:30:15.250001", true},
    {"yyyy-MM-dd'T'HH:mm:ss.SSSXXX", "UTC", INT64_C(1774701015250000), "2026-03-28T12:30:15.250Z", true},
    {"yyyy-MM-dd'T'HH:mm:ss.SSSxxx", "UTC", INT64_C(1774701015250000), "2026-03-28T12:30:15.250+00:00", true},
    {"yyyyMMddHHmmss", "UTC", INT64_C(1774701015000000), "20260328123015", true},
    /* S takes one digit or more, so it does not hold digits back from the year: Spark cannot read this either */
    {"yyyyMMddHHmmssSSS", "UTC", INT64_C(1774701015250000), "20260328123015250", false},
    {"y-M-d H:m:s", "UTC", INT64_C(1767323045000000), "2026-1-2 3:4:5", true},
    {"MMM d, yyyy h:mm:ss a", "UTC", INT64_C(1774701015000000), "Mar 28, 2026 12:30:15 PM", true},
    {"MMMM dd yyyy KK:mm:ss a", "UTC", INT64_C(1774701015000000), "March 28 2026 00:30:15 PM", true},
    {"EEEE G yyyy", "UTC", INT64_C(1774701015000000), "Saturday AD 2026", false},
    {"D DDD", "UTC", INT64_C(1767323045000000), "2 002", false},
    {"QQ qqq QQQQ", "UTC", INT64_C(1774701015000000), "01 Q1 1st quarter", false},
    {"F k kk", "UTC", INT64_C(1774656015000000), "7 24 24", false},
    {"''yyyy''", "UTC", INT64_C(1767225600000000), "'2026'", true},
    {"yyyy 'o''clock'", "UTC", INT64_C(1767225600000000), "2026 o'clock", true},
    {"yyyy[-MM][ HH]", "UTC", INT64_C(1767225600000000), "2026-01 00", true},
    {"VV", "Europe/Berlin", 0, "Europe/Berlin", true},
    {"yyyy-MM-dd HH:mm:ss VV", "Europe/Berlin", INT64_C(1774701015000000), "2026-03-28 13:30:15 Europe/Berlin", true},
    {"O OOOO", "Asia/Kolkata", 0, "GMT+5:30 GMT+05:30", false},
    {"X XX XXX x xx", "Asia/Kolkata", 0, "+0530 +0530 +05:30 +0530 +0530", false},
    {"X", "America/New_York", 0, "-05", true},
    {"Z ZZZZ ZZZZZ", "America/New_York", 0, "-0500 GMT-05:00 -05:00", false},
    {"yy", "UTC", INT64_C(1767225600000000), "26", true},
    {"yyyyy", "UTC", INT64_C(1767225600000000), "02026", true},
    {"yyyy-MM-dd", "UTC", INT64_C(253402300800000000), "+10000-01-01", true},
    {"yyyy-MM-dd", "UTC", INT64_C(-62198755200000000), "-0001-01-01", true},
    {"YYYY", "UTC", 0, NULL, false},
    {"AAA", "UTC", 0, NULL, false},
    {"MMMMM", "UTC", 0, NULL, false},
    {"'open", "UTC", 0, NULL, false},
    {"yyyy]", "UTC", 0, NULL, false},
};

static void test_patterns(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof patterns / sizeof patterns[0]; i++) {
        const fm_time_format *f = NULL;
        const fm_zone *zone;
        fm_strbuf out = {0};
        int64_t back = -1;
        fm_status st = fm_time_format_new(arena, fm_str_c(patterns[i].pattern), &f, &err);
        if (!patterns[i].text) {
            assert_int_equal(st, FM_INVALID);
            continue;
        }
        assert_int_equal(st, FM_OK);
        assert_int_equal(fm_zone_open(arena, fm_str_c(patterns[i].zone), &zone, &err), FM_OK);
        fm_time_format_print(f, patterns[i].us, zone, &out);
        assert_string_equal(out.ptr, patterns[i].text);
        if (patterns[i].back) {
            if (!fm_time_format_parse(f, fm_strbuf_str(&out), zone, &back)) print_error("no: %s\n", out.ptr);
            if (strstr(patterns[i].pattern, "d")) assert_true(back == patterns[i].us);
        }
        fm_strbuf_fini(&out);
    }
    fm_arena_free(arena);
}

static const struct {
    const char *pattern, *text;
    bool ok;
    int64_t us;
} parses[] = {
    {"yyyy-MM-dd", "2026-03-28", true, INT64_C(1774656000000000)},
    {"yyyy-MM-dd", "2026-3-28", false, 0},
    {"yyyy-MM-dd", "2026-03-28 ", false, 0},
    {"yyyy-MM-dd", "2026-02-29", false, 0},
    {"yyyy-M-d", "2026-3-8", true, INT64_C(1772928000000000)},
    {"yyyy-M-d", "2026-03-08", true, INT64_C(1772928000000000)},
    {"HH:mm", "24:00", false, 0},
    {"HH:mm", "01:02", true, INT64_C(3720000000)},
    {"hh:mm", "01:02", true, INT64_C(3720000000)},
    {"hh:mm a", "12:02 am", true, INT64_C(120000000)},
    {"yyyy-MM-dd HH:mm:ss.SSS", "2026-03-28 12:30:15.5", true, INT64_C(1774701015500000)},
    {"yyyy-MM-dd HH:mm:ss.SSS", "2026-03-28 12:30:15.5678", false, 0},
    {"yyyy-MM-dd[ HH:mm]", "2026-03-28", true, INT64_C(1774656000000000)},
    {"yyyy-MM-dd[ HH:mm]", "2026-03-28 01:00", true, INT64_C(1774659600000000)},
    {"dd MMM yyyy", "28 mar 2026", true, INT64_C(1774656000000000)},
    {"yyyy-MM-dd'T'HH:mm:ssXXX", "2026-03-28T00:00:00+02:00", true, INT64_C(1774648800000000)},
    {"yyyy-DDD", "2026-087", true, INT64_C(1774656000000000)},
    {"yyyy-DDD", "2026-366", false, 0},
    {"EEE", "Sat", false, 0},
    {"yyyy", "12026", false, 0},
    {"yyyy", "+12026", true, INT64_C(317336745600000000)},
};

static void test_parse(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    (void)state;
    for (size_t i = 0; i < sizeof parses / sizeof parses[0]; i++) {
        const fm_time_format *f;
        int64_t us = 0;
        bool ok;
        assert_int_equal(fm_time_format_new(arena, fm_str_c(parses[i].pattern), &f, &err), FM_OK);
        ok = fm_time_format_parse(f, fm_str_c(parses[i].text), fm_zone_utc(), &us);
        if (ok != parses[i].ok || (ok && us != parses[i].us))
            print_error("%s by %s: %d %lld\n", parses[i].text, parses[i].pattern, ok, (long long)us);
        assert_true(ok == parses[i].ok && (!ok || us == parses[i].us));
    }
    fm_arena_free(arena);
}

/* --- zones ------------------------------------------------------------------------------------------- */

static const struct {
    const char *zone;
    int64_t utc_s;
    int32_t offset_s;
} offsets[] = {
    {"Europe/Berlin", INT64_C(1774745999), 3600},   /* 2026-03-29T00:59:59Z */
    {"Europe/Berlin", INT64_C(1774746000), 7200},
    {"Europe/Berlin", INT64_C(1792889999), 7200},
    {"Europe/Berlin", INT64_C(1792890000), 3600},
    {"Europe/Berlin", INT64_C(-2500000000), 3208},  /* local mean time */
    {"Europe/Berlin", INT64_C(4118083200), 7200},   /* 2100-06-30 */
    {"Europe/Berlin", INT64_C(7258118400), 3600},   /* 2200-01-01 */
    {"Europe/Berlin", INT64_C(32518368000), 7200},  /* 3000-06-15 */
    {"America/New_York", INT64_C(1772953199), -18000},
    {"America/New_York", INT64_C(1772953200), -14400},
    {"Asia/Kolkata", 0, 19800},
    {"UTC", 0, 0},
    {"+02:00", 0, 7200},
    {"-8", 0, -28800},
    {"GMT+1", 0, 3600},
    {"UTC-03:30", 0, -12600},
    {"EST", 0, -18000},
    {"Australia/Lord_Howe", INT64_C(1767225600), 39600},
};

static void test_zones(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;
    const fm_zone *zone;
    (void)state;
    for (size_t i = 0; i < sizeof offsets / sizeof offsets[0]; i++) {
        assert_int_equal(fm_zone_open(arena, fm_str_c(offsets[i].zone), &zone, &err), FM_OK);
        assert_int_equal(fm_zone_offset_s(zone, offsets[i].utc_s * FM_US_PER_SECOND), offsets[i].offset_s);
    }
    const char *const bad[] = {"", "Mars", "+19", "+1:2:3:4", "europe/berlin", "GMT+99", "+12:60", "+"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(fm_zone_open(arena, fm_str_c(bad[i]), &zone, &err), FM_INVALID);

    /* Every hour of four years goes there and back, but for the hour that is there twice. */
    assert_int_equal(fm_zone_open(arena, FM_STR("Europe/Berlin"), &zone, &err), FM_OK);
    int64_t twice = 0;
    for (int64_t us = INT64_C(1700000000000000); us < INT64_C(1826000000000000); us += FM_US_PER_HOUR) {
        int64_t back = fm_zone_to_utc(zone, fm_zone_to_local(zone, us));
        if (back != us) {
            assert_true(back == us - FM_US_PER_HOUR);
            twice++;
        }
    }
    assert_int_equal(twice, 4);
    /* 02:30 on the last Sunday of March is not: an hour later is. */
    assert_true(fm_zone_to_utc(zone, INT64_C(1774751400) * FM_US_PER_SECOND) ==
                INT64_C(1774747800) * FM_US_PER_SECOND);
    /* The future is the same with the table and without. */
    for (int32_t year = 2101; year < 2600; year += 7) {
        int64_t june = (int64_t)fm_days_from_civil(year, 6, 30) * 86400;
        assert_int_equal(fm_zone_offset_s(zone, june * FM_US_PER_SECOND), 7200);
        assert_int_equal(fm_zone_offset_s(zone, (june - 120 * 86400) * FM_US_PER_SECOND), 3600);
    }
    assert_true(fm_zone_to_local(zone, INT64_MAX) == INT64_MAX);
    assert_true(fm_zone_to_utc(zone, INT64_MIN) == INT64_MIN || fm_zone_to_utc(zone, INT64_MIN) < 0);
    fm_arena_free(arena);
}

/* --- free intervals ---------------------------------------------------------------------------------- */

static const struct {
    const char *text, *condition; /* NULL: fine */
    int32_t months, days;
    int64_t us;
} intervals[] = {
    {"10 minutes", NULL, 0, 0, INT64_C(600000000)},
    {"interval 1 day 2 hours", NULL, 0, 1, INT64_C(7200000000)},
    {" 1 Week -1 DAY ", NULL, 0, 6, 0},
    {"1 year 1 month", NULL, 13, 0, 0},
    {"1.5 seconds", NULL, 0, 0, 1500000},
    {".5 second", NULL, 0, 0, 500000},
    {"-0.000001 second", NULL, 0, 0, -1},
    {"1 millisecond 1 microsecond", NULL, 0, 0, 1001},
    {"- 5 seconds", NULL, 0, 0, -5000000},
    {"INTERVAL '1' HOUR", NULL, 0, 0, INT64_C(3600000000)},
    {"interval '1:30' hour to minute", NULL, 0, 0, INT64_C(5400000000)},
    {"10 lightyears", "INVALID_INTERVAL_FORMAT.INVALID_UNIT", 0, 0, 0},
    {"", "INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY", 0, 0, 0},
    {"interval", "INVALID_INTERVAL_FORMAT.INPUT_IS_EMPTY", 0, 0, 0},
    {"intervals 1 day", "INVALID_INTERVAL_FORMAT.INVALID_PREFIX", 0, 0, 0},
    {"1.5 days", "INVALID_INTERVAL_FORMAT.INVALID_FRACTION", 0, 0, 0},
    {"ten seconds", "INVALID_INTERVAL_FORMAT.UNRECOGNIZED_NUMBER", 0, 0, 0},
    {"1", "INVALID_INTERVAL_FORMAT.MISSING_UNIT", 0, 0, 0},
    {"1 day 2", "INVALID_INTERVAL_FORMAT.MISSING_UNIT", 0, 0, 0},
    {"1x seconds", "INVALID_INTERVAL_FORMAT.INVALID_VALUE", 0, 0, 0},
    {"99999999999 years", "INVALID_INTERVAL_FORMAT.ARITHMETIC_EXCEPTION", 0, 0, 0},
    {"1.1234567891 seconds", "INVALID_INTERVAL_FORMAT.INVALID_PRECISION", 0, 0, 0},
};

static void test_intervals(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof intervals / sizeof intervals[0]; i++) {
        fm_error err = FM_ERROR_INIT;
        fm_interval got;
        fm_status st = fm_text_to_interval(fm_str_c(intervals[i].text), &got, &err);
        if (intervals[i].condition) {
            assert_int_equal(st, FM_INVALID);
            assert_string_equal(err.condition, intervals[i].condition);
            continue;
        }
        if (st != FM_OK) print_error("%s: %s\n", intervals[i].text, err.message);
        assert_int_equal(st, FM_OK);
        assert_int_equal(got.months, intervals[i].months);
        assert_int_equal(got.days, intervals[i].days);
        assert_true(got.us == intervals[i].us);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_functions), cmocka_unit_test(test_patterns), cmocka_unit_test(test_parse),
        cmocka_unit_test(test_zones),     cmocka_unit_test(test_intervals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

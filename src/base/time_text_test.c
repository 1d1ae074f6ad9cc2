/* base/time_text_test.c: the calendar, against the C library's and against itself. */
#include "base/time_text.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

static void dates_agree_with_the_c_library(void **state)
{
    (void)state;
    for (int64_t days = -800000; days <= 3000000; days += 61) {
        time_t t = (time_t)(days * 86400);
        struct tm tm;
        int32_t year, month, day;
        assert_non_null(gmtime_r(&t, &tm));
        fm_civil_from_days((int32_t)days, &year, &month, &day);
        assert_int_equal(year, tm.tm_year + 1900);
        assert_int_equal(month, tm.tm_mon + 1);
        assert_int_equal(day, tm.tm_mday);
    }
}

static void dates_come_back(void **state)
{
    (void)state;
    for (int64_t days = INT32_MIN; days <= INT32_MAX; days += 99991) {
        int32_t year, month, day;
        fm_civil_from_days((int32_t)days, &year, &month, &day);
        assert_int_equal(fm_days_from_civil(year, month, day), days);
        assert_true(month >= 1 && month <= 12 && day >= 1 && day <= fm_days_in_month(year, month));
    }
    assert_int_equal(fm_days_from_civil(INT32_MAX, 12, 31), INT32_MAX);
    assert_int_equal(fm_days_from_civil(INT32_MIN, 1, 1), INT32_MIN);
}

static void months(void **state)
{
    (void)state;
    assert_int_equal(fm_days_in_month(2024, 2), 29);
    assert_int_equal(fm_days_in_month(2026, 2), 28);
    assert_int_equal(fm_days_in_month(1900, 2), 28);
    assert_int_equal(fm_days_in_month(2000, 2), 29);
    assert_int_equal(fm_days_in_month(0, 2), 29);
    assert_int_equal(fm_days_in_month(-4, 2), 29);
    assert_int_equal(fm_days_in_month(2026, 12), 31);
}

static void iso(void **state)
{
    static const struct {
        int64_t ms;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999Z"},
        {INT64_C(1767261600123), "2026-01-01T10:00:00.123Z"},
        {INT64_C(253402300800000), "+10000-01-01T00:00:00.000Z"},
        {INT64_C(-62167219200001), "-0001-12-31T23:59:59.999Z"},
        {INT64_MAX, "+292278994-08-17T07:12:55.807Z"},
        {INT64_MIN, "-292275055-05-16T16:47:04.192Z"},
    };
    char out[FM_ISO_TEXT_SIZE];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        size_t len = fm_iso_ms(cases[i].ms, out);
        assert_string_equal(out, cases[i].text);
        assert_int_equal(len, strlen(cases[i].text));
    }
    fm_iso_us(-1, out);
    assert_string_equal(out, "1969-12-31T23:59:59.999999Z");
    fm_iso_us(INT64_MAX, out);
    assert_string_equal(out, "+294247-01-10T04:00:54.775807Z");
}

static void floors(void **state)
{
    (void)state;
    for (int64_t a = -20; a <= 20; a++) {
        for (int64_t b = 1; b < 6; b++) {
            int64_t q = fm_floor_div(a, b), r = fm_floor_mod(a, b);
            assert_int_equal(q * b + r, a);
            assert_true(r >= 0 && r < b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(dates_agree_with_the_c_library),
        cmocka_unit_test(dates_come_back),
        cmocka_unit_test(months),
        cmocka_unit_test(iso),
        cmocka_unit_test(floors),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* base/options_test.c: settings by name. */
#include "base/options.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/time_text.h"

static void set_and_find(void **state)
{
    fm_arena *arena = fm_arena_new(0);
    fm_options o = {0};

    (void)state;
    assert_null(fm_options_find(&o, "a"));
    assert_null(fm_options_find(NULL, "a"));
    for (int i = 0; i < 100; i++)
        assert_true(fm_options_set(arena, &o, fm_arena_printf(arena, "Key%d", i), fm_arena_printf(arena, "%d", i)));
    assert_true(fm_options_set(arena, &o, FM_STR("KEY7"), FM_STR("again")));
    assert_int_equal(o.n, 100);
    assert_true(fm_str_eq(fm_options_get(&o, "key7", FM_STR("")), FM_STR("again")));
    assert_true(fm_str_eq(fm_options_get(&o, "key99", FM_STR("")), FM_STR("99")));
    assert_true(fm_str_eq(fm_options_get(&o, "none", FM_STR("absent")), FM_STR("absent")));
    fm_arena_free(arena);
}

static fm_options one(fm_arena *arena, const char *value)
{
    fm_options o = {0};

    assert_true(fm_options_set(arena, &o, FM_STR("k"), fm_str_c(value)));
    return o;
}

static void typed(void **state)
{
    static const struct {
        const char *value;
        bool ok;
        bool out;
    } bools[] = {{"true", true, true}, {" FALSE ", true, false}, {"1", false, false}, {"", false, false}};
    static const struct {
        const char *value;
        bool ok;
        int64_t out;
    } numbers[] = {{"5", true, 5}, {" -3", true, -3}, {"10", true, 10}, {"11", false, 0}, {"-4", false, 0}, {"x", false, 0}};
    static const struct {
        const char *value;
        int64_t us; /* < 0: refused */
    } durations[] = {
        {"0", 0},
        {"1500", 1500000},
        {"7d", 7 * FM_US_PER_DAY},
        {"10 minutes", 600 * FM_US_PER_SECOND},
        {"30s", 30 * FM_US_PER_SECOND},
        {"500ms", 500000},
        {"500 MS", 500000},
        {"250 us", 250},
        {"2 weeks", 14 * FM_US_PER_DAY},
        {"1 hour 30 minutes", 90 * FM_US_PER_MINUTE},
        {"1h30m", 90 * FM_US_PER_MINUTE},
        {"interval 1 second", FM_US_PER_SECOND},
        {"", -1},
        {"  ", -1},
        {"s", -1},
        {"-1s", -1},
        {"-1", -1},
        {"5 parsecs", -1},
        {"1 hour 30", -1},
        {"30 1 hour", -1},
        {"1.5s", -1},
        {"9223372036854775807", -1},
        {"300000 weeks 300000000 weeks", -1},
    };
    fm_arena *arena = fm_arena_new(0);
    fm_error err = FM_ERROR_INIT;

    (void)state;
    for (size_t i = 0; i < sizeof bools / sizeof bools[0]; i++) {
        fm_options o = one(arena, bools[i].value);
        bool out;
        assert_int_equal(fm_options_bool(&o, "K", true, &out, &err), bools[i].ok ? FM_OK : FM_INVALID);
        if (bools[i].ok) assert_int_equal(out, bools[i].out);
        assert_int_equal(fm_options_bool(&o, "absent", true, &out, &err), FM_OK);
        assert_true(out);
    }
    for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        fm_options o = one(arena, numbers[i].value);
        int64_t out;
        assert_int_equal(fm_options_i64(&o, "K", 1, -3, 10, &out, &err), numbers[i].ok ? FM_OK : FM_INVALID);
        if (numbers[i].ok) assert_int_equal(out, numbers[i].out);
        assert_int_equal(fm_options_i64(&o, "absent", 77, -3, 10, &out, &err), FM_OK);
        assert_int_equal(out, 77);
    }
    assert_non_null(strstr(err.message, "-3 to 10"));
    for (size_t i = 0; i < sizeof durations / sizeof durations[0]; i++) {
        fm_options o = one(arena, durations[i].value);
        int64_t out;
        fm_status st = fm_options_duration(&o, "K", 1, &out, &err);
        if (st != (durations[i].us < 0 ? FM_INVALID : FM_OK)) fail_msg("'%s'", durations[i].value);
        if (st == FM_OK) assert_int_equal(out, durations[i].us);
        assert_int_equal(fm_options_duration(&o, "absent", 77, &out, &err), FM_OK);
        assert_int_equal(out, 77);
    }
    fm_arena_free(arena);
}

static void unknown_names_the_nearest(void **state)
{
    static const char *const a[] = {"path", "mode", NULL}, *const b[] = {"k", "maxFileAge", NULL};
    static const char *const *const lists[] = {a, b};
    fm_arena *arena = fm_arena_new(0);
    fm_options o = one(arena, "v");
    fm_error err = FM_ERROR_INIT;

    (void)state;
    assert_int_equal(fm_options_check(&o, "source x", lists, 2, &err), FM_OK);
    assert_true(fm_options_set(arena, &o, FM_STR("maxfilesage"), FM_STR("v")));
    o.items[1].line = 3;
    assert_int_equal(fm_options_check(&o, "source x", lists, 2, &err), FM_INVALID);
    assert_int_equal(err.line, 3);
    assert_string_equal(err.condition, "FLOODMARK_UNKNOWN_OPTION");
    assert_non_null(strstr(err.message, "'maxfilesage'"));
    assert_non_null(strstr(err.message, "'maxFileAge'"));
    fm_arena_free(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(set_and_find),
        cmocka_unit_test(typed),
        cmocka_unit_test(unknown_names_the_nearest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

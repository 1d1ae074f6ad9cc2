/* expr/collections_test.c: functions of arrays and maps over literals, and over columns with a null between two values; lanes
 * found again by value, checked against looking at all of them. Lambdas are in tests/golden/functions/lambda.test. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "column/random_vec.h"
#include "expr/lane_set.h"
#include "expr/test_eval.h"

static const fm_test_case lists[] = {
    {"(array_distinct (array 1 2 1 null null))", "[1, 2, null]"},
    {"(array_union (array 1 2) (array 2 3))", "[1, 2, 3]"},
    {"(array_union (array 1Y) (array 2L))", "[1, 2]"},
    {"(array_intersect (array 3 1 1 null) (array null 1))", "[1, null]"},
    {"(array_except (array 3 1 1 null) (array 1))", "[3, null]"},
    {"(array_union (array 1) (array 'a'))", "!DATATYPE_MISMATCH.BINARY_ARRAY_DIFF_TYPES"},
    {"(arrays_overlap (array 1 null) (array 2))", "NULL"},
    {"(arrays_overlap (array 1 2) (array 2))", "true"},
    {"(array_insert (array 1 2) 2 9)", "[1, 9, 2]"},
    {"(array_insert (array 1 2) 5 9)", "[1, 2, null, null, 9]"},
    {"(array_insert (array 1 2) -1 9)", "[1, 2, 9]"},
    {"(array_insert (array 1 2) -5 9)", "[9, null, null, 1, 2]"},
    {"(array_insert (array 1 2) 0 9)", "!INVALID_INDEX_OF_ZERO"},
    {"(array_append (array 1) null)", "[1, null]"},
    {"(array_prepend (array 1) 2)", "[2, 1]"},
    {"(array_remove (array 1 2 1) 1)", "[2]"},
    {"(array_compact (array 1 null 2))", "[1, 2]"},
    {"(slice (array 1 2 3) -2 2)", "[2, 3]"},
    {"(slice (array 1 2 3) 0 2)", "!INVALID_PARAMETER_VALUE.START"},
    {"(flatten (array (array 1) (array 2 3)))", "[1, 2, 3]"},
    {"(arrays_zip (array 1 2) (array 'a'))", "[{1, a}, {2, null}]"},
    {"(sort_array (array 3 null 1))", "[null, 1, 3]"},
    {"(array_sort (array 3 null 1))", "[1, 3, null]"},
    {"(size (array 1 2))", "2"},
    {"(array_size (array))", "0"},
    {"(array_max (array 1 null 3))", "3"},
    {"(array_join (array 'a' null 'b') '-')", "a-b"},
    {"(array_repeat 'x' 2)", "[x, x]"},
    {"(sequence 1 5 2)", "[1, 3, 5]"},
    {"(sequence 5 1)", "[5, 4, 3, 2, 1]"},
    {"(sequence 1 5 -1)", "!FLOODMARK_SEQUENCE_ILLEGAL"},
    {"(sequence 9223372036854775806L 9223372036854775807L)", "[9223372036854775806, 9223372036854775807]"},
    {"(sequence (cast '2024-01-31' \"DATE\") (cast '2024-03-31' \"DATE\") (cast '0-1' \"INTERVAL YEAR TO MONTH\"))",
     "[2024-01-31, 2024-02-29, 2024-03-31]"},
};

static const fm_test_case maps[] = { /* and what wants constants: null lanes would be null keys */
    {"(sort_array (array 3 null 1) false)", "[3, 1, null]"},
    {"(map 'a' 1 'b' null)", "{a -> 1, b -> null}"},
    {"(map 1 2 1 3)", "!DUPLICATED_MAP_KEY"},
    {"(map_from_arrays (array 1 2) (array 'a' 'b'))", "{1 -> a, 2 -> b}"},
    {"(map_from_arrays (array 1 2) (array 'a'))", "!_LEGACY_ERROR_TEMP_2128"},
    {"(map_from_arrays (array 1 null) (array 'a' 'b'))", "!NULL_MAP_KEY"},
    {"(map_from_entries (array (struct 1 'a') (struct 2 'b')))", "{1 -> a, 2 -> b}"},
    {"(map_concat (map 1 'a') (map 2 'b'))", "{1 -> a, 2 -> b}"},
    {"(map_concat (map 1 'a') (map 1 'b'))", "!DUPLICATED_MAP_KEY"},
    {"(map_keys (map 1 'a' 2 'b'))", "[1, 2]"},
    {"(map_values (map 1 'a' 2 null))", "[a, null]"},
    {"(map_entries (map 1 'a'))", "[{1, a}]"},
    {"(map_contains_key (map 1 'a') 1L)", "true"},
    {"(element_at (map 'a' 1) 'b')", "NULL"},
    {"(element_at (array 1 2) -1)", "2"},
    {"(element_at (array 1 2) 3)", "!INVALID_ARRAY_INDEX_IN_ELEMENT_AT"},
    {"(try_element_at (array 1 2) 3)", "NULL"},
    {"(str_to_map 'a:1,b')", "{a -> 1, b -> null}"},
    {"(str_to_map 'a=1;b=2' ';' '=')", "{a -> 1, b -> 2}"},
};

static void test_values(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(lists, .ansi = true), 0);
    assert_int_equal(FM_TEST_CASES(maps, .ansi = true), 0);
}

static void test_columns(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(lists, .ansi = true, .columns = true), 0);
}

static void test_without_ansi(void **state)
{
    static const fm_test_case cases[] = {
        {"(size null)", "-1"},
        {"(array_size null)", "NULL"},
        {"(element_at (array 1 2) 3)", "NULL"},
    };
    (void)state;
    assert_int_equal(FM_TEST_CASES(cases, .ansi = false), 0);
}

/* ---- Lanes found again ---------------------------------------------------------------------------------------------- */

static void check_set(const fm_vec *v, fm_arena *arena)
{
    fm_lane_set set = {0};
    fm_error err = FM_ERROR_INIT;
    for (int round = 0; round < 2; round++) { /* the memory of the first round serves the second */
        assert_int_equal(fm_lane_set_begin(&set, arena, v->len, &err), FM_OK);
        for (int32_t i = 0; i < v->len; i++) {
            int32_t expected = -1;
            for (int32_t k = 0; k < i && expected < 0; k++)
                if (!fm_vec_is_null(v, i) && !fm_vec_is_null(v, k) && fm_vec_same(v, k, v, i)) expected = k;
            if (fm_vec_is_null(v, i)) continue;
            assert_int_equal(fm_lane_set_find(&set, v, i), expected);
            assert_int_equal(fm_lane_set_add(&set, v, i), expected);
        }
    }
}

static void test_lane_set(void **state)
{
    static const char *const types[] = {"tinyint", "double", "string", "decimal(20,2)", "array<tinyint>", "struct<a:boolean,b:tinyint>"};
    (void)state;
    for (size_t t = 0; t < sizeof types / sizeof types[0]; t++) {
        fm_arena *arena = fm_arena_new(0);
        fm_error err = FM_ERROR_INIT;
        const fm_type *type;
        fm_random random = {.state = 77 + t};
        assert_int_equal(fm_type_parse(arena, fm_str_c(types[t]), &type, &err), FM_OK);
        for (int round = 0; round < 5; round++) {
            fm_vec v = fm_random_vec(&random, arena, type, 300);
            check_set(&v, arena);
        }
        fm_arena_free(arena);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_values),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_without_ansi),
        cmocka_unit_test(test_lane_set),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* expr/operators_test.c: arithmetic, comparison, logic: values, types, nulls, extremes, ANSI on and off. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "expr/test_eval.h"

/* The same with ANSI and without, as literals and as columns. */
static const fm_test_case everywhere[] = {
    {"(+ 1 2)", "3"},
    {"(typeof (+ 1Y 2Y))", "tinyint"},
    {"(typeof (+ 1Y 2L))", "bigint"},
    {"(- 1.5D 2)", "-0.5"},
    {"(* 3S 4L)", "12"},
    {"(/ 7 2)", "3.5"},
    {"(typeof (/ 7 2))", "double"},
    {"(/ -7 2)", "-3.5"},
    {"(div -7 2)", "-3"},
    {"(typeof (div 1 2))", "bigint"},
    {"(% -7 2)", "-1"},
    {"(% 7 -2)", "1"},
    {"(% -2147483648 -1)", "0"},
    {"(% 5.5D 2D)", "1.5"},
    {"(pmod -7 2)", "1"},
    {"(pmod -7 -2)", "-1"},
    {"(pmod 7 -2)", "1"},
    {"(- 5)", "-5"},
    {"(- -0.0D)", "0.0"},
    {"(negative 1.50)", "-1.50"},
    {"(+ null 1)", "NULL"},
    {"(+ 0.1D 0.2D)", "0.30000000000000004"},
    {"(+ 1.1 2.22)", "3.32"},
    {"(typeof (+ 1.1 2.22))", "decimal(4,2)"},
    {"(* 1.1 2.22)", "2.442"},
    {"(typeof (* 1.1 2.22))", "decimal(6,3)"},
    {"(/ 1.0 3.0)", "0.333333"},
    {"(typeof (/ 1.0 3.0))", "decimal(8,6)"},
    {"(% 5.50 2.0)", "1.50"},
    {"(+ 1.5 1)", "2.5"},
    {"(typeof (+ 1.5 1D))", "double"},
    {"(div 7.5 2.0)", "3"},
    {"(- 99999999999999999999999999999999999999BD 1)", "99999999999999999999999999999999999998"},
    {"(* 99999999999999999999.0 0.1)", "9999999999999999999.90"},
    /* digits are given up behind the point, not before it */
    {"(typeof (* (cast 1 \"DECIMAL(38,18)\") (cast 1 \"DECIMAL(38,18)\")))", "decimal(38,6)"},
    {"(/ (cast 1 \"DECIMAL(38,0)\") (cast 3 \"DECIMAL(38,0)\"))", "0.333333"},
    {"(= 1 1L)", "true"},
    {"(= 1 1.0D)", "true"},
    {"(= 1 1.00)", "true"},
    {"(< 1 1.01)", "true"},
    {"(= 'a' 'a')", "true"},
    {"(< 'a' 'b')", "true"},
    {"(< 'a long piece of text' 'a long piece of texu')", "true"},
    {"(>= 'a' 'b')", "false"},
    {"(= (cast 'NaN' \"DOUBLE\") (cast 'NaN' \"DOUBLE\"))", "true"},
    {"(> (cast 'NaN' \"DOUBLE\") (cast 'Infinity' \"DOUBLE\"))", "true"},
    {"(<= (cast 'NaN' \"DOUBLE\") 1D)", "false"},
    {"(<= 1D (cast 'NaN' \"DOUBLE\"))", "true"},
    {"(= 0.0D -0.0D)", "true"},
    {"(!= 1 2)", "true"},
    {"(<=> null null)", "true"},
    {"(<=> 1 null)", "false"},
    {"(<=> 1 1)", "true"},
    {"(= 1 null)", "NULL"},
    {"(< (cast '2024-01-01' \"DATE\") (cast '2024-01-01 00:00:01' \"TIMESTAMP\"))", "true"},
    {"(= (cast '2024-01-01' \"DATE\") '2024-01-01')", "true"},
    {"(and true null)", "NULL"},
    {"(and false null)", "false"},
    {"(and null false)", "false"},
    {"(or true null)", "true"},
    {"(or null true)", "true"},
    {"(or false null)", "NULL"},
    {"(not null)", "NULL"},
    {"(not true)", "false"},
    {"(in 1 2 1)", "true"},
    {"(in 1 2 3)", "false"},
    {"(in 1 2 null)", "NULL"},
    {"(in 1 1 null)", "true"},
    {"(in null 1)", "NULL"},
    {"(in 'abc' 'x' 'abc')", "true"},
    {"(in 1.5 1 1.50)", "true"},
    {"(in (cast 'NaN' \"DOUBLE\") 1D (cast 'NaN' \"DOUBLE\"))", "true"},
    {"(isnull null)", "true"},
    {"(isnotnull 1)", "true"},
    {"(isnottrue (cast null \"BOOLEAN\"))", "true"},
    {"(isfalse (cast null \"BOOLEAN\"))", "false"},
    {"(isnotfalse (cast null \"BOOLEAN\"))", "true"},
    {"(isnan (cast 'NaN' \"DOUBLE\"))", "true"},
    {"(& 12 10)", "8"},
    {"(| 12 10)", "14"},
    {"(^ 12 10)", "6"},
    {"(~ 0)", "-1"},
    {"(shiftleft 1 33)", "2"},
    {"(shiftright -8 1)", "-4"},
    {"(shiftrightunsigned -1L 60)", "15"},
    {"(case (> 1 2) 'a' (> 2 1) 'b' 'c')", "b"},
    {"(case (> 1 2) 'a')", "NULL"},
    {"(case null 'a' 'b')", "b"},
    {"(typeof (case true 1 2.5))", "decimal(11,1)"},
    {"(if true 1 2L)", "1"},
    {"(typeof (if true 1 2L))", "bigint"},
    {"(coalesce null null 3)", "3"},
    {"(nvl null 'x')", "x"},
    {"(coalesce null)", "NULL"},
    {"(nullif 1 1)", "NULL"},
    {"(nullif 1 2L)", "1"},
    {"(typeof (nullif 1 2L))", "int"},
    {"(nvl2 1 'a' 'b')", "a"},
    {"(nvl2 null 'a' 'b')", "b"},
    {"(greatest 1 3L 2)", "3"},
    {"(least 1 null -3L)", "-3"},
    {"(greatest 1D (cast 'NaN' \"DOUBLE\"))", "NaN"},
    {"(nanvl (cast 'NaN' \"DOUBLE\") 5D)", "5.0"},
    {"(nanvl null 5D)", "NULL"},
    {"(zeroifnull (cast null \"INT\"))", "0"},
    {"(nullifzero 0)", "NULL"},
    {"(nullifzero 4.5)", "4.5"},
    {"(try_add 2147483647 1)", "NULL"},
    {"(try_multiply 9223372036854775807L 2L)", "NULL"},
    {"(try_subtract -128Y 1Y)", "NULL"},
    {"(try_divide 1 0)", "NULL"},
    {"(try_mod 1 0)", "NULL"},
    {"(+ 1 true)", "!DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"},
    {"(no_such_function 1)", "!UNRESOLVED_ROUTINE"},
    {"(nullif 1)", "!WRONG_NUM_ARGS.WITHOUT_SUGGESTION"},
    {"(if 1 2 3)", "!DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE"},
};

/* Fails on purpose, or would if a branch were evaluated that is not taken. */
static const fm_test_case raising[] = {
    {"(assert_true true)", "NULL"},
    {"(assert_true false 'no')", "!USER_RAISED_EXCEPTION"},
    {"(raise_error 'no')", "!USER_RAISED_EXCEPTION"},
    {"(if true 1 (cast (raise_error 'no') \"INT\"))", "1"},
    {"(coalesce 1 (cast (raise_error 'no') \"INT\"))", "1"},
    {"(and false (cast (raise_error 'no') \"BOOLEAN\"))", "false"},
    {"(or true (cast (raise_error 'no') \"BOOLEAN\"))", "true"},
};

static const fm_test_case ansi[] = {
    {"(+ 2147483647 1)", "!ARITHMETIC_OVERFLOW"},
    {"(- -2147483648 1)", "!ARITHMETIC_OVERFLOW"},
    {"(* 65536 65536)", "!ARITHMETIC_OVERFLOW"},
    {"(+ 9223372036854775807L 1)", "!ARITHMETIC_OVERFLOW"},
    {"(- -9223372036854775808L 1)", "!ARITHMETIC_OVERFLOW"},
    {"(* -9223372036854775808L -1L)", "!ARITHMETIC_OVERFLOW"},
    {"(+ 127Y 1Y)", "!BINARY_ARITHMETIC_OVERFLOW"},
    {"(- -2147483648)", "!ARITHMETIC_OVERFLOW"},
    {"(/ 1 0)", "!DIVIDE_BY_ZERO"},
    {"(/ 1D 0D)", "!DIVIDE_BY_ZERO"},
    {"(/ 1.5 0)", "!DIVIDE_BY_ZERO"},
    {"(/ null 0)", "NULL"},
    {"(% 1 0)", "!REMAINDER_BY_ZERO"},
    {"(pmod 1.5 0.0)", "!REMAINDER_BY_ZERO"},
    {"(div 1 0)", "!DIVIDE_BY_ZERO"},
    {"(div -9223372036854775808L -1)", "!ARITHMETIC_OVERFLOW"},
    {"(+ 99999999999999999999999999999999999999BD 1)", "!NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION"},
    {"(+ '1' 2)", "3"},
    {"(typeof (+ '1' 2))", "bigint"},
    {"(+ '1.5' 2D)", "3.5"},
    {"(+ '1.5' 2)", "!CAST_INVALID_INPUT"},
    {"(+ '1' '2')", "!DATATYPE_MISMATCH.BINARY_OP_WRONG_TYPE"},
    {"(= '1' 1)", "true"},
    {"(= 'x' 1)", "!CAST_INVALID_INPUT"},
    {"(= 'true' true)", "true"},
    {"(in '1' 1 2)", "true"},
    {"(typeof (coalesce 1 '2'))", "bigint"},
    {"(typeof (coalesce 1 1.5F))", "double"},
    {"(coalesce (cast '2024-01-01' \"DATE\") '2024-05-05')", "2024-01-01"},
    {"(case (> 1 0) 1 (/ 1 0))", "1.0"},
    {"(case (= 1 0) (/ 1 0) 2)", "2.0"},
    {"(greatest 1 'a')", "!DATATYPE_MISMATCH.DATA_DIFF_TYPES"},
    {"(nullif '1' 1)", "NULL"},
};

static const fm_test_case not_ansi[] = {
    {"(+ 2147483647 1)", "-2147483648"},
    {"(* -9223372036854775808L -1L)", "-9223372036854775808"},
    {"(+ 127Y 1Y)", "-128"},
    {"(- -2147483648)", "-2147483648"},
    {"(/ 1 0)", "NULL"},
    {"(/ 1D 0D)", "NULL"},
    {"(% 1 0)", "NULL"},
    {"(div 1 0)", "NULL"},
    {"(div -9223372036854775808L -1)", "-9223372036854775808"},
    {"(+ 99999999999999999999999999999999999999BD 1)", "NULL"},
    {"(+ '1' 2)", "3.0"},
    {"(+ '1' '2')", "3.0"},
    {"(= '1' 1)", "true"},
    {"(= 'x' 1)", "NULL"},
    {"(typeof (coalesce 1 '2'))", "string"},
    {"(typeof (coalesce 1 1.5F))", "float"},
};

static const fm_test_case times[] = {
    {"(+ (cast '2024-01-31' \"DATE\") (cast '1' \"INTERVAL MONTH\"))", "2024-02-29"},
    {"(- (cast '2024-03-31' \"DATE\") (cast '1' \"INTERVAL MONTH\"))", "2024-02-29"},
    {"(+ (cast '2024-01-31' \"DATE\") (cast '2' \"INTERVAL DAY\"))", "2024-02-02"},
    {"(+ (cast '2024-01-31' \"DATE\") (cast '2' \"INTERVAL HOUR\"))", "2024-01-31 02:00:00"},
    {"(+ (cast '2024-01-31' \"DATE\") 1)", "2024-02-01"},
    {"(- (cast '2024-01-31' \"DATE\") 31)", "2023-12-31"},
    {"(- (cast '2024-01-31' \"DATE\") (cast '2024-01-01' \"DATE\"))", "INTERVAL '30' DAY"},
    {"(- (cast '2024-01-31' \"TIMESTAMP\") (cast '2024-01-01 01:00:00.5' \"TIMESTAMP\"))",
     "INTERVAL '29 22:59:59.5' DAY TO SECOND"},
    {"(- (cast '2024-01-31' \"DATE\") (cast '2024-01-01 01:00:00' \"TIMESTAMP\"))",
     "INTERVAL '29 23:00:00' DAY TO SECOND"},
    /* whole days go by the clock, hours by time that passes */
    {"(+ (cast '2026-03-28 13:30:00' \"TIMESTAMP\") (cast '1' \"INTERVAL DAY\"))", "2026-03-29 13:30:00"},
    {"(+ (cast '2026-03-28 13:30:00' \"TIMESTAMP\") (cast '23' \"INTERVAL HOUR\"))", "2026-03-29 13:30:00"},
    {"(+ (cast '2026-03-28 13:30:00' \"TIMESTAMP\") (cast '24' \"INTERVAL HOUR\"))", "2026-03-29 13:30:00"},
    {"(+ (cast '2026-03-28 02:30:00' \"TIMESTAMP\") (cast '1' \"INTERVAL DAY\"))", "2026-03-29 03:30:00"},
    {"(- (cast '2026-03-29 12:00:00' \"TIMESTAMP\") (cast '2026-03-28 12:00:00' \"TIMESTAMP\"))",
     "INTERVAL '1 00:00:00' DAY TO SECOND"},
    {"(+ (cast '2026-01-31 10:00:00' \"TIMESTAMP\") (cast '0-1' \"INTERVAL YEAR TO MONTH\"))",
     "2026-02-28 10:00:00"},
    {"(+ '2026-01-31 10:00:00' (cast '1' \"INTERVAL DAY\"))", "2026-02-01 10:00:00"},
    {"(typeof (+ '2026-01-31 10:00:00' (cast '1' \"INTERVAL DAY\")))", "string"},
    {"(+ (cast '1' \"INTERVAL DAY\") (cast '1' \"INTERVAL HOUR\"))", "INTERVAL '1 01' DAY TO HOUR"},
    {"(- (cast '1' \"INTERVAL YEAR\") (cast '1' \"INTERVAL MONTH\"))", "INTERVAL '0-11' YEAR TO MONTH"},
    {"(* (cast '1' \"INTERVAL DAY\") 1.5)", "INTERVAL '1 12:00:00' DAY TO SECOND"},
    {"(* 2 (cast '1-6' \"INTERVAL YEAR TO MONTH\"))", "INTERVAL '3-0' YEAR TO MONTH"},
    {"(/ (cast '1' \"INTERVAL MONTH\") 2)", "INTERVAL '0-1' YEAR TO MONTH"},
    {"(/ (cast '1' \"INTERVAL DAY\") 0)", "!INTERVAL_DIVIDED_BY_ZERO"},
    {"(div (cast '1' \"INTERVAL DAY\") (cast '5' \"INTERVAL HOUR\"))", "4"},
    {"(- (cast '1' \"INTERVAL DAY\"))", "INTERVAL '-1' DAY"},
    {"(< (cast '1' \"INTERVAL DAY\") (cast '25' \"INTERVAL HOUR\"))", "true"},
};

static void test_everywhere(void **state)
{
    (void)state;
    for (int i = 0; i < 4; i++)
        assert_int_equal(FM_TEST_CASES(everywhere, .ansi = i & 1, .columns = i & 2 ? true : false), 0);
}

static void test_raising(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(raising, .ansi = true), 0);
    assert_int_equal(FM_TEST_CASES(raising, .ansi = false), 0);
}

static void test_ansi(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(ansi, .ansi = true), 0);
    assert_int_equal(FM_TEST_CASES(ansi, .ansi = true, .columns = true), 0);
}

static void test_not_ansi(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(not_ansi, .ansi = false), 0);
    assert_int_equal(FM_TEST_CASES(not_ansi, .ansi = false, .columns = true), 0);
}

static void test_times(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(times, .ansi = true, .zone = "Europe/Berlin"), 0);
    assert_int_equal(FM_TEST_CASES(times, .ansi = true, .zone = "Europe/Berlin", .columns = true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_everywhere),
        cmocka_unit_test(test_raising),
        cmocka_unit_test(test_ansi),
        cmocka_unit_test(test_not_ansi),
        cmocka_unit_test(test_times),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

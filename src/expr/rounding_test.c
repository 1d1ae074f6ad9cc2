/* expr/rounding_test.c: abs, sign, round, ceil, floor. The answers are Spark 4.3's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "expr/test_eval.h"

static const fm_test_case rounding[] = {
    {"(round 2.5D)", "3.0"},
    {"(round -2.5D)", "-3.0"},
    {"(round 2.675D 2)", "2.68"},
    {"(bround 2.5D)", "2.0"},
    {"(bround 3.5D)", "4.0"},
    {"(bround 25 -1)", "20"},
    {"(round 25 -1)", "30"},
    {"(round 125Y -1)", "!ARITHMETIC_OVERFLOW"},
    {"(round 2.55 1)", "2.6"},
    {"(bround 2.45 1)", "2.4"},
    {"(typeof (round 2.55 1))", "decimal(3,1)"},
    {"(round 155.5 -1)", "160"},
    {"(typeof (round 155.5 -1))", "decimal(4,0)"},
    {"(round 1234567.891D -3)", "1235000.0"},
    {"(round 1e300D 2)", "1.0E300"},
    {"(round (cast 'NaN' \"DOUBLE\"))", "NaN"},
    {"(round 1.25F 1)", "1.3"},
    {"(ceil -0.1D)", "0"},
    {"(floor -0.1D)", "-1"},
    {"(ceil 3.1)", "4"},
    {"(typeof (floor 3.15))", "decimal(2,0)"},
    {"(floor -3.1)", "-4"},
    {"(ceil 5)", "5"},
    {"(typeof (ceil 5))", "bigint"},
    {"(abs -5)", "5"},
    {"(abs -5.25)", "5.25"},
    {"(abs -2147483648)", "!ARITHMETIC_OVERFLOW"},
    {"(abs '-1.5')", "1.5"},
    {"(sign -3)", "-1.0"},
    {"(sign 0.0D)", "0.0"},
    {"(signum 2.5)", "1.0"},
};

static void test_rounding(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(rounding, .ansi = true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rounding),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

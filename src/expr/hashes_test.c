/* expr/hashes_test.c: hashes of values. The answers are Spark 4.3's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "expr/test_eval.h"

static const fm_test_case hashes[] = {
    {"(hash 1.5)", "-18083236"},
    {"(hash (cast '-123456789012345678.90' \"DECIMAL(30,2)\"))", "8642122"},
    {"(hash (cast '-128' \"DECIMAL(20,0)\"))", "775851899"},
    {"(hash (cast '128' \"DECIMAL(20,0)\"))", "-544401882"},
    {"(hash (cast '0' \"DECIMAL(20,0)\"))", "-783713497"},
    {"(xxhash64 (cast '-1' \"DECIMAL(20,0)\"))", "-4006032525457443936"},
    {"(xxhash64 (cast '99999999999999999999999999999999999999' \"DECIMAL(38,0)\"))", "-47190729175993179"},
    {"(hash null)", "42"},
    {"(hash 1 null 2)", "-222940379"},
    {"(hash true)", "-559580957"},
    {"(hash 1Y)", "-559580957"},
    {"(hash -3S)", "-1573329414"},
    {"(hash -0.0D)", "-1670924195"},
    {"(hash 0.0D)", "-1670924195"},
    {"(hash (cast 'NaN' \"FLOAT\"))", "-349261430"},
    {"(hash (cast 'NaN' \"DOUBLE\"))", "-1281358385"},
    {"(hash 1.5F)", "-221251528"},
    {"(hash (cast '2020-01-01' \"DATE\"))", "-725858435"},
    {"(hash (cast '2020-01-01 00:00:00' \"TIMESTAMP\"))", "-1486022740"},
    {"(hash 'héllo wörld')", "-281075962"},
    {"(hash '')", "142593372"},
    {"(hash 'a')", "1485273170"},
    {"(hash 'abcd')", "-396302900"},
    {"(xxhash64 'a long text that has more than thirty-two bytes in it')", "-105661211958540828"},
    {"(xxhash64 1L)", "-7001672635703045582"},
    {"(xxhash64 1)", "-6698625589789238999"},
    {"(xxhash64 true)", "-6698625589789238999"},
    {"(xxhash64 '')", "-7444071767201028348"},
    {"(xxhash64 'a' 1 null 2.5D)", "6644320777917447973"},
    {"(xxhash64 (cast '2020-01-01' \"DATE\"))", "2299834470729022467"},
    {"(xxhash64 (cast 1.25 \"FLOAT\"))", "1604758788465961251"},
    {"(hash (cast '1-2' \"INTERVAL YEAR TO MONTH\"))", "335551368"},
    {"(hash (cast '1' \"INTERVAL DAY\"))", "892267096"},
    {"(crc32 'Spark')", "1557323817"},
    {"(crc32 '')", "0"},
    {"(hash)", "!WRONG_NUM_ARGS.WITHOUT_SUGGESTION"},
};

static void test_hashes(void **state)
{
    (void)state;
    assert_int_equal(FM_TEST_CASES(hashes, .ansi = true), 0);
    assert_int_equal(FM_TEST_CASES(hashes, .ansi = true, .columns = true), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hashes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
